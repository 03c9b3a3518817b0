/*
 * rules.c
 *	  Clauses of the rules for columns in memory that a test build can leave out or swap.
 */
#include "compat.h"

#include "resident/rules.h"

#ifdef GPUAGG_TEST_RULES

#include "utils/fmgrprotos.h"
#include "utils/guc.h"

static char *broken_rule = "";
static char *pause_at = "";

MapImage gpuagg_rules_kept_image;

void
gpuagg_rules_define(void)
{
	DefineCustomStringVariable("gpuagg.broken_rule", "Clauses that do not hold.", NULL,
							   &broken_rule, "", PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("gpuagg.pause_at", "Point at which the session waits.", NULL,
							   &pause_at, "", PGC_USERSET, 0, NULL, NULL, NULL);
}

bool
gpuagg_rules_broken(const char *name)
{
	/* no name is a part of another */
	return strstr(broken_rule, name) != NULL;
}

bool
gpuagg_rules_hold(void)
{
	return broken_rule[0] == '\0';
}

XLogRecPtr
gpuagg_rules_map_lsn(Relation relation, uint32 chunk)
{
	MapImage image;

	gpuagg_map_image_read(&image, relation, chunk);
	return image.lsn;
}

void
gpuagg_rules_pause(const char *point)
{
	Datum lock = Int64GetDatum(RULES_LOCK);

	if (strcmp(pause_at, point) != 0)
		return;
	DirectFunctionCall1(pg_advisory_lock_int8, lock);
	DirectFunctionCall1(pg_advisory_unlock_int8, lock);
}

#endif
