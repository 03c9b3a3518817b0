/*
 * scan_bins.cuh
 *	  Sums of doubles in three bins: a Sum256 (sum256.cuh) at a fraction of its cost.
 *
 * Three bins at place p hold
 *	  bin[0] * 2^(p + 102 - 1074) + bin[1] * 2^(p + 51 - 1074) + bin[2] * 2^(p - 1074)
 * and take doubles below 2^(p + 153 - 1074).  A rest after the last bin (bin.cuh)
 * means that the value has bits below p.  Magic numbers are finite while
 * p <= BINS_MAX_PLACE.
 */
#ifndef GPUAGG_SCAN_BINS_CUH
#define GPUAGG_SCAN_BINS_CUH

#include "kernels/bin.cuh"
#include "kernels/sum256.cuh"

#define NBINS		   3
#define BINS_SPAN	   (NBINS * BIN_BITS)
#define BINS_MAX_PLACE (2045 - 2 * BIN_BITS)
#define BIN_HALF	   (INT64_C(1) << (BIN_BITS - 1))
#define BIN_MASK	   ((INT64_C(1) << BIN_BITS) - 1)

struct Bins
{
	int64_t bin[NBINS];
};

/* The high word of a double's bits. */
static GPUAGG_HD inline uint32_t
high_word(double x)
{
	return (uint32_t) (bits_of(x) >> 32);
}

/* Constants of bins at a place. */
struct BinsPlace
{
	double magic[NBINS];
	double lifted[NBINS]; /* magic numbers plus 2^50 units */
	uint64_t quarter;	  /* a quarter of the middle bin's unit, as bits */
};

/* place <= BINS_MAX_PLACE */
static GPUAGG_HD inline BinsPlace
bins_at(int place)
{
	BinsPlace at;

	UNROLL
	for (int i = 0; i < NBINS; i++)
	{
		uint64_t magic = bin_magic_bits(place + BIN_BITS * (NBINS - 1 - i));

		at.magic[i] = double_of(magic);
		at.lifted[i] = double_of(magic | (uint64_t) BIN_HALF);
	}
	at.quarter = place_bits(place + BIN_BITS - 2);
	return at;
}

static GPUAGG_HD inline Bins
bins_zero()
{
	Bins s = {{0, 0, 0}};

	return s;
}

static GPUAGG_HD inline void
bins_add(Bins &s, const Bins &other)
{
	UNROLL
	for (int i = 0; i < NBINS; i++)
		s.bin[i] += other.bin[i];
}

/* Adds x; returns what is left of it, not 0 when x has bits below the bins. */
static GPUAGG_HD inline double
bins_deposit(Bins &s, double x, const BinsPlace &at)
{
	UNROLL
	for (int i = 0; i < NBINS; i++)
	{
		double t = x + at.magic[i];

		s.bin[i] = (int64_t) ((uint64_t) s.bin[i] + bits_of(t) - bits_of(at.magic[i]));
		x = x - (t - at.magic[i]);
	}
	return x;
}

/* Adds 2^50 to all bins but the first, for bins_round(). */
static GPUAGG_HD inline void
bins_lift(Bins &s)
{
	UNROLL
	for (int i = 1; i < NBINS; i++)
		s.bin[i] += BIN_HALF;
}

/* Takes that out again. */
static GPUAGG_HD inline void
bins_lower(Bins &s)
{
	UNROLL
	for (int i = 1; i < NBINS; i++)
		s.bin[i] -= BIN_HALF;
}

/*
 * Two doubles whose sum, rounded to nearest once more, is the rounded sum of the
 * bins, which have been lifted.  `tail`, half a unit of the last bin or 0, stands
 * for something between 0 and one unit; with a tail the result is right only if
 * it is not bins_too_close().
 *
 * What a bin has above 51 bits is carried to the next.  The other bits are put
 * into a magic number, from which the lifted one is subtracted.  So the bins'
 * values a, b, c become doubles, exactly; |b| is at most half a unit of a's bin,
 * |c| half a unit of b's.
 *
 * high = a + b, rounded; rest is the error of that.  If rest is 0, high + c is
 * rounded once.  Otherwise rest is a multiple of b's unit, and so are the points
 * between high and its neighbours at which rounding changes: only the sign of c
 * matters.  A quarter of a unit can be added to rest exactly, since rest has at
 * most 50 bits.
 */
static GPUAGG_HD inline void
bins_round(const Bins &s, const BinsPlace &at, double tail, double *high, double *low)
{
	double part[NBINS];
	int64_t up = 0;

	UNROLL
	for (int i = NBINS - 1; i > 0; i--)
	{
		uint64_t sum = (uint64_t) (s.bin[i] + up);

		up = (int64_t) sum >> BIN_BITS;
		part[i] = double_of((sum & BIN_MASK) | bits_of(at.magic[i])) - at.lifted[i];
	}
	part[0] = double_of((uint64_t) (s.bin[0] + up) + bits_of(at.magic[0])) - at.magic[0];

	double last = part[2] + tail;
	double sum = part[0] + part[1];
	double rest = part[1] - (sum - part[0]);
	uint64_t nudge = last == 0 ? 0 : (bits_of(last) & SIGN_BIT) | at.quarter;
	double nudged = rest + double_of(nudge);

	*high = sum;
	*low = rest == 0 ? last : nudged;
}

/*
 * Whether a tail could change the rounding of this result in ways that bins_round()
 * does not see.  From 2^54 units of the last bin on it cannot: there all points at
 * which rounding changes are multiples of the unit.
 */
static GPUAGG_HD inline bool
bins_too_close(double result, int place)
{
	return (bits_of(result) & ~SIGN_BIT) < place_bits(place + 54);
}

/* high + low rounded to the nearest float, once. */
static GPUAGG_HD inline float
round_to_float(double high, double low)
{
	double sum = high + low;
	double rest = low - (sum - high);
	uint64_t bits = bits_of(sum);

	/* of the two doubles around the exact sum, the one that ends in 1: see sum256_round() */
	if (rest != 0 && bits % 2 == 0)
		bits += (rest > 0) == (sum > 0) ? 1 : (uint64_t) -1;
	return (float) double_of(bits);
}

/* The bins' value in units `shift` places below theirs. */
static GPUAGG_HD inline Sum256
bins_to_sum256(Bins s, int shift)
{
	Sum256 w = sum256_from_integer(s.bin[2], shift);

	w = sum256_add(w, sum256_from_integer(s.bin[1], shift + BIN_BITS));
	return sum256_add(w, sum256_from_integer(s.bin[0], shift + 2 * BIN_BITS));
}

#endif /* GPUAGG_SCAN_BINS_CUH */
