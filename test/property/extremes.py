#!/usr/bin/env python3
"""extremes.py: gpu_min and gpu_max of every type, in every kind of query and random frames.

Where values that compare equal are the same, core's min and max are the oracle.
Of floats, numerics and intervals they can differ (0 and -0, 1.0 and 1.00, a
month and 30 days), and core's choice among them depends on the order of rows;
there the oracle is an aggregate in SQL that compares as core does and then by
the documented rule.  Results must be the same rows (EXCEPT ALL both ways), as
text.  Connection: the environment's.
"""
import argparse
import os
import random
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

import psql  # noqa: E402

SCHEMA = 'property_extremes'

# A family of values takes a random generator and the data set's number.


def integer(bits, divisor=None):
    most = 2 ** (bits - 1) - 1

    def text(value):
        return str(value) if divisor is None else '%s%d.%02d' % (
            '-' if value < 0 else '', abs(value) // divisor, abs(value) % divisor)

    def values(rng, _):
        low, high = rng.choice(((-100, 100), (-most - 1, most), (most - 5, most), (-most - 1, -most)))
        return lambda: text(rng.randint(low, high))
    return values


def floats(pack):
    def values(rng, case):
        least = '5e-324' if pack == '>d' else '1e-45'
        special = (('0', '-0'), ('NaN', '0', '-0'), (), ('Infinity', '-Infinity', 'NaN'),
                   ('-0', least, '-' + least))[case % 5]
        share = rng.choice((0.3, 1, 1)) if special else 0
        size = struct.calcsize(pack)

        def draw():
            if rng.random() < share:
                return rng.choice(special)
            while True:
                value = struct.unpack(pack, rng.randbytes(size))[0]
                if value == value and abs(value) != float('inf'):
                    return '%.17g' % value if pack == '>d' else '%.9g' % value
        return draw
    return values


def numerics(rng, case):
    kind = ('ties', 'ties', 'special', 'long', 'money')[case % 5]
    if kind == 'ties':
        return lambda: '%s%d.%s' % (rng.choice(('', '-')), rng.randint(0, 2), '0' * rng.randint(1, 40))
    if kind == 'money':
        return lambda: '%.2f' % (rng.randint(-10 ** 9, 10 ** 9) / 100)
    if kind == 'long':
        return lambda: '%d.%0*d' % (rng.randint(-10 ** 45, 10 ** 45), rng.randint(1, 60),
                                    rng.choice((0, 5)))
    return lambda: rng.choice(('NaN', 'Infinity', '-Infinity', '0', '0.000', '1e30', '-1e-30'))


def intervals(version):
    def values(rng, case):
        kind = ('ties', 'ties', 'any', 'extreme')[case % 4]
        if kind == 'ties':
            def draw():
                months, days = rng.randint(-2, 2), rng.randint(-31, 31)
                total = rng.choice((0, 30, 31)) - 30 * months - days
                return '%d mons %d days %d:00:00' % (months, days, 24 * total)
            return draw
        if kind == 'any':
            return lambda: '%d mons %d days %d us' % (rng.randint(-999, 999), rng.randint(-9999, 9999),
                                                      rng.randint(-10 ** 15, 10 ** 15))
        few = ['%d mons' % 2147483646, '-%d mons' % 2147483646, '%d days' % 2147483646, '0',
               '9223372036854775806 us', '-9223372036854775806 us']
        if version >= 170000:
            few += ['infinity', '-infinity']
        return lambda: rng.choice(few)
    return values


def dates(rng, _=0):
    few = ('infinity', '-infinity', '4713-01-01 BC', '5874897-12-31', '2000-01-01')
    share = rng.choice((0, 0.01, 1))
    return lambda: rng.choice(few) if rng.random() < share else \
        '%04d-%02d-%02d' % (rng.randint(1, 9999), rng.randint(1, 12), rng.randint(1, 28))


def times(rng, _=0):
    few = ('00:00:00', '24:00:00', '12:00:00.000001', '12:00:00')
    share = rng.choice((0, 0.01, 1))
    return lambda: rng.choice(few) if rng.random() < share else '%02d:%02d:%02d.%06d' % (
        rng.randint(0, 23), rng.randint(0, 59), rng.randint(0, 59), rng.randint(0, 999999))


def timestamps(rng, _=0):
    few = ('infinity', '-infinity', '4713-01-01 00:00:00 BC', '294276-12-31 23:59:59.999999')
    share = rng.choice((0, 0.01, 1))
    date, time = dates(random.Random(rng.random())), times(rng)

    def draw():
        if rng.random() < share:
            return rng.choice(few)
        day, clock = date(), time()
        if len(day) == 10:
            return day + ' ' + clock
        return few[3] if day.startswith('5874897') else day
    return draw


def types(version):
    return [('int2', integer(16)), ('int4', integer(32)), ('int8', integer(64)),
            ('money', integer(64, 100)), ('float4', floats('>f')), ('float8', floats('>d')),
            ('numeric', numerics), ('interval', intervals(version)), ('date', dates), ('time', times),
            ('timestamp', timestamps), ('timestamptz', timestamps)]


# Types of which equal values can differ.
TIES = ('float4', 'float8', 'numeric', 'interval')


def oracle(name):
    """The oracle's aggregates for a type, as statements; none where core is one."""
    if name not in TIES:
        return []
    if name == 'interval':
        def key(x):
            return ('ROW(extract(year FROM {0}) * 12 + extract(month FROM {0}), extract(day FROM {0}), '
                    'extract(hour FROM {0}) * 3600000000 + extract(minute FROM {0}) * 60000000 + '
                    'extract(microseconds FROM {0}))').format(x)
        wins = {'min': '%s < %s' % (key('$2'), key('$1')), 'max': '%s > %s' % (key('$2'), key('$1'))}
    elif name == 'numeric':
        wins = dict.fromkeys(('min', 'max'), 'scale($2) > scale($1)')
    else:
        wins = {'min': "$2::text = '-0' AND $1::text = '0'", 'max': "$2::text = '0' AND $1::text = '-0'"}
    made = []
    for function, operator in (('min', '<'), ('max', '>')):
        made += ['CREATE FUNCTION {s}.{f}_step({t}, {t}) RETURNS {t} LANGUAGE sql IMMUTABLE STRICT AS '
                 '$$ SELECT CASE WHEN $2 {o} $1 OR ($2 = $1 AND {w}) THEN $2 ELSE $1 END $$'
                 .format(s=SCHEMA, f=function, t=name, o=operator, w=wins[function]),
                 'CREATE AGGREGATE {s}.{f}({t}) (SFUNC = {s}.{f}_step, STYPE = {t})'
                 .format(s=SCHEMA, f=function, t=name)]
    return made


# {min} and {max} become the oracle's names or ours; {t} is the table of one data set.
GROUPED = [
    'SELECT {min}(x) AS a, {max}(x) AS b FROM {t}',
    'SELECT pg_typeof({min}(x)) AS a, pg_typeof({max}(x)) AS b FROM {t}',
    'SELECT g, {min}(x) AS a, {max}(x) AS b FROM {t} GROUP BY g',
    'SELECT g, h, {max}(x) AS a, GROUPING(g, h) AS w FROM {t} GROUP BY CUBE (g, h)',
    'SELECT g, {min}(x) FILTER (WHERE h > 2) AS a, {max}(x) FILTER (WHERE h = 1) AS b '
    'FROM {t} GROUP BY g',
    'SELECT h, {min}(DISTINCT x) = min(x) AS a, {max}(DISTINCT x) = max(x) AS b FROM {t} GROUP BY h',
    'SELECT h, {max}(x ORDER BY i DESC) AS a, {min}(x ORDER BY x) AS b FROM {t} GROUP BY h',
    'SELECT g, {min}(x) AS a FROM {t} GROUP BY g HAVING {max}(x) > {min}(x)',
    'SELECT {min}(m) AS a FROM (SELECT {max}(x) AS m FROM {t} GROUP BY g) q',
    'SELECT {min}(x) AS a, {max}(x) AS b FROM {t} WHERE false',
]
# Of small tables only, as each row or group reads many.
RESCANNED = ('SELECT a.g, m FROM (SELECT DISTINCT g FROM {t}) a, '
             'LATERAL (SELECT {min}(x) AS m FROM {t} b WHERE b.g > a.g) c')

SIZES = (0, 1, 2, 31, 32, 33, 255, 257)
LARGE = (1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 7000)

PLANS = [
    ('serial', 'SET max_parallel_workers_per_gather = 0'),
    ('parallel', 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;'
     'SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2'),
    ('sorted', 'SET max_parallel_workers_per_gather = 0; SET enable_hashagg = off'),
    ('spilling', "SET enable_hashagg = on; SET enable_sort = off; SET work_mem = '64kB'"),
]


def frame(rng):
    """A frame clause with its order, in which ROWS are a total order."""
    mode = rng.choice(('ROWS', 'RANGE', 'GROUPS'))
    order = 'i' if mode == 'ROWS' else 'k'
    bounds = [(-9, 'UNBOUNDED PRECEDING')] + [(-n, '%d PRECEDING' % n) for n in (1, 2, 5)] + \
        [(0, 'CURRENT ROW')] + [(n, '%d FOLLOWING' % n) for n in (1, 3)] + [(9, 'UNBOUNDED FOLLOWING')]
    first, last = sorted(rng.sample(bounds, 2))
    exclude = rng.choice(('', '', ' EXCLUDE CURRENT ROW', ' EXCLUDE GROUP', ' EXCLUDE TIES'))
    partition = rng.choice(('', 'PARTITION BY g ', 'PARTITION BY h '))
    return '%sORDER BY %s %s BETWEEN %s AND %s%s' % (partition, order, mode, first[1], last[1], exclude)


def windowed(rng):
    clauses = ['', 'PARTITION BY g', 'PARTITION BY h ORDER BY i', 'ORDER BY k DESC NULLS LAST']
    yield RESCANNED
    for over in clauses + [frame(rng) for _ in range(8)]:
        some = rng.choice(('', ' FILTER (WHERE h < 3)'))
        yield ('SELECT i, {min}(x)%s OVER w AS a, {max}(x) OVER w AS b FROM {t} WINDOW w AS (%s)'
               % (some, over))


def difference(name, query, table):
    """A query with no rows when the oracle and ours agree; some of the differing ones when not."""
    where = SCHEMA if name in TIES else 'pg_catalog'
    core = query.format(t=table, min=where + '.min', max=where + '.max')
    ours = query.format(t=table, min='gpu_min', max='gpu_max')
    return ("WITH core AS MATERIALIZED (SELECT q::text AS r FROM (%s) q), "
            "ours AS MATERIALIZED (SELECT q::text AS r FROM (%s) q) "
            "(SELECT 'core', * FROM (TABLE core EXCEPT ALL TABLE ours) a LIMIT 3) UNION ALL "
            "(SELECT 'ours', * FROM (TABLE ours EXCEPT ALL TABLE core) b LIMIT 3)" % (core, ours))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=20261121)
    parser.add_argument('--cases', type=int, default=2, help='data sets of each type')
    options = parser.parse_args()
    print('seed %d, %d cases' % (options.seed, options.cases))

    tally = psql.Tally('extremes')
    psql.query('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuagg; '
               'DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s' % (SCHEMA, SCHEMA))
    sizes = psql.batch_sizes((1024, 4096))
    version = int(psql.query('SHOW server_version_num')[0])
    for name, family in types(version):
        rng = random.Random('%s %d' % (name, options.seed))
        script = psql.Script()
        for statement in oracle(name):
            script.sql(statement)
        for case in range(options.cases):
            draw = family(rng, case)
            rows = rng.choice(LARGE if case % 2 else SIZES)
            missing = rng.choice((0, 0.1, 0.1, 0.9, 1))
            groups = rng.choice((1, 5, 50))
            table = '%s.%s_%d' % (SCHEMA, name, case)
            script.sql('CREATE TABLE %s (i int, g int, h int, k int, x %s)' % (table, name))
            script.copy(table, ['%d\t%s\t%d\t%d\t%s' % (
                i, '\\N' if rng.random() < 0.01 else rng.randrange(groups), rng.randrange(4),
                rng.randrange(rows // 3 + 1), '\\N' if rng.random() < missing else draw())
                for i in range(rows)])
            script.sql('ANALYZE %s; SET gpuagg.batch_rows = %d' % (table, rng.choice(sizes)))
            script.sql('SET parallel_leader_participation = %s' % ('off', 'on')[case % 2])
            for plan, settings in PLANS:
                script.sql(settings)
                small = plan == 'serial' and rows < LARGE[0]
                for query in GROUPED + (list(windowed(rng)) if small else []):
                    script.check((name, case, plan), difference(name, query, table), [])
            script.sql('RESET ALL; SET client_min_messages = warning')
        tally.add(script.run(), lambda label: '%s data set %d, %s' % label)
    psql.query('SET client_min_messages = warning; DROP SCHEMA %s CASCADE' % SCHEMA)
    tally.finish()


if __name__ == '__main__':
    main()
