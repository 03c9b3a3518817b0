/*
 * query_wire.c
 *	  A query over blobs and its answer, as they lie in a region.
 */
#include "common/query_wire.h"

#include <string.h>

static_assert(sizeof(GpuaggQueryHead) == 88, "query head crosses the process boundary");
static_assert(sizeof(GpuaggQueryChunk) == 24, "chunks cross the process boundary");
static_assert(sizeof(GpuaggQueryAggregate) == 8, "aggregates cross the process boundary");
static_assert(sizeof(GpuaggVectorInstruction) == 20, "instructions cross the process boundary");
static_assert(sizeof(GpuaggVectorConstant) == 24, "constants cross the process boundary");
static_assert(sizeof(GpuaggWindow) == 432, "windows cross the process boundary");

/* A part of n elements at *end, which moves on. */
static uint64_t
add_part(uint64_t *end, uint64_t n, size_t size)
{
	uint64_t at = *end;

	*end = (at + n * size + GPUAGG_BLOB_ALIGN - 1) / GPUAGG_BLOB_ALIGN * GPUAGG_BLOB_ALIGN;
	return at;
}

GpuaggQueryHead
gpuagg_query_head(const GpuaggQuery *query)
{
	const GpuaggVectorProgram *program = &query->program;
	const GpuaggVectorProgram *above = &query->above;
	GpuaggQueryHead head = {
		.nchunks = query->nchunks,
		.naggregates = query->naggregates,
		.nkeys = query->nkeys,
		.ninstructions = program->ninstructions,
		.nfilter = program->nfilter,
		.filter = program->filter,
		.nregisters = program->nregisters,
		.nconstants = program->nconstants,
		.ncolumns = program->ncolumns,
		.part = query->part,
		.parts = query->parts,
		.shifted = query->shifted,
		.expected = query->expected,
	};

	if (query->window != NULL)
	{
		head.window = 1;
		head.above_ninstructions = above->ninstructions;
		head.above_nfilter = above->nfilter;
		head.above_filter = above->filter;
		head.above_nregisters = above->nregisters;
		head.above_nconstants = above->nconstants;
		head.above_ncolumns = above->ncolumns;
	}
	return head;
}

int
gpuagg_query_places(const GpuaggQueryHead *head, GpuaggQueryPlaces *places)
{
	uint64_t end = 0;

	if (head->nchunks == 0 || head->nchunks > GPUAGG_QUERY_CHUNKS ||
		head->naggregates > GPUAGG_QUERY_AGGREGATES || head->nkeys > GPUAGG_QUERY_KEYS ||
		head->ninstructions > GPUAGG_VECTOR_DEVICE_INSTRUCTIONS ||
		head->nregisters > GPUAGG_VECTOR_DEVICE_REGISTERS ||
		head->nconstants > GPUAGG_VECTOR_DEVICE_CONSTANTS ||
		head->ncolumns > GPUAGG_QUERY_COLUMNS || head->window > 1 ||
		head->above_ninstructions > GPUAGG_VECTOR_DEVICE_INSTRUCTIONS ||
		head->above_nregisters > GPUAGG_VECTOR_DEVICE_REGISTERS ||
		head->above_nconstants > GPUAGG_VECTOR_DEVICE_CONSTANTS ||
		head->above_ncolumns > GPUAGG_WINDOW_COLUMNS || head->shifted > 1 || head->spare != 0 ||
		(head->shifted && head->nkeys > 0 && !head->window) || head->parts == 0 ||
		head->parts > (head->nkeys == 0 && !head->window ? 1 : GPUAGG_QUERY_PARTS) ||
		head->part >= head->parts)
		return 0;
	(void) add_part(&end, 1, sizeof(*head));
	places->instructions = add_part(&end, head->ninstructions, sizeof(GpuaggVectorInstruction));
	places->constants = add_part(&end, head->nconstants, sizeof(GpuaggVectorConstant));
	places->columns = add_part(&end, head->ncolumns, sizeof(uint8_t));
	places->aggregates = add_part(&end, head->naggregates, sizeof(GpuaggQueryAggregate));
	places->keys = add_part(&end, head->nkeys, sizeof(uint16_t));
	places->window = add_part(&end, head->window, sizeof(GpuaggWindow));
	places->above_instructions = add_part(&end, head->above_ninstructions,
										  sizeof(GpuaggVectorInstruction));
	places->above_constants = add_part(&end, head->above_nconstants, sizeof(GpuaggVectorConstant));
	places->above_columns = add_part(&end, head->above_ncolumns, sizeof(uint8_t));
	places->chunks = add_part(&end, head->nchunks, sizeof(GpuaggQueryChunk));
	places->numbers = add_part(&end, (uint64_t) head->nchunks * head->ncolumns, sizeof(uint64_t));
	places->shifts = add_part(&end, head->shifted ? (uint64_t) head->nchunks * head->ncolumns : 0,
							  sizeof(int32_t));
	places->end = end;
	return 1;
}

static void
put_part(void *room, uint64_t at, const void *part, size_t bytes)
{
	if (bytes > 0)
		memcpy((char *) room + at, part, bytes);
}

int
gpuagg_query_write(const GpuaggQuery *query, void *room, uint64_t bytes, GpuaggQueryPlaces *places)
{
	const GpuaggVectorProgram *program = &query->program;
	GpuaggQueryHead head = gpuagg_query_head(query);

	if (program->nrows > 0 || program->spare != 0 || query->above.nrows > 0 ||
		query->above.spare != 0 || !gpuagg_query_places(&head, places) || places->end > bytes)
		return 0;
	put_part(room, 0, &head, sizeof(head));
	put_part(room, places->instructions, program->instructions,
			 head.ninstructions * sizeof(GpuaggVectorInstruction));
	put_part(room, places->constants, program->constants,
			 head.nconstants * sizeof(GpuaggVectorConstant));
	put_part(room, places->columns, program->columns, head.ncolumns);
	put_part(room, places->aggregates, query->aggregates,
			 head.naggregates * sizeof(GpuaggQueryAggregate));
	put_part(room, places->keys, query->keys, head.nkeys * sizeof(uint16_t));
	put_part(room, places->window, query->window, head.window * sizeof(GpuaggWindow));
	put_part(room, places->above_instructions, query->above.instructions,
			 head.above_ninstructions * sizeof(GpuaggVectorInstruction));
	put_part(room, places->above_constants, query->above.constants,
			 head.above_nconstants * sizeof(GpuaggVectorConstant));
	put_part(room, places->above_columns, query->above.columns, head.above_ncolumns);
	return 1;
}

void
gpuagg_query_read(const GpuaggQueryHead *head, const GpuaggQueryPlaces *places, const void *copy,
				  GpuaggQuery *query)
{
	const char *at = copy;

	memset(query, 0, sizeof(*query));
	query->program.ninstructions = head->ninstructions;
	query->program.nfilter = head->nfilter;
	query->program.filter = head->filter;
	query->program.nregisters = head->nregisters;
	query->program.nconstants = head->nconstants;
	query->program.ncolumns = head->ncolumns;
	query->program.instructions = (const GpuaggVectorInstruction *) (at + places->instructions);
	query->program.constants = (const GpuaggVectorConstant *) (at + places->constants);
	query->program.columns = (const uint8_t *) (at + places->columns);
	if (head->window)
	{
		query->window = (const GpuaggWindow *) (at + places->window);
		query->above.ninstructions = head->above_ninstructions;
		query->above.nfilter = head->above_nfilter;
		query->above.filter = head->above_filter;
		query->above.nregisters = head->above_nregisters;
		query->above.nconstants = head->above_nconstants;
		query->above.ncolumns = head->above_ncolumns;
		query->above.instructions = (const GpuaggVectorInstruction *) (at +
																	   places->above_instructions);
		query->above.constants = (const GpuaggVectorConstant *) (at + places->above_constants);
		query->above.columns = (const uint8_t *) (at + places->above_columns);
	}
	query->aggregates = (const GpuaggQueryAggregate *) (at + places->aggregates);
	query->keys = (const uint16_t *) (at + places->keys);
	query->naggregates = head->naggregates;
	query->nkeys = head->nkeys;
	query->nchunks = head->nchunks;
	query->part = head->part;
	query->parts = head->parts;
	query->shifted = head->shifted;
	query->expected = head->expected;
}

uint64_t
gpuagg_query_groups_at(uint64_t nchunks)
{
	return (nchunks + GPUAGG_BLOB_ALIGN - 1) / GPUAGG_BLOB_ALIGN * GPUAGG_BLOB_ALIGN;
}

uint64_t
gpuagg_query_answer_bytes(const GpuaggQueryHead *head)
{
	return gpuagg_query_groups_at(head->nchunks) +
		   (head->nkeys == 0 ? (uint64_t) head->naggregates * GPUAGG_QUERY_TOTAL_MAX_BYTES
							 : GPUAGG_QUERY_MASK_BYTES);
}
