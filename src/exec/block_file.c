/*
 * block_file.c
 *	  Blocks of rows in a temporary file: pieces of column stores as bytes, or bytes of the caller's own.
 */
#include "exec/block_file.h"

#include "commands/tablespace.h"
#include "utils/memutils.h"

/* Before each block. */
typedef struct BlockHead
{
	uint64 nrows;
	uint64 bytes; /* of values by reference */
} BlockHead;

BlockFile *
gpuagg_block_file_make(void)
{
	BlockFile *file = palloc0(sizeof(BlockFile));

	PrepareTempTablespaces();
	file->file = BufFileCreateTemp(false);
	return file;
}

void
gpuagg_block_file_close(BlockFile *file)
{
	BufFileClose(file->file);
	pfree(file);
}

static void
seek(BufFile *file, const FilePlace *place)
{
	if (BufFileSeek(file, place->file, place->offset, SEEK_SET) != 0)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not seek in temporary file: %m")));
}

static void
read_bytes(BlockFile *file, void *to, Size size)
{
	if (BufFileRead(file->file, to, size) != size)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED), errmsg("unexpected end of temporary file")));
}

static void
write_bytes(BlockFile *file, void *from, Size size)
{
	BufFileWrite(file->file, from, size);
	file->bytes += size;
}

void
gpuagg_block_file_append(BlockFile *file, const void *from, Size size)
{
	seek(file->file, &file->end);
	write_bytes(file, unconstify(void *, from), size);
	BufFileTell(file->file, &file->end.file, &file->end.offset);
}

void
gpuagg_block_file_fetch(BlockFile *file, const FilePlace *place, void *to, Size size)
{
	seek(file->file, place);
	read_bytes(file, to, size);
}

/* What a piece has of n rows of a column. */
static void
write_column(BlockFile *file, char *piece, const StoreColumn *column, int n)
{
	write_bytes(file, piece + column->values, n * column->width);
	write_bytes(file, piece + column->nulls, (n + 63) / 64 * sizeof(uint64));
}

static void
read_column(BlockFile *file, char *piece, const StoreColumn *column, int n)
{
	read_bytes(file, piece + column->values, n * column->width);
	read_bytes(file, piece + column->nulls, (n + 63) / 64 * sizeof(uint64));
}

void
gpuagg_block_file_write(BlockFile *file, const ColumnStore *store, StoreImage *image)
{
	BlockHead head = {image->nrows, image->bytes};

	seek(file->file, &file->end);
	write_bytes(file, &head, sizeof(head));
	for (int c = 0; c < store->desc->natts; c++)
		if (store->columns[c].kept)
			write_column(file, image->piece, &store->columns[c], image->nrows);
	write_bytes(file, image->data, image->bytes);
	BufFileTell(file->file, &file->end.file, &file->end.offset);
	image->nrows = 0;
	image->bytes = 0;
}

int
gpuagg_block_file_read(BlockFile *file, FilePlace *place, const ColumnStore *store, char *piece,
					   char *data)
{
	BlockHead head;

	seek(file->file, place);
	read_bytes(file, &head, sizeof(head));
	for (int c = 0; c < store->desc->natts; c++)
		if (store->columns[c].kept)
			read_column(file, piece, &store->columns[c], (int) head.nrows);
	read_bytes(file, data, head.bytes);
	BufFileTell(file->file, &place->file, &place->offset);
	gpuagg_store_image_point(store, piece, (int) head.nrows, data);
	return (int) head.nrows;
}
