/*
 * radix.h
 *	  Sorts items by an unsigned key of any number of bits.
 */
#ifndef GPUAGG_RADIX_H
#define GPUAGG_RADIX_H

#include <stddef.h>
#include <stdint.h>

#define GPUAGG_RADIX_MAX_WORDS		9
#define GPUAGG_RADIX_WIDTH			8 /* bits of a digit: caches can follow 2^8 streams of writes */
#define GPUAGG_RADIX_COMBINED_WIDTH 10 /* of one whose writes are combined */

/* Called from time to time; may leave by a jump. */
typedef void (*GpuaggPause)(void);

/*
 * Sorts n items in place.  An item is `words` words of key (1 to MAX_WORDS), then one word
 * of anything.  The key is an unsigned number below 2^bits, its most significant word
 * first, where 64 * (words - 1) < bits <= 64 * words; or bits is 0 and all keys are equal.
 * The scratch has room for n items too.  Equal keys stay in their order.
 */
extern void gpuagg_radix_sort(uint64_t *items, uint64_t *scratch, size_t n, int words, int bits,
							  GpuaggPause pause);

/*
 * A piece of a sort: items that differ only in their low `bits` bits (0: not at all).
 * They are to be sorted in `items` or, with into_other, into `other`, whose content
 * is not needed.
 */
typedef struct GpuaggRadixPiece
{
	uint64_t *items;
	uint64_t *other;
	size_t n;
	int bits;
	int into_other;
} GpuaggRadixPiece;

typedef void (*GpuaggRadixTake)(void *arg, const GpuaggRadixPiece *piece);

/*
 * Like gpuagg_radix_sort(), but stops at pieces of at most `most` items (or more, if few
 * bits remain) and hands each to `take`, in order.  The items are sorted once all pieces
 * have been, at any time and in any order.
 */
extern void gpuagg_radix_split(uint64_t *items, uint64_t *scratch, size_t n, int words, int bits,
							   size_t most, GpuaggRadixTake take, void *arg, GpuaggPause pause);

/*
 * A sort of n > 0 items that are made piece by piece, twice: they are counted first, and then moved
 * to where their first digit belongs, so that they lie nowhere before and the largest bucket's
 * scratch does for all.  Bits are more than 0; counting looks at the first `width` of them alone.
 * Writes of many items are combined: items gather in the scratch, a few for each bucket, and move by whole
 * lines of the cache.  Buckets have gaps between them, as those of keys without gaps begin powers of two
 * apart, and would share few places in a cache; in the end all are side by side.
 */
typedef struct GpuaggRadixBuckets
{
	int words;
	int bits;
	int width;
	int combines;
	size_t end[1 << GPUAGG_RADIX_COMBINED_WIDTH];
} GpuaggRadixBuckets;

/* Returns how many items there is to be room for where they are moved to. */
extern size_t gpuagg_radix_start(GpuaggRadixBuckets *buckets, size_t n, int words, int bits);
extern void gpuagg_radix_count(GpuaggRadixBuckets *buckets, const uint64_t *items, size_t n);

/* After all are counted: how many items there is to be scratch for. */
extern size_t gpuagg_radix_counted(GpuaggRadixBuckets *buckets);

/* From the first move to the end the scratch is theirs. */
extern void gpuagg_radix_move(GpuaggRadixBuckets *buckets, const uint64_t *items, size_t n,
							  uint64_t *to, uint64_t *scratch);
extern void gpuagg_radix_finish(const GpuaggRadixBuckets *buckets, uint64_t *to, uint64_t *scratch,
								GpuaggPause pause);

/* Sorts a piece. */
extern void gpuagg_radix_sort_piece(const GpuaggRadixPiece *piece, int words, GpuaggPause pause);

#endif /* GPUAGG_RADIX_H */
