/*
 * compat.h
 *	  The one place that knows PostgreSQL versions: 15 to 18.
 *
 * No other file tests PG_VERSION_NUM.  Each macro below states what differs.
 */
#ifndef GPUAGG_COMPAT_H
#define GPUAGG_COMPAT_H

#ifdef __CUDACC__
#error "PostgreSQL headers and CUDA do not meet in one file"
#endif

#include "postgres.h"

#if PG_VERSION_NUM < 150000
#error "gpuagg needs PostgreSQL 15 or later"
#endif

#include "executor/executor.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

/* 16 took the macros for values of variable length out of postgres.h. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif

/* 18 lets a module say its name and version. */
#if PG_VERSION_NUM >= 180000
#define GPUAGG_MODULE_MAGIC(name_, version_) \
	PG_MODULE_MAGIC_EXT(.name = (name_), .version = (version_))
#else
#define GPUAGG_MODULE_MAGIC(name_, version_) PG_MODULE_MAGIC
#endif

/* 18 dropped ExecutorRun's argument execute_once. */
#if PG_VERSION_NUM >= 180000
#define EXECUTOR_RUN_PARAMS QueryDesc *queryDesc, ScanDirection direction, uint64 count
#define EXECUTOR_RUN_ARGS	queryDesc, direction, count
#else
#define EXECUTOR_RUN_PARAMS \
	QueryDesc *queryDesc, ScanDirection direction, uint64 count, bool execute_once
#define EXECUTOR_RUN_ARGS queryDesc, direction, count, execute_once
#endif

/* 17 replaced the memory context by a resource owner; both sets live as long as the process. */
static inline WaitEventSet *
compat_create_wait_event_set(int nevents)
{
#if PG_VERSION_NUM >= 170000
	return CreateWaitEventSet(NULL, nevents);
#else
	return CreateWaitEventSet(TopMemoryContext, nevents);
#endif
}

/*
 * A named piece of shared memory, zeroed or initialised by `init` when new.
 * Raises an error when there is no room.  17 has a registry for it; before, the
 * main segment's slack is used, as without preloading nothing is reserved.
 */
static inline void *
compat_shared_struct(const char *name, Size size, void (*init)(void *))
{
	bool found;
	void *p;

#if PG_VERSION_NUM >= 170000
	p = GetNamedDSMSegment(name, size, init, &found);
#else
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	p = ShmemInitStruct(name, size, &found);
	if (!found)
		init(p);
	LWLockRelease(AddinShmemInitLock);
#endif
	return p;
}

/* Whether room for compat_shared_struct() is to be reserved when preloaded. */
#if PG_VERSION_NUM >= 170000
#define SHARED_STRUCT_NEEDS_RESERVATION false
#else
#define SHARED_STRUCT_NEEDS_RESERVATION true
#endif

#endif /* GPUAGG_COMPAT_H */
