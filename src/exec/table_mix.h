/*
 * table_mix.h
 *	  One program for tables whose filters or expressions differ.
 *
 * It is over columns that are no table's: each table has some of them as attributes of its own, of the
 * same type.  One more, INT32, has a number by which filter and expressions are chosen; tables with
 * the same ones have the same number.  For the device it is a column of zeros, to which chunks'
 * shifts are added, and so is what a table does not have (query_wire.h).
 */
#ifndef GPUAGG_TABLE_MIX_H
#define GPUAGG_TABLE_MIX_H

#include "spec/vector_compile.h"

typedef struct MixTable
{
	Index varno;
	List *quals;
	Expr **exprs;					/* NULL: none; the same ones in all tables */
	const VectorCompiler *compiler; /* of these */

	/* what it is in the program of all */
	int number;
	int *places; /* by column of that one: the column of its own; -1: it has none */
} MixTable;

/*
 * The program of n tables with nexprs expressions each, with their values, in the current memory context;
 * *number: its column of numbers.  NULL: core's executor is to evaluate some of it, or it is too large.
 */
extern VectorCompiler *gpuagg_table_mix(MixTable *tables, int n, int nexprs, VectorValue *values,
										int *number);

#endif /* GPUAGG_TABLE_MIX_H */
