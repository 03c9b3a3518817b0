/*
 * query_table.c
 *	  The table of groups of a query: its memory, and the way of its groups into an answer.
 */
#include "host/query_table.h"

#include <string.h>

#define SLOTS_LEAST 4096
#define SLOTS_MOST	(UINT64_C(1) << 30)
#define FAR_ROOM	65536 /* floats that are listed apart, at most, where any are summed */
/* Bytes of records that are sent before it is known how many there are. */
#define SENT_LEAST (16 * 1024)
#define SENT_MOST  (1024 * 1024)

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static size_t
record_bytes(const GpuQueryPlan *plan)
{
	return plan->groups.words * sizeof(uint32_t);
}

void
gpud_table_plan(QueryTable *table, const GpuQueryPlan *plan, const GpuaggQueryHead *head,
				uint64_t answer, size_t *block_bytes)
{
	uint64_t packed = gpuagg_group_packed_words(&plan->groups) * sizeof(uint32_t);
	uint64_t expected = head->expected < SLOTS_MOST / 4 ? head->expected : SLOTS_MOST / 4;
	uint64_t slots = SLOTS_LEAST;
	uint64_t sent = (expected + expected / 4) * packed;

	memset(table, 0, sizeof(*table));
	table->room = answer - GPUAGG_QUERY_MASK_BYTES;
	/* at most half full with what is expected; with more than the answer has room for it may be full */
	while (slots < SLOTS_MOST && slots < 2 * expected && slots < 2 * (table->room / packed))
		slots *= 2;
	table->table.slots = (uint32_t) slots;
	table->gathered_bytes = least(table->room, slots * record_bytes(plan)) / 16 * 16;
	table->sent = least(least(sent > SENT_LEAST ? sent : SENT_LEAST, SENT_MOST),
						table->gathered_bytes);
	for (uint32_t i = 0; i < plan->groups.naggregates; i++)
		if (plan->groups.field[i].specials != GPUAGG_GROUP_NONE)
			table->table.far_room = FAR_ROOM;
	table->table.part = head->part;
	table->table.parts = head->parts;
	table->table.expected = (uint32_t) expected;
	table->records = gpud_place(block_bytes, slots * record_bytes(plan));
	table->far = gpud_place(block_bytes, table->table.far_room * sizeof(GpuaggGroupFar));
	table->counted = gpud_place(block_bytes, sizeof(GpuQueryTableCounts));
	table->gathered = gpud_place(block_bytes, table->gathered_bytes);
}

GpuaggReason
gpud_table_begin(QueryTable *table, const GpuQueryPlan *plan, const Lane *lane)
{
	GpuQueryTable *at = &table->table;
	GpuaggReason reason;

	at->records = (uint32_t *) (lane->block + table->records);
	at->far = (GpuaggGroupFar *) (lane->block + table->far);
	at->counts = (GpuQueryTableCounts *) (lane->block + table->counted);
	reason = gpu_memset(at->records, 0, at->slots * record_bytes(plan), lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_memset(at->counts, 0, sizeof(GpuQueryTableCounts), lane->stream);
	return reason;
}

/* A range that has these values, too; one of too many to count stays one. */
static GpuQueryRange
widened(const GpuQueryRange *range, int64_t least, int64_t greatest)
{
	int64_t last = (int64_t) ((uint64_t) range->least + range->count - 1);
	uint64_t beyond;

	if (range->count > 0 && range->least < least)
		least = range->least;
	if (range->count > 0 && last > greatest)
		greatest = last;
	/* as they come from outside, the least may be the greater */
	beyond = (uint64_t) greatest - (uint64_t) least;
	return (GpuQueryRange){least, beyond < UINT32_MAX ? (uint32_t) beyond + 1 : UINT32_MAX};
}

void
gpud_table_widen(QueryTable *table, const GpuQueryPlan *plan, const GpuaggNarrow *const *forms)
{
	for (uint32_t i = 0; i < plan->groups.nkeys; i++)
	{
		GpuQueryRange *range = &table->table.range[i];
		int type = plan->groups.key_type[i];
		bool is_float = gpuagg_vector_type_is_float(type);
		const GpuaggNarrow *form;

		if (type == GPUAGG_VECTOR_BOOL)
			*range = (GpuQueryRange){0, 2};
		else if (!is_float && QUERY_SOURCE_KIND(plan->key[i]) == QUERY_COLUMN)
		{
			form = forms[QUERY_SOURCE_NUMBER(plan->key[i])];
			if (form->any)
				*range = widened(range, (int64_t) form->minimum.lo, (int64_t) form->maximum.lo);
		}
	}
}

void
gpud_table_learn(QueryTable *table, uint64_t nfound)
{
	table->table.expected = nfound < UINT32_MAX ? (uint32_t) nfound : UINT32_MAX;
}

/* Counts lie where results of a query without groups would, behind those that come before them. */
static void *
counts_of(const Lane *lane)
{
	static_assert(sizeof(GpuQueryTableCounts) <= sizeof(((GpuQueryResults *) 0)->of), "room");
	return ((GpuQueryResults *) lane->slot)->of;
}

static GpuaggReason
send_first(const QueryTable *table, const GpuQueryPlan *plan, const Lane *lane, char *to)
{
	uint32_t *gathered = (uint32_t *) (lane->block + table->gathered);
	GpuaggReason reason = gpu_query_groups(plan, &table->table, gathered,
										   table->gathered_bytes / sizeof(uint32_t), lane->stream);

	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(counts_of(lane), table->table.counts, sizeof(GpuQueryTableCounts),
							  lane->stream);
	if (reason == GPUAGG_OK && table->sent > 0)
		reason = gpu_copy_out(to, gathered, table->sent, lane->stream);
	return reason;
}

/* Bytes of all groups, and of what is listed apart. */
static uint64_t
groups_bytes(const QueryTable *table)
{
	return gpuagg_query_records_bytes(table->counts.ngroups, table->words);
}

static uint64_t
far_bytes(const QueryTable *table)
{
	return table->counts.nfar * sizeof(GpuaggGroupFar);
}

/* What has not been sent, and what is listed apart. */
static GpuaggReason
send_rest(const QueryTable *table, const Lane *lane, char *to)
{
	uint64_t bytes = groups_bytes(table);
	GpuaggReason reason = GPUAGG_OK;

	if (bytes > table->sent)
		reason = gpu_copy_out(to + table->sent, lane->block + table->gathered + table->sent,
							  bytes - table->sent, lane->stream);
	if (reason == GPUAGG_OK && table->counts.nfar > 0)
		reason = gpu_copy_out(to + bytes, lane->block + table->far, far_bytes(table), lane->stream);
	return reason;
}

/* Whether there is room for all that has been found. */
static bool
fits(const QueryTable *table)
{
	const GpuQueryTableCounts *counts = &table->counts;

	return counts->full == 0 && counts->nfar <= table->table.far_room &&
		   groups_bytes(table) <= table->gathered_bytes &&
		   groups_bytes(table) + far_bytes(table) <= table->room;
}

GpuaggReason
gpud_table_send(QueryTable *table, const GpuQueryPlan *plan, const Lane *lane, char *to)
{
	to += GPUAGG_QUERY_MASK_BYTES;
	return table->known ? send_rest(table, lane, to) : send_first(table, plan, lane, to);
}

bool
gpud_table_collected(QueryTable *table, const Lane *lane)
{
	if (table->known)
		return true;
	table->known = true;
	memcpy(&table->counts, counts_of(lane), sizeof(table->counts));
	table->words = 0;
	for (uint32_t i = 0; i < GPUAGG_GROUP_WORDS; i++)
		table->words += table->counts.has[i] != 0;
	return !fits(table) || (groups_bytes(table) <= table->sent && table->counts.nfar == 0);
}

uint64_t
gpud_table_answer(const QueryTable *table, char *to, GpuaggReply *reply)
{
	const GpuQueryTableCounts *counts = &table->counts;
	uint32_t mask[GPUAGG_QUERY_MASK_BYTES / sizeof(uint32_t)] = {0};

	/* a full table has lost some, how many nobody knows */
	reply->u.query.ngroups = counts->full != 0 ? 8 * (uint64_t) table->table.slots
											   : counts->ngroups;
	reply->u.query.incomplete = !fits(table);
	if (reply->u.query.incomplete)
		return 0;
	for (uint32_t i = 0; i < GPUAGG_GROUP_WORDS; i++)
		if (counts->has[i] != 0)
			mask[i / 32] |= UINT32_C(1) << i % 32;
	memcpy(to, mask, sizeof(mask));
	reply->u.query.nfar = counts->nfar;
	return GPUAGG_QUERY_MASK_BYTES + groups_bytes(table) + far_bytes(table);
}
