-- gpuagg.core_aggregates: core's own aggregates in the nodes GpuAgg and GpuWindow, beside core's nodes.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
LOAD 'gpuagg';
SET gpuagg.min_table_pages = 0;
SET gpuagg.device = cpu;
SET max_parallel_workers_per_gather = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
\pset format unaligned
\pset tuples_only on

CREATE TABLE cores (id int, k int, int2 smallint, int4 int, int8 bigint, "numeric" numeric, decimal numeric(15,2),
    float4 real, float8 double precision, money money, "interval" interval, date date, "time" time,
    "timestamp" timestamp, timestamptz timestamptz, text text) WITH (autovacuum_enabled = off);
INSERT INTO cores
SELECT i, i % 7, CASE WHEN i % 11 <> 0 THEN i % 300 - 150 END, i * 7919 % 1013, i::bigint * 1000000007 % 999999999989,
       CASE WHEN i % 13 <> 0 THEN (i % 100)::numeric / (1 + i % 3) END, i / 4.0, i % 8, i % 16, (i % 50)::numeric::money,
       make_interval(days => i % 9), '2000-01-01'::date + i % 90, '00:00'::time + make_interval(mins => i),
       '2000-01-01'::timestamp + make_interval(mins => i), '2000-01-01 00:00+00'::timestamptz + make_interval(mins => i), 'w' || i % 9
FROM generate_series(1, 3000) i;
ANALYZE cores;

\getenv folder PG_ABS_SRCDIR
\set beside :folder '/lib/beside.sql'
\i :beside
-- The node of a plan, or why there is none.
CREATE FUNCTION cores_node(plan text) RETURNS text LANGUAGE sql STRICT AS
    $$ SELECT coalesce(substring(plan FROM 'Custom Scan \((\w+)\)'), substring(plan FROM 'not used: ([^\n]*)'), 'core') $$;
-- Values, types and display with the setting beside those without it.
CREATE FUNCTION cores_beside(setting text, VARIADIC queries text[]) RETURNS TABLE (query text, outcome text) LANGUAGE sql AS $$
    SELECT query, cores_node(plan) || differences
    FROM pg_temp.beside('gpuagg.core_aggregates=off max_parallel_workers_per_gather=0', ARRAY[
        format('gpuagg.core_aggregates=%s max_parallel_workers_per_gather=0', setting),
        format('gpuagg.core_aggregates=%s max_parallel_workers_per_gather=2', setting)], queries)
$$;

\echo -- every aggregate over every type, in all rows, none, one, and groups
CREATE TABLE cores_calls AS
SELECT format('%s(%I)', a, t) AS call, a, t FROM unnest(ARRAY['sum', 'avg', 'var_pop', 'var_samp', 'variance', 'stddev_pop',
    'stddev_samp', 'stddev', 'min', 'max', 'count']) a,
    unnest(ARRAY['int2', 'int4', 'int8', 'numeric', 'decimal', 'float4', 'float8', 'money', 'interval', 'date', 'time',
    'timestamp', 'timestamptz', 'text']) t
WHERE a IN ('min', 'max', 'count') OR t IN ('int2', 'int4', 'int8', 'numeric', 'decimal', 'float4', 'float8') OR
    (a = 'sum' AND t IN ('money', 'interval')) OR (a = 'avg' AND t = 'interval');
SELECT setting, node, string_agg(call, ' ' ORDER BY a, t) FROM cores_calls,
    unnest(ARRAY['off', 'exact', 'all']) setting,
    cores_node(pg_temp.plan(format('SELECT %s FROM cores', call), 'gpuagg.core_aggregates=' || setting)) node
GROUP BY setting, node ORDER BY 1 DESC, node LIKE 'Gpu%' DESC, 2;
-- variances of floats differ from core's in their last digits
SELECT o.* FROM (SELECT t, string_agg(call, ', ' ORDER BY a) AS calls FROM cores_calls
                 WHERE t <> 'text' AND NOT (t LIKE 'float_' AND a ~ 'var|stddev') GROUP BY t) c,
    unnest(ARRAY['id > 0', 'id < 0', 'id = 5']) condition,
    cores_beside('all', format('%s, pg_typeof(max(%I)) FROM cores WHERE %s', calls, t, condition),
        format('k, %s FROM cores WHERE %s GROUP BY k', calls, condition)) o
WHERE outcome <> 'GpuAgg';
SELECT count(*), count(c.f) FILTER (WHERE abs(f - c) > 1e-9 * abs(f)) FROM (
    SELECT k, var_pop(float4) AS c, gpu_var_pop(float4) AS f FROM cores GROUP BY k) c;

\echo -- queries, views, plans
CREATE VIEW cores_view AS SELECT k, sum(int4) AS s, count(*) AS n, avg(decimal) AS a FROM cores GROUP BY k;
SELECT * FROM cores_beside('exact',
    '* FROM cores_view', 'sum(s), max(n) FROM cores_view', 'count(*) FROM cores', 'count(*) FROM cores WHERE int2 > 100',
    '100 * sum(int4) / sum(int8), count(*) FILTER (WHERE int2 > 0) FROM cores GROUP BY k HAVING sum(int4) > (SELECT avg(int4) FROM cores)',
    'k, sum(decimal * (1 - decimal)) FROM cores GROUP BY k ORDER BY sum(decimal) DESC LIMIT 3',
    'count(DISTINCT int4), sum(DISTINCT int4) FROM cores', 'k, sum(int4), grouping(k) FROM cores GROUP BY ROLLUP (k)',
    'sum(int8 * 10000000000000) FROM cores', 'sum(int4 / (id - 50)) FROM cores', 'sum(float8) FROM cores',
    'sum(int4), string_agg(text, ''''  ORDER BY id) FROM cores', 'sum(int4 ORDER BY id) FROM cores', 'bool_and(id > 0) FROM cores',
    'sum(int4) FROM cores a JOIN (SELECT 1 AS one) b ON a.k = b.one', 'count(*) FROM pg_class WHERE relname = ''cores''',
    '(SELECT count(*) FROM cores c WHERE c.id < g) FROM generate_series(1, 3) g',
    'k, s FROM (SELECT k, sum(int4) AS s FROM cores GROUP BY k) q WHERE s > 1000',
    'sum(sum(int4)) OVER (ORDER BY k) FROM cores GROUP BY k');
PREPARE cores_prepared(int) AS SELECT sum(int4), count(*) FROM cores WHERE id < $1;
SET gpuagg.core_aggregates = exact;
SET plan_cache_mode = force_generic_plan;
SELECT cores_node(pg_temp.plan('EXECUTE cores_prepared(100)'));
EXECUTE cores_prepared(100);
DEALLOCATE cores_prepared;
RESET plan_cache_mode;

\echo -- windows
SELECT * FROM cores_beside('exact',
    'id, sum(int4) OVER (PARTITION BY k ORDER BY id), count(*) OVER (PARTITION BY k ORDER BY id) FROM cores',
    'id, sum(int8) OVER w, avg(decimal) OVER w, min(date) OVER w, max(int8) OVER w FROM cores WINDOW w AS (ORDER BY id)',
    'id, sum("numeric") OVER (PARTITION BY k), var_pop("numeric") OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) FROM cores',
    'id, n FROM (SELECT id, count(*) OVER (ORDER BY id) AS n FROM cores) q WHERE n <= 3',
    'sum(float8) OVER (ORDER BY id) FROM cores', 'sum(int4) OVER (ORDER BY id), row_number() OVER (ORDER BY id) FROM cores',
    'sum(int4) FILTER (WHERE k > 2) OVER (ORDER BY id) FROM cores', 'max(text) OVER (ORDER BY id) FROM cores',
    'stddev(int4) OVER (ORDER BY id) FROM cores');
SELECT * FROM cores_beside('all', 'id, sum(float8) OVER (ORDER BY id), avg(float4) OVER (ORDER BY id), sum(money) OVER (PARTITION BY k) FROM cores');

\echo -- aggregates and functions that are not what they were
BEGIN;
CREATE OR REPLACE AGGREGATE pg_catalog.sum(integer) (SFUNC = int4_sum, STYPE = int8, INITCOND = '5');
SELECT * FROM cores_beside('exact', 'sum(int4) FROM cores', 'sum(int2) FROM cores');
ROLLBACK;
BEGIN;
CREATE OR REPLACE FUNCTION pg_catalog.int4_sum(bigint, integer) RETURNS bigint LANGUAGE sql AS 'SELECT coalesce($1, 0) + 1';
SELECT * FROM cores_beside('exact', 'sum(int4) FROM cores', 'avg(int4) FROM cores');
ROLLBACK;
SELECT * FROM cores_beside('exact', 'sum(int4) FROM cores');
CREATE AGGREGATE cores_sum(integer) (SFUNC = int4_sum, STYPE = int8);
CREATE SCHEMA cores_first CREATE VIEW nothing AS SELECT;
CREATE AGGREGATE cores_first.sum(integer) (SFUNC = int4_sum, STYPE = int8, INITCOND = '7');
SET search_path = cores_first, pg_catalog, public;
SELECT * FROM cores_beside('exact', 'sum(int4) FROM cores', 'pg_catalog.sum(int4) FROM cores', 'cores_sum(int4) FROM cores');
RESET search_path;

\echo -- rights
CREATE ROLE regress_cores;
GRANT SELECT (k, int4, id) ON cores TO regress_cores;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO regress_cores;
REVOKE EXECUTE ON FUNCTION pg_catalog.avg(integer) FROM PUBLIC;
SET ROLE regress_cores;
SELECT * FROM cores_beside('exact', 'sum(int4) FROM cores', 'count(*) FROM cores');
SET gpuagg.core_aggregates = off;
SELECT avg(int4) FROM cores;
SELECT sum(int8) FROM cores;
SET gpuagg.core_aggregates = exact;
SELECT avg(int4) FROM cores;
SELECT sum(int8) FROM cores;
RESET ROLE;
GRANT EXECUTE ON FUNCTION pg_catalog.avg(integer) TO PUBLIC;
ALTER TABLE cores ENABLE ROW LEVEL SECURITY;
CREATE POLICY cores_some ON cores USING (k = 3);
SET ROLE regress_cores;
SELECT * FROM cores_beside('exact', 'sum(int4), count(*) FROM cores');
SELECT count(*) FROM cores;
RESET ROLE;
RESET gpuagg.core_aggregates;

DROP SCHEMA cores_first CASCADE;
DROP TABLE cores, cores_calls CASCADE;
DROP AGGREGATE cores_sum(integer);
DROP FUNCTION cores_node, cores_beside;
DROP OWNED BY regress_cores;
DROP ROLE regress_cores;
