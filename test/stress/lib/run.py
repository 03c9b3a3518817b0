"""run.py: what all sessions of a run share: counts, the history of statements, what went wrong."""
import collections
import threading
import time

# Ways in which statements may fail because others work on the same tables: lock and statement
# timeouts, deadlocks, serialisation, unique and foreign keys, objects dropped or in use,
# transactions that have failed before, types that no longer fit.
EXPECTED = {'55P03', '57014', '40P01', '40001', '23505', '23503', '42P01', '42703', '42704', '42701', '42P07', '55006', '25P02',
            '22003', '22001', '55000', '0A000', '42809'}
KEPT = 120
# Seconds of a period of writing and resting.
PERIOD = 4
SHOWN = 10


class Run:
    """The state of a run; safe to use from many threads."""

    def __init__(self, seconds, seed, rest, features):
        self.lock = threading.Lock()
        self.seconds = seconds
        self.seed = seed
        self.features = features
        self.rest = rest
        self.begin = time.monotonic()
        self.end = self.begin + seconds
        self.stopped = threading.Event()
        self.events = collections.Counter()
        self.totals = collections.Counter()
        self.history = collections.deque(maxlen=KEPT)
        self.numbers = 0
        self.running = {}
        self.failures = 0
        self.snapshots = {}
        self.prepared = {}

    def on(self):
        return time.monotonic() < self.end and not self.stopped.is_set()

    def now(self):
        return time.monotonic() - self.begin

    def pause(self, seconds):
        self.stopped.wait(max(0, min(seconds, self.end - time.monotonic())))

    def wait_until_busy(self):
        """Writers rest for the last part of each period, so that pages stay as they were confirmed."""
        into = self.now() % PERIOD
        if into > PERIOD * (1 - self.rest):
            self.pause(PERIOD - into)

    def count(self, event, times=1):
        with self.lock:
            self.events[event] += times

    def begun(self, name, statement):
        with self.lock:
            self.numbers += 1
            self.running[name] = (self.now(), statement)
            return self.numbers

    def ended(self, number, name, statement, outcome):
        """Puts a statement into the history; one that failed in no expected way is a failure."""
        with self.lock:
            begin, _ = self.running.pop(name, (0, ''))
            self.history.append('%9.3f..%9.3f %-10s %s %s%s' % (begin, self.now(), name, outcome.state, statement[:300],
                                                               '' if outcome.done else '  -- ' + outcome.message))
            if not outcome.done:
                self.events['errors ' + outcome.state] += 1
        if not outcome.done and outcome.state not in EXPECTED:
            self.fail('%s: SQLSTATE %s, %s: %s' % (name, outcome.state, outcome.message, statement[:1000]))

    def fail(self, what):
        """Something is wrong: prints it with all that happened before."""
        with self.lock:
            self.failures += 1
            if self.failures > SHOWN:
                return
            print('FAILED at %.3f s, seed %d: %s' % (self.now(), self.seed, what))
            print('  statements before, and running then:')
            for line in self.history:
                print('    ' + line)
            for name, (begin, statement) in self.running.items():
                print('    %9.3f..          %-10s       %s' % (begin, name, statement[:300]))
            print(end='', flush=True)
