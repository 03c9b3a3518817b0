/*
 * setup.c
 *	  The set-up thread: calls that stall the driver stay out of the loop.
 *
 * Tasks are run one at a time in the order they were submitted, and come back
 * to the loop in the same order.
 */
#include "host/gpud.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <unistd.h>

typedef struct TaskQueue
{
	Task *first;
	Task **end;
} TaskQueue;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t submitted_any = PTHREAD_COND_INITIALIZER;
static TaskQueue submitted = {NULL, &submitted.first};
static TaskQueue finished = {NULL, &finished.first};
static int finished_fd = -1;
static int64_t running_since; /* ns; 0: no task is running */

static void
put(TaskQueue *queue, Task *task)
{
	task->next = NULL;
	*queue->end = task;
	queue->end = &task->next;
}

static Task *
take(TaskQueue *queue)
{
	Task *task = queue->first;

	if (task != NULL)
	{
		queue->first = task->next;
		if (queue->first == NULL)
			queue->end = &queue->first;
	}
	return task;
}

static void *
setup_main(void *unused)
{
	(void) unused;
	pthread_mutex_lock(&lock);
	for (;;)
	{
		Task *task = take(&submitted);

		if (task == NULL)
		{
			pthread_cond_wait(&submitted_any, &lock);
			continue;
		}
		running_since = gpud_now();
		pthread_mutex_unlock(&lock);
		task->run(task);
		pthread_mutex_lock(&lock);
		running_since = 0;
		put(&finished, task);
		/* a full counter is readable too, which is all that is wanted of it */
		(void) eventfd_write(finished_fd, 1);
	}
	return NULL;
}

/* Starts the thread.  It inherits the loop's mask of blocked signals. */
bool
gpud_setup_start(void)
{
	pthread_t thread;

	finished_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return finished_fd >= 0 && pthread_create(&thread, NULL, setup_main, NULL) == 0 &&
		   pthread_detach(thread) == 0;
}

int
gpud_setup_fd(void)
{
	return finished_fd;
}

void
gpud_setup_submit(Task *task)
{
	pthread_mutex_lock(&lock);
	put(&submitted, task);
	pthread_cond_signal(&submitted_any);
	pthread_mutex_unlock(&lock);
}

int64_t
gpud_setup_running_since(void)
{
	int64_t since;

	pthread_mutex_lock(&lock);
	since = running_since;
	pthread_mutex_unlock(&lock);
	return since;
}

void
gpud_setup_collect(void)
{
	eventfd_t count;

	(void) eventfd_read(finished_fd, &count);
	for (;;)
	{
		Task *task;

		pthread_mutex_lock(&lock);
		task = take(&finished);
		pthread_mutex_unlock(&lock);
		if (task == NULL)
			return;
		task->done(task);
	}
}
