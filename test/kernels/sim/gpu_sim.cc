/*
 * gpu_sim.cc
 *	  gpu.h over the simulator.
 *
 * Streams run their work at once, in the calling thread; its completion can be
 * delayed, so that requests stay in flight.  Device memory is host memory, poisoned
 * when fresh, with a guard on either side, which the address sanitizer protects.
 *
 * Environment, read at the first call:
 *	GPUAGG_SIM_DEVICES		number of devices (1)
 *	GPUAGG_SIM_MEMORY		bytes of device memory (1 GiB)
 *	GPUAGG_SIM_DELAY_MS		an event is done so long after it was recorded (0)
 *	GPUAGG_SIM_PATIENCE_MS	how long a piece of work may take (600000)
 *	GPUAGG_SIM_HOLD			while a file of this name exists, events recorded since do not
 *							get done but for the first few.  In it: the number of the hold,
 *							from 1, and how many do; how many do not is written to a file of the
 *							same name with .reached to it
 *	GPUAGG_SIM_STARVE		while a file of this name exists, no event on a stream that yields
 *							gets done
 *	GPUAGG_SIM_PIN			while a file of this name exists that says "hold", pinning memory
 *							takes on; while it says "fail", it fails
 *	GPUAGG_SIM_FAIL			gpu_open fails with the reason of this name
 *	GPUAGG_SIM_LOST_AFTER	the context is lost after so many kernel launches
 *	GPUAGG_SIM_SEED			order in which fibers are resumed (1)
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern "C" {
#include "common/reason.h"
}
#include "cuda/device/gpu.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <queue>
#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include "sim.h"

typedef std::chrono::steady_clock Clock;

struct GpuStream
{
	uint64_t nqueued;
	bool yields;
};

struct GpuEvent
{
	Clock::time_point recorded_at; /* all work before it has run by then */
	Clock::time_point done_at;
	bool recorded;
	bool yields;			  /* its stream does */
	unsigned long long hold;  /* that it was recorded under, or 0 */
	unsigned long long place; /* among the events of that hold, from 1 */
};

namespace
{

constexpr size_t GUARD = GPUAGG_ALIGN;
constexpr int GUARD_BYTE = 0x6b;

struct Settings
{
	int devices;
	uint64_t memory;
	int64_t delay_ms;
	int64_t patience_ms;
	const char *hold; /* or nullptr */
	const char *pin;  /* the same */
	const char *starve;
	int64_t lost_after;
	GpuaggReason fail;
};

struct HostCall
{
	Clock::time_point at;
	uint64_t number;
	void (*fn)(void *);
	void *arg;

	bool operator<(const HostCall &other) const
	{
		return at != other.at ? at > other.at : number > other.number;
	}
};

/* Never destroyed: threads may still run when the program ends. */
struct Shared
{
	std::mutex lock;
	std::unordered_map<void *, size_t> allocations;
	uint64_t allocated;
	std::priority_queue<HostCall> host_calls;
	std::condition_variable host_calls_changed;
	uint64_t nhost_calls;
	bool host_thread_started;
};

Shared &shared = *new Shared();
std::atomic<int64_t> nlaunches;
std::atomic<bool> lost;
thread_local char last_error[128];

int64_t
env_number(const char *name, int64_t otherwise)
{
	const char *value = getenv(name);

	return value != nullptr && *value != '\0' ? strtoll(value, nullptr, 10) : otherwise;
}

Settings
read_settings()
{
	Settings s;
	const char *fail = getenv("GPUAGG_SIM_FAIL");

	s.devices = (int) env_number("GPUAGG_SIM_DEVICES", 1);
	s.memory = (uint64_t) env_number("GPUAGG_SIM_MEMORY", INT64_C(1) << 30);
	s.delay_ms = env_number("GPUAGG_SIM_DELAY_MS", 0);
	s.patience_ms = env_number("GPUAGG_SIM_PATIENCE_MS", 600000);
	s.hold = getenv("GPUAGG_SIM_HOLD");
	s.pin = getenv("GPUAGG_SIM_PIN");
	s.starve = getenv("GPUAGG_SIM_STARVE");
	s.lost_after = env_number("GPUAGG_SIM_LOST_AFTER", -1);
	s.fail = GPUAGG_OK;
	if (fail != nullptr && *fail != '\0')
	{
		s.fail = GPUAGG_DEVICE_ERROR;
		for (int reason = 1; reason < GPUAGG_NREASONS; reason++)
			if (strcmp(gpuagg_reason_name(reason), fail) == 0)
				s.fail = (GpuaggReason) reason;
	}
	sim::set_order(sim::ORDER_MIXED, (uint64_t) env_number("GPUAGG_SIM_SEED", 1));
	return s;
}

const Settings &
settings()
{
	static const Settings s = read_settings();

	return s;
}

GpuaggReason
failure(GpuaggReason reason, const char *words)
{
	snprintf(last_error, sizeof(last_error), "simulated device: %s", words);
	return reason;
}

/* Every call returns this if it is not GPUAGG_OK. */
GpuaggReason
context_status()
{
	if (lost)
		return failure(GPUAGG_LOST, "the context is lost");
	return GPUAGG_OK;
}

Clock::time_point
completion_time()
{
	return Clock::now() + std::chrono::milliseconds(settings().delay_ms);
}

/* What a test holds back, if anything. */
struct Hold
{
	unsigned long long number; /* or 0 */
	unsigned long long limit;
};

Hold
current_hold()
{
	Hold hold = {0, 0};
	FILE *file = settings().hold != nullptr ? fopen(settings().hold, "r") : nullptr;

	if (file != nullptr)
	{
		if (fscanf(file, "%llu %llu", &hold.number, &hold.limit) != 2)
			hold.number = 0;
		fclose(file);
	}
	return hold;
}

void
count_under_hold(GpuEvent *event)
{
	static std::mutex lock;
	static Hold last;
	static unsigned long long count;
	std::lock_guard<std::mutex> guard(lock);
	Hold hold = current_hold();

	if (hold.number != last.number)
		count = 0;
	last = hold;
	event->hold = hold.number;
	event->place = hold.number != 0 ? ++count : 0;
	if (event->place > hold.limit && hold.number != 0)
	{
		FILE *file = fopen((std::string(settings().hold) + ".reached").c_str(), "w");

		if (file != nullptr)
		{
			fprintf(file, "%llu\n", event->place - hold.limit);
			fclose(file);
		}
	}
}

bool
held_back(const GpuEvent *event)
{
	Hold hold;

	if (event->yields && settings().starve != nullptr && access(settings().starve, F_OK) == 0)
		return true;
	if (event->hold == 0)
		return false;
	hold = current_hold();
	return event->hold == hold.number && event->place > hold.limit;
}

/* Makes the calls that are due, as a thread of the runtime would. */
void
host_thread()
{
	std::unique_lock<std::mutex> guard(shared.lock);

	for (;;)
	{
		if (shared.host_calls.empty())
		{
			shared.host_calls_changed.wait(guard);
			continue;
		}

		HostCall next = shared.host_calls.top();

		if (Clock::now() < next.at)
		{
			shared.host_calls_changed.wait_until(guard, next.at);
			continue;
		}
		shared.host_calls.pop();
		guard.unlock();
		if (!lost)
			next.fn(next.arg);
		guard.lock();
	}
}

bool
guard_intact(const unsigned char *p)
{
	for (size_t i = 0; i < GUARD; i++)
		if (p[i] != GUARD_BYTE)
			return false;
	return true;
}

} // namespace

GpuaggReason
gpu_count(int *count)
{
	*count = settings().devices;
	return *count > 0 ? GPUAGG_OK : failure(GPUAGG_NO_DEVICE, "no device");
}

GpuaggReason
gpu_describe(int index, GpuaggDeviceInfo *info)
{
	memset(info, 0, sizeof(*info));
	if (index < 0 || index >= settings().devices)
		return failure(GPUAGG_NO_DEVICE, "no such device");
	info->count = (uint32_t) settings().devices;
	info->index = (uint32_t) index;
	info->usable = settings().fail == GPUAGG_OK;
	info->reason = settings().fail;
	info->multiprocessors = sim::MULTIPROCESSORS;
	info->simulated = 1;
	info->memory_total = settings().memory;
	snprintf(info->name, sizeof(info->name), "simulated device");
	return GPUAGG_OK;
}

GpuaggReason
gpu_open(int index)
{
	if (index < 0 || index >= settings().devices)
		return failure(GPUAGG_NO_DEVICE, "no such device");
	if (settings().fail != GPUAGG_OK)
		return failure(settings().fail, "told to fail");
	return context_status();
}

GpuaggReason
gpu_enter(void)
{
	return context_status();
}

GpuaggReason
gpu_memory_info(uint64_t *free_bytes, uint64_t *total_bytes)
{
	std::lock_guard<std::mutex> guard(shared.lock);

	*total_bytes = settings().memory;
	*free_bytes = settings().memory - shared.allocated;
	return context_status();
}

GpuaggReason
gpu_malloc(void **p, size_t bytes)
{
	std::lock_guard<std::mutex> guard(shared.lock);
	size_t rounded = (bytes + GPUAGG_ALIGN - 1) / GPUAGG_ALIGN * GPUAGG_ALIGN;

	*p = nullptr;
	if (context_status() != GPUAGG_OK)
		return GPUAGG_LOST;
	if (bytes > settings().memory - shared.allocated)
		return failure(GPUAGG_NO_DEVICE_MEMORY, "out of memory");

	unsigned char *block = static_cast<unsigned char *>(
		aligned_alloc(GPUAGG_ALIGN, rounded + 2 * GUARD));

	if (block == nullptr)
		return failure(GPUAGG_NO_DEVICE_MEMORY, "out of memory");
	memset(block, GUARD_BYTE, GUARD);
	memset(block + GUARD, sim::get_poison(), bytes);
	memset(block + GUARD + bytes, GUARD_BYTE, GUARD);
	ASAN_POISON_MEMORY_REGION(block, GUARD);
	ASAN_POISON_MEMORY_REGION(block + GUARD + bytes, rounded - bytes + GUARD);
	*p = block + GUARD;
	shared.allocations[*p] = bytes;
	shared.allocated += bytes;
	return GPUAGG_OK;
}

GpuaggReason
gpu_free(void *p)
{
	std::lock_guard<std::mutex> guard(shared.lock);

	if (p == nullptr)
		return GPUAGG_OK;

	auto found = shared.allocations.find(p);
	unsigned char *block = static_cast<unsigned char *>(p) - GUARD;

	if (found == shared.allocations.end())
	{
		fprintf(stderr, "simulator: freed what was not allocated\n");
		abort();
	}
	ASAN_UNPOISON_MEMORY_REGION(block, found->second + 2 * GUARD);
	if (!guard_intact(block) || !guard_intact(block + GUARD + found->second))
	{
		fprintf(stderr, "simulator: device memory of %zu bytes was overrun\n", found->second);
		abort();
	}
	shared.allocated -= found->second;
	shared.allocations.erase(found);
	free(block);
	return context_status();
}

/* The first letter of what the file for pinning says, or 0. */
static int
pin_order()
{
	FILE *file = settings().pin != nullptr ? fopen(settings().pin, "r") : nullptr;
	int letter = 0;

	if (file != nullptr)
	{
		letter = fgetc(file);
		fclose(file);
	}
	return letter;
}

GpuaggReason
gpu_host_register(void *p, size_t bytes)
{
	int order;

	(void) p;
	(void) bytes;
	while ((order = pin_order()) == 'h')
		std::this_thread::sleep_for(std::chrono::milliseconds(1));
	if (order == 'f')
		return failure(GPUAGG_DEVICE_ERROR, "memory could not be pinned");
	return context_status();
}

GpuaggReason
gpu_host_unregister(void *p)
{
	(void) p;
	return context_status();
}

GpuaggReason
gpu_stream_create(GpuStreamRef *stream)
{
	*stream = new GpuStream();
	return context_status();
}

GpuaggReason
gpu_stream_create_background(GpuStreamRef *stream)
{
	GpuaggReason reason = gpu_stream_create(stream);

	(*stream)->yields = true;
	return reason;
}

GpuaggReason
gpu_stream_destroy(GpuStreamRef stream)
{
	delete stream;
	return context_status();
}

GpuaggReason
gpu_copy_in(void *device, const void *host, size_t bytes, GpuStreamRef stream)
{
	if (context_status() != GPUAGG_OK)
		return GPUAGG_LOST;
	if (bytes > 0)
		memcpy(device, host, bytes);
	stream->nqueued++;
	return GPUAGG_OK;
}

GpuaggReason
gpu_copy_out(void *host, const void *device, size_t bytes, GpuStreamRef stream)
{
	return gpu_copy_in(host, device, bytes, stream);
}

GpuaggReason
gpu_copy_within(void *to, const void *from, size_t bytes, GpuStreamRef stream)
{
	return gpu_copy_in(to, from, bytes, stream);
}

GpuaggReason
gpu_memset(void *device, int value, size_t bytes, GpuStreamRef stream)
{
	if (context_status() != GPUAGG_OK)
		return GPUAGG_LOST;
	memset(device, value, bytes);
	stream->nqueued++;
	return GPUAGG_OK;
}

GpuaggReason
gpu_host_call(GpuStreamRef stream, void (*fn)(void *), void *arg)
{
	if (context_status() != GPUAGG_OK)
		return GPUAGG_LOST;
	stream->nqueued++;
	if (settings().delay_ms == 0)
	{
		fn(arg);
		return GPUAGG_OK;
	}

	std::lock_guard<std::mutex> guard(shared.lock);

	if (!shared.host_thread_started)
	{
		std::thread(host_thread).detach();
		shared.host_thread_started = true;
	}
	shared.host_calls.push({completion_time(), shared.nhost_calls++, fn, arg});
	shared.host_calls_changed.notify_one();
	return GPUAGG_OK;
}

GpuaggReason
gpu_event_create(GpuEventRef *event)
{
	*event = new GpuEvent();
	return context_status();
}

GpuaggReason
gpu_event_create_timed(GpuEventRef *event)
{
	return gpu_event_create(event);
}

GpuaggReason
gpu_event_destroy(GpuEventRef event)
{
	delete event;
	return context_status();
}

GpuaggReason
gpu_event_record(GpuEventRef event, GpuStreamRef stream)
{
	event->yields = stream->yields;
	event->recorded_at = Clock::now();
	event->done_at = completion_time();
	event->recorded = true;
	count_under_hold(event);
	return context_status();
}

GpuaggReason
gpu_event_query(GpuEventRef event, int *done)
{
	*done = !event->recorded || (Clock::now() >= event->done_at && !held_back(event));
	return context_status();
}

GpuaggReason
gpu_event_elapsed(GpuEventRef from, GpuEventRef to, uint64_t *ns)
{
	*ns = (uint64_t) std::chrono::duration_cast<std::chrono::nanoseconds>(to->recorded_at -
																		  from->recorded_at)
			  .count();
	return context_status();
}

int64_t
gpu_patience(void)
{
	return settings().patience_ms * 1000000;
}

/* Kernels have already run: only counts launches. */
GpuaggReason
gpu_launch_status(void)
{
	int64_t limit = settings().lost_after;

	if (limit >= 0 && nlaunches.fetch_add(1) >= limit)
		lost = true;
	return context_status();
}

const char *
gpu_last_error(void)
{
	return last_error;
}
