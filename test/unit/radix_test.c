/*
 * radix_test.c
 *	  The radix sort beside qsort: widths, sizes, and shapes of data.
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
	NSHAPES
};

static const size_t sizes[] = {0,	1,	 2,	  3,	31,	  32,	33,	   34,	  63,	64,
							   255, 256, 257, 2047, 2048, 2049, 65535, 65536, 65537};

static const int widths[] = {0,	 1,	 2,	 3,	 7,	 8,	  9,   10,	11,	 12,  16,  31,	32,
							 33, 63, 64, 65, 72, 100, 127, 128, 129, 191, 192, 193, 520};

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

/* By key and what comes with it. */
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
		case SKEWED:
			cut(key, words, bit + 1);
			break;
		default:
			break;
	}
	cut(key, words, bits);
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
	int ok = 1;

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
	gpuagg_radix_sort(items, scratch, n, words, bits, pause_counted);

	/* The order is qsort's, then within equal keys the items are the same ones. */
	for (size_t i = 0; i < n; i++)
		ok &= compare(items + i * stride, expected + i * stride) == 0;
	if (n > 0)
	{
		qsort(items, n, stride * sizeof(uint64_t), compare_whole);
		ok &= memcmp(items, expected, bytes) == 0;
	}
	free(items);
	free(scratch);
	free(expected);
	return ok;
}

int
main(void)
{
	size_t nsizes = sizeof(sizes) / sizeof(sizes[0]);
	size_t nwidths = sizeof(widths) / sizeof(widths[0]);

	seed = 11;
	for (int shape = 0; shape < NSHAPES; shape++)
		for (size_t w = 0; w < nwidths; w++)
			for (size_t s = 0; s < nsizes; s++)
			{
				/* The large ones at widths that differ in kind. */
				if (sizes[s] > 10000 && widths[w] % 64 != 0 && widths[w] != 11)
					continue;
				CHECK(sorts(sizes[s], widths[w], shape));
			}

	/* It can be interrupted: every PIECE items at least. */
	pauses = 0;
	CHECK(sorts(1000000, 40, RANDOM));
	CHECK(pauses >= 20);
	return check_summary();
}
