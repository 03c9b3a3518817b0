/*
 * sim.h
 *	  The part of CUDA's device language that our kernels use, on the host.
 *
 * cuda/device.cuh includes this in place of <cuda_runtime.h> when GPUAGG_SIM is
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
 * Shared memory is poisoned before a block starts.  It shows neither weak
 * memory ordering nor speed.
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
};

extern Fiber *current;
extern Grid grid;
extern uint3 block_index(const Block *block);

extern void collective(Op op, unsigned mask, const void *in, void *out, size_t size, int arg,
					   Site site);
extern int barrier(Op op, int predicate, Site site);
extern void *shared_memory(size_t size, Site site);
extern void spin();
extern void progress();
extern void maybe_yield();

/* Runs body(arg) in every thread of the grid.  Serialised between callers. */
extern void run_grid(unsigned blocks, unsigned threads, void (*body)(void *), void *arg);

/* For tests: what fresh shared memory holds, and the order of resumption. */
extern void set_poison(int byte);
extern int get_poison();
extern void set_order(Order order, uint64_t seed);

/* What the simulated device looks like to code that chooses a grid. */
constexpr unsigned MULTIPROCESSORS = 4;
constexpr unsigned BLOCKS_PER_MULTIPROCESSOR = 2;

template <class F>
void
launch(unsigned blocks, unsigned threads, F body)
{
	run_grid(
		blocks, threads,
		[](void *arg) {
			(*static_cast<F *>(arg))();
		},
		&body);
}

template <class T>
T
shuffle(Op op, unsigned mask, T value, int arg, Site site)
{
	T result;

	collective(op, mask, &value, &result, sizeof(T), arg, site);
	return result;
}

inline unsigned
ballot(unsigned mask, int predicate, Site site)
{
	unsigned result;

	collective(OP_BALLOT, mask, nullptr, &result, sizeof(result), predicate != 0, site);
	return result;
}

} // namespace sim

#define SIM_SITE				   (sim::Site{__FILE__, __LINE__})

#define threadIdx				   (sim::current->thread)
#define blockIdx				   (sim::block_index(sim::current->block))
#define blockDim				   (sim::grid.block_dim)
#define gridDim					   (sim::grid.dim)

#define __syncthreads()			   ((void) sim::barrier(sim::OP_BARRIER, 0, SIM_SITE))
#define __syncthreads_or(p)		   sim::barrier(sim::OP_BARRIER_OR, (p), SIM_SITE)
#define __syncwarp(mask)		   sim::collective(sim::OP_SYNCWARP, (mask), nullptr, nullptr, 0, 0, SIM_SITE)
#define __ballot_sync(mask, p)	   sim::ballot((mask), (p), SIM_SITE)
#define __any_sync(mask, p)		   (sim::ballot((mask), (p), SIM_SITE) != 0)
#define __all_sync(mask, p)		   (sim::ballot((mask), !(p), SIM_SITE) == 0)
#define __shfl_sync(mask, v, lane) sim::shuffle(sim::OP_SHFL, (mask), (v), (int) (lane), SIM_SITE)
#define __shfl_up_sync(mask, v, n) sim::shuffle(sim::OP_SHFL_UP, (mask), (v), (int) (n), SIM_SITE)
#define __shfl_down_sync(mask, v, n) \
	sim::shuffle(sim::OP_SHFL_DOWN, (mask), (v), (int) (n), SIM_SITE)
#define __shfl_xor_sync(mask, v, n) sim::shuffle(sim::OP_SHFL_XOR, (mask), (v), (int) (n), SIM_SITE)
#define __threadfence()				__asm__ __volatile__("" ::: "memory")

#endif /* GPUAGG_SIM_H */
