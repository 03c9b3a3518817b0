/*
 * scan_global.cuh
 *	  Scans of the whole array in global memory, without tiles.
 */
#ifndef GPUAGG_LADDER_SCAN_GLOBAL_CUH
#define GPUAGG_LADDER_SCAN_GLOBAL_CUH

#include "ladder/ladder_scan.cuh"

/* Every result summed on its own. */
template <class P>
static __global__ void
__launch_bounds__(LADDER_THREADS)
	quadratic(uint64_t first, ScanSource<P> in, uint64_t n, ScanSink<P> out)
{
	uint64_t i = ladder_block(first) * blockDim.x + threadIdx.x;

	if (i < n)
	{
		typename P::State sum = P::identity();

		for (uint64_t j = 0; j <= i; j++)
			sum = P::combine(sum, in.at(j));
		out.put(i, sum);
	}
}

/* One step: combines each row with the one `distance` rows before it. */
template <class P>
static __global__ void
__launch_bounds__(LADDER_THREADS) hillis_steele_step(uint64_t first, ScanSource<P> in, uint64_t n,
													 uint64_t distance, ScanSink<P> out)
{
	uint64_t i = ladder_block(first) * blockDim.x + threadIdx.x;

	if (i < n)
	{
		typename P::State sum = in.at(i);

		if (i >= distance)
			sum = P::combine(in.at(i - distance), sum);
		out.put(i, sum);
	}
}

template <class P>
static __global__ void
__launch_bounds__(LADDER_THREADS)
	copy_rows(uint64_t first, ScanSource<P> in, uint64_t n, ScanSink<P> out)
{
	uint64_t i = ladder_block(first) * blockDim.x + threadIdx.x;

	if (i < n)
		out.put(i, in.at(i));
}

/*
 * In place: since other blocks may already have overwritten the rows that a block
 * needs, each step writes to a second array, which is copied back.
 */
template <class P>
static void
hillis_steele(LadderRun *run, const P &policy)
{
	typedef typename P::State State;

	uint64_t n = run->ladder.nrows;
	unsigned threads = ladder_threads(run);
	uint64_t blocks = divide_up(n, threads);
	State *array = ladder_take<State>(run, n);
	State *stepped = ladder_take<State>(run, n);
	ScanSink<P> to_array = sink_to_states(policy, array, n, false);

	LADDER_LAUNCH(run, copy_rows<P>, blocks, threads, source_of_column(run, policy), n, to_array);
	for (uint64_t distance = 1; distance < n; distance *= 2)
	{
		LADDER_LAUNCH(run, hillis_steele_step<P>, blocks, threads, source_of_states(policy, array),
					  n, distance, sink_to_states(policy, stepped, n, false));
		LADDER_LAUNCH(run, copy_rows<P>, blocks, threads, source_of_states(policy, stepped), n,
					  to_array);
	}
	LADDER_LAUNCH(run, copy_rows<P>, blocks, threads, source_of_states(policy, array), n,
				  sink_to_results(run, policy));
}

/* Between two arrays; the first step reads the column, the last writes the results. */
template <class P>
static void
hillis_steele_double_buffered(LadderRun *run, const P &policy)
{
	typedef typename P::State State;

	uint64_t n = run->ladder.nrows;
	unsigned threads = ladder_threads(run);
	uint64_t blocks = divide_up(n, threads);
	State *from = ladder_take<State>(run, n);
	State *to = ladder_take<State>(run, n);
	ScanSource<P> in = source_of_column(run, policy);
	uint64_t distance = 1;

	for (; 2 * distance < n; distance *= 2)
	{
		State *swap = from;

		LADDER_LAUNCH(run, hillis_steele_step<P>, blocks, threads, in, n, distance,
					  sink_to_states(policy, to, n, false));
		in = source_of_states(policy, to);
		from = to;
		to = swap;
	}
	LADDER_LAUNCH(run, hillis_steele_step<P>, blocks, threads, in, n, distance,
				  sink_to_results(run, policy));
}

template <class P>
static void
scan_global(LadderRun *run, const P &policy)
{
	unsigned threads = ladder_threads(run);
	uint64_t n = run->ladder.nrows;

	switch (run->ladder.algorithm)
	{
		case GPUAGG_ALG_QUADRATIC:
			LADDER_LAUNCH(run, quadratic<P>, divide_up(n, threads), threads,
						  source_of_column(run, policy), n, sink_to_results(run, policy));
			break;
		case GPUAGG_ALG_HILLIS_STEELE:
			hillis_steele(run, policy);
			break;
		case GPUAGG_ALG_HILLIS_STEELE_DOUBLE_BUFFERED:
			hillis_steele_double_buffered(run, policy);
			break;
	}
}

#endif /* GPUAGG_LADDER_SCAN_GLOBAL_CUH */
