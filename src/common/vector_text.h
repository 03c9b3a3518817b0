/*
 * vector_text.h
 *	  Strings of vector programs: comparison by bytes, and LIKE.
 *
 * A pattern of GPUAGG_VECTOR_LIKE is SQL's, as bytes: % stands for any bytes, a
 * backslash before a byte for that byte.  It must hold no _ without a backslash and not
 * end in the middle of an escape, and at most GPUAGG_LIKE_PIECES strings between its
 * wildcards; gpuagg_like_parse() says so.  Where a parameter brings another pattern, all
 * rows are flagged.  Matching goes by bytes: that is SQL's result in UTF-8 and in
 * encodings of single bytes, and not in others, and needs a deterministic collation.
 */
#ifndef GPUAGG_VECTOR_TEXT_H
#define GPUAGG_VECTOR_TEXT_H

#include <stdbool.h>
#include <string.h>

#include "common/vector.h"

#define GPUAGG_LIKE_PIECES 16

/* A string between wildcards. */
typedef struct GpuaggLikePiece
{
	const uint8_t *data; /* in the pattern, with its escapes */
	size_t size;		 /* with escapes */
	size_t length;		 /* bytes that it stands for, at least 1 */
} GpuaggLikePiece;

typedef struct GpuaggLike
{
	int npieces;
	bool open_start; /* a wildcard comes before the first piece */
	bool open_end;
	size_t length; /* of all pieces together */
	GpuaggLikePiece pieces[GPUAGG_LIKE_PIECES];
} GpuaggLike;

/* Takes a pattern apart; false: LIKE of vector programs cannot do it. */
extern bool gpuagg_like_parse(GpuaggVectorBytes pattern, GpuaggLike *like);

extern bool gpuagg_like_match(const GpuaggLike *like, GpuaggVectorBytes text);

/* Eight bytes, in the order of memory. */
static inline uint64_t
gpuagg_bytes_load(const uint8_t *data)
{
	uint64_t v;

	memcpy(&v, data, sizeof(v));
	return v;
}

/* By the first and last eight bytes, which may overlap, before the rest. */
static inline bool
gpuagg_bytes_equal(GpuaggVectorBytes a, GpuaggVectorBytes b)
{
	if (a.size != b.size)
		return false;
	if (a.size < 8)
	{
		for (uint64_t i = 0; i < a.size; i++)
			if (a.data[i] != b.data[i])
				return false;
		return true;
	}
	return gpuagg_bytes_load(a.data) == gpuagg_bytes_load(b.data) &&
		   gpuagg_bytes_load(a.data + a.size - 8) == gpuagg_bytes_load(b.data + a.size - 8) &&
		   (a.size <= 16 || memcmp(a.data + 8, b.data + 8, a.size - 16) == 0);
}

/* By bytes without sign, and then by length. */
static inline bool
gpuagg_bytes_less(GpuaggVectorBytes a, GpuaggVectorBytes b)
{
	size_t size = a.size < b.size ? a.size : b.size;
	int order = size == 0 ? 0 : memcmp(a.data, b.data, size);

	return order != 0 ? order < 0 : a.size < b.size;
}

#endif /* GPUAGG_VECTOR_TEXT_H */
