/*
 * map_image.c
 *	  Copies of pages of a table's visibility map.
 */
#include "compat.h"

#include "resident/map_image.h"

#include "access/visibilitymap.h"
#include "port/pg_bswap.h"
#include "storage/bufmgr.h"

/* Lines of the processor's cache, one a chunk, that are asked for before their bits are taken. */
#define LINES_AHEAD 8

#define FIRST_BITS	UINT64CONST(0x5555555555555555) /* of each two */

/* The first of each two bits of a word, together. */
static inline uint64
first_bits(uint64 word)
{
	word &= FIRST_BITS;
	word = (word | word >> 1) & UINT64CONST(0x3333333333333333);
	word = (word | word >> 2) & UINT64CONST(0x0f0f0f0f0f0f0f0f);
	word = (word | word >> 4) & UINT64CONST(0x00ff00ff00ff00ff);
	word = (word | word >> 8) & UINT64CONST(0x0000ffff0000ffff);
	return (word | word >> 16) & UINT64CONST(0x00000000ffffffff);
}

/*
 * Pages of a chunk whose bits are so many words from `content` on: bytes of four pages each, the
 * first in the low bits.  Of most chunks all are.
 */
static inline ChunkPages
take_bits(const char *content, int nwords)
{
	uint64 words[CHUNK_PAGES / 32] = {0};
	uint64 all = nwords == CHUNK_PAGES / 32 ? FIRST_BITS : 0;
	ChunkPages pages;

#pragma GCC unroll 8
	for (int i = 0; i < nwords; i++)
	{
		uint64 word;

		memcpy(&word, content + i * sizeof(uint64), sizeof(uint64));
		all &= word;
	}
	if (all == FIRST_BITS)
		return (ChunkPages){{PG_UINT64_MAX, PG_UINT64_MAX, PG_UINT64_MAX, PG_UINT64_MAX}};
	memcpy(words, content, nwords * sizeof(uint64));
	for (int i = 0; i < CHUNK_PAGES / 32; i++)
	{
#ifdef WORDS_BIGENDIAN
		words[i] = pg_bswap64(words[i]);
#endif
		words[i] = first_bits(words[i]);
	}
	for (int i = 0; i < CHUNK_WORDS; i++)
		pages.words[i] = words[2 * i] | words[2 * i + 1] << 32;
	return pages;
}

static void
take_content(MapImage *image, const char *content)
{
	const int last = MAP_PAGE_BLOCKS % CHUNK_PAGES / 32; /* words of the last chunk */

	StaticAssertStmt(CHUNK_WORDS == 4, "take_bits() has as many");
	StaticAssertStmt(VISIBILITYMAP_ALL_VISIBLE == 1, "the first bit is the one");
	StaticAssertStmt(MAP_PAGE_BLOCKS % CHUNK_PAGES != 0 && MAP_PAGE_BLOCKS % 32 == 0,
					 "the last chunk is a shorter one, of whole words");
	for (int i = 0; i < MAP_PAGE_CHUNKS - 1; i++)
	{
		__builtin_prefetch(content + (i + LINES_AHEAD) * CHUNK_PAGES / 4);
		image->visible[i] = take_bits(content + i * CHUNK_PAGES / 4, CHUNK_PAGES / 32);
	}
	image->visible[MAP_PAGE_CHUNKS - 1] =
		take_bits(content + (MAP_PAGE_CHUNKS - 1) * CHUNK_PAGES / 4, last);
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
	take_content(image, PageGetContents(BufferGetPage(buffer)));
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	ReleaseBuffer(buffer);
}
