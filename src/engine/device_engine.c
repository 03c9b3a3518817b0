/*
 * device_engine.c
 *	  The device engine: sends work to gpuaggd and takes its results.
 *
 * Inputs are already in staging memory, except items to be sorted: these are
 * copied, because the device sorts in place and the CPU may have to sort the
 * originals.  Sorted items are checked, because callers follow addresses in them.
 */
#include "postgres.h"

#include "common/protocol.h"
#include "device/client.h"
#include "engine/flight.h"

/* Where a column lies in the staging memory. */
static char *
staged(const Flight *flight, GpuaggColumn column)
{
	return gpuagg_flight_lease_base(flight->lease) + flight->work.column[column].at;
}

/* ---- reductions ---- */

static GpuaggReason
take_total(Flight *flight, const GpuaggReply *reply)
{
	gpuagg_reduced_merge(flight->total, &reply->u.reduce, (int) flight->work.kind,
						 (int) flight->work.op);
	return GPUAGG_OK;
}

/* ---- scans ---- */

/* The bits of a value as a double; 0 for a row that adds nothing to a sum's chunks. */
static inline uint64
finite_bits(const Flight *scan, int64 i)
{
	double value = 0;
	uint64 bits;

	if (scan->validity == NULL || (scan->validity[i / 64] >> (i % 64) & 1) != 0)
		value = scan->work.kind == GPUAGG_FLOAT32 ? (double) ((const float *) scan->values)[i]
												  : ((const double *) scan->values)[i];
	memcpy(&bits, &value, sizeof(bits));
	return (bits >> 52 & 0x7ff) == 0x7ff || bits << 1 == 0 ? 0 : bits;
}

/*
 * Sets where the device's window of 256 bits starts so that it holds all values and
 * the carry.  GPUAGG_RANGE when no window holds them.
 */
static GpuaggReason
choose_window(Flight *scan)
{
	int unused = scan->work.kind == GPUAGG_FLOAT32 ? 29 : 0; /* low bits that are always 0 */
	int low = 0x7ff; /* lowest bit in use, from 2^-1074 up */
	int high = 0;	 /* first bit above those in use */
	int first;
	int last;
	int window;

	for (int64 i = 0; i < (int64) scan->work.nrows; i++)
	{
		uint64 bits = finite_bits(scan, i);
		int bit = gpuagg_float_sum_bit(bits);

		if (bits == 0)
			continue;
		low = Min(low, bit + unused);
		high = Max(high, bit + 53);
	}

	gpuagg_float_sum_extent(gpuagg_float_sum_of(&scan->work.u.scan.carry.f), &first, &last);
	if (first <= last)
	{
		low = Min(low, first * 32);
		high = Max(high, (last + 1) * 32);
	}
	window = gpuagg_sum256_window(low);
	scan->work.u.scan.window = window;
	return gpuagg_sum256_holds(window, high) ? GPUAGG_OK : GPUAGG_RANGE;
}

static GpuaggReason
prepare_scan(Flight *scan)
{
	gpuagg_float_sum_propagate(gpuagg_float_sum_of(&scan->work.u.scan.carry.f));
	scan->work.u.scan.window = 0;
	if (scan->work.op == GPUAGG_SUM && gpuagg_kind_is_float((int) scan->work.kind))
		return choose_window(scan);
	return GPUAGG_OK;
}

static GpuaggReason
take_scan(Flight *scan, const GpuaggReply *reply)
{
	const GpuaggWork *work = &scan->work;

	memcpy(scan->results, staged(scan, GPUAGG_RESULTS),
		   gpuagg_column_bytes(&work->column[GPUAGG_RESULTS], work->nrows));
	if (scan->status != NULL)
		memcpy(scan->status, staged(scan, GPUAGG_STATUS), work->nrows);
	scan->work.u.scan.carry = reply->u.scan.carry;
	gpuagg_float_sum_propagate(gpuagg_float_sum_of(&scan->work.u.scan.carry.f));
	return GPUAGG_OK;
}

/* ---- sorts ---- */

/* What an item adds to a digest; the digest does not depend on the items' order. */
static inline uint64
digest_of(const uint64 *item, int words)
{
	uint64 h = 0;

	for (int i = 0; i <= words; i++)
		h = (h ^ item[i]) * UINT64CONST(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

static pg_attribute_always_inline uint64
copy_items(uint64 *to, const uint64 *items, size_t n, int words)
{
	uint64 digest = 0;

	for (size_t i = 0; i < n; i++)
	{
		for (int w = 0; w <= words; w++)
			to[w] = items[w];
		digest += digest_of(items, words);
		to += words + 1;
		items += words + 1;
	}
	return digest;
}

static GpuaggReason
prepare_sort(Flight *sort)
{
	uint64 *to = (uint64 *) staged(sort, GPUAGG_VALUES);
	const GpuaggRadixPiece *items = &sort->items;

	sort->digest = sort->work.u.sort.words == 1 ? copy_items(to, items->items, items->n, 1)
												: copy_items(to, items->items, items->n, 2);
	return GPUAGG_OK;
}

static pg_attribute_always_inline bool
are_sorted(const uint64 *items, size_t n, int words, uint64 digest)
{
	bool ordered = true;

	digest -= digest_of(items, words);
	for (size_t i = 1; i < n; i++)
	{
		const uint64 *last = items;

		items += words + 1;
		ordered &= words == 1 ? last[0] <= items[0]
							  : last[0] < items[0] || (last[0] == items[0] && last[1] <= items[1]);
		digest -= digest_of(items, words);
	}
	return ordered && digest == 0;
}

/* Takes the items if they are the ones sent, sorted: callers follow their addresses. */
static GpuaggReason
take_sorted(Flight *sort, const GpuaggReply *reply)
{
	const uint64 *sorted = (const uint64 *) staged(sort, GPUAGG_RESULTS);
	const GpuaggRadixPiece *items = &sort->items;
	int words = (int) sort->work.u.sort.words;

	if (!(words == 1 ? are_sorted(sorted, items->n, 1, sort->digest)
					 : are_sorted(sorted, items->n, 2, sort->digest)))
		return GPUAGG_DEVICE_ERROR;
	memcpy(items->into_other ? items->other : items->items, sorted,
		   items->n * gpuagg_sort_item_size(words));
	return GPUAGG_OK;
}

/* ---- all of them ---- */

typedef struct DeviceWork
{
	GpuaggReason (*prepare)(Flight *flight); /* or NULL */
	GpuaggReason (*take)(Flight *flight, const GpuaggReply *reply);
} DeviceWork;

static const DeviceWork device_work[] = {
	[GPUAGG_MSG_REDUCE] = {NULL, take_total},
	[GPUAGG_MSG_SCAN] = {prepare_scan, take_scan},
	[GPUAGG_MSG_SORT] = {prepare_sort, take_sorted},
};

static GpuaggReason
submit(Flight *flight)
{
	const DeviceWork *work = &device_work[flight->type];
	GpuaggReason reason = work->prepare == NULL ? GPUAGG_OK : work->prepare(flight);
	GpuaggRequest request;

	if (reason != GPUAGG_OK)
		return reason;
	memset(&request, 0, sizeof(request));
	request.h.type = flight->type;
	request.u.work = flight->work;
	return gpuagg_device_submit(gpuagg_flight_device_lease(flight->lease), &request,
								&flight->request);
}

static GpuaggReason
finish(Flight *flight)
{
	uint32 request = flight->request;
	GpuaggReply reply;
	GpuaggReason reason;

	flight->request = 0;
	reason = gpuagg_device_wait(request, &reply);
	return reason == GPUAGG_OK ? device_work[flight->type].take(flight, &reply) : reason;
}

const Engine gpuagg_device_engine = {submit, finish};
