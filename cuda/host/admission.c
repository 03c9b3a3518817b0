/*
 * admission.c
 *	  Who may be connected: new clients, those greeted, and those that go.
 */
#include "host/admission.h"

#include <stdlib.h>
#include <unistd.h>

#include "host/job.h"
#include "host/log.h"
#include "host/socket.h"
#include "host/staging.h"

#define MAX_CLIENTS 512				  /* connections beyond that are told so */
#define RESTING_NS	(5 * GPUD_SECOND) /* a client silent for so long may have to make room */

static Client *closed; /* to be freed */
static int nconnections;
static int nclients; /* that have been greeted */

int
gpud_admission_count(void)
{
	return nclients;
}

bool
gpud_admission_connect(int fd, void (*on_event)(Source *, uint32_t))
{
	Client *client;

	if (nconnections >= GPUD_MAX_CONNECTIONS)
	{
		close(fd);
		return false;
	}
	client = gpud_client_add(fd, on_event);
	if (client == NULL)
		close(fd);
	else
	{
		nconnections++;
		if (!gpud_watch(&client->source, EPOLLIN))
			gpud_admission_close(client);
	}
	return true;
}

void
gpud_admission_close(Client *client)
{
	if (client->source.fd < 0)
		return;
	gpud_client_remove(client);
	gpud_job_client_gone(client);
	gpud_staging_client_gone(client);
	nconnections--;
	if (client->greeted)
		nclients--;
	client->next = closed;
	closed = client;
}

void
gpud_admission_free(void)
{
	while (closed != NULL)
	{
		Client *client = closed;

		closed = client->next;
		free(client);
	}
}

/*
 * Closes the connection of the client that has been at rest for longest: it
 * connects again when it next has work.  False when all are at work.
 */
static bool
make_room(void)
{
	Client *longest = NULL;

	for (Client *client = gpud_clients; client != NULL; client = client->next)
		if (client->greeted && client->leased == 0 && client->inflight == 0 &&
			client->outbox == NULL && (longest == NULL || client->heard_at < longest->heard_at))
			longest = client;
	if (longest == NULL || gpud_now() - longest->heard_at < RESTING_NS)
		return false;
	gpud_admission_close(longest);
	return true;
}

bool
gpud_admission_greet(Client *client)
{
	if (nclients >= MAX_CLIENTS && !make_room())
		return false;
	client->greeted = true;
	nclients++;
	return true;
}
