/*
 * queries.c
 *	  Blobs and queries over them for tests.
 */
#include "queries.h"

#include "groups.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/square_oracle.h"
#include "test/unit/vector_random.h"

#include "common/column.h"
#include "common/float_sum.h"

void
queries_seed(uint64_t number)
{
	seed = number;
}

void
queries_tame(bool is_tame)
{
	tame = is_tame;
}

static void *
aligned(uint64_t bytes)
{
	return aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
}

/* ---- chunks ---- */

/* Values of a vector, of integers within so many bits of a base; 0: any. */
static void
fill_values(void *values, int type, uint32_t nrows)
{
	int size = (int) gpuagg_vector_type_size(type);
	int bits = next() % 3 == 0 ? 0 : (int) (1 + next() % (uint64_t) (8 * size + 1));
	__int128 base = tame ? 5 : any_integer(type) / 2;

	if (type == GPUAGG_VECTOR_BOOL)
		for (uint32_t w = 0; w < (nrows + 63) / 64; w++)
			((uint64_t *) values)[w] = next();
	for (uint32_t i = 0; i < nrows && size > 0; i++)
	{
		GpuaggInt128 v = gpuagg_int128_narrow(any_integer(type));

		if (type == GPUAGG_VECTOR_FLOAT32)
			((float *) values)[i] = (float) any_float(type);
		else if (type == GPUAGG_VECTOR_FLOAT64)
			((double *) values)[i] = any_float(type);
		else
		{
			if (bits > 0 && bits < 8 * size - 1)
				v = gpuagg_int128_narrow(base +
										 (__int128) (next() & ((UINT64_C(1) << bits % 64) - 1)));
			memcpy((char *) values + i * (uint64_t) size, &v, (size_t) size);
		}
	}
}

/* From where all values are as small as they can be to where they are as great, or the least of all. */
static int32_t
any_shift(const GpuaggNarrow *form)
{
	uint64_t choice = next() % 6;
	int64_t least;
	int64_t greatest;

	if (form->type != GPUAGG_VECTOR_INT32 || !form->any)
		return (int32_t) next();
	least = INT32_MIN - (int64_t) form->minimum.lo;
	greatest = INT32_MAX - (int64_t) form->maximum.lo;
	least = least < INT32_MIN ? INT32_MIN : least;
	greatest = greatest > INT32_MAX ? INT32_MAX : greatest;
	if (choice < 2)
		return (int32_t) (choice == 0 ? least : greatest);
	if (choice == 2)
		return 0;
	if (choice == 3)
		return (int32_t) (least + (int64_t) (next() % (uint64_t) (greatest - least + 1)));
	return (int32_t) (greatest < 70000 ? greatest : (int64_t) (next() % 70000));
}

static void
set_column(ChunkColumn *column, int type, const void *values, uint64_t *valid, uint32_t nrows)
{
	column->valid = valid;
	gpuagg_narrow_init(&column->form, type);
	gpuagg_narrow_add(&column->form, values, valid, nrows);
	gpuagg_narrow_finish(&column->form);
	column->stored = aligned(gpuagg_narrow_bytes(&column->form, nrows));
	gpuagg_narrow_write(&column->form, column->stored, 0, values, valid, nrows);
	column->shift = any_shift(&column->form);
	column->zeros = false;
}

static void
fill_column(ChunkColumn *column, int type, uint32_t nrows)
{
	void *values = aligned((uint64_t) nrows * 16 + 64);
	uint64_t *valid = NULL;
	uint64_t nulls = next() % 3;

	fill_values(values, type, nrows);
	if (nulls > 0)
	{
		valid = aligned(gpuagg_blob_bitmap_bytes(nrows));
		for (uint32_t w = 0; w < gpuagg_blob_bitmap_bytes(nrows) / 8; w++)
			valid[w] = next() | (nulls == 1 ? next() | next() : 0);
	}
	set_column(column, type, values, valid, nrows);
	free(values);
}

void
chunk_set(Chunk *chunk, int column, const void *values, const uint64_t *valid)
{
	ChunkColumn *to = &chunk->columns[column];
	uint64_t bytes = gpuagg_blob_bitmap_bytes(chunk->nrows);
	uint64_t *copy = NULL;

	free(to->valid);
	free(to->stored);
	if (valid != NULL)
		copy = memcpy(aligned(bytes), valid, bytes);
	set_column(to, 1 + column / 2, values, copy, chunk->nrows);
}

void
chunk_make(Chunk *chunk, uint32_t nrows, bool masked)
{
	static uint64_t numbers = 1;

	memset(chunk, 0, sizeof(*chunk));
	chunk->nrows = nrows;
	chunk->database = 7;
	chunk->number = numbers;
	chunk->epoch = 1 + next() % 5;
	numbers += CHUNK_COLUMNS;
	for (int k = 0; k < CHUNK_COLUMNS; k++)
	{
		fill_column(&chunk->columns[k], 1 + k / 2, nrows);
		chunk->columns[k].zeros = next() % 4 == 0;
	}
	if (!masked || next() % 3 == 0)
		return;
	chunk->rows = aligned(gpuagg_blob_bitmap_bytes(nrows));
	for (uint32_t w = 0; w < gpuagg_blob_bitmap_bytes(nrows) / 8; w++)
		chunk->rows[w] = w / 5 % 3 == 0 ? 0 : next() % 2 ? UINT64_MAX : next();
}

void
chunk_forget(Chunk *chunk)
{
	for (int k = 0; k < CHUNK_COLUMNS; k++)
	{
		free(chunk->columns[k].valid);
		free(chunk->columns[k].stored);
	}
	free(chunk->rows);
}

static GpuaggBlobName
name_of(const Chunk *chunk, int column)
{
	GpuaggBlobName name = {chunk->number + (uint64_t) column, chunk->epoch};

	return name;
}

void
put_init(GpuaggRequest *request, const Lease *lease, const Chunk *chunk, int column)
{
	const ChunkColumn *from = &chunk->columns[column];
	uint64_t bytes = gpuagg_narrow_bytes(&from->form, chunk->nrows);

	request_init(request, GPUAGG_MSG_PUT);
	request->u.put.region = lease->region;
	request->u.put.device = GPUAGG_ANY_DEVICE;
	request->u.put.database = chunk->database;
	request->u.put.nrows = chunk->nrows;
	request->u.put.name = name_of(chunk, column);
	request->u.put.form = from->form;
	request->u.put.valid = bytes;
	request->u.put.nullable = from->valid != NULL;
	if (lease->base == NULL)
		return;
	memcpy(lease->base, from->stored, bytes);
	if (from->valid != NULL)
		memcpy(lease->base + bytes, from->valid, gpuagg_blob_bitmap_bytes(chunk->nrows));
}

GpuaggReason
chunk_put(int fd, const Lease *lease, const Chunk *chunk)
{
	for (int k = 0; k < CHUNK_COLUMNS; k++)
	{
		GpuaggRequest request;
		GpuaggReply reply;
		GpuaggReason reason;

		put_init(&request, lease, chunk, k);
		reason = client_call(fd, &request, &reply);
		if (reason != GPUAGG_OK)
			return reason;
	}
	return GPUAGG_OK;
}

void
drop_init(GpuaggRequest *request, const Chunk *chunk, int first, int n)
{
	request_init(request, GPUAGG_MSG_DROP);
	request->u.drop.database = chunk->database;
	request->u.drop.count = (uint32_t) n;
	for (int k = 0; k < n; k++)
		request->u.drop.names[k] = name_of(chunk, first + k);
}

int
chunk_drop(int fd, const Chunk *chunk)
{
	GpuaggRequest request;
	GpuaggReply reply;

	drop_init(&request, chunk, 0, CHUNK_COLUMNS);
	return client_call(fd, &request, &reply) == GPUAGG_OK ? (int) reply.u.drop.dropped : -1;
}

/* ---- questions ---- */

static void
question_begin(Question *question)
{
	memset(question, 0, sizeof(*question));
	question->trial = calloc(1, sizeof(Trial));
	question->query.aggregates = question->aggregates;
	question->query.parts = 1;
	no_strings = true;
}

static void
question_end(Question *question)
{
	question->query.program = question->trial->program;
	memcpy(question->types, question->trial->types, sizeof(question->types));
}

static void
add_aggregate(Question *question, int op, uint16_t value, uint16_t filter)
{
	GpuaggQueryAggregate *aggregate = &question->aggregates[question->query.naggregates++];

	aggregate->op = (uint8_t) op;
	aggregate->value = value;
	aggregate->filter = filter;
}

void
question_make(Question *question, int length)
{
	const Trial *t;

	question_begin(question);
	t = question->trial;
	make_program(question->trial, (int) (next() % 8), length);
	for (uint64_t n = 1 + next() % MAX_AGGREGATES; n > 0; n--)
	{
		uint16_t filter = next() % 3 == 0 ? any_register(t, GPUAGG_VECTOR_BOOL) : NONE;
		uint16_t value = NONE;
		int op = GPUAGG_COUNT;

		if (t->program.nregisters > 0 && next() % 8 > 0)
		{
			value = (uint16_t) (next() % t->program.nregisters);
			op = (int) (1 + next() % GPUAGG_MOMENTS);
			if (t->types[value] == GPUAGG_VECTOR_BOOL)
				op = GPUAGG_COUNT;
		}
		add_aggregate(question, op, value, filter);
	}
	question_end(question);
	if (t->program.nregisters > 0 && next() % 2)
	{
		uint16_t keys[3];
		uint32_t nkeys = 1 + (uint32_t) (next() % 3);

		for (uint32_t k = 0; k < nkeys; k++)
			keys[k] = (uint16_t) (next() % t->program.nregisters);
		question_group(question, keys, nkeys);
	}
	if (next() % 2)
		question_shift(question);
}

void
question_shift(Question *question)
{
	question->query.shifted = question->query.nkeys == 0 || question->query.window != NULL;
}

void
question_group(Question *question, const uint16_t *keys, uint32_t nkeys)
{
	uint8_t key_types[GPUAGG_QUERY_KEYS];
	uint8_t types[MAX_AGGREGATES];
	GpuaggGroupLayout layout;

	for (uint32_t k = 0; k < nkeys; k++)
	{
		question->keys[k] = keys[k];
		key_types[k] = question->types[keys[k]];
		/* -0 is no key, and the CPU's interpreter knows nothing of that */
		if (key_types[k] >= GPUAGG_VECTOR_FLOAT32)
			return;
	}
	for (uint32_t a = 0; a < question->query.naggregates; a++)
		types[a] = question->aggregates[a].value != NONE
					   ? question->types[question->aggregates[a].value]
					   : 0;
	if (!gpuagg_group_layout(&layout, key_types, nkeys, question->aggregates, types,
							 question->query.naggregates))
		return;
	question->query.keys = question->keys;
	question->query.nkeys = nkeys;
	question->query.expected = next() % 300;
}

/* Registers that have columns, and no more. */
static Trial *
load_columns(Question *question, const int *columns, uint16_t n)
{
	Trial *t;

	question_begin(question);
	t = question->trial;
	make_program(t, 0, 0);
	for (uint16_t k = 0; k < n; k++)
	{
		GpuaggVectorInstruction in = {GPUAGG_VECTOR_COLUMN};

		in.type = t->columns[columns[k]];
		in.out = k;
		in.a = in.b = in.c = in.mask = NONE;
		in.arg = (uint32_t) columns[k];
		t->instructions[k] = in;
	}
	t->program.ninstructions = t->program.nregisters = n;
	return t;
}

void
question_sums(Question *question)
{
	static const int columns[] = {4, 6, 8, 12}; /* INT32, INT64, INT128, FLOAT64 */
	Trial *t = load_columns(question, columns, 4);

	CHECK(gpuagg_vector_check(&t->program, t->types) == -1);
	for (uint16_t k = 0; k < 4; k++)
		add_aggregate(question, GPUAGG_SUM, k, NONE);
	add_aggregate(question, GPUAGG_COUNT, NONE, NONE);
	question_end(question);
}

void
question_flags(Question *question)
{
	static const int columns[] = {4, 5};
	Trial *t = load_columns(question, columns, 2);
	GpuaggVectorInstruction in = {GPUAGG_VECTOR_ADD};

	in.type = GPUAGG_VECTOR_INT32;
	in.out = 2;
	in.b = 1;
	in.c = in.mask = NONE;
	t->instructions[2] = in;
	t->program.ninstructions = t->program.nregisters = 3;
	CHECK(gpuagg_vector_check(&t->program, t->types) == -1);
	add_aggregate(question, GPUAGG_SUM, 2, NONE);
	question_end(question);
}

void
question_forget(Question *question)
{
	free(question->trial);
}

static void
put_shifts(const Chunk *chunk, uint32_t ncolumns, int32_t *shifts)
{
	memset(shifts, 0, ncolumns * sizeof(*shifts));
	for (int k = 0; k < CHUNK_COLUMNS; k++)
		shifts[k] = chunk->columns[k].shift;
}

void
query_init(GpuaggRequest *request, const Lease *lease, const Question *question,
		   const Chunk *chunks, uint32_t nchunks, GpuaggQueryPlaces *places)
{
	GpuaggQuery query = question->query;
	char *room = lease->base + QUERY_AT;
	uint64_t end;

	query.nchunks = nchunks;
	query.aggregates = question->aggregates;
	query.keys = question->keys;
	CHECK(gpuagg_query_write(&query, room, ANSWER_AT - QUERY_AT, places));
	end = places->end;
	for (uint32_t n = 0; n < nchunks; n++)
	{
		uint32_t i = nchunks % 2 ? nchunks - 1 - n : n; /* bitmaps lie in any order */
		GpuaggQueryChunk *chunk = (GpuaggQueryChunk *) (room + places->chunks) + i;
		uint64_t *numbers = (uint64_t *) (room + places->numbers) + i * query.program.ncolumns;

		memset(numbers, 0, query.program.ncolumns * sizeof(*numbers));
		for (int k = 0; k < CHUNK_COLUMNS; k++)
			numbers[k] = query.shifted && chunks[i].columns[k].zeros
							 ? 0
							 : name_of(&chunks[i], k).number;
		if (query.shifted)
			put_shifts(&chunks[i], query.program.ncolumns,
					   (int32_t *) (room + places->shifts) + i * query.program.ncolumns);
		memset(chunk, 0, sizeof(*chunk));
		chunk->epoch = chunks[i].epoch;
		chunk->nrows = chunks[i].nrows;
		chunk->masked = chunks[i].rows != NULL;
		if (chunks[i].rows == NULL)
			continue;
		chunk->rows = end;
		memcpy(room + end, chunks[i].rows, gpuagg_blob_bitmap_bytes(chunks[i].nrows));
		end += gpuagg_blob_bitmap_bytes(chunks[i].nrows);
	}
	request_init(request, GPUAGG_MSG_QUERY);
	request->u.query.region = lease->region;
	request->u.query.database = chunks[0].database;
	request->u.query.at = QUERY_AT;
	request->u.query.bytes = end;
	request->u.query.answer_at = ANSWER_AT;
	request->u.query.answer_bytes = lease->bytes - ANSWER_AT;
}

/* ---- what the CPU finds ---- */

/* Adds the value of a row; floats' order keys and sums as the device has them. */
static void
add_value(GpuaggQueryTotal *total, int op, int type, const GpuaggVector *vector, int i)
{
	GpuaggQueryTotal one;
	GpuaggReduced *r = &one.reduced;
	__int128 v = 0;
	double x = 0;

	gpuagg_query_total_init(&one);
	r->n = 1;
	switch (type)
	{
		case GPUAGG_VECTOR_INT16:
			v = ((const int16_t *) vector->values)[i];
			break;
		case GPUAGG_VECTOR_INT32:
			v = ((const int32_t *) vector->values)[i];
			break;
		case GPUAGG_VECTOR_INT64:
			v = ((const int64_t *) vector->values)[i];
			break;
		case GPUAGG_VECTOR_INT128:
			v = gpuagg_int128_wide(((const GpuaggInt128 *) vector->values)[i]);
			break;
		case GPUAGG_VECTOR_FLOAT32:
			x = ((const float *) vector->values)[i];
			v = gpuagg_order_key32(((const uint32_t *) vector->values)[i]);
			break;
		case GPUAGG_VECTOR_FLOAT64:
			x = ((const double *) vector->values)[i];
			v = gpuagg_order_key64(((const uint64_t *) vector->values)[i]);
			break;
		default:
			break;
	}
	if ((op == GPUAGG_SUM || op == GPUAGG_MOMENTS) && type >= GPUAGG_VECTOR_FLOAT32)
	{
		/* in place: merging an accumulator for each row takes long */
		total->reduced.n++;
		gpuagg_float_sum_deposit(gpuagg_float_sum_of(&total->reduced.f), x, 1);
		if (op == GPUAGG_MOMENTS)
		{
			GpuaggFloatSquaresFull squares;

			gpuagg_float_sum_init(gpuagg_float_squares_of(&squares), 0, GPUAGG_SQUARE_CHUNKS);
			gpuagg_float_squares_deposit_array(&squares, &x, 1);
			gpuagg_float_sum_propagate(gpuagg_float_squares_of(&squares));
			gpuagg_float_squares_merge_chunks(total->reduced.f_squares, squares.chunk);
		}
		return;
	}
	if (op != GPUAGG_COUNT)
	{
		r->sum = gpuagg_int128_narrow(v);
		one.high = op == GPUAGG_MIN || op == GPUAGG_MAX || v >= 0 ? 0 : -1;
	}
	if (op == GPUAGG_MOMENTS)
	{
		uint64_t square[GPUAGG_SQUARE_WORDS];

		square_words(v, square);
		memcpy(r->squares, square, sizeof(r->squares));
		memcpy(one.more_squares, square + 3, sizeof(one.more_squares));
	}
	gpuagg_query_total_merge(total, &one, op, type);
}

/* Whether a row counts for an aggregate. */
static bool
row_counts(const GpuaggVectorRunner *runner, const GpuaggQueryAggregate *aggregate, int i)
{
	const uint64_t *valid;

	if (aggregate->filter != NONE)
	{
		const GpuaggVector *filter = &runner->registers[aggregate->filter];
		uint64_t word = ((const uint64_t *) filter->values)[i / 64];

		if (filter->valid != NULL)
			word &= filter->valid[i / 64];
		if (!(word >> i % 64 & 1))
			return false;
	}
	if (aggregate->value == NONE)
		return true;
	valid = runner->registers[aggregate->value].valid;
	return valid == NULL || (valid[i / 64] >> i % 64 & 1);
}

/* The vectors of a chunk's rows from `first` on, out of its blocks. */
static void
load_vectors(const Chunk *chunk, bool shifted, uint32_t first, int n, GpuaggVector *columns)
{
	for (int k = 0; k < CHUNK_COLUMNS; k++)
	{
		const ChunkColumn *from = &chunk->columns[k];

		if (shifted && from->zeros)
			memset(columns[k].values, 0, (size_t) n * 16);
		else
			gpuagg_narrow_read(&from->form, from->stored, first, (uint32_t) n, columns[k].values,
							   0);
		if (from->valid != NULL && !(shifted && from->zeros))
			memcpy(columns[k].valid, from->valid + first / 64, (size_t) (n + 63) / 64 * 8);
		else
			memset(columns[k].valid, 0xff, GPUAGG_VECTOR_WORDS * 8);
		for (int i = 0; i < n && shifted && from->form.type == GPUAGG_VECTOR_INT32; i++)
			((uint32_t *) columns[k].values)[i] += (uint32_t) from->shift;
	}
}

/* Runs the program over a chunk and adds to totals; true: it flags a row, and nothing is added. */
static bool
run_chunk(GpuaggVectorRunner *runner, const Question *question, const Chunk *chunk,
		  GpuaggQueryTotal *totals)
{
	GpuaggQueryTotal sums[MAX_AGGREGATES];
	bool flagged = false;

	memcpy(sums, totals, sizeof(sums));
	for (uint32_t first = 0; first < chunk->nrows; first += GPUAGG_VECTOR_ROWS)
	{
		uint32_t left = chunk->nrows - first;
		int n = (int) (left < GPUAGG_VECTOR_ROWS ? left : GPUAGG_VECTOR_ROWS);

		load_vectors(chunk, question->query.shifted, first, n, runner->columns);
		gpuagg_vector_run_filter(runner, n);
		for (int w = 0; w < (n + 63) / 64 && chunk->rows != NULL; w++)
		{
			runner->live[w] &= chunk->rows[first / 64 + (uint32_t) w];
			runner->flagged[w] &= chunk->rows[first / 64 + (uint32_t) w];
		}
		gpuagg_vector_run_values(runner);
		flagged |= gpuagg_vector_count(runner->flagged) > 0;
		for (uint32_t a = 0; a < question->query.naggregates; a++)
		{
			const GpuaggQueryAggregate *aggregate = &question->aggregates[a];
			bool has_value = aggregate->value != NONE;

			for (int i = 0; i < n; i++)
				if ((runner->live[i / 64] >> i % 64 & 1) && row_counts(runner, aggregate, i))
					add_value(&sums[a], aggregate->op,
							  has_value ? question->types[aggregate->value] : 0,
							  has_value ? &runner->registers[aggregate->value] : NULL, i);
		}
	}
	if (!flagged)
		memcpy(totals, sums, sizeof(sums));
	return flagged;
}

static bool
totals_are_right(const Lease *lease, const Question *question, const GpuaggQueryTotal *totals,
				 uint32_t nchunks, const GpuaggReply *reply)
{
	uint64_t at = gpuagg_query_groups_at(nchunks);
	const uint8_t *groups = (const uint8_t *) lease->base + ANSWER_AT + at;
	GpuaggReader reader = {groups, reply->u.query.bytes - at, 0};

	for (uint32_t a = 0; a < question->query.naggregates; a++)
	{
		uint8_t expected[GPUAGG_QUERY_TOTAL_MAX_BYTES];
		uint8_t again[GPUAGG_QUERY_TOTAL_MAX_BYTES];
		const GpuaggQueryAggregate *aggregate = &question->aggregates[a];
		int type = aggregate->value != NONE ? question->types[aggregate->value] : 0;
		size_t bytes = gpuagg_query_total_write(&totals[a], aggregate->op, type, expected);
		const uint8_t *got = reader.next;
		GpuaggQueryTotal total;

		if (!gpuagg_query_total_read(&reader, aggregate->op, type, &total) ||
			gpuagg_query_total_write(&total, aggregate->op, type, again) != bytes ||
			(size_t) (reader.next - got) != bytes || memcmp(got, expected, bytes) != 0 ||
			memcmp(again, expected, bytes) != 0)
		{
			printf("aggregate %u, op %d, type %d: n %llu sum %llx, not n %llu sum %llx\n", a,
				   aggregate->op, type, (unsigned long long) total.reduced.n,
				   (unsigned long long) total.reduced.sum.lo,
				   (unsigned long long) totals[a].reduced.n,
				   (unsigned long long) totals[a].reduced.sum.lo);
			return false;
		}
	}
	return reader.left == 0;
}

/* Whether all groups together have the totals. */
static bool
groups_are_right(const Lease *lease, const Question *question, const GpuaggQueryTotal *totals,
				 uint32_t nchunks, const GpuaggReply *reply)
{
	GpuaggQueryTotal merged[MAX_AGGREGATES];
	uint64_t ngroups = 0;

	for (int a = 0; a < MAX_AGGREGATES; a++)
		gpuagg_query_total_init(&merged[a]);
	return groups_merge(lease, question, nchunks, reply, merged, &ngroups) &&
		   totals_are_equal(question, totals, merged);
}

bool
answer_is_right(const Lease *lease, const Question *question, const Chunk *chunks, uint32_t nchunks,
				const bool *stale, const GpuaggReply *reply)
{
	const GpuaggVectorProgram *program = &question->query.program;
	const uint8_t *status = (const uint8_t *) lease->base + ANSWER_AT;
	GpuaggVectorRunner *runner;
	GpuaggQueryTotal totals[MAX_AGGREGATES];
	uint32_t nstale = 0;
	uint32_t nflagged = 0;
	bool right = question->query.nkeys > 0 || reply->u.query.ngroups == 1;
	void *memory = aligned(gpuagg_vector_runner_size(program));

	runner = gpuagg_vector_runner_make(memory, program);
	for (int k = 0; k < CHUNK_COLUMNS; k++)
	{
		runner->columns[k].values = aligned(GPUAGG_VECTOR_ROWS * 16);
		runner->columns[k].valid = aligned(GPUAGG_VECTOR_WORDS * 8);
	}
	for (int a = 0; a < MAX_AGGREGATES; a++)
		gpuagg_query_total_init(&totals[a]);
	for (uint32_t i = 0; i < nchunks && right; i++)
	{
		bool is_stale = stale != NULL && stale[i];
		bool flagged = !is_stale && run_chunk(runner, question, &chunks[i], totals);

		nstale += is_stale;
		nflagged += flagged;
		right = status[i] == (is_stale	? GPUAGG_CHUNK_STALE
							  : flagged ? GPUAGG_CHUNK_FLAGGED
										: GPUAGG_CHUNK_IN);
		if (!right)
			printf("chunk %u of %u: status %d, stale %d, flagged %d\n", i, nchunks, status[i],
				   is_stale, flagged);
	}
	for (int k = 0; k < CHUNK_COLUMNS; k++)
	{
		free(runner->columns[k].values);
		free(runner->columns[k].valid);
	}
	free(memory);
	return right && reply->u.query.nstale == nstale && reply->u.query.nflagged == nflagged &&
		   (question->query.nkeys > 0 ? groups_are_right(lease, question, totals, nchunks, reply)
									  : totals_are_right(lease, question, totals, nchunks, reply));
}

bool
query_is_right(int fd, const Lease *lease, const Question *question, const Chunk *chunks,
			   uint32_t nchunks, const bool *stale)
{
	GpuaggQueryPlaces places;
	GpuaggRequest request;
	GpuaggReply reply;
	GpuaggReason reason;

	query_init(&request, lease, question, chunks, nchunks, &places);
	reason = client_call(fd, &request, &reply);
	if (reason != GPUAGG_OK)
		printf("query: %s\n", gpuagg_reason_name(reason));
	return reason == GPUAGG_OK && answer_is_right(lease, question, chunks, nchunks, stale, &reply);
}
