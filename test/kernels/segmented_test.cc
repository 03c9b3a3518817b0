/*
 * segmented_test.cc
 *	  gpu_segmented_reduce, but for sums of floats: every segment against the
 *	  oracle, NULLs, carried states, batches.
 */
#include "running.h"

#include <string.h>

namespace
{

struct Case
{
	int kind;
	int op;
	uint64_t n;
	std::vector<unsigned char> values;
	std::vector<uint64_t> validity;
	std::vector<uint64_t> heads;
	bool has_validity;
	bool has_heads;
	bool has_carry;
	GpuScanState carry;
	std::string what;

	size_t size() const
	{
		return gpuagg_kind_size(kind);
	}
	size_t result_size() const
	{
		return gpuagg_scan_result_size(kind, op, 0);
	}
};

/* What comes back, or must; results are bytes. */
struct Output
{
	std::vector<unsigned char> results;
	std::vector<uint8_t> status;
	uint64_t nsegments;
	GpuScanState state;
};

DeviceMemory *scratch;

Output
run_once(const Case &c, uint64_t room, bool with_status, bool state_in_place, int shift, int byte)
{
	size_t words = c.validity.size() * 8;
	DeviceMemory column((c.n + (unsigned) shift) * c.size());
	DeviceMemory validity(words);
	DeviceMemory heads(words);
	DeviceMemory results((room + (unsigned) shift) * c.result_size());
	DeviceMemory status(room);
	DeviceMemory in(sizeof(GpuScanState));
	DeviceMemory out(sizeof(GpuScanState));
	DeviceMemory nsegments(8);
	char *values = (char *) column.p + (unsigned) shift * c.size();
	char *at = (char *) results.p + (unsigned) shift * c.result_size();
	GpuScanState *state_out = (GpuScanState *) (state_in_place && c.has_carry ? in.p : out.p);
	GpuSegmentedReduce reduce = {};
	Output output;

	output.results.resize(room * c.result_size());
	output.status.resize(with_status ? room : 0);
	must(gpu_memset(results.p, byte, results.bytes, stream), "gpu_memset");
	must(gpu_memset(status.p, byte, status.bytes, stream), "gpu_memset");
	must(gpu_memset(out.p, byte, out.bytes, stream), "gpu_memset");
	must(gpu_copy_in(values, c.values.data(), c.n * c.size(), stream), "gpu_copy_in");
	must(gpu_copy_in(validity.p, c.validity.data(), words, stream), "gpu_copy_in");
	must(gpu_copy_in(heads.p, c.heads.data(), words, stream), "gpu_copy_in");
	must(gpu_copy_in(in.p, &c.carry, sizeof(c.carry), stream), "gpu_copy_in");

	reduce.kind = c.kind;
	reduce.op = c.op;
	reduce.nrows = c.n;
	reduce.values = c.op == GPUAGG_COUNT ? nullptr : values;
	reduce.validity = c.has_validity ? (const uint64_t *) validity.p : nullptr;
	reduce.heads = c.has_heads ? (const uint64_t *) heads.p : nullptr;
	reduce.state_in = c.has_carry ? (const GpuScanState *) in.p : nullptr;
	reduce.results = at;
	reduce.status = with_status ? (uint8_t *) status.p : nullptr;
	reduce.nsegments = (uint64_t *) nsegments.p;
	reduce.state_out = state_out;
	reduce.scratch = scratch->p;
	must(gpu_segmented_reduce(&reduce, stream), "gpu_segmented_reduce");
	must(gpu_copy_out(output.results.data(), at, output.results.size(), stream), "gpu_copy_out");
	must(gpu_copy_out(output.status.data(), status.p, output.status.size(), stream),
		 "gpu_copy_out");
	must(gpu_copy_out(&output.nsegments, nsegments.p, 8, stream), "gpu_copy_out");
	must(gpu_copy_out(&output.state, state_out, sizeof(GpuScanState), stream), "gpu_copy_out");
	finish();
	return output;
}

/* The expected output; the final state in *running. */
Output
expected_of(const Case &c, Running *running, bool *overflows)
{
	Output output;

	*overflows = false;
	if (c.has_carry)
		running->carry_in(c.carry.state);
	for (uint64_t i = 0; i < c.n; i++)
	{
		if (c.has_heads && bit_of(c.heads, i))
		{
			if (i > 0)
				output.status.push_back(running->result(&output.results));
			running->reset();
		}
		if (!c.has_validity || bit_of(c.validity, i))
			running->add(&c.values[i * c.size()]);
	}
	if (c.n > 0)
		output.status.push_back(running->result(&output.results));
	output.nsegments = output.status.size();
	for (uint8_t status : output.status)
		*overflows |= status == GPUAGG_ROW_OVERFLOW;
	return output;
}

Output
run_case(const Case &c, Random &random)
{
	Running running(c.kind, c.op, false);
	bool overflows;
	Output expected = expected_of(c, &running, &overflows);
	Output first;

	for (int i = 0; i < NPATTERNS; i++)
	{
		Output output = run_once(c, expected.nsegments, i == 0 || random.below(2) != 0, i > 0,
								 i == 0 ? 0 : (int) random.below(3), begin_pattern(i));

		report(output.nsegments == expected.nsegments && output.results == expected.results &&
				   (output.status.empty() || output.status == expected.status),
			   c.what +
				   text(": %llu segments, run %d", (unsigned long long) expected.nsegments, i));
		report(running.state_is(output.state.state) && output.state.out_of_window == 0 &&
				   output.state.overflows == overflows,
			   c.what + text(": state, run %d", i));
		if (i == 0)
			first = output;
	}
	return first;
}

/* Batches chained by their states: each goes on with the segment left open. */
void
check_batches(const Case &whole, const Output &output, Random &random)
{
	size_t size = whole.result_size();
	Output joined;
	uint64_t done = 0;

	joined.state = whole.carry;
	while (done < whole.n)
	{
		Case part = whole;

		part.n = 1 + random.below(whole.n - done < 9000 ? whole.n - done : 9000);
		part.values.assign(&whole.values[done * whole.size()],
						   &whole.values[done * whole.size()] + part.n * whole.size());
		part.validity = cut(whole.validity, done, part.n);
		part.heads = cut(whole.heads, done, part.n);
		part.has_carry |= done > 0;
		part.carry = joined.state;

		Output one = run_once(part, part.n, true, random.below(2) != 0, 0, begin_pattern(0));

		/* the segment that was open has ended before, when row 0 is a head */
		if (done > 0 && !(part.has_heads && bit_of(part.heads, 0)))
		{
			joined.results.resize(joined.results.size() - size);
			joined.status.pop_back();
		}
		joined.results.insert(joined.results.end(), one.results.begin(),
							  one.results.begin() + (int64_t) (one.nsegments * size));
		joined.status.insert(joined.status.end(), one.status.begin(),
							 one.status.begin() + (int64_t) one.nsegments);
		joined.state = one.state;
		done += part.n;
	}
	report(joined.results == output.results && joined.status == output.status &&
			   memcmp(&joined.state.state, &output.state.state, sizeof(output.state.state)) == 0,
		   whole.what + ": in batches");
}

struct Kernel
{
	int kind;
	int op;
};

const Kernel kernels[] = {
	{GPUAGG_INT32, GPUAGG_SUM},	  {GPUAGG_INT64, GPUAGG_SUM},	{GPUAGG_INT32, GPUAGG_MIN},
	{GPUAGG_INT64, GPUAGG_MAX},	  {GPUAGG_FLOAT32, GPUAGG_MAX}, {GPUAGG_FLOAT64, GPUAGG_MIN},
	{GPUAGG_INT64, GPUAGG_COUNT},
};

Case
make_case(const Kernel &k, uint64_t n, Nulls nulls, Heads heads, int carry, int family,
		  uint64_t seed)
{
	Random random(seed * 1000003 + n * 31 + (unsigned) (nulls * 100 + heads * 10 + family));
	Case c;

	c.kind = k.kind;
	c.op = k.op;
	c.n = n;
	c.values = make_values(k.kind, family, n, random);
	c.validity = make_validity(nulls, n, random);
	c.heads = make_heads(heads, n, 2560, random);
	c.has_validity = nulls != NO_BITMAP;
	c.has_heads = heads != NO_HEADS;
	c.has_carry = carry > 0;
	c.carry = carry > 1 ? some_state(k.kind, k.op, false, carry > 2, random) : empty_state();
	c.what = text("segmented kind %d, op %d, %llu rows, nulls %d, heads %d, carry %d, family %d",
				  k.kind, k.op, (unsigned long long) n, nulls, heads, carry, family);
	return c;
}

void
test_size(uint64_t n, const Options &options)
{
	static unsigned turn;
	Random random(options.seed + n);

	for (int heads = 0; heads < NHEADS; heads++)
		for (const Kernel &k : kernels)
		{
			Nulls nulls = (Nulls) (turn % 3 == 0 ? 0 : turn % NNULLS);
			Case c = make_case(k, n, nulls, (Heads) heads, (int) (turn / 2 % 4), (int) (turn % 6),
							   options.seed);
			Output output = run_case(c, random);

			if (n > 40 && n < 40000 && turn % 4 == 0)
				check_batches(c, output, random);
			turn++;
		}
}

} // namespace

void
segmented_tests(const Options &options)
{
	std::vector<uint64_t> sizes = {0,	1,	  2,	13,	  14,	31,	  32,	33,	  63,	64,	  65,
								   447, 1000, 2559, 2560, 2561, 3584, 5119, 7168, 8193, 30001};

	if (options.small)
		sizes = {1, 33, 3585, 20011};
	else if (options.simulated)
		sizes.push_back(100003);
	else
		sizes.insert(sizes.end(), {100003, 1000003, (1 << 24) + 3});

	scratch = new DeviceMemory(gpu_segmented_reduce_scratch((1 << 24) + 3));
	must(gpu_memset(scratch->p, 0, scratch->bytes, stream), "gpu_memset");
	for (uint64_t n : sizes)
		test_size(n, options);
	delete scratch;
	scratch = nullptr;
}
