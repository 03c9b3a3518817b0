/*
 * run.cuh
 *	  One run of a ladder algorithm: its scratch, its launches, its elements.
 *
 * The same code measures and runs: when measuring it only adds up scratch,
 * otherwise it launches.  Scratch must not depend on the device.
 *
 * An Element says what the values of a column are and how two of them combine:
 *
 *	State					what a thread holds
 *	identity()				neutral in combine
 *	combine(a, b)			associative; a stands before b
 *	SUBTRACTS				subtract(combine(a, b), b) is a, always
 *	load(values, i)			value i of a column as a State
 *	store(results, i, s)	a State as result i
 *	Partial, partial()		the Element of columns of States, stored unchanged
 *	last()					the Partial whose store() makes results
 */
#ifndef GPUAGG_LADDER_RUN_CUH
#define GPUAGG_LADDER_RUN_CUH

#include "device/device.cuh"
#include "ladder/ladder.h"

#define LADDER_THREADS 1024 /* the most that a block may have */

/* Blocks of one grid, at most; few on the simulated device, so that tests need several grids. */
#ifdef GPUAGG_SIM
#define LADDER_GRID UINT64_C(37)
#else
#define LADDER_GRID UINT64_C(0x7fffffff)
#endif

struct LadderRun
{
	GpuLadder ladder; /* threads is set */
	GpuStreamRef stream;
	bool measuring;
	size_t used; /* bytes of scratch */
};

/* Room for `count` values in scratch; not accessed while measuring. */
template <class T>
static inline T *
ladder_take(LadderRun *run, uint64_t count)
{
	size_t start = run->used;

	run->used += divide_up(count * sizeof(T), 256) * 256;
	return (T *) ((uintptr_t) run->ladder.scratch + start);
}

static inline unsigned
ladder_threads(const LadderRun *run)
{
	return (unsigned) run->ladder.threads;
}

/*
 * Launches so many blocks, in several grids if necessary.  The kernel's first
 * argument is the number of its grid's first block.
 */
#define LADDER_LAUNCH(run, kernel, blocks, threads, ...)                                    \
	do                                                                                      \
	{                                                                                       \
		uint64_t launch_blocks = (run)->measuring ? 0 : (uint64_t) (blocks);                \
                                                                                            \
		for (uint64_t first = 0; first < launch_blocks; first += LADDER_GRID)               \
		{                                                                                   \
			uint64_t left = launch_blocks - first;                                          \
                                                                                            \
			LAUNCH(kernel, (unsigned) (left < LADDER_GRID ? left : LADDER_GRID), (threads), \
				   (run)->stream, first, __VA_ARGS__);                                      \
		}                                                                                   \
	} while (0)

/* Number of this block among all blocks of its LADDER_LAUNCH. */
static __device__ __forceinline__ uint64_t
ladder_block(uint64_t first)
{
	return first + blockIdx.x;
}

/* Integers are added modulo 2^64. */
static __device__ __forceinline__ int64_t
ladder_add(int64_t a, int64_t b)
{
	return (int64_t) ((uint64_t) a + (uint64_t) b);
}

static __device__ __forceinline__ float
ladder_add(float a, float b)
{
	return a + b;
}

static __device__ __forceinline__ double
ladder_add(double a, double b)
{
	return a + b;
}

static __device__ __forceinline__ int64_t
ladder_subtract(int64_t a, int64_t b)
{
	return (int64_t) ((uint64_t) a - (uint64_t) b);
}

/* Sums of values of type V in type S. */
template <class V, class S> struct SumElement
{
	typedef S State;
	typedef SumElement<S, S> Partial;

	static constexpr bool SUBTRACTS = S(1) / S(2) == S(0); /* an integer */

	static __device__ __forceinline__ S identity()
	{
		return 0;
	}
	static __device__ __forceinline__ S combine(S a, S b)
	{
		return ladder_add(a, b);
	}
	static __device__ __forceinline__ S subtract(S a, S b)
	{
		return ladder_subtract(a, b);
	}
	__device__ __forceinline__ S load(const void *values, uint64_t i) const
	{
		return (S) ((const V *) values)[i];
	}
	__device__ __forceinline__ void store(void *results, uint64_t i, S s) const
	{
		((S *) results)[i] = s;
	}
	Partial partial() const
	{
		return Partial();
	}
	Partial last() const
	{
		return Partial();
	}
};

/*
 * Minima of order keys.  For maxima all bits of the keys are flipped, which reverses
 * their order.  The identity may be beyond the keys of the kind; it is stored as the
 * greatest (MAX: least) of them.
 */
struct LeastElement
{
	typedef int64_t State;
	typedef LeastElement Partial;

	static constexpr bool SUBTRACTS = false;

	int kind;
	int64_t flip; /* 0 or -1 */

	static __device__ __forceinline__ int64_t identity()
	{
		return INT64_MAX;
	}
	static __device__ __forceinline__ int64_t combine(int64_t a, int64_t b)
	{
		return b < a ? b : a;
	}
	__device__ __forceinline__ int64_t load(const void *values, uint64_t i) const
	{
		int64_t key;

		if (kind == GPUAGG_INT32)
			key = ((const int32_t *) values)[i];
		else if (kind == GPUAGG_INT64)
			key = ((const int64_t *) values)[i];
		else if (kind == GPUAGG_FLOAT32)
			key = gpuagg_order_key32(((const uint32_t *) values)[i]);
		else
			key = gpuagg_order_key64(((const uint64_t *) values)[i]);
		return key ^ flip;
	}
	__device__ __forceinline__ void store(void *results, uint64_t i, int64_t s) const
	{
		int64_t key = s ^ flip;

		if (kind == GPUAGG_INT32)
			((int64_t *) results)[i] = clamp(key, GPUAGG_INT32);
		else if (kind == GPUAGG_INT64)
			((int64_t *) results)[i] = key;
		else if (kind == GPUAGG_FLOAT32)
			((uint32_t *) results)[i] = gpuagg_order_bits32((int32_t) clamp(key, GPUAGG_FLOAT32));
		else
			((uint64_t *) results)[i] = gpuagg_order_bits64(clamp(key, GPUAGG_FLOAT64));
	}
	Partial partial() const
	{
		return {GPUAGG_INT64, 0};
	}
	Partial last() const
	{
		return *this;
	}

  private:
	static __device__ __forceinline__ int64_t clamp(int64_t key, int kind)
	{
		int64_t least = gpuagg_least_key(kind);
		int64_t greatest = gpuagg_greatest_key(kind);

		return key < least ? least : key > greatest ? greatest : key;
	}
};

/* Calls f(element) with the Element of the run's kind and operation. */
template <class F>
static inline void
ladder_with_element(const LadderRun *run, F f)
{
	int kind = run->ladder.kind;

	if (run->ladder.op != GPUAGG_SUM)
		f(LeastElement{kind, run->ladder.op == GPUAGG_MAX ? -1 : 0});
	else if (kind == GPUAGG_INT32)
		f(SumElement<int32_t, int64_t>());
	else if (kind == GPUAGG_INT64)
		f(SumElement<int64_t, int64_t>());
	else if (kind == GPUAGG_FLOAT32)
		f(SumElement<float, float>());
	else
		f(SumElement<double, double>());
}

/* The families of algorithms. */
extern void gpu_ladder_reduce_shared(LadderRun *run);
extern void gpu_ladder_reduce_global(LadderRun *run);
extern void gpu_ladder_reduce_shuffle(LadderRun *run);
extern void gpu_ladder_scan_global(LadderRun *run);
extern void gpu_ladder_scan_block(LadderRun *run);
extern void gpu_ladder_scan_warp(LadderRun *run);
extern void gpu_ladder_scan_hierarchical(LadderRun *run);

#endif /* GPUAGG_LADDER_RUN_CUH */
