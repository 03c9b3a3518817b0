/*
 * agg_state.h
 *	  The state of a GpuAgg node.
 *
 * agg_scan.c has the node's callbacks, agg_input.c takes rows from where they are, agg_vector.c
 * brings vectors through the program, agg_rows.c single rows through core's executor, agg_sink.c
 * puts their values into states, agg_output.c makes rows.
 */
#ifndef GPUAGG_AGG_STATE_H
#define GPUAGG_AGG_STATE_H

#include "compat.h"

#include "access/tupconvert.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "storage/spin.h"

#include "common/query_total.h"
#include "common/vector_run.h"
#include "device/stat.h"
#include "exec/agg_distinct.h"
#include "exec/agg_groups.h"
#include "exec/filter_conditions.h"
#include "exec/page_reader.h"
#include "spec/agg_spec.h"

/* How a state takes the values of a vector. */
typedef enum AggFeed
{
	FEED_ROWS,	  /* count(*): no values */
	FEED_COUNT,	  /* only whether they are NULL */
	FEED_NUMBERS, /* by kind: sums and extremes of integers and floats */
	FEED_DECIMAL, /* integers at a scale into a numeric's state */
	FEED_DATUM,	  /* one by one, as the executor has them */
	FEED_DISTINCT /* from a set that has each value once, when all rows are there */
} AggFeed;

/* A state of each group, as the table's vectors feed it; several calls may share one. */
typedef struct AggInput
{
	AggFeed feed;
	Expr *argument; /* NULL: count(*) */
	Expr *where;	/* FILTER, or NULL */
	const SqlType *type;
	int distinct; /* as AggCall.distinct */
	VectorValue value;
	VectorValue filter;	 /* where there is `where` */
	int argument_column; /* of rows that come from a node below, from 0; -1: none */
	int where_column;
	ExprState *argument_state; /* for evaluation row by row */
	ExprState *where_state;
	int64 factor;		  /* FEED_DECIMAL: of values, to the scale of the state's fast part */
	GpuaggReduced *total; /* without keys, of FEED_NUMBERS; not yet in the state */
} AggInput;

typedef struct AggSpill AggSpill;
typedef struct AggChunk AggChunk;
typedef struct AggDense AggDense;
typedef struct AggRanges AggRanges;
typedef struct AggResults AggResults;
typedef struct AggTopRun AggTopRun;
typedef struct AggCodes AggCodes;

/* A value that a node's groups may keep: a key, an expression carried, or an argument with DISTINCT. */
typedef struct AggValue
{
	GroupValue type;
	VectorValue form; /* of keys and arguments */
	Oid equality;
	Oid collation;
	bool whole;		  /* its register has all of a value, for display too */
	ExprState *state; /* for evaluation row by row */
	int input;		  /* argument: of that input, whose FILTER it has too */
	int same;		  /* argument: the number of the first one that is the same expression */
} AggValue;

/*
 * Groups by some of a node's values.  The first set has the groups by all keys.  After it come
 * the groups by all keys and an argument with DISTINCT, which have no states; or those of
 * other grouping sets, made from the groups of a set before them when all rows are there.
 *
 * Of an argument with DISTINCT `distinct` has the values that it can hold, beside groups of the
 * first set, with which they are spilled; and the set has those that it cannot.
 */
typedef struct AggSet
{
	GroupLayout layout;
	int *values; /* numbers of the node's values that its groups keep, keys first */
	int from;	 /* grouping sets: made from this set; -1: from rows */
	bool given;	 /* its groups are results */
	uint64 keys; /* which of the node's keys it has, where there are grouping sets */
	AggGroups *groups;
	AggDistinct *distinct;	/* or NULL */
	AggSpill *spill;		/* or NULL */
	GroupPosition position; /* of the next group to be given out */
} AggSet;

/* What a process has done, beside what its reader counts. */
typedef struct AggCounts
{
	PageCounts pages;
	int64 vectors;
	int64 by_row;	/* of these */
	int64 removed;	/* rows, by the filter */
	int64 sent;		/* groups of a worker */
	int64 requests; /* to the device */
	int64 slices;	/* in which gpuaggd did them */
	uint64 ns_device;
	uint64 ns_program; /* of these, gpuaggd's; */
	uint64 ns_slices;  /* and of these, the device's */
	uint64 ns;		   /* bringing vectors into groups, if the plan is timed */
	uint64 ns_reading;
} AggCounts;

/* What processes of one plan share. */
typedef struct AggShare
{
	slock_t mutex; /* of workers, which workers add at their end */
	AggCounts workers;
	WorkReport report; /* of workers, not yet given to the session's statistics */
	PageShare pages;   /* where the table is one; it goes on behind */
} AggShare;

/* What a node does with a table's columns in memory. */
typedef struct AggMemory
{
	bool known; /* once an execution; in the leader */
	PageMemory mode;
	uint32 nchunks;			   /* of the share */
	const char *reason;		   /* why it does not do all; or NULL */
	const char *device_reason; /* why the device did not do all of that; or NULL */
} AggMemory;

/* What a node asks the device for. */
typedef struct AggDevice AggDevice;

/* Groups that it has found and that are not among the node's yet. */
typedef struct AggHeld AggHeld;

/* Of a leader before there are workers. */
typedef struct AggAlone
{
	instr_time start;
	int processes; /* that there may be */
	double bytes;  /* of the columns in memory */
} AggAlone;

/*
 * A node GpuAgg Table: reads one table for the node over several, the first GpuAgg above it,
 * whose program and groups it uses.
 */
typedef struct AggTable
{
	CustomScanState css;
	struct AggScanState *over; /* set by that node when it starts */
	Relation relation;		   /* NULL: not yet opened */
	PageColumn *columns;	   /* of the program, as this table has them */
	TupleConversionMap *map;   /* from its rows to the parent's; NULL: they are the same */
	TupleTableSlot *slot;	   /* a row as the table has it, where there is a map */
	TupleTableSlot *full;	   /* what it gives when groups must be given out before it goes on */
	PageShare *share;
	PageShare *taken; /* in a leader: what it has taken before there were workers; or NULL */
	AggMemory memory;
	bool drained;
} AggTable;

/*
 * A node of any mode.  A final node has no groups of its own: it works on those of the
 * leader's partial node.
 */
typedef struct AggScanState
{
	CustomScanState css;
	AggSpec *spec;
	struct AggScanState *partial; /* final: the leader's; else NULL */
	int ncolumns;				  /* of the scan tuple; quals come after them */

	/* groups */
	int nvalues;
	AggValue *values;
	int nsets;
	AggSet *sets;
	int ndistinct; /* so many sets after the first have arguments with DISTINCT */
	int giving;	   /* the set whose groups are given out */
	int nstates;
	AggGroupState *states; /* of the sets that have any */
	AggDense *dense;	   /* what is not yet in the states of the first; or NULL */
	int *call_state;	   /* state of each call */
	bool leader;		   /* partial: its groups are read and merged into by the final node */
	bool begun;
	bool drained;							 /* all input is in the groups */
	bool emitting;							 /* partial, in a worker: gives out its groups */
	bool counted;							 /* its counts are in the share */
	int64 given;							 /* groups given out as results */
	void (*fill)(struct AggScanState *node); /* all input into the groups, of a node with results */
	AggTopRun *top;		 /* groups that are wanted, once there was a look; or NULL */
	bool top_begun;		 /* there was, in this run; */
	bool top_found;		 /* and it has told which */
	AggResults *results; /* groups that a node above takes as vectors; or NULL */
	Size memory_limit;	 /* bytes of all sets' groups and values */
	Size set_limit;		 /* of these, what a set may have in any case */
	int64 spills;
	int64 spilled_bytes;
	TupleTableSlot *incoming; /* a worker's tuple that is being merged */

	/* the table, or the parent of several; or a plan with windows */
	Relation relation;	/* NULL: there is none */
	TupleDesc row_desc; /* of its rows */
	Index varno;		/* in expressions */
	AggTable *table;	/* of several: the one that is being read; or NULL */
	List *tables;		/* of several: AggTable * of the nodes below */
	bool other_rows;	/* of several: nodes of another kind give rows, too */
	bool full;			/* it has stopped because groups must be given out */
	VectorCompiler *compiler;
	GpuaggVectorRunner *runner;
	PageColumn *columns;
	PageReader *reader;
	AggMemory memory; /* where the table is one */
	AggAlone alone;
	FilterConditions conditions;
	AggChunk *chunk; /* what is asked of blocks in memory */
	struct WindowDevice
		*window; /* of the window below, on the device; NULL: not made, or not to be done */
	struct AggBetween *between;	  /* what is made between the two; NULL: nothing */
	struct AggAverages *averages; /* of the window that are numeric; NULL: none are read */
	AggDevice *device;			  /* NULL: nothing, whatever rows there are */
	AggHeld *held;				  /* or NULL */
	const char *device_reason;	  /* why the device did not do all from memory; or NULL */
	AggRanges *ranges;			  /* the filter as ranges of columns in memory; or NULL */
	AggCodes *codes;			  /* what is done with strings' codes */
	bool values_only;			  /* groups' values come whole from registers */
	bool columns_only;			  /* and no row is evaluated, but for flagged ones */
	AggInput *inputs;			  /* one for each state */
	ExprState *qual;
	ExprState **row_exprs; /* of ROW instructions */
	TupleTableSlot *row_slot;
	int row_natts;			/* attributes that row-by-row evaluation reads */
	bool always_by_row;		/* everything, for what the expressions are */
	bool by_row;			/* everything, for that or for a parameter's value */
	int next_row;			/* of the vector, where memory was full while rows were taken; or 0 */
	List *parameter_states; /* ExprStates of the compiler's parameters */
	bool filter_parameters_set;
	bool value_parameters_set;
	MemoryContext parameter_context; /* until a rescan */
	MemoryContext batch_context;	 /* until the next vector */
	AggShare *share;
	AggCounts counts;  /* of this process; pages: of readers that were closed */
	AggCounts told;	   /* of these, what the session's statistics have */
	AggCounts workers; /* copied from the share when they have ended */
} AggScanState;

/* agg_scan.c: adds a process's counts to others */
extern void gpuagg_agg_counts_add(AggCounts *into, const AggCounts *from);

/* Whose new group's values are wanted. */
typedef struct AggFill
{
	AggScanState *node;
	const AggSet *set;
} AggFill;

/*
 * agg_input.c; drain() stops early, not drained, when a worker has to give out its groups.
 * take_memory(), of a leader before there are workers, brings the rows of the one table that come
 * from memory into the groups, until so many workers are worth it, or what the device has of each
 * of several; true: that was all.
 * take_table() brings one of several tables into the groups; false: it stops early likewise.
 */
extern void gpuagg_agg_input_init(AggScanState *node);
extern void gpuagg_agg_input_drain(AggScanState *node);
extern bool gpuagg_agg_input_take_memory(AggScanState *node, int workers);
extern bool gpuagg_agg_input_take_table(AggScanState *node, AggTable *table);

/*
 * What to do with a table's columns in memory, found out at the first call; columns: as the
 * table has them.
 */
extern PageMemory gpuagg_agg_input_memory(AggScanState *node, Relation relation,
										  const PageColumn *columns, AggMemory *memory);
extern void gpuagg_agg_input_rescan(AggScanState *node);
extern void gpuagg_agg_input_end(AggScanState *node);

/* Tells the session's statistics what has been read since the last call. */
extern void gpuagg_agg_input_tell(AggScanState *node);

/*
 * agg_vector.c: makes the program's runner; the reader's batch through the program and into the
 * groups, or back to the reader, or row by row.
 */
extern void gpuagg_agg_vector_init(AggScanState *node);
extern void gpuagg_agg_vector_take(AggScanState *node);

/* The groups of rows[0 to n - 1] of the vector, of a set: found[i]. */
extern void gpuagg_agg_find_groups(AggScanState *node, const AggSet *set, const uint16 *rows, int n,
								   AggGroup **found);

/* Time, where EXPLAIN (ANALYZE) asks for it: adds what has passed since start() to *ns. */
extern instr_time gpuagg_agg_timing_start(const AggScanState *node);
extern void gpuagg_agg_timing_stop(instr_time start, uint64 *ns);

/* The first set. */
static inline AggSet *
gpuagg_agg_main(const AggScanState *node)
{
	return &node->sets[0];
}

/* `owner` of its groups' states, for the families' functions. */
static inline void *
gpuagg_agg_owner(const AggScanState *node)
{
	return gpuagg_groups_owner(gpuagg_agg_main(node)->groups);
}

/* The value that is the argument with DISTINCT of that number. */
static inline int
gpuagg_agg_distinct_number(const AggScanState *node, int distinct)
{
	return node->nvalues - node->ndistinct + distinct;
}

static inline const AggValue *
gpuagg_agg_distinct_value(const AggScanState *node, int distinct)
{
	return &node->values[gpuagg_agg_distinct_number(node, distinct)];
}

/*
 * agg_rows.c.  store() makes a row of the vector the executor's; evaluate() is ROW of the
 * vector program: when values take too much memory, the row and those after it are flagged, and
 * are NULL.  take_vector() brings the rows of the vector into the groups, and take() those from
 * next_row on, as far as there is room; next_row is 0 after the last.
 */
extern void gpuagg_agg_row_store(AggScanState *node, int row);
extern void gpuagg_agg_row_evaluate(void *owner, int number, const uint64 *wanted,
									GpuaggVector *out);
extern void gpuagg_agg_rows_take_vector(AggScanState *node);
extern void gpuagg_agg_rows_take(AggScanState *node);

/*
 * agg_sink.c: the live rows of the vector into one group, or each into its own but for the
 * states that have `taken` them, if it is not NULL; n > 0 values of an input with that sum into a
 * group; what a reduction of an input's values gave, which is changed; n decimals of any size, of a
 * scale, by the words of their sum and that of their squares (decimal_sum.h); and the row in the slot, whose
 * expressions are evaluated singly, or whose values a node below has computed.  finish() brings all
 * into the states.
 */
extern void gpuagg_agg_sink_all(AggScanState *node, AggGroup *group, int nlive);
extern void gpuagg_agg_sink_grouped(AggScanState *node, AggGroup *const *found, const uint16 *rows,
									int n, const bool *taken);
extern void gpuagg_agg_sink_sum(AggScanState *node, int number, AggGroup *group, int64 n,
								__int128 sum);
extern void gpuagg_agg_sink_total(AggScanState *node, int number, AggGroup *group,
								  GpuaggReduced *total);
extern void gpuagg_agg_sink_words(AggScanState *node, int number, AggGroup *group, int64 n,
								  int scale, const uint64 *sum, const uint64 *squares);
extern void gpuagg_agg_sink_row(AggScanState *node, AggGroup *group, ExprContext *econtext);
extern void gpuagg_agg_sink_values(AggScanState *node, AggGroup *group, const TupleTableSlot *slot);

/* Adds a value of the input of that number, not NULL, to its state in a group. */
extern void gpuagg_agg_deposit(AggScanState *node, int number, AggGroup *group, Datum value);

/*
 * Whether an input takes a row that a node below has computed: past its FILTER, and with an
 * argument that is not NULL, which is *value.
 */
extern bool gpuagg_agg_input_of_slot(const AggInput *input, const TupleTableSlot *slot,
									 Datum *value);

/* The live rows that an input takes: past its FILTER, and with an argument that is not NULL. */
extern int gpuagg_agg_sink_rows(const AggScanState *node, const AggInput *input, uint64 *wanted);
extern void gpuagg_agg_sink_finish(AggScanState *node);

/* Whether the constants of the filter's conditions have their values. */
static inline bool
gpuagg_agg_conditions_known(const AggScanState *node)
{
	return !node->conditions.has_parameters || node->filter_parameters_set;
}

/*
 * agg_ranges.c: makes node->ranges if the filter is only conditions; filter() runs it over the
 * batch, which comes from memory, without reading values of columns that only it needs.
 * False: this is not possible, and nothing has been done.
 */
extern void gpuagg_agg_ranges_init(AggScanState *node);
extern void gpuagg_agg_ranges_reset(AggScanState *node);
extern bool gpuagg_agg_ranges_filter(AggScanState *node, int *nlive);

/* agg_chunk.c; ask(): of the reader that has been opened */
extern void gpuagg_agg_chunk_init(AggScanState *node);
extern void gpuagg_agg_chunk_ask(AggScanState *node);

/*
 * agg_codes.c: strings and verdicts as of the program's runner; forget() when constants change;
 * follow() makes the strings of a register.
 */
extern void gpuagg_agg_codes_init(AggScanState *node);
extern void gpuagg_agg_codes_strings(void *owner, int column);
extern uint8 *gpuagg_agg_codes_verdicts(void *owner, int instruction,
										const GpuaggVectorCodes *codes);
extern void gpuagg_agg_codes_forget(AggScanState *node);
extern void gpuagg_agg_codes_follow(AggScanState *node, int reg);

/*
 * The groups of rows[0 to n - 1] by their keys' codes: found[i], or NULL, and i is among
 * `missing`.  False: they cannot be found so.  enter() takes groups of such rows, found otherwise.
 */
extern bool gpuagg_agg_codes_find(AggScanState *node, const AggSet *set, const uint16 *rows, int n,
								  AggGroup **found, uint16 *missing, int *nmissing);
extern void gpuagg_agg_codes_enter(AggScanState *node, const AggSet *set, const uint16 *rows, int n,
								   AggGroup *const *groups);

/*
 * agg_device.c, agg_device_groups.c: what the device can do of the program, the states and the
 * keys; and the rows of chunks whose columns are on the device into the groups, before others of
 * the reader's that come from memory.
 */
extern void gpuagg_agg_device_init(AggScanState *node);
extern void gpuagg_agg_device_take(AggScanState *node);

/*
 * agg_device_held.c: before other rows come, brings what is held among the node's groups; the next
 * group of those held, until that after it is asked for, NULL at the end; forgets them.  Where
 * these are results and has_results(), next_result() gives one in place of a group: the values of
 * the node and of its calls.  next_records(): up to a vector of them as records, until it is called
 * again, 0 at the end; during a look(), which begins and ends at the first, they stay.  Of a record
 * a key, a call's result, or its n values' sum as an integer times 10^-scale, false if it is none.
 */
extern void gpuagg_agg_held_settle(AggScanState *node);
extern AggGroup *gpuagg_agg_held_next(AggScanState *node);
extern bool gpuagg_agg_held_has_results(const AggScanState *node);
extern bool gpuagg_agg_held_next_result(AggScanState *node, Datum *values, bool *isnull);
extern bool gpuagg_agg_held_look(AggScanState *node, bool look);
extern int gpuagg_agg_held_next_records(AggScanState *node, const uint32 **records);
extern Datum gpuagg_agg_held_key(const AggScanState *node, const uint32 *record, int number,
								 bool *isnull);
extern Datum gpuagg_agg_held_result(const AggScanState *node, const uint32 *record, int call,
									bool *isnull);
extern bool gpuagg_agg_held_integer(const AggScanState *node, const uint32 *record, int call,
									int scale, int64 *n, GpuaggInt128 *sum);
extern void gpuagg_agg_held_end(AggScanState *node);

/*
 * agg_device_window.c: all rows of the window below into the groups, before the node below has
 * been asked for any; false: the CPU has to do it.
 */
extern bool gpuagg_agg_device_window(AggScanState *node);

/* Adds what the device has found of an input to its state in a group. */
extern void gpuagg_agg_device_total(AggScanState *node, int number, AggGroup *group,
									GpuaggQueryTotal *total);

/* agg_layout.c: which values and states there are, and in which sets */
extern void gpuagg_agg_layout_init(AggScanState *node);

/*
 * agg_sets.c.  values and isnull: of the node, by number; of these only those are looked at
 * that the set keeps.
 */
extern void gpuagg_agg_sets_make(AggScanState *node);
extern AggGroup *gpuagg_agg_set_find(AggScanState *node, AggSet *set, const Datum *values,
									 const bool *isnull);

/* The values of a set's group, by number of the node's values; the others stay as they are. */
extern void gpuagg_agg_set_values(const AggSet *set, AggGroup *group, Datum *values, bool *isnull);

/* The next group of a set, those in files too; NULL at the end, with the set empty. */
extern AggGroup *gpuagg_agg_set_next(AggScanState *node, AggSet *set);

/* A group of a set that is given out goes to the grouping sets made from it. */
extern void gpuagg_agg_sets_derive(AggScanState *node, AggSet *set, AggGroup *group);
extern void gpuagg_agg_sets_clear(AggScanState *node);

/*
 * agg_finish.c.  add() makes a group of the first set have a value with DISTINCT, which is
 * values[distinct_number()]; take() takes out the next one, as a value and those of its group,
 * false at the end.
 */
extern void gpuagg_agg_distinct_add(AggScanState *node, int distinct, AggGroup *group,
									const Datum *values, const bool *isnull);
extern bool gpuagg_agg_distinct_take(AggScanState *node, int distinct, Datum *values, bool *isnull);

/* Whether a set's memory is full; makes room by files. */
extern bool gpuagg_agg_set_is_full(const AggScanState *node, const AggSet *set);
extern void gpuagg_agg_set_make_room(AggScanState *node, AggSet *set);

/*
 * When all rows are there: each value with DISTINCT goes to its group of the first set.  The
 * second: values beside the first set's groups, when all groups with them are in memory.
 */
extern void gpuagg_agg_finish(AggScanState *node);
extern void gpuagg_agg_finish_groups(AggScanState *node);

/*
 * agg_output.c: the next group as a scan tuple, with results or with states, false at the
 * end; a tuple of NULLs alone; the result of a call for a group; a worker's tuple, or a row that a node below has computed,
 * into the groups; room for more groups, false if the worker has to give out what it has.
 */
extern bool gpuagg_agg_output_next(AggScanState *node, bool results, TupleTableSlot *slot);
extern void gpuagg_agg_output_clear(TupleTableSlot *slot);
extern Datum gpuagg_agg_result(const AggScanState *node, const AggSet *set, AggGroup *group,
							   int call, bool *isnull);
extern void gpuagg_agg_output_merge(AggScanState *node, TupleTableSlot *slot);
extern void gpuagg_agg_output_take(AggScanState *node, TupleTableSlot *slot);
extern bool gpuagg_agg_output_make_room(AggScanState *node);

/*
 * agg_table.c: the table is opened, and its columns known; links the tables below a node with it;
 * makes their nodes known
 */
extern void gpuagg_agg_table_open(AggTable *table);
extern void gpuagg_agg_tables_link(AggScanState *node, PlanState *below);
extern void gpuagg_agg_table_register(void);

/* agg_explain.c */
extern void gpuagg_agg_explain(CustomScanState *css, List *ancestors, ExplainState *es);

/* Why columns in memory were not used or filled, if they were not and the user asks; nor on the device. */
extern void gpuagg_agg_explain_memory(const AggMemory *memory, ExplainState *es);
extern void gpuagg_agg_explain_device(const AggMemory *memory, ExplainState *es);

#endif /* GPUAGG_AGG_STATE_H */
