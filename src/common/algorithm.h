/*
 * algorithm.h
 *	  Every reduction, scan and segmented scan by its name: one table.
 *
 * The numbers are part of the protocol between the two programs.  The order is that
 * of the ladder: each step is compared with the one before it.
 */
#ifndef GPUAGG_ALGORITHM_H
#define GPUAGG_ALGORITHM_H

#include <stddef.h>
#include <stdint.h>

#include "common/column.h"

/* What an algorithm computes; bits, since most scans are segmented scans too. */
typedef enum GpuaggTask
{
	GPUAGG_REDUCE = 1,
	GPUAGG_SCAN = 2,
	GPUAGG_SEGMENTED_SCAN = 4
} GpuaggTask;

typedef enum GpuaggAlgorithm
{
	GPUAGG_ALG_NONE = 0,
	GPUAGG_ALG_SEQUENTIAL,		  /* on the CPU */
	GPUAGG_ALG_RECURSIVE_HALVING, /* on the CPU */

	/* reductions in shared memory */
	GPUAGG_ALG_INTERLEAVED_MODULO,
	GPUAGG_ALG_INTERLEAVED_STRIDED,
	GPUAGG_ALG_SEQUENTIAL_ADDRESSING,
	GPUAGG_ALG_FIRST_ADD_ON_LOAD,
	GPUAGG_ALG_UNROLLED_TEMPLATED,
	GPUAGG_ALG_GRID_STRIDE,
	/* reductions in global memory */
	GPUAGG_ALG_NEIGHBORED,
	GPUAGG_ALG_NEIGHBORED_LESS_DIVERGENCE,
	GPUAGG_ALG_INTERLEAVED_PAIRS,
	GPUAGG_ALG_UNROLL_2,
	GPUAGG_ALG_UNROLL_4,
	GPUAGG_ALG_UNROLL_8,
	GPUAGG_ALG_UNROLL_8_LAST_WARP,
	GPUAGG_ALG_UNROLL_8_COMPLETE,
	GPUAGG_ALG_UNROLL_8_TEMPLATED,
	/* reductions by shuffles */
	GPUAGG_ALG_WARP_SHUFFLE_DOWN,
	GPUAGG_ALG_WARP_SHUFFLE_XOR,
	GPUAGG_ALG_WARP_REDUCE_ADD, /* integers only */
	GPUAGG_ALG_BLOCK_SHUFFLE,
	GPUAGG_ALG_DEVICE_SHUFFLE_TWO_PASS,

	/* scans, each also segmented */
	GPUAGG_ALG_QUADRATIC,
	GPUAGG_ALG_HILLIS_STEELE,
	GPUAGG_ALG_HILLIS_STEELE_DOUBLE_BUFFERED,
	GPUAGG_ALG_KOGGE_STONE,
	GPUAGG_ALG_KOGGE_STONE_DOUBLE_BUFFERED,
	GPUAGG_ALG_BRENT_KUNG,
	GPUAGG_ALG_WARP_SHARED,
	GPUAGG_ALG_WARP_SHUFFLE,
	GPUAGG_ALG_BLOCK_HIERARCHICAL,
	GPUAGG_ALG_GRID_HIERARCHICAL,
	GPUAGG_ALG_HIERARCHICAL, /* segmented only */

	GPUAGG_ALG_PRODUCTION,
	GPUAGG_NALGORITHMS,

	/* in benchmarks only: they have no row in the table */
	GPUAGG_ALG_CUB = 1000,
	GPUAGG_ALG_READ, /* read of the column, for comparison */
	GPUAGG_ALG_COPY	 /* device-to-device copy of the column */
} GpuaggAlgorithm;

typedef struct GpuaggAlgorithmInfo
{
	const char *name;
	unsigned tasks; /* GpuaggTask bits */
	int on_cpu;		/* runs on the CPU, with or without a device */
	int integers_only;
	const char *idea;	/* in one line */
	const char *source; /* where it is described */
	uint64_t max_rows;	/* of one launch; longer columns take several; 0: no limit */
	int threads;		/* default of a block on the device */

	/* additions (applications of the operation) for each of n elements, n > 0 */
	double (*additions)(double n);
	double (*reducing)(double n); /* the same for a reduction; NULL: no difference */
} GpuaggAlgorithmInfo;

#ifdef __cplusplus
extern "C" {
#endif

/* NULL for a number that no algorithm has. */
extern const GpuaggAlgorithmInfo *gpuagg_algorithm(int algorithm);

/* The algorithm of this name that does this task, or GPUAGG_ALG_NONE. */
extern GpuaggAlgorithm gpuagg_algorithm_find(const char *name, GpuaggTask task);

/*
 * The next algorithm that does the task, in the ladder's order.  Starts after
 * GPUAGG_ALG_NONE and returns that at the end.
 */
extern GpuaggAlgorithm gpuagg_algorithm_next(int algorithm, GpuaggTask task);

/* What `additions` or, for a reduction, `reducing` returns. */
extern double gpuagg_algorithm_additions(const GpuaggAlgorithmInfo *info, GpuaggTask task,
										 double n);

#ifdef __cplusplus
}
#endif

/*
 * Bytes of one result of the ladder: int64 for integers (a sum is modulo 2^64), the
 * type itself for floats.
 */
static inline size_t
gpuagg_ladder_result_size(int kind)
{
	return kind == GPUAGG_FLOAT32 ? 4 : gpuagg_kind_size(kind) == 0 ? 0 : 8;
}

#endif /* GPUAGG_ALGORITHM_H */
