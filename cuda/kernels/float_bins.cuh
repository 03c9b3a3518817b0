/*
 * float_bins.cuh
 *	  Sums of doubles in three bins of 51 bits: the cheap form of a window.
 *
 * Bins that start at place p (bit p weighs 2^(p - 1074)) hold the value
 *	  bin[0] * 2^(p + 102 - 1074) + bin[1] * 2^(p + 51 - 1074) + bin[2] * 2^(p - 1074).
 * A double below 2^(p + 153 - 1074) in magnitude falls into them by adding and
 * taking away a magic number per bin, 1.5 * 2^52 units of that bin: what stays
 * is a multiple of the unit, and its integer is in the low bits of the sum.
 * The rest of the value goes to the next bin; a rest after the last one means
 * that the value has bits below p.
 *
 * One value changes a bin by at most 2^51, so 4095 of them stay below 2^63.
 * Magic numbers are finite while p <= BINS_MAX_PLACE.
 */
#ifndef GPUAGG_FLOAT_BINS_CUH
#define GPUAGG_FLOAT_BINS_CUH

#include "device/sum256.cuh"

#define NBINS		   3
#define BIN_BITS	   51
#define BINS_SPAN	   (NBINS * BIN_BITS)
#define BINS_MAX_PLACE (2045 - 2 * BIN_BITS)
#define BIN_HALF	   (INT64_C(1) << (BIN_BITS - 1))
#define BIN_MASK	   ((INT64_C(1) << BIN_BITS) - 1)

struct Bins
{
	int64_t bin[NBINS];
};

static GPUAGG_HD inline double
double_of(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* The bits of 2^(place - 1074), place >= 0 and finite. */
static GPUAGG_HD inline uint64_t
place_bits(int place)
{
	return place < 52 ? UINT64_C(1) << place : (uint64_t) (place - 51) << 52;
}

/* The high word of a double's bits. */
static GPUAGG_HD inline uint32_t
high_word(double x)
{
	return (uint32_t) (bits_of(x) >> 32);
}

/*
 * Bins at a place: their magic numbers, the same and 2^50 units, and a quarter
 * of the unit of the middle bin.
 */
struct BinsPlace
{
	double magic[NBINS];
	double lifted[NBINS];
	uint64_t quarter;
};

/* place <= BINS_MAX_PLACE */
static GPUAGG_HD inline BinsPlace
bins_at(int place)
{
	BinsPlace at;

	UNROLL
	for (int i = 0; i < NBINS; i++)
	{
		uint64_t high = (uint32_t) (place + BIN_BITS * (NBINS - 1 - i) + 1) << 20 |
						(uint32_t) 0x80000;

		at.magic[i] = double_of(high << 32);
		at.lifted[i] = double_of(high << 32 | (uint64_t) BIN_HALF);
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

/* Adds 2^50 to all bins but the first, as bins_round() wants them. */
static GPUAGG_HD inline void
bins_lift(Bins &s)
{
	UNROLL
	for (int i = 1; i < NBINS; i++)
		s.bin[i] += BIN_HALF;
}

/*
 * The sum rounded as two doubles: the result is high + low, rounded once more,
 * to nearest.  The bins have been lifted.  `tail`, half a unit of the last bin
 * or 0, stands for something between 0 and one unit; the result is right then
 * only when it is not bins_too_close().
 *
 * What is above 51 bits of a bin goes up; the rest are the low bits of a magic
 * number, from which the lifted one is taken away.  So the bins' values a, b, c
 * are doubles, exactly; |b| is at most half a unit of a's bin, |c| of b's.
 *
 * high = a + b, rounded, and rest is the error of that.  When there is none,
 * high + c is rounded once.  Otherwise rest is a multiple of b's unit, and so
 * are the points where rounding changes between high and its neighbours: c
 * counts by its sign only.  A quarter of a unit can be added to rest exactly,
 * since rest has at most 50 bits.
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
 * Whether a result is so small beside the last bin's unit that a tail could
 * decide it in ways that bins_round() does not see: below 2^54 units, at which
 * all points where rounding changes are multiples of the unit.
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

	/* to the odd one of the two doubles around the exact sum: no float is so close */
	if (rest != 0 && bits % 2 == 0)
		bits += (rest > 0) == (sum > 0) ? 1 : (uint64_t) -1;
	return (float) double_of(bits);
}

/* The bins' value in the window that starts `shift` places below them. */
static GPUAGG_HD inline Window
bins_to_window(Bins s, int shift)
{
	Window w = window_from_integer(s.bin[2], shift);

	w = window_add(w, window_from_integer(s.bin[1], shift + BIN_BITS));
	return window_add(w, window_from_integer(s.bin[0], shift + 2 * BIN_BITS));
}

#endif /* GPUAGG_FLOAT_BINS_CUH */
