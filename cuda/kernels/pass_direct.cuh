/*
 * pass_direct.cuh
 *	  The single-pass scan of short columns: one tile a block, from memory into
 *	  registers and back, in few steps.
 *
 * Without bitmaps and statuses.  A warp's rows are VECTORS times 32 vectors of
 * 16 bytes; a lane has one vector of each 32.
 */
#ifndef GPUAGG_PASS_DIRECT_CUH
#define GPUAGG_PASS_DIRECT_CUH

#include "kernels/scan_op.cuh"
#include "device/tile.cuh"

template <class Element, int NTHREADS, int NVECTORS> struct DirectPlan
{
	typedef Element E;
	typedef ScanOp<E, PLAIN> Op;
	typedef typename Op::State State;

	static constexpr int THREADS = NTHREADS;
	static constexpr int WARPS = NTHREADS / WARP_SIZE;
	static constexpr int VECTORS = NVECTORS;
	static constexpr int PER_VECTOR = 16 / (int) sizeof(typename E::Value);
	static constexpr int ROWS = THREADS * VECTORS * PER_VECTOR;

	static_assert(ROWS <= TILE_ROWS_MAX, "see WideSum");

	struct Shared
	{
		uint32_t tile;
		State warp[WARPS];
		State gathered[WARPS];
	};
};

/* As many blocks as tiles. */
template <class P>
static __global__ void
__launch_bounds__(P::THREADS) scan_direct(ScanColumn column)
{
	typedef typename P::E E;
	typedef typename P::Op Op;
	typedef typename P::State State;
	typedef typename E::Value Value;
	typedef typename E::Result Result;

	SHARED(typename P::Shared, shared);
	constexpr int PER_VECTOR = P::PER_VECTOR;
	Value values[P::VECTORS][P::PER_VECTOR];
	State before[P::VECTORS]; /* the warp's rows before those of this lane */
	State sum = Op::identity();
	State total = Op::identity();
	State before_warp = Op::identity();
	bool overflowed = false;

	/* one of the blocks will have this tile; the ticket takes time */
	tile_prefetch((const Value *) column.values, (uint64_t) blockIdx.x * P::ROWS, P::ROWS,
				  column.nrows);
	launched_early();

	LookBack<Op> look(column.scratch);

	if (threadIdx.x == 0)
		shared.tile = (uint32_t) look.take();
	__syncthreads();

	const uint32_t tile = shared.tile;
	const uint64_t first = (uint64_t) tile * P::ROWS +
						   (uint64_t) (warp_id() * P::VECTORS * WARP_SIZE + lane_id()) * PER_VECTOR;
	const bool whole = ((uint64_t) tile + 1) * P::ROWS <= column.nrows &&
					   aligned16(column.values) && aligned16(column.results);

	UNROLL
	for (int v = 0; v < P::VECTORS; v++)
	{
		uint64_t row = first + (uint64_t) (v * WARP_SIZE * PER_VECTOR);

		if (whole)
		{
			Quad quad = *(const Quad *) ((const Value *) column.values + row);

			memcpy(values[v], &quad, sizeof(quad));
		}
		else
		{
			UNROLL
			for (int j = 0; j < PER_VECTOR; j++)
			{
				memcpy(&values[v][j], &column.absent, sizeof(Value));
				if (row + (unsigned) j < column.nrows)
					values[v][j] = ((const Value *) column.values)[row + (unsigned) j];
			}
		}
	}

	/* each 32 vectors are scanned on their own, at the same time, and then joined */
	UNROLL
	for (int v = 0; v < P::VECTORS; v++)
	{
		before[v] = Op::identity();
		UNROLL
		for (int j = 0; j < PER_VECTOR; j++)
			before[v].value = E::apply(before[v].value, E::from(values[v][j], column));
		before[v] = warp_scan<Op>(before[v]);
	}
	UNROLL
	for (int v = 0; v < P::VECTORS; v++)
	{
		State last = warp_shfl(before[v], WARP_SIZE - 1);
		State lane = warp_shfl_up(before[v], 1);

		before[v] = lane_id() > 0 ? Op::combine(sum, lane) : sum;
		sum = Op::combine(sum, last);
	}
	if (lane_id() == 0)
		shared.warp[warp_id()] = sum;
	__syncthreads();
	UNROLL
	for (int w = 0; w < P::WARPS; w++)
	{
		if (w == warp_id())
			before_warp = total;
		total = Op::combine(total, shared.warp[w]);
	}
	if (threadIdx.x == 0)
	{
		look.publish(tile, total);
		if (tile == 0 && column.state_in != nullptr)
		{
			State carry = {E::from_carry(column.state_in->state, column)};

			look.publish_carry(carry);
		}
	}

	State between = look.template share<P::THREADS>(0, tile);

	if (threadIdx.x == 0 && column.state_in != nullptr)
		between = Op::combine(look.carry(), between);
	between = warp_reduce<Op>(between);
	if (lane_id() == 0)
		shared.gathered[warp_id()] = between;
	__syncthreads();
	between = Op::identity();
	UNROLL
	for (int w = 0; w < P::WARPS; w++)
		between = Op::combine(between, shared.gathered[w]);
	before_warp = Op::combine(between, before_warp);
	total = Op::combine(between, total);
	if (!E::OVERFLOWS && threadIdx.x == 0)
		scan_close(column, look, gridDim.x, false);

	UNROLL
	for (int v = 0; v < P::VECTORS; v++)
	{
		constexpr int WIDTH = (int) (sizeof(Result) / sizeof(Value));
		uint64_t row = first + (uint64_t) (v * WARP_SIZE * PER_VECTOR);
		typename E::Acc acc = Op::combine(before_warp, before[v]).value;
		Result results[P::PER_VECTOR];

		UNROLL
		for (int j = 0; j < PER_VECTOR; j++)
		{
			typename E::Acc next = E::apply(acc, E::from(values[v][j], column));
			typename E::Acc shown = column.exclusive ? acc : next;

			results[j] = E::result(shown, column);
			overflowed |= row + (unsigned) j < column.nrows && E::overflows(shown);
			acc = next;
		}
		if (whole)
		{
			Quad quads[WIDTH];

			memcpy(quads, results, sizeof(quads));
			UNROLL
			for (int k = 0; k < WIDTH; k++)
				((Quad *) ((Result *) column.results + row))[k] = quads[k];
		}
		else
		{
			UNROLL
			for (int j = 0; j < PER_VECTOR; j++)
				if (row + (unsigned) j < column.nrows)
					((Result *) column.results)[row + (unsigned) j] = results[j];
		}
	}

	if (tile == gridDim.x - 1)
		scan_write_state<E>(column, total.value, scan_plain_seen(column));
	if (E::OVERFLOWS)
	{
		overflowed = __syncthreads_or(overflowed);
		if (threadIdx.x == 0)
			scan_close(column, look, gridDim.x, overflowed);
	}
}

template <class P>
static GpuaggReason
direct_launch(const ScanColumn &column, GpuStreamRef stream)
{
	LAUNCH_EARLY(scan_direct<P>, tiles_of(column.nrows, P::ROWS), P::THREADS, 0, stream, column);
	return gpu_launch_status();
}

#endif /* GPUAGG_PASS_DIRECT_CUH */
