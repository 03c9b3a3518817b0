/*
 * window_giving.h
 *	  How a GpuWindow node below another one gives its rows to the sort above.
 */
#ifndef GPUAGG_WINDOW_GIVING_H
#define GPUAGG_WINDOW_GIVING_H

#include "exec/window_pipeline.h"

typedef struct Giving
{
	WindowScanState *below;
	RowSort *from; /* the node's own */
	RowSort *to;
	const WindowInput *above;
	int ncolumns; /* of `to`: the node's columns, and behind them arguments that it computes */
	StoreSource *sources; /* by column of `to` */
	int nvalues;		  /* these are functions' values: */
	int *columns;		  /* of `to` */
	int *functions;
} Giving;

/* Finds where the columns come from; false: some are computed. */
extern bool gpuagg_window_giving_begin(Giving *giving);

/* Whether rows are given in sets, and not group by group. */
extern bool gpuagg_window_giving_in_sets(const Giving *giving);

/*
 * Makes the first n rows of the current set, where groups end, have their functions' values: in the
 * set's rows or, of integers, in the flight's results.  In sets.
 */
extern void gpuagg_window_giving_spread(const Giving *giving, WindowRows *rows, int64 n);

/* Whether a value is kept as an integer. */
static inline bool
gpuagg_window_giving_integers(const Giving *giving, int i)
{
	return giving->sources[giving->columns[i]].scale >= 0;
}

/* What has a value's results. */
static inline const Flight *
gpuagg_window_giving_flight(const Giving *giving, int i, const WindowRows *rows)
{
	return &rows->columns[giving->functions[i]].scan->flight;
}

/* Whether all rows of a set under a ROWS frame have their values without being settled. */
static inline bool
gpuagg_window_giving_is_complete(const Giving *giving, const WindowRows *rows)
{
	bool complete = true;

	for (int i = 0; i < giving->nvalues; i++)
		complete &= gpuagg_window_giving_integers(giving, i) ||
					rows->columns[giving->functions[i]].has_values;
	return complete;
}

/*
 * Puts all rows into the sort above, which is empty, as columns; where they wait for their group's
 * end, in a queue beside the sort below.
 */
extern void gpuagg_window_giving_move(const Giving *giving);

#endif /* GPUAGG_WINDOW_GIVING_H */
