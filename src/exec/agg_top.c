/*
 * agg_top.c
 *	  The groups of a GpuAgg node that a sort and a LIMIT above may want.
 *
 * A look at all groups tests HAVING, makes a word of each one's first sort key, in the order of the
 * sort, and keeps the least of them in a heap; then the groups whose words are not behind are given
 * out.
 * Numerics beyond 64 bits and NULLs have the words of the ends, which may be equal where they are not.
 */
#include "compat.h"

#include "executor/executor.h"
#include "lib/binaryheap.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "engine/cpu.h"
#include "exec/agg_results.h"
#include "exec/agg_top.h"
#include "types/sort_key.h"

struct AggTopRun
{
	MemoryContext context;
	uint64 *words;	/* of all groups */
	uint64 *passed; /* bits of those that pass HAVING */
	int64 n;
	int64 room;	 /* a multiple of a vector's rows */
	uint64 last; /* the greatest word that is wanted, */
	int64 equal; /* and so many of the groups that have it */
	int64 next;	 /* of the words: that of the next group */
	int nrows;	 /* of the vector */
	int row;
};

static int
compare_words(Datum a, Datum b, void *unused)
{
	uint64 x = DatumGetUInt64(a);
	uint64 y = DatumGetUInt64(b);

	return (x > y) - (x < y);
}

/* ---- words ---- */

static void *
enlarge(const AggTopRun *run, void *array, Size bytes)
{
	return array == NULL ? MemoryContextAllocHuge(run->context, bytes)
						 : repalloc_huge(array, bytes);
}

/* Room for a vector; false: they take more memory than groups may. */
static bool
make_room(AggTopRun *run)
{
	if (run->n + GPUAGG_VECTOR_ROWS <= run->room)
		return true;
	run->room = Max(2 * run->room, 16 * GPUAGG_VECTOR_ROWS);
	if (run->room * sizeof(uint64) > get_hash_memory_limit())
		return false;
	run->words = enlarge(run, run->words, run->room * sizeof(uint64));
	run->passed = enlarge(run, run->passed, run->room / 64 * sizeof(uint64));
	return true;
}

static uint64
word_of(const AggTop *top, uint64 word, bool isnull)
{
	if (isnull)
		return top->nulls_first ? 0 : PG_UINT64_MAX;
	return top->descending ? ~word : word;
}

/* False: a value is no such integer. */
static bool
make_numeric_words(PlanState *ps, const AggTop *top, int n, uint64 *words)
{
	GpuaggInt128 values[GPUAGG_VECTOR_ROWS];
	uint64 valid[GPUAGG_VECTOR_WORDS] = {0};

	if (!gpuagg_agg_results_integers(ps, top->column, top->scale, values, valid))
		return false;
	for (int i = 0; i < n; i++)
	{
		int64 value = gpuagg_int128_is_int64(values[i]) ? (int64) values[i].lo
					  : values[i].hi < 0				? PG_INT64_MIN
														: PG_INT64_MAX;

		words[i] = word_of(top, gpuagg_key_word(value), !gpuagg_bit(valid, i));
	}
	return true;
}

static void
make_words(PlanState *ps, const AggTop *top, SqlForm form, int n, uint64 *words)
{
	for (int i = 0; i < n; i++)
	{
		bool isnull;
		Datum value = gpuagg_agg_results_datum(ps, top->column, i, &isnull);

		words[i] = word_of(top, isnull ? 0 : gpuagg_sort_key_word(form, value), isnull);
	}
}

static void
set_bit(uint64 *bits, int64 i, bool value)
{
	uint64 bit = UINT64CONST(1) << i % 64;

	bits[i / 64] = value ? bits[i / 64] | bit : bits[i / 64] & ~bit;
}

/* Among the n least. */
static void
keep_word(binaryheap *heap, int n, uint64 word)
{
	if (heap->bh_size < n)
		binaryheap_add(heap, UInt64GetDatum(word));
	else if (word < DatumGetUInt64(binaryheap_first(heap)))
		binaryheap_replace_first(heap, UInt64GetDatum(word));
}

/* heap: the least words, or all. */
static void
set_last(const AggTop *top, AggTopRun *run, binaryheap *heap)
{
	run->last = PG_UINT64_MAX;
	run->equal = PG_INT64_MAX;
	if (heap->bh_size < top->n)
		return;
	run->last = DatumGetUInt64(binaryheap_first(heap));
	if (!top->only_key || run->last == 0 || run->last == PG_UINT64_MAX)
		return;
	run->equal = 0;
	for (int i = 0; i < heap->bh_size; i++)
		run->equal += DatumGetUInt64(heap->bh_nodes[i]) == run->last;
}

/* The words of all groups, and the last that is wanted; false: some has none. */
static bool
find_last(AggScanState *node, AggTopRun *run)
{
	const AggTop *top = &node->spec->top;
	PlanState *ps = &node->css.ss.ps;
	Oid type =
		TupleDescAttr(node->css.ss.ss_ScanTupleSlot->tts_tupleDescriptor, top->column)->atttypid;
	SqlForm form = top->scale < 0 ? gpuagg_sql_type(getBaseType(type))->form : SQL_OPAQUE;
	binaryheap *heap = binaryheap_allocate(top->n, compare_words, NULL);
	int n;

	while (n = gpuagg_agg_results_next_any(ps), n > 0)
	{
		uint64 *words;

		if (!make_room(run))
			return false;
		words = run->words + run->n;
		if (top->scale < 0)
			make_words(ps, top, form, n, words);
		else if (!make_numeric_words(ps, top, n, words))
			return false;
		for (int i = 0; i < n; i++)
		{
			bool passes = gpuagg_agg_results_passes(ps, i);

			set_bit(run->passed, run->n + i, passes);
			if (passes)
				keep_word(heap, top->n, words[i]);
		}
		run->n += n;
	}
	set_last(top, run, heap);
	return true;
}

/* ---- the groups ---- */

bool
gpuagg_agg_top_begin(AggScanState *node)
{
	PlanState *ps = &node->css.ss.ps;
	AggTopRun *run = node->top;
	MemoryContext old;
	bool found;

	if (!gpuagg_agg_results_begin(ps) || !gpuagg_agg_results_look(ps, true))
		return false;
	if (run == NULL)
	{
		run = node->top = MemoryContextAllocZero(ps->state->es_query_cxt, sizeof(AggTopRun));
		run->context = AllocSetContextCreate(ps->state->es_query_cxt, "gpuagg first groups",
											 ALLOCSET_DEFAULT_SIZES);
	}
	MemoryContextReset(run->context);
	*run = (AggTopRun){.context = run->context};
	old = MemoryContextSwitchTo(run->context);
	found = find_last(node, run);
	MemoryContextSwitchTo(old);
	found &= gpuagg_agg_results_look(ps, false);
	if (!found)
		MemoryContextReset(run->context);
	return found;
}

/* The row of the vector that is the next; false at the end. */
static bool
find_next(AggScanState *node, AggTopRun *run, int *row)
{
	for (;;)
	{
		int64 i = run->next;

		if (run->row == run->nrows)
		{
			run->nrows = i < run->n ? gpuagg_agg_results_next_any(&node->css.ss.ps) : 0;
			run->row = 0;
			if (run->nrows == 0)
				return false;
		}
		*row = run->row++;
		run->next++;
		if (gpuagg_bit(run->passed, i) &&
			(run->words[i] < run->last || (run->words[i] == run->last && run->equal-- > 0)))
			return true;
	}
}

bool
gpuagg_agg_top_next(AggScanState *node, TupleTableSlot *slot)
{
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	MemoryContext old;
	int row;

	if (!find_next(node, node->top, &row))
		return false;
	ResetExprContext(econtext);
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	gpuagg_agg_results_store(&node->css.ss.ps, row, slot);
	MemoryContextSwitchTo(old);
	return true;
}
