/*
 * page_column.h
 *	  How a table's column becomes a vector's.
 */
#ifndef GPUAGG_PAGE_COLUMN_H
#define GPUAGG_PAGE_COLUMN_H

#include "compat.h"

#include "access/attnum.h"
#include "catalog/pg_attribute.h"

#include "common/vector.h"

/* Digits that a signed integer of 64 bits holds, whatever they are. */
#define PAGE_DECIMAL_DIGITS 18

/* How a column's values become a vector's. */
typedef enum PageColumnForm
{
	PAGE_COLUMN_BITS,	 /* bool to BOOL */
	PAGE_COLUMN_COPY,	 /* fixed width, the vector's own; "char" and oid are widened */
	PAGE_COLUMN_DECIMAL, /* numeric(p,s) to INT64 or INT128 at scale s */
	PAGE_COLUMN_BYTES,	 /* content of text and the like, of uuid, of anything by reference */
	PAGE_COLUMN_TRIMMED, /* the same, without trailing blanks: char(n) */
	PAGE_COLUMN_DATUM	 /* of any type, to DATUM: as the executor has it, in place */
} PageColumnForm;

typedef struct PageColumn
{
	AttrNumber attno;
	PageColumnForm form;
	GpuaggVectorType type;
	int scale;
	bool resident; /* its values can be in memory without their page */
} PageColumn;

/* The form of a table's column; false: none but DATUM, which every column has. */
extern bool gpuagg_page_column(Form_pg_attribute attribute, PageColumn *column);

/* Whether vectors have its values as strings of bytes. */
static inline bool
gpuagg_page_column_has_strings(const PageColumn *column)
{
	return column->form == PAGE_COLUMN_BYTES || column->form == PAGE_COLUMN_TRIMMED;
}

#endif /* GPUAGG_PAGE_COLUMN_H */
