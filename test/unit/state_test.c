/*
 * state_test.c
 *	  States between servers: exact round trips, and random bytes.
 *
 * The second part reads a million inputs, made from states of every family by
 * damage, cutting, joining and chance, half of them with a check sum that fits.
 * What can be read must be equal after another round trip, and usable in every
 * way.  Run it under sanitizers, with a seed of your own:
 *
 *	build/unit/state_test [SEED [INPUTS]]
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "common/decimal_sum.h"
#include "common/float_codec.h"
#include "common/float_moments.h"
#include "common/int_sum.h"
#include "common/interval_sum.h"
#include "common/envelope.h"

#include "check.h"
#include "random.h"

#define STATES 64 /* of each family and contents, from which others are made */
#define INPUTS 1000000

typedef struct Bytes
{
	size_t n;
	size_t room;
	uint8_t *b;
} Bytes;

static void
make_room(Bytes *s, size_t room)
{
	if (room <= s->room)
		return;
	s->b = realloc(s->b, room);
	s->room = room;
}

static void
copy_bytes(Bytes *to, const Bytes *from)
{
	make_room(to, from->n);
	memcpy(to->b, from->b, from->n);
	to->n = from->n;
}

static size_t
below(size_t n)
{
	return (size_t) (next() % n);
}

/* Numbers of every magnitude: as many with few bits as with many. */
static int64_t
random_int64(void)
{
	return (int64_t) next() >> below(64);
}

static double
random_double(void)
{
	static const double special[] = {0.0,
									 -0.0,
									 1.0,
									 -1.0,
									 NAN,
									 INFINITY,
									 -INFINITY,
									 0x1p-1074,
									 -0x1p-1022,
									 0x1p1023,
									 -0x1.fffffffffffffp1023};
	uint64_t bits = next();
	double x;

	if (below(8) == 0)
		return special[below(sizeof(special) / sizeof(special[0]))];
	memcpy(&x, &bits, sizeof(x));
	return isfinite(x) && below(2) ? x : (double) random_int64();
}

/* An accumulator of any family, and the functions of a family. */
typedef union Accumulator
{
	GpuaggIntSum i;
	GpuaggFloatMoments f;
	GpuaggIntervalSum t;
	GpuaggDecimalSum d;
} Accumulator;

typedef struct Family
{
	const char *name;
	GpuaggStateType type;
	GpuaggStateContents contents;
	void (*fill)(Accumulator *acc, int moments); /* with a few rows, or none */
	size_t (*max_bytes)(Accumulator *acc);
	size_t (*encode)(Accumulator *acc, uint8_t *room);
	int (*decode)(GpuaggReader *r, Accumulator *acc);
	int64_t (*count)(const Accumulator *acc);
	void (*merge)(Accumulator *into, Accumulator *from);
	void (*use)(Accumulator *acc, int moments); /* results of all kinds */
	void (*free)(Accumulator *acc);
} Family;

static void
nothing_to_free(Accumulator *acc)
{
	(void) acc;
}

/* ---- integers ---- */

static void
int_fill(Accumulator *acc, int moments)
{
	memset(acc, 0, sizeof(*acc));
	acc->i.moments = moments;
	for (size_t n = below(20); n > 0; n--)
		gpuagg_int_sum_add(&acc->i, below(8) ? random_int64() : INT64_MIN, moments);
}

static size_t
int_max_bytes(Accumulator *acc)
{
	(void) acc;
	return GPUAGG_INT_MAX_BYTES;
}

static size_t
int_encode(Accumulator *acc, uint8_t *room)
{
	return gpuagg_int_encode(&acc->i, room);
}

static int
int_decode(GpuaggReader *r, Accumulator *acc)
{
	return gpuagg_int_decode(r, &acc->i);
}

static int64_t
int_count(const Accumulator *acc)
{
	return acc->i.n;
}

static void
int_merge(Accumulator *into, Accumulator *from)
{
	gpuagg_int_sum_merge(&into->i, &from->i);
}

/* A sum of squares is not negative, and no values have the sum 0. */
static void
int_use(Accumulator *acc, int moments)
{
	if (moments && (int64_t) acc->i.squares[GPUAGG_INT192_WORDS - 1] < 0)
		CHECK(!"squares are not negative");
	if (acc->i.n == 0 && (acc->i.sum.lo != 0 || acc->i.sum.hi != 0))
		CHECK(!"no value has no sum");
}

/* ---- floats ---- */

static void
float_fill(Accumulator *acc, int moments)
{
	double x[20];
	size_t n = below(20);

	memset(acc, 0, sizeof(*acc));
	acc->f.moments = moments;
	gpuagg_float_sum_init(gpuagg_float_sum_of(&acc->f.sum), 0, GPUAGG_CHUNKS);
	gpuagg_float_sum_init(gpuagg_float_squares_of(&acc->f.squares), 0, GPUAGG_SQUARE_CHUNKS);
	for (size_t i = 0; i < n; i++)
	{
		x[i] = random_double();
		(void) gpuagg_float_sum_deposit(gpuagg_float_sum_of(&acc->f.sum), x[i], 1);
	}
	if (moments)
		gpuagg_float_squares_deposit_array(&acc->f.squares, x, (int64_t) n);
}

static GpuaggFloatSum *
float_squares(Accumulator *acc)
{
	return acc->f.moments ? gpuagg_float_squares_of(&acc->f.squares) : NULL;
}

static size_t
float_max_bytes(Accumulator *acc)
{
	(void) acc;
	return GPUAGG_FLOAT_MAX_BYTES;
}

static size_t
float_encode(Accumulator *acc, uint8_t *room)
{
	return gpuagg_float_encode(gpuagg_float_sum_of(&acc->f.sum), float_squares(acc), room);
}

static int
float_decode(GpuaggReader *r, Accumulator *acc)
{
	return gpuagg_float_decode(r, &acc->f);
}

static int64_t
float_count(const Accumulator *acc)
{
	return acc->f.sum.counts.n;
}

static void
float_merge(Accumulator *into, Accumulator *from)
{
	gpuagg_float_sum_merge(gpuagg_float_sum_of(&into->f.sum), gpuagg_float_sum_of(&from->f.sum));
	if (into->f.moments)
		gpuagg_float_sum_merge(gpuagg_float_squares_of(&into->f.squares),
							   gpuagg_float_squares_of(&from->f.squares));
}

static void
float_use(Accumulator *acc, int moments)
{
	const GpuaggFloatSum *sum = gpuagg_float_sum_of(&acc->f.sum);
	double wide;
	float narrow;

	if ((gpuagg_float_sum_round64(sum, &wide) == GPUAGG_ROUNDED_NULL) != (sum->counts.n == 0) ||
		(gpuagg_float_sum_round32(sum, &narrow) == GPUAGG_ROUNDED_NULL) != (sum->counts.n == 0) ||
		(gpuagg_float_average(sum, &wide) == GPUAGG_ROUNDED_NULL) != (sum->counts.n == 0))
		CHECK(!"a value unless there is no row");
	if (!moments)
		return;
	for (int which = 0; which < 4; which++)
		if (gpuagg_float_variance(sum, float_squares(acc), which & 1, which >> 1, &wide) ==
				GPUAGG_ROUNDED_VALUE &&
			wide < 0)
			CHECK(!"a variance is not negative");
}

/* ---- intervals ---- */

static void
interval_fill(Accumulator *acc, int moments)
{
	(void) moments;
	memset(acc, 0, sizeof(*acc));
	for (size_t n = below(20); n > 0; n--)
	{
		acc->t.n++;
		if (below(16) == 0)
			acc->t.n_pinf++;
		else if (below(16) == 0)
			acc->t.n_ninf++;
		else
		{
			acc->t.months = gpuagg_int128_add(acc->t.months,
											  gpuagg_int128_from((int32_t) random_int64()));
			acc->t.days = gpuagg_int128_add(acc->t.days, gpuagg_int128_from(INT32_MIN));
			acc->t.micros = gpuagg_int128_add(acc->t.micros, gpuagg_int128_from(random_int64()));
		}
	}
}

static size_t
interval_max_bytes(Accumulator *acc)
{
	(void) acc;
	return GPUAGG_INTERVAL_MAX_BYTES;
}

static size_t
interval_encode(Accumulator *acc, uint8_t *room)
{
	return gpuagg_interval_encode(&acc->t, room);
}

static int
interval_decode(GpuaggReader *r, Accumulator *acc)
{
	return gpuagg_interval_decode(r, &acc->t);
}

static int64_t
interval_count(const Accumulator *acc)
{
	return acc->t.n;
}

static void
interval_merge(Accumulator *into, Accumulator *from)
{
	gpuagg_interval_sum_merge(&into->t, &from->t);
}

static void
interval_use(Accumulator *acc, int moments)
{
	(void) moments;
	if (acc->t.n_pinf < 0 || acc->t.n_ninf < 0 || acc->t.n_pinf + acc->t.n_ninf > acc->t.n)
		CHECK(!"infinities are values");
}

/* ---- numerics ---- */

static void *
resize(void *owner, void *old, size_t bytes)
{
	(void) owner;
	if (bytes > 0)
		return malloc(bytes);
	free(old);
	return NULL;
}

static void
decimal_fill(Accumulator *acc, int moments)
{
	gpuagg_decimal_init(&acc->d, moments, (GpuaggMemory){resize, NULL});
	for (size_t n = below(20); n > 0; n--)
	{
		uint16_t digit[30];
		size_t ndigits = below(4) == 0 ? below(30) : below(4);
		GpuaggDecimal x = {.digits = (char *) digit, .ndigits = (int) ndigits};

		if (below(20) == 0)
		{
			gpuagg_decimal_special(&acc->d, GPUAGG_DECIMAL_NAN + below(3), 1);
			continue;
		}
		for (size_t i = 0; i < ndigits; i++)
			digit[i] = (uint16_t) (1 + below(GPUAGG_DECIMAL_BASE - 1));
		if (ndigits > 0)
		{
			x.weight = (int) below(ndigits + 3) - 2;
			x.negative = below(2) == 0;
			x.scale = 4 * (int) (ndigits - 1) - 4 * x.weight;
			if (x.scale < 0)
				x.scale = 0;
		}
		gpuagg_decimal_add(&acc->d, &x);
	}
}

static size_t
decimal_max_bytes(Accumulator *acc)
{
	return gpuagg_decimal_encoded_bytes(&acc->d);
}

static size_t
decimal_encode(Accumulator *acc, uint8_t *room)
{
	return gpuagg_decimal_encode(&acc->d, room);
}

static int
decimal_decode(GpuaggReader *r, Accumulator *acc)
{
	gpuagg_decimal_init(&acc->d, 1, (GpuaggMemory){resize, NULL});
	return gpuagg_decimal_decode(r, &acc->d);
}

static int64_t
decimal_count(const Accumulator *acc)
{
	return gpuagg_decimal_count(&acc->d);
}

static void
decimal_merge(Accumulator *into, Accumulator *from)
{
	gpuagg_decimal_merge(&into->d, &from->d);
}

static void
decimal_use(Accumulator *acc, int moments)
{
	(void) gpuagg_decimal_special_sum(&acc->d);
	for (int squares = 0; squares <= moments; squares++)
	{
		uint16_t *room = malloc(sizeof(uint16_t) *
								(size_t) gpuagg_decimal_total_digits(&acc->d, squares));
		GpuaggDecimal total = gpuagg_decimal_total(&acc->d, squares, room);

		for (int i = 0; i < total.ndigits; i++)
			if (gpuagg_decimal_digit(&total, i) >= GPUAGG_DECIMAL_BASE)
				CHECK(!"digits are below the base");
		free(room);
	}
}

static void
decimal_free(Accumulator *acc)
{
	gpuagg_decimal_free(&acc->d);
}

#define FAMILY(family, type, contents)                                                   \
	{                                                                                    \
#family, type, contents, family##_fill, family##_max_bytes, family##_encode,     \
			family##_decode, family##_count, family##_merge, family##_use, family##_free \
	}
#define int_free	  nothing_to_free
#define float_free	  nothing_to_free
#define interval_free nothing_to_free

static const Family families[] = {
	FAMILY(int, GPUAGG_STATE_INT2, GPUAGG_STATE_SUMS),
	FAMILY(int, GPUAGG_STATE_INT4, GPUAGG_STATE_MOMENTS),
	FAMILY(int, GPUAGG_STATE_INT8, GPUAGG_STATE_MOMENTS),
	FAMILY(int, GPUAGG_STATE_MONEY, GPUAGG_STATE_SUMS),
	FAMILY(float, GPUAGG_STATE_FLOAT4, GPUAGG_STATE_SUMS),
	FAMILY(float, GPUAGG_STATE_FLOAT8, GPUAGG_STATE_MOMENTS),
	FAMILY(decimal, GPUAGG_STATE_NUMERIC, GPUAGG_STATE_SUMS),
	FAMILY(decimal, GPUAGG_STATE_NUMERIC, GPUAGG_STATE_MOMENTS),
	FAMILY(interval, GPUAGG_STATE_INTERVAL, GPUAGG_STATE_SUMS),
};

#define NFAMILIES (sizeof(families) / sizeof(families[0]))

static int
is_moments(const Family *family)
{
	return family->contents == GPUAGG_STATE_MOMENTS;
}

static void
write_state(const Family *family, Accumulator *acc, Bytes *out)
{
	GpuaggWriter w;

	make_room(out, family->max_bytes(acc) + GPUAGG_STATE_AROUND);
	w.next = out->b;
	gpuagg_state_begin(&w, family->type, family->contents);
	w.next += family->encode(acc, w.next);
	gpuagg_state_end(&w, out->b);
	out->n = (size_t) (w.next - out->b);
}

/* Makes the check sum fit whatever is before it. */
static void
seal(Bytes *state)
{
	GpuaggWriter w;

	if (state->n < GPUAGG_STATE_AROUND)
		return;
	w.next = state->b + state->n - GPUAGG_STATE_CRC_BYTES;
	gpuagg_state_end(&w, state->b);
}

/* The family of a type, with these contents; false when there is none. */
static int
find_family(const GpuaggStateHeader *header, Family *found)
{
	int squares = header->type != GPUAGG_STATE_MONEY && header->type != GPUAGG_STATE_INTERVAL;

	if (header->contents != GPUAGG_STATE_SUMS &&
		(header->contents != GPUAGG_STATE_MOMENTS || !squares))
		return 0;
	for (size_t i = 0; i < NFAMILIES; i++)
		if (families[i].type == header->type)
		{
			*found = families[i];
			found->contents = header->contents;
			return 1;
		}
	return 0;
}

/*
 * Reads a state from memory that ends where the state does.  NULL if it is none;
 * else its family, with the contents that it has.
 */
static const Family *
read_state(const Bytes *in, Accumulator *acc, Family *found)
{
	uint8_t *copy = malloc(in->n + 1);
	const uint8_t *bytes = copy + 1; /* and begins at an odd address */
	GpuaggStateHeader header;
	GpuaggReader body;
	Family *result = NULL;

	if (in->n > 0)
		memcpy(copy + 1, in->b, in->n);
	if (gpuagg_state_open(bytes, in->n, &header, &body) == GPUAGG_STATE_GOOD &&
		find_family(&header, found))
	{
		/* except in intervals, the lowest bit of the first byte repeats the contents */
		if (found->decode(&body, acc) && body.left == 0 &&
			(found->type == GPUAGG_STATE_INTERVAL ||
			 (in->b[GPUAGG_STATE_HEADER_BYTES] & 1) == is_moments(found)))
			result = found;
		else
			found->free(acc);
	}
	free(copy);
	return result;
}

/* ---- round trips ---- */

static Bytes good[NFAMILIES][STATES];

static int
same_bytes(const Bytes *a, const Bytes *b)
{
	return a->n == b->n && memcmp(a->b, b->b, a->n) == 0;
}

/* Whether two numbers have the same digits; neither first nor last is 0. */
static int
same_decimal(GpuaggDecimalSum *a, GpuaggDecimalSum *b, int squares)
{
	uint16_t *room_a = malloc(sizeof(uint16_t) * (size_t) gpuagg_decimal_total_digits(a, squares));
	uint16_t *room_b = malloc(sizeof(uint16_t) * (size_t) gpuagg_decimal_total_digits(b, squares));
	GpuaggDecimal x = gpuagg_decimal_total(a, squares, room_a);
	GpuaggDecimal y = gpuagg_decimal_total(b, squares, room_b);
	int same = x.ndigits == y.ndigits && x.scale == y.scale &&
			   (x.ndigits == 0 || (x.weight == y.weight && x.negative == y.negative &&
								   memcmp(x.digits, y.digits, 2 * (size_t) x.ndigits) == 0));

	free(room_a);
	free(room_b);
	return same;
}

/*
 * Whether two accumulators have the same value.  Decimals may hold the same sum in
 * different parts; all others have only one form.
 */
static int
same_rows(const Family *family, Accumulator *a, Accumulator *b)
{
	static Bytes bytes_a;
	static Bytes bytes_b;

	if (family->count(a) != family->count(b))
		return 0;
	if (family->type == GPUAGG_STATE_NUMERIC)
		return gpuagg_decimal_special_sum(&a->d) == gpuagg_decimal_special_sum(&b->d) &&
			   same_decimal(&a->d, &b->d, 0) &&
			   (!is_moments(family) || same_decimal(&a->d, &b->d, 1));
	write_state(family, a, &bytes_a);
	write_state(family, b, &bytes_b);
	return same_bytes(&bytes_a, &bytes_b);
}

static void
test_round_trips(void)
{
	static Accumulator acc;
	static Accumulator back;
	static Bytes again;
	Family found;

	for (size_t f = 0; f < NFAMILIES; f++)
	{
		const Family *family = &families[f];
		int same = 1;

		for (int i = 0; i < STATES; i++)
		{
			family->fill(&acc, is_moments(family));
			write_state(family, &acc, &good[f][i]);
			if (read_state(&good[f][i], &back, &found) == NULL)
			{
				family->free(&acc);
				same = 0;
				continue;
			}
			same &= found.type == family->type && found.contents == family->contents;
			write_state(&found, &back, &again);
			same &= same_bytes(&again, &good[f][i]);
			same &= same_rows(family, &acc, &back);
			family->free(&acc);
			family->free(&back);
		}
		CHECK(same);
	}
}

/* The state of three: (a + b) + c, or c + (b + a). */
static void
merge_three(const Family *family, int first, int backwards, Accumulator *result)
{
	static Accumulator part[3];
	size_t f = (size_t) (family - families);
	Family found;

	for (int i = 0; i < 3; i++)
		CHECK(read_state(&good[f][first + i], &part[i], &found) != NULL);
	if (backwards)
	{
		family->merge(&part[1], &part[0]);
		family->merge(&part[2], &part[1]);
	}
	else
	{
		family->merge(&part[0], &part[1]);
		family->merge(&part[0], &part[2]);
	}
	*result = part[backwards ? 2 : 0];
	family->free(&part[1]);
	family->free(&part[backwards ? 0 : 2]);
}

static void
test_merges(void)
{
	static Accumulator one;
	static Accumulator other;

	for (size_t f = 0; f < NFAMILIES; f++)
	{
		int same = 1;

		for (int i = 0; i + 2 < STATES; i++)
		{
			merge_three(&families[f], i, 0, &one);
			merge_three(&families[f], i, 1, &other);
			same &= same_rows(&families[f], &one, &other);
			families[f].free(&one);
			families[f].free(&other);
		}
		CHECK(same);
	}
}

/* ---- the envelope ---- */

static GpuaggStateFault
fault_of(const Bytes *state, GpuaggStateHeader *header)
{
	GpuaggReader body;

	return gpuagg_state_open(state->b, state->n, header, &body);
}

static void
test_envelope(void)
{
	static Bytes s;
	GpuaggStateHeader h;
	int damaged = 1;

	copy_bytes(&s, &good[0][0]);
	CHECK(s.b[0] == 'G' && s.b[1] == 'A' && s.b[2] == 1);
	CHECK(fault_of(&s, &h) == GPUAGG_STATE_GOOD && h.type == GPUAGG_STATE_INT2 &&
		  h.contents == GPUAGG_STATE_SUMS);

	/* every single bit counts */
	for (size_t bit = 0; bit < 8 * s.n; bit++)
	{
		s.b[bit / 8] ^= 1 << bit % 8;
		if (bit < 16)
			damaged &= fault_of(&s, &h) == GPUAGG_STATE_FOREIGN;
		else if (bit < 24)
			damaged &= fault_of(&s, &h) == GPUAGG_STATE_OTHER_VERSION && h.version == s.b[2];
		else
			damaged &= fault_of(&s, &h) == GPUAGG_STATE_DAMAGED;
		s.b[bit / 8] ^= 1 << bit % 8;
	}
	CHECK(damaged);
	CHECK(fault_of(&s, &h) == GPUAGG_STATE_GOOD);

	/* cut off anywhere; longer by a byte */
	for (s.n = 0; s.n < good[0][0].n; s.n++)
		if (fault_of(&s, &h) == GPUAGG_STATE_GOOD)
			CHECK(!"cut off");
	make_room(&s, s.n + 1);
	s.b[s.n++] = 0;
	CHECK(fault_of(&s, &h) == GPUAGG_STATE_DAMAGED);

	/* whatever the type and the contents are */
	for (int type = 0; type < 256; type++)
		for (int contents = 0; contents < 256; contents++)
		{
			copy_bytes(&s, &good[0][0]);
			s.b[3] = (uint8_t) type;
			s.b[4] = (uint8_t) contents;
			seal(&s);
			damaged &= fault_of(&s, &h) == GPUAGG_STATE_GOOD && (int) h.type == type &&
					   (int) h.contents == contents;
		}
	CHECK(damaged);

	/* the published check value of CRC-32C */
	{
		uint8_t room[16] = "123456789";
		GpuaggWriter w = {room + 9};

		gpuagg_state_end(&w, room);
		CHECK(room[9] == 0xe3 && room[10] == 0x06 && room[11] == 0x92 && room[12] == 0x83);
	}
}

/* ---- any bytes ---- */

static void
overwrite(Bytes *s)
{
	static const uint64_t telling[] = {0,
									   1,
									   UINT64_MAX,
									   UINT64_C(1) << 63,
									   INT64_MAX,
									   GPUAGG_MAX_COUNT,
									   GPUAGG_MAX_COUNT + 1,
									   UINT32_MAX,
									   UINT64_C(0x8000000080000000)};
	uint64_t v = telling[below(sizeof(telling) / sizeof(telling[0]))];
	size_t bytes = (size_t) 1 << below(4);
	size_t at;

	if (s->n < bytes)
		return;
	at = below(s->n - bytes + 1);
	for (size_t i = 0; i < bytes; i++)
		s->b[at + i] = (uint8_t) (v >> 8 * (7 - i));
}

static void
make_input(Bytes *s)
{
	const Bytes *from = &good[below(NFAMILIES)][below(STATES)];
	int sealed = below(2) == 0;

	make_room(s, from->n + 1000);
	copy_bytes(s, from);
	switch (below(8))
	{
		case 0: /* bits flipped */
			for (size_t i = below(8) + 1; i > 0; i--)
				s->b[below(s->n)] ^= (uint8_t) (1 << below(8));
			break;
		case 1: /* bytes replaced */
			for (size_t i = below(8) + 1; i > 0; i--)
				s->b[below(s->n)] = (uint8_t) next();
			break;
		case 2:
		case 3: /* numbers at the limits written */
			for (size_t i = below(3) + 1; i > 0; i--)
				overwrite(s);
			break;
		case 4: /* cut off */
			s->n = below(s->n);
			break;
		case 5: /* longer */
			for (size_t i = below(40) + 1; i > 0; i--)
				s->b[s->n++] = (uint8_t) next();
			break;
		case 6: /* the beginning of one, the end of another */
		{
			const Bytes *other = &good[below(NFAMILIES)][below(STATES)];
			size_t skip = below(other->n);

			s->n = below(s->n);
			make_room(s, s->n + other->n);
			memcpy(s->b + s->n, other->b + skip, other->n - skip);
			s->n += other->n - skip;
			break;
		}
		case 7: /* random bytes, after a header or not */
			s->n = below(300);
			for (size_t i = below(2) * GPUAGG_STATE_HEADER_BYTES; i < s->n; i++)
				s->b[i] = (uint8_t) next();
			break;
	}
	if (sealed)
		seal(s);
}

/* A state that was read survives another round trip, and can be merged with itself. */
static int
try_state(const Family *family, Accumulator *acc)
{
	static Accumulator other;
	static Bytes once;
	static Bytes twice;
	Family found;
	int same;

	write_state(family, acc, &once);
	if (read_state(&once, &other, &found) == NULL)
		return 0;
	write_state(&found, &other, &twice);
	same = same_bytes(&once, &twice) && same_rows(family, acc, &other);

	family->use(acc, is_moments(family));
	family->merge(acc, &other);
	family->free(&other);
	family->use(acc, is_moments(family));
	if (family->count(acc) <= GPUAGG_MAX_COUNT)
	{
		write_state(family, acc, &once);
		if (read_state(&once, &other, &found) == NULL)
			return 0;
		family->free(&other);
	}
	return same;
}

static void
test_any_bytes(int inputs)
{
	static Accumulator acc;
	static Bytes input;
	int readable = 0;
	int same = 1;

	for (int i = 0; i < inputs; i++)
	{
		const Family *family;
		Family found;

		make_input(&input);
		family = read_state(&input, &acc, &found);
		if (family == NULL)
			continue;
		readable++;
		same &= try_state(family, &acc);
		family->free(&acc);
	}
	CHECK(same);
	printf("%d inputs, %d of them readable\n", inputs, readable);
	CHECK(readable > inputs / 20 && readable < inputs);
}

int
main(int argc, char **argv)
{
	uint64_t start = argc > 1 ? strtoull(argv[1], NULL, 0) : 20251121;
	int inputs = argc > 2 ? atoi(argv[2]) : INPUTS;

	seed = start;
	printf("seed %llu\n", (unsigned long long) start);
	test_round_trips();
	test_merges();
	test_envelope();
	test_any_bytes(inputs);
	return check_summary();
}
