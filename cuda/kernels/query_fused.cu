/*
 * query_fused.cu
 *	  Queries of the commonest shapes: one kernel each.
 *
 * A team of warps goes through its own range of units, chunk by chunk, in windows of V * 32 rows, each
 * warp through every team-th: those that are read at a time are near each other.  What a warp uses
 * of a chunk it describes once, in shared memory.  It reads columns from global memory, each value
 * once and without shared memory between: the factors first, and while these loads are under way
 * the other columns with conditions.  What a warp has in registers at its end is added up as the
 * totals of the query machine are.
 */
#include "kernels/query_fused.cuh"

#define FUSED_USES	(FUSED_COLUMNS + FUSED_FACTORS)
#define FUSED_WARPS 8 /* of a block */

/* Rows of a lane at a time, and resident blocks of so many warps. */
template <class Value, int FACTORS, bool WITH_CONDITIONS, int ROWS, int NBLOCKS,
		  int NWARPS = FUSED_WARPS>
struct FusedKind
{
	typedef Value T;

	static constexpr int NFACTORS = FACTORS;
	static constexpr bool CONDITIONS = WITH_CONDITIONS;
	static constexpr int V = ROWS;
	static constexpr int G = sizeof(T) == 8 ? 2 : 4; /* 16 bytes of a factor as wide as its type */
	static constexpr int BLOCKS = NBLOCKS;
	static constexpr unsigned WARPS = NWARPS;
	static constexpr unsigned TEAM = CONDITIONS ? 2 : sizeof(T) == 8 ? NWARPS : 4;
	static constexpr uint32_t WINDOW = V * WARP_SIZE;
	static constexpr uint32_t STEP = TEAM * WINDOW; /* from a warp's window to its next one */

	typedef FusedRows<V, G> Rows;
};

/* What a warp reads of a chunk, from `row` on, and what a lane has found in it. */
struct FusedChunk
{
	FusedUses uses;
	const uint64_t *mask;
	uint32_t row;
	uint32_t row_end;
	uint32_t nlive;	 /* rows that meet all conditions, */
	uint32_t nadded; /* and of them those that are not NULL */
	uint32_t flagged;
};

template <class Kind>
static __device__ __forceinline__ void
fused_load(const typename Kind::Rows &rows, const FusedUse &use, FusedRaw<Kind::V> &raw,
		   uint32_t &valid)
{
	rows.template load_class<typename Kind::T>(use, raw);
	valid = use.valid != nullptr ? rows.bits(use.valid) : rows.ALL;
}

/* Multiplies the factors, and leaves in `live` the rows where none is NULL. */
template <class Kind>
static __device__ __forceinline__ void
fused_multiply(const FusedLaunch &launch, FusedChunk &chunk,
			   const FusedRaw<Kind::V> (&raw)[Kind::NFACTORS],
			   const uint32_t (&valid)[Kind::NFACTORS], uint32_t &live,
			   typename Kind::T (&product)[Kind::V])
{
	typedef typename Kind::T T;
	constexpr int V = Kind::V;
	uint32_t met = live;

	UNROLL
	for (int f = 0; f < Kind::NFACTORS; f++)
	{
		const FusedFactor &factor = launch.plan.factor[f];
		FusedUse use = chunk.uses.factor(f);
		uint32_t bad = 0; /* of the product */
		T v[V];

		/* a factor is computed wherever it is not NULL, a product where all so far are not */
		chunk.flagged |= fused_factor<T, V, Kind::G>(factor, raw[f], use.mode, use.base, v) & met &
						 valid[f];
		live &= valid[f];
		UNROLL
		for (int k = 0; k < V; k++)
		{
			bool wrong = false;

			product[k] = f == 0 ? v[k] : FusedArithmetic<T>::Mul::run(product[k], v[k], wrong);
			bad |= (uint32_t) wrong << k;
		}
		chunk.flagged |= bad & live;
	}
}

template <class Kind>
static __device__ __forceinline__ void
fused_window(const FusedLaunch &launch, FusedChunk &chunk, QueryFloats *floats,
			 FusedSums<typename Kind::T, Kind::V> &sums)
{
	typedef typename Kind::T T;
	constexpr int V = Kind::V;
	constexpr int N = Kind::NFACTORS;
	typename Kind::Rows rows;
	FusedRaw<V> raw[N];
	uint32_t valid[N];
	uint32_t live = rows.begin(chunk.row, chunk.row_end);

	if (chunk.mask != nullptr)
	{
		live &= rows.bits(chunk.mask);
		if (!__any_sync(FULL_MASK, live != 0))
			return;
	}
	UNROLL
	for (int f = 0; f < N; f++)
		fused_load<Kind>(rows, chunk.uses.factor(f), raw[f], valid[f]);
	if (Kind::CONDITIONS)
	{
		live = fused_meet_all(launch.plan, chunk.uses, rows, live);
		UNROLL
		for (int f = 0; f < N; f++)
		{
			uint32_t tested = launch.plan.factor[f].tested;

			if (tested != FUSED_NONE)
				live &= valid[f] & fused_meet<T, V, Kind::G>(launch.plan,
															 launch.plan.column[tested],
															 chunk.uses.factor(f), raw[f]);
		}
	}
	chunk.nlive += (uint32_t) bit_count(live);

	if constexpr (N == 1 && !Kind::CONDITIONS)
	{
		FusedUse use = chunk.uses.factor(0);

		live &= valid[0];
		chunk.nadded += (uint32_t) bit_count(live);
		rows.template values<T>(raw[0], use.mode, use.base, [&](T(&v)[V]) {
			sums.add(v, live, floats);
		});
	}
	else
	{
		T product[V];

		fused_multiply<Kind>(launch, chunk, raw, valid, live, product);
		chunk.nadded += (uint32_t) bit_count(live);
		sums.add(product, live, floats);
	}
}

/* The lanes of a warp describe what is used of a chunk. */
static __device__ __forceinline__ void
fused_use(const FusedLaunch &launch, const GpuQueryBlock *blocks, FusedUse *uses)
{
	const FusedPlan &plan = launch.plan;
	uint32_t i = (uint32_t) lane_id();
	bool is_condition = i < plan.ncolumns;

	__syncwarp(FULL_MASK); /* other lanes are done with those of the chunk before */
	if (is_condition || i - FUSED_COLUMNS < plan.nfactors)
	{
		uint32_t column = is_condition ? plan.column[i].column
									   : plan.factor[i - FUSED_COLUMNS].column;

		uses[i] = FusedUse(launch.query.plan.type[column], blocks[column]);
	}
	__syncwarp(FULL_MASK);
}

template <class Kind>
static __global__ void
__launch_bounds__(Kind::WARPS *WARP_SIZE, RESIDENT(Kind::BLOCKS))
	query_fused(const GRID_CONSTANT FusedLaunch launch)
{
	typedef FusedSums<typename Kind::T, Kind::V> Sums;

	SHARED_BYTES(shared);
	const QueryLaunch &query = launch.query;
	QueryScratch *scratch = (QueryScratch *) query.scratch;
	QueryTotals<QueryMachine<8, false, false>, Sums::FLOATS> totals(query, shared);
	uint32_t teams = gridDim.x * (blockDim.x / WARP_SIZE) / Kind::TEAM;
	uint32_t team = (blockIdx.x * (blockDim.x / WARP_SIZE) + (uint32_t) warp_id()) / Kind::TEAM;
	QueryWalk &kept = ((QueryWalk *) (shared + query.layout.walk))[warp_id()];
	FusedUse *uses = (FusedUse *) (shared + launch.uses) + warp_id() * FUSED_USES;
	QueryWalk walk = {};
	Sums sums;

	totals.start();
	sums.start(totals.floats);
	__syncthreads();
	walk.start(query, query.nunits * team / teams, query.nunits * (team + 1) / teams);
	while (walk.chunk < query.nchunks && walk.first_unit < walk.end)
	{
		FusedChunk chunk = {{uses}, walk.mask, walk.row, walk.row_end, 0, 0, 0};

		fused_use(launch, query.blocks + (uint64_t) walk.chunk * query.plan.ncolumns, uses);
		walk.keep(kept); /* meanwhile it takes no registers */
		chunk.row += (uint32_t) warp_id() % Kind::TEAM * Kind::WINDOW;
		ROLLED
		for (; chunk.row < chunk.row_end; chunk.row += Kind::STEP)
			fused_window<Kind>(launch, chunk, totals.floats, sums);
		for (uint32_t i = 0; i < query.plan.naggregates; i++)
			totals.word(query.plan.totals[i].first) += i == launch.plan.sum ? chunk.nadded
																			: chunk.nlive;
		walk = kept;
		if (__any_sync(FULL_MASK, chunk.flagged != 0) && lane_id() == 0)
		{
			store_relaxed(&query.flagged[walk.chunk], (uint32_t) 1);
			atomic_add(&scratch->nflagged, (uint64_t) 1);
		}
		walk.chunk++;
		walk.enter(query, 0);
	}
	sums.leave(totals, query.plan.totals[launch.plan.sum].first, totals.floats);
	totals.leave(scratch);
	if (last_block(&scratch->ticket))
		totals.deliver(scratch);
}

template <class Kind>
static GpuaggReason
launch_fused(const GpuQuery &query, const FusedPlan &fused, const GpuQueryMethod &method,
			 GpuStreamRef stream)
{
	static thread_local QueryResident latest;
	unsigned warps = method.warps > 0 && method.warps < Kind::WARPS
						 ? divide_up(method.warps, Kind::TEAM) * Kind::TEAM
						 : Kind::WARPS;
	FusedLaunch launch = {};
	QueryLayout &layout = launch.query.layout;
	uint64_t nrows = query.shape.nunits * GPU_QUERY_UNIT;
	unsigned blocks;

	launch.query = query_launch(query);
	launch.plan = fused;
	layout.walk = query.plan->words * warps * WARP_SIZE * 8;
	layout.floats = layout.walk + (uint32_t) ((warps * sizeof(QueryWalk) + 15) / 16 * 16);
	launch.uses = layout.floats + query.plan->nfloats * (uint32_t) sizeof(QueryFloats);
	launch.uses = (launch.uses + 15) / 16 * 16;
	layout.bytes = launch.uses + warps * FUSED_USES * (uint32_t) sizeof(FusedUse);
	if (layout.bytes > SMALL_SHARED)
		return GPUAGG_REFUSED;
	blocks =
		query_blocks(method,
					 query_resident(latest, query_fused<Kind>, warps, layout.bytes, SMALL_SHARED),
					 divide_up(nrows, warps * WARP_SIZE * Kind::V));
	if (query.plan->nfloats > 0 && nrows / blocks > method.float_rows)
		return GPUAGG_REFUSED;
	LAUNCH_LARGE(query_fused<Kind>, blocks, warps * WARP_SIZE, layout.bytes, stream, launch);
	return gpu_launch_status();
}

/* Rows of a lane and resident blocks: so that no kernel has a stack frame on sm_90. */
template <class T>
static GpuaggReason
launch_class(const GpuQuery &query, const FusedPlan &fused, const GpuQueryMethod &method,
			 GpuStreamRef stream)
{
	constexpr bool IS_WIDE = sizeof(T) == 8;
	constexpr bool IS_DOUBLE = IS_WIDE && IS_FLOAT<T>;
	constexpr bool IS_INT64 = IS_WIDE && !IS_DOUBLE;

	switch (fused.nfactors)
	{
		case 1:
			if (fused.ncolumns == 0 && fused.factor[0].how == FUSED_COLUMN &&
				!fused.factor[0].widened)
				return launch_fused<FusedKind<T, 1, false, IS_DOUBLE ? 8 : 16, IS_INT64 ? 3 : 4>>(
					query, fused, method, stream);
			return launch_fused<FusedKind<T, 1, true, 8, 2, IS_INT64 ? 10 : FUSED_WARPS>>(query,
																						  fused,
																						  method,
																						  stream);
		case 2:
			return launch_fused<FusedKind<T, 2, true, 8, 2>>(query, fused, method, stream);
		default:
			return launch_fused<
				FusedKind<T, 3, true, IS_DOUBLE ? 4 : 8, 2, IS_INT64 ? 6 : FUSED_WARPS>>(query,
																						 fused,
																						 method,
																						 stream);
	}
}

GpuaggReason
query_run_fused(const GpuQuery &query, const FusedPlan &fused, const GpuQueryMethod &method,
				GpuStreamRef stream)
{
	switch (fused.class_of)
	{
		case QUERY_INT32:
			return launch_class<int32_t>(query, fused, method, stream);
		case QUERY_INT64:
			return launch_class<int64_t>(query, fused, method, stream);
		case QUERY_FLOAT32:
			return launch_class<float>(query, fused, method, stream);
		default:
			return launch_class<double>(query, fused, method, stream);
	}
}
