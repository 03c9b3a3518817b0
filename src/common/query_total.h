/*
 * query_total.h
 *	  Totals of a query over blobs: what an aggregate has found, merged, written and read.
 *
 * Merging is exact, associative and commutative: slices, chunks, devices and processes cannot
 * change a bit of a result.
 */
#ifndef GPUAGG_QUERY_TOTAL_H
#define GPUAGG_QUERY_TOTAL_H

#include "common/codec.h"
#include "common/float_codec.h"
#include "common/reduced.h"

/*
 * One aggregate.  COUNT: of the rows whose value is not NULL, or of all rows where value is
 * GPUAGG_VECTOR_NONE.  SUM, MOMENTS, MIN, MAX: of a register of numbers.  Registers are those at
 * the program's end.
 */
typedef struct GpuaggQueryAggregate
{
	uint8_t op;		  /* GpuaggOp */
	uint8_t spare[3]; /* 0 */
	uint16_t value;
	uint16_t filter; /* a BOOL register: only the rows where it is true; or GPUAGG_VECTOR_NONE */
} GpuaggQueryAggregate;

/*
 * The total of an aggregate: of INT16 and INT32 as GpuaggReduced has it for INT32 (the order
 * key of a value is itself), and so on; of INT128: sums are 192 bits, of which `high` has the
 * upper 64, and sums of squares 320 bits; MIN and MAX the value itself.
 *
 * A square of INT128 is at most 2^254, so those of 2^40 rows stay below 2^295.
 */
typedef struct GpuaggQueryTotal
{
	GpuaggReduced reduced;
	int64_t high;			  /* SUM and MOMENTS of integers: bits 128 to 191 */
	uint64_t more_squares[2]; /* MOMENTS of INT128: bits 192 to 319 of the squares */
} GpuaggQueryTotal;

/* Of no rows, whatever the aggregate. */
extern void gpuagg_query_total_init(GpuaggQueryTotal *total);

/* Adds the rows of `from`; type: GpuaggVectorType of the value, 0: none. */
extern void gpuagg_query_total_merge(GpuaggQueryTotal *into, const GpuaggQueryTotal *from, int op,
									 int type);

/* A total of integers as words (int_words.h), and the other way. */
extern void gpuagg_query_total_words(const GpuaggQueryTotal *total, uint64_t *sum,
									 uint64_t *squares);
extern void gpuagg_query_total_set_words(GpuaggQueryTotal *total, const uint64_t *sum,
										 const uint64_t *squares);

/*
 * Compact bytes of a total: the count (8); of MIN and MAX, unless it is 0, the order key (16); of
 * SUM and MOMENTS of integers the sum (24) and the squares (24, of INT128 40); of floats what
 * gpuagg_float_encode() writes.
 */
#define GPUAGG_QUERY_TOTAL_MAX_BYTES (8 + GPUAGG_FLOAT_MAX_BYTES)

/* Writes it to room, of GPUAGG_QUERY_TOTAL_MAX_BYTES; returns how many bytes it took. */
extern size_t gpuagg_query_total_write(const GpuaggQueryTotal *total, int op, int type,
									   uint8_t *room);

/* Reads what that wrote.  0 if so many rows cannot have it. */
extern int gpuagg_query_total_read(GpuaggReader *reader, int op, int type, GpuaggQueryTotal *total);

#endif /* GPUAGG_QUERY_TOTAL_H */
