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
	uint64 mask; /* values are equal if they agree in these bits; 0: ask the function */
	bool byval;
	int16 length;
	FmgrInfo equal;
	Oid collation;

	/* of the row that was remembered last */
	MemoryContext context; /* has values by reference */
	Datum value;
	bool isnull;
} WindowKey;

/*
 * Keys over columns of rows of this descriptor, in the current context.  Checks that the
 * user may execute their equality functions.
 */
extern WindowKey *gpuagg_window_keys_make(const WindowColumn *columns, int ncolumns,
										  TupleDesc desc);

/*
 * Whether the row differs in a key from the one remembered; then remembers it.  NULLs
 * are equal.  The slot has the columns up to the last key's.  Garbage stays in the
 * current context.
 */
extern bool gpuagg_window_keys_change(WindowKey *keys, int nkeys, TupleTableSlot *row);

/* Whether all keys can be compared by their bits. */
extern bool gpuagg_window_keys_are_bits(const WindowKey *keys, int nkeys);

/*
 * gpuagg_window_keys_change() for such keys and many rows: sets bit i of `bitmap` if row i
 * differs from the row before it.  Each row is `stride` Datums after the one before.
 */
extern void gpuagg_window_keys_mark(WindowKey *keys, int nkeys, const Datum *values,
									const bool *isnull, Size stride, int64 nrows, uint64 *bitmap);

/* Forgets the row remembered. */
extern void gpuagg_window_keys_forget(WindowKey *keys, int nkeys);

#endif /* GPUAGG_WINDOW_KEY_H */
