/*
 * reduce_bin_sums.cuh
 *	  Sums and sums of squares of a warp's values, in bins.
 */
#ifndef GPUAGG_REDUCE_BIN_SUMS_CUH
#define GPUAGG_REDUCE_BIN_SUMS_CUH

#include "device/grid.cuh"
#include "kernels/reduce_bins.cuh"

#define BINS_THREADS 256 /* of a block */
#define FAR_STEP	 4	 /* values that go to far bins at a time */

/*
 * A warp chooses the top again when so many of its values did not fit, and at
 * once when one in so many of a group do not.
 */
#define MISSES 512
#define MANY   8

/*
 * Moves values STEP places down, and the first ones to the end: a loop that only
 * uses the first ones keeps v in registers without being unrolled.
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

/* Far bins: one column a thread. */
template <int FAR> struct FarBins
{
	uint64_t sum[FAR][BINS_THREADS];
};

/*
 * The bins of each kind.  Values go to near bins, in registers; what is left of
 * them goes to far bins, in shared memory.  The square of a float is one double;
 * that of a double is two: high goes to the first two bins, low, at most 2^-53 of
 * it, to the second and third.
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

/* Sums of a warp's values, with SQUARES also of their squares.  All lanes call together. */
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

	/*
	 * The least top.  Where squares are two doubles, every tiny() value is below the unit
	 * of the last near bin, and its square below half the unit of the last near bin of
	 * squares: near bins leave all of them to take_rest().
	 */
	static constexpr int LOWEST = HALVES		   ? SQUARES_LOWEST + BIN_BITS * NEAR
								  : sizeof(T) == 8 ? BINS_LOWEST
												   : FLOAT32_LOWEST;
	static_assert(!HALVES || 2 * LOWEST - 1074 - BIN_BITS * SQUARE_NEAR > 2 * SQUARES_LOWEST - 1074,
				  "squares of tiny values are left by near bins");
	static_assert(!SQUARES || 2 * LOWEST - 1074 >= BINS_LOWEST, "bins of squares have a top");
	static_assert(TAKEN <= BIN_MOST_VALUES && TAKEN % FAR_STEP == 0, "bins take a group");

	typedef FarBins<FAR + SQUARE_FAR> Storage;

	int top;			 /* of bins; the same in all lanes, as the next four */
	float limit;		 /* on magnitude() of values; 0: the top is to be chosen */
	uint32_t groups;	 /* in the near bins */
	uint32_t far_groups; /* in the far bins */
	int misses;			 /* values that did not fit since the top was chosen */
	uint64_t near[NEAR];
	uint64_t squares[SQUARES ? SQUARE_NEAR : 1];

	__device__ __forceinline__ void start(Storage &far)
	{
		top = LOWEST;
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

	/* The top of the bins of squares: 2 (top - 1074) + 1074. */
	__device__ __forceinline__ int square_top() const
	{
		return 2 * top - 1074;
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
	 * Chooses the top from the largest finite value of each lane: from the largest
	 * of all of which one lane in eight has one within 2^40.
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

			size = other > size && other < size_nonfinite<T>() ? other : size;
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
		if (top < LOWEST)
			top = LOWEST;
		if (top > HIGHEST)
			top = HIGHEST;
		limit = limit_at(T(), top);
	}

	/* Whether the square is not 0, but too small to be two normal doubles. */
	static __device__ __forceinline__ bool tiny(double x)
	{
		return HALVES && x != 0 && magnitude(x) < limit_at(double(), SQUARES_LOWEST);
	}

	__device__ __forceinline__ bool fits(T v) const
	{
		return magnitude(v) < limit;
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

	/* Finite values of the warp's group that do not fit; whether others are not finite. */
	__device__ __forceinline__ int count_out(const T (&v)[TAKEN], bool &nonfinite) const
	{
		int out = 0;

		nonfinite = false;
		UNROLL
		for (int k = 0; k < TAKEN; k++)
		{
			nonfinite |= !is_finite(v[k]);
			out += is_finite(v[k]) && !fits(v[k]);
		}
		nonfinite = __any_sync(FULL_MASK, nonfinite);
		return warp_reduce_add(out);
	}

	/* Takes what does not fit out of a group, leaving zeros; chooses the top if that is due. */
	__device__ __forceinline__ void take_out(T (&v)[TAKEN], SplitWord *word, Storage &far)
	{
		bool chosen = false;
		bool nonfinite = false;
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
				out = count_out(v, nonfinite);
			if (!chosen && out >= WARP_SIZE * TAKEN / MANY)
				limit = 0;
		} while (limit == 0);
		misses += out;
		if (out > 0 || nonfinite)
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
				if (nonfinite)
					count_nonfinite(word, !finite, bits);
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

	/* Adds what the near bins left of a group to the far bins; true if they leave anything. */
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
					if (tiny(x))
					{
						left = 1;
						x = 0;
					}
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

	/* Deposits what all bins left of a group, and the squares of tiny values. */
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

				if (tiny(x))
				{
					chunks_deposit_square(word + WORD_SQUARE, x);
					missed = true;
					x = 0;
				}
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
		bool below = true;
		uint64_t left = 0;

		UNROLL
		for (int k = 0; k < TAKEN; k++)
			below = below & fits(v[k]);
		if (!__all_sync(FULL_MASK, below))
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
		if (groups >= flush_groups || groups >= BIN_MOST_VALUES / TAKEN || misses >= MISSES)
			limit = 0;
	}
};

#endif /* GPUAGG_REDUCE_BIN_SUMS_CUH */
