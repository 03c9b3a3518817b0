#!/usr/bin/env python3
"""faults.py: many sessions over columns on the device, which is killed, stopped and starved meanwhile.

Three parts, each of which asks for the same queries, whose answers core gave first:
    faults  sessions repeat them while the device program is killed or stopped, columns are evicted,
            and the device's and the staging memory are made too small: every answer is right.
    calm    after that all columns come back: each query is the device's, without a fallback.
    leaks   queries and evictions in turn: what the device program holds (memory of its own, descriptors,
            memory of the card) and a session's memory do not grow.
No result depends on timing; a slow machine asks less often.  It runs in a cluster of its own, as the
server's user, with gpuagg in shared_preload_libraries, and with an allocator that gives back what is free (by default
glibc's may keep tens of MB, now more, now less):
    MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072 test/cluster start DIR NAME
    test/cluster run DIR NAME python3 DIR/test/stress/faults.py --sessions 100 --seconds 60 --queries 10000
"""
import argparse
import collections
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from crashes import ServerLog, device_programs  # noqa: E402
from run import Run  # noqa: E402
from session import Lost, Session  # noqa: E402

TABLE = """
    CREATE TABLE faults AS SELECT i::int AS id, (i * 7919 %% 1000)::int AS g, (i * 104729 %% 50000)::int AS k, hashint8(i)::bigint * 1000 AS b,
    (i %% 4096) * 0.5::float8 AS x, ((i * 31) %% 100000 / 100.0)::numeric(15,2) AS n, date '2020-01-01' + (i %% 1500)::int AS d,
    'v' || i %% 40 AS v FROM generate_series(1::bigint, %d) i"""
# '@': of gpuagg's aggregates and windows, or core's.  All results are exact, whatever the order.
QUERIES = [
    'SELECT @sum(b), @sum(x), @avg(n) FROM faults',
    "SELECT @count(*), @min(b), @max(n), @sum(n) FROM faults WHERE d >= '2021-01-01' AND x < 1000",
    'SELECT @stddev(b), @variance(n) FROM faults WHERE v <> \'v7\'',
    'SELECT @count(*), @max(s), @sum(c) FROM (SELECT g, @sum(b) AS s, @count(*) AS c FROM faults GROUP BY g) q',
    'SELECT @count(*), @max(s), @min(m) FROM (SELECT k, @sum(x) AS s, @min(b) AS m FROM faults GROUP BY k) q',
    'SELECT @count(*), @max(s) FROM (SELECT v, @sum(n) AS s FROM faults GROUP BY v) q',
    'SELECT @count(*), @max(r) FROM (SELECT @sum(b) OVER (PARTITION BY g ORDER BY id ROWS UNBOUNDED PRECEDING) AS r FROM faults) q',
    'SELECT @count(*) FROM (SELECT @sum(n) OVER (PARTITION BY k ORDER BY id) AS r FROM faults) q WHERE r < 500',
    'SELECT @count(*), @max(r), @min(s) FROM (SELECT @sum(b) OVER (PARTITION BY g ORDER BY id ROWS UNBOUNDED PRECEDING) AS r, '
    '@sum(n) OVER (PARTITION BY k ORDER BY id) AS s FROM faults) q',
]
SETTINGS = ("LOAD 'gpuagg'", 'SET gpuagg.resident = on', 'SET gpuagg.device = auto', 'SET gpuagg.device_min_rows = 0',
            'SET gpuagg.min_table_pages = 0', 'SET max_parallel_workers_per_gather = 0', "SET gpuagg.device_timeout = '2s'")
LAST = 'SELECT device_batches, fallbacks FROM gpuagg_last_query()'
SMALL = (('gpuagg.device_memory', '1MB'), ('gpuagg.total_staging_memory', '32MB'))
BACK = 120  # seconds in which columns are on the device again
SETTLED = 30  # seconds in which what is being given back has been
EVICTED = 20  # queries of a session before it evicts, when looking for leaks
# What may come and go without being a leak: allocators keep some.
ROOM = {'descriptors': 2, 'memory of its own, kB': 16384, 'memory of the card, MB': 64, 'sessions\' memory, kB': 16384,
        'sessions\' contexts, kB': 1024}
SEGMENTS = 2  # of staging memory that a session may have at once, and that then wait for the next one
CONTEXTS = 'SELECT sum(total_bytes) / 1024 FROM pg_backend_memory_contexts'


def ours(query):
    return query.replace('@sum(b) OVER', 'gpu_running_sum(b) OVER').replace('@sum(n) OVER', 'gpu_running_sum(n) OVER').replace('@', 'gpu_')


class Faults:
    def __init__(self, arguments, seed):
        self.arguments = arguments
        self.run = Run(arguments.seconds, 0, seed, {})
        self.answers = {}
        self.counts = collections.Counter()
        self.owner = Session(self.run, 'owner', SETTINGS)

    def ask(self, session, statement):
        outcome = session.ask(statement)
        if not outcome.done:
            self.run.fail('%s: %s: %s' % (session.name, statement, outcome.message))
        return outcome.rows

    def check(self, session, query):
        """Asks for one answer; how it came about."""
        rows = self.ask(session, ours(query))
        with self.run.lock:
            self.counts['checks'] += 1
        if rows != [self.answers[query]]:
            with self.run.lock:
                self.counts['wrong'] += 1
            self.run.fail('%s gave %s, core %s' % (ours(query), rows, self.answers[query]))
        batches, fallbacks = (int(number) for number in self.ask(session, LAST)[0].split('|'))
        by_device = batches > 0 and fallbacks == 0
        with self.run.lock:
            self.counts['by the device'] += by_device
            self.counts['fallbacks'] += fallbacks
        return by_device

    def make(self):
        self.owner.open()
        for statement in ('DROP TABLE IF EXISTS faults', 'CREATE EXTENSION IF NOT EXISTS gpuagg', TABLE % self.arguments.rows,
                          'CHECKPOINT', 'VACUUM (FREEZE, ANALYZE) faults'):
            self.ask(self.owner, statement)
        for query in QUERIES:
            self.answers[query] = self.ask(self.owner, query.replace('@', ''))[0]
        self.fill()

    def fill(self):
        return self.ask(self.owner, "SELECT * FROM gpuagg_prefetch('faults')")

    # ---- faults ----

    def session(self, number):
        """A session that asks until the time is up, and now and then comes anew."""
        rng = random.Random(self.run.seed * 1000 + number)
        session = Session(self.run, 'session %d' % number, SETTINGS)
        session.connect()
        while self.run.on():
            self.check(session, rng.choice(QUERIES))
            if rng.random() < 0.02:
                session.connect()
        session.close()

    def programs(self, number, seconds=0):
        """Sends a signal to the device program, and goes on with it after a while if that stops it."""
        pids = device_programs(self.folder)
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass
        if seconds:
            time.sleep(seconds)
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGCONT)
                except ProcessLookupError:
                    pass
        return len(pids)

    def starve(self, session, rng):
        name, value = rng.choice(SMALL)
        self.ask(session, "ALTER SYSTEM SET %s = '%s'" % (name, value))
        self.ask(session, 'SELECT pg_reload_conf()')
        self.run.pause(rng.uniform(0.5, 3))
        self.restore(session)

    def restore(self, session):
        for name, _ in SMALL:
            self.ask(session, 'ALTER SYSTEM RESET %s' % name)
        self.ask(session, 'SELECT pg_reload_conf()')

    def trouble(self, told):
        """Makes trouble until the time is up, in a process of its own, as threads wait for each other."""
        rng = random.Random(self.run.seed * 1000 + 999)
        session = Session(self.run, 'trouble', SETTINGS)
        session.connect()
        while self.run.on():
            self.run.pause(rng.uniform(0.2, 2))
            kind = rng.randrange(5)
            if kind == 0:
                self.run.count('kills', self.programs(signal.SIGKILL))
            elif kind == 1:
                self.run.count('stops', self.programs(signal.SIGSTOP, rng.choice((0.1, 1, 4))))
            elif kind == 2:
                self.ask(session, "SELECT gpuagg_evict('faults')")
                self.run.count('evictions')
            elif kind == 3:
                self.starve(session, rng)
                self.run.count('times with little memory')
            else:
                self.ask(session, "SELECT * FROM gpuagg_prefetch('faults')")
                self.run.count('prefetches')
        self.restore(session)
        session.close()
        told.put((dict(self.run.events), self.run.failures))

    def work(self, actors):
        threads = [threading.Thread(target=self.guarded, args=actor, daemon=True) for actor in actors]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(1, self.run.end + BACK - time.monotonic()))
            if thread.is_alive():
                self.run.fail('a session does not end')

    def guarded(self, actor, *args):
        try:
            actor(*args)
        except Lost as lost:
            self.run.fail(str(lost))

    def faults(self):
        self.run.begin = time.monotonic()
        self.run.end = self.run.begin + self.arguments.seconds
        forks = multiprocessing.get_context('fork')
        told = forks.Queue()
        trouble = forks.Process(target=self.trouble, args=(told,))
        trouble.start()
        self.work([(self.session, n) for n in range(self.arguments.sessions)])
        events, failures = told.get(timeout=BACK)
        trouble.join()
        self.run.events.update(events)
        self.run.failures += failures
        self.report('faults')

    # ---- calm ----

    def calm(self):
        """Whether each query is the device's again."""
        give_up = time.monotonic() + BACK
        left = list(QUERIES)
        while left and time.monotonic() < give_up:
            self.fill()
            left = [query for query in left if not self.check(self.owner, query)]
            time.sleep(0.2)
        for query in left:
            self.run.fail('not by the device: ' + ours(query) + '; ' + self.ask(self.owner, 'SELECT gpuagg_last_query()')[0])
        self.report('calm')

    # ---- leaks ----

    def repeat(self, session, count, number):
        rng = random.Random(self.run.seed * 1000 + number)
        for i in range(count):
            self.check(session, rng.choice(QUERIES))
            if i % EVICTED == number % EVICTED:
                self.ask(session, "SELECT gpuagg_evict('faults')")
                self.run.count('evictions')

    def held(self, sessions):
        """What processes hold, when it has become no less for some time."""
        give_up = time.monotonic() + SETTLED
        least = self.look(sessions)
        while time.monotonic() < give_up:
            time.sleep(0.5)
            now = self.look(sessions)
            least = {what: min(number, least[what]) for what, number in now.items()}
            if all(now[what] <= least[what] for what in now):
                break
        return least

    def look(self, sessions):
        pids = device_programs(self.folder)
        if len(pids) != 1:
            self.run.fail('%d device programs' % len(pids))
            return {}
        staging, others = descriptors(pids[0])
        numbers = {'descriptors': others, 'staging segments': staging, 'memory of its own, kB': own_memory(pids[0]),
                   'sessions\' memory, kB': sum(own_memory(session.pid) for session in sessions),
                   'sessions\' contexts, kB': sum(float(self.ask(session, CONTEXTS)[0]) for session in sessions)}
        card = card_memory()
        if card is not None:
            numbers['memory of the card, MB'] = card
        return numbers

    def leaks(self):
        sessions = [Session(self.run, 'session %d' % n, SETTINGS) for n in range(self.arguments.clients)]
        for session in sessions:
            session.connect()
        of_each = self.arguments.queries // len(sessions)
        room = {**ROOM, 'staging segments': SEGMENTS * len(sessions)}
        before = None
        # the first tenth is what all of it may hold; all columns are there at both times
        for part in (of_each // 10, of_each - of_each // 10):
            self.run.end = time.monotonic() + 3600
            self.work([(self.repeat, session, part, n) for n, session in enumerate(sessions)])
            self.fill()
            now = self.held(sessions)
            if before is not None:
                for what, number in now.items():
                    print('%s: %d, then %d' % (what, before[what], number))
                    if number > before[what] + room[what]:
                        self.run.fail('%s grew from %d to %d' % (what, before[what], number))
            before = now
        for session in sessions:
            session.close()
        self.report('leaks')

    # ---- all ----

    def report(self, part):
        print('%s: %s; %s' % (part, ', '.join('%d %s' % (times, what) for what, times in sorted(self.counts.items())),
                              ', '.join('%d %s' % (times, event) for event, times in sorted(self.run.events.items()))), flush=True)
        if self.counts['checks'] == 0:
            self.run.fail('nothing was asked')
        self.counts.clear()
        self.run.events.clear()

    def all(self):
        self.make()
        self.folder = self.ask(self.owner, 'SHOW data_directory')[0]
        log = ServerLog(self.folder)
        self.calm()
        self.faults()
        self.calm()
        if self.arguments.queries:
            self.leaks()
            self.calm()
        for line in log.bad(True):
            self.run.fail('the server log has: ' + line)
        self.owner.close()
        return self.run.failures


def descriptors(pid):
    """Those of staging segments, and all others."""
    folder = '/proc/%d/fd' % pid
    staging = others = 0
    for number in os.listdir(folder):
        try:
            is_staging = 'gpuagg-staging' in os.readlink(os.path.join(folder, number))
        except FileNotFoundError:
            continue
        staging += is_staging
        others += not is_staging
    return staging, others


def own_memory(pid):
    with open('/proc/%d/status' % pid) as file:
        return next(int(line.split()[1]) for line in file if line.startswith('RssAnon:'))


def card_memory():
    """Of all cards; None: there is none."""
    try:
        told = subprocess.run(['nvidia-smi', '--query-gpu=memory.used', '--format=csv,noheader,nounits'], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return sum(int(line) for line in told.stdout.split())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--sessions', type=int, default=100, help='at once, while there are faults')
    parser.add_argument('--seconds', type=int, default=60, help='of faults')
    parser.add_argument('--queries', type=int, default=10000, help='when looking for leaks; 0: no look')
    parser.add_argument('--clients', type=int, default=8, help='that ask for them')
    parser.add_argument('--rows', type=int, default=1000000)
    parser.add_argument('--seed', type=int, default=None, help='default: that of the clock')
    arguments = parser.parse_args()
    seed = int(time.time()) if arguments.seed is None else arguments.seed
    print('seed %d' % seed, flush=True)
    failed = Faults(arguments, seed).all()
    print('%d passed, %d failed' % (not failed, failed))
    sys.stdout.flush()
    os._exit(1 if failed else 0)


if __name__ == '__main__':
    main()
