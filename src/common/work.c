/*
 * work.c
 *	  The columns of a piece of work: which it has, their layout, their check.
 */
#include "common/protocol.h"

static void
set_bits(GpuaggWork *work, GpuaggColumn column, size_t bits)
{
	work->column[column].bits = (uint32_t) bits;
}

void
gpuagg_work_set_columns(int type, GpuaggWork *work)
{
	int kind = (int) work->kind;
	int op = (int) work->op;
	size_t values = gpuagg_kind_size(kind) * 8;
	int scans = type == GPUAGG_MSG_SCAN;
	size_t scanned = gpuagg_scan_value_size(kind, scans ? work->flags : 0) * 8;

	for (int c = 0; c < GPUAGG_NCOLUMNS; c++)
		work->column[c].bits = 0;
	switch (type)
	{
		case GPUAGG_MSG_REDUCE:
		case GPUAGG_MSG_SCAN:
			set_bits(work, GPUAGG_VALUES, op == GPUAGG_COUNT ? 0 : scanned);
			set_bits(work, GPUAGG_VALIDITY, work->flags & GPUAGG_SCAN_VALIDITY ? 1 : 0);
			if (!scans)
				break;
			set_bits(work, GPUAGG_HEADS, work->flags & GPUAGG_SCAN_HEADS ? 1 : 0);
			set_bits(work, GPUAGG_RESULTS, gpuagg_scan_result_size(kind, op, work->flags) * 8);
			set_bits(work, GPUAGG_STATUS, work->flags & GPUAGG_SCAN_STATUS ? 8 : 0);
			break;
		case GPUAGG_MSG_SORT:
			values = gpuagg_sort_item_size((int) work->u.sort.words) * 8;
			set_bits(work, GPUAGG_VALUES, values);
			set_bits(work, GPUAGG_RESULTS, values);
			break;
		case GPUAGG_MSG_LADDER:
			set_bits(work, GPUAGG_VALUES, values);
			if (work->u.ladder.task == GPUAGG_SEGMENTED_SCAN)
				set_bits(work, GPUAGG_HEADS, 1);
			if (work->u.ladder.task != GPUAGG_REDUCE)
				set_bits(work, GPUAGG_RESULTS, gpuagg_ladder_result_size(kind) * 8);
			break;
	}
}

uint64_t
gpuagg_work_lay_out(int type, GpuaggWork *work, uint64_t start, uint64_t nrows)
{
	uint64_t end = start;

	gpuagg_work_set_columns(type, work);
	for (int c = 0; c < GPUAGG_NCOLUMNS; c++)
	{
		GpuaggColumnRef *column = &work->column[c];

		column->place = GPUAGG_IN_REGION;
		if (type == GPUAGG_MSG_SORT && c == GPUAGG_RESULTS)
		{
			column->at = work->column[GPUAGG_VALUES].at;
			continue;
		}
		column->at = end;
		end += (gpuagg_column_bytes(column, nrows) + GPUAGG_ALIGN - 1) / GPUAGG_ALIGN *
			   GPUAGG_ALIGN;
	}
	return end;
}

static int
overlap(const GpuaggWork *work, int a, int b)
{
	uint64_t a_bytes = gpuagg_column_bytes(&work->column[a], work->nrows);
	uint64_t b_bytes = gpuagg_column_bytes(&work->column[b], work->nrows);

	return a_bytes > 0 && b_bytes > 0 && work->column[a].at < work->column[b].at + b_bytes &&
		   work->column[b].at < work->column[a].at + a_bytes;
}

int
gpuagg_work_columns_check(int type, const GpuaggWork *work, uint64_t bytes)
{
	GpuaggWork expected = *work;

	gpuagg_work_set_columns(type, &expected);
	for (int c = 0; c < GPUAGG_NCOLUMNS; c++)
	{
		const GpuaggColumnRef *column = &work->column[c];
		uint64_t length = gpuagg_column_bytes(column, work->nrows);

		if (column->bits != expected.column[c].bits || column->place != GPUAGG_IN_REGION)
			return 0;
		if (length > 0 &&
			(column->at % GPUAGG_ALIGN != 0 || column->at > bytes || length > bytes - column->at))
			return 0;
	}
	for (int out = GPUAGG_NINPUTS; out < GPUAGG_NCOLUMNS; out++)
		for (int c = 0; c < out; c++)
		{
			if (type == GPUAGG_MSG_SORT && c == GPUAGG_VALUES)
			{
				if (work->column[c].at != work->column[GPUAGG_RESULTS].at)
					return 0;
			}
			else if (overlap(work, c, out))
				return 0;
		}
	return 1;
}
