-- Aggregates OVER frames of every kind, beside core.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
\pset null '(null)'

CREATE TABLE framed (i int, g int, k int, x4 int4, x8 int8, e float8, n numeric);
INSERT INTO framed SELECT i, i % 3, i / 4, CASE WHEN i % 5 <> 0 THEN i * 3 - 50 END,
       i * 10000000000, i / 2.0, round(i / 7.0, i % 5) FROM generate_series(1, 60) i;
INSERT INTO framed VALUES (61, NULL, NULL, 1, 2, 3, 4.0), (62, NULL, NULL, NULL, NULL, NULL, NULL);
ANALYZE framed;

-- Every frame, for every type: the number of rows where ours and core's differ in value or
-- text; minima and maxima in value, as equal numerics can have several texts.
CREATE FUNCTION differing(over_clause text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    core text := '';
    ours text := '';
    c text;
    n bigint;
BEGIN
    FOREACH c IN ARRAY ARRAY['x4', 'x8', 'e', 'n'] LOOP
        core := core || format(', sum(%1$s) OVER w, count(%1$s) OVER w, avg(%1$s) OVER w, '
                               '(min(%1$s) OVER w)::float8, (max(%1$s) OVER w)::float8', c);
        ours := ours || format(', gpu_sum(%1$s) OVER w, gpu_count(%1$s) OVER w, gpu_avg(%1$s) OVER w, '
                               '(gpu_min(%1$s) OVER w)::float8, (gpu_max(%1$s) OVER w)::float8', c);
    END LOOP;
    EXECUTE format('WITH a AS (SELECT ROW(i%1$s)::text FROM framed WINDOW w AS (%3$s)), '
                   'b AS (SELECT ROW(i%2$s)::text FROM framed WINDOW w AS (%3$s)) '
                   'SELECT (SELECT count(*) FROM (TABLE a EXCEPT ALL TABLE b) d) + '
                   '(SELECT count(*) FROM (TABLE b EXCEPT ALL TABLE a) e)', core, ours, over_clause)
    INTO n;
    RETURN n;
END
$$;
SELECT f, differing(f) FROM unnest(ARRAY[
    '',
    'PARTITION BY g',
    'ORDER BY i',
    'ORDER BY k',
    'PARTITION BY g ORDER BY i DESC',
    'ORDER BY i ROWS UNBOUNDED PRECEDING',
    'ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING',
    'ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING',
    'ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND 3 FOLLOWING',
    'ORDER BY i ROWS 4 PRECEDING',
    'ORDER BY i ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING',
    'ORDER BY i ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING',
    'ORDER BY i ROWS BETWEEN CURRENT ROW AND CURRENT ROW',
    'ORDER BY i ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING',
    'ORDER BY i ROWS BETWEEN 2 FOLLOWING AND 5 FOLLOWING',
    'ORDER BY i ROWS BETWEEN 5 FOLLOWING AND 2 FOLLOWING',
    'PARTITION BY g ORDER BY i ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING',
    'PARTITION BY g ORDER BY i ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW',
    'ORDER BY k RANGE UNBOUNDED PRECEDING',
    'ORDER BY k RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING',
    'ORDER BY k DESC RANGE BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING',
    'ORDER BY k NULLS FIRST RANGE BETWEEN CURRENT ROW AND 3 FOLLOWING',
    'ORDER BY k RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE GROUP',
    'ORDER BY k GROUPS 1 PRECEDING',
    'ORDER BY k GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES',
    'ORDER BY k GROUPS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING',
    'PARTITION BY k % 2 ORDER BY k GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE NO OTHERS'
]) f;

SELECT i, x4, gpu_sum(x4) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS gpu,
       sum(x4) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS core,
       gpu_sum(n) OVER (ORDER BY i ROWS 2 PRECEDING) AS gpu_n,
       sum(n) OVER (ORDER BY i ROWS 2 PRECEDING) AS core_n
FROM framed WHERE i < 9 OR i > 58 ORDER BY i;
SELECT i, gpu_sum(x4) FILTER (WHERE x4 > 0) OVER w AS gpu, sum(x4) FILTER (WHERE x4 > 0) OVER w AS core,
       gpu_count(*) FILTER (WHERE x4 > 0) OVER w AS n
FROM framed WHERE i < 25 WINDOW w AS (PARTITION BY g ORDER BY i ROWS 2 PRECEDING) ORDER BY i;
SELECT gpu_sum(DISTINCT x4) OVER () FROM framed;
SELECT gpu_sum(x4 ORDER BY i) OVER () FROM framed;

-- Aggregates of aggregates.
SELECT g, gpu_sum(gpu_sum(x4)) OVER (ORDER BY g) AS gpu, sum(sum(x4)) OVER (ORDER BY g) AS core
FROM framed GROUP BY g ORDER BY g;

-- Values that leave a moving frame leave nothing behind: exact, unlike core.
SELECT i, gpu_sum(v) OVER (ORDER BY i ROWS 1 PRECEDING) FROM
    (VALUES (1, 1e300::float8), (2, 1), (3, 2), (4, -1e300), (5, 1e300), (6, 0.5)) t(i, v);
SELECT i, gpu_sum(v) OVER (ORDER BY i ROWS 1 PRECEDING) FROM
    (VALUES (1, 'inf'::float8), (2, '-inf'), (3, 1), (4, 'NaN'), (5, 2), (6, 3)) t(i, v);
SELECT i, gpu_sum(v) OVER (ORDER BY i ROWS 1 PRECEDING) FROM
    (VALUES (1, 1::float8), (2, '-0'), (3, '-0'), (4, '0'), (5, '-0'), (6, '-0'), (7, NULL),
     (8, NULL), (9, '-0')) t(i, v);
SELECT i, gpu_sum(v) OVER (ORDER BY i ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) FROM
    (VALUES (1, 1.5::float4), (2, NULL), (3, NULL), (4, 1e38), (5, 1e38), (6, 1e-38)) t(i, v);
SELECT i, gpu_sum(v) OVER (ORDER BY i ROWS 1 PRECEDING) FROM
    (VALUES (1, 1e308::float8), (2, -1e308), (3, 1e307), (4, 1e308)) t(i, v);
SELECT i, gpu_sum(v) OVER (ORDER BY i ROWS 1 PRECEDING) FROM
    (VALUES (1, 1e308::float8), (2, -1e308), (3, 1e308), (4, 1e308)) t(i, v);
SELECT i, gpu_sum(v) OVER (ORDER BY i ROWS 1 PRECEDING) AS gpu,
       sum(v) OVER (ORDER BY i ROWS 1 PRECEDING) AS core FROM
    (VALUES (1, 'NaN'::numeric), (2, 1.50), (3, 'inf'), (4, '-inf'), (5, 2.000), (6, 1), (7, 1)) t(i, v);
DROP FUNCTION differing;
DROP TABLE framed;
