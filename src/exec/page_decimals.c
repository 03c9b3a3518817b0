/*
 * page_decimals.c
 *	  Stored numerics as integers at their column's scale, several at a time.
 *
 * Groups of digits lie in the order of their weights, so the four that a value may have come to
 * the same places of a word by two shifts: one takes out what precedes the value, the
 * other depends on its weight.
 */
#include "exec/page_decimal.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "common/vector_step.h"

#if defined(__x86_64__)
#define LANES 4

/* Bytes of the header as they come to the low ones: the varlena's, and the head. */
#define HEADER_BYTES  (VARHDRSZ_SHORT + (int) sizeof(uint16))
#define HEADER_KIND	  (UINT64CONST(0xdf80) << 8 | 3) /* form, scale; a short header, an even size */
#define HEADER_WEIGHT UINT64CONST(0x7f)				 /* behind the varlena's and times 16: */
#define HEADER_SIGN	  (8 + 13)						 /* bit */

static inline int64
load_word(const char *p)
{
	int64 word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* The word that ends where the value does; of other forms than a short one any word of it. */
static inline int64
load_groups(const char *p)
{
	uint8 header = *(const uint8 *) p;

	return load_word(p + (header >> 1 & -(header & 1)) - sizeof(int64));
}

/* What is the same for all values of a scale. */
typedef struct DecimalForm
{
	__m256i kind;
	__m256i top;		/* 16 * the weight of the first of four groups, and as much as bias */
	__m256i reciprocal; /* of the digits behind the scale, for the last of four groups */
	__m128i shift;
	__m256i power;	 /* of ten, of these digits */
	__m256i weights; /* of groups within two of them */
	__m256i factor;	 /* of the first two */
	bool spare;		 /* there are digits behind the scale */
} DecimalForm;

VECTOR_INLINE VECTOR_WIDE DecimalForm
form_of(int scale)
{
	/* exact quotients of numbers below 10,000: the high words of products, shifted */
	static const uint16 reciprocals[] = {0, 52429, 5243, 8389};
	static const uint8 shifts[] = {0, 3, 3, 7};
	int groups = (scale + 3) / 4;
	int spare = 4 * groups - scale;
	DecimalForm form;

	form.kind = _mm256_set1_epi64x((0x8000 | scale << 7) << 8 | 3);
	form.top = _mm256_set1_epi64x(16 * (3 - groups + 64));
	form.reciprocal = _mm256_set1_epi64x((int64) ((uint64) reciprocals[spare] << 48));
	form.shift = _mm_cvtsi32_si128(shifts[spare]);
	form.power = _mm256_set1_epi64x((int64) ((uint64) gpuagg_page_powers[spare] << 48));
	form.weights = _mm256_set1_epi64x((int64) (UINT64CONST(1) << 48 |
											   (uint64) gpuagg_page_powers[4 - spare] << 32 |
											   UINT64CONST(1) << 16 | 10000));
	form.factor = _mm256_set1_epi64x(gpuagg_page_powers[8 - spare]);
	form.spare = spare > 0;
	return form;
}

/* Four values; returns those that are not made. */
VECTOR_INLINE VECTOR_WIDE int
decimals_four(const char *const *found, const char *zero, const DecimalForm *form, int64 *values)
{
	const char *a = found[0] != NULL ? found[0] : zero;
	const char *b = found[1] != NULL ? found[1] : zero;
	const char *c = found[2] != NULL ? found[2] : zero;
	const char *d = found[3] != NULL ? found[3] : zero;
	const int back = (int) sizeof(int64) - HEADER_BYTES;
	__m256i header = _mm256_srli_epi64(_mm256_set_epi64x(load_word(d - back), load_word(c - back),
														 load_word(b - back), load_word(a - back)),
									   8 * back);
	__m256i groups = _mm256_set_epi64x(load_groups(d), load_groups(c), load_groups(b),
									   load_groups(a));
	__m256i kind = _mm256_and_si256(header, _mm256_set1_epi64x(HEADER_KIND));
	__m256i size = _mm256_and_si256(_mm256_slli_epi64(header, 2), _mm256_set1_epi64x(0x7f << 3));
	__m256i weight = _mm256_and_si256(_mm256_srli_epi64(header, 4),
									  _mm256_set1_epi64x(HEADER_WEIGHT << 4));

	/* bits: by `right` the first group comes to the low ones, by `left` to its place */
	__m256i right = _mm256_sub_epi64(_mm256_set1_epi64x(64 + 8 * HEADER_BYTES), size);
	__m256i left = _mm256_sub_epi64(form->top,
									_mm256_xor_si256(weight, _mm256_set1_epi64x(0x40 << 4)));
	__m256i word = _mm256_sllv_epi64(_mm256_srlv_epi64(groups, right), left);

	/* negative: no digits at all, a group above the four, or one below */
	__m256i outside =
		_mm256_or_si256(_mm256_or_si256(_mm256_sub_epi64(_mm256_set1_epi64x(64), right), left),
						_mm256_sub_epi64(right, left));
	__m256i fits = _mm256_cmpeq_epi64(kind, form->kind);
	__m256i sums;
	__m256i value;
	__m256i negative;

	if (form->spare)
	{
		__m256i quotient = _mm256_srl_epi16(_mm256_mulhi_epu16(word, form->reciprocal),
											form->shift);
		__m256i rest = _mm256_sub_epi16(word, _mm256_mullo_epi16(quotient, form->power));

		fits = _mm256_and_si256(fits, _mm256_cmpeq_epi64(_mm256_srli_epi64(rest, 48),
														 _mm256_setzero_si256()));
		word = _mm256_blend_epi16(word, quotient, 0x88);
	}
	sums = _mm256_madd_epi16(word, form->weights);
	value = _mm256_add_epi64(_mm256_mul_epu32(sums, form->factor), _mm256_srli_epi64(sums, 32));
	negative = _mm256_sub_epi64(_mm256_setzero_si256(),
								_mm256_and_si256(_mm256_srli_epi64(header, HEADER_SIGN),
												 _mm256_set1_epi64x(1)));
	value = _mm256_sub_epi64(_mm256_xor_si256(value, negative), negative);
	_mm256_storeu_si256((__m256i *) values, value);
	return _mm256_movemask_pd((__m256d) _mm256_andnot_si256(outside, fits)) ^ ((1 << LANES) - 1);
}

static VECTOR_WIDE uint64
decimals_wide(const char *const *found, int n, int scale, int64 *values)
{
	const DecimalForm form = form_of(scale);
	char zero[8 + HEADER_BYTES] = {0};
	uint64 left = 0;

	zero[8] = HEADER_BYTES << 1 | 1;
	zero[9] = (char) (scale << 7);
	zero[10] = (char) ((0x8000 | scale << 7) >> 8);
	for (int k = 0; k < n; k += LANES)
		left |= (uint64) decimals_four(found + k, zero + 8, &form, values + k) << k;
	return left;
}
#endif

uint64
gpuagg_page_decimals(const char *const *found, int n, int scale, int64 *values)
{
	bool has_short = scale < 64;
	uint64 left = PG_UINT64_MAX >> (64 - n);
	uint64 odd = 0;

#if defined(__x86_64__)
	if (has_short && gpuagg_vector_width() == 1)
	{
		int some = n / LANES * LANES;

		left = some < 64 ? left >> some << some : 0;
		left |= decimals_wide(found, some, scale, values);
	}
#endif
	for (; left != 0; left &= left - 1)
	{
		int k = __builtin_ctzll(left);

		values[k] = 0;
		if (found[k] != NULL &&
			!(has_short && gpuagg_page_decimal_short(found[k], scale, &values[k])))
			odd |= UINT64CONST(1) << k;
	}
	return odd;
}
