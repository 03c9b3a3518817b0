/*
 * vector_part.h
 *	  The part of a vector program that some of its registers need.
 */
#ifndef GPUAGG_VECTOR_PART_H
#define GPUAGG_VECTOR_PART_H

#include "spec/vector_compile.h"

typedef struct VectorPart
{
	GpuaggVectorProgram
		program;	 /* with the whole filter, and at least one column if there is any */
	uint16 *columns; /* of the whole program, by column of the part */
} VectorPart;

/*
 * Makes the part, in the current memory context; registers: n of what the whole program has at its end,
 * or NONE, which become those of the part.  There are no ROW instructions.  False: it is too large for
 * the device.
 */
extern bool gpuagg_vector_part(const GpuaggVectorProgram *whole, uint16 *registers, int n,
							   VectorPart *part);

#endif /* GPUAGG_VECTOR_PART_H */
