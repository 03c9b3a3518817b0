/*
 * device_quotient.h
 *	  Averages of integers and decimals in a program for the device, from sums and counts.
 *
 * A row's average is a quotient that core rounds at a scale of the row's own, which it estimates from
 * both numbers (decimal_quotient.h).  The program has all of them as INT128 at one scale, `scale`, that
 * no row's exceeds, and beside it a code of the row's own scale, the greater the more digits it has.
 * Rows whose average does not fit are flagged.
 */
#ifndef GPUAGG_DEVICE_QUOTIENT_H
#define GPUAGG_DEVICE_QUOTIENT_H

#include "common/int128.h"
#include "common/vector.h"

#define DEVICE_QUOTIENT_INSTRUCTIONS 96
#define DEVICE_QUOTIENT_CONSTANTS	 32
#define DEVICE_QUOTIENT_CODES		 16

/* Registers of a quotient: those that stay, and behind them others. */
enum
{
	DEVICE_QUOTIENT_CODE, /* INT32; NULL as the average is */
	DEVICE_QUOTIENT_LEAST, /* the average times CODES, and what makes the one with more digits the least */
	DEVICE_QUOTIENT_GREATEST, /* of equal ones, or the greatest */
	DEVICE_QUOTIENT_OTHERS,
	DEVICE_QUOTIENT_REGISTERS = 64
};

typedef struct DeviceQuotient
{
	int places; /* of the sums */
	int groups; /* of four digits that counts have behind the first, at most */
	int scale;
	bool coded; /* which of the registers that stay are wanted */
	bool least;
	bool greatest;
} DeviceQuotient;

/* A program that is being written; there is room for all of it. */
typedef struct DeviceProgramWriter
{
	GpuaggVectorProgram *program;
	GpuaggVectorInstruction *instructions;
	GpuaggVectorConstant *constants;
} DeviceProgramWriter;

/* Of sums with so many places, of so many values at most; false: 128 bits are too few. */
extern bool gpuagg_device_quotient_init(DeviceQuotient *quotient, int places, uint64_t most);

/* The display scale that a code says. */
extern int gpuagg_device_quotient_scale(const DeviceQuotient *quotient, int code);

/* The average and the code of an extreme, least or greatest. */
extern __int128 gpuagg_device_quotient_extreme(__int128 extreme, bool least, int *code);

/*
 * Writes what makes register `out` the average of INT128 `sum` and INT64 `count`; its other registers
 * begin at `first`.
 */
extern void gpuagg_device_quotient_write(const DeviceQuotient *quotient,
										 DeviceProgramWriter *writer, uint16_t out, uint16_t sum,
										 uint16_t count, uint16_t first);

#endif /* GPUAGG_DEVICE_QUOTIENT_H */
