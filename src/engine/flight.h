/*
 * flight.h
 *	  Work on its way through an engine: staging memory, submitting, finishing,
 *	  falling back, counting.
 *
 * Whoever has rows lays out their columns, in staging memory where a device is
 * wanted and to be had, else in memory of their own, submits the flight and
 * finishes it.  What the device did not do is done in this process from the same
 * columns, so a finished flight always has its results.
 */
#ifndef GPUAGG_FLIGHT_H
#define GPUAGG_FLIGHT_H

#include "lib/ilist.h"

#include "engine/engine.h"

#define FLIGHT_NEVER PG_INT64_MAX

/*
 * Whether work of so many rows should go to a device: GPUAGG_OK, DISABLED, SMALL or
 * NO_GAIN.  auto_rows: rows from which on the device gains in mode auto, or
 * FLIGHT_NEVER; gpuagg.device_min_rows counts in every mode.
 */
extern GpuaggReason gpuagg_flight_wanted(int64 rows, int64 auto_rows);

/* Staging memory on lease, which several flights may share. */
typedef struct FlightLease FlightLease;

/*
 * Leases at least so many bytes for so many flights; NULL, with the reason recorded
 * or counted, when there is no device for them now.  Never waits for a device.
 * What describes the lease lies in `context` and must not outlive it.
 */
extern FlightLease *gpuagg_flight_lease(Size bytes, int users, MemoryContext context);

extern char *gpuagg_flight_lease_base(const FlightLease *lease);
extern Size gpuagg_flight_lease_bytes(const FlightLease *lease);
extern struct DeviceLease *gpuagg_flight_device_lease(const FlightLease *lease);

/*
 * One of the users has done with *lease, which becomes NULL; the last one gives it
 * back.  Neither waits nor throws: safe in abort paths.
 */
extern void gpuagg_flight_leave(FlightLease **lease);

/* Starts a flight, on the device if it has a lease. */
extern void gpuagg_flight_submit(Flight *flight);

/*
 * Brings it to its results; flight->engine says where they are from.  Counts it, and
 * a fallback with its reason.  False: the device should have done it and did not.
 * Can be cancelled.
 */
extern bool gpuagg_flight_finish(Flight *flight);

/* Has flights under way, or a lease: what it holds on the device can be taken off it. */
typedef struct FlightOwner
{
	dlist_node node;
	bool listed;
	void (*land)(struct FlightOwner *owner); /* finishes its flights, leaves its leases */
} FlightOwner;

/* Safe to call again; unlisting neither waits nor throws. */
extern void gpuagg_flight_list(FlightOwner *owner);
extern void gpuagg_flight_unlist(FlightOwner *owner);

/*
 * Lands everything that this backend has listed.  Called when the executor is about
 * to return to the client, as a cursor may stay open for hours.
 */
extern void gpuagg_flights_land(void);

#endif /* GPUAGG_FLIGHT_H */
