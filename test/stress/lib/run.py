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
SHOWN = 10
# What share of the last so many checks writers see to (Run.wants_*).
RECENT = 4000
LEVEL1 = 0.60
LEVEL2 = 0.18


class Run:
    """The state of a run; safe to use from many threads."""

    def __init__(self, seconds, checks, seed, features):
        self.lock = threading.Lock()
        self.seconds = seconds
        self.checks = checks
        self.seed = seed
        self.features = features
        self.begin = time.monotonic()
        self.end = self.begin + seconds
        self.stopped = threading.Event()
        self.events = collections.Counter()
        self.totals = collections.Counter()
        self.recent = collections.Counter()
        self.kinds = collections.defaultdict(collections.Counter)
        self.history = collections.deque(maxlen=KEPT)
        self.numbers = 0
        self.running = {}
        self.failures = 0
        self.snapshots = {}
        self.prepared = {}

    def on(self):
        enough = self.checks and self.totals['checks'] >= self.checks
        return time.monotonic() < self.end and not enough and not self.stopped.is_set()

    def now(self):
        return time.monotonic() - self.begin

    def pause(self, seconds):
        self.stopped.wait(max(0, min(seconds, self.end - time.monotonic())))

    def add(self, totals, kind):
        """Counts checks of a kind."""
        with self.lock:
            self.totals.update(totals)
            self.recent.update({name: totals[name] for name in ('checks', 'with level 1', 'with level 2')})
            self.kinds[kind].update({name: totals[name] for name in ('checks', 'with level 1', 'with level 2')})
            if self.recent['checks'] > RECENT:
                for name in self.recent:
                    self.recent[name] /= 2

    def wants_level1(self):
        """Whether fewer checks than wanted use pages as they were confirmed: writers rest more then."""
        return self.recent['with level 1'] < LEVEL1 * self.recent['checks']

    def wants_level2(self):
        """Whether fewer than wanted use pages under a later LSN of the map: writers vacuum more then."""
        return self.recent['with level 2'] < LEVEL2 * self.recent['checks']

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
