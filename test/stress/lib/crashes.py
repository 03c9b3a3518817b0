"""crashes.py: kills of server processes, after which the server starts again; the server's log.

A killed device program is started again by its launcher, and a killed backend makes the server
start anew by itself; a killed server is started by pg_ctl, which must be in the PATH.  The program
must run as the server's user.
"""
import os
import random
import re
import signal
import subprocess
import time

from session import Lost, Session


# What no server may write into its log; that processes were killed by signal 9 is looked for apart.
BAD = re.compile(r'TRAP:|PANIC|was terminated by signal (?!9\b)')
KILLED = 'was terminated by signal 9'
# A leader of parallel workers that finds its server gone exits while it exits, which fails an assertion of PostgreSQL's own.
OF_ORPHANS = re.compile(r'failed Assert\("!IsTransactionOrTransactionBlock\(\)"\), File: "pgstat.c".* PID: (\d+)')


class ServerLog:
    """What the server writes into its log from now on, where that is a file that can be read."""

    def __init__(self, folder):
        self.path = os.readlink('/proc/%d/fd/2' % postmaster(folder))
        self.orphans = set()
        self.begin = os.path.getsize(self.path) if os.path.isfile(self.path) else 0

    def bad(self, kills):
        """Lines that must not be there; kills: whether processes were killed on purpose."""
        if not os.path.isfile(self.path):
            return []
        with open(self.path, errors='replace') as file:
            file.seek(self.begin)
            return [line.rstrip('\n') for line in file if self.is_bad(line, kills)]

    def is_bad(self, line, kills):
        orphan = OF_ORPHANS.search(line)
        if orphan and int(orphan.group(1)) in self.orphans:
            return False
        return BAD.search(line) or KILLED in line and not kills


def postmaster(folder):
    with open(os.path.join(folder, 'postmaster.pid')) as file:
        return int(file.readline())


def children(parent):
    """The processes that parent has started."""
    found = []
    for entry in os.listdir('/proc'):
        if entry.isdigit():
            try:
                with open('/proc/%s/stat' % entry) as file:
                    if int(file.read().rsplit(')', 1)[1].split()[1]) == parent:
                        found.append(int(entry))
            except OSError:
                pass
    return found


def device_programs(folder):
    """The device program, if there is one."""
    found = []
    for launcher in children(postmaster(folder)):
        for pid in children(launcher):
            try:
                if os.path.basename(os.readlink('/proc/%d/exe' % pid)).startswith('gpuaggd'):
                    found.append(pid)
            except OSError:
                pass
    return found


class Crashes:
    """A thread that crashes the server every few seconds."""

    def __init__(self, run, log):
        self.run = run
        self.rng = random.Random(run.seed * 1000 + 999)
        self.session = Session(run, 'crashes')
        self.folder = run.features['folder']
        self.log = log

    def work(self):
        while self.run.on():
            self.run.pause(self.rng.uniform(4, 14))
            # some time to check must be left
            if self.run.end - time.monotonic() < 5:
                break
            kind = self.rng.random()
            try:
                if kind < 0.25:
                    self.kill_device()
                elif kind < 0.7:
                    self.kill_backend()
                elif kind < 0.85:
                    self.restart()
                else:
                    self.kill_server()
                self.session.connect()
                self.session.close()
            except Lost as lost:
                self.run.fail('the server did not come back: %s' % lost)
                self.run.stopped.set()

    def note(self, what):
        self.run.count(what)
        with self.run.lock:
            self.run.history.append('%9.3f            crashes    %s' % (self.run.now(), what))

    def kill_backend(self):
        self.session.connect()
        outcome = self.session.ask("SELECT pid FROM pg_stat_activity WHERE application_name ~ '^(writer|reader)'")
        self.session.close()
        if outcome.rows:
            pid = int(self.rng.choice(outcome.rows))
            # a parallel worker has the name of its leader
            try:
                os.kill(pid, signal.SIGKILL)
                self.note('kills of a backend')
            except ProcessLookupError:
                pass

    def kill_device(self):
        """The device program, if there is one: the launcher starts another."""
        for pid in device_programs(self.folder):
            try:
                os.kill(pid, signal.SIGKILL)
                self.note('kills of the device program')
            except OSError:
                pass

    def restart(self):
        self.note('immediate restarts')
        subprocess.run(['pg_ctl', '-D', self.folder, '-m', 'immediate', '-w', '-s', 'stop'], check=False)
        self.start()

    def kill_server(self):
        server = postmaster(self.folder)
        # so that it starts no more
        os.kill(server, signal.SIGSTOP)
        left = children(server)
        self.log.orphans.update(left)
        self.note('kills of the server')
        os.kill(server, signal.SIGKILL)
        if self.rng.random() < 0.5:
            time.sleep(1)
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        self.start()

    def start(self):
        """Starts the server; what is left of the one before may need a moment to end."""
        for _ in range(60):
            done = subprocess.run(['pg_ctl', '-D', self.folder, '-l', self.log.path, '-w', '-t', '60', '-s', 'start'],
                                  stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            if done.returncode == 0:
                return
            time.sleep(0.5)
        raise Lost('pg_ctl start')
