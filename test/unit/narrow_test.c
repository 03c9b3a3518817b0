/*
 * narrow_test.c
 *	  Blocks of narrow values beside an oracle that looks at one row at a time.
 *
 *		narrow_test [rounds [seed]]
 *
 * Memory is of just the size that may be touched, for the address sanitizer; where it must
 * be larger, what lies beside the rows is compared.
 */
#include "common/narrow_range.h"
#include "common/vector_run.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "random.h"

typedef unsigned __int128 Unsigned;

static const uint32_t sizes[] = {0,	  1,   2,	31,	 32,  33,  63,	64,	  65,	127,  128, 129,
								 223, 255, 256, 257, 288, 321, 511, 1023, 1024, 1025, 3001};

#define NSIZES ((int) (sizeof(sizes) / sizeof(sizes[0])))

enum
{
	NO_BITMAP,
	NO_NULL,
	FEW_NULLS,
	MANY_NULLS,
	NULL_WORDS,
	ALL_NULL,
	NPATTERNS
};

/* A block of random rows. */
typedef struct Block
{
	int type;
	size_t size; /* bytes of a value */
	uint32_t n;
	void *values;
	uint64_t *valid;
	uint64_t first; /* the rows' place in the stored block */
	GpuaggNarrow narrow;
	uint8_t *stored;
	size_t stored_bytes;
	uint8_t around; /* what stored bytes are before they are written */
} Block;

static bool
bit(const uint64_t *bits, uint64_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

static void
set_bit(uint64_t *bits, uint64_t i, bool value)
{
	bits[i / 64] = (bits[i / 64] & ~(UINT64_C(1) << i % 64)) | (uint64_t) value << i % 64;
}

static size_t
words(uint64_t n)
{
	return (n + 63) / 64;
}

/* Aligned memory of so many bytes, not one more. */
static void *
memory(size_t bytes, int fill)
{
	void *p;

	if (posix_memalign(&p, 64, bytes) != 0)
		abort();
	memset(p, fill, bytes);
	return p;
}

static bool
is_float(int type)
{
	return type == GPUAGG_VECTOR_FLOAT32 || type == GPUAGG_VECTOR_FLOAT64;
}

static bool
is_valid(const Block *block, uint32_t i)
{
	return block->valid == NULL || bit(block->valid, i);
}

/* A value without its sign's meaning: the bits of a float, an integer sign-extended. */
static Unsigned
get(int type, const void *values, uint64_t i)
{
	switch (type)
	{
		case GPUAGG_VECTOR_BOOL:
			return bit(values, i);
		case GPUAGG_VECTOR_INT16:
			return (Unsigned) ((const int16_t *) values)[i];
		case GPUAGG_VECTOR_INT32:
			return (Unsigned) ((const int32_t *) values)[i];
		case GPUAGG_VECTOR_INT64:
			return (Unsigned) ((const int64_t *) values)[i];
		case GPUAGG_VECTOR_INT128:
			return (Unsigned) gpuagg_int128_wide(((const GpuaggInt128 *) values)[i]);
		case GPUAGG_VECTOR_FLOAT32:
		{
			uint32_t bits;

			memcpy(&bits, (const uint8_t *) values + 4 * i, 4);
			return bits;
		}
		default:
		{
			uint64_t bits;

			memcpy(&bits, (const uint8_t *) values + 8 * i, 8);
			return bits;
		}
	}
}

static void
put(int type, void *values, uint64_t i, Unsigned v)
{
	size_t size = gpuagg_vector_type_size(type);
	GpuaggInt128 wide = gpuagg_int128_narrow((__int128) v);
	uint16_t int16 = (uint16_t) v;
	uint32_t int32 = (uint32_t) v;
	const void *from = size == 2 ? (void *) &int16 : size == 4 ? (void *) &int32 : (void *) &wide;

	if (type == GPUAGG_VECTOR_BOOL)
		set_bit(values, i, v & 1);
	else
		memcpy((uint8_t *) values + i * size, from, size);
}

static Unsigned
any_bits(void)
{
	return (Unsigned) next() << 64 | next();
}

/* Bits of a float: often one that is special. */
static Unsigned
any_float(int type)
{
	static const double few[] = {0,			-0.0, 1,	 -1,	NAN,	-NAN, INFINITY,
								 -INFINITY, 1e30, -1e30, 1e-40, -1e-40, 2.5,  -3.5};
	double d = few[next() % (sizeof(few) / sizeof(few[0]))];
	float f = (float) d;
	uint64_t bits = 0;

	if (next() % 3 == 0)
		return type == GPUAGG_VECTOR_FLOAT32 ? (uint32_t) next() : next();
	if (type == GPUAGG_VECTOR_FLOAT32)
		memcpy(&bits, &f, sizeof(f));
	else
		memcpy(&bits, &d, sizeof(d));
	return isnan(d) ? bits | next() % 1000 : bits;
}

/* Fills a block with values of a range at a boundary of widths, or anywhere. */
static void
fill_values(Block *block)
{
	int bits = (int) block->size * 8;
	int at = 8 << next() % 5;
	Unsigned span = ((Unsigned) (at < 128) << at % 128) + next() % 3 - 1;
	Unsigned least = any_bits();
	int kind = (int) (next() % 8);
	Unsigned most = block->size == 0 ? 1 : ~(Unsigned) 0 >> (128 - bits);

	if (kind == 0)
		span = next() % 3;
	else if (kind == 1)
		span = any_bits() >> next() % 128;
	if (at >= bits || span > most)
		span = next() % 2 ? most : span & most;
	if (block->size > 0 && !is_float(block->type))
	{
		/* from the least of the type, up to its greatest, or anywhere in between */
		Unsigned lowest = (Unsigned) -1 << (bits - 1);
		Unsigned room = most - span;

		least = lowest + (kind % 3 == 0 ? 0 : kind % 3 == 1 ? room : any_bits() & room);
		if (next() % 4 == 0) /* the low half of wide ones overflows within the range */
			least = (least | UINT64_MAX) - next() % 100;
		if (least - lowest > room)
			least = lowest;
	}
	for (uint32_t i = 0; i < block->n; i++)
	{
		int choice = (int) (next() % 8);
		Unsigned v = choice == 0			 ? span
					 : choice == 1			 ? 0
					 : span == ~(Unsigned) 0 ? any_bits()
											 : any_bits() % (span + 1);

		if (block->size == 0)
			v = kind == 0 ? 0 : kind == 1 ? 1 : any_bits();
		put(block->type, block->values, i,
			is_float(block->type) ? any_float(block->type) : least + v);
	}
	if (block->n > 1 && !is_float(block->type))
	{
		put(block->type, block->values, next() % block->n, least);
		put(block->type, block->values, next() % block->n, least + span);
	}
}

/* Which rows are NULL; what lies there and in bits beyond the rows is anything. */
static void
fill_valid(Block *block, int pattern)
{
	if (pattern == NO_BITMAP)
		return;
	block->valid = memory(words(block->n) * 8, 0);
	for (uint64_t w = 0; w < words(block->n); w++)
		block->valid[w] = pattern == NULL_WORDS ? (next() % 3 == 0 ? next() : -(next() % 2))
												: next();
	for (uint32_t i = 0; i < block->n && pattern != NULL_WORDS; i++)
		set_bit(block->valid, i,
				pattern == NO_NULL || (pattern == FEW_NULLS && next() % 40 != 0) ||
					(pattern == MANY_NULLS && next() % 3 == 0));
	for (uint32_t i = 0; i < block->n; i++)
		if (!is_valid(block, i) && next() % 2)
			put(block->type, block->values, i, any_bits());
}

static void
make_block(Block *block, int type, uint32_t n, int pattern)
{
	memset(block, 0, sizeof(*block));
	block->type = type;
	block->size = gpuagg_vector_type_size(type);
	block->n = n;
	block->first = next() % 200;
	block->values = memory(type == GPUAGG_VECTOR_BOOL ? words(n) * 8 : n * block->size, 0x5a);
	fill_values(block);
	fill_valid(block, pattern);
}

static void
free_block(Block *block)
{
	free(block->values);
	free(block->valid);
	free(block->stored);
}

/* Rows of the next call of many that do all of them: whole words, so that bitmaps can follow. */
static uint32_t
piece(uint32_t left)
{
	uint32_t n = 64 * (1 + (uint32_t) (next() % (next() % 2 ? 3 : 40)));

	return n < left ? n : left;
}

static const void *
values_from(const Block *block, uint32_t i)
{
	return (const uint8_t *) block->values + (block->size == 0 ? i / 8 : i * block->size);
}

static const uint64_t *
valid_from(const Block *block, uint32_t i)
{
	return block->valid == NULL ? NULL : block->valid + i / 64;
}

static double
float_of(int type, Unsigned bits)
{
	uint64_t all = (uint64_t) bits;
	uint32_t half = (uint32_t) bits;
	double d;
	float f;

	memcpy(&d, &all, sizeof(d));
	memcpy(&f, &half, sizeof(f));
	return type == GPUAGG_VECTOR_FLOAT32 ? f : d;
}

/* SQL's order, with -0 before +0. */
static bool
less(int type, Unsigned a, Unsigned b)
{
	double x;
	double y;

	if (!is_float(type))
		return (__int128) a < (__int128) b;
	x = float_of(type, a);
	y = float_of(type, b);
	if (isnan(x) || isnan(y))
		return !isnan(x);
	return x < y || (x == y && signbit(x) && !signbit(y));
}

static bool
same(int type, GpuaggInt128 kept, Unsigned value)
{
	if (is_float(type) && isnan(float_of(type, value)))
		value = type == GPUAGG_VECTOR_FLOAT32 ? 0x7fc00000 : UINT64_C(0x7ff8000000000000);
	return (Unsigned) gpuagg_int128_wide(kept) == value;
}

/* What the block's description has to be. */
static bool
described(const Block *block)
{
	const GpuaggNarrow *narrow = &block->narrow;
	bool any = false;
	Unsigned minimum = 0;
	Unsigned maximum = 0;
	Unsigned base = 0;
	size_t width = block->size;

	for (uint32_t i = 0; i < block->n; i++)
		if (is_valid(block, i))
		{
			Unsigned v = get(block->type, block->values, i);

			if (!any || less(block->type, v, minimum))
				minimum = v;
			if (!any || less(block->type, maximum, v))
				maximum = v;
			any = true;
		}
	if (!is_float(block->type) && block->size > 0)
	{
		width = 1;
		while (width < 16 && (maximum - minimum) >> (8 * width) != 0)
			width *= 2;
		base = width < block->size ? minimum : 0;
	}
	return narrow->type == block->type && narrow->any == any && narrow->width == width &&
		   same(block->type, narrow->minimum, minimum) &&
		   same(block->type, narrow->maximum, maximum) &&
		   (Unsigned) gpuagg_int128_wide(narrow->base) == base;
}

/* Whether each stored row is the difference to the base, and nothing else is touched. */
static bool
stored_well(const Block *block)
{
	size_t width = block->narrow.width;
	Unsigned base = (Unsigned) gpuagg_int128_wide(block->narrow.base);
	uint64_t end = block->first + block->n;
	bool ok = true;

	for (uint32_t i = 0; i < block->n; i++)
	{
		Unsigned v = is_valid(block, i) ? get(block->type, block->values, i) - base : 0;

		if (width == 0)
			ok &= bit((uint64_t *) block->stored, block->first + i) == v;
		else
			ok &= memcmp(block->stored + (block->first + i) * width, &v, width) == 0;
	}
	for (uint64_t i = 0; i < block->stored_bytes * 8; i++)
		if (width == 0 ? i < block->first || i >= end
					   : i / 8 < block->first * width || i / 8 >= end * width)
			ok &= (block->stored[i / 8] >> i % 8 & 1) == (block->around >> i % 8 & 1);
	return ok;
}

/* Whether n rows from row i on are read, to place `to` of a vector, and nothing else. */
static bool
reads(const Block *block, uint32_t i, uint32_t n)
{
	uint32_t to = (uint32_t) (next() % 70);
	size_t bytes = block->size == 0 ? words(to + n) * 8 : (to + n) * block->size;
	uint8_t around = (uint8_t) next();
	uint8_t *values = memory(bytes, around);
	uint64_t end = to + n;
	Unsigned base = (Unsigned) gpuagg_int128_wide(block->narrow.base);
	bool ok = true;

	gpuagg_narrow_read(&block->narrow, block->stored, block->first + i, n, values, to);
	for (uint32_t k = 0; k < n; k++)
		ok &= get(block->type, values, to + k) ==
			  (is_valid(block, i + k) ? get(block->type, block->values, i + k) : base);
	for (uint64_t k = 0; k < bytes * 8; k++)
		if (block->size == 0 ? k < to || k >= end : k / 8 < to * block->size)
			ok &= (values[k / 8] >> k % 8 & 1) == (around >> k % 8 & 1);
	free(values);
	return ok;
}

/* An end of a range: a value of the block or one beside it, the least or the greatest of all, or any. */
static __int128
range_end(const Block *block)
{
	const __int128 most = (__int128) (~(Unsigned) 0 >> 1);

	switch (next() % 8)
	{
		case 0:
			return next() % 2 ? most : -most - 1;
		case 1:
			return (__int128) any_bits();
		case 2:
			return (__int128) (int64_t) next();
		default:
			return block->n == 0 ? 0
								 : (__int128) (get(block->type, block->values, next() % block->n) +
											   next() % 3 - 1);
	}
}

static void
check_range(const Block *block)
{
	__int128 from = range_end(block);
	__int128 to = next() % 4 == 0 ? from : range_end(block);
	bool outside = next() % 3 == 0;
	GpuaggRange range = {gpuagg_int128_narrow(from), gpuagg_int128_narrow(to), outside};
	GpuaggRangeRows rows = gpuagg_narrow_range_rows(&block->narrow, &range);
	uint32_t i = block->n == 0 ? 0 : (uint32_t) (next() % block->n);
	uint32_t n = block->n == 0 ? 0 : (uint32_t) (next() % (block->n - i + 1));
	uint64_t *bits = memory(words(n) * 8, 0xff);
	bool ok = true;

	if (rows == GPUAGG_RANGE_SOME_ROWS)
		gpuagg_narrow_range_select(&block->narrow, block->stored, block->first + i, n, &range,
								   bits);
	for (uint32_t k = 0; k < block->n; k++)
	{
		__int128 v = (__int128) get(block->type, block->values, k);
		bool in = (v >= from && v <= to) != outside;

		if (!is_valid(block, k))
			continue;
		if (rows != GPUAGG_RANGE_SOME_ROWS)
			ok &= in == (rows == GPUAGG_RANGE_ALL_ROWS);
		else if (k >= i && k < i + n)
			ok &= in == bit(bits, k - i);
	}
	for (uint64_t k = n; k < words(n) * 64 && rows == GPUAGG_RANGE_SOME_ROWS; k++)
		ok &= !bit(bits, k);
	CHECK(ok);
	free(bits);
}

/* Whether a value of the type comes back from what is stored. */
static bool
comes_back(const GpuaggNarrow *narrow, GpuaggInt128 value)
{
	GpuaggInt128 stored = {0, 0};
	GpuaggInt128 values[2] = {value, {0, 0}};

	gpuagg_narrow_write(narrow, &stored, 0, &values[0], NULL, 1);
	gpuagg_narrow_read(narrow, &stored, 0, 1, &values[1], 0);
	return memcmp(&values[0], &values[1], gpuagg_vector_type_size(narrow->type)) == 0;
}

/* A range beside that of the block, or within it. */
static void
check_holds(const Block *block, const GpuaggNarrow *guess)
{
	GpuaggNarrow rows = block->narrow;
	int bits = (int) block->size * 8;
	Unsigned base = (Unsigned) gpuagg_int128_wide(guess->base);
	Unsigned range[2];
	bool holds;

	for (int i = 0; i < 2; i++)
	{
		Unsigned step = any_bits() >> (128 - 1 - next() % (unsigned) bits);

		range[i] = (Unsigned) gpuagg_int128_wide(i ? rows.maximum : rows.minimum);
		range[i] += next() % 2 ? step : -step;
		range[i] = (Unsigned) ((__int128) (range[i] << (128 - bits)) >> (128 - bits));
	}
	if ((__int128) range[1] < (__int128) range[0])
		return;
	rows.minimum = gpuagg_int128_narrow((__int128) range[0]);
	rows.maximum = gpuagg_int128_narrow((__int128) range[1]);
	holds = gpuagg_narrow_holds(guess, &rows);
	CHECK(!holds || !rows.any ||
		  (comes_back(guess, rows.minimum) && comes_back(guess, rows.maximum)));
	if (bits < 128)
		CHECK(holds == (!rows.any || guess->width == block->size ||
						((__int128) base <= (__int128) range[0] &&
						 (range[1] - base) >> (8 * guess->width) == 0)));
}

/* The block's rows by way of a guessed form, and back to it. */
static void
check_guess(Block *block)
{
	GpuaggNarrow guess = block->narrow;
	uint64_t first = next() % 200;
	uint64_t rows = first + block->n;
	size_t bytes;
	uint8_t *guessed;
	uint8_t *back;
	uint32_t n;

	gpuagg_narrow_guess(&guess, (uint8_t) (1 << next() % 5));
	CHECK(guess.width >= block->narrow.width && gpuagg_narrow_holds(&guess, &block->narrow));
	for (int k = 0; k < 8 && block->size > 0 && !is_float(block->type); k++)
		check_holds(block, &guess);
	bytes = block->size == 0 ? words(rows) * 8 : rows * guess.width;
	guessed = memory(bytes, 0);
	back = memory(bytes, 0);
	for (uint32_t i = 0; i < block->n; i += n)
	{
		n = piece(block->n - i);
		gpuagg_narrow_write(&guess, guessed, first + i, values_from(block, i), valid_from(block, i),
							n);
	}
	memset(block->stored, block->around, block->stored_bytes);
	for (uint32_t i = 0; i < block->n; i += n)
	{
		n = piece(block->n - i);
		gpuagg_narrow_move(&block->narrow, block->stored, block->first + i, &guess, guessed,
						   first + i, valid_from(block, i), n);
	}
	CHECK(stored_well(block));
	for (uint32_t i = 0; i < block->n; i += n)
	{
		n = piece(block->n - i);
		gpuagg_narrow_move(&guess, back, first + i, &block->narrow, block->stored, block->first + i,
						   valid_from(block, i), n);
	}
	CHECK(memcmp(back, guessed, bytes) == 0);
	free(guessed);
	free(back);
}

static void
check_block(Block *block)
{
	GpuaggNarrow *narrow = &block->narrow;
	uint64_t rows = block->first + block->n;
	uint32_t n;
	int ok = 1;

	gpuagg_narrow_init(narrow, block->type);
	for (uint32_t i = 0; i < block->n; i += n)
	{
		n = piece(block->n - i);
		gpuagg_narrow_add(narrow, values_from(block, i), valid_from(block, i), n);
	}
	gpuagg_narrow_add(narrow, block->values, block->valid, 0);
	gpuagg_narrow_finish(narrow);
	CHECK(described(block));

	block->stored_bytes = block->size == 0 ? words(rows) * 8 : rows * narrow->width;
	CHECK(gpuagg_narrow_bytes(narrow, rows) == (block->stored_bytes + 63) / 64 * 64);
	block->around = (uint8_t) next();
	block->stored = memory(block->stored_bytes, block->around);
	for (uint32_t i = 0; i < block->n; i += n)
	{
		n = piece(block->n - i);
		gpuagg_narrow_write(narrow, block->stored, block->first + i, values_from(block, i),
							valid_from(block, i), n);
	}
	CHECK(stored_well(block));

	ok &= reads(block, 0, block->n);
	for (int k = 0; k < 4; k++)
	{
		uint32_t i = (uint32_t) (next() % (block->n + 1));

		ok &= reads(block, i, (uint32_t) (next() % (block->n - i + 1)));
	}
	CHECK(ok);
	for (int k = 0;
		 k < 8 && block->type >= GPUAGG_VECTOR_INT16 && block->type <= GPUAGG_VECTOR_INT128; k++)
		check_range(block);
	check_guess(block);
	free(block->stored);
	block->stored = NULL;
}

static void
check_bits(uint64_t n)
{
	uint64_t to_first = next() % 130;
	uint64_t from_first = next() % 130;
	size_t to_words = words(to_first + n);
	size_t from_words = words(from_first + n);
	uint64_t *to = memory(to_words * 8, 0);
	uint64_t *before = memory(to_words * 8, 0);
	uint64_t *from = memory(from_words * 8, 0);
	uint64_t count = 0;
	int ok = 1;

	for (size_t i = 0; i < to_words; i++)
		to[i] = before[i] = next();
	for (size_t i = 0; i < from_words; i++)
		from[i] = next() % 4 ? next() : -(next() % 2);
	for (uint64_t i = 0; i < n; i++)
		count += bit(from, from_first + i);
	CHECK(gpuagg_bits_count(from, from_first, n) == count);
	gpuagg_bits_copy(to, to_first, from, from_first, n);
	for (uint64_t i = 0; i < to_words * 64; i++)
		ok &= bit(to, i) == (i >= to_first && i < to_first + n
								 ? bit(from, from_first + i - to_first)
								 : bit(before, i));
	CHECK(ok);
	free(to);
	free(before);
	free(from);
}

/* Bitmaps of which only the words with the rows' bits are there. */
static void
check_far_bits(void)
{
	uint64_t *from = memory(8 * 8, 0);
	uint64_t *to = memory(8 * 8, 0);

	for (int i = 0; i < 8; i++)
		from[i] = next();
	for (uint64_t n = 1; n <= 64; n++)
	{
		uint64_t first = 7 * 64 + (64 - n);

		memset(to, 0, 8 * 8);
		gpuagg_bits_copy(to, first, from, first, n);
		CHECK(to[6] == 0 && to[7] == from[7] >> (64 - n) << (64 - n));
		CHECK(gpuagg_bits_count(from, first, n) == gpuagg_bits_count(to, 0, 512));
	}
	free(from);
	free(to);
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 6;

	seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 15;
	for (int round = 0; round < rounds; round++)
		for (int s = 0; s < NSIZES; s++)
		{
			for (int type = GPUAGG_VECTOR_BOOL; type <= GPUAGG_VECTOR_FLOAT64; type++)
				for (int pattern = 0; pattern < NPATTERNS; pattern++)
				{
					Block block;

					make_block(&block, type, sizes[s], pattern);
					gpuagg_vector_plain = false;
					check_block(&block);
					gpuagg_vector_plain = true;
					check_block(&block);
					free_block(&block);
				}
			for (int k = 0; k < 40; k++)
				check_bits(sizes[s]);
		}
	check_far_bits();
	return check_summary();
}
