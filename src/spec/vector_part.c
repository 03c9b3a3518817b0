/*
 * vector_part.c
 *	  The part of a vector program that some of its registers need.
 *
 * The program becomes what it was while it was compiled, with a register of its own for each
 * instruction, and is finished again with other results.
 */
#include "spec/vector_build.h"
#include "spec/vector_part.h"

/* The instructions that have written the registers so far. */
typedef struct Writers
{
	uint16 of[GPUAGG_VECTOR_REGISTERS];
} Writers;

static uint16
writer(const Writers *writers, uint16 reg)
{
	return reg == GPUAGG_VECTOR_NONE ? GPUAGG_VECTOR_NONE : writers->of[reg];
}

/* A build of the program, whose filter is its own, and no outputs yet. */
static VectorBuild *
make_build(const GpuaggVectorProgram *whole, Writers *writers)
{
	VectorBuild *build = palloc0(sizeof(VectorBuild));

	build->compiler = palloc0(sizeof(VectorCompiler));
	build->code = palloc(Max(whole->ninstructions, 1) * sizeof(GpuaggVectorInstruction));
	build->ncode = (int) whole->ninstructions;
	build->nfilter = (int) whole->nfilter;
	build->filter = GPUAGG_VECTOR_NONE;
	build->constants = unconstify(GpuaggVectorConstant *, whole->constants);
	build->nconstants = (int) whole->nconstants;
	for (int i = 0; i < build->ncode; i++)
	{
		GpuaggVectorInstruction *in = &build->code[i];

		*in = whole->instructions[i];
		in->a = writer(writers, in->a);
		in->b = writer(writers, in->b);
		in->c = writer(writers, in->c);
		in->mask = writer(writers, in->mask);
		writers->of[in->out] = (uint16) i;
	}
	if (whole->filter != GPUAGG_VECTOR_NONE)
		build->filter = writers->of[whole->filter];
	return build;
}

/* The place of an output, which is its register. */
static uint16
add_output(VectorBuild *build, uint16 instruction)
{
	ListCell *cell;

	foreach (cell, build->outputs)
		if (lfirst_int(cell) == instruction)
			return (uint16) foreach_current_index(cell);
	build->outputs = lappend_int(build->outputs, instruction);
	return (uint16) (list_length(build->outputs) - 1);
}

static bool
finish(VectorBuild *build, VectorPart *part)
{
	VectorCompiler *compiler = build->compiler;
	ListCell *cell;

	if (!gpuagg_build_finish(build) || !gpuagg_vector_fits_device(&compiler->program))
		return false;
	part->program = compiler->program;
	part->columns = palloc(Max(part->program.ncolumns, 1) * sizeof(uint16));
	foreach (cell, compiler->attributes)
		part->columns[foreach_current_index(cell)] = (uint16) lfirst_int(cell);
	return true;
}

bool
gpuagg_vector_part(const GpuaggVectorProgram *whole, uint16 *registers, int n, VectorPart *part)
{
	Writers writers;
	VectorBuild *build = make_build(whole, &writers);

	for (int i = 0; i < n; i++)
		if (registers[i] != GPUAGG_VECTOR_NONE)
			registers[i] = add_output(build, writers.of[registers[i]]);
	if (!finish(build, part))
		return false;
	if (part->program.ncolumns > 0)
		return true;
	/* rows are those of some column */
	for (int i = 0; i < build->ncode; i++)
	{
		if (build->code[i].op != GPUAGG_VECTOR_COLUMN)
			continue;
		(void) add_output(build, (uint16) i);
		build->compiler = palloc0(sizeof(VectorCompiler));
		return finish(build, part);
	}
	return true;
}
