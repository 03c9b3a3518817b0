/*
 * narrow_range.c
 *	  Which rows of a narrow block have values in a range, without reading their values.
 *
 * A value is in the range if its distance from the least one there, modulo the stored width,
 * is at most the range's span: this holds for differences and for values stored as they are.
 */
#include "common/narrow_range.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "common/vector_step.h"

static inline __int128
wide(GpuaggInt128 value)
{
	return gpuagg_int128_wide(value);
}

/* The range within the block's values: from > to if it has none. */
static void
clamp(const GpuaggNarrow *narrow, const GpuaggRange *range, __int128 *from, __int128 *to)
{
	__int128 least = wide(narrow->minimum);
	__int128 most = wide(narrow->maximum);

	*from = wide(range->from) > least ? wide(range->from) : least;
	*to = wide(range->to) < most ? wide(range->to) : most;
}

GpuaggRangeRows
gpuagg_narrow_range_rows(const GpuaggNarrow *narrow, const GpuaggRange *range)
{
	__int128 from;
	__int128 to;

	if (!narrow->any)
		return GPUAGG_RANGE_NO_ROW;
	clamp(narrow, range, &from, &to);
	if (from > to)
		return range->outside ? GPUAGG_RANGE_ALL_ROWS : GPUAGG_RANGE_NO_ROW;
	if (from == wide(narrow->minimum) && to == wide(narrow->maximum))
		return range->outside ? GPUAGG_RANGE_NO_ROW : GPUAGG_RANGE_ALL_ROWS;
	return GPUAGG_RANGE_SOME_ROWS;
}

typedef void (*Select)(const void *stored, unsigned __int128 least, unsigned __int128 span,
					   uint32_t n, uint64_t *bits);

/* The loops NAME over words of 64 rows; what is behind the last row is not read. */
#define SELECT_LOOP(NAME, TARGET, T, WORD)                                                       \
	TARGET static void NAME(const void *stored, unsigned __int128 least, unsigned __int128 span, \
							uint32_t n, uint64_t *bits)                                          \
	{                                                                                            \
		const T *values = stored;                                                                \
                                                                                                 \
		for (; n >= 64; n -= 64, values += 64)                                                   \
			*bits++ = WORD(values, (T) least, (T) span);                                         \
		if (n > 0)                                                                               \
		{                                                                                        \
			T rest[64] = {0};                                                                    \
                                                                                                 \
			memcpy(rest, values, n * sizeof(T));                                                 \
			*bits = WORD(rest, (T) least, (T) span) & ((UINT64_C(1) << n) - 1);                  \
		}                                                                                        \
	}
#define SELECT(N, T, WIDE_WORD)                                       \
	VECTOR_INLINE uint64_t word_##N(const T *values, T least, T span) \
	{                                                                 \
		uint8_t in[64];                                               \
                                                                      \
		for (int i = 0; i < 64; i++)                                  \
			in[i] = (T) (values[i] - least) <= span;                  \
		return gpuagg_vector_pack(in);                                \
	}                                                                 \
	SELECT_LOOP(select_##N, , T, word_##N)                            \
	SELECT_LOOP(select_##N##_wide, VECTOR_WIDE, T, WIDE_WORD)

/* What compilers do not find: masks of compared lanes packed to bytes, whose top bits are the word. */
#if defined(__x86_64__)
#define IN_RANGE(N, values)                                                                  \
	_mm256_cmpeq_epi##N(_mm256_min_epu##N(_mm256_sub_epi##N(_mm256_loadu_si256(              \
																(const __m256i *) (values)), \
															low),                            \
										  size),                                             \
						_mm256_sub_epi##N(_mm256_loadu_si256((const __m256i *) (values)), low))

VECTOR_INLINE VECTOR_WIDE uint64_t
wide_word_8(const uint8_t *values, uint8_t least, uint8_t span)
{
	__m256i low = _mm256_set1_epi8((char) least);
	__m256i size = _mm256_set1_epi8((char) span);

	return (uint32_t) _mm256_movemask_epi8(IN_RANGE(8, values)) |
		   (uint64_t) (uint32_t) _mm256_movemask_epi8(IN_RANGE(8, values + 32)) << 32;
}

VECTOR_INLINE VECTOR_WIDE uint64_t
wide_word_16(const uint16_t *values, uint16_t least, uint16_t span)
{
	__m256i low = _mm256_set1_epi16((short) least);
	__m256i size = _mm256_set1_epi16((short) span);
	uint64_t word = 0;

	for (int i = 0; i < 2; i++)
	{
		const uint16_t *from = values + 32 * i;
		__m256i both = _mm256_packs_epi16(IN_RANGE(16, from), IN_RANGE(16, from + 16));

		both = _mm256_permute4x64_epi64(both, 0xd8);
		word |= (uint64_t) (uint32_t) _mm256_movemask_epi8(both) << 32 * i;
	}
	return word;
}

VECTOR_INLINE VECTOR_WIDE uint64_t
wide_word_32(const uint32_t *values, uint32_t least, uint32_t span)
{
	__m256i low = _mm256_set1_epi32((int) least);
	__m256i size = _mm256_set1_epi32((int) span);
	uint64_t word = 0;

	for (int i = 0; i < 2; i++)
	{
		const uint32_t *from = values + 32 * i;
		__m256i all =
			_mm256_packs_epi16(_mm256_packs_epi32(IN_RANGE(32, from), IN_RANGE(32, from + 8)),
							   _mm256_packs_epi32(IN_RANGE(32, from + 16),
												  IN_RANGE(32, from + 24)));

		all = _mm256_permutevar8x32_epi32(all, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
		word |= (uint64_t) (uint32_t) _mm256_movemask_epi8(all) << 32 * i;
	}
	return word;
}
#define WIDE_WORD(N) wide_word_##N
#else
#define WIDE_WORD(N) word_##N
#endif

SELECT(8, uint8_t, WIDE_WORD(8))
SELECT(16, uint16_t, WIDE_WORD(16))
SELECT(32, uint32_t, WIDE_WORD(32))
SELECT(64, uint64_t, word_64)
SELECT(128, unsigned __int128, word_128)

/* By logarithm of the bytes of a stored value. */
static const Select selects[5][2] = {VECTOR_BOTH(select_8), VECTOR_BOTH(select_16),
									 VECTOR_BOTH(select_32), VECTOR_BOTH(select_64),
									 VECTOR_BOTH(select_128)};

void
gpuagg_narrow_range_select(const GpuaggNarrow *narrow, const void *stored, uint64_t first,
						   uint32_t n, const GpuaggRange *range, uint64_t *bits)
{
	__int128 from;
	__int128 to;

	clamp(narrow, range, &from, &to);
	selects[__builtin_ctz(narrow->width)][gpuagg_vector_width()](
		(const uint8_t *) stored + first * narrow->width,
		(unsigned __int128) from - (unsigned __int128) wide(narrow->base),
		(unsigned __int128) to - (unsigned __int128) from, n, bits);
	if (!range->outside)
		return;
	for (uint32_t done = 0; done < n; done += 64)
		bits[done / 64] ^= n - done >= 64 ? UINT64_MAX : (UINT64_C(1) << (n - done)) - 1;
}
