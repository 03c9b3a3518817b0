/*
 * column_queue.c
 *	  A queue of rows as columns, in memory up to a limit, then in a file.
 *
 * Rows come in blocks.  Blocks in memory are older than those in the file, and these than the one
 * that is being filled: while the file has some, all others go there.
 */
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/block_file.h"
#include "exec/column_queue.h"

#define LEAST_LIMIT (64 * 1024)

typedef struct QueueBlock
{
	struct QueueBlock *next;
	StoreImage *image;
} QueueBlock;

struct ColumnQueue
{
	MemoryContext context;
	ColumnStore *store; /* its one piece is the block that is read */
	const bool *kept;
	int64 limit;
	QueueBlock *first; /* in memory */
	QueueBlock *last;
	int64 bytes;	 /* of these */
	BlockFile *file; /* or NULL */
	FilePlace place; /* of the next block there */
	int64 in_file;	 /* blocks from there on */
	Size most_bytes; /* of values by reference, of a block there */
	int64 spilled;	 /* rows */
	StoreImage *filling;
	StoreImage *reading;
	int row; /* the next one of that */
	uint64 numbers[STORE_ROWS];
};

ColumnQueue *
gpuagg_column_queue_make(TupleDesc desc, const bool *kept, const int *scales, int64 limit,
						 MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "gpuagg column queue",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	ColumnQueue *queue = palloc0(sizeof(ColumnQueue));

	queue->context = context;
	queue->kept = kept;
	queue->limit = Max(limit, LEAST_LIMIT);
	queue->store = gpuagg_column_store_make(desc, kept, scales, STORE_ROWS, context);
	queue->store->pieces = palloc(sizeof(char *));
	queue->filling = gpuagg_store_image_make(queue->store);
	queue->reading = gpuagg_store_image_make(queue->store);
	for (int i = 0; i < STORE_ROWS; i++)
		queue->numbers[i] = i;
	MemoryContextSwitchTo(old);
	return queue;
}

void
gpuagg_column_queue_end(ColumnQueue *queue)
{
	if (queue->file != NULL)
		gpuagg_block_file_close(queue->file);
	MemoryContextDelete(queue->context);
}

int64
gpuagg_column_queue_spilled(const ColumnQueue *queue)
{
	return queue->spilled;
}

/* ---- blocks ---- */

static int64
block_bytes(const ColumnQueue *queue, const StoreImage *image)
{
	return (int64) (sizeof(QueueBlock) + sizeof(StoreImage) + queue->store->piece_bytes +
					image->room);
}

static void
write_block(ColumnQueue *queue)
{
	if (queue->file == NULL)
	{
		queue->file = gpuagg_block_file_make();
		queue->place = queue->file->end;
	}
	queue->spilled += queue->filling->nrows;
	queue->most_bytes = Max(queue->most_bytes, queue->filling->bytes);
	queue->in_file++;
	gpuagg_block_file_write(queue->file, queue->store, queue->filling);
}

static void
keep_block(ColumnQueue *queue)
{
	QueueBlock *block = palloc(sizeof(QueueBlock));

	*block = (QueueBlock){NULL, queue->filling};
	if (queue->first == NULL)
		queue->first = block;
	else
		queue->last->next = block;
	queue->last = block;
	queue->bytes += block_bytes(queue, block->image);
	queue->filling = gpuagg_store_image_make(queue->store);
}

static void
free_image(StoreImage *image)
{
	if (image->data != NULL)
		pfree(image->data);
	pfree(image->piece);
	pfree(image);
}

static void
take_block(ColumnQueue *queue)
{
	QueueBlock *block = queue->first;

	free_image(queue->reading);
	queue->reading = block->image;
	queue->bytes -= block_bytes(queue, block->image);
	queue->first = block->next;
	pfree(block);
}

/* Reads the next block; a file that has no others is removed. */
static void
read_block(ColumnQueue *queue)
{
	StoreImage *image = queue->reading;

	if (image->room < queue->most_bytes)
	{
		if (image->data != NULL)
			pfree(image->data);
		image->data = NULL;
		image->data = palloc_extended(queue->most_bytes, MCXT_ALLOC_HUGE);
		image->room = queue->most_bytes;
	}
	image->nrows = gpuagg_block_file_read(queue->file, &queue->place, queue->store, image->piece,
										  image->data);
	if (--queue->in_file > 0)
		return;
	gpuagg_block_file_close(queue->file);
	queue->file = NULL;
	queue->most_bytes = 0;
}

/* Has the next block to read; false: there is none. */
static bool
open_block(ColumnQueue *queue)
{
	StoreImage *image = queue->reading;

	CHECK_FOR_INTERRUPTS();
	image->nrows = 0;
	image->bytes = 0;
	queue->row = 0;
	if (queue->first != NULL)
		take_block(queue);
	else if (queue->in_file > 0)
	{
		read_block(queue);
		return true;
	}
	else
	{
		queue->reading = queue->filling;
		queue->filling = image;
	}
	image = queue->reading;
	gpuagg_store_image_point(queue->store, image->piece, image->nrows, image->data);
	return image->nrows > 0;
}

/* ---- rows ---- */

void
gpuagg_column_queue_put(ColumnQueue *queue, const Datum *values, const bool *isnull, Size stride,
						int64 n)
{
	MemoryContext old = MemoryContextSwitchTo(queue->context);

	while (n > 0)
	{
		int some = gpuagg_store_image_put(queue->filling, values, isnull, stride, n);

		values += some * stride;
		isnull += some * stride;
		n -= some;
		if (some > 0)
			continue;
		if (queue->in_file > 0 || queue->bytes + block_bytes(queue, queue->filling) > queue->limit)
			write_block(queue);
		else
			keep_block(queue);
	}
	MemoryContextSwitchTo(old);
}

int
gpuagg_column_queue_get(ColumnQueue *queue, int64 most, Datum *values, bool *isnull, Size stride)
{
	MemoryContext old = MemoryContextSwitchTo(queue->context);
	int n = 0;

	if (queue->row < queue->reading->nrows || open_block(queue))
	{
		n = (int) Min(most, queue->reading->nrows - queue->row);
		queue->store->pieces[0] = queue->reading->piece;
		gpuagg_column_store_gather(queue->store, queue->kept, queue->numbers + queue->row, 1, n,
								   true, values, isnull, stride);
		queue->row += n;
	}
	MemoryContextSwitchTo(old);
	return n;
}
