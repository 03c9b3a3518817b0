/*
 * zone.h
 *	  Pieces of a time zone: from when on local times are how far ahead; for processors and devices.
 *
 * A piece is 64 bits: the second since 2000 from which on it holds, and the shift, the seconds by which
 * local times are ahead.  A zone is a list of them in ascending order, both by when they begin and by
 * the local time then; the last only ends it.  A local time belongs to the last piece that has begun
 * by it, as local times go: of those that there are twice that is the second, of those that do not
 * exist the piece before.
 */
#ifndef GPUAGG_ZONE_H
#define GPUAGG_ZONE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/calendar.h"

#define ZONE_SHIFT_BITS 18
#define ZONE_SHIFTS		(INT64_C(1) << ZONE_SHIFT_BITS)
#define ZONE_SECONDS	(INT64_MAX / CALENDAR_SECOND - ZONE_SHIFTS) /* most, on either side of 2000 */

CALENDAR int64_t
zone_piece(int64_t at, int64_t shift)
{
	return at * ZONE_SHIFTS + shift + ZONE_SHIFTS / 2;
}

CALENDAR int64_t
zone_shift(int64_t piece)
{
	return (piece & (ZONE_SHIFTS - 1)) - ZONE_SHIFTS / 2;
}

/* The second from which on the piece holds, of local times or of those of the world. */
CALENDAR int64_t
zone_begin(int64_t piece, bool local)
{
	return (piece >> ZONE_SHIFT_BITS) + (local ? zone_shift(piece) : 0);
}

/* Seconds, rounded down. */
CALENDAR int64_t
zone_seconds(int64_t t)
{
	return t / CALENDAR_SECOND - (t % CALENDAR_SECOND < 0);
}

#endif /* GPUAGG_ZONE_H */
