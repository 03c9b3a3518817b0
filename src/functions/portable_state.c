/*
 * portable_state.c
 *	  Portable aggregate states: gpu_sum_state and the like make them,
 *	  gpu_sum_merge and the like merge them.
 *
 * A state is the exact accumulator of its family in an envelope (envelope.h).
 * Merging adds accumulators; a result is rounded once, at the end, as the aggregate
 * does.  States of different argument types, whose results differ in type, do not merge.
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "functions/aggregate_group.h"
#include "operation/call.h"

PG_FUNCTION_INFO_V1(gpuagg_merge_combine);
PG_FUNCTION_INFO_V1(gpuagg_merge_serialize);
PG_FUNCTION_INFO_V1(gpuagg_merge_deserialize);
PG_FUNCTION_INFO_V1(gpuagg_merged_state);

/* The state of a merge; the first state merged decides the type. */
typedef struct MergeState
{
	const SqlType *type; /* of the argument; NULL: no state yet */
	GpuaggStateContents contents;
	Accumulator *acc;
} MergeState;

static GpuaggOp
op_of(GpuaggStateContents contents)
{
	return contents == GPUAGG_STATE_MOMENTS ? GPUAGG_MOMENTS : GPUAGG_SUM;
}

static Accumulator *
make_accumulator(MemoryContext context, const SqlType *argument, GpuaggStateContents contents)
{
	return gpuagg_accumulator_make(context, 0, argument->sums, op_of(contents), 0);
}

static bytea *
encode(const SqlType *argument, GpuaggStateContents contents, const Accumulator *acc)
{
	StringInfoData buf;
	GpuaggWriter w;

	initStringInfo(&buf);
	appendStringInfoSpaces(&buf, VARHDRSZ + GPUAGG_STATE_HEADER_BYTES);
	gpuagg_family_of(acc)->encode(acc, &buf);
	appendStringInfoSpaces(&buf, GPUAGG_STATE_CRC_BYTES);

	w.next = (uint8_t *) buf.data + VARHDRSZ;
	gpuagg_state_begin(&w, argument->state, contents);
	w.next = (uint8_t *) buf.data + buf.len - GPUAGG_STATE_CRC_BYTES;
	gpuagg_state_end(&w, (uint8_t *) buf.data + VARHDRSZ);
	SET_VARSIZE(buf.data, buf.len);
	return (bytea *) buf.data;
}

/* The state of an aggregate as bytes; without a group, the state of no rows. */
static Datum
state_bytes(FunctionCallInfo fcinfo, Oid type, GpuaggStateContents contents)
{
	const SqlType *argument = gpuagg_sql_type(type);
	const Accumulator *acc = gpuagg_group_state(fcinfo, argument->sums, op_of(contents));

	if (acc == NULL)
		acc = make_accumulator(CurrentMemoryContext, argument, contents);
	PG_RETURN_BYTEA_P(encode(argument, contents, acc));
}

/* Each type has functions of its own: only the call knows an integer's width, or money. */
#define DEFINE_SUM_STATE(name, oid) \
	DEFINE_FUNCTION(gpuagg_##name##_sum_state, state_bytes(fcinfo, oid, GPUAGG_STATE_SUMS))
#define DEFINE_STATES(name, oid) \
	DEFINE_SUM_STATE(name, oid)  \
	DEFINE_FUNCTION(gpuagg_##name##_var_state, state_bytes(fcinfo, oid, GPUAGG_STATE_MOMENTS))

DEFINE_STATES(int2, INT2OID)
DEFINE_STATES(int4, INT4OID)
DEFINE_STATES(int8, INT8OID)
DEFINE_STATES(float4, FLOAT4OID)
DEFINE_STATES(float8, FLOAT8OID)
DEFINE_STATES(numeric, NUMERICOID)
DEFINE_SUM_STATE(money, MONEYOID)
DEFINE_SUM_STATE(interval, INTERVALOID)

static void
invalid_state(const char *detail)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
					errmsg("invalid aggregate state"), errdetail("%s", detail)));
}

static void
check_fault(GpuaggStateFault fault, const GpuaggStateHeader *header)
{
	switch (fault)
	{
		case GPUAGG_STATE_GOOD:
			return;
		case GPUAGG_STATE_FOREIGN:
			invalid_state("The value does not begin as an aggregate state does.");
			return;
		case GPUAGG_STATE_DAMAGED:
			invalid_state("The value is incomplete, or its check sum is wrong.");
			return;
		case GPUAGG_STATE_OTHER_VERSION:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
					 errmsg("aggregate state of version %d is not supported", header->version),
					 errdetail("This release of gpuagg reads version %d.", GPUAGG_STATE_VERSION)));
			return;
	}
}

/* Reads a state, in the current context; safe for any bytes. */
static MergeState
decode(const bytea *bytes)
{
	MergeState result;
	GpuaggStateHeader header;
	GpuaggReader body = {NULL, 0, 0};

	check_fault(gpuagg_state_open((const uint8_t *) VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes),
								  &header, &body),
				&header);
	result.type = gpuagg_sql_type_of_state(header.type);
	result.contents = header.contents;
	if (result.type == NULL)
		ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						errmsg("aggregate state of unknown type %d", header.type)));
	if (header.contents != GPUAGG_STATE_SUMS &&
		(header.contents != GPUAGG_STATE_MOMENTS || !OidIsValid(result.type->variance)))
		ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						errmsg("aggregate state with unknown contents %d", header.contents)));
	result.acc = make_accumulator(CurrentMemoryContext, result.type, header.contents);
	if (!gpuagg_family_of(result.acc)->decode(result.acc, result.acc, &body) || body.left > 0)
		invalid_state("The value holds no sums that rows can have.");
	return result;
}

/* Adds a state to a merge; the merge's memory is in `context`. */
static void
merge(MergeState *into, const MergeState *from, MemoryContext context)
{
	const StateFamily *family = gpuagg_families[from->type->sums];

	if (into->type == NULL)
	{
		into->type = from->type;
		if (into->contents == 0)
			into->contents = from->contents;
		into->acc = make_accumulator(context, into->type, into->contents);
	}
	else if (into->type != from->type)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("cannot merge aggregate states of types %s and %s",
							   format_type_be(into->type->oid), format_type_be(from->type->oid)),
						errhint("Cast the argument to one type where the states are made.")));

	family->merge(into->acc, into->acc, from->acc);
	/* the sum of two such counts cannot overflow, nor can sums of so many rows */
	if (family->count(into->acc) > GPUAGG_MAX_COUNT)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("aggregate states of too many rows")));
}

/* Of a merge that keeps what its states have. */
static void
check_contents(const MergeState *into, const MergeState *from)
{
	if (into->contents != 0 && into->contents != from->contents)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("cannot merge aggregate states with and without sums of squares"),
						errhint("Make all of them with gpu_var_state, or none.")));
}

static MergeState *
make_merge(MemoryContext context, GpuaggStateContents contents)
{
	MergeState *merge_state = MemoryContextAllocZero(context, sizeof(MergeState));

	merge_state->contents = contents;
	return merge_state;
}

/* Transition; ignores NULLs.  contents: of the merge; 0: those of the first state. */
static Datum
transition(FunctionCallInfo fcinfo, GpuaggStateContents contents)
{
	bool window;
	MemoryContext context = gpuagg_aggregate_context(fcinfo, &window);
	MergeState *into = PG_ARGISNULL(0) ? make_merge(context, contents)
									   : (MergeState *) PG_GETARG_POINTER(0);
	MergeState from;

	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(into);
	from = decode(PG_GETARG_BYTEA_PP(1));
	if (contents == GPUAGG_STATE_MOMENTS && from.contents != contents)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("aggregate state has no sum of squares"),
						errhint("Make the state with gpu_var_state.")));
	if (contents == 0)
		check_contents(into, &from);
	merge(into, &from, context);
	PG_RETURN_POINTER(into);
}

DEFINE_FUNCTION(gpuagg_merge_sums, transition(fcinfo, GPUAGG_STATE_SUMS))
DEFINE_FUNCTION(gpuagg_merge_moments, transition(fcinfo, GPUAGG_STATE_MOMENTS))
DEFINE_FUNCTION(gpuagg_merge_states, transition(fcinfo, 0))

Datum
gpuagg_merge_combine(PG_FUNCTION_ARGS)
{
	bool window;
	MemoryContext context = gpuagg_aggregate_context(fcinfo, &window);
	MergeState *into = PG_ARGISNULL(0) ? NULL : (MergeState *) PG_GETARG_POINTER(0);
	MergeState *from = PG_ARGISNULL(1) ? NULL : (MergeState *) PG_GETARG_POINTER(1);

	if (from == NULL)
	{
		if (into == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(into);
	}
	if (into == NULL)
		into = make_merge(context, from->contents);
	if (from->type != NULL)
	{
		check_contents(into, from);
		merge(into, from, context);
	}
	PG_RETURN_POINTER(into);
}

Datum
gpuagg_merge_serialize(PG_FUNCTION_ARGS)
{
	bool window;
	MergeState *merged = (MergeState *) PG_GETARG_POINTER(0);
	StringInfoData buf;
	ReportForm form = REPORT_NONE;

	(void) gpuagg_aggregate_context(fcinfo, &window);
	gpuagg_wire_begin(&buf, WIRE_MERGE);
	pq_sendbyte(&buf, merged->contents);
	pq_sendbyte(&buf, merged->type == NULL ? 0 : merged->type->state);
	if (merged->type != NULL)
		gpuagg_accumulator_write(merged->acc, &buf);
	PG_RETURN_BYTEA_P(gpuagg_wire_end(&buf, &form));
}

Datum
gpuagg_merge_deserialize(PG_FUNCTION_ARGS)
{
	bool window;
	MergeState *merged;
	StringInfoData buf;

	(void) gpuagg_aggregate_context(fcinfo, &window);
	gpuagg_wire_open(&buf, PG_GETARG_BYTEA_PP(0), WIRE_MERGE);
	merged = make_merge(CurrentMemoryContext, (GpuaggStateContents) pq_getmsgbyte(&buf));
	if (merged->contents > GPUAGG_STATE_MOMENTS)
		gpuagg_wire_refuse();
	merged->type = gpuagg_sql_type_of_state((GpuaggStateType) pq_getmsgbyte(&buf));
	if (merged->type != NULL)
	{
		merged->acc = gpuagg_accumulator_read(&buf, 0);
		if (merged->acc->family != merged->type->sums || merged->contents == 0 ||
			merged->acc->op != op_of(merged->contents))
			gpuagg_wire_refuse();
	}
	gpuagg_wire_close(&buf, true);
	PG_RETURN_POINTER(merged);
}

/* The merge, or NULL when it has no state. */
static MergeState *
final_merge(FunctionCallInfo fcinfo)
{
	MergeState *merged = PG_ARGISNULL(0) ? NULL : (MergeState *) PG_GETARG_POINTER(0);

	return merged == NULL || merged->type == NULL ? NULL : merged;
}

Datum
gpuagg_merged_state(PG_FUNCTION_ARGS)
{
	MergeState *merged = final_merge(fcinfo);

	if (merged == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(encode(merged->type, merged->contents, merged->acc));
}

/* The shortest decimal that rounds to this double or, with `single`, to this float. */
static Datum
shortest_numeric(double value, bool single)
{
	char text[DOUBLE_SHORTEST_DECIMAL_LEN];

	if (single)
		float_to_shortest_decimal_buf((float) value, text);
	else
		double_to_shortest_decimal_buf(value, text);
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

/*
 * Checks that `type`, the result's, is the one that a second argument asks for or,
 * without one, that it converts to numeric.
 */
static void
check_result_type(FunctionCallInfo fcinfo, const SqlType *argument, Aggregate aggregate, Oid type)
{
	const char *name = gpuagg_aggregates[aggregate].name;
	bool typed = PG_NARGS() > 1;
	Oid wanted = typed ? get_fn_expr_rettype(fcinfo->flinfo) : NUMERICOID;

	if (!OidIsValid(type))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("aggregate gpu_%s is not defined for type %s", name,
							   format_type_be(argument->oid))));
	if (typed ? wanted != type : type == MONEYOID || type == INTERVALOID)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("gpu_%s of type %s has a result of type %s, not %s", name,
							   format_type_be(argument->oid), format_type_be(type),
							   format_type_be(wanted)),
						errhint("Use gpu_%s_merge(state, NULL::%s).", name, format_type_be(type))));
}

static Datum
merged_value(FunctionCallInfo fcinfo, Aggregate aggregate)
{
	MergeState *merged = final_merge(fcinfo);
	Oid type;
	Datum value;

	if (merged == NULL)
		PG_RETURN_NULL();
	if (merged->acc->op != gpuagg_aggregates[aggregate].op)
		gpuagg_wire_refuse();
	type = gpuagg_aggregate_result(aggregate, merged->type);
	check_result_type(fcinfo, merged->type, aggregate, type);
	value = gpuagg_family_of(merged->acc)->finish(merged->acc, aggregate, type, &fcinfo->isnull);
	if (fcinfo->isnull || PG_NARGS() > 1)
		return value;
	switch (type)
	{
		case INT8OID:
			return NumericGetDatum(int64_to_numeric(DatumGetInt64(value)));
		case FLOAT4OID:
			return shortest_numeric(DatumGetFloat4(value), true);
		case FLOAT8OID:
			return shortest_numeric(DatumGetFloat8(value), false);
		default:
			return value;
	}
}

DEFINE_FUNCTION(gpuagg_merged_sum, merged_value(fcinfo, AGGREGATE_SUM))
DEFINE_FUNCTION(gpuagg_merged_avg, merged_value(fcinfo, AGGREGATE_AVG))
DEFINE_FUNCTION(gpuagg_merged_var_pop, merged_value(fcinfo, AGGREGATE_VAR_POP))
DEFINE_FUNCTION(gpuagg_merged_var_samp, merged_value(fcinfo, AGGREGATE_VAR_SAMP))
DEFINE_FUNCTION(gpuagg_merged_stddev_pop, merged_value(fcinfo, AGGREGATE_STDDEV_POP))
DEFINE_FUNCTION(gpuagg_merged_stddev_samp, merged_value(fcinfo, AGGREGATE_STDDEV_SAMP))
