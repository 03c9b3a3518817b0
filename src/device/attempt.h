/*
 * attempt.h
 *	  Calls of which errors are not to end the query.
 */
#ifndef GPUAGG_ATTEMPT_H
#define GPUAGG_ATTEMPT_H

#include "compat.h"

/*
 * Calls what(arg); false: it has raised an error, whose message is copied to *message, if that
 * is not NULL, and which is over.  Callers hold no LWLocks, and what() has left nothing behind
 * but such locks.  Resources that it takes have no owner.
 */
extern bool gpuagg_attempt(void (*what)(void *arg), void *arg, char *message, Size size);

#endif /* GPUAGG_ATTEMPT_H */
