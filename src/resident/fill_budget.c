/*
 * fill_budget.c
 *	  Which chunks are filled by a query that reads their pages anyway, so that it takes little longer.
 */
#include "resident/fill_budget.h"

#include <string.h>

void
gpuagg_fill_budget_init(FillBudget *budget)
{
	memset(budget, 0, sizeof(FillBudget));
}

static void
add_sample(FillSamples *samples, double time)
{
	samples->times[samples->n++ % FILL_BUDGET_SAMPLES] = time;
}

/* The one behind the lower third, as processes are held up, and never the other way; 0 of none. */
static double
usual(const FillSamples *samples)
{
	double sorted[FILL_BUDGET_SAMPLES];
	uint32_t n = samples->n < FILL_BUDGET_SAMPLES ? samples->n : FILL_BUDGET_SAMPLES;

	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t j = i;

		for (; j > 0 && sorted[j - 1] > samples->times[i]; j--)
			sorted[j] = sorted[j - 1];
		sorted[j] = samples->times[i];
	}
	return n == 0 ? 0 : sorted[(n - 1) / 3];
}

/* What a filled page takes longer than another, without the making of blocks. */
static double
longer(const FillBudget *budget)
{
	double more = usual(&budget->filled) - usual(&budget->plain);

	return more > 0 ? more : 0;
}

/* What all pages would have taken without a fill, and what filling has taken beyond that. */
static double
plain_time(const FillBudget *budget)
{
	return budget->earlier_plain + budget->read_pages * usual(&budget->plain);
}

static double
spent(const FillBudget *budget)
{
	return budget->earlier_spent + budget->made + budget->filled_pages * longer(budget);
}

void
gpuagg_fill_budget_turn(FillBudget *budget)
{
	double plain = plain_time(budget);
	double beyond = spent(budget);

	gpuagg_fill_budget_init(budget);
	budget->earlier_plain = plain;
	budget->earlier_spent = beyond;
}

/* Whether the next chunk tells once more what pages cost without a fill. */
static bool
is_plain(const FillBudget *budget)
{
	uint32_t known = budget->plain.n;

	return known < FILL_BUDGET_KNOWN || budget->filled_on >= FILL_BUDGET_AGAIN ||
		   budget->filled_on >= FILL_BUDGET_FIRST * known;
}

bool
gpuagg_fill_budget_fills(const FillBudget *budget, uint32_t pages)
{
	double extra = pages * (longer(budget) + usual(&budget->making));

	if (is_plain(budget))
		return false;
	if (budget->filled.n < FILL_BUDGET_KNOWN ||
		(budget->filled_pages + pages) * FILL_BUDGET_LEAST <= budget->read_pages + pages)
		return true;
	return spent(budget) + extra <=
		   FILL_BUDGET_PART * (plain_time(budget) + pages * usual(&budget->plain));
}

void
gpuagg_fill_budget_add(FillBudget *budget, bool filled, uint32_t pages, double reading,
					   double making)
{
	budget->read_pages += pages;
	budget->filled_on = filled ? budget->filled_on + 1 : 0;
	if (filled)
	{
		budget->filled_pages += pages;
		budget->made += making;
	}
	if (pages < FILL_BUDGET_PAGES)
		return;
	add_sample(filled ? &budget->filled : &budget->plain, reading / pages);
	if (filled)
		add_sample(&budget->making, making / pages);
}
