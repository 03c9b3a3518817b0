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

/* Adds an integer of 64 bits to a sum, of one digit or more. */
static __device__ __forceinline__ void
add_outside_value(uint64_t *digit, bool is_one, int64_t v)
{
	if (is_one)
		query_add_digit(digit, v);
	else
	{
		query_add_digit(digit, (int64_t) (uint32_t) v);
		query_add_digit(digit + 1, v >> 32);
	}
}

#endif /* GPUAGG_QUERY_FUSED_OUTSIDE_CUH */
