-- gpu_min and gpu_max of every type: results, NULLs, NaN, ties, indexes, labels.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
\pset null '(null)'
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';
SET timezone = 'UTC';
SET lc_monetary = 'C';

CREATE TABLE extremes (i int, a int2, b int4, c int8, d float4, e float8, f numeric, g money,
                       h interval, k date, l time, m timestamp, n timestamptz);
INSERT INTO extremes
SELECT i, j, j * 1000, j * 10000000000, j / 4.0, j / 8.0, round(j * 0.03, 2), j::numeric::money,
       j * interval '1 hour', date '2026-01-01' + j, time '12:00' + j * interval '1 second',
       timestamp '2026-01-01' + j * interval '1 minute', timestamptz '2026-01-01 00:00+00' + j * interval '1 day'
FROM (SELECT i, i * 37 % 101 - 50 AS j FROM generate_series(1, 2000) i) q;
INSERT INTO extremes VALUES (2001);
ALTER TABLE extremes SET (parallel_workers = 2);
ANALYZE extremes;

-- Value and type of every signature, beside core's.
SELECT gpu_min(a), gpu_min(b), gpu_min(c), gpu_min(d), gpu_min(e), gpu_min(f), gpu_min(g) FROM extremes;
SELECT min(a), min(b), min(c), min(d), min(e), min(f), min(g) FROM extremes;
SELECT gpu_max(a), gpu_max(b), gpu_max(c), gpu_max(d), gpu_max(e), gpu_max(f), gpu_max(g) FROM extremes;
SELECT max(a), max(b), max(c), max(d), max(e), max(f), max(g) FROM extremes;
SELECT gpu_min(h), gpu_min(k), gpu_min(l), gpu_min(m), gpu_min(n) FROM extremes;
SELECT min(h), min(k), min(l), min(m), min(n) FROM extremes;
SELECT gpu_max(h), gpu_max(k), gpu_max(l), gpu_max(m), gpu_max(n) FROM extremes;
SELECT max(h), max(k), max(l), max(m), max(n) FROM extremes;
SELECT bool_and(prorettype = proargtypes[0]) AS of_their_own_type FROM pg_proc WHERE proname IN ('gpu_min', 'gpu_max');
SELECT gpu_max('a'::text);
SELECT gpu_min(true);

-- No rows, and only NULLs.
SELECT gpu_min(a), gpu_max(c), gpu_min(d), gpu_max(e), gpu_min(f), gpu_max(g), gpu_min(h), gpu_max(k)
FROM extremes WHERE i > 2000;
SELECT gpu_min(a), gpu_max(c), gpu_min(d), gpu_max(e), gpu_min(f), gpu_max(g), gpu_min(h), gpu_max(k)
FROM extremes WHERE false;

-- The edges of the types.
SELECT gpu_min(x), gpu_max(x) FROM (VALUES ('-32768'::int2), ('32767')) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES ('-2147483648'::int4), ('2147483647')) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES ('-9223372036854775808'::int8), ('9223372036854775807')) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES ('9223372036854775807'::int8)) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES ('-9223372036854775808'::int8)) v(x);
SELECT gpu_min(x), gpu_max(x)
FROM (VALUES ('-92233720368547758.08'::money), ('92233720368547758.07')) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES ('-infinity'::date), ('infinity'), ('2026-01-01')) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES ('00:00'::time), ('24:00'), ('23:59:59.999999')) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES ('-infinity'::timestamp), ('infinity'), ('2026-01-01')) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES ('infinity'::timestamptz), ('2026-01-01')) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES ('1e-45'::float4), ('-1e-45'), ('0')) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES ('1.7976931348623157e308'::float8), ('5e-324')) v(x);

-- NaN is greater than all others.
SELECT gpu_min(x), gpu_max(x) FROM (VALUES ('NaN'::float8), ('Infinity'), ('-Infinity'), (1)) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES ('NaN'::float4), ('NaN')) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES ('NaN'::numeric), ('Infinity'), ('-Infinity'), (1)) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES ('NaN'::float8), (2), ('NaN'), (3)) v(x);

-- Equal but not the same: the same one wins in any order of rows.
SELECT gpu_min(x), gpu_max(x) FROM (VALUES ('0'::float8), ('-0')) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES ('-0'::float8), ('0')) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES ('0'::float4), ('-0')) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES (1.0), (1.000), (1.00)) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES (1.000), (1.00), (1.0)) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES (-0.0), (0.00)) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES (interval '1 month'), ('30 days'), ('720 hours')) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES (interval '720 hours'), ('30 days'), ('1 month')) v(x);
SELECT gpu_min(x), gpu_max(x) FROM (VALUES (interval '29 days 24 hours'), ('31 days -24 hours')) v(x);

-- FILTER, DISTINCT, ORDER BY, grouping sets, frames.
SELECT a % 3 AS r, gpu_min(c), gpu_max(n), gpu_max(f) FILTER (WHERE i < 50) AS filtered FROM extremes
GROUP BY 1 ORDER BY 1;
SELECT gpu_min(DISTINCT a % 3), gpu_max(f ORDER BY i), gpu_max(-b) FROM extremes;
SELECT a % 3 AS r, a % 2 AS s, gpu_max(k) FROM extremes GROUP BY ROLLUP (1, 2) ORDER BY 1, 2, 3;
SELECT i, gpu_max(e) OVER (ORDER BY i ROWS 2 PRECEDING),
       gpu_min(f) OVER (ORDER BY i ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING),
       gpu_min(k) OVER (ORDER BY i DESC) FROM extremes WHERE i > 1994 ORDER BY i;
SELECT gpu_max(gpu_max(a)) FROM extremes;

-- More rows than a batch, and an error in the middle of one.
SELECT gpu_min(x) = -9999 AS int4, gpu_max(x::int8) = 9999 AS int8, gpu_max(-x::float4) = 9999 AS float4,
       gpu_min(x::float8) = -9999 AS float8, gpu_max(x::int2) = 9999 AS int2,
       gpu_max(timestamptz '2026-01-01' + x * interval '1 s') =
       timestamptz '2026-01-01' + interval '9999 s' AS timestamptz
FROM generate_series(-9999, 9999) x;
SELECT gpu_min(1 / (5000 - x)) FROM generate_series(1, 9999) x;
SELECT gpu_min(x) FROM generate_series(1, 9999) x;

-- In parallel workers.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
EXPLAIN (COSTS OFF) SELECT gpu_min(c), gpu_max(f) FROM extremes;
SELECT gpu_min(a), gpu_min(b), gpu_min(c), gpu_min(d), gpu_min(e), gpu_min(f), gpu_min(g) FROM extremes;
SELECT gpu_max(h), gpu_max(k), gpu_max(l), gpu_max(m), gpu_max(n) FROM extremes;
SELECT a % 3 AS r, gpu_min(c), gpu_max(n) FROM extremes GROUP BY 1 ORDER BY 1;
SELECT gpu_min(a), gpu_max(f) FROM extremes WHERE i > 2000;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET parallel_leader_participation;

-- An index answers where values that are equal are the same, as in core.
CREATE INDEX ON extremes (c);
CREATE INDEX ON extremes (e);
CREATE INDEX ON extremes (n);
CREATE FUNCTION index_answers(query text) RETURNS boolean LANGUAGE plpgsql AS $$
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
SELECT q, index_answers('SELECT gpu_' || q || ' FROM extremes') AS ours, index_answers('SELECT ' || q || ' FROM extremes') AS core
FROM unnest(ARRAY['min(c)', 'max(c)', 'max(n)', 'min(e)', 'max(e)', 'min(c) FILTER (WHERE i > 5)']) q;
SELECT gpu_min(c), gpu_max(n) FROM extremes;
SELECT min(c), max(n) FROM extremes;
DROP FUNCTION index_answers(text);
SELECT proargtypes[0]::regtype AS type
FROM pg_aggregate JOIN pg_proc p ON p.oid = aggfnoid WHERE proname IN ('gpu_min', 'gpu_max')
GROUP BY 1 HAVING bool_or(aggsortop = 0) ORDER BY 1::text COLLATE "C";

DROP TABLE extremes;
