/*
 * sort.h
 *	  Sorts items of packed keys, on the CPU or, in pieces, on the device.
 */
#ifndef GPUAGG_SORT_H
#define GPUAGG_SORT_H

/* Whether the device is to sort; else gpuagg_radix_sort() or the like is to be called. */
extern bool gpuagg_sort_wanted(int64 n, int words);

/*
 * Sorts n items in place, which is wanted; items, words, bits and scratch as for
 * gpuagg_radix_sort().  Returns how many pieces the device has sorted.  The items
 * are sorted even if the device fails; only cancelling the query raises an error.
 * Counts work and fallbacks (stat.h).
 */
extern int64 gpuagg_sort_items(uint64 *items, uint64 *scratch, int64 n, int words, int bits);

#endif /* GPUAGG_SORT_H */
