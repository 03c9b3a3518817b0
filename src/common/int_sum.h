/*
 * int_sum.h
 *	  Exact sums of integers, with or without their squares.
 *
 * An accumulator of sums alone may be allocated without its last member, `squares`.
 * Values have at most 64 bits: by the width table in protocol.h, 2^40 rows leave at
 * least 24 bits unused in each sum.
 */
#ifndef GPUAGG_INT_SUM_H
#define GPUAGG_INT_SUM_H

#include "common/codec.h"
#include "common/int128.h"
#include "common/int192.h"

typedef struct GpuaggIntSum
{
	int64_t n; /* values, none of them NULL */
	GpuaggInt128 sum;
	int64_t moments; /* 1: with squares */
	uint64_t squares[GPUAGG_INT192_WORDS];
} GpuaggIntSum;

#define GPUAGG_INT_SUM_SIZE(moments) \
	((moments) ? sizeof(GpuaggIntSum) : offsetof(GpuaggIntSum, squares))

static inline void
gpuagg_int_sum_add(GpuaggIntSum *acc, int64_t value, int moments)
{
	acc->n++;
	acc->sum = gpuagg_int128_add(acc->sum, gpuagg_int128_from(value));
	if (moments)
		gpuagg_int192_add_square(acc->squares, value);
}

/* Subtracts a value that was added. */
static inline void
gpuagg_int_sum_remove(GpuaggIntSum *acc, int64_t value, int moments)
{
	acc->n--;
	acc->sum = gpuagg_int128_add(acc->sum, gpuagg_int128_neg(gpuagg_int128_from(value)));
	if (moments)
		gpuagg_int192_take_square(acc->squares, value);
}

/* Adds what `from` has; if into has squares, from must have them too. */
extern void gpuagg_int_sum_merge(GpuaggIntSum *into, const GpuaggIntSum *from);

/* Bytes: whether there are squares, then n, sum, squares. */
#define GPUAGG_INT_MAX_BYTES (1 + 8 + 16 + 8 * GPUAGG_INT192_WORDS)

/* Writes acc to room, of GPUAGG_INT_MAX_BYTES; returns how many bytes it took. */
extern size_t gpuagg_int_encode(const GpuaggIntSum *acc, uint8_t *room);

/*
 * Reads what gpuagg_int_encode() wrote into a whole *acc.  0 if so many values cannot
 * have these sums.
 */
extern int gpuagg_int_decode(GpuaggReader *reader, GpuaggIntSum *acc);

#endif /* GPUAGG_INT_SUM_H */
