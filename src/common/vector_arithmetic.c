/*
 * vector_arithmetic.c
 *	  Instructions of a vector program: arithmetic.
 *
 * Integers wrap and say so.  What floats flag is what PostgreSQL's float.h checks.
 * A quotient is flagged where its divisor is 0, and taken by 1 then, so that nothing
 * traps.
 */
#include <math.h>

#include "common/vector_step.h"

/* The sign and what follows it, of a word as wide as BAD or wider. */
#define TOP_PART(U, BAD, v) ((BAD) ((U) (v) >> (8 * (sizeof(U) - sizeof(BAD)))))
#define ALL_OR_NONE(BAD, v) (((v) ? VECTOR_BAD(BAD) : 0))
#define SAME(v)				(v)

/* A product of two numbers of 128 bits, and whether it wrapped. */
static __int128
multiply_128(__int128 a, __int128 b, bool *wrapped)
{
	typedef unsigned __int128 Wide;

	bool negative = (a < 0) != (b < 0);
	Wide x = a < 0 ? -(Wide) a : (Wide) a;
	Wide y = b < 0 ? -(Wide) b : (Wide) b;
	Wide low = (Wide) (uint64_t) x * (uint64_t) y;
	Wide cross = x >> 64 != 0 ? (x >> 64) * (uint64_t) y : (y >> 64) * (uint64_t) x;
	Wide size = low + (cross << 64);
	Wide most = ((Wide) 1 << 127) - !negative;

	*wrapped = (x >> 64 != 0 && y >> 64 != 0) || cross >> 64 != 0 || size < low || size > most;
	return (__int128) (negative ? -size : size);
}

static inline __int128
multiply_any_128(__int128 a, __int128 b, bool *wrapped)
{
	if (a == (int64_t) a && b == (int64_t) b)
	{
		*wrapped = false;
		return a * b;
	}
	return multiply_128(a, b, wrapped);
}

#define MULTIPLY_NARROW(a, b, wrapped) \
	(*(wrapped) = __builtin_mul_overflow((a), (b), &product), product)
#define MULTIPLY_WIDE(a, b, wrapped) (product = multiply_any_128((a), (b), (wrapped)))

/*
 * Integers of type T in memory, W to compute with and U without a sign.  Quotients:
 * `safe` is a divisor that cannot trap.
 */
#define DEFINE_INTEGER(N, T, W, U, BAD, LOAD, STORE, MULTIPLY)                                    \
	VECTOR_INLINE T add_##N(T x, T y, BAD *bad, bool exact)                                       \
	{                                                                                             \
		U a = (U) LOAD(x), b = (U) LOAD(y), r = (U) (a + b);                                      \
                                                                                                  \
		*bad = TOP_PART(U, BAD, (a ^ r) & (b ^ r));                                               \
		return STORE((W) r);                                                                      \
	}                                                                                             \
	VECTOR_INLINE T sub_##N(T x, T y, BAD *bad, bool exact)                                       \
	{                                                                                             \
		U a = (U) LOAD(x), b = (U) LOAD(y), r = (U) (a - b);                                      \
                                                                                                  \
		*bad = TOP_PART(U, BAD, (a ^ b) & (a ^ r));                                               \
		return STORE((W) r);                                                                      \
	}                                                                                             \
	VECTOR_INLINE T mul_##N(T x, T y, BAD *bad, bool exact)                                       \
	{                                                                                             \
		W product;                                                                                \
		bool wrapped;                                                                             \
                                                                                                  \
		(void) MULTIPLY(LOAD(x), LOAD(y), &wrapped);                                              \
		*bad = ALL_OR_NONE(BAD, wrapped);                                                         \
		return STORE(product);                                                                    \
	}                                                                                             \
	VECTOR_INLINE T neg_##N(T x, T y, BAD *bad, bool exact)                                       \
	{                                                                                             \
		U a = (U) LOAD(x), r = (U) (0 - a);                                                       \
                                                                                                  \
		*bad = TOP_PART(U, BAD, a & r);                                                           \
		return STORE((W) r);                                                                      \
	}                                                                                             \
	VECTOR_INLINE T abs_##N(T x, T y, BAD *bad, bool exact)                                       \
	{                                                                                             \
		U a = (U) LOAD(x), r = (W) a < 0 ? (U) (0 - a) : a;                                       \
                                                                                                  \
		*bad = TOP_PART(U, BAD, r);                                                               \
		return STORE((W) r);                                                                      \
	}                                                                                             \
	VECTOR_INLINE T div_##N(T x, T y, BAD *bad, bool exact)                                       \
	{                                                                                             \
		W a = LOAD(x), b = LOAD(y);                                                               \
		W safe = b == 0 || b == -1 ? 1 : b;                                                       \
		U negative = (U) (0 - (U) a);                                                             \
                                                                                                  \
		*bad = b == -1 ? TOP_PART(U, BAD, (U) a & negative) : ALL_OR_NONE(BAD, b == 0);           \
		return STORE(b == -1 ? (W) negative : (W) (a / safe));                                    \
	}                                                                                             \
	VECTOR_INLINE T mod_##N(T x, T y, BAD *bad, bool exact)                                       \
	{                                                                                             \
		W a = LOAD(x), b = LOAD(y);                                                               \
		W safe = b == 0 || b == -1 ? 1 : b;                                                       \
                                                                                                  \
		*bad = ALL_OR_NONE(BAD, b == 0);                                                          \
		return STORE((W) (a % safe));                                                             \
	}                                                                                             \
	VECTOR_INLINE T div_floor_##N(T x, T y, BAD *bad, bool exact)                                 \
	{                                                                                             \
		W a = LOAD(x), b = LOAD(y);                                                               \
		W safe = b <= 0 ? 1 : b;                                                                  \
		W quotient = a / safe;                                                                    \
                                                                                                  \
		*bad = ALL_OR_NONE(BAD, b <= 0);                                                          \
		return STORE((W) (quotient - (quotient * safe > a)));                                     \
	}                                                                                             \
	VECTOR_INLINE T div_round_##N(T x, T y, BAD *bad, bool exact)                                 \
	{                                                                                             \
		W a = LOAD(x), b = LOAD(y);                                                               \
		W safe = b <= 0 ? 1 : b;                                                                  \
		W quotient = a / safe;                                                                    \
		W rest = (W) (a - quotient * safe);                                                       \
		W size = rest < 0 ? -rest : rest;                                                         \
                                                                                                  \
		*bad = ALL_OR_NONE(BAD, b <= 0);                                                          \
		return STORE((W) (quotient + (size == 0 || size < safe - size ? 0 : rest < 0 ? -1 : 1))); \
	}                                                                                             \
	VECTOR_BINARY(add_##N, T, T, T, BAD)                                                          \
	VECTOR_BINARY(sub_##N, T, T, T, BAD)                                                          \
	VECTOR_BINARY(mul_##N, T, T, T, BAD)                                                          \
	VECTOR_BINARY(div_##N, T, T, T, BAD)                                                          \
	VECTOR_BINARY(mod_##N, T, T, T, BAD)                                                          \
	VECTOR_BINARY(div_floor_##N, T, T, T, BAD)                                                    \
	VECTOR_BINARY(div_round_##N, T, T, T, BAD)                                                    \
	VECTOR_UNARY(neg_##N, T, T, BAD)                                                              \
	VECTOR_UNARY(abs_##N, T, T, BAD)

DEFINE_INTEGER(int16, int16_t, int16_t, uint16_t, uint16_t, SAME, SAME, MULTIPLY_NARROW)
DEFINE_INTEGER(int32, int32_t, int32_t, uint32_t, uint32_t, SAME, SAME, MULTIPLY_NARROW)
DEFINE_INTEGER(int64, int64_t, int64_t, uint64_t, uint64_t, SAME, SAME, MULTIPLY_NARROW)
DEFINE_INTEGER(int128, GpuaggInt128, __int128, unsigned __int128, uint64_t, gpuagg_int128_wide,
			   gpuagg_int128_narrow, MULTIPLY_WIDE)

VECTOR_INLINE GpuaggInt128
mul_wide(int64_t a, int64_t b, uint64_t *bad, bool exact)
{
	return gpuagg_int128_narrow((__int128) a * b);
}
VECTOR_BINARY(mul_wide, int64_t, int64_t, GpuaggInt128, uint64_t)

/*
 * Floats: infinite from finite operands, and zero from a product or quotient that is
 * none.  A row with an infinite operand looks suspicious until `exact`.
 */
#define DEFINE_FLOAT(N, T, BAD, FABS)                                                             \
	VECTOR_INLINE bool infinite_##N(T x)                                                          \
	{                                                                                             \
		return FABS(x) == (T) INFINITY;                                                           \
	}                                                                                             \
	VECTOR_INLINE BAD overflow_##N(T a, T b, T r, bool exact)                                     \
	{                                                                                             \
		if (exact)                                                                                \
			return infinite_##N(r) && !infinite_##N(a) && !infinite_##N(b) ? VECTOR_BAD(BAD) : 0; \
		return infinite_##N(r) ? VECTOR_BAD(BAD) : 0;                                             \
	}                                                                                             \
	/* a result of 0 where neither of the others is */                                            \
	VECTOR_INLINE BAD underflow_##N(T r, T a, T b)                                                \
	{                                                                                             \
		BAD bad = r == 0 ? VECTOR_BAD(BAD) : 0;                                                   \
                                                                                                  \
		bad = a != 0 ? bad : 0;                                                                   \
		return b != 0 ? bad : 0;                                                                  \
	}                                                                                             \
	VECTOR_INLINE T add_##N(T a, T b, BAD *bad, bool exact)                                       \
	{                                                                                             \
		*bad = overflow_##N(a, b, a + b, exact);                                                  \
		return a + b;                                                                             \
	}                                                                                             \
	VECTOR_INLINE T sub_##N(T a, T b, BAD *bad, bool exact)                                       \
	{                                                                                             \
		*bad = overflow_##N(a, b, a - b, exact);                                                  \
		return a - b;                                                                             \
	}                                                                                             \
	VECTOR_INLINE T mul_##N(T a, T b, BAD *bad, bool exact)                                       \
	{                                                                                             \
		T r = a * b;                                                                              \
                                                                                                  \
		*bad = overflow_##N(a, b, r, exact) | underflow_##N(r, a, b);                             \
		return r;                                                                                 \
	}                                                                                             \
	VECTOR_INLINE T div_##N(T a, T b, BAD *bad, bool exact)                                       \
	{                                                                                             \
		T r = a / b;                                                                              \
		BAD by_zero = b == 0 ? VECTOR_BAD(BAD) : 0;                                               \
                                                                                                  \
		BAD by_large = infinite_##N(b) ? VECTOR_BAD(BAD) : 0;                                     \
                                                                                                  \
		*bad = overflow_##N(a, b, r, exact) | (a == a ? by_zero : 0) |                            \
			   (underflow_##N(r, a, 1) & ~by_large);                                              \
		return r;                                                                                 \
	}                                                                                             \
	VECTOR_INLINE T neg_##N(T a, T b, BAD *bad, bool exact)                                       \
	{                                                                                             \
		return -a;                                                                                \
	}                                                                                             \
	VECTOR_INLINE T abs_##N(T a, T b, BAD *bad, bool exact)                                       \
	{                                                                                             \
		return FABS(a);                                                                           \
	}                                                                                             \
	VECTOR_BINARY(add_##N, T, T, T, BAD)                                                          \
	VECTOR_BINARY(sub_##N, T, T, T, BAD)                                                          \
	VECTOR_BINARY(mul_##N, T, T, T, BAD)                                                          \
	VECTOR_BINARY(div_##N, T, T, T, BAD)                                                          \
	VECTOR_UNARY(neg_##N, T, T, BAD)                                                              \
	VECTOR_UNARY(abs_##N, T, T, BAD)

DEFINE_FLOAT(float32, float, uint32_t, __builtin_fabsf)
DEFINE_FLOAT(float64, double, uint64_t, __builtin_fabs)

#define INTEGERS(FORM, NAME)                                                                \
	[GPUAGG_VECTOR_INT16] = FORM(NAME##_int16), [GPUAGG_VECTOR_INT32] = FORM(NAME##_int32), \
	[GPUAGG_VECTOR_INT64] = FORM(NAME##_int64), [GPUAGG_VECTOR_INT128] = FORM(NAME##_int128)
#define NUMBERS(FORM, NAME)                                               \
	INTEGERS(FORM, NAME), [GPUAGG_VECTOR_FLOAT32] = FORM(NAME##_float32), \
						  [GPUAGG_VECTOR_FLOAT64] = FORM(NAME##_float64)

static const GpuaggVectorLoops loops[GPUAGG_VECTOR_OPS][GPUAGG_VECTOR_BYTES] = {
	[GPUAGG_VECTOR_ADD] = {NUMBERS(VECTOR_BINARY_LOOPS, add)},
	[GPUAGG_VECTOR_SUB] = {NUMBERS(VECTOR_BINARY_LOOPS, sub)},
	[GPUAGG_VECTOR_MUL] = {NUMBERS(VECTOR_BINARY_LOOPS, mul)},
	[GPUAGG_VECTOR_DIV] = {NUMBERS(VECTOR_BINARY_LOOPS, div)},
	[GPUAGG_VECTOR_MOD] = {INTEGERS(VECTOR_BINARY_LOOPS, mod)},
	[GPUAGG_VECTOR_NEG] = {NUMBERS(VECTOR_UNARY_LOOPS, neg)},
	[GPUAGG_VECTOR_ABS] = {NUMBERS(VECTOR_UNARY_LOOPS, abs)},
	[GPUAGG_VECTOR_MUL_WIDE] = {[GPUAGG_VECTOR_INT64] = VECTOR_BINARY_LOOPS(mul_wide)},
	[GPUAGG_VECTOR_DIV_FLOOR] = {INTEGERS(VECTOR_BINARY_LOOPS, div_floor)},
	[GPUAGG_VECTOR_DIV_ROUND] = {INTEGERS(VECTOR_BINARY_LOOPS, div_round)},
};

void
gpuagg_vector_choose_arithmetic(GpuaggVectorStep *step)
{
	gpuagg_vector_take_loops(step, &loops[step->instruction->op][step->instruction->type]);
}
