/*
 * request.h
 *	  What gpuaggd must know of a type of request.
 *
 * There is a file for each type, request_*.c, and a row in request_table.h.
 *
 * A type with serve() is answered by that alone, now or later.  All others are
 * jobs (job.h): the device does them a piece at a time, so that none holds it for
 * long.  A piece is some of the job's units of work: rows, or what the type takes.  Each piece is complete in itself: what has
 * been found so far is kept in the job, and merging is exact, so pieces cannot
 * change a bit of the result.
 */
#ifndef GPUAGG_REQUEST_H
#define GPUAGG_REQUEST_H

#include "host/clients.h"

struct Job;
struct Lane;

typedef struct RequestType
{
	bool greets; /* may be a connection's first message, and of any protocol version */
	bool works;	 /* gpuaggd is not idle when it comes */
	void (*serve)(Client *client, const GpuaggRequest *request);

	size_t job_bytes; /* of its own struct, which begins with a Job and is zero at first */
	bool whole;		  /* one piece, or pieces that plan() cuts */
	bool background;  /* on the background lane */
	bool slow;		  /* pieces may take long: one at a time of all clients, and they yield */

	/*
	 * Checks job->request, which nobody else has looked at, and sets units and
	 * unit_bytes.  What a client shares with us may change at any time: what is to
	 * be relied on is copied into the job before it is checked.
	 */
	GpuaggReason (*check)(struct Job *job);

	/*
	 * Finds places in a lane's block for a piece of piece_units units, behind
	 * block_bytes, which moves on.  Unless the type is whole, it may be called again
	 * with fewer units.
	 */
	GpuaggReason (*plan)(struct Job *job);

	/*
	 * Whether a piece can be started.  The loop asks again when the set-up thread has ended a
	 * task.  NULL: always.
	 */
	bool (*ready)(struct Job *job);

	/*
	 * Enqueues a piece of lane->units units behind job->units_done, or makes lane->units less and
	 * enqueues one of so many.
	 */
	GpuaggReason (*launch)(struct Lane *lane);

	/*
	 * Takes over the result of a piece that has ended, or makes lane->units 0: it is to be done
	 * again.  NULL: there is none.
	 */
	void (*collect)(struct Lane *lane);

	/* Fills in the reply when all has gone well.  NULL: there is nothing to tell. */
	void (*answer)(struct Job *job, GpuaggReply *reply);

	/* Lets go of what check() took hold of, when the job ends however it ends.  May be NULL. */
	void (*forget)(struct Job *job);
} RequestType;

#endif /* GPUAGG_REQUEST_H */
