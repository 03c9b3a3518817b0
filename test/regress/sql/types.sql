-- Every signature beside core's: values, types, display scale, NULLs, extremes, errors.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
\pset null '(null)'

CREATE TEMP TABLE kinds (i int, a int2, b int4, c int8, d float4, e float8, f numeric);
INSERT INTO kinds SELECT i, i, -i * 1000, i * 10000000000, i / 4.0, i / 8.0, (i * 3)::numeric / 100
FROM generate_series(1, 100) i;
INSERT INTO kinds VALUES (101);

SELECT gpu_sum(a), gpu_sum(b), gpu_sum(c), gpu_sum(d), gpu_sum(e), gpu_sum(f) FROM kinds;
SELECT sum(a), sum(b), sum(c), sum(d), sum(e), sum(f) FROM kinds;
SELECT gpu_count(a), gpu_count(b), gpu_count(c), gpu_count(d), gpu_count(e), gpu_count(f),
       gpu_count(*) FROM kinds;
SELECT count(a), count(b), count(c), count(d), count(e), count(f), count(*) FROM kinds;

-- Types of the results.
SELECT pg_typeof(gpu_sum(a)) AS int2, pg_typeof(gpu_sum(b)) AS int4, pg_typeof(gpu_sum(c)) AS int8,
       pg_typeof(gpu_sum(d)) AS float4, pg_typeof(gpu_sum(e)) AS float8,
       pg_typeof(gpu_sum(f)) AS numeric, pg_typeof(gpu_count(f)) AS count,
       pg_typeof(gpu_count(*)) AS count_star FROM kinds;
SELECT pg_typeof(sum(a)) AS int2, pg_typeof(sum(b)) AS int4, pg_typeof(sum(c)) AS int8,
       pg_typeof(sum(d)) AS float4, pg_typeof(sum(e)) AS float8,
       pg_typeof(sum(f)) AS numeric, pg_typeof(count(f)) AS count,
       pg_typeof(count(*)) AS count_star FROM kinds;
SELECT DISTINCT pg_typeof(gpu_running_sum(a) OVER w) AS int2,
       pg_typeof(gpu_running_sum(b) OVER w) AS int4, pg_typeof(gpu_running_sum(c) OVER w) AS int8,
       pg_typeof(gpu_running_sum(d) OVER w) AS float4,
       pg_typeof(gpu_running_sum(e) OVER w) AS float8,
       pg_typeof(gpu_running_sum(f) OVER w) AS numeric
FROM kinds WINDOW w AS (ORDER BY i);

-- Other types reach the signature that core's sum would choose.
CREATE DOMAIN small AS int4 CHECK (VALUE < 100);
CREATE DOMAIN exact AS numeric(10, 2);
SELECT pg_typeof(gpu_sum(1::small)) AS domain_int4, pg_typeof(gpu_sum(1.5::exact)) AS domain_numeric,
       pg_typeof(gpu_sum(1)) AS literal,
       pg_typeof(gpu_sum(1.0)) AS decimal_literal, pg_typeof(gpu_sum(1e0)) AS exponent_literal,
       pg_typeof(gpu_sum(3000000000)) AS large_literal;
SELECT pg_typeof(sum(1::small)) AS domain_int4, pg_typeof(sum(1.5::exact)) AS domain_numeric,
       pg_typeof(sum(1)) AS literal,
       pg_typeof(sum(1.0)) AS decimal_literal, pg_typeof(sum(1e0)) AS exponent_literal,
       pg_typeof(sum(3000000000)) AS large_literal;
DROP DOMAIN small;
DROP DOMAIN exact;
SELECT gpu_sum('1'::text);
SELECT sum(1::oid);
SELECT gpu_sum(1::oid);
SELECT gpu_sum(true);
SELECT gpu_sum(DATE '2000-01-01');
SELECT gpu_sum();
SELECT gpu_sum(1, 2);
SELECT gpu_sum(*) FROM kinds;

-- gpu_count takes anything.
SELECT gpu_count('x'), gpu_count(NULL), gpu_count(ROW(NULL, NULL)), gpu_count(ARRAY[NULL::int]),
       gpu_count(kinds) FROM kinds;
SELECT count('x'), count(NULL), count(ROW(NULL, NULL)), count(ARRAY[NULL::int]),
       count(kinds) FROM kinds;
SELECT gpu_count(DISTINCT i % 7), count(DISTINCT i % 7) FROM kinds;

-- Nothing to sum.
SELECT gpu_sum(a), gpu_sum(b), gpu_sum(c), gpu_sum(d), gpu_sum(e), gpu_sum(f), gpu_count(a),
       gpu_count(*) FROM kinds WHERE false;
SELECT gpu_sum(a), gpu_sum(b), gpu_sum(c), gpu_sum(d), gpu_sum(e), gpu_sum(f), gpu_count(a),
       gpu_count(*) FROM kinds WHERE i = 101;
SELECT gpu_sum(e) FROM kinds WHERE i IN (7, 101);

-- Extremes of the integers.
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES (32767::int2), (32767), (-32768), (-32768),
       (-32768)) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES (2147483647), (2147483647), (2147483647)) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES (-2147483648), (-2147483648)) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core
FROM (VALUES (9223372036854775807), (9223372036854775807), (1)) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core
FROM (VALUES ('-9223372036854775808'::int8), ('-9223372036854775808'), (-1)) v(x);
SELECT gpu_sum(9223372036854775807 - x % 2) AS gpu, sum(9223372036854775807 - x % 2) AS core
FROM generate_series(1, 10001) x;

-- Numeric: display scale, NaN, infinities, values of any size.
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES (1.10), (2.9)) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES (0), (0.000)) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES (1.5), (-1.5000)) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES (1), ('NaN'::numeric), (2)) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES (1), ('Infinity'::numeric), (2)) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES (1), ('-Infinity'::numeric), (2)) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core
FROM (VALUES ('Infinity'::numeric), ('-Infinity'), (2)) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES (123456789012345678901234567890.123456789),
       (0.0000000000000000000000000000000000000001), (-1e50)) v(x);
SELECT gpu_sum(x) = sum(x) AS equal, gpu_sum(x)::text = sum(x)::text AS same_text
FROM (SELECT (10::numeric ^ i) * (CASE WHEN i % 3 = 0 THEN -1 ELSE 1 END) AS x
      FROM generate_series(-200, 400) i) s;
SELECT gpu_sum(x) AS gpu, sum(x) AS core
FROM (VALUES (170141183460469231731687303715884105727), (1.0)) v(x);

-- Floats: the exact sum, rounded once.
SET extra_float_digits = 1;
SELECT gpu_sum(x) FROM (VALUES (1e16::float8), (1.0), (-1e16)) v(x);
SELECT gpu_sum(x) FROM (VALUES (1e300::float8), (1.0), (1e-300), (-1e300)) v(x);
SELECT gpu_sum(x) FROM (SELECT 0.1::float8 AS x FROM generate_series(1, 10)) s;
SELECT gpu_sum(x) FROM (SELECT 0.1::float8 AS x FROM generate_series(1, 1000000)) s;
SELECT gpu_sum(x) FROM (VALUES (1.0::float8), (1.1102230246251565e-16)) v(x);
SELECT gpu_sum(x) FROM (VALUES (1.0::float8), (1.1102230246251565e-16), (5e-324)) v(x);
SELECT gpu_sum(x) FROM (VALUES (1.0000000000000002::float8), (1.1102230246251565e-16)) v(x);
SELECT gpu_sum(x) FROM (VALUES (5e-324::float8), (5e-324), (-5e-324)) v(x);
SELECT gpu_sum(x) FROM (SELECT 1::float4 AS x FROM generate_series(1, 100)
                        UNION ALL VALUES (16777216::float4)) s;
SELECT gpu_sum(x) FROM (VALUES (1e-45::float4), (1e-45), (1e38), (-1e38)) v(x);
-- Every sum of integers below 2^53 is the same in core.
SELECT gpu_sum(x::float8) = sum(x::float8) AS float8, gpu_sum((x % 100)::float4) =
       sum((x % 100)::float4) AS float4 FROM generate_series(1, 20000) x;

-- Signs of zero, NaN, infinities.
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES ('-0'::float8), ('-0')) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES ('-0'::float8), ('0')) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES ('-0'::float8)) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES ('-0'::float4)) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES (1.5::float8), (-1.5)) v(x);
SELECT gpu_sum(x) AS gpu FROM (VALUES ('-0'::float8), (NULL), ('-0')) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES (1::float8), ('NaN'), ('inf')) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES ('-inf'::float8), ('inf')) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES ('-inf'::float8), ('-inf'), (1)) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES ('inf'::float8), (-1e308)) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES (1::float4), ('NaN'), ('inf')) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES ('-inf'::float4), ('inf')) v(x);
SELECT gpu_sum(x) AS gpu, sum(x) AS core FROM (VALUES ('inf'::float4), (-1e38)) v(x);

-- Out of range is an error only when the sum is, not when a sum on the way is.
SELECT sum(x) FROM (VALUES (1e308::float8), (1e308), (-1e308)) v(x);
SELECT gpu_sum(x) FROM (VALUES (1e308::float8), (1e308), (-1e308)) v(x);
SELECT gpu_sum(x) FROM (VALUES (1e308::float8), (1e308)) v(x);
SELECT gpu_sum(x) FROM (VALUES (-1e308::float8), (-1e308)) v(x);
SELECT gpu_sum(x) FROM (VALUES (3e38::float4), (3e38), (-3e38)) v(x);
SELECT gpu_sum(x) FROM (VALUES (3e38::float4), (3e38)) v(x);
SELECT gpu_sum(x) FROM (VALUES (1.7976931348623157e308::float8), (9.9792015476735e291)) v(x);
SELECT gpu_sum(x) FROM (VALUES (1.7976931348623157e308::float8), (9.979201547673599e291)) v(x);
SELECT gpu_sum(x) FROM (VALUES (1.7976931348623157e308::float8), (9.979201547673599e291),
       (-5e-324)) v(x);
-- An infinity among the values is the answer, however large the rest.
SELECT gpu_sum(x) FROM (VALUES (1e308::float8), (1e308), ('inf')) v(x);
-- One group out of range, the statement fails as in core.
SELECT g, gpu_sum(x) FROM (VALUES (1, 1e308::float8), (1, 1e308), (2, 1)) v(g, x) GROUP BY g;
RESET extra_float_digits;
