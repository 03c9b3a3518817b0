/*
 * sim.cc
 *	  Scheduler of the simulated device: blocks, warps and lanes as fibers.
 *
 * A grid runs in the thread that launches it, under one lock.  Some blocks are
 * resident at a time; the next one starts when a resident one ends.  A fiber
 * runs until it meets a collective that is not complete, spins, or ends.  The
 * stacks stay for the next launch.
 */
#include "state.h"

#include <mutex>
#include <numeric>
#include <sys/mman.h>

#include <sanitizer/asan_interface.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace sim
{

constexpr size_t PAGE = 4096;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t STACK_BYTES = 256 * 1024;
#else
constexpr size_t STACK_BYTES = 64 * 1024;
#endif

Fiber *current;
Grid grid;

static std::mutex lock;
static Block *slots[RESIDENT];
static unsigned ready;		/* slots with a runnable warp */
static unsigned nactive;	/* slots[0 .. nactive) hold blocks or have ended */
static unsigned next_block; /* in the order of starting */
static uint64_t start_factor;
static uint64_t start_offset;
static unsigned nlive;
static Context scheduler;
static void (*grid_body)(void *);
static void *grid_arg;
int poison = 0xa5;
static Order order = ORDER_MIXED;
static bool reversed;
static uint64_t seed = 1;
static uint64_t random_state;
static uint64_t nlaunches;
uint64_t nprogress;

static inline uint32_t
random32()
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t) (random_state >> 16);
}

void
fail_at(Site site)
{
	if (current != nullptr)
		fprintf(stderr, " (block %u, thread %u", current->block->index.x, current->thread.x);
	else
		fprintf(stderr, " (scheduler");
	if (site.file != nullptr)
		fprintf(stderr, ", %s:%d", site.file, site.line);
	fprintf(stderr, ")\n");
	abort();
}

static const Site NOWHERE = {nullptr, 0};

/*
 * Context switch.
 */
#if defined(__x86_64__)
extern "C" void gpuagg_sim_switch(void **save, void *load);
__asm__(
	".text\n"
	".p2align 4\n"
	".globl gpuagg_sim_switch\n"
	".type gpuagg_sim_switch,@function\n"
	"gpuagg_sim_switch:\n"
	"	pushq %rbp\n	pushq %rbx\n	pushq %r12\n	pushq %r13\n	pushq %r14\n	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n	popq %r14\n	popq %r13\n	popq %r12\n	popq %rbx\n	popq %rbp\n"
	"	ret\n"
	".size gpuagg_sim_switch,.-gpuagg_sim_switch\n");
#endif

/* Leaves `from` and goes on with `to`; returns when something switches back. */
static inline void
switch_context(Context *from, Context *to, bool last)
{
#if defined(__SANITIZE_ADDRESS__)
	__sanitizer_start_switch_fiber(last ? nullptr : &from->fake_stack, to->bottom, to->size);
#endif
#if defined(__SANITIZE_THREAD__)
	__tsan_switch_to_fiber(to->tsan, 0);
#endif
	(void) last;
#if defined(__x86_64__)
	gpuagg_sim_switch(&from->sp, to->sp);
#else
	swapcontext(&from->uc, &to->uc);
#endif
#if defined(__SANITIZE_ADDRESS__)
	__sanitizer_finish_switch_fiber(from->fake_stack, nullptr, nullptr);
#endif
}

static inline void
back_to_scheduler(bool last)
{
	switch_context(&static_cast<Thread *>(current)->context, &scheduler, last);
}

void
set_runnable(Block *block, int warp, unsigned lanes)
{
	block->warps[warp].runnable |= lanes;
	block->runnable |= 1u << warp;
	ready |= 1u << (block - slots[0]);
}

void
wait_runnable()
{
	back_to_scheduler(false);
}

static void
block_ended(Block *block)
{
	if (block->shared_size == 0)
		return;
	ASAN_UNPOISON_MEMORY_REGION(block->shared + block->shared_size, SHARED_GUARD);
	for (size_t i = 0; i < SHARED_GUARD; i++)
		if ((unsigned char) block->shared[block->shared_size + i] != (unsigned char) poison)
			FAIL(NOWHERE, "block %u wrote past its shared memory", block->index.x);
}

static void
fiber_main()
{
#if defined(__SANITIZE_ADDRESS__)
	__sanitizer_finish_switch_fiber(nullptr, &scheduler.bottom, &scheduler.size);
#endif
	grid_body(grid_arg);

	Block *block = current->block;
	Warp *warp = &block->warps[current->warp];

	warp->exited |= 1u << current->lane;
	block->nexited++;
	nprogress++;
	for (unsigned lanes = warp->whole | warp->partial; lanes != 0; lanes &= lanes - 1)
	{
		const Pending *p = &block->threads[current->warp * WARP + __builtin_ctz(lanes)].pending;

		if (p->mask >> current->lane & 1)
			FAIL(p->site, "a lane exited while others wait for it in a warp collective");
	}
	if (block->narrived > 0)
		FAIL(block->barrier.site, "a thread exited while others wait for it at a barrier");
	back_to_scheduler(true);
	abort();
}

static void
prepare_fiber(Thread *t, unsigned number)
{
	if (t->stack == nullptr)
	{
		void *p = mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p == MAP_FAILED || mprotect(p, PAGE, PROT_NONE) != 0)
			FAIL(NOWHERE, "no memory for a stack");
		t->stack = static_cast<char *>(p);
#if defined(__SANITIZE_ADDRESS__)
		t->context.bottom = t->stack + PAGE;
		t->context.size = STACK_BYTES - PAGE;
#endif
#if defined(__SANITIZE_THREAD__)
		t->context.tsan = __tsan_create_fiber(0);
#endif
	}
#if defined(__x86_64__)
	/* stacks start at different cache sets; 16-byte alignment as at a call */
	uintptr_t top = (uintptr_t) t->stack + STACK_BYTES - 64 - number % 31 * 128;
	void **sp = (void **) (top & ~(uintptr_t) 15);

	*--sp = nullptr; /* return address of fiber_main, which does not return */
	*--sp = (void *) fiber_main;
	for (int i = 0; i < 6; i++)
		*--sp = nullptr;
	t->context.sp = sp;
#else
	(void) number;
	getcontext(&t->context.uc);
	t->context.uc.uc_stack.ss_sp = t->stack + PAGE;
	t->context.uc.uc_stack.ss_size = STACK_BYTES - PAGE;
	t->context.uc.uc_link = nullptr;
	makecontext(&t->context.uc, fiber_main, 0);
#endif
}

/* An order in which blocks start: a permutation, since the factor is prime to their number. */
static void
choose_start_order()
{
	uint64_t n = grid.dim.x;

	start_factor = n - 1;
	start_offset = n - 1;
	if (reversed)
		return;
	do
		start_factor = random32() % n;
	while (std::gcd(start_factor, n) != 1);
	start_offset = random32() % n;
}

static void
start_next_block(Block *block)
{
	unsigned n = grid.block_dim.x;
	uint64_t index = (start_factor * next_block++ + start_offset) % grid.dim.x;

	block->index = {(unsigned) index, 0, 0};
	block->runnable = 0;
	block->nexited = 0;
	block->narrived = 0;
	block->barrier_or = 0;
	block->shared_size = 0;
	for (unsigned w = 0; w < (n + WARP - 1) / WARP; w++)
	{
		unsigned lanes = n - w * WARP >= WARP ? WARP : n - w * WARP;

		block->warps[w] = {};
		block->warps[w].members = lanes == WARP ? ~0u : (1u << lanes) - 1;
		set_runnable(block, (int) w, block->warps[w].members);
	}
	for (unsigned i = 0; i < n; i++)
	{
		Thread *t = &block->threads[i];

		t->thread = {i, 0, 0};
		t->block = block;
		t->warp = (int) (i / WARP);
		t->lane = (int) (i % WARP);
		t->asked_shared = 0;
		t->pending.op = OP_NONE;
		prepare_fiber(t, i);
	}
	nlive++;
}

/* A set bit of `bits`, which is not 0: at random, or the highest. */
static inline int
pick(unsigned bits)
{
	if (reversed)
		return 31 - __builtin_clz(bits);

	unsigned from = random32() & 31;
	unsigned rotated = bits >> from | bits << ((32 - from) & 31);

	return (int) ((__builtin_ctz(rotated) + from) & 31);
}

static void
run_fiber(Block *block, int warp, int lane)
{
	Thread *t = &block->threads[warp * (int) WARP + lane];

	block->warps[warp].runnable &= ~(1u << lane);
	current = t;
	switch_context(&scheduler, &t->context, false);
	current = nullptr;
}

/* Lets the spinning fibers check again. */
static unsigned
wake_spinning()
{
	unsigned woken = 0;

	for (unsigned s = 0; s < nactive; s++)
		for (unsigned w = 0; w < (grid.block_dim.x + WARP - 1) / WARP; w++)
		{
			unsigned lanes = slots[s]->warps[w].spinning;

			if (lanes == 0)
				continue;
			slots[s]->warps[w].spinning = 0;
			set_runnable(slots[s], (int) w, lanes);
			woken++;
		}
	return woken;
}

static void
nothing_runnable()
{
	for (unsigned s = 0; s < nactive; s++)
		for (unsigned i = 0; i < grid.block_dim.x; i++)
		{
			const Pending *p = &slots[s]->threads[i].pending;

			if (p->op == OP_NONE)
				continue;
			FAIL(p->site,
				 "deadlock: block %u, thread %u waits at a %s for threads that wait elsewhere",
				 slots[s]->index.x, i, p->op >= OP_BARRIER ? "barrier" : "warp collective");
		}
	FAIL(NOWHERE, "deadlock");
}

/* Reports a few of the places where threads spin. */
static void
nothing_to_wait_for()
{
	constexpr int MAX_PLACES = 12;
	Site last = NOWHERE;
	int nplaces = 0;

	fprintf(stderr, "simulator: threads spin and nothing they wait for can happen:\n");
	for (unsigned s = 0; s < nactive; s++)
		for (unsigned i = 0; i < grid.block_dim.x && slots[s]->nexited < grid.block_dim.x; i++)
		{
			const Warp *warp = &slots[s]->warps[i / WARP];
			Site site = slots[s]->threads[i].pending.site;

			if (!(warp->spinning >> i % WARP & 1) && !(warp->runnable >> i % WARP & 1))
				continue;
			if ((site.file == last.file && site.line == last.line) || nplaces++ >= MAX_PLACES)
				continue;
			fprintf(stderr, "  block %u, thread %u at %s:%d\n", slots[s]->index.x, i, site.file,
					site.line);
			last = site;
		}
	FAIL(last, "no progress");
}

static void
run_warp(Block *block)
{
	int w = pick(block->runnable);
	Warp *warp = &block->warps[w];
	unsigned lanes = warp->runnable;

	if (reversed)
	{
		for (; lanes != 0; lanes &= ~(1u << (31 - __builtin_clz(lanes))))
			run_fiber(block, w, 31 - __builtin_clz(lanes));
	}
	else
	{
		/* an odd factor permutes the lanes; now and then leave some for later */
		uint32_t r = random32();
		unsigned factor = (r & 31) | 1;
		unsigned offset = r >> 5 & 31;
		unsigned count = (r >> 10 & 15) == 0 ? r >> 14 & 31 : WARP;

		for (unsigned i = 0; i < count; i++)
		{
			unsigned lane = (i * factor + offset) & 31;

			if (lanes >> lane & 1)
				run_fiber(block, w, (int) lane);
		}
	}
	if (warp->runnable == 0)
		block->runnable &= ~(1u << w);
}

static void
schedule()
{
	uint64_t seen_progress = nprogress;
	int idle_rounds = 0;

	while (nlive > 0)
	{
		if (ready == 0 || (!reversed && (random32() & 63) == 0))
		{
			bool starved = ready == 0;
			unsigned woken = wake_spinning();

			if (starved && woken == 0)
				nothing_runnable();
			if (starved)
			{
				idle_rounds = nprogress == seen_progress ? idle_rounds + 1 : 0;
				seen_progress = nprogress;
				if (idle_rounds > 3)
					nothing_to_wait_for();
			}
		}

		int s = pick(ready);
		Block *block = slots[s];

		run_warp(block);
		if (block->nexited == grid.block_dim.x)
		{
			block_ended(block);
			nlive--;
			if (next_block < grid.dim.x)
				start_next_block(block);
		}
		if (block->runnable == 0)
			ready &= ~(1u << s);
	}
}

static void
allocate_slots()
{
	if (slots[0] != nullptr)
		return;

	Block *blocks = static_cast<Block *>(calloc(RESIDENT, sizeof(Block)));
	char *shared = static_cast<char *>(
		aligned_alloc(SHARED_ALIGN, RESIDENT * (SHARED_BYTES + SHARED_GUARD)));

	if (blocks == nullptr || shared == nullptr)
		FAIL(NOWHERE, "out of memory");
	for (unsigned i = 0; i < RESIDENT; i++)
	{
		slots[i] = &blocks[i];
		slots[i]->shared = shared + i * (SHARED_BYTES + SHARED_GUARD);
	}
}

void
run_grid(unsigned blocks, unsigned threads, size_t dynamic_shared, void (*body)(void *), void *arg)
{
	std::lock_guard<std::mutex> guard(lock);

	if (blocks == 0 || threads == 0 || threads > MAX_THREADS)
		FAIL(NOWHERE, "a launch of %u blocks of %u threads", blocks, threads);
	if (dynamic_shared > SHARED_BYTES)
		FAIL(NOWHERE, "a launch with %zu bytes of shared memory", dynamic_shared);
	allocate_slots();
	grid.dim = {blocks, 1, 1};
	grid.block_dim = {threads, 1, 1};
	grid.dynamic_shared = dynamic_shared;
	grid_body = body;
	grid_arg = arg;
	random_state = (seed + nlaunches) * 0x9e3779b97f4a7c15u | 1;
	reversed = order == ORDER_REVERSED || (order == ORDER_MIXED && nlaunches % 4 == 3);
	nlaunches++;
#if defined(__SANITIZE_THREAD__)
	scheduler.tsan = __tsan_get_current_fiber();
#endif

	ready = 0;
	nlive = 0;
	nactive = blocks < RESIDENT ? blocks : RESIDENT;
	if (!reversed && (random32() & 3) == 0)
		nactive = 1 + random32() % nactive; /* others may be using the device */
	choose_start_order();
	next_block = 0;
	for (unsigned i = 0; i < nactive; i++)
		start_next_block(slots[i]);
	schedule();
}

uint3
block_index(const Block *block)
{
	return block->index;
}

void
progress()
{
	nprogress++;
}

void
spin(Site site)
{
	current->pending.site = site; /* op is OP_NONE: it waits in no collective */
	current->block->warps[current->warp].spinning |= 1u << current->lane;
	back_to_scheduler(false);
}

/* Called around accesses to memory that blocks share, so that they interleave. */
void
maybe_yield()
{
	if ((random32() & 7) != 0)
		return;
	set_runnable(current->block, current->warp, 1u << current->lane);
	back_to_scheduler(false);
}

void
set_poison(int byte)
{
	std::lock_guard<std::mutex> guard(lock);

	poison = byte;
}

int
get_poison()
{
	return poison;
}

void
set_order(Order new_order, uint64_t new_seed)
{
	std::lock_guard<std::mutex> guard(lock);

	order = new_order;
	seed = new_seed;
	nlaunches = 0;
}

} // namespace sim
