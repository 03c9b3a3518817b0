/*
 * setup.h
 *	  The set-up thread: calls that stall the driver stay out of the loop.
 *
 * gpuaggd has two threads of its own.  The loop owns all structures, answers
 * clients and launches kernels.  The set-up thread runs tasks one at a time, in
 * the order in which they were submitted; a task, and what it works on, belongs
 * to the thread that has it.
 */
#ifndef GPUAGG_SETUP_H
#define GPUAGG_SETUP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Task
{
	void (*run)(struct Task *task);	 /* in the set-up thread */
	void (*done)(struct Task *task); /* then, in the loop */
	struct Task *next;
} Task;

/* Starts the thread; it inherits the mask of blocked signals. */
extern bool gpud_setup_start(void);

extern void gpud_setup_submit(Task *task);

/* Calls done() of the tasks that have come back; the loop is woken when there are some. */
extern void gpud_setup_collect(void);

/* When the task that is running began, ns; 0: none is. */
extern int64_t gpud_setup_running_since(void);

#endif /* GPUAGG_SETUP_H */
