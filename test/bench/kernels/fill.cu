/*
 * fill.cu
 *	  Columns for the kernel benchmark, and comparisons of results.
 */
#include "cuda/device/device.cuh"

#include "bench.h"

#define FILL_THREADS 256
#define FILL_BLOCKS	 1024

static __device__ uint64_t
thread_number()
{
	return (uint64_t) blockIdx.x * FILL_THREADS + threadIdx.x;
}

/* splitmix64, Steele, Lea and Flood, OOPSLA 2014 */
static __device__ uint64_t
random_bits(uint64_t seed, uint64_t i)
{
	uint64_t z = (seed + i) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* The sum of four numbers uniform in [-1/2, 1/2), a multiple of 2^-53. */
static __device__ double
ordinary(uint64_t seed, uint64_t i)
{
	double sum = 0;

	for (uint64_t k = 0; k < 4; k++)
		sum += (double) ((int64_t) random_bits(seed, 4 * i + k) >> 11) * 0x1p-53;
	return sum;
}

static __device__ double
finite(uint64_t bits)
{
	double v;

	if ((bits & INT64_MAX) >= GPUAGG_INFINITY64)
		bits &= ~(UINT64_C(1) << 62);
	memcpy(&v, &bits, sizeof(v));
	return v;
}

static __device__ void
make(int32_t *v, int, uint64_t seed, uint64_t i, uint64_t)
{
	*v = (int32_t) random_bits(seed, i);
}

static __device__ void
make(int64_t *v, int, uint64_t seed, uint64_t i, uint64_t)
{
	*v = (int64_t) random_bits(seed, i);
}

static __device__ void
make(double *v, int pattern, uint64_t seed, uint64_t i, uint64_t n)
{
	switch (pattern)
	{
		case ADVERSARIAL:
			*v = finite(random_bits(seed, i));
			break;
		case SPREAD_60:
			*v = ordinary(seed, i) / (double) (UINT64_C(1) << random_bits(~seed, i) % 61);
			break;
		case ZEROS:
			*v = random_bits(~seed, i) % 8 == 0 ? 0 : ordinary(seed, i);
			break;
		default:
			*v = pattern == SENTINEL && i == n / 2 ? 1e300 : ordinary(seed, i);
	}
}

static __device__ void
make(float *v, int pattern, uint64_t seed, uint64_t i, uint64_t n)
{
	double d;
	uint32_t bits = (uint32_t) random_bits(seed, i);

	if (pattern == ADVERSARIAL)
	{
		if ((bits & INT32_MAX) >= GPUAGG_INFINITY32)
			bits &= ~(UINT32_C(1) << 30);
		memcpy(v, &bits, sizeof(bits));
		return;
	}
	make(&d, pattern == SENTINEL ? ORDINARY : pattern, seed, i, n);
	*v = pattern == SENTINEL && i == n / 2 ? 1e38f : (float) d;
}

template <class T>
static __global__ void
values_kernel(T *values, int pattern, uint64_t n, uint64_t seed)
{
	for (uint64_t i = thread_number(); i < n; i += FILL_BLOCKS * FILL_THREADS)
		make(&values[i], pattern, seed, i, n);
}

template <class T>
static void
launch_values(Pattern pattern, uint64_t n, uint64_t seed, void *values)
{
	LAUNCH(values_kernel<T>, FILL_BLOCKS, FILL_THREADS, stream, (T *) values, pattern, n, seed);
	must(gpu_launch_status(), "fill_values");
}

void
fill_values(int kind, Pattern pattern, uint64_t n, uint64_t seed, void *values)
{
	switch (kind)
	{
		case GPUAGG_INT32:
			return launch_values<int32_t>(pattern, n, seed, values);
		case GPUAGG_INT64:
			return launch_values<int64_t>(pattern, n, seed, values);
		case GPUAGG_FLOAT32:
			return launch_values<float>(pattern, n, seed, values);
		default:
			return launch_values<double>(pattern, n, seed, values);
	}
}

template <class T>
static __global__ void
below_kernel(T *values, uint64_t below, uint64_t n, uint64_t seed)
{
	for (uint64_t i = thread_number(); i < n; i += FILL_BLOCKS * FILL_THREADS)
	{
		uint64_t bits = random_bits(seed, i);

		values[i] = (T) (below > 0 ? bits % below : bits);
	}
}

template <class T>
static void
launch_below(uint64_t below, uint64_t n, uint64_t seed, void *values)
{
	LAUNCH(below_kernel<T>, FILL_BLOCKS, FILL_THREADS, stream, (T *) values, below, n, seed);
	must(gpu_launch_status(), "fill_below");
}

void
fill_below(uint32_t width, uint64_t below, uint64_t n, uint64_t seed, void *values)
{
	switch (width)
	{
		case 1:
			return launch_below<uint8_t>(below, n, seed, values);
		case 2:
			return launch_below<uint16_t>(below, n, seed, values);
		case 4:
			return launch_below<uint32_t>(below, n, seed, values);
		case 8:
			return launch_below<uint64_t>(below, n, seed, values);
		default:
			return launch_below<uint64_t>(below, 2 * n, seed, values);
	}
}

static __device__ bool
is_head(int64_t shape, uint64_t seed, uint64_t i)
{
	switch (shape)
	{
		case SHAPE_NONE:
			return false;
		case SHAPE_RANDOM:
			return random_bits(seed, i) >> 58 == 0;
		case SHAPE_POWER_LAW:
			return random_bits(seed, i) >> (64 - 15) <
				   UINT64_C(1) << (15 - random_bits(~seed, i >> 16) % 16);
		default:
			return i % (uint64_t) shape == 0;
	}
}

static __global__ void
heads_kernel(int64_t shape, uint64_t n, uint64_t seed, uint64_t *heads)
{
	for (uint64_t w = thread_number(); w < divide_up(n, 64); w += FILL_BLOCKS * FILL_THREADS)
	{
		uint64_t bits = 0;

		for (uint64_t i = w * 64; i < w * 64 + 64 && i < n; i++)
			bits |= (uint64_t) is_head(shape, seed, i) << i % 64;
		heads[w] = bits;
	}
}

void
fill_heads(int64_t shape, uint64_t n, uint64_t seed, uint64_t *heads)
{
	LAUNCH(heads_kernel, FILL_BLOCKS, FILL_THREADS, stream, shape, n, seed, heads);
	must(gpu_launch_status(), "fill_heads");
}

static __global__ void
bits_kernel(uint64_t n, uint64_t seed, uint64_t *bits)
{
	for (uint64_t w = thread_number(); w < divide_up(n, 64); w += FILL_BLOCKS * FILL_THREADS)
		bits[w] = random_bits(seed, 3 * w) | random_bits(seed, 3 * w + 1) |
				  random_bits(seed, 3 * w + 2);
}

void
fill_bits(uint64_t n, uint64_t seed, uint64_t *bits)
{
	LAUNCH(bits_kernel, FILL_BLOCKS, FILL_THREADS, stream, n, seed, bits);
	must(gpu_launch_status(), "fill_bits");
}

static __global__ void
flags_kernel(const uint64_t *heads, uint64_t n, int32_t *flags)
{
	for (uint64_t i = thread_number(); i < n; i += FILL_BLOCKS * FILL_THREADS)
		flags[i] = (int32_t) (heads[i / 64] >> i % 64 & 1);
}

void
fill_head_flags(const uint64_t *heads, uint64_t n, int32_t *flags)
{
	LAUNCH(flags_kernel, FILL_BLOCKS, FILL_THREADS, stream, heads, n, flags);
	must(gpu_launch_status(), "fill_head_flags");
}

template <class T>
static __device__ bool
differ(T a, T b, double tolerance)
{
	double distance = (double) a - (double) b;

	return a != b && !(tolerance > 0 && distance <= tolerance && -distance <= tolerance);
}

template <class T>
static __global__ void
differences_kernel(uint64_t n, const T *a, int stride_a, const T *b, int stride_b, double tolerance,
				   uint64_t *count)
{
	uint64_t mine = 0;

	for (uint64_t i = thread_number(); i < n; i += FILL_BLOCKS * FILL_THREADS)
		mine += differ(a[i * (uint64_t) stride_a], b[i * (uint64_t) stride_b], tolerance);
	if (mine > 0)
		atomic_add(count, mine);
}

template <class T>
static void
launch_differences(uint64_t n, const void *a, int stride_a, const void *b, int stride_b,
				   double tolerance, uint64_t *count)
{
	LAUNCH(differences_kernel<T>, FILL_BLOCKS, FILL_THREADS, stream, n, (const T *) a, stride_a,
		   (const T *) b, stride_b, tolerance, count);
	must(gpu_launch_status(), "count_differences");
}

uint64_t
count_differences(int kind, uint64_t n, const void *a, int stride_a, const void *b, int stride_b,
				  double tolerance)
{
	DeviceMemory count(sizeof(uint64_t), true);
	uint64_t *device_count = (uint64_t *) count.p;
	uint64_t result;

	switch (kind)
	{
		case GPUAGG_INT32:
			launch_differences<int32_t>(n, a, stride_a, b, stride_b, tolerance, device_count);
			break;
		case GPUAGG_INT64:
			launch_differences<int64_t>(n, a, stride_a, b, stride_b, tolerance, device_count);
			break;
		case GPUAGG_FLOAT32:
			launch_differences<float>(n, a, stride_a, b, stride_b, tolerance, device_count);
			break;
		default:
			launch_differences<double>(n, a, stride_a, b, stride_b, tolerance, device_count);
	}
	must(gpu_copy_out(&result, count.p, sizeof(result), stream), "gpu_copy_out");
	finish();
	return result;
}

static __global__ void
mark_kernel()
{
}

void
mark()
{
	LAUNCH(mark_kernel, 1, WARP_SIZE, stream);
	must(gpu_launch_status(), "mark");
}
