/*
 * decimal_sum.c
 *	  Exact sums of decimal numbers: everything except the fast addition of 64 bits.
 */
#include "common/decimal_sum.h"

#include "common/int_words.h"
#include "common/power_of_ten.h"

#define FAST_BITS	 58 /* of the high word: sums below 2^122, squares below 2^186 */
#define SHORT_LIMBS	 16 /* a number of so many limbs is squared without allocating */
#define WORDS_GROUPS 16 /* groups of four digits: 2^191 has 58 digits */
#define WIDE_WORDS	 (GPUAGG_SQUARE_WORDS + 1)
#define WIDE_GROUPS	 32 /* 2^383 has 116 */

typedef __int128 int128_t;

/* ---- integers of words ---- */

static void
words_of(const GpuaggDecimalSum *acc, int squares, uint64_t *words)
{
	if (squares)
		memcpy(words, acc->fast.squares, sizeof(acc->fast.squares));
	else
	{
		words[0] = acc->fast.sum.lo;
		words[1] = (uint64_t) acc->fast.sum.hi;
		words[2] = acc->fast.sum.hi < 0 ? UINT64_MAX : 0;
	}
}

/* Divides positive words into groups of four digits, the last at room[groups - 1]. */
static void
words_digits(uint64_t *words, int n, uint16_t *room, int groups)
{
	for (int i = groups; i > 0; i -= GPUAGG_LIMB_GROUPS)
	{
		uint64_t limb = gpuagg_words_divide(words, n, GPUAGG_LIMB);

		for (int j = 1; j <= GPUAGG_LIMB_GROUPS; j++)
		{
			room[i - j] = (uint16_t) (limb % GPUAGG_DECIMAL_BASE);
			limb /= GPUAGG_DECIMAL_BASE;
		}
	}
}

/* Adds an integer of n words, at most WIDE_WORDS - 1, times 10^-scale. */
static void
words_to_limbs(const GpuaggMemory *memory, GpuaggLimbs *limbs, const uint64_t *words, int n,
			   int scale)
{
	int places = (scale + 3) / 4; /* groups after the point */
	uint64_t wide[WIDE_WORDS];
	uint16_t room[WIDE_GROUPS];
	int negative;
	GpuaggDecimal x;

	for (int i = 0; i < WIDE_WORDS; i++)
		wide[i] = i < n ? words[i] : (int64_t) words[n - 1] < 0 ? UINT64_MAX : 0;
	negative = gpuagg_words_absolute(wide, WIDE_WORDS);
	gpuagg_words_multiply(wide, WIDE_WORDS, gpuagg_power_of_ten(4 * places - scale));
	words_digits(wide, WIDE_WORDS, room, WIDE_GROUPS);
	x = gpuagg_decimal_trimmed(room, WIDE_GROUPS, WIDE_GROUPS - 1 - places, negative);
	if (x.ndigits > 0)
		gpuagg_limbs_add_decimal(memory, limbs, &x, 1);
}

/* ---- the two parts ---- */

static GpuaggDecimalRare *
rare_of(GpuaggDecimalSum *acc)
{
	if (acc->rare == NULL)
	{
		acc->rare = acc->memory.resize(acc->memory.owner, NULL, sizeof(GpuaggDecimalRare));
		memset(acc->rare, 0, sizeof(GpuaggDecimalRare));
	}
	return acc->rare;
}

/* The fast part's sum or squares as a number, in room for WORDS_GROUPS groups. */
static GpuaggDecimal
fast_total(const GpuaggDecimalSum *acc, int squares, uint16_t *room)
{
	uint64_t words[GPUAGG_INT192_WORDS];
	int negative;

	words_of(acc, squares, words);
	negative = gpuagg_words_absolute(words, GPUAGG_INT192_WORDS);
	words_digits(words, GPUAGG_INT192_WORDS, room, WORDS_GROUPS);
	return gpuagg_decimal_trimmed(room, WORDS_GROUPS,
								  WORDS_GROUPS - 1 - acc->groups * (squares ? 2 : 1), negative);
}

/* Adds the fast part's sum or squares to the limbs. */
static void
fast_to_limbs(const GpuaggDecimalSum *acc, int squares, const GpuaggMemory *memory,
			  GpuaggLimbs *limbs)
{
	uint16_t room[WORDS_GROUPS];
	GpuaggDecimal x = fast_total(acc, squares, room);

	if (x.ndigits > 0)
		gpuagg_limbs_add_decimal(memory, limbs, &x, 1);
}

/* Moves the fast part's sum and squares to the rare part. */
static void
flush(GpuaggDecimalSum *acc)
{
	GpuaggDecimalRare *rare = rare_of(acc);

	fast_to_limbs(acc, 0, &acc->memory, &rare->sum);
	memset(&acc->fast.sum, 0, sizeof(acc->fast.sum));
	if (acc->fast.moments)
	{
		fast_to_limbs(acc, 1, &acc->memory, &rare->squares);
		memset(acc->fast.squares, 0, sizeof(acc->fast.squares));
	}
}

/* Whether the high word is in [-2^bits, 2^bits). */
static inline int
is_within(int64_t high, int bits)
{
	return high >= -(INT64_C(1) << bits) && high < INT64_C(1) << bits;
}

static void
settle(GpuaggDecimalSum *acc)
{
	if (!is_within(acc->fast.sum.hi, FAST_BITS) ||
		(acc->fast.moments && !is_within((int64_t) acc->fast.squares[2], FAST_BITS)))
		flush(acc);
}

void
gpuagg_decimal_init(GpuaggDecimalSum *acc, int moments, GpuaggMemory memory)
{
	memset(acc, 0, GPUAGG_DECIMAL_SUM_SIZE(moments));
	acc->memory = memory;
	acc->fast.moments = moments;
}

void
gpuagg_decimal_free(GpuaggDecimalSum *acc)
{
	if (acc->rare == NULL)
		return;
	gpuagg_limbs_free(&acc->memory, &acc->rare->sum);
	gpuagg_limbs_free(&acc->memory, &acc->rare->squares);
	acc->memory.resize(acc->memory.owner, acc->rare, 0);
	acc->rare = NULL;
}

int
gpuagg_decimal_groups_for(const GpuaggDecimalSum *acc, const GpuaggDecimal *x)
{
	int needed = x->ndigits == 0 ? 0 : x->ndigits - x->weight - 1;
	int told = x->scale > 4 ? 2 : (x->scale + 3) / 4;
	int64_t value;

	if (acc->n_scale > 0 && needed <= acc->groups)
		return acc->groups;
	if (told > acc->groups && told >= needed && gpuagg_decimal_int64(x, told, &value))
		return told;
	if (needed > acc->groups && needed <= GPUAGG_DECIMAL_GROUPS &&
		gpuagg_decimal_int64(x, needed, &value))
		return needed;
	return acc->groups;
}

void
gpuagg_decimal_rescale(GpuaggDecimalSum *acc, int groups)
{
	uint64_t factor = gpuagg_decimal_power(groups - acc->groups); /* < 2^54 */
	GpuaggIntSum *fast = &acc->fast;

	if (factor == 1)
		return;
	/* sums below 2^68 become sums below 2^122, squares below 2^78 squares below 2^186 */
	if (!is_within(fast->sum.hi, 4) ||
		(fast->moments && (fast->squares[2] != 0 || fast->squares[1] >> 14 != 0)))
		flush(acc);
	fast->sum = gpuagg_int128_narrow(gpuagg_int128_wide(fast->sum) * (int128_t) factor);
	if (fast->moments)
	{
		gpuagg_words_multiply(fast->squares, GPUAGG_INT192_WORDS, factor);
		gpuagg_words_multiply(fast->squares, GPUAGG_INT192_WORDS, factor);
	}
	acc->groups = groups;
}

/* ---- values ---- */

/* Adds or subtracts the square of x. */
static void
deposit_square(GpuaggDecimalSum *acc, const GpuaggDecimal *x, int sign)
{
	int width = GPUAGG_LIMBS_OF(x);
	uint64_t small[SHORT_LIMBS];
	uint64_t *limb = small;
	int first;

	if (width > SHORT_LIMBS)
		limb = acc->memory.resize(acc->memory.owner, NULL, width * sizeof(uint64_t));
	width = gpuagg_limbs_of(x, limb, &first);
	gpuagg_limbs_add_square(&acc->memory, &acc->rare->squares, limb, first, width, sign);
	if (limb != small)
		acc->memory.resize(acc->memory.owner, limb, 0);
}

/* Adds or subtracts a value that the fast part cannot hold. */
static inline void
deposit(GpuaggDecimalSum *acc, const GpuaggDecimal *x, int sign)
{
	gpuagg_limbs_add_decimal(&acc->memory, &rare_of(acc)->sum, x, sign);
	if (acc->fast.moments)
		deposit_square(acc, x, sign);
	acc->fast.n += sign;
}

void
gpuagg_decimal_add(GpuaggDecimalSum *acc, const GpuaggDecimal *x)
{
	int64_t value;

	if (gpuagg_decimal_int64(x, acc->groups, &value))
		gpuagg_int_sum_add(&acc->fast, value, (int) acc->fast.moments);
	else
		deposit(acc, x, 1);
	gpuagg_decimal_add_scale(acc, x->scale, 1);
}

/* Resets what finite values have changed, when none of them is left. */
static void
empty(GpuaggDecimalSum *acc)
{
	acc->n_scale = 0;
	acc->scale = 0;
	acc->groups = 0;
	memset(&acc->fast.sum, 0, sizeof(acc->fast.sum));
	if (acc->fast.moments)
		memset(acc->fast.squares, 0, sizeof(acc->fast.squares));
	if (acc->rare != NULL)
	{
		gpuagg_limbs_free(&acc->memory, &acc->rare->sum);
		gpuagg_limbs_free(&acc->memory, &acc->rare->squares);
	}
}

int
gpuagg_decimal_remove(GpuaggDecimalSum *acc, const GpuaggDecimal *x)
{
	int64_t value;

	if (acc->fast.n == 1)
	{
		acc->fast.n = 0;
		empty(acc);
		return 1;
	}
	if (x->scale == acc->scale)
	{
		if (acc->n_scale == 1)
			return 0;
		acc->n_scale--;
	}
	if (gpuagg_decimal_int64(x, acc->groups, &value))
		gpuagg_int_sum_remove(&acc->fast, value, (int) acc->fast.moments);
	else
		deposit(acc, x, -1);
	return 1;
}

void
gpuagg_decimal_special(GpuaggDecimalSum *acc, GpuaggDecimalSpecial special, int sign)
{
	GpuaggDecimalRare *rare = rare_of(acc);

	switch (special)
	{
		case GPUAGG_DECIMAL_FINITE:
			break;
		case GPUAGG_DECIMAL_NAN:
			rare->n_nan += sign;
			break;
		case GPUAGG_DECIMAL_PINF:
			rare->n_pinf += sign;
			break;
		case GPUAGG_DECIMAL_NINF:
			rare->n_ninf += sign;
			break;
	}
}

GpuaggDecimalSpecial
gpuagg_decimal_special_sum(const GpuaggDecimalSum *acc)
{
	const GpuaggDecimalRare *rare = acc->rare;

	if (rare == NULL)
		return GPUAGG_DECIMAL_FINITE;
	if (rare->n_nan > 0 || (rare->n_pinf > 0 && rare->n_ninf > 0))
		return GPUAGG_DECIMAL_NAN;
	if (rare->n_pinf > 0)
		return GPUAGG_DECIMAL_PINF;
	return rare->n_ninf > 0 ? GPUAGG_DECIMAL_NINF : GPUAGG_DECIMAL_FINITE;
}

void
gpuagg_decimal_add_fast(GpuaggDecimalSum *acc, const GpuaggIntSum *sum)
{
	gpuagg_int_sum_merge(&acc->fast, sum);
	settle(acc);
}

void
gpuagg_decimal_add_words(GpuaggDecimalSum *acc, int64_t n, int scale, const uint64_t *sum,
						 const uint64_t *squares)
{
	GpuaggDecimalRare *rare = rare_of(acc);

	acc->fast.n += n;
	words_to_limbs(&acc->memory, &rare->sum, sum, GPUAGG_SUM_WORDS, scale);
	if (acc->fast.moments)
		words_to_limbs(&acc->memory, &rare->squares, squares, GPUAGG_SQUARE_WORDS, 2 * scale);
}

static int64_t
sum_of_counts(int64_t a, int64_t b)
{
	return (int64_t) ((uint64_t) a + (uint64_t) b);
}

void
gpuagg_decimal_merge(GpuaggDecimalSum *into, GpuaggDecimalSum *from)
{
	int groups = into->groups > from->groups ? into->groups : from->groups;

	gpuagg_decimal_rescale(into, groups);
	gpuagg_decimal_rescale(from, groups);
	gpuagg_decimal_add_fast(into, &from->fast);
	if (from->scale > into->scale)
	{
		into->scale = from->scale;
		into->n_scale = from->n_scale;
	}
	else if (from->scale == into->scale)
		into->n_scale = sum_of_counts(into->n_scale, from->n_scale);
	if (from->rare != NULL)
	{
		GpuaggDecimalRare *rare = rare_of(into);

		rare->n_nan = sum_of_counts(rare->n_nan, from->rare->n_nan);
		rare->n_pinf = sum_of_counts(rare->n_pinf, from->rare->n_pinf);
		rare->n_ninf = sum_of_counts(rare->n_ninf, from->rare->n_ninf);
		gpuagg_limbs_propagate(&from->memory, &from->rare->sum);
		gpuagg_limbs_merge(&into->memory, &rare->sum, &from->rare->sum);
		if (into->fast.moments)
		{
			gpuagg_limbs_propagate(&from->memory, &from->rare->squares);
			gpuagg_limbs_merge(&into->memory, &rare->squares, &from->rare->squares);
		}
	}
}

/* ---- totals ---- */

/* The rare part's limbs of the sum or the squares, or NULL if there are none. */
static GpuaggLimbs *
limbs_for(const GpuaggDecimalSum *acc, int squares)
{
	GpuaggLimbs *limbs;

	if (acc->rare == NULL)
		return NULL;
	limbs = squares ? &acc->rare->squares : &acc->rare->sum;
	return limbs->width > 0 ? limbs : NULL;
}

int
gpuagg_decimal_integer(const GpuaggDecimalSum *acc, int scale, int64_t *n, GpuaggInt128 *sum)
{
	int more = 4 * acc->groups - scale; /* digits that the sum has, all 0 */
	int64_t power;

	*n = acc->fast.n;
	*sum = acc->fast.sum;
	if (*n == 0 && acc->rare == NULL)
		return 1;
	if (acc->rare != NULL || acc->scale != scale || more < 0)
		return 0;
	power = (int64_t) gpuagg_power_of_ten(more);
	*sum = gpuagg_int128_is_int64(*sum) ? gpuagg_int128_from((int64_t) sum->lo / power)
										: gpuagg_int128_narrow(gpuagg_int128_wide(*sum) / power);
	return 1;
}

int
gpuagg_decimal_total_digits(GpuaggDecimalSum *acc, int squares)
{
	GpuaggLimbs *limbs = limbs_for(acc, squares);

	if (limbs == NULL)
		return WORDS_GROUPS;
	flush(acc);
	gpuagg_limbs_propagate(&acc->memory, limbs);
	return limbs->width * GPUAGG_LIMB_GROUPS;
}

GpuaggDecimal
gpuagg_decimal_total(GpuaggDecimalSum *acc, int squares, uint16_t *room)
{
	GpuaggLimbs *limbs = limbs_for(acc, squares);
	GpuaggDecimal x;

	if (limbs == NULL)
		x = fast_total(acc, squares, room);
	else
		x = gpuagg_limbs_decimal(limbs, room);
	x.scale = squares ? 2 * acc->scale : acc->scale;
	return x;
}

void
gpuagg_decimal_limbs(GpuaggDecimalSum *acc, int squares, const GpuaggMemory *memory,
					 GpuaggLimbs *limbs)
{
	GpuaggLimbs *rare = limbs_for(acc, squares);

	memset(limbs, 0, sizeof(*limbs));
	if (rare != NULL)
	{
		gpuagg_limbs_propagate(&acc->memory, rare);
		gpuagg_limbs_merge(memory, limbs, rare);
	}
	fast_to_limbs(acc, squares, memory, limbs);
	gpuagg_limbs_propagate(memory, limbs);
}

/*
 * ---- bytes ----
 *
 * A byte of flags; n, n_scale; two bytes of scale, one of groups; the fast part's sum,
 * and its squares if it has them.  Then, if there is a rare part: three counts, the limbs
 * of the sum, and those of the squares.  Limbs are written as a byte for the sign, two
 * bytes for the number of the least significant limb, two for how many there are, and
 * eight for each limb of the absolute value; neither the first nor the last of them is 0.
 */

#define HAS_MOMENTS 1u
#define HAS_RARE	2u
#define LIMBS_HEAD	5

/* Limits of limbs of stored numbers, with the room that the sum of 2^62 of them needs. */
#define LOWEST_LIMB	 (-1024)
#define HIGHEST_LIMB 8196

size_t
gpuagg_decimal_encoded_bytes(GpuaggDecimalSum *acc)
{
	GpuaggDecimalRare *rare = acc->rare;
	size_t bytes = GPUAGG_DECIMAL_SMALL_BYTES;

	settle(acc);
	if (rare == NULL)
		return bytes;
	gpuagg_limbs_propagate(&acc->memory, &rare->sum);
	gpuagg_limbs_propagate(&acc->memory, &rare->squares);
	return bytes + 3 * 8 + 2 * LIMBS_HEAD + 8 * (size_t) (rare->sum.width + rare->squares.width);
}

static void
put_limbs(GpuaggWriter *w, const GpuaggLimbs *limbs)
{
	int negative = gpuagg_limbs_negative(limbs);
	int borrow = 0;
	int first = -1;
	int last = -1;

	for (int i = 0; i < limbs->width; i++)
		if (gpuagg_limb_magnitude(limbs, i, negative, &borrow) != 0)
		{
			first = first < 0 ? i : first;
			last = i;
		}
	gpuagg_put(w, (uint64_t) negative, 1);
	gpuagg_put(w, first < 0 ? 0 : (uint64_t) (limbs->first + first), 2);
	gpuagg_put(w, first < 0 ? 0 : (uint64_t) (last - first + 1), 2);
	borrow = 0;
	for (int i = first; first >= 0 && i <= last; i++)
		gpuagg_put(w, gpuagg_limb_magnitude(limbs, i, negative, &borrow), 8);
}

size_t
gpuagg_decimal_encode(GpuaggDecimalSum *acc, uint8_t *room)
{
	GpuaggWriter w = {room};
	const GpuaggIntSum *fast = &acc->fast;
	const GpuaggDecimalRare *rare = acc->rare;

	gpuagg_put(&w, (fast->moments ? HAS_MOMENTS : 0) | (rare != NULL ? HAS_RARE : 0), 1);
	gpuagg_put(&w, (uint64_t) fast->n, 8);
	gpuagg_put(&w, (uint64_t) acc->n_scale, 8);
	gpuagg_put(&w, (uint64_t) acc->scale, 2);
	gpuagg_put(&w, (uint64_t) acc->groups, 1);
	gpuagg_put_int128(&w, fast->sum);
	if (fast->moments)
		for (int i = GPUAGG_INT192_WORDS - 1; i >= 0; i--)
			gpuagg_put(&w, fast->squares[i], 8);
	if (rare != NULL)
	{
		gpuagg_put(&w, (uint64_t) rare->n_nan, 8);
		gpuagg_put(&w, (uint64_t) rare->n_pinf, 8);
		gpuagg_put(&w, (uint64_t) rare->n_ninf, 8);
		put_limbs(&w, &rare->sum);
		if (fast->moments)
			put_limbs(&w, &rare->squares);
	}
	return (size_t) (w.next - room);
}

/* Limbs of numbers (squares: of squares of them). */
static void
get_limbs(GpuaggReader *r, GpuaggDecimalSum *acc, GpuaggLimbs *limbs, int squares)
{
	unsigned sign = (unsigned) gpuagg_get(r, 1);
	int first = (int16_t) gpuagg_get(r, 2);
	int width = (int) gpuagg_get(r, 2);
	int times = squares ? 2 : 1;
	uint64_t limb = 0;

	if (width == 0)
	{
		r->bad |= sign != 0 || first != 0;
		return;
	}
	if (sign > 1 || first < LOWEST_LIMB * times || first + width - 1 > HIGHEST_LIMB * times ||
		r->left < 8 * (size_t) width)
	{
		r->bad = 1;
		return;
	}
	gpuagg_limbs_reserve(&acc->memory, limbs, first, first + width - 1);
	for (int i = 0; i < width; i++)
	{
		limb = gpuagg_get(r, 8);
		if (limb >= GPUAGG_LIMB || (i == 0 && limb == 0))
			r->bad = 1;
		limbs->limb[i] = gpuagg_int128_from(sign ? -(int64_t) (limb % GPUAGG_LIMB)
												 : (int64_t) (limb % GPUAGG_LIMB));
	}
	if (limb == 0)
		r->bad = 1;
	gpuagg_limbs_propagate(&acc->memory, limbs);
}

int
gpuagg_decimal_decode(GpuaggReader *reader, GpuaggDecimalSum *acc)
{
	unsigned flags = (unsigned) gpuagg_get(reader, 1);
	GpuaggIntSum *fast = &acc->fast;

	fast->moments = flags & HAS_MOMENTS;
	fast->n = gpuagg_get_count(reader);
	acc->n_scale = gpuagg_get_count(reader);
	acc->scale = (int32_t) gpuagg_get(reader, 2);
	acc->groups = (int32_t) gpuagg_get(reader, 1);
	fast->sum = gpuagg_get_int128(reader);
	if (fast->moments)
		for (int i = GPUAGG_INT192_WORDS - 1; i >= 0; i--)
			fast->squares[i] = gpuagg_get(reader, 8);
	if (reader->bad || flags > (HAS_MOMENTS | HAS_RARE) || acc->n_scale > fast->n ||
		(acc->n_scale == 0 && fast->n > 0) || acc->scale > GPUAGG_DECIMAL_SCALE_MAX ||
		acc->groups > GPUAGG_DECIMAL_GROUPS || !is_within(fast->sum.hi, FAST_BITS) ||
		!is_within((int64_t) fast->squares[2], FAST_BITS))
	{
		acc->groups = 0;
		return 0;
	}
	if (flags & HAS_RARE)
	{
		GpuaggDecimalRare *rare = rare_of(acc);

		rare->n_nan = gpuagg_get_count(reader);
		rare->n_pinf = gpuagg_get_count(reader);
		rare->n_ninf = gpuagg_get_count(reader);
		get_limbs(reader, acc, &rare->sum, 0);
		if (fast->moments)
			get_limbs(reader, acc, &rare->squares, 1);
	}
	return !reader->bad;
}
