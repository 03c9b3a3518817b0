/*
 * query_group.c
 *	  Groups of a query over blobs: records.
 */
#include "common/query_group.h"

#include <assert.h>
#include <string.h>

#include "common/int_words.h"
#include "common/vector.h"

#define FLOAT_WORDS	 5 /* of a packed sum, expected: 53 bits, and some 60 by which values differ */
#define SQUARE_WORDS 8 /* the same of squares: twice as many */

static_assert(sizeof(GpuaggGroupFar) == 32, "what is listed apart crosses the process boundary");
static_assert(GPUAGG_GROUP_SQUARE_WEIGHT == 2 * GPUAGG_GROUP_FLOAT_WEIGHT,
			  "squares begin at that of the sum's lowest bit");
static_assert(2 * (32 * GPUAGG_GROUP_FLOAT_DIGITS - 11) + 30 < 32 * GPUAGG_GROUP_SQUARE_DIGITS,
			  "squares of GPUAGG_GROUP_ROWS values, which are below 2^53 * 2^192, fit");

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
			digits = gpuagg_vector_type_is_float(field->type) ? GPUAGG_GROUP_FLOAT_DIGITS
															  : (uint32_t) bits / 32;
			field->words = (uint16_t) (2 * digits);
			field->value = take_digits(&layout->common, digits);
			if (field->op == GPUAGG_MOMENTS)
			{
				digits = gpuagg_vector_type_is_float(field->type) ? GPUAGG_GROUP_SQUARE_DIGITS
																  : 2 * digits;
				field->square_words = (uint16_t) (2 * digits);
				field->squares = take_digits(&layout->common, digits);
			}
			return 1;
		case GPUAGG_MIN:
		case GPUAGG_MAX:
			digits = field->type == GPUAGG_VECTOR_INT128 ? 3 : 1;
			field->words = (uint16_t) (2 * digits);
			field->value = take_digits(&layout->common, digits);
			if (field->type == GPUAGG_VECTOR_INT128)
				(void) take(&layout->common, 1); /* GPUAGG_GROUP_WIDE_LOCK */
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
		if ((aggregates[i].op == GPUAGG_SUM || aggregates[i].op == GPUAGG_MOMENTS) &&
			gpuagg_vector_type_is_float(types[i]))
			layout->field[i].specials = take(&layout->words, GPUAGG_GROUP_SPECIALS);
	layout->words = (layout->words + 3) / 4 * 4;
	return layout->words <= GPUAGG_GROUP_WORDS;
}

/* ---- packed ---- */

static void
pack_word(GpuaggGroupPacking *packing, uint32_t at, GpuaggGroupForm form)
{
	packing->word[packing->words++] = (GpuaggGroupWord){(uint16_t) at, (uint16_t) form};
}

/* So many digits from word `at` on. */
static void
pack_sum(GpuaggGroupPacking *packing, uint32_t at, uint32_t digits)
{
	for (uint32_t i = 0; i < digits; i++)
		pack_word(packing, at + 2 * i, i == 0 ? GPUAGG_GROUP_FIRST : GPUAGG_GROUP_DIGIT);
	pack_word(packing, at + 2 * (digits - 1), GPUAGG_GROUP_CARRY);
}

void
gpuagg_group_packing(const GpuaggGroupLayout *layout, GpuaggGroupPacking *packing)
{
	packing->words = 0;
	for (uint32_t i = 0; i <= layout->rows; i++)
		pack_word(packing, i, GPUAGG_GROUP_WORD);
	for (uint32_t a = 0; a < layout->naggregates; a++)
	{
		const GpuaggGroupField *field = &layout->field[a];
		int is_sum = field->op == GPUAGG_SUM || field->op == GPUAGG_MOMENTS;

		if (field->missing != GPUAGG_GROUP_NONE)
			pack_word(packing, field->missing, GPUAGG_GROUP_WORD);
		if (is_sum)
			pack_sum(packing, field->value, field->words / 2);
		for (uint32_t i = 0; i < field->words && !is_sum; i++)
			pack_word(packing, field->value + i, GPUAGG_GROUP_WORD);
		if (field->op == GPUAGG_MOMENTS)
			pack_sum(packing, field->squares, field->square_words / 2);
		for (uint32_t i = 0; i < GPUAGG_GROUP_SPECIALS && field->specials != GPUAGG_GROUP_NONE; i++)
			pack_word(packing, field->specials + i, GPUAGG_GROUP_WORD);
	}
}

void
gpuagg_group_packing_keep(GpuaggGroupPacking *packing, const uint32_t *mask)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < packing->words; i++)
	{
		GpuaggGroupWord word = packing->word[i];

		if ((mask[i / 32] >> (i % 32) & 1) == 0)
			continue;
		if (word.form == GPUAGG_GROUP_CARRY && (n == 0 || packing->word[n - 1].at != word.at))
			word.form = GPUAGG_GROUP_ALONE;
		packing->word[n++] = word;
	}
	packing->words = n;
}

uint32_t
gpuagg_group_packed_words(const GpuaggGroupLayout *layout)
{
	uint32_t words = layout->rows + 1;

	for (uint32_t a = 0; a < layout->naggregates; a++)
	{
		const GpuaggGroupField *field = &layout->field[a];

		if (field->op == GPUAGG_MIN || field->op == GPUAGG_MAX)
			words += field->words;
		else if (field->specials != GPUAGG_GROUP_NONE)
			words += FLOAT_WORDS + (field->op == GPUAGG_MOMENTS ? SQUARE_WORDS : 0);
		else
			words += field->words / 2 + field->square_words / 2;
	}
	return words;
}

void
gpuagg_group_unpack(const GpuaggGroupPacking *packing, const uint32_t *packed, uint32_t *record)
{
	for (uint32_t i = 0; i < packing->words; i++)
	{
		uint32_t *to = record + packing->word[i].at;
		uint64_t digit = (uint64_t) (int32_t) packed[i];
		uint64_t low = 0;

		switch (packing->word[i].form)
		{
			case GPUAGG_GROUP_WORD:
				*to = packed[i];
				continue;
			case GPUAGG_GROUP_CARRY:
				memcpy(&low, to, sizeof(low));
				digit = low + (digit << 32);
				break;
			case GPUAGG_GROUP_ALONE:
				digit <<= 32;
				break;
			default:
				break;
		}
		memcpy(to, &digit, sizeof(digit));
	}
}

/* ---- totals ---- */

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

/* A sum of digits, of so many words, in `size` words of 64 bits. */
static void
read_digits(const uint32_t *word, uint32_t n, uint64_t *wide, uint32_t size)
{
	__int128 carry = 0;

	for (uint32_t i = 0; i < 2 * size; i++)
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

static uint64_t
word_of(const uint32_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static int64_t
digit_of(const uint32_t *value, int number)
{
	return (int64_t) word_of(value + 2 * number);
}

int
gpuagg_group_float(const GpuaggGroupLayout *layout, const uint32_t *record, uint32_t number,
				   GpuaggFloatSumFull *sum)
{
	const GpuaggGroupField *field = &layout->field[number];
	const uint32_t *special = record + field->specials;
	GpuaggFloatCounts *counts = &sum->counts;
	uint32_t rows = record[layout->rows];
	int first = 0;
	int last = GPUAGG_GROUP_FLOAT_DIGITS - 1;
	int is_carried = 1;

	/* most have few digits, which is what their rounding takes time for */
	while (first < last && digit_of(record + field->value, first) == 0)
		first++;
	while (last > first && digit_of(record + field->value, last) == 0)
		last--;
	sum->base = (int16_t) (GPUAGG_GROUP_FLOAT_CHUNK + first);
	sum->width = (int16_t) (last - first + 1);
	for (int i = first; i <= last; i++)
	{
		int64_t digit = digit_of(record + field->value, i);

		sum->chunk[i - first] = digit;
		is_carried &= digit == (int32_t) digit;
	}
	sum->deposits = 0;
	if (!is_carried)
	{
		/* one more chunk for what is carried */
		sum->chunk[sum->width++] = 0;
		gpuagg_float_sum_propagate(gpuagg_float_sum_of(sum));
	}
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

/* Adds the squares to none. */
static void
read_squares(const GpuaggGroupField *field, const uint32_t *record, int64_t *chunk)
{
	int64_t digits[GPUAGG_SQUARE_CHUNKS] = {0};

	for (int i = 0; i < GPUAGG_GROUP_SQUARE_DIGITS; i++)
		digits[GPUAGG_GROUP_SQUARE_CHUNK + i] = digit_of(record + field->squares, i);
	gpuagg_float_squares_merge_chunks(chunk, digits);
}

/* The extreme of a record that has values. */
static __int128
read_extreme(const GpuaggGroupField *field, const uint32_t *record)
{
	const unsigned __int128 sign = (unsigned __int128) 1 << 127;
	uint64_t narrow = word_of(record + field->value + GPUAGG_GROUP_NARROW);
	unsigned __int128 wide = 0;

	if (field->type == GPUAGG_VECTOR_INT128)
		wide = (unsigned __int128) word_of(record + field->value + GPUAGG_GROUP_WIDE_HIGH) << 64 |
			   word_of(record + field->value + GPUAGG_GROUP_WIDE_LOW);
	/* what 64 bits do not hold is beyond all that they do */
	if (wide >= sign || (wide > 0 && narrow == 0))
	{
		wide -= wide < sign;
		return (__int128) ((field->op == GPUAGG_MIN ? ~wide : wide) ^ sign);
	}
	return (int64_t) ((field->op == GPUAGG_MIN ? ~narrow : narrow) ^ UINT64_C(1) << 63);
}

int
gpuagg_group_total(const GpuaggGroupLayout *layout, const uint32_t *record, uint32_t number,
				   GpuaggQueryTotal *total)
{
	const GpuaggGroupField *field = &layout->field[number];
	GpuaggReduced *reduced = &total->reduced;
	uint32_t rows = record[layout->rows];
	uint32_t missing = field->missing != GPUAGG_GROUP_NONE ? record[field->missing] : 0;
	uint64_t sum[GPUAGG_SUM_WORDS];
	uint64_t squares[GPUAGG_SQUARE_WORDS] = {0};

	gpuagg_query_total_init(total);
	if (rows == 0 || missing > rows)
		return 0;
	reduced->n = rows - missing;
	if (field->op == GPUAGG_COUNT)
		return 1;
	if (field->op == GPUAGG_MIN || field->op == GPUAGG_MAX)
	{
		if (reduced->n > 0)
			reduced->sum = gpuagg_int128_narrow(read_extreme(field, record));
		return 1;
	}
	if (gpuagg_vector_type_is_float(field->type))
	{
		if (field->op == GPUAGG_MOMENTS)
			read_squares(field, record, reduced->f_squares);
		return read_float(layout, record, number, reduced);
	}
	read_digits(record + field->value, field->words, sum, GPUAGG_SUM_WORDS);
	if (field->op == GPUAGG_MOMENTS)
		read_digits(record + field->squares, field->square_words, squares, GPUAGG_SQUARE_WORDS);
	gpuagg_query_total_set_words(total, sum, squares);
	return 1;
}
