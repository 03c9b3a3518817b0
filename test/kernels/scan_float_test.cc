/*
 * scan_float_test.cc
 *	  gpu_scan and gpu_segmented_reduce of floats: every row against the oracle,
 *	  averages too, NULLs, heads, carried states, batches, windows, both ways of
 *	  summing, ties by construction.
 */
#include "float_case.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define TILE 3840 /* rows that a block scans at once */

using namespace float_case;

namespace
{

enum Nulls
{
	NO_BITMAP,
	NO_NULLS,
	ALL_NULL,
	NULLS_FIRST,
	SOME_NULL,
	NNULLS
};

enum Heads
{
	NO_HEADS_BITMAP,
	NO_HEADS,
	ALL_HEADS,
	FIRST_HEAD,
	TILE_HEADS, /* next to the edges of tiles */
	MANY_HEADS,
	SOME_HEADS,
	FEW_HEADS,
	NHEADS
};

enum Carry
{
	CARRY_NULL, /* no state_in */
	CARRY_NONE,
	CARRY_SMALL,
	CARRY_NEGZERO,
	CARRY_INFINITE,
	CARRY_HUGE,
	NCARRIES
};

/* Bits past the last row are set, and mean nothing. */
Bitmap
make_validity(Nulls nulls, uint64_t n, Random &random)
{
	Bitmap bitmap;

	if (nulls == NO_BITMAP || n == 0)
		return bitmap;
	bitmap.assign((n + 63) / 64, ~UINT64_C(0));
	for (uint64_t i = 0; i < n; i++)
		if (nulls == ALL_NULL || (nulls == NULLS_FIRST && i < n / 2) ||
			(nulls == SOME_NULL && random.below(3) == 0))
			bitmap[i / 64] &= ~(UINT64_C(1) << (i % 64));
	return bitmap;
}

Bitmap
make_heads(Heads heads, uint64_t n, Random &random)
{
	static const int one_in[] = {0, 0, 1, 0, 0, 3, 40, 3000};
	Bitmap bitmap;

	if (heads == NO_HEADS_BITMAP || n == 0)
		return bitmap;
	bitmap.assign((n + 63) / 64, 0);
	if (n % 64 != 0)
		bitmap.back() = ~UINT64_C(0) << (n % 64);
	for (uint64_t i = 0; i < n; i++)
	{
		uint64_t at = i % TILE;

		if (heads == FIRST_HEAD	  ? i == 0
			: heads == TILE_HEADS ? at <= 1 || at == TILE - 1
			: one_in[heads] > 0	  ? random.below((uint64_t) one_in[heads]) == 0
								  : false)
			set_bit(bitmap, i);
	}
	return bitmap;
}

GpuScanState
make_carry(Carry carry, double like, Random &random)
{
	Oracle oracle;

	oracle_clear(&oracle);
	switch (carry)
	{
		case CARRY_SMALL:
			for (int i = 0; i < 5; i++)
				oracle_add(&oracle, isfinite(like) ? -like : 1);
			break;
		case CARRY_NEGZERO:
			oracle_add(&oracle, -0.0);
			break;
		case CARRY_INFINITE:
			oracle_add(&oracle, random.below(2) ? INFINITY : -INFINITY);
			break;
		case CARRY_HUGE:
			oracle_add(&oracle, -1e300);
			oracle_add(&oracle, -1e-300);
			break;
		default:
			break;
	}
	return state_of(oracle);
}

/* Completes a case, scans and checks it, sums sometimes in batches too. */
void
test_column(Case c, Nulls nulls, Heads heads, Carry carry, int window_off, Random &random,
			const std::string &what)
{
	uint64_t n = c.values.size();
	int window;

	if (c.kind == GPUAGG_FLOAT32)
		for (double &x : c.values)
			x = (double) (float) x;
	c.validity = make_validity(nulls, n, random);
	c.heads = make_heads(heads, n, random);
	c.has_carry = carry != CARRY_NULL;
	c.carry = make_carry(carry, n > 10 ? c.values[10] : 3, random);
	window = choose_window(c) + window_off;
	c.window = window < 0 ? 0 : window >= GPUAGG_CHUNKS ? GPUAGG_CHUNKS - 1 : window;
	c.what = text("scan kind %d%s, %s, %llu rows, nulls %d, heads %d%s, carry %d, window %d%+d%s",
				  c.kind, c.averages ? " averages" : "", what.c_str(), (unsigned long long) n,
				  nulls, heads, c.exclusive ? ", exclusive" : "", carry, c.window - window_off,
				  window_off, c.want_status ? "" : ", no status");

	Output output = run_scan(c);

	check(c, output);
	if (c.averages)
		return;
	if (n == 0 || !c.heads.empty())
		check_segments(c, output.state);
	if (n > 40 && n < 20000 && random.below(4) == 0 && output.state.out_of_window == 0)
		check_batches(c, output, random);
}

/* A column with random choices. */
void
test_somehow(const std::vector<double> &values, const std::string &what, bool plain, Random &random)
{
	Case c = {};
	Nulls nulls = (Nulls) random.below(NNULLS);
	Heads heads = (Heads) random.below(NHEADS);
	Carry carry = (Carry) random.below(NCARRIES);

	c.kind = random.below(3) ? GPUAGG_FLOAT64 : GPUAGG_FLOAT32;
	c.averages = c.kind == GPUAGG_FLOAT64 && random.below(2);
	c.exclusive = random.below(2);
	c.want_status = random.below(4) != 0;
	c.offset = (int) random.below(3);
	c.values = values;
	if (plain)
	{
		nulls = random.below(2) ? NO_BITMAP : SOME_NULL;
		heads = random.below(2) ? NO_HEADS_BITMAP : heads;
		carry = random.below(2) ? CARRY_NULL : CARRY_SMALL;
	}
	test_column(c, nulls, heads, carry, random.below(4) ? 0 : random.between(-3, 1), random, what);
}

void
test_families(uint64_t n, Random &random)
{
	for (const FloatFamily &family : float_families)
	{
		std::vector<double> values(n);

		if (n > (1 << 22) && strcmp(family.name, "normal") != 0)
			continue;
		for (uint64_t i = 0; i < n; i++)
			values[i] = family.value(random, i, n);
		test_somehow(values, family.name, true, random);
		if (n <= 1 << 20)
			test_somehow(values, family.name, false, random);
	}
}

double
random_double(Random &random, int exponent)
{
	double x = ldexp((double) (random.next() >> 11 | UINT64_C(1) << 52), exponent - 52);

	return random.below(2) ? x : -x;
}

/* Sums half way between two doubles or floats, with a bit far below on either side or none. */
std::vector<double>
half_ways(uint64_t n, int precision, int spread, Random &random)
{
	std::vector<double> values;

	while (values.size() < n)
	{
		int exponent = random.between(-20, 20);
		double big = random_double(random, exponent);
		double half = ldexp(random.below(2) ? 1 : -1, exponent - precision);
		double tiny = ldexp(random.below(2) ? 1 : -1,
							exponent - precision - random.between(1, spread));

		if (precision == 24)
			big = (double) (float) big;
		if (random.below(4) == 0)
			big = ldexp(1, exponent); /* below it, neighbours are closer */
		for (double x : {big, half, tiny, -tiny, -tiny, half, -half, tiny, -half, -big})
			values.push_back(x);
	}
	values.resize(n);
	return values;
}

/* Stretches of narrow and of wide spread: tiles are summed in both ways. */
std::vector<double>
changing_spread(uint64_t n, Random &random)
{
	static const int spreads[] = {0, 10, 40, 70, 100, 140};
	std::vector<double> values;

	while (values.size() < n)
	{
		uint64_t length = 1 + random.below(2 * TILE);
		int spread = spreads[random.below(6)];
		int low = random.between(-70, 70 - spread);

		for (uint64_t i = 0; i < length; i++)
			values.push_back(random_double(random, random.between(low, low + spread)));
	}
	values.resize(n);
	return values;
}

/* Tiny values, then large ones that cancel again and again. */
std::vector<double>
cancelling_to_tail(uint64_t n, Random &random)
{
	std::vector<double> values;

	for (int i = 0; i < 3; i++)
		values.push_back(random_double(random, -110 - 20 * i));
	while (values.size() < n)
	{
		double a = (double) random.between(1, INT_MAX) * 0x1p40;
		double b = (double) random.between(1, INT_MAX) * 0x1p70;

		for (double x : {a, b, -a, -b})
			values.push_back(x);
		if (random.below(50) == 0)
			values.push_back(0x1p30);
	}
	values.resize(n);
	return values;
}

/* Large values, then small ones. */
std::vector<double>
large_then_small(uint64_t n, int down, Random &random)
{
	std::vector<double> values;

	for (uint64_t i = 0; i < n; i++)
		values.push_back(random_double(random, i < 3 ? 60 : 60 - down));
	return values;
}

/*
 * Averages that are half way between two doubles, or beside that: of one partition for each, whose
 * first value is such a point times the number of its values, the others zeros, or small and opposite.
 */
void
test_average_ties(Random &random)
{
	for (int exponent : {0, -300, -1022, -1040, 300})
	{
		Case c = {};
		uint64_t heads = 0;

		while (c.values.size() < 2 * TILE)
		{
			uint64_t count = 2 + 2 * random.below(20);
			/* 53 bits and a half, of fewer below the least normal number */
			int bits = exponent < -1022 ? 53 + exponent + 1022 : 53;
			uint64_t mantissa = (random.next() >> (64 - bits) | UINT64_C(1) << (bits - 1)) * 2 + 1;
			double sign = random.below(2) ? 1 : -1;
			uint64_t sum = mantissa * (count / 2);
			uint64_t low = sum & 0xffffffff;
			double least = sign * ldexp(1, exponent - bits + 1);

			while (c.heads.size() * 64 <= c.values.size())
				c.heads.push_back(0);
			set_bit(c.heads, c.values.size());
			heads++;
			for (uint64_t i = 0; i < count; i++)
				c.values.push_back(0);

			double *values = &c.values[c.values.size() - count];

			values[0] = (double) (sum - low) * least;
			values[1] = (double) low * least;
			if (random.below(3) == 0 && exponent > -900 && count > 2)
				values[2] = ldexp(random.below(2) ? 1 : -1, exponent - 120);
		}
		while (c.heads.size() * 64 < c.values.size())
			c.heads.push_back(0);
		c.kind = GPUAGG_FLOAT64;
		c.averages = true;
		c.want_status = true;
		c.window = choose_window(c);
		c.what = text("averages half way, 2^%d, %llu partitions", exponent,
					  (unsigned long long) heads);
		check(c, run_scan(c));
	}
}

void
test_constructed(uint64_t n, Random &random)
{
	for (int precision : {24, 53})
		for (int spread : {5, 60, 130})
			test_somehow(half_ways(n, precision, spread, random),
						 text("half ways %d, %d", precision, spread), true, random);
	for (int i = 0; i < 3; i++)
		test_somehow(changing_spread(n, random), "changing spread", i == 0, random);
	test_somehow(cancelling_to_tail(n, random), "cancelling to a tail", true, random);
	for (int down : {20, 60, 80, 100})
		test_somehow(large_then_small(n, down, random), text("large, then 2^%d less", down), true,
					 random);
}

/* Values that just fit the window, and that just do not, as a row and as the carry. */
void
test_window_edges()
{
	const struct
	{
		int place; /* of the value's only bit, above the window's lowest */
		bool fits;
	} edges[] = {{-1, false},
				 {0, true},
				 {GPUAGG_SUM256_VALUE_BITS - 1, true},
				 {GPUAGG_SUM256_VALUE_BITS, false}};

	for (int window : {1, 2, 20, 40, 58})
		for (const auto &edge : edges)
			for (double sign : {1.0, -1.0})
				for (bool as_carry : {false, true})
				{
					double edge_value = sign * ldexp(1.0, 32 * window + edge.place - 1074);
					Oracle carried;
					Case c = {};

					oracle_clear(&carried);
					c.values.assign(40, ldexp(1.0, 32 * window + 5 - 1074));
					if (as_carry)
						oracle_add(&carried, edge_value);
					else
						c.values[17] = edge_value;
					c.kind = GPUAGG_FLOAT64;
					c.window = window;
					c.has_carry = true;
					c.carry = state_of(carried);
					c.want_status = true;
					c.what = text("scan float64, %s at place %d of window %d, sign %g",
								  as_carry ? "carry" : "value", edge.place, window, sign);

					Output output = run_scan(c);

					/* -2^223 is the lowest number of 224 bits: as a carry it does fit */
					if (as_carry && sign < 0 && edge.place == GPUAGG_SUM256_VALUE_BITS)
						continue;
					report(output.state.out_of_window == !edge.fits, c.what);
					if (edge.fits)
						check(c, output);
				}
}

/* A value that does not fit is reported though its segment has ended long before. */
void
test_misfit_segment(Random &random)
{
	Case c = {};

	c.kind = GPUAGG_FLOAT64;
	c.values.assign(3 * TILE, 1.0);
	c.values[TILE / 2] = 1e300;
	c.heads = make_heads(MANY_HEADS, c.values.size(), random);
	c.window = 31;
	c.what = "scan float64, misfit in a segment";
	report(run_scan(c).state.out_of_window == 1, c.what);
}

} // namespace

void
scan_float_tests(const Options &options)
{
	Random random(options.seed * 1000003 + 77);
	std::vector<uint64_t> sizes = {0, 1, 14, 15, 16, 480, TILE - 1, TILE, TILE + 1, 3 * TILE + 7};

	if (options.small)
		sizes = {1, TILE + 1};
	if (!options.simulated && !options.small)
		sizes.insert(sizes.end(), {100003, (1 << 20) + 1, (1 << 24) + 3});

	test_window_edges();
	test_misfit_segment(random);
	test_average_ties(random);
	for (uint64_t n : sizes)
	{
		test_families(n, random);
		if (n > 0 && n <= 1 << 20)
			test_constructed(n, random);
	}
	/* more tiles than blocks */
	for (int i = 0; i < (options.small ? 1 : 3); i++)
		test_constructed((20 + random.below(10)) * TILE + random.below(TILE), random);
	if (options.large)
		test_families((UINT64_C(1) << 27) + 5, random);
}
