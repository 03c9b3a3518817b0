#!/usr/bin/env python3
"""arrays.py: gpu_reduce, gpu_scan and gpu_segmented_scan against exact arithmetic, by every name.

Integers, minima and maxima, and exact sums of floats must have the right bits;
plain sums of floats lie within n * eps * sum|x| of the exact sum.  Where
gpuagg.device is cpu, algorithms of the device must say that there is none.
Connection: the environment's.
"""
import argparse
import math
import os
import random
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

import families  # noqa: E402
import oracle  # noqa: E402
import psql  # noqa: E402

REDUCE, SCAN, SEGMENTED = 'gpu_reduce', 'gpu_scan', 'gpu_segmented_scan'

SHARED = ['interleaved_modulo', 'interleaved_strided', 'sequential_addressing',
          'first_add_on_load', 'unrolled_templated', 'grid_stride']
GLOBAL = ['neighbored', 'neighbored_less_divergence', 'interleaved_pairs', 'unroll_2', 'unroll_4',
          'unroll_8', 'unroll_8_last_warp', 'unroll_8_complete', 'unroll_8_templated']
SHUFFLE = ['warp_shuffle_down', 'warp_shuffle_xor', 'warp_reduce_add', 'block_shuffle',
           'device_shuffle_two_pass']
SCANS = ['quadratic', 'hillis_steele', 'hillis_steele_double_buffered', 'kogge_stone',
         'kogge_stone_double_buffered', 'brent_kung', 'warp_shared', 'warp_shuffle',
         'block_hierarchical', 'grid_hierarchical']
NAMES = {REDUCE: ['sequential', 'recursive_halving'] + SHARED + GLOBAL + SHUFFLE + ['production'],
         SCAN: ['sequential'] + SCANS + ['production'],
         SEGMENTED: ['sequential'] + SCANS + ['hierarchical', 'production']}
ON_CPU = ('sequential', 'recursive_halving', 'production')
INTEGERS_ONLY = ('warp_reduce_add',)

INT8_LEAST, INT8_MOST = -2 ** 63, 2 ** 63 - 1


class Integer:
    """int4 or int8: results are bigint."""

    exact = True

    def __init__(self, name, bits):
        self.name = name
        self.least, self.most = -2 ** (bits - 1), 2 ** (bits - 1) - 1
        self.identity = {'sum': 0, 'min': self.most, 'max': self.least}

    def column(self, rng, n):
        edge = rng.choice((0, 0, 1))
        some = rng.choice((100, self.most // max(n, 1), self.most // 3))
        return [rng.choice((self.least, self.most, 0, -1)) if edge and rng.random() < 0.1
                else rng.randint(-some, some) for _ in range(n)]

    def literal(self, values):
        return "'{%s}'::%s[]" % (','.join(map(str, values)), self.name)

    def running(self, op, values):
        """The running result before the first value, and after each."""
        state = self.identity[op]
        yield state
        for i, x in enumerate(values):
            state = state + x if op == 'sum' else x if i == 0 else {'min': min, 'max': max}[op](state, x)
            yield state

    @staticmethod
    def overflows(result):
        return not INT8_LEAST <= result <= INT8_MOST

    @staticmethod
    def same(got, want):
        return int(got) == want


class Float:
    """float4 or float8; results are of the same type."""

    exact = False

    def __init__(self, form):
        self.name = form.name
        self.form = form
        self.identity = {'sum': 0.0, 'min': math.nan, 'max': -math.inf}

    def column(self, rng, n, family=None):
        return (family or rng.choice(families.FAMILIES))(rng, self.form, n)

    def literal(self, values):
        return "'{%s}'::%s[]" % (','.join(map(repr, values)), self.name)

    @staticmethod
    def key(x):
        bits = struct.unpack('>q', struct.pack('>d', math.nan if x != x else x))[0]
        return (1, 0) if x != x else (0, bits ^ (2 ** 63 - 1) if bits < 0 else bits)

    def running(self, op, values):
        exact = oracle.Sum()
        state = self.identity[op]
        yield state
        for i, x in enumerate(values):
            if op == 'sum':
                exact.add(x)
                state = exact.result(self.form)
            elif i == 0:
                state = x
            else:
                state = {'min': min, 'max': max}[op](state, x, key=self.key)
            yield state

    @staticmethod
    def overflows(result):
        return result == oracle.OVERFLOW

    def same(self, got, want):
        return self.form.hex(float(got)) == self.form.hex(want)


INT4, INT8 = Integer('int4', 32), Integer('int8', 64)
FLOAT4, FLOAT8 = Float(oracle.FLOAT4), Float(oracle.FLOAT8)
TYPES = [INT4, INT8, FLOAT4, FLOAT8]
TAME = [families.uniform, families.signed, families.moderate, families.cancelling,
        families.integers, families.same, families.subnormal, families.zeros]


class Case:
    """A column, the operations on it, and their exact results."""

    def __init__(self, rng, function, kind, op, values):
        self.function, self.kind, self.op, self.values = function, kind, op, values
        self.exclusive = function != REDUCE and rng.random() < 0.5
        density = rng.choice((0, 0.01, 0.1, 0.5, 1))
        self.heads = [rng.random() < density for _ in values]
        self.segments = []  # (first row, results before and after each value)
        starts = [i for i in range(len(values))
                  if i == 0 or (function == SEGMENTED and self.heads[i])]
        for first, end in zip(starts, starts[1:] + [len(values)]):
            self.segments.append((first, list(kind.running(op, values[first:end]))))
        self.want = [r for _, s in self.segments for r in (s[:-1] if self.exclusive else s[1:])]
        if function == REDUCE:
            self.want = self.want[-1:]
        self.overflow = any(kind.overflows(r) for r in self.want)

    def statement(self, name='name'):
        """name: an SQL expression."""
        arguments = [self.kind.literal(self.values)]
        if self.function == SEGMENTED:
            arguments.append("'{%s}'::boolean[]" % ','.join('ft'[h] for h in self.heads))
        arguments.append("'%s'" % self.op)
        if self.function != REDUCE:
            arguments.append(str(self.exclusive).lower())
        return '%s(%s, %s)' % (self.function, ', '.join(arguments), name)

    def describe(self):
        return '%s %s %s%s, %d rows' % (self.function, self.kind.name, self.op,
                                        ' exclusive' if self.exclusive else '', len(self.values))

    def results(self, text):
        if self.function == REDUCE:
            return [text] if text else []
        return text.strip('{}').split(',') if text != '{}' else []

    def wrong(self, text, plain):
        """What is wrong with an answer; None when nothing is."""
        got = self.results(text)
        if len(got) != len(self.want):
            return '%d results, expected %d' % (len(got), len(self.want))
        if plain:
            return self.too_far(got)
        for i, (g, w) in enumerate(zip(got, self.want)):
            if not self.kind.same(g, w):
                return 'result %d is %s, expected %s' % (i, g, w)
        return None

    def too_far(self, got):
        """Plain sums of finite floats: within n * eps * sum|x| of the exact sum."""
        eps = 1 - self.kind.form.precision
        row = 0
        for first, exact in self.segments:
            n, total, size = 0, 0, 0
            for k in range(len(exact) - 1):
                x = oracle.scaled(self.values[first + k])
                before = n, total, size
                n, total, size = n + 1, total + x, size + abs(x)
                if self.function == REDUCE and k < len(exact) - 2:
                    continue
                rows, exactly, sizes = before if self.exclusive else (n, total, size)
                far = abs(oracle.scaled(float(got[row])) - exactly)
                if far << -eps > rows * sizes:
                    return 'result %d is %s, too far from the exact sum' % (row, got[row])
                row += 1
        return None


def names_of(case):
    return [name for name in NAMES[case.function]
            if not (name in INTEGERS_ONLY and not case.kind.exact)]


def is_plain(case, name):
    return not case.kind.exact and case.op == 'sum' and name != 'production'


def check(script, case, names):
    """One statement that asks all names; one for each where there must be an error."""
    if not case.overflow:
        def lines(rows, case=case, names=names):
            if [row.split('|')[0] for row in rows] != names:
                return 'answers by other names'
            for row in rows:
                name, text = row.split('|')
                wrong = case.wrong(text, is_plain(case, name))
                if wrong:
                    return '%s: %s' % (name, wrong)
            return None

        script.check(case.describe(), "SELECT name, %s FROM unnest('{%s}'::text[]) name"
                     % (case.statement(), ','.join(names)), lines)
        return
    for name in names:
        if not is_plain(case, name):
            script.check('%s out of range, %s' % (case.describe(), name),
                         'SELECT ' + case.statement("'%s'" % name), None, '22003')


def all_names(script, rng, on_cpu, sizes):
    """Every algorithm by name, at every size."""
    for function in (REDUCE, SCAN, SEGMENTED):
        for kind in TYPES:
            for op in ('sum', 'min', 'max'):
                for size in sizes:
                    if kind.exact:
                        values = kind.column(rng, size)
                    else:
                        values = kind.column(rng, size, rng.choice(TAME))
                    case = Case(rng, function, kind, op, values)
                    check(script, case, [name for name in names_of(case)
                                         if name in ON_CPU or not on_cpu])
                case = Case(rng, function, kind, op, kind.column(rng, 3, *[families.signed][:not kind.exact]))
                for name in NAMES[function]:
                    if name in INTEGERS_ONLY and not kind.exact:
                        script.check('%s, %s' % (case.describe(), name),
                                     'SELECT ' + case.statement("'%s'" % name), None, '0A000')
                    elif on_cpu and name not in ON_CPU and not case.overflow:
                        script.check('%s, %s without a device' % (case.describe(), name),
                                     'SELECT ' + case.statement("'%s'" % name), None, '55000')


def production(script, rng, number, batches):
    """Exact results of columns of every hard family, in one batch and in many."""
    for function in NAMES:
        for kind in TYPES:
            for op in ('sum', 'sum', 'min', 'max'):
                script.sql('SET gpuagg.batch_rows = %d' % rng.choice(batches))
                check(script, Case(rng, function, kind, op, kind.column(rng, rng.randint(4000, 13000))),
                      ['production'])
    for i in range(number):
        function = (REDUCE, SCAN, SEGMENTED)[i % 3]
        kind = (FLOAT8, FLOAT4, FLOAT8, INT8, INT4)[i % 5]
        op = rng.choice(('sum', 'sum', 'sum', 'min', 'max'))
        size = rng.choice(families.LARGE if rng.random() < 0.2 else families.SIZES)
        if kind.exact:
            values = kind.column(rng, size)
        else:
            values = kind.column(rng, size, families.FAMILIES[i % len(families.FAMILIES)])
        script.sql('SET gpuagg.batch_rows = %d' % rng.choice(batches))
        check(script, Case(rng, function, kind, op, values), ['production'])
    script.sql('RESET gpuagg.batch_rows')


def plain_specials(script, on_cpu):
    """Infinities and NaN through plain additions: NaN is canonical, an overflow is an infinity."""
    for kind, big, send in ((FLOAT8, '1e308', 'float8send'), (FLOAT4, '3e38', 'float4send')):
        for values, want in (('Infinity,-Infinity,1', math.nan), ('NaN,1', math.nan),
                             ('1,-Infinity', -math.inf), ('%s,%s' % (big, big), math.inf)):
            names = [name for name in NAMES[REDUCE] if name not in INTEGERS_ONLY + ('production',)
                     and (name in ON_CPU or not on_cpu)]
            script.check('%s, sum of %s' % (kind.name, values),
                         "SELECT DISTINCT encode(%s(gpu_reduce('{%s}'::%s[], algorithm => name)), "
                         "'hex') FROM unnest('{%s}'::text[]) name"
                         % (send, values, kind.name, ','.join(names)), [kind.form.hex(want)])


def chunked(script, rng, batch_rows, chunks):
    """More rows than a request of the ladder takes: chunks are joined, by every name."""
    script.sql('SET gpuagg.batch_rows = %d' % batch_rows)
    for i, function in enumerate((REDUCE, SCAN, SEGMENTED)):
        for j, kind in enumerate(TYPES):
            op = ('sum', 'min', 'max')[(i + j) % 3]
            size = chunks * batch_rows + rng.choice((0, 1, 77))
            values = kind.column(rng, size, *[families.signed][:not kind.exact])
            case = Case(rng, function, kind, op, values)
            check(script, case, names_of(case))
    script.sql('RESET gpuagg.batch_rows')


def long_columns(script, rows):
    """The longest request of the ladder, and another; a simulated device would take seconds."""
    script.sql('CREATE TEMP TABLE long_column AS SELECT array_agg((i %% 1000 * 7919 %% 1000 - 499)::int4 '
               'ORDER BY i) AS v, array_agg(i %% 300007 = 5 ORDER BY i) AS h, '
               "array_agg(false) AS none FROM generate_series(1, %d) i" % rows)
    same = '%s = %s'
    for name in ('grid_stride', 'block_shuffle'):
        for op in ('sum', 'min'):
            call = "gpu_reduce(v, '%s', '%%s')" % op
            script.check('%d rows, %s %s' % (rows, op, name), 'SELECT %s FROM long_column'
                         % (same % (call % name, call % 'sequential')), ['t'])
    for heads in ('h', 'none'):
        for op, exclusive in (('sum', 'false'), ('sum', 'true'), ('max', 'true')):
            call = "gpu_segmented_scan(v, %s, '%s', %s, '%%s')" % (heads, op, exclusive)
            script.check('%d rows, %s %s %s' % (rows, op, exclusive, heads),
                         'SELECT %s FROM long_column'
                         % (same % (call % 'hierarchical', call % 'sequential')), ['t'])


def known_names(tally):
    """The hint of an unknown name lists exactly the names of that function."""
    for function in NAMES:
        heads = ", '{t}'" if function == SEGMENTED else ''
        lines = psql.query(
            "CREATE FUNCTION pg_temp.hint() RETURNS text LANGUAGE plpgsql AS $$ DECLARE t text; BEGIN "
            "PERFORM %s('{1}'::int4[]%s, algorithm => 'no such'); EXCEPTION WHEN "
            "invalid_parameter_value THEN GET STACKED DIAGNOSTICS t = PG_EXCEPTION_HINT; RETURN t; "
            "END $$; SELECT pg_temp.hint()" % (function, heads))
        names = lines[-1].split(' are ')[-1].rstrip('.').split(', ')
        tally.truth('names of %s' % function, sorted(names) == sorted(NAMES[function]))


def benchmarks(script, on_cpu, rows):
    """The table of a benchmark: every name in order, checked against the sequential result."""
    for function, kind in ((f, k) for f in NAMES for k in TYPES):
        call = "gpuagg_kernel_benchmark('%s', '%s', %d)" % (function[4:], kind.name, rows)
        if on_cpu:
            script.check('benchmark without a device', 'SELECT count(*) FROM ' + call, None, '55000')
            continue

        def lines(got, function=function, kind=kind):
            names = ['read' if function == REDUCE else 'copy'] + [
                n for n in NAMES[function] if not (n in INTEGERS_ONLY and not kind.exact)]
            table = [line.split('|') for line in got]
            measured = [row[0] for row in table if row[0] != 'cub']
            if sorted(measured) != sorted(names) or measured[:2] != names[:2] or \
                    measured[-1] != 'production':
                return 'other names: ' + ' '.join(measured)
            for name, n, correct, good in table:
                if int(n) != rows or good != 't' or correct != ('' if name == 'read' else 't'):
                    return '%s: rows %s, correct %s, figures %s' % (name, n, correct, good)
            return None

        script.check('benchmark of %s %s' % (function, kind.name),
                     "SELECT algorithm, rows, correct, median_us > 0 AND gb_per_s > 0 AND "
                     "bandwidth_share > 0 AND (algorithm IN ('read', 'copy') OR "
                     "cumulative_speedup > 0) AND (algorithm IN ('read', 'copy', 'sequential') OR "
                     "step_speedup > 0) AND (algorithm IN ('read', 'copy', 'cub') OR "
                     "additions_per_element >= 0) FROM " + call, lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=20261121)
    parser.add_argument('--cases', type=int, default=300, help='of production')
    options = parser.parse_args()
    rng = random.Random(options.seed)
    print('seed %d, %d cases' % (options.seed, options.cases))

    tally = psql.Tally('arrays')
    psql.query('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuagg')
    on_cpu = psql.query('SHOW gpuagg.device') == ['cpu']
    known_names(tally)
    script = psql.Script()
    script.sql("SET gpuagg.device_timeout = '60s'")  # simulated, all at once, it may take long
    all_names(script, rng, on_cpu, [0, 1, 2, 31, 33, 257, 1025, 2311])
    production(script, rng, options.cases, psql.batch_sizes((1024, 2000)))
    plain_specials(script, on_cpu)
    if not on_cpu:
        chunked(script, rng, 1024, 3)
        if 'simulated device' not in psql.query('SELECT name FROM gpuagg_devices()'):
            long_columns(script, 2 ** 20 + 77)
    benchmarks(script, on_cpu, 1537)
    tally.add(script.run())
    tally.finish()


if __name__ == '__main__':
    main()
