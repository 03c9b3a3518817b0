/*
 * agg_cost.c
 *	  What the node GpuAgg costs, in the planner's units.
 *
 * Pages cost what they cost core's scan.  What the processor does is given as parts of
 * core's own units, so that the ratio of the two plans' costs is no more than that of their
 * times where all pages are in memory.  Measured: the least time of five runs, 3,000,000 rows
 * of 93 bytes, one process, an idle machine, no JIT.  Nanoseconds for each row; the time of
 * core's plan of the same query divided by the node's; in parentheses the same of their costs.
 *
 *	 gpu_count(*)                      3.3   10 (3.0)
 *	 gpu_sum of int4, int8, float8     11.6, 11.9, 12.6  3.6 to 4.1 (2.8)
 *	 gpu_stddev of int4, float8        12.3, 15.6  4.0, 3.3 (2.8)
 *	 three aggregates of three columns 15.6  3.6 (2.6)
 *	 gpu_sum(numeric(15,2))            17.9  6.1 (2.4)
 *	 int8, float8 behind a text        13.4, 18.0  3.6, 2.7 (1.8)
 *	 f * (1 - f), float8               14.3  3.8 (3.1)
 *	 n * (1 - m), numeric(15,2)        28.2  7.5 (1.8)
 *	 a condition that 1, 50 % pass     12.1, 13.1  3.6, 3.8 (2.5)
 *	 four comparisons of four columns  17.4  3.2 (2.0)
 *	 GROUP BY, 10 and 1,024 groups     21.2, 21.3  4.6, 5.0 (2.7)
 *	 GROUP BY a text of 4 values       23.3  4.6 (1.9)
 *	 GROUP BY, a group each row        326   2.7 (1.6)
 *
 * Before, and with other work on the machine, 2,000,000 rows:
 *
 *	 length(repeat()), row by row      75.6  1.1 (1.1)
 *	 length(to_char()), row by row      159  0.9 (1.1)
 *	 GROUP BY, 500,000 groups of a row each, work_mem 4 MB  667  0.9 (0.9)
 *
 * Groups beyond the processor's caches make core and the node slow alike: core's units
 * have no part for that, and so there is none here.  But where an index gives rows in the order of
 * groups, core needs no table of them.
 *
 * The same of 1,000,000 rows:
 *
 *	 count(DISTINCT), 10 to 100,000 values  18 to 50  4.0 to 2.8
 *	 count(DISTINCT), a value each row      142       1.0
 *	 the same, GROUP BY, 10 groups          160       2.0 (3.1)
 *	 the same, GROUP BY, 1,000 groups       27        5.4
 *	 GROUP BY an index's column, a group each row  547  0.45 (0.86)
 *
 * Of columns in memory a page costs nothing, and a row RESIDENT_PART.  Of those on the device a row
 * costs nothing, and a table one request.
 */
#include "compat.h"

#include <math.h>

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "engine/blob_query.h"
#include "operation/family.h"
#include "gpuagg.h"
#include "plan/agg_cost.h"
#include "resident/chunk.h"
#include "resident/directory.h"
#include "types/page_column.h"

/* Parts of cpu_tuple_cost, which core counts for a row that it reads. */
#define READ_PART	  0.35 /* a row, no column of it */
#define RESIDENT_PART 0.04 /* a row from memory, no column of it */
#define DECIMAL_PART  0.06 /* a numeric's digits */
#define WALK_PART	  0.25 /* columns behind one of variable width, whose place must be found */
#define TUPLE_PART	  0.5  /* a row made for core's executor */
#define GROUP_PART	  0.2  /* a new group */
#define SORTED_PART	  2.2  /* the same, beside rows in its order */
#define VALUE_PART	  0.7  /* a new value with DISTINCT */
#define SPILL_PART	  8.0  /* a group written and read again, beside its pages */
#define MERGE_PART	  2.0  /* a worker's group found among the leader's */

/* Parts of cpu_operator_cost, which core counts for a call, a key and a state of a row. */
#define INSTRUCTION_PART 0.16 /* of the program, one of which loads a column */
#define KEY_PART		 0.25
#define STATE_PART		 0.25

#define REQUEST_TUPLES	 5000 /* rows that core reads in the time of a request to the device */

#define TABLE_BYTES		 64 /* of the hash table, for each group */

/* ---- groups ---- */

/* Bytes of a group in memory: values, states, and its place in the table. */
static double
group_bytes(const AggMatch *match)
{
	List *values = list_concat_copy(match->key_inputs, match->carried);
	double bytes = TABLE_BYTES;
	ListCell *cell;

	foreach (cell, values)
		bytes += sizeof(Datum) + 1 +
				 get_typavgwidth(exprType(lfirst(cell)), exprTypmod(lfirst(cell)));
	for (int i = 0; i < list_length(match->aggrefs); i++)
	{
		const AggCall *call = &match->calls[i];
		const StateFamily *family =
			gpuagg_families[gpuagg_aggregate_family(call->aggregate, gpuagg_sql_type(call->type))];

		bytes += gpuagg_aggregates[call->aggregate].op == GPUAGG_MOMENTS ? family->size_of_moments
																		 : family->size;
	}
	return bytes;
}

/*
 * Whether the number of groups is a mere guess.  An expression without statistics is taken
 * to have as many values as its columns, where date_trunc() and the like have a few: the
 * groups that are there hardly ever need more memory than there is.
 */
bool
gpuagg_agg_groups_guessed(PlannerInfo *root, const AggMatch *match)
{
	ListCell *cell;

	foreach (cell, match->key_inputs)
	{
		VariableStatData data;
		bool known;

		if (IsA(lfirst(cell), Var))
			continue;
		examine_variable(root, lfirst(cell), 0, &data);
		known = HeapTupleIsValid(data.statsTuple);
		ReleaseVariableStats(data);
		if (!known)
			return true;
	}
	return false;
}

/* Of random keys it takes -groups * ln(1 - room / groups) rows until `room` groups are there. */
double
gpuagg_agg_overflow(const AggMatch *match, double rows, double groups)
{
	double room = get_hash_memory_limit() / (1 + list_length(match->distinct)) / group_bytes(match);
	double fill;

	if (match->keys == NIL || match->groups_guessed || groups <= room)
		return 0;
	fill = -groups * log1p(-room / groups);
	return room * Max(rows / Max(fill, 1), 1);
}

Cost
gpuagg_agg_spill_cost(const AggMatch *match, double groups)
{
	double pages = groups * group_bytes(match) / BLCKSZ;

	/* written to many files, read in order: as core counts it */
	return pages * (random_page_cost + seq_page_cost) + groups * SPILL_PART * cpu_tuple_cost;
}

Cost
gpuagg_agg_merge_cost(const AggMatch *match, double groups)
{
	return groups * (MERGE_PART * cpu_tuple_cost + list_length(match->aggrefs) * cpu_operator_cost);
}

/* ---- rows ---- */

double
gpuagg_agg_processes(int workers)
{
	return workers + (parallel_leader_participation ? Max(1.0 - 0.3 * workers, 0) : 0);
}

/* Of core's executor for a row: the expressions that it evaluates, and the row for each. */
static Cost
executor_cost(PlannerInfo *root, const AggMatch *match, Cost *startup)
{
	QualCost cost;

	cost_qual_eval(&cost, match->rows, root);
	*startup = cost.startup;
	return cost.per_tuple +
		   (match->by_row ? 1 : list_length(match->rows)) * TUPLE_PART * cpu_tuple_cost;
}

/* Loading columns `first` to `end` - 1 of the program, as a part of cpu_tuple_cost. */
static double
columns_part(TupleDesc desc, const AggMatch *match, int first, int end)
{
	double part = 0;
	bool walk = false;

	for (int i = first; i < end; i++)
	{
		int attno = list_nth_int(match->attributes, i);

		if (TupleDescAttr(desc, attno - 1)->atttypid == NUMERICOID)
			part += DECIMAL_PART;
		for (int j = 0; j < attno - 1; j++)
			walk |= TupleDescAttr(desc, j)->attlen < 0;
	}
	return part + (walk ? WALK_PART : 0);
}

/* The column of `rel`, which is `input` or a child of it, that an attribute of `input` is; or 0. */
static AttrNumber
attribute_of(PlannerInfo *root, const RelOptInfo *input, const RelOptInfo *rel, AttrNumber attno)
{
	const AppendRelInfo *child;
	const Var *var;

	if (rel->relid == input->relid)
		return attno;
	child = root->append_rel_array != NULL ? root->append_rel_array[rel->relid] : NULL;
	if (child == NULL || child->parent_relid != input->relid ||
		attno > list_length(child->translated_vars))
		return 0;
	var = list_nth(child->translated_vars, attno - 1);
	return var != NULL && IsA(var, Var) ? var->varattno : 0;
}

/* Parts of the table's pages of which all columns are in shared memory; and on the device. */
typedef struct ResidentParts
{
	double host;
	double device; /* 0: the device does nothing of the query */
} ResidentParts;

static ResidentParts
resident_parts(PlannerInfo *root, const RelOptInfo *input, const RelOptInfo *rel,
			   const AggMatch *match)
{
	double host = rel->pages;
	double device = rel->pages;
	Relation relation;
	ListCell *cell;

	if (gpuagg_resident == RESIDENT_OFF || match->by_row || match->rows != NIL ||
		match->attributes == NIL || rel->pages == 0 || !gpuagg_directory_open() ||
		gpuagg_directory_bytes() == 0 || IsolationIsSerializable())
		return (ResidentParts){0, 0};
	relation = table_open(planner_rt_fetch(rel->relid, root)->relid, NoLock);
	foreach (cell, match->attributes)
	{
		AttrNumber attno = attribute_of(root, input, rel, lfirst_int(cell));
		PageColumn column;
		ColumnKey key;
		uint64 pages = 0;
		uint64 there = 0;

		if (attno > 0 &&
			gpuagg_page_column(TupleDescAttr(RelationGetDescr(relation), attno - 1), &column) &&
			column.resident)
		{
			key = gpuagg_column_key(relation, attno);
			(void) gpuagg_column_resident_pages(&key, &pages, &there);
		}
		host = Min(host, (double) pages);
		device = Min(device, (double) there);
	}
	table_close(relation, NoLock);
	device /= rel->pages;
	/* what else it cannot do is known when the node starts */
	if (gpuagg_device == DEVICE_CPU || match->distinct != NIL)
		device = 0;
	if (rel->tuples * device < Max(gpuagg_device_min_rows, 1) ||
		(gpuagg_device == DEVICE_AUTO && gpuagg_device_min_rows > 0 &&
		 rel->tuples * device < AGG_DEVICE_ROWS))
		device = 0;
	return (ResidentParts){Max(host / rel->pages - device, 0), device};
}

/*
 * Columns of the filter are loaded for each row, the others for those that pass; of ROW
 * expressions it is not known which of the two they are in, and they may be skipped by
 * other conditions.
 */
Cost
gpuagg_agg_table_cost(PlannerInfo *root, const RelOptInfo *input, const RelOptInfo *rel,
					  const AggMatch *match, double processes)
{
	double tuples = rel->tuples;
	double rows = rel->rows;
	int nkeys = list_length(match->keys);
	double call = (nkeys + (nkeys + 1) * list_length(match->distinct)) * KEY_PART +
				  list_length(match->aggrefs) * STATE_PART;
	Relation relation = table_open(planner_rt_fetch(input->relid, root)->relid, NoLock);
	TupleDesc desc = RelationGetDescr(relation);
	int nfilter = match->filter_attributes;
	double page_cost;
	ResidentParts in;
	double read; /* of the pages */
	double here; /* of the rows: not on the device */
	Cost startup;
	Cost each = executor_cost(root, match, &startup);
	Cost cpu;

	get_tablespace_page_costs(rel->reltablespace, NULL, &page_cost);
	in = resident_parts(root, input, rel, match);
	here = 1 - in.device;
	read = here - in.host;
	cpu = cpu_tuple_cost *
		  (read * (tuples * (READ_PART + columns_part(desc, match, 0, nfilter)) +
				   rows * columns_part(desc, match, nfilter, list_length(match->attributes))) +
		   in.host * tuples * RESIDENT_PART);
	table_close(relation, NoLock);
	if (match->by_row)
		cpu += tuples * each;
	else
		cpu += here * cpu_operator_cost *
				   (INSTRUCTION_PART *
						(tuples * match->filter_instructions + rows * match->value_instructions) +
					rows * call) +
			   rows * each;
	if (in.device > 0)
		startup += REQUEST_TUPLES * cpu_tuple_cost;
	return startup + read * page_cost * rel->pages + cpu / processes;
}

/*
 * As agg_device_held.c holds an answer, which is the only one: groups that are more than expected
 * are asked for again, with a quarter more room.
 */
bool
gpuagg_agg_device_holds(PlannerInfo *root, const RelOptInfo *input, const AggMatch *match,
						double groups)
{
	BlobQueryChunk chunk = {0};
	double bytes = input->pages / (double) CHUNK_PAGES *
					   gpuagg_blob_query_chunk_bytes(&chunk, list_length(match->attributes)) +
				   1.25 * groups * match->device_words * sizeof(uint32);

	return match->device_words > 0 && match->children == NIL && match->subquery == NULL &&
		   match->carried == NIL && list_length(match->sets) <= 1 &&
		   input->tuples <= GPUAGG_GROUP_ROWS && bytes <= GPUAGG_BLOB_QUERY_ROOM &&
		   gpuagg_staging_memory * 1024.0 >= 2.0 * GPUAGG_SEGMENT_BYTES_MAX &&
		   gpuagg_total_staging_memory * 1024.0 >= GPUAGG_SEGMENT_BYTES_MAX &&
		   resident_parts(root, input, input, match).device >= 1;
}

Cost
gpuagg_agg_groups_cost(const AggMatch *match, double groups, bool sorted)
{
	return match->keys != NIL ? groups * (sorted ? SORTED_PART : GROUP_PART) * cpu_tuple_cost : 0;
}

Cost
gpuagg_agg_values_cost(double values)
{
	return values * VALUE_PART * cpu_tuple_cost;
}
