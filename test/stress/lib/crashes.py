"""crashes.py: kills of server processes, after which the server starts again.

A killed backend makes the server start anew by itself; a killed server is started by pg_ctl,
which must be in the PATH.  The program must run as the server's user.
"""
import os
import random
import signal
import subprocess
import time

from session import Lost, Session


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


class Crashes:
    """A thread that crashes the server every few seconds."""

    def __init__(self, run):
        self.run = run
        self.rng = random.Random(run.seed * 1000 + 999)
        self.session = Session(run, 'crashes')
        self.folder = run.features['folder']
        self.log = os.readlink('/proc/%d/fd/2' % self.postmaster())

    def postmaster(self):
        with open(os.path.join(self.folder, 'postmaster.pid')) as file:
            return int(file.readline())

    def work(self):
        while self.run.on():
            self.run.pause(self.rng.uniform(4, 14))
            # some time to check must be left
            if self.run.end - time.monotonic() < 5:
                break
            kind = self.rng.random()
            try:
                if kind < 0.7:
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
            self.note('kills of a backend')
            os.kill(pid, signal.SIGKILL)

    def restart(self):
        self.note('immediate restarts')
        subprocess.run(['pg_ctl', '-D', self.folder, '-m', 'immediate', '-w', '-s', 'stop'], check=False)
        self.start()

    def kill_server(self):
        postmaster = self.postmaster()
        left = children(postmaster)
        self.note('kills of the server')
        os.kill(postmaster, signal.SIGKILL)
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
            done = subprocess.run(['pg_ctl', '-D', self.folder, '-l', self.log, '-w', '-t', '60', '-s', 'start'],
                                  stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            if done.returncode == 0:
                return
            time.sleep(0.5)
        raise Lost('pg_ctl start')
