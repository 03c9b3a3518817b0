/*
 * options.h
 *	  What the command line says.
 */
#ifndef GPUAGG_OPTIONS_H
#define GPUAGG_OPTIONS_H

#include <stdint.h>
#include <sys/types.h>

typedef struct GpudOptions
{
	const char *socket_path;
	const char *lock_path;
	pid_t parent;			/* end when this is no longer the parent; 0: do not look */
	uint64_t total_staging; /* bytes */
	uint64_t device_memory; /* bytes; 0: three quarters of what is free */
	const char *visible_devices;
	int idle_timeout;  /* s; 0: never */
	int lease_timeout; /* s without a request, after which a lease ends; 0: never */
} GpudOptions;

extern GpudOptions gpud_options;

/* Sets gpud_options; ends the process when an argument is wrong. */
extern void gpud_options_parse(int argc, char **argv);

#endif /* GPUAGG_OPTIONS_H */
