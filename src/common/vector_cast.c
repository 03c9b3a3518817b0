/*
 * vector_cast.c
 *	  Instructions of a vector program: casts between numbers.
 */
#include <math.h>

#include "common/vector_step.h"

#define SAME(v) (v)

/*
 * Integers of type A, AW and U to compute with, to integers of type R.  What fits into
 * R has nothing above its bits once R's range is moved to start at 0.
 */
#define INTEGER_TO_INTEGER(NAME, A, AW, U, LOAD, R, RW, STORE, BAD)            \
	VECTOR_INLINE R NAME(A x, A y, BAD *bad, bool exact)                       \
	{                                                                          \
		AW v = LOAD(x);                                                        \
		const int bits = sizeof(R) < sizeof(A) ? 8 * sizeof(R) : 1;            \
		U above = (U) ((U) ((U) v + ((U) 1 << (bits - 1))) >> bits);           \
                                                                               \
		if (sizeof(R) < sizeof(A))                                             \
			*bad = (BAD) ((U) (0 - above) >> (8 * (sizeof(U) - sizeof(BAD)))); \
		return STORE((RW) v);                                                  \
	}                                                                          \
	VECTOR_UNARY(NAME, A, R, BAD)

#define INTEGER_TO_FLOAT(NAME, A, LOAD, R)                   \
	VECTOR_INLINE R NAME(A x, A y, uint8_t *bad, bool exact) \
	{                                                        \
		return (R) LOAD(x);                                  \
	}                                                        \
	VECTOR_UNARY(NAME, A, R, uint8_t)

/*
 * LEAST is the integer type's least value, a power of 2 and so exact as a float; WHOLE
 * is from where on every float is a whole number: adding and taking it away rounds the
 * others, half to even.
 */
#define FLOAT_TO_INTEGER(NAME, A, BAD, FABS, COPYSIGN, WHOLE, R, LEAST) \
	VECTOR_INLINE R NAME(A x, A y, BAD *bad, bool exact)                \
	{                                                                   \
		A whole = COPYSIGN((A) WHOLE, x);                               \
		A rounded = FABS(x) < (A) WHOLE ? (x + whole) - whole : x;      \
		A above = rounded >= (A) LEAST ? rounded : -(A) LEAST;          \
		A fitting = above < -(A) LEAST ? rounded : 0;                   \
                                                                        \
		*bad = above < -(A) LEAST ? 0 : VECTOR_BAD(BAD);                \
		return (R) fitting;                                             \
	}                                                                   \
	VECTOR_UNARY(NAME, A, R, BAD)

#define FROM_INTEGER(N, A, AW, U, LOAD, BAD)                                      \
	INTEGER_TO_INTEGER(N##_to_int16, A, AW, U, LOAD, int16_t, int16_t, SAME, BAD) \
	INTEGER_TO_INTEGER(N##_to_int32, A, AW, U, LOAD, int32_t, int32_t, SAME, BAD) \
	INTEGER_TO_INTEGER(N##_to_int64, A, AW, U, LOAD, int64_t, int64_t, SAME, BAD) \
	INTEGER_TO_INTEGER(N##_to_int128, A, AW, U, LOAD, GpuaggInt128, __int128,     \
					   gpuagg_int128_narrow, BAD)                                 \
	INTEGER_TO_FLOAT(N##_to_float32, A, LOAD, float)                              \
	INTEGER_TO_FLOAT(N##_to_float64, A, LOAD, double)

#define FROM_FLOAT(N, A, BAD, FABS, COPYSIGN, WHOLE)                                  \
	FLOAT_TO_INTEGER(N##_to_int16, A, BAD, FABS, COPYSIGN, WHOLE, int16_t, INT16_MIN) \
	FLOAT_TO_INTEGER(N##_to_int32, A, BAD, FABS, COPYSIGN, WHOLE, int32_t, INT32_MIN) \
	FLOAT_TO_INTEGER(N##_to_int64, A, BAD, FABS, COPYSIGN, WHOLE, int64_t, INT64_MIN)

FROM_INTEGER(int16, int16_t, int16_t, uint16_t, SAME, uint16_t)
FROM_INTEGER(int32, int32_t, int32_t, uint32_t, SAME, uint32_t)
FROM_INTEGER(int64, int64_t, int64_t, uint64_t, SAME, uint64_t)
FROM_INTEGER(int128, GpuaggInt128, __int128, unsigned __int128, gpuagg_int128_wide, uint64_t)
FROM_FLOAT(float32, float, uint32_t, __builtin_fabsf, __builtin_copysignf, 8388608.0)
FROM_FLOAT(float64, double, uint64_t, __builtin_fabs, __builtin_copysign, 4503599627370496.0)

VECTOR_INLINE double
float32_to_float64(float a, float b, uint8_t *bad, bool exact)
{
	return a;
}
VECTOR_UNARY(float32_to_float64, float, double, uint8_t)

VECTOR_INLINE float
float64_to_float32(double a, double b, uint64_t *bad, bool exact)
{
	float r = (float) a;

	double wide = r; /* exact */
	uint64_t bad_zero = wide == 0 ? VECTOR_BAD(uint64_t) : 0;
	uint64_t bad_large = __builtin_fabs(wide) == INFINITY ? VECTOR_BAD(uint64_t) : 0;

	*bad = (a != 0 ? bad_zero : 0) | (__builtin_fabs(a) == INFINITY ? 0 : bad_large);
	return r;
}
VECTOR_UNARY(float64_to_float32, double, float, uint64_t)

/*
 * SQL's cast of a numeric to a float gives the nearest float.  The quotient of two
 * exact floats is that too, as one operation rounds once: numbers up to 2^53 and powers
 * of ten up to 10^22 are exact.  b is the power of ten, 0 for greater ones.
 */
#define DECIMAL_TO_FLOAT(N, A, AW, LOAD)                                       \
	VECTOR_INLINE double decimal_##N(A x, double b, uint64_t *bad, bool exact) \
	{                                                                          \
		AW v = LOAD(x);                                                        \
		const AW limit = (AW) (b == 0 ? 0 : (AW) 1 << 53);                     \
		bool sure = (b == 1) | ((v >= -limit) & (v <= limit));                 \
                                                                               \
		*bad = sure ? 0 : VECTOR_BAD(uint64_t);                                \
		return (double) v / (b == 0 ? 1 : b);                                  \
	}                                                                          \
	VECTOR_BINARY(decimal_##N, A, double, double, uint64_t)

DECIMAL_TO_FLOAT(int64, int64_t, int64_t, SAME)
DECIMAL_TO_FLOAT(int128, GpuaggInt128, __int128, gpuagg_int128_wide)

static const double powers_of_ten[] = {1e0,	 1e1,  1e2,	 1e3,  1e4,	 1e5,  1e6,	 1e7,
									   1e8,	 1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
									   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#define TO_INTEGERS(N)                                        \
	[GPUAGG_VECTOR_INT16] = VECTOR_UNARY_LOOPS(N##_to_int16), \
	[GPUAGG_VECTOR_INT32] = VECTOR_UNARY_LOOPS(N##_to_int32), \
	[GPUAGG_VECTOR_INT64] = VECTOR_UNARY_LOOPS(N##_to_int64)
#define TO_NUMBERS(N)                                                             \
	TO_INTEGERS(N), [GPUAGG_VECTOR_INT128] = VECTOR_UNARY_LOOPS(N##_to_int128),   \
					[GPUAGG_VECTOR_FLOAT32] = VECTOR_UNARY_LOOPS(N##_to_float32), \
					[GPUAGG_VECTOR_FLOAT64] = VECTOR_UNARY_LOOPS(N##_to_float64)

/* From the first type to the second. */
static const GpuaggVectorLoops casts[GPUAGG_VECTOR_BYTES][GPUAGG_VECTOR_BYTES] = {
	[GPUAGG_VECTOR_INT16] = {TO_NUMBERS(int16)},
	[GPUAGG_VECTOR_INT32] = {TO_NUMBERS(int32)},
	[GPUAGG_VECTOR_INT64] = {TO_NUMBERS(int64)},
	[GPUAGG_VECTOR_INT128] = {TO_NUMBERS(int128)},
	[GPUAGG_VECTOR_FLOAT32] = {TO_INTEGERS(float32), [GPUAGG_VECTOR_FLOAT64] = VECTOR_UNARY_LOOPS(
														 float32_to_float64)},
	[GPUAGG_VECTOR_FLOAT64] = {TO_INTEGERS(float64), [GPUAGG_VECTOR_FLOAT32] = VECTOR_UNARY_LOOPS(
														 float64_to_float32)},
};

static const GpuaggVectorLoops decimals64 = VECTOR_BINARY_LOOPS(decimal_int64);
static const GpuaggVectorLoops decimals128 = VECTOR_BINARY_LOOPS(decimal_int128);

void
gpuagg_vector_choose_cast(GpuaggVectorStep *step)
{
	static const double too_large = 0;
	const GpuaggVectorInstruction *in = step->instruction;

	if (in->op == GPUAGG_VECTOR_CAST)
	{
		gpuagg_vector_take_loops(step, &casts[in->type][in->to]);
		return;
	}
	step->scalar = in->arg < sizeof(powers_of_ten) / sizeof(powers_of_ten[0])
					   ? &powers_of_ten[in->arg]
					   : &too_large;
	gpuagg_vector_take_loops(step, in->type == GPUAGG_VECTOR_INT64 ? &decimals64 : &decimals128);
}
