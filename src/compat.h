/*
 * compat.h
 *	  Differences between PostgreSQL versions 15 to 18.
 *
 * No other file tests PG_VERSION_NUM.  Each comment states what differs.
 */
#ifndef GPUAGG_COMPAT_H
#define GPUAGG_COMPAT_H

#ifdef __CUDACC__
#error "PostgreSQL headers and CUDA must not be in one file"
#endif

#include "postgres.h"

#if PG_VERSION_NUM < 150000
#error "gpuagg needs PostgreSQL 15 or later"
#endif

#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "commands/explain.h"
#include "datatype/timestamp.h"
#include "executor/execPartition.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "nodes/pathnodes.h"
#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/pg_locale.h"
#include "utils/rel.h"

/* 16 moved the macros for values of variable length out of postgres.h. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif

/* 18 moved the functions that write EXPLAIN's output out of explain.h. */
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

#if PG_VERSION_NUM >= 180000
#include "rewrite/rewriteManip.h"
#endif

/* 18 has pg_noreturn, which stands before the declaration. */
#if PG_VERSION_NUM < 180000
#define pg_noreturn __attribute__((noreturn))
#endif

/* 18 stores a module's name and version. */
#if PG_VERSION_NUM >= 180000
#define GPUAGG_MODULE_MAGIC(name_, version_) \
	PG_MODULE_MAGIC_EXT(.name = (name_), .version = (version_))
#else
#define GPUAGG_MODULE_MAGIC(name_, version_) PG_MODULE_MAGIC
#endif

/* 18 dropped ExecutorRun's argument execute_once. */
#if PG_VERSION_NUM >= 180000
#define EXECUTOR_RUN_PARAMS QueryDesc *queryDesc, ScanDirection direction, uint64 count
#define EXECUTOR_RUN_ARGS	queryDesc, direction, count
#else
#define EXECUTOR_RUN_PARAMS \
	QueryDesc *queryDesc, ScanDirection direction, uint64 count, bool execute_once
#define EXECUTOR_RUN_ARGS queryDesc, direction, count, execute_once
#endif

/* All rows of a query that has been started. */
static inline void
compat_executor_run(QueryDesc *query)
{
#if PG_VERSION_NUM >= 180000
	ExecutorRun(query, ForwardScanDirection, 0);
#else
	ExecutorRun(query, ForwardScanDirection, 0, true);
#endif
}

/* 17 replaced the memory context by a resource owner; the set lives as long as the process. */
static inline WaitEventSet *
compat_create_wait_event_set(int nevents)
{
#if PG_VERSION_NUM >= 170000
	return CreateWaitEventSet(NULL, nevents);
#else
	return CreateWaitEventSet(TopMemoryContext, nevents);
#endif
}

/*
 * A named piece of shared memory, initialised by `init` when new.  Raises an error
 * when there is no room.  17 has a registry for such memory; before 17 it is taken
 * from the main segment, from its slack when the library is not preloaded.
 */
static inline void *
compat_shared_struct(const char *name, Size size, void (*init)(void *))
{
	bool found;
	void *p;

#if PG_VERSION_NUM >= 170000
	p = GetNamedDSMSegment(name, size, init, &found);
#else
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	p = ShmemInitStruct(name, size, &found);
	if (!found)
		init(p);
	LWLockRelease(AddinShmemInitLock);
#endif
	return p;
}

/* 17 has hash tables in shared memory copy their keys by a function. */
#if PG_VERSION_NUM >= 170000
#define COMPAT_DSHASH_COPY(parameters) (parameters).copy_function = dshash_memcpy
#else
#define COMPAT_DSHASH_COPY(parameters) ((void) 0)
#endif

/* 16 renamed what says where a relation's file is. */
static inline void
compat_relation_file(Relation relation, Oid *tablespace, Oid *database, Oid *file)
{
#if PG_VERSION_NUM >= 160000
	*tablespace = relation->rd_locator.spcOid;
	*database = relation->rd_locator.dbOid;
	*file = relation->rd_locator.relNumber;
#else
	*tablespace = relation->rd_node.spcNode;
	*database = relation->rd_node.dbNode;
	*file = relation->rd_node.relNode;
#endif
}

/* 16 has one function for owners of all kinds of objects. */
static inline bool
compat_is_relation_owner(Oid relation, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(RelationRelationId, relation, role);
#else
	return pg_class_ownercheck(relation, role);
#endif
}

/* 17 has a privilege to maintain a table. */
static inline bool
compat_may_maintain(Oid relation, Oid role)
{
#if PG_VERSION_NUM >= 170000
	if (pg_class_aclcheck(relation, role, ACL_MAINTAIN) == ACLCHECK_OK)
		return true;
#endif
	return compat_is_relation_owner(relation, role);
}

/* Whether the relation's file was made in this transaction, so that its changes may not be logged. */
static inline bool
compat_relation_file_is_new(Relation relation)
{
	if (relation->rd_createSubid != InvalidSubTransactionId)
		return true;
#if PG_VERSION_NUM >= 160000
	return relation->rd_newRelfilelocatorSubid != InvalidSubTransactionId ||
		   relation->rd_firstRelfilelocatorSubid != InvalidSubTransactionId;
#else
	return relation->rd_newRelfilenodeSubid != InvalidSubTransactionId ||
		   relation->rd_firstRelfilenodeSubid != InvalidSubTransactionId;
#endif
}

/* Whether a buffer that once had a block of a relation has it still: then it is pinned. */
static inline bool
compat_read_recent_buffer(Relation relation, BlockNumber block, Buffer buffer)
{
#if PG_VERSION_NUM >= 160000
	return ReadRecentBuffer(relation->rd_locator, MAIN_FORKNUM, block, buffer);
#else
	return ReadRecentBuffer(relation->rd_node, MAIN_FORKNUM, block, buffer);
#endif
}

/* Before 17 rows may be removed that a snapshot still needs, which then is too old. */
static inline bool
compat_snapshots_can_be_too_old(void)
{
#if PG_VERSION_NUM >= 170000
	return false;
#else
	return old_snapshot_threshold >= 0;
#endif
}

/* Whether a preloaded library reserves memory for compat_shared_struct(). */
#if PG_VERSION_NUM >= 170000
#define SHARED_STRUCT_NEEDS_RESERVATION false
#else
#define SHARED_STRUCT_NEEDS_RESERVATION true
#endif

/*
 * +1 or -1 for an infinite interval, 0 for a finite one.  17 has infinite
 * intervals; before, the same fields are ordinary values.
 */
static inline int
compat_interval_infinity(const Interval *value)
{
#if PG_VERSION_NUM >= 170000
	return INTERVAL_IS_NOEND(value) ? 1 : INTERVAL_IS_NOBEGIN(value) ? -1 : 0;
#else
	return 0;
#endif
}

/*
 * Makes *value infinite, of that sign.  Raises an error before 17, which happens
 * with an aggregate state from a server that has infinite intervals.
 */
static inline void
compat_interval_set_infinity(Interval *value, int sign)
{
#if PG_VERSION_NUM >= 170000
	if (sign > 0)
		INTERVAL_NOEND(value);
	else
		INTERVAL_NOBEGIN(value);
#else
	ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), errmsg("interval out of range")));
#endif
}

/*
 * Before 17, run conditions hold their functions from before the query's planning, so
 * that only functions of constants can have them.
 */
#if PG_VERSION_NUM >= 170000
#define RUN_CONDITION_NEEDS_CONSTANTS false
#else
#define RUN_CONDITION_NEEDS_CONSTANTS true
#endif

/* 17 moved run conditions from the window clause into the path. */
#if PG_VERSION_NUM >= 170000
#define WINDOW_PATH_RUN_CONDITION(path) ((path)->runCondition)
#else
#define WINDOW_PATH_RUN_CONDITION(path) ((path)->winclause->runCondition)
#endif

/* 18 counts disabled nodes; before, they add to the cost. */
static inline void
compat_path_disabled_like(Path *path, const Path *other)
{
#if PG_VERSION_NUM >= 180000
	path->disabled_nodes = other->disabled_nodes;
#endif
}

/*
 * The clauses of GROUP BY that have to be compared.  16 keeps those that no other one
 * implies apart; where none is left all are given, as there still is GROUP BY.
 */
static inline List *
compat_group_clause(PlannerInfo *root)
{
#if PG_VERSION_NUM >= 160000
	if (root->processed_groupClause != NIL)
		return root->processed_groupClause;
#endif
	return root->parse->groupClause;
}

/* Whether EXPLAIN names tables with their columns; 18 does not count the entry for groups. */
static inline bool
compat_explain_prefix(const struct ExplainState *es)
{
#if PG_VERSION_NUM >= 180000
	return es->verbose || es->rtable_size > 1;
#else
	return es->verbose || list_length(es->rtable) > 1;
#endif
}

/* 17 has a function for EXPLAIN of one query; before, its code has to be repeated. */
static inline void
compat_explain_one_query(Query *query, int cursorOptions, IntoClause *into, struct ExplainState *es,
						 const char *queryString, ParamListInfo params, QueryEnvironment *queryEnv)
{
#if PG_VERSION_NUM >= 170000
	standard_ExplainOneQuery(query, cursorOptions, into, es, queryString, params, queryEnv);
#else
	BufferUsage before = pgBufferUsage;
	BufferUsage used = {0};
	instr_time start;
	instr_time duration;
	PlannedStmt *plan;

	INSTR_TIME_SET_CURRENT(start);
	plan = pg_plan_query(query, queryString, cursorOptions, params);
	INSTR_TIME_SET_CURRENT(duration);
	INSTR_TIME_SUBTRACT(duration, start);
	BufferUsageAccumDiff(&used, &pgBufferUsage, &before);
	ExplainOnePlan(plan, into, es, queryString, params, queryEnv, &duration,
				   es->buffers ? &used : NULL);
#endif
}

/* 16 counts time in nanoseconds, and can tell them. */
#if PG_VERSION_NUM >= 160000
#define COMPAT_INSTR_TIME_GET_NANOSEC(t) ((uint64) INSTR_TIME_GET_NANOSEC(t))
#else
#define COMPAT_INSTR_TIME_GET_NANOSEC(t) \
	((uint64) ((t).tv_sec * UINT64CONST(1000000000) + (t).tv_nsec))
#endif

/*
 * An expression of GROUP BY as it is before grouping.  18 marks it as one that grouping sets
 * may make NULL.
 */
static inline List *
compat_before_grouping(PlannerInfo *root, List *exprs)
{
#if PG_VERSION_NUM >= 180000
	if (root->parse->hasGroupRTE && root->parse->groupingSets != NIL)
		return (List *) remove_nulling_relids((Node *) exprs,
											  bms_make_singleton(root->group_rtindex), NULL);
#endif
	return exprs;
}

/* 16 takes relations in place of their numbers. */
static inline Node *
compat_adjust_to_child(PlannerInfo *root, Node *node, RelOptInfo *child, RelOptInfo *parent)
{
#if PG_VERSION_NUM >= 160000
	return adjust_appendrel_attrs_multilevel(root, node, child, parent);
#else
	return adjust_appendrel_attrs_multilevel(root, node, child->relids, parent->relids);
#endif
}

/* 18 can tell the relations of an Append's plans that are left, too. */
static inline Bitmapset *
compat_find_matching_subplans(PartitionPruneState *state)
{
#if PG_VERSION_NUM >= 180000
	return ExecFindMatchingSubPlans(state, false, NULL);
#else
	return ExecFindMatchingSubPlans(state, false);
#endif
}

/* 18 asks whether the relation is one that the statement changes. */
static inline Relation
compat_range_table_relation(EState *estate, Index number)
{
#if PG_VERSION_NUM >= 180000
	return ExecGetRangeTableRelation(estate, number, false);
#else
	return ExecGetRangeTableRelation(estate, number);
#endif
}

/* 16 has one function for permissions on objects of all kinds. */
static inline AclResult
compat_function_aclcheck(Oid function, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE);
#else
	return pg_proc_aclcheck(function, role, ACL_EXECUTE);
#endif
}

/*
 * A hash table of virtual tuples, all of whose columns are keys, with a pointer for each.
 * 18 changed the arguments, and where the pointer is.
 */
static inline TupleHashTable
compat_tuple_hash_table(PlanState *parent, TupleDesc desc, AttrNumber *columns, const Oid *equality,
						FmgrInfo *hash, Oid *collations, MemoryContext context,
						MemoryContext temporary)
{
#if PG_VERSION_NUM >= 180000
	return BuildTupleHashTable(parent, desc, &TTSOpsVirtual, desc->natts, columns, equality, hash,
							   collations, 64, sizeof(void *), context, context, temporary, false);
#else
	return BuildTupleHashTableExt(parent, desc, desc->natts, columns, equality, hash, collations,
								  64, 0, context, context, temporary, false);
#endif
}

static inline void **
compat_tuple_hash_pointer(TupleHashTable table, TupleHashEntry entry)
{
#if PG_VERSION_NUM >= 180000
	return (void **) TupleHashEntryGetAdditional(table, entry);
#else
	return &entry->additional;
#endif
}

/* Whether plans with workers are to be tested; 16 renamed the setting. */
static inline bool
compat_tests_parallel(void)
{
#if PG_VERSION_NUM >= 160000
	return debug_parallel_query != DEBUG_PARALLEL_OFF;
#else
	return force_parallel_mode != FORCE_PARALLEL_OFF;
#endif
}

/* Whether a collation orders strings by their bytes; 18 has one struct for all that a collation is. */
static inline bool
compat_collation_is_c(Oid collation)
{
#if PG_VERSION_NUM >= 180000
	return pg_newlocale_from_collation(collation)->collate_is_c;
#else
	return lc_collate_is_c(collation);
#endif
}

/* 16 renamed the counter of rows that scans of a relation returned; see pgstat.h. */
#if PG_VERSION_NUM >= 160000
#define COMPAT_SCANNED_ROWS(relation) ((relation)->pgstat_info->counts.tuples_returned)
#else
#define COMPAT_SCANNED_ROWS(relation) ((relation)->pgstat_info->t_counts.t_tuples_returned)
#endif

/* 17 dropped old_snapshot_threshold. */
static inline void
compat_test_old_snapshot(Snapshot snapshot, Relation relation, Page page)
{
#if PG_VERSION_NUM < 170000
	TestForOldSnapshot(snapshot, relation, page);
#endif
}

#endif /* GPUAGG_COMPAT_H */
