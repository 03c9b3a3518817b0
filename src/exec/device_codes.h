/*
 * device_codes.h
 *	  Strings in a program for the device: their codes instead of them.
 */
#ifndef GPUAGG_DEVICE_CODES_H
#define GPUAGG_DEVICE_CODES_H

#include "exec/page_device.h"

/* A program for the device; strings of columns are INT32, codes of the columns' dictionaries. */
typedef struct DeviceProgram
{
	GpuaggVectorProgram program;
	const GpuaggVectorBytes **entries; /* of each column's dictionary; NULL: it has no strings */
	uint32 *nentries;
} DeviceProgram;

/* Why a program cannot be one for the device, whatever its constants; NULL: it can. */
extern const char *gpuagg_device_codes_refusal(const GpuaggVectorProgram *from);

/*
 * Makes it, in the current memory context, with its constants as they are; entries are the reader's.
 * False: conditions on strings hold for too many of them.
 */
extern bool gpuagg_device_codes_program(const GpuaggVectorProgram *from, const PageReader *reader,
										DeviceProgram *made);

/* The type that the device has for one of the program's. */
static inline GpuaggVectorType
gpuagg_device_type(GpuaggVectorType type)
{
	return type == GPUAGG_VECTOR_BYTES ? GPUAGG_VECTOR_INT32 : type;
}

#endif /* GPUAGG_DEVICE_CODES_H */
