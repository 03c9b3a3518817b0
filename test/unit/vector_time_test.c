/*
 * vector_time_test.c
 *	  Parts of times beside a calendar that is counted day by day; times of zones.
 *
 *		vector_time_test [step]				every step-th year after 3000 AD (default 97)
 *		vector_time_test --table			prints times and their parts, for core to confirm
 */
#include "vector_oracle.h"

#include "check.h"
#include "zone_random.h"

#define FIRST_YEAR INT64_C(-4713) /* in it begins SQL's time, on 24 November */
#define LAST_YEAR  INT64_C(294276)
#define NONE	   GPUAGG_VECTOR_NONE

static const char *const names[] = {NULL,	  "microsecond", "millisecond", "second",	  "minute",
									"hour",	  "day",		 "week",		"month",	  "quarter",
									"year",	  "decade",		 "century",		"millennium", "dow",
									"isodow", "doy",		 "isoyear",		"julian",	  "epoch"};

/* What one pass over the calendar says of a day. */
typedef struct Day
{
	int64_t days; /* from 2000-01-01 */
	int64_t year;
	int64_t month;
	int64_t day;
	int64_t of_year;
	int64_t weekday;  /* 0: Monday */
	int64_t iso_year; /* and the week's number */
	int64_t week;
} Day;

static GpuaggVectorInstruction instructions[40];
static uint8_t columns[] = {GPUAGG_VECTOR_INT64};
static GpuaggVectorProgram program = {.filter = NONE,
									  .nregisters = 40,
									  .ncolumns = 1,
									  .instructions = instructions,
									  .columns = columns};
static GpuaggVectorRunner *runner;
static int trunc_of[GPUAGG_FIELD_EPOCH + 1]; /* registers */
static int field_of[GPUAGG_FIELD_EPOCH + 1];
static int64_t times[GPUAGG_VECTOR_ROWS];
static Day day_of[GPUAGG_VECTOR_ROWS];
static int ntimes;
static long compared;

static uint16_t
instruction(int op, uint16_t a, uint32_t arg)
{
	GpuaggVectorInstruction *in = &instructions[program.ninstructions];

	in->op = (uint8_t) op;
	in->type = GPUAGG_VECTOR_INT64;
	in->out = (uint16_t) program.ninstructions++;
	in->a = a;
	in->b = in->c = in->mask = NONE;
	in->arg = arg;
	return in->out;
}

/* The part that `instruction` of the program gave for a row. */
static int64_t
part(int number, int row)
{
	return ((int64_t *) runner->registers[number].values)[row];
}

static void
make_program(void)
{
	uint8_t types[GPUAGG_VECTOR_REGISTERS];

	instruction(GPUAGG_VECTOR_COLUMN, NONE, 0);
	for (uint32_t f = GPUAGG_FIELD_MICROSECOND; f <= GPUAGG_FIELD_EPOCH; f++)
	{
		field_of[f] = instruction(GPUAGG_VECTOR_TIME_FIELD, 0, f);
		if (f <= GPUAGG_FIELD_MILLENNIUM)
			trunc_of[f] = instruction(GPUAGG_VECTOR_TIME_TRUNC, 0, f);
	}
	CHECK(gpuagg_vector_check(&program, types) == -1);
	runner = gpuagg_vector_runner_make(aligned_alloc(64, gpuagg_vector_runner_size(&program)),
									   &program);
	runner->columns[0].values = times;
}

static void
run(void)
{
	gpuagg_vector_run_filter(runner, ntimes);
	gpuagg_vector_run_values(runner);
}

/* Where BC is counted from -1 on. */
static int64_t
shown(int64_t year)
{
	return year <= 0 ? year - 1 : year;
}

/* Compares the times that have been gathered. */
static void
flush(void)
{
	bool ok = true;

	run();
	for (int i = 0; i < ntimes; i++)
	{
		const Day *d = &day_of[i];
		int64_t y = d->year, in_day = times[i] - d->days * DAY_US;
		bool flagged = runner->flagged[i / 64] >> (i % 64) & 1;

		ok &= part(field_of[GPUAGG_FIELD_YEAR], i) == shown(y);
		ok &= part(field_of[GPUAGG_FIELD_MONTH], i) == d->month;
		ok &= part(field_of[GPUAGG_FIELD_DAY], i) == d->day;
		ok &= part(field_of[GPUAGG_FIELD_DOY], i) == d->of_year;
		ok &= part(field_of[GPUAGG_FIELD_ISODOW], i) == d->weekday + 1;
		ok &= part(field_of[GPUAGG_FIELD_DOW], i) == (d->weekday + 1) % 7;
		ok &= part(field_of[GPUAGG_FIELD_ISOYEAR], i) == shown(d->iso_year);
		ok &= part(field_of[GPUAGG_FIELD_WEEK], i) == d->week;
		ok &= part(field_of[GPUAGG_FIELD_JULIAN], i) == d->days + 2451545;
		ok &= part(field_of[GPUAGG_FIELD_HOUR], i) == in_day / 3600000000;
		ok &= part(field_of[GPUAGG_FIELD_MINUTE], i) == in_day / 60000000 % 60;
		ok &= part(field_of[GPUAGG_FIELD_SECOND], i) == in_day % 60000000;
		ok &= part(trunc_of[GPUAGG_FIELD_DAY], i) == d->days * DAY_US;
		ok &= part(trunc_of[GPUAGG_FIELD_MONTH], i) == (d->days - d->day + 1) * DAY_US;
		ok &= part(trunc_of[GPUAGG_FIELD_YEAR], i) == (d->days - d->of_year + 1) * DAY_US;
		ok &= part(trunc_of[GPUAGG_FIELD_WEEK], i) == (d->days - d->weekday) * DAY_US;
		/* fields and truncations that are functions of the year, by the formulas of timestamp.c */
		for (uint32_t f = GPUAGG_FIELD_MICROSECOND; f <= GPUAGG_FIELD_MILLENNIUM; f++)
		{
			int64_t want;

			if (time_part(GPUAGG_VECTOR_TIME_TRUNC, f, times[i], &want))
				ok &= part(trunc_of[f], i) == want;
			else
				ok &= flagged;
			ok &= time_part(GPUAGG_VECTOR_TIME_FIELD, f, times[i], &want) &&
				  part(field_of[f], i) == want;
		}
		compared++;
		if (!ok)
		{
			printf("day %ld: %ld-%ld-%ld\n", (long) d->days, (long) y, (long) d->month,
				   (long) d->day);
			break;
		}
	}
	CHECK(ok);
	ntimes = 0;
}

static void
add(Day day)
{
	int64_t t = day.days * DAY_US + (int64_t) (next() % (uint64_t) DAY_US);

	if (next() % 4 == 0)
		t = day.days * DAY_US + (next() % 2 ? DAY_US - 1 : 0);
	times[ntimes] = t;
	day_of[ntimes++] = day;
	if (ntimes == GPUAGG_VECTOR_ROWS)
		flush();
}

/*
 * Counts days from 4714-11-24 BC, a Monday, on; weeks begin anew on the Monday before the
 * first Thursday of a year.
 */
static void
walk(int64_t step)
{
	Day d = {-2451545, FIRST_YEAR, 11, 24, 328, 0, FIRST_YEAR, 48};
	bool leap = false;

	while (d.year <= LAST_YEAR)
	{
		bool whole = d.year < 3000 ? d.year % 50 == 0 || (d.year > 1960 && d.year < 2040)
								   : d.year % (50 * step) == 0;
		bool any = d.year < 3000 || d.year % step == 0 || d.year == LAST_YEAR;
		bool edges = (d.month == 1 && d.day < 8) || (d.month == 12 && d.day > 24) ||
					 (d.month <= 3 && next() % 16 == 0);

		if (whole || (any && edges))
			add(d);
		d.days++;
		d.of_year++;
		d.weekday = (d.weekday + 1) % 7;
		if (d.day++ == month_days[d.month - 1] + (d.month == 2 && leap))
		{
			d.day = 1;
			if (d.month++ == 12)
			{
				d.month = 1;
				d.year++;
				d.of_year = 1;
				leap = d.year % 4 == 0 && (d.year % 100 != 0 || d.year % 400 == 0);
			}
		}
		if (d.weekday == 0)
		{
			/* this week's Thursday is in another year than the last one's */
			bool next_year = d.month == 12 && d.day >= 29;

			d.week++;
			if (next_year || (d.month == 1 && d.day <= 4))
			{
				d.iso_year = d.year + next_year;
				d.week = 1;
			}
		}
	}
	flush();
	CHECK(d.days * DAY_US == INT64_C(9223371331200000000));
}

static void
test_edges(void)
{
	static const int64_t none[] = {INT64_MIN, INT64_MAX, INT64_C(-211813488000000001),
								   INT64_C(9223371331200000000)};
	static const int64_t ends[] = {INT64_C(-211813488000000000), INT64_C(9223371331199999999)};

	memcpy(times, none, sizeof(none));
	ntimes = 4;
	run();
	CHECK(runner->flagged[0] == 15);
	memcpy(times, ends, sizeof(ends));
	ntimes = 2;
	run();
	CHECK(runner->flagged[0] == 3);
	CHECK(part(field_of[GPUAGG_FIELD_YEAR], 0) == -4714);
	CHECK(part(field_of[GPUAGG_FIELD_ISOYEAR], 0) == -4714);
	CHECK(part(trunc_of[GPUAGG_FIELD_WEEK], 0) == ends[0]);
	CHECK(part(trunc_of[GPUAGG_FIELD_MONTH], 0) < ends[0]); /* flagged */
	CHECK(part(field_of[GPUAGG_FIELD_YEAR], 1) == 294276);
	ntimes = 0;
}

#define MOST_PIECES 120

/* Random zones, of whose times some vectors have but few, or are of one piece. */
static void
test_zones(void)
{
	static GpuaggVectorConstant zone[MOST_PIECES];
	GpuaggVectorInstruction code[3];
	GpuaggVectorProgram p = {.filter = NONE,
							 .ninstructions = 3,
							 .nregisters = 3,
							 .ncolumns = 1,
							 .instructions = code,
							 .constants = zone,
							 .columns = columns};
	uint8_t types[GPUAGG_VECTOR_REGISTERS];
	long right = 0;
	long flagged = 0;
	bool ok = true;

	for (int round = 0; round < 3000; round++)
	{
		int n = 2 + (int) (next() % (MOST_PIECES - 1));
		GpuaggVectorRunner *r;

		make_zone(zone, n);
		memset(code, 0, sizeof(code));
		for (int k = 0; k < 3; k++)
			code[k] = (GpuaggVectorInstruction){.op = (uint8_t[]){GPUAGG_VECTOR_COLUMN,
																  GPUAGG_VECTOR_TIME_TO_LOCAL,
																  GPUAGG_VECTOR_TIME_FROM_LOCAL}[k],
												.type = GPUAGG_VECTOR_INT64,
												.out = (uint16_t) k,
												.a = k == 0 ? NONE : 0,
												.b = NONE,
												.c = NONE,
												.mask = NONE,
												.count = k == 0 ? 0 : (uint16_t) n};
		p.nconstants = (uint32_t) n;
		CHECK(gpuagg_vector_check(&p, types) == -1);
		r = gpuagg_vector_runner_make(aligned_alloc(64, gpuagg_vector_runner_size(&p)), &p);
		r->columns[0].values = times;
		for (int i = 0; i < GPUAGG_VECTOR_ROWS; i++)
			times[i] = i > 0 && round % 2 ? times[i - 1] + (int64_t) (next() % 900000000)
										  : any_time_of_zone(zone, n);
		gpuagg_vector_run_filter(r, GPUAGG_VECTOR_ROWS);
		gpuagg_vector_run_values(r);
		for (int i = 0; i < GPUAGG_VECTOR_ROWS; i++)
		{
			__int128 want[2];
			bool there[2];

			for (int k = 0; k < 2; k++)
			{
				there[k] = zone_time(code[1 + k].op, zone, n, times[i], &want[k]);
				if (there[k])
					ok &= ((int64_t *) r->registers[1 + k].values)[i] == (int64_t) want[k];
			}
			ok &= (r->flagged[i / 64] >> i % 64 & 1) == !(there[0] && there[1]);
			right += there[0] && there[1];
			flagged += !(there[0] && there[1]);
		}
		free(r);
	}
	CHECK(ok);
	CHECK(right > 500000 && flagged > 500000);

	/* what is no zone */
	p.nconstants = 2;
	code[1].count = code[2].count = 2;
#define IS_ZONE(A, B)                                                                \
	(zone[0].isnull = zone[1].isnull = 0, zone[0].u.integer = gpuagg_int128_from(A), \
	 zone[1].u.integer = gpuagg_int128_from(B), gpuagg_vector_check(&p, types) == -1)
	CHECK(IS_ZONE(zone_piece(-ZONE_SECONDS, 0), zone_piece(ZONE_SECONDS, 0)));
	CHECK(!IS_ZONE(zone_piece(-ZONE_SECONDS - 1, 0), zone_piece(ZONE_SECONDS, 0)));
	CHECK(!IS_ZONE(zone_piece(-ZONE_SECONDS, 0), zone_piece(ZONE_SECONDS + 1, 0)));
	CHECK(!IS_ZONE(zone_piece(1, 0), zone_piece(0, 0)));
	CHECK(!IS_ZONE(zone_piece(0, 7200), zone_piece(3599, 3600)));
	CHECK(IS_ZONE(zone_piece(0, 7200), zone_piece(3600, 3600)));
	code[1].count = 3;
	CHECK(gpuagg_vector_check(&p, types) == 1);
	code[1].count = 1;
	CHECK(gpuagg_vector_check(&p, types) == 1);
	code[1].count = 0;
	CHECK(gpuagg_vector_check(&p, types) == 1);
	code[1].count = 2;
	zone[1].isnull = 1;
	CHECK(gpuagg_vector_check(&p, types) == -1);
}

/* Rows of microseconds, function, field, result in microseconds or as it is. */
static void
print_table(void)
{
	for (int64_t year = FIRST_YEAR; year <= LAST_YEAR; year += year < 3000 ? 7 : 3001)
		for (int k = 0; k < 4; k++)
		{
			int64_t t = (year_start(year) + (k == 3 ? (int64_t) (next() % 366) : k - 1)) * DAY_US;

			if (k % 2)
				t += (int64_t) (next() % (uint64_t) DAY_US);
			if (t < INT64_C(-211813488000000000))
				continue;
			times[0] = t;
			ntimes = 1;
			run();
			for (uint32_t f = GPUAGG_FIELD_MICROSECOND; f <= GPUAGG_FIELD_EPOCH; f++)
			{
				if (f <= GPUAGG_FIELD_MILLENNIUM &&
					part(trunc_of[f], 0) >= INT64_C(-211813488000000000))
					printf("%ld\ttrunc\t%s\t%ld\n", (long) t, names[f],
						   (long) part(trunc_of[f], 0));
				if (f != GPUAGG_FIELD_EPOCH || t < INT64_MAX - INT64_C(946684800000000))
					printf("%ld\textract\t%s\t%ld\n", (long) t, names[f],
						   (long) part(field_of[f], 0));
			}
		}
}

int
main(int argc, char **argv)
{
	make_program();
	if (argc > 1 && strcmp(argv[1], "--table") == 0)
	{
		print_table();
		return 0;
	}
	walk(argc > 1 ? atoi(argv[1]) : 97);
	test_edges();
	test_zones();
	printf("%ld times\n", compared);
	free(runner);
	return check_summary();
}
