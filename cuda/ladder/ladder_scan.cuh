/*
 * ladder_scan.cuh
 *	  Scans, plain and segmented: sources and sinks of rows, and tiles.
 *
 * A Policy says what a scan combines:
 *
 *	State						what a thread holds
 *	identity(), combine(a, b)	associative, not commutative; a stands before b
 *	start()						the result of an exclusive scan at a head
 *	SEGMENTED					States have heads
 *	SUBTRACTS					subtract(combine(a, b), b) is a, always
 *	load(values, heads, i)		row i as a State
 *	store(results, i, s)		a State as result i
 *
 * Scans are computed inclusively; an exclusive one stores each State one row later,
 * after the identity, unless its algorithm does otherwise.
 */
#ifndef GPUAGG_LADDER_SCAN_CUH
#define GPUAGG_LADDER_SCAN_CUH

#include "device/warp.cuh"
#include "ladder/run.cuh"

static __device__ __forceinline__ bool
head_bit(const uint64_t *heads, uint64_t i)
{
	return (heads[i / 64] >> i % 64 & 1) != 0;
}

template <class E> struct PlainPolicy
{
	typedef typename E::State State;

	static constexpr bool SEGMENTED = false;
	static constexpr bool SUBTRACTS = E::SUBTRACTS;

	E element;

	static __device__ __forceinline__ State identity()
	{
		return E::identity();
	}
	static __device__ __forceinline__ State combine(State a, State b)
	{
		return E::combine(a, b);
	}
	static __device__ __forceinline__ State subtract(State a, State b)
	{
		return E::subtract(a, b);
	}
	static __device__ __forceinline__ State start()
	{
		return E::identity();
	}
	__device__ __forceinline__ State load(const void *values, const uint64_t *, uint64_t i) const
	{
		return element.load(values, i);
	}
	__device__ __forceinline__ void store(void *results, uint64_t i, State s) const
	{
		element.store(results, i, s);
	}
};

/* (s, f) + (t, g) = (g ? t : s + t, f or g); head is as wide as value: no padding. */
template <class S, size_t BYTES> struct SegmentedState;

template <class S> struct SegmentedState<S, 4>
{
	S value;
	uint32_t head;
};

template <class S> struct alignas(16) SegmentedState<S, 8>
{
	S value;
	uint64_t head;
};

template <class E> struct SegmentedPolicy
{
	typedef SegmentedState<typename E::State, sizeof(typename E::State)> State;

	static constexpr bool SEGMENTED = true;
	static constexpr bool SUBTRACTS = false;

	E element;

	static __device__ __forceinline__ State identity()
	{
		return {E::identity(), 0};
	}
	static __device__ __forceinline__ State combine(State a, State b)
	{
		return {b.head ? b.value : E::combine(a.value, b.value), a.head | b.head};
	}
	static __device__ __forceinline__ State start()
	{
		return {E::identity(), 1};
	}
	__device__ __forceinline__ State load(const void *values, const uint64_t *heads,
										  uint64_t i) const
	{
		return {element.load(values, i), head_bit(heads, i)};
	}
	__device__ __forceinline__ void store(void *results, uint64_t i, State s) const
	{
		element.store(results, i, s.value);
	}
};

/* Where rows come from: a column, or States of an earlier pass. */
template <class P> struct ScanSource
{
	P policy;
	const void *values;
	const uint64_t *heads; /* NULL: none */
	const typename P::State *states;

	__device__ __forceinline__ typename P::State at(uint64_t i) const
	{
		return states != NULL ? states[i] : policy.load(values, heads, i);
	}
	__device__ __forceinline__ typename P::State at_or_identity(uint64_t i, uint64_t n) const
	{
		return i < n ? at(i) : P::identity();
	}

	/* Row i starts a segment; false for States, which have heads themselves. */
	__device__ __forceinline__ bool starts(uint64_t i) const
	{
		return states == NULL && heads != NULL && head_bit(heads, i);
	}
};

/* Where rows go: results, or States for a later pass. */
template <class P> struct ScanSink
{
	P policy;
	void *results;
	const uint64_t *heads;
	typename P::State *states;
	uint64_t n;
	bool exclusive;

	__device__ __forceinline__ void store(uint64_t i, typename P::State s) const
	{
		if (states != NULL)
			states[i] = s;
		else
			policy.store(results, i, s);
	}

	/* Row i, scanned inclusively; once for each of n rows. */
	__device__ __forceinline__ void put(uint64_t i, typename P::State s) const
	{
		if (!exclusive)
			store(i, s);
		else
		{
			if (i == 0)
				store(0, P::identity());
			if (i + 1 < n)
				store(i + 1, heads != NULL && head_bit(heads, i + 1) ? P::identity() : s);
		}
	}
};

template <class P>
static inline ScanSource<P>
source_of_column(const LadderRun *run, const P &policy)
{
	const GpuLadder &l = run->ladder;

	return {policy, l.values, l.task == GPUAGG_SEGMENTED_SCAN ? l.heads : NULL, NULL};
}

template <class P>
static inline ScanSource<P>
source_of_states(const P &policy, const typename P::State *states)
{
	return {policy, NULL, NULL, states};
}

template <class P>
static inline ScanSink<P>
sink_to_results(const LadderRun *run, const P &policy)
{
	const GpuLadder &l = run->ladder;

	return {policy, l.results, l.task == GPUAGG_SEGMENTED_SCAN ? l.heads : NULL,
			NULL,	l.nrows,   l.exclusive != 0};
}

template <class P>
static inline ScanSink<P>
sink_to_states(const P &policy, typename P::State *states, uint64_t n, bool exclusive)
{
	return {policy, NULL, NULL, states, n, exclusive};
}

/*
 * Combines the prefixes of tiles of 2^tile_bits rows with `count` rows from `start`
 * on, which have been scanned within tiles.  scanned[0] is row `start`.
 */
template <class P>
static __global__ void
__launch_bounds__(LADDER_THREADS) add_prefixes(uint64_t first, const typename P::State *scanned,
											   const typename P::State *prefixes, int tile_bits,
											   uint64_t start, uint64_t count, ScanSink<P> out)
{
	uint64_t i = ladder_block(first) * blockDim.x + threadIdx.x;

	if (i < count)
		out.put(start + i, P::combine(prefixes[i >> tile_bits], scanned[i]));
}

static inline int
log2_of(uint64_t power)
{
	int bits = 0;

	while (power >> bits > 1)
		bits++;
	return bits;
}

/* first block, rows, n, sink, totals of the tiles (NULL if there is one) */
template <class P>
using TileKernel = void (*)(uint64_t, ScanSource<P>, uint64_t, ScanSink<P>, typename P::State *);

/*
 * Scans n > 0 rows: tiles, then their totals by the same algorithm, exclusively;
 * then combines the two.  An Algorithm is a type with
 *
 *	tile(threads)			rows of a tile, a power of two
 *	tiles(threads)			tiles of a block
 *	kernel<P>(exclusive)	a TileKernel<P>
 *	shifts<P>()				its kernels make exclusive scans themselves
 */
template <class Algorithm, class P>
static void
scan_tiles(LadderRun *run, const ScanSource<P> &in, uint64_t n, ScanSink<P> out)
{
	typedef typename P::State State;

	unsigned threads = ladder_threads(run);
	uint64_t tile = Algorithm::tile(threads);
	uint64_t tiles = divide_up(n, tile);
	uint64_t blocks = divide_up(tiles, Algorithm::tiles(threads));
	TileKernel<P> kernel = Algorithm::template kernel<P>(out.exclusive);
	State *totals = NULL;

	if (Algorithm::template shifts<P>())
		out.exclusive = false;
	if (tiles == 1)
		LADDER_LAUNCH(run, kernel, 1, threads, in, n, out, totals);
	else
	{
		const P &policy = in.policy;
		State *scanned = ladder_take<State>(run, n);
		State *prefixes = ladder_take<State>(run, tiles);

		totals = ladder_take<State>(run, tiles);
		LADDER_LAUNCH(run, kernel, blocks, threads, in, n,
					  sink_to_states(policy, scanned, n, false), totals);
		scan_tiles<Algorithm>(run, source_of_states(policy, totals), tiles,
							  sink_to_states(policy, prefixes, tiles, true));
		LADDER_LAUNCH(run, add_prefixes<P>, divide_up(n, threads), threads, scanned, prefixes,
					  log2_of(tile), UINT64_C(0), n, out);
	}
}

/* Calls f(policy) with the Policy of the run's task, kind and operation. */
template <class F>
static inline void
ladder_with_policy(const LadderRun *run, F f)
{
	bool segmented = run->ladder.task == GPUAGG_SEGMENTED_SCAN;

	ladder_with_element(run, [=](const auto &element) {
		typedef std::decay_t<decltype(element)> Element;

		if (segmented)
			f(SegmentedPolicy<Element>{element});
		else
			f(PlainPolicy<Element>{element});
	});
}

#endif /* GPUAGG_LADDER_SCAN_CUH */
