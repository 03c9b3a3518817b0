/*
 * grid.cuh
 *	  How a grid walks over a column, and how its last block is found.
 */
#ifndef GPUAGG_GRID_CUH
#define GPUAGG_GRID_CUH

#include "device/device.cuh"

/* As many values as a 16-byte load brings. */
template <class T> struct alignas(16) Vector
{
	static constexpr int LENGTH = 16 / sizeof(T);

	T value[LENGTH];
};

/* As resident_blocks(), but asks the runtime once: a process has one device. */
template <auto KERNEL>
static inline unsigned
cached_resident_blocks(int threads)
{
	static const unsigned blocks = resident_blocks(KERNEL, threads);

	return blocks;
}

/* The validity bits of vector number `at`, from the byte that holds them. */
template <int LENGTH>
static __device__ __forceinline__ uint32_t
vector_bits(uint32_t byte, uint64_t at)
{
	return byte >> at * LENGTH % 8 & ((1u << LENGTH) - 1);
}

/*
 * Hands n values to f in groups, f(const T (&group)[VECTORS * Vector<T>::LENGTH]):
 * each value once, to one thread of the grid, by 16-byte loads that are all in
 * flight before f runs.  Places of a group beyond the column hold `absent`; with
 * NULLS so do rows whose validity bit is 0.  Returns the number of valid rows that
 * this thread had (with NULLS, else 0).
 *
 * The column is read in rounds of one group a thread.  In a whole round each block
 * reads its own stretch; the rest is spread over all threads vector by vector, so
 * that blocks have equal work.  Vectors partly beyond the column are read value by
 * value.  So is a whole column with NULLS that does not start at a multiple of 16
 * bytes: its vectors have no whole pieces of the bitmap's bytes.
 */
template <class T, int VECTORS, bool NULLS, class F>
static __device__ __forceinline__ uint64_t
grid_for_each_group(const T *values, const uint64_t *validity, uint64_t n, T absent, F f)
{
	constexpr int LENGTH = Vector<T>::LENGTH;
	static_assert(8 % LENGTH == 0 && VECTORS * LENGTH <= 32, "bits of a vector and of a group");
	uint64_t lead = (uintptr_t) values % 16 / sizeof(T); /* places before the first value */
	uint64_t end = lead + n;
	const Vector<T> *vectors = (const Vector<T> *) ((uintptr_t) values / 16 * 16);
	const uint8_t *bytes = (const uint8_t *) validity; /* words are little-endian */
	uint64_t threads = (uint64_t) gridDim.x * blockDim.x;
	uint64_t count = 0;

	for (uint64_t start = 0; start * LENGTH < end; start += threads * VECTORS)
	{
		T group[VECTORS * LENGTH];
		uint32_t bits = 0; /* of the group's valid rows */

		if (start * LENGTH >= lead && (start + threads * VECTORS) * LENGTH <= end &&
			!(NULLS && lead > 0))
		{
			uint64_t first = start + (uint64_t) blockIdx.x * blockDim.x * VECTORS + threadIdx.x;
			uint32_t byte[VECTORS];

			UNROLL
			for (int k = 0; k < VECTORS; k++)
			{
				uint64_t at = first + (uint64_t) k * blockDim.x;
				Vector<T> v = vectors[at];

				if (NULLS)
					byte[k] = bytes[at * LENGTH / 8];
				UNROLL
				for (int j = 0; j < LENGTH; j++)
					group[k * LENGTH + j] = v.value[j];
			}
			UNROLL
			for (int k = 0; k < VECTORS && NULLS; k++)
				bits |= vector_bits<LENGTH>(byte[k], first + (uint64_t) k * blockDim.x)
						<< k * LENGTH;
		}
		else
		{
			uint64_t first = start + (uint64_t) blockIdx.x * blockDim.x + threadIdx.x;

			UNROLL
			for (int k = 0; k < VECTORS; k++)
			{
				uint64_t at = first + k * threads;

				if (at * LENGTH >= lead && (at + 1) * LENGTH <= end && !(NULLS && lead > 0))
				{
					Vector<T> v = vectors[at];

					if (NULLS)
						bits |= vector_bits<LENGTH>(bytes[at * LENGTH / 8], at) << k * LENGTH;
					UNROLL
					for (int j = 0; j < LENGTH; j++)
						group[k * LENGTH + j] = v.value[j];
				}
				else
				{
					UNROLL
					for (int j = 0; j < LENGTH; j++)
					{
						uint64_t row = at * LENGTH + j - lead; /* huge before the first */
						bool valid = row < n;

						if (NULLS && valid)
							valid = validity[row / 64] >> row % 64 & 1;
						group[k * LENGTH + j] = valid ? values[row] : absent;
						bits |= (uint32_t) valid << (k * LENGTH + j);
					}
				}
			}
		}
		if (NULLS)
		{
			count += (uint64_t) bit_count(bits);
			UNROLL
			for (int i = 0; i < VECTORS * LENGTH; i++)
				group[i] = bits >> i & 1 ? group[i] : absent;
		}
		f(group);
	}
	return count;
}

/*
 * True in every thread of the last block to call; it sees all that the others
 * wrote before they called.  *ticket is 0 before and after.
 *
 * Thread 0 releases and acquires for its block: the barriers before and after it
 * order the accesses of the other threads.
 */
static __device__ __forceinline__ bool
last_block(uint32_t *ticket)
{
	bool last = false;

	__syncthreads();
	if (threadIdx.x == 0)
	{
		last = atomic_add_ordered(ticket, (uint32_t) 1) == gridDim.x - 1;
		if (last)
			store_relaxed(ticket, (uint32_t) 0);
	}
	return __syncthreads_or(last);
}

#endif /* GPUAGG_GRID_CUH */
