/*
 * child.c
 *	  Starting, listening to and ending the device program.
 *
 * Only the launcher uses this.  The kernel kills the child when its parent dies,
 * so no code has to run to clean it up.
 */
#include "compat.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpuagg.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "device/child.h"
#include "device/shared_state.h"

#define STOP_TERM_MS  2000
#define STOP_KILL_MS  3000
#define OOM_SCORE_ADJ "500" /* gpuaggd's death is harmless: prefer it to a backend */
#define EXEC_FAILED	  127	/* exit status of a child whose exec failed */

const char *
gpuagg_program_path(void)
{
	static char path[MAXPGPATH];

	if (gpuagg_device_program != NULL && gpuagg_device_program[0] != '\0')
		return gpuagg_device_program;
	snprintf(path, sizeof(path), "%s/gpuaggd", pkglib_path);
	return path;
}

/* A build with the GPU program installs it beside the library. */
void
gpuagg_program_fault(int error, char *words, Size size)
{
	if (error == ENOENT && (gpuagg_device_program == NULL || gpuagg_device_program[0] == '\0'))
		strlcpy(words, "gpuagg was built without the GPU program", size);
	else
		snprintf(words, size, "%s: %s", gpuagg_program_path(), strerror(error));
}

/*
 * In the child, between fork and exec: only calls that are safe after fork.
 */
static void
close_from(int first)
{
	struct rlimit limit;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0U, 0) == 0)
		return;
#endif
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > 65536)
		limit.rlim_cur = 65536;
	for (int fd = first; fd < (int) limit.rlim_cur; fd++)
		close(fd);
}

static void
write_oom_score(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	/* a failure is ignored: the program can start without it */
	if (write(fd, OOM_SCORE_ADJ, strlen(OOM_SCORE_ADJ)) < 0)
		errno = 0;
	close(fd);
}

/* Does not return. */
static void
child_main(const char *path, char *const argv[], pid_t parent, int log_fd, int exec_fd)
{
	struct rlimit no_core = {0, 0};
	sigset_t none;
	int null_fd;
	int report;

	for (int sig = 1; sig < NSIG; sig++)
		if (sig != SIGKILL && sig != SIGSTOP)
			signal(sig, SIG_DFL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		_exit(EXEC_FAILED);
	(void) setrlimit(RLIMIT_CORE, &no_core);
	write_oom_score();

	/* standard streams to 0 to 2, the exec pipe to 3, nothing above */
	null_fd = open("/dev/null", O_RDWR);
	if (null_fd < 0)
		goto failed;
	exec_fd = fcntl(exec_fd, F_DUPFD_CLOEXEC, 10);
	log_fd = fcntl(log_fd, F_DUPFD_CLOEXEC, 10);
	if (exec_fd < 0 || log_fd < 0 || dup2(null_fd, 0) < 0 || dup2(log_fd, 1) < 0 ||
		dup2(log_fd, 2) < 0 || dup3(exec_fd, 3, O_CLOEXEC) < 0)
		goto failed;
	exec_fd = 3;
	close_from(4);

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv(path, argv);

failed:
	report = errno;
	if (write(exec_fd, &report, sizeof(report)) != sizeof(report))
		_exit(EXEC_FAILED);
	_exit(EXEC_FAILED);
}

bool
gpuagg_program_start(Program *program)
{
	char path[MAXPGPATH];
	char parent[32];
	char total_staging[32];
	char device_memory[32];
	char idle_timeout[32];
	char visible[1024];
	char *argv[] = {path,
					"--socket",
					GPUAGG_SOCKET_PATH,
					"--lock",
					GPUAGG_LOCK_PATH,
					"--parent",
					parent,
					"--total-staging",
					total_staging,
					"--device-memory",
					device_memory,
					"--visible-devices",
					visible,
					"--idle-timeout",
					idle_timeout,
					NULL};
	int log_pipe[2];
	int exec_pipe[2];
	sigset_t all;
	sigset_t saved;
	pid_t pid;
	int save_errno;

	memset(program, 0, sizeof(*program));
	program->log_fd = program->exec_fd = -1;

	strlcpy(path, gpuagg_program_path(), sizeof(path));
	snprintf(parent, sizeof(parent), "%d", (int) MyProcPid);
	snprintf(total_staging, sizeof(total_staging), INT64_FORMAT,
			 (int64) gpuagg_total_staging_memory * 1024);
	snprintf(device_memory, sizeof(device_memory), INT64_FORMAT,
			 (int64) gpuagg_device_memory * 1024 * 1024);
	strlcpy(visible, gpuagg_visible_devices, sizeof(visible));
	snprintf(idle_timeout, sizeof(idle_timeout), "%d", gpuagg_idle_timeout);

	if (pipe2(log_pipe, O_CLOEXEC) != 0)
		return false;
	if (pipe2(exec_pipe, O_CLOEXEC) != 0)
	{
		save_errno = errno;
		close(log_pipe[0]);
		close(log_pipe[1]);
		errno = save_errno;
		return false;
	}

	/* the launcher's signal handlers must not run in the child */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &saved);
	pid = fork();
	if (pid == 0)
		child_main(path, argv, MyProcPid, log_pipe[1], exec_pipe[1]);
	save_errno = errno;
	sigprocmask(SIG_SETMASK, &saved, NULL);

	close(log_pipe[1]);
	close(exec_pipe[1]);
	if (pid < 0 || fcntl(log_pipe[0], F_SETFL, O_NONBLOCK) != 0 ||
		fcntl(exec_pipe[0], F_SETFL, O_NONBLOCK) != 0)
	{
		close(log_pipe[0]);
		close(exec_pipe[0]);
		if (pid > 0)
		{
			save_errno = errno;
			kill(pid, SIGKILL);
			(void) waitpid(pid, NULL, 0);
		}
		errno = save_errno;
		return false;
	}
	program->pid = pid;
	program->log_fd = log_pipe[0];
	program->exec_fd = exec_pipe[0];
	return true;
}

static void
log_line(Program *program, const char *line)
{
	int level = LOG;

	if (strncmp(line, "WARNING: ", 9) == 0)
	{
		level = WARNING;
		line += 9;
	}
	else if (strncmp(line, "LOG: ", 5) == 0)
		line += 5;
	if (line[0] == '\0')
		return;
	strlcpy(program->last_line, line, sizeof(program->last_line));
	ereport(level, (errmsg_internal("gpuaggd: %s", line)));
}

void
gpuagg_program_log(Program *program)
{
	while (program->log_fd >= 0)
	{
		char *start = program->line;
		char *end;
		ssize_t n;

		n = read(program->log_fd, program->line + program->used,
				 sizeof(program->line) - 1 - program->used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n > 0)
			program->used += n;
		program->line[program->used] = '\0';
		while ((end = strchr(start, '\n')) != NULL)
		{
			*end = '\0';
			log_line(program, start);
			start = end + 1;
		}
		/* log a line that fills the buffer, or is the last, without its newline */
		if (n <= 0 || (start == program->line && program->used == sizeof(program->line) - 1))
		{
			log_line(program, start);
			start += strlen(start);
		}
		program->used = strlen(start);
		memmove(program->line, start, program->used);
		if (n <= 0)
		{
			close(program->log_fd);
			program->log_fd = -1;
		}
	}
}

bool
gpuagg_program_ended(Program *program)
{
	pid_t pid;

	if (program->pid == 0)
		return true;
	pid = waitpid(program->pid, &program->status, WNOHANG);
	if (pid == 0 || (pid < 0 && errno == EINTR))
		return false;
	if (pid < 0)
		program->status = 0; /* something else reaped it: it is gone */

	program->pid = 0;
	gpuagg_program_log(program);
	if (program->log_fd >= 0)
		close(program->log_fd);
	program->log_fd = -1;
	if (read(program->exec_fd, &program->exec_errno, sizeof(int)) != sizeof(int))
		program->exec_errno = 0;
	close(program->exec_fd);
	program->exec_fd = -1;
	return true;
}

void
gpuagg_program_stop(Program *program)
{
	int64 start = gpuagg_monotonic_ms();
	bool killed = false;

	if (gpuagg_program_ended(program))
		return;
	kill(program->pid, SIGTERM);
	for (;;)
	{
		int64 waited = gpuagg_monotonic_ms() - start;

		gpuagg_program_log(program);
		if (gpuagg_program_ended(program))
			return;
		if (waited >= STOP_TERM_MS && !killed)
		{
			kill(program->pid, SIGKILL);
			killed = true;
		}
		if (waited >= STOP_KILL_MS)
		{
			ereport(WARNING,
					(errmsg("device program with process ID %d does not end", (int) program->pid)));
			return;
		}
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 20,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}
