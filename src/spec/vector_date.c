/*
 * vector_date.c
 *	  Calls of functions over dates and times as instructions.
 *
 * Values are core's: days (INT32) and microseconds (INT64) since 2000-01-01, and
 * microseconds since midnight.  Infinities are the ends of these types; they lie
 * outside the ranges of finite values, and rows with them are flagged wherever an
 * instruction computes with a value, as are results beyond the ranges.
 *
 * What depends on a time zone is in vector_zone.c.
 */
#include "spec/vector_rule.h"

#include "nodes/nodeFuncs.h"
#include "parser/scansup.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#define FIRST_DATE		(DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE)
#define LAST_DATE		(DATE_END_JULIAN - POSTGRES_EPOCH_JDATE - 1)
#define LAST_STAMP_DATE (TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE - 1)
#define FIRST_STAMP		MIN_TIMESTAMP
#define LAST_STAMP		(END_TIMESTAMP - 1)

static void
set(VectorValue *value, uint16 reg, GpuaggVectorType type)
{
	*value = (VectorValue){.reg = reg, .type = type, .scale = -1, .width = -1};
}

static uint16
int64_constant(VectorBuild *build, int64 integer)
{
	return gpuagg_build_integer(build, GPUAGG_VECTOR_INT64, integer);
}

static uint16
int64_two(VectorBuild *build, GpuaggVectorOp op, uint16 a, uint16 b)
{
	return gpuagg_build_two(build, op, GPUAGG_VECTOR_INT64, a, b);
}

static uint16
stamp_in_range(VectorBuild *build, uint16 a)
{
	return gpuagg_build_in_range(build, GPUAGG_VECTOR_INT64, a, FIRST_STAMP, LAST_STAMP);
}

static Oid
argument_type(const VectorCall *call, int number)
{
	return exprType(list_nth(call->args, number));
}

/* An argument that is a constant and not NULL; or NULL. */
static const Const *
constant_argument(const VectorCall *call, int number)
{
	const Const *constant = list_nth(call->args, number);

	return IsA(constant, Const) && !constant->constisnull ? constant : NULL;
}

/* ---- dates ---- */

/* date + int4, date - int4 */
bool
gpuagg_rule_date_add_days(const VectorCall *call, VectorValue *value)
{
	VectorBuild *build = call->build;
	VectorValue date;
	VectorValue days;
	uint16 reg;

	gpuagg_compile_argument(call, 0, &date);
	gpuagg_compile_argument(call, 1, &days);
	if (date.type != GPUAGG_VECTOR_INT32 || days.type != GPUAGG_VECTOR_INT32)
		return false;
	reg = gpuagg_build_in_range(build, GPUAGG_VECTOR_INT32, date.reg, FIRST_DATE, LAST_DATE);
	reg = gpuagg_build_two(build, call->function->op, GPUAGG_VECTOR_INT32, reg, days.reg);
	set(value, gpuagg_build_in_range(build, GPUAGG_VECTOR_INT32, reg, FIRST_DATE, LAST_DATE),
		GPUAGG_VECTOR_INT32);
	return true;
}

/* date - date */
bool
gpuagg_rule_date_difference(const VectorCall *call, VectorValue *value)
{
	VectorBuild *build = call->build;
	VectorValue date[2];

	for (int i = 0; i < 2; i++)
	{
		gpuagg_compile_argument(call, i, &date[i]);
		if (date[i].type != GPUAGG_VECTOR_INT32)
			return false;
		date[i].reg = gpuagg_build_in_range(build, GPUAGG_VECTOR_INT32, date[i].reg, FIRST_DATE,
											LAST_DATE);
	}
	set(value,
		gpuagg_build_two(build, GPUAGG_VECTOR_SUB, GPUAGG_VECTOR_INT32, date[0].reg, date[1].reg),
		GPUAGG_VECTOR_INT32);
	return true;
}

/* A date as the timestamp of its midnight. */
static bool
date_stamp(VectorBuild *build, const VectorValue *date, VectorValue *value)
{
	VectorValue day = *date;

	if (date->type != GPUAGG_VECTOR_INT32)
		return false;
	day.reg = gpuagg_build_in_range(build, GPUAGG_VECTOR_INT32, day.reg, FIRST_DATE,
									LAST_STAMP_DATE);
	gpuagg_compile_cast(build, &day, GPUAGG_VECTOR_INT64);
	set(value, int64_two(build, GPUAGG_VECTOR_MUL, day.reg, int64_constant(build, USECS_PER_DAY)),
		GPUAGG_VECTOR_INT64);
	return true;
}

bool
gpuagg_compile_stamp(const VectorCall *call, int number, VectorValue *value)
{
	gpuagg_compile_argument(call, number, value);
	if (argument_type(call, number) == DATEOID)
		return date_stamp(call->build, value, value);
	return value->type == GPUAGG_VECTOR_INT64;
}

/* An argument as the local time of the setting TimeZone, where it has a zone. */
static bool
local_argument(const VectorCall *call, int number, VectorValue *value)
{
	return gpuagg_compile_stamp(call, number, value) &&
		   (argument_type(call, number) != TIMESTAMPTZOID ||
			gpuagg_zone_shift(call->build, GPUAGG_VECTOR_TIME_TO_LOCAL, NULL, value));
}

bool
gpuagg_rule_date_to_timestamp(const VectorCall *call, VectorValue *value)
{
	return gpuagg_compile_stamp(call, 0, value);
}

/* Days since 2000-01-01 of a finite timestamp, INT64. */
static uint16
day_of(VectorBuild *build, uint16 stamp)
{
	return int64_two(build, GPUAGG_VECTOR_DIV_FLOOR, stamp_in_range(build, stamp),
					 int64_constant(build, USECS_PER_DAY));
}

bool
gpuagg_rule_timestamp_to_date(const VectorCall *call, VectorValue *value)
{
	VectorValue stamp;

	if (!local_argument(call, 0, &stamp))
		return false;
	set(value, day_of(call->build, stamp.reg), GPUAGG_VECTOR_INT64);
	return gpuagg_compile_cast(call->build, value, GPUAGG_VECTOR_INT32);
}

/* The time of a timestamp's day. */
bool
gpuagg_rule_timestamp_to_time(const VectorCall *call, VectorValue *value)
{
	VectorBuild *build = call->build;
	VectorValue stamp;
	uint16 midnight;

	if (!local_argument(call, 0, &stamp))
		return false;
	midnight = int64_two(build, GPUAGG_VECTOR_MUL, day_of(build, stamp.reg),
						 int64_constant(build, USECS_PER_DAY));
	set(value, int64_two(build, GPUAGG_VECTOR_SUB, stamp.reg, midnight), GPUAGG_VECTOR_INT64);
	return true;
}

/* date + time, on either side */
bool
gpuagg_rule_date_add_time(const VectorCall *call, VectorValue *value)
{
	VectorBuild *build = call->build;
	VectorValue part[2];

	for (int i = 0; i < 2; i++)
	{
		if (!gpuagg_compile_stamp(call, i, &part[i]))
			return false;
	}
	set(value, stamp_in_range(build, int64_two(build, GPUAGG_VECTOR_ADD, part[0].reg, part[1].reg)),
		GPUAGG_VECTOR_INT64);
	return true;
}

/* A date beside a finite constant, as days: dates are midnights, infinite ones the first and last. */
static bool
compare_days(const VectorCall *call, VectorValue *value)
{
	int date = argument_type(call, 0) == DATEOID ? 0 : 1;
	const Const *constant = constant_argument(call, 1 - date);
	GpuaggVectorOp op = date == 0 ? call->function->op : gpuagg_vector_commuted(call->function->op);
	VectorValue days;
	Timestamp stamp;
	int64 day;

	if (constant == NULL)
		return false;
	stamp = DatumGetTimestamp(constant->constvalue);
	if (TIMESTAMP_NOT_FINITE(stamp))
		return false;
	day = stamp / USECS_PER_DAY - (stamp % USECS_PER_DAY < 0);
	if (stamp % USECS_PER_DAY != 0)
	{
		if (op == GPUAGG_VECTOR_EQ || op == GPUAGG_VECTOR_NE)
			return false;
		if (op == GPUAGG_VECTOR_LT || op == GPUAGG_VECTOR_GE)
			day++;
	}
	gpuagg_compile_argument(call, date, &days);
	if (days.type != GPUAGG_VECTOR_INT32)
		return false;
	gpuagg_value_bool(value, gpuagg_build_two(call->build, op, GPUAGG_VECTOR_INT32, days.reg,
											  gpuagg_build_integer(call->build, GPUAGG_VECTOR_INT32,
																   day)));
	return true;
}

bool
gpuagg_rule_compare_date_timestamp(const VectorCall *call, VectorValue *value)
{
	VectorValue a;
	VectorValue b;

	if (compare_days(call, value))
		return true;
	if (!gpuagg_compile_stamp(call, 0, &a) || !gpuagg_compile_stamp(call, 1, &b))
		return false;
	gpuagg_value_bool(value, int64_two(call->build, call->function->op, a.reg, b.reg));
	return true;
}

/* ---- intervals ---- */

/* A finite interval constant without months. */
static const Interval *
constant_interval(const VectorCall *call, int number)
{
	const Const *constant = constant_argument(call, number);
	const Interval *interval;

	if (constant == NULL || constant->consttype != INTERVALOID)
		return NULL;
	interval = DatumGetIntervalP(constant->constvalue);
	return interval->month == 0 && compat_interval_infinity(interval) == 0 ? interval : NULL;
}

/*
 * A timestamp, or a date, plus or minus an interval.  Core adds the days, then the
 * time, and raises an error if either sum is not a timestamp: so the result r has to
 * be one, r - time as well, and r - time - days, which is the argument.
 */
static bool
add_interval(VectorBuild *build, __int128 days, __int128 time, VectorValue *value)
{
	__int128 least = Max(FIRST_STAMP, Max(FIRST_STAMP + time, FIRST_STAMP + time + days));
	__int128 most = Min(LAST_STAMP, Min(LAST_STAMP + time, LAST_STAMP + time + days));
	uint16 reg;

	if (least > most || days + time < PG_INT64_MIN || days + time > PG_INT64_MAX)
		return false;
	reg = int64_two(build, GPUAGG_VECTOR_ADD, value->reg,
					int64_constant(build, (int64) (days + time)));
	set(value, gpuagg_build_in_range(build, GPUAGG_VECTOR_INT64, reg, least, most),
		GPUAGG_VECTOR_INT64);
	return true;
}

/* With a time zone, days are those of the zone. */
bool
gpuagg_rule_add_interval(const VectorCall *call, VectorValue *value)
{
	VectorBuild *build = call->build;
	const Interval *interval = constant_interval(call, 1);
	int sign = call->function->op == GPUAGG_VECTOR_SUB ? -1 : 1;
	__int128 days;
	__int128 time;

	if (interval == NULL || !gpuagg_compile_stamp(call, 0, value))
		return false;
	days = (__int128) interval->day * USECS_PER_DAY * sign;
	time = (__int128) interval->time * sign;
	if (argument_type(call, 0) != TIMESTAMPTZOID || days == 0)
		return add_interval(build, days, time, value);
	return gpuagg_zone_shift(build, GPUAGG_VECTOR_TIME_TO_LOCAL, NULL, value) &&
		   add_interval(build, days, 0, value) &&
		   gpuagg_zone_shift(build, GPUAGG_VECTOR_TIME_FROM_LOCAL, NULL, value) &&
		   add_interval(build, 0, time, value);
}

/* A time plus or minus an interval, of which only the time counts; it goes around midnight. */
bool
gpuagg_rule_time_add_interval(const VectorCall *call, VectorValue *value)
{
	VectorBuild *build = call->build;
	const Interval *interval = constant_interval(call, 1);
	VectorValue time;
	uint16 day = int64_constant(build, USECS_PER_DAY);
	uint16 sum;
	uint16 whole;

	gpuagg_compile_argument(call, 0, &time);
	if (interval == NULL || time.type != GPUAGG_VECTOR_INT64)
		return false;
	sum = int64_two(build, call->function->op, time.reg, int64_constant(build, interval->time));
	whole = int64_two(build, GPUAGG_VECTOR_DIV_FLOOR, sum, day);
	whole = int64_two(build, GPUAGG_VECTOR_MUL, whole, day);
	set(value, int64_two(build, GPUAGG_VECTOR_SUB, sum, whole), GPUAGG_VECTOR_INT64);
	return true;
}

/* ---- fields ---- */

typedef struct Field
{
	int unit;	  /* DTK_* of core's table of units */
	uint8 field;  /* GpuaggVectorField */
	int8 scale;	  /* of extract's result: how many digits of TIME_FIELD's are decimal places */
	uint8 digits; /* that it can have, in all */
} Field;

static const Field fields[] = {
	{DTK_MICROSEC, GPUAGG_FIELD_MICROSECOND, 0, 8},
	{DTK_MILLISEC, GPUAGG_FIELD_MILLISECOND, 3, 8},
	{DTK_SECOND, GPUAGG_FIELD_SECOND, 6, 8},
	{DTK_MINUTE, GPUAGG_FIELD_MINUTE, 0, 2},
	{DTK_HOUR, GPUAGG_FIELD_HOUR, 0, 2},
	{DTK_DAY, GPUAGG_FIELD_DAY, 0, 2},
	{DTK_WEEK, GPUAGG_FIELD_WEEK, 0, 2},
	{DTK_MONTH, GPUAGG_FIELD_MONTH, 0, 2},
	{DTK_QUARTER, GPUAGG_FIELD_QUARTER, 0, 1},
	{DTK_YEAR, GPUAGG_FIELD_YEAR, 0, 7},
	{DTK_DECADE, GPUAGG_FIELD_DECADE, 0, 6},
	{DTK_CENTURY, GPUAGG_FIELD_CENTURY, 0, 5},
	{DTK_MILLENNIUM, GPUAGG_FIELD_MILLENNIUM, 0, 4},
	{DTK_DOW, GPUAGG_FIELD_DOW, 0, 1},
	{DTK_ISODOW, GPUAGG_FIELD_ISODOW, 0, 1},
	{DTK_DOY, GPUAGG_FIELD_DOY, 0, 3},
	{DTK_ISOYEAR, GPUAGG_FIELD_ISOYEAR, 0, 7},
	{DTK_JULIAN, GPUAGG_FIELD_JULIAN, 0, 9},
	{DTK_EPOCH, GPUAGG_FIELD_EPOCH, 6, 19},
};

/* The field that the first argument names; NULL: none, or it is no constant. */
static const Field *
named_field(const VectorCall *call)
{
	const Const *constant = constant_argument(call, 0);
	char *word;
	text *name;
	int kind;
	int unit;

	if (constant == NULL || constant->consttype != TEXTOID)
		return NULL;
	name = DatumGetTextPP(constant->constvalue);
	word = downcase_truncate_identifier(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name), false);
	kind = DecodeUnits(0, word, &unit);
	if (kind == UNKNOWN_FIELD)
		kind = DecodeSpecial(0, word, &unit);
	if (kind != UNITS && kind != RESERV)
		return NULL;
	for (int i = 0; i < lengthof(fields); i++)
	{
		if (fields[i].unit == unit)
			return &fields[i];
	}
	return NULL;
}

static uint16
time_field(VectorBuild *build, GpuaggVectorOp op, uint16 stamp, GpuaggVectorField field)
{
	GpuaggVectorInstruction instruction = {.op = op,
										   .type = GPUAGG_VECTOR_INT64,
										   .a = stamp,
										   .b = GPUAGG_VECTOR_NONE,
										   .c = GPUAGG_VECTOR_NONE,
										   .arg = field};

	return gpuagg_build_emit(build, instruction);
}

/*
 * With a time zone, that of the setting TimeZone or a third argument's: from days on the time that has
 * the truncated local time; before them the shift stays as it is, and seconds are the same in all zones.
 */
bool
gpuagg_rule_date_trunc(const VectorCall *call, VectorValue *value)
{
	VectorBuild *build = call->build;
	const Field *field = named_field(call);
	Expr *zone = list_length(call->args) > 2 ? lthird(call->args) : NULL;
	VectorValue stamp;
	bool shifted;
	uint16 reg;

	if (field == NULL || field->field > GPUAGG_FIELD_MILLENNIUM ||
		!gpuagg_compile_stamp(call, 1, &stamp))
		return false;
	shifted = zone != NULL ||
			  (argument_type(call, 1) == TIMESTAMPTZOID && field->field > GPUAGG_FIELD_SECOND);
	*value = stamp;
	if (shifted && !gpuagg_zone_shift(build, GPUAGG_VECTOR_TIME_TO_LOCAL, zone, value))
		return false;
	reg = time_field(build, GPUAGG_VECTOR_TIME_TRUNC, value->reg, field->field);
	if (shifted && field->field < GPUAGG_FIELD_DAY)
		reg = int64_two(build, GPUAGG_VECTOR_SUB, stamp.reg,
						int64_two(build, GPUAGG_VECTOR_SUB, value->reg, reg));
	set(value, reg, GPUAGG_VECTOR_INT64);
	return !shifted || field->field < GPUAGG_FIELD_DAY ||
		   gpuagg_zone_shift(build, GPUAGG_VECTOR_TIME_FROM_LOCAL, zone, value);
}

/*
 * The field of the second argument: *reg is an INT64, of *scale decimal places.
 * Infinities have other results, or none, so that they are flagged.
 */
static bool
field_of(const VectorCall *call, const Field *field, uint16 *reg, int *scale)
{
	VectorBuild *build = call->build;
	Oid type = argument_type(call, 1);
	VectorValue stamp;

	*scale = field->scale;
	gpuagg_compile_argument(call, 1, &stamp);
	switch (type)
	{
		case TIMESTAMPOID:
			if (field->field == GPUAGG_FIELD_JULIAN)
				return false; /* has a fraction of any length */
			break;
		case TIMESTAMPTZOID:
			if (field->field == GPUAGG_FIELD_JULIAN ||
				(field->field != GPUAGG_FIELD_EPOCH &&
				 !gpuagg_zone_shift(build, GPUAGG_VECTOR_TIME_TO_LOCAL, NULL, &stamp)))
				return false;
			break;
		case DATEOID:
			if (field->field < GPUAGG_FIELD_DAY)
				return false; /* core raises an error */
			if (!date_stamp(build, &stamp, &stamp))
				return false;
			break;
		case TIMEOID:
			if (field->field > GPUAGG_FIELD_HOUR && field->field != GPUAGG_FIELD_EPOCH)
				return false;
			if (stamp.type != GPUAGG_VECTOR_INT64)
				return false;
			if (field->field == GPUAGG_FIELD_EPOCH)
			{
				*reg = stamp.reg;
				return true;
			}
			/* 24:00 is a time of no day */
			stamp.reg = gpuagg_build_in_range(build, GPUAGG_VECTOR_INT64, stamp.reg, 0,
											  USECS_PER_DAY - 1);
			break;
		default:
			return false;
	}
	if (stamp.type != GPUAGG_VECTOR_INT64)
		return false;
	*reg = time_field(build, GPUAGG_VECTOR_TIME_FIELD, stamp.reg, field->field);
	if (type == DATEOID && field->field == GPUAGG_FIELD_EPOCH)
	{
		/* whole seconds */
		*reg = int64_two(build, GPUAGG_VECTOR_DIV, *reg, int64_constant(build, USECS_PER_SEC));
		*scale = 0;
	}
	return true;
}

/* extract(): numeric */
bool
gpuagg_rule_extract(const VectorCall *call, VectorValue *value)
{
	const Field *field = named_field(call);
	uint16 reg;
	int scale;

	if (field == NULL || !field_of(call, field, &reg, &scale))
		return false;
	set(value, reg, GPUAGG_VECTOR_INT64);
	value->scale = scale;
	value->precision = field->digits;
	return true;
}

/* date_part(): double precision.  Core adds seconds and their fraction as floats. */
bool
gpuagg_rule_date_part(const VectorCall *call, VectorValue *value)
{
	VectorBuild *build = call->build;
	const Field *field = named_field(call);
	GpuaggVectorConstant million = {.type = GPUAGG_VECTOR_FLOAT64, .u.float64 = 1000000.0};
	uint16 reg;
	int scale;

	if (field == NULL || field->field == GPUAGG_FIELD_SECOND ||
		field->field == GPUAGG_FIELD_MILLISECOND || !field_of(call, field, &reg, &scale))
		return false;
	set(value, reg, GPUAGG_VECTOR_INT64);
	gpuagg_compile_cast(build, value, GPUAGG_VECTOR_FLOAT64);
	if (scale == 6)
		value->reg = gpuagg_build_two(build, GPUAGG_VECTOR_DIV, GPUAGG_VECTOR_FLOAT64, value->reg,
									  gpuagg_build_constant(build, &million));
	return true;
}

/*
 * date_bin(stride, timestamp, origin), of constants but for the timestamp.  Some
 * minor versions go one stride too far at a multiple of it before the origin; a
 * call tells.
 */
bool
gpuagg_rule_date_bin(const VectorCall *call, VectorValue *value)
{
	VectorBuild *build = call->build;
	const Interval *interval = constant_interval(call, 0);
	const Const *from = constant_argument(call, 2);
	VectorValue stamp;
	int64 origin;
	__int128 stride;
	uint16 reg;

	if (interval == NULL || from == NULL)
		return false;
	origin = DatumGetTimestamp(from->constvalue);
	stride = (__int128) interval->day * USECS_PER_DAY + interval->time;
	if (stride <= 0 || stride > PG_INT64_MAX || origin - stride < FIRST_STAMP ||
		origin > LAST_STAMP)
		return false;
	gpuagg_compile_argument(call, 1, &stamp);
	if (stamp.type != GPUAGG_VECTOR_INT64)
		return false;
	reg = stamp_in_range(build, stamp.reg);
	if (DatumGetTimestamp(DirectFunctionCall3(timestamp_bin, IntervalPGetDatum(interval),
											  TimestampGetDatum(origin - (int64) stride),
											  TimestampGetDatum(origin))) !=
		origin - (int64) stride)
		reg = gpuagg_build_in_range(build, GPUAGG_VECTOR_INT64, reg, origin, LAST_STAMP);
	reg = int64_two(build, GPUAGG_VECTOR_SUB, reg, int64_constant(build, origin));
	reg = int64_two(build, GPUAGG_VECTOR_DIV_FLOOR, reg, int64_constant(build, (int64) stride));
	reg = int64_two(build, GPUAGG_VECTOR_MUL, reg, int64_constant(build, (int64) stride));
	reg = int64_two(build, GPUAGG_VECTOR_ADD, reg, int64_constant(build, origin));
	set(value, stamp_in_range(build, reg), GPUAGG_VECTOR_INT64);
	return true;
}
