/*
 * collective.cc
 *	  Where threads of the simulated device meet: warp collectives, block
 *	  barriers, shared memory.  Each checks that the right threads come.
 */
#include "state.h"

#include <sanitizer/asan_interface.h>

namespace sim
{

static bool
same_site(Site a, Site b)
{
	return a.line == b.line && (a.file == b.file || strcmp(a.file, b.file) == 0);
}

/*
 * The lane whose value a lane gets.  Lanes are in groups of `width`: a source
 * lane wraps inside the group; up and down stay within it, xor may also reach
 * earlier groups; a lane that would leave those bounds gets its own value.
 */
static int
source_lane(const Pending *p, int lane)
{
	int first = lane & -p->width;
	int last = first + p->width - 1;
	int from;

	switch (p->op)
	{
		case OP_SHFL:
			return first | (p->arg & (p->width - 1));
		case OP_SHFL_UP:
			from = lane - p->arg;
			return from < first ? lane : from;
		case OP_SHFL_DOWN:
			from = lane + p->arg;
			return from > last ? lane : from;
		default:
			from = lane ^ p->arg;
			return from > last ? lane : from;
	}
}

static void
deliver_shuffle(const Thread *threads, int lane)
{
	const Pending *p = &threads[lane].pending;

	if (p->width < 1 || p->width > (int) WARP || (p->width & (p->width - 1)) != 0)
		FAIL(p->site, "a shuffle of width %d", p->width);
	if (p->op != OP_SHFL && (p->arg < 0 || p->arg >= (int) WARP))
		FAIL(p->site, "a shuffle over %d lanes", p->arg);

	int from = source_lane(p, lane);

	if (!(p->mask >> from & 1))
		FAIL(p->site, "lane %d reads lane %d, which is not in mask %08x", lane, from, p->mask);
	memcpy(p->out, threads[from].pending.in, p->size);
}

/* Hands out the results once all lanes of the mask have come. */
static void
deliver(Thread *threads, const Pending *coming)
{
	unsigned bits = 0;

	switch (coming->op)
	{
		case OP_BALLOT:
		case OP_REDUCE:
			for (unsigned lanes = coming->mask; lanes != 0; lanes &= lanes - 1)
			{
				const Pending *p = &threads[__builtin_ctz(lanes)].pending;

				if (coming->op == OP_BALLOT)
					bits |= (unsigned) p->arg << __builtin_ctz(lanes);
				else if (lanes == coming->mask)
					memcpy(&bits, p->in, sizeof(bits));
				else
					coming->combine(&bits, p->in);
			}
			for (unsigned lanes = coming->mask; lanes != 0; lanes &= lanes - 1)
				memcpy(threads[__builtin_ctz(lanes)].pending.out, &bits, sizeof(bits));
			break;
		case OP_SYNCWARP:
			break;
		default:
			for (unsigned lanes = coming->mask; lanes != 0; lanes &= lanes - 1)
				deliver_shuffle(threads, __builtin_ctz(lanes));
	}
}

/*
 * Two lanes wait for each other: they must meet with one mask in one place.
 * (A lane that waits for this one may wait until that has been in other collectives.)
 */
static void
check_meeting(const Pending *waiting, const Pending *coming)
{
	if (waiting->mask != coming->mask)
		FAIL(coming->site, "masks %08x and %08x meet in a warp collective", waiting->mask,
			 coming->mask);
	if (waiting->op != coming->op || waiting->size != coming->size ||
		waiting->combine != coming->combine || !same_site(waiting->site, coming->site))
		FAIL(coming->site, "lanes of one mask meet in different collectives (the other at %s:%d)",
			 waiting->site.file, waiting->site.line);
}

/* Lanes that wait in the collective that this lane has come to; checks them. */
static unsigned
lanes_met(const Warp *warp, const Thread *threads, const Pending *coming, unsigned bit)
{
	unsigned met = 0;
	unsigned check = warp->partial & coming->mask;

	if (coming->mask != warp->members)
		check |= warp->whole & coming->mask;
	else if (warp->whole != 0)
	{
		/* those agree with each other already */
		met = warp->whole;
		check_meeting(&threads[__builtin_ctz(met)].pending, coming);
	}
	for (; check != 0; check &= check - 1)
	{
		const Pending *p = &threads[__builtin_ctz(check)].pending;

		if (!(p->mask & bit))
			continue;
		check_meeting(p, coming);
		met |= check & -check;
	}
	return met;
}

static uint64_t ncompleted;

uint64_t
collectives_completed()
{
	return ncompleted;
}

void
collective(const Pending &part)
{
	const unsigned mask = part.mask;
	const Site site = part.site;
	Fiber *self = current;
	Block *block = self->block;
	Warp *warp = &block->warps[self->warp];
	Thread *threads = &block->threads[self->warp * (int) WARP];
	unsigned bit = 1u << self->lane;

	self->pending = part;
	if (!(mask & bit))
		FAIL(site, "lane %d calls a warp collective with mask %08x, which lacks it", self->lane,
			 mask);
	if (mask & ~warp->members)
		FAIL(site, "mask %08x names lanes that do not exist", mask);
	if (mask & warp->exited)
		FAIL(site, "mask %08x names lanes that have exited (%08x)", mask, warp->exited);
	if (mask & warp->at_barrier)
		FAIL(site, "mask %08x names lanes that wait at a block barrier (%08x)", mask,
			 warp->at_barrier);
	if ((lanes_met(warp, threads, &self->pending, bit) | bit) != mask)
	{
		*(mask == warp->members ? &warp->whole : &warp->partial) |= bit;
		wait_runnable();
		return;
	}

	deliver(threads, &self->pending);
	ncompleted++;
	for (unsigned lanes = mask; lanes != 0; lanes &= lanes - 1)
		threads[__builtin_ctz(lanes)].pending.op = OP_NONE;
	warp->whole &= ~mask;
	warp->partial &= ~mask;
	nprogress++;
	if (mask != bit)
		set_runnable(block, self->warp, mask & ~bit);
}

int
barrier(Op op, int predicate, Site site)
{
	Fiber *self = current;
	Block *block = self->block;
	Warp *warp = &block->warps[self->warp];
	int result;

	self->pending = {op, 0, site, nullptr, &result, 0, 0, 0, nullptr};
	if (block->nexited > 0)
		FAIL(site, "a barrier after %u threads of the block have exited", block->nexited);
	for (unsigned lanes = warp->whole | warp->partial; lanes != 0; lanes &= lanes - 1)
	{
		const Pending *p = &block->threads[self->warp * WARP + __builtin_ctz(lanes)].pending;

		if (p->mask >> self->lane & 1)
			FAIL(site, "a lane waits at a barrier while others wait for it at %s:%d", p->site.file,
				 p->site.line);
	}
	if (block->narrived == 0)
	{
		block->barrier = self->pending;
		block->barrier_or = 0;
	}
	else if (block->barrier.op != op || !same_site(block->barrier.site, site))
		FAIL(site, "threads of a block meet at different barriers (the other at %s:%d)",
			 block->barrier.site.file, block->barrier.site.line);
	block->barrier_or |= predicate != 0;
	warp->at_barrier |= 1u << self->lane;
	if (++block->narrived < grid.block_dim.x)
	{
		wait_runnable();
		return result;
	}

	block->narrived = 0;
	for (unsigned i = 0; i < grid.block_dim.x; i++)
	{
		Pending *p = &block->threads[i].pending;

		*static_cast<int *>(p->out) = block->barrier_or;
		p->op = OP_NONE;
	}
	for (unsigned w = 0; w < (grid.block_dim.x + WARP - 1) / WARP; w++)
	{
		unsigned lanes = block->warps[w].members;

		block->warps[w].at_barrier = 0;
		if ((int) w == self->warp)
			lanes &= ~(1u << self->lane);
		if (lanes != 0)
			set_runnable(block, (int) w, lanes);
	}
	nprogress++;
	return result;
}

void *
shared_memory(size_t size, bool dynamic, Site site)
{
	Block *block = current->block;

	if (current->asked_shared++ > 0)
		FAIL(site, "shared memory is asked for twice");
	if (size == 0 || size > (dynamic ? grid.dynamic_shared : STATIC_SHARED_BYTES))
		FAIL(site, "%zu bytes of shared memory, more than there are", size);
	if (block->shared_size == 0)
	{
		block->shared_size = size;
		ASAN_UNPOISON_MEMORY_REGION(block->shared, size + SHARED_GUARD);
		memset(block->shared, poison, size + SHARED_GUARD);
		ASAN_POISON_MEMORY_REGION(block->shared + size, SHARED_GUARD);
	}
	else if (block->shared_size != size)
		FAIL(site, "threads of a block ask for different shared memory");
	return block->shared;
}

} // namespace sim
