/*
 * cpu_scan.c
 *	  The CPU engine: scans.
 *
 * The state of integers, minima, maxima and counts is one number.  Sums of floats
 * have an accumulator.  Every row rounds it, so each block of rows uses one that
 * is only as wide as the block's values and the carry need.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "common/float_moments.h"
#include "common/int192.h"
#include "engine/cpu.h"

#define CHECK_ROWS 1024 /* rows between checks for interrupts; a block of float sums */

/* The statuses of rows are the outcomes of rounding. */
StaticAssertDecl(GPUAGG_ROUNDED_VALUE == (int) GPUAGG_ROW_VALUE, "status of a rounded value");
StaticAssertDecl(GPUAGG_ROUNDED_NULL == (int) GPUAGG_ROW_NULL, "status of no value");
StaticAssertDecl(GPUAGG_ROUNDED_OVERFLOW == (int) GPUAGG_ROW_OVERFLOW, "status of an overflow");

typedef void (*ScanFunction)(const Flight *scan, GpuaggScanState *carry);

static inline bool
is_valid(const Flight *scan, int64 i)
{
	return scan->validity == NULL || gpuagg_bit(scan->validity, i);
}

static inline bool
is_head(const Flight *scan, int64 i)
{
	return scan->heads != NULL && gpuagg_bit(scan->heads, i);
}

/* ---- one number as the state ---- */

static pg_attribute_always_inline int64
identity_of(GpuaggKind kind, GpuaggOp op)
{
	switch (op)
	{
		case GPUAGG_MIN:
			return gpuagg_greatest_key(kind);
		case GPUAGG_MAX:
			return gpuagg_least_key(kind);
		default:
			return 0;
	}
}

/* Stores a row's result and status; the number is over n values. */
static pg_attribute_always_inline void
put_number(GpuaggKind kind, GpuaggOp op, const Flight *scan, int64 i, __int128 number, int64 n)
{
	void *results = scan->results;
	uint8 status = n > 0 ? GPUAGG_ROW_VALUE : GPUAGG_ROW_NULL;

	if (op == GPUAGG_COUNT)
		((int64 *) results)[i] = (int64) number;
	else if (op == GPUAGG_SUM && kind == GPUAGG_INT32)
	{
		((int64 *) results)[i] = (int64) number;
		if ((int64) number != number)
			status = GPUAGG_ROW_OVERFLOW;
	}
	else if (op == GPUAGG_SUM)
	{
		((GpuaggInt128 *) results)[i].lo = (uint64) number;
		((GpuaggInt128 *) results)[i].hi = (int64) (number >> 64);
	}
	else if (kind == GPUAGG_INT32)
		((int32 *) results)[i] = (int32) number;
	else if (kind == GPUAGG_INT64)
		((int64 *) results)[i] = (int64) number;
	else if (kind == GPUAGG_FLOAT32)
		((uint32 *) results)[i] = gpuagg_order_bits32((int32) number);
	else
		((uint64 *) results)[i] = gpuagg_order_bits64((int64) number);
	if (scan->status != NULL)
		scan->status[i] = status;
}

static pg_attribute_always_inline void
scan_numbers(GpuaggKind kind, GpuaggOp op, const Flight *scan, GpuaggScanState *carry)
{
	__int128 identity = identity_of(kind, op);
	int64 nrows = (int64) scan->work.nrows;
	bool exclusive = (scan->work.flags & GPUAGG_SCAN_EXCLUSIVE) != 0;
	int64 n = carry->f.counts.n;
	unsigned __int128 carried = (unsigned __int128) carry->sum.hi << 64 | carry->sum.lo;
	__int128 number = n > 0 ? (__int128) carried : identity;

	for (int64 i = 0; i < nrows; i++)
	{
		if (i % CHECK_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		if (is_head(scan, i))
		{
			number = identity;
			n = 0;
		}
		if (exclusive)
			put_number(kind, op, scan, i, number, n);
		if (is_valid(scan, i))
		{
			int64 value = op == GPUAGG_COUNT ? 1 : gpuagg_key_at(kind, scan->values, i);

			if (op == GPUAGG_MIN)
				number = Min((int64) number, value);
			else if (op == GPUAGG_MAX)
				number = Max((int64) number, value);
			else
				number += value;
			n++;
		}
		if (!exclusive)
			put_number(kind, op, scan, i, number, n);
	}
	carry->sum.lo = (uint64) number;
	carry->sum.hi = (int64) (number >> 64);
	carry->f.counts.n = n;
}

#define DEFINE_SCAN(name, kind, op)                                     \
	static void scan_##name(const Flight *scan, GpuaggScanState *carry) \
	{                                                                   \
		scan_numbers(kind, op, scan, carry);                            \
	}

DEFINE_SCAN(sum_int32, GPUAGG_INT32, GPUAGG_SUM)
DEFINE_SCAN(min_int32, GPUAGG_INT32, GPUAGG_MIN)
DEFINE_SCAN(max_int32, GPUAGG_INT32, GPUAGG_MAX)
DEFINE_SCAN(sum_int64, GPUAGG_INT64, GPUAGG_SUM)
DEFINE_SCAN(min_int64, GPUAGG_INT64, GPUAGG_MIN)
DEFINE_SCAN(max_int64, GPUAGG_INT64, GPUAGG_MAX)
DEFINE_SCAN(min_float32, GPUAGG_FLOAT32, GPUAGG_MIN)
DEFINE_SCAN(max_float32, GPUAGG_FLOAT32, GPUAGG_MAX)
DEFINE_SCAN(min_float64, GPUAGG_FLOAT64, GPUAGG_MIN)
DEFINE_SCAN(max_float64, GPUAGG_FLOAT64, GPUAGG_MAX)
DEFINE_SCAN(count, GPUAGG_INT64, GPUAGG_COUNT)

/* ---- wide integers ---- */

/* Stores a row's result, of some words, and status; it is over n values. */
static inline void
put_wide(const Flight *scan, int64 i, const uint64 *words, int nwords, int64 n)
{
	memcpy((uint64 *) scan->results + i * nwords, words, nwords * sizeof(uint64));
	if (scan->status != NULL)
		scan->status[i] = n > 0 ? GPUAGG_ROW_VALUE : GPUAGG_ROW_NULL;
}

/* In 192 bits: 2^63 values of 128 fit. */
static void
scan_wide_sum(const Flight *scan, GpuaggScanState *carry)
{
	const GpuaggInt128 *values = scan->values;
	int64 nrows = (int64) scan->work.nrows;
	bool exclusive = (scan->work.flags & GPUAGG_SCAN_EXCLUSIVE) != 0;
	int64 n = carry->f.counts.n;
	uint64 sum[GPUAGG_INT192_WORDS] = {0};

	if (n > 0)
	{
		sum[0] = carry->sum.lo;
		sum[1] = (uint64) carry->sum.hi;
		sum[2] = (uint64) carry->f.chunk[0];
	}
	for (int64 i = 0; i < nrows; i++)
	{
		if (i % CHECK_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		if (is_head(scan, i))
		{
			memset(sum, 0, sizeof(sum));
			n = 0;
		}
		if (exclusive)
			put_wide(scan, i, sum, GPUAGG_INT192_WORDS, n);
		if (is_valid(scan, i))
		{
			uint64 value[] = {values[i].lo, (uint64) values[i].hi, (uint64) (values[i].hi >> 63)};

			gpuagg_int192_add(sum, value);
			n++;
		}
		if (!exclusive)
			put_wide(scan, i, sum, GPUAGG_INT192_WORDS, n);
	}
	carry->sum.lo = sum[0];
	carry->sum.hi = (int64) sum[1];
	carry->f.chunk[0] = (int64) sum[2];
	carry->f.counts.n = n;
}

static pg_attribute_always_inline void
scan_wide_extremes(GpuaggOp op, const Flight *scan, GpuaggScanState *carry)
{
	const GpuaggInt128 *values = scan->values;
	int64 nrows = (int64) scan->work.nrows;
	bool exclusive = (scan->work.flags & GPUAGG_SCAN_EXCLUSIVE) != 0;
	int64 n = carry->f.counts.n;
	GpuaggInt128 extreme = carry->sum;

	for (int64 i = 0; i < nrows; i++)
	{
		if (i % CHECK_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		if (is_head(scan, i))
			n = 0;
		if (exclusive)
			put_wide(scan, i, (const uint64 *) &extreme, 2, n);
		if (is_valid(scan, i))
		{
			__int128 value = gpuagg_int128_wide(values[i]);
			__int128 other = gpuagg_int128_wide(extreme);

			if (n == 0 || (op == GPUAGG_MIN ? value < other : value > other))
				extreme = values[i];
			n++;
		}
		if (!exclusive)
			put_wide(scan, i, (const uint64 *) &extreme, 2, n);
	}
	carry->sum = extreme;
	carry->f.counts.n = n;
}

static void
scan_wide_min(const Flight *scan, GpuaggScanState *carry)
{
	scan_wide_extremes(GPUAGG_MIN, scan, carry);
}

static void
scan_wide_max(const Flight *scan, GpuaggScanState *carry)
{
	scan_wide_extremes(GPUAGG_MAX, scan, carry);
}

/* ---- sums of floats ---- */

typedef union BlockSum
{
	GpuaggFloatSum acc;
	char space[GPUAGG_FLOAT_SUM_SIZE(GPUAGG_CHUNKS)];
} BlockSum;

static pg_attribute_always_inline double
float_at(GpuaggKind kind, const void *values, int64 i)
{
	return kind == GPUAGG_FLOAT32 ? (double) ((const float *) values)[i]
								  : ((const double *) values)[i];
}

/*
 * Sets *sum to the carry, wide enough for the rows [first, last) too; a value takes
 * three chunks.
 */
static pg_attribute_always_inline void
begin_block(GpuaggKind kind, const Flight *scan, int64 first, int64 last, BlockSum *sum,
			const GpuaggFloatSum *carry)
{
	int low = GPUAGG_CHUNKS - 3;
	int high = 2;
	int carry_first;
	int carry_last;

	for (int64 i = first; i < last; i++)
	{
		double value = is_valid(scan, i) ? float_at(kind, scan->values, i) : 0;
		uint64 bits;
		int exponent;
		int place;

		memcpy(&bits, &value, sizeof(bits));
		exponent = (int) (bits >> 52) & 0x7ff;
		if (exponent == 0x7ff || value == 0)
			continue;
		place = (Max(exponent, 1) - 1) / 32;
		low = Min(low, place);
		high = Max(high, place + 2);
	}
	gpuagg_float_sum_extent(carry, &carry_first, &carry_last);
	if (carry_first <= carry_last)
	{
		low = Min(low, carry_first);
		high = Max(high, carry_last);
	}
	if (low > high - 2) /* nothing but zeros */
		low = high - 2;
	gpuagg_float_sum_init(&sum->acc, low, high - low + 1);
	gpuagg_float_sum_merge(&sum->acc, carry);
}

static pg_attribute_always_inline void
put_float(GpuaggKind kind, bool averages, const Flight *scan, int64 i, const GpuaggFloatSum *acc)
{
	GpuaggRounded rounded;

	if (averages)
	{
		double result = 0;

		rounded = gpuagg_float_average(acc, &result);
		((double *) scan->results)[i] = result;
	}
	else if (kind == GPUAGG_FLOAT32)
	{
		float result = 0;

		rounded = gpuagg_float_sum_round32(acc, &result);
		((float *) scan->results)[i] = result;
	}
	else
	{
		double result = 0;

		rounded = gpuagg_float_sum_round64(acc, &result);
		((double *) scan->results)[i] = result;
	}
	if (scan->status != NULL)
		scan->status[i] = (uint8) rounded;
}

static pg_attribute_always_inline void
scan_floats(GpuaggKind kind, const Flight *scan, GpuaggScanState *carry)
{
	GpuaggFloatSum *full = gpuagg_float_sum_of(&carry->f);
	int64 nrows = (int64) scan->work.nrows;
	bool averages = (scan->work.flags & GPUAGG_SCAN_AVERAGE) != 0;
	bool exclusive = (scan->work.flags & GPUAGG_SCAN_EXCLUSIVE) != 0;

	gpuagg_float_sum_propagate(full);
	for (int64 first = 0; first < nrows; first += CHECK_ROWS)
	{
		int64 last = Min(first + CHECK_ROWS, nrows);
		BlockSum sum;

		CHECK_FOR_INTERRUPTS();
		begin_block(kind, scan, first, last, &sum, full);
		for (int64 i = first; i < last; i++)
		{
			if (is_head(scan, i))
				gpuagg_float_sum_init(&sum.acc, sum.acc.base, sum.acc.width);
			if (exclusive)
				put_float(kind, averages, scan, i, &sum.acc);
			if (is_valid(scan, i))
				(void) gpuagg_float_sum_deposit(&sum.acc, float_at(kind, scan->values, i), 1);
			if (!exclusive)
				put_float(kind, averages, scan, i, &sum.acc);
		}
		gpuagg_float_sum_init(full, 0, GPUAGG_CHUNKS);
		gpuagg_float_sum_merge(full, &sum.acc);
	}
}

static void
scan_sum_float32(const Flight *scan, GpuaggScanState *carry)
{
	scan_floats(GPUAGG_FLOAT32, scan, carry);
}

static void
scan_sum_float64(const Flight *scan, GpuaggScanState *carry)
{
	scan_floats(GPUAGG_FLOAT64, scan, carry);
}

/* ---- all of them ---- */

static const ScanFunction scan_functions[][GPUAGG_COUNT + 1] = {
	[GPUAGG_INT32] = {[GPUAGG_SUM] = scan_sum_int32,
					  [GPUAGG_MIN] = scan_min_int32,
					  [GPUAGG_MAX] = scan_max_int32,
					  [GPUAGG_COUNT] = scan_count},
	[GPUAGG_INT64] = {[GPUAGG_SUM] = scan_sum_int64,
					  [GPUAGG_MIN] = scan_min_int64,
					  [GPUAGG_MAX] = scan_max_int64,
					  [GPUAGG_COUNT] = scan_count},
	[GPUAGG_FLOAT32] = {[GPUAGG_SUM] = scan_sum_float32,
						[GPUAGG_MIN] = scan_min_float32,
						[GPUAGG_MAX] = scan_max_float32,
						[GPUAGG_COUNT] = scan_count},
	[GPUAGG_FLOAT64] = {[GPUAGG_SUM] = scan_sum_float64,
						[GPUAGG_MIN] = scan_min_float64,
						[GPUAGG_MAX] = scan_max_float64,
						[GPUAGG_COUNT] = scan_count},
};

static const ScanFunction wide_functions[GPUAGG_COUNT + 1] = {
	[GPUAGG_SUM] = scan_wide_sum,
	[GPUAGG_MIN] = scan_wide_min,
	[GPUAGG_MAX] = scan_wide_max,
};

void
gpuagg_cpu_scan(const Flight *scan, GpuaggScanState *carry)
{
	if (scan->work.flags & GPUAGG_SCAN_WIDE)
		wide_functions[scan->work.op](scan, carry);
	else
		scan_functions[scan->work.kind][scan->work.op](scan, carry);
}
