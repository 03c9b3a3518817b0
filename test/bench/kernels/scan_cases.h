/*
 * scan_cases.h
 *	  What plain and segmented scans share.
 */
#ifndef GPUAGG_BENCH_SCAN_CASES_H
#define GPUAGG_BENCH_SCAN_CASES_H

#include "bench.h"

struct ScanRun
{
	const Sets &sets;
	GpuScan scan;
	DeviceMemory state;
	DeviceMemory scratch;

	ScanRun(const Sets &s, const GpuScan &pattern);
	void launch(int set);
	bool fits_window() const;
};

extern double scan_tolerance(int kind, uint64_t n);

#endif /* GPUAGG_BENCH_SCAN_CASES_H */
