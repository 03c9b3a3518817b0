/*
 * column.h
 *	  Kinds of column values, and operations on them.
 *
 * The numbers are part of the protocol between backends and gpuaggd.
 */
#ifndef GPUAGG_COLUMN_H
#define GPUAGG_COLUMN_H

#include <stddef.h>
#include <stdint.h>

/* device.cuh defines this as __host__ __device__ before it includes this file */
#ifndef GPUAGG_HD
#define GPUAGG_HD
#endif

typedef enum GpuaggKind
{
	GPUAGG_INT32 = 1,
	GPUAGG_INT64 = 2,
	GPUAGG_FLOAT64 = 3,
	GPUAGG_FLOAT32 = 4
} GpuaggKind;

typedef enum GpuaggOp
{
	GPUAGG_SUM = 1,
	GPUAGG_MIN = 2,
	GPUAGG_MAX = 3,
	GPUAGG_COUNT = 4,  /* of values that are not NULL */
	GPUAGG_MOMENTS = 5 /* n, sum of x, sum of x squared */
} GpuaggOp;

/* Bytes of one value of this kind; 0 for a number that is no kind. */
static inline size_t
gpuagg_kind_size(int kind)
{
	switch (kind)
	{
		case GPUAGG_INT32:
		case GPUAGG_FLOAT32:
			return 4;
		case GPUAGG_INT64:
		case GPUAGG_FLOAT64:
			return 8;
		default:
			return 0;
	}
}

static inline int
gpuagg_kind_is_float(int kind)
{
	return kind == GPUAGG_FLOAT32 || kind == GPUAGG_FLOAT64;
}

/*
 * Order keys: the total order of min and max.  Floats are ordered as their keys
 * are as signed integers: -inf < .. < -0 < +0 < .. < +inf < NaN; every NaN has the
 * key of the canonical one.  An integer is its own key.
 */
#define GPUAGG_NAN64	  UINT64_C(0x7ff8000000000000)
#define GPUAGG_NAN32	  UINT32_C(0x7fc00000)
#define GPUAGG_INFINITY64 UINT64_C(0x7ff0000000000000)
#define GPUAGG_INFINITY32 UINT32_C(0x7f800000)

static inline GPUAGG_HD int64_t
gpuagg_order_key64(uint64_t bits)
{
	if ((bits & INT64_MAX) > GPUAGG_INFINITY64)
		bits = GPUAGG_NAN64;
	return (int64_t) bits < 0 ? (int64_t) (bits ^ INT64_MAX) : (int64_t) bits;
}

static inline GPUAGG_HD int32_t
gpuagg_order_key32(uint32_t bits)
{
	if ((bits & INT32_MAX) > GPUAGG_INFINITY32)
		bits = GPUAGG_NAN32;
	return (int32_t) bits < 0 ? (int32_t) (bits ^ INT32_MAX) : (int32_t) bits;
}

/* The least and the greatest key of a kind. */
static inline GPUAGG_HD int64_t
gpuagg_least_key(int kind)
{
	switch (kind)
	{
		case GPUAGG_INT32:
			return INT32_MIN;
		case GPUAGG_INT64:
			return INT64_MIN;
		case GPUAGG_FLOAT32:
			return gpuagg_order_key32(GPUAGG_INFINITY32 | UINT32_C(1) << 31);
		default:
			return gpuagg_order_key64(GPUAGG_INFINITY64 | UINT64_C(1) << 63);
	}
}

static inline GPUAGG_HD int64_t
gpuagg_greatest_key(int kind)
{
	switch (kind)
	{
		case GPUAGG_INT32:
			return INT32_MAX;
		case GPUAGG_INT64:
			return INT64_MAX;
		case GPUAGG_FLOAT32:
			return gpuagg_order_key32(GPUAGG_NAN32);
		default:
			return gpuagg_order_key64(GPUAGG_NAN64);
	}
}

/* The bits of the float with this key. */
static inline GPUAGG_HD uint64_t
gpuagg_order_bits64(int64_t key)
{
	return key < 0 ? (uint64_t) key ^ INT64_MAX : (uint64_t) key;
}

static inline GPUAGG_HD uint32_t
gpuagg_order_bits32(int32_t key)
{
	return key < 0 ? (uint32_t) key ^ INT32_MAX : (uint32_t) key;
}

#endif /* GPUAGG_COLUMN_H */
