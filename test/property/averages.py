#!/usr/bin/env python3
"""averages.py: averages that are numeric beside core's division, as text and so with their display scale.

Sums and counts are those of states that no table could make: at powers of ten and of two and beside them,
where the sum's first four digits are below, at and above the count's, where the last digit is a tie, and
where 128 bits end.  The same of tables: in groups, and in windows of each frame, over integers, declared
and other numerics, NaN and infinities; conditions and aggregates above the windows, on a device where there is one.
Seeded.  Connection: the environment's.
"""
import argparse
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

import psql  # noqa: E402
import state_bytes  # noqa: E402

SCHEMA = 'property_averages'
MOST = {'int': 2 ** 63, 'numeric': 2 ** 122}  # of sums: of each value, and altogether


# ---- states ----

def number(rng, digits):
    """A number of up to so many digits, often at an edge."""
    size = rng.randint(0, digits)
    style = rng.randrange(5)
    if style == 0:
        return max(0, 10 ** size + rng.choice((-1, 0, 1)))
    if style == 1:
        return max(0, 2 ** int(size * 3.32) + rng.choice((-1, 0, 1)))
    if style == 2:
        return rng.randint(0, 9999) * 10000 ** rng.randint(0, size // 4)
    if style == 3:
        return rng.randint(0, 99)
    return rng.randint(0, 10 ** size)


def pair(rng):
    """A count and the magnitude of a sum."""
    count = rng.randint(1, 10 ** rng.randint(0, 18)) if rng.random() < 0.5 else max(1, number(rng, 18))
    count = min(count, 2 ** 60 - 2)
    style = rng.randrange(4)
    if style == 0:
        # first groups of four digits that are equal, or nearly
        first = count // 10000 ** ((len(str(count)) - 1) // 4) + rng.choice((-1, 0, 0, 1))
        unit = 10000 ** rng.randint(0, 7)
        return count, first * unit + rng.choice((0, 0, rng.randrange(unit), -1 if first else 0))
    if style == 1:
        # odd / 2 units of a last place, or beside it
        count += count % 2
        odd = 2 * rng.randrange(10 ** rng.randint(1, 17)) + 1
        return count, max(0, odd * (count // 2) + rng.choice((-1, 0, 0, 1)))
    return count, number(rng, rng.choice((9, 20, 38)))


def literal(value, places, scale):
    """value / 10^places as numeric with so many digits shown."""
    digits = str(abs(value) * 10 ** max(scale - places, 0)).rjust(max(places, scale) + 1, '0')
    point = len(digits) - max(places, scale)
    return "'%s%s%s'::numeric" % ('-' * (value < 0), digits[:point], '.' * (scale > 0) + digits[point:point + scale])


def quotients(script, rng, many):
    """Averages of states beside quotients of numerics, in one query for many of them."""
    for part in range((many + 499) // 500):
        rows = []
        while len(rows) < 500:
            count, total = pair(rng)
            sign = rng.choice((-1, 1))
            if rng.random() < 0.4:
                total *= sign
                if abs(total) > count * (MOST['int'] - 1):
                    continue
                rows.append((state_bytes.of_integers(count, total), literal(total, 0, 0), count))
                continue
            groups = rng.randint(0, 4)
            scale = max(0, 4 * groups - rng.randint(0, 3))
            total = total // 10 ** (4 * groups - scale) * 10 ** (4 * groups - scale)
            if total >= MOST['numeric']:
                continue
            total *= sign
            shown = scale + rng.choice((0, 0, 0, 1, 7, 40, 1200))
            rows.append((state_bytes.of_numerics(count, total, groups, shown), literal(total, 4 * groups, shown), count))
        script.sql('TRUNCATE s')
        script.copy('s', ['%d\t\\\\x%s' % (n, row[0].hex()) for n, row in enumerate(rows)])
        core = ', '.join('(%d, %s, %d)' % (n, row[1], row[2]) for n, row in enumerate(rows))
        script.check(('quotients', part),
                     'SELECT n, ours, core FROM (SELECT n, gpu_avg_merge(state, NULL::numeric)::text AS ours FROM s GROUP BY n) a '
                     'FULL JOIN (SELECT n, (total / count::numeric)::text AS core FROM (VALUES %s) v (n, total, count)) b USING (n) '
                     'WHERE ours IS DISTINCT FROM core' % core, [])


# ---- tables ----

# Types of columns, and values of them.
COLUMNS = {
    'int2': ('int2', lambda rng: str(rng.choice((-32768, 32767, 0, rng.randint(-9, 9), rng.randint(-32768, 32767))))),
    'int4': ('int4', lambda rng: str(rng.choice((-2 ** 31, 2 ** 31 - 1, 1, rng.randint(-99, 99), rng.randint(-2 ** 31, 2 ** 31 - 1))))),
    'int8': ('int8', lambda rng: str(rng.choice((-2 ** 63, 2 ** 63 - 1, 0, rng.randint(-9999, 9999), rng.randint(-2 ** 63, 2 ** 63 - 1))))),
    'small': ('int4', lambda rng: str(rng.randint(-3, 3))),
    'tenths': ('numeric(3,1)', lambda rng: '%.1f' % (rng.randint(-5, 5) / 10)),
    'cents': ('numeric(12,2)', lambda rng: '%.2f' % (rng.randint(-10 ** rng.randint(1, 11), 10 ** 11) / 100)),
    'tiny': ('numeric(18,18)', lambda rng: '%s0.%018d' % (rng.choice(('', '-')), rng.randrange(10 ** rng.randint(1, 18)))),
    'special': ('numeric(9,3)', lambda rng: 'NaN' if rng.random() < 0.01 else '%.3f' % rng.uniform(-999, 999)),
    'scales': ('numeric', lambda rng: '%.*f' % (rng.randint(0, 12), rng.uniform(-5, 5))),
    'any': ('numeric', lambda rng: rng.choice(('NaN', 'Infinity', '-Infinity')) if rng.random() < 0.003 else
            '%d%s' % (rng.randint(-10 ** rng.randint(1, 40), 10 ** 30), rng.choice(('', '.5', '.000', '.12345678901234567890')))),
}

FRAMES = ('(PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING)', '(PARTITION BY g ORDER BY k)', '(PARTITION BY g)',
          '(ORDER BY i ROWS UNBOUNDED PRECEDING)', '(ORDER BY k)', '()', '(ORDER BY i ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)')
ABOVE = ('r < 0', 'r >= 0', 'r = 0', 'r <= -1', 'r > 0.5', "r <> 'NaN'", '2.5 > r', 'r < 1e20', 'r >= -9223372036854775808',
         'r >= 0.33333333333333333333', 'r < 0.33333333333333333333', 'r <= -0.66666666666666666667', 'r > -0.66666666666666666667',
         'r = 0.33333333333333333333', 'r = 1', 'r <= 1', 'r > 1', '0.1 = r', 'r >= 0.05', 'r > -0.05', "r < 'NaN'", "r = 'Infinity'",
         'r < 4611686018427387904', 'r > 4611686018427387903', 'r <= -4611686018427387905', 'r > 1e-18 AND r < 0.25',
         'r > 0.00005', 'r <= 0.3333', '0.3334 > r', 'r >= -0.6667', 'r < 461168601842738.7903', 'r >= 461168601842738.7904', 'r > 1e16')


def tables(script, rng, rows):
    """Our averages of a table's columns beside core's."""
    script.sql('DROP TABLE IF EXISTS t')
    script.sql('CREATE TABLE t (i int, g int, k int, %s)' % ', '.join('x_%s %s' % (name, column[0]) for name, column in COLUMNS.items()))
    missing = rng.choice((0, 0.1, 0.6))
    script.copy('t', ['\t'.join([str(i), str(rng.randrange(1 + rows // 40)), str(i // rng.randint(1, 4))] +
                                ['\\N' if rng.random() < missing else column[1](rng) for column in COLUMNS.values()])
                      for i in range(rows)])
    script.sql("VACUUM ANALYZE t; SELECT gpuagg_prefetch('t')")
    for name in COLUMNS:
        x = 'x_' + name
        pairs = [('SELECT g, {avg}(%s)::text AS r, {sum}(%s)::text FROM t GROUP BY g' % (x, x)), 'SELECT 0, {avg}(%s)::text FROM t' % x,
                 'SELECT k, g, {avg}(%s)::text FROM t GROUP BY ROLLUP (k, g)' % x]
        for frame in FRAMES:
            window = 'SELECT i, {avg}(%s) OVER %s AS r FROM t' % (x, frame)
            pairs.append('SELECT i, r::text FROM (%s) q' % window)
            pairs += ['SELECT i, r::text FROM (%s) q WHERE %s' % (window, above) for above in rng.sample(ABOVE, 3)]
            # of equal numerics with other display scales core's maximum is any
            pairs.append('SELECT 0, {max}(r), {min}(r), {count}(*) FROM (%s) q WHERE %s' % (window, rng.choice(ABOVE)))
            pairs.append('SELECT 0, {sum}(r)::text, {avg}(r)::text FROM (%s) q' % window)
        for query in pairs:
            core = query.format(avg='avg', sum='sum', max='max', min='min', count='count')
            ours = query.format(avg='gpu_avg', sum='gpu_sum', max='gpu_max', min='gpu_min', count='gpu_count')
            script.check((rows, ours), '(({0}) EXCEPT ALL ({1})) UNION ALL (({1}) EXCEPT ALL ({0}))'.format(ours, core), [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=20261126)
    parser.add_argument('--quotients', type=int, default=20000)
    parser.add_argument('--tables', type=int, default=4)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    print('seed %d' % args.seed)
    script = psql.Script()
    script.sql('CREATE EXTENSION IF NOT EXISTS gpuagg; DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s; SET search_path = %s, public; '
               'CREATE TABLE s (n int, state bytea)' % (SCHEMA, SCHEMA, SCHEMA))
    quotients(script, rng, args.quotients)
    for _ in range(args.tables):
        script.sql('SET gpuagg.device = %s; SET gpuagg.device_min_rows = 0; SET gpuagg.min_table_pages = 0; SET gpuagg.resident = on; '
                   'SET gpuagg.core_aggregates = %s; SET gpuagg.enable_window_scan = %s'
                   % (rng.choice(('cpu', 'auto')), 'off', rng.choice(('on', 'on', 'off'))))
        tables(script, rng, rng.choice((1, 33, 1025, 2500)))
    script.sql('DROP SCHEMA %s CASCADE' % SCHEMA)
    tally = psql.Tally('averages')
    tally.add(script.run())
    tally.finish()


if __name__ == '__main__':
    main()
