#!/usr/bin/env python3
"""run_conditions.py: windows that a condition above them ends early, beside core's.

The same rows, a run condition wherever core has one, and not many more rows read: ours
are read in sets that double.  Seeded.  Connection: the environment's.
"""
import argparse
import json
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

import psql  # noqa: E402

SCHEMA = 'property_run'
TABLE = SCHEMA + '.t'
ROWS = 1500  # more than a batch; core takes the square of it for some frames
PARTITIONS = ('', '', 'PARTITION BY g', 'PARTITION BY k, g', "PARTITION BY 'p' || g")
ORDERS = ('', 'ORDER BY k', 'ORDER BY i', 'ORDER BY k DESC, i', "ORDER BY 'k' || k")
FRAMES = ('', '', 'ROWS UNBOUNDED PRECEDING', 'RANGE UNBOUNDED PRECEDING',
          'RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING',
          'ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING',
          'ROWS BETWEEN 3 PRECEDING AND CURRENT ROW',
          'ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW', 'RANGE UNBOUNDED PRECEDING EXCLUDE TIES')
RUNNING = ('', 'ROWS UNBOUNDED PRECEDING', 'RANGE UNBOUNDED PRECEDING')
# Ours and core's: what has run conditions, and what stands beside it.
COUNTS = (('gpu_count(*)', 'count(*)'), ('gpu_count(1)', 'count(1)'), ('gpu_count(v)', 'count(v)'),
          ('gpu_running_count(v)', 'count(v)'), ('gpu_running_count(7)', 'count(7)'),
          ('row_number()', 'row_number()'), ('rank()', 'rank()'))
BESIDE = (('gpu_sum(v)', 'sum(v)'), ('gpu_avg(v)', 'avg(v)'), ('gpu_max(v::numeric)', 'max(v::numeric)'),
          ('gpu_running_sum(v)', 'sum(v)'), ('gpu_sum(v) FILTER (WHERE v > 9)', 'sum(v) FILTER (WHERE v > 9)'),
          ('gpu_sum(v::numeric)', 'sum(v::numeric)'), ('gpu_running_min(v + 1)', 'min(v + 1)'))


class Query:
    """Some functions over some windows, and conditions on the counts among them."""

    def __init__(self, rng):
        self.columns, conditions = [], []
        windows = [self.window(rng) for _ in range(rng.choice((1, 1, 2, 3)))]
        for n in range(rng.choice((1, 2, 2, 3, 4))):
            counts = n == 0 or rng.random() < 0.3
            pair = rng.choice(COUNTS if counts else BESIDE)
            partition, order, frame = rng.choice(windows)
            if '_running_' in pair[0] and frame not in RUNNING:
                frame = rng.choice(RUNNING)
            if 'ROWS' in frame and 'i' not in order.split()[-1:] or pair[0] == 'row_number()':
                order = 'ORDER BY k, i'
            over = ' OVER (%s)' % ' '.join(part for part in (partition, order, frame) if part)
            self.columns.append(tuple('%s%s AS f%d' % (call, over, n) for call in pair))
            if counts:
                conditions.append(rng.choice(('f%d <= %d', 'f%d < %d', 'f%d = %d', '%d * 1 >= f%d', 'f%d > %d')))
                values = (n, rng.choice((0, 1, 2, 5, 17, 40, 400, ROWS)))
                conditions[-1] %= values if conditions[-1].startswith('f') else values[::-1]
        self.where = ' AND '.join(conditions)

    @staticmethod
    def window(rng):
        return rng.choice(PARTITIONS), rng.choice(ORDERS), rng.choice(FRAMES)

    def sql(self, which):
        calls = ', '.join(column[which] for column in self.columns)
        return 'SELECT * FROM (SELECT i, %s FROM %s) s WHERE %s' % (calls, TABLE, self.where)


def nodes(plan):
    yield plan
    for child in plan.get('Plans', ()):
        yield from nodes(child)


def explain(query):
    """How many nodes have a run condition, and how many rows the scan gave."""
    plan = json.loads('\n'.join(psql.query(
        "SET gpuagg.batch_rows = 1024; SET enable_seqscan = off; SET enable_sort = off; "
        "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT json) " + query)))[0]['Plan']
    found = list(nodes(plan))
    return (sum('Run Condition' in node for node in found),
            max(node['Actual Rows'] for node in found if 'Scan' in node['Node Type'] and 'Plans' not in node))


def conditions(tally):
    """Plans: ours has the condition where core has one, and reads about as many rows."""
    for function, core in COUNTS[:5]:
        for over in ('(ORDER BY i)', '(ORDER BY i ROWS UNBOUNDED PRECEDING)', '(PARTITION BY g ORDER BY i)',
                     '(ORDER BY k)', '()'):
            query = 'SELECT * FROM (SELECT %%s OVER %s c FROM %s) s WHERE c <= 10' % (over, TABLE)
            ours, theirs = explain(query % function), explain(query % core)
            label = '%s OVER %s: ours %s, core %s' % (function, over, ours, theirs)
            tally.truth(label, ours[0] == theirs[0] and ours[1] <= max(2 * theirs[1] + 1, theirs[1]))


def errors(script):
    """A sum that overflows is an error where core computes it: up to the first row that fails."""
    for at, state in ((1, '22003'), (2, '22003'), (3, '00000'), (200, '00000')):
        for name in ('sum', 'gpu_sum'):
            count = name.replace('sum', 'count')
            script.check(('overflow', name, at), 'SELECT c, s FROM (SELECT %s(*) OVER w c, %s(x) OVER w s FROM '
                         "(SELECT i, (CASE WHEN i < %d THEN 0 ELSE 1e308 END)::float8 x "
                         'FROM generate_series(1, 300) i) x WINDOW w AS (ORDER BY i ROWS UNBOUNDED PRECEDING)) y '
                         'WHERE c <= 2' % (count, name, at), ['1|0', '2|0'] if state == '00000' else None, state)


def again(script):
    """The node is read again, with other parameters."""
    for frame in ('', 'ROWS UNBOUNDED PRECEDING'):
        text = ('SELECT l, x.* FROM generate_series(0, 6) l, LATERAL (SELECT * FROM (SELECT i, %%s OVER '
                '(PARTITION BY k / 2 ORDER BY i %s) c FROM %s WHERE g = l) s WHERE c <= l) x ORDER BY 1, 2'
                % (frame, TABLE))
        script.check('again', 'SELECT count(*) FROM (%s) a FULL JOIN (%s) b USING (l, i, c) '
                     'WHERE a IS NULL OR b IS NULL' % (text % 'gpu_count(*)', text % 'count(*)'), ['0'])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=20261122)
    parser.add_argument('--queries', type=int, default=150)
    options = parser.parse_args()
    print('seed %d, %d queries' % (options.seed, options.queries))
    rng = random.Random(options.seed)

    tally = psql.Tally('run_conditions')
    psql.query('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuagg; '
               'DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s; '
               'CREATE TABLE %s AS SELECT i::int, (i %% 7)::int AS g, (i * 37 %% 101)::int AS k, '
               'nullif(i %% 23, 5)::int AS v FROM generate_series(1, %d) i; '
               'CREATE INDEX ON %s (i); CREATE INDEX ON %s (g, i); CREATE INDEX ON %s (k); VACUUM ANALYZE %s'
               % (SCHEMA, SCHEMA, TABLE, ROWS, TABLE, TABLE, TABLE, TABLE))
    script = psql.Script()
    for _ in range(options.queries):
        query = Query(rng)
        script.sql('SET work_mem = %s; SET enable_seqscan = %s; SET gpuagg.batch_rows = 1024'
                   % (rng.choice(("'64kB'", "'64MB'")), rng.choice(('on', 'off'))))
        ours, core = query.sql(0), query.sql(1)
        script.check('rows', 'WITH a AS MATERIALIZED (%s), b AS MATERIALIZED (%s) SELECT count(*) FROM '
                     '((TABLE a EXCEPT ALL TABLE b) UNION ALL (TABLE b EXCEPT ALL TABLE a)) x' % (ours, core), ['0'])
    errors(script)
    again(script)
    tally.add(script.run())
    conditions(tally)
    psql.query('SET client_min_messages = warning; DROP SCHEMA %s CASCADE' % SCHEMA)
    tally.finish()


if __name__ == '__main__':
    main()
