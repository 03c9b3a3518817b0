/*
 * vector_run.h
 *	  Runs vector programs on the CPU.
 */
#ifndef GPUAGG_VECTOR_RUN_H
#define GPUAGG_VECTOR_RUN_H

#include "common/vector.h"

/*
 * The rows of a register or column.  Values of rows beyond the vector's, of NULLs
 * and of rows that are not live may be anything; memory is there for
 * GPUAGG_VECTOR_ROWS.
 */
typedef struct GpuaggVector
{
	void *values;
	uint64_t *valid; /* bit set: not NULL; NULL pointer: no row is NULL */
} GpuaggVector;

/*
 * Evaluates expression `number` for the rows in `wanted`, in order, into the memory that
 * *out points to: values, and the bits of out->valid, which come as zeros, as do those of a
 * BOOL's values.  Rows that are not wanted become NULL.  Not called for no rows.  May leave
 * by longjmp.
 */
typedef void (*GpuaggVectorRow)(void *owner, int number, const uint64_t *wanted, GpuaggVector *out);

/*
 * Makes the values of a column for the rows in `wanted`, in the memory that columns[] says.
 * Rows that a later instruction wants of the same column are among them.
 */
typedef void (*GpuaggVectorLoad)(void *owner, int column, const uint64_t *wanted);

/*
 * Strings of a column that lie in a table: those of a vector's rows by number.  Conditions on
 * them are decided once for each entry.
 */
typedef struct GpuaggVectorCodes
{
	const int32_t *codes; /* by row, NULLs too; NULL: the strings are in the column's vector */
	const GpuaggVectorBytes *entries;
	uint32_t nentries; /* at least 1 */
	uint32_t table;	   /* a number that other tables have not */
} GpuaggVectorCodes;

/*
 * Bytes for an instruction's verdicts on a table's entries, by code: zeros at first, then as the
 * instruction left them, until its constants or the table change.
 */
typedef uint8_t *(*GpuaggVectorVerdicts)(void *owner, int instruction,
										 const GpuaggVectorCodes *codes);

/* Makes the vector of a column that has codes. */
typedef void (*GpuaggVectorStrings)(void *owner, int column);

/*
 * What runs a program.  Registers' memory is the runner's, or that of a column for the
 * result of COLUMN.  columns[] is set by the caller for each vector; they are read only.
 * BYTES are followed only in live rows that are not NULL.
 */
typedef struct GpuaggVectorRunner
{
	const GpuaggVectorProgram *program;
	GpuaggVectorConstant *constants; /* copies; parameters' values, not types, may be changed */
	GpuaggVector *columns;
	GpuaggVector *registers;
	GpuaggVectorRow row;
	GpuaggVectorLoad load;			/* NULL: columns are complete */
	const GpuaggVectorCodes *codes; /* by column, set with columns[]; NULL: none has codes */
	GpuaggVectorVerdicts verdicts;	/* these two where there are codes */
	GpuaggVectorStrings strings;
	void *owner; /* of the functions */
	int nrows;	 /* of the current vector */
	uint64_t live[GPUAGG_VECTOR_WORDS];
	uint64_t flagged[GPUAGG_VECTOR_WORDS];
	bool any_flagged;
} GpuaggVectorRunner;

/*
 * Bytes that a runner of a checked program takes, and the runner made in such memory,
 * aligned to 64 bytes; it goes by letting go of the memory.  The program must stay.
 */
extern size_t gpuagg_vector_runner_size(const GpuaggVectorProgram *program);
extern GpuaggVectorRunner *gpuagg_vector_runner_make(void *memory,
													 const GpuaggVectorProgram *program);

/* For tests: runners are made as on a processor without wide vector registers. */
extern bool gpuagg_vector_plain;

/* To be called after constants[] has changed, before the next vector. */
extern void gpuagg_vector_constants_changed(GpuaggVectorRunner *runner);

/*
 * Runs the filter over a new vector of nrows rows, whose columns are set: live becomes
 * the rows that pass, flagged the rows that could not be decided.  Returns the number
 * of live rows.  Callers look at any_flagged first: if it is set, neither counts.
 */
extern int gpuagg_vector_run_filter(GpuaggVectorRunner *runner, int nrows);

/*
 * The same where the caller knows which rows pass: of the filter's instructions only those
 * are run that are `kept`, which cannot flag rows.  Columns are complete for these rows; what
 * masks them need not be kept.
 */
extern void gpuagg_vector_run_selected(GpuaggVectorRunner *runner, int nrows, const uint64_t *live,
									   const bool *kept);

/* Runs the rest for the live rows; adds to flagged. */
extern void gpuagg_vector_run_values(GpuaggVectorRunner *runner);

/* The numbers of the rows in a bitmap of a vector, in order; returns how many there are. */
extern int gpuagg_vector_list(const uint64_t *bitmap, uint16_t *rows);

/* Sets the bitmap to all of a vector's rows. */
static inline void
gpuagg_vector_all(uint64_t *bitmap, int nrows)
{
	for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
		bitmap[w] = nrows - w * 64 >= 64  ? UINT64_MAX
					: nrows - w * 64 <= 0 ? 0
										  : (UINT64_C(1) << (nrows - w * 64)) - 1;
}

/* Number of rows in a bitmap of a vector. */
static inline int
gpuagg_vector_count(const uint64_t *bitmap)
{
	int n = 0;

	for (int i = 0; i < GPUAGG_VECTOR_WORDS; i++)
		n += __builtin_popcountll(bitmap[i]);
	return n;
}

#endif /* GPUAGG_VECTOR_RUN_H */
