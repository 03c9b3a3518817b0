/*
 * device_tables.c
 *	  Chunks of several tables that the device can take, for one request.
 */
#include "compat.h"

#include "exec/device_tables.h"

#include "utils/memutils.h"

static void
count_all(DeviceTables *tables)
{
	PageDevice *all = &tables->all;

	memset(all, 0, sizeof(*all));
	for (int i = 0; i < tables->n; i++)
	{
		const PageDevice *device = tables->list[i].device;

		if (device == NULL)
			continue;
		all->nchunks += device->nchunks;
		all->rows += device->rows;
		all->bare += device->bare;
		all->nhost += device->nhost;
	}
}

/* Adds a table's chunks to the first n of all. */
static void
add_chunks(DeviceTables *tables, DeviceTable *table, uint32 n)
{
	PageDevice *all = &tables->all;
	const PageDevice *device = table->device;
	uint64 *blobs = all->blobs + (Size) n * tables->ncolumns;

	memcpy(all->chunks + n, device->chunks, device->nchunks * sizeof(BlobQueryChunk));
	table->blobs = blobs;
	for (uint32 i = 0; i < device->nchunks; i++)
		for (int column = 0; column < tables->ncolumns; column++)
		{
			int own = table->places != NULL ? table->places[column] : column;

			*blobs++ = own < 0 ? 0 : device->blobs[(Size) i * table->ncolumns + own];
		}
	all->epoch = device->epoch;
}

bool
gpuagg_device_tables_join(DeviceTables *tables)
{
	PageDevice *all = &tables->all;
	uint32 n = 0;

	count_all(tables);
	all->chunks = palloc_extended(all->nchunks * sizeof(BlobQueryChunk), MCXT_ALLOC_HUGE);
	all->blobs = palloc_extended((Size) all->nchunks * tables->ncolumns * sizeof(uint64),
								 MCXT_ALLOC_HUGE);
	for (int i = 0; i < tables->n; i++)
	{
		const PageDevice *device = tables->list[i].device;

		if (device == NULL || device->nchunks == 0)
			continue;
		if (n > 0 && device->epoch != all->epoch)
			return false;
		add_chunks(tables, &tables->list[i], n);
		n += device->nchunks;
	}
	return true;
}

void
gpuagg_device_tables_shift(DeviceTables *tables, const int32 *firsts)
{
	Size ncolumns = (Size) tables->ncolumns;
	int32 *next;

	if (firsts == NULL && tables->number < 0)
		return;
	next = tables->shifts = palloc_extended(tables->all.nchunks * ncolumns * sizeof(int32),
											MCXT_ALLOC_HUGE);
	for (int i = 0; i < tables->n; i++)
	{
		DeviceTable *table = &tables->list[i];

		if (table->device == NULL)
			continue;
		table->shifts = next;
		for (uint32 chunk = 0; chunk < table->device->nchunks; chunk++, next += ncolumns)
		{
			if (firsts != NULL)
				memcpy(next, firsts + (Size) i * ncolumns, ncolumns * sizeof(int32));
			else
				memset(next, 0, ncolumns * sizeof(int32));
			if (tables->number >= 0)
				next[tables->number] = table->number;
		}
	}
}

bool
gpuagg_device_tables_whole(const DeviceTables *tables, const uint8 *status)
{
	bool whole = true;

	for (int i = 0; i < tables->n; i++)
	{
		const DeviceTable *table = &tables->list[i];

		if (table->device == NULL)
			continue;
		whole &= gpuagg_page_device_whole(table->reader, table->device, status);
		status += table->device->nchunks;
	}
	return whole;
}

void
gpuagg_device_tables_taken(const DeviceTables *tables, const uint8 *status)
{
	for (int i = 0; i < tables->n; i++)
	{
		const DeviceTable *table = &tables->list[i];

		if (table->device == NULL || table->device->nchunks == 0)
			continue;
		(void) gpuagg_page_device_taken(table->reader, table->device, table->columns,
										table->ncolumns, status);
		status += table->device->nchunks;
	}
}
