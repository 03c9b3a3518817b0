/*
 * protocol.h
 *	  Messages between a backend (client) and gpuaggd.
 *
 * Transport: SOCK_SEQPACKET, one message per packet.  A request has exactly
 * sizeof(GpuaggRequest) bytes and a reply exactly sizeof(GpuaggReply).  Both
 * ends run on one host, so numbers are in host byte order.  Requests are
 * stateless: a request and the staging region that it names hold all it needs,
 * and its reply carries the whole partial result.  A client may have up to
 * GPUAGG_MAX_INFLIGHT requests under way.  Replies may come in any order and
 * are matched by id.  RELEASE has no reply.  work.h has the width table.
 *
 * Blobs are what is not stateless: they stay until they are dropped, or gpuaggd ends.  Whoever
 * names them must do without any of them: a query says which chunks it did without.
 */
#ifndef GPUAGG_PROTOCOL_H
#define GPUAGG_PROTOCOL_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/algorithm.h"
#include "common/blob.h"
#include "common/reason.h"
#include "common/reduced.h"
#include "common/work.h"

#define GPUAGG_VERSION_STRING	 "0.2.0"
#define GPUAGG_PROTOCOL_VERSION	 14
#define GPUAGG_MAGIC			 0x47414747u /* "GGAG" */
#define GPUAGG_MAX_INFLIGHT		 8
#define GPUAGG_BENCH_REPETITIONS 101
#define GPUAGG_SEGMENT_BYTES	 (UINT64_C(32) << 20)  /* of a lease for columns, */
#define GPUAGG_SEGMENT_BYTES_MAX (UINT64_C(64) << 20)  /* at most, */
#define GPUAGG_SEGMENT_BYTES_MIN (UINT64_C(256) << 10) /* and the least that there are */
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
	GPUAGG_MSG_SCAN,
	GPUAGG_MSG_SORT,
	GPUAGG_MSG_LADDER, /* an algorithm by name over a short column; results go to the region */
	GPUAGG_MSG_BENCH,  /* times an algorithm over a column that gpuaggd makes */
	GPUAGG_MSG_PUT,	   /* copies a block of a column from a region to the device, which keeps it */
	GPUAGG_MSG_DROP,   /* ends the keeping of blobs; they are freed after their last use */
	GPUAGG_MSG_QUERY   /* aggregates of a vector program over blobs; see query_wire.h */
} GpuaggMessageType;

typedef struct GpuaggHeader
{
	uint32_t magic;
	uint16_t version; /* GPUAGG_PROTOCOL_VERSION */
	uint16_t type;	  /* GpuaggMessageType; a reply repeats it */
	uint32_t id;	  /* chosen by the client; a reply repeats it */
	uint32_t reason;  /* GpuaggReason; 0 in requests */
} GpuaggHeader;

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
			uint64_t bytes;	   /* at least; the reply says how many */
			uint32_t role;	   /* whose data it will hold: a segment of another role or */
			uint32_t database; /* database is cleared before it is leased */
			uint32_t wait_ms;  /* for memory that others have on lease */
			uint32_t spare;	   /* 0 */
		} lease;
		struct
		{
			uint32_t region;
		} release;
		GpuaggWork work; /* REDUCE, SCAN, SORT and LADDER */
		struct
		{
			uint32_t task;
			uint32_t algorithm; /* also PRODUCTION, CUB, READ, COPY; no algorithm of the CPU */
			uint32_t kind;
			uint32_t repetitions; /* 1 to GPUAGG_BENCH_REPETITIONS */
			uint64_t nrows;		  /* at most GPUAGG_MAX_ROWS, and the algorithm's max_rows */
			uint64_t seed;
		} bench; /* closing its connection ends it soon */
		GpuaggPut put;
		struct
		{
			uint32_t database;
			uint32_t count; /* up to GPUAGG_DROPS; 0: all of epochs before that of names[0] */
			GpuaggBlobName names[GPUAGG_DROPS]; /* those that are unknown are passed over */
		} drop;
		struct
		{
			uint32_t region;
			uint32_t device; /* number, or ANY_DEVICE; blobs on others are stale */
			uint32_t database;
			uint32_t spare;		   /* 0 */
			uint64_t at;		   /* the query: bytes from the region's start, aligned to */
			uint64_t bytes;		   /* GPUAGG_ALIGN; with its bitmaps */
			uint64_t answer_at;	   /* the same of where the answer goes, apart from the query */
			uint64_t answer_bytes; /* no more are written */
		} query;
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
	char detail[128]; /* the driver's message, or empty */
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
			uint64_t blob_bytes;  /* of device memory that blobs take, */
			uint64_t blob_budget; /* and may take */
			uint64_t blobs;
			char detail[128];
		} hello; /* HELLO and PING */
		GpuaggDeviceInfo device;
		struct
		{
			uint32_t region;
			uint64_t bytes;
		} lease;
		GpuaggReduced reduce;
		struct
		{
			GpuaggScanState carry;
			uint32_t overflows; /* whether a row had status GPUAGG_ROW_OVERFLOW */
		} scan;
		struct
		{
			uint64_t result; /* of a reduction: gpuagg_ladder_result_size() bytes, then zeros */
		} ladder;
		struct
		{
			uint64_t median_ns;	  /* of a repetition, by the device's clock */
			uint64_t bytes;		  /* read and written by one, each input and output once */
			uint64_t repetitions; /* done; fewer than asked for when they take long */
			uint64_t checksum;	  /* of the results; COPY: of the copy; READ: 0 */
		} bench;
		struct
		{
			uint32_t device; /* where the blob is */
			uint32_t spare;
			uint64_t bytes; /* that it takes */
		} put;
		struct
		{
			uint32_t dropped;
		} drop;
		struct
		{
			uint64_t bytes;	  /* of the answer in the region */
			uint64_t ngroups; /* in it */
			uint32_t nstale;  /* chunks that are not in, by reason */
			uint32_t nflagged;
			uint32_t nslices;	 /* in which the device did it */
			uint32_t nfar;		 /* floats that are listed apart */
			uint32_t incomplete; /* not 0: ngroups is an estimate, and there are none in it */
			uint32_t nkept;		 /* slices that were chosen for an earlier query */
			uint64_t nrows;		 /* with a window: that passed the filter below it */
			uint64_t ns;		 /* from the request to the reply; */
			uint64_t ns_slices;	 /* of these, from a slice's first command to its end */
		} query;
		char pad[2032];
	} u;
} GpuaggReply;

static_assert(sizeof(GpuaggHeader) == 16, "header size crosses the process boundary");
static_assert(sizeof(GpuaggFloatSumFull) == 48 + 8 * GPUAGG_CHUNKS,
			  "accumulator size crosses the process boundary");
static_assert(offsetof(GpuaggFloatSumFull, chunk) == offsetof(GpuaggFloatSum, chunk),
			  "the two views must agree");
static_assert(sizeof(GpuaggBlobName) == 16, "names cross the process boundary");
static_assert(sizeof(GpuaggPut) == 112, "a blob's form crosses the process boundary");
static_assert(sizeof(GpuaggRequest) == 768, "request size crosses the process boundary");
static_assert(sizeof(GpuaggReply) == 2048, "reply size crosses the process boundary");

/*
 * Checks a REDUCE, SCAN, SORT or LADDER request against a region of `bytes` bytes:
 * its operation, rows and columns (gpuagg_work_columns_check()); a PUT request: form and
 * places; a QUERY request: places, but not what lies there.  Checks all fields of a BENCH or
 * DROP request, which has no region.  Returns GPUAGG_OK or GPUAGG_REFUSED.
 * Both ends call it: the client before it sends, gpuaggd because it trusts no
 * client.
 */
extern GpuaggReason gpuagg_request_check(const GpuaggRequest *request, uint64_t bytes);

/*
 * Whether the accumulator in a REDUCE or SCAN reply has the base and width that the
 * accumulator functions require.
 */
extern int gpuagg_reply_check(const GpuaggReply *reply);

#endif /* GPUAGG_PROTOCOL_H */
