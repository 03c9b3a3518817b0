/*
 * cub.cu
 *	  gpu_cub: inclusive sums by the CUB of the toolkit.
 *
 * Sums are of the values' own type: CUB derives its accumulator's type from the
 * input, as is asserted.  Only 32-bit offsets are compiled: they are faster, and
 * benchmarks have no more rows.
 */
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

#include "common/algorithm.h"
#include "kernels/cub.h"

template <class T>
static cudaError_t
cub_sums(int task, uint32_t nrows, const void *values_column, const int32_t *keys,
		 void *results_column, void *scratch, size_t *scratch_bytes, cudaStream_t stream)
{
	static_assert(
		::cuda::std::is_same<::cuda::std::__accumulator_t<::cuda::std::plus<>, T, T>, T>::value,
		"sums are of the values' type");

	const T *values = (const T *) values_column;
	T *results = (T *) results_column;

	switch (task)
	{
		case GPUAGG_REDUCE:
			return cub::DeviceReduce::Sum(scratch, *scratch_bytes, values, results, nrows, stream);
		case GPUAGG_SCAN:
			return cub::DeviceScan::InclusiveSum(scratch, *scratch_bytes, values, results, nrows,
												 stream);
		case GPUAGG_SEGMENTED_SCAN:
			return cub::DeviceScan::InclusiveSumByKey(scratch, *scratch_bytes, keys, values,
													  results, nrows, ::cuda::std::equal_to<>{},
													  stream);
		default:
			return cudaErrorInvalidValue;
	}
}

static cudaError_t
cub_any_kind(int task, int kind, uint32_t nrows, const void *values, const int32_t *keys,
			 void *results, void *scratch, size_t *scratch_bytes, cudaStream_t stream)
{
	switch (kind)
	{
		case GPUAGG_INT32:
			return cub_sums<int32_t>(task, nrows, values, keys, results, scratch, scratch_bytes,
									 stream);
		case GPUAGG_INT64:
			return cub_sums<int64_t>(task, nrows, values, keys, results, scratch, scratch_bytes,
									 stream);
		case GPUAGG_FLOAT32:
			return cub_sums<float>(task, nrows, values, keys, results, scratch, scratch_bytes,
								   stream);
		case GPUAGG_FLOAT64:
			return cub_sums<double>(task, nrows, values, keys, results, scratch, scratch_bytes,
									stream);
		default:
			return cudaErrorInvalidValue;
	}
}

GpuaggReason
gpu_cub(int task, int kind, uint64_t nrows, const void *values, const int32_t *keys, void *results,
		void *scratch, size_t *scratch_bytes, GpuStreamRef stream)
{
	if (nrows > UINT32_MAX)
		return GPUAGG_REFUSED;

	return gpu_library_status(cub_any_kind(task, kind, (uint32_t) nrows, values, keys, results,
										   scratch, scratch_bytes, (cudaStream_t) stream));
}
