/*
 * vector.h
 *	  The vector program: expressions over columns, as plain data.
 *
 * A program is a list of instructions over numbered registers.  A register holds
 * one value for each row of a vector: up to GPUAGG_VECTOR_ROWS rows of a table.
 * Whoever makes a program, and whoever runs one that another process made, calls
 * gpuagg_vector_check() first.  The CPU interprets it over vectors that stay in
 * the first-level cache (vector_run.h); a kernel can interpret the same program.
 *
 * Sections: the instructions up to `nfilter` compute the filter, the others run
 * only for rows that passed it.  Registers are written before they are read,
 * and may be written again, with another type too; no instruction writes a register
 * that it reads.
 *
 * NULLs: every register has a bit a row that says whether the value is not NULL;
 * what the value is where it is NULL, nothing may depend on.  Functions are strict
 * but for those that say otherwise.
 *
 * Errors: no instruction raises any.  Where SQL would raise one, or where the
 * instruction cannot give the exact result, the row is flagged.  A row is flagged
 * only if it counts: it is live (in the vector, and past the filter in the second
 * section), the instruction's mask holds true for it, and no operand is NULL.
 * Whoever runs the program evaluates a vector with flags again, row by row, by
 * another way.  Flags may be too many, never too few.
 *
 * Decimals are integers, INT64 or INT128, whose scale is known to who made the
 * program.
 */
#ifndef GPUAGG_VECTOR_H
#define GPUAGG_VECTOR_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/int128.h"

#define GPUAGG_VECTOR_ROWS		   1024
#define GPUAGG_VECTOR_WORDS		   (GPUAGG_VECTOR_ROWS / 64)
#define GPUAGG_VECTOR_INSTRUCTIONS 16384
#define GPUAGG_VECTOR_REGISTERS	   4096
#define GPUAGG_VECTOR_CONSTANTS	   4096
#define GPUAGG_VECTOR_COLUMNS	   2048
#define GPUAGG_VECTOR_SCALE		   1000		  /* the largest of a decimal */
#define GPUAGG_VECTOR_NONE		   UINT16_MAX /* no register */

/* What a program for the device has at most. */
#define GPUAGG_VECTOR_DEVICE_INSTRUCTIONS 1024
#define GPUAGG_VECTOR_DEVICE_REGISTERS	  256
#define GPUAGG_VECTOR_DEVICE_CONSTANTS	  512

/* Types of registers; values lie as a C array of that type. */
typedef enum GpuaggVectorType
{
	GPUAGG_VECTOR_BOOL = 1, /* a bitmap: bit i % 64 of 64-bit word i / 64 */
	GPUAGG_VECTOR_INT16,
	GPUAGG_VECTOR_INT32,
	GPUAGG_VECTOR_INT64,
	GPUAGG_VECTOR_INT128, /* GpuaggInt128 */
	GPUAGG_VECTOR_FLOAT32,
	GPUAGG_VECTOR_FLOAT64,
	GPUAGG_VECTOR_BYTES, /* GpuaggVectorBytes; CPU only */
	GPUAGG_VECTOR_DATUM, /* 8 bytes that only their owner reads; CPU only; COLUMN, ROW, IS_NULL */

	GPUAGG_VECTOR_TYPES
} GpuaggVectorType;

/* A string of bytes that lies elsewhere, for as long as its vector is current. */
typedef struct GpuaggVectorBytes
{
	const uint8_t *data;
	uint64_t size; /* bytes */
} GpuaggVectorBytes;

/*
 * Opcodes.  `type` of an instruction is the type of its operands a (and b), and of
 * its result unless the list says otherwise.  "Flags" names what is flagged.
 *
 * Comparisons: BOOL results.  Floats are ordered as SQL orders them: NaN equals
 * NaN and is greater than all others; -0 equals +0.  BYTES have EQ and NE, by
 * content, and order as memcmp and then by length.
 */
typedef enum GpuaggVectorOp
{
	/* sources */
	GPUAGG_VECTOR_COLUMN = 1, /* arg: number of the column; needed only where mask is true */
	GPUAGG_VECTOR_CONSTANT,	  /* arg: number of the constant */
	GPUAGG_VECTOR_ROW,		  /* arg: number of an expression that its owner evaluates row by row */

	/* a, b -> BOOL */
	GPUAGG_VECTOR_EQ,
	GPUAGG_VECTOR_NE,
	GPUAGG_VECTOR_LT,
	GPUAGG_VECTOR_LE,
	GPUAGG_VECTOR_GT,
	GPUAGG_VECTOR_GE,
	GPUAGG_VECTOR_IN, /* a; true: equals one of `count` constants from arg on, none NULL */
	GPUAGG_VECTOR_LIKE, /* BYTES a; constant arg: pattern, see vector_text.h; flags all if it cannot */

	/* BOOL, with three values; AND and OR are not strict */
	GPUAGG_VECTOR_AND,
	GPUAGG_VECTOR_OR,
	GPUAGG_VECTOR_NOT,
	GPUAGG_VECTOR_IS_TRUE,	/* never NULL */
	GPUAGG_VECTOR_IS_FALSE, /* never NULL */
	GPUAGG_VECTOR_IS_NULL,	/* of any type; never NULL */

	/* choice; not strict */
	GPUAGG_VECTOR_SELECT,	/* c, a BOOL register, true: a, else b */
	GPUAGG_VECTOR_COALESCE, /* a where it is not NULL, else b */
	GPUAGG_VECTOR_NULLIF,	/* a, or NULL where BOOL register c is true */
	GPUAGG_VECTOR_LEAST,	/* of those that are not NULL; the first of equal ones */
	GPUAGG_VECTOR_GREATEST,

	/*
	 * Numbers.  Integers flag results out of their type; floats results that are
	 * infinite where no operand is, and zero where SQL has underflow.
	 */
	GPUAGG_VECTOR_ADD,
	GPUAGG_VECTOR_SUB,
	GPUAGG_VECTOR_MUL,
	GPUAGG_VECTOR_DIV, /* integers: towards zero; flags a divisor of zero */
	GPUAGG_VECTOR_MOD, /* integers; the sign of a; flags a divisor of zero */
	GPUAGG_VECTOR_NEG,
	GPUAGG_VECTOR_ABS,
	GPUAGG_VECTOR_MUL_WIDE, /* INT64 a, b -> INT128, exact */
	GPUAGG_VECTOR_DIV_FLOOR, /* integers, divisor > 0, towards minus infinity; flags a divisor <= 0 */
	GPUAGG_VECTOR_DIV_ROUND, /* the same, half away from zero */
	/* a; flags values not in [constant arg, constant arg + 1], and all if one of those is NULL */
	GPUAGG_VECTOR_IN_RANGE,

	/*
	 * Casts: type is that of a, `to` that of the result.  Between integers: flags
	 * what does not fit.  Float to integer: rounds half to even, flags what does not
	 * fit and NaN; not to INT128.  Integer to float: rounds half to even.  FLOAT64 to
	 * FLOAT32: flags overflow and underflow.
	 */
	GPUAGG_VECTOR_CAST,
	/* INT64 or INT128 a, a decimal of scale arg -> FLOAT64 nearest; flags what it cannot be sure of */
	GPUAGG_VECTOR_DECIMAL_TO_FLOAT,

	/*
	 * INT64 microseconds since 2000-01-01 00:00; arg: GpuaggVectorField; flags infinities
	 * and other times that SQL does not have, given or as the result.
	 */
	GPUAGG_VECTOR_TIME_TRUNC, /* -> INT64; fields up to MILLENNIUM and WEEK */
	GPUAGG_VECTOR_TIME_FIELD, /* -> INT64; as extract(), SECONDS and the like in microseconds */

	/*
	 * The same by a zone, `count` INT64 constants from arg on, pieces as zone.h has them; flags times
	 * before the first and from the last on, and all if one of those is NULL.
	 */
	GPUAGG_VECTOR_TIME_TO_LOCAL,   /* -> INT64; the zone's local time */
	GPUAGG_VECTOR_TIME_FROM_LOCAL, /* -> INT64; the time that has that local time */

	GPUAGG_VECTOR_OPS
} GpuaggVectorOp;

/* Fields of a time, of the proleptic Gregorian calendar, as SQL's date_trunc and extract have them. */
typedef enum GpuaggVectorField
{
	GPUAGG_FIELD_MICROSECOND = 1,
	GPUAGG_FIELD_MILLISECOND,
	GPUAGG_FIELD_SECOND,
	GPUAGG_FIELD_MINUTE,
	GPUAGG_FIELD_HOUR,
	GPUAGG_FIELD_DAY,
	GPUAGG_FIELD_WEEK,
	GPUAGG_FIELD_MONTH,
	GPUAGG_FIELD_QUARTER,
	GPUAGG_FIELD_YEAR,
	GPUAGG_FIELD_DECADE,
	GPUAGG_FIELD_CENTURY,
	GPUAGG_FIELD_MILLENNIUM,
	GPUAGG_FIELD_DOW, /* extract only, as the rest */
	GPUAGG_FIELD_ISODOW,
	GPUAGG_FIELD_DOY,
	GPUAGG_FIELD_ISOYEAR,
	GPUAGG_FIELD_JULIAN, /* whole days */
	GPUAGG_FIELD_EPOCH	 /* microseconds since 1970 */
} GpuaggVectorField;

typedef struct GpuaggVectorInstruction
{
	uint8_t op;	   /* GpuaggVectorOp */
	uint8_t type;  /* GpuaggVectorType of operands; sources: of the result */
	uint8_t to;	   /* CAST: of the result; else 0 */
	uint8_t spare; /* 0 */
	uint16_t out;  /* registers; NONE where the instruction has no such operand */
	uint16_t a;
	uint16_t b;
	uint16_t c;
	uint16_t mask;	/* BOOL: flags, ROW and COLUMN only where it is true; NONE: live rows */
	uint16_t count; /* IN, zones: constants */
	uint32_t arg;
} GpuaggVectorInstruction;

/*
 * A constant, or a parameter whose value is put here before each run.  Integers are
 * sign-extended to 128 bits, BOOL is 0 or 1, floats are in the low bits.
 */
typedef struct GpuaggVectorConstant
{
	uint8_t type; /* GpuaggVectorType */
	uint8_t isnull;
	uint8_t spare[6]; /* 0 */
	union
	{
		GpuaggInt128 integer;
		float float32;
		double float64;
		GpuaggVectorBytes bytes;
	} u;
} GpuaggVectorConstant;

typedef struct GpuaggVectorProgram
{
	uint32_t ninstructions;
	uint32_t nfilter; /* so many of them compute the filter */
	uint32_t filter;  /* BOOL register that is the filter; NONE: all rows pass */
	uint32_t nregisters;
	uint32_t nconstants;
	uint32_t ncolumns;
	uint32_t nrows; /* number of ROW's expressions */
	uint32_t spare; /* 0 */
	const GpuaggVectorInstruction *instructions;
	const GpuaggVectorConstant *constants;
	const uint8_t *columns; /* GpuaggVectorType of each */
} GpuaggVectorProgram;

static inline bool
gpuagg_vector_type_is_float(int type)
{
	return type == GPUAGG_VECTOR_FLOAT32 || type == GPUAGG_VECTOR_FLOAT64;
}

/* Bytes of one value; 0 for BOOL, and for a number that is no type. */
static inline size_t
gpuagg_vector_type_size(int type)
{
	switch (type)
	{
		case GPUAGG_VECTOR_INT16:
			return 2;
		case GPUAGG_VECTOR_INT32:
		case GPUAGG_VECTOR_FLOAT32:
			return 4;
		case GPUAGG_VECTOR_INT64:
		case GPUAGG_VECTOR_FLOAT64:
		case GPUAGG_VECTOR_DATUM:
			return 8;
		case GPUAGG_VECTOR_INT128:
		case GPUAGG_VECTOR_BYTES:
			return 16;
		default:
			return 0;
	}
}

/* The comparison that holds with its operands the other way round; another operation as it is. */
static inline GpuaggVectorOp
gpuagg_vector_commuted(GpuaggVectorOp op)
{
	switch (op)
	{
		case GPUAGG_VECTOR_LT:
			return GPUAGG_VECTOR_GT;
		case GPUAGG_VECTOR_LE:
			return GPUAGG_VECTOR_GE;
		case GPUAGG_VECTOR_GT:
			return GPUAGG_VECTOR_LT;
		case GPUAGG_VECTOR_GE:
			return GPUAGG_VECTOR_LE;
		default:
			return op;
	}
}

/*
 * The register of the strings that an instruction on strings compares with constants alone, given
 * which of its operands are constants; GPUAGG_VECTOR_NONE: it is none such.
 */
static inline uint16_t
gpuagg_vector_compared(const GpuaggVectorInstruction *in, bool a_constant, bool b_constant)
{
	switch (in->op)
	{
		case GPUAGG_VECTOR_EQ:
		case GPUAGG_VECTOR_NE:
		case GPUAGG_VECTOR_LT:
		case GPUAGG_VECTOR_LE:
		case GPUAGG_VECTOR_GT:
		case GPUAGG_VECTOR_GE:
			if (b_constant)
				return in->a;
			return a_constant ? in->b : GPUAGG_VECTOR_NONE;
		case GPUAGG_VECTOR_IN:
		case GPUAGG_VECTOR_LIKE:
			return in->a;
		default:
			return GPUAGG_VECTOR_NONE;
	}
}

/* The type of an instruction's result; 0: it is no instruction. */
extern int gpuagg_vector_result(const GpuaggVectorInstruction *instruction);

/*
 * Whether the program is one: every number in range, every register written before it
 * is read, and with the type that is asked for.  types[] (nregisters): the
 * type that each register has at the end, 0: never written.
 * Returns -1, or the number of the first bad instruction, or, where it is not one of
 * them, a number that no instruction of the program has.
 */
extern int gpuagg_vector_check(const GpuaggVectorProgram *program, uint8_t *types);

/* Whether a program is small enough for the device. */
extern bool gpuagg_vector_fits_device(const GpuaggVectorProgram *program);

#endif /* GPUAGG_VECTOR_H */
