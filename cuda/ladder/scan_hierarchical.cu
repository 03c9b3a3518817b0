/*
 * scan_hierarchical.cu
 *	  The scans from warp to block to grid, for every Policy of the ladder.
 */
#include "ladder/scan_hierarchical.cuh"

void
gpu_ladder_scan_hierarchical(LadderRun *run)
{
	ladder_with_policy(run, [=](const auto &policy) {
		scan_hierarchical(run, policy);
	});
}
