/*
 * pass_shapes.cuh
 *	  The shapes of the kernel of pass_pipeline.cuh that are in use, as measured.
 */
#ifndef GPUAGG_PASS_SHAPES_CUH
#define GPUAGG_PASS_SHAPES_CUH

#include "kernels/pass_pipeline.cuh"

/* Results wider than values, and results of segments, take room from stages. */
template <class E, Mode MODE> struct Shapes
{
	static constexpr bool WIDER = MODE != SEGMENTS &&
								  sizeof(typename E::Result) > sizeof(typename E::Value);
	static constexpr bool APART = WIDER || MODE == SEGMENTS;

	/* chunks, vectors of a lane, stages */
	typedef Plan<E, MODE, 8, WIDER ? 5 : 7, APART ? 5 : 6> Large;
	typedef Plan<E, MODE, 4, APART ? 3 : 7, 3, false> Small;
};

template <class E, Mode MODE>
static GpuaggReason
scan_launch_fitting(const ScanColumn &column, GpuStreamRef stream)
{
	typedef typename Shapes<E, MODE>::Large Large;
	typedef typename Shapes<E, MODE>::Small Small;

	static_assert(Large::ROWS >= TILE_ROWS_MIN && Small::ROWS >= TILE_ROWS_MIN, "see scratch");
	return large_shared<scan_tiles<Large>>() ? scan_launch<Large>(column, stream)
											 : scan_launch<Small>(column, stream);
}

#endif /* GPUAGG_PASS_SHAPES_CUH */
