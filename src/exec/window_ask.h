/*
 * window_ask.h
 *	  Asks the device for what is made of a window's rows: for all of it or nothing.
 *
 * All rows of the window's tables have to be on the device, but for chunks that have no row which passes
 * the filter: a row that is not there could change the function's value of any other.  Those of few pages
 * that are not in memory are read and sent.
 */
#ifndef GPUAGG_WINDOW_ASK_H
#define GPUAGG_WINDOW_ASK_H

#include "exec/device_tables.h"
#include "exec/window_device.h"

/* In mode auto, rows for which the device is asked: each takes the CPU some 100 ns. */
#define WINDOW_ASK_ROWS 100000

/* The node that wants it. */
typedef struct WindowAsker
{
	void *node;

	/* Why it is not asked for so many rows, `bare` of them on the device alone; NULL: it is. */
	const char *(*refuse)(const void *node, uint64 rows, uint64 bare);

	/*
	 * Asks for the rows of all chunks, which have all that pass, and takes the answer.  Why there
	 * is none; or NULL, and how many rows passed the filter below the window.
	 */
	const char *(*ask)(void *node, const DeviceTables *tables, int64 *npassed);
} WindowAsker;

/*
 * Asks for the tables as they are on the device, in a run that has begun.  Why the CPU has to do it;
 * or NULL: it is done, without the scans below the window, and the readers' counts are added.
 */
extern const char *gpuagg_window_ask(WindowDevice *window, const WindowAsker *asker,
									 PageCounts *counts, int64 *npassed);

#endif /* GPUAGG_WINDOW_ASK_H */
