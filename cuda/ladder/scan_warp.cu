/*
 * scan_warp.cu
 *	  The scans of warps, for every Policy of the ladder.
 */
#include "ladder/scan_warp.cuh"

void
gpu_ladder_scan_warp(LadderRun *run)
{
	ladder_with_policy(run, [=](const auto &policy) {
		scan_warp(run, policy);
	});
}
