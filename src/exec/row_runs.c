/*
 * row_runs.c
 *	  Sorted runs of rows in a temporary file, and their merge.
 *
 * A run is a sequence of blocks: each a piece of a column store as bytes, of rows in order.  A
 * merge has one block of each of its runs in memory, all as pieces of one store, with the items
 * of their rows.  Runs that are too many for the memory are first merged into larger ones, all of
 * them into another file, so that there are never more than two copies of a row; neighbours
 * only, as equal rows keep the order of their runs.
 */
#include "exec/row_runs.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/block_file.h"

/* Runs that are merged at once, at least; and as many as so much memory holds. */
#define LEAST_MERGE		  2
#define LEAST_MERGE_BYTES (256 * 1024)

/* Blocks have fewer rows where otherwise not so many runs could be merged at once; but so many. */
#define GOOD_MERGE		 128
#define LEAST_BLOCK_ROWS 64

typedef struct Run
{
	FilePlace start;
	int64 nrows;
	Size most_bytes; /* of values by reference, of a block */
} Run;

/* A run that is being merged. */
typedef struct OpenRun
{
	FilePlace place; /* of the next block */
	int64 left;		 /* rows from there on */
	int nrows;		 /* of the block at hand */
	int row;		 /* the next of them */
	uint64 *items;
	const uint64 *item; /* that one's; NULL: there are no more */
	char *data;
} OpenRun;

struct RowRuns
{
	MemoryContext context;
	int64 limit;
	BlockFile *file; /* to write to, and but for a pass to read from */
	BlockFile *from; /* to read from */
	int64 merged;	 /* of a pass: bytes of `from` */
	int64 most;		 /* bytes of both files, at any time */
	int nruns;
	int room;
	Run *runs;
	StoreImage *image; /* of a block to write */

	/* the merge */
	MemoryContext merge;
	const RowKeys *keys;
	ColumnStore *store; /* its pieces are blocks of the open runs */
	OpenRun *open;
	int nopen;
	int *order; /* runs by their next items: the first one, then who loses at each node of a tree */
	int empty;	/* that run's next block is to be read; -1: none */
};

static BlockFile *
make_file(RowRuns *runs)
{
	MemoryContext old = MemoryContextSwitchTo(runs->context);
	BlockFile *file = gpuagg_block_file_make();

	MemoryContextSwitchTo(old);
	return file;
}

/* Rows of a block, a multiple of 64. */
static int
block_rows(const RowRuns *runs, TupleDesc desc, const bool *kept)
{
	Size row_bytes = 2 * sizeof(uint64); /* at least, of its item */
	int64 rows;

	for (int i = 0; i < desc->natts; i++)
		if (kept[i])
			row_bytes += sizeof(Datum);
	rows = runs->limit / GOOD_MERGE / (int64) row_bytes;
	return (int) Min(Max(TYPEALIGN_DOWN(64, rows), LEAST_BLOCK_ROWS), STORE_ROWS);
}

RowRuns *
gpuagg_row_runs_make(TupleDesc desc, const bool *kept, const int *scales, int64 limit,
					 MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "gpuagg runs", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RowRuns *runs = palloc0(sizeof(RowRuns));

	runs->context = context;
	runs->merge = AllocSetContextCreate(context, "gpuagg merge", ALLOCSET_DEFAULT_SIZES);
	runs->limit = Max(limit, LEAST_MERGE_BYTES);
	runs->store = gpuagg_column_store_make(desc, kept, scales, block_rows(runs, desc, kept),
										   context);
	runs->image = gpuagg_store_image_make(runs->store);
	runs->file = runs->from = make_file(runs);
	MemoryContextSwitchTo(old);
	return runs;
}

void
gpuagg_row_runs_end(RowRuns *runs)
{
	if (runs->from != runs->file)
		gpuagg_block_file_close(runs->from);
	gpuagg_block_file_close(runs->file);
	MemoryContextDelete(runs->context);
}

int64
gpuagg_row_runs_bytes(const RowRuns *runs)
{
	return runs->most;
}

const ColumnStore *
gpuagg_row_runs_store(const RowRuns *runs)
{
	return runs->store;
}

/* ---- the file ---- */

/* Writes the image as a run's next block; it is empty then. */
static void
write_block(RowRuns *runs, Run *run)
{
	StoreImage *image = runs->image;

	if (image->nrows == 0)
		return;
	run->nrows += image->nrows;
	run->most_bytes = Max(run->most_bytes, image->bytes);
	gpuagg_block_file_write(runs->file, runs->store, image);
	runs->most = Max(runs->most, runs->file->bytes + runs->merged);
}

/* Writes the rows of n items behind a run's. */
static void
write_rows(RowRuns *runs, Run *run, const RowKeys *keys, const ColumnStore *store,
		   const uint64 *items, int64 n)
{
	Size step = gpuagg_row_keys_step(keys);

	while (n > 0)
	{
		int some = gpuagg_store_image_copy(runs->image, store, items + keys->words, step, n);

		CHECK_FOR_INTERRUPTS();
		if (some == 0)
			write_block(runs, run);
		items += some * step;
		n -= some;
	}
}

void
gpuagg_row_runs_add(RowRuns *runs, const RowKeys *keys, const ColumnStore *store,
					const uint64 *items, int64 n)
{
	Run *run;

	if (runs->nruns == runs->room)
	{
		runs->room = Max(2 * runs->room, 16);
		runs->runs = runs->runs == NULL
						 ? MemoryContextAlloc(runs->context, runs->room * sizeof(Run))
						 : repalloc(runs->runs, runs->room * sizeof(Run));
	}
	run = &runs->runs[runs->nruns++];
	*run = (Run){runs->file->end, 0, 0};
	for (int c = 0; c < store->desc->natts; c++)
		runs->store->columns[c].has_nulls |= store->columns[c].has_nulls;
	write_rows(runs, run, keys, store, items, n);
	write_block(runs, run);
}

/* ---- merge ---- */

/* Reads the next block of an open run. */
static void
read_block(RowRuns *runs, int number)
{
	OpenRun *open = &runs->open[number];
	char *piece = runs->store->pieces[number];

	open->nrows = gpuagg_block_file_read(runs->from, &open->place, runs->store, piece, open->data);
	gpuagg_row_keys_pack(runs->keys, runs->store, number, open->nrows, 0, open->items);
	open->row = 0;
	open->item = open->items;
	open->left -= open->nrows;
}

/* Bytes of the items of a block. */
static Size
items_bytes_of(const RowRuns *runs)
{
	return runs->store->piece_rows * gpuagg_row_keys_step(runs->keys) * sizeof(uint64);
}

/* Whether the next row of run a goes before that of run b. */
static inline bool
precedes(const RowRuns *runs, int a, int b)
{
	const uint64 *x = runs->open[a].item;
	const uint64 *y = runs->open[b].item;

	if (x == NULL || y == NULL)
		return x != NULL;
	for (int i = 0; i < runs->keys->words; i++)
		if (x[i] != y[i])
			return x[i] < y[i];
	return a < b;
}

/* Puts a run that has another item in its place. */
static inline void
place_run(RowRuns *runs, int number)
{
	int first = number;

	for (int node = (number + runs->nopen) / 2; node > 0; node /= 2)
		if (precedes(runs, runs->order[node], first))
		{
			int loser = first;

			first = runs->order[node];
			runs->order[node] = loser;
		}
	runs->order[0] = first;
}

/* The same of all, of which none has a place. */
static void
place_runs(RowRuns *runs)
{
	for (int i = 0; i < runs->nopen; i++)
		runs->order[i] = -1;
	for (int i = 0; i < runs->nopen; i++)
	{
		int first = i;
		int node;

		for (node = (i + runs->nopen) / 2; node > 0 && runs->order[node] >= 0; node /= 2)
			if (precedes(runs, runs->order[node], first))
			{
				int loser = first;

				first = runs->order[node];
				runs->order[node] = loser;
			}
		runs->order[node] = first;
	}
}

/* Begins to merge n runs from number `first` on. */
static void
open_runs(RowRuns *runs, int first, int n)
{
	Size items_bytes = items_bytes_of(runs);
	MemoryContext old;

	MemoryContextReset(runs->merge);
	old = MemoryContextSwitchTo(runs->merge);
	runs->open = palloc_extended(n * sizeof(OpenRun), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	runs->store->pieces = palloc_extended(n * sizeof(char *), MCXT_ALLOC_HUGE);
	runs->store->nrows = n * INT64CONST(1) * STORE_ROWS;
	runs->nopen = n;
	runs->order = palloc_extended(n * sizeof(int), MCXT_ALLOC_HUGE);
	runs->empty = -1;
	for (int i = 0; i < n; i++)
	{
		const Run *run = &runs->runs[first + i];
		OpenRun *open = &runs->open[i];

		CHECK_FOR_INTERRUPTS();
		runs->store->pieces[i] = palloc_extended(Max(runs->store->piece_bytes, 1), MCXT_ALLOC_HUGE);
		open->items = palloc_extended(items_bytes, MCXT_ALLOC_HUGE);
		open->data = palloc_extended(Max(run->most_bytes, 1), MCXT_ALLOC_HUGE);
		open->place = run->start;
		open->left = run->nrows;
		read_block(runs, i);
	}
	place_runs(runs);
	MemoryContextSwitchTo(old);
}

/* How many runs can be merged at once. */
static int
merge_order(const RowRuns *runs)
{
	Size items_bytes = items_bytes_of(runs);
	Size most_bytes = 0;
	int64 run_bytes;

	for (int i = 0; i < runs->nruns; i++)
		most_bytes = Max(most_bytes, runs->runs[i].most_bytes);
	run_bytes = (int64) (runs->store->piece_bytes + items_bytes + most_bytes);
	return (int) Max(runs->limit / run_bytes, LEAST_MERGE);
}

/* Merges n runs from number `first` on into one, at the end of the file to write to. */
static Run
merge_runs(RowRuns *runs, int first, int n)
{
	Run run = {runs->file->end, 0, 0};
	uint64 *items;
	int64 nitems;

	open_runs(runs, first, n);
	items = MemoryContextAlloc(runs->merge,
							   STORE_ROWS * gpuagg_row_keys_step(runs->keys) * sizeof(uint64));
	while (nitems = gpuagg_row_runs_next(runs, items, STORE_ROWS), nitems > 0)
		write_rows(runs, &run, runs->keys, runs->store, items, nitems);
	write_block(runs, &run);
	return run;
}

/* Merges all runs into fewer, in another file: into no more than can then be merged, if one pass will do. */
static void
merge_pass(RowRuns *runs)
{
	int order = merge_order(runs);
	int n = Min(order, (runs->nruns + order - 1) / order);
	int nmerged = 0;

	n = Max(n, LEAST_MERGE);
	runs->merged = runs->file->bytes;
	runs->file = make_file(runs);
	for (int first = 0; first < runs->nruns; first += n)
		runs->runs[nmerged++] = merge_runs(runs, first, Min(n, runs->nruns - first));
	runs->nruns = nmerged;
	gpuagg_block_file_close(runs->from);
	runs->from = runs->file;
	runs->merged = 0;
}

void
gpuagg_row_runs_begin(RowRuns *runs, const RowKeys *keys)
{
	runs->keys = keys;
	while (runs->nruns > merge_order(runs))
		merge_pass(runs);
	open_runs(runs, 0, runs->nruns);
}

void
gpuagg_row_runs_rest(RowRuns *runs)
{
	MemoryContextReset(runs->merge);
}

int64
gpuagg_row_runs_next(RowRuns *runs, uint64 *items, int64 most)
{
	Size step = gpuagg_row_keys_step(runs->keys);
	int64 n = 0;

	CHECK_FOR_INTERRUPTS();
	if (runs->empty >= 0)
	{
		read_block(runs, runs->empty);
		place_run(runs, runs->empty);
		runs->empty = -1;
	}
	while (n < most && runs->open[runs->order[0]].item != NULL)
	{
		int number = runs->order[0];
		OpenRun *open = &runs->open[number];

		for (Size i = 0; i < step; i++)
			items[n * step + i] = open->item[i];
		n++;
		open->item += step;
		if (++open->row == open->nrows && open->left > 0)
		{
			/* its block stays until these rows are done with */
			runs->empty = number;
			break;
		}
		if (open->row == open->nrows)
			open->item = NULL;
		place_run(runs, number);
	}
	return n;
}
