"""differ.py: runs random queries as ours and as core's or exact arithmetic's, and compares.

Differences come with what reproduces them in psql, with as few rows as was cheap to find.
"""
from collections import Counter
import os
import random
import time

import calls
import psql
import queries
import tables

SCHEMA = 'fuzz'
OUT_OF_RANGE = ('22003', '22008')
CANCELLED = '57014'


class Server:
    """What the database has.  roomy: sessions never run out of staging memory."""

    def __init__(self, roomy):
        psql.query('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuagg; '
                   'CREATE SCHEMA IF NOT EXISTS ' + SCHEMA)
        lines = psql.query("LOAD 'gpuagg'; SELECT name, setting FROM pg_settings "
                           "WHERE name LIKE 'gpuagg.enable%' OR name IN ('gpuagg.device', 'server_version_num')")
        settings = dict(line.split('|') for line in lines)
        self.version = int(settings.pop('server_version_num')) // 10000
        self.device = settings.pop('gpuagg.device')
        self.roomy = roomy
        self.switches = sorted(settings)
        self.has = set()
        states = set()
        for line in psql.query(
                "SELECT substr(p.proname, 5), t.typname FROM pg_proc p LEFT JOIN pg_type t "
                "ON t.oid = p.proargtypes[0] WHERE p.proname ~ '^gpu_' AND p.prokind IN ('a', 'w')"):
            name, kind = line.split('|')
            if name.endswith('_state'):
                states.add((name, kind))
            if name not in calls.PROMISED:
                continue
            for promised in calls.PROMISED[name]:
                if kind in (promised, 'any', 'bytea'):
                    self.has.add((name, promised))
        self.has -= {(name, kind) for name, kind in self.has if name.endswith('_merge') and
                     ((name[:3] if name[:3] in ('sum', 'avg') else 'var') + '_state', kind) not in states}

    def settings(self, rng):
        """Statements that decide how a query is planned and run."""
        def maybe(share, *statements):
            return list(statements) if rng.random() < share else []

        chosen = rng.choice((['max_parallel_workers_per_gather = 0'], ['max_parallel_workers_per_gather = 0'],
                             ['parallel_setup_cost = 0', 'parallel_tuple_cost = 0',
                              'min_parallel_table_scan_size = 0', 'min_parallel_index_scan_size = 0',
                              'max_parallel_workers_per_gather = %d' % rng.choice((1, 2, 3)),
                              'parallel_leader_participation = ' + rng.choice(('on', 'off'))], []))
        chosen = list(chosen)
        chosen += maybe(0.04, '%s = on' % ('force_parallel_mode' if self.version < 16
                                           else 'debug_parallel_query'))
        chosen += maybe(0.25, 'enable_hashagg = off') or maybe(0.2, 'enable_sort = off')
        for setting, share in (('enable_indexscan', 0.15), ('enable_bitmapscan', 0.15), ('enable_seqscan', 0.1),
                               ('enable_nestloop', 0.07), ('enable_hashjoin', 0.07), ('enable_mergejoin', 0.07),
                               ('enable_material', 0.1), ('enable_incremental_sort', 0.1)):
            chosen += maybe(share, setting + ' = off')
        chosen += maybe(0.3, 'enable_partitionwise_aggregate = on')
        chosen += maybe(0.3, "work_mem = '64kB'", 'hash_mem_multiplier = 1')
        chosen += maybe(0.03, 'jit = on', 'jit_above_cost = 0', 'jit_inline_above_cost = 0',
                        'jit_optimize_above_cost = 0')
        chosen += maybe(0.8, 'gpuagg.batch_rows = %d' % rng.choice((1024, 1024, 1025, 2048, 4096)))
        chosen += maybe(0.7, 'gpuagg.device_min_rows = %d' % rng.choice((0, 0, 0, 1, 33, 1000, 100000)))
        if self.roomy or rng.random() < 0.7:
            chosen.append("gpuagg.staging_memory = '2GB'")
        if self.device != 'cpu':
            chosen += maybe(0.3, 'gpuagg.device = ' + rng.choice(('auto', 'cpu')))
        for switch in self.switches:
            chosen += maybe(0.2, switch + ' = off')
        return ['SET ' + setting for setting in chosen]


class Case:
    """A query over a table, under settings, run in one of several ways."""

    def __init__(self, rng, server, table, query, label):
        self.table = table
        self.query = query
        self.label = label
        self.settings = server.settings(rng)
        self.parameter = str(rng.randint(0, 5))
        self.way = rng.choice(('plain', 'plain', 'plain', 'generic', 'custom', 'cursor'))
        self.in_server = not query.by_array() and rng.random() < 0.6
        self.exact = False
        self.wrong = 'not reached'
        self.outcome = 'rows'

    def arrays(self):
        return [call for call in self.query.calls
                if call.by_array() or (self.exact and call.can_be_exact())]

    def statements(self, parameter=None):
        """(what to compare with, ours)."""
        parameter = parameter or self.parameter
        return self.query.core(parameter, self.arrays()), self.query.ours(parameter)

    def difference(self, parameter):
        """A query with no rows when core and ours agree, and some of the differing ones when not."""
        core, ours = ('SELECT q::text AS r FROM (%s) q' % s for s in self.statements(parameter))
        return ("WITH core AS MATERIALIZED (%s), ours AS MATERIALIZED (%s) "
                "(SELECT 'core', * FROM (TABLE core EXCEPT ALL TABLE ours) a LIMIT 3) UNION ALL "
                "(SELECT 'ours', * FROM (TABLE ours EXCEPT ALL TABLE core) b LIMIT 3)" % (core, ours))

    def ask(self, script):
        for setting in self.settings:
            script.sql(setting)
        if self.in_server:
            self.run(script, self.difference, self.judge_difference)
        else:
            script.ask(self, self.statements()[0], self.keep)
            self.run(script, lambda parameter: self.statements(parameter)[1], self.judge)
        script.sql('RESET ALL; SET client_min_messages = warning; SET statement_timeout = 60000')

    def run(self, script, statement, judge):
        """The statement's rows, fetched in the case's way."""
        if self.way in ('generic', 'custom'):
            script.sql('SET plan_cache_mode = force_%s_plan' % self.way)
            script.ask(self, 'PREPARE q (int) AS ' + statement('$1'), unjudged)
            script.ask(self, 'EXECUTE q (%d)' % (int(self.parameter) + 1), unjudged)
            script.ask(self, 'EXECUTE q (%s)' % self.parameter, judge)
            script.sql('DEALLOCATE ALL')
        elif self.way == 'cursor':
            taken = []
            script.sql('BEGIN')
            script.ask(self, 'DECLARE c CURSOR FOR ' + statement(self.parameter), unjudged)
            script.ask(self, 'FETCH 2 FROM c', lambda *outcome: taken.append(outcome))
            script.ask(self, 'FETCH ALL FROM c', lambda rows, state: judge(
                taken[0][0] + rows, state if taken[0][1] == '00000' else taken[0][1]))
            script.sql('ROLLBACK')
        else:
            script.ask(self, statement(self.parameter), judge)

    def judge_difference(self, rows, state):
        if state in OUT_OF_RANGE:
            self.wrong = 'which side failed?'
        elif state == CANCELLED:
            self.wrong, self.outcome = None, 'too long'
        elif state != '00000':
            self.wrong = 'SQLSTATE ' + state
        else:
            self.wrong = '; '.join(rows)[:500] or None

    def keep(self, rows, state):
        self.other = rows, state

    def judge(self, rows, state):
        self.wrong = self.compare(rows, state)

    def compare(self, rows, state):
        """What is wrong with ours beside what was kept."""
        other, other_state = self.other
        self.outcome = 'rows' if state == '00000' else 'error'
        if CANCELLED in (state, other_state):
            self.outcome = 'too long'
            return None
        if other_state != '00000':
            if state == other_state:
                return None
            if other_state in OUT_OF_RANGE and not self.exact and any(
                    call.can_be_exact() for call in self.query.calls):
                return 'which side failed?'
            return 'SQLSTATE %s, expected %s' % (state, other_state)
        arrays = self.arrays()
        expected = self.expected(other)
        worths = [w for _, found in expected for w in found]
        failing = [w for w in worths if isinstance(w, tuple)]
        if state in OUT_OF_RANGE:
            # groups that HAVING or LIMIT leaves out are computed too
            if failing or calls.UNKNOWN in worths or (self.exact and self.hidden()) or (
                    self.query.lenient and arrays):
                return None
            return 'SQLSTATE ' + state
        if state != '00000':
            return 'SQLSTATE ' + state
        if failing and not self.query.lenient:
            return 'no error, expected %s' % failing[0][0]
        if self.query.lenient and self.exact and self.hidden():
            return None
        got = sorted(line.split('|') for line in rows)
        if len(got) != len(expected):
            return '%d rows, expected %d' % (len(got), len(expected))
        keys = self.query.keys
        for line, (key, found) in zip(got, sorted(expected, key=lambda pair: pair[0])):
            if line[:keys] != key:
                return 'row %s, expected one of %s' % (line[:keys], key)
            for text, worth in zip(line[keys:], found):
                if isinstance(worth, set) and text not in worth:
                    return 'row %s: %s, expected %s' % (key, line[keys:], found)
        return None

    def hidden(self):
        """Whether a result that core may fail at is not among the columns."""
        shown = [call for _, call in self.query.shown()]
        return any(call.can_be_exact() and call not in shown for call in self.query.calls)

    def expected(self, rows):
        """[(keys, [a set of texts, (SQLSTATE,) or UNKNOWN for each column])]."""
        arrays = self.arrays()
        shown = [call for _, call in self.query.shown()]
        if arrays and self.query.walks:
            return self.walk(rows, shown, arrays)
        result = []
        for line in rows:
            fields = line.split('|')
            found = []
            for call, text in zip(shown, fields[self.query.keys:]):
                if call not in arrays:
                    found.append({text})
                    continue
                worth = call.worth()
                for element in calls.elements(text):
                    worth.add(element)
                found.append(settle(call, worth))
            result.append((fields[:self.query.keys], found))
        return result

    @staticmethod
    def walk(rows, shown, arrays):
        """The same for running functions: rows come partition by partition, in order."""
        lines = [line.split('|') for line in rows]
        result = []
        start = 0
        worths = []
        for number, (key, part, peer, *fields) in enumerate(lines):
            if number == 0 or part != lines[number - 1][1]:
                worths = [call.worth() for call in shown]
            found = []
            for call, worth, text in zip(shown, worths, fields):
                if call not in arrays:
                    found.append({text})
                    continue
                before = settle(call, worth) if call.exclusive else None
                worth.add(text)
                found.append(before if call.exclusive else worth)
            result.append(([key], found))
            if number + 1 == len(lines) or lines[number + 1][1:3] != [part, peer]:
                # what holds for the last of the peers holds for all
                last = [settle(call, worth) for call, worth in zip(shown, worths)]
                for _, row in result[start:]:
                    for i, worth in enumerate(row):
                        if isinstance(worth, calls.Worth):
                            row[i] = last[i]
                start = number + 1
        return result

    def reproducer(self, rows):
        """A script for psql."""
        lines = ['-- %s: %s' % (self.label, self.wrong), 'CREATE SCHEMA IF NOT EXISTS %s;' % SCHEMA,
                 'DROP TABLE IF EXISTS %s;' % self.table.name]
        lines += [statement + ';' for statement in self.table.create()]
        lines += ['COPY %s FROM STDIN;' % self.table.name] + ['\t'.join(row) for row in rows] + ['\\.']
        lines += ['ANALYZE %s;' % self.table.name] + [setting + ';' for setting in self.settings]
        lines.append('-- ' + self.way)
        lines += [statement + ';' for statement in self.statements()]
        return '\n'.join(lines) + '\n'


def unjudged(rows, state):
    """Of statements of which each fails only if the next one does too."""


def settle(call, worth):
    found = worth.expected()
    if isinstance(found, str):
        return ('22008' if call.kind == 'interval' else '22003',)
    return found


def session(table, rows, cases):
    """A script that makes the table and asks the cases."""
    script = psql.Script()
    script.sql('DROP TABLE IF EXISTS ' + table.name)
    for statement in table.create():
        script.sql(statement)
    script.copy(table.name, ['\t'.join(row) for row in rows])
    script.sql('ANALYZE %s; SET statement_timeout = 60000' % table.name)
    for case in cases:
        case.wrong = 'not reached'
        case.ask(script)
    script.sql('DROP TABLE ' + table.name)
    return script


def run(table, rows, cases):
    """Runs the cases; each knows what was wrong then."""
    session(table, rows, cases).run()
    unclear = [case for case in cases if case.wrong == 'which side failed?']
    for case in unclear:
        case.in_server = False
    for exact in (False, True):
        unclear = [case for case in unclear if case.wrong == 'which side failed?']
        for case in unclear:
            case.exact = exact
        if unclear:
            session(table, rows, unclear).run()


def shrink(case, seconds):
    """Fewer rows with which the case still differs."""
    rows = case.table.rows
    wrong = case.wrong
    end = time.monotonic() + seconds
    pieces = 2
    while len(rows) > 1 and pieces <= len(rows) * 2 and time.monotonic() < end:
        size = max(1, len(rows) // pieces)
        for first in range(0, len(rows), size):
            fewer = rows[:first] + rows[first + size:]
            if time.monotonic() > end:
                break
            run(case.table, fewer, [case])
            if case.wrong is not None:
                rows, wrong = fewer, case.wrong
                break
        else:
            if size == 1:
                break
            pieces *= 2
    case.wrong = wrong
    return rows


class Tester:
    """Counts what was tried; writes reproducers into a folder where one is given."""

    def __init__(self, seed, folder=None, roomy=False, shapes=()):
        self.seed = seed
        self.folder = folder
        self.shapes = shapes
        self.server = Server(roomy)
        self.tried = 0
        self.differences = 0
        self.tested = Counter()
        self.ended = Counter()

    def data_set(self, number, size, of=None):
        """One table and `size` queries over it, of some pairs of aggregate and type or of all."""
        rng = random.Random('%d %d' % (self.seed, number))
        table = tables.Table(rng, '%s.t%d' % (SCHEMA, number))
        maker = queries.Maker(rng, table, of or self.server.has)
        cases = [Case(rng, self.server, table, maker.make(self.shapes), 'seed %d, data set %d, query %d'
                      % (self.seed, number, i)) for i in range(size)]
        run(table, table.rows, cases)
        for case in cases:
            self.tried += 1
            if case.wrong is None:
                self.ended[case.outcome] += 1
                if case.outcome == 'rows':
                    self.tested.update({(call.function, call.kind) for call in case.query.calls})
        wrong = [case for case in cases if case.wrong is not None]
        for case in wrong[:1] if any(c.wrong == 'not reached' for c in wrong) else wrong:
            self.differ(case)

    def differ(self, case):
        self.differences += 1
        if self.differences > 10:
            return
        print('DIFFERENCE %s (%s): %s' % (case.label, case.way, case.wrong))
        rows = shrink(case, 20) if self.differences <= 5 else case.table.rows
        text = case.reproducer(rows)
        if self.folder:
            path = os.path.join(self.folder, 'difference-%d.sql' % self.differences)
            with open(path, 'w') as out:
                out.write(text)
            print('%d rows in %s' % (len(rows), path))
        print(text if len(rows) <= 30 else case.reproducer(rows[:3]).replace(
            '\\.', '... %d rows' % len(rows)), flush=True)

    def table(self):
        """Lines: aggregates by types, how often each was tested."""
        kinds = calls.PROMISED['min']
        yield '%-20s' % '' + ''.join('%12s' % kind for kind in kinds)
        for name in calls.PROMISED:
            yield '%-20s' % ('gpu_' + name) + ''.join(
                '%12s' % (self.tested[name, kind] if kind in calls.PROMISED[name] else '')
                for kind in kinds)

    def outcomes(self):
        """How the queries without a difference ended."""
        return ', '.join('%s %d' % pair for pair in sorted(self.ended.items()))

    def missing(self):
        """Pairs of aggregate and type that should have been tested and were not."""
        return {(name, kind) for name, kinds in calls.PROMISED.items() for kind in kinds
                if not self.tested[name, kind]}
