-- ALTER EXTENSION UPDATE from each earlier release: the catalog is that of a fresh installation, and what
-- the earlier release's objects give by this library is what they give by their own script's successor.
\set ECHO none
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS gpuagg;
BEGIN;
SELECT no_plan();

-- All that the catalog has about the extension's members, without object identifiers, places in a
-- script's text, and versions of columns that a server keeps for itself.
CREATE FUNCTION catalog() RETURNS TABLE (object text, property text, value text) LANGUAGE sql STABLE AS $$
    WITH members AS MATERIALIZED (
        SELECT classid, objid, i.type || ' ' || i.identity AS object
        FROM pg_depend, pg_identify_object(classid, objid, 0) i
        WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
            AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'gpuagg')),
    functions AS (SELECT object, p.* FROM members JOIN pg_proc p ON classid = 'pg_proc'::regclass AND objid = p.oid),
    relations AS (SELECT object, c.* FROM members JOIN pg_class c ON classid = 'pg_class'::regclass AND objid = c.oid)
    SELECT 'extension', 'row', (to_jsonb(e) - 'oid')::text FROM pg_extension e WHERE extname = 'gpuagg'
    UNION ALL
    SELECT object, 'member', '' FROM members
    UNION ALL
    SELECT object, 'row', (to_jsonb(f) - '{oid,prosupport,proargdefaults}'::text[])::text FROM functions f
    UNION ALL
    SELECT object, 'support', prosupport::oid::regprocedure::text FROM functions
    UNION ALL
    SELECT object, 'definition', pg_get_functiondef(oid) FROM functions WHERE prokind <> 'a'
    UNION ALL
    SELECT object, 'aggregate', ARRAY[aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn, aggmtransfn,
        aggminvtransfn, aggmfinalfn]::oid[]::regprocedure[]::text FROM functions JOIN pg_aggregate ON aggfnoid = oid
    UNION ALL
    SELECT object, 'aggregate row', (to_jsonb(a) - '{aggfnoid,aggtransfn,aggfinalfn,aggcombinefn,aggserialfn,
        aggdeserialfn,aggmtransfn,aggminvtransfn,aggmfinalfn}'::text[])::text
    FROM functions JOIN pg_aggregate a ON aggfnoid = oid
    UNION ALL
    SELECT object, 'row', (to_jsonb(r) - '{oid,reltype}'::text[])::text FROM relations r
    UNION ALL
    SELECT object, 'definition', pg_get_viewdef(oid) FROM relations
    UNION ALL
    SELECT object, 'column ' || attnum, ROW(attname, atttypid, atttypmod, attcollation, attnotnull, atthasdef, attacl,
        ARRAY(SELECT o FROM unnest(attoptions) o WHERE o !~ '^pg_'))::text
    FROM relations r JOIN pg_attribute ON attrelid = r.oid
    UNION ALL
    SELECT object, 'row', ROW(typtype, typowner, typacl)::text
    FROM members JOIN pg_type t ON classid = 'pg_type'::regclass AND objid = t.oid
    UNION ALL
    SELECT object, 'comment ' || objsubid, description FROM members JOIN pg_description ON (classoid, objoid) = (classid, objid)
    UNION ALL
    SELECT object, 'initial privileges ' || objsubid, initprivs::text FROM members JOIN pg_init_privs ON (classoid, objoid) = (classid, objid)
    UNION ALL
    SELECT object, format('dependency %s %s %s %s', deptype, d.objsubid, i.type, i.identity), count(*)::text
    FROM members JOIN pg_depend d USING (classid, objid), pg_identify_object(refclassid, refobjid, refobjsubid) i
    GROUP BY 1, 2
    UNION ALL
    SELECT object, 'shared dependency', ROW(refclassid, refobjid, deptype)::text
    FROM members JOIN pg_shdepend USING (classid, objid)
    WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
$$;
CREATE TEMP TABLE fresh (object text, property text, value text);
CREATE FUNCTION differences() RETURNS SETOF text LANGUAGE sql STABLE AS $$
    WITH now AS MATERIALIZED (SELECT * FROM catalog())
    SELECT 'only fresh: ' || q::text FROM (TABLE fresh EXCEPT ALL TABLE now) q
    UNION ALL SELECT 'only updated: ' || q::text FROM (TABLE now EXCEPT ALL TABLE fresh) q
$$;

-- Answers of all that is there to be called: by type of the first argument a value for each i.
CREATE TYPE mood AS ENUM ('low', 'even', 'high');
CREATE TEMP TABLE sample AS SELECT i, i % 3 AS g FROM generate_series(1, 500) i;
CREATE TEMP TABLE value_of (type regtype, expression text);
INSERT INTO value_of VALUES ('int2', 'i::int2'), ('int4', 'i * 7919 % 1009'), ('int8', 'i * 4000000000'), ('float4', '(i / 8.0)::float4'),
    ('float8', '(i % 97 / 4.0)::float8'), ('numeric', 'i / 7.0'), ('money', '(i * 0.37)::numeric::money'),
    ('interval', 'make_interval(days => i, secs => i % 17)'), ('date', 'date ''2000-01-01'' + i * 31 % 97'),
    ('time', 'time ''00:00'' + make_interval(secs => i % 89)'), ('timetz', '(time ''00:00'' + make_interval(secs => i % 89))::timetz'),
    ('timestamp', 'timestamp ''2000-01-01'' + make_interval(secs => i % 83)'),
    ('timestamptz', 'timestamptz ''2000-01-01 00:00+00'' + make_interval(secs => i % 83)'), ('text', '(i % 79)::text'),
    ('bpchar', '(i % 79)::text::bpchar'), ('oid', '(i % 73)::oid'), ('tid', 'format(''(%s,%s)'', i % 7, i % 5)::tid'),
    ('inet', 'inet ''10.0.0.0'' + i % 71'), ('pg_lsn', 'pg_lsn ''0/0'' + (i % 67)::numeric'), ('xid8', '(i % 61)::text::xid8'),
    ('anyarray', 'ARRAY[i % 5, i]'), ('anyenum', 'CASE i % 2 WHEN 0 THEN ''low'' ELSE ''high'' END::mood'), ('record', 'ROW(i % 5, i)'),
    ('"any"', 'nullif(i % 9, 0)'), ('bytea', 'int4send(i % 59)'), ('int4[]', 'ARRAY[i, 2, -i]'), ('int8[]', 'ARRAY[i, 2, -i]::int8[]'),
    ('float4[]', 'ARRAY[i / 8.0, 2, -1]::float4[]'), ('float8[]', 'ARRAY[i / 4.0, 2, -1]::float8[]');

-- The query for a function of the extension, or for core's of that name.
CREATE FUNCTION question(f pg_proc, core boolean) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT format(CASE f.prokind WHEN 'w' THEN 'SELECT string_agg(a::text, '','' ORDER BY i) FROM (SELECT i, %s OVER (PARTITION BY g
        ORDER BY i ROWS UNBOUNDED PRECEDING) AS a FROM %s) q' WHEN 'a' THEN 'SELECT string_agg(a::text, '','' ORDER BY g)
        FROM (SELECT g, %s AS a FROM %s GROUP BY g) q' ELSE 'SELECT string_agg(%s::text, '','' ORDER BY i) FROM %s' END,
        format('%I(%s)', CASE WHEN core THEN regexp_replace(f.proname, '^gpu_(running_)?', '') ELSE f.proname END,
            CASE WHEN f.proname ~ '_merge$' THEN 'state' || CASE f.pronargs WHEN 2 THEN ', NULL::numeric' ELSE '' END
            WHEN f.pronargs = 0 THEN '*' ELSE (SELECT expression FROM value_of WHERE type = f.proargtypes[0]) END
            || CASE WHEN f.proname = 'gpu_segmented_scan' THEN ', ARRAY[true, false, true]' ELSE '' END),
        CASE WHEN f.proname ~ '_merge$' THEN '(SELECT g, gpu_var_state(i * 4000000000) AS state FROM sample GROUP BY g, i % 5) s'
            ELSE 'sample' END)
$$;
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    got text;
BEGIN
    EXECUTE query INTO got;
    RETURN got;
END
$$;
CREATE FUNCTION callable() RETURNS SETOF pg_proc LANGUAGE sql STABLE AS $$
    SELECT p.* FROM pg_proc p JOIN pg_depend d ON classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e'
    WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'gpuagg') AND proname LIKE 'gpu\_%'
$$;
CREATE FUNCTION answers() RETURNS TABLE (function text, by_pages boolean, answer text) LANGUAGE plpgsql AS $$
BEGIN
    FOREACH by_pages IN ARRAY '{false,true}'::boolean[]
    LOOP
        PERFORM set_config('gpuagg.min_table_pages', CASE WHEN by_pages THEN '0' ELSE '1000000' END, true);
        RETURN QUERY SELECT p.oid::regprocedure::text, by_pages, answer(question(p, false)) FROM callable() p;
    END LOOP;
END
$$;

-- Fresh.
DROP EXTENSION gpuagg CASCADE;
CREATE EXTENSION gpuagg;
INSERT INTO fresh SELECT * FROM catalog();
SELECT cmp_ok((SELECT count(*) FROM fresh), '>', 2500::bigint, 'there is a catalog to compare');
SELECT is_empty($$SELECT DISTINCT classid::regclass FROM pg_depend WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'gpuagg')
    AND classid <> ALL ('{pg_proc,pg_class,pg_type,pg_rewrite}'::regclass[])$$, 'members are of the kinds that are compared');
CREATE TEMP TABLE fresh_answers AS SELECT * FROM answers();
SELECT is_empty('SELECT function FROM fresh_answers WHERE answer IS NULL', 'every function gives an answer');
-- Of floats core's variances and running sums in its order may be rounded otherwise; these sums are exact.
CREATE TEMP TABLE core_answers AS SELECT p.oid::regprocedure::text AS function, answer(question(p, true)) AS answer
FROM callable() p WHERE proname ~ '^gpu_(running_)?(sum|avg|min|max|count|var_pop|var_samp|variance|stddev|stddev_pop|stddev_samp)$'
    AND NOT (proargtypes[0] = ANY ('{float4,float8}'::regtype[]) AND proname ~ 'var|stddev');
SELECT cmp_ok((SELECT count(*) FROM core_answers), '>', 100::bigint, 'core has answers to compare');
SELECT is_empty('SELECT * FROM core_answers JOIN fresh_answers f USING (function) WHERE core_answers.answer <> f.answer',
                'they are core''s');

-- The comparison sees what an update may leave out or do otherwise.
CREATE FUNCTION seen(VARIADIC statements text[]) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    statement text;
    found boolean;
BEGIN
    FOREACH statement IN ARRAY statements LOOP
        EXECUTE statement;
    END LOOP;
    found := EXISTS (SELECT FROM differences());
    RAISE division_by_zero;
EXCEPTION WHEN division_by_zero THEN
    RETURN found;
END
$$;
SELECT ok(NOT seen('SELECT'), 'no difference without one');
SELECT ok(seen('ALTER FUNCTION gpuagg_version() VOLATILE'), 'seen: volatility');
SELECT ok(seen('ALTER FUNCTION gpuagg_evict(regclass) PARALLEL SAFE'), 'seen: parallel label');
SELECT ok(seen('ALTER FUNCTION gpuagg_resident_get() ROWS 1000'), 'seen: expected rows');
SELECT ok(seen('ALTER FUNCTION gpuagg_int4_accum(internal, int) STRICT'), 'seen: strictness');
SELECT ok(seen('COMMENT ON FUNCTION gpuagg_prefetch(regclass, name[]) IS NULL'), 'seen: comment of a function');
SELECT ok(seen('COMMENT ON AGGREGATE gpu_sum(int) IS ''sum'''), 'seen: comment of an aggregate');
SELECT ok(seen('COMMENT ON COLUMN gpuagg_stat.resident_pages IS NULL'), 'seen: comment of a column');
SELECT ok(seen('GRANT EXECUTE ON FUNCTION gpuagg_stop() TO PUBLIC'), 'seen: privilege on a function');
SELECT ok(seen('REVOKE SELECT ON gpuagg_resident FROM PUBLIC'), 'seen: privilege on a view');
SELECT ok(seen('GRANT SELECT (calls) ON gpuagg_stat TO pg_monitor'), 'seen: privilege on a column');
SELECT ok(seen('DELETE FROM pg_init_privs WHERE objoid = ''gpuagg_resident''::regclass'), 'seen: initial privileges');
SELECT ok(seen('ALTER EXTENSION gpuagg DROP FUNCTION gpuagg_evict(regclass)'), 'seen: membership');
SELECT ok(seen('ALTER EXTENSION gpuagg DROP FUNCTION gpuagg_evict(regclass)', 'DROP FUNCTION gpuagg_evict(regclass)'), 'seen: a member missing');
SELECT ok(seen('CREATE FUNCTION another() RETURNS int LANGUAGE sql RETURN 1', 'ALTER EXTENSION gpuagg ADD FUNCTION another()'), 'seen: a member more');
SELECT ok(seen('UPDATE pg_proc SET prosupport = 0 WHERE oid = ''gpu_sum(int)''::regprocedure'), 'seen: support of an aggregate');
SELECT ok(seen('UPDATE pg_proc SET prosrc = ''gpuagg_last_query'' WHERE oid = ''gpuagg_last_query()''::regprocedure'), 'seen: C function');
SELECT ok(seen('UPDATE pg_aggregate SET aggtransspace = 0 WHERE aggfnoid = ''gpu_sum(int)''::regprocedure'), 'seen: size of a state');
SELECT ok(seen('UPDATE pg_aggregate SET aggcombinefn = 0 WHERE aggfnoid = ''gpu_sum(int)''::regprocedure'), 'seen: a part of an aggregate');
SELECT ok(seen('UPDATE pg_aggregate SET aggtransfn = ''gpuagg_merge_sums(internal, bytea, anyelement)''::regprocedure WHERE aggfnoid = ''gpu_sum_merge(bytea)''::regprocedure'),
          'seen: another part of the same name');
SELECT ok(seen('CREATE OR REPLACE VIEW gpuagg_resident AS SELECT r.relation::regclass AS relation, a.attname AS attribute, r.place, r.chunks, r.pages,
    0::bigint AS table_pages, r.rows, r.bytes, r.device_chunks, r.device_bytes, r.uses, r.last_use, r.reason
    FROM gpuagg_resident_get() r JOIN pg_attribute a ON a.attrelid = r.relation AND a.attnum = r.attribute'), 'seen: a view''s definition');
SELECT ok(seen('ALTER VIEW gpuagg_resident SET (security_barrier)'), 'seen: a view''s option');
SELECT ok(seen('DELETE FROM pg_depend WHERE objid = ''gpu_sum(int)''::regprocedure AND refobjid = ''gpuagg_state_combine(internal, internal)''::regprocedure'),
          'seen: dependency');
SELECT ok(seen('CREATE ROLE regress_gpuagg_other', 'ALTER FUNCTION gpuagg_version() OWNER TO regress_gpuagg_other'), 'seen: owner');
SELECT ok(seen('UPDATE pg_extension SET extversion = ''0'' WHERE extname = ''gpuagg'''), 'seen: version');

-- The earlier release, by this library.
DROP EXTENSION gpuagg;
CREATE EXTENSION gpuagg VERSION '0.1.0';
SELECT ok((SELECT count(*) FROM differences()) > 10, '0.1.0 is another release');
CREATE TEMP TABLE earlier_answers AS SELECT * FROM answers();
SELECT cmp_ok((SELECT count(*) FROM earlier_answers), '>', 300::bigint, '0.1.0 has functions');
SELECT is_empty('TABLE earlier_answers EXCEPT TABLE fresh_answers', '0.1.0: every function''s answer');
SELECT is((SELECT count(*) FROM jsonb_object_keys((SELECT to_jsonb(q) FROM gpuagg_last_query() q))), 10::bigint, '0.1.0: gpuagg_last_query() has its columns');
SELECT is((SELECT count(*) FROM jsonb_object_keys((SELECT to_jsonb(q) FROM gpuagg_stat q))), 16::bigint, '0.1.0: so has gpuagg_stat');
SELECT is((SELECT shared AND calls >= 0 AND table_vectors >= 0 AND stats_reset <= clock_timestamp() FROM gpuagg_stat), true, '0.1.0: and its values');

-- Updated, under views of users.
CREATE VIEW last AS SELECT * FROM gpuagg_last_query();
CREATE VIEW stat AS SELECT * FROM gpuagg_stat;
CREATE VIEW sums AS SELECT g, gpu_sum(i) AS s, gpu_avg(i::float8) AS a FROM sample GROUP BY g;
CREATE TEMP TABLE sums_before AS TABLE sums;
PREPARE prepared AS SELECT gpu_sum(i), gpu_stddev(i) FROM sample;
CREATE TEMP TABLE prepared_before AS EXECUTE prepared;
ALTER EXTENSION gpuagg UPDATE;
SELECT is_empty('SELECT differences()', 'the catalog is that of a fresh installation');
SELECT bag_eq('SELECT * FROM answers()', 'TABLE fresh_answers', 'so are answers');
SELECT bag_eq('TABLE sums', 'TABLE sums_before', 'a view');
CREATE TEMP TABLE prepared_after AS EXECUTE prepared;
SELECT bag_eq('TABLE prepared_after', 'TABLE prepared_before', 'a prepared statement');
SELECT is((SELECT count(*) FROM jsonb_object_keys((SELECT to_jsonb(q) FROM last q))), 10::bigint, 'a view of gpuagg_last_query() has the columns that it had');
SELECT is((SELECT count(*) FROM jsonb_object_keys((SELECT to_jsonb(q) FROM stat q))), 16::bigint, 'a view of gpuagg_stat');
SELECT is((SELECT count(*) FROM jsonb_object_keys((SELECT to_jsonb(q) FROM gpuagg_last_query() q))), 14::bigint, 'gpuagg_last_query() has more');
SELECT throws_ok('ALTER EXTENSION gpuagg UPDATE TO ''0.1.0''', '22023', NULL, 'there is no way back');

-- Where pg_upgrade has been: aggregates without their support functions, and none of types that an older server
-- has no minima and maxima of.
DROP VIEW last, stat, sums;
DROP EXTENSION gpuagg;
CREATE EXTENSION gpuagg VERSION '0.1.0';
UPDATE pg_proc SET prosupport = 0 WHERE prokind = 'a' AND prosupport = 'gpuagg_support(internal)'::regprocedure;
ALTER EXTENSION gpuagg DROP AGGREGATE gpu_min(inet);
ALTER EXTENSION gpuagg DROP AGGREGATE gpu_max(pg_lsn);
DROP AGGREGATE gpu_min(inet), gpu_max(pg_lsn);
ALTER EXTENSION gpuagg UPDATE;
SELECT is_empty('SELECT differences()', 'also of an extension that pg_upgrade has brought');

SELECT * FROM finish();
ROLLBACK;
