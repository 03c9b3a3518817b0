/*
 * vector_build.h
 *	  A vector program while it is being compiled: inside the compiler only.
 *
 * Each instruction writes a register of its own: instruction i writes register i.
 * What turns out not to be needed stays until the program is finished, which keeps
 * what is read by a result, numbers columns, constants and expressions anew, and
 * gives registers that may be shared.
 *
 * Masks: an instruction that can flag, or is evaluated row by row, does so only where
 * SQL would evaluate it.  build->mask says where that is for what is compiled next:
 * a BOOL register, where it is true, or NONE, for all rows of the section.
 */
#ifndef GPUAGG_VECTOR_BUILD_H
#define GPUAGG_VECTOR_BUILD_H

#include "spec/vector_compile.h"

/* An expression that has been compiled, by its address. */
typedef struct VectorMemo
{
	const Expr *expr;
	uint16 mask; /* under which it was */
	VectorValue value;
	int columns; /* uses of columns in it */
	int rows;	 /* and of expressions evaluated row by row */
} VectorMemo;

typedef struct VectorBuild
{
	VectorCompiler *compiler;
	Index varno;

	GpuaggVectorInstruction *code; /* arg: COLUMN: attribute number; ROW: index in rows */
	int ncode;
	int max_code;
	bool in_filter;
	int nfilter; /* so many of code are the filter's */
	uint16 filter;

	GpuaggVectorConstant *constants;
	bool *is_parameter; /* by constant */
	int nconstants;
	int max_constants;
	List *parameters; /* of VectorParameter * */

	List *rows;			/* of Expr * */
	List *row_values;	/* of VectorValue * */
	List *row_constant; /* of int: whether it has no column */

	uint16 mask;
	uint16 conjunct; /* the mask with which the current qual of the filter began; else NONE */
	int column_uses; /* columns that were asked for so far */
	int row_uses;	 /* the same of expressions evaluated row by row, constant ones apart */
	List *outputs;	 /* of int: registers */

	VectorMemo *memos;
	int nmemos;
	int max_memos;
} VectorBuild;

/* When a condition allows what follows it. */
typedef enum VectorMaskWhen
{
	VECTOR_MASK_TRUE,
	VECTOR_MASK_NOT_TRUE,
	VECTOR_MASK_NOT_FALSE,
	VECTOR_MASK_NULL
} VectorMaskWhen;

extern VectorBuild *gpuagg_build_make(VectorCompiler *compiler, Index varno);

/*
 * A register that holds the instruction's result: a new one, or that of an equal
 * instruction.  `out` and `mask` are set by it.
 */
extern uint16 gpuagg_build_emit(VectorBuild *build, GpuaggVectorInstruction instruction);

/* The same, of a result that can never be flagged. */
extern uint16 gpuagg_build_emit_exact(VectorBuild *build, GpuaggVectorInstruction instruction);

/* Short forms, for instructions of up to three registers. */
extern uint16 gpuagg_build_two(VectorBuild *build, GpuaggVectorOp op, GpuaggVectorType type,
							   uint16 a, uint16 b);
extern uint16 gpuagg_build_one(VectorBuild *build, GpuaggVectorOp op, GpuaggVectorType type,
							   uint16 a);
extern uint16 gpuagg_build_choice(VectorBuild *build, GpuaggVectorOp op, GpuaggVectorType type,
								  uint16 a, uint16 b, uint16 c);

/* A source: a column, a constant or an expression, by its number here. */
extern uint16 gpuagg_build_source(VectorBuild *build, GpuaggVectorOp op, GpuaggVectorType type,
								  int arg);

/* n constants in a row; the number of the first. */
extern int gpuagg_build_constants(VectorBuild *build, const GpuaggVectorConstant *constants, int n);

/* A register with the constant; with an integer of that type; with NULL. */
extern uint16 gpuagg_build_constant(VectorBuild *build, const GpuaggVectorConstant *constant);
extern uint16 gpuagg_build_integer(VectorBuild *build, GpuaggVectorType type, __int128 integer);
extern uint16 gpuagg_build_null(VectorBuild *build, GpuaggVectorType type);

/* The constant that the register holds, or NULL: it is none, or a parameter. */
extern const GpuaggVectorConstant *gpuagg_build_is_constant(const VectorBuild *build, uint16 reg);

/* a, flagged outside [least, most]. */
extern uint16 gpuagg_build_in_range(VectorBuild *build, GpuaggVectorType type, uint16 a,
									__int128 least, __int128 most);

/* A column, a parameter, an expression evaluated row by row: value->reg is set. */
extern void gpuagg_build_column(VectorBuild *build, AttrNumber attno, VectorValue *value);
extern void gpuagg_build_parameter(VectorBuild *build, Expr *expr, bool early, VectorValue *value);
extern void gpuagg_build_row(VectorBuild *build, Expr *expr, bool constant, VectorValue *value);

/* The number of the first constant of what a parameter's value is converted to. */
extern int gpuagg_build_converted(VectorBuild *build, Expr *expr,
								  const VectorConversion *conversion);

/* The mask where `outer` holds and the condition, a BOOL register, is as `when` says. */
extern uint16 gpuagg_build_mask(VectorBuild *build, uint16 outer, uint16 condition,
								VectorMaskWhen when);

/* Whether what was made under the mask serves what is compiled now. */
extern bool gpuagg_build_covers(const VectorBuild *build, uint16 mask);

/* Completes the compiler's program; false: it is too large. */
extern bool gpuagg_build_finish(VectorBuild *build);

#endif /* GPUAGG_VECTOR_BUILD_H */
