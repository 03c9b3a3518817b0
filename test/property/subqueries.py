#!/usr/bin/env python3
"""subqueries.py: aggregates over a subquery of groups, which the node GpuAgg takes as vectors; first groups.

Random tables, whose keys lie densely, in a few ranges that are far apart, or anywhere; random groups
of them, with HAVING, and random aggregates above, with conditions and groups of their own, or the
first of them by ORDER BY and LIMIT.  Each
query runs with the node and without, and, where all of it is exact, by core's aggregates: rows,
display and errors must be equal.  Connection: the environment's.
"""
import argparse
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

import psql  # noqa: E402

SCHEMA = 'subqueries'
SIZES = (0, 1, 2, 31, 32, 33, 1023, 1024, 1025, 2047, 2049, 5000, 30000)
# An expression of i from 1 to n, the number of rows; %d: how many keys there may be.
KEYS = {
    'dense': ('int', '(i * 7919::bigint %% %(k)d)::int'),
    'dense8': ('bigint', '-%(k)d + (i * 7919::bigint %% %(k)d)'),
    'least': ('bigint', '-9223372036854775808 + (i * 7919::bigint %% %(k)d)'),
    'greatest': ('bigint', '9223372036854775807 - (i * 7919::bigint %% %(k)d)'),
    'small': ('smallint', '((i * 31::bigint %% least(%(k)d, 65536)) - 32768)::smallint'),
    'islands': ('bigint', '(i * 7919::bigint %% %(k)d) * 3 + (i / (1 + %(n)d / 4)) * 1000000000000'),
    'outlier': ('int', 'CASE WHEN i = %(n)d * 3 / 4 THEN 2000000000 ELSE (i * 7919::bigint %% %(k)d)::int END'),
    'sparse': ('int', '((i * 7919::bigint %% %(k)d) * 104729 %% 2147483647)::int'),
    'text': ('text', "'key ' || (i * 7919::bigint %% %(k)d)"),
    'date': ('date', "date '2020-01-01' + (i * 7919::bigint %% least(%(k)d, 100000))::int"),
    'bool': ('boolean', 'i %% 3 = 0'),
    'numeric': ('numeric(9,2)', '(i * 7919::bigint %% %(k)d) / 4.0'),
    'float': ('float8', '(i * 7919::bigint %% %(k)d) / 8.0'),
}
VALUES = {
    'x2': ('smallint', '(i * 31 %% 601 - 300)::smallint'),
    'x4': ('int', '(i * 7919::bigint %% 1000003 - 500000)::int'),
    'x8': ('bigint', '(i * 7919::bigint %% 1009) * 9000000000000000 - 4000000000000000000'),
    'n': ('numeric(12,2)', '(i * 7919::bigint %% 100003 - 50000) / 100.0'),
    'wide': ('numeric(30,4)', '(i * 7919::bigint %% 1009 - 500) * 123456789012345678901.0625'),
    'loose': ('numeric', 'CASE WHEN i %% 5003 = 0 THEN numeric \'NaN\' ELSE (i %% 13) / (10.0 ^ (i %% 3)) END'),
    'f4': ('float4', 'CASE WHEN i %% 4001 = 0 THEN \'Infinity\' ELSE (i * 31 %% 1013 - 500) / 8.0 END'),
    'f8': ('float8', '(i * 7919::bigint %% 1000003 - 500000) / 3.0'),
    'd': ('date', "date '1999-12-31' + (i %% 4000)::int"),
    'ts': ('timestamp', "timestamp '2001-01-01' + (i %% 100003) * interval '7 minutes'"),
    's': ('text', "'v' || i %% 997"),
}
NUMBERS = ('x2', 'x4', 'x8', 'n', 'wide', 'loose', 'f4', 'f8')
FLOATS = ('f4', 'f8', 'float')


class Table:
    def __init__(self, rng, number):
        self.name = 't%d' % number
        self.rows = rng.choice(SIZES)
        self.keys = rng.sample(sorted(KEYS), 3)
        self.values = rng.sample(sorted(VALUES), 5)
        known = {'n': max(self.rows, 1), 'k': rng.choice((1, 2, 40, 1025, 20000))}
        columns = []
        for name in self.keys + self.values:
            kind, value = (KEYS.get(name) or VALUES[name])
            value = '(%s)::%s' % (value % known, kind)
            if rng.random() < 0.4:
                value = 'CASE WHEN i %% %d <> 0 THEN %s END' % (rng.choice((2, 7, 1000)), value)
            columns.append('%s AS %s' % (value, name))
        self.create = 'CREATE TABLE %s AS SELECT %s FROM generate_series(1, %d) i' % (
            self.name, ', '.join(columns), self.rows)

    def aggregate(self, rng):
        """A call with {p} before its name."""
        column = rng.choice(self.values)
        names = ['count', 'min', 'max']
        if column in NUMBERS:
            names += ['sum', 'sum', 'avg', 'stddev', 'var_pop']
        if rng.random() < 0.1:
            return '{p}count(*)'
        distinct = 'DISTINCT ' if rng.random() < 0.05 and column not in FLOATS else ''
        return '{p}%s(%s%s)' % (rng.choice(names), distinct, column)


def is_exact(call):
    """Whether core's aggregate gives the same whatever the order of rows, with the same display."""
    return not any(name in call for name in ('avg', 'stddev', 'var_pop', 'loose', 'f4', 'f8', '(float', 'wide'))


def make_groups(rng, table):
    """(a query of groups with keys k0 ... and results a0 ..., its keys, its calls)."""
    keys = rng.sample(table.keys, rng.choice((1, 1, 1, 2)))
    calls = [table.aggregate(rng) for _ in range(rng.choice((1, 2, 3)))]
    columns = ['%s AS k%d' % (key, i) for i, key in enumerate(keys)] + ['%s AS a%d' % (call, i) for i, call in enumerate(calls)]
    below = 'SELECT %s FROM %s' % (', '.join(columns), table.name)
    value = rng.choice(table.values)
    if rng.random() < 0.2:
        below += ' WHERE %s IS NOT NULL' % value
    below += ' GROUP BY ' + ('ROLLUP (%s)' if rng.random() < 0.05 else '%s') % ', '.join(keys)
    having = []
    if rng.random() < 0.3:
        having.append(rng.choice(('{p}count(*) > 1', '{p}count(%s) %% 2 = 0' % value, '{p}min(%s) IS NOT NULL' % value)))
    if having:
        below += ' HAVING ' + ' AND '.join(having)
    return below, keys, calls


def make_query(rng, table):
    """(the query, whether core's aggregates give the same)."""
    below, keys, calls = make_groups(rng, table)
    above = []
    for _ in range(rng.choice((1, 2, 3))):
        i = rng.randrange(len(calls))
        names = ['count', 'min', 'max']
        sums = any(name + '(' in calls[i] for name in ('sum', 'avg', 'count', 'stddev', 'var_pop'))
        if sums:
            names += ['sum', 'sum']
        above.append(rng.choice(('{p}count(*)', '{p}count(k0)', '{p}%s(a%d)' % (rng.choice(names), i),
                                 '{p}%s(a%d)' % (rng.choice(names), i))))
    query = 'SELECT %s FROM (%s) q' % (', '.join(above), below)
    if rng.random() < 0.3:
        query += ' WHERE a0 IS NOT NULL' if rng.random() < 0.5 else ' WHERE k0::text < \'5\''
    if rng.random() < 0.3 and len(keys) == 2:
        query = query.replace('SELECT ', 'SELECT k1, ', 1) + ' GROUP BY k1'
    exact = all(is_exact(call) for call in calls) and not set(keys) & set(FLOATS)
    return query, exact and not any('avg' in call for call in above)


def make_top(rng, table):
    """The same of the first groups; what is equal by the sort is not told apart."""
    below, keys, calls = make_groups(rng, table)
    first = rng.choice(['k0'] + ['a%d' % i for i in range(len(calls))])
    order = first + rng.choice(('', ' DESC')) + rng.choice(('', ' NULLS FIRST', ' NULLS LAST'))
    columns = [first]
    if rng.random() < 0.5:
        columns = ['k%d' % i for i in range(len(keys))] + [first]
        order += ''.join(', k%d' % i for i in range(len(keys)))
    limit = ' LIMIT %d' % rng.choice((1, 2, 10, 100, 1023, 1500, 9000))
    if rng.random() < 0.3:
        limit += ' OFFSET %d' % rng.choice((0, 1, 5, 500))
    query = 'SELECT %s FROM (%s ORDER BY %s%s) q' % (', '.join(columns), below, order, limit)
    return query, all(is_exact(call) for call in calls) and not set(keys) & set(FLOATS)


def data_set(options, number, tally):
    rng = random.Random('%d %d' % (options.seed, number))
    table = Table(rng, number)
    script = psql.Script()
    script.sql("LOAD 'gpuagg'")
    script.sql('SET search_path = %s, public' % SCHEMA)
    for setting in ('gpuagg.min_table_pages = 0', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0',
                    'min_parallel_table_scan_size = 0', 'enable_sort = off', 'gpuagg.device_min_rows = 0'):
        script.sql('SET ' + setting)
    script.sql(table.create)
    if rng.random() < 0.5:
        # columns in memory, and on the device where there is one
        script.sql('VACUUM ANALYZE ' + table.name)
        script.sql("SELECT gpuagg_prefetch('%s')" % table.name)
    else:
        script.sql('ANALYZE ' + table.name)
    for i in range(options.queries):
        query, exact = rng.choice((make_query, make_query, make_top))(rng, table)
        memory = rng.choice(("'64kB'", "'4MB'", "'4MB'"))
        workers = rng.choice((0, 0, 2))
        settings = 'work_mem = %s, max_parallel_workers_per_gather = %d' % (memory, workers)
        script.sql('SET work_mem = ' + memory)
        script.sql('SET max_parallel_workers_per_gather = %d' % workers)
        script.ask('data set %d (--seed %d --only %d), %s: %s' % (number, options.seed, number, settings, query),
                   'SELECT * FROM compare($q$%s$q$, $q$%s$q$)' % (
                       query.replace('{p}', 'gpu_'), query.replace('{p}', '') if exact else ''), tally.judge)
    script.sql('DROP TABLE ' + table.name)
    tally.add(script.run())


class Tally(psql.Tally):
    """Counts queries that the node has taken as vectors, too."""

    queries = 0
    vectors = 0

    def judge(self, rows, state):
        if state != '00000' or len(rows) != 1:
            return 'SQLSTATE %s, %d lines' % (state, len(rows))
        nodes, difference = rows[0].split('|', 1)
        self.queries += 1
        self.vectors += nodes == 't'
        return difference or None


COMPARE = '''
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $f$
DECLARE
	r text;
BEGIN
	EXECUTE 'SELECT string_agg(q::text, E''\\n'' ORDER BY q::text) FROM (' || query || ') q' INTO r;
	RETURN r;
EXCEPTION WHEN numeric_value_out_of_range THEN
	RETURN SQLSTATE;
END $f$;
-- whether one node is above another, or gives the first groups alone, and what is wrong
CREATE FUNCTION compare(query text, core text) RETURNS TABLE (nodes boolean, difference text) LANGUAGE plpgsql AS $f$
DECLARE
	line text;
	found int := 0;
	a text;
	b text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		found := found + (line ~ '^ *(-> *)?Custom Scan .GpuAgg|Groups Wanted')::int;
	END LOOP;
	a := outcome(query);
	SET LOCAL gpuagg.enable_agg_scan = off;
	SET LOCAL gpuagg.device = cpu; -- row by row, groups would take a round trip each
	b := outcome(query);
	SET LOCAL gpuagg.device TO DEFAULT;
	IF a IS DISTINCT FROM b THEN
		difference := format('with the node %s, without %s', left(a, 300), left(b, 300));
	END IF;
	IF core <> '' THEN
		SET LOCAL gpuagg.core_aggregates = off;
		b := outcome(core);
		SET LOCAL gpuagg.enable_agg_scan = on;
		SET LOCAL gpuagg.core_aggregates = 'all';
		a := outcome(core);
		IF a IS DISTINCT FROM b THEN
			difference := format('core''s names: by the nodes %s, by core %s', left(a, 300), left(b, 300));
		END IF;
		SET LOCAL gpuagg.core_aggregates = off;
	END IF;
	SET LOCAL gpuagg.enable_agg_scan = on;
	nodes := found > 1;
	RETURN NEXT;
END $f$;
'''


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=20261126)
    parser.add_argument('--sets', type=int, default=20, help='tables')
    parser.add_argument('--queries', type=int, default=15, help='over each table')
    parser.add_argument('--only', type=int, help='the number of the only table')
    options = parser.parse_args()
    print('seed %d' % options.seed, flush=True)
    psql.query('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuagg; '
               'DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s; SET search_path = %s, public;\n%s'
               % (SCHEMA, SCHEMA, SCHEMA, COMPARE))
    tally = Tally('subqueries')
    for number in range(options.sets) if options.only is None else (options.only,):
        data_set(options, number, tally)
    psql.query('SET client_min_messages = warning; DROP SCHEMA %s CASCADE' % SCHEMA)
    print('%d of %d queries by a node above another, or of its first groups alone' % (tally.vectors, tally.queries))
    if options.only is None:
        tally.truth('most queries are so', tally.vectors > 0.6 * tally.queries)
    tally.finish()


if __name__ == '__main__':
    main()
