/*
 * float_sum_test.c
 *	  The exact accumulator against a plain big integer, seeded.
 *
 * The oracle adds each double bit by bit into a two's complement integer of
 * 2304 bits and rounds it by definition; it shares no code with the library.
 */
#include "common/float_sum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "random.h"

#define WORDS 36

static int passed;
static int failed;

static void
check(int ok, const char *what, long detail)
{
	if (ok)
		passed++;
	else
	{
		failed++;
		if (failed <= 20)
			printf("not ok: %s (%ld)\n", what, detail);
	}
}

static double
from_bits(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static uint64_t
to_bits(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

/* two's complement, least word first, in units of 2^-1074 */
typedef struct Big
{
	uint64_t w[WORDS];
} Big;

static void
big_negate(Big *b)
{
	int carry = 1;

	for (int i = 0; i < WORDS; i++)
	{
		b->w[i] = ~b->w[i] + carry;
		carry = carry && b->w[i] == 0;
	}
}

static void
big_add(Big *b, double x)
{
	uint64_t bits = to_bits(x);
	int e = (int) (bits >> 52) & 0x7ff;
	uint64_t m = bits & ((UINT64_C(1) << 52) - 1);
	Big t = {{0}};
	unsigned __int128 carry = 0;

	if (e > 0)
		m |= UINT64_C(1) << 52;
	else
		e = 1;
	for (int k = 0; k < 53; k++)
		if (m >> k & 1)
			t.w[(e - 1 + k) / 64] |= UINT64_C(1) << ((e - 1 + k) % 64);
	if (bits >> 63)
		big_negate(&t);
	for (int i = 0; i < WORDS; i++)
	{
		carry += (unsigned __int128) b->w[i] + t.w[i];
		b->w[i] = (uint64_t) carry;
		carry >>= 64;
	}
}

static int
big_bit(const Big *b, int k)
{
	return b->w[k / 64] >> (k % 64) & 1;
}

/* returns 0 on overflow */
static int
big_round(Big b, int precision, int min_bit, int max_exponent, double *result)
{
	int negative = b.w[WORDS - 1] >> 63;
	int top = WORDS * 64 - 1;
	int low;
	uint64_t m = 0;

	if (negative)
		big_negate(&b);
	while (top >= 0 && !big_bit(&b, top))
		top--;
	if (top < 0)
	{
		*result = 0;
		return 1;
	}
	low = top - precision + 1;
	if (low < min_bit)
		low = min_bit;
	for (int k = top; k >= low; k--)
		m = m << 1 | (uint64_t) big_bit(&b, k);
	if (low > 0 && big_bit(&b, low - 1))
	{
		int sticky = 0;

		for (int k = 0; k < low - 1; k++)
			sticky |= big_bit(&b, k);
		if (sticky || (m & 1))
			m++;
	}
	if (m >> precision)
	{
		m >>= 1;
		low++;
	}
	/* m has bits up to precision - 1, weight of bit 0 is 2^(low - 1074) */
	if (m >> (precision - 1) && low - 1074 + precision > max_exponent)
		return 0;
	*result = ldexp((double) m, low - 1074) * (negative ? -1 : 1);
	return 1;
}

/* a finite double of one of several families */
static double
draw(int family, int i)
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
			return from_bits(r & (UINT64_C(0x800fffffffffffff)));
		case 3: /* near the top */
			return from_bits((r & UINT64_C(0x800fffffffffffff)) | UINT64_C(0x7fd0000000000000));
		case 4: /* cancelling pairs */
			return (i & 1) ? -from_bits((uint64_t) (i / 2 + 1) * UINT64_C(0x000fffff00000fff) &
										UINT64_C(0x7fcfffffffffffff))
						   : from_bits((uint64_t) (i / 2 + 1) * UINT64_C(0x000fffff00000fff) &
									   UINT64_C(0x7fcfffffffffffff));
		case 5: /* growing magnitudes */
			return ldexp((double) (int64_t) r, (i % 1900) - 1000);
		case 6: /* a sentinel among small ones */
			return i == 0 ? 1e300 : (double) (r >> 40) * 1e-9;
		case 7: /* around 2^1011 */
			return from_bits(UINT64_C(0x7f20000000000000) - 1 + r % 3);
		case 8: /* zeros */
			return (r & 1) ? -0.0 : 0.0;
		case 9: /* money-like */
			return (double) (r % 100000000) / 100.0;
		default: /* ties: halves of an ulp */
			return (i & 1) ? 1.0 : 0x1p-53;
	}
}

static void
compare(const GpuaggFloatSum *acc, const Big *big, const char *what, long detail)
{
	double got = 0;
	double want = 0;
	float gotf = 0;
	int ok;

	ok = big_round(*big, 53, 0, 1024, &want);
	if (want == 0)
		want = acc->counts.n == acc->counts.n_negzero ? -0.0 : 0.0;
	if (gpuagg_float_sum_round64(acc, &got) == GPUAGG_ROUNDED_OVERFLOW)
		check(!ok, what, detail);
	else
		check(ok && to_bits(got) == to_bits(want), what, detail);

	want = 0;
	ok = big_round(*big, 24, 1074 - 149, 128, &want);
	if (gpuagg_float_sum_round32(acc, &gotf) == GPUAGG_ROUNDED_OVERFLOW)
		check(!ok, "float32", detail);
	else
		check(ok && (double) gotf == want, "float32", detail);
}

/* an accumulator that widens as an aggregate's state does */
static GpuaggFloatSum *
deposit(GpuaggFloatSum *acc, double x, int sign)
{
	int base;
	int width;

	while (!gpuagg_float_sum_deposit(acc, x, sign))
	{
		if (gpuagg_float_sum_window_for(acc, gpuagg_float_sum_place(x), GPUAGG_TOUCHED,
										GPUAGG_CHUNKS, &base, &width))
			acc->base = (int16_t) base;
		else
		{
			GpuaggFloatSum *wide = malloc(GPUAGG_FLOAT_SUM_SIZE(width));

			gpuagg_float_sum_init(wide, base, width);
			gpuagg_float_sum_widen(wide, acc);
			free(acc);
			acc = wide;
		}
	}
	return acc;
}

static void
one_case(int family, int n)
{
	double *x = malloc(sizeof(double) * (size_t) (n + 1));
	Big big = {{0}};
	GpuaggFloatSumFull full;
	GpuaggFloatSumFull half;
	GpuaggFloatSum *acc = malloc(GPUAGG_FLOAT_SUM_SIZE(GPUAGG_SMALL_WIDTH));
	long detail = family * 1000000L + n;
	int negzero = 0;

	for (int i = 0; i < n; i++)
	{
		x[i] = draw(family, i);
		big_add(&big, x[i]);
		negzero += x[i] == 0 && signbit(x[i]);
	}

	gpuagg_float_sum_init(acc, 0, GPUAGG_SMALL_WIDTH);
	for (int i = 0; i < n; i++)
		acc = deposit(acc, x[i], 1);
	compare(acc, &big, "deposit", detail);

	gpuagg_float_sum_init(gpuagg_float_sum_of(&full), 0, GPUAGG_CHUNKS);
	gpuagg_float_sum_deposit_array(&full, x, n);
	compare(gpuagg_float_sum_of(&full), &big, "array", detail);
	check(full.counts.n == n && full.counts.n_negzero == negzero, "counts", detail);

	/* in two parts, merged */
	gpuagg_float_sum_init(gpuagg_float_sum_of(&full), 0, GPUAGG_CHUNKS);
	gpuagg_float_sum_init(gpuagg_float_sum_of(&half), 0, GPUAGG_CHUNKS);
	gpuagg_float_sum_deposit_array(&full, x, n / 3);
	gpuagg_float_sum_deposit_array(&half, x + n / 3, n - n / 3);
	gpuagg_float_sum_merge(gpuagg_float_sum_of(&half), gpuagg_float_sum_of(&full));
	compare(gpuagg_float_sum_of(&half), &big, "merge", detail);

	/* the propagated form is unique */
	gpuagg_float_sum_init(gpuagg_float_sum_of(&full), 0, GPUAGG_CHUNKS);
	for (int i = n; i-- > 0;)
		(void) gpuagg_float_sum_deposit(gpuagg_float_sum_of(&full), x[i], 1);
	gpuagg_float_sum_propagate(gpuagg_float_sum_of(&full));
	check(memcmp(full.chunk, half.chunk, sizeof(full.chunk)) == 0, "unique form", detail);

	/* everything taken away again leaves nothing */
	for (int i = 0; i < n; i++)
		acc = deposit(acc, x[i], -1);
	gpuagg_float_sum_propagate(acc);
	{
		int first;
		int last;

		gpuagg_float_sum_extent(acc, &first, &last);
		check(first > last && acc->counts.n == 0 && acc->counts.n_negzero == 0, "subtract", detail);
	}
	free(acc);
	free(x);
}

/* Chunks that have not been propagated, of any size that they may have, with zeros around them. */
static void
few_chunks(int n)
{
	int n_zero = (int) (next() % 3);
	int width = n + n_zero + (int) (next() % 3);
	int base = (int) (next() % 55);
	Big big = {{0}};
	GpuaggFloatSumFull full;
	GpuaggFloatSum *acc = gpuagg_float_sum_of(&full);

	gpuagg_float_sum_init(acc, base, width);
	for (int i = n_zero; i < n_zero + n; i++)
	{
		int64_t chunk = (int64_t) next() >> (1 + next() % 63);

		/* around a power of two */
		if (next() % 4 == 0)
			chunk = (INT64_C(1) << next() % 62) - 1 + (int64_t) (next() % 3);
		acc->chunk[i] = next() % 2 ? chunk : -chunk;
		big_add(&big, ldexp((double) (acc->chunk[i] >> 32), 32 * (base + i + 1) - 1074));
		big_add(&big, ldexp((double) (uint32_t) acc->chunk[i], 32 * (base + i) - 1074));
	}
	acc->counts.n = 1;
	compare(acc, &big, "chunks", n);
}

static void
special_values(void)
{
	static const struct
	{
		double x[3];
		double want;
	} cases[] = {
		{{INFINITY, 1, 1}, INFINITY},	 {{-INFINITY, 1, 1e308}, -INFINITY},
		{{INFINITY, -INFINITY, 1}, NAN}, {{NAN, INFINITY, 1}, NAN},
		{{1e308, 1e308, -1e308}, 1e308}, {{-0.0, -0.0, -0.0}, -0.0},
		{{-0.0, 0.0, -0.0}, 0.0},		 {{1, -1, -0.0}, 0.0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		GpuaggFloatSumFull full;
		double got;

		gpuagg_float_sum_init(gpuagg_float_sum_of(&full), 0, GPUAGG_CHUNKS);
		gpuagg_float_sum_deposit_array(&full, cases[i].x, 3);
		gpuagg_float_sum_round64(gpuagg_float_sum_of(&full), &got);
		check(isnan(cases[i].want) ? isnan(got) : to_bits(got) == to_bits(cases[i].want), "special",
			  (long) i);
	}
}

int
main(void)
{
	static const int sizes[] = {1, 2, 3, 31, 32, 33, 511, 512, 513, 1024, 1025, 5000};

	for (int family = 0; family <= 10; family++)
	{
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
			one_case(family, sizes[s]);
		for (int k = 0; k < 200; k++)
			one_case(family, 1 + (int) (next() % 40));
		one_case(family, 40000);
	}
	for (int k = 0; k < 50000; k++)
		few_chunks(1 + k % 6);
	special_values();
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0;
}
