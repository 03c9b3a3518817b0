/*
 * device_tables.h
 *	  Chunks of several tables that the device can take, for one request.
 */
#ifndef GPUAGG_DEVICE_TABLES_H
#define GPUAGG_DEVICE_TABLES_H

#include "exec/page_device.h"

typedef struct DeviceTable
{
	PageReader *reader;
	const PageColumn *columns;
	int ncolumns;
	const int
		*places;  /* by column of the program: the table's, or -1: zeros; NULL: they are the same */
	int32 number; /* what is added to the column of numbers, if there is one */
	const PageDevice *device; /* of the reader; NULL: the table has no pages */
	const uint64 *blobs;	  /* of its chunks, by column of the program */
	const int32 *shifts;	  /* the same; NULL: there are none */
} DeviceTable;

typedef struct DeviceTables
{
	int n;
	DeviceTable *list;
	int ncolumns;	/* of the program */
	int number;		/* its column of tables' numbers (table_mix.h); -1: there is none */
	PageDevice all; /* one table's chunks after the other's; numbers and nrows are not set */
	int32 *
		shifts; /* of these, by column: what is added to codes (device_codes.h) and numbers; NULL: nothing */
} DeviceTables;

/* Sets `all` and the tables' blobs, in the current memory context; false: some chunks went to an earlier device. */
extern bool gpuagg_device_tables_join(DeviceTables *tables);

/* Sets `shifts`, in the current memory context; firsts: as DeviceProgram has them. */
extern void gpuagg_device_tables_shift(DeviceTables *tables, const int32 *firsts);

/* These are as of one table's, for an answer about all chunks. */
extern bool gpuagg_device_tables_whole(const DeviceTables *tables, const uint8 *status);
extern void gpuagg_device_tables_taken(const DeviceTables *tables, const uint8 *status);

#endif /* GPUAGG_DEVICE_TABLES_H */
