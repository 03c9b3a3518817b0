/*
 * gpuagg.c
 *	  Module entry: settings and hooks.
 *
 * Loading starts no process.  When the library is preloaded, it registers the
 * launcher and, before PostgreSQL 17, reserves memory for the shared state.
 */
#include "compat.h"

#include "access/parallel.h"
#include "engine/flight.h"
#include "exec/agg_scan.h"
#include "exec/window_scan.h"
#include "gpuagg.h"
#include "device/launcher.h"
#include "device/leader.h"
#include "miscadmin.h"
#include "plan/agg_path.h"
#include "plan/plan_reason.h"
#include "plan/window_above.h"
#include "plan/window_path.h"
#include "device/shared_state.h"
#include "resident/directory.h"
#include "resident/rules.h"
#include "utils/guc.h"

GPUAGG_MODULE_MAGIC("gpuagg", GPUAGG_VERSION_STRING);

#define SEGMENT_KB ((int) (GPUAGG_SEGMENT_BYTES / 1024)) /* of the smallest lease */

int gpuagg_device = DEVICE_AUTO;
int gpuagg_resident = RESIDENT_AUTO;
int gpuagg_column_memory = 256 * 1024;
int gpuagg_core_aggregates = CORE_OFF;
bool gpuagg_loaded_late = false;
bool gpuagg_enable_agg_scan = true;
bool gpuagg_enable_window_scan = true;
int gpuagg_batch_rows = 1024 * 1024;
int gpuagg_device_min_rows = 100000;
int gpuagg_min_table_pages = 1000;
int gpuagg_device_timeout = 5000;
int gpuagg_staging_memory = 4 * SEGMENT_KB;
int gpuagg_total_staging_memory = 32 * SEGMENT_KB;
int gpuagg_device_memory = 0;
char *gpuagg_visible_devices = "";
int gpuagg_idle_timeout = 600;
char *gpuagg_device_program = "";

static const struct config_enum_entry device_modes[] = {{"auto", DEVICE_AUTO, false},
														{"gpu", DEVICE_GPU, false},
														{"cpu", DEVICE_CPU, false},
														{NULL, 0, false}};

static const struct config_enum_entry core_modes[] = {{"off", CORE_OFF, false},
													  {"exact", CORE_EXACT, false},
													  {"all", CORE_ALL, false},
													  {NULL, 0, false}};

static const struct config_enum_entry resident_modes[] = {{"auto", RESIDENT_AUTO, false},
														  {"on", RESIDENT_ON, false},
														  {"off", RESIDENT_OFF, false},
														  {"prefetch", RESIDENT_PREFETCH, true},
														  {NULL, 0, false}};

static shmem_request_hook_type previous_shmem_request_hook = NULL;
static ExecutorRun_hook_type previous_executor_run_hook = NULL;
static ExecutorFinish_hook_type previous_executor_finish_hook = NULL;
static int nesting_level = 0;

void _PG_init(void);

static bool
check_visible_devices(char **value, void **extra, GucSource source)
{
	if (strlen(*value) >= 1024 ||
		strspn(*value, "0123456789,-ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz/") !=
			strlen(*value))
	{
		GUC_check_errdetail("Device numbers or identifiers, separated by commas, are expected.");
		return false;
	}
	return true;
}

static bool
check_device_program(char **value, void **extra, GucSource source)
{
	if ((*value)[0] != '\0' && !is_absolute_path(*value))
	{
		GUC_check_errdetail("An absolute path is expected, or the empty string.");
		return false;
	}
	return true;
}

static void
define_settings(void)
{
	DefineCustomIntVariable("gpuagg.batch_rows", "Rows that are handed to an engine at a time.",
							NULL, &gpuagg_batch_rows, 1024 * 1024, 1024, 8 * 1024 * 1024,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("gpuagg.column_memory",
							"Shared memory that columns of tables take at most.",
							"0 means that no columns stay in memory.", &gpuagg_column_memory,
							256 * 1024, 0, MAX_KILOBYTES, PGC_SIGHUP, GUC_UNIT_KB, NULL, NULL,
							NULL);
	DefineCustomEnumVariable("gpuagg.core_aggregates",
							 "Which of core's aggregates are computed as gpuagg's are.",
							 "\"exact\" takes those whose result does not depend on the order of "
							 "rows, \"all\" also those whose result does.",
							 &gpuagg_core_aggregates, CORE_OFF, core_modes, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomEnumVariable("gpuagg.device", "Which engine does the work.",
							 "\"auto\" uses the device when it is there, \"gpu\" waits for it "
							 "and fails without one, \"cpu\" does not use it.",
							 &gpuagg_device, DEVICE_AUTO, device_modes, PGC_USERSET, 0, NULL, NULL,
							 NULL);
	DefineCustomIntVariable("gpuagg.device_memory",
							"Device memory that the device program uses at most.",
							"0 means three quarters of what is free when it starts.",
							&gpuagg_device_memory, 0, 0, INT_MAX, PGC_SIGHUP, GUC_UNIT_MB, NULL,
							NULL, NULL);
	DefineCustomIntVariable("gpuagg.device_min_rows", "Rows from which on work goes to the device.",
							NULL, &gpuagg_device_min_rows, 100000, 0, INT_MAX, PGC_USERSET, 0, NULL,
							NULL, NULL);
	DefineCustomStringVariable("gpuagg.device_program", "Path of the device program.",
							   "The empty string means gpuaggd in the server's library directory.",
							   &gpuagg_device_program, "", PGC_SIGHUP,
							   GUC_SUPERUSER_ONLY | GUC_DISALLOW_IN_AUTO_FILE, check_device_program,
							   NULL, NULL);
	DefineCustomIntVariable("gpuagg.device_timeout",
							"Time to wait for an answer of the device program.",
							"After that the CPU does the work.", &gpuagg_device_timeout, 5000, 10,
							600000, PGC_SUSET, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpuagg.enable_agg_scan",
							 "Lets the node GpuAgg compute gpuagg's aggregates over one table.",
							 "It reads the table's pages as columns.", &gpuagg_enable_agg_scan,
							 true, PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpuagg.enable_window_scan",
							 "Lets the node GpuWindow compute gpuagg's window functions.", NULL,
							 &gpuagg_enable_window_scan, true, PGC_USERSET, GUC_EXPLAIN, NULL, NULL,
							 NULL);
	DefineCustomIntVariable("gpuagg.idle_timeout",
							"Time without a request after which the device is given back.",
							"0 means never.", &gpuagg_idle_timeout, 600, 0, INT_MAX / 1000,
							PGC_SIGHUP, GUC_UNIT_S, NULL, NULL, NULL);
	DefineCustomIntVariable("gpuagg.min_table_pages",
							"Pages of a table from which on the node GpuAgg is considered.",
							"0 means that it is taken wherever it can be, whatever it costs.",
							&gpuagg_min_table_pages, 1000, 0, INT_MAX, PGC_USERSET, GUC_EXPLAIN,
							NULL, NULL, NULL);
	DefineCustomEnumVariable("gpuagg.resident", "Whether columns that queries read stay in memory.",
							 "\"auto\" keeps them from their second use on, \"on\" from the "
							 "first, \"off\" neither keeps nor uses them.",
							 &gpuagg_resident, RESIDENT_AUTO, resident_modes, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomIntVariable("gpuagg.staging_memory",
							"Staging memory that one session has on lease at most.", NULL,
							&gpuagg_staging_memory, 4 * SEGMENT_KB, SEGMENT_KB, MAX_KILOBYTES,
							PGC_SUSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("gpuagg.total_staging_memory",
							"Staging memory that the device program keeps at most.", NULL,
							&gpuagg_total_staging_memory, 32 * SEGMENT_KB, SEGMENT_KB,
							MAX_KILOBYTES, PGC_SIGHUP, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomStringVariable("gpuagg.visible_devices",
							   "Devices that may be used, as in CUDA_VISIBLE_DEVICES.",
							   "The empty string means all.", &gpuagg_visible_devices, "",
							   PGC_SIGHUP, 0, check_visible_devices, NULL, NULL);
	gpuagg_leader_define();
	gpuagg_rules_define();
	MarkGUCPrefixReserved("gpuagg");
}

static void
request_shared_memory(void)
{
	if (previous_shmem_request_hook)
		previous_shmem_request_hook();
	RequestAddinShmemSpace(SHARED_STATE_SIZE);
	RequestAddinShmemSpace(COLUMNS_SHARED_SIZE);
}

/*
 * Gives back the leases of a query that fails.  Before control returns, finishes what this
 * run has in flight and gives leases back: whoever runs on is the query of an open
 * cursor, which may rest for hours, or be fetched from after the query around it has failed.
 */
static void
end_run(uint64 mark)
{
	gpuagg_flights_land(nesting_level == 1 ? 0 : mark);
	if (nesting_level == 1)
		gpuagg_stat_flush();
	nesting_level--;
}

static void
fail_run(uint64 mark, int level)
{
	nesting_level = level;
	gpuagg_flights_drop(mark);
}

static void
executor_run(EXECUTOR_RUN_PARAMS)
{
	uint64 mark = gpuagg_flights_mark();
	int level = nesting_level++;

	gpuagg_leader_note();
	PG_TRY();
	{
		if (previous_executor_run_hook)
			previous_executor_run_hook(EXECUTOR_RUN_ARGS);
		else
			standard_ExecutorRun(EXECUTOR_RUN_ARGS);
		end_run(mark);
	}
	PG_CATCH();
	{
		fail_run(mark, level);
		PG_RE_THROW();
	}
	PG_END_TRY();
}

/* The same of what has not been run to its end: subqueries that change data. */
static void
executor_finish(QueryDesc *query)
{
	uint64 mark = gpuagg_flights_mark();
	int level = nesting_level++;

	PG_TRY();
	{
		if (previous_executor_finish_hook)
			previous_executor_finish_hook(query);
		else
			standard_ExecutorFinish(query);
		end_run(mark);
	}
	PG_CATCH();
	{
		fail_run(mark, level);
		PG_RE_THROW();
	}
	PG_END_TRY();
}

/*
 * A setting that was made before the library came has had no effect.  Libraries of the
 * settings for preloading come while the server, or the session, starts.
 */
static void
note_late_loading(void)
{
	if (gpuagg_core_aggregates == CORE_OFF || !IsNormalProcessingMode() || IsParallelWorker() ||
		InitializingParallelWorker)
		return;
	gpuagg_loaded_late = true;
	ereport(WARNING, (errmsg("\"gpuagg.core_aggregates\" has had no effect in this session so far"),
					  errdetail("The library of gpuagg was not loaded."),
					  errhint("Add gpuagg to session_preload_libraries.")));
}

void
_PG_init(void)
{
	define_settings();
	note_late_loading();

	previous_executor_run_hook = ExecutorRun_hook;
	ExecutorRun_hook = executor_run;
	previous_executor_finish_hook = ExecutorFinish_hook;
	ExecutorFinish_hook = executor_finish;
	gpuagg_agg_path_install();
	gpuagg_window_path_install();
	gpuagg_window_above_install();
	gpuagg_reason_install();
	gpuagg_agg_scan_register();
	gpuagg_window_scan_register();

	if (process_shared_preload_libraries_in_progress)
	{
		if (SHARED_STRUCT_NEEDS_RESERVATION)
		{
			previous_shmem_request_hook = shmem_request_hook;
			shmem_request_hook = request_shared_memory;
		}
		gpuagg_launcher_preload();
	}
}
