/*
 * agg_device_codes.h
 *	  Strings in a program for the device: their codes instead of them.
 */
#ifndef GPUAGG_AGG_DEVICE_CODES_H
#define GPUAGG_AGG_DEVICE_CODES_H

#include "exec/agg_state.h"

/* A program for the device; strings of columns are INT32, codes of the columns' dictionaries. */
typedef struct AggDeviceProgram
{
	GpuaggVectorProgram program;
	const GpuaggVectorBytes **entries; /* of each column's dictionary; NULL: it has no strings */
	uint32 *nentries;
} AggDeviceProgram;

/* Why a node's program cannot be one for the device, whatever its constants; NULL: it can. */
extern const char *gpuagg_agg_device_program_refusal(const AggScanState *node);

/*
 * Makes it, in the current memory context, with the constants that the node's runner has.
 * False: conditions on strings hold for too many of them.
 */
extern bool gpuagg_agg_device_program(const AggScanState *node, AggDeviceProgram *made);

/* The type that the device has for one of the program's. */
static inline GpuaggVectorType
gpuagg_agg_device_type(GpuaggVectorType type)
{
	return type == GPUAGG_VECTOR_BYTES ? GPUAGG_VECTOR_INT32 : type;
}

#endif /* GPUAGG_AGG_DEVICE_CODES_H */
