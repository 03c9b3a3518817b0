/*
 * grid.cuh
 *	  How a grid walks over a column, and how its last block is found.
 */
#ifndef GPUAGG_GRID_CUH
#define GPUAGG_GRID_CUH

#include "device.cuh"

/* As many values as a 16-byte load brings. */
template <class T> struct alignas(16) Vector
{
	T value[16 / sizeof(T)];
};

/*
 * Calls f(value) once for each of n values, each from some thread of the grid,
 * by 16-byte loads from the first aligned address on, several in flight.
 */
template <class T, class F>
static __device__ __forceinline__ void
grid_for_each(const T *values, uint64_t n, F f)
{
	constexpr uint64_t PER_VECTOR = 16 / sizeof(T);
	constexpr int IN_FLIGHT = 2;
	uint64_t thread = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x;
	uint64_t stride = (uint64_t) gridDim.x * blockDim.x;
	uint64_t head = (0 - (uintptr_t) values) % 16 / sizeof(T);

	if (head > n)
		head = n;

	const Vector<T> *vectors = (const Vector<T> *) (values + head);
	uint64_t nvectors = (n - head) / PER_VECTOR;
	uint64_t tail_start = head + nvectors * PER_VECTOR;
	uint64_t loose = head + (n - tail_start);

	for (uint64_t i = thread; i < nvectors; i += IN_FLIGHT * stride)
	{
		Vector<T> v[IN_FLIGHT];

		UNROLL
		for (int k = 0; k < IN_FLIGHT; k++)
			if (i + k * stride < nvectors)
				v[k] = vectors[i + k * stride];
		UNROLL
		for (int k = 0; k < IN_FLIGHT; k++)
			if (i + k * stride < nvectors)
			{
				UNROLL
				for (uint64_t j = 0; j < PER_VECTOR; j++)
					f(v[k].value[j]);
			}
	}
	for (uint64_t i = thread; i < loose; i += stride)
		f(values[i < head ? i : tail_start + (i - head)]);
}

/*
 * True in every thread of the block that comes here last; that block then sees
 * all that the others wrote before they came.  *ticket starts at 0.
 */
static __device__ __forceinline__ bool
last_block(uint32_t *ticket)
{
	bool last = false;

	__threadfence();
	__syncthreads();
	if (threadIdx.x == 0)
		last = atomic_add(ticket, (uint32_t) 1) == gridDim.x - 1;
	last = __syncthreads_or(last);
	__threadfence();
	return last;
}

#endif /* GPUAGG_GRID_CUH */
