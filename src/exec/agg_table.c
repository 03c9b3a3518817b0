/*
 * agg_table.c
 *	  The executor's node GpuAgg Table: reads one table of several for the node GpuAgg above.
 *
 * Its rows go into the groups of that node, whose program is over the parent's columns; it
 * gives out no rows itself.  In a worker whose groups must be given out first it returns an
 * empty row and sets the other node's flag `full`, so that an Append between the two does not
 * take it for finished.
 */
#include "compat.h"

#include "executor/executor.h"

#include "exec/agg_state.h"

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
	TupleDesc desc = RelationGetDescr(table->css.ss.ss_currentRelation);

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

static TupleTableSlot *
exec(CustomScanState *css)
{
	AggTable *table = (AggTable *) css;

	if (table->drained)
		return NULL;
	if (table->columns == NULL)
		make_columns(table);
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
	ExecScanReScan(&css->ss);
	((AggTable *) css)->drained = false;
}

/* ---- parallel ---- */

static Size
estimate_dsm(CustomScanState *css, ParallelContext *pcxt)
{
	return sizeof(PageShare);
}

static void
initialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	gpuagg_page_share_init(coordinate, css->ss.ss_currentRelation);
	((AggTable *) css)->share = coordinate;
}

static void
reinitialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	gpuagg_page_share_init(coordinate, css->ss.ss_currentRelation);
}

static void
initialize_worker(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	((AggTable *) css)->share = coordinate;
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
		((AggTable *) below)->over = node;
}

void
gpuagg_agg_table_register(void)
{
	RegisterCustomScanMethods(&scan_methods);
}
