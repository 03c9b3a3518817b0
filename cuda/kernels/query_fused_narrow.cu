/*
 * query_fused_narrow.cu
 *	  Queries of the commonest shapes over integers that are stored in at most 32 bits.
 */
#include "kernels/query_fused_narrow.cuh"

#define NARROW_THREADS 256

struct NarrowLaunch
{
	QueryLaunch query;
	uint32_t nranges;
	uint32_t nfactors;
	uint32_t sum; /* number of the SUM among the aggregates */
	uint32_t is_int32;
	uint32_t uses; /* of warps, in a block's memory */
	NarrowRange range[MOST_RANGES];
	NarrowFactor factor[FUSED_FACTORS];
};

/* What a warp knows of a column in its chunk. */
struct NarrowUse
{
	NarrowColumn column;
	NarrowBounds bounds; /* of a range */
	int64_t addend;		 /* of a factor */
};

template <int RANGES, int FACTORS> struct NarrowKind
{
	static constexpr int NRANGES = RANGES;
	static constexpr int NFACTORS = FACTORS;
	static constexpr int NCOLUMNS = RANGES + FACTORS;
	static constexpr int BLOCKS = NCOLUMNS < 5 || NFACTORS < 3
									  ? 2
									  : 1; /* resident: no kernel has a stack frame */
};

/* What a lane has found in a chunk. */
struct NarrowFound
{
	int64_t sum;
	uint32_t nlive;	 /* rows that meet all conditions, */
	uint32_t nadded; /* and of them those that are not NULL */
};

/* The lanes of a warp describe a chunk's columns; false: no row of it is in all ranges. */
template <class Kind>
static __device__ __forceinline__ bool
narrow_enter(const NarrowLaunch &launch, const GpuQueryBlock *blocks, NarrowUse *uses)
{
	int lane = lane_id();
	bool none = false;

	if (lane < Kind::NCOLUMNS)
	{
		bool is_range = lane < Kind::NRANGES;
		const NarrowFactor &factor = launch.factor[is_range ? 0 : lane - Kind::NRANGES];
		const NarrowRange &range = launch.range[is_range ? lane : 0];
		const GpuQueryBlock &block = blocks[is_range ? range.column : factor.column];
		NarrowUse use = {NarrowColumn(block), {0, 0}, 0};

		if (is_range)
			none = !narrow_bounds(range, block, &use.bounds);
		else
			use.addend = narrow_addend(factor, block);
		uses[lane] = use;
	}
	none = __any_sync(FULL_MASK, none);
	__syncwarp(FULL_MASK);
	return !none;
}

static __device__ __forceinline__ void
narrow_multiply(int64_t &product, int64_t value, bool first)
{
	product = first ? value : product * value;
}

template <class Kind>
static __device__ __forceinline__ void
narrow_window(const NarrowLaunch &launch, const NarrowUse *uses, const uint64_t *mask,
			  uint32_t first, uint32_t end, NarrowFound &found)
{
	constexpr int N = Kind::NCOLUMNS;
	uint32_t row = first + (uint32_t) lane_id() * NARROW_ROWS;
	uint32_t at = narrow_at(row, end);
	uint32_t raw[N][NARROW_ROWS];
	uint32_t valid[N];
	uint32_t live = narrow_rows(row, end);
	int64_t product[NARROW_ROWS];

	UNROLL
	for (int c = 0; c < N; c++)
		narrow_load(uses[c].column, at, raw[c]);
	UNROLL
	for (int c = 0; c < N; c++)
		valid[c] = uses[c].column.valid_rows(at);
	if (mask != nullptr)
		live &= *global_memory((const uint8_t *) mask + at / NARROW_ROWS);
	UNROLL
	for (int c = 0; c < Kind::NRANGES; c++)
		live &= narrow_met(uses[c].column, uses[c].bounds, raw[c]) & valid[c];
	found.nlive += (uint32_t) bit_count(live);
	UNROLL
	for (int f = 0; f < Kind::NFACTORS; f++)
	{
		const NarrowUse &use = uses[Kind::NRANGES + f];
		int64_t addend = use.addend;

		live &= valid[Kind::NRANGES + f];
		if (launch.factor[f].negative)
			narrow_values(use.column, raw[Kind::NRANGES + f], [&](int k, uint32_t stored) {
				narrow_multiply(product[k], addend - stored, f == 0);
			});
		else
			narrow_values(use.column, raw[Kind::NRANGES + f], [&](int k, uint32_t stored) {
				narrow_multiply(product[k], addend + stored, f == 0);
			});
	}
	found.nadded += (uint32_t) bit_count(live);
	UNROLL
	for (int k = 0; k < NARROW_ROWS; k++)
		found.sum += live >> k & 1 ? product[k] : 0;
}

template <class Kind>
static __global__ void
__launch_bounds__(NARROW_THREADS, RESIDENT(Kind::BLOCKS))
	query_narrow(const GRID_CONSTANT NarrowLaunch launch)
{
	SHARED_BYTES(shared);
	const QueryLaunch &query = launch.query;
	QueryScratch *scratch = (QueryScratch *) query.scratch;
	QueryTotals<QueryMachine<8, false, false>, false> totals(query, shared);
	uint64_t warps = (uint64_t) gridDim.x * (blockDim.x / WARP_SIZE);
	uint64_t warp = (uint64_t) blockIdx.x * (blockDim.x / WARP_SIZE) + (uint64_t) warp_id();
	QueryWalk &kept = ((QueryWalk *) (shared + query.layout.walk))[warp_id()];
	NarrowUse *uses = (NarrowUse *) (shared + launch.uses) + warp_id() * Kind::NCOLUMNS;
	QueryWalk walk = {};
	uint64_t low = 0;
	uint64_t high = 0;

	totals.start();
	__syncthreads();
	walk.start(query, query.nunits * warp / warps, query.nunits * (warp + 1) / warps);
	while (walk.chunk < query.nchunks && walk.first_unit < walk.end)
	{
		const GpuQueryBlock *blocks = query.blocks + (uint64_t) walk.chunk * query.plan.ncolumns;
		NarrowFound found = {0, 0, 0};

		walk.keep(kept); /* meanwhile it takes no registers */
		if (walk.row < walk.row_end && narrow_enter<Kind>(launch, blocks, uses))
		{
			const uint64_t *mask = walk.mask;
			uint32_t row_end = walk.row_end;

			ROLLED
			for (uint32_t row = walk.row; row < row_end; row += GPU_QUERY_UNIT)
				narrow_window<Kind>(launch, uses, mask, row, row_end, found);
			for (uint32_t i = 0; i < query.plan.naggregates; i++)
				totals.word(query.plan.totals[i].first) += i == launch.sum ? found.nadded
																		   : found.nlive;
			low += launch.is_int32 ? (uint64_t) found.sum : (uint32_t) found.sum;
			high += (uint64_t) (found.sum >> 32);
		}
		__syncwarp(FULL_MASK);
		walk = kept;
		walk.chunk++;
		walk.enter(query, 0);
	}
	totals.word(query.plan.totals[launch.sum].first + 1) = low;
	if (!launch.is_int32)
		totals.word(query.plan.totals[launch.sum].first + 2) = high;
	totals.leave(scratch);
	if (last_block(&scratch->ticket))
		totals.deliver(scratch);
}

/* ---- host ---- */

/* What a launch of these kernels is given; false: they are not for the query. */
static bool
find_all(const GpuQuery &query, const FusedPlan &fused, NarrowLaunch *launch)
{
	NarrowLimits limits = {};

	launch->is_int32 = fused.class_of == QUERY_INT32;
	launch->sum = fused.sum;
	launch->nranges = fused.ncolumns;
	launch->nfactors = fused.nfactors;
	return find_ranges(query, fused, launch->range) &&
		   find_factors(query, fused.factor, fused.nfactors, fused.class_of, launch->factor,
						&limits);
}

template <class Kind>
static GpuaggReason
launch_narrow(const GpuQuery &query, NarrowLaunch &launch, const GpuQueryMethod &method,
			  GpuStreamRef stream)
{
	static thread_local QueryResident latest;
	unsigned warps = method.warps > 0 ? method.warps : NARROW_THREADS / WARP_SIZE;
	QueryLayout &layout = launch.query.layout;
	unsigned blocks;

	layout.walk = query.plan->words * warps * WARP_SIZE * 8;
	launch.uses = layout.walk + (uint32_t) ((warps * sizeof(QueryWalk) + 15) / 16 * 16);
	layout.bytes = launch.uses + warps * Kind::NCOLUMNS * (uint32_t) sizeof(NarrowUse);
	if (layout.bytes > SMALL_SHARED)
		return GPUAGG_REFUSED;
	blocks =
		query_blocks(method,
					 query_resident(latest, query_narrow<Kind>, warps, layout.bytes, SMALL_SHARED),
					 divide_up(query.shape.nunits, (uint64_t) warps));
	LAUNCH_LARGE(query_narrow<Kind>, blocks, warps * WARP_SIZE, layout.bytes, stream, launch);
	return gpu_launch_status();
}

template <int FACTORS>
static GpuaggReason
launch_ranges(const GpuQuery &query, NarrowLaunch &launch, const GpuQueryMethod &method,
			  GpuStreamRef stream)
{
	switch (launch.nranges)
	{
		case 0:
			return launch_narrow<NarrowKind<0, FACTORS>>(query, launch, method, stream);
		case 1:
			return launch_narrow<NarrowKind<1, FACTORS>>(query, launch, method, stream);
		case 2:
			return launch_narrow<NarrowKind<2, FACTORS>>(query, launch, method, stream);
		default:
			return launch_narrow<NarrowKind<3, FACTORS>>(query, launch, method, stream);
	}
}

bool
query_is_narrow(const GpuQuery &query, const FusedPlan &fused)
{
	NarrowLaunch launch = {};

	return find_all(query, fused, &launch);
}

GpuaggReason
query_run_narrow(const GpuQuery &query, const FusedPlan &fused, const GpuQueryMethod &method,
				 GpuStreamRef stream)
{
	NarrowLaunch launch = {};

	if (!find_all(query, fused, &launch))
		return GPUAGG_REFUSED;
	launch.query = query_launch(query);
	switch (launch.nfactors)
	{
		case 1:
			return launch_ranges<1>(query, launch, method, stream);
		case 2:
			return launch_ranges<2>(query, launch, method, stream);
		default:
			return launch_ranges<3>(query, launch, method, stream);
	}
}
