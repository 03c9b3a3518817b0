/*
 * window_arguments.c
 *	  Arguments of a GpuWindow node's functions that a node below computes.
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"

#include "exec/window_arguments.h"
#include "exec/window_source.h"

/* From the scan tuple above to that below. */
typedef struct Mapping
{
	const List *targets; /* of the plan below */
	int nchild;
	bool complete;
} Mapping;

static Node *
map_node(Node *node, void *context)
{
	Mapping *mapping = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		const TargetEntry *entry = list_nth(mapping->targets, ((const Var *) node)->varattno - 1);
		const Var *source = (const Var *) entry->expr;

		mapping->complete &= IsA(source, Var) && source->varno == INDEX_VAR &&
							 source->varattno > 0 && source->varattno <= mapping->nchild;
		return copyObject((Node *) entry->expr);
	}
	return expression_tree_mutator(node, map_node, context);
}

/* The arguments over the scan tuple below; NULL: of others than those that may be columns. */
static Expr **
map_arguments(const WindowInput *above, const WindowInput *below)
{
	Expr **mapped = palloc0((above->narguments + 1) * sizeof(Expr *));
	Mapping mapping = {.targets = below->node->plan->targetlist, .nchild = below->spec->nchild};
	bool complete = true;

	for (int i = 0; i < above->narguments; i++)
	{
		mapping.complete = above->arguments[i] != NULL;
		if (mapping.complete)
			mapped[i] = (Expr *) map_node((Node *) above->arguments[i], &mapping);
		if (!mapping.complete)
			mapped[i] = NULL;
		complete &= mapping.complete || !above->is_checked[i];
	}
	/* either all of those that could raise errors are computed, or they are evaluated row by row */
	if (!complete)
		memset(mapped, 0, above->narguments * sizeof(Expr *));
	return mapped;
}

/* Columns of the node below that the node above needs beside the arguments that are asked for. */
static bool *
find_needed(const WindowInput *above, Expr *const *mapped)
{
	bool *asked = palloc0((above->narguments + 1) * sizeof(bool));
	bool *needed;

	for (int i = 0; i < above->narguments; i++)
		asked[i] = mapped[i] != NULL;
	needed = gpuagg_window_input_wanted(above, asked);
	for (int i = 0; i < above->spec->npartition; i++)
		needed[above->spec->partition[i].attno - 1] = true;
	for (int i = 0; i < above->spec->norder; i++)
		needed[above->spec->order[i].attno - 1] = true;
	return needed;
}

void
gpuagg_window_arguments_ask(const WindowInput *above, WindowInput *below)
{
	int n = below->nfunctions;
	int narguments = n + above->narguments;
	Expr **mapped;
	bool *needed;

	if (below->asked || below->refuses || below->sort != NULL)
		return;
	mapped = map_arguments(above, below);
	needed = find_needed(above, mapped);
	below->needed = needed;
	below->asked = true;
	below->narguments = narguments;
	below->arguments = repalloc(below->arguments, (narguments + 1) * sizeof(Expr *));
	below->is_checked = repalloc(below->is_checked, (narguments + 1) * sizeof(bool));
	below->computed = repalloc(below->computed, (narguments + 1) * sizeof(bool));
	below->scales = repalloc(below->scales, (narguments + 1) * sizeof(int));
	below->wide = repalloc(below->wide, (narguments + 1) * sizeof(bool));
	for (int i = 0; i < above->narguments; i++)
	{
		below->arguments[n + i] = mapped[i];
		below->is_checked[n + i] = mapped[i] != NULL && above->is_checked[i];
		below->computed[n + i] = false;
		below->scales[n + i] = -1;
		below->wide[n + i] = false;
	}
}

void
gpuagg_window_arguments_refuse(WindowScanState *below)
{
	WindowInput *input = &below->input;

	if (!input->asked)
		return;
	if (gpuagg_window_source_node(input->child) == input->child)
		gpuagg_window_arguments_refuse((WindowScanState *) input->child);
	if (input->sort != NULL)
		gpuagg_row_sort_end(input->sort);
	input->sort = NULL;
	input->table = NULL;
	input->prepared = false;
	input->sorted = false;
	input->shares = false;
	input->asked = false;
	input->refuses = true;
	input->needed = NULL;
	input->narguments = input->nfunctions;
	memset(input->computed, 0, input->nfunctions * sizeof(bool));
}
