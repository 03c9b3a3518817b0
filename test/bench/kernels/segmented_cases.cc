/*
 * segmented_cases.cc
 *	  Segmented scans and reductions over segments of many shapes.
 */
#include "scan_cases.h"

#include <algorithm>

namespace
{

const int64_t shapes[] = {SHAPE_NONE, 1, 2, 32, 1000, 1 << 20, SHAPE_RANDOM, SHAPE_POWER_LAW};

/* Heads of one set, and the same as keys for CUB: the number of heads up to a row. */
struct Segments
{
	DeviceMemory heads;
	DeviceMemory keys;

	Segments(int64_t shape, uint64_t n) : heads((n + 63) / 64 * 8), keys(n * sizeof(int32_t))
	{
		DeviceMemory flags(n * sizeof(int32_t));

		fill_heads(shape, n, 7, (uint64_t *) heads.p);
		fill_head_flags((const uint64_t *) heads.p, n, (int32_t *) flags.p);
		run_cub(GPUAGG_SCAN, GPUAGG_INT32, n, flags.p, nullptr, keys.p);
	}

	uint64_t count(uint64_t n) const
	{
		int32_t last = 0;
		uint64_t first = 0;

		must(gpu_copy_out(&last, (const int32_t *) keys.p + n - 1, sizeof(last), stream),
			 "gpu_copy_out");
		must(gpu_copy_out(&first, heads.p, sizeof(first), stream), "gpu_copy_out");
		finish();
		return (uint64_t) (uint32_t) last + !(first & 1);
	}
};

/* The time a byte takes, for comparison between shapes. */
double
run_scan(int kind, unsigned flags, int64_t shape, uint64_t n, double share)
{
	size_t value_size = gpuagg_kind_size(kind);
	size_t result_size = gpuagg_scan_result_size(kind, GPUAGG_SUM, flags);
	Sets sets(n, value_size, result_size);
	Segments segments(shape, n);
	GpuScan scan = {};
	Result result = {};

	sets.fill(kind, ORDINARY);
	scan.kind = kind;
	scan.op = GPUAGG_SUM;
	scan.flags = flags;
	scan.window = BENCH_WINDOW;
	scan.heads = (const uint64_t *) segments.heads.p;

	ScanRun run(sets, scan);

	result.part = gpuagg_kind_is_float(kind) ? "running sum" : "segmented scan";
	result.what = std::string(kind_name(kind)) + (result_size > value_size ? ", wide" : "");
	result.variant = shape_name(shape);
	result.rows = n;
	result.bytes = sets.bytes();
	result.bandwidth = 'C';
	result.share = share;
	result.ours = measure(sets, [&](int set) {
		run.launch(set);
	});
	run.launch(0);
	result.right = run.fits_window();
	{
		DeviceMemory expected(n * value_size);

		run_cub(GPUAGG_SEGMENTED_SCAN, kind, n, sets.values(0), (const int32_t *) segments.keys.p,
				expected.p);
		result.right = result.right &&
					   count_differences(kind, n, sets.results(0), (int) (result_size / value_size),
										 expected.p, 1, scan_tolerance(kind, n)) == 0;
	}
	if (result_size == value_size)
		result.cub = measure_cub(GPUAGG_SEGMENTED_SCAN, kind, sets,
								 (const int32_t *) segments.keys.p);
	result.bandwidth_run = measure_copy(sets);
	report(result);
	return result.ours.graph;
}

/* Ours sums every segment exactly; they add up to the sum of all rows. */
bool
sums_add_up(int kind, const Sets &sets, const void *sums, uint64_t nsegments)
{
	DeviceMemory scratch(gpu_reduce_scratch(), true);
	DeviceMemory reduced(sizeof(GpuaggReduced));
	GpuaggReduced totals[2];
	GpuReduce reduce = {};

	reduce.op = GPUAGG_SUM;
	reduce.result = (GpuaggReduced *) reduced.p;
	reduce.scratch = scratch.p;
	for (int i = 0; i < 2; i++)
	{
		/* sums of int32 are int64 */
		reduce.kind = i == 0 ? kind : GPUAGG_INT64;
		reduce.nrows = i == 0 ? sets.rows : nsegments;
		reduce.values = i == 0 ? sets.values(0) : sums;
		must(gpu_reduce(&reduce, stream), "gpu_reduce");
		must(gpu_copy_out(&totals[i], reduced.p, sizeof(totals[i]), stream), "gpu_copy_out");
		finish();
	}
	return totals[0].sum.lo == totals[1].sum.lo && totals[0].sum.hi == totals[1].sum.hi;
}

double
run_reduce(int kind, int64_t shape, uint64_t n, double share)
{
	size_t value_size = gpuagg_kind_size(kind);
	size_t sum_size = gpuagg_scan_result_size(kind, GPUAGG_SUM, 0);
	Segments segments(shape, n);
	uint64_t nsegments = segments.count(n);
	Sets sets(n, value_size, sum_size);
	DeviceMemory scratch(gpu_segmented_reduce_scratch(n), true);
	DeviceMemory state(sizeof(GpuScanState));
	DeviceMemory found(sizeof(uint64_t));
	uint64_t nfound = 0;
	Result result = {};

	auto launch = [&](int set) {
		GpuSegmentedReduce reduce = {};

		reduce.kind = kind;
		reduce.op = GPUAGG_SUM;
		reduce.window = BENCH_WINDOW;
		reduce.nrows = n;
		reduce.values = sets.values(set);
		reduce.heads = (const uint64_t *) segments.heads.p;
		reduce.results = sets.results(set);
		reduce.nsegments = (uint64_t *) found.p;
		reduce.state_out = (GpuScanState *) state.p;
		reduce.scratch = scratch.p;
		must(gpu_segmented_reduce(&reduce, stream), "gpu_segmented_reduce");
	};

	sets.fill(kind, ORDINARY);
	result.part = "segmented reduce";
	result.what = kind_name(kind);
	result.variant = shape_name(shape);
	result.rows = n;
	result.bytes = n * value_size + nsegments * sum_size;
	result.bandwidth = 'C';
	result.share = share;
	result.ours = measure(sets, launch);
	launch(0);
	must(gpu_copy_out(&nfound, found.p, sizeof(nfound), stream), "gpu_copy_out");
	finish();
	result.right = nfound == nsegments;
	if (kind == GPUAGG_INT32)
		result.right = result.right && sums_add_up(kind, sets, sets.results(0), nsegments);
	result.bandwidth_run = measure_copy(Sets(result.bytes / 2, 1, 1));
	report(result);
	return result.ours.graph / (double) result.bytes;
}

/* Runs every shape and compares the slowest with the fastest. */
template <class F>
void
every_shape(const char *part, const char *what, double limit, F run)
{
	double best = 0;
	double worst = 0;

	for (int64_t shape : shapes)
	{
		double time = run(shape);

		best = best == 0 ? time : std::min(best, time);
		worst = std::max(worst, time);
	}
	report_spread(part, what, worst, best, limit);
}

} // namespace

void
segmented_cases(const Options &options)
{
	uint64_t n = options.largest;

	every_shape("segmented scan", "int32", 1.15, [=](int64_t shape) {
		return run_scan(GPUAGG_INT32, GPUAGG_SCAN_NARROW, shape, n, 0);
	});
	every_shape("segmented scan", "int64", 1.15, [=](int64_t shape) {
		return run_scan(GPUAGG_INT64, GPUAGG_SCAN_NARROW, shape, n, 0.88);
	});
	every_shape("segmented scan", "int64, wide", 1.15, [=](int64_t shape) {
		return run_scan(GPUAGG_INT64, 0, shape, n, 0.85);
	});
	every_shape("running sum", "float64", 0, [=](int64_t shape) {
		return run_scan(GPUAGG_FLOAT64, 0, shape, n, 0.50);
	});
	for (int kind : {GPUAGG_INT32, GPUAGG_INT64, GPUAGG_FLOAT64})
		every_shape("segmented reduce", kind_name(kind), 1.2, [=](int64_t shape) {
			return run_reduce(kind, shape, n, 0.85);
		});
}
