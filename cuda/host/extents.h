/*
 * extents.h
 *	  Places in large pieces of memory, their slabs.
 *
 * A slab is divided into extents, in use or free, no two free ones side by side.  Free ones are
 * in lists by their size: eight for every power of two.  So an extent is found, and given back,
 * in a time that does not depend on how many there are, and what is left over can be used again.
 */
#ifndef GPUAGG_EXTENTS_H
#define GPUAGG_EXTENTS_H

#include <stdbool.h>
#include <stdint.h>

#define GPUD_EXTENT_UNIT  256 /* bytes, of which all sizes are multiples */
#define GPUD_EXTENT_SIZES 320

typedef struct Extent
{
	char *at;
	uint64_t bytes;
	void *slab;			  /* as gpud_extents_add() was told */
	struct Extent *below; /* in the slab; NULL: none */
	struct Extent *above;
	struct Extent *next; /* free: in the list of its size */
	struct Extent *previous;
	bool free;
} Extent;

typedef struct Extents
{
	Extent *free[GPUD_EXTENT_SIZES];
} Extents;

/* A new slab as one free extent, whose struct stays its lowest; NULL: no host memory. */
extern Extent *gpud_extents_add(Extents *extents, void *slab, void *at, uint64_t bytes);

/* Whether nothing of a slab is in use; and the end of such a slab.  lowest: what add() gave. */
extern bool gpud_slab_is_free(const Extent *lowest);
extern void gpud_extents_remove(Extents *extents, Extent *lowest);

/* An extent of at least so many bytes, or NULL. */
extern Extent *gpud_extent_take(Extents *extents, uint64_t bytes);
extern void gpud_extent_give_back(Extents *extents, Extent *extent);

#endif /* GPUAGG_EXTENTS_H */
