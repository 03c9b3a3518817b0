#!/usr/bin/env python3
"""running.py: every running function of every type, over partitions of every shape.

Where core is exact, each row must be that of core's aggregate OVER the same
frame, as text.  Sums and averages of floats are compared with exact fractions;
minima and maxima of types with equal values that differ (-0 and 0, 1.0 and
1.00, a month and thirty days) with the order that the manual promises.  Seeded.
Connection: the environment's.
"""
import argparse
from fractions import Fraction
import math
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

import families  # noqa: E402
import oracle  # noqa: E402
import psql  # noqa: E402

SCHEMA = 'property_running'

SIZES = (0, 1, 2, 5, 31, 32, 33, 64, 100, 255, 257)
LARGE = (1023, 1024, 1025, 2047, 2048, 2049, 3000)
GIANT = (65535, 65536, 65537)

ROWS = 'ROWS UNBOUNDED PRECEDING'
BEFORE = 'ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING'
FORMS = {'float4': oracle.FLOAT4, 'float8': oracle.FLOAT8}


# ---- values: each a function of a random generator that returns a function without arguments ----

def integer(bits):
    most = 2 ** (bits - 1) - 1

    def values(rng):
        low, high = rng.choice(((-100, 100), (-most - 1, most), (most - 3, most), (-most - 1, -most)))
        return lambda: str(rng.randint(low, high))
    return values


def decimal(rng, digits, scale):
    number = str(rng.randint(0, 10 ** digits - 1)).rjust(scale + 1, '0')
    text = number[:len(number) - scale] + ('.' + number[len(number) - scale:] if scale else '')
    return rng.choice(('', '-')) + text


def numeric(rng):
    kind = rng.choice(('money', 'scales', 'long', 'special', 'ties'))
    if kind == 'money':
        return lambda: decimal(rng, 9, 2)
    if kind == 'scales':
        return lambda: decimal(rng, rng.randint(1, 18), rng.randint(0, 12))
    if kind == 'long':
        return lambda: decimal(rng, rng.randint(1, 60), rng.randint(0, 30))
    if kind == 'special':
        few = rng.choice((('NaN',), ('Infinity',), ('-Infinity',), ('Infinity', '-Infinity')))
        return lambda: rng.choice(few) if rng.random() < 0.02 else decimal(rng, 8, 3)
    return lambda: rng.choice(('-1', '0', '1', '-0')) + rng.choice(('', '.', '.0', '.00', '.000'))


def money(rng):
    most = rng.choice((100, 10 ** 6, 10 ** 13))
    return lambda: '%d.%02d' % (rng.randint(-most, most), rng.randint(0, 99))


def interval(rng):
    most = rng.choice((1, 3, 1000))
    return lambda: '%d mons %d days %d us' % (
        rng.randint(-most, most), rng.randint(-30 * most, 30 * most),
        rng.choice((0, 1, 86400000000)) * rng.randint(-30 * most, 30 * most))


def date(rng):
    return lambda: rng.choice(('infinity', '-infinity')) if rng.random() < 0.003 else \
        '%04d-%02d-%02d' % (rng.randint(1, 9999), rng.randint(1, 12), rng.randint(1, 28))


def time(rng):
    return lambda: '%02d:%02d:%02d.%06d' % (rng.randint(0, 23), rng.randint(0, 59),
                                            rng.randint(0, 59), rng.randint(0, 999999))


def timestamp(rng):
    day, hour = date(rng), time(rng)

    def draw():
        text = day()
        return text if 'inf' in text else text + ' ' + hour()
    return draw


def text(rng):
    return lambda: ''.join(rng.choice('abc') for _ in range(rng.randint(0, 5)))


INTEGERS = ('sum', 'avg', 'min', 'max', 'count')
# type: (values, functions that are core's to the letter)
EXACT = {
    'int2': (integer(16), INTEGERS), 'int4': (integer(32), INTEGERS),
    'int8': (integer(64), INTEGERS), 'numeric': (numeric, ('sum', 'avg', 'count')),
    'money': (money, ('sum', 'min', 'max', 'count')), 'interval': (interval, ('sum', 'avg', 'count')),
    'date': (date, ('min', 'max', 'count')), 'time': (time, ('min', 'max', 'count')),
    'timestamp': (timestamp, ('min', 'max', 'count')),
    'timestamptz': (timestamp, ('min', 'max', 'count')),
    'text': (text, ('count',)),
}


# ---- the table of one case ----

def partitions(rng, rows):
    """The partition of each row."""
    shape = rng.choice(('one', 'one', 'tiny', 'few', 'giant'))
    if shape == 'one':
        return [0] * rows
    if shape == 'tiny':
        return [i // 3 for i in range(rows)]
    if shape == 'few':
        return [rng.randrange(4) for _ in range(rows)]
    return [0 if rng.random() < 0.9 else rng.randrange(1, rows + 1) for _ in range(rows)]


class Case:
    def __init__(self, kind, number, seed, giant=False):
        self.rng = rng = random.Random('%s %d %d' % (kind, seed, number))
        self.kind = kind
        self.number = number
        rows = rng.choice(GIANT if giant else LARGE if number % 3 == 2 else SIZES)
        self.group = partitions(rng, rows)
        missing = rng.choice((0, 0, 0.1, 0.9, 1))
        empty = rng.randrange(4)  # one partition may have nothing but NULLs
        if kind in FORMS:
            drawn = rng.choice(families.FAMILIES)(rng, FORMS[kind], rows)
        else:
            draw = EXACT[kind][0](rng)
            drawn = [draw() for _ in range(rows)]
        self.values = [None if rng.random() < missing or (g == empty and number % 2) else x
                       for x, g in zip(drawn, self.group)]
        self.peer = []
        step = rng.choice((0.05, 0.5, 1))
        for _ in self.values:
            self.peer.append((self.peer[-1] if self.peer else 0) + (rng.random() < step))
        self.table = '%s.%s_%d' % (SCHEMA, kind, number) + ('g' if giant else '')

    def lines(self):
        for i, x in enumerate(self.values):
            x = '\\N' if x is None else x if isinstance(x, str) else repr(x)
            yield '%d\t%d\t%d\t%s' % (i, self.group[i], self.peer[i], x)

    def walk(self, fold, how):
        """What fold makes of each row's frame: {row: fold's result}.

        fold has add(value) and result(); how is 'rows', 'before' or 'peers'.
        """
        results = {}
        members = {}
        for i, g in enumerate(self.group):
            members.setdefault(g, []).append(i)
        for rows in members.values():
            state = fold()
            for at, i in enumerate(rows):
                if how == 'before':
                    results[i] = state.result()
                state.add(self.values[i])
                if how != 'before':
                    results[i] = state.result()
            if how == 'peers':
                for at in range(len(rows) - 2, -1, -1):
                    if self.peer[rows[at]] == self.peer[rows[at + 1]]:
                        results[rows[at]] = results[rows[at + 1]]
        return [results[i] for i in range(len(self.values))]


# ---- oracles where core is none ----

def float_fold(form, function):
    """Sum or average of floats, as the hexadecimal bytes of the result."""
    class Fold:
        def __init__(self):
            self.sum = oracle.Sum()

        def add(self, value):
            self.sum.add(value)

        def result(self):
            if function == 'sum':
                return oracle.text(self.sum.result(form), form)
            exact = self.sum
            if exact.count == 0:
                return ''
            if exact.nan or exact.plus or exact.minus or exact.total == 0:
                return oracle.text(exact.result(oracle.FLOAT8), oracle.FLOAT8)
            mean = float(Fraction(abs(exact.total), exact.count << oracle.UNIT))
            return oracle.FLOAT8.hex(-mean if exact.total < 0 else mean)
    return Fold


def extreme_fold(key, show, function):
    """The least or greatest value by its key."""
    class Fold:
        def __init__(self):
            self.best = None

        def add(self, value):
            if value is not None and (self.best is None or (
                    key(value) < key(self.best) if function == 'min'
                    else key(value) > key(self.best))):
                self.best = value

        def result(self):
            return '' if self.best is None else show(self.best)
    return Fold


def float_key(value):
    return (1, 0, 0) if value != value else (0, value, math.copysign(1, value))


def numeric_key(function):
    """The value, then the display scale: the larger one wins min and max alike."""
    def key(value):
        special = {'NaN': 2, 'Infinity': 1, '-Infinity': -1}.get(value, 0)
        if special:
            return (special, 0, 0)
        scale = len(value.partition('.')[2])
        return (0, Fraction(value + '0' if value.endswith('.') else value),
                scale if function == 'max' else -scale)
    return key


def numeric_show(value):
    """A numeric's text as its output function writes it."""
    value = value.rstrip('.') if '.' in value[-1:] else value
    return value[1:] if value.startswith('-') and not value.strip('-0.') else value.lstrip('+')


def interval_fields(value):
    months, _, days, _, micros, _ = value.split()
    return int(months), int(days), int(micros)


def interval_key(value):
    months, days, micros = interval_fields(value)
    return ((months * 30 + days) * 86400000000 + micros, months, days, micros)


def interval_show(value):
    months, days, micros = interval_fields(value)
    return b''.join(n.to_bytes(width, 'big', signed=True)
                    for n, width in ((micros, 8), (days, 4), (months, 4))).hex()


def promised(kind, function):
    """(fold, SQL around the call) of a function whose results are not core's."""
    if kind in FORMS:
        form = FORMS[kind]
        if function in ('sum', 'avg'):
            shown = 'float8' if function == 'avg' else kind
            return float_fold(form, function), "encode(%ssend(%%s), 'hex')" % shown
        return (extreme_fold(float_key, form.hex, function), "encode(%ssend(%%s), 'hex')" % kind)
    if kind == 'numeric':
        return extreme_fold(numeric_key(function), numeric_show, function), '%s'
    return extreme_fold(interval_key, interval_show, function), "encode(interval_send(%s), 'hex')"


# ---- checks ----

WINDOWS = [
    # (label, our arguments, our window, core's window, how)
    ('rows', 'x', 'PARTITION BY g ORDER BY i ' + ROWS, 'PARTITION BY g ORDER BY i ' + ROWS, 'rows'),
    ('exclusive', 'x, true', 'PARTITION BY g ORDER BY i ' + ROWS,
     'PARTITION BY g ORDER BY i ' + BEFORE, 'before'),
    ('peers', 'x', 'PARTITION BY g ORDER BY k', 'PARTITION BY g ORDER BY k', 'peers'),
]


def beside_core(script, case):
    """Every function of the type beside core's, in all windows at once."""
    ours, core = [], []
    for _, arguments, window, core_window, _ in WINDOWS + [
            ('whole', 'x', 'PARTITION BY g', 'PARTITION BY g', None), ('nothing', 'x', '', '', None)]:
        for function in EXACT[case.kind][1]:
            ours.append('(gpu_running_%s(%s) OVER (%s))::text' % (function, arguments, window))
            core.append('(%s(x) OVER (%s))::text' % (function, core_window))
    query = ('SELECT i, ours, core FROM (SELECT i, ARRAY[%s] AS ours, ARRAY[%s] AS core FROM %s) q '
             'WHERE ours IS DISTINCT FROM core ORDER BY i LIMIT 2'
             % (', '.join(ours), ', '.join(core), case.table))
    script.check((case, 'beside core'), query, [])


def beside_promise(script, case, functions):
    for function in functions:
        fold, shown = promised(case.kind, function)
        for name, arguments, window, _, how in WINDOWS:
            want = case.walk(fold, how)
            call = shown % ('gpu_running_%s(%s) OVER (%s)' % (function, arguments, window))
            statement = 'SELECT r FROM (SELECT i, %s AS r FROM %s) q ORDER BY i' % (call, case.table)
            what = '%s, %s' % (function, name)
            if oracle.OVERFLOW not in want:
                script.check((case, what), statement, want)
                continue
            script.check((case, what), statement, None, '22003')
            if len(set(case.group)) == 1:  # else rows come in another order
                before = want[:want.index(oracle.OVERFLOW)]
                script.check((case, what + ' limit'),
                             'SELECT %s FROM %s LIMIT %d' % (call, case.table, len(before)), before)


PROMISED = {'float4': ('sum', 'avg', 'min', 'max'), 'float8': ('sum', 'avg', 'min', 'max'),
            'numeric': ('min', 'max'), 'interval': ('min', 'max')}


def limits(script, case):
    """LIMIT above: exactly the rows asked for, with the right values."""
    rows = len(case.values)
    if rows < 2 or case.kind not in ('int4', 'int8', 'date'):
        return
    k = case.rng.randint(1, rows - 1)
    script.check((case, 'limit'),
                 'SELECT count(*) FROM (SELECT i, gpu_running_max(x) OVER w AS a, '
                 'gpu_running_count(x) OVER w AS b FROM {0} WINDOW w AS (ORDER BY i {1}) LIMIT {2}) q '
                 'FULL JOIN (SELECT i, max(x) OVER w AS a, count(x) OVER w AS b FROM {0} '
                 'WINDOW w AS (ORDER BY i {1}) ORDER BY i LIMIT {2}) r USING (i) '
                 'WHERE (q.a, q.b) IS DISTINCT FROM (r.a, r.b)'.format(case.table, ROWS, k), ['0'])


def load(script, case):
    script.sql('CREATE TABLE %s (i int, g int, k int, x %s)' % (case.table, case.kind))
    script.copy(case.table, list(case.lines()))
    script.sql('ANALYZE ' + case.table)


def settings(case, sizes):
    """A request a partition and function, but not thousands of them: a simulated device is slow."""
    least = (0, 0, 100, 1500) if len(set(case.group)) < 200 else (100, 1500)
    return ('SET gpuagg.batch_rows = %d; SET gpuagg.device_min_rows = %d'
            % (case.rng.choice(sizes), case.rng.choice(least)))


# A row out of range: SQLSTATE, and the rows before it that come out.
ERRORS = [
    ('gpu_running_sum(x::money)', "'92233720368547758.07'", '0.01', '22003'),
    ('gpu_running_sum(x::interval)', "'2147483647 days'", "'1 day'", '22008'),
    ('gpu_running_avg(x::interval)', "'2147483647 mons'", "'1 mon'", '22008'),
    ('gpu_running_sum(x::float8)', '1.7976931348623157e308', '1e308', '22003'),
    ('gpu_running_sum(x::float4)', '3.4028235e38', '3e38', '22003'),
]


def errors(script):
    for call, most, more, state in ERRORS:
        kind = call.partition('::')[2].rstrip(')')
        for at in (2, 1024, 1025, 1500):
            table = '%s.error_%s_%d_%s' % (SCHEMA, kind, at, call[12:15])
            script.sql('CREATE TABLE {0} AS SELECT i, CASE i WHEN {1} THEN {3}::{4} WHEN 1 THEN {2}::{4} '
                       'END AS x FROM generate_series(1, 2500) i; ANALYZE {0}'
                       .format(table, at, most, more, kind))
            for frame, before in (('ORDER BY i ' + ROWS, at - 1), ('ORDER BY i', at - 1)):
                plain = call.replace('::' + kind, '')
                query = 'SELECT %s OVER (%s) FROM %s' % (plain, frame, table)
                script.check((table, frame), query, None, state)
                script.check((table, frame + ' limit'),
                             'SELECT count(*) FROM (%s LIMIT %d) q' % (query, before), [str(before)])
                script.check((table, frame + ' offset'), query + ' OFFSET %d LIMIT 1' % before, None,
                             state)


def describe(label):
    case, what = label
    if isinstance(case, Case):
        return '%s case %d (%d rows), %s' % (case.kind, case.number, len(case.values), what)
    return '%s, %s' % label


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=20261121)
    parser.add_argument('--cases', type=int, default=9, help='tables of each type')
    options = parser.parse_args()
    print('seed %d, %d cases' % (options.seed, options.cases))

    tally = psql.Tally('running functions')
    psql.query('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuagg; '
               'DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s' % (SCHEMA, SCHEMA))
    sizes = psql.batch_sizes((1024, 2048))
    for kind in list(EXACT) + list(FORMS):
        script = psql.Script()
        cases = [Case(kind, n, options.seed) for n in range(options.cases)]
        if kind in ('int4', 'int8', 'timestamp'):
            cases.append(Case(kind, options.cases, options.seed, giant=True))
        for case in cases:
            load(script, case)
            script.sql(settings(case, sizes))
            if kind in EXACT:
                beside_core(script, case)
            if kind in PROMISED:
                beside_promise(script, case, PROMISED[kind])
            limits(script, case)
        tally.add(script.run(), describe)
    script = psql.Script()
    script.sql('SET gpuagg.batch_rows = 1024; SET gpuagg.device_min_rows = 0')
    errors(script)
    tally.add(script.run(), describe)
    psql.query('SET client_min_messages = warning; DROP SCHEMA %s CASCADE' % SCHEMA)
    tally.finish()


if __name__ == '__main__':
    main()
