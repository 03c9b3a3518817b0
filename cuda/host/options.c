/*
 * options.c
 *	  What the command line says.
 */
#include "host/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/protocol.h"
#include "host/log.h"

GpudOptions gpud_options = {
	.socket_path = GPUAGG_SOCKET_PATH,
	.lock_path = GPUAGG_LOCK_PATH,
	.total_staging = UINT64_C(1) << 30,
	.visible_devices = "",
	.lease_timeout = 60,
};

static const struct option known[] = {{"socket", required_argument, NULL, 's'},
									  {"lock", required_argument, NULL, 'l'},
									  {"parent", required_argument, NULL, 'p'},
									  {"total-staging", required_argument, NULL, 't'},
									  {"device-memory", required_argument, NULL, 'm'},
									  {"visible-devices", required_argument, NULL, 'v'},
									  {"idle-timeout", required_argument, NULL, 'i'},
									  {"lease-timeout", required_argument, NULL, 'e'},
									  {"version", no_argument, NULL, 'V'},
									  {NULL, 0, NULL, 0}};

/* The number that an option has been given, up to `max`. */
static uint64_t
number(int option, uint64_t max)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(optarg, &end, 10);
	if (errno != 0 || *optarg < '0' || *optarg > '9' || *end != '\0' || value > max)
	{
		gpud_warn("invalid value for --%s: \"%s\"", known[option].name, optarg);
		exit(1);
	}
	return (uint64_t) value;
}

void
gpud_options_parse(int argc, char **argv)
{
	int option = 0;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "", known, &option)) != -1)
	{
		switch (c)
		{
			case 's':
				gpud_options.socket_path = optarg;
				break;
			case 'l':
				gpud_options.lock_path = optarg;
				break;
			case 'p':
				gpud_options.parent = (pid_t) number(option, INT32_MAX);
				break;
			case 't':
				gpud_options.total_staging = number(option, INT64_MAX);
				break;
			case 'm':
				gpud_options.device_memory = number(option, INT64_MAX);
				break;
			case 'v':
				gpud_options.visible_devices = optarg;
				break;
			case 'i':
				gpud_options.idle_timeout = (int) number(option, INT32_MAX);
				break;
			case 'e':
				gpud_options.lease_timeout = (int) number(option, INT32_MAX);
				break;
			case 'V':
				printf("gpuaggd %s\n", GPUAGG_VERSION_STRING);
				exit(0);
			default:
				gpud_warn("unknown or incomplete option \"%s\"", argv[optind - 1]);
				exit(1);
		}
	}
	if (optind != argc)
	{
		gpud_warn("unexpected argument \"%s\"", argv[optind]);
		exit(1);
	}
}
