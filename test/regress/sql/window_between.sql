-- What a subquery computes between windows and the aggregates above them, which take its columns as vectors.

LOAD 'gpuagg';
SET gpuagg.min_table_pages = 0;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE steps AS
SELECT i, i % 13 AS g, nullif(i * 7919 % 101, 50) AS x4, (i * 7919 % 1009)::bigint * 1000000000 AS x8, (i % 1013)::float8 / 8 AS x,
       ((i * 7 % 1000 - 480) / 8.0)::numeric(12,2) AS n, 'row ' || i % 17 AS s, i % 2 = 0 AS b, date '2026-01-01' + i % 400 AS d,
       timestamp '2026-01-01' + i * interval '1 hour' AS t, i::smallint AS x2
FROM generate_series(1, 5000) i;
ANALYZE steps;

-- Whether a query has core's rows.
CREATE FUNCTION is_core(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	core text;
BEGIN
	query := format('SELECT array_agg(z::text ORDER BY z::text) FROM (%s) z', query);
	EXECUTE replace(query, '@', 'gpu_') INTO ours;
	EXECUTE replace(query, '@', '') INTO core;
	RETURN ours = core;
END $$;

-- of each type, under each frame, with groups and conditions
CREATE TABLE frames (frame text);
INSERT INTO frames VALUES ('PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING'), ('PARTITION BY g ORDER BY x4'), ('PARTITION BY g'), (''),
	('PARTITION BY i'), ('ORDER BY i / 1024'), ('ORDER BY i ROWS UNBOUNDED PRECEDING');
SELECT frame, array_agg(is_core(format('SELECT b, @sum(a), @max(c), @min(d), @count(e), @count(*) FILTER (WHERE f), @max(h), @min(k), @sum(l), @max(m), @count(o), @min(p), @sum(e) FILTER (WHERE NOT f)
	FROM (SELECT b, g, @sum(x4) OVER w * 2 - 3 AS a, @sum(x) OVER w / 4 AS c, @max(d) OVER w + 7 AS d, CASE WHEN @count(x4) OVER w > 20 THEN x4 END AS e, @sum(x4) OVER w > 1000 AS f,
		date_trunc(''day'', @max(t) OVER w) AS h, coalesce(@min(x4) OVER w, x2) AS k, @sum(n) OVER w * 3 AS l, -@sum(x8) OVER w AS m, nullif(@count(*) OVER w, 7) AS o, s || ''x'' AS p
	FROM steps WHERE i %% 5 > 0 WINDOW w AS (%s)) q WHERE a > 100 OR f IS NULL OR c < 3 GROUP BY b', frame)))
FROM frames, (VALUES ('64kB'), ('4MB')) m (mem), LATERAL (SELECT set_config('work_mem', mem, false)) c GROUP BY 1 ORDER BY 1;
-- those that are vectors, of two windows, without others
SELECT frame, array_agg(is_core(format('SELECT g, f, @sum(a), @max(c), @min(d), @count(e), @max(h), @sum(y), @avg(y)
	FROM (SELECT g, @sum(x4) OVER w * 2 - 3 AS a, @sum(x) OVER w / 4 AS c, @max(d) OVER w + 7 AS d, CASE WHEN @count(x4) OVER w > 20 THEN x4 END AS e, @sum(x4) OVER w > 1000 AS f,
		date_trunc(''day'', @max(t) OVER w) AS h, @sum(x4) OVER w + @count(*) OVER (PARTITION BY x4 ORDER BY x2) AS y
	FROM steps WINDOW w AS (%s)) q WHERE y %% 2 = 1 GROUP BY g, f HAVING @count(*) > 2', frame)))
FROM frames, (VALUES ('64kB'), ('4MB')) m (mem), LATERAL (SELECT set_config('work_mem', mem, false)) c GROUP BY 1 ORDER BY 1;
-- sizes beside a vector's
SELECT n, is_core(format('SELECT @sum(a), @count(*), @max(c) FROM (SELECT @sum(x4) OVER w * 2 AS a, i + @count(*) OVER w AS c FROM steps WHERE i <= %s WINDOW w AS (ORDER BY i ROWS UNBOUNDED PRECEDING)) q', n))
FROM unnest('{0, 1, 31, 32, 33, 1023, 1024, 1025, 2047, 2049, 5000}'::int[]) n;

-- an error is that of a row, whether a condition above drops it or not; one that SQL does not meet is none
SELECT gpu_sum(z) FROM (SELECT i, 100 / (gpu_sum(x2) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) - 12502500) AS z FROM steps) q WHERE i < 10;
SELECT gpu_sum(z) FROM (SELECT i, 100 / (gpu_sum(x2) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) - 12502500) AS z FROM steps WHERE i < 5000) q WHERE i < 10;
SELECT gpu_sum(z), gpu_count(z) FROM (SELECT i, CASE WHEN i < 5000 THEN 100 / (gpu_sum(x2) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) - 12502500) END AS z FROM steps) q;
SELECT gpu_count(*) FROM (SELECT i, 100 / (gpu_sum(x2) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) - 12502500) AS z FROM steps) q;
SELECT gpu_sum(z) FROM (SELECT i, (gpu_sum(x4) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) * 9000)::int AS z FROM steps) q;
SELECT gpu_sum(z) FROM (SELECT i, gpu_max(x) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) * 1e307 AS z FROM steps) q;
-- the first row's, of two that have one
SELECT gpu_sum(y), gpu_sum(z) FROM (SELECT 1 / (gpu_count(*) OVER w - 3000) AS y, (gpu_count(*) OVER w * 800000)::int AS z FROM steps WINDOW w AS (ORDER BY i ROWS UNBOUNDED PRECEDING)) q;
SELECT gpu_sum(y), gpu_sum(z) FROM (SELECT 1 / (gpu_count(*) OVER w - 2000) AS y, (gpu_count(*) OVER w * 800000)::int AS z FROM steps WINDOW w AS (ORDER BY i ROWS UNBOUNDED PRECEDING)) q;

-- parameters: of the statement, of a query around, of a subquery that runs once; errors of theirs
PREPARE scaled (int) AS SELECT gpu_sum(z), gpu_count(*) FILTER (WHERE y) FROM (SELECT gpu_sum(x4) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) * $1 AS z,
	gpu_sum(x4) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) > 1000 / $1 AS y FROM steps) q;
SET plan_cache_mode = force_generic_plan;
EXECUTE scaled(3);
EXECUTE scaled(NULL);
EXECUTE scaled(0);
EXECUTE scaled(-1);
RESET plan_cache_mode;
SELECT gpu_sum(z) FROM (SELECT gpu_sum(x4) OVER (PARTITION BY g) * (SELECT max(i) % 7 FROM steps) AS z FROM steps) q;
SELECT e, s.* FROM generate_series(0, 3) e, LATERAL (SELECT gpu_sum(z), gpu_max(y), gpu_count(*) FROM (SELECT gpu_sum(x4) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) * e AS z,
	CASE WHEN gpu_count(*) OVER (PARTITION BY g) > 100 THEN i / nullif(e, 2) WHEN i < 0 THEN 1 / e END AS y FROM steps WHERE i > 2 - e AND (e <> 0 OR i > 5000)) q) s;
SELECT e, s.* FROM generate_series(0, 3) e, LATERAL (SELECT sum(z), max(y), count(*) FROM (SELECT sum(x4) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) * e AS z,
	CASE WHEN count(*) OVER (PARTITION BY g) > 100 THEN i / nullif(e, 2) WHEN i < 0 THEN 1 / e END AS y FROM steps WHERE i > 2 - e AND (e <> 0 OR i > 5000)) q) s;
SELECT e, s.* FROM generate_series(0, 1) e, LATERAL (SELECT gpu_max(y) FROM (SELECT gpu_count(*) OVER (PARTITION BY g) / e AS y FROM steps WHERE e > 5 OR i > 2000 * e + 4990) q) s;

-- integers times numeric in arguments: their scale is known before they are; sums of more digits than 18
PREPARE times (bigint, smallint) AS SELECT count(*), sum(r), min(r), max(s), sum(u) FROM (SELECT gpu_sum(n * $1) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	gpu_sum($2 - n) OVER (PARTITION BY x4) AS s, gpu_max(n * ($2 + i)) OVER (PARTITION BY x4 ORDER BY i) AS u FROM steps OFFSET 0) q;
PREPARE core_times (bigint, smallint) AS SELECT count(*), sum(r), min(r), max(s), sum(u) FROM (SELECT sum(n * $1) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	sum($2 - n) OVER (PARTITION BY x4) AS s, max(n * ($2 + i)) OVER (PARTITION BY x4 ORDER BY i) AS u FROM steps OFFSET 0) q;
SET plan_cache_mode = force_generic_plan;
EXECUTE times(3, 7::smallint);
EXECUTE core_times(3, 7::smallint);
EXECUTE times(-9223372036854775808, NULL);
EXECUTE core_times(-9223372036854775808, NULL);
EXECUTE times(NULL, (-32768)::smallint);
EXECUTE core_times(NULL, (-32768)::smallint);
EXECUTE times(900000000000000, 32767::smallint);
EXECUTE core_times(900000000000000, 32767::smallint);
RESET plan_cache_mode;
DEALLOCATE times;
DEALLOCATE core_times;
SELECT e, s.* FROM generate_series(-1, 2) e, LATERAL (SELECT count(*), sum(r), max(s) FROM (SELECT gpu_sum(n * (e + 1)) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	gpu_avg(n + nullif(e, 1)) OVER (PARTITION BY x4) AS s FROM steps WHERE n > e * 3 OFFSET 0) q) s;
SELECT e, s.* FROM generate_series(-1, 2) e, LATERAL (SELECT count(*), sum(r), max(s) FROM (SELECT sum(n * (e + 1)) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	avg(n + nullif(e, 1)) OVER (PARTITION BY x4) AS s FROM steps WHERE n > e * 3 OFFSET 0) q) s;
SELECT gpu_sum(r) FROM (SELECT gpu_sum(n * (e + 2147483647)) OVER (PARTITION BY g) AS r FROM steps, (SELECT 1 OFFSET 0) o (e) OFFSET 0) q;

-- a function of one's own comes row by row, in order
CREATE FUNCTION noted(v bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'noted %', v; RETURN v; END $$;
SELECT gpu_sum(z) FROM (SELECT noted(gpu_sum(x4) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING)) AS z FROM steps WHERE i < 4) q;
DROP FUNCTION noted(bigint);

-- a window whose rows come one by one
SELECT gpu_sum(z), gpu_max(y) FROM (SELECT gpu_count(*) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) * 2 AS z, gpu_max(s) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) || '!' AS y FROM steps) q;

-- sums that a window hands on to another one, by row
SELECT trim_scale(r), max(c) FROM (SELECT gpu_count(*) OVER (PARTITION BY i) AS c, gpu_sum(x8) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM steps WHERE i < 4) q GROUP BY 1 ORDER BY 1;
SELECT is_core('SELECT trim_scale(r) AS k, b, @max(c), @count(*), @sum(r) FROM (SELECT b, @count(*) OVER (ORDER BY x4) * 2 AS c, @sum(n) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM steps) q GROUP BY 1, 2');

DROP TABLE steps, frames;
DROP FUNCTION is_core(text);
DEALLOCATE scaled;
