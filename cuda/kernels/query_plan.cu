/*
 * query_plan.cu
 *	  Makes plans of queries; host code.
 *
 * Registers become values first: a register that is written again is another value, and
 * a column or constant is a value that needs no step.  What nothing needs and what cannot flag
 * a row is left out.  Then values are placed: one that is needed only while it is still in the
 * accumulator goes nowhere else, others to temporaries, which are used again.
 */
#include "kernels/query.h"

extern "C" {
#include "common/vector_narrow.h"
}

namespace
{

constexpr int NOTHING = -1;
constexpr int MAX_VALUES = GPUAGG_VECTOR_INSTRUCTIONS + 1;
constexpr int MAX_NODES = GPU_QUERY_STEPS;
constexpr int MAX_TEMPORARIES = 64;
constexpr int LONGEST = 1 << 15; /* bytes of temporaries */

enum Kind
{
	COLUMN,
	CONSTANT,
	COMPUTED
};

/* What a register holds at some time. */
struct Value
{
	Kind kind;
	int type;
	int number;	 /* of the column or constant in the program */
	int needed;	 /* last node that needs it; NOTHING: none */
	bool placed; /* in a temporary */
	uint32_t source;
};

/* An instruction, the filter, an aggregate, or the keys of groups; operands are values. */
struct Node
{
	const GpuaggVectorInstruction *in; /* NULL: not an instruction */
	int aggregate;					   /* NOTHING: none */
	bool group;						   /* its operands are the planner's keys */
	int a, b, c, mask, out;
	bool swapped;
	bool a_held; /* a is in the accumulator */
};

struct Planner
{
	GpuQueryPlan *plan;
	const GpuaggVectorProgram *program;
	const GpuQueryAggregate *aggregates;
	int naggregates;
	const uint16_t *key_registers;
	int nkeys;
	int keys[GPUAGG_GROUP_KEYS]; /* values */
	int nvalues;
	int nnodes;
	int nconstants;
	uint32_t
		zone; /* the program's constant that begins the zone which was added last; UINT32_MAX: none */
	uint16_t zone_count; /* its pieces */
	uint16_t zone_place;
	int registers[GPUAGG_VECTOR_REGISTERS]; /* values */
	Value values[MAX_VALUES];
	Node nodes[MAX_NODES];
};

int
class_of(int type)
{
	switch (type)
	{
		case GPUAGG_VECTOR_INT16:
		case GPUAGG_VECTOR_INT32:
			return QUERY_INT32;
		case GPUAGG_VECTOR_INT64:
			return QUERY_INT64;
		case GPUAGG_VECTOR_INT128:
			return QUERY_INT128;
		case GPUAGG_VECTOR_FLOAT32:
			return QUERY_FLOAT32;
		case GPUAGG_VECTOR_FLOAT64:
			return QUERY_FLOAT64;
		default:
			return QUERY_BOOL;
	}
}

bool
is_type(int type)
{
	return type >= GPUAGG_VECTOR_BOOL && type <= GPUAGG_VECTOR_FLOAT64;
}

bool
is_float(int type)
{
	return type == GPUAGG_VECTOR_FLOAT32 || type == GPUAGG_VECTOR_FLOAT64;
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
operand(const Planner &p, uint16_t number)
{
	return number == GPUAGG_VECTOR_NONE ? NOTHING : p.registers[number];
}

int
add_value(Planner &p, Kind kind, int type, uint32_t number)
{
	Value &value = p.values[p.nvalues];

	value = {kind, type, (int) number, NOTHING, false, 0};
	return p.nvalues++;
}

Node *
add_node(Planner &p)
{
	Node *node = p.nnodes < MAX_NODES ? &p.nodes[p.nnodes++] : nullptr;

	if (node != nullptr)
		*node = {nullptr, NOTHING, false,	NOTHING, NOTHING,
				 NOTHING, NOTHING, NOTHING, false,	 false};
	return node;
}

/* The instruction behind which a register has what it has at the end, `at` or a later one. */
uint32_t
written_at(const Planner &p, uint16_t number, uint32_t at)
{
	for (uint32_t i = at; i < p.program->ninstructions; i++)
		if (p.program->instructions[i].out == number)
			at = i + 1;
	return at;
}

/* The instruction behind which groups can be found. */
uint32_t
groups_at(const Planner &p)
{
	uint32_t at = p.program->nfilter;

	for (int k = 0; k < p.nkeys; k++)
		at = written_at(p, p.key_registers[k], at);
	return at;
}

/* The instruction behind which an aggregate can be: all that it needs has been written. */
uint32_t
ready_at(const Planner &p, const GpuQueryAggregate &aggregate)
{
	return written_at(p, aggregate.filter, written_at(p, aggregate.value, groups_at(p)));
}

/* What finds the groups, when their keys have been written. */
bool
add_group(Planner &p, uint32_t at)
{
	Node *node;

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
add_aggregates(Planner &p, uint32_t at)
{
	for (int k = 0; k < p.naggregates; k++)
	{
		Node *node;

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
make_nodes(Planner &p)
{
	const GpuaggVectorProgram *program = p.program;

	for (uint32_t i = 0; i <= program->ninstructions; i++)
	{
		const GpuaggVectorInstruction *in = &program->instructions[i];
		Node *node;

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
			p.registers[in->out] = add_value(p, in->op == GPUAGG_VECTOR_COLUMN ? COLUMN : CONSTANT,
											 in->type, in->arg);
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
		node->out = add_value(p, COMPUTED, gpuagg_vector_result(in), 0);
		p.registers[in->out] = node->out;
	}
	return true;
}

/* Leaves out what cannot flag a row and nothing needs. */
void
drop_nodes(Planner &p)
{
	bool used[MAX_VALUES] = {};
	bool keeps[MAX_NODES] = {};
	int kept = 0;

	for (int i = p.nnodes - 1; i >= 0; i--)
	{
		const Node &node = p.nodes[i];
		const int operands[] = {node.a, node.b, node.c, node.mask};

		keeps[i] = node.in == nullptr || used[node.out] || may_flag(node.in->op);
		for (int operand : operands)
			if (keeps[i] && operand != NOTHING)
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
trace_accumulator(Planner &p)
{
	int held = NOTHING;

	for (int i = 0; i < p.nnodes; i++)
	{
		Node &node = p.nodes[i];

		if (node.in != nullptr && held == node.b && held != node.a && commutes(node.in->op))
		{
			node.swapped = true;
			node.b = node.a;
			node.a = held;
		}

		const int others[] = {node.b, node.c, node.mask};

		node.a_held = node.a != NOTHING && node.a == held;
		if (node.a != NOTHING && !node.a_held)
			p.values[node.a].needed = i;
		for (int operand : others)
			if (operand != NOTHING)
				p.values[operand].needed = i;
		for (int k = 0; k < p.nkeys && node.group; k++)
			p.values[p.keys[k]].needed = i;
		if (node.in != nullptr)
			held = node.out;
		else if (node.group)
			held = NOTHING;
		else if (node.a != NOTHING)
			held = node.a;
		/* sums of FLOAT32 are of what is cast there */
		if (node.aggregate != NOTHING && held != NOTHING &&
			p.values[held].type == GPUAGG_VECTOR_FLOAT32)
			held = NOTHING;
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
place_values(Planner &p)
{
	Temporary values[MAX_NODES];
	Temporary slots[MAX_NODES];
	int nvalues = 0;
	int nslots = 0;

	for (int i = 0; i < p.nnodes; i++)
	{
		Value *value = p.nodes[i].out != NOTHING ? &p.values[p.nodes[i].out] : nullptr;
		int bytes;
		int at = 0;
		int slot;

		if (value == nullptr || value->needed == NOTHING)
			continue;
		bytes = value->type == GPUAGG_VECTOR_BOOL	   ? 0
				: class_of(value->type) == QUERY_INT32 ? 4
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

/* A place among the plan's constants; NOTHING: there is none. */
int
add_constant(Planner &p, GpuaggInt128 value)
{
	if (p.nconstants == GPU_QUERY_CONSTANTS)
		return NOTHING;
	p.plan->constants[p.nconstants] = value;
	return p.nconstants++;
}

GpuaggInt128
constant_bits(const GpuaggVectorConstant &constant)
{
	GpuaggInt128 bits = {0, 0};

	if (constant.isnull)
		return bits;
	switch (constant.type)
	{
		case GPUAGG_VECTOR_BOOL:
			bits.lo = constant.u.integer.lo & 1;
			return bits;
		case GPUAGG_VECTOR_INT16:
			return gpuagg_int128_from((int16_t) constant.u.integer.lo);
		case GPUAGG_VECTOR_INT32:
			return gpuagg_int128_from((int32_t) constant.u.integer.lo);
		case GPUAGG_VECTOR_INT64:
			return gpuagg_int128_from((int64_t) constant.u.integer.lo);
		case GPUAGG_VECTOR_INT128:
			return constant.u.integer;
		default:
			memcpy(&bits.lo, &constant.u, gpuagg_vector_type_size(constant.type));
			return bits;
	}
}

/* Where a value is found; false: there are too many. */
bool
source_of(Planner &p, int number, uint32_t *source)
{
	Value *value;
	uint32_t at = 0;

	*source = QUERY_SOURCE(QUERY_NONE, 0);
	if (number == NOTHING)
		return true;
	value = &p.values[number];
	if (!value->placed && value->kind == COLUMN)
	{
		while (at < p.plan->ncolumns && p.plan->column[at] != value->number)
			at++;
		if (at == GPU_QUERY_COLUMNS)
			return false;
		if (at == p.plan->ncolumns)
		{
			p.plan->column[at] = (uint16_t) value->number;
			p.plan->type[at] = (uint8_t) value->type;
			p.plan->ncolumns++;
		}
		value->source = QUERY_SOURCE(QUERY_COLUMN, at);
	}
	else if (!value->placed && value->kind == CONSTANT)
	{
		const GpuaggVectorConstant &constant = p.program->constants[value->number];
		int place = add_constant(p, constant_bits(constant));

		if (place == NOTHING)
			return false;
		value->source = QUERY_SOURCE(constant.isnull ? QUERY_NULL : QUERY_CONSTANT, place);
	}
	value->placed = true;
	*source = value->source;
	return true;
}

GpuQueryStep *
add_step(Planner &p, int code)
{
	GpuQueryStep *step;

	if (p.plan->nsteps == GPU_QUERY_STEPS)
		return nullptr;
	step = &p.plan->steps[p.plan->nsteps++];
	memset(step, 0, sizeof(*step));
	step->code = (uint16_t) code;
	step->a = QUERY_SOURCE(QUERY_ACCUMULATOR, 0);
	return step;
}

/* Constants of a set, as the CPU has them: a NULL is a zero, and all rows are flagged. */
bool
add_set(Planner &p, const GpuaggVectorInstruction *in, GpuQueryStep *step)
{
	int count = in->op == GPUAGG_VECTOR_IN ? in->count : 2;

	step->arg = (uint16_t) p.nconstants;
	step->count = (uint16_t) count;
	for (int k = 0; k < count; k++)
	{
		const GpuaggVectorConstant &constant = p.program->constants[in->arg + (uint32_t) k];

		step->inverted |= constant.isnull;
		if (add_constant(p, constant_bits(constant)) == NOTHING)
			return false;
	}
	return true;
}

/* Pieces of a zone, two to a constant; those at its end that are equal are one. */
bool
add_zone(Planner &p, const GpuaggVectorInstruction *in, GpuQueryStep *step)
{
	const GpuaggVectorConstant *pieces = &p.program->constants[in->arg];
	int count = in->count;
	bool added = true;

	for (int k = 0; k < in->count; k++)
		step->inverted |= pieces[k].isnull;
	while (count > 2 && constant_bits(pieces[count - 1]).lo == constant_bits(pieces[count - 2]).lo)
		count--;
	step->count = (uint16_t) count;
	if (p.zone != in->arg || p.zone_count != in->count)
	{
		p.zone = in->arg;
		p.zone_count = in->count;
		p.zone_place = (uint16_t) p.nconstants;
		added = false;
	}
	step->arg = p.zone_place;
	for (int k = 0; k < count && !added; k += 2)
	{
		GpuaggInt128 two = constant_bits(pieces[k]);

		two.hi = k + 1 < count ? (int64_t) constant_bits(pieces[k + 1]).lo : 0;
		if (add_constant(p, two) == NOTHING)
			return false;
	}
	return true;
}

/* The power of ten by which DECIMAL_TO_FLOAT divides, 0 for one that is no double. */
bool
add_power(Planner &p, uint32_t scale, GpuQueryStep *step)
{
	double power = 1;
	GpuaggInt128 bits = {0, 0};
	int place;

	for (uint32_t i = 0; i < scale && i <= 22; i++)
		power *= 10; /* exact up to 10^22 */
	if (scale > 22)
		power = 0;
	memcpy(&bits.lo, &power, sizeof(power));
	place = add_constant(p, bits);
	step->b = QUERY_SOURCE(QUERY_CONSTANT, place);
	return place != NOTHING;
}

int
code_of(const GpuaggVectorInstruction *in, int op, bool *inverted)
{
	int of = class_of(in->type);

	switch (op)
	{
		case GPUAGG_VECTOR_NE:
			*inverted = true;
			return QUERY_CODE(GPUAGG_VECTOR_EQ, of);
		case GPUAGG_VECTOR_GE:
			*inverted = true;
			return QUERY_CODE(GPUAGG_VECTOR_LT, of);
		case GPUAGG_VECTOR_LE:
			*inverted = true;
			return QUERY_CODE(GPUAGG_VECTOR_GT, of);
		case GPUAGG_VECTOR_CAST:
			return QUERY_CAST(of, in->to == GPUAGG_VECTOR_INT16 ? QUERY_INT16 : class_of(in->to));
		default:
			return QUERY_CODE(op, of);
	}
}

/* Whether the result of an INT16 instruction, computed in 32 bits, may not be one. */
bool
may_leave_int16(int op)
{
	return (op >= GPUAGG_VECTOR_ADD && op <= GPUAGG_VECTOR_ABS) || op == GPUAGG_VECTOR_DIV_FLOOR ||
		   op == GPUAGG_VECTOR_DIV_ROUND;
}

bool
add_instruction(Planner &p, const Node &node)
{
	const GpuaggVectorInstruction *in = node.in;
	int op = node.swapped ? (int) gpuagg_vector_commuted((GpuaggVectorOp) in->op) : in->op;
	bool inverted = false;
	GpuQueryStep *step = add_step(p, code_of(in, op, &inverted));

	if (step == nullptr)
		return false;
	step->inverted = inverted;
	if ((!node.a_held && !source_of(p, node.a, &step->a)) || !source_of(p, node.b, &step->b) ||
		!source_of(p, node.c, &step->c) || !source_of(p, node.mask, &step->mask))
		return false;
	if ((op == GPUAGG_VECTOR_IN || op == GPUAGG_VECTOR_IN_RANGE) && !add_set(p, in, step))
		return false;
	if ((op == GPUAGG_VECTOR_TIME_TO_LOCAL || op == GPUAGG_VECTOR_TIME_FROM_LOCAL) &&
		!add_zone(p, in, step))
		return false;
	if (op == GPUAGG_VECTOR_DECIMAL_TO_FLOAT && !add_power(p, in->arg, step))
		return false;
	if (op == GPUAGG_VECTOR_TIME_TRUNC || op == GPUAGG_VECTOR_TIME_FIELD)
		step->arg = (uint16_t) in->arg;
	if (in->type == GPUAGG_VECTOR_INT16 && may_leave_int16(op))
	{
		uint32_t mask = step->mask;

		step = add_step(p, QUERY_CODE(QUERY_FIT16, QUERY_INT32));
		if (step == nullptr)
			return false;
		step->mask = mask;
	}
	if (p.values[node.out].placed)
		step->out = p.values[node.out].source;
	p.plan->heavy |= op == GPUAGG_VECTOR_DIV || op == GPUAGG_VECTOR_MOD ||
					 op == GPUAGG_VECTOR_DIV_FLOOR || op == GPUAGG_VECTOR_DIV_ROUND ||
					 op >= GPUAGG_VECTOR_DECIMAL_TO_FLOAT;
	p.plan->wide |= class_of(in->type) == QUERY_INT128 ||
					class_of(gpuagg_vector_result(in)) == QUERY_INT128;
	return true;
}

int
words_of(int op, int of)
{
	switch (op)
	{
		case GPUAGG_COUNT:
			return 1;
		case GPUAGG_MIN:
		case GPUAGG_MAX:
			return of == QUERY_INT128 ? 3 : 2;
		case GPUAGG_SUM:
			return of == QUERY_INT32 ? 2 : of == QUERY_INT128 ? 4 : 3;
		default:
			return of == QUERY_INT32 ? 4 : of == QUERY_INT128 ? 9 : 6;
	}
}

/* Whether a later node takes the value out of the accumulator. */
bool
held_later(const Planner &p, int at)
{
	for (int i = at + 1; i < p.nnodes; i++)
		if (p.nodes[i].a_held && p.nodes[i].a == p.nodes[at].a)
			return true;
	return false;
}

bool
add_aggregate(Planner &p, int at)
{
	const Node &node = p.nodes[at];
	GpuQueryTotal &total = p.plan->totals[node.aggregate];
	int op = p.aggregates[node.aggregate].op;
	int type = node.a != NOTHING ? p.values[node.a].type : GPUAGG_VECTOR_BOOL;
	int of = op == GPUAGG_COUNT ? QUERY_BOOL : class_of(type);
	bool widens = (op == GPUAGG_SUM || op == GPUAGG_MOMENTS) && of == QUERY_FLOAT32;
	uint32_t a = QUERY_SOURCE(QUERY_ACCUMULATOR, 0);
	GpuQueryStep *step;

	if (!node.a_held && !source_of(p, node.a, &a))
		return false;
	if (widens)
	{
		step = add_step(p, QUERY_CAST(QUERY_FLOAT32, QUERY_FLOAT64));
		if (step == nullptr)
			return false;
		step->a = a;
		a = QUERY_SOURCE(QUERY_ACCUMULATOR, 0);
		of = QUERY_FLOAT64;
	}
	step = add_step(p, QUERY_AGGREGATE_CODE(op, of));
	if (step == nullptr || !source_of(p, node.c, &step->c))
		return false;
	step->a = a;
	step->in_place = QUERY_SOURCE_KIND(a) == QUERY_COLUMN && node.c == NOTHING && p.nkeys == 0 &&
					 op == GPUAGG_SUM && (of == QUERY_INT32 || of == QUERY_INT64) &&
					 type != GPUAGG_VECTOR_INT16 && !held_later(p, at);
	step->arg = (uint16_t) node.aggregate;
	total.op = (uint8_t) op;
	total.class_of = (uint8_t) of;
	if (p.nkeys == 0)
	{
		total.words = (uint16_t) words_of(op, of);
		total.first = (uint16_t) p.plan->words;
		p.plan->words += total.words;
		if ((op == GPUAGG_SUM || op == GPUAGG_MOMENTS) && of == QUERY_FLOAT64)
			total.floats = p.plan->nfloats++;
	}
	p.plan->heavy |= op == GPUAGG_MOMENTS;
	p.plan->squares |= op == GPUAGG_MOMENTS && (of == QUERY_FLOAT64 || of == QUERY_INT128);
	p.plan->wide |= of == QUERY_INT128;
	return true;
}

bool
add_steps(Planner &p)
{
	for (int i = 0; i < p.nnodes; i++)
	{
		const Node &node = p.nodes[i];
		GpuQueryStep *step;

		if (node.in != nullptr)
		{
			if (!add_instruction(p, node))
				return false;
		}
		else if (node.aggregate != NOTHING)
		{
			if (!add_aggregate(p, i))
				return false;
		}
		else if (node.group)
		{
			step = add_step(p, QUERY_CODE(QUERY_GROUP, QUERY_BOOL));
			if (step == nullptr)
				return false;
			step->a = QUERY_SOURCE(QUERY_NONE, 0);
			for (int k = 0; k < p.nkeys; k++)
				if (!source_of(p, p.keys[k], &p.plan->key[k]))
					return false;
		}
		else
		{
			step = add_step(p, QUERY_CODE(QUERY_FILTER, QUERY_BOOL));
			if (step == nullptr || (!node.a_held && !source_of(p, node.a, &step->a)))
				return false;
		}
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
	uint8_t types[GPUAGG_VECTOR_REGISTERS];
	Planner p;

	memset(plan, 0, sizeof(*plan));
	if (naggregates < 0 || naggregates > GPU_QUERY_AGGREGATES || nkeys < 0 ||
		nkeys > GPUAGG_GROUP_KEYS || gpuagg_vector_check(program, types) != -1 ||
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
	p.zone = UINT32_MAX;
	plan->naggregates = (uint32_t) naggregates;
	if (!make_nodes(p))
		return GPUAGG_REFUSED;
	drop_nodes(p);
	trace_accumulator(p);
	if (!place_values(p) || !add_steps(p))
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
				(is_float(plan->type[k]) && width != size))
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
