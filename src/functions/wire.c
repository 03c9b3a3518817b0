/*
 * wire.c
 *	  Serialized aggregate states.
 */
#include "compat.h"

#include "functions/wire.h"
#include "stat.h"

#define WIRE_VERSION 1

void
gpuagg_wire_begin(StringInfo buf, char tag)
{
	pq_begintypsend(buf);
	pq_sendbyte(buf, WIRE_VERSION);
	pq_sendbyte(buf, tag);
}

bytea *
gpuagg_wire_end(StringInfo buf)
{
	WorkReport report;

	gpuagg_stat_take(&report);
	pq_sendbytes(buf, (char *) &report, sizeof(report));
	return pq_endtypsend(buf);
}

void
gpuagg_wire_open(StringInfo buf, bytea *state, char tag)
{
	initStringInfo(buf);
	appendBinaryStringInfo(buf, VARDATA_ANY(state), VARSIZE_ANY_EXHDR(state));
	if (pq_getmsgbyte(buf) != WIRE_VERSION || pq_getmsgbyte(buf) != tag)
		ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						errmsg("invalid serialized aggregate state")));
}

void
gpuagg_wire_close(StringInfo buf)
{
	WorkReport report;

	pq_copymsgbytes(buf, (char *) &report, sizeof(report));
	pq_getmsgend(buf);
	gpuagg_stat_give(&report);
	pfree(buf->data);
}
