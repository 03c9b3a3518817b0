/*
 * float_wide.cuh
 *	  Sums of floats the wide way, for tiles and rows that bins do not suit.
 *
 * That is, values spread too widely, NaN, infinities, -0, or next to the
 * largest double: a FloatState for each row.  It is exact like the bins, hence
 * gives the same bits, and is called rarely: it must not cost registers
 * elsewhere.
 */
#ifndef GPUAGG_FLOAT_WIDE_CUH
#define GPUAGG_FLOAT_WIDE_CUH

#include "kernels/float_tile.cuh"

template <class P> struct FloatWide
{
	typedef typename P::T T;
	typedef typename P::Shared Shared;

	/* The thread's rows combined; *outside: one does not fit the window. */
	static __device__ inline FloatState thread_state(const T *row, const ThreadRows &rows,
													 int window, bool *outside)
	{
		FloatState s = FloatOp::identity();

		*outside = false;
		for (int i = 0; i < P::ITEMS; i++)
		{
			if (rows.heads >> i & 1)
			{
				s.sum = window_zero();
				s.seen = SEEN_HEAD;
				s.heads++;
			}
			if (rows.valid >> i & 1)
			{
				FloatState value = float_state_of((double) row[i], window);

				*outside |= (value.seen & SEEN_OUTSIDE) != 0;
				s = FloatOp::combine(s, value);
			}
		}
		return s;
	}

	/* All threads: the tile's state, in shared.total by thread 0; whether the rows fit the window. */
	static __device__ NOINLINE bool total(Shared &shared, const T *row, ThreadRows rows, int window)
	{
		bool outside;
		FloatState s = thread_state(row, rows, window, &outside);

		s = BlockScan<FloatOp, P::THREADS>::reduce(s, shared.states);
		if (threadIdx.x == 0)
			shared.total = s;
		__syncthreads();
		return !outside;
	}

	/* All threads: the state of the tile's rows before the thread's, with what stands before. */
	static __device__ NOINLINE FloatState before(Shared &shared, const T *row, ThreadRows rows,
												 int window)
	{
		bool outside;
		FloatState s = thread_state(row, rows, window, &outside);
		FloatState total;

		s = BlockScan<FloatOp, P::THREADS>::exclusive(s, shared.states, &total);
		return FloatOp::combine(shared.before.state, s);
	}

	/* Results in place of the values; rows that overflow as bits. */
	static __device__ NOINLINE uint32_t results(T *row, ThreadRows rows, FloatState s, int window,
												bool exclusive)
	{
		uint32_t overflows = 0;

		for (int i = 0; i < P::ITEMS; i++)
		{
			double v = (double) row[i];
			FloatState at;
			bool overflow;

			if (rows.heads >> i & 1)
				s = FloatOp::identity();
			at = s;
			if (rows.valid >> i & 1)
				s = FloatOp::combine(s, float_state_of(v, window));
			if (!exclusive)
				at = s;
			row[i] = float_state_result<T>(at, window, &overflow);
			overflows |= (uint32_t) overflow << i;
		}
		return overflows;
	}
};

/* The bits of a sum in bins, and the tail of what stands before the tile, rounded. */
static __device__ NOINLINE uint64_t
round_with_tail(Bins sum, const Window *before, int shift, int window, bool odd)
{
	Window tail = window_low_bits(*before, shift);

	return window_round(window_add(tail, bins_to_window(sum, shift)), window, odd);
}

#endif /* GPUAGG_FLOAT_WIDE_CUH */
