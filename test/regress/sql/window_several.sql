-- Several windows of a query: nodes above another one sort the rows where that one has them.

LOAD 'gpuagg';
SET gpuagg.batch_rows = 1024;
SET gpuagg.device_min_rows = 0;

CREATE TABLE many AS
SELECT i, nullif(i % 7, 3) AS g, (i * 7919 % 501) AS k, i / 1100 AS l, i * 31 % 3001 AS o,
       CASE WHEN i % 11 <> 0 THEN i * 7919 % 101 END AS x4,
       (i * 7919 % 1009)::bigint * 1000000000000000 AS x8, (i % 1013)::float8 / 8 AS x,
       ((i * 7 % 1000 - 480) / 8.0)::numeric(12,2) AS n, (i % 13)::numeric / 10 AS loose,
       'row ' || i AS s, CASE WHEN i = 2500 THEN 0 ELSE 1 END AS part
FROM generate_series(1, 3000) i;
ANALYZE many;

\getenv folder PG_ABS_SRCDIR
\set differences :folder '/lib/differences.sql'
\i :differences
-- Lines of nodes, and of what they share.
CREATE FUNCTION shares(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Key:|Shares|Scan on|WindowAgg|rows=' THEN
			RETURN NEXT substring(regexp_replace(line, 'rows=(\d+)(\.\d+)?', 'rows=\1') FROM '[A-Z].*');
		END IF;
	END LOOP;
END $$;

SELECT shares('SELECT i, s, gpu_sum(x8) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING), gpu_sum(n) OVER (PARTITION BY k ORDER BY o),
	gpu_avg(x4) OVER (PARTITION BY l), gpu_max(x) OVER (ORDER BY o, i ROWS UNBOUNDED PRECEDING) FROM many WHERE i <> 17');
-- an order that serves twice
SELECT shares('SELECT i, gpu_sum(x8) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING), gpu_sum(x4) OVER (PARTITION BY g),
	gpu_sum(x4) OVER (PARTITION BY l) FROM many');
-- of keys by which the node does not sort, and of conditions that end a window
SELECT shares('SELECT i, gpu_sum(x8) OVER (PARTITION BY s), gpu_sum(x4) OVER (PARTITION BY l) FROM many');
SELECT shares('SELECT * FROM (SELECT i, gpu_count(*) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS c, gpu_sum(x4) OVER (PARTITION BY l ORDER BY o) FROM many) q WHERE c < 4');

-- results, under each frame below and above, with any function
CREATE TABLE frames (frame text);
INSERT INTO frames VALUES ('PARTITION BY g ORDER BY o, i ROWS UNBOUNDED PRECEDING'), ('PARTITION BY l ORDER BY k'), ('PARTITION BY k'),
	('PARTITION BY l, g ORDER BY k DESC NULLS LAST, i ROWS UNBOUNDED PRECEDING'), ('ORDER BY g');
-- conditions that pass all rows, where the planner expects a few
CREATE TABLE modes (mem text, condition text);
INSERT INTO modes VALUES ('64kB', 'true'), ('64kB', 'i % 2 < 2 AND k % 2 < 2 AND o % 2 < 2'), ('300kB', 'i % 2 < 2 AND k % 2 < 2 AND o % 2 < 2'),
	('500kB', 'true'), ('700kB', 'true'), ('64MB', 'i % 2 = 0');
SELECT a.frame AS above, b.frame AS below, array_agg(d) FROM frames a, frames b, modes,
	LATERAL (SELECT set_config('work_mem', mem, false)) c,
	LATERAL (SELECT differences(format('SELECT i, s, n, gpu_sum(x8) OVER a AS a, gpu_sum(n) OVER a AS b, gpu_sum(x4 + 1) OVER a AS c, gpu_avg(n * 2) OVER a AS d,
		gpu_sum(x8) OVER b AS e, gpu_sum(n) OVER b AS f, gpu_min(n) OVER b AS g, gpu_avg(x4) OVER b AS h, gpu_max(loose) OVER b AS j, gpu_count(*) OVER b AS k
		FROM many WHERE %s WINDOW a AS (%s), b AS (%s)', condition, a.frame, b.frame)) AS d) d
WHERE a.frame <> b.frame GROUP BY 1, 2 ORDER BY 1, 2;
RESET work_mem;
SELECT differences('SELECT i, gpu_sum(x8) OVER (PARTITION BY g ORDER BY k) AS a, rank() OVER (PARTITION BY g ORDER BY k), gpu_sum(n) OVER (PARTITION BY l ORDER BY k) AS b,
	row_number() OVER (PARTITION BY k ORDER BY i) AS c, gpu_count(x) OVER (PARTITION BY k ORDER BY i) AS d, dense_rank() OVER (PARTITION BY l ORDER BY k) AS e FROM many');
SELECT differences('SELECT i, gpu_sum(x8) OVER (PARTITION BY g ORDER BY k) AS a, gpu_sum(n) OVER (PARTITION BY l) AS b FROM many WHERE false');

-- conditions and aggregates above
SELECT count(*), sum(i) FROM (SELECT i, gpu_running_sum(n) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	gpu_sum(x8) OVER (PARTITION BY k) AS t FROM many) q WHERE r < -100 AND t > 0;
SELECT count(*), sum(i) FROM (SELECT i, sum(n) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	sum(x8) OVER (PARTITION BY k) AS t FROM many) q WHERE r < -100 AND t > 0;
SET gpuagg.min_table_pages = 0;
SELECT gpu_max(r), gpu_sum(t) FROM (SELECT gpu_running_sum(n) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	gpu_running_sum(x8) OVER (PARTITION BY k ORDER BY i ROWS UNBOUNDED PRECEDING) AS t FROM many) q;
SELECT max(r), sum(t) FROM (SELECT sum(n) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	sum(x8) OVER (PARTITION BY k ORDER BY i ROWS UNBOUNDED PRECEDING) AS t FROM many) q;
RESET gpuagg.min_table_pages;

-- once for each row of another table, with parameters of its own and below
SELECT e, s.* FROM generate_series(1, 3) e, LATERAL (SELECT count(*), sum(r), sum(t) FROM (SELECT gpu_running_sum(x4 + e) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	gpu_sum(n * e) OVER (PARTITION BY k) AS t FROM many OFFSET 0) q) s;
SELECT e, s.* FROM generate_series(1, 3) e, LATERAL (SELECT count(*), sum(r), sum(t) FROM (SELECT sum(x4 + e) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	sum(n * e) OVER (PARTITION BY k) AS t FROM many OFFSET 0) q) s;
SELECT e, s.* FROM generate_series(1, 3) e, LATERAL (SELECT count(*), sum(r), sum(t) FROM (SELECT gpu_running_sum(x4) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	gpu_sum(n) OVER (PARTITION BY k) AS t FROM many WHERE i % 4 < e OFFSET 0) q) s;
SELECT e, s.* FROM generate_series(1, 3) e, LATERAL (SELECT count(*), sum(r), sum(t) FROM (SELECT sum(x4) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	sum(n) OVER (PARTITION BY k) AS t FROM many WHERE i % 4 < e OFFSET 0) q) s;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT i, s, gpu_sum(x8) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING), gpu_sum(n) OVER (PARTITION BY k ORDER BY i ROWS UNBOUNDED PRECEDING) FROM many;
FETCH 2 FROM c;
MOVE 1500 FROM c;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH LAST FROM c;
COMMIT;

-- an error of an argument above comes with its row, one below before
SELECT count(a), count(b) FROM (SELECT gpu_sum(1 / part) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS a, gpu_sum(x4) OVER (PARTITION BY k) AS b FROM many LIMIT 2499) q;
SELECT count(a), count(b) FROM (SELECT gpu_sum(1 / part) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS a, gpu_sum(x4) OVER (PARTITION BY k) AS b FROM many LIMIT 2500) q;
SELECT count(a), count(b) FROM (SELECT gpu_sum(x4) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS a, gpu_sum(1 / part) OVER (PARTITION BY k) AS b FROM many LIMIT 1) q;

-- rows of a window over all rows may come in any order: who needs one of the window below it sorts
EXPLAIN (COSTS OFF) SELECT o, gpu_sum(x4) OVER () AS a, gpu_sum(x8) OVER (PARTITION BY o) AS b FROM many ORDER BY o;
SELECT differences('SELECT o, a, b, gpu_sum(i) OVER (ORDER BY o ROWS UNBOUNDED PRECEDING) AS c FROM (SELECT i, o, gpu_sum(x4) OVER () AS a, gpu_sum(x8) OVER (PARTITION BY o) AS b FROM many) q'),
	differences('SELECT q.*, row_number() OVER () AS n FROM (SELECT o, gpu_sum(x4) OVER () AS a, gpu_sum(x8) OVER (PARTITION BY o) AS b FROM many ORDER BY o) q'),
	differences('SELECT q.*, gpu_sum(i) OVER (ORDER BY o, k ROWS UNBOUNDED PRECEDING) FROM (SELECT i, o, k, gpu_sum(x4) OVER (PARTITION BY g) AS a, gpu_sum(x8) OVER (PARTITION BY g, o) AS b, gpu_sum(x) OVER (PARTITION BY o) AS c FROM many WHERE g = 1) q');

DROP TABLE many, frames, modes;
DROP FUNCTION differences(text);
DROP FUNCTION shares(text);
