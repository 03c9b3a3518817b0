/*
 * row_sort.c
 *	  Sorts rows by keys of fixed width, and tells where partitions and peers begin.
 *
 * Rows lie in blocks in the order in which they came.  Each row has an item in an
 * array: the words of its keys (types/sort_key.h) and its address.  When all rows are
 * there, the keys of an item are packed into one number, the first key on top.  A key
 * becomes its distance from the least value (descending: from the greatest).  It gets
 * only the bits that the greatest distance takes, less the low bits that are equal in
 * all values (as in timestamps of whole seconds, or floats of few digits).  NULL is one
 * more value at either end.  Then the items are sorted by number.
 *
 * Items are packed in place and sorted with scratch memory of the same size.  So memory
 * is that of the rows, and of the unpacked items or twice the packed ones, whichever is
 * more.  Beyond the limit the rows move to core's tuplesort.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "common/radix.h"
#include "engine/sort.h"
#include "exec/row_blocks.h"
#include "types/sort_key.h"
#include "exec/row_sort.h"

#define LEAST_LIMIT	  (64 * 1024)
#define PIECE_ROWS	  1024 /* between checks of the limit */
#define PREFETCH_ROWS 16

/* A key may take 65 bits. */
StaticAssertDecl(SORT_MAX_KEYS * 65 <= GPUAGG_RADIX_MAX_WORDS * 64, "keys fit an item");
StaticAssertDecl(sizeof(MinimalTuple) <= sizeof(uint64), "a row's address fits a word");

/* A key's column, the range of its values, and how they are packed. */
typedef struct SortKey
{
	AttrNumber attno;
	SqlForm form;
	bool descending;
	bool nulls_first;
	const WindowColumn *column;

	bool has_values;
	bool has_nulls;
	uint64 least;
	uint64 greatest;
	uint64 differs; /* its lowest bit is the lowest in which two values differ */

	int low_bits;  /* that are equal in all values, and left out */
	int position;  /* of its lowest bit in the number */
	int bits;	   /* 0 to 64 */
	bool null_bit; /* above those bits; for NULL, if the values take all 2^64 distances */
	uint64 shift;  /* 1 if NULL is packed as 0 */
	uint64 null_value;
} SortKey;

struct RowSort
{
	MemoryContext context;
	MemoryContext data; /* of the rows; reset when they are forgotten */
	TupleDesc desc;
	int64 limit;
	int nkeys;
	int npartition;
	AttrNumber last_attno; /* of all keys */
	SortKey keys[SORT_MAX_KEYS];

	int64 nrows;
	RowBlocks *blocks;
	uint64 *items;
	int64 room;		  /* unpacked items that there is memory for */
	int64 rows_limit; /* bytes for the blocks: what the items leave of the limit */

	/* sorted in memory */
	int words; /* of a number */
	uint64 partition_mask[GPUAGG_RADIX_MAX_WORDS];
	int64 device_pieces;
	int64 position;
	int row_reach; /* bytes from a row's start to the second place that is prefetched */

	/* sorted by core */
	Tuplesortstate *tuplesort;
	bool ended;
	uint8 last_nulls; /* bit k: key k of the last row is NULL */
	uint64 last_words[SORT_MAX_KEYS];

	RowSortReport report; /* of the rows that were forgotten last */
};

/* Starts without rows. */
static void
start(RowSort *sort)
{
	MemoryContextReset(sort->data);
	sort->blocks = gpuagg_row_blocks_make(sort->desc, sort->data);
	sort->nrows = 0;
	sort->items = NULL;
	sort->room = 0;
	sort->rows_limit = sort->limit;
	sort->device_pieces = 0;
	sort->position = 0;
	sort->tuplesort = NULL;
	sort->ended = false;
	for (int k = 0; k < sort->nkeys; k++)
	{
		sort->keys[k].has_values = false;
		sort->keys[k].has_nulls = false;
	}
}

RowSort *
gpuagg_row_sort_begin(TupleDesc desc, const WindowSpec *spec, int64 limit, MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "gpuagg row sort", ALLOCSET_SMALL_SIZES);
	RowSort *sort = MemoryContextAllocZero(context, sizeof(*sort));

	sort->context = context;
	sort->data = AllocSetContextCreate(context, "gpuagg rows to sort", ALLOCSET_DEFAULT_SIZES);
	sort->desc = desc;
	sort->limit = Max(limit, LEAST_LIMIT);
	sort->nkeys = spec->npartition + spec->norder;
	sort->npartition = spec->npartition;
	if (sort->nkeys > SORT_MAX_KEYS)
		elog(ERROR, "too many keys to sort by");
	for (int k = 0; k < sort->nkeys; k++)
	{
		const WindowColumn *column = k < spec->npartition ? &spec->partition[k]
														  : &spec->order[k - spec->npartition];
		SortKey *key = &sort->keys[k];

		key->attno = column->attno;
		key->column = column;
		key->nulls_first = column->nulls_first;
		if (!gpuagg_sort_key_find(TupleDescAttr(desc, key->attno - 1)->atttypid,
								  column->sort_operator, &key->form, &key->descending))
			elog(ERROR, "operator %u is no order of column %d", column->sort_operator, key->attno);
		sort->last_attno = Max(sort->last_attno, key->attno);
	}
	start(sort);
	return sort;
}

/* Chooses how values are packed; returns the bits of all keys together. */
static int
pack_keys(RowSort *sort)
{
	int bits = 0;

	for (int k = sort->nkeys - 1; k >= 0; k--)
	{
		SortKey *key = &sort->keys[k];
		uint64 distance = key->has_values ? key->greatest - key->least : 0;
		bool null_value = key->has_nulls && key->has_values;

		key->low_bits = distance > 0 ? pg_rightmost_one_pos64(key->differs) : 0;
		distance >>= key->low_bits;
		key->null_bit = null_value && distance == PG_UINT64_MAX;
		if (null_value && !key->null_bit)
			distance++;
		key->shift = null_value && !key->null_bit && key->nulls_first;
		key->null_value = null_value && !key->null_bit && !key->nulls_first ? distance : 0;
		key->position = bits;
		key->bits = distance == 0 ? 0 : pg_leftmost_one_pos64(distance) + 1;
		bits += key->bits + key->null_bit;
	}
	return bits;
}

static int
words_of(int bits)
{
	return Max((bits + 63) / 64, 1);
}

/* Bytes of all items of so many rows, before and after they are packed. */
static Size
unpacked_bytes(const RowSort *sort, int64 nrows)
{
	return nrows * (sort->nkeys + 1) * sizeof(uint64);
}

static Size
packed_bytes(int words, int64 nrows)
{
	return 2 * nrows * (words + 1) * sizeof(uint64);
}

/* Sets how many bytes the items of so many rows leave to the rows. */
static void
set_rows_limit(RowSort *sort, int64 nrows)
{
	int words = words_of(pack_keys(sort));

	sort->rows_limit = sort->limit -
					   (int64) Max(unpacked_bytes(sort, nrows), packed_bytes(words, nrows));
}

/* Makes room for the items of PIECE_ROWS more rows: twice as many, within the limit. */
static void
start_piece(RowSort *sort)
{
	int64 most = sort->limit / unpacked_bytes(sort, PIECE_ROWS) * PIECE_ROWS;

	set_rows_limit(sort, sort->nrows + PIECE_ROWS);
	if (sort->nrows < sort->room)
		return;
	sort->room = Max(sort->room + PIECE_ROWS, Min(sort->room * 2, most));
	if (sort->items == NULL)
		sort->items = MemoryContextAllocHuge(sort->data, unpacked_bytes(sort, sort->room));
	else
		sort->items = repalloc_huge(sort->items, unpacked_bytes(sort, sort->room));
}

/* Moves all rows to core's tuplesort. */
static void
move_to_tuplesort(RowSort *sort)
{
	AttrNumber attnos[SORT_MAX_KEYS];
	Oid operators[SORT_MAX_KEYS];
	Oid collations[SORT_MAX_KEYS];
	bool nulls_first[SORT_MAX_KEYS];
	MemoryContext caller = MemoryContextSwitchTo(sort->data);
	TupleTableSlot *slot;
	MinimalTuple row;

	if (sort->items != NULL)
		pfree(sort->items);
	sort->items = NULL;
	for (int k = 0; k < sort->nkeys; k++)
	{
		attnos[k] = sort->keys[k].attno;
		operators[k] = sort->keys[k].column->sort_operator;
		collations[k] = sort->keys[k].column->collation;
		nulls_first[k] = sort->keys[k].nulls_first;
	}
	sort->tuplesort = tuplesort_begin_heap(sort->desc, sort->nkeys, attnos, operators, collations,
										   nulls_first, Min(sort->limit / 1024, INT_MAX), NULL,
										   TUPLESORT_NONE);
	slot = MakeSingleTupleTableSlot(sort->desc, &TTSOpsMinimalTuple);
	MemoryContextSwitchTo(caller);

	while ((row = gpuagg_row_blocks_next(sort->blocks, true)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		ExecStoreMinimalTuple(row, slot, false);
		tuplesort_puttupleslot(sort->tuplesort, slot);
	}
	ExecDropSingleTupleTableSlot(slot);
	gpuagg_row_blocks_clear(sort->blocks);
}

void
gpuagg_row_sort_put(RowSort *sort, TupleTableSlot *slot)
{
	uint64 *item;
	MinimalTuple row = NULL;

	if (likely(sort->tuplesort == NULL))
	{
		if (sort->nrows % PIECE_ROWS == 0)
			start_piece(sort);
		slot_getsomeattrs(slot, sort->last_attno);
		row = gpuagg_row_blocks_append(sort->blocks, slot, sort->rows_limit);
		if (unlikely(row == NULL))
			move_to_tuplesort(sort);
	}
	if (unlikely(row == NULL))
	{
		tuplesort_puttupleslot(sort->tuplesort, slot);
		return;
	}

	item = sort->items + sort->nrows++ * (sort->nkeys + 1);
	for (int k = 0; k < sort->nkeys; k++)
	{
		SortKey *key = &sort->keys[k];
		uint64 word;

		if (slot->tts_isnull[key->attno - 1])
		{
			key->has_nulls = true;
			item[k] = 0;
			continue;
		}
		word = gpuagg_sort_key_word(key->form, slot->tts_values[key->attno - 1]);
		item[k] = word;
		if (unlikely(!key->has_values))
		{
			key->has_values = true;
			key->least = key->greatest = word;
			key->differs = 0;
		}
		key->differs |= word ^ key->least;
		if (word < key->least)
			key->least = word;
		else if (word > key->greatest)
			key->greatest = word;
	}
	item[sort->nkeys] = (uintptr_t) row;
}

/* Adds the low `bits` bits of a value to a number, from bit `position` up. */
static inline void
add_bits(uint64 *number, int words, int position, int bits, uint64 value)
{
	int word = words - 1 - position / 64;
	int shift = position % 64;

	number[word] |= value << shift;
	if (shift + bits > 64)
		number[word - 1] |= value >> (64 - shift);
}

/* Packs an item's keys into a number, which is 0 before. */
static pg_attribute_always_inline void
pack_keys_of(const RowSort *sort, const uint64 *item, uint64 *number)
{
	MinimalTuple row = (MinimalTuple) (uintptr_t) item[sort->nkeys];

	for (int k = 0; k < sort->nkeys; k++)
	{
		const SortKey *key = &sort->keys[k];
		bool isnull = key->has_nulls && (row->t_infomask & HEAP_HASNULL) != 0 &&
					  att_isnull(key->attno - 1, row->t_bits);
		uint64 value;

		if (isnull)
			value = key->null_value;
		else
			value = ((key->descending ? key->greatest - item[k] : item[k] - key->least) >>
					 key->low_bits) +
					key->shift;
		if (key->bits > 0)
			add_bits(number, sort->words, key->position, key->bits, value);
		if (key->null_bit)
			add_bits(number, sort->words, key->position + key->bits, 1, isnull != key->nulls_first);
	}
}

/* Packs all items into `packed`; that may be sort->items, if packed items are no longer. */
static void
pack_items(RowSort *sort, uint64 *packed)
{
	const uint64 *item = sort->items;
	Size bytes = (sort->words + 1) * sizeof(uint64);

	for (int64 i = 0; i < sort->nrows; i++)
	{
		uint64 number[GPUAGG_RADIX_MAX_WORDS + 1];

		if (i % PIECE_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		memset(number, 0, bytes);
		pack_keys_of(sort, item, number);
		number[sort->words] = item[sort->nkeys];
		memcpy(packed, number, bytes);
		packed += sort->words + 1;
		item += sort->nkeys + 1;
	}
}

/* The bits of the number that tell partitions apart: those above all others. */
static void
set_partition_mask(RowSort *sort)
{
	int low = 0; /* bits */

	for (int k = sort->npartition; k < sort->nkeys; k++)
		low += sort->keys[k].bits + sort->keys[k].null_bit;
	for (int i = 0; i < sort->words; i++)
	{
		int below = low - (sort->words - 1 - i) * 64;

		sort->partition_mask[i] = below <= 0	? PG_UINT64_MAX
								  : below >= 64 ? 0
												: PG_UINT64_MAX << below;
	}
}

void
gpuagg_row_sort_perform(RowSort *sort)
{
	Size bytes;
	int bits;

	if (sort->tuplesort == NULL)
	{
		/* keys may have become wider since the last check */
		set_rows_limit(sort, sort->nrows);
		if (gpuagg_row_blocks_bytes(sort->blocks) > Max(sort->rows_limit, LEAST_LIMIT))
			move_to_tuplesort(sort);
	}
	if (sort->tuplesort != NULL)
	{
		tuplesort_performsort(sort->tuplesort);
		return;
	}
	if (sort->nrows == 0)
		return;

	bits = pack_keys(sort);
	sort->words = words_of(bits);
	bytes = packed_bytes(sort->words, sort->nrows);
	if (sort->words <= sort->nkeys)
	{
		pack_items(sort, sort->items);
		sort->items = repalloc_huge(sort->items, bytes);
	}
	else
	{
		uint64 *packed = MemoryContextAllocHuge(sort->data, bytes);

		pack_items(sort, packed);
		pfree(sort->items);
		sort->items = packed;
	}
	sort->device_pieces = gpuagg_sort_items(sort->items,
											sort->items + sort->nrows * (sort->words + 1),
											sort->nrows, sort->words, bits);
	sort->items = repalloc_huge(sort->items, bytes / 2);
	set_partition_mask(sort);
	sort->row_reach = Min(gpuagg_row_blocks_bytes(sort->blocks) / sort->nrows, 64) - 1;
}

/* Compares the row's keys to those of the row before it, and remembers them. */
static void
compare_to_last(RowSort *sort, TupleTableSlot *slot, bool *new_partition, bool *new_peers)
{
	bool first = sort->position == 1;

	*new_partition = first;
	*new_peers = first;
	slot_getsomeattrs(slot, sort->last_attno);
	for (int k = 0; k < sort->nkeys; k++)
	{
		const SortKey *key = &sort->keys[k];
		bool isnull = slot->tts_isnull[key->attno - 1];
		uint64 word = isnull ? 0
							 : gpuagg_sort_key_word(key->form, slot->tts_values[key->attno - 1]);

		if (first || word != sort->last_words[k] || isnull != (bool) (sort->last_nulls >> k & 1))
		{
			*new_peers = true;
			*new_partition |= k < sort->npartition;
		}
		sort->last_words[k] = word;
		sort->last_nulls = (sort->last_nulls & ~(1 << k)) | isnull << k;
	}
}

/*
 * Rows in sorted order are scattered in memory.  Several are prefetched at once, so that
 * the processor translates their addresses in parallel.
 */
static inline void
prefetch_after(const RowSort *sort, int64 position)
{
	Size stride = sort->words + 1;
	int64 end = Min(position + 2 * PREFETCH_ROWS, sort->nrows);

	if (position % PREFETCH_ROWS != 0)
		return;
	for (int64 i = position + PREFETCH_ROWS; i < end; i++)
	{
		const char *row = (const char *) (uintptr_t) sort->items[i * stride + sort->words];

		__builtin_prefetch(row);
		__builtin_prefetch(row + sort->row_reach);
	}
	pg_compiler_barrier(); /* without it gcc drops calls of a function that only prefetches */
}

bool
gpuagg_row_sort_get(RowSort *sort, TupleTableSlot *slot, bool *new_partition, bool *new_peers)
{
	const uint64 *item;
	Size stride = sort->words + 1;

	if (unlikely(sort->tuplesort != NULL))
	{
		if (sort->ended || !tuplesort_gettupleslot(sort->tuplesort, true, false, slot, NULL))
		{
			sort->ended = true;
			ExecClearTuple(slot);
			return false;
		}
		sort->position++;
		compare_to_last(sort, slot, new_partition, new_peers);
		return true;
	}
	if (sort->position == sort->nrows)
	{
		ExecClearTuple(slot);
		return false;
	}

	item = sort->items + sort->position * stride;
	prefetch_after(sort, sort->position);
	if (sort->position == 0)
		*new_partition = *new_peers = true;
	else
	{
		uint64 partition = 0;
		uint64 peers = 0;

		for (int i = 0; i < sort->words; i++)
		{
			uint64 differs = item[i] ^ item[i - (int) stride];

			peers |= differs;
			partition |= differs & sort->partition_mask[i];
		}
		*new_partition = partition != 0;
		*new_peers = peers != 0;
	}
	sort->position++;
	ExecStoreMinimalTuple((MinimalTuple) (uintptr_t) item[sort->words], slot, false);
	return true;
}

void
gpuagg_row_sort_row(const RowSort *sort, int64 row, TupleTableSlot *slot)
{
	const uint64 *item = sort->items + row * (sort->words + 1);

	Assert(sort->tuplesort == NULL && row >= 0 && row < sort->nrows);
	prefetch_after(sort, row);
	ExecStoreMinimalTuple((MinimalTuple) (uintptr_t) item[sort->words], slot, false);
}

bool
gpuagg_row_sort_in_memory(const RowSort *sort)
{
	return sort->tuplesort == NULL;
}

bool
gpuagg_row_sort_seek(RowSort *sort, int64 row)
{
	if (sort->tuplesort != NULL)
		return false;
	Assert(row >= 0 && row <= sort->nrows);
	sort->position = row;
	return true;
}

void
gpuagg_row_sort_report(const RowSort *sort, RowSortReport *report)
{
	*report = sort->report;
	if (sort->tuplesort != NULL)
	{
		TuplesortInstrumentation stats;

		tuplesort_get_stats(sort->tuplesort, &stats);
		report->method = tuplesort_method_name(stats.sortMethod);
		report->space = tuplesort_space_type_name(stats.spaceType);
		report->kB = stats.spaceUsed;
		report->device_pieces = 0;
	}
	else if (sort->nrows > 0 || report->method == NULL)
	{
		int64 items = Max(unpacked_bytes(sort, sort->nrows),
						  packed_bytes(sort->words, sort->nrows));

		report->method = "radix";
		report->space = "Memory";
		report->kB = (gpuagg_row_blocks_peak(sort->blocks) + items + 1023) / 1024;
		report->device_pieces = sort->device_pieces;
	}
}

void
gpuagg_row_sort_clear(RowSort *sort)
{
	gpuagg_row_sort_report(sort, &sort->report);
	if (sort->tuplesort != NULL)
		tuplesort_end(sort->tuplesort);
	start(sort);
}

void
gpuagg_row_sort_end(RowSort *sort)
{
	if (sort->tuplesort != NULL)
		tuplesort_end(sort->tuplesort);
	MemoryContextDelete(sort->context);
}
