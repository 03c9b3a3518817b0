/*
 * row_reader.h
 *	  The rows of a plan below as a reader's vectors.
 *
 * Where the plan is a GpuWindow node, or a subquery that only chooses and filters its columns, its
 * vectors are taken, and the subquery is not run: its filter is the caller's, too.
 */
#ifndef GPUAGG_ROW_READER_H
#define GPUAGG_ROW_READER_H

#include "nodes/execnodes.h"

#include "exec/page_reader.h"

/*
 * Rows as the reader has them: column i of the plan is attribute attributes[i], of typmod
 * typmods[i].  Other attributes are not there.
 */
extern TupleDesc gpuagg_row_reader_desc(PlanState *plan, const List *attributes,
										const List *typmods);

/* A reader of such rows, in the current memory context, which has nothing from memory. */
extern PageReader *gpuagg_row_reader_open(PlanState *plan, const List *attributes, TupleDesc desc,
										  const PageColumn *columns, int ncolumns);

#endif /* GPUAGG_ROW_READER_H */
