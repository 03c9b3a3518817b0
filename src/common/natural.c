/*
 * natural.c
 *	  Natural numbers of a bounded size, and rounding of their quotients.
 *
 * Of the bits below a number's leading ones it only matters whether they are all zero:
 * floor(a / 2^k / d) depends on a only through floor(a / 2^k), and the same is true of
 * the floor of a root.  So a quotient takes the same few steps however long the number.
 */
#include "common/natural.h"

#include <math.h>

typedef unsigned __int128 uint128;

#define LEADING 5 /* limbs of a quotient: 320 bits, of which divisors take 124 */

/* A number's leading bits: bits * 2^exponent, and if inexact less than a unit more. */
typedef struct Leading
{
	uint64_t limb[LEADING];
	int exponent;
	int inexact;
} Leading;

static void
trim(GpuaggNatural *a)
{
	while (a->width > 0 && a->limb[a->width - 1] == 0)
		a->width--;
}

int
gpuagg_natural_from_chunks(GpuaggNatural *to, const int64_t *chunk, int base, int width)
{
	int64_t carry = 0;
	int digits;
	int negative;

	while (width > 0 && chunk[width - 1] == 0)
		width--;
	while (width > 0 && chunk[0] == 0)
	{
		chunk++;
		base++;
		width--;
	}
	to->base = base >> 1;
	to->width = 0;
	if (width == 0)
		return 0;

	/* digits of two's complement: the chunks', two for their carries, and a sign */
	digits = (base & 1) + width + 3;
	for (int k = 0; k < digits; k++)
	{
		int i = k - (base & 1);
		int64_t sum = carry + (i >= 0 && i < width ? chunk[i] : 0);

		carry = sum >> 32;
		if (k & 1)
			to->limb[to->width++] |= (uint64_t) (uint32_t) sum << 32;
		else
			to->limb[to->width] = (uint32_t) sum;
	}
	negative = carry < 0;
	if (digits & 1)
		to->limb[to->width++] |= negative ? UINT64_C(0xffffffff) << 32 : 0;

	if (negative)
	{
		int one = 1;

		for (int i = 0; i < to->width; i++)
		{
			to->limb[i] = ~to->limb[i] + (uint64_t) one;
			one = one && to->limb[i] == 0;
		}
	}
	trim(to);
	return negative;
}

void
gpuagg_natural_multiply(GpuaggNatural *a, uint64_t factor)
{
	uint64_t carry = 0;

	for (int i = 0; i < a->width; i++)
	{
		uint128 product = (uint128) a->limb[i] * factor + carry;

		a->limb[i] = (uint64_t) product;
		carry = (uint64_t) (product >> 64);
	}
	if (carry != 0)
		a->limb[a->width++] = carry;
	trim(a);
}

void
gpuagg_natural_square(GpuaggNatural *to, const GpuaggNatural *a)
{
	to->base = 2 * a->base;
	to->width = 2 * a->width;
	for (int i = 0; i < to->width; i++)
		to->limb[i] = 0;
	for (int i = 0; i < a->width; i++)
	{
		uint64_t carry = 0;

		for (int j = 0; j < a->width; j++)
		{
			uint128 sum = (uint128) a->limb[i] * a->limb[j] + to->limb[i + j] + carry;

			to->limb[i + j] = (uint64_t) sum;
			carry = (uint64_t) (sum >> 64);
		}
		to->limb[i + a->width] = carry;
	}
	trim(to);
}

int
gpuagg_natural_subtract(GpuaggNatural *a, const GpuaggNatural *b)
{
	int shift = a->base - b->base;
	int offset;
	uint64_t borrow = 0;

	if (b->width == 0)
		return 1;
	if (b->base + b->width > a->base + a->width)
		return 0;
	if (shift > 0)
	{
		for (int i = a->width - 1; i >= 0; i--)
			a->limb[i + shift] = a->limb[i];
		for (int i = 0; i < shift; i++)
			a->limb[i] = 0;
		a->base = b->base;
		a->width += shift;
	}
	offset = b->base - a->base;
	for (int i = 0; i < b->width || (borrow != 0 && offset + i < a->width); i++)
	{
		uint128 taken = (uint128) (i < b->width ? b->limb[i] : 0) + borrow;
		uint64_t limb = a->limb[offset + i];

		a->limb[offset + i] = limb - (uint64_t) taken;
		borrow = limb < taken;
	}
	trim(a);
	return borrow == 0;
}

/* The leading 320 bits of a number that is not 0; the first is 1. */
static Leading
leading_of(const GpuaggNatural *a, int exponent)
{
	Leading lead;
	int shift = __builtin_clzll(a->limb[a->width - 1]);
	int first = a->width - LEADING; /* limb that is taken; may be negative */

	lead.exponent = exponent + 64 * (a->base + first) - shift;
	lead.inexact = 0;
	for (int k = 0; k < LEADING; k++)
	{
		int i = first + k;
		uint64_t limb = i >= 0 ? a->limb[i] : 0;
		uint64_t below = i >= 1 ? a->limb[i - 1] : 0;

		lead.limb[k] = shift == 0 ? limb : limb << shift | below >> (64 - shift);
	}
	if (first > 0)
		lead.inexact = (a->limb[first - 1] & (~UINT64_C(0) >> shift)) != 0;
	for (int i = 0; i < first - 1 && !lead.inexact; i++)
		lead.inexact = a->limb[i] != 0;
	return lead;
}

static void
divide(Leading *lead, uint64_t divisor)
{
	uint64_t rest = 0;

	if (divisor == 1)
		return;
	for (int i = LEADING - 1; i >= 0; i--)
	{
		uint128 part = (uint128) rest << 64 | lead->limb[i];

		lead->limb[i] = (uint64_t) (part / divisor);
		rest = (uint64_t) (part % divisor);
	}
	lead->inexact |= rest != 0;
}

/* The quotient's leading bits: at least 196, the 320 of a less at most 124 of the divisors. */
static Leading
quotient(const GpuaggNatural *a, int exponent, uint64_t d1, uint64_t d2)
{
	Leading lead = leading_of(a, exponent);

	if ((d1 | d2) >> 32 == 0)
		divide(&lead, d1 * d2);
	else
	{
		divide(&lead, d1);
		divide(&lead, d2);
	}
	return lead;
}

/* Drops `drop` low bits; returns the rest, which is at most 128 bits. */
static uint128
cut(Leading *lead, int drop)
{
	int i = drop / 64;
	int shift = drop % 64;
	uint64_t part[3];

	for (int k = 0; k < i; k++)
		lead->inexact |= lead->limb[k] != 0;
	for (int k = 0; k < 3; k++)
		part[k] = i + k < LEADING ? lead->limb[i + k] : 0;
	lead->exponent += drop;
	if (shift == 0)
		return (uint128) part[1] << 64 | part[0];
	lead->inexact |= (part[0] & ((UINT64_C(1) << shift) - 1)) != 0;
	return (uint128) (part[1] >> shift | part[2] << (64 - shift)) << 64 |
		   (part[0] >> shift | part[1] << (64 - shift));
}

/* The number's length in bits. */
static int
bit_length(const Leading *lead)
{
	int top = LEADING - 1;

	while (lead->limb[top] == 0)
		top--;
	return 64 * top + 64 - __builtin_clzll(lead->limb[top]);
}

/*
 * The double nearest to mantissa * 2^exponent, or, if inexact, to that and less than a
 * unit of it more.  The mantissa has at least 55 bits.
 */
static double
round_bits(uint64_t mantissa, int exponent, int inexact)
{
	int low = 64 - __builtin_clzll(mantissa) - 53; /* bits that are rounded off */
	uint64_t result;

	if (low < -1074 - exponent)
		low = -1074 - exponent;
	if (low > 64)
		return 0.0;
	result = low == 64 ? 0 : mantissa >> low;
	if ((mantissa >> (low - 1) & 1) &&
		((result & 1) || inexact || (mantissa & ((UINT64_C(1) << (low - 1)) - 1))))
		result++;
	return ldexp((double) result, exponent + low);
}

double
gpuagg_natural_quotient(const GpuaggNatural *a, int exponent, uint64_t d1, uint64_t d2)
{
	Leading lead;
	uint64_t mantissa;

	if (a->width == 0)
		return 0.0;
	lead = quotient(a, exponent, d1, d2);
	mantissa = (uint64_t) cut(&lead, bit_length(&lead) - 64);
	return round_bits(mantissa, lead.exponent, lead.inexact);
}

/* The floor of the root of a number of 123 or 124 bits. */
static uint64_t
root_of(uint128 x)
{
	uint64_t root = (uint64_t) sqrt(
		(double) x); /* within about 2^10; one Newton step makes it exact */

	root = (root + (uint64_t) (x / root)) / 2;
	while ((uint128) root * root > x)
		root--;
	while ((uint128) (root + 1) * (root + 1) <= x)
		root++;
	return root;
}

double
gpuagg_natural_quotient_root(const GpuaggNatural *a, int exponent, uint64_t d1, uint64_t d2)
{
	Leading lead;
	uint128 square;
	uint64_t root;
	int drop;

	if (a->width == 0)
		return 0.0;
	lead = quotient(a, exponent, d1, d2);
	drop = bit_length(&lead) - 124;
	drop += (drop + lead.exponent) & 1; /* an even exponent has a root */
	square = cut(&lead, drop);
	root = root_of(square);
	return round_bits(root, lead.exponent / 2, lead.inexact || (uint128) root * root != square);
}
