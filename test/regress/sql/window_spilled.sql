-- Windows whose rows take more than work_mem: runs on disk, which several windows of a query hand on as columns.

LOAD 'gpuagg';
SET gpuagg.batch_rows = 1024;
SET gpuagg.device_min_rows = 0;

CREATE TABLE long AS
SELECT i, nullif(i % 7, 3) AS g, (i * 7919 % 5003) AS k, i / 6000 AS l, i * 31 % 30011 AS o,
       CASE WHEN i % 11 <> 0 THEN i * 7919 % 101 END AS x4,
       (i * 7919 % 1009)::bigint * 1000000000000000 AS x8, (i % 1013)::float8 / 8 AS x,
       ((i * 7 % 1000 - 480) / 8.0)::numeric(12,2) AS n, (i % 13)::numeric / 10 AS loose,
       'row ' || i AS s, i % 2 = 0 AS b, i::smallint AS x2, CASE WHEN i = 15000 THEN 0 ELSE 1 END AS part,
       (CASE WHEN i IN (12000, 12002) THEN 90000000000000000 ELSE 900 END)::bigint::money AS m
FROM generate_series(1, 20000) i;
ANALYZE long;

\getenv folder PG_ABS_SRCDIR
\set differences :folder '/lib/differences.sql'
\i :differences
-- How rows come to the nodes.
CREATE FUNCTION ways(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Key:|Shares|Takes|Spilled|Sort Method|Scan on|WindowAgg|rows=' THEN
			RETURN NEXT substring(regexp_replace(regexp_replace(line, 'rows=(\d+)(\.\d+)?', 'rows=\1'), '(Disk|Memory|Spilled Rows): .*', '\1')
								  FROM '[A-Z].*');
		END IF;
	END LOOP;
END $$;
-- Memory of the nodes of cursors, and files.
CREATE FUNCTION kilobytes() RETURNS bigint LANGUAGE sql AS $$
	SELECT sum(total_bytes)::bigint / 1024 FROM pg_backend_memory_contexts WHERE name ~ '^(gpuagg|GpuWindow) ' $$;
CREATE FUNCTION files() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM pg_ls_tmpdir() WHERE name ~ ('^pgsql_tmp' || pg_backend_pid() || '\.') $$;

SET work_mem = '1MB';
SELECT ways('SELECT i, s, gpu_sum(x8) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING), gpu_sum(n * 2) OVER (PARTITION BY k ORDER BY o),
	gpu_avg(x4) OVER (PARTITION BY l), gpu_max(x) OVER (ORDER BY o, i ROWS UNBOUNDED PRECEDING) FROM long WHERE i <> 17');
-- memory for the node below alone
SELECT ways('SELECT i, s, gpu_sum(x8) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING), gpu_sum(n) OVER (PARTITION BY k ORDER BY o),
	gpu_avg(n) OVER (PARTITION BY k ORDER BY o), gpu_avg(x4) OVER (PARTITION BY k ORDER BY o), gpu_avg(x8) OVER (PARTITION BY k ORDER BY o),
	gpu_sum(x8) OVER (PARTITION BY k ORDER BY o), gpu_max(x8) OVER (PARTITION BY k ORDER BY o) FROM long WHERE i <= 8000');
-- groups that take more than that
SET work_mem = '64kB';
SELECT ways('SELECT i, s, gpu_sum(x8) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING), gpu_sum(n) OVER (PARTITION BY b) FROM long');
SELECT files();

-- results, under each frame below and above, with any function
CREATE TABLE frames (frame text);
INSERT INTO frames VALUES ('PARTITION BY g ORDER BY o, i ROWS UNBOUNDED PRECEDING'), ('PARTITION BY l ORDER BY k'), ('PARTITION BY k'), ('PARTITION BY b'),
	('PARTITION BY l, g ORDER BY k DESC NULLS LAST, i ROWS UNBOUNDED PRECEDING'), ('ORDER BY g');
CREATE TABLE modes (mem text);
INSERT INTO modes VALUES ('64kB'), ('1500kB'), ('3000kB');
SELECT a.frame AS above, b.frame AS below, array_agg(d) FROM frames a, frames b, modes,
	LATERAL (SELECT set_config('work_mem', mem, false)) c,
	LATERAL (SELECT differences(format('SELECT i, s, n, gpu_sum(x8) OVER a AS a, gpu_sum(n) OVER a AS b, gpu_sum(x4 + 1) OVER a AS c, gpu_avg(n * 2) OVER a AS d,
		gpu_sum(x8) OVER b AS e, gpu_sum(n) OVER b AS f, gpu_min(n) OVER b AS g, gpu_avg(x4) OVER b AS h, gpu_count(*) OVER b AS k, gpu_max(x) OVER b AS m
		FROM long WINDOW a AS (%s), b AS (%s)', a.frame, b.frame)) AS d) d
WHERE a.frame <> b.frame GROUP BY 1, 2 ORDER BY 1, 2;
SET work_mem = '200kB';
-- functions that take rows one by one, and numbers of rows
SELECT b.frame, differences(format('SELECT i, s, x2, b, gpu_sum(x8) OVER a AS a, gpu_max(loose) OVER b AS j, gpu_sum(loose) OVER b AS l, gpu_sum(x8) OVER b AS m
	FROM long WINDOW a AS (PARTITION BY l ORDER BY k, i ROWS UNBOUNDED PRECEDING), b AS (%s)', b.frame)) FROM frames b ORDER BY 1;
SELECT differences('SELECT i, s, gpu_sum(x8) OVER (PARTITION BY g ORDER BY k) AS a, rank() OVER (PARTITION BY g ORDER BY k), gpu_sum(n) OVER (PARTITION BY l ORDER BY k) AS b,
	row_number() OVER (PARTITION BY k ORDER BY i) AS c, gpu_count(x) OVER (PARTITION BY k ORDER BY i) AS d, dense_rank() OVER (PARTITION BY l ORDER BY k) AS e FROM long');
SELECT differences('SELECT i, gpu_sum(x8) OVER (PARTITION BY b ORDER BY k % 3) AS a, rank() OVER (PARTITION BY b ORDER BY k % 3), dense_rank() OVER (PARTITION BY b ORDER BY k % 3) AS e,
	gpu_sum(n) OVER (PARTITION BY l) AS b FROM long');

-- sums that go through several windows, as integers
SELECT a.frame AS above, b.frame AS below, array_agg(d) FROM frames a, frames b, (VALUES ('64kB'), ('700kB'), ('2500kB')) m (mem),
	LATERAL (SELECT set_config('work_mem', mem, false)) c,
	LATERAL (SELECT differences(format('SELECT i, s, n, gpu_sum(x8) OVER a AS a, gpu_sum(n) OVER b AS b, gpu_sum(-n * 3) OVER b AS c, gpu_sum(CASE WHEN i %% 3 = 0 THEN x8 END) OVER c AS d,
		gpu_sum(n) OVER c AS e, gpu_avg(n) OVER c AS f, gpu_sum(CASE WHEN i > 9000 THEN 9223372036854775807 - i END) OVER d AS g, gpu_sum(nullif(n, 0)) OVER d AS h
		FROM long WINDOW a AS (%s), b AS (%s), c AS (PARTITION BY o %% 50 ORDER BY l), d AS (PARTITION BY g, b ORDER BY i DESC ROWS UNBOUNDED PRECEDING)', a.frame, b.frame)) AS d) d
WHERE a.frame < b.frame AND b.frame IN ('PARTITION BY k', 'PARTITION BY l ORDER BY k') GROUP BY 1, 2 ORDER BY 1, 2;

-- conditions and aggregates above
SELECT count(*), sum(i) FROM (SELECT i, gpu_running_sum(n) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	gpu_sum(x8) OVER (PARTITION BY k) AS t FROM long) q WHERE r < -100 AND t > 0;
SELECT count(*), sum(i) FROM (SELECT i, sum(n) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	sum(x8) OVER (PARTITION BY k) AS t FROM long) q WHERE r < -100 AND t > 0;
SET gpuagg.min_table_pages = 0;
SELECT gpu_max(r), gpu_sum(t) FROM (SELECT gpu_running_sum(n) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	gpu_running_sum(x8) OVER (PARTITION BY k ORDER BY i ROWS UNBOUNDED PRECEDING) AS t FROM long) q;
SELECT max(r), sum(t) FROM (SELECT sum(n) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	sum(x8) OVER (PARTITION BY k ORDER BY i ROWS UNBOUNDED PRECEDING) AS t FROM long) q;
-- under each frame, with columns beside and groups; and of a window that does not sort
CREATE FUNCTION aggregates(prefix text, frame text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE replace(replace('SELECT array_agg(a ORDER BY a) FROM (SELECT (b, @max(r), @sum(t), @count(u), @min(w), @sum(i) FILTER (WHERE r < 0 OR u > 3),
		@count(DISTINCT s), @sum(y), @max(z))::text AS a FROM (SELECT i, b, s, l, @sum(n) OVER o AS r, @sum(x8) OVER o AS t,
			@count(x4) OVER o AS u, @min(x) OVER o AS w, @avg(x4) OVER o AS y, @avg(n) OVER o AS z FROM long WINDOW o AS (#)) q GROUP BY b) g', '@', prefix),
		'#', frame) INTO result;
	RETURN md5(result);
END $$;
INSERT INTO frames VALUES (''), ('PARTITION BY i'), ('PARTITION BY s'), ('PARTITION BY i / 1024'), ('PARTITION BY i / 1023 ORDER BY i % 2'), ('ORDER BY i / 1500'),
	('PARTITION BY l ORDER BY s ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING');
SELECT frame, array_agg(aggregates('gpu_', frame) = aggregates('', frame)) FROM frames,
	LATERAL (VALUES ('64kB'), ('1MB'), ('64MB')) m (mem), LATERAL (SELECT set_config('work_mem', mem, false)) c GROUP BY frame ORDER BY frame;
SET work_mem = '200kB';
SELECT b, gpu_sum(r), gpu_max(n), gpu_count(*) FILTER (WHERE d > 2), gpu_sum(a), gpu_max(z) FROM (SELECT b, gpu_sum(x8) OVER (PARTITION BY l ORDER BY k) AS r, rank() OVER (PARTITION BY l ORDER BY k) AS n,
	dense_rank() OVER (PARTITION BY l ORDER BY k) AS d, gpu_sum(n) OVER (PARTITION BY l) AS a, gpu_max(o) OVER (PARTITION BY k) AS z FROM long) q GROUP BY b ORDER BY b;
SELECT b, sum(r), max(n), count(*) FILTER (WHERE d > 2), sum(a), max(z) FROM (SELECT b, sum(x8) OVER (PARTITION BY l ORDER BY k) AS r, rank() OVER (PARTITION BY l ORDER BY k) AS n,
	dense_rank() OVER (PARTITION BY l ORDER BY k) AS d, sum(n) OVER (PARTITION BY l) AS a, max(o) OVER (PARTITION BY k) AS z FROM long) q GROUP BY b ORDER BY b;
SELECT ways('SELECT gpu_sum(i), gpu_max(r), gpu_count(s) FROM (SELECT i, s, gpu_sum(n) OVER (PARTITION BY b) AS r FROM long) q');
SELECT ways('SELECT gpu_sum(i), gpu_max(r), gpu_max(q), gpu_count(s) FROM (SELECT i, s, gpu_sum(x8) OVER (PARTITION BY b) AS r, gpu_sum(x8) OVER (PARTITION BY b ORDER BY i ROWS UNBOUNDED PRECEDING) AS q FROM long) q');
-- of sums of windows below, too
SET work_mem = '64MB';
CREATE FUNCTION below(prefix text, frame text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE replace(replace('SELECT array_agg(a ORDER BY a) FROM (SELECT (b, @sum(r), @max(t), @count(u), @min(u), @sum(t) FILTER (WHERE r < 0 AND w > 3),
		@sum(w) FILTER (WHERE u IS NULL), @sum(y), @max(z), @avg(z))::text AS a FROM (SELECT i, b, s, l, @sum(n) OVER o AS r, @sum(x8) OVER p AS t,
			@sum(CASE WHEN i > 9000 THEN 9223372036854775807 - i END) OVER p AS u, @sum(x8) OVER q AS w, @sum(-n) OVER q AS y, @sum(x4) OVER p AS z FROM long
			WINDOW o AS (#), p AS (PARTITION BY g, b ORDER BY i DESC ROWS UNBOUNDED PRECEDING), q AS (PARTITION BY o % 50 ORDER BY l)) q GROUP BY b) g', '@', prefix),
		'#', frame) INTO result;
	RETURN md5(result);
END $$;
SELECT frame, array_agg(below('gpu_', frame) = below('', frame)) FROM frames,
	LATERAL (VALUES ('64kB'), ('1MB'), ('4MB'), ('64MB')) m (mem), LATERAL (SELECT set_config('work_mem', mem, false)) c GROUP BY frame ORDER BY frame;
SET work_mem = '200kB';
SELECT ways('SELECT gpu_sum(r), gpu_sum(q), gpu_sum(t) FROM (SELECT gpu_sum(x8) OVER (PARTITION BY b) AS r, gpu_sum(x8) OVER (PARTITION BY l ORDER BY i ROWS UNBOUNDED PRECEDING) AS q,
	gpu_sum(n) OVER (PARTITION BY k) AS t FROM long) q');
DROP FUNCTION below(text, text);
DROP FUNCTION aggregates(text, text);
RESET gpuagg.min_table_pages;

-- once for each row of another table, with parameters of its own and below
SELECT e, s.* FROM generate_series(1, 3) e, LATERAL (SELECT count(*), sum(r), sum(t) FROM (SELECT gpu_running_sum(x4 + e) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	gpu_sum(n * e) OVER (PARTITION BY k) AS t FROM long OFFSET 0) q) s;
SELECT e, s.* FROM generate_series(1, 3) e, LATERAL (SELECT count(*), sum(r), sum(t) FROM (SELECT sum(x4 + e) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	sum(n * e) OVER (PARTITION BY k) AS t FROM long OFFSET 0) q) s;
SELECT e, s.* FROM generate_series(1, 3) e, LATERAL (SELECT count(*), sum(r), sum(t) FROM (SELECT gpu_running_sum(x4) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	gpu_sum(n) OVER (PARTITION BY b) AS t FROM long WHERE i % 3 < e AND i < e * 9000 OFFSET 0) q) s;
SELECT e, s.* FROM generate_series(1, 3) e, LATERAL (SELECT count(*), sum(r), sum(t) FROM (SELECT sum(x4) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	sum(n) OVER (PARTITION BY b) AS t FROM long WHERE i % 3 < e AND i < e * 9000 OFFSET 0) q) s;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT i, s, gpu_sum(x8) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING), gpu_sum(n) OVER (PARTITION BY b) FROM long;
FETCH 2 FROM c;
MOVE 15000 FROM c;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH LAST FROM c;
SELECT files() > 0;
COMMIT;
SELECT files();

-- memory and files of a cursor, at any time
SELECT kilobytes() AS before \gset
BEGIN;
SET LOCAL work_mem = '1MB';
DECLARE c CURSOR FOR SELECT i, s, gpu_sum(x8) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING), gpu_sum(n) OVER (PARTITION BY b), gpu_sum(x8) OVER (PARTITION BY k),
	gpu_sum(n) OVER (ORDER BY o, i ROWS UNBOUNDED PRECEDING) FROM long;
FETCH 1 FROM c;
SELECT kilobytes() - :before BETWEEN 100 AND 3 * 1024, files() > 0;
MOVE 10000 FROM c;
SELECT kilobytes() - :before BETWEEN 100 AND 3 * 1024, files() > 0;
SAVEPOINT s;
SELECT gpu_sum(1 / part) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS a, gpu_sum(x4) OVER (PARTITION BY k) AS b FROM long;
ROLLBACK TO s;
MOVE 5000 FROM c;
SELECT kilobytes() - :before BETWEEN 100 AND 3 * 1024, files() > 0;
CLOSE c;
SELECT kilobytes() - :before AS kilobytes, files();
COMMIT;

-- an error of an argument above comes with its row, one below before, and leaves nothing
SELECT count(a), count(b) FROM (SELECT gpu_sum(1 / part) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS a, gpu_sum(x4) OVER (PARTITION BY k) AS b FROM long LIMIT 14999) q;
SELECT count(a), count(b) FROM (SELECT gpu_sum(1 / part) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS a, gpu_sum(x4) OVER (PARTITION BY k) AS b FROM long LIMIT 15000) q;
SELECT count(a), count(b) FROM (SELECT gpu_sum(x4) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS a, gpu_sum(1 / part) OVER (PARTITION BY k) AS b FROM long LIMIT 1) q;
SELECT count(a), count(b) FROM (SELECT gpu_sum(x4) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS a, gpu_sum(m) OVER (PARTITION BY b ORDER BY i ROWS UNBOUNDED PRECEDING) AS b FROM long LIMIT 1) q;
SELECT count(a), count(b) FROM (SELECT gpu_sum(x4) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS a, gpu_sum(m) OVER (PARTITION BY b) AS b FROM long LIMIT 1) q;
SELECT kilobytes() - :before AS kilobytes, files();

DROP TABLE long, frames, modes;
DROP FUNCTION differences(text);
DROP FUNCTION ways(text);
DROP FUNCTION kilobytes();
DROP FUNCTION files();
