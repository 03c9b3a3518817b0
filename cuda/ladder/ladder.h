/*
 * ladder.h
 *	  The algorithms of src/common/algorithm.h that run on the device, by name.
 *
 * For comparisons.  Sums of floats are plain: they depend on the order of the
 * additions.  Sums of integers are modulo 2^64.  Minima and maxima are by order
 * keys (column.h).
 */
#ifndef GPUAGG_LADDER_H
#define GPUAGG_LADDER_H

#include "common/algorithm.h"
#include "device/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One run; pointers are to device memory.  A result has
 * gpuagg_ladder_result_size() bytes; that of no rows is the identity (0; for MIN the
 * greatest, for MAX the least value of the type, NaN and -infinity for floats).
 * Exclusive scans start at the identity.
 */
typedef struct GpuLadder
{
	int task;		/* GpuaggTask */
	int algorithm;	/* GpuaggAlgorithm; none on the CPU, not PRODUCTION */
	int kind;		/* GpuaggKind */
	int op;			/* GPUAGG_SUM, MIN, MAX */
	int exclusive;	/* scans */
	int threads;	/* of a block: a power of two from 32 to 1024; 0: as suits the algorithm */
	uint64_t nrows; /* any, but beyond the table's max_rows a launch takes long */
	const void *values;
	const uint64_t *heads; /* SEGMENTED_SCAN: bit i % 64 of word i / 64: row i starts anew */
	void *results;		   /* REDUCE: one; scans: nrows; must not overlap values */
	void *scratch;		   /* of any content */
} GpuLadder;

/* Bytes of scratch; pointers are not used.  0 also if the run would be refused. */
extern size_t gpu_ladder_scratch(const GpuLadder *run);

/* GPUAGG_REFUSED: no such algorithm, or not for this task, kind or block size. */
extern GpuaggReason gpu_ladder(const GpuLadder *run, GpuStreamRef stream);

#ifdef __cplusplus
}
#endif

#endif /* GPUAGG_LADDER_H */
