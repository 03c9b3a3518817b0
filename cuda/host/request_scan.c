/*
 * request_scan.c
 *	  SCAN: running results over a column, by the production kernels.
 *
 * The state carried from one piece to the next is kept in the request's carry.
 */
#include "host/columns.h"
#include "host/request_table.h"
#include "kernels/kernels.h"

#define MAX_CHUNK (INT64_C(1) << 62) /* of a carried state */
#define MAX_COUNT MAX_CHUNK

typedef struct ScanJob
{
	ColumnJob columns;
	size_t state_in; /* places */
	size_t state_out;
	uint32_t overflows; /* whether a row had that status so far */
} ScanJob;

typedef struct ScanSlot
{
	GpuScanState state_in;
	GpuScanState state_out;
} ScanSlot;

static_assert(sizeof(ScanSlot) <= GPUD_SLOT_BYTES, "a slot holds both states");

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

static GpuaggReason
check(Job *job)
{
	GpuaggWork *work = &job->request.u.work;
	GpuaggReason reason = gpud_columns_check(job);

	if (reason == GPUAGG_OK && !check_carry((int) work->kind, (int) work->op, &work->u.scan.carry))
		reason = GPUAGG_REFUSED;
	return reason;
}

static GpuaggReason
plan(Job *job)
{
	ScanJob *scan = (ScanJob *) job;

	gpud_columns_plan(job);
	scan->state_in = gpud_place(&job->block_bytes, sizeof(GpuScanState));
	scan->state_out = gpud_place(&job->block_bytes, sizeof(GpuScanState));
	return GPUAGG_OK;
}

static GpuaggReason
launch(Lane *lane)
{
	const ScanJob *job = (const ScanJob *) lane->job;
	const GpuaggWork *work = &lane->job->request.u.work;
	GpuScanState *state_in = (GpuScanState *) (lane->block + job->state_in);
	ScanSlot *slot = lane->slot;
	GpuScan scan = {0};
	GpuaggReason reason = gpud_columns_copy_in(lane);

	memset(&slot->state_in, 0, sizeof(slot->state_in));
	slot->state_in.state = work->u.scan.carry;
	scan.kind = (int) work->kind;
	scan.op = (int) work->op;
	scan.flags = work->flags & (GPUAGG_SCAN_EXCLUSIVE | GPUAGG_SCAN_NARROW);
	scan.window = work->u.scan.window;
	scan.nrows = lane->units;
	scan.values = gpud_column(lane, GPUAGG_VALUES);
	scan.validity = gpud_column(lane, GPUAGG_VALIDITY);
	scan.heads = gpud_column(lane, GPUAGG_HEADS);
	scan.state_in = state_in;
	scan.results = gpud_column(lane, GPUAGG_RESULTS);
	scan.status = gpud_column(lane, GPUAGG_STATUS);
	scan.state_out = (GpuScanState *) (lane->block + job->state_out);
	scan.scratch = lane->block + gpud_scan_scratch;
	if (reason == GPUAGG_OK)
		reason = gpu_copy_in(state_in, &slot->state_in, sizeof(*state_in), lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_scan(&scan, lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(&slot->state_out, scan.state_out, sizeof(slot->state_out),
							  lane->stream);
	return reason == GPUAGG_OK ? gpud_columns_copy_out(lane) : reason;
}

static void
collect(Lane *lane)
{
	const GpuScanState *state = &((ScanSlot *) lane->slot)->state_out;

	if (state->out_of_window)
		lane->job->failure = GPUAGG_RANGE;
	lane->job->request.u.work.u.scan.carry = state->state;
	((ScanJob *) lane->job)->overflows |= state->overflows;
}

static void
answer(Job *job, GpuaggReply *reply)
{
	reply->u.scan.carry = job->request.u.work.u.scan.carry;
	reply->u.scan.overflows = ((ScanJob *) job)->overflows;
}

const RequestType gpud_request_scan = {
	.works = true,
	.job_bytes = sizeof(ScanJob),
	.check = check,
	.plan = plan,
	.launch = launch,
	.collect = collect,
	.answer = answer,
	.forget = gpud_columns_forget,
};
