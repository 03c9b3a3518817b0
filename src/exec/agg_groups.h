/*
 * agg_groups.h
 *	  The groups of a GpuAgg node: a hash table from keys to states.
 *
 * Keys come as vectors.  Up to 128 bits of them are packed into two words; longer
 * ones are compared as bytes.  Keys whose type, or whose value, has no such form are
 * compared by core's operators.  Equal keys may look different (0 and -0, trailing
 * blanks), so a group keeps the values that its first row had.
 *
 * A group's states are accumulators (operation/family.h), one behind the other.
 * All lies in one memory context, whose size the caller watches.
 */
#ifndef GPUAGG_AGG_GROUPS_H
#define GPUAGG_AGG_GROUPS_H

#include "operation/family.h"
#include "spec/vector_compile.h"

/* A state that each group has. */
typedef struct AggGroupState
{
	SqlFamily family;
	GpuaggOp op;
	GpuaggKind kind; /* 0: of no column */
	int groups;		 /* numerics: GpuaggDecimalSum.groups to start with */
	Size at;		 /* in the group */
} AggGroupState;

/* A value that each group keeps: of its keys, then of carried expressions. */
typedef struct GroupValue
{
	Oid type;
	int16 length;
	bool by_value;
} GroupValue;

typedef struct GroupLayout
{
	int nkeys;
	const VectorValue *keys;
	const Oid *equality;   /* operators, by which keys are compared that have no form */
	const Oid *collations; /* of the keys */
	int nvalues;		   /* keys and carried */
	GroupValue *values;
	int nstates;
	AggGroupState *states;
	Size states_at; /* the first state, in the group */
} GroupLayout;

/* A group: Datums of nvalues, then as many flags, a hash, then the states. */
typedef char AggGroup;

/* Sets the values of a new group from a row; by-reference ones in the current context. */
typedef void (*GroupFill)(void *owner, int row, Datum *values, bool *isnull);

typedef struct AggGroups AggGroups;

/*
 * Makes an empty table in a context of its own below the current one; completes
 * layout->states.
 */
extern AggGroups *gpuagg_groups_make(GroupLayout *layout, PlanState *parent);

/* Whether keys of that form are found in vectors: by find(); else only by find_datums(). */
extern bool gpuagg_groups_by_vector(const AggGroups *groups);

/*
 * Finds the groups of rows[0 .. n-1] of a vector of keys, and makes those that are
 * missing: found[i].  keys: one vector for each.
 */
extern void gpuagg_groups_find(AggGroups *groups, const GpuaggVector *keys, const uint16 *rows,
							   int n, GroupFill fill, void *owner, AggGroup **found);

/*
 * The same of keys that are all new, and none of which comes twice: nothing is looked for.  Only
 * of groups that may be appended to when there are none yet.
 */
extern bool gpuagg_groups_may_append(const AggGroups *groups);
extern void gpuagg_groups_append(AggGroups *groups, const GpuaggVector *keys, const uint16 *rows,
								 int n, GroupFill fill, void *owner, AggGroup **made);

/* Finds, or makes, the group with these keys; values of variable length may be anywhere. */
extern AggGroup *gpuagg_groups_find_datums(AggGroups *groups, const Datum *keys, const bool *isnull,
										   GroupFill fill, void *owner);

/*
 * Makes the only group, of a row, in the place of the one that this made before.  It cannot be looked
 * for, and neither can another be made otherwise before a clear().
 */
extern AggGroup *gpuagg_groups_replace(AggGroups *groups, GroupFill fill, void *owner, int row);

/* Without keys: the one group. */
extern AggGroup *gpuagg_groups_only(AggGroups *groups);

/* Changes when groups are forgotten. */
extern uint64 gpuagg_groups_generation(const AggGroups *groups);

/* Asks for the states of groups, if they are many. */
extern void gpuagg_groups_prefetch(const AggGroups *groups, AggGroup *const *found, int n);

extern int64 gpuagg_groups_count(const AggGroups *groups);
extern Size gpuagg_groups_bytes(const AggGroups *groups);

/* A chunk in the groups' context: `owner` for the families' functions. */
extern void *gpuagg_groups_owner(const AggGroups *groups);

static inline Datum *
gpuagg_group_values(AggGroup *group)
{
	return (Datum *) group;
}

static inline bool *
gpuagg_group_nulls(const GroupLayout *layout, AggGroup *group)
{
	return (bool *) (group + layout->nvalues * sizeof(Datum));
}

/* The hash of its keys, behind the flags. */
static inline uint32 *
gpuagg_group_hash(const GroupLayout *layout, AggGroup *group)
{
	return (uint32 *) (group + layout->states_at - sizeof(uint32));
}

static inline Accumulator *
gpuagg_group_state(const GroupLayout *layout, AggGroup *group, int state)
{
	return (Accumulator *) (group + layout->states[state].at);
}

/* All groups, in the order in which they came, from a position of zeros on; NULL at the end. */
typedef struct GroupBlock GroupBlock;

typedef struct GroupPosition
{
	bool begun;
	GroupBlock *block;
	int next;
} GroupPosition;

extern AggGroup *gpuagg_groups_next(AggGroups *groups, GroupPosition *position);

/* Forgets all groups. */
extern void gpuagg_groups_clear(AggGroups *groups);

#endif /* GPUAGG_AGG_GROUPS_H */
