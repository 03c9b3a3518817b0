/*
 * query.h
 *	  Aggregates of vector programs over resident columns.
 *
 * A query runs a program (common/vector.h) over the rows of many chunks and adds up some of
 * its registers.  It is planned once on the host, for the constants that the program has
 * then; the plan is plain data that a launch copies.  As in kernels.h: functions enqueue and
 * return, allocate nothing, and results are the same to the bit whatever the grid.
 *
 * Rows that the program flags: the kernel sets flagged[] of their chunks, and counts tiles
 * with such rows.  If there is any, results mean nothing; the same query launched again leaves
 * out the chunks that are flagged by then, and its results are those of all the others.  So
 * nothing is paid while nothing is flagged.
 */
#ifndef GPUAGG_QUERY_H
#define GPUAGG_QUERY_H

#include "common/query_total.h"
#include "device/gpu.h"
#include "kernels/query_plan.h"
#include "kernels/window.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GPU_QUERY_UNIT	256 /* rows; chunks are numbered in these */
#define GPU_QUERY_ALIGN 64	/* of values and bitmaps; their memory is a multiple of it */

typedef GpuaggQueryAggregate GpuQueryAggregate;

/*
 * Makes a plan.  REFUSED: the program is none, or has ROW, LIKE, BYTES or DATUM, or is larger
 * than a plan.  The plan says which of the program's columns it needs.
 */
extern GpuaggReason gpu_query_plan(GpuQueryPlan *plan, const GpuaggVectorProgram *program,
								   const GpuQueryAggregate *aggregates, int naggregates);

/* The same of a query with groups, by the values that these registers have at the program's end. */
extern GpuaggReason gpu_query_plan_groups(GpuQueryPlan *plan, const GpuaggVectorProgram *program,
										  const GpuQueryAggregate *aggregates, int naggregates,
										  const uint16_t *keys, int nkeys);

/*
 * The same with 128 bits in 64, which flags rows that need more; what it adds up is of the types as
 * in the other plan.  REFUSED: there is no such plan, or it has other columns than `wide`.
 */
extern GpuaggReason gpu_query_plan_narrow(GpuQueryPlan *plan, const GpuaggVectorProgram *program,
										  const GpuQueryAggregate *aggregates, int naggregates,
										  const uint16_t *keys, int nkeys,
										  const GpuQueryPlan *wide);

/* The same of a query that keeps registers for a window, up to GPUAGG_WINDOW_VALUES numbers. */
extern GpuaggReason gpu_query_plan_window(GpuQueryPlan *plan, const GpuaggVectorProgram *program,
										  const uint16_t *registers, int n);

/* A column's values in a chunk, as narrow.h stores them. */
typedef struct GpuQueryBlock
{
	const void *values;	   /* BOOL: a bitmap */
	const uint64_t *valid; /* bit set: not NULL; NULL pointer: no row is NULL */
	GpuaggInt128 base;
	uint32_t width; /* bytes: 1, 2, 4, 8, 16, at most those of the type; BOOL: 0 */
	uint32_t spare;
} GpuQueryBlock;

typedef struct GpuQueryChunk
{
	const uint64_t *rows; /* bit set: the row counts; NULL: all do */
	uint64_t first_unit;  /* units of the chunks before; each begins a new one */
	uint32_t nrows;
	uint32_t spare;
} GpuQueryChunk;

/*
 * Of the chunks of a query: units, and of each column the greatest width, the extremes of its base, and
 * whether rows may be NULL.
 */
typedef struct GpuQueryShape
{
	uint64_t nunits;
	uint32_t width[GPU_QUERY_COLUMNS];
	uint8_t has_null[GPU_QUERY_COLUMNS];
	int64_t least[GPU_QUERY_COLUMNS]; /* of bases of at most 64 bits */
	int64_t greatest[GPU_QUERY_COLUMNS];
} GpuQueryShape;

/*
 * Numbers chunks, in host memory, and looks at their blocks: [nchunks][plan->ncolumns], in the
 * order of plan->column.  REFUSED: a width that a column cannot have.
 */
extern GpuaggReason gpu_query_number(const GpuQueryPlan *plan, GpuQueryChunk *chunks,
									 const GpuQueryBlock *blocks, uint32_t nchunks,
									 GpuQueryShape *shape);

typedef GpuaggQueryTotal GpuQueryResult;

typedef struct GpuQueryResults
{
	uint64_t nflagged; /* tiles with flagged rows; if not 0, the rest means nothing */
	uint64_t nfound;   /* with groups: how many the table has by now */
	uint64_t full;	   /* not 0: some rows found no place there */
	GpuQueryResult of[GPU_QUERY_AGGREGATES];
} GpuQueryResults;

/* What a table of groups has come to. */
typedef struct GpuQueryTableCounts
{
	uint64_t ngroups;				  /* of gpu_query_groups(); */
	uint32_t has[GPUAGG_GROUP_WORDS]; /* not 0: packed records have that word */
	uint32_t nfar;					  /* may be more than there is room for */
	uint32_t full;	 /* not 0: some rows found no place, and the table means nothing */
	uint64_t nfound; /* groups so far */
} GpuQueryTableCounts;

/* Values of a key, none of them a float: count of them from the least on; 0: it is not known. */
typedef struct GpuQueryRange
{
	int64_t least;
	uint32_t count;
} GpuQueryRange;

/*
 * The groups of a query, kept from launch to launch; all but `far` is zeros at first.
 *
 * A query may be divided into parts by its groups' keys: rows of other parts' groups are left
 * out, though they may be flagged as any.
 */
typedef struct GpuQueryTable
{
	uint32_t *records; /* of plan->groups, aligned to 16 bytes */
	GpuQueryTableCounts *counts;
	GpuaggGroupFar *far;
	uint32_t slots; /* records: a power of two, up to 2^30 */
	uint32_t far_room;
	uint32_t part;
	uint32_t parts;	   /* at least 1 */
	uint32_t expected; /* groups; decides how, not what */
	uint32_t check;	   /* not 0: only flags rows, and adds nothing */
	/* where most keys of a launch are; decides how, not what */
	GpuQueryRange range[GPUAGG_GROUP_KEYS];
} GpuQueryTable;

/* Pointers but for plan and table are to device memory. */
typedef struct GpuQuery
{
	const GpuQueryPlan *plan;
	GpuQueryShape shape;
	uint32_t nchunks;
	const GpuQueryChunk *chunks;
	const GpuQueryBlock *blocks;
	uint32_t *flagged; /* one a chunk: not 0: is left out; set by the kernel */
	GpuQueryResults *results;
	void *scratch;				/* as kernels.h says */
	const GpuQueryTable *table; /* with groups; results are then flags alone */
} GpuQuery;

/* How a query is computed, for tests; the result is the same.  0: default. */
typedef struct GpuQueryMethod
{
	unsigned blocks; /* at most */
	unsigned warps;	 /* of a block: 1, 2, 4, 8 */
	unsigned stages; /* tiles in shared memory: 1, 2 */
	int plain;		 /* without bulk copies */
	int interpreted; /* step by step, without kernels of shapes or sums of columns as they lie */
	int broad;		 /* without the kernels of narrow columns */
	uint64_t float_rows;   /* of a block, at most, where floats are summed; default 2^26 */
	unsigned local;		   /* groups that a block has in shared memory; UINT_MAX: none */
	unsigned replicas;	   /* of each of those: 1, 2, 4, ..., 32 */
	int hashed;			   /* groups by keys, whatever ranges these have */
	unsigned settle_tiles; /* after which sums of a block's groups are carried, at most */
} GpuQueryMethod;

extern size_t gpu_query_scratch(void);

/* So many bytes of it, from its begin, have to be 0 before a launch; they are again after it. */
extern size_t gpu_query_scratch_zeros(const GpuQueryPlan *plan);
extern GpuaggReason gpu_query(const GpuQuery *query, const GpuQueryMethod *method,
							  GpuStreamRef stream);

/*
 * Keeps registers, by a plan for that, in the places from `first` on: those of the chunk's units.
 * The bitmaps of `rows` are zeros at first.  results: flags alone.
 */
extern GpuaggReason gpu_query_keep(const GpuQuery *query, const GpuWindowRows *rows, uint64_t first,
								   GpuStreamRef stream);

/*
 * Writes the packed records of a table's groups one behind the other, in any order, as far as there
 * is room for them, in words, and counts all.
 */
extern GpuaggReason gpu_query_groups(const GpuQueryPlan *plan, const GpuQueryTable *table,
									 uint32_t *records, uint64_t room, GpuStreamRef stream);

#ifdef __cplusplus
}
#endif

#endif /* GPUAGG_QUERY_H */
