/*
 * window_key.c
 *	  Keys by which rows are told apart.
 *
 * Most keys are integers or times, whose equal values have equal bits: they are
 * compared without a function call.  Floats are not, as 0 equals -0.
 */
#include "compat.h"

#include "catalog/objectaccess.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "exec/window_key.h"
#include "types/sql_type.h"

/* Bits that tell values of the type apart, if its equality is that of bits. */
static uint64
mask_of(Oid function, Form_pg_attribute att)
{
	if (!att->attbyval || !gpuagg_sql_compares_bits(function))
		return 0;
	return PG_UINT64_MAX >> (64 - 8 * att->attlen);
}

WindowKey *
gpuagg_window_keys_make(const WindowColumn *columns, int ncolumns, TupleDesc desc)
{
	WindowKey *keys = palloc0(ncolumns * sizeof(WindowKey));

	for (int i = 0; i < ncolumns; i++)
	{
		WindowKey *key = &keys[i];
		Form_pg_attribute att = TupleDescAttr(desc, columns[i].attno - 1);
		Oid function = get_opcode(columns[i].equality);

		if (compat_function_aclcheck(function, GetUserId()) != ACLCHECK_OK)
			aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, get_func_name(function));
		InvokeFunctionExecuteHook(function);

		fmgr_info(function, &key->equal);
		key->attno = columns[i].attno;
		key->mask = mask_of(function, att);
		key->byval = att->attbyval;
		key->length = att->attlen;
		key->collation = columns[i].collation;
		key->context = CurrentMemoryContext;
		key->isnull = true;
	}
	return keys;
}

static bool
differs(WindowKey *key, Datum value, bool isnull)
{
	if (isnull || key->isnull)
		return isnull != key->isnull;
	if (key->mask != 0)
		return ((value ^ key->value) & key->mask) != 0;
	return !DatumGetBool(FunctionCall2Coll(&key->equal, key->collation, key->value, value));
}

static void
forget(WindowKey *key)
{
	if (!key->byval && !key->isnull)
		pfree(DatumGetPointer(key->value));
	key->isnull = true;
}

static void
remember(WindowKey *key, Datum value, bool isnull)
{
	forget(key);
	if (!isnull && !key->byval)
	{
		MemoryContext old = MemoryContextSwitchTo(key->context);

		value = datumCopy(value, false, key->length);
		MemoryContextSwitchTo(old);
	}
	key->value = value;
	key->isnull = isnull;
}

bool
gpuagg_window_keys_change(WindowKey *keys, int nkeys, TupleTableSlot *row)
{
	int i = nkeys - 1;

	/* backwards, as later keys tend to change first */
	while (i >= 0 && !differs(&keys[i], row->tts_values[keys[i].attno - 1],
							  row->tts_isnull[keys[i].attno - 1]))
		i--;
	if (i < 0)
		return false;
	for (i = 0; i < nkeys; i++)
		remember(&keys[i], row->tts_values[keys[i].attno - 1], row->tts_isnull[keys[i].attno - 1]);
	return true;
}

bool
gpuagg_window_keys_are_bits(const WindowKey *keys, int nkeys)
{
	for (int i = 0; i < nkeys; i++)
		if (keys[i].mask == 0)
			return false;
	return true;
}

void
gpuagg_window_keys_mark(WindowKey *keys, int nkeys, const Datum *values, const bool *isnull,
						Size stride, int64 nrows, uint64 *bitmap)
{
	for (int k = 0; k < nkeys; k++)
	{
		WindowKey *key = &keys[k];
		Datum last = key->value & key->mask;
		bool last_isnull = key->isnull;

		for (int64 i = 0; i < nrows; i++)
		{
			Size place = i * stride + key->attno - 1;
			Datum value = values[place] & key->mask;
			bool changed = isnull[place] ? !last_isnull : last_isnull || value != last;

			bitmap[i / 64] |= (uint64) changed << (i % 64);
			last = value;
			last_isnull = isnull[place];
		}
		key->value = last;
		key->isnull = last_isnull;
	}
}

void
gpuagg_window_keys_forget(WindowKey *keys, int nkeys)
{
	for (int i = 0; i < nkeys; i++)
		forget(&keys[i]);
}
