-- Each aggregate and running function with each of its types: labels, rights, results, errors.
\set ECHO none
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS gpuagg;
BEGIN;
SELECT no_plan();

-- Two values 4 apart, one value, one value thrice, NULLs, and groups of them together: variances
-- and their roots are exact or of one rounding in core's way as well.
CREATE TABLE small AS
SELECT i, g, x::int2 AS int2, x::int4 AS int4, x::int8 AS int8, x::float4 AS float4, x::float8 AS float8,
       x::numeric AS numeric, x::numeric::money AS money, x * interval '1 mon 2 days 3.5 seconds' AS interval,
       '2000-01-01'::date + x AS date, '12:00'::time + x * interval '1 min' AS time,
       '2000-01-01'::timestamp + x * interval '1 hour' AS timestamp,
       '2000-01-01'::timestamptz + x * interval '1 hour' AS timestamptz
FROM (VALUES (1, 1, 3), (2, 1, 7), (3, 1, NULL), (4, 2, -5), (5, 3, 9), (6, 3, 9), (7, 3, 9), (8, 4, NULL),
             (9, 4, NULL), (10, 5, 0), (11, NULL, 100)) v(i, g, x);

CREATE TEMP TABLE promised AS
SELECT name, t AS type, format('gpu_%s(%s)', name, t) AS label
FROM (VALUES ('{sum}', '{int2,int4,int8,float4,float8,numeric,money,interval}'),
             ('{avg}', '{int2,int4,int8,float4,float8,numeric,interval}'),
             ('{min,max,count}',
              '{int2,int4,int8,float4,float8,numeric,money,interval,date,time,timestamp,timestamptz}'),
             ('{var_pop,var_samp,variance,stddev_pop,stddev_samp,stddev}',
              '{int2,int4,int8,float4,float8,numeric}')) v(names, types),
     unnest(names::text[]) name, unnest(types::text[]) t;
CREATE TEMP TABLE running AS
SELECT name, type, format('gpu_running_%s(%s)', name, type) AS label FROM promised
WHERE name IN ('sum', 'avg', 'min', 'max', 'count');

-- What they are.
SELECT unnest(ARRAY[
    is_aggregate('gpu_' || name, ARRAY[accepted], label || ' is an aggregate'),
    volatility_is('gpu_' || name, ARRAY[accepted], 'immutable', label || ' is immutable'),
    function_returns('gpu_' || name, ARRAY[accepted], result, label || ' returns ' || result),
    is(proparallel, 's', label || ' is parallel safe'),
    is(proisstrict, false, label || ' itself is not strict')])
FROM (SELECT *, CASE name WHEN 'count' THEN '"any"' ELSE format_type(type::regtype, NULL) END AS accepted,
             format_type((SELECT prorettype FROM pg_proc WHERE proname = name AND prokind = 'a'
                          AND pronamespace = 'pg_catalog'::regnamespace
                          AND proargtypes[0] IN (type::regtype, '"any"'::regtype)), NULL) AS result
      FROM promised) p
JOIN pg_proc ON oid = format('gpu_%s(%s)', name, CASE name WHEN 'count' THEN '"any"' ELSE type END)::regprocedure;
SELECT unnest(ARRAY[
    is_window('gpu_running_' || name, ARRAY[accepted, 'boolean'], label || ' is a window function'),
    volatility_is('gpu_running_' || name, ARRAY[accepted, 'boolean'], 'immutable', label || ' is immutable'),
    isnt_strict('gpu_running_' || name, ARRAY[accepted, 'boolean'], label || ' sees NULLs')])
FROM (SELECT *, CASE name WHEN 'count' THEN '"any"' ELSE format_type(type::regtype, NULL) END AS accepted
      FROM running) r;

-- Strictness of their parts: a state of ours is begun by the first value, NULL or not; one that is
-- of the values' type is the first value.
CREATE TEMP TABLE parts AS
SELECT a.aggfnoid::oid::regprocedure AS signature, a.*, t.proisstrict AS strict_transition,
       f.proisstrict AS strict_final, c.proisstrict AS strict_combine
FROM pg_aggregate a JOIN pg_proc p ON p.oid = a.aggfnoid JOIN pg_proc t ON t.oid = a.aggtransfn
LEFT JOIN pg_proc f ON f.oid = a.aggfinalfn LEFT JOIN pg_proc c ON c.oid = a.aggcombinefn
WHERE p.proname IN (SELECT 'gpu_' || name FROM promised);
SELECT is_empty('SELECT signature FROM parts WHERE aggtranstype = ''internal''::regtype AND agginitval IS NULL
    AND strict_transition', 'transitions to internal states are not strict');
SELECT is_empty('SELECT signature FROM parts WHERE aggtranstype <> ''internal''::regtype
    AND NOT strict_transition', 'transitions to other states are strict');
SELECT is_empty('SELECT signature FROM parts WHERE aggtranstype = ''internal''::regtype AND strict_combine',
    'internal states are combined with NULL too');
SELECT is_empty('SELECT signature FROM parts WHERE aggmtransfn <> 0 AND aggmtranstype <> aggtranstype',
    'moving frames have states of the same type');

-- Results as core's.
SELECT results_eq(replace(q, '$', 'gpu_'), replace(q, '$', ''), replace(q, '$', 'gpu_'))
FROM promised, unnest(ARRAY[
    format('SELECT g, $%s(%I) FROM small GROUP BY g ORDER BY g', name, type),
    format('SELECT $%s(%I) FROM small WHERE g = 1', name, type),
    format('SELECT $%s(%I) FROM small WHERE false', name, type),
    format('SELECT $%s(%I) FILTER (WHERE g = 3) FROM small', name, type),
    format('SELECT g, $%s(DISTINCT %I) FROM small GROUP BY g ORDER BY g', name, type),
    format('SELECT g, $%s(%I ORDER BY i DESC) FROM small GROUP BY g ORDER BY g', name, type),
    format('SELECT i, $%s(%I) OVER (PARTITION BY g) FROM small ORDER BY i', name, type),
    format('SELECT i, $%s(%I) OVER (ORDER BY i ROWS 1 PRECEDING) FROM small WHERE i < 3 ORDER BY i', name, type)
]) q;
SELECT results_eq(
    format('SELECT i, gpu_running_%s(%I) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING), '
           'gpu_running_%1$s(%2$I, true) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING), '
           'gpu_running_%1$s(%2$I) OVER (ORDER BY g) FROM small ORDER BY i', name, type),
    format('SELECT i, %s(%I) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING), %1$s(%2$I) OVER (PARTITION BY g '
           'ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), '
           '%1$s(%2$I) OVER (ORDER BY g) FROM small ORDER BY i', name, type), label)
FROM running;

-- Errors as core's: state and words.
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE query;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ': ' || SQLERRM;
END $$;
CREATE TEMP TABLE extremes AS SELECT * FROM (VALUES
    ('sum', 'float8', '1.7976931348623157e308', '22003'), ('sum', 'float4', '3.4028235e38', '22003'),
    ('sum', 'money', '92233720368547758.07', '22003'), ('sum', 'interval', '2147483647 mons', '22008'),
    ('sum', 'interval', '2147483647 days', '22008'), ('sum', 'numeric', '9e131071', '22003'),
    ('avg', 'interval', '2147483647 mons', '22008'), ('avg', 'numeric', '9e131071', '22003'),
    ('var_pop', 'float8', '1e308', '22003'), ('var_samp', 'float8', '1e308', '22003'),
    ('variance', 'float8', '1e308', '22003'), ('var_pop', 'numeric', '9e131071', '22003'),
    ('var_samp', 'numeric', '9e131071', '22003'), ('variance', 'numeric', '9e131071', '22003'),
    ('stddev_samp', 'numeric', '9e131071', '22003'),
    ('stddev', 'numeric', '9e131071', '22003')) v(name, type, x, state);
-- For variances the second value is the negative of the first.
CREATE TEMP TABLE overflows AS
SELECT format('SELECT $%s(%sx::%s) FROM unnest(ARRAY[%L, %L]::%s[]) x', name, '', type, x,
              CASE WHEN name ~ 'var|std' THEN '-' || x ELSE x END, type) AS query, name, type, state
FROM extremes;
SELECT throws_ok(replace(query, '$', 'gpu_'), state, substr(outcome(replace(query, '$', '')), 8), query)
FROM overflows;
SELECT is(left(outcome(replace(query, '$', '')), 5), state, 'core: ' || query) FROM overflows;
SELECT throws_ok(format('SELECT gpu_running_%s(x) OVER (ROWS UNBOUNDED PRECEDING) FROM unnest(ARRAY[%L, %2$L]::%s[]) x',
                        name, x, type), state, NULL, format('gpu_running_%s(%s) out of range', name, type))
FROM extremes WHERE name IN ('sum', 'avg');
-- Deviations whose squares are out of range are not.
SELECT is((SELECT gpu_stddev_pop(x) FROM (VALUES (1e308::float8), (-1e308)) v(x)), 1e308::float8,
          'deviation of 1e308 and -1e308');
-- Not for other types, nor without arguments.
SELECT throws_ok(format('SELECT gpu_%s(''{}''::jsonb)', name), '42883')
FROM (SELECT DISTINCT name FROM promised WHERE name <> 'count') p;
SELECT throws_ok(format('SELECT gpu_running_%s(int4) FROM small', name), '42809')
FROM (SELECT DISTINCT name FROM running) p;

-- Rights.
CREATE ROLE regress_gpuagg_somebody;
GRANT SELECT ON small, promised, running TO regress_gpuagg_somebody;
CREATE TEMP TABLE ours AS
SELECT p.oid::regprocedure AS signature, p.oid FROM pg_proc p
WHERE p.proname IN (SELECT 'gpu_' || name FROM promised UNION ALL SELECT 'gpu_running_' || name FROM running);
SELECT ok(has_function_privilege('public', oid, 'EXECUTE'), signature || ' is for everybody') FROM ours;
DO $$
DECLARE f regprocedure;
BEGIN
    FOR f IN SELECT signature FROM ours LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f);
    END LOOP;
END $$;
SET ROLE regress_gpuagg_somebody;
SELECT throws_ok(format('SELECT gpu_%s(%I) FROM small', name, type), '42501', NULL, label || ' when revoked')
FROM promised;
SELECT throws_ok(format('SELECT gpu_running_%s(%I) OVER () FROM small', name, type), '42501', NULL,
                 label || ' when revoked') FROM running;
RESET ROLE;

SELECT * FROM finish();
ROLLBACK;
