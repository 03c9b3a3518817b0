/*
 * scan_test.cc
 *	  gpu_scan, but for sums of floats: every row against the oracle, NULLs,
 *	  heads, carried states, batches, and scratch that many launches share.
 */
#include "running.h"
#include "scan_affine.h"

#include <string.h>

namespace
{

/* What a scan gives back. */
struct Output
{
	std::vector<unsigned char> results;
	std::vector<uint8_t> status;
	GpuScanState state;
};

struct Case
{
	int kind;
	int op;
	unsigned flags; /* EXCLUSIVE, NARROW */
	uint64_t n;
	std::vector<unsigned char> values;
	std::vector<uint64_t> validity;
	std::vector<uint64_t> heads;
	bool has_validity;
	bool has_heads;
	bool has_carry;
	GpuScanState carry;
	std::string what;

	size_t size() const
	{
		return gpuagg_kind_size(kind);
	}
	size_t result_size() const
	{
		return gpuagg_scan_result_size(kind, op, flags);
	}
};

/* How it is run, which must not change the results. */
struct Manner
{
	bool status;
	bool in_place;		 /* results over values, where the sizes agree */
	bool state_in_place; /* one state for in and out */
	int shift;			 /* of values and results from alignment, in elements */
};

/* One scratch for all launches of these tests. */
DeviceMemory *scratch;

void
make_scratch(uint64_t nrows)
{
	delete scratch;
	scratch = new DeviceMemory(gpu_scan_scratch(nrows));
	must(gpu_memset(scratch->p, 0, scratch->bytes, stream), "gpu_memset");
}

Output
run_once(const Case &c, const Manner &manner, int byte)
{
	size_t words = c.validity.size() * 8;
	bool in_place = manner.in_place && c.size() == c.result_size() && c.op != GPUAGG_COUNT;
	DeviceMemory column((c.n + (unsigned) manner.shift) * c.size() + 16);
	DeviceMemory validity(words);
	DeviceMemory heads(words);
	DeviceMemory results((c.n + (unsigned) manner.shift) * c.result_size());
	DeviceMemory status(c.n);
	DeviceMemory in(sizeof(GpuScanState));
	DeviceMemory out(sizeof(GpuScanState));
	char *values = (char *) column.p + (unsigned) manner.shift * c.size();
	char *at = in_place ? values : (char *) results.p + (unsigned) manner.shift * c.result_size();
	GpuScanState *state_out = (GpuScanState *) (manner.state_in_place && c.has_carry ? in.p
																					 : out.p);
	Output output;
	GpuScan scan = {};

	output.results.resize(c.n * c.result_size());
	output.status.resize(manner.status ? c.n : 0);
	must(gpu_memset(results.p, byte, results.bytes, stream), "gpu_memset");
	must(gpu_memset(status.p, byte, status.bytes, stream), "gpu_memset");
	must(gpu_memset(out.p, byte, out.bytes, stream), "gpu_memset");
	must(gpu_copy_in(values, c.values.data(), c.n * c.size(), stream), "gpu_copy_in");
	must(gpu_copy_in(validity.p, c.validity.data(), words, stream), "gpu_copy_in");
	must(gpu_copy_in(heads.p, c.heads.data(), words, stream), "gpu_copy_in");
	must(gpu_copy_in(in.p, &c.carry, sizeof(c.carry), stream), "gpu_copy_in");

	scan.kind = c.kind;
	scan.op = c.op;
	scan.flags = c.flags;
	scan.nrows = c.n;
	scan.values = c.op == GPUAGG_COUNT ? nullptr : values;
	scan.validity = c.has_validity ? (const uint64_t *) validity.p : nullptr;
	scan.heads = c.has_heads ? (const uint64_t *) heads.p : nullptr;
	scan.state_in = c.has_carry ? (const GpuScanState *) in.p : nullptr;
	scan.results = at;
	scan.status = manner.status ? (uint8_t *) status.p : nullptr;
	scan.state_out = state_out;
	scan.scratch = scratch->p;
	must(gpu_scan(&scan, stream), "gpu_scan");
	must(gpu_copy_out(output.results.data(), at, output.results.size(), stream), "gpu_copy_out");
	must(gpu_copy_out(output.status.data(), status.p, output.status.size(), stream),
		 "gpu_copy_out");
	must(gpu_copy_out(&output.state, state_out, sizeof(GpuScanState), stream), "gpu_copy_out");
	finish();
	return output;
}

void
check(const Case &c, const Output &output)
{
	Running running(c.kind, c.op, (c.flags & GPUAGG_SCAN_NARROW) != 0);
	bool exclusive = (c.flags & GPUAGG_SCAN_EXCLUSIVE) != 0;
	size_t size = c.result_size();
	std::vector<unsigned char> expected;
	uint64_t wrong = 0;
	uint64_t first_wrong = 0;
	bool overflows = false;

	if (c.has_carry)
		running.carry_in(c.carry.state);
	for (uint64_t i = 0; i < c.n; i++)
	{
		uint8_t status = 0;

		if (c.has_heads && bit_of(c.heads, i))
			running.reset();
		expected.clear();
		if (exclusive)
			status = running.result(&expected);
		if (!c.has_validity || bit_of(c.validity, i))
			running.add(&c.values[i * c.size()]);
		if (!exclusive)
			status = running.result(&expected);
		overflows |= status == GPUAGG_ROW_OVERFLOW;
		if ((memcmp(&output.results[i * size], expected.data(), size) != 0 ||
			 (!output.status.empty() && output.status[i] != status)) &&
			wrong++ == 0)
			first_wrong = i;
	}
	report(wrong == 0, c.what + text(": %llu rows wrong, first %llu", (unsigned long long) wrong,
									 (unsigned long long) first_wrong));
	report(running.state_is(output.state.state) && output.state.out_of_window == 0 &&
			   output.state.overflows == overflows,
		   c.what + ": state");
}

/* Runs a case in two manners, against the oracle and each other. */
Output
run_case(const Case &c, Random &random)
{
	Manner manner = {true, false, false, 0};
	Output first = run_once(c, manner, begin_pattern(0));

	check(c, first);
	for (int i = 1; i < NPATTERNS; i++)
	{
		Manner other_manner = {random.below(2) != 0, random.below(2) != 0, true,
							   (int) random.below(3)};
		Output other = run_once(c, other_manner, begin_pattern(i));

		report(first.results == other.results &&
				   (other.status.empty() || first.status == other.status) &&
				   memcmp(&first.state, &other.state, sizeof(first.state)) == 0,
			   c.what + ": two runs differ");
	}
	return first;
}

/* The column in batches of random size, chained by their states, gives the same rows. */
void
check_batches(const Case &whole, const Output &output, Random &random)
{
	Output joined;
	uint64_t done = 0;
	uint32_t overflows = 0;

	joined.state = whole.carry;
	while (done < whole.n)
	{
		Manner manner = {true, false, random.below(2) != 0, 0};
		Case part = whole;

		part.n = 1 + random.below(whole.n - done < 9000 ? whole.n - done : 9000);
		part.values.assign(&whole.values[done * whole.size()],
						   &whole.values[done * whole.size()] + part.n * whole.size());
		part.validity = cut(whole.validity, done, part.n);
		part.heads = cut(whole.heads, done, part.n);
		part.has_carry |= done > 0;
		part.carry = joined.state;

		Output one = run_once(part, manner, begin_pattern(0));

		joined.results.insert(joined.results.end(), one.results.begin(), one.results.end());
		joined.status.insert(joined.status.end(), one.status.begin(), one.status.end());
		joined.state = one.state;
		overflows |= one.state.overflows;
		done += part.n;
	}
	joined.state.overflows = overflows;
	report(joined.results == output.results && joined.status == output.status &&
			   memcmp(&joined.state, &output.state, sizeof(output.state)) == 0,
		   whole.what + ": in batches");
}

Case
make_case(int kind, int op, unsigned flags, uint64_t n, Nulls nulls, Heads heads, int carry,
		  int family, uint64_t seed)
{
	/* near the middle of the sizes of tiles */
	constexpr uint64_t TILE = 3584;
	Random random(seed * 1000003 + n * 31 + (unsigned) (nulls * 100 + heads * 10 + family));
	Case c;

	c.kind = kind;
	c.op = op;
	c.flags = flags;
	c.n = n;
	c.values = make_values(kind, family, n, random);
	c.validity = make_validity(nulls, n, random);
	c.heads = make_heads(heads, n, TILE, random);
	c.has_validity = nulls != NO_BITMAP;
	c.has_heads = heads != NO_HEADS;
	c.has_carry = carry > 0;
	c.carry = carry > 1 ? some_state(kind, op, (flags & GPUAGG_SCAN_NARROW) != 0, carry > 2, random)
						: empty_state();
	c.what = text("scan kind %d, op %d%s%s, %llu rows, nulls %d, heads %d, carry %d, family %d",
				  kind, op, flags & GPUAGG_SCAN_NARROW ? " narrow" : "",
				  flags & GPUAGG_SCAN_EXCLUSIVE ? " exclusive" : "", (unsigned long long) n, nulls,
				  heads, carry, family);
	return c;
}

struct Kernel
{
	int kind;
	int op;
	unsigned flags;
};

const Kernel kernels[] = {
	{GPUAGG_INT32, GPUAGG_SUM, 0},
	{GPUAGG_INT64, GPUAGG_SUM, 0},
	{GPUAGG_INT32, GPUAGG_SUM, GPUAGG_SCAN_NARROW},
	{GPUAGG_INT64, GPUAGG_SUM, GPUAGG_SCAN_NARROW},
	{GPUAGG_INT32, GPUAGG_MIN, 0},
	{GPUAGG_INT64, GPUAGG_MAX, 0},
	{GPUAGG_FLOAT32, GPUAGG_MAX, 0},
	{GPUAGG_FLOAT64, GPUAGG_MIN, 0},
	{GPUAGG_INT32, GPUAGG_MAX, 0},
	{GPUAGG_INT64, GPUAGG_MIN, 0},
	{GPUAGG_FLOAT32, GPUAGG_MIN, 0},
	{GPUAGG_FLOAT64, GPUAGG_MAX, 0},
	{GPUAGG_INT64, GPUAGG_COUNT, 0},
};

/* Every kernel at this size, the rest of the choices in turn. */
void
test_size(uint64_t n, int rounds, const Options &options)
{
	static unsigned turn;
	Random random(options.seed + n);

	for (int round = 0; round < rounds; round++)
		for (const Kernel &k : kernels)
		{
			/* choices change at different rates */
			unsigned flags = k.flags | (turn / 3 % 2 ? GPUAGG_SCAN_EXCLUSIVE : 0);
			Heads heads = (Heads) (turn % 5 == 0 ? 0 : turn % NHEADS);
			Nulls nulls = (Nulls) (turn % 7 < 3 ? 0 : turn % NNULLS);
			Case c = make_case(k.kind, k.op, flags, n, nulls, heads, (int) (turn / 2 % 4),
							   (int) (turn % 6), options.seed);
			Output output = run_case(c, random);

			if (n > 40 && n < 40000 && turn % 4 == 0)
				check_batches(c, output, random);
			turn++;
		}
}

/* All of kernels x exclusive x nulls x heads x carry at one size that has several tiles. */
void
test_all_choices(uint64_t n, const Options &options)
{
	Random random(options.seed);

	for (const Kernel &k : kernels)
		for (unsigned exclusive : {0u, GPUAGG_SCAN_EXCLUSIVE})
			for (int nulls = 0; nulls < NNULLS; nulls++)
				for (int heads = 0; heads < NHEADS; heads++)
				{
					Case c = make_case(k.kind, k.op, k.flags | exclusive, n, (Nulls) nulls,
									   (Heads) heads, (nulls + heads) % 4, (nulls + heads) % 6,
									   options.seed);

					run_case(c, random);
				}
}

/* Tags are used up and start again. */
void
test_wrap(const Options &options)
{
	Random random(options.seed);
	uint32_t latest = UINT32_MAX - 3;

	make_scratch(40000);
	for (int i = 0; i < 8; i++)
	{
		Case c = make_case(GPUAGG_INT64, GPUAGG_SUM, 0, i == 1 ? 40000 : 9000, NO_BITMAP, NO_HEADS,
						   2, 0, options.seed + (unsigned) i);

		/* the tag of the latest launch is the second word of the scratch (lookback.cuh) */
		if (i == 2)
		{
			must(gpu_copy_in((char *) scratch->p + 4, &latest, sizeof(latest), stream),
				 "gpu_copy_in");
			finish();
		}
		c.what += ", tags used up";
		run_case(c, random);
	}
}

void
test_refusals()
{
	DeviceMemory memory(65536);
	GpuScan scan = {};

	scan.op = GPUAGG_SUM;
	scan.nrows = 1;
	scan.values = memory.p;
	scan.results = memory.p;
	scan.scratch = scratch->p;
	report(gpu_scan(&scan, stream) == GPUAGG_REFUSED, "scan of no kind");
	scan.kind = GPUAGG_INT64;
	scan.op = GPUAGG_MOMENTS;
	report(gpu_scan(&scan, stream) == GPUAGG_REFUSED, "scan of moments");
	scan.op = GPUAGG_SUM;
	scan.nrows = GPU_MAX_ROWS + 1;
	report(gpu_scan(&scan, stream) == GPUAGG_REFUSED, "scan of too many rows");
	scan.nrows = 1;
	scan.kind = GPUAGG_FLOAT64;
	scan.window = GPUAGG_CHUNKS;
	report(gpu_scan(&scan, stream) == GPUAGG_REFUSED, "scan in no window");
}

/*
 * Maps x -> a x + b: swapped arguments of the operator, and tiles lost or repeated,
 * change the result.
 */
uint64_t
affine_after(uint64_t f, uint64_t g)
{
	uint32_t a = (uint32_t) g * (uint32_t) f;
	uint32_t b = (uint32_t) g * (uint32_t) (f >> 32) + (uint32_t) (g >> 32);

	return a | (uint64_t) b << 32;
}

void
test_affine(int shape, uint64_t n, Nulls nulls, Heads heads, bool exclusive, bool carried,
			DeviceMemory *affine_memory, const Options &options)
{
	Random random(options.seed + n * 7 + (unsigned) shape);
	bool marked = affine_marked(shape);
	bool segments = affine_segments(shape);
	std::vector<uint64_t> values(n);
	std::vector<uint64_t> validity = make_validity(nulls, n, random);
	std::vector<uint64_t> bitmap = make_heads(heads, n, 64, random);
	GpuScanState carry = empty_state();
	std::vector<uint64_t> expected;
	uint64_t state = AFFINE_IDENTITY;

	for (uint64_t &value : values)
		value = random.next() | 1;
	carry.state.sum.lo = random.next() | 1;
	carry.state.f.counts.n = 1;
	if (carried)
		state = carry.state.sum.lo;
	for (uint64_t i = 0; i < n; i++)
	{
		bool head = marked && heads != NO_HEADS && bit_of(bitmap, i);

		if (segments && head && i > 0)
			expected.push_back(state);
		if (head)
			state = AFFINE_IDENTITY;
		if (!segments && exclusive)
			expected.push_back(state);
		if (!marked || nulls == NO_BITMAP || bit_of(validity, i))
			state = affine_after(state, values[i]);
		if (!segments && !exclusive)
			expected.push_back(state);
	}
	if (segments && n > 0)
		expected.push_back(state);

	for (int pattern = 0; pattern < NPATTERNS; pattern++)
	{
		int byte = begin_pattern(pattern);
		DeviceMemory column(n * 8);
		DeviceMemory valid(validity.size() * 8);
		DeviceMemory head(bitmap.size() * 8);
		DeviceMemory results(expected.size() * 8);
		DeviceMemory in(sizeof(GpuScanState));
		DeviceMemory count(8);
		std::vector<uint64_t> got(expected.size());
		uint64_t nsegments = 0;
		GpuScanState out;
		GpuScan scan = {};

		must(gpu_memset(results.p, byte, results.bytes, stream), "gpu_memset");
		must(gpu_memset(count.p, 0, count.bytes, stream), "gpu_memset");
		must(gpu_copy_in(column.p, values.data(), column.bytes, stream), "gpu_copy_in");
		must(gpu_copy_in(valid.p, validity.data(), valid.bytes, stream), "gpu_copy_in");
		must(gpu_copy_in(head.p, bitmap.data(), head.bytes, stream), "gpu_copy_in");
		must(gpu_copy_in(in.p, &carry, sizeof(carry), stream), "gpu_copy_in");
		scan.flags = exclusive ? GPUAGG_SCAN_EXCLUSIVE : 0;
		scan.nrows = n;
		scan.values = column.p;
		scan.validity = marked && nulls != NO_BITMAP ? (const uint64_t *) valid.p : nullptr;
		scan.heads = marked && heads != NO_HEADS ? (const uint64_t *) head.p : nullptr;
		scan.state_in = carried ? (const GpuScanState *) in.p : nullptr;
		scan.results = results.p;
		scan.state_out = (GpuScanState *) in.p;
		scan.scratch = affine_memory->p;
		must(affine_scan(shape, &scan, (uint64_t *) count.p, stream), "affine_scan");
		must(gpu_copy_out(got.data(), results.p, results.bytes, stream), "gpu_copy_out");
		must(gpu_copy_out(&nsegments, count.p, 8, stream), "gpu_copy_out");
		must(gpu_copy_out(&out, in.p, sizeof(out), stream), "gpu_copy_out");
		finish();
		report(got == expected && nsegments == (segments ? expected.size() : 0) &&
				   (out.state.f.counts.n == 0 || out.state.sum.lo == state),
			   text("affine shape %d, %llu rows, nulls %d, heads %d%s%s, run %d", shape,
					(unsigned long long) n, nulls, heads, exclusive ? ", exclusive" : "",
					carried ? ", carried" : "", pattern));
	}
}

void
test_affine_shapes(const Options &options)
{
	std::vector<uint64_t> sizes = {0, 1, 63, 64, 65, 127, 128, 129, 191, 192, 193, 700, 5003};
	DeviceMemory affine_memory(affine_scratch(100000));
	unsigned turn = 0;

	must(gpu_memset(affine_memory.p, 0, affine_memory.bytes, stream), "gpu_memset");
	if (options.small)
		sizes = {65, 2003};
	else if (!options.simulated)
		sizes.insert(sizes.end(), {40000, 100000});
	for (uint64_t n : sizes)
		for (int shape = 0; shape < AFFINE_SHAPES; shape++)
			for (int heads = 0; heads < NHEADS; heads++)
			{
				test_affine(shape, n, (Nulls) (turn % NNULLS), (Heads) heads, turn / 3 % 2 != 0,
							turn / 2 % 2 != 0, &affine_memory, options);
				turn++;
			}
}

/*
 * Columns of all kernels and many sizes, repeated in random order on one scratch:
 * every result must equal the first one, which the oracle has checked, to the bit.
 */
struct Work
{
	Case c;
	DeviceMemory *column;
	DeviceMemory *validity;
	DeviceMemory *heads;
	DeviceMemory *results;
	DeviceMemory *expected;
	DeviceMemory *in;
	DeviceMemory *out;
	DeviceMemory *expected_out;
};

DeviceMemory *
copied(const void *from, size_t bytes)
{
	DeviceMemory *memory = new DeviceMemory((bytes + 7) / 8 * 8);

	must(gpu_memset(memory->p, 0, memory->bytes, stream), "gpu_memset");
	must(gpu_copy_in(memory->p, from, bytes, stream), "gpu_copy_in");
	finish();
	return memory;
}

void
scan_again(const Work &w, uint64_t *differences)
{
	GpuScan scan = {};

	scan.kind = w.c.kind;
	scan.op = w.c.op;
	scan.flags = w.c.flags;
	scan.nrows = w.c.n;
	scan.values = w.column->p;
	scan.validity = w.c.has_validity ? (const uint64_t *) w.validity->p : nullptr;
	scan.heads = w.c.has_heads ? (const uint64_t *) w.heads->p : nullptr;
	scan.state_in = w.c.has_carry ? (const GpuScanState *) w.in->p : nullptr;
	scan.results = w.results->p;
	scan.state_out = (GpuScanState *) w.out->p;
	scan.scratch = scratch->p;
	must(gpu_memset(w.results->p, 0, w.results->bytes, stream), "gpu_memset");
	must(gpu_scan(&scan, stream), "gpu_scan");
	must(count_differences((const uint64_t *) w.results->p, (const uint64_t *) w.expected->p,
						   w.results->bytes / 8, differences, stream),
		 "count_differences");
	must(count_differences((const uint64_t *) w.out->p, (const uint64_t *) w.expected_out->p,
						   sizeof(GpuScanState) / 8, differences, stream),
		 "count_differences");
}

void
test_hammer(const Options &options)
{
	const uint64_t sizes[] = {1, 1000, 4097, 30000, 100003, 1000003};
	const int launches = options.hammer ? 100000 : options.simulated ? 150 : 1000;
	Random random(options.seed);
	std::vector<Work> works;
	DeviceMemory differences(8);
	uint64_t different = 0;

	make_scratch(1000003);
	for (uint64_t n : sizes)
		for (const Kernel &k : kernels)
		{
			Work w;
			Output output;

			if (options.simulated && n > 30000)
				continue;
			/* without bitmaps and state every other time */
			w.c = make_case(k.kind, k.op, k.flags, n,
							works.size() % 2 ? NO_BITMAP : (Nulls) (works.size() % NNULLS),
							works.size() % 2 ? NO_HEADS : (Heads) (works.size() % NHEADS),
							(int) (works.size() % 3), 0, options.seed);
			output = run_case(w.c, random);
			w.column = copied(w.c.values.data(), w.c.values.size());
			w.validity = copied(w.c.validity.data(), w.c.validity.size() * 8);
			w.heads = copied(w.c.heads.data(), w.c.heads.size() * 8);
			w.results = copied(output.results.data(), output.results.size());
			w.expected = copied(output.results.data(), output.results.size());
			w.in = copied(&w.c.carry, sizeof(GpuScanState));
			w.out = copied(&output.state, sizeof(GpuScanState));
			w.expected_out = copied(&output.state, sizeof(GpuScanState));
			works.push_back(w);
		}
	must(gpu_memset(differences.p, 0, 8, stream), "gpu_memset");
	for (int i = 0; i < launches; i++)
	{
		scan_again(works[random.below(works.size())], (uint64_t *) differences.p);
		if (i % 1000 == 999)
			finish();
	}
	must(gpu_copy_out(&different, differences.p, 8, stream), "gpu_copy_out");
	finish();
	report(different == 0, text("scan: %d launches on one scratch: %llu words differ", launches,
								(unsigned long long) different));
	for (Work &w : works)
		for (DeviceMemory *memory :
			 {w.column, w.validity, w.heads, w.results, w.expected, w.in, w.out, w.expected_out})
			delete memory;
}

/* More than 2^31 rows of repeated values, whose results are known. */
void
test_many_rows()
{
	const uint64_t n = (UINT64_C(1) << 31) + 5;
	const uint64_t chunk = 1 << 24;
	std::vector<int32_t> values(chunk);
	std::vector<int32_t> results(chunk);
	DeviceMemory column(n * 4);
	DeviceMemory out(sizeof(GpuScanState));
	uint64_t wrong = 0;
	uint32_t sum = 0;
	GpuScanState state;
	GpuScan scan = {};

	for (uint64_t i = 0; i < chunk; i++)
		values[i] = (int32_t) (i * 2654435761u + 12345);
	for (uint64_t i = 0; i < n; i += chunk)
		must(gpu_copy_in((int32_t *) column.p + i, values.data(),
						 (n - i < chunk ? n - i : chunk) * 4, stream),
			 "gpu_copy_in");
	make_scratch(n);
	scan.kind = GPUAGG_INT32;
	scan.op = GPUAGG_SUM;
	scan.flags = GPUAGG_SCAN_NARROW;
	scan.nrows = n;
	scan.values = column.p;
	scan.results = column.p;
	scan.state_out = (GpuScanState *) out.p;
	scan.scratch = scratch->p;
	must(gpu_scan(&scan, stream), "gpu_scan");
	must(gpu_copy_out(&state, out.p, sizeof(state), stream), "gpu_copy_out");
	for (uint64_t i = 0; i < n; i += chunk)
	{
		uint64_t rows = n - i < chunk ? n - i : chunk;

		must(gpu_copy_out(results.data(), (int32_t *) column.p + i, rows * 4, stream),
			 "gpu_copy_out");
		finish();
		for (uint64_t k = 0; k < rows; k++)
		{
			sum += (uint32_t) values[k];
			wrong += (uint32_t) results[k] != sum;
		}
	}
	report(wrong == 0 && (uint32_t) state.state.sum.lo == sum,
		   text("scan of %llu rows: %llu wrong", (unsigned long long) n,
				(unsigned long long) wrong));
}

} // namespace

void
scan_tests(const Options &options)
{
	std::vector<uint64_t> sizes = {0,	 1,	   2,	 13,   14,	 15,   31,	 32,   33,	  63,
								   64,	 65,   447,	 448,  449,	 1000, 2559, 2560, 2561,  3583,
								   3584, 3585, 5120, 7167, 7168, 7169, 8191, 8192, 14337, 30001};

	if (options.small)
		sizes = {1, 33, 3585, 20011};
	if (!options.simulated && !options.small)
		sizes.insert(sizes.end(), {100003, 1000003, (1 << 24) + 3});

	make_scratch((1 << 24) + 3);
	test_refusals();
	for (uint64_t n : sizes)
		test_size(n, n < 1000 ? 3 : 1, options);
	test_affine_shapes(options);
	if (options.large)
		test_many_rows();
	if (!options.small)
	{
		test_size(200003, 1, options);
		test_all_choices(options.simulated ? 700 : 50021, options);
		test_wrap(options);
		test_hammer(options);
	}
	delete scratch;
	scratch = nullptr;
}
