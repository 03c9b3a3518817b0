/*
 * row_reader.c
 *	  The rows of a plan below as a reader's vectors.
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "common/work.h"
#include "engine/cpu.h"
#include "exec/agg_results.h"
#include "exec/row_reader.h"
#include "exec/window_source.h"
#include "exec/window_vectors.h"
#include "spec/vector_compile.h"

#define BATCH_BYTES (4 * 1024 * 1024) /* of values by reference; then a batch is full */

/* Where an attribute comes from. */
typedef struct RowAttribute
{
	int column;			 /* of the plan's rows; -1: it is not there */
	WindowSource source; /* of vectors */
} RowAttribute;

typedef struct RowReader
{
	PageReader reader; /* first */
	MemoryContext context;
	MemoryContext batch; /* values of the current batch */
	PlanState *plan;
	PlanState *window; /* whose vectors are taken; or NULL */
	PlanState *groups; /* whose groups are, as vectors; or NULL */
	TupleDesc desc;
	RowAttribute *attributes;
	const PageColumn *columns;
	VectorValue *forms; /* by column */

	/* of rows that come one by one: attribute after attribute */
	Datum *values;
	bool *isnull;
} RowReader;

TupleDesc
gpuagg_row_reader_desc(PlanState *plan, const List *attributes, const List *typmods)
{
	TupleDesc from = ExecGetResultType(plan);
	TupleDesc desc;
	int natts = 0;
	ListCell *cell;

	foreach (cell, attributes)
		natts = Max(natts, lfirst_int(cell));
	desc = CreateTemplateTupleDesc(natts);
	for (int i = 0; i < natts; i++)
		TupleDescInitEntry(desc, i + 1, NULL, INT4OID, -1, 0);
	foreach (cell, attributes)
	{
		int i = foreach_current_index(cell);

		TupleDescInitEntry(desc, lfirst_int(cell), NULL, TupleDescAttr(from, i)->atttypid,
						   list_nth_int(typmods, i), 0);
		TupleDescInitEntryCollation(desc, lfirst_int(cell), TupleDescAttr(from, i)->attcollation);
	}
	return desc;
}

/* ---- the plan ---- */

/* Finds what the plan's columns are of a node; false: some is computed. */
static bool
find_columns(RowReader *reader, const PlanState *node)
{
	for (int a = 0; a < reader->desc->natts; a++)
	{
		RowAttribute *attribute = &reader->attributes[a];

		if (attribute->column >= 0 &&
			!gpuagg_window_source_find(reader->plan, node, attribute->column, &attribute->source))
			return false;
	}
	return true;
}

static void
start_nodes(const RowReader *reader, const PlanState *node)
{
	if (node->instrument != NULL)
		InstrStartNode(node->instrument);
	if (reader->plan != node && reader->plan->instrument != NULL)
		InstrStartNode(reader->plan->instrument);
}

static void
stop_nodes(const RowReader *reader, const PlanState *node, int n)
{
	if (node->instrument != NULL)
		InstrStopNode(node->instrument, n);
	if (reader->plan != node && reader->plan->instrument != NULL)
		InstrStopNode(reader->plan->instrument, n);
}

static void
begin_groups(RowReader *reader, PlanState *groups)
{
	if (!find_columns(reader, groups))
		return;
	start_nodes(reader, groups);
	if (reader->plan != groups && reader->plan->chgParam != NULL)
		ExecReScan(reader->plan);
	if (gpuagg_agg_results_begin(groups))
		reader->groups = groups;
	stop_nodes(reader, groups, 0);
}

static void
begin_window(RowReader *reader, PlanState *window)
{
	bool *needed; /* columns of its scan tuple */
	MemoryContext old;

	if (!find_columns(reader, window))
		return;
	needed = palloc0(list_length(((const CustomScan *) window->plan)->custom_scan_tlist) + 1);
	for (int a = 0; a < reader->desc->natts; a++)
		if (reader->attributes[a].column >= 0 && reader->attributes[a].source.scan >= 0)
			needed[reader->attributes[a].source.scan] = true;
	/* what nodes below begin lasts longer than this reader */
	old = MemoryContextSwitchTo(reader->plan->state->es_query_cxt);
	start_nodes(reader, window);
	if (reader->plan != window && reader->plan->chgParam != NULL)
		ExecReScan(reader->plan);
	if (gpuagg_window_vectors_begin(window, needed))
		reader->window = window;
	stop_nodes(reader, window, 0);
	MemoryContextSwitchTo(old);
}

static void
begin(RowReader *reader)
{
	PlanState *window = gpuagg_window_source_node(reader->plan);
	PlanState *groups = gpuagg_window_source_groups(reader->plan);

	if (window != NULL)
		begin_window(reader, window);
	else if (groups != NULL)
		begin_groups(reader, groups);
}

/* ---- rows ---- */

/* Copies the plan's row into the batch. */
static void
take_row(RowReader *reader, TupleTableSlot *slot, int row)
{
	slot_getallattrs(slot);
	for (int a = 0; a < reader->desc->natts; a++)
	{
		Form_pg_attribute attribute = TupleDescAttr(reader->desc, a);
		int column = reader->attributes[a].column;
		Size place = (Size) a * GPUAGG_VECTOR_ROWS + row;

		if (column < 0)
			continue;
		reader->isnull[place] = slot->tts_isnull[column];
		reader->values[place] = slot->tts_values[column];
		if (!attribute->attbyval && !slot->tts_isnull[column])
			reader->values[place] = datumCopy(slot->tts_values[column], false, attribute->attlen);
	}
}

static int
take_rows(RowReader *reader)
{
	MemoryContext old = CurrentMemoryContext;
	int n = 0;

	while (n < GPUAGG_VECTOR_ROWS && MemoryContextMemAllocated(reader->batch, false) < BATCH_BYTES)
	{
		TupleTableSlot *slot = ExecProcNode(reader->plan);

		CHECK_FOR_INTERRUPTS();
		if (TupIsNull(slot))
			break;
		MemoryContextSwitchTo(reader->batch);
		take_row(reader, slot, n++);
		MemoryContextSwitchTo(old);
	}
	return n;
}

static bool
next(PageReader *public)
{
	RowReader *reader = (RowReader *) public;
	int n;

	MemoryContextReset(reader->batch);
	memset(public->flagged, 0, sizeof(public->flagged));
	public->any_flagged = false;
	if (reader->window != NULL)
	{
		start_nodes(reader, reader->window);
		n = gpuagg_window_vectors_next(reader->window);
		stop_nodes(reader, reader->window, n);
	}
	else if (reader->groups != NULL)
	{
		start_nodes(reader, reader->groups);
		n = gpuagg_agg_results_next(reader->groups);
		stop_nodes(reader, reader->groups, n);
	}
	else
		n = take_rows(reader);
	public->nrows = n;
	public->counts.rows += n;
	return n > 0;
}

/* An attribute of a row of the batch; by reference it lasts as long as that. */
static Datum
get(const RowReader *reader, int a, int row, bool *isnull)
{
	const RowAttribute *attribute = &reader->attributes[a];
	MemoryContext old;
	Datum value;

	if (reader->values != NULL)
	{
		*isnull = reader->isnull[(Size) a * GPUAGG_VECTOR_ROWS + row];
		return reader->values[(Size) a * GPUAGG_VECTOR_ROWS + row];
	}
	if (attribute->source.scan < 0)
	{
		*isnull = attribute->source.constant->constisnull;
		return attribute->source.constant->constvalue;
	}
	old = MemoryContextSwitchTo(reader->batch);
	value = reader->window != NULL
				? gpuagg_window_vectors_datum(reader->window, attribute->source.scan, row, isnull)
				: gpuagg_agg_results_datum(reader->groups, attribute->source.scan, row, isnull);
	MemoryContextSwitchTo(old);
	return value;
}

/* ---- vectors ---- */

static void
set_valid(GpuaggVector *vector, int row)
{
	vector->valid[row / 64] |= UINT64CONST(1) << row % 64;
}

/* Sums as an engine or a group has left them; false: the column is none. */
static bool
load_sums(RowReader *reader, int c)
{
	GpuaggVector *vector = &reader->reader.columns[c];
	const RowAttribute *attribute = &reader->attributes[reader->columns[c].attno - 1];

	if (reader->values != NULL || attribute->source.scan < 0 ||
		reader->forms[c].type != GPUAGG_VECTOR_INT128)
		return false;
	if (reader->groups != NULL)
		return gpuagg_agg_results_integers(reader->groups, attribute->source.scan,
										   reader->forms[c].scale, vector->values, vector->valid);
	return gpuagg_window_vectors_integers(reader->window, attribute->source.scan,
										  reader->forms[c].scale, vector->values, vector->valid);
}

#define LOAD(Type, FromDatum)                                   \
	for (int i = 0; i < reader->reader.nrows; i++)              \
	{                                                           \
		bool isnull;                                            \
		Datum value = get(reader, a, i, &isnull);               \
                                                                \
		if (isnull)                                             \
			continue;                                           \
		set_valid(vector, i);                                   \
		((Type *) vector->values)[i] = (Type) FromDatum(value); \
	}

static void
load_column(RowReader *reader, int c, const uint64 *wanted)
{
	GpuaggVector *vector = &reader->reader.columns[c];
	const VectorValue *form = &reader->forms[c];
	int a = reader->columns[c].attno - 1;
	Oid type = TupleDescAttr(reader->desc, a)->atttypid;

	memset(vector->valid, 0, GPUAGG_VECTOR_WORDS * sizeof(uint64));
	if (load_sums(reader, c))
		return;
	switch (type)
	{
		case INT4OID:
		case DATEOID:
			LOAD(int32, DatumGetInt32)
			return;
		case INT8OID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			LOAD(int64, DatumGetInt64)
			return;
		default:
			break;
	}
	for (int i = 0; i < reader->reader.nrows; i++)
	{
		bool isnull;
		Datum value;

		if (wanted != NULL && !gpuagg_bit(wanted, i))
			continue;
		value = get(reader, a, i, &isnull);
		if (gpuagg_vector_store(vector, form, type, i, value, isnull))
			continue;
		reader->reader.flagged[i / 64] |= UINT64CONST(1) << i % 64;
		reader->reader.any_flagged = true;
	}
}

static void
load(PageReader *public, int first, int n, const uint64 *wanted)
{
	RowReader *reader = (RowReader *) public;
	MemoryContext old = MemoryContextSwitchTo(reader->batch);

	for (int c = first; c < first + n; c++)
		load_column(reader, c, wanted);
	MemoryContextSwitchTo(old);
}

static void
store(PageReader *public, int row, int natts, TupleTableSlot *slot)
{
	RowReader *reader = (RowReader *) public;

	ExecClearTuple(slot);
	for (int a = 0; a < reader->desc->natts; a++)
	{
		slot->tts_isnull[a] = true;
		slot->tts_values[a] = (Datum) 0;
		if (a < natts && reader->attributes[a].column >= 0)
			slot->tts_values[a] = get(reader, a, row, &slot->tts_isnull[a]);
	}
	ExecStoreVirtualTuple(slot);
}

/* ---- the reader ---- */

static void
end(PageReader *public)
{
	MemoryContextDelete(((RowReader *) public)->context);
}

static const PageSource source = {.next = next, .load = load, .slot = store, .close = end};

static void
make_vectors(RowReader *reader, int ncolumns)
{
	Size valid_bytes = GPUAGG_VECTOR_WORDS * sizeof(uint64);

	reader->reader.columns = palloc0((ncolumns + 1) * sizeof(GpuaggVector));
	reader->forms = palloc((ncolumns + 1) * sizeof(VectorValue));
	for (int c = 0; c < ncolumns; c++)
	{
		const PageColumn *column = &reader->columns[c];
		Form_pg_attribute attribute = TupleDescAttr(reader->desc, column->attno - 1);
		GpuaggVector *vector = &reader->reader.columns[c];
		Size bytes = Max(gpuagg_vector_type_size(column->type) * GPUAGG_VECTOR_ROWS, valid_bytes);

		gpuagg_vector_form(column->form == PAGE_COLUMN_DATUM ? InvalidOid : attribute->atttypid,
						   attribute->atttypmod, &reader->forms[c]);
		if (reader->forms[c].type != column->type)
			elog(ERROR, "column %d has another vector than its reader", column->attno);
		vector->values = (void *) TYPEALIGN(64, palloc0(bytes + 64));
		vector->valid = palloc0(valid_bytes);
	}
}

PageReader *
gpuagg_row_reader_open(PlanState *plan, const List *attributes, TupleDesc desc,
					   const PageColumn *columns, int ncolumns)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpuagg rows below",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RowReader *reader = palloc0(sizeof(RowReader));
	Size nvalues = (Size) (desc->natts + 1) * GPUAGG_VECTOR_ROWS;
	ListCell *cell;

	reader->reader.source = &source;
	reader->context = context;
	reader->batch = AllocSetContextCreate(context, "gpuagg batch", ALLOCSET_DEFAULT_SIZES);
	reader->plan = plan;
	reader->desc = desc;
	reader->columns = columns;
	reader->attributes = palloc((desc->natts + 1) * sizeof(RowAttribute));
	for (int a = 0; a < desc->natts; a++)
		reader->attributes[a] = (RowAttribute){-1, {-1, NULL}};
	foreach (cell, attributes)
		reader->attributes[lfirst_int(cell) - 1].column = foreach_current_index(cell);
	make_vectors(reader, ncolumns);
	begin(reader);
	if (reader->window == NULL && reader->groups == NULL)
	{
		reader->values = MemoryContextAllocHuge(context, nvalues * sizeof(Datum));
		reader->isnull = MemoryContextAllocHuge(context, nvalues * sizeof(bool));
	}
	MemoryContextSwitchTo(old);
	return &reader->reader;
}
