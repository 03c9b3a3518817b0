/*
 * wire.h
 *	  Serialized aggregate states: a header, the state, the worker's report.
 *
 * They live no longer than a query.  Core keeps them within the server; extensions that
 * distribute queries carry them between servers and let clients call what reads them, so
 * reading is safe for any bytes.
 */
#ifndef GPUAGG_WIRE_H
#define GPUAGG_WIRE_H

#include "compat.h"

#include "lib/stringinfo.h"
#include "libpq/pqformat.h"

#include "common/codec.h"

typedef enum WireTag
{
	WIRE_STATE, /* of an aggregate over values */
	WIRE_MERGE	/* of an aggregate over states between servers */
} WireTag;

typedef enum ReportForm
{
	REPORT_NONE,
	REPORT_ROWS, /* rows and bytes of the CPU engine, NULLs */
	REPORT_WHOLE
} ReportForm;

extern void gpuagg_wire_begin(StringInfo buf, WireTag tag);

/*
 * Appends this process's work report, unless `form` is NULL, and returns the finished
 * bytea.  The report has no shorter form than `*form`, which becomes the one that it has.
 */
extern bytea *gpuagg_wire_end(StringInfo buf, ReportForm *form);

/* Opens a serialized state; raises an error when it is not one of this tag. */
extern void gpuagg_wire_open(StringInfo buf, bytea *state, WireTag tag);

/* Raises the error that what was serialized is no state that can be used. */
pg_noreturn extern void gpuagg_wire_refuse(void);

/*
 * A reader of what is left; afterwards `decoded` says whether a decoder took it
 * for a state (else an error is raised), and what it has read is passed over.
 */
extern void gpuagg_wire_reader(StringInfo buf, GpuaggReader *reader);
extern void gpuagg_wire_read(StringInfo buf, const GpuaggReader *reader, bool decoded);

/* Takes over the report, or without `report` refuses one, and checks that nothing is left. */
extern void gpuagg_wire_close(StringInfo buf, bool report);

#endif /* GPUAGG_WIRE_H */
