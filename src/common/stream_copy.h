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

/* The two do not overlap.  In order with stores that follow. */
static inline void
gpuagg_stream_copy(void *to, const void *from, size_t bytes)
{
#if defined(__x86_64__)
	char *target = to;
	const char *source = from;
	size_t before = -(uintptr_t) target % GPUAGG_STREAM_LINE;

	if (bytes >= before + GPUAGG_STREAM_LINE)
	{
		memcpy(target, source, before);
		target += before;
		source += before;
		bytes -= before;
		for (; bytes >= GPUAGG_STREAM_LINE; bytes -= GPUAGG_STREAM_LINE)
		{
			__m128i a = _mm_loadu_si128((const __m128i *) source);
			__m128i b = _mm_loadu_si128((const __m128i *) (source + 16));
			__m128i c = _mm_loadu_si128((const __m128i *) (source + 32));
			__m128i d = _mm_loadu_si128((const __m128i *) (source + 48));

			_mm_stream_si128((__m128i *) target, a);
			_mm_stream_si128((__m128i *) (target + 16), b);
			_mm_stream_si128((__m128i *) (target + 32), c);
			_mm_stream_si128((__m128i *) (target + 48), d);
			target += GPUAGG_STREAM_LINE;
			source += GPUAGG_STREAM_LINE;
		}
		_mm_sfence();
	}
	memcpy(target, source, bytes);
#else
	memcpy(to, from, bytes);
#endif
}

#endif /* GPUAGG_STREAM_COPY_H */
