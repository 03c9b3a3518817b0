/*
 * device.c
 *	  Which device gpuaggd uses, or why it uses none.
 *
 * The first device that opens and whose kernels give right answers is used.
 * All of this happens in the set-up thread; until it is done the status says
 * GPUAGG_STARTING.
 */
#include "host/device.h"

#include <stdio.h>
#include <string.h>

#include "host/clients.h"
#include "host/lane.h"
#include "host/log.h"
#include "host/probe.h"
#include "host/setup.h"

#ifndef GPUAGG_CUDA_ARCHS
#define GPUAGG_CUDA_ARCHS "unknown architectures"
#endif

DeviceStatus gpud_device = {.reason = GPUAGG_STARTING};

static DeviceStatus found; /* belongs to the set-up thread until open_done() */
static uint64_t free_now;
static bool refreshing;

static void
say(char *detail, size_t size, const char *words)
{
	snprintf(detail, size, "%s", words != NULL ? words : "");
}

static GpuaggReason
open_lanes(bool simulated)
{
	GpuaggReason reason = gpud_lanes_open(simulated);

	if (reason == GPUAGG_OK)
		reason = gpud_probe(&gpud_lanes[0]);
	if (reason != GPUAGG_OK)
		gpud_lanes_close();
	return reason;
}

/* GPUAGG_OK: the device is open.  Else why it is not usable; its info says so too. */
static GpuaggReason
try_device(int index)
{
	GpuaggDeviceInfo *info = &found.info[index];
	GpuaggReason reason;
	uint64_t total;

	if (info->reason != GPUAGG_OK)
		return (GpuaggReason) info->reason;

	gpud_log("opening device %d: %s", index, info->name);
	reason = gpu_open(index);
	if (reason == GPUAGG_OK)
		reason = gpu_memory_info(&info->memory_free, &total);
	if (reason == GPUAGG_OK)
		reason = open_lanes(info->simulated != 0);

	if (reason == GPUAGG_NO_KERNEL)
		snprintf(info->detail, sizeof(info->detail),
				 "built for %s; build with \"make CUDA_ARCHS=%d%d\"", GPUAGG_CUDA_ARCHS,
				 info->major, info->minor);
	else if (reason != GPUAGG_OK)
		say(info->detail, sizeof(info->detail), gpu_last_error());
	if (reason == GPUAGG_LOST)
		reason = GPUAGG_DEVICE_ERROR;
	return reason;
}

static void
open_run(Task *task)
{
	GpuaggReason reason;
	int count = 0;

	(void) task;
	memset(&found, 0, sizeof(found));
	reason = gpu_count(&count);
	if (reason != GPUAGG_OK || count <= 0)
	{
		found.reason = reason != GPUAGG_OK ? reason : GPUAGG_NO_DEVICE;
		say(found.detail, sizeof(found.detail), gpu_last_error());
		return;
	}
	found.count = count < GPUAGG_MAX_DEVICES ? count : GPUAGG_MAX_DEVICES;

	for (int i = 0; i < found.count; i++)
	{
		GpuaggDeviceInfo *info = &found.info[i];

		reason = gpu_describe(i, info);
		info->count = (uint32_t) found.count;
		info->index = (uint32_t) i;
		info->usable = 0;
		if (reason != GPUAGG_OK)
		{
			info->reason = reason;
			say(info->detail, sizeof(info->detail), gpu_last_error());
		}
	}

	/* devices after the one that is used are not opened: a context costs memory */
	for (int i = 0; i < found.count && !found.ready; i++)
	{
		GpuaggDeviceInfo *info = &found.info[i];

		info->reason = try_device(i);
		if (info->reason == GPUAGG_OK)
		{
			found.ready = true;
			found.used = i;
			found.reason = GPUAGG_OK;
			found.detail[0] = '\0';
		}
		else if (found.reason == GPUAGG_OK)
		{
			found.reason = (GpuaggReason) info->reason;
			say(found.detail, sizeof(found.detail), info->detail);
		}
	}
	for (int i = 0; i < found.count; i++)
		found.info[i].usable = found.info[i].reason == GPUAGG_OK;
}

static void
open_done(Task *task)
{
	(void) task;
	gpud_device = found;
	if (found.ready && gpu_enter() == GPUAGG_LOST)
		gpud_lost(gpu_last_error());
	if (found.ready)
		gpud_log("ready: device %d, %s", found.used, found.info[found.used].name);
	else
		gpud_log("no device: %s%s%s", gpuagg_reason_text(found.reason),
				 found.detail[0] != '\0' ? ": " : "", found.detail);
}

void
gpud_device_open(void)
{
	static Task open_task = {open_run, open_done, NULL};

	gpud_setup_submit(&open_task);
}

static void
refresh_run(Task *task)
{
	uint64_t total;

	(void) task;
	if (gpu_memory_info(&free_now, &total) != GPUAGG_OK)
		free_now = 0;
}

static void
refresh_done(Task *task)
{
	(void) task;
	gpud_device.info[gpud_device.used].memory_free = free_now;
	refreshing = false;
}

void
gpud_device_refresh(void)
{
	static Task refresh_task = {refresh_run, refresh_done, NULL};
	static int64_t last;
	int64_t now = gpud_now();

	if (!gpud_device.ready || refreshing || now - last < GPUD_SECOND)
		return;
	last = now;
	refreshing = true;
	gpud_setup_submit(&refresh_task);
}
