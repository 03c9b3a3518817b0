"""readers.py: sessions that check, in all kinds of snapshots that a statement can have."""
import random

import changes
import checks
import ground
from session import Lost, Session

SETTINGS = ("LOAD 'gpuagg'", 'SET lock_timeout = 1000', 'SET statement_timeout = 60000') + checks.SETTINGS
# Settings that change now and then; most of the time those of a new session hold.
USUAL = ('on', 0)
UNUSUAL = (('on', 2), ('auto', 2), ('auto', 2), ('auto', 0))
SLOTS = 24  # of prepared statements
# Of a snapshot that another session exports, which may just have ended.
GONE = ('22023', '42704', '58P01', '55000')


class Reader:
    """One reader, a thread."""

    def __init__(self, run, number, settings):
        self.run = run
        self.rng = random.Random(run.seed * 1000 + 500 + number)
        self.name = 'reader %d' % number
        self.session = Session(run, self.name, SETTINGS + settings)
        self.made = set()  # slots that have a statement
        self.usual = True

    def work(self):
        while self.run.on():
            try:
                self.session.connect()
                self.made.clear()
                self.usual = True
                while self.run.on():
                    self.change_settings()
                    way, = self.rng.choices([w for w, _ in WAYS], [n for _, n in WAYS])
                    way(self)
            except Lost:
                self.run.count('connections lost')
            with self.run.lock:
                self.run.snapshots.pop(self.name, None)
        self.session.close()

    def do(self, statement, event=None):
        return self.session.do(statement, event).done

    def change_settings(self):
        """Parallel workers are dear, so seldom."""
        if not self.usual or self.rng.random() < 0.02:
            self.usual = not self.usual
            self.do('SET gpuagg.resident = %s; SET max_parallel_workers_per_gather = %d' % (
                USUAL if self.usual else self.rng.choice(UNUSUAL)))

    def check(self, kind):
        """A statement that checks, mostly one that was prepared before."""
        rng = self.rng
        if rng.random() < 0.1:
            outcome = self.session.do(checks.statement(rng, ground.TABLES, rng.choice((1, 2, 4))))
        else:
            slot = rng.randrange(SLOTS)
            if slot in self.made and rng.random() < 0.03:
                self.do('DEALLOCATE p%d' % slot)
                self.made.remove(slot)
            if slot not in self.made:
                if not self.do('PREPARE p%d AS %s' % (slot, checks.statement(rng, ground.TABLES, rng.choice((1, 1, 2, 3))))):
                    return False
                self.made.add(slot)
            # what a session has found of a table's chunks it keeps from the second time on
            for _ in range(rng.choice((0, 0, 0, 3))):
                checks.judge(self.run, self.session, self.session.do('EXECUTE p%d' % slot), kind)
            outcome = self.session.do('EXECUTE p%d' % slot)
        checks.judge(self.run, self.session, outcome, kind)
        return outcome.done

    def statement(self):
        """READ COMMITTED, a statement for itself."""
        for _ in range(10):
            if self.run.wants_level2():
                table = self.rng.choice(ground.TABLES)
                changes.touch(self.session, self.rng, table)
                outcome = self.session.do(checks.statement(self.rng, (table,), 2))
                checks.judge(self.run, self.session, outcome, 'READ COMMITTED, after an own change')
            self.check('READ COMMITTED')

    def held(self):
        """One snapshot, long; at times without a lock on the tables between the checks."""
        isolation = self.rng.choice(('REPEATABLE READ',) * 8 + ('REPEATABLE READ, READ ONLY',) * 3 + ('SERIALIZABLE',))
        unlocked = self.rng.random() < 0.6
        if not self.do('BEGIN ISOLATION LEVEL %s' % isolation, 'snapshots held') or not self.do('SELECT 1'):
            return
        good = True
        for _ in range(self.rng.choice((5, 10, 20, 20, 200))):
            self.run.pause(self.rng.choice((0, 0, 0, 0.02, 0.1)))
            good = good and self.run.on()
            good = good and (not unlocked or self.do('SAVEPOINT s'))
            good = good and self.check(isolation) and (not unlocked or self.do('ROLLBACK TO s'))
        self.do('COMMIT' if good else 'ROLLBACK')

    def export(self):
        """A snapshot for others, held a while."""
        if not self.do('BEGIN ISOLATION LEVEL REPEATABLE READ'):
            return
        outcome = self.session.do('SELECT pg_export_snapshot()', 'snapshots exported')
        if outcome.done:
            with self.run.lock:
                self.run.snapshots[self.name] = outcome.rows[-1]
            for _ in range(self.rng.choice((3, 10, 30))):
                self.run.pause(self.rng.choice((0, 0.02, 0.1)))
                if not self.check('an exporting transaction'):
                    break
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
                for _ in range(self.rng.choice((1, 5, 10))):
                    if not self.check('an imported snapshot'):
                        break
            elif outcome.state not in GONE:
                self.run.fail('%s: SQLSTATE %s, %s' % (self.name, outcome.state, outcome.message))
        self.do('ROLLBACK')

    def late_cursor(self):
        """A check whose snapshot is that of a cursor opened before."""
        isolation = self.rng.choice(('READ COMMITTED', 'REPEATABLE READ'))
        good = (self.do('BEGIN ISOLATION LEVEL %s' % isolation) and
                self.do('DECLARE c CURSOR FOR ' + checks.statement(self.rng, ground.TABLES, 4), 'cursors'))
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
            wrong = sorted(rows['node']) != sorted(rows['core'])
            self.run.add({'checks': 1, 'wrong': int(wrong), 'with level 1': 0, 'with level 2': 0}, kind)
            if wrong:
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
        self.pair('PREPARE {name} AS {query}', 'EXECUTE {name}', 'prepared statements')
        self.do('DEALLOCATE ALL')
        self.made.clear()


WAYS = ((Reader.statement, 40), (Reader.held, 20), (Reader.export, 6), (Reader.imported, 20), (Reader.late_cursor, 10),
        (Reader.two_cursors, 2), (Reader.prepared, 1))
