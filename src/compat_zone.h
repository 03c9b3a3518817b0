/*
 * compat_zone.h
 *	  How core finds a time zone by a name, which differs between versions: for vector_zone.c, as
 *	  utils/datetime.h has macros of many plain words.
 */
#ifndef GPUAGG_COMPAT_ZONE_H
#define GPUAGG_COMPAT_ZONE_H

#include "compat.h"

#include "parser/scansup.h"
#include "pgtime.h"
#include "utils/datetime.h"

/*
 * The zone that a name, or an abbreviation of a fixed offset, stands for; NULL: it is none, which may be
 * an error too, or an abbreviation whose offset has changed.  16 has one function for what was done at
 * each place.
 */
static inline pg_tz *
compat_zone(const char *name)
{
	pg_tz *zone = NULL;
	int offset;

#if PG_VERSION_NUM >= 160000
	switch (DecodeTimezoneName(name, &offset, &zone))
	{
		case TZNAME_FIXED_OFFSET:
			return pg_tzset_offset(-offset);
		case TZNAME_ZONE:
			return zone;
		default:
			return NULL;
	}
#else
	char *lower = downcase_truncate_identifier(name, (int) strlen(name), false);

	switch (DecodeTimezoneAbbrev(0, lower, &offset, &zone))
	{
		case TZ:
		case DTZ:
			return pg_tzset_offset(-offset);
		case DYNTZ:
			return NULL;
		default:
			return pg_tzset(name);
	}
#endif
}

#endif /* GPUAGG_COMPAT_ZONE_H */
