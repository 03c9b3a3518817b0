/*
 * float_sum.c
 *	  Merging, carrying and rounding of exact sums of doubles.
 *
 * Propagated chunks below the top one are balanced digits in [-2^31, 2^31), so
 * that a small negative sum occupies few chunks and the form is unique.
 */
#include "common/float_sum.h"

#include <math.h>

#define DIGIT_BITS 32
#define DIGIT_MASK ((INT64_C(1) << 32) - 1)

void
gpuagg_float_sum_init(GpuaggFloatSum *acc, int base, int width)
{
	memset(acc, 0, GPUAGG_FLOAT_SUM_SIZE(width));
	acc->base = (int16_t) base;
	acc->width = (int16_t) width;
}

/* Carries what does not fit a balanced digit into the next chunk. */
static void
balance(int64_t *chunk, int width)
{
	for (int i = 0; i + 1 < width; i++)
	{
		int64_t digit = (int64_t) ((uint64_t) chunk[i] << 32) >> 32;

		chunk[i + 1] += (chunk[i] - digit) >> DIGIT_BITS;
		chunk[i] = digit;
	}
}

/*
 * Propagates carries.  The top chunk keeps the rest: it cannot overflow before 2^42
 * deposits, as a deposit adds less than 2^21 to it.
 */
void
gpuagg_float_sum_propagate(GpuaggFloatSum *acc)
{
	balance(acc->chunk, acc->width);
	acc->deposits = 0;
}

/*
 * The first and last chunk of a propagated accumulator that are not zero, as places among
 * all GPUAGG_CHUNKS; *first > *last if there are none.
 */
void
gpuagg_float_sum_extent(const GpuaggFloatSum *acc, int *first, int *last)
{
	int lo = 0;
	int hi = acc->width - 1;

	while (lo <= hi && acc->chunk[lo] == 0)
		lo++;
	while (hi >= lo && acc->chunk[hi] == 0)
		hi--;
	*first = acc->base + lo;
	*last = acc->base + hi;
}

/*
 * Chooses a window for an accumulator whose next deposit touches `touched` chunks from
 * `place` on; `chunks` cover everything.  Returns 1 if the accumulator holds no bit yet:
 * then *width is its own width, and it can simply be moved to *base.
 */
int
gpuagg_float_sum_window_for(const GpuaggFloatSum *acc, int place, int touched, int chunks,
							int *base, int *width)
{
	int end = place + touched - 1;
	int first;
	int last;

	gpuagg_float_sum_extent(acc, &first, &last);
	if (first > last)
	{
		int spare = acc->width > touched ? acc->width - touched : 0;

		*width = acc->width;
		*base = place - spare / 2;
		if (*base < 0)
			*base = 0;
		if (*base > chunks - *width)
			*base = chunks - *width;
		return 1;
	}

	/* two spare chunks on the side that grows, for the next such value */
	first = acc->base;
	last = acc->base + acc->width - 1;
	if (place < first)
		first = place >= 2 ? place - 2 : 0;
	if (end > last)
		last = end + 2 < chunks ? end + 2 : chunks - 1;
	*base = first;
	*width = last - first + 1;
	return 0;
}

/* Copies an accumulator into an initialised one whose window contains its own. */
void
gpuagg_float_sum_widen(GpuaggFloatSum *to, const GpuaggFloatSum *from)
{
	to->counts = from->counts;
	to->deposits = from->deposits;
	memcpy(to->chunk + (from->base - to->base), from->chunk, from->width * sizeof(int64_t));
}

/*
 * Adds one accumulator to another.  The window of `into` must contain every
 * chunk of `from` that is not zero.
 *
 * Chunks of `from` are below 2^62 + 2^32, those of a propagated `into` below 2^31, so the
 * sums cannot overflow.
 */
void
gpuagg_float_sum_merge(GpuaggFloatSum *into, const GpuaggFloatSum *from)
{
	gpuagg_float_sum_propagate(into);
	for (int i = 0; i < from->width; i++)
	{
		int k = from->base + i - into->base;

		if (from->chunk[i] != 0 && k >= 0 && k < into->width)
			into->chunk[k] += from->chunk[i];
	}
	gpuagg_float_sum_propagate(into);

	into->counts.n += from->counts.n;
	into->counts.n_nan += from->counts.n_nan;
	into->counts.n_pinf += from->counts.n_pinf;
	into->counts.n_ninf += from->counts.n_ninf;
	into->counts.n_negzero += from->counts.n_negzero;
}

/* The `count` <= 64 bits from bit `low` of a row of 32-bit digits. */
static uint64_t
digit_bits(const int64_t *digit, int ndigits, int low, int count)
{
	uint64_t result = 0;

	for (int i = low / DIGIT_BITS; i < ndigits; i++)
	{
		int at = i * DIGIT_BITS - low;

		if (at >= count)
			break;
		result |= at >= 0 ? (uint64_t) digit[i] << at : (uint64_t) digit[i] >> -at;
	}
	return count < 64 ? result & ((UINT64_C(1) << count) - 1) : result;
}

/* Whether any of the lowest `below` bits is set. */
static int
any_bit_below(const int64_t *digit, int ndigits, int below)
{
	for (int i = 0; i < ndigits && i * DIGIT_BITS < below; i++)
	{
		int count = below - i * DIGIT_BITS;

		if (digit[i] & (count < DIGIT_BITS ? (INT64_C(1) << count) - 1 : DIGIT_MASK))
			return 1;
	}
	return 0;
}

/*
 * The leading 64 bits of the magnitude, and whether any bit below them is set.  2^*weight is
 * the lowest bit's weight.  Returns 0 for a sum of zero.
 */
static uint64_t
leading_bits(const GpuaggFloatSum *acc, int *negative, int *weight, int *inexact)
{
	uint32_t digit[GPUAGG_CHUNKS + 1];
	int width = acc->width;
	int64_t carry = 0;
	int top;
	uint64_t high;
	uint64_t low;
	uint64_t below = 0;
	int shift;

	for (int i = 0; i < width; i++)
	{
		int64_t sum = acc->chunk[i] + carry;

		digit[i] = (uint32_t) sum;
		carry = sum >> DIGIT_BITS;
	}
	*negative = carry < 0;
	if (carry < 0)
	{
		carry = 0;
		for (int i = 0; i < width; i++)
		{
			int64_t sum = carry - acc->chunk[i];

			digit[i] = (uint32_t) sum;
			carry = sum >> DIGIT_BITS;
		}
	}

	digit[width] = (uint32_t) carry; /* the carry of an int64 has no more bits */
	top = width;
	while (top >= 0 && digit[top] == 0)
		top--;
	if (top < 0)
		return 0;

	high = (uint64_t) digit[top] << 32 | (top >= 1 ? digit[top - 1] : 0);
	low = top >= 2 ? digit[top - 2] : 0;
	for (int i = 0; i + 2 < top; i++)
		below |= digit[i];
	shift = __builtin_clz(digit[top]);
	high = high << shift | low << shift >> 32;
	below |= (uint32_t) (low << shift);
	*weight = (acc->base + top - 1) * DIGIT_BITS - shift + GPUAGG_MIN_EXPONENT;
	*inexact = below != 0;
	return high;
}

/* 63 bits that are rounded as these 64 and what may be below them; signed is faster to convert. */
static int64_t
half_of(uint64_t bits, int inexact)
{
	return (int64_t) (bits >> 1 | (bits & 1) | (uint64_t) inexact);
}

static double
power_of_two(int exponent)
{
	uint64_t bits = (uint64_t) (exponent + 1023) << 52;
	double result;

	memcpy(&result, &bits, sizeof(result));
	return result;
}

/* Like round_chunks(), digit by digit, for any sum that is not zero. */
static int
round_digits(const GpuaggFloatSum *acc, int precision, int min_bit, int max_exponent,
			 double *result)
{
	int64_t digit[GPUAGG_CHUNKS + 2];
	int n = acc->width + 2;
	int offset = acc->base * DIGIT_BITS;
	int negative;
	int top;
	int low;
	uint64_t mantissa;

	memcpy(digit, acc->chunk, acc->width * sizeof(int64_t));
	digit[n - 2] = digit[n - 1] = 0;
	balance(digit, n);

	top = n - 1;
	while (top >= 0 && digit[top] == 0)
		top--;

	/* the magnitude's digits in [0, 2^32) */
	negative = digit[top] < 0;
	for (int i = 0; i <= top; i++)
	{
		int64_t d = negative ? -digit[i] : digit[i];

		digit[i] = d & DIGIT_MASK;
		if (i < top)
			digit[i + 1] += negative ? -(d >> DIGIT_BITS) : d >> DIGIT_BITS;
	}
	while (digit[top] == 0)
		top--;

	/* bits are counted from bit 0 of digit[0], which is bit `offset` among all chunks */
	low = top * DIGIT_BITS + (63 - __builtin_clzll((uint64_t) digit[top])) - (precision - 1);
	if (low < min_bit - offset)
		low = min_bit - offset;

	if (low <= 0)
	{
		mantissa = digit_bits(digit, n, 0, 64);
		low = 0;
	}
	else
	{
		mantissa = digit_bits(digit, n, low, precision);
		if (digit_bits(digit, n, low - 1, 1) &&
			((mantissa & 1) || any_bit_below(digit, n, low - 1)))
			mantissa++;
	}

	*result = ldexp((double) mantissa, low + offset + GPUAGG_MIN_EXPONENT);
	if (!(*result < ldexp(1.0, max_exponent - 1) * 2.0))
		return 0;
	if (negative)
		*result = -*result;
	return 1;
}

/*
 * Rounds the chunks to nearest, ties to even, into a format of `precision`
 * bits whose least bit has weight 2^(min_bit - 1074) and whose values are below
 * 2^max_exponent.  Returns 0 on overflow.
 */
static int
round_chunks(const GpuaggFloatSum *acc, int precision, int min_bit, int max_exponent,
			 double *result)
{
	int weight;
	int negative;
	int inexact;
	uint64_t bits = leading_bits(acc, &negative, &weight, &inexact);

	if (bits == 0)
	{
		*result = acc->counts.n_negzero == acc->counts.n ? -0.0 : 0.0;
		return 1;
	}

	/* a normal number: the processor rounds the leading bits; scaling is exact */
	if (weight >= -1022 && weight + 63 >= min_bit + GPUAGG_MIN_EXPONENT + precision - 1 &&
		weight + 64 < max_exponent)
	{
		int64_t half = half_of(bits, inexact);
		double magnitude = precision == 24 ? (double) (float) half : (double) half;

		*result = (negative ? -magnitude : magnitude) * power_of_two(weight + 1);
		return 1;
	}
	return round_digits(acc, precision, min_bit, max_exponent, result);
}

static GpuaggRounded
round_to(const GpuaggFloatSum *acc, int precision, int min_bit, int max_exponent, double *result)
{
	const GpuaggFloatCounts *c = &acc->counts;

	if (c->n == 0)
		return GPUAGG_ROUNDED_NULL;
	if (c->n_nan > 0 || (c->n_pinf > 0 && c->n_ninf > 0))
		*result = NAN;
	else if (c->n_pinf > 0)
		*result = INFINITY;
	else if (c->n_ninf > 0)
		*result = -INFINITY;
	else if (!round_chunks(acc, precision, min_bit, max_exponent, result))
		return GPUAGG_ROUNDED_OVERFLOW;
	return GPUAGG_ROUNDED_VALUE;
}

GpuaggRounded
gpuagg_float_sum_round64(const GpuaggFloatSum *acc, double *result)
{
	return round_to(acc, 53, 0, 1024, result);
}

GpuaggRounded
gpuagg_float_sum_round32(const GpuaggFloatSum *acc, float *result)
{
	double wide = 0;
	GpuaggRounded rounded = round_to(acc, 24, GPUAGG_MIN_EXPONENT * -1 - 149, 128, &wide);

	*result = (float) wide; /* exact */
	return rounded;
}

/*
 * The leading 64 bits of a quotient of the leading bits are below the true ones by less than 3:
 * what is below the leading bits adds less than 2^63 / n to a quotient of 2^62 / n times 2^64 at
 * least.
 */
int
gpuagg_float_sum_quotient(const GpuaggFloatSum *acc, uint64_t n, double *result)
{
	int weight;
	int negative;
	int inexact;
	uint64_t bits = leading_bits(acc, &negative, &weight, &inexact);
	unsigned __int128 quotient = (unsigned __int128) bits << 63;
	unsigned __int128 whole = quotient;
	uint64_t rest;
	double magnitude;
	int shift;

	if (bits == 0 || n >> 62 != 0)
		return 0;
	quotient /= n;
	shift = 64 - __builtin_clzll((uint64_t) (quotient >> 64));
	bits = (uint64_t) (quotient >> shift);
	rest = bits % 2048; /* of 53 */
	weight += shift - 63;
	if ((inexact && rest < 1024 && rest + 3 > 1024) || weight < -1022 || weight + 64 >= 1024)
		return 0;
	inexact = inexact || quotient * n != whole || quotient << (128 - shift) != 0;
	magnitude = (double) half_of(bits, inexact) * power_of_two(weight + 1);
	*result = negative ? -magnitude : magnitude;
	return 1;
}
