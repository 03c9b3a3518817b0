/*
 * scan_program.c
 *	  Expressions over a sequential scan's table as a vector program.
 */
#include "compat.h"

#include "access/sysattr.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/snapmgr.h"

#include "exec/page_reader.h"
#include "exec/scan_program.h"

int
gpuagg_scan_program_attributes(const List *exprs, Index varno, int all)
{
	Bitmapset *attributes = NULL;
	int member = -1;
	int last = 0;

	pull_varattnos((Node *) exprs, varno, &attributes);
	while ((member = bms_next_member(attributes, member)) >= 0)
	{
		int attno = member + FirstLowInvalidHeapAttributeNumber;

		if (attno == 0)
			last = all;
		else if (attno > 0)
			last = Max(last, attno);
		else if (attno != SelfItemPointerAttributeNumber && attno != TableOidAttributeNumber)
			return -1;
	}
	return last;
}

AttrNumber
gpuagg_scan_program_attribute(const SeqScan *plan, const List *targets, int i)
{
	const Var *var = (const Var *) ((const TargetEntry *) list_nth(targets, i))->expr;

	return IsA(var, Var) && var->varno == plan->scan.scanrelid && var->varattno > 0 ? var->varattno
																					: 0;
}

bool
gpuagg_scan_program_possible(PlanState *scan)
{
	const EState *estate = scan->state;
	const SeqScan *plan = (const SeqScan *) scan->plan;

	/* an EXPLAIN without ANALYZE does not come here */
	return IsA(scan, SeqScanState) && !plan->scan.plan.parallel_aware &&
		   estate->es_epq_active == NULL && ScanDirectionIsForward(estate->es_direction) &&
		   IsMVCCSnapshot(estate->es_snapshot) &&
		   gpuagg_page_reader_can_read(((SeqScanState *) scan)->ss.ss_currentRelation) &&
		   !contain_subplans((Node *) plan->scan.plan.qual) &&
		   gpuagg_scan_program_attributes(plan->scan.plan.qual, plan->scan.scanrelid, 1) >= 0;
}

static Node *
replace_columns(Node *node, void *child)
{
	const List *targets = child;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && IS_SPECIAL_VARNO(((Var *) node)->varno))
		return copyObject(
			(Node *) ((TargetEntry *) list_nth(targets, ((Var *) node)->varattno - 1))->expr);
	return expression_tree_mutator(node, replace_columns, child);
}

Expr *
gpuagg_scan_program_expr(const List *targets, const Expr *expr)
{
	return (Expr *) replace_columns((Node *) expr, unconstify(List *, targets));
}

VectorCompiler *
gpuagg_scan_program_make(Index varno, const EState *estate, List *quals, Expr *const *exprs, int n,
						 VectorValue *values)
{
	VectorCompiler *compiler;

	if (!gpuagg_compile_possible((Node *) quals))
		return NULL;
	for (int i = 0; i < n; i++)
		if (exprs[i] != NULL && !gpuagg_compile_possible((Node *) exprs[i]))
			return NULL;
	compiler = gpuagg_compiler_make(varno, estate);
	compiler->narrow = n > 0;
	gpuagg_compile_filter(compiler, quals);
	for (int i = 0; i < n; i++)
		if (exprs[i] != NULL)
			values[i] = gpuagg_compile_value(compiler, exprs[i], NULL);
	if (!gpuagg_compile_finish(compiler) || compiler->user_function || compiler->rows != NIL)
		return NULL;
	return compiler;
}
