/*
 * reason.c
 *	  Names, texts and hints of the reasons why the device is not used.
 */
#include <stddef.h>

#include "common/reason.h"

typedef struct ReasonWords
{
	const char *name;
	const char *text;
	const char *hint;
} ReasonWords;

static const ReasonWords reason_words[GPUAGG_NREASONS] = {
	[GPUAGG_OK] = {"ok", "the device is in use", NULL},
	[GPUAGG_STARTING] = {"starting", "the device program is still starting",
						 "Try again in a moment."},
	[GPUAGG_NO_PROGRAM] =
		{"no_program", "the device program is missing or not executable",
		 "Build it with \"make WITH_CUDA=yes install\", or let \"gpuagg.device_program\" name it."},
	[GPUAGG_START_FAILED] = {"start_failed", "the device program ended while it was starting",
							 "The server log holds what it said; then call gpuagg_restart()."},
	[GPUAGG_NO_SLOT] = {"no_slot", "no background worker can be started",
						"Raise \"max_worker_processes\" by one; single-user mode has no workers."},
	[GPUAGG_NO_SHARED_MEMORY] =
		{"no_shared_memory", "there is no room for the shared state",
		 "Add gpuagg to \"shared_preload_libraries\", which reserves the room."},
	[GPUAGG_STOPPED] = {"stopped", "the device was stopped by gpuagg_stop()",
						"Call gpuagg_restart()."},
	[GPUAGG_NO_DRIVER] =
		{"no_driver", "no NVIDIA driver is loaded",
		 "Install the NVIDIA driver on the database host, then call gpuagg_restart()."},
	[GPUAGG_DRIVER_TOO_OLD] = {"driver_too_old", "the NVIDIA driver is too old for this build",
							   "Update the driver, or build gpuagg with an older CUDA toolkit."},
	[GPUAGG_NO_DEVICE] = {"no_device", "the driver sees no device",
						  "Look at \"nvidia-smi -L\" and at \"gpuagg.visible_devices\"."},
	[GPUAGG_DEVICE_EXCLUSIVE] =
		{"device_exclusive", "the device is in exclusive or prohibited compute mode",
		 "Set the compute mode to \"Default\" with nvidia-smi, or free the device."},
	[GPUAGG_MPS] = {"mps", "the multi-process service refuses the connection",
					"Look at the state and the log of nvidia-cuda-mps-control."},
	[GPUAGG_NO_PERMISSION] = {"no_permission",
							  "the server's operating system user may not use the device",
							  "Give that user access to /dev/nvidia*, then call gpuagg_restart()."},
	[GPUAGG_NO_KERNEL] =
		{"no_kernel", "the device program was not built for this device's architecture",
		 "Build it with \"make CUDA_ARCHS=...\" for the compute capability that gpuagg_devices() shows."},
	[GPUAGG_DEVICE_ERROR] =
		{"device_error", "the device could not be opened",
		 "The server log holds the driver's words; then call gpuagg_restart()."},
	[GPUAGG_VERSION] =
		{"version", "the device program or its launcher is of another version",
		 "Install library and device program of one version and call gpuagg_restart(); older sessions must reconnect."},
	[GPUAGG_BUSY] = {"busy", "the device has too much to do", NULL},
	[GPUAGG_NO_STAGING] = {"no_staging", "the budget of staging memory is spent", NULL},
	[GPUAGG_NO_DEVICE_MEMORY] = {"no_device_memory", "the budget of device memory is spent", NULL},
	[GPUAGG_LOST] = {"lost", "the device was lost", NULL},
	[GPUAGG_TIMEOUT] = {"timeout", "the device did not answer in time", NULL},
	[GPUAGG_RANGE] = {"range", "exponents lie too far apart for the device", NULL},
	[GPUAGG_REFUSED] = {"refused", "the device program refused the request", NULL},
	[GPUAGG_DISABLED] = {"disabled", "\"gpuagg.device\" is \"cpu\"",
						 "Set \"gpuagg.device\" to \"auto\" or \"gpu\"."},
	[GPUAGG_NO_READ_AHEAD] = {"no_read_ahead", "rows may not be read before they are asked for",
							  NULL},
	[GPUAGG_SMALL] = {"small", "there were fewer rows than \"gpuagg.device_min_rows\"", NULL},
	[GPUAGG_NO_GAIN] = {"no_gain", "taking the rows there would cost more than the CPU's work",
						"Set \"gpuagg.device\" to \"gpu\" to use the device all the same."},
	[GPUAGG_CPU_ONLY] = {"cpu_only", "there is no kernel for the function over this type", NULL},
};

static const ReasonWords unknown_words = {"unknown", "the reason is not known", NULL};

static const ReasonWords *
words_of(int reason)
{
	if (reason < 0 || reason >= GPUAGG_NREASONS || reason_words[reason].name == NULL)
		return &unknown_words;
	return &reason_words[reason];
}

const char *
gpuagg_reason_name(int reason)
{
	return words_of(reason)->name;
}

const char *
gpuagg_reason_text(int reason)
{
	return words_of(reason)->text;
}

const char *
gpuagg_reason_hint(int reason)
{
	return words_of(reason)->hint;
}
