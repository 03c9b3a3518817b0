/*
 * block_file.h
 *	  Blocks of rows in a temporary file: pieces of column stores as bytes, or bytes of the caller's own.
 */
#ifndef GPUAGG_BLOCK_FILE_H
#define GPUAGG_BLOCK_FILE_H

#include "compat.h"

#include "storage/buffile.h"

#include "exec/store_image.h"

typedef struct FilePlace
{
	int file;
	off_t offset;
} FilePlace;

typedef struct BlockFile
{
	BufFile *file;
	FilePlace end; /* of what has been written */
	int64 bytes;   /* of that */
} BlockFile;

/* A new file, in the current memory context, of the current resource owner. */
extern BlockFile *gpuagg_block_file_make(void);

/* Removes it. */
extern void gpuagg_block_file_close(BlockFile *file);

/* Writes bytes behind all that is there, at file->end; and reads those at a place. */
extern void gpuagg_block_file_append(BlockFile *file, const void *from, Size size);
extern void gpuagg_block_file_fetch(BlockFile *file, const FilePlace *place, void *to, Size size);

/* Writes an image of such a store, which has rows, behind the other blocks; it is empty then. */
extern void gpuagg_block_file_write(BlockFile *file, const ColumnStore *store, StoreImage *image);

/*
 * Reads the block at a place, which goes to the next one, as a piece of a store; `data` has room for
 * its values by reference.  Returns how many rows it has.
 */
extern int gpuagg_block_file_read(BlockFile *file, FilePlace *place, const ColumnStore *store,
								  char *piece, char *data);

#endif /* GPUAGG_BLOCK_FILE_H */
