/*
 * store_image.h
 *	  Pieces of column stores without pointers.
 */
#ifndef GPUAGG_STORE_IMAGE_H
#define GPUAGG_STORE_IMAGE_H

#include "exec/column_store.h"

/* A piece whose values by reference are places in `data`. */
typedef struct StoreImage
{
	MemoryContext context;
	ColumnStore *store; /* of such pieces */
	int nrows;
	char *piece; /* store->piece_bytes */
	char *data;
	Size bytes;
	Size room;
} StoreImage;

/* From so many bytes of data on an image is full. */
#define STORE_IMAGE_BYTES (64 * 1024)

/* An empty image of rows of such a store, in the current memory context. */
extern StoreImage *gpuagg_store_image_make(ColumnStore *store);

/*
 * Copies the first of n rows of a store of the same columns, whose numbers are `step` words apart, behind those of the
 * image; returns how many: 0 where it is full.  It is empty again with nrows and bytes 0.
 */
extern int gpuagg_store_image_copy(StoreImage *image, const ColumnStore *store,
								   const uint64 *numbers, Size step, int64 n);

/*
 * The same of rows of Datums, each `stride` places after the one before, and pointers to what the
 * image's store has as integers; it learns of their NULLs.
 */
extern int gpuagg_store_image_put(StoreImage *image, const Datum *values, const bool *isnull,
								  Size stride, int64 n);

/* Makes an image's piece of n rows one of a store, in place; `data` is where its data are now. */
extern void gpuagg_store_image_point(const ColumnStore *store, char *piece, int n, char *data);

#endif /* GPUAGG_STORE_IMAGE_H */
