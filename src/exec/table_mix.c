/*
 * table_mix.c
 *	  One program for tables whose filters or expressions differ.
 */
#include "compat.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "utils/fmgroids.h"

#include "common/query_wire.h"
#include "exec/scan_program.h"
#include "exec/table_mix.h"

#define VARNO	1
#define COLUMNS GPUAGG_QUERY_COLUMNS /* with that of numbers, which is the last */

/* Tables with the same filter and expressions, over the columns of all. */
typedef struct Kind
{
	List *quals;
	Expr **exprs;
} Kind;

typedef struct Mix
{
	int ncolumns;
	const Var *columns[COLUMNS - 1]; /* of some table that has it */
	int nkinds;
	Kind *kinds;
	int nexprs;

	/* the table that is being taken */
	const MixTable *table;
	AttrNumber *attributes; /* by column; 0: none */
	bool complete;
} Mix;

/* ---- columns ---- */

static bool
same_type(const Var *a, const Var *b)
{
	return a->vartype == b->vartype && a->vartypmod == b->vartypmod && a->varcollid == b->varcollid;
}

/* The column that an attribute of the table is: the first of its type that is none yet; -1: there are too many. */
static int
column_of(Mix *mix, const Var *var)
{
	for (int i = 0; i < mix->ncolumns; i++)
	{
		if (!same_type(mix->columns[i], var) ||
			(mix->attributes[i] != 0 && mix->attributes[i] != var->varattno))
			continue;
		mix->attributes[i] = var->varattno;
		return i;
	}
	if (mix->ncolumns == COLUMNS - 1)
		return -1;
	mix->columns[mix->ncolumns] = var;
	mix->attributes[mix->ncolumns] = var->varattno;
	return mix->ncolumns++;
}

static Node *
replace_attributes(Node *node, void *context)
{
	Mix *mix = context;
	const Var *var = (const Var *) node;
	int column;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var))
		return expression_tree_mutator(node, replace_attributes, context);
	column = var->varno == (int) mix->table->varno && var->varattno > 0 ? column_of(mix, var) : -1;
	mix->complete &= column >= 0;
	return (Node *) makeVar(VARNO, (AttrNumber) (column + 1), var->vartype, var->vartypmod,
							var->varcollid, 0);
}

/* ---- tables ---- */

static bool
same_kind(const Mix *mix, const Kind *a, const Kind *b)
{
	for (int i = 0; i < mix->nexprs; i++)
		if (!equal(a->exprs[i], b->exprs[i]))
			return false;
	return equal(a->quals, b->quals);
}

/* Finds what a table's filter and expressions are over the columns of all; false: they are of others. */
static bool
take_table(Mix *mix, MixTable *table)
{
	Kind *kind = &mix->kinds[mix->nkinds];

	mix->table = table;
	mix->attributes = palloc0(COLUMNS * sizeof(AttrNumber));
	mix->complete = true;
	kind->exprs = palloc0((mix->nexprs + 1) * sizeof(Expr *));
	/* expressions first: strings have to be of the same column in all tables */
	for (int i = 0; i < mix->nexprs; i++)
		kind->exprs[i] = (Expr *) replace_attributes((Node *) table->exprs[i], mix);
	kind->quals = (List *) replace_attributes((Node *) table->quals, mix);
	table->number = 0;
	while (!same_kind(mix, &mix->kinds[table->number], kind))
		table->number++;
	if (table->number == mix->nkinds)
		mix->nkinds++;
	return mix->complete;
}

/* ---- the program ---- */

/* That a row is of a table of that kind. */
static Expr *
is_of(int number)
{
	Var *column = makeVar(VARNO, COLUMNS, INT4OID, -1, InvalidOid, 0);
	Const *constant = makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(number),
								false, true);
	OpExpr *is = (OpExpr *) make_opclause(Int4EqualOperator, BOOLOID, false, (Expr *) column,
										  (Expr *) constant, InvalidOid, InvalidOid);

	is->opfuncid = F_INT4EQ;
	return (Expr *) is;
}

static List *
make_quals(const Mix *mix)
{
	List *of_kinds = NIL;
	bool same = true;

	for (int i = 0; i < mix->nkinds; i++)
	{
		List *quals = lcons(is_of(i), list_copy(mix->kinds[i].quals));

		of_kinds = lappend(of_kinds, list_length(quals) > 1 ? makeBoolExpr(AND_EXPR, quals, -1)
															: linitial(quals));
		same &= equal(mix->kinds[i].quals, mix->kinds[0].quals);
	}
	return same ? mix->kinds[0].quals : list_make1(makeBoolExpr(OR_EXPR, of_kinds, -1));
}

static Expr *
make_expr(const Mix *mix, int number)
{
	Expr *last = mix->kinds[mix->nkinds - 1].exprs[number];
	CaseExpr *choice = makeNode(CaseExpr);
	bool same = true;

	for (int i = 0; i < mix->nkinds - 1; i++)
	{
		CaseWhen *when = makeNode(CaseWhen);

		when->expr = is_of(i);
		when->result = mix->kinds[i].exprs[number];
		choice->args = lappend(choice->args, when);
		same &= equal(when->result, last);
	}
	if (same)
		return last;
	choice->casetype = exprType((Node *) last);
	choice->casecollid = exprCollation((Node *) last);
	choice->defresult = last;
	return (Expr *) choice;
}

/* Finds where a table has the program's columns; false: its own program has not all of them. */
static bool
place(MixTable *table, const AttrNumber *attributes, const VectorCompiler *compiler)
{
	ListCell *cell;

	table->places = palloc0((compiler->program.ncolumns + 1) * sizeof(int));
	foreach (cell, compiler->attributes)
	{
		AttrNumber attno = attributes[lfirst_int(cell) - 1];
		int own = -1;

		if (attno != 0)
		{
			own = 0;
			while (own < list_length(table->compiler->attributes) &&
				   list_nth_int(table->compiler->attributes, own) != attno)
				own++;
			if (own == list_length(table->compiler->attributes))
				return false;
		}
		table->places[foreach_current_index(cell)] = own;
	}
	return true;
}

VectorCompiler *
gpuagg_table_mix(MixTable *tables, int n, int nexprs, VectorValue *values, int *number)
{
	Mix mix = {.nexprs = nexprs, .kinds = palloc0(n * sizeof(Kind))};
	AttrNumber **attributes = palloc0(n * sizeof(AttrNumber *));
	Expr **exprs = palloc0((nexprs + 1) * sizeof(Expr *));
	VectorCompiler *compiler;

	for (int i = 0; i < n; i++)
	{
		if (!take_table(&mix, &tables[i]))
			return NULL;
		attributes[i] = mix.attributes;
	}
	for (int i = 0; i < nexprs; i++)
		exprs[i] = tables[0].exprs[i] != NULL ? make_expr(&mix, i) : NULL;
	compiler = gpuagg_scan_program_make(VARNO, NULL, make_quals(&mix), exprs, nexprs, values);
	if (compiler == NULL || compiler->program.ncolumns > COLUMNS)
		return NULL;
	for (int i = 0; i < n; i++)
		if (!place(&tables[i], attributes[i], compiler))
			return NULL;
	*number = 0;
	while (*number < list_length(compiler->attributes) &&
		   list_nth_int(compiler->attributes, *number) != COLUMNS)
		(*number)++;
	return compiler;
}
