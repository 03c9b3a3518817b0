/*
 * query_order_rows.c
 *	  Rows of a query's window that are asked for: kept, counted, gathered and sent.
 */
#include "host/query_order_rows.h"

void
gpud_order_init_rows(QueryOrder *order, const uint8_t *types, uint64_t answer, uint32_t part,
					 uint32_t parts)
{
	const GpuaggWindow *window = &order->window;
	OrderedRows *out = &order->out;
	uint64_t row_bits = 0;

	out->part = part;
	out->parts = parts;
	gpud_rows_init(&out->kept, gpud_rows_padded(window->places), window->out, window->nout, types);
	for (uint32_t i = 0; i < window->nout; i++)
		row_bits += 8 * gpud_rows_width(out->kept.types[i]) + 1;
	/* each part is rounded up, and so are the words of a bitmap */
	if (row_bits > 0 && answer > window->nout * (uint64_t) 192)
		out->room = (answer - window->nout * (uint64_t) 192) * 8 / row_bits;
	if (out->room > window->places)
		out->room = window->places;
}

GpuaggReason
gpud_order_keep_rows(QueryOrder *order, const Lane *lane, const GpuQuery *above, void *slot)
{
	GpuWindowRows rows = gpud_rows_of(&order->out.kept, lane);
	GpuaggReason reason = gpud_rows_clear(&order->out.kept, lane);

	if (reason == GPUAGG_OK)
		reason = gpu_query_keep(above, &rows, 0, lane->stream);
	return reason == GPUAGG_OK ? gpud_rows_measure(&order->out.kept, order->window.keys, 0, 0,
												   order->measured, order->scratch, lane, slot)
							   : reason;
}

void
gpud_order_kept_rows(QueryOrder *order, const void *slot)
{
	OrderedRows *out = &order->out;
	uint64_t nrows = ((const GpuWindowMeasure *) slot)->nrows;

	/* rows and parts are so few that this is no overflow */
	out->first = nrows * out->part / out->parts;
	out->nrows = nrows * (out->part + 1) / out->parts - out->first;
}

GpuaggReason
gpud_order_send_rows(const QueryOrder *order, const Lane *lane, char *to)
{
	const OrderedRows *out = &order->out;
	GpuWindowRows rows = gpud_rows_of(&out->kept, lane);
	GpuWindowGathered gathered[GPUAGG_WINDOW_VALUES];
	const GpuWindowMasks masks = {{0}, {0}};
	uint64_t *items = (uint64_t *) (lane->block + order->items);
	GpuaggReason reason;

	if (out->nrows > out->room)
		return GPUAGG_OK;
	for (uint32_t i = 0; i < out->kept.nvalues; i++)
		gathered[i] = (GpuWindowGathered){&rows.value[i], lane->block + out->gathered[i],
										  (uint32_t *) (lane->block + out->gathered_valid[i]),
										  rows.value[i].bytes};
	reason = gpu_window_pack(&rows, NULL, NULL, 0, 1, lane->block + order->scratch, items,
							 lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_window_gather(items + out->first * (gpuagg_sort_item_size(1) / sizeof(*items)),
								   out->nrows, 1, &masks, gathered, out->kept.nvalues,
								   (uint64_t *) (lane->block + order->partitions),
								   (uint64_t *) (lane->block + order->peers), lane->stream);
	for (uint32_t i = 0; i < out->kept.nvalues && reason == GPUAGG_OK && out->nrows > 0; i++)
	{
		uint64_t bytes = gpuagg_window_out_bytes(out->kept.types[i], out->nrows);
		uint64_t bitmap = gpuagg_window_aligned((out->nrows + 63) / 64 * 8);

		reason = gpu_copy_out(to, lane->block + out->gathered[i], out->nrows * rows.value[i].bytes,
							  lane->stream);
		if (reason == GPUAGG_OK)
			reason = gpu_copy_out(to + bytes - bitmap, lane->block + out->gathered_valid[i],
								  (out->nrows + 63) / 64 * 8, lane->stream);
		to += bytes;
	}
	return reason;
}

uint64_t
gpud_order_rows_bytes(const QueryOrder *order)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < order->out.kept.nvalues; i++)
		bytes += gpuagg_window_out_bytes(order->out.kept.types[i], order->out.nrows);
	return bytes;
}
