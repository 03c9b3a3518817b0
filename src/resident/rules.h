/*
 * rules.h
 *	  Clauses of the rules for columns in memory that a test build can leave out or swap.
 *
 * With GPUAGG_TEST_RULES the setting gpuagg.broken_rule names clauses that do not hold in the
 * session, and gpuagg.pause_at a point where it waits as long as another has the advisory lock
 * RULES_LOCK.  Tests show so that a clause is needed.  Without, none of this is there.  And
 * area_memory: memory for a new column, without which there are errors.
 */
#ifndef GPUAGG_RULES_H
#define GPUAGG_RULES_H

#include "compat.h"

#ifdef GPUAGG_TEST_RULES

#include "resident/map_image.h"

#define RULES_LOCK 7215 /* classid 0, objid, as pg_advisory_lock(bigint) has it */

extern void gpuagg_rules_define(void);
extern bool gpuagg_rules_broken(const char *name);
extern bool gpuagg_rules_hold(void);
extern void gpuagg_rules_pause(const char *point);

/* An image of the visibility map that stays from statement to statement. */
extern MapImage gpuagg_rules_kept_image;

/* The present LSN of the visibility map's page about a chunk. */
extern XLogRecPtr gpuagg_rules_map_lsn(Relation relation, uint32 chunk);

/* Whether all hold. */
#define RULES_HOLD() gpuagg_rules_hold()

/* A condition, of which a test can do without. */
#define RULE(name, condition) (gpuagg_rules_broken(#name) || (condition))

/* A value, in whose place a test can have another. */
#define RULE_VALUE(name, value, wrong) (gpuagg_rules_broken(#name) ? (wrong) : (value))

#define RULES_PAUSE(point)			   gpuagg_rules_pause(#point)

#else

#define gpuagg_rules_define()		   ((void) 0)
#define RULES_HOLD()				   true
#define RULE(name, condition)		   (condition)
#define RULE_VALUE(name, value, wrong) (value)
#define RULES_PAUSE(point)			   ((void) 0)

#endif

#endif /* GPUAGG_RULES_H */
