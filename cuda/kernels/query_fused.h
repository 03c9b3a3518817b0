/*
 * query_fused.h
 *	  Queries of the commonest shapes, which need no interpreter.
 *
 * Such a query has one SUM and any number of COUNT(*), all of the rows for which every one of
 * a few comparisons of a column with a constant is true.  The SUM is of a column, or of a
 * product of up to three factors: columns, or the sum or difference of one and a constant.
 *
 * With groups it has one key, an integer column of which a small range is known, and any number of
 * COUNT(*), COUNT, SUM, MIN and MAX of integer columns, of the same rows.  Or it has any keys that
 * are columns, and its SUMs and extremes are of such products, of integers that are stored in at
 * most 32 bits.
 */
#ifndef GPUAGG_QUERY_FUSED_H
#define GPUAGG_QUERY_FUSED_H

#include "kernels/query.h"

#define FUSED_FACTORS	 3
#define FUSED_COLUMNS	 8 /* with conditions */
#define FUSED_CONDITIONS 8
#define FUSED_PRODUCTS	 32
#define FUSED_NONE		 UINT8_MAX

/* What a factor is made of. */
enum
{
	FUSED_COLUMN,
	FUSED_SUM,		  /* column + constant */
	FUSED_DIFFERENCE, /* column - constant */
	FUSED_CONTRARY	  /* constant - column */
};

typedef struct FusedFactor
{
	uint8_t column;
	uint8_t how;
	uint8_t widened; /* an INT32 column among 64 bits */
	uint8_t tested;	 /* its conditions' place among the columns, or FUSED_NONE */
	uint8_t spare[4];
	uint64_t constant;
} FusedFactor;

/* A column that conditions are on, those from `first` on. */
typedef struct FusedColumn
{
	uint8_t column;
	uint8_t class_of;
	uint8_t first;
	uint8_t count;
} FusedColumn;

typedef struct FusedCondition
{
	uint16_t op;	   /* EQ, LT, GT: column op constant */
	uint16_t inverted; /* the contrary is asked for */
	uint32_t spare;
	uint64_t constant;
} FusedCondition;

typedef struct FusedPlan
{
	uint8_t class_of; /* of the factors and of their product */
	uint8_t nfactors;
	uint8_t ncolumns; /* with conditions */
	uint8_t sum;	  /* number of the SUM among the aggregates */
	uint8_t nread;	  /* columns with conditions that are no factors, and come first */
	uint8_t spare[3];
	FusedFactor factor[FUSED_FACTORS]; /* in the order in which they are multiplied */
	FusedColumn column[FUSED_COLUMNS];
	FusedCondition condition[FUSED_CONDITIONS];
} FusedPlan;

/* A column of an aggregate. */
typedef struct FusedValue
{
	uint8_t column;
	uint8_t class_of; /* QUERY_BOOL: is only counted */
	uint8_t number;	  /* of the aggregate */
	uint8_t op;
} FusedValue;

typedef struct FusedGroups
{
	FusedPlan where; /* nothing but conditions */
	uint8_t key;	 /* column */
	uint8_t nvalues;
	FusedValue value[GPU_QUERY_AGGREGATES];
} FusedGroups;

/* A product of an aggregate by group, or a step towards others. */
typedef struct FusedProduct
{
	uint8_t class_of; /* QUERY_BOOL: the only factor is a column that is counted */
	uint8_t nfactors;
	uint8_t number; /* of the aggregate, or FUSED_NONE */
	uint8_t op;		/* COUNT, SUM, MIN, MAX */
	uint8_t spare[4];
	FusedFactor factor[FUSED_FACTORS];
} FusedProduct;

typedef struct FusedProducts
{
	FusedPlan where; /* nothing but conditions */
	uint32_t nproducts;
	FusedProduct product[FUSED_PRODUCTS]; /* all that is computed */
} FusedProducts;

/* Whether the plan has such a shape; it flags the same rows. */
extern bool query_fuse(FusedPlan *fused, const GpuQueryPlan *plan);
extern bool query_fuse_products(FusedProducts *fused, const GpuQueryPlan *plan);

/* Whether the products of the plan are columns alone, by one key. */
extern bool query_fuse_groups(FusedGroups *fused, const FusedProducts &products,
							  const GpuQueryPlan *plan);

/* As gpu_query(). */
extern GpuaggReason query_run_fused(const GpuQuery &query, const FusedPlan &fused,
									const GpuQueryMethod &method, GpuStreamRef stream);

/*
 * The same where the chunks are such that nothing can be flagged, in columns of at most 32 bits; REFUSED, with
 * nothing launched: it is for query_run_fused().  is_narrow() tells, for tests, whether they are.
 */
extern bool query_is_narrow(const GpuQuery &query, const FusedPlan &fused);
extern GpuaggReason query_run_narrow(const GpuQuery &query, const FusedPlan &fused,
									 const GpuQueryMethod &method, GpuStreamRef stream);

/*
 * The same of groups, where the keys' ranges leave a few; REFUSED, with nothing launched: it is for the
 * other kernels of groups.
 */
extern bool query_has_narrow_groups(const GpuQuery &query, const FusedProducts &fused);
extern GpuaggReason query_run_narrow_groups(const GpuQuery &query, const FusedProducts &fused,
											const GpuQueryMethod &method, GpuStreamRef stream);

/* The same; REFUSED, with nothing launched: it is for the interpreter. */
extern GpuaggReason query_run_fused_groups(const GpuQuery &query, const FusedGroups &fused,
										   const GpuQueryMethod &method, GpuStreamRef stream);

#endif /* GPUAGG_QUERY_FUSED_H */
