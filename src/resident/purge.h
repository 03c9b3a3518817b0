/*
 * purge.h
 *	  Columns in the directory whose table is gone, or has another file or type since.
 *
 * Nothing depends on their being thrown out but the memory that they take.
 */
#ifndef GPUAGG_PURGE_H
#define GPUAGG_PURGE_H

#include "resident/directory.h"

/* Whether a column of this database's tables is what the catalogs say; in a transaction. */
extern bool gpuagg_column_is_current(const ColumnInfo *info);

/* Throws out this database's columns that are not; in a transaction.  Returns how many. */
extern int gpuagg_directory_purge(void);

/* From now on what a transaction of this session leaves behind goes when it commits. */
extern void gpuagg_purge_install(void);

#endif /* GPUAGG_PURGE_H */
