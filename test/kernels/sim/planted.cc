/*
 * planted.cc
 *	  Kernels with one mistake each: the simulator must see it.
 *
 * Each runs in a child process.  A mistake is seen when the child aborts with
 * the expected words, or when its results depend on the order of resumption or
 * on what fresh shared memory holds.  Kernels without a mistake must pass.
 */
#include "cuda/device/block.cuh"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
extern "C" const char *
__asan_default_options()
{
	return "abort_on_error=1";
}
#endif

#define THREADS 96
#define BLOCKS	20
#define NRUNS	40

namespace
{

struct Storage
{
	int value[THREADS];
};

typedef std::vector<int> Output;

template <class Kernel>
Output
run(Kernel kernel, unsigned blocks = BLOCKS, unsigned threads = THREADS)
{
	Output out(BLOCKS * THREADS + 1, 0);
	int *p = out.data();
	GpuStreamRef stream = nullptr;

	LAUNCH(kernel, blocks, threads, stream, p);
	return out;
}

unsigned
global_id()
{
	return blockIdx.x * blockDim.x + threadIdx.x;
}

/*
 * Without a mistake
 */
__global__ void
reversed_in_block(int *out)
{
	SHARED(Storage, shared);

	shared.value[threadIdx.x] = (int) global_id();
	__syncthreads();
	out[global_id()] = shared.value[blockDim.x - 1 - threadIdx.x];
}

__global__ void
half_warps(int *out)
{
	unsigned half = threadIdx.x % 32 < 16 ? 0xffffu : 0xffff0000u;
	int sum = (int) threadIdx.x;

	/* the branches may meet in any order; each mask is complete in itself */
	if (threadIdx.x % 32 < 16)
		sum += __shfl_xor_sync(half, sum, 8);
	else
		sum += __shfl_xor_sync(half, sum, 4);
	__syncwarp(FULL_MASK);
	out[global_id()] = sum + (int) __ballot_sync(FULL_MASK, threadIdx.x % 3 == 0);
}

/* Blocks wait for the one before: the ticket says which that is, as in a look-back. */
__global__ void
chained(int *out)
{
	SHARED(Storage, shared);
	unsigned *ticket = (unsigned *) &out[BLOCKS * THREADS];
	unsigned *slots = (unsigned *) out;

	if (threadIdx.x == 0)
	{
		unsigned mine = atomic_add(ticket, 1u);
		unsigned before = 0;

		if (mine > 0)
			while ((before = load_acquire(&slots[(mine - 1) * THREADS])) == 0)
				spin_wait();
		store_release(&slots[mine * THREADS], before + 1);
		shared.value[0] = (int) mine;
	}
	__syncthreads();
	if (threadIdx.x > 0)
		out[(unsigned) shared.value[0] * THREADS + threadIdx.x] = shared.value[0];
}

/* x -> mul * x + add; combine(a, b) is first a, then b: associative, not commutative. */
struct Map
{
	uint32_t mul;
	uint32_t add;
};

struct MapOp
{
	typedef Map State;

	static Map identity()
	{
		return {1, 0};
	}

	static Map combine(Map a, Map b)
	{
		return {a.mul * b.mul, b.mul * a.add + b.add};
	}
};

struct SwappedMapOp : MapOp
{
	static Map combine(Map a, Map b)
	{
		return MapOp::combine(b, a);
	}
};

Map
map_of(unsigned i)
{
	return {2 * i + 3, i * i + 1};
}

template <class Op>
__global__ void
scan_of_maps(int *out)
{
	typedef BlockScan<Op, THREADS> Scan;

	SHARED(typename Scan::Storage, shared);
	Map total;
	Map before = Scan::exclusive(map_of(threadIdx.x), shared, &total);
	Map all = Scan::reduce(map_of(threadIdx.x), shared);

	out[global_id()] = (int) (before.mul ^ before.add ^ total.add ^ all.mul);
}

/* What scan_of_maps<MapOp> has to leave. */
Output
maps_in_sequence()
{
	Output out(BLOCKS * THREADS + 1, 0);
	Map before = MapOp::identity();
	Map all = MapOp::identity();

	for (unsigned i = 0; i < THREADS; i++)
		all = MapOp::combine(all, map_of(i));
	for (unsigned i = 0; i < THREADS; i++)
	{
		for (unsigned block = 0; block < BLOCKS; block++)
			out[block * THREADS + i] = (int) (before.mul ^ before.add ^ all.add ^ all.mul);
		before = MapOp::combine(before, map_of(i));
	}
	return out;
}

/*
 * With one
 */
__global__ void
missing_barrier(int *out)
{
	SHARED(Storage, shared);

	shared.value[threadIdx.x] = 1;
	__syncthreads();
	shared.value[threadIdx.x] = (int) global_id();
	out[global_id()] = shared.value[(threadIdx.x + 1) % blockDim.x];
}

__global__ void
missing_warp_barrier(int *out)
{
	SHARED(Storage, shared);

	shared.value[threadIdx.x] = 1;
	__syncwarp(FULL_MASK);
	shared.value[threadIdx.x] += (int) threadIdx.x;
	out[global_id()] = shared.value[threadIdx.x ^ 1];
}

__global__ void
divergent_barrier(int *)
{
	if (threadIdx.x < 32)
		__syncthreads();
	else
		__syncthreads();
}

__global__ void
barrier_of_some(int *)
{
	if (threadIdx.x != 5)
		__syncthreads();
	if (threadIdx.x == 5)
		__syncwarp(1u << 5);
}

__global__ void
return_before_barrier(int *out)
{
	if (threadIdx.x >= 70)
		return;
	__syncthreads();
	out[global_id()] = 1;
}

__global__ void
mask_lacks_caller(int *out)
{
	out[global_id()] = __shfl_sync(0x7fffffffu, (int) threadIdx.x, 0);
}

__global__ void
mask_of_other_lanes(int *out)
{
	/* warpSize - 1 is no mask of all lanes */
	out[global_id()] = __shfl_down_sync(31u, (int) threadIdx.x, 1);
}

__global__ void
masks_differ(int *out)
{
	unsigned mask = threadIdx.x % 2 ? FULL_MASK : 0x55555557u;

	out[global_id()] = __shfl_sync(mask, (int) threadIdx.x, 0);
}

__global__ void
missing_lane(int *out)
{
	if (threadIdx.x % 32 != 7)
		out[global_id()] = __shfl_sync(FULL_MASK, 1, 0);
}

__global__ void
lane_at_barrier(int *out)
{
	if (threadIdx.x % 32 == 7)
		__syncthreads();
	else
		out[global_id()] = __shfl_sync(FULL_MASK, 1, 0);
	__syncthreads();
}

__global__ void
different_collectives(int *out)
{
	if (threadIdx.x % 2)
		out[global_id()] = __shfl_sync(FULL_MASK, 1, 0);
	else
		out[global_id()] = __any_sync(FULL_MASK, 1);
}

__global__ void
reads_outside_mask(int *out)
{
	if (threadIdx.x % 32 < 16)
		out[global_id()] = __shfl_sync(0xffffu, 1, 20);
}

__global__ void
short_warp(int *out)
{
	out[global_id()] = __shfl_sync(FULL_MASK, 1, 0);
}

__global__ void
uninitialised_shared(int *out)
{
	SHARED(Storage, shared);

	if (threadIdx.x > 0)
		shared.value[threadIdx.x] = 3;
	__syncthreads();
	out[global_id()] = shared.value[threadIdx.x];
}

/* Device memory that nothing has been written to. */
int *fresh;

__global__ void
uninitialised_device(int *out)
{
	out[global_id()] = fresh[threadIdx.x];
}

__global__ void
device_overrun(int *)
{
	fresh[threadIdx.x + 1] = 7;
}

#ifdef __SANITIZE_ADDRESS__
__global__ void
device_read_past(int *out)
{
	out[global_id()] = fresh[threadIdx.x + 1];
}
#endif

__global__ void
shared_overrun(int *out)
{
	SHARED(Storage, shared);
	volatile int past = THREADS;

	shared.value[past] = (int) threadIdx.x;
	out[global_id()] = 1;
}

__global__ void
shared_twice(int *out)
{
	SHARED(Storage, first);

	first.value[threadIdx.x] = 1;
	SHARED(Storage, second);
	out[global_id()] = second.value[threadIdx.x];
}

__global__ void
spins_for_nobody(int *out)
{
	while (load_relaxed(&out[BLOCKS * THREADS]) == 0)
		spin_wait();
}

/* The last thread to come releases the others; its block never becomes resident. */
__global__ void
waits_for_later_block(int *out)
{
	if (atomic_add(&out[0], 1) == (int) (gridDim.x * blockDim.x) - 1)
		store_release(&out[BLOCKS * THREADS], 1);
	while (load_acquire(&out[BLOCKS * THREADS]) == 0)
		spin_wait();
}

/* A look-back in which one block forgets to publish. */
__global__ void
missing_publish(int *out)
{
	unsigned *ticket = (unsigned *) &out[BLOCKS * THREADS];
	unsigned *slots = (unsigned *) out;

	if (threadIdx.x == 0)
	{
		unsigned mine = atomic_add(ticket, 1u);
		unsigned before = 0;

		if (mine > 0)
			while ((before = load_acquire(&slots[mine - 1])) == 0)
				spin_wait();
		if (mine != BLOCKS / 2)
			store_release(&slots[mine], before + 1);
	}
}

/* A look-back whose tiles are blocks: nothing says that the one before has begun. */
__global__ void
tile_from_block_index(int *out)
{
	unsigned *slots = (unsigned *) out;

	if (threadIdx.x == 0)
	{
		unsigned before = 0;

		if (blockIdx.x > 0)
			while ((before = load_acquire(&slots[blockIdx.x - 1])) == 0)
				spin_wait();
		store_release(&slots[blockIdx.x], before + 1);
	}
}

__global__ void
more_shared_than_given(int *out)
{
	SHARED_LARGE(Storage, shared);

	shared.value[threadIdx.x] = 1;
	out[global_id()] = shared.value[threadIdx.x];
}

__global__ void
width_of_no_group(int *out)
{
	out[global_id()] = warp_shfl(1, 0, 12);
}

__global__ void
lost_update(int *out)
{
	int old = load_relaxed(&out[0]);

	store_release(&out[0], old + 1);
}

int npassed;
int nfailed;

void
report(bool passed, const char *name, const char *why)
{
	if (passed)
		npassed++;
	else
	{
		nfailed++;
		printf("failed: %s: %s\n", name, why);
	}
}

/* Device memory of one int for each thread of a block, poisoned. */
void
allocate_fresh()
{
	if (gpu_malloc((void **) &fresh, THREADS * sizeof(int)) != GPUAGG_OK)
	{
		printf("no simulated device memory\n");
		exit(1);
	}
}

/* The child's messages; *aborted: it ended by abort(). */
template <class F>
std::string
in_child(F f, bool *aborted)
{
	int pipe_fds[2];
	std::string messages;
	char buffer[512];
	ssize_t got;
	int status;
	pid_t child;

	if (pipe(pipe_fds) != 0 || (child = fork()) < 0)
	{
		perror("sim_test");
		exit(1);
	}
	if (child == 0)
	{
		dup2(pipe_fds[1], 2);
		close(pipe_fds[0]);
		alarm(60);
		f();
		_exit(0);
	}
	close(pipe_fds[1]);
	while ((got = read(pipe_fds[0], buffer, sizeof(buffer))) > 0)
		messages.append(buffer, (size_t) got);
	close(pipe_fds[0]);
	if (waitpid(child, &status, 0) != child)
		perror("sim_test");
	*aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
	return messages;
}

template <class Kernel>
void
must_abort(const char *name, Kernel kernel, const char *words, unsigned threads = THREADS)
{
	for (int i = 0; i < 4; i++)
	{
		bool aborted;
		std::string messages = in_child(
			[&] {
				sim::set_order(i % 2 ? sim::ORDER_REVERSED : sim::ORDER_RANDOM, (uint64_t) i);
				allocate_fresh();
				run(kernel, BLOCKS, threads);
				gpu_free(fresh);
			},
			&aborted);

		/* the address sanitizer may be first to see it */
		report(aborted && (messages.find(words) != std::string::npos ||
						   messages.find("use-after-poison") != std::string::npos),
			   name, messages.empty() ? "not seen" : messages.c_str());
	}
}

/* All results of NRUNS runs in different orders, two patterns each. */
template <class Kernel>
bool
always_same(Kernel kernel)
{
	Output first;

	for (int i = 0; i < NRUNS; i++)
	{
		sim::set_order(i % 4 == 3 ? sim::ORDER_REVERSED : sim::ORDER_RANDOM, (uint64_t) i);
		sim::set_poison(i % 2 ? 0x3c : 0xa5);
		allocate_fresh();
		Output out = run(kernel);

		gpu_free(fresh);
		if (i == 0)
			first = out;
		else if (out != first)
			return false;
	}
	return true;
}

} // namespace

int
main()
{
	report(always_same(reversed_in_block), "reversed_in_block", "results differ");
	report(always_same(half_warps), "half_warps", "results differ");
	report(always_same(chained), "chained", "results differ");
	report(always_same(scan_of_maps<MapOp>), "scan_of_maps", "results differ");
	report(run(scan_of_maps<MapOp>) == maps_in_sequence(), "scan_of_maps", "wrong");

	report(run(scan_of_maps<SwappedMapOp>) != maps_in_sequence(), "swapped operator", "not seen");

	report(!always_same(missing_barrier), "missing_barrier", "not seen");
	report(!always_same(missing_warp_barrier), "missing_warp_barrier", "not seen");
	report(!always_same(uninitialised_shared), "uninitialised_shared", "not seen");
	report(!always_same(uninitialised_device), "uninitialised_device", "not seen");
	report(!always_same(lost_update), "lost_update", "not seen");

	must_abort("divergent_barrier", divergent_barrier, "different barriers");
	must_abort("barrier_of_some", barrier_of_some, "barrier");
	must_abort("return_before_barrier", return_before_barrier, "exited");
	must_abort("mask_lacks_caller", mask_lacks_caller, "which lacks it");
	must_abort("mask_of_other_lanes", mask_of_other_lanes, "which lacks it");
	must_abort("masks_differ", masks_differ, "meet in a warp collective");
	must_abort("missing_lane", missing_lane, "exited");
	must_abort("lane_at_barrier", lane_at_barrier, "barrier");
	must_abort("different_collectives", different_collectives, "different collectives");
	must_abort("reads_outside_mask", reads_outside_mask, "not in mask");
	must_abort("short_warp", short_warp, "do not exist", 40);
	must_abort("shared_overrun", shared_overrun, "past its shared memory");
	must_abort("shared_twice", shared_twice, "asked for twice");
	must_abort("more_shared_than_given", more_shared_than_given, "more than there are");
	must_abort("width_of_no_group", width_of_no_group, "of width 12");
	must_abort("device_overrun", device_overrun, "overrun");
#ifdef __SANITIZE_ADDRESS__
	must_abort("device_read_past", device_read_past, "use-after-poison");
#endif
	must_abort("spins_for_nobody", spins_for_nobody, "spin");
	must_abort("missing_publish", missing_publish, "spin");
	must_abort("tile_from_block_index", tile_from_block_index, "spin");
	must_abort("waits_for_later_block", waits_for_later_block, "spin");

	printf("%d passed, %d failed\n", npassed, nfailed);
	return nfailed == 0 ? 0 : 1;
}
