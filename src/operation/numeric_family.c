/*
 * numeric_family.c
 *	  Sums and squares of numerics.
 *
 * Results of any length are made through the binary form that numeric_send() documents
 * for clients.
 */
#include "compat.h"

#include "libpq/pqformat.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "common/decimal_variance.h"
#include "operation/accumulators.h"
#include "operation/numeric_read.h"
#include "types/decimal.h"
#include "types/value.h"

#define SHORT_DIGITS  24 /* of results that need no other memory */
#define MAX_WEIGHT	  32767

#define SIZE(moments) (offsetof(NumericAccumulator, sums) + GPUAGG_DECIMAL_SUM_SIZE(moments))

/* 16 bytes are a group's own */
StaticAssertDecl(SIZE(true) + 16 <= 128, "a group's state must stay small");

static void *
resize(void *owner, void *old, size_t bytes)
{
	if (bytes == 0)
	{
		pfree(old);
		return NULL;
	}
	return MemoryContextAlloc(owner, bytes);
}

/* Adds or removes a value that may have to be brought together first. */
static bool
change(GpuaggDecimalSum *sums, Datum value, int sign)
{
	struct varlena *whole = NULL;
	Size size;
	const char *data = gpuagg_numeric_in_place(value, &size);
	GpuaggDecimal x;
	GpuaggDecimalSpecial special;
	bool done = true;

	if (data == NULL)
	{
		whole = pg_detoast_datum((struct varlena *) DatumGetPointer(value));
		data = gpuagg_numeric_in_place(PointerGetDatum(whole), &size);
	}
	special = gpuagg_numeric_read(data, size, &x);
	if (special != GPUAGG_DECIMAL_FINITE)
		gpuagg_decimal_special(sums, special, sign);
	else if (sign > 0)
	{
		gpuagg_decimal_rescale(sums, gpuagg_decimal_groups_for(sums, &x));
		gpuagg_decimal_add(sums, &x);
	}
	else
		done = gpuagg_decimal_remove(sums, &x);
	if (whole != NULL)
		pfree(whole);
	return done;
}

static void
put_word(char *place, int word)
{
	place[0] = (char) (word >> 8);
	place[1] = (char) word;
}

/* A numeric from its parts: number of groups, weight, sign, scale, and the groups at digits. */
static Numeric
make_numeric(int ndigits, int weight, int sign, int scale, const uint16 *digits)
{
	char room[8 + 2 * SHORT_DIGITS];
	StringInfoData buf;
	Numeric result;

	memset(&buf, 0, sizeof(buf));
	buf.len = buf.maxlen = 8 + 2 * ndigits;
	buf.data = ndigits <= SHORT_DIGITS ? room : palloc(buf.len);
	put_word(buf.data, ndigits);
	put_word(buf.data + 2, weight);
	put_word(buf.data + 4, sign);
	put_word(buf.data + 6, scale);
	for (int i = 0; i < ndigits; i++)
		put_word(buf.data + 8 + 2 * i, digits[i]);
	result = DatumGetNumeric(DirectFunctionCall3(numeric_recv, PointerGetDatum(&buf),
												 ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
	if (buf.data != room)
		pfree(buf.data);
	return result;
}

static Numeric
decimal_numeric(const GpuaggDecimal *x)
{
	if (x->weight > MAX_WEIGHT)
		ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
						errmsg("value overflows numeric format")));
	return make_numeric(x->ndigits, x->weight, x->negative ? 0x4000 : 0, x->scale,
						(const uint16 *) x->digits);
}

static Numeric
special_numeric(GpuaggDecimalSpecial special)
{
	switch (special)
	{
		case GPUAGG_DECIMAL_PINF:
			return make_numeric(0, 0, 0xd000, 0, NULL);
		case GPUAGG_DECIMAL_NINF:
			return make_numeric(0, 0, 0xf000, 0, NULL);
		default:
			return make_numeric(0, 0, 0xc000, 0, NULL);
	}
}

/* The sum of the finite values, by its digits. */
static Numeric
sum_of_digits(GpuaggDecimalSum *sums)
{
	uint16 *room = palloc(gpuagg_decimal_total_digits(sums, false) * sizeof(uint16));
	GpuaggDecimal sum = gpuagg_decimal_total(sums, false, room);
	Numeric result = decimal_numeric(&sum);

	pfree(room);
	return result;
}

/* The sum, or, with average, that divided by the number of values. */
static Datum
sum_value(GpuaggDecimalSum *sums, bool average, bool *isnull)
{
	GpuaggDecimalSpecial special = gpuagg_decimal_special_sum(sums);
	const GpuaggIntSum *fast = &sums->fast;
	int places = sums->groups * 4;

	*isnull = gpuagg_decimal_count(sums) <= 0;
	if (*isnull)
		return (Datum) 0;
	if (special != GPUAGG_DECIMAL_FINITE)
		return NumericGetDatum(special_numeric(special));
	/* counts of states that a stranger made add up to anything */
	if (gpuagg_decimal_is_fast(sums) && fast->n > 0)
		return NumericGetDatum(average
								   ? gpuagg_decimal_divide(fast->sum, places, sums->scale, fast->n)
								   : gpuagg_decimal_display(fast->sum, places, sums->scale));
	if (average)
		return DirectFunctionCall2(numeric_div, NumericGetDatum(sum_of_digits(sums)),
								   NumericGetDatum(int64_to_numeric(fast->n)));
	return NumericGetDatum(sum_of_digits(sums));
}

static Datum
variance_value(GpuaggDecimalSum *sums, bool sample, bool root, bool *isnull)
{
	GpuaggMemory memory = {resize, CurrentMemoryContext};
	GpuaggLimbs limbs;
	GpuaggDecimal variance;
	uint16 *room;
	int scale;
	Datum result;

	*isnull = gpuagg_decimal_count(sums) <= (sample ? 1 : 0);
	if (*isnull)
		return (Datum) 0;
	if (gpuagg_decimal_special_sum(sums) != GPUAGG_DECIMAL_FINITE)
		return NumericGetDatum(special_numeric(GPUAGG_DECIMAL_NAN));
	scale = gpuagg_decimal_variance(sums, sample, &memory, &limbs);
	room = palloc((limbs.width * GPUAGG_LIMB_GROUPS + 1) * sizeof(uint16));
	variance = gpuagg_limbs_decimal(&limbs, room);
	variance.scale = scale;
	result = NumericGetDatum(decimal_numeric(&variance));
	/* a variance of many digits after the point can round to zero */
	return root && variance.ndigits > 0 ? gpuagg_numeric_root(result) : result;
}

static GpuaggDecimalSum *
sums_of(const Accumulator *acc)
{
	return &((NumericAccumulator *) acc)->sums;
}

static void
numeric_init(Accumulator *acc, MemoryContext context)
{
	gpuagg_decimal_init(sums_of(acc), acc->op == GPUAGG_MOMENTS, (GpuaggMemory){resize, context});
}

static int64
numeric_count(const Accumulator *acc)
{
	return gpuagg_decimal_count(sums_of(acc));
}

static void
numeric_deposit(Accumulator *acc, void *owner, SqlForm form, Datum value)
{
	(void) change(sums_of(acc), value, 1);
}

/* Cannot where that would leave the largest display scale unknown. */
static bool
numeric_remove(Accumulator *acc, void *owner, SqlForm form, Datum value)
{
	return change(sums_of(acc), value, -1);
}

/* Of values that are 64-bit integers at the scale of the sums. */
static void
numeric_add_reduced(Accumulator *acc, void *owner, const GpuaggReduced *total)
{
	GpuaggIntSum fast = {.n = (int64) total->n, .sum = total->sum};

	memcpy(fast.squares, total->squares, sizeof(fast.squares));
	gpuagg_decimal_add_fast(sums_of(acc), &fast);
}

static void
numeric_merge(Accumulator *into, void *owner, Accumulator *from)
{
	gpuagg_decimal_merge(sums_of(into), sums_of(from));
}

static void
numeric_encode(const Accumulator *acc, StringInfo buf)
{
	GpuaggDecimalSum *sums = sums_of(acc);

	enlargeStringInfo(buf, (int) gpuagg_decimal_encoded_bytes(sums));
	buf->len += (int) gpuagg_decimal_encode(sums, (uint8_t *) buf->data + buf->len);
}

static bool
numeric_decode(Accumulator *acc, void *owner, GpuaggReader *reader)
{
	bool moments = acc->op == GPUAGG_MOMENTS;
	GpuaggDecimalSum sums;

	gpuagg_decimal_init(&sums, true, sums_of(acc)->memory);
	if (!gpuagg_decimal_decode(reader, &sums) || sums.fast.moments != moments)
		return false;
	memcpy(sums_of(acc), &sums, GPUAGG_DECIMAL_SUM_SIZE(moments));
	return true;
}

/* As core gives them, to the display scale. */
static Datum
numeric_finish(Accumulator *acc, Aggregate aggregate, Oid result, bool *isnull)
{
	const AggregateInfo *info = &gpuagg_aggregates[aggregate];

	if (info->op == GPUAGG_MOMENTS)
		return variance_value(sums_of(acc), info->sample, info->root, isnull);
	return sum_value(sums_of(acc), aggregate == AGGREGATE_AVG, isnull);
}

const StateFamily gpuagg_numeric_family = {
	.size = SIZE(false),
	.size_of_moments = SIZE(true),
	.init = numeric_init,
	.count = numeric_count,
	.deposit = numeric_deposit,
	.remove = numeric_remove,
	.add_reduced = numeric_add_reduced,
	.merge = numeric_merge,
	.encode = numeric_encode,
	.decode = numeric_decode,
	.finish = numeric_finish,
};
