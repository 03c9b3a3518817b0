/*
 * stat.c
 *	  Counters of work done: for the cluster, and for the session's last statement.
 *
 * A statement is identified by its start time; the first call with another start
 * time begins a new report.  Rows outside of batches are counted once for each
 * group, so they are added to the cluster's counters only from time to time.
 */
#include "compat.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "device/stat.h"
#include "device/shared_state.h"
#include "utils/timestamp.h"

#define DIRECT_PENDING_ROWS 1000000

static WorkReport statement; /* the last statement that used gpuagg */
static WorkReport untaken;	 /* since the last gpuagg_stat_take() */
static TimestampTz statement_start = 0;
static int64 nulls = 0;		  /* not yet in the reports */
static int64 direct_rows = 0; /* not yet in the cluster's counters */
static int64 direct_bytes = 0;

/* fresh: nobody else uses the counter yet, so it is initialised, not written. */
static void
zero_counter(pg_atomic_uint64 *counter, bool fresh)
{
	if (fresh)
		pg_atomic_init_u64(counter, 0);
	else
		pg_atomic_write_u64(counter, 0);
}

static void
zero_counters(StatCounters *counters, bool fresh)
{
	counters->reset = GetCurrentTimestamp();
	zero_counter(&counters->calls, fresh);
	for (int e = 0; e < NENGINES; e++)
	{
		zero_counter(&counters->batches[e], fresh);
		zero_counter(&counters->rows[e], fresh);
		zero_counter(&counters->bytes[e], fresh);
	}
	for (int i = 0; i < NTABLE_COUNTS; i++)
		zero_counter(&counters->table[i], fresh);
	for (int r = 0; r < GPUAGG_NREASONS; r++)
		zero_counter(&counters->fallbacks[r], fresh);
}

void
gpuagg_stat_init(StatCounters *counters)
{
	zero_counters(counters, true);
}

void
gpuagg_stat_reset_counters(StatCounters *counters)
{
	zero_counters(counters, false);
}

StatCounters *
gpuagg_stat_counters(void)
{
	static StatCounters own;
	static bool initialized = false;
	SharedState *state = gpuagg_state();

	if (state != NULL)
		return &state->counters;
	if (!initialized)
	{
		gpuagg_stat_init(&own);
		initialized = true;
	}
	return &own;
}

void
gpuagg_stat_flush(void)
{
	StatCounters *counters;

	if (direct_rows == 0)
		return;
	counters = gpuagg_stat_counters();
	pg_atomic_fetch_add_u64(&counters->rows[ENGINE_CPU], direct_rows);
	pg_atomic_fetch_add_u64(&counters->bytes[ENGINE_CPU], direct_bytes);
	direct_rows = direct_bytes = 0;
}

static void
flush_at_exit(int code, Datum arg)
{
	gpuagg_stat_flush();
}

static void
take_nulls(void)
{
	statement.nulls += nulls;
	untaken.nulls += nulls;
	nulls = 0;
}

/* Begins a new report if this is another statement. */
static void
open_statement(void)
{
	TimestampTz start = GetCurrentStatementStartTimestamp();

	if (start == statement_start)
		return;
	take_nulls();
	memset(&statement, 0, sizeof(statement));
	statement_start = start;
}

void
gpuagg_stat_begin(void)
{
	static bool registered = false;

	if (!registered)
	{
		before_shmem_exit(flush_at_exit, (Datum) 0);
		registered = true;
	}
	open_statement();
	pg_atomic_fetch_add_u64(&gpuagg_stat_counters()->calls, 1);
}

void
gpuagg_stat_batch(EngineId engine, int64 rows, int64 bytes)
{
	StatCounters *counters = gpuagg_stat_counters();

	statement.batches[engine]++;
	statement.rows[engine] += rows;
	statement.bytes[engine] += bytes;
	untaken.batches[engine]++;
	untaken.rows[engine] += rows;
	untaken.bytes[engine] += bytes;
	pg_atomic_fetch_add_u64(&counters->batches[engine], 1);
	pg_atomic_fetch_add_u64(&counters->rows[engine], rows);
	pg_atomic_fetch_add_u64(&counters->bytes[engine], bytes);
}

void
gpuagg_stat_direct(int64 rows, int64 bytes)
{
	statement.rows[ENGINE_CPU] += rows;
	statement.bytes[ENGINE_CPU] += bytes;
	untaken.rows[ENGINE_CPU] += rows;
	untaken.bytes[ENGINE_CPU] += bytes;
	direct_rows += rows;
	direct_bytes += bytes;
	if (direct_rows >= DIRECT_PENDING_ROWS)
		gpuagg_stat_flush();
}

static void
add_table(StatCounters *counters, const int64 *counts)
{
	for (int i = 0; i < NTABLE_COUNTS; i++)
		if (counts[i] != 0)
			pg_atomic_fetch_add_u64(&counters->table[i], counts[i]);
}

void
gpuagg_stat_table(const int64 *counts)
{
	for (int i = 0; i < NTABLE_COUNTS; i++)
	{
		statement.table[i] += counts[i];
		untaken.table[i] += counts[i];
	}
	add_table(gpuagg_stat_counters(), counts);
}

void
gpuagg_stat_null(void)
{
	nulls++;
}

void
gpuagg_stat_fallback(GpuaggReason reason)
{
	Assert(reason > GPUAGG_OK && reason < GPUAGG_NREASONS);

	statement.fallbacks[reason]++;
	untaken.fallbacks[reason]++;
	gpuagg_stat_reason(reason);
	pg_atomic_fetch_add_u64(&gpuagg_stat_counters()->fallbacks[reason], 1);
}

/* Whether the device was asked for and could not be had, or failed. */
static bool
is_trouble(int reason)
{
	return reason > GPUAGG_OK && reason < GPUAGG_DISABLED;
}

static void
put_reason(WorkReport *report, int reason)
{
	if (is_trouble(reason) || !is_trouble(report->reason))
		report->reason = reason;
}

/* After a change of what is held: a reason that is withdrawn makes place for another. */
static void
settle_reason(WorkReport *report)
{
	if (report->reason == GPUAGG_OK || report->held[report->reason] > 0)
		return;
	report->reason = GPUAGG_OK;
	for (int r = GPUAGG_NREASONS - 1; r > GPUAGG_OK; r--)
		if (report->held[r] > 0)
			put_reason(report, r);
}

/*
 * To the leader a worker tells each reason once only: most groups of a hashed
 * aggregate then have rows only to tell of.
 */
void
gpuagg_stat_reason(GpuaggReason reason)
{
	statement.held[reason]++;
	put_reason(&statement, reason);
	if (statement.held[reason] > 1)
		return;
	untaken.held[reason]++;
	put_reason(&untaken, reason);
}

void
gpuagg_stat_withdraw(GpuaggReason reason)
{
	/* another statement may have begun since, as with a cursor */
	if (statement.held[reason] == 0)
		return;
	statement.held[reason]--;
	settle_reason(&statement);
	if (statement.held[reason] > 0)
		return;
	untaken.held[reason]--; /* perhaps of what was told the leader before */
	settle_reason(&untaken);
}

void
gpuagg_stat_take(WorkReport *report)
{
	take_nulls();
	/* the leader's own work is already in its statement */
	if (IsParallelWorker())
		*report = untaken;
	else
		memset(report, 0, sizeof(*report));
	memset(&untaken, 0, sizeof(untaken));
}

/* For a session's own counters only: workers add to shared counters themselves. */
static void
add_to_counters(StatCounters *counters, const WorkReport *report)
{
	for (int e = 0; e < NENGINES; e++)
	{
		pg_atomic_fetch_add_u64(&counters->batches[e], report->batches[e]);
		pg_atomic_fetch_add_u64(&counters->rows[e], report->rows[e]);
		pg_atomic_fetch_add_u64(&counters->bytes[e], report->bytes[e]);
	}
	add_table(counters, report->table);
	for (int r = 0; r < GPUAGG_NREASONS; r++)
		pg_atomic_fetch_add_u64(&counters->fallbacks[r], report->fallbacks[r]);
}

void
gpuagg_report_add(WorkReport *into, const WorkReport *report)
{
	for (int e = 0; e < NENGINES; e++)
	{
		into->batches[e] += report->batches[e];
		into->rows[e] += report->rows[e];
		into->bytes[e] += report->bytes[e];
	}
	into->nulls += report->nulls;
	for (int i = 0; i < NTABLE_COUNTS; i++)
		into->table[i] += report->table[i];
	for (int r = 0; r < GPUAGG_NREASONS; r++)
	{
		into->fallbacks[r] += report->fallbacks[r];
		into->held[r] += report->held[r];
	}
	if (report->reason != GPUAGG_OK)
		put_reason(into, report->reason);
}

void
gpuagg_stat_give(const WorkReport *report)
{
	open_statement(); /* a worker's report may come before the leader's first call */
	gpuagg_report_add(&statement, report);
	settle_reason(&statement);
	if (gpuagg_state() == NULL)
		add_to_counters(gpuagg_stat_counters(), report);
}

const WorkReport *
gpuagg_stat_last(void)
{
	take_nulls();
	return &statement;
}
