/*
 * ladder_cases.cc
 *	  Every algorithm of the ladder, then production and CUB, each beside the
 *	  plain read or copy of the same bytes; and one run of each for a profiler.
 */
#include "bench.h"

#include <algorithm>
#include <functional>
#include <stdio.h>

#include "cuda/ladder/ladder.h"

#define LADDER_ROWS (UINT64_C(1) << 24)

namespace
{

/* What a rung needs to run over the sets of its columns. */
struct Rung
{
	int task;
	int algorithm;
	int kind;
	int threads;
	Sets sets;
	DeviceMemory heads;

	Rung(int t, int a, int k, uint64_t n)
		: task(t), algorithm(a), kind(k), threads(0),
		  sets(n, gpuagg_kind_size(k), t == GPUAGG_REDUCE ? 0 : gpuagg_ladder_result_size(k)),
		  heads((n + 63) / 64 * 8)
	{
		sets.fill(kind, ORDINARY);
		fill_heads(SHAPE_RANDOM, n, 7, (uint64_t *) heads.p);
	}

	const uint64_t *heads_wanted() const
	{
		return task == GPUAGG_SEGMENTED_SCAN ? (const uint64_t *) heads.p : nullptr;
	}
};

/* Calls with_launch(launch), launch(set) being one run of the rung. */
void
with_ladder(const Rung &rung, const std::function<void(const std::function<void(int)> &)> &with)
{
	GpuLadder run = {};

	run.task = rung.task;
	run.algorithm = rung.algorithm;
	run.kind = rung.kind;
	run.op = GPUAGG_SUM;
	run.threads = rung.threads;
	run.nrows = rung.sets.rows;
	run.heads = rung.heads_wanted();

	DeviceMemory scratch(std::max<size_t>(gpu_ladder_scratch(&run), GPUAGG_ALIGN), true);

	run.scratch = scratch.p;
	with([&](int set) {
		run.values = rung.sets.values(set);
		run.results = rung.sets.results(set);
		must(gpu_ladder(&run, stream), gpuagg_algorithm(rung.algorithm)->name);
	});
}

Times
measure_ladder(const Rung &rung)
{
	Times times = {};

	with_ladder(rung, [&](const std::function<void(int)> &launch) {
		times = measure(rung.sets, launch);
	});
	return times;
}

Times
measure_production_reduce(const Rung &rung)
{
	DeviceMemory scratch(gpu_reduce_scratch(), true);
	DeviceMemory reduced(sizeof(GpuaggReduced));

	return measure(rung.sets, [&](int set) {
		GpuReduce reduce = {};

		reduce.kind = rung.kind;
		reduce.op = GPUAGG_SUM;
		reduce.nrows = rung.sets.rows;
		reduce.values = rung.sets.values(set);
		reduce.result = (GpuaggReduced *) reduced.p;
		reduce.scratch = scratch.p;
		must(gpu_reduce(&reduce, stream), "gpu_reduce");
	});
}

Times
measure_production_scan(const Rung &rung)
{
	DeviceMemory scratch(gpu_scan_scratch(rung.sets.rows), true);

	return measure(rung.sets, [&](int set) {
		GpuScan scan = {};

		scan.kind = rung.kind;
		scan.op = GPUAGG_SUM;
		scan.flags = rung.kind == GPUAGG_INT32 ? 0 : GPUAGG_SCAN_NARROW;
		scan.window = BENCH_WINDOW;
		scan.nrows = rung.sets.rows;
		scan.values = rung.sets.values(set);
		scan.heads = rung.heads_wanted();
		scan.results = rung.sets.results(set);
		scan.scratch = scratch.p;
		must(gpu_scan(&scan, stream), "gpu_scan");
	});
}

const char *
task_name(int task)
{
	return task == GPUAGG_REDUCE ? "ladder: reduce"
		   : task == GPUAGG_SCAN ? "ladder: scan"
								 : "ladder: segmented scan";
}

void
report_rung(const Rung &rung, const char *name, Times times)
{
	bool scan = rung.task != GPUAGG_REDUCE;
	Result result = {};

	result.part = task_name(rung.task);
	result.what = name;
	result.variant = kind_name(rung.kind);
	result.rows = rung.sets.rows;
	result.bytes = rung.sets.bytes();
	result.bandwidth = scan ? 'C' : 'R';
	result.right = true; /* for kernel_test to show */
	result.ours = times;
	result.bandwidth_run = scan ? measure_copy(rung.sets) : measure_read(rung.sets);
	report(result);
}

bool
on_device(int algorithm, int kind)
{
	const GpuaggAlgorithmInfo *info = gpuagg_algorithm(algorithm);

	return !info->on_cpu && algorithm != GPUAGG_ALG_PRODUCTION &&
		   !(info->integers_only && gpuagg_kind_is_float(kind));
}

/* The ladder's rungs in order, those that kernel_bench can run. */
void
each_algorithm(GpuaggTask task, int kind, const std::function<void(int)> &run)
{
	for (int a = gpuagg_algorithm_next(GPUAGG_ALG_NONE, task); a != GPUAGG_ALG_NONE;
		 a = gpuagg_algorithm_next(a, task))
		if (on_device(a, kind))
			run(a);
}

} // namespace

void
ladder_cases(const Options &options)
{
	uint64_t n = std::min(options.largest, LADDER_ROWS);

	for (int kind : {GPUAGG_INT32, GPUAGG_FLOAT64})
		for (GpuaggTask task : {GPUAGG_REDUCE, GPUAGG_SCAN, GPUAGG_SEGMENTED_SCAN})
		{
			each_algorithm(task, kind, [=](int algorithm) {
				const GpuaggAlgorithmInfo *info = gpuagg_algorithm(algorithm);
				Rung rung(task, algorithm, kind,
						  info->max_rows > 0 ? std::min(n, info->max_rows) : n);

				report_rung(rung, info->name, measure_ladder(rung));
			});

			Rung rung(task, GPUAGG_ALG_PRODUCTION, kind, n);

			report_rung(rung, "production",
						task == GPUAGG_REDUCE ? measure_production_reduce(rung)
											  : measure_production_scan(rung));
			/* its sums of int32 are int32: fewer bytes */
			if (task == GPUAGG_REDUCE || (task == GPUAGG_SCAN && kind != GPUAGG_INT32))
				report_rung(rung, "CUB", measure_cub(task, kind, rung.sets, nullptr));
		}
}

/*
 * Each reduction once, with the type, rows and block size for which its source gives
 * counts of events; a kernel named mark_kernel runs before each.
 */
void
counter_cases(const Options &)
{
	each_algorithm(GPUAGG_REDUCE, GPUAGG_INT32, [](int algorithm) {
		bool in_global_memory = algorithm >= GPUAGG_ALG_NEIGHBORED &&
								algorithm <= GPUAGG_ALG_UNROLL_8_TEMPLATED;
		Rung rung(GPUAGG_REDUCE, algorithm, in_global_memory ? GPUAGG_FLOAT64 : GPUAGG_INT32,
				  UINT64_C(1) << (in_global_memory ? 24 : 22));

		if (in_global_memory)
			rung.threads = 512;
		else if (algorithm <= GPUAGG_ALG_GRID_STRIDE)
			rung.threads = 128;
		with_ladder(rung, [](const std::function<void(int)> &launch) {
			profile([&] {
				mark();
				launch(0);
			});
		});
		printf("counted %s %s %llu\n", gpuagg_algorithm(algorithm)->name, kind_name(rung.kind),
			   (unsigned long long) rung.sets.rows);
	});
}
