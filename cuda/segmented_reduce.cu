/*
 * segmented_reduce.cu
 *	  One sum, minimum, maximum or count a segment.
 *
 * One launch of the single-pass kernel in pipeline.cuh.  A result goes out
 * with the tile in which the next segment starts; those of a tile follow each
 * other and leave together.
 */
#include "pipeline.cuh"

#include "scan_column.cuh"

template <class E>
static GpuaggReason
reduce_elements(const ScanColumn &column, GpuStreamRef stream)
{
	constexpr int VECTORS = sizeof(typename E::Value) == sizeof(typename E::Result) ? 5 : 5;

	return scan_launch<Plan<E, SEGMENTS, 8, VECTORS, 5, 5>>(column, stream);
}

size_t
gpu_segmented_reduce_scratch(uint64_t nrows)
{
	return gpu_scan_scratch(nrows);
}

GpuaggReason
gpu_segmented_reduce(const GpuSegmentedReduce *reduce, GpuStreamRef stream)
{
	ScanColumn column;

	if (gpuagg_kind_size(reduce->kind) == 0 || reduce->nrows > GPU_MAX_ROWS)
		return GPUAGG_REFUSED;
	if (reduce->op == GPUAGG_SUM && gpuagg_kind_is_float(reduce->kind))
		return GPUAGG_REFUSED;

	column = scan_column(reduce->kind, reduce->op);
	column.values = reduce->values;
	column.validity = reduce->validity;
	column.heads = reduce->heads;
	column.nrows = reduce->nrows;
	column.state_in = reduce->state_in;
	column.state_out = reduce->state_out;
	column.results = reduce->results;
	column.status = reduce->status;
	column.nsegments = reduce->nsegments;
	column.scratch = reduce->scratch;

	switch (reduce->op)
	{
		case GPUAGG_SUM:
			return reduce->kind == GPUAGG_INT32
					   ? reduce_elements<WideSum<int32_t, int64_t>>(column, stream)
					   : reduce_elements<WideSum<int64_t, GpuaggInt128>>(column, stream);
		case GPUAGG_MIN:
		case GPUAGG_MAX:
			return gpuagg_kind_size(reduce->kind) == 4
					   ? reduce_elements<Extreme<int32_t>>(column, stream)
					   : reduce_elements<Extreme<int64_t>>(column, stream);
		case GPUAGG_COUNT:
			return reduce_elements<Counter>(column, stream);
		default:
			return GPUAGG_REFUSED;
	}
}
