/*
 * agg_device_passes.h
 *	  What the device is asked for by a GpuAgg node: its program, keys and aggregates.
 *
 * A request has so many aggregates, and groups' records so many words, at most.  What is more goes into
 * several passes, each a request of its own for the same rows, or groups.  A pass over a table needs
 * just a part of the program, and of its columns.
 */
#ifndef GPUAGG_AGG_DEVICE_PASSES_H
#define GPUAGG_AGG_DEVICE_PASSES_H

#include "common/query_wire.h"
#include "exec/agg_state.h"
#include "spec/vector_part.h"

#define GPUAGG_AGG_PASSES 64

/* The keys of a node's groups, as a query has them. */
typedef struct AggDeviceGroups
{
	uint16 keys[GPUAGG_GROUP_KEYS];
	GpuaggGroupLayout layout;
} AggDeviceGroups;

typedef struct AggDevicePass
{
	int nstates; /* of the node, from this one on */
	int first;
	int naggregates;
	GpuaggQueryAggregate aggregates[GPUAGG_QUERY_AGGREGATES];
	uint8 types[GPUAGG_QUERY_AGGREGATES]; /* of values; 0: none */
	int codes
		[GPUAGG_QUERY_AGGREGATES]; /* by state of the pass: the aggregate that has its code; -1 */
	AggDeviceGroups groups;		   /* where there are keys */
} AggDevicePass;

struct AggDevice
{
	const char *refusal; /* not NULL: it depends on averages of a window (agg_averages.h) */
	int npasses;
	AggDevicePass *passes;
};

/* Whether a state is of sums of decimals, with or without squares. */
extern bool gpuagg_agg_sums_decimals(const AggScanState *node, int number);

/* Why the device can do nothing; NULL: it can, and passes are set, in the current memory context. */
extern const char *gpuagg_agg_device_find(const AggScanState *node, AggDevice *device);

/* Whether a request about a table can have the whole program. */
extern bool gpuagg_agg_device_whole(const GpuaggVectorProgram *program);

/*
 * Makes the part of a program that a pass needs, in the current memory context, and has the pass name
 * its registers; false: it is too large.
 */
extern bool gpuagg_agg_device_part(const GpuaggVectorProgram *program, AggDevicePass *pass,
								   VectorPart *part);

/* Makes two passes of one; false: it has one state, or is about averages of a window. */
extern bool gpuagg_agg_device_split(const AggScanState *node, AggDevice *device, int number);

/* Sets the registers of averages, which are known when both programs are one. */
extern void gpuagg_agg_device_place(const AggScanState *node, AggDevice *device);

/* The program that the device runs for the node, and who has its constants. */
extern const VectorCompiler *gpuagg_agg_device_compiler(const AggScanState *node);
extern GpuaggVectorRunner *gpuagg_agg_device_runner(const AggScanState *node);

#endif /* GPUAGG_AGG_DEVICE_PASSES_H */
