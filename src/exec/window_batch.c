/*
 * window_batch.c
 *	  GpuWindow in batches, each one segmented scan a function over the
 *	  partitions that it spans.
 *
 * The state of the open partition goes from batch to batch.  While the rows of
 * one batch are emitted, the next is on the device; it is taken from there once
 * the one after it has been filled.  Rows wait in the row store, in order: those
 * that are ready, those of the open group, those of batches still to come.
 */
#include "compat.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "engine/cpu.h"
#include "engine/device.h"
#include "engine/scan.h"
#include "exec/window_state.h"
#include "gpuagg.h"

#define RETRY_ROWS 65536 /* rows one by one before asking for the device again */

typedef struct WindowColumnBatch
{
	ScanBatch *scan;
	int64 *counts; /* of averages: values not NULL up to each row */
	int64 n;	   /* values not NULL in the partition that is open at the end */
} WindowColumnBatch;

typedef struct WindowBatch
{
	WindowColumnBatch *columns; /* one a function */
	uint64 *groups;				/* bit i: row i starts a group */
	int64 room;					/* rows that groups and counts take */
	int64 nrows;
} WindowBatch;

/* The result at one row. */
typedef struct LastResult
{
	uint64 result[2];
	uint8 status;
	int64 n;
} LastResult;

typedef struct WindowBatches
{
	MemoryContext context;
	WindowBatch batch[2];
	WindowBatch *current;  /* whose rows are being made ready, or NULL */
	WindowBatch *flying;   /* handed over, or NULL */
	int64 at;			   /* row of current to go on with */
	LastResult *last;	   /* of the row before current, when it belongs to the open group */
	bool two_at_a_time;	   /* there is staging memory for it */
	GpuaggScanState carry; /* in passing */
} WindowBatches;

/* The first bit that is set from i on, or n. */
static int64
next_bit(const uint64 *bitmap, int64 i, int64 n)
{
	while (i < n)
	{
		uint64 word = bitmap[i / 64] >> (i % 64);

		if (word != 0)
			return Min(i + pg_rightmost_one_pos64(word), n);
		i = (i / 64 + 1) * 64;
	}
	return n;
}

/* ---- filling ---- */

static unsigned
flags_of(const WindowFunctionState *function)
{
	return GPUAGG_SCAN_VALIDITY | GPUAGG_SCAN_HEADS | GPUAGG_SCAN_STATUS |
		   (function->exclusive ? GPUAGG_SCAN_EXCLUSIVE : 0);
}

static WindowBatches *
make_batches(WindowScanState *node)
{
	MemoryContext context = AllocSetContextCreate(GetMemoryChunkContext(node), "GpuWindow batches",
												  ALLOCSET_DEFAULT_SIZES);
	WindowBatches *batches = MemoryContextAllocZero(context, sizeof(WindowBatches));
	int n = node->nfunctions;

	batches->context = context;
	batches->last = MemoryContextAllocZero(context, n * sizeof(LastResult));
	batches->two_at_a_time = 2 * n * (Size) GPUAGG_SEGMENT_BYTES <=
							 (Size) gpuagg_staging_memory * 1024;
	for (int b = 0; b < lengthof(batches->batch); b++)
	{
		WindowBatch *batch = &batches->batch[b];

		batch->columns = MemoryContextAllocZero(context, n * sizeof(WindowColumnBatch));
		for (int i = 0; i < n; i++)
			batch->columns[i].scan = gpuagg_scan_make(node->functions[i].op->kind,
													  node->functions[i].op->op,
													  flags_of(&node->functions[i]), context);
	}
	return batches;
}

/* Leases memory for all columns; returns the rows that it holds, 0 when there is none. */
static int64
begin_batch(WindowScanState *node, WindowBatch *batch)
{
	int64 capacity = PG_INT64_MAX;

	for (int i = 0; i < node->nfunctions; i++)
	{
		if (!gpuagg_scan_begin(batch->columns[i].scan))
		{
			while (--i >= 0)
				gpuagg_scan_cancel(batch->columns[i].scan);
			return 0;
		}
		capacity = Min(capacity, batch->columns[i].scan->capacity);
	}
	return capacity;
}

/* Room for the group bits and for counts. */
static void
make_room(WindowScanState *node, WindowBatch *batch, int64 rows)
{
	MemoryContext context = node->batches->context;

	if (rows <= batch->room)
		return;
	if (batch->groups != NULL)
		pfree(batch->groups);
	batch->groups = MemoryContextAlloc(context, rows / 8);
	for (int i = 0; i < node->nfunctions; i++)
	{
		WindowColumnBatch *column = &batch->columns[i];

		if (node->functions[i].op->function != RUNNING_AVG)
			continue;
		if (column->counts != NULL)
			pfree(column->counts);
		column->counts = MemoryContextAlloc(context, rows * sizeof(int64));
	}
	batch->room = rows;
}

/* Stores node->row's argument of a function. */
static void
put_argument(WindowScanState *node, WindowFunctionState *function, WindowColumnBatch *column)
{
	ScanBatch *scan = column->scan;
	int64 i = scan->nrows++;
	Datum value;
	bool valid = gpuagg_window_argument(node, function, &value);

	gpuagg_scan_set_bit(scan->heads, i, node->new_partition);
	gpuagg_scan_set_bit(scan->validity, i, valid);
	if (node->new_partition)
		column->n = 0;
	if (column->counts != NULL && function->exclusive)
		column->counts[i] = column->n;
	if (valid)
	{
		gpuagg_running_store(function->op, scan->values, i, value);
		column->n++;
	}
	else
	{
		Size width = gpuagg_kind_size(scan->kind);

		memset((char *) scan->values + i * width, 0, width);
	}
	if (column->counts != NULL && !function->exclusive)
		column->counts[i] = column->n;
}

/*
 * Fills a batch with the rows that come in, after those of `before`, which is
 * on the device, or NULL.  False when there are none, or no memory for them.
 */
static bool
fill_batch(WindowScanState *node, WindowBatch *batch, const WindowBatch *before)
{
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	int64 capacity;

	if (!gpuagg_window_next(node))
		return false;
	capacity = begin_batch(node, batch);
	if (capacity == 0)
		return false;
	make_room(node, batch, capacity);
	for (int i = 0; i < node->nfunctions; i++)
		batch->columns[i].n = before != NULL ? before->columns[i].n : node->functions[i].state->n;

	batch->nrows = 0;
	while (batch->nrows < capacity && gpuagg_window_next(node))
	{
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		gpuagg_row_store_append(node->rows, node->row);
		gpuagg_scan_set_bit(batch->groups, batch->nrows, node->new_group);
		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		gpuagg_window_prepare_arguments(node);
		for (int i = 0; i < node->nfunctions; i++)
			put_argument(node, &node->functions[i], &batch->columns[i]);
		MemoryContextSwitchTo(old);
		batch->nrows++;
		node->have_row = false;
	}
	node->rows_taken += batch->nrows;
	return true;
}

/* ---- on the device ---- */

/* Adds to the node's report what has been counted since. */
static void
add_to_report(WindowScanState *node, const WorkReport *before)
{
	const WorkReport *now = gpuagg_stat_last();

	for (int r = 0; r < GPUAGG_NREASONS; r++)
		node->report.fallbacks[r] += now->fallbacks[r] - before->fallbacks[r];
}

static void
submit(WindowScanState *node, WindowBatch *batch)
{
	WorkReport before = *gpuagg_stat_last();
	GpuaggScanState *carry = &node->batches->carry;

	for (int i = 0; i < node->nfunctions; i++)
	{
		gpuagg_running_to_carry(node->functions[i].op, node->functions[i].state, carry);
		gpuagg_scan_submit(batch->columns[i].scan, carry);
	}
	add_to_report(node, &before);
}

static void
finish(WindowScanState *node, WindowBatch *batch)
{
	WorkReport before = *gpuagg_stat_last();
	GpuaggScanState *carry = &node->batches->carry;

	for (int i = 0; i < node->nfunctions; i++)
	{
		WindowFunctionState *function = &node->functions[i];
		ScanBatch *scan = batch->columns[i].scan;

		gpuagg_scan_finish(scan, carry);
		gpuagg_running_from_carry(function->op, function->state, carry, batch->columns[i].n);
		node->report.batches[scan->engine]++;
		node->report.rows[scan->engine] += scan->nrows;
		node->report.bytes[scan->engine] += scan->nrows * (int64) gpuagg_kind_size(scan->kind);
	}
	add_to_report(node, &before);
}

/* Makes the next batch the current one; false when there is none. */
static bool
advance(WindowScanState *node)
{
	WindowBatches *b = node->batches;
	WindowBatch *next = b->flying;
	WindowBatch *other;

	b->flying = NULL;
	if (next == NULL)
	{
		next = &b->batch[0];
		if (!fill_batch(node, next, NULL))
			return false;
		submit(node, next);
	}
	other = next == &b->batch[0] ? &b->batch[1] : &b->batch[0];
	if (b->two_at_a_time && fill_batch(node, other, next))
		b->flying = other;
	finish(node, next);
	if (b->flying != NULL)
		submit(node, b->flying);
	b->current = next;
	b->at = 0;
	return true;
}

bool
gpuagg_window_try_batches(WindowScanState *node)
{
	WorkReport before = *gpuagg_stat_last();

	/* A lease that is refused would keep others of the session from asking. */
	if (node->nfunctions * (Size) GPUAGG_SEGMENT_BYTES > (Size) gpuagg_staging_memory * 1024)
		gpuagg_stat_reason(GPUAGG_NO_STAGING);
	else if (gpuagg_device_ready())
	{
		gpuagg_window_store_held(node);
		node->batches = make_batches(node);
		if (fill_batch(node, &node->batches->batch[0], NULL))
		{
			add_to_report(node, &before);
			submit(node, &node->batches->batch[0]);
			node->batches->flying = &node->batches->batch[0];
			return true;
		}
		gpuagg_window_drop_batches(node);
	}
	add_to_report(node, &before);
	node->report.reason = gpuagg_stat_last()->reason;
	node->batch_at = node->rows_taken + RETRY_ROWS;
	return false;
}

void
gpuagg_window_drop_batches(WindowScanState *node)
{
	if (node->batches == NULL)
		return;
	MemoryContextDelete(node->batches->context);
	node->batches = NULL;
}

/* ---- emission ---- */

/* The group that ends with row i of the current batch has these values. */
static void
values_at(WindowScanState *node, int64 i)
{
	WindowBatch *batch = node->batches->current;
	MemoryContext old;

	MemoryContextReset(node->group_context);
	old = MemoryContextSwitchTo(node->group_context);
	for (int f = 0; f < node->nfunctions; f++)
	{
		WindowFunctionState *function = &node->functions[f];
		const WindowColumnBatch *column = &batch->columns[f];

		function->value = gpuagg_running_result(function->op, column->scan->results,
												column->scan->status, i,
												column->counts != NULL ? column->counts[i] : 0,
												&function->isnull);
	}
	MemoryContextSwitchTo(old);
}

/* The same of the last row before the current batch. */
static void
values_before(WindowScanState *node)
{
	MemoryContext old;

	MemoryContextReset(node->group_context);
	old = MemoryContextSwitchTo(node->group_context);
	for (int f = 0; f < node->nfunctions; f++)
	{
		WindowFunctionState *function = &node->functions[f];
		const LastResult *last = &node->batches->last[f];

		function->value = gpuagg_running_result(function->op, last->result, &last->status, 0,
												last->n, &function->isnull);
	}
	MemoryContextSwitchTo(old);
}

/* Keeps the last results of the current batch, for values_before(). */
static void
keep_last(WindowScanState *node)
{
	WindowBatch *batch = node->batches->current;
	int64 i = batch->nrows - 1;

	for (int f = 0; f < node->nfunctions; f++)
	{
		const WindowColumnBatch *column = &batch->columns[f];
		const ScanBatch *scan = column->scan;
		Size width = gpuagg_scan_result_size(scan->kind, scan->op, 0);
		LastResult *last = &node->batches->last[f];

		memcpy(last->result, (const char *) scan->results + i * width, width);
		last->status = scan->status[i];
		last->n = column->counts != NULL ? column->counts[i] : 0;
	}
}

/* Makes the rows of the next group ready that ends in the current batch; false: none does. */
static bool
next_group(WindowScanState *node)
{
	WindowBatches *b = node->batches;
	int64 end;

	if (b->at == b->current->nrows)
		return false;
	if (node->pending > 0 && gpuagg_bit(b->current->groups, b->at))
	{
		values_before(node);
		node->ready = node->pending;
		node->pending = 0;
		return true;
	}
	end = node->spec->frame == WINDOW_ROWS
			  ? b->at + 1
			  : next_bit(b->current->groups, b->at + 1, b->current->nrows);
	node->pending += end - b->at;
	b->at = end;
	if (end == b->current->nrows && node->spec->frame != WINDOW_ROWS)
		return false;
	values_at(node, end - 1);
	node->ready = node->pending;
	node->pending = 0;
	return true;
}

TupleTableSlot *
gpuagg_window_by_batch(WindowScanState *node)
{
	while (node->ready == 0)
	{
		WindowBatches *b = node->batches;

		CHECK_FOR_INTERRUPTS();
		if (b->current != NULL && next_group(node))
			break;
		if (b->current != NULL && node->pending > 0)
			keep_last(node);
		if (!advance(node))
		{
			gpuagg_window_drop_batches(node);
			node->batch_at = node->rows_taken + RETRY_ROWS;
			return NULL;
		}
	}
	return gpuagg_window_emit_stored(node);
}
