-- The node GpuAgg and what a role may see and call, and plans whose functions and tables change:
-- each query beside the plan without the node, in one process and with workers.
SET client_min_messages = error;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
SET client_min_messages = notice;
SET gpuagg.enable_agg_scan = on;
SET gpuagg.min_table_pages = 0;
SET gpuagg.device = cpu;
SET max_parallel_workers_per_gather = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET enable_sort = off;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
\pset format unaligned
\pset tuples_only on

CREATE TABLE asec (a int, b int, c text, d numeric(8,2), e int) WITH (autovacuum_enabled = off);
INSERT INTO asec SELECT i, i % 3, 'x' || i % 5, i / 4.0, i FROM generate_series(1, 2000) i;
CREATE TABLE asec_owners (who text, b int);
INSERT INTO asec_owners VALUES ('gpuagg_other', 1), ('gpuagg_other', 2), ('nobody', 0);
CREATE ROLE gpuagg_other;
GRANT SELECT ON asec_owners TO gpuagg_other;

\getenv folder PG_ABS_SRCDIR
\set beside :folder '/lib/beside.sql'
\i :beside
-- Prepared plans are kept: those without the node, with it and with workers are statements of different names.
CREATE FUNCTION asec_prepare(name text, query text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    kind text;
BEGIN
    FOREACH kind IN ARRAY ARRAY['core', 'node', 'workers'] LOOP
        EXECUTE format('PREPARE %s_%s AS %s', kind, name, query);
    END LOOP;
END
$$;
-- For each query: whether the node has a part in its plan (G; E: an error); what it says, shortened; differences.
CREATE FUNCTION asec_beside(VARIADIC queries text[]) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT format('%s %s => %s%s', CASE plan LIKE '%(GpuAgg)%' WHEN true THEN 'G' WHEN false THEN '-' ELSE 'E' END, query,
        CASE WHEN 150 < length(expected::text) THEN left(expected::text, 90) || '...' || md5(expected::text) ELSE expected::text END, differences)
    FROM pg_temp.beside('beside.prefix=core_ gpuagg.enable_agg_scan=off max_parallel_workers_per_gather=0', ARRAY[
        'beside.prefix=node_ gpuagg.enable_agg_scan=on max_parallel_workers_per_gather=0',
        'beside.prefix=workers_ gpuagg.enable_agg_scan=on max_parallel_workers_per_gather=2'], queries)
$$;
-- Functions that note what they see: one that the planner may take for harmless, one that is cheap, one that fails.
CREATE FUNCTION asec_notes(text) RETURNS boolean LANGUAGE plpgsql STABLE COST 0.0001 AS $$
BEGIN
    PERFORM set_config('beside.seen', current_setting('beside.seen') || ',' || $1, true)
    WHERE position(',' || $1 || ',' IN current_setting('beside.seen') || ',') = 0;
    RETURN true;
END
$$;
CREATE FUNCTION asec_notes_harmless(text) RETURNS boolean LANGUAGE plpgsql STABLE LEAKPROOF COST 0.0001 AS
    $$ BEGIN RETURN asec_notes('harmless ' || $1); END $$;
CREATE FUNCTION asec_fails(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 0.0001 AS
    $$ BEGIN IF $1 = 0 THEN RAISE EXCEPTION 'saw %', $1; END IF; RETURN 1 / $1 > 0; END $$;

-- columns
SELECT pg_temp.plan('SELECT gpu_sum(a), gpu_count(c) FROM asec', 'max_parallel_workers_per_gather=2') LIKE '%Parallel Custom Scan (GpuAgg)%';
GRANT SELECT (a, c) ON asec TO gpuagg_other;
SET ROLE gpuagg_other;
SELECT asec_beside(
    'SELECT gpu_sum(a), gpu_count(c) FROM asec',
    'SELECT gpu_sum(a + b) FROM asec',
    'SELECT c, gpu_sum(a) FROM asec WHERE d > 1 GROUP BY c',
    'SELECT gpu_sum(a) FROM asec GROUP BY c, b',
    'SELECT gpu_sum(a) FILTER (WHERE b = 0) FROM asec',
    'SELECT gpu_sum(a) FROM asec HAVING gpu_max(d) > 1',
    'SELECT c, gpu_sum(a) FROM asec GROUP BY c HAVING c > ''x1''',
    'SELECT gpu_sum(a) FROM asec WHERE asec IS NOT NULL',
    'SELECT gpu_count(*) FROM asec',
    'SELECT gpu_count(*) FROM (SELECT a FROM asec) q');
RESET ROLE;
GRANT SELECT ON asec TO gpuagg_other;

-- functions: named, of operators, of casts, in subqueries that are computed once
CREATE FUNCTION asec_secret(int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN $1 + 1; END';
CREATE FUNCTION asec_less(int, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN $1 < length($2); END';
CREATE OPERATOR <<<< (LEFTARG = int, RIGHTARG = text, FUNCTION = asec_less);
CREATE TYPE asec_type AS ENUM ('2', '3');
CREATE FUNCTION asec_cast(int) RETURNS asec_type LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$ BEGIN RETURN '2'; END $$;
CREATE CAST (int AS asec_type) WITH FUNCTION asec_cast(int);
REVOKE EXECUTE ON FUNCTION asec_secret(int), asec_less(int, text), asec_cast(int) FROM PUBLIC;
CREATE FUNCTION asec_trusted() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$ SELECT gpu_sum(asec_secret(a)) FROM asec $$;
CREATE FUNCTION asec_trusted_key() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS
    $$ BEGIN RETURN gpu_count(*) FROM (SELECT gpu_sum(a) FROM asec GROUP BY asec_secret(b)) q; END $$;
SET ROLE gpuagg_other;
SELECT asec_beside(
    'SELECT gpu_sum(asec_secret(a)) FROM asec',
    'SELECT gpu_sum(a) FROM asec WHERE asec_secret(b) > 1',
    'SELECT gpu_sum(a) FROM asec WHERE false AND asec_secret(b) > 1',
    'SELECT gpu_sum(CASE WHEN a < 0 THEN asec_secret(a) END) FROM asec',
    'SELECT gpu_sum(a) FROM asec GROUP BY asec_secret(b)',
    'SELECT gpu_sum(a) FILTER (WHERE asec_secret(b) > 1) FROM asec',
    'SELECT gpu_sum(a) FROM asec HAVING asec_secret(1) > 5',
    'SELECT gpu_sum(a) FROM asec WHERE a > (SELECT asec_secret(b) FROM asec LIMIT 1)',
    'SELECT gpu_sum(a) FROM asec WHERE a <<<< c',
    'SELECT gpu_sum(a) FROM asec GROUP BY b::asec_type',
    'SELECT asec_trusted()', 'SELECT asec_trusted_key()');
RESET ROLE;
-- those of built-in operators, which programs have instructions for
REVOKE EXECUTE ON FUNCTION pg_catalog.int4mul(int, int), pg_catalog.numeric_gt(numeric, numeric), pg_catalog.date_trunc(text, timestamp),
    pg_catalog.int4gt(int, int), pg_catalog.numeric_add(numeric, numeric), pg_catalog.texteq(text, text), pg_catalog.int4um(int),
    pg_catalog.float8(int), pg_catalog.int8(int) FROM PUBLIC;
SET ROLE gpuagg_other;
SELECT asec_beside(
    'SELECT gpu_sum(a * b) FROM asec',
    'SELECT gpu_sum(-a) FROM asec',
    'SELECT gpu_sum(a) FROM asec WHERE d > 4',
    'SELECT gpu_sum(a) FROM asec WHERE a > 4',
    'SELECT gpu_sum(a) FROM asec WHERE a BETWEEN SYMMETRIC 4 AND 5',
    'SELECT gpu_sum(greatest(a, b)) FROM asec',
    'SELECT gpu_sum(d + 1) FROM asec',
    'SELECT c, gpu_sum(a) FROM asec GROUP BY c',
    'SELECT gpu_sum(a) FROM asec WHERE c IN (''x1'', ''x2'')',
    'SELECT gpu_sum(a) FROM asec WHERE c IS DISTINCT FROM ''x1''',
    'SELECT gpu_sum(a::float8) FROM asec',
    'SELECT gpu_sum(a::bigint) FROM asec');
RESET ROLE;
GRANT EXECUTE ON FUNCTION pg_catalog.int4mul(int, int), pg_catalog.numeric_gt(numeric, numeric), pg_catalog.date_trunc(text, timestamp),
    pg_catalog.int4gt(int, int), pg_catalog.numeric_add(numeric, numeric), pg_catalog.texteq(text, text), pg_catalog.int4um(int),
    pg_catalog.float8(int), pg_catalog.int8(int) TO PUBLIC;
REVOKE EXECUTE ON FUNCTION gpu_sum(int), gpu_count() FROM PUBLIC;
SET ROLE gpuagg_other;
SELECT asec_beside(
    'SELECT gpu_sum(a) FROM asec',
    'SELECT gpu_count(*) FROM asec',
    'SELECT gpu_avg(a) FROM asec HAVING gpu_sum(a) > 0',
    'SELECT gpu_avg(a), gpu_count(a) FROM asec');
RESET ROLE;
GRANT EXECUTE ON FUNCTION gpu_sum(int), gpu_count() TO PUBLIC;

-- row security: what functions see, and what errors tell
ALTER TABLE asec ENABLE ROW LEVEL SECURITY;
CREATE POLICY asec_some ON asec USING (b > 0);
SET ROLE gpuagg_other;
SELECT asec_beside(
    'SELECT gpu_sum(a), gpu_count(*) FROM asec',
    'SELECT gpu_count(*) FROM asec WHERE asec_notes(b::text)',
    'SELECT gpu_count(*) FROM asec WHERE asec_notes_harmless(b::text)',
    'SELECT gpu_count(*) FROM asec WHERE asec_notes(b::text) AND asec_notes_harmless(c)',
    'SELECT gpu_count(*) FILTER (WHERE asec_notes(b::text)) FROM asec',
    'SELECT gpu_count(*) FROM asec GROUP BY asec_notes(b::text)',
    'SELECT gpu_count(asec_notes(b::text)) FROM asec',
    'SELECT gpu_count(*) FROM asec WHERE 1 / b > 0',
    'SELECT gpu_sum(1 / b) FROM asec',
    'SELECT gpu_sum(a) FROM asec GROUP BY 1 / b',
    'SELECT gpu_count(*) FROM asec WHERE asec_fails(b)',
    'SELECT gpu_count(*) FROM asec WHERE c::int > 0',
    'SELECT gpu_count(*) FROM asec WHERE b = 0 OR 1 / b > 5');
RESET ROLE;
DROP POLICY asec_some ON asec;
CREATE POLICY asec_mine ON asec USING (b IN (SELECT o.b FROM asec_owners o WHERE o.who = current_user));
CREATE POLICY asec_few ON asec AS RESTRICTIVE USING (a < 1000);
SET ROLE gpuagg_other;
SELECT asec_beside(
    'SELECT gpu_sum(a), gpu_count(*) FROM asec',
    'SELECT gpu_count(*) FROM asec WHERE asec_notes(b::text)',
    'SELECT b, gpu_count(*) FROM asec WHERE asec_notes_harmless((a / 500)::text) GROUP BY b',
    'SELECT gpu_count(*) FROM asec WHERE 1 / b > 0');
-- a plan of one role's, executed as another
SET plan_cache_mode = force_generic_plan;
PREPARE asec_rows AS SELECT gpu_count(*) FROM asec;
EXECUTE asec_rows;
RESET ROLE;
EXECUTE asec_rows;
ALTER TABLE asec FORCE ROW LEVEL SECURITY;
EXECUTE asec_rows;
SET ROLE gpuagg_other;
EXECUTE asec_rows;
RESET ROLE;
SET row_security = off;
SET ROLE gpuagg_other;
EXECUTE asec_rows;
RESET ROLE;
RESET row_security;
ALTER TABLE asec NO FORCE ROW LEVEL SECURITY;
ALTER TABLE asec DISABLE ROW LEVEL SECURITY;
SET ROLE gpuagg_other;
EXECUTE asec_rows;
RESET ROLE;
DEALLOCATE asec_rows;

-- views: plain ones, barriers, and barriers in barriers
CREATE VIEW asec_open AS SELECT a, b, c, d FROM asec WHERE b > 0;
CREATE VIEW asec_barrier WITH (security_barrier) AS SELECT a, b, c, d FROM asec WHERE b > 0;
CREATE VIEW asec_inner WITH (security_barrier) AS SELECT * FROM asec_barrier WHERE c <> 'x1' AND asec_notes('inner ' || b);
GRANT SELECT ON asec_open, asec_barrier, asec_inner TO gpuagg_other;
REVOKE SELECT ON asec FROM gpuagg_other;
SET ROLE gpuagg_other;
SELECT asec_beside(
    'SELECT gpu_sum(a) FROM asec',
    'SELECT gpu_sum(a) FROM asec_open',
    'SELECT b, gpu_sum(a) FROM asec_barrier GROUP BY b',
    'SELECT gpu_count(*) FROM asec_barrier WHERE asec_notes(b::text)',
    'SELECT gpu_count(*) FROM asec_barrier WHERE asec_notes(b::text) AND asec_notes_harmless(b::text)',
    'SELECT gpu_count(*) FILTER (WHERE asec_notes(b::text)) FROM asec_barrier WHERE a > 5',
    'SELECT gpu_count(*) FROM asec_barrier WHERE asec_fails(b) AND 1 / b > 0',
    'SELECT gpu_count(*) FROM asec_inner WHERE asec_notes(c)',
    'SELECT c, gpu_count(*) FROM asec_inner WHERE asec_notes(c) AND asec_notes_harmless(b::text) GROUP BY c',
    'SELECT gpu_count(*) FROM asec_inner WHERE 1 / b > 0 AND 1 / (length(c) - 2) > 0');
RESET ROLE;

DROP VIEW asec_open, asec_inner, asec_barrier;

-- what a generic plan rests on changes
CREATE FUNCTION asec_changing(int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN $1; END';
CREATE FUNCTION asec_inlined(int) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT $1 + 1';
CREATE DOMAIN asec_domain AS int;
SELECT asec_prepare('asec_plan', 'SELECT gpu_sum(asec_changing(a)), gpu_sum(asec_inlined(b)), gpu_max(d), gpu_count(a::asec_domain), gpu_sum(e)
    FROM asec WHERE asec_changing(b) >= 0');
SELECT asec_prepare('asec_keys(int)', 'SELECT gpu_sum(a) FROM asec WHERE b = $1 GROUP BY b');
SELECT asec_beside('EXECUTE asec_plan', 'EXECUTE asec_keys(2)');
CREATE OR REPLACE FUNCTION asec_changing(int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN $1 + 2; END';
CREATE OR REPLACE FUNCTION asec_inlined(int) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT $1 + 1000';
SELECT asec_beside('EXECUTE asec_plan');
CREATE OR REPLACE FUNCTION asec_changing(int) RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN $1 + 2; END';
SELECT asec_beside('EXECUTE asec_plan');
ALTER FUNCTION asec_changing(int) STABLE;
SELECT asec_beside('EXECUTE asec_plan');
DROP FUNCTION asec_changing(int);
SELECT asec_beside('EXECUTE asec_plan');
CREATE FUNCTION asec_changing(int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN $1 + 3; END';
SELECT asec_beside('EXECUTE asec_plan');
DROP FUNCTION asec_changing(int);
CREATE FUNCTION asec_changing(int) RETURNS bigint LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN $1 + 4; END';
SELECT asec_beside('EXECUTE asec_plan');
DROP FUNCTION asec_changing(int);
CREATE FUNCTION asec_changing(int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN $1 + 5; END';
ALTER DOMAIN asec_domain ADD CHECK (VALUE < 2000);
SELECT asec_beside('EXECUTE asec_plan');
ALTER DOMAIN asec_domain DROP CONSTRAINT asec_domain_check;
ALTER TABLE asec ALTER d TYPE numeric(12,2);
SELECT asec_beside('EXECUTE asec_plan');
INSERT INTO asec VALUES (0, 2, 'x0', 9999999999.99, 0);
SELECT asec_beside('EXECUTE asec_plan', 'EXECUTE asec_keys(2)', 'SELECT gpu_sum(d), gpu_max(d) FROM asec');
CREATE INDEX asec_index ON asec (b);
SELECT asec_beside('EXECUTE asec_keys(2)');
DROP INDEX asec_index;
ALTER TABLE asec ALTER b SET STATISTICS 10;
ANALYZE asec;
SELECT asec_beside('EXECUTE asec_keys(2)');
ALTER TABLE asec DROP e;
SELECT asec_beside('EXECUTE asec_plan', 'EXECUTE asec_keys(1)');
ALTER TABLE asec ADD e text DEFAULT 'now a text';
SELECT asec_beside('EXECUTE asec_plan');
ALTER TABLE asec DROP e;
ALTER TABLE asec ADD e smallint DEFAULT 5;
SELECT asec_beside('EXECUTE asec_plan');
REVOKE EXECUTE ON FUNCTION asec_changing(int) FROM PUBLIC;
GRANT SELECT ON asec TO gpuagg_other;
SET ROLE gpuagg_other;
SELECT asec_beside('EXECUTE asec_plan');
RESET ROLE;

REVOKE ALL ON asec, asec_owners FROM gpuagg_other;
DEALLOCATE ALL;
DROP TABLE asec, asec_owners CASCADE;
DROP OPERATOR <<<< (int, text);
DROP CAST (int AS asec_type);
DROP FUNCTION asec_prepare, asec_beside, asec_notes, asec_notes_harmless, asec_fails, asec_secret, asec_less, asec_cast,
    asec_trusted, asec_trusted_key, asec_changing, asec_inlined;
DROP TYPE asec_type;
DROP DOMAIN asec_domain;
DROP OWNED BY gpuagg_other;
DROP ROLE gpuagg_other;
