-- Aggregates over a subquery of groups, which come as vectors or as rows.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS gpuagg;
SET gpuagg.enable_agg_scan = on;
SET gpuagg.min_table_pages = 0;
SET gpuagg.core_aggregates = off;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE visits AS
SELECT i, (i * 7919 % 3001) AS visitor, (i * 31 % 7)::smallint AS page, CASE WHEN i % 10 <> 0 THEN i % 500 END AS ms,
       (i % 997) / 4.0::float8 AS x, (i % 1000)::numeric(8,2) / 100 AS paid, 'site ' || i % 5 AS site
FROM generate_series(1, 30000) i;
ANALYZE visits;

-- Nodes above one another, and what they read.
CREATE FUNCTION nodes(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Scan|Aggregate|Rows Read|Group Key|Removed|Spills|Groups:|Wanted' THEN
			RETURN NEXT regexp_replace(line, 'rows=(\d+)(\.\d+)?', 'rows=\1');
		END IF;
	END LOOP;
END $$;
SELECT * FROM nodes('SELECT gpu_count(*), gpu_max(n) FROM (SELECT visitor, gpu_count(*) AS n FROM visits GROUP BY visitor) q');
SELECT gpu_count(*), gpu_max(n) FROM (SELECT visitor, gpu_count(*) AS n FROM visits GROUP BY visitor) q;
-- conditions become HAVING, or stay above
SELECT * FROM nodes('SELECT gpu_count(*), gpu_sum(n) FROM (SELECT visitor, gpu_count(ms) AS n FROM visits GROUP BY visitor HAVING gpu_sum(ms) > 2000) q WHERE n > 8');
SELECT gpu_count(*), gpu_sum(n) FROM (SELECT visitor, gpu_count(ms) AS n FROM visits GROUP BY visitor HAVING gpu_sum(ms) > 2000) q WHERE n > 8;
SELECT count(*), sum(n) FROM (SELECT visitor, count(ms) AS n FROM visits GROUP BY visitor HAVING sum(ms) > 2000) q WHERE n > 8;
SELECT * FROM nodes('SELECT n, gpu_count(*) FILTER (WHERE paid > 50) FROM (SELECT visitor, gpu_count(*) AS n, gpu_sum(paid) AS paid FROM visits GROUP BY visitor OFFSET 0) q WHERE n < 10 GROUP BY n');
-- groups three times
SELECT * FROM nodes('SELECT gpu_max(c) FROM (SELECT n, gpu_count(*) AS c FROM (SELECT visitor, gpu_count(*) AS n FROM visits GROUP BY visitor) a GROUP BY n) b');
SELECT gpu_max(c), gpu_sum(c) FROM (SELECT n, gpu_count(*) AS c FROM (SELECT visitor, gpu_count(*) AS n FROM visits GROUP BY visitor) a GROUP BY n) b;
-- by core's names
SET gpuagg.core_aggregates = 'all';
SELECT * FROM nodes('SELECT avg(n), max(paid), min(page), sum(x) FROM (SELECT visitor, page, count(*) AS n, sum(paid) AS paid, sum(x) AS x FROM visits GROUP BY visitor, page) q');
SELECT avg(n), max(paid), min(page), sum(x) FROM (SELECT visitor, page, count(*) AS n, sum(paid) AS paid, sum(x) AS x FROM visits GROUP BY visitor, page) q;
SET gpuagg.core_aggregates = off;
SELECT avg(n), max(paid), min(page), sum(x) FROM (SELECT visitor, page, count(*) AS n, sum(paid) AS paid, sum(x) AS x FROM visits GROUP BY visitor, page) q;

-- Groups that come as rows: of grouping sets, with DISTINCT, from files.
SELECT * FROM nodes('SELECT gpu_count(*), gpu_sum(n) FROM (SELECT page, gpu_count(*) AS n FROM visits GROUP BY ROLLUP (page)) q');
SELECT * FROM nodes('SELECT gpu_count(*), gpu_sum(n) FROM (SELECT page, gpu_count(DISTINCT visitor) AS n FROM visits GROUP BY page) q');
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT * FROM nodes('SELECT gpu_count(*), gpu_sum(n) FROM (SELECT visitor, gpu_count(*) AS n FROM visits GROUP BY visitor) q')
WHERE nodes !~ 'Spills';
SELECT count(*) FROM nodes('SELECT gpu_count(*), gpu_sum(n) FROM (SELECT visitor, gpu_count(*) AS n FROM visits GROUP BY visitor) q')
WHERE nodes ~ 'Spills';
SELECT gpu_count(*), gpu_sum(n), gpu_max(s) FROM (SELECT visitor, gpu_count(*) AS n, gpu_min(site) AS s FROM visits GROUP BY visitor) q;
RESET work_mem;
RESET hash_mem_multiplier;

-- Of the first groups by a sort and a LIMIT the others are left out, where their number is known.
SELECT * FROM nodes('SELECT visitor, gpu_sum(ms) FROM visits GROUP BY visitor ORDER BY 2 DESC NULLS LAST, 1 LIMIT 3');
SELECT visitor, gpu_sum(ms) FROM visits GROUP BY visitor ORDER BY 2 DESC NULLS LAST, 1 LIMIT 3;
SELECT visitor, sum(ms) FROM visits GROUP BY visitor ORDER BY 2 DESC NULLS LAST, 1 LIMIT 3;
SELECT visitor, gpu_sum(paid) FROM visits GROUP BY visitor HAVING gpu_count(ms) = 8 ORDER BY 2, 1 LIMIT 3 OFFSET 1;
SELECT visitor, sum(paid) FROM visits GROUP BY visitor HAVING count(ms) = 8 ORDER BY 2, 1 LIMIT 3 OFFSET 1;
SELECT visitor % 100 AS v, gpu_avg(x) FROM visits GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 3;
SELECT visitor % 100 AS v, avg(x) FROM visits GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 3;
-- all are equal by the only key; and by the first of two
SELECT gpu_count(*) FROM visits GROUP BY i ORDER BY 1 LIMIT 2;
SELECT * FROM nodes('SELECT gpu_count(*) FROM visits GROUP BY i ORDER BY 1 LIMIT 2') WHERE nodes ~ 'Scan|Groups';
SELECT page, i, gpu_count(*) FROM visits WHERE i < 1000 GROUP BY page, i ORDER BY page DESC, i LIMIT 2;
-- sums of NULLs alone come first, or last
SELECT visitor, gpu_sum(nullif(ms, 11)) FROM visits WHERE ms = 11 OR visitor < 2 GROUP BY visitor ORDER BY 2 DESC, 1 LIMIT 2;
SELECT visitor, gpu_sum(nullif(ms, 11)) FROM visits WHERE ms = 11 OR visitor < 2 GROUP BY visitor ORDER BY 2, 1 LIMIT 2;
-- not of these
SELECT * FROM nodes('SELECT page, gpu_count(*) FROM visits GROUP BY page ORDER BY 2 FETCH FIRST 2 ROWS WITH TIES') WHERE nodes ~ 'Wanted';
SELECT * FROM nodes('SELECT DISTINCT gpu_count(*) FROM visits GROUP BY visitor ORDER BY 1 LIMIT 1') WHERE nodes ~ 'Wanted';
SELECT * FROM nodes('SELECT page, gpu_count(*), row_number() OVER (ORDER BY page) FROM visits GROUP BY page ORDER BY 2 LIMIT 1') WHERE nodes ~ 'Wanted';
SELECT * FROM nodes('SELECT page, gpu_count(*), generate_series(1, 2) FROM visits GROUP BY page ORDER BY 2 LIMIT 1') WHERE nodes ~ 'Wanted';
SELECT * FROM nodes('SELECT site, gpu_count(*) FROM visits GROUP BY site ORDER BY 1 LIMIT 1') WHERE nodes ~ 'Wanted';
SELECT * FROM nodes('SELECT page, gpu_count(*) FROM visits GROUP BY page ORDER BY 2 LIMIT (SELECT 2)') WHERE nodes ~ 'Wanted';
SELECT * FROM nodes('SELECT page, gpu_count(*) FROM visits GROUP BY ROLLUP (page) ORDER BY 2 LIMIT 1') WHERE nodes ~ 'Wanted';
-- a run again
SELECT p, t.* FROM generate_series(0, 4) p,
	LATERAL (SELECT visitor, gpu_count(*) FROM visits WHERE page = p GROUP BY visitor ORDER BY 2 DESC, 1 LIMIT 1) t ORDER BY p;

-- With workers below, again and again, and stopped.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT gpu_count(*), gpu_max(n) FROM (SELECT visitor, gpu_count(*) AS n FROM visits GROUP BY visitor) q;
SET max_parallel_workers_per_gather = 0;
SELECT p, a, m FROM generate_series(0, 7) p,
	LATERAL (SELECT gpu_count(*) AS a, gpu_max(n) AS m FROM (
		SELECT visitor, gpu_count(*) AS n FROM visits WHERE page = p GROUP BY visitor OFFSET 0) q WHERE n > p % 3) l ORDER BY p;
SELECT p, (SELECT gpu_sum(n) FROM (SELECT visitor, gpu_count(*) AS n FROM visits WHERE i % 3 = p GROUP BY visitor) q) FROM generate_series(0, 3) p;
PREPARE above(int) AS SELECT gpu_count(*), gpu_max(n) FROM (SELECT visitor, gpu_count(*) AS n FROM visits WHERE page < $1 GROUP BY visitor) q WHERE n >= $1;
EXECUTE above(1);
EXECUTE above(3);
BEGIN;
DECLARE c CURSOR FOR SELECT n, gpu_count(*) FROM (SELECT visitor, gpu_count(*) AS n FROM visits GROUP BY visitor) q GROUP BY n ORDER BY n;
FETCH 2 FROM c;
COMMIT;
-- an error of a row below, and one above
SELECT gpu_max(n) FROM (SELECT visitor, gpu_sum(1 / (i - 20000)) AS n FROM visits GROUP BY visitor) q;
SELECT gpu_max(1 / (n - 9)) FROM (SELECT visitor, gpu_count(*) AS n FROM visits GROUP BY visitor) q;

-- Keys that lie densely, with one that is far away, at the ends of their type, and none.
CREATE TABLE odd_keys AS
SELECT i, CASE WHEN i = 1500 THEN 9223372036854775807 WHEN i = 2500 THEN -9223372036854775807 - 1
	WHEN i % 100 = 0 THEN NULL ELSE (i * 7919 % 2003)::bigint - 1000 END AS k FROM generate_series(1, 12000) i;
SELECT gpu_count(*), gpu_count(k), gpu_sum(n), gpu_sum(k), gpu_min(k), gpu_max(k), gpu_max(s)
FROM (SELECT k, gpu_count(*) AS n, gpu_sum(i) AS s FROM odd_keys GROUP BY k) q;
SELECT count(*), count(k), sum(n), sum(k), min(k), max(k), max(s)
FROM (SELECT k, count(*) AS n, sum(i) AS s FROM odd_keys GROUP BY k) q;
SELECT count(*) FROM (
	(SELECT k, gpu_sum(i), gpu_count(*) FROM odd_keys GROUP BY k EXCEPT ALL SELECT k, sum(i), count(*) FROM odd_keys GROUP BY k)
	UNION ALL
	(SELECT k, sum(i), count(*) FROM odd_keys GROUP BY k EXCEPT ALL SELECT k, gpu_sum(i), gpu_count(*) FROM odd_keys GROUP BY k)) d;

DROP TABLE visits, odd_keys;
DROP FUNCTION nodes(text);
