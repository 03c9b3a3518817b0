/*
 * vector_compare.c
 *	  Instructions of a vector program: comparisons of two values, and ranges.
 *
 * There are two loops a type, "equal" and "less"; the other four comparisons turn their
 * operands or their result round, as values of every type are in one total order.
 */
#include <stdlib.h>

#include "common/vector_step.h"
#include "common/vector_text.h"

/* Each gives `yes` or 0. */
#define INTEGER_EQUAL(a, b, yes) ((a) == (b) ? (yes) : 0)
#define INTEGER_LESS(a, b, yes)	 ((a) < (b) ? (yes) : 0)
#define WIDE_EQUAL(a, b, yes)	 ((((a).lo == (b).lo) & ((a).hi == (b).hi)) ? (yes) : 0)
#define WIDE_LESS(a, b, yes)	 (gpuagg_int128_wide(a) < gpuagg_int128_wide(b) ? (yes) : 0)
/* NaN is greater than all others and equals itself; in the form that vectorises for the type. */
#define FLOAT_EQUAL(a, b, yes) ((((a) == (b)) | (((a) != (a)) & ((b) != (b)))) ? (yes) : 0)
#define FLOAT_LESS(a, b, yes)  ((!((a) >= (b)) & ((a) == (a))) ? (yes) : 0)

VECTOR_INLINE uint64_t
double_equal(double a, double b, uint64_t yes)
{
	uint64_t same = a == b ? yes : 0;
	uint64_t none = b != b ? yes : 0;

	return same | (a != a ? none : 0);
}

VECTOR_INLINE uint64_t
double_less(double a, double b, uint64_t yes)
{
	uint64_t other = a >= b ? 0 : yes;

	return a == a ? other : 0;
}

#define COMPARE_LOOP_OF(NAME, ATTRIBUTES, T, TEST, TO_BITS, A_STEP, B_STEP)                \
	ATTRIBUTES static void NAME(const void *a_values, const void *b_values, uint64_t *out, \
								const uint64_t *wanted, int words)                         \
	{                                                                                      \
		for (int w = 0; w < words; w++)                                                    \
		{                                                                                  \
			const T *a = (const T *) a_values + 64 * w * A_STEP;                           \
			const T *b = (const T *) b_values + 64 * w * B_STEP;                           \
                                                                                           \
			if (wanted[w] == 0)                                                            \
				continue;                                                                  \
			TO_BITS(out[w], TEST, a[i * A_STEP], b[i * B_STEP])                            \
		}                                                                                  \
	}

#define COMPARE_LOOP(NAME, T, TEST, TO_BITS, WIDE_TO_BITS, A_STEP, B_STEP) \
	COMPARE_LOOP_OF(NAME, , T, TEST, TO_BITS, A_STEP, B_STEP)              \
	COMPARE_LOOP_OF(NAME##_wide, VECTOR_WIDE, T, TEST, WIDE_TO_BITS, A_STEP, B_STEP)

/* 64 tests to bits: narrow types by bytes, as wide ones have few to a vector register. */
#define BY_BYTES(result, TEST, x, y)        \
	{                                       \
		uint8_t bytes[64];                  \
                                            \
		for (int i = 0; i < 64; i++)        \
			bytes[i] = TEST(x, y, 1);       \
		result = gpuagg_vector_pack(bytes); \
	}
#define BY_WORDS(result, TEST, x, y)    \
	{                                   \
		uint64_t all = 0;               \
                                        \
		for (int i = 0; i < 64; i++)    \
			all |= TEST(x, y, bits[i]); \
		result = all;                   \
	}

#define BITS4(i)  UINT64_C(1) << (i), UINT64_C(2) << (i), UINT64_C(4) << (i), UINT64_C(8) << (i)
#define BITS16(i) BITS4(i), BITS4(i + 4), BITS4(i + 8), BITS4(i + 12)

static const uint64_t bits[64] = {BITS16(0), BITS16(16), BITS16(32), BITS16(48)};

/*
 * Which of 64 values are in a sorted set of n > 0: the last that is not greater is found
 * by halves.
 */
#define SEARCH(NAME, T, EQUAL, LESS)                                                    \
	static uint64_t NAME(const void *a, const void *set_values, int n, uint64_t wanted) \
	{                                                                                   \
		const T *values = a;                                                            \
		const T *set = set_values;                                                      \
		uint64_t found = 0;                                                             \
                                                                                        \
		for (; wanted != 0; wanted &= wanted - 1)                                       \
		{                                                                               \
			int i = __builtin_ctzll(wanted);                                            \
			T value = values[i];                                                        \
			const T *first = set;                                                       \
                                                                                        \
			for (int left = n; left > 1; left -= left / 2)                              \
				first += LESS(value, first[left / 2], 1) ? 0 : left / 2;                \
			found |= (uint64_t) (EQUAL(*first, value, 1) != 0) << i;                    \
		}                                                                               \
		return found;                                                                   \
	}

#define COMPARE(N, T, TO_BITS, WIDE_TO_BITS, EQUAL, LESS)                                         \
	COMPARE_LOOP(equal_##N##_vectors, T, EQUAL, TO_BITS, WIDE_TO_BITS, 1, 1)                      \
	COMPARE_LOOP(equal_##N##_b_constant, T, EQUAL, TO_BITS, WIDE_TO_BITS, 1, 0)                   \
	COMPARE_LOOP(less_##N##_vectors, T, LESS, TO_BITS, WIDE_TO_BITS, 1, 1)                        \
	COMPARE_LOOP(less_##N##_b_constant, T, LESS, TO_BITS, WIDE_TO_BITS, 1, 0)                     \
	COMPARE_LOOP(less_##N##_a_constant, T, LESS, TO_BITS, WIDE_TO_BITS, 0, 1)                     \
	static int order_##N(const void *a, const void *b)                                            \
	{                                                                                             \
		return LESS(*(const T *) b, *(const T *) a, 1) - LESS(*(const T *) a, *(const T *) b, 1); \
	}                                                                                             \
	SEARCH(find_##N, T, EQUAL, LESS)

COMPARE(int16, int16_t, BY_BYTES, BY_BYTES, INTEGER_EQUAL, INTEGER_LESS)
COMPARE(int32, int32_t, BY_BYTES, BY_BYTES, INTEGER_EQUAL, INTEGER_LESS)
COMPARE(int64, int64_t, BY_BYTES, BY_WORDS, INTEGER_EQUAL, INTEGER_LESS)
COMPARE(int128, GpuaggInt128, BY_WORDS, BY_WORDS, WIDE_EQUAL, WIDE_LESS)
COMPARE(float32, float, BY_BYTES, BY_BYTES, FLOAT_EQUAL, FLOAT_LESS)
COMPARE(float64, double, BY_WORDS, BY_WORDS, double_equal, double_less)

static void
equal_bool(const void *a, const void *b, uint64_t *out, const uint64_t *wanted, int words)
{
	for (int w = 0; w < words; w++)
		out[w] = ~(((const uint64_t *) a)[w] ^ ((const uint64_t *) b)[w]);
}

static void
less_bool(const void *a, const void *b, uint64_t *out, const uint64_t *wanted, int words)
{
	for (int w = 0; w < words; w++)
		out[w] = ~((const uint64_t *) a)[w] & ((const uint64_t *) b)[w];
}

/* Strings are followed only for rows that are wanted. */
#define BYTES_LOOP(NAME, TEST)                                                            \
	static void NAME(const void *a, const void *b, uint64_t *out, const uint64_t *wanted, \
					 int words)                                                           \
	{                                                                                     \
		for (int w = 0; w < words; w++)                                                   \
		{                                                                                 \
			uint64_t result = 0;                                                          \
                                                                                          \
			for (uint64_t left = wanted[w]; left != 0; left &= left - 1)                  \
			{                                                                             \
				int i = __builtin_ctzll(left);                                            \
				const GpuaggVectorBytes *x = (const GpuaggVectorBytes *) a + 64 * w + i;  \
				const GpuaggVectorBytes *y = (const GpuaggVectorBytes *) b + 64 * w + i;  \
                                                                                          \
				result |= (uint64_t) TEST(*x, *y) << i;                                   \
			}                                                                             \
			out[w] = result;                                                              \
		}                                                                                 \
	}

BYTES_LOOP(equal_bytes, gpuagg_bytes_equal)
BYTES_LOOP(less_bytes, gpuagg_bytes_less)

/* An order of strings that is quick to see, for sets: by size, first and last eight bytes, and the rest. */
VECTOR_INLINE bool
before(GpuaggVectorBytes a, GpuaggVectorBytes b)
{
	if (a.size != b.size)
		return a.size < b.size;
	if (a.size >= 8)
	{
		uint64_t x = gpuagg_bytes_load(a.data);
		uint64_t y = gpuagg_bytes_load(b.data);

		if (x == y)
		{
			x = gpuagg_bytes_load(a.data + a.size - 8);
			y = gpuagg_bytes_load(b.data + b.size - 8);
		}
		if (x != y || a.size <= 16)
			return x < y;
	}
	return gpuagg_bytes_less(a, b);
}

#define STRING_EQUAL(a, b, yes)	 (gpuagg_bytes_equal((a), (b)) ? (yes) : 0)
#define STRING_BEFORE(a, b, yes) (before((a), (b)) ? (yes) : 0)
SEARCH(find_string, GpuaggVectorBytes, STRING_EQUAL, STRING_BEFORE)

static int
order_strings(const void *a, const void *b)
{
	const GpuaggVectorBytes *x = a;
	const GpuaggVectorBytes *y = b;

	return before(*y, *x) - before(*x, *y);
}

typedef struct Compare
{
	GpuaggVectorCompare equal[2]; /* [1]: wide */
	GpuaggVectorCompare equal_b_constant[2];
	GpuaggVectorCompare less[2];
	GpuaggVectorCompare less_b_constant[2];
	GpuaggVectorCompare less_a_constant[2];
	int (*order)(const void *a, const void *b); /* of sets */
	uint64_t (*find)(const void *a, const void *set, int n, uint64_t wanted);
} Compare;

#define NUMBERS(N)                                                               \
	{                                                                            \
		VECTOR_BOTH(equal_##N##_vectors), VECTOR_BOTH(equal_##N##_b_constant),   \
			VECTOR_BOTH(less_##N##_vectors), VECTOR_BOTH(less_##N##_b_constant), \
			VECTOR_BOTH(less_##N##_a_constant), order_##N, find_##N              \
	}
/* One loop for all, which needs both vectors. */
#define ONE(equal, less, order, find)                                                         \
	{                                                                                         \
		{equal, equal}, {equal, equal}, {less, less}, {less, less}, {less, less}, order, find \
	}

static const Compare compares[] = {
	[GPUAGG_VECTOR_BOOL] = ONE(equal_bool, less_bool, NULL, NULL),
	[GPUAGG_VECTOR_INT16] = NUMBERS(int16),
	[GPUAGG_VECTOR_INT32] = NUMBERS(int32),
	[GPUAGG_VECTOR_INT64] = NUMBERS(int64),
	[GPUAGG_VECTOR_INT128] = NUMBERS(int128),
	[GPUAGG_VECTOR_FLOAT32] = NUMBERS(float32),
	[GPUAGG_VECTOR_FLOAT64] = NUMBERS(float64),
	[GPUAGG_VECTOR_BYTES] = ONE(equal_bytes, less_bytes, order_strings, find_string),
};

GpuaggVectorCompare
gpuagg_vector_less(int type)
{
	return compares[type].less[gpuagg_vector_width()];
}

static bool
decide_compare(const GpuaggVectorStep *step, const GpuaggVectorBytes *string, const void *arg)
{
	const void *a = step->a_constant ? step->a->values : string;
	const void *b = step->a_constant ? string : step->b->values;
	uint64_t one = 1;
	uint64_t result = 0;

	step->compare(step->swapped ? b : a, step->swapped ? a : b, &result, &one, 1);
	return (result & 1) != 0;
}

static void
run_compare(const GpuaggVectorStep *step)
{
	uint64_t wanted[GPUAGG_VECTOR_WORDS];
	uint64_t *out = step->values;
	const void *a = step->a->values;
	const void *b = step->b->values;

	gpuagg_vector_strict(step, wanted);
	if (!gpuagg_vector_by_code(step, wanted, out, decide_compare, NULL))
		step->compare(step->swapped ? b : a, step->swapped ? a : b, out, wanted,
					  gpuagg_vector_words(step));
	if (step->inverted)
		for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
			out[w] = ~out[w];
}

void
gpuagg_vector_choose_compare(GpuaggVectorStep *step)
{
	const Compare *compare = &compares[step->instruction->type];
	int op = step->instruction->op;
	int width = gpuagg_vector_width();
	bool a_constant = step->a_constant && !step->b_constant;
	bool b_constant = step->b_constant;

	step->run = run_compare;
	if (op == GPUAGG_VECTOR_EQ || op == GPUAGG_VECTOR_NE)
	{
		step->inverted = op == GPUAGG_VECTOR_NE;
		step->swapped = a_constant;
		step->compare = a_constant || b_constant ? compare->equal_b_constant[width]
												 : compare->equal[width];
		return;
	}
	/* a > b is b < a; a <= b is not b < a */
	step->swapped = op == GPUAGG_VECTOR_GT || op == GPUAGG_VECTOR_LE;
	step->inverted = op == GPUAGG_VECTOR_LE || op == GPUAGG_VECTOR_GE;
	if (a_constant || b_constant)
		step->compare = a_constant != step->swapped ? compare->less_a_constant[width]
													: compare->less_b_constant[width];
	else
		step->compare = compare->less[width];
}

static void
run_range(const GpuaggVectorStep *step)
{
	int type = step->instruction->type;
	size_t size = gpuagg_vector_type_size(type);
	int words = gpuagg_vector_words(step);
	int width = gpuagg_vector_width();
	const uint8_t *least = step->set;
	uint64_t wanted[GPUAGG_VECTOR_WORDS];
	uint64_t below[GPUAGG_VECTOR_WORDS];
	uint64_t above[GPUAGG_VECTOR_WORDS];

	gpuagg_vector_strict(step, wanted);
	memcpy(step->values, step->a->values, size * 64 * (size_t) words);
	compares[type].less_b_constant[width](step->a->values, least, below, wanted, words);
	compares[type].less_a_constant[width](least + size, step->a->values, above, wanted, words);
	for (int w = 0; w < words; w++)
		if (wanted[w] != 0)
			gpuagg_vector_flag(step, w, step->has_null ? UINT64_MAX : below[w] | above[w]);
}

/*
 * IN: a few constants are compared with the whole vector one by one, more of them are
 * sorted and searched by halves.
 */
#define FEW 8

static void
run_few(const GpuaggVectorStep *step)
{
	int type = step->instruction->type;
	size_t size = gpuagg_vector_type_size(type);
	int words = gpuagg_vector_words(step);
	int width = gpuagg_vector_width();
	uint64_t wanted[GPUAGG_VECTOR_WORDS];
	uint64_t one[GPUAGG_VECTOR_WORDS];
	uint64_t *out = step->values;

	gpuagg_vector_strict(step, wanted);
	memset(out, 0, sizeof(one));
	for (int k = 0; k < step->instruction->count; k++)
	{
		compares[type].equal_b_constant[width](step->a->values, (uint8_t *) step->set + k * size,
											   one, wanted, words);
		for (int w = 0; w < words; w++)
			if (wanted[w] != 0)
				out[w] |= one[w];
	}
	for (int w = 0; w < words && step->has_null; w++)
		gpuagg_vector_flag(step, w, UINT64_MAX);
}

static bool
decide_many(const GpuaggVectorStep *step, const GpuaggVectorBytes *string, const void *arg)
{
	const GpuaggVectorInstruction *in = step->instruction;

	return compares[in->type].find(string, step->set, in->count, 1) != 0;
}

static void
run_many(const GpuaggVectorStep *step)
{
	int type = step->instruction->type;
	size_t size = gpuagg_vector_type_size(type);
	int n = step->instruction->count;
	int words = gpuagg_vector_words(step);
	const uint8_t *values = step->a->values;
	uint64_t wanted[GPUAGG_VECTOR_WORDS];
	uint64_t *out = step->values;
	bool done;

	gpuagg_vector_strict(step, wanted);
	done = gpuagg_vector_by_code(step, wanted, out, decide_many, NULL);
	for (int w = 0; w < words; w++)
	{
		if (!done)
			out[w] = compares[type].find(values + 64 * w * size, step->set, n, wanted[w]);
		if (step->has_null)
			gpuagg_vector_flag(step, w, UINT64_MAX);
	}
}

void
gpuagg_vector_choose_set(GpuaggVectorStep *step)
{
	const GpuaggVectorInstruction *in = step->instruction;

	step->run = in->op == GPUAGG_VECTOR_IN_RANGE					  ? run_range
				: in->count <= FEW && in->type != GPUAGG_VECTOR_BYTES ? run_few
																	  : run_many;
}

void
gpuagg_vector_sort_set(int type, void *set, int n)
{
	qsort(set, (size_t) n, gpuagg_vector_type_size(type), compares[type].order);
}
