/*
 * algorithm_test.c
 *	  The table of algorithms: names, order, tasks, additions.
 */
#include "common/algorithm.h"

#include "check.h"

static double
additions(int algorithm, GpuaggTask task, double n)
{
	return gpuagg_algorithm_additions(gpuagg_algorithm(algorithm), task, n);
}

static void
test_names(void)
{
	static const GpuaggTask tasks[] = {GPUAGG_REDUCE, GPUAGG_SCAN, GPUAGG_SEGMENTED_SCAN};

	for (int i = -1; i <= GPUAGG_ALG_COPY + 1; i++)
	{
		const GpuaggAlgorithmInfo *info = gpuagg_algorithm(i);

		CHECK((info != NULL) == (i > GPUAGG_ALG_NONE && i < GPUAGG_NALGORITHMS));
		for (int t = 0; info != NULL && t < 3; t++)
			CHECK((int) gpuagg_algorithm_find(info->name, tasks[t]) ==
				  ((info->tasks & tasks[t]) != 0 ? i : GPUAGG_ALG_NONE));
	}
	for (int t = 0; t < 3; t++)
	{
		int previous = GPUAGG_ALG_NONE;
		int algorithm = GPUAGG_ALG_NONE;

		CHECK(gpuagg_algorithm_find("", tasks[t]) == GPUAGG_ALG_NONE);
		CHECK(gpuagg_algorithm_find("Production", tasks[t]) == GPUAGG_ALG_NONE);
		while ((algorithm = gpuagg_algorithm_next(algorithm, tasks[t])) != GPUAGG_ALG_NONE)
		{
			CHECK(algorithm > previous);
			CHECK(additions(algorithm, tasks[t], 1) >= 0);
			previous = algorithm;
		}
		CHECK(previous == GPUAGG_ALG_PRODUCTION);
	}
}

/* What counting by hand gives. */
static void
test_additions(void)
{
	CHECK(additions(GPUAGG_ALG_SEQUENTIAL, GPUAGG_SCAN, 100) == 1);
	CHECK(additions(GPUAGG_ALG_GRID_STRIDE, GPUAGG_REDUCE, 4) == 0.75);
	CHECK(additions(GPUAGG_ALG_QUADRATIC, GPUAGG_SCAN, 8) == 4.5);
	CHECK(additions(GPUAGG_ALG_HILLIS_STEELE, GPUAGG_SCAN, 8) == 17.0 / 8);
	CHECK(additions(GPUAGG_ALG_BRENT_KUNG, GPUAGG_SCAN, 512) == 2 * 511.0 / 512);
	/* two warps' butterflies, then the one of their results */
	CHECK(additions(GPUAGG_ALG_WARP_SHUFFLE_XOR, GPUAGG_REDUCE, 64) == (320.0 + 10) / 64);
	/* it reduces as a tree does, and scans in two passes over a tile */
	CHECK(additions(GPUAGG_ALG_PRODUCTION, GPUAGG_REDUCE, 4) == 0.75);
	CHECK(additions(GPUAGG_ALG_PRODUCTION, GPUAGG_SCAN, 4) == 1.5);
	CHECK(additions(GPUAGG_ALG_PRODUCTION, GPUAGG_SEGMENTED_SCAN, 4) == 1.5);
}

int
main(void)
{
	test_names();
	test_additions();
	return check_summary();
}
