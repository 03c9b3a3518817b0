/*
 * agg_device_groups.c
 *	  Groups that the device has found, into those of a GpuAgg node.
 *
 * Records are taken a vector at a time: their keys become vectors, by which groups are found as
 * those of rows are, and their totals go into the groups' states.
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/agg_device_groups.h"

/* Keys of a vector of groups. */
typedef struct KeyVectors
{
	AggScanState *node;
	const AggDeviceGroups *groups;
	bool appends; /* all records are of groups that the node has not */
	const GpuaggVectorBytes *entries[GPUAGG_GROUP_KEYS]; /* of keys that are codes; NULL: others */
	uint32 nentries[GPUAGG_GROUP_KEYS];
	GpuaggVector vectors[GPUAGG_GROUP_KEYS];
	uint64 valid[GPUAGG_GROUP_KEYS][GPUAGG_VECTOR_WORDS];
	GpuaggVectorBytes values[GPUAGG_GROUP_KEYS][GPUAGG_VECTOR_ROWS]; /* of any type */
} KeyVectors;

const char *
gpuagg_agg_device_groups_init(const AggScanState *node, AggDeviceGroups *groups,
							  const GpuaggQueryAggregate *aggregates, const uint8 *types)
{
	const GroupLayout *layout = &node->sets[0].layout;
	uint8 key_types[GPUAGG_GROUP_KEYS];

	if (layout->nkeys > GPUAGG_GROUP_KEYS)
		return "there are too many keys";
	if (layout->nvalues > layout->nkeys)
		return "whole rows are needed";
	for (int i = 0; i < layout->nkeys; i++)
	{
		groups->keys[i] = layout->keys[i].reg;
		key_types[i] = (uint8) gpuagg_agg_device_type(layout->keys[i].type);
		if (layout->keys[i].type == GPUAGG_VECTOR_BYTES &&
			gpuagg_agg_codes_column(node, layout->keys[i].reg) < 0)
			return "strings are the CPU's";
	}
	return gpuagg_group_layout(&groups->layout, key_types, (uint32) layout->nkeys, aggregates,
							   types, (uint32) node->nstates)
			   ? NULL
			   : "such groups are the CPU's";
}

uint64
gpuagg_agg_device_groups_expected(const AggScanState *node, uint64 rows)
{
	double planned = node->css.ss.ps.plan->plan_rows;

	return planned < (double) rows ? (uint64) Max(planned, 1) : rows;
}

/* ---- keys ---- */

static void
store_key(KeyVectors *keys, int number, int row, const uint64 *words)
{
	GpuaggVectorType type = keys->groups->layout.key_type[number];
	uint64 bit = UINT64CONST(1) << (row % 64);
	char *values = (char *) keys->values[number];
	Size size = gpuagg_vector_type_size(type);
	int isnull;
	uint64 value = gpuagg_group_key(&keys->groups->layout, words, (uint32) number, &isnull);

	if (!isnull)
		keys->valid[number][row / 64] |= bit;
	if (keys->entries[number] != NULL)
	{
		if (value >= keys->nentries[number])
			elog(ERROR, "unexpected code of a string on the device");
		keys->values[number][row] = keys->entries[number][value];
	}
	else if (type == GPUAGG_VECTOR_BOOL)
		((uint64 *) values)[row / 64] |= (value & 1) != 0 ? bit : 0;
	else
		memcpy(values + row * size, &value, size); /* the low bytes come first */
}

/* The strings of keys that are codes. */
static void
find_entries(KeyVectors *keys, const AggDeviceProgram *program)
{
	const GroupLayout *layout = &gpuagg_agg_main(keys->node)->layout;

	for (int i = 0; i < layout->nkeys; i++)
	{
		int column = layout->keys[i].type == GPUAGG_VECTOR_BYTES
						 ? gpuagg_agg_codes_column(keys->node, layout->keys[i].reg)
						 : -1;

		keys->entries[i] = column >= 0 ? program->entries[column] : NULL;
		keys->nentries[i] = column >= 0 ? program->nentries[column] : 0;
	}
}

static void
begin_keys(KeyVectors *keys)
{
	for (uint32 i = 0; i < keys->groups->layout.nkeys; i++)
	{
		memset(keys->valid[i], 0, sizeof(keys->valid[i]));
		if (keys->groups->layout.key_type[i] == GPUAGG_VECTOR_BOOL)
			memset(keys->values[i], 0, GPUAGG_VECTOR_WORDS * sizeof(uint64));
		keys->vectors[i] = (GpuaggVector){keys->values[i], keys->valid[i]};
	}
}

/* A GroupFill. */
static void
fill_from_keys(void *owner, int row, Datum *values, bool *isnull)
{
	const KeyVectors *keys = owner;
	const GroupLayout *layout = &gpuagg_agg_main(keys->node)->layout;
	ExprContext *econtext = keys->node->css.ss.ps.ps_ExprContext;
	MemoryContext old;

	ResetExprContext(econtext);
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	for (int i = 0; i < layout->nkeys; i++)
		values[i] = gpuagg_vector_datum(&keys->vectors[i], &layout->keys[i], layout->values[i].type,
										row, &isnull[i]);
	MemoryContextSwitchTo(old);
}

static void
find_groups(KeyVectors *keys, int n, AggGroup **found)
{
	AggGroups *groups = gpuagg_agg_main(keys->node)->groups;
	uint16 rows[GPUAGG_VECTOR_ROWS];

	for (int i = 0; i < n; i++)
		rows[i] = (uint16) i;
	if (keys->appends)
		gpuagg_groups_append(groups, keys->vectors, rows, n, fill_from_keys, keys, found);
	else
		gpuagg_groups_find(groups, keys->vectors, rows, n, fill_from_keys, keys, found);
}

/* ---- totals ---- */

/* Adds an aggregate of a record to a group. */
static void
take_total(AggScanState *node, const GpuaggGroupLayout *layout, const uint32 *record, int number,
		   AggGroup *group)
{
	const GpuaggGroupField *field = &layout->field[number];
	GpuaggQueryTotal total;
	uint64 n;
	__int128 sum;

	if (field->specials != GPUAGG_GROUP_NONE)
	{
		/* nothing else of it is looked at */
		if (!gpuagg_group_float(layout, record, (uint32) number, &total.reduced.f))
			elog(ERROR, "unexpected total of a group on the device");
		total.reduced.n = (uint64) total.reduced.f.counts.n;
		if (total.reduced.n > 0)
			gpuagg_agg_sink_total(node, number, group, &total.reduced);
		return;
	}
	if (field->op != GPUAGG_SUM || field->type >= GPUAGG_VECTOR_INT128)
	{
		if (!gpuagg_group_total(layout, record, (uint32) number, &total) ||
			!gpuagg_agg_device_total(node, number, group, &total))
			elog(ERROR, "unexpected total of a group on the device");
		return;
	}
	sum = gpuagg_group_integer(field, record, record[layout->rows], &n);
	if (n > record[layout->rows])
		elog(ERROR, "unexpected number of a group's rows on the device");
	if (n > 0)
		gpuagg_agg_sink_sum(node, number, group, (int64) n, sum);
}

static void
take_records(KeyVectors *keys, const uint32 *records, int n, int64 *rows)
{
	const GpuaggGroupLayout *layout = &keys->groups->layout;
	AggScanState *node = keys->node;
	AggGroup *found[GPUAGG_VECTOR_ROWS];

	begin_keys(keys);
	for (uint32 k = 0; k < layout->nkeys; k++)
		for (int i = 0; i < n; i++)
			store_key(keys, (int) k, i, (const uint64 *) (records + (Size) i * layout->words));
	find_groups(keys, n, found);
	for (int i = 0; i < n; i++)
	{
		const uint32 *record = records + (Size) i * layout->words;

		*rows += record[layout->rows];
		for (int s = 0; s < node->nstates; s++)
			take_total(node, layout, record, s, found[i]);
	}
}

/* Whether sums of 128 bits are what states can take. */
static bool
sums_fit(const GpuaggGroupLayout *layout, const uint32 *records, uint64 n)
{
	for (uint32 a = 0; a < layout->naggregates; a++)
	{
		const GpuaggGroupField *field = &layout->field[a];

		if (field->op != GPUAGG_SUM || field->type != GPUAGG_VECTOR_INT128)
			continue;
		for (uint64 i = 0; i < n; i++)
		{
			GpuaggQueryTotal total;

			if (!gpuagg_group_total(layout, records + i * layout->words, a, &total) ||
				!gpuagg_agg_device_fits(&total))
				return false;
		}
	}
	return true;
}

/* A float that is listed apart. */
static void
take_far(KeyVectors *keys, const GpuaggGroupFar *far)
{
	AggScanState *node = keys->node;
	AggGroup *group;
	GpuaggQueryTotal total;

	if (far->aggregate >= (uint64) node->nstates ||
		keys->groups->layout.field[far->aggregate].specials == GPUAGG_GROUP_NONE)
		elog(ERROR, "unexpected value of a group on the device");
	begin_keys(keys);
	for (uint32 k = 0; k < keys->groups->layout.nkeys; k++)
		store_key(keys, (int) k, 0, far->key);
	find_groups(keys, 1, &group);
	gpuagg_query_total_init(&total);
	total.reduced.n = 1;
	(void) gpuagg_float_sum_deposit(gpuagg_float_sum_of(&total.reduced.f), far->value, 1);
	gpuagg_float_sum_propagate(gpuagg_float_sum_of(&total.reduced.f));
	(void) gpuagg_agg_device_total(node, (int) far->aggregate, group, &total);
}

bool
gpuagg_agg_device_groups_take(AggScanState *node, const AggDeviceGroups *groups,
							  const AggDeviceProgram *program, const BlobQuery *query, bool appends,
							  int64 *rows)
{
	KeyVectors *keys;
	const uint32 *records = query->records;
	uint64 left = query->ngroups;

	if (!sums_fit(&groups->layout, records, left))
		return false;
	keys = palloc(sizeof(KeyVectors));
	keys->node = node;
	keys->groups = groups;
	find_entries(keys, program);
	keys->appends = appends;
	while (left > 0)
	{
		int n = (int) Min(left, GPUAGG_VECTOR_ROWS);

		CHECK_FOR_INTERRUPTS();
		take_records(keys, records, n, rows);
		records += (Size) n * groups->layout.words;
		left -= n;
		(void) gpuagg_agg_output_make_room(node);
	}
	keys->appends = false;
	for (uint32 i = 0; i < query->nfar; i++)
	{
		CHECK_FOR_INTERRUPTS();
		take_far(keys, &query->far[i]);
		(void) gpuagg_agg_output_make_room(node);
	}
	pfree(keys);
	return true;
}
