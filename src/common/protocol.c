/*
 * protocol.c
 *	  The checks that both ends make of requests and replies.
 */
#include "common/protocol.h"

typedef struct Extent
{
	uint64_t start;
	uint64_t length; /* 0: not used */
} Extent;

#define MAX_INPUTS	3
#define MAX_OUTPUTS 2

/* What a request names in its region. */
typedef struct Extents
{
	Extent input[MAX_INPUTS];
	Extent output[MAX_OUTPUTS];
} Extents;

static int
extent_fits(Extent e, uint64_t bytes)
{
	return e.length == 0 ||
		   (e.start % GPUAGG_ALIGN == 0 && e.start <= bytes && e.length <= bytes - e.start);
}

static int
extents_overlap(Extent a, Extent b)
{
	return a.length > 0 && b.length > 0 && a.start < b.start + b.length &&
		   b.start < a.start + a.length;
}

static GpuaggReason
check_extents(const Extents *e, uint64_t bytes)
{
	for (int i = 0; i < MAX_INPUTS; i++)
		if (!extent_fits(e->input[i], bytes))
			return GPUAGG_REFUSED;
	for (int k = 0; k < MAX_OUTPUTS; k++)
		if (!extent_fits(e->output[k], bytes))
			return GPUAGG_REFUSED;

	for (int k = 0; k < MAX_OUTPUTS; k++)
	{
		for (int i = 0; i < MAX_INPUTS; i++)
			if (extents_overlap(e->output[k], e->input[i]))
				return GPUAGG_REFUSED;
		for (int i = 0; i < k; i++)
			if (extents_overlap(e->output[k], e->output[i]))
				return GPUAGG_REFUSED;
	}
	return GPUAGG_OK;
}

static void
set_extent(Extent *e, uint64_t start, uint64_t length)
{
	e->start = start;
	e->length = length;
}

static uint64_t
bitmap_bytes(uint64_t nrows)
{
	return (nrows + 63) / 64 * 8;
}

static int
rows_allowed(uint64_t nrows, uint64_t most)
{
	return nrows > 0 && nrows <= most;
}

static GpuaggReason
check_reduce(const GpuaggRequest *request, uint64_t bytes)
{
	uint64_t n = request->u.reduce.nrows;
	uint32_t op = request->u.reduce.op;
	uint32_t flags = request->u.reduce.flags;
	size_t size = gpuagg_kind_size((int) request->u.reduce.kind);
	Extents e = {0};

	if (size == 0 || !rows_allowed(n, GPUAGG_MAX_ROWS) || op < GPUAGG_SUM || op > GPUAGG_MOMENTS ||
		(flags & ~GPUAGG_SCAN_VALIDITY))
		return GPUAGG_REFUSED;

	if (op != GPUAGG_COUNT)
		set_extent(&e.input[0], request->u.reduce.offset, n * size);
	if (flags & GPUAGG_SCAN_VALIDITY)
		set_extent(&e.input[1], request->u.reduce.validity_offset, bitmap_bytes(n));
	return check_extents(&e, bytes);
}

static GpuaggReason
check_scan(const GpuaggRequest *request, uint64_t bytes)
{
	uint64_t n = request->u.scan.nrows;
	uint32_t op = request->u.scan.op;
	uint32_t flags = request->u.scan.flags;
	const GpuaggFloatSumFull *f = &request->u.scan.carry.f;
	int kind = (int) request->u.scan.kind;
	size_t size = gpuagg_kind_size(kind);
	Extents e = {0};

	if (size == 0 || !rows_allowed(n, GPUAGG_MAX_ROWS) || op < GPUAGG_SUM || op > GPUAGG_COUNT ||
		(flags & ~(GPUAGG_SCAN_EXCLUSIVE | GPUAGG_SCAN_VALIDITY | GPUAGG_SCAN_HEADS |
				   GPUAGG_SCAN_NARROW | GPUAGG_SCAN_STATUS)))
		return GPUAGG_REFUSED;
	if (f->base != 0 || f->width != GPUAGG_CHUNKS || f->counts.n < 0)
		return GPUAGG_REFUSED;
	if (request->u.scan.window < 0 || request->u.scan.window >= GPUAGG_CHUNKS)
		return GPUAGG_REFUSED;

	if (op != GPUAGG_COUNT)
		set_extent(&e.input[0], request->u.scan.values_offset, n * size);
	if (flags & GPUAGG_SCAN_VALIDITY)
		set_extent(&e.input[1], request->u.scan.validity_offset, bitmap_bytes(n));
	if (flags & GPUAGG_SCAN_HEADS)
		set_extent(&e.input[2], request->u.scan.heads_offset, bitmap_bytes(n));
	set_extent(&e.output[0], request->u.scan.result_offset,
			   n * gpuagg_scan_result_size(kind, (int) op, flags));
	if (flags & GPUAGG_SCAN_STATUS)
		set_extent(&e.output[1], request->u.scan.status_offset, n);
	return check_extents(&e, bytes);
}

static GpuaggReason
check_sort(const GpuaggRequest *request, uint64_t bytes)
{
	uint64_t n = request->u.sort.nrows;
	uint32_t words = request->u.sort.words;
	Extents e = {0};

	if (words < 1 || words > GPUAGG_SORT_WORDS || request->u.sort.bits < 1 ||
		request->u.sort.bits > 64 * words || !rows_allowed(n, GPUAGG_MAX_ROWS))
		return GPUAGG_REFUSED;
	set_extent(&e.output[0], request->u.sort.offset, n * gpuagg_sort_item_size((int) words));
	return check_extents(&e, bytes);
}

/* Whether an algorithm of the ladder, or the production kernels, can do this. */
static int
algorithm_allowed(uint32_t algorithm, uint32_t task, int kind, uint64_t nrows)
{
	const GpuaggAlgorithmInfo *info;

	info = algorithm < GPUAGG_NALGORITHMS ? gpuagg_algorithm((int) algorithm) : NULL;
	if (info == NULL || (info->tasks & task) == 0)
		return 0;
	if (algorithm == GPUAGG_ALG_SEQUENTIAL || algorithm == GPUAGG_ALG_RECURSIVE_HALVING)
		return 0;
	return !(info->integers_only && gpuagg_kind_is_float(kind)) &&
		   (info->max_rows == 0 || nrows <= info->max_rows);
}

static int
task_known(uint32_t task)
{
	return task == GPUAGG_REDUCE || task == GPUAGG_SCAN || task == GPUAGG_SEGMENTED_SCAN;
}

static GpuaggReason
check_ladder(const GpuaggRequest *request, uint64_t bytes)
{
	uint64_t n = request->u.ladder.nrows;
	uint32_t task = request->u.ladder.task;
	uint32_t op = request->u.ladder.op;
	int kind = (int) request->u.ladder.kind;
	size_t size = gpuagg_kind_size(kind);
	Extents e = {0};

	if (size == 0 || !task_known(task) || !rows_allowed(n, GPUAGG_LADDER_ROWS) || op < GPUAGG_SUM ||
		op > GPUAGG_MAX || request->u.ladder.exclusive > 1 ||
		request->u.ladder.algorithm == GPUAGG_ALG_PRODUCTION ||
		!algorithm_allowed(request->u.ladder.algorithm, task, kind, n))
		return GPUAGG_REFUSED;

	set_extent(&e.input[0], request->u.ladder.values_offset, n * size);
	if (task == GPUAGG_SEGMENTED_SCAN)
		set_extent(&e.input[1], request->u.ladder.heads_offset, bitmap_bytes(n));
	set_extent(&e.output[0], request->u.ladder.result_offset,
			   (task == GPUAGG_REDUCE ? 1 : n) * gpuagg_ladder_result_size(kind));
	return check_extents(&e, bytes);
}

static GpuaggReason
check_bench(const GpuaggRequest *request)
{
	uint64_t n = request->u.bench.nrows;
	uint32_t task = request->u.bench.task;
	uint32_t algorithm = request->u.bench.algorithm;
	uint32_t repetitions = request->u.bench.repetitions;
	int kind = (int) request->u.bench.kind;

	if (gpuagg_kind_size(kind) == 0 || !task_known(task) || !rows_allowed(n, GPUAGG_MAX_ROWS) ||
		repetitions < 1 || repetitions > GPUAGG_BENCH_REPETITIONS)
		return GPUAGG_REFUSED;
	if (algorithm == GPUAGG_ALG_CUB || algorithm == GPUAGG_ALG_READ ||
		algorithm == GPUAGG_ALG_COPY || algorithm_allowed(algorithm, task, kind, n))
		return GPUAGG_OK;
	return GPUAGG_REFUSED;
}

GpuaggReason
gpuagg_request_check(const GpuaggRequest *request, uint64_t bytes)
{
	switch (request->h.type)
	{
		case GPUAGG_MSG_REDUCE:
			return check_reduce(request, bytes);
		case GPUAGG_MSG_SCAN:
			return check_scan(request, bytes);
		case GPUAGG_MSG_SORT:
			return check_sort(request, bytes);
		case GPUAGG_MSG_LADDER:
			return check_ladder(request, bytes);
		case GPUAGG_MSG_BENCH:
			return check_bench(request);
		default:
			return GPUAGG_REFUSED;
	}
}

int
gpuagg_reply_check(const GpuaggReply *reply)
{
	const GpuaggFloatSumFull *f;

	if (reply->h.reason != GPUAGG_OK)
		return 1;
	if (reply->h.type == GPUAGG_MSG_REDUCE)
		f = &reply->u.reduce.f;
	else if (reply->h.type == GPUAGG_MSG_SCAN)
		f = &reply->u.scan.carry.f;
	else
		return 1;
	return f->base == 0 && f->width == GPUAGG_CHUNKS;
}
