-- Names can be replaced in a query: core's types all have their aggregates, and minima and maxima
-- of every type are core's, in every kind of call.
\set ECHO none
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS gpuagg;
BEGIN;
SELECT no_plan();

CREATE TEMP TABLE names AS SELECT unnest(ARRAY['sum', 'avg', 'min', 'max', 'count', 'var_pop', 'var_samp',
    'variance', 'stddev_pop', 'stddev_samp', 'stddev']) AS name;
SELECT set_eq($$SELECT name, proargtypes::regtype[]::text FROM names JOIN pg_proc ON proname = 'gpu_' || name
    WHERE prokind = 'a'$$,
    $$SELECT name, proargtypes::regtype[]::text FROM names JOIN pg_proc ON proname = name
    WHERE prokind = 'a' AND pronamespace = 'pg_catalog'::regnamespace$$,
    'aggregates have core''s types');

-- Sort operators, by which the planner goes to an index: gpuagg's own functions have none where equal
-- values can differ.
CREATE TEMP TABLE extremes AS SELECT p.proname, p.proargtypes[0]::regtype AS type, ours.aggsortop AS ours, core.aggsortop AS core,
    ours.aggcombinefn AS combine
FROM pg_aggregate ours JOIN pg_proc p ON p.oid = ours.aggfnoid
JOIN pg_proc c ON 'gpu_' || c.proname = p.proname AND c.proargtypes = p.proargtypes
    AND c.pronamespace = 'pg_catalog'::regnamespace JOIN pg_aggregate core ON core.aggfnoid = c.oid
WHERE p.proname IN ('gpu_min', 'gpu_max');
SELECT set_eq($$SELECT DISTINCT type::text FROM extremes WHERE ours IS DISTINCT FROM core$$,
    ARRAY['real', 'double precision', 'numeric', 'interval'], 'sort operators are core''s, but of four types');
SELECT is_empty($$SELECT * FROM extremes WHERE combine = 0 AND type <> 'record'::regtype$$,
    'parallel minima and maxima');

CREATE TYPE mood AS ENUM ('sad', 'calm', 'ok', 'happy');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN word AS text;
-- Two columns of each type, the second with other values.
CREATE TEMP TABLE samples (type text, of text, vals text[]);
INSERT INTO samples VALUES
    ('text', 'text', '{b,a,B,ä,"",aa,a b}'), ('text', 'varchar', '{x,Y,z}'), ('text', 'name', '{n1,n2,N}'),
    ('text', 'word', '{w,v}'), ('character', 'char(3)', '{"a  ",b,"ab "}'), ('oid', 'oid', '{4000000000,1,2}'),
    ('oid', 'regclass', '{pg_class,pg_proc,pg_type}'),
    ('tid', 'tid', '{"(1,2)","(0,9)","(1,1)"}'), ('time with time zone', 'timetz', '{12:00+01,12:00+02,11:00+00,11:00-05}'),
    ('inet', 'inet', '{10.0.0.1,10.0.0.0/8,::1,9.255.0.0}'), ('inet', 'cidr', '{10.0.0.0/8,10.0.0.0/16,1.0.0.0/8}'),
    ('pg_lsn', 'pg_lsn', '{0/1,1/0,0/FFFFFFFF}'), ('xid8', 'xid8', '{1,18446744073709551615,4294967296}'),
    ('anyarray', 'int[]', '{"{1,2}","{1}","{}","{1,NULL}","[2:3]={1,2}"}'), ('anyarray', 'text[]', '{"{b}","{a,c}","{B}"}'),
    ('anyenum', 'mood', '{ok,sad,calm,happy}'), ('bytea', 'bytea', '{"\\x00","\\x0001","\\xff",""}'),
    ('record', 'pair', '{"(1,a)","(1,b)","(0,z)","(,z)"}'),
    ('smallint', 'smallint', '{3,-1,2}'), ('integer', 'integer', '{3,-1,2}'), ('bigint', 'bigint', '{3,-1,2}'),
    ('real', 'real', '{3,-1,2.5,NaN}'), ('double precision', 'float8', '{3,-1,2.5,-inf}'),
    ('numeric', 'numeric', '{3.10,-1,2,NaN}'), ('money', 'money', '{3.10,-1,2}'), ('interval', 'interval', '{1 day,-1 mon,3:00}'),
    ('date', 'date', '{2000-01-01,infinity,1999-12-31}'), ('time without time zone', 'time', '{12:00,24:00,00:00}'),
    ('timestamp without time zone', 'timestamp', '{2000-01-01,infinity}'),
    ('timestamp with time zone', 'timestamptz', '{2000-01-01,-infinity}');
SELECT is_empty($$SELECT type::text FROM extremes EXCEPT SELECT type FROM samples$$, 'a sample of every type');
DELETE FROM samples WHERE type NOT IN (SELECT type::text FROM extremes);

-- Tables v1, v2, ...: the values several times, in groups, among NULLs.
DO $$
DECLARE
    s record;
BEGIN
    FOR s IN SELECT row_number() OVER (ORDER BY type, of) AS n, * FROM samples LOOP
        EXECUTE format('CREATE TABLE v%s AS SELECT i, i %% 4 AS g, CASE WHEN i %% 5 <> 0 THEN '
            '(%L::text[])[i * 7 %% %s + 1]::%s END AS x FROM generate_series(1, 200) i',
            s.n, s.vals, cardinality(s.vals), s.of);
        EXECUTE format('ALTER TABLE v%s SET (parallel_workers = 2)', s.n);
        EXECUTE format('ANALYZE v%s', s.n);
    END LOOP;
END
$$;
CREATE TEMP TABLE calls AS SELECT 'v' || row_number() OVER (ORDER BY type, of) AS source, * FROM samples;
CREATE FUNCTION same(query text, source text, OUT same boolean) LANGUAGE plpgsql AS $$
DECLARE
    core text;
    ours text;
BEGIN
    query := format('SELECT string_agg(r::text, E''\n'') FROM (%s) r', replace(query, 'vals', source));
    EXECUTE replace(query, '$', '') INTO core;
    EXECUTE replace(query, '$', 'gpu_') INTO ours;
    same := core IS NOT DISTINCT FROM ours AND core IS NOT NULL;
END
$$;
CREATE TEMP TABLE queries AS SELECT unnest(ARRAY[
    'SELECT $min(x), $max(x), pg_typeof($min(x)), pg_typeof($max(x)) FROM vals',
    'SELECT $min(x) IS NULL, $max(x) IS NULL FROM vals WHERE i < 0',
    'SELECT $min(x) IS NULL, $max(x) IS NULL FROM vals WHERE x IS NULL',
    'SELECT g, $min(x), $max(x) FROM vals GROUP BY g ORDER BY g',
    'SELECT g, $min(x) FILTER (WHERE i > 20), $max(DISTINCT x), $min(x ORDER BY i DESC) FROM vals GROUP BY g ORDER BY g',
    'SELECT g, $max(x) FROM vals GROUP BY ROLLUP (g) ORDER BY g',
    'SELECT i, $min(x) OVER (ORDER BY i), $max(x) OVER (PARTITION BY g) FROM vals ORDER BY i',
    'SELECT i, $min(x) OVER w, $sum(i) OVER w, $count(x) OVER w FROM vals WINDOW w AS (PARTITION BY g ORDER BY i) ORDER BY i',
    'SELECT i, $max(x) OVER (ORDER BY i ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING), $sum(i) OVER (PARTITION BY g ORDER BY i) '
    'FROM vals ORDER BY i',
    'SELECT i, $max(x) FILTER (WHERE i % 3 = 0) OVER (ORDER BY i) FROM vals ORDER BY i'
]) AS query;
SELECT ok(same(query, source), of || ': ' || query) FROM calls, queries;
-- In workers, and on the node GpuWindow's stack.
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SELECT ok(same(query, source), of || ' in parallel: ' || query) FROM calls, queries WHERE query !~ 'OVER';
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- From an index, where core's do.
CREATE FUNCTION from_index(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
        IF line ~ 'InitPlan' THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END
$$;
DO $$
DECLARE
    s text;
BEGIN
    FOR s IN SELECT source FROM calls LOOP
        EXECUTE format('CREATE INDEX ON %s (x)', s);
    END LOOP;
END
$$;
SET LOCAL enable_seqscan = off;
SELECT is(from_index(format('SELECT gpu_%s(x) FROM %s', name, source)), from_index(format('SELECT %s(x) FROM %s', name, source))
    AND type <> ALL (ARRAY['real', 'double precision', 'numeric', 'interval']), name || ' from an index: ' || of)
FROM calls, unnest(ARRAY['min', 'max']) name;
SELECT ok(same(query, source), of || ' with an index: ' || query) FROM calls, queries LIMIT 2 * (SELECT count(*) FROM calls);

-- The collation decides.
SELECT count(*) > 0 AS icu FROM pg_collation WHERE collname = 'und-x-icu' \gset
\if :icu
CREATE COLLATION loose (provider = icu, locale = '@colStrength=secondary', deterministic = false);
CREATE TABLE v AS SELECT i, i % 4 AS g, (ARRAY['b', 'A', 'a', 'B', 'ä', 'Z'])[i % 6 + 1] COLLATE loose AS x
FROM generate_series(1, 60) i;
SELECT ok(same(query, 'v'), 'nondeterministic: ' || query) FROM queries;
SELECT ok(same(replace(query, '(x)', '(x COLLATE ' || c || ')'), 'v'), c || ': ' || query)
FROM queries, unnest(ARRAY['"C"', '"und-x-icu"']) c;
SELECT throws_ok('SELECT gpu_min(x COLLATE "C" || y COLLATE "und-x-icu") FROM (VALUES (''a'', ''b'')) v(x, y)', '42P21');
\endif

-- What core's do not take, ours do not either.
SELECT throws_ok(format('SELECT gpu_%s(%s)', name, value), '42883', NULL, format('no gpu_%s(%s)', name, value))
FROM unnest(ARRAY['min', 'max']) name, unnest(ARRAY['true', '''{}''::jsonb', 'point(0, 0)']) value;
SELECT throws_ok($$SELECT gpuagg_enum_smaller(''::text, '')$$, '42804', NULL, 'only enums are compared as enums');

SELECT * FROM finish();
ROLLBACK;
