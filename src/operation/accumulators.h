/*
 * accumulators.h
 *	  Accumulators that more than their family looks into, and how they take values.
 */
#ifndef GPUAGG_ACCUMULATORS_H
#define GPUAGG_ACCUMULATORS_H

#include "common/decimal_sum.h"
#include "common/float_squares.h"
#include "common/int_sum.h"
#include "operation/family.h"

typedef struct CountAccumulator
{
	Accumulator head;
	int64 n;
} CountAccumulator;

typedef struct IntAccumulator
{
	Accumulator head;
	GpuaggIntSum sum; /* last, as its squares may be missing */
} IntAccumulator;

typedef struct KeyAccumulator
{
	Accumulator head;
	int64 n;
	int64 key; /* when n is 0 one that every other key replaces */
} KeyAccumulator;

typedef struct NumericAccumulator
{
	Accumulator head;
	GpuaggDecimalSum sums; /* last, as its squares may be missing */
} NumericAccumulator;

/*
 * Each sum starts in a few chunks of the accumulator's, which lie behind the pointer
 * to it; most never need more.
 */
typedef struct FloatAccumulator
{
	Accumulator head;
	GpuaggFloatSum *sum;
	int64_t small[GPUAGG_FLOAT_SUM_SIZE(GPUAGG_SMALL_WIDTH) / sizeof(int64_t)];
	GpuaggFloatSum *squares; /* with op MOMENTS; else it ends before them */
	int64_t squares_small[GPUAGG_FLOAT_SUM_SIZE(GPUAGG_SQUARES_SMALL_WIDTH) / sizeof(int64_t)];
} FloatAccumulator;

/*
 * Makes room for a deposit into the chunks from `place` on, `touched` of them, of a
 * sum that has at most `chunks`.
 */
extern void gpuagg_float_fit(GpuaggFloatSum **sum, void *owner, int place, int touched, int chunks);

/* Frees what a float accumulator has grown into; it is to be initialised again. */
extern void gpuagg_float_free(FloatAccumulator *acc);

/* Adds a sum whose carries have been propagated; the same `chunks`. */
extern void gpuagg_float_merge(GpuaggFloatSum **sum, void *owner, const GpuaggFloatSum *other,
							   int chunks);

/* Takes x in, or with sign -1 out again. */
static inline void
gpuagg_float_take(FloatAccumulator *acc, void *owner, double x, int sign)
{
	if (unlikely(!gpuagg_float_sum_deposit(acc->sum, x, sign)))
	{
		gpuagg_float_fit(&acc->sum, owner, gpuagg_float_sum_place(x), GPUAGG_TOUCHED,
						 GPUAGG_CHUNKS);
		(void) gpuagg_float_sum_deposit(acc->sum, x, sign);
	}
	if (acc->head.op != GPUAGG_MOMENTS)
		return;
	if (unlikely(!gpuagg_float_squares_deposit(acc->squares, x, sign)))
	{
		gpuagg_float_fit(&acc->squares, owner, gpuagg_float_squares_place(x),
						 GPUAGG_SQUARES_TOUCHED, GPUAGG_SQUARE_CHUNKS);
		(void) gpuagg_float_squares_deposit(acc->squares, x, sign);
	}
}

static inline void
gpuagg_key_take(KeyAccumulator *acc, GpuaggOp op, int64 key, int64 n)
{
	acc->key = op == GPUAGG_MIN ? Min(acc->key, key) : Max(acc->key, key);
	acc->n += n;
}

/* The sum or average of floats with this sum, of that type. */
extern Datum gpuagg_float_result(Aggregate aggregate, Oid result, const GpuaggFloatSum *sum,
								 bool *isnull);

/* The value of n > 0 integers with this sum: their sum or average, of that type. */
extern Datum gpuagg_int_value(Aggregate aggregate, Oid result, int64 n, GpuaggInt128 sum);

/*
 * Of two numerics or intervals, whether min (least) or max takes a.  Values that
 * compare equal can still differ: 1.0 and 1.00, a month and thirty days.  One of
 * them wins, whatever the order of rows: of numerics the one with the larger
 * display scale; of intervals the one whose (months, days, microseconds) are the
 * least for min and the greatest for max.  Neither does when they are the same in
 * every respect.
 */
extern bool gpuagg_numeric_wins(Datum a, Datum b, bool least);
extern bool gpuagg_interval_wins(Datum a, Datum b, bool least);

/* Deposits value / 10^scale, displayed with so many digits, into a minimum or maximum of numerics. */
extern void gpuagg_extreme_take_decimal(Accumulator *acc, GpuaggInt128 value, int scale);

#endif /* GPUAGG_ACCUMULATORS_H */
