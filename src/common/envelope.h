/*
 * envelope.h
 *	  Header and check sum of portable aggregate states.
 *
 * A state is 'G' 'A', a version, the type of the argument, the contents (which sums),
 * the accumulator's bytes (codec.h) and a CRC-32C of all these.  It means the same
 * on every machine, and every released version stays readable.
 *
 * The check sum finds accidental damage, not malice, so readers must be safe for
 * any bytes.
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
	GPUAGG_STATE_MOMENTS = 2 /* count, sum and sum of squares */
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
 * Write the header before an accumulator's bytes, and the check sum after them for
 * a state that began at `start`.
 */
extern void gpuagg_state_begin(GpuaggWriter *w, GpuaggStateType type, GpuaggStateContents contents);
extern void gpuagg_state_end(GpuaggWriter *w, const uint8_t *start);

/*
 * Reads the header and, if the bytes are good, sets `body` to the accumulator's
 * bytes.  The caller checks whether the type can have these contents.
 */
extern GpuaggStateFault gpuagg_state_open(const uint8_t *bytes, size_t nbytes,
										  GpuaggStateHeader *header, GpuaggReader *body);

#endif /* GPUAGG_ENVELOPE_H */
