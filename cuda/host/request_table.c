/*
 * request_table.c
 *	  The types of request that there are.
 */
#include "host/request_table.h"

#define ROW(number, type) [number] = &type,

static const RequestType *const types[] = {GPUD_REQUEST_TYPES(ROW)};

const RequestType *
gpud_request_type(int number)
{
	return number >= 0 && number < (int) (sizeof(types) / sizeof(types[0])) ? types[number] : NULL;
}
