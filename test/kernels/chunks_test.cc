/*
 * chunks_test.cc
 *	  Carries from chunk to chunk of a sum of floats, as a warp propagates them, against a loop.
 */
#include "harness.h"

#include <string.h>

#include "chunks.h"

namespace
{

/* Chunks below the last one into [0, 2^32). */
void
propagate(int64_t *chunk, int n)
{
	int64_t carry = 0;

	for (int i = 0; i < n - 1; i++)
	{
		int64_t value = chunk[i] + carry;

		carry = value >> 32;
		chunk[i] = (int64_t) (uint32_t) value;
	}
	chunk[n - 1] += carry;
}

/* Chunks of one sort, at random places others. */
void
fill(Random &random, int64_t *chunk, int n, uint64_t number)
{
	static const int64_t kinds[] = {0,
									-1,
									1,
									UINT32_MAX,
									INT32_MAX,
									INT32_MIN,
									INT64_C(1) << 31,
									INT64_C(1) << 32,
									-(INT64_C(1) << 32),
									INT64_C(1) << 52,
									-(INT64_C(1) << 52)};
	constexpr uint64_t NKINDS = sizeof(kinds) / sizeof(kinds[0]);
	int64_t kind = kinds[number % NKINDS];

	for (int i = 0; i < n; i++)
		chunk[i] = kind;
	if (number < NKINDS)
		return;
	/* a few that start carries or end them */
	for (int i = random.between(1, 3); i > 0; i--)
		chunk[random.below((uint64_t) n)] = kinds[random.below(NKINDS)];
	for (int i = 0; i < n && number % 3 == 0; i++)
		chunk[i] = (int64_t) (random.next() >> (int) (random.below(54) + 10)) *
				   (random.below(2) ? 1 : -1);
}

void
test_shape(const ChunksShape &shape, uint64_t nsums, Random &random)
{
	size_t n = (size_t) shape.nchunks;
	std::vector<int64_t> sums(nsums * n);
	std::vector<int64_t> results(nsums * n);

	for (uint64_t i = 0; i < nsums; i++)
		fill(random, &sums[i * n], shape.nchunks, i);
	for (int pattern = 0; pattern < NPATTERNS; pattern++)
	{
		begin_pattern(pattern);

		DeviceMemory device_sums(sums.size() * sizeof(int64_t));
		DeviceMemory device_results(sums.size() * sizeof(int64_t));

		must(gpu_copy_in(device_sums.p, sums.data(), device_sums.bytes, stream), "gpu_copy_in");
		must(shape.launch((const int64_t *) device_sums.p, nsums, (int64_t *) device_results.p,
						  stream),
			 "propagate");
		must(gpu_copy_out(results.data(), device_results.p, device_results.bytes, stream),
			 "gpu_copy_out");
		finish();
		for (uint64_t i = 0; i < nsums; i++)
		{
			std::vector<int64_t> expected(sums.begin() + (ptrdiff_t) (i * n),
										  sums.begin() + (ptrdiff_t) ((i + 1) * n));

			propagate(expected.data(), shape.nchunks);
			report(memcmp(&results[i * n], expected.data(), n * sizeof(int64_t)) == 0,
				   text("carries of sum %d of %d chunks, pattern %d", (int) i, shape.nchunks,
						pattern));
		}
	}
}

} // namespace

void
chunks_tests(const Options &options)
{
	Random random(options.seed);

	for (const ChunksShape &shape : chunks_shapes)
		test_shape(shape, options.small ? 30 : 300, random);
}
