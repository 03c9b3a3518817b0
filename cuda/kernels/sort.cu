/*
 * sort.cu
 *	  gpu_sort, by the radix sort of the toolkit's CUB.
 */
#include <cub/device/device_radix_sort.cuh>
#include <cuda/std/tuple>

#include "kernels/kernels.h"

template <int WORDS> struct SortItem
{
	uint64_t word[WORDS + 1];
};

/* What CUB sorts by: the words of the key, the most significant first. */
struct SortKeyOf
{
	__host__ __device__ ::cuda::std::tuple<uint64_t &> operator()(SortItem<1> &item) const
	{
		return {item.word[0]};
	}

	__host__ __device__ ::cuda::std::tuple<uint64_t &, uint64_t &> operator()(
		SortItem<2> &item) const
	{
		return {item.word[0], item.word[1]};
	}
};

template <int WORDS>
static cudaError_t
sort_items(const GpuSort &sort, size_t *scratch_bytes, cudaStream_t stream)
{
	static_assert(sizeof(SortItem<WORDS>) == (WORDS + 1) * sizeof(uint64_t), "items are packed");

	return cub::DeviceRadixSort::SortKeys(sort.scratch, *scratch_bytes,
										  (const SortItem<WORDS> *) sort.items,
										  (SortItem<WORDS> *) sort.results, (uint32_t) sort.nrows,
										  SortKeyOf{}, 0, sort.bits, stream);
}

GpuaggReason
gpu_sort(const GpuSort *sort, size_t *scratch_bytes, GpuStreamRef stream)
{
	static_assert(GPUAGG_SORT_WORDS == 2, "a case for each");

	if (sort->nrows > UINT32_MAX)
		return GPUAGG_REFUSED;

	return gpu_library_status(sort->words == 1
								  ? sort_items<1>(*sort, scratch_bytes, (cudaStream_t) stream)
								  : sort_items<2>(*sort, scratch_bytes, (cudaStream_t) stream));
}
