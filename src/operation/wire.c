/*
 * wire.c
 *	  Serialized aggregate states.
 */
#include "compat.h"

#include "operation/wire.h"
#include "device/stat.h"

#define WIRE_VERSION 1

void
gpuagg_wire_begin(StringInfo buf, WireTag tag)
{
	pq_begintypsend(buf);
	pq_sendbyte(buf, WIRE_VERSION);
	pq_sendbyte(buf, tag);
}

/*
 * What a report needs: most groups of a hashed aggregate have only rows that
 * the CPU took to tell of, and a whole report would be larger than their state.
 */
static ReportForm
report_form(const WorkReport *report)
{
	WorkReport rows;

	memset(&rows, 0, sizeof(rows));
	if (memcmp(report, &rows, sizeof(rows)) == 0)
		return REPORT_NONE;
	rows.rows[ENGINE_CPU] = report->rows[ENGINE_CPU];
	rows.bytes[ENGINE_CPU] = report->bytes[ENGINE_CPU];
	rows.nulls = report->nulls;
	return memcmp(report, &rows, sizeof(rows)) == 0 ? REPORT_ROWS : REPORT_WHOLE;
}

bytea *
gpuagg_wire_end(StringInfo buf, ReportForm *form)
{
	WorkReport work;
	ReportForm none = REPORT_NONE;

	if (form == NULL)
		form = &none;
	else
	{
		gpuagg_stat_take(&work);
		*form = Max(*form, report_form(&work));
	}
	pq_sendbyte(buf, *form);
	if (*form == REPORT_WHOLE)
		pq_sendbytes(buf, (char *) &work, sizeof(work));
	else if (*form == REPORT_ROWS)
	{
		pq_sendint64(buf, (uint64) work.rows[ENGINE_CPU]);
		pq_sendint64(buf, (uint64) work.bytes[ENGINE_CPU]);
		pq_sendint64(buf, (uint64) work.nulls);
	}
	return pq_endtypsend(buf);
}

void
gpuagg_wire_refuse(void)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
					errmsg("invalid serialized aggregate state")));
}

void
gpuagg_wire_open(StringInfo buf, bytea *state, WireTag tag)
{
	initStringInfo(buf);
	appendBinaryStringInfo(buf, VARDATA_ANY(state), VARSIZE_ANY_EXHDR(state));
	if (pq_getmsgbyte(buf) != WIRE_VERSION || pq_getmsgbyte(buf) != tag)
		gpuagg_wire_refuse();
}

void
gpuagg_wire_reader(StringInfo buf, GpuaggReader *reader)
{
	reader->next = (const uint8_t *) buf->data + buf->cursor;
	reader->left = (size_t) (buf->len - buf->cursor);
	reader->bad = 0;
}

void
gpuagg_wire_read(StringInfo buf, const GpuaggReader *reader, bool decoded)
{
	if (!decoded)
		gpuagg_wire_refuse();
	buf->cursor = buf->len - (int) reader->left;
}

void
gpuagg_wire_close(StringInfo buf, bool report)
{
	WorkReport work;
	int form = pq_getmsgbyte(buf);

	if (form != REPORT_NONE && !report)
		gpuagg_wire_refuse();
	memset(&work, 0, sizeof(work));
	if (form == REPORT_WHOLE)
		pq_copymsgbytes(buf, (char *) &work, sizeof(work));
	else if (form == REPORT_ROWS)
	{
		work.rows[ENGINE_CPU] = pq_getmsgint64(buf);
		work.bytes[ENGINE_CPU] = pq_getmsgint64(buf);
		work.nulls = pq_getmsgint64(buf);
	}
	pq_getmsgend(buf);
	if (form != REPORT_NONE)
		gpuagg_stat_give(&work);
	pfree(buf->data);
}
