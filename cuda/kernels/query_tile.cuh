/*
 * query_tile.cuh
 *	  Tiles of the query kernel: rows of one chunk in shared memory.
 *
 * A block goes through a range of units (query.h).  Its first warp finds the next tile that
 * has rows that count, says in the tile's header what it is, and starts the copies of its
 * columns; the tile is complete when its barrier's phase ends.  Without bulk copies all
 * threads copy.
 */
#ifndef GPUAGG_QUERY_TILE_CUH
#define GPUAGG_QUERY_TILE_CUH

#include "device/grid.cuh"
#include "kernels/query.h"

#define QUERY_THREADS 256 /* of a block, at most; with groups twice as many */
#define QUERY_ROWS	  16  /* of a lane, at most */
#define QUERY_STAGES  2

/* How values of a column lie in a tile. */
enum
{
	LOAD_BITS,
	LOAD_8,
	LOAD_16,
	LOAD_INT16, /* with its sign */
	LOAD_32,
	LOAD_64,
	LOAD_128
};

struct QueryColumn
{
	uint64_t base_low;
	uint64_t base_high;
	uint32_t mode;
	uint32_t has_base;
	uint32_t has_nulls;
	uint32_t unused;
};

struct QueryTile
{
	uint32_t rows; /* 0: there is none */
	uint32_t chunk;
	uint32_t has_mask;
	uint32_t row; /* the first */
};

/* Bytes from the begin of a stage, the same in all; and of the block's memory. */
struct QueryLayout
{
	uint32_t rows; /* of a tile */
	uint32_t stages;
	uint32_t stage_bytes;
	uint32_t mask;
	uint32_t values[GPU_QUERY_COLUMNS];
	uint32_t valid[GPU_QUERY_COLUMNS];
	uint32_t walk; /* from the begin of the block's memory */
	uint32_t totals;
	uint32_t temporaries;
	uint32_t temporary_bytes; /* of a warp */
	uint32_t floats;
	uint32_t places; /* of groups: where rows' are; */
	uint32_t stash;	 /* rows' keys; */
	uint32_t keys;	 /* those of the block: keys, */
	uint32_t sums;	 /* and all else */
	uint32_t first_stage;
	uint32_t bytes; /* of the block */
	uint32_t bulk;
};

/* Groups that a block has in shared memory; copies of the sums of each, one for some lanes. */
struct QueryGroupPlaces
{
	uint32_t local; /* an even number */
	uint32_t replicas;
	uint32_t direct;	   /* they are numbered by their keys' ranges */
	uint32_t settle_tiles; /* after which their sums could overflow */
};

/* What a launch is given. */
struct QueryLaunch
{
	GpuQueryPlan plan;
	QueryLayout layout;
	QueryGroupPlaces groups;
	GpuQueryTable table;
	uint64_t nunits;
	uint32_t nchunks;
	const GpuQueryChunk *chunks;
	const GpuQueryBlock *blocks;
	uint32_t *flagged;
	GpuQueryResults *results;
	void *scratch;
	GpuWindowRows kept; /* instead of results */
	uint64_t first_place;
};

/* Where a block is in its range; the same in all lanes of the warp that walks. */
struct QueryWalk
{
	uint64_t end; /* unit */
	uint64_t first_unit;
	const uint64_t *mask;
	uint32_t chunk;
	uint32_t row; /* the next one */
	uint32_t row_end;

	/* Keeps it in shared memory, where it takes no registers. */
	__device__ __forceinline__ void keep(QueryWalk &kept) const
	{
		__syncwarp(FULL_MASK);
		if (lane_id() == 0)
			kept = *this;
		__syncwarp(FULL_MASK);
	}

	/* Begins a chunk at one of its units, or after its last; all lanes. */
	__device__ __forceinline__ void enter(const QueryLaunch &launch, uint64_t unit)
	{
		row = 0;
		row_end = 0;
		mask = nullptr;
		if (chunk >= launch.nchunks)
			return;

		const GpuQueryChunk &entered = launch.chunks[chunk];
		/* other blocks set it: one look for all lanes */
		bool left_out = warp_shfl(load_relaxed(&launch.flagged[chunk]), 0) != 0;
		uint64_t left;

		first_unit = entered.first_unit;
		mask = entered.rows;
		if (first_unit >= end || left_out)
			return;
		left = (end - first_unit) * GPU_QUERY_UNIT;
		row_end = left < entered.nrows ? (uint32_t) left : entered.nrows;
		if (unit > first_unit)
			row = (uint32_t) (unit - first_unit) * GPU_QUERY_UNIT;
	}

	/* Finds the last chunk that begins at or before `unit`; all lanes of a warp. */
	__device__ __forceinline__ void start(const QueryLaunch &launch, uint64_t unit,
										  uint64_t end_unit)
	{
		uint32_t first = 0;
		uint32_t count = launch.nchunks;

		end = end_unit;
		first_unit = 0;
		while (count > 1)
		{
			uint32_t step = (count + WARP_SIZE - 1) / WARP_SIZE;
			uint32_t at = (uint32_t) lane_id() * step;
			bool before = at < count && launch.chunks[first + at].first_unit <= unit;
			uint32_t n = (uint32_t) bit_count(__ballot_sync(FULL_MASK, before));

			/* it is in the n-th step; the first chunk begins at 0 */
			at = n > 0 ? (n - 1) * step : 0;
			first += at;
			count = count - at < step ? count - at : step;
		}
		chunk = first;
		enter(launch, unit);
	}

	/*
	 * The next tile with a row that counts, at most `rows` long; 0 rows: there is none.
	 * words: this lane's part of the mask.
	 */
	template <int WORDS>
	__device__ __forceinline__ uint32_t next(const QueryLaunch &launch, uint32_t rows,
											 uint32_t (&words)[WORDS])
	{
		uint32_t found = 0;

		while (found == 0 && chunk < launch.nchunks && first_unit < end)
		{
			if (row >= row_end)
			{
				chunk++;
				enter(launch, 0);
				continue;
			}
			found = row_end - row < rows ? row_end - row : rows;
			if (mask != nullptr)
			{
				const uint32_t *halves = (const uint32_t *) mask + row / 32;
				uint32_t any = 0;

				UNROLL
				for (int i = 0; i < WORDS; i++)
				{
					uint32_t at = (uint32_t) lane_id() + (uint32_t) i * WARP_SIZE;

					words[i] = at * 32 < found ? halves[at] : 0;
					any |= words[i];
				}
				if (__ballot_sync(FULL_MASK, any != 0) == 0)
				{
					row += found;
					found = 0;
				}
			}
		}
		return found;
	}
};

static __device__ __forceinline__ uint32_t
query_mode(int type, uint32_t width)
{
	switch (width)
	{
		case 0:
			return LOAD_BITS;
		case 1:
			return LOAD_8;
		case 2:
			return type == GPUAGG_VECTOR_INT16 ? LOAD_INT16 : LOAD_16;
		case 4:
			return LOAD_32;
		case 8:
			return LOAD_64;
		default:
			return LOAD_128;
	}
}

static __device__ __forceinline__ uint32_t
query_round_up(uint32_t bytes)
{
	return (bytes + 15) / 16 * 16;
}

/* The bytes of a tile's values, or bits, that are copied. */
static __device__ __forceinline__ uint32_t
query_bytes(uint32_t rows, uint32_t width)
{
	return query_round_up(width == 0 ? (rows + 7) / 8 : rows * width);
}

/* The first warp: the header of the next tile, and its copies where they are bulk copies. */
static __device__ __forceinline__ void
query_issue(const QueryLaunch &launch, QueryWalk &walk, unsigned char *stage, CopyBarrier *barrier)
{
	constexpr int WORDS = QUERY_THREADS * QUERY_ROWS / 32 / WARP_SIZE;
	const QueryLayout &layout = launch.layout;
	uint32_t words[WORDS] = {};
	uint32_t rows = walk.next(launch, layout.rows, words);
	uint32_t lane = (uint32_t) lane_id();
	bool has = rows > 0 && lane < launch.plan.ncolumns;
	const char *values = nullptr;
	const char *valid = nullptr;
	uint32_t bytes = 0;
	uint32_t bit_bytes = query_bytes(rows, 0);

	if (lane == 0)
		*(QueryTile *) stage = {rows, walk.chunk, walk.mask != nullptr, walk.row};
	if (rows > 0 && walk.mask != nullptr)
	{
		UNROLL
		for (int i = 0; i < WORDS; i++)
		{
			uint32_t at = lane + (uint32_t) i * WARP_SIZE;

			if (at * 32 < layout.rows)
				((uint32_t *) (stage + layout.mask))[at] = words[i];
		}
	}
	if (has)
	{
		const GpuQueryBlock &block =
			(launch.blocks +
			 (uint64_t) walk.chunk *
				 launch.plan.ncolumns)[threadIdx.x]; /* the lane, in the first warp */
		uint32_t width = block.width;
		QueryColumn column = {block.base.lo,
							  (uint64_t) block.base.hi,
							  query_mode(launch.plan.type[lane], width),
							  0,
							  block.valid != nullptr,
							  0};

		column.has_base = (column.base_low | column.base_high) != 0;
		((QueryColumn *) (stage + sizeof(QueryTile)))[lane] = column;
		bytes = query_bytes(rows, width);
		values = (const char *) block.values +
				 (width == 0 ? walk.row / 8 : (uint64_t) walk.row * width);
		if (block.valid != nullptr)
			valid = (const char *) block.valid + walk.row / 8;
	}
	walk.row += rows;
	__syncwarp(FULL_MASK);
	if (BULK_COPY && layout.bulk)
	{
		uint32_t all = warp_reduce_add(bytes + (valid != nullptr ? bit_bytes : 0));

		/* each lane for what it has written */
		if (lane == 0)
			copy_expect(barrier, all);
		else
			copy_barrier_arrive(barrier);
		__syncwarp(FULL_MASK);
		if (has)
			copy_start(barrier, stage + layout.values[lane], values, bytes);
		if (valid != nullptr)
			copy_start(barrier, stage + layout.valid[lane], valid, bit_bytes);
	}
}

static __device__ __forceinline__ void
query_copy(unsigned char *to, const char *from, uint32_t bytes)
{
	constexpr uint32_t AT_ONCE = 4;

	for (uint32_t at = threadIdx.x * 16; at < bytes; at += AT_ONCE * 16 * blockDim.x)
	{
		Quad quad[AT_ONCE] = {};

		UNROLL
		for (uint32_t k = 0; k < AT_ONCE; k++)
			if (at + k * 16 * blockDim.x < bytes)
				quad[k] = *(const Quad *) (from + at + k * 16 * blockDim.x);
		UNROLL
		for (uint32_t k = 0; k < AT_ONCE; k++)
			if (at + k * 16 * blockDim.x < bytes)
				*(Quad *) (to + at + k * 16 * blockDim.x) = quad[k];
	}
}

/* All threads, without bulk copies: the columns of a tile. */
static __device__ __forceinline__ void
query_copy_columns(const QueryLaunch &launch, unsigned char *stage)
{
	const QueryTile &tile = *(const QueryTile *) stage;
	uint32_t row = tile.row;

	for (uint32_t i = 0; i < launch.plan.ncolumns && tile.rows > 0; i++)
	{
		const GpuQueryBlock &block =
			launch.blocks[(uint64_t) tile.chunk * launch.plan.ncolumns + i];
		uint32_t width = block.width;

		query_copy(stage + launch.layout.values[i],
				   (const char *) block.values + (width == 0 ? row / 8 : (uint64_t) row * width),
				   query_bytes(tile.rows, width));
		if (block.valid != nullptr)
			query_copy(stage + launch.layout.valid[i], (const char *) block.valid + row / 8,
					   query_bytes(tile.rows, 0));
	}
}

#endif /* GPUAGG_QUERY_TILE_CUH */
