/*
 * kernel_test.cc
 *	  Runs the kernels against exact oracles, on the real device or the
 *	  simulated one, whichever it was linked with.
 *
 *	kernel_test [--seed N] [--small | --large] [--hammer] [SUITE...]
 */
#include "harness.h"

#include <algorithm>
#include <assert.h>
#include <chrono>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef GPUAGG_SIM
#include "sim.h"
#endif

int npassed;
int nfailed;
GpuStreamRef stream;
static GpuEventRef event;
static uint64_t order_seed;

void
report(bool passed, const std::string &what)
{
	if (passed)
		npassed++;
	else if (nfailed++ < 50)
		printf("failed: %s\n", what.c_str());
}

std::string
text(const char *format, ...)
{
	char buffer[512];
	va_list args;

	va_start(args, format);
	vsnprintf(buffer, sizeof(buffer), format, args);
	va_end(args);
	return buffer;
}

void
must(GpuaggReason reason, const char *what)
{
	if (reason == GPUAGG_OK)
		return;
	printf("%s: reason %d, %s\n", what, (int) reason, gpu_last_error());
	printf("%d passed, %d failed\n", npassed, nfailed + 1);
	exit(1);
}

/* splitmix64, Steele, Lea and Flood, OOPSLA 2014 */
uint64_t
Random::next()
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint64_t
Random::below(uint64_t n)
{
	return next() % n;
}

int
Random::between(int low, int high)
{
	return low + (int) below((uint64_t) (high - low) + 1);
}

DeviceMemory::DeviceMemory(size_t size) : p(nullptr), bytes(size)
{
	must(gpu_malloc(&p, size), "gpu_malloc");
}

DeviceMemory::~DeviceMemory()
{
	must(gpu_free(p), "gpu_free");
}

void
finish()
{
	int done = 0;

	must(gpu_event_record(event, stream), "gpu_event_record");
	while (!done)
		must(gpu_event_query(event, &done), "gpu_event_query");
}

int
begin_pattern(int number)
{
	int byte = number == 0 ? 0xa5 : 0x3c;

#ifdef GPUAGG_SIM
	sim::set_poison(byte);
	sim::set_order(number == 0 ? sim::ORDER_RANDOM : sim::ORDER_REVERSED, ++order_seed);
#endif
	return byte;
}

uint64_t
collectives_made()
{
#ifdef GPUAGG_SIM
	return sim::collectives_completed();
#else
	return 0;
#endif
}

namespace
{

/* Several may share a name. */
struct Suite
{
	const char *name;
	void (*run)(const Options &options);
};

const Suite suites[] = {
	{"shuffle", shuffle_tests},		{"chunks", chunks_tests}, {"reduce", reduce_tests},
	{"reduce", reduce_float_tests}, {"scan", scan_tests},	  {"scan", scan_float_tests},
	{"segmented", segmented_tests}, {"ladder", ladder_tests}, {"query", query_tests},
};

bool
suite_named(const char *name)
{
	for (const Suite &suite : suites)
		if (strcmp(suite.name, name) == 0)
			return true;
	return false;
}

void
run_suite(const Suite &suite, const Options &options)
{
	auto began = std::chrono::steady_clock::now();
	int passed = npassed;

	suite.run(options);
	printf("%s: %d passed, %.1f s\n", suite.name, npassed - passed,
		   std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
}

} // namespace

int
main(int argc, char **argv)
{
	Options options = {1, false, false, false, false};
	std::vector<std::string> wanted;
	GpuaggDeviceInfo info;

	for (int i = 1; i < argc; i++)
	{
		if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
			options.seed = strtoull(argv[++i], nullptr, 10);
		else if (strcmp(argv[i], "--large") == 0)
			options.large = true;
		else if (strcmp(argv[i], "--small") == 0)
			options.small = true;
		else if (strcmp(argv[i], "--hammer") == 0)
			options.hammer = true;
		else if (argv[i][0] != '-' && suite_named(argv[i]))
			wanted.push_back(argv[i]);
		else
		{
			fprintf(stderr, "usage: kernel_test [--seed N] [--small | --large] [--hammer]");
			for (const Suite &suite : suites)
				fprintf(stderr, " [%s]", suite.name);
			fprintf(stderr, "\n");
			return 2;
		}
	}
	setvbuf(stdout, nullptr, _IOLBF, 0);
	order_seed = options.seed << 20;

	must(gpu_open(0), "gpu_open");
	must(gpu_describe(0, &info), "gpu_describe");
	must(gpu_stream_create(&stream), "gpu_stream_create");
	must(gpu_event_create(&event), "gpu_event_create");
	options.simulated = info.simulated != 0;
	printf("%s, seed %llu\n", info.name, (unsigned long long) options.seed);

	for (const Suite &suite : suites)
		if (wanted.empty() || std::find(wanted.begin(), wanted.end(), suite.name) != wanted.end())
			run_suite(suite, options);

	must(gpu_event_destroy(event), "gpu_event_destroy");
	must(gpu_stream_destroy(stream), "gpu_stream_destroy");
	printf("%d passed, %d failed\n", npassed, nfailed);
	return nfailed == 0 && npassed > 0 ? 0 : 1;
}
