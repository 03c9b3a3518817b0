/*
 * window_pipeline.c
 *	  Fills sets with the rows that come in, and brings each through an engine: one
 *	  segmented scan for each function, over the partitions that the set spans.
 *
 * Each set goes to the device or to the CPU's loops.  The functions' states carry the open
 * partition from set to set.  While the rows of a set are emitted, the next set is on the
 * device; its results are taken from there once the set after it has been filled.
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "engine/cpu.h"
#include "exec/window_pipeline.h"
#include "gpuagg.h"

#define DEVICE_ROWS 32768 /* of a set: with more, the rows would fall out of the CPU's cache */
#define CPU_ROWS	1024  /* sets grow up to it from one row, as a LIMIT may end the query early */
#define LEAST_ROWS	64	  /* that a set has room for */
#define COPY_BYTES	(2 * 1024 * 1024) /* of copied values; then the set is full */
#define COPY_ROWS	64				  /* that are copied together */
#define RETRY_ROWS	65536			  /* before asking for the device again */

static void
make_rows(WindowScanState *node, WindowRows *rows)
{
	int n = node->nfunctions;
	int nscans = 0;

	rows->columns = palloc0(n * sizeof(WindowFunctionColumn));
	rows->scans = palloc(n * sizeof(ColumnScan *));
	rows->copied = AllocSetContextCreate(CurrentMemoryContext, "GpuWindow copies",
										 ALLOCSET_DEFAULT_SIZES);
	for (int f = 0; f < n; f++)
	{
		const WindowFunctionState *function = &node->functions[f];
		unsigned flags = GPUAGG_SCAN_VALIDITY | GPUAGG_SCAN_HEADS | GPUAGG_SCAN_STATUS;

		if (function->op->kind == 0)
			continue;
		flags |= gpuagg_running_scan_flags(function->op);
		if (function->exclusive)
			flags |= GPUAGG_SCAN_EXCLUSIVE;
		rows->columns[f].scan = gpuagg_scan_make(function->op->kind, function->op->op, flags,
												 CurrentMemoryContext);
		rows->scans[nscans++] = rows->columns[f].scan;
	}
	node->pipeline->nscans = nscans;
}

void
gpuagg_window_pipeline_make(WindowScanState *node, int64 device_from)
{
	TupleDesc desc = ExecGetResultType(node->input.child);
	MemoryContext context = AllocSetContextCreate(GetMemoryChunkContext(node), "GpuWindow rows",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	WindowPipeline *p = palloc0(sizeof(WindowPipeline));

	node->pipeline = p;
	p->context = context;
	p->stride = gpuagg_window_input_columns(&node->input);
	p->all_by_value = true;
	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attbyval)
			p->all_by_value = false;
	p->last = palloc0(node->nfunctions * sizeof(LastResult));
	p->device_from = device_from;
	p->cpu_capacity = 1;
	p->can_overlap = 2 * GPUAGG_SEGMENT_BYTES <= (Size) gpuagg_staging_memory * 1024;
	for (int i = 0; i < lengthof(p->sets); i++)
		make_rows(node, &p->sets[i]);
	MemoryContextSwitchTo(old);
}

void
gpuagg_window_pipeline_keep_integers(WindowScanState *node)
{
	WindowPipeline *p = node->pipeline;
	MemoryContext old;

	gpuagg_window_input_sort(&node->input);
	old = MemoryContextSwitchTo(p->context);
	p->integers = gpuagg_row_sort_select(node->input.sort, node->input.wanted);
	p->integers->integers = true;
	MemoryContextSwitchTo(old);
}

int
gpuagg_window_pipeline_scale(const WindowScanState *node, int column)
{
	return node->pipeline->integers != NULL ? gpuagg_row_sort_scale(node->input.sort, column) : -1;
}

void
gpuagg_window_pipeline_drop(WindowScanState *node)
{
	if (node->pipeline == NULL)
		return;
	if (node->pipeline->queue != NULL)
	{
		node->work.spilled += gpuagg_column_queue_spilled(node->pipeline->queue);
		gpuagg_column_queue_end(node->pipeline->queue);
	}
	MemoryContextDelete(node->pipeline->context);
	node->pipeline = NULL;
}

ColumnQueue *
gpuagg_window_pipeline_queue(WindowScanState *node, const bool *kept)
{
	WindowPipeline *p = node->pipeline;
	TupleDesc desc = node->spec->sort ? gpuagg_row_sort_desc(node->input.sort)
									  : ExecGetResultType(node->input.child);
	bool *columns = MemoryContextAlloc(p->context, desc->natts * sizeof(bool));
	int *scales = palloc((desc->natts + 1) * sizeof(int));

	memcpy(columns, kept, desc->natts * sizeof(bool));
	for (int c = 0; c < desc->natts; c++)
		scales[c] = gpuagg_window_pipeline_scale(node, c);
	p->queue = gpuagg_column_queue_make(desc, columns, scales, work_mem * INT64CONST(1024),
										p->context);
	return p->queue;
}

/* ---- filling ---- */

/* An array in place of another one, whose content is not kept. */
static void *
make_array(void *array, Size bytes)
{
	if (array != NULL)
		pfree(array);
	return palloc(bytes);
}

static void
make_room(WindowScanState *node, WindowRows *rows, int64 n)
{
	Size nvalues = n * node->pipeline->stride;
	MemoryContext old;

	if (n <= rows->capacity)
		return;
	old = MemoryContextSwitchTo(node->pipeline->context);
	rows->capacity = 0;
	rows->values = make_array(rows->values, nvalues * sizeof(Datum));
	rows->isnull = make_array(rows->isnull, nvalues * sizeof(bool));
	rows->partition_heads = make_array(rows->partition_heads, n / 8);
	rows->group_heads = make_array(rows->group_heads, n / 8);
	rows->dropped = make_array(rows->dropped, n / 8);
	for (int f = 0; f < node->nfunctions; f++)
		if (gpuagg_running_needs_counts(node->functions[f].op))
			rows->columns[f].counts = make_array(rows->columns[f].counts, n * sizeof(int64));
	MemoryContextSwitchTo(old);
	rows->capacity = n;
}

/* Rows that so many bytes hold, a multiple of 64. */
static int64
rows_of(const WindowPipeline *p, int64 bytes)
{
	int64 rows = bytes / (p->stride * (int64) (sizeof(Datum) + sizeof(bool)));

	return Max(TYPEALIGN_DOWN(64, rows), LEAST_ROWS);
}

/* Gets staging memory for a set, if it is time to ask for the device. */
static void
begin_on_device(WindowScanState *node, WindowRows *rows)
{
	WindowPipeline *p = node->pipeline;
	int64 bytes = Max(work_mem * INT64CONST(1024) / lengthof(p->sets), COPY_BYTES);
	WorkReport before;

	rows->on_device = false;
	if (p->rows_taken < p->device_from)
		return;
	if (node->work.report.reason == GPUAGG_SMALL)
	{
		/* that it is not any longer; a failure has a reason of its own */
		gpuagg_stat_withdraw(GPUAGG_SMALL);
		node->work.report.reason = GPUAGG_OK;
	}
	before = *gpuagg_stat_last();
	rows->on_device =
		gpuagg_scans_begin(rows->scans, p->nscans,
						   Min(Min(gpuagg_batch_rows, DEVICE_ROWS), rows_of(p, bytes)));
	gpuagg_window_report_since(&node->work.report, &before);
	if (rows->on_device)
		return;
	node->work.report.reason = gpuagg_stat_last()->reason;
	p->device_from = p->rows_taken + RETRY_ROWS;
}

/* Chooses the engine; returns how many rows the set takes. */
static int64
begin_rows(WindowScanState *node, WindowRows *rows)
{
	WindowPipeline *p = node->pipeline;
	int64 n;

	begin_on_device(node, rows);
	if (rows->on_device)
	{
		make_room(node, rows, rows->scans[0]->capacity);
		return rows->scans[0]->capacity;
	}
	n = Min(Min(p->cpu_capacity, gpuagg_batch_rows), rows_of(p, work_mem * INT64CONST(1024)));
	p->cpu_capacity = Min(2 * p->cpu_capacity, CPU_ROWS);
	make_room(node, rows, TYPEALIGN(64, n));
	for (int i = 0; i < p->nscans; i++)
		gpuagg_scan_begin_in_memory(rows->scans[i], TYPEALIGN(64, n));
	return n;
}

/* A slot with the input's row, whose values last as long as the set's rows. */
static TupleTableSlot *
lasting_row(WindowScanState *node, WindowRows *rows)
{
	TupleTableSlot *row = node->input.row;
	MinimalTuple copy;

	if (node->pipeline->all_by_value)
		return row;
	if (rows->copies == NULL)
		rows->copies = gpuagg_row_blocks_make(row->tts_tupleDescriptor, node->pipeline->context);
	copy = gpuagg_row_blocks_append(rows->copies, row, PG_INT64_MAX);
	return ExecStoreMinimalTuple(copy, node->tuple_slot, false);
}

/* Copies a value by reference for as long as the set's rows last. */
static Datum
copy_value(WindowRows *rows, Datum value, int16 length)
{
	MemoryContext old = MemoryContextSwitchTo(rows->copied);

	rows->copied_bytes += datumGetSize(value, false, length);
	value = datumCopy(value, false, length);
	MemoryContextSwitchTo(old);
	return value;
}

/* Evaluates the arguments that are expressions over the set's row at `values`. */
static void
put_arguments(WindowScanState *node, WindowRows *rows, Datum *values, bool *isnull)
{
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;

	gpuagg_window_show(node, values, isnull);
	for (int f = 0; f < node->nfunctions; f++)
	{
		WindowFunctionState *function = &node->functions[f];
		int at = node->spec->nchild + f;

		if (function->argument == NULL || node->input.computed[f])
			continue;
		values[at] = ExecEvalExprSwitchContext(function->argument, econtext, &isnull[at]);
		if (function->argument_length != 0 && !isnull[at])
			values[at] = copy_value(rows, values[at], function->argument_length);
	}
}

/* Takes the input's row into a set. */
static void
put_row(WindowScanState *node, WindowRows *rows)
{
	Size place = gpuagg_window_place(node, rows->nrows, 0);
	TupleTableSlot *row = lasting_row(node, rows);
	int nchild = node->spec->nchild;

	slot_getallattrs(row);
	for (int i = 0; i < nchild; i++)
	{
		rows->values[place + i] = row->tts_values[i];
		rows->isnull[place + i] = row->tts_isnull[i];
	}
	if (!node->input.marks_sets)
	{
		gpuagg_scan_set_bit(rows->partition_heads, rows->nrows, node->input.new_partition);
		gpuagg_scan_set_bit(rows->group_heads, rows->nrows, node->input.new_group);
	}
	if (node->has_expressions)
		put_arguments(node, rows, rows->values + place, rows->isnull + place);
	rows->nrows++;
	node->input.row = NULL;
}

/* Takes up to `capacity` rows that come in one by one; there is a first one. */
static void
put_rows(WindowScanState *node, WindowRows *rows, int64 capacity)
{
	do
	{
		CHECK_FOR_INTERRUPTS();
		put_row(node, rows);
	} while (rows->nrows < capacity && rows->copied_bytes < COPY_BYTES &&
			 (rows->copies == NULL || gpuagg_row_blocks_bytes(rows->copies) < COPY_BYTES) &&
			 gpuagg_window_input_next(&node->input));
	if (node->input.marks_sets)
		gpuagg_window_input_mark(&node->input, rows->values, rows->isnull, node->pipeline->stride,
								 rows->nrows, rows->partition_heads, rows->group_heads);
}

/* Copies values of n rows from this place on like this. */
static void
copy_values(const WindowScanState *node, WindowRows *rows, Size place, int64 n, int16 length)
{
	Size stride = node->pipeline->stride;
	Datum *values = rows->values + place;
	const bool *isnull = rows->isnull + place;
	Size bytes = 0;
	char *to;

	for (int64 i = 0; i < n; i++)
		if (!isnull[i * stride])
			bytes += MAXALIGN(datumGetSize(values[i * stride], false, length));
	to = MemoryContextAllocHuge(rows->copied, Max(bytes, 1));
	for (int64 i = 0; i < n; i++)
	{
		Size size;

		if (isnull[i * stride])
			continue;
		size = datumGetSize(values[i * stride], false, length);
		memcpy(to, DatumGetPointer(values[i * stride]), size);
		values[i * stride] = PointerGetDatum(to);
		to += MAXALIGN(size);
	}
	rows->copied_bytes += bytes;
}

/* Completes rows from number `first` on, which the sort does not keep. */
static void
settle_rows(WindowScanState *node, WindowRows *rows, int64 first)
{
	TupleDesc desc = ExecGetResultType(node->input.child);

	for (int c = 0; c < node->spec->nchild; c++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, c);
		Size place = gpuagg_window_place(node, first, c);

		for (int64 i = 0; i < rows->nrows - first && !node->input.wanted[c]; i++)
			rows->isnull[place + i * node->pipeline->stride] = true;
		if (node->input.wanted[c] && gpuagg_window_pipeline_scale(node, c) >= 0)
			copy_values(node, rows, place, rows->nrows - first, sizeof(GpuaggInt128));
		else if (node->input.wanted[c] && !attribute->attbyval &&
				 gpuagg_row_sort_scale(node->input.sort, c) < 0)
			copy_values(node, rows, place, rows->nrows - first, attribute->attlen);
	}
}

/* Divides the columns into what scans need of each row, and the rest. */
static void
divide_columns(WindowScanState *node)
{
	WindowPipeline *p = node->pipeline;
	MemoryContext old = MemoryContextSwitchTo(p->context);
	bool *early = palloc0(p->stride * sizeof(bool));
	bool *late = palloc0(p->stride * sizeof(bool));

	for (int f = 0; f < node->nfunctions; f++)
	{
		if (node->functions[f].attno > 0 || node->input.computed[f])
			early[gpuagg_window_argument_column(node, f)] = true;
		if (node->functions[f].op->wide)
			early[gpuagg_window_input_upper(&node->input, f)] = true;
	}
	for (int i = 0; i < node->spec->nchild && p->needed != NULL; i++)
		early[i] |= p->needed[i];
	for (int i = 0; i < p->stride; i++)
		late[i] = !early[i];
	p->early = gpuagg_row_sort_select(node->input.sort, early);
	p->early->integers = p->integers != NULL;
	p->late = gpuagg_row_sort_select(node->input.sort, late);
	MemoryContextSwitchTo(old);
}

void
gpuagg_window_pipeline_complete(WindowScanState *node, int64 first, int64 most)
{
	WindowPipeline *p = node->pipeline;
	WindowRows *rows = p->current;
	Size place = gpuagg_window_place(node, first, 0);
	MemoryContext old;

	if (!rows->is_late || first < rows->completed)
		return;
	rows->completed = Min(first + most, rows->nrows);
	old = MemoryContextSwitchTo(rows->copied);
	gpuagg_row_sort_columns(node->input.sort, p->late, rows->first + first, rows->completed - first,
							rows->values + place, rows->isnull + place, p->stride);
	MemoryContextSwitchTo(old);
}

/* The same of rows that are sorted; there is a first one. */
static void
put_sorted(WindowScanState *node, WindowRows *rows, int64 capacity)
{
	RowSort *sort = node->input.sort;
	Size stride = node->pipeline->stride;
	bool copies = node->has_expressions ||
				  !(node->input.keeps_rows || node->pipeline->all_by_value);
	Size bytes;

	Assert(stride == gpuagg_row_sort_desc(sort)->natts);
	rows->is_late = (node->nbounds > 0 || node->pipeline->needed != NULL) &&
					node->input.keeps_rows && !node->has_expressions;
	rows->first = gpuagg_row_sort_position(sort);
	rows->completed = 0;
	if (rows->is_late && node->pipeline->late == NULL)
		divide_columns(node);
	do
	{
		int64 first = rows->nrows;
		int64 most = Min(capacity - first, copies ? COPY_ROWS : capacity);
		Size place = first * stride;
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		old = MemoryContextSwitchTo(rows->copied);
		rows->nrows += gpuagg_row_sort_get_many(sort,
												rows->is_late ? node->pipeline->early
															  : node->pipeline->integers,
												most, rows->values + place, rows->isnull + place,
												stride, rows->partition_heads, rows->group_heads,
												first);
		MemoryContextSwitchTo(old);
		if (!node->input.keeps_rows)
			settle_rows(node, rows, first);
		for (int64 i = first; i < rows->nrows && node->has_expressions; i++)
		{
			ResetExprContext(node->input.econtext);
			put_arguments(node, rows, rows->values + i * stride, rows->isnull + i * stride);
		}
	} while (rows->nrows < capacity && rows->copied_bytes < COPY_BYTES &&
			 !gpuagg_row_sort_is_done(sort));

	bytes = (rows->nrows + 63) / 64 * sizeof(uint64);
	if (node->spec->frame == WINDOW_ROWS)
		memset(rows->group_heads, 0xff, bytes);
	else if (node->spec->frame == WINDOW_WHOLE)
		memcpy(rows->group_heads, rows->partition_heads, bytes);
}

/* Counts the arguments that are not NULL: of the open partition, for averages up to each row. */
static void
count_values(WindowRows *rows, WindowFunctionColumn *column, bool exclusive)
{
	const uint64 *validity = column->scan->flight.validity;
	int64 n = column->open_count;

	for (int64 i = 0; i < rows->nrows; i++)
	{
		if (gpuagg_bit(rows->partition_heads, i))
			n = 0;
		if (column->counts != NULL && exclusive)
			column->counts[i] = n;
		n += gpuagg_bit(validity, i);
		if (column->counts != NULL && !exclusive)
			column->counts[i] = n;
	}
	column->open_count = n;
}

/* Sets the bits of n rows whose arguments count: of all, or of those that are not NULL. */
static void
put_validity(uint64 *validity, const bool *isnull, Size stride, int64 n)
{
	for (int64 i = 0; i < n; i += 64)
	{
		int bits = (int) Min(n - i, 64);
		uint64 word = PG_UINT64_MAX >> (64 - bits);

		for (int bit = 0; bit < bits && isnull != NULL; bit++)
			word ^= (uint64) isnull[(i + bit) * stride] << bit;
		validity[i / 64] = word;
	}
}

/* Brings a function's arguments from the rows to its scan. */
static void
put_column(WindowScanState *node, WindowRows *rows, int f)
{
	const WindowFunctionState *function = &node->functions[f];
	WindowFunctionColumn *column = &rows->columns[f];
	ColumnScan *scan = column->scan;
	Size place = gpuagg_window_place(node, 0, gpuagg_window_argument_column(node, f));
	Size stride = node->pipeline->stride;

	scan->nrows = rows->nrows;
	memcpy(scan->flight.heads, rows->partition_heads, (rows->nrows + 63) / 64 * sizeof(uint64));
	put_validity(scan->flight.validity, function->every_row ? NULL : rows->isnull + place, stride,
				 rows->nrows);
	if (function->op->wide)
		gpuagg_running_store_wide(scan->flight.values, rows->values + place,
								  rows->values + gpuagg_window_input_upper(&node->input, f),
								  rows->isnull + place, stride, rows->nrows);
	else
		gpuagg_running_store_column(function->op, scan->flight.values, rows->values + place,
									rows->isnull + place, stride, rows->nrows);
	count_values(rows, column, function->exclusive);
}

/*
 * Fills a set with the rows that come in.  `before` is the set before it, which is on the
 * device, or NULL.  False when there are no more rows.
 */
static bool
fill(WindowScanState *node, WindowRows *rows, const WindowRows *before)
{
	WindowPipeline *p = node->pipeline;
	int64 capacity;
	bool sorts = node->spec->sort;

	if (sorts)
		gpuagg_window_input_sort(&node->input);
	if (sorts ? gpuagg_row_sort_is_done(node->input.sort) : !gpuagg_window_input_next(&node->input))
		return false;
	capacity = begin_rows(node, rows);
	MemoryContextReset(rows->copied);
	rows->copied_bytes = 0;
	if (rows->copies != NULL)
		gpuagg_row_blocks_clear(rows->copies);

	rows->nrows = 0;
	if (sorts)
		put_sorted(node, rows, capacity);
	else
		put_rows(node, rows, capacity);
	p->rows_taken += rows->nrows;

	for (int f = 0; f < node->nfunctions; f++)
	{
		rows->columns[f].open_count = before != NULL ? before->columns[f].open_count
													 : node->functions[f].state->n;
		if (rows->columns[f].scan != NULL)
			put_column(node, rows, f);
	}
	return true;
}

/* ---- through an engine ---- */

static void
submit(WindowScanState *node, WindowRows *rows)
{
	WorkReport before = *gpuagg_stat_last();
	GpuaggScanState *carry = &node->pipeline->carry;

	for (int f = 0; f < node->nfunctions; f++)
	{
		ColumnScan *scan = rows->columns[f].scan;

		if (scan == NULL)
			continue;
		if (gpuagg_bit(rows->partition_heads, 0))
			gpuagg_running_state_clear(node->functions[f].op, node->functions[f].state);
		gpuagg_running_to_carry(node->functions[f].op, node->functions[f].state, carry);
		gpuagg_scan_submit(scan, carry);
	}
	gpuagg_window_report_since(&node->work.report, &before);
}

static void
finish(WindowScanState *node, WindowRows *rows)
{
	WorkReport before = *gpuagg_stat_last();
	GpuaggScanState *carry = &node->pipeline->carry;

	for (int f = 0; f < node->nfunctions; f++)
	{
		WindowFunctionState *function = &node->functions[f];
		WindowFunctionColumn *column = &rows->columns[f];
		ColumnScan *scan = column->scan;
		Size place = gpuagg_window_place(node, 0, node->spec->nchild + f);

		if (scan == NULL)
		{
			gpuagg_window_count_direct(node, function, rows->nrows);
			continue;
		}
		gpuagg_scan_finish(scan, carry);
		gpuagg_running_from_carry(function->op, function->state, carry, column->open_count);
		column->has_values =
			node->spec->frame == WINDOW_ROWS &&
			gpuagg_running_result_column(function->op, scan->flight.results, scan->flight.status,
										 scan->nrows, rows->values + place, rows->isnull + place,
										 node->pipeline->stride);
		node->work.report.batches[scan->flight.engine]++;
		node->work.report.rows[scan->flight.engine] += scan->nrows;
		node->work.report.bytes[scan->flight.engine] +=
			scan->nrows *
			(int64) gpuagg_scan_value_size(scan->flight.work.kind, scan->flight.work.flags);
	}
	gpuagg_window_report_since(&node->work.report, &before);
	if (node->nbounds > 0)
		gpuagg_window_bounds_drop(node, rows);
}

/* Moves the rows of the current set that have not been emitted to the store or queue, if none keeps them. */
static void
leave_current(WindowScanState *node)
{
	WindowPipeline *p = node->pipeline;
	TupleTableSlot *slot = node->value_slot;

	if (p->current == NULL)
		return;
	if (p->queue != NULL)
	{
		Size place = gpuagg_window_place(node, p->next_emitted, 0);

		gpuagg_column_queue_put(p->queue, p->current->values + place, p->current->isnull + place,
								p->stride, p->current->nrows - p->next_emitted);
	}
	for (int64 i = p->next_emitted; i < p->current->nrows && gpuagg_window_stores_rows(node); i++)
	{
		Size place = gpuagg_window_place(node, i, 0);

		ExecClearTuple(slot);
		memcpy(slot->tts_values, p->current->values + place, node->spec->nchild * sizeof(Datum));
		memcpy(slot->tts_isnull, p->current->isnull + place, node->spec->nchild * sizeof(bool));
		gpuagg_row_store_append(node->waiting.store, ExecStoreVirtualTuple(slot));
	}
	p->earlier_rows += p->current->nrows - p->next_emitted;
	p->current = NULL;
}

bool
gpuagg_window_pipeline_advance(WindowScanState *node)
{
	WindowPipeline *p = node->pipeline;
	WindowRows *next = p->submitted;
	WindowRows *other;

	Assert(node->waiting.ready == 0); /* for their values may lie in the states */
	leave_current(node);
	p->submitted = NULL;
	if (next == NULL)
	{
		next = &p->sets[0];
		if (!fill(node, next, NULL))
			return false;
		submit(node, next);
	}
	other = next == &p->sets[0] ? &p->sets[1] : &p->sets[0];
	if (next->on_device && p->can_overlap && fill(node, other, next))
		p->submitted = other;
	finish(node, next);
	if (p->submitted != NULL)
		submit(node, p->submitted);
	p->current = next;
	p->next_row = 0;
	p->next_emitted = 0;
	p->settled = 0;
	return true;
}
