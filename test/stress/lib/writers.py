"""writers.py: sessions that change the tables in all ways that matter to columns kept in memory.

What they do fails now and then because another one holds a lock; that is counted, not an error.
"""
import random

import changes
import checks
import ground
from session import Lost, Session

SETTINGS = ("LOAD 'gpuagg'", 'SET lock_timeout = 300', 'SET statement_timeout = 60000', 'SET synchronous_commit = off') + checks.SETTINGS
# Changes of types; each back too.  The first of a pair rewrites nothing.
TYPES = (('v', 'varchar(30)', 'varchar(20)'), ('v', 'text', 'varchar(25)'), ('n', 'numeric(20,2)', 'numeric(15,2)'),
         ('a', 'bigint', 'integer'), ('k', 'bigint', 'integer'))


class Writer:
    """One writer, a thread."""

    def __init__(self, run, number, settings):
        self.run = run
        self.rng = random.Random(run.seed * 1000 + number)
        self.name = 'writer %d' % number
        self.number = number
        self.session = Session(run, self.name, SETTINGS + settings)
        self.transactions = 0
        run.prepared[self.name] = []

    def work(self):
        while self.run.on():
            try:
                self.session.connect()
                self.look_at_prepared()
                # the one who has taken it may be gone
                self.do('ALTER SYSTEM RESET gpuagg.column_memory')
                self.do('SELECT pg_reload_conf()')
                while self.run.on():
                    self.turn()
            except Lost:
                self.run.count('connections lost')
        self.finish()

    def finish(self):
        """Leaves no prepared transaction."""
        try:
            self.session.connect()
            while self.run.prepared[self.name]:
                if not self.finish_prepared():
                    break
        except Lost:
            pass
        self.session.close()

    def do(self, statement, event=None):
        return self.session.do(statement, event).done

    def turn(self):
        rng = self.rng
        table = rng.choice(ground.TABLES)
        if self.run.wants_level2() and rng.random() < 0.4:
            changes.touch(self.session, rng, table)
        elif rng.random() < 0.66:
            self.transaction(table)
        else:
            action, = rng.choices([a for a, _ in ACTIONS], [w for _, w in ACTIONS])
            action(self, table)
        if self.run.prepared[self.name] and rng.random() < 0.3:
            self.finish_prepared()
        if self.run.wants_level1():
            self.run.count('rests of writers')
            self.run.pause(rng.choice((0.02, 0.1, 0.4)))
        elif not self.run.wants_level2():
            self.run.pause(rng.choice((0, 0, 0.01, 0.05)))

    # What one transaction does.

    def step(self, table):
        """One statement of a transaction; false if that has failed."""
        rng = self.rng
        rows = changes.rows(rng, table, rng.choice((1, 1, 3, 10)))
        kind = rng.randrange(20)
        if kind < 4:
            return self.do('INSERT INTO %s (%s) %s' % (table.name, ground.COLUMNS, table.some_rows(rng.choice((1, 5, 40)))), 'inserts')
        if kind < 8:
            change = rng.choice(('a = a + 1', 'b = b + 3', 'n = n + 0.01', 'f = f + 1', 'p = NOT p', 'd = d + 1', 'a = NULL',
                                 'b = b + 10000000000', "v = 'v' || (random() * 30)::int", "v = 'w' || (random() * 1000)::int"))
            return self.do('UPDATE %s SET %s WHERE %s' % (table.name, change, rows), 'updates, HOT where there is room')
        if kind < 10:
            return self.do('UPDATE %s SET k = (random() * 12)::int WHERE %s' % (table.name, rows), 'updates of an indexed column')
        if kind < 13:
            return self.do('DELETE FROM %s WHERE %s' % (table.name, rows), 'deletes')
        if kind < 16:
            mode = rng.choice(('FOR UPDATE', 'FOR NO KEY UPDATE', 'FOR SHARE', 'FOR KEY SHARE'))
            return self.do('SELECT count(*) FROM (SELECT FROM %s WHERE %s %s) q' % (table.name, rows, mode), 'row locks ' + mode)
        if kind < 17:
            return self.do('INSERT INTO %s_child SELECT id, 1 FROM %s WHERE %s' % (table.name, table.name, rows), 'foreign-key locks')
        if kind < 19:
            return self.subtransaction(table)
        return self.check(table, 'the writing transaction')

    def subtransaction(self, table):
        if not self.do('SAVEPOINT s'):
            return False
        good = True
        for _ in range(self.rng.choice((1, 2, 3))):
            good = good and self.step(table)
        if not good or self.rng.random() < 0.6:
            return self.do('ROLLBACK TO s', 'subtransactions rolled back')
        return self.do('RELEASE s', 'subtransactions released')

    def check(self, table, kind):
        outcome = self.session.do(checks.statement(self.rng, (table,), self.rng.choice((1, 2))))
        checks.judge(self.run, self.session, outcome, kind)
        return outcome.done

    def transaction(self, table):
        rng = self.rng
        isolation = rng.choice(('READ COMMITTED',) * 4 + ('REPEATABLE READ',) * 3 + ('SERIALIZABLE',))
        if not self.do('BEGIN ISOLATION LEVEL ' + isolation):
            self.do('ROLLBACK')
            return
        good = True
        cursor = rng.random() < 0.1
        if cursor:
            good = self.do('DECLARE c CURSOR FOR ' + checks.statement(rng, (table,), 2))
        for _ in range(rng.choice((1, 1, 2, 5))):
            good = good and self.step(table)
        if good and cursor:
            outcome = self.session.do('FETCH ALL FROM c')
            checks.judge(self.run, self.session, outcome, 'a cursor of the writing transaction')
            good = outcome.done
        end = rng.random()
        if not good or end < 0.15:
            self.do('ROLLBACK', 'transactions rolled back')
        elif end < 0.27 and self.run.features['prepared'] and not cursor:
            self.prepare()
        else:
            self.do('COMMIT', 'transactions committed')

    def prepare(self):
        self.transactions += 1
        gid = 'stress_%s_%d_%d' % (self.number, self.run.seed, self.transactions)
        if self.do("PREPARE TRANSACTION '%s'" % gid, 'transactions prepared'):
            self.run.prepared[self.name].append(gid)
        else:
            self.do('ROLLBACK')

    def finish_prepared(self):
        listed = self.run.prepared[self.name]
        if not listed:
            return True
        gid = listed[0]
        way = self.rng.choice(('COMMIT', 'ROLLBACK'))
        done = self.do("%s PREPARED '%s'" % (way, gid), way.lower() + ' prepared')
        if done:
            listed.remove(gid)
        return done

    def look_at_prepared(self):
        """After a connection was lost: what was prepared is there still; the first may have been about to end."""
        outcome = self.session.ask("SELECT gid FROM pg_prepared_xacts WHERE gid LIKE 'stress\\_%d\\_%%' ORDER BY prepared" % self.number)
        known = self.run.prepared[self.name]
        for gid in known[1:]:
            if gid not in outcome.rows:
                self.run.fail('%s: prepared transaction %s is gone' % (self.name, gid))
        if known and outcome.rows:
            self.run.count('prepared transactions after a crash', len(outcome.rows))
        self.run.prepared[self.name] = outcome.rows

    # What is no part of a larger transaction.

    def vacuum(self, table):
        rng = self.rng
        options = [o for o in ('FREEZE', rng.choice(('INDEX_CLEANUP off', 'INDEX_CLEANUP on')),
                               rng.choice(('TRUNCATE off', 'TRUNCATE on')), 'DISABLE_PAGE_SKIPPING') if rng.random() < 0.25]
        if self.do('VACUUM %s%s' % ('(%s) ' % ', '.join(options) if options else '', table.name)):
            for option in options or ('plain',):
                self.run.count('vacuum, ' + option)

    def size(self, table):
        """Brings a table back to about the size that it shall have."""
        outcome = self.session.ask("SELECT pg_relation_size('%s') / current_setting('block_size')::int" % table.name)
        # nothing where another has just put a new table into its place
        if not outcome.done or not outcome.rows[-1]:
            return
        pages = int(outcome.rows[-1])
        if pages > 1.15 * table.pages or self.rng.random() < 0.15:
            keep = self.rng.randrange(table.pages // 2, table.pages)
            if self.do("DELETE FROM %s WHERE ctid >= '(%d,0)'" % (table.name, keep), "deletes of a table's end"):
                self.do('VACUUM ' + table.name, "vacuum of a table's end")
        elif pages < 0.85 * table.pages:
            self.do('INSERT INTO %s (%s) %s' % (table.name, ground.COLUMNS, table.some_rows((table.pages - pages) * table.rows_of_page)),
                    'large inserts')

    def truncate(self, table):
        end = self.rng.random()
        if end < 0.7:
            self.do('BEGIN')
            good = self.do('TRUNCATE %s CASCADE' % table.name) and self.step(table) and self.check(table, 'after an own TRUNCATE')
            if good and end < 0.25 and self.run.features['prepared']:
                self.prepare()
            else:
                self.do('ROLLBACK', 'TRUNCATE rolled back' if good else None)
        else:
            self.do('TRUNCATE %s CASCADE' % table.name, 'TRUNCATE')

    def rewrite(self, table):
        if self.rng.random() < 0.5:
            self.do('CLUSTER %s USING t%d_pkey' % (table.name, table.number), 'CLUSTER')
        else:
            self.do('VACUUM FULL ' + table.name, 'VACUUM FULL')

    def types(self, table):
        column, wide, narrow = self.rng.choice(TYPES)
        wanted = wide if self.rng.random() < 0.6 else narrow
        self.do('ALTER TABLE %s ALTER %s TYPE %s' % (table.name, column, wanted), 'ALTER TYPE to ' + wanted)

    def add_column(self, table):
        """A column with a default, rolled back; then another default under the same number."""
        first, second = self.rng.sample(range(2, 99), 2)
        for default, end in ((first, 'ROLLBACK'), (second, 'COMMIT')):
            self.do('BEGIN')
            good = (self.do('ALTER TABLE %s DROP COLUMN IF EXISTS x' % table.name) and
                    self.do('ALTER TABLE %s ADD COLUMN x integer DEFAULT %d' % (table.name, default)) and
                    self.check(table, 'after an own ADD COLUMN'))
            if not good:
                self.do('ROLLBACK')
                return
            self.do(end, 'ADD COLUMN DEFAULT, ' + end)
            self.check(table, 'after ADD COLUMN')

    def drop_column(self, table):
        self.do('ALTER TABLE %s DROP COLUMN IF EXISTS x' % table.name, 'DROP COLUMN')

    def copy_freeze(self, table):
        """In the transaction that has truncated, or made, the table."""
        if self.rng.random() < 0.6:
            what = 'COPY FREEZE after TRUNCATE'
            script = 'TRUNCATE {name} CASCADE;\n' + ground.COPY
        else:
            what = 'COPY FREEZE into a new table'
            script = 'DROP TABLE {name}_child;\nDROP TABLE {name};\n' + ground.CREATE + ground.COPY + ground.INDEXES
        self.do('BEGIN')
        good = all(self.do(s) for s in ground.listed(script, table, self.run.features['folder']))
        good = good and self.check(table, 'after an own COPY FREEZE')
        if good and self.rng.random() < 0.8:
            self.do('COMMIT', what)
        else:
            self.do('ROLLBACK', what + ', rolled back' if good else None)

    def index(self, table):
        name = '%s_more' % table.name
        if self.rng.random() < 0.5:
            self.do('DROP INDEX IF EXISTS ' + name, 'DROP INDEX')
        else:
            self.do('CREATE INDEX IF NOT EXISTS t%d_more ON %s (%s)' % (table.number, table.name, self.rng.choice(('a', 'b', 'd'))),
                    'CREATE INDEX')

    def analyze(self, table):
        self.do('ANALYZE ' + table.name, 'ANALYZE')

    def evict(self, table):
        self.do("SELECT gpuagg_evict(%s)" % self.rng.choice(("'%s'::regclass" % table.name,) * 4 + ('',)), 'gpuagg_evict')
        if self.rng.random() < 0.5:
            self.do("SELECT gpuagg_prefetch('%s', '{a,b,n,f,d,v}')" % table.name, 'gpuagg_prefetch')


    def memory(self, table):
        """No memory for a moment, whereupon all columns go."""
        for setting in ("SET gpuagg.column_memory = 0", "RESET gpuagg.column_memory"):
            if self.do('ALTER SYSTEM ' + setting, 'ALTER SYSTEM ' + setting):
                self.do('SELECT pg_reload_conf()')
                self.run.pause(0.1)


ACTIONS = ((Writer.vacuum, 45), (Writer.size, 15), (Writer.truncate, 1.5), (Writer.rewrite, 2), (Writer.types, 3),
           (Writer.add_column, 3), (Writer.drop_column, 1), (Writer.copy_freeze, 2), (Writer.index, 2), (Writer.analyze, 2),
           (Writer.evict, 2), (Writer.memory, 0.5))
