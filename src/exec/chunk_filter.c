/*
 * chunk_filter.c
 *	  Chunks of resident columns that have no row which passes a filter, by their blocks' extremes.
 *
 * Most conditions become one range of values for each column, as there may be many chunks.
 */
#include "compat.h"

#include <math.h>

#include "exec/chunk_filter.h"

/* Values of a column, as order_of() has them, of which a chunk must have one. */
typedef struct ChunkRange
{
	int column;
	int64 from;
	int64 to;
} ChunkRange;

struct ChunkFilter
{
	const FilterConditions *conditions;
	const uint8 *types; /* of columns */
	bool *columns;		/* those of the conditions */

	/* made of the constants' values: ranges, and the conditions that are none */
	bool ready;
	int nranges;
	ChunkRange *ranges;
	int nothers;
	const FilterCondition **others;
	int64 *key; /* of gpuagg_chunk_filter_key() */
};

ChunkFilter *
gpuagg_chunk_filter_make(const FilterConditions *conditions, const uint8 *types, int ncolumns)
{
	ChunkFilter *filter;

	if (conditions->n == 0)
		return NULL;
	filter = palloc0(sizeof(ChunkFilter));
	filter->conditions = conditions;
	filter->types = types;
	filter->columns = palloc0(ncolumns * sizeof(bool));
	for (int i = 0; i < conditions->n; i++)
		filter->columns[conditions->list[i].column] = true;
	filter->ranges = palloc(conditions->n * sizeof(ChunkRange));
	filter->others = palloc(conditions->n * sizeof(FilterCondition *));
	filter->key = palloc((conditions->n * 3 + 1) * sizeof(int64));
	return filter;
}

const bool *
gpuagg_chunk_filter_columns(const ChunkFilter *filter)
{
	return filter->columns;
}

void
gpuagg_chunk_filter_reset(ChunkFilter *filter)
{
	filter->ready = false;
}

/* ---- conditions ---- */

/* As SQL compares floats: NaN equals itself and is above all others. */
static int
compare_floats(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a > b) - (a < b);
}

/* Whether no value of the block, of a column of that type, meets the condition. */
static bool
excludes(const FilterCondition *condition, int type, const BlockSummary *block,
		 const GpuaggVectorConstant *constant)
{
	int least;
	int most;

	if (block->nvalid == 0 || constant->isnull)
		return true;
	switch (type)
	{
		case GPUAGG_VECTOR_INT16:
		case GPUAGG_VECTOR_INT32:
		case GPUAGG_VECTOR_INT64:
		case GPUAGG_VECTOR_INT128:
			if (constant->type < GPUAGG_VECTOR_INT16 || constant->type > GPUAGG_VECTOR_INT128)
				return false;
			least = gpuagg_int128_compare(block->minimum, constant->u.integer);
			most = gpuagg_int128_compare(block->maximum, constant->u.integer);
			break;
		case GPUAGG_VECTOR_FLOAT32:
		case GPUAGG_VECTOR_FLOAT64:
		{
			double value = constant->type == GPUAGG_VECTOR_FLOAT32 ? constant->u.float32
																   : constant->u.float64;

			if (constant->type != type)
				return false;
			least = compare_floats(column_block_float(type, block->minimum), value);
			most = compare_floats(column_block_float(type, block->maximum), value);
			break;
		}
		default:
			return false;
	}
	switch (condition->op)
	{
		case GPUAGG_VECTOR_EQ:
			return least > 0 || most < 0;
		case GPUAGG_VECTOR_NE:
			return least == 0 && most == 0;
		case GPUAGG_VECTOR_LT:
			return least >= 0;
		case GPUAGG_VECTOR_LE:
			return least > 0;
		case GPUAGG_VECTOR_GT:
			return most <= 0;
		case GPUAGG_VECTOR_GE:
			return most < 0;
		default:
			return false;
	}
}

/* ---- ranges ---- */

/* A float's place in SQL's order: NaN is above all others, -0 equals +0. */
static inline int64
order_of_float(double value)
{
	int64 bits;

	if (isnan(value))
		return PG_INT64_MAX;
	value += 0.0; /* -0 becomes +0 */
	memcpy(&bits, &value, sizeof(bits));
	return bits < 0 ? bits ^ PG_INT64_MAX : bits;
}

/* The same of a value as blocks have it, of a type of up to 64 bits. */
static inline int64
order_of(int type, GpuaggInt128 value)
{
	return type >= GPUAGG_VECTOR_FLOAT32 ? order_of_float(column_block_float(type, value))
										 : (int64) value.lo;
}

/* A constant's place in the order of a column's values; false: it is of another type, or beyond them. */
static bool
find_place(int type, const GpuaggVectorConstant *constant, int64 *place)
{
	if (constant->isnull)
		return false;
	switch (type)
	{
		case GPUAGG_VECTOR_INT16:
		case GPUAGG_VECTOR_INT32:
		case GPUAGG_VECTOR_INT64:
			*place = (int64) constant->u.integer.lo;
			return constant->type >= GPUAGG_VECTOR_INT16 &&
				   constant->type <= GPUAGG_VECTOR_INT128 &&
				   constant->u.integer.hi == (*place < 0 ? -1 : 0);
		case GPUAGG_VECTOR_FLOAT32:
			*place = order_of_float(constant->u.float32);
			return constant->type == type;
		case GPUAGG_VECTOR_FLOAT64:
			*place = order_of_float(constant->u.float64);
			return constant->type == type;
		default:
			return false;
	}
}

/* The condition as a range; false: it is none. */
static bool
find_range(const FilterCondition *condition, int type, const GpuaggVectorConstant *constant,
		   ChunkRange *range)
{
	int64 place;

	*range = (ChunkRange){condition->column, PG_INT64_MIN, PG_INT64_MAX};
	if (!find_place(type, constant, &place))
		return false;
	switch (condition->op)
	{
		case GPUAGG_VECTOR_EQ:
			range->from = range->to = place;
			return true;
		case GPUAGG_VECTOR_LE:
			range->to = place;
			return true;
		case GPUAGG_VECTOR_GE:
			range->from = place;
			return true;
		case GPUAGG_VECTOR_LT:
			range->to = place - 1;
			return place > PG_INT64_MIN;
		case GPUAGG_VECTOR_GT:
			range->from = place + 1;
			return place < PG_INT64_MAX;
		default:
			return false;
	}
}

/* Adds a range to that of its column, of which a value must be in both. */
static void
add_range(ChunkFilter *filter, const ChunkRange *range)
{
	for (int i = 0; i < filter->nranges; i++)
	{
		ChunkRange *old = &filter->ranges[i];

		if (old->column != range->column)
			continue;
		old->from = Max(old->from, range->from);
		old->to = Min(old->to, range->to);
		return;
	}
	filter->ranges[filter->nranges++] = *range;
}

static void
make_ranges(ChunkFilter *filter, const GpuaggVectorConstant *constants)
{
	filter->ready = true;
	filter->nranges = filter->nothers = 0;
	for (int i = 0; i < filter->conditions->n; i++)
	{
		const FilterCondition *condition = &filter->conditions->list[i];
		ChunkRange range;

		if (find_range(condition, filter->types[condition->column], &constants[condition->constant],
					   &range))
			add_range(filter, &range);
		else
			filter->others[filter->nothers++] = condition;
	}
}

/* Whether blocks' extremes are looked at for such a condition; else only whether there are values. */
static bool
has_extremes(const ChunkFilter *filter, const FilterCondition *condition)
{
	uint8 type = filter->types[condition->column];

	return type >= GPUAGG_VECTOR_INT16 && type <= GPUAGG_VECTOR_FLOAT64;
}

bool
gpuagg_chunk_filter_key(ChunkFilter *filter, const GpuaggVectorConstant *constants,
						const int64 **numbers, int *n)
{
	int64 *key = filter->key;

	if (!filter->ready)
		make_ranges(filter, constants);
	*key++ = filter->nranges;
	for (int i = 0; i < filter->nranges; i++)
	{
		*key++ = filter->ranges[i].column;
		*key++ = filter->ranges[i].from;
		*key++ = filter->ranges[i].to;
	}
	for (int i = 0; i < filter->nothers; i++)
	{
		const FilterCondition *condition = filter->others[i];

		if (has_extremes(filter, condition))
			return false;
		*key++ = condition->column;
		*key++ = constants[condition->constant].isnull;
	}
	*numbers = filter->key;
	*n = (int) (key - filter->key);
	return true;
}

bool
gpuagg_chunk_filter_excludes(ChunkFilter *filter, const GpuaggVectorConstant *constants,
							 const BlockSummary *const *blocks)
{
	const uint8 *types = filter->types;

	if (!filter->ready)
		make_ranges(filter, constants);
	for (int i = 0; i < filter->nranges; i++)
	{
		const ChunkRange *range = &filter->ranges[i];
		const BlockSummary *block = blocks[range->column];
		int type = types[range->column];

		if (block->nvalid == 0 || order_of(type, block->minimum) > range->to ||
			order_of(type, block->maximum) < range->from || range->from > range->to)
			return true;
	}
	for (int i = 0; i < filter->nothers; i++)
	{
		const FilterCondition *condition = filter->others[i];

		if (excludes(condition, types[condition->column], blocks[condition->column],
					 &constants[condition->constant]))
			return true;
	}
	return false;
}
