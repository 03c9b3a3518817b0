/*
 * answers.h
 *	  Requests on a leased region whose answers are compared with plain loops.
 *
 * Columns begin at the region's start and are filled from `seed`; bitmaps are
 * made anew for each request.
 */
#ifndef GPUAGG_TEST_ANSWERS_H
#define GPUAGG_TEST_ANSWERS_H

#include "client.h"

/* The chunk where the window begins that holds the values below. */
#define ANSWERS_WINDOW 28

extern uint64_t answers_seed;

/* Values of a kind, at the region's start; with specials also NaN, infinities and -0. */
extern void column_fill(Lease *lease, int kind, uint64_t nrows, bool specials);

/* Whether a reduction is right; flags: GPUAGG_SCAN_VALIDITY or 0. */
extern bool reduce_is_right(int fd, Lease *lease, int kind, int op, unsigned flags, uint64_t nrows);

/* The state before the first row of all. */
extern void state_init(GpuaggScanState *state);

/* Whether a scan is right that goes on from *state, which is moved on. */
extern bool scan_is_right(int fd, Lease *lease, int kind, int op, unsigned flags, uint64_t nrows,
						  GpuaggScanState *state);

/*
 * Whether items of random words are sorted, stably.  Keys are below 2^bits_set; the
 * bits from `bits` on are not to be looked at.
 */
extern bool sort_is_right(int fd, Lease *lease, int words, int bits, int bits_set, uint64_t nrows);

/* Whether an algorithm of the ladder is right. */
extern bool ladder_is_right(int fd, Lease *lease, int task, int algorithm, int kind, int op,
							bool exclusive, uint64_t nrows);

#endif /* GPUAGG_TEST_ANSWERS_H */
