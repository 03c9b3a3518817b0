/*
 * groups.h
 *	  Answers with groups, for tests.
 */
#ifndef GPUAGG_TEST_GROUPS_H
#define GPUAGG_TEST_GROUPS_H

#include "queries.h"

/*
 * Merges the groups of an answer into `totals` (one for each aggregate); *ngroups grows by their
 * number.  False: a key comes twice, or a record is none.
 */
extern bool groups_merge(const Lease *lease, const Question *question, uint32_t nchunks,
						 const GpuaggReply *reply, GpuaggQueryTotal *totals, uint64_t *ngroups);

/* Whether both totals are the same, of each of the question's aggregates. */
extern bool totals_are_equal(const Question *question, const GpuaggQueryTotal *a,
							 const GpuaggQueryTotal *b);

#endif /* GPUAGG_TEST_GROUPS_H */
