-- gpu_running_sum: as core's sum with the same frame at every size around a boundary; errors by SQLSTATE.
\set ECHO none
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS gpuagg;
BEGIN;
SELECT no_plan();

CREATE TABLE sized AS SELECT i, (i % 1000)::int2 AS i2, i * 3 - 5000 AS i4,
       i::int8 * 4611686018427 AS i8, (i % 64)::float4 / 4 AS f4, (i - 5000)::float8 / 8 AS f8,
       (i - 3000)::numeric / 100 AS n, i % 7 AS g, i / 5 AS k
FROM generate_series(1, 5000) i;
UPDATE sized SET i2 = NULL, i4 = NULL, i8 = NULL, f4 = NULL, f8 = NULL, n = NULL
WHERE i % 13 = 0 OR i < 3 OR i BETWEEN 900 AND 1100;
CREATE INDEX ON sized (i);
ANALYZE sized;

-- The query of running sums over the first n rows with a window, ours and core's.
CREATE FUNCTION running(ours boolean, n int, over_clause text) RETURNS text LANGUAGE sql AS $$
    SELECT format('SELECT i, ' || string_agg(format('%s(%s) OVER w', CASE WHEN ours
                  THEN 'gpu_running_sum' ELSE 'sum' END, c), ', ') ||
                  ' FROM sized WHERE i <= %s WINDOW w AS (%s) ORDER BY i', n, over_clause)
    FROM unnest(ARRAY['i2', 'i4', 'i8', 'f4', 'f8', 'n']) c $$;
CREATE FUNCTION exclusive(ours boolean, n int, over_clause text) RETURNS text LANGUAGE sql AS $$
    SELECT format('SELECT i, ' || string_agg(CASE WHEN ours
                  THEN format('gpu_running_sum(%s, true) OVER (%s ROWS UNBOUNDED PRECEDING)', c, over_clause)
                  ELSE format('sum(%s) OVER (%s ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)', c,
                              over_clause) END, ', ') ||
                  ' FROM sized WHERE i <= %s ORDER BY i', n)
    FROM unnest(ARRAY['i2', 'i4', 'i8', 'f4', 'f8', 'n']) c $$;

SET LOCAL gpuagg.batch_rows = 1024;
SELECT results_eq(running(true, n, w), running(false, n, w), format('%s rows: %s', n, w))
FROM unnest(ARRAY[0, 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 2049, 4096, 5000]) n,
     unnest(ARRAY['ORDER BY i ROWS UNBOUNDED PRECEDING', 'ORDER BY k']) w;
SELECT results_eq(running(true, n, w), running(false, n, w), format('%s rows: %s', n, w))
FROM unnest(ARRAY[33, 1025, 5000]) n,
     unnest(ARRAY['PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING', 'PARTITION BY g ORDER BY k',
                  'PARTITION BY g', '', 'ORDER BY i DESC', 'ORDER BY k DESC, i DESC',
                  'ORDER BY g', 'ORDER BY g, k RANGE UNBOUNDED PRECEDING',
                  'PARTITION BY g ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW']) w;
SELECT results_eq(exclusive(true, n, w), exclusive(false, n, w), format('exclusive, %s rows: %s', n, w))
FROM unnest(ARRAY[0, 1, 2, 33, 1023, 1024, 1025, 5000]) n,
     unnest(ARRAY['ORDER BY i', 'PARTITION BY g ORDER BY i']) w;
-- Many small partitions; a request each only for a few.
SELECT results_eq(exclusive(true, 99, w), exclusive(false, 99, w), format('exclusive, 99 rows: %s', w))
FROM unnest(ARRAY['PARTITION BY k ORDER BY i DESC', 'PARTITION BY i']) w;
SELECT results_eq(running(true, 99, w), running(false, 99, w), format('99 rows: %s', w))
FROM unnest(ARRAY['PARTITION BY k ORDER BY i', 'PARTITION BY i']) w;
SET LOCAL gpuagg.device_min_rows = 100;
SELECT results_eq(running(true, 5000, w), running(false, 5000, w), format('5000 rows: %s', w))
FROM unnest(ARRAY['PARTITION BY k ORDER BY i ROWS UNBOUNDED PRECEDING', 'PARTITION BY k', 'PARTITION BY i',
                  'PARTITION BY least(k, 700) ORDER BY i']) w;
RESET gpuagg.device_min_rows;
RESET gpuagg.batch_rows;
SELECT results_eq(running(true, n, w), running(false, n, w), format('%s rows: %s', n, w))
FROM unnest(ARRAY[33, 5000]) n,
     unnest(ARRAY['ORDER BY i ROWS UNBOUNDED PRECEDING', 'PARTITION BY g ORDER BY k']) w;

-- Frames that are not its own.
SELECT throws_ok(format('SELECT gpu_running_sum(i4) OVER (%s) FROM sized', w), '0A000', NULL, w)
FROM unnest(ARRAY['ORDER BY i ROWS 1 PRECEDING',
                  'ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING',
                  'ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING',
                  'ORDER BY i RANGE 1 PRECEDING', 'ORDER BY i GROUPS UNBOUNDED PRECEDING',
                  'ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES']) w;
SELECT throws_ok('SELECT gpu_running_sum(i4, true) OVER (ORDER BY i) FROM sized', '0A000');
SELECT throws_ok('SELECT gpu_running_sum(i4, true) OVER () FROM sized', '0A000');
SELECT throws_ok('SELECT gpu_running_sum(i4, NULL) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM sized',
                 '22023');
SELECT throws_ok('SELECT gpu_running_sum(i4, i > 7) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM sized',
                 '22023');
SELECT throws_ok('SELECT gpu_running_sum(i4) FROM sized', '42809');
SELECT throws_ok('SELECT gpu_running_sum(i4) FILTER (WHERE i > 1) OVER (ORDER BY i) FROM sized', '0A000');
SELECT throws_ok('SELECT gpu_running_sum(DISTINCT i4) OVER (ORDER BY i) FROM sized', '0A000');
SELECT throws_ok('SELECT gpu_running_sum(1 / (4000 - i)) OVER (ORDER BY i) FROM sized', '22012');

-- Out of range at a row: only from that row on.
CREATE TABLE growing AS SELECT i, CASE WHEN i < 3000 THEN 1 ELSE 1e308 END::float8 AS x
FROM generate_series(1, 3010) i;
SELECT throws_ok('SELECT gpu_running_sum(x) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM growing',
                 '22003', 'value out of range: overflow');
SELECT results_eq('SELECT gpu_running_sum(x) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM growing '
                  'OFFSET 2998 LIMIT 2', ARRAY[2999::float8, 1e308::float8], 'rows before it come out');
SELECT throws_ok('SELECT gpu_running_sum(x) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM growing '
                 'OFFSET 3000 LIMIT 1', '22003');

SELECT * FROM finish();
ROLLBACK;
