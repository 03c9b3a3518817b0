/*
 * engine.h
 *	  What computes over columns: one interface, two engines.
 *
 * A piece of work goes through an engine in two halves, between which the caller
 * may do something else.  Both engines give the same bits.
 */
#ifndef GPUAGG_ENGINE_H
#define GPUAGG_ENGINE_H

#include "common/radix.h"
#include "common/reduced.h"
#include "common/work.h"
#include "device/stat.h"

/* A piece of work, its columns, and its way through an engine (flight.h). */
typedef struct Flight
{
	int type;		 /* GPUAGG_MSG_REDUCE, SCAN or SORT */
	GpuaggWork work; /* a scan's carry is that after the last row, once it is finished */

	/*
	 * The columns in this process; NULL: there is none.  Inputs are in staging
	 * memory where there is a lease, those of a SORT in the caller's memory always.
	 */
	void *values;
	uint64 *validity;
	uint64 *heads;
	void *results; /* the caller's own memory */
	uint8 *status;
	GpuaggReduced *total;	/* REDUCE: the rows are added to it */
	GpuaggRadixPiece items; /* SORT: sorted in place of results */

	struct FlightLease *lease; /* NULL: no device takes part */
	uint32 request;			   /* under way on the device, or 0 */
	uint64 digest;			   /* of the items that the device sorts */
	EngineId engine;		   /* that has it, or had it */
} Flight;

typedef struct Engine
{
	/* Begins.  Not GPUAGG_OK: it cannot, and nothing has changed. */
	GpuaggReason (*submit)(Flight *flight);

	/*
	 * Ends: GPUAGG_OK, and the results are where the flight says.  Not GPUAGG_OK: it
	 * could not, inputs are as they were and no result counts.  Can be cancelled.
	 */
	GpuaggReason (*finish)(Flight *flight);
} Engine;

extern const Engine gpuagg_cpu_engine;	  /* in this process; always GPUAGG_OK */
extern const Engine gpuagg_device_engine; /* in gpuaggd; needs a lease */

#endif /* GPUAGG_ENGINE_H */
