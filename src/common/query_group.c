/*
 * query_group.c
 *	  Groups of a query over blobs: records.
 */
#include "common/query_group.h"

#include <assert.h>
#include <string.h>

#include "common/vector.h"

static_assert(sizeof(GpuaggGroupFar) == 32, "what is listed apart crosses the process boundary");

static int
is_float(int type)
{
	return type == GPUAGG_VECTOR_FLOAT32 || type == GPUAGG_VECTOR_FLOAT64;
}

static int
is_number(int type)
{
	return type >= GPUAGG_VECTOR_INT16 && type <= GPUAGG_VECTOR_FLOAT64;
}

static uint16_t
take(uint32_t *end, uint32_t words)
{
	uint32_t at = *end;

	*end += words;
	return (uint16_t) at;
}

/* Digits, of 64 bits; they are aligned to these. */
static uint16_t
take_digits(uint32_t *end, uint32_t digits)
{
	*end += *end % 2;
	return take(end, 2 * digits);
}

/* 0: there is no such sum, or extreme. */
static int
add_field(GpuaggGroupLayout *layout, GpuaggGroupField *field, int has_filter)
{
	/* INT16 is added up as INT32 */
	int bits = field->type == GPUAGG_VECTOR_INT16 ? 32
												  : 8 * (int) gpuagg_vector_type_size(field->type);
	uint32_t digits;

	field->missing = field->value = field->squares = field->specials = GPUAGG_GROUP_NONE;
	if (field->op != GPUAGG_COUNT && !is_number(field->type))
		return 0;
	if (field->type != 0 || has_filter)
		field->missing = take(&layout->common, 1);
	switch (field->op)
	{
		case GPUAGG_COUNT:
			return 1;
		case GPUAGG_SUM:
		case GPUAGG_MOMENTS:
			if (field->op == GPUAGG_MOMENTS && field->type > GPUAGG_VECTOR_INT64)
				return 0;
			digits = is_float(field->type) ? GPUAGG_GROUP_FLOAT_DIGITS : (uint32_t) bits / 32;
			field->words = (uint16_t) (2 * digits);
			field->value = take_digits(&layout->common, digits);
			if (field->op == GPUAGG_MOMENTS)
			{
				field->square_words = (uint16_t) (4 * digits);
				field->squares = take_digits(&layout->common, 2 * digits);
			}
			return 1;
		case GPUAGG_MIN:
		case GPUAGG_MAX:
			if (field->type == GPUAGG_VECTOR_INT128)
				return 0;
			field->words = 2;
			field->value = take_digits(&layout->common, 1);
			return 1;
		default:
			return 0;
	}
}

int
gpuagg_group_layout(GpuaggGroupLayout *layout, const uint8_t *key_types, uint32_t nkeys,
					const GpuaggQueryAggregate *aggregates, const uint8_t *types,
					uint32_t naggregates)
{
	uint32_t bits = 0;

	memset(layout, 0, sizeof(*layout));
	if (nkeys == 0 || nkeys > GPUAGG_GROUP_KEYS || naggregates > GPUAGG_GROUP_AGGREGATES)
		return 0;
	layout->nkeys = nkeys;
	layout->naggregates = naggregates;
	for (uint32_t i = 0; i < nkeys; i++)
	{
		int is_bool = key_types[i] == GPUAGG_VECTOR_BOOL;

		if ((!is_bool && !is_number(key_types[i])) || key_types[i] == GPUAGG_VECTOR_INT128)
			return 0;
		layout->key_type[i] = key_types[i];
		layout->key_at[i] = (uint8_t) bits;
		bits += 1 + (is_bool ? 1 : 8 * (uint32_t) gpuagg_vector_type_size(key_types[i]));
		if (bits > GPUAGG_GROUP_KEY_BITS)
			return 0;
	}
	layout->key_words = bits > 63 ? 2 : 1;
	layout->common = 2 * layout->key_words;
	layout->rows = take(&layout->common, 1);
	for (uint32_t i = 0; i < naggregates; i++)
	{
		layout->field[i].op = aggregates[i].op;
		layout->field[i].type = types[i];
		if (!add_field(layout, &layout->field[i], aggregates[i].filter != GPUAGG_VECTOR_NONE))
			return 0;
	}
	layout->words = layout->common;
	for (uint32_t i = 0; i < naggregates; i++)
		if (aggregates[i].op == GPUAGG_SUM && is_float(types[i]))
			layout->field[i].specials = take(&layout->words, GPUAGG_GROUP_SPECIALS);
	layout->words = (layout->words + 3) / 4 * 4;
	return 1;
}

uint64_t
gpuagg_group_key(const GpuaggGroupLayout *layout, const uint64_t *words, uint32_t number,
				 int *isnull)
{
	unsigned __int128 key = words[0] >> 1;
	int type = layout->key_type[number];
	int bits = type == GPUAGG_VECTOR_BOOL ? 1 : 8 * (int) gpuagg_vector_type_size(type);
	uint64_t value;

	if (layout->key_words > 1)
		key |= (unsigned __int128) (words[1] >> 1) << 63;
	key >>= layout->key_at[number];
	*isnull = (int) (key & 1);
	value = (uint64_t) (key >> 1);
	if (bits < 64)
		value &= (UINT64_C(1) << bits) - 1;
	return *isnull ? 0 : value;
}

/* A sum of digits, of so many words, in 192 bits. */
static void
read_digits(const uint32_t *word, uint32_t n, uint64_t *wide)
{
	__int128 carry = 0;

	for (uint32_t i = 0; i < 6; i++)
	{
		int64_t digit = 0;

		if (2 * i < n)
			memcpy(&digit, word + 2 * i, sizeof(digit));
		carry += digit;
		if (i % 2 == 0)
			wide[i / 2] = (uint32_t) carry;
		else
			wide[i / 2] |= (uint64_t) (uint32_t) carry << 32;
		carry >>= 32;
	}
}

int
gpuagg_group_float(const GpuaggGroupLayout *layout, const uint32_t *record, uint32_t number,
				   GpuaggFloatSumFull *sum)
{
	const GpuaggGroupField *field = &layout->field[number];
	const uint32_t *special = record + field->specials;
	GpuaggFloatCounts *counts = &sum->counts;
	uint32_t rows = record[layout->rows];

	/* one more chunk for what is carried */
	sum->base = GPUAGG_GROUP_FLOAT_CHUNK;
	sum->width = GPUAGG_GROUP_FLOAT_DIGITS + 1;
	memcpy(sum->chunk, record + field->value, GPUAGG_GROUP_FLOAT_DIGITS * sizeof(int64_t));
	sum->chunk[GPUAGG_GROUP_FLOAT_DIGITS] = 0;
	gpuagg_float_sum_propagate(gpuagg_float_sum_of(sum));
	counts->n = (int64_t) rows - record[field->missing];
	counts->n_nan = special[GPUAGG_GROUP_NAN];
	counts->n_pinf = special[GPUAGG_GROUP_PLUS_INFINITY];
	counts->n_ninf = special[GPUAGG_GROUP_MINUS_INFINITY];
	counts->n_negzero = special[GPUAGG_GROUP_MINUS_ZERO];
	return rows > 0 &&
		   counts->n_nan + counts->n_pinf + counts->n_ninf + counts->n_negzero <= counts->n;
}

static int
read_float(const GpuaggGroupLayout *layout, const uint32_t *record, uint32_t number,
		   GpuaggReduced *reduced)
{
	GpuaggFloatSumFull sum;

	if (!gpuagg_group_float(layout, record, number, &sum))
		return 0;
	gpuagg_float_sum_widen(gpuagg_float_sum_of(&reduced->f), gpuagg_float_sum_of(&sum));
	return 1;
}

int
gpuagg_group_total(const GpuaggGroupLayout *layout, const uint32_t *record, uint32_t number,
				   GpuaggQueryTotal *total)
{
	const GpuaggGroupField *field = &layout->field[number];
	GpuaggReduced *reduced = &total->reduced;
	uint32_t rows = record[layout->rows];
	uint32_t missing = field->missing != GPUAGG_GROUP_NONE ? record[field->missing] : 0;
	uint64_t wide[3];

	gpuagg_query_total_init(total);
	if (rows == 0 || missing > rows)
		return 0;
	reduced->n = rows - missing;
	if (field->op == GPUAGG_COUNT)
		return 1;
	if (field->op == GPUAGG_MIN || field->op == GPUAGG_MAX)
	{
		uint64_t key;

		memcpy(&key, record + field->value, sizeof(key));
		key = (field->op == GPUAGG_MIN ? ~key : key) ^ UINT64_C(1) << 63;
		if (reduced->n > 0)
			reduced->sum = gpuagg_int128_from((int64_t) key);
		return 1;
	}
	if (is_float(field->type))
		return read_float(layout, record, number, reduced);
	read_digits(record + field->value, field->words, wide);
	reduced->sum.lo = wide[0];
	reduced->sum.hi = (int64_t) wide[1];
	total->high = (int64_t) wide[2];
	if (field->op == GPUAGG_MOMENTS)
		read_digits(record + field->squares, field->square_words, reduced->squares);
	return 1;
}
