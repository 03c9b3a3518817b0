/*
 * sum256.cuh
 *	  Sums of doubles in 256 bits, two's complement.
 *
 * Bit b of a sum that starts at chunk c weighs 2^(32 c + b - 1074).  Values have
 * GPUAGG_SUM256_VALUE_BITS (float_sum.h).
 */
#ifndef GPUAGG_SUM256_CUH
#define GPUAGG_SUM256_CUH

#include "kernels/float_bits.cuh"

#define SUM256_BITS	 (32 * GPUAGG_SUM256_CHUNKS)
#define SUM256_LIMBS (SUM256_BITS / 64)

struct Sum256
{
	uint64_t limb[SUM256_LIMBS];
};

static GPUAGG_HD inline Sum256
sum256_zero()
{
	Sum256 w = {{0, 0, 0, 0}};

	return w;
}

static GPUAGG_HD inline unsigned __int128
sum256_half(const Sum256 &w, int half)
{
	return (unsigned __int128) w.limb[2 * half + 1] << 64 | w.limb[2 * half];
}

static GPUAGG_HD inline Sum256
sum256_add(Sum256 a, Sum256 b)
{
	unsigned __int128 low = sum256_half(a, 0) + sum256_half(b, 0);
	unsigned __int128 high = sum256_half(a, 1) + sum256_half(b, 1) +
							 (unsigned) (low < sum256_half(a, 0));
	Sum256 sum = {
		{(uint64_t) low, (uint64_t) (low >> 64), (uint64_t) high, (uint64_t) (high >> 64)}};

	return sum;
}

static GPUAGG_HD inline Sum256
sum256_negate(Sum256 a)
{
	uint64_t carry = 1;

	UNROLL
	for (int i = 0; i < SUM256_LIMBS; i++)
	{
		a.limb[i] = ~a.limb[i] + carry;
		carry = carry && a.limb[i] == 0;
	}
	return a;
}

static GPUAGG_HD inline bool
sum256_is_zero(Sum256 a)
{
	return (a.limb[0] | a.limb[1] | a.limb[2] | a.limb[3]) == 0;
}

/* 64 bits of the sum from bit `first` on; first >= 0. */
static GPUAGG_HD inline uint64_t
sum256_bits(const Sum256 &w, int first)
{
	uint64_t sign = (uint64_t) ((int64_t) w.limb[SUM256_LIMBS - 1] >> 63);
	int limb = first / 64;
	int shift = first % 64;
	uint64_t low = limb < SUM256_LIMBS ? w.limb[limb] : sign;
	uint64_t high = limb + 1 < SUM256_LIMBS ? w.limb[limb + 1] : sign;

	return shift > 0 ? low >> shift | high << (64 - shift) : low;
}

/* Whether -2^bits <= w < 2^bits. */
static GPUAGG_HD inline bool
sum256_fits(const Sum256 &w, int bits)
{
	uint64_t sign = (uint64_t) ((int64_t) w.limb[SUM256_LIMBS - 1] >> 63);
	uint64_t wrong = 0;

	UNROLL
	for (int i = 0; i < SUM256_LIMBS; i++)
	{
		int in_limb = bits - 64 * i;

		if (in_limb < 64)
			wrong |= (w.limb[i] ^ sign) >> (in_limb > 0 ? in_limb : 0);
	}
	return wrong == 0;
}

/* w modulo 2^bits; bits >= 0. */
static GPUAGG_HD inline Sum256
sum256_low_bits(Sum256 w, int bits)
{
	UNROLL
	for (int i = 0; i < SUM256_LIMBS; i++)
	{
		int in_limb = bits - 64 * i;

		if (in_limb < 64)
			w.limb[i] &= in_limb > 0 ? (UINT64_C(1) << in_limb) - 1 : 0;
	}
	return w;
}

/* Whether one of the low `bits` bits is set. */
static GPUAGG_HD inline bool
sum256_any_below(const Sum256 &w, int bits)
{
	return !sum256_is_zero(sum256_low_bits(w, bits));
}

/* v * 2^shift modulo 2^256; shift >= 0. */
static GPUAGG_HD inline Sum256
sum256_from_integer(int64_t v, int shift)
{
	uint64_t sign = (uint64_t) (v >> 63);
	int limb = shift / 64;
	int rest = shift % 64;
	uint64_t low = (uint64_t) v << rest;
	uint64_t high = rest > 0 ? (uint64_t) (v >> (64 - rest)) : sign;
	Sum256 w;

	UNROLL
	for (int i = 0; i < SUM256_LIMBS; i++)
		w.limb[i] = i < limb ? 0 : i == limb ? low : i == limb + 1 ? high : sign;
	return w;
}

/* |w| < 2^sum256_length(w). */
static GPUAGG_HD inline int
sum256_length(Sum256 w)
{
	uint64_t sign = (uint64_t) ((int64_t) w.limb[SUM256_LIMBS - 1] >> 63);
	int length = 0;

	UNROLL
	for (int i = 0; i < SUM256_LIMBS; i++)
		if (w.limb[i] != sign)
			length = 64 * i + bit_length(w.limb[i] ^ sign);
	return length + 1;
}

/* A finite value; *fits: it has no bits beyond those that values may have.  If not, zero. */
static GPUAGG_HD inline Sum256
sum256_from_value(uint64_t bits, int first_chunk, bool *fits)
{
	Decoded d = decode(bits);
	int shift = d.place - 32 * first_chunk;
	Sum256 w = sum256_zero();

	*fits = true;
	if (d.mantissa == 0)
		return w;
	if (shift < 0)
	{
		int below = -shift < 63 ? -shift : 63;

		if (d.mantissa & ((UINT64_C(1) << below) - 1))
		{
			*fits = false;
			return w;
		}
		d.mantissa >>= below;
		shift = 0;
	}
	if (shift + bit_length(d.mantissa) > GPUAGG_SUM256_VALUE_BITS)
	{
		*fits = false;
		return w;
	}

	int limb = shift / 64;
	int rest = shift % 64;
	uint64_t low = d.mantissa << rest;
	uint64_t high = rest > 0 ? d.mantissa >> (64 - rest) : 0;

	UNROLL
	for (int i = 0; i < SUM256_LIMBS; i++)
		w.limb[i] = i == limb ? low : i == limb + 1 ? high : 0;
	return d.negative ? sum256_negate(w) : w;
}

/* The value of an accumulator's chunks, of any content; *fits as above. */
static GPUAGG_HD inline Sum256
sum256_from_chunks(const int64_t *chunk, int first_chunk, bool *fits)
{
	Sum256 w = sum256_zero();
	int64_t carry = 0;
	uint32_t below = 0;
	uint32_t above_or = 0;
	uint32_t above_and = ~0u;

	for (int i = 0; i < GPUAGG_CHUNKS + 2 || i < first_chunk + GPUAGG_SUM256_CHUNKS; i++)
	{
		/* two pieces beyond the top chunk hold its high half and the sign */
		int64_t v = i < GPUAGG_CHUNKS ? chunk[i] : 0;
		int64_t low = (int64_t) (uint32_t) v + (int64_t) (uint32_t) carry;
		uint32_t piece = (uint32_t) low;
		int place = i - first_chunk;

		carry = (v >> 32) + (carry >> 32) + (low >> 32);
		if (place < 0)
			below |= piece;
		else if (place < GPUAGG_SUM256_CHUNKS)
			w.limb[place / 2] |= (uint64_t) piece << (32 * (place % 2));
		else
		{
			above_or |= piece;
			above_and &= piece;
		}
	}

	uint32_t sign = w.limb[SUM256_LIMBS - 1] >> 63 ? ~0u : 0;
	int64_t top = (int64_t) w.limb[SUM256_LIMBS - 1] >> (GPUAGG_SUM256_VALUE_BITS % 64);

	*fits = below == 0 && (sign ? above_and == ~0u : above_or == 0) && (top == 0 || top == -1);
	return w;
}

/* Chunk i of the value, carries propagated: in [0, 2^32), but the top one has the sign. */
static GPUAGG_HD inline int64_t
sum256_chunk(const Sum256 &w, int first_chunk, int i)
{
	uint32_t sign = w.limb[SUM256_LIMBS - 1] >> 63 ? ~0u : 0;
	uint32_t piece[2];

	for (int k = 0; k < 2; k++)
	{
		int p = i - first_chunk + k;

		piece[k] = p < 0					  ? 0
				   : p < GPUAGG_SUM256_CHUNKS ? (uint32_t) (w.limb[p / 2] >> (32 * (p % 2)))
											  : sign;
	}
	return i < GPUAGG_CHUNKS - 1 ? (int64_t) piece[0]
								 : (int64_t) ((uint64_t) piece[1] << 32 | piece[0]);
}

/*
 * The bits of the double nearest to the sum, ties to even; infinite when that
 * is out of range.  Zero is +0.  With `odd`, a sum between two doubles becomes
 * the one whose last bit is 1: that, rounded to a float, is the sum rounded to
 * a float.
 */
static GPUAGG_HD inline uint64_t
sum256_round(Sum256 w, int first_chunk, bool odd)
{
	uint64_t sign = w.limb[SUM256_LIMBS - 1] & SIGN_BIT;
	uint64_t high = 0; /* the top limb that is not 0 */
	uint64_t low = 0;  /* the one below it */
	uint64_t rest = 0; /* all below that, or-ed */
	int below = 0;	   /* bits below high */
	uint64_t result;

	if (sign)
		w = sum256_negate(w);
	UNROLL
	for (int i = SUM256_LIMBS - 1; i >= 0; i--)
	{
		if (high == 0)
		{
			high = w.limb[i];
			below = 64 * i;
		}
		else if (below == 64 * (i + 1))
			low = w.limb[i];
		else
			rest |= w.limb[i];
	}
	if (high == 0)
		return 0;

	int top = bit_length(high);						/* bits in high, 1 to 64 */
	int place = 32 * first_chunk + below + top - 1; /* of the top bit, above 2^-1074 */

	if (place <= 52)
	{
		/* subnormal or just normal: exact; first_chunk is 0 or 1, and one limb holds it */
		result = high << (32 * first_chunk);
	}
	else
	{
		uint64_t left = high << (64 - top) | (top < 64 ? low >> top : 0);
		uint64_t mantissa = left >> 11; /* 53 bits, from the 64 in left */
		uint64_t half = left >> 10 & 1;
		bool sticky = (left & 0x3ff) != 0 || rest != 0 ||
					  (top < 64 ? low << (64 - top) != 0 : low != 0);

		if (odd)
			mantissa |= half | sticky;
		else
			mantissa += half & (sticky || (mantissa & 1));
		if (place - 52 >= 0x7ff)
			result = GPUAGG_INFINITY64;
		else
			result = ((uint64_t) (place - 52) << 52) + mantissa; /* may carry into the exponent */
		if (result > GPUAGG_INFINITY64)
			result = GPUAGG_INFINITY64;
	}
	return result | sign;
}

/*
 * The bits of the double nearest to the sum by n, ties to even.  n is not 0; zero is +0, unless a
 * sum below 0 becomes it.  The sum's 128 leading bits by n have 96 at least, of which 53 are the
 * result's: what is below them is 0 or not.
 */
static GPUAGG_HD inline uint64_t
sum256_average(Sum256 w, uint32_t n, int first_chunk)
{
	uint64_t sign = w.limb[SUM256_LIMBS - 1] & SIGN_BIT;
	uint64_t limb[3] = {0, 0, 0}; /* the top limb that is not 0, and those below it */
	uint64_t rest = 0;			  /* all below that, or-ed */
	int below = 0;				  /* bits below the top limb */
	uint64_t quotient[4];		  /* 32 bits each, the most significant first */
	uint64_t left = 0;

	if (sign)
		w = sum256_negate(w);
	UNROLL
	for (int i = SUM256_LIMBS - 1; i >= 0; i--)
	{
		if (limb[0] == 0)
		{
			limb[0] = w.limb[i];
			below = 64 * i;
		}
		else if (below == 64 * (i + 1))
			limb[1] = w.limb[i];
		else if (below == 64 * (i + 2))
			limb[2] = w.limb[i];
		else
			rest |= w.limb[i];
	}
	if (limb[0] == 0)
		return 0;

	int top = bit_length(limb[0]);
	int place = 32 * first_chunk + below + top - 1; /* of the top bit, above 2^-1074 */
	int up = 64 - top;
	uint64_t high = up > 0 ? limb[0] << up | limb[1] >> top : limb[0];
	uint64_t low = up > 0 ? limb[1] << up | limb[2] >> top : limb[1];

	rest |= limb[2] << up;
	UNROLL
	for (int i = 0; i < 4; i++)
	{
		left = left << 32 | (uint32_t) ((i < 2 ? high : low) >> (i % 2 == 0 ? 32 : 0));
		quotient[i] = left / n;
		left %= n;
	}

	unsigned __int128 all = (unsigned __int128) (quotient[0] << 32 | quotient[1]) << 64 |
							(quotient[2] << 32 | quotient[3]);
	int cut = 64 + bit_length((uint64_t) (all >> 64)) - 53; /* bits below the mantissa */

	if (cut < 127 - place)
		cut = 127 - place; /* subnormal */

	uint64_t mantissa = (uint64_t) (all >> cut);
	uint64_t half = (uint64_t) (all >> (cut - 1)) & 1;
	bool sticky = (all & (((unsigned __int128) 1 << (cut - 1)) - 1)) != 0 || left != 0 || rest != 0;

	mantissa += half & (sticky || (mantissa & 1));
	/* may carry into the exponent */
	return (((uint64_t) (place - 127 + cut) << 52) + mantissa) | sign;
}

#endif /* GPUAGG_SUM256_CUH */
