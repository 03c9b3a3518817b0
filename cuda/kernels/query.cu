/*
 * query.cu
 *	  gpu_query: the kernel that interprets plans.
 *
 * A block goes through its own range of rows, tile by tile; its warps interpret the plan over
 * their parts of a tile, each by itself.  There are as many blocks as are resident.
 */
#include "device/grid.cuh"
#include "kernels/query_fused.h"
#include "kernels/query_groups.cuh"
#include "kernels/query_launch.cuh"
#include "kernels/query_store.cuh"

/* The shared memory of a multiprocessor that blocks of a size are meant to share. */
#define QUERY_SHARED_ALL   (220 * 1024)
#define QUERY_SHARED_BLOCK (1024 + 128) /* of each block, beyond its own */

/* Groups in a block's shared memory, beyond those expected; bytes that copies of them may take. */
#define LOCAL_LEAST		48
#define LOCAL_REPLICAS	(40 * 1024)
#define LOCAL_SHARED	(110 * 1024) /* bytes of a block of which two are resident */

#define QUERY_TILE_ROWS 2048 /* of a tile, at most, unless a method says so */

/* A block must not sum more floats: a value makes at most 5 deposits below 2^32 in a chunk. */
#define QUERY_FLOAT_ROWS (UINT64_C(1) << 26)

/*
 * Kernels differ in how many registers what they can do takes, and so in how many blocks are
 * resident; with these none has a stack frame on sm_90.
 */
template <int ROWS, bool IS_WIDE, bool HAS_FLOATS, bool IS_HEAVY, int NBLOCKS,
		  bool HAS_SQUARES = false>
struct QueryKind
{
	typedef QueryMachine<ROWS, IS_WIDE, IS_HEAVY> Machine;

	typedef QueryTotals<Machine, HAS_FLOATS, HAS_SQUARES> Totals;

	static constexpr int V = ROWS;
	static constexpr bool FLOATS = HAS_FLOATS;
	static constexpr bool GROUPS = false;
	static constexpr bool STORES = false;
	static constexpr int THREADS = QUERY_THREADS;
	static constexpr int BLOCKS = NBLOCKS;
};

/* The same with groups. */
template <int ROWS, bool IS_WIDE, bool IS_HEAVY>
struct QueryGroupKind : QueryKind<ROWS, IS_WIDE, false, IS_HEAVY, 1>
{
	typedef QueryGroups<QueryMachine<ROWS, IS_WIDE, IS_HEAVY>> Totals;

	static constexpr bool GROUPS = true;
	static constexpr int THREADS = 2 * QUERY_THREADS;
};

/* What keeps registers. */
template <int ROWS, bool IS_WIDE, bool IS_HEAVY>
struct QueryStoreKind : QueryKind<ROWS, IS_WIDE, false, IS_HEAVY, 2>
{
	typedef QueryStores<QueryMachine<ROWS, IS_WIDE, IS_HEAVY>> Totals;

	static constexpr bool STORES = true;
};

typedef QueryKind<16, false, false, false, 2> QueryLight;
typedef QueryKind<8, false, true, true, 2> QueryHeavy;		  /* also quotients, squares, floats */
typedef QueryKind<4, true, true, true, 2> QueryAll;			  /* also 128 bits */
typedef QueryKind<4, true, true, true, 2, true> QuerySquares; /* also their squares */
typedef QueryGroupKind<8, false, false> QueryGroupsLight;
typedef QueryGroupKind<8, false, true> QueryGroupsHeavy;
typedef QueryGroupKind<4, true, true> QueryGroupsAll;
typedef QueryStoreKind<8, false, false> QueryStoresLight;
typedef QueryStoreKind<4, true, true> QueryStoresAll;

template <class Kind>
static __global__ void
__launch_bounds__(Kind::THREADS, RESIDENT(Kind::BLOCKS))
	query_rows(const GRID_CONSTANT QueryLaunch launch)
{
	typedef typename Kind::Machine Machine;
	typedef typename Machine::Lanes Lanes;

	SHARED_BYTES(shared);
	const QueryLayout &layout = launch.layout;
	CopyBarrier *full = (CopyBarrier *) shared;
	QueryScratch *scratch = (QueryScratch *) launch.scratch;
	Machine machine(launch, shared + layout.temporaries + warp_id() * layout.temporary_bytes);
	typename Kind::Totals totals(launch, shared);
	QueryWalk &kept = *(QueryWalk *) (shared + layout.walk); /* between tiles */
	bool bulk = BULK_COPY && layout.bulk;

	totals.start();
	if (threadIdx.x < layout.stages)
		copy_barrier_init(&full[threadIdx.x], WARP_SIZE);
	__syncthreads();
	if (warp_id() == 0)
	{
		QueryWalk walk = {};

		walk.start(launch, launch.nunits * blockIdx.x / gridDim.x,
				   launch.nunits * (blockIdx.x + 1) / gridDim.x);
		for (uint32_t s = 0; s < layout.stages; s++)
			query_issue(launch, walk, shared + layout.first_stage + s * layout.stage_bytes,
						&full[s]);
		walk.keep(kept);
	}
	for (uint32_t i = 0;; i++)
	{
		uint32_t s = layout.stages == 1 ? 0 : i % 2;
		uint32_t phase = layout.stages == 1 ? i : i / 2;
		unsigned char *stage = shared + layout.first_stage + s * layout.stage_bytes;
		Lanes a = {};

		if (bulk)
			copy_barrier_wait(&full[s], phase & 1);
		else
		{
			__syncthreads();
			query_copy_columns(launch, stage);
			__syncthreads();
		}
		if (((const QueryTile *) stage)->rows == 0)
			break;
		if (machine.begin(stage))
		{
			uint32_t nsteps = launch.plan.nsteps;
			uint32_t next_code = launch.plan.steps[0].code; /* read ahead: that takes a while */
			uint32_t next_a = launch.plan.steps[0].a;

			for (uint32_t n = 0; n < nsteps; n++)
			{
				const GpuQueryStep &step = launch.plan.steps[n];
				uint32_t code = next_code;
				uint32_t source = next_a;

				next_code = launch.plan.steps[n + 1].code;
				next_a = launch.plan.steps[n + 1].a;

				if constexpr (!Kind::GROUPS && !Kind::STORES)
					if (step.in_place && totals.add_in_place(machine, step))
						continue;
				if constexpr (Kind::GROUPS)
					if (code == QUERY_CODE(QUERY_GROUP, QUERY_BOOL))
					{
						totals.find(machine);
						continue;
					}
				/* a count of rows leaves the accumulator to the steps behind it */
				if (QUERY_SOURCE_KIND(source) > QUERY_ACCUMULATOR)
					machine.load(a, source);
				if (code >= QUERY_CODE(QUERY_AGGREGATE, 0))
				{
					uint32_t rows = machine.live & machine.rows_of(step.c);

					if (QUERY_SOURCE_KIND(source) != QUERY_NONE)
						rows &= a.valid;
					if constexpr (Kind::GROUPS || Kind::STORES)
						totals.add(machine, step, a, rows);
					else
						totals.add(step, a, rows);
				}
				else if (code == QUERY_CODE(QUERY_FILTER, QUERY_BOOL))
				{
					machine.live &= a.bits & a.valid;
					if (!__any_sync(FULL_MASK, machine.live != 0))
						nsteps = 0;
				}
				else
				{
					Lanes b; /* here, so that it takes no registers elsewhere */
					uint32_t bad;

					if (QUERY_SOURCE_KIND(step.b) != QUERY_NONE)
						machine.load(b, step.b);
					bad = machine.compute(step, code, a, b) & machine.live & a.valid;
					if (bad != 0)
						bad &= machine.rows_of(step.mask);
					machine.flagged |= bad;
					if (QUERY_SOURCE_KIND(step.out) != QUERY_NONE)
						machine.store(a, step.out);
				}
			}
			if (__any_sync(FULL_MASK, machine.flagged != 0) && lane_id() == 0)
			{
				store_relaxed(&launch.flagged[((const QueryTile *) stage)->chunk], (uint32_t) 1);
				atomic_add(&scratch->nflagged, (uint64_t) 1);
			}
		}
		__syncthreads();
		if constexpr (Kind::GROUPS)
			totals.end_tile(i);
		if (warp_id() == 0)
		{
			QueryWalk walk = kept;

			/* found again: kept in a register it would be one too many */
			query_issue(launch, walk, stage, &full[stage != shared + layout.first_stage]);
			walk.keep(kept);
		}
	}
	totals.leave(scratch);
	if (last_block(&scratch->ticket))
		totals.deliver(scratch);
}

/* Adds a part of shared memory; returns where it begins. */
static uint32_t
add_part(uint32_t *end, uint32_t bytes)
{
	uint32_t first = *end;

	*end += (bytes + 15) / 16 * 16;
	return first;
}

/* Where everything is in a block of so many warps. */
static QueryLayout
lay_out(const GpuQuery &query, const QueryGroupPlaces &groups, uint32_t rows, uint32_t warps,
		uint32_t stages, uint32_t v)
{
	const GpuQueryPlan &plan = *query.plan;
	QueryLayout layout = {};
	uint32_t end = 0;

	layout.rows = rows;
	layout.stages = stages;
	add_part(&end, stages * (uint32_t) sizeof(CopyBarrier));
	layout.walk = add_part(&end, (uint32_t) sizeof(QueryWalk));
	layout.totals = add_part(&end, plan.words * warps * WARP_SIZE * 8);
	layout.temporary_bytes = (plan.temporaries * v + plan.ntemporaries * 4) * WARP_SIZE;
	layout.temporaries = add_part(&end, layout.temporary_bytes * warps);
	layout.floats = add_part(&end,
							 plan.nfloats * (uint32_t) (plan.squares ? sizeof(QueryFloatsOf<true>)
																	 : sizeof(QueryFloats)));
	if (plan.groups.nkeys > 0)
	{
		layout.places = add_part(&end, (v + 1) * warps * WARP_SIZE * 4);
		layout.stash = add_part(&end, v / 2 * warps * WARP_SIZE * plan.groups.key_words * 8);
		layout.keys = add_part(&end, groups.direct ? 0 : groups.local * plan.groups.key_words * 8);
		layout.sums = add_part(&end, query_local_stride(groups) * query_group_words(plan) * 4);
	}
	end = (end + 127) / 128 * 128;
	layout.first_stage = end;
	end = 0;
	add_part(&end, (uint32_t) (sizeof(QueryTile) + plan.ncolumns * sizeof(QueryColumn)));
	layout.mask = add_part(&end, rows / 8);
	for (uint32_t i = 0; i < plan.ncolumns; i++)
	{
		uint32_t width = query.shape.width[i];

		layout.values[i] = add_part(&end, width == 0 ? rows / 8 : rows * width);
		layout.valid[i] = add_part(&end, rows / 8);
	}
	layout.stage_bytes = (end + 127) / 128 * 128;
	layout.bytes = layout.first_stage + stages * layout.stage_bytes;
	return layout;
}

/* As many warps as a block's memory allows, and two stages if that leaves enough blocks. */
static QueryLayout
choose_layout(const GpuQuery &query, const GpuQueryMethod &method, uint32_t v, uint32_t most,
			  uint32_t *warps)
{
	QueryGroupPlaces groups = {};
	QueryLayout layout;

	*warps = method.warps > 0 ? method.warps : QUERY_THREADS / WARP_SIZE;
	if (method.warps == 0 && *warps * WARP_SIZE * v > QUERY_TILE_ROWS)
		*warps = QUERY_TILE_ROWS / (WARP_SIZE * v);
	for (;;)
	{
		uint32_t rows = *warps * WARP_SIZE * v;

		layout = lay_out(query, groups, rows, *warps, method.stages > 0 ? method.stages : 2, v);
		if (method.stages == 0 && 3 * (layout.bytes + QUERY_SHARED_BLOCK) > QUERY_SHARED_ALL)
			layout = lay_out(query, groups, rows, *warps, 1, v);
		if (layout.bytes <= most || *warps == 1)
			return layout;
		*warps /= 2;
	}
}

/* The same of a block with groups, of up to so many warps: two stages if there is memory for them. */
static QueryLayout
choose_group_layout(const GpuQuery &query, const GpuQueryMethod &method,
					const QueryGroupPlaces &groups, uint32_t v, uint32_t most, uint32_t *warps)
{
	for (;;)
	{
		uint32_t rows = *warps * WARP_SIZE * v;
		uint32_t stages = method.stages > 0 ? method.stages : 2;
		QueryLayout layout = lay_out(query, groups, rows, *warps, stages, v);

		if (layout.bytes > most && method.stages == 0)
			layout = lay_out(query, groups, rows, *warps, 1, v);
		if (layout.bytes <= most || *warps == 1)
			return layout;
		*warps /= 2;
	}
}

/* Groups that there can be by the ranges of the keys; 0: not all are known, or it is a lot. */
static uint64_t
groups_of_ranges(const GpuQueryPlan &plan, const GpuQueryTable &table)
{
	uint64_t n = 1;

	for (uint32_t i = 0; i < plan.groups.nkeys; i++)
	{
		if (table.range[i].count == 0 || n > UINT16_MAX)
			return 0;
		n *= (uint64_t) table.range[i].count + 1;
	}
	return n;
}

/*
 * Groups in a block's shared memory: room for those that are expected, or none, where
 * they do not fit.  Copies of few groups' sums, so that the lanes of a warp seldom meet.
 */
static QueryGroupPlaces
choose_groups(const GpuQuery &query, const GpuQueryMethod &method, uint32_t v, uint32_t most,
			  uint32_t warps)
{
	const GpuQueryPlan &plan = *query.plan;
	QueryGroupPlaces groups = {0, 1, 0, 1};
	GpuQueryMethod tight = method;
	uint64_t expected = query.table->expected;
	uint64_t by_ranges = groups_of_ranges(plan, *query.table);
	uint64_t sum_bytes = query_group_words(plan) * 4;
	uint64_t group_bytes = plan.groups.key_words * 8 + sum_bytes;
	uint64_t wanted = 2 * expected + LOCAL_LEAST;
	uint64_t room;

	if (method.local == UINT32_MAX)
		return groups;
	if (tight.stages == 0)
		tight.stages = 1;
	room = choose_group_layout(query, tight, groups, v, most, &warps).bytes;
	room = room < most ? most - room : 0;
	if (by_ranges > 0 && by_ranges <= 2 * wanted && query.table->parts == 1 && !method.hashed &&
		by_ranges + 1 <= room / sum_bytes)
	{
		groups.direct = 1;
		group_bytes = sum_bytes;
		wanted = by_ranges + 1;
	}
	else if (method.local > 0)
		wanted = method.local;
	else if (wanted > room / group_bytes && expected * 5 / 4 + LOCAL_LEAST <= room / group_bytes)
		wanted = room / group_bytes; /* keys find places where a fifth are free */
	wanted -= wanted % 2;
	if (wanted == 0 || wanted > room / group_bytes)
		return {0, 1, 0, 1};
	groups.local = (uint32_t) wanted;
	if (method.replicas == 0 && room > LOCAL_REPLICAS)
		room = LOCAL_REPLICAS;
	while (groups.replicas < (method.replicas > 0 ? method.replicas : WARP_SIZE) &&
		   wanted * group_bytes * groups.replicas * 2 <= room)
		groups.replicas *= 2;
	return groups;
}

/* A block's memory and groups: of two blocks of a multiprocessor, or one with more of both. */
static QueryLayout
lay_out_groups(const GpuQuery &query, const GpuQueryMethod &method, QueryGroupPlaces *groups,
			   uint32_t v, uint32_t most, uint32_t *warps)
{
	uint32_t shared = most < LOCAL_SHARED ? most : LOCAL_SHARED;
	QueryLayout layout;

	*warps = method.warps > 0 ? method.warps : QUERY_THREADS / WARP_SIZE;
	*groups = choose_groups(query, method, v, shared, *warps);
	for (uint32_t more = method.warps > 0 ? *warps : 2 * *warps;
		 groups->local == 0 && more >= *warps && most > shared; more /= 2)
	{
		QueryGroupPlaces other = choose_groups(query, method, v, most, more);

		if (other.local == 0)
			continue;
		*groups = other;
		*warps = more;
		shared = most;
	}
	layout = choose_group_layout(query, method, *groups, v, shared, warps);
	groups->settle_tiles = QUERY_LOCAL_ROWS * groups->replicas / layout.rows;
	if (method.settle_tiles > 0 && method.settle_tiles < groups->settle_tiles)
		groups->settle_tiles = method.settle_tiles;
	return layout;
}

template <class Kind>
static GpuaggReason
launch_rows(const GpuQuery &query, const GpuQueryMethod &method, GpuStreamRef stream,
			const GpuWindowRows *kept = nullptr, uint64_t first_place = 0)
{
	constexpr auto KERNEL = query_rows<Kind>;
	bool large = large_shared<query_rows<Kind>>();
	uint32_t most = large ? LARGE_SHARED : SMALL_SHARED;
	static thread_local QueryResident latest;
	QueryLaunch launch = query_launch(query);
	uint32_t warps;
	unsigned blocks;

	launch.layout = Kind::GROUPS
						? lay_out_groups(query, method, &launch.groups, Kind::V, most, &warps)
						: choose_layout(query, method, Kind::V, most, &warps);
	if (launch.layout.bytes > most)
		return GPUAGG_REFUSED;
	launch.layout.bulk = large && !method.plain;
	for (uint32_t i = 0; i < launch.plan.nsteps && method.interpreted; i++)
		launch.plan.steps[i].in_place = 0;
	if (Kind::GROUPS)
		launch.table = *query.table;
	if (Kind::STORES)
		launch.kept = *kept;
	launch.first_place = first_place;
	blocks = query_blocks(method, query_resident(latest, KERNEL, warps, launch.layout.bytes, most),
						  divide_up(launch.nunits * GPU_QUERY_UNIT, launch.layout.rows));
	if (Kind::FLOATS && query.plan->nfloats > 0 &&
		launch.nunits * GPU_QUERY_UNIT / blocks > method.float_rows)
		return GPUAGG_REFUSED;
	LAUNCH_LARGE(query_rows<Kind>, blocks, warps * WARP_SIZE, launch.layout.bytes, stream, launch);
	return gpu_launch_status();
}

/* Whether groups are numbered by a known range of the keys, few enough beside those expected. */
static bool
fits_fused_groups(const GpuQuery &query, const GpuQueryMethod &method)
{
	const GpuQueryTable &table = *query.table;
	uint64_t by_ranges = groups_of_ranges(*query.plan, table);

	return !method.interpreted && !method.hashed && method.local == 0 && table.check == 0 &&
		   table.parts == 1 && by_ranges > 0 &&
		   by_ranges <= 2 * (2 * (uint64_t) table.expected + LOCAL_LEAST);
}

size_t
gpu_query_scratch(void)
{
	return sizeof(QueryScratch);
}

size_t
gpu_query_scratch_zeros(const GpuQueryPlan *plan)
{
	return offsetof(QueryScratch, float_words) +
		   plan->nfloats * sizeof(((QueryScratch *) nullptr)->float_words[0]);
}

GpuaggReason
gpu_query(const GpuQuery *query, const GpuQueryMethod *method, GpuStreamRef stream)
{
	GpuQueryMethod chosen = {};
	FusedPlan fused;
	FusedGroups groups;
	FusedProducts products;

	if (method != nullptr)
		chosen = *method;
	if (chosen.float_rows == 0)
		chosen.float_rows = QUERY_FLOAT_ROWS;
	if (query->plan->groups.nkeys > 0)
	{
		if (query->table == nullptr || query->table->parts == 0 ||
			(query->table->slots & (query->table->slots - 1)) != 0)
			return GPUAGG_REFUSED;
		if (fits_fused_groups(*query, chosen) && query_fuse_products(&products, query->plan))
		{
			GpuaggReason reason = GPUAGG_REFUSED;

			if (!chosen.broad)
				reason = query_run_narrow_groups(*query, products, chosen, stream);
			if (reason == GPUAGG_REFUSED && query_fuse_groups(&groups, products, query->plan))
				reason = query_run_fused_groups(*query, groups, chosen, stream);
			if (reason != GPUAGG_REFUSED)
				return reason;
		}
		if (query->plan->wide)
			return launch_rows<QueryGroupsAll>(*query, chosen, stream);
		if (query->plan->heavy)
			return launch_rows<QueryGroupsHeavy>(*query, chosen, stream);
		return launch_rows<QueryGroupsLight>(*query, chosen, stream);
	}
	if (!chosen.interpreted && query_fuse(&fused, query->plan))
	{
		GpuaggReason reason = chosen.broad ? GPUAGG_REFUSED
										   : query_run_narrow(*query, fused, chosen, stream);

		return reason != GPUAGG_REFUSED ? reason : query_run_fused(*query, fused, chosen, stream);
	}
	if (query->plan->squares)
		return launch_rows<QuerySquares>(*query, chosen, stream);
	if (query->plan->wide)
		return launch_rows<QueryAll>(*query, chosen, stream);
	if (query->plan->heavy || query->plan->nfloats > 0)
		return launch_rows<QueryHeavy>(*query, chosen, stream);
	return launch_rows<QueryLight>(*query, chosen, stream);
}

GpuaggReason
gpu_query_keep(const GpuQuery *query, const GpuWindowRows *rows, uint64_t first,
			   GpuStreamRef stream)
{
	GpuQueryMethod method = {};

	if (first % GPU_QUERY_UNIT != 0 || first > rows->places ||
		query->shape.nunits > (rows->places - first) / GPU_QUERY_UNIT)
		return GPUAGG_REFUSED;
	if (query->plan->wide || query->plan->heavy)
		return launch_rows<QueryStoresAll>(*query, method, stream, rows, first);
	return launch_rows<QueryStoresLight>(*query, method, stream, rows, first);
}
