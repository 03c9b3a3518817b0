-- The extension's objects: that they exist, how they are labelled, who may use them.
\set ECHO none
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS gpuagg;
BEGIN;
SELECT no_plan();

CREATE TEMP TABLE objects AS SELECT d.classid, d.objid
FROM pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
WHERE e.extname = 'gpuagg' AND d.deptype = 'e';
CREATE TEMP TABLE functions AS SELECT p.* FROM pg_proc p
JOIN objects o ON o.classid = 'pg_proc'::regclass AND o.objid = p.oid;
CREATE TEMP TABLE aggregates AS SELECT p.oid, p.proname, p.oid::regprocedure AS signature, a.*
FROM pg_aggregate a JOIN functions p ON p.oid = a.aggfnoid;
-- What aggregates consist of.
CREATE TEMP TABLE parts AS SELECT DISTINCT f.oid FROM aggregates,
    unnest(ARRAY[aggtransfn, aggcombinefn, aggserialfn, aggdeserialfn, aggfinalfn, aggmtransfn,
    aggminvtransfn, aggmfinalfn]::oid[]) f(oid) WHERE f.oid <> 0;

-- Signatures: these and no others.  (Aggregates have core's types: core_types.sql.)
CREATE TEMP TABLE promised AS
SELECT prefix || name AS name, t::regtype AS type
FROM (VALUES ('{sum}', '{int2,int4,int8,float4,float8,numeric,money,interval}'),
             ('{avg}', '{int2,int4,int8,float4,float8,numeric,interval}'),
             ('{min,max}', '{int2,int4,int8,float4,float8,numeric,money,interval,date,time,timestamp,timestamptz}'),
             ('{count}', '{"\"any\""}'),
             ('{var_pop,var_samp,variance,stddev_pop,stddev_samp,stddev}',
              '{int2,int4,int8,float4,float8,numeric}')) v(names, types),
     unnest(names::text[]) name, unnest(types::text[]) t, unnest('{gpu_,gpu_running_}'::text[]) prefix
WHERE prefix = 'gpu_' OR name IN ('sum', 'avg', 'min', 'max', 'count');
SELECT set_eq($$SELECT proname::text, proargtypes[0]::regtype FROM functions WHERE proname LIKE 'gpu_running_%'$$,
    $$SELECT name, type FROM promised WHERE name LIKE 'gpu_running_%'$$, 'running functions and their types');
SELECT is((SELECT array_agg(signature::text ORDER BY signature::text COLLATE "C") FROM aggregates
           WHERE proname = 'gpu_count'), ARRAY['gpu_count("any")', 'gpu_count()'], 'two gpu_count');
SELECT is_empty($$SELECT oid::regprocedure FROM functions WHERE proname LIKE 'gpu_running_%'
    AND (prokind <> 'w' OR pronargs <> 2 OR proargtypes[1] <> 'boolean'::regtype OR pronargdefaults <> 1
         OR proargnames <> ARRAY['x', 'exclusive']
         OR pg_get_function_arguments(oid) NOT LIKE '%exclusive boolean DEFAULT false')$$,
    'exclusive is named and false by default');

-- Every result type is core's.
SELECT is_empty($$SELECT ours.oid::regprocedure FROM functions ours
    WHERE ours.proname IN (SELECT name FROM promised) AND NOT EXISTS (SELECT FROM pg_proc core
        WHERE core.proname = regexp_replace(ours.proname, '^gpu_(running_)?', '')
        AND core.pronamespace = 'pg_catalog'::regnamespace AND core.prokind = 'a'
        AND core.proargtypes[0] IS NOT DISTINCT FROM ours.proargtypes[0]
        AND core.prorettype = ours.prorettype)$$,
    'results have the types of core''s aggregates');

-- Labels.
SELECT is_empty($$SELECT signature FROM aggregates JOIN functions USING (oid)
    WHERE proparallel <> 's'$$, 'aggregates are parallel safe');
SELECT is_empty($$SELECT signature FROM aggregates JOIN functions USING (oid)
    WHERE provolatile <> 'i'$$, 'aggregates are immutable');
SELECT is_empty($$SELECT signature FROM aggregates JOIN functions USING (oid)
    WHERE (aggcombinefn = 0) <> (pronargs = 2 OR proargtypes[0] = 'record'::regtype)$$,
    'aggregates have combine functions, but for merges with a type and for records');
-- Citus calls the parts of an aggregate with a combine function one by one, on several servers, with
-- no expression that tells types.  It takes no arguments but of the declared types, and what the
-- final function returns must be declared as the aggregate's result.
SELECT is_empty($$SELECT signature FROM aggregates JOIN functions p USING (oid)
    LEFT JOIN pg_proc f ON f.oid = aggfinalfn
    WHERE aggcombinefn <> 0 AND aggtranstype::regtype::text NOT IN ('anyarray', 'anyenum')
    AND (aggfinalextra OR coalesce(f.prorettype, aggtranstype) <> p.prorettype
         OR EXISTS (SELECT FROM unnest(p.proargtypes) t JOIN pg_type ON pg_type.oid = t WHERE typtype = 'p')
            AND p.proname <> 'gpu_count')$$,
    'aggregates with combine functions go by declared types');
SELECT is_empty($$SELECT signature FROM aggregates WHERE aggtranstype = 'internal'::regtype
    AND aggcombinefn <> 0 AND (aggserialfn = 0 OR aggdeserialfn = 0)$$,
    'internal states that are combined can be serialized');
SELECT is_empty($$SELECT signature FROM aggregates WHERE aggtranstype = 'internal'::regtype
    AND aggtransspace NOT BETWEEN 1 AND 256$$, 'internal states state their size');
SELECT is_empty($$SELECT signature FROM aggregates WHERE aggmtransfn <> 0
    AND aggmtranstype = 'internal'::regtype AND aggmtransspace = 0$$,
    'states of moving frames state their size');
SELECT is_empty($$SELECT signature FROM aggregates WHERE proname IN (SELECT name FROM promised)
    AND proname NOT IN ('gpu_min', 'gpu_max') AND aggminvtransfn = 0$$,
    'sums, averages, counts and variances have moving-frame functions');
SELECT is_empty($$SELECT signature FROM aggregates WHERE aggfinalfn <> 0 AND aggfinalmodify <> 'r'$$,
    'final functions do not modify the state');
SELECT is_empty($$SELECT oid::regprocedure FROM parts JOIN pg_proc p USING (oid)
    WHERE p.proparallel <> 's'$$, 'what aggregates call is parallel safe');
SELECT is_empty($$SELECT signature, t FROM aggregates, unnest(ARRAY[aggtransfn::oid, aggmtransfn::oid]) t
    JOIN functions p ON p.oid = t WHERE p.prosupport = 0$$, 'transition functions of ours have a support function');
SELECT is_empty($$SELECT oid::regprocedure FROM functions WHERE prokind IN ('a', 'w') AND prosupport = 0$$,
    'aggregates and window functions have a support function');
SELECT is_empty($$SELECT oid::regprocedure FROM functions WHERE prokind = 'w'
    AND (provolatile <> 'i' OR proisstrict)$$, 'window functions are immutable and see NULLs');
-- Taking an internal argument and not strict, a function must be called through an aggregate only.
SELECT is_empty($$SELECT oid::regprocedure FROM functions WHERE prorettype = 'internal'::regtype
    AND NOT 'internal'::regtype = ANY (proargtypes)$$, 'nothing makes an internal value from others');
SELECT is_empty($$SELECT oid::regprocedure FROM functions WHERE prosecdef$$,
    'nothing runs with its owner''s rights');
SELECT is_empty($$SELECT oid::regprocedure FROM functions WHERE proleakproof$$,
    'nothing claims to be leakproof');
SELECT is_empty($$SELECT f.oid::regprocedure FROM functions f JOIN pg_language l ON l.oid = prolang
    WHERE l.lanname NOT IN ('c', 'sql', 'internal')$$, 'functions are in C or SQL');
SELECT is((SELECT array_agg(DISTINCT probin) FROM functions JOIN pg_language l ON l.oid = prolang
           WHERE l.lanname = 'c'), ARRAY['$libdir/gpuagg'], 'all in one library');

-- Every object that users call says what it is; the others are used by one that users call.
SELECT set_eq($$SELECT proname::text FROM functions WHERE oid NOT IN (SELECT oid FROM parts)
    AND proname LIKE 'gpuagg\_%'$$,
    ARRAY['gpuagg_support', 'gpuagg_version', 'gpuagg_devices', 'gpuagg_last_query', 'gpuagg_stat_get',
          'gpuagg_stat_reset', 'gpuagg_stop', 'gpuagg_restart', 'gpuagg_kernel_benchmark', 'gpuagg_resident_get',
          'gpuagg_prefetch', 'gpuagg_evict'],
    'all other internal functions are parts of aggregates');
SELECT is_empty($$SELECT pg_describe_object(classid, objid, 0) FROM objects
    WHERE (obj_description(objid, (SELECT relname FROM pg_class WHERE oid = classid)) IS NULL)
    <> (objid IN (SELECT oid FROM parts UNION SELECT oid FROM functions
                  WHERE proname IN ('gpuagg_support', 'gpuagg_stat_get', 'gpuagg_resident_get')))
    AND classid <> 'pg_type'::regclass AND classid <> 'pg_rewrite'::regclass$$,
    'what users call has a comment, and nothing else has');
-- As the manual lists functions: \df gpu_* and by comment.
SELECT set_eq($$SELECT proname::text FROM pg_proc WHERE proname LIKE 'gpuagg\_%' AND obj_description(oid, 'pg_proc') IS NOT NULL$$,
    ARRAY['gpuagg_version', 'gpuagg_devices', 'gpuagg_last_query', 'gpuagg_stat_reset', 'gpuagg_stop', 'gpuagg_restart',
          'gpuagg_kernel_benchmark', 'gpuagg_prefetch', 'gpuagg_evict'], 'the administrator''s functions are those with a comment');
SELECT is_empty($$SELECT oid::regprocedure FROM functions WHERE proname ~ '^(gpu_.*)$' AND (obj_description(oid, 'pg_proc') IS NULL
    OR oid IN (SELECT oid FROM parts))$$, 'what begins with gpu_ is for queries');
SELECT isnt((SELECT obj_description(oid, 'pg_extension') FROM pg_extension WHERE extname = 'gpuagg'),
            NULL, 'the extension has a comment');

-- Names begin as promised.
SELECT is_empty($$SELECT oid::regprocedure FROM functions
    WHERE proname NOT IN (SELECT name FROM promised) AND proname !~ '^gpu_(reduce|scan|segmented_scan)$'
    AND proname !~ '^gpu_((sum|avg|var)_state|((sum|avg|state|var_pop|var_samp|variance|stddev|stddev_pop|stddev_samp)_merge))$'
    AND proname !~ '^gpuagg_'$$,
    'functions begin with gpu_ or gpuagg_');

-- Rights.
CREATE ROLE regress_gpuagg_nobody;
SELECT ok(NOT has_function_privilege('regress_gpuagg_nobody', oid, 'EXECUTE'),
          oid::regprocedure || ' is not for everybody')
FROM functions WHERE proname IN ('gpuagg_stat_reset', 'gpuagg_stop', 'gpuagg_restart',
                                 'gpuagg_kernel_benchmark');
SELECT is((SELECT count(*) FROM functions
           WHERE proname IN ('gpuagg_stat_reset', 'gpuagg_stop', 'gpuagg_restart',
                             'gpuagg_kernel_benchmark')), 4::bigint,
          'four functions that control');
SELECT is_empty($$SELECT oid::regprocedure FROM functions
    WHERE NOT has_function_privilege('regress_gpuagg_nobody', oid, 'EXECUTE')
    AND proname NOT IN ('gpuagg_stat_reset', 'gpuagg_stop', 'gpuagg_restart',
                        'gpuagg_kernel_benchmark')$$,
    'all others are for everybody');
SELECT ok(has_table_privilege('regress_gpuagg_nobody', 'gpuagg_stat', 'SELECT'),
          'everybody may read gpuagg_stat');
SET ROLE regress_gpuagg_nobody;
SELECT throws_ok('SELECT gpuagg_stat_reset()', '42501');
SELECT throws_ok('SELECT gpuagg_stop()', '42501');
SELECT throws_ok('SELECT gpuagg_restart()', '42501');
SELECT throws_ok($$SELECT * FROM gpuagg_kernel_benchmark('reduce', 'int4')$$, '42501');
SELECT lives_ok('SELECT * FROM gpuagg_stat');
SELECT lives_ok('SELECT * FROM gpuagg_devices()');
SELECT lives_ok('SELECT * FROM gpuagg_last_query()');
SELECT lives_ok('SELECT gpuagg_version()');
RESET ROLE;
SELECT ok(NOT (SELECT trusted FROM pg_available_extension_versions WHERE name = 'gpuagg' AND installed),
          'not trusted');

-- States cannot be made or read from SQL.  (Core's words differ between minor releases.)
SELECT throws_matching(format('SELECT %s(%s)', proname, (SELECT string_agg(CASE t WHEN 'anyelement'::regtype
                                THEN 'NULL::integer' ELSE 'NULL' END, ', ') FROM unnest(proargtypes) t)),
                       'does not exist|cannot accept a value of type internal',
                       proname || ' is not to be called')
FROM functions WHERE 'internal'::regtype = ANY (proargtypes);

SELECT * FROM finish();
ROLLBACK;
