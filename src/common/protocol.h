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
#include <string.h>

#include "common/algorithm.h"
#include "common/column.h"
#include "common/float_sum.h"
#include "common/int128.h"
#include "common/reason.h"

#define GPUAGG_VERSION_STRING	 "0.1.0"
#define GPUAGG_PROTOCOL_VERSION	 3
#define GPUAGG_MAGIC			 0x47414747u /* "GGAG" */
#define GPUAGG_MAX_ROWS			 (INT64_C(1) << 31)
#define GPUAGG_MAX_INFLIGHT		 8
#define GPUAGG_SORT_WORDS		 2					 /* of a key, at most */
#define GPUAGG_LADDER_ROWS		 (UINT64_C(1) << 20) /* of one LADDER request */
#define GPUAGG_BENCH_REPETITIONS 101
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
	GPUAGG_MSG_SCAN,
	GPUAGG_MSG_SORT,
	GPUAGG_MSG_LADDER, /* an algorithm by name over a short column; results go to the region */
	GPUAGG_MSG_BENCH   /* times an algorithm over a column that gpuaggd makes */
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
 * kinds, MIN, MAX and COUNT `sum` and counts.n are used, for sums of floats the
 * full accumulator.
 *
 * The counts need only tell presence: n > 0 when a row was not NULL, n_nan,
 * n_pinf and n_ninf > 0 when there was one, n > n_negzero when there was
 * anything but -0.  COUNT has the exact number in `sum`.
 */
typedef struct GpuaggScanState
{
	GpuaggInt128 sum; /* MIN, MAX: the order key */
	GpuaggFloatSumFull f;
} GpuaggScanState;

/*
 * What a reduction delivers, by operation:
 *	COUNT	n, the number of rows that are not NULL; so do all others.
 *	SUM		integer kinds: sum.  Floats: f, carries propagated (chunks below the
 *			top one in [0, 2^32)), deposits 0, all chunks.
 *	MIN,MAX	sum: the order key of the value (column.h), when n > 0.
 *	MOMENTS	as SUM, and the sum of squares.  Integer kinds: squares, 192 bits in
 *			two's complement, least significant word first.  Floats: f_squares
 *			of the finite inputs, carries propagated.
 * Width table, for the 2^40 rows that a kernel takes: int32 squares stay below
 * 2^102, int64 sums below 2^103 and squares below 2^166; chunks of floats are
 * propagated before they could reach 2^63, the top one stays below 2^58.
 */
typedef struct GpuaggReduced
{
	uint64_t n;
	GpuaggInt128 sum;
	uint64_t squares[3];
	GpuaggFloatSumFull f;
	int64_t f_squares[GPUAGG_SQUARE_CHUNKS];
} GpuaggReduced;

/* status byte of each row that a scan writes */
#define GPUAGG_ROW_VALUE	  0
#define GPUAGG_ROW_NULL		  1 /* no non-NULL input up to here */
#define GPUAGG_ROW_OVERFLOW	  2 /* finite inputs, sum out of the result type's range */

#define GPUAGG_SCAN_EXCLUSIVE 1u  /* flags */
#define GPUAGG_SCAN_VALIDITY  2u  /* a validity bitmap is given */
#define GPUAGG_SCAN_HEADS	  4u  /* a bitmap of heads is given */
#define GPUAGG_SCAN_NARROW	  8u  /* sums of integers of the values' type, modulo 2^32 or 2^64 */
#define GPUAGG_SCAN_STATUS	  16u /* a status byte a row is wanted */

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
			uint64_t offset; /* of the values in the region; COUNT has none */
			uint64_t nrows;
			uint32_t op;	/* GpuaggOp */
			uint32_t flags; /* 0 or GPUAGG_SCAN_VALIDITY */
			uint64_t validity_offset;
		} reduce;
		struct
		{
			uint32_t region;
			uint32_t kind;
			uint32_t flags; /* GPUAGG_SCAN_* */
			int32_t window; /* sums of floats: chunk number where the 256-bit window starts */
			uint32_t op;	/* GpuaggOp, but MOMENTS */
			uint32_t unused;
			uint64_t nrows;
			uint64_t values_offset;	  /* COUNT has none */
			uint64_t validity_offset; /* bit i % 64 of 64-bit word i / 64: row i is not NULL */
			uint64_t heads_offset;	  /* the same: row i starts a segment */
			uint64_t result_offset;	  /* of gpuagg_scan_result_size() bytes a row */
			uint64_t status_offset;	  /* with GPUAGG_SCAN_STATUS: one byte a row, GPUAGG_ROW_* */
			GpuaggScanState carry;
		} scan;
		struct
		{
			uint32_t region;
			uint32_t words; /* of an item's key, 1 to GPUAGG_SORT_WORDS; one more follows them */
			uint32_t bits;	/* 1 to 64 * words: by the key's low bits, stably */
			uint32_t unused;
			uint64_t nrows;	 /* at most GPUAGG_MAX_ROWS */
			uint64_t offset; /* of the items, in whose place the sorted ones come */
		} sort;
		struct
		{
			uint32_t region;
			uint32_t task; /* GpuaggTask */
			uint32_t algorithm;
			uint32_t kind;
			uint32_t op; /* SUM, MIN or MAX */
			uint32_t exclusive;
			uint64_t nrows; /* at most GPUAGG_LADDER_ROWS, and the algorithm's max_rows */
			uint64_t values_offset;
			uint64_t heads_offset;	/* SEGMENTED_SCAN */
			uint64_t result_offset; /* of gpuagg_ladder_result_size() bytes each; REDUCE: one */
		} ladder;
		struct
		{
			uint32_t task;
			uint32_t algorithm; /* also PRODUCTION, CUB, READ, COPY; none of the CPU */
			uint32_t kind;
			uint32_t repetitions; /* 1 to GPUAGG_BENCH_REPETITIONS */
			uint64_t nrows;		  /* at most GPUAGG_MAX_ROWS, and the algorithm's max_rows */
			uint64_t seed;
		} bench; /* under way for as long as its connection: closing that ends it soon */
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
		GpuaggReduced reduce;
		struct
		{
			GpuaggScanState carry;
			uint32_t overflows; /* whether a row had status GPUAGG_ROW_OVERFLOW */
		} scan;
		struct
		{
			uint64_t median_ns;	  /* of a repetition, by the device's clock */
			uint64_t bytes;		  /* read and written by one, each input and output once */
			uint64_t repetitions; /* made; fewer than asked for when they take long */
			uint64_t checksum;	  /* of the results; COPY: of the copy; READ: 0 */
		} bench;
		char pad[2032];
	} u;
} GpuaggReply;

static_assert(sizeof(GpuaggHeader) == 16, "header size crosses the process boundary");
static_assert(sizeof(GpuaggFloatSumFull) == 48 + 8 * GPUAGG_CHUNKS,
			  "accumulator size crosses the process boundary");
static_assert(offsetof(GpuaggFloatSumFull, chunk) == offsetof(GpuaggFloatSum, chunk),
			  "the two views must agree");
static_assert(sizeof(GpuaggRequest) == 768, "request size crosses the process boundary");
static_assert(sizeof(GpuaggReply) == 2048, "reply size crosses the process boundary");

/*
 * Checks a REDUCE, SCAN, SORT or LADDER request against a region of `bytes` bytes:
 * kinds, operations, flags, alignment, rows, bounds, and that outputs overlap
 * no input nor each other; of a BENCH request, which has no region, all there
 * is.  Returns GPUAGG_OK or GPUAGG_REFUSED.  Both ends call it: the client
 * before it sends, gpuaggd because it trusts nobody.
 */
extern GpuaggReason gpuagg_request_check(const GpuaggRequest *request, uint64_t bytes);

/*
 * Whether the accumulator that a REDUCE or SCAN reply carries has the shape that
 * the accumulator functions rely on.
 */
extern int gpuagg_reply_check(const GpuaggReply *reply);

/* Bytes of one result row of a scan; kernels.h says of what type. */
static inline size_t
gpuagg_scan_result_size(int kind, int op, unsigned flags)
{
	if (op == GPUAGG_COUNT)
		return 8;
	if (op != GPUAGG_SUM || (flags & GPUAGG_SCAN_NARROW) || gpuagg_kind_is_float(kind))
		return gpuagg_kind_size(kind);
	return kind == GPUAGG_INT64 ? sizeof(GpuaggInt128) : 8;
}

/* Bytes of an item of a sort whose key has so many words. */
static inline size_t
gpuagg_sort_item_size(int words)
{
	return ((size_t) words + 1) * sizeof(uint64_t);
}

/*
 * Benchmarks: inclusive sums over columns that a seed makes.  Value i is one of
 * -8 .. -1, 1 .. 8, each as likely as the other: sums of up to 2^31 of them have
 * a standard deviation below 2^18 and so, but for a chance of nothing, stay
 * below 2^24, so that plain float32 additions are exact too and every result
 * can be checked to the bit.  (splitmix64, Steele, Lea and Flood, OOPSLA 2014)
 */
static inline GPUAGG_HD int32_t
gpuagg_bench_value(uint64_t seed, uint64_t i)
{
	uint64_t z = (seed + i) * UINT64_C(0x9e3779b97f4a7c15);
	int32_t v;

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	v = (int32_t) (z & 15) - 8;
	return v < 0 ? v : v + 1;
}

/* Whether row i of such a column starts a segment: row 0, and then one in 64. */
static inline GPUAGG_HD int
gpuagg_bench_head(uint64_t seed, uint64_t i)
{
	return i == 0 || ((seed ^ i) * UINT64_C(0xd1342543de82ef95)) >> 58 == 0;
}

/*
 * The bits of a result: of int32 columns the sum modulo 2^32, sign-extended; of
 * int64 columns modulo 2^64; of float columns the double of the same value.
 */
static inline GPUAGG_HD uint64_t
gpuagg_bench_integer_bits(int kind, uint64_t sum)
{
	return kind == GPUAGG_INT32 ? (uint64_t) (int64_t) (int32_t) (uint32_t) sum : sum;
}

static inline GPUAGG_HD uint64_t
gpuagg_bench_float_bits(double sum)
{
	uint64_t bits;

	memcpy(&bits, &sum, sizeof(bits));
	return bits;
}

/*
 * What result i adds to a checksum, which is the sum of these modulo 2^64.  The
 * one result of a reduction is number 0.
 */
static inline GPUAGG_HD uint64_t
gpuagg_bench_mix(uint64_t i, uint64_t bits)
{
	uint64_t z = (bits ^ i * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);

	return z ^ z >> 32;
}

#endif /* GPUAGG_PROTOCOL_H */
