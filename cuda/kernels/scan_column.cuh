/*
 * scan_column.cuh
 *	  What kernels are told about a kind and an operation.
 */
#ifndef GPUAGG_SCAN_COLUMN_CUH
#define GPUAGG_SCAN_COLUMN_CUH

#include "kernels/element.cuh"

/* The key of the result of MIN or MAX over nothing: the greatest or the least of the type. */
static inline int64_t
extreme_key(int kind, int op)
{
	bool greatest = op == GPUAGG_MIN;

	switch (kind)
	{
		case GPUAGG_INT32:
			return greatest ? INT32_MAX : INT32_MIN;
		case GPUAGG_INT64:
			return greatest ? INT64_MAX : INT64_MIN;
		case GPUAGG_FLOAT32:
			return gpuagg_order_key32(greatest ? GPUAGG_NAN32 : UINT32_C(0xff800000));
		default:
			return gpuagg_order_key64(greatest ? GPUAGG_NAN64 : UINT64_C(0xfff0000000000000));
	}
}

/* A column of this kind, for this operation; the rest of it is empty. */
static inline ScanColumn
scan_column(int kind, int op)
{
	ScanColumn column = {};

	column.is_float = gpuagg_kind_is_float(kind);
	if (op == GPUAGG_MIN || op == GPUAGG_MAX)
	{
		int64_t key = extreme_key(kind, op);

		column.flip = op == GPUAGG_MAX ? -1 : 0;
		column.cap = key ^ column.flip;
		if (kind == GPUAGG_FLOAT32)
			column.absent = gpuagg_order_bits32((int32_t) key);
		else if (kind == GPUAGG_FLOAT64)
			column.absent = gpuagg_order_bits64(key);
		else
			column.absent = (uint64_t) key;
	}
	return column;
}

#endif /* GPUAGG_SCAN_COLUMN_CUH */
