/*
 * chunk.h
 *	  Chunks of a table's pages.
 *
 * A chunk is CHUNK_PAGES pages, counted within the pages that one page of the visibility map
 * is about: the last chunk of these is shorter, so that no chunk has two map pages.
 */
#ifndef GPUAGG_CHUNK_H
#define GPUAGG_CHUNK_H

#include "compat.h"

#include "storage/block.h"
#include "storage/bufpage.h"

#define CHUNK_PAGES 256

/* Heap pages of one page of the visibility map, two bits each; and its chunks. */
#define MAP_PAGE_BLOCKS ((BLCKSZ - MAXALIGN(SizeOfPageHeaderData)) * 4)
#define MAP_PAGE_CHUNKS ((MAP_PAGE_BLOCKS + CHUNK_PAGES - 1) / CHUNK_PAGES)

/* A set of a chunk's pages. */
#define CHUNK_WORDS (CHUNK_PAGES / 64)

typedef struct ChunkPages
{
	uint64 words[CHUNK_WORDS];
} ChunkPages;

static inline uint32
chunk_of(BlockNumber block)
{
	return block / MAP_PAGE_BLOCKS * MAP_PAGE_CHUNKS + block % MAP_PAGE_BLOCKS / CHUNK_PAGES;
}

static inline BlockNumber
chunk_first_block(uint32 chunk)
{
	return chunk / MAP_PAGE_CHUNKS * MAP_PAGE_BLOCKS + chunk % MAP_PAGE_CHUNKS * CHUNK_PAGES;
}

/* Number of a block's page in its chunk. */
static inline int
chunk_page(BlockNumber block)
{
	return (int) (block % MAP_PAGE_BLOCKS % CHUNK_PAGES);
}

/* Pages of a chunk of a table of so many. */
static inline int
chunk_npages(uint32 chunk, BlockNumber nblocks)
{
	BlockNumber first = chunk_first_block(chunk);
	BlockNumber end = chunk % MAP_PAGE_CHUNKS == MAP_PAGE_CHUNKS - 1
						  ? (chunk / MAP_PAGE_CHUNKS + 1) * MAP_PAGE_BLOCKS
						  : first + CHUNK_PAGES;

	return first >= nblocks ? 0 : (int) (Min(end, nblocks) - first);
}

/* Chunks of a table of so many pages. */
static inline uint32
chunk_count(BlockNumber nblocks)
{
	return nblocks == 0 ? 0 : chunk_of(nblocks - 1) + 1;
}

static inline bool
chunk_has(const ChunkPages *pages, int page)
{
	return (pages->words[page / 64] >> page % 64 & 1) != 0;
}

static inline void
chunk_add(ChunkPages *pages, int page)
{
	pages->words[page / 64] |= UINT64CONST(1) << page % 64;
}

static inline void
chunk_remove(ChunkPages *pages, int page)
{
	pages->words[page / 64] &= ~(UINT64CONST(1) << page % 64);
}

/* The next page of the set from `page` on; CHUNK_PAGES: there is none. */
static inline int
chunk_next(const ChunkPages *pages, int page)
{
	for (int w = page / 64; w < CHUNK_WORDS; w++)
	{
		uint64 word = pages->words[w];

		if (w == page / 64)
			word &= ~UINT64CONST(0) << page % 64;
		if (word != 0)
			return w * 64 + __builtin_ctzll(word);
	}
	return CHUNK_PAGES;
}

static inline bool
chunk_is_empty(const ChunkPages *pages)
{
	uint64 any = 0;

	for (int w = 0; w < CHUNK_WORDS; w++)
		any |= pages->words[w];
	return any == 0;
}

/* Whether it is all pages that a chunk may have. */
static inline bool
chunk_is_full(const ChunkPages *pages)
{
	uint64 all = PG_UINT64_MAX;

	for (int w = 0; w < CHUNK_WORDS; w++)
		all &= pages->words[w];
	return all == PG_UINT64_MAX;
}

/* Most sets, and most words of others, have all pages or none, and counting bits takes time. */
static inline int
chunk_size(const ChunkPages *pages)
{
	int n = 0;

	if (chunk_is_full(pages))
		return CHUNK_PAGES;
	for (int w = 0; w < CHUNK_WORDS; w++)
		if (pages->words[w] == ~UINT64CONST(0))
			n += 64;
		else if (pages->words[w] != 0)
			n += __builtin_popcountll(pages->words[w]);
	return n;
}

/* The first `n` pages. */
static inline ChunkPages
chunk_range(int n)
{
	ChunkPages pages;

	for (int w = 0; w < CHUNK_WORDS; w++)
		pages.words[w] = n >= (w + 1) * 64 ? ~UINT64CONST(0)
						 : n <= w * 64	   ? 0
										   : (UINT64CONST(1) << n % 64) - 1;
	return pages;
}

static inline ChunkPages
chunk_both(ChunkPages a, ChunkPages b)
{
	for (int w = 0; w < CHUNK_WORDS; w++)
		a.words[w] &= b.words[w];
	return a;
}

static inline ChunkPages
chunk_without(ChunkPages a, ChunkPages b)
{
	for (int w = 0; w < CHUNK_WORDS; w++)
		a.words[w] &= ~b.words[w];
	return a;
}

static inline ChunkPages
chunk_either(ChunkPages a, ChunkPages b)
{
	for (int w = 0; w < CHUNK_WORDS; w++)
		a.words[w] |= b.words[w];
	return a;
}

#endif /* GPUAGG_CHUNK_H */
