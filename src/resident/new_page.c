/*
 * new_page.c
 *	  Pages of tables that nothing has used yet.
 */
#include "compat.h"

#include "resident/new_page.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"

bool
gpuagg_page_is_new(Relation relation, BlockNumber block)
{
	Buffer buffer = ReadBuffer(relation, block);
	bool is_new;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	is_new = PageIsNew(BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
	return is_new;
}

BlockNumber
gpuagg_used_pages(Relation relation)
{
	BlockNumber pages = RelationGetNumberOfBlocks(relation);

	while (pages > 0 && gpuagg_page_is_new(relation, pages - 1))
	{
		CHECK_FOR_INTERRUPTS();
		pages--;
	}
	return pages;
}
