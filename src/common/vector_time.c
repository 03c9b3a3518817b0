/*
 * vector_time.c
 *	  Instructions of a vector program: parts of times (calendar.h), times of zones (zone.h).
 */
#include "common/calendar.h"
#include "common/vector_step.h"
#include "common/zone.h"

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

/* ---- zones ---- */

/* Times of one piece: from `from` until `until`, which are `shift` ahead where they are wanted. */
typedef struct Piece
{
	int64_t from;
	int64_t until;
	int64_t shift;
} Piece;

/*
 * The piece of a time; false: the zone has none, and the piece is empty, with the shift of the first or
 * the last.
 */
static bool
find_piece(const int64_t *pieces, int n, bool local, int64_t t, Piece *piece)
{
	int64_t seconds = zone_seconds(t);
	int low = 0;
	int high = n - 1;
	bool found = seconds >= zone_begin(pieces[0], local) &&
				 seconds < zone_begin(pieces[n - 1], local);

	while (high - low > 1)
	{
		int middle = (low + high) / 2;

		if (seconds < zone_begin(pieces[middle], local))
			high = middle;
		else
			low = middle;
	}
	*piece = (Piece){0, 0, zone_shift(pieces[low]) * (local ? -CALENDAR_SECOND : CALENDAR_SECOND)};
	if (!found)
		return false;
	piece->from = zone_begin(pieces[low], local) * CALENDAR_SECOND;
	piece->until = zone_begin(pieces[high], local) * CALENDAR_SECOND;
	return true;
}

/* How many pieces there are, without those at the end that are equal but for one. */
static int
count_pieces(const int64_t *pieces, int n)
{
	while (n > 2 && pieces[n - 1] == pieces[n - 2])
		n--;
	return n;
}

/* Whether all 64 times are of the piece: then their shifted ones are in out. */
static bool
shift_word(const int64_t *a, int64_t *out, const Piece *piece)
{
	bool all = true;

	for (int i = 0; i < 64; i++)
	{
		all &= (a[i] >= piece->from) & (a[i] < piece->until);
		out[i] = (int64_t) ((uint64_t) a[i] + (uint64_t) piece->shift);
	}
	return all;
}

/*
 * Times nearby are nearly always of the same piece, the last that was found.  Rows that do not count
 * have a value as on the device.
 */
static void
run_zone(const GpuaggVectorStep *step)
{
	bool local = step->instruction->op == GPUAGG_VECTOR_TIME_FROM_LOCAL;
	const int64_t *pieces = step->set;
	int n = count_pieces(pieces, step->instruction->count);
	int words = gpuagg_vector_words(step);
	uint64_t wanted[GPUAGG_VECTOR_WORDS];
	Piece piece = {0, 0, 0};

	gpuagg_vector_strict(step, wanted);
	for (int w = 0; w < words; w++)
	{
		const int64_t *a = (const int64_t *) step->a->values + 64 * w;
		int64_t *out = (int64_t *) step->values + 64 * w;
		uint64_t flags = 0;

		if (!step->has_null && wanted[w] == UINT64_MAX && shift_word(a, out, &piece))
			continue;
		for (uint64_t left = wanted[w]; left != 0; left &= left - 1)
		{
			int i = __builtin_ctzll(left);

			if ((step->has_null || a[i] < piece.from || a[i] >= piece.until) &&
				!find_piece(pieces, n, local, a[i], &piece))
				flags |= left & -left;
			out[i] = (int64_t) ((uint64_t) a[i] + (uint64_t) piece.shift);
		}
		if (step->has_null)
			flags = wanted[w];
		if (flags != 0)
			gpuagg_vector_flag(step, w, flags);
	}
}

void
gpuagg_vector_choose_zone(GpuaggVectorStep *step)
{
	step->run = run_zone;
}
