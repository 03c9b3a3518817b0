/*
 * job.h
 *	  Requests that are worked on by the device.
 */
#ifndef GPUAGG_JOB_H
#define GPUAGG_JOB_H

#include "host/request.h"

typedef struct Job
{
	Pending pending;
	const RequestType *type;
	struct Job *next; /* in the client's queue */
	GpuaggRequest request;
	uint64_t units; /* of work: rows, or what the type divides it into */
	uint64_t units_done;
	size_t unit_bytes;	  /* by which the shares of clients are measured */
	uint64_t piece_units; /* at most, a multiple of 64 where there are several pieces of rows */
	size_t block_bytes;	  /* that a piece needs */
	bool stays;			  /* on its lane, whose block has what its next pieces need */
	GpuaggReason failure;
} Job;

typedef enum WorkState
{
	WORK_NONE,	  /* nothing to do before a message or a task comes */
	WORK_RUNNING, /* the device is at work */
	WORK_TO_START /* more could be started at once */
} WorkState;

/* Makes a job of a request, or answers why not. */
extern void gpud_job_submit(Client *client, const RequestType *type, const GpuaggRequest *request);

/* Completes and starts what can be. */
extern WorkState gpud_job_advance(void);

/* Has the loop woken up by pieces that end: one that does not sleep has no need of it. */
extern void gpud_job_before_sleep(void);

/* Jobs that have not ended. */
extern int gpud_jobs_inflight(void);

/* After gpud_client_close(). */
extern void gpud_job_client_gone(Client *client);

#endif /* GPUAGG_JOB_H */
