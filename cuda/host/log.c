/*
 * log.c
 *	  Lines for the launcher's log, and the clock.
 */
#include "host/log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void
gpud_log_open(void)
{
	struct stat st;
	int flags = fcntl(STDERR_FILENO, F_GETFL);

	if (flags >= 0 && fstat(STDERR_FILENO, &st) == 0 && S_ISFIFO(st.st_mode))
		(void) fcntl(STDERR_FILENO, F_SETFL, flags | O_NONBLOCK);
}

/*
 * One write() a line: the launcher reads lines from a pipe that other processes
 * may share.  A line is dropped when the pipe is full.
 */
static void
log_line(const char *level, const char *format, va_list args)
{
	char line[512];
	int length = snprintf(line, sizeof(line), "%s: ", level);
	int rest = vsnprintf(line + length, sizeof(line) - (size_t) length, format, args);

	if (rest > 0)
		length += rest;
	if (length > (int) sizeof(line) - 2)
		length = (int) sizeof(line) - 2;
	line[length++] = '\n';

	if (write(STDERR_FILENO, line, (size_t) length) < 0)
		return;
}

void
gpud_log(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line("LOG", format, args);
	va_end(args);
}

void
gpud_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line("WARNING", format, args);
	va_end(args);
}

int64_t
gpud_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * GPUD_SECOND + t.tv_nsec;
}

bool
gpud_due(int64_t *last)
{
	int64_t now = gpud_now();

	if (*last != 0 && now - *last < 10 * GPUD_SECOND)
		return false;
	*last = now;
	return true;
}
