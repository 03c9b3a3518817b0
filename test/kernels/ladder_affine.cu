/*
 * ladder_affine.cu
 *	  The ladder's scans with an operator that does not commute: maps
 *	  x -> a x + b modulo 2^32, one after the other.
 */
#include "cuda/ladder/scan_block.cuh"
#include "cuda/ladder/scan_global.cuh"
#include "cuda/ladder/scan_hierarchical.cuh"
#include "cuda/ladder/scan_warp.cuh"

namespace
{

/* A value is a in its low half and b in its high half. */
struct AffineElement
{
	struct State
	{
		uint32_t a;
		uint32_t b;
	};

	static constexpr bool SUBTRACTS = false;

	static __device__ __forceinline__ State identity()
	{
		return {1, 0};
	}
	static __device__ __forceinline__ State combine(State f, State g)
	{
		return {g.a * f.a, g.a * f.b + g.b};
	}
	__device__ __forceinline__ State load(const void *values, uint64_t i) const
	{
		uint64_t v = ((const uint64_t *) values)[i];

		return {(uint32_t) v, (uint32_t) (v >> 32)};
	}
	__device__ __forceinline__ void store(void *results, uint64_t i, State s) const
	{
		((uint64_t *) results)[i] = (uint64_t) s.b << 32 | s.a;
	}
};

} // namespace

template <class P>
static void
walk(LadderRun *run, const P &policy)
{
	switch (run->ladder.algorithm)
	{
		case GPUAGG_ALG_QUADRATIC:
		case GPUAGG_ALG_HILLIS_STEELE:
		case GPUAGG_ALG_HILLIS_STEELE_DOUBLE_BUFFERED:
			scan_global(run, policy);
			break;
		case GPUAGG_ALG_KOGGE_STONE:
		case GPUAGG_ALG_KOGGE_STONE_DOUBLE_BUFFERED:
		case GPUAGG_ALG_BRENT_KUNG:
			scan_block(run, policy);
			break;
		case GPUAGG_ALG_WARP_SHARED:
		case GPUAGG_ALG_WARP_SHUFFLE:
			scan_warp(run, policy);
			break;
		default:
			scan_hierarchical(run, policy);
			break;
	}
}

extern size_t
ladder_affine(const GpuLadder *ladder, bool measuring, GpuStreamRef stream)
{
	LadderRun run = {*ladder, stream, measuring, 0};

	if (ladder->nrows == 0)
		return 0;
	if (ladder->task == GPUAGG_SEGMENTED_SCAN)
		walk(&run, SegmentedPolicy<AffineElement>());
	else
		walk(&run, PlainPolicy<AffineElement>());
	return run.used;
}
