/*
 * scan.h
 *	  Scans of a batch of rows, on the device or on the CPU.
 */
#ifndef GPUAGG_SCAN_H
#define GPUAGG_SCAN_H

#include "common/protocol.h"

/* Staging memory of one scan and, after it has run, its results. */
typedef struct ScanBatch
{
	GpuaggKind kind;
	GpuaggOp op;
	unsigned flags; /* GPUAGG_SCAN_EXCLUSIVE, VALIDITY, HEADS, STATUS */
	int64 capacity; /* rows, a multiple of 64 */
	int64 nrows;
	void *values;
	uint64 *validity; /* with VALIDITY; bit i: row i is not NULL */
	uint64 *heads;	  /* with HEADS; bit i: row i starts a segment */
	struct DeviceLease *lease;
	int64 room;	   /* rows that results and status take */
	void *results; /* of gpuagg_scan_result_size(kind, op, 0) bytes a row */
	uint8 *status; /* with STATUS; GPUAGG_ROW_* */
	MemoryContextCallback on_reset;
} ScanBatch;

/*
 * A scan batch in `context`; its results stay there until the next run.  The
 * staging memory goes back with the context if it has not before.
 */
extern ScanBatch *gpuagg_scan_make(GpuaggKind kind, GpuaggOp op, unsigned flags,
								   MemoryContext context);

/*
 * Leases staging memory for a batch on the device.  False when there is no
 * device for it now.  Then values, the bitmaps and capacity are set and nrows is
 * 0; the caller fills in rows and calls gpuagg_scan_run().
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
 * Scans nrows rows, from `carry` on, which is left as it is after the last row;
 * on the CPU if the device does not.  Gives the lease back.
 */
extern void gpuagg_scan_run(ScanBatch *batch, GpuaggScanState *carry);

#endif /* GPUAGG_SCAN_H */
