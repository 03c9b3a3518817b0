/*
 * cpu_engine.c
 *	  The CPU engine: does all the work in finish().
 */
#include "postgres.h"

#include "common/protocol.h"
#include "engine/cpu.h"
#include "engine/engine.h"
#include "engine/pause.h"

static GpuaggReason
submit(Flight *flight)
{
	return GPUAGG_OK;
}

static GpuaggReason
finish(Flight *flight)
{
	GpuaggWork *work = &flight->work;

	switch (flight->type)
	{
		case GPUAGG_MSG_REDUCE:
			gpuagg_cpu_reduce(work->kind, work->op, flight->values, flight->validity,
							  (int64) work->nrows, flight->total);
			break;
		case GPUAGG_MSG_SCAN:
			gpuagg_cpu_scan(flight, &work->u.scan.carry);
			break;
		case GPUAGG_MSG_SORT:
			gpuagg_radix_sort_piece(&flight->items, (int) work->u.sort.words, gpuagg_pause);
			break;
		default:
			elog(ERROR, "the CPU engine does no work of type %d", flight->type);
	}
	return GPUAGG_OK;
}

const Engine gpuagg_cpu_engine = {submit, finish};
