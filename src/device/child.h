/*
 * child.h
 *	  The device program as a child process of the launcher.
 */
#ifndef GPUAGG_CHILD_H
#define GPUAGG_CHILD_H

#include "compat.h"

typedef struct Program
{
	pid_t pid;		/* 0: none, or it has been reaped */
	int status;		/* of waitpid, once reaped */
	int exec_errno; /* once reaped: why it could not be executed, or 0 */
	int log_fd;		/* its standard error, or -1 */
	int exec_fd;	/* carries the errno of a failed exec, or -1 */
	char line[512]; /* begun, not yet logged */
	size_t used;
	char last_line[128]; /* last words that were logged */
} Program;

/* Path of the device program as the settings have it. */
extern const char *gpuagg_program_path(void);

/* Forks and executes it.  False, with errno set, when that was not possible. */
extern bool gpuagg_program_start(Program *program);

/* Logs the lines that it has written so far.  Does not wait. */
extern void gpuagg_program_log(Program *program);

/* Whether it has ended; then it is reaped and its last lines are logged. */
extern bool gpuagg_program_ended(Program *program);

/* Ends it: SIGTERM, after 2 s SIGKILL.  Waits 3 s at most. */
extern void gpuagg_program_stop(Program *program);

#endif /* GPUAGG_CHILD_H */
