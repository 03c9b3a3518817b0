/*
 * compat_blocks.h
 *	  The blocks of a relation, pinned one after the other in an order that a function
 *	  gives, and read ahead.
 *
 * 17 has read streams.  Before, blocks are asked for ahead of their time as soon as
 * one was not in shared buffers.
 */
#ifndef GPUAGG_COMPAT_BLOCKS_H
#define GPUAGG_COMPAT_BLOCKS_H

#include "compat.h"

#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#if PG_VERSION_NUM >= 170000
#include "storage/read_stream.h"
#else
#include "storage/buf_internals.h"
#endif

#define BLOCKS_AHEAD 64
#define BLOCK_USES	 2
#define BLOCKS_STEP	 8

#if PG_VERSION_NUM >= 160000
#define RELATION_FILE(relation) (relation)->rd_locator
#else
#define RELATION_FILE(relation) (relation)->rd_node
#endif

typedef BlockNumber (*CompatNextBlock)(void *owner); /* InvalidBlockNumber: the end */

typedef struct CompatBlocks
{
	Relation relation;
	BufferAccessStrategy strategy;
	CompatNextBlock next;
	void *owner; /* of next() */
	bool waits;	 /* next() reads other blocks or waits */
#if PG_VERSION_NUM >= 170000
	ReadStream *stream;
#else
	BlockNumber ahead[BLOCKS_AHEAD];
	int first;
	int count;
	int most;		  /* blocks to ask for ahead */
	Buffer last_read; /* InvalidBuffer: none */
	int last_step;	  /* its distance from the one before */
	int step;		  /* the last distance that came twice, but not a long one */
#endif
} CompatBlocks;

#if PG_VERSION_NUM >= 170000
static inline BlockNumber
compat_blocks_callback(ReadStream *stream, void *blocks, void *buffer_data)
{
	return ((CompatBlocks *) blocks)->next(((CompatBlocks *) blocks)->owner);
}
#endif

#if PG_VERSION_NUM < 170000
/*
 * Pins the block if it is in the buffer as far from the last one that was read as others were
 * before, which it is where tables were read or written in order, alone or two at a time:
 * without a look into the table of buffers, which takes longer than all else.  That does not
 * count as a use, so buffers that have few are left to the ordinary way, which a table in
 * steady use keeps in memory.
 */
static inline bool
compat_blocks_neighbour(CompatBlocks *blocks, BlockNumber block, Buffer *buffer)
{
	BufferDesc *descriptor;

	*buffer = blocks->last_read + blocks->step;
	if (blocks->last_read <= 0 || *buffer <= 0 || *buffer > NBuffers)
		return false;
	descriptor = GetBufferDescriptor(*buffer - 1);
	if (descriptor->tag.blockNum != block ||
		(blocks->strategy == NULL &&
		 BUF_STATE_GET_USAGECOUNT(pg_atomic_read_u32(&descriptor->state)) < BLOCK_USES))
		return false;
	if (!ReadRecentBuffer(RELATION_FILE(blocks->relation), MAIN_FORKNUM, block, *buffer))
		return false;
	pgstat_count_buffer_read(blocks->relation);
	pgstat_count_buffer_hit(blocks->relation);
	return true;
}
#endif

/* Fields above the versions' own are set; in the context in which the stream shall be. */
static inline void
compat_blocks_begin(CompatBlocks *blocks)
{
#if PG_VERSION_NUM >= 170000
	int flags = READ_STREAM_SEQUENTIAL;

	/* 18: next() does not wait, so reads may be submitted together. */
#if PG_VERSION_NUM >= 180000
	if (!blocks->waits)
		flags |= READ_STREAM_USE_BATCHING;
#endif
	blocks->stream = read_stream_begin_relation(flags, blocks->strategy, blocks->relation,
												MAIN_FORKNUM, compat_blocks_callback, blocks, 0);
#else
	blocks->first = blocks->count = 0;
	blocks->last_read = InvalidBuffer;
	blocks->step = blocks->last_step = 1;
	blocks->most = Min(get_tablespace_io_concurrency(blocks->relation->rd_rel->reltablespace),
					   BLOCKS_AHEAD);
#endif
}

/* The next block, pinned; InvalidBuffer at the end. */
static inline Buffer
compat_blocks_next(CompatBlocks *blocks)
{
#if PG_VERSION_NUM >= 170000
	return read_stream_next_buffer(blocks->stream, NULL);
#else
	BlockNumber block;
	Buffer buffer;
	int64 misses = pgBufferUsage.shared_blks_read + pgBufferUsage.local_blks_read;

	if (blocks->count > 0)
	{
		block = blocks->ahead[blocks->first];
		blocks->first = (blocks->first + 1) % BLOCKS_AHEAD;
		blocks->count--;
	}
	else
	{
		block = blocks->next(blocks->owner);
		if (block == InvalidBlockNumber)
			return InvalidBuffer;
	}
	if (!compat_blocks_neighbour(blocks, block, &buffer))
		buffer = ReadBufferExtended(blocks->relation, MAIN_FORKNUM, block, RBM_NORMAL,
									blocks->strategy);
	if (buffer - blocks->last_read == blocks->last_step && abs(blocks->last_step) <= BLOCKS_STEP)
		blocks->step = blocks->last_step;
	blocks->last_step = buffer - blocks->last_read;
	blocks->last_read = buffer;
	if (pgBufferUsage.shared_blks_read + pgBufferUsage.local_blks_read != misses)
		while (blocks->count < blocks->most)
		{
			block = blocks->next(blocks->owner);
			if (block == InvalidBlockNumber)
				break;
			PrefetchBuffer(blocks->relation, MAIN_FORKNUM, block);
			blocks->ahead[(blocks->first + blocks->count++) % BLOCKS_AHEAD] = block;
		}
	return buffer;
#endif
}

/* Forgets what was asked for ahead; next() starts again. */
static inline void
compat_blocks_reset(CompatBlocks *blocks)
{
#if PG_VERSION_NUM >= 170000
	read_stream_reset(blocks->stream);
#else
	blocks->first = blocks->count = 0;
#endif
}

static inline void
compat_blocks_end(CompatBlocks *blocks)
{
#if PG_VERSION_NUM >= 170000
	read_stream_end(blocks->stream);
#endif
}

#endif /* GPUAGG_COMPAT_BLOCKS_H */
