/*
 * window_answer.h
 *	  Rows of a window that the device has given: columns of fixed width, in memory up to a limit, then
 *	  in a file.
 *
 * They come in parts, as answers have them (query_window.h), and are given out in pieces.
 */
#ifndef GPUAGG_WINDOW_ANSWER_H
#define GPUAGG_WINDOW_ANSWER_H

#include "compat.h"

#include "common/query_window.h"
#include "exec/block_file.h"

/* Rows that lie together: in memory, or, if that is NULL, in the file. */
typedef struct AnswerPiece
{
	int64 nrows;
	char *memory;
	FilePlace place;
} AnswerPiece;

typedef struct WindowAnswer
{
	MemoryContext context; /* of all that follows */
	int ncolumns;
	uint8 types[GPUAGG_WINDOW_VALUES]; /* of vectors */
	int64 limit;					   /* bytes in memory */
	int64 bytes;					   /* of these */
	BlockFile *file;				   /* or NULL */
	char *room;						   /* for a piece of it */
	int npieces;
	int most_pieces;
	AnswerPiece *pieces;
	int64 nrows;

	/* the piece that is given out */
	int next;
	int64 piece_rows;
	const char *values[GPUAGG_WINDOW_VALUES];
	const uint64 *valid[GPUAGG_WINDOW_VALUES];
} WindowAnswer;

/* Without rows, in the context, which is the answer's own. */
extern WindowAnswer *gpuagg_window_answer_make(MemoryContext parent);

/* Forgets all rows, and their memory and file. */
extern void gpuagg_window_answer_clear(WindowAnswer *answer);

/* The same; columns of these types will come, of which so many bytes stay in memory. */
extern void gpuagg_window_answer_begin(WindowAnswer *answer, const uint8 *types, int ncolumns,
									   int64 limit);

/* Bytes of so many rows in an answer. */
extern uint64 gpuagg_window_answer_bytes(const WindowAnswer *answer, uint64 nrows);

/* Where the columns of nrows rows lie, which begin there. */
extern void gpuagg_window_answer_columns(const WindowAnswer *answer, const char *at, uint64 nrows,
										 const char **values, const uint64 **valid);

/* Copies the rows of a part that lie there.  Its file is of the current resource owner. */
extern void gpuagg_window_answer_add(WindowAnswer *answer, const char *at, uint64 nrows);

/* The first piece comes next. */
extern void gpuagg_window_answer_rewind(WindowAnswer *answer);

/* Goes to the next piece, which has rows; false: there is none. */
extern bool gpuagg_window_answer_next(WindowAnswer *answer);

#endif /* GPUAGG_WINDOW_ANSWER_H */
