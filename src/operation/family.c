/*
 * family.c
 *	  Combine, serialize, deserialize and final functions, of every family of
 *	  aggregates.
 */
#include "postgres.h"

#include "operation/family.h"
#include "operation/call.h"
#include "operation/wire.h"

Datum
gpuagg_family_combine(FunctionCallInfo fcinfo, const StateFamily *family)
{
	bool window;
	MemoryContext context = gpuagg_aggregate_context(fcinfo, &window);
	void *state = PG_ARGISNULL(0) ? NULL : PG_GETARG_POINTER(0);
	void *other = PG_ARGISNULL(1) ? NULL : PG_GETARG_POINTER(1);

	if (other == NULL)
	{
		if (state == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(state);
	}
	family->gather(other);
	if (state == NULL)
	{
		family->begin(fcinfo->flinfo);
		state = family->make(context, family->moments(other));
	}
	else
		family->gather(state);
	family->merge(state, other);
	PG_RETURN_POINTER(state);
}

Datum
gpuagg_family_serialize(FunctionCallInfo fcinfo, const StateFamily *family)
{
	bool window;
	void *state = PG_GETARG_POINTER(0);
	StringInfoData buf;

	(void) gpuagg_aggregate_context(fcinfo, &window);
	family->gather(state);
	gpuagg_wire_begin(&buf, family->tag);
	family->encode(state, &buf);
	PG_RETURN_BYTEA_P(gpuagg_wire_end(&buf));
}

void *
gpuagg_family_receive(const StateFamily *family, StringInfo buf)
{
	GpuaggReader reader;
	void *state;

	gpuagg_wire_reader(buf, &reader);
	state = family->decode(&reader);
	gpuagg_wire_read(buf, &reader, state != NULL);
	return state;
}

Datum
gpuagg_family_deserialize(FunctionCallInfo fcinfo, const StateFamily *family)
{
	bool window;
	void *state;
	StringInfoData buf;

	(void) gpuagg_aggregate_context(fcinfo, &window);
	gpuagg_wire_open(&buf, PG_GETARG_BYTEA_PP(0), family->tag);
	state = gpuagg_family_receive(family, &buf);
	gpuagg_wire_close(&buf);
	PG_RETURN_POINTER(state);
}

/* The gathered state, or NULL when it has not been made. */
static void *
final_state(FunctionCallInfo fcinfo, const StateFamily *family)
{
	void *state = PG_ARGISNULL(0) ? NULL : PG_GETARG_POINTER(0);

	if (state != NULL)
		family->gather(state);
	return state;
}

Datum
gpuagg_family_sum(FunctionCallInfo fcinfo, const StateFamily *family, GpuaggStateType type)
{
	void *state = final_state(fcinfo, family);

	if (state == NULL)
		PG_RETURN_NULL();
	return family->sum(state, type, &fcinfo->isnull);
}

Datum
gpuagg_family_average(FunctionCallInfo fcinfo, const StateFamily *family)
{
	void *state = final_state(fcinfo, family);

	if (state == NULL)
		PG_RETURN_NULL();
	return family->average(state, &fcinfo->isnull);
}

Datum
gpuagg_family_variance(FunctionCallInfo fcinfo, const StateFamily *family, bool sample, bool root)
{
	void *state = final_state(fcinfo, family);

	if (state == NULL)
		PG_RETURN_NULL();
	return family->variance(state, sample, root, &fcinfo->isnull);
}
