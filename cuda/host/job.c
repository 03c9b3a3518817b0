/*
 * job.c
 *	  Requests on the device: whose turn it is, and their answers.
 *
 * A request (Job) is done in pieces of rows (piece.c), so that none holds the
 * device for long.
 *
 * Whose piece comes next: the client that has been served the fewest bytes,
 * where one that was away does not save up the time.
 *
 * A piece is done when its event says so.  The wake-up by a host function only
 * shortens the wait: it does not come once the context has failed.
 */
#include "host/job.h"

#include <stdlib.h>
#include <string.h>

#define DEADLINE_NS INT64_C(30000000000) /* a piece that takes longer hangs */
#define MAX_CHUNK	(INT64_C(1) << 62)	 /* of a carried state */
#define MAX_COUNT	MAX_CHUNK
#define LAUNCH_NS	INT64_C(1000000) /* then the sockets have their turn */

static int njobs;
static int nqueued;
static uint64_t served_now; /* of the client served last */

int
gpud_work_inflight(void)
{
	return njobs + gpud_bench_inflight();
}

uint64_t
gpud_work_bytes(void)
{
	return gpud_lanes_bytes() + gpud_bench_bytes();
}

void
gpud_job_finish(Job *job, GpuaggReason reason)
{
	Client *client = job->client;

	gpud_segment_let_go(job->segment);
	njobs--;
	if (client != NULL)
	{
		GpuaggReply reply;

		client->inflight--;
		memset(&reply, 0, sizeof(reply));
		if (reason == GPUAGG_OK && job->request.h.type == GPUAGG_MSG_SCAN)
		{
			reply.u.scan.carry = job->request.u.work.u.scan.carry;
			reply.u.scan.overflows = job->overflows;
		}
		else if (reason == GPUAGG_OK && job->request.h.type == GPUAGG_MSG_REDUCE)
			reply.u.reduce = job->total;
		else if (reason == GPUAGG_OK && job->request.h.type == GPUAGG_MSG_LADDER)
			reply.u.ladder.result = job->ladder_result;
		gpud_reply(client, &job->request.h, reason, &reply, -1);
	}
	free(job);
}

/*
 * Makes a carried state sane, whatever the client sent: the kernels are given
 * propagated chunks, or where no floats are summed no chunks at all.
 */
static bool
check_carry(int kind, int op, GpuaggScanState *carry)
{
	GpuaggFloatSum *f = gpuagg_float_sum_of(&carry->f);
	GpuaggFloatCounts c = carry->f.counts;

	if (c.n < 0 || c.n_nan < 0 || c.n_pinf < 0 || c.n_ninf < 0 || c.n_negzero < 0 ||
		c.n > MAX_COUNT || c.n_nan > MAX_COUNT || c.n_pinf > MAX_COUNT || c.n_ninf > MAX_COUNT ||
		c.n_negzero > MAX_COUNT)
		return false;
	if (!gpuagg_kind_is_float(kind) || op != GPUAGG_SUM)
	{
		gpuagg_float_sum_init(f, 0, GPUAGG_CHUNKS);
		f->counts.n = c.n;
		return true;
	}
	for (int i = 0; i < GPUAGG_CHUNKS; i++)
		if (f->chunk[i] > MAX_CHUNK || f->chunk[i] < -MAX_CHUNK)
			return false;
	gpuagg_float_sum_propagate(f);
	return true;
}

static Job *
make_job(Client *client, Segment *segment, const GpuaggRequest *request)
{
	Job *job = calloc(1, sizeof(Job));

	if (job == NULL)
		return NULL;
	job->client = client;
	job->segment = segment;
	job->request = *request;
	job->kind = (int) request->u.work.kind;
	job->op = (int) request->u.work.op;
	job->nrows = request->u.work.nrows;
	job->row_bytes = request->u.work.column[GPUAGG_VALUES].bits / 8;
	if (job->row_bytes == 0) /* COUNT */
		job->row_bytes = gpuagg_kind_size(job->kind);
	gpuagg_reduced_init(&job->total);
	return job;
}

static GpuaggReason
accept(Client *client, const GpuaggRequest *request, Job **accepted)
{
	GpuaggReason reason = GPUAGG_OK;
	Segment *segment;
	Job *job;

	if (!gpud_device.ready)
		return gpud_device.reason;
	segment = gpud_segment_of(client, request->u.work.region);
	if (segment == NULL || gpuagg_request_check(request, gpud_segment_size(segment)) != GPUAGG_OK)
		return GPUAGG_REFUSED;
	if (client->inflight >= GPUAGG_MAX_INFLIGHT || njobs >= GPUD_MAX_QUEUED)
		return GPUAGG_BUSY;

	job = make_job(client, segment, request);
	if (job == NULL)
		return GPUAGG_BUSY;
	if (request->h.type == GPUAGG_MSG_SCAN &&
		!check_carry(job->kind, job->op, &job->request.u.work.u.scan.carry))
		reason = GPUAGG_REFUSED;
	else
		reason = gpud_piece_plan(job);
	if (reason != GPUAGG_OK)
		free(job);
	else
		*accepted = job;
	return reason;
}

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

/* A job with more pieces to do goes first of its client's. */
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
gpud_work_submit(Client *client, const GpuaggRequest *request)
{
	Job *job = NULL;
	GpuaggReason reason;

	if (request->h.type == GPUAGG_MSG_BENCH)
	{
		gpud_bench_submit(client, request);
		return;
	}
	reason = accept(client, request, &job);
	if (reason != GPUAGG_OK)
	{
		gpud_reply_reason(client, &request->h, reason);
		return;
	}
	gpud_segment_hold(job->segment);
	client->inflight++;
	njobs++;
	enqueue(client, job);
}

void
gpud_work_client_gone(Client *client)
{
	while (client->queue != NULL)
	{
		Job *job = dequeue(client);

		job->client = NULL;
		gpud_job_finish(job, GPUAGG_OK);
	}
	for (int i = 0; i < GPUD_MAX_STREAMS; i++)
		if (gpud_lanes[i].job != NULL && gpud_lanes[i].job->client == client)
			gpud_lanes[i].job->client = NULL;
	gpud_bench_client_gone(client);
}

/* A piece has ended. */
static void
collect(Lane *lane)
{
	Job *job = lane->job;

	if (job->failure == GPUAGG_OK)
		gpud_piece_collect(lane);
	job->rows_done += lane->rows;
	lane->job = NULL;

	if (job->failure != GPUAGG_OK || job->client == NULL || job->rows_done == job->nrows)
		gpud_job_finish(job, job->failure);
	else
		enqueue_again(job->client, job);
}

static Client *
pick_client(void)
{
	Client *picked = NULL;

	for (Client *client = gpud_clients(); client != NULL; client = client->next)
		if (client->queue != NULL && (picked == NULL || client->served < picked->served))
			picked = client;
	return picked;
}

/* Stops after LAUNCH_NS, so that the sockets have their turn: whether it did. */
static bool
start_pieces(void)
{
	int64_t until = gpud_now() + LAUNCH_NS;

	while (nqueued > 0)
	{
		Client *client = pick_client();
		Job *job = client->queue;
		uint64_t left = job->nrows - job->rows_done;
		uint64_t rows = left < job->piece_rows ? left : job->piece_rows;
		Lane *lane = gpud_lane_find(job->block_bytes);

		if (lane == NULL && job->block_bytes > gpud_lanes_budget())
		{
			/* it was planned before a benchmark took its share */
			gpud_job_finish(dequeue(client), GPUAGG_NO_DEVICE_MEMORY);
			continue;
		}
		if (lane == NULL)
			return false;
		served_now = client->served;
		client->served += rows * job->row_bytes;
		lane->job = dequeue(client);
		gpud_lane_start(lane);
		if (gpud_now() > until)
			return true;
	}
	return false;
}

WorkState
gpud_work_advance(void)
{
	bool running;

	if (gpud_work_inflight() == 0)
		return WORK_NONE;
	for (int i = 0; i < GPUD_MAX_STREAMS; i++)
	{
		Lane *lane = &gpud_lanes[i];
		int done = 0;

		if (lane->job == NULL || lane->growing)
			continue;
		if (gpu_event_query(lane->event, &done) != GPUAGG_OK)
			gpud_lost(gpu_last_error());
		if (done)
			collect(lane);
		else if (gpud_now() - lane->started > DEADLINE_NS)
			gpud_lost("a request did not end in time");
	}
	running = gpud_bench_advance();
	if (start_pieces())
		return WORK_TO_START;
	for (int i = 0; i < GPUD_MAX_STREAMS; i++)
		running |= gpud_lanes[i].job != NULL && !gpud_lanes[i].growing;
	return running ? WORK_RUNNING : WORK_NONE;
}

/* Answers all requests with GPUAGG_LOST; nothing is kept up to date any more. */
void
gpud_work_lost(void)
{
	for (int i = 0; i < GPUD_MAX_STREAMS; i++)
		if (gpud_lanes[i].job != NULL && gpud_lanes[i].job->client != NULL)
			gpud_reply_reason(gpud_lanes[i].job->client, &gpud_lanes[i].job->request.h,
							  GPUAGG_LOST);
	for (Client *client = gpud_clients(); client != NULL; client = client->next)
		for (Job *job = client->queue; job != NULL; job = job->next)
			gpud_reply_reason(client, &job->request.h, GPUAGG_LOST);
	gpud_bench_lost();
}
