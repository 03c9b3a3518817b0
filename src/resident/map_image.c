/*
 * map_image.c
 *	  Copies of pages of a table's visibility map.
 */
#include "compat.h"

#include "resident/map_image.h"

#include "access/visibilitymap.h"
#include "port/pg_bswap.h"
#include "storage/bufmgr.h"

/* The first of each two bits of a word, together. */
static inline uint64
first_bits(uint64 word)
{
	word &= UINT64CONST(0x5555555555555555);
	word = (word | word >> 1) & UINT64CONST(0x3333333333333333);
	word = (word | word >> 2) & UINT64CONST(0x0f0f0f0f0f0f0f0f);
	word = (word | word >> 4) & UINT64CONST(0x00ff00ff00ff00ff);
	word = (word | word >> 8) & UINT64CONST(0x0000ffff0000ffff);
	return (word | word >> 16) & UINT64CONST(0x00000000ffffffff);
}

/* The page's content is bytes of four heap pages each, the first in the low bits. */
static void
take_bits(MapImage *image, const char *content)
{
	StaticAssertStmt(VISIBILITYMAP_ALL_VISIBLE == 1, "the first bit is the one");
	StaticAssertStmt(MAP_PAGE_BLOCKS % 32 == 0, "the page has whole words");

	memset(image->visible, 0, sizeof(image->visible));
	for (int i = 0; i < MAP_PAGE_BLOCKS / 32; i++)
	{
		ChunkPages *pages = &image->visible[i * 32 / CHUNK_PAGES];
		uint64 word;

		memcpy(&word, content + i * sizeof(word), sizeof(word));
#ifdef WORDS_BIGENDIAN
		word = pg_bswap64(word);
#endif
		pages->words[i * 32 % CHUNK_PAGES / 64] |= first_bits(word) << i % 2 * 32;
	}
}

void
gpuagg_map_image_read(MapImage *image, Relation relation, uint32 chunk)
{
	Buffer buffer = InvalidBuffer;

	image->number = chunk / MAP_PAGE_CHUNKS;
	image->read = true;
	/* visibilitymap_pin() would extend the map */
	(void) visibilitymap_get_status(relation, image->number * MAP_PAGE_BLOCKS, &buffer);
	if (!BufferIsValid(buffer))
	{
		image->lsn = InvalidXLogRecPtr;
		memset(image->visible, 0, sizeof(image->visible));
		return;
	}
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	image->lsn = PageGetLSN(BufferGetPage(buffer));
	take_bits(image, PageGetContents(BufferGetPage(buffer)));
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	ReleaseBuffer(buffer);
}
