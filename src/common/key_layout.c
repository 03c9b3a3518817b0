/*
 * key_layout.c
 *	  Keys of several columns as one number that sorts as they do.
 */
#include "common/key_layout.h"

int
gpuagg_key_lay_out(GpuaggKeyLayout *keys, int nkeys)
{
	int bits = 0;

	for (int k = nkeys - 1; k >= 0; k--)
	{
		GpuaggKeyLayout *key = &keys[k];
		const GpuaggKeyRange *range = &key->range;
		uint64_t distance = range->has_values ? range->greatest - range->least : 0;
		bool null_value = range->has_nulls && range->has_values;

		key->low_bits = distance > 0 ? __builtin_ctzll(range->differs) : 0;
		distance >>= key->low_bits;
		key->null_bit = null_value && distance == UINT64_MAX;
		if (null_value && !key->null_bit)
			distance++;
		key->shift = null_value && !key->null_bit && key->nulls_first;
		key->null_value = null_value && !key->null_bit && !key->nulls_first ? distance : 0;
		key->position = bits;
		key->bits = distance == 0 ? 0 : 64 - __builtin_clzll(distance);
		bits += key->bits + key->null_bit;
	}
	return bits;
}

void
gpuagg_key_mask(const GpuaggKeyLayout *keys, int nkeys, int first, int words, uint64_t *mask)
{
	int low = 0; /* bits */

	for (int k = first; k < nkeys; k++)
		low += keys[k].bits + keys[k].null_bit;
	for (int i = 0; i < words; i++)
	{
		int below = low - (words - 1 - i) * 64;

		mask[i] = below <= 0 ? UINT64_MAX : below >= 64 ? 0 : UINT64_MAX << below;
	}
}
