/*
 * row_sort.c
 *	  Sorts rows by keys of fixed width, and tells where partitions and peers begin.
 *
 * Rows are kept column by column, in the order in which they came (column_store.h).  When all
 * are there, each gets an item of its keys (row_keys.h), and the items are sorted by number,
 * with scratch memory of the same size.  Few values are their payload (row_payload.h).  Beyond
 * the limit what is there is sorted and becomes a run on disk; in the end the runs are merged as
 * rows are asked for (row_runs.h).
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "engine/pause.h"
#include "engine/scan.h"
#include "engine/sort.h"
#include "exec/large_memory.h"
#include "exec/row_payload.h"
#include "exec/row_runs.h"
#include "exec/row_sort.h"

#define LEAST_LIMIT (64 * 1024)
#define SET_ROWS	(1 << 20) /* between interrupts */
#define COPY_ROWS	64		  /* between looks at the memory that they take */
#define AHEAD_ROWS	64		  /* that are gathered together, where they are asked for one by one */

/* Rows that have been gathered: n from number `first` in the order on. */
typedef struct RowsAhead
{
	int64 first;
	int n;
	Datum *values;
	bool *isnull;
	MemoryContext context; /* of values that are made */
} RowsAhead;

struct RowSort
{
	MemoryContext context;
	MemoryContext data; /* of the rows; reset when they are forgotten */
	TupleDesc desc;
	int ngiven; /* columns of rows that are given out */
	int64 limit;
	AttrNumber last_attno; /* of all columns that are kept */
	bool by_reference;	   /* one of them at least, and its values are pointers */
	RowKeys keys;
	bool *kept;	  /* columns of rows */
	bool *wanted; /* of these, those of the rows that are given out */
	int *scales;  /* by column: of numerics that are kept as integers; -1: as they are */
	RowColumns *all;

	ColumnStore *store; /* NULL: all rows are in runs */
	int64 nranged;		/* pieces whose keys are in the ranges */
	bool shares;		/* the rows are those of another sort, too */
	RowRuns *runs;		/* or NULL */
	int64 nrows;		/* in runs */
	int64 device_pieces;

	/* sorted: items of some rows, all in memory or the next ones of the runs */
	uint64 *items;
	RowPayload *payload;
	bool numbered; /* items have the rows' numbers, as others ask for these */
	int64 first;   /* of these its number in the order */
	int64 nitems;
	int64 position; /* the next row to give out */
	RowsAhead next; /* for get() */
	RowsAhead row;	/* for row() */
	TupleTableSlot *slot;

	RowSortReport report; /* of the rows that were forgotten last */
};

static ColumnStore *
make_store(const RowSort *sort)
{
	return gpuagg_column_store_make(sort->desc, sort->kept, sort->scales, STORE_ROWS, sort->data);
}

/* Starts without rows. */
static void
start(RowSort *sort)
{
	if (sort->runs != NULL)
		gpuagg_row_runs_end(sort->runs);
	sort->runs = NULL;
	MemoryContextReset(sort->data);
	sort->store = make_store(sort);
	sort->nranged = 0;
	sort->shares = false;
	sort->nrows = 0;
	sort->device_pieces = 0;
	sort->items = NULL;
	sort->payload->active = false;
	sort->first = 0;
	sort->nitems = 0;
	sort->position = 0;
	sort->next.n = sort->row.n = 0;
	gpuagg_row_keys_forget(&sort->keys);
}

static void
make_ahead(RowsAhead *ahead, int ncolumns)
{
	ahead->context = AllocSetContextCreate(CurrentMemoryContext, "gpuagg rows ahead",
										   ALLOCSET_DEFAULT_SIZES);
	ahead->values = palloc0(AHEAD_ROWS * Max(ncolumns, 1) * sizeof(Datum));
	ahead->isnull = palloc(AHEAD_ROWS * Max(ncolumns, 1) * sizeof(bool));
	memset(ahead->isnull, true, AHEAD_ROWS * Max(ncolumns, 1) * sizeof(bool));
}

static void
find_references(RowSort *sort)
{
	sort->by_reference = false;
	for (int i = 0; i < sort->desc->natts; i++)
		sort->by_reference |= sort->kept[i] && sort->scales[i] < 0 &&
							  !TupleDescAttr(sort->desc, i)->attbyval;
}

/* Keeps numerics as they are. */
static void
keep_values(RowSort *sort)
{
	for (int i = 0; i < sort->desc->natts; i++)
		sort->scales[i] = -1;
	find_references(sort);
}

RowSort *
gpuagg_row_sort_begin(TupleDesc desc, const WindowSpec *spec, const bool *wanted, int ngiven,
					  bool numbered, int64 limit, MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "gpuagg row sort", ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	RowSort *sort = palloc0(sizeof(*sort));

	sort->context = context;
	sort->data = AllocSetContextCreate(context, "gpuagg rows to sort", ALLOCSET_DEFAULT_SIZES);
	sort->desc = desc;
	sort->ngiven = ngiven;
	sort->numbered = numbered;
	sort->limit = Max(limit, LEAST_LIMIT);
	gpuagg_row_keys_init(&sort->keys, desc, spec);
	sort->kept = palloc(Max(desc->natts, 1) * sizeof(bool));
	sort->wanted = palloc(Max(desc->natts, 1) * sizeof(bool));
	sort->scales = palloc(Max(desc->natts, 1) * sizeof(int));
	memcpy(sort->kept, wanted, desc->natts * sizeof(bool));
	memcpy(sort->wanted, wanted, desc->natts * sizeof(bool));
	for (int k = 0; k < sort->keys.nkeys; k++)
		sort->kept[sort->keys.keys[k].attno - 1] = true;
	sort->all = gpuagg_row_sort_select(sort, wanted);
	sort->payload = gpuagg_row_payload_make(desc->natts);
	for (int i = 0; i < desc->natts; i++)
		if (sort->kept[i])
			sort->last_attno = i + 1;
	keep_values(sort);
	make_ahead(&sort->next, desc->natts);
	make_ahead(&sort->row, desc->natts);
	sort->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	MemoryContextSwitchTo(caller);
	start(sort);
	return sort;
}

RowColumns *
gpuagg_row_sort_select(const RowSort *sort, const bool *columns)
{
	RowColumns *selected = palloc(sizeof(RowColumns));

	selected->gathered = palloc0(Max(sort->desc->natts, 1) * sizeof(bool));
	selected->unpacked = palloc0(Max(sort->desc->natts, 1) * sizeof(bool));
	selected->integers = false;
	for (int i = 0; i < sort->ngiven; i++)
		selected->gathered[i] = columns[i] && sort->wanted[i];
	for (int k = 0; k < sort->keys.nkeys; k++)
	{
		int i = sort->keys.keys[k].attno - 1;

		if (!sort->keys.keys[k].exact || !columns[i] || !sort->wanted[i])
			continue;
		selected->gathered[i] = false;
		selected->unpacked[i] = true;
	}
	return selected;
}

TupleDesc
gpuagg_row_sort_desc(const RowSort *sort)
{
	return sort->desc;
}

const bool *
gpuagg_row_sort_kept(const RowSort *sort)
{
	return sort->kept;
}

/* Bytes of the items of so many rows, and of as many in the scratch memory. */
static int64
items_bytes(const RowSort *sort, int64 nrows)
{
	return 2 * nrows * (int64) (gpuagg_row_keys_step(&sort->keys) * sizeof(uint64));
}

/* ---- rows in ---- */

/* Brings the ranges up to date with pieces that are full, or with all. */
static void
widen_all(RowSort *sort, bool full)
{
	int64 end = full ? sort->store->nrows / STORE_ROWS : gpuagg_column_store_pieces(sort->store);

	for (; sort->nranged < end; sort->nranged++)
		gpuagg_row_keys_widen(&sort->keys, sort->store, sort->nranged);
	gpuagg_row_keys_lay_out(&sort->keys);
}

/* Packs a piece's items; returns how many. */
static int
pack_piece(const RowSort *sort, int64 piece, int low, uint64 *items)
{
	int n = gpuagg_column_store_piece_rows(sort->store, piece);

	CHECK_FOR_INTERRUPTS();
	gpuagg_row_keys_pack(&sort->keys, sort->store, piece, n, low, items);
	if (low == 0 && sort->payload->active)
		gpuagg_row_payload_put(sort->payload, sort->store, sort->all->gathered, piece, n,
							   items + sort->keys.words, gpuagg_row_keys_step(&sort->keys));
	return n;
}

/* Sorts the rows' items by the CPU: they are packed right into buckets, whose items are near each other. */
static void
sort_in_buckets(RowSort *sort)
{
	Size item_bytes = gpuagg_row_keys_step(&sort->keys) * sizeof(uint64);
	int64 npieces = gpuagg_column_store_pieces(sort->store);
	uint64 *packed = palloc(STORE_ROWS * item_bytes);
	GpuaggRadixBuckets buckets;
	uint64 *scratch;

	sort->items = gpuagg_large_memory(sort->data,
									  gpuagg_radix_start(&buckets, sort->store->nrows,
														 sort->keys.words, sort->keys.bits) *
										  item_bytes);
	for (int64 piece = 0; piece < npieces; piece++)
		gpuagg_radix_count(&buckets, packed,
						   pack_piece(sort, piece, buckets.bits - buckets.width, packed));
	scratch = gpuagg_large_memory(sort->data, gpuagg_radix_counted(&buckets) * item_bytes);
	for (int64 piece = 0; piece < npieces; piece++)
		gpuagg_radix_move(&buckets, packed, pack_piece(sort, piece, 0, packed), sort->items,
						  scratch);
	gpuagg_radix_finish(&buckets, sort->items, scratch, gpuagg_pause);
	pfree(scratch);
	pfree(packed);
}

/* Sorts the items of the rows in memory. */
static void
sort_items(RowSort *sort)
{
	Size step = gpuagg_row_keys_step(&sort->keys);
	int64 nrows = sort->store->nrows;

	if (sort->keys.bits > 0 && !gpuagg_sort_wanted(nrows, sort->keys.words))
	{
		sort_in_buckets(sort);
		return;
	}
	sort->items = gpuagg_large_memory(sort->data, items_bytes(sort, nrows));
	for (int64 piece = 0; piece < gpuagg_column_store_pieces(sort->store); piece++)
		pack_piece(sort, piece, 0, sort->items + piece * STORE_ROWS * step);
	if (sort->keys.bits > 0)
		sort->device_pieces += gpuagg_sort_items(sort->items, sort->items + nrows * step, nrows,
												 sort->keys.words, sort->keys.bits);
	sort->items = repalloc_huge(sort->items, items_bytes(sort, nrows) / 2);
}

/* Makes a run of the rows in memory. */
static void
write_run(RowSort *sort)
{
	MemoryContext caller = MemoryContextSwitchTo(sort->data);

	if (sort->runs == NULL)
		sort->runs = gpuagg_row_runs_make(sort->desc, sort->kept, sort->scales, sort->limit,
										  sort->data);
	widen_all(sort, false);
	sort_items(sort);
	gpuagg_row_runs_add(sort->runs, &sort->keys, sort->store, sort->items, sort->store->nrows);
	sort->nrows += sort->store->nrows;
	pfree(sort->items);
	sort->items = NULL;
	gpuagg_column_store_free(sort->store);
	sort->store = NULL;
	sort->nranged = 0;
	MemoryContextSwitchTo(caller);
}

/* Whether rows and items, with those of so many more rows, take more memory than they may. */
static bool
is_full(const RowSort *sort, int64 more)
{
	return sort->store->nrows > 0 &&
		   sort->store->bytes + items_bytes(sort, sort->store->nrows + more) > sort->limit;
}

static void
make_room(RowSort *sort)
{
	widen_all(sort, true);
	if (!is_full(sort, STORE_ROWS))
		return;
	write_run(sort);
	sort->store = make_store(sort);
}

void
gpuagg_row_sort_put(RowSort *sort, TupleTableSlot *slot)
{
	slot_getsomeattrs(slot, sort->last_attno);
	gpuagg_column_store_put(sort->store, slot);
	if (sort->store->nrows % STORE_ROWS == 0 || sort->store->bytes > sort->limit)
		make_room(sort);
}

void
gpuagg_row_sort_put_vectors(RowSort *sort, const GpuaggVector *const *columns, const bool *is_datum,
							const uint16 *rows, int n)
{
	/* values by reference may be large */
	int most = sort->by_reference ? COPY_ROWS : n;

	for (int first = 0; first < n; first += most)
	{
		gpuagg_column_store_put_vectors(sort->store, columns, is_datum, rows + first,
										Min(most, n - first));
		make_room(sort);
	}
}

void
gpuagg_row_sort_keep_integers(RowSort *sort, const int *scales)
{
	Assert(sort->runs == NULL && sort->store->nrows == 0);
	memcpy(sort->scales, scales, sort->desc->natts * sizeof(int));
	find_references(sort);
	start(sort);
}

void
gpuagg_row_sort_put_columns(RowSort *sort, const StoreInput *inputs, int64 first, int64 n)
{
	int64 most = sort->by_reference ? COPY_ROWS : STORE_ROWS;

	for (int64 end = first + n; first < end; first += most)
	{
		int64 npieces = sort->store->nrows / STORE_ROWS;

		gpuagg_column_store_put_columns(sort->store, inputs, first, Min(most, end - first));
		if (sort->store->nrows / STORE_ROWS > npieces || sort->store->bytes > sort->limit)
			make_room(sort);
	}
}

/* The item of a row that is among the items; there is one before it unless it is the first. */
static inline const uint64 *
item_of(const RowSort *sort, int64 row)
{
	Size step = gpuagg_row_keys_step(&sort->keys);

	/* those of runs are behind the last one given out */
	return sort->items + (row - sort->first + (sort->runs != NULL)) * step;
}

/* ---- rows of another sort ---- */

bool
gpuagg_row_sort_share(RowSort *sort, const RowSort *below, const StoreSource *sources)
{
	ColumnStore *store = gpuagg_column_store_make_over(sort->desc, sort->kept, below->store,
													   sources, sort->data);

	Assert(sort->store->nrows == 0 && below->runs == NULL && below->numbered);
	gpuagg_column_store_free(sort->store);
	sort->store = store;
	sort->shares = true;
	widen_all(sort, false);
	if (gpuagg_column_store_open_bytes(store) + items_bytes(sort, store->nrows) > sort->limit)
	{
		start(sort);
		return false;
	}
	gpuagg_column_store_open(store);
	return true;
}

void
gpuagg_row_sort_set(RowSort *sort, int column, const RowSort *below, int64 first, int64 n,
					const Datum *values, const bool *isnull, Size stride)
{
	for (int64 i = 0; i < n; i += SET_ROWS)
	{
		CHECK_FOR_INTERRUPTS();
		gpuagg_column_store_set(sort->store, column, item_of(below, first + i) + below->keys.words,
								gpuagg_row_keys_step(&below->keys), Min(n - i, SET_ROWS),
								values + i * stride, isnull + i * stride, stride);
	}
}

void
gpuagg_row_sort_set_integers(RowSort *sort, int column, const RowSort *below, int64 first, int64 n,
							 const GpuaggInt128 *values, const uint8 *status, Size stride)
{
	for (int64 i = 0; i < n; i += SET_ROWS)
	{
		CHECK_FOR_INTERRUPTS();
		gpuagg_column_store_set_integers(sort->store, column,
										 item_of(below, first + i) + below->keys.words,
										 gpuagg_row_keys_step(&below->keys), Min(n - i, SET_ROWS),
										 values + i * stride, status + i * stride, stride);
	}
}

bool
gpuagg_row_sort_is_full(const RowSort *sort)
{
	return is_full(sort, 0);
}

void
gpuagg_row_sort_rest(RowSort *sort)
{
	if (sort->items != NULL)
		pfree(sort->items);
	sort->items = NULL;
	if (sort->runs != NULL)
		gpuagg_row_runs_rest(sort->runs);
}

/* Begins to merge the runs. */
static void
begin_merge(RowSort *sort)
{
	Size bytes = (1 + STORE_ROWS) * gpuagg_row_keys_step(&sort->keys) * sizeof(uint64);

	if (sort->items == NULL)
		sort->items = MemoryContextAllocZero(sort->data, bytes);
	gpuagg_row_runs_begin(sort->runs, &sort->keys);
}

static void
sort_in_memory(RowSort *sort)
{
	sort->nitems = sort->store->nrows;
	if (sort->nitems == 0)
		return;
	sort->payload->active = false;
	if (!sort->numbered)
		gpuagg_row_payload_choose(sort->payload, sort->store, sort->all->gathered);
	sort_items(sort);
}

void
gpuagg_row_sort_perform(RowSort *sort)
{
	/* keys may have become wider since the last check */
	widen_all(sort, false);
	if (sort->runs == NULL && (sort->shares || !is_full(sort, 0)))
	{
		sort_in_memory(sort);
		return;
	}
	if (sort->store->nrows > 0)
		write_run(sort);
	else
		gpuagg_column_store_free(sort->store);
	sort->store = NULL;
	begin_merge(sort);
}

/* ---- rows out ---- */

static int64
total(const RowSort *sort)
{
	return sort->runs != NULL ? sort->nrows : sort->nitems;
}

/* Has the item of the next row, which there is. */
static void
advance(RowSort *sort)
{
	Size step = gpuagg_row_keys_step(&sort->keys);

	if (sort->position < sort->first + sort->nitems)
		return;
	memcpy(sort->items, sort->items + sort->nitems * step, step * sizeof(uint64));
	sort->first = sort->position;
	sort->nitems = gpuagg_row_runs_next(sort->runs, sort->items + step, STORE_ROWS);
}

/* What has the rows whose items are there. */
static const ColumnStore *
store_of(const RowSort *sort)
{
	return sort->runs != NULL ? gpuagg_row_runs_store(sort->runs) : sort->store;
}

/* The columns of n rows whose items are there. */
static void
give_out(const RowSort *sort, const RowColumns *columns, int64 first, int64 n, Datum *values,
		 bool *isnull, Size stride)
{
	const uint64 *items = item_of(sort, first);
	const uint64 *last = items + sort->keys.words;
	Size step = gpuagg_row_keys_step(&sort->keys);

	if (sort->payload->active)
		gpuagg_row_payload_get(sort->payload, sort->store, columns->gathered, last, step, n, values,
							   isnull, stride);
	else
		gpuagg_column_store_gather(store_of(sort), columns->gathered, last, step, n,
								   columns->integers, values, isnull, stride);
	gpuagg_row_keys_unpack(&sort->keys, columns->unpacked, items, n, values, isnull, stride);
}

/* The place of a row's columns among those that have been gathered. */
static Size
find_ahead(const RowSort *sort, RowsAhead *ahead, int64 row)
{
	if (row < ahead->first || row >= ahead->first + ahead->n)
	{
		MemoryContext old = MemoryContextSwitchTo(ahead->context);

		MemoryContextReset(ahead->context);
		ahead->first = row;
		ahead->n = (int) Min(sort->first + sort->nitems - row, AHEAD_ROWS);
		give_out(sort, sort->all, row, ahead->n, ahead->values, ahead->isnull, sort->desc->natts);
		MemoryContextSwitchTo(old);
	}
	return (row - ahead->first) * sort->desc->natts;
}

/* What a row starts. */
static inline void
compare(const RowSort *sort, int64 row, bool *new_partition, bool *new_peers)
{
	*new_partition = *new_peers = true;
	if (row > 0)
		gpuagg_row_keys_compare(&sort->keys, item_of(sort, row), new_partition, new_peers);
}

TupleTableSlot *
gpuagg_row_sort_get(RowSort *sort, bool *new_partition, bool *new_peers)
{
	int natts = sort->desc->natts;
	Size place;

	if (gpuagg_row_sort_is_done(sort))
		return NULL;
	advance(sort);
	compare(sort, sort->position, new_partition, new_peers);
	place = find_ahead(sort, &sort->next, sort->position++);
	ExecClearTuple(sort->slot);
	memcpy(sort->slot->tts_values, sort->next.values + place, natts * sizeof(Datum));
	memcpy(sort->slot->tts_isnull, sort->next.isnull + place, natts * sizeof(bool));
	return ExecStoreVirtualTuple(sort->slot);
}

/* Sets bits of what the next n rows start, that of the first at `at`. */
static void
compare_many(const RowSort *sort, int64 n, uint64 *partitions, uint64 *peers, int64 at)
{
	for (int64 i = 0; i < n;)
	{
		int64 word = (at + i) / 64;
		int bit = (at + i) % 64;
		int64 end = Min(n, i + 64 - bit);
		uint64 of_partitions = bit > 0 ? partitions[word] : 0;
		uint64 of_peers = bit > 0 ? peers[word] : 0;

		for (; i < end; i++, bit++)
		{
			bool new_partition;
			bool new_peers;

			compare(sort, sort->position + i, &new_partition, &new_peers);
			of_partitions |= (uint64) new_partition << bit;
			of_peers |= (uint64) new_peers << bit;
		}
		partitions[word] = of_partitions;
		peers[word] = of_peers;
	}
}

int64
gpuagg_row_sort_get_many(RowSort *sort, const RowColumns *columns, int64 most, Datum *values,
						 bool *isnull, Size stride, uint64 *partitions, uint64 *peers, int64 at)
{
	int64 n;

	if (gpuagg_row_sort_is_done(sort))
		return 0;
	advance(sort);
	n = Min(most, sort->first + sort->nitems - sort->position);
	compare_many(sort, n, partitions, peers, at);
	give_out(sort, columns != NULL ? columns : sort->all, sort->position, n, values, isnull,
			 stride);
	sort->position += n;
	return n;
}

void
gpuagg_row_sort_row(RowSort *sort, int64 row, Datum *values, bool *isnull)
{
	Size place;

	Assert(gpuagg_row_sort_in_memory(sort) && row >= 0 && row < sort->nitems);
	place = find_ahead(sort, &sort->row, row);
	memcpy(values, sort->row.values + place, sort->ngiven * sizeof(Datum));
	memcpy(isnull, sort->row.isnull + place, sort->ngiven * sizeof(bool));
}

void
gpuagg_row_sort_columns(const RowSort *sort, const RowColumns *columns, int64 first, int64 n,
						Datum *values, bool *isnull, Size stride)
{
	Assert(gpuagg_row_sort_in_memory(sort) && first >= 0 && first + n <= sort->nitems);
	give_out(sort, columns, first, n, values, isnull, stride);
}

int64
gpuagg_row_sort_position(const RowSort *sort)
{
	return sort->position;
}

bool
gpuagg_row_sort_is_done(const RowSort *sort)
{
	return sort->position == total(sort);
}

int
gpuagg_row_sort_scale(const RowSort *sort, int column)
{
	return store_of(sort)->columns[column].scale;
}

bool
gpuagg_row_sort_in_memory(const RowSort *sort)
{
	return sort->runs == NULL;
}

void
gpuagg_row_sort_rewind(RowSort *sort)
{
	sort->position = 0;
	if (sort->runs == NULL)
	{
		if (sort->items == NULL)
			sort_in_memory(sort);
		return;
	}
	sort->first = sort->nitems = 0;
	sort->next.n = 0;
	begin_merge(sort);
}

void
gpuagg_row_sort_report(const RowSort *sort, RowSortReport *report)
{
	*report = sort->report;
	if (sort->runs != NULL)
		*report = (RowSortReport){"external merge", "Disk",
								  (gpuagg_row_runs_bytes(sort->runs) + 1023) / 1024,
								  sort->device_pieces};
	else if (sort->store->nrows > 0 || report->method == NULL)
		*report =
			(RowSortReport){"radix", "Memory",
							(sort->store->bytes + items_bytes(sort, sort->store->nrows) + 1023) /
								1024,
							sort->device_pieces};
}

void
gpuagg_row_sort_clear(RowSort *sort)
{
	gpuagg_row_sort_report(sort, &sort->report);
	keep_values(sort);
	start(sort);
}

void
gpuagg_row_sort_end(RowSort *sort)
{
	if (sort->runs != NULL)
		gpuagg_row_runs_end(sort->runs);
	ExecDropSingleTupleTableSlot(sort->slot);
	MemoryContextDelete(sort->context);
}
