/*
 * window_device.c
 *	  What the device can do of a GpuWindow node, for what is above it.
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"

#include "exec/compiled.h"
#include "exec/scan_program.h"
#include "exec/table_mix.h"
#include "exec/window_device.h"
#include "exec/window_state.h"
#include "exec/window_table.h"
#include "types/sort_key.h"

StaticAssertDecl(SORT_MAX_KEYS <= GPUAGG_WINDOW_KEYS, "a window has all keys of a sort");

/* Expressions of which values are made: of keys, of functions' arguments, of columns. */
#define MAX_EXPRS (GPUAGG_WINDOW_KEYS + GPUAGG_WINDOW_FUNCTIONS + GPUAGG_WINDOW_COLUMNS)

/* What is being made. */
typedef struct Maker
{
	const WindowStack *stack;
	List *targets[GPUAGG_WINDOW_ORDERS]; /* over the table whose program is being made */
	WindowDevice *device;
	bool missing; /* an expression that a node needs is none over the table */
	int nexprs;
	Expr *exprs[MAX_EXPRS]; /* over the table; NULL: none */
	VectorValue values[MAX_EXPRS];
	bool full; /* there are more values, functions or columns than a window has */
} Maker;

/* ---- what it cannot do ---- */

/* Whether the rows below are those of tables. */
static bool
has_tables(PlanState *child)
{
	int n;
	PlanState **plans = gpuagg_window_table_plans(&child, &n);

	for (int i = 0; plans != NULL && i < n; i++)
		if (!gpuagg_scan_program_possible(gpuagg_window_table_scan(plans[i])))
			return false;
	return plans != NULL && n > 0;
}

static const char *
find_refusal(const WindowStack *stack, int ncolumns)
{
	int node;

	if (!has_tables(stack->child))
		return "rows below the window are not those of plain scans of tables";
	if (!stack->nodes[0]->spec->sort)
		return "rows below the window come in order";
	if (stack->nfunctions > GPUAGG_WINDOW_FUNCTIONS || ncolumns > GPUAGG_WINDOW_COLUMNS)
		return "the window has too many columns";
	for (int f = 0; f < stack->nfunctions; f++)
		switch (gpuagg_window_stack_function(stack, f, &node)->plain->aggregate)
		{
			case AGGREGATE_COUNT:
			case AGGREGATE_SUM:
			case AGGREGATE_AVG:
			case AGGREGATE_MIN:
			case AGGREGATE_MAX:
				break;
			default:
				return "a window function is the CPU's";
		}
	return NULL;
}

/* ---- expressions ---- */

/* Of a column of a node's child, where it is a boolean a number that sorts as it does; NULL: it is none of the table. */
static Expr *
number_expr(const Maker *maker, int node, int column)
{
	Expr *expr = ((TargetEntry *) list_nth(maker->targets[node], column))->expr;

	if (expr == NULL || exprType((const Node *) expr) != BOOLOID)
		return expr;
	return (Expr *) makeFuncExpr(F_INT4_BOOL, INT4OID, list_make1(expr), InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

/* A function's argument, for an average as what its sum is made of: a bigint, a double or a decimal. */
static Expr *
argument_expr(const Maker *maker, int f)
{
	int node;
	const WindowFunctionState *state = gpuagg_window_stack_function(maker->stack, f, &node);
	const CustomScan *plan = (const CustomScan *) maker->stack->nodes[node]->css.ss.ps.plan;
	const Expr *argument = list_nth(plan->custom_exprs,
									2 * (f - maker->stack->first_function[node]));
	Expr *expr;
	Oid type;
	Oid cast;

	if (!gpuagg_window_stack_reads_table(maker->targets[node], (const Node *) argument))
		return NULL;
	expr = gpuagg_scan_program_expr(maker->targets[node], argument);
	type = exprType((const Node *) expr);
	cast = type == INT2OID	   ? F_INT8_INT2
		   : type == INT4OID   ? F_INT8_INT4
		   : type == FLOAT4OID ? F_FLOAT8_FLOAT4
							   : InvalidOid;
	if (state->plain->aggregate != AGGREGATE_AVG || cast == InvalidOid)
		return expr;
	return (Expr *) makeFuncExpr(cast, type == FLOAT4OID ? FLOAT8OID : INT8OID, list_make1(expr),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

static const WindowColumn *
key_of(const WindowSpec *spec, int k)
{
	return k < spec->npartition ? &spec->partition[k] : &spec->order[k - spec->npartition];
}

static int
count_keys(const WindowSpec *spec)
{
	return spec->npartition + spec->norder;
}

static void
add_expr(Maker *maker, Expr *expr)
{
	maker->exprs[maker->nexprs++] = expr;
}

static void
add_needed(Maker *maker, Expr *expr)
{
	maker->missing |= expr == NULL;
	add_expr(maker, expr);
}

/* Keys of a node that sorts. */
static void
add_sort_exprs(Maker *maker, int node)
{
	const WindowSpec *spec = maker->stack->nodes[node]->spec;

	maker->full |= maker->nexprs + count_keys(spec) > GPUAGG_WINDOW_KEYS;
	for (int k = 0; k < count_keys(spec) && !maker->full; k++)
		add_needed(maker, number_expr(maker, node, key_of(spec, k)->attno - 1));
}

/* Keys, arguments and columns, in this order. */
static void
add_exprs(Maker *maker, const WindowSource *sources, int n)
{
	const WindowStack *stack = maker->stack;
	int node;

	maker->nexprs = 0;
	for (int i = 0; i < stack->n; i++)
		if (stack->nodes[i]->spec->sort)
			add_sort_exprs(maker, i);
	for (int f = 0; f < stack->nfunctions; f++)
		if (gpuagg_window_stack_function(stack, f, &node)->every_row)
			add_expr(maker, NULL);
		else
			add_needed(maker, argument_expr(maker, f));
	for (int i = 0; i < n; i++)
	{
		WindowOrigin origin = {-1, -1};

		if (sources[i].scan >= 0)
			origin = gpuagg_window_stack_origin(stack, sources[i].scan);
		add_expr(maker, sources[i].scan < 0	 ? (Expr *) sources[i].constant
						: origin.column >= 0 ? number_expr(maker, 0, origin.column)
											 : NULL);
	}
}

/* ---- the window ---- */

/* The number of the value that a register is. */
static uint16
value_of(Maker *maker, uint16 reg)
{
	GpuaggWindow *window = &maker->device->window;

	for (uint32 i = 0; i < window->nvalues; i++)
		if (window->values[i] == reg)
			return (uint16) i;
	maker->full |= window->nvalues == GPUAGG_WINDOW_VALUES;
	if (maker->full)
		return GPUAGG_WINDOW_NONE;
	window->values[window->nvalues] = reg;
	return (uint16) window->nvalues++;
}

/* Adds the keys of a node that sorts. */
static void
add_sort(Maker *maker, int node)
{
	const WindowSpec *spec = maker->stack->nodes[node]->spec;
	GpuaggWindow *window = &maker->device->window;
	TupleDesc desc = ExecGetResultType(maker->stack->nodes[node]->input.child);

	for (int k = 0; k < count_keys(spec); k++)
	{
		const WindowColumn *column = key_of(spec, k);
		Oid type = TupleDescAttr(desc, column->attno - 1)->atttypid;
		SqlForm form;
		bool descending = false;

		/* the node sorts by it */
		(void) gpuagg_sort_key_find(type, column->sort_operator, &form, &descending);
		window->keys[window->nkeys] =
			(GpuaggWindowKey){value_of(maker, maker->values[window->nkeys].reg), descending,
							  column->nulls_first};
		window->nkeys++;
	}
}

/* Whether the keys of a node that does not sort are the first ones of an order. */
static bool
has_order(const Maker *maker, int node, const GpuaggWindowOrder *order)
{
	const WindowSpec *spec = maker->stack->nodes[node]->spec;

	if (count_keys(spec) > order->nkeys)
		return false;
	for (int k = 0; k < count_keys(spec); k++)
		if (!equal(number_expr(maker, node, key_of(spec, k)->attno - 1),
				   maker->exprs[order->first + k]))
			return false;
	return true;
}

/* Each node's order; false: one is not known. */
static bool
add_orders(Maker *maker)
{
	GpuaggWindow *window = &maker->device->window;

	window->norders = (uint32) maker->stack->n;
	for (int i = 0; i < maker->stack->n; i++)
	{
		const WindowSpec *spec = maker->stack->nodes[i]->spec;
		GpuaggWindowOrder *order = &window->orders[i];

		if (spec->sort)
		{
			*order = (GpuaggWindowOrder){.first = (uint16) window->nkeys,
										 .nkeys = (uint16) count_keys(spec)};
			add_sort(maker, i);
		}
		else
		{
			*order = window->orders[i - 1];
			if (!has_order(maker, i, order))
				return false;
		}
		order->npartition = (uint16) spec->npartition;
		order->npeers = (uint16) count_keys(spec);
	}
	return true;
}

/* Up to which row a function's value is, of the rows in order. */
static GpuaggWindowReach
reach_of(WindowFrame frame, WindowValue number)
{
	if (number == WINDOW_RANK)
		return GPUAGG_REACH_FIRST_PEER;
	if (number != WINDOW_AGGREGATE || frame == WINDOW_ROWS)
		return GPUAGG_REACH_ROW;
	return frame == WINDOW_PEERS ? GPUAGG_REACH_LAST_PEER : GPUAGG_REACH_PARTITION;
}

static void
add_functions(Maker *maker)
{
	GpuaggWindow *window = &maker->device->window;
	int first = (int) window->nkeys;

	window->nfunctions = (uint32) maker->stack->nfunctions;
	for (int f = 0; f < maker->stack->nfunctions; f++)
	{
		int node;
		const WindowFunctionState *state = gpuagg_window_stack_function(maker->stack, f, &node);
		const VectorValue *value = &maker->values[first + f];
		bool decimal = !state->every_row && value->scale >= 0;
		bool averages = gpuagg_running_averages_floats(state->plain);

		maker->device->ops[f] = decimal && state->plain->kind == 0
									? gpuagg_running_decimal(state->plain->aggregate, value->scale)
									: state->plain;
		window->functions[f] = (GpuaggWindowFunction){
			.kind = (uint8) (decimal	? GPUAGG_INT64
							 : averages ? GPUAGG_FLOAT64
										: state->plain->kind),
			.op = (uint8) state->plain->op,
			.reach = (uint8) reach_of(maker->stack->nodes[node]->spec->frame, state->number),
			.value = state->every_row ? GPUAGG_WINDOW_NONE : value_of(maker, value->reg),
			.heads = state->number == WINDOW_DENSE_RANK,
			.average = averages,
			.order = (uint16) node,
		};
		maker->device->counters[f] = GPUAGG_WINDOW_NONE;
	}
}

/* The scale of a function's values; -1: they are no decimals. */
static int
function_scale(const Maker *maker, int f)
{
	int node;
	const WindowFunctionState *state = gpuagg_window_stack_function(maker->stack, f, &node);
	const VectorValue *value = &maker->values[maker->device->window.nkeys + f];

	if (state->every_row || state->plain->op == GPUAGG_COUNT)
		return -1;
	/* a sum of bigints is numeric */
	return state->plain->result == NUMERICOID ? Max(value->scale, 0) : -1;
}

/* The function that counts another one's values. */
static uint16
counter_of(Maker *maker, int f)
{
	WindowDevice *device = maker->device;
	GpuaggWindow *window = &device->window;

	if (device->counters[f] != GPUAGG_WINDOW_NONE)
		return device->counters[f];
	maker->full |= window->nfunctions == GPUAGG_WINDOW_FUNCTIONS;
	if (maker->full)
		return GPUAGG_WINDOW_NONE;
	device->counters[f] = (uint16) window->nfunctions;
	window->functions[window->nfunctions] = window->functions[f];
	window->functions[window->nfunctions].kind = GPUAGG_INT32;
	window->functions[window->nfunctions].op = GPUAGG_COUNT;
	return (uint16) window->nfunctions++;
}

static void
add_counts(Maker *maker, int column)
{
	WindowDevice *device = maker->device;
	uint16 f = device->window.columns[column].function;

	device->counts[column] = -1;
	if (f == GPUAGG_WINDOW_NONE || !gpuagg_running_needs_counts(device->ops[f]))
		return;
	f = counter_of(maker, f);
	maker->full |= device->ncolumns == GPUAGG_WINDOW_COLUMNS;
	if (maker->full)
		return;
	device->counts[column] = device->ncolumns;
	device->window.columns[device->ncolumns] = (GpuaggWindowColumn){GPUAGG_WINDOW_NONE, f};
	device->forms[device->ncolumns++] = (VectorValue){
		.type = GPUAGG_VECTOR_INT64,
		.scale = -1,
		.width = -1,
	};
}

/* Finds the columns, as they come, and counts behind them. */
static void
add_columns(Maker *maker, const WindowSource *sources, int n)
{
	WindowDevice *device = maker->device;
	int first = (int) device->window.nkeys + maker->stack->nfunctions;

	for (int i = 0; i < n; i++)
	{
		int f = sources[i].scan >= 0
					? gpuagg_window_stack_origin(maker->stack, sources[i].scan).function
					: -1;
		GpuaggWindowColumn column = {GPUAGG_WINDOW_NONE, GPUAGG_WINDOW_NONE};

		if (f >= 0)
		{
			column.function = (uint16) f;
			device->forms[i] = (VectorValue){
				.type = gpuagg_window_result(&device->window.functions[f]),
				.scale = function_scale(maker, f),
				.width = -1,
			};
		}
		else
		{
			device->forms[i] = maker->values[first + i];
			column.value = value_of(maker, device->forms[i].reg);
		}
		device->window.columns[i] = column;
	}
	device->ncolumns = n;
	for (int i = 0; i < n; i++)
		add_counts(maker, i);
}

/* Whether all is there, and of types that fit. */
static bool
is_complete(const WindowDevice *device)
{
	uint8 types[GPUAGG_VECTOR_DEVICE_REGISTERS] = {0};
	uint8 columns[GPUAGG_WINDOW_COLUMNS];

	if (gpuagg_vector_check(&device->program, types) >= 0)
		return false;
	for (uint32 i = 0; i < device->program.nregisters; i++)
		types[i] = (uint8) gpuagg_device_type(types[i]);
	for (int i = 0; i < device->ncolumns; i++)
		columns[i] = (uint8) gpuagg_device_type(device->forms[i].type);
	return gpuagg_window_check(&device->window, types, columns, (uint32) device->ncolumns);
}

/* Makes the program of a table, with the values. */
static VectorCompiler *
make_program(Maker *maker, const WindowDeviceTable *table, const WindowSource *sources, int n,
			 VectorValue *values)
{
	const SeqScan *plan = (const SeqScan *) table->scan->ss.ps.plan;

	gpuagg_window_stack_targets(maker->stack, table->plan, maker->targets);
	add_exprs(maker, sources, n);
	if (maker->missing || maker->full)
		return NULL;
	return gpuagg_scan_program_make(plan->scan.scanrelid, table->scan->ss.ps.state,
									plan->scan.plan.qual, maker->exprs, maker->nexprs, values);
}

static void
find_table_columns(WindowDeviceTable *table, const VectorCompiler *compiler)
{
	table->ncolumns = (int) compiler->program.ncolumns;
	table->columns = palloc0((table->ncolumns + 1) * sizeof(PageColumn));
	gpuagg_compiled_columns(compiler, RelationGetDescr(table->relation), table->columns);
}

static bool
same_values(const VectorValue *a, const VectorValue *b, int n)
{
	for (int i = 0; i < n; i++)
		if (a[i].reg != b[i].reg || a[i].type != b[i].type || a[i].scale != b[i].scale ||
			a[i].precision != b[i].precision || a[i].width != b[i].width)
			return false;
	return true;
}

/* Chunks that a table's conditions exclude; they are of its own program, or of that of all. */
static void
find_chunks(WindowDeviceTable *table, VectorCompiler *compiler, bool own)
{
	/* parameters of its own would have to be computed once more */
	if (own && compiler->parameters != NIL)
		return;
	gpuagg_filter_conditions(compiler, &table->conditions);
	table->chunks = gpuagg_chunk_filter_make(&table->conditions, compiler->program.columns,
											 table->ncolumns);
	table->constants = own ? compiler->program.constants : NULL;
}

/* The program of tables whose own ones are not the same. */
static VectorCompiler *
mix_tables(Maker *maker, MixTable *mixed)
{
	WindowDevice *device = maker->device;
	VectorCompiler *compiler;

	memset(maker->values, 0, sizeof(maker->values));
	compiler = gpuagg_table_mix(mixed, device->ntables, maker->nexprs, maker->values,
								&device->number);
	for (int i = 0; i < device->ntables && compiler != NULL; i++)
	{
		device->tables[i].places = mixed[i].places;
		device->tables[i].number = mixed[i].number;
	}
	return compiler;
}

/* Makes the program of all tables; why there is none, or NULL. */
static const char *
find_program(Maker *maker, const WindowSource *sources, int n)
{
	WindowDevice *device = maker->device;
	MixTable *mixed = palloc0(device->ntables * sizeof(MixTable));
	VectorCompiler **compilers = palloc0(device->ntables * sizeof(VectorCompiler *));
	bool same = true;

	for (int i = 0; i < device->ntables; i++)
	{
		WindowDeviceTable *table = &device->tables[i];
		const SeqScan *plan = (const SeqScan *) table->scan->ss.ps.plan;
		VectorValue values[MAX_EXPRS] = {0};

		compilers[i] = make_program(maker, table, sources, n, i == 0 ? maker->values : values);
		if (compilers[i] == NULL || !gpuagg_compiled_for_device(&compilers[i]->program, true))
			return "an expression below the window is the CPU's";
		find_table_columns(table, compilers[i]);
		mixed[i] = (MixTable){.varno = plan->scan.scanrelid,
							  .quals = plan->scan.plan.qual,
							  .exprs = palloc((maker->nexprs + 1) * sizeof(Expr *)),
							  .compiler = compilers[i]};
		memcpy(mixed[i].exprs, maker->exprs, maker->nexprs * sizeof(Expr *));
		same &= i == 0 || (gpuagg_compiled_same(compilers[i], compilers[0]) &&
						   same_values(values, maker->values, maker->nexprs));
	}
	device->number = -1;
	device->compiler = same ? compilers[0] : mix_tables(maker, mixed);
	if (device->compiler == NULL)
		return "filters or columns below the window differ from table to table";
	for (int i = 0; i < device->ntables; i++)
		find_chunks(&device->tables[i], compilers[same ? 0 : i], !same);
	return NULL;
}

static const char *
make(Maker *maker, const WindowSource *sources, int n)
{
	WindowDevice *device = maker->device;
	const char *refusal = find_program(maker, sources, n);

	if (refusal != NULL)
		return refusal;
	if (!gpuagg_vector_fits_device(&device->compiler->program) ||
		!gpuagg_compiled_for_device(&device->compiler->program, true) ||
		gpuagg_device_codes_refusal(&device->compiler->program) != NULL)
		return "an expression below the window is the CPU's";
	device->program = device->compiler->program;
	if (!add_orders(maker))
		return "windows of one order have other keys";
	add_functions(maker);
	add_columns(maker, sources, n);
	return maker->full || !is_complete(device) ? "a column of the window is the CPU's" : NULL;
}

static void
init_tables(WindowDevice *device)
{
	PlanState **plans = gpuagg_window_table_plans(&device->stack.child, &device->ntables);

	device->tables = palloc0(device->ntables * sizeof(WindowDeviceTable));
	for (int i = 0; i < device->ntables; i++)
	{
		WindowDeviceTable *table = &device->tables[i];

		table->device = device;
		table->plan = plans[i];
		table->scan = (SeqScanState *) gpuagg_window_table_scan(plans[i]);
		table->relation = table->scan->ss.ss_currentRelation;
	}
}

WindowDevice *
gpuagg_window_device_make(PlanState *window, const WindowSource *sources, int n,
						  const char **refusal)
{
	WindowScanState *node = (WindowScanState *) window;
	WindowStack stack;
	MemoryContext old;
	Maker *maker;
	WindowDevice *device;

	*refusal = gpuagg_window_stack_find(node, &stack);
	if (*refusal == NULL)
		*refusal = find_refusal(&stack, n);
	if (*refusal != NULL)
		return NULL;
	old = MemoryContextSwitchTo(window->state->es_query_cxt);
	maker = palloc0(sizeof(Maker));
	device = palloc0(sizeof(WindowDevice));
	device->node = node;
	device->stack = stack;
	maker->stack = &device->stack;
	maker->device = device;
	init_tables(device);
	*refusal = make(maker, sources, n);
	if (*refusal == NULL)
		device->parameter_states = gpuagg_compiled_states(device->compiler, window);
	pfree(maker);
	MemoryContextSwitchTo(old);
	return *refusal == NULL ? device : NULL;
}

/* ---- a run ---- */

const char *
gpuagg_window_device_refusal(const WindowDevice *device)
{
	Snapshot snapshot = device->node->css.ss.ps.state->es_snapshot;
	const char *reason = NULL;

	for (int i = 0; i < device->ntables && reason == NULL; i++)
		reason = gpuagg_page_memory_refusal(device->tables[i].relation, snapshot,
											device->tables[i].columns, device->tables[i].ncolumns);
	return reason;
}

/* Sets constants, in the current memory context; false: they cannot be known. */
static bool
know_constants(WindowDevice *device)
{
	GpuaggVectorRunner *runner;

	if (device->compiler->parameters == NIL)
		return true;
	runner = gpuagg_compiled_runner(&device->compiler->program);
	device->program.constants = runner->constants;
	return gpuagg_compiled_parameters_early(device->compiler, device->parameter_states,
											&device->node->css.ss.ps, runner);
}

bool
gpuagg_window_device_begin(WindowDevice *device)
{
	gpuagg_window_prepare(device->node);
	gpuagg_window_stack_begin(&device->stack);
	for (int f = 0; f < device->stack.nfunctions; f++)
	{
		int node;
		bool exclusive = gpuagg_window_stack_function(&device->stack, f, &node)->exclusive;

		device->window.functions[f].exclusive = exclusive;
		if (device->counters[f] != GPUAGG_WINDOW_NONE)
			device->window.functions[device->counters[f]].exclusive = exclusive;
	}
	if (!know_constants(device))
		return false;
	device->chosen = palloc(device->ntables * sizeof(bool));
	gpuagg_window_table_choose(device->stack.child, device->chosen, device->ntables);
	for (int i = 0; i < device->ntables; i++)
	{
		WindowDeviceTable *table = &device->tables[i];

		table->nexcluded = table->nrows = table->npassed = 0;
		/* constants are known before there are rows */
		if (table->chunks != NULL)
			gpuagg_chunk_filter_reset(table->chunks);
	}
	return true;
}

/* A PageChunkDone. */
static bool
is_done(void *owner, const BlockSummary *const *blocks, uint32 nrows, bool whole)
{
	WindowDeviceTable *table = owner;

	if (!gpuagg_chunk_filter_excludes(table->chunks,
									  table->constants != NULL ? table->constants
															   : table->device->program.constants,
									  blocks))
		return false;
	table->nexcluded += nrows;
	return true;
}

void
gpuagg_window_device_read(WindowDeviceTable *table, PageReader *reader)
{
	if (table->chunks == NULL)
		return;
	reader->chunk_done = is_done;
	reader->summed_up = gpuagg_chunk_filter_columns(table->chunks);
	reader->owner = table;
}

bool
gpuagg_window_device_counts(const WindowDevice *device)
{
	return device->ntables > 1 && device->program.filter != GPUAGG_VECTOR_NONE &&
		   device->stack.child->instrument != NULL;
}

/* As if a node had given its rows. */
static void
count_rows(PlanState *node, int64 n)
{
	if (node->instrument == NULL)
		return;
	InstrStartNode(node->instrument);
	InstrStopNode(node->instrument, (double) n);
}

void
gpuagg_window_device_end(WindowDevice *device)
{
	PlanState *child = device->stack.child;
	int64 npassed = 0;

	gpuagg_window_table_begin(child);
	for (int i = 0; i < device->ntables; i++)
	{
		const WindowDeviceTable *table = &device->tables[i];
		PlanState *scan = &table->scan->ss.ps;

		if (!device->chosen[i])
			continue;
		gpuagg_window_table_begin_plan(table->plan);
		count_rows(scan, table->npassed);
		gpuagg_window_table_end_plan(table->plan, table->npassed);
		InstrCountFiltered1(scan, table->nexcluded + table->nrows - table->npassed);
		npassed += table->npassed;
	}
	gpuagg_window_table_end(child, npassed);
	gpuagg_window_stack_end(&device->stack, npassed);
}

void
gpuagg_window_device_above(WindowDevice *device, PlanState *plan, int64 nrows)
{
	PlanState *window = &device->node->css.ss.ps;

	device->node->work.above = true;
	count_rows(window, nrows);
	if (plan != window)
		count_rows(plan, nrows);
}

void
gpuagg_window_device_send(WindowDevice *device)
{
	device->stack.nodes[0]->input.sends = true;
}
