/*
 * float_case.cc
 *	  Running gpu_scan and gpu_segmented_reduce of floats, and judging them.
 */
#include "float_case.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define PAD 64 /* bytes after outputs, which must not change */

/* kernels under test: every tile goes the wide way */
extern bool gpu_scan_float_wide;

namespace float_case
{

bool
bit(const Bitmap &bitmap, uint64_t i, bool otherwise)
{
	return bitmap.empty() ? otherwise : bitmap[i / 64] >> (i % 64) & 1;
}

void
set_bit(Bitmap &bitmap, uint64_t i)
{
	bitmap[i / 64] |= UINT64_C(1) << (i % 64);
}

GpuScanState
empty_state()
{
	GpuScanState s;

	memset(&s, 0, sizeof(s));
	s.state.f.width = GPUAGG_CHUNKS;
	return s;
}

/* Values up to each row, or before it, those of the carry among them. */
static std::vector<int64_t>
counts_of(const Case &c)
{
	std::vector<int64_t> counts;
	int64_t n = c.has_carry ? c.carry.state.f.counts.n : 0;

	for (uint64_t i = 0; i < c.values.size(); i++)
	{
		bool valid = bit(c.validity, i, true);

		if (bit(c.heads, i, false))
			n = 0;
		counts.push_back(c.exclusive ? n : n + valid);
		n += valid;
	}
	return counts;
}

static Output
run_once(const Case &c, int byte, bool in_place)
{
	size_t size = gpuagg_kind_size(c.kind);
	uint64_t n = c.values.size();
	size_t words = (n + 63) / 64;
	size_t shift = (size_t) c.offset * size;
	DeviceMemory column(shift + n * size + PAD);
	DeviceMemory validity(words * 8 + 8);
	DeviceMemory heads(words * 8 + 8);
	DeviceMemory separate(shift + n * size + PAD);
	DeviceMemory status(n + PAD);
	DeviceMemory counts(n * 8 + 8);
	DeviceMemory in(sizeof(GpuScanState));
	DeviceMemory out(sizeof(GpuScanState));
	DeviceMemory scratch(gpu_scan_scratch(n));
	DeviceMemory &results = in_place ? column : separate;
	GpuScanState *state_out = (GpuScanState *) (in_place ? in.p : out.p);
	std::vector<float> narrow(c.values.begin(), c.values.end());
	std::vector<unsigned char> all(shift + n * size + PAD);
	Output output;
	bool kept = true;

	output.status.resize(n + PAD);
	must(gpu_memset(column.p, byte, column.bytes, stream), "gpu_memset");
	must(gpu_memset(separate.p, byte, separate.bytes, stream), "gpu_memset");
	must(gpu_memset(status.p, byte, status.bytes, stream), "gpu_memset");
	must(gpu_memset(out.p, byte, out.bytes, stream), "gpu_memset");
	must(gpu_memset(scratch.p, 0, scratch.bytes, stream), "gpu_memset");
	if (n > 0)
		must(gpu_copy_in((char *) column.p + shift,
						 size == 4 ? (const void *) narrow.data() : c.values.data(), n * size,
						 stream),
			 "gpu_copy_in");
	if (!c.validity.empty())
		must(gpu_copy_in(validity.p, c.validity.data(), words * 8, stream), "gpu_copy_in");
	if (!c.heads.empty())
		must(gpu_copy_in(heads.p, c.heads.data(), words * 8, stream), "gpu_copy_in");
	must(gpu_copy_in(in.p, &c.carry, sizeof(c.carry), stream), "gpu_copy_in");
	if (c.averages && n > 0)
		must(gpu_copy_in(counts.p, counts_of(c).data(), n * 8, stream), "gpu_copy_in");

	GpuScan scan = {};

	scan.kind = c.kind;
	scan.op = GPUAGG_SUM;
	scan.flags = c.exclusive ? GPUAGG_SCAN_EXCLUSIVE : 0;
	scan.window = c.window;
	scan.nrows = n;
	scan.values = (char *) column.p + shift;
	scan.validity = c.validity.empty() ? nullptr : (const uint64_t *) validity.p;
	scan.heads = c.heads.empty() ? nullptr : (const uint64_t *) heads.p;
	scan.state_in = c.has_carry ? (const GpuScanState *) in.p : nullptr;
	scan.counts = c.averages ? (const int64_t *) counts.p : nullptr;
	scan.results = (char *) results.p + shift;
	scan.status = c.want_status ? (uint8_t *) status.p : nullptr;
	scan.state_out = state_out;
	scan.scratch = scratch.p;
	must(gpu_scan(&scan, stream), "gpu_scan");
	must(gpu_copy_out(all.data(), results.p, all.size(), stream), "gpu_copy_out");
	must(gpu_copy_out(output.status.data(), status.p, n + PAD, stream), "gpu_copy_out");
	must(gpu_copy_out(&output.state, state_out, sizeof(GpuScanState), stream), "gpu_copy_out");
	finish();

	for (size_t i = 0; i < PAD; i++)
		kept = kept && all[shift + n * size + i] == byte && output.status[n + i] == byte;
	for (size_t i = 0; i < shift; i++)
		kept = kept && all[i] == byte;
	for (size_t i = 0; i < n && !c.want_status; i++)
		kept = kept && output.status[i] == byte;
	report(kept, c.what + ": wrote where it must not");
	output.results.assign(all.begin() + (ptrdiff_t) shift, all.end() - PAD);
	output.status.resize(c.want_status ? n : 0);
	return output;
}

Output
run_scan(const Case &c)
{
	Output first = run_once(c, begin_pattern(0), false);
	Output again = run_once(c, begin_pattern(1), true);

	report(first == again, c.what + ": two runs differ");
	gpu_scan_float_wide = true;
	again = run_once(c, begin_pattern(0), false);
	gpu_scan_float_wide = false;
	report(first == again || first.state.out_of_window, c.what + ": the wide way differs");
	return first;
}

static Oracle
carried_oracle(const GpuScanState &carry)
{
	const GpuaggFloatSumFull &f = carry.state.f;
	Oracle oracle;

	oracle_clear(&oracle);
	oracle.n = f.counts.n;
	oracle.n_nan = f.counts.n_nan;
	oracle.n_pinf = f.counts.n_pinf;
	oracle.n_ninf = f.counts.n_ninf;
	oracle.n_negzero = f.counts.n_negzero;

	/* these chunks are below 2^32, but for the top one */
	for (int i = 0; i < GPUAGG_CHUNKS; i++)
		oracle.sum.word[i] = (uint32_t) f.chunk[i];
	for (int i = GPUAGG_CHUNKS; i < BIG_WORDS; i++)
		oracle.sum.word[i] = (uint32_t) (f.chunk[GPUAGG_CHUNKS - 1] >>
										 (i == GPUAGG_CHUNKS ? 32 : 63));
	return oracle;
}

GpuScanState
state_of(const Oracle &oracle)
{
	GpuScanState s = empty_state();
	GpuaggFloatSumFull &f = s.state.f;

	f.counts.n = oracle.n;
	f.counts.n_nan = oracle.n_nan;
	f.counts.n_pinf = oracle.n_pinf;
	f.counts.n_ninf = oracle.n_ninf;
	f.counts.n_negzero = oracle.n_negzero;
	for (int i = 0; i < GPUAGG_CHUNKS; i++)
		f.chunk[i] = (int64_t) oracle.sum.word[i];
	f.chunk[GPUAGG_CHUNKS - 1] |= (int64_t) ((uint64_t) oracle.sum.word[GPUAGG_CHUNKS] << 32);
	return s;
}

/* The same chunks; counts agree on being above 0. */
static bool
states_agree(const GpuScanState &a, const GpuScanState &b)
{
	const GpuaggFloatCounts &p = a.state.f.counts;
	const GpuaggFloatCounts &q = b.state.f.counts;

	return (p.n > 0) == (q.n > 0) && (p.n_nan > 0) == (q.n_nan > 0) &&
		   (p.n_pinf > 0) == (q.n_pinf > 0) && (p.n_ninf > 0) == (q.n_ninf > 0) &&
		   (p.n > p.n_negzero) == (q.n > q.n_negzero) && a.state.f.base == b.state.f.base &&
		   a.state.f.width == b.state.f.width && a.state.f.deposits == b.state.f.deposits &&
		   memcmp(a.state.f.chunk, b.state.f.chunk, sizeof(a.state.f.chunk)) == 0;
}

static bool
in_window(int window, int lowest, int highest)
{
	return lowest >= 32 * window && highest < 32 * window + GPUAGG_SUM256_VALUE_BITS;
}

static bool
value_in_window(int window, double x)
{
	int lowest;
	int highest;

	if (!isfinite(x) || x == 0)
		return true;
	double_extent(x, &lowest, &highest);
	return in_window(window, lowest, highest);
}

static bool
carry_in_window(int window, const Oracle &carried)
{
	int lowest;
	int highest;

	if (big_is_zero(&carried.sum))
		return true;
	big_extent(&carried.sum, &lowest, &highest);
	return in_window(window, lowest, highest);
}

int
choose_window(const Case &c)
{
	Oracle carried = carried_oracle(c.carry);
	int lowest = INT_MAX;
	int low;
	int high;

	if (c.has_carry && !big_is_zero(&carried.sum))
		big_extent(&carried.sum, &lowest, &high);
	for (uint64_t i = 0; i < c.values.size(); i++)
		if (bit(c.validity, i, true) && isfinite(c.values[i]) && c.values[i] != 0)
		{
			double_extent(c.values[i], &low, &high);
			if (low < lowest)
				lowest = low;
		}
	return lowest == INT_MAX ? 0 : lowest / 32;
}

/* The result of the rows so far as bytes; its status. */
static int
expected_row(const Case &c, const Oracle &oracle, unsigned char *result)
{
	bool overflow = false;

	if (c.kind == GPUAGG_FLOAT64)
	{
		uint64_t bits = c.averages ? oracle_average(&oracle) : oracle_result(&oracle, &overflow);

		memcpy(result, &bits, sizeof(bits));
	}
	else
	{
		uint32_t bits = oracle_result_float(&oracle, &overflow);

		memcpy(result, &bits, sizeof(bits));
	}
	return oracle.n == 0 ? GPUAGG_ROW_NULL : overflow ? GPUAGG_ROW_OVERFLOW : GPUAGG_ROW_VALUE;
}

void
check(const Case &c, const Output &output)
{
	size_t size = gpuagg_kind_size(c.kind);
	uint64_t n = c.values.size();
	Oracle oracle = carried_oracle(c.has_carry ? c.carry : empty_state());
	/* a head on row 0 cuts the carry off */
	bool fits = bit(c.heads, 0, false) || carry_in_window(c.window, oracle);
	bool overflows = false;
	uint64_t wrong = 0;
	uint64_t first_wrong = 0;

	for (uint64_t i = 0; i < n && fits; i++)
		fits = !bit(c.validity, i, true) || value_in_window(c.window, c.values[i]);
	report(output.state.out_of_window == !fits, c.what + ": out_of_window");
	if (!fits)
		return;

	for (uint64_t i = 0; i < n; i++)
	{
		bool valid = bit(c.validity, i, true);
		unsigned char result[8];
		int status;

		if (bit(c.heads, i, false))
			oracle_clear(&oracle);
		if (valid && !c.exclusive)
			oracle_add(&oracle, c.values[i]);
		status = expected_row(c, oracle, result);
		overflows |= status == GPUAGG_ROW_OVERFLOW;
		if ((memcmp(&output.results[i * size], result, size) != 0 ||
			 (c.want_status && output.status[i] != status)) &&
			wrong++ == 0)
			first_wrong = i;
		if (valid && c.exclusive)
			oracle_add(&oracle, c.values[i]);
	}
	report(wrong == 0, c.what + text(": %llu rows wrong, first %llu", (unsigned long long) wrong,
									 (unsigned long long) first_wrong));
	report(states_agree(output.state, state_of(oracle)) &&
			   output.state.overflows == (uint32_t) overflows,
		   c.what + ": state");
}

/* What a segmented reduction gives back. */
struct Segments
{
	std::vector<unsigned char> results;
	std::vector<unsigned char> status;
	uint64_t nsegments;
	GpuScanState state;

	bool operator==(const Segments &other) const
	{
		return results == other.results && status == other.status && nsegments == other.nsegments &&
			   memcmp(&state, &other.state, sizeof(state)) == 0;
	}
};

static Segments
run_segments_once(const Case &c, int byte, bool in_place)
{
	size_t size = gpuagg_kind_size(c.kind);
	uint64_t n = c.values.size();
	uint64_t count = n > 0; /* of segments */
	size_t words = (n + 63) / 64;
	size_t shift = (size_t) c.offset * size;
	std::vector<float> narrow(c.values.begin(), c.values.end());
	std::vector<unsigned char> kept;
	Segments output;

	for (uint64_t i = 1; i < n; i++)
		count += bit(c.heads, i, false);

	DeviceMemory column(shift + n * size + 8);
	DeviceMemory validity(words * 8 + 8);
	DeviceMemory heads(words * 8 + 8);
	DeviceMemory results(shift + count * size + PAD);
	DeviceMemory status(count + PAD);
	DeviceMemory nsegments(8);
	DeviceMemory in(sizeof(GpuScanState));
	DeviceMemory out(sizeof(GpuScanState));
	DeviceMemory scratch(gpu_segmented_reduce_scratch(n));
	GpuScanState *state_out = (GpuScanState *) (in_place ? in.p : out.p);

	for (DeviceMemory *memory : {&results, &status, &nsegments, &out})
		must(gpu_memset(memory->p, byte, memory->bytes, stream), "gpu_memset");
	must(gpu_memset(scratch.p, 0, scratch.bytes, stream), "gpu_memset");
	if (n > 0)
	{
		must(gpu_copy_in((char *) column.p + shift,
						 size == 4 ? (const void *) narrow.data() : c.values.data(), n * size,
						 stream),
			 "gpu_copy_in");
		must(gpu_copy_in(heads.p, c.heads.data(), words * 8, stream), "gpu_copy_in");
	}
	if (!c.validity.empty())
		must(gpu_copy_in(validity.p, c.validity.data(), words * 8, stream), "gpu_copy_in");
	must(gpu_copy_in(in.p, &c.carry, sizeof(c.carry), stream), "gpu_copy_in");

	GpuSegmentedReduce reduce = {};

	reduce.kind = c.kind;
	reduce.op = GPUAGG_SUM;
	reduce.window = c.window;
	reduce.nrows = n;
	reduce.values = (char *) column.p + shift;
	reduce.validity = c.validity.empty() ? nullptr : (const uint64_t *) validity.p;
	reduce.heads = (const uint64_t *) heads.p;
	reduce.state_in = c.has_carry ? (const GpuScanState *) in.p : nullptr;
	reduce.results = (char *) results.p + shift;
	reduce.status = c.want_status ? (uint8_t *) status.p : nullptr;
	reduce.nsegments = (uint64_t *) nsegments.p;
	reduce.state_out = state_out;
	reduce.scratch = scratch.p;
	must(gpu_segmented_reduce(&reduce, stream), "gpu_segmented_reduce");
	kept.resize(results.bytes);
	output.status.resize(status.bytes);
	must(gpu_copy_out(kept.data(), results.p, kept.size(), stream), "gpu_copy_out");
	must(gpu_copy_out(output.status.data(), status.p, status.bytes, stream), "gpu_copy_out");
	must(gpu_copy_out(&output.nsegments, nsegments.p, 8, stream), "gpu_copy_out");
	must(gpu_copy_out(&output.state, state_out, sizeof(GpuScanState), stream), "gpu_copy_out");
	finish();

	bool same = true;

	for (size_t i = 0; i < PAD; i++)
		same = same && kept[shift + count * size + i] == byte && output.status[count + i] == byte;
	for (size_t i = 0; i < shift; i++)
		same = same && kept[i] == byte;
	report(same, c.what + ", by segment: wrote where it must not");
	output.results.assign(kept.begin() + (ptrdiff_t) shift,
						  kept.begin() + (ptrdiff_t) (shift + count * size));
	output.status.resize(c.want_status ? count : 0);
	return output;
}

void
check_segments(const Case &c, const GpuScanState &scanned)
{
	size_t size = gpuagg_kind_size(c.kind);
	uint64_t n = c.values.size();
	Segments output = run_segments_once(c, begin_pattern(0), false);
	Segments again = run_segments_once(c, begin_pattern(1), true);
	Oracle oracle = carried_oracle(c.has_carry ? c.carry : empty_state());
	std::vector<unsigned char> results;
	std::vector<unsigned char> status;
	uint32_t overflows = 0;

	report(output == again, c.what + ", by segment: two runs differ");
	gpu_scan_float_wide = true;
	again = run_segments_once(c, begin_pattern(0), false);
	gpu_scan_float_wide = false;
	report(output == again || output.state.out_of_window,
		   c.what + ", by segment: the wide way differs");
	report(output.state.out_of_window == scanned.out_of_window,
		   c.what + ", by segment: out_of_window");
	if (scanned.out_of_window)
		return;

	for (uint64_t i = 0; i <= n && n > 0; i++)
	{
		if (i == n || (i > 0 && bit(c.heads, i, false)))
		{
			unsigned char result[8];

			status.push_back((unsigned char) expected_row(c, oracle, result));
			overflows |= status.back() == GPUAGG_ROW_OVERFLOW;
			results.insert(results.end(), result, result + size);
		}
		if (i < n && bit(c.heads, i, false))
			oracle_clear(&oracle);
		if (i < n && bit(c.validity, i, true))
			oracle_add(&oracle, c.values[i]);
	}
	report(output.nsegments == status.size() && output.results == results &&
			   (!c.want_status || output.status == status),
		   c.what + ", by segment: results");
	report(states_agree(output.state, scanned) && output.state.overflows == overflows,
		   c.what + ", by segment: state");
}

/* Rows from .. to - 1 of a bitmap. */
static Bitmap
cut(const Bitmap &bitmap, uint64_t from, uint64_t to)
{
	Bitmap part;

	if (bitmap.empty())
		return part;
	part.assign((to - from + 63) / 64, 0);
	for (uint64_t i = from; i < to; i++)
		if (bit(bitmap, i, false))
			set_bit(part, i - from);
	return part;
}

void
check_batches(const Case &whole, const Output &output, Random &random)
{
	Output joined;
	uint64_t done = 0;
	uint32_t overflows = 0;
	Case part = whole;

	joined.state = whole.has_carry ? whole.carry : empty_state();
	part.has_carry = true;
	while (done < whole.values.size())
	{
		uint64_t left = whole.values.size() - done;
		uint64_t n = 1 + random.below(left < 6000 ? left : 6000);

		part.values.assign(whole.values.begin() + (ptrdiff_t) done,
						   whole.values.begin() + (ptrdiff_t) (done + n));
		part.validity = cut(whole.validity, done, done + n);
		part.heads = cut(whole.heads, done, done + n);
		part.carry = joined.state;

		Output one = run_once(part, begin_pattern(0), false);

		joined.results.insert(joined.results.end(), one.results.begin(), one.results.end());
		joined.status.insert(joined.status.end(), one.status.begin(), one.status.end());
		joined.state = one.state;
		overflows |= one.state.overflows;
		done += n;
	}
	joined.state.overflows = overflows;
	report(joined == output, whole.what + ": in batches");
}

} // namespace float_case
