/*
 * places.c
 *	  Counts and sums of integers by small numbers: records in an array, one for each place.
 */
#include "common/places.h"

#include "common/vector_step.h"

#define WORD 64 /* rows */

typedef int16_t __attribute__((may_alias)) Int16;
typedef int32_t __attribute__((may_alias)) Int32;
typedef int64_t __attribute__((may_alias)) Int64;

/* ---- digits ---- */

typedef uint64_t (*Digits)(const void *values, int words, int64_t first, uint32_t n,
						   uint16_t *digits);

/* Whether a difference has more than 16 bits is looked at apart, as vectors compare 16 bits best. */
#define DIGITS(NAME, T, UNSIGNED)                                                               \
	VECTOR_INLINE bool NAME##_word(const T *restrict values, UNSIGNED first, uint16_t last,     \
								   uint16_t *restrict digits)                                   \
	{                                                                                           \
		UNSIGNED beyond = 0;                                                                    \
		uint16_t most = 0;                                                                      \
                                                                                                \
		for (int i = 0; i < WORD; i++)                                                          \
		{                                                                                       \
			UNSIGNED digit = (UNSIGNED) ((UNSIGNED) values[i] - first);                         \
                                                                                                \
			beyond |= digit >> 8;                                                               \
			digits[i] = (uint16_t) digit;                                                       \
		}                                                                                       \
		for (int i = 0; i < WORD; i++)                                                          \
			most = digits[i] > most ? digits[i] : most;                                         \
		return beyond >> 8 != 0 || most > last;                                                 \
	}                                                                                           \
	VECTOR_INLINE uint64_t NAME##_all(const void *values, int words, int64_t first, uint32_t n, \
									  uint16_t *digits)                                         \
	{                                                                                           \
		uint64_t outside = 0;                                                                   \
                                                                                                \
		for (int w = 0; w < words; w++)                                                         \
			outside |= (uint64_t) NAME##_word((const T *) values + w * WORD, (UNSIGNED) first,  \
											  (uint16_t) (n - 1), digits + w * WORD)            \
					   << w;                                                                    \
		return outside;                                                                         \
	}                                                                                           \
	static uint64_t NAME(const void *values, int words, int64_t first, uint32_t n,              \
						 uint16_t *digits)                                                      \
	{                                                                                           \
		return NAME##_all(values, words, first, n, digits);                                     \
	}                                                                                           \
	VECTOR_WIDE static uint64_t NAME##_wide(const void *values, int words, int64_t first,       \
											uint32_t n, uint16_t *digits)                       \
	{                                                                                           \
		return NAME##_all(values, words, first, n, digits);                                     \
	}

DIGITS(digits_int16, Int16, uint16_t)
DIGITS(digits_int32, Int32, uint32_t)
DIGITS(digits_int64, Int64, uint64_t)

uint64_t
gpuagg_place_digits(int type, const void *values, int words, int64_t first, uint32_t n,
					uint16_t *digits)
{
	static const Digits loops[3][2] = {VECTOR_BOTH(digits_int16), VECTOR_BOTH(digits_int32),
									   VECTOR_BOTH(digits_int64)};
	const Digits *loop = loops[type == GPUAGG_VECTOR_INT16	 ? 0
							   : type == GPUAGG_VECTOR_INT32 ? 1
															 : 2];

	return loop[gpuagg_vector_width()](values, words, first, n, digits);
}

void
gpuagg_place_add_digits(uint16_t *restrict places, const uint16_t *restrict digits, uint32_t step,
						int words)
{
	for (int w = 0; w < words; w++, places += WORD, digits += WORD)
		for (int i = 0; i < WORD; i++)
			places[i] = (uint16_t) (places[i] + digits[i] * (uint16_t) step);
}

/* ---- values ---- */

/* The functions NAME and NAME_wide over words of 64 rows, by NAME_word. */
#define OVER_WORDS(NAME)                                                                          \
	static bool NAME(const void *from, int words, int64_t *low, int64_t *high)                    \
	{                                                                                             \
		return NAME##_all(from, words, low, high);                                                \
	}                                                                                             \
	VECTOR_WIDE static bool NAME##_wide(const void *from, int words, int64_t *low, int64_t *high) \
	{                                                                                             \
		return NAME##_all(from, words, low, high);                                                \
	}

typedef bool (*Values)(const void *from, int words, int64_t *low, int64_t *high);

#define EXTEND(NAME, T)                                                                     \
	VECTOR_INLINE void NAME##_word(const T *restrict from, int64_t *restrict to)            \
	{                                                                                       \
		for (int i = 0; i < WORD; i++)                                                      \
			to[i] = from[i];                                                                \
	}                                                                                       \
	VECTOR_INLINE bool NAME##_all(const void *from, int words, int64_t *low, int64_t *high) \
	{                                                                                       \
		(void) high;                                                                        \
		for (int w = 0; w < words; w++)                                                     \
			NAME##_word((const T *) from + w * WORD, low + w * WORD);                       \
		return true;                                                                        \
	}                                                                                       \
	OVER_WORDS(NAME)

EXTEND(extend_int16, Int16)
EXTEND(extend_int32, Int32)

#define SIGN_LESS(value) ((value) ^ ((value) >> 63))

/* Bits of values that differ from their sign, into *low. */
VECTOR_INLINE bool
bits_all(const void *from, int words, int64_t *low, int64_t *high)
{
	const Int64 *values = from;
	int64_t bits = 0;

	(void) high;
	/* from the quarters of a word at a time */
	for (int w = 0; w < words; w++, values += WORD)
		for (int i = 0; i < WORD / 4; i++)
			bits |= SIGN_LESS(values[i]) | SIGN_LESS(values[i + WORD / 4]) |
					SIGN_LESS(values[i + WORD / 2]) | SIGN_LESS(values[i + WORD / 4 * 3]);
	*low = bits;
	return true;
}

VECTOR_INLINE void
split_word(const Int64 *restrict values, int64_t *restrict low, int64_t *restrict high)
{
	/* as vectors have no arithmetic shift of 64 bits */
	for (int i = 0; i < WORD; i++)
	{
		uint64_t value = (uint64_t) values[i];

		low[i] = (int64_t) (value & UINT32_MAX);
		high[i] = (int64_t) ((value ^ UINT64_C(1) << 63) >> 32) - (INT64_C(1) << 31);
	}
}

VECTOR_INLINE bool
split_all(const void *from, int words, int64_t *low, int64_t *high)
{
	for (int w = 0; w < words; w++)
		split_word((const Int64 *) from + w * WORD, low + w * WORD, high + w * WORD);
	return true;
}

OVER_WORDS(bits)
OVER_WORDS(split)

void
gpuagg_place_extend(int type, const void *values, int words, int64_t *extended)
{
	static const Values loops[2][2] = {VECTOR_BOTH(extend_int16), VECTOR_BOTH(extend_int32)};

	(void) loops[type == GPUAGG_VECTOR_INT32][gpuagg_vector_width()](values, words, extended, NULL);
}

int
gpuagg_place_bits(const int64_t *values, int n)
{
	static const Values loops[2] = VECTOR_BOTH(bits);
	int64_t bits;

	(void) loops[gpuagg_vector_width()](values, n / WORD, &bits, NULL);
	for (int i = n - n % WORD; i < n; i++)
		bits |= SIGN_LESS(values[i]);
	return bits == 0 ? 0 : 64 - __builtin_clzll((uint64_t) bits);
}

void
gpuagg_place_split(const int64_t *values, int words, int64_t *low, int64_t *high)
{
	static const Values loops[2] = VECTOR_BOTH(split);

	(void) loops[gpuagg_vector_width()](values, words, low, high);
}

/* ---- sums ---- */

VECTOR_INLINE void
add(int64_t *sum, int64_t value)
{
	*sum = (int64_t) ((uint64_t) *sum + (uint64_t) value);
}

/* Adds a row; returns its count before minus 1. */
VECTOR_INLINE int64_t
sum_row(int64_t *record, const int64_t *const *columns, int ncolumns, bool counted, int row)
{
	int64_t before = 0;

	if (counted)
	{
		before = record[0] - 1;
		record[0] = before + 2;
	}
	_Pragma("GCC unroll 6") for (int c = 0; c < ncolumns; c++)
		add(&record[counted + c], columns[c][row]);
	return before;
}

VECTOR_INLINE bool
sum_rows(const GpuaggPlaceArray *array, const uint16_t *places, int nrows,
		 const int64_t *const *columns, int ncolumns, uint32_t first, bool counted)
{
	const int64_t *own[GPUAGG_PLACE_COLUMNS] = {NULL};
	size_t step = (size_t) array->stride * array->copies;
	size_t copy = array->copies > 1 ? array->stride : 0;
	int64_t *words = array->words + first - counted;
	int64_t fresh = 0;
	int i = 0;

	_Pragma("GCC unroll 6") for (int c = 0; c < ncolumns; c++) own[c] = columns[c];
	for (; i + GPUAGG_PLACE_COPIES <= nrows; i += GPUAGG_PLACE_COPIES)
		_Pragma("GCC unroll 4") for (int j = 0; j < GPUAGG_PLACE_COPIES; j++) fresh |=
			sum_row(words + places[i + j] * step + j * copy, own, ncolumns, counted, i + j);
	for (; i < nrows; i++)
		fresh |= sum_row(words + places[i] * step, own, ncolumns, counted, i);
	return fresh < 0;
}

#define SUM_ROWS(N)                                                              \
	case N:                                                                      \
		return counted ? sum_rows(array, places, nrows, columns, N, first, true) \
					   : sum_rows(array, places, nrows, columns, N, first, false)

bool
gpuagg_place_sum(const GpuaggPlaceArray *array, const uint16_t *places, int nrows,
				 const int64_t *const *columns, int ncolumns, uint32_t first, bool counted)
{
	switch (ncolumns)
	{
		SUM_ROWS(1);
		SUM_ROWS(2);
		SUM_ROWS(3);
		SUM_ROWS(4);
		SUM_ROWS(5);
		SUM_ROWS(6);
		default:
			return counted && sum_rows(array, places, nrows, columns, 0, first, true);
	}
}
