/*
 * column.h
 *	  Kinds of column values that batches carry.
 *
 * The numbers are part of the protocol between the two programs.
 */
#ifndef GPUAGG_COLUMN_H
#define GPUAGG_COLUMN_H

#include <stddef.h>

typedef enum GpuaggKind
{
	GPUAGG_INT32 = 1,
	GPUAGG_INT64 = 2,
	GPUAGG_FLOAT64 = 3
} GpuaggKind;

/* Bytes of one value of this kind; 0 for a number that is no kind. */
static inline size_t
gpuagg_kind_size(int kind)
{
	switch (kind)
	{
		case GPUAGG_INT32:
			return 4;
		case GPUAGG_INT64:
		case GPUAGG_FLOAT64:
			return 8;
		default:
			return 0;
	}
}

#endif /* GPUAGG_COLUMN_H */
