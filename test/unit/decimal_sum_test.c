/*
 * decimal_sum_test.c
 *	  Sums of decimal numbers: the digits are the same in any order, in parts, after values
 *	  were subtracted again, and after encoding.
 */
#include "common/decimal_variance.h"

#include <stdlib.h>

#include "check.h"
#include "random.h"
#include "square_oracle.h"

#define NUMBERS	   200
#define MAX_GROUPS 70

static int64_t allocated;

static void *
resize(void *owner, void *old, size_t bytes)
{
	(void) owner;
	allocated += bytes > 0 ? 1 : -1;
	if (bytes > 0)
		return malloc(bytes);
	free(old);
	return NULL;
}

static const GpuaggMemory memory = {resize, NULL};

typedef struct Number
{
	GpuaggDecimal x;
	uint16_t digits[MAX_GROUPS];
} Number;

/* Kinds of numbers; each tests another part of the accumulator. */
typedef enum Shape
{
	SHAPE_SHORT, /* a 64-bit integer and few places */
	SHAPE_EDGE,	 /* about as long as the fast part takes */
	SHAPE_LONG,
	SHAPE_ANY,
	NSHAPES
} Shape;

static void
make_number(Number *number, Shape shape)
{
	static const uint16_t few[] = {1, 921, 922, 923, 9999};
	GpuaggDecimal *x = &number->x;
	int below;

	if (shape == SHAPE_ANY)
		shape = next() % SHAPE_ANY;
	x->ndigits = shape == SHAPE_SHORT  ? next() % 4
				 : shape == SHAPE_EDGE ? 3 + next() % 4
									   : next() % MAX_GROUPS;
	for (int i = 0; i < x->ndigits; i++)
	{
		number->digits[i] = next() % 3 == 0 ? few[next() % 5] : next() % GPUAGG_DECIMAL_BASE;
		if ((i == 0 || i == x->ndigits - 1) && number->digits[i] == 0)
			number->digits[i] = 1;
	}
	x->digits = (const char *) number->digits;
	x->weight = shape == SHAPE_LONG ? (int) (next() % 600) - 300 : (int) (next() % 5) - 1;
	x->negative = x->ndigits > 0 && next() % 2;
	below = x->ndigits - x->weight - 1;
	x->scale = (below > 0 ? 4 * below : 0) + (int) (next() % 3);
}

static void
add(GpuaggDecimalSum *acc, const Number *number)
{
	gpuagg_decimal_rescale(acc, gpuagg_decimal_groups_for(acc, &number->x));
	gpuagg_decimal_add(acc, &number->x);
}

static int
same_decimals(GpuaggDecimal a, GpuaggDecimal b)
{
	return a.ndigits == b.ndigits && a.weight == b.weight && a.scale == b.scale &&
		   a.negative == b.negative && memcmp(a.digits, b.digits, 2 * a.ndigits) == 0;
}

static int
same_totals(GpuaggDecimalSum *a, GpuaggDecimalSum *b, int squares)
{
	uint16_t *room_a = malloc(2 * gpuagg_decimal_total_digits(a, squares));
	uint16_t *room_b = malloc(2 * gpuagg_decimal_total_digits(b, squares));
	int same = same_decimals(gpuagg_decimal_total(a, squares, room_a),
							 gpuagg_decimal_total(b, squares, room_b));

	free(room_a);
	free(room_b);
	return same;
}

static int
same_variances(GpuaggDecimalSum *a, GpuaggDecimalSum *b, int sample)
{
	GpuaggLimbs limbs[2];
	uint16_t *room[2];
	GpuaggDecimal variance[2];
	int same;

	for (int i = 0; i < 2; i++)
	{
		int scale = gpuagg_decimal_variance(i == 0 ? a : b, sample, &memory, &limbs[i]);

		room[i] = malloc(2 * GPUAGG_LIMB_GROUPS * limbs[i].width + 2);
		variance[i] = gpuagg_limbs_decimal(&limbs[i], room[i]);
		variance[i].scale = scale;
	}
	same = same_decimals(variance[0], variance[1]) && !variance[0].negative;
	for (int i = 0; i < 2; i++)
	{
		free(room[i]);
		gpuagg_limbs_free(&memory, &limbs[i]);
	}
	return same;
}

static int
same(GpuaggDecimalSum *a, GpuaggDecimalSum *b)
{
	int ok = a->fast.n == b->fast.n && a->scale == b->scale && a->n_scale == b->n_scale &&
			 gpuagg_decimal_count(a) == gpuagg_decimal_count(b) &&
			 gpuagg_decimal_special_sum(a) == gpuagg_decimal_special_sum(b) &&
			 a->fast.moments == b->fast.moments && same_totals(a, b, 0);

	if (ok && a->fast.moments)
		ok = same_totals(a, b, 1) && (a->fast.n < 1 || same_variances(a, b, 0)) &&
			 (a->fast.n < 2 || same_variances(a, b, 1));
	return ok;
}

static int
decoded(const uint8_t *bytes, size_t n, GpuaggDecimalSum *acc)
{
	GpuaggReader reader = {bytes, n, 0};

	gpuagg_decimal_init(acc, 1, memory);
	return gpuagg_decimal_decode(&reader, acc) && reader.left == 0;
}

/* Whether decoding gives the same accumulator, and fails for every shorter prefix. */
static int
survives(GpuaggDecimalSum *acc)
{
	size_t most = gpuagg_decimal_encoded_bytes(acc);
	uint8_t *room = malloc(most);
	size_t n = gpuagg_decimal_encode(acc, room);
	GpuaggDecimalSum back;
	int ok = n <= most && decoded(room, n, &back) && same(acc, &back);

	gpuagg_decimal_free(&back);
	ok = ok && !decoded(room, n - 1 - next() % n, &back);
	gpuagg_decimal_free(&back);
	free(room);
	return ok;
}

static void
test_parts(Shape shape, int moments)
{
	Number *numbers = malloc(NUMBERS * sizeof(Number));
	GpuaggDecimalSum whole;
	GpuaggDecimalSum part;
	GpuaggDecimalSum merged;
	int ok = 1;

	gpuagg_decimal_init(&whole, moments, memory);
	gpuagg_decimal_init(&part, moments, memory);
	gpuagg_decimal_init(&merged, moments, memory);
	CHECK(survives(&whole));
	for (int i = 0; i < NUMBERS; i++)
	{
		make_number(&numbers[i], shape);
		add(&whole, &numbers[i]);
	}
	for (int i = 0; i < NUMBERS; i++)
	{
		add(&part, &numbers[i * 37 % NUMBERS]);
		if (next() % 20 == 0)
		{
			gpuagg_decimal_special(&whole, GPUAGG_DECIMAL_PINF, 1);
			gpuagg_decimal_special(&part, GPUAGG_DECIMAL_PINF, 1);
			ok &= survives(&part);
			gpuagg_decimal_merge(&merged, &part);
			gpuagg_decimal_free(&part);
			gpuagg_decimal_init(&part, moments, memory);
		}
	}
	gpuagg_decimal_merge(&part, &merged);
	CHECK(ok && same(&whole, &part));
	CHECK(survives(&whole));
	gpuagg_decimal_free(&part);
	gpuagg_decimal_free(&merged);
	gpuagg_decimal_free(&whole);
	free(numbers);
	CHECK(allocated == 0);
}

/* A frame that moves over numbers; if a value cannot be subtracted, it starts anew. */
static void
test_frames(Shape shape, int moments)
{
	Number *numbers = malloc(NUMBERS * sizeof(Number));
	GpuaggDecimalSum moving;
	GpuaggDecimalSum fresh;
	int restarts = 0;
	int ok = 1;

	gpuagg_decimal_init(&moving, moments, memory);
	for (int i = 0; i < NUMBERS; i++)
	{
		int first = i < 5 ? 0 : i - 5;

		make_number(&numbers[i], shape);
		add(&moving, &numbers[i]);
		if (i > 5 && !gpuagg_decimal_remove(&moving, &numbers[i - 6].x))
		{
			gpuagg_decimal_free(&moving);
			gpuagg_decimal_init(&moving, moments, memory);
			for (int j = first; j <= i; j++)
				add(&moving, &numbers[j]);
			restarts++;
		}
		gpuagg_decimal_init(&fresh, moments, memory);
		for (int j = first; j <= i; j++)
			add(&fresh, &numbers[j]);
		ok &= same(&moving, &fresh);
		gpuagg_decimal_free(&fresh);
	}
	CHECK(ok && restarts < NUMBERS / 2);
	for (int i = NUMBERS - 6; i < NUMBERS; i++)
		(void) gpuagg_decimal_remove(&moving, &numbers[i].x);
	gpuagg_decimal_free(&moving);
	free(numbers);
	CHECK(allocated == 0);
}

/* Many of the largest, so that carries have to be propagated on the way. */
static void
test_carries(void)
{
	Number nines = {.x = {.ndigits = MAX_GROUPS, .weight = MAX_GROUPS / 2, .scale = 200}};
	GpuaggDecimalSum acc;
	GpuaggDecimalSum doubled;

	for (int i = 0; i < MAX_GROUPS; i++)
		nines.digits[i] = GPUAGG_DECIMAL_BASE - 1;
	nines.x.digits = (const char *) nines.digits;
	gpuagg_decimal_init(&acc, 1, memory);
	gpuagg_decimal_init(&doubled, 1, memory);
	add(&doubled, &nines);
	for (int i = 0; i < 17; i++)
		gpuagg_decimal_merge(&doubled, &doubled);
	for (int i = 0; i < 1 << 17; i++)
		add(&acc, &nines);
	CHECK(same(&acc, &doubled) && survives(&acc));
	for (int i = 0; i < (1 << 17) - 1; i++)
		(void) gpuagg_decimal_remove(&acc, &nines.x);
	gpuagg_decimal_free(&doubled);
	gpuagg_decimal_init(&doubled, 1, memory);
	add(&doubled, &nines);
	CHECK(same(&acc, &doubled));
	gpuagg_decimal_free(&acc);
	gpuagg_decimal_free(&doubled);
	CHECK(allocated == 0);
}

/* Random bytes: what decodes has the same digits after encoding and decoding. */
static void
test_any_bytes(void)
{
	Number number;
	int taken = 0;
	int ok = 1;

	for (int i = 0; i < 20000; i++)
	{
		GpuaggDecimalSum acc;
		GpuaggDecimalSum back;
		uint8_t room[4096];
		size_t n;

		gpuagg_decimal_init(&acc, next() % 2, memory);
		for (int j = next() % 4; j > 0; j--)
		{
			make_number(&number, SHAPE_ANY);
			add(&acc, &number);
		}
		ok &= gpuagg_decimal_encoded_bytes(&acc) <= sizeof(room);
		n = gpuagg_decimal_encode(&acc, room);
		for (int j = next() % 4; j > 0; j--)
			room[next() % n] = (uint8_t) (next() % 2 ? next() : next() % 2 ? 0 : 255);
		if (decoded(room, n, &back))
		{
			taken++;
			ok &= survives(&back);
			gpuagg_decimal_merge(&acc, &back);
			(void) gpuagg_decimal_total_digits(&acc, 0);
		}
		gpuagg_decimal_free(&back);
		gpuagg_decimal_free(&acc);
	}
	CHECK(ok && taken > 1000);
	CHECK(allocated == 0);
}

/* The number v * 10^-scale, its digits in groups around the point. */
static void
make_integer(Number *number, __int128 v, int scale)
{
	int places = (scale + 3) / 4;
	int pad = 4 * places - scale;
	unsigned __int128 size = v < 0 ? -(unsigned __int128) v : (unsigned __int128) v;
	unsigned power = pad == 0 ? 1 : pad == 1 ? 10 : pad == 2 ? 100 : 1000;
	unsigned rest = GPUAGG_DECIMAL_BASE / power; /* of the lowest group */
	uint16_t groups[MAX_GROUPS] = {0};
	int n = MAX_GROUPS;

	groups[--n] = (uint16_t) ((unsigned) (size % rest) * power);
	for (size /= rest; size > 0; size /= GPUAGG_DECIMAL_BASE)
		groups[--n] = (uint16_t) (size % GPUAGG_DECIMAL_BASE);
	number->x = gpuagg_decimal_trimmed(groups, MAX_GROUPS, MAX_GROUPS - 1 - places, v < 0);
	memcpy(number->digits, number->x.digits, 2 * (size_t) number->x.ndigits);
	number->x.digits = (const char *) number->digits;
	number->x.scale = scale;
}

/* Sums of integers of 128 bits, in words, beside those of the same numbers. */
static void
test_words(int moments, int scale)
{
	const __int128 most = (__int128) (UINT64_MAX >> 1) << 64 | UINT64_MAX;
	GpuaggDecimalSum one_by_one;
	GpuaggDecimalSum by_words;
	uint64_t sum[GPUAGG_SUM_WORDS] = {0};
	uint64_t squares[GPUAGG_SQUARE_WORDS] = {0};
	int n = 1 + (int) (next() % 40);
	int kind = (int) (next() % 4);
	int waiting = 0;

	gpuagg_decimal_init(&one_by_one, moments, memory);
	gpuagg_decimal_init(&by_words, moments, memory);
	for (int i = 0; i < n; i++)
	{
		__int128 v = (__int128) ((unsigned __int128) next() << 64 | next()) >> next() % 127;
		uint64_t word[GPUAGG_SUM_WORDS];
		uint64_t square[GPUAGG_SQUARE_WORDS];
		Number number;

		v = kind == 0 ? most : kind == 1 ? -most - 1 : kind == 2 && next() % 2 ? 0 : v;
		word[0] = (uint64_t) v;
		word[1] = (uint64_t) (v >> 64);
		word[2] = v < 0 ? UINT64_MAX : 0;
		square_words(v, square);
		gpuagg_words_add(sum, word, GPUAGG_SUM_WORDS);
		gpuagg_words_add(squares, square, GPUAGG_SQUARE_WORDS);
		make_integer(&number, v, scale);
		add(&one_by_one, &number);
		waiting++;
		if (i == n / 2 || i == n - 1)
		{
			gpuagg_decimal_add_words(&by_words, waiting, scale, sum, squares);
			gpuagg_decimal_add_scale(&by_words, scale, waiting);
			memset(sum, 0, sizeof(sum));
			memset(squares, 0, sizeof(squares));
			waiting = 0;
		}
	}
	CHECK(same(&one_by_one, &by_words));
	gpuagg_decimal_free(&one_by_one);
	gpuagg_decimal_free(&by_words);
}

int
main(void)
{
	seed = 11;
	for (int round = 0; round < 10; round++)
		for (Shape shape = 0; shape < NSHAPES; shape++)
			for (int moments = 0; moments < 2; moments++)
			{
				test_parts(shape, moments);
				test_frames(shape, moments);
			}
	for (int scale = 0; scale < 45; scale++)
		for (int round = 0; round < 20; round++)
			test_words(round % 2, scale);
	test_carries();
	test_any_bytes();
	return check_summary();
}
