/*
 * work.c
 *	  REDUCE and SCAN requests on the device.
 *
 * A request (Job) is done in pieces of rows, so that none holds the device for
 * long.  Each piece is complete in itself: a scan's running state and the sum
 * so far are kept in the Job between pieces, and merging is exact, so pieces
 * cannot change a bit of the result.
 *
 * A Lane is a stream with a block of device memory of its own and a pinned slot
 * for small results; it works on one piece at a time.  Blocks grow as pieces
 * need it (in the set-up thread, since that may stall) and are kept.
 *
 * Whose piece comes next: the client that has been served the fewest bytes,
 * where one that was away does not save up the time.
 *
 * A piece is done when its event says so.  The wake-up by a host function only
 * shortens the wait: it does not come once the context has failed.
 */
#include "gpud.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>

#define PIECE_ROWS	   (UINT64_C(1) << 22) /* 32 MB of int64: 0.6 ms over PCIe 5 */
#define PIECE_ROWS_SIM (UINT64_C(1) << 17) /* the simulator is that much slower */
#define PIECE_ROWS_MIN (UINT64_C(1) << 12)
#define BLOCK_MIN	   (UINT64_C(1) << 20)	/* bytes */
#define DEADLINE_NS	   INT64_C(30000000000) /* a piece that takes longer hangs */
#define MAX_CHUNK	   (INT64_C(1) << 62)	/* of a carried state */
#define PROBE_ROWS	   5

/* Pinned host memory of a lane: what goes to the device and comes back by itself. */
typedef struct Slot
{
	GpuReduceResult reduced;
	GpuScanState state_in;
	GpuScanState state_out;
} Slot;

struct Job
{
	Job *next;		/* in the client's queue */
	Client *client; /* NULL: it has gone, nobody wants the answer */
	Segment *segment;
	GpuaggRequest request; /* as checked; a scan's carry moves on with it */
	int kind;
	uint64_t nrows;
	uint64_t rows_done;
	uint64_t piece_rows; /* at most */
	GpuaggReason failure;
	GpuReduceResult total; /* REDUCE: the pieces so far */
};

/* Where the parts of a piece lie in a lane's block; offsets in bytes. */
typedef struct Layout
{
	size_t result; /* GpuReduceResult, or the GpuScanState that comes out */
	size_t state_in;
	size_t values;
	size_t validity;
	size_t results;
	size_t status;
	size_t scratch;
	size_t total;
} Layout;

typedef struct Lane
{
	Task grow_task; /* first: tasks are cast to lanes */
	GpuStreamRef stream;
	GpuEventRef event;
	char *block;
	uint64_t block_bytes;
	Slot *slot;
	Job *job;	   /* NULL: idle */
	bool growing;  /* with the set-up thread; job waits for it */
	uint64_t rows; /* of the piece under way */
	int64_t started;

	void *given_up[GPUD_MAX_STREAMS]; /* blocks to free before growing */
	int ngiven_up;
	GpuaggReason grow_reason;
} Lane;

static Lane lanes[GPUD_MAX_STREAMS];
static Slot *slots;
static uint64_t budget; /* bytes of device memory */
static int wakeup_fd = -1;
static int njobs;
static int nqueued;
static uint64_t served_now; /* of the client served last */

int
gpud_work_fd(void)
{
	if (wakeup_fd < 0)
		wakeup_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return wakeup_fd;
}

int
gpud_work_inflight(void)
{
	return njobs;
}

uint64_t
gpud_work_device_bytes(void)
{
	uint64_t bytes = 0;

	for (int i = 0; i < GPUD_MAX_STREAMS; i++)
		bytes += lanes[i].block_bytes;
	return bytes;
}

static size_t
place(Layout *layout, size_t bytes)
{
	size_t at = layout->total;

	layout->total += (bytes + GPUAGG_ALIGN - 1) / GPUAGG_ALIGN * GPUAGG_ALIGN;
	return at;
}

static bool
is_scan(const Job *job)
{
	return job->request.h.type == GPUAGG_MSG_SCAN;
}

static Layout
layout_for(const Job *job, uint64_t rows)
{
	Layout l;
	size_t value_bytes = rows * gpuagg_kind_size(job->kind);

	memset(&l, 0, sizeof(l));
	if (is_scan(job))
	{
		l.result = place(&l, sizeof(GpuScanState));
		l.state_in = place(&l, sizeof(GpuScanState));
		l.values = place(&l, value_bytes);
		l.validity = place(&l, (rows + 63) / 64 * 8);
		l.results = place(&l, rows * gpuagg_scan_result_size(job->kind));
		l.status = place(&l, rows);
		l.scratch = place(&l, gpu_scan_scratch(job->kind, rows));
	}
	else
	{
		l.result = place(&l, sizeof(GpuReduceResult));
		l.values = place(&l, value_bytes);
		l.scratch = place(&l, gpu_reduce_scratch(job->kind, rows));
	}
	return l;
}

/*
 * Answers a job, or drops it when its client has gone.
 */
static void
finish(Job *job, GpuaggReason reason)
{
	Client *client = job->client;

	gpud_segment_let_go(job->segment);
	njobs--;
	if (client != NULL)
	{
		GpuaggReply reply;

		client->inflight--;
		memset(&reply, 0, sizeof(reply));
		if (reason == GPUAGG_OK && is_scan(job))
			reply.u.scan.carry = job->request.u.scan.carry;
		else if (reason == GPUAGG_OK)
		{
			reply.u.reduce.n = job->total.n;
			reply.u.reduce.sum = job->total.sum;
			reply.u.reduce.f = job->total.f;
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
	job->piece_rows = gpud_device.info[gpud_device.used].simulated ? PIECE_ROWS_SIM : PIECE_ROWS;
	if (job->nrows < job->piece_rows)
		job->piece_rows = (job->nrows + 63) / 64 * 64;
	while (job->piece_rows > PIECE_ROWS_MIN && layout_for(job, job->piece_rows).total > budget / 2)
		job->piece_rows = (job->piece_rows / 2 + 63) / 64 * 64;
	if (layout_for(job, job->piece_rows).total > budget)
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
		finish(job, GPUAGG_OK);
	}
	for (int i = 0; i < GPUD_MAX_STREAMS; i++)
		if (lanes[i].job != NULL && lanes[i].job->client == client)
			lanes[i].job->client = NULL;
}

/* Called by a thread of the driver. */
static void
wake_loop(void *arg)
{
	(void) arg;
	(void) eventfd_write(wakeup_fd, 1);
}

static GpuaggReason
launch_reduce(Lane *lane, const Layout *l)
{
	Job *job = lane->job;
	size_t size = gpuagg_kind_size(job->kind);
	const char *values = gpud_segment_base(job->segment) + job->request.u.reduce.offset +
						 job->rows_done * size;
	GpuReduceResult *result = (GpuReduceResult *) (lane->block + l->result);
	GpuaggReason reason;

	reason = gpu_copy_in(lane->block + l->values, values, lane->rows * size, lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_reduce(job->kind, lane->block + l->values, lane->rows, result,
							lane->block + l->scratch, lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(&lane->slot->reduced, result, sizeof(*result), lane->stream);
	return reason;
}

static GpuaggReason
launch_scan(Lane *lane, const Layout *l)
{
	Job *job = lane->job;
	const GpuaggRequest *request = &job->request;
	uint64_t first = job->rows_done; /* a multiple of 64 */
	size_t size = gpuagg_kind_size(job->kind);
	size_t result_size = gpuagg_scan_result_size(job->kind);
	bool nulls = (request->u.scan.flags & GPUAGG_SCAN_VALIDITY) != 0;
	char *base = gpud_segment_base(job->segment);
	char *block = lane->block;
	GpuScanState *state_in = (GpuScanState *) (block + l->state_in);
	GpuScanState *state_out = (GpuScanState *) (block + l->result);
	GpuaggReason reason;

	memset(&lane->slot->state_in, 0, sizeof(lane->slot->state_in));
	lane->slot->state_in.state = request->u.scan.carry;

	reason = gpu_copy_in(state_in, &lane->slot->state_in, sizeof(*state_in), lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_in(block + l->values, base + request->u.scan.values_offset + first * size,
							 lane->rows * size, lane->stream);
	if (reason == GPUAGG_OK && nulls)
		reason = gpu_copy_in(block + l->validity,
							 base + request->u.scan.validity_offset + first / 8,
							 (lane->rows + 63) / 64 * 8, lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_scan(job->kind, request->u.scan.flags, request->u.scan.window,
						  block + l->values,
						  nulls ? (const uint64_t *) (block + l->validity) : NULL, lane->rows,
						  state_in, block + l->results, (uint8_t *) (block + l->status), state_out,
						  block + l->scratch, lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(base + request->u.scan.result_offset + first * result_size,
							  block + l->results, lane->rows * result_size, lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(base + request->u.scan.status_offset + first, block + l->status,
							  lane->rows, lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(&lane->slot->state_out, state_out, sizeof(*state_out), lane->stream);
	return reason;
}

/*
 * Starts the next piece of the lane's job.  Also when something could not be
 * enqueued, what was must end before the segment may be let go.
 */
static void
launch(Lane *lane)
{
	Job *job = lane->job;
	Layout layout = layout_for(job, job->piece_rows);
	uint64_t left = job->nrows - job->rows_done;
	GpuaggReason reason;

	lane->rows = left < job->piece_rows ? left : job->piece_rows;
	lane->started = gpud_now();
	reason = is_scan(job) ? launch_scan(lane, &layout) : launch_reduce(lane, &layout);
	if (reason == GPUAGG_LOST)
		gpud_lost(gpu_last_error());
	if (reason != GPUAGG_OK)
	{
		gpud_warn("a request could not be started: %s: %s", gpuagg_reason_text(reason),
				  gpu_last_error());
		job->failure = reason;
	}
	if (gpu_event_record(lane->event, lane->stream) != GPUAGG_OK ||
		gpu_host_call(lane->stream, wake_loop, NULL) != GPUAGG_OK)
		gpud_lost(gpu_last_error());
}

/* Takes over the result of a piece that has ended. */
static void
collect(Lane *lane)
{
	Job *job = lane->job;
	const Slot *slot = lane->slot;

	if (job->failure == GPUAGG_OK && is_scan(job))
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
		finish(job, job->failure);
	else
		enqueue_again(job->client, job);
}

static void
grow_run(Task *task)
{
	Lane *lane = (Lane *) task;
	void *block = NULL;

	lane->grow_reason = GPUAGG_OK;
	for (int i = 0; i < lane->ngiven_up && lane->grow_reason == GPUAGG_OK; i++)
		lane->grow_reason = gpu_free(lane->given_up[i]);
	if (lane->grow_reason == GPUAGG_OK)
		lane->grow_reason = gpu_malloc(&block, lane->block_bytes);
	lane->block = block;
}

static void
grow_done(Task *task)
{
	Lane *lane = (Lane *) task;

	lane->growing = false;
	if (lane->grow_reason == GPUAGG_LOST)
		gpud_lost("device memory could not be allocated");
	if (lane->grow_reason != GPUAGG_OK)
	{
		/* others use the device's memory: this request must do without */
		gpud_warn("could not allocate %llu bytes of device memory",
				  (unsigned long long) lane->block_bytes);
		lane->block_bytes = 0;
	}
	if (lane->grow_reason == GPUAGG_OK && lane->job->client != NULL)
		launch(lane);
	else
	{
		finish(lane->job, GPUAGG_NO_DEVICE_MEMORY);
		lane->job = NULL;
	}
}

static void
give_up_block(Lane *for_lane, Lane *lane)
{
	if (lane->block != NULL)
		for_lane->given_up[for_lane->ngiven_up++] = lane->block;
	lane->block = NULL;
	lane->block_bytes = 0;
}

/*
 * Finds a lane for a block of this size.  NULL when all lanes are at work, or
 * those at work hold too much of the budget: some will be free later.  A lane
 * whose block is too small is returned with `growing` set.
 */
static Lane *
find_lane(uint64_t need)
{
	Lane *fitting = NULL;
	Lane *smallest = NULL;
	uint64_t busy_bytes = 0;
	uint64_t other_bytes;
	uint64_t wanted = BLOCK_MIN;

	for (int i = 0; i < GPUD_MAX_STREAMS; i++)
	{
		Lane *lane = &lanes[i];

		if (lane->job != NULL)
			busy_bytes += lane->block_bytes;
		else
		{
			if (lane->block_bytes >= need &&
				(fitting == NULL || lane->block_bytes < fitting->block_bytes))
				fitting = lane;
			if (smallest == NULL || lane->block_bytes < smallest->block_bytes)
				smallest = lane;
		}
	}
	if (fitting != NULL || smallest == NULL)
		return fitting;
	if (need > budget || busy_bytes > budget - need)
		return NULL;

	while (wanted < need)
		wanted *= 2;
	smallest->ngiven_up = 0;
	give_up_block(smallest, smallest);
	other_bytes = gpud_work_device_bytes();
	for (int i = 0; i < GPUD_MAX_STREAMS && other_bytes > budget - need; i++)
		if (lanes[i].job == NULL && lanes[i].block_bytes > 0)
		{
			other_bytes -= lanes[i].block_bytes;
			give_up_block(smallest, &lanes[i]);
		}
	smallest->block_bytes = wanted <= budget - other_bytes ? wanted : need;
	smallest->growing = true;
	return smallest;
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

static void
start_pieces(void)
{
	while (nqueued > 0)
	{
		Client *client = pick_client();
		Job *job = client->queue;
		uint64_t left = job->nrows - job->rows_done;
		uint64_t rows = left < job->piece_rows ? left : job->piece_rows;
		Lane *lane = find_lane(layout_for(job, job->piece_rows).total);

		if (lane == NULL)
			return;
		served_now = client->served;
		client->served += rows * gpuagg_kind_size(job->kind);
		lane->job = dequeue(client);
		if (lane->growing)
			gpud_setup_submit(&lane->grow_task);
		else
			launch(lane);
	}
}

bool
gpud_work_advance(void)
{
	bool running = false;

	if (njobs == 0)
		return false;
	for (int i = 0; i < GPUD_MAX_STREAMS; i++)
	{
		Lane *lane = &lanes[i];
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
	start_pieces();
	for (int i = 0; i < GPUD_MAX_STREAMS; i++)
		if (lanes[i].job != NULL && !lanes[i].growing)
			running = true;
	return running;
}

/* Answers all requests with GPUAGG_LOST; nothing is kept up to date any more. */
void
gpud_work_lost(void)
{
	for (int i = 0; i < GPUD_MAX_STREAMS; i++)
		if (lanes[i].job != NULL && lanes[i].job->client != NULL)
			gpud_reply_reason(lanes[i].job->client, &lanes[i].job->request.h, GPUAGG_LOST);
	for (Client *client = gpud_clients(); client != NULL; client = client->next)
		for (Job *job = client->queue; job != NULL; job = job->next)
			gpud_reply_reason(client, &job->request.h, GPUAGG_LOST);
}

/* Set-up thread: waits for everything on a lane's stream. */
static GpuaggReason
wait_for(Lane *lane)
{
	int64_t until = gpud_now() + DEADLINE_NS;
	GpuaggReason reason = gpu_event_record(lane->event, lane->stream);
	int done = 0;

	while (reason == GPUAGG_OK)
	{
		struct timespec pause = {0, 50000};

		reason = gpu_event_query(lane->event, &done);
		if (reason != GPUAGG_OK || done)
			break;
		if (gpud_now() > until)
			return GPUAGG_DEVICE_ERROR;
		nanosleep(&pause, NULL);
	}
	return reason;
}

/*
 * Runs the kernels on a few rows and looks at the answers: what a device can
 * really do shows only so.
 */
static GpuaggReason
probe(Lane *lane)
{
	static const double values[PROBE_ROWS] = {0.5, -3.0, 1048576.0, 0.25, -1048576.0};
	static const int64_t integers[PROBE_ROWS] = {INT64_MAX, INT64_MAX, -7, 5, 1};
	Slot *slot = lane->slot;
	int64_t low;
	double sum = 0;
	void *block;
	char *at;
	size_t scratch = gpu_reduce_scratch(GPUAGG_FLOAT64, PROBE_ROWS);
	GpuaggReason reason;

	if (scratch < gpu_reduce_scratch(GPUAGG_INT64, PROBE_ROWS))
		scratch = gpu_reduce_scratch(GPUAGG_INT64, PROBE_ROWS);
	reason = gpu_malloc(&block, 2 * 4096 + scratch);
	if (reason != GPUAGG_OK)
		return reason;
	at = block;

	for (int kind = GPUAGG_INT64; kind <= GPUAGG_FLOAT64 && reason == GPUAGG_OK; kind++)
	{
		GpuReduceResult *result = (GpuReduceResult *) (at + 4096);
		const void *input = kind == GPUAGG_INT64 ? (const void *) integers : (const void *) values;

		reason = gpu_copy_in(at, input, PROBE_ROWS * sizeof(double), lane->stream);
		if (reason == GPUAGG_OK)
			reason = gpu_reduce(kind, at, PROBE_ROWS, result, at + 2 * 4096, lane->stream);
		if (reason == GPUAGG_OK)
			reason = gpu_copy_out(&slot->reduced, result, sizeof(*result), lane->stream);
		if (reason == GPUAGG_OK)
			reason = wait_for(lane);
		if (reason != GPUAGG_OK)
			break;

		low = (int64_t) slot->reduced.sum.lo;
		if (kind == GPUAGG_INT64 &&
			(slot->reduced.n != PROBE_ROWS || slot->reduced.sum.hi != 0 || low != -3))
			reason = GPUAGG_DEVICE_ERROR;
		if (kind == GPUAGG_FLOAT64 && (gpuagg_float_sum_round64((GpuaggFloatSum *) &slot->reduced.f,
																&sum) != GPUAGG_ROUNDED_VALUE ||
									   sum != -2.25))
			reason = GPUAGG_DEVICE_ERROR;
		if (reason != GPUAGG_OK)
			gpud_warn("the device's kernels gave a wrong answer");
	}
	if (reason == GPUAGG_OK)
		reason = gpu_free(block);
	return reason;
}

/* After a failure; what cannot be undone either is of no use to anybody. */
static void
close_lanes(void)
{
	for (int i = 0; i < GPUD_MAX_STREAMS; i++)
	{
		if (lanes[i].event != NULL)
			(void) gpu_event_destroy(lanes[i].event);
		if (lanes[i].stream != NULL)
			(void) gpu_stream_destroy(lanes[i].stream);
	}
	memset(lanes, 0, sizeof(lanes));
	if (slots != NULL)
	{
		(void) gpu_host_unregister(slots);
		munmap(slots, GPUD_MAX_STREAMS * sizeof(Slot));
		slots = NULL;
	}
}

static GpuaggReason
open_lanes(void)
{
	GpuaggReason reason;
	uint64_t free_bytes;
	uint64_t total_bytes;
	void *p;

	reason = gpu_memory_info(&free_bytes, &total_bytes);
	if (reason != GPUAGG_OK)
		return reason;
	budget = gpud_options.device_memory > 0 ? gpud_options.device_memory : free_bytes / 4 * 3;

	p = mmap(NULL, GPUD_MAX_STREAMS * sizeof(Slot), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (p == MAP_FAILED)
		return GPUAGG_DEVICE_ERROR;
	reason = gpu_host_register(p, GPUD_MAX_STREAMS * sizeof(Slot));
	if (reason != GPUAGG_OK)
	{
		munmap(p, GPUD_MAX_STREAMS * sizeof(Slot));
		return reason;
	}
	slots = p;

	for (int i = 0; i < GPUD_MAX_STREAMS && reason == GPUAGG_OK; i++)
	{
		lanes[i].slot = &slots[i];
		lanes[i].grow_task.run = grow_run;
		lanes[i].grow_task.done = grow_done;
		reason = gpu_stream_create(&lanes[i].stream);
		if (reason == GPUAGG_OK)
			reason = gpu_event_create(&lanes[i].event);
	}
	return reason;
}

GpuaggReason
gpud_work_open(void)
{
	GpuaggReason reason = open_lanes();

	if (reason == GPUAGG_OK)
		reason = probe(&lanes[0]);
	if (reason != GPUAGG_OK)
		close_lanes();
	return reason;
}
