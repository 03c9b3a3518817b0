/*
 * agg_table.c
 *	  The executor's node GpuAgg Table: reads one table of several for the node GpuAgg above.
 *
 * Its rows go into the groups of that node, whose program is over the parent's columns; it
 * gives out no rows itself.  In a worker whose groups must be given out first it returns an
 * empty row and sets the other node's flag `full`, so that an Append between the two does not
 * take it for finished.
 *
 * The table is opened by the processes that read a part of it, when they do: of a thousand
 * partitions a worker would otherwise learn all about each.
 */
#include "compat.h"

#include "executor/executor.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "exec/agg_state.h"

static Index
table_number(const AggTable *table)
{
	int number;

	if (!bms_get_singleton_member(((CustomScan *) table->css.ss.ps.plan)->custom_relids, &number))
		elog(ERROR, "GpuAgg Table has no table");
	return (Index) number;
}

static Relation
open_table(AggTable *table)
{
	if (table->relation == NULL)
		table->relation = compat_range_table_relation(table->css.ss.ps.state, table_number(table));
	return table->relation;
}

static void
begin(CustomScanState *css, EState *estate, int eflags)
{
	AggTable *table = (AggTable *) css;

	table->full = ExecInitExtraTupleSlot(estate, CreateTemplateTupleDesc(0), &TTSOpsVirtual);
}

/* The columns that the program reads, by their numbers in this table. */
static void
make_columns(AggTable *table)
{
	AggScanState *over = table->over;
	int n = (int) over->compiler->program.ncolumns;
	EState *estate = table->css.ss.ps.state;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	TupleDesc desc = RelationGetDescr(open_table(table));

	table->columns = over->columns;
	table->map = convert_tuples_by_name(desc, RelationGetDescr(over->relation));
	if (table->map != NULL)
	{
		table->columns = palloc(Max(n, 1) * sizeof(PageColumn));
		memcpy(table->columns, over->columns, n * sizeof(PageColumn));
		for (int i = 0; i < n; i++)
			table->columns[i].attno = table->map->attrMap->attnums[over->columns[i].attno - 1];
		table->slot = ExecInitExtraTupleSlot(estate, desc, &TTSOpsVirtual);
	}
	MemoryContextSwitchTo(old);
}

void
gpuagg_agg_table_open(AggTable *table)
{
	if (table->columns == NULL)
		make_columns(table);
}

static TupleTableSlot *
exec(CustomScanState *css)
{
	AggTable *table = (AggTable *) css;

	if (table->drained)
		return NULL;
	gpuagg_agg_table_open(table);
	if (!gpuagg_agg_input_take_table(table->over, table))
	{
		table->over->full = true;
		return ExecStoreAllNullTuple(table->full);
	}
	table->drained = true;
	return NULL;
}

/* The reader is the other node's. */
static void
end(CustomScanState *css)
{
}

static void
rescan(CustomScanState *css)
{
	AggTable *table = (AggTable *) css;

	ExecScanReScan(&css->ss);
	/* a leader's has been set anew with its node, and may have been taken since */
	if (!table->over->leader)
		table->drained = false;
}

/* ---- parallel ---- */

static Size
estimate_dsm(CustomScanState *css, ParallelContext *pcxt)
{
	AggTable *table = (AggTable *) css;

	gpuagg_agg_table_open(table);
	(void) gpuagg_agg_input_memory(table->over, table->relation, table->columns, &table->memory);
	return gpuagg_page_share_size(table->memory.nchunks);
}

/* With what the leader has taken before there were workers. */
static void
share_table(AggTable *table, PageShare *share)
{
	gpuagg_page_share_init(share, table->relation, table->memory.nchunks, table->memory.mode);
	if (table->taken != NULL)
		gpuagg_page_share_copy(share, table->taken);
}

static void
initialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	AggTable *table = (AggTable *) css;

	share_table(table, coordinate);
	table->share = coordinate;
}

static void
reinitialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	share_table((AggTable *) css, coordinate);
}

static void
initialize_worker(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	((AggTable *) css)->share = coordinate;
}

/* As core shows which table a node scans. */
static void
explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	AggTable *table = (AggTable *) css;
	Oid relid = exec_rt_fetch(table_number(table), css->ss.ps.state)->relid;
	const char *name = quote_identifier(get_rel_name(relid));

	if (es->verbose)
		name = psprintf("%s.%s",
						quote_identifier(get_namespace_name_or_temp(get_rel_namespace(relid))),
						name);
	ExplainPropertyText("Table", name, es);
	gpuagg_agg_explain_memory(&table->memory, es);
	gpuagg_agg_explain_device(&table->memory, es);
}

static const CustomExecMethods exec_methods = {
	.CustomName = AGG_TABLE_NAME,
	.BeginCustomScan = begin,
	.ExecCustomScan = exec,
	.EndCustomScan = end,
	.ReScanCustomScan = rescan,
	.EstimateDSMCustomScan = estimate_dsm,
	.InitializeDSMCustomScan = initialize_dsm,
	.ReInitializeDSMCustomScan = reinitialize_dsm,
	.InitializeWorkerCustomScan = initialize_worker,
	.ExplainCustomScan = explain,
};

static Node *
make_state(CustomScan *plan)
{
	AggTable *table = palloc0(sizeof(AggTable));

	NodeSetTag(table, T_CustomScanState);
	table->css.methods = &exec_methods;
	return (Node *) table;
}

static const CustomScanMethods scan_methods = {
	.CustomName = AGG_TABLE_NAME,
	.CreateCustomScanState = make_state,
};

void
gpuagg_agg_tables_link(AggScanState *node, PlanState *below)
{
	if (IsA(below, AppendState))
	{
		AppendState *append = (AppendState *) below;

		for (int i = 0; i < append->as_nplans; i++)
			gpuagg_agg_tables_link(node, append->appendplans[i]);
	}
	else if (IsA(below, CustomScanState) && ((CustomScanState *) below)->methods == &exec_methods)
	{
		((AggTable *) below)->over = node;
		node->tables = lappend(node->tables, below);
	}
	else
		node->other_rows = true;
}

void
gpuagg_agg_table_register(void)
{
	RegisterCustomScanMethods(&scan_methods);
}
