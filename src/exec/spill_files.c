/*
 * spill_files.c
 *	  Records in temporary files, by bits of their hashes.
 */
#include "exec/spill_files.h"

#include "commands/tablespace.h"
#include "storage/buffile.h"

#define SPILL_BITS	 5
#define SPILL_FILES	 (1 << SPILL_BITS)
#define SPILL_LEVELS (32 / SPILL_BITS) /* of a hash */

typedef struct WaitingFile
{
	BufFile *file;
	int level;
} WaitingFile;

struct SpillFiles
{
	MemoryContext context;
	BufFile *files[SPILL_FILES]; /* being written; NULL: nothing in it yet */
	int level;					 /* of these: bits of the hash already used, by SPILL_BITS */
	List *waiting;				 /* of WaitingFile *, to be read */
	BufFile *open;				 /* being read, or NULL */
};

SpillFiles *
gpuagg_spill_files_make(void)
{
	SpillFiles *files = palloc0(sizeof(SpillFiles));

	files->context = CurrentMemoryContext;
	return files;
}

bool
gpuagg_spill_files_can_write(const SpillFiles *files)
{
	return files->level < SPILL_LEVELS;
}

void
gpuagg_spill_files_write(SpillFiles *files, uint32 hash, const void *data, Size size)
{
	int number = hash << (files->level * SPILL_BITS) >> (32 - SPILL_BITS);

	if (files->files[number] == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(files->context);

		PrepareTempTablespaces();
		files->files[number] = BufFileCreateTemp(false);
		MemoryContextSwitchTo(old);
	}
	BufFileWrite(files->files[number], (void *) data, size);
}

bool
gpuagg_spill_files_written(const SpillFiles *files)
{
	for (int i = 0; i < SPILL_FILES; i++)
		if (files->files[i] != NULL)
			return true;
	return false;
}

/* What has been written becomes files to be read, of the next level. */
static void
close_written(SpillFiles *files)
{
	MemoryContext old = MemoryContextSwitchTo(files->context);

	for (int i = SPILL_FILES - 1; i >= 0; i--)
	{
		WaitingFile *waiting;

		if (files->files[i] == NULL)
			continue;
		if (BufFileSeek(files->files[i], 0, 0, SEEK_SET) != 0)
			ereport(ERROR, (errcode_for_file_access(), errmsg("could not rewind temporary file")));
		waiting = palloc(sizeof(WaitingFile));
		waiting->file = files->files[i];
		waiting->level = files->level + 1;
		files->waiting = lcons(waiting, files->waiting);
		files->files[i] = NULL;
	}
	MemoryContextSwitchTo(old);
}

bool
gpuagg_spill_files_open(SpillFiles *files)
{
	WaitingFile *waiting;

	files->open = NULL;
	close_written(files);
	if (files->waiting == NIL)
	{
		files->level = 0;
		return false;
	}
	waiting = linitial(files->waiting);
	files->waiting = list_delete_first(files->waiting);
	files->open = waiting->file;
	files->level = waiting->level;
	pfree(waiting);
	return true;
}

bool
gpuagg_spill_files_read(SpillFiles *files, void *place, Size size)
{
	size_t n = BufFileRead(files->open, place, size);

	if (n == size)
		return true;
	if (n != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED), errmsg("unexpected end of temporary file")));
	BufFileClose(files->open);
	files->open = NULL;
	return false;
}

void
gpuagg_spill_files_empty(SpillFiles *files)
{
	ListCell *cell;

	for (int i = 0; i < SPILL_FILES; i++)
		if (files->files[i] != NULL)
			BufFileClose(files->files[i]);
	foreach (cell, files->waiting)
		BufFileClose(((WaitingFile *) lfirst(cell))->file);
	list_free_deep(files->waiting);
	if (files->open != NULL)
		BufFileClose(files->open);
	*files = (SpillFiles){.context = files->context};
}
