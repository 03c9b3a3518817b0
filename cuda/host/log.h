/*
 * log.h
 *	  Lines for the launcher's log, and the clock.
 */
#ifndef GPUAGG_LOG_H
#define GPUAGG_LOG_H

#ifdef POSTGRES_H
#error "gpuaggd is no part of PostgreSQL: postgres.h must not be included here"
#endif
#ifndef GPUAGG_HOST_PROGRAM
#error "the host program's files are compiled with -DGPUAGG_HOST_PROGRAM"
#endif

#include <stdbool.h>
#include <stdint.h>

#define GPUD_SECOND INT64_C(1000000000) /* ns */

/* Comes first: a reader of the log that has stopped must not stop gpuaggd too. */
extern void gpud_log_open(void);

extern void gpud_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern void gpud_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Time since some fixed moment, ns. */
extern int64_t gpud_now(void);

/* True at most every ten seconds: for warnings that clients could cause in masses. */
extern bool gpud_due(int64_t *last);

#endif /* GPUAGG_LOG_H */
