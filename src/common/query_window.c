/*
 * query_window.c
 *	  Windows between the rows of a query and its aggregates.
 */
#include "common/query_window.h"

GpuaggVectorType
gpuagg_window_result(const GpuaggWindowFunction *function)
{
	switch (function->op)
	{
		case GPUAGG_COUNT:
			return GPUAGG_VECTOR_INT64;
		case GPUAGG_SUM:
			if (function->kind == GPUAGG_INT32)
				return GPUAGG_VECTOR_INT64;
			if (function->kind == GPUAGG_INT64)
				return GPUAGG_VECTOR_INT128;
			break;
		case GPUAGG_MIN:
		case GPUAGG_MAX:
			if (function->kind == GPUAGG_INT32)
				return GPUAGG_VECTOR_INT32;
			if (function->kind == GPUAGG_INT64)
				return GPUAGG_VECTOR_INT64;
			break;
		default:
			return 0;
	}
	return function->kind == GPUAGG_FLOAT32	  ? GPUAGG_VECTOR_FLOAT32
		   : function->kind == GPUAGG_FLOAT64 ? GPUAGG_VECTOR_FLOAT64
											  : 0;
}

/* The kind of a scan over a register; 0: there is none. */
static int
kind_of(int type)
{
	switch (type)
	{
		case GPUAGG_VECTOR_INT16:
		case GPUAGG_VECTOR_INT32:
			return GPUAGG_INT32;
		case GPUAGG_VECTOR_INT64:
			return GPUAGG_INT64;
		case GPUAGG_VECTOR_FLOAT32:
			return GPUAGG_FLOAT32;
		case GPUAGG_VECTOR_FLOAT64:
			return GPUAGG_FLOAT64;
		default:
			return 0;
	}
}

static bool
check_function(const GpuaggWindow *window, const GpuaggWindowFunction *function,
			   const uint8_t *types)
{
	if (function->exclusive > 1 || function->reach > GPUAGG_REACH_PARTITION ||
		function->heads > 1 || function->average > 1 || function->order >= window->norders ||
		gpuagg_window_result(function) == 0)
		return false;
	if (function->average && (function->op != GPUAGG_SUM || function->kind != GPUAGG_FLOAT64))
		return false;
	if (function->value == GPUAGG_WINDOW_NONE)
		return function->op == GPUAGG_COUNT;
	return function->value < window->nvalues && function->heads == 0 &&
		   (function->op == GPUAGG_COUNT ||
			kind_of(types[window->values[function->value]]) == function->kind);
}

static bool
check_column(const GpuaggWindow *window, const GpuaggWindowColumn *column, const uint8_t *types,
			 int type)
{
	if (column->function != GPUAGG_WINDOW_NONE)
		return column->value == GPUAGG_WINDOW_NONE && column->function < window->nfunctions &&
			   (int) gpuagg_window_result(&window->functions[column->function]) == type;
	return column->value < window->nvalues && types[window->values[column->value]] == type;
}

/* Whether each order's keys are the next ones, or those of the order before, up to the last. */
static bool
check_orders(const GpuaggWindow *window)
{
	uint32_t end = 0;

	if (window->norders < 1 || window->norders > GPUAGG_WINDOW_ORDERS)
		return false;
	for (uint32_t i = 0; i < window->norders; i++)
	{
		const GpuaggWindowOrder *order = &window->orders[i];

		if (order->npartition > order->npeers || order->npeers > order->nkeys)
			return false;
		if (gpuagg_window_same_sort(window, i))
			continue;
		if (order->first != end)
			return false;
		end += order->nkeys;
	}
	return end == window->nkeys;
}

/* Whether registers hold numbers; types: of all that there are, 0 of others. */
static bool
are_numbers(const uint16_t *registers, uint32_t n, const uint8_t *types)
{
	for (uint32_t i = 0; i < n; i++)
		if (registers[i] >= GPUAGG_VECTOR_DEVICE_REGISTERS ||
			types[registers[i]] < GPUAGG_VECTOR_INT16 ||
			types[registers[i]] > GPUAGG_VECTOR_FLOAT64)
			return false;
	return true;
}

bool
gpuagg_window_check(const GpuaggWindow *window, const uint8_t *types, const uint8_t *columns,
					uint32_t ncolumns)
{
	if (window->nvalues > GPUAGG_WINDOW_VALUES || window->nkeys > GPUAGG_WINDOW_KEYS ||
		window->nfunctions > GPUAGG_WINDOW_FUNCTIONS || ncolumns > GPUAGG_WINDOW_COLUMNS ||
		window->places > GPUAGG_WINDOW_PLACES || window->spare != 0 ||
		!are_numbers(window->values, window->nvalues, types) || !check_orders(window))
		return false;
	for (uint32_t i = 0; i < window->nkeys; i++)
		if (window->keys[i].value >= window->nvalues || window->keys[i].descending > 1 ||
			window->keys[i].nulls_first > 1 ||
			types[window->values[window->keys[i].value]] == GPUAGG_VECTOR_INT128)
			return false;
	for (uint32_t i = 0; i < window->nfunctions; i++)
		if (!check_function(window, &window->functions[i], types))
			return false;
	for (uint32_t i = 0; i < ncolumns; i++)
		if (!check_column(window, &window->columns[i], types, columns[i]))
			return false;
	return true;
}

bool
gpuagg_window_check_out(const GpuaggWindow *window, const uint8_t *types)
{
	return window->nout <= GPUAGG_WINDOW_VALUES && are_numbers(window->out, window->nout, types);
}
