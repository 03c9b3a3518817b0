/*
 * blob.h
 *	  Blobs: blocks of columns that gpuaggd keeps in device memory.
 *
 * Who has a blob made names it: by a number of its own choice and by an epoch, which is greater
 * each time the number is used for another blob.  gpuaggd knows no more of it than is here: the
 * form of the values (narrow.h), how many rows there are, and whose they are.
 */
#ifndef GPUAGG_BLOB_H
#define GPUAGG_BLOB_H

#include <stdint.h>

#include "common/narrow.h"

#define GPUAGG_BLOB_ALIGN 64 /* of values and bitmaps, bytes; they take a multiple of it */
#define GPUAGG_BLOB_ROWS  (UINT32_C(1) << 19) /* at most: of 256 pages of 32 kB, and some */
#define GPUAGG_ANY_DEVICE UINT32_MAX
#define GPUAGG_DROPS	  46 /* names in a DROP request, at most */

typedef struct GpuaggBlobName
{
	uint64_t number; /* from 1 on */
	uint64_t epoch;
} GpuaggBlobName;

/* A PUT request: values and bitmap are copied out of the region. */
typedef struct GpuaggPut
{
	uint32_t region;
	uint32_t device;   /* number, or ANY_DEVICE */
	uint32_t database; /* whose data it is: no query of another one finds it */
	uint32_t nrows;	   /* 1 to GPUAGG_BLOB_ROWS */
	GpuaggBlobName name;
	GpuaggNarrow form; /* of which type, width and base count */
	uint64_t values;   /* bytes from the region's start, aligned to GPUAGG_BLOB_ALIGN */
	uint64_t valid;	   /* the same of a bitmap: bit set: not NULL */
	uint32_t nullable; /* 0: there is no bitmap, as no row is NULL */
	uint32_t spare;
} GpuaggPut;

/* Bytes of a bitmap of so many rows, with what aligns it. */
static inline uint64_t
gpuagg_blob_bitmap_bytes(uint64_t nrows)
{
	return (nrows + 511) / 512 * GPUAGG_BLOB_ALIGN;
}

/* Bytes that a blob takes on the device: values, then the bitmap. */
static inline uint64_t
gpuagg_blob_bytes(const GpuaggNarrow *form, uint64_t nrows, int nullable)
{
	return gpuagg_narrow_bytes(form, nrows) + (nullable ? gpuagg_blob_bitmap_bytes(nrows) : 0);
}

#endif /* GPUAGG_BLOB_H */
