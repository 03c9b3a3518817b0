/*
 * vector_rule.h
 *	  Which core function is which instruction: the table, and the rules it names.
 */
#ifndef GPUAGG_VECTOR_RULE_H
#define GPUAGG_VECTOR_RULE_H

#include "common/power_of_ten.h"
#include "spec/vector_build.h"

/* Beyond so many instructions or constants, everything is evaluated row by row. */
#define VECTOR_MANY_INSTRUCTIONS (GPUAGG_VECTOR_INSTRUCTIONS / 2)
#define VECTOR_MANY_CONSTANTS	 (GPUAGG_VECTOR_CONSTANTS / 2)

typedef struct VectorFunction VectorFunction;

/* A call that is being compiled. */
typedef struct VectorCall
{
	VectorBuild *build;
	const VectorFunction *function;
	List *args; /* of Expr * */
	Oid collation;
} VectorCall;

/*
 * Compiles a call: sets *value, with its register, or returns false, and the call
 * is evaluated row by row.
 */
typedef bool (*VectorRule)(const VectorCall *call, VectorValue *value);

struct VectorFunction
{
	Oid function;
	VectorRule rule;
	uint8 op;	/* GpuaggVectorOp, where the rule has a choice */
	uint8 type; /* GpuaggVectorType of operands, where the rule has a choice */
	uint8 to;	/* the same of a cast's result */
};

/* The table's row of a function; NULL: it has none. */
extern const VectorFunction *gpuagg_vector_function(Oid function);

/* The table. */
extern const VectorFunction *gpuagg_vector_functions(int *n);

/* ---- what rules compile with ---- */

/* An expression, under build->mask. */
extern void gpuagg_compile_node(VectorBuild *build, Expr *expr, VectorValue *value);

/*
 * An expression without columns that core need not evaluate: once, before there is a row that needs
 * it, and if that is an error, core's executor evaluates all rows.  False: it may have other effects.
 */
extern bool gpuagg_compile_early(VectorBuild *build, Expr *expr, VectorValue *value);

/* The same, converted: *constant is the number of the first of its constants. */
extern bool gpuagg_compile_converted(VectorBuild *build, Expr *expr,
									 const VectorConversion *conversion, int *constant);

/* Whether an expression reads no column. */
extern bool gpuagg_compile_has_no_column(Expr *expr);

/* The call's argument. */
extern void gpuagg_compile_argument(const VectorCall *call, int number, VectorValue *value);

/* The same of a timestamp or timestamptz, or a date that becomes a timestamp; false: row by row. */
extern bool gpuagg_compile_stamp(const VectorCall *call, int number, VectorValue *value);

/*
 * *value, a time, becomes one of a zone's, or the other way, by TIME_TO_LOCAL or TIME_FROM_LOCAL;
 * zone: NULL for the setting TimeZone.  False: row by row.
 */
extern bool gpuagg_zone_shift(VectorBuild *build, GpuaggVectorOp op, Expr *zone,
							  VectorValue *value);

/* A constant of the form of *value, which keeps it; false: it does not fit. */
extern bool gpuagg_compile_constant(VectorBuild *build, Oid type, Datum datum, bool isnull,
									VectorValue *value);

/*
 * The form of a constant: as of its type, but that a numeric has the scale and the
 * digits that it is written with.
 */
extern void gpuagg_vector_constant_form(Oid type, Datum datum, bool isnull, VectorValue *value);

/*
 * The form of a numeric parameter by the value that it has in the executor's state, if it has one:
 * exact for one of the client, of a scale alone for one of a node above, which may get others.
 */
extern void gpuagg_parameter_form(const EState *estate, const Param *param, VectorValue *value);

/* How many digits a decimal of the type has at most if any number of so many fits. */
static inline int
gpuagg_vector_digits(GpuaggVectorType type)
{
	return type == GPUAGG_VECTOR_INT64 ? GPUAGG_INT64_DIGITS : GPUAGG_INT128_DIGITS;
}

/* A call by the table; false: row by row. */
extern bool gpuagg_compile_call(VectorBuild *build, Oid function, Oid collation, List *args,
								VectorValue *value);

/* Nodes that have files of their own; false: row by row. */
extern bool gpuagg_compile_array_op(VectorBuild *build, ScalarArrayOpExpr *expr,
									VectorValue *value);
extern bool gpuagg_compile_case(VectorBuild *build, CaseExpr *expr, VectorValue *value);
extern bool gpuagg_compile_coalesce(VectorBuild *build, CoalesceExpr *expr, VectorValue *value);
extern bool gpuagg_compile_min_max(VectorBuild *build, MinMaxExpr *expr, VectorValue *value);

/* Makes a value one of another type of numbers; decimals become other integers. */
extern bool gpuagg_compile_cast(VectorBuild *build, VectorValue *value, GpuaggVectorType to);

/* A decimal to a greater or equal scale, exactly; false: no type holds it. */
extern bool gpuagg_compile_rescale(VectorBuild *build, VectorValue *value, int scale);

/* Two decimals of one scale and type, fit for comparing and choosing. */
extern bool gpuagg_compile_same_decimals(VectorBuild *build, VectorValue *a, VectorValue *b);

/* *value becomes a BOOL in that register. */
extern void gpuagg_value_bool(VectorValue *value, uint16 reg);

/* Whether the type is one that holds integers. */
static inline bool
gpuagg_vector_is_integer(int type)
{
	return type >= GPUAGG_VECTOR_INT16 && type <= GPUAGG_VECTOR_INT128;
}

/* The scale in a typmod of numeric, from -1000 to 1000. */
extern int gpuagg_typmod_scale(int32 typmod);

/* In such a typmod, where SQL has no bit: each value has a display scale of its own, up to that. */
#define GPUAGG_TYPMOD_OWN_SCALES 0x800

/* Whether equality of texts is that of their bytes, and order as well. */
extern bool gpuagg_collation_is_bytes(Oid collation);
extern bool gpuagg_collation_orders_bytes(Oid collation);

/* ---- rules: numbers ---- */

extern bool gpuagg_rule_two(const VectorCall *call, VectorValue *value); /* a op b */
extern bool gpuagg_rule_one(const VectorCall *call, VectorValue *value); /* op a */
extern bool gpuagg_rule_cast(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_same(const VectorCall *call, VectorValue *value); /* a as it is */
extern bool gpuagg_rule_bool_to_int(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_int_to_bool(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_int_to_decimal(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_decimal_add(const VectorCall *call, VectorValue *value); /* and subtract */
extern bool gpuagg_rule_decimal_multiply(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_decimal_compare(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_decimal_sign(const VectorCall *call, VectorValue *value); /* NEG, ABS */
extern bool gpuagg_rule_decimal_typmod(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_decimal_round(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_decimal_to_int(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_decimal_to_float(const VectorCall *call, VectorValue *value);

/* ---- rules: dates and times ---- */

extern bool gpuagg_rule_date_add_days(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_date_difference(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_date_to_timestamp(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_timestamp_to_date(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_timestamp_to_time(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_date_add_time(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_compare_date_timestamp(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_add_interval(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_time_add_interval(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_date_trunc(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_extract(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_date_part(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_date_bin(const VectorCall *call, VectorValue *value);

/* ---- rules: times of a zone ---- */

extern bool gpuagg_rule_zone(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_compare_timestamptz(const VectorCall *call, VectorValue *value);

/* ---- rules: strings ---- */

extern bool gpuagg_rule_text_equal(const VectorCall *call, VectorValue *value); /* and not equal */
extern bool gpuagg_rule_text_compare(const VectorCall *call, VectorValue *value);
extern bool gpuagg_rule_like(const VectorCall *call, VectorValue *value); /* to: 1: NOT LIKE */

#endif /* GPUAGG_VECTOR_RULE_H */
