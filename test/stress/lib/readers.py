"""readers.py: sessions that check, in all kinds of snapshots that a statement can have."""
import random

import checks
import ground
from session import Lost, Session

SETTINGS = ("LOAD 'gpuagg'", 'SET lock_timeout = 10000', 'SET statement_timeout = 120000', 'SET gpuagg.min_table_pages = 0',
            'SET enable_sort = off', 'SET parallel_setup_cost = 0', 'SET parallel_tuple_cost = 0', 'SET min_parallel_table_scan_size = 0')
# Of a snapshot that another session exports, which may just have ended.
GONE = ('22023', '42704', '58P01', '55000')


class Reader:
    """One reader, a thread."""

    def __init__(self, run, number, settings):
        self.run = run
        self.rng = random.Random(run.seed * 1000 + 500 + number)
        self.name = 'reader %d' % number
        resident = ('SET gpuagg.resident = on',) if run.features['resident'] else ()
        self.session = Session(run, self.name, SETTINGS + resident + settings)

    def work(self):
        while self.run.on():
            try:
                self.session.connect()
                while self.run.on():
                    way, = self.rng.choices([w for w, _ in WAYS], [n for _, n in WAYS])
                    way(self)
            except Lost:
                self.run.count('connections lost')
            with self.run.lock:
                self.run.snapshots.pop(self.name, None)
        self.session.close()

    def do(self, statement, event=None):
        return self.session.do(statement, event).done

    def check(self, kind, count=20, tables=ground.TABLES):
        outcome = self.session.do('SELECT ' + checks.call(self.rng, tables, count))
        checks.judge(self.run, self.session, outcome, kind)
        return outcome.done

    def statement(self):
        """READ COMMITTED, a statement for itself."""
        self.check('READ COMMITTED', self.rng.choice((1, 5, 20)))

    def held(self):
        """One snapshot, long; at times without a lock on the tables between the checks."""
        isolation = self.rng.choice(('REPEATABLE READ', 'REPEATABLE READ', 'REPEATABLE READ, READ ONLY', 'SERIALIZABLE'))
        unlocked = self.rng.random() < 0.6
        if not self.do('BEGIN ISOLATION LEVEL %s' % isolation, 'snapshots held') or not self.do('SELECT 1'):
            return
        good = True
        for _ in range(self.rng.choice((2, 5, 10))):
            self.run.pause(self.rng.choice((0, 0, 0.05, 0.2)))
            good = good and (not unlocked or self.do('SAVEPOINT s'))
            good = good and self.check(isolation, 10) and (not unlocked or self.do('ROLLBACK TO s'))
        self.do('COMMIT' if good else 'ROLLBACK')

    def export(self):
        """A snapshot for others, held a while."""
        if not self.do('BEGIN ISOLATION LEVEL REPEATABLE READ'):
            return
        outcome = self.session.do('SELECT pg_export_snapshot()', 'snapshots exported')
        if outcome.done:
            with self.run.lock:
                self.run.snapshots[self.name] = outcome.rows[-1]
            for _ in range(self.rng.choice((1, 3))):
                self.run.pause(self.rng.choice((0.05, 0.3)))
                self.check('an exporting transaction', 3)
            with self.run.lock:
                self.run.snapshots.pop(self.name, None)
        self.do('ROLLBACK')

    def imported(self):
        """Another session's snapshot."""
        with self.run.lock:
            listed = [s for name, s in self.run.snapshots.items() if name != self.name]
        if not listed:
            self.statement()
            return
        if self.do('BEGIN ISOLATION LEVEL REPEATABLE READ'):
            outcome = self.session.ask("SET TRANSACTION SNAPSHOT '%s'" % self.rng.choice(listed))
            if outcome.done:
                self.run.count('snapshots imported')
                self.check('an imported snapshot', 10)
            elif outcome.state not in GONE:
                self.run.fail('%s: SQLSTATE %s, %s' % (self.name, outcome.state, outcome.message))
        self.do('ROLLBACK')

    def late_cursor(self):
        """A check whose snapshot is that of a cursor opened before."""
        isolation = self.rng.choice(('READ COMMITTED', 'REPEATABLE READ'))
        good = (self.do('BEGIN ISOLATION LEVEL %s' % isolation) and
                self.do('DECLARE c CURSOR FOR SELECT ' + checks.call(self.rng, ground.TABLES, 10), 'cursors'))
        if good:
            self.run.pause(self.rng.choice((0.02, 0.1, 0.5)))
            outcome = self.session.do('FETCH ALL FROM c')
            checks.judge(self.run, self.session, outcome, 'a cursor fetched late')
        self.do('ROLLBACK')

    def pair(self, begin, end, kind):
        """The same query by the node and by core, each begun by begin, its rows had from end; late and in pieces."""
        good = self.do('BEGIN ISOLATION LEVEL REPEATABLE READ') and self.do('SELECT 1')
        text = checks.query(self.rng, self.rng.choice(ground.TABLES))
        names = ('node', 'core')
        for name in names:
            good = good and self.way(name) and self.do(begin.format(name=name, query=text))
        rows = {}
        while good and len(rows) < 2:
            name = self.rng.choice([n for n in names if n not in rows])
            self.run.pause(self.rng.choice((0, 0.05, 0.3)))
            good = self.way(name)
            rows[name] = []
            while good:
                outcome = self.session.do(end.format(name=name))
                good = outcome.done
                rows[name] += outcome.rows
                if not outcome.rows or not end.startswith('FETCH'):
                    break
        self.do('ROLLBACK')
        if good:
            self.run.count('checks: ' + kind)
            with self.run.lock:
                self.run.totals['checks'] += 1
            if sorted(rows['node']) != sorted(rows['core']):
                with self.run.lock:
                    self.run.totals['wrong'] += 1
                self.run.fail('%s of %s: %s\n  by the node: %s\n  by core: %s' % (kind, self.name, text, rows['node'], rows['core']))

    def way(self, name):
        node = name == 'node'
        return self.do("SET LOCAL gpuagg.enable_agg_scan = %s; SET LOCAL gpuagg.core_aggregates = '%s'; "
                       "SET LOCAL max_parallel_workers_per_gather = %d" % (
                           ('on', 'all', self.rng.choice((0, 0, 2))) if node else ('off', 'off', 0)))

    def two_cursors(self):
        self.pair('DECLARE {name} CURSOR FOR {query}', 'FETCH 2 FROM {name}', 'two cursors fetched late')

    def prepared(self):
        """Plans that were made before, and are made again when the table has changed."""
        self.do('DEALLOCATE ALL')
        self.do('SET plan_cache_mode = force_generic_plan')
        self.pair('PREPARE {name} AS {query}', 'EXECUTE {name}', 'prepared statements')


WAYS = ((Reader.statement, 40), (Reader.held, 20), (Reader.export, 6), (Reader.imported, 20), (Reader.late_cursor, 8),
        (Reader.two_cursors, 3), (Reader.prepared, 3))
