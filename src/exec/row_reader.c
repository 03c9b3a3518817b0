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
#include "exec/compiled.h"
#include "exec/row_between.h"
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
	int computed;		 /* number of those that `between` has; -1: it is none */
} RowAttribute;

typedef struct RowReader
{
	PageReader reader; /* first */
	MemoryContext context;
	MemoryContext batch; /* values of the current batch */
	PlanState *plan;
	PlanState *window;	 /* whose vectors are taken; or NULL */
	RowBetween *between; /* what is computed of these; or NULL */
	PlanState *groups;	 /* whose groups are, as vectors; or NULL */
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

/* Finds what the plan's columns are of a node; returns how many of them are computed. */
static int
find_columns(RowReader *reader, const PlanState *node)
{
	int ncomputed = 0;

	for (int a = 0; a < reader->desc->natts; a++)
	{
		RowAttribute *attribute = &reader->attributes[a];

		if (attribute->column >= 0 &&
			!gpuagg_window_source_find(reader->plan, node, attribute->column, &attribute->source))
			attribute->computed = ncomputed++;
	}
	return ncomputed;
}

/* Has what is computed of a window's columns; false: rows have to come one by one. */
static bool
make_between(RowReader *reader, PlanState *window)
{
	int natts = reader->desc->natts;
	int *columns = palloc((natts + 1) * sizeof(int));
	int32 *typmods = palloc((natts + 1) * sizeof(int32));
	bool *computed = palloc((natts + 1) * sizeof(bool));
	int n = 0;

	for (int a = 0; a < natts; a++)
	{
		RowAttribute *attribute = &reader->attributes[a];

		if (attribute->column < 0)
			continue;
		columns[n] = attribute->column;
		typmods[n] = TupleDescAttr(reader->desc, a)->atttypmod;
		computed[n] = attribute->computed >= 0;
		if (computed[n])
			attribute->computed = n;
		n++;
	}
	reader->between = gpuagg_row_between_make(reader->plan, window, n, columns, typmods, computed);
	return reader->between != NULL;
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
	if (find_columns(reader, groups) > 0)
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

	if (find_columns(reader, window) > 0 && !make_between(reader, window))
		return;
	needed = palloc0(list_length(((const CustomScan *) window->plan)->custom_scan_tlist) + 1);
	for (int i = 0; reader->between != NULL && i < reader->between->of->nscan; i++)
		needed[i] = reader->between->needed[i];
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
	else if (reader->between != NULL)
	{
		gpuagg_row_between_end(reader->between);
		reader->between = NULL;
	}
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

/* A value of a row of the batch; by reference it lasts as long as that. */
static Datum
get(const RowReader *reader, const RowAttribute *attribute, int row, bool *isnull)
{
	MemoryContext old;
	Datum value;

	if (reader->values != NULL)
	{
		Size place = (attribute - reader->attributes) * GPUAGG_VECTOR_ROWS + row;

		*isnull = reader->isnull[place];
		return reader->values[place];
	}
	if (attribute->computed >= 0)
	{
		old = MemoryContextSwitchTo(reader->batch);
		value = gpuagg_row_between_evaluate(reader->between, attribute->computed, row, isnull);
		MemoryContextSwitchTo(old);
		return value;
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

/* A column to be loaded. */
typedef struct RowColumn
{
	const RowAttribute *attribute;
	Oid type;
	const VectorValue *form;
	GpuaggVector *vector;
} RowColumn;

/* Averages of a window, from sums and counts; false: the column is none. */
static bool
load_averages(RowReader *reader, const RowColumn *column)
{
	uint64 failed[GPUAGG_VECTOR_WORDS] = {0};

	if (!gpuagg_window_vectors_averages(reader->window, column->attribute->source.scan,
										column->form->scale, column->vector->values,
										column->vector->valid, failed))
		return false;
	for (int i = 0; i < GPUAGG_VECTOR_WORDS; i++)
	{
		reader->reader.flagged[i] |= failed[i];
		reader->reader.any_flagged |= failed[i] != 0;
	}
	return true;
}

/* Sums as an engine or a group has left them; false: the column is none. */
static bool
load_sums(RowReader *reader, const RowColumn *column)
{
	GpuaggVector *vector = column->vector;
	int scan = column->attribute->source.scan;

	if (reader->values != NULL || scan < 0 || column->form->type != GPUAGG_VECTOR_INT128)
		return false;
	if (reader->groups != NULL)
		return gpuagg_agg_results_integers(reader->groups, scan, column->form->scale,
										   vector->values, vector->valid);
	if (column->form->own_scales)
		return load_averages(reader, column);
	return gpuagg_window_vectors_integers(reader->window, scan, column->form->scale, vector->values,
										  vector->valid);
}

/* A column whose values lie ready; false: they are asked for one by one. */
static bool
find_ready(const RowReader *reader, const RowAttribute *attribute, WindowVectorColumn *ready)
{
	return reader->window != NULL && attribute->computed < 0 && attribute->source.scan >= 0 &&
		   gpuagg_window_vectors_column(reader->window, attribute->source.scan, ready);
}

/* One of its values, or that of a column that has none ready. */
static inline Datum
take(const RowReader *reader, const RowAttribute *attribute, const WindowVectorColumn *ready,
	 int row, bool *isnull)
{
	if (ready == NULL)
		return get(reader, attribute, row, isnull);
	*isnull = ready->isnull[row * ready->stride];
	return ready->values[row * ready->stride];
}

/* Values of NULLs may be anything. */
#define LOAD(Type, FromDatum)                                                   \
	for (int i = 0; i < reader->reader.nrows; i += 64)                          \
	{                                                                           \
		int end = Min(i + 64, reader->reader.nrows);                            \
		uint64 valid = 0;                                                       \
                                                                                \
		for (int row = i; row < end; row++)                                     \
		{                                                                       \
			bool isnull;                                                        \
			Datum value = take(reader, column->attribute, ready, row, &isnull); \
                                                                                \
			valid |= (uint64) !isnull << (row - i);                             \
			((Type *) column->vector->values)[row] = (Type) FromDatum(value);   \
		}                                                                       \
		column->vector->valid[i / 64] = valid;                                  \
	}

static void
load_values(RowReader *reader, const RowColumn *column, const uint64 *wanted)
{
	WindowVectorColumn found;
	const WindowVectorColumn *ready;

	memset(column->vector->valid, 0, GPUAGG_VECTOR_WORDS * sizeof(uint64));
	if (load_sums(reader, column))
		return;
	ready = find_ready(reader, column->attribute, &found) ? &found : NULL;
	switch (column->form->type == GPUAGG_VECTOR_DATUM ? InvalidOid : column->type)
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
		value = take(reader, column->attribute, ready, i, &isnull);
		if (gpuagg_vector_store(column->vector, column->form, column->type, i, value, isnull))
			continue;
		reader->reader.flagged[i / 64] |= UINT64CONST(1) << i % 64;
		reader->reader.any_flagged = true;
	}
}

/* A column that is computed; of a batch with a flagged row, which is evaluated again, NULLs. */
static void
take_computed(RowReader *reader, const RowColumn *column, const uint64 *wanted)
{
	const RowBetween *between = reader->between;
	const VectorValue *value = &between->of->values[column->attribute->computed];
	const GpuaggVector *from = &between->runner->registers[value->reg];

	memset(column->vector->valid, 0, GPUAGG_VECTOR_WORDS * sizeof(uint64));
	if (reader->reader.any_flagged)
		return;
	if (value->own_scales && !column->form->own_scales)
	{
		load_values(reader, column, wanted);
		return;
	}
	if (value->type == column->form->type && value->scale == column->form->scale)
	{
		memcpy(column->vector->values, from->values, gpuagg_compiled_vector_bytes(value->type));
		if (from->valid != NULL)
			memcpy(column->vector->valid, from->valid, GPUAGG_VECTOR_WORDS * sizeof(uint64));
		else
			gpuagg_vector_all(column->vector->valid, reader->reader.nrows);
		return;
	}
	for (int i = 0; i < reader->reader.nrows; i++)
	{
		bool isnull;
		Datum datum = gpuagg_vector_datum(from, value, column->type, i, &isnull);

		if (gpuagg_vector_store(column->vector, column->form, column->type, i, datum, isnull))
			continue;
		reader->reader.flagged[i / 64] |= UINT64CONST(1) << i % 64;
		reader->reader.any_flagged = true;
	}
}

static void
load_column(RowReader *reader, int c, const uint64 *wanted)
{
	int a = reader->columns[c].attno - 1;
	RowColumn column = {
		.attribute = &reader->attributes[a],
		.type = TupleDescAttr(reader->desc, a)->atttypid,
		.form = &reader->forms[c],
		.vector = &reader->reader.columns[c],
	};

	if (reader->values != NULL || column.attribute->computed < 0)
		load_values(reader, &column, wanted);
	else
		take_computed(reader, &column, wanted);
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

/* Computes what is computed of the batch's rows. */
static void
compute(RowReader *reader)
{
	RowBetween *between = reader->between;
	MemoryContext old = MemoryContextSwitchTo(reader->context);
	ListCell *cell;

	gpuagg_row_between_begin(between);
	MemoryContextSwitchTo(reader->batch);
	foreach (cell, between->of->compiler->attributes)
	{
		int i = foreach_current_index(cell);
		RowAttribute attribute = {-1, {lfirst_int(cell) - 1, NULL}, -1};
		RowColumn column = {
			.attribute = &attribute,
			.type = between->of->types[i],
			.form = &between->of->forms[i],
			.vector = &between->inputs[i],
		};

		load_values(reader, &column, NULL);
	}
	gpuagg_row_between_run(between, reader->reader.nrows, reader->reader.flagged,
						   &reader->reader.any_flagged);
	MemoryContextSwitchTo(old);
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
	public->counts.given += reader->window != NULL || reader->groups != NULL ? n : 0;
	if (reader->between != NULL && n > 0)
		compute(reader);
	return n > 0;
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
			slot->tts_values[a] = get(reader, &reader->attributes[a], row, &slot->tts_isnull[a]);
	}
	ExecStoreVirtualTuple(slot);
}

/* ---- the reader ---- */

static void
end(PageReader *public)
{
	RowReader *reader = (RowReader *) public;

	if (reader->between != NULL)
		gpuagg_row_between_end(reader->between);
	MemoryContextDelete(reader->context);
}

static const PageSource source = {.next = next, .load = load, .slot = store, .close = end};

static void
make_vectors(RowReader *reader, int ncolumns)
{
	reader->reader.columns = palloc0((ncolumns + 1) * sizeof(GpuaggVector));
	reader->forms = palloc((ncolumns + 1) * sizeof(VectorValue));
	for (int c = 0; c < ncolumns; c++)
	{
		const PageColumn *column = &reader->columns[c];
		Form_pg_attribute attribute = TupleDescAttr(reader->desc, column->attno - 1);

		gpuagg_vector_form(column->form == PAGE_COLUMN_DATUM ? InvalidOid : attribute->atttypid,
						   attribute->atttypmod, &reader->forms[c]);
		if (reader->forms[c].type != column->type)
			elog(ERROR, "column %d has another vector than its reader", column->attno);
		reader->reader.columns[c] = gpuagg_compiled_vector(column->type);
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
		reader->attributes[a] = (RowAttribute){-1, {-1, NULL}, -1};
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
