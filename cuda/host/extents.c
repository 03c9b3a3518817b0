/*
 * extents.c
 *	  Places in large pieces of memory, their slabs.
 */
#include "host/extents.h"

#include <stdlib.h>

#define PARTS_BITS 3 /* lists of a power of two: 2^3 */
#define LOOKS	   8 /* at extents that may be too small */

/* The list of a size; all in the lists after it are larger than this. */
static int
list_of(uint64_t bytes)
{
	uint64_t units = bytes / GPUD_EXTENT_UNIT;
	int bits = 63 - __builtin_clzll(units | 1);
	int list;

	if (bits < PARTS_BITS)
		return (int) units;
	list = (bits - PARTS_BITS + 1) << PARTS_BITS |
		   (int) (units >> (bits - PARTS_BITS) & ((1 << PARTS_BITS) - 1));
	return list < GPUD_EXTENT_SIZES ? list : GPUD_EXTENT_SIZES - 1;
}

static void
put(Extents *extents, Extent *extent)
{
	Extent **first = &extents->free[list_of(extent->bytes)];

	extent->free = true;
	extent->previous = NULL;
	extent->next = *first;
	if (*first != NULL)
		(*first)->previous = extent;
	*first = extent;
}

static void
take_out(Extents *extents, Extent *extent)
{
	if (extent->previous != NULL)
		extent->previous->next = extent->next;
	else
		extents->free[list_of(extent->bytes)] = extent->next;
	if (extent->next != NULL)
		extent->next->previous = extent->previous;
	extent->free = false;
}

Extent *
gpud_extents_add(Extents *extents, void *slab, void *at, uint64_t bytes)
{
	Extent *extent = calloc(1, sizeof(Extent));

	if (extent == NULL)
		return NULL;
	extent->at = at;
	extent->bytes = bytes;
	extent->slab = slab;
	put(extents, extent);
	return extent;
}

bool
gpud_slab_is_free(const Extent *lowest)
{
	return lowest->free && lowest->above == NULL;
}

void
gpud_extents_remove(Extents *extents, Extent *lowest)
{
	take_out(extents, lowest);
	free(lowest);
}

/* Makes what is beyond so many bytes an extent of its own, if there is host memory for it. */
static void
split(Extents *extents, Extent *extent, uint64_t bytes)
{
	Extent *rest = extent->bytes > bytes ? calloc(1, sizeof(Extent)) : NULL;

	if (rest == NULL)
		return;
	rest->at = extent->at + bytes;
	rest->bytes = extent->bytes - bytes;
	rest->slab = extent->slab;
	rest->below = extent;
	rest->above = extent->above;
	if (rest->above != NULL)
		rest->above->below = rest;
	extent->above = rest;
	extent->bytes = bytes;
	put(extents, rest);
}

Extent *
gpud_extent_take(Extents *extents, uint64_t bytes)
{
	uint64_t size = (bytes + GPUD_EXTENT_UNIT - 1) / GPUD_EXTENT_UNIT * GPUD_EXTENT_UNIT;
	int list = list_of(size);
	Extent *found = extents->free[list];

	for (int i = 0; i < LOOKS && found != NULL && found->bytes < size; i++)
		found = found->next;
	if (found != NULL && found->bytes < size)
		found = NULL;
	while (found == NULL && ++list < GPUD_EXTENT_SIZES)
		found = extents->free[list];
	if (found == NULL)
		return NULL;
	take_out(extents, found);
	split(extents, found, size);
	return found;
}

/* Joins an extent with the one above it, whose struct goes. */
static void
join(Extent *extent)
{
	Extent *above = extent->above;

	extent->bytes += above->bytes;
	extent->above = above->above;
	if (extent->above != NULL)
		extent->above->below = extent;
	free(above);
}

void
gpud_extent_give_back(Extents *extents, Extent *extent)
{
	if (extent->above != NULL && extent->above->free)
	{
		take_out(extents, extent->above);
		join(extent);
	}
	if (extent->below != NULL && extent->below->free)
	{
		extent = extent->below;
		take_out(extents, extent);
		join(extent);
	}
	put(extents, extent);
}
