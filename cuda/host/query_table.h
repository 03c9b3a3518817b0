/*
 * query_table.h
 *	  The table of groups of a query: its memory, and the way of its groups into an answer.
 *
 * It lies in the block of the lane that does the query, which stays on that lane until it has
 * ended.
 */
#ifndef GPUAGG_QUERY_TABLE_H
#define GPUAGG_QUERY_TABLE_H

#include "common/query_wire.h"
#include "host/blobs.h"
#include "host/job.h"
#include "host/lane.h"
#include "kernels/query.h"

typedef struct QueryTable
{
	GpuQueryTable table;		/* as a launch is given it; pointers are set by begin() */
	uint64_t room;				/* bytes for packed records and what is listed apart */
	uint64_t sent;				/* of these, copied before their number is known */
	GpuQueryTableCounts counts; /* when all chunks are in it */
	uint32_t words;				/* of a packed record then */
	bool known;					/* they are */

	/* places in the lane's block */
	size_t records;
	size_t far;
	size_t counted;
	size_t gathered;
	uint64_t gathered_bytes;
} QueryTable;

/* Finds places for it behind block_bytes; answer: bytes for what has been found. */
extern void gpud_table_plan(QueryTable *table, const GpuQueryPlan *plan,
							const GpuaggQueryHead *head, uint64_t answer, size_t *block_bytes);

/* Enqueues the clearing of it, in that lane's block. */
extern GpuaggReason gpud_table_begin(QueryTable *table, const GpuQueryPlan *plan, const Lane *lane);

/* Widens the ranges of keys that are columns, whose values are of these forms, by number of the plan's column. */
extern void gpud_table_widen(QueryTable *table, const GpuQueryPlan *plan,
							 const GpuaggNarrow *const *forms);

/* Slices have found so many groups by now. */
extern void gpud_table_learn(QueryTable *table, uint64_t nfound);

/*
 * Enqueues the copies of its groups to `to`, in two steps: the second is needed if they are
 * more than were expected.  After each has ended, collected() says whether that was all.
 */
extern GpuaggReason gpud_table_send(QueryTable *table, const GpuQueryPlan *plan, const Lane *lane,
									char *to);
extern bool gpud_table_collected(QueryTable *table, const Lane *lane);

/*
 * When it has been collected: writes what lies before records, and what the reply says of groups;
 * returns the bytes of all.
 */
extern uint64_t gpud_table_answer(const QueryTable *table, char *to, GpuaggReply *reply);

#endif /* GPUAGG_QUERY_TABLE_H */
