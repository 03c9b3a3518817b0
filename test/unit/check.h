/*
 * check.h
 *	  Counts what a test program finds, and prints it.
 */
#ifndef GPUAGG_UNIT_CHECK_H
#define GPUAGG_UNIT_CHECK_H

#include <stdio.h>

static int failed;
static int passed;

static void
check(int ok, const char *what, int line)
{
	if (ok)
		passed++;
	else
	{
		failed++;
		printf("FAILED line %d: %s\n", line, what);
	}
}

#define CHECK(condition) check((condition), #condition, __LINE__)

/* For main() to return. */
static int
check_summary(void)
{
	printf("%d passed, %d failed\n", passed, failed);
	return failed > 0;
}

#endif /* GPUAGG_UNIT_CHECK_H */
