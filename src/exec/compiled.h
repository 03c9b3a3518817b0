/*
 * compiled.h
 *	  Compiled expressions of a table in a node: its columns, and constants that become known.
 */
#ifndef GPUAGG_COMPILED_H
#define GPUAGG_COMPILED_H

#include "compat.h"

#include "nodes/execnodes.h"

#include "common/vector_run.h"
#include "spec/vector_compile.h"
#include "types/page_column.h"

/* The columns of rows that the program reads, by number, for a reader. */
extern void gpuagg_compiled_columns(const VectorCompiler *compiler, TupleDesc desc,
									PageColumn *columns);

/* Bytes of a vector's values. */
static inline Size
gpuagg_compiled_vector_bytes(GpuaggVectorType type)
{
	return Max(gpuagg_vector_type_size(type) * GPUAGG_VECTOR_ROWS,
			   GPUAGG_VECTOR_WORDS * sizeof(uint64));
}

/* A vector of zeros, in the current memory context. */
extern GpuaggVector gpuagg_compiled_vector(GpuaggVectorType type);

/* A runner of the program, in the current memory context. */
extern GpuaggVectorRunner *gpuagg_compiled_runner(const GpuaggVectorProgram *program);

/*
 * Whether the device has all of a program: numbers and booleans, and, where it is `strings`, these,
 * of which it has the codes.
 */
extern bool gpuagg_compiled_for_device(const GpuaggVectorProgram *program, bool strings);

/* The column whose strings a register holds at a program's end; -1: it holds none, or they are computed. */
extern int gpuagg_compiled_strings(const GpuaggVectorProgram *program, int reg);

/*
 * Whether two programs without ROW instructions, and their parameters, are the same but for their
 * attributes' numbers.
 */
extern bool gpuagg_compiled_same(const VectorCompiler *a, const VectorCompiler *b);

/* What computes the parameters, by number, for gpuagg_compiled_parameters(). */
extern List *gpuagg_compiled_states(const VectorCompiler *compiler, PlanState *parent);

/*
 * Constants whose values are known when the first row needs them: those of the filter with
 * the first row, the others with the first that passes it.  Values are in the current memory
 * context, for as long as the runner has them.  False: some form cannot hold its value, or it is an
 * error that not every row meets, so that rows are to be evaluated by the executor.
 */
extern bool gpuagg_compiled_parameters(const VectorCompiler *compiler, const List *states,
									   ExprContext *econtext, bool filter,
									   GpuaggVectorRunner *runner);

/*
 * All of them, before there is a row: of expressions that are not volatile and call core's functions
 * alone.  False: some is a subquery's value that is not known yet, or an error, which is that of the
 * first row, if there is one.
 */
extern bool gpuagg_compiled_parameters_early(const VectorCompiler *compiler, const List *states,
											 PlanState *parent, GpuaggVectorRunner *runner);

/*
 * In PG_CATCH(): the error, which is forgotten, in `context`, which becomes current.  One that does not
 * come from a row's values, but from the state of the server or the session, is raised on.
 */
extern ErrorData *gpuagg_compiled_catch(MemoryContext context);

#endif /* GPUAGG_COMPILED_H */
