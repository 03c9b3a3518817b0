/*
 * main.cc
 *	  The kernels beside CUB's, a plain read and a copy, all in one run, on a
 *	  real device.
 *
 *	kernel_bench [--csv FILE] [--largest LOG2] [PART...]
 *	  parts: reduce scan segmented query ladder (default: all of these), and
 *	  counters: each reduction once, for a profiler
 *
 * Prints a line for every measurement: times are microseconds of a launch,
 * medians, as replays of a graph and single-shot; targets are met or missed.
 * Fails when a result is wrong, not when a target is missed.
 */
#include "bench.h"

#include <algorithm>
#include <cuda_runtime.h>
#include <cub/version.cuh>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

GpuStreamRef stream;
static FILE *csv;
static int nwrong;
static int nmet;
static int nmissed;

const char *
kind_name(int kind)
{
	switch (kind)
	{
		case GPUAGG_INT32:
			return "int32";
		case GPUAGG_INT64:
			return "int64";
		case GPUAGG_FLOAT32:
			return "float32";
		default:
			return "float64";
	}
}

const char *
pattern_name(Pattern pattern)
{
	switch (pattern)
	{
		case ORDINARY:
			return "ordinary";
		case SENTINEL:
			return "one sentinel";
		case ZEROS:
			return "ordinary, zeros";
		case SPREAD_60:
			return "spread 2^60";
		default:
			return "adversarial";
	}
}

std::string
shape_name(int64_t shape)
{
	switch (shape)
	{
		case SHAPE_NONE:
			return "no heads";
		case SHAPE_RANDOM:
			return "random heads";
		case SHAPE_POWER_LAW:
			return "power law";
		default:
			return "every " + std::to_string(shape);
	}
}

/* Appends a target and whether it is met; a limit of 0 is none. */
static void
target(std::string *text, const char *name, double value, double limit, bool at_least)
{
	char words[100];
	bool met = at_least ? value >= limit : value <= limit;

	if (limit == 0)
		return;
	snprintf(words, sizeof(words), "%s%s %.3f %s %.2f %s", text->empty() ? "" : "; ", name, value,
			 at_least ? ">=" : "<=", limit, met ? "met" : "MISSED");
	*text += words;
	*(met ? &nmet : &nmissed) += 1;
}

void
report(const Result &r)
{
	double share = r.bandwidth_run.graph / r.ours.graph;
	double gb = (double) r.bytes / r.ours.graph / 1e3;
	std::string targets;
	char cub[60] = "-";

	if (r.cub.graph > 0)
	{
		snprintf(cub, sizeof(cub), "%.2f / %.2f", r.cub.graph, r.cub.single);
		target(&targets, "graph/CUB", r.ours.graph / r.cub.graph, r.graph_over_cub, false);
		target(&targets, "single/CUB", r.ours.single / r.cub.single, r.single_over_cub, false);
	}
	target(&targets, r.bandwidth == 'R' ? "R" : "C", share, r.share, true);
	if (!r.right)
		nwrong++;
	printf("| %s | %s | %s | %.4g | %.2f / %.2f | %s | %.0f | %.2f %c | %s%s |\n", r.part.c_str(),
		   r.what.c_str(), r.variant.c_str(), (double) r.rows, r.ours.graph, r.ours.single, cub, gb,
		   share, r.bandwidth, r.right ? "" : "WRONG ", targets.c_str());
	if (csv != nullptr)
		fprintf(csv,
				"\"%s\",\"%s\",\"%s\",%llu,%llu,%.3f,%.3f,%.3f,%.3f,%c,%.3f,%.1f,%.4f,%d,\"%s\"\n",
				r.part.c_str(), r.what.c_str(), r.variant.c_str(), (unsigned long long) r.rows,
				(unsigned long long) r.bytes, r.ours.graph, r.ours.single, r.cub.graph,
				r.cub.single, r.bandwidth, r.bandwidth_run.graph, gb, share, r.right,
				targets.c_str());
}

void
report_spread(const std::string &part, const std::string &what, double worst, double best,
			  double limit)
{
	std::string targets;

	target(&targets, "worst/best", worst / best, limit, false);
	printf("| %s | %s | worst against best | | %.2f | | | | %s |\n", part.c_str(), what.c_str(),
		   worst / best, targets.c_str());
	if (csv != nullptr)
		fprintf(csv, "\"%s\",\"%s\",\"worst against best\",,,%.4f,,,,,,,,,\"%s\"\n", part.c_str(),
				what.c_str(), worst / best, targets.c_str());
}

static const struct
{
	const char *name;
	void (*run)(const Options &options);
} parts[] = {
	{"reduce", reduce_cases}, {"scan", scan_cases},		{"segmented", segmented_cases},
	{"query", query_cases},	  {"ladder", ladder_cases}, {"counters", counter_cases},
};

static void
usage()
{
	fprintf(stderr, "usage: kernel_bench [--csv FILE] [--largest LOG2] [--only QUERY]");
	for (auto &part : parts)
		fprintf(stderr, " [%s]", part.name);
	fprintf(stderr, "\n");
	exit(2);
}

int
main(int argc, char **argv)
{
	std::vector<std::string> wanted;
	GpuaggDeviceInfo info;
	int largest = 28;
	int runtime = 0;
	Options options;

	for (int i = 1; i < argc; i++)
	{
		if (strcmp(argv[i], "--csv") == 0 && i + 1 < argc)
		{
			csv = fopen(argv[++i], "w");
			if (csv == nullptr)
			{
				perror(argv[i]);
				return 2;
			}
		}
		else if (strcmp(argv[i], "--largest") == 0 && i + 1 < argc)
			largest = atoi(argv[++i]);
		else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
			options.only = argv[++i];
		else if (std::any_of(std::begin(parts), std::end(parts), [&](auto &part) {
					 return strcmp(part.name, argv[i]) == 0;
				 }))
			wanted.push_back(argv[i]);
		else
			usage();
	}
	if (largest < 10 || largest > 32)
		usage();
	options.largest = UINT64_C(1) << largest;
	for (int size : {16, 20, 24, 28})
		if (size <= largest)
			options.sizes.push_back(UINT64_C(1) << size);

	setvbuf(stdout, nullptr, _IOLBF, 0);
	must(gpu_open(0), "gpu_open");
	must(gpu_describe(0, &info), "gpu_describe");
	must(gpu_stream_create(&stream), "gpu_stream_create");
	cudaRuntimeGetVersion(&runtime);
	printf("%s, CUDA runtime %d.%d, CUB %d.%d.%d\n", info.name, runtime / 1000, runtime % 1000 / 10,
		   CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
	printf("| part | what | data | rows | us, graph / single | CUB | GB/s | share | targets |\n");
	printf("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
	if (csv != nullptr)
		fprintf(csv, "part,what,data,rows,bytes,graph_us,single_us,cub_graph_us,cub_single_us,"
					 "bandwidth,bandwidth_us,gb_per_s,share,right,targets\n");

	for (auto &part : parts)
		if ((wanted.empty() && part.run != counter_cases) ||
			std::find(wanted.begin(), wanted.end(), part.name) != wanted.end())
			part.run(options);

	printf("targets: %d met, %d missed; results: %d wrong\n", nmet, nmissed, nwrong);
	if (csv != nullptr && fclose(csv) != 0)
		perror("csv");
	return nwrong == 0 ? 0 : 1;
}
