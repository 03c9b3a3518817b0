/*
 * float_codec.h
 *	  Bytes of exact float sums, and of sums and squares.
 *
 * A byte that says whether there are squares, the five counts, the sum, and the squares.
 * The last two are written as the place of their first digit (1 byte), how many digits
 * there are (1 byte), and balanced digits of 4 bytes each, of which neither the first nor
 * the last is 0.  So equal sums have equal bytes.
 */
#ifndef GPUAGG_FLOAT_CODEC_H
#define GPUAGG_FLOAT_CODEC_H

#include "common/codec.h"
#include "common/float_squares.h"

#define GPUAGG_FLOAT_MAX_BYTES \
	(1 + 5 * 8 + 2 * 2 + 4 * (GPUAGG_CHUNKS + 2 + GPUAGG_SQUARE_CHUNKS + 2))

/* What a state of floats holds. */
typedef struct GpuaggFloatMoments
{
	int moments; /* 1: with squares */
	GpuaggFloatSumFull sum;
	GpuaggFloatSquaresFull squares; /* all 0 if there are none */
} GpuaggFloatMoments;

/*
 * Writes a sum and, unless NULL, squares to room for GPUAGG_FLOAT_MAX_BYTES; returns how
 * many bytes it took.
 */
extern size_t gpuagg_float_encode(const GpuaggFloatSum *sum, const GpuaggFloatSum *squares,
								  uint8_t *room);

/*
 * Reads what gpuagg_float_encode() wrote.  0 if so many values cannot have these sums.
 * The result can be merged as often as the sum of its counts stays within
 * GPUAGG_MAX_COUNT.
 */
extern int gpuagg_float_decode(GpuaggReader *reader, GpuaggFloatMoments *result);

#endif /* GPUAGG_FLOAT_CODEC_H */
