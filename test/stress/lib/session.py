"""session.py: a psql process that runs one statement after the other.

The connection is that of the environment.  A lost connection raises Lost; connect() waits until
the server takes connections again.
"""
import subprocess
import time

MARK = '@done'
# The longest that a server may take to come back after a crash, seconds.
PATIENCE = 180


class Lost(Exception):
    """The server ended the connection, or cannot be reached."""


class Outcome:
    """Lines that a statement printed, the SQLSTATE and the message that it ended with."""

    def __init__(self, rows, state, message):
        self.rows = rows
        self.state = state
        self.message = message
        self.done = state == '00000'


class Session:
    """One session; settings are statements for each new connection."""

    def __init__(self, run, name, settings=()):
        self.run = run
        self.name = name
        self.settings = settings
        self.process = None
        self.pid = None

    def connect(self):
        """A new connection, as soon as there can be one."""
        give_up = time.monotonic() + PATIENCE
        while True:
            try:
                self.open()
                return
            except Lost:
                if time.monotonic() > give_up:
                    raise
                time.sleep(0.2)

    def open(self):
        self.close()
        self.process = subprocess.Popen(['psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=0'], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors='replace')
        first = self.ask("SET client_min_messages = error; SET application_name = '%s'; SELECT pg_backend_pid()" % self.name)
        if not first.done:
            raise Lost(first.message)
        self.pid = int(first.rows[-1])
        for statement in self.settings:
            outcome = self.ask(statement)
            if not outcome.done:
                raise Lost('%s: %s' % (statement, outcome.message))

    def close(self):
        if self.process is None:
            return
        for stream in (self.process.stdin, self.process.stdout):
            try:
                stream.close()
            except OSError:
                pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def ask(self, statement):
        """Runs a statement, or several on one line; the outcome is that of the last."""
        if self.process is None:
            raise Lost('not connected')
        rows = []
        try:
            self.process.stdin.write('%s;\n\\echo %s :SQLSTATE :LAST_ERROR_MESSAGE\n' % (statement, MARK))
            self.process.stdin.flush()
            for line in self.process.stdout:
                if line.startswith(MARK + ' '):
                    _, state, message = line.rstrip('\n').split(' ', 2)
                    return Outcome(rows, state, message if state != '00000' else '')
                rows.append(line.rstrip('\n'))
        except (OSError, ValueError):
            pass
        self.process.kill()
        raise Lost('%s: connection lost' % self.name)

    def do(self, statement, event=None):
        """Runs a statement, with a line in the history; counts event when it succeeds."""
        number = self.run.begun(self.name, statement)
        outcome = self.ask(statement)
        self.run.ended(number, self.name, statement, outcome)
        if outcome.done and event:
            self.run.count(event)
        return outcome
