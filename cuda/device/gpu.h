/*
 * gpu.h
 *	  The little of the CUDA runtime that gpuaggd's host code uses.
 *
 * gpu_cuda.c implements it over the runtime; test/kernels/sim has a twin, so
 * that the same gpuaggd also runs where there is no device.  Every function
 * returns GPUAGG_OK or the reason of the failure, and gpu_last_error() then
 * holds the driver's own words.  After GPUAGG_LOST the context is gone and the
 * process must end: the error is sticky.
 */
#ifndef GPUAGG_GPU_H
#define GPUAGG_GPU_H

#include <stddef.h>
#include <stdint.h>

#include "common/protocol.h"

#ifdef __cplusplus
extern "C" {
#endif

/* With the real runtime a GpuStreamRef is the cudaStream_t itself, cast. */
typedef struct GpuStream *GpuStreamRef;
typedef struct GpuEvent *GpuEventRef;

/* Number of devices, without creating a context. */
extern GpuaggReason gpu_count(int *count);

/* Describes a device, without creating a context; memory_free may be 0. */
extern GpuaggReason gpu_describe(int index, GpuaggDeviceInfo *info);

/* Creates the context of a device, loads all kernels and runs a trivial one. Slow (hundreds of ms). */
extern GpuaggReason gpu_open(int index);

/*
 * Makes the open device the calling thread's.  The functions here do so by
 * themselves; those that launch kernels, or ask how many fit, do not.
 */
extern GpuaggReason gpu_enter(void);

extern GpuaggReason gpu_memory_info(uint64_t *free_bytes, uint64_t *total_bytes);
extern GpuaggReason gpu_malloc(void **p, size_t bytes);
extern GpuaggReason gpu_free(void *p);

/* Pins host memory so that copies from and to it are asynchronous. May stall for tens of ms. */
extern GpuaggReason gpu_host_register(void *p, size_t bytes);
extern GpuaggReason gpu_host_unregister(void *p);

/* Work on a background stream yields to that on the others, block by block. */
extern GpuaggReason gpu_stream_create(GpuStreamRef *stream);
extern GpuaggReason gpu_stream_create_background(GpuStreamRef *stream);
extern GpuaggReason gpu_stream_destroy(GpuStreamRef stream);
extern GpuaggReason gpu_copy_in(void *device, const void *host, size_t bytes, GpuStreamRef stream);
extern GpuaggReason gpu_copy_out(void *host, const void *device, size_t bytes, GpuStreamRef stream);
extern GpuaggReason gpu_copy_within(void *to, const void *from, size_t bytes, GpuStreamRef stream);
extern GpuaggReason gpu_memset(void *device, int value, size_t bytes, GpuStreamRef stream);

/* Calls fn(arg) from a thread of the runtime when all earlier work is done; not after an error. */
extern GpuaggReason gpu_host_call(GpuStreamRef stream, void (*fn)(void *), void *arg);

extern GpuaggReason gpu_event_create(GpuEventRef *event);
extern GpuaggReason gpu_event_create_timed(GpuEventRef *event);
extern GpuaggReason gpu_event_destroy(GpuEventRef event);
extern GpuaggReason gpu_event_record(GpuEventRef event, GpuStreamRef stream);

/* *done says whether all work before the event has finished. */
extern GpuaggReason gpu_event_query(GpuEventRef event, int *done);

/* Time from one timed event to another, both of them done, by the device's clock. */
extern GpuaggReason gpu_event_elapsed(GpuEventRef from, GpuEventRef to, uint64_t *ns);

/* How long a piece of work may take, ns: the device hangs if one takes longer. */
extern int64_t gpu_patience(void);

/* Status of the kernel launches that this thread has made since the last call. */
extern GpuaggReason gpu_launch_status(void);

/* The same after a call of CUB, which returns a cudaError_t and then leaves none to be found. */
extern GpuaggReason gpu_library_status(int error);

extern const char *gpu_last_error(void);

#ifdef __cplusplus
}
#endif

#endif /* GPUAGG_GPU_H */
