/*
 * fill_budget.h
 *	  Which chunks are filled by a query that reads their pages anyway, so that it takes little longer.
 *
 * Who reads a table chunk by chunk asks before each whether it is filled, and tells afterwards how
 * long it took.  Some are read without a fill, to know what a page costs; others are filled as long
 * as what filling has taken beyond that, with what this chunk is going to take, is a part of what all
 * pages would have taken without a fill: FILL_BUDGET_PART.  What comes in between counts with what
 * is usual among the last chunks, as a process may be held up anywhere; the making of blocks, some of
 * which take much longer than others, with the time that it took.
 *
 * One chunk of FILL_BUDGET_LEAST is filled whatever it takes, so that a table is in memory some day.
 *
 * Times are nanoseconds.
 */
#ifndef GPUAGG_FILL_BUDGET_H
#define GPUAGG_FILL_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define FILL_BUDGET_PART	0.15 /* what is unasked comes on top */
#define FILL_BUDGET_LEAST	16
#define FILL_BUDGET_KNOWN	2  /* chunks that are read, and that are filled, before it is known */
#define FILL_BUDGET_AGAIN	32 /* so many chunks after one that was read, another is; at first */
#define FILL_BUDGET_FIRST	4  /* so many times as many as have been read */
#define FILL_BUDGET_SAMPLES 9
#define FILL_BUDGET_PAGES	64 /* a chunk of fewer is no sample */

/* Times of a page, of the last chunks. */
typedef struct FillSamples
{
	double times[FILL_BUDGET_SAMPLES];
	uint32_t n; /* that have come */
} FillSamples;

typedef struct FillBudget
{
	FillSamples plain;	/* of chunks without a fill */
	FillSamples filled; /* of others, without the making of blocks */
	FillSamples making; /* of blocks, of these */
	uint32_t filled_on; /* chunks since one was read without a fill */
	uint64_t read_pages;
	uint64_t filled_pages; /* of these */
	double made;		   /* time of all making of blocks */

	/* of other tables, what all pages would have taken, and what was spent beyond that */
	double earlier_plain;
	double earlier_spent;
} FillBudget;

/* Nothing has been read; all zeros is the same. */
extern void gpuagg_fill_budget_init(FillBudget *budget);

/* Another table's pages follow, of which times are not known. */
extern void gpuagg_fill_budget_turn(FillBudget *budget);

/* Whether the next chunk, of which so many pages will be read, is filled. */
extern bool gpuagg_fill_budget_fills(const FillBudget *budget, uint32_t pages);

/*
 * A chunk has been read, and filled if so it was answered: what its pages took, and the making of its
 * blocks.
 */
extern void gpuagg_fill_budget_add(FillBudget *budget, bool filled, uint32_t pages, double reading,
								   double making);

#endif /* GPUAGG_FILL_BUDGET_H */
