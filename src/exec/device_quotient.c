/*
 * device_quotient.c
 *	  Averages of integers and decimals in a program for the device, from sums and counts.
 *
 * Core's scale of a quotient follows from its weight in groups of four digits, by estimate: the
 * sum's weight less the count's, and one less where the sum's first group is not above the count's.
 * With f and 10000^w for the count's first group and weight, that is j - w, where j is the greatest
 * number for which (f + 1) * 10000^j is no more than the sum.  So each class of scales begins where
 * the sum reaches the next of these, and a row's class is found by comparing with one after the other.
 * The widest scale is that of j - w = -groups - 1, of sums at 10000^-places.
 *
 * A sum of 0 has the weight 0: it is compared as a number of the class that it is of, j = -1 for whole
 * sums.
 *
 * From the sixth class on, quotients of 16 digits and more before `scale` do not fit 128 bits.
 */
#include "compat.h"

#include "common/decimal_quotient.h"
#include "common/power_of_ten.h"
#include "exec/device_quotient.h"

#define CLASSES		5 /* behind the first */
#define FIRST_CODE	(DEVICE_QUOTIENT_CODES - 1)
#define MOST_SCALE	36 /* so that some numbers of two digits fit, times CODES */
#define MOST_GROUPS 2  /* of counts below 2^31 */

/* Groups of four digits behind the point that sums have. */
static int
groups_of(int places)
{
	return (places + GPUAGG_GROUP_DIGITS - 1) / GPUAGG_GROUP_DIGITS;
}

bool
gpuagg_device_quotient_init(DeviceQuotient *quotient, int places, uint64_t most)
{
	memset(quotient, 0, sizeof(*quotient));
	quotient->places = places;
	for (; most >= GPUAGG_DECIMAL_BASE; most /= GPUAGG_DECIMAL_BASE)
		quotient->groups++;
	quotient->scale = gpuagg_quotient_most_scale(places, quotient->groups);
	return quotient->groups <= MOST_GROUPS && quotient->scale <= MOST_SCALE;
}

/* Of a class, from 0 on. */
static int
class_scale(const DeviceQuotient *quotient, int class)
{
	return Max(quotient->scale - GPUAGG_GROUP_DIGITS * class, quotient->places);
}

int
gpuagg_device_quotient_scale(const DeviceQuotient *quotient, int code)
{
	return class_scale(quotient, FIRST_CODE - code);
}

__int128
gpuagg_device_quotient_extreme(__int128 extreme, bool least, int *code)
{
	int rest = (int) (extreme & (DEVICE_QUOTIENT_CODES - 1));

	*code = least ? FIRST_CODE - rest : rest;
	return (extreme - rest) / DEVICE_QUOTIENT_CODES;
}

/* ---- instructions ---- */

typedef struct Writer
{
	DeviceProgramWriter *to;
	uint16 next; /* register */
} Writer;

static uint16
emit(Writer *writer, uint16 out, GpuaggVectorInstruction in)
{
	GpuaggVectorProgram *program = writer->to->program;

	in.out = out;
	in.mask = GPUAGG_VECTOR_NONE;
	writer->to->instructions[program->ninstructions++] = in;
	return out;
}

static uint16
constant_into(Writer *writer, uint16 out, GpuaggVectorType type, __int128 value)
{
	GpuaggVectorProgram *program = writer->to->program;

	writer->to->constants[program->nconstants] =
		(GpuaggVectorConstant){.type = (uint8) type, .u.integer = gpuagg_int128_narrow(value)};
	return emit(writer, out,
				(GpuaggVectorInstruction){.op = GPUAGG_VECTOR_CONSTANT,
										  .type = (uint8) type,
										  .a = GPUAGG_VECTOR_NONE,
										  .b = GPUAGG_VECTOR_NONE,
										  .c = GPUAGG_VECTOR_NONE,
										  .arg = program->nconstants++});
}

static uint16
constant(Writer *writer, GpuaggVectorType type, __int128 value)
{
	return constant_into(writer, writer->next++, type, value);
}

static uint16
binary_into(Writer *writer, uint16 out, GpuaggVectorOp op, GpuaggVectorType type, uint16 a,
			uint16 b)
{
	return emit(writer, out,
				(GpuaggVectorInstruction){.op = (uint8) op,
										  .type = (uint8) type,
										  .a = a,
										  .b = b,
										  .c = GPUAGG_VECTOR_NONE});
}

static uint16
binary(Writer *writer, GpuaggVectorOp op, GpuaggVectorType type, uint16 a, uint16 b)
{
	return binary_into(writer, writer->next++, op, type, a, b);
}

static uint16
times(Writer *writer, uint16 a, __int128 factor)
{
	return factor == 1 ? a
					   : binary(writer, GPUAGG_VECTOR_MUL, GPUAGG_VECTOR_INT128, a,
								constant(writer, GPUAGG_VECTOR_INT128, factor));
}

static uint16
widened(Writer *writer, GpuaggVectorType type, uint16 a)
{
	return emit(writer, writer->next++,
				(GpuaggVectorInstruction){.op = GPUAGG_VECTOR_CAST,
										  .type = (uint8) type,
										  .to = GPUAGG_VECTOR_INT128,
										  .a = a,
										  .b = GPUAGG_VECTOR_NONE,
										  .c = GPUAGG_VECTOR_NONE});
}

static uint16
selected(Writer *writer, GpuaggVectorType type, uint16 condition, uint16 a, uint16 b)
{
	return emit(writer, writer->next++,
				(GpuaggVectorInstruction){.op = GPUAGG_VECTOR_SELECT,
										  .type = (uint8) type,
										  .a = a,
										  .b = b,
										  .c = condition});
}

/* 10000^w of the count's weight. */
static uint16
base_of_count(Writer *writer, const DeviceQuotient *quotient, uint16 count)
{
	uint16 base = constant(writer, GPUAGG_VECTOR_INT64, 1);

	for (int w = 1; w <= quotient->groups; w++)
	{
		uint16 power = constant(writer, GPUAGG_VECTOR_INT64,
								gpuagg_power_of_ten(GPUAGG_GROUP_DIGITS * w));

		base = selected(writer, GPUAGG_VECTOR_INT64,
						binary(writer, GPUAGG_VECTOR_GE, GPUAGG_VECTOR_INT64, count, power), power,
						base);
	}
	return base;
}

/* The sum without its sign, in whole groups; 0 as a number of its class.  above: f + 1. */
static uint16
compared_sum(Writer *writer, const DeviceQuotient *quotient, uint16 sum, uint16 above)
{
	int groups = groups_of(quotient->places);
	uint16 positive = emit(writer, writer->next++,
						   (GpuaggVectorInstruction){.op = GPUAGG_VECTOR_ABS,
													 .type = GPUAGG_VECTOR_INT128,
													 .a = sum,
													 .b = GPUAGG_VECTOR_NONE,
													 .c = GPUAGG_VECTOR_NONE});
	uint16 zero;

	positive = times(writer, positive,
					 gpuagg_power_of_ten(GPUAGG_GROUP_DIGITS * groups - quotient->places));
	if (groups == 0)
		return binary(writer, GPUAGG_VECTOR_GREATEST, GPUAGG_VECTOR_INT128, positive,
					  constant(writer, GPUAGG_VECTOR_INT128, 1));
	zero = binary(writer, GPUAGG_VECTOR_EQ, GPUAGG_VECTOR_INT128, positive,
				  constant(writer, GPUAGG_VECTOR_INT128, 0));
	return selected(writer, GPUAGG_VECTOR_INT128, zero,
					times(writer, above, gpuagg_power_of_ten(GPUAGG_GROUP_DIGITS * (groups - 1))),
					positive);
}

/* The power of ten between the row's scale and the program's, and the code; by class. */
static uint16
find_class(Writer *writer, const DeviceQuotient *quotient, uint16 sum, uint16 count, uint16 *code)
{
	uint16 base = base_of_count(writer, quotient, count);
	uint16 above = binary(writer, GPUAGG_VECTOR_ADD, GPUAGG_VECTOR_INT64,
						  quotient->groups > 0
							  ? binary(writer, GPUAGG_VECTOR_DIV, GPUAGG_VECTOR_INT64, count, base)
							  : count,
						  constant(writer, GPUAGG_VECTOR_INT64, 1));
	uint16 limit = widened(writer, GPUAGG_VECTOR_INT64,
						   binary(writer, GPUAGG_VECTOR_MUL, GPUAGG_VECTOR_INT64, above, base));
	uint16 compared =
		times(writer,
			  compared_sum(writer, quotient, sum, widened(writer, GPUAGG_VECTOR_INT64, above)),
			  gpuagg_power_of_ten(GPUAGG_GROUP_DIGITS * (quotient->groups + 1)));
	uint16 power = constant(writer, GPUAGG_VECTOR_INT128, 1);
	uint16 group = constant(writer, GPUAGG_VECTOR_INT128, GPUAGG_DECIMAL_BASE);
	uint16 power_here = writer->next++;
	uint16 code_here = writer->next++;

	*code = constant(writer, GPUAGG_VECTOR_INT32, FIRST_CODE);
	for (int i = 1; i <= CLASSES && class_scale(quotient, i - 1) > quotient->places; i++)
	{
		int scale = class_scale(quotient, i);
		uint16 reached;

		limit = binary(writer, GPUAGG_VECTOR_MUL, GPUAGG_VECTOR_INT128, limit, group);
		reached = binary(writer, GPUAGG_VECTOR_GE, GPUAGG_VECTOR_INT128, compared, limit);
		power = selected(writer, GPUAGG_VECTOR_INT128, reached,
						 constant_into(writer, power_here, GPUAGG_VECTOR_INT128,
									   gpuagg_power_of_ten(quotient->scale - scale)),
						 power);
		*code = selected(writer, GPUAGG_VECTOR_INT32, reached,
						 constant_into(writer, code_here, GPUAGG_VECTOR_INT32, FIRST_CODE - i),
						 *code);
	}
	return power;
}

/* An average and its code as one number. */
static void
write_extreme(Writer *writer, uint16 out, uint16 average, GpuaggVectorOp op, uint16 rest)
{
	(void) binary_into(writer, out, op, GPUAGG_VECTOR_INT128,
					   times(writer, average, DEVICE_QUOTIENT_CODES),
					   widened(writer, GPUAGG_VECTOR_INT32, rest));
}

void
gpuagg_device_quotient_write(const DeviceQuotient *quotient, DeviceProgramWriter *to, uint16_t out,
							 uint16_t sum, uint16_t count, uint16_t first)
{
	Writer writer = {to, (uint16) (first + DEVICE_QUOTIENT_OTHERS)};
	uint16 code;
	uint16 power = find_class(&writer, quotient, sum, count, &code);
	uint16 factor = binary(&writer, GPUAGG_VECTOR_DIV, GPUAGG_VECTOR_INT128,
						   constant(&writer, GPUAGG_VECTOR_INT128,
									gpuagg_power_of_ten(quotient->scale - quotient->places)),
						   power);
	uint16 rounded = binary(&writer, GPUAGG_VECTOR_DIV_ROUND, GPUAGG_VECTOR_INT128,
							binary(&writer, GPUAGG_VECTOR_MUL, GPUAGG_VECTOR_INT128, sum, factor),
							widened(&writer, GPUAGG_VECTOR_INT64, count));

	(void) binary_into(&writer, out, GPUAGG_VECTOR_MUL, GPUAGG_VECTOR_INT128, rounded, power);
	if (quotient->greatest)
		write_extreme(&writer, first + DEVICE_QUOTIENT_GREATEST, out, GPUAGG_VECTOR_ADD, code);
	if (quotient->least)
		write_extreme(&writer, first + DEVICE_QUOTIENT_LEAST, out, GPUAGG_VECTOR_ADD,
					  binary(&writer, GPUAGG_VECTOR_SUB, GPUAGG_VECTOR_INT32,
							 constant(&writer, GPUAGG_VECTOR_INT32, FIRST_CODE), code));
	if (quotient->coded)
	{
		uint16 missing = emit(&writer, writer.next++,
							  (GpuaggVectorInstruction){.op = GPUAGG_VECTOR_IS_NULL,
														.type = GPUAGG_VECTOR_INT128,
														.a = sum,
														.b = GPUAGG_VECTOR_NONE,
														.c = GPUAGG_VECTOR_NONE});

		(void) emit(&writer, first + DEVICE_QUOTIENT_CODE,
					(GpuaggVectorInstruction){.op = GPUAGG_VECTOR_NULLIF,
											  .type = GPUAGG_VECTOR_INT32,
											  .a = code,
											  .b = GPUAGG_VECTOR_NONE,
											  .c = missing});
	}
}
