#!/usr/bin/env python3
"""exact_types.py: gpu_sum, gpu_count and gpu_running_sum beside core, where core is exact.

Seeded columns of integers and numerics, and of floats that are small integers.
Each query is written twice, with core's names and with ours; the two results
must be the same rows (EXCEPT ALL both ways), compared as text and so with
their display scale.  Connection: the environment's.
"""
import argparse
import os
import random
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


TYPES = [('int2', integer(16)), ('int4', integer(32)), ('int8', integer(64)),
         ('numeric', numerics), ('float4', whole_floats), ('float8', whole_floats)]

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

CORE = {'sum': 'sum', 'count': 'count', 'running': 'sum',
        'exclusive': 'sum(x) OVER (PARTITION BY g ORDER BY i '
                     'ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)'}
OURS = {'sum': 'gpu_sum', 'count': 'gpu_count', 'running': 'gpu_running_sum',
        'exclusive': 'gpu_running_sum(x, true) OVER (PARTITION BY g ORDER BY i '
                     'ROWS UNBOUNDED PRECEDING)'}

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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=20261121)
    parser.add_argument('--cases', type=int, default=6, help='data sets of each type')
    options = parser.parse_args()
    print('seed %d, %d cases' % (options.seed, options.cases))

    tally = psql.Tally('exact types')
    psql.query('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuagg; '
               'DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s' % (SCHEMA, SCHEMA))
    sizes = psql.batch_sizes((1024, 4096))
    for name, family in TYPES:
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
                for query in GROUPED + (WINDOWED if plan == 'serial' else []):
                    script.check((name, case, plan), difference(query, table), [])
            script.sql('RESET ALL; SET client_min_messages = warning')
        tally.add(script.run(), lambda label: '%s data set %d, %s' % label)
    psql.query('SET client_min_messages = warning; DROP SCHEMA %s CASCADE' % SCHEMA)
    tally.finish()


if __name__ == '__main__':
    main()
