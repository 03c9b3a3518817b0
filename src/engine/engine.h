/*
 * engine.h
 *	  The interface of the two engines that compute over columns.
 *
 * An engine does work in two steps, submit and finish; the caller may do something
 * else between them.  Both engines give the same bits.
 */
#ifndef GPUAGG_ENGINE_H
#define GPUAGG_ENGINE_H

#include "common/radix.h"
#include "common/reduced.h"
#include "common/work.h"
#include "device/stat.h"

/* A piece of work, its columns, and its progress in an engine (flight.h). */
typedef struct Flight
{
	int type;		 /* GPUAGG_MSG_REDUCE, SCAN or SORT */
	GpuaggWork work; /* when finished, a scan's carry is the one after the last row */

	/*
	 * The columns in this process; NULL: no such column.  With a lease, inputs are
	 * in staging memory, except those of a SORT, which are in the caller's.
	 */
	void *values;
	uint64 *validity;
	uint64 *heads;
	void *results; /* in the caller's memory */
	uint8 *status;
	GpuaggReduced *total;	/* REDUCE: the rows are added to it */
	GpuaggRadixPiece items; /* SORT: sorted in place; no results */

	struct FlightLease *lease; /* NULL: the CPU does the work */
	uint32 request;			   /* under way on the device, or 0 */
	uint64 digest;			   /* of the items that the device sorts, to check them */
	EngineId engine;		   /* that does or did the work */
} Flight;

typedef struct Engine
{
	/* Starts the work.  If not GPUAGG_OK, nothing has changed. */
	GpuaggReason (*submit)(Flight *flight);

	/*
	 * Ends the work.  GPUAGG_OK: the results are where the flight says.  Otherwise
	 * inputs are unchanged and results are not valid.  Can be cancelled.
	 */
	GpuaggReason (*finish)(Flight *flight);
} Engine;

extern const Engine gpuagg_cpu_engine;	  /* in this process; always GPUAGG_OK */
extern const Engine gpuagg_device_engine; /* in gpuaggd; needs a lease */

#endif /* GPUAGG_ENGINE_H */
