/*
 * reduced.h
 *	  Partial results of reductions, and how two become one.
 *
 * Merging is exact, associative and commutative for every operation.
 */
#ifndef GPUAGG_REDUCED_H
#define GPUAGG_REDUCED_H

#include "common/protocol.h"

/* The result of no rows, whatever the operation. */
extern void gpuagg_reduced_init(GpuaggReduced *reduced);

/*
 * Adds the rows of `from` to `into`; both are of this kind and operation, with
 * carries propagated, and so is the result.
 */
extern void gpuagg_reduced_merge(GpuaggReduced *into, const GpuaggReduced *from, int kind, int op);

#endif /* GPUAGG_REDUCED_H */
