/*
 * protocol.h
 *	  Messages between a backend (client) and gpuaggd.
 *
 * Transport: SOCK_SEQPACKET, one message a packet, every request exactly
 * sizeof(GpuaggRequest) and every reply exactly sizeof(GpuaggReply).  Both
 * ends run on one host, so numbers are in host byte order.  Requests are
 * stateless: all a request needs is in it and in the staging region it names,
 * and its reply carries the whole partial result.  A client may have up to
 * GPUAGG_MAX_INFLIGHT requests under way; replies may come in any order and
 * are matched by id.  RELEASE has no reply.
 *
 * Width table: rows that one request may hold (GPUAGG_MAX_ROWS = 2^31) keep
 * int64 sums within 2^94 and chunks of float sums within 2^63.
 */
#ifndef GPUAGG_PROTOCOL_H
#define GPUAGG_PROTOCOL_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "column.h"
#include "float_sum.h"
#include "int128.h"
#include "reason.h"

#define GPUAGG_VERSION_STRING	 "0.1.0"
#define GPUAGG_PROTOCOL_VERSION	 1
#define GPUAGG_MAGIC			 0x47414747u /* "GGAG" */
#define GPUAGG_MAX_ROWS			 (INT64_C(1) << 31)
#define GPUAGG_MAX_INFLIGHT		 8
#define GPUAGG_ALIGN			 256				  /* of every offset in a region, bytes */
#define GPUAGG_SEGMENT_BYTES	 (UINT64_C(32) << 20) /* of a lease, unless more is asked for */
#define GPUAGG_SEGMENT_BYTES_MAX (UINT64_C(64) << 20)
#define GPUAGG_MAX_DEVICES		 16
#define GPUAGG_SOCKET_PATH		 "pg_stat_tmp/gpuagg.sock"
#define GPUAGG_LOCK_PATH		 "pg_stat_tmp/gpuagg.lock"

typedef enum GpuaggMessageType
{
	GPUAGG_MSG_HELLO = 1, /* first message of every connection */
	GPUAGG_MSG_PING,
	GPUAGG_MSG_DEVICE,	/* describe device number u.device.index */
	GPUAGG_MSG_LEASE,	/* reply carries the memfd by SCM_RIGHTS */
	GPUAGG_MSG_RELEASE, /* no reply; requests in flight on it finish first */
	GPUAGG_MSG_REDUCE,
	GPUAGG_MSG_SCAN
} GpuaggMessageType;

typedef struct GpuaggHeader
{
	uint32_t magic;
	uint16_t version; /* GPUAGG_PROTOCOL_VERSION */
	uint16_t type;	  /* GpuaggMessageType; a reply repeats it */
	uint32_t id;	  /* chosen by the client; a reply repeats it */
	uint32_t reason;  /* GpuaggReason; 0 in requests */
} GpuaggHeader;

/*
 * The running state of a scan: what has been summed up to a row.  For integer
 * kinds `sum` and counts.n are used, for floats the full accumulator.
 */
typedef struct GpuaggScanState
{
	GpuaggInt128 sum;
	GpuaggFloatSumFull f;
} GpuaggScanState;

/* status byte of each row that a scan writes */
#define GPUAGG_ROW_VALUE	  0
#define GPUAGG_ROW_NULL		  1 /* no non-NULL input up to here */
#define GPUAGG_ROW_OVERFLOW	  2 /* finite inputs, sum out of the result type's range */

#define GPUAGG_SCAN_EXCLUSIVE 1u /* flags */
#define GPUAGG_SCAN_VALIDITY  2u /* a validity bitmap is given */

typedef struct GpuaggRequest
{
	GpuaggHeader h;
	union
	{
		struct
		{
			char version[16]; /* GPUAGG_VERSION_STRING of the client */
			int32_t pid;
		} hello;
		struct
		{
			uint32_t index;
		} device;
		struct
		{
			uint64_t bytes; /* at least; the reply says how many */
		} lease;
		struct
		{
			uint32_t region;
		} release;
		struct
		{
			uint32_t region;
			uint32_t kind;	 /* GpuaggKind */
			uint64_t offset; /* of the values in the region */
			uint64_t nrows;
		} reduce;
		struct
		{
			uint32_t region;
			uint32_t kind;
			uint32_t flags; /* GPUAGG_SCAN_* */
			int32_t window; /* float64: chunk number where the 256-bit window starts */
			uint64_t nrows;
			uint64_t values_offset;
			uint64_t validity_offset; /* bit i of 64-bit word i/64: row i is not NULL */
			uint64_t result_offset;	  /* int64 for int32, int128 for int64, double for float64 */
			uint64_t status_offset;	  /* one byte a row, GPUAGG_ROW_* */
			GpuaggScanState carry;
		} scan;
		char pad[752];
	} u;
} GpuaggRequest;

typedef struct GpuaggDeviceInfo
{
	uint32_t count; /* devices that exist */
	uint32_t index;
	uint32_t usable;
	uint32_t reason; /* GpuaggReason when not usable */
	int32_t major;	 /* compute capability */
	int32_t minor;
	int32_t multiprocessors;
	int32_t simulated;	   /* 1: the simulator, no real device */
	uint64_t memory_total; /* bytes */
	uint64_t memory_free;
	uint64_t l2_bytes;
	char name[64];
	char detail[128]; /* the driver's own words, or empty */
} GpuaggDeviceInfo;

typedef struct GpuaggReply
{
	GpuaggHeader h;
	union
	{
		struct
		{
			char version[16]; /* of gpuaggd */
			int32_t pid;
			uint32_t ready;	   /* 1: device usable; 0: see h.reason */
			uint32_t inflight; /* requests under way, all clients */
			uint32_t clients;
			uint32_t leases;		/* segments on lease, all clients */
			uint64_t staging_bytes; /* leased and pooled */
			uint64_t device_bytes;
			char detail[128];
		} hello; /* HELLO and PING */
		GpuaggDeviceInfo device;
		struct
		{
			uint32_t region;
			uint64_t bytes;
		} lease;
		struct
		{
			uint64_t n;
			GpuaggInt128 sum;
			GpuaggFloatSumFull f;
		} reduce;
		struct
		{
			GpuaggScanState carry;
		} scan;
		char pad[752];
	} u;
} GpuaggReply;

static_assert(sizeof(GpuaggHeader) == 16, "header size crosses the process boundary");
static_assert(sizeof(GpuaggFloatSumFull) == 48 + 8 * GPUAGG_CHUNKS,
			  "accumulator size crosses the process boundary");
static_assert(offsetof(GpuaggFloatSumFull, chunk) == offsetof(GpuaggFloatSum, chunk),
			  "the two views must agree");
static_assert(sizeof(GpuaggRequest) == 768, "request size crosses the process boundary");
static_assert(sizeof(GpuaggReply) == 768, "reply size crosses the process boundary");

/*
 * Checks a REDUCE or SCAN request against a region of `bytes` bytes: kinds,
 * flags, alignment, rows, bounds, and that outputs overlap no input nor each
 * other.  Returns GPUAGG_OK or GPUAGG_REFUSED.  Both ends call it: the client
 * before it sends, gpuaggd because it trusts nobody.
 */
extern GpuaggReason gpuagg_request_check(const GpuaggRequest *request, uint64_t bytes);

/*
 * Whether the accumulator that a REDUCE or SCAN reply carries has the shape that
 * the accumulator functions rely on.
 */
extern int gpuagg_reply_check(const GpuaggReply *reply);

/* Bytes of one result row of a scan over this kind. */
static inline size_t
gpuagg_scan_result_size(int kind)
{
	return kind == GPUAGG_INT64 ? sizeof(GpuaggInt128) : kind == 0 ? 0 : 8;
}

#endif /* GPUAGG_PROTOCOL_H */
