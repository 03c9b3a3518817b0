/*
 * job.c
 *	  Requests that are worked on by the device: whose turn it is.
 *
 * The next piece is one of the client that has been served least.  A client is
 * charged with a piece's bytes when it starts and, when it has ended, with what it
 * had of the device's time beyond that, at BYTES_A_NS.  Lanes at work share the
 * device: the clock of shares advances by the time that passed over their number.
 * A client that comes back after a pause, or had to let others pass, goes on level with them.
 *
 * No client has more than CLIENT_LANES at a time, so that others need not wait for
 * what it has started; of requests that may take long, one piece of all clients is
 * under way, on a stream that yields.  The background lane works on one job
 * until that has ended.
 *
 * A piece is done when its event says so.  A wake-up by a host function is asked for before the
 * loop sleeps, and only shortens that: it does not come once the context has failed.
 */
#include "host/job.h"

#include <stdlib.h>

#include "host/device.h"
#include "host/lane.h"
#include "host/log.h"

#define MAX_QUEUED		1024				/* jobs of all clients */
#define STARVED_NS		(5 * GPUD_SECOND)	/* of others' work: then a benchmark's step fails */
#define LAUNCH_NS		INT64_C(1000000)	/* then the sockets have their turn */
#define TURN_NS			(GPUD_SECOND / 2)	/* a turn is kept for so long */
#define CLIENT_LANES	4					/* enough to copy and compute at the same time */
#define BYTES_A_NS		50					/* PCIe 5 copies so many */
#define PIECE_UNITS_MIN (UINT64_C(1) << 12) /* pieces are not cut smaller */

static int njobs; /* without the one in the background */
static int nqueued;
static uint64_t served_now; /* of the client served last; never less */
static int nslow;			/* lanes with a piece that may take long */
static int nworking;		/* lanes at work, without the one in the background */

/* The clock of shares, ns: what a lane would have had that was at work all the time. */
static uint64_t shares;
static int64_t shares_at;

/* A client that was refused the background lane is next, if it asks again soon. */
static const Client *next_client;
static int64_t next_asked;

int
gpud_jobs_inflight(void)
{
	return njobs + (GPUD_BACKGROUND->job != NULL);
}

/* Answers a job, unless its client has gone, and frees it. */
static void
drop(Job *job, GpuaggReason reason, GpuaggReply *reply)
{
	if (job->type->forget != NULL)
		job->type->forget(job);
	gpud_pending_answer(&job->pending, reason, reply, -1);
	free(job);
}

/* The same for one that was accepted. */
static void
finish(Job *job, GpuaggReason reason)
{
	GpuaggReply reply;

	memset(&reply, 0, sizeof(reply));
	if (reason == GPUAGG_OK && job->pending.client != NULL && job->type->answer != NULL)
		job->type->answer(job, &reply);
	if (job->pending.client != NULL)
		job->pending.client->inflight--;
	njobs -= !job->type->background;
	drop(job, reason, &reply);
}

/* ---- the queues of clients ---- */

static void
enqueue(Client *client, Job *job)
{
	if (client->queue == NULL && client->served < served_now)
		client->served = served_now;
	job->next = NULL;
	*client->queue_end = job;
	client->queue_end = &job->next;
	nqueued++;
}

/* A job with more pieces to do goes to the head of its client's queue. */
static void
enqueue_again(Client *client, Job *job)
{
	job->next = client->queue;
	if (client->queue == NULL)
		client->queue_end = &job->next;
	client->queue = job;
	nqueued++;
}

static Job *
dequeue(Client *client)
{
	Job *job = client->queue;

	client->queue = job->next;
	if (client->queue == NULL)
		client->queue_end = &client->queue;
	nqueued--;
	return job;
}

void
gpud_job_client_gone(Client *client)
{
	if (next_client == client)
		next_client = NULL;
	while (client->queue != NULL)
		finish(dequeue(client), GPUAGG_OK);
}

static bool
is_ready(Job *job)
{
	return job->type->ready == NULL || job->type->ready(job);
}

/* Whose turn it is; NULL: nobody's before a lane is done. */
static Client *
pick_client(void)
{
	Client *picked = NULL;

	for (Client *client = gpud_clients; client != NULL; client = client->next)
		if (client->queue != NULL && client->lanes < CLIENT_LANES &&
			!(client->queue->type->slow && nslow > 0) && is_ready(client->queue) &&
			(picked == NULL || client->served < picked->served))
			picked = client;
	return picked;
}

/* ---- what clients are charged ---- */

/* Brings the clock of shares up to now; before a lane starts or stops working. */
static void
advance_shares(void)
{
	int64_t now = gpud_now();

	if (nworking > 0)
		shares += (uint64_t) (now - shares_at) / (uint64_t) nworking;
	shares_at = now;
}

/*
 * A lane has been given a client's job, for a piece of so many bytes.  One that could not
 * be picked while others were has earned nothing by that.
 */
static void
charge(Lane *lane, Client *client, uint64_t bytes)
{
	if (client->served < served_now)
		client->served = served_now;
	served_now = client->served;
	client->served += bytes;
	client->lanes++;
	lane->charged = bytes;
	nslow += lane->job->type->slow;
}

static void
begin_share(Lane *lane)
{
	advance_shares();
	nworking++;
	lane->share = shares;
}

/* The lane's piece has ended; had: what it had of the device's time, ns. */
static void
settle(Lane *lane, uint64_t had)
{
	Client *client = lane->job->pending.client;

	nslow -= lane->job->type->slow;
	if (client == NULL)
		return;
	client->lanes--;
	if (had * BYTES_A_NS > lane->charged)
		client->served += had * BYTES_A_NS - lane->charged;
}

static void
end_share(Lane *lane)
{
	advance_shares();
	nworking--;
	settle(lane, shares - lane->share);
}

/* ---- pieces ---- */

static uint64_t
next_piece_units(const Job *job)
{
	uint64_t left = job->units - job->units_done;

	return left < job->piece_units ? left : job->piece_units;
}

/*
 * Starts the next piece of the lane's job.  When only part of it
 * could be enqueued, the job still must not end before that part has.
 */
static void
launch(Lane *lane)
{
	Job *job = lane->job;
	GpuaggReason reason = GPUAGG_OK;

	lane->units = next_piece_units(job);
	lane->looked = lane->unhindered = gpud_now();
	lane->hindered = 0;
	if (!job->type->background)
	{
		lane->stream = job->type->slow ? lane->yielding : lane->prompt;
		begin_share(lane);
	}
	if (!job->type->background && !lane->scratch_ready)
		reason = gpu_memset(lane->block, 0, gpud_scratch_end, lane->stream);
	if (reason == GPUAGG_OK)
		reason = job->type->launch(lane);
	lane->scratch_ready = reason == GPUAGG_OK;
	if (reason == GPUAGG_LOST)
		gpud_lost(gpu_last_error());
	if (reason != GPUAGG_OK)
	{
		static int64_t told;

		if (reason != GPUAGG_REFUSED && reason != GPUAGG_CPU_ONLY && gpud_due(&told))
			gpud_warn("a request could not be started: %s: %s", gpuagg_reason_text(reason),
					  gpu_last_error());
		job->failure = reason;
	}
	lane->wakes = false;
	if (gpu_event_record(lane->event, lane->stream) != GPUAGG_OK)
		gpud_lost(gpu_last_error());
}

void
gpud_job_before_sleep(void)
{
	for (int i = 0; i <= GPUD_LANES; i++)
	{
		Lane *lane = &gpud_lanes[i];

		if (lane->job == NULL || lane->resizing || lane->wakes)
			continue;
		lane->wakes = true;
		if (gpu_host_call(lane->stream, gpud_wake, NULL) != GPUAGG_OK)
			gpud_lost(gpu_last_error());
	}
}

/* Ends the lane's job; on the background lane after its memory has been freed. */
static void
end_job(Lane *lane, GpuaggReason unused)
{
	Job *job = lane->job;

	(void) unused;
	if (lane == GPUD_BACKGROUND && lane->block != NULL)
	{
		gpud_background_give_back(end_job);
		return;
	}
	lane->job = NULL;
	finish(job, job->failure);
}

static void
resized(Lane *lane, GpuaggReason reason)
{
	if (reason == GPUAGG_OK && lane->job->pending.client != NULL)
		launch(lane);
	else
	{
		if (lane != GPUD_BACKGROUND)
			settle(lane, 0);
		lane->job->failure = GPUAGG_NO_DEVICE_MEMORY;
		end_job(lane, reason);
	}
}

/* A piece has ended. */
static void
collect(Lane *lane)
{
	Job *job = lane->job;

	if (lane != GPUD_BACKGROUND)
		end_share(lane);
	if (job->failure == GPUAGG_OK && job->type->collect != NULL)
		job->type->collect(lane);
	job->units_done += lane->units;
	if (job->failure != GPUAGG_OK || job->pending.client == NULL || job->units_done == job->units)
		end_job(lane, GPUAGG_OK);
	else if (lane == GPUD_BACKGROUND)
		launch(lane);
	else if (job->stays)
	{
		charge(lane, job->pending.client, next_piece_units(job) * job->unit_bytes);
		launch(lane);
	}
	else
	{
		lane->job = NULL;
		enqueue_again(job->pending.client, job);
	}
}

/*
 * Answers a job whose piece does not get done, as if its client had gone: the lane
 * works on until that piece has ended.
 */
static void
abandon(Job *job, GpuaggReason reason)
{
	Client *client = job->pending.client;

	if (client == NULL)
		return;
	client->inflight--;
	gpud_pending_answer(&job->pending, reason, NULL, -1);
	job->pending.client = NULL;
}

/*
 * Looks at a piece that has not ended.  One on a stream that yields may wait for
 * others' work (hindered): only the time while there is none counts.
 */
static void
check_deadline(Lane *lane, bool hindered)
{
	int64_t now = gpud_now();

	if (hindered && lane->stream == lane->yielding)
	{
		lane->hindered += now - lane->looked;
		if (lane == GPUD_BACKGROUND && lane->hindered > STARVED_NS)
			abandon(lane->job, GPUAGG_BUSY);
		lane->unhindered = now;
	}
	lane->looked = now;
	if (now - lane->unhindered > gpu_patience())
		gpud_lost("a request did not end in time");
}

/* Stops after LAUNCH_NS, so that the sockets have their turn; true when it did. */
static bool
start_pieces(void)
{
	int64_t until = gpud_now() + LAUNCH_NS;

	while (nqueued > 0)
	{
		Client *client = pick_client();
		Job *job;
		Lane *lane;

		if (client == NULL)
			return false;
		job = client->queue;
		lane = gpud_lane_find(job->block_bytes);
		if (lane == NULL && job->block_bytes > gpud_lanes_budget())
		{
			/* it was planned before the background lane or blobs took their share */
			finish(dequeue(client), GPUAGG_NO_DEVICE_MEMORY);
			continue;
		}
		if (lane == NULL)
			return false;
		lane->job = dequeue(client);
		charge(lane, client, next_piece_units(job) * job->unit_bytes);
		if (lane->resizing)
			gpud_lane_resize(lane, resized);
		else
			launch(lane);
		if (gpud_now() > until)
			return true;
	}
	return false;
}

WorkState
gpud_job_advance(void)
{
	bool running = false;
	bool hindered = nworking > nslow;

	if (gpud_jobs_inflight() == 0)
		return WORK_NONE;
	for (int i = 0; i <= GPUD_LANES; i++)
	{
		Lane *lane = &gpud_lanes[i];
		int done = 0;

		if (lane->job == NULL || lane->resizing)
			continue;
		if (gpu_event_query(lane->event, &done) != GPUAGG_OK)
			gpud_lost(gpu_last_error());
		if (done)
			collect(lane);
		else
			check_deadline(lane, hindered);
	}
	if (start_pieces())
		return WORK_TO_START;
	for (int i = 0; i <= GPUD_LANES; i++)
		running |= gpud_lanes[i].job != NULL && !gpud_lanes[i].resizing;
	return running ? WORK_RUNNING : WORK_NONE;
}

/* ---- new jobs ---- */

/* Decides how many units a piece has, and how much memory it needs. */
static GpuaggReason
plan(Job *job)
{
	const RequestType *type = job->type;
	uint64_t most = gpud_work_budget();
	uint64_t units = (job->units + 63) / 64 * 64;

	if (type->background && most > gpud_device_budget / 4 * 3)
		most = gpud_device_budget / 4 * 3;
	/* small enough for two lanes at least and the background lane to work at the same time */
	job->piece_units = type->whole || units < gpud_piece_rows_max ? units : gpud_piece_rows_max;
	for (;;)
	{
		GpuaggReason reason;

		job->block_bytes = type->background ? 0 : gpud_scratch_end;
		reason = type->plan(job);
		if (reason != GPUAGG_OK)
			return reason;
		if (type->whole || job->block_bytes <= gpud_device_budget / 4 ||
			job->piece_units <= PIECE_UNITS_MIN)
			return job->block_bytes <= most ? GPUAGG_OK : GPUAGG_NO_DEVICE_MEMORY;
		job->piece_units = (job->piece_units / 2 + 63) / 64 * 64;
	}
}

/*
 * Whether the client may have the background lane.  Without turns a client that
 * asks again at once would leave others no gap.
 */
static bool
has_turn(const Client *client)
{
	const Job *running = GPUD_BACKGROUND->job;

	if (next_client != NULL && gpud_now() - next_asked > TURN_NS)
		next_client = NULL;
	if (running == NULL && (next_client == NULL || next_client == client))
	{
		next_client = NULL;
		return true;
	}
	if (next_client == NULL && running->pending.client != client)
		next_client = client;
	if (next_client == client)
		next_asked = gpud_now();
	return false;
}

static GpuaggReason
accept(Job *job)
{
	const Client *client = job->pending.client;
	bool background = job->type->background;
	GpuaggReason reason = job->type->check(job);

	if (reason != GPUAGG_OK)
		return reason;
	if (client->inflight >= GPUAGG_MAX_INFLIGHT)
		return GPUAGG_BUSY;
	if (background ? !has_turn(client) : njobs >= MAX_QUEUED)
		return GPUAGG_BUSY;
	reason = plan(job);
	if (reason == GPUAGG_OK && background && !gpud_background_take(job->block_bytes))
		reason = GPUAGG_BUSY;
	return reason;
}

void
gpud_job_submit(Client *client, const RequestType *type, const GpuaggRequest *request)
{
	Job *job = gpud_device.ready ? calloc(1, type->job_bytes) : NULL;
	GpuaggReason reason;

	if (job == NULL)
	{
		gpud_reply_reason(client, &request->h,
						  gpud_device.ready ? GPUAGG_BUSY : gpud_device.reason);
		return;
	}
	job->type = type;
	job->request = *request;
	gpud_pending_take(&job->pending, client, &request->h);
	reason = accept(job);
	if (reason != GPUAGG_OK)
	{
		drop(job, reason, NULL);
		return;
	}

	client->inflight++;
	if (type->background)
	{
		GPUD_BACKGROUND->job = job;
		gpud_lane_resize(GPUD_BACKGROUND, resized);
		return;
	}
	njobs++;
	enqueue(client, job);
}
