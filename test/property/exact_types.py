#!/usr/bin/env python3
"""exact_types.py: aggregates and gpu_running_sum beside core, where core is exact.

Seeded columns of integers, money, intervals and numerics, and of floats that are
small integers.
Each query is written twice, with core's names and with ours; the two results
must be the same rows (EXCEPT ALL both ways), compared as text and so with
their display scale.  Connection: the environment's.
"""
import argparse
import os
import random
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

import psql  # noqa: E402

SCHEMA = 'property_exact_types'


def integer(bits):
    most = 2 ** (bits - 1) - 1

    def values(rng):
        kind = rng.choice(('small', 'any', 'edge', 'positive'))
        if kind == 'small':
            return lambda: str(rng.randint(-100, 100))
        if kind == 'edge':
            return lambda: str(rng.choice((-most - 1, most, -1, 0, 1)))
        if kind == 'positive':
            return lambda: str(most - rng.randint(0, 5))
        return lambda: str(rng.randint(-most - 1, most))
    return values


def decimal(rng, digits, scale):
    number = str(rng.randint(0, 10 ** digits - 1)).rjust(scale + 1, '0')
    text = number[:len(number) - scale] + ('.' + number[len(number) - scale:] if scale else '')
    return rng.choice(('', '-')) + text


def numerics(rng):
    kind = rng.choice(('money', 'scales', 'long', 'huge', 'special', 'zeros', 'tiny', 'edge'))
    if kind == 'money':
        return lambda: decimal(rng, 9, 2)
    if kind == 'scales':
        return lambda: decimal(rng, rng.randint(1, 18), rng.randint(0, 12))
    if kind == 'long':
        return lambda: decimal(rng, rng.randint(30, 45), rng.randint(0, 30))
    if kind == 'huge':
        return lambda: decimal(rng, 300, rng.choice((0, 0, 150)))
    if kind == 'special':
        few = rng.choice((('NaN',), ('Infinity',), ('-Infinity',), ('Infinity', '-Infinity')))
        return lambda: rng.choice(few) if rng.random() < 0.05 else decimal(rng, 8, 3)
    if kind == 'zeros':
        return lambda: rng.choice(('0', '0.0', '0.000', '-0.00'))
    if kind == 'tiny':
        return lambda: decimal(rng, 6, rng.randint(100, 200))
    return lambda: rng.choice(('', '-')) + rng.choice((
        '99999999999999999999999999999999999999', '170141183460469231731687303715884105727',
        '170141183460469231731687303715884105728', '9223372036854775807', '0.1',
        '0.00000000000000000000000000000000000001', '1e60', '5'))


def whole_floats(rng):
    return lambda: str(rng.randint(-1000, 1000))


def cents(rng):
    """Amounts whose sums of a few thousand stay in range, as core raises an error for others."""
    most = rng.choice((100, 10 ** 6, 2 ** 63 // 3000))
    return lambda: decimal_text(rng.randint(-most, most), 2)


def decimal_text(number, scale):
    text = str(abs(number)).rjust(scale + 1, '0')
    return ('-' if number < 0 else '') + text[:-scale] + '.' + text[-scale:]


def interval_text(months, days, micros):
    return '%d mons %d days %s secs' % (months, days, decimal_text(micros, 6))


def intervals(rng):
    """As with cents: sums of a few thousand stay in range."""
    months, days, micros = rng.choice(((12, 30, 10 ** 9), (2, 40, 86400 * 10 ** 6), (0, 0, 3),
                                       (2 ** 31 // 3000, 2 ** 31 // 3000, 2 ** 63 // 3000)))
    return lambda: interval_text(rng.randint(-months, months), rng.randint(-days, days),
                                 rng.randint(-micros, micros))


MOMENTS = ['sum', 'avg', 'var_pop', 'var_samp', 'variance', 'stddev_pop', 'stddev_samp', 'stddev']

# Name, values, aggregates, and whether GROUPED and WINDOWED are for it.
TYPES = [('int2', integer(16), MOMENTS, True), ('int4', integer(32), MOMENTS, True),
         ('int8', integer(64), MOMENTS, True), ('money', cents, ['sum'], False),
         ('interval', intervals, ['sum', 'avg'], False), ('numeric', numerics, ['sum'], True),
         ('float4', whole_floats, ['sum'], True), ('float8', whole_floats, ['sum'], True)]

# [[arguments|clause]] becomes a column for each of the type's aggregates.
ALL = [
    'SELECT [[x]] FROM {t}',
    'SELECT g, [[x]], {count}(x) AS n FROM {t} GROUP BY g',
    'SELECT g, h, [[x]], GROUPING(g, h) AS w FROM {t} GROUP BY ROLLUP (g, h)',
    'SELECT g, [[x|FILTER (WHERE h > 2)]] FROM {t} GROUP BY g HAVING {sum}(x) IS NOT NULL',
    'SELECT h, [[DISTINCT x]] FROM {t} GROUP BY h',
    'SELECT h, [[x ORDER BY i DESC]] FROM {t} GROUP BY h',
    'SELECT a.g, c.* FROM (SELECT DISTINCT g FROM {t}) a, LATERAL (SELECT [[x]] FROM {t} b '
    'WHERE b.g > a.g) c',
]


def every(query, aggregates):
    """The query with its [[arguments|clause]] written out."""
    def columns(match):
        arguments, _, clause = match.group(1).partition('|')
        return ', '.join('{%s}(%s) %s AS r%d' % (name, arguments, clause, number)
                         for number, name in enumerate(aggregates))
    return re.sub(r'\[\[(.*?)\]\]', columns, query)


def framed(rng, rows):
    """All aggregates over one random frame; excluding rows makes core start over at every row."""
    mode = rng.choice(('ROWS', 'ROWS', 'RANGE', 'GROUPS'))
    start = rng.choice((None, rng.randint(0, 9), 0, -rng.randint(0, 9)))
    end = rng.choice((None, rng.randint(0, 9), 0, -rng.randint(0, 9)))
    if None not in (start, end) and (start > 0) - (start < 0) < (end > 0) - (end < 0):
        start, end = end, start

    def bound(at, edge):
        if at is None:
            return 'UNBOUNDED ' + edge
        return '%d PRECEDING' % at if at > 0 else '%d FOLLOWING' % -at if at else 'CURRENT ROW'
    exclude = rng.choice(('', '', 'EXCLUDE CURRENT ROW', 'EXCLUDE GROUP', 'EXCLUDE TIES'))
    return ('SELECT i, [[x|OVER w]] FROM {t} WINDOW w AS (%s ORDER BY %s %s BETWEEN %s AND %s %s)' % (
        rng.choice(('', '', 'PARTITION BY g', 'PARTITION BY h')),
        rng.choice(('i', 'k, i', 'i DESC')) if mode == 'ROWS' else rng.choice(('k', 'k DESC')), mode,
        bound(start, 'PRECEDING'), bound(end, 'FOLLOWING'), exclude if rows < 300 else ''))


# {sum}, {count} and {running} become core's names or ours; {t} is the table of one data set.
GROUPED = [
    'SELECT {sum}(x) AS s, {count}(x) AS n, {count}(*) AS m FROM {t}',
    'SELECT pg_typeof({sum}(x)) AS a, pg_typeof({count}(x)) AS b FROM {t}',
    'SELECT g, {sum}(x) AS s, {count}(x) AS n FROM {t} GROUP BY g',
    'SELECT g, h, {sum}(x) AS s, {count}(*) AS n, GROUPING(g, h) AS w FROM {t} '
    'GROUP BY CUBE (g, h)',
    'SELECT g, h, {sum}(x) AS s FROM {t} GROUP BY GROUPING SETS ((g, h), (g), ROLLUP (h))',
    'SELECT g, {sum}(x) FILTER (WHERE h > 2) AS s, {count}(x) FILTER (WHERE h = 1) AS n '
    'FROM {t} GROUP BY g',
    'SELECT h, trim_scale({sum}(DISTINCT x)::numeric) AS s, {count}(DISTINCT x) AS n FROM {t} '
    'GROUP BY h',
    'SELECT h, {sum}(x ORDER BY i DESC) AS s FROM {t} GROUP BY h',
    'SELECT g, {sum}(x) AS s FROM {t} GROUP BY g HAVING {count}(x) > 2 AND {sum}(x) > 0',
    'SELECT a.g, s FROM (SELECT DISTINCT g FROM {t}) a, LATERAL (SELECT {sum}(x) AS s FROM {t} b '
    'WHERE b.g > a.g) c',
]

WINDOWED = [
    'SELECT i, {sum}(x) OVER (PARTITION BY g ORDER BY i) AS s FROM {t}',
    'SELECT i, {sum}(x) OVER (PARTITION BY g ORDER BY i ROWS 3 PRECEDING) AS s, '
    '{count}(x) OVER (ORDER BY i ROWS BETWEEN 2 PRECEDING AND 3 FOLLOWING) AS n FROM {t}',
    'SELECT i, {sum}(x) OVER (ORDER BY k RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS s FROM {t}',
    'SELECT i, {sum}(x) OVER (ORDER BY k GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING '
    'EXCLUDE TIES) AS s FROM {t}',
    'SELECT i, {sum}(x) FILTER (WHERE h < 3) OVER (PARTITION BY h ORDER BY i '
    'ROWS BETWEEN 1 FOLLOWING AND 5 FOLLOWING) AS s FROM {t}',
    'SELECT i, {running}(x) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS s FROM {t}',
    'SELECT i, {running}(x) OVER (PARTITION BY g ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING '
    'AND CURRENT ROW) AS s FROM {t}',
    'SELECT i, {running}(x) OVER (ORDER BY k) AS s FROM {t}',
    'SELECT i, {running}(x) OVER (PARTITION BY g ORDER BY k) AS s, '
    '{running}(x) OVER (PARTITION BY h) AS v FROM {t}',
    'SELECT i, {running}(x) OVER () AS s FROM {t}',
    'SELECT i, {exclusive} AS s FROM {t}',
]

CORE = {'count': 'count', 'running': 'sum',
        'exclusive': 'sum(x) OVER (PARTITION BY g ORDER BY i '
                     'ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)'}
OURS = {'count': 'gpu_count', 'running': 'gpu_running_sum',
        'exclusive': 'gpu_running_sum(x, true) OVER (PARTITION BY g ORDER BY i '
                     'ROWS UNBOUNDED PRECEDING)'}
CORE.update({name: name for name in MOMENTS})
OURS.update({name: 'gpu_' + name for name in MOMENTS})

SIZES = (0, 1, 2, 5, 32, 33, 100, 255, 257)
LARGE = (1023, 1024, 1025, 2500)

PLANS = [
    ('serial', 'SET max_parallel_workers_per_gather = 0'),
    ('parallel', 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;'
     'SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2'),
    ('sorted', 'SET max_parallel_workers_per_gather = 0; SET enable_hashagg = off'),
    ('spilling', "SET enable_hashagg = on; SET enable_sort = off; SET work_mem = '64kB'"),
]


def difference(query, table):
    """A query with no rows when core and ours agree, and some of the differing ones when not."""
    core = 'SELECT q::text AS r FROM (%s) q' % query.format(t=table, **CORE)
    ours = 'SELECT q::text AS r FROM (%s) q' % query.format(t=table, **OURS)
    return ("WITH core AS MATERIALIZED (%s), ours AS MATERIALIZED (%s) "
            "(SELECT 'core', * FROM (TABLE core EXCEPT ALL TABLE ours) a LIMIT 3) UNION ALL "
            "(SELECT 'ours', * FROM (TABLE ours EXCEPT ALL TABLE core) b LIMIT 3)" % (core, ours))


def ranges(script, rng, name):
    """Sums at the end of the range: the exact sum is given, or refused where it is out of range."""
    least = {'money': [-2 ** 63], 'interval': [-2 ** 31, -2 ** 31, -2 ** 63]}[name]

    def text(fields):
        return decimal_text(fields[0], 2) if name == 'money' else interval_text(*fields)
    for case in range(40):
        rows = []
        for _ in range(rng.choice((2, 3, 4, 9))):
            rows.append([rng.choice((bottom, -bottom - 1, rng.randint(bottom // 2, -bottom // 2), 0))
                         if rng.random() < 0.5 else 0 for bottom in least])
        sums = [sum(column) for column in zip(*rows)]
        fits = all(bottom <= total < -bottom for bottom, total in zip(least, sums))
        finite = name == 'money' or not infinite(sums) and not any(infinite(row) for row in rows)
        if not finite:
            continue
        values = ', '.join("('%s'::%s)" % (text(row), name) for row in rows)
        script.check((name, 'range', case), "SELECT gpu_sum(x)::text = '%s'::%s::text FROM (VALUES %s) v(x)"
                     % (text(sums) if fits else '0', name, values), ['t'],
                     '00000' if fits else {'money': '22003', 'interval': '22008'}[name])


def infinite(fields):
    """Whether these fields of an interval mean an infinity, from PostgreSQL 17 on."""
    return fields in ([2 ** 31 - 1, 2 ** 31 - 1, 2 ** 63 - 1], [-2 ** 31, -2 ** 31, -2 ** 63])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=20261121)
    parser.add_argument('--cases', type=int, default=3, help='data sets of each type')
    options = parser.parse_args()
    print('seed %d, %d cases' % (options.seed, options.cases))

    tally = psql.Tally('exact types')
    psql.query('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuagg; '
               'DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s' % (SCHEMA, SCHEMA))
    sizes = psql.batch_sizes((1024, 4096))
    for name, family, aggregates, with_numbers in TYPES:
        rng = random.Random('%s %d' % (name, options.seed))
        script = psql.Script()
        for case in range(options.cases):
            draw = family(rng)
            rows = rng.choice(LARGE if case % 4 == 3 else SIZES)
            missing = rng.choice((0, 0.1, 0.9))
            groups = rng.choice((1, 5, 50))
            table = '%s.%s_%d' % (SCHEMA, name, case)
            script.sql('CREATE TABLE %s (i int, g int, h int, k int, x %s)' % (table, name))
            script.copy(table, ['%d\t%s\t%d\t%d\t%s' % (
                i, rng.choice((rng.randrange(groups), '\\N')) if rng.random() < 0.1
                else rng.randrange(groups), rng.randrange(4), rng.randrange(rows // 3 + 1),
                '\\N' if rng.random() < missing else draw()) for i in range(rows)])
            script.sql('ANALYZE %s; SET gpuagg.batch_rows = %d' % (table, rng.choice(sizes)))
            script.sql('SET parallel_leader_participation = %s' % ('off', 'on')[case % 2])
            for plan, settings in PLANS:
                script.sql(settings)
                queries = (ALL if len(aggregates) > 1 or not with_numbers else []) + (
                    GROUPED if with_numbers else [])
                if plan == 'serial':
                    queries = queries + [framed(rng, rows) for _ in range(4)]
                    queries += WINDOWED if with_numbers else []
                for query in queries:
                    script.check((name, case, plan),
                                 difference(every(query, aggregates), table), [])
            script.sql('RESET ALL; SET client_min_messages = warning')
        tally.add(script.run(), lambda label: '%s data set %d, %s' % label)
    script = psql.Script()
    for name in ('money', 'interval'):
        ranges(script, random.Random('%s ranges %d' % (name, options.seed)), name)
    tally.add(script.run())
    psql.query('SET client_min_messages = warning; DROP SCHEMA %s CASCADE' % SCHEMA)
    tally.finish()


if __name__ == '__main__':
    main()
