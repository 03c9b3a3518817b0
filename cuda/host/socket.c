/*
 * socket.c
 *	  The lock file and the listening socket, and the end of the process.
 */
#include "host/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "host/log.h"
#include "host/options.h"

#define LOCK_WAIT_NS  (5 * GPUD_SECOND) /* for another gpuaggd to end */
#define LOCK_RETRY_NS 50000000L

static bool socket_bound;
static dev_t socket_dev;
static ino_t socket_ino;

/*
 * _exit(): the driver's exit handlers may wait for a device that hangs, and the
 * kernel takes back everything anyway.
 */
void
gpud_end(int status)
{
	struct stat st;

	if (socket_bound && lstat(gpud_options.socket_path, &st) == 0 && st.st_dev == socket_dev &&
		st.st_ino == socket_ino)
		unlink(gpud_options.socket_path);
	_exit(status);
}

void
gpud_fail(const char *what, const char *name)
{
	gpud_warn("could not %s \"%s\": %s", what, name, strerror(errno));
	gpud_end(1);
}

void
gpud_lock_take(const sigset_t *ends)
{
	int64_t until = gpud_now() + LOCK_WAIT_NS;
	int fd = open(gpud_options.lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		gpud_fail("open lock file", gpud_options.lock_path);
	while (flock(fd, LOCK_EX | LOCK_NB) != 0)
	{
		struct timespec pause = {0, LOCK_RETRY_NS};

		if (errno != EWOULDBLOCK && errno != EINTR)
			gpud_fail("lock", gpud_options.lock_path);
		if (gpud_now() >= until)
		{
			gpud_warn("another gpuaggd holds lock file \"%s\"", gpud_options.lock_path);
			gpud_end(1);
		}
		if (sigtimedwait(ends, NULL, &pause) > 0)
			gpud_end(0);
	}
}

/*
 * Creates the socket, in the place of one that nobody listens to.  The descriptor, or
 * -1 with *failed set to what could not be done, and errno.
 */
static int
create_socket(const char **failed)
{
	const char *path = gpud_options.socket_path;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat st;
	mode_t old_mask;
	bool bound;
	int fd;

	*failed = "use socket";
	errno = ENAMETOOLONG;
	if (strlen(path) >= sizeof(address.sun_path))
		return -1;
	strcpy(address.sun_path, path);

	if (lstat(path, &st) == 0)
	{
		*failed = "replace, because it is no socket,";
		errno = EEXIST;
		if (!S_ISSOCK(st.st_mode))
			return -1;
		*failed = "remove stale socket";
		if (unlink(path) != 0)
			return -1;
	}

	*failed = "create socket";
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	*failed = "bind socket";
	old_mask = umask(0177);
	bound = bind(fd, (struct sockaddr *) &address, sizeof(address)) == 0;
	umask(old_mask);
	if (bound)
	{
		*failed = "listen on socket";
		if (lstat(path, &st) == 0 && listen(fd, GPUD_MAX_CONNECTIONS) == 0)
		{
			socket_dev = st.st_dev;
			socket_ino = st.st_ino;
			socket_bound = true;
			return fd;
		}
	}
	close(fd);
	return -1;
}

int
gpud_socket_open(void)
{
	const char *failed;
	int fd = create_socket(&failed);

	if (fd < 0)
		gpud_fail(failed, gpud_options.socket_path);
	return fd;
}

int
gpud_socket_open_again(void)
{
	static int64_t told;
	const char *path = gpud_options.socket_path;
	const char *failed;
	struct stat st;
	int fd;

	if (lstat(path, &st) == 0 && st.st_dev == socket_dev && st.st_ino == socket_ino)
		return -1;
	fd = create_socket(&failed);
	if (fd >= 0)
		gpud_warn("socket \"%s\" had gone and was created again", path);
	else if (gpud_due(&told))
		gpud_warn("socket \"%s\" has gone; could not %s \"%s\": %s", path, failed, path,
				  strerror(errno));
	return fd;
}
