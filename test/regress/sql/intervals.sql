-- gpu_sum and gpu_avg of intervals beside core's; ranges, frames, workers.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
\pset null '(null)'
SET intervalstyle = postgres;

CREATE TEMP TABLE spans (i int, x interval);
INSERT INTO spans SELECT i, make_interval(months => i % 25 - 12, days => i % 41 - 20, secs => i * 1.25 - 7)
FROM generate_series(1, 300) i;
INSERT INTO spans VALUES (301);
SELECT gpu_sum(x), gpu_avg(x) FROM spans;
SELECT sum(x), avg(x) FROM spans;
SELECT i % 3 AS g, gpu_sum(x) = sum(x) AS sum, gpu_avg(x)::text = avg(x)::text AS avg FROM spans
GROUP BY ROLLUP (i % 3) ORDER BY g;
SELECT gpu_sum(x), gpu_avg(x) FROM spans WHERE i = 301;
SELECT gpu_sum(x), gpu_avg(x) FROM spans WHERE false;
SELECT pg_typeof(gpu_sum(x)), pg_typeof(gpu_avg(x)) FROM spans;
SELECT gpu_sum(time '10:00'), sum(time '10:00');

-- The sum itself must be in range, not every sum on the way.
SELECT gpu_sum(x) FROM (VALUES ('2147483646 months'::interval), ('2 months'), ('-2 months')) v(x);
SELECT gpu_sum(x) FROM (VALUES ('2147483646 months'::interval), ('2 months')) v(x);
SELECT sum(x) FROM (VALUES ('2147483646 months'::interval), ('2 months')) v(x);
SELECT gpu_avg(x) FROM (VALUES ('2147483646 months'::interval), ('2 months')) v(x);
SELECT gpu_sum(x) FROM (VALUES ('-2147483646 days'::interval), ('-3 days')) v(x);
SELECT gpu_sum(x) FROM (VALUES ('2562047788:00:54'::interval), ('1 second')) v(x);
SELECT gpu_sum(x) FROM (VALUES ('2562047788:00:54'::interval), ('1 second'), ('-1 second')) v(x);
-- Fields do not run over into each other.
SELECT gpu_sum(x), sum(x) FROM (VALUES ('25 days'::interval), ('13 months'), ('30:00:00')) v(x);
SELECT gpu_avg(x), avg(x) FROM (VALUES ('1 month'::interval), ('1 day'), ('1 second'), ('-0.000001 s')) v(x);

-- Moving frames.
SELECT count(*) AS rows, count(*) FILTER (WHERE ours IS DISTINCT FROM core) AS differ FROM (
    SELECT ROW(gpu_sum(x) OVER w, gpu_avg(x) OVER w)::text AS ours,
           ROW(sum(x) OVER w, avg(x) OVER w)::text AS core
    FROM spans WINDOW w AS (ORDER BY i ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING)) s;

-- Parallel workers.
CREATE TABLE parallel_spans AS SELECT i % 5 AS g, x FROM spans, generate_series(1, 50);
ANALYZE parallel_spans;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
EXPLAIN (COSTS OFF) SELECT gpu_sum(x), gpu_avg(x) FROM parallel_spans;
SELECT gpu_sum(x), gpu_avg(x) FROM parallel_spans;
SELECT sum(x), avg(x) FROM parallel_spans;
SELECT g, gpu_sum(x) = sum(x) AS sum, gpu_avg(x)::text = avg(x)::text AS avg FROM parallel_spans
GROUP BY g ORDER BY g;
DROP TABLE parallel_spans;
