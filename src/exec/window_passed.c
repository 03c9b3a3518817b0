/*
 * window_passed.c
 *	  Rows of a GpuWindow node that pass conditions above, as the device finds them.
 */
#include "compat.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "device/client.h"
#include "engine/cpu.h"
#include "exec/compiled.h"
#include "exec/window_ask.h"
#include "exec/window_passed.h"
#include "gpuagg.h"

#define CONDITIONS	 24					   /* comparisons in the program, at most */
#define INSTRUCTIONS (4 * CONDITIONS + 32) /* four for each, and the columns and casts */
#define ROUNDING	 192				   /* bytes that a register's rows may take beside */

StaticAssertDecl(GPUAGG_WINDOW_COLUMNS <= 32, "there are instructions for all columns");

struct WindowPassed
{
	WindowDevice *device; /* made when it is first wanted */
	bool never;			  /* the device will not be asked, in this run and those to come */
	const char *reason;	  /* why it has not done it; or NULL */
	PageCounts counts;
	MemoryContext run; /* constants of the program below */

	/* columns of the program above: those of the scan tuple that bounds and the result need */
	int ncolumns;
	WindowSource sources[GPUAGG_WINDOW_COLUMNS];
	int ngiven; /* so many of them are given, */
	int nout;	/* and so many come: those, and behind them counts of averages */
	int out[GPUAGG_WINDOW_VALUES];
	int counters[GPUAGG_WINDOW_VALUES]; /* by number of those: of an average, that of its count */

	/* the program above, made for each run */
	GpuaggVectorProgram above;
	GpuaggVectorInstruction instructions[INSTRUCTIONS];
	GpuaggVectorConstant constants[CONDITIONS];
	uint8 types[GPUAGG_WINDOW_COLUMNS];
	uint16 loaded[GPUAGG_WINDOW_COLUMNS]; /* registers that columns are in; or NONE */

	/* the answer */
	MemoryContext answer;
	bool kept; /* from the run before, whose rows this one has, too */
	int64 nrows;
	int64 ndropped; /* rows that did not pass */
	int64 next_row;
	Datum *strings[GPUAGG_WINDOW_VALUES]; /* by code, of those that rows have; or NULL */
	const char *values[GPUAGG_WINDOW_VALUES];
	const uint64 *valid[GPUAGG_WINDOW_VALUES];
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
	foreach (cell, node->css.ss.ps.plan->targetlist)
	{
		const Var *var = (const Var *) ((const TargetEntry *) lfirst(cell))->expr;

		if (IsA(var, Const))
			continue;
		if (!IsA(var, Var) || var->varattno <= 0 || !add_out(passed, var->varattno - 1))
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

/* Makes what is the same in all runs; sets never if the device can do nothing. */
static void
make(WindowScanState *node)
{
	MemoryContext query = node->css.ss.ps.state->es_query_cxt;
	MemoryContext old = MemoryContextSwitchTo(query);
	WindowPassed *passed = node->passed = palloc0(sizeof(WindowPassed));

	passed->run = AllocSetContextCreate(query, "GpuWindow constants", ALLOCSET_SMALL_SIZES);
	passed->answer = AllocSetContextCreate(query, "GpuWindow rows", ALLOCSET_DEFAULT_SIZES);
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
	MemoryContextSwitchTo(old);
}

/* ---- the program above ---- */

/* Adds an instruction; returns its register, which is its alone. */
static uint16
add(WindowPassed *passed, GpuaggVectorInstruction instruction)
{
	uint16 reg = (uint16) passed->above.ninstructions;

	instruction.out = reg;
	instruction.c = instruction.mask = GPUAGG_VECTOR_NONE;
	passed->instructions[passed->above.ninstructions++] = instruction;
	passed->above.nregisters = passed->above.ninstructions;
	return reg;
}

static uint16
load(WindowPassed *passed, int column)
{
	if (passed->loaded[column] == GPUAGG_VECTOR_NONE)
		passed->loaded[column] = add(passed, (GpuaggVectorInstruction){
												 .op = GPUAGG_VECTOR_COLUMN,
												 .type = passed->types[column],
												 .a = GPUAGG_VECTOR_NONE,
												 .b = GPUAGG_VECTOR_NONE,
												 .arg = (uint32) column,
											 });
	return passed->loaded[column];
}

/* A constant's register. */
static uint16
add_constant(WindowPassed *passed, GpuaggVectorConstant constant)
{
	GpuaggVectorProgram *above = &passed->above;

	passed->constants[above->nconstants] = constant;
	return add(passed, (GpuaggVectorInstruction){
						   .op = GPUAGG_VECTOR_CONSTANT,
						   .type = constant.type,
						   .a = GPUAGG_VECTOR_NONE,
						   .b = GPUAGG_VECTOR_NONE,
						   .arg = above->nconstants++,
					   });
}

/* A comparison that has to hold beside those before. */
static void
add_comparison(WindowPassed *passed, GpuaggVectorOp op, int type, uint16 a, uint16 b)
{
	GpuaggVectorProgram *above = &passed->above;
	uint16 with =
		add(passed,
			(GpuaggVectorInstruction){.op = (uint8) op, .type = (uint8) type, .a = a, .b = b});

	if (above->filter != GPUAGG_VECTOR_NONE)
		with = add(passed, (GpuaggVectorInstruction){.op = GPUAGG_VECTOR_AND,
													 .type = GPUAGG_VECTOR_BOOL,
													 .a = (uint16) above->filter,
													 .b = with});
	above->filter = with;
}

static void
add_condition(WindowPassed *passed, GpuaggVectorOp op, uint16 reg, GpuaggVectorConstant constant)
{
	add_comparison(passed, op, constant.type, reg, add_constant(passed, constant));
}

static uint16
add_cast(WindowPassed *passed, int type, int to, uint16 reg)
{
	return add(passed, (GpuaggVectorInstruction){.op = GPUAGG_VECTOR_CAST,
												 .type = (uint8) type,
												 .to = (uint8) to,
												 .a = reg,
												 .b = GPUAGG_VECTOR_NONE});
}

static GpuaggVectorOp
comparison(int strategy)
{
	switch (strategy)
	{
		case BTLessStrategyNumber:
			return GPUAGG_VECTOR_LT;
		case BTLessEqualStrategyNumber:
			return GPUAGG_VECTOR_LE;
		case BTEqualStrategyNumber:
			return GPUAGG_VECTOR_EQ;
		case BTGreaterEqualStrategyNumber:
			return GPUAGG_VECTOR_GE;
		default:
			return GPUAGG_VECTOR_GT;
	}
}

/* The greatest integer of a type; the least is this one's complement. */
static __int128
greatest_of(int type)
{
	return type == GPUAGG_VECTOR_INT32	 ? PG_INT32_MAX
		   : type == GPUAGG_VECTOR_INT64 ? PG_INT64_MAX
										 : (__int128) (~(unsigned __int128) 0 >> 1);
}

static GpuaggVectorConstant
integer(int type, __int128 value)
{
	return (GpuaggVectorConstant){.type = (uint8) type, .u.integer = gpuagg_int128_narrow(value)};
}

/* Values above the integer before the least, and below the one behind the greatest. */
static void
add_integers(WindowPassed *passed, const RunningBound *bound, int column)
{
	int type = passed->types[column];
	__int128 most = greatest_of(type);
	__int128 least = gpuagg_int128_wide(bound->least);
	__int128 greatest = gpuagg_int128_wide(bound->greatest);

	if (least > -most - 1)
		add_condition(passed, GPUAGG_VECTOR_GT, load(passed, column),
					  integer(type, Min(least - 1, most)));
	if (greatest < most)
		add_condition(passed, GPUAGG_VECTOR_LT, load(passed, column),
					  integer(type, Max(greatest + 1, -most - 1)));
}

static void
add_floats(WindowPassed *passed, const RunningBound *bound, int column)
{
	uint16 reg = load(passed, column);

	if (passed->types[column] == GPUAGG_VECTOR_FLOAT32)
		reg = add_cast(passed, GPUAGG_VECTOR_FLOAT32, GPUAGG_VECTOR_FLOAT64, reg);
	add_condition(passed, comparison(bound->strategy), reg,
				  (GpuaggVectorConstant){.type = GPUAGG_VECTOR_FLOAT64, .u.float64 = bound->value});
}

/* A register times an integer of 128 bits. */
static uint16
add_product(WindowPassed *passed, uint16 reg, __int128 factor)
{
	uint16 with = add_constant(passed, integer(GPUAGG_VECTOR_INT128, factor));

	return add(passed, (GpuaggVectorInstruction){.op = GPUAGG_VECTOR_MUL,
												 .type = GPUAGG_VECTOR_INT128,
												 .a = reg,
												 .b = with});
}

/* Sums times the factor between products of these integers and counts, as rows are dropped. */
static void
add_quotients(WindowPassed *passed, const RunningBound *bound, int column)
{
	uint16 sum = add_product(passed, load(passed, column), bound->factor);
	uint16 count = add_cast(passed, GPUAGG_VECTOR_INT64, GPUAGG_VECTOR_INT128,
							load(passed, passed->device->counts[column]));

	add_comparison(passed, GPUAGG_VECTOR_GT, GPUAGG_VECTOR_INT128, sum,
				   add_product(passed, count, gpuagg_int128_wide(bound->least) - 1));
	add_comparison(passed, GPUAGG_VECTOR_LT, GPUAGG_VECTOR_INT128, sum,
				   add_product(passed, count, gpuagg_int128_wide(bound->greatest) + 1));
}

/* Makes the program of this run's bounds; false: it is none. */
static bool
make_above(const WindowScanState *node, WindowPassed *passed)
{
	const WindowSpec *spec = node->spec;
	WindowDevice *device = passed->device;
	uint8 types[GPUAGG_VECTOR_DEVICE_REGISTERS] = {0};

	passed->above = (GpuaggVectorProgram){.filter = GPUAGG_VECTOR_NONE,
										  .ncolumns = (uint32) device->ncolumns,
										  .instructions = passed->instructions,
										  .constants = passed->constants,
										  .columns = passed->types};
	for (int i = 0; i < device->ncolumns; i++)
	{
		passed->types[i] = (uint8) gpuagg_device_type(device->forms[i].type);
		passed->loaded[i] = GPUAGG_VECTOR_NONE;
	}
	/* where there is no room for one, it is left out */
	for (int i = 0; i < spec->nabove && passed->above.nconstants + 3 <= CONDITIONS; i++)
	{
		const WindowBound *bound = &node->bounds[i];
		int column = find_column(passed, spec->nchild + spec->above[i].function);

		if (bound->known && bound->bound.floats)
			add_floats(passed, &bound->bound, column);
		else if (bound->known && device->counts[column] >= 0)
			add_quotients(passed, &bound->bound, column);
		else if (bound->known)
			add_integers(passed, &bound->bound, column);
	}
	if (passed->above.filter == GPUAGG_VECTOR_NONE)
		return false;
	passed->above.nfilter = passed->above.ninstructions;
	device->window.nout = (uint32) passed->nout;
	for (int i = 0; i < passed->nout; i++)
		device->window.out[i] = load(passed, passed->out[i]);
	return gpuagg_vector_check(&passed->above, types) < 0 &&
		   gpuagg_window_check_out(&device->window, types);
}

/* ---- the answer ---- */

static int
out_type(const WindowPassed *passed, int i)
{
	return passed->types[passed->out[i]];
}

/* Bytes of an answer's rows. */
static uint64
rows_bytes(const WindowPassed *passed, uint64 nrows)
{
	uint64 bytes = 0;

	for (int i = 0; i < passed->nout; i++)
		bytes += gpuagg_window_out_bytes(out_type(passed, i), nrows);
	return bytes;
}

/* Bytes that are wanted of it, at most. */
static uint64
most_bytes(void)
{
	return Min(work_mem * UINT64CONST(1024), GPUAGG_SEGMENT_BYTES_MAX);
}

/* Copies the rows; they may not be as many as the answer says. */
static bool
copy_rows(WindowPassed *passed, const BlobQuery *query)
{
	uint64 bytes = rows_bytes(passed, query->ngroups);
	char *at;

	if (query->totals.left != bytes)
		return false;
	MemoryContextReset(passed->answer);
	at = MemoryContextAllocExtended(passed->answer, Max(bytes, 1), MCXT_ALLOC_HUGE);
	memcpy(at, query->totals.next, bytes);
	for (int i = 0; i < passed->nout; i++)
	{
		passed->values[i] = at;
		at += gpuagg_window_out_bytes(out_type(passed, i), query->ngroups);
		passed->valid[i] = (const uint64 *) (at -
											 gpuagg_window_aligned((query->ngroups + 63) / 64 * 8));
	}
	passed->nrows = (int64) query->ngroups;
	return true;
}

/* Makes the strings that a column's rows have; false: some code is none. */
static bool
make_strings(const WindowScanState *node, WindowPassed *passed, int i)
{
	const WindowDevice *device = passed->device;
	const VectorValue *form = &device->forms[passed->out[i]];
	TupleDesc desc = node->css.ss.ss_ScanTupleSlot->tts_tupleDescriptor;
	Oid type = TupleDescAttr(desc, passed->sources[passed->out[i]].scan)->atttypid;
	int column = gpuagg_compiled_strings(&device->program, form->reg);
	GpuaggVector entries = {unconstify(GpuaggVectorBytes *, device->asked.entries[column]), NULL};
	uint32 n = device->asked.nentries[column];
	const int32 *codes = (const int32 *) passed->values[i];
	MemoryContext old = MemoryContextSwitchTo(passed->answer);
	Datum *strings = palloc0((n + 1) * sizeof(Datum));
	bool isnull;
	bool known = true;

	for (int64 row = 0; row < passed->nrows && known; row++)
	{
		if (!gpuagg_bit(passed->valid[i], row))
			continue;
		known = (uint32) codes[row] < n;
		if (known && strings[codes[row]] == 0)
			strings[codes[row]] = gpuagg_vector_datum(&entries, form, type, codes[row], &isnull);
	}
	MemoryContextSwitchTo(old);
	passed->strings[i] = strings;
	return known;
}

static bool
make_all_strings(const WindowScanState *node, WindowPassed *passed)
{
	bool known = true;

	for (int i = 0; i < passed->ngiven && known; i++)
		if (passed->device->forms[passed->out[i]].type == GPUAGG_VECTOR_BYTES)
			known = make_strings(node, passed, i);
	return known;
}

/* Takes an answer; why it is none, or NULL. */
static const char *
take(const WindowScanState *node, const DeviceTables *tables, const BlobQuery *query)
{
	WindowPassed *passed = node->passed;
	uint64 nrows = tables->all.rows;

	if (!gpuagg_device_tables_whole(tables, query->status))
		return gpuagg_page_device_missing;
	if (query->incomplete ||
		(query->ngroups <= nrows && rows_bytes(passed, query->ngroups) > most_bytes()))
	{
		passed->never = true;
		return "too many rows pass the conditions above";
	}
	if (query->ngroups > nrows || !copy_rows(passed, query) || !make_all_strings(node, passed))
		return gpuagg_reason_text(GPUAGG_DEVICE_ERROR);
	gpuagg_device_tables_taken(tables, query->status);
	return NULL;
}

/* ---- the request ---- */

static const char *
refuse(const void *node, uint64 rows, uint64 bare)
{
	return gpuagg_page_device_refusal(rows, bare, WINDOW_ASK_ROWS);
}

static const char *
ask(void *window, const DeviceTables *tables, int64 *npassed)
{
	WindowPassed *passed = ((WindowScanState *) window)->passed;
	const PageDevice *device = &tables->all;
	BlobQuery *query = palloc0(sizeof(BlobQuery));
	const char *reason;
	GpuaggReason failure;

	query->query.program = passed->device->asked.program;
	query->query.window = &passed->device->window;
	query->query.above = passed->above;
	query->query.parts = 1;
	query->query.nchunks = device->nchunks;
	query->chunks = device->chunks;
	query->numbers = device->blobs;
	query->shifts = tables->shifts;
	query->epoch = device->epoch;
	query->rows_bytes = Min(rows_bytes(passed, device->rows), most_bytes()) +
						passed->nout * ROUNDING;
	failure = gpuagg_blob_query(query);
	if (failure == GPUAGG_OK)
		reason = take(window, tables, query);
	else if (failure == GPUAGG_CPU_ONLY)
	{
		/* values that are in the table are no trouble to count */
		passed->never = true;
		reason = "a row or a result is the CPU's";
	}
	else
	{
		reason = gpuagg_reason_text(failure);
		if (query->lease != NULL)
			gpuagg_stat_fallback(failure);
	}
	*npassed = (int64) query->nrows;
	gpuagg_blob_query_end(query);
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
	gpuagg_window_bounds_begin(node, device->ops);
	if (!make_above(node, passed))
		return "no condition above is known";
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
	node->passed->ndropped = npassed - node->passed->nrows;
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
	PlanState *child = node->input.child;
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

bool
gpuagg_window_passed_begin(WindowScanState *node)
{
	WindowPassed *passed;

	/* rows that have been sorted are cheap */
	if (node->spec->nabove == 0 || node->input.sorted || gpuagg_device == DEVICE_CPU ||
		(node->passed == NULL && !is_eligible(node)))
		return false;
	if (node->passed == NULL)
		make(node);
	passed = node->passed;
	if (passed->never)
		return false;
	if (passed->kept)
		gpuagg_window_prepare(node);
	else
		passed->reason = ask_device(node);
	passed->kept = false;
	if (passed->reason != NULL)
		return false;
	passed->next_row = 0;
	node->dropped += passed->ndropped;
	node->begun = true;
	node->given = true;
	return true;
}

/* A value of one of the columns that are given, in the current memory context. */
static Datum
value_at(const WindowScanState *node, int i, int64 row, bool *isnull)
{
	const WindowPassed *passed = node->passed;
	int column = passed->out[i];
	int scan = passed->sources[column].scan;
	int f = scan - node->spec->nchild;
	const char *at = passed->values[i] + row * gpuagg_window_width(passed->types[column]);
	uint8 status = gpuagg_bit(passed->valid[i], row) ? GPUAGG_ROW_VALUE : GPUAGG_ROW_NULL;
	GpuaggVector vector = {(void *) at, NULL};
	TupleDesc desc = node->css.ss.ss_ScanTupleSlot->tts_tupleDescriptor;

	if (f >= 0)
	{
		const RunningOperation *op = passed->device->ops[f];
		int64 n = gpuagg_running_needs_counts(op)
					  ? ((const int64 *) passed->values[passed->counters[i]])[row]
					  : 0;

		return gpuagg_running_result(op, at, &status, 0, n, isnull);
	}
	*isnull = status == GPUAGG_ROW_NULL;
	if (*isnull)
		return (Datum) 0;
	if (passed->device->forms[column].type == GPUAGG_VECTOR_BYTES)
		return passed->strings[i][*(const int32 *) at];
	if (TupleDescAttr(desc, scan)->atttypid == BOOLOID)
		return BoolGetDatum(*(const int32 *) at != 0);
	/* an INT16's bytes are the first of its four */
	return gpuagg_vector_datum(&vector, &passed->device->forms[column],
							   TupleDescAttr(desc, scan)->atttypid, 0, isnull);
}

TupleTableSlot *
gpuagg_window_passed_next(WindowScanState *node)
{
	WindowPassed *passed = node->passed;
	MemoryContext old;

	if (passed->next_row == passed->nrows)
		return NULL;
	MemoryContextReset(node->group_context);
	old = MemoryContextSwitchTo(node->group_context);
	memset(node->isnull, true, (node->spec->nchild + node->spec->nfunctions) * sizeof(bool));
	for (int i = 0; i < passed->ngiven; i++)
	{
		int scan = passed->sources[passed->out[i]].scan;

		node->values[scan] = value_at(node, i, passed->next_row, &node->isnull[scan]);
	}
	MemoryContextSwitchTo(old);
	passed->next_row++;
	return gpuagg_window_project(node, node->values, node->isnull);
}

void
gpuagg_window_passed_rescan(WindowScanState *node)
{
	if (node->given)
		node->passed->kept = node->css.ss.ps.chgParam == NULL;
	node->given = false;
}

void
gpuagg_window_passed_explain(const WindowScanState *node, ExplainState *es)
{
	const WindowPassed *passed = node->passed;

	if (passed == NULL)
		return;
	if (passed->counts.device_rows > 0)
	{
		ExplainPropertyBool("Filtered on Device", true, es);
		ExplainPropertyInteger("Rows on Device", NULL, (int64) passed->counts.device_rows, es);
	}
	if (passed->reason != NULL && es->verbose)
		ExplainPropertyText("Not Filtered on Device", passed->reason, es);
}
