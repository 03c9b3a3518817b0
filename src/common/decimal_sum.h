/*
 * decimal_sum.h
 *	  Exact sums of decimal numbers of any precision and scale, with or without
 *	  their squares.
 *
 * An accumulator's value is the sum of two parts.
 *
 * The fast part holds values for which value * 10000^groups is a 64-bit integer: `groups`
 * is their decimal places by four.  Their sum takes 128 bits, the sum of their squares
 * (of 2 * groups) 192.
 *
 * The rare part, which most accumulators never have, counts NaN and infinities,
 * and has limbs for everything else (decimal_limbs.h).
 *
 * A value may be added to one part and subtracted from the other: both are signed, and
 * only their sum has a meaning.
 *
 * Width: after each merge and each change of groups the fast sum is in [-2^122, 2^122)
 * and that of the squares in [-2^186, 2^186).  A value adds at most 2^63 and 2^126, so
 * 2^60 of them leave the sums below 2^124 and 2^187.
 */
#ifndef GPUAGG_DECIMAL_SUM_H
#define GPUAGG_DECIMAL_SUM_H

#include <string.h>

#include "common/codec.h"
#include "common/decimal_limbs.h"
#include "common/int_sum.h"

#define GPUAGG_DECIMAL_GROUPS	 4	   /* after the point in the fast part, at most */
#define GPUAGG_DECIMAL_SCALE_MAX 16383 /* of a stored number */

typedef struct GpuaggDecimalRare
{
	int64_t n_nan;
	int64_t n_pinf;
	int64_t n_ninf;
	GpuaggLimbs sum;
	GpuaggLimbs squares;
} GpuaggDecimalRare;

/*
 * An accumulator of sums alone may be allocated without `squares`, the last member of
 * its last member.
 */
typedef struct GpuaggDecimalSum
{
	GpuaggMemory memory;
	GpuaggDecimalRare *rare; /* or NULL */
	int64_t n_scale;		 /* finite values with `scale` */
	int32_t scale;			 /* the largest of all finite values */
	int32_t groups;			 /* of the fast part */
	GpuaggIntSum fast;		 /* n: of all finite values */
} GpuaggDecimalSum;

#define GPUAGG_DECIMAL_SUM_SIZE(moments) \
	(offsetof(GpuaggDecimalSum, fast) + GPUAGG_INT_SUM_SIZE(moments))

typedef enum GpuaggDecimalSpecial
{
	GPUAGG_DECIMAL_FINITE,
	GPUAGG_DECIMAL_NAN,
	GPUAGG_DECIMAL_PINF,
	GPUAGG_DECIMAL_NINF
} GpuaggDecimalSpecial;

/*
 * Whether x * 10000^groups is known to be a 64-bit integer; then *value is set to it.
 * Four groups of digits always fit; five do if the first is at most 921, as
 * 922 * 10^16 < 2^63.
 */
static inline int
gpuagg_decimal_int64(const GpuaggDecimal *x, int groups, int64_t *value)
{
	int total = x->weight + groups + 1;
	uint64_t v = 0;

	*value = 0;
	if (x->ndigits == 0)
		return 1;
	if (x->ndigits > total || total > 5 || (total == 5 && gpuagg_decimal_digit(x, 0) > 921))
		return 0;
	for (int i = 0; i < x->ndigits; i++)
		v = v * GPUAGG_DECIMAL_BASE + gpuagg_decimal_digit(x, i);
	v *= gpuagg_decimal_power(total - x->ndigits);
	*value = (int64_t) (x->negative ? -v : v);
	return 1;
}

/* Notes the scale of n values that are being added. */
static inline void
gpuagg_decimal_add_scale(GpuaggDecimalSum *acc, int scale, int64_t n)
{
	if (scale > acc->scale)
	{
		acc->scale = scale;
		acc->n_scale = 0;
	}
	if (scale == acc->scale)
		acc->n_scale += n;
}

extern void gpuagg_decimal_init(GpuaggDecimalSum *acc, int moments, GpuaggMemory memory);

/* Frees the rare part. */
extern void gpuagg_decimal_free(GpuaggDecimalSum *acc);

/*
 * The groups after the point that the fast part should have for x: more than it has if x
 * only fits then, or, if it holds no value yet, as many as x's scale asks for.
 */
extern int gpuagg_decimal_groups_for(const GpuaggDecimalSum *acc, const GpuaggDecimal *x);

/* Raises the fast part to `groups`, at least as many as it has. */
extern void gpuagg_decimal_rescale(GpuaggDecimalSum *acc, int groups);

/* Adds any x, to the fast part if it fits there. */
extern void gpuagg_decimal_add(GpuaggDecimalSum *acc, const GpuaggDecimal *x);

/*
 * Subtracts a value that was added.  0, with nothing changed, if x is the last value of
 * the largest scale: the largest scale of the others is unknown.
 */
extern int gpuagg_decimal_remove(GpuaggDecimalSum *acc, const GpuaggDecimal *x);

/* Adds (sign = 1) or subtracts (sign = -1) a NaN or an infinity. */
extern void gpuagg_decimal_special(GpuaggDecimalSum *acc, GpuaggDecimalSpecial special, int sign);

/* Adds the sum and squares of values of the fast part, as its batch delivers them. */
extern void gpuagg_decimal_add_fast(GpuaggDecimalSum *acc, const GpuaggIntSum *sum);

/*
 * Adds n finite values, integers times 10^-scale, by the words (int_words.h) of the sum of these
 * integers and, if acc has squares, of that of their squares.
 */
extern void gpuagg_decimal_add_words(GpuaggDecimalSum *acc, int64_t n, int scale,
									 const uint64_t *sum, const uint64_t *squares);

/*
 * Adds what `from` has; if into has squares, from must have them too.  The value of
 * `from` stays the same.
 */
extern void gpuagg_decimal_merge(GpuaggDecimalSum *into, GpuaggDecimalSum *from);

/* Whether the sum of all values is FINITE or a special value. */
extern GpuaggDecimalSpecial gpuagg_decimal_special_sum(const GpuaggDecimalSum *acc);

/* The number of all values, special ones too. */
static inline int64_t
gpuagg_decimal_count(const GpuaggDecimalSum *acc)
{
	const GpuaggDecimalRare *rare = acc->rare;

	return acc->fast.n + (rare == NULL ? 0 : rare->n_nan + rare->n_pinf + rare->n_ninf);
}

/* Whether the fast part alone has the sum of the finite values. */
static inline int
gpuagg_decimal_is_fast(const GpuaggDecimalSum *acc)
{
	return acc->rare == NULL || acc->rare->sum.width == 0;
}

/*
 * The sum of n finite values, times 10^scale, where that is the largest scale of them and the fast
 * part has all; 0: else.
 */
extern int gpuagg_decimal_integer(const GpuaggDecimalSum *acc, int scale, int64_t *n,
								  GpuaggInt128 *sum);

/*
 * The sum of the finite values, or of their squares: how many digits it may have at most,
 * and the sum, with its digits written to room for that many.  Its scale is acc's, for
 * squares twice that.  The value of acc stays the same.
 */
extern int gpuagg_decimal_total_digits(GpuaggDecimalSum *acc, int squares);
extern GpuaggDecimal gpuagg_decimal_total(GpuaggDecimalSum *acc, int squares, uint16_t *room);

/* The same sum as propagated limbs in the memory given, to be freed by the caller. */
extern void gpuagg_decimal_limbs(GpuaggDecimalSum *acc, int squares, const GpuaggMemory *memory,
								 GpuaggLimbs *limbs);

/*
 * How many bytes encoding takes at most: GPUAGG_DECIMAL_SMALL_BYTES for an accumulator
 * without a rare part.  The value of acc stays the same.
 */
#define GPUAGG_DECIMAL_SMALL_BYTES (1 + 8 + 8 + 2 + 1 + 16 + 8 * GPUAGG_INT192_WORDS)
extern size_t gpuagg_decimal_encoded_bytes(GpuaggDecimalSum *acc);

/* Writes acc to room for so many bytes; returns how many it took. */
extern size_t gpuagg_decimal_encode(GpuaggDecimalSum *acc, uint8_t *room);

/*
 * Reads what gpuagg_decimal_encode() wrote into a whole, newly initialised *acc, with at
 * most three times the memory of the bytes.  0 if the bytes are not valid.  The caller
 * calls gpuagg_decimal_free() in both cases.
 */
extern int gpuagg_decimal_decode(GpuaggReader *reader, GpuaggDecimalSum *acc);

#endif /* GPUAGG_DECIMAL_SUM_H */
