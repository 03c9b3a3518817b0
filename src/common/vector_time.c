/*
 * vector_time.c
 *	  Instructions of a vector program: parts of times (calendar.h).
 */
#include "common/calendar.h"
#include "common/vector_step.h"

/* An operation on a field; compilers know the field. */
#define TIME(NAME, PART, FIELD)                                                     \
	VECTOR_INLINE int64_t NAME(int64_t given, int64_t b, uint64_t *bad, bool exact) \
	{                                                                               \
		bool right;                                                                 \
		int64_t result = PART(FIELD, given, &right);                                \
                                                                                    \
		*bad = -(uint64_t) !right;                                                  \
		return result;                                                              \
	}                                                                               \
	VECTOR_UNARY(NAME, int64_t, int64_t, uint64_t)
#define TRUNC(NAME, OF) TIME(trunc_##NAME, calendar_trunc, GPUAGG_FIELD_##OF)
#define FIELD(NAME, OF) TIME(field_##NAME, calendar_field, GPUAGG_FIELD_##OF)

TRUNC(microsecond, MICROSECOND)
TRUNC(millisecond, MILLISECOND)
TRUNC(second, SECOND)
TRUNC(minute, MINUTE)
TRUNC(hour, HOUR)
TRUNC(day, DAY)
TRUNC(week, WEEK)
TRUNC(month, MONTH)
TRUNC(quarter, QUARTER)
TRUNC(year, YEAR)
TRUNC(decade, DECADE)
TRUNC(century, CENTURY)
TRUNC(millennium, MILLENNIUM)

FIELD(seconds, SECOND)
FIELD(minute, MINUTE)
FIELD(hour, HOUR)
FIELD(day, DAY)
FIELD(week, WEEK)
FIELD(month, MONTH)
FIELD(quarter, QUARTER)
FIELD(year, YEAR)
FIELD(decade, DECADE)
FIELD(century, CENTURY)
FIELD(millennium, MILLENNIUM)
FIELD(dow, DOW)
FIELD(isodow, ISODOW)
FIELD(doy, DOY)
FIELD(isoyear, ISOYEAR)
FIELD(julian, JULIAN)
FIELD(epoch, EPOCH)

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
