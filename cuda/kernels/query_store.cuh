/*
 * query_store.cuh
 *	  Registers of the query machine kept for a window, instead of totals.
 */
#ifndef GPUAGG_QUERY_STORE_CUH
#define GPUAGG_QUERY_STORE_CUH

#include "kernels/query_step.cuh"
#include "kernels/query_total.cuh"

template <class Machine> struct QueryStores
{
	typedef typename Machine::Lanes Lanes;

	static constexpr int V = Machine::ROWS;

	const QueryLaunch &launch;

	__device__ __forceinline__ QueryStores(const QueryLaunch &query, unsigned char *)
		: launch(query)
	{
	}

	__device__ __forceinline__ void start()
	{
	}

	template <class T>
	__device__ __forceinline__ static void store(void *values, uint64_t place, const Lanes &a,
												 uint32_t rows)
	{
		UNROLL
		for (int k = 0; k < V; k++)
			if (rows >> k & 1)
				((T *) values)[place + (uint64_t) k * WARP_SIZE] = (T) a.low[k];
	}

	/* The values of rows that are not NULL, and bits of these; the step's class says what values are. */
	__device__ __forceinline__ void add(const Machine &machine, const GpuQueryStep &step,
										const Lanes &a, uint32_t rows)
	{
		const QueryTile &tile = *(const QueryTile *) machine.stage;
		const GpuWindowRows &kept = launch.kept;
		uint64_t first = launch.first_place +
						 launch.chunks[tile.chunk].first_unit * GPU_QUERY_UNIT + tile.row +
						 (uint64_t) (warp_id() * V * WARP_SIZE);
		uint64_t place = first + (uint64_t) lane_id();
		uint32_t *valid = step.arg == 0 ? kept.rows : kept.value[step.arg - 1].valid;
		void *values = step.arg == 0 ? nullptr : kept.value[step.arg - 1].values;
		uint32_t word = 0;

		switch (step.code & 7)
		{
			case QUERY_INT32:
			case QUERY_FLOAT32:
				store<uint32_t>(values, place, a, rows);
				break;
			case QUERY_INT64:
			case QUERY_FLOAT64:
				store<uint64_t>(values, place, a, rows);
				break;
			case QUERY_INT128:
				if constexpr (Machine::HAS_WIDE)
				{
					UNROLL
					for (int k = 0; k < V; k++)
						if (rows >> k & 1)
							((GpuaggInt128 *) values)[place + (uint64_t) k * WARP_SIZE] =
								{a.low[k], (int64_t) a.high[k]};
				}
				break;
		}
		UNROLL
		for (int k = 0; k < V; k++)
		{
			uint32_t bits = __ballot_sync(FULL_MASK, rows >> k & 1);

			word = lane_id() == k ? bits : word;
		}
		/* beyond the tile's rows there are places up to the unit's end */
		if (lane_id() < V && (uint32_t) (warp_id() * V + lane_id()) * WARP_SIZE < tile.rows)
			valid[first / 32 + (uint64_t) lane_id()] = word;
	}

	__device__ __forceinline__ void leave(QueryScratch *)
	{
	}

	__device__ __forceinline__ void deliver(QueryScratch *scratch) const
	{
		if (threadIdx.x == 0)
		{
			launch.results->nflagged = load_relaxed(&scratch->nflagged);
			store_relaxed(&scratch->nflagged, (uint64_t) 0);
		}
	}
};

#endif /* GPUAGG_QUERY_STORE_CUH */
