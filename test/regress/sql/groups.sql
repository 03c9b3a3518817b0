-- Grouping in every form that SQL has.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
\pset null '(null)'

CREATE TABLE grouped (i int, g int, h int, x int4, y int8, e float8, n numeric);
INSERT INTO grouped SELECT i, i % 4, i % 3, CASE WHEN i % 11 <> 0 THEN i END, i * 1000000000::int8,
       (i % 100) / 4.0, i / 10.0 FROM generate_series(1, 1000) i;
INSERT INTO grouped SELECT i, NULL, 0, i, i, i, i FROM generate_series(1, 3) i;
INSERT INTO grouped VALUES (0, 9, 9);
ANALYZE grouped;

SELECT g, gpu_sum(x), gpu_sum(y), gpu_sum(e), gpu_sum(n), gpu_count(x), gpu_count(*) FROM grouped
GROUP BY g ORDER BY g;
SELECT g, sum(x), sum(y), sum(e), sum(n), count(x), count(*) FROM grouped
GROUP BY g ORDER BY g;
SELECT g, gpu_sum(x) FROM grouped GROUP BY g HAVING gpu_sum(x) > 100 AND gpu_count(*) > 5 ORDER BY g;
SELECT g, gpu_sum(x) FILTER (WHERE h = 1) AS s, sum(x) FILTER (WHERE h = 1) AS core,
       gpu_count(*) FILTER (WHERE x IS NULL) AS n FROM grouped GROUP BY g ORDER BY g;
SELECT gpu_sum(DISTINCT x % 10) AS gpu, sum(DISTINCT x % 10) AS core,
       gpu_count(DISTINCT e) AS n, count(DISTINCT e) AS core_n FROM grouped;
SELECT gpu_sum(x ORDER BY i DESC) AS gpu, gpu_sum(e ORDER BY i), gpu_sum(e ORDER BY e, i DESC)
FROM grouped;
SELECT gpu_sum(DISTINCT x ORDER BY x DESC) FILTER (WHERE x < 10) AS gpu FROM grouped;
SELECT g, h, gpu_sum(x), gpu_count(*), GROUPING(g, h) FROM grouped GROUP BY ROLLUP (g, h)
ORDER BY GROUPING(g, h), g, h;
SELECT g, h, gpu_sum(x) AS gpu, sum(x) AS core, gpu_sum(e) = sum(e) AS float8 FROM grouped
GROUP BY CUBE (g, h) ORDER BY GROUPING(g, h), g, h;
SELECT g, h, gpu_sum(y) AS gpu, gpu_sum(y) = sum(y) AS same FROM grouped
GROUP BY GROUPING SETS ((g), (h), ()) ORDER BY GROUPING(g, h), g, h;
SELECT g, h, gpu_sum(n) AS gpu, gpu_sum(n)::text = sum(n)::text AS same FROM grouped
WHERE g IS NULL GROUP BY GROUPING SETS ((g, h), ()) ORDER BY GROUPING(g, h), g, h;
-- No rows: () still gives one.
SELECT g, gpu_sum(x), gpu_count(*) FROM grouped WHERE false GROUP BY GROUPING SETS ((g), ());
SELECT g, gpu_sum(x) FROM grouped WHERE false GROUP BY g;
SELECT gpu_sum(x) FROM grouped WHERE false HAVING gpu_sum(x) IS NULL;
SELECT gpu_sum(x) FROM grouped HAVING gpu_sum(x) IS NULL;

-- The same by sorting, by mixed plans, and with every set hashed.
SET enable_hashagg = off;
SELECT count(*) FROM (SELECT g, h, gpu_sum(x), gpu_sum(y), gpu_sum(e), gpu_sum(n) FROM grouped
    GROUP BY CUBE (g, h) EXCEPT ALL
    SELECT g, h, sum(x), sum(y), sum(e), sum(n) FROM grouped GROUP BY CUBE (g, h)) d;
RESET enable_hashagg;
SET enable_sort = off;
SELECT count(*) FROM (SELECT g, h, gpu_sum(x), gpu_sum(y), gpu_sum(e), gpu_sum(n) FROM grouped
    GROUP BY CUBE (g, h) EXCEPT ALL
    SELECT g, h, sum(x), sum(y), sum(e), sum(n) FROM grouped GROUP BY CUBE (g, h)) d;
RESET enable_sort;

-- Rescans: LATERAL, correlated subqueries, LIMIT that leaves groups unfinished.
SELECT a.g, l.s, l.c FROM (SELECT DISTINCT g FROM grouped) a,
    LATERAL (SELECT gpu_sum(b.e) AS s, gpu_sum(b.x) AS c FROM grouped b WHERE b.g < a.g) l
ORDER BY a.g;
SELECT a.k, l.* FROM generate_series(1, 4) a(k),
    LATERAL (SELECT b.h, gpu_sum(b.e) AS s FROM grouped b WHERE b.i <= a.k * 100 GROUP BY b.h
             ORDER BY b.h LIMIT 2) l ORDER BY a.k, l.h;
SELECT k, (SELECT gpu_sum(x) FROM grouped WHERE g = k) AS gpu, (SELECT sum(x) FROM grouped
       WHERE g = k) AS core FROM generate_series(0, 5) k;
SET enable_hashagg = off;
SELECT a.k, l.* FROM generate_series(1, 3) a(k),
    LATERAL (SELECT b.i / 100 AS d, gpu_sum(b.e) AS s, gpu_sum(b.y) AS c FROM grouped b
             WHERE b.i >= a.k * 100 GROUP BY 1 ORDER BY 1 LIMIT 1) l ORDER BY a.k;
RESET enable_hashagg;
SELECT g, gpu_sum(e) FROM grouped GROUP BY g ORDER BY g LIMIT 1;
SELECT g, gpu_sum(e) FROM grouped GROUP BY g ORDER BY g LIMIT 1 OFFSET 2;
SELECT EXISTS (SELECT gpu_sum(e) FROM grouped GROUP BY g);

-- Several aggregates in one query share nothing that they must not.
SELECT gpu_sum(e), gpu_sum(e + 1), gpu_sum(e) FILTER (WHERE i < 10), gpu_sum(-e), gpu_sum(x),
       gpu_sum(x * 2) FROM grouped;
SELECT gpu_sum(s) FROM (SELECT g, gpu_sum(e) AS s FROM grouped GROUP BY g) q;
-- An aggregate of the outer query; nesting is refused as in core.
SELECT g, (SELECT gpu_sum(o.x) FROM (VALUES (1)) v(z)) FROM grouped o GROUP BY g ORDER BY g;
SELECT gpu_sum(gpu_sum(x)) FROM grouped;
SELECT gpu_sum(x) FROM grouped WHERE gpu_sum(x) > 1;
SELECT gpu_sum(generate_series(1, 3)) FROM grouped;

-- Hash aggregation that spills, with groups of one row and groups of many.
CREATE TABLE spilled AS SELECT CASE WHEN i % 2 = 0 THEN i ELSE i % 3 END AS g, i AS x,
       i::int8 * 3 AS y, (i % 1000) / 8.0::float8 AS e, i / 100.0 AS n
FROM generate_series(1, 60000) i;
ANALYZE spilled;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SET enable_sort = off;
SET max_parallel_workers_per_gather = 0;
SET gpuagg.device_min_rows = 1000;
SELECT count(*), gpu_sum(a), gpu_sum(b), gpu_sum(c), gpu_sum(d) FROM (SELECT g, gpu_sum(x) AS a,
    gpu_sum(y) AS b, gpu_sum(e) AS c, gpu_sum(n) AS d FROM spilled GROUP BY g) q;
SELECT count(*), sum(a), sum(b), sum(c), sum(d) FROM (SELECT g, sum(x) AS a,
    sum(y) AS b, sum(e) AS c, sum(n) AS d FROM spilled GROUP BY g) q;
CREATE TEMP TABLE hashed AS SELECT g, gpu_sum(x) AS a, gpu_sum(y) AS b, gpu_sum(e) AS c,
    gpu_sum(n) AS d, gpu_count(*) AS m FROM spilled GROUP BY g;
RESET enable_sort;
SET enable_hashagg = off;
CREATE TEMP TABLE sorted AS SELECT g, sum(x) AS a, sum(y) AS b, sum(e) AS c,
    sum(n) AS d, count(*) AS m FROM spilled GROUP BY g;
SELECT count(*) FROM (TABLE hashed EXCEPT ALL TABLE sorted) d;
SELECT count(*) FROM (TABLE sorted EXCEPT ALL TABLE hashed) d;
-- DISTINCT and ORDER BY inside whose sort goes to disk.
SELECT gpu_sum(DISTINCT e) AS gpu, sum(DISTINCT e) AS core FROM spilled;
SELECT gpu_sum(e ORDER BY n DESC) AS gpu, sum(e) AS core FROM spilled;
RESET ALL;
DROP TABLE grouped, spilled;
