-- Aggregates of numerics beside core's: values, display scale, NULLs, special values, ends, moving frames.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
\pset null '(null)'

-- A query's rows with core's aggregates (@ is nothing) when ours (@ is gpu_) give the same.
CREATE FUNCTION pg_temp.beside(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    core text;
    ours text;
BEGIN
    EXECUTE 'SELECT string_agg(q::text, E''\n'') FROM (' || replace(query, '@', '') || ') q' INTO core;
    EXECUTE 'SELECT string_agg(q::text, E''\n'') FROM (' || replace(query, '@', 'gpu_') || ') q' INTO ours;
    IF ours IS DISTINCT FROM core THEN
        RETURN 'core: ' || core || E'\nours: ' || ours;
    END IF;
    RETURN CASE WHEN length(core) > 200 THEN 'the same' ELSE core END;
END $$;
CREATE FUNCTION pg_temp.all_beside(rest text) RETURNS text LANGUAGE sql AS $$
SELECT pg_temp.beside('SELECT @sum(x), @avg(x), @var_pop(x), @var_samp(x), @variance(x), @stddev_pop(x),
    @stddev_samp(x), @stddev(x) ' || rest) $$;

SELECT pg_temp.all_beside('FROM (VALUES (1.10), (2.9), (NULL), (-0.05)) v(x)');
SELECT pg_typeof(gpu_sum(x)), pg_typeof(gpu_avg(x)), pg_typeof(gpu_var_pop(x)), pg_typeof(gpu_stddev(x))
FROM (VALUES (1.10), (2.9)) v(x);

-- Every stored form is read as core reads it: the sum of one value is that value.
CREATE TEMP TABLE stored (i int, x numeric);
ALTER TABLE stored ALTER x SET STORAGE EXTERNAL;
INSERT INTO stored SELECT row_number() OVER (), v::numeric FROM (
    SELECT sign || repeat(digits, n) || 'e' || e AS v
    FROM unnest(ARRAY['', '-']) sign, unnest(ARRAY['1', '12', '9999', '10000', '70030001']) digits,
        unnest(ARRAY[1, 2, 5]) n, unnest(ARRAY[-300, -70, -64, -63, -20, -5, -1, 0, 1, 4, 30, 255, 256, 300]) e) f;
INSERT INTO stored VALUES (0, 'NaN'), (-1, 'Infinity'), (-2, '-Infinity'), (-3, '0'), (-4, '0.000'),
    (-5, repeat('1234567890', 2000)::numeric), (-6, ('-0.' || repeat('0987654321', 1000))::numeric);
INSERT INTO stored SELECT i - 100, x FROM stored WHERE i BETWEEN -6 AND -5;
ALTER TABLE stored ALTER x SET STORAGE MAIN;
INSERT INTO stored SELECT i - 200, x + 0.0 FROM stored WHERE i BETWEEN -6 AND -5;
SELECT count(*), count(*) FILTER (WHERE s::text = x::text AND (a = x OR scale(x) > 1000))
FROM (SELECT i, gpu_sum(x) AS s, gpu_avg(x) AS a FROM stored GROUP BY i) g JOIN stored USING (i);
SELECT gpu_sum(x) = sum(x), gpu_avg(x) = avg(x), gpu_stddev(x) = stddev(x) FROM stored WHERE x < 'Infinity' AND x > '-Infinity';

-- No row, only NULLs, one row, two, equal ones.
SELECT w, pg_temp.all_beside(format('FROM (VALUES (1, 2.50), (2, -7), (3, NULL), (4, 2.5)) v(i, x) WHERE %s', w))
FROM unnest(ARRAY['false', 'i = 3', 'i = 1', 'i IN (1, 3)', 'i < 3', 'i IN (1, 4)']) w;

-- NaN and infinities.
SELECT v, pg_temp.all_beside(format('FROM (VALUES (1.5), (2), %s) v(x)', v))
FROM unnest(ARRAY['(''NaN'')', '(''Infinity'')', '(''-Infinity'')', '(''Infinity''), (''-Infinity'')',
                  '(''NaN''), (''Infinity'')']) v;
SELECT pg_temp.all_beside('FROM (VALUES (''Infinity''::numeric)) v(x)');

-- The edges of 64 and 128 bits; far apart; scales that change under way.
SELECT pg_temp.beside(format('SELECT @sum(x), @avg(x) FROM (SELECT %s::numeric + i %% 3 - 1 AS x
    FROM generate_series(1, 100) i) v', e))
FROM unnest(ARRAY['922e16', '9223372036854775807', '18446744073709551616', '1e20', '170141183460469231731687303715884105727',
                  '-340282366920938463463374607431768211456', '0.9223372036854775807', '1e-16', '1e38']) e;
SELECT pg_temp.beside(format('SELECT @var_pop(x), @stddev(x) FROM (SELECT %s::numeric + i %% 3 - 1 AS x
    FROM generate_series(1, 100) i) v', e))
FROM unnest(ARRAY['9223372036854775807', '-18446744073709551616', '1e20', '0.9223372036854775807', '1e-16', '1e38']) e;
SELECT pg_temp.all_beside('FROM (VALUES (1e200), (1e-200), (-1e200), (5)) v(x)');
SELECT pg_temp.all_beside('FROM (SELECT i / power(10::numeric, i / 700) AS x FROM generate_series(1, 20000) i) v');

-- Around the sizes of batches, plain and in groups.
SELECT n, pg_temp.all_beside(format('FROM (SELECT (i * 7919 %% 10007 - 5000)::numeric(15, 2) / 4 AS x
    FROM generate_series(1, %s) i) v', n)) !~ '^core' AS same
FROM unnest(ARRAY[0, 1, 2, 31, 32, 33, 2047, 2048, 2049, 4095, 4096, 4097, 70000]) n;
SELECT pg_temp.beside('SELECT g, @sum(x), @avg(x), @stddev(x) FROM (
    SELECT i % 3 AS g, i * 0.01 + CASE WHEN i % 1000 = 0 THEN 1e30 ELSE 0 END AS x FROM generate_series(1, 20000) i) v
    GROUP BY ROLLUP (g) ORDER BY g');

-- Moving frames: the display scale follows the frame.
SELECT pg_temp.beside('SELECT i, @sum(x) OVER w AS s, @avg(x) OVER w AS a, @var_pop(x) OVER w AS v FROM (VALUES
    (1, 1.000), (2, 2.5), (3, NULL), (4, ''NaN''), (5, 7), (6, 1e40), (7, -3.25), (8, ''Infinity''), (9, 0.00), (10, 4)) v(i, x)
    WINDOW w AS (ORDER BY i ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)');
SELECT i, gpu_sum(x) OVER w, gpu_avg(x) OVER w FROM (VALUES (1, 1.000), (2, 2.5), (3, 2), (4, 1e20), (5, 3)) v(i, x)
WINDOW w AS (ORDER BY i ROWS 1 PRECEDING) ORDER BY i;

-- The ends of what numeric can store.
SELECT pg_temp.beside('SELECT length(@sum(x)::text), @variance(x) FROM (VALUES (1e131071), (1e131071)) v(x)');
SELECT sum(x) FROM (VALUES (9e131071), (9e131071)) v(x);
SELECT gpu_sum(x) FROM (VALUES (9e131071), (9e131071)) v(x);
SELECT gpu_avg(x) FROM (VALUES (9e131071), (9e131071)) v(x);
SELECT gpu_sum(x) = -1 FROM (VALUES (9e131071), (9e131071), (-9e131071), (-9e131071), (-1)) v(x);
SELECT gpu_variance(x) FROM (VALUES (1e131071), (-1)) v(x);
-- core takes the root of a variance that it could not store
SELECT gpu_stddev(x) FROM (VALUES (1e131071), (-1)) v(x);
SELECT gpu_sum(x) = sum(x), gpu_var_pop(x) = var_pop(x) FROM (VALUES ('1e-16383'::numeric), ('3e-16383')) v(x);

-- Distinct, ordered, filtered.
SELECT gpu_sum(DISTINCT x), gpu_avg(DISTINCT x), gpu_sum(x ORDER BY x), gpu_stddev(x) FILTER (WHERE x > 1)
FROM (VALUES (1.5), (2.5), (1.5), (4.25)) v(x);

-- Parallel plans.
CREATE TABLE numerics_parallel AS SELECT i % 7 AS g, i * 1.01 + CASE WHEN i % 5000 = 0 THEN 1e25 ELSE 0 END AS x
FROM generate_series(1, 30000) i;
INSERT INTO numerics_parallel VALUES (8, 'NaN'), (9, 'Infinity'), (10, NULL);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT gpu_sum(x), gpu_avg(x), gpu_stddev(x) FROM numerics_parallel;
SELECT pg_temp.beside('SELECT g, @sum(x), @avg(x), @var_pop(x), @stddev(x) FROM numerics_parallel GROUP BY g ORDER BY g');
SELECT pg_temp.all_beside('FROM numerics_parallel WHERE g < 8');
DROP TABLE numerics_parallel;
