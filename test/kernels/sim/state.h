/*
 * state.h
 *	  State of the simulated device, as its scheduler and collectives share it.
 *
 * All of it belongs to the running launch; there is one at a time.
 */
#ifndef GPUAGG_SIM_STATE_H
#define GPUAGG_SIM_STATE_H

#include <stdio.h>
#include <stdlib.h>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#include "sim.h"

namespace sim
{

constexpr unsigned WARP = 32;
constexpr unsigned MAX_THREADS = 1024;
constexpr unsigned MAX_WARPS = MAX_THREADS / WARP;
constexpr unsigned RESIDENT = MULTIPROCESSORS * BLOCKS_PER_MULTIPROCESSOR;
constexpr size_t STATIC_SHARED_BYTES = 48 * 1024;
constexpr size_t SHARED_BYTES = 227 * 1024;
constexpr size_t SHARED_GUARD = 256;
constexpr size_t SHARED_ALIGN = 128;
static_assert(SHARED_BYTES % SHARED_ALIGN == 0 && SHARED_GUARD % SHARED_ALIGN == 0,
			  "all blocks' shared memory is aligned");

/*
 * Saved execution state.  On x86-64 it is a stack pointer, under which the
 * callee-saved registers lie.
 */
struct Context
{
#if defined(__x86_64__)
	void *sp;
#else
	ucontext_t uc;
#endif
#if defined(__SANITIZE_ADDRESS__)
	void *fake_stack;
	const void *bottom;
	size_t size;
#endif
#if defined(__SANITIZE_THREAD__)
	void *tsan;
#endif
};

/* A Fiber and its stack. */
struct Thread : Fiber
{
	Context context;
	char *stack;
};

struct Warp
{
	unsigned members;
	unsigned runnable;
	unsigned spinning;
	unsigned whole;	  /* lanes waiting in a collective of all members */
	unsigned partial; /* lanes waiting in one of fewer */
	unsigned at_barrier;
	unsigned exited;
};

struct Block
{
	uint3 index;
	unsigned runnable; /* warps with a runnable lane */
	unsigned nexited;
	unsigned narrived;
	int barrier_or;
	Pending barrier;
	size_t shared_size;
	char *shared;
	Warp warps[MAX_WARPS];
	Thread threads[MAX_THREADS];
};

extern uint64_t nprogress; /* grows when something happens that a spinning thread may see */
extern int poison;

/* Ends the program after a message that says where. */
[[noreturn]] extern void fail_at(Site site);

#define FAIL(site, ...)                 \
	do                                  \
	{                                   \
		fprintf(stderr, "simulator: "); \
		fprintf(stderr, __VA_ARGS__);   \
		fail_at(site);                  \
	} while (0)

extern void set_runnable(Block *block, int warp, unsigned lanes);

/* Lets others run until set_runnable() has named the running fiber. */
extern void wait_runnable();

} // namespace sim

#endif /* GPUAGG_SIM_STATE_H */
