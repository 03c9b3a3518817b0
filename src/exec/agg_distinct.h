/*
 * agg_distinct.h
 *	  The distinct values of an argument in each group of a GpuAgg node.
 *
 * Values that are numbers of up to 64 bits or strings of up to 15 bytes lie in a hash table, each
 * beside a pointer to its group, which must stay where it is; in temporary files when memory is
 * full.  Others are the caller's.
 */
#ifndef GPUAGG_AGG_DISTINCT_H
#define GPUAGG_AGG_DISTINCT_H

#include "exec/agg_groups.h"
#include "exec/agg_keys.h"

typedef struct AggDistinct AggDistinct;

/* An empty one, in a context of its own below the current one, for an argument of that form and type. */
extern AggDistinct *gpuagg_distinct_make(const VectorValue *form, Oid type);

/* Whether arguments of that form can be in one, if their equality is that of their vectors. */
extern bool gpuagg_distinct_fits(const VectorValue *form);

/*
 * Adds the values of rows[0 to n - 1] of a vector, none of which is NULL, to groups[0 to n - 1].
 * Returns how many are too long: rest[] has their rows.
 */
extern int gpuagg_distinct_add(AggDistinct *distinct, const GpuaggVector *vector,
							   AggGroup *const *groups, const uint16 *rows, int n, uint16 *rest);

/* The same for one value; false: it is too long, or has not the form. */
extern bool gpuagg_distinct_add_datum(AggDistinct *distinct, AggGroup *group, Datum value);

/* Whether a further vector's values may take more memory than that. */
extern bool gpuagg_distinct_is_full(const AggDistinct *distinct, Size limit);

extern Size gpuagg_distinct_bytes(const AggDistinct *distinct);

/* Writes all values to files.  Returns how many bytes these are; 0: they have to stay. */
extern int64 gpuagg_distinct_spill(AggDistinct *distinct);

/*
 * Takes out the next value, each once; what the files hold is read back, as much at a time as
 * `limit` allows.  False at the end.
 */
extern bool gpuagg_distinct_take(AggDistinct *distinct, Size limit, AggGroup **group,
								 PackedKey *key);

/* The value that was taken out as `key`; by reference in the current memory context. */
extern Datum gpuagg_distinct_value(const AggDistinct *distinct, PackedKey key);

/* Adds what was taken out as `key`. */
extern void gpuagg_distinct_add_key(AggDistinct *distinct, AggGroup *group, PackedKey key);

/* Forgets all. */
extern void gpuagg_distinct_clear(AggDistinct *distinct);

#endif /* GPUAGG_AGG_DISTINCT_H */
