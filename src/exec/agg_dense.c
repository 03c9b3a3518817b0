/*
 * agg_dense.c
 *	  Counts and sums of a GpuAgg node's groups whose keys are integers of a small range, or
 *	  strings by their codes.
 *
 * A place has a counter of rows, which all states share: a state whose input leaves out a row,
 * as it is NULL or does not pass FILTER, counts that one.  A sum is 2^32 * high + low.  Between
 * two folds there are at most FOLD_ROWS rows, and each adds less than 2^32 to low and at
 * most 2^31 to high, so that both stay below 2^62.
 *
 * Keys that are outside the ranges so far make these wider, as long as there are not many more
 * places than groups; else the vector goes the way of all others.
 */
#include "compat.h"

#include "utils/memutils.h"

#include "engine/cpu.h"
#include "exec/agg_dense.h"
#include "exec/agg_keys.h"
#include "operation/accumulators.h"

#define FOLD_ROWS	 (1 << 30)
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

/* By place. */
typedef struct DenseState
{
	bool fits;	/* into these arrays */
	int64 *low; /* NULL: only counted */
	int64 *high;
	uint32 *left; /* rows that its input leaves out; NULL: none so far */
} DenseState;

struct AggDense
{
	uint64 generation; /* of the groups */
	int misses;
	int64 nrows;	/* since the last fold */
	uint32 nplaces; /* 0: there are no arrays */
	AggGroup **groups;
	uint32 *rows; /* since the last fold */
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
			gpuagg_agg_codes_column(node, layout->keys[i].reg) < 0)
			return NULL;
	dense = palloc0(offsetof(AggDense, keys) + layout->nkeys * sizeof(DenseKey));
	dense->nkeys = layout->nkeys;
	for (int i = 0; i < layout->nkeys; i++)
	{
		DenseKey *key = &dense->keys[i];

		key->column = gpuagg_agg_codes_column(node, layout->keys[i].reg);
		key->type = key->column < 0 ? layout->keys[i].type : GPUAGG_VECTOR_INT32;
	}
	dense->codes = palloc0(layout->nkeys * sizeof(GpuaggVector));
	dense->states = palloc0(Max(node->nstates, 1) * sizeof(DenseState));
	dense->taken = palloc0(Max(node->nstates, 1) * sizeof(bool));
	dense->all = true;
	for (int i = 0; i < node->nstates; i++)
	{
		dense->states[i].fits = fits(&node->inputs[i], &layout->states[i]);
		dense->all &= dense->states[i].fits;
		any |= dense->states[i].fits;
	}
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
static pg_attribute_always_inline bool
add_digits(const DenseKey *key, GpuaggVectorType type, const GpuaggVector *vector, bool nulls,
		   const uint16 *rows, int n, uint32 step, uint16 *places)
{
	bool outside = false;

	for (int i = 0; i < n; i++)
	{
		int row = rows != NULL ? rows[i] : i;
		uint64 digit = (uint64) gpuagg_key_integer(vector, type, row) - (uint64) key->first;

		if (nulls && gpuagg_key_is_null(vector, row))
			digit = key->n;
		else
			outside |= digit >= key->n;
		places[i] += (uint16) ((uint32) digit * step);
	}
	return !outside;
}

#define ADD_DIGITS(type)                                                                 \
	(vector->valid != NULL ? add_digits(key, type, vector, true, rows, n, step, places)  \
	 : rows != NULL		   ? add_digits(key, type, vector, false, rows, n, step, places) \
						   : add_digits(key, type, vector, false, NULL, n, step, places))

/* False: some row has none. */
static bool
find_places(const AggScanState *node, const uint16 *rows, int n, uint16 *places)
{
	const AggDense *dense = node->dense;
	uint32 step = 1;

	if (dense->nplaces == 0)
		return false;
	memset(places, 0, n * sizeof(uint16));
	for (int k = 0; k < dense->nkeys; k++)
	{
		const DenseKey *key = &dense->keys[k];
		const GpuaggVector *vector = key_vector(node, k);

		if (!(key->type == GPUAGG_VECTOR_INT16	 ? ADD_DIGITS(GPUAGG_VECTOR_INT16)
			  : key->type == GPUAGG_VECTOR_INT32 ? ADD_DIGITS(GPUAGG_VECTOR_INT32)
												 : ADD_DIGITS(GPUAGG_VECTOR_INT64)))
			return false;
		step *= key->n + 1;
	}
	return true;
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
		int row = rows != NULL ? rows[i] : i;
		int64 value = gpuagg_key_integer(vector, key->type, row);

		if (gpuagg_key_is_null(vector, row))
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

		if (most > last && most <= PG_INT64_MAX - slack)
			most += slack;
		if (least < key->first && least >= PG_INT64_MIN + slack)
			least -= slack;
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
	return MemoryContextAllocZero(GetMemoryChunkContext(gpuagg_agg_owner(node)),
								  node->dense->nplaces * size);
}

static void
free_arrays(AggScanState *node)
{
	AggDense *dense = node->dense;

	if (dense->nplaces == 0)
		return;
	pfree(dense->groups);
	pfree(dense->rows);
	for (int i = 0; i < node->nstates; i++)
	{
		DenseState *state = &dense->states[i];

		if (state->low != NULL)
		{
			pfree(state->low);
			pfree(state->high);
		}
		if (state->left != NULL)
			pfree(state->left);
		state->low = state->high = NULL;
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

/* Places for the keys of rows too; false: there would be too many. */
static bool
widen(AggScanState *node, const uint16 *rows, int n)
{
	AggDense *dense = node->dense;
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
	dense->groups = make_array(node, sizeof(AggGroup *));
	dense->rows = make_array(node, sizeof(uint32));
	for (int i = 0; i < node->nstates; i++)
	{
		const AggInput *input = &node->inputs[i];

		if (!dense->states[i].fits || input->feed == FEED_ROWS || input->feed == FEED_COUNT)
			continue;
		dense->states[i].low = make_array(node, sizeof(int64));
		dense->states[i].high = make_array(node, sizeof(int64));
	}
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
		if (dense->groups[places[i]] == NULL)
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

/* Counts rows; true: some are the first ones of their places since the last fold. */
static bool
count_rows(AggDense *dense, const uint16 *places, int n)
{
	uint32 *rows = dense->rows;
	bool fresh = false;

	for (int i = 0; i < n; i++)
		fresh |= rows[places[i]]++ == 0;
	return fresh;
}

static void
leave_out(AggScanState *node, DenseState *state, const uint16 *places, const uint16 *rows,
		  const uint64 *wanted, int n)
{
	if (state->left == NULL)
		state->left = make_array(node, sizeof(uint32));
	for (int i = 0; i < n; i++)
		state->left[places[i]] += !gpuagg_bit(wanted, rows != NULL ? rows[i] : i);
}

/* wanted: NULL, or which rows count; narrow: values are within 32 bits. */
static pg_attribute_always_inline void
add_values(DenseState *state, GpuaggVectorType type, bool narrow, const GpuaggVector *vector,
		   const uint16 *places, const uint16 *rows, const uint64 *wanted, int n)
{
	int64 *low = state->low;
	int64 *high = state->high;

	for (int i = 0; i < n; i++)
	{
		int row = rows != NULL ? rows[i] : i;
		int64 value = gpuagg_key_integer(vector, type, row);

		if (wanted != NULL)
			value &= -(int64) gpuagg_bit(wanted, row);
		if (narrow)
			low[places[i]] += value;
		else
		{
			low[places[i]] += value & UINT32_MAX;
			high[places[i]] += value >> 32;
		}
	}
}

#define ADD_VALUES(type, narrow)                                              \
	do                                                                        \
	{                                                                         \
		if (wanted != NULL)                                                   \
			add_values(state, type, narrow, vector, places, rows, wanted, n); \
		else if (rows != NULL)                                                \
			add_values(state, type, narrow, vector, places, rows, NULL, n);   \
		else                                                                  \
			add_values(state, type, narrow, vector, places, NULL, NULL, n);   \
	} while (0)

/* Whether all values of the vector's words are within 32 bits. */
static bool
are_narrow(const int64 *values, int nwords)
{
	uint64 wide = 0;

	for (int w = 0; w < nwords; w++, values += 64)
		for (int i = 0; i < 64; i++)
			wide |= ((uint64) values[i] + 0x80000000) >> 32;
	return wide == 0;
}

/* The values of rows as 64 bits; false: some have more. */
static bool
make_narrow(const GpuaggInt128 *values, const uint16 *rows, const uint64 *wanted, int n,
			int64 *narrow)
{
	for (int i = 0; i < n; i++)
	{
		int row = rows != NULL ? rows[i] : i;

		narrow[row] = (int64) values[row].lo;
		if (!gpuagg_int128_is_int64(values[row]) && gpuagg_bit(wanted, row))
			return false;
	}
	return true;
}

/* Takes the rows into a state's arrays; false: it is not for them. */
static bool
take_state(AggScanState *node, int number, const uint16 *places, const uint16 *rows, int n)
{
	DenseState *state = &node->dense->states[number];
	const AggInput *input = &node->inputs[number];
	int64 room[GPUAGG_VECTOR_ROWS];
	GpuaggVector local = {room, NULL};
	const GpuaggVector *vector = &local;
	static const uint64 none[GPUAGG_VECTOR_WORDS] = {0};
	uint64 bits[GPUAGG_VECTOR_WORDS];
	const uint64 *wanted = bits;

	if (!state->fits)
		return false;
	if (gpuagg_agg_sink_rows(node, input, bits) == n)
		wanted = NULL;
	if (state->low != NULL && input->value.type != GPUAGG_VECTOR_INT128)
		vector = &node->runner->registers[input->value.reg];
	else if (state->low != NULL &&
			 !make_narrow(node->runner->registers[input->value.reg].values, rows, bits, n, room))
	{
		leave_out(node, state, places, rows, none, n);
		return false;
	}
	if (wanted != NULL)
		leave_out(node, state, places, rows, wanted, n);
	if (state->low == NULL)
		return true;
	if (input->value.type == GPUAGG_VECTOR_INT16)
		ADD_VALUES(GPUAGG_VECTOR_INT16, true);
	else if (input->value.type == GPUAGG_VECTOR_INT32)
		ADD_VALUES(GPUAGG_VECTOR_INT32, true);
	else if (vector != &local && are_narrow(vector->values, (node->reader->nrows + 63) / 64))
		ADD_VALUES(GPUAGG_VECTOR_INT64, true);
	else
		ADD_VALUES(GPUAGG_VECTOR_INT64, false);
	return true;
}

/* The other states, by the rows' groups. */
static void
take_others(AggScanState *node, const uint16 *places, const uint16 *rows, int n)
{
	AggGroup *found[GPUAGG_VECTOR_ROWS];
	uint16 all[GPUAGG_VECTOR_ROWS];

	for (int i = 0; i < n; i++)
	{
		found[i] = node->dense->groups[places[i]];
		all[i] = rows != NULL ? rows[i] : (uint16) i;
	}
	gpuagg_agg_sink_grouped(node, found, all, n, node->dense->taken);
}

/* The arrays have gone with the groups. */
static void
forget(AggScanState *node)
{
	AggDense *dense = node->dense;

	dense->generation = gpuagg_groups_generation(gpuagg_agg_main(node)->groups);
	dense->nplaces = 0;
	dense->nrows = 0;
	for (int k = 0; k < dense->nkeys; k++)
		dense->keys[k].n = 0;
	for (int i = 0; i < node->nstates; i++)
		dense->states[i] = (DenseState){.fits = dense->states[i].fits};
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
	bool all = true;

	if (dense == NULL || dense->misses == MOST_MISSES)
		return false;
	if (dense->generation != gpuagg_groups_generation(groups))
		forget(node);
	/* states of many groups are better prefetched */
	if (!dense->all && gpuagg_groups_count(groups) > LEAST_PLACES)
		return false;
	if (!take_codes(node))
		return false;
	if (!find_places(node, rows, n, places) &&
		!(widen(node, rows, n) && find_places(node, rows, n, places)))
	{
		dense->misses++;
		return false;
	}
	dense->misses = 0;
	if (count_rows(dense, places, n))
		find_new_groups(node, places, rows, n);
	for (int i = 0; i < node->nstates; i++)
	{
		dense->taken[i] = take_state(node, i, places, rows, n);
		all &= dense->taken[i];
	}
	if (!all)
		take_others(node, places, rows, n);
	dense->nrows += n;
	if (dense->nrows > FOLD_ROWS - GPUAGG_VECTOR_ROWS)
		gpuagg_dense_fold(node);
	return true;
}

/* ---- folding ---- */

void
gpuagg_dense_fold(AggScanState *node)
{
	AggDense *dense = node->dense;

	if (dense == NULL || dense->nrows == 0 ||
		dense->generation != gpuagg_groups_generation(gpuagg_agg_main(node)->groups))
		return;
	for (uint32 p = 0; p < dense->nplaces; p++)
		for (int i = 0; i < node->nstates && dense->rows[p] > 0; i++)
		{
			const DenseState *state = &dense->states[i];
			int64 n = dense->rows[p] - (state->left != NULL ? state->left[p] : 0);

			if (state->fits && n > 0)
				gpuagg_agg_sink_sum(node, i, dense->groups[p], n,
									state->low == NULL
										? 0
										: (__int128) state->high[p] * ((int64) 1 << 32) +
											  state->low[p]);
		}
	memset(dense->rows, 0, dense->nplaces * sizeof(uint32));
	for (int i = 0; i < node->nstates; i++)
	{
		const DenseState *state = &dense->states[i];

		if (state->low != NULL)
		{
			memset(state->low, 0, dense->nplaces * sizeof(int64));
			memset(state->high, 0, dense->nplaces * sizeof(int64));
		}
		if (state->left != NULL)
			memset(state->left, 0, dense->nplaces * sizeof(uint32));
	}
	dense->nrows = 0;
}
