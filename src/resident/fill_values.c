/*
 * fill_values.c
 *	  Values of one column of the chunk whose pages are coming, before they become a block.
 */
#include "compat.h"

#include "resident/fill_values.h"

#include "common/vector_run.h"

static Size
values_size(const FillValues *values, uint32 n)
{
	GpuaggVectorType type = (GpuaggVectorType) values->seen.type;

	return type == GPUAGG_VECTOR_BOOL ? n / 8 : n * gpuagg_vector_type_size(type);
}

void
gpuagg_fill_values_init(FillValues *values, GpuaggVectorType type)
{
	memset(values, 0, sizeof(FillValues));
	gpuagg_narrow_init(&values->seen, type);
	gpuagg_fill_values_next(values);
}

/* Memory that is written before it is read has no need of zeros, which bits beside others have. */
static void *
allocate(MemoryContext context, Size size, bool bits)
{
	return MemoryContextAllocExtended(context, size,
									  MCXT_ALLOC_NO_OOM | MCXT_ALLOC_HUGE |
										  (bits ? MCXT_ALLOC_ZERO : 0));
}

bool
gpuagg_fill_values_enlarge(FillValues *values, MemoryContext context, uint32 old, uint32 room)
{
	char *stored = allocate(context, values_size(values, room),
							values->seen.type == GPUAGG_VECTOR_BOOL);
	uint64 *valid = allocate(context, room / 8, true);

	if (stored == NULL || valid == NULL)
	{
		if (stored != NULL)
			pfree(stored);
		if (valid != NULL)
			pfree(valid);
		return false;
	}
	if (values->stored != NULL)
	{
		memcpy(stored, values->stored, gpuagg_narrow_bytes(&values->form, old));
		memcpy(valid, values->valid, old / 8);
		gpuagg_fill_values_free(values);
	}
	values->stored = stored;
	values->valid = valid;
	return true;
}

void
gpuagg_fill_values_free(FillValues *values)
{
	if (values->stored == NULL)
		return;
	pfree(values->stored);
	pfree(values->valid);
	values->stored = NULL;
}

/*
 * The first n rows are stored by a form that is not narrower.  From the last on, as each goes to
 * where it was or behind it.
 */
static void
store_again(FillValues *values, const GpuaggNarrow *form, uint32 n, void *some)
{
	for (uint32 end = n; end > 0;)
	{
		uint32 first = (end - 1) / GPUAGG_VECTOR_ROWS * GPUAGG_VECTOR_ROWS;
		const uint64 *valid = values->any_null ? values->valid + first / 64 : NULL;

		gpuagg_narrow_read(&values->form, values->stored, first, end - first, some, 0);
		gpuagg_narrow_write(form, values->stored, first, some, valid, end - first);
		end = first;
	}
}

void
gpuagg_fill_values_add(FillValues *values, uint32 row, const void *vector, const uint64 *valid,
					   uint32 n, void *some)
{
	gpuagg_narrow_add(&values->seen, vector, valid, n);
	if (!gpuagg_narrow_holds(&values->form, &values->seen))
	{
		GpuaggNarrow form = values->seen;

		gpuagg_narrow_guess(&form, row > 0 ? values->form.width : 1);
		store_again(values, &form, row, some);
		values->form = form;
	}
	gpuagg_narrow_write(&values->form, values->stored, row, vector, valid, n);
	/* bits are set from the first NULL on, as most columns have none */
	if (valid != NULL && !values->any_null)
		gpuagg_bits_set(values->valid, 0, row);
	values->any_null |= valid != NULL;
	if (valid != NULL)
		gpuagg_bits_copy(values->valid, row, valid, 0, n);
	else if (values->any_null)
		gpuagg_bits_set(values->valid, row, n);
}

void
gpuagg_fill_values_drop(FillValues *values)
{
	values->exact = false;
}

void
gpuagg_fill_values_next(FillValues *values)
{
	values->form = values->seen;
	gpuagg_narrow_guess(&values->form, 1);
	gpuagg_narrow_init(&values->seen, values->seen.type);
	values->exact = true;
	values->any_null = false;
}
