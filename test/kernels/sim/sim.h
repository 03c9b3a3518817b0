/*
 * sim.h
 *	  The part of CUDA's device language that our kernels use, on the host.
 *
 * cuda/device/device.cuh includes this in place of <cuda_runtime.h> when GPUAGG_SIM is
 * defined; g++ then compiles the very same kernel source.  A launch runs one
 * fiber per thread and returns when the grid has ended.  The rules it enforces,
 * by a message on stderr and abort():
 *
 * - a block barrier is reached by every thread of the block, at one place in
 *   the source, and by none that has exited;
 * - a warp collective is reached by exactly the lanes in its mask, all with the
 *   same mask, kind and place, and reads only lanes in that mask;
 * - a spin loop (spin_wait) makes progress possible;
 * - shared memory is asked for once per thread, and not overrun.
 *
 * Shared memory is poisoned before a block starts.  Weak memory ordering and speed
 * are not simulated.
 */
#ifndef GPUAGG_SIM_H
#define GPUAGG_SIM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

struct uint3
{
	unsigned x, y, z;
};

namespace sim
{

enum Op
{
	OP_NONE,
	OP_SYNCWARP,
	OP_BALLOT,
	OP_SHFL,
	OP_SHFL_UP,
	OP_SHFL_DOWN,
	OP_SHFL_XOR,
	OP_REDUCE,
	OP_BARRIER,
	OP_BARRIER_OR
};

/* Order in which lanes, warps and blocks are resumed. */
enum Order
{
	ORDER_MIXED, /* random, and reversed in every fourth launch */
	ORDER_RANDOM,
	ORDER_REVERSED
};

struct Site
{
	const char *file;
	int line;
};

struct Block;

typedef void (*Combine)(void *total, const void *value);

/* One thread's part in a collective that has not been completed yet. */
struct Pending
{
	Op op;
	unsigned mask;
	Site site;
	const void *in;
	void *out;
	size_t size;
	int arg;
	int width;
	Combine combine;
};

struct Fiber
{
	uint3 thread;
	Block *block;
	int warp;
	int lane;
	int asked_shared;
	Pending pending;
};

struct Grid
{
	uint3 dim;
	uint3 block_dim;
	size_t dynamic_shared; /* bytes that the launch gives to SHARED_LARGE */
};

extern Fiber *current;
extern Grid grid;
extern uint3 block_index(const Block *block);

/* The part's out, in and the like stay valid until the collective is complete. */
extern void collective(const Pending &part);
extern int barrier(Op op, int predicate, Site site);
extern void *shared_memory(size_t size, bool dynamic, Site site);
extern void spin(Site site);
extern void progress();
extern void maybe_yield();

/* Runs body(arg) in every thread of the grid.  Serialised between callers. */
extern void run_grid(unsigned blocks, unsigned threads, size_t dynamic_shared, void (*body)(void *),
					 void *arg);

/* For tests: what fresh shared memory holds, and the order of resumption. */
extern void set_poison(int byte);
extern int get_poison();
extern void set_order(Order order, uint64_t seed);

/* Warp collectives that have been completed so far, in all launches. */
extern uint64_t collectives_completed();

/* What the simulated device looks like to code that chooses a grid. */
constexpr unsigned MULTIPROCESSORS = 4;
constexpr unsigned BLOCKS_PER_MULTIPROCESSOR = 2;

template <class F>
void
launch(unsigned blocks, unsigned threads, size_t dynamic_shared, F body)
{
	run_grid(
		blocks, threads, dynamic_shared,
		[](void *arg) {
			(*static_cast<F *>(arg))();
		},
		&body);
}

inline void
sync_warp(Site site, unsigned mask = 0xffffffffu)
{
	collective({OP_SYNCWARP, mask, site, nullptr, nullptr, 0, 0, 0, nullptr});
}

template <class T>
T
shuffle(Op op, Site site, unsigned mask, T value, int arg, int width = 32)
{
	T result;

	collective({op, mask, site, &value, &result, sizeof(T), arg, width, nullptr});
	return result;
}

inline unsigned
ballot(unsigned mask, int predicate, Site site)
{
	unsigned result;

	collective(
		{OP_BALLOT, mask, site, nullptr, &result, sizeof(result), predicate != 0, 0, nullptr});
	return result;
}

template <class T>
T
reduce(unsigned mask, T value, Combine combine, Site site)
{
	T result;

	static_assert(sizeof(T) == 4, "the hardware reduces 32-bit integers");
	collective({OP_REDUCE, mask, site, &value, &result, sizeof(T), 0, 0, combine});
	return result;
}

template <class T>
void
combine_add(void *total, const void *value)
{
	*static_cast<unsigned *>(total) += *static_cast<const unsigned *>(value);
}

template <class T>
void
combine_min(void *total, const void *value)
{
	const T *v = static_cast<const T *>(value);
	T *t = static_cast<T *>(total);

	*t = *v < *t ? *v : *t;
}

template <class T>
void
combine_max(void *total, const void *value)
{
	const T *v = static_cast<const T *>(value);
	T *t = static_cast<T *>(total);

	*t = *v > *t ? *v : *t;
}

} // namespace sim

inline int
__popc(unsigned v)
{
	return __builtin_popcount(v);
}

inline int
__popcll(unsigned long long v)
{
	return __builtin_popcountll(v);
}

inline int
__clz(int v)
{
	return v == 0 ? 32 : __builtin_clz((unsigned) v);
}

inline int
__clzll(long long v)
{
	return v == 0 ? 64 : __builtin_clzll((unsigned long long) v);
}

inline double
__fma_rn(double a, double b, double c)
{
	return __builtin_fma(a, b, c);
}

/* Halves are moved, not computed with. */
struct __half
{
	uint16_t bits;
};

struct __half2
{
	__half x, y;
};

#define SIM_SITE				(sim::Site{__FILE__, __LINE__})

#define threadIdx				(sim::current->thread)
#define blockIdx				(sim::block_index(sim::current->block))
#define blockDim				(sim::grid.block_dim)
#define gridDim					(sim::grid.dim)

#define __syncthreads()			((void) sim::barrier(sim::OP_BARRIER, 0, SIM_SITE))
#define __syncthreads_or(p)		sim::barrier(sim::OP_BARRIER_OR, (p), SIM_SITE)
#define __syncwarp(...)			sim::sync_warp(SIM_SITE, ##__VA_ARGS__)
#define __ballot_sync(mask, p)	sim::ballot((mask), (p), SIM_SITE)
#define __any_sync(mask, p)		(sim::ballot((mask), (p), SIM_SITE) != 0)
#define __all_sync(mask, p)		(sim::ballot((mask), !(p), SIM_SITE) == 0)
#define __shfl_sync(...)		sim::shuffle(sim::OP_SHFL, SIM_SITE, __VA_ARGS__)
#define __shfl_up_sync(...)		sim::shuffle(sim::OP_SHFL_UP, SIM_SITE, __VA_ARGS__)
#define __shfl_down_sync(...)	sim::shuffle(sim::OP_SHFL_DOWN, SIM_SITE, __VA_ARGS__)
#define __shfl_xor_sync(...)	sim::shuffle(sim::OP_SHFL_XOR, SIM_SITE, __VA_ARGS__)
#define __reduce_add_sync(m, v) sim::reduce((m), (v), sim::combine_add<decltype(v)>, SIM_SITE)
#define __reduce_min_sync(m, v) sim::reduce((m), (v), sim::combine_min<decltype(v)>, SIM_SITE)
#define __reduce_max_sync(m, v) sim::reduce((m), (v), sim::combine_max<decltype(v)>, SIM_SITE)
#define __threadfence()			__asm__ __volatile__("" ::: "memory")

#endif /* GPUAGG_SIM_H */
