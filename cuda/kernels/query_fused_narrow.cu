/*
 * query_fused_narrow.cu
 *	  Queries of the commonest shapes over integers that are stored in at most 32 bits.
 *
 * Where the chunks' widths and bases leave the product of all factors within PRODUCT_BITS, nothing can
 * overflow and no row is flagged.  The conditions on a column are one range of its stored values.
 *
 * A warp goes through its own range of units.  A lane has 8 neighbouring rows of a unit; all that
 * it reads of them is under way before any of it is used.
 */
#include "kernels/query_fused.cuh"

#define NARROW_THREADS 256
#define NARROW_ROWS	   8  /* of a lane: their bits in a bitmap are a byte */
#define MOST_RANGES	   3  /* of values */
#define PRODUCT_BITS   48 /* a lane's sum of a chunk fits in 63 */
#define NARROW_LARGEST (INT64_C(1) << 40)

static_assert(NARROW_ROWS * WARP_SIZE == GPU_QUERY_UNIT, "a window is a unit");
static_assert(GPUAGG_BLOB_ROWS / WARP_SIZE <= UINT32_C(1) << (63 - PRODUCT_BITS), "sums of chunks");

/* The values that all conditions on a column leave. */
struct NarrowRange
{
	uint32_t column;
	int64_t least;
	int64_t greatest;
};

/* value = addend + stored, or addend - stored, with the base in the addend. */
struct NarrowFactor
{
	uint32_t column;
	uint32_t negative;
	int64_t constant; /* the addend but for the base */
};

struct NarrowLaunch
{
	QueryLaunch query;
	uint32_t nranges;
	uint32_t nfactors;
	uint32_t sum; /* number of the SUM among the aggregates */
	uint32_t is_int32;
	NarrowRange range[MOST_RANGES];
	NarrowFactor factor[FUSED_FACTORS];
};

/* A column of the chunk that a warp is in. */
struct NarrowColumn
{
	const char *values;
	const uint8_t *valid; /* NULL: no row is NULL */
	uint32_t width;
	uint32_t low;	/* of a range: the least stored value, */
	uint32_t span;	/* and how much more the greatest is; */
	int64_t addend; /* of a factor */
};

template <int RANGES, int FACTORS> struct NarrowKind
{
	static constexpr int NRANGES = RANGES;
	static constexpr int NFACTORS = FACTORS;
	static constexpr int NCOLUMNS = RANGES + FACTORS;
	static constexpr int BLOCKS = NCOLUMNS < 5 ? 2 : 1; /* resident: no kernel has a stack frame */
};

/* What a lane has found in a chunk. */
struct NarrowFound
{
	int64_t sum;
	uint32_t nlive;	 /* rows that meet all conditions, */
	uint32_t nadded; /* and of them those that are not NULL */
};

/* Has a lane's stored values of a column under way. */
static __device__ __forceinline__ void
narrow_load(const NarrowColumn &column, uint32_t row, uint32_t (&raw)[NARROW_ROWS])
{
	const char *from = column.values + (uint64_t) row * column.width;

	if (column.width == 1)
	{
		FusedPiece<8> piece = *global_memory((const FusedPiece<8> *) from);

		raw[0] = piece.word[0];
		raw[1] = piece.word[1];
		return;
	}
	UNROLL
	for (int i = 0; i < 2; i++)
		if (i == 0 || column.width == 4)
		{
			FusedPiece<16> piece = *global_memory((const FusedPiece<16> *) from + i);

			UNROLL
			for (int w = 0; w < 4; w++)
				raw[i * 4 + w] = piece.word[w];
		}
}

template <int WIDTH>
static __device__ __forceinline__ uint32_t
narrow_value(const uint32_t (&raw)[NARROW_ROWS], int k)
{
	return WIDTH == 4
			   ? raw[k]
			   : raw[k * WIDTH / 4] >> k * WIDTH % 4 * 8 & ((UINT32_C(1) << WIDTH % 4 * 8) - 1);
}

/* f(k, value) of each row. */
template <int WIDTH, class F>
static __device__ __forceinline__ void
narrow_each(const uint32_t (&raw)[NARROW_ROWS], F f)
{
	UNROLL
	for (int k = 0; k < NARROW_ROWS; k++)
		f(k, narrow_value<WIDTH>(raw, k));
}

template <class F>
static __device__ __forceinline__ void
narrow_values(const NarrowColumn &column, const uint32_t (&raw)[NARROW_ROWS], F f)
{
	switch (column.width)
	{
		case 1:
			narrow_each<1>(raw, f);
			break;
		case 2:
			narrow_each<2>(raw, f);
			break;
		default:
			narrow_each<4>(raw, f);
	}
}

/* The lanes of a warp describe a chunk's columns; false: no row of it is in all ranges. */
template <class Kind>
static __device__ __forceinline__ bool
narrow_enter(const NarrowLaunch &launch, const GpuQueryBlock *blocks, NarrowColumn *columns)
{
	int lane = lane_id();
	bool none = false;

	if (lane < Kind::NCOLUMNS)
	{
		bool is_range = lane < Kind::NRANGES;
		const NarrowFactor &factor = launch.factor[is_range ? 0 : lane - Kind::NRANGES];
		const NarrowRange &range = launch.range[is_range ? lane : 0];
		const GpuQueryBlock &block = blocks[is_range ? range.column : factor.column];
		int64_t base = (int64_t) block.base.lo;
		uint32_t most = block.width == 4 ? UINT32_MAX : (UINT32_C(1) << block.width * 8) - 1;
		NarrowColumn column =
			{(const char *) block.values, (const uint8_t *) block.valid, block.width, 0, 0, 0};

		if (is_range)
		{
			uint32_t high = range.greatest < base + most ? (uint32_t) (range.greatest - base)
														 : most;

			none = range.greatest < base || range.least > base + most ||
				   range.least > range.greatest;
			column.low = range.least > base ? (uint32_t) (range.least - base) : 0;
			column.span = high - column.low;
		}
		else
			column.addend = factor.negative ? factor.constant - base : factor.constant + base;
		columns[lane] = column;
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
narrow_window(const NarrowLaunch &launch, const NarrowColumn *columns, const uint64_t *mask,
			  uint32_t first, uint32_t end, NarrowFound &found)
{
	constexpr int N = Kind::NCOLUMNS;
	uint32_t row = first + (uint32_t) lane_id() * NARROW_ROWS;
	/* one beyond the chunk's end is read as the last one, and no row of it lives */
	uint32_t last = (end - 1) / NARROW_ROWS * NARROW_ROWS;
	uint32_t at = row < last ? row : last;
	uint32_t raw[N][NARROW_ROWS];
	uint32_t valid[N];
	uint32_t live = row >= end				  ? 0
					: end - row < NARROW_ROWS ? (UINT32_C(1) << (end - row)) - 1
											  : ALL_ROWS<NARROW_ROWS>;
	int64_t product[NARROW_ROWS];

	UNROLL
	for (int c = 0; c < N; c++)
		narrow_load(columns[c], at, raw[c]);
	UNROLL
	for (int c = 0; c < N; c++)
		valid[c] = columns[c].valid != nullptr ? *global_memory(columns[c].valid + at / NARROW_ROWS)
											   : ALL_ROWS<NARROW_ROWS>;
	if (mask != nullptr)
		live &= *global_memory((const uint8_t *) mask + at / NARROW_ROWS);
	UNROLL
	for (int c = 0; c < Kind::NRANGES; c++)
	{
		uint32_t low = columns[c].low;
		uint32_t span = columns[c].span;
		uint32_t met = 0;

		narrow_values(columns[c], raw[c], [&](int k, uint32_t value) {
			met |= (uint32_t) (value - low <= span) << k;
		});
		live &= met & valid[c];
	}
	found.nlive += (uint32_t) bit_count(live);
	UNROLL
	for (int f = 0; f < Kind::NFACTORS; f++)
	{
		const NarrowColumn &column = columns[Kind::NRANGES + f];
		int64_t addend = column.addend;

		live &= valid[Kind::NRANGES + f];
		if (launch.factor[f].negative)
			narrow_values(column, raw[Kind::NRANGES + f], [&](int k, uint32_t stored) {
				narrow_multiply(product[k], addend - stored, f == 0);
			});
		else
			narrow_values(column, raw[Kind::NRANGES + f], [&](int k, uint32_t stored) {
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
	NarrowColumn *columns = (NarrowColumn *) (shared + query.layout.walk) +
							warp_id() * Kind::NCOLUMNS;
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

		if (walk.row < walk.row_end && narrow_enter<Kind>(launch, blocks, columns))
		{
			ROLLED
			for (uint32_t row = walk.row; row < walk.row_end; row += GPU_QUERY_UNIT)
				narrow_window<Kind>(launch, columns, walk.mask, row, walk.row_end, found);
			for (uint32_t i = 0; i < query.plan.naggregates; i++)
				totals.word(query.plan.totals[i].first) += i == launch.sum ? found.nadded
																		   : found.nlive;
			low += launch.is_int32 ? (uint64_t) found.sum : (uint32_t) found.sum;
			high += (uint64_t) (found.sum >> 32);
		}
		__syncwarp(FULL_MASK);
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

/* The values that a column may have; false: it is none for these kernels. */
static bool
column_extremes(const GpuQuery &query, uint32_t column, int64_t *least, int64_t *greatest)
{
	const GpuQueryShape &shape = query.shape;
	int type = query.plan->type[column];
	uint32_t width = shape.width[column];

	/* what has its type's own width is stored as it is, with its sign */
	if ((type != GPUAGG_VECTOR_INT16 && type != GPUAGG_VECTOR_INT32 &&
		 type != GPUAGG_VECTOR_INT64) ||
		width > 4 || width >= (uint32_t) gpuagg_vector_type_size(type) ||
		shape.least[column] < -NARROW_LARGEST || shape.greatest[column] > NARROW_LARGEST)
		return false;
	*least = shape.least[column];
	*greatest = shape.greatest[column] + ((INT64_C(1) << width * 8) - 1);
	return true;
}

static int64_t
constant_of(uint64_t bits, int class_of)
{
	return class_of == QUERY_INT32 ? (int64_t) (int32_t) bits : (int64_t) bits;
}

/* Narrows a range by a condition; false: that does not leave a range. */
static bool
narrow_by(NarrowRange *range, const FusedCondition &condition, int class_of)
{
	int64_t constant = constant_of(condition.constant, class_of);
	int64_t least = INT64_MIN;
	int64_t greatest = INT64_MAX;

	switch (condition.op)
	{
		case GPUAGG_VECTOR_EQ:
			if (condition.inverted)
				return false;
			least = greatest = constant;
			break;
		case GPUAGG_VECTOR_LT:
			if (condition.inverted)
				least = constant;
			else if (constant == INT64_MIN)
				return false;
			else
				greatest = constant - 1;
			break;
		case GPUAGG_VECTOR_GT:
			if (condition.inverted)
				greatest = constant;
			else if (constant == INT64_MAX)
				return false;
			else
				least = constant + 1;
			break;
		default:
			return false;
	}
	if (least > range->least)
		range->least = least;
	if (greatest < range->greatest)
		range->greatest = greatest;
	return true;
}

static bool
find_ranges(const GpuQuery &query, const FusedPlan &fused, NarrowLaunch *launch)
{
	if (fused.ncolumns > MOST_RANGES)
		return false;
	for (uint32_t i = 0; i < fused.ncolumns; i++)
	{
		const FusedColumn &column = fused.column[i];
		NarrowRange *range = &launch->range[launch->nranges++];
		int64_t least;
		int64_t greatest;

		*range = {column.column, INT64_MIN, INT64_MAX};
		if (!column_extremes(query, column.column, &least, &greatest) ||
			(column.class_of != QUERY_INT32 && column.class_of != QUERY_INT64))
			return false;
		for (uint32_t k = 0; k < column.count; k++)
			if (!narrow_by(range, fused.condition[column.first + k], column.class_of))
				return false;
	}
	return true;
}

static bool
find_factors(const GpuQuery &query, const FusedPlan &fused, NarrowLaunch *launch)
{
	double product = 1; /* a bound of it */
	double most = launch->is_int32 ? INT32_MAX : (double) (INT64_C(1) << PRODUCT_BITS);

	for (uint32_t i = 0; i < fused.nfactors; i++)
	{
		const FusedFactor &from = fused.factor[i];
		int64_t constant = from.how == FUSED_COLUMN ? 0
													: constant_of(from.constant, fused.class_of);
		int64_t least;
		int64_t greatest;

		if (!column_extremes(query, from.column, &least, &greatest) || constant < -NARROW_LARGEST ||
			constant > NARROW_LARGEST)
			return false;
		if (from.how == FUSED_DIFFERENCE)
			constant = -constant;
		if (from.how == FUSED_CONTRARY)
		{
			int64_t other = constant - least;

			least = constant - greatest;
			greatest = other;
		}
		else
		{
			least += constant;
			greatest += constant;
		}
		product *= -(double) least > (double) greatest ? -(double) least : (double) greatest;
		if (product > most)
			return false;
		launch->factor[launch->nfactors++] = {from.column, from.how == FUSED_CONTRARY, constant};
	}
	return true;
}

/* What a launch of these kernels is given; false: they are not for the query. */
static bool
find_all(const GpuQuery &query, const FusedPlan &fused, NarrowLaunch *launch)
{
	launch->is_int32 = fused.class_of == QUERY_INT32;
	launch->sum = fused.sum;
	return (fused.class_of == QUERY_INT32 || fused.class_of == QUERY_INT64) &&
		   find_ranges(query, fused, launch) && find_factors(query, fused, launch);
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
	layout.bytes = layout.walk + warps * Kind::NCOLUMNS * (uint32_t) sizeof(NarrowColumn);
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
