/*
 * agg_spill.h
 *	  Groups of a GpuAgg node in temporary files.
 *
 * When the groups' memory is full, all of them are written to files, by some bits of
 * their keys' hashes, and forgotten.  At the end each file is read back, whose groups
 * are all that have these bits; if they do not fit either, they are spilled again, by
 * further bits.
 */
#ifndef GPUAGG_AGG_SPILL_H
#define GPUAGG_AGG_SPILL_H

#include "exec/agg_state.h"

/* Writes all groups of a set, and forgets them. */
extern void gpuagg_agg_spill(AggScanState *node, AggSet *set);

/* The same if some groups are in files, as other rows of the groups in memory may be there too. */
extern void gpuagg_agg_spill_rest(AggScanState *node, AggSet *set);

/* Makes the groups of the next file, maybe none; false: there is no file. */
extern bool gpuagg_agg_spill_load(AggScanState *node, AggSet *set);

/* Forgets all files. */
extern void gpuagg_agg_spill_end(AggSet *set);

#endif /* GPUAGG_AGG_SPILL_H */
