/*
 * query_fused_narrow.cuh
 *	  What kernels over integers that are stored in at most 32 bits have in common.
 *
 * Where the chunks' widths and bases leave the product of all factors within PRODUCT_BITS, nothing can
 * overflow and no row is flagged.  The conditions on a column are one range of its stored values.
 *
 * A warp goes through its own range of units.  A lane has 8 neighbouring rows of a unit; all that
 * it reads of them is under way before any of it is used.
 */
#ifndef GPUAGG_QUERY_FUSED_NARROW_CUH
#define GPUAGG_QUERY_FUSED_NARROW_CUH

#include "kernels/query_fused.cuh"

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

/* A column of the chunk that a warp is in. */
struct NarrowColumn
{
	const char *values;
	const uint8_t *valid; /* NULL: no row is NULL */
	uint32_t width;

	__device__ __forceinline__ explicit NarrowColumn(const GpuQueryBlock &block)
		: values((const char *) block.values), valid((const uint8_t *) block.valid),
		  width(block.width)
	{
	}

	/* The bits of a lane's rows that are not NULL. */
	__device__ __forceinline__ uint32_t valid_rows(uint32_t row) const
	{
		return valid != nullptr ? *global_memory(valid + row / NARROW_ROWS) : ALL_ROWS<NARROW_ROWS>;
	}
};

/* A range among a chunk's stored values. */
struct NarrowBounds
{
	uint32_t low;
	uint32_t span; /* how much more the greatest is */

	__device__ __forceinline__ bool have(uint32_t stored) const
	{
		return stored - low <= span;
	}
};

/* false: no row is in the range. */
static __device__ __forceinline__ bool
narrow_bounds(const NarrowRange &range, const GpuQueryBlock &block, NarrowBounds *bounds)
{
	int64_t base = (int64_t) block.base.lo;
	uint32_t most = block.width == 4 ? UINT32_MAX : (UINT32_C(1) << block.width * 8) - 1;
	uint32_t high = range.greatest < base + most ? (uint32_t) (range.greatest - base) : most;

	bounds->low = range.least > base ? (uint32_t) (range.least - base) : 0;
	bounds->span = high - bounds->low;
	return range.greatest >= base && range.least <= base + most && range.least <= range.greatest;
}

static __device__ __forceinline__ int64_t
narrow_addend(const NarrowFactor &factor, const GpuQueryBlock &block)
{
	int64_t base = (int64_t) block.base.lo;

	return factor.negative ? factor.constant - base : factor.constant + base;
}

/* A lane's rows from `row` on of a chunk that ends before `end`. */
static __device__ __forceinline__ uint32_t
narrow_rows(uint32_t row, uint32_t end)
{
	return row >= end				 ? 0
		   : end - row < NARROW_ROWS ? (UINT32_C(1) << (end - row)) - 1
									 : ALL_ROWS<NARROW_ROWS>;
}

/* Where they are read: beyond the chunk's end as the last ones, and none of them lives. */
static __device__ __forceinline__ uint32_t
narrow_at(uint32_t row, uint32_t end)
{
	uint32_t last = (end - 1) / NARROW_ROWS * NARROW_ROWS;

	return row < last ? row : last;
}

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

/* Those of a lane's stored values that are within bounds. */
static __device__ __forceinline__ uint32_t
narrow_met(const NarrowColumn &column, const NarrowBounds &bounds,
		   const uint32_t (&raw)[NARROW_ROWS])
{
	NarrowBounds kept = bounds; /* in registers */
	uint32_t met = 0;

	narrow_values(column, raw, [&](int k, uint32_t value) {
		met |= (uint32_t) kept.have(value) << k;
	});
	return met;
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

/* The ranges of all columns with conditions; false: they are not for these kernels. */
static bool
find_ranges(const GpuQuery &query, const FusedPlan &fused, NarrowRange *ranges)
{
	if (fused.ncolumns > MOST_RANGES)
		return false;
	for (uint32_t i = 0; i < fused.ncolumns; i++)
	{
		const FusedColumn &column = fused.column[i];
		NarrowRange *range = &ranges[i];
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

/* What products are at most, and their factors, without signs. */
struct NarrowLimits
{
	double product;
	double factor;
};

/* The factors of a product of that class; widens the limits.  false: it is not for these kernels. */
static bool
find_factors(const GpuQuery &query, const FusedFactor *from, uint32_t n, int class_of,
			 NarrowFactor *factors, NarrowLimits *limits)
{
	double most = class_of == QUERY_INT32 ? INT32_MAX : (double) (INT64_C(1) << PRODUCT_BITS);
	double product = 1;

	if (class_of != QUERY_INT32 && class_of != QUERY_INT64)
		return false;
	for (uint32_t i = 0; i < n; i++, from++)
	{
		int64_t constant = from->how == FUSED_COLUMN ? 0 : constant_of(from->constant, class_of);
		int64_t least;
		int64_t greatest;

		if (!column_extremes(query, from->column, &least, &greatest) ||
			constant < -NARROW_LARGEST || constant > NARROW_LARGEST)
			return false;
		if (from->how == FUSED_DIFFERENCE)
			constant = -constant;
		if (from->how == FUSED_CONTRARY)
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
		double factor = -(double) least > (double) greatest ? -(double) least : (double) greatest;

		product *= factor;
		if (product > most)
			return false;
		if (factor > limits->factor)
			limits->factor = factor;
		factors[i] = {from->column, from->how == FUSED_CONTRARY, constant};
	}
	if (product > limits->product)
		limits->product = product;
	return true;
}

#endif /* GPUAGG_QUERY_FUSED_NARROW_CUH */
