#!/usr/bin/env python3
"""float_sum.py: gpu_sum and gpu_running_sum of floats against exact arithmetic.

Each case is a seeded column of one family.  Its sum is asked for in many ways
(row orders, plans, groups, frames, batch sizes), and every answer must have the
bits of the exact sum rounded once.  Connection: the environment's.
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from cases import FRAME_ROWS, FRAMES, PARALLEL, SERIAL, Column, load, run  # noqa: E402
import oracle  # noqa: E402
import psql  # noqa: E402

SCHEMA = 'property_float_sum'


class Case(Column):
    def __init__(self, number, form, seed):
        super().__init__(number, form, seed)
        self.expected = oracle.text(oracle.total(self.values, form), form)

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
        return [oracle.text(oracle.total(self.inside(i, first, last, excludes), self.form),
                            self.form) for i in range(len(self.values))]


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
    load(script, table, form, cases)
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


if __name__ == '__main__':
    run('float sums', __doc__.splitlines()[0], SCHEMA, Case, checks, 'gpu_sum', 200)
