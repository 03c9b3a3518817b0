-- In a database with Citus, gpu_count has core's types by name, so that Citus distributes it.
-- Nothing else of Citus is needed for that than that its extension is there.
\set ECHO none
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS gpuagg;
BEGIN;
SELECT no_plan();
SELECT is((SELECT count(*) FROM pg_proc WHERE proname = 'gpu_count'), 2::bigint, 'elsewhere there are two');
DROP EXTENSION gpuagg CASCADE;
INSERT INTO pg_extension SELECT 1, 'citus', extowner, extnamespace, true, '0', NULL, NULL FROM pg_extension
WHERE extname = 'pgtap';
CREATE EXTENSION gpuagg;

SELECT is_empty($$SELECT typname FROM pg_type t WHERE typnamespace = 'pg_catalog'::regnamespace
    AND typtype IN ('b', 'r', 'm') AND to_regprocedure(format('gpu_count(%s)', format_type(oid, NULL))) IS NULL$$,
    'core''s types have each their own');
SELECT is_empty($$SELECT a.aggfnoid FROM pg_aggregate a JOIN pg_proc p ON p.oid = a.aggfnoid,
    (SELECT * FROM pg_aggregate WHERE aggfnoid = 'gpu_count("any")'::regprocedure) o
    WHERE proname = 'gpu_count' AND pronargs = 1 AND (a.aggcombinefn, a.aggmtransfn, a.aggminvtransfn,
        a.agginitval, a.aggminitval) IS DISTINCT FROM
        (o.aggcombinefn, o.aggmtransfn, o.aggminvtransfn, o.agginitval, o.aggminitval)$$,
    'all of them are one');
-- Citus calls fmgr_info() for each row, which is quick for core's own functions.
SELECT is_empty($$SELECT aggfnoid::regprocedure FROM pg_aggregate a JOIN pg_proc p ON p.oid = aggfnoid
    WHERE proname = 'gpu_count' AND proargtypes[0] <> '"any"'::regtype AND aggtransfn <> 'int8inc_any'::regproc$$,
    'they count by core''s own function');
-- It combines without a collation.
SELECT set_eq($$SELECT aggfnoid::regprocedure::text, aggcombinefn <> 0 FROM pg_aggregate a JOIN pg_proc p ON p.oid = aggfnoid
    WHERE proname = 'gpu_max' AND proargtypes[0] IN ('text'::regtype, 'bpchar'::regtype, 'oid'::regtype, 'int4'::regtype)$$,
    $$VALUES ('gpu_max(text)', false), ('gpu_max(character)', false), ('gpu_max(oid)', true), ('gpu_max(integer)', true)$$,
    'minima and maxima of strings are not combined');

-- No call becomes ambiguous: literals, rows, every type of core's, domains and types of others.
CREATE TYPE mood AS ENUM ('a');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN word AS varchar(5);
CREATE DOMAIN words AS text[];
SELECT is(gpu_count('x'), 1::bigint, 'a literal');
SELECT is(gpu_count(NULL), 0::bigint, 'NULL');
SELECT is(gpu_count(ROW(1, 2)), 1::bigint, 'a row');
SELECT lives_ok(format('SELECT gpu_count(NULL::%s)', oid::regtype), 'of ' || oid::regtype)
FROM pg_type WHERE typtype NOT IN ('p', 'c') AND typnamespace IN ('pg_catalog'::regnamespace, 'public'::regnamespace)
    AND oid <> ALL ('{word[],words[]}'::regtype[]) OR oid IN ('pair'::regtype, 'record'::regtype);
SELECT throws_ok('SELECT gpu_count(NULL::word[])', '42725', NULL, 'but for arrays of domains over a string');
SELECT results_eq('SELECT gpu_count(x), gpu_count(DISTINCT x), gpu_count(x) FILTER (WHERE x > 1), gpu_count(*)
    FROM (VALUES (1), (NULL), (2), (2)) v(x)', 'VALUES (3::bigint, 2::bigint, 2::bigint, 4::bigint)');
SELECT results_eq('SELECT gpu_count(x) OVER (ORDER BY i), gpu_count(x) OVER (ORDER BY i ROWS 1 PRECEDING)
    FROM (VALUES (1, 1), (2, NULL), (3, 2), (4, 2)) v(i, x) ORDER BY i',
    'VALUES (1::bigint, 1::bigint), (1, 1), (2, 1), (3, 2)');
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan;
END
$$;
SELECT matches(plan_of('SELECT gpu_count(x) OVER (ORDER BY i) FROM (SELECT i, i AS x FROM generate_series(1, 9) i) v'),
               'GpuWindow', 'computed by GpuWindow');
SELECT * FROM finish();
ROLLBACK;
