/*
 * float_case.h
 *	  A column of floats, how to scan it, and what must come out.
 */
#ifndef GPUAGG_TEST_FLOAT_CASE_H
#define GPUAGG_TEST_FLOAT_CASE_H

#include "harness.h"
#include "oracle.h"

#include <string.h>

namespace float_case
{

/* What a scan gives back. */
struct Output
{
	std::vector<unsigned char> results;
	std::vector<unsigned char> status;
	GpuScanState state;

	bool operator==(const Output &other) const
	{
		return results == other.results && status == other.status &&
			   memcmp(&state, &other.state, sizeof(state)) == 0;
	}
};

typedef std::vector<uint64_t> Bitmap;

/* One column and how to scan it. */
struct Case
{
	int kind;
	bool exclusive;
	bool averages;
	int window;
	std::vector<double> values; /* floats are converted */
	Bitmap validity;			/* empty: none is given */
	Bitmap heads;
	bool has_carry;
	GpuScanState carry;
	bool want_status;
	int offset; /* of values and results, in values: how they are aligned */
	std::string what;
};

extern bool bit(const Bitmap &bitmap, uint64_t i, bool otherwise);
extern void set_bit(Bitmap &bitmap, uint64_t i);

/* States, and the oracle's view of them. */
extern GpuScanState empty_state();
extern GpuScanState state_of(const Oracle &oracle);

/* The lowest chunk in use by rows and carry. */
extern int choose_window(const Case &c);

/* Scans three times: also in place, and the wide way; reports when runs differ. */
extern Output run_scan(const Case &c);

/* Rows and state against the oracle. */
extern void check(const Case &c, const Output &output);

/* The same column by segment. */
extern void check_segments(const Case &c, const GpuScanState &scanned);

/* Scans the column in batches of random size; the rows must be the same as in one. */
extern void check_batches(const Case &whole, const Output &output, Random &random);

} // namespace float_case

#endif /* GPUAGG_TEST_FLOAT_CASE_H */
