/*
 * shapes.cuh
 *	  The shapes of the single-pass kernel that are in use, as measured.
 */
#ifndef GPUAGG_SHAPES_CUH
#define GPUAGG_SHAPES_CUH

#include "pipeline.cuh"
#include "scan_column.cuh"

/* Chunks, vectors of a lane, stages; results in place of the values, or wider, or apart. */
template <class E, Mode MODE, bool IN_PLACE = MODE != SEGMENTS &&
											  sizeof(typename E::Value) ==
												  sizeof(typename E::Result)>
struct Shapes
{
	typedef Plan<E, MODE, 8, 7, 6> Large;
	typedef Plan<E, MODE, 8, 3, 3, false> Small;
};

template <class E, Mode MODE> struct Shapes<E, MODE, false>
{
	typedef Plan<E, MODE, 8, 5, 5> Large;
	typedef Plan<E, MODE, 4, 3, 3, false> Small;
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

#endif /* GPUAGG_SHAPES_CUH */
