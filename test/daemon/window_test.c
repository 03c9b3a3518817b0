/*
 * window_test.c
 *	  Queries with windows in gpuaggd, beside plain loops over sorted rows.
 *
 * Usage: window_test PROGRAM [SEED].  Each function's values are summed up times the rows' weights,
 * so that a value at another row's place is found; and of these products there is a number or an
 * extreme.  Those of 128 bits are beyond 64.
 */
#include "groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/float_sum.h"
#include "common/int128.h"

#define CHUNKS	  9
#define ROUNDS	  80
#define FUNCTIONS 3
#define NONE	  GPUAGG_VECTOR_NONE

/* Columns of a chunk that the tests set; each becomes the register and the value of its place here. */
enum
{
	V_SHORT,	 /* INT16 */
	V_PARTITION, /* INT32 */
	V_INT,		 /* INT32 */
	V_ORDER,	 /* INT64 */
	V_WEIGHT,	 /* INT64, never NULL */
	V_FLOAT,	 /* FLOAT32 */
	V_DOUBLE,	 /* FLOAT64 */
	VALUES
};

static const int column_of[VALUES] = {2, 4, 5, 6, 7, 10, 12};
static const uint8_t type_of[VALUES] = {GPUAGG_VECTOR_INT16,  GPUAGG_VECTOR_INT32,
										GPUAGG_VECTOR_INT32,  GPUAGG_VECTOR_INT64,
										GPUAGG_VECTOR_INT64,  GPUAGG_VECTOR_FLOAT32,
										GPUAGG_VECTOR_FLOAT64};

typedef struct Row
{
	double value[VALUES]; /* all of them are small */
	bool isnull[VALUES];
	bool counts;
	uint64_t place;
	double result[FUNCTIONS];
	bool result_null[FUNCTIONS];
} Row;

static uint64_t state = 1;
static const GpuaggWindow *sorting; /* by keys of one of its orders: */
static const GpuaggWindowOrder *by;

static uint64_t
next(uint64_t below)
{
	return random_bits(&state) % below;
}

/* ---- chunks ---- */

static void
make_row(Row *row, uint32_t partitions, uint32_t orders, bool nulls)
{
	memset(row, 0, sizeof(*row));
	row->value[V_SHORT] = (double) next(7) - 3;
	row->value[V_PARTITION] = (double) next(partitions) * 3 - 1000;
	row->value[V_INT] = (double) next(2001) - 1000;
	row->value[V_ORDER] = (double) ((int64_t) next(orders) * 64 - 100000);
	row->value[V_WEIGHT] = (double) (1 + next(900));
	row->value[V_FLOAT] = ((double) next(400) - 200) / 8;
	row->value[V_DOUBLE] = ((double) next(4000) - 2000) / 16;
	for (int v = 0; v < VALUES; v++)
		row->isnull[v] = nulls && v != V_WEIGHT && next(9) == 0;
}

/* The values less the column's shift. */
static void
set_values(Chunk *chunk, const Row *rows, int v, int32_t shift)
{
	uint64_t *valid = calloc(1, gpuagg_blob_bitmap_bytes(chunk->nrows));
	char *values = calloc(chunk->nrows, 8);
	bool any = false;

	for (uint32_t i = 0; i < chunk->nrows; i++)
	{
		double x = rows[i].value[v];

		if (rows[i].isnull[v])
			any = true;
		else
			valid[i / 64] |= UINT64_C(1) << i % 64;
		switch (type_of[v])
		{
			case GPUAGG_VECTOR_INT16:
				((int16_t *) values)[i] = (int16_t) x;
				break;
			case GPUAGG_VECTOR_INT32:
				((int32_t *) values)[i] = (int32_t) x - shift;
				break;
			case GPUAGG_VECTOR_INT64:
				((int64_t *) values)[i] = (int64_t) x;
				break;
			case GPUAGG_VECTOR_FLOAT32:
				((float *) values)[i] = (float) x;
				break;
			default:
				((double *) values)[i] = x;
		}
	}
	chunk_set(chunk, column_of[v], values, any ? valid : NULL);
	if (type_of[v] == GPUAGG_VECTOR_INT32)
		chunk->columns[column_of[v]].shift = shift;
	free(valid);
	free(values);
}

/* Small ones as those of a table's first strings, others so that stored values are no longer small. */
static int32_t
any_shift(void)
{
	uint64_t choice = next(4);

	return choice == 0	 ? 0
		   : choice == 1 ? (int32_t) next(70000)
		   : choice == 2 ? INT32_MAX - 10000
						 : (int32_t) next(UINT32_MAX) / 2;
}

/*
 * Chunks with these rows, one behind the other, where shifts are added if so wanted; returns how
 * many.
 */
static uint64_t
make_chunks(Chunk *chunks, const uint32_t *sizes, int n, bool shifted, Row *rows)
{
	uint32_t partitions = (uint32_t) (next(3) == 0 ? 1 : 1 + next(300));
	uint32_t orders = (uint32_t) (next(3) == 0 ? 3 : 1 + next(1000000));
	bool nulls = next(2);
	uint64_t nrows = 0;
	uint64_t place = 0;

	for (int c = 0; c < n; c++)
	{
		chunk_make(&chunks[c], sizes[c], next(2));
		for (uint32_t i = 0; i < sizes[c]; i++)
		{
			Row *row = &rows[nrows + i];

			make_row(row, partitions, orders, nulls);
			row->counts = chunks[c].rows == NULL || (chunks[c].rows[i / 64] >> i % 64 & 1);
			row->place = place + i;
		}
		for (int v = 0; v < VALUES; v++)
			set_values(&chunks[c], rows + nrows, v, shifted ? any_shift() : 0);
		nrows += sizes[c];
		place += (sizes[c] + 255) / 256 * 256;
	}
	return nrows;
}

/* ---- questions ---- */

typedef struct Windowed
{
	Question question; /* aggregates, keys and types are of the second program */
	GpuaggWindow window;
	GpuaggVectorInstruction instructions[VALUES + 2];
	GpuaggVectorInstruction above[8 * FUNCTIONS + 4];
	GpuaggVectorConstant constant;
	GpuaggVectorConstant above_constants[2]; /* what weights are compared with, and `scale` */
	uint8_t columns[CHUNK_COLUMNS];
	uint8_t above_columns[FUNCTIONS + 2];
	double least;  /* rows with more in V_INT pass, if it is filtered */
	double weight; /* rows of less weight pass above, if that is */
	double scale;  /* of products of 128 bits */
	bool filtered;
	bool filtered_above;
	bool asks_rows; /* functions' values, weight and partition of the rows that pass, not sums */
} Windowed;

static GpuaggVectorInstruction
instruction(int op, int type, uint16_t out, uint16_t a, uint16_t b)
{
	GpuaggVectorInstruction in = {0};

	in.op = (uint8_t) op;
	in.type = (uint8_t) type;
	in.out = out;
	in.a = a;
	in.b = b;
	in.c = in.mask = NONE;
	return in;
}

static GpuaggVectorInstruction
source(int op, int type, uint16_t out, uint32_t number)
{
	GpuaggVectorInstruction in = instruction(op, type, out, NONE, NONE);

	in.arg = number;
	return in;
}

static void
random_function(GpuaggWindowFunction *function)
{
	static const int arguments[] = {V_SHORT, V_INT, V_WEIGHT, V_FLOAT, V_DOUBLE};
	static const uint8_t kinds[] = {GPUAGG_INT32, GPUAGG_INT32, GPUAGG_INT64, GPUAGG_FLOAT32,
									GPUAGG_FLOAT64};
	uint64_t argument = next(5);

	memset(function, 0, sizeof(*function));
	function->op = (uint8_t) (1 + next(4));
	function->kind = kinds[argument];
	function->value = (uint16_t) arguments[argument];
	function->reach = (uint8_t) next(4);
	function->exclusive = function->reach == GPUAGG_REACH_ROW && next(4) == 0;
	if (function->op == GPUAGG_COUNT && next(2))
	{
		function->value = GPUAGG_WINDOW_NONE;
		function->heads = (uint8_t) next(2);
	}
	if (function->op == GPUAGG_SUM && function->kind == GPUAGG_FLOAT64)
		function->average = (uint8_t) next(2);
}

/* Keys of an order that has none yet. */
static void
random_keys(GpuaggWindow *window, GpuaggWindowOrder *order)
{
	static const uint16_t orders[] = {V_ORDER, V_DOUBLE, V_FLOAT, V_INT, V_SHORT};
	GpuaggWindowKey *keys = window->keys + window->nkeys;

	order->first = (uint16_t) window->nkeys;
	if (next(4) > 0)
		keys[order->nkeys++].value = V_PARTITION;
	if (next(4) == 0)
		keys[order->nkeys++].value = V_SHORT;
	order->npartition = order->nkeys;
	/* each at most once: two of FLOAT64 and more are the CPU's, and so are five with both floats */
	for (uint64_t n = next(8) == 0 ? 0 : 1 + next(order->nkeys > 1 ? 2 : 3), first = next(5); n > 0;
		 n--)
		keys[order->nkeys++].value = orders[(first + n) % 5];
	order->npeers = order->nkeys;
	for (uint32_t k = 0; k < order->nkeys; k++)
	{
		keys[k].descending = next(2);
		keys[k].nulls_first = next(2);
	}
	window->nkeys += order->nkeys;
}

/* One order, or several, some of which need no sort. */
static void
random_orders(GpuaggWindow *window)
{
	window->norders = (uint32_t) (next(2) ? 1 : 1 + next(3));
	for (uint32_t o = 0; o < window->norders; o++)
	{
		GpuaggWindowOrder *order = &window->orders[o];

		if (o == 0 || next(3) > 0)
		{
			random_keys(window, order);
			continue;
		}
		*order = window->orders[o - 1];
		order->npartition = (uint16_t) next(order->nkeys + 1);
		order->npeers = (uint16_t) (order->npartition + next(order->nkeys - order->npartition + 1));
	}
}

static void
random_window(GpuaggWindow *window, uint64_t places)
{
	memset(window, 0, sizeof(*window));
	window->places = places;
	window->nvalues = VALUES;
	for (uint16_t v = 0; v < VALUES; v++)
		window->values[v] = v;
	random_orders(window);
	window->nfunctions = FUNCTIONS;
	for (uint16_t f = 0; f < FUNCTIONS; f++)
	{
		random_function(&window->functions[f]);
		window->functions[f].order = (uint16_t) next(window->norders);
		window->columns[f] = (GpuaggWindowColumn){GPUAGG_WINDOW_NONE, f};
	}
	window->columns[FUNCTIONS] = (GpuaggWindowColumn){V_WEIGHT, GPUAGG_WINDOW_NONE};
	window->columns[FUNCTIONS + 1] = (GpuaggWindowColumn){V_PARTITION, GPUAGG_WINDOW_NONE};
}

static GpuaggVectorConstant
integer(int type, int64_t value)
{
	GpuaggVectorConstant constant = {0};

	constant.type = (uint8_t) type;
	constant.u.integer = gpuagg_int128_from(value);
	return constant;
}

static void
set_program(GpuaggVectorProgram *program, const GpuaggVectorInstruction *instructions, uint32_t n,
			const GpuaggVectorConstant *constant, const uint8_t *columns, uint32_t ncolumns)
{
	memset(program, 0, sizeof(*program));
	program->instructions = instructions;
	program->ninstructions = n;
	program->filter = NONE;
	program->nregisters = n;
	program->constants = constant;
	program->nconstants = 1;
	program->columns = columns;
	program->ncolumns = ncolumns;
}

/* The registers 0 to VALUES - 1 have the values; a filter is V_INT > least. */
static void
make_program(Windowed *w)
{
	uint32_t n = 0;

	for (int k = 0; k < CHUNK_COLUMNS; k++)
		w->columns[k] = (uint8_t) (1 + k / 2);
	w->filtered = next(2);
	w->least = (double) next(1600) - 1000;
	w->constant = integer(GPUAGG_VECTOR_INT32, (int64_t) w->least);
	for (uint16_t v = 0; v < VALUES; v++)
		w->instructions[n++] = source(GPUAGG_VECTOR_COLUMN, type_of[v], v, (uint32_t) column_of[v]);
	w->instructions[n++] = source(GPUAGG_VECTOR_CONSTANT, GPUAGG_VECTOR_INT32, VALUES, 0);
	w->instructions[n++] = instruction(GPUAGG_VECTOR_GT, GPUAGG_VECTOR_INT32, VALUES + 1, V_INT,
									   VALUES);
	set_program(&w->question.query.program, w->instructions, n, &w->constant, w->columns,
				CHUNK_COLUMNS);
	if (w->filtered)
	{
		w->question.query.program.filter = VALUES + 1;
		w->question.query.program.nfilter = n;
	}
}

/* The sum of products, and of these the number or an extreme. */
static void
add_aggregates(Windowed *w, uint16_t of, uint16_t count_of)
{
	static const uint8_t ops[] = {GPUAGG_COUNT, GPUAGG_MIN, GPUAGG_MAX};
	Question *question = &w->question;
	uint8_t op = ops[next(3)];

	question->aggregates[question->query.naggregates++] =
		(GpuaggQueryAggregate){GPUAGG_SUM, {0}, of, NONE};
	question->aggregates[question->query.naggregates++] =
		(GpuaggQueryAggregate){op, {0}, op == GPUAGG_COUNT ? count_of : of, NONE};
}

/* Products of each function and the weight; the filter is weight < a constant. */
static void
make_above(Windowed *w)
{
	GpuaggVectorInstruction *in = w->above;
	uint16_t weight = 1;
	uint16_t n = 3;

	for (uint16_t f = 0; f < FUNCTIONS; f++)
		w->above_columns[f] = (uint8_t) gpuagg_window_result(&w->window.functions[f]);
	w->above_columns[FUNCTIONS] = GPUAGG_VECTOR_INT64;
	w->above_columns[FUNCTIONS + 1] = GPUAGG_VECTOR_INT32;
	w->filtered_above = next(2);
	w->weight = (double) next(1000);
	w->scale = (double) (INT64_C(1) << 60) * (next(2) ? -1 : 1);
	w->above_constants[0] = integer(GPUAGG_VECTOR_INT64, (int64_t) w->weight);
	w->above_constants[1] = integer(GPUAGG_VECTOR_INT128, (int64_t) w->scale);
	in[0] = source(GPUAGG_VECTOR_CONSTANT, GPUAGG_VECTOR_INT64, 0, 0);
	in[1] = source(GPUAGG_VECTOR_COLUMN, GPUAGG_VECTOR_INT64, weight, FUNCTIONS);
	in[2] = instruction(GPUAGG_VECTOR_LT, GPUAGG_VECTOR_INT64, 2, weight, 0);
	for (uint16_t f = 0; f < FUNCTIONS; f++)
	{
		int type = w->above_columns[f];
		int to = type == GPUAGG_VECTOR_INT32	 ? GPUAGG_VECTOR_INT64
				 : type == GPUAGG_VECTOR_FLOAT32 ? GPUAGG_VECTOR_FLOAT64
												 : type;
		uint16_t value = n;
		uint16_t factor = weight;

		in[n] = source(GPUAGG_VECTOR_COLUMN, type, n, f);
		w->window.out[f] = n;
		n++;
		if (to != type)
		{
			in[n] = instruction(GPUAGG_VECTOR_CAST, type, n, value, NONE);
			in[n].to = (uint8_t) to;
			value = n++;
		}
		if (to != GPUAGG_VECTOR_INT64)
		{
			in[n] = instruction(GPUAGG_VECTOR_CAST, GPUAGG_VECTOR_INT64, n, weight, NONE);
			in[n].to = (uint8_t) to;
			factor = n++;
		}
		in[n] = instruction(GPUAGG_VECTOR_MUL, to, n, value, factor);
		n++;
		if (to == GPUAGG_VECTOR_INT128)
		{
			in[n] = source(GPUAGG_VECTOR_CONSTANT, GPUAGG_VECTOR_INT128, n, 1);
			in[n + 1] = instruction(GPUAGG_VECTOR_MUL, to, n + 1, n - 1, n);
			n += 2;
		}
		add_aggregates(w, n - 1, value);
	}
	in[n] = source(GPUAGG_VECTOR_COLUMN, GPUAGG_VECTOR_INT32, n, FUNCTIONS + 1);
	n++;
	set_program(&w->question.query.above, w->above, n, w->above_constants, w->above_columns,
				FUNCTIONS + 2);
	w->question.query.above.nconstants = 2;
	if (w->filtered_above)
	{
		w->question.query.above.filter = 2;
		w->question.query.above.nfilter = 3;
	}
	if (!CHECK(gpuagg_vector_check(&w->question.query.above, w->question.types) == -1))
		return;
	w->window.out[FUNCTIONS] = weight;
	w->window.out[FUNCTIONS + 1] = (uint16_t) (n - 1);
	w->asks_rows = next(3) == 0;
	if (w->asks_rows)
	{
		w->window.nout = FUNCTIONS + 2;
		w->question.query.naggregates = 0;
		w->question.query.parts = next(2) ? 1 : 1 + next(7);
		w->question.query.part = next(w->question.query.parts);
	}
	else if (next(2))
	{
		uint16_t key = (uint16_t) (n - 1);

		question_group(&w->question, &key, 1);
	}
}

static void
windowed_make(Windowed *w, uint64_t places)
{
	memset(w, 0, sizeof(*w));
	w->question.query.parts = 1;
	random_window(&w->window, places);
	w->question.query.window = &w->window;
	make_program(w);
	make_above(w);
}

/* ---- what loops find ---- */

static int
compare_values(const Row *a, const Row *b, const GpuaggWindowKey *key)
{
	int v = key->value;
	int sign = key->descending ? -1 : 1;

	if (a->isnull[v] || b->isnull[v])
		return a->isnull[v] == b->isnull[v] ? 0 : a->isnull[v] == (key->nulls_first != 0) ? -1 : 1;
	return a->value[v] == b->value[v] ? 0 : a->value[v] < b->value[v] ? -sign : sign;
}

/* Which of the order's first n keys differ; 0: none. */
static int
compare_keys(const Row *a, const Row *b, uint32_t n)
{
	int order = 0;

	for (uint32_t k = 0; k < n && order == 0; k++)
		order = compare_values(a, b, &sorting->keys[by->first + k]);
	return order;
}

/* Equal rows stay in the order of their places. */
static int
compare_rows(const void *left, const void *right)
{
	const Row *a = left;
	const Row *b = right;
	int order = compare_keys(a, b, by->nkeys);

	return order != 0 ? order : a->place < b->place ? -1 : 1;
}

static bool
passes_above(const Windowed *w, const Row *row)
{
	return !w->filtered_above || row->value[V_WEIGHT] < w->weight;
}

/* The values up to each row, or before it. */
static void
run_function(const GpuaggWindowFunction *function, Row *rows, uint64_t n, double *values,
			 bool *isnull)
{
	bool counts = function->op == GPUAGG_COUNT;
	double value = 0;
	bool any = false;
	double number = 0;

	for (uint64_t i = 0; i < n; i++)
	{
		bool head = i == 0 || compare_keys(&rows[i - 1], &rows[i], by->npartition) != 0;
		bool peers = i == 0 || compare_keys(&rows[i - 1], &rows[i], by->npeers) != 0;
		bool takes = function->value == GPUAGG_WINDOW_NONE ? !function->heads || head || peers
														   : !rows[i].isnull[function->value];
		double x = function->value == GPUAGG_WINDOW_NONE ? 0 : rows[i].value[function->value];

		if (head)
		{
			value = number = 0;
			any = false;
		}
		/* sums are small, and so exact */
		values[i] = function->average && any ? value / number : value;
		isnull[i] = !any && !counts;
		if (takes)
		{
			value = counts										  ? value + 1
					: function->op == GPUAGG_SUM				  ? value + x
					: !any										  ? x
					: (function->op == GPUAGG_MIN) == (x < value) ? x
																  : value;
			any = true;
			number++;
		}
		if (!function->exclusive)
		{
			values[i] = function->average && any ? value / number : value;
			isnull[i] = !any && !counts;
		}
	}
}

/* The row that a row reaches. */
static uint64_t
reached(const GpuaggWindowFunction *function, const Row *rows, uint64_t n, uint64_t i)
{
	uint32_t keys = function->reach == GPUAGG_REACH_PARTITION ? by->npartition : by->npeers;

	if (function->reach == GPUAGG_REACH_FIRST_PEER)
		while (i > 0 && compare_keys(&rows[i - 1], &rows[i], keys) == 0)
			i--;
	else if (function->reach != GPUAGG_REACH_ROW)
		while (i + 1 < n && compare_keys(&rows[i], &rows[i + 1], keys) == 0)
			i++;
	return i;
}

/* Adds to the sum of products, and to their number or extreme. */
static void
add_product(GpuaggQueryTotal *totals, int op, int type, double product)
{
	GpuaggQueryTotal one;
	uint64_t bits;

	gpuagg_query_total_init(&one);
	one.reduced.n = 1;
	memcpy(&bits, &product, sizeof(bits));
	one.reduced.sum = type == GPUAGG_VECTOR_FLOAT64 ? gpuagg_int128_from(gpuagg_order_key64(bits))
													: gpuagg_int128_narrow((__int128) product);
	gpuagg_query_total_merge(&totals[1], &one, op, type);
	if (type == GPUAGG_VECTOR_FLOAT64)
	{
		totals[0].reduced.n++;
		gpuagg_float_sum_deposit(gpuagg_float_sum_of(&totals[0].reduced.f), product, 1);
		return;
	}
	one.high = product < 0 ? -1 : 0;
	gpuagg_query_total_merge(&totals[0], &one, GPUAGG_SUM, type);
}

/* What is added up of a function's value. */
static double
product_of(const Windowed *w, const Row *row, int type, double value)
{
	value *= row->value[V_WEIGHT];
	return type == GPUAGG_VECTOR_INT128 ? value * w->scale : value;
}

/* Of the rows in an order: sums up one of its functions.  Asked rows get their values. */
static void
find_function(const Windowed *w, int f, Row *rows, uint64_t n, GpuaggQueryTotal *totals)
{
	double *values = calloc(n + 1, sizeof(double));
	bool *isnull = calloc(n + 1, sizeof(bool));
	const GpuaggWindowFunction *function = &w->window.functions[f];
	int type = w->asks_rows ? 0 : w->question.types[w->question.aggregates[2 * f].value];
	uint64_t at = 0;

	run_function(function, rows, n, values, isnull);
	for (uint64_t i = 0; i < n; i++)
	{
		/* those of the same peers or partition reach the same row */
		at = i > at || function->reach == GPUAGG_REACH_ROW || i == 0 ||
					 function->reach == GPUAGG_REACH_FIRST_PEER
				 ? reached(function, rows, n, i)
				 : at;
		rows[i].result[f] = values[at];
		rows[i].result_null[f] = isnull[at];
		if (!w->asks_rows && !isnull[at] && passes_above(w, &rows[i]))
			add_product(totals + 2 * f, w->question.aggregates[2 * f + 1].op, type,
						product_of(w, &rows[i], type, values[at]));
	}
	gpuagg_float_sum_propagate(gpuagg_float_sum_of(&totals[2 * f].reduced.f));
	free(values);
	free(isnull);
}

/* Sorts the rows that pass, and sums up; returns how many they are. */
static uint64_t
find_totals(const Windowed *w, Row *rows, uint64_t nrows, GpuaggQueryTotal *totals)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < nrows; i++)
		if (rows[i].counts &&
			(!w->filtered || (!rows[i].isnull[V_INT] && rows[i].value[V_INT] > w->least)))
			rows[n++] = rows[i];
	sorting = &w->window;
	for (uint32_t o = 0; o < w->window.norders; o++)
	{
		by = &w->window.orders[o];
		qsort(rows, n, sizeof(Row), compare_rows);
		for (int f = 0; f < FUNCTIONS; f++)
			if (w->window.functions[f].order == o)
				find_function(w, f, rows, n, totals);
	}
	return n;
}

/* ---- the answer ---- */

static bool
answer_has(const Lease *lease, const Windowed *w, const GpuaggQueryTotal *totals, uint32_t nchunks,
		   const GpuaggReply *reply)
{
	const Question *question = &w->question;
	GpuaggQueryTotal found[MAX_AGGREGATES];
	uint64_t at = gpuagg_query_groups_at(nchunks);
	GpuaggReader reader = {(const uint8_t *) lease->base + ANSWER_AT + at,
						   reply->u.query.bytes - at, 0};
	uint64_t ngroups = 0;

	for (int a = 0; a < MAX_AGGREGATES; a++)
		gpuagg_query_total_init(&found[a]);
	if (question->query.nkeys > 0)
		return groups_merge(lease, question, nchunks, reply, found, &ngroups) &&
			   totals_are_equal(question, totals, found);
	for (uint32_t a = 0; a < question->query.naggregates; a++)
		if (!gpuagg_query_total_read(&reader, question->aggregates[a].op,
									 question->types[question->aggregates[a].value], &found[a]))
			return false;
	return reply->u.query.ngroups == 1 && reader.left == 0 &&
		   totals_are_equal(question, totals, found);
}

/* A value of those that rows have in an answer. */
static double
out_value(const char *values, int type, uint64_t i)
{
	switch (type)
	{
		case GPUAGG_VECTOR_INT32:
			return ((const int32_t *) values)[i];
		case GPUAGG_VECTOR_INT64:
			return (double) ((const int64_t *) values)[i];
		case GPUAGG_VECTOR_INT128:
			return (double) gpuagg_int128_wide(((const GpuaggInt128 *) values)[i]);
		case GPUAGG_VECTOR_FLOAT32:
			return ((const float *) values)[i];
		default:
			return ((const double *) values)[i];
	}
}

/* Whether the answer is its part of the rows that pass above, in their order; NULLs, and values where there are some. */
static bool
answer_has_rows(const Lease *lease, const Windowed *w, const Row *rows, uint64_t n,
				uint32_t nchunks, const GpuaggReply *reply)
{
	const char *at = lease->base + ANSWER_AT + gpuagg_query_groups_at(nchunks);
	uint64_t given = reply->u.query.ngroups;
	uint32_t part = w->question.query.part;
	uint32_t parts = w->question.query.parts;
	bool right = reply->u.query.incomplete == 0;
	uint64_t npassed = 0;
	uint64_t first;
	uint64_t end;

	for (uint64_t i = 0; i < n; i++)
		npassed += passes_above(w, &rows[i]);
	first = npassed * part / parts;
	end = npassed * (part + 1) / parts;
	right &= given == end - first;
	for (int c = 0; c < FUNCTIONS + 2 && right; c++)
	{
		int type = w->question.types[w->window.out[c]];
		uint64_t bytes = gpuagg_window_out_bytes(type, given);
		const uint64_t *valid = (const uint64_t *) (at + bytes -
													gpuagg_window_aligned((given + 63) / 64 * 8));
		uint64_t k = 0;

		for (uint64_t i = 0; i < n && right; i++)
		{
			bool isnull = c < FUNCTIONS ? rows[i].result_null[c]
										: c > FUNCTIONS && rows[i].isnull[V_PARTITION];
			double value = c < FUNCTIONS	? rows[i].result[c]
						   : c == FUNCTIONS ? rows[i].value[V_WEIGHT]
											: rows[i].value[V_PARTITION];

			uint64_t row = k - first;

			if (!passes_above(w, &rows[i]) || k++ < first || k > end)
				continue;
			right = isnull == !(valid[row / 64] >> row % 64 & 1) &&
					(isnull || out_value(at, type, row) == value);
		}
		at += bytes;
	}
	return right && at - (lease->base + ANSWER_AT) == (int64_t) reply->u.query.bytes;
}

static void
print_window(const Windowed *w)
{
	printf("keys");
	for (uint32_t k = 0; k < w->window.nkeys; k++)
		printf(" %u%s%s", w->window.keys[k].value, w->window.keys[k].descending ? " desc" : "",
			   w->window.keys[k].nulls_first ? " nulls first" : "");
	printf("; orders");
	for (uint32_t o = 0; o < w->window.norders; o++)
		printf(" (%u of %u, partition %u, peers %u)", w->window.orders[o].nkeys,
			   w->window.orders[o].first, w->window.orders[o].npartition,
			   w->window.orders[o].npeers);
	printf("; functions");
	for (int f = 0; f < FUNCTIONS; f++)
		printf(" order %u: %u(%u) kind %u reach %u exclusive %u heads %u average %u",
			   w->window.functions[f].order, w->window.functions[f].op,
			   w->window.functions[f].value, w->window.functions[f].kind,
			   w->window.functions[f].reach, w->window.functions[f].exclusive,
			   w->window.functions[f].heads, w->window.functions[f].average);
	printf("; %u keys of groups%s%s\n", w->question.query.nkeys, w->filtered ? ", filtered" : "",
		   w->filtered_above ? ", filtered above" : "");
	if (w->asks_rows)
		printf("rows, part %u of %u\n", w->question.query.part, w->question.query.parts);
}

static bool
window_is_right(int fd, const Lease *lease, const Windowed *w, const Chunk *chunks,
				uint32_t nchunks, Row *rows, uint64_t nrows)
{
	GpuaggQueryTotal totals[MAX_AGGREGATES];
	GpuaggQueryPlaces places;
	GpuaggRequest request;
	GpuaggReply reply;
	GpuaggReason reason;
	uint64_t n;

	for (int a = 0; a < MAX_AGGREGATES; a++)
		gpuagg_query_total_init(&totals[a]);
	query_init(&request, lease, &w->question, chunks, nchunks, &places);
	reason = client_call(fd, &request, &reply);
	if (reason != GPUAGG_OK)
	{
		printf("window: %s\n", gpuagg_reason_name(reason));
		print_window(w);
		return false;
	}
	n = find_totals(w, rows, nrows, totals);
	if (reply.u.query.nrows == n &&
		(w->asks_rows ? answer_has_rows(lease, w, rows, n, nchunks, &reply)
					  : answer_has(lease, w, totals, nchunks, &reply)))
		return true;
	printf("%llu rows, not %llu\n", (unsigned long long) reply.u.query.nrows,
		   (unsigned long long) n);
	print_window(w);
	return false;
}
static uint64_t
places_of(const uint32_t *sizes, int n)
{
	uint64_t places = 0;

	for (int i = 0; i < n; i++)
		places += (sizes[i] + 255) / 256 * 256;
	return places;
}

/* Random windows over random chunks, at sizes around a tile's, a block's and a bitmap's. */
static void
test_windows(const char *program)
{
	static const uint32_t sizes[] = {1, 31, 64, 255, 256, 257, 1023, 1024, 1025, 4095, 4097, 9000};
	Daemon d;
	Lease lease;
	int fd = client_start(&d, program, NULL, &lease);
	Row *rows = calloc(CHUNKS * 9000, sizeof(Row));
	int wrong = 0;

	queries_tame(true);
	for (int round = 0; round < ROUNDS && wrong < 5; round++)
	{
		Chunk chunks[CHUNKS];
		uint32_t of[CHUNKS];
		int n = 1 + (int) next(CHUNKS);
		Windowed w;
		uint64_t nrows;
		bool shifted = next(2);

		for (int c = 0; c < n; c++)
			of[c] = sizes[next(sizeof(sizes) / sizeof(sizes[0]))];
		nrows = make_chunks(chunks, of, n, shifted, rows);
		for (int c = 0; c < n; c++)
			CHECK(chunk_put(fd, &lease, &chunks[c]) == GPUAGG_OK);
		windowed_make(&w, places_of(of, n));
		if (shifted)
			question_shift(&w.question);
		if (!window_is_right(fd, &lease, &w, chunks, (uint32_t) n, rows, nrows))
		{
			printf("round %d\n", round);
			wrong++;
		}
		for (int c = 0; c < n; c++)
		{
			CHECK(chunk_drop(fd, &chunks[c]) == CHUNK_COLUMNS);
			chunk_forget(&chunks[c]);
		}
	}
	CHECK(wrong == 0);
	free(rows);
	CHECK(client_end(&d, fd, &lease));
}

/* Requests that are none; chunks that are stale; rows that are flagged; floats too far apart. */
static void
test_refusals(const char *program)
{
	static const uint32_t sizes[] = {300, 700};
	Daemon d;
	Lease lease;
	Chunk chunks[2];
	Row rows[1000];
	Windowed w;
	Windowed wrong;
	GpuaggQueryPlaces places;
	GpuaggRequest request;
	GpuaggReply reply;
	double far[300];
	int fd = client_start(&d, program, NULL, &lease);

	queries_tame(true);
	(void) make_chunks(chunks, sizes, 2, false, rows);
	for (int c = 0; c < 2; c++)
		CHECK(chunk_put(fd, &lease, &chunks[c]) == GPUAGG_OK);
	do
		windowed_make(&w, places_of(sizes, 2));
	while (w.window.nkeys == 0);

#define REFUSED_WITH(change)                                               \
	do                                                                     \
	{                                                                      \
		wrong = w;                                                         \
		wrong.question.query.window = &wrong.window;                       \
		change;                                                            \
		query_init(&request, &lease, &wrong.question, chunks, 2, &places); \
		CHECK(client_refused(fd, &request));                               \
	} while (0)

	REFUSED_WITH(wrong.window.places += 8);
	REFUSED_WITH(wrong.window.places = UINT64_C(1) << 32);
	REFUSED_WITH(wrong.window.nvalues = GPUAGG_WINDOW_VALUES + 1);
	REFUSED_WITH(wrong.window.nkeys = GPUAGG_WINDOW_KEYS + 1);
	REFUSED_WITH(wrong.window.nkeys++);
	REFUSED_WITH(wrong.window.norders = 0);
	REFUSED_WITH(wrong.window.norders = GPUAGG_WINDOW_ORDERS + 1);
	REFUSED_WITH(wrong.window.orders[0].first = 1);
	REFUSED_WITH(wrong.window.orders[0].nkeys++);
	REFUSED_WITH(wrong.window.orders[0].npartition = wrong.window.orders[0].npeers + 1);
	REFUSED_WITH(wrong.window.orders[0].npeers = wrong.window.orders[0].nkeys + 1);
	REFUSED_WITH((wrong.window.orders[wrong.window.norders].first = 100, wrong.window.norders++));
	REFUSED_WITH(wrong.window.functions[0].order = (uint16_t) wrong.window.norders);
	REFUSED_WITH(wrong.window.nfunctions = GPUAGG_WINDOW_FUNCTIONS + 1);
	REFUSED_WITH(wrong.window.values[2] = 200);
	REFUSED_WITH(wrong.window.values[2] = VALUES + 1); /* a BOOL */
	REFUSED_WITH(wrong.window.keys[0].value = VALUES);
	REFUSED_WITH(wrong.window.keys[0].descending = 2);
	REFUSED_WITH(wrong.window.functions[0].op = GPUAGG_MOMENTS);
	REFUSED_WITH(wrong.window.functions[0].reach = 4);
	REFUSED_WITH(wrong.window.functions[0].value = VALUES);
	REFUSED_WITH((wrong.window.functions[0].op = GPUAGG_SUM, wrong.window.functions[0].kind = 9));
	REFUSED_WITH(
		(wrong.window.functions[0].op = GPUAGG_SUM, wrong.window.functions[0].average = 2));
	REFUSED_WITH(
		(wrong.window.functions[0].op = GPUAGG_MIN, wrong.window.functions[0].average = 1));
	REFUSED_WITH((wrong.window.functions[0] = (GpuaggWindowFunction){GPUAGG_FLOAT32, GPUAGG_SUM, 0,
																	 0, V_FLOAT, 0, 1, 0},
				  wrong.above_columns[0] = GPUAGG_VECTOR_FLOAT32));
	REFUSED_WITH(wrong.window.nout = GPUAGG_WINDOW_VALUES + 1);
	REFUSED_WITH(
		(wrong.window.nout = 1, wrong.window.out[0] = 2, wrong.question.query.naggregates = 0));
	REFUSED_WITH((wrong.window.nout = 1, wrong.question.query.naggregates = 1));
	REFUSED_WITH((wrong.window.nout = 0, wrong.question.query.nkeys = 0,
				  wrong.question.query.part = 0, wrong.question.query.parts = 2));
	REFUSED_WITH(wrong.window.spare = 1);
	REFUSED_WITH(wrong.window.columns[0].function = FUNCTIONS);
	REFUSED_WITH(wrong.window.columns[FUNCTIONS].value = V_DOUBLE);
	REFUSED_WITH((wrong.above_columns[0] = GPUAGG_VECTOR_BOOL,
				  wrong.question.query.above.columns = wrong.above_columns));
	/* more rows than it says */
	wrong = w;
	wrong.question.query.window = &wrong.window;
	wrong.window.places = 512;
	query_init(&request, &lease, &wrong.question, chunks, 2, &places);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_REFUSED);

	/* sums of floats that no window of 256 bits holds */
	for (int i = 0; i < 300; i++)
		far[i] = i % 2 ? 1e300 : 1e-300;
	CHECK(chunk_drop(fd, &chunks[0]) == CHUNK_COLUMNS);
	chunk_set(&chunks[0], column_of[V_DOUBLE], far, NULL);
	CHECK(chunk_put(fd, &lease, &chunks[0]) == GPUAGG_OK);
	wrong = w;
	wrong.question.query.window = &wrong.window;
	wrong.question.query.program.filter = NONE;
	wrong.question.query.program.nfilter = 0;
	wrong.window.functions[0] = (GpuaggWindowFunction){GPUAGG_FLOAT64, GPUAGG_SUM, 0, 0,
													   V_DOUBLE,	   0,		   0, 0};
	wrong.window.nfunctions = 1;
	wrong.question.query.naggregates = wrong.question.query.nkeys = wrong.window.nout = 0;
	wrong.question.query.above.ncolumns = wrong.question.query.above.ninstructions = 0;
	wrong.question.query.above.nregisters = wrong.question.query.above.nfilter = 0;
	wrong.question.query.above.filter = NONE;
	wrong.question.query.part = 0;
	wrong.question.query.parts = 1;
	free(chunks[0].rows);
	chunks[0].rows = NULL;
	query_init(&request, &lease, &wrong.question, chunks, 2, &places);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_CPU_ONLY);

	/* a chunk that is not there */
	CHECK(chunk_drop(fd, &chunks[1]) == CHUNK_COLUMNS);
	query_init(&request, &lease, &w.question, chunks, 2, &places);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	CHECK(reply.u.query.nstale == 1 && reply.u.query.ngroups == 0);
	for (int c = 0; c < 2; c++)
	{
		(void) chunk_drop(fd, &chunks[c]);
		chunk_forget(&chunks[c]);
	}
	CHECK(client_end(&d, fd, &lease));
}

int
main(int argc, char **argv)
{
	if (argc < 2 || argc > 3)
	{
		fprintf(stderr, "usage: %s PROGRAM [SEED]\n", argv[0]);
		return 2;
	}
	if (argc > 2)
		state = strtoull(argv[2], NULL, 10);
	printf("seed %llu\n", (unsigned long long) state);
	queries_seed(state);
	test_windows(argv[1]);
	test_refusals(argv[1]);
	return test_end();
}
