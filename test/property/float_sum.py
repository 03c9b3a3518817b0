#!/usr/bin/env python3
"""float_sum.py: gpu_sum and gpu_running_sum of floats against exact arithmetic.

Each case is a seeded column of one family.  Its sum is asked for in many ways
(row orders, plans, groups, frames, batch sizes), and every answer must have the
bits of the exact sum rounded once.  Connection: the environment's.
"""
import argparse
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

import families  # noqa: E402
import oracle  # noqa: E402
import psql  # noqa: E402

SCHEMA = 'property_float_sum'

PARALLEL = ('SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;'
            'SET min_parallel_table_scan_size = 0; SET enable_indexscan = off; SET enable_bitmapscan = off;'
            'SET max_parallel_workers_per_gather = 3; SET parallel_leader_participation = %s')
SERIAL = ('SET max_parallel_workers_per_gather = 0; RESET enable_indexscan; '
          'RESET enable_bitmapscan')

# (frame clause, (first, last) relative to the current row with None for unbounded, excludes it)
FRAMES = [('ROWS BETWEEN 3 PRECEDING AND CURRENT ROW', (-3, 0), False),
          ('ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING', (-2, 2), False),
          ('ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW', (-2, 2), True),
          ('ROWS BETWEEN 1 FOLLOWING AND 4 FOLLOWING', (1, 4), False),
          ('ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING', (-5, -2), False),
          ('ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW', (None, 0), False),
          ('ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING', (0, None), False)]
FRAME_ROWS = 66


class Case:
    def __init__(self, number, form, seed):
        rng = random.Random('%s %d %d' % (form.name, seed, number))
        self.number = number
        self.form = form
        self.family = families.FAMILIES[number % len(families.FAMILIES)]
        size = rng.choice(families.LARGE if rng.random() < 0.2 else families.SIZES)
        missing = rng.choice((0, 0, 0, 0.1, 0.9, 1 if rng.random() < 0.2 else 0))
        self.values = [None if rng.random() < missing else x
                       for x in self.family(rng, form, size)]
        self.group = [rng.randrange(5) for _ in self.values]
        self.peer = []
        for _ in self.values:
            step = not self.peer or rng.random() < 0.4
            self.peer.append((self.peer[-1] if self.peer else 0) + step)
        self.shuffled = [rng.getrandbits(30) for _ in self.values]
        self.batch = rng.random()
        self.expected = oracle.text(oracle.total(self.values, form), form)

    def describe(self):
        few = ''
        if len(self.values) <= 8:
            few = ' values ' + ' '.join('NULL' if x is None else repr(x) for x in self.values)
        return '%s case %d (%s, %d rows%s)' % (self.form.name, self.number, self.family.__name__,
                                               len(self.values), few)

    def lines(self):
        for i, x in enumerate(self.values):
            yield '%d\t%d\t%d\t%d\t%d\t%s' % (self.number, i, self.group[i], self.peer[i],
                                              self.shuffled[i], '\\N' if x is None else repr(x))

    def groups(self):
        """The sum of each group that has rows, in the order of the groups."""
        sums = {}
        for g, x in zip(self.group, self.values):
            sums.setdefault(g, oracle.Sum()).add(x)
        return [(g, oracle.text(sums[g].result(self.form), self.form)) for g in sorted(sums)]

    def running(self, exclusive=False):
        """The sum up to each row, or up to the row before it."""
        exact = oracle.Sum()
        results = []
        for x in self.values:
            if exclusive:
                results.append(oracle.text(exact.result(self.form), self.form))
                exact.add(x)
            else:
                exact.add(x)
                results.append(oracle.text(exact.result(self.form), self.form))
        return results

    def running_peers(self):
        """The sum up to the last peer of each row."""
        rows = self.running()
        for i in range(len(rows) - 2, -1, -1):
            if self.peer[i] == self.peer[i + 1]:
                rows[i] = rows[i + 1]
        return rows

    def running_groups(self):
        """(group, sum up to the row in its group), in the order of groups and rows."""
        sums = {}
        rows = []
        for i, (g, x) in enumerate(zip(self.group, self.values)):
            sums.setdefault(g, oracle.Sum()).add(x)
            rows.append((g, i, oracle.text(sums[g].result(self.form), self.form)))
        return ['%d|%s' % (g, r) for g, i, r in sorted(rows)]

    def frame(self, first, last, excludes):
        rows = []
        for i in range(len(self.values)):
            low = 0 if first is None else max(i + first, 0)
            high = len(self.values) if last is None else max(i + last + 1, 0)
            inside = [x for j, x in enumerate(self.values[low:high], low)
                      if not (excludes and j == i)]
            rows.append(oracle.text(oracle.total(inside, self.form), self.form))
        return rows


def single(script, case, label, statement):
    """A check of one sum over the case."""
    if case.expected == oracle.OVERFLOW:
        script.check((case, label), statement, None, '22003')
    else:
        script.check((case, label), statement, [case.expected])


def rows_or_overflow(script, case, label, statement, want):
    """A check of a row-by-row result; a row out of range must not take earlier rows with it."""
    if oracle.OVERFLOW not in want:
        script.check((case, label), statement, want)
        return
    script.check((case, label), statement, None, '22003')
    before = want[:want.index(oracle.OVERFLOW)]
    script.check((case, label + ' limit'), '%s LIMIT %d' % (statement, len(before)), before)


def checks(script, form, cases, sizes):
    """All checks of the cases of one format."""
    table = '%s.%s' % (SCHEMA, form.name)
    script.sql('CREATE TABLE %s (c int, i int, g int, k int, r int, x %s)' % (table, form.name))
    script.copy(table, [line for case in cases for line in case.lines()])
    script.sql('CREATE INDEX ON %s (c, i); ANALYZE %s' % (table, table))
    show = "encode(%ssend(%%s), 'hex')" % form.name
    total = show % 'gpu_sum(x)'
    running = show % 'gpu_running_sum(x%s) OVER (%s)'

    script.sql(SERIAL)
    for case in cases:
        source = 'FROM %s WHERE c = %d' % (table, case.number)
        script.sql('SET gpuagg.batch_rows = %d' % sizes[int(case.batch * len(sizes))])
        single(script, case, 'plain', 'SELECT %s %s' % (total, source))
        single(script, case, 'shuffled', 'SELECT %s FROM (SELECT x %s ORDER BY r OFFSET 0) s'
               % (total, source))
        single(script, case, 'ascending', 'SELECT %s %s'
               % (show % 'gpu_sum(x ORDER BY x)', source))
        single(script, case, 'descending', 'SELECT %s FROM (SELECT x %s ORDER BY abs(x) DESC '
               'OFFSET 0) s' % (total, source))
        rows_or_overflow(script, case, 'running', 'SELECT %s %s ORDER BY i'
                         % (running % ('', 'ORDER BY i ROWS UNBOUNDED PRECEDING'), source),
                         case.running())
        rows_or_overflow(script, case, 'running exclusive', 'SELECT %s %s ORDER BY i'
                         % (running % (', true', 'ORDER BY i ROWS UNBOUNDED PRECEDING'), source),
                         case.running(exclusive=True))
        rows_or_overflow(script, case, 'running range', 'SELECT %s %s ORDER BY k'
                         % (running % ('', 'ORDER BY k'), source), case.running_peers())
        if len(case.values) <= FRAME_ROWS:
            for clause, bounds, excludes in FRAMES:
                want = case.frame(*bounds, excludes)
                state = '22003' if oracle.OVERFLOW in want else '00000'
                script.check((case, clause), 'SELECT %s %s ORDER BY i'
                             % (show % ('gpu_sum(x) OVER (ORDER BY i %s)' % clause), source),
                             want, state)

    for leader in ('on', 'off'):
        script.sql(PARALLEL % leader)
        for case in cases[leader == 'on'::2]:
            single(script, case, 'parallel', 'SELECT %s FROM %s WHERE c = %d'
                   % (total, table, case.number))

    tame = [case for case in cases if oracle.OVERFLOW not in [s for _, s in case.groups()]]
    inside = 'WHERE c IN (%s)' % ','.join(str(case.number) for case in tame)
    want = ['%d|%d|%s' % (case.number, g, s) for case in tame for g, s in case.groups()]
    grouped = 'SELECT c, g, %s FROM %s %s GROUP BY c, g ORDER BY c, g' % (total, table, inside)
    for number, batch in enumerate(sizes):
        script.sql('SET gpuagg.batch_rows = %d' % batch)
        script.sql(PARALLEL % ('off' if number % 2 else 'on'))
        script.check((form.name, 'grouped parallel, batches of %d' % batch), grouped, want)
        script.sql(SERIAL)
        script.sql('SET enable_sort = off')
        script.check((form.name, 'grouped hash, batches of %d' % batch), grouped, want)
        script.sql('RESET enable_sort; SET enable_hashagg = off')
        script.check((form.name, 'grouped sorted, batches of %d' % batch), grouped, want)
        script.sql('RESET enable_hashagg')
        script.sql("SET enable_sort = off; SET work_mem = '64kB'; SET hash_mem_multiplier = 1")
        script.check((form.name, 'grouped spilling, batches of %d' % batch), grouped, want)
        script.sql('RESET enable_sort; RESET work_mem; RESET hash_mem_multiplier')

    tame = [(case, case.running_groups()) for case in cases]
    tame = [(case, rows) for case, rows in tame
            if not any(row.endswith(oracle.OVERFLOW) for row in rows)]
    script.check((form.name, 'running in partitions'), 'SELECT g, %s FROM %s WHERE c IN (%s) '
                 'ORDER BY c, g, i'
                 % (running % ('', 'PARTITION BY c, g ORDER BY i ROWS UNBOUNDED PRECEDING'), table,
                    ','.join(str(case.number) for case, _ in tame)),
                 [row for _, rows in tame for row in rows])


def plan_is_parallel(form):
    """Whether the parallel statements of this file are planned so."""
    lines = psql.query('%s; EXPLAIN (COSTS OFF) SELECT gpu_sum(x) FROM %s.%s WHERE c = 1'
                       % (PARALLEL % 'on', SCHEMA, form.name))
    return any('Gather' in line for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=20261121)
    parser.add_argument('--cases', type=int, default=200, help='of float8; half as many of float4')
    parser.add_argument('--only', type=int, help='the number of the only case to run')
    options = parser.parse_args()
    print('seed %d, %d cases' % (options.seed, options.cases))

    tally = psql.Tally('float sums')
    tally.truth('rounding agrees with fractions', oracle.self_check(random.Random(options.seed)))
    psql.query('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuagg; '
               'DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s' % (SCHEMA, SCHEMA))
    sizes = psql.batch_sizes((1024, 4096))
    for form, count in ((oracle.FLOAT8, options.cases), (oracle.FLOAT4, options.cases // 2)):
        numbers = range(count) if options.only is None else [options.only]
        cases = [Case(number, form, options.seed) for number in numbers]
        script = psql.Script()
        checks(script, form, cases, sizes)
        tally.add(script.run(), lambda label: '%s, %s'
                  % (label[0].describe() if isinstance(label[0], Case) else label[0], label[1]))
        tally.truth('plans are parallel', plan_is_parallel(form))
    psql.query('SET client_min_messages = warning; DROP SCHEMA %s CASCADE' % SCHEMA)
    tally.finish()


if __name__ == '__main__':
    main()
