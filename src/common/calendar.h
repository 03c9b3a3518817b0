/*
 * calendar.h
 *	  Parts of times, in whole numbers, for processors and devices.
 *
 * Days are counted from 2000-01-01, a Saturday; years as astronomers do, with a year 0,
 * which SQL calls 1 BC, before it 2 BC and so on.  What timestamp.c does field by field
 * is done with whole numbers: rounding a year down to a decade, century or millennium
 * by its rules, finding a week by its Thursday.  Times that SQL does not have are taken for
 * 2000-01-01.
 */
#ifndef GPUAGG_CALENDAR_H
#define GPUAGG_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#include "common/int128.h"
#include "common/vector.h"

#ifdef __CUDACC__
#define CALENDAR static GPUAGG_HD __forceinline__
#else
#define CALENDAR static inline __attribute__((always_inline))
#endif

#define CALENDAR_SECOND INT64_C(1000000)
#define CALENDAR_MINUTE (60 * CALENDAR_SECOND)
#define CALENDAR_HOUR	(60 * CALENDAR_MINUTE)
#define CALENDAR_DAY	(24 * CALENDAR_HOUR)
#define CALENDAR_FIRST	INT64_C(-211813488000000000) /* 4714-11-24 BC, Julian day 0 */
#define CALENDAR_BEHIND INT64_C(9223371331200000000) /* 294277-01-01 */
#define CALENDAR_UNIX	INT64_C(-946684800000000)	 /* 1970-01-01 */
#define CALENDAR_JULIAN 2451545						 /* of 2000-01-01 */

/* Calendar's cycle of 400 years; days are counted in it from 1 March. */
#define CYCLE_DAYS	 146097
#define CYCLES_AHEAD 13 /* to year 0 from the first cycle; the first millennium begins in -4999 */
#define MARCH_DAYS	 730425 /* 2000-01-01 from 0000-03-01 */

typedef struct CalendarDate
{
	int32_t year;
	int32_t month; /* from 1 */
	int32_t day;
} CalendarDate;

CALENDAR int64_t
calendar_floor_to(int64_t t, int64_t unit)
{
	int64_t rest = t % unit;

	return t - rest - (rest < 0 ? unit : 0);
}

CALENDAR int32_t
calendar_days_of(int64_t t)
{
	return (int32_t) (t / CALENDAR_DAY - (t % CALENDAR_DAY < 0));
}

/* Microseconds from the last full unit. */
CALENDAR int64_t
calendar_since(int64_t t, int64_t unit)
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
CALENDAR CalendarDate
calendar_date_of(int32_t days)
{
	uint32_t n = 4 * (uint32_t) (days + MARCH_DAYS + CYCLES_AHEAD * CYCLE_DAYS) + 3;
	uint32_t century = n / CYCLE_DAYS;
	uint64_t of_century = UINT64_C(2939745) * (n % CYCLE_DAYS | 3);
	uint32_t year = (uint32_t) (of_century >> 32);
	uint32_t of_year = (uint32_t) of_century / 2939745 / 4;
	uint32_t month = 2141 * of_year + 197913;
	uint32_t next = of_year >= 306; /* January and February */
	CalendarDate date;

	date.day = (int32_t) ((month & 0xffff) / 2141 + 1);
	date.month = (int32_t) ((month >> 16) - 12 * next);
	date.year = (int32_t) (100 * century + year + next) - CYCLES_AHEAD * 400;
	return date;
}

CALENDAR int32_t
calendar_days_from(int32_t year, int32_t month, int32_t day)
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
CALENDAR int32_t
calendar_weekday(int32_t days)
{
	return (int32_t) ((uint32_t) (days + 5 + 2 * CYCLES_AHEAD * CYCLE_DAYS) % 7);
}

CALENDAR int32_t
calendar_floor_div(int32_t a, int32_t b)
{
	return a / b - (a % b < 0);
}

/*
 * Numbers of a century or millennium of n years; there is none of number 0, and the
 * first one begins in the year 1.
 */
CALENDAR int32_t
calendar_age(int32_t year, int32_t n)
{
	return year > 0 ? (year + n - 1) / n : -((n - year) / n);
}

CALENDAR int64_t
calendar_midnight(int32_t year, int32_t month)
{
	return calendar_days_from(year, month, 1) * CALENDAR_DAY;
}

CALENDAR int64_t
calendar_first_of_age(int32_t year, int32_t n)
{
	int32_t number = calendar_age(year, n);

	return calendar_midnight(number > 0 ? (number - 1) * n + 1 : number * n + 1, 1);
}

/* SQL has no year 0. */
CALENDAR int32_t
calendar_sql_year(int32_t year)
{
	return year > 0 ? year : year - 1;
}

CALENDAR int32_t
calendar_thursday(int32_t days)
{
	return days - calendar_weekday(days) + 3;
}

CALENDAR int32_t
calendar_day_of_year(int32_t days)
{
	return days - calendar_days_from(calendar_date_of(days).year, 1, 1) + 1;
}

/*
 * The time truncated to a field, up to MILLENNIUM; *right: it is one that SQL has, and so is the
 * result.
 */
CALENDAR int64_t
calendar_trunc(int field, int64_t given, bool *right)
{
	bool known = (given >= CALENDAR_FIRST) & (given < CALENDAR_BEHIND);
	int64_t t = known ? given : 0;
	int32_t days = calendar_days_of(t);
	CalendarDate date = calendar_date_of(days);
	int64_t result = t;

	switch (field)
	{
		case GPUAGG_FIELD_MILLISECOND:
			result = calendar_floor_to(t, 1000);
			break;
		case GPUAGG_FIELD_SECOND:
			result = calendar_floor_to(t, CALENDAR_SECOND);
			break;
		case GPUAGG_FIELD_MINUTE:
			result = calendar_floor_to(t, CALENDAR_MINUTE);
			break;
		case GPUAGG_FIELD_HOUR:
			result = calendar_floor_to(t, CALENDAR_HOUR);
			break;
		case GPUAGG_FIELD_DAY:
			result = calendar_floor_to(t, CALENDAR_DAY);
			break;
		case GPUAGG_FIELD_WEEK:
			result = (days - calendar_weekday(days)) * CALENDAR_DAY;
			break;
		case GPUAGG_FIELD_MONTH:
			result = (days - date.day + 1) * CALENDAR_DAY;
			break;
		case GPUAGG_FIELD_QUARTER:
			result = calendar_midnight(date.year, (date.month - 1) / 3 * 3 + 1);
			break;
		case GPUAGG_FIELD_YEAR:
			result = calendar_midnight(date.year, 1);
			break;
		case GPUAGG_FIELD_DECADE:
			result = calendar_midnight(calendar_floor_div(date.year, 10) * 10, 1);
			break;
		case GPUAGG_FIELD_CENTURY:
			result = calendar_first_of_age(date.year, 100);
			break;
		case GPUAGG_FIELD_MILLENNIUM:
			result = calendar_first_of_age(date.year, 1000);
			break;
	}
	*right = known & (result >= CALENDAR_FIRST);
	return result;
}

/* A field of the time, as extract() has it; *right: it is one that SQL has. */
CALENDAR int64_t
calendar_field(int field, int64_t given, bool *right)
{
	bool known = (given >= CALENDAR_FIRST) & (given < CALENDAR_BEHIND);
	int64_t t = known ? given : 0;
	int32_t days = calendar_days_of(t);
	CalendarDate date = calendar_date_of(days);

	*right = known;
	switch (field)
	{
		case GPUAGG_FIELD_MINUTE:
			return calendar_since(t, CALENDAR_HOUR) / CALENDAR_MINUTE;
		case GPUAGG_FIELD_HOUR:
			return calendar_since(t, CALENDAR_DAY) / CALENDAR_HOUR;
		case GPUAGG_FIELD_DAY:
			return date.day;
		case GPUAGG_FIELD_WEEK:
			return (calendar_day_of_year(calendar_thursday(days)) - 1) / 7 + 1;
		case GPUAGG_FIELD_MONTH:
			return date.month;
		case GPUAGG_FIELD_QUARTER:
			return (date.month - 1) / 3 + 1;
		case GPUAGG_FIELD_YEAR:
			return calendar_sql_year(date.year);
		case GPUAGG_FIELD_DECADE:
			return calendar_floor_div(date.year, 10);
		case GPUAGG_FIELD_CENTURY:
			return calendar_age(date.year, 100);
		case GPUAGG_FIELD_MILLENNIUM:
			return calendar_age(date.year, 1000);
		case GPUAGG_FIELD_DOW:
			return (calendar_weekday(days) + 1) % 7;
		case GPUAGG_FIELD_ISODOW:
			return calendar_weekday(days) + 1;
		case GPUAGG_FIELD_DOY:
			return days - calendar_days_from(date.year, 1, 1) + 1;
		case GPUAGG_FIELD_ISOYEAR:
			return calendar_sql_year(calendar_date_of(calendar_thursday(days)).year);
		case GPUAGG_FIELD_JULIAN:
			return (int64_t) days + CALENDAR_JULIAN;
		case GPUAGG_FIELD_EPOCH:
			*right = known & (given < INT64_MAX + CALENDAR_UNIX);
			return (int64_t) ((uint64_t) given - (uint64_t) CALENDAR_UNIX);
		default: /* seconds and the like */
			return calendar_since(t, CALENDAR_MINUTE);
	}
}

#endif /* GPUAGG_CALENDAR_H */
