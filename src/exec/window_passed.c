/*
 * window_passed.c
 *	  Rows of a GpuWindow node, all or those that pass conditions above, as the device finds them.
 */
#include "compat.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "device/client.h"
#include "engine/cpu.h"
#include "exec/compiled.h"
#include "exec/window_answer.h"
#include "exec/window_ask.h"
#include "exec/window_conditions.h"
#include "exec/window_passed.h"
#include "gpuagg.h"

#define ROUNDING   192 /* bytes that a register's rows may take beside */
#define PART_BYTES (GPUAGG_SEGMENT_BYTES_MAX / 4 * 3) /* of an answer's rows */
#define MOST_PARTS 64 /* answers, for each of which the device computes all */
#define BATCH_ROWS 64 /* whose values are made together */

struct WindowPassed
{
	WindowDevice *device; /* made when it is first wanted */
	bool never;			  /* the device will not be asked, in this run and those to come */
	const char *reason;	  /* why it has not done it; or NULL */
	int64 nruns;		  /* in which it has, */
	bool filtered;		  /* the last time by conditions above */
	int batch_rows;		  /* whose values are made together; 1: one of them may raise an error */
	PageCounts counts;
	MemoryContext run; /* constants of the program below */

	/* columns of the program above: those of the scan tuple that bounds and the result need */
	int ncolumns;
	WindowSource sources[GPUAGG_WINDOW_COLUMNS];
	int ngiven; /* so many of them are given, */
	int nout;	/* and so many come: those, and behind them counts of averages */
	int out[GPUAGG_WINDOW_VALUES];
	int counters[GPUAGG_WINDOW_VALUES]; /* by number of those: of an average, that of its count */

	WindowConditions above; /* the program above, made for each run */

	/* the answer */
	WindowAnswer *answer;
	bool kept;		/* from the run before, whose rows this one has, too */
	int64 ndropped; /* rows that did not pass */
	int64 next_row; /* of the piece that is given out */
	MemoryContext strings_context;
	Datum *strings[GPUAGG_WINDOW_VALUES]; /* by code, of those that rows had so far; or NULL */

	/* rows of the scan tuple */
	int nbatch;
	int next; /* of these */
	Datum *values;
	bool *isnull;
	MemoryContext batch; /* of values that are made */
};

/* ---- its columns ---- */

/* The number of a column of the scan tuple; -1: there are too many. */
static int
find_column(WindowPassed *passed, int scan)
{
	int i = 0;

	while (i < passed->ncolumns && passed->sources[i].scan != scan)
		i++;
	if (i == GPUAGG_WINDOW_COLUMNS)
		return -1;
	if (i == passed->ncolumns)
		passed->sources[passed->ncolumns++] = (WindowSource){scan, NULL};
	return i;
}

static bool
add_out(WindowPassed *passed, int scan)
{
	int column = find_column(passed, scan);

	for (int i = 0; i < passed->ngiven; i++)
		if (passed->out[i] == column)
			return true;
	if (column < 0 || passed->ngiven == GPUAGG_WINDOW_VALUES)
		return false;
	passed->out[passed->ngiven++] = column;
	return true;
}

/* Finds what bounds and the result need; false: it cannot be had. */
static bool
find_columns(const WindowScanState *node, WindowPassed *passed)
{
	const WindowSpec *spec = node->spec;
	ListCell *cell;

	for (int i = 0; i < spec->nabove; i++)
		if (find_column(passed, spec->nchild + spec->above[i].function) < 0)
			return false;
	foreach (cell, pull_var_clause((Node *) node->css.ss.ps.plan->targetlist, 0))
	{
		const Var *var = lfirst(cell);

		if (var->varattno <= 0 || !add_out(passed, var->varattno - 1))
			return false;
	}
	return passed->ngiven > 0;
}

/* Finds the counts of averages that are given; false: there are too many columns. */
static bool
find_counts(WindowPassed *passed)
{
	passed->nout = passed->ngiven;
	for (int i = 0; i < passed->ngiven; i++)
	{
		int column = passed->device->counts[passed->out[i]];

		if (column < 0)
			continue;
		if (passed->nout == GPUAGG_WINDOW_VALUES)
			return false;
		passed->counters[i] = passed->nout;
		passed->out[passed->nout++] = column;
	}
	return true;
}

/* Columns of the scan tuple. */
static Size
scan_columns(const WindowScanState *node)
{
	return (Size) (node->spec->nchild + node->spec->nfunctions);
}

/* Makes what is the same in all runs; sets never if the device can do nothing. */
static void
make(WindowScanState *node)
{
	MemoryContext query = node->css.ss.ps.state->es_query_cxt;
	MemoryContext old = MemoryContextSwitchTo(query);
	WindowPassed *passed = node->passed = palloc0(sizeof(WindowPassed));
	Size natts = scan_columns(node);

	passed->run = AllocSetContextCreate(query, "GpuWindow constants", ALLOCSET_SMALL_SIZES);
	passed->answer = gpuagg_window_answer_make(query);
	passed->strings_context = AllocSetContextCreate(query, "GpuWindow strings",
													ALLOCSET_SMALL_SIZES);
	passed->batch = AllocSetContextCreate(query, "GpuWindow values", ALLOCSET_DEFAULT_SIZES);
	passed->values = palloc0(BATCH_ROWS * natts * sizeof(Datum));
	passed->isnull = palloc(BATCH_ROWS * natts * sizeof(bool));
	memset(passed->isnull, true, BATCH_ROWS * natts * sizeof(bool));
	if (find_columns(node, passed))
		passed->device = gpuagg_window_device_make(&node->css.ss.ps, passed->sources,
												   passed->ncolumns, &passed->reason);
	else
		passed->reason = "a column of the window is the CPU's";
	if (passed->device != NULL && !find_counts(passed))
	{
		passed->device = NULL;
		passed->reason = "the window has too many columns";
	}
	passed->never = passed->device == NULL;
	passed->batch_rows = gpuagg_window_may_raise(node) ? 1 : BATCH_ROWS;
	MemoryContextSwitchTo(old);
}

/* ---- the program above ---- */

/* Makes the program of this run's bounds; false: it is none. */
static bool
make_above(const WindowScanState *node, WindowPassed *passed)
{
	const WindowSpec *spec = node->spec;
	WindowDevice *device = passed->device;
	WindowConditions *above = &passed->above;
	uint8 types[GPUAGG_VECTOR_DEVICE_REGISTERS] = {0};

	gpuagg_window_conditions_begin(above, device);
	for (int i = 0; i < spec->nabove; i++)
	{
		const WindowBound *bound = &node->bounds[i];
		int column = find_column(passed, spec->nchild + spec->above[i].function);

		if (bound->known)
			gpuagg_window_conditions_add(above, &bound->bound, column, device->counts[column]);
	}
	above->program.nfilter = above->program.ninstructions;
	device->window.nout = (uint32) passed->nout;
	for (int i = 0; i < passed->nout; i++)
		device->window.out[i] = gpuagg_window_conditions_load(above, passed->out[i]);
	return gpuagg_vector_check(&above->program, types) < 0 &&
		   gpuagg_window_check_out(&device->window, types);
}

/* ---- the answer ---- */

/* Whether a column's codes are those of strings. */
static bool
has_codes(const WindowPassed *passed, int i)
{
	return passed->device->forms[passed->out[i]].type == GPUAGG_VECTOR_BYTES;
}

/* The number of a column of strings in the program below. */
static int
strings_of(const WindowPassed *passed, int i)
{
	return gpuagg_compiled_strings(&passed->device->program,
								   passed->device->forms[passed->out[i]].reg);
}

static void
begin_answer(WindowPassed *passed)
{
	MemoryContext old = MemoryContextSwitchTo(passed->strings_context);
	uint8 types[GPUAGG_WINDOW_VALUES];

	MemoryContextReset(passed->strings_context);
	for (int i = 0; i < passed->nout; i++)
		types[i] = passed->above.types[passed->out[i]];
	for (int i = 0; i < passed->ngiven; i++)
		passed->strings[i] = has_codes(passed, i)
								 ? palloc0(
									   (passed->device->asked.nentries[strings_of(passed, i)] + 1) *
									   sizeof(Datum))
								 : NULL;
	gpuagg_window_answer_begin(passed->answer, types, passed->nout, work_mem * INT64CONST(1024));
	MemoryContextSwitchTo(old);
}

/* Makes the strings of a column's codes; false: some code is none. */
static bool
make_strings(const WindowScanState *node, int i, const uint32 *codes, const uint64 *valid,
			 uint64 nrows)
{
	const WindowPassed *passed = node->passed;
	const DeviceProgram *asked = &passed->device->asked;
	const VectorValue *form = &passed->device->forms[passed->out[i]];
	TupleDesc desc = node->css.ss.ss_ScanTupleSlot->tts_tupleDescriptor;
	Oid type = TupleDescAttr(desc, passed->sources[passed->out[i]].scan)->atttypid;
	int column = strings_of(passed, i);
	GpuaggVector entries = {unconstify(GpuaggVectorBytes *, asked->entries[column]), NULL};
	MemoryContext old = MemoryContextSwitchTo(passed->strings_context);
	Datum *strings = passed->strings[i];
	bool known = true;
	bool isnull;

	for (uint64 row = 0; row < nrows && known; row++)
	{
		if (!gpuagg_bit(valid, row))
			continue;
		known = codes[row] < asked->nentries[column];
		if (known && strings[codes[row]] == 0)
			strings[codes[row]] = gpuagg_vector_datum(&entries, form, type, (int) codes[row],
													  &isnull);
	}
	MemoryContextSwitchTo(old);
	return known;
}

static bool
make_all_strings(const WindowScanState *node, const char *at, uint64 nrows)
{
	const WindowPassed *passed = node->passed;
	const char *values[GPUAGG_WINDOW_VALUES];
	const uint64 *valid[GPUAGG_WINDOW_VALUES];
	bool known = true;

	gpuagg_window_answer_columns(passed->answer, at, nrows, values, valid);
	for (int i = 0; i < passed->ngiven && known; i++)
		if (has_codes(passed, i))
			known = make_strings(node, i, (const uint32 *) values[i], valid[i], nrows);
	return known;
}

/* Takes an answer with its rows; why it is none, or NULL. */
static const char *
take(const WindowScanState *node, const DeviceTables *tables, const BlobQuery *query)
{
	WindowPassed *passed = node->passed;
	const char *at = (const char *) query->totals.next;

	if (!gpuagg_device_tables_whole(tables, query->status))
		return gpuagg_page_device_missing;
	if (query->ngroups > tables->all.rows ||
		query->totals.left != gpuagg_window_answer_bytes(passed->answer, query->ngroups) ||
		!make_all_strings(node, at, query->ngroups))
		return gpuagg_reason_text(GPUAGG_DEVICE_ERROR);
	gpuagg_window_answer_add(passed->answer, at, query->ngroups);
	return NULL;
}

/* ---- the request ---- */

static const char *
refuse(const void *node, uint64 rows, uint64 bare)
{
	return gpuagg_page_device_refusal(rows, bare, WINDOW_ASK_ROWS);
}

/* In how many answers so many rows come. */
static uint64
count_parts(const WindowPassed *passed, uint64 nrows)
{
	return gpuagg_window_answer_bytes(passed->answer, nrows) / PART_BYTES + 1;
}

/* Asks for a part of so many; *needed: in how many there will be room for it, or 0: there was. */
static const char *
ask_part(WindowScanState *node, const DeviceTables *tables, uint64 part, uint64 parts,
		 int64 *npassed, uint64 *needed)
{
	WindowPassed *passed = node->passed;
	const PageDevice *device = &tables->all;
	BlobQuery *query = palloc0(sizeof(BlobQuery));
	const char *reason = NULL;
	GpuaggReason failure;

	query->query.program = passed->device->asked.program;
	query->query.window = &passed->device->window;
	query->query.above = passed->above.program;
	query->query.part = (uint32) part;
	query->query.parts = (uint32) parts;
	query->query.nchunks = device->nchunks;
	query->chunks = device->chunks;
	query->numbers = device->blobs;
	query->shifts = tables->shifts;
	query->epoch = device->epoch;
	query->rows_bytes = Min(gpuagg_window_answer_bytes(passed->answer, device->rows / parts + 1),
							PART_BYTES) +
						passed->nout * ROUNDING;
	failure = gpuagg_blob_query(query);
	*needed = 0;
	if (failure == GPUAGG_OK && query->incomplete)
		*needed = parts == 1 ? Max(count_parts(passed, query->ngroups), 2) : 2 * parts;
	else if (failure == GPUAGG_OK)
	{
		reason = take(node, tables, query);
		if (reason == NULL && part + 1 == parts)
			gpuagg_device_tables_taken(tables, query->status);
	}
	else if (failure == GPUAGG_CPU_ONLY)
	{
		/* values that are in the table are no trouble to count */
		passed->never = true;
		reason = "a row or a result is the CPU's";
	}
	else if (failure != GPUAGG_OK)
	{
		reason = gpuagg_reason_text(failure);
		if (query->lease != NULL)
			gpuagg_stat_fallback(failure);
	}
	*npassed = (int64) query->nrows;
	gpuagg_blob_query_end(query);
	return reason;
}

static const char *
ask(void *window, const DeviceTables *tables, int64 *npassed)
{
	WindowScanState *node = window;
	WindowPassed *passed = node->passed;
	const char *reason = NULL;
	uint64 part = 0;
	uint64 parts = 1;

	begin_answer(passed);
	/* those that pass conditions may be few */
	if (passed->above.program.filter == GPUAGG_VECTOR_NONE)
		parts = count_parts(passed, tables->all.rows);
	while (part < parts && reason == NULL)
	{
		uint64 needed = 0;

		reason = parts <= MOST_PARTS ? ask_part(node, tables, part, parts, npassed, &needed)
									 : "there are too many rows";
		part++;
		if (needed == 0)
			continue;
		part = 0;
		parts = needed;
		begin_answer(passed);
	}
	if (reason != NULL)
		gpuagg_window_answer_clear(passed->answer);
	return reason;
}

/* ---- a run ---- */

/* Why the device is not asked in this run; NULL: the programs are ready. */
static const char *
prepare(WindowScanState *node)
{
	WindowPassed *passed = node->passed;
	const WindowDevice *device = passed->device;
	MemoryContext old = MemoryContextSwitchTo(passed->run);
	const char *reason;
	bool known;

	MemoryContextReset(passed->run);
	reason = gpuagg_window_device_refusal(device);
	known = gpuagg_window_device_begin(passed->device);
	MemoryContextSwitchTo(old);
	if (reason != NULL)
		return reason;
	if (!known)
		return "constants are not known before the rows";
	gpuagg_window_bounds_begin(node,
							   device->ops + device->stack.first_function[device->stack.n - 1]);
	if (!make_above(node, passed))
		return "a column of the window is the CPU's";
	gpuagg_device_require();
	return NULL;
}

/* Asks; why there are no rows, or NULL. */
static const char *
ask_device(WindowScanState *node)
{
	WindowAsker asker = {node, refuse, ask};
	WorkReport *report = &node->work.report;
	WorkReport before;
	int64 npassed = 0;
	const char *reason = prepare(node);

	if (reason != NULL)
		return reason;
	before = *gpuagg_stat_last();
	reason = gpuagg_window_ask(node->passed->device, &asker, &node->passed->counts, &npassed);
	gpuagg_window_report_since(report, &before);
	if (reason != NULL)
		return reason;
	node->passed->ndropped = npassed - node->passed->answer->nrows;
	report->batches[ENGINE_DEVICE]++;
	report->rows[ENGINE_DEVICE] += gpuagg_stat_last()->rows[ENGINE_DEVICE] -
								   before.rows[ENGINE_DEVICE];
	report->bytes[ENGINE_DEVICE] += gpuagg_stat_last()->bytes[ENGINE_DEVICE] -
									before.bytes[ENGINE_DEVICE];
	return NULL;
}

/* Whether the tables can be on the device and are large enough, before anything is made for it. */
static bool
is_eligible(const WindowScanState *node)
{
	PlanState *child = gpuagg_window_stack_child(node);
	uint64 most = 0;
	int n;
	PlanState **plans = gpuagg_window_table_plans(&child, &n);

	for (int i = 0; i < n; i++)
	{
		const PlanState *scan = plans != NULL ? gpuagg_window_table_scan(plans[i]) : NULL;
		Relation relation;
		BlockNumber nblocks;

		if (scan == NULL || !IsA(scan, SeqScanState))
			return true; /* the reason is said */
		relation = ((const SeqScanState *) scan)->ss.ss_currentRelation;
		nblocks = RelationGetNumberOfBlocks(relation);
		if (nblocks > 0 &&
			gpuagg_page_memory_refusal(relation, child->state->es_snapshot, NULL, 0) != NULL)
			return false;
		most += (uint64) nblocks * MaxHeapTuplesPerPage;
	}
	return most >= (uint64) gpuagg_device_min_rows &&
		   gpuagg_page_device_few(most, most, WINDOW_ASK_ROWS) == NULL;
}

/* Asked at each rescan: the same without memory that stays. */
static bool
is_eligible_now(const WindowScanState *node)
{
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	bool eligible = is_eligible(node);

	MemoryContextSwitchTo(old);
	ResetExprContext(econtext);
	return eligible;
}

/* Whether the device may give rows that the answer does not have yet. */
static bool
may_ask(WindowScanState *node)
{
	/* rows that have been sorted are cheap */
	if (gpuagg_window_stack_is_sorted(node) || gpuagg_device == DEVICE_CPU ||
		(node->passed == NULL && !is_eligible_now(node)))
		return false;
	if (node->passed == NULL)
		make(node);
	return !node->passed->never;
}

bool
gpuagg_window_passed_begin(WindowScanState *node)
{
	bool may = may_ask(node);
	WindowPassed *passed = node->passed;
	bool kept = passed != NULL && passed->kept;

	if (passed != NULL)
		passed->kept = false;
	if (passed != NULL && !(may && kept))
		gpuagg_window_answer_clear(passed->answer);
	if (!may)
		return false;
	if (kept)
		gpuagg_window_prepare(node);
	else
		passed->reason = ask_device(node);
	if (passed->reason != NULL)
		return false;
	passed->nruns++;
	passed->filtered = passed->above.program.filter != GPUAGG_VECTOR_NONE;
	gpuagg_window_answer_rewind(passed->answer);
	passed->next_row = passed->nbatch = passed->next = 0;
	node->dropped += passed->ndropped;
	node->begun = true;
	node->given = true;
	return true;
}

/* Values of a function's n rows from number `first` of the piece on. */
static void
make_results(const WindowPassed *passed, int i, const RunningOperation *op, int64 first, int n,
			 Datum *values, bool *isnull, Size stride)
{
	const WindowAnswer *answer = passed->answer;
	const char *at = answer->values[i] + first * gpuagg_window_width(answer->types[i]);
	const int64 *counts = gpuagg_running_needs_counts(op)
							  ? (const int64 *) answer->values[passed->counters[i]] + first
							  : NULL;
	uint8 status[BATCH_ROWS];

	for (int row = 0; row < n; row++)
		status[row] = gpuagg_bit(answer->valid[i], first + row) ? GPUAGG_ROW_VALUE
																: GPUAGG_ROW_NULL;
	if (counts == NULL && gpuagg_running_result_column(op, at, status, n, values, isnull, stride))
		return;
	for (int row = 0; row < n; row++)
		values[row * stride] = gpuagg_running_result(op, at, status, row,
													 counts != NULL ? counts[row] : 0,
													 &isnull[row * stride]);
}

/* The same of a column of the rows below. */
static void
make_values(const WindowScanState *node, int i, int64 first, int n, Datum *values, bool *isnull,
			Size stride)
{
	const WindowPassed *passed = node->passed;
	const WindowAnswer *answer = passed->answer;
	const VectorValue *form = &passed->device->forms[passed->out[i]];
	uint32 width = gpuagg_window_width(answer->types[i]);
	int scan = passed->sources[passed->out[i]].scan;
	Oid type = TupleDescAttr(node->css.ss.ss_ScanTupleSlot->tts_tupleDescriptor, scan)->atttypid;

	for (int row = 0; row < n; row++)
	{
		const char *at = answer->values[i] + (first + row) * width;
		/* an INT16's bytes are the first of its four */
		GpuaggVector vector = {unconstify(char *, at), NULL};
		Datum value = 0;

		isnull[row * stride] = !gpuagg_bit(answer->valid[i], first + row);
		if (isnull[row * stride])
			;
		else if (has_codes(passed, i))
			value = passed->strings[i][*(const uint32 *) at];
		else if (type == BOOLOID)
			value = BoolGetDatum(*(const int32 *) at != 0);
		else
			value = gpuagg_vector_datum(&vector, form, type, 0, &isnull[row * stride]);
		values[row * stride] = value;
	}
}

/* Makes the next rows of the scan tuple; false: there are no more. */
static bool
make_batch(const WindowScanState *node, WindowPassed *passed)
{
	WindowAnswer *answer = passed->answer;
	Size natts = scan_columns(node);
	MemoryContext old;

	if (passed->next_row == answer->piece_rows)
	{
		CHECK_FOR_INTERRUPTS();
		if (!gpuagg_window_answer_next(answer))
			return false;
		passed->next_row = 0;
	}
	MemoryContextReset(passed->batch);
	old = MemoryContextSwitchTo(passed->batch);
	passed->nbatch = (int) Min(answer->piece_rows - passed->next_row, passed->batch_rows);
	for (int i = 0; i < passed->ngiven; i++)
	{
		int scan = passed->sources[passed->out[i]].scan;
		uint16 f = passed->device->window.columns[passed->out[i]].function;
		Datum *values = passed->values + scan;
		bool *isnull = passed->isnull + scan;

		if (f != GPUAGG_WINDOW_NONE)
			make_results(passed, i, passed->device->ops[f], passed->next_row, passed->nbatch,
						 values, isnull, natts);
		else
			make_values(node, i, passed->next_row, passed->nbatch, values, isnull, natts);
	}
	MemoryContextSwitchTo(old);
	passed->next_row += passed->nbatch;
	passed->next = 0;
	return true;
}

TupleTableSlot *
gpuagg_window_passed_next(WindowScanState *node)
{
	WindowPassed *passed = node->passed;
	Size place;

	if (passed->next == passed->nbatch && !make_batch(node, passed))
		return NULL;
	place = (Size) passed->next++ * scan_columns(node);
	return gpuagg_window_project(node, passed->values + place, passed->isnull + place);
}

void
gpuagg_window_passed_rescan(WindowScanState *node)
{
	WindowPassed *passed = node->passed;

	/* one rescan may follow another without a row between */
	if (passed != NULL)
		passed->kept = (node->given || passed->kept) && node->css.ss.ps.chgParam == NULL;
	node->given = false;
}

void
gpuagg_window_passed_end(WindowScanState *node)
{
	if (node->passed != NULL)
		gpuagg_window_answer_clear(node->passed->answer);
}

int64
gpuagg_window_passed_pages(const WindowScanState *node)
{
	return node->passed != NULL ? (int64) node->passed->counts.pages : 0;
}

void
gpuagg_window_passed_explain(const WindowScanState *node, ExplainState *es)
{
	const WindowPassed *passed = node->passed;

	if (passed == NULL)
		return;
	if (passed->nruns > 0)
	{
		ExplainPropertyBool(passed->filtered ? "Filtered on Device" : "Given by Device", true, es);
		ExplainPropertyInteger("Rows on Device", NULL, (int64) passed->counts.device_rows, es);
	}
	if (passed->reason != NULL && es->verbose)
		ExplainPropertyText(node->spec->nabove > 0 ? "Not Filtered on Device"
												   : "Not Given by Device",
							passed->reason, es);
}
