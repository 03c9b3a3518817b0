/*
 * filter_conditions.c
 *	  Conditions of a program's filter between a column and a constant.
 */
#include "compat.h"

#include "exec/filter_conditions.h"

/* What a register has, as far as it matters here. */
typedef struct Meaning
{
	enum
	{
		MEANS_NOTHING,
		MEANS_COLUMN,
		MEANS_CONSTANT,
		MEANS_CONDITIONS /* all hold where it is true */
	} kind;
	uint32 number;	  /* of the column or constant */
	List *conditions; /* of FilterCondition * */
	bool all;		  /* it is true wherever all of them hold */
} Meaning;

static Meaning
compare(GpuaggVectorOp op, const Meaning *a, const Meaning *b)
{
	Meaning meaning = {MEANS_NOTHING};
	FilterCondition *condition;

	if (a->kind == MEANS_CONSTANT && b->kind == MEANS_COLUMN)
		return compare(gpuagg_vector_commuted(op), b, a);
	if (a->kind != MEANS_COLUMN || b->kind != MEANS_CONSTANT)
		return meaning;
	condition = palloc(sizeof(FilterCondition));
	*condition = (FilterCondition){(int) a->number, op, b->number};
	meaning.kind = MEANS_CONDITIONS;
	meaning.conditions = list_make1(condition);
	meaning.all = true;
	return meaning;
}

/* Whether a cast gives the same number, so that comparisons stay what they are. */
static bool
is_widening(const GpuaggVectorInstruction *instruction)
{
	return instruction->type >= GPUAGG_VECTOR_INT16 && instruction->to <= GPUAGG_VECTOR_INT128 &&
		   instruction->to > instruction->type;
}

/* What the filter means; some instructions of it may flag rows: then that is nothing. */
static Meaning
meaning_of(const GpuaggVectorProgram *program)
{
	const Meaning nothing = {MEANS_NOTHING};
	Meaning *meanings = palloc0(Max(program->nregisters, 1) * sizeof(Meaning));

	if (program->filter == GPUAGG_VECTOR_NONE)
		return nothing;
	for (uint32 i = 0; i < program->nfilter; i++)
	{
		const GpuaggVectorInstruction *in = &program->instructions[i];
		Meaning *out = &meanings[in->out];

		switch (in->op)
		{
			case GPUAGG_VECTOR_COLUMN:
				*out = (Meaning){MEANS_COLUMN, in->arg};
				break;
			case GPUAGG_VECTOR_CONSTANT:
				*out = (Meaning){MEANS_CONSTANT, in->arg};
				break;
			case GPUAGG_VECTOR_CAST:
				if (!is_widening(in))
					return nothing;
				*out = meanings[in->a].kind == MEANS_COLUMN ? meanings[in->a]
															: (Meaning){MEANS_NOTHING};
				break;
			case GPUAGG_VECTOR_EQ:
			case GPUAGG_VECTOR_NE:
			case GPUAGG_VECTOR_LT:
			case GPUAGG_VECTOR_LE:
			case GPUAGG_VECTOR_GT:
			case GPUAGG_VECTOR_GE:
				*out = compare((GpuaggVectorOp) in->op, &meanings[in->a], &meanings[in->b]);
				break;
			case GPUAGG_VECTOR_AND:
			{
				Meaning both = {MEANS_CONDITIONS};

				if (meanings[in->a].kind == MEANS_CONDITIONS)
					both.conditions = list_copy(meanings[in->a].conditions);
				if (meanings[in->b].kind == MEANS_CONDITIONS)
					both.conditions = list_concat(both.conditions, meanings[in->b].conditions);
				both.all = meanings[in->a].all && meanings[in->b].all;
				*out = both;
				break;
			}
			case GPUAGG_VECTOR_IS_TRUE:
				/* not of a column: this one is never NULL */
				*out = meanings[in->a].kind == MEANS_CONDITIONS ? meanings[in->a]
																: (Meaning){MEANS_NOTHING};
				break;
			case GPUAGG_VECTOR_IN:
			case GPUAGG_VECTOR_OR:
			case GPUAGG_VECTOR_NOT:
			case GPUAGG_VECTOR_IS_FALSE:
			case GPUAGG_VECTOR_IS_NULL:
			case GPUAGG_VECTOR_SELECT:
			case GPUAGG_VECTOR_COALESCE:
			case GPUAGG_VECTOR_NULLIF:
			case GPUAGG_VECTOR_LEAST:
			case GPUAGG_VECTOR_GREATEST:
				*out = (Meaning){MEANS_NOTHING};
				break;
			default:
				return nothing;
		}
	}
	return meanings[program->filter];
}

void
gpuagg_filter_conditions(const VectorCompiler *compiler, FilterConditions *all)
{
	Meaning meaning = meaning_of(&compiler->program);
	ListCell *cell;

	memset(all, 0, sizeof(*all));
	if (meaning.kind != MEANS_CONDITIONS)
		return;
	all->n = list_length(meaning.conditions);
	all->list = palloc(Max(all->n, 1) * sizeof(FilterCondition));
	foreach (cell, meaning.conditions)
		all->list[foreach_current_index(cell)] = *(FilterCondition *) lfirst(cell);
	all->whole = meaning.all;
	foreach (cell, compiler->parameters)
		all->has_parameters |= ((VectorParameter *) lfirst(cell))->filter;
}
