/*
 * ladder_reduce.cuh
 *	  Reductions in passes: a pass over the rows, then the same algorithm over
 *	  its partial results, until one is left.
 *
 * An Algorithm is a type with
 *
 *	rows(threads)		rows of one partial result
 *	partials(threads)	partial results of a block
 *	most<E>(run, threads)	the most partial results of a pass, 0: no limit; with
 *						a limit, a partial result may have more rows
 *	kernel<E>(threads)	a ReduceKernel<E>
 *
 * No rows give one partial result, the identity.
 */
#ifndef GPUAGG_LADDER_REDUCE_CUH
#define GPUAGG_LADDER_REDUCE_CUH

#include "ladder/run.cuh"

/* first block, element, values, n, element of the results, results */
template <class E>
using ReduceKernel = void (*)(uint64_t, E, const void *, uint64_t, typename E::Partial, void *);

template <class E>
static __device__ __forceinline__ typename E::State
load_or_identity(const E &element, const void *values, uint64_t i, uint64_t n)
{
	return i < n ? element.load(values, i) : E::identity();
}

/* A kernel with the block's size as a template parameter. */
#define KERNEL_OF_SIZE(kernel, E, threads) \
	((threads) == 32	? kernel<E, 32>    \
	 : (threads) == 64	? kernel<E, 64>    \
	 : (threads) == 128 ? kernel<E, 128>   \
	 : (threads) == 256 ? kernel<E, 256>   \
	 : (threads) == 512 ? kernel<E, 512>   \
						: kernel<E, 1024>)

/* Algorithms with one partial result a block, of ROWS rows a thread. */
template <int ROWS> struct RowsAThread
{
	static uint64_t rows(unsigned threads)
	{
		return (uint64_t) threads * ROWS;
	}
	static uint64_t partials(unsigned)
	{
		return 1;
	}
	template <class E> static uint64_t most(const LadderRun *, unsigned)
	{
		return 0;
	}
};

/* Reduces n rows of elements `in` into results[0], of elements `out`. */
template <class Algorithm, class E>
static void
reduce_column(LadderRun *run, const E &in, const void *values, uint64_t n,
			  const typename E::Partial &out)
{
	typedef typename E::Partial Partial;

	unsigned threads = ladder_threads(run);
	ReduceKernel<E> kernel = Algorithm::template kernel<E>(threads);
	uint64_t most = Algorithm::template most<E>(run, threads);
	uint64_t parts = divide_up(n, Algorithm::rows(threads));
	bool last;
	void *results;

	parts = parts == 0 ? 1 : most > 0 && parts > most ? most : parts;
	last = parts == 1;
	results = last ? run->ladder.results : ladder_take<typename E::State>(run, parts);
	LADDER_LAUNCH(run, kernel, divide_up(parts, Algorithm::partials(threads)), threads, in, values,
				  n, last ? out : in.partial(), results);
	if (!last)
		reduce_column<Algorithm, Partial>(run, in.partial(), results, parts, out);
}

#endif /* GPUAGG_LADDER_REDUCE_CUH */
