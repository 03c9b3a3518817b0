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
	int exec_errno; /* once reaped: errno of a failed exec, or 0 */
	int log_fd;		/* its standard error, or -1 */
	int exec_fd;	/* carries the errno of a failed exec, or -1 */
	char line[512]; /* output read and not yet logged */
	size_t used;
	char last_line[128]; /* the last line that was logged */
} Program;

/* Path of the device program by the settings. */
extern const char *gpuagg_program_path(void);

/* Words for an errno that says why it cannot be executed. */
extern void gpuagg_program_fault(int error, char *words, Size size);

/* Forks and executes it.  On failure returns false and sets errno. */
extern bool gpuagg_program_start(Program *program);

/* Logs the lines that the program has written so far.  Does not wait. */
extern void gpuagg_program_log(Program *program);

/* Whether it has ended.  If so, reaps it and logs its last lines. */
extern bool gpuagg_program_ended(Program *program);

/* Ends it: sends SIGTERM, after 2 s SIGKILL.  Waits at most 3 s. */
extern void gpuagg_program_stop(Program *program);

#endif /* GPUAGG_CHILD_H */
