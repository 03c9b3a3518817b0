/*
 * vector_text.c
 *	  Instructions of a vector program: LIKE.
 *
 * The first and last piece of a pattern are fixed to the ends of the text unless a
 * wildcard is there; each of the others may take the first place where it fits, as what
 * follows then has the most room.
 */
#include "common/vector_step.h"
#include "common/vector_text.h"

bool
gpuagg_like_parse(GpuaggVectorBytes pattern, GpuaggLike *like)
{
	const uint8_t *p = pattern.data;
	const uint8_t *end = p + pattern.size;

	memset(like, 0, sizeof(*like));
	like->open_start = pattern.size > 0 && *p == '%';
	while (p < end)
	{
		GpuaggLikePiece *piece = &like->pieces[like->npieces];

		if (*p == '%')
		{
			like->open_end = true;
			p++;
			continue;
		}
		if (like->npieces == GPUAGG_LIKE_PIECES)
			return false;
		like->open_end = false;
		piece->data = p;
		for (; p < end && *p != '%'; p++)
		{
			if (*p == '_' || (*p == '\\' && ++p == end))
				return false;
			piece->length++;
		}
		piece->size = (size_t) (p - piece->data);
		like->length += piece->length;
		like->npieces++;
	}
	return true;
}

static bool
fits(const GpuaggLikePiece *piece, const uint8_t *text)
{
	const uint8_t *p = piece->data;

	if (piece->size == piece->length)
		return memcmp(p, text, piece->length) == 0;
	for (size_t i = 0; i < piece->length; i++)
	{
		p += *p == '\\';
		if (*p++ != text[i])
			return false;
	}
	return true;
}

/* Where a piece fits first in [text, end); NULL: nowhere. */
static const uint8_t *
find(const GpuaggLikePiece *piece, const uint8_t *text, const uint8_t *end)
{
	int first = piece->data[*piece->data == '\\'];

	while ((size_t) (end - text) >= piece->length)
	{
		text = memchr(text, first, (size_t) (end - text) - piece->length + 1);
		if (text == NULL || fits(piece, text))
			return text;
		text++;
	}
	return NULL;
}

bool
gpuagg_like_match(const GpuaggLike *like, GpuaggVectorBytes text)
{
	const uint8_t *p = text.data;
	const uint8_t *end = p + text.size;
	int from = 0;
	int to = like->npieces;

	if (text.size < like->length)
		return false;
	if (to == 0)
		return like->open_start || text.size == 0;
	if (to == 1 && !like->open_start && !like->open_end && text.size != like->length)
		return false;
	if (!like->open_start)
	{
		if (!fits(&like->pieces[from], p))
			return false;
		p += like->pieces[from++].length;
	}
	if (!like->open_end && from < to)
	{
		end -= like->pieces[--to].length;
		if (end < p || !fits(&like->pieces[to], end))
			return false;
	}
	for (; from < to; from++)
	{
		p = find(&like->pieces[from], p, end);
		if (p == NULL)
			return false;
		p += like->pieces[from].length;
	}
	return true;
}

static bool
decide_like(const GpuaggVectorStep *step, const GpuaggVectorBytes *string, const void *like)
{
	return gpuagg_like_match(like, *string);
}

static void
run_like(const GpuaggVectorStep *step)
{
	const GpuaggVectorConstant *pattern = &step->runner->constants[step->instruction->arg];
	const GpuaggVectorBytes *values = step->a->values;
	uint64_t wanted[GPUAGG_VECTOR_WORDS];
	uint64_t *out = step->values;
	GpuaggLike like;
	bool usable = !pattern->isnull && gpuagg_like_parse(pattern->u.bytes, &like);

	gpuagg_vector_strict(step, wanted);
	if (usable && gpuagg_vector_by_code(step, wanted, out, decide_like, &like))
		return;
	for (int w = 0; w < gpuagg_vector_words(step); w++)
	{
		out[w] = 0;
		if (!usable)
			gpuagg_vector_flag(step, w, UINT64_MAX);
		for (uint64_t left = usable ? wanted[w] : 0; left != 0; left &= left - 1)
		{
			int i = __builtin_ctzll(left);

			out[w] |= (uint64_t) gpuagg_like_match(&like, values[64 * w + i]) << i;
		}
	}
}

void
gpuagg_vector_choose_like(GpuaggVectorStep *step)
{
	step->run = run_like;
}
