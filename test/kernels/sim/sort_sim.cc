/*
 * sort_sim.cc
 *	  In place of cuda/kernels/sort.cu: the simulator has no CUB.
 *
 * Environment: GPUAGG_SIM_WRONG_SORT=order swaps two items, =item returns one twice
 * and another not at all.
 */
#include <algorithm>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string>

#include "cuda/kernels/kernels.h"

namespace
{

template <int WORDS> struct Item
{
	uint64_t word[WORDS + 1];
};

/* The part of word i that lies within the key's low bits. */
uint64_t
mask_of(int words, int i, int bits)
{
	int in_word = bits - 64 * (words - 1 - i);

	return in_word <= 0 ? 0 : in_word >= 64 ? UINT64_MAX : (UINT64_C(1) << in_word) - 1;
}

template <int WORDS>
void
sort_items(const GpuSort &sort)
{
	const char *wrong = getenv("GPUAGG_SIM_WRONG_SORT");
	const Item<WORDS> *items = (const Item<WORDS> *) sort.items;
	Item<WORDS> *results = (Item<WORDS> *) sort.results;
	uint64_t mask[WORDS];

	for (int i = 0; i < WORDS; i++)
		mask[i] = mask_of(WORDS, i, sort.bits);
	std::copy(items, items + sort.nrows, results);
	std::stable_sort(results, results + sort.nrows,
					 [&mask](const Item<WORDS> &a, const Item<WORDS> &b) {
						 for (int i = 0; i < WORDS; i++)
							 if ((a.word[i] & mask[i]) != (b.word[i] & mask[i]))
								 return (a.word[i] & mask[i]) < (b.word[i] & mask[i]);
						 return false;
					 });
	if (wrong != nullptr && wrong == std::string("order"))
		std::swap(results[0], results[sort.nrows - 1]);
	if (wrong != nullptr && wrong == std::string("item"))
		results[1] = results[0];
}

} // namespace

GpuaggReason
gpu_sort(const GpuSort *sort, size_t *scratch_bytes, GpuStreamRef)
{
	if (sort->scratch == nullptr)
		*scratch_bytes = 1;
	else if (sort->words == 1)
		sort_items<1>(*sort);
	else
		sort_items<2>(*sort);
	return gpu_launch_status();
}
