/*
 * agg_device_passes.c
 *	  What the device is asked for by a GpuAgg node: its program, keys and aggregates.
 */
#include "compat.h"

#include "utils/memutils.h"

#include "exec/agg_averages.h"
#include "exec/agg_device_passes.h"
#include "exec/compiled.h"
#include "exec/device_codes.h"

const VectorCompiler *
gpuagg_agg_device_compiler(const AggScanState *node)
{
	return node->averages != NULL ? node->averages->compiler : node->compiler;
}

GpuaggVectorRunner *
gpuagg_agg_device_runner(const AggScanState *node)
{
	return node->averages != NULL ? node->averages->runner : node->runner;
}

/* ---- what it can do ---- */

static bool
is_number(int type)
{
	return type >= GPUAGG_VECTOR_INT16 && type <= GPUAGG_VECTOR_FLOAT64;
}

static bool
is_extreme(int op)
{
	return op == GPUAGG_MIN || op == GPUAGG_MAX;
}

bool
gpuagg_agg_sums_decimals(const AggScanState *node, int number)
{
	const AggGroupState *state = &node->states[number];

	return state->family == SQL_FAMILY_NUMERIC && node->inputs[number].value.scale >= 0 &&
		   (state->op == GPUAGG_SUM || state->op == GPUAGG_MOMENTS);
}

static const char too_many_columns[] = "too many columns are needed";
static const char too_large[] = "expressions are too large";

/* Why there is no kernel for the program; NULL: there is. */
static const char *
program_refusal(const AggScanState *node)
{
	const GpuaggVectorProgram *program = &gpuagg_agg_device_compiler(node)->program;
	bool over_subquery = node->spec->over_subquery;

	/* below a window are others */
	if (program->ncolumns == 0 && !over_subquery)
		return "no column is needed";
	if (over_subquery && program->ncolumns > GPUAGG_WINDOW_COLUMNS)
		return too_many_columns;
	/* of others passes need just a part */
	if (over_subquery && !gpuagg_vector_fits_device(program))
		return too_large;
	if (!gpuagg_compiled_for_device(program, !over_subquery))
		return "an expression is the CPU's";
	return gpuagg_device_codes_refusal(program);
}

/* Whether a state's values are for the device what they are for the CPU. */
static bool
has_same_values(const AggScanState *node, int number)
{
	const VectorValue *own = &node->inputs[number].value;
	const VectorValue *other = &node->averages->values[number];

	return own->type == other->type && own->scale == other->scale;
}

/* The same of a state, whose aggregate it is, over values of that type. */
static const char *
state_refusal(const AggScanState *node, int number, GpuaggQueryAggregate *aggregate, uint8 *of)
{
	const AggAverages *averages = node->averages;
	const AggInput *input = &node->inputs[number];
	const VectorValue *value = averages != NULL ? &averages->values[number] : &input->value;
	const VectorValue *filter = averages != NULL ? &averages->filters[number] : &input->filter;
	int op = node->states[number].op;
	int type = input->argument != NULL ? (int) gpuagg_device_type(value->type) : 0;

	*aggregate =
		(GpuaggQueryAggregate){.op = (uint8) op,
							   .value = input->argument != NULL ? value->reg : GPUAGG_VECTOR_NONE,
							   .filter = input->where != NULL ? filter->reg : GPUAGG_VECTOR_NONE};
	*of = (uint8) type;
	if (averages != NULL && averages->of[number] >= 0)
		return input->feed == FEED_DATUM ? NULL : "an aggregate is the CPU's";
	switch (input->feed)
	{
		case FEED_ROWS:
		case FEED_COUNT:
			aggregate->op = GPUAGG_COUNT;
			return NULL;
		case FEED_NUMBERS:
		case FEED_DECIMAL:
			break;
		case FEED_DATUM:
			if (value->type == GPUAGG_VECTOR_BYTES)
				return "strings are the CPU's";
			if (type >= GPUAGG_VECTOR_FLOAT32 ||
				(!is_extreme(op) && !gpuagg_agg_sums_decimals(node, number)))
				return "an aggregate is the CPU's";
			break;
		case FEED_DISTINCT:
			return "DISTINCT is the CPU's";
	}
	if (averages != NULL && !has_same_values(node, number))
		return "an aggregate is the CPU's";
	return is_number(type) ? NULL : "an aggregate is the CPU's";
}

/* ---- passes ---- */

/* What states are, from some on. */
typedef struct States
{
	const AggScanState *node;
	GpuaggQueryAggregate *aggregates;
	uint8 *types;
	int from;
} States;

static void
add_aggregate(AggDevicePass *pass, GpuaggQueryAggregate aggregate, uint8 type)
{
	pass->aggregates[pass->naggregates] = aggregate;
	pass->types[pass->naggregates++] = type;
}

/* Codes of the pass's averages, behind its states. */
static void
add_codes(const States *states, AggDevicePass *pass)
{
	for (int i = 0; i < pass->nstates; i++)
	{
		GpuaggQueryAggregate code = pass->aggregates[i];

		pass->codes[i] = -1;
		if (!gpuagg_agg_averages_coded(states->node, pass->first + i))
			continue;
		pass->codes[i] = pass->naggregates;
		code.op = GPUAGG_MAX;
		add_aggregate(pass, code, GPUAGG_VECTOR_INT32);
	}
}

/* Sets the groups' keys and layout; why there are no such records, or NULL. */
static const char *
lay_out_groups(const AggScanState *node, AggDevicePass *pass)
{
	const GroupLayout *layout = &node->sets[0].layout;
	const VectorValue *keys = node->averages != NULL ? node->averages->keys : layout->keys;
	uint8 key_types[GPUAGG_GROUP_KEYS];

	if (layout->nkeys > GPUAGG_GROUP_KEYS)
		return "there are too many keys";
	if (layout->nvalues > layout->nkeys)
		return "whole rows are needed";
	for (int i = 0; i < layout->nkeys; i++)
	{
		if (keys[i].type != layout->keys[i].type)
			return "such groups are the CPU's";
		pass->groups.keys[i] = keys[i].reg;
		key_types[i] = (uint8) gpuagg_device_type(keys[i].type);
		if (keys[i].type == GPUAGG_VECTOR_BYTES &&
			gpuagg_compiled_strings(&node->compiler->program, keys[i].reg) < 0)
			return "strings are the CPU's";
	}
	return gpuagg_group_layout(&pass->groups.layout, key_types, (uint32) layout->nkeys,
							   pass->aggregates, pass->types, (uint32) pass->naggregates)
			   ? NULL
			   : "such groups are the CPU's";
}

bool
gpuagg_agg_device_whole(const GpuaggVectorProgram *program)
{
	return program->ncolumns <= GPUAGG_QUERY_COLUMNS && gpuagg_vector_fits_device(program);
}

bool
gpuagg_agg_device_part(const GpuaggVectorProgram *program, AggDevicePass *pass, VectorPart *part)
{
	uint16 registers[2 * GPUAGG_QUERY_AGGREGATES + GPUAGG_GROUP_KEYS];
	int nkeys = (int) pass->groups.layout.nkeys;
	int n = 0;

	for (int i = 0; i < pass->naggregates; i++)
	{
		registers[n++] = pass->aggregates[i].value;
		registers[n++] = pass->aggregates[i].filter;
	}
	for (int i = 0; i < nkeys; i++)
		registers[n++] = pass->groups.keys[i];
	if (!gpuagg_vector_part(program, registers, n, part))
		return false;
	n = 0;
	for (int i = 0; i < pass->naggregates; i++)
	{
		pass->aggregates[i].value = registers[n++];
		pass->aggregates[i].filter = registers[n++];
	}
	for (int i = 0; i < nkeys; i++)
		pass->groups.keys[i] = registers[n++];
	return true;
}

/* Why a request cannot have all that the pass needs of a table; NULL: it can. */
static const char *
part_refusal(const GpuaggVectorProgram *program, AggDevicePass pass)
{
	VectorPart part;

	if (!gpuagg_agg_device_part(program, &pass, &part))
		return too_large;
	return part.program.ncolumns > GPUAGG_QUERY_COLUMNS ? too_many_columns : NULL;
}

/* The same; parts that are made only to see leave no memory behind. */
static const char *
size_refusal(const AggScanState *node, const AggDevicePass *pass)
{
	const GpuaggVectorProgram *program = &gpuagg_agg_device_compiler(node)->program;
	MemoryContext context;
	MemoryContext old;
	const char *refusal;

	if (node->spec->over_subquery || gpuagg_agg_device_whole(program))
		return NULL;
	context = AllocSetContextCreate(CurrentMemoryContext, "gpuagg part", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	refusal = part_refusal(program, *pass);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return refusal;
}

/* A pass of n states; why there is none, or NULL. */
static const char *
make_pass(const States *states, int first, int n, AggDevicePass *pass)
{
	const AggScanState *node = states->node;
	const char *refusal = NULL;
	int naggregates = n;

	for (int i = 0; i < n; i++)
		naggregates += gpuagg_agg_averages_coded(node, first + i);
	if (naggregates > GPUAGG_QUERY_AGGREGATES)
		return "there are too many aggregates";
	*pass = (AggDevicePass){.nstates = n, .first = first};
	for (int i = 0; i < n; i++)
		add_aggregate(pass, states->aggregates[first - states->from + i],
					  states->types[first - states->from + i]);
	add_codes(states, pass);
	if (node->spec->nkeys > 0)
		refusal = lay_out_groups(node, pass);
	return refusal == NULL ? size_refusal(node, pass) : refusal;
}

/* All states, in as few passes as they fit. */
static const char *
make_passes(const States *states, AggDevice *device)
{
	const AggScanState *node = states->node;
	const char *refusal;
	int first = 0;

	device->passes = palloc(GPUAGG_AGG_PASSES * sizeof(AggDevicePass));
	device->npasses = 0;
	do
	{
		AggDevicePass *pass = &device->passes[device->npasses++];
		int n = Min(node->nstates - first, GPUAGG_QUERY_AGGREGATES);

		refusal = make_pass(states, first, n, pass);
		while (refusal != NULL && n > 1)
			refusal = make_pass(states, first, --n, pass);
		first += n;
	} while (refusal == NULL && first < node->nstates && device->npasses < GPUAGG_AGG_PASSES);
	return refusal == NULL && first < node->nstates ? "there are too many aggregates" : refusal;
}

const char *
gpuagg_agg_device_find(const AggScanState *node, AggDevice *device)
{
	States states = {node, palloc(Max(node->nstates, 1) * sizeof(GpuaggQueryAggregate)),
					 palloc(Max(node->nstates, 1) * sizeof(uint8)), 0};
	const char *refusal;

	if (node->averages == NULL ? !node->columns_only : !node->values_only)
		return "whole rows are needed";
	if (node->ndistinct > 0)
		return "DISTINCT is the CPU's";
	refusal = program_refusal(node);
	for (int i = 0; i < node->nstates && refusal == NULL; i++)
		refusal = state_refusal(node, i, &states.aggregates[i], &states.types[i]);
	if (refusal == NULL)
		refusal = make_passes(&states, device);
	pfree(states.aggregates);
	pfree(states.types);
	return refusal;
}

bool
gpuagg_agg_device_split(const AggScanState *node, AggDevice *device, int number)
{
	AggDevicePass *pass = &device->passes[number];
	AggDevicePass whole = *pass;
	States states = {node, whole.aggregates, whole.types, whole.first};
	int half = whole.nstates / 2;

	/* averages of a window are one program with it */
	if (node->averages != NULL || half == 0 || device->npasses == GPUAGG_AGG_PASSES)
		return false;
	memmove(pass + 2, pass + 1, (device->npasses - number - 1) * sizeof(AggDevicePass));
	device->npasses++;
	if (make_pass(&states, whole.first, half, pass) != NULL ||
		make_pass(&states, whole.first + half, whole.nstates - half, pass + 1) != NULL)
		elog(ERROR, "a part of a pass is none");
	return true;
}

void
gpuagg_agg_device_place(const AggScanState *node, AggDevice *device)
{
	for (int p = 0; p < device->npasses; p++)
	{
		AggDevicePass *pass = &device->passes[p];

		for (int i = 0; i < pass->nstates; i++)
		{
			int state = pass->first + i;

			if (node->averages->of[state] >= 0)
				pass->aggregates[i].value = gpuagg_agg_averages_register(node, state);
			if (pass->codes[i] >= 0)
				pass->aggregates[pass->codes[i]].value = gpuagg_agg_averages_code(node, state);
		}
	}
}
