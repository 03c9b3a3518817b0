/*
 * scan_global.cu
 *	  The scans over the whole array, for every Policy of the ladder.
 */
#include "ladder/scan_global.cuh"

void
gpu_ladder_scan_global(LadderRun *run)
{
	ladder_with_policy(run, [=](const auto &policy) {
		scan_global(run, policy);
	});
}
