/*
 * scan_affine.cu
 *	  The machinery of scans with an operator that does not commute.
 */
#include "cuda/kernels/pass_direct.cuh"
#include "cuda/kernels/pass_pipeline.cuh"

#include "test/kernels/scan_affine.h"

namespace
{

struct AffineMap
{
	uint32_t a;
	uint32_t b;
};

struct Affine
{
	typedef AffineMap Value;
	typedef AffineMap Result;
	typedef AffineMap Acc;

	static constexpr bool READS = true;
	static constexpr bool OVERFLOWS = false;

	static __device__ __forceinline__ Acc identity()
	{
		return {1, 0};
	}

	/* f first, then g */
	static __device__ __forceinline__ Acc apply(Acc f, Acc g)
	{
		return {g.a * f.a, g.a * f.b + g.b};
	}

	static __device__ __forceinline__ Acc from(Value v, const ScanColumn &)
	{
		return v;
	}

	static __device__ __forceinline__ Result result(Acc f, const ScanColumn &)
	{
		return f;
	}

	static __device__ __forceinline__ bool overflows(Acc)
	{
		return false;
	}

	static __device__ __forceinline__ Acc from_carry(const GpuaggScanState &s, const ScanColumn &)
	{
		return joined(s.sum.lo, 0);
	}

	static __device__ __forceinline__ GpuaggInt128 to_carry(Acc f, const ScanColumn &)
	{
		return {low(f), 0};
	}

	static __device__ __forceinline__ uint64_t low(Acc f)
	{
		return f.a | (uint64_t) f.b << 32;
	}

	static __device__ __forceinline__ int32_t high(Acc)
	{
		return 0;
	}

	static __device__ __forceinline__ Acc joined(uint64_t low, int32_t)
	{
		return {(uint32_t) low, (uint32_t) (low >> 32)};
	}
};

} // namespace

bool
affine_marked(int shape)
{
	return shape == 1 || shape == 2 || shape == 5;
}

bool
affine_segments(int shape)
{
	return shape == 5;
}

size_t
affine_scratch(uint64_t nrows)
{
	return lookback_scratch(tiles_of(nrows, 64), LOOKBACK_PAYLOAD);
}

GpuaggReason
affine_scan(int shape, const GpuScan *scan, uint64_t *nsegments, GpuStreamRef stream)
{
	ScanColumn column = {};

	column.values = scan->values;
	column.validity = scan->validity;
	column.heads = scan->heads;
	column.nrows = scan->nrows;
	column.state_in = scan->state_in;
	column.state_out = scan->state_out;
	column.results = scan->results;
	column.status = scan->status;
	column.nsegments = nsegments;
	column.scratch = scan->scratch;
	column.exclusive = (scan->flags & GPUAGG_SCAN_EXCLUSIVE) != 0;
	column.absent = AFFINE_IDENTITY;

	switch (shape)
	{
		case 0:
			return scan_launch<Plan<Affine, PLAIN, 3, 1, 4>>(column, stream);
		case 1:
			return scan_launch<Plan<Affine, MARKED, 1, 1, 2>>(column, stream);
		case 2:
			return scan_launch<Plan<Affine, MARKED, 2, 3, 5>>(column, stream);
		case 3:
			return direct_launch<DirectPlan<Affine, 32, 1>>(column, stream);
		case 4:
			return direct_launch<DirectPlan<Affine, 96, 3>>(column, stream);
		default:
			return scan_launch<Plan<Affine, SEGMENTS, 2, 1, 3>>(column, stream);
	}
}

static __global__ void
compare_words(const uint64_t *a, const uint64_t *b, uint64_t words, uint64_t *differences)
{
	uint64_t stride = (uint64_t) gridDim.x * blockDim.x;
	uint64_t count = 0;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < words; i += stride)
		count += a[i] != b[i];
	if (count > 0)
		atomic_add(differences, count);
}

GpuaggReason
count_differences(const uint64_t *a, const uint64_t *b, uint64_t words, uint64_t *differences,
				  GpuStreamRef stream)
{
	unsigned blocks = words < 256 * 512 ? (unsigned) divide_up(words, 256) : 512;

	if (blocks > 0)
		LAUNCH(compare_words, blocks, 256, stream, a, b, words, differences);
	return gpu_launch_status();
}
