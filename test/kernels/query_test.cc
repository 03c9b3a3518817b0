/*
 * query_test.cc
 *	  gpu_query beside the CPU's interpreter: random programs over random chunks, and every
 *	  operation over pairs of hard values in chunks of a few rows, so that flags and results
 *	  are seen nearly row by row.
 *
 * All launches share one scratch, cleared once.
 */
extern "C" {
#include "common/calendar.h"
#include "common/float_squares.h"
#include "common/narrow.h"
#include "common/query_total.h"
#include "common/reduced.h"
#include "common/vector_run.h"
}

#include "harness.h"

#include <algorithm>
#include <map>
#include <math.h>
#include <memory>
#include <stdlib.h>
#include <string.h>

#include "cuda/kernels/query_fused.h"
#include "test/unit/square_oracle.h"
#include "test/unit/vector_random.h"

namespace
{

struct Column
{
	int type;
	std::vector<uint64_t> values; /* as a vector's, for whole vectors */
	std::vector<uint64_t> valid;  /* none: no NULL */
	GpuaggNarrow form;
	std::vector<uint64_t> stored;
};

struct Chunk
{
	uint32_t nrows;
	std::vector<uint64_t> mask; /* none: all rows */
	std::vector<Column> columns;
	bool flagged; /* as the CPU says */
};

/* An aggregate over some rows, as the kernel delivers it. */
struct Total
{
	GpuQueryResult result;

	void clear()
	{
		memset(&result, 0, sizeof(result));
		result.reduced.f.width = GPUAGG_CHUNKS;
	}
};

size_t
size_of(int type)
{
	return gpuagg_vector_type_size(type);
}

/* Chunks below the top one into [0, 2^32). */
void
propagate(Total &total)
{
	GpuaggFloatSumFull &f = total.result.reduced.f;

	f.deposits = 0;
	for (int i = 0; i < GPUAGG_CHUNKS - 1; i++)
	{
		int64_t above = f.chunk[i] >> 32;

		f.chunk[i] -= above * (INT64_C(1) << 32);
		f.chunk[i + 1] += above;
	}
}

bool
is_float_type(int type)
{
	return type == GPUAGG_VECTOR_FLOAT32 || type == GPUAGG_VECTOR_FLOAT64;
}

/* How values of integers lie: any, or within so few bits of a random base. */
void
put_integer(int type, __int128 base, int bits, void *values, uint64_t i)
{
	__int128 v = bits == 0 ? any_integer(type)
						   : base + (__int128) (((unsigned __int128) next() << 64 | next()) &
												(((unsigned __int128) 1 << bits) - 1));
	GpuaggInt128 wide = gpuagg_int128_narrow(v);

	memcpy((char *) values + i * size_of(type), &wide, size_of(type));
}

bool slim; /* integers of few bits, and constants like them */
bool few;  /* and INT16 of a few values, and others seldom NULL, */
bool gaps; /* or as often as not */

Column
make_column(int type, uint32_t nrows)
{
	uint64_t room = (nrows + GPUAGG_VECTOR_ROWS - 1) / GPUAGG_VECTOR_ROWS * GPUAGG_VECTOR_ROWS;
	uint64_t nulls = next() % 4;
	int bits = next() % 3 == 0 ? 0 : (int) (1 + next() % (8 * size_of(type) + (type == 1)));
	__int128 base = any_integer(type);
	Column c;

	if (slim && type >= GPUAGG_VECTOR_INT16 && type <= GPUAGG_VECTOR_INT64)
	{
		bits = 1 + (int) (next() % (type == GPUAGG_VECTOR_INT16	  ? 7
									: type == GPUAGG_VECTOR_INT32 ? 16
									: next() % 3				  ? 16
																  : 25));
		base = (__int128) (next() % 4000) - 2000;
	}
	if (few && type == GPUAGG_VECTOR_INT16)
	{
		bits = 1 + (int) (next() % 3);
		base = (__int128) (next() % 4 ? 0 : next() % 8) - 3;
	}
	else if (few && next() % 16)
	{
		bits = next() % 8 ? bits % 10 + 1 : bits;
		nulls = gaps ? nulls : 0;
	}

	if (type == GPUAGG_VECTOR_BOOL || is_float_type(type) || bits >= 8 * (int) size_of(type))
		bits = 0;
	else
		base = std::min(base,
						greatest_integer(type) - (__int128) (((unsigned __int128) 1 << bits) - 1));
	c.type = type;
	c.values.resize(type == GPUAGG_VECTOR_BOOL ? room / 64 : room * size_of(type) / 8);
	for (uint64_t &word : c.values)
		word = next();
	for (uint64_t i = 0; i < nrows; i++)
		if (type == GPUAGG_VECTOR_FLOAT32)
			((float *) c.values.data())[i] = (float) any_float(type);
		else if (type == GPUAGG_VECTOR_FLOAT64)
			((double *) c.values.data())[i] = any_float(type);
		else if (type != GPUAGG_VECTOR_BOOL)
			put_integer(type, base, bits, c.values.data(), i);
	if (nulls > 0)
		c.valid.resize(room / 64);
	for (uint64_t &word : c.valid)
		word = nulls == 1 ? UINT64_MAX : next() | (nulls == 2 ? next() | next() | next() : 0);

	gpuagg_narrow_init(&c.form, type);
	gpuagg_narrow_add(&c.form, c.values.data(), c.valid.empty() ? nullptr : c.valid.data(), nrows);
	gpuagg_narrow_finish(&c.form);
	return c;
}

void
store_column(Column &c, uint32_t nrows)
{
	std::unique_ptr<void, void (*)(void *)>
		stored(aligned_alloc(64, gpuagg_narrow_bytes(&c.form, nrows) + 64), free);

	memset(stored.get(), 0xa5, gpuagg_narrow_bytes(&c.form, nrows) + 64);
	gpuagg_narrow_write(&c.form, stored.get(), 0, c.values.data(),
						c.valid.empty() ? nullptr : c.valid.data(), nrows);
	c.stored.resize(gpuagg_narrow_bytes(&c.form, nrows) / 8);
	if (nrows > 0)
		memcpy(c.stored.data(), stored.get(), c.stored.size() * 8);
}

Chunk
make_chunk(uint32_t nrows, bool masked)
{
	Chunk chunk;
	uint64_t kind = next() % 4;

	chunk.nrows = nrows;
	chunk.flagged = false;
	for (int k = 0; k < COLUMNS && k / 2 + 1 < GPUAGG_VECTOR_BYTES; k++)
	{
		chunk.columns.push_back(make_column(1 + k / 2, nrows));
		store_column(chunk.columns.back(), nrows);
	}
	if (!masked || kind == 0)
		return chunk;
	chunk.mask.resize((nrows + 63) / 64);
	for (size_t w = 0; w < chunk.mask.size(); w++)
		chunk.mask[w] = kind == 1 ? next() : w / 37 % 3 == 0 ? 0 : kind == 2 ? UINT64_MAX : next();
	return chunk;
}

/* Adds a row's value to what the CPU expects. */
void
add_value(Total &total, const GpuQueryAggregate &aggregate, int type, const GpuaggVector &vector,
		  int i)
{
	GpuaggReduced &r = total.result.reduced;
	__int128 v = 0;
	double x = 0;

	r.n++;
	switch (type)
	{
		case GPUAGG_VECTOR_INT16:
			v = ((int16_t *) vector.values)[i];
			break;
		case GPUAGG_VECTOR_INT32:
			v = ((int32_t *) vector.values)[i];
			break;
		case GPUAGG_VECTOR_INT64:
			v = ((int64_t *) vector.values)[i];
			break;
		case GPUAGG_VECTOR_INT128:
			v = gpuagg_int128_wide(((GpuaggInt128 *) vector.values)[i]);
			break;
		case GPUAGG_VECTOR_FLOAT32:
			x = ((float *) vector.values)[i];
			v = gpuagg_order_key32(((uint32_t *) vector.values)[i]);
			break;
		case GPUAGG_VECTOR_FLOAT64:
			x = ((double *) vector.values)[i];
			v = gpuagg_order_key64(((uint64_t *) vector.values)[i]);
			break;
	}
	if (aggregate.op == GPUAGG_COUNT)
		return;
	if (aggregate.op == GPUAGG_MIN || aggregate.op == GPUAGG_MAX)
	{
		__int128 best = gpuagg_int128_wide(r.sum);

		if (r.n == 1 || (aggregate.op == GPUAGG_MIN ? v < best : v > best))
			r.sum = gpuagg_int128_narrow(v);
		return;
	}
	if (is_float_type(type))
	{
		gpuagg_float_sum_deposit(gpuagg_float_sum_of(&r.f), x, 1);
		if (aggregate.op == GPUAGG_MOMENTS)
		{
			GpuaggFloatSquaresFull squares;

			gpuagg_float_sum_init(gpuagg_float_squares_of(&squares), 0, GPUAGG_SQUARE_CHUNKS);
			gpuagg_float_squares_deposit_array(&squares, &x, 1);
			gpuagg_float_sum_propagate(gpuagg_float_squares_of(&squares));
			gpuagg_float_squares_merge_chunks(r.f_squares, squares.chunk);
		}
		return;
	}

	uint64_t value[GPUAGG_SUM_WORDS] = {(uint64_t) v, (uint64_t) (v >> 64), v < 0 ? UINT64_MAX : 0};
	uint64_t square[GPUAGG_SQUARE_WORDS];
	uint64_t sum[GPUAGG_SUM_WORDS];
	uint64_t squares[GPUAGG_SQUARE_WORDS];

	gpuagg_query_total_words(&total.result, sum, squares);
	gpuagg_words_add(sum, value, GPUAGG_SUM_WORDS);
	square_words(v, square);
	if (aggregate.op == GPUAGG_MOMENTS)
		gpuagg_words_add(squares, square, GPUAGG_SQUARE_WORDS);
	gpuagg_query_total_set_words(&total.result, sum, squares);
}

/* Whether a row counts for an aggregate. */
bool
counts(const GpuaggVectorRunner *runner, const GpuQueryAggregate &aggregate, int i)
{
	if (aggregate.filter != NONE)
	{
		const GpuaggVector &filter = runner->registers[aggregate.filter];
		uint64_t word = ((uint64_t *) filter.values)[i / 64];

		if (filter.valid != nullptr)
			word &= filter.valid[i / 64];
		if (!(word >> i % 64 & 1))
			return false;
	}
	if (aggregate.value == NONE)
		return true;

	const uint64_t *valid = runner->registers[aggregate.value].valid;

	return valid == nullptr || (valid[i / 64] >> i % 64 & 1);
}

/* The CPU's run over a vector of a chunk. */
void
run_vector(GpuaggVectorRunner *runner, Chunk &chunk, uint64_t first)
{
	int n = (int) std::min<uint64_t>(chunk.nrows - first, GPUAGG_VECTOR_ROWS);

	for (size_t k = 0; k < chunk.columns.size(); k++)
	{
		Column &c = chunk.columns[k];

		runner->columns[k].values = (char *) c.values.data() +
									(size_of(c.type) == 0 ? first / 8 : first * size_of(c.type));
		runner->columns[k].valid = c.valid.empty() ? nullptr : c.valid.data() + first / 64;
	}
	gpuagg_vector_run_filter(runner, n);
	for (int w = 0; w < GPUAGG_VECTOR_WORDS && !chunk.mask.empty(); w++)
	{
		uint64_t mask = first / 64 + (uint64_t) w < chunk.mask.size()
							? chunk.mask[first / 64 + (uint64_t) w]
							: 0;

		runner->live[w] &= mask;
		runner->flagged[w] &= mask;
	}
	gpuagg_vector_run_values(runner);
}

/* The CPU's run over a chunk; its rows are added only if none is flagged. */
void
run_chunk(GpuaggVectorRunner *runner, const uint8_t *types, Chunk &chunk,
		  const std::vector<GpuQueryAggregate> &aggregates, std::vector<Total> &totals)
{
	std::vector<Total> sums = totals;

	chunk.flagged = false;
	for (uint64_t first = 0; first < chunk.nrows; first += GPUAGG_VECTOR_ROWS)
	{
		run_vector(runner, chunk, first);
		chunk.flagged |= gpuagg_vector_count(runner->flagged) > 0;
		for (size_t a = 0; a < aggregates.size(); a++)
			for (int i = 0; i < GPUAGG_VECTOR_ROWS; i++)
				if ((runner->live[i / 64] >> i % 64 & 1) && counts(runner, aggregates[a], i))
					add_value(sums[a], aggregates[a],
							  aggregates[a].value == NONE ? 0 : types[aggregates[a].value],
							  aggregates[a].value == NONE ? GpuaggVector{}
														  : runner->registers[aggregates[a].value],
							  i);
	}
	if (!chunk.flagged)
		totals = sums;
}

DeviceMemory &
scratch()
{
	static std::unique_ptr<DeviceMemory> memory;

	if (memory == nullptr)
	{
		memory.reset(new DeviceMemory(gpu_query_scratch()));
		must(gpu_memset(memory->p, 0, memory->bytes, stream), "gpu_memset");
	}
	return *memory;
}

/* Bytes that will lie in device memory. */
struct Image
{
	std::vector<char> bytes;

	size_t add(const void *p, size_t size)
	{
		size_t at = (bytes.size() + 63) / 64 * 64;

		bytes.resize(at + (size + 63) / 64 * 64, (char) 0xa5);
		if (size > 0)
			memcpy(&bytes[at], p, size);
		return at;
	}
};

/* The chunks as a query sees them. */
struct Device
{
	std::unique_ptr<DeviceMemory> memory;
	std::unique_ptr<DeviceMemory> flagged;
	GpuQueryShape shape;
	GpuQuery query;

	Device(const GpuQueryPlan &plan, const std::vector<Chunk> &chunks)
	{
		std::vector<GpuQueryChunk> heads(chunks.size());
		std::vector<GpuQueryBlock> blocks;
		Image image;
		size_t heads_at, blocks_at;
		char *base;

		for (size_t i = 0; i < chunks.size(); i++)
		{
			heads[i] = {};
			heads[i].nrows = chunks[i].nrows;
			if (!chunks[i].mask.empty())
				heads[i].rows =
					(uint64_t *) (1 + image.add(chunks[i].mask.data(), chunks[i].mask.size() * 8));
			for (uint32_t k = 0; k < plan.ncolumns; k++)
			{
				const Column &c = chunks[i].columns[plan.column[k]];
				GpuQueryBlock block = {};

				block.values = (char *) 1 + image.add(c.stored.data(), c.stored.size() * 8);
				if (!c.valid.empty())
					block.valid = (uint64_t *) (1 + image.add(c.valid.data(),
															  (chunks[i].nrows + 63) / 64 * 8));
				block.base = c.form.base;
				block.width = c.form.width;
				blocks.push_back(block);
			}
		}
		must(gpu_query_number(&plan, heads.data(), blocks.data(), (uint32_t) chunks.size(), &shape),
			 "gpu_query_number");
		heads_at = image.add(heads.data(), heads.size() * sizeof(GpuQueryChunk));
		blocks_at = image.add(blocks.data(), blocks.size() * sizeof(GpuQueryBlock));
		memory.reset(new DeviceMemory(image.bytes.size() + 64));
		base = (char *) (((uintptr_t) memory->p + 63) / 64 * 64);
		for (GpuQueryChunk &head : heads)
			if (head.rows != nullptr)
				head.rows = (uint64_t *) (base + ((uintptr_t) head.rows - 1));
		for (GpuQueryBlock &block : blocks)
		{
			block.values = base + ((uintptr_t) block.values - 1);
			if (block.valid != nullptr)
				block.valid = (uint64_t *) (base + ((uintptr_t) block.valid - 1));
		}
		if (!heads.empty())
			memcpy(&image.bytes[heads_at], heads.data(), heads.size() * sizeof(GpuQueryChunk));
		if (!blocks.empty())
			memcpy(&image.bytes[blocks_at], blocks.data(), blocks.size() * sizeof(GpuQueryBlock));
		must(gpu_copy_in(base, image.bytes.data(), image.bytes.size(), stream), "gpu_copy_in");
		finish();
		flagged.reset(new DeviceMemory(chunks.size() * 4 + 4));
		query = {};
		query.plan = &plan;
		query.shape = shape;
		query.nchunks = (uint32_t) chunks.size();
		query.chunks = (GpuQueryChunk *) (base + heads_at);
		query.blocks = (GpuQueryBlock *) (base + blocks_at);
		query.flagged = (uint32_t *) flagged->p;
		query.scratch = scratch().p;
	}
};

long nlaunches, nnarrow, nrefused, nflagged_chunks, nchunks_run, nrows_run;
long nothers; /* narrow ones with NULLs or extremes */
long op_uses[GPUAGG_VECTOR_OPS];

/* A query, launched again without its flagged chunks; compared with the CPU's. */
bool
agrees(const Device &device, std::vector<Chunk> &chunks,
	   const std::vector<GpuQueryAggregate> &aggregates, const std::vector<Total> &expected,
	   const GpuQueryMethod &method, int byte)
{
	DeviceMemory results(sizeof(GpuQueryResults));
	std::vector<uint32_t> flagged(chunks.size() + 1);
	GpuQuery query = device.query;
	GpuQueryResults got;
	bool right = true;
	bool any = false;

	query.results = (GpuQueryResults *) results.p;
	must(gpu_memset(device.flagged->p, 0, device.flagged->bytes, stream), "gpu_memset");
	for (int again = 0; again < 2; again++)
	{
		must(gpu_memset(results.p, byte, results.bytes, stream), "gpu_memset");
		must(gpu_query(&query, &method, stream), "gpu_query");
		must(gpu_copy_out(&got, results.p, sizeof(got), stream), "gpu_copy_out");
		must(gpu_copy_out(flagged.data(), device.flagged->p, flagged.size() * 4, stream),
			 "gpu_copy_out");
		finish();
		nlaunches++;
		any |= got.nflagged > 0;
		if (got.nflagged == 0)
			break;
	}
	for (size_t i = 0; i < chunks.size(); i++)
		if ((flagged[i] != 0) != chunks[i].flagged)
		{
			if (right)
				printf("chunk %zu of %u rows: flagged %u\n", i, chunks[i].nrows, flagged[i]);
			right = false;
		}
	if (got.nflagged != 0)
		right = false;
	for (size_t a = 0; a < aggregates.size() && right; a++)
		if (memcmp(&got.of[a], &expected[a].result, sizeof(GpuQueryResult)) != 0)
		{
			const GpuQueryResult &e = expected[a].result;
			const GpuQueryResult &g = got.of[a];

			printf("aggregate %zu, op %d: n %lu sum %lx %lx %lx, not n %lu sum %lx %lx %lx\n", a,
				   aggregates[a].op, (long) g.reduced.n, (long) g.high, (long) g.reduced.sum.hi,
				   (long) g.reduced.sum.lo, (long) e.reduced.n, (long) e.high,
				   (long) e.reduced.sum.hi, (long) e.reduced.sum.lo);
			for (size_t w = 0; w < sizeof(GpuQueryResult) / 8; w++)
				if (((const int64_t *) &g)[w] != ((const int64_t *) &e)[w])
					printf("  word %zu: %lx, not %lx\n", w, (long) ((const int64_t *) &g)[w],
						   (long) ((const int64_t *) &e)[w]);
			right = false;
		}
	return right;
}

void
print_program(const Trial &t)
{
	for (uint32_t i = 0; i < t.program.ninstructions; i++)
	{
		const GpuaggVectorInstruction *in = &t.instructions[i];

		printf("  %u: r%d = op %d, type %d, to %d, a %d, b %d, c %d, mask %d, count %d, arg %u\n",
			   i, in->out, in->op, in->type, in->to, in->a, in->b, in->c, in->mask, in->count,
			   in->arg);
	}
	printf("  filter r%u after %u\n", t.program.filter, t.program.nfilter);
}

GpuQueryMethod
any_method()
{
	static const unsigned warps[] = {0, 0, 1, 2, 4, 8};
	GpuQueryMethod method = {};

	method.blocks = next() % 2 ? 0 : (unsigned) (1 + next() % 5);
	method.warps = warps[next() % 6];
	method.stages = (unsigned) (next() % 3);
	method.plain = next() % 3 == 0;
	method.interpreted = next() % 2 == 0;
	method.broad = next() % 3 == 0;
	method.hashed = next() % 4 == 0;
	method.settle_tiles = (unsigned) (next() % 3);
	return method;
}

/* A program with these aggregates over these chunks, by the CPU and by two launches. */
void
check_program(Trial &t, std::vector<Chunk> &chunks,
			  const std::vector<GpuQueryAggregate> &aggregates, const GpuQueryMethod &method,
			  const std::string &what)
{
	GpuQueryPlan plan;
	std::vector<Total> expected(aggregates.size());

	if (gpu_query_plan(&plan, &t.program, aggregates.data(), (int) aggregates.size()) != GPUAGG_OK)
	{
		nrefused++;
		return;
	}

	std::unique_ptr<void, void (*)(void *)>
		memory(aligned_alloc(64, (gpuagg_vector_runner_size(&t.program) + 63) / 64 * 64), free);
	GpuaggVectorRunner *runner = gpuagg_vector_runner_make(memory.get(), &t.program);

	for (Total &total : expected)
		total.clear();
	for (Chunk &chunk : chunks)
	{
		run_chunk(runner, t.types, chunk, aggregates, expected);
		nchunks_run++;
		nrows_run += chunk.nrows;
		nflagged_chunks += chunk.flagged;
	}
	for (Total &total : expected)
		propagate(total);
	for (uint32_t i = 0; i < t.program.ninstructions; i++)
		op_uses[t.instructions[i].op]++;

	Device device(plan, chunks);
	FusedPlan fused;
	bool right = true;

	nnarrow += !method.interpreted && !method.broad && query_fuse(&fused, &plan) &&
			   query_is_narrow(device.query, fused);
	for (int i = 0; i < NPATTERNS && right; i++)
	{
		int byte = begin_pattern(i);

		right = agrees(device, chunks, aggregates, expected, method, byte);
		report(right,
			   text("query %s, %zu chunks, %u blocks, %u warps, %u stages, plain %d, pattern %d",
					what.c_str(), chunks.size(), method.blocks, method.warps, method.stages,
					method.plain, i));
	}
	if (!right)
		print_program(t);
}

/* Some aggregate over one of the program's registers. */
GpuQueryAggregate
any_aggregate(const Trial &t)
{
	GpuQueryAggregate aggregate = {};
	int type = 0;

	aggregate.value = NONE;
	aggregate.filter = next() % 3 == 0 ? any_register(&t, GPUAGG_VECTOR_BOOL) : NONE;
	aggregate.op = GPUAGG_COUNT;
	if (t.program.nregisters > 0 && next() % 8 > 0)
	{
		aggregate.value = (uint16_t) (next() % t.program.nregisters);
		type = t.types[aggregate.value];
		aggregate.op = (uint8_t) (1 + next() % GPUAGG_MOMENTS);
		if (type == GPUAGG_VECTOR_BOOL)
			aggregate.op = GPUAGG_COUNT;
	}
	return aggregate;
}

void
random_programs(const Options &options)
{
	static const uint32_t sizes[] = {0,	   1,	 31,   32,	 33,   63,	 127,  128,
									 129,  255,	 256,  257,	 511,  512,	 600,  1023,
									 1024, 1025, 2047, 2048, 2049, 4095, 4097, 6000};
	int programs = options.small ? 20 : options.simulated ? 250 : 2000;
	std::vector<Chunk> chunks;

	for (int k = 0; k < programs; k++)
	{
		static Trial t;
		std::vector<GpuQueryAggregate> aggregates;
		uint64_t of_trial = seed;
		int length = (int) (1 + next() % (k % 4 == 0 ? 40 : 12));

		tame = next() % 4 > 0;
		if (k % 8 == 0)
		{
			int nchunks = (int) (next() % (k % 16 == 0 ? 40 : 6));
			bool masked = next() % 2;

			chunks.clear();
			for (int i = 0; i < nchunks; i++)
				chunks.push_back(
					make_chunk(nchunks > 6 ? (uint32_t) (next() % 70) : sizes[next() % 24],
							   masked));
		}
		memset(&t, 0, sizeof(t));
		make_program(&t, (int) (next() % 8), length);
		for (int i = (int) (next() % 6); i >= 0; i--)
			aggregates.push_back(any_aggregate(t));
		check_program(t, chunks, aggregates, any_method(),
					  text("program of seed %llu", (unsigned long long) of_trial));
	}
}

/* A program that only has every column but strings in the register of its number. */
void
load_columns(Trial &t)
{
	memset(&t, 0, sizeof(t));
	t.program = {COLUMNS, 0, NONE,			 COLUMNS,	  0,		COLUMNS,
				 0,		  0, t.instructions, t.constants, t.columns};
	for (uint16_t k = 0; k < COLUMNS; k++)
	{
		t.columns[k] = (uint8_t) (1 + k / 2);
		t.instructions[k] =
			{GPUAGG_VECTOR_COLUMN, t.columns[k], 0, 0, k, NONE, NONE, NONE, NONE, 0, k};
	}
	t.program.ninstructions = t.program.nregisters = COLUMNS - 2; /* no strings */
	must((GpuaggReason) (gpuagg_vector_check(&t.program, t.types) + 1), "gpuagg_vector_check");
}

/* Sums of columns as they lie, in tiles all of whose rows count and others. */
void
column_sums(const Options &options)
{
	static const uint32_t sizes[] = {256, 257, 2048, 2304, 4000};
	static Trial t;
	std::vector<GpuQueryAggregate> aggregates;

	load_columns(t);
	for (int round = 0; round < (options.small ? 4 : options.simulated ? 40 : 300); round++)
	{
		std::vector<Chunk> chunks;
		int wide = round % 2;

		for (int i = 0; i < 4; i++)
			chunks.push_back(make_chunk(sizes[next() % 5], round % 4 == 3));
		aggregates.clear();
		for (uint16_t k = 0; k < 6; k++)
		{
			/* INT16 to INT64, or more */
			uint16_t value = (uint16_t) (2 + next() % (wide ? 12 : 6));

			aggregates.push_back({GPUAGG_SUM, {}, value, NONE});
		}
		check_program(t, chunks, aggregates, any_method(), "sums of columns");
	}
}

/* Adds an instruction; returns its register. */
uint16_t
add_instruction(Trial &t, int op, int type, uint16_t a, uint16_t b, uint32_t arg, int to = 0)
{
	uint16_t out = (uint16_t) t.program.nregisters++;

	t.instructions[t.program.ninstructions++] =
		{(uint8_t) op, (uint8_t) type, (uint8_t) to, 0, out, a, b, NONE, NONE, 0, arg};
	return out;
}

uint16_t
add_column(Trial &t, int type)
{
	return add_instruction(t, GPUAGG_VECTOR_COLUMN, type, NONE, NONE,
						   (uint32_t) (2 * (type - 1)) + (uint32_t) (next() % 2));
}

uint16_t
add_constant(Trial &t, int type)
{
	uint32_t number = t.program.nconstants++;

	make_constant(&t.constants[number], type);
	t.constants[number].isnull = 0;
	if (slim && next() % 16 && type >= GPUAGG_VECTOR_INT16 && type <= GPUAGG_VECTOR_INT64)
		t.constants[number].u.integer = gpuagg_int128_narrow(
			few ? (__int128) (next() % 200) - 50
				: (__int128) (next() % 4000) - 2000 + (__int128) (next() & next() & 65535));
	return add_instruction(t, GPUAGG_VECTOR_CONSTANT, type, NONE, NONE, number);
}

/* A comparison of a column with a constant. */
uint16_t
add_condition(Trial &t)
{
	static const int types[] = {GPUAGG_VECTOR_INT16, GPUAGG_VECTOR_INT32, GPUAGG_VECTOR_INT64,
								GPUAGG_VECTOR_FLOAT32, GPUAGG_VECTOR_FLOAT64};
	int type = types[next() % (slim ? 3 : 5)];
	uint16_t column = add_column(t, type);
	uint16_t constant = add_constant(t, type);
	int op = GPUAGG_VECTOR_EQ + (int) (next() % 12) % 6;

	if (op == GPUAGG_VECTOR_EQ && next() % 4)
		op = GPUAGG_VECTOR_LE;
	return next() % 3 ? add_instruction(t, op, GPUAGG_VECTOR_BOOL, column, constant, 0)
					  : add_instruction(t, op, GPUAGG_VECTOR_BOOL, constant, column, 0);
}

/* A factor: a column, or the sum or difference of one and a constant. */
uint16_t
add_factor(Trial &t, int type)
{
	bool widened = type == GPUAGG_VECTOR_INT64 && next() % 4 == 0;
	uint16_t factor = add_column(t, widened ? (int) GPUAGG_VECTOR_INT32 : type);
	uint16_t constant;

	if (widened)
		factor = add_instruction(t, GPUAGG_VECTOR_CAST, GPUAGG_VECTOR_INT32, factor, NONE, 0, type);
	if (next() % 2)
		return factor;
	constant = add_constant(t, type);
	return next() % 2 ? add_instruction(t, GPUAGG_VECTOR_ADD + (int) (next() % 2), type, factor,
										constant, 0)
					  : add_instruction(t, GPUAGG_VECTOR_ADD + (int) (next() % 2), type, constant,
										factor, 0);
}

/* A value times so many factors. */
uint16_t
multiply(Trial &t, int type, uint16_t value, int nfactors)
{
	for (int i = 0; i < nfactors; i++)
	{
		uint16_t factor = add_factor(t, type);

		value = next() % 2 ? add_instruction(t, GPUAGG_VECTOR_MUL, type, value, factor, 0)
						   : add_instruction(t, GPUAGG_VECTOR_MUL, type, factor, value, 0);
	}
	return value;
}

/* A program that has nothing but a filter of so many conditions. */
void
begin_shape(Trial &t, int nconditions)
{
	uint16_t filter = NONE;

	memset(&t, 0, sizeof(t));
	t.program.instructions = t.instructions;
	t.program.constants = t.constants;
	t.program.columns = t.columns;
	t.program.ncolumns = COLUMNS;
	for (int i = 0; i < COLUMNS; i++)
		t.columns[i] = (uint8_t) (1 + i / 2);
	for (int i = 0; i < nconditions; i++)
	{
		uint16_t condition = add_condition(t);

		filter = i == 0 ? condition
						: add_instruction(t, GPUAGG_VECTOR_AND, GPUAGG_VECTOR_BOOL, filter,
										  condition, 0);
	}
	t.program.filter = filter;
	t.program.nfilter = filter == NONE ? 0 : t.program.ninstructions;
}

void
finish_shape(Trial &t)
{
	for (uint32_t i = 0; i < t.program.ninstructions; i++)
		if (t.instructions[i].type == GPUAGG_VECTOR_BOOL &&
			t.instructions[i].op <= GPUAGG_VECTOR_GE)
		{
			/* of comparisons, that of what they compare */
			const GpuaggVectorInstruction &of = t.instructions[t.instructions[i].a];

			t.instructions[i].type = of.type;
		}
	must((GpuaggReason) (gpuagg_vector_check(&t.program, t.types) + 1), "gpuagg_vector_check");
}

/* Queries of the shapes that have kernels of their own, by these and step by step; narrow: of small integers. */
void
shapes(const Options &options, bool narrow)
{
	static const uint32_t sizes[] = {0,	  1,   2,	31,	 32,   33,	 127,  128,	 129,  255,	 256,
									 257, 511, 512, 513, 1023, 1025, 2047, 2049, 4095, 4096, 4097};
	static const int types[] = {GPUAGG_VECTOR_INT32, GPUAGG_VECTOR_INT64, GPUAGG_VECTOR_FLOAT32,
								GPUAGG_VECTOR_FLOAT64, GPUAGG_VECTOR_INT16};
	int programs = options.small ? 20 : options.simulated ? 300 : 2000;
	std::vector<Chunk> chunks;
	long nfused = 0;

	slim = narrow;
	nnarrow = 0;
	for (int k = 0; k < programs; k++)
	{
		static Trial t;
		int type = types[next() % (narrow ? 2 : k % 8 == 0 ? 5 : 4)];
		int nfactors = type == GPUAGG_VECTOR_INT16 ? 1 : (int) (1 + next() % 3);
		int nconditions = (int) (next() % 2 * (next() % 5));
		std::vector<GpuQueryAggregate> aggregates;
		uint64_t of_trial = seed;
		uint16_t value;
		GpuQueryMethod method = any_method();
		GpuQueryPlan plan;
		FusedPlan fused;

		tame = next() % 4 > 0;
		if (k % 10 == 0)
		{
			int nchunks = (int) (1 + next() % (k % 20 == 0 ? 40 : 6));

			chunks.clear();
			for (int i = 0; i < nchunks; i++)
				chunks.push_back(
					make_chunk(nchunks > 6 ? (uint32_t) (next() % 70) : sizes[next() % 22],
							   k % 30 == 0));
		}
		begin_shape(t, nconditions);
		value = nfactors == 1 && next() % 2 ? add_column(t, type) : add_factor(t, type);
		value = multiply(t, type, value, nfactors - 1);
		finish_shape(t);
		if (next() % 2)
			aggregates.push_back({GPUAGG_COUNT, {}, NONE, NONE});
		aggregates.push_back({GPUAGG_SUM, {}, value, NONE});
		if (next() % 2)
			aggregates.push_back({GPUAGG_COUNT, {}, NONE, NONE});
		must(gpu_query_plan(&plan, &t.program, aggregates.data(), (int) aggregates.size()),
			 "gpu_query_plan");
		nfused += query_fuse(&fused, &plan);
		check_program(t, chunks, aggregates, method,
					  text("shape of seed %llu", (unsigned long long) of_trial));
		method.interpreted = !method.interpreted;
		check_program(t, chunks, aggregates, method,
					  text("shape of seed %llu", (unsigned long long) of_trial));
	}
	/* sums of an INT16 and a constant are none */
	report(nfused >= programs * 9 / 10, text("query: %ld of %d programs fused", nfused, programs));
	report(!narrow || nnarrow > programs / 10,
		   text("query: %ld launches for narrow columns", nnarrow));
	slim = false;
}

/* An operation over two columns of a type (or the cast to `to`), in chunks of a few rows. */
void
check_operation(int op, int type, int to, int field, std::vector<Chunk> &chunks,
				const GpuaggVectorConstant *zone = nullptr)
{
	static Trial t;
	std::vector<GpuQueryAggregate> aggregates;
	uint32_t last = 2;
	int result;

	memset(&t, 0, sizeof(t));
	t.program = {3, 0, NONE,		   3,			MAX_CONSTANTS, COLUMNS,
				 0, 0, t.instructions, t.constants, t.columns};
	for (int k = 0; k < COLUMNS; k++)
		t.columns[k] = (uint8_t) (1 + k / 2);
	for (int k = 0; k < MAX_CONSTANTS; k++)
		make_constant(&t.constants[k], type);
	if (zone != nullptr)
		memcpy(t.constants, zone, sizeof(t.constants));
	for (uint16_t k = 0; k < 3; k++)
		t.instructions[k] = {GPUAGG_VECTOR_COLUMN,
							 (uint8_t) type,
							 0,
							 0,
							 k,
							 NONE,
							 NONE,
							 NONE,
							 NONE,
							 0,
							 (uint32_t) (2 * (type - 1) + k % 2)};

	GpuaggVectorInstruction &in = t.instructions[last];

	in.op = (uint8_t) op;
	in.to = (uint8_t) to;
	in.a = 0;
	in.arg = 0;
	for (int shape = 0; shape < 8; shape++)
	{
		in.b = shape & 1 ? 1 : NONE;
		in.count = zone != nullptr			? (uint16_t) (MAX_CONSTANTS - next() % 20)
				   : op == GPUAGG_VECTOR_IN ? (uint16_t) (1 + next() % 12)
											: 0;
		in.arg = op == GPUAGG_VECTOR_DECIMAL_TO_FLOAT ? (uint32_t) (next() % 25) : (uint32_t) field;
		if (gpuagg_vector_check(&t.program, t.types) == -1)
			break;
	}
	if (gpuagg_vector_check(&t.program, t.types) != -1)
		return;
	result = t.types[last];
	aggregates.push_back({GPUAGG_COUNT, {}, (uint16_t) last, NONE});
	if (result == GPUAGG_VECTOR_BOOL)
		aggregates.push_back({GPUAGG_COUNT, {}, NONE, (uint16_t) last});
	else
	{
		aggregates.push_back({GPUAGG_SUM, {}, (uint16_t) last, NONE});
		aggregates.push_back({GPUAGG_MIN, {}, (uint16_t) last, NONE});
		aggregates.push_back({GPUAGG_MAX, {}, (uint16_t) last, NONE});
	}
	check_program(t, chunks, aggregates, any_method(),
				  text("op %d, type %d, to %d, field %d", op, type, to, field));
}

void
operations(const Options &options)
{
	int rounds = options.small ? 1 : options.simulated ? 2 : 10;

	for (int round = 0; round < rounds; round++)
	{
		std::vector<Chunk> chunks;

		tame = round % 2;
		for (int i = 0; i < (options.small ? 20 : 80); i++)
			chunks.push_back(make_chunk((uint32_t) (1 + next() % 2), false));
		for (int type = GPUAGG_VECTOR_BOOL; type <= GPUAGG_VECTOR_FLOAT64; type++)
			for (int op = GPUAGG_VECTOR_EQ; op < GPUAGG_VECTOR_TIME_TRUNC; op++)
				for (int to = 0; to <= (op == GPUAGG_VECTOR_CAST ? GPUAGG_VECTOR_FLOAT64 : 0); to++)
					check_operation(op, type, to, 0, chunks);
	}
}

/* ---- groups ---- */

typedef std::pair<uint64_t, uint64_t> GroupKey;
typedef std::map<GroupKey, std::vector<Total>> Groups;

/* A row's key as records have it; false: it is none. */
bool
key_of(const GpuaggGroupLayout &layout, const GpuaggVectorRunner *runner,
	   const std::vector<uint16_t> &keys, int i, GroupKey &key)
{
	unsigned __int128 bits = 0;
	bool is_key = true;

	for (size_t k = 0; k < keys.size(); k++)
	{
		const GpuaggVector &vector = runner->registers[keys[k]];
		uint64_t value = 0;
		int type = layout.key_type[k];
		unsigned __int128 field = 1;

		if (vector.valid == nullptr || (vector.valid[i / 64] >> i % 64 & 1))
		{
			if (type == GPUAGG_VECTOR_BOOL)
				value = ((uint64_t *) vector.values)[i / 64] >> i % 64 & 1;
			else
				memcpy(&value, (char *) vector.values + (size_t) i * size_of(type), size_of(type));
			if (type == GPUAGG_VECTOR_FLOAT32 && isnan(((float *) vector.values)[i]))
				value = 0x7fc00000;
			if (type == GPUAGG_VECTOR_FLOAT64 && isnan(((double *) vector.values)[i]))
				value = UINT64_C(0x7ff8) << 48;
			is_key &= !(type == GPUAGG_VECTOR_FLOAT32 && value == 0x80000000) &&
					  !(type == GPUAGG_VECTOR_FLOAT64 && value == UINT64_C(1) << 63);
			field = (unsigned __int128) value << 1;
		}
		bits |= field << layout.key_at[k];
	}
	key.first = (uint64_t) bits << 1 | 1;
	key.second = layout.key_words > 1 ? (uint64_t) (bits >> 63) << 1 | 1 : 0;
	return is_key;
}

/* The CPU's run over a chunk into groups; only if no row is flagged. */
void
group_chunk(GpuaggVectorRunner *runner, const Trial &t, const GpuaggGroupLayout &layout,
			const std::vector<uint16_t> &keys, Chunk &chunk,
			const std::vector<GpuQueryAggregate> &aggregates, Groups &groups)
{
	Groups sums = groups;

	chunk.flagged = false;
	for (uint64_t first = 0; first < chunk.nrows; first += GPUAGG_VECTOR_ROWS)
	{
		run_vector(runner, chunk, first);
		chunk.flagged |= gpuagg_vector_count(runner->flagged) > 0;
		for (int i = 0; i < GPUAGG_VECTOR_ROWS; i++)
		{
			GroupKey key;

			if (!(runner->live[i / 64] >> i % 64 & 1))
				continue;
			chunk.flagged |= !key_of(layout, runner, keys, i, key);

			std::vector<Total> &totals = sums[key];

			if (totals.empty())
			{
				totals.resize(aggregates.size());
				for (Total &total : totals)
					total.clear();
			}
			for (size_t a = 0; a < aggregates.size(); a++)
				if (counts(runner, aggregates[a], i))
					add_value(totals[a], aggregates[a],
							  aggregates[a].value == NONE ? 0 : t.types[aggregates[a].value],
							  aggregates[a].value == NONE ? GpuaggVector{}
														  : runner->registers[aggregates[a].value],
							  i);
		}
	}
	if (!chunk.flagged)
		groups = sums;
}

/* A table on the device. */
struct Table
{
	DeviceMemory records;
	DeviceMemory counts;
	DeviceMemory far;
	DeviceMemory gathered;
	GpuQueryTable table;
	const GpuQueryPlan &plan;

	Table(const GpuQueryPlan &query, uint32_t slots, uint32_t far_room)
		: records((size_t) slots * query.groups.words * 4 + 16),
		  counts(sizeof(GpuQueryTableCounts)), far((far_room + 1) * sizeof(GpuaggGroupFar)),
		  gathered((size_t) slots * query.groups.words * 4 + 16), plan(query)
	{
		table = {};
		table.records = (uint32_t *) (((uintptr_t) records.p + 15) / 16 * 16);
		table.counts = (GpuQueryTableCounts *) counts.p;
		table.far = (GpuaggGroupFar *) far.p;
		table.slots = slots;
		table.far_room = far_room;
		table.parts = 1;
	}

	void clear()
	{
		must(gpu_memset(records.p, 0, records.bytes, stream), "gpu_memset");
		must(gpu_memset(counts.p, 0, counts.bytes, stream), "gpu_memset");
		must(gpu_memset(gathered.p, 0xa5, gathered.bytes, stream),
			 "gpu_memset"); /* all is copied */
	}

	/* Adds its groups; false: it is full, or too many values are listed apart. */
	bool read(const std::vector<GpuQueryAggregate> &aggregates, Groups &groups)
	{
		uint32_t words = plan.groups.words;
		uint32_t *to = (uint32_t *) (((uintptr_t) gathered.p + 15) / 16 * 16);
		GpuQueryTableCounts got;
		std::vector<uint32_t> all((size_t) table.slots * words);
		std::vector<GpuaggGroupFar> apart;

		GpuaggGroupPacking packing;
		uint32_t mask[GPUAGG_GROUP_MASK] = {};
		std::vector<uint32_t> record(words + 2);

		must(gpu_query_groups(&plan, &table, to, all.size(), stream), "gpu_query_groups");
		must(gpu_copy_out(&got, counts.p, sizeof(got), stream), "gpu_copy_out");
		must(gpu_copy_out(all.data(), to, all.size() * 4, stream), "gpu_copy_out");
		finish();
		report(got.nfound == got.ngroups, "query: groups are counted when they are found");
		if (got.full != 0 || got.nfar > table.far_room)
			return false;
		apart.resize(got.nfar + 1);
		must(gpu_copy_out(apart.data(), far.p, got.nfar * sizeof(GpuaggGroupFar), stream),
			 "gpu_copy_out");
		finish();
		nfar += got.nfar;
		for (uint32_t w = 0; w < GPUAGG_GROUP_WORDS; w++)
			mask[w / 32] |= (uint32_t) (got.has[w] != 0) << w % 32;
		gpuagg_group_packing(&plan.groups, &packing);
		gpuagg_group_packing_keep(&packing, mask);
		report(packing.words <= words, "query: packed records are no longer");
		for (uint64_t g = 0; g < got.ngroups; g++)
		{
			GroupKey key = {0, 0};

			gpuagg_group_unpack(&packing, &all[g * packing.words], record.data());
			memcpy(&key.first, record.data(), 8);
			if (plan.groups.key_words > 1)
				memcpy(&key.second, record.data() + 2, 8);
			std::vector<Total> &totals = groups[key];

			report(totals.empty(), "query: a group comes once");
			totals.resize(aggregates.size());
			for (size_t a = 0; a < aggregates.size(); a++)
				if (!gpuagg_group_total(&plan.groups, record.data(), (uint32_t) a,
										&totals[a].result))
					report(false, "query: a group's total is one");
		}
		for (uint32_t i = 0; i < got.nfar; i++)
		{
			Groups::iterator group = groups.find({apart[i].key[0], apart[i].key[1]});

			report(group != groups.end(), "query: a value apart has a group");
			if (group == groups.end())
				continue;

			GpuaggReduced &reduced = group->second[apart[i].aggregate].result.reduced;

			gpuagg_reduced_add_float(&reduced, apart[i].value, aggregates[apart[i].aggregate].op);
			reduced.n++;
		}
		for (auto &group : groups)
			for (Total &total : group.second)
				propagate(total);
		return true;
	}

	static long nfar;
};

long Table::nfar;
long ngroups_found;

/* Ranges of keys: all that there are, or too few, or none that is known. */
void
set_ranges(const GpuQueryPlan &plan, const Groups &groups, GpuQueryTable &table)
{
	const GpuaggGroupLayout &layout = plan.groups;

	for (uint32_t k = 0; k < layout.nkeys; k++)
	{
		int bits = 8 * (int) size_of(layout.key_type[k]);
		int64_t least = INT64_MAX;
		int64_t greatest = INT64_MIN;
		uint64_t count;

		for (const auto &group : groups)
		{
			uint64_t words[2] = {group.first.first, group.first.second};
			int isnull;
			uint64_t value = gpuagg_group_key(&layout, words, k, &isnull);

			if (bits > 0 && bits < 64) /* BOOL has none */
				value = (uint64_t) ((int64_t) (value << (64 - bits)) >> (64 - bits));
			if (isnull)
				continue;
			least = std::min(least, (int64_t) value);
			greatest = std::max(greatest, (int64_t) value);
		}
		table.range[k] = {};
		if (layout.key_type[k] == GPUAGG_VECTOR_FLOAT32 ||
			layout.key_type[k] == GPUAGG_VECTOR_FLOAT64)
			continue;
		count = least <= greatest ? (uint64_t) greatest - (uint64_t) least + 1 : 1;
		if (count == 0 || count > 100)
			count = 1 + next() % 100;
		if (next() % 4 == 0)
			least = (int64_t) ((uint64_t) least + next() % count);
		table.range[k].least = least;
		table.range[k].count = (uint32_t) count;
	}
	if (next() % 4 == 0)
		table.range[0].count = 0;
}

/* Groups by the device, in so many parts and by several launches, beside the CPU's. */
bool
groups_agree(const GpuQueryPlan &plan, std::vector<Chunk> &chunks,
			 const std::vector<GpuQueryAggregate> &aggregates, const Groups &expected,
			 const GpuQueryMethod &method, int byte)
{
	uint32_t slots = 1;
	uint32_t parts = next() % 2 ? 1 : (uint32_t) (2 + next() % 2);
	bool checked = next() % 2;
	uint32_t far_room = 0;
	FusedProducts products;
	Groups got;
	bool right = true;

	while (slots < 4 * expected.size() + 16)
		slots *= 2;

	/* every float of every row may be apart */
	for (const Chunk &chunk : chunks)
		for (uint32_t a = 0; a < plan.groups.naggregates; a++)
			far_room += plan.groups.field[a].specials != GPUAGG_GROUP_NONE ? chunk.nrows : 0;

	Table table(plan, slots, far_room);
	DeviceMemory results(sizeof(GpuQueryResults));
	Device device(plan, chunks);
	GpuQuery query = device.query;
	std::vector<uint32_t> flagged(chunks.size() + 1);

	query.results = (GpuQueryResults *) results.p;
	query.table = &table.table;
	table.table.parts = parts;
	table.table.expected = next() % 2 ? (uint32_t) expected.size() : (uint32_t) (next() % 700);
	if (next() % 2 || few)
		set_ranges(plan, expected, table.table);
	if (!method.interpreted && !method.broad && parts == 1 &&
		query_fuse_products(&products, &plan) && query_has_narrow_groups(query, products))
	{
		bool others = false;

		for (const GpuQueryAggregate &aggregate : aggregates)
			others |= aggregate.op == GPUAGG_MIN || aggregate.op == GPUAGG_MAX;
		for (uint32_t k = 0; k < plan.ncolumns; k++)
			others |= query.shape.has_null[k] != 0;
		nnarrow++;
		nothers += others;
	}
	must(gpu_memset(device.flagged->p, 0, device.flagged->bytes, stream), "gpu_memset");
	for (uint32_t part = 0; part < parts && right; part++)
	{
		GpuQueryResults launched;

		table.table.part = part;
		for (int again = 0; again < 2; again++)
		{
			must(gpu_memset(results.p, byte, results.bytes, stream), "gpu_memset");
			table.clear();
			if (checked)
			{
				table.table.check = 1;
				must(gpu_query(&query, &method, stream), "gpu_query");
				table.table.check = 0;
			}
			must(gpu_query(&query, &method, stream), "gpu_query");
			must(gpu_copy_out(&launched, results.p, sizeof(uint64_t), stream), "gpu_copy_out");
			must(gpu_copy_out(flagged.data(), device.flagged->p, flagged.size() * 4, stream),
				 "gpu_copy_out");
			finish();
			nlaunches += 1 + checked;
			if (launched.nflagged == 0)
				break;
			report(!checked, "query: flagged chunks are left out");
		}
		right = launched.nflagged == 0 && table.read(aggregates, got);
		if (!right)
			printf("part %u of %u: %lu tiles flagged\n", part, parts, (long) launched.nflagged);
	}
	for (size_t i = 0; i < chunks.size(); i++)
		if ((flagged[i] != 0) != chunks[i].flagged)
		{
			printf("chunk %zu of %u rows: flagged %u\n", i, chunks[i].nrows, flagged[i]);
			right = false;
		}
	if (right && got.size() != expected.size())
	{
		printf("%zu groups, not %zu\n", got.size(), expected.size());
		right = false;
	}
	ngroups_found += (long) got.size();
	for (const auto &group : expected)
	{
		Groups::iterator found = got.find(group.first);

		for (size_t a = 0; a < aggregates.size() && right; a++)
		{
			if (found != got.end() && memcmp(&found->second[a].result, &group.second[a].result,
											 sizeof(GpuQueryResult)) == 0)
				continue;
			printf("key %lx %lx, aggregate %zu, op %d, %s\n", (long) group.first.first,
				   (long) group.first.second, a, aggregates[a].op,
				   found == got.end() ? "not found" : "differs");
			for (size_t w = 0; w < sizeof(GpuQueryResult) / 8 && found != got.end(); w++)
				if (((const int64_t *) &found->second[a].result)[w] !=
					((const int64_t *) &group.second[a].result)[w])
					printf("  word %zu: %lx, not %lx\n", w,
						   (long) ((const int64_t *) &found->second[a].result)[w],
						   (long) ((const int64_t *) &group.second[a].result)[w]);
			right = false;
		}
	}
	return right;
}

void
check_groups(Trial &t, std::vector<Chunk> &chunks, const std::vector<GpuQueryAggregate> &aggregates,
			 const std::vector<uint16_t> &keys, const GpuQueryMethod &method,
			 const std::string &what)
{
	GpuQueryPlan plan;
	Groups expected;
	bool right = true;

	if (gpu_query_plan_groups(&plan, &t.program, aggregates.data(), (int) aggregates.size(),
							  keys.data(), (int) keys.size()) != GPUAGG_OK)
	{
		nrefused++;
		return;
	}

	std::unique_ptr<void, void (*)(void *)>
		memory(aligned_alloc(64, (gpuagg_vector_runner_size(&t.program) + 63) / 64 * 64), free);
	GpuaggVectorRunner *runner = gpuagg_vector_runner_make(memory.get(), &t.program);

	for (Chunk &chunk : chunks)
		group_chunk(runner, t, plan.groups, keys, chunk, aggregates, expected);
	for (auto &group : expected)
		for (Total &total : group.second)
			propagate(total);
	for (int i = 0; i < NPATTERNS && right; i++)
	{
		int byte = begin_pattern(i);

		right = groups_agree(plan, chunks, aggregates, expected, method, byte);
		report(right, text("query groups %s, %zu keys, %zu chunks, %u blocks, %u warps, %u stages, "
						   "plain %d, local %u of %u, pattern %d",
						   what.c_str(), keys.size(), chunks.size(), method.blocks, method.warps,
						   method.stages, method.plain, method.local, method.replicas, i));
	}
	if (!right)
		print_program(t);
}

/* Every aggregate of columns by keys of few and of many values. */
void
column_groups(const Options &options)
{
	static const uint32_t sizes[] = {1, 257, 2048, 4100};
	static Trial t;

	load_columns(t);
	for (int round = 0; round < (options.small ? 6 : options.simulated ? 60 : 400); round++)
	{
		std::vector<GpuQueryAggregate> aggregates;
		std::vector<uint16_t> keys;
		std::vector<Chunk> chunks;
		GpuQueryMethod method = any_method();

		tame = round % 3 == 0;
		for (int i = 0; i < 3; i++)
			chunks.push_back(make_chunk(sizes[next() % 4], round % 4 == 3));
		for (int i = (int) (next() % 3); i >= 0; i--)
			keys.push_back((uint16_t) (next() % (round % 2 ? 2 : t.program.nregisters)));
		for (int i = 0; i < 5; i++)
			aggregates.push_back(any_aggregate(t));
		aggregates.push_back({GPUAGG_SUM, {}, (uint16_t) (10 + next() % 4), NONE});
		method.local = round % 5 == 0 ? UINT32_MAX : round % 5 == 1 ? 2 : 0;
		method.replicas = next() % 2 ? 0 : 1u << next() % 6;
		check_groups(t, chunks, aggregates, keys, method, "of columns");
	}
}

/* Groups that have kernels of their own, by these and step by step. */
void
group_shapes(const Options &options)
{
	static const uint32_t sizes[] = {0, 1, 31, 127, 128, 129, 257, 2048, 4100};
	static const int types[] = {GPUAGG_VECTOR_INT32, GPUAGG_VECTOR_INT64, GPUAGG_VECTOR_INT16};
	int programs = options.small ? 20 : options.simulated ? 120 : 1000;
	long nfused = 0;

	for (int round = 0; round < programs; round++)
	{
		static Trial t;
		std::vector<GpuQueryAggregate> aggregates;
		std::vector<uint16_t> keys;
		std::vector<Chunk> chunks;
		GpuQueryMethod method = any_method();
		GpuQueryPlan plan;
		FusedProducts products;
		FusedGroups fused;
		uint64_t of_trial = seed;

		tame = next() % 4 > 0;
		for (int i = (int) (next() % 4); i >= 0; i--)
			chunks.push_back(make_chunk(sizes[next() % 9], round % 4 == 3));
		begin_shape(t, (int) (next() % 2 * (next() % 4)));
		keys.push_back(add_column(t, types[next() % 3]));
		for (int i = (int) (next() % 4); i >= 0; i--)
			aggregates.push_back({(uint8_t) (GPUAGG_SUM + next() % 2 * (next() % 4)),
								  {},
								  add_column(t, types[next() % 3]),
								  NONE});
		if (next() % 2)
			aggregates.push_back({GPUAGG_COUNT, {}, NONE, NONE});
		finish_shape(t);
		must(gpu_query_plan_groups(&plan, &t.program, aggregates.data(), (int) aggregates.size(),
								   keys.data(), 1),
			 "gpu_query_plan_groups");
		nfused += query_fuse_products(&products, &plan) &&
				  query_fuse_groups(&fused, products, &plan);
		method.interpreted = method.hashed = 0;
		method.replicas = next() % 2 ? 0 : 1u << next() % 6;
		check_groups(t, chunks, aggregates, keys, method,
					 text("shape of seed %llu", (unsigned long long) of_trial));
	}
	report(nfused >= programs * 9 / 10, text("query: %ld of %d groupings fused", nfused, programs));
}

/* A sum or an extreme of a column or a product, or how many values a column has. */
GpuQueryAggregate
product_aggregate(Trial &t)
{
	static const int types[] = {GPUAGG_VECTOR_INT32, GPUAGG_VECTOR_INT64, GPUAGG_VECTOR_INT64};
	int type = types[next() % 3];
	uint16_t value;

	if (next() % 8 == 0)
		return {GPUAGG_COUNT, {}, add_column(t, type), NONE};
	value = next() % 3 ? add_factor(t, type) : add_column(t, type);
	value = multiply(t, type, value, (int) (next() % 3));
	return {(uint8_t) (next() % 3 ? (int) GPUAGG_SUM : GPUAGG_MIN + (int) (next() % 2)),
			{},
			value,
			NONE};
}

/* Groups of few, by one to three keys, of sums and extremes of products in narrow columns. */
void
narrow_group_shapes(const Options &options)
{
	static const uint32_t sizes[] = {0, 1, 31, 255, 256, 257, 513, 2048, 4100};
	int programs = options.small ? 120 : options.simulated ? 250 : 2000;

	slim = few = true;
	nnarrow = nothers = 0;
	for (int round = 0; round < programs; round++)
	{
		static Trial t;
		std::vector<GpuQueryAggregate> aggregates;
		std::vector<uint16_t> keys;
		std::vector<Chunk> chunks;
		GpuQueryMethod method = any_method();
		uint64_t of_trial = seed;

		tame = true;
		gaps = round % 3 == 0;
		for (int i = (int) (next() % 4); i >= 0; i--)
			chunks.push_back(make_chunk(sizes[next() % 9], round % 4 == 3));
		begin_shape(t, (int) (next() % 2 * (next() % 4)));
		for (int i = (int) (next() % 3); i >= 0; i--)
			keys.push_back(add_column(t, next() % 8 ? GPUAGG_VECTOR_INT16 : GPUAGG_VECTOR_INT32));
		for (int i = (int) (next() % 4); i >= 0; i--)
			aggregates.push_back(product_aggregate(t));
		if (next() % 2)
			aggregates.push_back({GPUAGG_COUNT, {}, NONE, NONE});
		if (next() % 2)
		{
			/* a product that is added up, and taken up by another one */
			uint16_t value = add_instruction(t, GPUAGG_VECTOR_MUL, GPUAGG_VECTOR_INT64,
											 add_column(t, GPUAGG_VECTOR_INT64),
											 add_factor(t, GPUAGG_VECTOR_INT64), 0);

			aggregates.push_back({GPUAGG_SUM, {}, value, NONE});
			value = add_instruction(t, GPUAGG_VECTOR_MUL, GPUAGG_VECTOR_INT64, value,
									add_factor(t, GPUAGG_VECTOR_INT64), 0);
			aggregates.push_back({GPUAGG_SUM, {}, value, NONE});
		}
		finish_shape(t);
		method.interpreted = method.hashed = 0;
		check_groups(t, chunks, aggregates, keys, method,
					 text("of products, seed %llu", (unsigned long long) of_trial));
	}
	report(nnarrow >= programs / 30,
		   text("query: %ld launches for few groups of narrow columns", nnarrow));
	report(nothers >= programs / 60, text("query: %ld of them with NULLs or extremes", nothers));
	slim = few = gaps = false;
}

/*
 * The value of a type that makes sums grow most, among those that records of groups hold; or of
 * integers one whose sums grow most but for their last halves.
 */
void
put_extreme(Column &c, uint32_t nrows, bool negative, bool is_short)
{
	__int128 greatest = greatest_integer(c.type) >> (is_short ? 3 * size_of(c.type) : 0);
	GpuaggInt128 v = gpuagg_int128_narrow(negative ? -greatest - 1 : greatest);
	uint64_t bits = UINT64_C(1120) << 52 | UINT64_C(0xfffffffffffff) | (uint64_t) negative << 63;

	for (uint32_t i = 0; i < nrows; i++)
		memcpy((char *) c.values.data() + i * size_of(c.type),
			   c.type == GPUAGG_VECTOR_FLOAT64 ? (void *) &bits : (void *) &v, size_of(c.type));
	c.valid.clear();
	gpuagg_narrow_init(&c.form, c.type);
	gpuagg_narrow_add(&c.form, c.values.data(), nullptr, nrows);
	gpuagg_narrow_finish(&c.form);
	store_column(c, nrows);
}

void
put_true(Column &c, uint32_t nrows)
{
	c.values.assign(c.values.size(), UINT64_MAX);
	c.valid.clear();
	gpuagg_narrow_init(&c.form, c.type);
	gpuagg_narrow_add(&c.form, c.values.data(), nullptr, nrows);
	gpuagg_narrow_finish(&c.form);
	store_column(c, nrows);
}

/* Where values of 128 bits lie. */
enum
{
	ANYWHERE,
	BELOW,	/* they and the least of 64 bits */
	ABOVE,	/* the same of the greatest */
	RISING, /* from what 64 bits hold to what they do not */
	FALLING,
	TWISTED, /* the greater the upper half, the less the lower one */
	PLACES
};

/* A value of 128 bits near where 64 do not hold it, or with an upper half that others have. */
__int128
wide_value(int place, uint32_t row)
{
	static const __int128 one = 1;
	__int128 most = ~(one << 127);
	__int128 near = (__int128) (next() % 5) - 2;
	__int128 v;

	if (place == RISING || place == FALLING)
	{
		v = (one << 63) - 3000 + row * (row % 8 == 7 ? one << 61 : 1);
		return place == RISING ? v : -v;
	}
	if (place == TWISTED)
	{
		uint64_t upper = 1 + next() % 3;

		v = (__int128) upper << 64 | (4 - upper) << 61 | next() >> 60;
		return next() % 2 ? v : -1 - v;
	}
	switch (next() % 4)
	{
		case 0:
			v = (one << 63) + near;
			break;
		case 1:
			v = (one << 64) + near;
			break;
		case 2:
			v = most - (near < 0 ? 0 : near);
			break;
		default:
			v = (__int128) (next() % 3) << 64 | next();
	}
	v = place == BELOW || (place == ANYWHERE && next() % 2) ? -1 - v : v;
	if (place == BELOW)
		return std::min(v, (__int128) INT64_MIN);
	return place == ABOVE ? std::max(v, (__int128) INT64_MAX) : v;
}

/*
 * Extremes and squares of 128 bits, of few groups that many threads add to, and of many.  Where a
 * warp or two add to one place once, what they do at the same time decides.
 */
void
wide_extremes(const Options &options)
{
	static const uint32_t sizes[] = {1, 33, 257, 2048, 4100};
	static Trial t;

	load_columns(t);
	few = true;
	for (int round = 0; round < (options.small ? 120 : options.simulated ? 400 : 2000); round++)
	{
		std::vector<Chunk> chunks;
		GpuQueryMethod method = any_method();
		std::vector<uint16_t> keys = {(uint16_t) (round % 3)}; /* BOOL and INT16 */
		bool once = round % 8 > 0;

		tame = true;
		if (once)
			keys = {0};
		for (int i = once ? 0 : (int) (next() % 3); i >= 0; i--)
		{
			uint32_t nrows = once ? (uint32_t) (20 + next() % 60) : sizes[next() % 5];

			chunks.push_back(make_chunk(nrows, round % 4 == 3));
			if (once || next() % 2)
				put_true(chunks.back().columns[0], nrows);
			for (int k = 8; k < 10; k++)
			{
				Column &c = chunks.back().columns[k];
				GpuaggInt128 *values = (GpuaggInt128 *) c.values.data();
				int place = (int) (next() % PLACES);

				for (uint32_t row = 0; row < nrows; row++)
					values[row] = gpuagg_int128_narrow(wide_value(place, row));
				gpuagg_narrow_init(&c.form, c.type);
				gpuagg_narrow_add(&c.form, values, c.valid.empty() ? nullptr : c.valid.data(),
								  nrows);
				gpuagg_narrow_finish(&c.form);
				store_column(c, nrows);
			}
		}
		method.local = next() % 3 == 0 ? UINT32_MAX : 0;
		method.replicas = once ? 1 : next() % 2 ? 0 : 1u << next() % 6;
		check_groups(t, chunks,
					 {{GPUAGG_MIN, {}, 8, NONE},
					  {GPUAGG_MAX, {}, 8, NONE},
					  {GPUAGG_MAX, {}, 9, 1},
					  {GPUAGG_MIN, {}, 9, 1}},
					 keys, method, "of wide extremes");
		method.local = next() % 3 == 0 ? UINT32_MAX : 0;
		check_groups(t, chunks,
					 {{GPUAGG_MOMENTS, {}, 8, NONE},
					  {GPUAGG_MOMENTS, {}, 9, 1},
					  {GPUAGG_MAX, {}, 9, NONE}},
					 keys, method, "of wide squares");
		check_program(t, chunks,
					  {{GPUAGG_MOMENTS, {}, 8, NONE},
					   {GPUAGG_MOMENTS, {}, 9, 1},
					   {GPUAGG_MOMENTS, {}, 12, NONE},
					   {GPUAGG_MAX, {}, 9, NONE}},
					  any_method(), "of wide squares");
	}
	few = false;
}

/* So many rows of extremes in one block that halves of sums have to be carried, and last ones added. */
void
extreme_groups(const Options &options)
{
	static Trial t;

	load_columns(t);
	for (int round = 0; round < (options.small ? 1 : 16); round++)
	{
		uint32_t nrows = 120000;
		std::vector<GpuQueryAggregate> aggregates;
		std::vector<uint16_t> keys = {0};
		std::vector<Chunk> chunks;
		GpuQueryMethod method = {};

		chunks.push_back(make_chunk(nrows, false));
		if (round % 4 < 2)
			put_true(chunks[0].columns[0], nrows); /* one group has all rows */
		for (uint16_t k = 2; k < t.program.nregisters; k++)
		{
			Column &c = chunks[0].columns[k];

			if (c.type == GPUAGG_VECTOR_FLOAT32)
				continue;
			put_extreme(c, nrows, round % 2, round / 4 % 2);
			if (k % 2 == 0)
				aggregates.push_back({GPUAGG_SUM, {}, k, NONE});
		}
		aggregates.push_back({GPUAGG_MOMENTS, {}, 4, NONE});
		aggregates.push_back({GPUAGG_MOMENTS, {}, 6, NONE});
		aggregates.push_back({GPUAGG_MOMENTS, {}, 8, NONE});
		aggregates.push_back({GPUAGG_MOMENTS, {}, 12, NONE});
		method.blocks = 1;
		method.hashed = round / 8;
		method.replicas = 1;
		check_groups(t, chunks, aggregates, keys, method, "of extremes");

		/* with kernels of their own */
		put_true(chunks[0].columns[3], nrows);
		method.hashed = 0;
		check_groups(t, chunks,
					 {{GPUAGG_SUM, {}, 2, NONE},
					  {GPUAGG_SUM, {}, 4, NONE},
					  {GPUAGG_SUM, {}, 6, NONE}},
					 {3}, method, "of extremes");
	}
}

void
random_groups(const Options &options)
{
	static const uint32_t sizes[] = {0, 1, 31, 32, 33, 255, 256, 257, 1023, 2047, 2048, 2049, 4100};
	int programs = options.small ? 24 : options.simulated ? 200 : 1500;
	std::vector<Chunk> chunks;

	for (int k = 0; k < programs; k++)
	{
		static Trial t;
		std::vector<GpuQueryAggregate> aggregates;
		std::vector<uint16_t> keys;
		uint64_t of_trial = seed;
		GpuQueryMethod method = any_method();

		tame = next() % 4 > 0;
		if (k % 8 == 0)
		{
			chunks.clear();
			for (int i = (int) (next() % 5); i >= 0; i--)
				chunks.push_back(make_chunk(sizes[next() % 13], next() % 2));
		}
		method.local = next() % 3 == 0 ? UINT32_MAX : next() % 2 ? 0 : (unsigned) (next() % 300);
		method.replicas = next() % 2 ? 0 : 1u << next() % 6;
		memset(&t, 0, sizeof(t));
		make_program(&t, (int) (next() % 4), (int) (1 + next() % 16));
		for (int i = (int) (next() % 5); i >= 0; i--)
			aggregates.push_back(any_aggregate(t));
		for (int i = (int) (next() % 3); i >= 0 && t.program.nregisters > 0; i--)
			keys.push_back((uint16_t) (next() % t.program.nregisters));
		check_groups(t, chunks, aggregates, keys, method,
					 text("of seed %llu", (unsigned long long) of_trial));
	}
}

/* A time: near the ends of those that there are, near the begin of a year, or any. */
int64_t
any_time()
{
	static const int64_t ends[] = {CALENDAR_FIRST, CALENDAR_BEHIND, INT64_MAX,
								   INT64_MIN,	   CALENDAR_UNIX,	0};
	int64_t near = (int64_t) (next() % 3) - 1;
	int64_t year = (int64_t) (next() % 4000) - 2000;

	switch (next() % 4)
	{
		case 0:
			return (int64_t) ((uint64_t) ends[next() % 6] + (uint64_t) near);
		case 1:
			return calendar_midnight((int32_t) (year + 2000), (int32_t) (1 + next() % 12)) + near;
		case 2:
			return calendar_midnight((int32_t) (year / 100 * 100 + 1), 1) + near * CALENDAR_DAY;
		default:
			return (int64_t) (next() % UINT64_C(9435184819200000000)) + CALENDAR_FIRST;
	}
}

/* So many chunks of one row, whose INT64 are times: any, or some of a zone of MAX_CONSTANTS pieces. */
std::vector<Chunk>
make_times(int n, const GpuaggVectorConstant *zone)
{
	std::vector<Chunk> chunks;

	for (int i = 0; i < n; i++)
	{
		chunks.push_back(make_chunk(1, false));
		for (Column &c : chunks.back().columns)
			if (c.type == GPUAGG_VECTOR_INT64)
			{
				c.values[0] = (uint64_t) (zone != nullptr ? any_time_of_zone(zone, MAX_CONSTANTS)
														  : any_time());
				gpuagg_narrow_init(&c.form, c.type);
				gpuagg_narrow_add(&c.form, c.values.data(),
								  c.valid.empty() ? nullptr : c.valid.data(), 1);
				gpuagg_narrow_finish(&c.form);
				store_column(c, 1);
			}
	}
	return chunks;
}

/* Parts of times, and times of zones, in chunks of one row. */
void
times(const Options &options)
{
	for (int round = 0; round < (options.small ? 1 : options.simulated ? 2 : 20); round++)
	{
		std::vector<Chunk> chunks = make_times(60, nullptr);

		for (int op = GPUAGG_VECTOR_TIME_TRUNC; op <= GPUAGG_VECTOR_TIME_FIELD; op++)
			for (int field = GPUAGG_FIELD_MICROSECOND; field <= GPUAGG_FIELD_EPOCH; field++)
				check_operation(op, GPUAGG_VECTOR_INT64, 0, field, chunks);
		for (int k = 0; k < 10; k++)
		{
			GpuaggVectorConstant zone[MAX_CONSTANTS];

			make_zone(zone, MAX_CONSTANTS);
			chunks = make_times(30, zone);
			for (int op = GPUAGG_VECTOR_TIME_TO_LOCAL; op <= GPUAGG_VECTOR_TIME_FROM_LOCAL; op++)
				check_operation(op, GPUAGG_VECTOR_INT64, 0, 0, chunks, zone);
		}
	}
}

} // namespace

void
query_tests(const Options &options)
{
	seed = options.seed;
	no_strings = true;
	column_sums(options);
	shapes(options, false);
	shapes(options, true);
	operations(options);
	times(options);
	random_programs(options);
	column_groups(options);
	group_shapes(options);
	narrow_group_shapes(options);
	extreme_groups(options);
	wide_extremes(options);
	random_groups(options);
	printf("query: %ld groups, %ld values apart\n", ngroups_found, Table::nfar);
	printf("query: %ld launches, %ld programs refused, %ld chunks of %ld rows, %ld flagged\n",
		   nlaunches, nrefused, nchunks_run, nrows_run, nflagged_chunks);
	for (int op = GPUAGG_VECTOR_COLUMN; op < GPUAGG_VECTOR_OPS && !options.small; op++)
		if (op != GPUAGG_VECTOR_ROW && op != GPUAGG_VECTOR_LIKE)
			report(op_uses[op] > 0, text("query: operation %d is used", op));
}
