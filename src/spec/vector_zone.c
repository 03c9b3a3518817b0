/*
 * vector_zone.c
 *	  Calls that depend on a time zone as instructions.
 *
 * Core takes a local time l, a timestamp or the midnight of a date, for the timestamptz
 * f(l) = l - shift, where the zone's shift is that before the transition at B until
 * l >= B + the shift after it: DetermineTimeZoneOffset() of datetime.c takes a time that
 * does not exist for one before the transition, and one that there is twice for the
 * second.  It supposes that shifts are at most a day, and that transitions are more than two
 * days apart; so does this, and leaves other zones to core.
 *
 * The setting TimeZone may be another at each execution, so all that depends on it is made
 * when a program's parameters are computed.
 */
#include "compat_zone.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "common/zone.h"
#include "spec/vector_rule.h"

/* Seconds from 1970, where zones' transitions are counted from, to 2000. */
#define EPOCHS_APART ((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY)
#define MOST_SHIFT	 SECS_PER_DAY
#define LEAST_GAP	 (2 * SECS_PER_DAY)

/* Seconds that are times in every zone. */
#define FIRST_SECOND (MIN_TIMESTAMP / USECS_PER_SEC + 2 * SECS_PER_DAY)
#define LAST_SECOND	 (END_TIMESTAMP / USECS_PER_SEC - 2 * SECS_PER_DAY)

/* Pieces of a zone that changes are those from 1900 to 2040, or the last of these. */
#define ZONE_PIECES	 120
#define FROM_SECOND	 (-(int64) 36524 * SECS_PER_DAY)
#define UNTIL_SECOND ((int64) 14610 * SECS_PER_DAY)

/* ---- shifts ---- */

/* From `at` on, seconds since 2000, local times are `shift` seconds ahead; until the next one. */
typedef struct ZonePiece
{
	int64 at;
	int64 shift;
} ZonePiece;

/* Adds a piece; of more than there is room for the first are forgotten. */
static int
add_piece(ZonePiece *pieces, int n, int room, ZonePiece piece)
{
	if (n == room)
		memmove(pieces, pieces + 1, --n * sizeof(ZonePiece));
	pieces[n] = piece;
	return n + 1;
}

/*
 * The zone's pieces for the times from `from` to `until`, seconds since 2000, or to the end of time if
 * no more transitions come; of these the last, if there are more than there is room for, or if the
 * first are not what they seem.  Behind them is one that only ends them.  Returns how many there are,
 * with that one; 0: none.
 */
static int
zone_pieces(const pg_tz *zone, int64 from, int64 until, ZonePiece *pieces, int room)
{
	int64 behind = from - MOST_SHIFT - LEAST_GAP;
	int64 last = PG_INT64_MIN / 2; /* transition before it */
	ZonePiece piece = {.at = from};
	int n = 0;

	for (;;)
	{
		pg_time_t time = behind + EPOCHS_APART;
		pg_time_t begin = piece.at + EPOCHS_APART;
		pg_time_t end;
		long before;
		long after;
		int isdst;
		int found = pg_next_dst_boundary(&time, &before, &isdst, &end, &after, &isdst, zone);

		if (found < 0 || before < -MOST_SHIFT || before > MOST_SHIFT)
			return 0;
		piece.shift = before;
		if (found > 0)
			behind = end - EPOCHS_APART;
		if (found == 0 || behind > from)
			n = pg_localtime(&begin, zone)->tm_gmtoff == before ? add_piece(pieces, n, room, piece)
																: 0;
		if (found == 0)
			until = LAST_SECOND;
		if (found == 0 || behind >= until)
			break;
		if (behind - last <= LEAST_GAP)
			n = 0;
		last = behind;
		piece.at = Max(behind, from);
	}
	return n == 0 ? 0 : add_piece(pieces, n, room, (ZonePiece){until, piece.shift});
}

static bool
set_zone(const pg_tz *zone, GpuaggVectorConstant *constants)
{
	ZonePiece pieces[ZONE_PIECES];
	long offset;
	int64 from = pg_get_timezone_offset(zone, &offset) ? FIRST_SECOND : FROM_SECOND;
	int n = zone_pieces(zone, from, UNTIL_SECOND, pieces, ZONE_PIECES);

	for (int i = 0; i < ZONE_PIECES && n > 0; i++)
	{
		const ZonePiece *piece = &pieces[Min(i, n - 1)];

		constants[i].u.integer = gpuagg_int128_from(zone_piece(piece->at, piece->shift));
	}
	return n > 0;
}

static bool
session_zone(Datum value, GpuaggVectorConstant *constants)
{
	return set_zone(session_timezone, constants);
}

/* Not a zone that counts leap seconds, which TimeZone cannot be. */
static bool
named_zone(Datum value, GpuaggVectorConstant *constants)
{
	char name[TZ_STRLEN_MAX + 1];
	pg_tz *zone;

	text_to_cstring_buffer(DatumGetTextPP(value), name, sizeof(name));
	zone = compat_zone(name);
	return zone != NULL && pg_tz_acceptable(zone) && set_zone(zone, constants);
}

static const VectorConversion session_zones = {GPUAGG_VECTOR_INT64, ZONE_PIECES, session_zone};
static const VectorConversion named_zones = {GPUAGG_VECTOR_INT64, ZONE_PIECES, named_zone};

bool
gpuagg_zone_shift(VectorBuild *build, GpuaggVectorOp op, Expr *zone, VectorValue *value)
{
	GpuaggVectorInstruction instruction = {.op = op,
										   .type = GPUAGG_VECTOR_INT64,
										   .a = value->reg,
										   .b = GPUAGG_VECTOR_NONE,
										   .c = GPUAGG_VECTOR_NONE,
										   .count = ZONE_PIECES};

	if (value->type != GPUAGG_VECTOR_INT64)
		return false;
	if (zone == NULL)
		instruction.arg = gpuagg_build_converted(build, (Expr *) makeBoolConst(true, false),
												 &session_zones);
	else if (IsA(zone, Const) || (IsA(zone, Param) && ((Param *) zone)->paramkind == PARAM_EXTERN))
		instruction.arg = gpuagg_build_converted(build, zone, &named_zones);
	else
		return false;
	value->reg = gpuagg_build_emit(build, instruction);
	return true;
}

/* To a local time or from one: a cast, or AT TIME ZONE with a zone before the time. */
bool
gpuagg_rule_zone(const VectorCall *call, VectorValue *value)
{
	int n = list_length(call->args);

	return gpuagg_compile_stamp(call, n - 1, value) &&
		   gpuagg_zone_shift(call->build, call->function->op, n > 1 ? linitial(call->args) : NULL,
							 value);
}

/* ---- a local time beside a constant of timestamptz ---- */

/* Some days, twice as long as a shift can be that a zone may have at all. */
#define DAYS_AROUND 15

static bool
is_far(TimestampTz stamp)
{
	return stamp < MIN_TIMESTAMP + 2 * DAYS_AROUND * USECS_PER_DAY ||
		   stamp >= END_TIMESTAMP - 2 * DAYS_AROUND * USECS_PER_DAY;
}

/*
 * The least local time from which on f() is `stamp` or later, and before which it is earlier;
 * false: there is none, or it is not known.
 */
static bool
first_time(TimestampTz stamp, Timestamp *first)
{
	ZonePiece pieces[4 * DAYS_AROUND];
	int64 seconds = stamp / USECS_PER_SEC;
	int n;
	int i = 0;

	if (is_far(stamp))
		return false;
	n = zone_pieces(session_timezone, seconds - DAYS_AROUND * SECS_PER_DAY,
					seconds + DAYS_AROUND * SECS_PER_DAY, pieces, lengthof(pieces));
	for (; i < n - 1; i++)
	{
		*first = Max(pieces[i].at * USECS_PER_SEC, stamp) + pieces[i].shift * USECS_PER_SEC;
		if (*first < (pieces[i + 1].at + pieces[i + 1].shift) * USECS_PER_SEC)
			break;
	}
	if (i >= n - 1)
		return false;
	/* where a clock goes forward, later times that do not exist are earlier again */
	for (int k = i + 1; k < n - 1; k++)
		if (pieces[k].at * USECS_PER_SEC < stamp)
			return false;
	return timestamp_cmp_timestamptz_internal(*first - 1, stamp) < 0 &&
		   timestamp_cmp_timestamptz_internal(*first, stamp) >= 0;
}

/* The same of dates; `most`: what f() has before it, as comparisons say: less, or less or equal. */
static bool
first_date(TimestampTz stamp, int most, DateADT *first)
{
	DateADT date;
	int before = -1;

	if (is_far(stamp))
		return false;
	date = DatumGetDateADT(DirectFunctionCall1(timestamptz_date, TimestampTzGetDatum(stamp)));
	*first = date - DAYS_AROUND;
	for (int i = -DAYS_AROUND; i <= DAYS_AROUND; i++)
	{
		int side = date_cmp_timestamptz_internal(date + i, stamp);

		if (side < before)
			return false;
		before = side;
		if (side <= most)
			*first = date + i + 1;
	}
	return true;
}

static bool
set_integer(GpuaggVectorConstant *constant, int64 integer)
{
	constant->u.integer = gpuagg_int128_from(integer);
	return true;
}

/*
 * The least time that is `stamp` or later, or, with `after`, that is later.  Infinities of local times
 * are those of timestamptz.
 */
static bool
set_time(TimestampTz stamp, bool after, GpuaggVectorConstant *constant)
{
	Timestamp first;

	if (after && TIMESTAMP_IS_NOEND(stamp))
		return false;
	first = stamp + after;
	return (TIMESTAMP_NOT_FINITE(stamp) || first_time(stamp + after, &first)) &&
		   set_integer(constant, first);
}

static bool
set_date(TimestampTz stamp, bool after, GpuaggVectorConstant *constant)
{
	DateADT first = TIMESTAMP_IS_NOEND(stamp) ? DATEVAL_NOEND : DATEVAL_NOBEGIN + after;

	if (after && TIMESTAMP_IS_NOEND(stamp))
		return false;
	return (TIMESTAMP_NOT_FINITE(stamp) || first_date(stamp, after ? 0 : -1, &first)) &&
		   set_integer(constant, first);
}

static bool
time_from(Datum value, GpuaggVectorConstant *constant)
{
	return set_time(DatumGetTimestampTz(value), false, constant);
}

static bool
time_after(Datum value, GpuaggVectorConstant *constant)
{
	return set_time(DatumGetTimestampTz(value), true, constant);
}

static bool
date_from(Datum value, GpuaggVectorConstant *constant)
{
	return set_date(DatumGetTimestampTz(value), false, constant);
}

static bool
date_after(Datum value, GpuaggVectorConstant *constant)
{
	return set_date(DatumGetTimestampTz(value), true, constant);
}

/* Least local times that are a timestamptz's, or later; that are later. */
static const VectorConversion times_from = {GPUAGG_VECTOR_INT64, 1, time_from};
static const VectorConversion times_after = {GPUAGG_VECTOR_INT64, 1, time_after};
static const VectorConversion dates_from = {GPUAGG_VECTOR_INT32, 1, date_from};
static const VectorConversion dates_after = {GPUAGG_VECTOR_INT32, 1, date_after};

/* local >= the converted stamp, or < it */
static bool
beside_converted(const VectorCall *call, GpuaggVectorOp op, const VectorValue *local, Expr *stamp,
				 const VectorConversion *conversion, VectorValue *value)
{
	int constant;

	if (!gpuagg_compile_converted(call->build, stamp, conversion, &constant))
		return false;
	gpuagg_value_bool(value,
					  gpuagg_build_two(call->build, op, conversion->type, local->reg,
									   gpuagg_build_source(call->build, GPUAGG_VECTOR_CONSTANT,
														   conversion->type, constant)));
	return true;
}

/* A local time, argument number `number`, beside a timestamptz without columns. */
static bool
compare_local(const VectorCall *call, int number, VectorValue *value)
{
	GpuaggVectorOp op = number == 0 ? call->function->op
									: gpuagg_vector_commuted(call->function->op);
	bool is_date = exprType(list_nth(call->args, number)) == DATEOID;
	const VectorConversion *from = is_date ? &dates_from : &times_from;
	const VectorConversion *after = is_date ? &dates_after : &times_after;
	Expr *stamp = list_nth(call->args, 1 - number);
	VectorValue local;
	VectorValue not_after;

	gpuagg_compile_argument(call, number, &local);
	if (local.type != from->type)
		return false;
	switch (op)
	{
		case GPUAGG_VECTOR_LT:
		case GPUAGG_VECTOR_GE:
			return beside_converted(call, op, &local, stamp, from, value);
		case GPUAGG_VECTOR_LE:
			return beside_converted(call, GPUAGG_VECTOR_LT, &local, stamp, after, value);
		case GPUAGG_VECTOR_GT:
			return beside_converted(call, GPUAGG_VECTOR_GE, &local, stamp, after, value);
		default:
			break;
	}
	if (!beside_converted(call, GPUAGG_VECTOR_GE, &local, stamp, from, value) ||
		!beside_converted(call, GPUAGG_VECTOR_LT, &local, stamp, after, &not_after))
		return false;
	value->reg = gpuagg_build_two(call->build, GPUAGG_VECTOR_AND, GPUAGG_VECTOR_BOOL, value->reg,
								  not_after.reg);
	if (op == GPUAGG_VECTOR_NE)
		value->reg = gpuagg_build_one(call->build, GPUAGG_VECTOR_NOT, GPUAGG_VECTOR_BOOL,
									  value->reg);
	return true;
}

/* An argument as a timestamptz, by the setting TimeZone. */
static bool
zoned_argument(const VectorCall *call, int number, VectorValue *value)
{
	Expr *argument = list_nth(call->args, number);
	Oid type = exprType((Node *) argument);
	Oid cast = type == DATEOID ? F_TIMESTAMPTZ_DATE : F_TIMESTAMPTZ_TIMESTAMP;
	FuncExpr *zoned;

	if (type == TIMESTAMPTZOID)
		return gpuagg_compile_stamp(call, number, value);
	if (!gpuagg_compile_has_no_column(argument))
		return gpuagg_compile_stamp(call, number, value) &&
			   gpuagg_zone_shift(call->build, GPUAGG_VECTOR_TIME_FROM_LOCAL, NULL, value);
	/* beyond its range core compares without an error, so this is none of its casts */
	zoned = makeFuncExpr(cast, TIMESTAMPTZOID, list_make1(argument), InvalidOid, InvalidOid,
						 COERCE_IMPLICIT_CAST);
	return gpuagg_compile_early(call->build, (Expr *) zoned, value);
}

/* A date or timestamp beside a timestamptz, on either side. */
bool
gpuagg_rule_compare_timestamptz(const VectorCall *call, VectorValue *value)
{
	int local = exprType(linitial(call->args)) == TIMESTAMPTZOID ? 1 : 0;
	VectorValue a;
	VectorValue b;

	if (gpuagg_compile_has_no_column(list_nth(call->args, 1 - local)))
		return compare_local(call, local, value);
	if (!zoned_argument(call, 0, &a) || !zoned_argument(call, 1, &b))
		return false;
	gpuagg_value_bool(value, gpuagg_build_two(call->build, call->function->op, GPUAGG_VECTOR_INT64,
											  a.reg, b.reg));
	return true;
}
