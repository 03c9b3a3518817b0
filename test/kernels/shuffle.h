/*
 * shuffle.h
 *	  Shuffles of one warp each, for shuffle_test.cc.
 */
#ifndef GPUAGG_TEST_SHUFFLE_H
#define GPUAGG_TEST_SHUFFLE_H

#include "cuda/device/gpu.h"

enum ShufflePrimitive
{
	SHUFFLE_INDEX,
	SHUFFLE_UP,
	SHUFFLE_DOWN,
	SHUFFLE_XOR,
	SHUFFLE_NPRIMITIVES
};

/* What one warp does: the lanes in the mask meet in one shuffle, the others in another. */
struct ShuffleCase
{
	int32_t primitive;
	int32_t width;
	uint32_t mask;
	int32_t arg[32];
};

struct ShuffleType
{
	const char *name;
	size_t size;

	/* values and results: 32 a case, in device memory */
	GpuaggReason (*launch)(const ShuffleCase *cases, uint64_t ncases, const void *values,
						   void *results, GpuStreamRef stream);
};

#define SHUFFLE_NTYPES 12
extern const ShuffleType shuffle_types[SHUFFLE_NTYPES];

/* Reductions over whole warps in hardware: 32 values a warp; sums, minima and maxima in every lane. */
struct ReducedInt
{
	int32_t sum, min, max;
	uint32_t usum, umin, umax;
};

extern GpuaggReason warp_reduce_launch(const int32_t *values, uint64_t nwarps, ReducedInt *results,
									   GpuStreamRef stream);

#endif /* GPUAGG_TEST_SHUFFLE_H */
