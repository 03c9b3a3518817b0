/*
 * gpuagg.h
 *	  Settings of the module.
 */
#ifndef GPUAGG_H
#define GPUAGG_H

typedef enum DeviceMode
{
	DEVICE_AUTO,
	DEVICE_GPU,
	DEVICE_CPU
} DeviceMode;

/* Which of core's aggregates are computed as gpuagg's are: those of this setting and those before it. */
typedef enum CoreAggregates
{
	CORE_OFF,
	CORE_EXACT,
	CORE_ALL
} CoreAggregates;

/* Whether columns of tables stay in memory. */
typedef enum ResidentMode
{
	RESIDENT_AUTO, /* from their second use on */
	RESIDENT_ON,   /* from the first */
	RESIDENT_OFF,  /* and those that are there are not used */
	RESIDENT_PREFETCH /* as on, and queries wait until the device has taken them: of gpuagg_prefetch() */
} ResidentMode;

/* USERSET */
extern int gpuagg_resident;		   /* ResidentMode */
extern int gpuagg_core_aggregates; /* CoreAggregates */
extern int gpuagg_device;		   /* DeviceMode */
extern bool gpuagg_enable_agg_scan;
extern bool gpuagg_enable_window_scan;
extern int gpuagg_batch_rows;
extern int gpuagg_device_min_rows;
extern int gpuagg_min_table_pages;

/* SUSET */
extern int gpuagg_device_timeout; /* ms */
extern int gpuagg_staging_memory; /* kB, per backend */

/* SIGHUP */
extern int gpuagg_column_memory;		/* kB, 0: none */
extern int gpuagg_total_staging_memory; /* kB */
extern int gpuagg_device_memory;		/* MB, 0: three quarters of what is free */
extern char *gpuagg_visible_devices;	/* "" for all */
extern int gpuagg_idle_timeout;			/* s, 0: never */
extern char *gpuagg_device_program;		/* "" for pkglibdir/gpuaggd */

/* The session planned queries under gpuagg.core_aggregates before it had the library. */
extern bool gpuagg_loaded_late;

#endif /* GPUAGG_H */
