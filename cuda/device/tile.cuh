/*
 * tile.cuh
 *	  Tiles of a column: to and from shared memory.
 *
 * A tile is THREADS * VECTORS vectors of 16 bytes in row order.  VECTORS is
 * odd, so that lane t reads its own vectors, from t * VECTORS on, without bank
 * conflicts.  Whole tiles at addresses divisible by 16 are moved by bulk copies,
 * others by threads.
 */
#ifndef GPUAGG_TILE_CUH
#define GPUAGG_TILE_CUH

#include "device/grid.cuh"

#define NO_TILE UINT32_MAX

static __device__ __forceinline__ bool
aligned16(const void *p)
{
	return (uintptr_t) p % 16 == 0;
}

/* `threads` threads, numbered from 0: n values into a tile of ROWS, then `absent`. */
template <int ROWS, class T>
static __device__ __forceinline__ void
tile_load(T *tile, const T *values, int n, T absent, int thread = (int) threadIdx.x,
		  int threads = (int) blockDim.x)
{
	constexpr int AT_ONCE = 8;

	for (int i = thread; i < ROWS; i += AT_ONCE * threads)
	{
		T value[AT_ONCE];

		UNROLL
		for (int k = 0; k < AT_ONCE; k++)
			value[k] = i + k * threads < n ? values[i + k * threads] : absent;
		UNROLL
		for (int k = 0; k < AT_ONCE; k++)
			if (i + k * threads < ROWS)
				tile[i + k * threads] = value[k];
	}
}

/* All threads: rows of a column, as far as it has them, into the second-level cache. */
template <class T>
static __device__ __forceinline__ void
tile_prefetch(const T *values, uint64_t row, int rows, uint64_t nrows)
{
	constexpr uint64_t LINE = 128 / sizeof(T);

	for (uint64_t i = row + threadIdx.x * LINE; i < row + (unsigned) rows && i < nrows;
		 i += blockDim.x * LINE)
		prefetch_l2(&values[i]);
}

/*
 * `threads` threads, numbered from 0: bytes from shared memory to an address; all
 * three are divisible by 4.  With `bulk`, from and to are equal modulo 16, and what
 * is between addresses divisible by 16 goes by a bulk copy that thread 0 starts.
 */
static __device__ __forceinline__ void
tile_store(char *to, const char *from, uint32_t bytes, bool bulk, unsigned thread = threadIdx.x,
		   unsigned threads = blockDim.x)
{
	uint32_t head = bulk ? (0 - (uint32_t) (uintptr_t) to) % 16 : bytes;

	if (head > bytes)
		head = bytes;

	uint32_t body = (bytes - head) / 16 * 16;

	for (uint32_t at = thread * 4; at < bytes - body; at += threads * 4)
	{
		uint32_t place = at < head ? at : at + body;

		*(uint32_t *) (to + place) = *(const uint32_t *) (from + place);
	}
	if (thread == 0 && body > 0)
		copy_out(to + head, from + head, body);
}

/* Which of count (up to 31) rows from row on the column has, as bits. */
static __device__ __forceinline__ uint32_t
tile_rows(uint64_t row, int count, uint64_t nrows)
{
	uint64_t left = row < nrows ? nrows - row : 0;

	return ((uint32_t) 1 << (left < (unsigned) count ? left : (unsigned) count)) - 1;
}

/*
 * The bits of a bitmap for count (up to 31) rows from row on; 0 for rows that the
 * column does not have.  No word after that of the last row is read.  Without a
 * branch, so that many such loads are in flight at once.
 */
static __device__ __forceinline__ uint32_t
tile_bits(const uint64_t *bitmap, uint64_t row, int count, uint64_t nrows)
{
	const uint32_t *halves = (const uint32_t *) bitmap;
	uint64_t last = nrows > 0 ? (nrows - 1) / 32 : 0;
	uint64_t low = row / 32;
	uint64_t high = (row + (unsigned) count - 1) / 32;
	uint64_t bits;

	low = low < last ? low : last;
	high = high < last ? high : last;
	bits = nrows > 0 ? halves[low] | (uint64_t) halves[high] << 32 : 0;
	return (uint32_t) (bits >> row % 32) & tile_rows(row, count, nrows);
}

#endif /* GPUAGG_TILE_CUH */
