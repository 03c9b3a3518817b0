/*
 * spill_files.h
 *	  Records in temporary files, by bits of their hashes.
 *
 * Records are written to one of several files each.  Later file after file is read, whose records
 * are all that have these bits; what does not fit into memory then is written again, by
 * further bits.
 */
#ifndef GPUAGG_SPILL_FILES_H
#define GPUAGG_SPILL_FILES_H

#include "compat.h"

typedef struct SpillFiles SpillFiles;

/* In the current memory context, whose lifetime the files have. */
extern SpillFiles *gpuagg_spill_files_make(void);

/* Whether there are further bits of the hash: otherwise what is being read has to stay in memory. */
extern bool gpuagg_spill_files_can_write(const SpillFiles *files);

/* Appends bytes to the file of a hash. */
extern void gpuagg_spill_files_write(SpillFiles *files, uint32 hash, const void *data, Size size);

/* Whether records have been written since a file was opened, or before the first one. */
extern bool gpuagg_spill_files_written(const SpillFiles *files);

/*
 * Opens the next file, of those just written first of all; false: there is none, and all bits
 * are free again.
 */
extern bool gpuagg_spill_files_open(SpillFiles *files);

/* Reads so many bytes of the open file; false: it has ended, and is gone. */
extern bool gpuagg_spill_files_read(SpillFiles *files, void *place, Size size);

/* Removes all files; pfree() then releases the rest. */
extern void gpuagg_spill_files_empty(SpillFiles *files);

#endif /* GPUAGG_SPILL_FILES_H */
