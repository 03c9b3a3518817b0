/*
 * decimal_sum.h
 *	  Exact sums of decimal numbers of any precision and scale, with or without
 *	  their squares.
 *
 * What an accumulator stands for is the sum of two parts.
 *
 * The fast part holds values that are 64-bit integers of `groups` decimal places
 * by four: value * 10000^groups.  Their sum takes 128 bits, that of their squares
 * (of 2 * groups places by four) 192.
 *
 * The rare part, which most accumulators never have, counts NaN and infinities,
 * and has limbs for everything else (decimal_limbs.h).
 *
 * A value may be taken away from the other part than it was added to: both are
 * signed, and only their sum means something.
 *
 * Width: after each merge and each change of groups the fast sum is in
 * [-2^122, 2^122) and that of the squares in [-2^186, 2^186); a value adds at most
 * 2^63 and 2^126, and 2^60 of them leave the sums below 2^124 and 2^187.
 */
#ifndef GPUAGG_DECIMAL_SUM_H
#define GPUAGG_DECIMAL_SUM_H

#include <string.h>

#include "common/codec.h"
#include "common/decimal_limbs.h"
#include "common/int_sum.h"

#define GPUAGG_DECIMAL_GROUPS	 4	   /* at most, after the point, in the fast part */
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
 * An accumulator of sums alone may be allocated without the squares, the last
 * member of the last.
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
 * Whether x * 10000^groups is known to be a 64-bit integer, which *value then is.
 * Sixteen digits always fit, and so do five groups of which the first is at
 * most 921, as 922 * 10^16 < 2^63.
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

/* Notes the scale of a value that is being added. */
static inline void
gpuagg_decimal_add_scale(GpuaggDecimalSum *acc, int scale)
{
	if (scale > acc->scale)
	{
		acc->scale = scale;
		acc->n_scale = 0;
	}
	if (scale == acc->scale)
		acc->n_scale++;
}

extern void gpuagg_decimal_init(GpuaggDecimalSum *acc, int moments, GpuaggMemory memory);

/* Gives back what the accumulator has grown into. */
extern void gpuagg_decimal_free(GpuaggDecimalSum *acc);

/*
 * The groups after the point that the fast part should have for x: more than it
 * has when x fits only so, all that x's scale asks for when it holds no value yet.
 */
extern int gpuagg_decimal_groups_for(const GpuaggDecimalSum *acc, const GpuaggDecimal *x);

/* Brings the fast part to `groups`, not fewer than it has. */
extern void gpuagg_decimal_rescale(GpuaggDecimalSum *acc, int groups);

/* Adds x, whatever it is, to the part that it fits.  It is faster in the fast one. */
extern void gpuagg_decimal_add(GpuaggDecimalSum *acc, const GpuaggDecimal *x);

/*
 * Takes away a value that was added.  0, with nothing changed, when the largest
 * scale of the others is unknown: x was the last with the largest.
 */
extern int gpuagg_decimal_remove(GpuaggDecimalSum *acc, const GpuaggDecimal *x);

/* Adds (sign = 1) or takes away (sign = -1) a NaN or an infinity. */
extern void gpuagg_decimal_special(GpuaggDecimalSum *acc, GpuaggDecimalSpecial special, int sign);

/* Adds the sum and squares of values of the fast part, as its batch delivers them. */
extern void gpuagg_decimal_add_fast(GpuaggDecimalSum *acc, const GpuaggIntSum *sum);

/*
 * Adds all that `from` has; where into has squares, from must have them too.
 * What `from` stands for stays the same.
 */
extern void gpuagg_decimal_merge(GpuaggDecimalSum *into, GpuaggDecimalSum *from);

/* What all values add up to: FINITE, or a special value. */
extern GpuaggDecimalSpecial gpuagg_decimal_special_sum(const GpuaggDecimalSum *acc);

/* All values, special ones too. */
static inline int64_t
gpuagg_decimal_count(const GpuaggDecimalSum *acc)
{
	const GpuaggDecimalRare *rare = acc->rare;

	return acc->fast.n + (rare == NULL ? 0 : rare->n_nan + rare->n_pinf + rare->n_ninf);
}

/*
 * The sum of the finite values, or of their squares: how many digits it may
 * have, and the sum, its digits written to room for so many of them.  What acc
 * stands for stays the same.  The scale is acc's, or twice that.
 */
extern int gpuagg_decimal_total_digits(GpuaggDecimalSum *acc, int squares);
extern GpuaggDecimal gpuagg_decimal_total(GpuaggDecimalSum *acc, int squares, uint16_t *room);

/* The same sum as propagated limbs in the memory given; they are the caller's to free. */
extern void gpuagg_decimal_limbs(GpuaggDecimalSum *acc, int squares, const GpuaggMemory *memory,
								 GpuaggLimbs *limbs);

/*
 * How many bytes encoding takes at most.  What acc stands for stays the same.
 * Those of an accumulator that has no rare part are GPUAGG_DECIMAL_SMALL_BYTES.
 */
#define GPUAGG_DECIMAL_SMALL_BYTES (1 + 8 + 8 + 2 + 1 + 16 + 8 * GPUAGG_INT192_WORDS)
extern size_t gpuagg_decimal_encoded_bytes(GpuaggDecimalSum *acc);

/* Writes acc to room for so many; returns how many it took. */
extern size_t gpuagg_decimal_encode(GpuaggDecimalSum *acc, uint8_t *room);

/*
 * Reads what gpuagg_decimal_encode() wrote into a whole *acc, newly initialised,
 * and takes no more memory than the bytes do times three; 0 when the bytes are no
 * such thing.  gpuagg_decimal_free() is the caller's in both cases.
 */
extern int gpuagg_decimal_decode(GpuaggReader *reader, GpuaggDecimalSum *acc);

#endif /* GPUAGG_DECIMAL_SUM_H */
