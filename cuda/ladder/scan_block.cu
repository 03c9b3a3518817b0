/*
 * scan_block.cu
 *	  The scans of blocks in shared memory, for every Policy of the ladder.
 */
#include "ladder/scan_block.cuh"

void
gpu_ladder_scan_block(LadderRun *run)
{
	ladder_with_policy(run, [=](const auto &policy) {
		scan_block(run, policy);
	});
}
