/*
 * float_wide.cuh
 *	  Sums of floats the wide way, by a FloatState for each row.
 *
 * For tiles that bins do not suit: values spread too widely, NaN, infinities, -0,
 * values next to the largest double.  Exact like the bins, so it gives the same
 * bits.  Rarely called: it must not cost registers elsewhere.
 */
#ifndef GPUAGG_FLOAT_WIDE_CUH
#define GPUAGG_FLOAT_WIDE_CUH

#include "kernels/float_tile.cuh"

template <class P> struct FloatWide
{
	typedef typename P::T T;
	typedef typename P::Shared Shared;

	/* The thread's rows combined; *misfit: one does not fit a Sum256. */
	static __device__ inline FloatState thread_state(const T *row, const ThreadRows &rows,
													 int first_chunk, bool *misfit)
	{
		FloatState s = FloatOp::identity();

		*misfit = false;
		for (int i = 0; i < P::ITEMS; i++)
		{
			if (rows.heads >> i & 1)
			{
				s.sum = sum256_zero();
				s.seen = SEEN_HEAD;
				s.heads++;
			}
			if (rows.valid >> i & 1)
			{
				FloatState value = float_state_of((double) row[i], first_chunk);

				*misfit |= (value.seen & SEEN_MISFIT) != 0;
				s = FloatOp::combine(s, value);
			}
		}
		return s;
	}

	/* All threads: shared.total becomes the tile's state; whether the thread's rows fit. */
	static __device__ NOINLINE bool total(Shared &shared, const T *row, ThreadRows rows,
										  int first_chunk)
	{
		bool misfit;
		FloatState s = thread_state(row, rows, first_chunk, &misfit);

		s = BlockScan<FloatOp, P::THREADS>::reduce(s, shared.states);
		if (threadIdx.x == 0)
			shared.total = s;
		__syncthreads();
		return !misfit;
	}

	/* All threads: the state of all rows before the thread's. */
	static __device__ NOINLINE FloatState before(Shared &shared, const T *row, ThreadRows rows,
												 int first_chunk)
	{
		bool misfit;
		FloatState s = thread_state(row, rows, first_chunk, &misfit);
		FloatState total;

		s = BlockScan<FloatOp, P::THREADS>::exclusive(s, shared.states, &total);
		return FloatOp::combine(shared.before.state, s);
	}

	/* The number of values of a thread's row. */
	static __device__ __forceinline__ uint32_t count_at(const ThreadRows &rows,
														const int64_t *counts, int i)
	{
		return rows.present >> i & 1 ? (uint32_t) counts[i] : 0;
	}

	/* Results in place of the values; returns which rows overflow.  counts: of averages. */
	static __device__ NOINLINE uint32_t results(T *row, ThreadRows rows, FloatState s,
												int first_chunk, bool exclusive,
												const int64_t *counts)
	{
		uint32_t overflows = 0;

		for (int i = 0; i < P::ITEMS; i++)
		{
			double v = (double) row[i];
			FloatState at;
			bool overflow = false;

			if (rows.heads >> i & 1)
				s = FloatOp::identity();
			at = s;
			if (rows.valid >> i & 1)
				s = FloatOp::combine(s, float_state_of(v, first_chunk));
			if (!exclusive)
				at = s;
			if constexpr (P::MODE == FLOAT_AVERAGES)
				row[i] = float_state_average(at, count_at(rows, counts, i), first_chunk);
			else
				row[i] = float_state_result<T>(at, first_chunk, &overflow);
			overflows |= (uint32_t) overflow << i;
		}
		return overflows;
	}
};

/* The bits of the rounded sum of bins and of what the prefix has below them. */
static __device__ NOINLINE uint64_t
round_with_tail(Bins sum, const Sum256 *before, int shift, int first_chunk, bool odd)
{
	Sum256 tail = sum256_low_bits(*before, shift);

	return sum256_round(sum256_add(tail, bins_to_sum256(sum, shift)), first_chunk, odd);
}

#endif /* GPUAGG_FLOAT_WIDE_CUH */
