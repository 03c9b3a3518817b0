-- gpu_reduce, gpu_scan, gpu_segmented_scan: signatures, identities, ranges, errors.
SET client_min_messages = warning;
\set VERBOSITY default
\pset null '(null)'
CREATE EXTENSION IF NOT EXISTS gpuagg;

-- Every type, every operation.
SELECT op, gpu_reduce(ARRAY[3, -5, 8, 8], op) AS int4, gpu_reduce(ARRAY[3, -5, 8, 8]::int8[], op) AS int8,
       gpu_reduce(ARRAY[3, -5, 8, 8]::float4[], op) AS float4,
       gpu_reduce(ARRAY[3, -5, 8, 8]::float8[], op) AS float8
FROM unnest(ARRAY['sum', 'min', 'max']) op;
SELECT op, gpu_scan(ARRAY[3, -5, 8, 8], op) AS int4, gpu_scan(ARRAY[3, -5, 8, 8]::int8[], op) AS int8,
       gpu_scan(ARRAY[3, -5, 8, 8]::float4[], op) AS float4,
       gpu_scan(ARRAY[3, -5, 8, 8]::float8[], op) AS float8
FROM unnest(ARRAY['sum', 'min', 'max']) op;
SELECT op, gpu_segmented_scan(v, h, op) AS int4, gpu_segmented_scan(v::int8[], h, op) AS int8,
       gpu_segmented_scan(v::float4[], h, op) AS float4, gpu_segmented_scan(v::float8[], h, op) AS float8
FROM unnest(ARRAY['sum', 'min', 'max']) op,
     (VALUES (ARRAY[3, -5, 8, 8, 1], '{f,f,t,f,t}'::bool[])) s(v, h);
SELECT pg_typeof(gpu_reduce('{1}'::int4[])) AS int4, pg_typeof(gpu_reduce('{1}'::int8[])) AS int8,
       pg_typeof(gpu_reduce('{1}'::float4[])) AS float4, pg_typeof(gpu_reduce('{1}'::float8[])) AS float8,
       pg_typeof(gpu_scan('{1}'::int4[])) AS scan4, pg_typeof(gpu_scan('{1}'::float4[])) AS scanf,
       pg_typeof(gpu_segmented_scan('{1}'::int8[], '{t}')) AS scan8,
       pg_typeof(gpu_segmented_scan('{1}'::float8[], '{t}')) AS scanf8;
SELECT gpu_segmented_scan('{1,2,3,4,5,6,7,8}'::int4[], '{t,f,f,t,f,f,f,f}') AS of_the_notes;

-- Exclusive starts at the identity, at every head.
SELECT op, gpu_scan(ARRAY[3, -5, 8], op, true) AS int4, gpu_scan(ARRAY[3, -5, 8]::int8[], op, exclusive => true) AS int8,
       gpu_scan(ARRAY[3, -5, 8]::float4[], op, true) AS float4,
       gpu_scan(ARRAY[3, -5, 8]::float8[], op, true) AS float8
FROM unnest(ARRAY['sum', 'min', 'max']) op;
SELECT a, op, gpu_segmented_scan(v, '{f,f,t,f,t}', op, true, a) AS int4,
       gpu_segmented_scan(v::float8[], '{t,f,t,f,t}', op, true, a) AS float8
FROM unnest(ARRAY['production', 'sequential']) a, unnest(ARRAY['sum', 'min', 'max']) op,
     (VALUES (ARRAY[3, -5, 8, 8, 1])) s(v);

-- No elements, one element, NULL arguments, subscripts.
SELECT gpu_reduce('{}'::int4[]) AS int4, gpu_reduce('{}'::float8[], 'min') AS float8, gpu_scan('{}'::int4[]) AS scan4,
       gpu_scan('{}'::float4[], 'max', true) AS scanf, gpu_segmented_scan('{}'::int8[], '{}') AS scan8,
       gpu_reduce('{}'::int4[], algorithm => 'grid_stride') AS ladder;
SELECT pg_typeof(gpu_scan('{}'::int4[])), pg_typeof(gpu_segmented_scan('{}'::float4[], '{}'));
SELECT gpu_reduce('{7}'::int4[]), gpu_scan('{7}'::int8[]), gpu_scan('{7}'::float4[], exclusive => true),
       gpu_segmented_scan('{7}'::int4[], '{f}');
SELECT gpu_reduce(NULL::int4[]) AS a, gpu_reduce('{1}'::int4[], NULL) AS b, gpu_reduce('{1}'::int4[], 'sum', NULL) AS c,
       gpu_scan('{1}'::float8[], 'sum', NULL) AS d, gpu_segmented_scan('{1}'::int8[], NULL) AS e;
SELECT gpu_scan('[-2:1]={1,2,3,4}'::int4[]) AS a, gpu_scan('[5:5]={1}'::float8[], 'max', algorithm => 'sequential') AS b,
       gpu_segmented_scan('[0:2]={1,2,3}'::int8[], '[7:9]={f,t,f}') AS c, gpu_reduce('[3:4]={1,2}'::int4[]) AS d;

-- Floats: exact and rounded once; one total order; NaN is canonical.
SELECT gpu_reduce('{1e16,1,1,-1e16}'::float8[]) AS exact, gpu_reduce('{1e16,1,1,-1e16}'::float8[], algorithm => 'sequential') AS plain,
       gpu_reduce('{16777216,1,1}'::float4[]) AS exact4, gpu_reduce('{16777216,1,1}'::float4[], algorithm => 'sequential') AS plain4;
SELECT gpu_scan('{1e16,1,1,-1e16,0.25}'::float8[]) AS exact, gpu_scan('{1e16,1,1,-1e16,0.25}'::float8[], algorithm => 'sequential') AS plain;
SELECT gpu_reduce('{-0,-0}'::float8[]) AS negative, gpu_reduce('{-0,0}'::float8[]) AS mixed, gpu_reduce('{5,-5}'::float4[]) AS none,
       gpu_scan('{-0,-0,0,-0}'::float8[]) AS zeros, gpu_scan('{-0,-0}'::float8[], exclusive => true) AS before;
SELECT op, gpu_reduce('{-0,0,-0}'::float8[], op) AS zeros, gpu_reduce('{1,NaN,Infinity}'::float4[], op) AS nan,
       gpu_scan('{0,-0,Infinity,-Infinity,NaN,1}'::float8[], op) AS scan
FROM unnest(ARRAY['min', 'max']) op;
SELECT gpu_reduce('{Infinity,1}'::float8[]) AS inf, gpu_reduce('{Infinity,-Infinity}'::float8[]) AS both,
       gpu_scan('{1,Infinity,2,-Infinity,3}'::float4[]) AS scan, float8send(gpu_reduce('{Infinity,-Infinity}'::float8[], algorithm => 'sequential')) AS canonical;
SELECT gpu_segmented_scan('{1e308,1e-308,1,2,Infinity,1,NaN,3}'::float8[], '{f,t,t,f,t,t,t,t}') AS starts_anew;

-- Out of range: for what is asked for, not for intermediate sums; whatever the algorithm.
\set VERBOSITY sqlstate
SELECT gpu_reduce('{1e308,1e308}'::float8[]);
SELECT gpu_reduce('{3e38,3e38}'::float4[]);
SELECT gpu_scan('{1e308,1e308,-1e308}'::float8[]);
SELECT gpu_reduce('{9223372036854775807,1}'::int8[]);
SELECT gpu_reduce('{9223372036854775807,1}'::int8[], algorithm => 'sequential');
SELECT gpu_reduce('{9223372036854775807,1}'::int8[], algorithm => 'recursive_halving');
SELECT gpu_reduce('{9223372036854775807,1}'::int8[], algorithm => 'grid_stride');
SELECT gpu_scan('{9223372036854775807,1,-1}'::int8[]);
SELECT gpu_scan('{9223372036854775807,1,-1}'::int8[], algorithm => 'sequential');
SELECT gpu_scan('{9223372036854775807,1,-1}'::int8[], algorithm => 'kogge_stone');
SELECT gpu_scan('{9223372036854775807,1,-1}'::int8[], exclusive => true);
SELECT gpu_scan('{9223372036854775807,1,-1}'::int8[], exclusive => true, algorithm => 'sequential');
SELECT gpu_segmented_scan('{9223372036854775807,1}'::int8[], '{t,f}', algorithm => 'hierarchical');
\set VERBOSITY default
SELECT gpu_reduce('{9223372036854775807,1}'::int8[]);
SELECT gpu_reduce('{1e308,1e308}'::float8[]);
SELECT gpu_reduce('{1e308,1e308,-1e308}'::float8[]) AS float8, gpu_reduce('{9223372036854775807,1,-1}'::int8[]) AS int8,
       gpu_reduce('{9223372036854775807,1,-1}'::int8[], algorithm => 'sequential') AS sequential,
       gpu_reduce('{9223372036854775807,1,-1}'::int8[], algorithm => 'recursive_halving') AS halving,
       gpu_reduce('{1e308,1e308}'::float8[], algorithm => 'sequential') AS plain;
SELECT gpu_scan('{9223372036854775807,1}'::int8[], exclusive => true) AS last_not_asked_for,
       gpu_segmented_scan('{9223372036854775807,9223372036854775807,-9223372036854775808}'::int8[], '{t,t,t}') AS apart,
       gpu_reduce('{-9223372036854775808,9223372036854775807}'::int8[]) AS ends;
SELECT gpu_scan('{2147483647,2147483647,2147483647}'::int4[]) AS wider, gpu_reduce('{-2147483648,-2147483648}'::int4[]) AS wider_too;

-- Errors.
SELECT gpu_reduce('{1}'::int4[], 'avg');
SELECT gpu_scan('{1}'::int4[], 'SUM');
SELECT gpu_reduce('{1}'::int4[], algorithm => 'quick');
SELECT gpu_scan('{1}'::int4[], algorithm => 'recursive_halving');
SELECT gpu_segmented_scan('{1}'::int4[], '{t}', algorithm => 'grid_stride');
SELECT gpu_scan('{1}'::int4[], algorithm => 'hierarchical');
SELECT gpu_reduce('{1}'::float4[], algorithm => 'warp_reduce_add');
SELECT gpu_reduce('{1,NULL}'::int4[]);
SELECT gpu_segmented_scan('{1,2}'::int4[], '{t,NULL}');
SELECT gpu_reduce('{{1,2},{3,4}}'::int4[]);
SELECT gpu_segmented_scan('{1,2}'::float8[], '{{t,f}}');
SELECT gpu_segmented_scan('{1,2}'::float8[], '{t}');
SELECT gpu_segmented_scan('{}'::float8[], '{t}');
\set VERBOSITY sqlstate
SELECT gpu_reduce('{1}'::int2[]);
SELECT gpu_reduce('{1}'::numeric[]);
SELECT gpu_reduce('{1}'::text[]);
\set VERBOSITY default
-- An array that once had a NULL; smaller types by a cast.
SELECT gpu_reduce(array_remove('{1,NULL,2}'::int4[], NULL)) AS removed, gpu_reduce('{1,2}'::int2[]::int4[]) AS int2;

-- Many elements: in tables, out of line, compressed; the statement's report.
CREATE TABLE arrays_many AS SELECT array_agg(i % 100 ORDER BY i) AS a, array_agg((i % 100)::int8 ORDER BY i) AS b,
       array_agg((i % 100)::float4 ORDER BY i) AS c, array_agg((i % 100) / 8.0::float8 ORDER BY i) AS d,
       array_agg(i % 1000 = 0 ORDER BY i) AS h, count(*) AS n FROM generate_series(1, 30000) i;
SELECT gpu_reduce(a), gpu_reduce(b), gpu_reduce(c), gpu_reduce(d) FROM arrays_many;
SELECT rows, bytes, fallbacks FROM gpuagg_last_query();
SELECT count(*) FILTER (WHERE (s.a, s.b, s.c::int8, (s.d * 8)::int8) IS DISTINCT FROM (c.s, c.s, c.s, c.s)) AS differing,
       count(*) FROM arrays_many, unnest(gpu_scan(a), gpu_scan(b), gpu_scan(c), gpu_scan(d)) WITH ORDINALITY s(a, b, c, d, i)
JOIN (SELECT i, sum(i % 100) OVER (ORDER BY i) AS s FROM generate_series(1, 30000) i) c USING (i);
SELECT s[1:3] AS first, s[998:1002] AS heads, s[30000] AS last FROM
    (SELECT gpu_segmented_scan(a, h) AS s FROM arrays_many) q;
SELECT md5(gpu_segmented_scan(d, h)::text) = md5(gpu_segmented_scan(d, h, algorithm => 'sequential')::text) AS same,
       md5(gpu_segmented_scan(b, h, 'min', true)::text) = md5(gpu_segmented_scan(b, h, 'min', true, 'sequential')::text) AS same_min,
       md5(gpu_scan(c, 'max')::text) = md5(gpu_scan(c, 'max', algorithm => 'sequential')::text) AS same_max FROM arrays_many;
-- Other algorithm in every row, in a prepared statement, in PL/pgSQL.
SELECT name, gpu_reduce(a, algorithm => name) FROM arrays_many, unnest(ARRAY['sequential', 'recursive_halving', 'production']) name;
PREPARE arrays_reduce(int4[], text) AS SELECT gpu_reduce($1, $2);
EXECUTE arrays_reduce('{4,5,6}', 'sum');
EXECUTE arrays_reduce('{4,5,6}', 'min');
EXECUTE arrays_reduce('{4,NULL,6}', 'min');
EXECUTE arrays_reduce(NULL, 'min');
DEALLOCATE arrays_reduce;
DO $$
DECLARE
    total bigint := 0;
BEGIN
    FOR i IN 1 .. 10 LOOP
        BEGIN
            total := total + gpu_reduce(ARRAY[i, i, CASE WHEN i = 5 THEN NULL ELSE i END], 'sum',
                                        CASE WHEN i % 2 = 0 THEN 'sequential' ELSE 'production' END);
        EXCEPTION WHEN null_value_not_allowed THEN
            total := total + 1000;
        END;
    END LOOP;
    RAISE WARNING 'total %', total;
END
$$;
-- Cancelled in the middle.
\set VERBOSITY sqlstate
SET statement_timeout = '200ms';
SELECT sum(cardinality(gpu_scan(d))) FROM arrays_many, generate_series(1, 100000) WHERE n > 0;
SELECT sum(gpu_reduce(d, 'sum', 'sequential')) FROM arrays_many, generate_series(1, 1000000) WHERE n > 0;
RESET statement_timeout;
SELECT gpu_reduce(d) FROM arrays_many;
DROP TABLE arrays_many;
