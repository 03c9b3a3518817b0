/*
 * query_fused_groups.cu
 *	  Groups by an integer of a small known range: one kernel, without an interpreter.
 *
 * A block has the sums and extremes of all groups of the range in shared memory, laid out, carried and added to the
 * grid's as those of the query machine are (query_groups.cuh).  Its warps go through ranges of
 * their own as those of query_fused.cu do, in rounds, after each of which sums that could overflow
 * are carried.  A row whose key is outside the range is added to the grid's at once.
 */
#include "kernels/query_fused.cuh"
#include "kernels/query_fused_outside.cuh"

#define ROUND_ROWS	  (1 << 14)	   /* of a block, at most */
#define COPIES_SHARED (40 * 1024)  /* bytes that copies of few groups' sums may take */
#define HALF_SHARED	  (110 * 1024) /* of a block of which two are resident */

struct FusedGroupLaunch
{
	QueryLaunch query;
	FusedGroups plan;
	uint32_t windows;	   /* of a round */
	uint32_t settled_rows; /* a group's, from which on its sums are carried */
};

/* What a block has in shared memory before the sums. */
struct FusedGroupBlock
{
	uint32_t more[2]; /* whether rows are left behind a round, in turn */
};

static constexpr int V = 4;
static constexpr int G = 4;

/* Of a block that has a multiprocessor's memory: with as many registers as there are then. */
template <bool CONDITIONS, bool EXTREMES>
constexpr unsigned MOST_THREADS = CONDITIONS || EXTREMES ? 768 : 1024;

typedef QueryMachine<V, false, false> GroupMachine;
typedef FusedRows<V, G> GroupRows;

/* What a warp reads of a chunk, from `row` on. */
struct FusedGroupChunk
{
	const GpuQueryBlock *blocks;
	const uint64_t *mask;
	uint32_t row;
	uint32_t row_end;
};

/* EXTREMES: there are some. */
template <bool EXTREMES> struct FusedGroupSums : QueryGroups<GroupMachine>
{
	const FusedGroups &plan;

	__device__ __forceinline__ FusedGroupSums(const FusedGroupLaunch &of, unsigned char *memory)
		: QueryGroups<GroupMachine>(of.query, memory), plan(of.plan)
	{
	}

	/* Where the rows' groups are; returns those of the live rows whose keys are outside the range. */
	template <class T>
	__device__ __forceinline__ uint32_t find_places(const GroupRows &rows,
													const GpuQueryBlock &block, uint32_t live,
													uint32_t (&place)[V]) const
	{
		typedef typename FusedBits<sizeof(T)>::Type Difference;
		const GpuQueryRange &range = launch.table.range[0];
		uint32_t mode = query_mode(launch.plan.type[plan.key], block.width);
		uint32_t replicas = launch.groups.replicas;
		uint32_t lane = (uint32_t) lane_id() & (replicas - 1);
		uint32_t outside = 0;
		uint32_t valid = ALL_ROWS<V>;
		FusedRaw<V> raw;

		rows.template load_class<T>(FusedUse(launch.plan.type[plan.key], block), raw);
		if (block.valid != nullptr)
			valid = rows.bits(block.valid);
		rows.template values<T>(raw, mode, block.base.lo, [&](const T(&v)[V]) {
			UNROLL
			for (int k = 0; k < V; k++)
			{
				/* of less than 64 bits no differences go further */
				Difference above = (Difference) v[k] - (Difference) range.least;
				bool beyond = above >= range.count;

				outside |= (uint32_t) beyond << k;
				place[k] = (uint32_t) above;
			}
		});
		outside &= valid;
		UNROLL
		for (int k = 0; k < V; k++)
		{
			uint32_t group = valid >> k & 1 ? place[k] : range.count;

			place[k] = (live & ~outside) >> k & 1 ? group * replicas + lane : nowhere();
			atomic_add(local_word(launch.plan.groups.rows) + place[k], (uint32_t) 1);
		}
		return outside & live;
	}

	template <int N, class T>
	__device__ __forceinline__ void add_sums(const T (&v)[V], const uint32_t (&place)[V],
											 uint32_t valid, uint32_t word) const
	{
		UNROLL
		for (int k = 0; k < V; k++)
		{
			uint32_t *half = local_word(word) + (valid >> k & 1 ? place[k] : nowhere());

			UNROLL
			for (int i = 0; i < N; i++, half += local_stride())
				atomic_add(half, (uint32_t) (v[k] >> 16 * i) & (i < N - 1 ? 0xffff : UINT32_MAX));
		}
	}

	template <class T>
	__device__ __forceinline__ void add_extremes(const T (&v)[V], const uint32_t (&place)[V],
												 uint32_t valid, uint32_t word, uint64_t flip) const
	{
		UNROLL
		for (int k = 0; k < V; k++)
		{
			uint64_t *best = (uint64_t *) local_word(word) +
							 (valid >> k & 1 ? place[k] : nowhere());
			uint64_t key = (uint64_t) (int64_t) v[k] ^ flip;

			if (key > load_shared(best))
				atomic_max(best, key);
		}
	}

	template <class T>
	__device__ __forceinline__ void add_column(const GroupRows &rows, const GpuQueryBlock &block,
											   const FusedValue &value, const uint32_t (&place)[V],
											   uint32_t valid) const
	{
		uint32_t word = launch.plan.groups.field[value.number].value;
		uint32_t mode = query_mode(launch.plan.type[value.column], block.width);
		FusedUse use(launch.plan.type[value.column], block);
		FusedRaw<V> raw;

		rows.look_ahead(use, GroupRows::WINDOW);
		rows.template load_class<T>(use, raw);
		rows.template values<T>(raw, mode, block.base.lo, [&](const T(&v)[V]) {
			uint64_t used = 0; /* bits that differ from the sign, or above these */

			if (EXTREMES && value.op != GPUAGG_SUM)
			{
				add_extremes(v, place, valid, word, query_extreme_flip(value.op));
				return;
			}
			UNROLL
			for (int k = 0; k < V; k++)
				used |= (uint64_t) (v[k] ^ v[k] >> (8 * sizeof(T) - 1));
			/* the last half has the sign */
			if (!__any_sync(FULL_MASK, used >> 15 != 0))
				add_sums<1>(v, place, valid, word);
			else if (sizeof(T) == 4 || !__any_sync(FULL_MASK, used >> 31 != 0))
				add_sums<2>(v, place, valid, word);
			else if constexpr (sizeof(T) > 4)
			{
				if (!__any_sync(FULL_MASK, used >> 47 != 0))
					add_sums<3>(v, place, valid, word);
				else
					add_sums<4>(v, place, valid, word);
			}
		});
	}

	/* Adds a row to the grid's groups. */
	__device__ void add_outside(const GpuQueryBlock *blocks, uint32_t row) const
	{
		const GpuaggGroupLayout &layout = launch.plan.groups;
		const uint8_t *types = launch.plan.type;
		uint64_t value = key_bits(layout.key_type[0],
								  (uint64_t) stored_value(blocks[plan.key], types[plan.key], row));
		WideBits bits = (WideBits) value << 1 << layout.key_at[0];
		uint64_t key[2] = {(uint64_t) bits << 1 | 1, (uint64_t) (bits >> 63) << 1 | 1};
		uint32_t at = find_of_grid(key, hash_of(key));
		uint32_t *to = record(at);

		if (at == PLACE_NONE)
			return;
		atomic_add(to + layout.rows, (uint32_t) 1);
		ROLLED
		for (uint32_t i = 0; i < plan.nvalues; i++)
		{
			const FusedValue &of = plan.value[i];
			const GpuaggGroupField &field = layout.field[of.number];
			int64_t v;

			if (!is_valid(blocks[of.column], row))
			{
				atomic_add(to + field.missing, (uint32_t) 1);
				continue;
			}
			if (of.class_of == QUERY_BOOL)
				continue;
			v = stored_value(blocks[of.column], types[of.column], row);
			if (EXTREMES && of.op != GPUAGG_SUM)
				atomic_max((uint64_t *) (to + field.value),
						   (uint64_t) v ^ query_extreme_flip(of.op));
			else
				add_outside_value((uint64_t *) (to + field.value), of.class_of == QUERY_INT32, v);
		}
	}

	__device__ __forceinline__ void take(const GroupRows &rows, const GpuQueryBlock *blocks,
										 uint32_t live) const
	{
		const GpuQueryBlock &key = blocks[plan.key];
		uint32_t place[V];
		uint32_t outside = launch.plan.type[plan.key] == GPUAGG_VECTOR_INT64
							   ? find_places<int64_t>(rows, key, live, place)
							   : find_places<int32_t>(rows, key, live, place);

		ROLLED
		for (uint32_t i = 0; i < plan.nvalues; i++)
		{
			const FusedValue &value = plan.value[i];
			const GpuQueryBlock &block = blocks[value.column];
			uint32_t valid = ALL_ROWS<V>;

			if (block.valid != nullptr)
			{
				uint32_t *missing = local_word(launch.plan.groups.field[value.number].missing);

				valid = rows.bits(block.valid);
				UNROLL
				for (int k = 0; k < V; k++)
					if ((valid >> k & 1) == 0)
						atomic_add(missing + place[k], (uint32_t) 1);
			}
			if (value.class_of == QUERY_INT64)
				add_column<int64_t>(rows, block, value, place, valid);
			else if (value.class_of == QUERY_INT32)
				add_column<int32_t>(rows, block, value, place, valid);
		}
		while (outside != 0)
		{
			uint32_t bit = (uint32_t) bit_count((outside & -outside) - 1);

			add_outside(blocks, rows.group((int) bit / G) + bit % G);
			outside &= outside - 1;
		}
		__syncwarp(FULL_MASK);
	}
};

template <bool CONDITIONS, class Sums>
static __device__ __forceinline__ void
take_window(const FusedGroupLaunch &launch, const FusedGroupChunk &chunk, const Sums &sums)
{
	GroupRows rows;
	uint32_t live = rows.begin(chunk.row, chunk.row_end);

	if (chunk.mask != nullptr)
		live &= rows.bits(chunk.mask);
	if (CONDITIONS)
		live = fused_meet_all(launch.plan.where, FusedBlocks{launch.query.plan.type, chunk.blocks},
							  rows, live);
	if (__any_sync(FULL_MASK, live != 0))
		sums.take(rows, chunk.blocks, live);
}

/* Before sums could overflow; all threads. */
template <class Sums>
static __device__ __forceinline__ void
settle(const FusedGroupLaunch &launch, const Sums &sums)
{
	const QueryGroupPlaces &groups = launch.query.groups;
	const uint32_t *counts = sums.local_word(launch.query.plan.groups.rows);

	for (uint32_t i = threadIdx.x; i < groups.local; i += blockDim.x)
	{
		uint32_t most = 0;

		ROLLED
		for (uint32_t r = 0; r < groups.replicas; r++)
		{
			uint32_t n = counts[i * groups.replicas + r];

			most = n > most ? n : most;
		}
		if (most > launch.settled_rows)
			sums.settle_group(i);
	}
}

template <bool CONDITIONS, bool EXTREMES>
static __global__ void
__launch_bounds__(MOST_THREADS<CONDITIONS, EXTREMES>, RESIDENT(1))
	query_fused_groups(const GRID_CONSTANT FusedGroupLaunch launch)
{
	SHARED_BYTES(shared);
	const QueryLaunch &query = launch.query;
	QueryScratch *scratch = (QueryScratch *) query.scratch;
	FusedGroupBlock *block = (FusedGroupBlock *) shared;
	QueryWalk &kept = ((QueryWalk *) (shared + query.layout.walk))[warp_id()];
	FusedGroupSums<EXTREMES> sums(launch, shared);
	uint64_t warps = (uint64_t) gridDim.x * (blockDim.x / WARP_SIZE);
	uint64_t warp = (uint64_t) blockIdx.x * (blockDim.x / WARP_SIZE) + (uint64_t) warp_id();

	sums.start();
	if (threadIdx.x < 2)
		block->more[threadIdx.x] = 0;
	{
		QueryWalk walk = {};

		walk.start(query, query.nunits * warp / warps, query.nunits * (warp + 1) / warps);
		walk.keep(kept);
	}
	__syncthreads();
	for (uint32_t round = 0;; round++)
	{
		bool more = true;

		for (uint32_t left = launch.windows; left > 0 && more;)
		{
			QueryWalk walk = kept;
			FusedGroupChunk chunk = {query.blocks + (uint64_t) walk.chunk * query.plan.ncolumns,
									 walk.mask, walk.row, walk.row_end};

			more = walk.chunk < query.nchunks && walk.first_unit < walk.end;
			ROLLED
			for (; more && left > 0 && chunk.row < chunk.row_end; left--)
			{
				take_window<CONDITIONS>(launch, chunk, sums);
				chunk.row += V * WARP_SIZE;
			}
			walk = kept; /* meanwhile it takes no registers */
			walk.row = chunk.row;
			if (more && chunk.row >= chunk.row_end)
			{
				walk.chunk++;
				walk.enter(query, 0);
			}
			walk.keep(kept);
		}
		if (more && lane_id() == 0)
			store_relaxed(&block->more[round % 2], (uint32_t) 1);
		__syncthreads();
		more = block->more[round % 2] != 0;
		settle(launch, sums);
		__syncthreads();
		if (!more)
			break;
		if (threadIdx.x == 0)
			block->more[round % 2] = 0;
	}
	sums.leave(scratch);
	if (last_block(&scratch->ticket))
		sums.deliver(scratch);
}

/* Memory of a block of so many groups and copies of their sums. */
static QueryLayout
lay_out(const GpuQuery &query, const QueryGroupPlaces &groups, uint32_t warps)
{
	QueryLayout layout = {};

	layout.walk = (uint32_t) (sizeof(FusedGroupBlock) + 15) / 16 * 16;
	layout.sums = layout.walk + (uint32_t) (warps * sizeof(QueryWalk) + 15) / 16 * 16;
	layout.bytes = layout.sums + query_local_stride(groups) * query_group_words(*query.plan) * 4;
	return layout;
}

template <bool CONDITIONS, bool EXTREMES>
static GpuaggReason
launch_fused_groups(const GpuQuery &query, const FusedGroups &fused, const GpuQueryMethod &method,
					GpuStreamRef stream)
{
	constexpr auto KERNEL = query_fused_groups<CONDITIONS, EXTREMES>;
	constexpr unsigned MOST = MOST_THREADS<CONDITIONS, EXTREMES>;
	static thread_local QueryResident latest;
	uint32_t most = large_shared<query_fused_groups<CONDITIONS, EXTREMES>>() ? LARGE_SHARED
																			 : SMALL_SHARED;
	FusedGroupLaunch launch = {};
	QueryGroupPlaces &groups = launch.query.groups;
	QueryLayout &layout = launch.query.layout;
	unsigned warps = method.warps > 0 ? method.warps : MOST / 2 / WARP_SIZE;
	unsigned blocks;

	launch.query = query_launch(query);
	launch.query.table = *query.table;
	groups = {(query.table->range[0].count + 2) / 2 * 2, 1, 1, 1};
	if (groups.local > UINT16_MAX)
		return GPUAGG_REFUSED;
	layout = lay_out(query, groups, warps);
	if (layout.bytes > HALF_SHARED && method.warps == 0)
	{
		warps = MOST / WARP_SIZE;
		layout = lay_out(query, groups, warps);
	}
	if (layout.bytes > most)
		return GPUAGG_REFUSED;
	while (groups.replicas < (method.replicas > 0 ? method.replicas : WARP_SIZE))
	{
		QueryGroupPlaces more = groups;
		QueryLayout other;

		more.replicas *= 2;
		other = lay_out(query, more, warps);
		if (other.bytes > (method.replicas > 0 ? most : COPIES_SHARED))
			break;
		groups = more;
		layout = other;
	}
	launch.windows = ROUND_ROWS / (warps * WARP_SIZE * V);
	if (method.settle_tiles > 0 && launch.windows > method.settle_tiles)
		launch.windows = method.settle_tiles;
	launch.settled_rows = method.settle_tiles > 0 ? 0 : QUERY_LOCAL_ROWS - ROUND_ROWS;
	launch.plan = fused;
	blocks = query_blocks(method, query_resident(latest, KERNEL, warps, layout.bytes, most),
						  divide_up(query.shape.nunits * GPU_QUERY_UNIT, (uint64_t) ROUND_ROWS));
	LAUNCH_LARGE((query_fused_groups<CONDITIONS, EXTREMES>), blocks, warps * WARP_SIZE,
				 layout.bytes, stream, launch);
	return gpu_launch_status();
}

GpuaggReason
query_run_fused_groups(const GpuQuery &query, const FusedGroups &fused,
					   const GpuQueryMethod &method, GpuStreamRef stream)
{
	bool extremes = false;

	for (uint32_t i = 0; i < fused.nvalues; i++)
		extremes |= fused.value[i].op == GPUAGG_MIN || fused.value[i].op == GPUAGG_MAX;
	if (extremes)
		return fused.where.ncolumns > 0
				   ? launch_fused_groups<true, true>(query, fused, method, stream)
				   : launch_fused_groups<false, true>(query, fused, method, stream);
	return fused.where.ncolumns > 0
			   ? launch_fused_groups<true, false>(query, fused, method, stream)
			   : launch_fused_groups<false, false>(query, fused, method, stream);
}
