/*
 * typed_state.c
 *	  The type gpu_state: states of aggregates over values, in databases with Citus.
 *
 * Citus carries states from server to server as text or, from 14 on, in binary form, and
 * `internal` has neither.  A gpu_state lies flat, as the bytes of a group (wire.h), or in
 * an aggregate as an expanded object with the group.  Each function of these aggregates is
 * the one over `internal`, with the group of such an object.  Objects of an aggregate's
 * memory context share one below it, as a context for each would be larger than most
 * states; none is freed alone.
 *
 * Users can call these functions, and make aggregates of them: a state is taken for what
 * it says it is, and refused where another is due.
 */
#include "compat.h"

#include "utils/builtins.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include "functions/aggregate_group.h"
#include "operation/call.h"

#define OBJECTS "gpuagg states"

PG_FUNCTION_INFO_V1(gpuagg_typed_in);
PG_FUNCTION_INFO_V1(gpuagg_typed_out);
PG_FUNCTION_INFO_V1(gpuagg_typed_recv);
PG_FUNCTION_INFO_V1(gpuagg_typed_send);
PG_FUNCTION_INFO_V1(gpuagg_typed_combine);

typedef struct TypedState
{
	ExpandedObjectHeader head;
	AggregateGroup *group;
	bytea *flat;	 /* between the two calls that flatten it */
	ReportForm form; /* of its last flat bytes */
} TypedState;

/*
 * Aggregates that share a state have it flattened once each, after its size has been told
 * to all of them: the work report is in the first alone, but its room in the others, too.
 */
static Size
flat_size(ExpandedObjectHeader *head)
{
	TypedState *state = (TypedState *) head;

	if (state->flat == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(head->eoh_context);

		state->flat = gpuagg_group_write(state->group, &state->form);
		MemoryContextSwitchTo(old);
	}
	return VARSIZE(state->flat);
}

static void
flatten(ExpandedObjectHeader *head, void *result, Size size)
{
	TypedState *state = (TypedState *) head;

	memcpy(result, state->flat, size);
	pfree(state->flat);
	state->flat = NULL;
}

static const ExpandedObjectMethods methods = {flat_size, flatten};

static TypedState *
state_at(Datum datum)
{
	TypedState *state = (TypedState *) DatumGetEOHP(datum);

	Assert(state->head.eoh_methods == &methods);
	return state;
}

static bool
is_expanded(Datum datum)
{
	return VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum));
}

static Datum
make_state(MemoryContext parent, AggregateGroup *group)
{
	MemoryContext context = parent->firstchild;
	TypedState *state;

	while (context != NULL && strcmp(context->name, OBJECTS) != 0)
		context = context->nextchild;
	if (context == NULL)
		context = AllocSetContextCreate(parent, OBJECTS, ALLOCSET_START_SMALL_SIZES);
	state = MemoryContextAllocZero(context, sizeof(TypedState));
	EOH_init_header(&state->head, &methods, context);
	state->group = group;
	return EOHPGetRWDatum(&state->head);
}

/* Only aggregates that these functions serve have states; read in the current context. */
static AggregateGroup *
read_flat(bytea *bytes, bool report)
{
	AggregateGroup *group = gpuagg_group_read(bytes, report);

	switch ((SqlFamily) group->acc.family)
	{
		case SQL_FAMILY_INT:
		case SQL_FAMILY_FLOAT:
		case SQL_FAMILY_NUMERIC:
		case SQL_FAMILY_INTERVAL:
		case SQL_FAMILY_KEY:
			return group;
		default:
			gpuagg_wire_refuse();
	}
}

/* The group of a state that stays as it is. */
static AggregateGroup *
group_at(Datum datum)
{
	if (is_expanded(datum))
		return state_at(datum)->group;
	return read_flat(DatumGetByteaPP(datum), true);
}

/* A state of the aggregate's own, with the one that a function has been called with. */
static Datum
own_state(MemoryContext context, Datum datum)
{
	MemoryContext old;
	AggregateGroup *group;

	if (VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(datum)))
		return datum;
	if (is_expanded(datum))
		datum = PointerGetDatum(gpuagg_group_write(state_at(datum)->group, NULL));
	old = MemoryContextSwitchTo(context);
	group = group_at(datum);
	MemoryContextSwitchTo(old);
	return make_state(context, group);
}

/* Calls a function that changes or makes the group of its first argument. */
static Datum
change(FunctionCallInfo fcinfo, MemoryContext context, Datum state, PGFunction function)
{
	Datum result;

	if (!PG_ARGISNULL(0))
		fcinfo->args[0].value = PointerGetDatum(state_at(state)->group);
	result = function(fcinfo);
	if (fcinfo->isnull)
		return (Datum) 0;
	return PG_ARGISNULL(0) ? make_state(context, (AggregateGroup *) DatumGetPointer(result))
						   : state;
}

static Datum
transition(FunctionCallInfo fcinfo, SqlFamily family, GpuaggOp op, GpuaggKind kind,
		   PGFunction function)
{
	bool window;
	MemoryContext context = gpuagg_aggregate_context(fcinfo, &window);
	Datum state = (Datum) 0;

	if (!PG_ARGISNULL(0))
	{
		const Accumulator *acc;

		state = own_state(context, PG_GETARG_DATUM(0));
		acc = &state_at(state)->group->acc;
		if (acc->family != family || acc->op != op || acc->kind != kind)
			gpuagg_wire_refuse();
	}
	return change(fcinfo, context, state, function);
}

Datum
gpuagg_typed_combine(PG_FUNCTION_ARGS)
{
	bool window;
	MemoryContext context = gpuagg_aggregate_context(fcinfo, &window);
	Datum state = PG_ARGISNULL(0) ? (Datum) 0 : own_state(context, PG_GETARG_DATUM(0));
	const Accumulator *acc;

	if (!PG_ARGISNULL(1))
		fcinfo->args[1].value = PointerGetDatum(group_at(PG_GETARG_DATUM(1)));
	state = change(fcinfo, context, state, gpuagg_group_combine);
	if (fcinfo->isnull)
		return state;
	acc = &state_at(state)->group->acc;
	/* counts of states that are read are no larger, so their sum cannot overflow */
	if (gpuagg_family_of(acc)->count(acc) > GPUAGG_MAX_COUNT)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("aggregate states of too many rows")));
	return state;
}

static Datum
final(FunctionCallInfo fcinfo, PGFunction function)
{
	if (!PG_ARGISNULL(0))
		fcinfo->args[0].value = PointerGetDatum(group_at(PG_GETARG_DATUM(0)));
	return function(fcinfo);
}

/* ---- the type ---- */

/* Checks what a client has sent. */
static bytea *
checked(Datum bytes)
{
	bytea *flat = DatumGetByteaP(bytes);

	(void) read_flat(flat, false);
	return flat;
}

/* What is sent has no work report, which is for this cluster alone. */
static Datum
sent(Datum state)
{
	return PointerGetDatum(gpuagg_group_write(group_at(state), NULL));
}

Datum
gpuagg_typed_in(PG_FUNCTION_ARGS)
{
	PG_RETURN_BYTEA_P(checked(DirectFunctionCall1(byteain, PG_GETARG_DATUM(0))));
}

Datum
gpuagg_typed_recv(PG_FUNCTION_ARGS)
{
	PG_RETURN_BYTEA_P(checked(DirectFunctionCall1(bytearecv, PG_GETARG_DATUM(0))));
}

/* Always in hexadecimal, whatever bytea_output says. */
Datum
gpuagg_typed_out(PG_FUNCTION_ARGS)
{
	bytea *bytes = DatumGetByteaPP(sent(PG_GETARG_DATUM(0)));
	char *text = palloc(2 + 2 * VARSIZE_ANY_EXHDR(bytes) + 1);

	text[0] = '\\';
	text[1] = 'x';
	text[2 + hex_encode(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes), text + 2)] = '\0';
	PG_RETURN_CSTRING(text);
}

Datum
gpuagg_typed_send(PG_FUNCTION_ARGS)
{
	return sent(PG_GETARG_DATUM(0));
}

/* ---- functions over internal, over it ---- */

#define DEFINE_TYPED(name, family, op, kind)                  \
	extern PGDLLEXPORT Datum gpuagg_##name(PG_FUNCTION_ARGS); \
	DEFINE_FUNCTION(gpuagg_typed_##name, transition(fcinfo, family, op, kind, gpuagg_##name))

#define DEFINE_TYPED_FINAL(name)                              \
	extern PGDLLEXPORT Datum gpuagg_##name(PG_FUNCTION_ARGS); \
	DEFINE_FUNCTION(gpuagg_typed_##name, final(fcinfo, gpuagg_##name))

DEFINE_TYPED(int2_accum, SQL_FAMILY_INT, GPUAGG_SUM, GPUAGG_INT32)
DEFINE_TYPED(int2_moments, SQL_FAMILY_INT, GPUAGG_MOMENTS, GPUAGG_INT32)
DEFINE_TYPED(int4_accum, SQL_FAMILY_INT, GPUAGG_SUM, GPUAGG_INT32)
DEFINE_TYPED(int4_moments, SQL_FAMILY_INT, GPUAGG_MOMENTS, GPUAGG_INT32)
DEFINE_TYPED(int8_accum, SQL_FAMILY_INT, GPUAGG_SUM, GPUAGG_INT64)
DEFINE_TYPED(int8_moments, SQL_FAMILY_INT, GPUAGG_MOMENTS, GPUAGG_INT64)
DEFINE_TYPED(float4_accum, SQL_FAMILY_FLOAT, GPUAGG_SUM, GPUAGG_FLOAT64)
DEFINE_TYPED(float4_moments, SQL_FAMILY_FLOAT, GPUAGG_MOMENTS, GPUAGG_FLOAT64)
DEFINE_TYPED(float8_accum, SQL_FAMILY_FLOAT, GPUAGG_SUM, GPUAGG_FLOAT64)
DEFINE_TYPED(float8_moments, SQL_FAMILY_FLOAT, GPUAGG_MOMENTS, GPUAGG_FLOAT64)
DEFINE_TYPED(numeric_accum, SQL_FAMILY_NUMERIC, GPUAGG_SUM, GPUAGG_INT64)
DEFINE_TYPED(numeric_moments, SQL_FAMILY_NUMERIC, GPUAGG_MOMENTS, GPUAGG_INT64)
DEFINE_TYPED(interval_accum, SQL_FAMILY_INTERVAL, GPUAGG_SUM, 0)
DEFINE_TYPED(int2_min, SQL_FAMILY_KEY, GPUAGG_MIN, GPUAGG_INT32)
DEFINE_TYPED(int2_max, SQL_FAMILY_KEY, GPUAGG_MAX, GPUAGG_INT32)
DEFINE_TYPED(int4_min, SQL_FAMILY_KEY, GPUAGG_MIN, GPUAGG_INT32)
DEFINE_TYPED(int4_max, SQL_FAMILY_KEY, GPUAGG_MAX, GPUAGG_INT32)
DEFINE_TYPED(int8_min, SQL_FAMILY_KEY, GPUAGG_MIN, GPUAGG_INT64)
DEFINE_TYPED(int8_max, SQL_FAMILY_KEY, GPUAGG_MAX, GPUAGG_INT64)
DEFINE_TYPED(float4_min, SQL_FAMILY_KEY, GPUAGG_MIN, GPUAGG_FLOAT32)
DEFINE_TYPED(float4_max, SQL_FAMILY_KEY, GPUAGG_MAX, GPUAGG_FLOAT32)
DEFINE_TYPED(float8_min, SQL_FAMILY_KEY, GPUAGG_MIN, GPUAGG_FLOAT64)
DEFINE_TYPED(float8_max, SQL_FAMILY_KEY, GPUAGG_MAX, GPUAGG_FLOAT64)

DEFINE_TYPED_FINAL(int_sum_int8)
DEFINE_TYPED_FINAL(int_sum_numeric)
DEFINE_TYPED_FINAL(int_sum_money)
DEFINE_TYPED_FINAL(int_avg)
DEFINE_TYPED_FINAL(int_var_pop)
DEFINE_TYPED_FINAL(int_var_samp)
DEFINE_TYPED_FINAL(int_stddev_pop)
DEFINE_TYPED_FINAL(int_stddev_samp)
DEFINE_TYPED_FINAL(float_sum_float4)
DEFINE_TYPED_FINAL(float_sum_float8)
DEFINE_TYPED_FINAL(float_avg)
DEFINE_TYPED_FINAL(float_var_pop)
DEFINE_TYPED_FINAL(float_var_samp)
DEFINE_TYPED_FINAL(float_stddev_pop)
DEFINE_TYPED_FINAL(float_stddev_samp)
DEFINE_TYPED_FINAL(numeric_sum)
DEFINE_TYPED_FINAL(numeric_avg)
DEFINE_TYPED_FINAL(numeric_var_pop)
DEFINE_TYPED_FINAL(numeric_var_samp)
DEFINE_TYPED_FINAL(numeric_stddev_pop)
DEFINE_TYPED_FINAL(numeric_stddev_samp)
DEFINE_TYPED_FINAL(interval_sum)
DEFINE_TYPED_FINAL(interval_avg)
DEFINE_TYPED_FINAL(extreme_value)
