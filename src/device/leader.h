/*
 * leader.h
 *	  Whether a parallel worker has the library that its leader has.
 *
 * A session keeps the library that it has loaded; its workers load the file that is there when
 * they start, which may be a newer one.  Plans and states of one version mean nothing to another.
 */
#ifndef GPUAGG_LEADER_H
#define GPUAGG_LEADER_H

/* Called as the library is loaded. */
extern void gpuagg_leader_define(void);

/* Called before a query runs: lets its workers know the version.  Cheap. */
extern void gpuagg_leader_note(void);

/* Called before anything of a leader's is read, or made for it.  Raises an error in a worker of another version. */
extern void gpuagg_leader_check(void);

#endif /* GPUAGG_LEADER_H */
