/*
 * query_plan_steps.cu
 *	  Steps of a plan: of its nodes, in turn, with the columns and constants that they read; host code.
 */
#include "kernels/query_planner.h"

namespace
{

/* A place among the plan's constants; PLAN_NOTHING: there is none. */
int
add_constant(QueryPlanner &p, GpuaggInt128 value)
{
	if (p.nconstants == GPU_QUERY_CONSTANTS)
		return PLAN_NOTHING;
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
source_of(QueryPlanner &p, int number, uint32_t *source)
{
	PlanValue *value;
	uint32_t at = 0;

	*source = QUERY_SOURCE(QUERY_NONE, 0);
	if (number == PLAN_NOTHING)
		return true;
	value = &p.values[number];
	if (!value->placed && value->kind == PLAN_COLUMN)
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
	else if (!value->placed && value->kind == PLAN_CONSTANT)
	{
		const GpuaggVectorConstant &constant = p.program->constants[value->number];
		int place = add_constant(p, constant_bits(constant));

		if (place == PLAN_NOTHING)
			return false;
		value->source = QUERY_SOURCE(constant.isnull ? QUERY_NULL : QUERY_CONSTANT, place);
	}
	value->placed = true;
	*source = value->source;
	return true;
}

GpuQueryStep *
add_step(QueryPlanner &p, int code)
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
add_set(QueryPlanner &p, const GpuaggVectorInstruction *in, GpuQueryStep *step)
{
	int count = in->op == GPUAGG_VECTOR_IN ? in->count : 2;

	step->arg = (uint16_t) p.nconstants;
	step->count = (uint16_t) count;
	for (int k = 0; k < count; k++)
	{
		const GpuaggVectorConstant &constant = p.program->constants[in->arg + (uint32_t) k];

		step->inverted |= constant.isnull;
		if (add_constant(p, constant_bits(constant)) == PLAN_NOTHING)
			return false;
	}
	return true;
}

/* How many pieces of a zone there are, without those at its end that are equal but for one. */
int
count_pieces(const GpuaggVectorConstant *pieces, int count)
{
	while (count > 2 && constant_bits(pieces[count - 1]).lo == constant_bits(pieces[count - 2]).lo)
		count--;
	return count;
}

/* Pieces, two to a constant. */
bool
add_pieces(QueryPlanner &p, const GpuaggVectorConstant *pieces, int count)
{
	for (int k = 0; k < count; k += 2)
	{
		GpuaggInt128 two = constant_bits(pieces[k]);

		two.hi = k + 1 < count ? (int64_t) constant_bits(pieces[k + 1]).lo : 0;
		if (add_constant(p, two) == PLAN_NOTHING)
			return false;
	}
	return true;
}

/* A step's zone, which may be that of the last such step. */
bool
add_zone(QueryPlanner &p, const GpuaggVectorInstruction *in, GpuQueryStep *step)
{
	const GpuaggVectorConstant *pieces = &p.program->constants[in->arg];
	int count = count_pieces(pieces, in->count);

	if (p.zone.first != in->arg || p.zone.count != in->count)
	{
		p.zone = {in->arg, in->count, (uint16_t) p.nconstants};
		if (!add_pieces(p, pieces, count))
			return false;
	}
	for (int k = 0; k < in->count; k++)
		step->inverted |= pieces[k].isnull;
	step->arg = p.zone.place;
	step->count = (uint16_t) count;
	return true;
}

/* The power of ten by which DECIMAL_TO_FLOAT divides, 0 for one that is no double. */
bool
add_power(QueryPlanner &p, uint32_t scale, GpuQueryStep *step)
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
	return place != PLAN_NOTHING;
}

int
code_of(const GpuaggVectorInstruction *in, int op, bool *inverted)
{
	int of = query_class_of(in->type);

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
			return QUERY_CAST(of,
							  in->to == GPUAGG_VECTOR_INT16 ? QUERY_INT16 : query_class_of(in->to));
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
add_instruction(QueryPlanner &p, const PlanNode &node)
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
	p.plan->wide |= query_class_of(in->type) == QUERY_INT128 ||
					query_class_of(gpuagg_vector_result(in)) == QUERY_INT128;
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
held_later(const QueryPlanner &p, int at)
{
	for (int i = at + 1; i < p.nnodes; i++)
		if (p.nodes[i].a_held && p.nodes[i].a == p.nodes[at].a)
			return true;
	return false;
}

bool
add_aggregate(QueryPlanner &p, int at)
{
	const PlanNode &node = p.nodes[at];
	GpuQueryTotal &total = p.plan->totals[node.aggregate];
	int op = p.aggregates[node.aggregate].op;
	int type = node.a != PLAN_NOTHING ? p.values[node.a].type : GPUAGG_VECTOR_BOOL;
	int of = op == GPUAGG_COUNT ? QUERY_BOOL : query_class_of(type);
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
	step->in_place = QUERY_SOURCE_KIND(a) == QUERY_COLUMN && node.c == PLAN_NOTHING &&
					 p.nkeys == 0 && op == GPUAGG_SUM && (of == QUERY_INT32 || of == QUERY_INT64) &&
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

} // namespace

bool
query_plan_steps(QueryPlanner &p)
{
	for (int i = 0; i < p.nnodes; i++)
	{
		const PlanNode &node = p.nodes[i];
		GpuQueryStep *step;

		if (node.in != nullptr)
		{
			if (!add_instruction(p, node))
				return false;
		}
		else if (node.aggregate != PLAN_NOTHING)
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
