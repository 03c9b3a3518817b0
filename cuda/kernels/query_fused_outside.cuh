/*
 * query_fused_outside.cuh
 *	  Rows whose keys are outside the ranges that fused kernels of groups number: one by one.
 */
#ifndef GPUAGG_QUERY_FUSED_OUTSIDE_CUH
#define GPUAGG_QUERY_FUSED_OUTSIDE_CUH

#include "kernels/query_groups.cuh"

/* A stored integer with its base. */
static __device__ int64_t
stored_value(const GpuQueryBlock &block, uint8_t type, uint32_t row)
{
	const void *values = block.values;
	uint64_t value;

	switch (query_mode(type, block.width))
	{
		case LOAD_8:
			value = global_memory((const uint8_t *) values)[row];
			break;
		case LOAD_16:
			value = global_memory((const uint16_t *) values)[row];
			break;
		case LOAD_INT16:
			value = (uint64_t) (int64_t) global_memory((const int16_t *) values)[row];
			break;
		case LOAD_32:
			value = global_memory((const uint32_t *) values)[row];
			break;
		default:
			value = global_memory((const uint64_t *) values)[row];
	}
	value += block.base.lo;
	return type == GPUAGG_VECTOR_INT64 ? (int64_t) value : (int64_t) (int32_t) value;
}

static __device__ __forceinline__ bool
is_valid(const GpuQueryBlock &block, uint32_t row)
{
	return block.valid == nullptr || (block.valid[row / 64] >> row % 64 & 1) != 0;
}

/* The grid's record of the row's group, which is counted; PLACE_NONE: it has no place. */
template <class Groups>
static __device__ uint32_t
find_outside(const Groups &groups, const GpuQueryBlock *blocks, uint32_t row)
{
	const GpuQueryPlan &plan = groups.launch.plan;
	const GpuaggGroupLayout &layout = plan.groups;
	WideBits bits = 0;
	uint32_t at;

	ROLLED
	for (uint32_t i = 0; i < layout.nkeys; i++)
	{
		uint32_t column = QUERY_SOURCE_NUMBER(plan.key[i]);
		WideBits value = 1;

		if (is_valid(blocks[column], row))
			value = (WideBits) Groups::key_bits(layout.key_type[i],
												(uint64_t) stored_value(blocks[column],
																		plan.type[column], row))
					<< 1;
		bits |= value << layout.key_at[i];
	}

	uint64_t key[2] = {(uint64_t) bits << 1 | 1, (uint64_t) (bits >> 63) << 1 | 1};

	at = groups.find_of_grid(key, groups.hash_of(key));
	if (at != PLACE_NONE)
		atomic_add(groups.record(at) + layout.rows, (uint32_t) 1);
	return at;
}

/* Adds an integer of 64 bits to a sum of a record. */
static __device__ __forceinline__ void
add_outside_value(uint32_t *record, const GpuaggGroupField &field, int64_t v)
{
	uint64_t *digit = (uint64_t *) (record + field.value);

	if (field.words == 2)
		query_add_digit(digit, v);
	else
	{
		query_add_digit(digit, (int64_t) (uint32_t) v);
		query_add_digit(digit + 1, v >> 32);
	}
}

#endif /* GPUAGG_QUERY_FUSED_OUTSIDE_CUH */
