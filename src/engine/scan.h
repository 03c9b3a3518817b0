/*
 * scan.h
 *	  Scans of a batch of rows, on the device or on the CPU.
 */
#ifndef GPUAGG_SCAN_H
#define GPUAGG_SCAN_H

#include "lib/ilist.h"

#include "common/protocol.h"
#include "device/stat.h"

/* The rows of one scan and, after it has run, its results. */
typedef struct ColumnScan
{
	GpuaggKind kind;
	GpuaggOp op;
	unsigned flags; /* GPUAGG_SCAN_EXCLUSIVE, VALIDITY, HEADS, STATUS */
	int64 capacity; /* rows, a multiple of 64 */
	int64 nrows;
	void *values;			 /* NULL: the batch has not begun, or is done */
	uint64 *validity;		 /* with VALIDITY; bit i: row i is not NULL */
	uint64 *heads;			 /* with HEADS; bit i: row i starts a segment */
	struct ScanLease *lease; /* that they lie in, or NULL */
	GpuaggWork work;		 /* where its columns lie */
	char *here;				 /* memory of its own */
	Size here_bytes;
	uint32 request; /* in flight, or 0 */
	bool submitted;
	dlist_node node;	   /* among those submitted */
	GpuaggScanState carry; /* that it starts from; once done, that it leaves */
	int64 room;			   /* rows that results and status take */
	void *results;		   /* of gpuagg_scan_result_size(kind, op, 0) bytes a row */
	uint8 *status;		   /* with STATUS; GPUAGG_ROW_* */
	EngineId engine;	   /* that they are from */
	MemoryContextCallback on_reset;
} ColumnScan;

/*
 * A scan batch in `context`; its results stay there until the next run.  The
 * staging memory goes back with the context if it has not before.
 */
extern ColumnScan *gpuagg_scan_make(GpuaggKind kind, GpuaggOp op, unsigned flags,
									MemoryContext context);

/*
 * Leases staging memory for scans of the same rows on the device: `rows` of them,
 * or as many as a segment holds.  False when there is no device for it now.  Then
 * nothing has begun; otherwise values, the bitmaps and capacity are set and
 * nrows is 0: the caller fills in rows and runs each scan.
 */
extern bool gpuagg_scans_begin(ColumnScan *const *batches, int nbatches, int64 rows);

/* The same in memory of the batch's own, for the CPU; rows: a multiple of 64. */
extern void gpuagg_scan_begin_here(ColumnScan *batch, int64 rows);

/* Bits are set in order of rows: the first of a word clears the others. */
static inline void
gpuagg_scan_set_bit(uint64 *bitmap, int64 row, bool value)
{
	if (row % 64 == 0)
		bitmap[row / 64] = 0;
	bitmap[row / 64] |= (uint64) value << (row % 64);
}

/*
 * Scans nrows rows, from `carry` on, which is left as it is after the last row;
 * on the CPU if the device does not.  Gives staging memory back.
 */
extern void gpuagg_scan_run(ColumnScan *batch, GpuaggScanState *carry);

/*
 * The two halves of it: between them the device works, and the caller may.
 * Every batch that is submitted is to be finished, or dropped with its context.
 */
extern void gpuagg_scan_submit(ColumnScan *batch, const GpuaggScanState *carry);
extern void gpuagg_scan_finish(ColumnScan *batch, GpuaggScanState *carry);

/*
 * Waits for what this backend has submitted and gives its leases back.  Called
 * when the executor is about to return to the client.
 */
extern void gpuagg_scans_quiesce(void);

#endif /* GPUAGG_SCAN_H */
