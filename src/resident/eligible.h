/*
 * eligible.h
 *	  Of which tables columns may be in memory at all, and under which snapshots they may be used.
 */
#ifndef GPUAGG_ELIGIBLE_H
#define GPUAGG_ELIGIBLE_H

#include "compat.h"

#include "utils/rel.h"
#include "utils/snapshot.h"

/* Why nothing of the relation can come from memory or go there under the snapshot; or NULL. */
extern const char *gpuagg_resident_ineligible(Relation relation, Snapshot snapshot);

#endif /* GPUAGG_ELIGIBLE_H */
