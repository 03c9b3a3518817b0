-- Running functions: frames, peers, partitions, NULLs, exclusive, errors; every function and type.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
\pset null '(null)'

CREATE TABLE running (i int, g int, k int, x2 int2, x4 int4, x8 int8, e4 float4, e8 float8,
                      n numeric);
INSERT INTO running SELECT i, i % 3, i / 4, i, CASE WHEN i % 5 <> 0 THEN i END, i * 10000000000,
       i / 4.0, i / 8.0, round(i / 7.0, i % 5) FROM generate_series(1, 20) i;
INSERT INTO running (i, x4) VALUES (0, NULL);
ANALYZE running;

SELECT i, gpu_running_sum(x2) OVER w AS x2, gpu_running_sum(x4) OVER w AS x4,
       gpu_running_sum(x8) OVER w AS x8, gpu_running_sum(e4) OVER w AS e4,
       gpu_running_sum(e8) OVER w AS e8, gpu_running_sum(n) OVER w AS n
FROM running WINDOW w AS (ORDER BY i ROWS UNBOUNDED PRECEDING) ORDER BY i;
-- Core's: no difference.
SELECT count(*) FROM (
    (SELECT i, gpu_running_sum(x2) OVER w, gpu_running_sum(x4) OVER w, gpu_running_sum(x8) OVER w,
            gpu_running_sum(e4) OVER w, gpu_running_sum(e8) OVER w, (gpu_running_sum(n) OVER w)::text
     FROM running WINDOW w AS (ORDER BY i ROWS UNBOUNDED PRECEDING))
    EXCEPT ALL
    (SELECT i, sum(x2) OVER w, sum(x4) OVER w, sum(x8) OVER w, sum(e4) OVER w, sum(e8) OVER w,
            (sum(n) OVER w)::text
     FROM running WINDOW w AS (ORDER BY i ROWS UNBOUNDED PRECEDING))) d;

-- The default frame includes peers; ROWS does not.
SELECT k, i, gpu_running_sum(x4) OVER (ORDER BY k) AS gpu, sum(x4) OVER (ORDER BY k) AS core,
       gpu_running_sum(x4) OVER (ORDER BY k, i ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
       AS gpu_rows FROM running ORDER BY k, i;
SELECT i, gpu_running_sum(e8) OVER (ORDER BY k RANGE UNBOUNDED PRECEDING) =
       sum(e8) OVER (ORDER BY k) AS same FROM running WHERE i BETWEEN 1 AND 5 ORDER BY i;
-- Without ORDER BY all rows of the partition are peers.
SELECT i, gpu_running_sum(x4) OVER () AS whole, gpu_running_sum(x4) OVER (PARTITION BY g) AS part
FROM running WHERE i < 8 ORDER BY i;
SELECT i, gpu_running_sum(x4) OVER (PARTITION BY g ORDER BY i) AS gpu,
       sum(x4) OVER (PARTITION BY g ORDER BY i) AS core FROM running ORDER BY g, i;
SELECT i, gpu_running_sum(x8) OVER (PARTITION BY g ORDER BY i DESC ROWS UNBOUNDED PRECEDING) AS gpu,
       sum(x8) OVER (PARTITION BY g ORDER BY i DESC ROWS UNBOUNDED PRECEDING) AS core
FROM running ORDER BY g, i DESC;

-- exclusive: the rows before this one.
SELECT i, x4, gpu_running_sum(x4, true) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS gpu,
       sum(x4) OVER (ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS core,
       gpu_running_sum(x4, false) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS inclusive
FROM running ORDER BY i;
SELECT g, i, gpu_running_sum(e8, exclusive => true) OVER
           (PARTITION BY g ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS gpu,
       gpu_running_sum(n, true) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS gpu_n,
       sum(n) OVER (PARTITION BY g ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS core_n
FROM running WHERE i BETWEEN 1 AND 9 ORDER BY g, i;
PREPARE exclusive_as(boolean) AS SELECT i, gpu_running_sum(x4, $1) OVER
    (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM running WHERE i BETWEEN 1 AND 3 ORDER BY i;
EXECUTE exclusive_as(true);
EXECUTE exclusive_as(false);
EXECUTE exclusive_as(NULL);
SET plan_cache_mode = force_generic_plan;
EXECUTE exclusive_as(true);
RESET plan_cache_mode;
DEALLOCATE exclusive_as;

-- Rows without order: each peer group is everything, each row its own partition, one row, none.
SELECT gpu_running_sum(x4) OVER (PARTITION BY i ROWS UNBOUNDED PRECEDING) AS own,
       gpu_running_sum(x4, true) OVER (PARTITION BY i ROWS UNBOUNDED PRECEDING) AS before
FROM running WHERE i BETWEEN 4 AND 6 ORDER BY i;
SELECT gpu_running_sum(1) OVER (ROWS UNBOUNDED PRECEDING) FROM generate_series(1, 4);
SELECT gpu_running_sum(x) OVER (ORDER BY x) FROM generate_series(1, 0) x;
SELECT gpu_running_sum(NULL::float8) OVER (ORDER BY x) FROM generate_series(1, 2) x;

-- Floats: each row is the exact sum of its frame, rounded once.
SELECT i, gpu_running_sum(v) OVER (ORDER BY i) FROM
    (VALUES (1, 1e16::float8), (2, 1), (3, 1), (4, -1e16), (5, 0.25)) t(i, v);
SELECT i, gpu_running_sum(v) OVER (ORDER BY i) FROM
    (VALUES (1, '-0'::float8), (2, '-0'), (3, NULL), (4, 0), (5, '-0')) t(i, v);
SELECT i, gpu_running_sum(v) OVER (ORDER BY i) FROM
    (VALUES (1, 1::float8), (2, 'inf'), (3, 1), (4, '-inf'), (5, 1)) t(i, v);
SELECT i, gpu_running_sum(v) OVER (ORDER BY i) FROM
    (VALUES (1, NULL::float4), (2, 16777216), (3, 1), (4, 1), (5, 1), (6, 1)) t(i, v);
-- Out of range: an error for the row that is, not for the rows before it.
SELECT i, gpu_running_sum(v) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM
    (VALUES (1, 1e308::float8), (2, 1e308), (3, -1e308)) t(i, v);
SELECT i, gpu_running_sum(v) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM
    (VALUES (1, 1e308::float8), (2, 1e308), (3, -1e308)) t(i, v) LIMIT 1;
SELECT i, gpu_running_sum(v) OVER (ORDER BY i) FROM
    (VALUES (1, 1e308::float8), (1, 1e308), (1, -1e308)) t(i, v);
SELECT i, gpu_running_sum(v) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM
    (SELECT i, CASE WHEN i < 4000 THEN 1 ELSE 1e308::float8 END AS v
     FROM generate_series(1, 4010) i) t OFFSET 3997 LIMIT 3;
SELECT gpu_running_sum(v) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM
    (VALUES (1, 3e38::float4), (2, 3e38)) t(i, v);
SELECT i, gpu_running_sum(v) OVER (ORDER BY i) AS gpu, sum(v) OVER (ORDER BY i) AS core FROM
    (VALUES (1, 9223372036854775807), (2, 9223372036854775807), (3, -1)) t(i, v);

-- Other frames: errors that name the aggregate to use.
\set VERBOSITY default
SELECT gpu_running_sum(x4) OVER (ORDER BY i ROWS 2 PRECEDING) FROM running;
SELECT gpu_running_sum(x4, true) OVER (ORDER BY i) FROM running;
\set VERBOSITY terse
CREATE FUNCTION state_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    told text;
    hint text;
BEGIN
    EXECUTE query;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS told = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN SQLSTATE || CASE WHEN told || hint LIKE '%gpu_sum(...) OVER (...)%' THEN ' names gpu_sum' ELSE '' END;
END
$$;
SELECT f, state_of(format('SELECT gpu_running_sum(x4) OVER (%s) FROM running', f)) AS inclusive,
       state_of(format('SELECT gpu_running_sum(e8, true) OVER (%s) FROM running', f)) AS exclusive
FROM unnest(ARRAY[
    'ORDER BY i ROWS UNBOUNDED PRECEDING',
    'ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW',
    'ORDER BY i',
    'ORDER BY i RANGE UNBOUNDED PRECEDING',
    'PARTITION BY g',
    '',
    'ORDER BY i ROWS 2 PRECEDING',
    'ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING',
    'ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING',
    'ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING',
    'ORDER BY i ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING',
    'ORDER BY i RANGE BETWEEN 1 PRECEDING AND CURRENT ROW',
    'ORDER BY i RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING',
    'ORDER BY i GROUPS UNBOUNDED PRECEDING',
    'ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW',
    'ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE NO OTHERS',
    'ORDER BY i RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES'
]) f;
SELECT state_of('SELECT gpu_running_sum(x4, NULL) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM running')
       AS null_exclusive,
       state_of('SELECT gpu_running_sum(x4, i > 3) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM running')
       AS varying_exclusive,
       state_of('SELECT gpu_running_sum(x4) FROM running') AS without_over,
       state_of('SELECT gpu_running_sum(x4) FILTER (WHERE x4 > 1) OVER (ORDER BY i) FROM running')
       AS filtered,
       state_of('SELECT gpu_running_sum(DISTINCT x4) OVER (ORDER BY i) FROM running') AS distinct_values,
       state_of('SELECT gpu_running_sum(''x''::text) OVER (ORDER BY i) FROM running') AS of_text,
       state_of('SELECT 1 FROM running WHERE gpu_running_sum(x4) OVER (ORDER BY i) > 1') AS in_where;
-- Without rows no frame is an error, as for any window function.
SELECT gpu_running_sum(x4) OVER (ORDER BY i ROWS 2 PRECEDING) FROM running WHERE false;

-- In larger queries: several windows, grouping below, LIMIT, a condition on the result, rescans.
SELECT i, gpu_running_sum(x4) OVER (ORDER BY i) AS up, gpu_running_sum(x4) OVER (ORDER BY i DESC) AS down,
       row_number() OVER (ORDER BY i) AS row, gpu_sum(x4) OVER (ORDER BY i ROWS 1 PRECEDING) AS two
FROM running WHERE i BETWEEN 1 AND 6 ORDER BY i;
SELECT g, gpu_running_sum(gpu_sum(x4)) OVER (ORDER BY g) AS gpu, sum(sum(x4)) OVER (ORDER BY g) AS core
FROM running GROUP BY g ORDER BY g;
SELECT * FROM (SELECT i, gpu_running_sum(x4) OVER (ORDER BY i) AS s FROM running) q WHERE s < 10;
SELECT i, gpu_running_sum(x4) OVER (ORDER BY i) FROM running ORDER BY i LIMIT 3;
SELECT a.k, l.i, l.s FROM generate_series(1, 3) a(k), LATERAL
    (SELECT i, gpu_running_sum(x4 * a.k) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS s FROM running
     WHERE i BETWEEN 1 AND 3) l ORDER BY a.k, l.i;
SELECT gpu_running_sum(gpu_running_sum(x4) OVER (ORDER BY i)) OVER (ORDER BY i) FROM running;

-- Every function and type beside core's aggregate with the same frame: rows that differ in their text.
CREATE TABLE typed (i int, g int, k int, int2 int2, int4 int4, int8 int8, float4 float4, float8 float8,
                    "numeric" numeric, money money, "interval" interval, date date, "time" time,
                    "timestamp" timestamp, timestamptz timestamptz, text text);
INSERT INTO typed SELECT i, i % 3, i / 4, v, v * 1000, v * 10000000000, v / 4.0::float4, v / 8.0::float8,
       round(v / 7.0, abs(v % 5)), v / 100.0, v * interval '1 day 50 min', date '2026-11-21' + v,
       time '12:00' + v * interval '1 min', timestamp '2026-11-21' + v * interval '1 h',
       timestamptz '2026-11-21 00:00+00' + v * interval '1 h', v::text
FROM (SELECT i, CASE WHEN i % 6 > 0 THEN i * 7919 % 199 - 99 END AS v FROM generate_series(1, 100) i) q;
ANALYZE typed;
CREATE FUNCTION running_differing(function text, type text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM (SELECT '
        'ARRAY[gpu_running_%1$s(%2$I) OVER a, gpu_running_%1$s(%2$I) OVER b, gpu_running_%1$s(%2$I) OVER c, '
        'gpu_running_%1$s(%2$I) OVER d, gpu_running_%1$s(%2$I, true) OVER b]::text AS ours, '
        'ARRAY[%1$s(%2$I) OVER a, %1$s(%2$I) OVER b, %1$s(%2$I) OVER c, %1$s(%2$I) OVER d, '
        '%1$s(%2$I) OVER (PARTITION BY g ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)]::text '
        'AS core FROM typed WINDOW a AS (ORDER BY i ROWS UNBOUNDED PRECEDING), '
        'b AS (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING), c AS (ORDER BY k), '
        'd AS (PARTITION BY g)) q WHERE ours IS DISTINCT FROM core', function, type) INTO n;
    RETURN n;
END
$$;
SELECT type, string_agg(function || ' ' || running_differing(function, type), ', ' ORDER BY function)
FROM unnest(ARRAY['int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'money', 'interval', 'date',
                  'time', 'timestamp', 'timestamptz', 'text']) type,
     unnest(ARRAY['sum', 'avg', 'min', 'max', 'count']) function
WHERE to_regprocedure(format('gpu_running_%s(%s, boolean)', function, type)) IS NOT NULL
      OR function = 'count'
GROUP BY type ORDER BY type;
DROP FUNCTION running_differing;

-- Averages of floats: the exact sum divided, rounded once; core's overflow on the way.
SELECT i, gpu_running_avg(v) OVER (ORDER BY i) FROM
    (VALUES (1, 1e308::float8), (2, 1e308), (3, -1e308), (4, 1)) t(i, v);
SELECT i, gpu_running_avg(v) OVER (ORDER BY i) FROM
    (VALUES (1, 0.1::float4), (2, 0.2), (3, 'NaN')) t(i, v);
SELECT i, gpu_running_avg(v) OVER (ORDER BY i) FROM
    (VALUES (1, 1::float8), (2, 'inf'), (3, '-inf')) t(i, v);
-- Values that are equal but look different: the same one wins in any order of rows.
SELECT i, v, gpu_running_min(v) OVER w, gpu_running_max(v) OVER w FROM
    (VALUES (1, 0::float8), (2, '-0'), (3, 0), (4, 'NaN'), (5, '-inf')) t(i, v)
WINDOW w AS (ORDER BY i ROWS UNBOUNDED PRECEDING);
SELECT i, v, gpu_running_min(v) OVER w, gpu_running_max(v) OVER w FROM
    (VALUES (1, 1.0), (2, 1.00), (3, 1), (4, 'NaN'::numeric), (5, '-inf'), (6, 'inf')) t(i, v)
WINDOW w AS (ORDER BY i ROWS UNBOUNDED PRECEDING);
SELECT i, v, gpu_running_min(v) OVER w, gpu_running_max(v) OVER w FROM
    (VALUES (1, interval '30 days'), (2, '1 mon'), (3, '720:00'), (4, '1 mon')) t(i, v)
WINDOW w AS (ORDER BY i ROWS UNBOUNDED PRECEDING);
-- Counts of any type; 0 without values.
SELECT i, gpu_running_count(v) OVER w AS n, gpu_running_count(v, true) OVER w AS before,
       gpu_running_count(1) OVER w AS rows, gpu_running_count(t) OVER w AS whole,
       gpu_running_count(NULL) OVER w AS none
FROM (VALUES (1, NULL), (2, 'a'), (3, NULL), (4, 'b')) t(i, v)
WINDOW w AS (ORDER BY i ROWS UNBOUNDED PRECEDING);
SELECT i, gpu_running_count(v) OVER (ORDER BY k) FROM
    (VALUES (1, 1, NULL), (2, 1, 'a'), (3, 2, NULL)) t(i, k, v) ORDER BY i;
-- Domains are their base types.
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
SELECT i, gpu_running_sum(i::positive) OVER (ORDER BY i), gpu_running_avg(i::positive) OVER (ORDER BY i),
       gpu_running_count(i::positive) OVER (ORDER BY i) FROM generate_series(1, 3) i;
DROP DOMAIN positive;
-- Out of range: an error for the row that is.
SELECT i, gpu_running_sum(v) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM
    (VALUES (1, 92233720368547758.07::money), (2, 0.01::money)) t(i, v) LIMIT 1;
SELECT i, gpu_running_sum(v) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM
    (VALUES (1, 92233720368547758.07::money), (2, 0.01::money)) t(i, v);
SELECT i, gpu_running_sum(v) OVER (ORDER BY i) FROM
    (VALUES (1, 92233720368547758.07::money), (1, 0.01::money), (1, '-5')) t(i, v);
SELECT i, gpu_running_sum(v) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM
    (VALUES (1, interval '2147483647 mons'), (2, '1 mon'), (3, '-1 mon')) t(i, v) LIMIT 1;
SELECT i, gpu_running_sum(v) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM
    (VALUES (1, interval '2147483647 mons'), (2, '1 mon'), (3, '-1 mon')) t(i, v);
SELECT i, gpu_running_avg(v) OVER (ORDER BY i) FROM
    (VALUES (1, interval '2147483647 mons'), (1, '1 mon'), (1, '-2 mons')) t(i, v);
-- Errors name the function, and the aggregate for other frames.
\set VERBOSITY default
SELECT gpu_running_avg(x4) OVER (ORDER BY i ROWS 2 PRECEDING) FROM running;
SELECT gpu_running_count(x4) OVER (ORDER BY i ROWS 2 PRECEDING) FROM running;
SELECT gpu_running_min(x4, true) OVER (ORDER BY i) FROM running;
\set VERBOSITY terse
SELECT gpu_running_sum(d) OVER (ORDER BY d) FROM (VALUES (date '2026-11-21')) t(d);
DROP TABLE typed;

-- Many rows: partitions large and small, peers beyond a batch, beside core.
CREATE TABLE many AS SELECT i, i % 2 AS g, i / 500 AS d, i / 6000 AS k, CASE WHEN i % 10 <> 0 THEN i END AS x4,
    i * 100000000000 AS x8, (i % 1000)::float8 / 8 AS e8, (i % 100)::numeric / 10 AS n
FROM generate_series(1, 30000) i;
ANALYZE many;
SET gpuagg.batch_rows = 1024;
CREATE FUNCTION differing(over_clause text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM (SELECT gpu_running_sum(x4) OVER w AS a, sum(x4) OVER w AS b, '
                   'gpu_running_sum(x8) OVER w AS c, sum(x8) OVER w AS d, gpu_running_sum(e8) OVER w AS e, '
                   'sum(e8) OVER w AS f, gpu_running_sum(n) OVER w AS g, sum(n) OVER w AS h FROM many '
                   'WINDOW w AS (%s)) q WHERE (a, c, e, g) IS DISTINCT FROM (b, d, f, h)', over_clause)
    INTO n;
    RETURN n;
END
$$;
SELECT f, differing(f) FROM unnest(ARRAY[
    'ORDER BY i ROWS UNBOUNDED PRECEDING',
    'PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING',
    'PARTITION BY d ORDER BY i ROWS UNBOUNDED PRECEDING',
    'ORDER BY i',
    'ORDER BY d',
    'ORDER BY k',
    'PARTITION BY g ORDER BY k DESC',
    ''
]) f;
SELECT count(*) FROM (SELECT gpu_running_sum(x4, true) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS a,
    sum(x4) OVER (ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS b,
    gpu_running_sum(e8, true) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS c,
    sum(e8) OVER (ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS d FROM many) q
WHERE (a, c) IS DISTINCT FROM (b, d);
SELECT i, gpu_running_sum(x4) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM many OFFSET 2998 LIMIT 3;
-- Rescanned before its end.
SELECT z, l.* FROM generate_series(1, 3) z, LATERAL
    (SELECT i, gpu_running_sum(x8) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS x8,
            gpu_running_sum(e8) OVER (ORDER BY i) AS e8 FROM many WHERE i >= z * 5000 LIMIT 2) l;
SELECT z, l.* FROM generate_series(1, 3) z, LATERAL
    (SELECT i, gpu_running_sum(e8) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS s
     FROM many WHERE i >= z * 5000 OFFSET 1600 LIMIT 1) l;
RESET gpuagg.batch_rows;
DROP TABLE running, many;
DROP FUNCTION state_of, differing;
