/*
 * agg_input.c
 *	  Where a GpuAgg node's rows come from: its table, by pages or from memory, or nodes below.
 */
#include "compat.h"

#include <unistd.h>

#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"

#include "device/client.h"
#include "exec/agg_dense.h"
#include "exec/agg_spill.h"
#include "exec/agg_state.h"
#include "exec/compiled.h"
#include "exec/page_scan.h"
#include "exec/row_reader.h"
#include "gpuagg.h"

/* That a set's groups may take at least, where there are several and all may take as much. */
#define SET_BYTES ((Size) 256 * 1024)

/*
 * Of a leader that takes columns in memory alone: so long it does not think of workers, nor for so
 * few bytes.  Workers start and end in LAUNCH_MS, and are new to the memory: MAP_MS a byte.
 * Measured on 2 cores: 8 to 12 ms, and 0.2 ms a megabyte.
 */
#define ALONE_MS	20.0
#define ALONE_BYTES (16.0 * 1024 * 1024)
#define LAUNCH_MS	10.0
#define MAP_MS		(0.2 / (1024 * 1024))
#define GAIN		0.8 /* of the time that the leader would take, at most */

/* Pages that a leader reads alone, where they are no larger a part of the table. */
#define ALONE_PAGES 2048
#define ALONE_PART	16

/* In mode auto a table of fewer pages is no matter for the device. */
#define DEVICE_PAGES 1000

/* ---- start ---- */

/* The attributes that evaluation row by row needs, from the first on. */
static int
attributes_needed(const AggScanState *node)
{
	const CustomScan *plan = (const CustomScan *) node->css.ss.ps.plan;
	Bitmapset *attributes = NULL;
	ListCell *cell;
	int last = -1;
	int natts = 0;

	foreach (cell, plan->custom_scan_tlist)
		pull_varattnos((Node *) ((TargetEntry *) lfirst(cell))->expr, node->varno, &attributes);
	while ((last = bms_next_member(attributes, last)) >= 0)
		natts = Max(natts, last + FirstLowInvalidHeapAttributeNumber);
	return natts;
}

/* The conditions on a row, which follow the columns of the scan tuple. */
static List *
quals_of(const AggScanState *node)
{
	const CustomScan *plan = (const CustomScan *) node->css.ss.ps.plan;
	List *quals = NIL;

	for (int i = node->ncolumns; i < list_length(plan->custom_scan_tlist); i++)
		quals = lappend(quals, gpuagg_agg_entry(plan, i));
	return quals;
}

static void
init_expressions(AggScanState *node, List *quals)
{
	PlanState *parent = &node->css.ss.ps;
	ListCell *cell;

	node->qual = ExecInitQual(quals, parent);
	for (int i = 0; i < node->nstates; i++)
	{
		AggInput *input = &node->inputs[i];

		if (input->argument != NULL)
			input->argument_state = ExecInitExpr(input->argument, parent);
		if (input->where != NULL)
			input->where_state = ExecInitExpr(input->where, parent);
	}
	node->row_exprs = palloc0(Max(list_length(node->compiler->rows), 1) * sizeof(ExprState *));
	foreach (cell, node->compiler->rows)
		node->row_exprs[foreach_current_index(cell)] = ExecInitExpr(lfirst(cell), parent);
	node->parameter_states = gpuagg_compiled_states(node->compiler, parent);
	node->row_natts = attributes_needed(node);
	node->row_slot = ExecInitExtraTupleSlot(parent->state, node->row_desc, &TTSOpsVirtual);
}

/* Whether groups' values come whole from vectors. */
static bool
has_values_only(const AggScanState *node)
{
	bool only = !node->always_by_row;

	for (int i = 0; i < node->nvalues; i++)
		only &= node->values[i].whole;
	return only && node->spec->ncarried == 0;
}

void
gpuagg_agg_input_init(AggScanState *node)
{
	List *quals = quals_of(node);

	node->compiler = gpuagg_compiler_make(node->varno, node->css.ss.ps.state);
	gpuagg_compile_filter(node->compiler, quals);
	gpuagg_agg_layout_init(node);
	if (!gpuagg_compile_finish(node->compiler))
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						node->relation != NULL
							? errmsg("expressions over table \"%s\" are too many for one node",
									 RelationGetRelationName(node->relation))
							: errmsg("expressions over a subquery are too many for one node"),
						errhint("Set gpuagg.enable_agg_scan to off.")));
	node->columns = palloc0(Max(list_length(node->compiler->attributes), 1) * sizeof(PageColumn));
	gpuagg_compiled_columns(node->compiler, node->row_desc, node->columns);
	init_expressions(node, quals);

	gpuagg_agg_vector_init(node);
	node->always_by_row = node->compiler->user_function;
	for (int i = 0; i <= node->ndistinct; i++)
		node->always_by_row |= !gpuagg_groups_by_vector(node->sets[i].groups);
	node->by_row = node->always_by_row;
	node->dense = gpuagg_dense_make(node);
	node->values_only = has_values_only(node);
	node->columns_only = node->values_only && node->compiler->rows == NIL;
	if (node->columns_only && !node->spec->over_subquery)
	{
		gpuagg_filter_conditions(node->compiler, &node->conditions);
		gpuagg_agg_ranges_init(node);
		gpuagg_agg_chunk_init(node);
		gpuagg_agg_codes_init(node);
	}
	gpuagg_agg_device_init(node);
	node->parameter_context = AllocSetContextCreate(CurrentMemoryContext, "gpuagg parameters",
													ALLOCSET_SMALL_SIZES);
	node->memory_limit = get_hash_memory_limit();
	node->set_limit = Max(node->memory_limit / node->nsets, Min(node->memory_limit, SET_BYTES));
	node->batch_context = AllocSetContextCreate(CurrentMemoryContext, "gpuagg vector",
												ALLOCSET_DEFAULT_SIZES);
}

/* ---- vectors ---- */

static bool
next_vector(AggScanState *node)
{
	instr_time start = gpuagg_agg_timing_start(node);
	bool more = gpuagg_page_reader_next(node->reader);

	gpuagg_agg_timing_stop(start, &node->counts.ns_reading);
	return more;
}

void
gpuagg_agg_input_tell(AggScanState *node)
{
	AggCounts all = node->counts;

	if (node->reader != NULL)
		gpuagg_page_counts_add(&all.pages, &node->reader->counts);
	gpuagg_page_counts_tell(&all.pages, &node->told.pages, all.vectors - node->told.vectors);
	node->told = all;
}

PageMemory
gpuagg_agg_input_memory(AggScanState *node, Relation relation, const PageColumn *columns,
						AggMemory *memory)
{
	if (!memory->known)
	{
		/* the reason stays as long as the plan runs */
		MemoryContext old = MemoryContextSwitchTo(node->css.ss.ps.state->es_query_cxt);

		memory->known = true;
		if (node->columns_only)
			memory->mode = gpuagg_page_memory(relation, node->css.ss.ps.state->es_snapshot, columns,
											  (int) node->compiler->program.ncolumns,
											  &memory->reason);
		else
			memory->reason = "whole rows are needed";
		MemoryContextSwitchTo(old);
		memory->nchunks = gpuagg_page_share_chunks(relation, memory->mode);
		memory->device_reason = node->device_reason;
	}
	return memory->mode;
}

static void
open_reader(AggScanState *node, Relation relation, const PageColumn *columns, AggMemory *memory,
			PageShare *share)
{
	PageMemory mode = share != NULL ? PAGE_MEMORY_USE
									: gpuagg_agg_input_memory(node, relation, columns, memory);

	node->reader = gpuagg_page_reader_open(relation, node->css.ss.ps.state->es_snapshot, columns,
										   (int) node->compiler->program.ncolumns, mode, share);
	gpuagg_agg_chunk_ask(node);
	node->reader->takes_codes = node->codes != NULL;
	node->reader->owner = node;
	node->reader->timed = node->css.ss.ps.instrument != NULL &&
						  node->css.ss.ps.instrument->need_timer;
}

/* A reader of the rows of the one table, or of the plan below, that are this process's. */
static void
open_rows(AggScanState *node)
{
	PlanState *child;

	if (!node->spec->over_subquery)
	{
		open_reader(node, node->relation, node->columns, &node->memory,
					node->share != NULL ? &node->share->pages : NULL);
		return;
	}
	child = linitial(node->css.custom_ps);
	node->reader = gpuagg_row_reader_open(child, node->spec->attributes, node->row_desc,
										  node->columns, (int) node->compiler->program.ncolumns);
}

/* What the device has, of a table that this process has not begun to read, and does not share yet. */
static void
take_device(AggScanState *node, AggMemory *memory)
{
	if (!gpuagg_page_reader_begin_memory(node->reader))
		return;
	gpuagg_agg_device_take(node);
	memory->device_reason = node->device_reason;
	gpuagg_page_reader_end_memory(node->reader);
}

static void
close_reader(AggScanState *node)
{
	if (node->reader == NULL)
		return;
	gpuagg_agg_input_tell(node);
	gpuagg_page_counts_add(&node->counts.pages, &node->reader->counts);
	gpuagg_page_reader_close(node->reader);
	node->reader = NULL;
	node->table = NULL;
}

/* What is left of the table that is being read; false: there is no room for more groups. */
static bool
take_vectors(AggScanState *node)
{
	for (;;)
	{
		if (node->next_row > 0)
			gpuagg_agg_rows_take(node);
		else if (next_vector(node))
		{
			gpuagg_agg_held_settle(node);
			gpuagg_agg_vector_take(node);
		}
		else
			return true;
		if (!gpuagg_agg_output_make_room(node))
			return false;
	}
}

/* Whether workers are worth it for what has not come from memory yet. */
static bool
workers_gain(void *owner, double done)
{
	AggScanState *node = owner;
	const AggAlone *alone = &node->alone;
	double bytes = (1 - done) * alone->bytes;
	instr_time now;
	double left;

	if (compat_tests_parallel())
		return done > 0;
	if (bytes < ALONE_BYTES)
		return false;
	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, alone->start);
	if (INSTR_TIME_GET_MILLISEC(now) < ALONE_MS)
		return false;
	left = INSTR_TIME_GET_MILLISEC(now) * (1 - done) / done;
	return LAUNCH_MS + (left + bytes * MAP_MS) / alone->processes < GAIN * left;
}

/* A leader that takes part is one of them. */
static int
processes_with(int workers)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	return Max(Min(workers + (parallel_leader_participation ? 1 : 0), (int) processors), 1);
}

/* Reads what has not come from memory, if that is so little; true: all of the table is there. */
static bool
take_small_rest(AggScanState *node)
{
	PageReader *reader = node->reader;
	BlockNumber left = gpuagg_page_reader_left(reader);

	if (left == 0)
		return true;
	if (compat_tests_parallel() || left > ALONE_PAGES ||
		left > RelationGetNumberOfBlocks(reader->scan->relation) / ALONE_PART)
		return false;
	(void) take_vectors(node);
	gpuagg_agg_sink_finish(node);
	return true;
}

static bool
stop_always(void *owner, double done)
{
	return true;
}

/* What the device has of a table that processes will share; true: it has taken some, or there is none. */
static bool
take_from_table(AggScanState *node, AggTable *table)
{
	MemoryContext old;
	bool taken = false;

	gpuagg_agg_table_open(table);
	if (gpuagg_device == DEVICE_AUTO && gpuagg_device_min_rows > 0 &&
		RelationGetNumberOfBlocks(table->relation) < DEVICE_PAGES)
		return false;
	if (gpuagg_agg_input_memory(node, table->relation, table->columns, &table->memory) ==
		PAGE_MEMORY_NONE)
		return false;
	open_reader(node, table->relation, table->columns, &table->memory, NULL);
	node->table = table;
	take_device(node, &table->memory);
	if (gpuagg_page_reader_begin_memory(node->reader))
	{
		/* the chunk that it may have begun */
		node->reader->chunk_stop = stop_always;
		(void) take_vectors(node);
		gpuagg_agg_sink_finish(node);
		gpuagg_page_reader_end_memory(node->reader);
		taken = gpuagg_page_reader_has_taken(node->reader) ||
				gpuagg_page_reader_left(node->reader) == 0;
	}
	if (taken)
	{
		table->drained = take_small_rest(node);
		old = MemoryContextSwitchTo(node->css.ss.ps.state->es_query_cxt);
		table->taken = palloc_extended(gpuagg_page_share_size(table->memory.nchunks),
									   MCXT_ALLOC_HUGE);
		MemoryContextSwitchTo(old);
		gpuagg_page_share_init(table->taken, table->relation, table->memory.nchunks,
							   table->memory.mode);
		if (table->drained)
			gpuagg_page_share_finish(table->taken);
		else
			gpuagg_page_reader_share(node->reader, table->taken);
	}
	close_reader(node);
	return taken;
}

/* Whether the tables that are left are so small that workers would take longer to start. */
static bool
are_small(const List *tables)
{
	BlockNumber pages = 0;
	ListCell *cell;

	foreach (cell, tables)
	{
		AggTable *table = lfirst(cell);

		if (table->drained)
			continue;
		gpuagg_agg_table_open(table);
		pages += RelationGetNumberOfBlocks(table->relation);
		if (pages > ALONE_PAGES)
			return false;
	}
	return !compat_tests_parallel();
}

/*
 * What the device has of tables that processes will share, and what is left where that is little;
 * of a table that nobody shares, others would not know.  True: that was all.
 */
static bool
take_tables(AggScanState *node)
{
	bool any = false;
	ListCell *cell;

	if (node->device == NULL || !gpuagg_device_ready())
		return false;
	foreach (cell, node->tables)
	{
		AggTable *table = lfirst(cell);

		if (table->css.ss.ps.plan->parallel_aware)
			any |= take_from_table(node, table);
	}
	if (!any || node->other_rows || !are_small(node->tables))
		return false;
	foreach (cell, node->tables)
	{
		AggTable *table = lfirst(cell);

		if (!table->drained)
			(void) gpuagg_agg_input_take_table(node, table);
		table->drained = true;
	}
	gpuagg_agg_sink_finish(node);
	node->drained = true;
	return true;
}

bool
gpuagg_agg_input_take_memory(AggScanState *node, int workers)
{
	instr_time start = gpuagg_agg_timing_start(node);
	bool all = false;

	if (node->spec->over_children)
	{
		all = take_tables(node);
		gpuagg_agg_timing_stop(start, &node->counts.ns);
		return all;
	}
	if (node->reader != NULL || gpuagg_agg_input_memory(node, node->relation, node->columns,
														&node->memory) == PAGE_MEMORY_NONE)
		return false;
	open_reader(node, node->relation, node->columns, &node->memory, NULL);
	take_device(node, &node->memory);
	if (gpuagg_page_reader_begin_memory(node->reader))
	{
		INSTR_TIME_SET_CURRENT(node->alone.start);
		node->alone.processes = processes_with(workers);
		node->alone.bytes = gpuagg_page_reader_memory_bytes(node->reader);
		node->reader->chunk_stop = workers > 0 ? workers_gain : NULL;

		/* a leader has room for groups */
		(void) take_vectors(node);
		/* it may take no part in the rest */
		gpuagg_agg_sink_finish(node);
		gpuagg_page_reader_end_memory(node->reader);
		all = take_small_rest(node);
		if (all)
		{
			gpuagg_agg_input_tell(node);
			node->drained = true;
		}
	}
	gpuagg_agg_timing_stop(start, &node->counts.ns);
	return all;
}

bool
gpuagg_agg_input_take_table(AggScanState *node, AggTable *table)
{
	if (node->table != table)
	{
		PageShare *share = table->share != NULL ? table->share : table->taken;

		Assert(node->table == NULL);
		open_reader(node, table->relation, table->columns, &table->memory, share);
		node->table = table;
		if (share == NULL)
			take_device(node, &table->memory);
	}
	if (!take_vectors(node))
		return false;
	close_reader(node);
	return true;
}

/* What the nodes below give, and the tables that they read; false: no room. */
static bool
take_children(AggScanState *node)
{
	PlanState *child = linitial(node->css.custom_ps);

	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(child);

		if (node->full)
		{
			node->full = false;
			return false;
		}
		if (TupIsNull(slot))
			return true;
		gpuagg_agg_output_take(node, slot);
		if (!gpuagg_agg_output_make_room(node))
			return false;
	}
}

void
gpuagg_agg_input_drain(AggScanState *node)
{
	instr_time start = gpuagg_agg_timing_start(node);
	bool all;

	if (node->spec->over_children)
		all = take_children(node);
	else if (node->reader == NULL && node->spec->over_subquery && gpuagg_agg_device_window(node))
		all = true;
	else
	{
		if (node->reader == NULL)
		{
			open_rows(node);
			if (node->share == NULL && !node->spec->over_subquery)
				take_device(node, &node->memory);
		}
		all = take_vectors(node);
	}
	gpuagg_agg_sink_finish(node);
	if (all)
	{
		if (node->spec->mode == AGG_WHOLE)
			gpuagg_agg_finish(node);
		node->drained = true;
		gpuagg_agg_input_tell(node);
	}
	gpuagg_agg_timing_stop(start, &node->counts.ns);
}

void
gpuagg_agg_input_rescan(AggScanState *node)
{
	ListCell *cell;

	/* opened again when rows are asked for: what processes share may not be set anew yet */
	close_reader(node);
	foreach (cell, node->tables)
	{
		AggTable *table = lfirst(cell);

		table->drained = false;
		if (table->taken != NULL)
			pfree(table->taken);
		table->taken = NULL;
	}
	gpuagg_agg_sets_clear(node);
	gpuagg_agg_ranges_reset(node);
	for (int i = 0; i < node->nstates; i++)
		gpuagg_reduced_init(node->inputs[i].total);
	node->filter_parameters_set = false;
	node->value_parameters_set = false;
	MemoryContextReset(node->parameter_context);
	node->by_row = node->always_by_row;
	node->next_row = 0;
	node->full = false;
	node->drained = false;
}

void
gpuagg_agg_input_end(AggScanState *node)
{
	close_reader(node);
	gpuagg_agg_held_end(node);
	for (int i = 0; i < node->nsets; i++)
		gpuagg_agg_spill_end(&node->sets[i]);
}
