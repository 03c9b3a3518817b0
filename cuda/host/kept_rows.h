/*
 * kept_rows.h
 *	  Registers of rows that pass a program's filter, kept in a lane's block.
 */
#ifndef GPUAGG_KEPT_ROWS_H
#define GPUAGG_KEPT_ROWS_H

#include "common/query_window.h"
#include "host/lane.h"
#include "kernels/kernels.h"
#include "kernels/query.h"

/* Registers of rows, kept at their places. */
typedef struct KeptRows
{
	uint64_t places;
	uint32_t nvalues;
	uint8_t types[GPUAGG_WINDOW_VALUES]; /* as they are kept: INT16 as INT32 */

	/* places in the lane's block */
	size_t rows;
	size_t valid[GPUAGG_WINDOW_VALUES];
	size_t bitmaps_end; /* from `rows` on they are zeros at first */
	size_t values[GPUAGG_WINDOW_VALUES];
} KeptRows;

/* Bytes of a value. */
static inline uint32_t
gpud_rows_width(int type)
{
	return (uint32_t) gpuagg_vector_type_size(type);
}

/* A number of rows with the room that kernels want. */
static inline uint64_t
gpud_rows_padded(uint64_t nrows)
{
	return (nrows + GPU_WINDOW_PAD - 1) / GPU_WINDOW_PAD * GPU_WINDOW_PAD;
}

/* types: of all registers. */
extern void gpud_rows_init(KeptRows *kept, uint64_t places, const uint16_t *registers, uint32_t n,
						   const uint8_t *types);

/* Finds places behind *end. */
extern void gpud_rows_place(KeptRows *kept, size_t *end);

/* As kernels have them. */
extern GpuWindowRows gpud_rows_of(const KeptRows *kept, const Lane *lane);

/* Enqueues the clearing of what is zeros at first. */
extern GpuaggReason gpud_rows_clear(const KeptRows *kept, const Lane *lane);

/*
 * Enqueues the measuring by so many keys, and the copy of a GpuWindowMeasure to `slot`; summed: as the
 * kernel has it.  measured, scratch: places in the lane's block.
 */
extern GpuaggReason gpud_rows_measure(const KeptRows *kept, const GpuaggWindowKey *keys,
									  uint32_t nkeys, uint32_t summed, size_t measured,
									  size_t scratch, const Lane *lane, void *slot);

#endif /* GPUAGG_KEPT_ROWS_H */
