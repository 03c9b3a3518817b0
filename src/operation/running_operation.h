/*
 * running_operation.h
 *	  Running functions as operations: what a row adds, and the value up to it.
 *
 * One operation for each function and argument type.  Its state takes the rows
 * of a partition one by one; where it has a kind, whole batches of them can be
 * scanned by an engine instead, from the state on and back into it.  Nothing
 * here knows where rows come from.
 */
#ifndef GPUAGG_RUNNING_OPERATION_H
#define GPUAGG_RUNNING_OPERATION_H

#include "nodes/nodes.h"

#include "common/protocol.h"
#include "operation/float_state.h"
#include "operation/interval_state.h"
#include "operation/numeric_state.h"

typedef enum RunningFunction
{
	RUNNING_SUM,
	RUNNING_AVG,
	RUNNING_MIN,
	RUNNING_MAX,
	RUNNING_COUNT
} RunningFunction;

typedef struct RunningOperation RunningOperation;

/* Of the rows taken so far; an allocated chunk. */
typedef struct RunningState
{
	MemoryContext context; /* where it lies, with all that it refers to */
	int64 n;			   /* values taken, none of them NULL */
	GpuaggInt128 number;   /* sums of integers; of numbers, min's and max's order key */
	union
	{
		Datum extreme; /* minimum or maximum, when n > 0 */
		NumericState *numeric;
		IntervalState *interval;
	} ref;			   /* of types by reference */
	GrowingSum floats; /* only in states of float sums and averages */
} RunningState;

struct RunningOperation
{
	RunningFunction function;
	Oid type;			 /* of the argument; ANYOID: whatever it is */
	int16 width;		 /* bytes of a value, for the statistics; 0: they vary */
	int16 result_length; /* of values by reference, as pg_type.typlen; 0: by value */

	GpuaggKind kind; /* of its batches; 0: rows are taken one by one */
	GpuaggOp op;	 /* of engines, or what they would do */

	/* the argument as a number: an integer, or the order key of min and max */
	int64 (*number_of)(Datum value);

	/* gpuagg_running_take() but for n, which is what it was before the value */
	void (*take)(const RunningOperation *op, RunningState *state, Datum value);

	/*
	 * The value up to here, of n > 0 rows whose state is that number, or of a
	 * state: one of the two.  By reference it lies in the current context, or in
	 * the state until that changes.  Raise an error when it is out of range.
	 */
	Datum (*number_value)(const RunningOperation *op, int64 n, GpuaggInt128 number);
	Datum (*state_value)(const RunningOperation *op, const RunningState *state, bool *isnull);
};

/*
 * Whether x may be evaluated for rows that the query perhaps never asks for: it
 * has no side effects, and only leakproof functions, which raise no error, see
 * the row.  Anything else could fail a LIMIT that core and the CPU let pass.
 */
extern bool gpuagg_running_can_read_ahead(Node *x);

/*
 * The operation of a function for an argument type.  If there is none: NULL, and
 * an error.
 */
extern const RunningOperation *gpuagg_running_find(RunningFunction function, Oid type);
extern const RunningOperation *gpuagg_running_operation(RunningFunction function, Oid type);

/* An empty state. */
extern RunningState *gpuagg_running_state_make(const RunningOperation *op, MemoryContext context);

/*
 * Empties a state where it lies; false, with nothing changed, where a new one
 * in an emptied context is the way.
 */
extern bool gpuagg_running_state_clear(const RunningOperation *op, RunningState *state);

/* Adds a value, not NULL; garbage stays in the current context. */
static inline void
gpuagg_running_take(const RunningOperation *op, RunningState *state, Datum value)
{
	op->take(op, state, value);
	state->n++;
}

/* The value up to the last row taken. */
extern Datum gpuagg_running_value(const RunningOperation *op, const RunningState *state,
								  bool *isnull);

/* Stores a value at row i of a batch's values. */
extern void gpuagg_running_store(const RunningOperation *op, void *values, int64 i, Datum value);

/*
 * The same for rows 0 to nrows - 1 of a column of Datums, of which each is `stride`
 * after the one before; a NULL as 0.
 */
extern void gpuagg_running_store_column(const RunningOperation *op, void *values,
										const Datum *column, const bool *isnull, Size stride,
										int64 nrows);

/*
 * The state as a scan carries it, and back.  n: values not NULL in all that the
 * state then has, which a carry need not say (protocol.h).
 */
extern void gpuagg_running_to_carry(const RunningOperation *op, const RunningState *state,
									GpuaggScanState *carry);
extern void gpuagg_running_from_carry(const RunningOperation *op, RunningState *state,
									  const GpuaggScanState *carry, int64 n);

/*
 * The value at row i of a scan's results and status.  n: values that are not
 * NULL up to the row; only averages read it.
 */
extern Datum gpuagg_running_result(const RunningOperation *op, const void *results,
								   const uint8 *status, int64 i, int64 n, bool *isnull);

/*
 * The values of all rows into a column of Datums.  False, with nothing put there,
 * where rows have to be asked for one by one: they take memory, or one is an error.
 */
extern bool gpuagg_running_result_column(const RunningOperation *op, const void *results,
										 const uint8 *status, int64 nrows, Datum *column,
										 bool *isnull, Size stride);

#endif /* GPUAGG_RUNNING_OPERATION_H */
