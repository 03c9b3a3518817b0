/*
 * agg_device_collect.c
 *	  Answers of several requests, copied until all are there.
 */
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/agg_device_collect.h"

/* An answer: of its query only what groups are made of. */
typedef struct Collected
{
	const AggDevicePass *pass;
	BlobQuery query;
} Collected;

struct AggCollected
{
	MemoryContext context;
	List *answers; /* of Collected * */
	Size bytes;
};

static AggCollected *
make(void)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpuagg collected groups",
												  ALLOCSET_DEFAULT_SIZES);
	AggCollected *collected = MemoryContextAllocZero(context, sizeof(AggCollected));

	collected->context = context;
	return collected;
}

static void *
copy(AggCollected *collected, const void *from, Size bytes)
{
	void *to = MemoryContextAllocHuge(collected->context, Max(bytes, 1));

	collected->bytes += bytes;
	memcpy(to, from, bytes);
	return to;
}

bool
gpuagg_agg_collect(AggCollected **collected, const AggDevicePass *pass, const BlobQuery *query)
{
	Size records = query->ngroups * query->packing.words * sizeof(uint32);
	Size far = query->nfar * sizeof(GpuaggGroupFar);
	AggCollected *all = *collected;
	Collected *answer;
	MemoryContext old;

	if (all == NULL)
		all = *collected = make();
	/* a few groups are kept however little memory there is */
	if (all->bytes + records + far > Max(get_hash_memory_limit(), 1024 * 1024))
		return false;
	old = MemoryContextSwitchTo(all->context);
	answer = palloc0(sizeof(Collected));
	answer->pass = pass;
	answer->query.ngroups = query->ngroups;
	answer->query.packing = query->packing;
	answer->query.nfar = query->nfar;
	answer->query.records = copy(all, query->records, records);
	answer->query.far = copy(all, query->far, far);
	all->answers = lappend(all->answers, answer);
	MemoryContextSwitchTo(old);
	return true;
}

void
gpuagg_agg_collected_take(AggScanState *node, const AggCollected *collected,
						  const DeviceProgram *program)
{
	ListCell *cell;

	if (collected == NULL)
		return;
	foreach (cell, collected->answers)
	{
		const Collected *answer = lfirst(cell);
		AggDeviceRecords *records = gpuagg_agg_device_records(node, answer->pass, program);

		gpuagg_agg_device_groups_take(records, &answer->query, false);
		pfree(records);
	}
}

void
gpuagg_agg_collected_end(AggCollected **collected)
{
	if (*collected != NULL)
		MemoryContextDelete((*collected)->context);
	*collected = NULL;
}
