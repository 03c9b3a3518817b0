/*
 * probe.h
 *	  Whether a device computes what it should.
 */
#ifndef GPUAGG_PROBE_H
#define GPUAGG_PROBE_H

#include "host/lane.h"

/*
 * Runs the production kernels on a few rows and looks at the answers: what a
 * device can really do shows only so.  In the set-up thread.
 */
extern GpuaggReason gpud_probe(Lane *lane);

#endif /* GPUAGG_PROBE_H */
