/*
 * segmented_reduce.cu
 *	  One sum, minimum, maximum or count a segment.
 *
 * One launch of the kernel in pass_pipeline.cuh.  The tile in which the next segment
 * starts writes a segment's result.
 */
#include "kernels/pass_shapes.cuh"

size_t
gpu_segmented_reduce_scratch(uint64_t nrows)
{
	size_t words = lookback_scratch(tiles_of(nrows, TILE_ROWS_MIN), LOOKBACK_PAYLOAD);
	size_t floats = gpu_segmented_reduce_float_scratch(nrows);

	return words > floats ? words : floats;
}

GpuaggReason
gpu_segmented_reduce(const GpuSegmentedReduce *reduce, GpuStreamRef stream)
{
	ScanColumn column;

	if (gpuagg_kind_size(reduce->kind) == 0 || reduce->nrows > GPU_MAX_ROWS)
		return GPUAGG_REFUSED;
	if (reduce->op == GPUAGG_SUM && gpuagg_kind_is_float(reduce->kind))
	{
		if (reduce->window < 0 || reduce->window >= GPUAGG_CHUNKS)
			return GPUAGG_REFUSED;
		return gpu_segmented_reduce_float(reduce, stream);
	}

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
					   ? scan_launch_fitting<WideSum<int32_t, int64_t>, SEGMENTS>(column, stream)
					   : scan_launch_fitting<WideSum<int64_t, GpuaggInt128>, SEGMENTS>(column,
																					   stream);
		case GPUAGG_MIN:
		case GPUAGG_MAX:
			return gpuagg_kind_size(reduce->kind) == 4
					   ? scan_launch_fitting<Extreme<int32_t>, SEGMENTS>(column, stream)
					   : scan_launch_fitting<Extreme<int64_t>, SEGMENTS>(column, stream);
		case GPUAGG_COUNT:
			return scan_launch_fitting<Counter, SEGMENTS>(column, stream);
		default:
			return GPUAGG_REFUSED;
	}
}
