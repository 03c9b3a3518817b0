/*
 * window_conditions.h
 *	  Conditions above a GpuWindow node as a vector program over the columns that the device has of it.
 */
#ifndef GPUAGG_WINDOW_CONDITIONS_H
#define GPUAGG_WINDOW_CONDITIONS_H

#include "exec/window_device.h"
#include "operation/running_bound.h"

#define WINDOW_CONDITIONS 24 /* comparisons, at most */
#define WINDOW_INSTRUCTIONS \
	(4 * WINDOW_CONDITIONS + 32) /* four for each, and the columns and casts */

typedef struct WindowConditions
{
	GpuaggVectorProgram program; /* its arrays are those that follow */
	GpuaggVectorInstruction instructions[WINDOW_INSTRUCTIONS];
	GpuaggVectorConstant constants[WINDOW_CONDITIONS];
	uint8 types[GPUAGG_WINDOW_COLUMNS];
	uint16 loaded[GPUAGG_WINDOW_COLUMNS]; /* registers that columns are in; or NONE */
} WindowConditions;

/* A program without conditions, over the columns of `device`. */
extern void gpuagg_window_conditions_begin(WindowConditions *conditions,
										   const WindowDevice *device);

/*
 * The column has to be within the bound, too; counts: of an average, the column of its counts, else -1.  Where
 * there is no room for it, it is left out.
 */
extern void gpuagg_window_conditions_add(WindowConditions *conditions, const RunningBound *bound,
										 int column, int counts);

/* The register that a column is in. */
extern uint16 gpuagg_window_conditions_load(WindowConditions *conditions, int column);

#endif /* GPUAGG_WINDOW_CONDITIONS_H */
