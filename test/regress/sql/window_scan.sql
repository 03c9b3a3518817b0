-- The window node at work: beside core in every frame, stopped early, rescanned,
-- read by cursors, and in errors.

LOAD 'gpuagg';
SET gpuagg.batch_rows = 1024;
SET gpuagg.device_min_rows = 0;

CREATE TABLE wins AS
SELECT i, nullif(i % 7, 3) AS g, nullif(i / 3, 50) AS o,
       CASE WHEN i % 11 <> 0 THEN i * 7919 % 101 END AS x4,
       (i * 7919 % 1009)::bigint * 1000000000000000 AS x8,
       CASE WHEN i % 97 = 0 THEN 'NaN' ELSE (i * 7919 % 1013)::float8 / 7 END AS x,
       (i % 13)::numeric / 10 AS n, make_interval(secs => i % 17) AS d,
       'row ' || i AS s, repeat('wide', i % 50) AS w,
       CASE WHEN i % 2 = 0 THEN '-0'::float8 ELSE 0 END AS z
FROM generate_series(1, 3000) i;
ANALYZE wins;

\getenv folder PG_ABS_SRCDIR
\set differences :folder '/lib/differences.sql'
\i :differences

-- every frame, over every kind of key, by functions that an engine scans and by others
CREATE TABLE definitions (definition text);
INSERT INTO definitions VALUES
	('PARTITION BY g ORDER BY o'),
	('PARTITION BY g'),
	('PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING'),
	('ORDER BY o'),
	('ORDER BY i DESC ROWS UNBOUNDED PRECEDING'),
	('ORDER BY g NULLS FIRST, o DESC NULLS LAST'),
	('PARTITION BY i'),
	('PARTITION BY z ORDER BY i'),
	('PARTITION BY z, g ORDER BY x'),
	('PARTITION BY n ORDER BY d'),
	('PARTITION BY w ORDER BY s'),
	('PARTITION BY i / 1024 ORDER BY i / 512'),
	('PARTITION BY g ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING'),
	('');
SELECT definition,
	   differences(format('SELECT i, w, gpu_sum(x4) OVER f AS a, gpu_avg(x8) OVER f AS b
						   FROM wins WINDOW f AS (%s)', definition)) AS integers,
	   differences(format('SELECT i, w, gpu_sum(x) OVER f AS a, gpu_sum(x8) OVER f AS b
						   FROM wins WINDOW f AS (%s)', definition)) AS sums,
	   differences(format('SELECT i, w, gpu_min(x) OVER f AS a, gpu_count(*) OVER f AS b
						   FROM wins WINDOW f AS (%s)', definition)) AS others,
	   differences(format('SELECT i, w, gpu_sum(n) OVER f AS a, gpu_max(n) OVER f AS b,
						   gpu_avg(x) OVER f AS c, gpu_avg(d) OVER f AS d, gpu_min(d) OVER f AS e
						   FROM wins WINDOW f AS (%s)', definition)) AS by_row
FROM definitions;
SELECT differences('SELECT i, gpu_running_sum(x4, true) OVER f AS a,
					gpu_running_avg(x8, true) OVER f AS b
					FROM wins WINDOW f AS (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING)'),
	   differences('SELECT i, gpu_running_min(n, true) OVER f AS a,
					gpu_running_count(x, true) OVER f AS b
					FROM wins WINDOW f AS (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING)');

-- spilled: little memory, one group of everything, wide rows
SET work_mem = '64kB';
SELECT definition,
	   differences(format('SELECT wins.*, gpu_sum(x4) OVER f AS a FROM wins WINDOW f AS (%s)',
						  definition))
FROM definitions WHERE definition !~ 'ROWS';
RESET work_mem;

-- an error is raised by the row that causes it: rows before it come out
CREATE TABLE steps AS
SELECT i, i AS o, CASE WHEN i > 3 THEN '92233720368547758.07' ELSE '1' END::money AS x
FROM generate_series(1, 10) i;
SELECT i, gpu_running_sum(x) OVER (ORDER BY o ROWS UNBOUNDED PRECEDING) FROM steps LIMIT 3;
SELECT i, gpu_running_sum(x) OVER (ORDER BY o ROWS UNBOUNDED PRECEDING) FROM steps LIMIT 4;
SELECT i, gpu_running_sum(x) OVER (ORDER BY o ROWS UNBOUNDED PRECEDING) FROM steps WHERE i > 1 LIMIT 2;
SELECT i, gpu_running_sum(CASE WHEN i > 3 THEN 1.7e308 ELSE 1 END::float8) OVER (ORDER BY o ROWS UNBOUNDED PRECEDING)
FROM steps LIMIT 4;
SELECT i, gpu_running_sum(CASE WHEN i > 3 THEN 1.7e308 ELSE 1 END::float8) OVER (ORDER BY o ROWS UNBOUNDED PRECEDING)
FROM steps LIMIT 5;
SELECT i, gpu_running_sum(x) OVER (ORDER BY o) FROM steps LIMIT 3;
SELECT i, gpu_running_sum(x) OVER (ORDER BY o) FROM steps LIMIT 5;
SELECT i, gpu_running_sum(100 / (5 - i)) OVER (ORDER BY o ROWS UNBOUNDED PRECEDING)
FROM steps LIMIT 4;
SELECT i, gpu_running_sum(100 / (5 - i)) OVER (ORDER BY o) FROM steps LIMIT 5;
SELECT gpu_running_sum(i, NULL) OVER (ORDER BY o) FROM steps;
SELECT gpu_running_sum(i, NULL) OVER (ORDER BY o) FROM steps WHERE i < 0;

-- rescans, with another parameter and with the same
SELECT k, (SELECT max(r) FROM (SELECT gpu_running_sum(x4) OVER (ORDER BY i) AS r
							   FROM wins WHERE g = k) q)
FROM generate_series(0, 4) k;
SELECT k, r
FROM generate_series(1, 3) k,
	 LATERAL (SELECT gpu_sum(x4 + k) OVER (PARTITION BY g ORDER BY i) AS r FROM wins
			  ORDER BY i LIMIT 1 OFFSET 2000) q;
SET enable_material = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT count(*), sum(r)
FROM (VALUES (1), (2), (3)) k (k)
LEFT JOIN (SELECT i, gpu_sum(x4) OVER (PARTITION BY g ORDER BY i) AS r FROM wins OFFSET 0) q
	ON q.i % 3 = k.k % 3;
RESET enable_material;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- cursors, forward in steps and back
BEGIN;
DECLARE forward CURSOR FOR
	SELECT i, gpu_sum(x4) OVER (PARTITION BY g ORDER BY o) FROM wins ORDER BY g, o, i;
MOVE 1022 FROM forward;
FETCH 4 FROM forward;
MOVE 1022 FROM forward;
SAVEPOINT s;
FETCH 4 FROM forward;
ROLLBACK TO s;
FETCH 2 FROM forward;
DECLARE back SCROLL CURSOR WITH HOLD FOR
	SELECT i, gpu_running_sum(x4) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM wins;
FETCH 2 FROM back;
FETCH LAST FROM back;
COMMIT;
FETCH PRIOR FROM back;
CLOSE back;

-- A cursor goes on after a query that fetched from it has failed.
CREATE FUNCTION fetch_one(c refcursor) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	r bigint;
BEGIN
	FETCH c INTO r;
	RETURN r;
END $$;
BEGIN;
DECLARE onward CURSOR FOR
	SELECT gpu_running_sum(i::bigint) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM wins;
DO $$
DECLARE
	onward refcursor := 'onward';
	nwrong int := 0;
BEGIN
	BEGIN
		PERFORM 1 / (fetch_one(onward) * 0);
	EXCEPTION WHEN division_by_zero THEN
		RAISE NOTICE 'failed';
	END;
	FOR i IN 2 .. 3000 LOOP
		IF fetch_one(onward) IS DISTINCT FROM i * (i + 1) / 2 THEN
			nwrong := nwrong + 1;
		END IF;
	END LOOP;
	RAISE NOTICE 'wrong: %', nwrong;
END $$;
COMMIT;
DROP FUNCTION fetch_one(refcursor);

-- columns of a table: what was read, what a condition above drops
CREATE FUNCTION node_lines(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Pages|Removed|Seq Scan|Custom Scan|Subquery|external' THEN
			line := regexp_replace(line, '\d+kB', 'some');
			line := regexp_replace(trim(line), '(Pages (Read|from Memory): )[1-9]\d*', '\1some');
			RETURN NEXT replace(line, '.00', ''); -- from 18 on
		END IF;
	END LOOP;
END $$;
SET gpuagg.resident = off;
SELECT node_lines('SELECT i, gpu_running_sum(x4) OVER (PARTITION BY g ORDER BY i) AS r FROM wins');
SELECT node_lines('SELECT i, gpu_running_sum(x4) OVER (PARTITION BY g ORDER BY i) AS r FROM wins WHERE i > 2000 AND s <> ''row 2001''');
SELECT node_lines('SELECT i, gpu_running_sum(x4) OVER (PARTITION BY g ORDER BY i) AS r FROM wins WHERE upper(s) = ''ROW 7''');
SELECT node_lines('SELECT * FROM (SELECT i, gpu_running_sum(x4) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM wins) q
				   WHERE r <= 100 AND 3 < r');
SELECT node_lines('SELECT * FROM (SELECT i, gpu_avg(x4) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM wins) q
				   WHERE r <= 50 AND 12.5 < r');
SELECT node_lines('SELECT * FROM (SELECT i, gpu_sum(x8) OVER (PARTITION BY g) AS r FROM wins) q WHERE r > 1e20');
-- an expression over values, which could raise an error, is computed for all rows
SELECT node_lines('SELECT * FROM (SELECT i, gpu_sum(x4) OVER (PARTITION BY g) / 2 AS h, gpu_sum(x4) OVER (PARTITION BY g) AS r FROM wins) q
				   WHERE r < 0');
SELECT i, r FROM (SELECT i, gpu_running_sum(x4) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM wins) q
WHERE r > 1000 ORDER BY i LIMIT 2;
-- columns added later, dropped ones, values out of line
CREATE TABLE altered AS SELECT i, i % 3 AS g, 'gone' AS gone, repeat(md5(i::text), 200) AS long FROM generate_series(1, 40) i;
ALTER TABLE altered ALTER long SET STORAGE EXTERNAL, DROP gone, ADD late int DEFAULT 7;
UPDATE altered SET long = long || '!', late = NULL WHERE i % 5 = 0;
SELECT differences('SELECT i, late, long, gpu_running_sum(late) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS a FROM altered'),
	   differences('SELECT long, gpu_sum(i) OVER (PARTITION BY late) AS a FROM altered WHERE late > 0 AND long <> ''x''');
-- in memory
SET gpuagg.resident = on;
SET gpuagg.device = cpu;
VACUUM wins;
SELECT count(r) FROM (SELECT gpu_running_sum(x8) OVER (PARTITION BY g ORDER BY i) AS r FROM wins WHERE o > 0) q;
SELECT node_lines('SELECT i, gpu_running_sum(x8) OVER (PARTITION BY g ORDER BY i) AS r FROM wins WHERE o > 0');
UPDATE wins SET x8 = x8 + 1 WHERE i % 1000 = 0;
SELECT differences('SELECT i, gpu_running_sum(x8) OVER (PARTITION BY g ORDER BY i) AS r FROM wins WHERE o > 0');
RESET gpuagg.device;
RESET gpuagg.resident;
DROP TABLE altered;

-- aggregates above take the windows' vectors
SET gpuagg.resident = off;
SET gpuagg.min_table_pages = 0;
SET gpuagg.core_aggregates = exact;
EXPLAIN (COSTS OFF)
SELECT gpu_max(r), count(*) FILTER (WHERE r < 0)
FROM (SELECT *, gpu_running_sum(x8) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM wins) q WHERE r <> 7;
SELECT node_lines('SELECT g, count(*), gpu_sum(r) FROM
	(SELECT g, gpu_running_sum(x4) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM wins) q
	WHERE r > 100 GROUP BY g');
SELECT gpu_max(r), gpu_min(r), gpu_sum(r), gpu_avg(r), count(*), count(r), gpu_max(-r), gpu_sum(r / 2)
FROM (SELECT gpu_running_sum(x8) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM wins WHERE o > 0) q;
SELECT max(r), min(r), sum(r), avg(r), count(*), count(r), max(-r), sum(r / 2)
FROM (SELECT sum(x8) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM wins WHERE o > 0) q;
-- an error of a row comes, unless it is filtered out
SELECT gpu_sum(1 / (r - 10)) FROM
	(SELECT gpu_running_count(i) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM wins) q;
SELECT gpu_sum(1 / (r - 10)) FROM
	(SELECT gpu_running_count(i) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM wins) q WHERE r <> 10;
-- once for each row of another table
SELECT o, (SELECT gpu_max(r) FROM (SELECT gpu_running_sum(x4) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM wins WHERE i <= o) q)
FROM generate_series(1, 4) o;
PREPARE many(int, numeric) AS SELECT count(*), gpu_max(r) FROM
	(SELECT gpu_running_sum(x8 + $1) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM wins) q WHERE r > $2;
SET plan_cache_mode = force_generic_plan;
EXECUTE many(1, 100);
EXECUTE many(2, -100);
RESET plan_cache_mode;
DEALLOCATE many;
RESET gpuagg.core_aggregates;
RESET gpuagg.min_table_pages;
RESET gpuagg.resident;

-- numerics of a known scale, and expressions, are computed for all rows unless one is an error
CREATE TABLE amounts AS SELECT i, i % 7 AS g, (i % 1000 - 480)::numeric(12,2) / 8 AS exact, ((i % 1000 - 480) / 8.0)::numeric(12,2) AS x,
	((i % 91) / 1000.0)::numeric(3,3) AS small FROM generate_series(1, 3000) i;
SELECT differences('SELECT i, gpu_running_sum(x) OVER w AS a, gpu_running_avg(x) OVER w AS b, gpu_running_min(x * small) OVER w AS c,
	gpu_running_max(-x) OVER w AS d, gpu_running_count(x + 1) OVER w AS e, gpu_running_sum(exact) OVER w AS f FROM amounts
	WINDOW w AS (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING)'),
	   differences('SELECT i, gpu_sum(x) OVER (PARTITION BY g ORDER BY i / 4) AS a, gpu_sum(x - 0.5) OVER (PARTITION BY g) AS b FROM amounts');
SELECT node_lines('SELECT * FROM (SELECT i, gpu_running_sum(x) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM amounts) q
				   WHERE r < -1900.5');
SELECT count(r) FROM (SELECT gpu_running_sum(1 / (i - 2000)) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM amounts LIMIT 1999) q;
SELECT count(r) FROM (SELECT gpu_running_sum(1 / (i - 2000)) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM amounts) q;
SELECT count(r) FROM (SELECT gpu_running_sum(1 / (i - 2000)) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM amounts WHERE i <> 2000) q;
UPDATE amounts SET x = 'NaN' WHERE i = 2999;
SELECT differences('SELECT i, gpu_running_sum(x) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS a FROM amounts');
-- beyond work_mem
SET work_mem = '64kB';
SELECT differences('SELECT i, x, gpu_running_sum(x) OVER (PARTITION BY g ORDER BY exact, i ROWS UNBOUNDED PRECEDING) AS a FROM amounts'),
	   differences('SELECT i, s, gpu_sum(x4) OVER (PARTITION BY o) AS a FROM wins');
SELECT node_lines('SELECT gpu_sum(i) OVER (ORDER BY x, i) AS a FROM amounts');
RESET work_mem;
-- partitions, and keys that are expressions
CREATE TABLE parts (i int, g int, x numeric(12,2), at timestamp) PARTITION BY RANGE (i);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (1000);
CREATE TABLE parts2 (at timestamp, gone text, x numeric(12,2), g int, i int);
ALTER TABLE parts2 DROP gone;
ALTER TABLE parts ATTACH PARTITION parts2 FOR VALUES FROM (1000) TO (9000);
INSERT INTO parts SELECT i, g, CASE WHEN i = 2999 THEN 1 ELSE x END, timestamp '2026-01-01' + i * interval '1 hour' FROM amounts;
ANALYZE parts;
SELECT differences('SELECT i, gpu_running_sum(x) OVER (PARTITION BY date_trunc(''month'', at), g / 2 ORDER BY i ROWS UNBOUNDED PRECEDING) AS a FROM parts');
SELECT node_lines('SELECT i, gpu_running_sum(x) OVER (PARTITION BY date_trunc(''month'', at) ORDER BY i) FROM parts WHERE i > 500');
DROP TABLE amounts, parts;
DROP FUNCTION node_lines(text);

-- arguments with parameters of queries around: computed as columns, anew when they change, where the table's rows stay the same, too
CREATE FUNCTION sets(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'GpuWindow|Batches' THEN
			RETURN NEXT substring(regexp_replace(regexp_replace(line, 'rows=(\d+)(\.\d+)?', 'rows=\1'), '(Batches): [1-9].*', '\1') FROM '[A-Z].*');
		END IF;
	END LOOP;
END $$;
CREATE TABLE numbers AS SELECT i, i % 7 AS g, (i * 7919 % 1009)::bigint AS x, (i % 997 / 8.0)::numeric(10,3) AS n FROM generate_series(1, 3000) i;
ANALYZE numbers;
SELECT sets('SELECT e, s.* FROM generate_series(1, 3) e, LATERAL (SELECT max(r), min(t) FROM (SELECT gpu_sum(x * e) OVER (PARTITION BY g ORDER BY i) AS r, gpu_sum(i - e) OVER (PARTITION BY x) AS t FROM numbers OFFSET 0) q) s');
SELECT e, s.* FROM generate_series(1, 3) e, LATERAL (SELECT max(r), min(t), sum(r), max(u) FROM (SELECT gpu_sum(x * e) OVER (PARTITION BY g ORDER BY i) AS r, gpu_sum(n - e) OVER (PARTITION BY g ORDER BY i) AS t,
	gpu_max(x + e) OVER (PARTITION BY i / 100) AS u FROM numbers OFFSET 0) q) s;
SELECT e, s.* FROM generate_series(1, 3) e, LATERAL (SELECT max(r), min(t), sum(r), max(u) FROM (SELECT sum(x * e) OVER (PARTITION BY g ORDER BY i) AS r, sum(n - e) OVER (PARTITION BY g ORDER BY i) AS t,
	max(x + e) OVER (PARTITION BY i / 100) AS u FROM numbers OFFSET 0) q) s;
SELECT e, (SELECT gpu_max(r) FROM (SELECT gpu_sum(n * coalesce(e, 5)) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM numbers WHERE i > 100 * e OR e IS NULL) q) FROM (VALUES (2), (NULL), (2), (-3)) v (e);
SELECT e, (SELECT max(r) FROM (SELECT sum(n * coalesce(e, 5)) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM numbers WHERE i > 100 * e OR e IS NULL) q) FROM (VALUES (2), (NULL), (2), (-3)) v (e);
-- of a query that is run once, and not where no row asks for it
SELECT differences('SELECT i, gpu_sum(x + (SELECT max(i) FROM numbers)) OVER (PARTITION BY g ORDER BY i) AS a FROM numbers');
SELECT count(*), count(a) FROM (SELECT gpu_sum(x / (SELECT 0 * max(i) FROM numbers)) OVER (PARTITION BY g ORDER BY i) AS a FROM numbers WHERE i < 0) q;
SELECT count(*), count(a) FROM (SELECT gpu_sum(x + (SELECT 1 / (0 * max(i)) FROM numbers)) OVER (PARTITION BY g ORDER BY i) AS a FROM numbers WHERE i < 0) q;
SELECT count(*), count(a) FROM (SELECT gpu_sum(x + (SELECT 1 / (0 * max(i)) FROM numbers)) OVER (PARTITION BY g ORDER BY i) AS a FROM numbers) q;
DROP TABLE numbers;
DROP FUNCTION sets(text);

DROP FUNCTION differences(text);
DROP TABLE wins, definitions, steps;
