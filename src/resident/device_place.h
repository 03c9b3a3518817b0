/*
 * device_place.h
 *	  Blobs of gpuaggd that hold blocks of resident columns: the directory's side.
 *
 * A block's blob has a number, which is in the directory before the blob is sent: so that none
 * is forgotten, and one that never came is found to be missing by the first query that wants it.
 * Numbers are not used again.  The epoch of their names changes when all blobs are void, with
 * the directory or with gpuaggd: numbers of an earlier one are none.
 *
 * When a block goes, its blob's number is kept until somebody tells gpuaggd to drop it.
 */
#ifndef GPUAGG_DEVICE_PLACE_H
#define GPUAGG_DEVICE_PLACE_H

#include "common/blob.h"
#include "resident/directory.h"

/* The current epoch; looks whether gpuaggd has been started again. */
extern uint64 gpuagg_device_epoch(void);

/* Of a block that has a blob. */
typedef struct PlacedRows
{
	uint32 nrows;
	uint32 npages;
} PlacedRows;

/*
 * numbers[i * stride] becomes that of the blob of blocks[i], of chunk first + i; 0: it has none.
 * rows: NULL, or of each.
 */
extern void gpuagg_column_places(ResidentColumn *column, uint64 epoch, uint32 first, uint32 n,
								 const MemoryRef *blocks, uint64 *numbers, int stride,
								 PlacedRows *rows);

/* A number for the blob of a chunk's block; 0: it has one, or is another block by now. */
extern uint64 gpuagg_column_place(ResidentColumn *column, uint64 epoch, uint32 chunk,
								  MemoryRef block);

/* A number for a blob that is no chunk's, and that blob, which is to be dropped. */
extern uint64 gpuagg_device_number(void);
extern void gpuagg_device_drop_number(uint64 number, uint64 epoch);

/*
 * gpuaggd has said that it has blobs of chunks[0 to n - 1], with in[i] if that is not NULL: those of
 * numbers[i * stride].
 */
extern void gpuagg_column_settle(ResidentColumn *column, uint64 epoch, uint32 n,
								 const uint32 *chunks, const bool *in, const uint64 *numbers,
								 int stride);

/* Whether a chunk's block still is that, and has a blob. */
extern bool gpuagg_column_is_placed(ResidentColumn *column, uint32 chunk, MemoryRef block);

/* The blob of that number is not the chunk's any more; there: gpuaggd may have it. */
extern void gpuagg_column_displace(ResidentColumn *column, uint32 chunk, uint64 number, bool there);

/*
 * Takes blobs, of at least so many bytes if there are, from the column that was used least
 * recently, before that place.  False: there is none.
 */
extern bool gpuagg_device_make_room(Size bytes, uint64 before);

/*
 * Numbers of blobs to be dropped, of one database: at most `most`; returns how many.  *before: if
 * not 0, those of earlier epochs are to be dropped first.
 */
extern int gpuagg_device_dropped(uint64 *before, Oid *database, GpuaggBlobName *names, int most);

/* What that gave has not reached gpuaggd: it is kept again. */
extern void gpuagg_device_not_dropped(uint64 before, Oid database, const GpuaggBlobName *names,
									  int n);

#endif /* GPUAGG_DEVICE_PLACE_H */
