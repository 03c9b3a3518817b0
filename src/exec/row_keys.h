/*
 * row_keys.h
 *	  The keys of rows, packed into items: numbers that sort as the rows do.
 *
 * An item is a number (key_layout.h) and a word: the row's number in a store, or its payload.
 */
#ifndef GPUAGG_ROW_KEYS_H
#define GPUAGG_ROW_KEYS_H

#include "compat.h"

#include "common/key_layout.h"
#include "common/radix.h"
#include "exec/column_store.h"
#include "spec/window_spec.h"
#include "types/sort_key.h"

/* A key's column, and how its values are packed. */
typedef struct RowKey
{
	AttrNumber attno;
	SqlForm form;
	bool exact; /* each word is that of one value: it is read back from items */
} RowKey;

typedef struct RowKeys
{
	int nkeys;
	int npartition; /* the first of them */
	RowKey keys[SORT_MAX_KEYS];
	GpuaggKeyLayout layout[SORT_MAX_KEYS];
	int bits;  /* of a number */
	int words; /* of it; an item has one more */
	uint64 partition_mask[GPUAGG_RADIX_MAX_WORDS];
} RowKeys;

/* The partition columns of the spec, then its order columns: 1 to SORT_MAX_KEYS. */
extern void gpuagg_row_keys_init(RowKeys *keys, TupleDesc desc, const WindowSpec *spec);

/* Forgets all values. */
extern void gpuagg_row_keys_forget(RowKeys *keys);

/* Widens the ranges by the values in a piece. */
extern void gpuagg_row_keys_widen(RowKeys *keys, const ColumnStore *store, int64 piece);

/* Chooses how values in the ranges are packed.  What has been packed before is void. */
extern void gpuagg_row_keys_lay_out(RowKeys *keys);

/*
 * The items of a piece's first n rows; with `low` only the bits of numbers from there up, and
 * without the rows' own numbers.
 */
extern void gpuagg_row_keys_pack(const RowKeys *keys, const ColumnStore *store, int64 piece, int n,
								 int low, uint64 *items);

/* The values of the exact keys whose columns are wanted, of n items; rows `stride` places apart. */
extern void gpuagg_row_keys_unpack(const RowKeys *keys, const bool *wanted, const uint64 *items,
								   int64 n, Datum *values, bool *isnull, Size stride);

/* Words from an item to the next one. */
static inline Size
gpuagg_row_keys_step(const RowKeys *keys)
{
	return keys->words + 1;
}

/* What the row of an item starts after that of the item before it. */
static inline void
gpuagg_row_keys_compare(const RowKeys *keys, const uint64 *item, bool *new_partition,
						bool *new_peers)
{
	const uint64 *before = item - gpuagg_row_keys_step(keys);
	uint64 partition = 0;
	uint64 peers = 0;

	for (int i = 0; i < keys->words; i++)
	{
		uint64 differs = item[i] ^ before[i];

		peers |= differs;
		partition |= differs & keys->partition_mask[i];
	}
	*new_partition = partition != 0;
	*new_peers = peers != 0;
}

#endif /* GPUAGG_ROW_KEYS_H */
