/*
 * codec.h
 *	  Portable bytes of accumulators: big-endian, bounded, checked when read.
 *
 * The caller gives a writer room for the accumulator's MAX_BYTES.  A reader that
 * runs out of bytes gives zeros and stays bad; a decoder checks this once, at the
 * end.  Decoders are safe for any bytes: they either fill in an accumulator on
 * which every other function is safe, or report that it is none.
 */
#ifndef GPUAGG_CODEC_H
#define GPUAGG_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "common/int128.h"

typedef struct GpuaggWriter
{
	uint8_t *next;
} GpuaggWriter;

typedef struct GpuaggReader
{
	const uint8_t *next;
	size_t left;
	int bad; /* it ran out of bytes, or a value was invalid */
} GpuaggReader;

/* The `bytes` <= 8 low bytes of v, most significant first. */
static inline void
gpuagg_put(GpuaggWriter *w, uint64_t v, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--)
		*w->next++ = (uint8_t) (v >> (8 * i));
}

static inline void
gpuagg_put_int128(GpuaggWriter *w, GpuaggInt128 v)
{
	gpuagg_put(w, (uint64_t) v.hi, 8);
	gpuagg_put(w, v.lo, 8);
}

static inline uint64_t
gpuagg_get(GpuaggReader *r, int bytes)
{
	uint64_t v = 0;

	if (r->left < (size_t) bytes)
	{
		r->bad = 1;
		r->left = 0;
		return 0;
	}
	for (int i = 0; i < bytes; i++)
		v = v << 8 | *r->next++;
	r->left -= (size_t) bytes;
	return v;
}

static inline GpuaggInt128
gpuagg_get_int128(GpuaggReader *r)
{
	GpuaggInt128 v;

	v.hi = (int64_t) gpuagg_get(r, 8);
	v.lo = gpuagg_get(r, 8);
	return v;
}

/* A count: 8 bytes, not negative; the sum of a few counts cannot overflow. */
#define GPUAGG_MAX_COUNT (INT64_C(1) << 60)

static inline int64_t
gpuagg_get_count(GpuaggReader *r)
{
	uint64_t v = gpuagg_get(r, 8);

	if (v > (uint64_t) GPUAGG_MAX_COUNT)
		r->bad = 1;
	return r->bad ? 0 : (int64_t) v;
}

/* Whether n <= GPUAGG_MAX_COUNT signed integers of so many bits, 64 at most, can have this sum. */
static inline int
gpuagg_int128_is_sum(GpuaggInt128 sum, int64_t n, int bits)
{
	__int128 s = (__int128) ((unsigned __int128) (uint64_t) sum.hi << 64 | sum.lo);
	__int128 most = (__int128) n << (bits - 1);

	return s >= -most && s <= most - n;
}

#endif /* GPUAGG_CODEC_H */
