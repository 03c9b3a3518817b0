/*
 * query_fused_narrow_groups.cu
 *	  Few groups by integers of small known ranges: the kernel, and when it is one for a query.
 *
 * What launches it makes sure that a thread's sums fit in 64 bits.
 */
#include "kernels/query_fused_narrow_groups.cuh"

#define LEAST_WARPS	  4
#define UNITS_OF_WARP 8	 /* at least; a block begins with clearing its sums */
#define SUM_BITS	  62 /* of a thread's sum */

template <class Factor, bool ALL>
static __global__ void
__launch_bounds__(MOST_WARPS<Factor> *WARP_SIZE, RESIDENT(1))
	query_narrow_groups(const GRID_CONSTANT NarrowGroupLaunch launch)
{
	SHARED_BYTES(shared);
	const QueryLaunch &query = launch.query;
	QueryScratch *scratch = (QueryScratch *) query.scratch;
	NarrowGroupSums<Factor, ALL> sums(launch, shared);
	uint64_t nwarps = blockDim.x / WARP_SIZE;
	uint64_t warps = gridDim.x * nwarps;
	uint64_t warp = blockIdx.x * nwarps + (uint64_t) warp_id();
	QueryWalk walk = {};

	sums.clear();
	__syncthreads();
	walk.start(query, query.nunits * warp / warps, query.nunits * (warp + 1) / warps);
	while (walk.chunk < query.nchunks && walk.first_unit < walk.end)
	{
		const GpuQueryBlock *blocks = query.blocks + (uint64_t) walk.chunk * query.plan.ncolumns;

		if (walk.row < walk.row_end && sums.enter(blocks))
		{
			ROLLED
			for (uint32_t row = walk.row; row < walk.row_end; row += GPU_QUERY_UNIT)
				sums.take_window(blocks, walk.mask, row, walk.row_end);
		}
		walk.chunk++;
		walk.enter(query, 0);
	}
	__syncthreads();
	for (uint32_t i = (uint32_t) warp_id(); i < launch.places; i += (uint32_t) nwarps)
	{
		/* blocks begin at different groups, as atomics to one address wait for each other */
		uint32_t place = i + blockIdx.x % launch.places;

		sums.flush(place < launch.places ? place : place - launch.places);
	}
	if (last_block(&scratch->ticket))
		sums.deliver(scratch);
}

/* ---- host ---- */

/* The number of a column among the launch's; false: there are too many. */
static bool
put_column(NarrowGroupLaunch *launch, uint32_t column, uint32_t *number)
{
	for (*number = 0; *number < launch->ncolumns; ++*number)
		if (launch->column[*number] == column)
			return true;
	if (launch->ncolumns == NARROW_COLUMNS)
		return false;
	launch->column[launch->ncolumns++] = column;
	return true;
}

static bool
find_keys(const GpuQuery &query, NarrowGroupLaunch *launch)
{
	launch->nkeys = query.plan->groups.nkeys;
	if (launch->nkeys > NARROW_KEYS)
		return false;
	launch->places = 1;
	for (uint32_t i = 0; i < launch->nkeys; i++)
	{
		uint32_t column = QUERY_SOURCE_NUMBER(query.plan->key[i]);
		const GpuQueryRange &range = query.table->range[i];
		NarrowKey *key = &launch->key[i];
		int64_t least;
		int64_t greatest;

		if (range.count == 0 || range.count > UINT8_MAX || range.least > INT64_MAX - UINT8_MAX ||
			!column_extremes(query, column, &least, &greatest) ||
			!put_column(launch, column, &key->column))
			return false;
		key->count = range.count;
		key->digits = range.count + query.shape.has_null[column];
		key->stride = launch->places;
		key->least = range.least;
		launch->places *= key->digits;
		if (launch->places > UINT8_MAX)
			return false;
	}
	return true;
}

/* Whether all factors of a product are the first ones of the other, which has more. */
static bool
is_begin(const NarrowProduct &a, const NarrowProduct &b)
{
	bool same = a.nfactors < b.nfactors;

	for (uint32_t f = 0; f < a.nfactors && same; f++)
		same = a.factor[f].column == b.factor[f].column &&
			   a.factor[f].negative == b.factor[f].negative &&
			   a.factor[f].constant == b.factor[f].constant;
	return same;
}

/* A product's columns and words. */
static bool
put_product(const GpuQuery &query, const FusedProduct &from, NarrowProduct &product,
			NarrowGroupLaunch *launch)
{
	for (uint32_t f = 0; f < from.nfactors; f++)
	{
		product.has_null |= query.shape.has_null[from.factor[f].column];
		if (!put_column(launch, from.factor[f].column, &product.factor[f].column))
			return false;
	}
	if (launch->nproducts == NARROW_PRODUCTS)
		return false;
	launch->words += (product.op != GPUAGG_COUNT) + product.has_null;
	launch->product[launch->nproducts++] = product;
	return true;
}

/* A column that is counted, which is as many as there are rows if none is NULL. */
static bool
find_count(const GpuQuery &query, const FusedProduct &from, NarrowGroupLaunch *launch)
{
	NarrowProduct product = {from.nfactors, from.number, from.nfactors, from.op, 0, {}};

	return query.shape.has_null[from.factor[0].column] == 0 ||
		   put_product(query, from, product, launch);
}

/* A product that is computed; widens the limits. */
static bool
find_product(const GpuQuery &query, const FusedProduct &from, NarrowGroupLaunch *launch,
			 NarrowLimits *limits)
{
	uint32_t n = launch->nproducts;
	NarrowProduct product = {from.nfactors, from.number, 0, from.op, 0, {}};

	if (!find_factors(query, from.factor, from.nfactors, from.class_of, product.factor, limits))
		return false;
	if (from.number == FUSED_NONE)
		return true;
	if (!put_product(query, from, product, launch))
		return false;
	if (n > 0 && is_begin(launch->product[n - 1], launch->product[n]))
		launch->product[n].known = launch->product[n - 1].nfactors;
	return true;
}

/* What a launch is given of the query; false: these kernels are not for it. */
static bool
find_all(const GpuQuery &query, const FusedProducts &fused, NarrowGroupLaunch *launch,
		 NarrowLimits *limits)
{
	launch->nranges = fused.where.ncolumns;
	if (!find_ranges(query, fused.where, launch->range) || !find_keys(query, launch))
		return false;
	for (uint32_t i = 0; i < launch->nranges; i++)
		if (!put_column(launch, launch->range[i].column, &launch->range[i].column))
			return false;
	for (uint32_t i = 0; i < fused.nproducts; i++)
		if (fused.product[i].op != GPUAGG_COUNT &&
			!find_product(query, fused.product[i], launch, limits))
			return false;
	launch->nread = launch->ncolumns;
	for (uint32_t i = 0; i < fused.nproducts; i++)
		if (fused.product[i].op == GPUAGG_COUNT && !find_count(query, fused.product[i], launch))
			return false;
	return true;
}

/* Memory of a block of so many warps. */
static void
lay_out(NarrowGroupLaunch *launch, unsigned warps)
{
	QueryLayout &layout = launch->query.layout;
	uint32_t places = (launch->places + 1) * warps * WARP_SIZE; /* of all threads */

	layout.walk = 0;
	layout.sums = warps * (uint32_t) sizeof(NarrowChunk);
	launch->sums = layout.sums + places * 4;
	layout.bytes = launch->sums + places * launch->words * 8;
}

bool
query_has_narrow_groups(const GpuQuery &query, const FusedProducts &fused)
{
	NarrowGroupLaunch launch = {};
	NarrowLimits limits = {};

	return find_all(query, fused, &launch, &limits);
}

template <class Factor, bool ALL>
static GpuaggReason
launch_narrow_groups(const GpuQuery &query, NarrowGroupLaunch &launch, double product,
					 const GpuQueryMethod &method, GpuStreamRef stream)
{
	static thread_local QueryResident latest;
	uint32_t most = large_shared<query_narrow_groups<Factor, ALL>>() ? LARGE_SHARED : SMALL_SHARED;
	unsigned warps = method.warps > 0 ? method.warps : MOST_WARPS<Factor>;
	unsigned least = method.warps > 0 ? method.warps : LEAST_WARPS;
	uint64_t units;
	unsigned blocks;

	for (;; warps--)
	{
		lay_out(&launch, warps);
		if (launch.query.layout.bytes <= most)
			break;
		if (warps == least)
			return GPUAGG_REFUSED;
	}
	blocks = query_blocks(method,
						  query_resident(latest, query_narrow_groups<Factor, ALL>, warps,
										 launch.query.layout.bytes, most),
						  divide_up(query.shape.nunits, (uint64_t) warps * UNITS_OF_WARP));
	units = divide_up(query.shape.nunits, (uint64_t) blocks * warps);
	if ((double) (units * NARROW_ROWS) * product > (double) (UINT64_C(1) << SUM_BITS))
		return GPUAGG_REFUSED;
	LAUNCH_LARGE((query_narrow_groups<Factor, ALL>), blocks, warps * WARP_SIZE,
				 launch.query.layout.bytes, stream, launch);
	return gpu_launch_status();
}

template <bool ALL>
static GpuaggReason
launch_by_factor(const GpuQuery &query, NarrowGroupLaunch &launch, const NarrowLimits &limits,
				 const GpuQueryMethod &method, GpuStreamRef stream)
{
	return limits.factor <= INT32_MAX
			   ? launch_narrow_groups<int32_t, ALL>(query, launch, limits.product, method, stream)
			   : launch_narrow_groups<int64_t, ALL>(query, launch, limits.product, method, stream);
}

/* Whether there is anything but sums without NULLs. */
static bool
has_others(const NarrowGroupLaunch &launch)
{
	bool others = false;

	for (uint32_t i = 0; i < launch.nproducts; i++)
		others |= launch.product[i].op != GPUAGG_SUM || launch.product[i].has_null;
	return others;
}

GpuaggReason
query_run_narrow_groups(const GpuQuery &query, const FusedProducts &fused,
						const GpuQueryMethod &method, GpuStreamRef stream)
{
	NarrowGroupLaunch launch = {};
	NarrowLimits limits = {};

	if (!find_all(query, fused, &launch, &limits))
		return GPUAGG_REFUSED;
	launch.query = query_launch(query);
	launch.query.table = *query.table;
	return has_others(launch) ? launch_by_factor<true>(query, launch, limits, method, stream)
							  : launch_by_factor<false>(query, launch, limits, method, stream);
}
