/*
 * reason.h
 *	  Reasons why the device is not used, or was not used for one batch.
 *
 * The numbers are part of the protocol and index the fallback counters.
 */
#ifndef GPUAGG_REASON_H
#define GPUAGG_REASON_H

typedef enum GpuaggReason
{
	GPUAGG_OK = 0,

	/* there is no usable device */
	GPUAGG_STARTING,		 /* launcher or gpuaggd not ready yet */
	GPUAGG_NO_PROGRAM,		 /* gpuaggd missing or not executable */
	GPUAGG_START_FAILED,	 /* gpuaggd started and ended at once */
	GPUAGG_NO_SLOT,			 /* no free background worker slot */
	GPUAGG_NO_SHARED_MEMORY, /* no room for the shared state */
	GPUAGG_STOPPED,			 /* stopped by gpuagg_stop() */
	GPUAGG_NO_DRIVER,
	GPUAGG_DRIVER_TOO_OLD,
	GPUAGG_NO_DEVICE,
	GPUAGG_DEVICE_EXCLUSIVE, /* compute-exclusive and taken, or prohibited */
	GPUAGG_MPS,
	GPUAGG_NO_PERMISSION,
	GPUAGG_NO_KERNEL,	 /* gpuaggd was not built for this architecture */
	GPUAGG_DEVICE_ERROR, /* any other CUDA error at start */
	GPUAGG_VERSION,		 /* gpuaggd speaks another protocol version */

	/* there is a device, but not for this batch */
	GPUAGG_BUSY,	   /* backlog or quota full */
	GPUAGG_NO_STAGING, /* budget of staging memory spent */
	GPUAGG_NO_DEVICE_MEMORY,
	GPUAGG_LOST,	/* gpuaggd or its context died */
	GPUAGG_TIMEOUT, /* no answer in time */
	GPUAGG_RANGE,	/* exponents too far apart for the device's window */
	GPUAGG_REFUSED, /* the request did not pass its check */

	/* the device was not asked */
	GPUAGG_DISABLED,	  /* gpuagg.device is cpu */
	GPUAGG_NO_READ_AHEAD, /* evaluating the argument early could fail or have effects */
	GPUAGG_SMALL,		  /* fewer rows than gpuagg.device_min_rows */
	GPUAGG_NO_GAIN,		  /* sending the rows to the device takes longer than the work */
	GPUAGG_CPU_ONLY,	  /* there is no kernel for the function over this type */

	GPUAGG_NREASONS
} GpuaggReason;

/* Short name ("no_driver") for views, and a sentence fragment ("no NVIDIA driver is loaded"). */
extern const char *gpuagg_reason_name(int reason);
extern const char *gpuagg_reason_text(int reason);

/* A HINT sentence for the reasons that leave a server without a device, or NULL. */
extern const char *gpuagg_reason_hint(int reason);

#endif /* GPUAGG_REASON_H */
