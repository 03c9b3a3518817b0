/*
 * window_spec.c
 *	  A window's spec as a list, and back.
 *
 * The list has six lists: counts and flags; for each column, partition columns first, its
 * number and whether NULLs come first; for each column its operators and collation; for
 * each function its kind; for each function its type and OID; the text, if there is one.
 */
#include "postgres.h"

#include "nodes/value.h"

#include "spec/window_spec.h"

static void
write_columns(List **places, List **operators, const WindowColumn *columns, int n)
{
	for (int i = 0; i < n; i++)
	{
		*places = lappend_int(*places, columns[i].attno);
		*places = lappend_int(*places, columns[i].nulls_first);
		*operators = lappend_oid(*operators, columns[i].equality);
		*operators = lappend_oid(*operators, columns[i].collation);
		*operators = lappend_oid(*operators, columns[i].sort_operator);
	}
}

/* n columns, from column `first` on. */
static WindowColumn *
read_columns(const List *places, const List *operators, int first, int n)
{
	WindowColumn *columns = palloc0(n * sizeof(WindowColumn));

	for (int i = 0; i < n; i++)
	{
		int at = first + i;

		columns[i].attno = (AttrNumber) list_nth_int(places, 2 * at);
		columns[i].nulls_first = list_nth_int(places, 2 * at + 1) != 0;
		columns[i].equality = list_nth_oid(operators, 3 * at);
		columns[i].collation = list_nth_oid(operators, 3 * at + 1);
		columns[i].sort_operator = list_nth_oid(operators, 3 * at + 2);
	}
	return columns;
}

List *
gpuagg_window_spec_list(const WindowSpec *spec)
{
	List *head = NIL;
	List *places = NIL;
	List *operators = NIL;
	List *functions = NIL;
	List *oids = NIL;
	List *texts = NIL;

	head = lappend_int(head, spec->nchild);
	head = lappend_int(head, spec->frame);
	head = lappend_int(head, spec->sort);
	head = lappend_int(head, spec->npartition);
	head = lappend_int(head, spec->norder);
	head = lappend_int(head, spec->nfunctions);
	write_columns(&places, &operators, spec->partition, spec->npartition);
	write_columns(&places, &operators, spec->order, spec->norder);
	for (int i = 0; i < spec->nfunctions; i++)
	{
		functions = lappend_int(functions, spec->functions[i].function);
		oids = lappend_oid(oids, spec->functions[i].type);
		oids = lappend_oid(oids, spec->functions[i].winfnoid);
	}
	if (spec->kept != NULL)
		texts = list_make1(makeString(spec->kept));
	return list_concat(list_make5(head, places, operators, functions, oids), list_make1(texts));
}

WindowSpec *
gpuagg_window_spec_read(const List *list)
{
	WindowSpec *spec = palloc0(sizeof(WindowSpec));
	const List *head = list_nth(list, 0);
	const List *places = list_nth(list, 1);
	const List *operators = list_nth(list, 2);
	const List *functions = list_nth(list, 3);
	const List *oids = list_nth(list, 4);
	const List *texts = list_nth(list, 5);

	spec->nchild = list_nth_int(head, 0);
	spec->frame = (WindowFrame) list_nth_int(head, 1);
	spec->sort = list_nth_int(head, 2) != 0;
	spec->npartition = list_nth_int(head, 3);
	spec->norder = list_nth_int(head, 4);
	spec->nfunctions = list_nth_int(head, 5);
	spec->partition = read_columns(places, operators, 0, spec->npartition);
	spec->order = read_columns(places, operators, spec->npartition, spec->norder);
	spec->functions = palloc0(spec->nfunctions * sizeof(WindowFunction));
	for (int i = 0; i < spec->nfunctions; i++)
	{
		spec->functions[i].function = (RunningFunction) list_nth_int(functions, i);
		spec->functions[i].type = list_nth_oid(oids, 2 * i);
		spec->functions[i].winfnoid = list_nth_oid(oids, 2 * i + 1);
	}
	if (texts != NIL)
		spec->kept = strVal(linitial(texts));
	return spec;
}
