-- gpu_sum and gpu_count: results as core's at every size around a boundary; errors by SQLSTATE.
\set ECHO none
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS gpuagg;
BEGIN;
SELECT no_plan();

CREATE TABLE sized AS SELECT i, (i % 1000)::int2 AS i2, i * 3 - 5000 AS i4,
       i::int8 * 4611686018427 AS i8, (i % 64)::float4 / 4 AS f4, (i - 5000)::float8 / 8 AS f8,
       (i - 3000)::numeric / 100 AS n, i % 7 AS g
FROM generate_series(1, 10001) i;
UPDATE sized SET i2 = NULL, i4 = NULL, i8 = NULL, f4 = NULL, f8 = NULL, n = NULL WHERE i % 13 = 0;
CREATE INDEX ON sized (i);
ANALYZE sized;

-- Results of core and ours for the first n rows, as one text.
CREATE FUNCTION core_sums(upto int) RETURNS text LANGUAGE sql AS $$
    SELECT ROW(sum(i2), sum(i4), sum(i8), sum(f4), sum(f8), sum(n), count(i2), count(*))::text
    FROM sized WHERE i <= upto $$;
CREATE FUNCTION our_sums(upto int) RETURNS text LANGUAGE sql AS $$
    SELECT ROW(gpu_sum(i2), gpu_sum(i4), gpu_sum(i8), gpu_sum(f4), gpu_sum(f8), gpu_sum(n),
               gpu_count(i2), gpu_count(*))::text
    FROM sized WHERE i <= upto $$;
CREATE FUNCTION core_groups(upto int) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT ROW(g, sum(i2), sum(i4), sum(i8), sum(f4), sum(f8), sum(n), count(i2), count(*))::text
    FROM sized WHERE i <= upto GROUP BY g ORDER BY g $$;
CREATE FUNCTION our_groups(upto int) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT ROW(g, gpu_sum(i2), gpu_sum(i4), gpu_sum(i8), gpu_sum(f4), gpu_sum(f8), gpu_sum(n),
               gpu_count(i2), gpu_count(*))::text
    FROM sized WHERE i <= upto GROUP BY g ORDER BY g $$;

SET LOCAL gpuagg.batch_rows = 1024;
SELECT is(core_sums(2), '(3,-9991,13835058055281,0.75,-1249.625,-59.9700000000000000,2,2)', 'the oracle');
SELECT is(our_sums(n), core_sums(n), n || ' rows, batches of 1024')
FROM unnest(ARRAY[0, 1, 2, 31, 32, 33, 255, 256, 257, 999, 1000, 1001, 1023, 1024, 1025, 2047, 2048,
                  2049, 4095, 4096, 4097, 9999, 10000, 10001]) n;
SELECT results_eq(format('SELECT * FROM our_groups(%s)', n), format('SELECT * FROM core_groups(%s)', n),
                  n || ' rows in groups, batches of 1024')
FROM unnest(ARRAY[0, 1, 33, 1025, 7168, 7169, 10001]) n;
SET LOCAL gpuagg.batch_rows = 4096;
SELECT is(our_sums(n), core_sums(n), n || ' rows, batches of 4096')
FROM unnest(ARRAY[4095, 4096, 4097, 8191, 8192, 8193]) n;
RESET gpuagg.batch_rows;
SELECT is(our_sums(n), core_sums(n), n || ' rows')
FROM unnest(ARRAY[0, 1, 4096, 4097, 10001]) n;

-- The same in parallel workers.
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL min_parallel_index_scan_size = 0;
SET LOCAL gpuagg.batch_rows = 1024;
SELECT results_eq('SELECT ROW(gpu_sum(i2), gpu_sum(i4), gpu_sum(i8), gpu_sum(f4), gpu_sum(f8), '
                  'gpu_sum(n), gpu_count(i2), gpu_count(*))::text FROM sized',
                  'SELECT core_sums(10001)', 'parallel');
SET LOCAL parallel_leader_participation = off;
SELECT results_eq('SELECT ROW(gpu_sum(i2), gpu_sum(i4), gpu_sum(i8), gpu_sum(f4), gpu_sum(f8), '
                  'gpu_sum(n), gpu_count(i2), gpu_count(*))::text FROM sized',
                  'SELECT core_sums(10001)', 'parallel without the leader');
SELECT results_eq('SELECT ROW(g, gpu_sum(i2), gpu_sum(i4), gpu_sum(i8), gpu_sum(f4), gpu_sum(f8), '
                  'gpu_sum(n), gpu_count(i2), gpu_count(*))::text FROM sized GROUP BY g ORDER BY g',
                  'SELECT * FROM core_groups(10001)', 'parallel groups');
SET LOCAL parallel_setup_cost = 1000;
SET LOCAL parallel_tuple_cost = 0.1;

-- Every way of writing an aggregate.
SELECT results_eq(replace(q, '$', 'gpu_'), replace(q, '$', ''), q) FROM unnest(ARRAY[
    'SELECT $sum(i4) FILTER (WHERE i > 100) FROM sized',
    'SELECT $sum(DISTINCT i2), $count(DISTINCT f4) FROM sized',
    'SELECT $sum(i8 ORDER BY i DESC) FROM sized',
    'SELECT g, $sum(f8) FROM sized GROUP BY g HAVING $count(*) > 1428 ORDER BY g',
    'SELECT g, i2 % 2, $sum(n) FROM sized GROUP BY ROLLUP (1, 2) ORDER BY 1, 2, 3',
    'SELECT $sum(i4 + 1), $sum(-f8), $sum(n * 2) FROM sized WHERE g = 3',
    'SELECT $sum(a.i4) FROM sized a JOIN sized b ON a.i = b.i + 1 WHERE a.g = 1',
    'SELECT i, $sum(i4) OVER (ORDER BY i ROWS 10 PRECEDING) FROM sized WHERE i < 1500',
    'SELECT i, $sum(f8) OVER (ORDER BY i ROWS BETWEEN 3 FOLLOWING AND 9 FOLLOWING) FROM sized WHERE i < 500',
    'SELECT i, $count(i2) OVER (PARTITION BY g ORDER BY i) FROM sized WHERE i < 500',
    'SELECT $sum(s) FROM (SELECT $sum(i4) AS s FROM sized GROUP BY g) q',
    'SELECT $sum(f8) FROM sized WHERE i2 IS NULL',
    'SELECT $sum(x) FROM (VALUES (NULL::int8)) v(x)',
    'SELECT (SELECT $sum(o.i4) FROM (VALUES (1)) v) FROM sized o'
]) q;

-- Out of range.
SELECT throws_ok($$SELECT gpu_sum(1.7976931348623157e308::float8) FROM generate_series(1, 2)$$, '22003',
                 'value out of range: overflow');
SELECT throws_ok($$SELECT gpu_sum(3e38::float4) FROM generate_series(1, 2)$$, '22003',
                 'value out of range: overflow');
SELECT lives_ok($$SELECT gpu_sum(x) FROM (VALUES (1e308::float8), (1e308), (-1e308)) v(x)$$,
                'an intermediate sum may be out of range');
SELECT is((SELECT gpu_sum(x) FROM (VALUES (1e308::float8), (1e308), (-1e308)) v(x)), 1e308::float8,
          'and the sum is right');
SELECT lives_ok($$SELECT gpu_sum(x) FROM (SELECT 1e308::float8 AS x FROM generate_series(1, 10000)
                  UNION ALL SELECT -1e308 FROM generate_series(1, 10000)) s$$, 'over many rows as well');
SELECT throws_ok($$SELECT gpu_sum('x'::text)$$, '42883');
SELECT throws_ok($$SELECT gpu_sum(gpu_sum(1))$$, '42803');
-- An error in an argument, in the middle of a batch, leaves nothing behind.
SELECT throws_ok('SELECT gpu_sum(1 / (5000 - i)) FROM sized', '22012');
SELECT throws_ok('SELECT g, gpu_sum(1.0::float8 / (5000 - i)) FROM sized GROUP BY g', '22012');
SELECT is(our_sums(10001), core_sums(10001), 'the next query is right');

SELECT * FROM finish();
ROLLBACK;
