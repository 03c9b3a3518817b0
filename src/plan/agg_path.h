/*
 * agg_path.h
 *	  Paths that aggregate one table with the node GpuAgg in place of core's.
 */
#ifndef GPUAGG_AGG_PATH_H
#define GPUAGG_AGG_PATH_H

#include "compat.h"

#include "plan/agg_match.h"

typedef struct GpuAggPath
{
	CustomPath path; /* first */
	AggMatch match;
	AggMode mode;
	Index table;  /* range table index */
	Node *having; /* of modes that give results */
	AggTop top;
} GpuAggPath;

/* One table of several, for a GpuAgg node above it. */
typedef struct GpuAggTablePath
{
	CustomPath path; /* first */
	List *quals;	 /* that the node above tests; for the parameters in them */
} GpuAggTablePath;

extern const CustomPathMethods gpuagg_agg_path_methods;
extern const CustomPathMethods gpuagg_agg_table_path_methods;

/* The states of an aggregate as a partial node gives them out. */
extern Aggref *gpuagg_agg_partial(const Aggref *aggref);

/* Installs the planner's hook; called once. */
extern void gpuagg_agg_path_install(void);

#endif /* GPUAGG_AGG_PATH_H */
