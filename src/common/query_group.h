/*
 * query_group.h
 *	  Groups of a query over blobs: records of 32-bit words, on the device and in an answer.
 *
 * A record has, in this order: the key, the number of the group's rows, and of each aggregate how
 * many of these do not count and what is added up; behind all, of sums of floats, counts of
 * values that are no numbers.  A record of zeros is that of no rows.
 *
 * Keys are numbers of up to GPUAGG_GROUP_KEY_BITS bits together, in words of 63 bits: a word of a
 * record has them above a bit that is always set.  A key takes a bit that says that it is NULL
 * (all else is 0 then), and above it its value; of floats -0 is no key, and NaN is canonical.
 *
 *		SUM			digits of 64 bits, each with its sign, the least first: their sum by powers of
 *					2^32 is that of the values.  Floats: it is 2^GPUAGG_GROUP_FLOAT_WEIGHT times that;
 *					and counts of NaN, infinity, -infinity and -0.  What does not fit that is listed
 *					apart, and does not count in the record
 *		MOMENTS		as SUM, and digits of the sum of squares; of floats that is 2^GPUAGG_GROUP_SQUARE_WEIGHT
 *					times theirs, and they hold the square of every value that the sum's hold
 *		MIN, MAX	64 bits: the order key (column.h) plus 2^63; of MIN the complement.  The greatest
 *					of these is kept.  INT128: so are values that 64 bits hold, and behind them the
 *					others, in 128 bits: the value plus 2^127, of MIN the complement, and 1 more where
 *					that is below 2^127.  A value whose 64 bits would be 0 is among these others if
 *					there are any
 *
 * A query with groups has no more than GPUAGG_GROUP_ROWS rows, so counts have 32 bits, and digits
 * to which each row adds less than 2^32 do not overflow.
 *
 * In an answer records are packed.  Of each sum, carries are propagated: of a digit a word is left, a
 * number from -2^31 on, and one more above the last.  Words that are 0 in all records are left out; a mask
 * says which are there.
 */
#ifndef GPUAGG_QUERY_GROUP_H
#define GPUAGG_QUERY_GROUP_H

#include "common/query_total.h"

#define GPUAGG_GROUP_KEYS		   8
#define GPUAGG_GROUP_AGGREGATES	   16
#define GPUAGG_GROUP_KEY_BITS	   126
#define GPUAGG_GROUP_ROWS		   (UINT32_C(1) << 30)
#define GPUAGG_GROUP_FLOAT_DIGITS  8
#define GPUAGG_GROUP_FLOAT_CHUNK   29 /* its lowest digit is this chunk of float_sum.h */
#define GPUAGG_GROUP_FLOAT_WEIGHT  (32 * GPUAGG_GROUP_FLOAT_CHUNK + GPUAGG_MIN_EXPONENT)
#define GPUAGG_GROUP_SQUARE_DIGITS 17
#define GPUAGG_GROUP_SQUARE_CHUNK  58 /* as before, of float_squares.h */
#define GPUAGG_GROUP_SQUARE_WEIGHT (32 * GPUAGG_GROUP_SQUARE_CHUNK + GPUAGG_SQUARES_MIN_EXPONENT)
#define GPUAGG_GROUP_NONE		   UINT16_MAX
#define GPUAGG_GROUP_WORDS		   384 /* that a record has at most */
#define GPUAGG_GROUP_MASK		   (GPUAGG_GROUP_WORDS / 32)

/* Words of an extreme of INT128; the last one, of the device alone, is in no answer. */
enum
{
	GPUAGG_GROUP_NARROW = 0,
	GPUAGG_GROUP_WIDE_HIGH = 2,
	GPUAGG_GROUP_WIDE_LOW = 4,
	GPUAGG_GROUP_WIDE_LOCK = 6
};

/* Counts of values that are no numbers, in this order. */
enum
{
	GPUAGG_GROUP_NAN,
	GPUAGG_GROUP_PLUS_INFINITY,
	GPUAGG_GROUP_MINUS_INFINITY,
	GPUAGG_GROUP_MINUS_ZERO,
	GPUAGG_GROUP_SPECIALS
};

/* Where an aggregate is in a record: words, or NONE. */
typedef struct GpuaggGroupField
{
	uint8_t op;		  /* GpuaggOp */
	uint8_t type;	  /* GpuaggVectorType of the value; 0: none */
	uint16_t missing; /* rows that do not count */
	uint16_t value;
	uint16_t words; /* of the value */
	uint16_t squares;
	uint16_t square_words;
	uint16_t specials;
} GpuaggGroupField;

typedef struct GpuaggGroupLayout
{
	uint32_t words;	 /* of a record, a multiple of 4 */
	uint32_t common; /* words before the specials */
	uint32_t nkeys;
	uint32_t key_words; /* of 63 bits: 1 or 2 */
	uint32_t naggregates;
	uint32_t rows;						 /* word of the number of rows */
	uint8_t key_type[GPUAGG_GROUP_KEYS]; /* GpuaggVectorType */
	uint8_t key_at[GPUAGG_GROUP_KEYS];	 /* bit */
	GpuaggGroupField field[GPUAGG_GROUP_AGGREGATES];
} GpuaggGroupLayout;

/* A word of a packed record, by where it comes from in a record. */
typedef struct GpuaggGroupWord
{
	uint16_t at;
	uint16_t form; /* GpuaggGroupForm */
} GpuaggGroupWord;

typedef enum GpuaggGroupForm
{
	GPUAGG_GROUP_WORD,	/* as it is */
	GPUAGG_GROUP_FIRST, /* of the digit at that word, the lowest of a sum */
	GPUAGG_GROUP_DIGIT, /* of another one */
	GPUAGG_GROUP_CARRY, /* of the digit at that word, what is above its first word */
	GPUAGG_GROUP_ALONE	/* the same where that has no word */
} GpuaggGroupForm;

typedef struct GpuaggGroupPacking
{
	uint32_t words;
	GpuaggGroupWord word[GPUAGG_GROUP_WORDS];
} GpuaggGroupPacking;

/* A float that the words of its sum cannot hold, of an aggregate of a group. */
typedef struct GpuaggGroupFar
{
	uint64_t key[2]; /* as in records; of one word the second is 0 */
	double value;
	uint64_t aggregate;
} GpuaggGroupFar;

/*
 * Makes the layout; types: of keys, and of the aggregates' values (0: none).  0: there are no
 * such records.
 */
extern int gpuagg_group_layout(GpuaggGroupLayout *layout, const uint8_t *key_types, uint32_t nkeys,
							   const GpuaggQueryAggregate *aggregates, const uint8_t *types,
							   uint32_t naggregates);

/* The words that packed records have before any is left out. */
extern void gpuagg_group_packing(const GpuaggGroupLayout *layout, GpuaggGroupPacking *packing);

/* Leaves out those whose bits are not set. */
extern void gpuagg_group_packing_keep(GpuaggGroupPacking *packing, const uint32_t *mask);

/* Words that packed records are expected to have: small sums of values that are all there. */
extern uint32_t gpuagg_group_packed_words(const GpuaggGroupLayout *layout);

/* Makes a record of a packed one; it was zeros, or made by the same packing, and is aligned. */
extern void gpuagg_group_unpack(const GpuaggGroupPacking *packing, const uint32_t *packed,
								uint32_t *record);

/*
 * The key of that number out of a record's words (or a GpuaggGroupFar's, as words): its bits,
 * or 0 with *isnull set.
 */
extern uint64_t gpuagg_group_key(const GpuaggGroupLayout *layout, const uint64_t *words,
								 uint32_t number, int *isnull);

/* The total of an aggregate of a record.  0: a record that no rows can have. */
extern int gpuagg_group_total(const GpuaggGroupLayout *layout, const uint32_t *record,
							  uint32_t number, GpuaggQueryTotal *total);

/* The sum of a SUM or MOMENTS of floats: makes `sum` one with as few chunks as it needs. */
extern int gpuagg_group_float(const GpuaggGroupLayout *layout, const uint32_t *record,
							  uint32_t number, GpuaggFloatSumFull *sum);

/* The same of a SUM of integers of up to 64 bits: the number of values, and their sum. */
static inline __int128
gpuagg_group_integer(const GpuaggGroupField *field, const uint32_t *record, uint32_t rows,
					 uint64_t *n)
{
	const int64_t *digit = (const int64_t *) (record + field->value);

	*n = (uint64_t) rows - record[field->missing];
	return field->words == 2 ? digit[0] : digit[0] + (__int128) digit[1] * (INT64_C(1) << 32);
}

#endif /* GPUAGG_QUERY_GROUP_H */
