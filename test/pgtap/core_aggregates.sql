-- gpuagg.core_aggregates knows this version's aggregates: of the names that it takes, all over types
-- that gpuagg has, and no others.
\set ECHO none
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS gpuagg;
LOAD 'gpuagg';
BEGIN;
SELECT no_plan();

SET LOCAL gpuagg.min_table_pages = 0;
SET LOCAL max_parallel_workers_per_gather = 0;
CREATE TEMP TABLE any_rows (i integer);
CREATE FUNCTION is_taken(call text, setting text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    PERFORM set_config('gpuagg.core_aggregates', setting, true);
    EXECUTE format('EXPLAIN (COSTS OFF) SELECT %s FROM any_rows', call) INTO line;
    RETURN line LIKE '%(GpuAgg)%';
END $$;

-- Each aggregate of core's with one argument, of a type that a column can have.
CREATE TEMP TABLE calls AS
SELECT p.proname AS name, coalesce(t.type, '') AS type,
    CASE WHEN t.type IS NULL THEN 'pg_catalog.count(*)' ELSE format('pg_catalog.%s(NULL::%s)', p.proname, t.type) END AS call
FROM pg_proc p,
    LATERAL (SELECT CASE WHEN pronargs = 0 THEN NULL WHEN proname = 'count' THEN 'text'
                    ELSE proargtypes[0]::regtype::text END AS type) t
WHERE p.prokind = 'a' AND p.pronamespace = 'pg_catalog'::regnamespace AND p.pronargs < 2 AND p.provariadic = 0
    AND (p.pronargs = 0 OR proname = 'count' OR p.proargtypes[0]::regtype::text !~ '^any|^internal|^record|^"any"');
SELECT cmp_ok(count(*), '>', 100::bigint, 'core''s aggregates') FROM calls;

SELECT set_eq($$SELECT name || '(' || type || ')' FROM calls WHERE is_taken(call, 'exact')$$,
    $$SELECT name || '(' || type || ')' FROM calls WHERE name = 'count' OR
        (name IN ('sum', 'avg') OR name ~ '^(var|stddev)') AND type IN ('smallint', 'integer', 'bigint', 'numeric') OR
        name IN ('min', 'max') AND type IN ('smallint', 'integer', 'bigint', 'date', 'time without time zone',
            'timestamp without time zone', 'timestamp with time zone', 'money')$$,
    'exact: what does not depend on the order of rows');
SELECT set_eq($$SELECT name || '(' || type || ')' FROM calls WHERE is_taken(call, 'all') AND NOT is_taken(call, 'exact')$$,
    $$SELECT name || '(' || type || ')' FROM calls WHERE
        (name IN ('sum', 'avg', 'min', 'max') OR name ~ '^(var|stddev)') AND type IN ('real', 'double precision') OR
        name = 'sum' AND type IN ('money', 'interval') OR name = 'avg' AND type = 'interval' OR
        name IN ('min', 'max') AND type IN ('numeric', 'interval')$$,
    'all: beside these what does');
SELECT is_empty($$SELECT call FROM calls WHERE is_taken(call, 'off')$$, 'off: nothing');

SELECT * FROM finish();
ROLLBACK;
