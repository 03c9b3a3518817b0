/*
 * envelope.h
 *	  Aggregate states between servers: what surrounds an accumulator's bytes.
 *
 * A state is 'G' 'A', a version, the type of the argument, what has been summed
 * up, the accumulator's own bytes (codec.h) and a CRC-32C of all that.  It means
 * the same on every machine, and a version once released is read for ever.
 *
 * The check sum finds what happened on the way, not malice: whoever reads a state
 * takes any bytes.
 */
#ifndef GPUAGG_ENVELOPE_H
#define GPUAGG_ENVELOPE_H

#include "common/codec.h"

#define GPUAGG_STATE_VERSION	  1
#define GPUAGG_STATE_HEADER_BYTES 5
#define GPUAGG_STATE_CRC_BYTES	  4
#define GPUAGG_STATE_AROUND		  (GPUAGG_STATE_HEADER_BYTES + GPUAGG_STATE_CRC_BYTES)

/* Types of arguments; the numbers are part of the format. */
typedef enum GpuaggStateType
{
	GPUAGG_STATE_INT2 = 1,
	GPUAGG_STATE_INT4 = 2,
	GPUAGG_STATE_INT8 = 3,
	GPUAGG_STATE_MONEY = 4,
	GPUAGG_STATE_FLOAT4 = 5,
	GPUAGG_STATE_FLOAT8 = 6,
	GPUAGG_STATE_NUMERIC = 7,
	GPUAGG_STATE_INTERVAL = 8
} GpuaggStateType;

typedef enum GpuaggStateContents
{
	GPUAGG_STATE_SUMS = 1,	 /* count and sum */
	GPUAGG_STATE_MOMENTS = 2 /* and sum of squares */
} GpuaggStateContents;

typedef struct GpuaggStateHeader
{
	int version;
	GpuaggStateType type;
	GpuaggStateContents contents;
} GpuaggStateHeader;

typedef enum GpuaggStateFault
{
	GPUAGG_STATE_GOOD,
	GPUAGG_STATE_FOREIGN,		/* no aggregate state at all */
	GPUAGG_STATE_OTHER_VERSION, /* header->version says which */
	GPUAGG_STATE_DAMAGED		/* cut off, or the check sum is wrong */
} GpuaggStateFault;

/*
 * Writes what comes before an accumulator's bytes; and what comes after them, of
 * a state that began at `start`.
 */
extern void gpuagg_state_begin(GpuaggWriter *w, GpuaggStateType type, GpuaggStateContents contents);
extern void gpuagg_state_end(GpuaggWriter *w, const uint8_t *start);

/*
 * Reads the header of these bytes and, when they are good, leaves the accumulator's
 * own to `body`.  Whether such a type has such contents is the caller's to ask.
 */
extern GpuaggStateFault gpuagg_state_open(const uint8_t *bytes, size_t nbytes,
										  GpuaggStateHeader *header, GpuaggReader *body);

#endif /* GPUAGG_ENVELOPE_H */
