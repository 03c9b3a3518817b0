/*
 * oracle.h
 *	  What the kernels must deliver, computed plainly: sums of doubles as one
 *	  very long integer, rounded bit by bit.
 *
 * Shares no code with what it judges.
 */
#ifndef GPUAGG_TEST_ORACLE_H
#define GPUAGG_TEST_ORACLE_H

#include <stdint.h>

#define BIG_WORDS 72 /* 2304 bits */

/* A sum of finite doubles in units of 2^-1074, two's complement. */
struct Big
{
	uint32_t word[BIG_WORDS];
};

extern void big_clear(Big *sum);
extern void big_add(Big *sum, double x);
extern bool big_is_zero(const Big *sum);

/* The nearest double, ties to even; infinite when out of range. */
extern double big_round(const Big *sum);

/* The same with the nearest float. */
extern float big_round_float(const Big *sum);

/* The double nearest to the sum by n. */
extern double big_average(const Big *sum, uint32_t n);

/* Places of the lowest and the highest bit of |x| above 2^-1074; x finite, not 0. */
extern void double_extent(double x, int *lowest, int *highest);
extern void big_extent(const Big *sum, int *lowest, int *highest);

#define SQUARES_WORDS 140 /* 4480 bits */

/* A sum of squares of finite doubles in units of 2^-2148. */
struct BigSquares
{
	uint32_t word[SQUARES_WORDS];
};

extern void squares_clear(BigSquares *sum);
extern void squares_add(BigSquares *sum, double x);

/* Counts of inputs, and the sum of the finite ones. */
struct Oracle
{
	int64_t n;
	int64_t n_nan;
	int64_t n_pinf;
	int64_t n_ninf;
	int64_t n_negzero;
	Big sum;
};

extern void oracle_clear(Oracle *oracle);
extern void oracle_add(Oracle *oracle, double x);

/* The sum's bits, NaN in canonical form; *overflow when finite inputs give an infinite sum. */
extern uint64_t oracle_result(const Oracle *oracle, bool *overflow);

/* The same as a float's bits. */
extern uint32_t oracle_result_float(const Oracle *oracle, bool *overflow);

/* The bits of the sum by the number of inputs. */
extern uint64_t oracle_average(const Oracle *oracle);

#endif /* GPUAGG_TEST_ORACLE_H */
