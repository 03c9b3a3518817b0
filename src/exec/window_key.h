/*
 * window_key.h
 *	  Keys by which rows are told apart.
 */
#ifndef GPUAGG_WINDOW_KEY_H
#define GPUAGG_WINDOW_KEY_H

#include "executor/tuptable.h"
#include "fmgr.h"

#include "spec/window_spec.h"

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

/* Whether equal values of all keys have equal bits, and only they. */
extern bool gpuagg_window_keys_are_bits(const WindowKey *keys, int nkeys);

/*
 * gpuagg_window_keys_change() of such keys, of rows as columns: sets bit i of
 * `bitmap` where row i differs from the row before it, of which each is `stride`
 * Datums after the one before.
 */
extern void gpuagg_window_keys_mark(WindowKey *keys, int nkeys, const Datum *values,
									const bool *isnull, Size stride, int64 nrows, uint64 *bitmap);

/* Forgets the row remembered. */
extern void gpuagg_window_keys_forget(WindowKey *keys, int nkeys);

#endif /* GPUAGG_WINDOW_KEY_H */
