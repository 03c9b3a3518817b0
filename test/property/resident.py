#!/usr/bin/env python3
"""resident.py: aggregates over resident columns of tables that change, beside other plans.

Tables have columns of all types that can be resident, with values on both sides of each width
of a block, and sizes around the borders of chunks.  After each change queries run with
gpuagg.resident = on, so that pages are filled, used and put back singly, and without the node
GpuAgg: with core's aggregates where their results are exact, else with gpuagg's by other plans.
Results are equal as text.  Connection: the environment's.
"""
import argparse
import collections
import os
import random
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, 'lib'))

import psql  # noqa: E402

SCHEMA = 'resident'
SETTINGS = {'gpuagg.min_table_pages': '0', 'gpuagg.resident': 'on', 'parallel_setup_cost': '0', 'parallel_tuple_cost': '0',
            'min_parallel_table_scan_size': '0'}
# The least numbers of pages, of each hundred that queries with the node needed.
FLOORS = {'from memory': 15, 'confirmed': 0.1, 'filled': 5, 'read': 5}
ON_DEVICE = 3  # the least percentage of queries in which the device did something, where there is one
DEVICE = []  # not empty: there is one
SKIPPING = 10  # the least percentage that skip chunks by minimum and maximum, of queries over memory that may: see Query.may_skip

# What integers are called that a type's values are made of, and their ends.
INTEGERS = {
    'int2': ('(%s)::int2', -2**15, 2**15 - 1),
    'int4': ('(%s)::int4', -2**31, 2**31 - 1),
    'int8': ('(%s)::int8', -2**63, 2**63 - 1),
    'oid': ('(%s)::int8::oid', 0, 2**32 - 1),
    '"char"': ('(%s)::int4::"char"', -128, 127),
    'date': ("date '2000-01-01' + (%s)::int4", -2451545, 2145031948),
    'time': ("time '00:00' + ((%s)::text || ' microseconds')::interval", 0, 86400000000 - 1),
    'timestamp': ("timestamp '2000-01-01' + ((%s)::text || ' microseconds')::interval", -2 * 10**17, 9 * 10**18),
    'timestamptz': ("timestamptz '2000-01-01 UTC' + ((%s)::text || ' microseconds')::interval", -2 * 10**17, 9 * 10**18),
    'money': ('((%s)::numeric * 0.01)::money', -2**50, 2**50),
}
DECIMALS = ((4, 2), (3, 5), (9, 0), (15, 2), (18, 6), (19, 4), (38, 5), (38, 20), (18, 17), (20, -2))
FLOATS = ('float4', 'float8')
STRINGS = ('text', 'varchar(20)', 'char(5)', 'char(300)', 'bytea', 'uuid', 'name')
ICU = 'text COLLATE any_case'  # equal strings may have other bytes; where there is ICU
SPECIAL_FLOATS = ("'NaN'", "'Infinity'", "'-Infinity'", "'-0'", '0', '1e-45', "'-1e-45'", '3e38', "'-3e38'")
SPANS = (0, 1, 2**8 - 1, 2**8, 2**16 - 1, 2**16, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1, 2**64)
KINDS = list(INTEGERS) + list(FLOATS) + ['bool'] + ['numeric(%d,%d)' % d for d in DECIMALS] + list(STRINGS) * 2
SUMMED = ('int2', 'int4', 'int8', 'money') + FLOATS
FAMILIES = ('sum', 'avg', 'var_samp', 'stddev_pop')


def pick_range(rng, low, high):
    """Both ends of values: somewhere, of a span that is at the border of a width."""
    span = min(rng.choice(SPANS), high - low)
    begin = rng.choice((low, high - span, max(low, min(0, high - span)), rng.randint(low, high - span)))
    return begin, begin + span


def integers(rng, low, high):
    """An expression for integers in a range; both ends come."""
    begin, end = pick_range(rng, low, high)
    return 'CASE g %% 17 WHEN 0 THEN %d::numeric WHEN 1 THEN %d ELSE least(%d, %d + floor(random()::numeric * %d)) END' % (
        begin, end, end, begin, end - begin + 1)


def strings(rng, kind):
    """An expression for strings: of few values or many, short or long, with what is easily taken for another."""
    if kind == 'uuid':
        return 'md5((g %% %d)::text)::uuid' % rng.choice((3, 200, 100000))
    if kind == 'bytea':
        return "decode(repeat(to_hex(g %% %d + 16), %d), 'hex')" % (rng.choice((3, 200)), rng.choice((1, 4, 17)))
    longest = {'text': 300, 'char(300)': 300, ICU: 300, 'name': 60, 'varchar(20)': 20, 'char(5)': 5}[kind]
    word = rng.choice(("(array['a', 'A', '', ' ', 'a ', ' a', 'ab', 'é', 'éa', 'zz'])[1 + g %% 10]",
                       "'v' || g %% %d" % rng.choice((2, 50, 300, 5000)), "left(md5(g::text), %d)" % rng.choice((2, 5, 19)),
                       "repeat(chr(97 + g %% 5), g %% %d)" % rng.choice((4, 18, 33)), "chr(233 + g %% 900)"))
    word = word.replace('%%', '%')
    if longest == 300 and rng.random() < 0.3:
        # some of 256 bytes, which are compressed where the row is long; hardly ever one that is too long
        word = "CASE WHEN g %% 97 = 5 THEN rpad('long', %d, 'x') ELSE %s END" % (rng.choice((255, 256, 256, 257)), word)
    return 'left(%s, %d)::%s' % (word, longest, kind.split(' ')[0])


def not_null_values(rng, kind):
    if kind in STRINGS or kind == ICU:
        return strings(rng, kind)
    if kind in INTEGERS:
        form, low, high = INTEGERS[kind]
        value = form % integers(rng, low, high)
        if kind in ('date', 'timestamp', 'timestamptz') and rng.random() < 0.2:
            value = "CASE g %% 29 WHEN 5 THEN '-infinity'::%s WHEN 6 THEN 'infinity' ELSE %s END" % (kind, value)
        return value
    if kind == 'bool':
        return rng.choice(('true', 'false', 'g % 2 = 0', 'random() < 0.3'))
    if kind in FLOATS:
        value = '((random() - 0.5) * %s)::%s' % (rng.choice(('1', '1e-30', '1e6', '1e30')), kind)
        if rng.random() < 0.5:
            value = 'CASE g %% 23 WHEN 3 THEN %s::float8::%s WHEN 4 THEN %s::float8::%s ELSE %s END' % (
                rng.choice(SPECIAL_FLOATS[:5]), kind, rng.choice(SPECIAL_FLOATS[:5] if kind == 'float4' else SPECIAL_FLOATS), kind, value)
        return value
    precision, scale = (int(x) for x in kind[len('numeric('):-1].split(','))
    value = '((%s) * 1e%d::numeric)::%s' % (integers(rng, -10**precision + 1, 10**precision - 1), -scale, kind)
    if rng.random() < 0.15:
        value = "CASE g %% 41 WHEN 7 THEN 'NaN'::numeric ELSE %s END" % value
    return value


def values(rng, kind):
    """An expression for a column's values, of a row number g."""
    value = not_null_values(rng, kind)
    nulls = rng.random()
    if nulls < 0.1:
        return 'NULL::' + kind.split(' ')[0]
    if nulls < 0.4:
        return 'CASE WHEN %s THEN %s END' % (rng.choice(('random() < 0.9', 'g % 7 <> 0', 'g / 50 % 2 = 0')), value)
    return value


class Table:
    """A table, or three partitions, whose rows have a number: id."""

    def __init__(self, rng, number):
        self.rng = rng
        self.name = 'r%d' % number
        self.partitioned = number % 4 == 3
        self.columns = {}
        kinds = rng.sample(KINDS, rng.randint(2, 5))
        for kind in kinds:
            self.columns['c%d' % len(self.columns)] = kind
        self.added = len(kinds)
        self.ids = 0
        columns = ['id int4 NOT NULL'] + ['%s %s' % item for item in self.columns.items()]
        self.width = rng.choice((60, 300, 900, 2000, 3900))
        columns.insert(rng.choice((1, len(columns))), 'pad text')
        options = " WITH (autovacuum_enabled = off, fillfactor = %d)" % rng.choice((100, 100, 70))
        self.parts = ['%s_%d' % (self.name, i) for i in range(3)] if self.partitioned else [self.name]
        create = 'CREATE TABLE %s (%s)' % (self.name, ', '.join(columns))
        if self.partitioned:
            self.statements = [create + ' PARTITION BY HASH (id)'] + [
                'CREATE TABLE %s PARTITION OF %s FOR VALUES WITH (MODULUS 3, REMAINDER %d)%s' % (part, self.name, i, options)
                for i, part in enumerate(self.parts)]
        else:
            self.statements = [create + options]
        self.statements += ['ALTER TABLE %s ALTER pad SET STORAGE PLAIN' % part for part in [self.name] + self.parts]

    def insert(self, n):
        names = ['id', 'pad'] + list(self.columns)
        rows = ['g', "repeat('x', %d)" % self.width] + [values(self.rng, kind) for kind in self.columns.values()]
        statement = 'INSERT INTO %s (%s) SELECT %s FROM generate_series(%d, %d) g' % (
            self.name, ', '.join(names), ', '.join(rows), self.ids + 1, self.ids + n)
        self.ids += n
        return statement

    def rows_of_pages(self, pages):
        """So many rows take about so many pages; with two rows a page, exactly."""
        return pages * max(1, 8100 // (self.width + 80))

    def some(self):
        """A condition for some rows: few, a range, or many."""
        rng = self.rng
        at = rng.randint(0, self.ids + 1)
        return rng.choice(('id = %d' % at, 'id %% %d = %d' % (rng.choice((3, 50, 400)), at % 3),
                           'id BETWEEN %d AND %d' % (at, at + self.ids // rng.choice((4, 20))),
                           'id > %d' % int(self.ids * rng.choice((0.5, 0.9, 0.99)))))

    # ---- changes ----

    def update(self):
        name, kind = self.rng.choice(list(self.columns.items()))
        if self.rng.random() < 0.2:
            return ['UPDATE %s SET pad = pad WHERE %s' % (self.name, self.some())]
        return ['WITH g AS MATERIALIZED (SELECT id AS g FROM %s WHERE %s) UPDATE %s t SET %s = n.value FROM '
                '(SELECT g, %s AS value FROM g) n WHERE n.g = t.id' % (
                    self.name, self.some(), self.name, name, values(self.rng, kind))]

    def delete(self):
        return ['DELETE FROM %s WHERE %s' % (self.name, self.some())]

    def shrink(self):
        at = self.rng.choice((0, self.ids // 2, int(self.ids * 0.9)))
        return ['DELETE FROM %s WHERE id > %d' % (self.name, at), 'VACUUM ' + self.name]

    def vacuum(self):
        return ['VACUUM %s%s' % (self.rng.choice(('', '(FREEZE) ', '(INDEX_CLEANUP off) ', '(DISABLE_PAGE_SKIPPING) ', '(TRUNCATE off) ')),
                                 self.name)]

    def more(self):
        return [self.insert(self.rows_of_pages(self.rng.choice((1, 3, 40))))]

    def add_column(self):
        rng = self.rng
        kind = rng.choice(('int4', 'int8', 'numeric(15,2)', 'float8', 'bool', 'date', 'text', 'char(5)'))
        default = {'bool': ('true', 'false'), 'date': ("'2020-02-02'", "'infinity'"), 'text': ("'old'", "''"),
                   'char(5)': ("'old'", "''")}.get(kind, ('5', '7', '-3'))
        name = 'c%d' % self.added
        self.added += 1
        add = 'ALTER TABLE %s ADD COLUMN %s %s' % (self.name, name, kind)
        statements = []
        if rng.random() < 0.6:
            count = 'SELECT count(%s) FROM %s' % (name, self.name)
            statements = ['BEGIN', '%s DEFAULT %s' % (add, rng.choice(default)), 'SELECT gpu_' + count[len('SELECT '):], 'ROLLBACK']
        self.columns[name] = kind
        return statements + ['%s%s' % (add, rng.choice(('', ' DEFAULT ' + rng.choice(default))))]

    def drop_column(self):
        if len(self.columns) < 3:
            return self.add_column()
        name = self.rng.choice(list(self.columns))
        del self.columns[name]
        return ['ALTER TABLE %s DROP COLUMN %s' % (self.name, name)]

    def retype(self):
        """Without writing a new file, where there is a column for it."""
        for name, kind in self.columns.items():
            new = {'int4': 'oid', 'oid': 'int4', 'numeric(15,2)': 'numeric(20,2)', 'numeric(9,0)': 'numeric(38,0)',
                   'timestamp': 'timestamptz', 'int2': 'int4', 'varchar(20)': 'text'}.get(kind)
            if new is not None:
                self.columns[name] = new
                if new not in KINDS:
                    KINDS_MORE[new] = (int(new[8:10]), int(new[-2]))
                return ["SET TimeZone = 'UTC'", 'ALTER TABLE %s ALTER %s TYPE %s' % (self.name, name, new), 'RESET TimeZone']
        return self.add_column()

    def rewrite(self):
        return self.rng.choice((['VACUUM FULL ' + self.name], ['TRUNCATE ' + self.name, self.insert(self.rows_of_pages(5))],
                                ['CREATE INDEX ON %s (id)' % part for part in self.parts] +
                                ['CLUSTER %s USING %s_id_idx' % (part, part) for part in self.parts] +
                                ['DROP INDEX %s_id_idx' % part for part in self.parts]))

    def evict(self):
        return [self.rng.choice(("SELECT gpuagg_evict('%s')" % self.name, 'SELECT gpuagg_evict()', "SELECT gpuagg_prefetch('%s')" % self.name))]

    def lock(self):
        strength = self.rng.choice(('UPDATE', 'NO KEY UPDATE', 'SHARE', 'KEY SHARE'))
        return ['SELECT id FROM %s WHERE %s FOR %s' % (self.name, self.some(), strength)]

    def subtransaction(self):
        return ['BEGIN'] + self.update() + ['SAVEPOINT s'] + self.update() + self.delete() + ['ROLLBACK TO s', self.rng.choice(('COMMIT', 'ROLLBACK'))]

    def change(self):
        return self.rng.choices(
            (self.vacuum, self.update, self.delete, self.more, self.shrink, self.add_column, self.drop_column, self.retype, self.rewrite,
             self.evict, self.lock, self.subtransaction), (12, 5, 4, 4, 2, 2, 1, 2, 1, 1, 2, 2))[0]()


KINDS_MORE = {}


class Query:
    """A query over a table, with gpuagg's aggregates and the reference's."""

    def __init__(self, rng, table):
        self.rng = rng
        self.floats = False
        columns = list(table.columns.items())
        everything = columns + [('id', 'int4')]
        # what blocks can tell of themselves, unless it is of some rows alone
        self.summary = rng.random() < 0.3
        self.targets = ['%s(*)'] if rng.random() < 0.7 else []
        for _ in range(rng.randint(not self.targets, 4)):
            self.targets.append(self.aggregate(*rng.choice(everything)))
        conditions = [self.condition(*rng.choice(everything)) for _ in range(rng.choice((0, 0, 1, 1, 2)))]
        ranged = rng.random() < 0.3
        if ranged:
            conditions.append(self.range_of_ids(table.ids))
        self.where = ' WHERE ' + rng.choice((' AND ', ' AND ', ' OR ')).join(conditions) if conditions else ''
        # whether smallest and largest values may be the answer, or exclude rows
        self.may_skip = (self.summary and not conditions) or (ranged and (' OR ' not in self.where or len(conditions) == 1))
        name, kind = rng.choice(columns)
        # a group of 0 and -0 shows either
        self.group = name + ' + 0' * (kind in FLOATS) if rng.random() < 0.3 else rng.choice(('id % 7', 'id', 'ROLLUP (id % 3, id % 2)')) if rng.random() < 0.3 else ''
        if self.group == name and kind == ICU:
            # a group of equal strings shows any of them
            self.group = 'lower(%s) COLLATE "C"' % name
        if self.summary:
            self.group = ''
        self.table = table.name

    def aggregate(self, name, kind):
        rng = self.rng
        filtered = ' FILTER (WHERE %s)' % self.condition(name, kind) if rng.random() < 0.25 and not self.summary else ''
        summed = (kind in SUMMED or kind.startswith('numeric')) and not self.summary
        family = rng.choice(FAMILIES if summed else ()) if summed and rng.random() < 0.7 else rng.choice(('count', 'min', 'max'))
        if kind == 'money' and family not in ('sum', 'min', 'max'):
            family = 'sum'
        if (kind in ('bool', '"char"', ICU) or kind in STRINGS) and family in ('min', 'max'):
            family = 'count'
        self.floats |= kind in FLOATS
        argument = name
        if family == 'sum' and kind in ('int2', 'int4', 'int8') and rng.random() < 0.4:
            # some rows are out of range, and evaluated singly
            argument = rng.choice(('{0} + {0}', '{0} * 2.5', 'CASE WHEN {0} <> 0 THEN 100 / {0} END', 'abs({0})')).format(name)
        elif family == 'count' and kind not in FLOATS and rng.random() < 0.3:
            argument = 'DISTINCT ' + name
        return '%%s%s(%s)%s' % (family, argument, filtered)

    def range_of_ids(self, ids):
        rng = self.rng
        at = rng.randint(0, ids + 1)
        return rng.choice(('id > %d', 'id < %d', 'id = %d', '%d <= id', 'id <= (SELECT %d)', 'id BETWEEN %d AND {}', 'id IN (%d, {})',
                           'NOT id < %d', 'id <> %d')).format(at + rng.randint(0, ids // 10 + 1)) % at

    def condition(self, name, kind):
        rng = self.rng
        if rng.random() < 0.2 or kind not in KINDS and kind not in KINDS_MORE:
            return name + rng.choice((' IS NULL', ' IS NOT NULL'))
        if kind == 'bool':
            return rng.choice((name, 'NOT ' + name))
        if kind in STRINGS or kind == ICU:
            return self.string_condition(name, kind)
        if kind == '"char"':
            return "%s = '%s'" % (name, rng.choice('ab1'))
        if kind.startswith('numeric') or kind in SUMMED and kind not in ('money', 'float4'):
            return '%s %s %s' % (name, rng.choice(('<', '>=', '<>')), rng.choice(('0', '1', '100', '-5', '30000', '1.5')))
        if kind == 'float4':
            return "%s %s '%s'" % (name, rng.choice(('<', '>=')), rng.choice(('0', '1e6', 'NaN')))
        literal = {'oid': '70000', 'date': '2000-03-01', 'time': '00:00:01', 'timestamp': '2000-01-02', 'timestamptz': '2000-01-02 UTC',
                   'money': '12.34'}[kind]
        return "%s %s '%s'" % (name, rng.choice(('<', '>=', '<>')), literal)

    def string_condition(self, name, kind):
        rng = self.rng
        if kind == 'uuid':
            return "%s %s md5('%d')::uuid" % (name, rng.choice(('=', '<>')), rng.randint(0, 3))
        if kind == 'bytea':
            return "%s %s '\\x%02x'" % (name, rng.choice(('=', '<>', '<', '>=')), rng.randint(15, 20))
        words = ['a', 'A', '', ' ', 'a ', 'é', 'v1', 'v17', 'none', 'aaa']
        word = rng.choice(words)
        if rng.random() < 0.3:
            return "%s IN ('%s', '%s', '%s')" % (name, word, rng.choice(words), rng.choice(words))
        if kind in ('text', 'varchar(20)') and rng.random() < 0.4:
            return "%s %sLIKE '%s'" % (name, rng.choice(('', 'NOT ')), rng.choice(('a%', '%a', 'v1%', '%', '', '%é%', '%1%2%', 'a')))
        if kind in ('text', 'name') and rng.random() < 0.3:
            return "%s %s '%s' COLLATE \"C\"" % (name, rng.choice(('<', '>=')), word)
        return "%s %s '%s'" % (name, rng.choice(('=', '<>')), word)

    def text(self, prefix):
        targets = [t.replace('%s(*)', prefix + 'count(*)') if t == '%s(*)' else t.replace('%s', prefix, 1) for t in self.targets]
        if not self.group:
            return 'SELECT %s FROM %s%s' % (', '.join(targets), self.table, self.where)
        keys = 'id % 3, id % 2' if self.group.startswith('ROLLUP') else self.group
        return 'SELECT %s, %s FROM %s%s GROUP BY %s' % (keys, ', '.join(targets), self.table, self.where, self.group)

    def reference(self):
        return self.text('gpu_' if self.floats else '')


class Counts:
    """What came of queries with the node: pages by how they came."""

    def __init__(self):
        self.exact = psql.query("LOAD 'gpuagg'; SELECT setting::int >= 64 * 1024 FROM pg_settings WHERE name = 'gpuagg.column_memory'") == ['t']
        self.on_device = 0  # queries
        self.pages = collections.Counter()
        self.queries = collections.Counter()

    def judge(self, exactly=None, may_skip=False):
        """Counts a line of gpuagg_last_query(); exactly: the pages that must have come from memory; may_skip: whether chunks may be skipped."""

        def verdict(rows, state):
            if state != '00000' or len(rows) != 1:
                return 'SQLSTATE %s, %d lines' % (state, len(rows))
            numbers = [int(n) for n in rows[0].split('|')]
            pages = dict(zip(('from memory', 'confirmed', 'filled', 'read', 'skipped'), numbers))
            self.on_device += numbers[-1] > 0
            self.pages.update(pages)
            for way, n in pages.items():
                self.queries[way] += n > 0
            self.queries['all'] += 1
            if may_skip and pages['from memory'] + pages['confirmed'] + pages['skipped'] > 0:
                self.queries['may skip'] += 1
                self.queries['skip'] += pages['skipped'] > 0
            if self.exact and exactly is not None and (pages['from memory'] + pages['confirmed'], pages['read']) != exactly:
                return '%s; expected %d from memory, %d read' % ((pages,) + exactly)
            return None

        return verdict

    def percent(self, way):
        return 100 * self.pages[way] / max(self.pages['from memory'] + self.pages['confirmed'] + self.pages['read'], 1)


# Whether a leader asks for workers after its first chunk; 16 renamed the setting.
FORCED = "SELECT set_config(name, '%s', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')"
PAGES = 'SELECT resident_pages, resident_confirmed, resident_filled, table_pages, resident_skipped, device_batches FROM gpuagg_last_query()'


def compare(script, label, ours, reference, workers, counts, times, exactly=None, may_skip=False):
    """The reference's lines, then as often the node's; counts: or None; exactly: of the last time; may_skip: as Counts.judge has it."""
    expected = []

    def remember(rows, state):
        expected.append((sorted(rows), state))
        return None

    def judge(rows, state):
        rows = sorted(rows)
        if (rows, state) == expected[0]:
            return None
        differing = next((pair for pair in zip(rows, expected[0][0]) if pair[0] != pair[1]), (len(rows), len(expected[0][0])))
        return '%s, %s; expected %s: %s' % (state, differing[0], expected[0][1], differing[1])

    label = '%s: %s' % (label, ours)
    script.sql('SET gpuagg.enable_agg_scan = off')
    script.ask(label, reference, remember)
    script.sql('SET gpuagg.enable_agg_scan = on')
    script.sql('SET max_parallel_workers_per_gather = %d' % workers)
    for i in range(times):
        if workers > 0:
            script.sql(FORCED % ('on' if i % 2 == 1 else 'off'))
        script.ask('%s (%d workers, time %d)' % (label, workers, i + 1), ours, judge)
        if counts is not None:
            script.ask(label, PAGES, counts.judge(exactly if i == times - 1 else None, may_skip))
    if workers > 0:
        script.sql(FORCED % 'off')


def begin_script(rng, statements):
    script = psql.Script()
    script.parts.append('\\set ON_ERROR_ROLLBACK on\n')
    script.sql("LOAD 'gpuagg'")
    if DEVICE:
        script.sql('SET gpuagg.device = auto')
        script.sql('SET gpuagg.device_min_rows = 0')
    script.sql('SET search_path = %s, public' % SCHEMA)
    for setting in SETTINGS.items():
        script.sql('SET %s = %s' % setting)
    script.sql('SELECT setseed(%f)' % rng.random())
    for statement in statements:
        script.sql(statement)
    return script


def changing_table(options, number, tally, counts):
    rng = random.Random('%d %d' % (options.seed, number))
    table = Table(rng, number)
    script = begin_script(rng, table.statements)
    again = '--seed %d --steps %d --only %d' % (options.seed, options.steps, number)
    pages = rng.choice((0, 1, 2, 30, 255, 256, 257, 300, 520))
    for piece in range(min(pages, 3)):
        script.sql(table.insert(table.rows_of_pages(pages) // 3 + 1))
    script.sql('VACUUM ' + table.name)
    for step in range(options.steps):
        change = table.change() if step > 0 else []
        inside = len(change) == 1 and change[0].startswith(('UPDATE', 'DELETE', 'WITH', 'INSERT')) and rng.random() < 0.15
        if inside:
            script.sql('BEGIN')
        for statement in change:
            script.sql(statement)
        for _ in range(rng.choice((1, 2))):
            query = Query(rng, table)
            script.sql('SET work_mem = ' + rng.choice(("'64kB'", "'4MB'")))
            # some of core's aggregates are core's still
            core_names = not query.floats and rng.random() < 0.2
            script.sql('SET gpuagg.core_aggregates = ' + ('exact' if core_names else 'off'))
            compare(script, 'table %d (%s), step %d, after %s' % (number, again, step, '; '.join(change)),
                    query.text('' if core_names else 'gpu_'), query.reference(), rng.choice((0, 0, 0, 1, 2)),
                    None if core_names else counts, rng.choice((1, 2)), None, query.may_skip)
        if inside:
            script.sql(rng.choice(('COMMIT', 'ROLLBACK')))
    if not options.keep:
        script.sql('DROP TABLE ' + table.name)
    tally.add(script.run())


def sizes(options, tally, counts):
    """Two rows a page: sizes at the borders of chunks, exactly; then smaller, and larger again."""
    rng = random.Random(options.seed)
    script = begin_script(rng, ['CREATE TABLE sizes (id int4, v int8, n numeric(12,3), f float8, pad text) WITH (autovacuum_enabled = off)',
                                'ALTER TABLE sizes ALTER pad SET STORAGE PLAIN'])
    ours = 'SELECT gpu_count(*), gpu_sum(v), gpu_sum(n), gpu_sum(f), gpu_max(id) FROM sizes'
    rows = 0

    def few(what):
        """What blocks say of themselves; rows of the last page, and all but these; by core's aggregates as the reference."""
        for text in ('SELECT {0}min(id), {0}max(v), {0}count(n), {0}count(*) FROM sizes',
                     'SELECT {0}sum(v), {0}count(*), {0}min(n) FROM sizes WHERE id > %d' % (rows - 1),
                     'SELECT {0}sum(v), {0}max(n) FROM sizes WHERE id <= %d' % (rows - 2),
                     'SELECT id % 3, {0}sum(v) FROM sizes WHERE id BETWEEN 510 AND 514 GROUP BY 1'):
            compare(script, what, text.format('gpu_'), text.format(''), 0, counts, 1)
            compare(script, what, text.format('gpu_'), text.format(''), 2, counts, 1)

    for target in (0, 1, 2, 3, 509, 510, 511, 512, 513, 514, 515, 1023, 1024, 1025):
        if target > rows:
            script.sql("INSERT INTO sizes SELECT g, g * 1000003, g / 8.0, g / 3.0, repeat('x', 3900) FROM generate_series(%d, %d) g" % (
                rows + 1, target))
        rows = target
        script.sql('VACUUM sizes')
        compare(script, '%d rows, two a page' % rows, ours, ours, 0, counts, 3, ((rows + 1) // 2, 0))
        compare(script, '%d rows, two a page' % rows, ours, ours, 2, counts, 1)
        few('%d rows, two a page' % rows)
    for keep in (1000, 700, 514, 513, 512, 400, 1, 0):
        script.sql('DELETE FROM sizes WHERE id > %d' % keep)
        script.sql('VACUUM sizes')
        compare(script, 'the first %d rows' % keep, ours, ours, 0, counts, 3)
        few('the first %d rows' % keep)
        script.sql("INSERT INTO sizes SELECT -g, g, -g, -g, repeat('y', 3900) FROM generate_series(1, 7) g")
        compare(script, 'the first %d rows and others' % keep, ours, ours, 0, counts, 2)
        script.sql('VACUUM sizes')
        compare(script, 'the first %d rows and others, vacuumed' % keep, ours, ours, 0, counts, 3)
        # pages without rows at the end, whole chunks of them; then these go
        script.sql('DELETE FROM sizes WHERE id > %d' % (keep // 3))
        script.sql('VACUUM (TRUNCATE off) sizes')
        compare(script, 'the first %d rows and empty pages' % (keep // 3), ours, ours, 0, counts, 3)
        few('the first %d rows and empty pages' % (keep // 3))
        script.sql('VACUUM sizes')
        compare(script, 'the first %d rows without them' % (keep // 3), ours, ours, 0, counts, 2)
        script.sql("INSERT INTO sizes SELECT g, g * 1000003, g / 8.0, g / 3.0, repeat('x', 3900) FROM generate_series(%d, %d) g" % (
            keep // 3 + 1, keep))
        script.sql('VACUUM sizes')
        compare(script, '%d rows again' % keep, ours, ours, 0, counts, 3)
    script.sql('DROP TABLE sizes')
    tally.add(script.run())


MAP_PAGES = 32672  # heap pages of a page of the visibility map


def two_map_pages(options, tally, counts):
    """A row a page, around the border between pages of the map; chunk 127 has 160 pages."""
    rng = random.Random(options.seed)
    script = begin_script(rng, ['CREATE TABLE mapped (id int4, v int8, pad text) WITH (autovacuum_enabled = off, fillfactor = 10)'])
    ours = 'SELECT gpu_count(*), gpu_sum(id), gpu_sum(v), gpu_count(v) FROM mapped'
    pages = 0

    def check(what, exactly=None, times=2):
        compare(script, '%s, %d pages' % (what, pages), ours, ours, 0, counts, times, exactly)

    # 127 whole chunks, the one of 160 pages, and the first of the next page of the map
    for target in (MAP_PAGES - 161, MAP_PAGES - 160, MAP_PAGES - 159, MAP_PAGES - 1, MAP_PAGES, MAP_PAGES + 1, MAP_PAGES + 255,
                   MAP_PAGES + 257):
        script.sql("INSERT INTO mapped SELECT g, CASE WHEN g %% 5 <> 0 THEN g::int8 * 65537 END, repeat('x', 600) FROM generate_series(%d, %d) g" % (
            pages + 1, target))
        pages = target
        script.sql('VACUUM mapped')
        check('grown', (pages, 0), 3 if target == MAP_PAGES + 1 else 2)
        summary = 'SELECT {0}min(id), {0}max(v), {0}count(v), {0}count(*) FROM mapped%s' % rng.choice(('', ' WHERE id > %d' % (pages - 2)))
        compare(script, 'grown, %d pages' % pages, summary.format('gpu_'), summary.format(''), 0, counts, 1)
    first_of_last = MAP_PAGES - 160
    for where in ('id IN (%d, %d, %d, %d)' % (MAP_PAGES - 1, MAP_PAGES, MAP_PAGES + 1, MAP_PAGES + 2),
                  'id BETWEEN %d AND %d' % (first_of_last - 1, first_of_last + 2)):
        script.sql('UPDATE mapped SET v = -id WHERE ' + where)
        check('updated')
        script.sql('VACUUM mapped')
        check('updated and vacuumed')
    compare(script, 'by workers', ours, ours, 2, counts, 2)
    script.sql('DELETE FROM mapped WHERE id > %d' % (MAP_PAGES - 200))
    check('deleted')
    script.sql('VACUUM mapped')
    check('shrunk')
    script.sql("INSERT INTO mapped SELECT g, 1, repeat('z', 600) FROM generate_series(1, 500) g")
    script.sql('VACUUM mapped')
    check('grown again')
    script.sql('DROP TABLE mapped')
    tally.add(script.run())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=20261123)
    parser.add_argument('--tables', type=int, default=24)
    parser.add_argument('--steps', type=int, default=30, help='changes of each table')
    parser.add_argument('--seconds', type=float, help='go on with ever new tables for so long')
    parser.add_argument('--only', type=int, help='the number of the only table')
    parser.add_argument('--keep', action='store_true', help='keep the tables, in the schema ' + SCHEMA)
    options = parser.parse_args()
    print('seed %d' % options.seed, flush=True)
    psql.query('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuagg; '
               'DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s' % (SCHEMA, SCHEMA))
    if psql.query("SELECT count(*) > 0 FROM pg_collation WHERE collprovider = 'i'") == ['t']:
        psql.query("CREATE COLLATION %s.any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)" % SCHEMA)
        KINDS.append(ICU)
    tally = psql.Tally('resident', 1000)
    if psql.query("LOAD 'gpuagg'; SELECT setting FROM pg_settings WHERE name = 'gpuagg.device'") != ['cpu']:
        DEVICE.append(True)
    counts = Counts()
    if options.only is None:
        sizes(options, tally, counts)
        two_map_pages(options, tally, counts)
    counts = Counts()
    end = time.monotonic() + (options.seconds or 0)
    number = options.only or 0
    while True:
        changing_table(options, number, tally, counts)
        number += 1
        if options.only is not None or (number >= options.tables if options.seconds is None else time.monotonic() >= end):
            break
    if not options.keep:
        psql.query('SET client_min_messages = warning; DROP SCHEMA %s CASCADE' % SCHEMA)
    print('%d queries with the node' % counts.queries['all'])
    for way, least in FLOORS.items():
        print('%7d pages %s by %d queries: %.1f %% of those needed (at least %g)' % (
            counts.pages[way], way, counts.queries[way], counts.percent(way), least))
        if options.only is None:
            tally.truth('pages %s' % way, counts.percent(way) >= least)
    skipping = 100 * counts.queries['skip'] / max(counts.queries['may skip'], 1)
    print('%d chunks skipped by %d queries, %d of %d that may: %.1f %% (at least %g)' % (
        counts.pages['skipped'], counts.queries['skipped'], counts.queries['skip'], counts.queries['may skip'], skipping, SKIPPING))
    if options.only is None:
        tally.truth('chunks skipped', skipping >= SKIPPING)
    on_device = 100 * counts.on_device / max(counts.queries['all'], 1)
    print('%d queries on the device: %.1f %% of all' % (counts.on_device, on_device))
    if DEVICE and options.only is None:
        tally.truth('queries on the device', on_device >= ON_DEVICE)
    tally.finish()


if __name__ == '__main__':
    main()
