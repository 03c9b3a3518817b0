/*
 * answers.c
 *	  Requests on a leased region whose answers are compared with plain loops.
 */
#include "answers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t answers_seed = 20;

static char *
column_at(const Lease *lease, const GpuaggRequest *request, GpuaggColumn column)
{
	return lease->base + request->u.work.column[column].at;
}

static bool
is_set(const uint64_t *bitmap, uint64_t i)
{
	return bitmap[i / 64] >> (i % 64) & 1;
}

/* One bit in `sparse` is 1, and some words are all alike. */
static void
bitmap_fill(uint64_t *bitmap, uint64_t nrows, int sparse)
{
	for (uint64_t word = 0; word < (nrows + 63) / 64; word++)
	{
		bitmap[word] = 0;
		for (int bit = 0; bit < 64; bit++)
			bitmap[word] |= (uint64_t) (random_bits(&answers_seed) % (uint64_t) sparse == 0) << bit;
		if (random_bits(&answers_seed) % 16 == 0)
			bitmap[word] = random_bits(&answers_seed) % 2 ? UINT64_MAX : 0;
	}
}

void
column_fill(Lease *lease, int kind, uint64_t nrows, bool specials)
{
	static const double odd[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0};

	for (uint64_t i = 0; i < nrows; i++)
	{
		uint64_t bits = random_bits(&answers_seed);
		double x = ldexp((double) (int64_t) bits, (int) (bits % 20) - 60);

		if (specials && bits % 97 == 0)
			x = odd[bits / 97 % 5];
		switch (kind)
		{
			case GPUAGG_INT32:
				((int32_t *) lease->base)[i] = (int32_t) bits;
				break;
			case GPUAGG_INT64:
				((int64_t *) lease->base)[i] = (int64_t) bits;
				break;
			case GPUAGG_FLOAT32:
				((float *) lease->base)[i] = (float) x;
				break;
			default:
				((double *) lease->base)[i] = x;
				break;
		}
	}
}

static int64_t
integer_at(const Lease *lease, int kind, uint64_t i)
{
	return kind == GPUAGG_INT32 ? ((const int32_t *) lease->base)[i]
								: ((const int64_t *) lease->base)[i];
}

static double
float_at(const void *values, int kind, uint64_t i)
{
	return kind == GPUAGG_FLOAT32 ? (double) ((const float *) values)[i]
								  : ((const double *) values)[i];
}

static __int128
wide(GpuaggInt128 a)
{
	return (__int128) (((unsigned __int128) (uint64_t) a.hi << 64) | a.lo);
}

/* Whether value a comes before b in the order of minima and maxima. */
static bool
float_less(double a, double b)
{
	if (isnan(a) || isnan(b))
		return !isnan(a) && isnan(b);
	return a < b || (a == b && signbit(a) && !signbit(b));
}

static bool
same_float(double a, double b)
{
	return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof(a)) == 0;
}

static int64_t
order_key(int kind, double x)
{
	float narrow = (float) x;
	uint64_t bits;
	uint32_t bits32;

	memcpy(&bits, &x, sizeof(bits));
	memcpy(&bits32, &narrow, sizeof(bits32));
	return kind == GPUAGG_FLOAT32 ? gpuagg_order_key32(bits32) : gpuagg_order_key64(bits);
}

static void
extreme_integer(int op, int64_t v, bool any, int64_t *best)
{
	if (!any || (op == GPUAGG_MIN ? v < *best : v > *best))
		*best = v;
}

static void
extreme_float(int op, double v, bool any, double *best)
{
	if (!any || (op == GPUAGG_MIN ? float_less(v, *best) : float_less(*best, v)))
		*best = v;
}

static bool
is_answered(int fd, const GpuaggRequest *request, GpuaggReply *reply)
{
	GpuaggReason reason = client_call(fd, request, reply);

	if (reason != GPUAGG_OK)
		printf("no answer: %s\n", gpuagg_reason_text(reason));
	return reason == GPUAGG_OK;
}

/* ---- reductions ---- */

#define SQUARE_DIGITS (GPUAGG_SQUARE_CHUNKS + 2)

/* Adds x * x to a number of 32-bit digits whose bit 0 weighs 2^-2148. */
static void
add_square(uint64_t *digit, double x)
{
	int exponent;
	uint64_t mantissa = (uint64_t) ldexp(fabs(frexp(x, &exponent)), 53);
	unsigned __int128 square = (unsigned __int128) mantissa * mantissa;
	int at;
	uint64_t carry = 0;

	if (mantissa == 0)
		return;
	exponent = 2 * (exponent - 53) + 2148;
	while (exponent < 0) /* of a subnormal: the bits that go are 0 */
	{
		square >>= 1;
		exponent++;
	}
	at = exponent / 32;
	exponent %= 32;
	for (int i = 0; at < SQUARE_DIGITS && (square != 0 || carry != 0); i++, at++)
	{
		uint64_t piece = (uint64_t) square & (UINT32_MAX >> (i == 0 ? exponent : 0));

		/* digit 0 takes 32 - exponent bits, shifted up; the others 32 */
		if (i == 0)
		{
			piece <<= exponent;
			square >>= 32 - exponent;
		}
		else
			square >>= 32;
		digit[at] += piece + carry;
		carry = digit[at] >> 32;
		digit[at] &= UINT32_MAX;
	}
}

/* Adds v * v to 192 bits. */
static void
add_integer_square(uint64_t *squares, int64_t v)
{
	unsigned __int128 square = (unsigned __int128) ((__int128) v * v);
	unsigned __int128 sum = (unsigned __int128) squares[0] + (uint64_t) square;

	squares[0] = (uint64_t) sum;
	sum = (unsigned __int128) squares[1] + (uint64_t) (square >> 64) + (uint64_t) (sum >> 64);
	squares[1] = (uint64_t) sum;
	squares[2] += (uint64_t) (sum >> 64);
}

static bool
same_accumulator(const GpuaggFloatSumFull *expected, const GpuaggFloatSumFull *got)
{
	return got->deposits == 0 && got->base == 0 && got->width == GPUAGG_CHUNKS &&
		   memcmp(&expected->counts, &got->counts, sizeof(got->counts)) == 0 &&
		   memcmp(expected->chunk, got->chunk, sizeof(got->chunk)) == 0;
}

static bool
float_reduction_is(const Lease *lease, const uint64_t *validity, int kind, int op, uint64_t nrows,
				   const GpuaggReduced *got)
{
	GpuaggFloatSumFull expected;
	GpuaggFloatSum *acc = gpuagg_float_sum_of(&expected);
	uint64_t digit[SQUARE_DIGITS] = {0};
	bool any = false;
	double best = 0;

	gpuagg_float_sum_init(acc, 0, GPUAGG_CHUNKS);
	for (uint64_t i = 0; i < nrows; i++)
	{
		double x = float_at(lease->base, kind, i);

		if (validity != NULL && !is_set(validity, i))
			continue;
		gpuagg_float_sum_deposit(acc, x, 1);
		if (isfinite(x))
			add_square(digit, x);
		extreme_float(op, x, any, &best);
		any = true;
	}
	gpuagg_float_sum_propagate(acc);
	if (got->n != (uint64_t) expected.counts.n)
		return false;
	if (op == GPUAGG_MIN || op == GPUAGG_MAX)
		return !any || wide(got->sum) == order_key(kind, best);
	if (op == GPUAGG_COUNT)
		return true;
	for (int i = 0; i < GPUAGG_SQUARE_CHUNKS; i++)
		if (got->f_squares[i] != (op == GPUAGG_MOMENTS ? (int64_t) digit[i] : 0))
			return false;
	return same_accumulator(&expected, &got->f);
}

static bool
integer_reduction_is(const Lease *lease, const uint64_t *validity, int kind, int op, uint64_t nrows,
					 const GpuaggReduced *got)
{
	__int128 sum = 0;
	uint64_t squares[3] = {0};
	uint64_t n = 0;
	int64_t best = 0;

	for (uint64_t i = 0; i < nrows; i++)
	{
		int64_t v = integer_at(lease, kind, i);

		if (validity != NULL && !is_set(validity, i))
			continue;
		sum += v;
		add_integer_square(squares, v);
		extreme_integer(op, v, n > 0, &best);
		n++;
	}
	if (got->n != n)
		return false;
	if (op == GPUAGG_MIN || op == GPUAGG_MAX)
		return n == 0 || wide(got->sum) == best;
	if (op == GPUAGG_MOMENTS && memcmp(squares, got->squares, sizeof(squares)) != 0)
		return false;
	return op == GPUAGG_COUNT || wide(got->sum) == sum;
}

bool
reduce_is_right(int fd, Lease *lease, int kind, int op, unsigned flags, uint64_t nrows)
{
	uint64_t *validity = NULL;
	GpuaggRequest request;
	GpuaggReply reply;

	reduce_init(&request, lease, kind, op, flags, 0, nrows);
	if (flags & GPUAGG_SCAN_VALIDITY)
	{
		validity = (uint64_t *) (column_at(lease, &request, GPUAGG_VALIDITY));
		bitmap_fill(validity, nrows, 3);
	}
	if (!is_answered(fd, &request, &reply))
		return false;
	return gpuagg_kind_is_float(kind)
			   ? float_reduction_is(lease, validity, kind, op, nrows, &reply.u.reduce)
			   : integer_reduction_is(lease, validity, kind, op, nrows, &reply.u.reduce);
}

/* ---- scans ---- */

void
state_init(GpuaggScanState *state)
{
	memset(state, 0, sizeof(*state));
	gpuagg_float_sum_init(gpuagg_float_sum_of(&state->f), 0, GPUAGG_CHUNKS);
}

static void
state_add(GpuaggScanState *state, const Lease *lease, int kind, int op, uint64_t i)
{
	bool extreme = op == GPUAGG_MIN || op == GPUAGG_MAX;
	__int128 sum = wide(state->sum);

	if (op == GPUAGG_SUM && gpuagg_kind_is_float(kind))
	{
		gpuagg_float_sum_deposit(gpuagg_float_sum_of(&state->f), float_at(lease->base, kind, i), 1);
		return;
	}
	if (op == GPUAGG_COUNT)
		sum++;
	else if (!extreme)
		sum += integer_at(lease, kind, i);
	else
	{
		int64_t key = gpuagg_kind_is_float(kind) ? order_key(kind, float_at(lease->base, kind, i))
												 : integer_at(lease, kind, i);
		int64_t best = (int64_t) sum;

		extreme_integer(op, key, state->f.counts.n > 0, &best);
		sum = best;
	}
	state->sum.lo = (uint64_t) sum;
	state->sum.hi = (int64_t) (sum >> 64);
	state->f.counts.n++;
}

/* The result of a minimum or maximum; that of nothing is the other end of the order. */
static bool
extreme_is(const char *results, int kind, int op, uint64_t i, const GpuaggScanState *state)
{
	bool none = state->f.counts.n == 0;
	bool least = op == GPUAGG_MAX; /* of nothing */
	int64_t key = (int64_t) state->sum.lo;
	double x = least ? -INFINITY : NAN;

	switch (kind)
	{
		case GPUAGG_INT32:
			return ((const int32_t *) results)[i] == (!none ? key : least ? INT32_MIN : INT32_MAX);
		case GPUAGG_INT64:
			return ((const int64_t *) results)[i] == (!none ? key : least ? INT64_MIN : INT64_MAX);
		default:
			/* NaN must be the canonical one */
			return order_key(kind, float_at(results, kind, i)) == (none ? order_key(kind, x) : key);
	}
}

static bool
row_is_right(const char *results, int kind, int op, unsigned flags, uint64_t i,
			 GpuaggScanState *state, uint8_t *status)
{
	GpuaggFloatSum *acc = gpuagg_float_sum_of(&state->f);
	double x = 0;
	float narrow = 0;

	*status = state->f.counts.n == 0 ? GPUAGG_ROW_NULL : GPUAGG_ROW_VALUE;
	if (op == GPUAGG_MIN || op == GPUAGG_MAX)
		return extreme_is(results, kind, op, i, state);
	if (op == GPUAGG_COUNT)
		return ((const int64_t *) results)[i] == (int64_t) state->sum.lo;
	switch (kind)
	{
		case GPUAGG_INT32:
			if (flags & GPUAGG_SCAN_NARROW)
				return ((const int32_t *) results)[i] == (int32_t) state->sum.lo;
			return ((const int64_t *) results)[i] == (int64_t) state->sum.lo;
		case GPUAGG_INT64:
			if (flags & GPUAGG_SCAN_NARROW)
				return ((const int64_t *) results)[i] == (int64_t) state->sum.lo;
			return wide(((const GpuaggInt128 *) results)[i]) == wide(state->sum);
		case GPUAGG_FLOAT32:
			*status = (uint8_t) gpuagg_float_sum_round32(acc, &narrow);
			return same_float(((const float *) results)[i], narrow);
		default:
			*status = (uint8_t) gpuagg_float_sum_round64(acc, &x);
			return same_float(((const double *) results)[i], x);
	}
}

/* The counts of a carried state tell only whether there was one. */
static bool
same_presence(const GpuaggFloatCounts *a, const GpuaggFloatCounts *b)
{
	return (a->n > 0) == (b->n > 0) && (a->n_nan > 0) == (b->n_nan > 0) &&
		   (a->n_pinf > 0) == (b->n_pinf > 0) && (a->n_ninf > 0) == (b->n_ninf > 0) &&
		   (a->n > a->n_negzero) == (b->n > b->n_negzero);
}

/* Whether a carried state is right; carries need not be propagated, narrow sums are modulo. */
static bool
same_state(int kind, int op, unsigned flags, GpuaggScanState *expected, const GpuaggScanState *got)
{
	GpuaggScanState state = *got;

	if (op == GPUAGG_SUM && gpuagg_kind_is_float(kind))
	{
		gpuagg_float_sum_propagate(gpuagg_float_sum_of(&expected->f));
		gpuagg_float_sum_propagate(gpuagg_float_sum_of(&state.f));
		return same_presence(&expected->f.counts, &state.f.counts) &&
			   memcmp(expected->f.chunk, state.f.chunk, sizeof(state.f.chunk)) == 0;
	}
	if ((expected->f.counts.n > 0) != (got->f.counts.n > 0))
		return false;
	if (expected->f.counts.n == 0)
		return true;
	if (op == GPUAGG_SUM && (flags & GPUAGG_SCAN_NARROW))
		return kind == GPUAGG_INT32 ? (uint32_t) expected->sum.lo == (uint32_t) got->sum.lo
									: expected->sum.lo == got->sum.lo;
	return wide(expected->sum) == wide(got->sum);
}

bool
scan_is_right(int fd, Lease *lease, int kind, int op, unsigned flags, uint64_t nrows,
			  GpuaggScanState *state)
{
	GpuaggRequest request;
	GpuaggReply reply;
	uint64_t *validity;
	uint64_t *heads;
	const char *results;
	const uint8_t *status;

	scan_init(&request, lease, kind, op, flags, nrows);
	request.u.work.u.scan.window = ANSWERS_WINDOW;
	request.u.work.u.scan.carry = *state;
	validity = (uint64_t *) (column_at(lease, &request, GPUAGG_VALIDITY));
	heads = (uint64_t *) (column_at(lease, &request, GPUAGG_HEADS));
	results = column_at(lease, &request, GPUAGG_RESULTS);
	status = (const uint8_t *) column_at(lease, &request, GPUAGG_STATUS);
	bitmap_fill(validity, nrows, 2);
	bitmap_fill(heads, nrows, 30);
	memset(column_at(lease, &request, GPUAGG_STATUS), 0x77, nrows);
	if (!is_answered(fd, &request, &reply))
		return false;

	for (uint64_t i = 0; i < nrows; i++)
	{
		bool valid = !(flags & GPUAGG_SCAN_VALIDITY) || is_set(validity, i);
		uint8_t expected_status = 0;
		bool right;

		if ((flags & GPUAGG_SCAN_HEADS) && is_set(heads, i))
			state_init(state);
		if (!(flags & GPUAGG_SCAN_EXCLUSIVE) && valid)
			state_add(state, lease, kind, op, i);
		right = row_is_right(results, kind, op, flags, i, state, &expected_status);
		if (!(flags & GPUAGG_SCAN_STATUS))
			expected_status = 0x77;
		if ((flags & GPUAGG_SCAN_EXCLUSIVE) && valid)
			state_add(state, lease, kind, op, i);
		if (!right || status[i] != expected_status)
		{
			printf("scan: kind %d op %d flags %u rows %llu: row %llu, status %d\n", kind, op, flags,
				   (unsigned long long) nrows, (unsigned long long) i, status[i]);
			return false;
		}
	}
	if (!same_state(kind, op, flags, state, &reply.u.scan.carry) || reply.u.scan.overflows != 0)
	{
		printf("scan: kind %d op %d flags %u rows %llu: carry\n", kind, op, flags,
			   (unsigned long long) nrows);
		return false;
	}
	*state = reply.u.scan.carry;
	return true;
}

/* ---- the ladder ---- */

typedef struct LadderState
{
	uint64_t sum;
	int64_t best; /* order key */
	double plain; /* sum of floats, each addition rounded */
	double size;  /* sum of their absolute values, for the bound of the error */
	uint64_t n;
} LadderState;

static int64_t
ladder_key(const Lease *lease, int kind, uint64_t i)
{
	return gpuagg_kind_is_float(kind) ? order_key(kind, float_at(lease->base, kind, i))
									  : integer_at(lease, kind, i);
}

static void
ladder_add(LadderState *s, const Lease *lease, int kind, int op, uint64_t i)
{
	if (gpuagg_kind_is_float(kind))
	{
		s->plain += float_at(lease->base, kind, i);
		s->size += fabs(float_at(lease->base, kind, i));
	}
	else
		s->sum += (uint64_t) integer_at(lease, kind, i);
	extreme_integer(op, ladder_key(lease, kind, i), s->n > 0, &s->best);
	s->n++;
}

static bool
ladder_result_is(const char *results, int kind, int op, uint64_t i, const LadderState *s)
{
	bool least = op == GPUAGG_MAX;
	double eps = kind == GPUAGG_FLOAT32 ? 0x1p-23 : 0x1p-52;

	if (op == GPUAGG_SUM && gpuagg_kind_is_float(kind))
		return fabs(float_at(results, kind, i) - s->plain) <= (double) s->n * eps * s->size;
	if (gpuagg_kind_is_float(kind))
		return order_key(kind, float_at(results, kind, i)) ==
			   (s->n > 0 ? s->best : order_key(kind, least ? -INFINITY : NAN));
	if (op == GPUAGG_SUM)
		return ((const uint64_t *) results)[i] == s->sum;
	if (s->n > 0)
		return ((const int64_t *) results)[i] == s->best;
	if (kind == GPUAGG_INT32)
		return ((const int64_t *) results)[i] == (least ? INT32_MIN : INT32_MAX);
	return ((const int64_t *) results)[i] == (least ? INT64_MIN : INT64_MAX);
}

static int sorted_words; /* of a key, for compare_items() */
static int sorted_bits;

/* By the key's low bits, then by number, which is an item's last word. */
static int
compare_items(const void *a, const void *b)
{
	const uint64_t *x = a;
	const uint64_t *y = b;

	for (int i = 0; i < sorted_words; i++)
	{
		int in_word = sorted_bits - 64 * (sorted_words - 1 - i);
		int unused = in_word <= 0 ? 64 : in_word < 64 ? 64 - in_word : 0;
		uint64_t v = unused == 64 ? 0 : x[i] << unused;
		uint64_t w = unused == 64 ? 0 : y[i] << unused;

		if (v != w)
			return v < w ? -1 : 1;
	}
	return (x[sorted_words] > y[sorted_words]) - (x[sorted_words] < y[sorted_words]);
}

bool
sort_is_right(int fd, Lease *lease, int words, int bits, int bits_set, uint64_t nrows)
{
	GpuaggRequest request;
	GpuaggReply reply;
	size_t width = gpuagg_sort_item_size(words);
	uint64_t *items;
	uint64_t *expected = malloc(nrows * width);
	bool right;

	sort_init(&request, lease, words, bits, nrows);
	items = (uint64_t *) (column_at(lease, &request, GPUAGG_VALUES));
	for (uint64_t i = 0; i < nrows; i++)
	{
		uint64_t *item = items + i * (size_t) (words + 1);

		for (int w = 0; w < words; w++)
		{
			int in_word = bits_set - 64 * (words - 1 - w);

			item[w] = in_word <= 0 ? 0 : random_bits(&answers_seed);
			if (in_word > 0 && in_word < 64)
				item[w] >>= 64 - in_word;
		}
		item[words] = i;
	}
	memcpy(expected, items, nrows * width);
	sorted_words = words;
	sorted_bits = bits;
	qsort(expected, nrows, width, compare_items);
	right = is_answered(fd, &request, &reply) && memcmp(items, expected, nrows * width) == 0;
	free(expected);
	return right;
}

bool
ladder_is_right(int fd, Lease *lease, int task, int algorithm, int kind, int op, bool exclusive,
				uint64_t nrows)
{
	GpuaggRequest request;
	GpuaggReply reply;
	uint64_t *heads;
	const char *results;
	LadderState s = {0};

	ladder_init(&request, lease, task, algorithm, kind, op, exclusive ? GPUAGG_SCAN_EXCLUSIVE : 0,
				nrows);
	heads = (uint64_t *) (column_at(lease, &request, GPUAGG_HEADS));
	results = task == GPUAGG_REDUCE ? (const char *) &reply.u.ladder.result
									: column_at(lease, &request, GPUAGG_RESULTS);
	if (task == GPUAGG_SEGMENTED_SCAN)
		bitmap_fill(heads, nrows, 30);
	if (!is_answered(fd, &request, &reply))
		return false;
	for (uint64_t i = 0; i < nrows; i++)
	{
		if (task == GPUAGG_SEGMENTED_SCAN && is_set(heads, i))
			memset(&s, 0, sizeof(s));
		if (task != GPUAGG_REDUCE && exclusive && !ladder_result_is(results, kind, op, i, &s))
			return false;
		ladder_add(&s, lease, kind, op, i);
		if (task != GPUAGG_REDUCE && !exclusive && !ladder_result_is(results, kind, op, i, &s))
			return false;
	}
	return task != GPUAGG_REDUCE || ladder_result_is(results, kind, op, 0, &s);
}
