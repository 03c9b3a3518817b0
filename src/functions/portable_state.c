/*
 * portable_state.c
 *	  Aggregate states between servers: gpu_sum_state and the like make them,
 *	  gpu_sum_merge and the like put them together again.
 *
 * A state is the exact accumulator of its family in the envelope of
 * common/state.h.  Merging adds accumulators; a result is rounded once, at the
 * end, by the function that rounds the aggregate's own.  States of different
 * argument types are never merged: their results would have different types.
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "operation/family.h"
#include "operation/call.h"
#include "operation/wire.h"

PG_FUNCTION_INFO_V1(gpuagg_sum_state);
PG_FUNCTION_INFO_V1(gpuagg_var_state);
PG_FUNCTION_INFO_V1(gpuagg_merge_sums);
PG_FUNCTION_INFO_V1(gpuagg_merge_moments);
PG_FUNCTION_INFO_V1(gpuagg_merge_states);
PG_FUNCTION_INFO_V1(gpuagg_merge_combine);
PG_FUNCTION_INFO_V1(gpuagg_merge_serialize);
PG_FUNCTION_INFO_V1(gpuagg_merge_deserialize);
PG_FUNCTION_INFO_V1(gpuagg_merged_state);
PG_FUNCTION_INFO_V1(gpuagg_merged_sum);
PG_FUNCTION_INFO_V1(gpuagg_merged_avg);
PG_FUNCTION_INFO_V1(gpuagg_merged_var_pop);
PG_FUNCTION_INFO_V1(gpuagg_merged_var_samp);
PG_FUNCTION_INFO_V1(gpuagg_merged_stddev_pop);
PG_FUNCTION_INFO_V1(gpuagg_merged_stddev_samp);

#define WIRE_TAG 'm'

/* A type of arguments, and of which types its aggregates' results are; InvalidOid: has none. */
typedef struct ArgumentType
{
	GpuaggStateType type;
	Oid oid;
	const StateFamily *family;
	Oid sum;
	Oid average;
	Oid variance;
} ArgumentType;

static const ArgumentType argument_types[] = {
	{GPUAGG_STATE_INT2, INT2OID, &gpuagg_int_family, INT8OID, NUMERICOID, NUMERICOID},
	{GPUAGG_STATE_INT4, INT4OID, &gpuagg_int_family, INT8OID, NUMERICOID, NUMERICOID},
	{GPUAGG_STATE_INT8, INT8OID, &gpuagg_int_family, NUMERICOID, NUMERICOID, NUMERICOID},
	{GPUAGG_STATE_MONEY, MONEYOID, &gpuagg_int_family, MONEYOID, InvalidOid, InvalidOid},
	{GPUAGG_STATE_FLOAT4, FLOAT4OID, &gpuagg_float_family, FLOAT4OID, FLOAT8OID, FLOAT8OID},
	{GPUAGG_STATE_FLOAT8, FLOAT8OID, &gpuagg_float_family, FLOAT8OID, FLOAT8OID, FLOAT8OID},
	{GPUAGG_STATE_NUMERIC, NUMERICOID, &gpuagg_numeric_family, NUMERICOID, NUMERICOID, NUMERICOID},
	{GPUAGG_STATE_INTERVAL, INTERVALOID, &gpuagg_interval_family, INTERVALOID, INTERVALOID,
	 InvalidOid},
};

/* The state of a merge; the first state that comes says what it is of. */
typedef struct MergeState
{
	const ArgumentType *of; /* or NULL */
	GpuaggStateContents contents;
	void *state; /* of the family */
} MergeState;

static const ArgumentType *
argument_type(GpuaggStateType type)
{
	for (int i = 0; i < lengthof(argument_types); i++)
		if (argument_types[i].type == type)
			return &argument_types[i];
	return NULL;
}

static const ArgumentType *
argument_type_of_oid(Oid oid)
{
	for (int i = 0; i < lengthof(argument_types); i++)
		if (argument_types[i].oid == oid)
			return &argument_types[i];
	elog(ERROR, "no aggregate states of type %u", oid);
}

static bytea *
encode(const ArgumentType *of, GpuaggStateContents contents, void *state)
{
	StringInfoData buf;
	GpuaggWriter w;

	initStringInfo(&buf);
	appendStringInfoSpaces(&buf, VARHDRSZ + GPUAGG_STATE_HEADER_BYTES);
	of->family->encode(state, &buf);
	appendStringInfoSpaces(&buf, GPUAGG_STATE_CRC_BYTES);

	w.next = (uint8_t *) buf.data + VARHDRSZ;
	gpuagg_state_begin(&w, of->type, contents);
	w.next = (uint8_t *) buf.data + buf.len - GPUAGG_STATE_CRC_BYTES;
	gpuagg_state_end(&w, (uint8_t *) buf.data + VARHDRSZ);
	SET_VARSIZE(buf.data, buf.len);
	return (bytea *) buf.data;
}

/* The state of an aggregate as bytes; that of no row when it has not been made. */
static Datum
state_bytes(FunctionCallInfo fcinfo, GpuaggStateContents contents)
{
	const ArgumentType *of = argument_type_of_oid(get_fn_expr_argtype(fcinfo->flinfo, 1));
	void *state;

	if (PG_ARGISNULL(0))
		state = of->family->make(CurrentMemoryContext, contents == GPUAGG_STATE_MOMENTS);
	else
		state = PG_GETARG_POINTER(0);
	of->family->gather(state);
	PG_RETURN_BYTEA_P(encode(of, contents, state));
}

Datum
gpuagg_sum_state(PG_FUNCTION_ARGS)
{
	return state_bytes(fcinfo, GPUAGG_STATE_SUMS);
}

Datum
gpuagg_var_state(PG_FUNCTION_ARGS)
{
	return state_bytes(fcinfo, GPUAGG_STATE_MOMENTS);
}

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
		case GPUAGG_STATE_UNKNOWN_TYPE:
			ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
							errmsg("aggregate state of unknown type %d", header->type)));
			return;
		case GPUAGG_STATE_UNKNOWN_CONTENTS:
			ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
							errmsg("aggregate state with unknown contents %d", header->contents)));
			return;
	}
}

/* Reads any bytes, into the current context. */
static MergeState
decode(const bytea *bytes)
{
	MergeState result;
	GpuaggStateHeader header;
	GpuaggReader body = {NULL, 0, 0};

	check_fault(gpuagg_state_open((const uint8_t *) VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes),
								  &header, &body),
				&header);
	result.of = argument_type(header.type);
	result.contents = header.contents;
	result.state = result.of->family->decode(&body);
	if (result.state == NULL || body.left > 0 ||
		result.of->family->moments(result.state) != (header.contents == GPUAGG_STATE_MOMENTS))
		invalid_state("The value holds no sums that rows can have.");
	return result;
}

/* Adds a state to a merge, whose memory lies in `context`. */
static void
merge(MergeState *into, const MergeState *from, MemoryContext context)
{
	const StateFamily *family = from->of->family;

	if (into->of == NULL)
	{
		into->of = from->of;
		if (into->contents == 0)
			into->contents = from->contents;
		into->state = family->make(context, into->contents == GPUAGG_STATE_MOMENTS);
	}
	else if (into->of != from->of)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("cannot merge aggregate states of types %s and %s",
							   format_type_be(into->of->oid), format_type_be(from->of->oid)),
						errhint("Cast the argument to one type where the states are made.")));

	family->merge(into->state, from->state);
	/* two such counts cannot overflow, nor then can sums of so many rows */
	if (family->count(into->state) > GPUAGG_MAX_COUNT)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("aggregate states of too many rows")));
}

static MergeState *
make_merge(MemoryContext context, GpuaggStateContents contents)
{
	MergeState *merge_state = MemoryContextAllocZero(context, sizeof(MergeState));

	merge_state->contents = contents;
	return merge_state;
}

/* Transition: NULLs are passed over.  contents: of what the merge is; 0: of what comes first. */
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
	if (contents == 0 && into->of != NULL && from.contents != into->contents)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("cannot merge aggregate states with and without sums of squares"),
						errhint("Make all of them with gpu_var_state, or none.")));
	merge(into, &from, context);
	PG_RETURN_POINTER(into);
}

Datum
gpuagg_merge_sums(PG_FUNCTION_ARGS)
{
	return transition(fcinfo, GPUAGG_STATE_SUMS);
}

Datum
gpuagg_merge_moments(PG_FUNCTION_ARGS)
{
	return transition(fcinfo, GPUAGG_STATE_MOMENTS);
}

Datum
gpuagg_merge_states(PG_FUNCTION_ARGS)
{
	return transition(fcinfo, 0);
}

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
	if (from->of != NULL)
		merge(into, from, context);
	PG_RETURN_POINTER(into);
}

Datum
gpuagg_merge_serialize(PG_FUNCTION_ARGS)
{
	bool window;
	MergeState *merged = (MergeState *) PG_GETARG_POINTER(0);
	StringInfoData buf;

	(void) gpuagg_aggregate_context(fcinfo, &window);
	gpuagg_wire_begin(&buf, WIRE_TAG);
	pq_sendbyte(&buf, merged->contents);
	pq_sendbyte(&buf, merged->of == NULL ? 0 : merged->of->type);
	if (merged->of != NULL)
		merged->of->family->encode(merged->state, &buf);
	PG_RETURN_BYTEA_P(gpuagg_wire_end(&buf));
}

Datum
gpuagg_merge_deserialize(PG_FUNCTION_ARGS)
{
	bool window;
	MergeState *merged;
	StringInfoData buf;

	(void) gpuagg_aggregate_context(fcinfo, &window);
	gpuagg_wire_open(&buf, PG_GETARG_BYTEA_PP(0), WIRE_TAG);
	merged = make_merge(CurrentMemoryContext, (GpuaggStateContents) pq_getmsgbyte(&buf));
	merged->of = argument_type((GpuaggStateType) pq_getmsgbyte(&buf));
	if (merged->of != NULL)
		merged->state = gpuagg_family_receive(merged->of->family, &buf);
	gpuagg_wire_close(&buf);
	PG_RETURN_POINTER(merged);
}

/* What has been merged, or NULL when no state has come. */
static MergeState *
final_merge(FunctionCallInfo fcinfo)
{
	MergeState *merged = PG_ARGISNULL(0) ? NULL : (MergeState *) PG_GETARG_POINTER(0);

	return merged == NULL || merged->of == NULL ? NULL : merged;
}

Datum
gpuagg_merged_state(PG_FUNCTION_ARGS)
{
	MergeState *merged = final_merge(fcinfo);

	if (merged == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(encode(merged->of, merged->contents, merged->state));
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
 * The result's type must be the one asked for, by a second argument, or else can
 * become a numeric.
 */
static void
check_result_type(FunctionCallInfo fcinfo, const ArgumentType *of, const char *aggregate, Oid type)
{
	bool typed = PG_NARGS() > 1;
	Oid wanted = typed ? get_fn_expr_rettype(fcinfo->flinfo) : NUMERICOID;

	if (!OidIsValid(type))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("aggregate %s is not defined for type %s", aggregate,
							   format_type_be(of->oid))));
	if (typed ? wanted != type : type == MONEYOID || type == INTERVALOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("%s of type %s has a result of type %s, not %s", aggregate,
						format_type_be(of->oid), format_type_be(type), format_type_be(wanted)),
				 errhint("Use %s_merge(state, NULL::%s).", aggregate, format_type_be(type))));
}

static Datum
result_value(FunctionCallInfo fcinfo, Datum value, Oid type)
{
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

Datum
gpuagg_merged_sum(PG_FUNCTION_ARGS)
{
	MergeState *merged = final_merge(fcinfo);
	Datum value;

	if (merged == NULL)
		PG_RETURN_NULL();
	check_result_type(fcinfo, merged->of, "gpu_sum", merged->of->sum);
	value = merged->of->family->sum(merged->state, merged->of->type, &fcinfo->isnull);
	return result_value(fcinfo, value, merged->of->sum);
}

Datum
gpuagg_merged_avg(PG_FUNCTION_ARGS)
{
	MergeState *merged = final_merge(fcinfo);
	Datum value;

	if (merged == NULL)
		PG_RETURN_NULL();
	check_result_type(fcinfo, merged->of, "gpu_avg", merged->of->average);
	value = merged->of->family->average(merged->state, &fcinfo->isnull);
	return result_value(fcinfo, value, merged->of->average);
}

static Datum
merged_variance(FunctionCallInfo fcinfo, const char *aggregate, bool sample, bool root)
{
	MergeState *merged = final_merge(fcinfo);
	Datum value;

	if (merged == NULL)
		PG_RETURN_NULL();
	check_result_type(fcinfo, merged->of, aggregate, merged->of->variance);
	value = merged->of->family->variance(merged->state, sample, root, &fcinfo->isnull);
	return result_value(fcinfo, value, merged->of->variance);
}

Datum
gpuagg_merged_var_pop(PG_FUNCTION_ARGS)
{
	return merged_variance(fcinfo, "gpu_var_pop", false, false);
}

Datum
gpuagg_merged_var_samp(PG_FUNCTION_ARGS)
{
	return merged_variance(fcinfo, "gpu_var_samp", true, false);
}

Datum
gpuagg_merged_stddev_pop(PG_FUNCTION_ARGS)
{
	return merged_variance(fcinfo, "gpu_stddev_pop", false, true);
}

Datum
gpuagg_merged_stddev_samp(PG_FUNCTION_ARGS)
{
	return merged_variance(fcinfo, "gpu_stddev_samp", true, true);
}
