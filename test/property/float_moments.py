#!/usr/bin/env python3
"""float_moments.py: averages, variances and deviations of floats against exact arithmetic.

Each case is a seeded column of one family.  All of its moments are asked for in
many ways (row orders, plans, groups, moving frames, batch sizes), and every
answer must have the bits of the exact number rounded once.  Connection: the
environment's.
"""
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

import oracle  # noqa: E402
import psql  # noqa: E402
from cases import FRAME_ROWS, FRAMES, PARALLEL, SERIAL, Column, load, run  # noqa: E402

SCHEMA = 'property_float_moments'

SEND = "encode(float8send(%s), 'hex')"


def texts(results):
    return [oracle.text(result, oracle.FLOAT8) for result in results]


def calls(names, window=''):
    return ', '.join(SEND % (name + '(x)' + window) for name in names)


class Case(Column):
    def __init__(self, number, form, seed):
        super().__init__(number, form, seed)
        rng = random.Random('frames %d %d' % (seed, number))
        self.expected = texts(oracle.moments(self.values).results())
        first = rng.randint(-8, 4)
        self.frames = rng.sample(FRAMES, 2) + [self.random_frame(rng, first)]

    @staticmethod
    def random_frame(rng, first):
        def bound(offset):
            return ('CURRENT ROW' if offset == 0 else '%d %s'
                    % (abs(offset), 'PRECEDING' if offset < 0 else 'FOLLOWING'))

        last = first + rng.randint(0, 9)
        excludes = rng.random() < 0.3
        return ('ROWS BETWEEN %s AND %s%s' % (bound(first), bound(last),
                                              ' EXCLUDE GROUP' if excludes else ''),
                (first, last), excludes)

    def groups(self):
        found = {}
        for g, x in zip(self.group, self.values):
            found.setdefault(g, oracle.Moments()).add(x)
        return [(g, texts(found[g].results())) for g in sorted(found)]


def some(names, expected):
    """The aggregates whose results are in range, with their results."""
    good = [i for i, text in enumerate(expected) if text != oracle.OVERFLOW]
    return [names[i] for i in good], [expected[i] for i in good]


def single(script, case, label, source):
    """A check of all moments over the rows of a source; each overflow on its own."""
    names, want = some(oracle.AGGREGATES, case.expected)
    script.check((case, label), 'SELECT %s %s' % (calls(names), source), ['|'.join(want)])
    if label == 'plain':
        for name in set(oracle.AGGREGATES) - set(names):
            script.check((case, label + ' ' + name),
                         'SELECT %s %s' % (calls([name]), source), None, '22003')


def frame(script, case, clause, bounds, excludes, source):
    rows = [texts(oracle.moments(case.inside(i, *bounds, excludes)).results())
            for i in range(len(case.values))]
    names = [name for k, name in enumerate(oracle.AGGREGATES)
             if all(row[k] != oracle.OVERFLOW for row in rows)]
    places = [oracle.AGGREGATES.index(name) for name in names]
    script.check((case, clause), 'SELECT %s %s WINDOW w AS (ORDER BY i %s) ORDER BY i'
                 % (calls(names, ' OVER w'), source, clause),
                 ['|'.join(row[k] for k in places) for row in rows])


def grouped(script, form, table, columns, sizes):
    tame = [(case, case.groups()) for case in columns]
    tame = [(case, groups) for case, groups in tame
            if not any(oracle.OVERFLOW in want for _, want in groups)]
    statement = ('SELECT c, g, %s FROM %s WHERE c IN (%s) GROUP BY c, g ORDER BY c, g'
                 % (calls(oracle.AGGREGATES), table,
                    ','.join(str(case.number) for case, _ in tame)))
    want = ['%d|%d|%s' % (case.number, g, '|'.join(texts))
            for case, groups in tame for g, texts in groups]
    for number, batch in enumerate(sizes):
        script.sql('SET gpuagg.batch_rows = %d' % batch)
        script.sql(PARALLEL % ('off' if number % 2 else 'on'))
        script.check((form.name, 'grouped parallel, batches of %d' % batch), statement, want)
        script.sql(SERIAL)
        script.sql('SET enable_sort = off')
        script.check((form.name, 'grouped hash, batches of %d' % batch), statement, want)
        script.sql('RESET enable_sort; SET enable_hashagg = off')
        script.check((form.name, 'grouped sorted, batches of %d' % batch), statement, want)
        script.sql('RESET enable_hashagg')
        script.sql("SET enable_sort = off; SET work_mem = '64kB'; SET hash_mem_multiplier = 1")
        script.check((form.name, 'grouped spilling, batches of %d' % batch), statement, want)
        script.sql('RESET enable_sort; RESET work_mem; RESET hash_mem_multiplier')


def checks(script, form, columns, sizes):
    """All checks of the cases of one format."""
    table = '%s.%s' % (SCHEMA, form.name)
    load(script, table, form, columns)
    script.sql(SERIAL)
    for case in columns:
        source = 'FROM %s WHERE c = %d' % (table, case.number)
        script.sql('SET gpuagg.batch_rows = %d' % sizes[int(case.batch * len(sizes))])
        single(script, case, 'plain', source)
        single(script, case, 'shuffled',
               'FROM (SELECT x %s ORDER BY r OFFSET 0) s' % source)
        single(script, case, 'descending',
               'FROM (SELECT x %s ORDER BY abs(x) DESC OFFSET 0) s' % source)
        if len(case.values) <= FRAME_ROWS:
            for clause, bounds, excludes in case.frames:
                frame(script, case, clause, bounds, excludes, source)
    for leader in ('on', 'off'):
        script.sql(PARALLEL % leader)
        for case in columns[leader == 'on'::2]:
            single(script, case, 'parallel',
                   'FROM %s WHERE c = %d' % (table, case.number))
    grouped(script, form, table, columns, sizes)


if __name__ == '__main__':
    run('float moments', __doc__.splitlines()[0], SCHEMA, Case, checks, 'gpu_stddev', 120)
