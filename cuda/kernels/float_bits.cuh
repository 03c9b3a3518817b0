/*
 * float_bits.cuh
 *	  Doubles as integers.
 *
 * Place p is the bit that weighs 2^(p - 1074): place 0 is the least subnormal.
 */
#ifndef GPUAGG_FLOAT_BITS_CUH
#define GPUAGG_FLOAT_BITS_CUH

#include "device/device.cuh"

#define SIGN_BIT	  (UINT64_C(1) << 63)
#define MANTISSA_MASK ((UINT64_C(1) << 52) - 1)

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

static GPUAGG_HD inline double
double_of(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static GPUAGG_HD inline bool
bits_finite(uint64_t bits)
{
	return (bits & GPUAGG_INFINITY64) != GPUAGG_INFINITY64;
}

static GPUAGG_HD inline bool
bits_nan(uint64_t bits)
{
	return (bits & ~SIGN_BIT) > GPUAGG_INFINITY64;
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

/* The bits of 2^(place - 1074), which is finite; place >= 0. */
static GPUAGG_HD inline uint64_t
place_bits(int place)
{
	return place < 52 ? UINT64_C(1) << place : (uint64_t) (place - 51) << 52;
}

#endif /* GPUAGG_FLOAT_BITS_CUH */
