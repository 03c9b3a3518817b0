/*
 * vector_narrow.c
 *	  Programs over 128 bits in 64, for as long as values fit.
 */
#include "common/vector_narrow.h"

#include <string.h>

static bool
fits(const GpuaggVectorConstant *constant)
{
	return constant->isnull || constant->u.integer.hi == (int64_t) constant->u.integer.lo >> 63;
}

/* Makes n constants INT64, from number `first` on; clamps: a bound beyond is as good as the last one. */
static bool
narrow_constants(GpuaggNarrowed *narrowed, uint32_t first, uint32_t n, bool clamps)
{
	for (uint32_t i = first; i < first + n; i++)
	{
		GpuaggVectorConstant *constant = &narrowed->constants[i];

		if (constant->type != GPUAGG_VECTOR_INT128)
			continue;
		if (!fits(constant))
		{
			if (!clamps)
				return false;
			constant->u.integer = gpuagg_int128_from(constant->u.integer.hi < 0 ? INT64_MIN
																				: INT64_MAX);
		}
		constant->type = GPUAGG_VECTOR_INT64;
	}
	return true;
}

/* What leaves a register's values as they are. */
static void
make_copy(GpuaggVectorInstruction *in)
{
	in->op = GPUAGG_VECTOR_COALESCE;
	in->type = GPUAGG_VECTOR_INT64;
	in->to = 0;
	in->b = in->a;
	in->mask = GPUAGG_VECTOR_NONE;
}

static bool
narrow_instruction(GpuaggNarrowed *narrowed, GpuaggVectorInstruction *in)
{
	bool is_wide = in->type == GPUAGG_VECTOR_INT128;

	switch (in->op)
	{
		case GPUAGG_VECTOR_COLUMN:
			return !is_wide;
		case GPUAGG_VECTOR_CONSTANT:
			if (is_wide && !narrow_constants(narrowed, in->arg, 1, false))
				return false;
			break;
		case GPUAGG_VECTOR_IN:
			if (is_wide && !narrow_constants(narrowed, in->arg, in->count, false))
				return false;
			break;
		case GPUAGG_VECTOR_IN_RANGE:
			if (is_wide)
				(void) narrow_constants(narrowed, in->arg, 2, true);
			break;
		case GPUAGG_VECTOR_MUL_WIDE:
			in->op = GPUAGG_VECTOR_MUL;
			return true;
		case GPUAGG_VECTOR_CAST:
			if (in->to == GPUAGG_VECTOR_INT128)
				in->to = GPUAGG_VECTOR_INT64;
			if ((is_wide || in->type == GPUAGG_VECTOR_INT64) && in->to == GPUAGG_VECTOR_INT64)
				make_copy(in);
			break;
		default:
			break;
	}
	if (is_wide)
		in->type = GPUAGG_VECTOR_INT64;
	return true;
}

bool
gpuagg_vector_narrow(const GpuaggVectorProgram *program, GpuaggNarrowed *narrowed)
{
	memcpy(narrowed->instructions, program->instructions,
		   program->ninstructions * sizeof(narrowed->instructions[0]));
	memcpy(narrowed->constants, program->constants,
		   program->nconstants * sizeof(narrowed->constants[0]));
	narrowed->program = *program;
	narrowed->program.instructions = narrowed->instructions;
	narrowed->program.constants = narrowed->constants;
	for (uint32_t i = 0; i < program->ninstructions; i++)
		if (!narrow_instruction(narrowed, &narrowed->instructions[i]))
			return false;
	return true;
}
