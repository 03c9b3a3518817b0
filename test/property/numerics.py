#!/usr/bin/env python3
"""numerics.py: sums, averages, variances and standard deviations of numeric beside core.

Seeded columns of numerics of all precisions and scales, the edges of 64 and of
128 bits, values that are stored compressed or out of line, NaN and infinities.
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

SCHEMA = 'property_numerics'


def point(digits, scale):
    """The text of an integer's digits with the point `scale` digits from the right."""
    digits = digits.rjust(scale + 1, '0')
    return digits[:len(digits) - scale] + ('.' + digits[len(digits) - scale:] if scale else '')


def decimal(rng, digits, scale):
    return rng.choice(('', '-')) + point(str(rng.randint(0, 10 ** digits - 1)), scale)


def near(rng, value, scale=None):
    """A value close to +-value, written with a scale of its own."""
    number = value + rng.choice((-2, -1, -1, 0, 0, 1, 1, 2))
    if scale is None:
        scale = rng.choice((0, 0, 1, 2, 4, 5, 8, 16, 20))
    return rng.choice(('', '-')) + point(str(number), scale)


EDGES = (10 ** 4, 10 ** 8, 10 ** 16, 922 * 10 ** 16, 10 ** 18, 2 ** 63, 2 ** 64, 10 ** 20,
         10 ** 32, 10 ** 38, 2 ** 126, 2 ** 127, 2 ** 128)


def money(rng):
    return lambda: decimal(rng, 15, 2)


def declared(rng):
    scale = rng.randint(0, 20)
    digits = scale + rng.randint(1, 20)
    return lambda: decimal(rng, digits, scale)


def scales(rng):
    return lambda: decimal(rng, rng.randint(1, 18), rng.randint(0, 18))


def growing(rng):
    """More and more digits after the point, so that scales change one way."""
    state = {'n': 0}

    def draw():
        state['n'] += 1
        return decimal(rng, 6, min(state['n'] // 20, 22))
    return draw


def long(rng):
    return lambda: decimal(rng, rng.randint(20, 60), rng.randint(0, 40))


def huge(rng):
    return lambda: decimal(rng, rng.choice((30, 300, 1000)), rng.choice((0, 0, 150, 200)))


def tiny(rng):
    return lambda: decimal(rng, rng.randint(1, 20), rng.randint(100, 200))


def apart(rng):
    """Neighbours with hundreds of zeros between them."""
    return lambda: rng.choice(('', '-')) + rng.choice(('1e300', '1e-200', '1', '1e17', '5e-9'))


def zeros(rng):
    return lambda: rng.choice(('0', '0.0', '0.000', '-0.00', '0e-30', '1', '-1.0'))


def trailing(rng):
    return lambda: decimal(rng, 3, 0) + rng.choice(('', '.0', '.000', '.0000', '.00000', '.5000'))


def edges(rng):
    return lambda: near(rng, rng.choice(EDGES))


def one_edge(rng):
    value = rng.choice(EDGES)
    scale = rng.choice((0, 2, 4, 8, 16))
    return lambda: near(rng, value, scale)


def special(rng):
    few = rng.choice((('NaN',), ('Infinity',), ('-Infinity',), ('Infinity', '-Infinity'),
                      ('NaN', 'Infinity', '-Infinity')))
    return lambda: rng.choice(few) if rng.random() < 0.1 else decimal(rng, 8, 3)


def stored(rng):
    """Values too long to be stored in line as they are."""
    def draw():
        digits = rng.choice((5, 4000, 5000, 9000))
        text = str(rng.randint(1, 10 ** 9 - 1)) * (digits // 9 + 1)
        return rng.choice(('', '-')) + point(text, rng.choice((0, digits // 2, 3000)))
    return draw


FAMILIES = (money, declared, scales, growing, long, huge, tiny, apart, zeros, trailing, edges,
            one_edge, special, stored)

ALL = ', '.join('{%s}(x){w} AS %s' % (name, name) for name in
                ('sum', 'avg', 'var_pop', 'var_samp', 'variance', 'stddev_pop', 'stddev_samp',
                 'stddev'))
SOME = '{sum}(x){w} AS a, {avg}(x){w} AS b, {variance}(x){w} AS c'

GROUPED = [
    'SELECT %s FROM {t}' % ALL,
    'SELECT g, %s FROM {t} GROUP BY g' % ALL,
    'SELECT g, h, %s, GROUPING(g, h) AS w FROM {t} GROUP BY CUBE (g, h)' % SOME,
    'SELECT g, {sum}(x) FILTER (WHERE h > 1) AS a, {stddev}(x) FILTER (WHERE h = 1) AS b FROM {t} '
    'GROUP BY g',
    'SELECT h, trim_scale({sum}(DISTINCT x)) AS s FROM {t} GROUP BY h',
    'SELECT h, {sum}(x ORDER BY x DESC, i) AS a, {stddev_pop}(x ORDER BY i DESC) AS b FROM {t} '
    'GROUP BY h',
    'SELECT g FROM {t} GROUP BY g HAVING {avg}(x) > 0 AND {variance}(x) > 1',
    'SELECT {sum}(x + 1) AS a, {avg}(x * 2) AS b, {stddev}(-x) AS c FROM {t}',
]

CORE = {name: name for name in ('sum', 'avg', 'var_pop', 'var_samp', 'variance', 'stddev_pop',
                                'stddev_samp', 'stddev')}
OURS = {name: 'gpu_' + name for name in CORE}

SIZES = (0, 1, 2, 3, 31, 32, 33, 100, 300)
LARGE = (2047, 2048, 2049, 5000)

PLANS = [
    ('serial', 'SET max_parallel_workers_per_gather = 0'),
    ('parallel', 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;'
     'SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2'),
    ('sorted', 'SET max_parallel_workers_per_gather = 0; SET enable_hashagg = off'),
]


def frame(rng):
    """The text behind OVER of a random frame."""
    unit = rng.choice(('ROWS', 'ROWS', 'RANGE', 'GROUPS'))
    ends = sorted((rng.randint(-6, 6), rng.randint(-6, 6)))
    bounds = [('%d PRECEDING' % -e if e < 0 else '%d FOLLOWING' % e if e > 0 else 'CURRENT ROW')
              for e in ends]
    if rng.random() < 0.2:
        bounds[0] = 'UNBOUNDED PRECEDING'
    elif rng.random() < 0.1:
        bounds[1] = 'UNBOUNDED FOLLOWING'
    exclude = rng.choice(('', '', '', ' EXCLUDE CURRENT ROW', ' EXCLUDE TIES'))
    return ' OVER (%sORDER BY %s %s BETWEEN %s AND %s%s)' % (
        rng.choice(('', 'PARTITION BY g ')), 'i' if unit == 'ROWS' else 'k', unit, bounds[0],
        bounds[1], exclude)


def difference(query, table, window=''):
    """A query with no rows when core and ours agree, and some of the differing ones when not."""
    core = 'SELECT q::text AS r FROM (%s) q' % query.format(t=table, w=window, **CORE)
    ours = 'SELECT q::text AS r FROM (%s) q' % query.format(t=table, w=window, **OURS)
    return ("WITH core AS MATERIALIZED (%s), ours AS MATERIALIZED (%s) "
            "(SELECT 'core', * FROM (TABLE core EXCEPT ALL TABLE ours) a LIMIT 3) UNION ALL "
            "(SELECT 'ours', * FROM (TABLE ours EXCEPT ALL TABLE core) b LIMIT 3)" % (core, ours))


# What core refuses or takes at the ends of what numeric can store: values, call, core's SQLSTATE.
ENDS = [
    ("('1e131071'), ('9e131071')", '{sum}(x::numeric)', '22003'),
    ("('9e131071'), ('9e131071')", '{sum}(x::numeric)', '22003'),
    ("('9e131071'), ('9e131071')", '{avg}(x::numeric)', '22003'),
    ("('1e131071'), ('-1e131071'), ('1')", '{sum}(x::numeric)', '00000'),
    ("('1e131071'), ('1e131070')", '{sum}(x::numeric)', '00000'),
    ("('1e131071'), ('1e131070')", '{variance}(x::numeric)', '22003'),
    ("('1e131071'), ('1e131071')", '{variance}(x::numeric)', '00000'),
    ("('1e65000'), ('1e-10000')", '{stddev_pop}(x::numeric)', '00000'),
    ("('1e65536'), ('2e65535')", '{var_pop}(x::numeric)', '00000'),
    ("('9e65536'), ('1')", '{var_pop}(x::numeric)', '22003'),
    ("('1e65535'), ('2e65535')", '{var_pop}(x::numeric)', '00000'),
    ("('1e-16383'), ('2e-16383')", '{sum}(x::numeric)', '00000'),
    ("('1e-16383'), ('2e-16383')", '{avg}(x::numeric)', '00000'),
    ("('1e-16383'), ('2e-16383')", '{var_pop}(x::numeric)', '00000'),
    ("('1e-16383'), ('2e500')", '{stddev}(x::numeric)', '00000'),
    ("('1e-8191'), ('2')", '{variance}(x::numeric)', '00000'),
    ("('1e-8192'), ('2')", '{variance}(x::numeric)', '00000'),
]


# The one difference: the root of a variance that numeric cannot store is an error.
REFUSED = "SELECT gpu_stddev(x::numeric) FROM (VALUES ('1e131071'), ('1e131070')) v(x)"


def ends(script):
    script.check(('ends', 'root', 'stddev'), REFUSED, None, '22003')
    for values, call, state in ENDS:
        query = "SELECT %s AS r FROM (VALUES %s) v(x)" % (call, values)
        if state == '00000':
            script.check(('ends', values, call), difference(query, ''), [])
        else:
            for names in CORE, OURS:
                script.check(('ends', values, call), query.format(**names), None, state)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=20261121)
    parser.add_argument('--cases', type=int, default=2, help='data sets of each family')
    parser.add_argument('--family', help='only this one, or ends')
    options = parser.parse_args()
    print('seed %d, %d cases' % (options.seed, options.cases))

    tally = psql.Tally('numerics')
    psql.query('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuagg; '
               'DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s' % (SCHEMA, SCHEMA))
    sizes = psql.batch_sizes((1024, 4096))
    for family in FAMILIES:
        name = family.__name__
        if options.family not in (None, name):
            continue
        rng = random.Random('%s %d' % (name, options.seed))
        script = psql.Script()
        for case in range(options.cases):
            draw = family(rng)
            rows = rng.choice(LARGE if case % 2 == 1 else SIZES)
            if family is stored or family is huge:
                rows = min(rows, 25 if family is stored else 300)
            missing = rng.choice((0, 0.1, 0.9))
            groups = rng.choice((1, 5, 50))
            table = '%s.%s_%d' % (SCHEMA, name, case)
            script.sql('CREATE TABLE %s (i int, g int, h int, k int, x numeric)' % table)
            script.sql('ALTER TABLE %s ALTER x SET STORAGE %s'
                       % (table, ('MAIN', 'EXTERNAL', 'EXTENDED')[case % 3]))
            script.copy(table, ['%d\t%d\t%d\t%d\t%s' % (
                i, rng.randrange(groups), rng.randrange(4), rng.randrange(rows // 3 + 1),
                '\\N' if rng.random() < missing else draw()) for i in range(rows)])
            script.sql('ANALYZE %s; SET gpuagg.batch_rows = %d' % (table, rng.choice(sizes)))
            script.sql('SET parallel_leader_participation = %s' % ('off', 'on')[case % 2])
            for plan, settings in PLANS:
                script.sql(settings)
                for query in GROUPED:
                    script.check((name, case, plan), difference(query, table), [])
            for query in ([SOME] * 3 + [ALL]) if rows <= 300 else [SOME]:
                window = frame(rng)
                if rows > 300 and 'UNBOUNDED' in window:
                    window = ' OVER (ORDER BY i ROWS 40 PRECEDING)'
                script.check((name, case, window), difference(
                    'SELECT i, %s FROM {t}' % query, table, window), [])
            script.sql('RESET ALL; SET client_min_messages = warning')
        tally.add(script.run(), lambda label: '%s data set %s, %s' % label)
    if options.family in (None, 'ends'):
        script = psql.Script()
        ends(script)
        tally.add(script.run(), lambda label: '%s of numeric: %s, %s' % label)
    psql.query('SET client_min_messages = warning; DROP SCHEMA %s CASCADE' % SCHEMA)
    tally.finish()


if __name__ == '__main__':
    main()
