/*
 * device.h
 *	  Which device gpuaggd uses, or why it uses none.
 */
#ifndef GPUAGG_DEVICE_H
#define GPUAGG_DEVICE_H

#include <stdbool.h>

#include "common/protocol.h"

typedef struct DeviceStatus
{
	bool ready;
	GpuaggReason reason; /* GPUAGG_OK when ready, GPUAGG_STARTING before that is known */
	char detail[128];
	int count;
	int used; /* index of the open device */
	GpuaggDeviceInfo info[GPUAGG_MAX_DEVICES];
} DeviceStatus;

extern DeviceStatus gpud_device;

/* Has the set-up thread look for a device. */
extern void gpud_device_open(void);

/* Brings memory_free up to date, some time later and at most once a second. */
extern void gpud_device_refresh(void);

#endif /* GPUAGG_DEVICE_H */
