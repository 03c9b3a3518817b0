/*
 * radix_test.c
 *	  The radix sort, at once and in pieces, beside qsort: widths, sizes, and shapes of data.
 */
#include "common/radix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "random.h"

enum
{
	RANDOM,
	EQUAL,
	SORTED,
	REVERSED,
	FEW,
	EXTREMES,
	ONE_BIT, /* of any position, and no other */
	PREFIX,	 /* equal but for the low bits */
	SKEWED,	 /* a few of each magnitude */
	DENSE,	 /* all numbers below n, twice: the low half of the key goes with the upper one */
	NSHAPES
};

static const size_t sizes[] = {0,	1,	 2,	  3,   31,	32,	  33,	34,	  63,	 64,	255,
							   256, 257, 511, 512, 513, 2047, 2048, 2049, 65535, 65536, 65537};

static const int widths[] = {0,	 1,	 2,	  3,   7,	8,	 9,	  10,  11,	12, 16,
							 18, 19, 27,  31,  32,	33,	 54,  55,  62,	63, 64,
							 65, 72, 100, 127, 128, 129, 191, 192, 193, 520};

/* Items of a piece; 0: all at once. */
static const size_t mosts[] = {0, 33, 4096};

static int compared; /* words */
static long pauses;

static void
pause_counted(void)
{
	pauses++;
}

/* By key alone. */
static int
compare(const void *a, const void *b)
{
	const uint64_t *x = a;
	const uint64_t *y = b;

	for (int i = 0; i < compared; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/* By key, then by the word that follows it. */
static int
compare_whole(const void *a, const void *b)
{
	int c = compare(a, b);
	uint64_t x = ((const uint64_t *) a)[compared];
	uint64_t y = ((const uint64_t *) b)[compared];

	return c != 0 ? c : (x > y) - (x < y);
}

/* Clears what is above bit `bits`. */
static void
cut(uint64_t *key, int words, int bits)
{
	for (int i = 0; i < words; i++)
	{
		int in_word = bits - 64 * (words - 1 - i);

		if (in_word <= 0)
			key[i] = 0;
		else if (in_word < 64)
			key[i] &= (UINT64_C(1) << in_word) - 1;
	}
}

static void
fill(uint64_t *key, int words, int bits, int shape, size_t i, size_t n)
{
	int bit = bits > 0 ? (int) (next() % bits) : 0;

	for (int w = 0; w < words; w++)
		key[w] = shape == RANDOM || shape == SKEWED ? next() : 0;
	switch (shape)
	{
		case EQUAL:
			memset(key, 0x5a, words * sizeof(*key));
			break;
		case SORTED:
			key[words - 1] = i;
			break;
		case REVERSED:
			key[words - 1] = n - i;
			break;
		case FEW:
			key[words - 1] = next() % 5;
			key[0] = next() % 3 << 62;
			break;
		case EXTREMES:
			memset(key, next() % 2 ? 0xff : 0, words * sizeof(*key));
			key[words - 1] ^= next() % 2;
			break;
		case ONE_BIT:
			key[words - 1 - bit / 64] = UINT64_C(1) << bit % 64;
			break;
		case PREFIX:
			memset(key, 0xa5, words * sizeof(*key));
			key[words - 1] ^= next() % 1000;
			break;
		case DENSE:
			key[words - 1] = i * 7919 % n;
			key[words - 1] |= key[words - 1] << 24;
			break;
		case SKEWED:
			cut(key, words, bit + 1);
			break;
		default:
			break;
	}
	cut(key, words, bits);
}

#define MOST_PIECES 200000

static GpuaggRadixPiece pieces[MOST_PIECES];
static size_t npieces;
static size_t most; /* items of a piece */
static int too_large;

static void
keep_piece(void *arg, const GpuaggRadixPiece *piece)
{
	(void) arg;
	too_large |= piece->n > most && piece->bits > 8;
	pieces[npieces++] = *piece;
}

/* Sorts in pieces, the last one first. */
static void
sort_in_pieces(uint64_t *items, uint64_t *scratch, size_t n, int words, int bits)
{
	npieces = 0;
	gpuagg_radix_split(items, scratch, n, words, bits, most, keep_piece, NULL, pause_counted);
	while (npieces > 0)
		gpuagg_radix_sort_piece(&pieces[--npieces], words, pause_counted);
}

static int in_buckets;
static int scratch_too_small; /* for the largest bucket */

/* Sorts as if the items were made in pieces of 1,000. */
static void
sort_in_buckets(uint64_t *items, uint64_t *scratch, size_t n, int words, int bits)
{
	size_t bytes = n * (words + 1) * sizeof(uint64_t);
	uint64_t *made = malloc(bytes);
	GpuaggRadixBuckets buckets;
	uint64_t *moved_to;
	size_t room;

	memcpy(made, items, bytes);
	moved_to = malloc(gpuagg_radix_start(&buckets, n, words, bits) * (words + 1) *
					  sizeof(uint64_t));
	for (size_t i = 0; i < n; i += 1000)
		gpuagg_radix_count(&buckets, made + i * (words + 1), n - i < 1000 ? n - i : 1000);
	room = gpuagg_radix_counted(&buckets);
	scratch_too_small |= room > n;
	memset(scratch, 0x5a, bytes);
	for (size_t i = 0; i < n; i += 1000)
		gpuagg_radix_move(&buckets, made + i * (words + 1), n - i < 1000 ? n - i : 1000, moved_to,
						  scratch);
	gpuagg_radix_finish(&buckets, moved_to, scratch, pause_counted);
	memcpy(items, moved_to, bytes);
	for (size_t i = room * (words + 1); i < n * (words + 1); i++)
		scratch_too_small |= scratch[i] != UINT64_C(0x5a5a5a5a5a5a5a5a);
	free(moved_to);
	free(made);
}

static int
sorts(size_t n, int bits, int shape)
{
	int words = bits > 64 ? (bits + 63) / 64 : 1;
	size_t stride = words + 1;
	size_t bytes = n * stride * sizeof(uint64_t);
	uint64_t *items = malloc(bytes + 1);
	uint64_t *scratch = malloc(bytes + 1);
	uint64_t *expected = malloc(bytes + 1);
	int ok;

	for (size_t i = 0; i < n; i++)
	{
		fill(items + i * stride, words, bits, shape, i, n);
		items[i * stride + words] = i;
	}
	compared = words;
	if (n > 0)
	{
		memcpy(expected, items, bytes);
		qsort(expected, n, stride * sizeof(uint64_t), compare_whole);
	}
	if (in_buckets && n > 0 && bits > 0)
		sort_in_buckets(items, scratch, n, words, bits);
	else if (most == 0)
		gpuagg_radix_sort(items, scratch, n, words, bits, pause_counted);
	else
		sort_in_pieces(items, scratch, n, words, bits);

	/* the order is qsort's, and equal keys stay in theirs */
	ok = n == 0 || memcmp(items, expected, bytes) == 0;
	free(items);
	free(scratch);
	free(expected);
	return ok;
}

/* Sizes and widths around those that are sorted from the least significant digit up. */
static void
check_low_first(void)
{
	static const size_t low_sizes[] = {1023,  1024,	 1025,	2048,  3071,  3072,	  5119,	 5120,
									   16384, 32768, 65535, 65536, 65537, 131073, 262145};
	static const int low_widths[] = {11, 12, 13, 24, 25, 36, 37, 48, 59, 60, 61, 64, 76, 188};

	for (size_t s = 0; s < sizeof(low_sizes) / sizeof(low_sizes[0]); s++)
		for (size_t w = 0; w < sizeof(low_widths) / sizeof(low_widths[0]); w++)
			for (int shape = 0; shape < NSHAPES; shape++)
			{
				if (low_sizes[s] > 10000 && shape != RANDOM && shape != SKEWED && shape != DENSE)
					continue;
				if (low_sizes[s] > 100000 && w % 3 != 0)
					continue;
				CHECK(sorts(low_sizes[s], low_widths[w], shape));
			}
}

/* Sizes and widths around those whose writes are combined. */
static void
check_combined(void)
{
	static const size_t combined_sizes[] = {65535, 65536, 65537, 70001, 262143};
	static const int combined_widths[] = {1, 2, 5, 20, 65, 67, 129, 193, 520, 575};

	in_buckets = 1;
	for (size_t s = 0; s < sizeof(combined_sizes) / sizeof(combined_sizes[0]); s++)
		for (size_t w = 0; w < sizeof(combined_widths) / sizeof(combined_widths[0]); w++)
			for (int shape = 0; shape < NSHAPES; shape++)
				if ((shape == RANDOM || shape == SKEWED || shape == DENSE) &&
					(combined_sizes[s] < 100000 || w % 3 == 0))
					CHECK(sorts(combined_sizes[s], combined_widths[w], shape));
	in_buckets = 0;
}

int
main(void)
{
	size_t nsizes = sizeof(sizes) / sizeof(sizes[0]);
	size_t nwidths = sizeof(widths) / sizeof(widths[0]);
	size_t nmosts = sizeof(mosts) / sizeof(mosts[0]);

	seed = 11;
	for (int shape = 0; shape < NSHAPES; shape++)
		for (size_t w = 0; w < nwidths; w++)
			for (size_t s = 0; s < nsizes; s++)
				for (size_t m = 0; m < nmosts; m++)
				{
					/* large sizes only at a few widths, one of each kind */
					if (mosts[m] != 0 && w % 3 != s % 3)
						continue;
					if (sizes[s] > 10000 &&
						(mosts[m] == 33 || (widths[w] % 64 != 0 && widths[w] != 11)))
						continue;
					most = mosts[m];
					CHECK(sorts(sizes[s], widths[w], shape));
					if (most > 0)
						continue;
					in_buckets = 1;
					CHECK(sorts(sizes[s], widths[w], shape));
					in_buckets = 0;
				}
	most = 0;
	check_low_first();
	check_combined();
	CHECK(!too_large);
	CHECK(!scratch_too_small);

	/* it pauses at least every PIECE items */
	pauses = 0;
	most = 0;
	CHECK(sorts(1000000, 40, RANDOM));
	CHECK(pauses >= 20);
	pauses = 0;
	most = 65536;
	CHECK(sorts(1000000, 40, RANDOM));
	CHECK(pauses >= 15);
	pauses = 0;
	in_buckets = 1;
	CHECK(sorts(1000000, 40, RANDOM));
	CHECK(pauses >= 10);
	return check_summary();
}
