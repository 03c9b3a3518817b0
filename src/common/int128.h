/*
 * int128.h
 *	  128-bit signed integers that keep their place in memory portable.
 *
 * In memory a 128-bit integer is always two 64-bit halves in two's complement,
 * never __int128: palloc aligns to 8 bytes, and the halves cross a process
 * boundary.  Additions wrap; the width table in protocol.h says why they
 * cannot overflow.
 */
#ifndef GPUAGG_INT128_H
#define GPUAGG_INT128_H

#include <stdint.h>

/* device.cuh defines this as __host__ __device__ before including us */
#ifndef GPUAGG_HD
#define GPUAGG_HD
#endif

typedef struct GpuaggInt128
{
	uint64_t lo;
	int64_t hi;
} GpuaggInt128;

static inline GPUAGG_HD GpuaggInt128
gpuagg_int128_from(int64_t v)
{
	GpuaggInt128 r;

	r.lo = (uint64_t) v;
	r.hi = v < 0 ? -1 : 0;
	return r;
}

static inline GPUAGG_HD GpuaggInt128
gpuagg_int128_add(GpuaggInt128 a, GpuaggInt128 b)
{
	GpuaggInt128 r;

	r.lo = a.lo + b.lo;
	r.hi = (int64_t) ((uint64_t) a.hi + (uint64_t) b.hi + (r.lo < a.lo ? 1 : 0));
	return r;
}

static inline GPUAGG_HD GpuaggInt128
gpuagg_int128_neg(GpuaggInt128 a)
{
	GpuaggInt128 r;

	r.lo = ~a.lo + 1;
	r.hi = (int64_t) (~(uint64_t) a.hi + (r.lo == 0 ? 1 : 0));
	return r;
}

/* whether the value fits into int64 */
static inline GPUAGG_HD int
gpuagg_int128_is_int64(GpuaggInt128 a)
{
	return a.hi == ((int64_t) a.lo < 0 ? -1 : 0);
}

/* Below 0, 0 or above: a is less than, equal to or greater than b. */
static inline GPUAGG_HD int
gpuagg_int128_compare(GpuaggInt128 a, GpuaggInt128 b)
{
	if (a.hi != b.hi)
		return a.hi < b.hi ? -1 : 1;
	return (a.lo > b.lo) - (a.lo < b.lo);
}

/* As a register value, for the host's compilers, which all have it. */
static inline __int128
gpuagg_int128_wide(GpuaggInt128 a)
{
	return (__int128) ((unsigned __int128) (uint64_t) a.hi << 64 | a.lo);
}

static inline GpuaggInt128
gpuagg_int128_narrow(__int128 v)
{
	GpuaggInt128 r;

	r.lo = (uint64_t) v;
	r.hi = (int64_t) (v >> 64);
	return r;
}

#endif /* GPUAGG_INT128_H */
