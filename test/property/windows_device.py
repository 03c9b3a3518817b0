#!/usr/bin/env python3
"""windows_device.py: windows of tables whose columns are on the device, with aggregates or conditions above, beside core's.

Tables change between queries, so that their columns are on the device, in memory alone, or not all there.
Some are made of several: partitions, children, a view.  What EXPLAIN counts of their scans is core's, too.
Arguments are chosen so that core is exact; orders under ROWS are total.  Where there is a device, it
does a part of all queries at least.  Seeded.  Connection: the environment's.
"""
import argparse
import os
import random
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

import psql  # noqa: E402

SCHEMA = 'property_windows_device'
ON_DEVICE = 40  # the least percentage of queries that the device does, where there is one
FILTERED = 40  # and of those whose rows it filters
SEVERAL_ON_DEVICE = 30  # the same of tables that are made of several
SEVERAL_FILTERED = 20
STACKED = 20  # the same of queries of several windows, of all tables
# Why there is nothing that the device could do.
ELSEWHERE = ('some pages are not in memory', 'columns are not in memory', 'columns are not on the device', 'no row passes the filter below the window')

# Columns made of a row's number i, or of a number n of few values.
KEYS = {
    'int2': '({n} - 3)::int2', 'int4': '{n} * 400007 - 9', 'int8': '{n}::int8 * 5000000000 - 7',
    'float4': "CASE {n} WHEN 1 THEN (CASE WHEN i % 2 = 0 THEN '-0' ELSE '0' END)::float4 WHEN 2 THEN 'NaN' ELSE -{n} / 4.0 END",
    'float8': "CASE {n} WHEN 0 THEN (CASE WHEN i % 2 = 0 THEN '-0' ELSE '0' END)::float8 "
              "WHEN 3 THEN 'NaN' WHEN 5 THEN '-Infinity' ELSE {n} / 8.0 - 1 END",
    'date': "CASE {n} WHEN 2 THEN 'infinity' ELSE '2000-01-01'::date + {n} END",
    'timestamp': "'1999-12-31'::timestamp + {n} * '1 hour'::interval", 'time': "'00:00'::time + {n} * '1 second'::interval",
    'timestamptz': "'1999-12-31'::timestamptz - {n} * '1 hour'::interval", 'money': '({n} - 3)::int8::money',
    'oid': '(4294967295 - {n})::oid', 'bool': '{n} % 2 = 0',
}
VALUES = {
    'int2': '(i * 7919 % 65536 - 32768)::int2', 'int4': '(i::int8 * 4294967 % 4294967296 - 2147483648)::int4',
    'int8': '(i * 7919::int8 % 1000000 - 500000) * 18446744073709', 'float4': '(i * 7919 % 800 - 400) / 4.0',
    'float8': '(i * 7919 % 8000 - 4000) / 8.0', 'cents': '((i * 7919 % 800000 - 400000) / 100.0)::numeric(12,2)',
    'wide': '((i * 7919::int8 % 800000 - 400000) / 100.0)::numeric(30,2)', 'money': '(i * 7919::int8 % 1000000 - 500000)::money / 100',
    'date': "'2000-01-01'::date + (i * 7919 % 9999 - 5000)", 'timestamp': "'2000-01-01'::timestamp + i * 7919 * '1 s'::interval",
}
TYPES = {'cents': 'numeric(12,2)', 'wide': 'numeric(30,2)', 'char': 'char(9)'}
# Columns that are given out, and tested, below windows and above.
STRINGS = {'text': "'s' || i % 7", 'char': "repeat('c', i % 4)", 'bytea': "decode(lpad((i % 19)::text, 4, '0'), 'hex')",
           'uuid': "md5((i % 5)::text)::uuid", 'name': "'n' || i"}
SUMMED = ('int2', 'int4', 'int8', 'float4', 'float8', 'cents', 'wide')
ARGUMENTS = {'int4': ('{0} / 2', 'CASE WHEN i % 3 = 0 THEN {0} END', 'coalesce({0}, -1)', 'abs({0} / 3)'),
             'int8': ('{0} / 4 + i', '-{0}'), 'float8': ('{0} * 2', '{0} - i'), 'cents': ('{0}',)}
WHERE = ('i % 3 > 0', 'k_int4 IS NOT NULL', 'i > 40', 'v_int4 > 0 OR v_cents < 0', "k_date >= date '2000-01-02'", 'false',
         'v_float8 BETWEEN -100 AND 200', 'i < 2000 AND v_int8 <> 0', 'length(pad) > 3', '1000 / (i + 7) > 2')
OF_STRINGS = ("s_text <> 's3'", "s_text LIKE 's%' AND s_char IN ('c', 'ccc')", 's_uuid IS NULL OR i % 3 = 0', "s_name < 'n4'", "s_bytea > '\\x0007'")
# What some tables of several have instead of a column.
MIXED = {'k_int4': ('v_int4', '7', 'NULL::int4', 'k_int4 / 3'), 'k_int8': ('i::int8', 'v_int8'), 'k_bool': ('i % 2 = 0', 'NOT k_bool', 'NULL::bool'),
         'k_date': ('v_date', "date '2000-01-01'"), 'k_float8': ('0.5::float8', 'v_float8'), 'k_int2': ('3::int2',), 'v_int4': ('i', '-k_int4', '5'),
         'v_int8': ('0::int8', 'k_int8'), 'v_float8': ('v_float8 / 2', "'1'::float8"), 'v_cents': ('-v_cents', '(v_cents + 1)::numeric(12,2)'),
         's_text': ("'s1'", 's_text::varchar::text'), 's_char': ("'cc'::char(9)",)}
ABOVE = ('{r} IS NOT NULL', 'k_bool', 'k_bool IS NOT TRUE OR i < 90', 'i > 50', 'k_int4 IS NOT NULL AND i % 2 = 0', '{r} IS NULL OR i % 5 < 3')
NUMBERS = ('{r} < 0', '{r} >= 3', '{r} <= 1000 OR i < 9', '{r} BETWEEN -1000 AND 20000')
AGGREGATES = ('@count(*)', '@count({r})', '@max({r})', '@min({r})', '@count(*) FILTER (WHERE {r} IS NULL)', '@max(i)', '@sum(v_int4)',
              '@min(v_cents)', '@sum(v_float8) FILTER (WHERE i % 3 = 0)')
OF_NUMBERS = AGGREGATES + ('@sum({r})', '@sum({r}) FILTER (WHERE i % 3 = 0)', '@max(-{r})', '@sum({r}) FILTER (WHERE {r} > 0)')
# core's sums of quotients of floats are rounded; equal numerics may be shown with other scales
OF_AVERAGES = AGGREGATES + ('@max(-{r})', '@count(*) FILTER (WHERE {r} > 0)')
OF_QUOTIENTS = ('@count(*)', '@count({r})', '@count(*) FILTER (WHERE {r} IS NULL)', '@count(*) FILTER (WHERE {r} < 2.5)', '@max(i)', '@sum({r})',
                'trim_scale(@max({r}))', 'trim_scale(@min({r}))', '@avg({r})', '@sum({r}) FILTER (WHERE {r} > 0 AND i % 3 = 0)', '@max({r}::float8)',
                '@sum(round({r}, 1))', '@max(round({r}, 2))', '@min(({r})::numeric(38,3))', '@count(*) FILTER (WHERE {r} * 2 > v_cents OR abs({r}) < i)')
# Conditions on a function's value, by the kind of it; those of others are no bounds.
INTEGERS = ('{r} < 0', '{r} >= -3', '{r} = {number}', '{r} > 3000000000', '{r} < -99999999999', '{r} BETWEEN -1000 AND 200000', '700 > {r}', '{r} <= 4::int2')
NUMERICS = ('{r} < 0', '{r} >= -3.75', '{r} > 1e40', '{r} > -1e40', "{r} < 'NaN'", '{r} <= 12.005', '{r} = 0.5', '{r} BETWEEN -1000.001 AND 3000')
FLOATS = ('{r} < 0', '{r} >= 3.3', "{r} = 'NaN'", "{r} < '-Infinity'", '{r} <= 1.5::float4', '{r} > -1e30', '{r} BETWEEN -90 AND 20')
COMPARED = {'int2': INTEGERS, 'int4': INTEGERS, 'int8': INTEGERS, 'float4': FLOATS, 'float8': FLOATS, 'cents': NUMERICS, 'wide': NUMERICS,
            'money': ("{r} < '3'::money",), 'date': ("{r} < date '1999-01-01'", "{r} >= date '2012-03-04'"),
            'timestamp': ("{r} <= timestamp '2000-01-02'", "{r} > timestamp '2000-02-03 04:05'")}
GROUPS = ('', '', '', 'k_int4', 'k_date, k_int2', 'k_int8, i % 3', 'k_bool', 'k_float4 > 0', 'r0 IS NULL', 'k_timestamp', 'i')


class Table:
    """A table of some chunks; in random order, some of whose keys and values are NULL."""

    def __init__(self, rng, number, rows):
        self.name = '%s.t%d' % (SCHEMA, number)
        self.rows = rows
        self.few = rng.choice((1, 3, 8, 40, rows))
        self.nulls = rng.choice((0, 0, 5, 17))
        self.pad = rng.choice((0, 100, 900))

    def columns(self):
        parts = []
        for prefix, kinds in (('k', KEYS), ('v', VALUES), ('s', STRINGS)):
            for number, (kind, text) in enumerate(kinds.items()):
                text = text.format(n='((i * %d) %% %d)' % (17 + number, self.few))
                if self.nulls:
                    text = 'CASE WHEN (i + %d) %% %d > 0 THEN %s END' % (number, self.nulls, text)
                parts.append('(%s)::%s AS %s_%s' % (text, TYPES.get(kind, kind), prefix, kind))
        return ', '.join(parts)

    aggregated = True  # by the device, without a window

    def leaves(self):
        """The tables that have its rows."""
        return [self.name]

    def rows_of(self, first, last, order='*'):
        return ("WITH (autovacuum_enabled = off) AS SELECT {0} FROM (SELECT i, {1}, repeat('p', {2}) AS pad FROM generate_series({3}, {4}) i) q "
                'ORDER BY hashint4(i)'.format(order, self.columns(), self.pad, first, last))

    def create(self, script):
        script.sql('CREATE TABLE %s %s' % (self.name, self.rows_of(1, self.rows)))

    def between(self, script, rng):
        """What may happen to all of it."""

    def prefetch(self, script):
        """All of it is on the device, if there is one."""
        for leaf in self.leaves() if DEVICE else ():
            script.sql("SELECT gpuagg_prefetch('%s')" % leaf)

    def vacuum(self, script):
        for leaf in self.leaves():
            script.sql('VACUUM (FREEZE, ANALYZE) ' + leaf)

    def renew(self, script):
        """All of it is on the device, from pages that are all there: of a table that became shorter columns may be longer."""
        self.vacuum(script)
        for leaf in self.leaves():
            script.sql("SELECT gpuagg_evict('%s')" % leaf)
        self.prefetch(script)

    def change(self, script, rng):
        """What happens between queries."""
        self.between(script, rng)
        leaf = rng.choice(self.leaves())
        fill = 'fill'
        evict = ("SELECT gpuagg_evict('%s')" % leaf,)
        if DEVICE and rng.random() < 0.5:
            evict += ("SELECT gpuagg_prefetch('%s', '{i,k_int4}')" % leaf,)
        vacuum = 'VACUUM ' + leaf
        update = 'UPDATE %s SET v_int4 = v_int4 / 2 WHERE i %% 97 = %d' % (leaf, rng.randrange(97))
        delete = 'DELETE FROM %s WHERE i %% 89 = %d' % (leaf, rng.randrange(89))
        for statement in rng.choice(((), (fill,), (update,), (update, vacuum), (update, vacuum, fill), (delete, vacuum), (delete, vacuum, fill),
                                     ('BEGIN', update, 'ROLLBACK', vacuum, fill), evict)):
            if statement != fill:
                script.sql(statement)
            elif rng.random() < 0.7:
                self.prefetch(script)
            elif DEVICE:
                script.sql("SELECT gpuagg_prefetch('%s')" % leaf)


class Several(Table):
    """One that is made of several, which have their columns in other orders, and some that are dropped."""

    def __init__(self, rng, number, rows):
        Table.__init__(self, rng, number, rows)
        self.kind = rng.choice(('partitions', 'partitions', 'children', 'view', 'filters', 'filters'))
        self.aggregated = self.kind != 'filters'
        ends = sorted(rng.sample(range(1, rows), min(rng.choice((1, 2, 4)), rows - 1))) if rows > 1 else []
        # the last has no rows
        self.ranges = list(zip([0] + ends + [rows], ends + [rows, rows + 9]))
        self.seed = rng.randrange(1 << 30)
        self.detached = None

    def leaf(self, number):
        return '%s_%d' % (self.name, number)

    def leaves(self):
        return [self.leaf(number) for number in range(len(self.ranges))]

    def attach(self, script, number):
        first, last = self.ranges[number]
        script.sql('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)' % (self.name, self.leaf(number), first + 1, last + 1)
                   if self.kind == 'partitions' else 'ALTER TABLE %s INHERIT %s' % (self.leaf(number), self.name))

    def create_leaf(self, script, number):
        rng = random.Random('%d %d' % (self.seed, number))
        columns = ['i', 'pad'] + ['k_' + kind for kind in KEYS] + ['v_' + kind for kind in VALUES] + ['s_' + kind for kind in STRINGS]
        if self.kind not in ('view', 'filters'):
            columns += ['i + %d AS junk%d' % (n, n) for n in range(rng.choice((0, 1, 3)))]
            rng.shuffle(columns)
        script.sql('CREATE TABLE %s %s' % (self.leaf(number), self.rows_of(self.ranges[number][0] + 1, self.ranges[number][1], ', '.join(columns))))
        for column in columns:
            if ' AS junk' in column:
                script.sql('ALTER TABLE %s DROP COLUMN %s' % (self.leaf(number), column.split(' AS ')[1]))

    def filtered_leaf(self, leaf, rng):
        """What a view has of a table: other rows than of others, and here and there other columns."""
        columns = ['i', 'pad'] + ['k_' + kind for kind in KEYS] + ['v_' + kind for kind in VALUES] + ['s_' + kind for kind in STRINGS]
        for column, others in MIXED.items():
            if rng.random() < 0.15:
                columns[columns.index(column)] = '%s AS %s' % (rng.choice(others), column)
        conditions = [text for text in WHERE + OF_STRINGS if not re.search('false|length|s_name', text)]  # the device has all of them
        where = ' AND '.join(rng.sample(conditions, rng.choice((0, 1, 1, 2))))
        return 'SELECT %s FROM %s%s' % (', '.join(columns), leaf, ' WHERE ' + where if where else '')

    def create(self, script):
        for number in range(len(self.ranges)):
            self.create_leaf(script, number)
        if self.kind == 'view':
            script.sql('CREATE VIEW %s AS %s' % (self.name, ' UNION ALL '.join('SELECT * FROM ' + leaf for leaf in self.leaves())))
            return
        if self.kind == 'filters':
            rng = random.Random(self.seed)
            script.sql('CREATE VIEW %s AS %s' % (self.name, ' UNION ALL '.join(self.filtered_leaf(leaf, rng) for leaf in self.leaves())))
            return
        script.sql('CREATE TABLE %s (LIKE %s)%s' % (self.name, self.leaf(0), ' PARTITION BY RANGE (i)' if self.kind == 'partitions' else ''))
        for number in range(len(self.ranges)):
            self.attach(script, number)

    def between(self, script, rng):
        """A part of it comes and goes."""
        if self.kind in ('view', 'filters'):
            return
        if self.detached is not None:
            self.attach(script, self.detached)
            self.detached = None
        elif rng.random() < 0.2:
            self.detached = rng.randrange(len(self.ranges))
            script.sql('ALTER TABLE %s DETACH PARTITION %s' % (self.name, self.leaf(self.detached)) if self.kind == 'partitions'
                       else 'ALTER TABLE %s NO INHERIT %s' % (self.leaf(self.detached), self.name))


DEVICE = []  # not empty: there is one


def condition(rng, table):
    """One on a table's rows."""
    return rng.choice(WHERE + OF_STRINGS)


def window(rng, frame):
    kinds = tuple(KEYS)
    part = [rng.choice(('k_%s', 'k_%s', '%s')) for _ in range(rng.choice((0, 1, 1, 2)))]
    part = [text % rng.choice(kinds) if text == 'k_%s' else rng.choice(('i %% 7', 'k_int4 / 2', 'k_int2 + 0')).replace('%%', '%')
            for text in part]
    order = ['k_' + kind + rng.choice(('', '', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST')) for kind in rng.sample(kinds, rng.choice((0, 1, 1, 2)))]
    if frame == 'rows' or rng.random() < 0.2:
        order.append('i' + rng.choice(('', ' DESC')))
    if not order and not part and frame == 'whole' and rng.random() < 0.5:
        return '()'
    if not order and (frame == 'peers' or not part):
        order = ['k_int4']
    frames = {'rows': 'ROWS UNBOUNDED PRECEDING', 'peers': '', 'whole': 'RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING'}
    return '(%s ORDER BY %s %s)' % ('PARTITION BY ' + ', '.join(part) if part else '', ', '.join(order), frames[frame]) if order else \
        '(PARTITION BY %s)' % ', '.join(part)


def call(rng, frame, over, first):
    """Ours, core's, and what of its values is core's, too; the first is one of ours alone."""
    pick = rng.random() + first
    if pick < 0.12:
        return 'gpu_count(*) OVER ' + over, 'count(*) OVER ' + over, OF_NUMBERS
    total = ' i ' in over.replace(')', ' )').replace(',', ' ,')
    if pick < 0.3 and (frame == 'peers' or (frame == 'rows' and total)):
        text = rng.choice(('rank()', 'dense_rank()') if frame == 'peers' else ('row_number()',)) + ' OVER ' + over
        return text, text, OF_NUMBERS
    function = rng.choice(('sum', 'sum', 'sum', 'avg', 'avg', 'min', 'max', 'count'))
    kind = rng.choice(SUMMED if function in ('sum', 'avg') else tuple(VALUES))
    if kind == 'wide' and rng.random() < 0.7:
        kind = 'cents'
    if kind == 'int2' and function in ('min', 'max'):
        kind = 'int4'
    argument = 'v_' + kind
    if rng.random() < 0.3:
        argument = rng.choice(ARGUMENTS.get(kind, ('{0}',))).format(argument)
    ours = rng.choice(('gpu_', 'gpu_running_')) if frame != 'whole' else 'gpu_'
    core = '%s(%s) OVER %s' % (function, argument, over)
    text = '%s%s(%s) OVER %s' % (ours, function, argument, over)
    if ours == 'gpu_running_' and frame == 'rows' and rng.random() < 0.3:
        text = '%s%s(%s, true) OVER %s' % (ours, function, argument, over)
        core = core.replace('ROWS UNBOUNDED PRECEDING', 'ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING')
    if function == 'avg':
        return text, core, OF_AVERAGES if kind.startswith('float') else OF_QUOTIENTS
    # core adds float4 up in float4
    return text, core, OF_NUMBERS if function == 'count' or (kind in SUMMED and kind != 'float4') else AGGREGATES


def between(rng, call):
    """The same with an expression over its values, or without."""
    ours, core, aggregates = call
    texts = ['CASE WHEN i % 3 > 0 THEN {0} END']
    if aggregates is OF_NUMBERS:
        texts.append('coalesce({0}, 7)')
    if aggregates is OF_AVERAGES:
        texts += ['{0} * 2', 'coalesce({0}, 1.5)']
    if aggregates is OF_QUOTIENTS:
        texts += ['round({0}, 1)', '{0} * 2 - i', 'round({0} * 2, 3)', '({0})::numeric(38,2)', 'CASE WHEN {0} > v_cents * 3 THEN v_cents END']
    if re.match(r'gpu_count|rank|dense_rank|row_number|gpu_(running_)?(sum|max)\(v_int2', ours):
        texts += ['{0} * 2 + i', '-{0}', '{0} % 5', 'abs({0} - 100)']
    if re.match(r'gpu_(running_)?(sum|min|max)\(v_(cents|wide)\W', ours):
        texts += ['{0} * 2', '{0} - v_cents', 'abs({0} - i)', 'round({0}, 1)', 'CASE WHEN {0} > v_cents * 3 THEN {0} END']
    text = rng.choice(texts) if rng.random() < 0.3 else '{0}'
    return text.format(ours), text.format(core), aggregates


def windows(rng, frames):
    """(frame, window) of a query: one, or several that may have an order in common."""
    several = []
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        frame = rng.choice(frames)
        over = window(rng, frame)
        if several and frame == 'whole' and rng.random() < 0.5:
            part = re.match(r'.(PARTITION BY .*?)( ORDER|.$)', several[-1][1])
            over = '(%s)' % part.group(1) if part else '()'
        several.append((frame, over))
    return several


def query(rng, table):
    """(ours, core's), with @ before aggregates' names; and whether it can be asked for each row of another query."""
    overs = windows(rng, ('rows', 'rows', 'rows', 'peers', 'peers', 'whole'))
    calls = [call(rng, *overs[n % len(overs)], n == 0) for n in range(max(len(overs), rng.choice((1, 1, 2, 3))))]
    calls = [between(rng, pair) for pair in calls]
    results = []
    for n, (_, _, aggregates) in enumerate(calls):
        results += [text.format(r='r%d' % n) for text in rng.sample(aggregates, rng.choice((1, 2, 3)))]
    above = rng.choice(('', '', rng.choice(ABOVE).format(r='r0'), rng.choice(ABOVE if calls[0][2] is AGGREGATES else NUMBERS).format(r='r0')))
    groups = rng.choice(GROUPS)
    where = rng.choice(('', '', condition(rng, table)))
    texts = []
    for side in (0, 1):
        texts.append('SELECT %s%s FROM (SELECT *, %s FROM %s b%s) q%s%s%s' % (
            groups + ', ' if groups else '', ', '.join(results), ', '.join('%s AS r%d' % (pair[side], n) for n, pair in enumerate(calls)),
            table.name, ' WHERE ' + where if where else '', ' WHERE ' + above if above else '', ' GROUP BY ' + groups if groups else '',
            ' HAVING @count(*) > 1' if groups and len(groups) % 2 == 0 else ''))
    return texts[0].replace('@', 'gpu_'), texts[1].replace('@', ''), not groups


def kind_of(text):
    """The kind of a function's values, as of COMPARED."""
    function, kind = re.match(r'gpu_(?:running_)?(\w+)\(.*?v_([a-z0-9]+)', text).groups()
    if function == 'avg':
        return 'float8' if kind.startswith('float') else 'cents'
    return 'int8' if function == 'count' else {'int2': 'int4', 'int8': 'wide'}.get(kind, kind) if function == 'sum' else kind


def filtered(rng, table):
    """(ours, core's): rows that pass conditions above, or all; and whether they are in a total order."""
    overs = windows(rng, ('rows', 'rows', 'rows', 'peers', 'whole'))
    calls = []
    while len(calls) < len(overs) or (len(calls) < 2 and rng.random() < 0.4):
        # those of all rows have run conditions
        frame, over = overs[len(calls) % len(overs)]
        ours, core, _ = call(rng, frame, over, True)
        if '_count(' not in ours or frame != 'rows':
            calls.append((ours, core))
    conditions = [rng.choice(COMPARED[kind_of(ours)]).format(r='r%d' % n, number=rng.choice((0, 5, -7))) for n, (ours, _) in enumerate(calls)]
    if rng.random() < 0.3:
        conditions.insert(rng.randrange(2), rng.choice(('i % 3 > 0', 'k_int4 IS NOT NULL', 'r0 IS NOT NULL')))
    if rng.random() < 0.25:
        conditions = []
    columns = ['k_' + kind for kind in KEYS] + ['v_' + kind for kind in VALUES]
    if rng.random() < 0.4:
        columns += 2 * ['s_' + kind for kind in STRINGS]
    columns = ['r%d' % n for n in range(len(calls))] + ['i'] + rng.sample(columns, rng.choice((0, 1, 2, 4)))
    rng.shuffle(columns)
    columns = columns[:rng.choice((1, 2, 9))]
    in_order = len(overs) == 1 and overs[0][0] == 'rows'
    where = rng.choice(('', '', ' WHERE ' + condition(rng, table)))
    limit = ' LIMIT 7' if in_order and rng.random() < 0.2 else ''
    texts = ['SELECT %s FROM (SELECT *, %s FROM %s b%s) q%s%s' % (
        ', '.join(columns), ', '.join('%s AS r%d' % (pair[side], n) for n, pair in enumerate(calls)), table.name, where,
        ' WHERE ' * bool(conditions) + ' AND '.join(conditions), limit) for side in (0, 1)]
    return texts[0], texts[1], in_order


def same(kept, in_order=False):
    def wrong(rows):
        if rows == kept[0] or (not in_order and sorted(rows) == sorted(kept[0])):
            return None
        return '%d rows, core %d: %s' % (len(rows), len(kept[0]), ' / '.join(
            '%s, core: %s' % pair for pair in zip(sorted(rows), sorted(kept[0])) if pair[0] != pair[1])[:300])
    return wrong


class Counts:
    """Queries of which something is the device's to do, as their tables are when EXPLAIN runs them."""

    def __init__(self):
        self.all = 0
        self.on_device = 0
        self.stacked = 0  # of several windows
        self.stacked_on_device = 0

    def take_plan(self, rows):
        text = '\n'.join(rows)
        if any('on Device: ' + reason in text or 'Device Not Used: ' + reason in text for reason in ELSEWHERE):
            return
        self.all += 1
        if text.count('(GpuWindow)') > 1:
            self.stacked += 1
            self.stacked_on_device += 'Computed with Window Above: true' in text
        self.on_device += 'Filtered on Device: true' in text or 'Given by Device: true' in text or 'Computed with Aggregates Above: true' in text


def beside(script, label, ours, core, counts, in_order=False):
    kept = []
    script.check((label, 'core'), core, kept.append)
    script.check((label, ours), ours, same(kept, in_order))
    if counts is not None:
        script.check((label, ours), 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, VERBOSE) ' + ours, counts.take_plan)


def scanned(rows):
    """What EXPLAIN says of the scans of tables and of what brings them together."""
    said = []
    scan = False
    for row in rows:
        node = re.search(r'->  (Append|Seq Scan on \S+).*(\(.*\))', row)
        if node:
            said.append(re.sub(r'^.*->  ', '', row))
        elif '->  ' in row:
            scan = False
        elif scan and 'Rows Removed by Filter' in row:
            said.append(row.strip())
        scan = bool(node) or scan
    return said


def counted(script, label, text):
    """EXPLAIN counts the rows of each scan as core does; on the CPU those of several windows may be read once more (window_below.c)."""
    kept = []

    def wrong(rows):
        if text.count(' OVER ') > 1 and not any('Computed with Aggregates Above: true' in row for row in kept[0]):
            return None
        return None if scanned(rows) == scanned(kept[0]) else '%s, core %s' % (scanned(kept[0]), scanned(rows))

    script.check((label, 'counts'), 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' + text, kept.append)
    # row by row, groups and partitions would have more requests open than there is memory for
    script.sql('SET gpuagg.enable_window_scan = off; SET gpuagg.enable_agg_scan = off; SET gpuagg.device = cpu')
    script.check((label, 'counts, core: ' + text), 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' + text, wrong)
    script.sql('RESET gpuagg.enable_window_scan; RESET gpuagg.enable_agg_scan; RESET gpuagg.device')


def again(text):
    """The same, asked for each of three rows."""
    bound = ' b WHERE i > o * 100'
    return 'SELECT o, s.* FROM generate_series(1, 3) o, LATERAL (%s) s' % (
        text.replace(' b WHERE ', bound + ' AND ') if ' b WHERE ' in text else text.replace(' b)', bound + ')'))


def filters(script, rng, table, label, counts):
    """Conditions above without aggregates."""
    ours, core, in_order = filtered(rng, table)
    if rng.random() < 0.2:
        ours, core = again(ours), again(core)
    kept = []
    script.check((label, 'core'), core, kept.append)
    script.check((label, ours), ours, same(kept, in_order))
    script.check((label, ours), 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, VERBOSE) ' + ours, counts.take_plan)


def queries(script, rng, table, number, counts, filter_counts):
    for step in range(number):
        table.change(script, rng)
        filters(script, rng, table, '%s, step %d, filter' % (table.name, step), filter_counts)
        ours, core, once = query(rng, table)
        for time in range(rng.choice((1, 2))):
            beside(script, '%s, step %d, time %d' % (table.name, step, time), ours, core, counts)
        counted(script, '%s, step %d' % (table.name, step), ours)
        if once and rng.random() < 0.4:
            beside(script, '%s, step %d, again' % (table.name, step), again(ours), again(core), counts)
            counted(script, '%s, step %d, again' % (table.name, step), again(ours))


def averages(script, table):
    """Averages of floats that are rounded at each row: the device's are the CPU's."""
    calls = ('gpu_avg(v_float8 / 3) OVER (PARTITION BY k_int4 ORDER BY i ROWS UNBOUNDED PRECEDING)',
             'gpu_running_avg(v_float4 / 3, true) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING)', 'gpu_avg(v_float8 / 7) OVER (PARTITION BY k_int8)',
             'gpu_avg(v_float4 * 1.1::float4) OVER (PARTITION BY k_bool ORDER BY k_date)', "gpu_avg(CASE WHEN i = 20 THEN 'Infinity' ELSE v_float8 / 9 END) OVER (ORDER BY i)",
             "gpu_avg(CASE WHEN i < 9 THEN -0.0 WHEN i = 900 THEN 'NaN' ELSE v_float8 / 3e200 END) OVER (PARTITION BY i > 100 ORDER BY i DESC)")
    table.renew(script)
    for call in calls:
        rows = 'SELECT i, r FROM (SELECT i, %s AS r FROM %s) q WHERE r < 1000' % (call, table.name)
        of_all = 'SELECT i % 7, gpu_sum(r), gpu_max(r), gpu_min(r), gpu_count(r) FROM (SELECT i, {} AS r FROM {}) q GROUP BY i % 7'.format(call, table.name)
        for text in (rows, of_all):
            kept = []
            script.sql('SET gpuagg.device = cpu')
            script.check(('averages, cpu', call), text, kept.append)
            script.sql('RESET gpuagg.device')
            script.check(('averages', call), text, same(kept))
            script.check((table.name, table.rows, 'averages'), 'SELECT engine, reason FROM gpuagg_last_query()', on_device)


QUOTIENTS = {
    'zeros': ('int4', 'CASE WHEN i % 5 > 0 THEN 0 END'), 'few': ('int2', 'i % 7 - 3'), 'ones': ('int4', '1 + i / 20000'), 'halves': ('numeric(9,1)', '0.5 + i % 2'),
    'ints': ('int4', '(i * 7919::int8 % 2000001 - 1000000)::int4'), 'longs': ('int8', '(i * 7919::int8 % 2001 - 1000) * 1000000007'), 'cents': ('numeric(12,2)', '(i * 7919 % 20000001 - 9999999) / 100.0'),
    'mills': ('numeric(12,3)', '(i * 31 % 1999 - 999) / 1000.0'), 'four': ('numeric(15,4)', '(i % 9 - 4) / 10000.0'), 'six': ('numeric(15,6)', 'CASE WHEN i % 3 = 0 THEN (i % 11 - 5) / 1000000.0 END'),
    'tiny': ('numeric(18,12)', '(i % 13 - 5) / 1000000000000.0'),
}
OVERS = ('(ORDER BY i ROWS UNBOUNDED PRECEDING)', '(PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING)', '(PARTITION BY g ORDER BY i / 3)', '(PARTITION BY g, i % 3)', '()')


def quotients(script):
    """Averages of integers and numerics, each with a scale of its own: sums are core's, to the last digit; extremes the CPU's."""
    table = SCHEMA + '.quotients'
    for rows in (1, 33, 1025, 30000):
        script.sql('DROP TABLE IF EXISTS %s; CREATE TABLE %s WITH (autovacuum_enabled = off) AS SELECT i, floor(sqrt(i))::int %% 40 AS g, %s FROM generate_series(1, %d) i'
                   % (table, table, ', '.join('(%s)::%s AS %s' % (text, kind, name) for name, (kind, text) in QUOTIENTS.items()), rows))
        script.sql('VACUUM (FREEZE, ANALYZE) ' + table)
        script.sql("SELECT gpuagg_prefetch('%s')" % table)
        for n, name in enumerate(QUOTIENTS):
            for over in (OVERS[n % len(OVERS)], OVERS[(n + 2) % len(OVERS)]):
                source = 'FROM (SELECT *, {0}avg(%s) OVER w AS r, round(-{0}avg(%s) OVER w, 3) AS a, {0}avg(%s) OVER w < mills AS b, {0}avg(%s) OVER w * 2 - g AS c FROM %s WINDOW w AS %s) q' % (name, name, name, name, table, over)
                for groups in ('', 'g'):
                    first, last = ('g, ', ' GROUP BY g') if groups else ('', '')
                    exact = 'SELECT %s{0}sum(r), {0}avg(r), {0}count(r), {0}sum(r) FILTER (WHERE r > 0.25), {0}count(*) FILTER (WHERE r * 2 <= g), {0}sum(round(r, 2)), {0}min(round(r * 3 - g, 1)), {0}sum(a), {0}count(*) FILTER (WHERE b), {0}count(c) FILTER (WHERE c < r), {0}max(round(c, 4)) %s%s' % (first, source, last)
                    beside(script, 'quotients', exact.format('gpu_'), exact.format(''), None)
                    script.check((table, rows, 'quotients', exact), 'SELECT engine, reason FROM gpuagg_last_query()', on_device)
                    extremes = 'SELECT {0}gpu_min(r), gpu_max(r), gpu_sum(r), gpu_max(r) FILTER (WHERE r < 0) {1} WHERE r <> 7 {2}'.format(first, source.format('gpu_'), last)
                    kept = []
                    script.sql('SET gpuagg.device = cpu')
                    script.check(('quotients, cpu', extremes), extremes, kept.append)
                    script.sql('RESET gpuagg.device')
                    script.check(('quotients', extremes), extremes, same(kept))
                    script.check((table, rows, 'quotients', extremes), 'SELECT engine, reason FROM gpuagg_last_query()', on_device)


def on_device(rows):
    return None if not DEVICE or rows[0].startswith('device|') else str(rows)


def wide_extremes(script, table):
    """In groups, extremes of sums beyond 64 bits, and of numerics of more than 18 digits: all on the device."""
    sums = ('SELECT k_int2, {0}max(r), {0}min(r), {0}count(r) FROM (SELECT k_int2, {0}sum(v_int8) OVER (PARTITION BY k_int4 ORDER BY i '
            'ROWS UNBOUNDED PRECEDING) AS r FROM %s) q GROUP BY k_int2' % table.name)
    columns = 'SELECT k_int2, {0}max(v_wide), {0}min(v_wide * 1000000000000000), {0}count(*) FROM %s GROUP BY k_int2' % table.name
    table.renew(script)
    for text in (sums, columns):
        beside(script, 'wide extremes', text.format('gpu_'), text.format(''), None)
        if text is columns and not table.aggregated:
            continue
        script.check(('wide extremes', text[:40]), 'SELECT engine, reason FROM gpuagg_last_query()', on_device)


def others(script, table, counts):
    """Parameters, cursors, errors, memory limits."""
    text = ('SELECT {1}count(*), {1}max(r), {1}sum(r) FROM (SELECT {1}sum(v_int4) OVER (PARTITION BY k_int4 ORDER BY i ROWS UNBOUNDED PRECEDING) '
            'AS r, i FROM %s b WHERE i > {2}) q WHERE r < {3} AND i < (SELECT 100000)' % table.name)
    table.prefetch(script)
    script.sql('SET plan_cache_mode = force_generic_plan')
    for name, prefix in (('ours', 'gpu_'), ('core', '')):
        script.sql('PREPARE %s (int4, int8) AS %s' % (name, text.format(None, prefix, '$1', '$2').replace(' AND i < (SELECT 100000)', '')))
    for values in ('0, 5', '100, -1000', '-1, 99999999', 'NULL, 3', '7, NULL'):
        beside(script, 'parameters ' + values, 'EXECUTE ours (%s)' % values, 'EXECUTE core (%s)' % values, counts)
    script.sql('DEALLOCATE ALL; RESET plan_cache_mode')
    beside(script, 'subquery', text.format(None, 'gpu_', '5', '7'), text.format(None, '', '5', '7'), counts)
    script.sql('BEGIN')
    script.sql('DECLARE c CURSOR FOR ' + text.format(None, 'gpu_', '-1', '99999999999999').replace('SELECT gpu_count(*)', 'SELECT i % 3, gpu_count(*)', 1) + ' GROUP BY i % 3')
    script.check('cursor', 'FETCH 1 FROM c', lambda rows: None if len(rows) == 1 else '%d rows' % len(rows))
    script.sql('UPDATE %s SET v_int4 = 0 WHERE i = 17' % table.leaves()[0])
    script.check('cursor', 'FETCH ALL FROM c', lambda rows: None if len(rows) == 2 else '%d rows' % len(rows))
    script.sql('ROLLBACK')
    rows = ('SELECT i, r FROM (SELECT {1}sum(v_int8) OVER (PARTITION BY k_int4 ORDER BY i ROWS UNBOUNDED PRECEDING) AS r, i FROM %s b WHERE i > {2}) q '
            'WHERE r < {3}' % table.name)
    script.sql('SET plan_cache_mode = force_generic_plan')
    for name, prefix in (('ours', 'gpu_'), ('core', '')):
        script.sql('PREPARE %s (int4, numeric) AS %s' % (name, rows.format(None, prefix, '$1', '$2')))
    for values in ('0, 5', '100, -1000.5', "-1, 'NaN'", 'NULL, 3', '7, NULL'):
        beside(script, 'filter of parameters ' + values, 'EXECUTE ours (%s)' % values, 'EXECUTE core (%s)' % values, counts, True)
    script.sql('DEALLOCATE ALL; RESET plan_cache_mode; SET work_mem = 64')
    beside(script, 'filter, with little memory', rows.format(None, 'gpu_', '-1', '4e18'), rows.format(None, '', '-1', '4e18'), counts, True)
    script.sql('RESET work_mem; BEGIN')
    script.sql('DECLARE c CURSOR FOR ' + rows.format(None, 'gpu_', '-1', '0.5'))
    kept = []
    script.check('cursor of rows, core', rows.format(None, '', '-1', '0.5'), kept.append)
    script.check('cursor of rows', 'FETCH 2 FROM c', lambda rows: None if rows == kept[0][:2] else str(rows))
    script.sql('UPDATE %s SET v_int8 = 0 WHERE i %% 17 = 3' % table.leaves()[0])
    script.check('cursor of rows', 'FETCH ALL FROM c', lambda rows: None if rows == kept[0][2:] else str(len(rows)))
    script.sql('ROLLBACK')
    for argument, state in (('1000 / (i % 2)', '22012'), ('v_int8 * 999999', '22003'), ('v_int4 * 99999', '22003')):
        script.check('error of ' + argument, 'SELECT gpu_count(*), gpu_max(r) FROM (SELECT gpu_max(%s) OVER (PARTITION BY k_int4 ORDER BY i) AS r '
                     'FROM %s) q WHERE r > \'0\'' % (argument, table.name), None, state)
    # of one of two windows, though a condition on the other one's values drops the row
    for orders in (('i', 'k_int4, i'), ('k_int4, i', 'i')):
        script.check('error of a window beside', "SELECT * FROM (SELECT gpu_sum(CASE WHEN i > 0 THEN '90000000000000000.00'::money END) OVER (ORDER BY %s ROWS UNBOUNDED PRECEDING) AS s, "
                     'gpu_sum(v_int4) OVER (ORDER BY %s ROWS UNBOUNDED PRECEDING) AS r FROM %s) q WHERE r < -100000000000000' % (*orders, table.name), None, '22003')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=20261125)
    parser.add_argument('--tables', type=int, default=9)
    parser.add_argument('--queries', type=int, default=25, help='over each table')
    options = parser.parse_args()
    print('seed %d, %d tables' % (options.seed, options.tables))

    tally = psql.Tally('windows on the device')
    psql.query('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuagg; '
               'DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s' % (SCHEMA, SCHEMA))
    if psql.query("LOAD 'gpuagg'; SHOW gpuagg.device") != ['cpu']:
        DEVICE.append(True)
    # of one table, and of several
    counts = (Counts(), Counts())
    filter_counts = (Counts(), Counts())
    for number in range(options.tables):
        rng = random.Random('%d %d' % (options.seed, number))
        several = number % 3 == 2
        table = (Table, Several)[several](rng, number, rng.choice((1, 40, 1024, 3000, 5000)))
        script = psql.Script()
        script.sql("LOAD 'gpuagg'; SET gpuagg.min_table_pages = 0; SET gpuagg.resident = on; SET gpuagg.device_min_rows = 0; "
                   'SET max_parallel_workers_per_gather = 0')
        table.create(script)
        table.vacuum(script)
        table.prefetch(script)
        queries(script, rng, table, options.queries, counts[several], filter_counts[several])
        if table.rows > 1000:
            others(script, table, counts[several])
            wide_extremes(script, table)
            averages(script, table)
        if number == 0:
            quotients(script)
        tally.add(script.run())
    psql.query('SET client_min_messages = warning; DROP SCHEMA %s CASCADE' % SCHEMA)
    for what, of, done, least in (('of one table', 0, counts, ON_DEVICE), ('of several', 1, counts, SEVERAL_ON_DEVICE),
                                  ('of one table, filtered', 0, filter_counts, FILTERED), ('of several, filtered', 1, filter_counts, SEVERAL_FILTERED)):
        print('%d of %d queries on the device, %s' % (done[of].on_device, done[of].all, what))
        if DEVICE and done[of].all:
            tally.truth('queries on the device, ' + what, 100 * done[of].on_device / done[of].all >= least)
    of = [(c.stacked, c.stacked_on_device) for pair in (counts, filter_counts) for c in pair]
    stacked, done = (sum(numbers) for numbers in zip(*of))
    print('%d of %d queries of several windows on the device' % (done, stacked))
    if DEVICE and stacked:
        tally.truth('queries of several windows on the device', 100 * done / stacked >= STACKED)
    tally.finish()


if __name__ == '__main__':
    main()
