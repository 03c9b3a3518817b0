-- The scripts run as a superuser, perhaps in a schema where others may create objects: none
-- of theirs is called, also where they fit a call better than core's do.
\set ECHO none
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS gpuagg;
BEGIN;
SELECT no_plan();
DROP EXTENSION gpuagg CASCADE;
INSERT INTO pg_extension SELECT 1, 'citus', extowner, extnamespace, true, '0', NULL, NULL FROM pg_extension
WHERE extname = 'pgtap';

CREATE SCHEMA traps;
CREATE FUNCTION traps.trap() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RAISE 'a function of somebody else was called';
END
$$;
DO $$
DECLARE
    types text;
BEGIN
    FOREACH types IN ARRAY '{"text,text","text,name","text,name,text","text,name,text,name","text,name,text,name,text"}'::text[]
    LOOP
        EXECUTE format('CREATE FUNCTION traps.format(%s) RETURNS text LANGUAGE sql RETURN traps.trap()', types);
    END LOOP;
    FOREACH types IN ARRAY '{regclass,regtype,regnamespace,regproc,regprocedure}'::text[]
    LOOP
        EXECUTE format('CREATE FUNCTION traps.is(oid, %s) RETURNS boolean LANGUAGE sql RETURN traps.trap()::boolean', types);
        EXECUTE format('CREATE OPERATOR traps.= (FUNCTION = traps.is, LEFTARG = oid, RIGHTARG = %s)', types);
        EXECUTE format('CREATE OPERATOR traps.<> (FUNCTION = traps.is, LEFTARG = oid, RIGHTARG = %s)', types);
    END LOOP;
END
$$;
CREATE FUNCTION traps.joined(text, name) RETURNS text LANGUAGE sql RETURN traps.trap();
CREATE OPERATOR traps.|| (FUNCTION = traps.joined, LEFTARG = text, RIGHTARG = name);
SELECT throws_ok($$SET LOCAL search_path = traps, public; SELECT format('%s', 'x'::text)$$, 'P0001', NULL, 'the traps work');
RESET search_path;
SELECT lives_ok('CREATE EXTENSION gpuagg SCHEMA traps', 'none is called by the install script');
SELECT is(current_setting('search_path'), '"$user", public', 'the search path is as it was');
SELECT is((SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'gpuagg'), 'traps', 'the schema');
SELECT is_empty($$SELECT objid FROM pg_depend JOIN pg_extension e ON e.oid = refobjid AND extname = 'gpuagg', pg_proc p
    WHERE deptype = 'e' AND classid = 'pg_proc'::regclass AND p.oid = objid AND pronamespace <> 'traps'::regnamespace$$,
    'all its functions are there');
SELECT is(traps.gpu_max('a'::text) || traps.gpu_count(1), 'a1', 'which work');

DROP EXTENSION gpuagg;
CREATE EXTENSION gpuagg SCHEMA traps VERSION '0.1.0';
SELECT lives_ok('ALTER EXTENSION gpuagg UPDATE', 'none is called by the update either');
SELECT is(traps.gpu_max('a'::text) || (SELECT count(*) FROM traps.gpuagg_resident), 'a0', 'after which all works');
SELECT is((SELECT count(*) FROM pg_proc WHERE proname LIKE 'gpu%' AND pronamespace <> 'traps'::regnamespace), 0::bigint, 'in the schema');
SELECT * FROM finish();
ROLLBACK;
