/*
 * numeric_state.c
 *	  Exact sums of numerics, and the values they give.
 *
 * Results are made through the binary form that numeric_send() documents for
 * clients, as the stored form is core's own business.
 */
#include "compat.h"

#include "libpq/pqformat.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "common/decimal_variance.h"
#include "operation/numeric_read.h"
#include "operation/numeric_state.h"
#include "operation/numeric_variance.h"

#define SHORT_DIGITS 24 /* of results that need no other memory */
#define MAX_WEIGHT	 32767

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

void
gpuagg_numeric_state_init(NumericState *state, MemoryContext context, bool moments)
{
	gpuagg_decimal_init(state, moments, (GpuaggMemory){resize, context});
}

NumericState *
gpuagg_numeric_state_make(MemoryContext context, bool moments)
{
	NumericState *state = MemoryContextAlloc(context, GPUAGG_DECIMAL_SUM_SIZE(moments));

	gpuagg_numeric_state_init(state, context, moments);
	return state;
}

/* Adds or removes a value that may have to be brought together first. */
static bool
change(NumericState *state, Datum value, int sign)
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
		gpuagg_decimal_special(state, special, sign);
	else if (sign > 0)
	{
		gpuagg_decimal_rescale(state, gpuagg_decimal_groups_for(state, &x));
		gpuagg_decimal_add(state, &x);
	}
	else
		done = gpuagg_decimal_remove(state, &x);
	if (whole != NULL)
		pfree(whole);
	return done;
}

void
gpuagg_numeric_state_add(NumericState *state, Datum value)
{
	(void) change(state, value, 1);
}

bool
gpuagg_numeric_state_remove(NumericState *state, Datum value)
{
	return change(state, value, -1);
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

Datum
gpuagg_numeric_state_sum(NumericState *state, bool *isnull)
{
	GpuaggDecimalSpecial special = gpuagg_decimal_special_sum(state);
	uint16 small[SHORT_DIGITS];
	uint16 *room = small;
	GpuaggDecimal sum;
	Numeric result;
	int most;

	*isnull = gpuagg_decimal_count(state) <= 0;
	if (*isnull)
		return (Datum) 0;
	if (special != GPUAGG_DECIMAL_FINITE)
		return NumericGetDatum(special_numeric(special));
	most = gpuagg_decimal_total_digits(state, false);
	if (most > SHORT_DIGITS)
		room = palloc(most * sizeof(uint16));
	sum = gpuagg_decimal_total(state, false, room);
	result = decimal_numeric(&sum);
	if (room != small)
		pfree(room);
	return NumericGetDatum(result);
}

Datum
gpuagg_numeric_state_avg(NumericState *state, bool *isnull)
{
	Datum sum = gpuagg_numeric_state_sum(state, isnull);

	if (*isnull || gpuagg_decimal_special_sum(state) != GPUAGG_DECIMAL_FINITE)
		return sum;
	return DirectFunctionCall2(numeric_div, sum, NumericGetDatum(int64_to_numeric(state->fast.n)));
}

Datum
gpuagg_numeric_state_variance(NumericState *state, bool sample, bool root, bool *isnull)
{
	GpuaggMemory memory = {resize, CurrentMemoryContext};
	GpuaggLimbs limbs;
	GpuaggDecimal variance;
	uint16 *room;
	int scale;
	Datum result;

	*isnull = gpuagg_decimal_count(state) <= (sample ? 1 : 0);
	if (*isnull)
		return (Datum) 0;
	if (gpuagg_decimal_special_sum(state) != GPUAGG_DECIMAL_FINITE)
		return NumericGetDatum(special_numeric(GPUAGG_DECIMAL_NAN));
	scale = gpuagg_decimal_variance(state, sample, &memory, &limbs);
	room = palloc((limbs.width * GPUAGG_LIMB_GROUPS + 1) * sizeof(uint16));
	variance = gpuagg_limbs_decimal(&limbs, room);
	variance.scale = scale;
	result = NumericGetDatum(decimal_numeric(&variance));
	/* a variance of many digits after the point can round to zero */
	return root && variance.ndigits > 0 ? gpuagg_numeric_root(result) : result;
}
