/*
 * scan.h
 *	  Scans of a batch of rows, on the device or in this process.
 */
#ifndef GPUAGG_SCAN_H
#define GPUAGG_SCAN_H

#include "engine/flight.h"

/* The rows of one scan and, after it has run, its results. */
typedef struct ColumnScan
{
	/*
	 * What is computed over which columns.  values is NULL before the scan begins
	 * and after it is finished; validity and heads are set with their flags; results
	 * and status stay until the next run.
	 */
	Flight flight;
	int64 capacity; /* rows, a multiple of 64 */
	int64 nrows;

	/* private */
	FlightOwner owner; /* listed while it has a lease */
	bool submitted;
	char *inputs; /* its own memory for values and bitmaps */
	Size input_bytes;
	int64 result_rows; /* that results and status have room for */
	MemoryContextCallback on_reset;
} ColumnScan;

/*
 * Makes a scan in `context`; its results stay there until the next run.  Deleting
 * the context gives back staging memory that the scan still holds.
 */
extern ColumnScan *gpuagg_scan_make(GpuaggKind kind, GpuaggOp op, unsigned flags,
									MemoryContext context);

/*
 * Leases staging memory for scans of the same rows on the device: `rows` rows, or
 * as many as a segment holds.  False when there is no device now; then no scan has
 * begun.  Otherwise values, bitmaps and capacity are set and nrows is 0: the caller
 * fills in rows and runs each scan.
 */
extern bool gpuagg_scans_begin(ColumnScan *const *scans, int nscans, int64 rows);

/* The same in the scan's own memory, for the CPU; rows: a multiple of 64. */
extern void gpuagg_scan_begin_in_memory(ColumnScan *scan, int64 rows);

/* Bits must be set in order of rows: the first bit of a word clears the others. */
static inline void
gpuagg_scan_set_bit(uint64 *bitmap, int64 row, bool value)
{
	if (row % 64 == 0)
		bitmap[row / 64] = 0;
	bitmap[row / 64] |= (uint64) value << (row % 64);
}

/*
 * Scans nrows rows, starting from `carry`, which is set to the state after the last
 * row.  Gives staging memory back.
 */
extern void gpuagg_scan_run(ColumnScan *scan, GpuaggScanState *carry);

/*
 * The two halves of gpuagg_scan_run(); the caller may do other work between them.
 * Every submitted scan must be finished, or dropped with its context.
 */
extern void gpuagg_scan_submit(ColumnScan *scan, const GpuaggScanState *carry);
extern void gpuagg_scan_finish(ColumnScan *scan, GpuaggScanState *carry);

#endif /* GPUAGG_SCAN_H */
