/*
 * extreme_family.c
 *	  Minima and maxima: as order keys (column.h) or, of types by reference, as
 *	  copies of values.
 *
 * Order keys are a total order, and so is each order of values: no order of rows,
 * split into batches or worker changes the result.
 */
#include "postgres.h"

#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "operation/accumulators.h"
#include "types/decimal.h"
#include "types/value.h"

/* ---- order keys ---- */

static void
key_init(Accumulator *acc, MemoryContext context)
{
	KeyAccumulator *key = (KeyAccumulator *) acc;

	key->n = 0;
	key->key = acc->op == GPUAGG_MIN ? PG_INT64_MAX : PG_INT64_MIN;
}

static int64
key_count(const Accumulator *acc)
{
	return ((const KeyAccumulator *) acc)->n;
}

static void
key_deposit(Accumulator *acc, void *owner, SqlForm form, Datum value)
{
	gpuagg_key_take((KeyAccumulator *) acc, (GpuaggOp) acc->op, gpuagg_sql_number(form, value), 1);
}

static void
key_add_reduced(Accumulator *acc, void *owner, const GpuaggReduced *total)
{
	if (total->n > 0)
		gpuagg_key_take((KeyAccumulator *) acc, (GpuaggOp) acc->op, (int64) total->sum.lo,
						(int64) total->n);
}

static void
key_merge(Accumulator *into, void *owner, Accumulator *from)
{
	const KeyAccumulator *other = (KeyAccumulator *) from;

	gpuagg_key_take((KeyAccumulator *) into, (GpuaggOp) into->op, other->key, other->n);
}

static void
key_encode(const Accumulator *acc, StringInfo buf)
{
	const KeyAccumulator *key = (const KeyAccumulator *) acc;
	GpuaggWriter w;

	enlargeStringInfo(buf, 2 * sizeof(int64));
	w.next = (uint8_t *) buf->data + buf->len;
	gpuagg_put(&w, (uint64) key->n, 8);
	gpuagg_put(&w, (uint64) key->key, 8);
	buf->len += 2 * sizeof(int64);
}

static bool
key_decode(Accumulator *acc, void *owner, GpuaggReader *reader)
{
	KeyAccumulator *key = (KeyAccumulator *) acc;

	key->n = gpuagg_get_count(reader);
	key->key = (int64) gpuagg_get(reader, 8);
	return !reader->bad;
}

static Datum
key_finish(Accumulator *acc, Aggregate aggregate, Oid result, bool *isnull)
{
	const KeyAccumulator *key = (KeyAccumulator *) acc;

	*isnull = key->n == 0;
	return *isnull ? (Datum) 0 : gpuagg_key_value((GpuaggKind) acc->kind, key->key);
}

const StateFamily gpuagg_key_family = {
	.size = sizeof(KeyAccumulator),
	.in_place = true,
	.init = key_init,
	.count = key_count,
	.deposit = key_deposit,
	.add_reduced = key_add_reduced,
	.merge = key_merge,
	.encode = key_encode,
	.decode = key_decode,
	.finish = key_finish,
};

/* ---- values by reference ---- */

typedef struct ExtremeAccumulator
{
	Accumulator head;
	MemoryContext context; /* where the value lies */
	Datum value;		   /* NULL: none yet, unless is_integer */
	bool is_integer;	   /* the value is this one, of so many digits after the point */
	int scale;
	GpuaggInt128 integer;
} ExtremeAccumulator;

/* The value, which may be made here, or NULL. */
static Datum
extreme_value(const ExtremeAccumulator *extreme)
{
	if (!extreme->is_integer)
		return extreme->value;
	return NumericGetDatum(gpuagg_decimal_to_numeric(extreme->integer, extreme->scale));
}

/* Digits after the point; of NaN and infinities, whose equals are the same, 0. */
static int32
display_scale(Datum value)
{
	if (numeric_is_nan(DatumGetNumeric(value)) || numeric_is_inf(DatumGetNumeric(value)))
		return 0;
	return DatumGetInt32(DirectFunctionCall1(numeric_scale, value));
}

bool
gpuagg_numeric_wins(Datum a, Datum b, bool least)
{
	int32 order = DatumGetInt32(DirectFunctionCall2(numeric_cmp, a, b));

	if (order == 0)
		return display_scale(a) > display_scale(b);
	return (order < 0) == least;
}

static int
compare_numbers(int64 a, int64 b)
{
	return (a > b) - (a < b);
}

bool
gpuagg_interval_wins(Datum a, Datum b, bool least)
{
	const Interval *x = DatumGetIntervalP(a);
	const Interval *y = DatumGetIntervalP(b);
	int order = DatumGetInt32(DirectFunctionCall2(interval_cmp, a, b));

	if (order == 0)
		order = compare_numbers(x->month, y->month);
	if (order == 0)
		order = compare_numbers(x->day, y->day);
	if (order == 0)
		order = compare_numbers(x->time, y->time);
	return least ? order < 0 : order > 0;
}

static void
extreme_init(Accumulator *acc, MemoryContext context)
{
	ExtremeAccumulator *extreme = (ExtremeAccumulator *) acc;

	extreme->context = context;
	extreme->value = (Datum) 0;
	extreme->is_integer = false;
}

/* Whether there was a value: more is not known. */
static int64
extreme_count(const Accumulator *acc)
{
	const ExtremeAccumulator *extreme = (const ExtremeAccumulator *) acc;

	return extreme->is_integer || extreme->value != (Datum) 0;
}

/* Makes a copy of the value the accumulator's, in place of the one it has. */
static void
replace(ExtremeAccumulator *extreme, Datum value, int length)
{
	MemoryContext old = MemoryContextSwitchTo(extreme->context);

	if (extreme->value != (Datum) 0)
		pfree(DatumGetPointer(extreme->value));
	extreme->value = datumCopy(value, false, length);
	extreme->is_integer = false;
	MemoryContextSwitchTo(old);
}

static void
numeric_extreme_deposit(Accumulator *acc, void *owner, SqlForm form, Datum value)
{
	ExtremeAccumulator *extreme = (ExtremeAccumulator *) acc;
	Datum whole = NumericGetDatum(DatumGetNumeric(value));
	Datum before = extreme_value(extreme);

	if (before == (Datum) 0 || gpuagg_numeric_wins(whole, before, acc->op == GPUAGG_MIN))
		replace(extreme, whole, -1);
}

void
gpuagg_extreme_take_decimal(Accumulator *acc, GpuaggInt128 value, int scale)
{
	ExtremeAccumulator *extreme = (ExtremeAccumulator *) acc;
	int128 wide = gpuagg_int128_wide(value);

	if (extreme->is_integer && extreme->scale == scale)
	{
		int128 before = gpuagg_int128_wide(extreme->integer);

		if (acc->op == GPUAGG_MIN ? wide < before : wide > before)
			extreme->integer = value;
		return;
	}
	if (extreme_count(acc) > 0)
	{
		Datum before = extreme_value(extreme);

		if (!gpuagg_numeric_wins(NumericGetDatum(gpuagg_decimal_to_numeric(value, scale)), before,
								 acc->op == GPUAGG_MIN))
			return;
	}
	extreme->is_integer = true;
	extreme->integer = value;
	extreme->scale = scale;
}

static void
interval_extreme_deposit(Accumulator *acc, void *owner, SqlForm form, Datum value)
{
	ExtremeAccumulator *extreme = (ExtremeAccumulator *) acc;

	if (extreme->value == (Datum) 0 ||
		gpuagg_interval_wins(value, extreme->value, acc->op == GPUAGG_MIN))
		replace(extreme, value, sizeof(Interval));
}

static void
extreme_merge(Accumulator *into, void *owner, Accumulator *from)
{
	Datum value = extreme_value((const ExtremeAccumulator *) from);

	if (value != (Datum) 0)
		gpuagg_family_of(into)->deposit(into, owner, SQL_OPAQUE, value);
}

/* The length of what a type's send function makes, or 0 if there is no value, then that. */
static void
extreme_encode(const Accumulator *acc, StringInfo buf)
{
	Datum value = extreme_value((const ExtremeAccumulator *) acc);
	bytea *sent;

	if (value == (Datum) 0)
	{
		pq_sendint32(buf, 0);
		return;
	}
	sent = DatumGetByteaP(acc->family == SQL_FAMILY_NUMERIC_EXTREME
							  ? DirectFunctionCall1(numeric_send, value)
							  : DirectFunctionCall1(interval_send, value));
	pq_sendint32(buf, VARSIZE(sent) - VARHDRSZ);
	appendBinaryStringInfo(buf, VARDATA(sent), (int) (VARSIZE(sent) - VARHDRSZ));
	pfree(sent);
}

static bool
extreme_decode(Accumulator *acc, void *owner, GpuaggReader *reader)
{
	uint64 size = gpuagg_get(reader, 4);
	StringInfoData buf;
	Datum value;

	if (reader->bad || size > reader->left)
		return false;
	if (size == 0)
		return true;
	initStringInfo(&buf);
	appendBinaryStringInfo(&buf, (const char *) reader->next, (int) size);
	reader->next += size;
	reader->left -= size;
	value = DirectFunctionCall3(acc->family == SQL_FAMILY_NUMERIC_EXTREME ? numeric_recv
																		  : interval_recv,
								PointerGetDatum(&buf), ObjectIdGetDatum(InvalidOid),
								Int32GetDatum(-1));
	gpuagg_family_of(acc)->deposit(acc, owner, SQL_OPAQUE, value);
	pfree(buf.data);
	return buf.cursor == buf.len;
}

static Datum
extreme_finish(Accumulator *acc, Aggregate aggregate, Oid result, bool *isnull)
{
	Datum value = extreme_value((const ExtremeAccumulator *) acc);

	*isnull = value == (Datum) 0;
	return value;
}

/* The aggregates have values for states, which they compare in pairs; these are for the nodes. */
const StateFamily gpuagg_numeric_extreme_family = {
	.size = sizeof(ExtremeAccumulator),
	.init = extreme_init,
	.count = extreme_count,
	.deposit = numeric_extreme_deposit,
	.merge = extreme_merge,
	.encode = extreme_encode,
	.decode = extreme_decode,
	.finish = extreme_finish,
};

const StateFamily gpuagg_interval_extreme_family = {
	.size = sizeof(ExtremeAccumulator),
	.init = extreme_init,
	.count = extreme_count,
	.deposit = interval_extreme_deposit,
	.merge = extreme_merge,
	.encode = extreme_encode,
	.decode = extreme_decode,
	.finish = extreme_finish,
};
