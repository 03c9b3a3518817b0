/*
 * admin.c
 *	  SQL functions about the device and about work done.
 */
#include "compat.h"

#include <unistd.h>

#include "funcapi.h"
#include "gpuagg.h"
#include "device/child.h"
#include "device/launcher.h"
#include "miscadmin.h"
#include "device/stat.h"
#include "device/shared_state.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/timestamp.h"

#define DEVICES_AWAIT_MS 3000
#define STOP_AWAIT_MS	 5000 /* or gpuagg.device_timeout */

PG_FUNCTION_INFO_V1(gpuagg_version);
PG_FUNCTION_INFO_V1(gpuagg_devices);
PG_FUNCTION_INFO_V1(gpuagg_last_query);
PG_FUNCTION_INFO_V1(gpuagg_last_query_0_2);
PG_FUNCTION_INFO_V1(gpuagg_stat_get);
PG_FUNCTION_INFO_V1(gpuagg_stat_get_0_2);
PG_FUNCTION_INFO_V1(gpuagg_stat_reset);
PG_FUNCTION_INFO_V1(gpuagg_stop);
PG_FUNCTION_INFO_V1(gpuagg_restart);

Datum
gpuagg_version(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(GPUAGG_VERSION_STRING));
}

static void
put_device(ReturnSetInfo *rsinfo, const GpuaggDeviceInfo *info)
{
	Datum values[8];
	bool nulls[8] = {false};

	values[0] = Int32GetDatum((int32) info->index);
	values[1] = CStringGetTextDatum(info->name);
	values[2] = CStringGetTextDatum(psprintf("%d.%d", info->major, info->minor));
	values[3] = Int32GetDatum(info->multiprocessors);
	values[4] = Int64GetDatum((int64) info->memory_total);
	values[5] = Int64GetDatum((int64) info->memory_free);
	values[6] = BoolGetDatum(info->usable != 0);
	values[7] = (Datum) 0;
	nulls[7] = info->usable != 0;
	if (!nulls[7])
		values[7] = CStringGetTextDatum(
			gpuagg_reason_words((GpuaggReason) info->reason, info->detail));
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/*
 * One row for each device, or, when none is known, one row with only the reason.
 * Except in mode cpu, asks for the launcher and waits at most 3 s for it.
 */
Datum
gpuagg_devices(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	SharedState *state = gpuagg_state();
	GpuaggDeviceInfo device[SHARED_DEVICES];
	GpuaggReason reason = GPUAGG_DISABLED;
	char detail[sizeof(state->detail)] = "";
	uint32 n = 0;

	InitMaterializedSRF(fcinfo, 0);
	if (gpuagg_device != DEVICE_CPU)
		reason = gpuagg_launcher_await(state, false, DEVICES_AWAIT_MS);
	gpuagg_launcher_detail(state, reason, detail, sizeof(detail));
	if (state != NULL)
	{
		LWLockAcquire(&state->lock, LW_SHARED);
		n = state->ndevices;
		memcpy(device, state->device, n * sizeof(GpuaggDeviceInfo));
		LWLockRelease(&state->lock);
	}

	for (uint32 i = 0; i < n; i++)
	{
		/* a device is usable only while the device program runs */
		if (device[i].usable && reason != GPUAGG_OK && reason != GPUAGG_DISABLED)
		{
			device[i].usable = 0;
			device[i].reason = reason;
			strlcpy(device[i].detail, detail, sizeof(device[i].detail));
		}
		put_device(rsinfo, &device[i]);
	}
	if (n == 0)
	{
		Datum values[8] = {0};
		bool nulls[8] = {true, true, true, true, true, true, false, false};

		values[6] = BoolGetDatum(false);
		values[7] = CStringGetTextDatum(gpuagg_reason_words(reason, detail));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/*
 * A row of the first of n values: releases add columns at the end, and the one whose script
 * made the function's declaration may be an earlier one.
 */
static Datum
return_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls, int n)
{
	TupleDesc desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (desc->natts > n)
		elog(ERROR, "function is declared with %d columns, but has %d", desc->natts, n);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

Datum
gpuagg_last_query_0_2(PG_FUNCTION_ARGS)
{
	const WorkReport *report = gpuagg_stat_last();
	bool cpu = report->rows[ENGINE_CPU] > 0;
	bool device = report->batches[ENGINE_DEVICE] > 0; /* of rows, or of a sort */
	int64 fallbacks = 0;
	Datum values[7 + NTABLE_COUNTS];
	bool nulls[7 + NTABLE_COUNTS] = {false};

	for (int r = 0; r < GPUAGG_NREASONS; r++)
		fallbacks += report->fallbacks[r];

	values[0] = CStringGetTextDatum(cpu && device ? "both"
									: cpu		  ? "cpu"
									: device	  ? "device"
												  : "none");
	values[1] = Int64GetDatum(report->batches[ENGINE_CPU]);
	values[2] = Int64GetDatum(report->batches[ENGINE_DEVICE]);
	values[3] = Int64GetDatum(report->rows[ENGINE_CPU] + report->rows[ENGINE_DEVICE] +
							  report->nulls);
	values[4] = Int64GetDatum(report->bytes[ENGINE_CPU] + report->bytes[ENGINE_DEVICE]);
	values[5] = Int64GetDatum(fallbacks);
	if (!cpu && !device && gpuagg_loaded_late)
		values[6] = CStringGetTextDatum("the library was not loaded when the query was planned");
	else
	{
		nulls[6] = report->reason == GPUAGG_OK;
		values[6] = nulls[6] ? (Datum) 0 : CStringGetTextDatum(gpuagg_reason_text(report->reason));
	}
	for (int i = 0; i < NTABLE_COUNTS; i++)
		values[7 + i] = Int64GetDatum(report->table[i]);
	return return_row(fcinfo, values, nulls, lengthof(values));
}

/* With the columns up to table_vectors. */
Datum
gpuagg_last_query(PG_FUNCTION_ARGS)
{
	return gpuagg_last_query_0_2(fcinfo);
}

/* The fallbacks that happened, by name of their reason. */
static Datum
fallbacks_as_jsonb(StatCounters *counters, int64 *sum)
{
	StringInfoData json;

	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	*sum = 0;
	for (int r = 1; r < GPUAGG_NREASONS; r++)
	{
		int64 n = (int64) pg_atomic_read_u64(&counters->fallbacks[r]);

		if (n == 0)
			continue;
		appendStringInfo(&json, "%s\"%s\": " INT64_FORMAT, json.len > 1 ? ", " : "",
						 gpuagg_reason_name(r), n);
		*sum += n;
	}
	appendStringInfoChar(&json, '}');
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

/* The device's state in one word.  Starts nothing. */
static const char *
device_state(SharedState *state, GpuaggReason *reason)
{
	const char *word;

	*reason = GPUAGG_NO_SHARED_MEMORY;
	if (state == NULL)
		return "unavailable";

	LWLockAcquire(&state->lock, LW_SHARED);
	if (state->stopped)
	{
		word = "stopped";
		*reason = GPUAGG_STOPPED;
	}
	else if (pg_atomic_read_u32(&state->ready) != 0)
	{
		word = gpuagg_breaker_open(state) ? "silent" : "ready";
		*reason = gpuagg_breaker_open(state) ? GPUAGG_TIMEOUT : GPUAGG_OK;
	}
	else if (state->phase != LAUNCHER_ABSENT)
	{
		word = "starting";
		*reason = GPUAGG_STARTING;
	}
	else
	{
		word = state->reason == GPUAGG_OK ? "idle" : "unavailable";
		*reason = (GpuaggReason) state->reason;
	}
	LWLockRelease(&state->lock);
	return word;
}

Datum
gpuagg_stat_get_0_2(PG_FUNCTION_ARGS)
{
	StatCounters *counters = gpuagg_stat_counters();
	SharedState *state = gpuagg_state();
	GpuaggReason reason;
	char detail[sizeof(state->detail)];
	int64 fallbacks;
	Datum values[13 + NTABLE_COUNTS];
	bool nulls[13 + NTABLE_COUNTS] = {false};
	int n = 0;

	gpuagg_stat_flush();
	values[n++] = Int64GetDatum((int64) pg_atomic_read_u64(&counters->calls));
	for (int e = 0; e < NENGINES; e++)
	{
		values[n++] = Int64GetDatum((int64) pg_atomic_read_u64(&counters->batches[e]));
		values[n++] = Int64GetDatum((int64) pg_atomic_read_u64(&counters->rows[e]));
		values[n++] = Int64GetDatum((int64) pg_atomic_read_u64(&counters->bytes[e]));
	}
	values[n + 1] = fallbacks_as_jsonb(counters, &fallbacks);
	values[n] = Int64GetDatum(fallbacks);
	n += 2;
	values[n++] = BoolGetDatum(state != NULL);
	values[n++] = CStringGetTextDatum(device_state(state, &reason));
	gpuagg_launcher_detail(state, reason, detail, sizeof(detail));
	nulls[n] = reason == GPUAGG_OK;
	values[n++] = reason == GPUAGG_OK ? (Datum) 0
									  : CStringGetTextDatum(gpuagg_reason_words(reason, detail));
	values[n++] = TimestampTzGetDatum(counters->reset);
	for (int i = 0; i < NTABLE_COUNTS; i++)
		values[n++] = Int64GetDatum((int64) pg_atomic_read_u64(&counters->table[i]));
	Assert(n == lengthof(values));
	return return_row(fcinfo, values, nulls, n);
}

/* The same. */
Datum
gpuagg_stat_get(PG_FUNCTION_ARGS)
{
	return gpuagg_stat_get_0_2(fcinfo);
}

Datum
gpuagg_stat_reset(PG_FUNCTION_ARGS)
{
	StatCounters *counters = gpuagg_stat_counters();

	gpuagg_stat_flush();
	gpuagg_stat_reset_counters(counters);
	PG_RETURN_VOID();
}

/* Checked although EXECUTE can be granted: the whole cluster shares the device. */
static SharedState *
state_for_superuser(void)
{
	SharedState *state;

	if (!superuser())
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
						errmsg("must be superuser to start or stop the device program")));
	state = gpuagg_state();
	if (state == NULL)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("%s", gpuagg_reason_text(GPUAGG_NO_SHARED_MEMORY)),
						errhint("%s", gpuagg_reason_hint(GPUAGG_NO_SHARED_MEMORY))));
	return state;
}

/*
 * Ends launcher and device program; they do not start again before
 * gpuagg_restart().  False when they have not ended within STOP_AWAIT_MS.
 */
Datum
gpuagg_stop(PG_FUNCTION_ARGS)
{
	SharedState *state = state_for_superuser();

	LWLockAcquire(&state->lock, LW_EXCLUSIVE);
	state->stopped = true;
	LWLockRelease(&state->lock);
	PG_RETURN_BOOL(gpuagg_launcher_end(state, Max(STOP_AWAIT_MS, gpuagg_device_timeout)));
}

/*
 * Ends launcher and device program if they run, clears the reason of an earlier
 * failure, and asks for a new launcher.  False when that was not possible, or there
 * is no device program; then the reason is recorded.
 */
Datum
gpuagg_restart(PG_FUNCTION_ARGS)
{
	SharedState *state = state_for_superuser();
	char detail[sizeof(state->detail)];
	GpuaggReason reason;

	if (!gpuagg_launcher_end(state, Max(STOP_AWAIT_MS, gpuagg_device_timeout)))
		PG_RETURN_BOOL(false);
	LWLockAcquire(&state->lock, LW_EXCLUSIVE);
	state->stopped = false;
	state->not_before = 0;
	state->failures = 0;
	state->breaker_strikes = 0;
	state->reason = GPUAGG_OK;
	state->detail[0] = '\0';
	LWLockRelease(&state->lock);
	if (access(gpuagg_program_path(), X_OK) != 0)
	{
		gpuagg_program_fault(errno, detail, sizeof(detail));
		gpuagg_launcher_failed(state, GPUAGG_NO_PROGRAM, detail, RETRY_NO_PROGRAM_MS);
		PG_RETURN_BOOL(false);
	}
	reason = gpuagg_launcher_check(state, true);
	PG_RETURN_BOOL(reason == GPUAGG_OK || reason == GPUAGG_STARTING);
}
