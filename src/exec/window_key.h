/*
 * window_key.h
 *	  Keys by which rows are told apart.
 */
#ifndef GPUAGG_WINDOW_KEY_H
#define GPUAGG_WINDOW_KEY_H

#include "executor/tuptable.h"
#include "fmgr.h"

#include "plan/window_spec.h"

typedef struct WindowKey
{
	AttrNumber attno;
	uint64 mask; /* bits in which equal values, and no others, agree; 0: the function tells */
	bool byval;
	int16 length;
	FmgrInfo equal;
	Oid collation;

	/* of the row that was remembered last; by reference in `context` */
	MemoryContext context;
	Datum value;
	bool isnull;
} WindowKey;

/*
 * Keys over columns of such rows, in the current context; checks that the user
 * may execute their equality.
 */
extern WindowKey *gpuagg_window_keys_make(const WindowColumn *columns, int ncolumns,
										  TupleDesc desc);

/*
 * Whether the row differs in a key from the one remembered, which it then
 * becomes.  NULLs are equal.  The row's columns up to the last key's are there;
 * garbage stays in the current context.
 */
extern bool gpuagg_window_keys_change(WindowKey *keys, int nkeys, TupleTableSlot *row);

/* Forgets the row remembered. */
extern void gpuagg_window_keys_forget(WindowKey *keys, int nkeys);

#endif /* GPUAGG_WINDOW_KEY_H */
