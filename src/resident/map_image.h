/*
 * map_image.h
 *	  Copies of pages of a table's visibility map.
 *
 * An image is one page of the map as it was at one moment: its LSN and which heap pages are
 * all-visible.  Whoever concludes anything from it has taken its snapshot before: what is
 * all-visible while a snapshot is registered is visible to that snapshot.
 */
#ifndef GPUAGG_MAP_IMAGE_H
#define GPUAGG_MAP_IMAGE_H

#include "compat.h"

#include "access/xlogdefs.h"
#include "utils/rel.h"

#include "resident/chunk.h"

typedef struct MapImage
{
	uint32 number; /* of the page of the map */
	bool read;	   /* the other fields are set */
	XLogRecPtr lsn;
	ChunkPages visible[MAP_PAGE_CHUNKS];
} MapImage;

/* The image of the page that is about a chunk; no page is all-visible where the map has none. */
extern void gpuagg_map_image_read(MapImage *image, Relation relation, uint32 chunk);

#endif /* GPUAGG_MAP_IMAGE_H */
