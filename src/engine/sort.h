/*
 * sort.h
 *	  Sorts items of packed keys, on the CPU or, in pieces, on the device.
 */
#ifndef GPUAGG_SORT_H
#define GPUAGG_SORT_H

/*
 * Sorts n items in place; items, words, bits and scratch as for
 * gpuagg_radix_sort().  Returns how many pieces the device has sorted.  Whatever
 * happens to the device, the items get sorted; an error is raised only when the
 * query is cancelled.  Counts work and fallbacks (stat.h).
 */
extern int64 gpuagg_sort_items(uint64 *items, uint64 *scratch, int64 n, int words, int bits);

#endif /* GPUAGG_SORT_H */
