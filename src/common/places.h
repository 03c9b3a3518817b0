/*
 * places.h
 *	  Counts and sums of integers by small numbers: records in an array, one for each place.
 *
 * Loops go over words of 64 rows, whose memory is there.  What lies in rows that do not count is
 * taken as it is; callers give these a place of their own.
 */
#ifndef GPUAGG_PLACES_H
#define GPUAGG_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/vector.h"

#define GPUAGG_PLACE_COPIES	 4 /* of an array, at most */
#define GPUAGG_PLACE_COLUMNS 6 /* summed at a time, at most */

/*
 * digits[i] = values[i] - first, where that is below n; returns the words, by bit, in which it is
 * not everywhere.  INT16, INT32 or INT64, which `first` is one of; n is at most 2^16 - 1.
 */
extern uint64_t gpuagg_place_digits(int type, const void *values, int words, int64_t first,
									uint32_t n, uint16_t *digits);

/* places[i] += digits[i] * step */
extern void gpuagg_place_add_digits(uint16_t *places, const uint16_t *digits, uint32_t step,
									int words);

/* INT16 or INT32 as 64 bits. */
extern void gpuagg_place_extend(int type, const void *values, int words, int64_t *extended);

/* The least number of bits, below 64, with which all values are from -2^bits on and below 2^bits. */
extern int gpuagg_place_bits(const int64_t *values, int n);

/* values[i] = 2^32 * high[i] + low[i], with low[i] from 0 on and below 2^32. */
extern void gpuagg_place_split(const int64_t *values, int words, int64_t *low, int64_t *high);

/*
 * Records of `stride` words.  Rows in turn use one of the copies of the array, so that a
 * record's next row need not wait for the one before it; copies of a record lie side by side.
 */
typedef struct GpuaggPlaceArray
{
	int64_t *words;
	uint32_t stride;
	uint32_t copies; /* 1, or GPUAGG_PLACE_COPIES */
} GpuaggPlaceArray;

/*
 * Adds, by rows' places, values of ncolumns columns, at most GPUAGG_PLACE_COLUMNS, to the words of
 * records from `first` on.  counted, where first is 1: adds 1 to word 0, and returns whether that
 * was 0 for some row.
 */
extern bool gpuagg_place_sum(const GpuaggPlaceArray *array, const uint16_t *places, int nrows,
							 const int64_t *const *columns, int ncolumns, uint32_t first,
							 bool counted);

/* A word of a place, of all copies. */
static inline int64_t
gpuagg_place_total(const GpuaggPlaceArray *array, uint32_t place, uint32_t word)
{
	const int64_t *record = array->words + (size_t) place * array->copies * array->stride + word;
	uint64_t total = 0;

	for (uint32_t c = 0; c < array->copies; c++)
		total += (uint64_t) record[c * array->stride];
	return (int64_t) total;
}

#endif /* GPUAGG_PLACES_H */
