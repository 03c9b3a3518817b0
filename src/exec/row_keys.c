/*
 * row_keys.c
 *	  The keys of rows, packed into items: numbers that sort as the rows do.
 */
#include "compat.h"

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
		keys->layout[k].nulls_first = column->nulls_first;
		if (!gpuagg_sort_key_find(TupleDescAttr(desc, key->attno - 1)->atttypid,
								  column->sort_operator, &key->form, &keys->layout[k].descending))
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
		keys->layout[k].range.has_values = false;
		keys->layout[k].range.has_nulls = false;
	}
	gpuagg_row_keys_lay_out(keys);
}

/* ---- ranges ---- */

#define WORDS_OF(Form, Type, ToDatum)                                                   \
	case Form:                                                                          \
		Assert(store->columns[column].width == sizeof(Type));                           \
		for (int i = 0; i < n; i++)                                                     \
			words[i] = gpuagg_sort_key_word(Form, ToDatum(((const Type *) values)[i])); \
		break;

/* The words of a key's values in a piece; those of NULLs may be anything. */
static void
key_words(const RowKey *key, const ColumnStore *store, int64 piece, int n, uint64 *words)
{
	int column = key->attno - 1;
	const void *values = gpuagg_column_store_values(store, column, piece);

	switch (key->form)
	{
		WORDS_OF(SQL_BOOL, char, CharGetDatum)
		WORDS_OF(SQL_INT16, int16, Int16GetDatum)
		WORDS_OF(SQL_INT32, int32, Int32GetDatum)
		WORDS_OF(SQL_INT64, Datum, )
		WORDS_OF(SQL_UINT32, int32, Int32GetDatum)
		WORDS_OF(SQL_FLOAT32, int32, Int32GetDatum)
		WORDS_OF(SQL_FLOAT64, Datum, )
		case SQL_OPAQUE:
			pg_unreachable();
	}
}

/* Widens a key's range by its values in a piece. */
static void
widen(const RowKey *key, GpuaggKeyRange *range, const ColumnStore *store, int64 piece)
{
	int n = gpuagg_column_store_piece_rows(store, piece);
	const uint64 *nulls = gpuagg_column_store_nulls(store, key->attno - 1, piece);
	uint64 words[STORE_ROWS];
	uint64 least;
	uint64 greatest;
	uint64 differs = 0;
	int first = 0;

	range->has_nulls |= store->columns[key->attno - 1].has_nulls;
	while (first < n && gpuagg_bit(nulls, first))
		first++;
	if (first == n)
		return;
	key_words(key, store, piece, n, words);
	if (!range->has_values)
	{
		range->has_values = true;
		range->least = range->greatest = words[first];
		range->differs = 0;
	}
	least = range->least;
	greatest = range->greatest;
	for (int i = 0; i < n && range->has_nulls; i++)
		if (gpuagg_bit(nulls, i))
			words[i] = words[first];
	for (int i = 0; i < n; i++)
	{
		differs |= words[i] ^ words[first];
		least = Min(least, words[i]);
		greatest = Max(greatest, words[i]);
	}
	range->differs |= differs | (words[first] ^ range->least);
	range->least = least;
	range->greatest = greatest;
}

void
gpuagg_row_keys_widen(RowKeys *keys, const ColumnStore *store, int64 piece)
{
	for (int k = 0; k < keys->nkeys; k++)
		widen(&keys->keys[k], &keys->layout[k].range, store, piece);
}

/* ---- layout ---- */

void
gpuagg_row_keys_lay_out(RowKeys *keys)
{
	keys->bits = gpuagg_key_lay_out(keys->layout, keys->nkeys);
	keys->words = Max((keys->bits + 63) / 64, 1);
	gpuagg_key_mask(keys->layout, keys->nkeys, keys->npartition, keys->words, keys->partition_mask);
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

/* Adds a key's bits to n items of so many words and one; nulls: NULL where there are none. */
static pg_attribute_always_inline void
add_key(GpuaggKeyLayout layout, const uint64 *keys, const uint64 *nulls, int n, int words,
		uint64 *items)
{
	for (int i = 0; i < n; i++, items += words + 1)
	{
		bool isnull = nulls != NULL && gpuagg_bit(nulls, i);

		add_bits(items, words, layout.position, layout.bits,
				 gpuagg_key_packed(&layout, isnull, keys[i]));
	}
}

/* Packs a key of a piece's rows into their items. */
static void
pack_key(const RowKeys *keys, const RowKey *key, const GpuaggKeyLayout *layout,
		 const ColumnStore *store, int64 piece, int n, uint64 *items)
{
	const uint64 *nulls = gpuagg_column_store_nulls(store, key->attno - 1, piece);
	uint64 words[STORE_ROWS];

	if (layout->bits > 0)
	{
		key_words(key, store, piece, n, words);
		if (!layout->range.has_nulls && keys->words == 1)
			add_key(*layout, words, NULL, n, 1, items);
		else
			add_key(*layout, words, layout->range.has_nulls ? nulls : NULL, n, keys->words, items);
	}
	for (int i = 0; i < n && layout->null_bit; i++)
		add_bits(items + i * gpuagg_row_keys_step(keys), keys->words,
				 layout->position + layout->bits, 1, gpuagg_bit(nulls, i) != layout->nulls_first);
}

void
gpuagg_row_keys_pack(const RowKeys *keys, const ColumnStore *store, int64 piece, int n, int low,
					 uint64 *items)
{
	Size step = gpuagg_row_keys_step(keys);

	memset(items, 0, n * step * sizeof(uint64));
	for (int k = 0; k < keys->nkeys; k++)
		if (keys->layout[k].position + keys->layout[k].bits + keys->layout[k].null_bit > low)
			pack_key(keys, &keys->keys[k], &keys->layout[k], store, piece, n, items);
	for (int i = 0; i < n && low == 0; i++)
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
static pg_attribute_always_inline void
unpack_form(SqlForm form, GpuaggKeyLayout layout, int words, const uint64 *item, int64 n,
			Datum *values, bool *isnull, Size stride)
{
	for (int64 i = 0; i < n; i++, item += words + 1)
	{
		uint64 packed = layout.bits > 0 ? get_bits(item, words, layout.position, layout.bits) : 0;
		uint64 distance = (packed - layout.shift) << layout.low_bits;
		uint64 word = layout.descending ? layout.range.greatest - distance
										: layout.range.least + distance;
		bool is_value = layout.range.has_values;

		if (layout.null_bit)
			is_value = (get_bits(item, words, layout.position + layout.bits, 1) != 0) ==
					   layout.nulls_first;
		else if (is_value && layout.range.has_nulls)
			is_value = packed != layout.null_value;
		isnull[i * stride] = !is_value;
		values[i * stride] = is_value ? gpuagg_sort_key_datum(form, word) : (Datum) 0;
	}
}

#define UNPACK(form, words) unpack_form(form, *layout, words, items, n, values, isnull, stride)

static void
unpack_key(const RowKeys *keys, const RowKey *key, const GpuaggKeyLayout *layout,
		   const uint64 *items, int64 n, Datum *values, bool *isnull, Size stride)
{
	if (keys->words == 1 && key->form == SQL_INT32)
		UNPACK(SQL_INT32, 1);
	else if (keys->words == 1 && key->form == SQL_INT64)
		UNPACK(SQL_INT64, 1);
	else
		UNPACK(key->form, keys->words);
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
			unpack_key(keys, key, &keys->layout[k], items, n, values + column, isnull + column,
					   stride);
	}
}
