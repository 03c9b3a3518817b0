/*
 * running_operation.h
 *	  Running functions as operations: what a row adds, and the value up to it.
 *
 * One operation for each aggregate and type of arguments.  Its state takes the rows
 * of a partition one by one; where it has a kind, whole batches of them can be
 * scanned by an engine instead, from the state on and back into it.  It does not
 * know where rows come from.
 */
#ifndef GPUAGG_RUNNING_OPERATION_H
#define GPUAGG_RUNNING_OPERATION_H

#include "catalog/pg_type.h"
#include "nodes/nodes.h"

#include "operation/family.h"

/* Of the rows taken so far; an allocated chunk. */
typedef struct RunningState
{
	MemoryContext context; /* where it lies, with all that it refers to */
	int64 n;			   /* values taken, none of them NULL */
	GpuaggInt128 wide; /* of wide decimals: the sum's low words, or the least or greatest value; */
	int64 top;		   /* and the sum's third word */
	Accumulator acc;   /* its head, behind which it goes on */
} RunningState;

typedef struct RunningOperation
{
	Aggregate aggregate;
	Oid result;			 /* type of its values */
	int16 result_length; /* of values by reference, as pg_type.typlen; 0: by value */
	int16 width;		 /* bytes of an argument, for the statistics; 0: they vary */
	SqlForm form;		 /* of an argument */
	SqlFamily family;
	GpuaggKind kind; /* of its batches; 0: rows are taken one by one */
	GpuaggOp op;	 /* of engines, or what they would do */
	int scale;		 /* arguments are decimals: integers, times 10^-scale; -1: they are not */
	bool wide;		 /* these have 128 bits, and not 64; scans of them are the CPU's */
} RunningOperation;

/* Averages of floats: scans divide, on the CPU. */
static inline bool
gpuagg_running_averages_floats(const RunningOperation *op)
{
	return op->family == SQL_FAMILY_FLOAT && op->aggregate == AGGREGATE_AVG;
}

/* Averages of others are made of scans' sums, and of counts. */
static inline bool
gpuagg_running_needs_counts(const RunningOperation *op)
{
	return op->kind != 0 && op->aggregate == AGGREGATE_AVG && op->family != SQL_FAMILY_FLOAT;
}

/* And these are numeric, of sums in 128 bits. */
static inline bool
gpuagg_running_averages_numerics(const RunningOperation *op)
{
	return gpuagg_running_needs_counts(op) && !op->wide && op->kind == GPUAGG_INT64 &&
		   op->result == NUMERICOID;
}

/* Of a sum whose value is numeric, and whose scan's result an integer, the scale; -1: others. */
static inline int
gpuagg_running_sums_scale(const RunningOperation *op)
{
	if (op->aggregate != AGGREGATE_SUM || op->kind != GPUAGG_INT64 || op->result != NUMERICOID ||
		op->wide)
		return -1;
	return Max(op->scale, 0);
}

/* Whether a scan's result may be no value: a sum of money may be out of range, which the scan does not know. */
static inline bool
gpuagg_running_may_raise(const RunningOperation *op)
{
	return op->op == GPUAGG_SUM && op->kind == GPUAGG_INT64 && op->result == MONEYOID;
}

/* The kind of scans' results that are floats. */
static inline GpuaggKind
gpuagg_running_result_kind(const RunningOperation *op)
{
	return gpuagg_running_averages_floats(op) ? GPUAGG_FLOAT64 : op->kind;
}

static inline unsigned
gpuagg_running_scan_flags(const RunningOperation *op)
{
	return (gpuagg_running_averages_floats(op) ? GPUAGG_SCAN_AVERAGE : 0) |
		   (op->wide ? GPUAGG_SCAN_WIDE : 0);
}

/* Whether the CPU alone scans. */
static inline bool
gpuagg_running_on_cpu(const RunningOperation *op)
{
	return gpuagg_running_averages_floats(op) || op->wide;
}

/* Whether there are kernels for it. */
static inline bool
gpuagg_running_on_device(const RunningOperation *op)
{
	return op->kind != 0 && !gpuagg_running_on_cpu(op);
}

/*
 * Whether x may be evaluated for rows that the query perhaps never asks for: it
 * has no side effects, and only leakproof functions, which raise no error, see
 * the row.  Anything else could fail a LIMIT that core and the CPU let pass.
 */
extern bool gpuagg_running_can_read_ahead(Node *x);

/*
 * Whether there is an operation for a type of arguments; and it, in the current
 * context, or an error.
 */
extern bool gpuagg_running_exists(Aggregate aggregate, Oid type);
extern const RunningOperation *gpuagg_running_operation(Aggregate aggregate, Oid type);

/*
 * The same for decimals of 64 bits, all of one scale, which come as bigints; not of COUNT, which does
 * not read them.  Its rows are not taken one by one.
 */
extern const RunningOperation *gpuagg_running_decimal(Aggregate aggregate, int scale);

/* The same for decimals of 128 bits. */
extern const RunningOperation *gpuagg_running_wide(Aggregate aggregate, int scale);

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
	gpuagg_families[op->family]->deposit(&state->acc, state, op->form, value);
	state->n++;
}

/*
 * The value up to the last row taken, in the current context or, by reference, in
 * the state until that changes.  Raises an error when it is out of range.
 */
static inline Datum
gpuagg_running_value(const RunningOperation *op, RunningState *state, bool *isnull)
{
	return gpuagg_families[op->family]->finish(&state->acc, op->aggregate, op->result, isnull);
}

/*
 * Stores rows 0 to nrows - 1 of a column of Datums, of which each is `stride` after
 * the one before, as values of a batch; a NULL as 0.
 */
extern void gpuagg_running_store_column(const RunningOperation *op, void *values,
										const Datum *column, const bool *isnull, Size stride,
										int64 nrows);

/* The same of wide decimals, from columns of their low and high words. */
extern void gpuagg_running_store_wide(GpuaggInt128 *values, const Datum *low, const Datum *high,
									  const bool *isnull, Size stride, int64 nrows);

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

/* The same at rows first to end, into values `stride` places apart; counts: n by row, or NULL: 0. */
extern void gpuagg_running_results(const RunningOperation *op, const void *results,
								   const uint8 *status, const int64 *counts, int64 first, int64 end,
								   Datum *values, bool *isnull, Size stride);

/*
 * Of a numeric average, of a row that has one, its value times 10^scale.  False: it is not an integer of
 * 38 digits.
 */
extern bool gpuagg_running_average(const RunningOperation *op, GpuaggInt128 sum, int64 n, int scale,
								   GpuaggInt128 *average);

/*
 * The values of all rows into a column of Datums.  False, with nothing put there,
 * where rows have to be asked for one by one: they take memory, or one is an error.
 */
extern bool gpuagg_running_result_column(const RunningOperation *op, const void *results,
										 const uint8 *status, int64 nrows, Datum *column,
										 bool *isnull, Size stride);

#endif /* GPUAGG_RUNNING_OPERATION_H */
