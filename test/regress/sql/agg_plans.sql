-- Plans of aggregates over a table: which take the node GpuAgg, which stay core's and why; who may run them.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
SET gpuagg.enable_agg_scan = on;
SET gpuagg.min_table_pages = 0;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE ap (id int PRIMARY KEY, k int, i int NOT NULL, f float8, n numeric(15,2), t text, d date, m money, j json)
    WITH (autovacuum_enabled = off);
INSERT INTO ap SELECT i, i % 5, i, i / 8.0, i / 4.0, 't' || i % 3, '2000-01-01'::date + i % 40, i::numeric::money
FROM generate_series(1, 3000) i;
CREATE TABLE ap_other (k int, v int);
INSERT INTO ap_other SELECT i % 5, i FROM generate_series(1, 20) i;
VACUUM (ANALYZE) ap;
ANALYZE ap_other;

-- The nodes of a plan from the top, and why GpuAgg is not among them.
CREATE FUNCTION agg_nodes(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan json;
    named text;
BEGIN
    EXECUTE 'EXPLAIN (COSTS OFF, VERBOSE, FORMAT json) ' || query INTO plan;
    WITH RECURSIVE tree(node, path) AS (
        SELECT plan -> 0 -> 'Plan', ARRAY[1]
        UNION ALL
        SELECT c.node, path || c.n::int
        FROM tree, json_array_elements(node -> 'Plans') WITH ORDINALITY c(node, n)
    )
    SELECT string_agg(CASE WHEN node ->> 'Parallel Aware' = 'true' THEN 'parallel ' ELSE '' END ||
                      coalesce(node ->> 'Custom Plan Provider', node ->> 'Node Type'), ' > ' ORDER BY path)
    INTO named
    FROM tree;
    RETURN CASE WHEN named LIKE '%GpuAgg%' THEN named
                ELSE 'core' || coalesce(': ' || (plan -> 1 ->> 'GpuAgg not used'), '') END;
END
$$;
CREATE FUNCTION agg_plans(VARIADIC queries text[]) RETURNS TABLE (query text, nodes text)
LANGUAGE sql AS $$ SELECT q, agg_nodes('SELECT ' || q) FROM unnest(queries) q $$;

\pset format unaligned
\pset tuples_only on
-- Every aggregate over every type.
SELECT agg_nodes(format('SELECT gpu_%s(%s) FROM ap', f, c)) AS nodes, f, string_agg(c, ' ' ORDER BY c)
FROM unnest(ARRAY['sum', 'avg', 'min', 'max', 'count', 'var_pop', 'var_samp', 'variance',
                  'stddev_pop', 'stddev_samp', 'stddev']) f,
     unnest(ARRAY['i::int2', 'i', 'i::int8', 'f::float4', 'f', 'n', 'm', 'd', 'd::timestamp', 'd - timestamp ''2000-01-01''', 't']) c
WHERE f = 'count' OR c NOT IN ('t', 'm', 'd', 'd::timestamp', 'd - timestamp ''2000-01-01''')
    OR f IN ('min', 'max') AND c <> 't' OR f = 'sum' AND c IN ('m', 'd - timestamp ''2000-01-01''')
GROUP BY 1, 2 ORDER BY 2;

-- What it takes.
SELECT * FROM agg_plans(
    'gpu_count(*) FROM ap',
    'gpu_sum(i), gpu_avg(f) FILTER (WHERE i > 3) FROM ap WHERE n > 5 AND t <> ''t1''',
    'k, gpu_sum(i) FROM ap GROUP BY k',
    'k + 1, gpu_sum(i + k) FROM ap GROUP BY k + 1 HAVING gpu_sum(i) > 5',
    'k, t, d, date_trunc(''month'', d), gpu_sum(i) FROM ap GROUP BY 1, 2, 3, 4',
    'j::text, gpu_count(j) FROM ap GROUP BY 1',
    'id, t, gpu_sum(i) FROM ap GROUP BY id',
    'gpu_sum(i) FROM ap WHERE k = 3 GROUP BY k',
    'DISTINCT gpu_count(*) FROM ap GROUP BY k',
    'k, gpu_sum(i) FROM ap GROUP BY k ORDER BY 2 DESC LIMIT 1',
    'k, rank() OVER (ORDER BY gpu_sum(i)) FROM ap GROUP BY k',
    'generate_series(1, gpu_count(*)) FROM ap',
    'gpu_sum(i) FROM ap a WHERE i > (SELECT max(v) FROM ap_other)',
    'gpu_sum(i) FROM ap HAVING gpu_sum(i) > (SELECT avg(v) FROM ap_other)',
    'k, (SELECT max(v) FROM ap_other o WHERE o.k = ap.k), gpu_sum(i) FROM ap GROUP BY k',
    'v, (SELECT gpu_sum(i) FROM ap WHERE ap.k = o.k) FROM ap_other o',
    'count(*) FROM (SELECT k, gpu_sum(i) FROM ap GROUP BY k OFFSET 0) q',
    '* FROM ap_other JOIN (SELECT k, gpu_sum(i) FROM ap GROUP BY k) q USING (k)');

-- What it leaves, and why.
CREATE VIEW ap_view AS SELECT * FROM ap;
CREATE VIEW ap_first AS SELECT * FROM ap LIMIT 10;
CREATE TABLE ap_parts (k int, i int) PARTITION BY LIST (k);
CREATE TABLE ap_parts_1 PARTITION OF ap_parts FOR VALUES IN (1, 2);
CREATE TABLE ap_parts_3 PARTITION OF ap_parts FOR VALUES IN (3);
CREATE TABLE ap_parent (i int);
CREATE TABLE ap_child () INHERITS (ap_parent);
CREATE MATERIALIZED VIEW ap_kept AS SELECT * FROM ap;
CREATE SEQUENCE ap_sequence;
CREATE FUNCTION ap_numbers(int) RETURNS SETOF int LANGUAGE sql STABLE ROWS 3 AS 'SELECT generate_series(1, $1)';
SELECT * FROM agg_plans(
    'gpu_sum(i) FROM ap_view',
    'gpu_sum(i) FROM ap_kept',
    'gpu_sum(i) FROM ap_parts_1',
    'gpu_sum(i) FROM ONLY ap_parent',
    'gpu_sum(i) FROM ap_child',
    'gpu_sum(i) FROM ap_parts',
    'gpu_sum(i) FROM ap_parts WHERE k = 3',
    'gpu_sum(i) FROM ap_parent',
    'gpu_sum(i) FROM ap_first',
    'gpu_sum(ap.i) FROM ap, ap_other',
    'gpu_sum(v) FROM (VALUES (1), (2)) x(v)',
    'gpu_sum(v) FROM ap_numbers(3) x(v)',
    'gpu_sum(last_value) FROM ap_sequence',
    'gpu_sum(i) FROM ap TABLESAMPLE SYSTEM (50)',
    'gpu_sum(DISTINCT k) FROM ap',
    'gpu_sum(f ORDER BY i) FROM ap',
    'gpu_sum(i), sum(i) FROM ap',
    'gpu_sum(i), string_agg(t, '''') FROM ap',
    'k, gpu_sum(i) FROM ap GROUP BY ROLLUP (k)',
    'k, gpu_sum(i) FROM ap GROUP BY GROUPING SETS ((k), ())',
    'm, gpu_sum(i) FROM ap GROUP BY m',
    'gpu_count(ap) FROM ap',
    'gpu_count(ctid) FROM ap',
    'gpu_sum(i) FROM ap GROUP BY tableoid',
    'gpu_sum(i + (random() * 0)::int) FROM ap',
    'gpu_sum(i) FROM ap WHERE random() >= 0',
    'gpu_sum(i) FROM ap WHERE now() IS NULL',
    'gpu_sum(i) FROM ap WHERE i IN (SELECT v FROM ap_other)',
    'gpu_sum((SELECT max(v) FROM ap_other o WHERE o.k = ap.k)) FROM ap',
    'gpu_sum(i) FROM ap WHERE i > ALL (SELECT v FROM ap_other o WHERE o.k = ap.k)',
    'sum(i) FROM ap',
    'k FROM ap GROUP BY k');
SET gpuagg.min_table_pages = 1000;
SET gpuagg.device = cpu;
SELECT agg_nodes('SELECT gpu_sum(i) FROM ap');
SET gpuagg.min_table_pages = 1;
SELECT agg_nodes('SELECT gpu_sum(i) FROM ap');
SET gpuagg.device = gpu;
SELECT agg_nodes('SELECT gpu_sum(i) FROM ap');
RESET gpuagg.device;
SET gpuagg.min_table_pages = 0;
SET gpuagg.enable_agg_scan = off;
SELECT agg_nodes('SELECT gpu_sum(i) FROM ap');
SET gpuagg.enable_agg_scan = on;

-- Workers.
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CREATE TEMPORARY TABLE ap_temporary AS SELECT * FROM ap;
CREATE FUNCTION ap_unsafe(int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL UNSAFE AS 'BEGIN RETURN $1; END';
SELECT * FROM agg_plans(
    'gpu_sum(i) FROM ap',
    'k, gpu_sum(i) FROM ap GROUP BY k HAVING gpu_count(*) > 3 ORDER BY 1',
    'gpu_sum(i) FROM ap WHERE i > (SELECT 5)',
    'gpu_sum(i) FROM ap_kept',
    'gpu_sum(i) FROM ap_temporary',
    'gpu_sum(ap_unsafe(i)) FROM ap',
    'gpu_sum(i), ap_unsafe(3) FROM ap');
SET max_parallel_workers_per_gather = 0;

-- By cost, where the setting does not decide: what core does with less of the table than all.
SET gpuagg.min_table_pages = 1;
SET gpuagg.device = cpu;
CREATE TABLE ap_wide (id int PRIMARY KEY, k int, g int, i int, f float8, x text) WITH (autovacuum_enabled = off);
INSERT INTO ap_wide SELECT i, hashint4(i) % 500, i / 10, i, i / 8.0, repeat('x', 300) FROM generate_series(1, 20000) i;
CREATE INDEX ON ap_wide (k);
CREATE INDEX ON ap_wide (g);
VACUUM (ANALYZE, FREEZE) ap_wide;
CREATE FUNCTION ap_core(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    nodes text[];
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT ' || query LOOP
        IF line ~ '->|^\w' THEN
            nodes := nodes || substring(line FROM '^[ ->]*(.*\S)');
        END IF;
    END LOOP;
    RETURN array_to_string(nodes, ' > ');
END
$$;
SELECT q, ap_core(q) FROM unnest(ARRAY[
    'gpu_sum(i) FROM ap_wide',
    'gpu_sum(i), gpu_avg(f) FROM ap_wide WHERE f < 1000',
    'k, gpu_sum(i) FROM ap_wide GROUP BY k',
    'k, gpu_sum(i) FROM ap_wide GROUP BY k ORDER BY k',
    'g, gpu_sum(i) FROM ap_wide GROUP BY g ORDER BY 2 LIMIT 5',
    'gpu_sum(length(repeat(x, 2))) FROM ap_wide',
    'i FROM ap_wide LIMIT 1',
    'g, gpu_sum(i) FROM ap_wide GROUP BY g ORDER BY g LIMIT 5',
    'g, gpu_sum(i) FROM ap_wide GROUP BY g LIMIT 1',
    '1 WHERE EXISTS (SELECT gpu_sum(i) FROM ap_wide GROUP BY g)',
    'gpu_sum(i) FROM ap_wide WHERE id = 7',
    'gpu_sum(i) FROM ap_wide WHERE id < 200',
    'gpu_sum(i) FROM ap_wide WHERE k = 7',
    'gpu_count(id) FROM ap_wide WHERE id < 5000',
    'gpu_count(id) FROM ap_wide',
    'gpu_min(id), gpu_max(id) FROM ap_wide',
    'gpu_max(id) FROM ap_wide WHERE id < 100',
    'gpu_min(i) FROM ap_wide']) q;
-- More groups than memory: by statistics; by a guess, which is too many as a rule.
CREATE TABLE ap_many WITH (autovacuum_enabled = off) AS SELECT i, i * 3 AS v FROM generate_series(1, 100000) i;
VACUUM (ANALYZE, FREEZE) ap_many;
SET work_mem = '1MB';
SELECT q, ap_core(q) FROM unnest(ARRAY['i, gpu_sum(v) FROM ap_many GROUP BY i',
    'i / 1000, gpu_sum(v) FROM ap_many GROUP BY 1']) q;
RESET work_mem;
DROP TABLE ap_many;
-- 0 asks for the node wherever it can be
SET gpuagg.min_table_pages = 0;
SELECT q, ap_core(q) FROM unnest(ARRAY[
    'gpu_sum(i) FROM ap_wide WHERE id = 7',
    'gpu_count(id) FROM ap_wide',
    'gpu_min(id) FROM ap_wide',
    'g, gpu_sum(i) FROM ap_wide GROUP BY g LIMIT 1']) q;
RESET gpuagg.device;
DROP TABLE ap_wide;
DROP FUNCTION ap_core;
-- GROUP BY () is no grouping set, and keys that others imply are not compared.
SELECT * FROM agg_plans('gpu_sum(i) FROM ap GROUP BY ()', 'gpu_sum(i) FROM ap GROUP BY (), ()');
SELECT gpu_sum(i) FROM ap WHERE i < 0 GROUP BY ();
SELECT k, gpu_sum(i) FROM ap WHERE k = 9 GROUP BY k;
SELECT id, t, gpu_sum(i) FROM ap WHERE id < 3 GROUP BY id, t ORDER BY 1;

-- As text.
-- nodes above name the columns as core's do
EXPLAIN (COSTS OFF) SELECT * FROM ap_other o, (SELECT k, gpu_sum(i) s FROM ap GROUP BY k) q WHERE q.k + o.k > q.s;
EXPLAIN (COSTS OFF) SELECT (SELECT o.v FROM ap_other o WHERE o.v = ap.k), gpu_sum(i) FROM ap GROUP BY k;
EXPLAIN (COSTS OFF) SELECT gpu_sum(i) FROM ap;
EXPLAIN (COSTS OFF) SELECT k, gpu_sum(i) FROM ap WHERE f > 5 AND t = 't1' GROUP BY k HAVING gpu_count(*) > 3;
EXPLAIN (COSTS OFF, VERBOSE) SELECT k + 1, gpu_sum(i) FILTER (WHERE upper(t) = 'T1'), gpu_sum(i), gpu_avg(i) FROM ap GROUP BY k + 1;
EXPLAIN (COSTS OFF, VERBOSE) SELECT gpu_sum(i), sum(i) FROM ap;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT k, gpu_sum(i) FROM ap WHERE f > 5 GROUP BY k HAVING gpu_count(*) > 3;
EXPLAIN (COSTS OFF) SELECT gpu_sum(i) FROM ap;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT xml) SELECT gpu_sum(i) FROM ap \g (expanded=off) /dev/null
SET max_parallel_workers_per_gather = 0;
-- Rows that the conditions removed.
CREATE FUNCTION ap_analyzed(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
        IF line ~ 'Removed|Rows Read|GpuAgg|Vectors|Groups|Columns' THEN
            RETURN NEXT regexp_replace(line, 'rows=(\d+)(\.\d+)?', 'rows=\1');
        END IF;
    END LOOP;
END
$$;
CREATE FUNCTION ap_timed(timing text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json, TIMING ' || timing || ') SELECT gpu_sum(i) FROM ap' INTO plan;
    RETURN plan::text;
END
$$;
SELECT ap_analyzed('SELECT k, gpu_sum(i) FROM ap WHERE i > 10 GROUP BY k HAVING gpu_count(*) = 598 OR k = 0');
SELECT ap_analyzed('SELECT k, gpu_sum(i) FROM ap GROUP BY k HAVING k > 1');
SELECT ap_analyzed('SELECT gpu_count(*) FROM ap');
-- what was read, as the statistics have it; in one process and with workers, which may read all or nothing
SET gpuagg.device = cpu;
SELECT k, gpu_sum(i), gpu_count(*) FROM ap WHERE k < 2 GROUP BY k ORDER BY k;
SELECT engine, cpu_batches, rows, reason, table_pages = pg_relation_size('ap') / 8192 AS pages, table_rows, table_vectors
FROM gpuagg_last_query();
SET max_parallel_workers_per_gather = 2;
SELECT gpu_sum(i) FROM ap;
SELECT engine, rows, reason, table_pages = pg_relation_size('ap') / 8192 AS pages, table_rows, table_vectors > 0 AS vectors
FROM gpuagg_last_query();
SET max_parallel_workers_per_gather = 0;
SELECT gpu_sum(v) FROM ap_other;
SELECT table_rows, table_vectors FROM gpuagg_last_query();
SELECT table_pages > 0 AND table_rows >= 3000 AND table_vectors >= 3 AS counted FROM gpuagg_stat;
RESET gpuagg.device;
-- times are shown where they are taken
SELECT t, (SELECT count(*) FROM regexp_matches(ap_timed(t), '"Time (Reading|Computing)": \d', 'g'))
FROM (VALUES ('on'), ('off')) v(t);

-- Privileges: of columns, functions, operators, and of the aggregates' parts.
CREATE TABLE ap_secret (a int, b int, c text);
INSERT INTO ap_secret SELECT i, i % 3, 'x' || i FROM generate_series(1, 30) i;
CREATE FUNCTION ap_function(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 + 1; END';
REVOKE EXECUTE ON FUNCTION ap_function(int) FROM PUBLIC;
CREATE ROLE gpuagg_reader;
GRANT SELECT (a) ON ap_secret TO gpuagg_reader;
SET ROLE gpuagg_reader;
SELECT gpu_sum(a) FROM ap_secret;
SELECT gpu_sum(b) FROM ap_secret;
SELECT gpu_sum(a) FROM ap_secret WHERE b = 1;
SELECT gpu_sum(a) FROM ap_secret GROUP BY b;
SELECT gpu_sum(a) FILTER (WHERE b = 1) FROM ap_secret;
SELECT gpu_sum(a) FROM ap_secret HAVING gpu_sum(b) > 1;
SELECT gpu_count(*) FROM ap_secret;
RESET ROLE;
GRANT SELECT ON ap_secret TO gpuagg_reader;
SET ROLE gpuagg_reader;
SELECT gpu_sum(ap_function(a)) FROM ap_secret;
SELECT gpu_sum(a) FROM ap_secret WHERE ap_function(a) > 3;
SELECT gpu_sum(a) FROM ap_secret GROUP BY ap_function(a);
SELECT gpu_sum(a) FILTER (WHERE ap_function(a) > 3) FROM ap_secret;
SELECT gpu_sum(a) FROM ap_secret HAVING ap_function(gpu_sum(a)::int) > 0;
RESET ROLE;
REVOKE EXECUTE ON FUNCTION pg_catalog.int4pl(int, int), pg_catalog.int4eq(int, int), pg_catalog.textlike(text, text),
    pg_catalog.numeric(int) FROM PUBLIC;
SET ROLE gpuagg_reader;
SELECT gpu_sum(a + 1) FROM ap_secret;
SELECT gpu_sum(a) FROM ap_secret WHERE a = 1;
SELECT gpu_sum(a) FROM ap_secret WHERE a IN (1, 2);
SELECT gpu_sum(CASE a WHEN 1 THEN 2 END) FROM ap_secret;
SELECT gpu_sum(nullif(a, 1)) FROM ap_secret;
SELECT gpu_sum(a) FROM ap_secret WHERE c LIKE 'x1%';
SELECT gpu_sum(a::numeric) FROM ap_secret;
SELECT b, gpu_sum(a) FROM ap_secret GROUP BY b;
RESET ROLE;
GRANT EXECUTE ON FUNCTION pg_catalog.int4pl(int, int), pg_catalog.int4eq(int, int), pg_catalog.textlike(text, text),
    pg_catalog.numeric(int) TO PUBLIC;
REVOKE EXECUTE ON FUNCTION gpu_sum(int) FROM PUBLIC;
SET ROLE gpuagg_reader;
SELECT gpu_sum(a) FROM ap_secret;
SELECT gpu_avg(a) FROM ap_secret HAVING gpu_sum(a) > 0;
RESET ROLE;
GRANT EXECUTE ON FUNCTION gpu_sum(int) TO PUBLIC;

-- Row security, and views that hide rows.
ALTER TABLE ap_secret ENABLE ROW LEVEL SECURITY;
SET ROLE gpuagg_reader;
SELECT gpu_sum(a), gpu_count(*) FROM ap_secret;
RESET ROLE;
CREATE POLICY ap_ones ON ap_secret USING (b = 1);
CREATE POLICY ap_named ON ap_secret USING (c = current_setting('ap.c', true));
SET ap.c = 'x3';
SET ROLE gpuagg_reader;
SELECT agg_nodes('SELECT gpu_sum(a), gpu_count(*) FROM ap_secret');
SELECT gpu_sum(a), gpu_count(*) FROM ap_secret;
PREPARE ap_visible AS SELECT gpu_sum(a), gpu_count(*) FROM ap_secret;
EXECUTE ap_visible;
SET ap.c = 'x6';
EXECUTE ap_visible;
RESET ROLE;
EXECUTE ap_visible;
DROP POLICY ap_named ON ap_secret;
SET ROLE gpuagg_reader;
-- rows that may not be seen raise no error
SELECT gpu_sum(1 / b) FROM ap_secret WHERE 1 / b > 0;
SELECT gpu_sum(1 / b), gpu_count(*) FILTER (WHERE 1 / b > 0) FROM ap_secret GROUP BY 1 / b;
RESET ROLE;
ALTER TABLE ap_secret DISABLE ROW LEVEL SECURITY;
CREATE FUNCTION ap_tells(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS
    $$ BEGIN RAISE WARNING 'saw %', $1; RETURN true; END $$;
CREATE VIEW ap_barrier WITH (security_barrier) AS SELECT * FROM ap_secret WHERE b = 1 AND a < 10;
SELECT agg_nodes('SELECT gpu_sum(a) FROM ap_barrier WHERE ap_tells(c)');
SELECT gpu_sum(a) FROM ap_barrier WHERE ap_tells(c);
SELECT gpu_sum(a) FILTER (WHERE ap_tells(c)) FROM ap_barrier WHERE a > 5;
SELECT gpu_sum(a) FROM ap_barrier WHERE 1 / b > 0;
SELECT gpu_sum(a) FROM ap_barrier WHERE 1 / b > 0 AND ap_tells(c);

-- A function that becomes volatile, or goes away, under a prepared plan.
SET plan_cache_mode = force_generic_plan;
CREATE FUNCTION ap_changing(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1; END';
PREPARE ap_changes AS SELECT gpu_sum(ap_changing(a)), gpu_count(*) FROM ap_secret WHERE ap_changing(b) > 0;
EXPLAIN (COSTS OFF) EXECUTE ap_changes;
EXECUTE ap_changes;
CREATE OR REPLACE FUNCTION ap_changing(int) RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN $1 + 1; END';
EXPLAIN (COSTS OFF) EXECUTE ap_changes;
EXECUTE ap_changes;
DROP FUNCTION ap_changing(int);
EXECUTE ap_changes;
RESET plan_cache_mode;

REVOKE ALL ON ap_secret FROM gpuagg_reader;
DROP OWNED BY gpuagg_reader;
DROP ROLE gpuagg_reader;
DROP VIEW ap_view, ap_first, ap_barrier;
DROP MATERIALIZED VIEW ap_kept;
DROP TABLE ap, ap_other, ap_parts, ap_parent, ap_child, ap_temporary, ap_secret;
DROP SEQUENCE ap_sequence;
DROP FUNCTION agg_nodes, agg_plans, ap_numbers, ap_unsafe, ap_function, ap_tells, ap_analyzed, ap_timed;
