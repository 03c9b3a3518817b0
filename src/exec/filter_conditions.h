/*
 * filter_conditions.h
 *	  Conditions of a program's filter between a column and a constant.
 *
 * They count only where nothing in the filter can raise an error, which core would meet in rows
 * that a condition excludes.
 */
#ifndef GPUAGG_FILTER_CONDITIONS_H
#define GPUAGG_FILTER_CONDITIONS_H

#include "spec/vector_compile.h"

/* The column's value, op, a constant: numbers of the program. */
typedef struct FilterCondition
{
	int column;
	GpuaggVectorOp op;
	uint32 constant;
} FilterCondition;

/* Conditions that all hold for rows that pass the filter. */
typedef struct FilterConditions
{
	int n;
	FilterCondition *list;
	bool whole;			 /* rows for which they hold pass */
	bool has_parameters; /* among the filter's constants: not known before there is a row */
} FilterConditions;

/* Finds them, in the current memory context. */
extern void gpuagg_filter_conditions(const VectorCompiler *compiler, FilterConditions *conditions);

#endif /* GPUAGG_FILTER_CONDITIONS_H */
