#!/usr/bin/env python3
"""rules.py: each clause of the rules for columns in memory is needed.

The library is the test build gpuagg_test_rules, in which gpuagg.broken_rule leaves out or swaps a
clause.  For each clause there is a sequence of statements that gives core's result, and another
one with the clause broken.  Sessions wait at points of the program (gpuagg.pause_at) for a lock
that another session holds, so that nothing depends on times.

    rules.py WAL_LEVEL     of the cluster: replica or minimal

Clauses that no sequence can show, as another one or the server does their work too:
- Permanent tables only: pages of others have LSN 0, and such pages are never kept.
- A file of this transaction, wal_level: `logged` leaves out both, as each alone is enough.
- A catalog: `catalog` also leaves out that purging takes those for gone that are changed in place.
- MVCC snapshots only: executors have no others.
- Not SERIALIZABLE: a writer would have to wait within core's code, between looking for predicate
  locks and clearing the page's bit.  Before and after that the one finds the other: the relation's
  predicate lock is taken before the map is looked at.
- Not during recovery: what becomes all-visible there cancels older snapshots first.
- old_snapshot_threshold (15, 16): the server needs a minute before vacuum removes what a snapshot sees;
  with 0, for tests, vacuum never does.
- Level 2, the page's bit: any change of rows gives the heap page a new LSN.
- Filling, the page's bit and the image before the page: while
  the reader's snapshot is there, a page can only become all-visible with the rows that this
  snapshot sees, so that any image of that time says the same; and a bit that is not set in
  an image cannot become set under its LSN.
"""
import os
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'stress', 'lib'))

from session import Session  # noqa: E402

LOCK = 7215          # RULES_LOCK
PATIENCE = 300       # seconds after which a test that hangs has failed
SETTINGS = ("LOAD '$libdir/gpuagg_test_rules'", 'SET gpuagg.resident = on', 'SET gpuagg.min_table_pages = 0',
            'SET gpuagg.device = cpu', 'SET max_parallel_workers_per_gather = 0')

GROUND = """
DROP TABLE IF EXISTS kept;
CREATE TABLE kept (i int, x int8, y int8, pad text) WITH (autovacuum_enabled = off);
ALTER TABLE kept ALTER pad SET STORAGE PLAIN;
INSERT INTO kept SELECT i, i, 10 ^ i, repeat('x', 3500) FROM generate_series(0, 7) i;
"""
VACUUM = 'VACUUM (TRUNCATE off) kept'
DELETE = 'DELETE FROM kept WHERE i = 3'
SUM = 'y) FROM kept'


class Case:
    """One run of a sequence, with a clause broken or with none."""

    def __init__(self, rule):
        self.rule = rule
        self.sessions = []
        self.writer = self.session(False)
        for statement in GROUND.strip().split('\n'):
            self.write(statement)
        self.write(VACUUM)

    def session(self, may_break=True):
        session = Session(None, 'rules', SETTINGS)
        session.open()
        self.sessions.append(session)
        if may_break and self.rule:
            self.do(session, "SET gpuagg.broken_rule = '%s'" % self.rule)
        return session

    @staticmethod
    def do(session, statement):
        outcome = session.ask(statement)
        if not outcome.done:
            raise AssertionError('%s: %s' % (statement, outcome.message))
        return outcome.rows

    def write(self, statement):
        return self.do(self.writer, statement)

    def use(self, session, what=SUM):
        return self.do(session, 'SELECT gpu_sum(' + what)

    def right(self, session, what=SUM):
        """Whether a use gives core's result."""
        return self.use(session, what) == self.do(session, 'SELECT sum(' + what.replace('gpu_', ''))

    def use_paused(self, session, point, meanwhile):
        """A use, during which a session of its own runs statements while the use waits at the point."""
        holder = self.session(False)
        self.do(holder, 'SELECT pg_advisory_lock(%d)' % LOCK)
        self.do(session, "SET gpuagg.pause_at = '%s'" % point)
        thread = threading.Thread(target=self.use, args=(session,))
        thread.start()
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = %d AND NOT granted" % LOCK
        give_up = time.monotonic() + PATIENCE
        while self.do(holder, waiting) != ['1']:
            if not thread.is_alive() or time.monotonic() > give_up:
                raise AssertionError('the session does not wait at ' + point)
            time.sleep(0.01)
        for statement in meanwhile:
            self.do(holder, statement)
        self.do(holder, 'SELECT pg_advisory_unlock(%d)' % LOCK)
        thread.join()
        self.do(session, 'RESET gpuagg.pause_at')

    def close(self):
        for session in self.sessions:
            session.close()


def snapshot_first(case):
    """The image is of the statement before: its bits are about rows deleted since."""
    reader = case.session()
    case.use(reader)
    case.write(DELETE)
    return case.right(reader)


def map_lsn(case):
    """The bit is set again, under another LSN."""
    reader = case.session()
    case.use(reader)
    case.write(DELETE)
    case.write(VACUUM)
    return case.right(reader)


def map_bit(case):
    """The LSN is the same: clearing a bit does not change it."""
    reader = case.session()
    case.use(reader)
    case.write(DELETE)
    return case.right(reader)


def by_page(case):
    """One page of the chunk is not all-visible."""
    return map_bit(case)


def page_lsn(case):
    """The bit is set again, and the page has other rows."""
    return map_lsn(case)


def same_page(case):
    """One column is from before a change, the other from after it."""
    reader = case.session()
    case.use(reader, 'y) FROM kept')
    case.write('DELETE FROM kept WHERE i = 2')
    case.write(VACUUM)
    case.use(reader, 'x) FROM kept')
    return case.right(reader, 'x), gpu_sum(y) FROM kept')


def filled_beside_insert(case, point):
    """A row comes into a page while the page goes into memory, and no later change of that page."""
    case.write(DELETE)
    case.write(VACUUM)
    filler = case.session()
    case.use_paused(filler, point, ("INSERT INTO kept VALUES (3, 3, 42, repeat('y', 3500))",))
    if case.write('SELECT ctid FROM kept WHERE i = 3') != ['(1,2)']:
        raise AssertionError('the row has not come into the page')
    case.write(VACUUM)
    return case.right(case.session())


def confirm_lsn(case):
    """
    A page was confirmed under an LSN of the map under which its bit is not set: by itself that
    does no harm, as level 1 looks at the bit.
    """
    reader = case.session()
    case.use(reader)
    # another LSN; then two pages that vacuum can set while the reader's snapshot is there
    case.write('DELETE FROM kept WHERE i = 7')
    case.write(VACUUM)
    case.write('BEGIN')
    case.write('UPDATE kept SET y = 0 WHERE i = 4')
    case.write('ROLLBACK')
    case.use_paused(reader, 'after_buffers', (DELETE, VACUUM))
    return case.right(case.session())


def fill_flag(case):
    """The page is no longer all-visible when it is read, after the image."""
    return filled_beside_insert(case, 'after_image')


def fill_lsn(case):
    """The LSN is a later one than that of the rows."""
    return filled_beside_insert(case, 'after_page')


def catalog(case):
    """Vacuum changes rows of pg_class in place; their page stays all-visible."""
    reader = case.session()
    case.write('CREATE TABLE counted AS SELECT 1 AS i FROM generate_series(1, 1000)')
    case.write('VACUUM (FREEZE) pg_class')
    case.use(reader, 'relpages) FROM pg_class')
    case.write('VACUUM counted')
    right = case.right(reader, 'relpages) FROM pg_class')
    case.write('DROP TABLE counted')
    return right


def logged(case):
    """The file is new, so its changes are not logged: the page keeps its LSN."""
    case.write(DELETE)
    case.write(VACUUM)
    reader = case.session()
    case.write('SET allow_in_place_tablespaces = on')
    case.write("CREATE TABLESPACE other LOCATION ''")
    # the file is written out at the commit, not logged then, which would change pages' LSNs
    case.do(reader, 'SET wal_skip_threshold = 0')
    case.do(reader, 'BEGIN')
    case.do(reader, 'ALTER TABLE kept SET TABLESPACE other')
    case.use(reader)
    case.do(reader, "INSERT INTO kept VALUES (3, 3, 42, repeat('y', 3500))")
    case.do(reader, 'COMMIT')
    case.write(VACUUM)
    right = case.right(reader)
    case.write('DROP TABLE kept')
    case.write('DROP TABLESPACE other')
    return right


def area_memory(case):
    """Memory for a new column: without it the column is not kept, and the directory stays as it was."""
    reader = case.session()
    return case.right(reader) and case.do(case.writer, 'SELECT count(*) FROM gpuagg_resident') != ['0']


CASES = {
    'replica': (snapshot_first, map_lsn, map_bit, page_lsn, by_page, same_page, confirm_lsn, fill_flag, fill_lsn,
                catalog, area_memory),
    'minimal': (logged,),
}


def moves_at_clearing(version):
    """Whether clearing a bit of the visibility map gives the map a new LSN."""
    return 170011 <= version < 180000 or version >= 180005


def run(function, rule):
    case = Case(rule)
    try:
        return function(case)
    finally:
        case.close()


def prepare():
    """The functions are those of the test build; returns the server's version."""
    session = Session(None, 'rules')
    session.open()
    Case.do(session, 'CREATE EXTENSION gpuagg')
    Case.do(session, "UPDATE pg_proc SET probin = '$libdir/gpuagg_test_rules' WHERE probin = '$libdir/gpuagg'")
    version = int(Case.do(session, 'SHOW server_version_num')[0])
    session.close()
    return version


def main():
    version = prepare()
    passed = failed = 0
    for function in CASES[sys.argv[1]]:
        name = function.__name__
        # there the LSN says it already
        if name == 'map_bit' and moves_at_clearing(version):
            print('%s: not needed on this version' % name)
            continue
        broken = ((name, False),)
        if name == 'confirm_lsn':
            broken = (('confirm_lsn', True), ('map_bit', True), ('confirm_lsn, map_bit', False))
        for rule, wanted in (('', True), *broken):
            what = '%s, %s' % (name, 'broken: ' + rule if rule else 'as it is')
            try:
                right = run(function, rule)
                good = right == wanted
                print('%s  %s: the result is %s' % ('ok    ' if good else 'FAILED', what, 'right' if right else 'wrong'))
            except Exception as error:  # pylint: disable=broad-except
                good = False
                print('FAILED  %s: %s' % (what, error))
            passed += good
            failed += not good
    print('%d passed, %d failed' % (passed, failed))
    return failed > 0


sys.exit(main())
