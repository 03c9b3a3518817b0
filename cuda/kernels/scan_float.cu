/*
 * scan_float.cu
 *	  Running sums of floats, exact, rounded once at each row, and averages: one pass.
 */
#include "kernels/float_scan.cuh"

bool gpu_scan_float_wide = false;

template <class T, FloatMode MODE> using Plan = FloatPlan<T, MODE, 256, 15, 2>;

template <class T>
static GpuaggReason
scan_values(const GpuScan *scan, GpuStreamRef stream)
{
	FloatColumn<T> column = {};

	column.values = (const T *) scan->values;
	column.validity = scan->validity;
	column.heads = scan->heads;
	column.nrows = scan->nrows;
	column.first_chunk = scan->window;
	column.exclusive = (scan->flags & GPUAGG_SCAN_EXCLUSIVE) != 0;
	column.wide = gpu_scan_float_wide;
	column.results = (T *) scan->results;
	column.counts = scan->counts;
	column.status = scan->status;
	column.state_in = scan->state_in;
	column.state_out = scan->state_out;
	column.scratch = scan->scratch;
	if constexpr (sizeof(T) == sizeof(double))
		if (scan->counts != nullptr)
			return float_launch<Plan<T, FLOAT_AVERAGES>>(column, stream);
	if (scan->validity != nullptr || scan->heads != nullptr)
		return float_launch<Plan<T, FLOAT_MARKED>>(column, stream);
	return float_launch<Plan<T, FLOAT_PLAIN>>(column, stream);
}

size_t
gpu_scan_float_scratch(uint64_t nrows)
{
	return lookback_scratch(float_tiles(nrows, Plan<double, FLOAT_PLAIN>::ROWS),
							sizeof(FloatOp::Packed));
}

GpuaggReason
gpu_scan_float(const GpuScan *scan, GpuStreamRef stream)
{
	return scan->kind == GPUAGG_FLOAT64 ? scan_values<double>(scan, stream)
										: scan_values<float>(scan, stream);
}
