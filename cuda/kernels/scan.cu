/*
 * scan.cu
 *	  Running sums, minima, maxima and counts, segmented or not.
 *
 * One launch of a single-pass kernel: pass_direct.cuh for short columns,
 * pass_pipeline.cuh for others.  Sums of floats are in scan_float.cu.
 */
#include "kernels/pass_direct.cuh"
#include "kernels/pass_shapes.cuh"

/* The most bytes of results of a short column, for tiles of two sizes. */
#define SHORT_BYTES	 (UINT64_C(4) << 20)
#define MEDIUM_BYTES (UINT64_C(12) << 20)

/* Without bitmaps and statuses. */
template <class E>
static GpuaggReason
scan_plain(const ScanColumn &column, GpuStreamRef stream)
{
	uint64_t bytes = column.nrows * sizeof(typename E::Result);

	if (bytes <= SHORT_BYTES)
		return direct_launch<DirectPlan<E, 256, 4>>(column, stream);
	if constexpr (sizeof(typename E::Result) == sizeof(typename E::Value))
		if (bytes <= MEDIUM_BYTES)
			return direct_launch<DirectPlan<E, 512, 4>>(column, stream);
	return scan_launch_fitting<E, PLAIN>(column, stream);
}

template <class E>
static GpuaggReason
scan_elements(const ScanColumn &column, GpuStreamRef stream)
{
	if constexpr (E::READS)
		if (column.validity == nullptr && column.heads == nullptr && column.status == nullptr)
			return scan_plain<E>(column, stream);
	return scan_launch_fitting<E, MARKED>(column, stream);
}

size_t
gpu_scan_scratch(uint64_t nrows)
{
	size_t words = lookback_scratch(tiles_of(nrows, TILE_ROWS_MIN), LOOKBACK_PAYLOAD);
	size_t floats = gpu_scan_float_scratch(nrows);

	return words > floats ? words : floats;
}

GpuaggReason
gpu_scan(const GpuScan *scan, GpuStreamRef stream)
{
	bool narrow = (scan->flags & GPUAGG_SCAN_NARROW) != 0;
	ScanColumn column;

	if (gpuagg_kind_size(scan->kind) == 0 || scan->nrows > GPU_MAX_ROWS)
		return GPUAGG_REFUSED;
	if (scan->op == GPUAGG_SUM && gpuagg_kind_is_float(scan->kind))
	{
		if (scan->window < 0 || scan->window >= GPUAGG_CHUNKS ||
			(scan->counts != nullptr && (scan->kind != GPUAGG_FLOAT64 || scan->nrows > UINT32_MAX)))
			return GPUAGG_REFUSED;
		return gpu_scan_float(scan, stream);
	}

	column = scan_column(scan->kind, scan->op);
	column.values = scan->values;
	column.validity = scan->validity;
	column.heads = scan->heads;
	column.nrows = scan->nrows;
	column.state_in = scan->state_in;
	column.state_out = scan->state_out;
	column.results = scan->results;
	column.status = scan->status;
	column.scratch = scan->scratch;
	column.exclusive = (scan->flags & GPUAGG_SCAN_EXCLUSIVE) != 0;

	switch (scan->op)
	{
		case GPUAGG_SUM:
			if (scan->kind == GPUAGG_INT32)
				return narrow ? scan_elements<NarrowSum<uint32_t, int32_t>>(column, stream)
							  : scan_elements<WideSum<int32_t, int64_t>>(column, stream);
			return narrow ? scan_elements<NarrowSum<uint64_t, int64_t>>(column, stream)
						  : scan_elements<WideSum<int64_t, GpuaggInt128>>(column, stream);
		case GPUAGG_MIN:
		case GPUAGG_MAX:
			return gpuagg_kind_size(scan->kind) == 4
					   ? scan_elements<Extreme<int32_t>>(column, stream)
					   : scan_elements<Extreme<int64_t>>(column, stream);
		case GPUAGG_COUNT:
			return scan_elements<Counter>(column, stream);
		default:
			return GPUAGG_REFUSED;
	}
}
