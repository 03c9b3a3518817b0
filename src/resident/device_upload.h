/*
 * device_upload.h
 *	  Brings blocks of resident columns to the device, as blobs of gpuaggd.
 *
 * Nothing here raises an error but for CHECK_FOR_INTERRUPTS.  Whatever goes wrong, there are
 * fewer blobs.
 */
#ifndef GPUAGG_DEVICE_UPLOAD_H
#define GPUAGG_DEVICE_UPLOAD_H

#include "compat.h"

#include "common/protocol.h"
#include "resident/directory.h"

typedef struct DeviceUpload DeviceUpload;

/*
 * For columns that the caller has pinned until close(); NULL: there is no device now.  before: as of
 * gpuagg_column_allocate().  patient: waits for gpuaggd to get memory.  In the current memory context.
 */
extern DeviceUpload *gpuagg_upload_open(uint64 before, bool patient);

/*
 * A block of a chunk of the column.  wait: for replies about those before; else it is left out
 * when they have not come.
 */
extern void gpuagg_upload_offer(DeviceUpload *upload, ResidentColumn *column, uint32 chunk,
								MemoryRef ref, const ColumnBlock *block, bool wait);

/* All of a column's blocks. */
extern void gpuagg_upload_column(DeviceUpload *upload, ResidentColumn *column);

/*
 * Makes the request for a blob whose values the caller puts `at` bytes from the region's begin; behind them
 * there is room for its bitmap, which is copied, unless it is NULL.
 */
extern void gpuagg_upload_put(GpuaggRequest *request, char *region, uint64 at, GpuaggBlobName name,
							  const GpuaggNarrow *form, uint32 nrows, const uint64 *valid);

/* Takes the replies that have come, or, with `wait`, all. */
extern void gpuagg_upload_settle(DeviceUpload *upload, bool wait);

/* wait: for replies.  Without one, a query will find out whether the blob is there. */
extern void gpuagg_upload_close(DeviceUpload *upload, bool wait);

/* Has gpuaggd drop the blobs of blocks that are gone, if there is one. */
extern void gpuagg_upload_sweep(void);

#endif /* GPUAGG_DEVICE_UPLOAD_H */
