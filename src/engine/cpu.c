/*
 * cpu.c
 *	  The CPU engine: reductions.
 *
 * Each kind and operation has a function over values that are not NULL.  With a
 * bitmap, the valid values of each block are first copied together.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "common/float_squares.h"
#include "common/int192.h"
#include "common/reduced.h"
#include "engine/cpu.h"

#define PIECE_ROWS	65536 /* rows between checks for interrupts */
#define BLOCK_ROWS	512	  /* rows that are compacted or widened at a time */
#define SPARSE_BITS 12	  /* of 64, at most: looked for one by one */

/* Adds nrows values, at most PIECE_ROWS; the caller sets total->n. */
typedef void (*ReduceFunction)(const void *values, int64 nrows, GpuaggReduced *total);

/* ---- sums ---- */

/* Four values, and their lanes of 64 bits. */
typedef int32 FourNarrow __attribute__((vector_size(16)));
typedef uint64 Four __attribute__((vector_size(32)));

/*
 * What sums of four lanes are kept as: those of int32, or of the halves of int64 apart, as
 * vectors have no carries: a value is 2^32 * high + low, and 2^64 less if it is negative.  A
 * piece has at most 2^16 rows, so its int32 values sum within 2^47 and halves below 2^48.
 */
typedef struct LaneSums
{
	Four low;
	Four high;
	Four negative;
} LaneSums;

/* Adds four values, those of the lanes in the mask. */
static pg_attribute_always_inline void
add_four(GpuaggKind kind, LaneSums *sums, const void *values, int64 i, const Four *mask)
{
	FourNarrow narrow;
	Four four;

	if (kind == GPUAGG_INT32)
	{
		memcpy(&narrow, (const int32 *) values + i, sizeof(narrow));
		sums->low += __builtin_convertvector(narrow, Four) & *mask;
		return;
	}
	memcpy(&four, (const int64 *) values + i, sizeof(four));
	four &= *mask;
	sums->low += four & UINT32_MAX;
	sums->high += four >> 32;
	sums->negative += four >> 63;
}

/* validity: NULL, or which values count. */
static pg_attribute_always_inline __int128
sum_loop(GpuaggKind kind, const void *values, const uint64 *validity, int64 nrows)
{
	const Four every = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	LaneSums sums = {0};
	__int128 sum = 0;
	int64 i = 0;

	if (validity == NULL)
		for (; i + 4 <= nrows; i += 4)
			add_four(kind, &sums, values, i, &every);
	else
		for (; i + 64 <= nrows; i += 64)
		{
			uint64 bits = validity[i / 64];
			Four all = {bits, bits, bits, bits};
			Four one = {1, 2, 4, 8};

			if (bits == 0)
				continue;
			for (int j = 0; j < 64; j += 4, one <<= 4)
			{
				Four mask = (Four) ((all & one) == one);

				add_four(kind, &sums, values, i + j, &mask);
			}
		}
	for (int lane = 0; lane < 4; lane++)
		sum += (int64) sums.low[lane] + ((__int128) sums.high[lane] << 32) -
			   ((__int128) sums.negative[lane] << 64);
	for (; i < nrows; i++)
		if (validity == NULL || gpuagg_bit(validity, i))
			sum += kind == GPUAGG_INT64 ? ((const int64 *) values)[i] : ((const int32 *) values)[i];
	return sum;
}

static pg_attribute_always_inline __int128
sum_all(GpuaggKind kind, const void *values, const uint64 *validity, int64 nrows)
{
	if (kind == GPUAGG_INT32)
		return validity == NULL ? sum_loop(GPUAGG_INT32, values, NULL, nrows)
								: sum_loop(GPUAGG_INT32, values, validity, nrows);
	return validity == NULL ? sum_loop(GPUAGG_INT64, values, NULL, nrows)
							: sum_loop(GPUAGG_INT64, values, validity, nrows);
}

#if defined(__x86_64__)
static __attribute__((target("avx2"))) __int128
sum_all_avx2(GpuaggKind kind, const void *values, const uint64 *validity, int64 nrows)
{
	return sum_all(kind, values, validity, nrows);
}
#endif

static void
add_integers(GpuaggKind kind, const void *values, const uint64 *validity, int64 nrows,
			 GpuaggReduced *total)
{
	__int128 sum;

#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		sum = sum_all_avx2(kind, values, validity, nrows);
	else
#endif
		sum = sum_all(kind, values, validity, nrows);
	total->sum = gpuagg_int128_add(total->sum, gpuagg_int128_narrow(sum));
}

static void
sum_int32(const void *values, int64 nrows, GpuaggReduced *total)
{
	add_integers(GPUAGG_INT32, values, NULL, nrows, total);
}

static void
sum_int64(const void *values, int64 nrows, GpuaggReduced *total)
{
	add_integers(GPUAGG_INT64, values, NULL, nrows, total);
}

static void
sum_float64(const void *values, int64 nrows, GpuaggReduced *total)
{
	gpuagg_float_sum_deposit_array(&total->f, values, nrows);
}

static void
sum_float32(const void *values, int64 nrows, GpuaggReduced *total)
{
	double wide[BLOCK_ROWS];

	for (int64 done = 0; done < nrows; done += BLOCK_ROWS)
	{
		const float *block = (const float *) values + done;
		int64 n = Min(nrows - done, BLOCK_ROWS);

		for (int64 i = 0; i < n; i++)
			wide[i] = block[i];
		gpuagg_float_sum_deposit_array(&total->f, wide, n);
	}
}

/* ---- moments: sums, and sums of squares ---- */

/*
 * A square of int32 is at most 2^62 and a piece has at most 2^16 rows, so its sum
 * of squares stays below 2^79 and its sum within 2^47.
 */
static void
moments_int32(const void *values, int64 nrows, GpuaggReduced *total)
{
	unsigned __int128 squares = 0;
	uint64 words[GPUAGG_INT192_WORDS] = {0};
	int64 sum = 0;

	for (int64 i = 0; i < nrows; i++)
	{
		int64 v = ((const int32 *) values)[i];

		sum += v;
		squares += (uint64) (v * v);
	}
	words[0] = (uint64) squares;
	words[1] = (uint64) (squares >> 64);
	gpuagg_int192_add(total->squares, words);
	total->sum = gpuagg_int128_add(total->sum, gpuagg_int128_from(sum));
}

static void
moments_int64(const void *values, int64 nrows, GpuaggReduced *total)
{
	unsigned __int128 low = 0;
	uint64 words[GPUAGG_INT192_WORDS] = {0};

	for (int64 i = 0; i < nrows; i++)
	{
		unsigned __int128 square = gpuagg_square(((const int64 *) values)[i]);

		low += square;
		words[2] += low < square;
	}
	words[0] = (uint64) low;
	words[1] = (uint64) (low >> 64);
	gpuagg_int192_add(total->squares, words);
	sum_int64(values, nrows, total);
}

static void
moments_float64(const void *values, int64 nrows, GpuaggReduced *total)
{
	GpuaggFloatSquaresFull squares;

	sum_float64(values, nrows, total);
	gpuagg_float_sum_init(gpuagg_float_squares_of(&squares), 0, GPUAGG_SQUARE_CHUNKS);
	gpuagg_float_squares_deposit_array(&squares, values, nrows);
	gpuagg_float_squares_merge_chunks(total->f_squares, squares.chunk);
}

static void
moments_float32(const void *values, int64 nrows, GpuaggReduced *total)
{
	GpuaggFloatSquaresFull squares;

	sum_float32(values, nrows, total);
	gpuagg_float_sum_init(gpuagg_float_squares_of(&squares), 0, GPUAGG_SQUARE_CHUNKS);
	gpuagg_float_squares_deposit_floats(&squares, values, nrows);
	gpuagg_float_squares_merge_chunks(total->f_squares, squares.chunk);
}

/* ---- minima and maxima ---- */

static pg_attribute_always_inline void
extreme(GpuaggKind kind, bool least, const void *values, int64 nrows, GpuaggReduced *total)
{
	int64 best = least ? gpuagg_greatest_key(kind) : gpuagg_least_key(kind);

	if (total->n > 0)
		best = (int64) total->sum.lo;
	for (int64 i = 0; i < nrows; i++)
	{
		int64 key = gpuagg_key_at(kind, values, i);

		best = least ? Min(best, key) : Max(best, key);
	}
	total->sum = gpuagg_int128_from(best);
}

#define DEFINE_EXTREMES(name, kind)                                               \
	static void min_##name(const void *values, int64 nrows, GpuaggReduced *total) \
	{                                                                             \
		extreme(kind, true, values, nrows, total);                                \
	}                                                                             \
                                                                                  \
	static void max_##name(const void *values, int64 nrows, GpuaggReduced *total) \
	{                                                                             \
		extreme(kind, false, values, nrows, total);                               \
	}

DEFINE_EXTREMES(int32, GPUAGG_INT32)
DEFINE_EXTREMES(int64, GPUAGG_INT64)
DEFINE_EXTREMES(float32, GPUAGG_FLOAT32)
DEFINE_EXTREMES(float64, GPUAGG_FLOAT64)

/* ---- all of them ---- */

static const ReduceFunction reduce_functions[][GPUAGG_MOMENTS + 1] = {
	[GPUAGG_INT32] = {[GPUAGG_SUM] = sum_int32,
					  [GPUAGG_MIN] = min_int32,
					  [GPUAGG_MAX] = max_int32,
					  [GPUAGG_MOMENTS] = moments_int32},
	[GPUAGG_INT64] = {[GPUAGG_SUM] = sum_int64,
					  [GPUAGG_MIN] = min_int64,
					  [GPUAGG_MAX] = max_int64,
					  [GPUAGG_MOMENTS] = moments_int64},
	[GPUAGG_FLOAT32] = {[GPUAGG_SUM] = sum_float32,
						[GPUAGG_MIN] = min_float32,
						[GPUAGG_MAX] = max_float32,
						[GPUAGG_MOMENTS] = moments_float32},
	[GPUAGG_FLOAT64] = {[GPUAGG_SUM] = sum_float64,
						[GPUAGG_MIN] = min_float64,
						[GPUAGG_MAX] = max_float64,
						[GPUAGG_MOMENTS] = moments_float64},
};

/*
 * Copies the values whose bit is 1 to `block`, which has room for all; returns how many.
 * first is a multiple of 64.  Where a word has many bits, each value is written and only
 * counted if its bit is 1, as a branch would often be guessed wrong.
 */
static pg_attribute_always_inline int64
compact_width(Size width, const char *values, const uint64 *validity, int64 first, int64 nrows,
			  char *block)
{
	int64 n = 0;

	for (int64 at = first; at < first + nrows; at += 64)
	{
		uint64 bits = validity[at / 64];
		int64 left = Min(first + nrows - at, 64);

		if (left < 64)
			bits &= (UINT64CONST(1) << left) - 1;
		if (pg_popcount64(bits) <= SPARSE_BITS)
			for (; bits != 0; bits &= bits - 1)
				memcpy(block + width * n++, values + width * (at + pg_rightmost_one_pos64(bits)),
					   width);
		else
			for (int64 i = 0; i < left; i++)
			{
				memcpy(block + width * n, values + width * (at + i), width);
				n += bits >> i & 1;
			}
	}
	return n;
}

static int64
compact(Size width, const char *values, const uint64 *validity, int64 first, int64 nrows,
		char *block)
{
	if (width == sizeof(int32))
		return compact_width(sizeof(int32), values, validity, first, nrows, block);
	Assert(width == sizeof(int64));
	return compact_width(sizeof(int64), values, validity, first, nrows, block);
}

static int64
count_bits(const uint64 *bitmap, int64 nrows)
{
	int64 n = 0;

	for (int64 i = 0; i + 64 <= nrows; i += 64)
		n += pg_popcount64(bitmap[i / 64]);
	if (nrows % 64 != 0)
		n += pg_popcount64(bitmap[nrows / 64] & ((UINT64CONST(1) << (nrows % 64)) - 1));
	return n;
}

void
gpuagg_cpu_reduce(GpuaggKind kind, GpuaggOp op, const void *values, const uint64 *validity,
				  int64 nrows, GpuaggReduced *total)
{
	Size width = gpuagg_kind_size(kind);
	bool integers = op == GPUAGG_SUM && !gpuagg_kind_is_float(kind);
	int64 step = validity == NULL || integers ? PIECE_ROWS : BLOCK_ROWS;
	int64 block[BLOCK_ROWS]; /* room for values of any kind */

	if (op == GPUAGG_COUNT || integers)
		total->n += validity == NULL ? nrows : count_bits(validity, nrows);
	if (op == GPUAGG_COUNT)
		return;
	Assert(reduce_functions[kind][op] != NULL);

	for (int64 done = 0; done < nrows; done += step)
	{
		const char *piece = (const char *) values + done * width;
		int64 n = Min(nrows - done, step);

		if (done % PIECE_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		if (integers)
		{
			add_integers(kind, piece, validity == NULL ? NULL : validity + done / 64, n, total);
			continue;
		}
		if (validity != NULL)
		{
			n = compact(width, values, validity, done, n, (char *) block);
			piece = (char *) block;
		}
		if (n == 0)
			continue;
		reduce_functions[kind][op](piece, n, total);
		total->n += n;
	}
}
