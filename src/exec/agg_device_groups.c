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

#include "exec/agg_averages.h"
#include "exec/agg_device_groups.h"
#include "exec/compiled.h"

/* Keys of a vector of groups. */
struct AggDeviceRecords
{
	AggScanState *node;
	const AggDevicePass *pass;
	bool appends; /* all records are of groups that the node has not */
	const GpuaggVectorBytes *entries[GPUAGG_GROUP_KEYS]; /* of keys that are codes; NULL: others */
	uint32 nentries[GPUAGG_GROUP_KEYS];
	GpuaggVector vectors[GPUAGG_GROUP_KEYS];
	const GpuaggGroupPacking *packing; /* of the records unpacked last; NULL: none */
	uint32 *records;				   /* these: of a vector */
	uint64 valid[GPUAGG_GROUP_KEYS][GPUAGG_VECTOR_WORDS];
	GpuaggVectorBytes values[GPUAGG_GROUP_KEYS][GPUAGG_VECTOR_ROWS]; /* of any type */
};

uint64
gpuagg_agg_device_groups_expected(const AggScanState *node, uint64 rows)
{
	double planned = node->css.ss.ps.plan->plan_rows;

	return planned < (double) rows ? (uint64) Max(planned, 1) : rows;
}

/* ---- keys ---- */

static void
store_key(AggDeviceRecords *keys, int number, int row, const uint64 *words)
{
	GpuaggVectorType type = keys->pass->groups.layout.key_type[number];
	uint64 bit = UINT64CONST(1) << (row % 64);
	char *values = (char *) keys->values[number];
	Size size = gpuagg_vector_type_size(type);
	int isnull;
	uint64 value = gpuagg_group_key(&keys->pass->groups.layout, words, (uint32) number, &isnull);

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
find_entries(AggDeviceRecords *keys, const DeviceProgram *program)
{
	const GroupLayout *layout = &gpuagg_agg_main(keys->node)->layout;

	for (int i = 0; i < layout->nkeys; i++)
	{
		int column = layout->keys[i].type == GPUAGG_VECTOR_BYTES
						 ? gpuagg_compiled_strings(&keys->node->compiler->program,
												   layout->keys[i].reg)
						 : -1;

		keys->entries[i] = column >= 0 ? program->entries[column] : NULL;
		keys->nentries[i] = column >= 0 ? program->nentries[column] : 0;
	}
}

static void
begin_keys(AggDeviceRecords *keys, int n)
{
	Size bytes = (Size) (n + 63) / 64 * sizeof(uint64);

	for (uint32 i = 0; i < keys->pass->groups.layout.nkeys; i++)
	{
		memset(keys->valid[i], 0, bytes);
		if (keys->pass->groups.layout.key_type[i] == GPUAGG_VECTOR_BOOL)
			memset(keys->values[i], 0, bytes);
		keys->vectors[i] = (GpuaggVector){keys->values[i], keys->valid[i]};
	}
}

/* A GroupFill. */
static void
fill_from_keys(void *owner, int row, Datum *values, bool *isnull)
{
	const AggDeviceRecords *keys = owner;
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
find_groups(AggDeviceRecords *keys, int n, AggGroup **found)
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
take_total(AggScanState *node, const AggDevicePass *pass, const uint32 *record, int number,
		   AggGroup *group)
{
	const GpuaggGroupLayout *layout = &pass->groups.layout;
	const GpuaggGroupField *field = &layout->field[number];
	int state = pass->first + number;
	GpuaggQueryTotal total;
	GpuaggQueryTotal code;
	uint64 n;
	__int128 sum;

	if (field->specials != GPUAGG_GROUP_NONE && field->op == GPUAGG_SUM)
	{
		/* nothing else of it is looked at */
		if (!gpuagg_group_float(layout, record, (uint32) number, &total.reduced.f))
			elog(ERROR, "unexpected total of a group on the device");
		total.reduced.n = (uint64) total.reduced.f.counts.n;
		if (total.reduced.n > 0)
			gpuagg_agg_sink_total(node, state, group, &total.reduced);
		return;
	}
	if (field->op != GPUAGG_SUM || field->type >= GPUAGG_VECTOR_INT128)
	{
		if (!gpuagg_group_total(layout, record, (uint32) number, &total) ||
			(pass->codes[number] >= 0 &&
			 !gpuagg_group_total(layout, record, (uint32) pass->codes[number], &code)))
			elog(ERROR, "unexpected total of a group on the device");
		gpuagg_agg_averages_take(node, state, group, &total, &code);
		return;
	}
	sum = gpuagg_group_integer(field, record, record[layout->rows], &n);
	if (n > record[layout->rows])
		elog(ERROR, "unexpected number of a group's rows on the device");
	if (n > 0)
		gpuagg_agg_sink_sum(node, state, group, (int64) n, sum);
}

static void
take_record(AggDeviceRecords *keys, const uint32 *record, AggGroup *group)
{
	const GpuaggGroupLayout *layout = &keys->pass->groups.layout;
	AggScanState *node = keys->node;

	/* the others have the same */
	if (keys->pass->first == 0)
		node->counts.removed -= record[layout->rows];
	for (int s = 0; s < keys->pass->nstates; s++)
		take_total(node, keys->pass, record, s, group);
}

static void
set_packing(AggDeviceRecords *keys, const GpuaggGroupPacking *packing)
{
	Size record = keys->pass->groups.layout.words * sizeof(uint32);

	if (keys->packing != packing)
		memset(keys->records, 0, GPUAGG_VECTOR_ROWS * record);
	keys->packing = packing;
}

static uint32 *
record_of(AggDeviceRecords *keys, int row)
{
	return keys->records + (Size) row * keys->pass->groups.layout.words;
}

static void
unpack_records(AggDeviceRecords *keys, const GpuaggGroupPacking *packing, const uint32 *packed,
			   int n)
{
	set_packing(keys, packing);
	for (int i = 0; i < n; i++)
		gpuagg_group_unpack(packing, packed + (Size) i * packing->words, record_of(keys, i));
}

const uint32 *
gpuagg_agg_device_record(AggDeviceRecords *keys, const GpuaggGroupPacking *packing,
						 const uint32 *packed)
{
	unpack_records(keys, packing, packed, 1);
	return keys->records;
}

void
gpuagg_agg_device_unpack(AggDeviceRecords *keys, const GpuaggGroupPacking *packing,
						 const uint32 *packed, int n, const uint32 **unpacked)
{
	unpack_records(keys, packing, packed, n);
	for (int i = 0; i < n; i++)
		unpacked[i] = record_of(keys, i);
}

/* Unpacks n records, and their keys. */
static void
unpack(AggDeviceRecords *keys, const GpuaggGroupPacking *packing, const uint32 *packed, int n)
{
	const GpuaggGroupLayout *layout = &keys->pass->groups.layout;

	unpack_records(keys, packing, packed, n);
	begin_keys(keys, n);
	for (uint32 k = 0; k < layout->nkeys; k++)
		for (int i = 0; i < n; i++)
			store_key(keys, (int) k, i, (const uint64 *) record_of(keys, i));
}

static void
take_records(AggDeviceRecords *keys, const GpuaggGroupPacking *packing, const uint32 *packed, int n)
{
	AggGroup *found[GPUAGG_VECTOR_ROWS];

	unpack(keys, packing, packed, n);
	find_groups(keys, n, found);
	for (int i = 0; i < n; i++)
		take_record(keys, record_of(keys, i), found[i]);
}

/* A float that is listed apart. */
static void
take_far(AggDeviceRecords *keys, const GpuaggGroupFar *far)
{
	AggScanState *node = keys->node;
	AggGroup *group;
	GpuaggQueryTotal total;

	if (far->aggregate >= (uint64) keys->pass->nstates ||
		keys->pass->groups.layout.field[far->aggregate].specials == GPUAGG_GROUP_NONE)
		elog(ERROR, "unexpected value of a group on the device");
	begin_keys(keys, 1);
	for (uint32 k = 0; k < keys->pass->groups.layout.nkeys; k++)
		store_key(keys, (int) k, 0, far->key);
	find_groups(keys, 1, &group);
	gpuagg_query_total_init(&total);
	total.reduced.n = 1;
	gpuagg_reduced_add_float(&total.reduced, far->value,
							 keys->pass->groups.layout.field[far->aggregate].op);
	gpuagg_agg_device_total(node, keys->pass->first + (int) far->aggregate, group, &total);
}

AggDeviceRecords *
gpuagg_agg_device_records(AggScanState *node, const AggDevicePass *pass,
						  const DeviceProgram *program)
{
	AggDeviceRecords *keys = palloc(sizeof(AggDeviceRecords));

	keys->node = node;
	keys->pass = pass;
	keys->packing = NULL;
	keys->records = palloc((Size) GPUAGG_VECTOR_ROWS * pass->groups.layout.words * sizeof(uint32));
	find_entries(keys, program);
	return keys;
}

void
gpuagg_agg_device_groups_take(AggDeviceRecords *keys, const BlobQuery *query, bool appends)
{
	const uint32 *records = query->records;
	uint64 left = query->ngroups;

	keys->appends = appends;
	while (left > 0)
	{
		int n = (int) Min(left, GPUAGG_VECTOR_ROWS);

		CHECK_FOR_INTERRUPTS();
		take_records(keys, &query->packing, records, n);
		records += (Size) n * query->packing.words;
		left -= n;
		(void) gpuagg_agg_output_make_room(keys->node);
	}
	keys->appends = false;
	for (uint32 i = 0; i < query->nfar; i++)
	{
		CHECK_FOR_INTERRUPTS();
		take_far(keys, &query->far[i]);
		(void) gpuagg_agg_output_make_room(keys->node);
	}
}

AggGroup *
gpuagg_agg_device_groups_replace(AggDeviceRecords *keys, const GpuaggGroupPacking *packing,
								 const uint32 *packed)
{
	AggGroup *group;

	unpack(keys, packing, packed, 1);
	group = gpuagg_groups_replace(gpuagg_agg_main(keys->node)->groups, fill_from_keys, keys, 0);
	take_record(keys, keys->records, group);
	return group;
}
