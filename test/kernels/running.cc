/*
 * running.cc
 *	  What running sums of integers, minima, maxima and counts must be.
 */
#include "running.h"

#include <math.h>
#include <string.h>

/* Sign and magnitude to a number; -0 is one below +0. */
int64_t
order_number(int kind, const void *value)
{
	if (kind == GPUAGG_FLOAT64)
	{
		double x;
		uint64_t bits;

		memcpy(&x, value, sizeof(x));
		memcpy(&bits, &x, sizeof(bits));
		if (isnan(x))
			return (int64_t) GPUAGG_NAN64;
		return bits >> 63 ? -(int64_t) (bits << 1 >> 1) - 1 : (int64_t) bits;
	}
	if (kind == GPUAGG_FLOAT32)
	{
		float x;
		uint32_t bits;

		memcpy(&x, value, sizeof(x));
		memcpy(&bits, &x, sizeof(bits));
		if (isnan(x))
			return GPUAGG_NAN32;
		return bits >> 31 ? -(int64_t) (bits << 1 >> 1) - 1 : (int64_t) bits;
	}
	if (kind == GPUAGG_INT64)
	{
		int64_t v;

		memcpy(&v, value, sizeof(v));
		return v;
	}

	int32_t v;

	memcpy(&v, value, sizeof(v));
	return v;
}

/* MIN or MAX of no value. */
static int64_t
nothing(int kind, int op)
{
	double inf64 = -INFINITY;
	float inf32 = -INFINITY;

	switch (kind)
	{
		case GPUAGG_FLOAT64:
			return op == GPUAGG_MIN ? (int64_t) GPUAGG_NAN64 : order_number(kind, &inf64);
		case GPUAGG_FLOAT32:
			return op == GPUAGG_MIN ? GPUAGG_NAN32 : order_number(kind, &inf32);
		case GPUAGG_INT64:
			return op == GPUAGG_MIN ? INT64_MAX : INT64_MIN;
		default:
			return op == GPUAGG_MIN ? INT32_MAX : INT32_MIN;
	}
}

Running::Running(int k, int o, bool n) : kind(k), op(o), narrow(n), seen(false), sum(0)
{
	reset();
}

void
Running::reset()
{
	seen = false;
	sum = op == GPUAGG_MIN || op == GPUAGG_MAX ? nothing(kind, op) : 0;
}

void
Running::add(const void *value)
{
	int64_t v = op == GPUAGG_COUNT ? 1 : order_number(kind, value);

	if (op == GPUAGG_MIN)
		sum = v < sum ? v : sum;
	else if (op == GPUAGG_MAX)
		sum = v > sum ? v : sum;
	else
		sum = (__int128) ((unsigned __int128) sum + (unsigned __int128) (__int128) v);
	seen = true;
}

void
Running::carry_in(const GpuaggScanState &state)
{
	seen = state.f.counts.n > 0;
	if (seen || op == GPUAGG_SUM || op == GPUAGG_COUNT)
		sum = (__int128) ((unsigned __int128) (uint64_t) state.sum.hi << 64 | state.sum.lo);
}

uint8_t
Running::result(std::vector<unsigned char> *bytes) const
{
	size_t size = 16;
	unsigned __int128 out = (unsigned __int128) sum;
	bool overflow = false;

	if (op == GPUAGG_COUNT)
		size = 8;
	else if (op == GPUAGG_SUM && !narrow)
	{
		size = kind == GPUAGG_INT64 ? 16 : 8;
		overflow = size == 8 && (sum < INT64_MIN || sum > INT64_MAX);
	}
	else
	{
		size = gpuagg_kind_size(kind);
		if (gpuagg_kind_is_float(kind) && sum < 0)
			out = (unsigned __int128) (-sum - 1) | (unsigned __int128) 1 << (8 * size - 1);
	}
	for (size_t i = 0; i < size; i++)
		bytes->push_back((unsigned char) (out >> (8 * i)));
	return !seen ? GPUAGG_ROW_NULL : overflow ? GPUAGG_ROW_OVERFLOW : GPUAGG_ROW_VALUE;
}

/* Of the accumulator of floats only the count of values may differ from an empty one. */
bool
Running::state_is(const GpuaggScanState &state) const
{
	GpuaggScanState expected = empty_state().state;
	__int128 value = !seen && op != GPUAGG_SUM && op != GPUAGG_COUNT ? 0 : sum;

	if (narrow && op == GPUAGG_SUM)
		value = kind == GPUAGG_INT32 ? (__int128) (int32_t) sum : (__int128) (int64_t) sum;
	expected.sum.lo = (uint64_t) value;
	expected.sum.hi = (int64_t) (value >> 64);
	expected.f.counts.n = state.f.counts.n;
	return memcmp(&expected, &state, sizeof(state)) == 0 && (state.f.counts.n > 0) == seen;
}

std::vector<uint64_t>
make_validity(Nulls nulls, uint64_t n, Random &random)
{
	std::vector<uint64_t> bitmap((n + 63) / 64, ~UINT64_C(0));

	for (uint64_t i = 0; i < n; i++)
		if (nulls == ALL_NULL || (nulls == NULLS_FIRST && i < n / 2) ||
			(nulls == SOME_NULL && random.below(3) == 0))
			bitmap[i / 64] &= ~(UINT64_C(1) << (i % 64));
	return bitmap;
}

std::vector<uint64_t>
cut(const std::vector<uint64_t> &bitmap, uint64_t from, uint64_t n)
{
	std::vector<uint64_t> part((n + 63) / 64, 0);

	for (uint64_t i = 0; i < n; i++)
		part[i / 64] |= (uint64_t) bit_of(bitmap, from + i) << (i % 64);
	return part;
}

std::vector<uint64_t>
make_heads(Heads heads, uint64_t n, uint64_t tile, Random &random)
{
	std::vector<uint64_t> bitmap((n + 63) / 64, ~UINT64_C(0));

	for (uint64_t i = 0; i < n; i++)
	{
		bool head = false;

		switch (heads)
		{
			case HEADS_ALL:
				head = true;
				break;
			case HEADS_FIRST:
				head = i == 0;
				break;
			case HEADS_PAIRS:
				head = i % 2 == 1;
				break;
			case HEADS_TILES:
				head = i % tile == (i / tile % 3 == 0 ? 0 : i / tile % 3 == 1 ? tile - 1 : 1);
				break;
			case HEADS_SOME:
				head = random.below(64) == 0;
				break;
			case HEADS_FEW:
				head = random.below(5000) == 0;
				break;
			default:
				break;
		}
		if (!head)
			bitmap[i / 64] &= ~(UINT64_C(1) << (i % 64));
	}
	return bitmap;
}

static double
some_float(Random &random)
{
	switch (random.below(12))
	{
		case 0:
			return NAN;
		case 1:
			return -NAN;
		case 2:
			return INFINITY;
		case 3:
			return -INFINITY;
		case 4:
			return 0;
		case 5:
			return -0.0;
		case 6:
			return 1e-310 * random.between(-3, 3);
		default:
			return (double) random.between(-1000000, 1000000) / 7;
	}
}

std::vector<unsigned char>
make_values(int kind, int family, uint64_t n, Random &random)
{
	size_t size = gpuagg_kind_size(kind);
	const IntegerFamily &integers = integer_families[(size_t) family % integer_families.size()];
	std::vector<unsigned char> values(n * size);

	for (uint64_t i = 0; i < n; i++)
	{
		double x;
		float narrow;
		int64_t v;
		int32_t v32;
		const void *from = &v;

		switch (kind)
		{
			case GPUAGG_FLOAT64:
				x = family % 2 ? some_float(random) : (double) i * (family % 4 ? 1 : -1);
				from = &x;
				break;
			case GPUAGG_FLOAT32:
				narrow = (float) (family % 2 ? some_float(random)
											 : (double) i * (family % 4 ? 1 : -1));
				from = &narrow;
				break;
			case GPUAGG_INT64:
				v = integers.value(random, i, INT64_MIN, INT64_MAX);
				break;
			default:
				v32 = (int32_t) integers.value(random, i, INT32_MIN, INT32_MAX);
				from = &v32;
		}
		memcpy(&values[i * size], from, size);
	}
	return values;
}

GpuScanState
empty_state()
{
	GpuScanState s;

	memset(&s, 0, sizeof(s));
	s.state.f.width = GPUAGG_CHUNKS;
	return s;
}

GpuScanState
some_state(int kind, int op, bool narrow, bool edge, Random &random)
{
	GpuScanState s = empty_state();
	Running running(kind, op, narrow);

	for (int i = 0; i < 3; i++)
	{
		std::vector<unsigned char> value = make_values(kind, 1, 1, random);

		running.add(value.data());
	}
	if (edge && op == GPUAGG_SUM && !narrow)
		running.sum = random.below(2) ? (__int128) INT64_MAX - 5 : (__int128) INT64_MIN + 5;
	s.state.sum.lo = (uint64_t) running.sum;
	s.state.sum.hi = (int64_t) (running.sum >> 64);
	s.state.f.counts.n = 12345;
	return s;
}
