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

#endif /* GPUAGG_RADIX_H */
