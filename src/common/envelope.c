/*
 * envelope.c
 *	  Header and check sum of portable aggregate states.
 */
#include "common/envelope.h"

#include <string.h>

#define MAGIC		0x4741 /* "GA" */
#define MAGIC_BYTES 2

/* CRC-32C (Castagnoli), reflected, four bits at a time. */
static uint32_t
crc32c(const uint8_t *bytes, size_t nbytes)
{
	static const uint32_t table[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
									   0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
									   0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
									   0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < nbytes; i++)
	{
		crc ^= bytes[i];
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}

void
gpuagg_state_begin(GpuaggWriter *w, GpuaggStateType type, GpuaggStateContents contents)
{
	gpuagg_put(w, MAGIC, MAGIC_BYTES);
	gpuagg_put(w, GPUAGG_STATE_VERSION, 1);
	gpuagg_put(w, type, 1);
	gpuagg_put(w, contents, 1);
}

void
gpuagg_state_end(GpuaggWriter *w, const uint8_t *start)
{
	gpuagg_put(w, crc32c(start, (size_t) (w->next - start)), GPUAGG_STATE_CRC_BYTES);
}

/*
 * The version is checked first, because a later version may change the rest, the
 * check sum included.
 */
GpuaggStateFault
gpuagg_state_open(const uint8_t *bytes, size_t nbytes, GpuaggStateHeader *header,
				  GpuaggReader *body)
{
	GpuaggReader r = {bytes, nbytes, 0};
	GpuaggReader crc;

	memset(header, 0, sizeof(*header));
	if (gpuagg_get(&r, MAGIC_BYTES) != MAGIC || r.left == 0)
		return GPUAGG_STATE_FOREIGN;
	header->version = (int) gpuagg_get(&r, 1);
	if (header->version != GPUAGG_STATE_VERSION)
		return GPUAGG_STATE_OTHER_VERSION;

	if (nbytes < GPUAGG_STATE_AROUND)
		return GPUAGG_STATE_DAMAGED;
	header->type = (GpuaggStateType) gpuagg_get(&r, 1);
	header->contents = (GpuaggStateContents) gpuagg_get(&r, 1);
	r.left -= GPUAGG_STATE_CRC_BYTES;
	crc = (GpuaggReader){r.next + r.left, GPUAGG_STATE_CRC_BYTES, 0};
	if (gpuagg_get(&crc, GPUAGG_STATE_CRC_BYTES) != crc32c(bytes, nbytes - GPUAGG_STATE_CRC_BYTES))
		return GPUAGG_STATE_DAMAGED;
	*body = r;
	return GPUAGG_STATE_GOOD;
}
