/*
 * new_page.h
 *	  Pages of tables that nothing has used yet.
 *
 * From 16 on a table grows by up to 64 pages at once.  Those that its last load has not come to
 * are all zeros, and VACUUM does not mark them all-visible.
 */
#ifndef GPUAGG_NEW_PAGE_H
#define GPUAGG_NEW_PAGE_H

#include "compat.h"

#include "storage/block.h"
#include "utils/rel.h"

/*
 * Whether a page has had no tuples until now.  Then no snapshot that was taken before sees rows
 * there, as who has committed until then has put its tuples into their pages.
 */
extern bool gpuagg_page_is_new(Relation relation, BlockNumber block);

/* Pages of a table without the new ones at its end. */
extern BlockNumber gpuagg_used_pages(Relation relation);

#endif /* GPUAGG_NEW_PAGE_H */
