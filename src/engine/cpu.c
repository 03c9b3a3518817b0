/*
 * cpu.c
 *	  The CPU engine.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "engine/cpu.h"

#define CHECK_ROWS 1024 /* rows between checks for interrupts */

void
gpuagg_sum_init(GpuaggSum *total, GpuaggKind kind)
{
	total->kind = kind;
	total->n = 0;
	total->sum = gpuagg_int128_from(0);
	if (kind == GPUAGG_FLOAT64)
		gpuagg_float_sum_init(gpuagg_float_sum_of(&total->f), 0, GPUAGG_CHUNKS);
}

/* A batch has at most 2^31 rows, so that int64 takes the sum of its int32. */
static inline __attribute__((always_inline)) int64
sum_int32_loop(const int32 *values, int64 nrows)
{
	typedef int32 Narrow __attribute__((vector_size(16)));
	typedef int64 Wide __attribute__((vector_size(32)));
	Wide lanes = {0};
	int64 sum;
	int64 i;

	for (i = 0; i + 4 <= nrows; i += 4)
	{
		Narrow four;

		memcpy(&four, values + i, sizeof(four));
		lanes += __builtin_convertvector(four, Wide);
	}
	sum = lanes[0] + lanes[1] + lanes[2] + lanes[3];
	for (; i < nrows; i++)
		sum += values[i];
	return sum;
}

#if defined(__x86_64__)
static __attribute__((target("avx2"))) int64
sum_int32_avx2(const int32 *values, int64 nrows)
{
	return sum_int32_loop(values, nrows);
}
#endif

static GpuaggInt128
sum_int32(const int32 *values, int64 nrows)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		return gpuagg_int128_from(sum_int32_avx2(values, nrows));
#endif
	return gpuagg_int128_from(sum_int32_loop(values, nrows));
}

static GpuaggInt128
sum_int64(const int64 *values, int64 nrows)
{
	__int128 sum = 0;
	GpuaggInt128 result;

	for (int64 i = 0; i < nrows; i++)
		sum += values[i];
	result.lo = (uint64) sum;
	result.hi = (int64) (sum >> 64);
	return result;
}

void
gpuagg_cpu_reduce(GpuaggSum *total, const void *values, int64 nrows)
{
	switch (total->kind)
	{
		case GPUAGG_INT32:
			total->sum = gpuagg_int128_add(total->sum, sum_int32(values, nrows));
			break;
		case GPUAGG_INT64:
			total->sum = gpuagg_int128_add(total->sum, sum_int64(values, nrows));
			break;
		case GPUAGG_FLOAT64:
			gpuagg_float_sum_deposit_array(&total->f, values, nrows);
			break;
	}
	total->n += nrows;
}

static inline bool
row_is_valid(const uint64 *validity, int64 i)
{
	return validity == NULL || (validity[i / 64] >> (i % 64) & 1) != 0;
}

static void
scan_int32(const int32 *values, const uint64 *validity, int64 nrows, GpuaggScanState *carry,
		   int64 *results, uint8 *status)
{
	for (int64 i = 0; i < nrows; i++)
	{
		if (row_is_valid(validity, i))
		{
			carry->sum = gpuagg_int128_add(carry->sum, gpuagg_int128_from(values[i]));
			carry->f.counts.n++;
		}
		results[i] = (int64) carry->sum.lo;
		if (carry->f.counts.n == 0)
			status[i] = GPUAGG_ROW_NULL;
		else
			status[i] = gpuagg_int128_is_int64(carry->sum) ? GPUAGG_ROW_VALUE : GPUAGG_ROW_OVERFLOW;
	}
}

static void
scan_int64(const int64 *values, const uint64 *validity, int64 nrows, GpuaggScanState *carry,
		   GpuaggInt128 *results, uint8 *status)
{
	for (int64 i = 0; i < nrows; i++)
	{
		if (row_is_valid(validity, i))
		{
			carry->sum = gpuagg_int128_add(carry->sum, gpuagg_int128_from(values[i]));
			carry->f.counts.n++;
		}
		results[i] = carry->sum;
		status[i] = carry->f.counts.n == 0 ? GPUAGG_ROW_NULL : GPUAGG_ROW_VALUE;
	}
}

static void
scan_float64(const double *values, const uint64 *validity, int64 nrows, GpuaggScanState *carry,
			 double *results, uint8 *status)
{
	GpuaggFloatSum *acc = gpuagg_float_sum_of(&carry->f);

	for (int64 i = 0; i < nrows; i++)
	{
		if (i % CHECK_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		if (row_is_valid(validity, i))
			(void) gpuagg_float_sum_deposit(acc, values[i], 1); /* a full window takes all */
		results[i] = 0;
		switch (gpuagg_float_sum_round64(acc, &results[i]))
		{
			case GPUAGG_ROUNDED_VALUE:
				status[i] = GPUAGG_ROW_VALUE;
				break;
			case GPUAGG_ROUNDED_NULL:
				status[i] = GPUAGG_ROW_NULL;
				break;
			case GPUAGG_ROUNDED_OVERFLOW:
				status[i] = GPUAGG_ROW_OVERFLOW;
				break;
		}
	}
}

void
gpuagg_cpu_scan(GpuaggKind kind, const void *values, const uint64 *validity, int64 nrows,
				GpuaggScanState *carry, void *results, uint8 *status)
{
	switch (kind)
	{
		case GPUAGG_INT32:
			scan_int32(values, validity, nrows, carry, results, status);
			break;
		case GPUAGG_INT64:
			scan_int64(values, validity, nrows, carry, results, status);
			break;
		case GPUAGG_FLOAT64:
			scan_float64(values, validity, nrows, carry, results, status);
			break;
	}
}
