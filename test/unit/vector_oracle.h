/*
 * vector_oracle.h
 *	  Vector programs a row at a time, written without regard to speed.
 *
 * A value is known, NULL, or ANY: what an instruction leaves where its mask spared it a
 * flag, and all that depends on that.
 */
#ifndef GPUAGG_UNIT_VECTOR_ORACLE_H
#define GPUAGG_UNIT_VECTOR_ORACLE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/vector_run.h"
#include "common/zone.h"

typedef enum State
{
	KNOWN,
	ISNULL,
	ANY
} State;

typedef struct Value
{
	State state;
	__int128 i;
	double f; /* FLOAT32 too */
	GpuaggVectorBytes s;
} Value;

typedef struct Row
{
	bool flagged;
	bool unknown; /* whether it is flagged depends on ANY */
	bool passed;
	Value registers[GPUAGG_VECTOR_REGISTERS];
} Row;

#define WIDE_MAX ((__int128) (~(unsigned __int128) 0 >> 1))
#define WIDE_MIN (-WIDE_MAX - 1)

static const __int128 int_max[] = {0, 0, INT16_MAX, INT32_MAX, INT64_MAX, WIDE_MAX};

static bool
is_float(int type)
{
	return type == GPUAGG_VECTOR_FLOAT32 || type == GPUAGG_VECTOR_FLOAT64;
}

static bool
in_type(__int128 v, int type)
{
	return v <= int_max[type] && v >= -int_max[type] - 1;
}

/* -1, 0, 1 in SQL's order */
static int
order(int type, const Value *a, const Value *b)
{
	if (type == GPUAGG_VECTOR_BYTES)
	{
		for (uint64_t k = 0; k < a->s.size && k < b->s.size; k++)
			if (a->s.data[k] != b->s.data[k])
				return a->s.data[k] < b->s.data[k] ? -1 : 1;
		return a->s.size < b->s.size ? -1 : a->s.size > b->s.size;
	}
	if (!is_float(type))
		return a->i < b->i ? -1 : a->i > b->i;
	if (isnan(a->f) || isnan(b->f))
		return isnan(a->f) ? (isnan(b->f) ? 0 : 1) : -1;
	return a->f < b->f ? -1 : a->f > b->f;
}

static bool
like(const uint8_t *t, uint64_t tn, const uint8_t *p, uint64_t pn)
{
	if (pn == 0)
		return tn == 0;
	if (*p == '%')
		return like(t, tn, p + 1, pn - 1) || (tn > 0 && like(t + 1, tn - 1, p, pn));
	if (*p == '\\')
	{
		p++;
		pn--;
	}
	return tn > 0 && *t == *p && like(t + 1, tn - 1, p + 1, pn - 1);
}

static bool
like_usable(const uint8_t *p, uint64_t pn)
{
	for (uint64_t k = 0; k < pn; k++)
	{
		if (p[k] == '_')
			return false;
		if (p[k] == '\\' && ++k == pn)
			return false;
	}
	return true;
}

/* Division rounded down, of small numbers. */
static int64_t
down(int64_t a, int64_t b)
{
	int64_t q = a / b;

	return q * b > a ? q - 1 : q;
}

/* Days from 2000-01-01 to the first day of a year; years before 1 are 0, -1, ... */
static int64_t
year_start(int64_t y)
{
	y--;
	return 365 * y + down(y, 4) - down(y, 100) + down(y, 400) - 730119;
}

static bool
is_leap(int64_t y)
{
	return year_start(y + 1) - year_start(y) == 366;
}

static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

/* Year, month (from 1) and day of a day. */
static void
calendar(int64_t days, int64_t *y, int64_t *m, int64_t *d)
{
	*y = 2000 + days / 366;
	while (year_start(*y) > days)
		*y -= 1 + (year_start(*y) - days) / 366;
	while (year_start(*y + 1) <= days)
		*y += 1 + (days - year_start(*y + 1)) / 366;
	*d = days - year_start(*y);
	for (*m = 0; *d >= month_days[*m] + (*m == 1 && is_leap(*y)); (*m)++)
		*d -= month_days[*m] + (*m == 1 && is_leap(*y));
	*m += 1;
	*d += 1;
}

static int64_t
month_start(int64_t y, int64_t m)
{
	int64_t days = year_start(y);

	for (int k = 0; k < m - 1; k++)
		days += month_days[k] + (k == 1 && is_leap(y));
	return days;
}

/* The first Monday of the year's week 1: the one with 4 January. */
static int64_t
iso_start(int64_t y)
{
	int64_t fourth = year_start(y) + 3;

	while (((fourth % 7) + 7) % 7 != 2) /* 2000-01-03 is a Monday */
		fourth--;
	return fourth;
}

/* A time by a zone; false: none of its pieces is the time's. */
static bool
zone_time(int op, const GpuaggVectorConstant *constants, int n, __int128 t, __int128 *result)
{
	bool local = op == GPUAGG_VECTOR_TIME_FROM_LOCAL;
	int found = -1;

	for (int k = 0; k < n; k++)
	{
		if (constants[k].isnull)
			return false;
		if ((__int128) zone_begin((int64_t) constants[k].u.integer.lo, local) * 1000000 <= t)
			found = k;
	}
	if (found < 0 || found == n - 1)
		return false;
	*result = t + (local ? -1 : 1) *
					  (__int128) zone_shift((int64_t) constants[found].u.integer.lo) * 1000000;
	return true;
}

#define DAY_US INT64_C(86400000000)

/* A part of a time, as timestamp.c has it; false: none. */
static bool
time_part(int op, uint32_t field, int64_t t, int64_t *result)
{
	static const int64_t units[] = {0, 1, 1000, 1000000, 60000000, INT64_C(3600000000), DAY_US};
	int64_t days, in_day, y, m, d, iso;

	if (t < INT64_C(-211813488000000000) || t >= INT64_C(9223371331200000000))
		return false;
	days = down(t, DAY_US);
	in_day = t - days * DAY_US;
	calendar(days, &y, &m, &d);
	iso = days >= iso_start(y + 1) ? y + 1 : days >= iso_start(y) ? y : y - 1;
	if (op == GPUAGG_VECTOR_TIME_TRUNC)
	{
		if (field <= GPUAGG_FIELD_DAY)
			*result = days * DAY_US + in_day - in_day % units[field];
		else if (field == GPUAGG_FIELD_WEEK)
			*result = (iso_start(iso) + (days - iso_start(iso)) / 7 * 7) * DAY_US;
		else
		{
			if (field == GPUAGG_FIELD_QUARTER)
				m -= (m - 1) % 3;
			else if (field >= GPUAGG_FIELD_YEAR)
				m = 1;
			/* timestamp_trunc's own formulas */
			if (field == GPUAGG_FIELD_MILLENNIUM)
				y = y > 0 ? (y + 999) / 1000 * 1000 - 999 : -((999 - (y - 1)) / 1000) * 1000 + 1;
			else if (field == GPUAGG_FIELD_CENTURY)
				y = y > 0 ? (y + 99) / 100 * 100 - 99 : -((99 - (y - 1)) / 100) * 100 + 1;
			else if (field == GPUAGG_FIELD_DECADE)
				y = y > 0 ? y / 10 * 10 : -((8 - (y - 1)) / 10) * 10;
			*result = month_start(y, m) * DAY_US;
		}
		return *result >= INT64_C(-211813488000000000);
	}
	switch (field)
	{
		case GPUAGG_FIELD_MICROSECOND:
		case GPUAGG_FIELD_MILLISECOND:
		case GPUAGG_FIELD_SECOND:
			*result = in_day % 60000000;
			break;
		case GPUAGG_FIELD_MINUTE:
			*result = in_day / 60000000 % 60;
			break;
		case GPUAGG_FIELD_HOUR:
			*result = in_day / INT64_C(3600000000);
			break;
		case GPUAGG_FIELD_DAY:
			*result = d;
			break;
		case GPUAGG_FIELD_WEEK:
			*result = (days - iso_start(iso)) / 7 + 1;
			break;
		case GPUAGG_FIELD_MONTH:
			*result = m;
			break;
		case GPUAGG_FIELD_QUARTER:
			*result = (m + 2) / 3;
			break;
		case GPUAGG_FIELD_YEAR:
			*result = y > 0 ? y : y - 1;
			break;
		case GPUAGG_FIELD_DECADE:
			*result = y >= 0 ? y / 10 : -((8 - (y - 1)) / 10);
			break;
		case GPUAGG_FIELD_CENTURY:
			*result = y > 0 ? (y + 99) / 100 : -((99 - (y - 1)) / 100);
			break;
		case GPUAGG_FIELD_MILLENNIUM:
			*result = y > 0 ? (y + 999) / 1000 : -((999 - (y - 1)) / 1000);
			break;
		case GPUAGG_FIELD_DOW:
			*result = ((days + 6) % 7 + 7) % 7;
			break;
		case GPUAGG_FIELD_ISODOW:
			*result = ((days + 5) % 7 + 7) % 7 + 1;
			break;
		case GPUAGG_FIELD_DOY:
			*result = days - year_start(y) + 1;
			break;
		case GPUAGG_FIELD_ISOYEAR:
			*result = iso > 0 ? iso : iso - 1;
			break;
		case GPUAGG_FIELD_JULIAN:
			*result = days + 2451545;
			break;
		default:
			if (t >= INT64_MAX - INT64_C(946684800000000))
				return false;
			*result = t + INT64_C(946684800000000);
	}
	return true;
}

/* Integers; false: to be flagged. */
static bool
integers(int op, int type, __int128 a, __int128 b, __int128 *r)
{
	switch (op)
	{
		case GPUAGG_VECTOR_ADD:
			return !__builtin_add_overflow(a, b, r) && in_type(*r, type);
		case GPUAGG_VECTOR_SUB:
			return !__builtin_sub_overflow(a, b, r) && in_type(*r, type);
		case GPUAGG_VECTOR_MUL:
			return !__builtin_mul_overflow(a, b, r) && in_type(*r, type);
		case GPUAGG_VECTOR_MUL_WIDE:
			*r = a * b;
			return true;
		case GPUAGG_VECTOR_NEG:
			return !__builtin_sub_overflow((__int128) 0, a, r) && in_type(*r, type);
		case GPUAGG_VECTOR_ABS:
			*r = a;
			return a >= 0 || (!__builtin_sub_overflow((__int128) 0, a, r) && in_type(*r, type));
		case GPUAGG_VECTOR_DIV:
			if (b == 0 || (b == -1 && a == -int_max[type] - 1))
				return false;
			*r = a / b;
			return true;
		case GPUAGG_VECTOR_MOD:
			if (b == 0)
				return false;
			*r = b == -1 ? 0 : a % b;
			return true;
		case GPUAGG_VECTOR_DIV_FLOOR:
			if (b <= 0)
				return false;
			for (*r = a / b; a % b < 0;)
				return (*r)--, true;
			return true;
		default: /* DIV_ROUND */
			if (b <= 0)
				return false;
			*r = a / b;
			if ((unsigned __int128) (a % b < 0 ? -(a % b) : a % b) * 2 >= (unsigned __int128) b)
				*r += a < 0 ? -1 : 1;
			return true;
	}
}

/* Floats, as float.h; false: to be flagged. */
static bool
floats(int op, int type, double x, double y, double *r)
{
	if (type == GPUAGG_VECTOR_FLOAT32)
	{
		float a = (float) x, b = (float) y;

		*r = op == GPUAGG_VECTOR_ADD   ? a + b
			 : op == GPUAGG_VECTOR_SUB ? a - b
			 : op == GPUAGG_VECTOR_MUL ? a * b
			 : op == GPUAGG_VECTOR_NEG ? -a
			 : op == GPUAGG_VECTOR_ABS ? fabsf(a)
			 : b == 0				   ? (float) NAN
									   : a / b;
	}
	else
		*r = op == GPUAGG_VECTOR_ADD   ? x + y
			 : op == GPUAGG_VECTOR_SUB ? x - y
			 : op == GPUAGG_VECTOR_MUL ? x * y
			 : op == GPUAGG_VECTOR_NEG ? -x
			 : op == GPUAGG_VECTOR_ABS ? fabs(x)
			 : y == 0				   ? NAN
									   : x / y;
	switch (op)
	{
		case GPUAGG_VECTOR_ADD:
		case GPUAGG_VECTOR_SUB:
			return !isinf(*r) || isinf(x) || isinf(y);
		case GPUAGG_VECTOR_MUL:
			if (isinf(*r) && !isinf(x) && !isinf(y))
				return false;
			return *r != 0 || x == 0 || y == 0;
		case GPUAGG_VECTOR_DIV:
			if (y == 0)
				return isnan(x);
			if (isinf(*r) && !isinf(x))
				return false;
			return *r != 0 || x == 0 || isinf(y);
		default:
			return true;
	}
}

static bool
cast(int from, int to, const Value *a, Value *r)
{
	if (!is_float(from) && !is_float(to))
	{
		r->i = a->i;
		return in_type(a->i, to);
	}
	if (!is_float(from))
	{
		if (to == GPUAGG_VECTOR_FLOAT64)
			r->f = (double) a->i;
		else
			r->f = from == GPUAGG_VECTOR_INT128 ? (float) a->i : (float) (long double) a->i;
		return true;
	}
	if (is_float(to))
	{
		r->f = to == GPUAGG_VECTOR_FLOAT32 ? (float) a->f : a->f;
		return !(isinf(r->f) && !isinf(a->f)) && !(r->f == 0 && a->f != 0);
	}
	if (isnan(a->f) || fabs(a->f) > 1e19)
		return false;
	r->i = (__int128) nearbyint(a->f);
	return in_type(r->i, to);
}

/* numeric to float8 goes through the text. */
static bool
decimal(__int128 v, uint32_t scale, double *r)
{
	char digits[60];
	char text[100];
	int n = 0;
	unsigned __int128 rest = v < 0 ? -(unsigned __int128) v : (unsigned __int128) v;

	if (v != 0 && scale != 0 && (scale > 22 || v > (__int128) 1 << 53 || v < -((__int128) 1 << 53)))
		return false;
	do
		digits[n++] = (char) ('0' + (int) (rest % 10));
	while ((rest /= 10) != 0);
	text[0] = v < 0 ? '-' : '+';
	for (int k = 0; k < n; k++)
		text[1 + k] = digits[n - 1 - k];
	snprintf(text + 1 + n, 20, "e-%u", scale);
	*r = strtod(text, NULL);
	return true;
}

static Value
constant_value(const GpuaggVectorConstant *c)
{
	Value v = {c->isnull ? ISNULL : KNOWN, 0, 0, {NULL, 0}};

	if (c->type == GPUAGG_VECTOR_FLOAT32)
		v.f = c->u.float32;
	else if (c->type == GPUAGG_VECTOR_FLOAT64)
		v.f = c->u.float64;
	else if (c->type == GPUAGG_VECTOR_BYTES)
		v.s = c->u.bytes;
	else
		v.i = gpuagg_int128_wide(c->u.integer);
	return v;
}

/* One strict instruction over known values; false: to be flagged. */
static bool
strict(const GpuaggVectorInstruction *in, const GpuaggVectorConstant *constants, const Value *a,
	   const Value *b, Value *r)
{
	int order_ab = b != NULL && in->op <= GPUAGG_VECTOR_GE ? order(in->type, a, b) : 0;
	int64_t part;

	switch (in->op)
	{
		case GPUAGG_VECTOR_EQ:
			r->i = order_ab == 0;
			return true;
		case GPUAGG_VECTOR_NE:
			r->i = order_ab != 0;
			return true;
		case GPUAGG_VECTOR_LT:
			r->i = order_ab < 0;
			return true;
		case GPUAGG_VECTOR_LE:
			r->i = order_ab <= 0;
			return true;
		case GPUAGG_VECTOR_GT:
			r->i = order_ab > 0;
			return true;
		case GPUAGG_VECTOR_GE:
			r->i = order_ab >= 0;
			return true;
		case GPUAGG_VECTOR_NOT:
			r->i = !a->i;
			return true;
		case GPUAGG_VECTOR_IN:
		{
			bool ok = true;

			for (int k = 0; k < in->count; k++)
			{
				Value c = constant_value(&constants[in->arg + (uint32_t) k]);

				ok &= c.state == KNOWN;
				r->i |= c.state == KNOWN && order(in->type, a, &c) == 0;
			}
			return ok;
		}
		case GPUAGG_VECTOR_IN_RANGE:
		{
			Value low = constant_value(&constants[in->arg]);
			Value high = constant_value(&constants[in->arg + 1]);

			*r = *a;
			return low.state == KNOWN && high.state == KNOWN && order(in->type, a, &low) >= 0 &&
				   order(in->type, a, &high) <= 0;
		}
		case GPUAGG_VECTOR_LIKE:
		{
			const GpuaggVectorConstant *c = &constants[in->arg];

			if (c->isnull || !like_usable(c->u.bytes.data, c->u.bytes.size))
				return false;
			r->i = like(a->s.data, a->s.size, c->u.bytes.data, c->u.bytes.size);
			return true;
		}
		case GPUAGG_VECTOR_CAST:
			return cast(in->type, in->to, a, r);
		case GPUAGG_VECTOR_DECIMAL_TO_FLOAT:
			return decimal(a->i, in->arg, &r->f);
		case GPUAGG_VECTOR_TIME_TRUNC:
		case GPUAGG_VECTOR_TIME_FIELD:
			if (!time_part(in->op, in->arg, (int64_t) a->i, &part))
				return false;
			r->i = part;
			return true;
		case GPUAGG_VECTOR_TIME_TO_LOCAL:
		case GPUAGG_VECTOR_TIME_FROM_LOCAL:
			return zone_time(in->op, &constants[in->arg], in->count, a->i, &r->i);
		default:
			if (is_float(in->type))
				return floats(in->op, in->type, a->f, b != NULL ? b->f : 0, &r->f);
			return integers(in->op, in->type, a->i, b != NULL ? b->i : 0, &r->i);
	}
}

/* Instructions that are not strict. */
static Value
lenient(const GpuaggVectorInstruction *in, Value a, Value b, Value c)
{
	Value r = {KNOWN, 0, 0, {NULL, 0}};
	Value any = {ANY, 0, 0, {NULL, 0}};
	bool decides;

	switch (in->op)
	{
		case GPUAGG_VECTOR_AND:
		case GPUAGG_VECTOR_OR:
			decides = in->op == GPUAGG_VECTOR_OR;
			r.i = decides;
			if ((a.state == KNOWN && a.i == decides) || (b.state == KNOWN && b.i == decides))
				return r;
			r.i = !decides;
			r.state = a.state == ISNULL || b.state == ISNULL ? ISNULL : KNOWN;
			return a.state == ANY || b.state == ANY ? any : r;
		case GPUAGG_VECTOR_IS_TRUE:
			r.i = a.state == KNOWN && a.i;
			return a.state == ANY ? any : r;
		case GPUAGG_VECTOR_IS_FALSE:
			r.i = a.state == KNOWN && !a.i;
			return a.state == ANY ? any : r;
		case GPUAGG_VECTOR_IS_NULL:
			r.i = a.state == ISNULL;
			return a.state == ANY ? any : r;
		case GPUAGG_VECTOR_SELECT:
			return c.state == ANY ? any : c.state == KNOWN && c.i ? a : b;
		case GPUAGG_VECTOR_COALESCE:
			return a.state == ISNULL ? b : a;
		case GPUAGG_VECTOR_NULLIF:
			r.state = ISNULL;
			return c.state == ANY ? any : c.state == KNOWN && c.i ? r : a;
		default: /* LEAST, GREATEST */
			if (a.state == ANY || b.state == ANY)
				return any;
			if (a.state == ISNULL || b.state == ISNULL)
				return a.state == ISNULL ? b : a;
			if (in->op == GPUAGG_VECTOR_LEAST)
				return order(in->type, &b, &a) < 0 ? b : a;
			return order(in->type, &b, &a) > 0 ? b : a;
	}
}

static bool
is_lenient(int op)
{
	return op == GPUAGG_VECTOR_AND || op == GPUAGG_VECTOR_OR ||
		   (op >= GPUAGG_VECTOR_IS_TRUE && op <= GPUAGG_VECTOR_GREATEST);
}

/* Which instructions flag rows. */
static bool
may_flag(int op)
{
	return op == GPUAGG_VECTOR_IN || op == GPUAGG_VECTOR_LIKE || op >= GPUAGG_VECTOR_ADD;
}

/* One instruction; source: the value where it is a column's or an expression's. */
static inline void
oracle_step(const GpuaggVectorInstruction *in, const GpuaggVectorConstant *constants, Row *row,
			Value source)
{
	const Value none = {KNOWN, 0, 0, {NULL, 0}};
	Value r = none;
	Value a = in->a == GPUAGG_VECTOR_NONE ? none : row->registers[in->a];
	Value b = in->b == GPUAGG_VECTOR_NONE ? none : row->registers[in->b];
	Value c = in->c == GPUAGG_VECTOR_NONE ? none : row->registers[in->c];
	Value mask = {KNOWN, 1, 0, {NULL, 0}};

	if (in->mask != GPUAGG_VECTOR_NONE)
		mask = row->registers[in->mask];
	if (in->op == GPUAGG_VECTOR_COLUMN)
		r = source;
	else if (in->op == GPUAGG_VECTOR_ROW)
	{
		r = source;
		if (mask.state == ANY)
			r.state = ANY;
		else if (mask.state == ISNULL || !mask.i)
			r.state = ISNULL;
	}
	else if (in->op == GPUAGG_VECTOR_CONSTANT)
		r = constant_value(&constants[in->arg]);
	else if (is_lenient(in->op))
		r = lenient(in, a, b, c);
	else if (a.state == ANY || b.state == ANY)
	{
		r.state = ANY;
		row->unknown |= may_flag(in->op);
	}
	else if (a.state == ISNULL || b.state == ISNULL)
		r.state = ISNULL;
	else if (!strict(in, constants, &a, in->b == GPUAGG_VECTOR_NONE ? NULL : &b, &r))
	{
		r.state = ANY;
		if (mask.state == ANY)
			row->unknown = true;
		else if (mask.state == KNOWN && mask.i)
			row->flagged = true;
	}
	row->registers[in->out] = r;
}

#endif /* GPUAGG_UNIT_VECTOR_ORACLE_H */
