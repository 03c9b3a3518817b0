/*
 * query_groups.cu
 *	  gpu_query_groups: the records of a table one behind the other.
 */
#include "device/grid.cuh"
#include "kernels/query.h"

#define THREADS 256

static __global__ void
__launch_bounds__(THREADS) gather_groups(const uint32_t *from, uint32_t slots, uint32_t words,
										 uint32_t *to, uint64_t room, GpuQueryTableCounts *counts)
{
	uint32_t stride = gridDim.x * THREADS;
	uint32_t rounds = (slots + stride - 1) / stride;

	for (uint32_t i = 0; i < rounds; i++)
	{
		uint64_t slot = (uint64_t) i * stride + blockIdx.x * THREADS + threadIdx.x;
		const Quad *record = (const Quad *) (from + slot * words);
		bool has = slot < slots && from[slot * words] != 0;
		uint32_t some = __ballot_sync(FULL_MASK, has);
		uint64_t first = 0;

		if (lane_id() == 0 && some != 0)
			first = atomic_add(&counts->ngroups, (uint64_t) bit_count(some));
		first = warp_shfl(first, 0) + (uint64_t) bit_count(some & ((UINT32_C(1) << lane_id()) - 1));
		if (has && first < room)
			for (uint32_t k = 0; k < words / 4; k++)
				((Quad *) (to + first * words))[k] = record[k];
	}
}

GpuaggReason
gpu_query_groups(const GpuQueryPlan *plan, const GpuQueryTable *table, uint32_t *records,
				 uint64_t room, GpuStreamRef stream)
{
	uint64_t blocks = divide_up(table->slots, THREADS);
	GpuaggReason reason = gpu_memset(&table->counts->ngroups, 0, sizeof(table->counts->ngroups),
									 stream);

	if (reason != GPUAGG_OK)
		return reason;
	LAUNCH(gather_groups, (unsigned) (blocks < 1024 ? blocks : 1024), THREADS, stream,
		   table->records, table->slots, plan->groups.words, records, room, table->counts);
	return gpu_launch_status();
}
