/*
 * window_answer.c
 *	  Rows of a window that the device has given: columns of fixed width, in memory up to a limit, then
 *	  in a file.
 *
 * A piece in memory is a part, one in the file has at most PIECE_ROWS rows; both lie as in an answer.
 */
#include "exec/window_answer.h"

#include "utils/memutils.h"

#include "common/blob.h"
#include "exec/large_memory.h"

#define PIECE_ROWS	16384 /* a multiple of 64 */
#define SOME_PIECES 16

WindowAnswer *
gpuagg_window_answer_make(MemoryContext parent)
{
	WindowAnswer *answer = MemoryContextAllocZero(parent, sizeof(WindowAnswer));

	answer->context = AllocSetContextCreate(parent, "GpuWindow rows", ALLOCSET_DEFAULT_SIZES);
	return answer;
}

void
gpuagg_window_answer_clear(WindowAnswer *answer)
{
	if (answer->file != NULL)
		gpuagg_block_file_close(answer->file);
	MemoryContextReset(answer->context);
	answer->file = NULL;
	answer->room = NULL;
	answer->pieces = NULL;
	answer->npieces = answer->most_pieces = 0;
	answer->bytes = 0;
	answer->nrows = 0;
	gpuagg_window_answer_rewind(answer);
}

void
gpuagg_window_answer_begin(WindowAnswer *answer, const uint8 *types, int ncolumns, int64 limit)
{
	gpuagg_window_answer_clear(answer);
	answer->ncolumns = ncolumns;
	memcpy(answer->types, types, ncolumns * sizeof(types[0]));
	answer->limit = limit;
	answer->most_pieces = SOME_PIECES;
	answer->pieces = MemoryContextAlloc(answer->context, SOME_PIECES * sizeof(AnswerPiece));
}

uint64
gpuagg_window_answer_bytes(const WindowAnswer *answer, uint64 nrows)
{
	uint64 bytes = 0;

	for (int i = 0; i < answer->ncolumns; i++)
		bytes += gpuagg_window_out_bytes(answer->types[i], nrows);
	return bytes;
}

/* Bytes of a column's values, up to its bitmap. */
static uint64
values_bytes(const WindowAnswer *answer, int column, uint64 nrows)
{
	return gpuagg_window_aligned(nrows * gpuagg_window_width(answer->types[column]));
}

void
gpuagg_window_answer_columns(const WindowAnswer *answer, const char *at, uint64 nrows,
							 const char **values, const uint64 **valid)
{
	for (int i = 0; i < answer->ncolumns; i++)
	{
		values[i] = at;
		valid[i] = (const uint64 *) (at + values_bytes(answer, i, nrows));
		at += gpuagg_window_out_bytes(answer->types[i], nrows);
	}
}

/* ---- rows in ---- */

static AnswerPiece *
add_piece(WindowAnswer *answer, int64 nrows)
{
	AnswerPiece *piece;

	if (answer->npieces == answer->most_pieces)
	{
		answer->most_pieces *= 2;
		answer->pieces = repalloc_huge(answer->pieces, answer->most_pieces * sizeof(AnswerPiece));
	}
	piece = &answer->pieces[answer->npieces++];
	memset(piece, 0, sizeof(*piece));
	piece->nrows = nrows;
	answer->nrows += nrows;
	return piece;
}

/* Writes bytes, and zeros up to where what follows begins. */
static void
write_aligned(BlockFile *file, const void *from, uint64 bytes)
{
	static const char zeros[GPUAGG_BLOB_ALIGN] = {0};

	gpuagg_block_file_append(file, from, bytes);
	gpuagg_block_file_append(file, zeros, gpuagg_window_aligned(bytes) - bytes);
}

/* Writes n rows from number `first` of such columns on. */
static void
write_piece(WindowAnswer *answer, const char *const *values, const uint64 *const *valid,
			uint64 first, uint64 n)
{
	AnswerPiece *piece = add_piece(answer, (int64) n);

	piece->place = answer->file->end;
	for (int i = 0; i < answer->ncolumns; i++)
	{
		uint32 width = gpuagg_window_width(answer->types[i]);

		write_aligned(answer->file, values[i] + first * width, n * width);
		write_aligned(answer->file, valid[i] + first / 64, (n + 63) / 64 * sizeof(uint64));
	}
}

/* Rows will go to the file. */
static void
open_file(WindowAnswer *answer)
{
	MemoryContext old;

	if (answer->file != NULL)
		return;
	old = MemoryContextSwitchTo(answer->context);
	answer->file = gpuagg_block_file_make();
	answer->room = palloc(gpuagg_window_answer_bytes(answer, PIECE_ROWS));
	MemoryContextSwitchTo(old);
}

void
gpuagg_window_answer_add(WindowAnswer *answer, const char *at, uint64 nrows)
{
	uint64 bytes = gpuagg_window_answer_bytes(answer, nrows);
	const char *values[GPUAGG_WINDOW_VALUES];
	const uint64 *valid[GPUAGG_WINDOW_VALUES];
	char *memory;

	if (nrows == 0)
		return;
	if (answer->file == NULL && answer->bytes + (int64) bytes <= answer->limit)
	{
		memory = gpuagg_large_memory(answer->context, bytes);
		memcpy(memory, at, bytes);
		add_piece(answer, (int64) nrows)->memory = memory;
		answer->bytes += (int64) bytes;
		return;
	}
	open_file(answer);
	gpuagg_window_answer_columns(answer, at, nrows, values, valid);
	for (uint64 first = 0; first < nrows; first += PIECE_ROWS)
		write_piece(answer, values, valid, first, Min(nrows - first, PIECE_ROWS));
}

/* ---- rows out ---- */

void
gpuagg_window_answer_rewind(WindowAnswer *answer)
{
	answer->next = 0;
	answer->piece_rows = 0;
}

bool
gpuagg_window_answer_next(WindowAnswer *answer)
{
	const AnswerPiece *piece;

	if (answer->next == answer->npieces)
		return false;
	piece = &answer->pieces[answer->next++];
	if (piece->memory == NULL)
		gpuagg_block_file_fetch(answer->file, &piece->place, answer->room,
								gpuagg_window_answer_bytes(answer, (uint64) piece->nrows));
	answer->piece_rows = piece->nrows;
	gpuagg_window_answer_columns(answer, piece->memory != NULL ? piece->memory : answer->room,
								 (uint64) piece->nrows, answer->values, answer->valid);
	return true;
}
