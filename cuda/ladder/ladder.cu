/*
 * ladder.cu
 *	  gpu_ladder: checks a run and calls the algorithm's family.
 */
#include "ladder/run.cuh"

static bool
acceptable(const GpuLadder *ladder)
{
	const GpuaggAlgorithmInfo *info = gpuagg_algorithm(ladder->algorithm);
	int task = ladder->task;
	int threads = ladder->threads;

	if (task != GPUAGG_REDUCE && task != GPUAGG_SCAN && task != GPUAGG_SEGMENTED_SCAN)
		return false;
	if (info == NULL || info->on_cpu || ladder->algorithm == GPUAGG_ALG_PRODUCTION ||
		!(info->tasks & (unsigned) task))
		return false;
	if (gpuagg_kind_size(ladder->kind) == 0 ||
		(info->integers_only && gpuagg_kind_is_float(ladder->kind)))
		return false;
	if (ladder->op != GPUAGG_SUM && ladder->op != GPUAGG_MIN && ladder->op != GPUAGG_MAX)
		return false;
	return threads == 0 ||
		   (threads >= WARP_SIZE && threads <= LADDER_THREADS && (threads & (threads - 1)) == 0);
}

static LadderRun
run_of(const GpuLadder *ladder, bool measuring, GpuStreamRef stream)
{
	LadderRun run = {*ladder, stream, measuring, 0};

	if (run.ladder.threads == 0)
		run.ladder.threads = gpuagg_algorithm(ladder->algorithm)->threads;
	return run;
}

static void
walk(LadderRun *run)
{
	if (run->ladder.task != GPUAGG_REDUCE && run->ladder.nrows == 0)
		return;
	switch (run->ladder.algorithm)
	{
		case GPUAGG_ALG_INTERLEAVED_MODULO:
		case GPUAGG_ALG_INTERLEAVED_STRIDED:
		case GPUAGG_ALG_SEQUENTIAL_ADDRESSING:
		case GPUAGG_ALG_FIRST_ADD_ON_LOAD:
		case GPUAGG_ALG_UNROLLED_TEMPLATED:
		case GPUAGG_ALG_GRID_STRIDE:
			gpu_ladder_reduce_shared(run);
			break;
		case GPUAGG_ALG_NEIGHBORED:
		case GPUAGG_ALG_NEIGHBORED_LESS_DIVERGENCE:
		case GPUAGG_ALG_INTERLEAVED_PAIRS:
		case GPUAGG_ALG_UNROLL_2:
		case GPUAGG_ALG_UNROLL_4:
		case GPUAGG_ALG_UNROLL_8:
		case GPUAGG_ALG_UNROLL_8_LAST_WARP:
		case GPUAGG_ALG_UNROLL_8_COMPLETE:
		case GPUAGG_ALG_UNROLL_8_TEMPLATED:
			gpu_ladder_reduce_global(run);
			break;
		case GPUAGG_ALG_WARP_SHUFFLE_DOWN:
		case GPUAGG_ALG_WARP_SHUFFLE_XOR:
		case GPUAGG_ALG_WARP_REDUCE_ADD:
		case GPUAGG_ALG_BLOCK_SHUFFLE:
		case GPUAGG_ALG_DEVICE_SHUFFLE_TWO_PASS:
			gpu_ladder_reduce_shuffle(run);
			break;
		case GPUAGG_ALG_QUADRATIC:
		case GPUAGG_ALG_HILLIS_STEELE:
		case GPUAGG_ALG_HILLIS_STEELE_DOUBLE_BUFFERED:
			gpu_ladder_scan_global(run);
			break;
		case GPUAGG_ALG_KOGGE_STONE:
		case GPUAGG_ALG_KOGGE_STONE_DOUBLE_BUFFERED:
		case GPUAGG_ALG_BRENT_KUNG:
			gpu_ladder_scan_block(run);
			break;
		case GPUAGG_ALG_WARP_SHARED:
		case GPUAGG_ALG_WARP_SHUFFLE:
			gpu_ladder_scan_warp(run);
			break;
		default:
			gpu_ladder_scan_hierarchical(run);
			break;
	}
}

size_t
gpu_ladder_scratch(const GpuLadder *ladder)
{
	LadderRun run;

	if (!acceptable(ladder))
		return 0;
	run = run_of(ladder, true, NULL);
	walk(&run);
	return run.used;
}

GpuaggReason
gpu_ladder(const GpuLadder *ladder, GpuStreamRef stream)
{
	LadderRun run;

	if (!acceptable(ladder))
		return GPUAGG_REFUSED;
	run = run_of(ladder, false, stream);
	walk(&run);
	return gpu_launch_status();
}
