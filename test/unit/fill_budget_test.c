/*
 * fill_budget_test.c
 *	  Which chunks are filled, by made-up times.
 */
#include "resident/fill_budget.h"

#include <string.h>

#include "check.h"
#include "random.h"

#define PAGES 256
#define PLAIN 1000.0 /* of a page */

/* What a query finds: times of a page, of chunk i. */
typedef struct Costs
{
	double longer; /* of PLAIN, that a filled page takes longer */
	double making; /* the same, of blocks */
	int spikes;	   /* making of each chunk of so many that are filled takes as for all of them */
	int held_up;   /* reading of one chunk of so many takes 50 times as long; 0: none */
} Costs;

typedef struct Outcome
{
	int filled;
	double plain; /* time of all pages without a fill, as no process is held up */
	double extra; /* beyond that, the same */
	bool fills[4096];
} Outcome;

static Outcome
query(FillBudget *budget, int nchunks, Costs costs)
{
	Outcome outcome = {0};

	for (int i = 0; i < nchunks; i++)
	{
		bool fills = gpuagg_fill_budget_fills(budget, PAGES);
		double reading = PAGES * PLAIN * (fills ? 1 + costs.longer : 1);
		double making = 0;

		outcome.fills[i] = fills;
		if (fills)
		{
			outcome.filled++;
			making = PAGES * PLAIN * costs.making;
			if (costs.spikes > 0)
				making *= outcome.filled % costs.spikes == 1 ? costs.spikes : 0;
		}
		outcome.plain += PAGES * PLAIN;
		outcome.extra += reading - PAGES * PLAIN + making;
		if (costs.held_up > 0 && next() % costs.held_up == 0)
			reading *= 50;
		gpuagg_fill_budget_add(budget, fills, PAGES, reading, making);
	}
	return outcome;
}

static Outcome
first_query(int nchunks, Costs costs)
{
	FillBudget budget;

	gpuagg_fill_budget_init(&budget);
	return query(&budget, nchunks, costs);
}

/* What is known first, and nothing from memory that is not zero. */
static void
test_begin(void)
{
	FillBudget budget;
	FillBudget zero;
	Outcome outcome = first_query(4, (Costs){0});

	memset(&budget, 0xff, sizeof(budget));
	gpuagg_fill_budget_init(&budget);
	memset(&zero, 0, sizeof(zero));
	CHECK(memcmp(&budget, &zero, sizeof(budget)) == 0);
	CHECK(!outcome.fills[0] && !outcome.fills[1] && outcome.fills[2] && outcome.fills[3]);
	/* however dear */
	outcome = first_query(4, (Costs){.longer = 100});
	CHECK(!outcome.fills[0] && !outcome.fills[1] && outcome.fills[2] && outcome.fills[3]);
}

/* What costs little is filled, but for the chunks that tell what others cost. */
static void
test_cheap(void)
{
	for (int k = 0; k <= 14; k++)
	{
		Outcome outcome = first_query(1000, (Costs){.longer = k / 200.0, .making = k / 200.0});
		int last = 1;

		CHECK(outcome.filled >= 1000 - 1000 / FILL_BUDGET_AGAIN - 10);
		CHECK(outcome.filled <= 1000 - 1000 / (FILL_BUDGET_AGAIN + 1));
		/* at first these are closer together */
		for (int i = 2; i < 1000; i++)
			if (!outcome.fills[i])
			{
				CHECK(i - last <= FILL_BUDGET_AGAIN + 1);
				CHECK(i > 100 || i - last <= FILL_BUDGET_AGAIN);
				last = i;
			}
		CHECK(!outcome.fills[2 + FILL_BUDGET_FIRST * 2] &&
			  outcome.fills[3 + FILL_BUDGET_FIRST * 2]);
	}
	/* that fills are faster means nothing */
	CHECK(first_query(1000, (Costs){.longer = -0.5}).filled ==
		  first_query(1000, (Costs){0}).filled);
}

/* Costs of a chunk below FILL_BUDGET_PART * FILL_BUDGET_LEAST, which are kept to the part. */
static void
test_part(void)
{
	static const double costs[] = {0.19, 0.25, 0.5, 1, 1.5, 2, 2.3};
	static const int numbers[] = {100, 1000, 4000};

	for (int c = 0; c < 7; c++)
		for (int n = 0; n < 3; n++)
			for (int part = 0; part <= 4; part++)
				for (int spikes = 0; spikes <= 16; spikes += 4)
				{
					double making = costs[c] * part / 4;
					Outcome outcome = first_query(numbers[n], (Costs){.longer = costs[c] - making,
																	  .making = making,
																	  .spikes = spikes});
					/* the first ones, and the last spike, come unasked */
					double unasked = (FILL_BUDGET_KNOWN * costs[c] + spikes * making) * PAGES *
									 PLAIN;

					CHECK(outcome.extra <= FILL_BUDGET_PART * outcome.plain + unasked);
					/* and use it, as far as this many are filled */
					CHECK(outcome.extra >= FILL_BUDGET_PART * outcome.plain - unasked -
											   costs[c] * PAGES * PLAIN ||
						  outcome.filled >= numbers[n] * 0.9);
				}
}

/* Whatever it costs, some are filled, and hardly more. */
static void
test_least(void)
{
	for (int cost = 4; cost < 10000; cost *= 4)
	{
		int filled = first_query(1600, (Costs){.longer = cost}).filled;

		CHECK(filled >= 1600 / FILL_BUDGET_LEAST && filled <= 1600 / FILL_BUDGET_LEAST + 2);
		filled = first_query(1600, (Costs){.making = cost}).filled;
		CHECK(filled >= 1600 / FILL_BUDGET_LEAST && filled <= 1600 / FILL_BUDGET_LEAST + 2);
	}
}

/* A process that is held up now and then decides much as one that is not. */
static void
test_held_up(void)
{
	static const double longer[] = {0.05, 0.3, 1, 2};

	for (int c = 0; c < 4; c++)
		for (int each = 6; each < 40; each += 2)
		{
			Outcome calm = first_query(2000, (Costs){.longer = longer[c]});
			double extra = 0;
			double filled = 0;

			for (int i = 0; i < 20; i++)
			{
				Outcome held = first_query(2000, (Costs){.longer = longer[c], .held_up = each});

				extra += held.extra / held.plain / 20;
				filled += held.filled / 20.0;
			}
			CHECK(extra <= FILL_BUDGET_PART * 1.1);
			CHECK(filled >= calm.filled * 0.9);
		}
}

/* A table comes into memory as a whole, with queries that each find less to be read. */
static void
test_whole(void)
{
	for (int cost = 0; cost < 1000; cost = 2 * cost + 1)
	{
		int left = 1000;
		int queries = 0;

		for (; left > 32 && queries < 100; queries++)
			left -= first_query(left, (Costs){.longer = cost}).filled;
		CHECK(left <= 32);
		CHECK(cost > 1 || queries <= 24);
	}
}

/* Tables of one statement have their times each, and the part together. */
static void
test_turn(void)
{
	FillBudget budget;
	Outcome first;
	Outcome second;

	gpuagg_fill_budget_init(&budget);
	first = query(&budget, 500, (Costs){.longer = 1});
	gpuagg_fill_budget_turn(&budget);
	CHECK(!gpuagg_fill_budget_fills(&budget, PAGES));
	second = query(&budget, 500, (Costs){.longer = 2});
	CHECK(!second.fills[0] && !second.fills[1] && second.fills[2] && second.fills[3]);
	CHECK(first.extra + second.extra <=
		  FILL_BUDGET_PART * (first.plain + second.plain) + 6 * PAGES * PLAIN);
	/* and without a turn it goes on */
	CHECK(query(&budget, 1, (Costs){.longer = 2}).plain > 0 && budget.plain.n > 2);
}

/* Few pages tell nothing, and count. */
static void
test_small(void)
{
	FillBudget budget;

	gpuagg_fill_budget_init(&budget);
	for (int i = 0; i < 100; i++)
	{
		CHECK(!gpuagg_fill_budget_fills(&budget, FILL_BUDGET_PAGES - 1));
		gpuagg_fill_budget_add(&budget, false, FILL_BUDGET_PAGES - 1, 1e9, 0);
	}
	CHECK(budget.plain.n == 0 && budget.read_pages == 100 * (FILL_BUDGET_PAGES - 1));
	gpuagg_fill_budget_add(&budget, false, FILL_BUDGET_PAGES, FILL_BUDGET_PAGES * PLAIN, 0);
	CHECK(budget.plain.n == 1);
}

int
main(void)
{
	test_begin();
	test_cheap();
	test_part();
	test_least();
	test_held_up();
	test_whole();
	test_turn();
	test_small();
	return check_summary();
}
