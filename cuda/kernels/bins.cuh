/*
 * bins.cuh
 *	  Exact sums of doubles of like size, by a few double additions each.
 *
 * A place p stands for the weight 2^(p - 1074).  Bins below `top` take doubles
 * of magnitude below that of place `top`; the unit of bin i is place
 * top - 51 (i + 1), but not below 0.  Adding 1.5 * 2^52 units to a value (its
 * magic number) rounds it to a multiple of the unit, which is then the low bits
 * of the sum; what that leaves of the value, at most half a unit, goes to the
 * next bin.  What is left after the last bin is a function of the value alone.
 * All these operations are exact: the value is at most 2^51 units, so that the
 * sum with the magic number stays in one binade, and both differences are
 * multiples of the value's last place and no larger than it.  (The bins are
 * those of Demmel and Nguyen, "Parallel reproducible summation".)
 *
 * A bin adds up the bits of sums, magic numbers included, modulo 2^64; a value
 * adds at most 2^51 units, so BINS_MOST values stay within 2^63.
 */
#ifndef GPUAGG_BINS_CUH
#define GPUAGG_BINS_CUH

#include "device/chunks.cuh"
#include "device/grid.cuh"

#define BIN_WIDTH	 51
#define BINS_MOST	 4095
#define BINS_THREADS 256  /* of a block */
#define BINS_LOWEST	 52	  /* top: magnitudes below 2^-1022, all subnormals */
#define BINS_HIGHEST 2085 /* top: magnitudes below 2^1011; magic numbers stay finite */

#define FAR_STEP	 4 /* values that go to far bins at a time */

/*
 * A warp chooses again when so many of its values did not fit, or at once when
 * one in so many of a group do not.
 */
#define MISSES 512
#define MANY   8

/* Lanes' sums are added by 22-bit pieces, so that 32 of them stay below 2^27. */
#define FLUSH_BITS	 22
#define FLUSH_PIECES 3

static __device__ __forceinline__ double
double_from(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* The place of a bin's unit. */
static __device__ __forceinline__ int
bin_place(int top, int bin)
{
	int place = top - BIN_WIDTH * (bin + 1);

	return place > 0 ? place : 0;
}

static __device__ __forceinline__ uint64_t
bin_magic_bits(int top, int bin)
{
	return (uint64_t) ((uint32_t) (bin_place(top, bin) + 1) << 20 | 0x80000) << 32;
}

/*
 * Adds a value, below the unit of bin FIRST - 1 if there is such a bin, to COUNT
 * bins from FIRST on, whose sums these are.  Returns what is left of it: 0, or
 * the bits below the last bin.  -0 leaves -0, and nothing else does.
 */
template <int FIRST, int COUNT>
static __device__ __forceinline__ double
bins_add(uint64_t *sum, double v, int top)
{
	UNROLL
	for (int i = 0; i < COUNT; i++)
	{
		double magic = double_from(bin_magic_bits(top, FIRST + i));
		double t = v + magic;

		sum[i] += bits_of(t);
		v = v - (t - magic);
	}
	return v;
}

/* What bins_add() would leave. */
template <int FIRST, int COUNT>
static __device__ __forceinline__ double
bins_rest(double v, int top)
{
	UNROLL
	for (int i = 0; i < COUNT; i++)
	{
		double magic = double_from(bin_magic_bits(top, FIRST + i));

		v = v - ((v + magic) - magic);
	}
	return v;
}

/*
 * Moves what the lanes of a warp hold in COUNT bins from FIRST on into chunks in
 * which place 0 is bit `units`; every lane has made so many additions to the
 * first of them, the second, and each further one.
 */
template <int FIRST, int COUNT>
static __device__ __forceinline__ void
bins_flush(const uint64_t *sum, uint32_t first, uint32_t second, uint32_t further, int top,
		   SplitWord *chunk, int units)
{
	static_assert(COUNT * FLUSH_PIECES <= WARP_SIZE, "a lane for each piece");
	uint32_t mask = (UINT32_C(1) << FLUSH_BITS) - 1;
	int bin = lane_id() / FLUSH_PIECES; /* whose piece this lane deposits */
	int piece = lane_id() % FLUSH_PIECES;
	int place = bin_place(top, FIRST + bin) + FLUSH_BITS * piece + units;
	int64_t mine = 0;

	UNROLL
	for (int i = 0; i < COUNT; i++)
	{
		uint32_t additions = i == 0 ? first : i == 1 ? second : further;
		uint64_t held = sum[i] - additions * bin_magic_bits(top, FIRST + i);
		int64_t low = warp_reduce_add((uint32_t) held & mask);
		int64_t middle = warp_reduce_add((uint32_t) (held >> FLUSH_BITS) & mask);
		int64_t high = warp_reduce_add((int32_t) ((int64_t) held >> 2 * FLUSH_BITS));

		if (bin == i)
			mine = piece == 0 ? low : piece == 1 ? middle : high;
	}
	if (mine != 0)
		chunks_deposit(chunk, place, (uint64_t) (mine < 0 ? -mine : mine), mine < 0);
}

/* Squares are hi + lo, both normal doubles, between these places of x: [2^-485, 2^505). */
#define SQUARES_LOWEST	(1074 - 485)
#define SQUARES_HIGHEST (1074 + 505)
#define SQUARE_UNITS	1074 /* place of 2^-1074 in chunks of squares */

static __device__ __forceinline__ float
float_from(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/*
 * Something that grows with |v|, compared as a float, and is not below any
 * limit for a NaN: of a double, its high word.  That one is a NaN from 2^1017
 * on, beyond every limit.
 */
static __device__ __forceinline__ float
magnitude(double v)
{
	return fabsf(float_from((uint32_t) (bits_of(v) >> 32)));
}

static __device__ __forceinline__ float
magnitude(float v)
{
	return fabsf(v);
}

/* magnitude() of 2^(place - 1074), which is at least the least normal value of the type. */
static __device__ __forceinline__ float
limit_at(double, int place)
{
	return float_from((uint32_t) (place - 51) << 20);
}

#define FLOAT32_LOWEST 948 /* the place of 2^-126 */

static __device__ __forceinline__ float
limit_at(float, int place)
{
	int exponent = place - FLOAT32_LOWEST + 1;

	return float_from((uint32_t) (exponent < 0xff ? exponent : 0xff) << 23);
}

static __device__ __forceinline__ int
lowest_top(double)
{
	return BINS_LOWEST;
}

static __device__ __forceinline__ int
lowest_top(float)
{
	return FLOAT32_LOWEST;
}

static __device__ __forceinline__ bool
is_finite(double v)
{
	return bits_finite(bits_of(v));
}

static __device__ __forceinline__ bool
is_finite(float v)
{
	return fabsf(v) < float_from(0x7f800000);
}

/*
 * A word that grows with |v|, 0 for zeros alone, from size_odd() on for what is not
 * finite; and the exponent field, as of a double, of a word that is neither.
 */
static __device__ __forceinline__ uint32_t
size_word(double v)
{
	uint64_t bits = bits_of(v);

	return (uint32_t) (bits >> 31) | ((uint32_t) bits << 1 != 0);
}

static __device__ __forceinline__ uint32_t
size_word(float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits << 1;
}

template <class T>
static __device__ __forceinline__ uint32_t
size_odd()
{
	return sizeof(T) == 8 ? 0xffe00000 : 0xff000000;
}

template <class T>
static __device__ __forceinline__ int
size_exponent(uint32_t size)
{
	int exponent = (int) (size >> (sizeof(T) == 8 ? 21 : 24));

	return (exponent > 0 ? exponent : 1) + (sizeof(T) == 8 ? 0 : 1023 - 127);
}

/*
 * Moves values STEP places down, and the first ones to the end: a loop that
 * always looks at the first ones need not be unrolled to keep v in registers.
 */
template <int STEP, class T, int N>
static __device__ __forceinline__ void
rotate(T (&v)[N])
{
	T first[STEP];

	UNROLL
	for (int i = 0; i < STEP; i++)
		first[i] = v[i];
	UNROLL
	for (int i = 0; i < N - STEP; i++)
		v[i] = v[i + STEP];
	UNROLL
	for (int i = 0; i < STEP; i++)
		v[N - STEP + i] = first[i];
}

/* Bins of the second tier, a thread's in its own column. */
template <int FAR> struct FarBins
{
	uint64_t sum[FAR][BINS_THREADS];
};

/*
 * Which bins each kind has.  Values go to the near ones, in registers; what they
 * leave goes to the far ones, in shared memory, when there is any.  A square of
 * a float is a double.  That of a double is two: the high one goes to the first
 * two bins, the low one, at most 2^-53 of it, to the second and third.
 */
template <class T, bool SQUARES> struct BinPlan;

template <> struct BinPlan<double, false>
{
	static constexpr int NEAR = 2;
	static constexpr int FAR = 2;
	static constexpr int SQUARE_NEAR = 0;
	static constexpr int SQUARE_FAR = 0;
	static constexpr int SLACK = 8;	  /* bits of the top above what was seen */
	static constexpr int VECTORS = 4; /* 16-byte loads of a thread at a time */
	static constexpr int BLOCKS = 4;  /* resident on a multiprocessor, at least */
	static constexpr int NULLS_BLOCKS = 4;
};

template <> struct BinPlan<float, false>
{
	static constexpr int NEAR = 1;
	static constexpr int FAR = 2;
	static constexpr int SQUARE_NEAR = 0;
	static constexpr int SQUARE_FAR = 0;
	static constexpr int SLACK = 6;
	static constexpr int VECTORS = 4;
	static constexpr int BLOCKS = 4;
	static constexpr int NULLS_BLOCKS = 4;
};

template <> struct BinPlan<double, true>
{
	static constexpr int NEAR = 2;
	static constexpr int FAR = 1;
	static constexpr int SQUARE_NEAR = 3;
	static constexpr int SQUARE_FAR = 2;
	static constexpr int SLACK = 6;
	static constexpr int VECTORS = 4;
	static constexpr int BLOCKS = 4;
	static constexpr int NULLS_BLOCKS = 4;
};

template <> struct BinPlan<float, true>
{
	static constexpr int NEAR = 1;
	static constexpr int FAR = 2;
	static constexpr int SQUARE_NEAR = 2;
	static constexpr int SQUARE_FAR = 2;
	static constexpr int SLACK = 6;
	static constexpr int VECTORS = 4;
	static constexpr int BLOCKS = 4;
	static constexpr int NULLS_BLOCKS = 3;
};

/*
 * Sums of a warp, and of its squares if SQUARES.  All lanes call everything
 * together.
 */
template <class T, bool SQUARES, int LOADS = BinPlan<T, SQUARES>::VECTORS> struct BinSums
{
	typedef BinPlan<T, SQUARES> Plan;
	typedef T Value;

	static constexpr bool HALVES = SQUARES && sizeof(T) == 8; /* squares are two doubles */
	static constexpr int NEAR = Plan::NEAR;
	static constexpr int FAR = Plan::FAR;
	static constexpr int SQUARE_NEAR = Plan::SQUARE_NEAR;
	static constexpr int SQUARE_FAR = Plan::SQUARE_FAR;
	static constexpr int VECTORS = LOADS; /* 16-byte loads of a thread at a time */
	static constexpr int BLOCKS = Plan::BLOCKS;
	static constexpr int NULLS_BLOCKS = Plan::NULLS_BLOCKS;
	static constexpr int TAKEN = VECTORS * Vector<T>::LENGTH;
	static constexpr int ALL = NEAR + FAR;
	static constexpr int SQUARE_ALL = SQUARE_NEAR + SQUARE_FAR;
	static constexpr int HIGHEST = HALVES ? SQUARES_HIGHEST : BINS_HIGHEST;
	static_assert(TAKEN <= BINS_MOST && TAKEN % FAR_STEP == 0, "bins take a group");

	typedef FarBins<FAR + SQUARE_FAR> Storage;

	int top;			 /* of bins; the same in all lanes, as the next four */
	float limit;		 /* magnitude() of values is below it; 0: the top is to be chosen */
	uint32_t groups;	 /* in the near bins */
	uint32_t far_groups; /* in the far ones */
	int misses;			 /* values that did not fit, since the top was chosen */
	uint64_t near[NEAR];
	uint64_t squares[SQUARES ? SQUARE_NEAR : 1];

	__device__ __forceinline__ void start(Storage &far)
	{
		top = lowest_top(T());
		limit = 0;
		clear(far);
	}

	__device__ __forceinline__ void clear(Storage &far)
	{
		groups = 0;
		far_groups = 0;
		misses = 0;
		UNROLL
		for (int i = 0; i < NEAR; i++)
			near[i] = 0;
		UNROLL
		for (int i = 0; i < SQUARE_NEAR; i++)
			squares[i] = 0;
		UNROLL
		for (int i = 0; i < FAR + SQUARE_FAR; i++)
			far.sum[i][threadIdx.x] = 0;
	}

	/* The top of the bins of squares: 2 (top - 1074) + 1074, if that is possible. */
	__device__ __forceinline__ int square_top() const
	{
		int place = 2 * top - 1074;

		return place > BINS_LOWEST ? place : BINS_LOWEST;
	}

	__device__ __forceinline__ void flush(SplitWord *word, Storage &far)
	{
		uint32_t n = groups * TAKEN;
		uint32_t f = far_groups * TAKEN;

		if (n > 0)
		{
			bins_flush<0, NEAR>(near, n, n, n, top, word + WORD_CHUNK, 0);
			if (SQUARES)
				bins_flush<0, SQUARE_NEAR>(squares, n, HALVES ? 2 * n : n, n + f, square_top(),
										   word + WORD_SQUARE, SQUARE_UNITS);
		}
		if (f > 0)
		{
			uint64_t sum[FAR + SQUARE_FAR];

			UNROLL
			for (int i = 0; i < FAR + SQUARE_FAR; i++)
				sum[i] = far.sum[i][threadIdx.x];
			bins_flush<NEAR, FAR>(sum, f, f, f, top, word + WORD_CHUNK, 0);
			f = HALVES ? 2 * f : f;
			if (SQUARES)
				bins_flush<SQUARE_NEAR, SQUARE_FAR>(sum + FAR, f, f, f, square_top(),
													word + WORD_SQUARE, SQUARE_UNITS);
		}
		clear(far);
	}

	/*
	 * Chooses the top by the largest finite value of each lane: the largest of
	 * them, unless fewer than one in eight come near it.
	 */
	__device__ __forceinline__ void choose(const T (&v)[TAKEN])
	{
		uint32_t size = 0;
		int exponent;
		int most = 0;
		bool found = false;

		UNROLL
		for (int k = 0; k < TAKEN; k++)
		{
			uint32_t other = size_word(v[k]);

			size = other > size && other < size_odd<T>() ? other : size;
		}
		exponent = size > 0 ? size_exponent<T>(size) : 0;
		while (!found)
		{
			most = warp_reduce_max(exponent);

			int some = bit_count(__ballot_sync(FULL_MASK, exponent > 0));
			int near_most = bit_count(
				__ballot_sync(FULL_MASK, exponent > most - 40 && exponent > 0));

			found = near_most * 8 >= some;
			exponent = exponent > most - 40 ? 0 : exponent;
		}
		top = (most > 0 ? most : 1023) + BINS_LOWEST + Plan::SLACK;
		if (top < lowest_top(T()))
			top = lowest_top(T());
		if (top > HIGHEST)
			top = HIGHEST;
		limit = limit_at(T(), top);
	}

	/* Whether the square is not two doubles because it is too small. */
	static __device__ __forceinline__ bool tiny(T v)
	{
		return HALVES && magnitude(v) < limit_at(T(), SQUARES_LOWEST);
	}

	__device__ __forceinline__ bool fits(T v) const
	{
		return magnitude(v) < limit && !(tiny(v) && v != 0);
	}

	/* Whether all values of the warp's group fit. */
	__device__ __forceinline__ bool all_fit(const T (&v)[TAKEN]) const
	{
		bool all = true;

		UNROLL
		for (int k = 0; k < TAKEN; k++)
			all = all & fits(v[k]);
		return __all_sync(FULL_MASK, all);
	}

	/* Finite values of the warp's group that do not fit. */
	__device__ __forceinline__ int count_out(const T (&v)[TAKEN], bool &odd) const
	{
		int out = 0;

		odd = false;
		UNROLL
		for (int k = 0; k < TAKEN; k++)
		{
			odd |= !is_finite(v[k]);
			out += is_finite(v[k]) && !fits(v[k]);
		}
		odd = __any_sync(FULL_MASK, odd);
		return warp_reduce_add(out);
	}

	/* Takes what does not fit out of a group, leaving zeros; chooses the top when that is due. */
	__device__ __forceinline__ void take_out(T (&v)[TAKEN], SplitWord *word, Storage &far)
	{
		bool chosen = false;
		bool odd = false;
		int out = 0;

		do
		{
			if (limit == 0)
			{
				flush(word, far);
				choose(v);
				chosen = true;
			}
			if (!all_fit(v))
				out = count_out(v, odd);
			if (!chosen && out >= WARP_SIZE * TAKEN / MANY)
				limit = 0;
		} while (limit == 0);
		misses += out;
		if (out > 0 || odd)
		{
			ROLLED
			for (int k = 0; k < TAKEN; k++)
			{
				double x = (double) v[0];
				uint64_t bits = bits_of(x);
				bool finite = bits_finite(bits);
				bool takes = finite && !fits(v[0]);

				if (takes)
				{
					chunks_deposit_double(word + WORD_CHUNK, x, 0);
					if (SQUARES)
						chunks_deposit_square(word + WORD_SQUARE, x);
				}
				if (odd)
					count_odd(word, !finite, bits);
				v[0] = takes || !finite ? (T) 0 : v[0];
				rotate<1>(v);
			}
		}
	}

	/* The high and low part of a square; exact for 0 and 2^-485 <= |x| < 2^505. */
	static __device__ __forceinline__ void square(double x, double &high, double &low)
	{
		high = x * x;
		low = HALVES ? __fma_rn(x, x, -high) : 0;
	}

	/* Adds what the near bins left of a group to the far bins; true if that leaves anything. */
	__device__ __forceinline__ bool take_far(T (&v)[TAKEN], Storage &far)
	{
		int square_at = square_top();
		uint64_t sum[FAR + SQUARE_FAR] = {};
		uint64_t left = 0;

		ROLLED
		for (int i = 0; i < TAKEN; i += FAR_STEP)
		{
			UNROLL
			for (int k = 0; k < FAR_STEP; k++)
			{
				double x = (double) v[k];
				double high;
				double low;

				left |= bits_of(bins_add<NEAR, FAR>(sum, bins_rest<0, NEAR>(x, top), top));
				if (SQUARES)
				{
					square(x, high, low);
					high = bins_rest<0, 2>(high, square_at);
					if (HALVES)
					{
						high = bins_add<2, 1>(squares + 2, high, square_at);
						low = bins_rest<1, 2>(low, square_at);
						low = bins_add<SQUARE_NEAR, SQUARE_FAR>(sum + FAR, low, square_at);
						left |= bits_of(low);
					}
					high = bins_add<SQUARE_NEAR, SQUARE_FAR>(sum + FAR, high, square_at);
					left |= bits_of(high);
				}
			}
			rotate<FAR_STEP>(v);
		}
		UNROLL
		for (int i = 0; i < FAR + SQUARE_FAR; i++)
			far.sum[i][threadIdx.x] += sum[i];
		far_groups++;
		return __any_sync(FULL_MASK, left != 0);
	}

	/* Deposits what all bins left of a group. */
	__device__ __forceinline__ void take_rest(T (&v)[TAKEN], SplitWord *word)
	{
		ROLLED
		for (int k = 0; k < TAKEN; k++)
		{
			double x = (double) v[0];
			double rest = bins_rest<0, ALL>(x, top);
			bool missed = rest != 0;

			if (rest != 0)
				chunks_deposit_double(word + WORD_CHUNK, rest, 0);
			if (SQUARES)
			{
				double high;
				double low;

				square(x, high, low);
				high = bins_rest<0, SQUARE_ALL>(high, square_top());
				missed |= high != 0;
				if (high != 0)
					chunks_deposit_double(word + WORD_SQUARE, high, SQUARE_UNITS);
				if (HALVES)
				{
					low = bins_rest<1, SQUARE_ALL - 1>(low, square_top());
					missed |= low != 0;
					if (low != 0)
						chunks_deposit_double(word + WORD_SQUARE, low, SQUARE_UNITS);
				}
			}
			misses += bit_count(__ballot_sync(FULL_MASK, missed));
			count_negative_zeros(word, bits_of(rest) == SIGN_BIT);
			rotate<1>(v);
		}
	}

	__device__ __forceinline__ void take(T (&v)[TAKEN], SplitWord *word, Storage &far,
										 uint32_t flush_groups)
	{
		bool inside = true;
		uint64_t left = 0;

		UNROLL
		for (int k = 0; k < TAKEN; k++)
			inside = inside & (magnitude(v[k]) < limit) & !tiny(v[k]);
		if (!__all_sync(FULL_MASK, inside))
			take_out(v, word, far);

		UNROLL
		for (int k = 0; k < TAKEN; k++)
		{
			double x = (double) v[k];
			double high;
			double low;

			left |= bits_of(bins_add<0, NEAR>(near, x, top));
			if (SQUARES)
			{
				square(x, high, low);
				left |= bits_of(bins_add<0, 2>(squares, high, square_top()));
				if (HALVES)
					left |= bits_of(bins_add<1, 2>(squares + 1, low, square_top()));
			}
		}
		groups++;
		if (__any_sync(FULL_MASK, left != 0) && take_far(v, far))
			take_rest(v, word);
		if (groups >= flush_groups || groups >= BINS_MOST / TAKEN || misses >= MISSES)
			limit = 0;
	}
};

#endif /* GPUAGG_BINS_CUH */
