/*
 * protocol.c
 *	  The checks of requests and replies that both ends make.
 */
#include "common/protocol.h"
#include "common/vector.h"

static int
rows_allowed(uint64_t nrows, uint64_t most)
{
	return nrows > 0 && nrows <= most;
}

static int
check_reduce(const GpuaggWork *work)
{
	return gpuagg_kind_size((int) work->kind) > 0 && work->op >= GPUAGG_SUM &&
		   work->op <= GPUAGG_MOMENTS && (work->flags & ~GPUAGG_SCAN_VALIDITY) == 0;
}

static int
check_scan(const GpuaggWork *work)
{
	const GpuaggFloatSumFull *f = &work->u.scan.carry.f;

	return gpuagg_kind_size((int) work->kind) > 0 && work->op >= GPUAGG_SUM &&
		   work->op <= GPUAGG_COUNT &&
		   (work->flags & ~(GPUAGG_SCAN_EXCLUSIVE | GPUAGG_SCAN_VALIDITY | GPUAGG_SCAN_HEADS |
							GPUAGG_SCAN_NARROW | GPUAGG_SCAN_STATUS)) == 0 &&
		   f->base == 0 && f->width == GPUAGG_CHUNKS && f->counts.n >= 0 &&
		   work->u.scan.window >= 0 && work->u.scan.window < GPUAGG_CHUNKS;
}

static int
check_sort(const GpuaggWork *work)
{
	uint32_t words = work->u.sort.words;

	return work->kind == 0 && work->op == 0 && work->flags == 0 && words >= 1 &&
		   words <= GPUAGG_SORT_WORDS && work->u.sort.bits >= 1 && work->u.sort.bits <= 64 * words;
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

static int
check_ladder(const GpuaggWork *work)
{
	uint32_t task = work->u.ladder.task;
	uint32_t algorithm = work->u.ladder.algorithm;
	int kind = (int) work->kind;

	return gpuagg_kind_size(kind) > 0 && task_known(task) && work->nrows <= GPUAGG_LADDER_ROWS &&
		   work->op >= GPUAGG_SUM && work->op <= GPUAGG_MAX &&
		   (work->flags & ~GPUAGG_SCAN_EXCLUSIVE) == 0 && algorithm != GPUAGG_ALG_PRODUCTION &&
		   algorithm_allowed(algorithm, task, kind, work->nrows);
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

/* Whether so many bytes at a place are within a region, and aligned. */
static int
is_within(uint64_t at, uint64_t size, uint64_t align, uint64_t bytes)
{
	return at % align == 0 && size <= bytes && at <= bytes - size;
}

/* Whether a block of narrow.h can have this type and width. */
static int
form_allowed(const GpuaggNarrow *form)
{
	uint32_t size = (uint32_t) gpuagg_vector_type_size(form->type);
	uint32_t width = form->width;

	if (form->type == GPUAGG_VECTOR_BOOL)
		return width == 0;
	if (form->type < GPUAGG_VECTOR_INT16 || form->type > GPUAGG_VECTOR_FLOAT64)
		return 0;
	if (form->type >= GPUAGG_VECTOR_FLOAT32)
		return width == size;
	return width >= 1 && width <= size && (width & (width - 1)) == 0;
}

static GpuaggReason
check_put(const GpuaggPut *put, uint64_t bytes)
{
	uint64_t n = put->nrows;

	if (put->name.number == 0 || !form_allowed(&put->form) || !rows_allowed(n, GPUAGG_BLOB_ROWS) ||
		put->nullable > 1 || put->spare != 0 ||
		!is_within(put->values, gpuagg_narrow_bytes(&put->form, n), GPUAGG_BLOB_ALIGN, bytes) ||
		(put->nullable &&
		 !is_within(put->valid, gpuagg_blob_bitmap_bytes(n), GPUAGG_BLOB_ALIGN, bytes)))
		return GPUAGG_REFUSED;
	return GPUAGG_OK;
}

static GpuaggReason
check_query(const GpuaggRequest *request, uint64_t bytes)
{
	uint64_t at = request->u.query.at;
	uint64_t size = request->u.query.bytes;
	uint64_t answer_at = request->u.query.answer_at;
	uint64_t answer_size = request->u.query.answer_bytes;

	if (request->u.query.spare != 0 || !is_within(at, size, GPUAGG_ALIGN, bytes) ||
		!is_within(answer_at, answer_size, GPUAGG_ALIGN, bytes) ||
		(at < answer_at + answer_size && answer_at < at + size))
		return GPUAGG_REFUSED;
	return GPUAGG_OK;
}

GpuaggReason
gpuagg_request_check(const GpuaggRequest *request, uint64_t bytes)
{
	static int (*const check[])(const GpuaggWork *) = {
		[GPUAGG_MSG_REDUCE] = check_reduce,
		[GPUAGG_MSG_SCAN] = check_scan,
		[GPUAGG_MSG_SORT] = check_sort,
		[GPUAGG_MSG_LADDER] = check_ladder,
	};
	const GpuaggWork *work = &request->u.work;
	int type = request->h.type;

	if (type == GPUAGG_MSG_BENCH)
		return check_bench(request);
	if (type == GPUAGG_MSG_PUT)
		return check_put(&request->u.put, bytes);
	if (type == GPUAGG_MSG_QUERY)
		return check_query(request, bytes);
	if (type == GPUAGG_MSG_DROP)
		return request->u.drop.count <= GPUAGG_DROPS ? GPUAGG_OK : GPUAGG_REFUSED;
	if (type >= (int) (sizeof(check) / sizeof(check[0])) || check[type] == NULL ||
		!rows_allowed(work->nrows, GPUAGG_MAX_ROWS) || !check[type](work) ||
		!gpuagg_work_columns_check(type, work, bytes))
		return GPUAGG_REFUSED;
	return GPUAGG_OK;
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
