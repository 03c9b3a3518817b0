#!/usr/bin/env python3
"""tables.py: aggregates over random tables, by the node GpuAgg and by other plans.

Each query runs with gpuagg.enable_agg_scan off, whose results other tests prove, with
the node in one process and with it in workers; where core's results are exact and do not
depend on order, with core's aggregates too; sums, averages and variances of floats beside
exact arithmetic.  Values, types, display and errors must be equal.  Connection: the
environment's.
"""
import argparse
import os
import random
import struct
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, 'lib'))

import expressions  # noqa: E402
import oracle  # noqa: E402
import psql  # noqa: E402

SCHEMA = 'tables'
NUMBERS = ('int2', 'int4', 'int8', 'float4', 'float8', 'numeric')
VARIANCES = ('var_pop', 'var_samp', 'variance', 'stddev_pop', 'stddev_samp', 'stddev')
EXTREMES = NUMBERS + ('interval', 'money', 'date', 'time', 'timestamp', 'timestamptz')
# beside what expressions.py knows
OTHERS = ('interval', 'jsonb', 'int4[]', 'mood', 'small_number', 'timetz', 'inet', 'varbit', 'int4range', 'pair',
          'macaddr', 'xid8', 'json', 'point')
# of these, what can be a key
KEYS = tuple(t for t in OTHERS if t not in ('varbit', 'json', 'point'))
NAMES = {'char': '"char"', 'bpchar': 'char(5)', 'varchar': 'varchar(8)'}
NUMERICS = ('numeric(15,2)', 'numeric(10,4)', 'numeric(30,6)', 'numeric')

# Values at the ends of types, from the lists that a function picks from.
EDGES = {
    'bool': 't,f', 'int2': '-32768,-7,-1,0,1,2,32767',
    'int4': '-2147483648,-46341,-1,0,1,2,46341,2147483647',
    'int8': '-9223372036854775808,-3037000500,-1,0,1,3,9007199254740993,9223372036854775807',
    'oid': '0,1,1259,4294967295', '"char"': 'a,b,A',
    'float4': '0,-0,1,-2.5,3.4e38,1e-45,NaN,Infinity,-Infinity',
    'float8': '0,-0,1,-2.5,0.1,1e300,-1.7e308,5e-324,1e-310,NaN,Infinity,-Infinity',
    'numeric(15,2)': '0,0.01,-0.01,9999999999999.99,-9999999999999.99,1.50,NaN',
    'numeric(10,4)': '0,0.0001,-0.5,999999.9999,-999999.9999',
    'numeric(30,6)': '0,0.000001,999999999999999999999999.999999,-123456789012345678901234.123456',
    'numeric': '0,0.0,1,1.0,1.000,1e40,-1e-30,NaN,Infinity,123456789012345678901234567890.5',
    'money': '0,0.01,-0.01,92233720368547758.07,-92233720368547758.08',
    'date': '4714-11-24 BC,1999-12-31,2000-01-01,2000-02-29,5874897-12-31,infinity,-infinity',
    'time': '00:00,00:00:00.000001,23:59:59.999999,24:00',
    'timestamp': '4714-11-24 00:00:00 BC,1969-12-31 23:59:59.999999,2000-01-01,294276-12-31 23:59:59,infinity',
    'timestamptz': '4714-11-24 00:00:00+00 BC,1969-12-31 23:59:59.999999+00,2000-01-01+00,infinity,-infinity',
    'text': '"",a,ab,abc,"abc ",aXbXc,a%b,äöü,日本', 'name': '"",a,abc,äöü', 'char(5)': '"",a,"a ",abc,äöü',
    'varchar(8)': '"",a,"a ",abc,äöü', 'bytea': r'"\\x","\\x00","\\x61","\\x6100"',
    'uuid': '00000000-0000-0000-0000-000000000000,a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
    'interval': '0,1 day,24:00,1 mon,30 days,-3 hours,-1 mon 30 days',
    'jsonb': '1,1.0,"{\\"a\\":2}","null"', 'int4[]': '{},"{1}","{1,2}","{NULL}"', 'mood': 'sad,ok,happy',
    'small_number': '0,0.001,-99999.999', 'timetz': '00:00+00,24:00-15,12:00+05:45,06:15+00',
    'inet': '10.0.0.1,10.0.0.0/8,::1,::ffff:1.2.3.4/64', 'varbit': '0,1,101,00000000000000000000000000000000000',
    'int4range': '"empty","[1,5)","(,)","(,7]"', 'pair': '"(1,a)","(,)","(-1,\\"\\")"',
    'macaddr': '00:00:00:00:00:00,ff:ff:ff:ff:ff:ff', 'xid8': '0,18446744073709551615,7',
    'json': '1,"null"', 'point': '"(0,0)","(NaN,1)"',
}
# Values of which sums, products and the like stay in range; n: the row's number.
TAME = {
    'bool': 'random() < 0.5', 'int2': '(random() * 100 - 50)::int2', 'int4': '(random() * 2000 - 1000)::int4',
    'int8': '(random() * 1e6 - 5e5)::int8', 'oid': '(random() * 50)::int4::oid',
    '"char"': 'chr(97 + (random() * 5)::int)::"char"', 'float4': '(random() * 100 - 50)::float4',
    'float8': 'random() * 1000 - 500', 'money': '(random() * 1000)::numeric::money',
    'numeric(15,2)': '(random() * 1e6)::numeric', 'numeric(10,4)': '(random() * 1e4 - 5e3)::numeric',
    'numeric(30,6)': '(random() * 1e9)::numeric * 1000000', 'numeric': '(random() * 1000)::numeric',
    'date': "date '2000-01-01' + (random() * 1000)::int", 'time': "time '00:00' + random() * interval '23 hours'",
    'timestamp': "timestamp '2000-01-01' + random() * interval '1000 days'",
    'timestamptz': "timestamptz '2000-01-01' + random() * interval '1000 days'",
    'text': "repeat(chr(97 + n % 7), (random() * 12)::int)", 'name': "('n' || n % 9)::name",
    'char(5)': "left('abcde', (random() * 5)::int)", 'varchar(8)': "left('abcdefgh', (random() * 8)::int)",
    'bytea': "convert_to(repeat('a', n % 4), 'UTF8')", 'uuid': "md5((n % 30)::text)::uuid",
    'interval': "random() * interval '100 days'", 'jsonb': 'to_jsonb(n % 4)', 'int4[]': 'ARRAY[n % 3, n % 2]',
    'mood': "(ARRAY['sad', 'ok', 'happy'])[1 + n % 3]::mood", 'small_number': '(random() * 100)::numeric',
    'timetz': "timetz '00:00+01' + random() * interval '23 hours'", 'inet': "inet '10.0.0.0' + n % 9",
    'varbit': '(n % 9)::bit(4)::varbit', 'int4range': 'int4range(n % 3, 4 + n % 2)', 'pair': "ROW(n % 3, 'p' || n % 2)::pair",
    'macaddr': "macaddr '08:00:2b:01:02:03'", 'xid8': '(n % 7)::text::xid8', 'json': 'to_json(n % 3)',
    'point': 'point(n % 3, n % 2)',
}
LONG = ("repeat(chr(97 + n % 5), 3000)",
        "(SELECT string_agg(md5((n % 11 * i)::text), '') FROM generate_series(1, 120) i)")

FUNCTIONS = r'''
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN small_number AS numeric(8,3);
CREATE TYPE pair AS (x integer, y text);
CREATE FUNCTION pick(list anyarray) RETURNS anyelement LANGUAGE sql VOLATILE AS
	$$ SELECT list[1 + floor(random() * array_length(list, 1))::int] $$;
CREATE FUNCTION outcome(query text, node boolean, workers integer) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	lines text[];
BEGIN
	PERFORM set_config('gpuagg.enable_agg_scan', node::text, true),
		set_config('max_parallel_workers_per_gather', workers::text, true);
	EXECUTE 'SELECT array_agg(q::text ORDER BY q::text COLLATE "C") FROM (' || query || ') q' INTO lines;
	RETURN coalesce(lines, '{}');
EXCEPTION WHEN OTHERS THEN
	RETURN ARRAY['error ' || SQLSTATE || ': ' || SQLERRM];
END $$;
CREATE FUNCTION plan_has(query text, workers integer, what text, options text DEFAULT 'COSTS OFF', node boolean DEFAULT true) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found boolean := false;
BEGIN
	PERFORM set_config('gpuagg.enable_agg_scan', node::text, true),
		set_config('max_parallel_workers_per_gather', workers::text, true);
	FOR line IN EXECUTE 'EXPLAIN (' || options || ') ' || query LOOP
		found := found OR line ~ what;
	END LOOP;
	RETURN found;
EXCEPTION WHEN OTHERS THEN
	RETURN NULL;
END $$;
CREATE FUNCTION first_difference(label text, a text[], b text[]) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN a = b THEN NULL ELSE label || ': ' ||
		coalesce((SELECT format('line %s is %s, expected %s', i, coalesce(a[i], 'missing'), coalesce(b[i], 'none'))
				  FROM generate_series(1, greatest(cardinality(a), cardinality(b))) i
				  WHERE a[i] IS DISTINCT FROM b[i] LIMIT 1), '?') END $$;
CREATE FUNCTION is_error(lines text[]) RETURNS boolean LANGUAGE sql AS $$ SELECT coalesce(lines[1] LIKE 'error %', false) $$;
-- Groups have no order: of two that fail any may be the first, as numbers out of range may.
CREATE FUNCTION same_error(query text, a text[], b text[]) RETURNS boolean LANGUAGE sql AS $$
	SELECT query ~ 'GROUP BY' AND is_error(a) AND is_error(b) AND left(a[1], 12) = left(b[1], 12) AND a[1] LIKE 'error 22003%' $$;
CREATE FUNCTION by_row_count(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	line text;
	n bigint := 0;
BEGIN
	PERFORM set_config('max_parallel_workers_per_gather', '0', true);
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ' || query LOOP
		n := n + coalesce(substring(line FROM 'Vectors Row by Row: (\d+)')::bigint, 0);
	END LOOP;
	RETURN n;
END $$;
CREATE FUNCTION compare(query text, core text, workers integer,
	OUT ran boolean, OUT parallel boolean, OUT by_row boolean, OUT failed boolean, OUT nrows integer,
	OUT vectors bigint, OUT row_vectors bigint, OUT difference text)
LANGUAGE plpgsql AS $$
DECLARE
	rows_path text[] := outcome(query, false, 0);
	got text[];
BEGIN
	ran := plan_has(query, 0, '\(GpuAgg\)');
	parallel := false;
	by_row := plan_has(query, 0, 'Row by Row', 'COSTS OFF, VERBOSE');
	got := outcome(query, true, 0);
	vectors := (SELECT cpu_batches FROM gpuagg_last_query());
	failed := is_error(rows_path);
	nrows := cardinality(rows_path);
	-- the minimum of a constant, for which core reads up to one row, or none, and so meets other errors
	IF is_error(got) <> failed AND plan_has(query, 0, '-> +Limit', 'COSTS OFF', false) THEN
		failed := true;
	ELSIF NOT same_error(query, got, rows_path) THEN
		difference := first_difference('node', got, rows_path);
	END IF;
	-- vectors of which a row, or a part of each row, was evaluated singly
	vectors := CASE WHEN ran AND NOT failed THEN vectors ELSE 0 END;
	row_vectors := CASE WHEN vectors = 0 THEN 0 WHEN by_row THEN vectors ELSE by_row_count(query) END;
	IF workers > 0 THEN
		parallel := plan_has(query, workers, 'Parallel Custom Scan \(GpuAgg\)');
		got := outcome(query, true, workers);
		-- which process is the first to meet an error is not determined
		IF NOT (failed AND is_error(got)) THEN
			difference := coalesce(difference, first_difference('workers', got, rows_path));
		END IF;
	END IF;
	IF core <> '' THEN
		difference := coalesce(difference, first_difference('core', rows_path, outcome(core, false, 0)));
	END IF;
	PERFORM set_config('gpuagg.enable_agg_scan', 'on', true);
END $$'''


class Table:
    """A random table and the statements that make it, in the order of their running."""

    def __init__(self, rng, number):
        self.rng = rng
        self.name = 't%d' % number
        self.rows = rng.choice((0, 1, 3, 60, 300, 1000, 1025, 3000, 3000, 8000))
        self.narrow = rng.random() < 0.3
        self.wild = rng.choice((0, 0, 0.15, 0.4))
        self.nulls = 0 if self.narrow and rng.random() < 0.7 else rng.choice((0, 0.1, 0.3))
        self.statements = []
        self.types = {}
        self.temporary = rng.random() < 0.05
        self.counter = 0
        self.make()

    def column(self, kind):
        """Definition and expression of its values."""
        rng = self.rng
        if kind in expressions.TYPES:
            name = '%s_%s' % (kind, 'abcdefgh'[self.counter % 8])
            while name in self.types:
                self.counter += 1
                name = '%s_%s' % (kind, 'abcdefgh'[self.counter % 8])
        else:
            name = 'c%d' % self.counter
        self.counter += 1
        sql = rng.choice(NUMERICS) if kind == 'numeric' else NAMES.get(kind, kind)
        edge = rng.random() < self.wild
        few = not edge and rng.random() < 0.3
        if edge:
            value = "pick('{%s}'::%s[])" % (EDGES[sql], sql.replace('[]', ''))
            if sql == 'int4[]':
                value = "(CASE n % 3 WHEN 0 THEN '{}' WHEN 1 THEN '{1}' ELSE '{1,2,NULL}' END)::int4[]"
        elif kind == 'text' and not self.narrow and rng.random() < 0.15:
            value = rng.choice(LONG)
        else:
            value = TAME[sql]
        if few and not edge and sql in ('int4', 'int2', 'int8', 'float8', 'numeric', 'numeric(15,2)'):
            value = 'n % ' + rng.choice(('2', '5', '11'))
        nulls = rng.choice((0, self.nulls, self.nulls, 0.98 if self.nulls else 0))
        if nulls:
            value = 'CASE WHEN random() >= %s THEN %s END' % (nulls, value)
        definition = '%s %s%s' % (name, sql, ' NOT NULL' if not nulls and rng.random() < 0.6 else '')
        self.types[name] = kind
        return name, definition, value

    def insert(self, columns, first, last):
        if not columns:
            return
        self.statements.append('INSERT INTO %s (%s) SELECT %s FROM generate_series(%d, %d) n' % (
            self.name, ', '.join(c[0] for c in columns), ', '.join(c[2] for c in columns), first, last))

    def make(self):
        rng = self.rng
        if self.narrow:
            kinds = [k for k in expressions.TYPES if k not in expressions.STRINGS + ('numeric',)]
            kinds = [rng.choice(kinds) for _ in range(rng.randint(1, 8))] + ['int4', 'float8']
        else:
            kinds = list(expressions.TYPES) + [k for k in expressions.TYPES + OTHERS if rng.random() < 0.6]
        rng.shuffle(kinds)
        columns = [self.column(kind) for kind in kinds]
        self.statements.append('CREATE %sTABLE %s (%s) WITH (autovacuum_enabled = off, fillfactor = %d)' % (
            'TEMPORARY ' if self.temporary else '', self.name, ', '.join(c[1] for c in columns),
            rng.choice((100, 100, 60, 20))))
        texts = [name for name in self.types if self.types[name] == 'text']
        if texts and rng.random() < 0.2:
            self.statements.append('ALTER TABLE %s ALTER %s SET STORAGE %s' % (
                self.name, rng.choice(texts), rng.choice(('EXTERNAL', 'PLAIN', 'MAIN'))))
        self.insert(columns, 1, self.rows)
        for _ in range(rng.randrange(5)):
            columns = self.change(columns)
        if rng.random() < 0.6:
            self.statements.append('VACUUM %s%s' % (rng.choice(('', '(FREEZE) ', '(ANALYZE) ', '(FULL) ')), self.name))
        elif rng.random() < 0.5:
            self.statements.append('ANALYZE ' + self.name)
        if rng.random() < 0.5:
            columns = self.change(columns)
        listed = [n for n, k in self.types.items() if k in expressions.TYPES]
        if rng.random() < 0.1 and not self.temporary and listed:
            self.statements.append('CREATE TABLE parts (LIKE %s) PARTITION BY LIST (%s)' % (self.name, rng.choice(listed)))
            self.statements.append('ALTER TABLE parts ATTACH PARTITION %s DEFAULT' % self.name)
        elif rng.random() < 0.15 and not self.temporary:
            self.statements.append('CREATE MATERIALIZED VIEW m%s AS SELECT * FROM %s' % (2 * (self.name,)))
            self.name = 'm' + self.name

    def change(self, columns):
        rng = self.rng
        way = rng.randrange(9)
        say = self.statements.append
        part = rng.choice((0.01, 0.1, 0.5, 0.97))
        if way < 2:
            say('DELETE FROM %s WHERE random() < %s' % (self.name, part))
        elif way < 4:
            one = rng.choice(columns)
            say('UPDATE %s SET %s = v.x FROM (SELECT (%s) AS x FROM generate_series(1, 1) n) v '
                'WHERE random() < %s' % (self.name, one[0], one[2], part))
        elif way == 4:
            say('BEGIN')
            self.insert(columns, 1, 100)
            say('ROLLBACK')
        elif way == 5:
            say('VACUUM ' + self.name)
            self.insert(columns, 1, rng.choice((1, 50, 700)))
        elif way == 6 and len(columns) > 3:
            gone = rng.choice(columns)
            say('ALTER TABLE %s DROP COLUMN %s' % (self.name, gone[0]))
            del self.types[gone[0]]
            columns = [c for c in columns if c is not gone]
        else:
            kind = rng.choice(('int4', 'int8', 'float8', 'bool', 'date') if self.narrow else expressions.TYPES)
            name, definition, value = self.column(kind)
            if rng.random() < 0.6:
                kind_sql = definition.split(' ', 1)[1].replace(' NOT NULL', '')
                constant = "'%s'::%s" % (EDGES[kind_sql].split(',')[1], kind_sql)
                if kind == 'bytea':
                    constant = "'\\x61'::bytea"
                definition = '%s DEFAULT %s%s' % (definition.replace(' NOT NULL', ''), constant,
                                                  rng.choice(('', ' NOT NULL')))
                value = 'coalesce(%s, %s)' % (value, constant)
            else:
                definition = definition.replace(' NOT NULL', '')
            say('ALTER TABLE %s ADD COLUMN %s' % (self.name, definition))
            columns = columns + [(name, definition, value)]
            self.insert(columns, 1, rng.choice((0, 40, 400)))
        return columns

    def columns(self):
        lists = {}
        for name, kind in self.types.items():
            lists.setdefault(kind, []).append(name)
        return lists


class Maker:
    """Queries over a table."""

    def __init__(self, rng, table):
        self.rng = rng
        self.table = table
        self.columns = table.columns()
        self.writer = expressions.Writer(rng, self.columns, rng.choice((0, 0.1)))

    def expression(self, kind, depth):
        if kind in OTHERS:
            return self.rng.choice(self.columns.get(kind) or ['NULL::' + kind])
        return self.writer.expression(kind, depth)

    def depth(self):
        return self.rng.choice((0, 0, 0, 1, 1, 2, 3))

    def call(self):
        """(call, whether core's result is exact and independent of order)."""
        rng = self.rng
        way = rng.random()
        tail = ' FILTER (WHERE %s)' % self.expression('bool', self.depth()) if rng.random() < 0.2 else ''
        if way < 0.12:
            return 'gpu_count(*)' + tail, True
        if way < 0.24:
            kind = rng.choice(expressions.TYPES + OTHERS)
            return 'gpu_count(%s)%s' % (self.expression(kind, self.depth()), tail), True
        if way < 0.65:
            kind = rng.choice(NUMBERS + NUMBERS + ('money', 'interval'))
            function = rng.choice(('sum', 'sum', 'avg') if kind != 'money' else ('sum',))
            comparable = kind not in ('float4', 'float8', 'money', 'interval')
        elif way < 0.85:
            kind = rng.choice(EXTREMES)
            function = rng.choice(('min', 'max'))
            comparable = kind not in ('float4', 'float8', 'numeric', 'interval')
        else:
            kind = rng.choice(NUMBERS)
            function = rng.choice(VARIANCES)
            comparable = kind not in ('float4', 'float8')
        text = 'gpu_%s(%s)%s' % (function, self.expression(kind, self.depth()), tail)
        return text, comparable

    def key(self, plain):
        """(expression, as it is shown, whether equal keys may look different)."""
        rng = self.rng
        kind = rng.choice(expressions.TYPES + KEYS + ('int4', 'text', 'bool', 'date', 'numeric'))
        if kind == 'money' and rng.random() < 0.9:
            kind = 'int4'
        text = self.expression(kind, rng.choice((0, 0, 0, 1, 2)))
        if not any(name in text for name in self.table.types):
            name = rng.choice([n for n, k in self.table.types.items() if k in expressions.TYPES + KEYS])
            kind, text = self.table.types[name], name
        shown = {'numeric': 'trim_scale(%s)', 'small_number': 'trim_scale(%s)', 'float4': '(%s + 0::float4)',
                 'float8': '(%s + 0)', 'interval': 'interval_hash(%s)', 'bpchar': 'rtrim((%s)::text)',
                 'jsonb': 'jsonb_hash(%s)'}.get(kind)
        if shown and not plain:
            return text, shown % text, False
        return text, text, shown is not None

    def where(self):
        quals = [self.expression('bool', self.depth()) for _ in range(self.rng.choice((0, 0, 1, 1, 2, 3)))]
        return ' WHERE ' + ' AND '.join(quals) if quals else ''

    def query(self):
        """(ours, core's or '', workers or 0)."""
        rng = self.rng
        calls = [self.call() for _ in range(rng.choice((1, 1, 2, 3, 5)))]
        nkeys = rng.choice((0, 0, 1, 1, 1, 2, 3))
        plain = rng.random() < 0.3
        keys = [self.key(plain) for _ in range(nkeys)]
        workers = 0 if any(k[2] for k in keys) or self.table.temporary else rng.choice((0, 2, 2, 3))
        shown = []
        for text, comparable in calls:
            shown.append(rng.choice(('%s', '%s', '%s', 'pg_typeof(%s)', 'coalesce((%s)::text, \'-\')')) % text)
        targets = ['%s AS k%d' % (k[1], i) for i, k in enumerate(keys)]
        targets += ['%s AS r%d' % (s, i) for i, s in enumerate(shown)]
        if keys and rng.random() < 0.1:
            targets = targets[len(keys):]
        tail = ''
        if keys:
            tail = ' GROUP BY ' + ', '.join(k[0] for k in keys)
        if rng.random() < 0.2:
            tail += ' HAVING ' + rng.choice((
                'gpu_count(*) %s %d' % (rng.choice(('>', '<', '=')), rng.choice((0, 1, 5, 100))),
                '%s IS NOT NULL' % calls[0][0], '%s IS NULL' % calls[-1][0]))
        ours = 'SELECT %s FROM %s%s%s' % (', '.join(targets), self.table.name, self.where(), tail)
        core = ours.replace('gpu_', '') if all(c[1] for c in calls) else ''
        way = rng.random()
        if way < 0.06:
            column = rng.choice((self.columns.get('int4') or ['NULL::int4']))
            ours = ('SELECT g.i, s.* FROM generate_series(0, 3) g(i), '
                    'LATERAL (SELECT %s FROM %s WHERE %s = g.i OR %s) s' % (
                        calls[0][0], self.table.name, column, self.expression('bool', 0)))
            return ours, '', 0
        if way < 0.12:
            rescanned = 'SELECT g.i, q.* FROM generate_series(0, 3) g(i) LEFT JOIN (%s) q ON g.i <> 2'
            return rescanned % ours, core and rescanned % core, workers
        return ours, core, workers


def verdict(counts):
    """Judges a line of compare(); counts: what came of it."""

    def judge(rows, state):
        if state != '00000' or len(rows) != 1:
            return 'SQLSTATE %s, %d lines' % (state, len(rows))
        ran, parallel, by_row, failed, nrows, vectors, row_vectors, difference = rows[0].split('|', 7)
        counts['queries'] += 1
        counts['planned'] += ran != ''
        counts['by the node'] += ran == 't'
        counts['with workers'] += parallel == 't'
        counts['some of it row by row'] += by_row == 't'
        counts['errors'] += failed == 't'
        counts['lines'] += int(nrows)
        counts['vectors'] += int(vectors or 0)
        counts['vectors with a row evaluated singly'] += int(row_vectors or 0)
        return difference or None

    return judge


def exact_floats(script, rng, table, label, counts):
    """Aggregates of a float column beside exact arithmetic over its values."""
    columns = [name for name, kind in table.types.items() if kind in ('float4', 'float8')]
    if not columns:
        return
    column = rng.choice(columns)
    form = oracle.FLOAT4 if table.types[column] == 'float4' else oracle.FLOAT8
    others = [name for name, kind in table.types.items() if kind in ('int2', 'int4', 'oid', 'date')]
    source = '%s WHERE %s' % (table.name, 'hashtext(%s::text) %% 3 <> 0' % rng.choice(others) if others else 'true')
    values = []
    script.sql('SET max_parallel_workers_per_gather = %d' % (0 if table.temporary else rng.choice((0, 2))))

    def remember(rows, state):
        values.extend(struct.unpack(form.pack, bytes.fromhex(row))[0] for row in rows)
        return None if state == '00000' else 'SQLSTATE ' + state

    def judge(function, shown):
        def verdict_of(rows, state):
            exact = oracle.moments(v for v in values)
            counts['beside exact arithmetic'] += 1
            if function == 'sum':
                want = oracle.total(values, form)
            else:
                want = exact.results()[oracle.AGGREGATES.index('gpu_' + function)]
            if want == oracle.OVERFLOW:
                return None if state == '22003' else 'SQLSTATE %s, expected an overflow' % state
            want = [oracle.text(want, shown)]
            return None if state == '00000' and rows == want else 'SQLSTATE %s, %s, exactly %s' % (state, rows, want)
        return verdict_of

    script.ask(label, "SELECT encode(%ssend(%s), 'hex') FROM %s AND %s IS NOT NULL" % (form.name, column, source, column), remember)
    for function in rng.sample(('sum', 'sum', 'avg', 'var_pop', 'var_samp', 'stddev_pop', 'stddev_samp'), 2):
        shown = form if function == 'sum' else oracle.FLOAT8
        statement = "SELECT encode(%ssend(gpu_%s(%s)), 'hex') FROM %s" % (shown.name, function, column, source)
        script.ask(label + statement, statement, judge(function, shown))


def data_set(seed, number, queries, counts, tally):
    rng = random.Random('%d %d' % (seed, number))
    table = Table(rng, number)
    maker = Maker(rng, table)
    script = psql.Script()
    script.sql('SET search_path = %s, public' % SCHEMA)
    for setting in ('gpuagg.enable_agg_scan = on', 'gpuagg.min_table_pages = 0', 'enable_sort = off',
                    'parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0',
                    'synchronize_seqscans = off', 'enable_material = off',
                    "TimeZone = '%s'" % rng.choice(('UTC', 'Europe/Berlin', 'Asia/Kathmandu'))):
        script.sql('SET ' + setting)
    if number % 3:
        script.sql('SET gpuagg.device = cpu')
    script.sql("SELECT setseed(%f)" % rng.random())
    for statement in table.statements:
        script.sql(statement)
    for _ in range(queries):
        if rng.random() < 0.15:
            script.sql("SET work_mem = '%s'" % rng.choice(('64kB', '4MB')))
            script.sql('SET hash_mem_multiplier = %s' % rng.choice(('1', '2')))
            script.sql('SET parallel_leader_participation = ' + rng.choice(('on', 'off')))
        ours, core, workers = maker.query()
        script.ask('data set %d: %s' % (number, ours), "SELECT * FROM compare($q$%s$q$, $q$%s$q$, %d)" % (
            ours, core, workers), verdict(counts))
    exact_floats(script, rng, table, 'data set %d: ' % number, counts)
    kind = 'MATERIALIZED VIEW' if table.name.startswith('m') else 'TABLE'
    script.sql('DROP %s %s' % (kind, table.name))
    script.sql('DROP TABLE IF EXISTS parts')
    if kind != 'TABLE':
        script.sql('DROP TABLE ' + table.name[1:])
    tally.add(script.run())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=20261123)
    parser.add_argument('--sets', type=int, default=30, help='tables')
    parser.add_argument('--queries', type=int, default=30, help='over each table')
    parser.add_argument('--seconds', type=float, help='go on with ever new tables for so long')
    parser.add_argument('--only', type=int, help='the number of the only table')
    options = parser.parse_args()
    print('seed %d' % options.seed, flush=True)
    tally = psql.Tally('tables')
    counts = dict.fromkeys(('queries', 'planned', 'by the node', 'with workers', 'some of it row by row', 'errors', 'lines', 'vectors',
                            'vectors with a row evaluated singly', 'beside exact arithmetic'), 0)
    psql.query('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuagg; '
               'DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s; SET search_path = %s, public; %s'
               % (SCHEMA, SCHEMA, SCHEMA, FUNCTIONS))
    end = time.monotonic() + (options.seconds or 0)
    number = 0 if options.only is None else options.only
    while True:
        data_set(options.seed, number, options.queries, counts, tally)
        number += 1
        if options.only is not None or (number >= options.sets if options.seconds is None
                                        else time.monotonic() >= end):
            break
    psql.query('SET client_min_messages = warning; DROP SCHEMA %s CASCADE' % SCHEMA)
    print(', '.join('%s: %d' % item for item in counts.items()))
    share = counts['by the node'] / max(counts['planned'], 1)
    print('%.0f %% of the queries that could be planned by the node' % (100 * share))
    singly = counts['vectors with a row evaluated singly'] / max(counts['vectors'], 1)
    print('%.0f %% of the vectors had a row that was evaluated singly, at least in part' % (100 * singly))
    if options.only is None:
        tally.truth('the node ran three queries of four', share >= 0.75)
        tally.truth('most results were no errors', counts['errors'] < 0.4 * counts['queries'])
    tally.finish()


if __name__ == '__main__':
    main()
