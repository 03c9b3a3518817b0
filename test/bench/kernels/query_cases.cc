/*
 * query_cases.cc
 *	  Queries over chunks in device memory, beside a plain read of the same bytes.
 */
#include "bench.h"

#include <algorithm>
#include <memory>
#include <string.h>

#include "cuda/kernels/query.h"

namespace
{

constexpr uint16_t NONE = GPUAGG_VECTOR_NONE;
constexpr uint64_t CHUNK_ROWS = 92 * 512; /* about those of 256 pages */

/* A column: random values below a bound, stored in `width` bytes; floats are ordinary. */
struct ColumnForm
{
	int type;
	uint32_t width;
	uint64_t below;
	bool nulls;
};

/* A program in the making. */
struct Builder
{
	std::vector<GpuaggVectorInstruction> instructions;
	std::vector<GpuaggVectorConstant> constants;
	std::vector<GpuQueryAggregate> aggregates;
	std::vector<ColumnForm> forms;
	std::vector<uint16_t> keys;
	uint32_t nfilter = 0;
	uint32_t filter = NONE;

	uint16_t add(int op, int type, uint16_t a, uint16_t b, uint32_t arg)
	{
		GpuaggVectorInstruction in = {};

		in.op = (uint8_t) op;
		in.type = (uint8_t) type;
		in.out = (uint16_t) instructions.size();
		in.a = a;
		in.b = b;
		in.c = in.mask = NONE;
		in.arg = arg;
		instructions.push_back(in);
		return in.out;
	}

	uint16_t column(ColumnForm form)
	{
		forms.push_back(form);
		return add(GPUAGG_VECTOR_COLUMN, form.type, NONE, NONE, (uint32_t) forms.size() - 1);
	}

	uint16_t constant(int type, int64_t value)
	{
		GpuaggVectorConstant c = {};

		c.type = (uint8_t) type;
		c.u.integer = gpuagg_int128_from(value);
		constants.push_back(c);
		return add(GPUAGG_VECTOR_CONSTANT, type, NONE, NONE, (uint32_t) constants.size() - 1);
	}

	uint16_t compare(int op, int type, uint16_t a, int64_t value)
	{
		uint16_t b = constant(type, value);

		return add(op, type, a, b, 0);
	}

	uint16_t both(uint16_t a, uint16_t b)
	{
		return add(GPUAGG_VECTOR_AND, GPUAGG_VECTOR_BOOL, a, b, 0);
	}

	void where(uint16_t condition)
	{
		filter = condition;
		nfilter = (uint32_t) instructions.size();
	}

	void aggregate(int op, uint16_t value)
	{
		GpuQueryAggregate aggregate = {};

		aggregate.op = (uint8_t) op;
		aggregate.value = value;
		aggregate.filter = NONE;
		aggregates.push_back(aggregate);
	}
};

struct QueryCase
{
	const char *what;
	const char *variant;
	double share; /* of R, at least */
	bool masked;
	void (*build)(Builder &b);
	bool stepwise;	 /* by the interpreter */
	uint32_t groups; /* that there are; 0: no keys */
	bool by_hash;	 /* the keys' range is not known */
};

uint64_t
bitmap_bytes(uint64_t n)
{
	return (n + 511) / 512 * 64;
}

/* A set's buffers as chunks and blocks, in device memory. */
struct Place
{
	std::unique_ptr<DeviceMemory> memory;
	GpuQuery query;
};

Place
make_place(const GpuQueryPlan &plan, const Builder &b, const std::vector<uint64_t> &offsets,
		   const Sets &sets, int set, uint64_t *bits, bool masked, DeviceMemory &results,
		   DeviceMemory &scratch)
{
	uint64_t nchunks = (sets.rows + CHUNK_ROWS - 1) / CHUNK_ROWS;
	std::vector<GpuQueryChunk> chunks(nchunks);
	std::vector<GpuQueryBlock> blocks;
	size_t head = nchunks * sizeof(GpuQueryChunk);
	Place place;
	char *at;

	for (uint64_t i = 0; i < nchunks; i++)
	{
		uint64_t first = i * CHUNK_ROWS;

		chunks[i] = {};
		chunks[i].nrows = (uint32_t) std::min<uint64_t>(sets.rows - first, CHUNK_ROWS);
		chunks[i].rows = masked ? bits + first / 64 : nullptr;
		for (uint32_t k = 0; k < plan.ncolumns; k++)
		{
			uint32_t number = plan.column[k];
			GpuQueryBlock block = {};

			block.values = (char *) sets.values(set) + offsets[number] +
						   first * b.forms[number].width;
			block.valid = b.forms[number].nulls ? bits + first / 64 : nullptr;
			block.width = b.forms[number].width;
			blocks.push_back(block);
		}
	}
	place.query = {};
	must(gpu_query_number(&plan, chunks.data(), blocks.data(), (uint32_t) nchunks,
						  &place.query.shape),
		 "gpu_query_number");
	place.memory.reset(
		new DeviceMemory(head + blocks.size() * sizeof(GpuQueryBlock) + nchunks * 4 + 64, true));
	at = (char *) place.memory->p;
	must(gpu_copy_in(at, chunks.data(), head, stream), "gpu_copy_in");
	if (!blocks.empty())
		must(gpu_copy_in(at + head, blocks.data(), blocks.size() * sizeof(GpuQueryBlock), stream),
			 "gpu_copy_in");
	finish();
	place.query.plan = &plan;
	place.query.nchunks = (uint32_t) nchunks;
	place.query.chunks = (GpuQueryChunk *) at;
	place.query.blocks = (GpuQueryBlock *) (at + head);
	place.query.flagged = (uint32_t *) (at + head + blocks.size() * sizeof(GpuQueryBlock));
	place.query.results = (GpuQueryResults *) results.p;
	place.query.scratch = scratch.p;
	return place;
}

/* The table of a query with groups; it is not cleared between launches, which add to it. */
struct Groups
{
	std::unique_ptr<DeviceMemory> memory;
	std::unique_ptr<DeviceMemory> gathered;
	GpuQueryTable table = {};

	Groups(const GpuQueryPlan &plan, uint32_t groups)
	{
		uint64_t bytes;

		table.slots = 4096;
		while (table.slots < 2 * (uint64_t) groups)
			table.slots *= 2;
		bytes = (uint64_t) table.slots * plan.groups.words * 4;
		memory.reset(new DeviceMemory(bytes + sizeof(GpuQueryTableCounts), true));
		gathered.reset(new DeviceMemory(bytes + 16));
		table.records = (uint32_t *) memory->p;
		table.counts = (GpuQueryTableCounts *) ((char *) memory->p + bytes);
		table.parts = 1;
		table.expected = groups;
	}

	/* How many groups it has; UINT64_MAX: it is full. */
	uint64_t count(const GpuQueryPlan &plan)
	{
		GpuQueryTableCounts counts;

		must(gpu_query_groups(&plan, &table, (uint32_t *) gathered->p,
							  (uint64_t) table.slots * plan.groups.words, stream),
			 "gpu_query_groups");
		must(gpu_copy_out(&counts, table.counts, sizeof(counts), stream), "gpu_copy_out");
		finish();
		return counts.full != 0 || counts.nfar > 0 ? UINT64_MAX : counts.ngroups;
	}
};

GpuQueryResults
run_once(const GpuQuery &query, const GpuQueryMethod *method)
{
	GpuQueryResults results;

	must(gpu_memset(query.results, 0, sizeof(results), stream), "gpu_memset");
	must(gpu_query(&query, method, stream), "gpu_query");
	must(gpu_copy_out(&results, query.results, sizeof(results), stream), "gpu_copy_out");
	finish();
	return results;
}

void
run_query(const QueryCase &c, uint64_t n)
{
	Builder b;
	GpuaggVectorProgram program = {};
	std::vector<uint8_t> columns;
	std::vector<uint64_t> offsets;
	uint64_t row_bytes = 0;
	uint64_t nbitmaps = c.masked;
	GpuQueryPlan plan;
	GpuQueryMethod method = {};
	GpuQueryMethod other = {};
	Result result = {};

	c.build(b);
	if (c.groups > 0)
		b.forms[b.keys[0]].below = c.groups;
	for (const ColumnForm &form : b.forms)
	{
		columns.push_back((uint8_t) form.type);
		offsets.push_back(row_bytes * n);
		row_bytes += form.width;
		nbitmaps += form.nulls;
	}
	program.ninstructions = (uint32_t) b.instructions.size();
	program.nfilter = b.nfilter;
	program.filter = b.filter;
	program.nregisters = program.ninstructions;
	program.nconstants = (uint32_t) b.constants.size();
	program.ncolumns = (uint32_t) columns.size();
	program.instructions = b.instructions.data();
	program.constants = b.constants.data();
	program.columns = columns.data();
	must(gpu_query_plan_groups(&plan, &program, b.aggregates.data(), (int) b.aggregates.size(),
							   b.keys.data(), (int) b.keys.size()),
		 "gpu_query_plan_groups");

	Sets sets(n, row_bytes, 0);
	DeviceMemory bits(bitmap_bytes(n) + 64);
	DeviceMemory results(sizeof(GpuQueryResults), true);
	DeviceMemory scratch(gpu_query_scratch(), true);
	std::vector<Place> places;
	std::unique_ptr<Groups> groups(c.groups > 0 ? new Groups(plan, c.groups) : nullptr);

	if (groups != nullptr)
		groups->table.range[0] = {0, c.by_hash ? 0 : c.groups};
	fill_bits(bitmap_bytes(n) * 8, 1, (uint64_t *) bits.p);
	for (int set = 0; set < sets.count; set++)
	{
		for (size_t k = 0; k < b.forms.size(); k++)
		{
			const ColumnForm &form = b.forms[k];
			char *values = (char *) sets.values(set) + offsets[k];
			uint64_t seed = 1000003 * (uint64_t) set + 7919 * k;

			if (form.type == GPUAGG_VECTOR_FLOAT64)
				fill_values(GPUAGG_FLOAT64, ORDINARY, n, seed, values);
			else if (form.type == GPUAGG_VECTOR_FLOAT32)
				fill_values(GPUAGG_FLOAT32, ORDINARY, n, seed, values);
			else
				fill_below(form.width, form.below, n, seed, values);
		}
		places.push_back(make_place(plan, b, offsets, sets, set, (uint64_t *) bits.p, c.masked,
									results, scratch));
		places.back().query.table = groups != nullptr ? &groups->table : nullptr;
	}
	finish();

	result.part = "query";
	result.what = c.what;
	result.variant = c.variant;
	result.rows = n;
	result.bytes = n * row_bytes + nbitmaps * n / 8;
	result.bandwidth = 'R';
	result.share = n >= UINT64_C(1) << 26 ? c.share : 0;
	method.interpreted = c.stepwise;
	result.ours = measure(sets, [&](int set) {
		must(gpu_query(&places[(size_t) set].query, &method, stream), "gpu_query");
	});
	result.bandwidth_run = measure_read(sets);
	result.bandwidth_run.graph *= (double) result.bytes / (double) sets.bytes();

	/* the same by another way; exactness is the kernel tests' matter */
	GpuQueryResults ours = run_once(places[0].query, &method);

	other.warps = 4;
	other.plain = 1;
	other.interpreted = 1;

	GpuQueryResults again = run_once(places[0].query, &other);

	result.right = ours.nflagged == 0 &&
				   (groups != nullptr ? groups->count(plan) == c.groups
									  : ours.of[0].reduced.n > 0) &&
				   memcmp(&ours, &again, sizeof(ours)) == 0;
	report(result);
}

constexpr int INT32 = GPUAGG_VECTOR_INT32;
constexpr int INT64 = GPUAGG_VECTOR_INT64;
constexpr int INT128 = GPUAGG_VECTOR_INT128;
constexpr int FLOAT32 = GPUAGG_VECTOR_FLOAT32;
constexpr int FLOAT64 = GPUAGG_VECTOR_FLOAT64;

template <int TYPE, int WIDTH, int OP, bool NULLS>
void
one_column(Builder &b)
{
	uint64_t below = WIDTH == 8 ? UINT64_MAX : WIDTH == 16 ? 0 : UINT64_C(1) << 8 * (WIDTH % 8);

	b.aggregate(OP, b.column({TYPE, WIDTH, below, NULLS}));
}

template <int TYPE, int WIDTH>
void
sum_where(Builder &b)
{
	uint16_t key = b.column({INT32, 4, 10000, false});
	uint16_t condition = b.compare(GPUAGG_VECTOR_LT, INT32, key, 3000);

	b.where(condition);
	b.aggregate(GPUAGG_SUM, b.column({TYPE, WIDTH, UINT64_C(1) << 40, false}));
}

template <int WIDTH>
void
sum_product(Builder &b)
{
	uint16_t p = b.column({INT64, WIDTH, UINT64_C(1) << 20, false});
	uint16_t d = b.column({INT64, WIDTH, UINT64_C(1) << 12, false});

	b.aggregate(GPUAGG_SUM, b.add(GPUAGG_VECTOR_MUL, INT64, p, d, 0));
}

/* sum(p * d) where date in [a, b) and d between 5 and 7 and q < 24 */
template <bool NARROW>
void
revenue(Builder &b)
{
	uint16_t date = b.column({INT32, NARROW ? 2u : 4u, 2557, false});
	uint16_t d = b.column({INT64, NARROW ? 1u : 8u, 11, false});
	uint16_t q = b.column({INT64, NARROW ? 1u : 8u, 50, false});
	uint16_t p = b.column({INT64, NARROW ? 4u : 8u, 10000000, false});
	uint16_t all = b.compare(GPUAGG_VECTOR_GE, INT32, date, 730);

	all = b.both(all, b.compare(GPUAGG_VECTOR_LT, INT32, date, 1095));
	all = b.both(all, b.compare(GPUAGG_VECTOR_GE, INT64, d, 5));
	all = b.both(all, b.compare(GPUAGG_VECTOR_LE, INT64, d, 7));
	all = b.both(all, b.compare(GPUAGG_VECTOR_LT, INT64, q, 24));
	b.where(all);
	b.aggregate(GPUAGG_SUM, b.add(GPUAGG_VECTOR_MUL, INT64, p, d, 0));
}

/* sum(p * (100 - d) * (100 + t)) */
template <bool NARROW>
void
charge(Builder &b)
{
	uint16_t p = b.column({INT64, NARROW ? 4u : 8u, 10000000, false});
	uint16_t d = b.column({INT64, NARROW ? 1u : 8u, 11, false});
	uint16_t t = b.column({INT64, NARROW ? 1u : 8u, 9, false});
	uint16_t hundred = b.constant(INT64, 100);
	uint16_t less = b.add(GPUAGG_VECTOR_SUB, INT64, hundred, d, 0);
	uint16_t price = b.add(GPUAGG_VECTOR_MUL, INT64, p, less, 0);
	uint16_t more = b.add(GPUAGG_VECTOR_ADD, INT64, hundred, t, 0);

	b.aggregate(GPUAGG_SUM, b.add(GPUAGG_VECTOR_MUL, INT64, price, more, 0));
}

/* The aggregates of a pricing summary, without its groups. */
template <bool NULLS>
void
summary(Builder &b)
{
	uint16_t date = b.column({INT32, 2, 2557, false});
	uint16_t q, p, d, t, hundred, less, price, more, total;

	b.where(b.compare(GPUAGG_VECTOR_LE, INT32, date, 2430));
	q = b.column({INT64, 1, 50, NULLS});
	p = b.column({INT64, 4, 10000000, NULLS});
	d = b.column({INT64, 1, 11, NULLS});
	t = b.column({INT64, 1, 9, NULLS});
	hundred = b.constant(INT64, 100);
	less = b.add(GPUAGG_VECTOR_SUB, INT64, hundred, d, 0);
	price = b.add(GPUAGG_VECTOR_MUL, INT64, p, less, 0);
	more = b.add(GPUAGG_VECTOR_ADD, INT64, hundred, t, 0);
	total = b.add(GPUAGG_VECTOR_MUL, INT64, price, more, 0);
	for (uint16_t value : {q, p, price, total, d})
		b.aggregate(GPUAGG_SUM, value);
	b.aggregate(GPUAGG_COUNT, NONE);
}

template <bool NULLS>
void
summary_by_key(Builder &b)
{
	b.keys.push_back(b.column({INT32, 1, 0, false}));
	summary<NULLS>(b);
}

/* Sums and both extremes of two columns by a key. */
template <bool NULLS, int KEY_WIDTH>
void
ends_by_key(Builder &b)
{
	b.keys.push_back(b.column({INT32, KEY_WIDTH, 0, false}));
	for (ColumnForm form :
		 {ColumnForm{INT64, 4, 10000000, NULLS}, ColumnForm{INT32, 2, 2557, NULLS}})
	{
		uint16_t value = b.column(form);

		for (int op : {GPUAGG_SUM, GPUAGG_MIN, GPUAGG_MAX})
			b.aggregate(op, value);
	}
	b.aggregate(GPUAGG_COUNT, NONE);
}

void
wide_product(Builder &b)
{
	uint16_t p = b.column({INT64, 8, UINT64_MAX, false});
	uint16_t d = b.column({INT64, 8, UINT64_MAX, false});

	b.aggregate(GPUAGG_SUM, b.add(GPUAGG_VECTOR_MUL_WIDE, INT64, p, d, 0));
}

/* Two sums and a count by a key. */
template <int TYPE, int WIDTH>
void
by_key(Builder &b)
{
	b.keys.push_back(b.column({INT32, 4, 0, false}));
	b.aggregate(GPUAGG_SUM, b.column({INT64, 8, UINT64_C(1) << 40, false}));
	b.aggregate(GPUAGG_SUM, b.column({TYPE, WIDTH, UINT64_C(1) << 20, false}));
	b.aggregate(GPUAGG_COUNT, NONE);
}

/* Both extremes by a key: of 16 bytes nearly all are beyond 64 bits, of 8 half of those of INT128. */
template <int TYPE, int WIDTH>
void
extremes_by_key(Builder &b)
{
	uint64_t below = WIDTH == 4 ? UINT64_C(1) << 32 : WIDTH == 8 ? UINT64_MAX : 0;
	uint16_t value;

	b.keys.push_back(b.column({INT32, 4, 0, false}));
	value = b.column({TYPE, WIDTH, below, false});
	b.aggregate(GPUAGG_MIN, value);
	b.aggregate(GPUAGG_MAX, value);
}

template <int TYPE, int WIDTH>
void
moments_by_key(Builder &b)
{
	b.keys.push_back(b.column({INT32, 4, 0, false}));
	b.aggregate(GPUAGG_MOMENTS, b.column({TYPE, WIDTH, WIDTH == 16 ? 0 : UINT64_MAX, false}));
}

/* Shares of R are the project's targets where there are any. */
const QueryCase cases[] = {
	{"sum(int64)", "8 bytes", 0.95, false, one_column<INT64, 8, GPUAGG_SUM, false>},
	{"sum(int64)", "4 bytes", 0.95, false, one_column<INT64, 4, GPUAGG_SUM, false>},
	{"sum(int64)", "2 bytes", 0, false, one_column<INT64, 2, GPUAGG_SUM, false>},
	{"sum(int64)", "1 byte", 0, false, one_column<INT64, 1, GPUAGG_SUM, false>},
	{"sum(int64)", "8 bytes, NULLs", 0, false, one_column<INT64, 8, GPUAGG_SUM, true>},
	{"sum(int64)", "8 bytes, masked", 0, true, one_column<INT64, 8, GPUAGG_SUM, false>},
	{"sum(int32)", "4 bytes", 0.95, false, one_column<INT32, 4, GPUAGG_SUM, false>},
	{"sum(int128)", "16 bytes", 0, false, one_column<INT128, 16, GPUAGG_SUM, false>},
	{"sum(int128)", "8 bytes", 0, false, one_column<INT128, 8, GPUAGG_SUM, false>},
	{"sum(float64)", "ordinary", 0.95, false, one_column<FLOAT64, 8, GPUAGG_SUM, false>},
	{"sum(float64)", "ordinary, NULLs", 0, false, one_column<FLOAT64, 8, GPUAGG_SUM, true>},
	{"sum(float32)", "ordinary", 0, false, one_column<FLOAT32, 4, GPUAGG_SUM, false>},
	{"moments(int64)", "8 bytes", 0, false, one_column<INT64, 8, GPUAGG_MOMENTS, false>},
	{"moments(int128)", "8 bytes", 0, false, one_column<INT128, 8, GPUAGG_MOMENTS, false>},
	{"moments(int128)", "16 bytes", 0, false, one_column<INT128, 16, GPUAGG_MOMENTS, false>},
	{"max(int64)", "8 bytes", 0, false, one_column<INT64, 8, GPUAGG_MAX, false>},
	{"min(float64)", "ordinary", 0, false, one_column<FLOAT64, 8, GPUAGG_MIN, false>},
	{"sum(int64) where int32 < c", "8 + 4 bytes", 0.85, false, sum_where<INT64, 8>},
	{"sum(float64) where int32 < c", "8 + 4 bytes", 0.85, false, sum_where<FLOAT64, 8>},
	{"sum(p * d)", "8 + 8 bytes", 0.85, false, sum_product<8>},
	{"sum(p * d)", "4 + 4 bytes", 0, false, sum_product<4>},
	{"sum(p * d) wide", "8 + 8 bytes", 0, false, wide_product},
	{"sum(p * d) where five comparisons", "28 bytes", 0.85, false, revenue<false>},
	{"sum(p * d) where five comparisons", "8 bytes", 0, false, revenue<true>},
	{"sum(p * (100 - d) * (100 + t))", "24 bytes", 0.80, false, charge<false>},
	{"sum(p * (100 - d) * (100 + t))", "6 bytes", 0, false, charge<true>},
	{"five sums and a count", "9 bytes", 0, false, summary<false>},
	{"five sums and a count by 6 keys", "10 bytes", 0, false, summary_by_key<false>, false, 6},
	{"five sums and a count by 6 keys", "10 bytes, steps", 0, false, summary_by_key<false>, true,
	 6},
	{"five sums and a count by 6 keys", "10 bytes, NULLs", 0, false, summary_by_key<true>, false,
	 6},
	{"five sums and a count by 6 keys", "10 bytes, NULLs, steps", 0, false, summary_by_key<true>,
	 true, 6},
	{"two sums and four extremes by 6 keys", "7 bytes", 0, false, ends_by_key<false, 1>, false, 6},
	{"two sums and four extremes by 6 keys", "7 bytes, steps", 0, false, ends_by_key<false, 1>,
	 true, 6},
	{"two sums and four extremes by 6 keys", "7 bytes, NULLs", 0, false, ends_by_key<true, 1>,
	 false, 6},
	{"two sums and four extremes by 6 keys", "7 bytes, NULLs, steps", 0, false,
	 ends_by_key<true, 1>, true, 6},
	{"two sums and four extremes by 1,000 keys", "10 bytes", 0, false, ends_by_key<false, 4>, false,
	 1000},
	{"two sums and four extremes by 1,000 keys", "10 bytes, steps", 0, false, ends_by_key<false, 4>,
	 true, 1000},
	{"two sums by 4 keys", "int64, int64", 0, false, by_key<INT64, 4>, false, 4},
	{"two sums by 16 keys", "int64, int64", 0, false, by_key<INT64, 4>, false, 16},
	{"two sums by 1,000 keys", "int64, int64", 0, false, by_key<INT64, 4>, false, 1000},
	{"two sums by 1,000 keys", "int64, float64", 0, false, by_key<FLOAT64, 8>, false, 1000},
	{"two sums by 1,000 keys", "int64, int64, hashed", 0, false, by_key<INT64, 4>, false, 1000,
	 true},
	{"two sums by 1,000 keys", "int64, float64, hashed", 0, false, by_key<FLOAT64, 8>, false, 1000,
	 true},
	{"two sums by 4,000 keys", "int64, int64", 0, false, by_key<INT64, 4>, false, 4000},
	{"two sums by 100,000 keys", "int64, int64", 0, false, by_key<INT64, 4>, false, 100000},
	{"two sums by 1,000,000 keys", "int64, int64", 0, false, by_key<INT64, 4>, false, 1000000},
	{"two sums by 1,000,000 keys", "int64, float64", 0, false, by_key<FLOAT64, 8>, false, 1000000},
	{"moments by 4 keys", "int64, 8 bytes", 0, false, moments_by_key<INT64, 8>, false, 4},
	{"moments by 4 keys", "int128, 16 bytes", 0, false, moments_by_key<INT128, 16>, false, 4},
	{"moments by 1,000 keys", "int64, 8 bytes", 0, false, moments_by_key<INT64, 8>, false, 1000},
	{"moments by 1,000 keys", "int128, 16 bytes", 0, false, moments_by_key<INT128, 16>, false,
	 1000},
	{"extremes by 4 keys", "int64, 8 bytes", 0, false, extremes_by_key<INT64, 8>, false, 4},
	{"extremes by 4 keys", "int128, 4 bytes", 0, false, extremes_by_key<INT128, 4>, false, 4},
	{"extremes by 4 keys", "int128, 8 bytes", 0, false, extremes_by_key<INT128, 8>, false, 4},
	{"extremes by 4 keys", "int128, 16 bytes", 0, false, extremes_by_key<INT128, 16>, false, 4},
	{"extremes by 1,000 keys", "int64, 8 bytes", 0, false, extremes_by_key<INT64, 8>, false, 1000},
	{"extremes by 1,000 keys", "int128, 4 bytes", 0, false, extremes_by_key<INT128, 4>, false,
	 1000},
	{"extremes by 1,000 keys", "int128, 8 bytes", 0, false, extremes_by_key<INT128, 8>, false,
	 1000},
	{"extremes by 1,000 keys", "int128, 16 bytes", 0, false, extremes_by_key<INT128, 16>, false,
	 1000},
	{"extremes by 1,000,000 keys", "int64, 8 bytes", 0, false, extremes_by_key<INT64, 8>, false,
	 1000000},
	{"extremes by 1,000,000 keys", "int128, 4 bytes", 0, false, extremes_by_key<INT128, 4>, false,
	 1000000},
	{"extremes by 1,000,000 keys", "int128, 8 bytes", 0, false, extremes_by_key<INT128, 8>, false,
	 1000000},
	{"extremes by 1,000,000 keys", "int128, 16 bytes", 0, false, extremes_by_key<INT128, 16>, false,
	 1000000},
	{"sum(int64) where int32 < c", "8 + 4 bytes, steps", 0.85, false, sum_where<INT64, 8>, true},
	{"sum(float64) where int32 < c", "8 + 4 bytes, steps", 0, false, sum_where<FLOAT64, 8>, true},
	{"sum(p * d)", "8 + 8 bytes, steps", 0.85, false, sum_product<8>, true},
	{"sum(p * d) where five comparisons", "28 bytes, steps", 0.85, false, revenue<false>, true},
	{"sum(p * d) where five comparisons", "8 bytes, steps", 0, false, revenue<true>, true},
	{"sum(p * (100 - d) * (100 + t))", "24 bytes, steps", 0.80, false, charge<false>, true},
	{"sum(p * (100 - d) * (100 + t))", "6 bytes, steps", 0, false, charge<true>, true},
};

} // namespace

void
query_cases(const Options &options)
{
	for (const QueryCase &c : cases)
		if (strstr(c.what, options.only) != nullptr)
			run_query(c, options.largest);
	for (uint64_t n : {UINT64_C(1) << 16, UINT64_C(1) << 20, UINT64_C(1) << 24, UINT64_C(60000000),
					   UINT64_C(200000000)})
		for (const QueryCase &c : cases)
			if (n < options.largest && strstr(c.what, options.only) != nullptr &&
				(&c == &cases[0] || c.build == one_column<FLOAT64, 8, GPUAGG_SUM, false> ||
				 c.build == revenue<false>) )
				run_query(c, n);
}
