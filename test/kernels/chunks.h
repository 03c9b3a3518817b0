/*
 * chunks.h
 *	  Carries of sums in chunks, by one warp each, for chunks_test.cc.
 */
#ifndef GPUAGG_TEST_CHUNKS_H
#define GPUAGG_TEST_CHUNKS_H

#include "cuda/device/gpu.h"

/* A number of chunks that a sum of floats has. */
struct ChunksShape
{
	int nchunks;

	/* sums one after another, in device memory, to the same with carries propagated */
	GpuaggReason (*launch)(const int64_t *sums, uint64_t nsums, int64_t *results,
						   GpuStreamRef stream);
};

#define CHUNKS_NSHAPES 4
extern const ChunksShape chunks_shapes[CHUNKS_NSHAPES];

#endif /* GPUAGG_TEST_CHUNKS_H */
