/*
 * stat.h
 *	  What gpuagg counts: for the cluster, and for the session's last statement.
 */
#ifndef GPUAGG_STAT_H
#define GPUAGG_STAT_H

#include "common/reason.h"

typedef enum EngineId
{
	ENGINE_CPU,
	ENGINE_DEVICE,
	NENGINES
} EngineId;

/* What is counted of tables that the node GpuAgg reads as columns. */
typedef enum TableCount
{
	TABLE_PAGES,		/* read */
	TABLE_ROWS,			/* in them, and from memory; they are among the rows of the engine */
	TABLE_VECTORS,		/* that these rows made */
	RESIDENT_PAGES,		/* from memory, confirmed by the visibility map alone */
	RESIDENT_CONFIRMED, /* from memory, confirmed by the page's own LSN */
	RESIDENT_FILLED,	/* of those read, put into memory */
	RESIDENT_SKIPPED,	/* chunks of which minimum and maximum told that no row passes the filter */
	NTABLE_COUNTS
} TableCount;

/*
 * Work done.  Each session keeps one for its last statement; a parallel worker
 * passes its own to the leader in the states that it serializes.
 */
typedef struct WorkReport
{
	int64 batches[NENGINES];
	int64 rows[NENGINES];
	int64 bytes[NENGINES]; /* of column values given to the engine */
	int64 nulls;		   /* rows that had no value to give to an engine */
	int64 table[NTABLE_COUNTS];
	int64 fallbacks[GPUAGG_NREASONS]; /* batches for the device that the CPU did */
	int64 held[GPUAGG_NREASONS];	  /* times each reason was recorded and not withdrawn */
	int32 reason; /* the last GpuaggReason recorded, one of trouble before others; or 0 */
} WorkReport;

/* Counts a call of a gpuagg function and begins its statement's report. */
extern void gpuagg_stat_begin(void);

extern void gpuagg_stat_batch(EngineId engine, int64 rows, int64 bytes);

/* Rows that the CPU took one by one, outside of any batch.  Cheap. */
extern void gpuagg_stat_direct(int64 rows, int64 bytes);

/* A NULL that an aggregate was given: a row, but no value for an engine.  Cheap. */
extern void gpuagg_stat_null(void);

/* Adds to each TableCount. */
extern void gpuagg_stat_table(const int64 *counts);

extern void gpuagg_stat_fallback(GpuaggReason reason);

/* Records why the device is not used, without counting a fallback. */
extern void gpuagg_stat_reason(GpuaggReason reason);

/* Takes back one gpuagg_stat_reason() of the statement: the work went to the device after all. */
extern void gpuagg_stat_withdraw(GpuaggReason reason);

/* In a parallel worker: its work since the last call of this function.  Else zeros. */
extern void gpuagg_stat_take(WorkReport *report);

/* Adds one report to another. */
extern void gpuagg_report_add(WorkReport *into, const WorkReport *report);

/* Adds a worker's report to the session's statement (not to the cluster's counters). */
extern void gpuagg_stat_give(const WorkReport *report);

/* The session's last statement that used gpuagg. */
extern const WorkReport *gpuagg_stat_last(void);

#endif /* GPUAGG_STAT_H */
