/*
 * float_state.cuh
 *	  The state of a running sum of floats: a Sum256, and marks of what was seen.
 *
 * It covers the rows since the last head, or without one (SEEN_HEAD) all rows.
 * Combining is exact and associative.
 */
#ifndef GPUAGG_FLOAT_STATE_CUH
#define GPUAGG_FLOAT_STATE_CUH

#include "kernels/sum256.cuh"
#include "kernels/kernels.h"

/* Marks, or-ed together along the rows. */
#define SEEN_VALUE		 1u /* anything but NULL */
#define SEEN_NAN		 2u
#define SEEN_PINF		 4u
#define SEEN_NINF		 8u
#define SEEN_NOT_NEGZERO 16u /* a value other than -0 */
#define SEEN_MISFIT		 32u /* a value that does not fit a Sum256 */
#define SEEN_HEAD		 64u

struct FloatState
{
	Sum256 sum;
	uint32_t seen;
	uint32_t heads; /* how many, modulo 2^32 */
};

/* The operator of scans and look-back. */
struct FloatOp
{
	typedef FloatState State;

	/* 36 bytes: three look-back words; a tile has less than 2^24 heads */
	struct Packed
	{
		uint32_t half[2 * SUM256_LIMBS];
		uint32_t seen; /* and from bit 8 on heads */
	};

	static __device__ __forceinline__ State identity()
	{
		State s;

		s.sum = sum256_zero();
		s.seen = 0;
		s.heads = 0;
		return s;
	}

	static __device__ __forceinline__ State combine(State a, State b)
	{
		State s = b;

		if (!(b.seen & SEEN_HEAD))
		{
			s.sum = sum256_add(a.sum, b.sum);
			s.seen = a.seen | b.seen;
		}
		s.heads = a.heads + b.heads;
		return s;
	}

	static __device__ __forceinline__ Packed pack(State s)
	{
		Packed p;

		UNROLL
		for (int i = 0; i < SUM256_LIMBS; i++)
		{
			p.half[2 * i] = (uint32_t) s.sum.limb[i];
			p.half[2 * i + 1] = (uint32_t) (s.sum.limb[i] >> 32);
		}
		p.seen = s.seen | s.heads << 8;
		return p;
	}

	static __device__ __forceinline__ State unpack(Packed p)
	{
		State s;

		UNROLL
		for (int i = 0; i < SUM256_LIMBS; i++)
			s.sum.limb[i] = p.half[2 * i] | (uint64_t) p.half[2 * i + 1] << 32;
		s.seen = p.seen & 0xff;
		s.heads = p.seen >> 8;
		return s;
	}
};

/* The state of one valid value, its sum starting at this chunk. */
static __device__ inline FloatState
float_state_of(double v, int first_chunk)
{
	uint64_t bits = bits_of(v);
	FloatState s = FloatOp::identity();
	bool fits;

	s.seen = SEEN_VALUE;
	if (bits_finite(bits))
	{
		s.sum = sum256_from_value(bits, first_chunk, &fits);
		if (bits != SIGN_BIT)
			s.seen |= SEEN_NOT_NEGZERO;
		if (!fits)
			s.seen |= SEEN_MISFIT;
	}
	else
		s.seen |= SEEN_NOT_NEGZERO | (bits_nan(bits) ? SEEN_NAN
									  : bits >> 63	 ? SEEN_NINF
													 : SEEN_PINF);
	return s;
}

/* Whether the result is that of the sum alone: no NaN, no infinity, zero is +0. */
static __device__ __forceinline__ bool
float_state_plain(uint32_t seen)
{
	return (seen & (SEEN_NAN | SEEN_PINF | SEEN_NINF)) == 0 &&
		   (seen & (SEEN_VALUE | SEEN_NOT_NEGZERO)) != SEEN_VALUE;
}

/* The result from the bits of a double that was rounded for its type. */
static __device__ __forceinline__ double
float_result(uint64_t bits, double)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static __device__ __forceinline__ float
float_result(uint64_t bits, float)
{
	uint32_t nan = GPUAGG_NAN32;
	double x;
	float result;

	memcpy(&x, &bits, sizeof(x));
	result = (float) x;
	if (bits_nan(bits))
		memcpy(&result, &nan, sizeof(result));
	return result;
}

/* The sum as a result; *overflow: all values are finite and it is out of range. */
template <class T>
static __device__ inline T
float_state_result(FloatState s, int first_chunk, bool *overflow)
{
	T result;

	*overflow = false;
	if (s.seen & SEEN_NAN || ((s.seen & SEEN_PINF) && (s.seen & SEEN_NINF)))
		return float_result(GPUAGG_NAN64, T());
	if (s.seen & (SEEN_PINF | SEEN_NINF))
		return float_result(GPUAGG_INFINITY64 | (s.seen & SEEN_NINF ? SIGN_BIT : 0), T());
	if (sum256_is_zero(s.sum))
		return float_result((s.seen & SEEN_VALUE) && !(s.seen & SEEN_NOT_NEGZERO) ? SIGN_BIT : 0,
							T());
	result = float_result(sum256_round(s.sum, first_chunk, sizeof(T) < sizeof(double)), T());
	*overflow = !bits_finite(bits_of(result));
	return result;
}

static __device__ NOINLINE uint64_t
average_bits(Sum256 w, uint32_t n, int first_chunk)
{
	return n == 0 ? 0 : sum256_average(w, n, first_chunk);
}

/* The sum by n, of finite values. */
static __device__ inline double
float_state_average(FloatState s, uint32_t n, int first_chunk)
{
	bool overflow;

	if (!float_state_plain(s.seen))
		return float_state_result<double>(s, first_chunk, &overflow);
	return double_of(average_bits(s.sum, n, first_chunk));
}

/* The state in a GpuScanState of any content. */
static __device__ NOINLINE void
float_state_from_carry(const GpuScanState *in, int first_chunk, FloatState *s)
{
	const GpuaggFloatCounts *counts = &in->state.f.counts;
	bool fits;

	s->sum = sum256_from_chunks(in->state.f.chunk, first_chunk, &fits);
	s->seen = 0;
	s->heads = 0;
	if (counts->n > 0)
		s->seen |= SEEN_VALUE;
	if (counts->n_nan > 0)
		s->seen |= SEEN_NAN;
	if (counts->n_pinf > 0)
		s->seen |= SEEN_PINF;
	if (counts->n_ninf > 0)
		s->seen |= SEEN_NINF;
	if (counts->n > counts->n_negzero)
		s->seen |= SEEN_NOT_NEGZERO;
	if (!fits)
		s->seen |= SEEN_MISFIT;
}

/* All of *out but its chunks and what only the last block knows. */
static __device__ inline void
float_state_to_counts(uint32_t seen, GpuScanState *out)
{
	GpuaggFloatSumFull *f = &out->state.f;

	f->counts.n = (seen & SEEN_VALUE) != 0;
	f->counts.n_nan = (seen & SEEN_NAN) != 0;
	f->counts.n_pinf = (seen & SEEN_PINF) != 0;
	f->counts.n_ninf = (seen & SEEN_NINF) != 0;
	f->counts.n_negzero = (seen & SEEN_VALUE) && !(seen & SEEN_NOT_NEGZERO);
	f->deposits = 0;
	f->base = 0;
	f->width = GPUAGG_CHUNKS;
	out->state.sum = gpuagg_int128_from(0);
}

#endif /* GPUAGG_FLOAT_STATE_CUH */
