/*
 * agg_averages.h
 *	  Averages of integers and decimals of a window below a GpuAgg node, for the device.
 *
 * Each row's average has a display scale of its own, so the node's program leaves them to the
 * executor.  For the device there is another one, to which they are decimals of one scale
 * (device_quotient.h); what depends on the rows' scales is asked for beside: extremes with the
 * scale's code behind the average, and of sums the greatest code.
 */
#ifndef GPUAGG_AGG_AVERAGES_H
#define GPUAGG_AGG_AVERAGES_H

#include "common/query_total.h"
#include "common/query_window.h"
#include "exec/agg_state.h"
#include "exec/device_quotient.h"

typedef struct AggAverage
{
	int scan; /* column of the window's scan tuple */
	DeviceQuotient quotient;
	uint16 first; /* of its registers, where both programs are one */
} AggAverage;

typedef struct AggAverages
{
	int n;
	AggAverage list[GPUAGG_WINDOW_FUNCTIONS];
	int32 *known; /* typmods of these in the window's scan tuple; of its other columns -1 */

	/* the program of filter, keys and values */
	VectorCompiler *compiler;
	GpuaggVectorRunner *runner;
	List *parameter_states;
	VectorValue *keys;	  /* by key */
	VectorValue *values;  /* by state: of its argument, */
	VectorValue *filters; /* and of its FILTER */
	int *of;			  /* by state: the average whose sum or extreme it is; -1: of none */
} AggAverages;

/* Whether the window below has such averages, and the node reads some. */
extern bool gpuagg_agg_averages_used(const AggScanState *node, PlanState *window);

/* For a node that runs, in the current memory context; NULL: the CPU has to do it, for *refusal. */
extern AggAverages *gpuagg_agg_averages_make(const AggScanState *node, PlanState *window,
											 const char **refusal);

/* The typmod of an attribute of the rows below; averages: as the device has them; NULL: there are none. */
extern int32 gpuagg_agg_averages_typmod(const AggScanState *node, const PlanState *window,
										const AggAverages *averages, AttrNumber attno);

/* The average that a column is; NULL: it is none. */
extern const AggAverage *gpuagg_agg_averages_find(const AggAverages *averages, int scan);

/* Whether the greatest code of a state's averages is wanted. */
extern bool gpuagg_agg_averages_coded(const AggScanState *node, int state);

/* The register whose totals a state takes, or that of codes. */
extern uint16 gpuagg_agg_averages_register(const AggScanState *node, int state);
extern uint16 gpuagg_agg_averages_code(const AggScanState *node, int state);

/* Adds a state's total to a group; code: the greatest, where it is wanted. */
extern void gpuagg_agg_averages_take(AggScanState *node, int state, AggGroup *group,
									 GpuaggQueryTotal *total, const GpuaggQueryTotal *code);

#endif /* GPUAGG_AGG_AVERAGES_H */
