/*
 * fill_values.h
 *	  Values of one column of the chunk whose pages are coming, before they become a block.
 *
 * They are stored narrow as soon as they come, while they are in the processor's near cache, by a
 * form that is guessed: from the chunk before, wider when a value does not fit.
 */
#ifndef GPUAGG_FILL_VALUES_H
#define GPUAGG_FILL_VALUES_H

#include "compat.h"

#include "common/narrow.h"
#include "common/vector.h"

typedef struct FillValues
{
	GpuaggNarrow seen; /* minimum and maximum of the rows that have come, */
	bool exact;		   /* and of no others */
	GpuaggNarrow form; /* by which rows are stored */
	char *stored;
	uint64 *valid; /* from the first NULL on */
	bool any_null;
} FillValues;

/* No rows have come. */
extern void gpuagg_fill_values_init(FillValues *values, GpuaggVectorType type);

/* Room for so many rows, multiples of 64, of which the first `old` stay; false: there is no memory. */
extern bool gpuagg_fill_values_enlarge(FillValues *values, MemoryContext context, uint32 old,
									   uint32 room);

extern void gpuagg_fill_values_free(FillValues *values);

/*
 * n rows come, at most GPUAGG_VECTOR_ROWS, after the first `row`.  some: room for a vector of the
 * type.
 */
extern void gpuagg_fill_values_add(FillValues *values, uint32 row, const void *vector,
								   const uint64 *valid, uint32 n, void *some);

/* The last rows are taken back. */
extern void gpuagg_fill_values_drop(FillValues *values);

/* The next chunk begins. */
extern void gpuagg_fill_values_next(FillValues *values);

#endif /* GPUAGG_FILL_VALUES_H */
