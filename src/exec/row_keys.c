/*
 * row_keys.c
 *	  The keys of rows, packed into items: numbers that sort as the rows do.
 */
#include "compat.h"

#include "port/pg_bitutils.h"

#include "engine/cpu.h"
#include "exec/row_keys.h"

/* A key may take 65 bits. */
StaticAssertDecl(SORT_MAX_KEYS * 65 <= GPUAGG_RADIX_MAX_WORDS * 64, "keys fit an item");

void
gpuagg_row_keys_init(RowKeys *keys, TupleDesc desc, const WindowSpec *spec)
{
	keys->nkeys = spec->npartition + spec->norder;
	keys->npartition = spec->npartition;
	if (keys->nkeys > SORT_MAX_KEYS)
		elog(ERROR, "too many keys to sort by");
	for (int k = 0; k < keys->nkeys; k++)
	{
		const WindowColumn *column = k < spec->npartition ? &spec->partition[k]
														  : &spec->order[k - spec->npartition];
		RowKey *key = &keys->keys[k];

		key->attno = column->attno;
		key->nulls_first = column->nulls_first;
		if (!gpuagg_sort_key_find(TupleDescAttr(desc, key->attno - 1)->atttypid,
								  column->sort_operator, &key->form, &key->descending))
			elog(ERROR, "operator %u is no order of column %d", column->sort_operator, key->attno);
		key->exact = gpuagg_sort_key_is_exact(key->form);
	}
	gpuagg_row_keys_forget(keys);
}

void
gpuagg_row_keys_forget(RowKeys *keys)
{
	for (int k = 0; k < keys->nkeys; k++)
	{
		keys->keys[k].has_values = false;
		keys->keys[k].has_nulls = false;
	}
	gpuagg_row_keys_lay_out(keys);
}

/* ---- ranges ---- */

#define WORDS_OF(Type, ToDatum) \
	for (int i = 0; i < n; i++) \
		words[i] = gpuagg_sort_key_word(key->form, ToDatum(((const Type *) values)[i]));

/* The words of a key's values in a piece; those of NULLs may be anything. */
static pg_attribute_always_inline void
key_words_of(const RowKey *key, const void *values, int width, int n, uint64 *words)
{
	switch (width)
	{
		case 1:
			WORDS_OF(char, CharGetDatum)
			break;
		case 2:
			WORDS_OF(int16, Int16GetDatum)
			break;
		case 4:
			WORDS_OF(int32, Int32GetDatum)
			break;
		default:
			WORDS_OF(Datum, )
			break;
	}
}

static void
key_words(const RowKey *key, const ColumnStore *store, int64 piece, int n, uint64 *words)
{
	int column = key->attno - 1;

	key_words_of(key, gpuagg_column_store_values(store, column, piece),
				 store->columns[column].width, n, words);
}

/* Widens a key's range by its values in a piece. */
static void
widen(RowKey *key, const ColumnStore *store, int64 piece)
{
	int n = gpuagg_column_store_piece_rows(store, piece);
	const uint64 *nulls = gpuagg_column_store_nulls(store, key->attno - 1, piece);
	uint64 words[STORE_ROWS];
	uint64 least;
	uint64 greatest;
	uint64 differs = 0;
	int first = 0;

	key->has_nulls |= store->columns[key->attno - 1].has_nulls;
	while (first < n && gpuagg_bit(nulls, first))
		first++;
	if (first == n)
		return;
	key_words(key, store, piece, n, words);
	if (!key->has_values)
	{
		key->has_values = true;
		key->least = key->greatest = words[first];
		key->differs = 0;
	}
	least = key->least;
	greatest = key->greatest;
	for (int i = 0; i < n && key->has_nulls; i++)
		if (gpuagg_bit(nulls, i))
			words[i] = words[first];
	for (int i = 0; i < n; i++)
	{
		differs |= words[i] ^ words[first];
		least = Min(least, words[i]);
		greatest = Max(greatest, words[i]);
	}
	key->differs |= differs | (words[first] ^ key->least);
	key->least = least;
	key->greatest = greatest;
}

void
gpuagg_row_keys_widen(RowKeys *keys, const ColumnStore *store, int64 piece)
{
	for (int k = 0; k < keys->nkeys; k++)
		widen(&keys->keys[k], store, piece);
}

/* ---- layout ---- */

/* The bits of the number that tell partitions apart: those above all others. */
static void
set_partition_mask(RowKeys *keys)
{
	int low = 0; /* bits */

	for (int k = keys->npartition; k < keys->nkeys; k++)
		low += keys->keys[k].bits + keys->keys[k].null_bit;
	for (int i = 0; i < keys->words; i++)
	{
		int below = low - (keys->words - 1 - i) * 64;

		keys->partition_mask[i] = below <= 0	? PG_UINT64_MAX
								  : below >= 64 ? 0
												: PG_UINT64_MAX << below;
	}
}

void
gpuagg_row_keys_lay_out(RowKeys *keys)
{
	int bits = 0;

	for (int k = keys->nkeys - 1; k >= 0; k--)
	{
		RowKey *key = &keys->keys[k];
		uint64 distance = key->has_values ? key->greatest - key->least : 0;
		bool null_value = key->has_nulls && key->has_values;

		key->low_bits = distance > 0 ? pg_rightmost_one_pos64(key->differs) : 0;
		distance >>= key->low_bits;
		key->null_bit = null_value && distance == PG_UINT64_MAX;
		if (null_value && !key->null_bit)
			distance++;
		key->shift = null_value && !key->null_bit && key->nulls_first;
		key->null_value = null_value && !key->null_bit && !key->nulls_first ? distance : 0;
		key->position = bits;
		key->bits = distance == 0 ? 0 : pg_leftmost_one_pos64(distance) + 1;
		bits += key->bits + key->null_bit;
	}
	keys->bits = bits;
	keys->words = Max((bits + 63) / 64, 1);
	set_partition_mask(keys);
}

/* ---- items ---- */

/* Adds the low `bits` bits of a value to a number, from bit `position` up. */
static inline void
add_bits(uint64 *number, int words, int position, int bits, uint64 value)
{
	int word = words - 1 - position / 64;
	int shift = position % 64;

	number[word] |= value << shift;
	if (shift + bits > 64)
		number[word - 1] |= value >> (64 - shift);
}

/* Packs a key of a piece's rows into their items. */
static void
pack_key(const RowKeys *keys, const RowKey *key, const ColumnStore *store, int64 piece, int n,
		 uint64 *items)
{
	const uint64 *nulls = gpuagg_column_store_nulls(store, key->attno - 1, piece);
	uint64 words[STORE_ROWS];

	key_words(key, store, piece, n, words);
	for (int i = 0; i < n; i++, items += keys->words + 1)
	{
		bool isnull = key->has_nulls && gpuagg_bit(nulls, i);
		uint64 value = key->null_value;

		if (!isnull)
			value = ((key->descending ? key->greatest - words[i] : words[i] - key->least) >>
					 key->low_bits) +
					key->shift;
		if (key->bits > 0)
			add_bits(items, keys->words, key->position, key->bits, value);
		if (key->null_bit)
			add_bits(items, keys->words, key->position + key->bits, 1, isnull != key->nulls_first);
	}
}

void
gpuagg_row_keys_pack(const RowKeys *keys, const ColumnStore *store, int64 piece, int n,
					 uint64 *items)
{
	Size step = gpuagg_row_keys_step(keys);

	memset(items, 0, n * step * sizeof(uint64));
	for (int k = 0; k < keys->nkeys; k++)
		pack_key(keys, &keys->keys[k], store, piece, n, items);
	for (int i = 0; i < n; i++)
		items[i * step + keys->words] = piece * STORE_ROWS + i;
}

/* The bits of a number from `position` up. */
static inline uint64
get_bits(const uint64 *number, int words, int position, int bits)
{
	int word = words - 1 - position / 64;
	int shift = position % 64;
	uint64 value = number[word] >> shift;

	if (shift + bits > 64)
		value |= number[word - 1] << (64 - shift);
	return bits == 64 ? value : value & ((UINT64CONST(1) << bits) - 1);
}

/* A key's values, from n items on. */
static void
unpack_key(const RowKeys *keys, const RowKey *key, const uint64 *item, int64 n, Datum *values,
		   bool *isnull, Size stride)
{
	for (int64 i = 0; i < n; i++, item += keys->words + 1)
	{
		uint64 packed = key->bits > 0 ? get_bits(item, keys->words, key->position, key->bits) : 0;
		uint64 distance = (packed - key->shift) << key->low_bits;
		bool is_value = key->has_values;

		if (key->null_bit)
			is_value = (get_bits(item, keys->words, key->position + key->bits, 1) != 0) ==
					   key->nulls_first;
		else if (is_value && key->has_nulls)
			is_value = packed != key->null_value;
		isnull[i * stride] = !is_value;
		values[i * stride] = is_value
								 ? gpuagg_sort_key_datum(key->form, key->descending
																		? key->greatest - distance
																		: key->least + distance)
								 : (Datum) 0;
	}
}

void
gpuagg_row_keys_unpack(const RowKeys *keys, const bool *wanted, const uint64 *items, int64 n,
					   Datum *values, bool *isnull, Size stride)
{
	for (int k = 0; k < keys->nkeys; k++)
	{
		const RowKey *key = &keys->keys[k];
		int column = key->attno - 1;

		if (key->exact && wanted[column])
			unpack_key(keys, key, items, n, values + column, isnull + column, stride);
	}
}
