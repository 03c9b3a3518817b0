-- Windows of numeric with more than 18 digits, which are integers of 128 bits.

LOAD 'gpuagg';
SET gpuagg.batch_rows = 1024;
SET gpuagg.device_min_rows = 0;

CREATE TABLE wide AS
SELECT i, nullif(i % 7, 3) AS g, (i * 7919 % 503) AS k, i / 1100 AS l, i % 2 = 0 AS b, 'row ' || i AS s,
       ((i * 7919 % 1009 - 500)::numeric * 123456789012345678901)::numeric(30,0) AS w0,
       CASE WHEN i % 5 <> 0 THEN (i * 31 % 101 - 50)::numeric * 98765432109876.54321 END::numeric(25,7) AS w7,
       -- as large as they may be
       (CASE i % 3 WHEN 0 THEN '99999999999999999999999999999999999999' WHEN 1 THEN '-99999999999999999999999999999999999999' ELSE i::text END)::numeric(38,0) AS most,
       (CASE WHEN i % 4 = 0 THEN '-' ELSE '' END || '9999999999.999999999999999999999999999' || i % 10)::numeric(38,28) AS deep,
       ((i * 7 % 1000 - 480) / 8.0)::numeric(12,2) AS n, (i * 31 % 1000)::numeric(20,0) AS small,
       CASE WHEN i = 2600 THEN 'NaN'::numeric ELSE i END::numeric(20,1) AS nan, CASE WHEN i = 2500 THEN 0 ELSE 1 END::numeric(20,0) AS part
FROM generate_series(1, 3100) i;
ANALYZE wide;

CREATE FUNCTION differences(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE 'CREATE TEMP TABLE ours ON COMMIT DROP AS ' || replace(query, '@', 'gpu_');
	EXECUTE 'CREATE TEMP TABLE core ON COMMIT DROP AS ' || replace(query, '@', '');
	-- by text, so with display scales
	SELECT count(*) INTO n
	FROM ((SELECT ours::text FROM ours EXCEPT ALL SELECT core::text FROM core)
		  UNION ALL (SELECT core::text FROM core EXCEPT ALL SELECT ours::text FROM ours)) d;
	DROP TABLE ours, core;
	RETURN n;
END $$;
CREATE FUNCTION ways(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Shares|Takes|Sort Method|Batches|Scan on|Scan .Gpu|Removed|WindowAgg' THEN
			RETURN NEXT substring(regexp_replace(regexp_replace(line, 'rows=(\d+)(\.\d+)?', 'rows=\1'), '(Disk|Memory|Batches): [0-9]*[1-9].*', '\1')
								  FROM '[A-Z].*');
		END IF;
	END LOOP;
END $$;

-- in sets
SELECT ways('SELECT i, gpu_sum(w0) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING), gpu_max(w7 * 2) OVER (PARTITION BY k) FROM wide');
SET work_mem = '64kB';
SELECT ways('SELECT i, gpu_sum(w0) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING), gpu_max(w7 * 2) OVER (PARTITION BY k) FROM wide');
RESET work_mem;
-- not of numbers that are none
SELECT ways('SELECT i, gpu_sum(nan) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) FROM wide');

CREATE TABLE frames (frame text);
INSERT INTO frames VALUES ('PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING'), ('PARTITION BY l ORDER BY k'), ('PARTITION BY k'), (''), ('ORDER BY k, i'), ('PARTITION BY i'),
	('ORDER BY i DESC ROWS UNBOUNDED PRECEDING'), ('PARTITION BY i % 97, b');
SELECT frame, array_agg(differences(format('SELECT i, @sum(%1$s) OVER o AS a, @avg(%1$s) OVER o AS b, @min(%1$s) OVER o AS c, @max(%1$s) OVER o AS d,
		@count(%1$s) OVER o AS e, @sum(n) OVER o AS f FROM wide WINDOW o AS (%2$s)', x, frame)) ORDER BY x, mem)
FROM frames, unnest('{w0,w7,most,deep,small,w7 - n,w0 * 2,abs(w7),deep * 3}'::text[]) x, (VALUES ('64kB'), ('64MB')) m (mem), LATERAL (SELECT set_config('work_mem', mem, false)) s
GROUP BY frame ORDER BY frame;
SELECT frame, differences(format('SELECT i, @sum(nan) OVER o AS a, @avg(nan) OVER o AS b, @min(nan) OVER o AS c, @max(w0) OVER o AS d FROM wide WINDOW o AS (%s)', frame)) FROM frames ORDER BY frame;
-- sums beyond 128 bits
SELECT gpu_max(r), gpu_min(r) FROM (SELECT gpu_sum(99999999999999999999999999999999999999::numeric(38,0) * CASE WHEN b THEN 1 ELSE -1 END) OVER (PARTITION BY b ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM wide) q;
SELECT i, gpu_sum(most) OVER (PARTITION BY i % 3 ORDER BY i ROWS UNBOUNDED PRECEDING), gpu_avg(most) OVER (PARTITION BY i % 3 ORDER BY i ROWS UNBOUNDED PRECEDING) FROM wide ORDER BY i DESC LIMIT 3;
SELECT i, sum(most) OVER (PARTITION BY i % 3 ORDER BY i ROWS UNBOUNDED PRECEDING), avg(most) OVER (PARTITION BY i % 3 ORDER BY i ROWS UNBOUNDED PRECEDING) FROM wide ORDER BY i DESC LIMIT 3;
-- without the row itself
SELECT count(*) FROM (SELECT gpu_running_sum(most, true) OVER o IS NOT DISTINCT FROM sum(most) OVER p AND gpu_running_min(w7, true) OVER o IS NOT DISTINCT FROM min(w7) OVER p AND
	gpu_running_avg(w0, true) OVER o IS NOT DISTINCT FROM avg(w0) OVER p AS same FROM wide WINDOW o AS (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING),
	p AS (PARTITION BY g ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) q WHERE same;

-- several windows, conditions and aggregates above
SELECT mem, differences('SELECT i, s, n, w7, @sum(w0) OVER a AS a, @sum(w7 * 2) OVER b AS b, @max(most) OVER c AS c, @avg(deep) OVER c AS d, @sum(n) OVER b AS e, @sum(small) OVER d AS f, @count(w0) OVER d AS h
	FROM wide WINDOW a AS (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING), b AS (PARTITION BY l ORDER BY k), c AS (PARTITION BY k), d AS (ORDER BY k DESC, i)')
FROM (VALUES ('64kB'), ('500kB'), ('1MB'), ('64MB')) m (mem), LATERAL (SELECT set_config('work_mem', mem, false)) s;
-- only the upper window has such arguments
SELECT mem, differences('SELECT i, @max(w0) OVER a AS a, @avg(w7 * 2) OVER a AS b, @sum(k) OVER b AS c, @sum(i) OVER c AS d FROM wide WINDOW a AS (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING), b AS (PARTITION BY l ORDER BY k), c AS (PARTITION BY k)')
FROM (VALUES ('64kB'), ('500kB'), ('64MB')) m (mem), LATERAL (SELECT set_config('work_mem', mem, false)) s;
SET gpuagg.min_table_pages = 0;
SELECT mem, differences('SELECT b, @sum(r) AS c, @max(t) AS d, @min(u) AS e, @count(v) AS f, @sum(v) FILTER (WHERE r > 0) AS h FROM (SELECT b, @sum(w0) OVER a AS r, @sum(w7 * 2) OVER b AS t, @max(small) OVER b AS u, @avg(deep) OVER a AS v
	FROM wide WINDOW a AS (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING), b AS (PARTITION BY l ORDER BY k)) q GROUP BY b'),
	differences('SELECT i, r FROM (SELECT i, @sum(w0) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r, @max(n) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS t FROM wide) q WHERE r < 0 AND t > 5')
FROM (VALUES ('64kB'), ('64MB')) m (mem), LATERAL (SELECT set_config('work_mem', mem, false)) s;
RESET gpuagg.min_table_pages;
RESET work_mem;

-- an error comes with its row
SELECT count(a) FROM (SELECT gpu_sum(w0 / part) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS a FROM wide LIMIT 2499) q;
SELECT count(a) FROM (SELECT gpu_sum(w0 / part) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS a FROM wide LIMIT 2500) q;

DROP TABLE wide, frames;
DROP FUNCTION differences(text);
DROP FUNCTION ways(text);
