/*
 * device_codes.h
 *	  Strings in a program for the device: their codes instead of them.
 *
 * Each table's column has a dictionary of its own.  For several tables codes are numbers of the
 * dictionaries' entries one after the other: a request says for each chunk what is added to its codes.
 */
#ifndef GPUAGG_DEVICE_CODES_H
#define GPUAGG_DEVICE_CODES_H

#include "exec/page_device.h"

/* A program for the device; strings of columns are INT32, codes of the columns' dictionaries. */
typedef struct DeviceProgram
{
	GpuaggVectorProgram program;
	const GpuaggVectorBytes **entries; /* of each column's dictionaries; NULL: it has no strings */
	uint32 *nentries;
	int32
		*firsts; /* [tables][columns]: the number of a dictionary's first entry; NULL: all are 0 */
} DeviceProgram;

/* Why a program cannot be one for the device, whatever its constants; NULL: it can. */
extern const char *gpuagg_device_codes_refusal(const GpuaggVectorProgram *from);

/*
 * Makes it for n tables, in the current memory context, with its constants as they are; strings are
 * the readers', of which those without chunks are NULL.  places: as DeviceTable has them, by table.  False:
 * conditions on strings hold for too many of them.
 */
extern bool gpuagg_device_codes_program(const GpuaggVectorProgram *from,
										const PageReader *const *readers, const int *const *places,
										int n, DeviceProgram *made);

/* The type that the device has for one of the program's. */
static inline GpuaggVectorType
gpuagg_device_type(GpuaggVectorType type)
{
	return type == GPUAGG_VECTOR_BYTES ? GPUAGG_VECTOR_INT32 : type;
}

#endif /* GPUAGG_DEVICE_CODES_H */
