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

-- States of aggregates over values have a type, whose text Citus carries; those of moving ones are internal.
SELECT is_empty($$SELECT aggfnoid::regprocedure FROM pg_aggregate a JOIN pg_proc p ON p.oid = aggfnoid
    WHERE proname ~ '^gpu_(sum|avg|var|std|min|max)' AND proname !~ '_(state|merge)$'
    AND proargtypes[0] NOT IN ('record'::regtype) AND (aggtranstype = 'internal'::regtype OR aggserialfn <> 0
        OR aggmtranstype NOT IN (0, 'internal'::regtype) OR (proname !~ 'm..$' AND aggmtranstype = 0)
        OR (aggcombinefn = 0 AND proargtypes[0] NOT IN ('text'::regtype, 'bpchar'::regtype)))$$, 'no state is internal');
SELECT set_eq($$SELECT proname::text, count(*) FROM pg_aggregate a JOIN pg_proc p ON p.oid = aggfnoid
    WHERE aggtranstype = 'gpu_state'::regtype GROUP BY 1$$, $$VALUES ('gpu_sum', 8::bigint), ('gpu_avg', 7), ('gpu_min', 10),
    ('gpu_max', 10), ('gpu_var_pop', 6), ('gpu_var_samp', 6), ('gpu_variance', 6), ('gpu_stddev_pop', 6),
    ('gpu_stddev_samp', 6), ('gpu_stddev', 6)$$, 'as many as elsewhere');
SELECT is_empty($$SELECT aggfnoid::regprocedure FROM pg_aggregate WHERE aggtranstype = 'gpu_state'::regtype
    AND obj_description(aggfnoid, 'pg_proc') IS NULL$$, 'comments stay');

-- An update gives what a new extension has.
CREATE FUNCTION declared() RETURNS TABLE (a text, b text) LANGUAGE sql AS $$
    SELECT f::text, to_jsonb(ag)::text || prosrc || prosupport::text FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid
        AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e' JOIN pg_extension e ON e.oid = d.refobjid AND extname = 'gpuagg'
        LEFT JOIN pg_aggregate q ON q.aggfnoid = p.oid CROSS JOIN LATERAL (SELECT p.oid::regprocedure) f(f) LEFT JOIN LATERAL
        (SELECT aggfnoid::regprocedure, aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggmtransfn, aggminvtransfn,
            aggmfinalfn, aggtranstype::regtype, aggtransspace, aggmtranstype::regtype, aggmtransspace, aggsortop::regoperator,
            agginitval WHERE q.aggfnoid IS NOT NULL) ag ON true
$$;
CREATE TABLE new AS SELECT * FROM declared();
DROP EXTENSION gpuagg CASCADE;
CREATE EXTENSION gpuagg VERSION '0.1.0';
ALTER EXTENSION gpuagg UPDATE;
SELECT results_eq('SELECT * FROM declared() ORDER BY a COLLATE "C"', 'SELECT * FROM new ORDER BY a COLLATE "C"', 'an update');

-- The same results as core, whatever the plan.
CREATE TABLE numbers AS SELECT i % 7 AS g, nullif(i % 31, 5)::smallint AS i2, i * 7919 AS i4, i * 1000003::bigint AS i8,
    (i % 1009) * 0.25::real AS f4, (i % 997) * power(2::float8, i % 200 - 100) AS f8, i * 0.01 AS n,
    power(10::numeric, i % 60 - 30) * i AS wide, (i % 1000)::numeric::money AS m, make_interval(months => i % 13, secs => i) AS iv,
    date '2000-01-01' + i AS d, timestamp '2000-01-01' + i * interval '1 min' AS ts FROM generate_series(1, 20000) i;
CREATE FUNCTION calls(prefix text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(format('%s%s(%s)', prefix, a, c), ', ' ORDER BY a, c)
    FROM unnest('{sum,avg,min,max,var_pop,var_samp,variance,stddev_pop,stddev_samp,stddev}'::text[]) a,
        unnest('{i2,i4,i8,n,wide,m,iv,d,ts}'::text[]) c
    WHERE to_regprocedure(format('gpu_%s(%s)', a, (SELECT atttypid::regtype FROM pg_attribute
        WHERE attrelid = 'numbers'::regclass AND attname = c))) IS NOT NULL
$$;
CREATE FUNCTION alike(name text, rest text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    ours text;
    core text;
BEGIN
    EXECUTE format('SELECT md5(string_agg(q::text, '';'')) FROM (SELECT %s FROM %s) q', calls('gpu_'), rest) INTO ours;
    EXECUTE format('SELECT md5(string_agg(q::text, '';'')) FROM (SELECT %s FROM %s) q', calls(''), rest) INTO core;
    RETURN is(ours, core, name);
END
$$;
SET LOCAL gpuagg.enable_agg_scan = off;
SELECT alike('one group', 'numbers');
SELECT alike('no rows', 'numbers WHERE g > 7');
SELECT alike('groups', 'numbers GROUP BY g ORDER BY g');
SET LOCAL enable_hashagg = off;
SELECT alike('sorted groups', 'numbers GROUP BY g ORDER BY g');
SET LOCAL enable_hashagg = on;
SET LOCAL work_mem = '64kB';
SELECT alike('groups that spill', 'numbers GROUP BY n ORDER BY n');
SET LOCAL work_mem = '4MB';
SELECT alike('sets of groups', 'numbers GROUP BY ROLLUP (g, i2) ORDER BY g, i2');
SET LOCAL max_parallel_workers_per_gather = 2;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SELECT matches(plan_of('SELECT gpu_sum(i8), gpu_avg(f8) FROM numbers'), '"Partial Mode": "Finalize".*Gather', 'workers');
SELECT alike('workers', 'numbers');
SELECT alike('workers with groups', 'numbers GROUP BY g ORDER BY g');
CREATE TEMP TABLE said AS SELECT gpu_sum(f8) AS s, gpu_avg(f4) AS a, gpu_stddev(f8) AS d, gpu_var_pop(f4) AS v FROM numbers;
SET LOCAL max_parallel_workers_per_gather = 0;
SELECT results_eq('SELECT gpu_sum(f8), gpu_avg(f4), gpu_stddev(f8), gpu_var_pop(f4) FROM numbers', 'TABLE said', 'floats by workers');
SET LOCAL gpuagg.enable_window_scan = off;
SELECT is_empty($$SELECT * FROM (SELECT gpu_sum(n) OVER w AS a, sum(n) OVER w AS b, gpu_avg(i8) OVER v AS c, avg(i8) OVER v AS d,
    gpu_max(ts) OVER v AS e, max(ts) OVER v AS f, gpu_var_pop(i4) OVER v AS x, var_pop(i4) OVER v AS y
    FROM numbers WINDOW w AS (PARTITION BY g ORDER BY i8 ROWS 3 PRECEDING), v AS (PARTITION BY g ORDER BY i8)) q
    WHERE (a, c, e, x) IS DISTINCT FROM (b, d, f, y)$$, 'windows');
RESET gpuagg.enable_window_scan;
RESET gpuagg.enable_agg_scan;
SET LOCAL gpuagg.min_table_pages = 0;
SELECT matches(plan_of('SELECT gpu_sum(i8), gpu_stddev(f8), gpu_max(d) FROM numbers GROUP BY g'), 'GpuAgg', 'computed by GpuAgg');

-- The type by itself: kept, read again, and refused where it is not what it should be.
CREATE AGGREGATE state_of(bigint) (STYPE = gpu_state, SFUNC = gpuagg_typed_int8_accum);
CREATE AGGREGATE state_of(float8) (STYPE = gpu_state, SFUNC = gpuagg_typed_float8_moments);
CREATE AGGREGATE state_of(numeric) (STYPE = gpu_state, SFUNC = gpuagg_typed_numeric_accum);
CREATE AGGREGATE state_of(interval) (STYPE = gpu_state, SFUNC = gpuagg_typed_interval_accum);
CREATE AGGREGATE state_of(date) (STYPE = gpu_state, SFUNC = gpuagg_typed_date_max);
CREATE AGGREGATE merge_of(gpu_state) (STYPE = gpu_state, SFUNC = gpuagg_typed_combine);
CREATE TABLE states AS SELECT g, state_of(i8) AS i, state_of(f8) AS f, state_of(wide) AS n, state_of(iv) AS v, state_of(d) AS d
    FROM numbers GROUP BY g;
SELECT results_eq($$SELECT gpuagg_typed_int_sum_numeric(merge_of(i)), gpuagg_typed_float_var_pop(merge_of(f)),
    gpuagg_typed_numeric_sum(merge_of(n)), gpuagg_typed_interval_sum(merge_of(v)), gpuagg_typed_date_extreme(merge_of(d)) FROM states$$,
    'SELECT gpu_sum(i8), gpu_var_pop(f8), gpu_sum(wide), gpu_sum(iv), gpu_max(d) FROM numbers', 'states of a table');
SELECT results_eq($$SELECT gpuagg_typed_int_sum_numeric(merge_of(i::text::gpu_state)), gpuagg_typed_float_var_pop(merge_of(f::text::gpu_state)),
    gpuagg_typed_numeric_sum(merge_of(n::text::gpu_state)) FROM states$$,
    'SELECT gpu_sum(i8), gpu_var_pop(f8), gpu_sum(wide) FROM numbers', 'and as text');
SELECT throws_ok('SELECT gpuagg_typed_int_sum_numeric(f) FROM states', '22P03', NULL, 'another final function');
SELECT throws_ok('SELECT merge_of(CASE g WHEN 1 THEN i ELSE n END) FROM states', '22P03', NULL, 'states of two kinds');
SELECT throws_ok('SELECT gpuagg_typed_int8_accum(i, 1) FROM states', 'XX000', NULL, 'outside an aggregate');
SELECT throws_ok($$SELECT ''::gpu_state$$, '08P01', NULL, 'nothing');
SELECT throws_ok($$SELECT '\x0100'::gpu_state$$, '08P01', NULL, 'no more than a head');
SELECT throws_ok($$SELECT '\x02000101'::gpu_state$$, '22P03', NULL, 'another version');
DO $$
BEGIN
    EXECUTE format('CREATE AGGREGATE begun(bigint) (STYPE = gpu_state, INITCOND = %L, SFUNC = gpuagg_typed_int8_accum,
        FINALFUNC = gpuagg_typed_int_sum_numeric)', (SELECT i FROM states WHERE g = 1));
    EXECUTE format('CREATE AGGREGATE astray(bigint) (STYPE = gpu_state, INITCOND = %L, SFUNC = gpuagg_typed_int8_accum,
        FINALFUNC = gpuagg_typed_int_sum_numeric)', (SELECT f FROM states WHERE g = 1));
END
$$;
CREATE AGGREGATE mixed(bigint) (STYPE = bigint, SFUNC = int8larger, MSTYPE = gpu_state, MSFUNC = gpuagg_typed_int8_accum,
    MINVFUNC = gpuagg_typed_int8_moments, MFINALFUNC = gpuagg_typed_int8_extreme);
SELECT results_eq('SELECT begun(i8) FROM numbers WHERE g = 2', 'SELECT gpu_sum(i8) FROM numbers WHERE g IN (1, 2)', 'a beginning');
SELECT throws_ok('SELECT astray(i8) FROM numbers', '22P03', NULL, 'the beginning of another kind');
SELECT throws_ok('SELECT mixed(i8) OVER (ORDER BY i8 ROWS 1 PRECEDING) FROM numbers', '22P03', NULL, 'functions of two aggregates');

-- Aggregates that share a state, flattened by a worker: both copies are as long as they have been said to be.
CREATE AGGREGATE one_of(bigint) (STYPE = gpu_state, SFUNC = gpuagg_typed_int8_accum, PARALLEL = safe);
CREATE AGGREGATE other_of(bigint) (STYPE = gpu_state, SFUNC = gpuagg_typed_int8_accum, PARALLEL = safe);
CREATE TYPE two_states AS (a gpu_state, b gpu_state);
CREATE FUNCTION two_states() RETURNS text LANGUAGE sql AS $$
    SELECT 'SELECT pg_column_size((r).a) AS a, pg_column_size((r).b) AS b, gpuagg_typed_int_sum_numeric((r).b) AS sum
        FROM (SELECT ROW(one_of(i8), other_of(i8))::two_states AS r FROM numbers GROUP BY g) q'
$$;
SELECT name AS in_a_worker FROM pg_settings WHERE name IN ('debug_parallel_query', 'force_parallel_mode') \gset
RESET min_parallel_table_scan_size;
SET LOCAL :in_a_worker = on;
SET LOCAL max_parallel_workers_per_gather = 2;
SELECT matches(plan_of(two_states()), '"Single Copy": true', 'a worker that has all rows');
SELECT 'CREATE TEMP TABLE pairs AS ' || two_states() AS make_pairs \gset
:make_pairs;
SET LOCAL max_parallel_workers_per_gather = 0;
SET LOCAL :in_a_worker = off;
SELECT is_empty('SELECT * FROM pairs WHERE a <> b', 'copies of one size');
SELECT results_eq('SELECT sum(sum) FROM pairs', 'SELECT sum(i8)::numeric FROM numbers', 'the second is whole');

-- Whatever bytes: a state, or an error.
CREATE FUNCTION damaged(whole bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    bytes bytea := whole;
    state gpu_state;
BEGIN
    FOR i IN 0 .. random() * 3 LOOP
        bytes := set_byte(bytes, (random() * (length(whole) - 1))::int, (random() * 255)::int);
    END LOOP;
    IF random() < 0.2 THEN
        bytes := substr(bytes, 1, (random() * length(whole))::int);
    END IF;
    state := bytes::text;
    PERFORM merge_of(s), merge_of(s)::text::gpu_state FROM unnest(ARRAY[state, state, whole::text::gpu_state]) s;
    PERFORM gpuagg_typed_int_sum_numeric(state);
    RETURN 'taken';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END
$$;
SELECT setseed(0.5);
SELECT is_empty($$SELECT DISTINCT s FROM states, generate_series(1, 200), LATERAL unnest(ARRAY[i, f, n, v, d]) state,
    LATERAL damaged(state::text::bytea) s WHERE s NOT IN ('taken', '22P03', '08P01', '22003', '54000', '22008')$$, 'damaged states');

SELECT * FROM finish();
ROLLBACK;
