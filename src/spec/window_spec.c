/*
 * window_spec.c
 *	  A window's spec as a list, and back.
 *
 * The list has two: numbers (counts and flags, then the partition columns, the order columns,
 * the functions, member by member, and the output), and the text, if there is one.
 */
#include "postgres.h"

#include "nodes/value.h"

#include "spec/window_spec.h"

/* Numbers that are read one after the other. */
typedef struct Reader
{
	const List *numbers;
	int next;
} Reader;

static int
read_number(Reader *reader)
{
	return list_nth_int(reader->numbers, reader->next++);
}

static List *
write_columns(List *numbers, const WindowColumn *columns, int n)
{
	for (int i = 0; i < n; i++)
	{
		numbers = lappend_int(numbers, columns[i].attno);
		numbers = lappend_int(numbers, (int) columns[i].equality);
		numbers = lappend_int(numbers, (int) columns[i].collation);
		numbers = lappend_int(numbers, (int) columns[i].sort_operator);
		numbers = lappend_int(numbers, columns[i].nulls_first);
	}
	return numbers;
}

static WindowColumn *
read_columns(Reader *reader, int n)
{
	WindowColumn *columns = palloc0(n * sizeof(WindowColumn));

	for (int i = 0; i < n; i++)
	{
		columns[i].attno = (AttrNumber) read_number(reader);
		columns[i].equality = (Oid) read_number(reader);
		columns[i].collation = (Oid) read_number(reader);
		columns[i].sort_operator = (Oid) read_number(reader);
		columns[i].nulls_first = read_number(reader) != 0;
	}
	return columns;
}

List *
gpuagg_window_spec_list(const WindowSpec *spec)
{
	List *numbers = list_make5_int(spec->nchild, spec->frame, spec->top, spec->sort,
								   spec->npartition);

	numbers = lappend_int(numbers, spec->norder);
	numbers = lappend_int(numbers, spec->nfunctions);
	numbers = write_columns(numbers, spec->partition, spec->npartition);
	numbers = write_columns(numbers, spec->order, spec->norder);
	for (int i = 0; i < spec->nfunctions; i++)
	{
		numbers = lappend_int(numbers, spec->functions[i].value);
		numbers = lappend_int(numbers, spec->functions[i].aggregate);
		numbers = lappend_int(numbers, (int) spec->functions[i].type);
		numbers = lappend_int(numbers, (int) spec->functions[i].winfnoid);
	}
	numbers = lappend_int(numbers, spec->nabove);
	for (int i = 0; i < spec->nabove; i++)
	{
		numbers = lappend_int(numbers, spec->above[i].function);
		numbers = lappend_int(numbers, spec->above[i].strategy);
	}
	numbers = lappend_int(numbers, spec->noutput);
	for (int i = 0; i < spec->noutput; i++)
		numbers = lappend_int(numbers, spec->output[i]);
	return list_make2(numbers, spec->kept != NULL ? list_make1(makeString(spec->kept)) : NIL);
}

WindowSpec *
gpuagg_window_spec_read(const List *list)
{
	WindowSpec *spec = palloc0(sizeof(WindowSpec));
	Reader reader = {.numbers = linitial(list)};
	const List *texts = lsecond(list);

	spec->nchild = read_number(&reader);
	spec->frame = (WindowFrame) read_number(&reader);
	spec->top = read_number(&reader) != 0;
	spec->sort = read_number(&reader) != 0;
	spec->npartition = read_number(&reader);
	spec->norder = read_number(&reader);
	spec->nfunctions = read_number(&reader);
	spec->partition = read_columns(&reader, spec->npartition);
	spec->order = read_columns(&reader, spec->norder);
	spec->functions = palloc0(spec->nfunctions * sizeof(WindowFunction));
	for (int i = 0; i < spec->nfunctions; i++)
	{
		spec->functions[i].value = (WindowValue) read_number(&reader);
		spec->functions[i].aggregate = (Aggregate) read_number(&reader);
		spec->functions[i].type = (Oid) read_number(&reader);
		spec->functions[i].winfnoid = (Oid) read_number(&reader);
	}
	spec->nabove = read_number(&reader);
	spec->above = palloc0(Max(spec->nabove, 1) * sizeof(WindowAbove));
	for (int i = 0; i < spec->nabove; i++)
	{
		spec->above[i].function = read_number(&reader);
		spec->above[i].strategy = read_number(&reader);
	}
	spec->noutput = read_number(&reader);
	spec->output = palloc(Max(spec->noutput, 0) * sizeof(int));
	for (int i = 0; i < spec->noutput; i++)
		spec->output[i] = read_number(&reader);
	if (texts != NIL)
		spec->kept = strVal(linitial(texts));
	return spec;
}
