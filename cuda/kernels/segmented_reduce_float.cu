/*
 * segmented_reduce_float.cu
 *	  Sums of floats by segment, exact, rounded once: one pass.
 */
#include "kernels/float_scan.cuh"

template <class T> using Plan = FloatPlan<T, FLOAT_SEGMENTS, 256, 11, 2>;

template <class T>
static GpuaggReason
reduce_values(const GpuSegmentedReduce *reduce, GpuStreamRef stream)
{
	FloatColumn<T> column = {};

	column.values = (const T *) reduce->values;
	column.validity = reduce->validity;
	column.heads = reduce->heads;
	column.nrows = reduce->nrows;
	column.first_chunk = reduce->window;
	column.wide = gpu_scan_float_wide;
	column.results = (T *) reduce->results;
	column.status = reduce->status;
	column.nsegments = reduce->nsegments;
	column.state_in = reduce->state_in;
	column.state_out = reduce->state_out;
	column.scratch = reduce->scratch;
	return float_launch<Plan<T>>(column, stream);
}

size_t
gpu_segmented_reduce_float_scratch(uint64_t nrows)
{
	return lookback_scratch(float_tiles(nrows, Plan<double>::ROWS), sizeof(FloatOp::Packed));
}

GpuaggReason
gpu_segmented_reduce_float(const GpuSegmentedReduce *reduce, GpuStreamRef stream)
{
	return reduce->kind == GPUAGG_FLOAT64 ? reduce_values<double>(reduce, stream)
										  : reduce_values<float>(reduce, stream);
}
