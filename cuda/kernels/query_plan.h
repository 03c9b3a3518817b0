/*
 * query_plan.h
 *	  What the kernel of queries interprets: a program made ready for it.
 *
 * It is an accumulator machine.  A step takes its first operand into the accumulator, unless
 * it is there, and its second into a register beside it, and leaves its result in the
 * accumulator; `out` says where a copy goes if a later step needs one.  Columns and constants
 * are operands where they lie, and are never copied.
 *
 * Numbers are of five classes; INT16 is held as INT32, and a step QUERY_FIT16 behind those
 * that may leave its range flags what does.
 */
#ifndef GPUAGG_QUERY_PLAN_H
#define GPUAGG_QUERY_PLAN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#include "common/query_group.h"
#include "common/vector.h"
#ifdef __cplusplus
}
#endif

#define GPU_QUERY_COLUMNS	 32
#define GPU_QUERY_AGGREGATES 16
#define GPU_QUERY_CONSTANTS	 96
#define GPU_QUERY_STEPS		 160

enum
{
	QUERY_BOOL,
	QUERY_INT32,
	QUERY_INT64,
	QUERY_INT128,
	QUERY_FLOAT32,
	QUERY_FLOAT64,
	QUERY_INT16 /* the target of a cast only */
};

/* Codes of steps: operation (GpuaggVectorOp or one of these) and class, or both classes of a cast. */
enum
{
	QUERY_CASTS = 64, /* and the class cast from */
	QUERY_FILTER = 80,
	QUERY_FIT16,
	QUERY_GROUP, /* finds the groups of the rows that have passed the filter; it keeps no operand */
	QUERY_AGGREGATE = 96 /* and the GpuaggOp */
};

#define QUERY_CODE(op, class)			((op) << 3 | (class))
#define QUERY_CAST(from, to)			QUERY_CODE(QUERY_CASTS + (from), to)
#define QUERY_AGGREGATE_CODE(op, class) QUERY_CODE(QUERY_AGGREGATE + (op), class)

/* Where an operand is: kind, and a number or, of temporaries, bytes of one lane's values before it. */
enum
{
	QUERY_NONE,
	QUERY_ACCUMULATOR,
	QUERY_COLUMN,
	QUERY_CONSTANT,
	QUERY_NULL,		  /* a constant */
	QUERY_TEMPORARY0, /* a BOOL */
	QUERY_TEMPORARY4, /* and by bytes of a value */
	QUERY_TEMPORARY8,
	QUERY_TEMPORARY16
};

#define QUERY_SOURCE(kind, number)	((uint32_t) (kind) << 24 | (uint32_t) (number))
#define QUERY_SOURCE_KIND(source)	((source) >> 24)
#define QUERY_SOURCE_NUMBER(source) ((source) &0xffffff)

typedef struct GpuQueryStep
{
	uint16_t code;
	uint8_t inverted; /* comparisons: the contrary is asked for; sets: a constant is NULL */
	uint8_t in_place; /* a sum of a column whose values need not be in the accumulator */
	uint32_t a;		  /* sources */
	uint32_t b;
	uint32_t c;	   /* a BOOL: of choices; of aggregates the filter */
	uint32_t mask; /* a BOOL: where rows may be flagged */
	uint32_t out;  /* a temporary or NONE */
	uint16_t arg;  /* sets: first constant; times: field; aggregates: number */
	uint16_t count;
} GpuQueryStep;

/* Where an aggregate is added up: words of 64 bits of a thread, the first of them a count; with groups none. */
typedef struct GpuQueryTotal
{
	uint8_t op;
	uint8_t class_of;
	uint8_t floats; /* number among sums of floats */
	uint8_t spare;
	uint16_t first;
	uint16_t words;
} GpuQueryTotal;

typedef struct GpuQueryPlan
{
	uint32_t nsteps;
	uint32_t ncolumns;
	uint32_t naggregates;
	uint32_t temporaries; /* bytes of one lane, for each of its values; BOOL and NULL bits apart */
	uint32_t ntemporaries;
	uint32_t words; /* of totals of a thread */
	uint8_t wide;	/* some value is INT128 */
	uint8_t nfloats;
	uint8_t heavy;	 /* has quotients, parts of times or sums of squares */
	uint8_t squares; /* has sums of squares of floats, or of INT128 */
	uint8_t spare[4];
	uint16_t column[GPU_QUERY_COLUMNS]; /* number in the program */
	uint8_t type[GPU_QUERY_COLUMNS];	/* GpuaggVectorType */
	GpuQueryTotal totals[GPU_QUERY_AGGREGATES];
	uint32_t key[GPUAGG_GROUP_KEYS];			 /* sources */
	GpuaggGroupLayout groups;					 /* without keys: zeros */
	GpuaggInt128 constants[GPU_QUERY_CONSTANTS]; /* floats: bits; BOOL: 0 or 1 */
	GpuQueryStep steps[GPU_QUERY_STEPS + 1];	 /* the last one is none */
} GpuQueryPlan;

#endif /* GPUAGG_QUERY_PLAN_H */
