/*
 * radix.h
 *	  Sorts items by an unsigned key of any number of bits.
 */
#ifndef GPUAGG_RADIX_H
#define GPUAGG_RADIX_H

#include <stddef.h>
#include <stdint.h>

#define GPUAGG_RADIX_MAX_WORDS 9

/* Called now and then; need not return. */
typedef void (*GpuaggPause)(void);

/*
 * Sorts n items in place.  An item is `words` words of key (1 to MAX_WORDS) and one of anything
 * else.  The key is one unsigned number, its most significant word first, below
 * 2^bits, where 64 * (words - 1) < bits <= 64 * words; or bits is 0 and all are
 * equal.  The scratch has room for n items too.  Not stable.
 */
extern void gpuagg_radix_sort(uint64_t *items, uint64_t *scratch, size_t n, int words, int bits,
							  GpuaggPause pause);

/*
 * A piece of a sort: items to be sorted by their low `bits` bits, in which alone
 * they differ, 0 when they do not, from `items` to `items` or, into_other, to
 * `other`; what is in the latter is not needed.
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
 * As gpuagg_radix_sort(), but only as far as it takes to make pieces of at most
 * `most` items (except where few bits remain), in order, which are handed to
 * `take`.  When all of them have been sorted, at any time, so are the items.
 */
extern void gpuagg_radix_split(uint64_t *items, uint64_t *scratch, size_t n, int words, int bits,
							   size_t most, GpuaggRadixTake take, void *arg, GpuaggPause pause);

/* Sorts a piece here and now. */
extern void gpuagg_radix_sort_piece(const GpuaggRadixPiece *piece, int words, GpuaggPause pause);

#endif /* GPUAGG_RADIX_H */
