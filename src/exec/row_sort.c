/*
 * row_sort.c
 *	  Sorts rows by keys of fixed width, and tells where partitions and peers begin.
 *
 * Rows are kept column by column, in the order in which they came (column_store.h).  Each
 * value of a key has a word (types/sort_key.h), of which the ranges are known piece by piece.
 * When all rows are there, each gets an item: its keys packed into one number, the first
 * key on top, and the row's number.  A key becomes its distance from the least value
 * (descending: from the greatest).  It gets only the bits that the greatest distance
 * takes, less the low bits that are equal in all values (as in timestamps of whole
 * seconds, or floats of few digits).  NULL is one more value at either end.  Then the
 * items are sorted by number, with scratch memory of the same size.
 *
 * Beyond the limit the rows move to core's tuplesort.
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
#include "engine/cpu.h"
#include "engine/sort.h"
#include "exec/column_store.h"
#include "types/sort_key.h"
#include "exec/row_sort.h"

#define LEAST_LIMIT (64 * 1024)
#define AHEAD_ROWS	64 /* that are gathered together, where they are asked for one by one */

/* A key may take 65 bits. */
StaticAssertDecl(SORT_MAX_KEYS * 65 <= GPUAGG_RADIX_MAX_WORDS * 64, "keys fit an item");

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

/* Rows that have been gathered: n from number `first` in the order on. */
typedef struct RowsAhead
{
	int64 first;
	int n;
	Datum *values;
	bool *isnull;
} RowsAhead;

struct RowSort
{
	MemoryContext context;
	MemoryContext data; /* of the rows; reset when they are forgotten */
	TupleDesc desc;
	int64 limit;
	int nkeys;
	int npartition;
	AttrNumber last_attno; /* of all columns that are kept */
	SortKey keys[SORT_MAX_KEYS];
	bool *kept;		/* columns of rows */
	bool *wanted;	/* of these, those of the rows that are given out */
	bool *gathered; /* of these, those that keys do not tell */

	ColumnStore *store;
	int64 nranged; /* pieces whose keys are in the ranges */
	uint64 *items;

	/* sorted in memory */
	int words; /* of a number */
	uint64 partition_mask[GPUAGG_RADIX_MAX_WORDS];
	int64 device_pieces;
	int64 position;
	RowsAhead next; /* for get() */
	RowsAhead row;	/* for row() */

	/* sorted by core */
	Tuplesortstate *tuplesort;
	TupleTableSlot *tuple;	 /* its rows */
	TupleTableSlot *virtual; /* those from memory */
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
	sort->store = gpuagg_column_store_make(sort->desc, sort->kept, sort->data);
	sort->nranged = 0;
	sort->items = NULL;
	sort->device_pieces = 0;
	sort->position = 0;
	sort->next.n = sort->row.n = 0;
	sort->tuplesort = NULL;
	sort->ended = false;
	for (int k = 0; k < sort->nkeys; k++)
	{
		sort->keys[k].has_values = false;
		sort->keys[k].has_nulls = false;
	}
}

static void
make_ahead(RowsAhead *ahead, int ncolumns)
{
	ahead->values = palloc0(AHEAD_ROWS * Max(ncolumns, 1) * sizeof(Datum));
	ahead->isnull = palloc(AHEAD_ROWS * Max(ncolumns, 1) * sizeof(bool));
	memset(ahead->isnull, true, AHEAD_ROWS * Max(ncolumns, 1) * sizeof(bool));
}

RowSort *
gpuagg_row_sort_begin(TupleDesc desc, const WindowSpec *spec, const bool *wanted, int64 limit,
					  MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "gpuagg row sort", ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	RowSort *sort = palloc0(sizeof(*sort));

	sort->context = context;
	sort->data = AllocSetContextCreate(context, "gpuagg rows to sort", ALLOCSET_DEFAULT_SIZES);
	sort->desc = desc;
	sort->limit = Max(limit, LEAST_LIMIT);
	sort->nkeys = spec->npartition + spec->norder;
	sort->npartition = spec->npartition;
	sort->kept = palloc(Max(desc->natts, 1) * sizeof(bool));
	sort->wanted = palloc(Max(desc->natts, 1) * sizeof(bool));
	sort->gathered = palloc(Max(desc->natts, 1) * sizeof(bool));
	memcpy(sort->kept, wanted, desc->natts * sizeof(bool));
	memcpy(sort->wanted, wanted, desc->natts * sizeof(bool));
	memcpy(sort->gathered, wanted, desc->natts * sizeof(bool));
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
		sort->kept[key->attno - 1] = true;
		if (gpuagg_sort_key_is_exact(key->form))
			sort->gathered[key->attno - 1] = false;
	}
	for (int i = 0; i < desc->natts; i++)
		if (sort->kept[i])
			sort->last_attno = i + 1;
	make_ahead(&sort->next, desc->natts);
	make_ahead(&sort->row, desc->natts);
	sort->tuple = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	sort->virtual = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	MemoryContextSwitchTo(caller);
	start(sort);
	return sort;
}

const bool *
gpuagg_row_sort_kept(const RowSort *sort)
{
	return sort->kept;
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

/* Bytes of the items of so many rows, and of as many in the scratch memory. */
static int64
items_bytes(int words, int64 nrows)
{
	return 2 * nrows * (words + 1) * (int64) sizeof(uint64);
}

/* ---- keys ---- */

#define WORDS_OF(Type, ToDatum) \
	for (int i = 0; i < n; i++) \
		words[i] = gpuagg_sort_key_word(key->form, ToDatum(((const Type *) values)[i]));

/* The words of a key's values in a piece; those of NULLs may be anything. */
static pg_attribute_always_inline void
key_words_of(const SortKey *key, const void *values, int width, int n, uint64 *words)
{
	switch (width)
	{
		case 1:
			WORDS_OF(char, CharGetDatum)
			break;
		case 2:
			WORDS_OF(int16, Int16GetDatum)
			break;
		case 4:
			WORDS_OF(int32, Int32GetDatum)
			break;
		default:
			WORDS_OF(Datum, )
			break;
	}
}

static void
key_words(const RowSort *sort, const SortKey *key, int64 piece, uint64 *words)
{
	const ColumnStore *store = sort->store;
	int column = key->attno - 1;

	key_words_of(key, gpuagg_column_store_values(store, column, piece),
				 store->columns[column].width, gpuagg_column_store_piece_rows(store, piece), words);
}

/* Widens a key's range by its values in a piece. */
static void
widen(RowSort *sort, SortKey *key, int64 piece)
{
	int n = gpuagg_column_store_piece_rows(sort->store, piece);
	const uint64 *nulls = gpuagg_column_store_nulls(sort->store, key->attno - 1, piece);
	uint64 words[STORE_ROWS];
	uint64 least;
	uint64 greatest;
	uint64 differs = 0;
	int first = 0;

	key->has_nulls = sort->store->columns[key->attno - 1].has_nulls;
	while (first < n && gpuagg_bit(nulls, first))
		first++;
	if (first == n)
		return;
	key_words(sort, key, piece, words);
	if (!key->has_values)
	{
		key->has_values = true;
		key->least = key->greatest = words[first];
		key->differs = 0;
	}
	least = key->least;
	greatest = key->greatest;
	for (int i = 0; i < n && key->has_nulls; i++)
		if (gpuagg_bit(nulls, i))
			words[i] = words[first];
	for (int i = 0; i < n; i++)
	{
		differs |= words[i] ^ words[first];
		least = Min(least, words[i]);
		greatest = Max(greatest, words[i]);
	}
	key->differs |= differs | (words[first] ^ key->least);
	key->least = least;
	key->greatest = greatest;
}

/* Brings the ranges up to date with pieces that are full, or with all. */
static void
widen_all(RowSort *sort, bool full)
{
	int64 end = full ? sort->store->nrows / STORE_ROWS : gpuagg_column_store_pieces(sort->store);

	for (; sort->nranged < end; sort->nranged++)
		for (int k = 0; k < sort->nkeys; k++)
			widen(sort, &sort->keys[k], sort->nranged);
}

/* Whether rows and items, with those of so many more rows, take more memory than they may. */
static bool
is_full(RowSort *sort, int64 more)
{
	int words = words_of(pack_keys(sort));
	int64 nrows = sort->store->nrows;

	return nrows > 0 && sort->store->bytes + items_bytes(words, nrows + more) > sort->limit;
}

/* ---- rows in ---- */

/* Moves the rows of a store to core's tuplesort. */
static void
move_rows(RowSort *sort, ColumnStore *store)
{
	for (int64 row = 0; row < store->nrows; row++)
	{
		CHECK_FOR_INTERRUPTS();
		gpuagg_column_store_slot(store, row, sort->virtual);
		tuplesort_puttupleslot(sort->tuplesort, sort->virtual);
	}
	ExecClearTuple(sort->virtual);
	gpuagg_column_store_free(store);
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
	MemoryContextSwitchTo(caller);
	move_rows(sort, sort->store);
	sort->store = NULL;
}

void
gpuagg_row_sort_put(RowSort *sort, TupleTableSlot *slot)
{
	if (unlikely(sort->tuplesort != NULL))
	{
		tuplesort_puttupleslot(sort->tuplesort, slot);
		return;
	}
	slot_getsomeattrs(slot, sort->last_attno);
	gpuagg_column_store_put(sort->store, slot);
	if (sort->store->nrows % STORE_ROWS == 0 || sort->store->bytes > sort->limit)
	{
		widen_all(sort, true);
		if (is_full(sort, STORE_ROWS))
			move_to_tuplesort(sort);
	}
}

void
gpuagg_row_sort_put_vectors(RowSort *sort, const GpuaggVector *const *columns, const bool *is_datum,
							const uint16 *rows, int n)
{
	if (sort->tuplesort != NULL)
	{
		ColumnStore *few = gpuagg_column_store_make(sort->desc, sort->kept, sort->data);

		gpuagg_column_store_put_vectors(few, columns, is_datum, rows, n);
		move_rows(sort, few);
		return;
	}
	gpuagg_column_store_put_vectors(sort->store, columns, is_datum, rows, n);
	widen_all(sort, true);
	if (is_full(sort, STORE_ROWS))
		move_to_tuplesort(sort);
}

/* ---- items ---- */

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

/* Packs a key of a piece's rows into their items. */
static void
pack_key(const RowSort *sort, const SortKey *key, int64 piece, uint64 *items)
{
	int n = gpuagg_column_store_piece_rows(sort->store, piece);
	const uint64 *nulls = gpuagg_column_store_nulls(sort->store, key->attno - 1, piece);
	uint64 words[STORE_ROWS];

	key_words(sort, key, piece, words);
	for (int i = 0; i < n; i++, items += sort->words + 1)
	{
		bool isnull = key->has_nulls && gpuagg_bit(nulls, i);
		uint64 value = key->null_value;

		if (!isnull)
			value = ((key->descending ? key->greatest - words[i] : words[i] - key->least) >>
					 key->low_bits) +
					key->shift;
		if (key->bits > 0)
			add_bits(items, sort->words, key->position, key->bits, value);
		if (key->null_bit)
			add_bits(items, sort->words, key->position + key->bits, 1, isnull != key->nulls_first);
	}
}

static void
pack_items(RowSort *sort)
{
	Size step = sort->words + 1;

	for (int64 piece = 0; piece < gpuagg_column_store_pieces(sort->store); piece++)
	{
		int n = gpuagg_column_store_piece_rows(sort->store, piece);
		uint64 *items = sort->items + piece * STORE_ROWS * step;

		CHECK_FOR_INTERRUPTS();
		memset(items, 0, n * step * sizeof(uint64));
		for (int k = 0; k < sort->nkeys; k++)
			pack_key(sort, &sort->keys[k], piece, items);
		for (int i = 0; i < n; i++)
			items[i * step + sort->words] = piece * STORE_ROWS + i;
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
	int64 nrows;
	int64 bytes;
	int bits;

	if (sort->tuplesort == NULL)
	{
		/* keys may have become wider since the last check */
		widen_all(sort, false);
		if (is_full(sort, 0))
			move_to_tuplesort(sort);
	}
	if (sort->tuplesort != NULL)
	{
		tuplesort_performsort(sort->tuplesort);
		return;
	}
	nrows = sort->store->nrows;
	if (nrows == 0)
		return;

	bits = pack_keys(sort);
	sort->words = words_of(bits);
	bytes = items_bytes(sort->words, nrows);
	sort->items = MemoryContextAllocHuge(sort->data, bytes);
	pack_items(sort);
	sort->device_pieces = gpuagg_sort_items(sort->items, sort->items + nrows * (sort->words + 1),
											nrows, sort->words, bits);
	sort->items = repalloc_huge(sort->items, bytes / 2);
	set_partition_mask(sort);
}

/* ---- rows out ---- */

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

/* What a row from memory starts. */
static inline void
compare_items(const RowSort *sort, int64 position, bool *new_partition, bool *new_peers)
{
	Size step = sort->words + 1;
	const uint64 *item = sort->items + position * step;
	uint64 partition = 0;
	uint64 peers = 0;

	for (int i = 0; i < sort->words && position > 0; i++)
	{
		uint64 differs = item[i] ^ item[i - (int) step];

		peers |= differs;
		partition |= differs & sort->partition_mask[i];
	}
	*new_partition = position == 0 || partition != 0;
	*new_peers = position == 0 || peers != 0;
}

/* The bits of a number from `position` up. */
static inline uint64
get_bits(const uint64 *number, int words, int position, int bits)
{
	int word = words - 1 - position / 64;
	int shift = position % 64;
	uint64 value = number[word] >> shift;

	if (shift + bits > 64)
		value |= number[word - 1] << (64 - shift);
	return bits == 64 ? value : value & ((UINT64CONST(1) << bits) - 1);
}

/* A key's values, from n items on. */
static void
unpack_key(const RowSort *sort, const SortKey *key, const uint64 *item, int64 n, Datum *values,
		   bool *isnull, Size stride)
{
	for (int64 i = 0; i < n; i++, item += sort->words + 1)
	{
		uint64 packed = key->bits > 0 ? get_bits(item, sort->words, key->position, key->bits) : 0;
		uint64 distance = (packed - key->shift) << key->low_bits;
		bool is_value = key->has_values;

		if (key->null_bit)
			is_value = (get_bits(item, sort->words, key->position + key->bits, 1) != 0) ==
					   key->nulls_first;
		else if (is_value && key->has_nulls)
			is_value = packed != key->null_value;
		isnull[i * stride] = !is_value;
		values[i * stride] = is_value
								 ? gpuagg_sort_key_datum(key->form, key->descending
																		? key->greatest - distance
																		: key->least + distance)
								 : (Datum) 0;
	}
}

/* The columns of n rows from number `first` in the order on. */
static void
give_out(const RowSort *sort, int64 first, int64 n, Datum *values, bool *isnull, Size stride)
{
	Size step = sort->words + 1;
	const uint64 *items = sort->items + first * step;

	gpuagg_column_store_gather(sort->store, sort->gathered, items + sort->words, step, n, values,
							   isnull, stride);
	for (int k = 0; k < sort->nkeys; k++)
	{
		int column = sort->keys[k].attno - 1;

		if (sort->wanted[column] && !sort->gathered[column])
			unpack_key(sort, &sort->keys[k], items, n, values + column, isnull + column, stride);
	}
}

/* The place of a row's columns among those that have been gathered. */
static Size
find_ahead(const RowSort *sort, RowsAhead *ahead, int64 row)
{
	Assert(sort->tuplesort == NULL && row >= 0 && row < sort->store->nrows);
	if (row < ahead->first || row >= ahead->first + ahead->n)
	{
		ahead->first = row;
		ahead->n = (int) Min(sort->store->nrows - row, AHEAD_ROWS);
		give_out(sort, row, ahead->n, ahead->values, ahead->isnull, sort->desc->natts);
	}
	return (row - ahead->first) * sort->desc->natts;
}

TupleTableSlot *
gpuagg_row_sort_get(RowSort *sort, bool *new_partition, bool *new_peers)
{
	Size place;

	if (unlikely(sort->tuplesort != NULL))
	{
		if (sort->ended || !tuplesort_gettupleslot(sort->tuplesort, true, false, sort->tuple, NULL))
		{
			sort->ended = true;
			return NULL;
		}
		sort->position++;
		compare_to_last(sort, sort->tuple, new_partition, new_peers);
		return sort->tuple;
	}
	if (sort->position == sort->store->nrows)
		return NULL;
	compare_items(sort, sort->position, new_partition, new_peers);
	place = find_ahead(sort, &sort->next, sort->position++);
	ExecClearTuple(sort->virtual);
	memcpy(sort->virtual->tts_values, sort->next.values + place, sort->desc->natts * sizeof(Datum));
	memcpy(sort->virtual->tts_isnull, sort->next.isnull + place, sort->desc->natts * sizeof(bool));
	return ExecStoreVirtualTuple(sort->virtual);
}

int64
gpuagg_row_sort_get_many(RowSort *sort, int64 most, Datum *values, bool *isnull, Size stride,
						 uint64 *partitions, uint64 *peers)
{
	int64 n = Min(most, sort->store->nrows - sort->position);
	Size bytes = (n + 63) / 64 * sizeof(uint64);

	memset(partitions, 0, bytes);
	memset(peers, 0, bytes);
	for (int64 i = 0; i < n; i++)
	{
		bool new_partition;
		bool new_peers;

		compare_items(sort, sort->position + i, &new_partition, &new_peers);
		partitions[i / 64] |= (uint64) new_partition << i % 64;
		peers[i / 64] |= (uint64) new_peers << i % 64;
	}
	if (n > 0)
		give_out(sort, sort->position, n, values, isnull, stride);
	sort->position += n;
	return n;
}

void
gpuagg_row_sort_row(RowSort *sort, int64 row, Datum *values, bool *isnull)
{
	Size place = find_ahead(sort, &sort->row, row);

	memcpy(values, sort->row.values + place, sort->desc->natts * sizeof(Datum));
	memcpy(isnull, sort->row.isnull + place, sort->desc->natts * sizeof(bool));
}

int64
gpuagg_row_sort_position(const RowSort *sort)
{
	return sort->position;
}

bool
gpuagg_row_sort_is_done(const RowSort *sort)
{
	return sort->position == sort->store->nrows;
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
	Assert(row >= 0 && row <= sort->store->nrows);
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
	else if (sort->store->nrows > 0 || report->method == NULL)
	{
		int64 items = items_bytes(sort->words, sort->store->nrows);

		report->method = "radix";
		report->space = "Memory";
		report->kB = (sort->store->bytes + items + 1023) / 1024;
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
	ExecDropSingleTupleTableSlot(sort->tuple);
	ExecDropSingleTupleTableSlot(sort->virtual);
	MemoryContextDelete(sort->context);
}
