#!/usr/bin/env python3
"""windows.py: window queries with our node, without it, and with core's functions.

All three must give the same rows.  Arguments are chosen so that core is exact:
floats are small multiples of 1/8, numerics have one scale.  Orders under ROWS
are total.  Partitions and peer groups begin at boundaries of sets of rows and beside them.
Seeded.  Connection: the environment's.
"""
import argparse
import copy
import os
import random
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

import psql  # noqa: E402

SCHEMA = 'property_windows'
# Rows at which sets of rows begin: on a device, and on the CPU, where the first ones are small.
EDGES = (tuple(range(1024, 6000, 1024)), tuple(2 ** n - 1 for n in range(1, 11)) + tuple(range(2047, 6000, 1024)))
NODE = 'gpuagg.enable_window_scan'
LIMIT_S = 1.0  # until a cancelled statement has ended, less what others had the processor

NUMBERS = ('int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'cents', 'cents', 'tiny', 'wide', 'most', 'money', 'interval')
ORDERED = ('int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'cents', 'tiny', 'wide', 'most', 'money', 'date', 'time',
           'timestamp', 'timestamptz')
FUNCTIONS = {'sum': NUMBERS, 'avg': tuple(k for k in NUMBERS if k != 'money'), 'min': ORDERED,
             'max': ORDERED, 'count': ORDERED + ('interval', 'text')}

# Keys made of a number: equal numbers make equal keys, which may look different.
KEYS = {
    'int4': '{n}', 'int8': '{n} * 5000000000 - 7', 'int2': '({n} % 30000)::int2', 'bool': '{n} % 2 = 0',
    'float8': "CASE {n} WHEN 0 THEN (CASE WHEN i % 2 = 0 THEN '-0' ELSE '0' END)::float8 "
              "WHEN 3 THEN 'NaN' WHEN 5 THEN '-Infinity' ELSE {n} / 8.0 - 1 END",
    'float4': "CASE {n} WHEN 1 THEN (CASE WHEN i % 2 = 0 THEN '-0' ELSE '0' END)::float4 "
              "WHEN 2 THEN 'NaN' ELSE -{n} / 4.0 END",
    'date': "CASE {n} WHEN 2 THEN 'infinity' ELSE '2000-01-01'::date + {n} END",
    'timestamp': "'1999-12-31'::timestamp + {n} * '1 hour'::interval",
    'timestamptz': "'1999-12-31'::timestamptz - {n} * '1 hour'::interval",
    'time': "'00:00'::time + ({n} % 80000) * '1 second'::interval",
    'money': '({n} - 3)::int8::money', 'oid': '(4294967295 - {n})::oid',
    'text': "'k' || {n}", 'numeric': "({n} || left('.000', (i % 5)::int))::numeric",
    'bpchar': "('k' || {n} || repeat(' ', (i % 3)::int))::char(12)",
    'interval': "CASE WHEN i % 2 = 0 THEN make_interval(months => {n}) ELSE make_interval(days => 30 * {n}) END",
    'bytea': "('k' || {n})::bytea",
}
COARSER = {'int4': '(%s / 2)', 'int8': '(%s - 7)', 'int2': '(%s::int4 * 3)', 'timestamp': "date_trunc('day', %s)",
           'date': '(%s - 3)', 'float8': '(%s * 2)'}
# Types of keys by which the node itself can sort.
FIXED = ('int4', 'int8', 'int2', 'bool', 'float8', 'float4', 'date', 'timestamp', 'timestamptz', 'time',
         'money', 'oid')

VALUES = {
    'int2': '(v % 65536 - 32768)::int2', 'int4': '(v * 4294967 % 4294967296 - 2147483648)::int4',
    'int8': '(v - 500000) * 18446744073709', 'float4': '((v % 800 - 400) / 4.0)::float4',
    'float8': "CASE v WHEN 1 THEN 'NaN' WHEN 2 THEN '-Infinity' ELSE (v % 8000 - 4000) / 8.0 END::float8",
    'cents': "CASE WHEN v % 50000 = 0 THEN 'NaN' ELSE (v - 400000) / 100.0 END::numeric(12,2)",
    'tiny': '(v * 1e-7 - 0.05)::numeric(18,18)',
    'wide': "CASE WHEN v % 50000 = 7 THEN 'NaN' ELSE (v - 400000) * 12345678901234.5678 END::numeric(30,4)",
    'most': "((CASE WHEN v % 2 = 0 THEN '-' ELSE '' END || '9999999999999999999999999999.999')::numeric + v / 1000.0)::numeric(38,3)",
    'numeric': '(v - 400000)::numeric / 100', 'money': '(v - 500000)::int8::money / 100',
    'interval': "make_interval(months => (v % 5)::int, days => (v % 41 - 20)::int, secs => v % 7777)",
    'date': "'2000-01-01'::date + (v % 9999 - 5000)::int", 'time': "'00:00'::time + v * '1 ms'::interval",
    'timestamp': "'2000-01-01'::timestamp + v * '1 s'::interval",
    'timestamptz': "'2000-01-01'::timestamptz - v * '1 s'::interval",
    'text': "repeat(chr(97 + (v % 26)::int), (v % 5)::int)",
}


# Conditions on a table's rows: compiled to a vector program, with constants known later, evaluated by the executor.
WHERE = ('i % 3 > 0', 'g IS NOT NULL', 'i > 10', 'false', 'x_numeric > 100 OR g_float8 IS NULL', "upper(g_text) <> 'K1'",
         "ctid > '(0,5)'", 'length(wide) % 2 = 0', 'x_int4 % 3 = 0', "k_date >= date '2000-01-02' AND NOT g_bool",
         'x_int8 / 2 < x_int4', 'tableoid IS NOT NULL', "x_text LIKE 'a%' OR x_text IS NULL", "k_timestamptz < now() - interval '1 day'",
         '(b.*) IS NOT NULL', 'x_float8 > x_float4 AND random() < 2', 'i < (SELECT 50 * max(one) FROM (VALUES (20), (3)) v (one))',
         'x_int8 / 4 > 0 OR i > 4')

# Conditions on a function's value by the type of its argument, where they are of interest.
ABOVE = {'int2': ('{r} < 0', '{r} >= 1000', '0 >= {r}', '{r} = 3', '{r} BETWEEN -5 AND 20000', '{r} <> 4', '{r} < 2.5'),
         'int8': ('{r} < 0', '{r} > 1e20', '{r} <= -5000000000000000000.5', '{r} = 18446744073709', '0 < {r}'),
         'float8': ('{r} < 0', '{r} >= 12.125', "{r} = 'NaN'", '3 > {r}', "{r} > '-Infinity'"),
         'cents': ('{r} < 0', '{r} >= 12.125', '{r} = 0.01', '3 > {r}', "{r} >= 'NaN'", '{r} <= -1e20', '{r} > 1e16'),
         'tiny': ('{r} < 0', '{r} > 1e-17', '{r} <= -0.0000000000000000001'), 'wide': ('{r} < 0', '{r} > 1e19', '{r} = 12345678901234.5678'),
         'date': ("{r} > '2000-01-01'", "{r} <= '1999-12-31'"), 'timestamp': ("{r} < '2000-01-05'",), 'numeric': ('{r} < 0',)}
ABOVE.update({'int4': ABOVE['int2'], 'float4': ABOVE['float8'], 'timestamptz': ABOVE['timestamp']})


# ---- tables ----

def starts(rng, rows):
    """Row numbers at which something begins: at boundaries of sets, beside them, and elsewhere."""
    style = rng.choice(('boundaries', 'boundaries', 'one', 'tiny', 'some', 'every'))
    if style == 'one':
        return set()
    if style == 'tiny':
        return set(range(0, rows, rng.choice((2, 3, 10))))
    if style == 'every':
        return set(range(rows))
    if style == 'some':
        return {rng.randrange(rows) for _ in range(rng.choice((1, 5, 50)))} if rows else set()
    found = set()
    for at in rng.choice(EDGES):
        found |= set(rng.sample((at - 1, at, at + 1, at + 2), rng.randint(0, 3)))
    return found


class Table:
    """i: unique and increasing; g: partition; k: peer group; columns g_*, k_*, x_* made of them."""

    def __init__(self, rng, number, rows):
        self.name = '%s.t%d' % (SCHEMA, number)
        self.rows = rows
        self.wide = rng.random() < 0.2 and rows < 10000
        partition, peer = starts(rng, rows), starts(rng, rows)
        missing = rng.choice((0, 0, 0.1, 0.9, 1))
        empty = rng.randrange(4)
        null_g, null_k = rng.choice((None, 0, 1)), rng.choice((None, 0, 2))
        mixed = rng.random() < 0.3
        g = k = 0
        self.lines = []
        for i in range(rows):
            g += i in partition
            k += i in peer
            of = rng.randrange(5) if mixed else g
            v = '\\N' if of == empty or rng.random() < missing else str(rng.randrange(1000000))
            self.lines.append('%d\t%s\t%s\t%s' % (i, '\\N' if of == null_g else of,
                                                  '\\N' if k == null_k else k, v))
        if rng.random() < 0.7:
            rng.shuffle(self.lines)

    def create(self, script):
        script.sql('CREATE TEMP TABLE base (i int8, g int, k int, v int8)')
        script.copy('base', self.lines)
        columns = ['i', 'g', 'k']
        for letter in 'gk':
            columns += ['(%s) AS %s_%s' % (key.format(n=letter), letter, name)
                        for name, key in KEYS.items()]
        columns += ['(%s) AS x_%s' % (value, name) for name, value in VALUES.items()]
        columns.append(("(SELECT string_agg(md5((v + j)::text), '') FROM generate_series(1, 200) j)"
                        if self.wide else "'w' || v") + ' AS wide')
        script.sql('CREATE TABLE %s AS SELECT %s FROM base' % (self.name, ', '.join(columns)))
        script.sql('DROP TABLE base; ANALYZE ' + self.name)
        # the same in partitions, of which one has columns in another order
        script.sql('CREATE TABLE {0}p (LIKE {0}) PARTITION BY RANGE (i); '
                   'CREATE TABLE {0}p1 PARTITION OF {0}p FOR VALUES FROM (minvalue) TO (40); '
                   'CREATE TABLE {0}p2 AS SELECT 1 AS gone, wide, {1} FROM {0} LIMIT 0; '
                   'ALTER TABLE {0}p2 DROP COLUMN gone; '
                   'ALTER TABLE {0}p ATTACH PARTITION {0}p2 FOR VALUES FROM (40) TO (1500); '
                   'CREATE TABLE {0}p3 PARTITION OF {0}p FOR VALUES FROM (1500) TO (maxvalue); '
                   'INSERT INTO {0}p SELECT * FROM {0}; ANALYZE {0}p'
                   .format(self.name, ', '.join(text.split(' AS ')[-1] for text in reversed(columns[:-1]))))


# ---- queries ----

def key(rng, column):
    """A column, or an expression of it that has the same order or a coarser one."""
    kind = column[2:]
    if kind in COARSER and rng.random() < 0.25:
        return COARSER[kind] % column
    return column


class Window:
    """A window, and the functions that may stand over it."""

    def __init__(self, rng, fixed=None, frame=None):
        fixed = rng.random() < 0.5 if fixed is None else fixed
        kinds = FIXED if fixed else tuple(KEYS)
        self.frame = frame or rng.choice(('rows', 'rows', 'peers', 'peers', 'whole', 'all', 'other'))
        part = [key(rng, 'g_' + kind) for kind in rng.sample(kinds, rng.choice((0, 1, 1, 1, 2)))]
        if not fixed and 'g_text' in part and rng.random() < 0.5:
            part[part.index('g_text')] = 'g_text COLLATE "%s"' % rng.choice(('C', 'POSIX'))
        self.order = []
        if self.frame != 'all':
            for kind in rng.sample(kinds, rng.choice((0, 1, 1, 2))):
                self.order.append(key(rng, 'k_' + kind) + rng.choice(('', '', ' DESC', ' NULLS FIRST',
                                                           ' DESC NULLS LAST')))
            if self.frame in ('rows', 'other') or rng.random() < 0.2:
                self.order.append('i' + rng.choice(('', '', ' DESC')))
        if self.frame == 'peers' and not self.order:
            self.order = ['k']
        self.part = part
        self.choose_frame(rng)

    def choose_frame(self, rng):
        """One of the texts of the frame."""
        frames = {
            'rows': ('ROWS UNBOUNDED PRECEDING', 'ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW'),
            'peers': ('', '', 'RANGE UNBOUNDED PRECEDING', 'RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW'),
            'all': ('',),
            'whole': tuple(m + ' BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING'
                           for m in ('ROWS', 'RANGE') + (('GROUPS',) if self.order else ())),
            'other': ('ROWS 2 PRECEDING', 'ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING',
                      'ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW',
                      'GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING'),
        }
        self.frame_text = rng.choice(frames[self.frame])

    def sibling(self, rng):
        """A window for which the rows lie in order where they do for this one."""
        other = copy.copy(self)
        other.order = self.order[:rng.randint(0, len(self.order))]
        total = any(key.split()[0] == 'i' for key in other.order)
        other.frame = rng.choice((('rows', 'rows') if total else ()) + (('peers', 'whole') if other.order else ('all', 'whole')))
        other.choose_frame(rng)
        return other

    def text(self, frame=None):
        return '(%s %s %s)' % ('PARTITION BY ' + ', '.join(self.part) if self.part else '',
                               'ORDER BY ' + ', '.join(self.order) if self.order else '',
                               self.frame_text if frame is None else frame)

    def taken(self):
        return self.frame != 'other'


def call(rng, window):
    """A call over the window: (ours, core's)."""
    function = rng.choice(tuple(FUNCTIONS))
    kind = rng.choice(FUNCTIONS[function])
    argument = 'x_' + kind
    if kind in ('cents', 'tiny', 'wide', 'most') and rng.random() < 0.4:
        argument = rng.choice(('{0} * 3', '{0} - 0.5', '{0} * x_cents', '{0} * x_tiny', '{0} / 3', 'abs({0})', '-{0} + g',
                               'CASE WHEN i % 3 = 0 THEN {0} ELSE 0.125 END', 'round({0}, 1)')).format(argument)
    if kind in ('int4', 'int8', 'float8') and rng.random() < 0.4:
        # computed over whole columns, row by row, and for some rows alone
        exact = ('CASE WHEN i % 3 = 0 THEN {0} END', 'coalesce({0}, 1)', '(-7)::{1}', '{0} / 2 - 3', '-({0} / 4) + g',
                 'CASE WHEN i > 5 THEN {0} / 2 + k END', 'abs({0} / 2)')
        rounded = ('{0} / nullif(g, 0)', '{0} / greatest(length(wide), 1)', '({0} / (SELECT 3))::{1}')
        argument = rng.choice(exact if kind == 'float8' else exact + rounded).format(argument, kind)
    over, core_over = ' OVER ' + window.text(), ' OVER ' + window.text()
    if function == 'count' and rng.random() < 0.3:
        return 'gpu_count(*)' + over, 'count(*)' + core_over
    if window.frame in ('rows', 'peers', 'all') and rng.random() < 0.6:
        if window.frame == 'rows' and rng.random() < 0.3:
            core_over = ' OVER ' + window.text('ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING')
            return 'gpu_running_%s(%s, true)%s' % (function, argument, over), \
                '%s(%s)%s' % (function, argument, core_over)
        return 'gpu_running_%s(%s)%s' % (function, argument, over), '%s(%s)%s' % (function, argument, core_over)
    return 'gpu_%s(%s)%s' % (function, argument, over), '%s(%s)%s' % (function, argument, core_over)


def beside_ours(rng, window):
    """One of core's functions that may stand beside ours, twice; numbers of rows where peers do not share them."""
    total = any(key.split()[0] == 'i' for key in window.order)
    text = rng.choice(('count(*)',) + (('row_number()', 'row_number()') if total else ())
                      + (('rank()', 'dense_rank()') if window.frame in ('peers', 'other') else ()))
    return (text + ' OVER ' + window.text(),) * 2


def several(rng, fixed):
    """A window or some, of which the node often sorts for all."""
    windows = [Window(rng, fixed)]
    for _ in range(rng.choice((0, 0, 1, 2, 3))):
        windows.append(rng.choice(windows).sibling(rng) if rng.random() < 0.3 else
                       Window(rng, fixed or rng.choice((True, True, None))))
    return windows


class Query:
    """ours and core: texts of the same query, rows told apart by their first column."""

    def __init__(self, rng, table, fixed=None, plain=False):
        windows = several(rng, fixed)
        self.taken = any(w.taken() for w in windows)
        pairs = []
        for window in windows:
            pairs += [call(rng, window) for _ in range(rng.choice((1, 1, 2, 4)))]
            pairs += [beside_ours(rng, window) for _ in range(rng.choice((0, 0, 1, 3)))]
        source = table.name
        where = rng.choice(('', '', ' WHERE ' + rng.choice(WHERE)))
        if rng.random() < 0.2:
            source += 'p b'
        elif 'b.*' in where or 'ctid' in where or 'tableoid' in where or rng.random() < 0.4:
            source += ' b'
        elif rng.random() < 0.3:
            source = '(SELECT * FROM %s ORDER BY %s OFFSET 0) s' % (
                table.name, ', '.join(windows[0].part + windows[0].order) or 'i')
        elif rng.random() < 0.2:
            source = '(SELECT * FROM {0} WHERE i % 2 = 0 UNION ALL SELECT * FROM {0} WHERE i % 2 = 1) s'.format(
                table.name)
        more = rng.choice(('', '', 'wide, g_text, k_numeric, ', 'left(wide, 40), length(wide) + 1, '))
        self.tail = ' FROM ' + source + where
        self.head = 'SELECT i, ' + more
        self.calls = pairs
        self.plain = plain

    def both(self):
        """(ours, core's)."""
        return tuple(self.head + ', '.join('%s AS r%d' % (c, n) for n, c in enumerate(calls)) + self.tail
                     for calls in zip(*self.calls))


def difference(ours, core):
    """A query with no rows where both agree."""
    return ('WITH ours AS MATERIALIZED (SELECT q::text AS r FROM (%s) q), '
            'core AS MATERIALIZED (SELECT q::text AS r FROM (%s) q) '
            "(SELECT 'ours', * FROM (TABLE ours EXCEPT ALL TABLE core) a LIMIT 2) UNION ALL "
            "(SELECT 'core', * FROM (TABLE core EXCEPT ALL TABLE ours) b LIMIT 2)" % (ours, core))


def beside(script, label, ours, core, settings=''):
    """Ours with and without the node beside core's."""
    for node in ('on', 'off'):
        script.sql('SET %s = %s%s' % (NODE, node, settings))
        script.check((label, 'node ' + node), difference(ours, core), [])


def same_lines(script, label, ours, core, prepare=None):
    """For ordered queries: both give the same lines in the same order."""
    kept = []
    script.check((label, 'core'), core, kept.append)
    for node in ('on', 'off'):
        script.sql('SET %s = %s' % (NODE, node))
        script.check((label, 'node ' + node), ours, compare(kept))


def compare(kept):
    def wrong(rows):
        if not kept:
            return 'core gave nothing'
        if rows == kept[0]:
            return None
        for number, pair in enumerate(zip(rows, kept[0])):
            if pair[0] != pair[1]:
                return 'line %d: %s, core: %s' % (number + 1, pair[0][:200], pair[1][:200])
        return '%d lines, core %d' % (len(rows), len(kept[0]))
    return wrong


def uses_node(present):
    def wrong(rows):
        if present and not any('GpuWindow)' in row for row in rows):
            return 'no node: ' + ' / '.join(rows[:12])
        return None
    return wrong


class Settings:
    def __init__(self):
        self.device = psql.query("LOAD 'gpuagg'; SHOW gpuagg.device")[-1]

    def draw(self, rng):
        parts = ['gpuagg.batch_rows = %d' % rng.choice((1024, 1024, 2048)),
                 'gpuagg.device_min_rows = %d' % rng.choice((0, 0, 1500)),
                 'work_mem = %s' % rng.choice(("'64kB'", "'64kB'", "'300kB'", "'1MB'", "'4MB'", "'64MB'")),
                 'gpuagg.resident = ' + rng.choice(('on', 'on', 'off', 'auto')),
                 'enable_hashjoin = ' + rng.choice(('on', 'on', 'off')),
                 'enable_incremental_sort = ' + rng.choice(('on', 'off'))]
        if self.device != 'cpu':
            parts.append('gpuagg.device = ' + rng.choice(('gpu', 'gpu', 'auto', 'cpu')))
        return '; SET '.join(parts)


# ---- checks ----

def random_queries(script, rng, table, settings, present, number):
    for _ in range(number):
        query = Query(rng, table)
        ours, core = query.both()
        script.sql('SET ' + settings.draw(rng))
        if query.taken and table.rows > 30 and 'false' not in query.tail:
            script.sql('SET %s = on' % NODE)
            script.check((table.name, 'plan'), 'EXPLAIN (COSTS OFF) ' + ours, uses_node(present))
        beside(script, table.name, ours, core)


def ordered_queries(script, rng, table, settings, number):
    """The order of rows, LIMIT, cursors."""
    for _ in range(number):
        query = Query(rng, table)
        ours, core = query.both()
        order = rng.choice((' ORDER BY g, k, i', ' ORDER BY i', ' ORDER BY g_text DESC, i', ' ORDER BY i DESC'))
        script.sql('SET ' + settings.draw(rng))
        limit = rng.choice(('', ' LIMIT 0', ' LIMIT 1', ' LIMIT 7', ' LIMIT 1024', ' LIMIT 1025',
                            ' OFFSET 1023 LIMIT 3', ' OFFSET 100'))
        if table.wide and not limit:
            limit = ' LIMIT 40'
        same_lines(script, table.name, ours + order + limit, core + order + limit)
        kind = rng.choice(('NO SCROLL CURSOR', 'SCROLL CURSOR', 'CURSOR WITH HOLD', 'SCROLL CURSOR WITH HOLD'))
        steps = [rng.choice(('FETCH 1', 'FETCH 3', 'FETCH 100', 'MOVE 1023', 'MOVE 1500', 'FETCH 2')) for _ in range(6)]
        if kind.startswith('SCROLL'):
            steps += ['FETCH BACKWARD 5', 'FETCH 2', 'FETCH ABSOLUTE 2', 'FETCH LAST', 'FETCH PRIOR', 'FETCH FIRST']
        steps += ['FETCH 5', 'CLOSE']
        for node in ('on', 'off'):
            script.sql('SET %s = %s; BEGIN' % (NODE, node))
            script.sql('DECLARE ours %s FOR %s%s' % (kind, ours, order))
            script.sql('DECLARE core %s FOR %s%s' % (kind, core, order))
            if 'HOLD' in kind and rng.random() < 0.5:
                script.sql('COMMIT; BEGIN')
            for step in steps:
                kept = []
                script.check((table.name, kind), step + ' core', kept.append)
                script.check((table.name, kind), step + ' ours', compare(kept))
                if step == 'FETCH 3':
                    script.check((table.name, kind), 'SELECT gpu_count(*) FROM ' + table.name,
                                 [str(table.rows)])
            script.sql('COMMIT')


def another_call(rng, name='z'):
    """Of another window, by which the node can sort."""
    return '@%s(x_%s) OVER %s AS %s' % (rng.choice(('sum', 'count')), rng.choice(('int4', 'int8', 'float8', 'cents', 'wide')),
                                       Window(rng, True, rng.choice(('rows', 'peers', 'all'))).text(), name)


def filtered_queries(script, rng, table, settings, number):
    """Conditions on functions' values, above."""
    for _ in range(number):
        window = Window(rng, rng.random() < 0.8, rng.choice(('rows', 'rows', 'peers', 'peers', 'whole', 'all')))
        calls = []
        conditions = []
        for n in range(rng.choice((1, 1, 2, 3))):
            kind = rng.choice(tuple(ABOVE))
            function = rng.choice(('min', 'max', 'count') if kind.startswith(('date', 'time')) else
                                  ('sum', 'sum', 'min', 'max', 'count', 'avg'))
            calls.append('@%s(x_%s) OVER %s AS r%d' % (function, kind, window.text(), n))
            conditions += [text.format(r='r%d' % n)
                           for text in rng.sample(ABOVE['int2' if function == 'count' else kind], 1)]
        text, _ = beside_ours(rng, window)
        if rng.random() < 0.4:
            calls.append(text + ' AS n')
            conditions.append(rng.choice(('n > 3', 'n <= 5', 'n = 1')))
            rng.shuffle(conditions)
        if rng.random() < 0.5:
            # over rows that conditions drop, or above such
            calls.append(another_call(rng))
        where = rng.choice(('', ' WHERE ' + rng.choice(WHERE)))
        text = 'SELECT * FROM (SELECT i, %s%s FROM %s b%s) q WHERE %s' % (
            rng.choice(('', 'wide, k_numeric, ')), ', '.join(calls), table.name + rng.choice(('', '', 'p')), where,
            rng.choice((' AND ', ' AND ', ' OR ')).join(conditions[:rng.choice((1, 2))]))
        script.sql('SET ' + settings.draw(rng))
        ours = 'gpu_running_' if window.frame in ('rows', 'peers', 'all') and rng.random() < 0.5 else 'gpu_'
        beside(script, table.name + ' filtered', text.replace('@', ours), text.replace('@', ''))


DECIMALS = ('cents', 'tiny', 'wide', 'most')
# What numeric parameters are, one run after the other; the values of each have scales of their own.
NUMERIC_PARAMETERS = ('1.5', '-2.5', '0.000', 'NULL', "'NaN'", '3', '12345678901234567890.25', '1e-20', '1e40')

# Aggregates over a function's value r of a type, and over columns beside it.
AGGREGATED = ('@count({r})', '@count(*)', '@max({r})', '@min({r})', '@count(*) FILTER (WHERE {r} IS NULL)', '@max(i)',
              '@count(DISTINCT k)')
SUMMED = AGGREGATED + ('@sum({r})', '@sum({r})', '@avg({r})', '@sum({r} - 1)', '@sum(i) FILTER (WHERE {r} < 0)',
                       '@max(-{r})', '@sum({r}) FILTER (WHERE i % 3 = 0 AND {r} > 0)', '@sum({r} + i)')


def between(rng, call, function, kind):
    """An expression of the subquery over a function's value, of its type or a wider one; or the value."""
    texts = ['{0}', '{0}', '{0}', 'CASE WHEN i % 3 > 0 THEN {0} END', 'CASE WHEN k > 4 THEN {0} END']
    if kind not in ('date', 'money') or function == 'count':
        texts += ['coalesce({0}, 7)', '{0} / 2', 'CASE WHEN {0} > 0 THEN {0} ELSE 3 END']
    if function in ('sum', 'count') and kind not in ('date', 'money'):
        texts += ['{0} * 2', '{0} * 2 + i', '-{0}', 'abs({0} - 100)', '{0} + i - 1']
    if kind in DECIMALS and function in ('sum', 'min', 'max'):
        texts += ['{0} * 2', '{0} - x_cents', 'round({0}, 1)', '{0} * x_tiny', 'abs(-{0} + i)', 'CASE WHEN {0} > x_cents * 3 THEN {0} ELSE -{0} END']
    if function == 'avg' and kind in DECIMALS + ('int2', 'int4', 'int8'):
        texts += ['{0} * 2', '{0} - x_cents', 'round({0}, 1)', 'round({0} * x_int2, 30)', '({0})::numeric(38,6)', 'CASE WHEN {0} > x_cents * 3 THEN {0} ELSE -{0} END',
                  'CASE WHEN abs({0}) < x_cents OR {0} IN (0, 12.5) THEN x_cents END']
    return rng.choice(texts).format(call)


def parametrized(script, rng, label, text):
    """The same with numeric parameters, in one plan for all of their values."""
    text = text.replace(' * 2', ' * $1').replace(' - x_cents', ' - $1').replace('(x_cents)', '(x_cents * $2)').replace('(x_tiny)', '(x_tiny - $2)')
    if '$' not in text:
        return
    script.sql('SET plan_cache_mode = force_generic_plan')
    for node in ('on', 'off'):
        script.sql('SET %s = %s' % (NODE, node))
        script.sql('PREPARE compared (numeric, numeric) AS ' + difference(text.replace('@', 'gpu_'), text.replace('@', '')))
        for _ in range(3):
            script.check((label, 'node ' + node), 'EXECUTE compared (%s, %s)' % (rng.choice(NUMERIC_PARAMETERS), rng.choice(NUMERIC_PARAMETERS)), [])
        script.sql('DEALLOCATE compared')
    script.sql('RESET plan_cache_mode')


def aggregated_queries(script, rng, table, settings, number):
    """Aggregates of functions' values, with conditions and groups."""
    for _ in range(number):
        window = Window(rng, rng.random() < 0.8, rng.choice(('rows', 'rows', 'rows', 'peers', 'peers', 'whole', 'all')))
        calls, results = [], []
        for n in range(rng.choice((1, 1, 2))):
            kind = rng.choice(('int4', 'int8', 'float8', 'cents', 'tiny', 'wide', 'most', 'numeric', 'date', 'money', 'int2'))
            function = rng.choice(('min', 'max', 'count') if kind == 'date' else
                                  ('sum', 'sum', 'min', 'max', 'count') + (() if kind in ('money', 'float8') else ('avg',)))
            calls.append(between(rng, '@%s(x_%s) OVER %s' % (function, kind, window.text()), function, kind) + ' AS r%d' % n)
            results += [text.format(r='r%d' % n)
                        for text in rng.sample(AGGREGATED if kind in ('date', 'money') else SUMMED, rng.choice((1, 2, 4)))]
        if window.frame == 'peers' and rng.random() < 0.4:
            rank = rng.choice(('rank()', 'dense_rank()'))
            calls.append('%s OVER %s AS n' % (rank, window.text()))
            results += rng.sample(('@max(n)', '@sum(n)', '@sum(n * i)', '@count(*) FILTER (WHERE n > 3)'), 2)
        groups = rng.choice(('', '', '', 'g', 'g_text, g', 'g_bool, g_date', 'g_bytea', 'g_oid, g_int2', 'g_time',
                             "date_trunc('day', k_timestamp)", 'k % 3', 'wide'))
        where = rng.choice(('', '', 'r0 IS NOT NULL', 'i > 20', 'k IS NOT NULL AND i % 2 = 0',
                            '' if kind in ('date', 'money') else 'r{0} < 0 OR i < 9'.format(n)))
        for name in rng.choice(('', '', 'z', 'z', 'yz')):
            # of windows below or above
            calls.append(another_call(rng, name))
            results += [text.format(r=name) for text in rng.sample(
                ('@sum({r})', '@max({r})', '@min({r})', '@count({r})', '@sum({r}) FILTER (WHERE {r} > 0 OR r0 IS NULL)'), rng.choice((0, 1, 2)))]
        text = 'SELECT %s%s FROM (SELECT *, %s FROM %s b%s) q%s%s' % (
            groups + ', ' if groups else '', ', '.join(results), ', '.join(calls), table.name + rng.choice(('', '', 'p')),
            rng.choice(('', ' WHERE ' + rng.choice(WHERE))), ' WHERE ' + where if where else '',
            ' GROUP BY ' + groups if groups else '')
        if groups and rng.random() < 0.3:
            text += ' HAVING count(*) > 1'.replace('count', '@count')
        script.sql('SET gpuagg.min_table_pages = %d; SET %s' % (rng.choice((0, 0, 0, 1000)), settings.draw(rng)))
        beside(script, table.name + ' aggregated', text.replace('@', 'gpu_'), text.replace('@', ''))
        if rng.random() < 0.4:
            parametrized(script, rng, table.name + ' aggregated by parameters', text)
        # once for each row of another query
        if rng.random() < 0.3 and not groups:
            others = rng.choice(('generate_series(1, 3)', '(VALUES (1.5), (2.25), (NULL), (1.0), (1.125))'))
            text = ('SELECT o.o, s.* FROM %s o (o), LATERAL (%s) s'
                    % (others, text.replace(' b WHERE ', ' b WHERE i > o AND ').replace(' b)', ' b WHERE i > o)')))
            text = text.replace(' * 2', ' * o').replace('i % 3 > 0 THEN', 'i % 3 > o - 2 THEN')
            beside(script, table.name + ' aggregated again', text.replace('@', 'gpu_'), text.replace('@', ''))


def other_places(script, rng, table, settings):
    """Windows below, above and beside other nodes."""
    t = table.name
    script.sql('SET ' + settings.draw(rng))
    over = 'OVER (PARTITION BY g ORDER BY k, i ROWS UNBOUNDED PRECEDING)'
    peers = 'OVER (PARTITION BY g ORDER BY k)'
    whole = 'OVER (PARTITION BY g)'

    def both(text, label):
        ours = text.replace('@', 'gpu_running_')
        core = text.replace('@', '')
        beside(script, t + ' ' + label, ours, core)
    for o in (over, peers, whole):
        both('SELECT a.k, s.* FROM (SELECT DISTINCT k FROM {0} WHERE k < 9 OR k IS NULL) a, LATERAL '
             '(SELECT i, @sum(x_int8) {1} AS r FROM {0} b WHERE b.k IS NOT DISTINCT FROM a.k OFFSET 0) s'
             .format(t, o), 'lateral')
        both('SELECT a.k, s.* FROM (SELECT DISTINCT k FROM {0} WHERE k < 5) a, LATERAL '
             '(SELECT i, @sum(x_int8 - a.k) {1} AS r, @max(x_int4 + a.k) {2} AS t FROM {0} b OFFSET 0) s'
             .format(t, o, rng.choice((over, peers, whole, 'OVER (ORDER BY i DESC)'))), 'lateral arguments')
        both('SELECT a.i, (SELECT max(r) FROM (SELECT @sum(x_int4) {1} AS r FROM {0} b WHERE b.i < a.i '
             'ORDER BY b.g, b.k, b.i LIMIT 7) q) FROM {0} a WHERE a.i < 12'.format(t, o), 'correlated')
        both('SELECT i, g, @sum(x_numeric) {1} + @count(x_int4) {1}, @sum(x_numeric) {1}, t, ctid, tableoid '
             'FROM {0} t'.format(t, o), 'whole row, system columns')
        both('SELECT g, k, c, @sum(c) {1} AS r, @max(m) {1} AS n FROM (SELECT g, k, k AS i, count(*)::int8 AS c, '
             'max(x_int4) AS m FROM {0} GROUP BY g, k) q'.format(t, o.replace('k, i ROWS', 'k ROWS')), 'over groups')
        both('SELECT DISTINCT r FROM (SELECT @max(x_int2) {1} AS r FROM {0}) q'.format(t, o), 'distinct')
        both('SELECT i, r FROM (SELECT i, g, @count(x_int8) {1} AS r FROM {0}) q WHERE r > 5 AND g IS NOT NULL'
             .format(t, o), 'filtered above')
        both('SELECT i, r FROM (SELECT i, @count(x_int8) {1} AS r FROM {0}) q WHERE r <= 3'.format(t, o),
             'run condition')
        both('SELECT i, r, n FROM (SELECT i, @sum(x_int8) {1} AS r, row_number() OVER (PARTITION BY g ORDER BY i) '
             'AS n FROM {0}) q WHERE n <= 4'.format(t, o), 'run condition of another window')
        both('SELECT i, @avg(x_int4) {1} AS r, rank() {1} AS n, lag(i) OVER (ORDER BY i) FROM {0}'
             .format(t, o if 'k' in o else over), 'with core\'s functions')
        both('SELECT i, generate_series(1, 2) AS s, @sum(x_int4) {1} AS r FROM {0}'.format(t, o), 'set-returning')
        both('SELECT a.i, b.r FROM {0} a JOIN (SELECT i, @sum(x_float8) {1} AS r FROM {0}) b USING (i) '
             'WHERE a.g IS NOT NULL'.format(t, o), 'joined')
        both('SELECT i, @sum(s) {2} AS r FROM (SELECT i, g, k, @sum(x_int4) {1} AS s FROM {0}) q'
             .format(t, o, peers), 'window of a window')
        both('SELECT a.i, (SELECT @sum(x_int4) {1} FROM {0} b WHERE b.i = a.i) AS r FROM {0} a WHERE a.i < 30'
             .format(t, o), 'one row')
    script.sql('SET enable_material = off; SET enable_hashjoin = off; SET enable_mergejoin = off')
    both('SELECT a.i AS a, b.i AS b, r FROM (SELECT i FROM {0} WHERE i < 5) a JOIN (SELECT i, @sum(x_int8) {1} AS r '
         'FROM {0} ORDER BY g, k, i LIMIT 30) b ON b.i >= a.i'.format(t, over), 'nested loop over a limit')
    script.sql('RESET enable_material; RESET enable_hashjoin; RESET enable_mergejoin')
    script.sql('SET plan_cache_mode = force_generic_plan; SET %s = on' % NODE)
    script.sql('PREPARE ours (int8) AS SELECT i, gpu_running_sum(x_int8) {1} AS r, gpu_running_max(x_int4 + $1) {2} '
               'FROM {0} WHERE i >= $1'.format(t, over, peers))
    script.sql('PREPARE core (int8) AS SELECT i, sum(x_int8) {1} AS r, max(x_int4 + $1) {2} '
               'FROM {0} WHERE i >= $1'.format(t, over, peers))
    for node in ('on', 'off', 'on'):
        for parameter in (0, 1000, 5):
            kept = []
            script.sql('SET %s = %s' % (NODE, node))
            script.sql('CREATE TEMP TABLE a AS EXECUTE core (%d)' % parameter)
            script.sql('CREATE TEMP TABLE b AS EXECUTE ours (%d)' % parameter)
            script.check((t, 'generic plan'), '(SELECT * FROM a EXCEPT ALL SELECT * FROM b) UNION ALL '
                         '(SELECT * FROM b EXCEPT ALL SELECT * FROM a)', [])
            script.sql('DROP TABLE a, b')
    script.sql('DEALLOCATE ALL; RESET plan_cache_mode')


LOOP = """DO $do$
DECLARE r record; total numeric := 0; n int := 0;
BEGIN
    FOR r IN SELECT i, %s(x_int8) OVER (%s) AS s FROM %s LOOP
        n := n + 1;
        BEGIN
            total := total + coalesce(r.s, 0) %% 1000;
            IF n %% 7 = 0 THEN
                PERFORM 1 / (n - n);
            END IF;
        EXCEPTION WHEN division_by_zero THEN
            total := total + 1;
        END;
    END LOOP;
    CREATE TEMP TABLE loop_result AS SELECT n, total;
END $do$"""


def loops(script, table):
    """Subtransactions that are rolled back while a query is open."""
    for window in ('PARTITION BY g_int4 ORDER BY k_int4, i ROWS UNBOUNDED PRECEDING',
                   'PARTITION BY g_text ORDER BY k_float8', 'PARTITION BY k_date'):
        kept = []
        for node, function in ((None, 'sum'), ('on', 'gpu_running_sum'), ('off', 'gpu_running_sum')):
            if node:
                script.sql('SET %s = %s' % (NODE, node))
            script.sql("SET work_mem = '64kB'")
            script.sql(LOOP % (function, window, table.name))
            script.check((table.name, 'loop'), 'SELECT * FROM loop_result',
                         compare(kept) if node else kept.append)
            script.sql('DROP TABLE loop_result')


BELOW = ', gpu_count(*) OVER (PARTITION BY m ORDER BY i ROWS UNBOUNDED PRECEDING) AS z'


def errors(script):
    """An error is raised by its row and not before."""
    script.sql('CREATE TABLE {0}.bad AS SELECT i, i / 100 AS g, i / 10 AS k, (i - 1500)::int AS x, '
               "CASE i WHEN 1200 THEN '92233720368547758.07' WHEN 1299 THEN '0.01' END::money AS m, "
               "CASE i WHEN 1200 THEN 1.7e308 WHEN 1299 THEN 1.7e308 END::float8 AS f "
               'FROM generate_series(0, 2999) i; CREATE INDEX ON {0}.bad (g, k, i); ANALYZE {0}.bad; '
               'VACUUM {0}.bad'.format(SCHEMA))
    script.sql('SET gpuagg.batch_rows = 1024; SET gpuagg.device_min_rows = 0')
    # (call, state, rows that come before it in ROWS, PEERS and WHOLE frames)
    cases = [('gpu_running_sum(10 / x)', '22012', 1500, 1500, 1500),
             ('gpu_running_sum(m)', '22003', 1299, 1290, 1200), ('gpu_sum(m)', '22003', 1299, 1290, 1200),
             ('gpu_running_sum(f)', '22003', 1299, 1290, 1200), ('gpu_max(1000 / x)', '22012', 1500, 1500, 1500)]
    windows = ('PARTITION BY g ORDER BY k, i ROWS UNBOUNDED PRECEDING', 'PARTITION BY g ORDER BY k',
               'PARTITION BY g')
    for function, state, *before in cases:
        for window, rows in zip(windows, before):
            # the last one puts another window below
            for source in ('{0}.bad', '(SELECT * FROM {0}.bad ORDER BY g, k, i OFFSET 0) s', BELOW + ' FROM {0}.bad'):
                for node in ('on', 'off'):
                    for mem in ('64kB', '64MB'):
                        script.sql("SET {0} = {1}; SET work_mem = '{2}'".format(NODE, node, mem))
                        query = 'SELECT i, %s OVER (%s) AS r%s' % (function, window, (
                            source if source.startswith(',') else ' FROM ' + source).format(SCHEMA))
                        label = ('errors', '%s, node %s, %s' % (window, node, mem))
                        script.check(label, 'SELECT count(r) FROM (%s) q' % query, None, state)
                        script.check(label, 'SELECT count(*) FROM (SELECT i, r FROM (%s) q LIMIT %d) q'
                                     % (query, rows), [str(rows)])
                        script.check(label, 'SELECT i, r FROM (%s OFFSET %d LIMIT 1) q' % (query, rows), None, state)
    script.check(('errors', 'files'), 'SELECT count(*) FROM pg_ls_tmpdir()', ['0'])


def big(script, rows):
    """One giant partition, many small ones, huge peer groups; spilled and in memory."""
    script.sql('CREATE TABLE {0}.big AS SELECT i, (i * 7919::int8) % {1} AS u, i / 10 AS tiny, i % 1000 AS thousand, 1 AS one, '
               'i / 100000 AS slow, (i * 31 % 1000)::int AS x4, i::int8 * 1000003 AS x8, (i % 1000) / 8.0::float8 AS xf, '
               "repeat('w', (i % 50)::int) AS w FROM generate_series(0, {1} - 1) i; ANALYZE {0}.big"
               .format(SCHEMA, rows))
    columns = [('gpu_running_sum(x4)', 'sum(x4)'), ('gpu_running_sum(x8)', 'sum(x8)'), ('gpu_sum(xf)', 'sum(xf)'),
               ('gpu_running_min(x4)', 'min(x4)')]
    script.sql('SET gpuagg.batch_rows = 65536')
    for window in ('PARTITION BY one ORDER BY u ROWS UNBOUNDED PRECEDING', 'PARTITION BY tiny ORDER BY u ROWS UNBOUNDED PRECEDING',
                   'PARTITION BY one', 'PARTITION BY tiny', 'PARTITION BY tiny ORDER BY u', 'ORDER BY slow', 'ORDER BY one, u',
                   'PARTITION BY slow ORDER BY thousand', 'PARTITION BY thousand ORDER BY u DESC'):
        for mem in ('64kB', '256MB'):
            script.sql("SET work_mem = '%s'" % mem)
            ours, core = (', '.join('%s OVER (%s) AS r%d' % (pair[side], window, n) for n, pair in enumerate(columns))
                          for side in (0, 1))
            for node in ('on', 'off') if mem == '256MB' else ('on',):
                # without the node each small partition would be a request
                script.sql('SET %s = %s; SET gpuagg.device_min_rows = %d' % (NODE, node, 0 if node == 'on' else 4096))
                script.check(('big, work_mem ' + mem, window),
                             'SELECT count(*), count(*) FILTER (WHERE a.* IS DISTINCT FROM b.*) FROM '
                             '(SELECT i, w, {1} FROM {0}.big) a FULL JOIN (SELECT i, w, {2} FROM {0}.big) b '
                             'USING (i)'.format(SCHEMA, ours, core), ['%d|0' % rows])
    script.sql('SET gpuagg.device_min_rows = 0')
    script.check(('big', 'files'), 'SELECT count(*) FROM pg_ls_tmpdir()', ['0'])


def wide(script):
    """Sets of rows with many columns take no more memory for it."""
    columns = ', '.join('i AS c%d' % n for n in range(400))
    script.sql("SET work_mem = '64kB'; SET gpuagg.device_min_rows = 0; BEGIN; DECLARE c CURSOR FOR "
               'SELECT gpu_running_sum(i) OVER (ROWS UNBOUNDED PRECEDING), z.* FROM '
               '(SELECT i, %s FROM generate_series(1, 40000) i OFFSET 0) z; MOVE 20000 FROM c' % columns)
    script.check(('memory', '400 columns'), "SELECT coalesce(sum(total_bytes), 0) < 8000000 FROM pg_backend_memory_contexts "
                 "WHERE name = 'GpuWindow rows'", ['t'])
    script.sql('COMMIT; RESET ALL; SET client_min_messages = warning')


class Session:
    """A psql whose backend can be looked at."""

    def __init__(self):
        self.run = subprocess.Popen(['psql', '-X', '-q', '-A', '-t'], stdin=subprocess.PIPE, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.say('SELECT pg_backend_pid()')
        self.backend = int(self.run.stdout.readline())

    def say(self, statement):
        self.run.stdin.write(statement + ';\n')
        self.run.stdin.flush()

    def private(self):
        """Kilobytes of memory that are the backend's alone."""
        with open('/proc/%d/status' % self.backend, encoding='ascii') as status:
            for line in status:
                if line.startswith('RssAnon:'):
                    return int(line.split()[1])
        return 0


def bounds(tally, rows):
    """Memory stays within work_mem plus a set of rows; a cancel takes less than a second."""
    table = SCHEMA + '.big'
    windows = ('ORDER BY one, u ROWS UNBOUNDED PRECEDING', 'PARTITION BY one', 'ORDER BY slow',
               'PARTITION BY tiny ORDER BY u', 'PARTITION BY one ORDER BY u')
    for window, other in [(window, window) for window in windows] + list(zip(windows, windows[1:] + windows[:1])):
        both = window if other is window else window + '; ' + other
        session = Session()
        session.say("SET work_mem = '4MB'; SET gpuagg.batch_rows = 65536; SET max_parallel_workers_per_gather = 0; "
                    'SELECT gpu_sum(x4) FROM %s WHERE i < 1000; SELECT 1 AS ready' % table)
        while session.run.stdout.readline().strip() != '1':
            pass
        before = most = session.private()
        session.say('SELECT count(*), max(s) FROM (SELECT w, gpu_running_sum(x8) OVER (%s) AS s, gpu_running_min(xf) OVER (%s) '
                    'FROM %s OFFSET 0) q' % (window, other, table))
        session.run.stdin.close()
        while session.run.poll() is None:
            try:
                most = max(most, session.private())
            except OSError:
                break
            time.sleep(0.02)
        said = session.run.stderr.read() + session.run.stdout.read()
        grown = (most - before) / 1024
        # two sets of two functions at 65,536 rows, and as much again for core's own needs
        tally.add([('memory: ' + both, None if grown < 40 and '%d|' % rows in said else
                    '%.0f MB more with work_mem 4 MB; %s' % (grown, said[:200]))])
        for mem in ('4MB', '512MB'):
            done = subprocess.run(['psql', '-X', '-q', '-A', '-t', '-v', 'VERBOSITY=sqlstate'], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, input=(
                'SELECT pg_backend_pid() AS pid \\gset\n\\setenv BACKEND :pid\n'
                "SET work_mem = '{3}'; SET statement_timeout = 300;\n"
                '\\! echo delay $(cat /proc/$BACKEND/schedstat)\nSELECT extract(epoch FROM clock_timestamp());\n'
                'SELECT count(a), count(b) FROM (SELECT gpu_running_sum(x8) OVER ({0}) AS a, '
                'gpu_avg(x4) OVER ({4}) AS b FROM (SELECT * FROM {1}, generate_series(1, {2})) b OFFSET 0) q;\n'
                'SELECT extract(epoch FROM clock_timestamp());\n\\! echo delay $(cat /proc/$BACKEND/schedstat)\n'
                'RESET statement_timeout; SELECT gpu_sum(x4) FROM {1} WHERE i < 5;').format(window, table, 30000000 // rows, mem, other))
            times = [float(line) for line in done.stdout.splitlines() if re.fullmatch(r'\d{9,}\.\d+', line)]
            # ns that the backend was ready to run and another process had the processor
            delays = [int(line.split()[2]) for line in done.stdout.splitlines() if re.fullmatch(r'delay \d+ \d+ \d+', line)]
            if len(times) != 2 or len(delays) != 2:
                tally.add([('cancel: %s, %s' % (both, mem), 'no times: %s' % done.stdout[:200])])
                continue
            took = times[1] - times[0] - (delays[1] - delays[0]) / 1e9
            good = '57014' in done.stderr and took < 0.3 + LIMIT_S
            tally.add([('cancel: %s, %s' % (both, mem), None if good else '%.2f s: %s' % (took, done.stderr[:200]))])
    tally.truth('no temporary files are left', psql.query('SELECT count(*) FROM pg_ls_tmpdir()') == ['0'])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=20261121)
    parser.add_argument('--tables', type=int, default=8)
    parser.add_argument('--queries', type=int, default=4, help='over each table')
    parser.add_argument('--rows', type=int, default=100000, help='of the large table')
    options = parser.parse_args()
    print('seed %d, %d tables' % (options.seed, options.tables))

    tally = psql.Tally('windows')
    psql.query('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuagg; '
               'DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s' % (SCHEMA, SCHEMA))
    present = any('GpuWindow)' in line for line in psql.query(
        'EXPLAIN SELECT gpu_running_sum(i) OVER (ORDER BY i) FROM generate_series(1, 3) i'))
    settings = Settings()
    sizes = (0, 1, 3, 33, 127, 1023, 1024, 1025, 2048, 3071, 4099, 7001, 5000)
    for number in range(options.tables):
        rng = random.Random('%d %d' % (options.seed, number))
        table = Table(rng, number, sizes[-1 - number % len(sizes)])
        script = psql.Script()
        table.create(script)
        random_queries(script, rng, table, settings, present, options.queries)
        filtered_queries(script, rng, table, settings, options.queries)
        aggregated_queries(script, rng, table, settings, options.queries)
        script.sql('RESET ALL; SET client_min_messages = warning')
        ordered_queries(script, rng, table, settings, max(1, options.queries // 4))
        script.sql('RESET ALL; SET client_min_messages = warning')
        if number % 3 == 0:
            other_places(script, rng, table, settings)
            script.sql('RESET ALL; SET client_min_messages = warning')
            loops(script, table)
        tally.add(script.run())
    for part in (errors, wide, lambda script: big(script, options.rows)):
        script = psql.Script()
        part(script)
        tally.add(script.run())
    bounds(tally, options.rows)
    psql.query('SET client_min_messages = warning; DROP SCHEMA %s CASCADE' % SCHEMA)
    print('the node is ' + ('used' if present else 'absent'))
    tally.finish()


if __name__ == '__main__':
    main()
