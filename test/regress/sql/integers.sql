-- Aggregates of integers and money beside core's: values, display scale, NULLs, extremes, errors.
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

CREATE TEMP TABLE integers (i int, a int2, b int4, c int8, m money);
INSERT INTO integers SELECT i, i, -i * 1000, i * 10000000000, i / 7.0 FROM generate_series(1, 100) i;
INSERT INTO integers VALUES (101);
SELECT pg_temp.beside('SELECT @sum(a), @avg(a), @var_pop(a), @var_samp(a), @variance(a), @stddev_pop(a),
    @stddev_samp(a), @stddev(a) FROM integers');
SELECT pg_temp.beside('SELECT @sum(b), @avg(b), @var_pop(b), @var_samp(b), @variance(b), @stddev_pop(b),
    @stddev_samp(b), @stddev(b) FROM integers');
SELECT pg_temp.beside('SELECT @sum(c), @avg(c), @var_pop(c), @var_samp(c), @variance(c) FROM integers');
SELECT pg_temp.beside('SELECT @stddev_pop(c), @stddev_samp(c), @stddev(c), @sum(m) FROM integers');
SELECT pg_typeof(gpu_avg(a)), pg_typeof(gpu_avg(b)), pg_typeof(gpu_avg(c)), pg_typeof(gpu_sum(m)),
       pg_typeof(gpu_var_pop(a)), pg_typeof(gpu_stddev(b)), pg_typeof(gpu_variance(c)) FROM integers;

-- No row, only NULLs, one row, two.
SELECT pg_temp.beside(format('SELECT @avg(c), @var_pop(c), @var_samp(c), @stddev_pop(c), @stddev(c), @sum(m)
    FROM integers WHERE %s', w))
FROM unnest(ARRAY['false', 'i = 101', 'i IN (7, 101)', 'i < 3']) w;

-- Around the sizes of batches, plain and in groups.
SELECT n, pg_temp.beside(format('SELECT @sum(x::int2), @avg(x::int2), @stddev(x::int2), @avg(y), @variance(y),
    @avg(y * 1000000000), @var_pop(y * 1000000000), @sum(y::money)
    FROM (SELECT i %% 30000 AS x, i::int8 * 77777 - 50000000 AS y FROM generate_series(1, %s) i) v', n))
       !~ '^core' AS same
FROM unnest(ARRAY[0, 1, 2, 31, 32, 33, 2047, 2048, 2049, 4095, 4096, 4097, 70000]) n;
SELECT pg_temp.beside('SELECT g, @sum(x), @avg(x), @stddev(x), @var_pop(x::int8 << 40) FROM (
    SELECT i % 3 AS g, i AS x FROM generate_series(1, 20000) i) v GROUP BY ROLLUP (g) ORDER BY g');

-- Extremes.
SELECT pg_temp.beside('SELECT @avg(x), @var_pop(x), @stddev(x) FROM (VALUES (32767::int2), (-32768), (-32768)) v(x)');
SELECT pg_temp.beside('SELECT @avg(x), @var_pop(x), @stddev(x)
    FROM (VALUES (2147483647), (-2147483648), (-2147483648)) v(x)');
SELECT pg_temp.beside('SELECT @avg(x), @var_pop(x), @stddev(x)
    FROM (VALUES (9223372036854775807), (''-9223372036854775808''), (''-9223372036854775808'')) v(x)');
SELECT pg_temp.beside('SELECT @avg(x), @variance(x), @stddev_pop(x)
    FROM (SELECT 9223372036854775807 - i % 2 AS x FROM generate_series(1, 10001) i) v');
SELECT pg_temp.beside('SELECT @avg(x), @variance(x), @stddev_pop(x)
    FROM (SELECT CASE i % 2 WHEN 0 THEN 1 ELSE -1 END * 9223372036854775807 AS x
          FROM generate_series(1, 10001) i) v');

-- Equal values: a variance of plain zero.  The averages' display scale.
SELECT pg_temp.beside('SELECT @var_pop(5), @var_samp(5), @stddev(5) FROM generate_series(1, 3)');
SELECT pg_temp.beside('SELECT @avg(x), @avg(x * 10000), @avg(x * 100000000), @avg(x * 1000000000000), @avg(0)
    FROM (VALUES (1::int8), (2), (2)) v(x)');

-- Money is judged by the sum itself.
SELECT gpu_sum(x) FROM (VALUES ('92233720368547758.07'::money), ('0.01'), ('-0.01')) v(x);
SELECT gpu_sum(x) FROM (VALUES ('92233720368547758.07'::money), ('0.01')) v(x);
SELECT gpu_sum(x) FROM (VALUES ('-92233720368547758.08'::money), ('-0.01')) v(x);
SELECT gpu_avg('1'::money);
SELECT gpu_stddev('1'::money);

-- One state for a sum and an average, one for all variances; with FILTER, DISTINCT, ORDER BY.
SELECT pg_temp.beside('SELECT @sum(b), @avg(b), @sum(b) FILTER (WHERE a > 50) AS s, @avg(DISTINCT b / 5000) AS d,
    @var_pop(b) - @var_samp(b) AS v, @stddev(b ORDER BY a DESC) AS o FROM integers');

-- Moving frames take values away exactly; a frame may become empty, or hold NULLs alone.
SELECT pg_temp.beside(format('SELECT i, @sum(a) OVER w AS a, @avg(b) OVER w AS b, @stddev(c) OVER w AS c,
    @var_pop(x) OVER w AS x, @variance(b) OVER w AS v, @sum(m) OVER w AS m, @avg(x) OVER w AS y
    FROM (SELECT *, CASE i %% 3 WHEN 0 THEN 9223372036854775807 WHEN 1 THEN -9223372036854775808 END AS x
          FROM integers) s WINDOW w AS (ORDER BY i ROWS BETWEEN %s)', f))
FROM unnest(ARRAY['2 PRECEDING AND CURRENT ROW', '5 PRECEDING AND 3 PRECEDING', '1 FOLLOWING AND 9 FOLLOWING',
                  'CURRENT ROW AND UNBOUNDED FOLLOWING', '3 FOLLOWING AND 2 FOLLOWING',
                  '2 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW']) f;

-- Parallel workers hand their states over whole.
CREATE TABLE parallel_integers AS SELECT i % 5 AS g, (i % 1000)::int2 AS a, i AS b,
    i * 4611686018427::int8 AS c, i::money AS m FROM generate_series(1, 20000) i;
ANALYZE parallel_integers;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
EXPLAIN (COSTS OFF) SELECT gpu_avg(a), gpu_variance(b), gpu_stddev(c), gpu_sum(m) FROM parallel_integers;
SELECT pg_temp.beside('SELECT @avg(a), @variance(b), @stddev(c), @sum(m), @var_pop(a) FROM parallel_integers');
SELECT pg_temp.beside('SELECT g, @avg(a), @variance(b), @stddev(c), @sum(m) FROM parallel_integers
    GROUP BY g ORDER BY g');
DROP TABLE parallel_integers;
