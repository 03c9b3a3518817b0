/*
 * query_launch.cuh
 *	  What launches of all kernels of queries have in common; host code.
 */
#ifndef GPUAGG_QUERY_LAUNCH_CUH
#define GPUAGG_QUERY_LAUNCH_CUH

#include "kernels/query_total.cuh"

/* Of a kernel's latest launch, one a thread: asking takes microseconds. */
struct QueryResident
{
	uint64_t key;
	unsigned blocks;
};

/* Blocks of so many warps and bytes that are resident; leaves the kernel allowed `most` bytes. */
template <class Kernel>
static unsigned
query_resident(QueryResident &latest, Kernel kernel, unsigned warps, uint32_t bytes, uint32_t most)
{
	uint64_t key = (uint64_t) bytes << 8 | warps;

	if (key != latest.key)
	{
		latest.blocks = resident_blocks(kernel, (int) (warps * WARP_SIZE), bytes);
		(void) resident_blocks(kernel, (int) (warps * WARP_SIZE), most);
		latest.key = key;
	}
	return latest.blocks;
}

/* How many blocks of `wanted` there are, of which so many are resident. */
static inline unsigned
query_blocks(const GpuQueryMethod &method, unsigned resident, uint64_t wanted)
{
	if (wanted > QUERY_MAX_BLOCKS)
		wanted = QUERY_MAX_BLOCKS;
	if (wanted > resident)
		wanted = resident;
	if (method.blocks > 0 && wanted > method.blocks)
		wanted = method.blocks;
	return wanted == 0 ? 1 : (unsigned) wanted;
}

/* What a launch is given of a query, without layout and groups. */
static inline QueryLaunch
query_launch(const GpuQuery &query)
{
	QueryLaunch launch = {};

	launch.plan = *query.plan;
	launch.nunits = query.shape.nunits;
	launch.nchunks = query.nchunks;
	launch.chunks = query.chunks;
	launch.blocks = query.blocks;
	launch.flagged = query.flagged;
	launch.results = query.results;
	launch.scratch = query.scratch;
	return launch;
}

#endif /* GPUAGG_QUERY_LAUNCH_CUH */
