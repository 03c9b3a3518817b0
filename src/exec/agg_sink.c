/*
 * agg_sink.c
 *	  Puts the values of a GpuAgg node's vectors into states.
 *
 * Without keys, numbers of a whole vector go to the CPU engine's reductions, whose
 * total is added to the state at the end.  With keys each value goes to its group.
 */
#include "compat.h"

#include "executor/executor.h"
#include "port/pg_bitutils.h"

#include "common/int192.h"
#include "common/int_words.h"
#include "engine/cpu.h"
#include "exec/agg_dense.h"
#include "operation/accumulators.h"

/* ---- which rows ---- */

int
gpuagg_agg_sink_rows(const AggScanState *node, const AggInput *input, uint64 *wanted)
{
	const GpuaggVectorRunner *runner = node->runner;

	memcpy(wanted, runner->live, sizeof(runner->live));
	if (input->where != NULL)
	{
		const GpuaggVector *filter = &runner->registers[input->filter.reg];
		const uint64 *values = filter->values;

		for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
			wanted[w] &= values[w] & (filter->valid != NULL ? filter->valid[w] : UINT64_MAX);
	}
	if (input->argument != NULL)
	{
		const uint64 *valid = runner->registers[input->value.reg].valid;

		for (int w = 0; valid != NULL && w < GPUAGG_VECTOR_WORDS; w++)
			wanted[w] &= valid[w];
	}
	return gpuagg_vector_count(wanted);
}

static Datum
datum_at(const AggScanState *node, const AggInput *input, int row)
{
	bool isnull;

	return gpuagg_vector_datum(&node->runner->registers[input->value.reg], &input->value,
							   input->type->oid, row, &isnull);
}

static void
deposit_datum(AggScanState *node, const AggInput *input, Accumulator *acc, int row)
{
	MemoryContext old = MemoryContextSwitchTo(
		node->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);

	gpuagg_family_of(acc)->deposit(acc, gpuagg_agg_owner(node), input->type->form,
								   datum_at(node, input, row));
	MemoryContextSwitchTo(old);
}

/* The same of all wanted rows. */
static void
deposit_datums(AggScanState *node, const AggInput *input, Accumulator *acc, const uint64 *wanted)
{
	for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
		for (uint64 left = wanted[w]; left != 0; left &= left - 1)
			deposit_datum(node, input, acc, w * 64 + pg_rightmost_one_pos64(left));
}

/* ---- decimals ---- */

/* A decimal by the factor that brings it to the fast part's scale; false: not within 64 bits. */
static pg_attribute_always_inline bool
fast_decimal(const GpuaggVector *vector, GpuaggVectorType type, int64 factor, int row, int64 *fast)
{
	if (type == GPUAGG_VECTOR_INT128)
	{
		const GpuaggInt128 *value = &((const GpuaggInt128 *) vector->values)[row];

		return gpuagg_int128_is_int64(*value) &&
			   !__builtin_mul_overflow((int64) value->lo, factor, fast);
	}
	return !__builtin_mul_overflow(((const int64 *) vector->values)[row], factor, fast);
}

static pg_attribute_always_inline void
take_decimal(AggScanState *node, const AggInput *input, const GpuaggVector *vector,
			 GpuaggVectorType type, Accumulator *acc, int row)
{
	GpuaggDecimalSum *sums = &((NumericAccumulator *) acc)->sums;
	int64 fast;

	if (likely(fast_decimal(vector, type, input->factor, row, &fast)) &&
		sums->groups == (input->value.scale + 3) / 4)
	{
		gpuagg_int_sum_add(&sums->fast, fast, acc->op == GPUAGG_MOMENTS);
		gpuagg_decimal_add_scale(sums, input->value.scale, 1);
	}
	else
		deposit_datum(node, input, acc, row);
}

/* A vector's reduction into the state, of n values. */
static void
add_decimals(const AggInput *input, Accumulator *acc, const GpuaggReduced *total, int64 n)
{
	GpuaggDecimalSum *sums = &((NumericAccumulator *) acc)->sums;

	gpuagg_families[SQL_FAMILY_NUMERIC]->add_reduced(acc, NULL, total);
	gpuagg_decimal_add_scale(sums, input->value.scale, n);
}

/*
 * Values of a vector that all are fast: their sum apart, so that the state is touched
 * once.  A vector's sum stays within 2^73, that of squares within 2^136.
 */
static void
reduce_decimals(AggScanState *node, const AggInput *input, Accumulator *acc, const uint64 *wanted,
				int n)
{
	const GpuaggVector *vector = &node->runner->registers[input->value.reg];
	GpuaggDecimalSum *sums = &((NumericAccumulator *) acc)->sums;
	GpuaggVectorType type = input->value.type;
	int nrows = node->reader->nrows;
	int64 values[GPUAGG_VECTOR_ROWS];
	bool fits = sums->groups == (input->value.scale + 3) / 4;
	int m = 0;

	/* what reductions of integers set, whatever the operation */
	input->total->n = 0;
	input->total->sum = gpuagg_int128_from(0);
	memset(input->total->squares, 0, sizeof(input->total->squares));
	if (fits && type == GPUAGG_VECTOR_INT64 && acc->op == GPUAGG_SUM)
	{
		/* the factor, at most 1,000, times the sum instead of each value: within 2^83 */
		gpuagg_cpu_reduce(GPUAGG_INT64, GPUAGG_SUM, vector->values, n == nrows ? NULL : wanted,
						  nrows, input->total);
		input->total->sum = gpuagg_int128_narrow(gpuagg_int128_wide(input->total->sum) *
												 input->factor);
		add_decimals(input, acc, input->total, n);
		return;
	}
	for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
		for (uint64 left = wanted[w]; left != 0; left &= left - 1)
		{
			int row = w * 64 + pg_rightmost_one_pos64(left);

			fits &= type == GPUAGG_VECTOR_INT128
						? fast_decimal(vector, GPUAGG_VECTOR_INT128, input->factor, row, &values[m])
						: fast_decimal(vector, GPUAGG_VECTOR_INT64, input->factor, row, &values[m]);
			m++;
		}
	if (fits)
	{
		gpuagg_cpu_reduce(GPUAGG_INT64, (GpuaggOp) acc->op, values, NULL, n, input->total);
		add_decimals(input, acc, input->total, n);
		return;
	}
	deposit_datums(node, input, acc, wanted);
}

#define DECIMAL_AT(Type, row) ((const Type *) vector->values)[row]

static pg_attribute_always_inline void
take_extreme(AggScanState *node, const AggInput *input, Accumulator *acc, int row)
{
	const GpuaggVector *vector = &node->runner->registers[input->value.reg];

	gpuagg_extreme_take_decimal(acc,
								input->value.type == GPUAGG_VECTOR_INT64
									? gpuagg_int128_from(DECIMAL_AT(int64, row))
									: DECIMAL_AT(GpuaggInt128, row),
								input->value.scale);
}

/* Of the wanted rows, of which there is one, the one with the least or the greatest decimal. */
static int
extreme_row(const GpuaggVector *vector, GpuaggVectorType type, const uint64 *wanted, bool greatest)
{
	__int128 extreme = 0;
	int found = -1;

	for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
		for (uint64 left = wanted[w]; left != 0; left &= left - 1)
		{
			int row = w * 64 + pg_rightmost_one_pos64(left);
			__int128 value = type == GPUAGG_VECTOR_INT64
								 ? DECIMAL_AT(int64, row)
								 : gpuagg_int128_wide(DECIMAL_AT(GpuaggInt128, row));

			if (found >= 0 && (greatest ? value <= extreme : value >= extreme))
				continue;
			extreme = value;
			found = row;
		}
	return found;
}

/* Whether a state is the minimum or maximum of decimals. */
static bool
is_decimal_extreme(const AggInput *input, int op)
{
	return input->value.scale >= 0 && (op == GPUAGG_MIN || op == GPUAGG_MAX) &&
		   (input->value.type == GPUAGG_VECTOR_INT64 || input->value.type == GPUAGG_VECTOR_INT128);
}

/* ---- one group ---- */

/* The register's values as a column of the state's kind: themselves, or a copy. */
static const void *
column_of_kind(const AggScanState *node, const AggInput *input, GpuaggKind kind, void *room)
{
	const void *values = node->runner->registers[input->value.reg].values;

	if (input->value.type == GPUAGG_VECTOR_INT16)
	{
		for (int i = 0; i < node->reader->nrows; i++)
			((int32 *) room)[i] = ((const int16 *) values)[i];
		return room;
	}
	if (input->value.type == GPUAGG_VECTOR_FLOAT32 && kind == GPUAGG_FLOAT64)
	{
		for (int i = 0; i < node->reader->nrows; i++)
			((double *) room)[i] = ((const float *) values)[i];
		return room;
	}
	return values;
}

static void
take_all(AggScanState *node, int state, AggGroup *group)
{
	const AggInput *input = &node->inputs[state];
	Accumulator *acc = gpuagg_group_state(&gpuagg_agg_main(node)->layout, group, state);
	uint64 wanted[GPUAGG_VECTOR_WORDS];
	double room[GPUAGG_VECTOR_ROWS];
	int n = gpuagg_agg_sink_rows(node, input, wanted);

	if (n == 0)
		return;
	switch (input->feed)
	{
		case FEED_ROWS:
		case FEED_COUNT:
			((CountAccumulator *) acc)->n += n;
			break;
		case FEED_NUMBERS:
			gpuagg_cpu_reduce((GpuaggKind) acc->kind, (GpuaggOp) acc->op,
							  column_of_kind(node, input, (GpuaggKind) acc->kind, room),
							  n == node->reader->nrows ? NULL : wanted, node->reader->nrows,
							  input->total);
			break;
		case FEED_DECIMAL:
			reduce_decimals(node, input, acc, wanted, n);
			break;
		case FEED_DATUM:
			if (is_decimal_extreme(input, acc->op))
				take_extreme(node, input, acc,
							 extreme_row(&node->runner->registers[input->value.reg],
										 input->value.type, wanted, acc->op == GPUAGG_MAX));
			else
				deposit_datums(node, input, acc, wanted);
			ResetExprContext(node->css.ss.ps.ps_ExprContext);
			break;
		case FEED_DISTINCT:
			break;
	}
}

void
gpuagg_agg_sink_all(AggScanState *node, AggGroup *group, int nlive)
{
	for (int i = 0; i < node->nstates; i++)
		take_all(node, i, group);
}

/* ---- a group a row ---- */

typedef struct Deposit
{
	AggScanState *node;
	const AggInput *input;
	AggGroup *const *found;
	const uint16 *rows;
	const uint64 *wanted; /* NULL: all of rows */
	Size at;
	int n;
} Deposit;

/* Runs the statement for each wanted row `row` with its accumulator `acc`, of that type. */
#define FOR_EACH_ROW(d, Type, statement)                              \
	do                                                                \
	{                                                                 \
		for (int at_ = 0; at_ < (d)->n; at_++)                        \
		{                                                             \
			int row = (d)->rows[at_];                                 \
			Type *acc = (Type *) ((d)->found[at_] + (d)->at);         \
                                                                      \
			if ((d)->wanted != NULL && !gpuagg_bit((d)->wanted, row)) \
				continue;                                             \
			statement;                                                \
		}                                                             \
	} while (0)

static pg_attribute_always_inline void
deposit_ints(const Deposit *d, GpuaggVectorType type, bool moments)
{
	const void *values = d->node->runner->registers[d->input->value.reg].values;

#define VALUE                                                              \
	(type == GPUAGG_VECTOR_INT16   ? (int64) ((const int16 *) values)[row] \
	 : type == GPUAGG_VECTOR_INT32 ? (int64) ((const int32 *) values)[row] \
								   : ((const int64 *) values)[row])
	FOR_EACH_ROW(d, IntAccumulator, gpuagg_int_sum_add(&acc->sum, VALUE, moments));
#undef VALUE
}

static void
deposit_int_sums(const Deposit *d, bool moments)
{
	switch (d->input->value.type)
	{
		case GPUAGG_VECTOR_INT16:
			moments ? deposit_ints(d, GPUAGG_VECTOR_INT16, true)
					: deposit_ints(d, GPUAGG_VECTOR_INT16, false);
			break;
		case GPUAGG_VECTOR_INT32:
			moments ? deposit_ints(d, GPUAGG_VECTOR_INT32, true)
					: deposit_ints(d, GPUAGG_VECTOR_INT32, false);
			break;
		default:
			moments ? deposit_ints(d, GPUAGG_VECTOR_INT64, true)
					: deposit_ints(d, GPUAGG_VECTOR_INT64, false);
			break;
	}
}

static void
deposit_float_sums(const Deposit *d)
{
	const void *values = d->node->runner->registers[d->input->value.reg].values;
	void *owner = gpuagg_agg_owner(d->node);

	if (d->input->value.type == GPUAGG_VECTOR_FLOAT32)
		FOR_EACH_ROW(d, FloatAccumulator,
					 gpuagg_float_take(acc, owner, ((const float *) values)[row], 1));
	else
		FOR_EACH_ROW(d, FloatAccumulator,
					 gpuagg_float_take(acc, owner, ((const double *) values)[row], 1));
}

static void
deposit_keys(const Deposit *d, GpuaggOp op)
{
	const void *values = d->node->runner->registers[d->input->value.reg].values;
	GpuaggKind kind = (GpuaggKind) ((Accumulator *) (d->found[0] + d->at))->kind;

	if (d->input->value.type == GPUAGG_VECTOR_INT16)
		FOR_EACH_ROW(d, KeyAccumulator, gpuagg_key_take(acc, op, ((const int16 *) values)[row], 1));
	else
		FOR_EACH_ROW(d, KeyAccumulator,
					 gpuagg_key_take(acc, op, gpuagg_key_at(kind, values, row), 1));
}

static void
deposit_decimals(const Deposit *d)
{
	const GpuaggVector *vector = &d->node->runner->registers[d->input->value.reg];

	if (d->input->value.type == GPUAGG_VECTOR_INT128)
		FOR_EACH_ROW(d, Accumulator,
					 take_decimal(d->node, d->input, vector, GPUAGG_VECTOR_INT128, acc, row));
	else
		FOR_EACH_ROW(d, Accumulator,
					 take_decimal(d->node, d->input, vector, GPUAGG_VECTOR_INT64, acc, row));
}

static void
deposit_numbers(const Deposit *d, const AggGroupState *state)
{
	if (state->family == SQL_FAMILY_INT)
		deposit_int_sums(d, state->op == GPUAGG_MOMENTS);
	else if (state->family == SQL_FAMILY_FLOAT)
		deposit_float_sums(d);
	else
		deposit_keys(d, state->op);
}

void
gpuagg_agg_sink_grouped(AggScanState *node, AggGroup *const *found, const uint16 *rows, int n,
						const bool *taken)
{
	for (int i = 0; i < node->nstates; i++)
	{
		const AggGroupState *state = &gpuagg_agg_main(node)->layout.states[i];
		const AggInput *input = &node->inputs[i];
		uint64 wanted[GPUAGG_VECTOR_WORDS];
		Deposit d = {node, input, found, rows, wanted, state->at, n};

		if (taken != NULL && taken[i])
			continue;
		if (gpuagg_agg_sink_rows(node, input, wanted) == n)
			d.wanted = NULL;
		switch (input->feed)
		{
			case FEED_ROWS:
			case FEED_COUNT:
				FOR_EACH_ROW(&d, CountAccumulator, acc->n++);
				break;
			case FEED_NUMBERS:
				deposit_numbers(&d, state);
				break;
			case FEED_DECIMAL:
				deposit_decimals(&d);
				break;
			case FEED_DATUM:
				if (is_decimal_extreme(input, state->op))
					FOR_EACH_ROW(&d, Accumulator, take_extreme(node, input, acc, row));
				else
					FOR_EACH_ROW(&d, Accumulator, deposit_datum(node, input, acc, row));
				break;
			case FEED_DISTINCT:
				break;
		}
	}
	ResetExprContext(node->css.ss.ps.ps_ExprContext);
}

/* ---- sums of a group ---- */

/* Decimals of a state whose fast part has another scale than it began with. */
static void
merge_decimals(AggScanState *node, int number, Accumulator *acc, const GpuaggReduced *total)
{
	const AggGroupState *state = &gpuagg_agg_main(node)->layout.states[number];
	Accumulator *from = gpuagg_accumulator_make(CurrentMemoryContext, 0, state->family, state->op,
												state->kind);

	((NumericAccumulator *) from)->sums.groups = state->groups;
	add_decimals(&node->inputs[number], from, total, (int64) total->n);
	gpuagg_family_of(acc)->merge(acc, gpuagg_agg_owner(node), from);
	pfree(from);
}

void
gpuagg_agg_sink_words(AggScanState *node, int number, AggGroup *group, int64 n, int scale,
					  const uint64 *sum, const uint64 *squares)
{
	Accumulator *acc = gpuagg_group_state(&gpuagg_agg_main(node)->layout, group, number);
	GpuaggDecimalSum *sums = &((NumericAccumulator *) acc)->sums;

	if (n == 0)
		return;
	gpuagg_decimal_add_words(sums, n, scale, sum, squares);
	gpuagg_decimal_add_scale(sums, scale, n);
}

/* The same of a total of integers of up to 64 bits. */
static void
sink_decimals(AggScanState *node, int number, AggGroup *group, const GpuaggReduced *total)
{
	uint64 sum[GPUAGG_SUM_WORDS] = {total->sum.lo, (uint64) total->sum.hi,
									total->sum.hi < 0 ? PG_UINT64_MAX : 0};
	uint64 squares[GPUAGG_SQUARE_WORDS] = {0};

	memcpy(squares, total->squares, sizeof(total->squares));
	gpuagg_agg_sink_words(node, number, group, (int64) total->n, node->inputs[number].value.scale,
						  sum, squares);
}

void
gpuagg_agg_sink_total(AggScanState *node, int number, AggGroup *group, GpuaggReduced *total)
{
	const AggInput *input = &node->inputs[number];
	const AggGroupState *state = &gpuagg_agg_main(node)->layout.states[number];
	Accumulator *acc = gpuagg_group_state(&gpuagg_agg_main(node)->layout, group, number);

	if (input->feed == FEED_DECIMAL)
	{
		total->sum = gpuagg_int128_narrow(gpuagg_int128_wide(total->sum) * input->factor);
		gpuagg_words_multiply(total->squares, GPUAGG_INT192_WORDS,
							  (uint64) (input->factor * input->factor));
		if (((NumericAccumulator *) acc)->sums.groups == state->groups)
			add_decimals(input, acc, total, (int64) total->n);
		else
			merge_decimals(node, number, acc, total);
	}
	else if (input->feed == FEED_NUMBERS)
		gpuagg_family_of(acc)->add_reduced(acc, gpuagg_agg_owner(node), total);
	else if (input->feed == FEED_DATUM)
		sink_decimals(node, number, group, total);
	else
		((CountAccumulator *) acc)->n += (int64) total->n;
}

void
gpuagg_agg_sink_sum(AggScanState *node, int number, AggGroup *group, int64 n, __int128 sum)
{
	GpuaggReduced total;

	total.n = (uint64) n;
	total.sum = gpuagg_int128_narrow(sum);
	memset(total.squares, 0, sizeof(total.squares));
	gpuagg_agg_sink_total(node, number, group, &total);
}

/* ---- one row ---- */

void
gpuagg_agg_deposit(AggScanState *node, int number, AggGroup *group, Datum value)
{
	const AggInput *input = &node->inputs[number];
	Accumulator *acc = gpuagg_group_state(&gpuagg_agg_main(node)->layout, group, number);

	gpuagg_family_of(acc)->deposit(acc, gpuagg_agg_owner(node),
								   input->type != NULL ? input->type->form : SQL_OPAQUE, value);
}

void
gpuagg_agg_sink_row(AggScanState *node, AggGroup *group, ExprContext *econtext)
{
	for (int i = 0; i < node->nstates; i++)
	{
		const AggInput *input = &node->inputs[i];
		Datum value = (Datum) 0;
		bool isnull = false;

		if (input->feed == FEED_DISTINCT)
			continue;
		if (input->where != NULL)
		{
			value = ExecEvalExpr(input->where_state, econtext, &isnull);
			if (isnull || !DatumGetBool(value))
				continue;
		}
		if (input->argument != NULL)
			value = ExecEvalExpr(input->argument_state, econtext, &isnull);
		if (!isnull)
			gpuagg_agg_deposit(node, i, group, value);
	}
}

bool
gpuagg_agg_input_of_slot(const AggInput *input, const TupleTableSlot *slot, Datum *value)
{
	int where = input->where_column;
	int argument = input->argument_column;

	if (where >= 0 && (slot->tts_isnull[where] || !DatumGetBool(slot->tts_values[where])))
		return false;
	*value = argument >= 0 ? slot->tts_values[argument] : (Datum) 0;
	return argument < 0 || !slot->tts_isnull[argument];
}

void
gpuagg_agg_sink_values(AggScanState *node, AggGroup *group, const TupleTableSlot *slot)
{
	for (int i = 0; i < node->nstates; i++)
	{
		const AggInput *input = &node->inputs[i];
		Datum value;

		if (input->feed != FEED_DISTINCT && gpuagg_agg_input_of_slot(input, slot, &value))
			gpuagg_agg_deposit(node, i, group, value);
	}
}

void
gpuagg_agg_sink_finish(AggScanState *node)
{
	AggGroup *group;

	gpuagg_dense_fold(node);
	if (node->spec->nkeys > 0)
		return;
	group = gpuagg_groups_only(gpuagg_agg_main(node)->groups);
	for (int i = 0; i < node->nstates; i++)
	{
		AggInput *input = &node->inputs[i];
		Accumulator *acc = gpuagg_group_state(&gpuagg_agg_main(node)->layout, group, i);

		if (input->feed != FEED_NUMBERS)
			continue;
		if (gpuagg_kind_is_float((GpuaggKind) acc->kind))
			gpuagg_float_sum_propagate(gpuagg_float_sum_of(&input->total->f));
		gpuagg_family_of(acc)->add_reduced(acc, gpuagg_agg_owner(node), input->total);
		gpuagg_reduced_init(input->total);
	}
}
