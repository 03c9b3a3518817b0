/*
 * scan_cases.cc
 *	  Scans beside CUB's and a copy of the same bytes.
 */
#include "scan_cases.h"

#include <string.h>

ScanRun::ScanRun(const Sets &s, const GpuScan &pattern)
	: sets(s), scan(pattern), state(sizeof(GpuScanState)), scratch(gpu_scan_scratch(s.rows), true)
{
	scan.nrows = sets.rows;
	scan.state_out = (GpuScanState *) state.p;
	scan.scratch = scratch.p;
}

void
ScanRun::launch(int set)
{
	scan.values = sets.values(set);
	scan.results = sets.results(set);
	must(gpu_scan(&scan, stream), "gpu_scan");
}

bool
ScanRun::fits_window() const
{
	GpuScanState host;

	must(gpu_copy_out(&host, state.p, sizeof(host), stream), "gpu_copy_out");
	finish();
	return host.out_of_window == 0;
}

/* Agreement of a row's sum with CUB's, whose error is that of its own additions. */
double
scan_tolerance(int kind, uint64_t n)
{
	return kind == GPUAGG_FLOAT64	? (double) n * (double) n * 0x1p-54
		   : kind == GPUAGG_FLOAT32 ? (double) n * (double) n * 0x1p-25
									: 0;
}

static void
run_scan(int kind, unsigned flags, Pattern pattern, uint64_t n, double over_cub, double share)
{
	size_t value_size = gpuagg_kind_size(kind);
	size_t result_size = gpuagg_scan_result_size(kind, GPUAGG_SUM, flags);
	Sets sets(n, value_size, result_size);
	GpuScan scan = {};
	Result result = {};
	bool exclusive = (flags & GPUAGG_SCAN_EXCLUSIVE) != 0;

	sets.fill(kind, pattern);
	scan.kind = kind;
	scan.op = GPUAGG_SUM;
	scan.flags = flags;
	scan.window = BENCH_WINDOW;

	ScanRun run(sets, scan);

	result.part = gpuagg_kind_is_float(kind) ? "running sum" : "scan";
	result.what = std::string(exclusive ? "exclusive " : "inclusive ") + kind_name(kind) +
				  (result_size > value_size ? ", wide" : "");
	result.variant = gpuagg_kind_is_float(kind) ? pattern_name(pattern) : "random";
	result.rows = n;
	result.bytes = sets.bytes();
	result.bandwidth = 'C';
	result.graph_over_cub = over_cub;
	result.single_over_cub = over_cub;
	result.share = share;
	result.ours = measure(sets, [&](int set) {
		run.launch(set);
	});
	run.launch(0);
	result.right = run.fits_window();

	DeviceMemory expected(n * value_size);

	run_cub(GPUAGG_SCAN, kind, n, sets.values(0), nullptr, expected.p);
	/* an exclusive sum is the inclusive one of the row before */
	result.right = result.right &&
				   count_differences(kind, n - exclusive,
									 (const char *) sets.results(0) + (exclusive ? result_size : 0),
									 (int) (result_size / value_size), expected.p, 1,
									 scan_tolerance(kind, n)) == 0;
	result.bandwidth_run = measure_copy(sets);
	if (result_size == value_size)
	{
		sets.fill(kind, pattern); /* the copy's source need not have been the values alone */
		result.cub = measure_cub(GPUAGG_SCAN, kind, sets, nullptr);
	}
	report(result);
}

void
scan_cases(const Options &options)
{
	for (int kind : {GPUAGG_INT32, GPUAGG_INT64})
		for (unsigned flags :
			 {(unsigned) GPUAGG_SCAN_NARROW, GPUAGG_SCAN_NARROW | GPUAGG_SCAN_EXCLUSIVE})
			for (uint64_t n : options.sizes)
				run_scan(kind, flags, ORDINARY, n, 1, n >= UINT64_C(1) << 28 ? 0.90 : 0);
	for (int kind : {GPUAGG_INT32, GPUAGG_INT64})
		run_scan(kind, 0, ORDINARY, options.largest, 0, kind == GPUAGG_INT64 ? 0.85 : 0);
	for (int kind : {GPUAGG_FLOAT32, GPUAGG_FLOAT64})
		for (uint64_t n : options.sizes)
		{
			double share = kind == GPUAGG_FLOAT64 && n >= UINT64_C(1) << 28 ? 0.50 : 0;

			run_scan(kind, 0, ORDINARY, n, 0, share);
		}
	run_scan(GPUAGG_FLOAT64, 0, SPREAD_60, options.largest, 0, 0);
	run_scan(GPUAGG_FLOAT64, GPUAGG_SCAN_EXCLUSIVE, ORDINARY, options.largest, 0, 0);
}
