/*
 * flight.h
 *	  Runs work on an engine: staging memory, submitting, finishing, falling
 *	  back, counting.
 *
 * The caller lays out its columns, in staging memory if a device is wanted and
 * available, else in its own memory; then it submits the flight and finishes it.
 * What the device did not do, the CPU does from the same columns, so a finished
 * flight always has its results.
 */
#ifndef GPUAGG_FLIGHT_H
#define GPUAGG_FLIGHT_H

#include "lib/ilist.h"

#include "engine/engine.h"

#define FLIGHT_NEVER PG_INT64_MAX

/* Where the rows of a flight come from, on which depends what a device gains. */
typedef enum FlightSource
{
	FLIGHT_AGGREGATE, /* the executor, one by one, for an aggregate */
	FLIGHT_WINDOW,	  /* the executor, one by one, for a window function */
	FLIGHT_SORT,	  /* a sort's items, in memory */
	FLIGHT_ARRAY	  /* a column in memory */
} FlightSource;

/*
 * Whether work of so many rows should go to a device: GPUAGG_OK, DISABLED, SMALL or
 * NO_GAIN.  In mode auto only where the device is faster; gpuagg.device_min_rows
 * applies in modes auto and gpu.
 */
extern GpuaggReason gpuagg_flight_wanted(FlightSource source, int64 rows);

/* Staging memory on lease, which several flights may share. */
typedef struct FlightLease FlightLease;

/*
 * Leases at least `bytes` bytes for `users` flights.  NULL if there is no device
 * for them now; the reason is recorded or counted.  Never waits for a device, and for memory that
 * others have on lease no longer than wait_ms.  The
 * FlightLease is allocated in `context` and must be left before that is freed.
 */
extern FlightLease *gpuagg_flight_lease(Size bytes, int users, int wait_ms, MemoryContext context);

/* Why that was NULL the last time. */
extern GpuaggReason gpuagg_flight_refusal(void);

extern char *gpuagg_flight_lease_base(const FlightLease *lease);
extern Size gpuagg_flight_lease_bytes(const FlightLease *lease);
extern struct DeviceLease *gpuagg_flight_device_lease(const FlightLease *lease);

/*
 * Ends one flight's use of *lease and sets it to NULL; the last user gives it back.
 * Neither waits nor throws: safe in abort paths.
 */
extern void gpuagg_flight_leave(FlightLease **lease);

/* Starts a flight: on the device if it has a lease, else on the CPU. */
extern void gpuagg_flight_submit(Flight *flight);

/*
 * Completes a flight; flight->engine says which engine gave the results.  Counts it,
 * and a fallback with its reason.  False: the device should have done it and did
 * not.  Can be cancelled.
 */
extern bool gpuagg_flight_finish(Flight *flight);

/* An owner of flights under way or of a lease, which can be asked to give them up. */
typedef struct FlightOwner
{
	dlist_node node;
	bool listed;
	uint64 number;							 /* in the order of listing */
	void (*land)(struct FlightOwner *owner); /* finishes its flights and gives back its leases */
	void (*drop)(struct FlightOwner *owner); /* only gives them back; neither waits nor throws */
} FlightOwner;

/* Both may be called twice; unlisting neither waits nor throws. */
extern void gpuagg_flight_list(FlightOwner *owner);
extern void gpuagg_flight_unlist(FlightOwner *owner);

/*
 * Lands the owners listed since gpuagg_flights_mark() said `mark`; 0: all.  Called when
 * the executor is about to return, as a cursor may stay open for hours, and may go on
 * after the query that fetched from it has failed.
 */
extern uint64 gpuagg_flights_mark(void);
extern void gpuagg_flights_land(uint64 mark);

/*
 * What was listed since then belongs to a query that has failed: gives leases back, as
 * the cursor of an aborted subtransaction keeps its memory until its transaction ends.
 * Neither waits nor throws.
 */
extern void gpuagg_flights_drop(uint64 mark);

/*
 * Does some work, and drops what it has listed if there is an error.  For functions: PL/pgSQL calls them without
 * the executor, too.
 */
extern void gpuagg_flights_guard(void (*work)(void *argument), void *argument);

#endif /* GPUAGG_FLIGHT_H */
