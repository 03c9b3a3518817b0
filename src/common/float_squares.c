/*
 * float_squares.c
 *	  Exact sum of the squares of an array of doubles on the CPU.
 *
 * x^2 = hi + lo without error, where hi is x^2 rounded and lo the rest, if neither leaves
 * the range: for |x| >= 2^-485 x is a multiple of 2^-537, and so lo one of 2^-1074.  The
 * halves are summed like doubles (float_fold.c), in accumulators of their own, which are
 * shifted to the unit of squares at the end.  A piece that holds any other value is
 * deposited value by value.
 */
#include "common/float_squares.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#ifdef __FAST_MATH__
#error "exact sums need strict floating-point arithmetic"
#endif

#define PIECE		2048 /* values that are split together */
#define LANES		4
#define SPLAT(x)	((Vec){(x), (x), (x), (x)})
#define LEAST		0x1p-485
#define BOUND		0x1p511
#define UNIT_CHUNKS (1074 / 32) /* from the unit of squares to that of sums */
#define UNIT_BITS	(1074 % 32)

typedef double Vec __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t Mask __attribute__((vector_size(LANES * sizeof(int64_t))));

void
gpuagg_float_squares_merge_chunks(int64_t *into, const int64_t *from)
{
	int64_t carry = 0;

	for (int i = 0; i < GPUAGG_SQUARE_CHUNKS; i++)
	{
		int64_t sum = into[i] + from[i] + carry;

		if (i == GPUAGG_SQUARE_CHUNKS - 1)
			into[i] = sum;
		else
		{
			into[i] = sum & UINT32_MAX;
			carry = sum >> 32;
		}
	}
}

/*
 * Adds sums of halves.  Their chunks are digits below 2^31.  The top chunk, which holds
 * bits above 2^1038, is far below that: there are n <= 2^30 halves below 2^1022.
 */
static void
add_halves(GpuaggFloatSum *acc, GpuaggFloatSumFull *halves)
{
	gpuagg_float_sum_propagate(gpuagg_float_sum_of(halves));
	gpuagg_float_sum_propagate(acc);
	for (int i = 0; i < GPUAGG_CHUNKS; i++)
		acc->chunk[i + UNIT_CHUNKS] += halves->chunk[i] * (INT64_C(1) << UNIT_BITS);
	gpuagg_float_sum_propagate(acc);
}

static void
deposit_each(GpuaggFloatSum *acc, const double *x, int n)
{
	for (int i = 0; i < n; i++)
		(void) gpuagg_float_squares_deposit(acc, x[i], 1); /* a full window takes all */
}

/* x^2 - hi by Dekker's and Veltkamp's splitting: every step is exact. */
static inline __attribute__((always_inline)) void
rest_by_parts(const Vec *x, const Vec *hi, Vec *lo)
{
	Vec c = *x * SPLAT(0x1p27 + 1);
	Vec top = c - (c - *x);
	Vec low = *x - top;

	*lo = ((top * top - *hi) + (top + top) * low) + low * low;
}

/*
 * Splits the squares of n values, a multiple of LANES, into halves.  Returns 0, with
 * undefined halves, if one of them cannot be split.
 */
#define DEFINE_SPLIT(name, target, rest)                                                 \
	static target int name(const double *x, int n, double *hi, double *lo)               \
	{                                                                                    \
		Mask sign = (Mask) SPLAT(-0.0);                                                  \
		Mask bad = {0};                                                                  \
                                                                                         \
		for (int i = 0; i < n; i += LANES)                                               \
		{                                                                                \
			Vec value;                                                                   \
			Vec magnitude;                                                               \
			Vec high;                                                                    \
			Vec low;                                                                     \
                                                                                         \
			memcpy(&value, x + i, sizeof(value));                                        \
			magnitude = (Vec) ((Mask) value & ~sign);                                    \
			bad |= ~(Mask) (magnitude < SPLAT(BOUND));                                   \
			bad |= (Mask) (magnitude < SPLAT(LEAST)) & (Mask) (magnitude != SPLAT(0.0)); \
			high = value * value;                                                        \
			rest(&value, &high, &low);                                                   \
			memcpy(hi + i, &high, sizeof(high));                                         \
			memcpy(lo + i, &low, sizeof(low));                                           \
		}                                                                                \
		return !(bad[0] | bad[1] | bad[2] | bad[3]);                                     \
	}

DEFINE_SPLIT(split, , rest_by_parts)

#if defined(__x86_64__)
static inline __attribute__((always_inline, target("avx2,fma"))) void
rest_fused(const Vec *x, const Vec *hi, Vec *lo)
{
	*lo = (Vec) _mm256_fmsub_pd((__m256d) *x, (__m256d) *x, (__m256d) *hi);
}

DEFINE_SPLIT(split_fused, __attribute__((target("avx2,fma"))), rest_fused)
#endif

void
gpuagg_float_squares_deposit_array(GpuaggFloatSquaresFull *full, const double *x, int64_t n)
{
	GpuaggFloatSum *acc = gpuagg_float_squares_of(full);
	GpuaggFloatSumFull halves;
	double hi[PIECE];
	double lo[PIECE];
	int (*split_piece)(const double *, int, double *, double *) = split;

#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		split_piece = split_fused;
#endif
	gpuagg_float_sum_init(gpuagg_float_sum_of(&halves), 0, GPUAGG_CHUNKS);
	for (int64_t done = 0; done < n; done += PIECE)
	{
		int rows = (int) (n - done < PIECE ? n - done : PIECE);
		int whole = rows / LANES * LANES;

		if (split_piece(x + done, whole, hi, lo))
		{
			gpuagg_float_sum_deposit_array(&halves, hi, whole);
			gpuagg_float_sum_deposit_array(&halves, lo, whole);
			deposit_each(acc, x + done + whole, rows - whole);
		}
		else
			deposit_each(acc, x + done, rows);
	}
	add_halves(acc, &halves);
}

void
gpuagg_float_squares_deposit_floats(GpuaggFloatSquaresFull *full, const float *x, int64_t n)
{
	GpuaggFloatSumFull halves;
	double square[PIECE];

	gpuagg_float_sum_init(gpuagg_float_sum_of(&halves), 0, GPUAGG_CHUNKS);
	for (int64_t done = 0; done < n; done += PIECE)
	{
		int rows = (int) (n - done < PIECE ? n - done : PIECE);

		for (int i = 0; i < rows; i++)
			square[i] = (double) x[done + i] * x[done + i];
		gpuagg_float_sum_deposit_array(&halves, square, rows);
	}
	add_halves(gpuagg_float_squares_of(full), &halves);
}
