/*
 * vector_time.c
 *	  Instructions of a vector program: parts of times.
 *
 * Days are counted from 2000-01-01, a Saturday; years as astronomers do, with a year 0,
 * which SQL calls 1 BC, before it 2 BC and so on.  What timestamp.c does field by field
 * is done with whole numbers: rounding a year down to a decade, century or millennium
 * by its rules, finding a week by its Thursday.  Times that SQL does not have are
 * flagged and taken for 2000-01-01.
 */
#include "common/vector_step.h"

#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY	   (24 * HOUR)
#define FIRST  INT64_C(-211813488000000000) /* 4714-11-24 BC, Julian day 0 */
#define BEHIND INT64_C(9223371331200000000) /* 294277-01-01 */
#define UNIX   INT64_C(-946684800000000)	/* 1970-01-01 */
#define JULIAN 2451545						/* of 2000-01-01 */

/* Calendar's cycle of 400 years; days are counted in it from 1 March. */
#define CYCLE_DAYS	 146097
#define CYCLES_AHEAD 13 /* to year 0 from the first cycle; the first millennium begins in -4999 */
#define MARCH_DAYS	 730425 /* 2000-01-01 from 0000-03-01 */

typedef struct Date
{
	int32_t year;
	int32_t month; /* from 1 */
	int32_t day;
} Date;

VECTOR_INLINE int64_t
floor_to(int64_t t, int64_t unit)
{
	int64_t rest = t % unit;

	return t - rest - (rest < 0 ? unit : 0);
}

VECTOR_INLINE int32_t
days_of(int64_t t)
{
	return (int32_t) (t / DAY - (t % DAY < 0));
}

/* Microseconds from the last full unit. */
VECTOR_INLINE int64_t
since(int64_t t, int64_t unit)
{
	int64_t rest = t % unit;

	return rest + (rest < 0 ? unit : 0);
}

/*
 * Year, month and day from days counted from a 1 March; C. Neri and L. Schneider,
 * "Euclidean affine functions and their application to calendar algorithms", 2022.
 * Multiplications stand for divisions: 2939745 / 2^32 is 1 / 1461, and a month has
 * 2^16 / 2141 days, to all the digits that count.
 */
VECTOR_INLINE Date
date_of(int32_t days)
{
	uint32_t n = 4 * (uint32_t) (days + MARCH_DAYS + CYCLES_AHEAD * CYCLE_DAYS) + 3;
	uint32_t century = n / CYCLE_DAYS;
	uint64_t of_century = UINT64_C(2939745) * (n % CYCLE_DAYS | 3);
	uint32_t year = (uint32_t) (of_century >> 32);
	uint32_t of_year = (uint32_t) of_century / 2939745 / 4;
	uint32_t month = 2141 * of_year + 197913;
	uint32_t next = of_year >= 306; /* January and February */
	Date date;

	date.day = (int32_t) ((month & 0xffff) / 2141 + 1);
	date.month = (int32_t) ((month >> 16) - 12 * next);
	date.year = (int32_t) (100 * century + year + next) - CYCLES_AHEAD * 400;
	return date;
}

VECTOR_INLINE int32_t
days_from(int32_t year, int32_t month, int32_t day)
{
	uint32_t early = month <= 2;
	uint32_t n = (uint32_t) (year + CYCLES_AHEAD * 400) - early;
	uint32_t cycle = n / 400;
	uint32_t of_cycle = n % 400;
	uint32_t in_year = (153 * ((uint32_t) month + 12 * early - 3) + 2) / 5 + (uint32_t) day - 1;
	uint32_t in_cycle = of_cycle * 365 + of_cycle / 4 - of_cycle / 100 + in_year;

	return (int32_t) (cycle * CYCLE_DAYS + in_cycle) - MARCH_DAYS - CYCLES_AHEAD * CYCLE_DAYS;
}

/* 0 is Monday.  A cycle is whole weeks. */
VECTOR_INLINE int32_t
weekday(int32_t days)
{
	return (int32_t) ((uint32_t) (days + 5 + 2 * CYCLES_AHEAD * CYCLE_DAYS) % 7);
}

VECTOR_INLINE int32_t
floor_div(int32_t a, int32_t b)
{
	return a / b - (a % b < 0);
}

/*
 * Numbers of a century or millennium of n years; there is none of number 0, and the
 * first one begins in the year 1.
 */
VECTOR_INLINE int32_t
age(int32_t year, int32_t n)
{
	return year > 0 ? (year + n - 1) / n : -((n - year) / n);
}

VECTOR_INLINE int64_t
midnight(int32_t year, int32_t month)
{
	return days_from(year, month, 1) * DAY;
}

VECTOR_INLINE int64_t
first_of_age(int32_t year, int32_t n)
{
	int32_t number = age(year, n);

	return midnight(number > 0 ? (number - 1) * n + 1 : number * n + 1, 1);
}

/* SQL has no year 0. */
VECTOR_INLINE int32_t
sql_year(int32_t year)
{
	return year > 0 ? year : year - 1;
}

VECTOR_INLINE int32_t
thursday(int32_t days)
{
	return days - weekday(days) + 3;
}

VECTOR_INLINE int32_t
day_of_year(int32_t days)
{
	return days - days_from(date_of(days).year, 1, 1) + 1;
}

/*
 * A field's loops, as an expression over t, and over its days and date where it uses
 * them.  Truncated times are flagged where they lie before the first time.
 */
#define FIELD(NAME, RESULT)                                                         \
	VECTOR_INLINE int64_t NAME(int64_t given, int64_t b, uint64_t *bad, bool exact) \
	{                                                                               \
		bool known = (given >= FIRST) & (given < BEHIND);                           \
		int64_t t = known ? given : 0;                                              \
		int32_t days = days_of(t);                                                  \
		Date date = date_of(days);                                                  \
                                                                                    \
		(void) date;                                                                \
		*bad = -(uint64_t) !known;                                                  \
		return RESULT;                                                              \
	}                                                                               \
	VECTOR_UNARY(NAME, int64_t, int64_t, uint64_t)

#define TRUNC(NAME, RESULT)                                                         \
	VECTOR_INLINE int64_t NAME(int64_t given, int64_t b, uint64_t *bad, bool exact) \
	{                                                                               \
		bool known = (given >= FIRST) & (given < BEHIND);                           \
		int64_t t = known ? given : 0;                                              \
		int32_t days = days_of(t);                                                  \
		Date date = date_of(days);                                                  \
		int64_t result = RESULT;                                                    \
                                                                                    \
		(void) date;                                                                \
		*bad = -(uint64_t) !(known & (result >= FIRST));                            \
		return result;                                                              \
	}                                                                               \
	VECTOR_UNARY(NAME, int64_t, int64_t, uint64_t)

TRUNC(trunc_microsecond, t)
TRUNC(trunc_millisecond, floor_to(t, 1000))
TRUNC(trunc_second, floor_to(t, SECOND))
TRUNC(trunc_minute, floor_to(t, MINUTE))
TRUNC(trunc_hour, floor_to(t, HOUR))
TRUNC(trunc_day, floor_to(t, DAY))
TRUNC(trunc_week, (days - weekday(days)) * DAY)
TRUNC(trunc_month, (days - date.day + 1) * DAY)
TRUNC(trunc_quarter, midnight(date.year, (date.month - 1) / 3 * 3 + 1))
TRUNC(trunc_year, midnight(date.year, 1))
TRUNC(trunc_decade, midnight(floor_div(date.year, 10) * 10, 1))
TRUNC(trunc_century, first_of_age(date.year, 100))
TRUNC(trunc_millennium, first_of_age(date.year, 1000))

FIELD(field_seconds, since(t, MINUTE))
FIELD(field_minute, since(t, HOUR) / MINUTE)
FIELD(field_hour, since(t, DAY) / HOUR)
FIELD(field_day, date.day)
FIELD(field_week, (day_of_year(thursday(days)) - 1) / 7 + 1)
FIELD(field_month, date.month)
FIELD(field_quarter, (date.month - 1) / 3 + 1)
FIELD(field_year, sql_year(date.year))
FIELD(field_decade, floor_div(date.year, 10))
FIELD(field_century, age(date.year, 100))
FIELD(field_millennium, age(date.year, 1000))
FIELD(field_dow, (weekday(days) + 1) % 7)
FIELD(field_isodow, weekday(days) + 1)
FIELD(field_doy, days - days_from(date.year, 1, 1) + 1)
FIELD(field_isoyear, sql_year(date_of(thursday(days)).year))
FIELD(field_julian, (int64_t) days + JULIAN)

VECTOR_INLINE int64_t
field_epoch(int64_t t, int64_t b, uint64_t *bad, bool exact)
{
	bool known = (t >= FIRST) & (t < BEHIND) & (t < INT64_MAX + UNIX);

	*bad = -(uint64_t) !known;
	return (int64_t) ((uint64_t) t - (uint64_t) UNIX);
}
VECTOR_UNARY(field_epoch, int64_t, int64_t, uint64_t)

static const GpuaggVectorLoops truncs[] = {
	[GPUAGG_FIELD_MICROSECOND] = VECTOR_UNARY_LOOPS(trunc_microsecond),
	[GPUAGG_FIELD_MILLISECOND] = VECTOR_UNARY_LOOPS(trunc_millisecond),
	[GPUAGG_FIELD_SECOND] = VECTOR_UNARY_LOOPS(trunc_second),
	[GPUAGG_FIELD_MINUTE] = VECTOR_UNARY_LOOPS(trunc_minute),
	[GPUAGG_FIELD_HOUR] = VECTOR_UNARY_LOOPS(trunc_hour),
	[GPUAGG_FIELD_DAY] = VECTOR_UNARY_LOOPS(trunc_day),
	[GPUAGG_FIELD_WEEK] = VECTOR_UNARY_LOOPS(trunc_week),
	[GPUAGG_FIELD_MONTH] = VECTOR_UNARY_LOOPS(trunc_month),
	[GPUAGG_FIELD_QUARTER] = VECTOR_UNARY_LOOPS(trunc_quarter),
	[GPUAGG_FIELD_YEAR] = VECTOR_UNARY_LOOPS(trunc_year),
	[GPUAGG_FIELD_DECADE] = VECTOR_UNARY_LOOPS(trunc_decade),
	[GPUAGG_FIELD_CENTURY] = VECTOR_UNARY_LOOPS(trunc_century),
	[GPUAGG_FIELD_MILLENNIUM] = VECTOR_UNARY_LOOPS(trunc_millennium),
};

static const GpuaggVectorLoops fields[] = {
	[GPUAGG_FIELD_MICROSECOND] = VECTOR_UNARY_LOOPS(field_seconds),
	[GPUAGG_FIELD_MILLISECOND] = VECTOR_UNARY_LOOPS(field_seconds),
	[GPUAGG_FIELD_SECOND] = VECTOR_UNARY_LOOPS(field_seconds),
	[GPUAGG_FIELD_MINUTE] = VECTOR_UNARY_LOOPS(field_minute),
	[GPUAGG_FIELD_HOUR] = VECTOR_UNARY_LOOPS(field_hour),
	[GPUAGG_FIELD_DAY] = VECTOR_UNARY_LOOPS(field_day),
	[GPUAGG_FIELD_WEEK] = VECTOR_UNARY_LOOPS(field_week),
	[GPUAGG_FIELD_MONTH] = VECTOR_UNARY_LOOPS(field_month),
	[GPUAGG_FIELD_QUARTER] = VECTOR_UNARY_LOOPS(field_quarter),
	[GPUAGG_FIELD_YEAR] = VECTOR_UNARY_LOOPS(field_year),
	[GPUAGG_FIELD_DECADE] = VECTOR_UNARY_LOOPS(field_decade),
	[GPUAGG_FIELD_CENTURY] = VECTOR_UNARY_LOOPS(field_century),
	[GPUAGG_FIELD_MILLENNIUM] = VECTOR_UNARY_LOOPS(field_millennium),
	[GPUAGG_FIELD_DOW] = VECTOR_UNARY_LOOPS(field_dow),
	[GPUAGG_FIELD_ISODOW] = VECTOR_UNARY_LOOPS(field_isodow),
	[GPUAGG_FIELD_DOY] = VECTOR_UNARY_LOOPS(field_doy),
	[GPUAGG_FIELD_ISOYEAR] = VECTOR_UNARY_LOOPS(field_isoyear),
	[GPUAGG_FIELD_JULIAN] = VECTOR_UNARY_LOOPS(field_julian),
	[GPUAGG_FIELD_EPOCH] = VECTOR_UNARY_LOOPS(field_epoch),
};

void
gpuagg_vector_choose_time(GpuaggVectorStep *step)
{
	const GpuaggVectorInstruction *in = step->instruction;

	gpuagg_vector_take_loops(step, in->op == GPUAGG_VECTOR_TIME_TRUNC ? &truncs[in->arg]
																	  : &fields[in->arg]);
}
