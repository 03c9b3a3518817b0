/*
 * float_moments_test.c
 *	  Sums of squares, averages, variances and deviations of doubles, seeded.
 *
 * Small cases are whole numbers times a power of two, small enough that 128 bits hold
 * n Q - S^2: results are checked against the definition of rounding, by comparing exact
 * integers.  Large cases are checked by identities that hold for any exact arithmetic.
 * test/property/float_moments.py has fractions of any size.
 */
#include "common/float_codec.h"
#include "common/float_moments.h"
#include "common/natural.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* The same file once more, for a machine without AVX2. */
void portable_array(GpuaggFloatSquaresFull *acc, const double *x, int64_t n);
void portable_floats(GpuaggFloatSquaresFull *acc, const float *x, int64_t n);
void portable_merge(int64_t *into, const int64_t *from);

#define gpuagg_float_squares_deposit_array	portable_array
#define gpuagg_float_squares_deposit_floats portable_floats
#define gpuagg_float_squares_merge_chunks	portable_merge
#define __builtin_cpu_supports(feature)		0
#include "common/float_squares.c"
#undef gpuagg_float_squares_deposit_array
#undef gpuagg_float_squares_deposit_floats
#undef gpuagg_float_squares_merge_chunks
#undef __builtin_cpu_supports

#include "check.h"
#include "random.h"

typedef __int128 int128;
typedef unsigned __int128 uint128;


static double
from_bits(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static int
same(double a, double b)
{
	return memcmp(&a, &b, sizeof(a)) == 0 || (isnan(a) && isnan(b));
}

/* Sums and squares as an aggregate's state has them: windows that grow. */
typedef struct State
{
	GpuaggFloatSum *sum;
	GpuaggFloatSum *squares;
} State;

static GpuaggFloatSum *
make(int width)
{
	GpuaggFloatSum *acc = malloc(GPUAGG_FLOAT_SUM_SIZE(width));

	gpuagg_float_sum_init(acc, 0, width);
	return acc;
}

static GpuaggFloatSum *
fit(GpuaggFloatSum *acc, int place, int touched, int chunks)
{
	GpuaggFloatSum *wide;
	int base;
	int width;

	if (gpuagg_float_sum_window_for(acc, place, touched, chunks, &base, &width))
	{
		acc->base = (int16_t) base;
		return acc;
	}
	wide = make(width);
	wide->base = (int16_t) base;
	gpuagg_float_sum_widen(wide, acc);
	free(acc);
	return wide;
}

static State
state_make(void)
{
	return (State){make(GPUAGG_SMALL_WIDTH), make(GPUAGG_SQUARES_SMALL_WIDTH)};
}

static void
state_free(State *state)
{
	free(state->sum);
	free(state->squares);
}

static void
deposit(State *state, double x, int sign)
{
	while (!gpuagg_float_sum_deposit(state->sum, x, sign))
		state->sum = fit(state->sum, gpuagg_float_sum_place(x), GPUAGG_TOUCHED, GPUAGG_CHUNKS);
	while (!gpuagg_float_squares_deposit(state->squares, x, sign))
		state->squares = fit(state->squares, gpuagg_float_squares_place(x), GPUAGG_SQUARES_TOUCHED,
							 GPUAGG_SQUARE_CHUNKS);
}

static State
state_of(const double *x, int n)
{
	State state = state_make();

	for (int i = 0; i < n; i++)
		deposit(&state, x[i], 1);
	return state;
}

static double
variance(const State *state, int sample, int root)
{
	double result = -1;
	GpuaggRounded rounded = gpuagg_float_variance(state->sum, state->squares, sample, root,
												  &result);

	return rounded == GPUAGG_ROUNDED_NULL ? -2 : rounded == GPUAGG_ROUNDED_OVERFLOW ? -3 : result;
}

static double
average(const State *state)
{
	double result = -1;

	return gpuagg_float_average(state->sum, &result) == GPUAGG_ROUNDED_VALUE ? result : NAN;
}

/* ---- the definition of rounding ---- */

/* The sign of a * 2^shift - b. */
static int
compare_shifted(uint128 a, int shift, uint128 b)
{
	if (shift > 0)
	{
		if (a != 0 && (shift >= 128 || a > ~(uint128) 0 >> shift))
			return 1;
		a <<= shift;
	}
	else if (shift < 0)
	{
		if (b != 0 && (-shift >= 128 || b > ~(uint128) 0 >> -shift))
			return -1;
		b <<= -shift;
	}
	return a < b ? -1 : a > b;
}

/*
 * Whether the normal number r is p / q (or its root) * 2^scale rounded to nearest, ties to
 * even: that lies between the middles to r's neighbours.  q < 2^18.
 */
static int
is_nearest(double r, uint128 p, uint64_t q, int scale, int root)
{
	int e;
	uint64_t m = (uint64_t) ldexp(frexp(r, &e), 53);
	uint128 below = 4 * (uint128) m - (m == UINT64_C(1) << 52 ? 1 : 2); /* in quarters */
	uint128 above = 4 * (uint128) m + 2;
	int low;
	int high;

	e -= 53 + 2;
	if (root)
	{
		/* below^2 4^(e - scale) q <= p; 110 bits and 18 */
		low = compare_shifted(below * below * q, 2 * (e - scale), p);
		high = compare_shifted(above * above * q, 2 * (e - scale), p);
	}
	else
	{
		low = compare_shifted(below * q, e - scale, p);
		high = compare_shifted(above * q, e - scale, p);
	}
	return low <= 0 && high >= 0 && ((m & 1) == 0 || (low != 0 && high != 0));
}

static void
whole_numbers(void)
{
	for (int k = 0; k < 30000; k++)
	{
		int n = 1 + (int) (next() % (k % 10 == 0 ? 400 : 9));
		int bits = 1 + (int) (next() % 45);
		int scale = (int) (next() % 900) - 450;
		int128 sum = 0;
		int128 squares = 0;
		uint128 deviations;
		State state = state_make();

		if (bits > 40 && n > 9)
			bits = 40;
		for (int i = 0; i < n; i++)
		{
			int64_t v = (int64_t) (next() >> (64 - bits)) * (next() % 2 ? 1 : -1);

			if (next() % 5 == 0)
				v = (INT64_C(1) << bits) - (int64_t) (next() % 3);
			sum += v;
			squares += (int128) v * v;
			deposit(&state, ldexp((double) v, scale), 1);
		}
		deviations = (uint128) (n * squares - sum * sum);

		if (sum == 0)
			CHECK(average(&state) == 0);
		else
			CHECK((average(&state) < 0) == (sum < 0) &&
				  is_nearest(fabs(average(&state)), (uint128) (sum < 0 ? -sum : sum), n, scale, 0));
		for (int sample = 0; sample <= 1; sample++)
		{
			uint64_t q = (uint64_t) n * (uint64_t) (n - sample);

			if (q == 0)
				CHECK(variance(&state, sample, 0) == -2 && variance(&state, sample, 1) == -2);
			else if (deviations == 0)
				CHECK(same(variance(&state, sample, 0), 0) && same(variance(&state, sample, 1), 0));
			else
			{
				CHECK(is_nearest(variance(&state, sample, 0), deviations, q, 2 * scale, 0));
				CHECK(is_nearest(variance(&state, sample, 1), deviations, q, scale, 1));
			}
		}
		state_free(&state);
	}
}

/* ---- quotients of leading bits ---- */

/* Whether the leading bits settle a sum by n; then it is the quotient of all bits. */
static int
quotient_is_right(const State *state, uint64_t n)
{
	GpuaggNatural magnitude;
	double whole;
	double result;
	int negative = gpuagg_natural_from_chunks(&magnitude, state->sum->chunk, state->sum->base,
											  state->sum->width);

	if (!gpuagg_float_sum_quotient(state->sum, n, &result))
		return 0;
	whole = gpuagg_natural_quotient(&magnitude, GPUAGG_MIN_EXPONENT, n, 1);
	CHECK(same(result, negative ? -whole : whole));
	return 1;
}

/* Sums beside n times what lies in the middle of two doubles, and others. */
static void
leading_quotients(void)
{
	int settled = 0;
	int left = 0;

	for (int k = 0; k < 200000; k++)
	{
		State state = state_make();
		uint64_t n = 1 + (next() >> (2 + next() % 62));
		int scale = (int) (next() % 1800) - 900;
		uint128 middle = (uint128) ((next() >> 10 | UINT64_C(1) << 53) | (next() % 4 != 0)) * n;

		for (int part = 0; part < 4; part++)
			deposit(&state, ldexp((double) (uint32_t) (middle >> (32 * part)), scale + 32 * part),
					1);
		if (next() % 2)
			deposit(&state, ldexp(next() % 2 ? 1 : -1, scale - (int) (next() % 150)), 1);
		if (next() % 4 == 0)
			deposit(&state, ldexp((double) (next() >> 11), scale + 60 - (int) (next() % 120)), 1);
		if (next() % 2)
			for (int i = 0; i < state.sum->width; i++)
				state.sum->chunk[i] = -state.sum->chunk[i];
		if (quotient_is_right(&state, n))
			settled++;
		else
			left++;
		state_free(&state);
	}
	CHECK(settled > 50000 && left > 50000);
}

/* ---- doubles of any size ---- */

static double
draw(int family)
{
	uint64_t r = next();
	double x;

	switch (family)
	{
		case 0: /* ordinary */
			return ((double) (r >> 11) / 9007199254740992.0 - 0.5) * 1000;
		case 1: /* any bits */
			x = from_bits(r);
			return isfinite(x) ? x : 1.0;
		case 2: /* subnormal */
			return from_bits(r & UINT64_C(0x800fffffffffffff));
		case 3: /* near the top */
			return from_bits((r & UINT64_C(0x800fffffffffffff)) | UINT64_C(0x7fe0000000000000));
		case 4: /* around 2^-485 */
			return ldexp(1 + (double) (r >> 12) * 0x1p-52, -487 + (int) (r % 4));
		case 5: /* around 2^511 */
			return ldexp(1 + (double) (r >> 12) * 0x1p-52, 509 + (int) (r % 4));
		case 6: /* all bits set, at both ends of what is split */
			return r & 1 ? nextafter(0x1p511, 0) : nextafter(0x1p-484, 0);
		case 7: /* zeros and small whole numbers */
			return (double) ((int) (r % 5) - 2) * (r & 64 ? 1 : -1);
		default: /* now and then something else */
			if (r % 997 == 0)
				return (double[]){NAN, INFINITY, -INFINITY, 1e300, 1e-300, DBL_TRUE_MIN}[r % 6];
			return (double) (r % 100000000) / 100.0;
	}
}

#define FAMILIES 9

static void
identities(void)
{
	for (int k = 0; k < 20000; k++)
	{
		double a = draw(k % 8);
		double pair[] = {a, -a};
		double thrice[] = {a, a, a};
		State two = state_of(pair, 2);
		State three = state_of(thrice, 3);
		double square = a * a;

		/* the variance of {a, -a} is a^2, that of a sample twice as much */
		CHECK(same(variance(&two, 0, 1), fabs(a)));
		CHECK(same(variance(&two, 0, 0), isinf(square) ? -3 : square));
		CHECK(same(variance(&two, 1, 0), isinf(fma(a, a, 0) * 2) ? -3 : fma(a * 2, a, 0)) ||
			  fabs(a) > 0x1p1022);
		CHECK(same(average(&two), 0));
		CHECK(same(average(&three), a));
		for (int how = 0; how < 4; how++)
			CHECK(same(variance(&three, how & 1, how >> 1), 0));

		/* values that are subtracted leave nothing behind */
		deposit(&three, -a, 1);
		deposit(&three, a, -1);
		deposit(&three, a, -1);
		CHECK(same(variance(&three, 0, 1), fabs(a)) && same(average(&three), 0));
		state_free(&two);
		state_free(&three);
	}
}

/* ---- arrays, merges, bytes ---- */

/* Whether two sums of squares are the same number: numbers have one form as bytes. */
static int
equal(const GpuaggFloatSum *a, const GpuaggFloatSum *b)
{
	uint8_t x[GPUAGG_FLOAT_MAX_BYTES];
	uint8_t y[GPUAGG_FLOAT_MAX_BYTES];
	GpuaggFloatSumFull none;
	size_t size;

	gpuagg_float_sum_init(gpuagg_float_sum_of(&none), 0, GPUAGG_CHUNKS);
	size = gpuagg_float_encode(gpuagg_float_sum_of(&none), a, x);
	return size == gpuagg_float_encode(gpuagg_float_sum_of(&none), b, y) && memcmp(x, y, size) == 0;
}

static void
arrays(int family, int n)
{
	double *x = malloc(sizeof(double) * (size_t) (n + 1));
	float *f = malloc(sizeof(float) * (size_t) (n + 1));
	double *wide = malloc(sizeof(double) * (size_t) (n + 1));
	GpuaggFloatSquaresFull fast;
	GpuaggFloatSquaresFull plain;
	GpuaggFloatSquaresFull parts;
	int64_t chunks[GPUAGG_SQUARE_CHUNKS] = {0};
	State state;
	State floats;

	for (int i = 0; i < n; i++)
	{
		x[i] = draw(family);
		if (family == 1)
		{
			uint32_t any = (uint32_t) next();

			memcpy(&f[i], &any, sizeof(any));
		}
		else
			f[i] = (float) x[i];
		wide[i] = (double) f[i];
	}
	state = state_of(x, n);
	floats = state_of(wide, n);

	gpuagg_float_sum_init(gpuagg_float_squares_of(&fast), 0, GPUAGG_SQUARE_CHUNKS);
	gpuagg_float_sum_init(gpuagg_float_squares_of(&plain), 0, GPUAGG_SQUARE_CHUNKS);
	gpuagg_float_squares_deposit_array(&fast, x, n);
	portable_array(&plain, x, n);
	CHECK(equal(gpuagg_float_squares_of(&fast), state.squares));
	CHECK(equal(gpuagg_float_squares_of(&plain), state.squares));

	/* in two parts, to the form of a reduction */
	for (int part = 0; part < 2; part++)
	{
		gpuagg_float_sum_init(gpuagg_float_squares_of(&parts), 0, GPUAGG_SQUARE_CHUNKS);
		gpuagg_float_squares_deposit_array(&parts, x + (part ? n / 3 : 0),
										   part ? n - n / 3 : n / 3);
		gpuagg_float_squares_merge_chunks(chunks, parts.chunk);
	}
	for (int i = 0; i + 1 < GPUAGG_SQUARE_CHUNKS; i++)
		if (chunks[i] < 0 || chunks[i] > UINT32_MAX)
			CHECK(!"a chunk is out of range");
	memcpy(parts.chunk, chunks, sizeof(chunks));
	CHECK(equal(gpuagg_float_squares_of(&parts), state.squares));

	gpuagg_float_sum_init(gpuagg_float_squares_of(&fast), 0, GPUAGG_SQUARE_CHUNKS);
	gpuagg_float_squares_deposit_floats(&fast, f, n);
	CHECK(equal(gpuagg_float_squares_of(&fast), floats.squares));

	/* all values subtracted again */
	for (int i = 0; i < n; i++)
		deposit(&state, x[i], -1);
	CHECK(state.sum->counts.n == 0 && variance(&state, 0, 0) == -2);
	gpuagg_float_sum_propagate(state.squares);
	for (int i = 0; i < state.squares->width; i++)
		if (state.squares->chunk[i] != 0)
			CHECK(!"something is left");

	state_free(&state);
	state_free(&floats);
	free(x);
	free(f);
	free(wide);
}

static void
bytes(int family, int n)
{
	State state = state_make();
	GpuaggFloatMoments read;
	uint8_t room[GPUAGG_FLOAT_MAX_BYTES];
	uint8_t again[GPUAGG_FLOAT_MAX_BYTES];
	GpuaggReader reader = {room, 0, 0};
	size_t size;

	for (int i = 0; i < n; i++)
		deposit(&state, draw(family), 1);
	size = gpuagg_float_encode(state.sum, state.squares, room);
	reader.left = size;
	CHECK(gpuagg_float_decode(&reader, &read) && reader.left == 0 && read.moments == 1);
	CHECK(gpuagg_float_encode(gpuagg_float_sum_of(&read.sum),
							  gpuagg_float_squares_of(&read.squares), again) == size &&
		  memcmp(room, again, size) == 0);

	/* a shorter prefix is no state; a change anywhere does no harm */
	for (size_t k = 0; k < size; k++)
	{
		reader = (GpuaggReader){room, k, 0};
		CHECK(!gpuagg_float_decode(&reader, &read));
	}
	for (int k = 0; k < 50; k++)
	{
		double result;
		float result4;

		memcpy(again, room, size);
		again[next() % size] = (uint8_t) next();
		reader = (GpuaggReader){again, size, 0};
		if (!gpuagg_float_decode(&reader, &read))
			continue;
		gpuagg_float_sum_merge(gpuagg_float_sum_of(&read.sum), state.sum);
		(void) gpuagg_float_sum_round64(gpuagg_float_sum_of(&read.sum), &result);
		(void) gpuagg_float_sum_round32(gpuagg_float_sum_of(&read.sum), &result4);
		(void) gpuagg_float_average(gpuagg_float_sum_of(&read.sum), &result);
		for (int how = 0; how < 4; how++)
			(void) gpuagg_float_variance(gpuagg_float_sum_of(&read.sum),
										 gpuagg_float_squares_of(&read.squares), how & 1, how >> 1,
										 &result);
		CHECK(1);
	}
	size = gpuagg_float_encode(state.sum, NULL, room);
	reader = (GpuaggReader){room, size, 0};
	CHECK(gpuagg_float_decode(&reader, &read) && reader.left == 0 && read.moments == 0);
	state_free(&state);
}

static void
special_values(void)
{
	static const struct
	{
		double x[2];
		double average;
		double variance;
	} cases[] = {
		{{INFINITY, 1}, INFINITY, NAN},
		{{-INFINITY, 1}, -INFINITY, NAN},
		{{INFINITY, -INFINITY}, NAN, NAN},
		{{NAN, 1}, NAN, NAN},
		{{-0.0, -0.0}, -0.0, 0},
		{{0.0, -0.0}, 0.0, 0},
		{{DBL_MAX, DBL_MAX}, DBL_MAX, 0},
		{{DBL_TRUE_MIN, 0}, 0.0, 0}, /* a tie, to even */
		{{-DBL_TRUE_MIN, 0}, -0.0, 0},
		{{DBL_TRUE_MIN, 2 * DBL_TRUE_MIN}, 2 * DBL_TRUE_MIN, 0},
		{{1, 1 + DBL_EPSILON}, 1, 0x1p-106},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		State state = state_of(cases[i].x, 2);

		CHECK(same(average(&state), cases[i].average));
		CHECK(same(variance(&state, 0, 0), cases[i].variance));
		state_free(&state);
	}
}

/*
 * An average in the middle between two doubles, and one that a tiny value moves off it,
 * however tiny: (6 + 6 * 2^-53 + least) / 6.
 */
static void
averages_beside_a_tie(void)
{
	for (int k = 0; k <= 1074; k++)
		for (int sign = -1; sign <= 1; sign++)
		{
			double least = k == 0 ? 0 : ldexp(sign, -k);
			double x[] = {4, 2, 0x6p-53, least, 0, 0};
			State state;

			if (k > 0 && k < 54)
				continue;
			state = state_of(x, 6);
			CHECK(same(average(&state), least > 0 ? 1 + DBL_EPSILON : 1));
			state_free(&state);
		}
}

/* Counts and sums that no values have. */
static void
impossible_bytes(void)
{
	static const struct
	{
		GpuaggFloatCounts counts;
		int place; /* of a chunk of the sum */
		int64_t chunk;
		int square_place;
		int64_t square;
		int good;
	} cases[] = {
		{{1, 0, 0, 0, 0}, 33, 1, 66, 1, 1},
		{{0, 0, 0, 0, 0}, 33, 1, 66, 1, 0},
		{{0, 0, 0, 0, 0}, 33, 0, 66, 1, 0},
		{{1, 2, 0, 0, 0}, 33, 0, 66, 0, 0},
		{{2, 1, 1, 1, 0}, 33, 0, 66, 0, 0},
		{{2, 1, 0, 0, 1}, 33, 1, 66, 0, 0},
		{{-1, 0, 0, 0, 0}, 33, 0, 66, 0, 0},
		{{INT64_MAX, 0, 0, 0, 0}, 33, 0, 66, 0, 0},
		{{1, 0, 0, 0, 0}, 66, 1, 66, 1, 1},
		{{1, 0, 0, 0, 0}, 66, 2, 66, 1, 0},
		{{1, 0, 0, 0, 0}, 66, -2, 66, 1, 0},
		{{1 << 20, 0, 0, 0, 0}, 66, 64, 66, 1, 1},
		{{INT64_C(1) << 60, 0, 0, 0, 0}, 66, INT64_C(1) << 46, 66, 1, 1},
		{{INT64_C(1) << 60, 0, 0, 0, 0}, 66, (INT64_C(1) << 46) + 2, 66, 1, 0},
		{{1, 0, 0, 0, 0}, 33, 1, 66, -1, 0},
		{{1, 0, 0, 0, 0}, 33, 1, 133, 2, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		GpuaggFloatMoments read;
		GpuaggFloatSumFull sum;
		GpuaggFloatSquaresFull squares;
		uint8_t room[GPUAGG_FLOAT_MAX_BYTES];
		GpuaggReader reader = {room, 0, 0};

		gpuagg_float_sum_init(gpuagg_float_sum_of(&sum), 0, GPUAGG_CHUNKS);
		gpuagg_float_sum_init(gpuagg_float_squares_of(&squares), 0, GPUAGG_SQUARE_CHUNKS);
		sum.counts = cases[i].counts;
		sum.chunk[cases[i].place] = cases[i].chunk;
		squares.chunk[cases[i].square_place] = cases[i].square;
		reader.left = gpuagg_float_encode(gpuagg_float_sum_of(&sum),
										  gpuagg_float_squares_of(&squares), room);
		CHECK(gpuagg_float_decode(&reader, &read) == cases[i].good);
	}
}

int
main(void)
{
	static const int sizes[] = {0,	 1,	  2,	3,	  5,	31,	  32,	33,	 511,
								512, 513, 2047, 2048, 2049, 4097, 5000, 9000};

	whole_numbers();
	leading_quotients();
	identities();
	for (int family = 0; family < FAMILIES; family++)
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		{
			arrays(family, sizes[s]);
			if (sizes[s] < 40)
				bytes(family, sizes[s]);
		}
	special_values();
	averages_beside_a_tie();
	impossible_bytes();
	return check_summary();
}
