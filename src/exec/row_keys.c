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

#define WORD(Type, ToDatum) gpuagg_sort_key_word(form, ToDatum(((const Type *) values)[i]))

/* The word of one of a key's values in a piece; of NULL anything. */
static pg_attribute_always_inline uint64
word_at(SqlForm form, const void *values, int i)
{
	switch (form)
	{
		case SQL_BOOL:
			return WORD(char, CharGetDatum);
		case SQL_INT16:
			return WORD(int16, Int16GetDatum);
		case SQL_INT32:
		case SQL_UINT32:
		case SQL_FLOAT32:
			return WORD(int32, Int32GetDatum);
		default:
			return WORD(Datum, );
	}
}

#define OF_FORM(form, function, ...) \
	case form:                       \
		function(form, __VA_ARGS__); \
		break;

/* Calls an inlined function, with the form as a constant. */
#define BY_FORM(form, function, ...)                \
	switch (form)                                   \
	{                                               \
		OF_FORM(SQL_BOOL, function, __VA_ARGS__)    \
		OF_FORM(SQL_INT16, function, __VA_ARGS__)   \
		OF_FORM(SQL_INT32, function, __VA_ARGS__)   \
		OF_FORM(SQL_INT64, function, __VA_ARGS__)   \
		OF_FORM(SQL_UINT32, function, __VA_ARGS__)  \
		OF_FORM(SQL_FLOAT32, function, __VA_ARGS__) \
		OF_FORM(SQL_FLOAT64, function, __VA_ARGS__) \
		case SQL_OPAQUE:                            \
			pg_unreachable();                       \
	}

/* Widens a range by n values, of which that of row `first` is no NULL; nulls: NULL where there are none. */
static pg_attribute_always_inline void
widen_form(SqlForm form, GpuaggKeyRange *range, const void *values, const uint64 *nulls, int first,
		   int n)
{
	uint64 least = range->least;
	uint64 greatest = range->greatest;
	uint64 known = word_at(form, values, first);
	uint64 differs = known ^ least;

	for (int i = 0; i < n; i++)
	{
		uint64 word = nulls != NULL && gpuagg_bit(nulls, i) ? known : word_at(form, values, i);

		differs |= word ^ known;
		least = Min(least, word);
		greatest = Max(greatest, word);
	}
	range->differs |= differs;
	range->least = least;
	range->greatest = greatest;
}

/* Widens a key's range by its values in a piece. */
static void
widen(const RowKey *key, GpuaggKeyRange *range, const ColumnStore *store, int64 piece)
{
	int column = key->attno - 1;
	int n = gpuagg_column_store_piece_rows(store, piece);
	const void *values = gpuagg_column_store_values(store, column, piece);
	const uint64 *nulls = gpuagg_column_store_nulls(store, column, piece);
	int first = 0;

	range->has_nulls |= store->columns[column].has_nulls;
	while (first < n && gpuagg_bit(nulls, first))
		first++;
	if (first == n)
		return;
	if (!range->has_values)
	{
		range->has_values = true;
		range->least = range->greatest = word_at(key->form, values, first);
		range->differs = 0;
	}
	if (range->has_nulls)
		BY_FORM(key->form, widen_form, range, values, nulls, first, n)
	else
		BY_FORM(key->form, widen_form, range, values, NULL, first, n)
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
add_form(SqlForm form, GpuaggKeyLayout layout, const void *values, const uint64 *nulls, int n,
		 int words, uint64 *items)
{
	for (int i = 0; i < n; i++, items += words + 1)
	{
		bool isnull = nulls != NULL && gpuagg_bit(nulls, i);

		add_bits(items, words, layout.position, layout.bits,
				 gpuagg_key_packed(&layout, isnull, word_at(form, values, i)));
	}
}

/* Packs a key of a piece's rows into their items. */
static void
pack_key(const RowKeys *keys, const RowKey *key, const GpuaggKeyLayout *layout,
		 const ColumnStore *store, int64 piece, int n, uint64 *items)
{
	const void *values = gpuagg_column_store_values(store, key->attno - 1, piece);
	const uint64 *nulls = gpuagg_column_store_nulls(store, key->attno - 1, piece);

	if (layout->bits > 0 && !layout->range.has_nulls && keys->words == 1)
		BY_FORM(key->form, add_form, *layout, values, NULL, n, 1, items)
	else if (layout->bits > 0)
		BY_FORM(key->form, add_form, *layout, values, layout->range.has_nulls ? nulls : NULL, n,
				keys->words, items)
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

/* A key's values, of n items. */
static pg_attribute_always_inline void
unpack_form(SqlForm form, GpuaggKeyLayout layout, int words, bool has_nulls, const uint64 *item,
			int64 n, Datum *values, bool *isnull, Size stride)
{
	for (int64 i = 0; i < n; i++, item += words + 1)
	{
		uint64 packed = layout.bits > 0 ? get_bits(item, words, layout.position, layout.bits) : 0;
		uint64 distance = (packed - layout.shift) << layout.low_bits;
		uint64 word = layout.descending ? layout.range.greatest - distance
										: layout.range.least + distance;
		bool is_value = true;

		if (has_nulls && layout.null_bit)
			is_value = (get_bits(item, words, layout.position + layout.bits, 1) != 0) ==
					   layout.nulls_first;
		else if (has_nulls)
			is_value = layout.range.has_values && packed != layout.null_value;
		isnull[i * stride] = !is_value;
		values[i * stride] = is_value ? gpuagg_sort_key_datum(form, word) : (Datum) 0;
	}
}

static void
unpack_key(const RowKeys *keys, const RowKey *key, const GpuaggKeyLayout *layout,
		   const uint64 *items, int64 n, Datum *values, bool *isnull, Size stride)
{
	bool has_nulls = layout->range.has_nulls;

	if (has_nulls || keys->words > 1)
		BY_FORM(key->form, unpack_form, *layout, keys->words, has_nulls, items, n, values, isnull,
				stride)
	else
		BY_FORM(key->form, unpack_form, *layout, 1, false, items, n, values, isnull, stride)
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
