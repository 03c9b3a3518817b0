/*
 * radix.h
 *	  Sorts items by an unsigned key of any number of bits.
 */
#ifndef GPUAGG_RADIX_H
#define GPUAGG_RADIX_H

#include <stddef.h>
#include <stdint.h>

#define GPUAGG_RADIX_MAX_WORDS 9

/* Called from time to time; may leave by a jump. */
typedef void (*GpuaggPause)(void);

/*
 * Sorts n items in place.  An item is `words` words of key (1 to MAX_WORDS), then one word
 * of anything.  The key is an unsigned number below 2^bits, its most significant word
 * first, where 64 * (words - 1) < bits <= 64 * words; or bits is 0 and all keys are equal.
 * The scratch has room for n items too.  Not stable.
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

/* Sorts a piece. */
extern void gpuagg_radix_sort_piece(const GpuaggRadixPiece *piece, int words, GpuaggPause pause);

#endif /* GPUAGG_RADIX_H */
