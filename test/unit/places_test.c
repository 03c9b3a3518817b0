/*
 * places_test.c
 *	  Sums by place, and what prepares them, beside an oracle that looks at one row at a time.
 *
 *		places_test [rounds [seed]]
 */
#include "common/places.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "common/vector_run.h"
#include "random.h"

#define ROWS	GPUAGG_VECTOR_ROWS
#define STRIDE	8
#define PLACES	300
#define PATTERN UINT64_C(0x5a5a5a5a5a5a5a5a)

static const int types[] = {GPUAGG_VECTOR_INT16, GPUAGG_VECTOR_INT32, GPUAGG_VECTOR_INT64};

typedef union Values
{
	int16_t i16[ROWS];
	int32_t i32[ROWS];
	int64_t i64[ROWS];
} Values;

static int64_t
value_at(int type, const Values *values, int i)
{
	return type == GPUAGG_VECTOR_INT16	 ? values->i16[i]
		   : type == GPUAGG_VECTOR_INT32 ? values->i32[i]
										 : values->i64[i];
}

/* Of a random number of bits. */
static int64_t
some_value(int most_bits)
{
	return (int64_t) next() >> (64 - 1 - next() % (uint64_t) most_bits);
}

static int
bits_of(int type)
{
	return 8 * (int) gpuagg_vector_type_size(type);
}

static void
store(int type, Values *values, int i, int64_t value)
{
	if (type == GPUAGG_VECTOR_INT16)
		values->i16[i] = (int16_t) value;
	else if (type == GPUAGG_VECTOR_INT32)
		values->i32[i] = (int32_t) value;
	else
		values->i64[i] = value;
}

static void
test_digits(int type, int words)
{
	static Values values;
	uint16_t digits[ROWS];
	uint16_t places[ROWS];
	uint64_t outside = 0;
	int64_t top = (int64_t) ((UINT64_C(1) << (bits_of(type) - 1)) - 1);
	int64_t first = next() % 4 == 0 ? -1 - top : some_value(bits_of(type));
	uint64_t room = (uint64_t) top - (uint64_t) first;
	uint32_t n = 1 + (uint32_t) (next() % (room < UINT16_MAX ? room + 1 : UINT16_MAX));
	uint32_t step = (uint32_t) (next() % 1000);
	bool digits_equal = true;
	bool places_equal = true;

	for (int w = 0; w < words; w++)
	{
		bool all = next() % 2 == 0;

		for (int i = w * 64; i < (w + 1) * 64; i++)
		{
			bool in = all || next() % 64 != 0;

			store(type, &values, i,
				  in ? (int64_t) ((uint64_t) first + next() % n) : some_value(bits_of(type)));
			if ((__int128) value_at(type, &values, i) - first < 0 ||
				(__int128) value_at(type, &values, i) - first >= n)
				outside |= UINT64_C(1) << w;
		}
	}
	CHECK(gpuagg_place_digits(type, &values, words, first, n, digits) == outside);
	memset(places, 1, sizeof(places));
	gpuagg_place_add_digits(places, digits, step, words);
	for (int i = 0; i < words * 64; i++)
	{
		uint64_t digit = (uint64_t) value_at(type, &values, i) - (uint64_t) first;

		if (digit < n)
			digits_equal &= digits[i] == digit;
		places_equal &= places[i] == (uint16_t) (0x101 + digits[i] * step);
	}
	CHECK(digits_equal);
	CHECK(places_equal);
}

static void
test_values(int n)
{
	static int64_t values[ROWS];
	static int64_t low[ROWS];
	static int64_t high[ROWS];
	static Values narrow;
	int most = 1 + (int) (next() % 64);
	int type = types[next() % 2];
	int words = (n + 63) / 64;
	int bits = 0;
	bool equal = true;

	for (int i = 0; i < words * 64; i++)
	{
		values[i] = i < n ? some_value(most) : (int64_t) next();
		store(type, &narrow, i, values[i]);
		for (; i < n && (values[i] ^ (values[i] >> 63)) >> bits != 0;)
			bits++;
	}
	CHECK(gpuagg_place_bits(values, n) == bits);
	gpuagg_place_split(values, words, low, high);
	for (int i = 0; i < n; i++)
		equal &= low[i] >= 0 && low[i] <= UINT32_MAX && high[i] == values[i] >> 32 &&
				 (__int128) high[i] * (INT64_C(1) << 32) + low[i] == values[i];
	CHECK(equal);
	gpuagg_place_extend(type, &narrow, words, low);
	for (int i = 0; i < n; i++)
		equal &= low[i] == value_at(type, &narrow, i);
	CHECK(equal);
}

/* Several vectors, some of them counted. */
static void
test_sums(uint32_t copies, int ncolumns)
{
	static int64_t words[PLACES * STRIDE * GPUAGG_PLACE_COPIES + 1];
	static int64_t expected[PLACES][STRIDE];
	static int64_t values[GPUAGG_PLACE_COLUMNS][ROWS];
	const int64_t *columns[GPUAGG_PLACE_COLUMNS];
	GpuaggPlaceArray array = {words, STRIDE, copies};
	uint32_t used = next() % 2 == 0 ? PLACES : 1 + (uint32_t) (next() % 4);
	size_t end = PLACES * STRIDE * copies;
	bool equal = true;

	memset(words, 0, sizeof(words));
	memset(expected, 0, sizeof(expected));
	words[end] = (int64_t) PATTERN;
	for (int round = 0; round < 4; round++)
	{
		uint16_t places[ROWS];
		int n = (int) (next() % (ROWS + 1));
		bool counted = next() % 2 == 0;
		uint32_t first = counted ? 1 : 1 + (uint32_t) (next() % (uint64_t) (STRIDE - ncolumns));
		bool fresh = false;

		for (int i = 0; i < n; i++)
		{
			places[i] = (uint16_t) (next() % used);
			fresh |= counted && expected[places[i]][0] == 0;
			for (int c = 0; c < ncolumns; c++)
				values[c][i] = some_value(50);
		}
		for (int i = 0; i < n; i++)
		{
			expected[places[i]][0] += counted;
			for (int c = 0; c < ncolumns; c++)
				expected[places[i]][first + (uint32_t) c] += values[c][i];
		}
		for (int c = 0; c < ncolumns; c++)
			columns[c] = values[c];
		/* a copy may get its first row after others */
		if (gpuagg_place_sum(&array, places, n, columns, ncolumns, first, counted))
			CHECK(fresh || (counted && copies > 1));
		else
			CHECK(!fresh);
	}
	for (uint32_t p = 0; p < PLACES; p++)
		for (uint32_t w = 0; w < STRIDE; w++)
			equal &= gpuagg_place_total(&array, p, w) == expected[p][w];
	CHECK(equal);
	CHECK(words[end] == (int64_t) PATTERN);
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 300;

	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	for (int round = 0; round < rounds; round++)
	{
		gpuagg_vector_plain = round % 2 == 0;
		for (int t = 0; t < 3; t++)
			test_digits(types[t], 1 + (int) (next() % (ROWS / 64)));
		test_values(1 + (int) (next() % ROWS));
		for (int c = 0; c <= GPUAGG_PLACE_COLUMNS; c++)
			test_sums(next() % 2 == 0 ? 1 : GPUAGG_PLACE_COPIES, c);
	}
	return check_summary();
}
