/*
 * radix.c
 *	  Sorts items by an unsigned key of any number of bits.
 *
 * The sort begins with the most significant digit.  A level counts its items by their
 * digits, moves them to one bucket for each digit in the other array, and sorts each
 * bucket by the remaining bits.  If all items share a digit, nothing moves, and all further
 * bits that they share are skipped with it.  Every level takes at least LEAST_WIDTH bits or
 * ends a word, in at most two passes over its items, so the time is bounded by n and the
 * bits, whatever the data.
 *
 * A bucket that caches have is sorted from its least significant digit up, which has no
 * branches that depend on the items.  Where that has too many counters for the items, only the bits
 * that tell them apart are read, about log2(n): buckets of few items are sorted by insertion.
 */
#include "common/radix.h"

#include <string.h>

#include "common/stream_copy.h"

#define FEW			32	   /* items that are sorted by insertion */
#define LEAST_WIDTH 3	   /* with fewer, buckets have more than FEW / 4 items */
#define LAST_WIDTH	11	   /* bits of a last digit, at most */
#define PIECE		131072 /* items between pauses */
#define COMBINED	8	   /* items that move together: of any number of words whole lines */
#define GAP			8	   /* items between their buckets, at least */

/*
 * Items that are sorted from the least significant digit up: as many as caches have, and some for each
 * counter.  Digits are wide, as keys without gaps go to buckets a power of two apart, which share
 * few places in a cache: there are to be few of these.
 */
#define LOW_LEAST  1024 /* items a digit */
#define LOW_MOST   65536
#define LOW_SPLIT  16384 /* more are split into buckets of so many: LOW_MOST / 2^(LEAST_WIDTH - 1) */
#define LOW_WIDTH  12
#define LOW_DIGITS 5
#define LOW_BLOCK  256 /* items that are counted by one digit after the other */

#define INLINE	   static inline __attribute__((always_inline))

typedef struct Sort
{
	int words;
	size_t since; /* items moved since the last pause */
	GpuaggPause pause;
} Sort;

/* Calls an inlined function, with the number of words as a constant if that is small. */
#define CALL(words, function, ...)          \
	switch (words)                          \
	{                                       \
		case 1:                             \
			function(1, __VA_ARGS__);       \
			break;                          \
		case 2:                             \
			function(2, __VA_ARGS__);       \
			break;                          \
		default:                            \
			function((words), __VA_ARGS__); \
	}

static void
moved(Sort *sort, size_t n)
{
	sort->since += n;
	if (sort->since >= PIECE)
	{
		sort->since = 0;
		sort->pause();
	}
}

INLINE void
copy_item(int words, uint64_t *to, const uint64_t *from)
{
	for (int i = 0; i <= words; i++)
		to[i] = from[i];
}

/* Whether a is before b by the words from `first` on. */
INLINE int
before(int words, const uint64_t *a, const uint64_t *b, int first)
{
	for (int i = first; i < words; i++)
		if (a[i] != b[i])
			return a[i] < b[i];
	return 0;
}

/* Sorts a few items into `to`, which is `from` or does not overlap it. */
INLINE void
insert(int words, uint64_t *from, uint64_t *to, size_t n, int first)
{
	size_t stride = words + 1;
	uint64_t item[GPUAGG_RADIX_MAX_WORDS + 1];

	for (size_t i = 0; i < n; i++)
	{
		uint64_t *at = to + i * stride;

		copy_item(words, item, from + i * stride);
		while (at > to && before(words, item, at - stride, first))
		{
			copy_item(words, at, at - stride);
			at -= stride;
		}
		copy_item(words, at, item);
	}
}

/* Bits of one word of a key. */
typedef struct Digit
{
	int word;
	int shift;
	uint64_t mask;
} Digit;

/* The `width` bits below bit `bits`, which are in one word. */
static Digit
digit_of(int words, int bits, int width)
{
	return (Digit){words - 1 - (bits - width) / 64, (bits - width) % 64,
				   (UINT64_C(1) << width) - 1};
}

INLINE size_t
digit_value(const uint64_t *item, Digit digit)
{
	return item[digit.word] >> digit.shift & digit.mask;
}

/* Loops over a digit, with counters of a type that holds the number of items. */
#define DIGIT_LOOPS(Counter, count, begin_buckets, distribute)                                    \
	INLINE void count(int words, const uint64_t *items, size_t n, Digit digit, Counter *counts)   \
	{                                                                                             \
		for (size_t i = 0; i < n; i++)                                                            \
			counts[digit_value(items + i * (words + 1), digit)]++;                                \
	}                                                                                             \
                                                                                                  \
	/* Makes of buckets' counts where they begin. */                                              \
	static void begin_buckets(Counter *counts, size_t nbuckets)                                   \
	{                                                                                             \
		Counter sum = 0;                                                                          \
                                                                                                  \
		for (size_t i = 0; i < nbuckets; i++)                                                     \
		{                                                                                         \
			Counter in_bucket = counts[i];                                                        \
                                                                                                  \
			counts[i] = sum;                                                                      \
			sum += in_bucket;                                                                     \
		}                                                                                         \
	}                                                                                             \
                                                                                                  \
	INLINE void distribute(int words, const uint64_t *items, size_t n, Digit digit, uint64_t *to, \
						   Counter *next)                                                         \
	{                                                                                             \
		for (size_t i = 0; i < n; i++)                                                            \
		{                                                                                         \
			const uint64_t *item = items + i * (words + 1);                                       \
                                                                                                  \
			copy_item(words, to + next[digit_value(item, digit)]++ * (size_t) (words + 1), item); \
		}                                                                                         \
	}

DIGIT_LOOPS(size_t, count, begin_buckets, distribute)
DIGIT_LOOPS(uint32_t, count_few, begin_few, distribute_few) /* up to LOW_MOST */

/*
 * Moves items to their buckets by the `width` bits below bit `bits`; end[i] becomes the end of
 * bucket i.  Returns 0, and moves nothing, if all items belong to one bucket.
 */
static int
split(Sort *sort, const uint64_t *items, uint64_t *to, size_t n, int bits, int width, size_t *end)
{
	size_t stride = sort->words + 1;
	Digit digit = digit_of(sort->words, bits, width);
	size_t piece;

	memset(end, 0, (digit.mask + 1) * sizeof(*end));
	for (size_t i = 0; i < n; i += piece)
	{
		piece = n - i < PIECE ? n - i : PIECE;
		CALL(sort->words, count, items + i * stride, piece, digit, end);
		moved(sort, piece);
	}
	if (end[digit_value(items, digit)] == n)
		return 0;
	begin_buckets(end, digit.mask + 1);
	for (size_t i = 0; i < n; i += piece)
	{
		piece = n - i < PIECE ? n - i : PIECE;
		CALL(sort->words, distribute, items + i * stride, piece, digit, to, end);
		moved(sort, piece);
	}
	return 1;
}

/* How many of the `bits` low bits remain after the leading ones that all items share. */
static int
differing_bits(Sort *sort, const uint64_t *items, size_t n, int bits)
{
	size_t stride = sort->words + 1;

	for (int word = sort->words - (bits + 63) / 64; word < sort->words; word++)
	{
		uint64_t differs = 0;
		size_t piece;

		for (size_t i = 0; i < n; i += piece)
		{
			piece = n - i < PIECE ? n - i : PIECE;
			for (size_t j = i; j < i + piece; j++)
				differs |= items[j * stride + word] ^ items[word];
			moved(sort, piece);
		}
		if (differs)
			return (sort->words - word) * 64 - __builtin_clzll(differs);
	}
	return 0;
}

/*
 * How many bits more than FEW items are split by, in one word: for buckets that are sorted from the
 * least significant digit up, or, of less items than that is for, of about four; `most`, if more.
 */
static int
digit_width(size_t n, int bits, int most)
{
	int width = n > LOW_MOST ? 64 - __builtin_clzll(n / LOW_SPLIT) : 61 - __builtin_clzll(n);
	int in_word = (bits + 63) % 64 + 1;

	if (width > most)
		width = most;
	return width < in_word ? width : in_word;
}

/* Sorts by all remaining bits at once. */
static __attribute__((noinline)) void
sort_last(Sort *sort, uint64_t *items, uint64_t *other, size_t n, int bits, int into_other)
{
	size_t end[1 << LAST_WIDTH];
	size_t bytes = n * (sort->words + 1) * sizeof(*items);

	if (split(sort, items, other, n, bits, bits, end))
	{
		if (!into_other)
			memcpy(items, other, bytes);
	}
	else if (into_other)
		memcpy(other, items, bytes);
}

/* Digits that the low `bits` bits make, if the sort is to begin with the least significant; 0: it is not. */
static int
low_digits(size_t n, int bits)
{
	int ndigits = (bits + LOW_WIDTH - 1) / LOW_WIDTH;

	return ndigits <= LOW_DIGITS && n <= LOW_MOST && n / LOW_LEAST >= (size_t) ndigits ? ndigits
																					   : 0;
}

/* Whether items are in order by the last words of their keys. */
static int
in_order(const Sort *sort, const uint64_t *items, size_t n)
{
	const uint64_t *last = items + sort->words - 1;
	size_t stride = sort->words + 1;

	for (size_t i = 1; i < n; i++)
		if (last[(i - 1) * stride] > last[i * stride])
			return 0;
	return 1;
}

/* Sorts items by their low `bits` bits, in so many digits, from the least significant one up. */
static __attribute__((noinline)) void
sort_low_first(Sort *sort, uint64_t *items, uint64_t *other, size_t n, int bits, int ndigits,
			   int into_other)
{
	size_t stride = sort->words + 1;
	uint32_t next[LOW_DIGITS][1 << LOW_WIDTH];
	Digit digits[LOW_DIGITS];
	uint64_t *from = items;
	uint64_t *to = into_other ? other : items;

	for (int i = 0; i < ndigits; i++)
	{
		int end = i + 1 < ndigits ? (i + 1) * LOW_WIDTH : bits;

		digits[i] = digit_of(sort->words, end, end - i * LOW_WIDTH);
		memset(next[i], 0, (digits[i].mask + 1) * sizeof(next[i][0]));
	}
	for (size_t i = 0; i < n; i += LOW_BLOCK)
		for (int j = 0; j < ndigits; j++)
			CALL(sort->words, count_few, items + i * stride, n - i < LOW_BLOCK ? n - i : LOW_BLOCK,
				 digits[j], next[j]);
	moved(sort, n);
	for (int i = 0; i < ndigits; i++)
	{
		uint64_t *into = from == items ? other : items;

		if (next[i][digit_value(from, digits[i])] == n)
			continue;
		/* at first, or as one column goes with another */
		if (in_order(sort, from, n))
			break;
		begin_few(next[i], digits[i].mask + 1);
		CALL(sort->words, distribute_few, from, n, digits[i], into, next[i]);
		moved(sort, n);
		from = into;
	}
	if (from != to)
		memcpy(to, from, n * stride * sizeof(*to));
}

/* Sorts items that differ only in their low `bits` bits, if any, into `items` or `other`. */
static void
sort_items(Sort *sort, uint64_t *items, uint64_t *other, size_t n, int bits, int into_other)
{
	size_t stride = sort->words + 1;
	size_t end[1 << GPUAGG_RADIX_WIDTH];
	size_t start = 0;
	int ndigits;
	int width;

	for (;;)
	{
		if (n <= FEW)
		{
			uint64_t *to = into_other ? other : items;

			CALL(sort->words, insert, items, to, n, sort->words - (bits + 63) / 64);
			moved(sort, n);
			return;
		}

		if (bits <= LAST_WIDTH && (bits <= GPUAGG_RADIX_WIDTH || n >> bits > 0))
		{
			sort_last(sort, items, other, n, bits, into_other);
			return;
		}
		ndigits = low_digits(n, bits);
		if (ndigits > 0)
		{
			sort_low_first(sort, items, other, n, bits, ndigits, into_other);
			return;
		}
		width = digit_width(n, bits, GPUAGG_RADIX_WIDTH);
		if (split(sort, items, other, n, bits, width, end))
			break;
		bits = differing_bits(sort, items, n, bits - width);
	}

	for (size_t i = 0; i < (size_t) 1 << width; i++)
	{
		size_t at = start * stride;
		size_t in_bucket = end[i] - start;

		if (in_bucket > 0)
			sort_items(sort, other + at, items + at, in_bucket, bits - width, !into_other);
		start = end[i];
	}
}

void
gpuagg_radix_sort(uint64_t *items, uint64_t *scratch, size_t n, int words, int bits,
				  GpuaggPause pause)
{
	Sort sort = {words, 0, pause};

	if (n > 1 && bits > 0)
		sort_items(&sort, items, scratch, n, bits, 0);
}

/* ---- of items that are made in pieces ---- */

static size_t
bucket_count(const GpuaggRadixBuckets *buckets)
{
	return (size_t) 1 << buckets->width;
}

/* Where the bucket after one that ends there begins. */
static size_t
next_bucket(const GpuaggRadixBuckets *buckets, size_t end)
{
	return buckets->combines ? (end + GAP + COMBINED - 1) / COMBINED * COMBINED : end;
}

/* Where the first bucket begins: with a line, where writes are combined. */
static uint64_t *
first_bucket(const GpuaggRadixBuckets *buckets, uint64_t *to)
{
	size_t before = -(uintptr_t) to % GPUAGG_STREAM_LINE;

	return buckets->combines ? to + before / sizeof(*to) : to;
}

size_t
gpuagg_radix_start(GpuaggRadixBuckets *buckets, size_t n, int words, int bits)
{
	memset(buckets, 0, sizeof(*buckets));
	buckets->words = words;
	buckets->bits = bits;
	buckets->combines = n > LOW_MOST;
	buckets->width = digit_width(n > FEW ? n : FEW, bits,
								 buckets->combines ? GPUAGG_RADIX_COMBINED_WIDTH
												   : GPUAGG_RADIX_WIDTH);
	/* as much for the first one as after each */
	return n + (buckets->combines ? (bucket_count(buckets) + 1) * (GAP + COMBINED) : 0);
}

void
gpuagg_radix_count(GpuaggRadixBuckets *buckets, const uint64_t *items, size_t n)
{
	CALL(buckets->words, count, items, n, digit_of(buckets->words, buckets->bits, buckets->width),
		 buckets->end);
}

size_t
gpuagg_radix_counted(GpuaggRadixBuckets *buckets)
{
	size_t buffered = buckets->combines ? bucket_count(buckets) * COMBINED : 0;
	size_t start = 0;
	size_t most = 0;

	for (size_t i = 0; i < bucket_count(buckets); i++)
	{
		size_t in_bucket = buckets->end[i];

		buckets->end[i] = start;
		start = next_bucket(buckets, start + in_bucket);
		most = in_bucket > most ? in_bucket : most;
	}
	return most > buffered ? most : buffered;
}

/* Moves items to their buckets by lines, which gather in a buffer for each. */
INLINE void
distribute_combined(int words, const uint64_t *items, size_t n, Digit digit, uint64_t *to,
					size_t *next, uint64_t *buffers)
{
	size_t stride = words + 1;

	for (size_t i = 0; i < n; i++)
	{
		const uint64_t *item = items + i * stride;
		size_t bucket = digit_value(item, digit);
		uint64_t *buffer = buffers + bucket * COMBINED * stride;
		size_t at = next[bucket]++;
		size_t place = at % COMBINED;

		copy_item(words, buffer + place * stride, item);
		if (place == COMBINED - 1)
			gpuagg_stream_lines(to + (at - place) * stride, buffer,
								COMBINED * stride * sizeof(*to));
	}
}

/* Moves what has gathered and is less than a line. */
static void
move_rest(const GpuaggRadixBuckets *buckets, uint64_t *to, const uint64_t *buffers)
{
	size_t stride = buckets->words + 1;

	for (size_t i = 0; i < bucket_count(buckets) && buckets->combines; i++)
	{
		size_t rest = buckets->end[i] % COMBINED;

		memcpy(to + (buckets->end[i] - rest) * stride, buffers + i * COMBINED * stride,
			   rest * stride * sizeof(*to));
	}
	gpuagg_stream_fence();
}

void
gpuagg_radix_move(GpuaggRadixBuckets *buckets, const uint64_t *items, size_t n, uint64_t *to,
				  uint64_t *scratch)
{
	Digit digit = digit_of(buckets->words, buckets->bits, buckets->width);

	if (buckets->combines)
		CALL(buckets->words, distribute_combined, items, n, digit, first_bucket(buckets, to),
			 buckets->end, scratch)
	else
		CALL(buckets->words, distribute, items, n, digit, to, buckets->end)
}

void
gpuagg_radix_finish(const GpuaggRadixBuckets *buckets, uint64_t *to, uint64_t *scratch,
					GpuaggPause pause)
{
	Sort sort = {buckets->words, 0, pause};
	size_t stride = buckets->words + 1;
	uint64_t *items = first_bucket(buckets, to);
	size_t start = 0;

	move_rest(buckets, items, scratch);
	for (size_t i = 0; i < bucket_count(buckets); i++)
	{
		size_t in_bucket = buckets->end[i] - start;

		if (in_bucket > 0)
		{
			sort_items(&sort, items + start * stride, scratch, in_bucket,
					   buckets->bits - buckets->width, 1);
			memcpy(to, scratch, in_bucket * stride * sizeof(*to));
			moved(&sort, in_bucket);
		}
		to += in_bucket * stride;
		start = next_bucket(buckets, buckets->end[i]);
	}
}

/* ---- in pieces ---- */

typedef struct Pieces
{
	Sort sort;
	size_t most;
	GpuaggRadixTake take;
	void *arg;
} Pieces;

static void split_items(Pieces *pieces, uint64_t *items, uint64_t *other, size_t n, int bits,
						int into_other);

/* Splits buckets further.  Neighbours that fit a piece stay together, with their digit. */
static void
split_buckets(Pieces *pieces, uint64_t *items, uint64_t *other, const size_t *end, int width,
			  int bits, int into_other)
{
	size_t stride = pieces->sort.words + 1;
	size_t nbuckets = (size_t) 1 << width;
	size_t start = 0;

	for (size_t i = 0; i < nbuckets; i++)
	{
		size_t first = i;
		size_t at = start * stride;

		while (i + 1 < nbuckets && end[i + 1] - start <= pieces->most)
			i++;
		if (end[i] > start)
			split_items(pieces, items + at, other + at, end[i] - start,
						first == i ? bits - width : bits, into_other);
		start = end[i];
	}
}

static void
split_items(Pieces *pieces, uint64_t *items, uint64_t *other, size_t n, int bits, int into_other)
{
	size_t end[1 << GPUAGG_RADIX_WIDTH];
	GpuaggRadixPiece piece;

	/* sorting by a last digit is fast, however many items there are */
	while (n > pieces->most && bits > GPUAGG_RADIX_WIDTH)
	{
		int in_word = (bits - 1) % 64 + 1;
		int width = in_word < GPUAGG_RADIX_WIDTH ? in_word : GPUAGG_RADIX_WIDTH;

		if (split(&pieces->sort, items, other, n, bits, width, end))
		{
			split_buckets(pieces, other, items, end, width, bits, !into_other);
			return;
		}
		bits = differing_bits(&pieces->sort, items, n, bits - width);
	}
	piece = (GpuaggRadixPiece){items, other, n, bits, into_other};
	pieces->take(pieces->arg, &piece);
}

void
gpuagg_radix_split(uint64_t *items, uint64_t *scratch, size_t n, int words, int bits, size_t most,
				   GpuaggRadixTake take, void *arg, GpuaggPause pause)
{
	Pieces pieces = {{words, 0, pause}, most, take, arg};

	if (n > 0)
		split_items(&pieces, items, scratch, n, bits, 0);
}

void
gpuagg_radix_sort_piece(const GpuaggRadixPiece *piece, int words, GpuaggPause pause)
{
	Sort sort = {words, 0, pause};

	sort_items(&sort, piece->items, piece->other, piece->n, piece->bits, piece->into_other);
}
