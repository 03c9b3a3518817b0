/*
 * window_reason.h
 *	  Why a plan has none of our window nodes, for EXPLAIN (VERBOSE).
 */
#ifndef GPUAGG_WINDOW_REASON_H
#define GPUAGG_WINDOW_REASON_H

#include "lib/stringinfo.h"

/* Adds a reason to others, unless it is among them. */
extern void gpuagg_window_reason_add(StringInfo reasons, const char *reason);

/* Notes a reason while a query is planned.  The text is copied. */
extern void gpuagg_window_reason_note(const char *reason);

/* Makes EXPLAIN print the notes; called once, when the library is loaded. */
extern void gpuagg_window_reason_install(void);

#endif /* GPUAGG_WINDOW_REASON_H */
