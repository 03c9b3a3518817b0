/*
 * family.h
 *	  The two tables of aggregates: what each of them is, and how families of types
 *	  keep their states.
 *
 * A state is an accumulator: exact, so that any split of the rows and any order of
 * merging gives the same result, which is rounded once, by finish().  It lies in
 * memory of its caller's, alone or behind something else; what it grows into lies
 * in the memory context of `owner`, an allocated chunk.  Nothing of this knows how
 * rows come or who asks.
 */
#ifndef GPUAGG_FAMILY_H
#define GPUAGG_FAMILY_H

#include "lib/stringinfo.h"

#include "common/codec.h"
#include "common/protocol.h"
#include "types/sql_type.h"

typedef enum Aggregate
{
	AGGREGATE_SUM,
	AGGREGATE_AVG,
	AGGREGATE_MIN,
	AGGREGATE_MAX,
	AGGREGATE_COUNT,
	AGGREGATE_VAR_POP,
	AGGREGATE_VAR_SAMP,
	AGGREGATE_STDDEV_POP,
	AGGREGATE_STDDEV_SAMP,
	AGGREGATES
} Aggregate;

typedef struct AggregateInfo
{
	const char *name; /* gpu_<name>; where it is running, also gpu_running_<name> */
	bool running;
	GpuaggOp op; /* what its state has: SUM, MOMENTS, MIN, MAX or COUNT */
	Size result; /* place in SqlType of its result's type, unless that is bigint */
	bool sample; /* variances: over n - 1 */
	bool root;	 /* its root: the standard deviation */
} AggregateInfo;

extern const AggregateInfo gpuagg_aggregates[AGGREGATES];

/* Where a state over a type is kept, and its result's type; NONE, InvalidOid: there is none. */
extern SqlFamily gpuagg_aggregate_family(Aggregate aggregate, const SqlType *type);
extern Oid gpuagg_aggregate_result(Aggregate aggregate, const SqlType *type);

/* What every accumulator begins with. */
typedef struct Accumulator
{
	uint64 family : 8;	  /* SqlFamily */
	uint64 op : 8;		  /* GpuaggOp */
	uint64 kind : 8;	  /* of a column of its values; 0: they are in none */
	uint64 reported : 40; /* values that its owner has reported to the statistics */
} Accumulator;

/*
 * A function that nothing asks for is NULL: only families with a kind have values
 * that engines reduce.
 */
typedef struct StateFamily
{
	/* bytes of an accumulator, without squares and with them (MOMENTS) */
	Size size;
	Size size_of_moments;
	int16 width;   /* bytes of a value, where there is no kind */
	bool in_place; /* init() of a used accumulator leaves nothing behind */

	/* Makes it empty; its head is there. */
	void (*init)(Accumulator *acc, MemoryContext context);

	/* Values taken, none of them NULL. */
	int64 (*count)(const Accumulator *acc);

	/* Adds a value, not NULL. */
	void (*deposit)(Accumulator *acc, void *owner, SqlForm form, Datum value);

	/* Takes away one that was added; false, with nothing changed: cannot. */
	bool (*remove)(Accumulator *acc, void *owner, SqlForm form, Datum value);

	/* Adds an engine's result for the same op over values of its kind. */
	void (*add_reduced)(Accumulator *acc, void *owner, const GpuaggReduced *total);

	/* Adds another accumulator, which has squares if this has; it may be changed. */
	void (*merge)(Accumulator *into, void *owner, Accumulator *from);

	/*
	 * Appends the accumulator's bytes, which mean the same on every machine; reads
	 * them into an empty one of the same op, or returns false: they are none.
	 */
	void (*encode)(const Accumulator *acc, StringInfo buf);
	bool (*decode)(Accumulator *acc, void *owner, GpuaggReader *reader);

	/*
	 * The value of an aggregate of this op, of that type, in the current context or,
	 * by reference, in the accumulator until that changes; an error when it is out
	 * of range.  What the accumulator stands for stays the same.
	 */
	Datum (*finish)(Accumulator *acc, Aggregate aggregate, Oid result, bool *isnull);
} StateFamily;

extern const StateFamily gpuagg_int_family;
extern const StateFamily gpuagg_float_family;
extern const StateFamily gpuagg_numeric_family;
extern const StateFamily gpuagg_interval_family;
extern const StateFamily gpuagg_key_family;
extern const StateFamily gpuagg_numeric_extreme_family;
extern const StateFamily gpuagg_interval_extreme_family;
extern const StateFamily gpuagg_count_family;

extern const StateFamily *const gpuagg_families[SQL_FAMILIES];

static inline const StateFamily *
gpuagg_family_of(const Accumulator *acc)
{
	return gpuagg_families[acc->family];
}

/* Makes what lies at acc, of the family's size, an empty accumulator. */
extern void gpuagg_accumulator_init(Accumulator *acc, MemoryContext context, SqlFamily family,
									GpuaggOp op, GpuaggKind kind);

/* An empty one in a new chunk, behind `before` bytes of zeros. */
extern Accumulator *gpuagg_accumulator_make(MemoryContext context, Size before, SqlFamily family,
											GpuaggOp op, GpuaggKind kind);

/*
 * An accumulator with its head, for another process of the cluster; read in the
 * current context, behind `before` bytes of zeros.  Raises an error when there is
 * none; the caller checks family and op.
 */
extern void gpuagg_accumulator_write(const Accumulator *acc, StringInfo buf);
extern Accumulator *gpuagg_accumulator_read(StringInfo buf, Size before);

#endif /* GPUAGG_FAMILY_H */
