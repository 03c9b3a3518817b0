/*
 * stream_copy.h
 *	  Copies to memory that nobody looks at soon.
 *
 * Stores go by the processor's caches, which neither have to get the lines first nor lose others for
 * them.
 */
#ifndef GPUAGG_STREAM_COPY_H
#define GPUAGG_STREAM_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#define GPUAGG_STREAM_LINE 64 /* bytes */

/* Whole lines, the target's; they are there after a fence. */
static inline void
gpuagg_stream_lines(void *to, const void *from, size_t bytes)
{
#if defined(__x86_64__)
	__m128i *target = to;
	const __m128i *source = from;

	for (size_t i = 0; i < bytes / sizeof(__m128i); i += 4)
	{
		__m128i a = _mm_loadu_si128(source + i);
		__m128i b = _mm_loadu_si128(source + i + 1);
		__m128i c = _mm_loadu_si128(source + i + 2);
		__m128i d = _mm_loadu_si128(source + i + 3);

		_mm_stream_si128(target + i, a);
		_mm_stream_si128(target + i + 1, b);
		_mm_stream_si128(target + i + 2, c);
		_mm_stream_si128(target + i + 3, d);
	}
#else
	memcpy(to, from, bytes);
#endif
}

static inline void
gpuagg_stream_fence(void)
{
#if defined(__x86_64__)
	_mm_sfence();
#endif
}

/* The two do not overlap.  In order with stores that follow. */
static inline void
gpuagg_stream_copy(void *to, const void *from, size_t bytes)
{
	size_t before = -(uintptr_t) to % GPUAGG_STREAM_LINE;
	size_t lines = bytes > before ? (bytes - before) / GPUAGG_STREAM_LINE * GPUAGG_STREAM_LINE : 0;

	if (lines > 0)
	{
		memcpy(to, from, before);
		gpuagg_stream_lines((char *) to + before, (const char *) from + before, lines);
		gpuagg_stream_fence();
		to = (char *) to + before + lines;
		from = (const char *) from + before + lines;
		bytes -= before + lines;
	}
	memcpy(to, from, bytes);
}

#endif /* GPUAGG_STREAM_COPY_H */
