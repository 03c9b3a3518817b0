/*
 * running.h
 *	  What running sums of integers, minima, maxima and counts must be, row by
 *	  row, and columns with NULLs and heads to try them on.
 *
 * Shares no code with what it judges.
 */
#ifndef GPUAGG_TEST_RUNNING_H
#define GPUAGG_TEST_RUNNING_H

#include "harness.h"

/* What has been seen up to a row. */
struct Running
{
	int kind;
	int op;
	bool narrow;
	bool seen;
	__int128 sum; /* SUM, COUNT; MIN, MAX: a number in the order of values */

	Running(int k, int o, bool n);
	void reset();
	void add(const void *value);
	void carry_in(const GpuaggScanState &state);

	/* Appends the result as bytes; returns the status. */
	uint8_t result(std::vector<unsigned char> *bytes) const;
	bool state_is(const GpuaggScanState &state) const;
};

/* Numbers in the order of values of this kind. */
extern int64_t order_number(int kind, const void *value);

enum Nulls
{
	NO_BITMAP,
	NO_NULLS,
	ALL_NULL,
	NULLS_FIRST,
	SOME_NULL,
	NNULLS
};

enum Heads
{
	NO_HEADS,
	HEADS_NONE, /* a bitmap without a bit */
	HEADS_ALL,
	HEADS_FIRST,
	HEADS_PAIRS,
	HEADS_TILES, /* one a tile, some of them first, some last */
	HEADS_SOME,	 /* one row in 64 */
	HEADS_FEW,	 /* one row in 5000 */
	NHEADS
};

/* Bits past the last row are set, and mean nothing. */
extern std::vector<uint64_t> make_validity(Nulls nulls, uint64_t n, Random &random);
extern std::vector<uint64_t> make_heads(Heads heads, uint64_t n, uint64_t tile, Random &random);

/* n bits of a bitmap from bit `from` on. */
extern std::vector<uint64_t> cut(const std::vector<uint64_t> &bitmap, uint64_t from, uint64_t n);

/* n values of a kind, by number of a family; a float column has NaN, infinities and zeros. */
extern std::vector<unsigned char> make_values(int kind, int family, uint64_t n, Random &random);

extern GpuScanState empty_state();

/* A state as earlier rows would have left it; edge: a sum near the limits of int64. */
extern GpuScanState some_state(int kind, int op, bool narrow, bool edge, Random &random);

static inline bool
bit_of(const std::vector<uint64_t> &bitmap, uint64_t i)
{
	return bitmap[i / 64] >> (i % 64) & 1;
}

#endif /* GPUAGG_TEST_RUNNING_H */
