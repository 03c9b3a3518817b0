/*
 * node_log.h
 *	  What the server log says of our nodes, at level DEBUG1.
 */
#ifndef GPUAGG_NODE_LOG_H
#define GPUAGG_NODE_LOG_H

/* Whether messages of level DEBUG1 go anywhere. */
extern bool gpuagg_node_logged(void);

/*
 * Sends "what: why", or what alone where why is NULL, at DEBUG1.  The same text is sent once
 * in a statement of the client's, whatever that statement calls.
 */
extern void gpuagg_node_log(const char *what, const char *why);

#endif /* GPUAGG_NODE_LOG_H */
