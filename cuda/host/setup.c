/*
 * setup.c
 *	  The set-up thread: calls that stall the driver stay out of the loop.
 */
#include "host/setup.h"

#include <pthread.h>
#include <stddef.h>

#include "host/log.h"
#include "host/watch.h"

typedef struct TaskQueue
{
	Task *first;
	Task **end;
} TaskQueue;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t submitted_any = PTHREAD_COND_INITIALIZER;
static TaskQueue submitted = {NULL, &submitted.first};
static TaskQueue finished = {NULL, &finished.first};
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
		gpud_wake(NULL);
	}
	return NULL;
}

bool
gpud_setup_start(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, setup_main, NULL) == 0 && pthread_detach(thread) == 0;
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
