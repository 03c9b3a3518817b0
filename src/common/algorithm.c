/*
 * algorithm.c
 *	  The table of algorithms.
 *
 * Additions are counted as the algorithm's source describes it, with the table's blocks.
 * An algorithm that scans tiles also scans the tiles' totals, in the same way, and adds
 * them to the rows.
 */
#include "common/algorithm.h"

#include <math.h>
#include <string.h>

#define WARP 32.0

/* A reduction: each addition replaces two values by one. */
static double
of_reduction(double n)
{
	return (n - 1) / n;
}

/* All lanes of a warp do all five steps. */
static double
of_butterfly(double n)
{
	double additions = 0;
	double left = n;

	while (left > 1)
	{
		additions += 5 * left;
		left = ceil(left / WARP);
	}
	return additions / n;
}

static double
of_loop(double n)
{
	(void) n;
	return 1;
}

/* n (n + 1) / 2 */
static double
of_quadratic(double n)
{
	return (n + 1) / 2;
}

/* Additions of a whole column: n log2 n - (n - 1) */
static double
step_efficient(double n)
{
	return n * log2(n) - (n - 1);
}

/* 2 (n - 1) */
static double
work_efficient(double n)
{
	return 2 * (n - 1);
}

/* Each warp is scanned, then the warps' totals, which are added to the rows. */
static double
block_of_warps(double n)
{
	if (n <= WARP)
		return step_efficient(n);
	return n / WARP * step_efficient(WARP) + step_efficient(n / WARP) + n;
}

/* Warps scan 8 strips of 32 one after the other. */
static double
block_of_strips(double n)
{
	double strips = n / WARP;

	if (n <= WARP)
		return step_efficient(n);
	return strips * step_efficient(WARP) + strips * 7 / 8 * WARP +
		   step_efficient(ceil(strips / 8)) + n;
}

static double
tiled(double n, double tile, double (*of_tile)(double n))
{
	if (n <= tile)
		return of_tile(n);
	return n / tile * of_tile(tile) + tiled(ceil(n / tile), tile, of_tile) + n;
}

static double
of_hillis_steele(double n)
{
	return step_efficient(n) / n;
}

static double
of_kogge_stone(double n)
{
	return tiled(n, 256, step_efficient) / n;
}

static double
of_brent_kung(double n)
{
	return tiled(n, 512, work_efficient) / n;
}

static double
of_warps(double n)
{
	return tiled(n, WARP, step_efficient) / n;
}

static double
of_block_hierarchical(double n)
{
	return tiled(n, 256, block_of_warps) / n;
}

static double
of_grid_hierarchical(double n)
{
	return tiled(n, 4096, block_of_strips) / n;
}

/* Rows are reduced first; the prefix is added as they are scanned. */
static double
of_hierarchical(double n)
{
	return n <= 2048 ? block_of_strips(n) / n : tiled(n, 2048, block_of_strips) / n + 1;
}

/* Each thread scans its rows one after the other, then adds the prefix. */
static double
of_production(double n)
{
	return work_efficient(n) / n;
}

#define SCANS	   (GPUAGG_SCAN | GPUAGG_SEGMENTED_SCAN)
#define ALL		   (GPUAGG_REDUCE | SCANS)

#define DEFINITION "the definition"
#define NOTES	   "lecture notes on parallel reduction and scan"
#define HARRIS	   "M. Harris, Optimizing parallel reduction in CUDA, 2007"
#define CHENG	   "J. Cheng, M. Grossman, T. McKercher, Professional CUDA C Programming, 2014"
#define SHUFFLES   "J. Luitjens, Faster parallel reductions on Kepler, 2014"
#define HILLIS	   "W. D. Hillis, G. L. Steele, Data parallel algorithms, 1986"
#define KOGGE	   "P. M. Kogge, H. S. Stone, IEEE Trans. Computers C-22, 1973"
#define BRENT	   "R. P. Brent, H. T. Kung, IEEE Trans. Computers C-31, 1982"
#define SENGUPTA \
	"S. Sengupta, M. Harris, M. Garland, Efficient parallel scan algorithms for GPUs, 2008"
#define BLELLOCH   "G. E. Blelloch, Prefix sums and their applications, 1990"
#define PRODUCTION "D. Merrill, M. Garland, Single-pass parallel prefix scan, NVR-2016-002"

static const GpuaggAlgorithmInfo algorithms[GPUAGG_NALGORITHMS] = {
	[GPUAGG_ALG_SEQUENTIAL] = {"sequential", ALL, 1, 0, "one loop over the rows, on the CPU",
							   DEFINITION, 0, 0, of_loop},
	[GPUAGG_ALG_RECURSIVE_HALVING] = {"recursive_halving", GPUAGG_REDUCE, 1, 0,
									  "the second half added onto the first until one row is left, "
									  "on the CPU",
									  CHENG, 0, 0, of_reduction},

	[GPUAGG_ALG_INTERLEAVED_MODULO] = {"interleaved_modulo", GPUAGG_REDUCE, 0, 0,
									   "shared memory, stride 1, 2, 4, ..: threads whose number "
									   "divides by twice the stride, so warps diverge",
									   HARRIS, 0, 256, of_reduction},
	[GPUAGG_ALG_INTERLEAVED_STRIDED] =
		{"interleaved_strided", GPUAGG_REDUCE, 0, 0,
		 "the same additions by the first threads: no divergence, but "
		 "bank conflicts",
		 HARRIS, 0, 256, of_reduction},
	[GPUAGG_ALG_SEQUENTIAL_ADDRESSING] = {"sequential_addressing", GPUAGG_REDUCE, 0, 0,
										  "the stride halves, neighbours are adjacent: no bank "
										  "conflicts",
										  HARRIS, 0, 256, of_reduction},
	[GPUAGG_ALG_FIRST_ADD_ON_LOAD] = {"first_add_on_load", GPUAGG_REDUCE, 0, 0,
									  "half the blocks: the first addition while loading", HARRIS,
									  0, 256, of_reduction},
	[GPUAGG_ALG_UNROLLED_TEMPLATED] = {"unrolled_templated", GPUAGG_REDUCE, 0, 0,
									   "block size known to the compiler, loop unrolled, the last "
									   "warp without block barriers",
									   HARRIS, 0, 256, of_reduction},
	[GPUAGG_ALG_GRID_STRIDE] =
		{"grid_stride", GPUAGG_REDUCE, 0, 0,
		 "as many blocks as the device holds; each thread first adds up many "
		 "rows",
		 HARRIS, 0, 256, of_reduction},

	[GPUAGG_ALG_NEIGHBORED] = {"neighbored", GPUAGG_REDUCE, 0, 0,
							   "in place in global memory, neighbouring pairs: warps diverge",
							   CHENG, 0, 512, of_reduction},
	[GPUAGG_ALG_NEIGHBORED_LESS_DIVERGENCE] = {"neighbored_less_divergence", GPUAGG_REDUCE, 0, 0,
											   "the same pairs by the first threads", CHENG, 0, 512,
											   of_reduction},
	[GPUAGG_ALG_INTERLEAVED_PAIRS] = {"interleaved_pairs", GPUAGG_REDUCE, 0, 0,
									  "in place, the stride halves: adjacent loads", CHENG, 0, 512,
									  of_reduction},
	[GPUAGG_ALG_UNROLL_2] = {"unroll_2", GPUAGG_REDUCE, 0, 0,
							 "each block first folds two data blocks into one", CHENG, 0, 512,
							 of_reduction},
	[GPUAGG_ALG_UNROLL_4] = {"unroll_4", GPUAGG_REDUCE, 0, 0, "each block first folds four", CHENG,
							 0, 512, of_reduction},
	[GPUAGG_ALG_UNROLL_8] = {"unroll_8", GPUAGG_REDUCE, 0, 0, "each block first folds eight", CHENG,
							 0, 512, of_reduction},
	[GPUAGG_ALG_UNROLL_8_LAST_WARP] = {"unroll_8_last_warp", GPUAGG_REDUCE, 0, 0,
									   "the last 32 threads without block barriers", CHENG, 0, 512,
									   of_reduction},
	[GPUAGG_ALG_UNROLL_8_COMPLETE] = {"unroll_8_complete", GPUAGG_REDUCE, 0, 0,
									  "the loop written out by hand for blocks of up to 1024",
									  CHENG, 0, 512, of_reduction},
	[GPUAGG_ALG_UNROLL_8_TEMPLATED] = {"unroll_8_templated", GPUAGG_REDUCE, 0, 0,
									   "the block size a template parameter, so that tests of it "
									   "are gone",
									   CHENG, 0, 512, of_reduction},

	[GPUAGG_ALG_WARP_SHUFFLE_DOWN] = {"warp_shuffle_down", GPUAGG_REDUCE, 0, 0,
									  "registers of a warp by shfl_down: the result in lane 0",
									  SHUFFLES, 0, 256, of_reduction},
	[GPUAGG_ALG_WARP_SHUFFLE_XOR] = {"warp_shuffle_xor", GPUAGG_REDUCE, 0, 0,
									 "a butterfly by shfl_xor: the result in every lane", SHUFFLES,
									 0, 256, of_butterfly},
	[GPUAGG_ALG_WARP_REDUCE_ADD] = {"warp_reduce_add", GPUAGG_REDUCE, 0, 1,
									"the hardware's reduction of 32-bit integers over a warp, in "
									"pieces that cannot overflow",
									"CUDA C++ Programming Guide, warp reduce functions", 0, 256,
									of_reduction},
	[GPUAGG_ALG_BLOCK_SHUFFLE] = {"block_shuffle", GPUAGG_REDUCE, 0, 0,
								  "warp results in 32 shared slots, reduced by the first warp",
								  SHUFFLES, 0, 256, of_reduction},
	[GPUAGG_ALG_DEVICE_SHUFFLE_TWO_PASS] = {"device_shuffle_two_pass", GPUAGG_REDUCE, 0, 0,
											"each thread adds up many rows, at most 1024 blocks by "
											"shuffles, one block over their results",
											SHUFFLES, 0, 512, of_reduction},

	[GPUAGG_ALG_QUADRATIC] = {"quadratic", SCANS, 0, 0,
							  "every output summed on its own: parallel and useless, the starting "
							  "point",
							  NOTES, 1 << 16, 256, of_quadratic},
	[GPUAGG_ALG_HILLIS_STEELE] =
		{"hillis_steele", SCANS, 0, 0,
		 "over the whole array, one launch a step; a step goes to a second "
		 "array and is copied back, since blocks do not run in step",
		 HILLIS, 0, 256, of_hillis_steele},
	[GPUAGG_ALG_HILLIS_STEELE_DOUBLE_BUFFERED] = {"hillis_steele_double_buffered", SCANS, 0, 0,
												  "the same with two arrays swapped at each step",
												  HILLIS, 0, 256, of_hillis_steele},
	[GPUAGG_ALG_KOGGE_STONE] = {"kogge_stone", SCANS, 0, 0,
								"the same tree inside a block, in shared memory, two barriers a "
								"step",
								KOGGE, 0, 256, of_kogge_stone},
	[GPUAGG_ALG_KOGGE_STONE_DOUBLE_BUFFERED] = {"kogge_stone_double_buffered", SCANS, 0, 0,
												"two buffers in shared memory, one barrier a step",
												KOGGE, 0, 256, of_kogge_stone},
	[GPUAGG_ALG_BRENT_KUNG] =
		{"brent_kung", SCANS, 0, 0,
		 "up-sweep and down-sweep, two rows a thread: few additions, twice the "
		 "steps, bank conflicts",
		 BRENT, 0, 256, of_brent_kung},
	[GPUAGG_ALG_WARP_SHARED] = {"warp_shared", SCANS, 0, 0,
								"a warp's 32 rows in shared memory, without block barriers",
								SENGUPTA, 0, 256, of_warps},
	[GPUAGG_ALG_WARP_SHUFFLE] =
		{"warp_shuffle", SCANS, 0, 0,
		 "a warp's 32 rows by shfl_up; exclusive sums of integers are s_i - a_i", SHUFFLES, 0, 256,
		 of_warps},
	[GPUAGG_ALG_BLOCK_HIERARCHICAL] = {"block_hierarchical", SCANS, 0, 0,
									   "warp scans, last lanes collected, one warp scans them, "
									   "added back, written",
									   SENGUPTA, 0, 256, of_block_hierarchical},
	[GPUAGG_ALG_GRID_HIERARCHICAL] = {"grid_hierarchical", SCANS, 0, 0,
									  "block scans, an exclusive scan of the block results, added; "
									  "grid after grid when one is not enough",
									  SENGUPTA, 0, 512, of_grid_hierarchical},
	[GPUAGG_ALG_HIERARCHICAL] =
		{"hierarchical", GPUAGG_SEGMENTED_SCAN, 0, 0,
		 "the operator in warp, block and grid: tiles reduced, their totals "
		 "scanned, tiles scanned after them",
		 BLELLOCH, 0, 256, of_hierarchical},

	[GPUAGG_ALG_PRODUCTION] = {"production", ALL, 0, 0,
							   "one launch, each row read once: a ticket finds the last block, "
							   "look-back what stands before a tile",
							   PRODUCTION, 0, 0, of_production, of_reduction},
};

const GpuaggAlgorithmInfo *
gpuagg_algorithm(int algorithm)
{
	if (algorithm <= GPUAGG_ALG_NONE || algorithm >= GPUAGG_NALGORITHMS)
		return NULL;
	return &algorithms[algorithm];
}

GpuaggAlgorithm
gpuagg_algorithm_find(const char *name, GpuaggTask task)
{
	int i = GPUAGG_ALG_NONE;

	while ((i = gpuagg_algorithm_next(i, task)) != GPUAGG_ALG_NONE)
		if (strcmp(algorithms[i].name, name) == 0)
			break;
	return (GpuaggAlgorithm) i;
}

GpuaggAlgorithm
gpuagg_algorithm_next(int algorithm, GpuaggTask task)
{
	for (int i = algorithm + 1; i < GPUAGG_NALGORITHMS; i++)
		if (algorithms[i].tasks & (unsigned) task)
			return (GpuaggAlgorithm) i;
	return GPUAGG_ALG_NONE;
}

double
gpuagg_algorithm_additions(const GpuaggAlgorithmInfo *info, GpuaggTask task, double n)
{
	if (task == GPUAGG_REDUCE && info->reducing != NULL)
		return info->reducing(n);
	return info->additions(n);
}
