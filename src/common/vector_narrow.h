/*
 * vector_narrow.h
 *	  Programs over 128 bits in 64, for as long as values fit.
 */
#ifndef GPUAGG_VECTOR_NARROW_H
#define GPUAGG_VECTOR_NARROW_H

#include "common/vector.h"

typedef struct GpuaggNarrowed
{
	GpuaggVectorProgram program;
	GpuaggVectorInstruction instructions[GPUAGG_VECTOR_DEVICE_INSTRUCTIONS];
	GpuaggVectorConstant constants[GPUAGG_VECTOR_DEVICE_CONSTANTS];
} GpuaggNarrowed;

/*
 * Makes a program whose registers of INT128 are INT64, and which flags rows whose values do not
 * fit, too: where it flags none, registers have the values of the program's.  False: a column or
 * constant does not fit.  The program has been checked, fits the device, and columns stay its own.
 */
extern bool gpuagg_vector_narrow(const GpuaggVectorProgram *program, GpuaggNarrowed *narrowed);

#endif /* GPUAGG_VECTOR_NARROW_H */
