/*
 * kept_rows.c
 *	  Registers of rows that pass a program's filter, kept in a lane's block.
 */
#include "host/kept_rows.h"

#include "host/job.h"

void
gpud_rows_init(KeptRows *kept, uint64_t places, const uint16_t *registers, uint32_t n,
			   const uint8_t *types)
{
	kept->places = places;
	kept->nvalues = n;
	for (uint32_t i = 0; i < n; i++)
	{
		int type = types[registers[i]];

		kept->types[i] = (uint8_t) (type == GPUAGG_VECTOR_INT16 ? GPUAGG_VECTOR_INT32 : type);
	}
}

void
gpud_rows_place(KeptRows *kept, size_t *end)
{
	kept->rows = gpud_place(end, kept->places / 8);
	for (uint32_t i = 0; i < kept->nvalues; i++)
		kept->valid[i] = gpud_place(end, kept->places / 8);
	kept->bitmaps_end = *end;
	for (uint32_t i = 0; i < kept->nvalues; i++)
		kept->values[i] = gpud_place(end, kept->places * gpud_rows_width(kept->types[i]));
}

GpuWindowRows
gpud_rows_of(const KeptRows *kept, const Lane *lane)
{
	GpuWindowRows rows = {.places = kept->places,
						  .rows = (uint32_t *) (lane->block + kept->rows),
						  .nvalues = kept->nvalues};

	for (uint32_t i = 0; i < rows.nvalues; i++)
		rows.value[i] = (GpuWindowValue){lane->block + kept->values[i],
										 (uint32_t *) (lane->block + kept->valid[i]),
										 gpud_rows_width(kept->types[i]),
										 gpuagg_vector_type_is_float(kept->types[i])};
	return rows;
}

GpuaggReason
gpud_rows_clear(const KeptRows *kept, const Lane *lane)
{
	return gpu_memset(lane->block + kept->rows, 0, kept->bitmaps_end - kept->rows, lane->stream);
}

GpuaggReason
gpud_rows_measure(const KeptRows *kept, const GpuaggWindowKey *keys, uint32_t nkeys,
				  uint32_t summed, size_t measured, size_t scratch, const Lane *lane, void *slot)
{
	GpuWindowRows rows = gpud_rows_of(kept, lane);
	GpuWindowMeasure *result = (GpuWindowMeasure *) (lane->block + measured);
	GpuaggReason reason = gpu_window_measure(&rows, keys, nkeys, summed, result,
											 lane->block + scratch, lane->stream);

	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(slot, result, sizeof(*result), lane->stream);
	return reason;
}
