/*
 * oracle.cc
 *	  Exact sums of doubles for the tests.
 */
#include "oracle.h"

#include <math.h>
#include <string.h>

void
big_clear(Big *sum)
{
	memset(sum, 0, sizeof(*sum));
}

void
big_add(Big *sum, double x)
{
	int exponent;
	double fraction = frexp(fabs(x), &exponent);
	uint64_t mantissa = (uint64_t) ldexp(fraction, 53);
	int place = exponent - 53 + 1074;

	if (mantissa == 0)
		return;
	while (place < 0)
	{
		mantissa >>= 1; /* a subnormal: its low bits are zeros */
		place++;
	}

	unsigned __int128 wide = (unsigned __int128) mantissa << (place % 32);

	if (x > 0)
	{
		uint64_t carry = 0;

		for (int i = place / 32; i < BIG_WORDS && (wide != 0 || carry != 0); i++)
		{
			carry += (uint64_t) sum->word[i] + (uint32_t) wide;
			sum->word[i] = (uint32_t) carry;
			carry >>= 32;
			wide >>= 32;
		}
	}
	else
	{
		uint64_t borrow = 0;

		for (int i = place / 32; i < BIG_WORDS && (wide != 0 || borrow != 0); i++)
		{
			uint64_t take = (uint64_t) (uint32_t) wide + borrow;

			borrow = sum->word[i] < take;
			sum->word[i] = (uint32_t) (sum->word[i] - take);
			wide >>= 32;
		}
	}
}

bool
big_is_zero(const Big *sum)
{
	for (int i = 0; i < BIG_WORDS; i++)
		if (sum->word[i] != 0)
			return false;
	return true;
}

static bool
magnitude(const Big *sum, Big *abs)
{
	bool negative = sum->word[BIG_WORDS - 1] >> 31;
	uint64_t carry = 1;

	*abs = *sum;
	if (negative)
		for (int i = 0; i < BIG_WORDS; i++)
		{
			carry += (uint32_t) ~sum->word[i];
			abs->word[i] = (uint32_t) carry;
			carry >>= 32;
		}
	return negative;
}

static int
big_bit(const Big *b, int place)
{
	return place < 0 ? 0 : b->word[place / 32] >> (place % 32) & 1;
}

void
big_extent(const Big *sum, int *lowest, int *highest)
{
	Big abs;
	int i = 0;

	magnitude(sum, &abs);
	while (abs.word[i] == 0)
		i++;
	*lowest = 32 * i + __builtin_ctz(abs.word[i]);
	i = BIG_WORDS - 1;
	while (abs.word[i] == 0)
		i--;
	*highest = 32 * i + 31 - __builtin_clz(abs.word[i]);
}

void
double_extent(double x, int *lowest, int *highest)
{
	int exponent;
	double fraction = frexp(fabs(x), &exponent);
	uint64_t mantissa = (uint64_t) ldexp(fraction, 53);

	*highest = exponent - 1 + 1074;
	*lowest = exponent - 53 + __builtin_ctzll(mantissa) + 1074;
}

/* To so many bits, but none below the place `least`; that of 1 is `unit`. */
static double
round_to(const Big *sum, int bits, int least, int unit = 1074)
{
	Big abs;
	bool negative;
	int lowest;
	int highest;
	double result = 0;
	uint64_t kept = 0;

	if (big_is_zero(sum))
		return 0;
	negative = magnitude(sum, &abs);
	big_extent(sum, &lowest, &highest);

	int last = highest - (bits - 1) > least ? highest - (bits - 1) : least;

	for (int place = highest; place >= last; place--)
		kept = kept << 1 | (uint64_t) big_bit(&abs, place);
	if (big_bit(&abs, last - 1) && (lowest < last - 1 || (kept & 1)))
		kept++;
	result = ldexp((double) kept, last - unit);
	return negative ? -result : result;
}

double
big_round(const Big *sum)
{
	return round_to(sum, 53, 0);
}

float
big_round_float(const Big *sum)
{
	return (float) round_to(sum, 24, 1074 - 149);
}

/* With 64 more bits, of which the lowest says whether there is a remainder. */
double
big_average(const Big *sum, uint32_t n)
{
	Big abs;
	Big quotient;
	bool negative = magnitude(sum, &abs);
	uint64_t left = 0;
	double result;

	for (int i = BIG_WORDS - 1; i >= 0; i--)
	{
		left = left << 32 | (i < 2 ? 0 : abs.word[i - 2]);
		quotient.word[i] = (uint32_t) (left / n);
		left %= n;
	}
	if (left != 0)
		quotient.word[0] |= 1;
	result = round_to(&quotient, 53, 64, 1074 + 64);
	return negative ? -result : result;
}

void
squares_clear(BigSquares *sum)
{
	memset(sum, 0, sizeof(*sum));
}

/* The square by schoolbook multiplication of 16-bit digits of |x| / 2^-1074's lowest bit. */
void
squares_add(BigSquares *sum, double x)
{
	uint64_t bits;
	uint64_t mantissa;
	int exponent;
	int place;

	memcpy(&bits, &x, sizeof(bits));
	exponent = (int) (bits >> 52 & 0x7ff);
	mantissa = bits & 0xfffffffffffff;
	if (exponent > 0)
		mantissa += UINT64_C(1) << 52;
	place = 2 * (exponent > 0 ? exponent - 1 : 0);

	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 4; k++)
		{
			uint64_t product = (mantissa >> 16 * i & 0xffff) * (mantissa >> 16 * k & 0xffff);
			int at = place + 16 * (i + k);
			uint64_t carry = product << (at % 32); /* below 2^63 */

			for (int w = at / 32; carry != 0; w++)
			{
				carry += sum->word[w];
				sum->word[w] = (uint32_t) carry;
				carry >>= 32;
			}
		}
}

void
oracle_clear(Oracle *oracle)
{
	memset(oracle, 0, sizeof(*oracle));
}

void
oracle_add(Oracle *oracle, double x)
{
	oracle->n++;
	if (isnan(x))
		oracle->n_nan++;
	else if (isinf(x) && x > 0)
		oracle->n_pinf++;
	else if (isinf(x))
		oracle->n_ninf++;
	else if (x == 0)
		oracle->n_negzero += signbit(x) != 0;
	else
		big_add(&oracle->sum, x);
}

/* What the sum is when it is not decided by its digits; false when it is. */
static bool
special_result(const Oracle *oracle, double *value)
{
	if (oracle->n_nan > 0 || (oracle->n_pinf > 0 && oracle->n_ninf > 0))
		*value = NAN;
	else if (oracle->n_pinf > 0)
		*value = INFINITY;
	else if (oracle->n_ninf > 0)
		*value = -INFINITY;
	else if (big_is_zero(&oracle->sum))
		*value = oracle->n > 0 && oracle->n_negzero == oracle->n ? -0.0 : 0.0;
	else
		return false;
	return true;
}

uint64_t
oracle_result(const Oracle *oracle, bool *overflow)
{
	double value;
	uint64_t bits;

	*overflow = false;
	if (!special_result(oracle, &value))
	{
		value = big_round(&oracle->sum);
		*overflow = isinf(value);
	}
	memcpy(&bits, &value, sizeof(bits));
	return isnan(value) ? UINT64_C(0x7ff8000000000000) : bits;
}

uint64_t
oracle_average(const Oracle *oracle)
{
	double value = 0;
	uint64_t bits;

	if (oracle->n > 0 && !special_result(oracle, &value))
		value = big_average(&oracle->sum, (uint32_t) oracle->n);
	memcpy(&bits, &value, sizeof(bits));
	return isnan(value) ? UINT64_C(0x7ff8000000000000) : bits;
}

uint32_t
oracle_result_float(const Oracle *oracle, bool *overflow)
{
	double special;
	float value;
	uint32_t bits;

	*overflow = false;
	if (special_result(oracle, &special))
		value = (float) special;
	else
	{
		value = big_round_float(&oracle->sum);
		*overflow = isinf(value);
	}
	memcpy(&bits, &value, sizeof(bits));
	return isnan(value) ? 0x7fc00000 : bits;
}
