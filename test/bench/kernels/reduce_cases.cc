/*
 * reduce_cases.cc
 *	  Reductions beside CUB's sums and a plain read of the same bytes.
 */
#include "bench.h"

#include <math.h>
#include <memory>
#include <string.h>

namespace
{

/* A sum and what it is of. */
struct ReduceCase
{
	int kind;
	int op;
	Pattern pattern;
	bool nulls;
	double share;
};

const char *
op_name(int op)
{
	switch (op)
	{
		case GPUAGG_SUM:
			return "sum";
		case GPUAGG_MIN:
			return "min";
		case GPUAGG_MAX:
			return "max";
		case GPUAGG_COUNT:
			return "count";
		default:
			return "moments";
	}
}

bool
close_enough(double a, double b, uint64_t n, double greatest)
{
	/* CUB's own error: n additions of what stays below n times the greatest value */
	return fabs(a - b) <= (double) n * 0x1p-52 * (double) n * greatest;
}

/* Our sum against CUB's, over the first set; both have been run on it. */
bool
sums_agree(const ReduceCase &c, const Sets &sets, const GpuaggReduced &ours)
{
	union
	{
		int32_t i32;
		int64_t i64;
		float f32;
		double f64;
	} cub = {};
	double rounded = 0;

	must(gpu_copy_out(&cub, sets.results(0), gpuagg_kind_size(c.kind), stream), "gpu_copy_out");
	finish();
	if (c.kind == GPUAGG_INT32)
		return (int32_t) ours.sum.lo == cub.i32;
	if (c.kind == GPUAGG_INT64)
		return (int64_t) ours.sum.lo == cub.i64;
	if (c.pattern != ORDINARY && c.pattern != ZEROS)
		return true; /* CUB's sum says little about them */
	gpuagg_float_sum_round64((const GpuaggFloatSum *) &ours.f, &rounded);
	return close_enough(rounded, c.kind == GPUAGG_FLOAT32 ? (double) cub.f32 : cub.f64, sets.rows,
						c.kind == GPUAGG_FLOAT32 ? 0x1p29 : 1);
}

void
run_case(const ReduceCase &c, uint64_t n, double graph_over_cub, double single_over_cub)
{
	size_t value_size = c.op == GPUAGG_COUNT ? 0 : gpuagg_kind_size(c.kind);
	Sets sets(n, gpuagg_kind_size(c.kind), 0);
	size_t words = (n + 63) / 64;
	DeviceMemory scratch(gpu_reduce_scratch(), true);
	DeviceMemory reduced(sizeof(GpuaggReduced));
	std::unique_ptr<DeviceMemory> validity;
	GpuaggReduced ours;
	Result result = {};

	sets.fill(c.kind, c.pattern);
	if (c.nulls)
	{
		validity.reset(new DeviceMemory(words * 8 * (size_t) sets.count));
		fill_bits(words * 64 * (uint64_t) sets.count, 1, (uint64_t *) validity->p);
	}

	auto launch = [&](int set) {
		GpuReduce reduce = {};

		reduce.kind = c.kind;
		reduce.op = c.op;
		reduce.nrows = n;
		reduce.values = value_size > 0 ? sets.values(set) : nullptr;
		reduce.validity = c.nulls ? (uint64_t *) validity->p + words * (size_t) set : nullptr;
		reduce.result = (GpuaggReduced *) reduced.p;
		reduce.scratch = scratch.p;
		must(gpu_reduce(&reduce, stream), "gpu_reduce");
	};

	result.part = "reduce";
	result.what = std::string(op_name(c.op)) + " " + kind_name(c.kind);
	result.variant = gpuagg_kind_is_float(c.kind) ? pattern_name(c.pattern) : "random";
	if (c.nulls)
		result.variant += ", NULLs";
	result.rows = n;
	result.bytes = n * value_size + (c.nulls ? words * 8 : 0);
	result.bandwidth = 'R';
	result.graph_over_cub = graph_over_cub;
	result.single_over_cub = single_over_cub;
	result.share = c.share;

	result.ours = measure(sets, launch);
	launch(0);
	must(gpu_copy_out(&ours, reduced.p, sizeof(ours), stream), "gpu_copy_out");
	finish();
	result.right = c.nulls ? ours.n > n / 8 * 6 && ours.n < n : ours.n == n;

	/* the plain read is of the values alone: its time is scaled to the bytes with bits */
	result.bandwidth_run = measure_read(sets);
	result.bandwidth_run.graph *= (double) result.bytes / (double) sets.bytes();
	if (c.op == GPUAGG_SUM && !c.nulls)
	{
		result.cub = measure_cub(GPUAGG_REDUCE, c.kind, sets, nullptr);
		run_cub(GPUAGG_REDUCE, c.kind, n, sets.values(0), nullptr, sets.results(0));
		result.right = result.right && sums_agree(c, sets, ours);
	}
	report(result);
}

} // namespace

void
reduce_cases(const Options &options)
{
	const int kinds[] = {GPUAGG_INT32, GPUAGG_INT64, GPUAGG_FLOAT32, GPUAGG_FLOAT64};

	for (int kind : kinds)
		for (uint64_t n : options.sizes)
		{
			double share = kind == GPUAGG_FLOAT64 ? 0.95 : 0.97;

			run_case({kind, GPUAGG_SUM, ORDINARY, false, n >= UINT64_C(1) << 28 ? share : 0}, n, 1,
					 n <= UINT64_C(1) << 20 ? 0.7 : 0);
		}

	uint64_t n = options.largest;

	run_case({GPUAGG_FLOAT64, GPUAGG_SUM, SENTINEL, false, 0.90}, n, 0, 0);
	for (int kind : {GPUAGG_FLOAT32, GPUAGG_FLOAT64})
	{
		run_case({kind, GPUAGG_SUM, SPREAD_60, false, 0}, n, 0, 0);
		run_case({kind, GPUAGG_SUM, ADVERSARIAL, false, 0}, n, 0, 0);
		run_case({kind, GPUAGG_MOMENTS, ADVERSARIAL, false, 0}, n, 0, 0);
		run_case({kind, GPUAGG_SUM, ZEROS, false, 0}, n, 0, 0);
		run_case({kind, GPUAGG_MOMENTS, ZEROS, false, kind == GPUAGG_FLOAT64 ? 0.6 : 0}, n, 0, 0);
	}
	for (int kind : kinds)
	{
		run_case({kind, GPUAGG_SUM, ORDINARY, true, 0}, n, 0, 0);
		for (bool nulls : {false, true})
		{
			double share = kind == GPUAGG_FLOAT64 && !nulls ? 0.6 : 0;

			run_case({kind, GPUAGG_MOMENTS, ORDINARY, nulls, share}, n, 0, 0);
			run_case({kind, GPUAGG_MIN, ORDINARY, nulls, 0}, n, 0, 0);
			run_case({kind, GPUAGG_MAX, ORDINARY, nulls, 0}, n, 0, 0);
		}
	}
	run_case({GPUAGG_INT64, GPUAGG_COUNT, ORDINARY, true, 0}, n, 0, 0);
}
