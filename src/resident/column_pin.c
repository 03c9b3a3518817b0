/*
 * column_pin.c
 *	  Holds of processes on resident columns.
 *
 * A hold is a slot in shared memory with the version of the column at that time: what was
 * taken out of the column later is kept until the hold ends.  Holds end on every way out: with
 * their resource owner, and before the process leaves shared memory.
 */
#include "compat.h"

#include "resident/resident_column.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

/* This process's holds. */
typedef struct LocalPin
{
	ResidentColumn *column;
	int slot;
	ResourceOwner owner;
	struct LocalPin *next;
} LocalPin;

static LocalPin *local_pins = NULL;
static bool registered = false;

static PinSlot *
slots(void)
{
	return dsa_get_address(gpuagg_columns_area, gpuagg_columns_shared->slots);
}

/*
 * Gives back a slot, or holds the column in its present version from now on; frees what nobody
 * holds since.
 */
static void
let_go(ResidentColumn *column, int slot, bool wholly)
{
	PinSlot *all = slots();
	RetiredBlock gone[RETIRED_ROOM];
	uint64 least = PG_UINT64_MAX;
	bool unused = true;
	bool dead;
	int n;

	LWLockAcquire(&gpuagg_columns_shared->lock, LW_EXCLUSIVE);
	if (wholly)
		all[slot].column = InvalidDsaPointer;
	else
		all[slot].version = gpuagg_column_version(column);
	for (int i = 0; i < COLUMN_PINS; i++)
		if (all[i].column == column->self)
		{
			least = Min(least, all[i].version);
			unused = false;
		}
	n = gpuagg_column_collect(column, least, gone, &dead);
	LWLockRelease(&gpuagg_columns_shared->lock);
	for (int i = 0; i < n; i++)
		gpuagg_column_memory_free(&gpuagg_columns_shared->memory, gone[i].block, gone[i].bytes);
	/* nobody can find it any more */
	if (dead && unused)
		gpuagg_column_discard(column);
}

/* Ends the holds of an owner; NULL: all. */
static void
release(ResourceOwner owner)
{
	LocalPin **link = &local_pins;

	while (*link != NULL)
	{
		LocalPin *pin = *link;

		if (owner != NULL && pin->owner != owner)
		{
			link = &pin->next;
			continue;
		}
		*link = pin->next;
		let_go(pin->column, pin->slot, true);
		pfree(pin);
	}
}

static void
owner_ends(ResourceReleasePhase phase, bool isCommit, bool isTopLevel, void *arg)
{
	if (phase == RESOURCE_RELEASE_BEFORE_LOCKS)
		release(CurrentResourceOwner);
}

static void
process_ends(int code, Datum arg)
{
	/* a parallel worker that ends by an error may still have some */
	LWLockReleaseAll();
	release(NULL);
}

bool
gpuagg_pin_take(ResidentColumn *column, ResourceOwner owner, ColumnPin *pin)
{
	LocalPin *local;
	PinSlot *all = slots();
	int slot = 0;

	if (!registered)
	{
		RegisterResourceReleaseCallback(owner_ends, NULL);
		before_shmem_exit(process_ends, (Datum) 0);
		registered = true;
	}
	local = MemoryContextAllocExtended(TopMemoryContext, sizeof(LocalPin), MCXT_ALLOC_NO_OOM);
	if (local == NULL)
		return false;

	LWLockAcquire(&gpuagg_columns_shared->lock, LW_EXCLUSIVE);
	while (slot < COLUMN_PINS && DsaPointerIsValid(all[slot].column))
		slot++;
	if (slot < COLUMN_PINS)
	{
		/* what is read of the column from now on is of this version or a later one */
		all[slot] = (PinSlot){column->self, gpuagg_column_version(column), MyProcPid};
	}
	LWLockRelease(&gpuagg_columns_shared->lock);
	if (slot == COLUMN_PINS)
	{
		pfree(local);
		return false;
	}
	*local = (LocalPin){column, slot, owner, local_pins};
	local_pins = local;
	*pin = (ColumnPin){column, slot};
	return true;
}

void
gpuagg_column_unpin(ColumnPin *pin)
{
	for (LocalPin **link = &local_pins; *link != NULL; link = &(*link)->next)
	{
		LocalPin *local = *link;

		if (local->slot != pin->slot || pin->column == NULL)
			continue;
		*link = local->next;
		pin->column = NULL;
		let_go(local->column, local->slot, true);
		pfree(local);
		return;
	}
	pin->column = NULL;
}

void
gpuagg_column_renew(const ColumnPin *pin)
{
	/* most often nothing has been taken out since, and the lock is everybody's */
	if (slots()[pin->slot].version != gpuagg_column_version(pin->column))
		let_go(pin->column, pin->slot, false);
}
