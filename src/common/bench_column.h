/*
 * bench_column.h
 *	  The columns of benchmarks, and checksums of results over them.
 *
 * Benchmarks are inclusive sums over columns made from a seed.  Value i is one of
 * -8 .. -1, 1 .. 8 with equal probability.  Sums of up to 2^31 of them have a
 * standard deviation below 2^18, so they almost surely stay below 2^24.  Plain
 * float32 additions are then exact too, and every bit of a result can be checked.
 * (splitmix64, Steele, Lea and Flood, OOPSLA 2014)
 */
#ifndef GPUAGG_BENCH_COLUMN_H
#define GPUAGG_BENCH_COLUMN_H

#include <stdint.h>
#include <string.h>

#include "common/column.h"

static inline GPUAGG_HD int32_t
gpuagg_bench_value(uint64_t seed, uint64_t i)
{
	uint64_t z = (seed + i) * UINT64_C(0x9e3779b97f4a7c15);
	int32_t v;

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	v = (int32_t) (z & 15) - 8;
	return v < 0 ? v : v + 1;
}

/* Whether row i of such a column starts a segment: row 0, and about one in 64. */
static inline GPUAGG_HD int
gpuagg_bench_head(uint64_t seed, uint64_t i)
{
	return i == 0 || ((seed ^ i) * UINT64_C(0xd1342543de82ef95)) >> 58 == 0;
}

/*
 * The bits of a result: for int32 columns the sum modulo 2^32, sign-extended; for
 * int64 columns modulo 2^64; for float columns those of the result as a double.
 */
static inline GPUAGG_HD uint64_t
gpuagg_bench_integer_bits(int kind, uint64_t sum)
{
	return kind == GPUAGG_INT32 ? (uint64_t) (int64_t) (int32_t) (uint32_t) sum : sum;
}

static inline GPUAGG_HD uint64_t
gpuagg_bench_float_bits(double sum)
{
	uint64_t bits;

	memcpy(&bits, &sum, sizeof(bits));
	return bits;
}

/*
 * What result i adds to a checksum; the checksum is the sum modulo 2^64.  The one
 * result of a reduction is number 0.
 */
static inline GPUAGG_HD uint64_t
gpuagg_bench_mix(uint64_t i, uint64_t bits)
{
	uint64_t z = (bits ^ i * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);

	return z ^ z >> 32;
}

#endif /* GPUAGG_BENCH_COLUMN_H */
