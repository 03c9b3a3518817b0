/*
 * reduce.cu
 *	  Sums of a column: integers into 128 bits, doubles into exact chunks.
 *
 * One kernel: threads sum what they meet, warps by shuffles, blocks in shared
 * memory; blocks add to totals in scratch by integer atomics, which no order
 * can change; the last block writes the result.
 *
 * Integers: a value is high * 2^32 + low with low in [0, 2^32); 2^31 rows keep
 * both sums below 2^63.
 */
#include "device.cuh"

#include "block.cuh"
#include "chunks.cuh"
#include "grid.cuh"

#define REDUCE_THREADS 256
#define REDUCE_WARPS   (REDUCE_THREADS / WARP_SIZE)
#define REDUCE_ROWS	   2048 /* a block is started for so many rows */

/* In scratch, zero at the start. */
struct ReduceTotals
{
	uint32_t ticket;
	uint32_t unused;
	uint64_t low;
	uint64_t high;
	uint64_t nan;
	uint64_t pinf;
	uint64_t ninf;
	uint64_t negzero;
	uint64_t chunk[GPUAGG_CHUNKS];
};

static __device__ __forceinline__ int64_t
low_part(int32_t v)
{
	return v;
}

static __device__ __forceinline__ int64_t
high_part(int32_t)
{
	return 0;
}

static __device__ __forceinline__ int64_t
low_part(int64_t v)
{
	return (int64_t) (uint32_t) v;
}

static __device__ __forceinline__ int64_t
high_part(int64_t v)
{
	return v >> 32;
}

/* An accumulator with all of its fields set, but for the chunks and counts. */
static __device__ inline void
empty_float_sum(GpuaggReduced *result)
{
	GpuaggFloatSumFull *f = &result->f;

	for (int i = 0; i < 3; i++)
		result->squares[i] = 0;
	for (int i = 0; i < GPUAGG_SQUARE_CHUNKS; i++)
		result->f_squares[i] = 0;
	f->counts.n = 0;
	f->counts.n_nan = 0;
	f->counts.n_pinf = 0;
	f->counts.n_ninf = 0;
	f->counts.n_negzero = 0;
	f->deposits = 0;
	f->base = 0;
	f->width = GPUAGG_CHUNKS;
}

struct IntegerStorage
{
	int64_t warp[REDUCE_WARPS];
};

template <class T>
static __global__ void
__launch_bounds__(REDUCE_THREADS, 2)
	reduce_integers(const T *values, uint64_t n, ReduceTotals *totals, GpuaggReduced *result)
{
	SHARED(IntegerStorage, shared);
	int64_t low = 0;
	int64_t high = 0;

	grid_for_each(values, n, [&](T v) {
		low += low_part(v);
		high += high_part(v);
	});
	low = block_sum<int64_t, REDUCE_THREADS>(low, shared.warp);
	high = block_sum<int64_t, REDUCE_THREADS>(high, shared.warp);
	if (threadIdx.x == 0)
	{
		atomic_add(&totals->low, (uint64_t) low);
		atomic_add(&totals->high, (uint64_t) high);
	}
	if (last_block(&totals->ticket))
	{
		for (int i = (int) threadIdx.x; i < GPUAGG_CHUNKS; i += REDUCE_THREADS)
			result->f.chunk[i] = 0;
		if (threadIdx.x == 0)
		{
			int64_t total_high = (int64_t) load_relaxed(&totals->high);
			GpuaggInt128 shifted;

			shifted.lo = (uint64_t) total_high << 32;
			shifted.hi = total_high >> 32;
			result->n = n;
			result->sum =
				gpuagg_int128_add(gpuagg_int128_from((int64_t) load_relaxed(&totals->low)),
								  shifted);
			empty_float_sum(result);
		}
	}
}

/* Values that have no place in chunks, by kind. */
struct OddCounts
{
	uint64_t nan;
	uint64_t pinf;
	uint64_t ninf;
	uint64_t negzero;

	__device__ __forceinline__ void operator+=(const OddCounts &other)
	{
		nan += other.nan;
		pinf += other.pinf;
		ninf += other.ninf;
		negzero += other.negzero;
	}
};

struct FloatStorage
{
	int64_t chunk[GPUAGG_CHUNKS];
	OddCounts warp[REDUCE_WARPS];
	int warp_first[REDUCE_WARPS];
};

static __global__ void
__launch_bounds__(REDUCE_THREADS, 2)
	reduce_floats(const double *values, uint64_t n, ReduceTotals *totals, GpuaggReduced *result)
{
	SHARED(FloatStorage, shared);
	uint64_t thread = (uint64_t) blockIdx.x * REDUCE_THREADS + threadIdx.x;
	HeldChunks chunks;
	OddCounts odd = {0, 0, 0, 0};
	int first = 0;

	for (int i = (int) threadIdx.x; i < GPUAGG_CHUNKS; i += REDUCE_THREADS)
		shared.chunk[i] = 0;

	/* the largest of one value per thread says where the block's chunks start */
	if (thread < n && bits_finite(bits_of(values[thread])))
		first = chunk_of(decode(bits_of(values[thread])));
	chunks.start(block_max<REDUCE_THREADS>(first, shared.warp_first));

	grid_for_each(values, n, [&](double v) {
		uint64_t bits = bits_of(v);

		if (bits_finite(bits))
		{
			odd.negzero += bits == SIGN_BIT;
			chunks.deposit(bits, shared.chunk);
		}
		else if (bits_nan(bits))
			odd.nan++;
		else if (bits >> 63)
			odd.ninf++;
		else
			odd.pinf++;
	});
	__syncwarp(FULL_MASK);
	chunks.flush_warp(shared.chunk);
	odd = block_sum<OddCounts, REDUCE_THREADS>(odd, shared.warp);
	if (threadIdx.x == 0)
	{
		atomic_add(&totals->nan, odd.nan);
		atomic_add(&totals->pinf, odd.pinf);
		atomic_add(&totals->ninf, odd.ninf);
		atomic_add(&totals->negzero, odd.negzero);
	}
	for (int i = (int) threadIdx.x; i < GPUAGG_CHUNKS; i += REDUCE_THREADS)
		if (shared.chunk[i] != 0)
			atomic_add(&totals->chunk[i], (uint64_t) shared.chunk[i]);
	if (last_block(&totals->ticket))
	{
		for (int i = (int) threadIdx.x; i < GPUAGG_CHUNKS; i += REDUCE_THREADS)
			shared.chunk[i] = (int64_t) load_relaxed(&totals->chunk[i]);
		__syncthreads();
		if (threadIdx.x == 0)
		{
			chunks_propagate(shared.chunk);
			result->n = n;
			result->sum = gpuagg_int128_from(0);
			empty_float_sum(result);
			result->f.counts.n = (int64_t) n;
			result->f.counts.n_nan = (int64_t) load_relaxed(&totals->nan);
			result->f.counts.n_pinf = (int64_t) load_relaxed(&totals->pinf);
			result->f.counts.n_ninf = (int64_t) load_relaxed(&totals->ninf);
			result->f.counts.n_negzero = (int64_t) load_relaxed(&totals->negzero);
		}
		__syncthreads();
		for (int i = (int) threadIdx.x; i < GPUAGG_CHUNKS; i += REDUCE_THREADS)
			result->f.chunk[i] = shared.chunk[i];
	}
}

template <class Kernel>
static unsigned
reduce_blocks(Kernel kernel, uint64_t nrows)
{
	uint64_t wanted = divide_up(nrows, REDUCE_ROWS);
	unsigned limit = resident_blocks(kernel, REDUCE_THREADS);

	return wanted < limit ? (unsigned) wanted : limit;
}

size_t
gpu_reduce_scratch(void)
{
	return sizeof(ReduceTotals);
}

GpuaggReason
gpu_reduce(const GpuReduce *reduce, GpuStreamRef stream)
{
	ReduceTotals *totals = (ReduceTotals *) reduce->scratch;
	const void *values = reduce->values;
	uint64_t nrows = reduce->nrows;
	GpuaggReduced *result = reduce->result;
	GpuaggReason reason;

	if (nrows == 0 || nrows > (uint64_t) GPUAGG_MAX_ROWS || reduce->op != GPUAGG_SUM ||
		reduce->validity != nullptr)
		return GPUAGG_REFUSED;
	reason = gpu_memset(totals, 0, sizeof(ReduceTotals), stream);
	if (reason != GPUAGG_OK)
		return reason;

	if (reduce->kind == GPUAGG_INT32)
		LAUNCH(reduce_integers<int32_t>, reduce_blocks(reduce_integers<int32_t>, nrows),
			   REDUCE_THREADS, stream, (const int32_t *) values, nrows, totals, result);
	else if (reduce->kind == GPUAGG_INT64)
		LAUNCH(reduce_integers<int64_t>, reduce_blocks(reduce_integers<int64_t>, nrows),
			   REDUCE_THREADS, stream, (const int64_t *) values, nrows, totals, result);
	else if (reduce->kind == GPUAGG_FLOAT64)
		LAUNCH(reduce_floats, reduce_blocks(reduce_floats, nrows), REDUCE_THREADS, stream,
			   (const double *) values, nrows, totals, result);
	else
		return GPUAGG_REFUSED;
	return gpu_launch_status();
}
