/*
 * float_fold.c
 *	  Exact sum of an array of doubles on the CPU, several at a time.
 *
 * The method is that of pre-rounded bins (Demmel and Nguyen, "Parallel
 * reproducible summation").  Let every |v| be below 2^E.  Fold f adds v to an
 * accumulator that started at 1.5 * 2^(52 + g_f), where g_f = E - 40 (f + 1).  This
 * rounds v to a multiple of 2^g_f, without error in the accumulator; the rest of v goes
 * to the next fold.  A fold takes 2^(51 - 40) = 2048 values before its accumulator could
 * leave its binade.  If nothing is left after the last fold, the accumulators hold the
 * sum exactly.
 *
 * If something is left in a block, or it holds a NaN, an infinity or a value of 2^E or
 * more, it is undone and tried again with an E chosen from it.  If that fails too, it is
 * deposited value by value: one such value costs one block.
 *
 * Contraction to fused multiply-add must be off, and fast-math is an error.
 */
#include "common/float_sum.h"

#include <math.h>

#ifdef __FAST_MATH__
#error "exact sums need strict floating-point arithmetic"
#endif

#define FOLDS		  3
#define FOLD_BITS	  40
#define FOLD_CAPACITY (1 << (51 - FOLD_BITS)) /* values per lane between flushes */
#define LANES		  4						  /* doubles in a vector */
#define VECTORS		  2						  /* vectors in flight */
#define STEP		  (LANES * VECTORS)
#define BLOCK		  512 /* values that are undone together */
#define PADDED		  64  /* a last block of so many values or more is filled up with zeros */
#define SPLAT(x)	  ((Vec){(x), (x), (x), (x)})
#define MAX_E		  1010 /* 1.5 * 2^(52 + E - 40) must be finite */

typedef double Vec __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t Mask __attribute__((vector_size(LANES * sizeof(int64_t))));

typedef struct Folds
{
	Vec acc[VECTORS][FOLDS];
	Vec start[FOLDS];
	double bound; /* 2^E; 0: no value may be folded */
	int deposits; /* per lane since the last flush */
} Folds;

static double
power_of_two(int e)
{
	uint64_t bits;
	double result;

	if (e >= -1022)
		bits = (uint64_t) (e + 1023) << 52;
	else
		bits = UINT64_C(1) << (e + 1074);
	memcpy(&result, &bits, sizeof(result));
	return result;
}

static void
folds_restart(Folds *folds)
{
	for (int v = 0; v < VECTORS; v++)
		for (int f = 0; f < FOLDS; f++)
			folds->acc[v][f] = folds->start[f];
	folds->deposits = 0;
}

/* Moves the folds' sums into the accumulator, without counts. */
static void
folds_flush(Folds *folds, GpuaggFloatSum *acc)
{
	GpuaggFloatCounts counts = acc->counts;

	if (folds->deposits == 0)
		return;
	for (int v = 0; v < VECTORS; v++)
		for (int f = 0; f < FOLDS; f++)
			for (int lane = 0; lane < LANES; lane++)
				(void) gpuagg_float_sum_deposit(acc, folds->acc[v][f][lane] - folds->start[f][lane],
												1);
	acc->counts = counts;
	folds_restart(folds);
}

/* Chooses E from the largest finite value of a block. */
static void
folds_choose(Folds *folds, const double *x, int n)
{
	int top = 0;

	for (int i = 0; i < n; i++)
	{
		uint64_t bits;
		int exponent;

		memcpy(&bits, &x[i], sizeof(bits));
		exponent = (int) (bits >> 52) & 0x7ff;
		if (exponent > top && exponent < 0x7ff)
			top = exponent;
	}
	top -= 1022; /* |x| < 2^top */
	if (top > MAX_E)
	{
		folds->bound = 0;
		return;
	}
	folds->bound = power_of_two(top);
	for (int f = 0; f < FOLDS; f++)
	{
		int g = top - FOLD_BITS * (f + 1);

		if (g < GPUAGG_MIN_EXPONENT)
			g = GPUAGG_MIN_EXPONENT;
		folds->start[f] = SPLAT(1.5 * power_of_two(52 + g));
	}
	folds_restart(folds);
}

/*
 * Folds BLOCK values.  Returns 0, with the folds unchanged, if some value cannot be
 * folded.  *negzero: whether there is a negative zero.
 */
static inline __attribute__((always_inline)) int
fold_block(Folds *folds, const double *x, int *negzero)
{
	Vec a[VECTORS][FOLDS];
	Vec bound = SPLAT(folds->bound);
	Mask sign = (Mask) SPLAT(-0.0);
	Mask bad = {0};
	Mask minus = {0};
	Mask any;

	memcpy(a, folds->acc, sizeof(a));
	for (int i = 0; i < BLOCK; i += STEP)
	{
#pragma GCC unroll 2
		for (int v = 0; v < VECTORS; v++)
		{
			Vec value;
			Vec magnitude;

			memcpy(&value, x + i + v * LANES, sizeof(value));
			magnitude = (Vec) ((Mask) value & ~sign);
			bad |= ~(Mask) (magnitude < bound);
			minus |= (Mask) (value == SPLAT(0.0)) & (Mask) value;
#pragma GCC unroll 3
			for (int f = 0; f < FOLDS; f++)
			{
				Vec t = a[v][f] + value;

				value = value - (t - a[v][f]);
				a[v][f] = t;
			}
			bad |= (Mask) (value != SPLAT(0.0));
		}
	}

	any = bad;
	if (any[0] | any[1] | any[2] | any[3])
		return 0;
	memcpy(folds->acc, a, sizeof(a));
	folds->deposits += BLOCK / STEP;
	*negzero = (minus[0] | minus[1] | minus[2] | minus[3]) != 0;
	return 1;
}

static void
deposit_each(GpuaggFloatSum *acc, const double *x, int n)
{
	for (int i = 0; i < n; i++)
		(void) gpuagg_float_sum_deposit(acc, x[i], 1); /* a full window takes all */
}

/*
 * Folds a block, of which the first n values count and the others are zeros; 0, with
 * nothing changed, if it cannot be folded.
 */
static inline __attribute__((always_inline)) int
take_block(Folds *folds, GpuaggFloatSum *acc, const double *x, int n)
{
	int negzero = 0;

	if (folds->bound == 0 || !fold_block(folds, x, &negzero))
		return 0;
	acc->counts.n += n;
	if (negzero)
		for (int k = 0; k < BLOCK; k++)
			acc->counts.n_negzero += x[k] == 0 && signbit(x[k]);
	if (folds->deposits + BLOCK / STEP > FOLD_CAPACITY)
		folds_flush(folds, acc);
	return 1;
}

static inline __attribute__((always_inline)) void
deposit_block(Folds *folds, GpuaggFloatSum *acc, const double *x, int n)
{
	if (take_block(folds, acc, x, n))
		return;
	folds_flush(folds, acc);
	folds_choose(folds, x, BLOCK);
	if (!take_block(folds, acc, x, n))
		deposit_each(acc, x, n);
}

static inline __attribute__((always_inline)) void
deposit_array(GpuaggFloatSum *acc, const double *x, int64_t n)
{
	Folds folds;
	int64_t i = 0;

	folds.bound = 0;
	folds.deposits = 0;
	for (; n - i >= BLOCK; i += BLOCK)
		deposit_block(&folds, acc, x + i, BLOCK);
	if (n - i >= PADDED)
	{
		double block[BLOCK] = {0};

		memcpy(block, x + i, (size_t) (n - i) * sizeof(double));
		deposit_block(&folds, acc, block, (int) (n - i));
		i = n;
	}
	folds_flush(&folds, acc);
	deposit_each(acc, x + i, (int) (n - i));
}

#if defined(__x86_64__)
static __attribute__((target("avx2"))) void
deposit_array_avx2(GpuaggFloatSum *acc, const double *x, int64_t n)
{
	deposit_array(acc, x, n);
}
#endif

/* Adds n values to a full accumulator, exactly.  Any content is allowed. */
void
gpuagg_float_sum_deposit_array(GpuaggFloatSumFull *acc, const double *x, int64_t n)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
	{
		deposit_array_avx2(gpuagg_float_sum_of(acc), x, n);
		return;
	}
#endif
	deposit_array(gpuagg_float_sum_of(acc), x, n);
}
