/*
 * device_sim.cuh
 *	  What kernels see of the device, on the simulator.
 *
 * Included by device.cuh alone; its twin declares the same.
 */
#ifndef GPUAGG_DEVICE_SIM_CUH
#define GPUAGG_DEVICE_SIM_CUH

#include <vector>

#define GRID_CONSTANT
#define SHARED(Type, name) \
	Type &name = *static_cast<Type *>(sim::shared_memory(sizeof(Type), false, SIM_SITE))
#define SHARED_LARGE(Type, name) \
	Type &name = *static_cast<Type *>(sim::shared_memory(sizeof(Type), true, SIM_SITE))

#define SHARED_BYTES(name)                              \
	unsigned char *name = static_cast<unsigned char *>( \
		sim::shared_memory(sim::grid.dynamic_shared, true, SIM_SITE))

#define LAUNCH_LARGE(kernel, grid, block, bytes, stream, ...)     \
	((void) (stream), sim::launch((grid), (block), (bytes), [=] { \
		 (kernel)(__VA_ARGS__);                                   \
	 }))

#define LAUNCH_EARLY LAUNCH_LARGE

static inline void
launched_early()
{
}

static inline void
prefetch_l2(const void *)
{
}

template <class T>
static inline const T *
global_memory(const T *p)
{
	return p;
}

template <class Kernel>
static inline unsigned
resident_blocks(Kernel, int, size_t = 0)
{
	return sim::MULTIPROCESSORS * sim::BLOCKS_PER_MULTIPROCESSOR;
}

/* Whether the device has fewer than half as many double as float operations. */
static inline bool
slow_doubles()
{
	return false;
}

/* Alternates, so that tests see both. */
template <auto>
static inline bool
large_shared()
{
	static bool large;

	large = !large;
	return large;
}

/* The place of the waiting loop, for the simulator's messages. */
#define WAITER const char *file = __builtin_FILE(), int line = __builtin_LINE()

static inline void
spin_wait(WAITER)
{
	sim::spin({file, line});
}

/* For waits of about a microsecond: without sleeping. */
static inline void
spin_wait_short(WAITER)
{
	sim::spin({file, line});
}

template <class T>
static inline T
load_relaxed(const T *p)
{
	sim::maybe_yield();
	return *p;
}

template <class T>
static inline T
load_acquire(const T *p)
{
	sim::maybe_yield();
	return *p;
}

template <class T>
static inline void
store_relaxed(T *p, T value)
{
	sim::maybe_yield();
	*p = value;
	sim::progress();
}

template <class T>
static inline void
store_release(T *p, T value)
{
	sim::maybe_yield();
	*p = value;
	sim::progress();
}

template <class T>
static inline T
atomic_add(T *p, T value)
{
	T old;

	sim::maybe_yield();
	old = *p;
	*p = (T) (old + value);
	sim::progress();
	return old;
}

template <class T>
static inline T
compare_and_swap(T *p, T from, T to)
{
	T old;

	sim::maybe_yield();
	old = *p;
	if (old == from)
		*p = to;
	sim::progress();
	return old;
}

static inline uint64_t
atomic_cas(uint64_t *p, uint64_t from, uint64_t to)
{
	return compare_and_swap(p, from, to);
}

static inline uint32_t
atomic_cas_acquire(uint32_t *p, uint32_t from, uint32_t to)
{
	return compare_and_swap(p, from, to);
}

static inline void
atomic_max(uint64_t *p, uint64_t value)
{
	sim::maybe_yield();
	if (value > *p)
		*p = value;
	sim::progress();
}

static inline void
atomic_set_release(uint64_t *p, uint64_t value)
{
	store_release(p, value);
}

static inline uint64_t
load_shared(const uint64_t *p)
{
	return load_relaxed(p);
}

template <class T>
static inline T
atomic_add_ordered(T *p, T value)
{
	return atomic_add(p, value);
}

/*
 * Copies are made only after a thread has waited for some time: without a wait the
 * old contents are read, and a wait for the wrong phase returns too early.
 */
struct CopyBarrier
{
	uint32_t phase;
	uint32_t count;
	uint32_t missing; /* arrivals */
	uint32_t bytes;	  /* that are still to come */
	uint32_t copies;  /* under way */
	uint32_t looks;
};

struct SimCopy
{
	CopyBarrier *barrier;
	void *to;
	const void *from;
	uint32_t bytes;
};

/* Copies under way, of all barriers. */
inline std::vector<SimCopy> &
sim_copies()
{
	static std::vector<SimCopy> copies;

	return copies;
}

/* Takes out a copy of the barrier; `bytes` 0: there is none. */
static inline SimCopy
sim_take_copy(CopyBarrier *barrier)
{
	std::vector<SimCopy> &copies = sim_copies();
	SimCopy copy = {};

	for (size_t i = copies.size(); i > 0 && copy.bytes == 0; i--)
		if (copies[i - 1].barrier == barrier)
		{
			copy = copies[i - 1];
			copies.erase(copies.begin() + (long) i - 1);
		}
	return copy;
}

static inline void
copy_barrier_init(CopyBarrier *barrier, uint32_t count = 1)
{
	while (sim_take_copy(barrier).bytes > 0)
		; /* left by a launch that failed */
	*barrier = {0, count, count, 0, 0, 0};
}

static inline void
copy_barrier_check(CopyBarrier *barrier)
{
	if (barrier->missing == 0 && barrier->bytes == 0)
	{
		barrier->missing = barrier->count;
		barrier->phase++;
	}
	sim::progress();
}

static inline void
copy_barrier_arrive(CopyBarrier *barrier)
{
	assert(barrier->missing > 0);
	barrier->missing--;
	copy_barrier_check(barrier);
}

static inline void
copy_expect(CopyBarrier *barrier, uint32_t bytes)
{
	barrier->bytes += bytes;
	copy_barrier_arrive(barrier);
}

static inline void
copy_start(CopyBarrier *barrier, void *to, const void *from, uint32_t bytes)
{
	assert(((uintptr_t) to | (uintptr_t) from | bytes) % 16 == 0 && bytes > 0);
	assert(bytes <= barrier->bytes);
	sim_copies().push_back({barrier, to, from, bytes});
	barrier->copies++;
	barrier->looks = 0;
}

static inline void
copy_in(CopyBarrier *barrier, void *to, const void *from, uint32_t bytes)
{
	assert(barrier->copies == 0);
	copy_expect(barrier, bytes);
	copy_start(barrier, to, from, bytes);
}

static inline void
copy_barrier_wait(CopyBarrier *barrier, uint32_t parity, WAITER)
{
	constexpr uint32_t LOOKS = 50;

	while ((barrier->phase & 1) == parity)
	{
		if (barrier->copies > 0 && ++barrier->looks > LOOKS)
		{
			SimCopy copy = sim_take_copy(barrier);

			memcpy(copy.to, copy.from, copy.bytes);
			barrier->copies--;
			barrier->bytes -= copy.bytes;
			copy_barrier_check(barrier);
		}
		else
		{
			if (barrier->copies > 0)
				sim::progress();
			spin_wait(file, line);
		}
	}
}

static inline void
copy_out_fence()
{
}

static inline void
copy_out(void *to, const void *from, uint32_t bytes)
{
	assert(((uintptr_t) to | (uintptr_t) from | bytes) % 16 == 0);
	memcpy(to, from, bytes);
}

template <int N>
static inline void
copy_out_wait()
{
}

/* A shuffle takes any trivially copyable value, in one meeting of the lanes. */
template <class T>
static inline T
warp_shfl(T value, int lane, int width = WARP_SIZE, unsigned mask = FULL_MASK)
{
	return __shfl_sync(mask, value, lane, width);
}

template <class T>
static inline T
warp_shfl_up(T value, int delta, int width = WARP_SIZE, unsigned mask = FULL_MASK)
{
	return __shfl_up_sync(mask, value, delta, width);
}

template <class T>
static inline T
warp_shfl_down(T value, int delta, int width = WARP_SIZE, unsigned mask = FULL_MASK)
{
	return __shfl_down_sync(mask, value, delta, width);
}

template <class T>
static inline T
warp_shfl_xor(T value, int lane_bits, int width = WARP_SIZE, unsigned mask = FULL_MASK)
{
	return __shfl_xor_sync(mask, value, lane_bits, width);
}

#endif /* GPUAGG_DEVICE_SIM_CUH */
