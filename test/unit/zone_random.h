/*
 * zone_random.h
 *	  Random zones, and times near where their pieces begin.
 */
#ifndef GPUAGG_UNIT_ZONE_RANDOM_H
#define GPUAGG_UNIT_ZONE_RANDOM_H

#include <string.h>

#include "common/vector.h"
#include "common/zone.h"

#include "random.h"

/* Constants that are a zone: now and then one piece is as the last, or unknown. */
static inline void
make_zone(GpuaggVectorConstant *constants, int n)
{
	int64_t at = -(int64_t) (next() % (next() % 2 ? 1000 : UINT64_C(6000000000)));
	int64_t shift = 0;

	for (int k = 0; k < n; k++)
	{
		if (k == 0 || next() % 8)
		{
			int64_t last = shift;

			shift = (int64_t) (next() % 170000) - 85000;
			if (next() % 4 == 0)
				shift = last + (int64_t) (next() % 3) * 1800;
			at += k == 0 ? 0 : (last > shift ? last - shift : 0) + (int64_t) (next() % 20000000);
		}
		memset(&constants[k], 0, sizeof(constants[k]));
		constants[k].type = GPUAGG_VECTOR_INT64;
		constants[k].isnull = next() % 200 == 0;
		constants[k].u.integer = gpuagg_int128_from(zone_piece(at, shift));
	}
}

/* A time near the begin of a piece, or any. */
static inline int64_t
any_time_of_zone(const GpuaggVectorConstant *constants, int n)
{
	int64_t piece = (int64_t) constants[next() % (uint64_t) n].u.integer.lo;

	if (next() % 16 == 0)
		return (int64_t) next();
	return (zone_begin(piece, next() % 2) + (int64_t) (next() % 3) - 1) * CALENDAR_SECOND +
		   (int64_t) (next() % 3) - 1 + (next() % 2 ? 0 : (int64_t) (next() % 20000000) * 999999);
}

#endif /* GPUAGG_UNIT_ZONE_RANDOM_H */
