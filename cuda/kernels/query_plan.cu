/*
 * query_plan.cu
 *	  Makes plans of queries; host code.
 *
 * Registers become values first: a register that is written again is another value, and
 * a column or constant is a value that needs no step.  What nothing needs and what cannot flag
 * a row is left out.  Then values are placed: one that is needed only while it is still in the
 * accumulator goes nowhere else, others to temporaries, which are used again.  Steps come last
 * (query_plan_steps.cu).
 */
#include "kernels/query_planner.h"

extern "C" {
#include "common/vector_narrow.h"
}

namespace
{

constexpr int MAX_TEMPORARIES = 64;
constexpr int LONGEST = 1 << 15; /* bytes of temporaries */

bool
is_type(int type)
{
	return type >= GPUAGG_VECTOR_BOOL && type <= GPUAGG_VECTOR_FLOAT64;
}

bool
may_flag(int op)
{
	return op == GPUAGG_VECTOR_IN || op >= GPUAGG_VECTOR_ADD;
}

/* Whether operands may change places, with the comparison that gpuagg_vector_commuted() says. */
bool
commutes(int op)
{
	return (op >= GPUAGG_VECTOR_EQ && op <= GPUAGG_VECTOR_GE) || op == GPUAGG_VECTOR_AND ||
		   op == GPUAGG_VECTOR_OR || op == GPUAGG_VECTOR_ADD || op == GPUAGG_VECTOR_MUL ||
		   op == GPUAGG_VECTOR_MUL_WIDE;
}

int
operand(const QueryPlanner &p, uint16_t number)
{
	return number == GPUAGG_VECTOR_NONE ? PLAN_NOTHING : p.registers[number];
}

int
add_value(QueryPlanner &p, PlanKind kind, int type, uint32_t number)
{
	PlanValue &value = p.values[p.nvalues];

	value = {kind, type, (int) number, PLAN_NOTHING, false, 0};
	return p.nvalues++;
}

PlanNode *
add_node(QueryPlanner &p)
{
	PlanNode *node = p.nnodes < PLAN_NODES ? &p.nodes[p.nnodes++] : nullptr;

	if (node != nullptr)
		*node = {nullptr,	   PLAN_NOTHING, false,		   PLAN_NOTHING, PLAN_NOTHING,
				 PLAN_NOTHING, PLAN_NOTHING, PLAN_NOTHING, false,		 false};
	return node;
}

/* The instruction behind which a register has what it has at the end, `at` or a later one. */
uint32_t
written_at(const QueryPlanner &p, uint16_t number, uint32_t at)
{
	for (uint32_t i = at; i < p.program->ninstructions; i++)
		if (p.program->instructions[i].out == number)
			at = i + 1;
	return at;
}

/* The instruction behind which groups can be found. */
uint32_t
groups_at(const QueryPlanner &p)
{
	uint32_t at = p.program->nfilter;

	for (int k = 0; k < p.nkeys; k++)
		at = written_at(p, p.key_registers[k], at);
	return at;
}

/* The instruction behind which an aggregate can be: all that it needs has been written. */
uint32_t
ready_at(const QueryPlanner &p, const GpuQueryAggregate &aggregate)
{
	return written_at(p, aggregate.filter, written_at(p, aggregate.value, groups_at(p)));
}

/* What finds the groups, when their keys have been written. */
bool
add_group(QueryPlanner &p, uint32_t at)
{
	PlanNode *node;

	if (p.nkeys == 0 || groups_at(p) != at)
		return true;
	node = add_node(p);
	if (node == nullptr)
		return false;
	node->group = true;
	for (int k = 0; k < p.nkeys; k++)
		p.keys[k] = operand(p, p.key_registers[k]);
	return true;
}

bool
add_aggregates(QueryPlanner &p, uint32_t at)
{
	for (int k = 0; k < p.naggregates; k++)
	{
		PlanNode *node;

		if (ready_at(p, p.aggregates[k]) != at)
			continue;
		node = add_node(p);
		if (node == nullptr)
			return false;
		node->aggregate = k;
		node->a = operand(p, p.aggregates[k].value);
		node->c = operand(p, p.aggregates[k].filter);
	}
	return true;
}

/* Values and nodes of the program; false: too large, or has what a kernel cannot do. */
bool
make_nodes(QueryPlanner &p)
{
	const GpuaggVectorProgram *program = p.program;

	for (uint32_t i = 0; i <= program->ninstructions; i++)
	{
		const GpuaggVectorInstruction *in = &program->instructions[i];
		PlanNode *node;

		if (i == program->nfilter && program->filter != GPUAGG_VECTOR_NONE)
		{
			node = add_node(p);
			if (node == nullptr)
				return false;
			node->a = p.registers[program->filter];
		}
		if (i >= program->nfilter && (!add_group(p, i) || !add_aggregates(p, i)))
			return false;
		if (i == program->ninstructions)
			break;
		if (!is_type(in->type) || in->op == GPUAGG_VECTOR_ROW)
			return false;
		if (in->op == GPUAGG_VECTOR_COLUMN || in->op == GPUAGG_VECTOR_CONSTANT)
		{
			p.registers[in->out] =
				add_value(p, in->op == GPUAGG_VECTOR_COLUMN ? PLAN_COLUMN : PLAN_CONSTANT, in->type,
						  in->arg);
			continue;
		}
		if (in->op == GPUAGG_VECTOR_COALESCE && operand(p, in->a) == operand(p, in->b))
		{
			p.registers[in->out] = operand(p, in->a); /* a copy, as vector_narrow.c makes it */
			continue;
		}
		node = add_node(p);
		if (node == nullptr)
			return false;
		node->in = in;
		node->a = operand(p, in->a);
		node->b = operand(p, in->b);
		node->c = operand(p, in->c);
		node->mask = operand(p, in->mask);
		node->out = add_value(p, PLAN_COMPUTED, gpuagg_vector_result(in), 0);
		p.registers[in->out] = node->out;
	}
	return true;
}

/* Leaves out what cannot flag a row and nothing needs. */
void
drop_nodes(QueryPlanner &p)
{
	bool used[PLAN_VALUES] = {};
	bool keeps[PLAN_NODES] = {};
	int kept = 0;

	for (int i = p.nnodes - 1; i >= 0; i--)
	{
		const PlanNode &node = p.nodes[i];
		const int operands[] = {node.a, node.b, node.c, node.mask};

		keeps[i] = node.in == nullptr || used[node.out] || may_flag(node.in->op);
		for (int operand : operands)
			if (keeps[i] && operand != PLAN_NOTHING)
				used[operand] = true;
		for (int k = 0; k < p.nkeys && node.group; k++)
			used[p.keys[k]] = true;
	}
	for (int i = 0; i < p.nnodes; i++)
		if (keeps[i])
			p.nodes[kept++] = p.nodes[i];
	p.nnodes = kept;
}

/* Which operands are in the accumulator, and how long the other values are needed. */
void
trace_accumulator(QueryPlanner &p)
{
	int held = PLAN_NOTHING;

	for (int i = 0; i < p.nnodes; i++)
	{
		PlanNode &node = p.nodes[i];

		if (node.in != nullptr && held == node.b && held != node.a && commutes(node.in->op))
		{
			node.swapped = true;
			node.b = node.a;
			node.a = held;
		}

		const int others[] = {node.b, node.c, node.mask};

		node.a_held = node.a != PLAN_NOTHING && node.a == held;
		if (node.a != PLAN_NOTHING && !node.a_held)
			p.values[node.a].needed = i;
		for (int operand : others)
			if (operand != PLAN_NOTHING)
				p.values[operand].needed = i;
		for (int k = 0; k < p.nkeys && node.group; k++)
			p.values[p.keys[k]].needed = i;
		if (node.in != nullptr)
			held = node.out;
		else if (node.group)
			held = PLAN_NOTHING;
		else if (node.a != PLAN_NOTHING)
			held = node.a;
		/* sums of FLOAT32 are of what is cast there */
		if (node.aggregate != PLAN_NOTHING && held != PLAN_NOTHING &&
			p.values[held].type == GPUAGG_VECTOR_FLOAT32)
			held = PLAN_NOTHING;
	}
}

struct Temporary
{
	int first; /* byte */
	int bytes;
	int needed;
};

/*
 * The first place for so many bytes where no temporary is that is needed at or after `node`.
 * Values of one size alone share a place: then no lane writes where another one may still read.
 */
int
find_place(const Temporary *taken, int n, int bytes, int node)
{
	int at = 0;

	for (bool moved = true; moved;)
	{
		moved = false;
		for (int i = 0; i < n; i++)
			if ((taken[i].needed >= node || taken[i].bytes != bytes) &&
				at < taken[i].first + taken[i].bytes && taken[i].first < at + bytes)
			{
				at = (taken[i].first + taken[i].bytes + bytes - 1) / bytes * bytes;
				moved = true;
			}
	}
	return at;
}

/* Temporaries for values that are needed when they are no longer in the accumulator. */
bool
place_values(QueryPlanner &p)
{
	Temporary values[PLAN_NODES];
	Temporary slots[PLAN_NODES];
	int nvalues = 0;
	int nslots = 0;

	for (int i = 0; i < p.nnodes; i++)
	{
		PlanValue *value = p.nodes[i].out != PLAN_NOTHING ? &p.values[p.nodes[i].out] : nullptr;
		int bytes;
		int at = 0;
		int slot;

		if (value == nullptr || value->needed == PLAN_NOTHING)
			continue;
		bytes = value->type == GPUAGG_VECTOR_BOOL ? 0
				: query_class_of(value->type) == QUERY_INT32
					? 4
					: (int) gpuagg_vector_type_size(value->type);
		if (bytes > 0)
		{
			at = find_place(values, nvalues, bytes, i);
			values[nvalues++] = {at, bytes, value->needed};
			if (at + bytes > (int) p.plan->temporaries)
				p.plan->temporaries = (uint32_t) (at + bytes);
		}
		slot = find_place(slots, nslots, 1, i);
		slots[nslots++] = {slot, 1, value->needed};
		if (slot + 1 > (int) p.plan->ntemporaries)
			p.plan->ntemporaries = (uint32_t) slot + 1;
		if (slot >= MAX_TEMPORARIES || at + bytes > LONGEST)
			return false;
		value->placed = true;
		value->source = QUERY_SOURCE(bytes == 0	  ? QUERY_TEMPORARY0
									 : bytes == 4 ? QUERY_TEMPORARY4
									 : bytes == 8 ? QUERY_TEMPORARY8
												  : QUERY_TEMPORARY16,
									 slot << 16 | at);
	}
	return true;
}

/* Registers of the right types; what they are asked for can be done. */
bool
aggregates_are_right(const GpuQueryAggregate *aggregates, int n, const uint8_t *types,
					 uint32_t nregisters)
{
	for (int i = 0; i < n; i++)
	{
		const GpuQueryAggregate &aggregate = aggregates[i];
		bool has_value = aggregate.value != GPUAGG_VECTOR_NONE;
		int type = 0;

		if (aggregate.filter != GPUAGG_VECTOR_NONE &&
			(aggregate.filter >= nregisters || types[aggregate.filter] != GPUAGG_VECTOR_BOOL))
			return false;
		if (has_value && aggregate.value < nregisters)
			type = types[aggregate.value];
		switch (aggregate.op)
		{
			case GPUAGG_COUNT:
				if (has_value && !is_type(type))
					return false;
				break;
			case GPUAGG_SUM:
			case GPUAGG_MIN:
			case GPUAGG_MAX:
			case GPUAGG_MOMENTS:
				if (!is_type(type) || type == GPUAGG_VECTOR_BOOL)
					return false;
				break;
			default:
				return false;
		}
	}
	return true;
}

/* The layout of groups' records; false: there are none for these keys and aggregates. */
bool
lay_out_groups(GpuQueryPlan *plan, const GpuQueryAggregate *aggregates, int naggregates,
			   const uint16_t *keys, int nkeys, const uint8_t *types, uint32_t nregisters)
{
	uint8_t key_types[GPUAGG_GROUP_KEYS];
	uint8_t value_types[GPU_QUERY_AGGREGATES];

	for (int k = 0; k < nkeys; k++)
	{
		if (keys[k] >= nregisters)
			return false;
		key_types[k] = types[keys[k]];
	}
	for (int k = 0; k < naggregates; k++)
		value_types[k] = aggregates[k].value != GPUAGG_VECTOR_NONE ? types[aggregates[k].value]
																   : (uint8_t) 0;
	return gpuagg_group_layout(&plan->groups, key_types, (uint32_t) nkeys, aggregates, value_types,
							   (uint32_t) naggregates) != 0;
}

} // namespace

GpuaggReason
gpu_query_plan_groups(GpuQueryPlan *plan, const GpuaggVectorProgram *program,
					  const GpuQueryAggregate *aggregates, int naggregates, const uint16_t *keys,
					  int nkeys)
{
	uint8_t types[GPUAGG_VECTOR_DEVICE_REGISTERS];
	QueryPlanner p;

	memset(plan, 0, sizeof(*plan));
	if (naggregates < 0 || naggregates > GPU_QUERY_AGGREGATES || nkeys < 0 ||
		nkeys > GPUAGG_GROUP_KEYS || !gpuagg_vector_fits_device(program) ||
		gpuagg_vector_check(program, types) != -1 ||
		!aggregates_are_right(aggregates, naggregates, types, program->nregisters))
		return GPUAGG_REFUSED;
	if (nkeys > 0 &&
		!lay_out_groups(plan, aggregates, naggregates, keys, nkeys, types, program->nregisters))
		return GPUAGG_REFUSED;
	p.plan = plan;
	p.program = program;
	p.aggregates = aggregates;
	p.naggregates = naggregates;
	p.key_registers = keys;
	p.nkeys = nkeys;
	p.nvalues = p.nnodes = p.nconstants = 0;
	p.zone = {};
	plan->naggregates = (uint32_t) naggregates;
	if (!make_nodes(p))
		return GPUAGG_REFUSED;
	drop_nodes(p);
	trace_accumulator(p);
	if (!place_values(p) || !query_plan_steps(p))
		return GPUAGG_REFUSED;
	for (uint32_t i = 0; i < plan->ncolumns; i++)
		plan->wide |= plan->type[i] == GPUAGG_VECTOR_INT128;
	return GPUAGG_OK;
}

GpuaggReason
gpu_query_plan(GpuQueryPlan *plan, const GpuaggVectorProgram *program,
			   const GpuQueryAggregate *aggregates, int naggregates)
{
	return gpu_query_plan_groups(plan, program, aggregates, naggregates, nullptr, 0);
}

GpuaggReason
gpu_query_plan_narrow(GpuQueryPlan *plan, const GpuaggVectorProgram *program,
					  const GpuQueryAggregate *aggregates, int naggregates, const uint16_t *keys,
					  int nkeys, const GpuQueryPlan *wide)
{
	GpuaggNarrowed narrowed;
	GpuaggReason reason;

	for (int k = 0; k < nkeys; k++)
		if (wide->groups.key_type[k] == GPUAGG_VECTOR_INT128)
			return GPUAGG_REFUSED;
	if (!gpuagg_vector_narrow(program, &narrowed))
		return GPUAGG_REFUSED;
	reason = gpu_query_plan_groups(plan, &narrowed.program, aggregates, naggregates, keys, nkeys);
	plan->groups = wide->groups;
	return reason == GPUAGG_OK && plan->ncolumns == wide->ncolumns ? GPUAGG_OK : GPUAGG_REFUSED;
}

/* Each register is one of the step that would find its greatest value; step 0 counts the rows. */
GpuaggReason
gpu_query_plan_window(GpuQueryPlan *plan, const GpuaggVectorProgram *program,
					  const uint16_t *registers, int n)
{
	GpuQueryAggregate kept[GPUAGG_WINDOW_VALUES + 1] = {};
	GpuaggReason reason;

	static_assert(GPUAGG_WINDOW_VALUES < GPU_QUERY_AGGREGATES, "they and the rows");
	if (n < 0 || n > GPUAGG_WINDOW_VALUES)
		return GPUAGG_REFUSED;
	kept[0] = {GPUAGG_COUNT, {0}, GPUAGG_VECTOR_NONE, GPUAGG_VECTOR_NONE};
	for (int i = 0; i < n; i++)
		kept[i + 1] = {GPUAGG_MAX, {0}, registers[i], GPUAGG_VECTOR_NONE};
	reason = gpu_query_plan(plan, program, kept, n + 1);
	plan->words = 0;
	return reason;
}

GpuaggReason
gpu_query_number(const GpuQueryPlan *plan, GpuQueryChunk *chunks, const GpuQueryBlock *blocks,
				 uint32_t nchunks, GpuQueryShape *shape)
{
	memset(shape, 0, sizeof(*shape));
	for (uint32_t i = 0; i < nchunks; i++)
	{
		chunks[i].first_unit = shape->nunits;
		shape->nunits += ((uint64_t) chunks[i].nrows + GPU_QUERY_UNIT - 1) / GPU_QUERY_UNIT;
		for (uint32_t k = 0; k < plan->ncolumns; k++)
		{
			const GpuQueryBlock &block = blocks[(uint64_t) i * plan->ncolumns + k];
			int64_t base = (int64_t) block.base.lo;
			uint32_t width = block.width;
			uint32_t size = (uint32_t) gpuagg_vector_type_size(plan->type[k]);

			if (width > size || (width & (width - 1)) != 0 || (width == 0) != (size == 0) ||
				(gpuagg_vector_type_is_float(plan->type[k]) && width != size))
				return GPUAGG_REFUSED;
			if (width > shape->width[k])
				shape->width[k] = width;
			shape->has_null[k] |= block.valid != nullptr;
			if (i == 0 || base < shape->least[k])
				shape->least[k] = base;
			if (i == 0 || base > shape->greatest[k])
				shape->greatest[k] = base;
		}
	}
	return GPUAGG_OK;
}
