/*
 * gpu_cuda.c
 *	  gpu.h over the CUDA runtime.
 *
 * The runtime's current device belongs to a thread, so every function first
 * makes the open one current.  An error that comes back after it was cleared
 * is sticky: the context is gone.
 */
#include "device/gpu.h"

#include <cuda_runtime_api.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int opened = -1; /* device; set before other threads call */
static _Thread_local int current = -1;
static _Thread_local char last_error[128];

const char *
gpu_last_error(void)
{
	return last_error;
}

static void
keep_words(cudaError_t error)
{
	snprintf(last_error, sizeof(last_error), "%s: %s", cudaGetErrorName(error),
			 cudaGetErrorString(error));
}

/* Whether the context answers the same way to a call that has nothing to do. */
static int
is_sticky(void)
{
	if (opened < 0 || cudaFree(NULL) == cudaSuccess)
		return 0;
	(void) cudaGetLastError();
	return 1;
}

/* A user who may not open the device files is told 'no device' by the driver. */
static GpuaggReason
no_device(void)
{
	if (access("/dev/nvidiactl", R_OK | W_OK) != 0 && errno == EACCES)
	{
		snprintf(last_error, sizeof(last_error), "/dev/nvidiactl: %s", strerror(errno));
		return GPUAGG_NO_PERMISSION;
	}
	return GPUAGG_NO_DEVICE;
}

/* Without a driver the runtime reports a driver that is too old, of version 0. */
static GpuaggReason
old_driver(void)
{
	int driver = 0;
	int runtime = 0;

	if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
	{
		last_error[0] = '\0'; /* the words would be about a driver that is too old */
		return GPUAGG_NO_DRIVER;
	}
	if (cudaRuntimeGetVersion(&runtime) == cudaSuccess)
		snprintf(last_error, sizeof(last_error),
				 "the driver supports CUDA %d.%d, this program needs %d.%d", driver / 1000,
				 driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
	return GPUAGG_DRIVER_TOO_OLD;
}

static GpuaggReason
classify(cudaError_t error)
{
	if (error == cudaSuccess)
		return GPUAGG_OK;
	keep_words(error);
	(void) cudaGetLastError(); /* else gpu_launch_status() would see it again */

	switch (error)
	{
		case cudaErrorStubLibrary:
			return GPUAGG_NO_DRIVER;
		case cudaErrorInsufficientDriver:
			return old_driver();
		case cudaErrorSystemDriverMismatch:
		case cudaErrorCompatNotSupportedOnDevice:
			return GPUAGG_DRIVER_TOO_OLD;
		case cudaErrorNoDevice:
		case cudaErrorInvalidDevice:
			return no_device();
		case cudaErrorOperatingSystem:
			return no_device() == GPUAGG_NO_PERMISSION ? GPUAGG_NO_PERMISSION : GPUAGG_DEVICE_ERROR;
		case cudaErrorDevicesUnavailable:
			return GPUAGG_DEVICE_EXCLUSIVE;
		case cudaErrorMpsConnectionFailed:
		case cudaErrorMpsRpcFailure:
		case cudaErrorMpsServerNotReady:
		case cudaErrorMpsMaxClientsReached:
		case cudaErrorMpsMaxConnectionsReached:
			return GPUAGG_MPS;
		case cudaErrorNotPermitted:
			return GPUAGG_NO_PERMISSION;
		case cudaErrorNoKernelImageForDevice:
		case cudaErrorInvalidDeviceFunction:
		case cudaErrorInvalidKernelImage:
		case cudaErrorInvalidPtx:
		case cudaErrorUnsupportedPtxVersion:
		case cudaErrorJitCompilerNotFound:
			return GPUAGG_NO_KERNEL;
		case cudaErrorMemoryAllocation:
			return is_sticky() ? GPUAGG_LOST : GPUAGG_NO_DEVICE_MEMORY;
		default:
			return is_sticky() ? GPUAGG_LOST : GPUAGG_DEVICE_ERROR;
	}
}

static GpuaggReason
use_device(void)
{
	GpuaggReason reason = GPUAGG_OK;

	if (current != opened)
	{
		reason = classify(cudaSetDevice(opened));
		if (reason == GPUAGG_OK)
			current = opened;
	}
	return reason;
}

/* How the functions below end that make one call on the open device. */
#define RETURN_STATUS(call)                                   \
	do                                                        \
	{                                                         \
		GpuaggReason status = use_device();                   \
                                                              \
		return status == GPUAGG_OK ? classify(call) : status; \
	} while (0)

GpuaggReason
gpu_count(int *count)
{
	*count = 0;
	return classify(cudaGetDeviceCount(count));
}

GpuaggReason
gpu_describe(int index, GpuaggDeviceInfo *info)
{
	struct cudaDeviceProp properties;
	int mode = 0;
	GpuaggReason reason;

	memset(info, 0, sizeof(*info));
	info->index = (uint32_t) index;
	reason = classify(cudaGetDeviceProperties(&properties, index));
	if (reason == GPUAGG_OK)
		reason = classify(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, index));
	info->reason = reason;
	if (reason != GPUAGG_OK)
		return reason;

	snprintf(info->name, sizeof(info->name), "%.63s", properties.name);
	info->major = properties.major;
	info->minor = properties.minor;
	info->multiprocessors = properties.multiProcessorCount;
	info->memory_total = properties.totalGlobalMem;
	info->l2_bytes = (uint64_t) properties.l2CacheSize;
	if (mode == cudaComputeModeProhibited)
	{
		info->reason = GPUAGG_DEVICE_EXCLUSIVE;
		snprintf(info->detail, sizeof(info->detail), "compute mode is prohibited");
	}
	info->usable = info->reason == GPUAGG_OK;
	return GPUAGG_OK;
}

GpuaggReason
gpu_open(int index)
{
	GpuaggReason reason;

	reason = classify(cudaSetDevice(index));
	if (reason == GPUAGG_OK)
		reason = classify(cudaFree(NULL));
	if (reason == GPUAGG_OK)
		opened = current = index;
	return reason;
}

GpuaggReason
gpu_enter(void)
{
	return use_device();
}

GpuaggReason
gpu_memory_info(uint64_t *free_bytes, uint64_t *total_bytes)
{
	size_t free_now = 0;
	size_t total = 0;
	GpuaggReason reason = use_device();

	if (reason == GPUAGG_OK)
		reason = classify(cudaMemGetInfo(&free_now, &total));
	*free_bytes = free_now;
	*total_bytes = total;
	return reason;
}

GpuaggReason
gpu_malloc(void **p, size_t bytes)
{
	*p = NULL;
	RETURN_STATUS(cudaMalloc(p, bytes));
}

GpuaggReason
gpu_free(void *p)
{
	RETURN_STATUS(cudaFree(p));
}

GpuaggReason
gpu_host_register(void *p, size_t bytes)
{
	RETURN_STATUS(cudaHostRegister(p, bytes, cudaHostRegisterPortable));
}

GpuaggReason
gpu_host_unregister(void *p)
{
	RETURN_STATUS(cudaHostUnregister(p));
}

/* A stream that does not say otherwise has the least of all priorities. */
static GpuaggReason
create_stream(GpuStreamRef *stream, int background)
{
	int least = 0;
	int greatest = 0;
	GpuaggReason reason = use_device();

	*stream = NULL;
	if (reason == GPUAGG_OK)
		reason = classify(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	if (reason == GPUAGG_OK)
		reason = classify(cudaStreamCreateWithPriority((cudaStream_t *) stream,
													   cudaStreamNonBlocking,
													   background ? least : greatest));
	return reason;
}

GpuaggReason
gpu_stream_create(GpuStreamRef *stream)
{
	return create_stream(stream, 0);
}

GpuaggReason
gpu_stream_create_background(GpuStreamRef *stream)
{
	return create_stream(stream, 1);
}

GpuaggReason
gpu_stream_destroy(GpuStreamRef stream)
{
	RETURN_STATUS(cudaStreamDestroy((cudaStream_t) stream));
}

GpuaggReason
gpu_copy_in(void *device, const void *host, size_t bytes, GpuStreamRef stream)
{
	RETURN_STATUS(
		cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, (cudaStream_t) stream));
}

GpuaggReason
gpu_copy_out(void *host, const void *device, size_t bytes, GpuStreamRef stream)
{
	RETURN_STATUS(
		cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, (cudaStream_t) stream));
}

GpuaggReason
gpu_copy_within(void *to, const void *from, size_t bytes, GpuStreamRef stream)
{
	RETURN_STATUS(
		cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, (cudaStream_t) stream));
}

GpuaggReason
gpu_memset(void *device, int value, size_t bytes, GpuStreamRef stream)
{
	RETURN_STATUS(cudaMemsetAsync(device, value, bytes, (cudaStream_t) stream));
}

GpuaggReason
gpu_host_call(GpuStreamRef stream, void (*fn)(void *), void *arg)
{
	RETURN_STATUS(cudaLaunchHostFunc((cudaStream_t) stream, fn, arg));
}

static GpuaggReason
create_event(GpuEventRef *event, unsigned flags)
{
	*event = NULL;
	RETURN_STATUS(cudaEventCreateWithFlags((cudaEvent_t *) event, flags));
}

GpuaggReason
gpu_event_create(GpuEventRef *event)
{
	return create_event(event, cudaEventDisableTiming);
}

GpuaggReason
gpu_event_create_timed(GpuEventRef *event)
{
	return create_event(event, cudaEventDefault);
}

GpuaggReason
gpu_event_destroy(GpuEventRef event)
{
	RETURN_STATUS(cudaEventDestroy((cudaEvent_t) event));
}

GpuaggReason
gpu_event_record(GpuEventRef event, GpuStreamRef stream)
{
	RETURN_STATUS(cudaEventRecord((cudaEvent_t) event, (cudaStream_t) stream));
}

GpuaggReason
gpu_event_query(GpuEventRef event, int *done)
{
	GpuaggReason reason = use_device();
	cudaError_t error;

	*done = 0;
	if (reason != GPUAGG_OK)
		return reason;
	error = cudaEventQuery((cudaEvent_t) event);
	if (error == cudaErrorNotReady)
	{
		(void) cudaGetLastError();
		return GPUAGG_OK;
	}
	*done = error == cudaSuccess;
	return classify(error);
}

GpuaggReason
gpu_event_elapsed(GpuEventRef from, GpuEventRef to, uint64_t *ns)
{
	float ms = 0;
	GpuaggReason reason = use_device();

	if (reason == GPUAGG_OK)
		reason = classify(cudaEventElapsedTime(&ms, (cudaEvent_t) from, (cudaEvent_t) to));
	*ns = (uint64_t) ((double) ms * 1e6);
	return reason;
}

int64_t
gpu_patience(void)
{
	return INT64_C(30000000000);
}

GpuaggReason
gpu_launch_status(void)
{
	return classify(cudaGetLastError());
}

GpuaggReason
gpu_library_status(int error)
{
	return error != cudaSuccess ? classify((cudaError_t) error) : gpu_launch_status();
}
