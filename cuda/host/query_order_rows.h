/*
 * query_order_rows.h
 *	  Rows of a query's window that are asked for: kept, counted, gathered and sent.
 */
#ifndef GPUAGG_QUERY_ORDER_ROWS_H
#define GPUAGG_QUERY_ORDER_ROWS_H

#include "host/query_order.h"

/*
 * Before the order is planned: takes the rows of a part, of registers of these types, for an answer
 * of so many bytes.
 */
extern void gpud_order_init_rows(QueryOrder *order, const uint8_t *types, uint64_t answer,
								 uint32_t part, uint32_t parts);

/*
 * When functions have been computed: enqueues the keeping of the second program's registers and the
 * copy of their measures to `slot`; then takes these over.
 */
extern GpuaggReason gpud_order_keep_rows(QueryOrder *order, const Lane *lane, const GpuQuery *above,
										 void *slot);
extern void gpud_order_kept_rows(QueryOrder *order, const void *slot);

/* Then enqueues the copy of the part's rows to an answer, and says their bytes there. */
extern GpuaggReason gpud_order_send_rows(const QueryOrder *order, const Lane *lane, char *to);
extern uint64_t gpud_order_rows_bytes(const QueryOrder *order);

#endif /* GPUAGG_QUERY_ORDER_ROWS_H */
