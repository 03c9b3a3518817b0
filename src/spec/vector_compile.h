/*
 * vector_compile.h
 *	  Compiles SQL expressions over one table into a vector program.
 *
 * The planner compiles to know what a plan would cost, the executor's node compiles
 * again when it starts, from the same expressions.  What no instruction does becomes
 * a ROW instruction: core's executor evaluates that (sub)expression for one row after
 * the other.  Every expression without sets, aggregates and windows compiles.
 */
#ifndef GPUAGG_VECTOR_COMPILE_H
#define GPUAGG_VECTOR_COMPILE_H

#include "compat.h"

#include "nodes/execnodes.h"

#include "common/vector_run.h"

/* An expression's value in a register. */
typedef struct VectorValue
{
	uint16 reg;
	GpuaggVectorType type;
	int scale;	   /* of a decimal; -1: it is none */
	int precision; /* of a decimal: digits that it can have, at most; 19 and 39: what the type holds */
	int width;	   /* of a char(n): n; -1: it is none, or n is not known */

	/*
	 * Of a decimal: each row's value has a display scale of its own, which the register does not
	 * say, and is no more than `scale`.
	 */
	bool own_scales;
} VectorValue;

typedef struct VectorCompiler
{
	/*
	 * Set by the caller before anything is compiled: decimals stay INT64 where their digits
	 * may need more, and flag rows that do.  Otherwise they become INT128.
	 */
	bool narrow;

	/* Also set before: values with display scales of their own are given, not DATUMs instead. */
	bool gives_own_scales;

	/* Where parameters have their values, as far as they are known; NULL: nowhere. */
	const EState *estate;

	/* What follows is complete after finish(). */
	GpuaggVectorProgram program;

	/* columns of the table that it reads: attribute numbers, in the order of program.columns; of one
	 * with display scales of its own there may be two, one of DATUMs */
	List *attributes;	 /* of int */
	int nfilter_columns; /* so many of them are read by the filter */

	/*
	 * Expressions of ROW instructions, by number; what their registers hold (reg is not
	 * set); whether they have no column, so that their value for the first row that is
	 * wanted is that of all rows.
	 */
	List *rows; /* of Expr * */
	VectorValue *row_values;
	bool *row_constant;

	/* constants whose value is known when the first row is there */
	List *parameters; /* of VectorParameter * */

	bool user_function; /* some expression calls a function that is not core's; known at once */
	struct VectorBuild *build;
} VectorCompiler;

/* What an expression's value becomes before it is a program's constant, or several. */
typedef struct VectorConversion
{
	GpuaggVectorType type; /* of the constants */
	int n;
	bool (*convert)(Datum value, GpuaggVectorConstant *constants); /* false: it does not fit */
} VectorConversion;

typedef struct VectorParameter
{
	int constant; /* the first, of a conversion's */
	Expr *expr;
	const VectorConversion *conversion; /* NULL: the constant is the value; else early */
	VectorValue value;					/* what its constant must hold */
	bool filter;						/* needed by the filter, else only by rows that passed it */
	bool early; /* SQL might not evaluate it with the first row: an error of it is none yet */
} VectorParameter;

/*
 * Whether the expression can be compiled at all: it is not volatile, and has no
 * subquery, set, aggregate or window function.
 */
extern bool gpuagg_compile_possible(Node *expr);

/*
 * A compiler of expressions over the rows that are number varno in them.  What is a numeric without
 * typmod has the scale of the value that it has now in the executor's state; NULL: it has none.
 */
extern VectorCompiler *gpuagg_compiler_make(Index varno, const EState *estate);

/* Compiles an implicit-AND list of quals, in their order; at most once, before anything else. */
extern void gpuagg_compile_filter(VectorCompiler *compiler, List *quals);

/*
 * Compiles an expression of the rows that passed the filter; equal expressions are
 * computed once.  where: NULL, or a bool expression; only rows for which it is true
 * count, as with an aggregate's FILTER.
 */
extern VectorValue gpuagg_compile_value(VectorCompiler *compiler, Expr *expr, Expr *where);

/* Allocates registers and completes the program; false: it is too large to be one. */
extern bool gpuagg_compile_finish(VectorCompiler *compiler);

/*
 * What a register holds of a type; DATUM where no other register can.  reg is not set.
 * A decimal is a numeric(p, s) of up to 38 digits.  Domains are as the types that they
 * are over.
 */
extern void gpuagg_vector_form(Oid type, int32 typmod, VectorValue *value);

/*
 * Sets a parameter's or constant's value from a Datum of the expression's type; false:
 * it does not fit its form.  BYTES as with gpuagg_vector_store().
 */
extern bool gpuagg_vector_set_constant(GpuaggVectorConstant *constant, const VectorValue *value,
									   Oid type, Datum datum, bool isnull);

/* Whether a constant is another, to the bit. */
extern bool gpuagg_vector_same_constant(const GpuaggVectorConstant *x,
										const GpuaggVectorConstant *y);

/* Sets all of a parameter's constants, from its first on. */
extern bool gpuagg_vector_set_parameter(GpuaggVectorConstant *constants,
										const VectorParameter *parameter, Datum datum, bool isnull);

/*
 * Stores a Datum of that type in row `row` of a register; false: it does not fit, flag the
 * row.  BYTES point into the Datum, or into a copy in the current memory context.
 */
extern bool gpuagg_vector_store(GpuaggVector *vector, const VectorValue *value, Oid type, int row,
								Datum datum, bool isnull);

/* The Datum that a register's row holds, in the current memory context; by reference where the type is. */
extern Datum gpuagg_vector_datum(const GpuaggVector *vector, const VectorValue *value, Oid type,
								 int row, bool *isnull);

#endif /* GPUAGG_VECTOR_COMPILE_H */
