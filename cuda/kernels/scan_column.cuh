/*
 * scan_column.cuh
 *	  What a kernel of scans or segmented reductions is asked for.
 */
#ifndef GPUAGG_SCAN_COLUMN_CUH
#define GPUAGG_SCAN_COLUMN_CUH

#include "device/device.cuh"
#include "kernels/kernels.h"

/* Of a segmented reduction, results and statuses are one a segment. */
struct ScanColumn
{
	const void *values;
	const uint64_t *validity; /* or NULL */
	const uint64_t *heads;	  /* or NULL */
	uint64_t nrows;
	const GpuScanState *state_in; /* or NULL */
	GpuScanState *state_out;	  /* or NULL */
	void *results;
	uint8_t *status;	 /* or NULL */
	uint64_t *nsegments; /* segmented reductions */
	void *scratch;
	uint32_t exclusive;

	/* MIN and MAX */
	uint32_t is_float;
	int64_t flip; /* -1 for MAX, which is MIN of flipped keys; else 0 */
	int64_t cap;  /* flipped key of the result of no value */

	uint64_t absent; /* bits of a value that changes nothing */
};

/* A column of this kind, for this operation; the rest of it is empty. */
static inline ScanColumn
scan_column(int kind, int op)
{
	ScanColumn column = {};

	column.is_float = gpuagg_kind_is_float(kind);
	if (op == GPUAGG_MIN || op == GPUAGG_MAX)
	{
		int64_t key = op == GPUAGG_MIN ? gpuagg_greatest_key(kind) : gpuagg_least_key(kind);

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
