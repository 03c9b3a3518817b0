/*
 * agg_dense.c
 *	  Counts and sums of a GpuAgg node's groups whose keys are integers of a small range, or
 *	  strings by their codes.
 *
 * A place has a counter of rows, which all states share: a state whose input leaves out a row,
 * as it is NULL or does not pass FILTER, counts that one.  A sum is 2^32 * high + low.  Of a vector
 * whose values are narrow each goes to low as it is, of others in two parts.  What rows may have
 * added to low since the last fold is counted, and stays within 2^62; as it is at least 2^32 a row,
 * there are at most 2^30 rows, and high stays within 2^61.
 *
 * Where many of a vector's rows are live all go through the loops, the others into a place of
 * their own, behind the last, which nobody looks at.  Where few are, these are copied together.
 *
 * Keys that are outside the ranges so far make these wider, as long as there are not many more
 * places than groups; else the vector goes the way of all others.
 */
#include "compat.h"

#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "common/places.h"
#include "engine/cpu.h"
#include "exec/agg_dense.h"
#include "exec/agg_keys.h"
#include "exec/compiled.h"
#include "operation/accumulators.h"

#define LOW_BITS	 32
#define NARROW_BITS	 40
#define FOLD_ADDED	 (UINT64CONST(1) << 62)
#define COPIES_BYTES 8192 /* of an array, at most, that has copies: they stay in the cache */
#define WIDE_VECTORS 16	  /* after one with wide values so many are not looked at */
#define MOST_PLACES	 PG_UINT16_MAX
#define LEAST_PLACES 1024 /* are not too many in any case */
#define PLACES_GROUP 4	  /* for each group */
#define MOST_MISSES	 64 /* vectors in a row whose keys have no places, after which none is tried */

/*
 * A key's digit: its value - first, below n; or n where it is NULL.  Strings that have codes are
 * keys by these, as long as they are of the same table.
 */
typedef struct DenseKey
{
	GpuaggVectorType type;
	int column;	  /* of strings; -1: it is an integer */
	uint32 table; /* of their codes */
	int64 first;
	uint32 n; /* 0: no value has come yet */
} DenseKey;

typedef struct DenseState
{
	bool fits;	  /* into these arrays */
	uint32 low;	  /* words of a place's record; 0: only counted */
	uint32 high;  /* 0: none so far */
	int wide;	  /* vectors to come whose values are taken for wide ones */
	uint32 *left; /* by place: rows that its input leaves out; NULL: none so far */
} DenseState;

struct AggDense
{
	uint64 generation; /* of the groups */
	int misses;
	uint64 added;	/* bound of what a place's low sum has got since the last fold */
	uint32 nplaces; /* 0: there are no arrays; one more is for rows that are not live */
	AggGroup **groups;
	GpuaggPlaceArray records; /* a place's rows since the last fold, low sums and high ones */
	int64 *room;			  /* columns of a vector */
	DenseState *states;
	bool *taken; /* by state, of the vector */
	bool all;	 /* states fit */
	int nkeys;
	GpuaggVector *codes; /* of the vector, by key */
	DenseKey keys[FLEXIBLE_ARRAY_MEMBER];
};

static bool
is_integer(int type)
{
	return type == GPUAGG_VECTOR_INT16 || type == GPUAGG_VECTOR_INT32 ||
		   type == GPUAGG_VECTOR_INT64;
}

/* Whether a state is a count or a sum of integers. */
static bool
fits(const AggInput *input, const AggGroupState *state)
{
	switch (input->feed)
	{
		case FEED_ROWS:
		case FEED_COUNT:
			return true;
		case FEED_NUMBERS:
			return state->family == SQL_FAMILY_INT && state->op == GPUAGG_SUM;
		case FEED_DECIMAL:
			return state->op == GPUAGG_SUM;
		default:
			return false;
	}
}

AggDense *
gpuagg_dense_make(const AggScanState *node)
{
	const GroupLayout *layout = &gpuagg_agg_main(node)->layout;
	AggDense *dense;
	bool any = false;

	if (layout->nkeys == 0 || node->ndistinct > 0)
		return NULL;
	for (int i = 0; i < layout->nkeys; i++)
		if (!is_integer(layout->keys[i].type) &&
			gpuagg_compiled_strings(&node->compiler->program, layout->keys[i].reg) < 0)
			return NULL;
	dense = palloc0(offsetof(AggDense, keys) + layout->nkeys * sizeof(DenseKey));
	dense->nkeys = layout->nkeys;
	for (int i = 0; i < layout->nkeys; i++)
	{
		DenseKey *key = &dense->keys[i];

		key->column = gpuagg_compiled_strings(&node->compiler->program, layout->keys[i].reg);
		key->type = key->column < 0 ? layout->keys[i].type : GPUAGG_VECTOR_INT32;
	}
	dense->codes = palloc0(layout->nkeys * sizeof(GpuaggVector));
	dense->states = palloc0(Max(node->nstates, 1) * sizeof(DenseState));
	dense->taken = palloc0(Max(node->nstates, 1) * sizeof(bool));
	dense->all = true;
	dense->records.stride = 1;
	for (int i = 0; i < node->nstates; i++)
	{
		AggFeed feed = node->inputs[i].feed;

		dense->states[i].fits = fits(&node->inputs[i], &layout->states[i]);
		if (dense->states[i].fits && feed != FEED_ROWS && feed != FEED_COUNT)
			dense->states[i].low = dense->records.stride++;
		dense->all &= dense->states[i].fits;
		any |= dense->states[i].fits;
	}
	if (dense->records.stride > 1)
		dense->room = palloc(2 * GPUAGG_PLACE_COLUMNS * GPUAGG_VECTOR_ROWS * sizeof(int64));
	return any || node->nstates == 0 ? dense : NULL;
}

/* ---- places ---- */

static const GpuaggVector *
key_vector(const AggScanState *node, int key)
{
	const AggDense *dense = node->dense;

	return dense->keys[key].column >= 0
			   ? &dense->codes[key]
			   : &node->runner->registers[gpuagg_agg_main(node)->layout.keys[key].reg];
}

/* Adds a key's digit, times that of one more place, to the places of rows; false: some have none. */
static bool
add_digits(const DenseKey *key, const GpuaggVector *vector, const uint16 *rows, int n, uint32 step,
		   uint16 *places)
{
	for (int i = 0; i < n; i++)
	{
		uint64 digit = (uint64) gpuagg_key_integer(vector, key->type, rows[i]) -
					   (uint64) key->first;

		if (gpuagg_key_is_null(vector, rows[i]))
			digit = key->n;
		else if (digit >= key->n)
			return false;
		places[i] += (uint16) ((uint32) digit * step);
	}
	return true;
}

/* A key's digits of all rows, those of rows that are not live being anything; false likewise. */
static bool
find_digits(const DenseKey *key, const GpuaggVector *vector, const uint64 *live, int words,
			uint16 *digits)
{
	uint64 outside = gpuagg_place_digits((int) key->type, vector->values, words, key->first, key->n,
										 digits);

	for (int w = 0; w < words; w++)
	{
		uint64 valid = vector->valid != NULL ? vector->valid[w] : PG_UINT64_MAX;
		uint64 left = outside >> w & 1 ? live[w] & valid : 0;

		for (; left != 0; left &= left - 1)
		{
			int row = w * 64 + pg_rightmost_one_pos64(left);

			if ((uint64) gpuagg_key_integer(vector, key->type, row) - (uint64) key->first >= key->n)
				return false;
		}
		for (left = live[w] & ~valid; left != 0; left &= left - 1)
			digits[w * 64 + pg_rightmost_one_pos64(left)] = (uint16) key->n;
	}
	return true;
}

/* False: some row has none.  rows is NULL: of all rows of the vector. */
static bool
find_places(const AggScanState *node, const uint16 *rows, int n, uint16 *places)
{
	const AggDense *dense = node->dense;
	const uint64 *live = node->runner->live;
	int words = (node->reader->nrows + 63) / 64;
	uint16 digits[GPUAGG_VECTOR_ROWS];
	uint32 step = 1;

	if (dense->nplaces == 0)
		return false;
	if (rows != NULL)
		memset(places, 0, n * sizeof(uint16));
	for (int k = 0; k < dense->nkeys; k++)
	{
		const DenseKey *key = &dense->keys[k];
		const GpuaggVector *vector = key_vector(node, k);

		if (rows != NULL ? !add_digits(key, vector, rows, n, step, places)
						 : !find_digits(key, vector, live, words, k == 0 ? places : digits))
			return false;
		if (rows == NULL && k > 0)
			gpuagg_place_add_digits(places, digits, step, words);
		step *= key->n + 1;
	}
	for (int w = 0; rows == NULL && w < words; w++)
		for (uint64 dead = ~live[w]; dead != 0; dead &= dead - 1)
			places[w * 64 + pg_rightmost_one_pos64(dead)] = (uint16) dense->nplaces;
	return true;
}

/* The ends of a key's type. */
static int64
least_of(GpuaggVectorType type)
{
	return type == GPUAGG_VECTOR_INT16	 ? PG_INT16_MIN
		   : type == GPUAGG_VECTOR_INT32 ? PG_INT32_MIN
										 : PG_INT64_MIN;
}

static int64
most_of(GpuaggVectorType type)
{
	return -1 - least_of(type);
}

/* Widens a range by the keys of rows, and by `more` times what it was; false: they are too many. */
static bool
widen_key(DenseKey *key, const GpuaggVector *vector, const uint16 *rows, int n, int more)
{
	int64 least = PG_INT64_MAX;
	int64 most = PG_INT64_MIN;
	int64 range;

	for (int i = 0; i < n; i++)
	{
		int64 value = gpuagg_key_integer(vector, key->type, rows[i]);

		if (gpuagg_key_is_null(vector, rows[i]))
			continue;
		least = Min(least, value);
		most = Max(most, value);
	}
	if (least > most)
	{
		least = key->n > 0 ? key->first : 0;
		most = least;
	}
	if (key->n > 0)
	{
		int64 last = key->first + (key->n - 1);
		int64 slack = (int64) key->n * more;

		if (most > last)
			most = most <= most_of(key->type) - slack ? most + slack : most_of(key->type);
		if (least < key->first)
			least = least >= least_of(key->type) + slack ? least - slack : least_of(key->type);
		least = Min(least, key->first);
		most = Max(most, last);
	}
	if (__builtin_sub_overflow(most, least, &range) || range >= MOST_PLACES)
		return false;
	key->first = least;
	key->n = (uint32) range + 1;
	return true;
}

/* In the groups' context, which frees it when the groups go. */
static void *
make_array(const AggScanState *node, Size size)
{
	return MemoryContextAllocZero(GetMemoryChunkContext(gpuagg_agg_owner(node)), size);
}

/* Of the places and the one for rows that are not live. */
static Size
records_bytes(const AggDense *dense)
{
	const GpuaggPlaceArray *records = &dense->records;

	return ((Size) dense->nplaces + 1) * records->copies * records->stride * sizeof(int64);
}

static void
make_records(const AggScanState *node)
{
	AggDense *dense = node->dense;

	dense->records.copies = GPUAGG_PLACE_COPIES;
	if (records_bytes(dense) > COPIES_BYTES)
		dense->records.copies = 1;
	dense->records.words = make_array(node, records_bytes(dense));
}

/* Gives records one more word, which it returns. */
static uint32
widen_records(const AggScanState *node)
{
	GpuaggPlaceArray *records = &node->dense->records;
	GpuaggPlaceArray old = *records;

	records->stride++;
	make_records(node);
	for (uint32 p = 0; p < node->dense->nplaces; p++)
		for (uint32 w = 0; w < old.stride; w++)
			records->words[(Size) p * records->copies * records->stride + w] =
				gpuagg_place_total(&old, p, w);
	pfree(old.words);
	return old.stride;
}

static void
free_arrays(AggScanState *node)
{
	AggDense *dense = node->dense;

	if (dense->nplaces == 0)
		return;
	pfree(dense->groups);
	pfree(dense->records.words);
	for (int i = 0; i < node->nstates; i++)
	{
		DenseState *state = &dense->states[i];

		if (state->left != NULL)
			pfree(state->left);
		state->left = NULL;
	}
	dense->nplaces = 0;
}

/* Ranges that have the keys of rows too, and how many places these are; 0: too many. */
static uint64
widen_keys(const AggScanState *node, const uint16 *rows, int n, int more, DenseKey *keys)
{
	const AggDense *dense = node->dense;
	int64 ngroups = gpuagg_groups_count(gpuagg_agg_main(node)->groups);
	uint64 most = Min(MOST_PLACES, Max(LEAST_PLACES, PLACES_GROUP * ngroups));
	uint64 nplaces = 1;

	memcpy(keys, dense->keys, dense->nkeys * sizeof(DenseKey));
	for (int k = 0; k < dense->nkeys; k++)
	{
		if (!widen_key(&keys[k], key_vector(node, k), rows, n, more))
			return 0;
		nplaces *= keys[k].n + 1;
		if (nplaces > most)
			return 0;
	}
	return nplaces;
}

/* Places for the keys of live rows too; false: there would be too many. */
static bool
widen(AggScanState *node)
{
	AggDense *dense = node->dense;
	uint16 rows[GPUAGG_VECTOR_ROWS];
	int n = gpuagg_vector_list(node->runner->live, rows);
	DenseKey *keys = palloc(dense->nkeys * sizeof(DenseKey));
	uint64 nplaces = widen_keys(node, rows, n, 1, keys);

	/* where keys follow the order of rows, more will come, if there is room */
	if (nplaces == 0)
		nplaces = widen_keys(node, rows, n, 0, keys);
	if (nplaces == 0)
		return false;
	gpuagg_dense_fold(node);
	free_arrays(node);
	memcpy(dense->keys, keys, dense->nkeys * sizeof(DenseKey));
	dense->nplaces = (uint32) nplaces;
	dense->groups = make_array(node, dense->nplaces * sizeof(AggGroup *));
	make_records(node);
	return true;
}

/* ---- rows ---- */

/* Finds the groups of places whose first row has come. */
static void
find_new_groups(AggScanState *node, const uint16 *places, const uint16 *rows, int n)
{
	AggDense *dense = node->dense;
	AggGroup *found[GPUAGG_VECTOR_ROWS];
	uint16 new_rows[GPUAGG_VECTOR_ROWS];
	uint16 new_places[GPUAGG_VECTOR_ROWS];
	int m = 0;

	for (int i = 0; i < n; i++)
		if (places[i] < dense->nplaces && dense->groups[places[i]] == NULL)
		{
			new_rows[m] = rows != NULL ? rows[i] : (uint16) i;
			new_places[m++] = places[i];
		}
	if (m == 0)
		return;
	gpuagg_agg_find_groups(node, gpuagg_agg_main(node), new_rows, m, found);
	for (int i = 0; i < m; i++)
		dense->groups[new_places[i]] = found[i];
}

/* Live rows that a state's input leaves out: those that are not wanted. */
static void
leave_out(AggScanState *node, DenseState *state, const uint16 *places, const uint16 *rows,
		  const uint64 *wanted, int n)
{
	if (state->left == NULL)
		state->left = make_array(node, (node->dense->nplaces + 1) * sizeof(uint32));
	for (int i = 0; i < n; i++)
		state->left[places[i]] += !gpuagg_bit(wanted, rows != NULL ? rows[i] : i);
}

/* A vector on its way into the arrays. */
typedef struct DenseRows
{
	const uint16 *rows; /* NULL: all of the vector */
	int n;
	const uint16 *places;
	bool counted;
	bool fresh; /* some are the first ones of their places since the last fold */
	int bits;	/* of what a row adds to a low sum */
} DenseRows;

/* Columns of it that go into words of records, one after the other. */
typedef struct DenseColumns
{
	int64 *room;
	uint32 first;
	int n;
	const int64 *list[GPUAGG_PLACE_COLUMNS];
} DenseColumns;

static void
sum_columns(const AggDense *dense, DenseRows *of, DenseColumns *columns)
{
	bool count = !of->counted && columns->first == 1;

	if (columns->n == 0)
		return;
	of->fresh |= gpuagg_place_sum(&dense->records, of->places, of->n, columns->list, columns->n,
								  columns->first, count);
	of->counted |= count;
	columns->n = 0;
}

/* Room for the values of one more column, which goes to that word. */
static int64 *
next_column(const AggDense *dense, DenseRows *of, DenseColumns *columns, uint32 word)
{
	if (columns->n == GPUAGG_PLACE_COLUMNS || word != columns->first + columns->n)
		sum_columns(dense, of, columns);
	if (columns->n == 0)
		columns->first = word;
	return columns->room + columns->n * GPUAGG_VECTOR_ROWS;
}

/* What is left, all at a time if it can be. */
static void
sum_all_columns(const AggDense *dense, DenseRows *of, DenseColumns *low, DenseColumns *high)
{
	if (low->n > 0 && high->first == low->first + low->n &&
		low->n + high->n <= GPUAGG_PLACE_COLUMNS)
	{
		memcpy(low->list + low->n, high->list, high->n * sizeof(high->list[0]));
		low->n += high->n;
		high->n = 0;
	}
	sum_columns(dense, of, low);
	sum_columns(dense, of, high);
	if (!of->counted)
		of->fresh |= gpuagg_place_sum(&dense->records, of->places, of->n, NULL, 0, 1, true);
}

/* Values as 64 bits; false: some that is wanted has more. */
static bool
make_short(const GpuaggInt128 *values, const DenseRows *of, const uint64 *wanted, int64 *shorts)
{
	int64 beyond = 0;

	for (int i = 0; i < of->n; i++)
	{
		const GpuaggInt128 *value = &values[of->rows != NULL ? of->rows[i] : i];

		shorts[i] = (int64) value->lo;
		beyond |= value->hi ^ ((int64) value->lo >> 63);
	}
	for (int i = 0; i < of->n && beyond != 0; i++)
	{
		int row = of->rows != NULL ? of->rows[i] : i;

		if (!gpuagg_int128_is_int64(values[row]) && gpuagg_bit(wanted, row))
			return false;
	}
	return true;
}

/* The values of an input that are wanted, of others 0, in the room or where they are; NULL: no. */
static const int64 *
make_column(const AggScanState *node, const AggInput *input, const DenseRows *of,
			const uint64 *wanted, bool all, int64 *room)
{
	const GpuaggVector *vector = &node->runner->registers[input->value.reg];
	GpuaggVectorType type = (GpuaggVectorType) input->value.type;

	if (type == GPUAGG_VECTOR_INT128)
	{
		if (!make_short(vector->values, of, wanted, room))
			return NULL;
	}
	else if (of->rows != NULL)
		for (int i = 0; i < of->n; i++)
			room[i] = gpuagg_key_integer(vector, type, of->rows[i]);
	else if (type != GPUAGG_VECTOR_INT64)
		gpuagg_place_extend((int) type, vector->values, (of->n + 63) / 64, room);
	else if (all)
		return vector->values;
	else
		memcpy(room, vector->values, of->n * sizeof(int64));
	for (int i = 0; i < of->n && !all; i++)
		room[i] &= -(int64) gpuagg_bit(wanted, of->rows != NULL ? of->rows[i] : i);
	return room;
}

/* The rows that a state's input takes; true: these are all live ones. */
static bool
wanted_rows(const AggScanState *node, const AggInput *input, int nlive, uint64 *wanted)
{
	if (input->where == NULL &&
		(input->argument == NULL || node->runner->registers[input->value.reg].valid == NULL))
	{
		memcpy(wanted, node->runner->live, sizeof(node->runner->live));
		return true;
	}
	return gpuagg_agg_sink_rows(node, input, wanted) == nlive;
}

/* Of a state's values, or more if they are taken for wide ones. */
static int
bits_of(DenseState *state, int type, const int64 *values, int n)
{
	int bits = 31;

	if (type == GPUAGG_VECTOR_INT16 || type == GPUAGG_VECTOR_INT32)
		return bits;
	if (state->wide > 0)
	{
		state->wide--;
		return NARROW_BITS + 1;
	}
	bits = gpuagg_place_bits(values, n);
	if (bits > NARROW_BITS)
		state->wide = WIDE_VECTORS;
	return bits;
}

/* Takes the rows into a state's arrays, or columns for these; false: it is not for them. */
static bool
take_state(AggScanState *node, int number, int nlive, DenseRows *of, DenseColumns *low,
		   DenseColumns *high)
{
	AggDense *dense = node->dense;
	DenseState *state = &dense->states[number];
	const AggInput *input = &node->inputs[number];
	static const uint64 none[GPUAGG_VECTOR_WORDS] = {0};
	uint64 wanted[GPUAGG_VECTOR_WORDS];
	bool all;
	int64 *room;
	const int64 *values;
	int bits;

	if (!state->fits)
		return false;
	all = wanted_rows(node, input, nlive, wanted);
	if (state->low == 0)
	{
		if (!all)
			leave_out(node, state, of->places, of->rows, wanted, of->n);
		return true;
	}
	room = next_column(dense, of, low, state->low);
	values = make_column(node, input, of, wanted, all, room);
	if (!all || values == NULL)
		leave_out(node, state, of->places, of->rows, values == NULL ? none : wanted, of->n);
	if (values == NULL)
		return false;
	bits = bits_of(state, input->value.type, values, of->n);
	if (bits > NARROW_BITS)
	{
		int64 *high_values;

		if (state->high == 0)
			state->high = widen_records(node);
		high_values = next_column(dense, of, high, state->high);
		gpuagg_place_split(values, (of->n + 63) / 64, room, high_values);
		high->list[high->n++] = high_values;
		values = room;
		bits = LOW_BITS;
	}
	low->list[low->n++] = values;
	of->bits = Max(of->bits, bits);
	return true;
}

/* Into the states' arrays, and counts the rows; true: all states have been taken. */
static bool
take_states(AggScanState *node, int nlive, DenseRows *of)
{
	AggDense *dense = node->dense;
	DenseColumns low = {.room = dense->room};
	DenseColumns high = {.room = dense->room};
	bool all = true;

	if (dense->room != NULL)
		high.room += GPUAGG_PLACE_COLUMNS * GPUAGG_VECTOR_ROWS;
	for (int i = 0; i < node->nstates; i++)
	{
		dense->taken[i] = take_state(node, i, nlive, of, &low, &high);
		all &= dense->taken[i];
	}
	sum_all_columns(dense, of, &low, &high);
	return all;
}

/* The other states, by the rows' groups. */
static void
take_others(AggScanState *node, const DenseRows *of)
{
	const AggDense *dense = node->dense;
	AggGroup *found[GPUAGG_VECTOR_ROWS];
	uint16 rows[GPUAGG_VECTOR_ROWS];
	int n = 0;

	for (int i = 0; i < of->n; i++)
	{
		if (of->places[i] == dense->nplaces)
			continue;
		found[n] = dense->groups[of->places[i]];
		rows[n++] = of->rows != NULL ? of->rows[i] : (uint16) i;
	}
	gpuagg_agg_sink_grouped(node, found, rows, n, dense->taken);
}

/* The arrays have gone with the groups. */
static void
forget(AggScanState *node)
{
	AggDense *dense = node->dense;

	dense->generation = gpuagg_groups_generation(gpuagg_agg_main(node)->groups);
	dense->nplaces = 0;
	dense->added = 0;
	for (int k = 0; k < dense->nkeys; k++)
		dense->keys[k].n = 0;
	for (int i = 0; i < node->nstates; i++)
		dense->states[i].left = NULL;
}

/* Takes the codes of keys that are strings; false: they have none. */
static bool
take_codes(AggScanState *node)
{
	AggDense *dense = node->dense;
	const GpuaggVectorCodes *codes = node->reader->codes;
	bool same = true;

	for (int k = 0; k < dense->nkeys; k++)
	{
		const DenseKey *key = &dense->keys[k];

		if (key->column < 0)
			continue;
		if (codes == NULL)
			return false;
		dense->codes[k] = (GpuaggVector){(void *) codes[key->column].codes,
										 node->reader->columns[key->column].valid};
		same &= key->table == codes[key->column].table;
	}
	if (same)
		return true;
	gpuagg_dense_fold(node);
	free_arrays(node);
	for (int k = 0; k < dense->nkeys; k++)
	{
		DenseKey *key = &dense->keys[k];

		key->n = 0;
		if (key->column >= 0)
			key->table = codes[key->column].table;
	}
	return true;
}

bool
gpuagg_dense_take(AggScanState *node, const uint16 *rows, int n)
{
	AggDense *dense = node->dense;
	const AggGroups *groups = gpuagg_agg_main(node)->groups;
	uint16 places[GPUAGG_VECTOR_ROWS];
	DenseRows of = {rows, rows != NULL ? n : node->reader->nrows, places, .bits = LOW_BITS};
	bool all;

	if (dense == NULL || dense->misses == MOST_MISSES)
		return false;
	if (dense->generation != gpuagg_groups_generation(groups))
		forget(node);
	/* states of many groups are better prefetched */
	if (!dense->all && gpuagg_groups_count(groups) > LEAST_PLACES)
		return false;
	if (!take_codes(node))
		return false;
	if (!find_places(node, rows, n, places) && !(widen(node) && find_places(node, rows, n, places)))
	{
		dense->misses++;
		return false;
	}
	dense->misses = 0;
	all = take_states(node, n, &of);
	if (of.fresh)
		find_new_groups(node, places, rows, of.n);
	if (!all)
		take_others(node, &of);
	dense->added += (uint64) of.n << of.bits;
	if (dense->added > FOLD_ADDED - ((uint64) GPUAGG_VECTOR_ROWS << NARROW_BITS))
		gpuagg_dense_fold(node);
	return true;
}

/* ---- folding ---- */

/* What a state's input has brought to a place, n > 0 values of it. */
static void
fold_state(AggScanState *node, int number, uint32 place, int64 n)
{
	const AggDense *dense = node->dense;
	const DenseState *state = &dense->states[number];
	__int128 sum = 0;

	if (state->low > 0)
		sum = gpuagg_place_total(&dense->records, place, state->low);
	if (state->high > 0)
		sum += (__int128) gpuagg_place_total(&dense->records, place, state->high) *
			   ((int64) 1 << LOW_BITS);
	gpuagg_agg_sink_sum(node, number, dense->groups[place], n, sum);
}

void
gpuagg_dense_fold(AggScanState *node)
{
	AggDense *dense = node->dense;

	if (dense == NULL || dense->added == 0 ||
		dense->generation != gpuagg_groups_generation(gpuagg_agg_main(node)->groups))
		return;
	for (uint32 p = 0; p < dense->nplaces; p++)
	{
		int64 rows = gpuagg_place_total(&dense->records, p, 0);

		for (int i = 0; i < node->nstates && rows > 0; i++)
		{
			const DenseState *state = &dense->states[i];
			int64 n = rows - (state->left != NULL ? state->left[p] : 0);

			if (state->fits && n > 0)
				fold_state(node, i, p, n);
		}
	}
	memset(dense->records.words, 0, records_bytes(dense));
	for (int i = 0; i < node->nstates; i++)
		if (dense->states[i].left != NULL)
			memset(dense->states[i].left, 0, dense->nplaces * sizeof(uint32));
	dense->added = 0;
}
