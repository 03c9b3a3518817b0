/*
 * work.c
 *	  REDUCE and SCAN requests on the device.
 *
 * A request (Job) is done in pieces of rows, so that none holds the device for
 * long.  Each piece is complete in itself: a scan's running state and the sum
 * so far are kept in the Job between pieces, and merging is exact, so pieces
 * cannot change a bit of the result.
 *
 * Whose piece comes next: the client that has been served the fewest bytes,
 * where one that was away does not save up the time.
 *
 * A piece is done when its event says so.  The wake-up by a host function only
 * shortens the wait: it does not come once the context has failed.
 */
#include "work.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_ROWS	   (UINT64_C(1) << 22) /* 32 MB of int64: 0.6 ms over PCIe 5 */
#define PIECE_ROWS_SIM (UINT64_C(1) << 17) /* the simulator is that much slower */
#define PIECE_ROWS_MIN (UINT64_C(1) << 12)
#define DEADLINE_NS	   INT64_C(30000000000) /* a piece that takes longer hangs */
#define MAX_CHUNK	   (INT64_C(1) << 62)	/* of a carried state */
#define LAUNCH_NS	   INT64_C(1000000)		/* then the sockets have their turn */

static int njobs;
static int nqueued;
static uint64_t served_now; /* of the client served last */

int
gpud_work_inflight(void)
{
	return njobs;
}

static size_t
place(Layout *layout, size_t bytes)
{
	size_t at = layout->total;

	layout->total += (bytes + GPUAGG_ALIGN - 1) / GPUAGG_ALIGN * GPUAGG_ALIGN;
	return at;
}

bool
gpud_job_is_scan(const Job *job)
{
	return job->request.h.type == GPUAGG_MSG_SCAN;
}

/* Decides how many rows a piece has, and where in a block they go. */
static void
set_piece_rows(Job *job, uint64_t rows)
{
	Layout l;
	size_t value_bytes = rows * gpuagg_kind_size(job->kind);

	memset(&l, 0, sizeof(l));
	if (gpud_job_is_scan(job))
	{
		l.result = place(&l, sizeof(GpuScanState));
		l.state_in = place(&l, sizeof(GpuScanState));
		l.values = place(&l, value_bytes);
		l.validity = place(&l, (rows + 63) / 64 * 8);
		l.results = place(&l, rows * gpuagg_scan_result_size(job->kind, GPUAGG_SUM, 0));
		l.status = place(&l, rows);
		l.scratch = place(&l, gpu_scan_scratch(rows));
	}
	else
	{
		l.result = place(&l, sizeof(GpuaggReduced));
		l.values = place(&l, value_bytes);
		l.scratch = place(&l, gpu_reduce_scratch());
	}
	job->piece_rows = rows;
	job->layout = l;
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
		if (reason == GPUAGG_OK && gpud_job_is_scan(job))
			reply.u.scan.carry = job->request.u.scan.carry;
		else if (reason == GPUAGG_OK)
		{
			reply.u.reduce = job->total;
		}
		gpud_reply(client, &job->request.h, reason, &reply, -1);
	}
	free(job);
}

/*
 * Makes a carried state sane, whatever the client sent: the kernels are given
 * propagated chunks, and for integer kinds no chunks at all.
 */
static bool
check_carry(int kind, GpuaggScanState *carry)
{
	GpuaggFloatSum *f = gpuagg_float_sum_of(&carry->f);
	GpuaggFloatCounts c = carry->f.counts;

	if (c.n < 0 || c.n > MAX_CHUNK || c.n_nan < 0 || c.n_pinf < 0 || c.n_ninf < 0 ||
		c.n_negzero < 0 || c.n_nan > c.n || c.n_pinf > c.n - c.n_nan ||
		c.n_ninf > c.n - c.n_nan - c.n_pinf || c.n_negzero > c.n - c.n_nan - c.n_pinf - c.n_ninf)
		return false;
	if (kind != GPUAGG_FLOAT64)
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

static GpuaggReason
accept(Client *client, const GpuaggRequest *request, Job **accepted)
{
	bool scan = request->h.type == GPUAGG_MSG_SCAN;
	uint32_t region = scan ? request->u.scan.region : request->u.reduce.region;
	Segment *segment;
	uint64_t rows;
	Job *job;

	if (!gpud_device.ready)
		return gpud_device.reason;
	segment = gpud_segment_of(client, region);
	if (segment == NULL || gpuagg_request_check(request, gpud_segment_size(segment)) != GPUAGG_OK)
		return GPUAGG_REFUSED;
	if (client->inflight >= GPUAGG_MAX_INFLIGHT || njobs >= GPUD_MAX_QUEUED)
		return GPUAGG_BUSY;

	job = calloc(1, sizeof(Job));
	if (job == NULL)
		return GPUAGG_BUSY;
	job->client = client;
	job->segment = segment;
	job->request = *request;
	job->kind = (int) (scan ? request->u.scan.kind : request->u.reduce.kind);
	job->nrows = scan ? request->u.scan.nrows : request->u.reduce.nrows;
	if (scan && !check_carry(job->kind, &job->request.u.scan.carry))
	{
		free(job);
		return GPUAGG_REFUSED;
	}
	gpuagg_float_sum_init(gpuagg_float_sum_of(&job->total.f), 0, GPUAGG_CHUNKS);

	/* two lanes at least should be able to work at the same time */
	rows = gpud_device.info[gpud_device.used].simulated ? PIECE_ROWS_SIM : PIECE_ROWS;
	if (job->nrows < rows)
		rows = (job->nrows + 63) / 64 * 64;
	set_piece_rows(job, rows);
	while (job->layout.total > gpud_lane_budget / 2 && job->piece_rows > PIECE_ROWS_MIN)
		set_piece_rows(job, (job->piece_rows / 2 + 63) / 64 * 64);
	if (job->layout.total > gpud_lane_budget)
	{
		free(job);
		return GPUAGG_NO_DEVICE_MEMORY;
	}
	*accepted = job;
	return GPUAGG_OK;
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
	GpuaggReason reason = accept(client, request, &job);

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
}

/* Takes over the result of a piece that has ended. */
static void
collect(Lane *lane)
{
	Job *job = lane->job;
	const Slot *slot = lane->slot;

	if (job->failure == GPUAGG_OK && gpud_job_is_scan(job))
	{
		if (slot->state_out.out_of_window)
			job->failure = GPUAGG_RANGE;
		job->request.u.scan.carry = slot->state_out.state;
	}
	else if (job->failure == GPUAGG_OK)
	{
		job->total.n += slot->reduced.n;
		job->total.sum = gpuagg_int128_add(job->total.sum, slot->reduced.sum);
		if (job->kind == GPUAGG_FLOAT64)
			gpuagg_float_sum_merge(gpuagg_float_sum_of(&job->total.f),
								   (const GpuaggFloatSum *) &slot->reduced.f);
	}
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
		Lane *lane = gpud_lane_find(job->layout.total);

		if (lane == NULL)
			return false;
		served_now = client->served;
		client->served += rows * gpuagg_kind_size(job->kind);
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
	if (njobs == 0)
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
	if (start_pieces())
		return WORK_TO_START;
	for (int i = 0; i < GPUD_MAX_STREAMS; i++)
		if (gpud_lanes[i].job != NULL && !gpud_lanes[i].growing)
			return WORK_RUNNING;
	return WORK_NONE;
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
}
