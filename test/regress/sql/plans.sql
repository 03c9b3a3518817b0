-- Plans: of the same shape as core's, and parallel ones whose results are those of serial ones.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
SET gpuagg.enable_window_scan = off; -- of which window_plans tells
SET gpuagg.enable_agg_scan = off; -- of which agg_plans tells

-- The plan of a query, with our names replaced by core's and the costs left out.
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    plan text := '';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF, VERBOSE) ' || query LOOP
        plan := plan || replace(replace(line, 'gpu_sum', 'sum'), 'gpu_count', 'count') || E'\n';
    END LOOP;
    RETURN plan;
END
$$;
CREATE FUNCTION same_plan(query text) RETURNS boolean LANGUAGE sql AS $$
    SELECT plan_of(query) = plan_of(replace(replace(query, 'gpu_sum', 'sum'), 'gpu_count', 'count'))
$$;
CREATE FUNCTION is_parallel(query text) RETURNS boolean LANGUAGE sql AS $$
    SELECT plan_of(query) ~ 'Gather' AND plan_of(query) ~ 'Partial'
$$;

CREATE TABLE million (g int, h int, x4 int4, x8 int8, e4 float4, e8 float8, n numeric);
INSERT INTO million SELECT i, i % 1000, i, i, i % 1000, (i % 1000) / 8.0, i
FROM generate_series(1, 1000000) i;
ANALYZE million;

-- A million groups, a thousand, one: as core plans them, with little memory and with much.
-- (Between, where only states of 8 bytes all fit, core may hash a rollup that we sort.)
CREATE TEMP TABLE shapes AS SELECT t.c, q.n, replace(q.q, '$', t.c) AS query
FROM unnest(ARRAY['x4', 'x8', 'e4', 'e8', 'n']) t(c),
     (VALUES (1, 'SELECT gpu_sum($) FROM million'),
             (2, 'SELECT g, gpu_sum($) FROM million GROUP BY g'),
             (3, 'SELECT h, gpu_sum($) FROM million GROUP BY h'),
             (4, 'SELECT g, gpu_sum($) FROM million GROUP BY g ORDER BY g'),
             (5, 'SELECT h, gpu_sum($) FROM million GROUP BY h ORDER BY h'),
             (6, 'SELECT gpu_sum($) OVER (PARTITION BY h ORDER BY g) FROM million'),
             (7, 'SELECT gpu_count($), gpu_count(*) FROM million'),
             (8, 'SELECT g, h, gpu_sum($) FROM million GROUP BY ROLLUP (g, h)')) q(n, q);
SELECT setting, count(*) FROM (SELECT '4MB' AS setting, c, n FROM shapes WHERE same_plan(query)) s
GROUP BY setting;
SELECT query FROM shapes WHERE NOT same_plan(query) ORDER BY n, c;
SET work_mem = '32MB';
SELECT query FROM shapes WHERE NOT same_plan(query) ORDER BY n, c;
SET work_mem = '1GB';
SELECT query FROM shapes WHERE NOT same_plan(query) ORDER BY n, c;
SET max_parallel_workers_per_gather = 0;
SELECT query FROM shapes WHERE NOT same_plan(query) ORDER BY n, c;
RESET work_mem;
SELECT query FROM shapes WHERE NOT same_plan(query) ORDER BY n, c;
RESET max_parallel_workers_per_gather;

-- A million groups, and a million rows, run.
SELECT count(*), gpu_sum(a), gpu_sum(b) FROM
    (SELECT g, gpu_sum(x8) AS a, gpu_sum(e8) AS b FROM million GROUP BY g) q;
SELECT gpu_sum(x4), gpu_sum(x8), gpu_sum(e4), gpu_sum(e8), gpu_sum(n), gpu_count(*) FROM million;
SELECT sum(x4), sum(x8), sum(e4::float8)::float4, sum(e8), sum(n), count(*) FROM million;
SELECT gpu_running_sum(x8) OVER w, gpu_running_sum(e8) OVER w, gpu_running_sum(x4, true) OVER w
FROM million WINDOW w AS (ORDER BY g ROWS UNBOUNDED PRECEDING) OFFSET 999999;
SELECT count(*) FROM (SELECT gpu_running_sum(x8) OVER w AS a, sum(x8) OVER w AS b FROM million
    WINDOW w AS (PARTITION BY h ORDER BY g ROWS UNBOUNDED PRECEDING)) q WHERE a <> b;

-- Compiled by JIT, with everything inlined that can be.
SET jit = on;
SET jit_above_cost = 0;
SET jit_inline_above_cost = 0;
SET jit_optimize_above_cost = 0;
SELECT gpu_sum(x4), gpu_sum(x8), gpu_sum(e8), gpu_count(*), gpu_sum(n) FROM million WHERE h = 7;
SELECT sum(x4), sum(x8), sum(e8), count(*), sum(n) FROM million WHERE h = 7;
SELECT gpu_sum(x4) FILTER (WHERE g < 10), gpu_sum('NaN'::float8), gpu_sum(NULL::int8) FROM million WHERE h = 7;
RESET jit;
RESET jit_above_cost;
RESET jit_inline_above_cost;
RESET jit_optimize_above_cost;

-- Parallel plans.
CREATE TABLE parallel (i int, g int, h int, x4 int4, x8 int8, e4 float4, e8 float8, n numeric);
INSERT INTO parallel SELECT i, i % 7, i % 3, CASE WHEN i % 5 <> 0 THEN i END, i::int8 * 1000000007,
       (i % 500) / 4.0, (i % 977) * 0.1::float8 * power(10, i % 30), (i / 100.0)::numeric
FROM generate_series(1, 30000) i;
ANALYZE parallel;
CREATE TEMP TABLE serial_sums AS SELECT gpu_sum(x4) AS a, gpu_sum(x8) AS b, gpu_sum(e4) AS c,
    gpu_sum(e8) AS d, gpu_sum(n) AS e, gpu_count(x4) AS f, gpu_count(*) AS m FROM parallel;
CREATE TEMP TABLE serial_groups AS SELECT g, gpu_sum(x4) AS a, gpu_sum(x8) AS b, gpu_sum(e4) AS c,
    gpu_sum(e8) AS d, gpu_sum(n) AS e, gpu_count(x4) AS f, gpu_count(*) AS m FROM parallel
    GROUP BY g;
CREATE VIEW sums AS SELECT gpu_sum(x4) AS a, gpu_sum(x8) AS b, gpu_sum(e4) AS c,
    gpu_sum(e8) AS d, gpu_sum(n) AS e, gpu_count(x4) AS f, gpu_count(*) AS m FROM parallel;
CREATE VIEW groups AS SELECT g, gpu_sum(x4) AS a, gpu_sum(x8) AS b, gpu_sum(e4) AS c,
    gpu_sum(e8) AS d, gpu_sum(n) AS e, gpu_count(x4) AS f, gpu_count(*) AS m FROM parallel
    GROUP BY g;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 4;
SELECT is_parallel('SELECT * FROM sums') AS ungrouped, is_parallel('SELECT * FROM groups') AS grouped;
SELECT same_plan('SELECT gpu_sum(e8), gpu_sum(x8), gpu_count(*) FROM parallel') AS same;
SELECT (SELECT sums FROM sums)::text = (SELECT serial_sums FROM serial_sums)::text AS same;
SELECT count(*) FROM (TABLE groups EXCEPT ALL TABLE serial_groups) d;
SELECT count(*) FROM (TABLE serial_groups EXCEPT ALL TABLE groups) d;
SELECT gpu_sum(x4), gpu_sum(x8), gpu_sum(e4), gpu_sum(n), gpu_count(x4), gpu_count(*) FROM parallel;
SELECT sum(x4), sum(x8), sum(e4), sum(n), count(x4), count(*) FROM parallel;
-- Workers that see no row, only NULLs, or a few rows.
SELECT gpu_sum(x4), gpu_sum(e8), gpu_count(*) FROM parallel WHERE i < 0;
SELECT gpu_sum(x4), gpu_sum(e4), gpu_count(*) FROM parallel WHERE i % 5 = 0 AND i < 50;
SELECT gpu_sum(e8), sum(e8) FROM parallel WHERE i = 17;
SELECT gpu_sum(CASE WHEN i = 29999 THEN '-0'::float8 END) FROM parallel;
SELECT gpu_sum('-0'::float8) FROM parallel;
SELECT gpu_sum(CASE WHEN i = 29999 THEN 'NaN' ELSE e8 END) FROM parallel;
SELECT gpu_sum(CASE WHEN i % 2 = 0 THEN 1e308::float8 ELSE -1e308 END) FROM parallel;
SELECT gpu_sum(1e308::float8) FROM parallel;
SELECT gpu_sum(x4) FROM parallel HAVING gpu_count(*) = 30000;
-- Without the leader.
SET parallel_leader_participation = off;
SELECT (SELECT sums FROM sums)::text = (SELECT serial_sums FROM serial_sums)::text AS same;
SELECT count(*) FROM (TABLE groups EXCEPT ALL TABLE serial_groups) d;
-- Sorted groups, merged.
SET enable_hashagg = off;
SELECT count(*) FROM (TABLE groups EXCEPT ALL TABLE serial_groups) d;
RESET enable_hashagg;
-- More workers planned than there are.
SET max_parallel_workers = 0;
SELECT (SELECT sums FROM sums)::text = (SELECT serial_sums FROM serial_sums)::text AS same;
RESET max_parallel_workers;
RESET parallel_leader_participation;
-- What cannot be parallel: DISTINCT and ORDER BY inside.
SELECT gpu_sum(DISTINCT x4 % 100) AS gpu, sum(DISTINCT x4 % 100) AS core FROM parallel;
SELECT gpu_sum(e8 ORDER BY i DESC) = (SELECT d FROM serial_sums) AS same FROM parallel;
-- Joins and append plans.
SELECT gpu_sum(a.x4) AS gpu, sum(a.x4) AS core FROM parallel a JOIN parallel b USING (i);
SELECT gpu_sum(e8) = (SELECT gpu_sum(e8) FROM (SELECT e8 FROM parallel UNION ALL
    SELECT e8 FROM parallel OFFSET 0) q) AS same
FROM (SELECT e8 FROM parallel UNION ALL SELECT e8 FROM parallel) q;

-- Partition-wise aggregates, full and partial.
CREATE TABLE parts (i int, g int, x int, e float8) PARTITION BY HASH (g);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER 2);
INSERT INTO parts SELECT i, i % 20, i, (i % 977) * 0.1::float8 * power(10, i % 30)
FROM generate_series(1, 10000) i;
ANALYZE parts;
RESET ALL;
SET gpuagg.enable_agg_scan = off;
SET client_min_messages = warning;
CREATE TEMP TABLE plain AS SELECT g, i % 3 AS h, gpu_sum(x) AS a, gpu_sum(e) AS b FROM parts
    GROUP BY g, i % 3;
CREATE TEMP TABLE plain_h AS SELECT i % 3 AS h, gpu_sum(x) AS a, gpu_sum(e) AS b FROM parts
    GROUP BY i % 3;
SET enable_partitionwise_aggregate = on;
SELECT same_plan('SELECT g, gpu_sum(x), gpu_sum(e) FROM parts GROUP BY g') AS full_groups,
       same_plan('SELECT gpu_sum(x), gpu_sum(e) FROM parts') AS partial_groups;
SELECT plan_of('SELECT gpu_sum(x) FROM parts') ~ 'Partial Aggregate' AS partial;
SELECT count(*) FROM (SELECT g, i % 3, gpu_sum(x), gpu_sum(e) FROM parts GROUP BY g, i % 3
    EXCEPT ALL TABLE plain) d;
SELECT count(*) FROM (SELECT i % 3, gpu_sum(x), gpu_sum(e) FROM parts GROUP BY i % 3
    EXCEPT ALL TABLE plain_h) d;
SELECT gpu_sum(x), gpu_sum(e) = (SELECT gpu_sum(e) FROM (SELECT e FROM parts OFFSET 0) q) AS same
FROM parts;
RESET ALL;
SET client_min_messages = warning;
DROP TABLE million;
DROP TABLE parallel CASCADE;

-- Planning a statement loads the library, in a session's very first statement as well.
\c -
DO $$BEGIN EXECUTE 'EXPLAIN SELECT gpu_sum(x) FROM parts'; END$$;
SELECT vartype, context FROM pg_settings WHERE name = 'gpuagg.device';
\c -
DO $$BEGIN EXECUTE 'EXPLAIN SELECT gpu_running_sum(x) OVER () FROM parts'; END$$;
SELECT vartype, context FROM pg_settings WHERE name = 'gpuagg.device';
DROP TABLE parts;
DROP FUNCTION plan_of, same_plan, is_parallel;
