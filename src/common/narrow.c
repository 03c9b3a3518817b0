/*
 * narrow.c
 *	  Blocks of column values in as few bytes a value as their range needs.
 *
 * Loops take blocks of a fixed number of rows without aliases, which compilers turn into
 * vector instructions at -O2.  The last block of a loop overlaps the one before it, as doing
 * a row twice does no harm; only fewer rows than a block are done one by one.
 */
#include "common/narrow.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "common/column.h"
#include "common/stream_copy.h"
#include "common/vector_step.h"

#define BLOCK	   32  /* rows of a loop that converts */
#define LONG_BLOCK 256 /* rows of a loop that looks for extremes */
#define MOVED	   256 /* rows that are read and written at a time */

/* Values are looked at as numbers without sign, whatever they are. */
typedef uint8_t Bits8;
typedef uint16_t __attribute__((may_alias)) Bits16;
typedef uint32_t __attribute__((may_alias)) Bits32;
typedef uint64_t __attribute__((may_alias)) Bits64;
typedef int16_t __attribute__((may_alias)) Int16;
typedef int32_t __attribute__((may_alias)) Int32;
typedef int64_t __attribute__((may_alias)) Int64;
typedef GpuaggInt128 Bits128;

/* Values to stored differences, or back. */
typedef void (*Convert)(const void *from, void *to, GpuaggInt128 base, uint32_t n);

/* Widens minimum and maximum by n > 0 rows that are not NULL. */
typedef void (*Extremes)(GpuaggNarrow *narrow, const void *values, uint32_t n);

/* A loop over n rows: whole blocks by BLOCK_ROWS, fewer rows by ROWS. */
#define CONVERT_LOOP(NAME, ATTRIBUTES, FROM, TO, ROWS, BLOCK_ROWS)                           \
	ATTRIBUTES static void NAME(const void *from_values, void *to_values, GpuaggInt128 base, \
								uint32_t n)                                                  \
	{                                                                                        \
		const FROM *from = from_values;                                                      \
		TO *to = to_values;                                                                  \
		uint32_t i = 0;                                                                      \
                                                                                             \
		for (; n - i >= BLOCK; i += BLOCK)                                                   \
			BLOCK_ROWS(from + i, to + i, base, BLOCK);                                       \
		if (n < BLOCK)                                                                       \
			ROWS(from, to, base, n);                                                         \
		else if (i < n)                                                                      \
			BLOCK_ROWS(from + n - BLOCK, to + n - BLOCK, base, BLOCK);                       \
	}

/*
 * The loops NAME and NAME_wide: to[i] = STEP(FROM, TO, from[i], base); the latter does blocks
 * by WIDE_ROWS.
 */
#define CONVERT_BY(NAME, FROM, TO, STEP, WIDE_ROWS)                                               \
	VECTOR_INLINE void NAME##_rows(const FROM *restrict from, TO *restrict to, GpuaggInt128 base, \
								   uint32_t n)                                                    \
	{                                                                                             \
		for (uint32_t i = 0; i < n; i++)                                                          \
			to[i] = STEP(FROM, TO, from[i], base);                                                \
	}                                                                                             \
	CONVERT_LOOP(NAME, , FROM, TO, NAME##_rows, NAME##_rows)                                      \
	CONVERT_LOOP(NAME##_wide, VECTOR_WIDE, FROM, TO, NAME##_rows, WIDE_ROWS)
#define CONVERT(NAME, FROM, TO, STEP)		   CONVERT_BY(NAME, FROM, TO, STEP, NAME##_rows)

#define DIFFERENCE(FROM, TO, value, base)	   ((TO) ((value) - (FROM) (base).lo))
#define VALUE(FROM, TO, stored, base)		   ((TO) ((TO) (base).lo + (stored)))
#define WIDE_DIFFERENCE(FROM, TO, value, base) ((TO) ((value).lo - (base).lo))
#define WIDE_VALUE(FROM, TO, stored, base)	   wide_value(stored, base)

VECTOR_INLINE GpuaggInt128
wide_value(uint64_t stored, GpuaggInt128 base)
{
	GpuaggInt128 value;

	value.lo = base.lo + stored;
	value.hi = (int64_t) ((uint64_t) base.hi + (value.lo < stored ? 1 : 0));
	return value;
}

#define BETWEEN(BITS, WIDTH)                                             \
	CONVERT(write_##BITS##_##WIDTH, Bits##BITS, Bits##WIDTH, DIFFERENCE) \
	CONVERT(read_##BITS##_##WIDTH, Bits##WIDTH, Bits##BITS, VALUE)
#define BETWEEN_128(WIDTH)                                            \
	CONVERT(write_128_##WIDTH, Bits128, Bits##WIDTH, WIDE_DIFFERENCE) \
	CONVERT(read_128_##WIDTH, Bits##WIDTH, Bits128, WIDE_VALUE)

/*
 * Differences to 64 bits, for blocks: the instruction that widens four as it loads them,
 * which compilers do not find, takes half the time.
 */
#if defined(__x86_64__)
typedef Bits32 __attribute__((aligned(1))) Loose32;
typedef Bits64 __attribute__((aligned(1))) Loose64;

#define WIDEN(WIDTH, LOAD, EXTEND)                                                    \
	VECTOR_INLINE VECTOR_WIDE void widen_##WIDTH(const Bits##WIDTH *from, Bits64 *to, \
												 GpuaggInt128 base, uint32_t n)       \
	{                                                                                 \
		__m256i bases = _mm256_set1_epi64x((int64_t) base.lo);                        \
                                                                                      \
		_Pragma("GCC unroll 8") for (uint32_t i = 0; i < n; i += 4)                   \
		{                                                                             \
			__m256i values = _mm256_add_epi64(EXTEND(LOAD(from + i)), bases);         \
                                                                                      \
			_mm256_storeu_si256((__m256i *) (to + i), values);                        \
		}                                                                             \
	}
#define LOAD_32(from)  _mm_cvtsi32_si128((int) *(const Loose32 *) (from))
#define LOAD_64(from)  _mm_cvtsi64_si128((int64_t) * (const Loose64 *) (from))
#define LOAD_128(from) _mm_loadu_si128((const __m128i *) (from))

WIDEN(8, LOAD_32, _mm256_cvtepu8_epi64)
WIDEN(16, LOAD_64, _mm256_cvtepu16_epi64)
WIDEN(32, LOAD_128, _mm256_cvtepu32_epi64)

#define WIDE_ROWS(WIDTH) widen_##WIDTH
#else
#define WIDE_ROWS(WIDTH) read_64_##WIDTH##_rows
#endif

#define BETWEEN_64(WIDTH)                                      \
	CONVERT(write_64_##WIDTH, Bits64, Bits##WIDTH, DIFFERENCE) \
	CONVERT_BY(read_64_##WIDTH, Bits##WIDTH, Bits64, VALUE, WIDE_ROWS(WIDTH))

BETWEEN(16, 8)
BETWEEN(32, 8)
BETWEEN(32, 16)
BETWEEN_64(8)
BETWEEN_64(16)
BETWEEN_64(32)
BETWEEN_128(8)
BETWEEN_128(16)
BETWEEN_128(32)
BETWEEN_128(64)

/* Differences to one base become those to another one. */
CONVERT(shift_8, Bits8, Bits8, VALUE)
CONVERT(shift_16, Bits16, Bits16, VALUE)
CONVERT(shift_32, Bits32, Bits32, VALUE)
CONVERT(shift_64, Bits64, Bits64, VALUE)

/* By the logarithm of the width. */
static const Convert shifts[4][2] = {
	VECTOR_BOTH(shift_8),
	VECTOR_BOTH(shift_16),
	VECTOR_BOTH(shift_32),
	VECTOR_BOTH(shift_64),
};

typedef struct Loops
{
	Convert write[2];
	Convert read[2];
} Loops;

#define LOOPS(BITS, WIDTH)                                                      \
	{                                                                           \
		VECTOR_BOTH(write_##BITS##_##WIDTH), VECTOR_BOTH(read_##BITS##_##WIDTH) \
	}

/* By logarithms of the bytes of a value, and of its stored difference. */
static const Loops loops[5][4] = {
	[1] = {LOOPS(16, 8)},
	[2] = {LOOPS(32, 8), LOOPS(32, 16)},
	[3] = {LOOPS(64, 8), LOOPS(64, 16), LOOPS(64, 32)},
	[4] = {LOOPS(128, 8), LOOPS(128, 16), LOOPS(128, 32), LOOPS(128, 64)},
};

/*
 * The loops NAME and NAME_wide of extremes: KEY makes a value what is compared, KEEP makes
 * that what is kept, and KEPT_KEY the other way.  Rows are taken in fours, from the quarters
 * of a block: they are compared with each other before they are with the extremes so far, for
 * which the processor has to wait.
 */
#define EXTREMES(NAME, VALUES, T, KEY, KEPT_KEY, KEEP)                                           \
	VECTOR_INLINE void NAME##_quarters(const VALUES *values, T *minimum, T *maximum, uint32_t n) \
	{                                                                                            \
		T low = *minimum;                                                                        \
		T high = *maximum;                                                                       \
                                                                                                 \
		for (uint32_t i = 0; i < n; i++)                                                         \
		{                                                                                        \
			T a = KEY(values[i]);                                                                \
			T b = KEY(values[i + n]);                                                            \
			T c = KEY(values[i + 2 * n]);                                                        \
			T d = KEY(values[i + 3 * n]);                                                        \
			T low_ab = b < a ? b : a;                                                            \
			T high_ab = b < a ? a : b;                                                           \
			T low_cd = d < c ? d : c;                                                            \
			T high_cd = d < c ? c : d;                                                           \
			T low_all = low_cd < low_ab ? low_cd : low_ab;                                       \
			T high_all = high_ab < high_cd ? high_cd : high_ab;                                  \
                                                                                                 \
			low = low_all < low ? low_all : low;                                                 \
			high = high < high_all ? high_all : high;                                            \
		}                                                                                        \
		*minimum = low;                                                                          \
		*maximum = high;                                                                         \
	}                                                                                            \
	VECTOR_INLINE void NAME##_all(GpuaggNarrow *narrow, const void *from, uint32_t n)            \
	{                                                                                            \
		const VALUES *values = from;                                                             \
		T low = narrow->any ? KEPT_KEY(narrow->minimum) : KEY(values[0]);                        \
		T high = narrow->any ? KEPT_KEY(narrow->maximum) : low;                                  \
		uint32_t i = 0;                                                                          \
                                                                                                 \
		for (; n - i >= LONG_BLOCK; i += LONG_BLOCK)                                             \
			NAME##_quarters(values + i, &low, &high, LONG_BLOCK / 4);                            \
		for (; n - i >= 2 * BLOCK; i += 2 * BLOCK)                                               \
			NAME##_quarters(values + i, &low, &high, BLOCK / 2);                                 \
		for (; i < n; i++)                                                                       \
		{                                                                                        \
			T key = KEY(values[i]);                                                              \
                                                                                                 \
			low = key < low ? key : low;                                                         \
			high = high < key ? key : high;                                                      \
		}                                                                                        \
		narrow->minimum = KEEP(low);                                                             \
		narrow->maximum = KEEP(high);                                                            \
		narrow->any = 1;                                                                         \
	}                                                                                            \
	static void NAME(GpuaggNarrow *narrow, const void *values, uint32_t n)                       \
	{                                                                                            \
		NAME##_all(narrow, values, n);                                                           \
	}                                                                                            \
	VECTOR_WIDE static void NAME##_wide(GpuaggNarrow *narrow, const void *values, uint32_t n)    \
	{                                                                                            \
		NAME##_all(narrow, values, n);                                                           \
	}

VECTOR_INLINE GpuaggInt128
low_bits(uint64_t bits)
{
	GpuaggInt128 kept = {bits, 0};

	return kept;
}

#define SAME(value)			   (value)
#define KEPT_LOW(kept)		   ((int64_t) (kept).lo)
#define FLOAT32_KEPT_KEY(kept) gpuagg_order_key32((uint32_t) (kept).lo)
#define FLOAT32_KEEP(key)	   low_bits(gpuagg_order_bits32(key))
#define FLOAT64_KEPT_KEY(kept) gpuagg_order_key64((kept).lo)
#define FLOAT64_KEEP(key)	   low_bits(gpuagg_order_bits64(key))

EXTREMES(extremes_int16, Int16, int16_t, SAME, (int16_t) KEPT_LOW, gpuagg_int128_from)
EXTREMES(extremes_int32, Int32, int32_t, SAME, (int32_t) KEPT_LOW, gpuagg_int128_from)
EXTREMES(extremes_int64, Int64, int64_t, SAME, KEPT_LOW, gpuagg_int128_from)
EXTREMES(extremes_int128, Bits128, __int128, gpuagg_int128_wide, gpuagg_int128_wide,
		 gpuagg_int128_narrow)
EXTREMES(extremes_float32, Bits32, int32_t, gpuagg_order_key32, FLOAT32_KEPT_KEY, FLOAT32_KEEP)
EXTREMES(extremes_float64, Bits64, int64_t, gpuagg_order_key64, FLOAT64_KEPT_KEY, FLOAT64_KEEP)

static const Extremes extremes[GPUAGG_VECTOR_TYPES][2] = {
	[GPUAGG_VECTOR_INT16] = VECTOR_BOTH(extremes_int16),
	[GPUAGG_VECTOR_INT32] = VECTOR_BOTH(extremes_int32),
	[GPUAGG_VECTOR_INT64] = VECTOR_BOTH(extremes_int64),
	[GPUAGG_VECTOR_INT128] = VECTOR_BOTH(extremes_int128),
	[GPUAGG_VECTOR_FLOAT32] = VECTOR_BOTH(extremes_float32),
	[GPUAGG_VECTOR_FLOAT64] = VECTOR_BOTH(extremes_float64),
};

/* out[i] = values[i] where `valid` has a bit, else what is to stand there; n <= 64. */
#define FILL(BITS)                                                                                 \
	VECTOR_INLINE void fill_##BITS##_rows(const Bits##BITS *restrict values,                       \
										  Bits##BITS *restrict out, const uint8_t *restrict bytes, \
										  Bits##BITS instead, uint32_t n)                          \
	{                                                                                              \
		for (uint32_t i = 0; i < n; i++)                                                           \
		{                                                                                          \
			Bits##BITS mask = (Bits##BITS)(0 - (Bits##BITS) bytes[i]);                             \
                                                                                                   \
			out[i] = (Bits##BITS)((values[i] & mask) | (instead & ~mask));                         \
		}                                                                                          \
	}                                                                                              \
	static void fill_##BITS(uint64_t valid, const void *values, void *out, GpuaggInt128 instead,   \
							uint32_t n)                                                            \
	{                                                                                              \
		uint8_t bytes[64];                                                                         \
                                                                                                   \
		gpuagg_vector_unpack(valid, bytes);                                                        \
		if (n == 64)                                                                               \
			fill_##BITS##_rows(values, out, bytes, (Bits##BITS) instead.lo, 64);                   \
		else                                                                                       \
			fill_##BITS##_rows(values, out, bytes, (Bits##BITS) instead.lo, n);                    \
	}

FILL(16)
FILL(32)
FILL(64)

static void
fill_128(uint64_t valid, const void *values, void *out, GpuaggInt128 instead, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		((Bits128 *) out)[i] = valid >> i & 1 ? ((const Bits128 *) values)[i] : instead;
}

static void
fill(size_t size, uint64_t valid, const void *values, void *out, GpuaggInt128 instead, uint32_t n)
{
	if (size == 2)
		fill_16(valid, values, out, instead, n);
	else if (size == 4)
		fill_32(valid, values, out, instead, n);
	else if (size == 8)
		fill_64(valid, values, out, instead, n);
	else
		fill_128(valid, values, out, instead, n);
}

/* n low bits, 1 to 64. */
static uint64_t
low_mask(uint64_t n)
{
	return UINT64_MAX >> (64 - n);
}

static uint64_t
smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A run of rows whose values are complete: of rows without NULLs, or of up to 64 in `filled`. */
typedef struct Run
{
	const uint8_t *values;
	uint32_t n;
	GpuaggInt128 filled[64];
} Run;

/* The run from row i < n on, a multiple of 64; `instead` stands for NULLs. */
static void
take_run(Run *run, size_t size, const void *values, const uint64_t *valid, uint32_t i, uint32_t n,
		 GpuaggInt128 instead)
{
	uint32_t end = i;

	if (valid == NULL)
		end = n;
	else
		while (n - end >= 64 && valid[end / 64] == UINT64_MAX)
			end += 64;
	run->values = (const uint8_t *) values + i * size;
	run->n = end - i;
	if (end > i)
		return;
	run->n = (uint32_t) smaller(n - i, 64);
	fill(size, valid[i / 64], run->values, run->filled, instead, run->n);
	run->values = (const uint8_t *) run->filled;
}

/* The first row that is not NULL; n: there is none. */
static uint32_t
first_valid(const uint64_t *valid, uint32_t n)
{
	if (valid == NULL)
		return 0;
	for (uint32_t i = 0; i < n; i += 64)
	{
		uint64_t word = valid[i / 64] & low_mask(smaller(n - i, 64));

		if (word != 0)
			return i + (uint32_t) __builtin_ctzll(word);
	}
	return n;
}

static void
add_bits(GpuaggNarrow *narrow, const uint64_t *values, const uint64_t *valid, uint32_t n)
{
	uint64_t no = 0;
	uint64_t yes = 0;

	for (uint32_t i = 0; i < n; i += 64)
	{
		uint64_t rows = low_mask(smaller(n - i, 64));

		if (valid != NULL)
			rows &= valid[i / 64];
		no |= rows & ~values[i / 64];
		yes |= rows & values[i / 64];
	}
	if ((no | yes) == 0)
		return;
	narrow->minimum.lo = no == 0 && (!narrow->any || narrow->minimum.lo == 1);
	narrow->maximum.lo |= yes != 0;
	narrow->any = 1;
}

void
gpuagg_narrow_init(GpuaggNarrow *narrow, int type)
{
	memset(narrow, 0, sizeof(*narrow));
	narrow->type = (uint8_t) type;
}

void
gpuagg_narrow_add(GpuaggNarrow *narrow, const void *values, const uint64_t *valid, uint32_t n)
{
	size_t size = gpuagg_vector_type_size(narrow->type);
	Extremes loop = extremes[narrow->type][gpuagg_vector_width()];
	Run run;

	if (narrow->type == GPUAGG_VECTOR_BOOL)
	{
		add_bits(narrow, values, valid, n);
		return;
	}
	if (!narrow->any && n > 0)
	{
		uint32_t first = first_valid(valid, n);

		if (first == n)
			return;
		loop(narrow, (const uint8_t *) values + first * size, 1);
	}
	for (uint32_t i = 0; i < n; i += run.n)
	{
		take_run(&run, size, values, valid, i, n, narrow->minimum);
		loop(narrow, run.values, run.n);
	}
}

/* How far a value is above another one. */
static unsigned __int128
above(GpuaggInt128 value, GpuaggInt128 base)
{
	return (unsigned __int128) gpuagg_int128_wide(value) -
		   (unsigned __int128) gpuagg_int128_wide(base);
}

/* Sets the width, not below `least`, and as the base the minimum or 0. */
static void
fit(GpuaggNarrow *narrow, uint8_t least)
{
	uint8_t size = (uint8_t) gpuagg_vector_type_size(narrow->type);

	narrow->base = low_bits(0);
	narrow->width = size;
	if (narrow->type == GPUAGG_VECTOR_BOOL || gpuagg_vector_type_is_float(narrow->type))
		return;
	for (uint8_t width = least; width < size; width *= 2)
		if (above(narrow->maximum, narrow->minimum) >> (8 * width) == 0)
		{
			narrow->base = narrow->minimum;
			narrow->width = width;
			return;
		}
}

void
gpuagg_narrow_finish(GpuaggNarrow *narrow)
{
	fit(narrow, 1);
}

/* Whether it is stored as differences to a base. */
static bool
is_narrower(const GpuaggNarrow *narrow)
{
	return narrow->width != gpuagg_vector_type_size(narrow->type);
}

void
gpuagg_narrow_guess(GpuaggNarrow *narrow, uint8_t least)
{
	unsigned __int128 spare;

	fit(narrow, least);
	if (!is_narrower(narrow))
		return;
	spare = UINT64_MAX >> (64 - 8 * narrow->width);
	spare -= above(narrow->maximum, narrow->minimum);
	narrow->base = gpuagg_int128_narrow(
		(__int128) ((unsigned __int128) gpuagg_int128_wide(narrow->base) - spare / 2));
}

bool
gpuagg_narrow_holds(const GpuaggNarrow *narrow, const GpuaggNarrow *rows)
{
	unsigned __int128 low = above(rows->minimum, narrow->base);
	unsigned __int128 high = above(rows->maximum, narrow->base);

	return !is_narrower(narrow) || !rows->any || (low <= high && high >> (8 * narrow->width) == 0);
}

uint64_t
gpuagg_narrow_bytes(const GpuaggNarrow *narrow, uint64_t n)
{
	uint64_t bytes = narrow->type == GPUAGG_VECTOR_BOOL ? (n + 7) / 8 : n * narrow->width;

	return (bytes + 63) / 64 * 64;
}

/* The loops of a block whose values are narrower than their type. */
static const Loops *
loops_of(const GpuaggNarrow *narrow)
{
	return &loops[__builtin_ctzll(gpuagg_vector_type_size(narrow->type))]
				 [__builtin_ctz(narrow->width)];
}

/* 1 to 64 bits, in the low ones. */
static uint64_t
get_bits(const uint64_t *bits, uint64_t first, uint64_t n)
{
	uint64_t shift = first % 64;
	uint64_t word = bits[first / 64] >> shift;

	if (n > 64 - shift)
		word |= bits[first / 64 + 1] << (64 - shift);
	return word & low_mask(n);
}

/* Copies bits, those of `from` that `valid` does not have as 0. */
static void
copy_bits(uint64_t *to, uint64_t to_first, const uint64_t *from, const uint64_t *valid,
		  uint64_t from_first, uint64_t n)
{
	while (n > 0)
	{
		uint64_t shift = to_first % 64;
		uint64_t now = smaller(64 - shift, n);
		uint64_t word = get_bits(from, from_first, now);
		uint64_t *target = &to[to_first / 64];

		if (valid != NULL)
			word &= get_bits(valid, from_first, now);
		*target = (*target & ~(low_mask(now) << shift)) | word << shift;
		to_first += now;
		from_first += now;
		n -= now;
	}
}

void
gpuagg_narrow_write(const GpuaggNarrow *narrow, void *stored, uint64_t first, const void *values,
					const uint64_t *valid, uint32_t n)
{
	size_t size = gpuagg_vector_type_size(narrow->type);
	uint8_t *to = (uint8_t *) stored + first * narrow->width;
	Run run;

	if (narrow->type == GPUAGG_VECTOR_BOOL)
	{
		copy_bits(stored, first, values, valid, 0, n);
		return;
	}
	for (uint32_t i = 0; i < n; i += run.n, to += (size_t) run.n * narrow->width)
	{
		take_run(&run, size, values, valid, i, n, narrow->base);
		if (narrow->width == size)
			memcpy(to, run.values, run.n * size);
		else
			loops_of(narrow)->write[gpuagg_vector_width()](run.values, to, narrow->base, run.n);
	}
}

void
gpuagg_narrow_read(const GpuaggNarrow *narrow, const void *stored, uint64_t first, uint32_t n,
				   void *values, uint32_t to)
{
	size_t size = gpuagg_vector_type_size(narrow->type);
	const uint8_t *from = (const uint8_t *) stored + first * narrow->width;
	uint8_t *target = (uint8_t *) values + to * size;

	if (narrow->type == GPUAGG_VECTOR_BOOL)
		copy_bits(values, to, stored, NULL, first, n);
	else if (narrow->width != size)
		loops_of(narrow)->read[gpuagg_vector_width()](from, target, narrow->base, n);
	else if (n > 0)
		memcpy(target, from, n * size);
}

void
gpuagg_narrow_move(const GpuaggNarrow *narrow, void *stored, uint64_t first,
				   const GpuaggNarrow *from, const void *from_stored, uint64_t from_first,
				   const uint64_t *valid, uint32_t n)
{
	size_t width = narrow->width;
	const uint8_t *source = (const uint8_t *) from_stored + from_first * width;
	uint8_t *target = (uint8_t *) stored + first * width;
	GpuaggInt128 values[MOVED];

	if (width > 0 && width == from->width && (valid == NULL || !is_narrower(narrow)))
	{
		GpuaggInt128 up = gpuagg_int128_narrow((__int128) above(from->base, narrow->base));
		uint32_t most = (uint32_t) (sizeof(values) / width);

		if (up.lo == 0)
			gpuagg_stream_copy(target, source, n * width);
		for (uint32_t i = 0, some; up.lo != 0 && i < n; i += some)
		{
			some = (uint32_t) smaller(n - i, most);
			shifts[__builtin_ctzll(width)][gpuagg_vector_width()](source + i * width, values, up,
																  some);
			gpuagg_stream_copy(target + i * width, values, some * width);
		}
		return;
	}
	for (uint32_t i = 0; i < n; i += MOVED)
	{
		uint32_t some = (uint32_t) smaller(n - i, MOVED);

		gpuagg_narrow_read(from, from_stored, from_first + i, some, values, 0);
		gpuagg_narrow_write(narrow, stored, first + i, values,
							valid == NULL ? NULL : valid + i / 64, some);
	}
}

void
gpuagg_bits_copy(uint64_t *to, uint64_t to_first, const uint64_t *from, uint64_t from_first,
				 uint64_t n)
{
	copy_bits(to, to_first, from, NULL, from_first, n);
}

void
gpuagg_bits_set(uint64_t *bits, uint64_t first, uint64_t n)
{
	for (uint64_t end = first + n; first < end;)
	{
		uint64_t now = smaller(64 - first % 64, end - first);

		bits[first / 64] |= UINT64_MAX >> (64 - now) << first % 64;
		first += now;
	}
}

uint64_t
gpuagg_bits_count(const uint64_t *bits, uint64_t first, uint64_t n)
{
	uint64_t count = 0;

	while (n > 0)
	{
		uint64_t now = smaller(64 - first % 64, n);

		count += (uint64_t) __builtin_popcountll(get_bits(bits, first, now));
		first += now;
		n -= now;
	}
	return count;
}
