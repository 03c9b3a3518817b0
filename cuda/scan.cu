/*
 * scan.cu
 *	  Running sums of a column, with a state carried in and out.
 *
 * Three kernels: each block sums its own contiguous range of tiles; one block
 * scans those sums, starting from the carried state; each block walks its range
 * again, scanning tile by tile (thread, warp, block) from what stands before it.
 *
 * A running sum is a State: the sum, and marks of what has been seen so far.
 */
#include "device.cuh"

#include "block.cuh"
#include "grid.cuh"
#include "window.cuh"

#define SCAN_THREADS	256
#define SCAN_WARPS		(SCAN_THREADS / WARP_SIZE)
#define SCAN_ITEMS		8 /* rows of a thread in one tile; divides 64 */
#define SCAN_TILE		(SCAN_THREADS * SCAN_ITEMS)
#define SCAN_MAX_BLOCKS 1024

/* Marks, or-ed together along the rows. */
#define SEEN_VALUE		 1u /* anything but NULL */
#define SEEN_NAN		 2u
#define SEEN_PINF		 4u
#define SEEN_NINF		 8u
#define SEEN_NOT_NEGZERO 16u /* a value other than -0 */
#define SEEN_OUTSIDE	 32u /* a value that does not fit the window */

struct ScanColumn
{
	const void *values;
	const uint64_t *validity; /* or NULL: all rows are valid */
	uint64_t nrows;
	int window;
	uint32_t exclusive;
	void *results;
	uint8_t *status;
};

/* Counts of a range of rows; what they are is in GpuaggFloatCounts. */
struct ScanCounts
{
	uint64_t n;
	uint64_t nan;
	uint64_t pinf;
	uint64_t ninf;
	uint64_t negzero;

	__device__ __forceinline__ void operator+=(const ScanCounts &other)
	{
		n += other.n;
		nan += other.nan;
		pinf += other.pinf;
		ninf += other.ninf;
		negzero += other.negzero;
	}
};

/* Rows [start, end) of one block. */
struct ScanRange
{
	uint64_t start;
	uint64_t end;
};

static __device__ __forceinline__ ScanRange
block_range(uint64_t nrows)
{
	uint64_t tiles = divide_up(nrows, SCAN_TILE);
	uint64_t rows = divide_up(tiles, gridDim.x) * SCAN_TILE;
	ScanRange r;

	r.start = blockIdx.x * rows;
	r.end = r.start + rows;
	if (r.start > nrows)
		r.start = nrows;
	if (r.end > nrows)
		r.end = nrows;
	return r;
}

/*
 * Sums of integers of type T in 128 bits.
 */
template <class T> struct IntegerScan
{
	typedef T Value;

	struct State
	{
		uint64_t lo;
		int64_t hi;
		uint32_t seen;
		uint32_t unused;
	};

	static __device__ __forceinline__ State identity()
	{
		State s = {0, 0, 0, 0};

		return s;
	}

	static __device__ __forceinline__ State combine(State a, State b)
	{
		State s;

		s.lo = a.lo + b.lo;
		s.hi = (int64_t) ((uint64_t) a.hi + (uint64_t) b.hi + (s.lo < a.lo));
		s.seen = a.seen | b.seen;
		s.unused = 0;
		return s;
	}

	static __device__ __forceinline__ State from_value(T v, int)
	{
		State s;

		s.lo = (uint64_t) (int64_t) v;
		s.hi = (int64_t) v >> 63;
		s.seen = SEEN_VALUE;
		s.unused = 0;
		return s;
	}

	static __device__ __forceinline__ void count(T, ScanCounts &counts)
	{
		counts.n++;
	}

	static __device__ inline State from_carry(const GpuScanState *in, int)
	{
		State s;

		s.lo = in->state.sum.lo;
		s.hi = in->state.sum.hi;
		s.seen = in->state.f.counts.n > 0 ? SEEN_VALUE : 0;
		s.unused = 0;
		return s;
	}

	static __device__ inline void to_carry(State s, int, GpuScanState *out)
	{
		out->state.sum.lo = s.lo;
		out->state.sum.hi = s.hi;
		for (int i = 0; i < GPUAGG_CHUNKS; i++)
			out->state.f.chunk[i] = 0;
	}

	static __device__ __forceinline__ void emit(State s, const ScanColumn &column, uint64_t row)
	{
		GpuaggInt128 sum;

		sum.lo = s.lo;
		sum.hi = s.hi;
		if (sizeof(T) == 4)
			((int64_t *) column.results)[row] = (int64_t) s.lo;
		else
			((GpuaggInt128 *) column.results)[row] = sum;
		column.status[row] = !(s.seen & SEEN_VALUE)							  ? GPUAGG_ROW_NULL
							 : sizeof(T) == 4 && !gpuagg_int128_is_int64(sum) ? GPUAGG_ROW_OVERFLOW
																			  : GPUAGG_ROW_VALUE;
	}
};

/*
 * Exact sums of doubles in a window, rounded at each row.
 */
struct FloatScan
{
	typedef double Value;

	struct State
	{
		Window sum;
		uint32_t seen;
		uint32_t unused;
	};

	static __device__ __forceinline__ State identity()
	{
		State s;

		s.sum = window_zero();
		s.seen = 0;
		s.unused = 0;
		return s;
	}

	static __device__ __forceinline__ State combine(State a, State b)
	{
		State s;

		s.sum = window_add(a.sum, b.sum);
		s.seen = a.seen | b.seen;
		s.unused = 0;
		return s;
	}

	static __device__ __forceinline__ State from_value(double v, int window)
	{
		uint64_t bits = bits_of(v);
		State s = identity();
		bool fits;

		s.seen = SEEN_VALUE;
		if (bits_finite(bits))
		{
			s.sum = window_from_value(bits, window, &fits);
			if (bits != SIGN_BIT)
				s.seen |= SEEN_NOT_NEGZERO;
			if (!fits)
				s.seen |= SEEN_OUTSIDE;
		}
		else
			s.seen |= SEEN_NOT_NEGZERO | (bits_nan(bits) ? SEEN_NAN
										  : bits >> 63	 ? SEEN_NINF
														 : SEEN_PINF);
		return s;
	}

	static __device__ __forceinline__ void count(double v, ScanCounts &counts)
	{
		uint64_t bits = bits_of(v);

		counts.n++;
		counts.nan += bits_nan(bits);
		counts.pinf += bits == INFINITE_BITS;
		counts.ninf += bits == (INFINITE_BITS | SIGN_BIT);
		counts.negzero += bits == SIGN_BIT;
	}

	static __device__ inline State from_carry(const GpuScanState *in, int window)
	{
		const GpuaggFloatCounts *counts = &in->state.f.counts;
		State s = identity();
		bool fits;

		s.sum = window_from_chunks(in->state.f.chunk, window, &fits);
		if (counts->n > 0)
			s.seen |= SEEN_VALUE;
		if (counts->n_nan > 0)
			s.seen |= SEEN_NAN;
		if (counts->n_pinf > 0)
			s.seen |= SEEN_PINF;
		if (counts->n_ninf > 0)
			s.seen |= SEEN_NINF;
		if (counts->n > counts->n_negzero)
			s.seen |= SEEN_NOT_NEGZERO;
		if (!fits)
			s.seen |= SEEN_OUTSIDE;
		return s;
	}

	static __device__ inline void to_carry(State s, int window, GpuScanState *out)
	{
		out->state.sum = gpuagg_int128_from(0);
		window_to_chunks(s.sum, window, out->state.f.chunk);
	}

	static __device__ __forceinline__ void emit(State s, const ScanColumn &column, uint64_t row)
	{
		bool overflow = false;
		uint64_t bits = 0;
		double result;

		if (s.seen & SEEN_NAN || ((s.seen & SEEN_PINF) && (s.seen & SEEN_NINF)))
			bits = CANONICAL_NAN;
		else if (s.seen & (SEEN_PINF | SEEN_NINF))
			bits = INFINITE_BITS | (s.seen & SEEN_NINF ? SIGN_BIT : 0);
		else if (window_is_zero(s.sum))
			bits = (s.seen & SEEN_VALUE) && !(s.seen & SEEN_NOT_NEGZERO) ? SIGN_BIT : 0;
		else
			bits = window_round(s.sum, column.window, &overflow);
		memcpy(&result, &bits, sizeof(result));
		((double *) column.results)[row] = result;
		column.status[row] = !(s.seen & SEEN_VALUE) ? GPUAGG_ROW_NULL
							 : overflow				? GPUAGG_ROW_OVERFLOW
													: GPUAGG_ROW_VALUE;
	}
};

/* What a block of the first kernel finds; the second puts its prefix in `state`. */
template <class Op> struct ScanPartial
{
	typename Op::State state;
	ScanCounts counts;
};

template <class Op> struct ScanStorage
{
	typename BlockScan<Op, SCAN_THREADS>::Storage scan;
	typename Op::State carry;
	ScanCounts warp[SCAN_WARPS];
};

static __device__ __forceinline__ bool
row_valid(const ScanColumn &column, uint64_t row)
{
	return column.validity == nullptr || (column.validity[row / 64] >> (row % 64) & 1);
}

/* First kernel.  Sums commute, so a thread may take rows from all over the range. */
template <class Op>
static __global__ void
__launch_bounds__(SCAN_THREADS, 3) scan_ranges(ScanColumn column, ScanPartial<Op> *partials)
{
	SHARED(ScanStorage<Op>, shared);
	const typename Op::Value *values = (const typename Op::Value *) column.values;
	ScanRange range = block_range(column.nrows);
	typename Op::State state = Op::identity();
	ScanCounts counts = {0, 0, 0, 0, 0};

	for (uint64_t row = range.start + threadIdx.x; row < range.end; row += SCAN_THREADS)
		if (row_valid(column, row))
		{
			typename Op::Value v = values[row];

			state = Op::combine(state, Op::from_value(v, column.window));
			Op::count(v, counts);
		}
	state = BlockScan<Op, SCAN_THREADS>::reduce(state, shared.scan);
	counts = block_sum<ScanCounts, SCAN_THREADS>(counts, shared.warp);
	if (threadIdx.x == 0)
	{
		partials[blockIdx.x].state = state;
		partials[blockIdx.x].counts = counts;
	}
}

/* Second kernel, one block.  `in` and `out` may be the same. */
template <class Op>
static __global__ void
__launch_bounds__(SCAN_THREADS, 3)
	scan_partials(ScanPartial<Op> *partials, unsigned npartials, int window, const GpuScanState *in,
				  GpuScanState *out)
{
	SHARED(ScanStorage<Op>, shared);
	typename Op::State before;
	ScanCounts counts = {0, 0, 0, 0, 0};

	if (threadIdx.x == 0)
		shared.carry = Op::from_carry(in, window);
	__syncthreads();
	before = shared.carry;

	for (unsigned first = 0; first < npartials; first += SCAN_THREADS)
	{
		unsigned i = first + threadIdx.x;
		typename Op::State state = Op::identity();
		typename Op::State total;

		if (i < npartials)
		{
			state = partials[i].state;
			counts += partials[i].counts;
		}
		state = BlockScan<Op, SCAN_THREADS>::exclusive(state, shared.scan, &total);
		if (i < npartials)
			partials[i].state = Op::combine(before, state);
		before = Op::combine(before, total);
	}
	counts = block_sum<ScanCounts, SCAN_THREADS>(counts, shared.warp);

	if (threadIdx.x == 0)
	{
		GpuaggFloatCounts carried = in->state.f.counts;
		GpuaggFloatSumFull *f = &out->state.f;

		f->counts.n = (int64_t) ((uint64_t) carried.n + counts.n);
		f->counts.n_nan = (int64_t) ((uint64_t) carried.n_nan + counts.nan);
		f->counts.n_pinf = (int64_t) ((uint64_t) carried.n_pinf + counts.pinf);
		f->counts.n_ninf = (int64_t) ((uint64_t) carried.n_ninf + counts.ninf);
		f->counts.n_negzero = (int64_t) ((uint64_t) carried.n_negzero + counts.negzero);
		f->deposits = 0;
		f->base = 0;
		f->width = GPUAGG_CHUNKS;
		Op::to_carry(before, window, out);
		out->out_of_window = (before.seen & SEEN_OUTSIDE) != 0;
		out->overflows = 0;
	}
}

/* Third kernel.  A thread's rows of a tile are SCAN_ITEMS neighbours. */
template <class Op>
static __global__ void
__launch_bounds__(SCAN_THREADS, 3) scan_tiles(ScanColumn column, const ScanPartial<Op> *partials)
{
	SHARED(ScanStorage<Op>, shared);
	const typename Op::Value *values = (const typename Op::Value *) column.values;
	ScanRange range = block_range(column.nrows);
	typename Op::State before = partials[blockIdx.x].state;

	for (uint64_t tile = range.start; tile < range.end; tile += SCAN_TILE)
	{
		uint64_t row = tile + threadIdx.x * SCAN_ITEMS;
		int nrows = row < range.end
						? (int) (range.end - row < SCAN_ITEMS ? range.end - row : SCAN_ITEMS)
						: 0;
		uint64_t valid = ~(uint64_t) 0;
		typename Op::Value v[SCAN_ITEMS];
		typename Op::State state = Op::identity();
		typename Op::State total;

		if (nrows > 0 && column.validity != nullptr)
			valid = column.validity[row / 64] >> (row % 64);
		UNROLL
		for (int i = 0; i < SCAN_ITEMS; i++)
		{
			v[i] = 0;
			if (i < nrows)
				v[i] = values[row + i];
			if (i < nrows && (valid >> i & 1))
				state = Op::combine(state, Op::from_value(v[i], column.window));
		}

		state = BlockScan<Op, SCAN_THREADS>::exclusive(state, shared.scan, &total);
		state = Op::combine(before, state);
		before = Op::combine(before, total);

		UNROLL
		for (int i = 0; i < SCAN_ITEMS; i++)
			if (i < nrows)
			{
				if (column.exclusive)
					Op::emit(state, column, row + i);
				if (valid >> i & 1)
					state = Op::combine(state, Op::from_value(v[i], column.window));
				if (!column.exclusive)
					Op::emit(state, column, row + i);
			}
	}
}

template <class Op>
static GpuaggReason
scan_column(const ScanColumn &column, const GpuScanState *in, GpuScanState *out, void *scratch,
			GpuStreamRef stream)
{
	ScanPartial<Op> *partials = (ScanPartial<Op> *) scratch;
	uint64_t tiles = divide_up(column.nrows, SCAN_TILE);
	unsigned blocks = resident_blocks(scan_tiles<Op>, SCAN_THREADS);

	if (blocks > SCAN_MAX_BLOCKS)
		blocks = SCAN_MAX_BLOCKS;
	if (blocks > tiles)
		blocks = (unsigned) tiles;

	LAUNCH(scan_ranges<Op>, blocks, SCAN_THREADS, stream, column, partials);
	LAUNCH(scan_partials<Op>, 1, SCAN_THREADS, stream, partials, blocks, column.window, in, out);
	LAUNCH(scan_tiles<Op>, blocks, SCAN_THREADS, stream, column, partials);
	return gpu_launch_status();
}

size_t
gpu_scan_scratch(uint64_t nrows)
{
	uint64_t tiles = divide_up(nrows, SCAN_TILE);
	uint64_t blocks = tiles < SCAN_MAX_BLOCKS ? tiles : SCAN_MAX_BLOCKS;

	return blocks * sizeof(ScanPartial<FloatScan>);
}

GpuaggReason
gpu_scan(const GpuScan *scan, GpuStreamRef stream)
{
	ScanColumn column;

	if (scan->nrows == 0 || scan->nrows > (uint64_t) GPUAGG_MAX_ROWS || scan->window < 0 ||
		scan->window >= GPUAGG_CHUNKS || scan->op != GPUAGG_SUM || scan->heads != nullptr ||
		(scan->flags & GPUAGG_SCAN_NARROW) || scan->state_in == nullptr ||
		scan->status == nullptr || scan->state_out == nullptr)
		return GPUAGG_REFUSED;
	column.values = scan->values;
	column.validity = scan->validity;
	column.nrows = scan->nrows;
	column.window = scan->window;
	column.exclusive = scan->flags & GPUAGG_SCAN_EXCLUSIVE;
	column.results = scan->results;
	column.status = scan->status;

	switch (scan->kind)
	{
		case GPUAGG_INT32:
			return scan_column<IntegerScan<int32_t>>(column, scan->state_in, scan->state_out,
													 scan->scratch, stream);
		case GPUAGG_INT64:
			return scan_column<IntegerScan<int64_t>>(column, scan->state_in, scan->state_out,
													 scan->scratch, stream);
		case GPUAGG_FLOAT64:
			return scan_column<FloatScan>(column, scan->state_in, scan->state_out, scan->scratch,
										  stream);
		default:
			return GPUAGG_REFUSED;
	}
}
