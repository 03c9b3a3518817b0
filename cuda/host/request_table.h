/*
 * request_table.h
 *	  The types of request that there are.
 */
#ifndef GPUAGG_REQUEST_TABLE_H
#define GPUAGG_REQUEST_TABLE_H

#include "host/request.h"

#define GPUD_REQUEST_TYPES(ROW)                   \
	ROW(GPUAGG_MSG_HELLO, gpud_request_hello)     \
	ROW(GPUAGG_MSG_PING, gpud_request_ping)       \
	ROW(GPUAGG_MSG_DEVICE, gpud_request_device)   \
	ROW(GPUAGG_MSG_LEASE, gpud_request_lease)     \
	ROW(GPUAGG_MSG_RELEASE, gpud_request_release) \
	ROW(GPUAGG_MSG_REDUCE, gpud_request_reduce)   \
	ROW(GPUAGG_MSG_SCAN, gpud_request_scan)       \
	ROW(GPUAGG_MSG_SORT, gpud_request_sort)       \
	ROW(GPUAGG_MSG_LADDER, gpud_request_ladder)   \
	ROW(GPUAGG_MSG_BENCH, gpud_request_bench)     \
	ROW(GPUAGG_MSG_PUT, gpud_request_put)         \
	ROW(GPUAGG_MSG_DROP, gpud_request_drop)       \
	ROW(GPUAGG_MSG_QUERY, gpud_request_query)

#define GPUD_DECLARE(number, type) extern const RequestType type;
GPUD_REQUEST_TYPES(GPUD_DECLARE)
#undef GPUD_DECLARE

/* The type of a message, or NULL when its number is none. */
extern const RequestType *gpud_request_type(int number);

#endif /* GPUAGG_REQUEST_TABLE_H */
