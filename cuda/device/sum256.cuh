/*
 * sum256.cuh
 *	  Doubles as integers: 32-bit pieces of one value, and sums in 256 bits.
 *
 * Bit b of a window that starts at chunk w weighs 2^(32 w + b - 1074); so w = 0
 * starts at the smallest subnormal, and nothing is ever below it.  A window is
 * two's complement.  Values and carry are below 2^223 in it, so that 2^31 of
 * them stay below 2^255.
 */
#ifndef GPUAGG_SUM256_CUH
#define GPUAGG_SUM256_CUH

#include "device/device.cuh"

#define WINDOW_BITS		  256
#define WINDOW_LIMBS	  4
#define WINDOW_VALUE_BITS 223
#define INFINITE_BITS	  UINT64_C(0x7ff0000000000000)
#define SIGN_BIT		  (UINT64_C(1) << 63)
#define MANTISSA_MASK	  ((UINT64_C(1) << 52) - 1)

struct Window
{
	uint64_t limb[WINDOW_LIMBS];
};

/* A finite double: (-1)^negative * mantissa * 2^(place - 1074), place >= 0. */
struct Decoded
{
	uint64_t mantissa;
	int place;
	bool negative;
};

static GPUAGG_HD inline uint64_t
bits_of(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static GPUAGG_HD inline bool
bits_finite(uint64_t bits)
{
	return (bits & INFINITE_BITS) != INFINITE_BITS;
}

static GPUAGG_HD inline bool
bits_nan(uint64_t bits)
{
	return (bits & ~SIGN_BIT) > INFINITE_BITS;
}

static GPUAGG_HD inline Decoded
decode(uint64_t bits)
{
	int exponent = (int) (bits >> 52) & 0x7ff;
	Decoded d;

	d.mantissa = bits & MANTISSA_MASK;
	d.negative = bits >> 63 != 0;
	d.place = exponent > 0 ? exponent - 1 : 0;
	if (exponent > 0)
		d.mantissa |= UINT64_C(1) << 52;
	return d;
}

static GPUAGG_HD inline int
bit_length(uint64_t v)
{
#ifdef __CUDA_ARCH__
	return 64 - __clzll((long long) v);
#else
	return v == 0 ? 0 : 64 - __builtin_clzll(v);
#endif
}

static GPUAGG_HD inline Window
window_zero()
{
	Window w = {{0, 0, 0, 0}};

	return w;
}

static GPUAGG_HD inline unsigned __int128
window_half(const Window &w, int half)
{
	return (unsigned __int128) w.limb[2 * half + 1] << 64 | w.limb[2 * half];
}

static GPUAGG_HD inline Window
window_add(Window a, Window b)
{
	unsigned __int128 low = window_half(a, 0) + window_half(b, 0);
	unsigned __int128 high = window_half(a, 1) + window_half(b, 1) +
							 (unsigned) (low < window_half(a, 0));
	Window sum = {
		{(uint64_t) low, (uint64_t) (low >> 64), (uint64_t) high, (uint64_t) (high >> 64)}};

	return sum;
}

static GPUAGG_HD inline Window
window_negate(Window a)
{
	uint64_t carry = 1;

	UNROLL
	for (int i = 0; i < WINDOW_LIMBS; i++)
	{
		a.limb[i] = ~a.limb[i] + carry;
		carry = carry && a.limb[i] == 0;
	}
	return a;
}

static GPUAGG_HD inline bool
window_is_zero(Window a)
{
	return (a.limb[0] | a.limb[1] | a.limb[2] | a.limb[3]) == 0;
}

/* 64 bits of the window's value from place `first` on; first >= 0. */
static GPUAGG_HD inline uint64_t
window_bits(const Window &w, int first)
{
	uint64_t sign = (uint64_t) ((int64_t) w.limb[WINDOW_LIMBS - 1] >> 63);
	int limb = first / 64;
	int shift = first % 64;
	uint64_t low = limb < WINDOW_LIMBS ? w.limb[limb] : sign;
	uint64_t high = limb + 1 < WINDOW_LIMBS ? w.limb[limb + 1] : sign;

	return shift > 0 ? low >> shift | high << (64 - shift) : low;
}

/* Whether -2^bits <= w < 2^bits. */
static GPUAGG_HD inline bool
window_fits(const Window &w, int bits)
{
	uint64_t sign = (uint64_t) ((int64_t) w.limb[WINDOW_LIMBS - 1] >> 63);
	uint64_t wrong = 0;

	UNROLL
	for (int i = 0; i < WINDOW_LIMBS; i++)
	{
		int here = bits - 64 * i;

		if (here < 64)
			wrong |= (w.limb[i] ^ sign) >> (here > 0 ? here : 0);
	}
	return wrong == 0;
}

/* The window modulo 2^bits; bits >= 0. */
static GPUAGG_HD inline Window
window_low_bits(Window w, int bits)
{
	UNROLL
	for (int i = 0; i < WINDOW_LIMBS; i++)
	{
		int here = bits - 64 * i;

		if (here < 64)
			w.limb[i] &= here > 0 ? (UINT64_C(1) << here) - 1 : 0;
	}
	return w;
}

/* Whether there is a bit below place `bits`. */
static GPUAGG_HD inline bool
window_any_below(const Window &w, int bits)
{
	Window low = window_low_bits(w, bits);

	return (low.limb[0] | low.limb[1] | low.limb[2] | low.limb[3]) != 0;
}

/* v * 2^shift modulo 2^256; shift >= 0. */
static GPUAGG_HD inline Window
window_from_integer(int64_t v, int shift)
{
	uint64_t sign = (uint64_t) (v >> 63);
	int limb = shift / 64;
	int rest = shift % 64;
	uint64_t low = (uint64_t) v << rest;
	uint64_t high = rest > 0 ? (uint64_t) (v >> (64 - rest)) : sign;
	Window w;

	UNROLL
	for (int i = 0; i < WINDOW_LIMBS; i++)
		w.limb[i] = i < limb ? 0 : i == limb ? low : i == limb + 1 ? high : sign;
	return w;
}

/* |w| < 2^window_length(w). */
static GPUAGG_HD inline int
window_length(Window w)
{
	uint64_t sign = (uint64_t) ((int64_t) w.limb[WINDOW_LIMBS - 1] >> 63);
	int length = 0;

	UNROLL
	for (int i = 0; i < WINDOW_LIMBS; i++)
		if (w.limb[i] != sign)
			length = 64 * i + bit_length(w.limb[i] ^ sign);
	return length + 1;
}

/*
 * A finite value in the window that starts at chunk `start`; *fits says
 * whether it is there whole.  If not, the window returned is zero.
 */
static GPUAGG_HD inline Window
window_from_value(uint64_t bits, int start, bool *fits)
{
	Decoded d = decode(bits);
	int shift = d.place - 32 * start;
	Window w = window_zero();

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
	if (shift + bit_length(d.mantissa) > WINDOW_VALUE_BITS)
	{
		*fits = false;
		return w;
	}

	int limb = shift / 64;
	int rest = shift % 64;
	uint64_t low = d.mantissa << rest;
	uint64_t high = rest > 0 ? d.mantissa >> (64 - rest) : 0;

	UNROLL
	for (int i = 0; i < WINDOW_LIMBS; i++)
		w.limb[i] = i == limb ? low : i == limb + 1 ? high : 0;
	return d.negative ? window_negate(w) : w;
}

/*
 * The chunks of an accumulator, of any content, in the window that starts at
 * chunk `start`; *fits as above.
 */
static GPUAGG_HD inline Window
window_from_chunks(const int64_t *chunk, int start, bool *fits)
{
	Window w = window_zero();
	int64_t carry = 0;
	uint32_t below = 0;
	uint32_t above_or = 0;
	uint32_t above_and = ~0u;

	for (int i = 0; i < GPUAGG_CHUNKS + 2 || i < start + WINDOW_BITS / 32; i++)
	{
		/* two pieces beyond the top chunk hold its high half and the sign */
		int64_t v = i < GPUAGG_CHUNKS ? chunk[i] : 0;
		int64_t low = (int64_t) (uint32_t) v + (int64_t) (uint32_t) carry;
		uint32_t piece = (uint32_t) low;
		int place = i - start;

		carry = (v >> 32) + (carry >> 32) + (low >> 32);
		if (place < 0)
			below |= piece;
		else if (place < WINDOW_BITS / 32)
			w.limb[place / 2] |= (uint64_t) piece << (32 * (place % 2));
		else
		{
			above_or |= piece;
			above_and &= piece;
		}
	}

	uint32_t sign = w.limb[WINDOW_LIMBS - 1] >> 63 ? ~0u : 0;
	int64_t top = (int64_t) w.limb[WINDOW_LIMBS - 1] >> (WINDOW_VALUE_BITS % 64);

	*fits = below == 0 && (sign ? above_and == ~0u : above_or == 0) && (top == 0 || top == -1);
	return w;
}

/* Chunk i of the window, carries propagated: [0, 2^32) below the signed top one. */
static GPUAGG_HD inline int64_t
window_chunk(const Window &w, int start, int i)
{
	uint32_t sign = w.limb[WINDOW_LIMBS - 1] >> 63 ? ~0u : 0;
	uint32_t piece[2];

	for (int k = 0; k < 2; k++)
	{
		int p = i - start + k;

		piece[k] = p < 0				  ? 0
				   : p < WINDOW_BITS / 32 ? (uint32_t) (w.limb[p / 2] >> (32 * (p % 2)))
										  : sign;
	}
	return i < GPUAGG_CHUNKS - 1 ? (int64_t) piece[0]
								 : (int64_t) ((uint64_t) piece[1] << 32 | piece[0]);
}

/*
 * The bits of the double nearest to the window's value, ties to even; infinite
 * when that is out of range.  Zero is +0.  With `odd`, of the two doubles
 * around a value that is none itself, the odd one: rounding that to a float
 * gives what rounding the value would.
 */
static GPUAGG_HD inline uint64_t
window_round(Window w, int start, bool odd)
{
	uint64_t sign = w.limb[WINDOW_LIMBS - 1] & SIGN_BIT;
	uint64_t high = 0; /* the top limb with a bit in it, */
	uint64_t low = 0;  /* the one below, */
	uint64_t rest = 0; /* and all others, or-ed */
	int below = 0;	   /* bits below high */
	uint64_t result;

	if (sign)
		w = window_negate(w);
	UNROLL
	for (int i = WINDOW_LIMBS - 1; i >= 0; i--)
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

	int top = bit_length(high);				  /* bits in high, 1 to 64 */
	int place = 32 * start + below + top - 1; /* of the top bit, above 2^-1074 */

	if (place <= 52)
	{
		/* subnormal or just normal: exact, start is 0 or 1, one limb */
		result = high << (32 * start);
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
			result = INFINITE_BITS;
		else
			result = ((uint64_t) (place - 52) << 52) + mantissa; /* a carry moves on */
		if (result > INFINITE_BITS)
			result = INFINITE_BITS;
	}
	return result | sign;
}

#endif /* GPUAGG_SUM256_CUH */
