/*
 * columns.h
 *	  Jobs over columns of rows in a leased region: REDUCE, SCAN, SORT, LADDER.
 *
 * Inputs are copied to the device and outputs back, piece by piece.
 */
#ifndef GPUAGG_COLUMNS_H
#define GPUAGG_COLUMNS_H

#include "host/job.h"
#include "host/lane.h"
#include "host/staging.h"

typedef struct ColumnJob
{
	Job job;
	Segment *segment;				/* held; NULL: the request was refused */
	size_t column[GPUAGG_NCOLUMNS]; /* where a piece's part of each is in a lane's block */
} ColumnJob;

/* What check(), plan() and forget() of such a type do first of all. */
extern GpuaggReason gpud_columns_check(Job *job);
extern void gpud_columns_plan(Job *job);
extern void gpud_columns_forget(Job *job);

/* A piece's part of a column on the device; NULL: there is no such column. */
extern void *gpud_column(const Lane *lane, GpuaggColumn column);

/* Enqueue the copies of a piece's inputs, and of its outputs. */
extern GpuaggReason gpud_columns_copy_in(Lane *lane);
extern GpuaggReason gpud_columns_copy_out(Lane *lane);

#endif /* GPUAGG_COLUMNS_H */
