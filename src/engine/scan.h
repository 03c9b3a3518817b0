/*
 * scan.h
 *	  Running sums of a batch of rows, on the device or on the CPU.
 */
#ifndef GPUAGG_SCAN_H
#define GPUAGG_SCAN_H

#include "common/protocol.h"

/* Staging memory of one scan and, after it has run, its results. */
typedef struct ScanBatch
{
	GpuaggKind kind;
	int64 capacity; /* rows */
	int64 nrows;
	void *values;
	uint64 *validity; /* bit i: row i is not NULL */
	struct DeviceLease *lease;
	int64 room;	   /* rows that results and status take */
	void *results; /* int64, GpuaggInt128 or double */
	uint8 *status; /* GPUAGG_ROW_* */
	MemoryContextCallback on_reset;
} ScanBatch;

/*
 * A scan batch in `context`; its results stay there until the next run.  The
 * staging memory goes back with the context if it has not before.
 */
extern ScanBatch *gpuagg_scan_make(GpuaggKind kind, MemoryContext context);

/*
 * Leases staging memory for a batch on the device.  False when there is no
 * device for it now.  Then values, validity and capacity are set and nrows is 0;
 * the caller fills in rows and calls gpuagg_scan_run().
 */
extern bool gpuagg_scan_begin(ScanBatch *batch);

static inline void
gpuagg_scan_set_valid(ScanBatch *batch, int64 row, bool valid)
{
	if (row % 64 == 0)
		batch->validity[row / 64] = 0;
	if (valid)
		batch->validity[row / 64] |= UINT64CONST(1) << (row % 64);
}

/*
 * Computes the inclusive running sums of nrows rows, from `carry` on, which is
 * left as it is after the last row; on the CPU if the device does not.  Gives
 * the lease back.
 */
extern void gpuagg_scan_run(ScanBatch *batch, GpuaggScanState *carry);

#endif /* GPUAGG_SCAN_H */
