/*
 * protocol.c
 *	  The check that both ends make of a request.
 */
#include "protocol.h"

typedef struct Extent
{
	uint64_t start;
	uint64_t length;
} Extent;

static int
extent_fits(Extent e, uint64_t bytes)
{
	return e.start % GPUAGG_ALIGN == 0 && e.start <= bytes && e.length <= bytes - e.start;
}

static int
extents_overlap(Extent a, Extent b)
{
	return a.length > 0 && b.length > 0 && a.start < b.start + b.length &&
		   b.start < a.start + a.length;
}

static GpuaggReason
check_scan(const GpuaggRequest *request, uint64_t bytes)
{
	uint64_t n = request->u.scan.nrows;
	uint32_t flags = request->u.scan.flags;
	const GpuaggFloatSumFull *f = &request->u.scan.carry.f;
	size_t size = gpuagg_kind_size((int) request->u.scan.kind);
	Extent e[4]; /* two inputs, then two outputs */

	if (size == 0 || n == 0 || n > (uint64_t) GPUAGG_MAX_ROWS)
		return GPUAGG_REFUSED;
	if (flags & ~(GPUAGG_SCAN_EXCLUSIVE | GPUAGG_SCAN_VALIDITY))
		return GPUAGG_REFUSED;
	if (f->base != 0 || f->width != GPUAGG_CHUNKS || f->counts.n < 0)
		return GPUAGG_REFUSED;
	if (request->u.scan.window < 0 || request->u.scan.window >= GPUAGG_CHUNKS)
		return GPUAGG_REFUSED;

	e[0].start = request->u.scan.values_offset;
	e[0].length = n * size;
	e[1].start = request->u.scan.validity_offset;
	e[1].length = (flags & GPUAGG_SCAN_VALIDITY) ? (n + 63) / 64 * 8 : 0;
	e[2].start = request->u.scan.result_offset;
	e[2].length = n * gpuagg_scan_result_size((int) request->u.scan.kind, GPUAGG_SUM, 0);
	e[3].start = request->u.scan.status_offset;
	e[3].length = n;

	for (int i = 0; i < 4; i++)
	{
		if (!extent_fits(e[i], bytes))
			return GPUAGG_REFUSED;
		for (int k = 2; k < i; k++)
			if (extents_overlap(e[i], e[k]))
				return GPUAGG_REFUSED;
	}
	for (int i = 0; i < 2; i++)
		for (int k = 2; k < 4; k++)
			if (extents_overlap(e[i], e[k]))
				return GPUAGG_REFUSED;
	return GPUAGG_OK;
}

GpuaggReason
gpuagg_request_check(const GpuaggRequest *request, uint64_t bytes)
{
	if (request->h.type == GPUAGG_MSG_SCAN)
		return check_scan(request, bytes);

	if (request->h.type == GPUAGG_MSG_REDUCE)
	{
		size_t size = gpuagg_kind_size((int) request->u.reduce.kind);
		Extent e;

		if (size == 0 || request->u.reduce.nrows == 0 ||
			request->u.reduce.nrows > (uint64_t) GPUAGG_MAX_ROWS)
			return GPUAGG_REFUSED;
		e.start = request->u.reduce.offset;
		e.length = request->u.reduce.nrows * size;
		return extent_fits(e, bytes) ? GPUAGG_OK : GPUAGG_REFUSED;
	}
	return GPUAGG_REFUSED;
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
