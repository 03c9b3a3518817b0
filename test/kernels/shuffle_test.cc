/*
 * shuffle_test.cc
 *	  Shuffles of every primitive, width, type and several masks against the
 *	  formula of PTX's shfl.sync; reductions of a warp against plain loops.
 *
 * Reading a lane that is not in the mask is undefined: such arguments are drawn
 * again.
 */
#include "harness.h"

#include <string.h>

#include "shuffle.h"

#define LANES 32

namespace
{

/*
 * The lane that is read, by PTX ISA's description: b is the argument, c holds
 * a segment mask of the lanes' upper bits and a clamp of the lower ones.
 */
unsigned
source_by_formula(int primitive, unsigned lane, unsigned b, unsigned width)
{
	unsigned segment_mask = 32 - width;
	unsigned clamp = primitive == SHUFFLE_UP ? 0 : 31;
	unsigned max_lane = (lane & segment_mask) | (clamp & ~segment_mask);
	unsigned min_lane = lane & segment_mask;
	int j;
	bool in_range;

	switch (primitive)
	{
		case SHUFFLE_UP:
			j = (int) lane - (int) b;
			in_range = j >= (int) max_lane;
			break;
		case SHUFFLE_DOWN:
			j = (int) (lane + b);
			in_range = j <= (int) max_lane;
			break;
		case SHUFFLE_XOR:
			j = (int) (lane ^ b);
			in_range = j <= (int) max_lane;
			break;
		default:
			j = (int) (min_lane | (b & ~segment_mask & 31));
			in_range = j <= (int) max_lane;
			break;
	}
	return in_range ? (unsigned) j : lane;
}

bool
reads_its_mask(const ShuffleCase &c, unsigned lane)
{
	unsigned mask = c.mask >> lane & 1 ? c.mask : ~c.mask;

	return mask >>
			   source_by_formula(c.primitive, lane, (unsigned) c.arg[lane], (unsigned) c.width) &
		   1;
}

/* Every primitive and width: under each mask, with one argument for all lanes and one for each. */
std::vector<ShuffleCase>
make_cases(Random &random)
{
	const uint32_t masks[] = {0xffffffff, 0x0000ffff, 0x55555555, 0x00000001,
							  0x7fffffff, 0x80000001, 0x0ff00ff0};
	std::vector<ShuffleCase> cases;

	for (int primitive = 0; primitive < SHUFFLE_NPRIMITIVES; primitive++)
		for (int width = 32; width >= 1; width /= 2)
		{
			for (uint32_t mask : masks)
				for (int i = 0; i < 4; i++)
				{
					ShuffleCase c = {primitive, width, mask, {}};

					if (i == 3)
						c.mask = (uint32_t) random.next();
					for (unsigned lane = 0; lane < LANES; lane++)
						do
							/* a source lane beyond the width wraps */
							c.arg[lane] = (int32_t) random.below(LANES);
						while (!reads_its_mask(c, lane));
					cases.push_back(c);
				}
			for (int arg = 0; arg < LANES; arg++)
			{
				ShuffleCase c = {primitive, width, 0xffffffff, {}};

				for (int32_t &a : c.arg)
					a = arg;
				cases.push_back(c);
			}
		}
	return cases;
}

/* One test for each primitive and width. */
void
check_cases(const ShuffleType &type, const std::vector<ShuffleCase> &cases,
			const unsigned char *values, const unsigned char *results, int pattern)
{
	bool right = true;

	for (size_t i = 0; i < cases.size(); i++)
	{
		const ShuffleCase &c = cases[i];

		for (unsigned lane = 0; lane < LANES; lane++)
		{
			unsigned from = source_by_formula(c.primitive, lane, (unsigned) c.arg[lane],
											  (unsigned) c.width);

			right = right && memcmp(&results[(i * LANES + lane) * type.size],
									&values[(i * LANES + from) * type.size], type.size) == 0;
		}
		if (i + 1 == cases.size() || cases[i + 1].width != c.width)
		{
			report(right, text("shuffle %d of %s, width %d, pattern %d", c.primitive, type.name,
							   c.width, pattern));
			right = true;
		}
	}
}

void
test_type(const ShuffleType &type, const std::vector<ShuffleCase> &cases, Random &random)
{
	size_t bytes = cases.size() * LANES * type.size;
	std::vector<unsigned char> values(bytes);
	std::vector<unsigned char> results(bytes);

	for (unsigned char &v : values)
		v = (unsigned char) random.next();
	for (int pattern = 0; pattern < NPATTERNS; pattern++)
	{
		int byte = begin_pattern(pattern);
		DeviceMemory device_cases(cases.size() * sizeof(ShuffleCase));
		DeviceMemory device_values(bytes);
		DeviceMemory device_results(bytes);

		must(gpu_copy_in(device_cases.p, cases.data(), device_cases.bytes, stream), "gpu_copy_in");
		must(gpu_copy_in(device_values.p, values.data(), bytes, stream), "gpu_copy_in");
		must(gpu_memset(device_results.p, byte, bytes, stream), "gpu_memset");
		must(type.launch((const ShuffleCase *) device_cases.p, cases.size(), device_values.p,
						 device_results.p, stream),
			 "shuffle");
		must(gpu_copy_out(results.data(), device_results.p, bytes, stream), "gpu_copy_out");
		finish();
		check_cases(type, cases, values.data(), results.data(), pattern);
	}
}

void
test_warp_reductions(Random &random)
{
	constexpr uint64_t NWARPS = 30;
	std::vector<int32_t> values(NWARPS * LANES);
	std::vector<ReducedInt> results(NWARPS * LANES);

	for (size_t i = 0; i < values.size(); i++)
		values[i] = i / LANES % 3 == 0 ? random.between(-5, 5) : (int32_t) random.next();
	for (int pattern = 0; pattern < NPATTERNS; pattern++)
	{
		begin_pattern(pattern);

		DeviceMemory device_values(values.size() * sizeof(int32_t));
		DeviceMemory device_results(results.size() * sizeof(ReducedInt));

		must(gpu_copy_in(device_values.p, values.data(), device_values.bytes, stream),
			 "gpu_copy_in");
		must(warp_reduce_launch((const int32_t *) device_values.p, NWARPS,
								(ReducedInt *) device_results.p, stream),
			 "warp_reduce");
		must(gpu_copy_out(results.data(), device_results.p, device_results.bytes, stream),
			 "gpu_copy_out");
		finish();
		for (uint64_t w = 0; w < NWARPS; w++)
		{
			ReducedInt expected = {0, INT32_MAX, INT32_MIN, 0, UINT32_MAX, 0};
			bool right = true;

			for (uint64_t i = w * LANES; i < (w + 1) * LANES; i++)
			{
				int32_t v = values[i];
				uint32_t u = (uint32_t) v;

				expected.usum += u;
				expected.min = v < expected.min ? v : expected.min;
				expected.max = v > expected.max ? v : expected.max;
				expected.umin = u < expected.umin ? u : expected.umin;
				expected.umax = u > expected.umax ? u : expected.umax;
			}
			expected.sum = (int32_t) expected.usum;
			for (uint64_t i = w * LANES; i < (w + 1) * LANES; i++)
				right = right && memcmp(&results[i], &expected, sizeof(expected)) == 0;
			report(right, text("reductions of warp %d, pattern %d", (int) w, pattern));
		}
	}
}

} // namespace

void
shuffle_tests(const Options &options)
{
	Random random(options.seed);
	std::vector<ShuffleCase> cases = make_cases(random);

	for (const ShuffleType &type : shuffle_types)
		test_type(type, cases, random);
	test_warp_reductions(random);
}
