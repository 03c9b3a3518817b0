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
 * GPUAGG_VECTOR_NONE.  SUM, MIN, MAX: of a register of numbers; MOMENTS: of all but
 * INT128.  Registers are those at the program's end.
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
 * key of a value is itself), and so on; of INT128: SUM is 192 bits, of which `high` has the
 * upper 64; MIN and MAX the value itself.
 */
typedef struct GpuaggQueryTotal
{
	GpuaggReduced reduced;
	int64_t high; /* SUM of integers: bits 128 to 191 */
} GpuaggQueryTotal;

/* Of no rows, whatever the aggregate. */
extern void gpuagg_query_total_init(GpuaggQueryTotal *total);

/* Adds the rows of `from`; type: GpuaggVectorType of the value, 0: none. */
extern void gpuagg_query_total_merge(GpuaggQueryTotal *into, const GpuaggQueryTotal *from, int op,
									 int type);

/*
 * Compact bytes of a total: the count (8); of MIN and MAX, unless it is 0, the order key (16); of
 * SUM and MOMENTS of integers the sum (24) and the squares (24); of floats what
 * gpuagg_float_encode() writes.
 */
#define GPUAGG_QUERY_TOTAL_MAX_BYTES (8 + GPUAGG_FLOAT_MAX_BYTES)

/* Writes it to room, of GPUAGG_QUERY_TOTAL_MAX_BYTES; returns how many bytes it took. */
extern size_t gpuagg_query_total_write(const GpuaggQueryTotal *total, int op, int type,
									   uint8_t *room);

/* Reads what that wrote.  0 if so many rows cannot have it. */
extern int gpuagg_query_total_read(GpuaggReader *reader, int op, int type, GpuaggQueryTotal *total);

#endif /* GPUAGG_QUERY_TOTAL_H */
