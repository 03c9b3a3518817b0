/*
 * leader.c
 *	  The leader's version, as a setting that no user sees: workers take over settings.
 */
#include "compat.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "common/protocol.h"
#include "device/leader.h"
#include "utils/guc.h"

#define SETTING "gpuagg.library_version"

static char *leader_version = "";
static bool of_leader = false; /* loaded by a worker because its leader has it */

static bool
check_version(char **value, void **extra, GucSource source)
{
	if (source == PGC_S_DEFAULT || InitializingParallelWorker ||
		strcmp(*value, GPUAGG_VERSION_STRING) == 0)
		return true;
	GUC_check_errdetail("It tells parallel workers which library their leader has.");
	return false;
}

void
gpuagg_leader_define(void)
{
	of_leader = InitializingParallelWorker;
	DefineCustomStringVariable(SETTING, "Version of the leader's library.", NULL, &leader_version,
							   "", PGC_USERSET,
							   GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE,
							   check_version, NULL, NULL);
}

void
gpuagg_leader_note(void)
{
	static bool noted = false;

	/* no setting changes while there are workers, and those that there are have not loaded ours */
	if (noted || IsParallelWorker() || IsInParallelMode())
		return;
	SetConfigOption(SETTING, GPUAGG_VERSION_STRING, PGC_USERSET, PGC_S_OVERRIDE);
	noted = true;
}

void
gpuagg_leader_check(void)
{
	if (!of_leader || strcmp(leader_version, GPUAGG_VERSION_STRING) == 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the library of gpuagg has been replaced since this session has loaded it"),
			 errdetail("A parallel worker has loaded version %s, and the session has %s.",
					   GPUAGG_VERSION_STRING,
					   leader_version[0] != '\0' ? leader_version : "an earlier one"),
			 errhint("Reconnect, or set \"max_parallel_workers_per_gather\" to 0.")));
}
