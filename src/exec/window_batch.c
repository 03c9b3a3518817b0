/*
 * window_batch.c
 *	  Fills the batches of a GpuWindow node and brings them through an engine,
 *	  each one segmented scan a function over the partitions that it spans.
 *
 * Each batch goes to the device or to the CPU's loops.  The state of the open
 * partition goes from batch to batch.  While the rows of a batch are emitted, the
 * next is on the device; it is taken from there once the one after it has been
 * filled.
 */
#include "compat.h"

#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "engine/cpu.h"
#include "exec/window_batch.h"
#include "gpuagg.h"

#define DEVICE_ROWS 32768 /* of a batch: what waits for it stays in the CPU's cache */
#define CPU_ROWS	1024  /* from one on twice as many each time: a LIMIT may end it all */
#define LEAST_ROWS	64	  /* that a batch has room for */
#define COPY_BYTES	(2 * 1024 * 1024) /* of copies that end a batch */
#define RETRY_ROWS	65536			  /* before asking for the device again */

static unsigned
flags_of(const WindowFunctionState *function)
{
	return GPUAGG_SCAN_VALIDITY | GPUAGG_SCAN_HEADS | GPUAGG_SCAN_STATUS |
		   (function->exclusive ? GPUAGG_SCAN_EXCLUSIVE : 0);
}

static void
make_batch(WindowScanState *node, WindowBatch *batch)
{
	int n = node->nfunctions;
	int nscans = 0;

	batch->columns = palloc0(n * sizeof(WindowColumnBatch));
	batch->scans = palloc(n * sizeof(ColumnScan *));
	batch->arguments = AllocSetContextCreate(CurrentMemoryContext, "GpuWindow arguments",
											 ALLOCSET_DEFAULT_SIZES);
	for (int f = 0; f < n; f++)
	{
		const WindowFunctionState *function = &node->functions[f];

		if (function->op->kind == 0)
			continue;
		batch->columns[f].scan = gpuagg_scan_make(function->op->kind, function->op->op,
												  flags_of(function), CurrentMemoryContext);
		batch->scans[nscans++] = batch->columns[f].scan;
	}
	node->batches->nscans = nscans;
}

void
gpuagg_window_make_batches(WindowScanState *node)
{
	MemoryContext context = AllocSetContextCreate(GetMemoryChunkContext(node), "GpuWindow batches",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	WindowBatches *b = palloc0(sizeof(WindowBatches));

	node->batches = b;
	b->context = context;
	b->stride = node->spec->nchild + node->nfunctions;
	b->last = palloc0(node->nfunctions * sizeof(LastResult));
	b->cpu_rows = 1;
	b->two_at_a_time = 2 * GPUAGG_SEGMENT_BYTES <= (Size) gpuagg_staging_memory * 1024;
	for (int i = 0; i < lengthof(b->batch); i++)
		make_batch(node, &b->batch[i]);
	MemoryContextSwitchTo(old);
}

void
gpuagg_window_drop_batches(WindowScanState *node)
{
	if (node->batches == NULL)
		return;
	MemoryContextDelete(node->batches->context);
	node->batches = NULL;
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
make_room(WindowScanState *node, WindowBatch *batch, int64 rows)
{
	WindowBatches *b = node->batches;
	MemoryContext old;

	if (rows <= batch->room)
		return;
	old = MemoryContextSwitchTo(b->context);
	batch->room = 0;
	batch->values = make_array(batch->values, rows * b->stride * sizeof(Datum));
	batch->isnull = make_array(batch->isnull, rows * b->stride * sizeof(bool));
	batch->heads = make_array(batch->heads, rows / 8);
	batch->groups = make_array(batch->groups, rows / 8);
	for (int f = 0; f < node->nfunctions; f++)
		if (node->functions[f].op->function == RUNNING_AVG && batch->columns[f].scan != NULL)
			batch->columns[f].counts = make_array(batch->columns[f].counts, rows * sizeof(int64));
	MemoryContextSwitchTo(old);
	batch->room = rows;
}

/* Rows that so many bytes hold, a multiple of 64. */
static int64
rows_of(const WindowBatches *b, int64 bytes)
{
	int64 rows = bytes / (b->stride * (int64) (sizeof(Datum) + sizeof(bool)));

	return Max(TYPEALIGN_DOWN(64, rows), LEAST_ROWS);
}

/* Gets staging memory for a batch, if it is time for the device. */
static void
begin_on_device(WindowScanState *node, WindowBatch *batch)
{
	WindowBatches *b = node->batches;
	int64 bytes = Max(work_mem * INT64CONST(1024) / lengthof(b->batch), COPY_BYTES);
	WorkReport before;

	batch->on_device = false;
	if (node->rows_taken < node->device_at)
		return;
	before = *gpuagg_stat_last();
	batch->on_device =
		gpuagg_scans_begin(batch->scans, b->nscans,
						   Min(Min(gpuagg_batch_rows, DEVICE_ROWS), rows_of(b, bytes)));
	gpuagg_window_report_since(node, &before);
	if (batch->on_device)
		return;
	node->report.reason = gpuagg_stat_last()->reason;
	node->device_at = node->rows_taken + RETRY_ROWS;
}

/* Chooses the engine; returns the rows that the batch takes. */
static int64
begin_batch(WindowScanState *node, WindowBatch *batch)
{
	WindowBatches *b = node->batches;
	int64 rows;

	begin_on_device(node, batch);
	if (batch->on_device)
	{
		make_room(node, batch, batch->scans[0]->capacity);
		return batch->scans[0]->capacity;
	}
	rows = Min(Min(b->cpu_rows, gpuagg_batch_rows), rows_of(b, work_mem * INT64CONST(1024)));
	b->cpu_rows = Min(2 * b->cpu_rows, CPU_ROWS);
	make_room(node, batch, TYPEALIGN(64, rows));
	for (int i = 0; i < b->nscans; i++)
		gpuagg_scan_begin_in_memory(batch->scans[i], TYPEALIGN(64, rows));
	return rows;
}

/* A slot with node->row, whose values last as long as the batch. */
static TupleTableSlot *
lasting_row(WindowScanState *node, WindowBatch *batch)
{
	MinimalTuple row;

	if (node->rows_stay || node->all_by_value)
		return node->row;
	if (batch->blocks == NULL)
		batch->blocks = gpuagg_row_blocks_make(node->row->tts_tupleDescriptor,
											   node->batches->context);
	row = gpuagg_row_blocks_append(batch->blocks, node->row, PG_INT64_MAX);
	return ExecStoreMinimalTuple(row, node->stored, false);
}

/* Evaluates the arguments that are expressions over the row at `values`. */
static void
put_arguments(WindowScanState *node, WindowBatch *batch, Datum *values, bool *isnull)
{
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;

	gpuagg_window_show(node, values, isnull);
	for (int f = 0; f < node->nfunctions; f++)
	{
		WindowFunctionState *function = &node->functions[f];
		int at = node->spec->nchild + f;

		if (function->argument == NULL)
			continue;
		values[at] = ExecEvalExprSwitchContext(function->argument, econtext, &isnull[at]);
		if (function->argument_length != 0 && !isnull[at])
		{
			MemoryContext old = MemoryContextSwitchTo(batch->arguments);

			batch->argument_bytes += datumGetSize(values[at], false, function->argument_length);
			values[at] = datumCopy(values[at], false, function->argument_length);
			MemoryContextSwitchTo(old);
		}
	}
}

/* Takes node->row into a batch. */
static void
put_row(WindowScanState *node, WindowBatch *batch)
{
	Size place = gpuagg_window_place(node, batch->nrows, 0);
	TupleTableSlot *row = lasting_row(node, batch);
	int nchild = node->spec->nchild;

	slot_getallattrs(row);
	for (int i = 0; i < nchild; i++)
	{
		batch->values[place + i] = row->tts_values[i];
		batch->isnull[place + i] = row->tts_isnull[i];
	}
	if (!node->marks_late)
	{
		gpuagg_scan_set_bit(batch->heads, batch->nrows, node->new_partition);
		gpuagg_scan_set_bit(batch->groups, batch->nrows, node->new_group);
	}
	if (node->has_expressions)
		put_arguments(node, batch, batch->values + place, batch->isnull + place);
	batch->nrows++;
	node->have_row = false;
}

/* Counts a column's values that are not NULL, from where the partition began; for averages up to each row. */
static void
count_values(WindowBatch *batch, WindowColumnBatch *column, bool exclusive)
{
	const uint64 *validity = column->scan->validity;
	int64 n = column->n;

	for (int64 i = 0; i < batch->nrows; i++)
	{
		if (gpuagg_bit(batch->heads, i))
			n = 0;
		if (column->counts != NULL && exclusive)
			column->counts[i] = n;
		n += gpuagg_bit(validity, i);
		if (column->counts != NULL && !exclusive)
			column->counts[i] = n;
	}
	column->n = n;
}

/* Brings a function's arguments from the rows to its scan. */
static void
put_column(WindowScanState *node, WindowBatch *batch, int f)
{
	const WindowFunctionState *function = &node->functions[f];
	WindowColumnBatch *column = &batch->columns[f];
	ColumnScan *scan = column->scan;
	Size place = gpuagg_window_place(node, 0, gpuagg_window_argument_column(node, f));
	Size stride = node->batches->stride;

	scan->nrows = batch->nrows;
	memcpy(scan->heads, batch->heads, (batch->nrows + 63) / 64 * sizeof(uint64));
	for (int64 i = 0; i < batch->nrows; i++)
		gpuagg_scan_set_bit(scan->validity, i,
							function->every_row || !batch->isnull[place + i * stride]);
	gpuagg_running_store_column(function->op, scan->values, batch->values + place,
								batch->isnull + place, stride, batch->nrows);
	count_values(batch, column, function->exclusive);
}

/*
 * Fills a batch with the rows that come in, after those of `before`, which is
 * on the device, or NULL.  False when there are none.
 */
static bool
fill_batch(WindowScanState *node, WindowBatch *batch, const WindowBatch *before)
{
	int64 capacity;

	if (!gpuagg_window_next(node))
		return false;
	capacity = begin_batch(node, batch);
	MemoryContextReset(batch->arguments);
	batch->argument_bytes = 0;
	if (batch->blocks != NULL)
		gpuagg_row_blocks_clear(batch->blocks);

	batch->nrows = 0;
	do
	{
		CHECK_FOR_INTERRUPTS();
		put_row(node, batch);
	} while (batch->nrows < capacity && batch->argument_bytes < COPY_BYTES &&
			 (batch->blocks == NULL || gpuagg_row_blocks_bytes(batch->blocks) < COPY_BYTES) &&
			 gpuagg_window_next(node));
	node->rows_taken += batch->nrows;
	if (node->marks_late)
		gpuagg_window_mark_rows(node, batch->values, batch->isnull, node->batches->stride,
								batch->nrows, batch->heads, batch->groups);

	for (int f = 0; f < node->nfunctions; f++)
	{
		batch->columns[f].n = before != NULL ? before->columns[f].n : node->functions[f].state->n;
		if (batch->columns[f].scan != NULL)
			put_column(node, batch, f);
	}
	return true;
}

/* ---- through an engine ---- */

static void
submit(WindowScanState *node, WindowBatch *batch)
{
	WorkReport before = *gpuagg_stat_last();
	GpuaggScanState *carry = &node->batches->carry;

	for (int f = 0; f < node->nfunctions; f++)
	{
		ColumnScan *scan = batch->columns[f].scan;

		if (scan == NULL)
			continue;
		if (gpuagg_bit(batch->heads, 0))
			gpuagg_running_state_clear(node->functions[f].op, node->functions[f].state);
		gpuagg_running_to_carry(node->functions[f].op, node->functions[f].state, carry);
		gpuagg_scan_submit(scan, carry);
	}
	gpuagg_window_report_since(node, &before);
}

static void
finish(WindowScanState *node, WindowBatch *batch)
{
	WorkReport before = *gpuagg_stat_last();
	GpuaggScanState *carry = &node->batches->carry;

	for (int f = 0; f < node->nfunctions; f++)
	{
		WindowFunctionState *function = &node->functions[f];
		WindowColumnBatch *column = &batch->columns[f];
		ColumnScan *scan = column->scan;
		Size place = gpuagg_window_place(node, 0, node->spec->nchild + f);

		if (scan == NULL)
		{
			gpuagg_window_count_direct(node, function, batch->nrows);
			continue;
		}
		gpuagg_scan_finish(scan, carry);
		gpuagg_running_from_carry(function->op, function->state, carry, column->n);
		column->has_results =
			node->spec->frame == WINDOW_ROWS &&
			gpuagg_running_result_column(function->op, scan->results, scan->status, scan->nrows,
										 batch->values + place, batch->isnull + place,
										 node->batches->stride);
		node->report.batches[scan->engine]++;
		node->report.rows[scan->engine] += scan->nrows;
		node->report.bytes[scan->engine] += scan->nrows * (int64) gpuagg_kind_size(scan->kind);
	}
	gpuagg_window_report_since(node, &before);
}

/* Rows of the current batch that have not been emitted go where they can wait. */
static void
move_outside(WindowScanState *node)
{
	WindowBatches *b = node->batches;

	if (b->current == NULL)
		return;
	for (int64 i = b->emit_at; i < b->current->nrows && !node->rows_stay; i++)
	{
		Size place = gpuagg_window_place(node, i, 0);

		ExecClearTuple(node->passing);
		memcpy(node->passing->tts_values, b->current->values + place,
			   node->spec->nchild * sizeof(Datum));
		memcpy(node->passing->tts_isnull, b->current->isnull + place,
			   node->spec->nchild * sizeof(bool));
		gpuagg_row_store_append(node->rows, ExecStoreVirtualTuple(node->passing));
	}
	b->outside += b->current->nrows - b->emit_at;
	b->current = NULL;
}

bool
gpuagg_window_advance(WindowScanState *node)
{
	WindowBatches *b = node->batches;
	WindowBatch *next = b->flying;
	WindowBatch *other;

	Assert(node->ready == 0); /* their values may lie in the states */
	move_outside(node);
	b->flying = NULL;
	if (next == NULL)
	{
		next = &b->batch[0];
		if (!fill_batch(node, next, NULL))
			return false;
		submit(node, next);
	}
	other = next == &b->batch[0] ? &b->batch[1] : &b->batch[0];
	if (next->on_device && b->two_at_a_time && fill_batch(node, other, next))
		b->flying = other;
	finish(node, next);
	if (b->flying != NULL)
		submit(node, b->flying);
	b->current = next;
	b->at = 0;
	b->emit_at = 0;
	return true;
}
