-- Plans of windows: which take the node GpuWindow, which stay core's and why; the node's columns.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
SET gpuagg.device = cpu;
SET max_parallel_workers_per_gather = 0;
SET enable_incremental_sort = off;

CREATE TABLE w (g int, o int, t text, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, n numeric,
                m money, d date, v interval, b bool)
    WITH (autovacuum_enabled = off);
INSERT INTO w SELECT i % 7, nullif(i % 50, 3), 't' || i % 5, i, i, i, i, i / 8.0, i / 4.0, i,
                     '2000-01-01'::date + i, make_interval(days => i), i % 2 = 0
FROM generate_series(1, 500) i;
CREATE INDEX w_g_o ON w (g, o);
ANALYZE w;

-- The nodes of a plan from the top, without scans, and why core's WindowAgg stayed.
CREATE FUNCTION nodes(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan json;
    named text[];
BEGIN
    EXECUTE 'EXPLAIN (COSTS OFF, VERBOSE, FORMAT json) ' || query INTO plan;
    WITH RECURSIVE tree(node, path) AS (
        SELECT plan -> 0 -> 'Plan', ARRAY[1]
        UNION ALL
        SELECT c.node, path || c.n::int
        FROM tree, json_array_elements(node -> 'Plans') WITH ORDINALITY c(node, n)
    )
    SELECT array_agg(coalesce(node ->> 'Custom Plan Provider', node ->> 'Node Type') ||
                     CASE node ->> 'Sort' WHEN 'true' THEN ' with sort' ELSE '' END ||
                     coalesce(' [' || (node ->> 'GpuWindow Not Used For') || ']', '')
                     ORDER BY path)
    INTO named
    FROM tree
    WHERE node ->> 'Node Type' !~ 'Scan' OR node ->> 'Node Type' = 'Custom Scan';
    RETURN array_to_string(named, ', ') ||
        coalesce(' (' || (plan -> 1 ->> 'GpuWindow not used') || ')', '');
END
$$;
CREATE FUNCTION windows(VARIADIC queries text[]) RETURNS TABLE (query text, nodes text)
LANGUAGE sql AS $$ SELECT q, nodes('SELECT ' || q) FROM unnest(queries) q $$;
-- Whether the two columns of a query are the same in every row.
CREATE FUNCTION same(query text) RETURNS SETOF boolean LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT a IS NOT DISTINCT FROM b FROM (SELECT %s) x(a, b)', query);
END
$$;

\pset format unaligned
\pset tuples_only on
-- Every function, every frame.
SELECT nodes(format('SELECT gpu_running_%s(%s) OVER (ORDER BY t) FROM w', f, c)) AS nodes, f,
       string_agg(c, ' ' ORDER BY c)
FROM unnest(ARRAY['sum', 'avg', 'min', 'max', 'count']) f,
     unnest(ARRAY['i2', 'i4', 'i8', 'f4', 'f8', 'n', 'm', 'd', 'v', 't']) c
WHERE f = 'count' OR c <> 't' AND (f IN ('min', 'max') OR c <> 'd') AND (f <> 'avg' OR c <> 'm')
GROUP BY 1, 2 ORDER BY 2;
SELECT nodes(format('SELECT gpu_%s(%s) OVER (ORDER BY t) FROM w', f, c)) AS nodes, f,
       string_agg(c, ' ' ORDER BY c)
FROM unnest(ARRAY['sum', 'avg', 'min', 'max', 'count']) f,
     unnest(ARRAY['i2', 'i4', 'i8', 'f4', 'f8', 'n', 'm', 'd', 'v', 't']) c
WHERE f = 'count' OR c <> 't' AND (f IN ('min', 'max') OR c <> 'd') AND (f <> 'avg' OR c <> 'm')
GROUP BY 1, 2 ORDER BY 2;
SELECT f, nodes(format('SELECT gpu_running_sum(i4) OVER (ORDER BY t %s) FROM w', f)),
       nodes(format('SELECT gpu_sum(i4) OVER (ORDER BY t %s) FROM w', f))
FROM unnest(ARRAY['', 'RANGE UNBOUNDED PRECEDING', 'ROWS UNBOUNDED PRECEDING',
                  'GROUPS UNBOUNDED PRECEDING',
                  'RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW',
                  'ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW',
                  'RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING',
                  'ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING',
                  'GROUPS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING',
                  'ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING',
                  'ROWS BETWEEN 1 PRECEDING AND CURRENT ROW',
                  'ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING',
                  'ROWS BETWEEN UNBOUNDED PRECEDING AND 0 PRECEDING',
                  'ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW',
                  'RANGE UNBOUNDED PRECEDING EXCLUDE TIES',
                  'ROWS UNBOUNDED PRECEDING EXCLUDE NO OTHERS']) f;
SELECT * FROM windows(
    'gpu_sum(i4) OVER () FROM w',
    'gpu_sum(i4) OVER (PARTITION BY t) FROM w',
    'gpu_sum(i4) OVER (PARTITION BY t ROWS UNBOUNDED PRECEDING) FROM w',
    'gpu_running_sum(i4) OVER () FROM w',
    'gpu_count(*) OVER (PARTITION BY t) FROM w',
    'gpu_sum(i4) FILTER (WHERE b) FROM w',
-- Arguments.
    'gpu_running_sum(i4, true) OVER (ORDER BY t ROWS UNBOUNDED PRECEDING) FROM w',
    'gpu_running_sum(i4, true) OVER (ORDER BY t) FROM w',
    'gpu_running_sum(i4, b) OVER (ORDER BY t ROWS UNBOUNDED PRECEDING) FROM w',
    'gpu_running_sum(i4, NULL) OVER (ORDER BY t ROWS UNBOUNDED PRECEDING) FROM w',
    'gpu_running_sum(exclusive => 1 > 0, x => i4) OVER (ORDER BY t ROWS UNBOUNDED PRECEDING) FROM w',
    'gpu_sum(i4) FILTER (WHERE b) OVER (ORDER BY t) FROM w',
    'gpu_sum(i4 + (random() * 0)::int) OVER (ORDER BY t) FROM w',
    'gpu_sum((SELECT max(i4) FROM w x WHERE x.g = w.g)) OVER (ORDER BY t) FROM w',
    'gpu_sum((SELECT max(i4) FROM w)) OVER (ORDER BY t) FROM w',
    'gpu_sum(1) OVER (ORDER BY t), gpu_sum(NULL::int) OVER (ORDER BY t) FROM w',
-- Several functions, several windows, functions that are not ours.
    'gpu_sum(i4) OVER x, gpu_running_min(f8) OVER x, gpu_sum(i4) OVER x FROM w WINDOW x AS (ORDER BY t)',
    'gpu_sum(i4) OVER x, rank() OVER x FROM w WINDOW x AS (ORDER BY t)',
    'gpu_sum(i4) OVER x, gpu_max(i4::text) OVER x FROM w WINDOW x AS (ORDER BY t)',
    'sum(i4) OVER (ORDER BY t), rank() OVER (ORDER BY g) FROM w',
    'sum(i4) OVER (ORDER BY t), gpu_sum(i4) OVER (ORDER BY g DESC) FROM w',
    'gpu_sum(i4) OVER (ORDER BY t), gpu_sum(i4) OVER (ORDER BY g DESC) FROM w',
    'gpu_sum(i4) OVER (ORDER BY t), gpu_sum(i4) OVER (ORDER BY t ROWS 1 PRECEDING), rank() OVER (ORDER BY d) FROM w',
    'gpu_sum(i4) OVER (ORDER BY t ROWS 1 PRECEDING), gpu_sum(i4) FILTER (WHERE b) OVER (ORDER BY d) FROM w',
-- Run conditions.
    '* FROM (SELECT gpu_sum(i4) OVER (ORDER BY t), row_number() OVER (ORDER BY d) r FROM w) x WHERE r < 3',
    '* FROM (SELECT gpu_sum(i4) OVER (ORDER BY t) r FROM w) x WHERE r < 3',
-- Windows at different places of a query.
    'g + gpu_sum(sum(i4)) OVER (ORDER BY g) FROM w GROUP BY g HAVING count(*) > 2',
    'gpu_sum(gpu_sum(i4)) OVER () FROM w',
    'DISTINCT gpu_sum(i4) OVER (PARTITION BY g) FROM w',
    't, gpu_sum(i4) OVER (ORDER BY t), generate_series(1, 2) FROM w ORDER BY 2',
    'gpu_sum(i4) OVER (PARTITION BY g ORDER BY o) FROM w ORDER BY g, o LIMIT 3',
    'gpu_sum(i4) OVER (PARTITION BY random() ORDER BY random()) FROM w',
    'count(*), gpu_sum(count(*)) OVER (), grouping(g) FROM w GROUP BY ROLLUP (g)',
    'g, CASE WHEN true THEN g END h, gpu_sum(count(*)) OVER () FROM w GROUP BY ROLLUP (g, h)',
    'random() r, random() s, gpu_sum(count(*)) OVER () FROM w GROUP BY r, s',
    '* FROM (SELECT gpu_sum(i4) OVER (ORDER BY t) FROM w UNION ALL SELECT gpu_sum(i4) OVER (ORDER BY b) FROM w) x',
    '(SELECT gpu_sum(i4) OVER (ORDER BY t) LIMIT 1) FROM w',
    'x.s FROM w, LATERAL (SELECT gpu_sum(y.i4 + w.i4) OVER (ORDER BY y.t) s FROM w y WHERE y.g = w.g) x');

-- A constant that grouping sets make NULL: 18 marks it, before it is found nowhere.
SELECT nodes('SELECT coalesce(1, g) c, gpu_sum(count(*)) OVER () FROM w GROUP BY ROLLUP (c)') =
       CASE WHEN current_setting('server_version_num')::int >= 180000 THEN 'GpuWindow, Aggregate'
            ELSE 'WindowAgg, Aggregate (a constant is a column of grouping sets)' END;
SELECT coalesce(1, g) c, gpu_sum(count(*)) OVER () FROM w GROUP BY ROLLUP (c) ORDER BY c;

-- Off.
SET gpuagg.enable_window_scan = off;
SELECT * FROM windows('gpu_sum(i4) OVER (ORDER BY t) FROM w');
RESET gpuagg.enable_window_scan;

-- The node's own sort: keys of fixed width, rows that fit.
SET enable_indexscan = off;
SELECT k, nodes(format('SELECT gpu_sum(i4) OVER (PARTITION BY %s) FROM w', k)),
       nodes(format('SELECT gpu_sum(i4) OVER (ORDER BY %s) FROM w', k))
FROM unnest(ARRAY['i2', 'i4', 'i8', 'f4', 'f8', 'm', 'd', 'b', 'd::timestamp', 'd::timestamptz',
                  '''12:00''::time + v', 'i4::oid', 'n', 't', 'v', 'i4 % 3', 'g, o']) k;
SELECT * FROM windows(
    'gpu_sum(i4) OVER (PARTITION BY g ORDER BY o DESC, d) FROM w',
    'gpu_sum(i4) OVER (PARTITION BY g ORDER BY o NULLS FIRST) FROM w',
    'gpu_sum(i4) OVER (ORDER BY o USING >) FROM w',
    'gpu_sum(i4) OVER (ORDER BY g, t) FROM w',
    'gpu_sum(i4) OVER (PARTITION BY g ORDER BY g) FROM w',
    'gpu_sum(i4) OVER (PARTITION BY g ORDER BY o) FROM w WHERE g = 3',
    'gpu_sum(i4) OVER (PARTITION BY g ORDER BY o) FROM w ORDER BY g, o',
    'gpu_sum(i4) OVER (PARTITION BY g ORDER BY o), gpu_sum(i4) OVER (ORDER BY d) FROM w');
SET work_mem = '64kB';
SELECT * FROM windows('gpu_sum(x) OVER (ORDER BY x) FROM generate_series(1, 2000) x',
                      'gpu_sum(x) OVER (ORDER BY x) FROM generate_series(1, 200) x');
RESET work_mem;
SET enable_sort = off;
SELECT * FROM windows('gpu_sum(i4) OVER (ORDER BY d) FROM w');
RESET enable_sort;
RESET enable_indexscan;
\pset tuples_only off
\pset format aligned

-- What EXPLAIN shows.
EXPLAIN (COSTS OFF) SELECT gpu_sum(i4) OVER (PARTITION BY g ORDER BY t, o DESC) FROM w;
EXPLAIN (COSTS OFF, VERBOSE)
SELECT g, gpu_running_sum(i4 + 1) OVER x * 2, gpu_count(*) OVER x, gpu_sum(f8) OVER (PARTITION BY o)
FROM w WINDOW x AS (PARTITION BY g % 3 ORDER BY t ROWS UNBOUNDED PRECEDING) ORDER BY 2;

-- The note in every format; what core prints of its node differs between versions.
CREATE FUNCTION note(format text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    plan text := '';
BEGIN
    FOR line IN EXECUTE format('EXPLAIN (COSTS OFF, VERBOSE, FORMAT %s)
                    SELECT gpu_sum(i4) OVER (ORDER BY t ROWS 1 PRECEDING) FROM w', format) LOOP
        plan := plan || line || E'\n';
    END LOOP;
    RETURN CASE format WHEN 'xml' THEN substring(plan FROM '<GpuWindow-not-used>([^<]*)</')
                       WHEN 'json' THEN plan::json -> 1 ->> 'GpuWindow not used'
                       ELSE substring(plan FROM '\n([- ]*GpuWindow not used.*)\n') END;
END
$$;
SELECT format, note(format) FROM unnest(ARRAY['text', 'xml', 'json', 'yaml']) format;

-- EXPLAIN leaves out why the device was not used where it follows from the settings alone.
CREATE FUNCTION not_used(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) SELECT ' || query INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Device Not Used';
END
$$;
SET enable_indexscan = off;
SET gpuagg.device = auto;
SELECT not_used('gpu_sum(i4) OVER (ORDER BY d) FROM w') AS no_gain,
       not_used('gpu_sum(n) OVER (ORDER BY d) FROM w') AS no_kernel;
SET gpuagg.device = cpu;
SELECT not_used('gpu_sum(i4) OVER (ORDER BY d) FROM w') AS disabled;
RESET enable_indexscan;
DROP FUNCTION not_used;

-- Functions of the same names that are not ours; the extension in another schema.
CREATE SCHEMA elsewhere;
CREATE AGGREGATE elsewhere.gpu_sum(int) (SFUNC = int4_sum, STYPE = bigint);
SELECT nodes('SELECT elsewhere.gpu_sum(i4) OVER (ORDER BY t) FROM w');
DROP AGGREGATE elsewhere.gpu_sum(int);
ALTER EXTENSION gpuagg SET SCHEMA elsewhere;
SELECT nodes('SELECT elsewhere.gpu_sum(i4) OVER (ORDER BY t) FROM w');
ALTER EXTENSION gpuagg SET SCHEMA public;
DROP SCHEMA elsewhere;

-- Aggregates and functions that were renamed, and aggregates made of our functions, are what their
-- functions make them: the node is there, and gives core's values.
BEGIN;
ALTER AGGREGATE gpu_sum(int) RENAME TO gpu_other;
ALTER AGGREGATE gpu_avg(int) RENAME TO gpu_sum;
ALTER AGGREGATE gpu_count(*) RENAME TO gpu_max;
ALTER FUNCTION gpu_running_sum(int, boolean) RENAME TO gpu_running_other;
ALTER FUNCTION gpu_running_avg(int, boolean) RENAME TO gpu_running_sum;
ALTER FUNCTION gpuagg_int4_accum(internal, int) RENAME TO gpuagg_int4_add;
CREATE AGGREGATE own_avg(int) (SFUNC = gpuagg_int4_add, STYPE = internal, FINALFUNC = gpuagg_int_avg);
CREATE AGGREGATE own_min(numeric) (SFUNC = gpuagg_numeric_min, STYPE = numeric);
SELECT windows.query, nodes, (SELECT bool_and(x) FROM same(windows.query) x) AS as_core
FROM windows('gpu_sum(i4) OVER (ORDER BY t), avg(i4) OVER x FROM w WINDOW x AS (ORDER BY t GROUPS UNBOUNDED PRECEDING)',
             'gpu_other(i4) OVER (ORDER BY t), sum(i4) OVER x FROM w WINDOW x AS (ORDER BY t GROUPS UNBOUNDED PRECEDING)',
             'gpu_max(*) OVER (ORDER BY t), count(*) OVER x FROM w WINDOW x AS (ORDER BY t GROUPS UNBOUNDED PRECEDING)',
             'gpu_running_sum(i4) OVER (ORDER BY t), avg(i4) OVER x FROM w WINDOW x AS (ORDER BY t GROUPS UNBOUNDED PRECEDING)',
             'gpu_running_other(i4) OVER (ORDER BY t), sum(i4) OVER x FROM w WINDOW x AS (ORDER BY t GROUPS UNBOUNDED PRECEDING)',
             'own_avg(i4) OVER (ORDER BY t), avg(i4) OVER x FROM w WINDOW x AS (ORDER BY t GROUPS UNBOUNDED PRECEDING)',
             'own_min(n) OVER (ORDER BY t), min(n) OVER x FROM w WINDOW x AS (ORDER BY t GROUPS UNBOUNDED PRECEDING)');
-- Those that are nothing that the node computes: another start, another result, another final function.
CREATE AGGREGATE odd_min(numeric) (SFUNC = gpuagg_numeric_min, STYPE = numeric, INITCOND = '-7');
CREATE AGGREGATE odd_count(*) (SFUNC = gpuagg_count_accum, STYPE = bigint, INITCOND = '5');
CREATE AGGREGATE odd_sum(int) (SFUNC = gpuagg_int4_add, STYPE = internal, FINALFUNC = gpuagg_int_sum_numeric);
CREATE FUNCTION odd_final(numeric) RETURNS text LANGUAGE sql AS 'SELECT ''x'' || $1';
CREATE AGGREGATE odd_text(numeric) (SFUNC = gpuagg_numeric_min, STYPE = numeric, FINALFUNC = odd_final);
SELECT * FROM windows('odd_min(n) OVER (ORDER BY t) FROM w', 'odd_count(*) OVER (ORDER BY t) FROM w',
                      'odd_sum(i4) OVER (ORDER BY t) FROM w',
                      'odd_text(n) OVER (ORDER BY t) FROM w');
SELECT DISTINCT odd_min(n) OVER (ORDER BY t), odd_count(*) OVER (ORDER BY t) > 4,
       odd_text(n) OVER (ORDER BY t) FROM w WHERE i4 < 5;
ROLLBACK;
SELECT nodes('SELECT gpu_sum(i4) OVER (ORDER BY t), gpu_running_sum(i4) OVER (ORDER BY t) FROM w');

-- Functions that were changed are left to core, also in prepared plans; settings count when planning.
PREPARE p AS SELECT gpu_running_sum(i4, false) OVER (ORDER BY t) FROM w;
SELECT nodes('EXECUTE p');
ALTER FUNCTION gpu_running_sum(int, boolean) SET work_mem = '1MB';
SELECT nodes('EXECUTE p');
ALTER FUNCTION gpu_running_sum(int, boolean) RESET ALL;
SELECT nodes('EXECUTE p');
DEALLOCATE p;

-- Parameters: in a generic plan the value of `exclusive` is not known.
SET plan_cache_mode = force_generic_plan;
PREPARE p(boolean) AS
SELECT gpu_running_sum(i4, $1) OVER (ORDER BY t ROWS UNBOUNDED PRECEDING) FROM w;
EXPLAIN (COSTS OFF, VERBOSE) EXECUTE p(true);
DEALLOCATE p;
PREPARE p(boolean) AS SELECT gpu_running_sum(i4, $1) OVER (ORDER BY t) FROM w;
SELECT nodes('EXECUTE p(false)');
DEALLOCATE p;
RESET plan_cache_mode;

-- Above and below security barriers and row security.
CREATE VIEW guarded WITH (security_barrier) AS
SELECT g, i4, gpu_sum(i4) OVER (PARTITION BY g ORDER BY t) AS s FROM w WHERE g < 3;
SELECT nodes('SELECT * FROM guarded WHERE i4::text ~ ''1''');
SELECT nodes('SELECT gpu_sum(s) OVER (ORDER BY g) FROM guarded');
CREATE POLICY few ON w USING (g < 2);
ALTER TABLE w ENABLE ROW LEVEL SECURITY;
CREATE ROLE regress_gpuagg_reader;
GRANT SELECT ON w TO regress_gpuagg_reader;
SET ROLE regress_gpuagg_reader;
EXPLAIN (COSTS OFF) SELECT gpu_sum(i4) OVER (PARTITION BY g ORDER BY t) FROM w;
RESET ROLE;

-- In a worker only where core's node would be.
CREATE FUNCTION labelled_safe(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (COSTS OFF, FORMAT json) ' || query INTO plan;
    RETURN plan::text ~ 'Gather';
END
$$;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT q, labelled_safe(replace(q, '$', 'gpu_sum')) = labelled_safe(replace(q, '$', 'sum')) AS as_core
FROM unnest(ARRAY['SELECT $(i4) OVER (ORDER BY t) FROM w',
                  'SELECT count(*) FROM (SELECT $(i4) OVER (ORDER BY t) s FROM w
                   UNION ALL SELECT $(i4) OVER (ORDER BY d) FROM w) x WHERE s > 3']) q;
RESET max_parallel_workers_per_gather;

-- In the first statement of a session, for either kind of function.
\c -
EXPLAIN (COSTS OFF) SELECT gpu_sum(i4) OVER (PARTITION BY t) FROM w;
\c -
EXPLAIN (COSTS OFF) SELECT gpu_running_count(o) OVER (PARTITION BY t) FROM w;

-- There, the reason for core's node comes as a notice; later, and without VERBOSE, it does not.
\o /dev/null
\c -
EXPLAIN SELECT gpu_sum(i4) FILTER (WHERE g > 1) OVER () FROM w;
\c -
EXPLAIN (VERBOSE) SELECT gpu_sum(i4) FILTER (WHERE g > 1) OVER (), gpu_sum(i4) FILTER (WHERE g > 2) OVER (ORDER BY i4) FROM w;
EXPLAIN (VERBOSE) SELECT gpu_sum(i4) FILTER (WHERE g > 1) OVER () FROM w;
\o

DROP VIEW guarded;
DROP TABLE w;
DROP ROLE regress_gpuagg_reader;
DROP FUNCTION labelled_safe;
DROP FUNCTION windows;
DROP FUNCTION same;
DROP FUNCTION nodes;
DROP FUNCTION note;
