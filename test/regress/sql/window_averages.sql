-- Expressions of windows' averages, and of sums of values with parameters, over columns: beside core's, with errors.

\getenv folder PG_ABS_SRCDIR
\set is_core :folder '/lib/is_core.sql'
\i :is_core
LOAD 'gpuagg';
SET gpuagg.min_table_pages = 0;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE prices AS
SELECT i, i % 13 AS g, ((i * 7919 % 1009 - 504) / 8.0)::numeric(12,2) AS n, CASE WHEN i % 101 > 0 THEN ((i * 31 % 977) - 488) / 1e6 END::numeric(9,6) AS six, (((i * 31 % 977) - 488) / 1e18)::numeric(18,18) AS tiny,
       (i * 123456789012345678.25)::numeric(30,4) AS wide, (i % 5 - 2)::int2 AS x2, CASE WHEN i % 7 > 0 THEN i - 2500 END AS x4, i::bigint * 1000000007 AS x8, 99999999999999999 + i AS most,
       CASE WHEN i % 500 = 7 THEN 'NaN' ELSE i / 4.0 END::numeric(9,3) AS odd, i / (10.0 ^ (i % 3)) AS loose
FROM generate_series(1, 3000) i;
ANALYZE prices;

-- Whether all of its rows come as columns; what is computed of them row by row.
CREATE FUNCTION as_columns(query text, OUT columns boolean, OUT by_row text) LANGUAGE plpgsql AS $$
DECLARE
	line text;
	nread text;
	ncolumns text;
	nvectors text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || replace(query, '@', 'gpu_') LOOP
		nread := coalesce(nread, substring(line FROM 'Rows Read: (.*)'));
		ncolumns := coalesce(ncolumns, substring(line FROM 'Rows as Columns: (.*)'));
		nvectors := coalesce(nvectors, substring(line FROM 'Vectors Row by Row: (.*)'));
		by_row := coalesce(by_row, substring(line FROM 'Evaluated Row by Row: (.*)'));
	END LOOP;
	columns := ncolumns = nread AND nvectors = '0';
END $$;

-- Comparisons, and what has a scale of its own, are computed over columns.
SELECT e, (as_columns(format('SELECT @count(*) FILTER (WHERE %s) FROM (SELECT @avg(n) OVER w AS r, @avg(x4) OVER w AS s, n FROM prices WINDOW w AS (PARTITION BY g ORDER BY i)) q', e))).*
FROM unnest('{r * 2 > n, r > s, -r < n * 3 AND r <> 0, round(r\, 2) = 1.25, r::numeric(30\,1) > 7, r::int8 = 0, abs(r) >= s, r IN (0\, 1.5\, -2), r IS DISTINCT FROM s, CASE WHEN r > 0 THEN r ELSE -r END > s, r::float8 > 3, r / 3 > n, coalesce(r\, s) > 0}'::text[]) e;
SELECT e, (as_columns(format('SELECT @sum(a), @max(a), @count(*) FILTER (WHERE a > 2) FROM (SELECT %s AS a FROM prices WINDOW w AS (PARTITION BY g ORDER BY i)) q', e))).*
FROM unnest('{round(@avg(n) OVER w\, 2), (@avg(n) OVER w)::numeric(30\,1), (@avg(n) OVER w)::int8, @avg(n) OVER w, @avg(n) OVER w * 2, @avg(n) OVER w - n, @avg(n) OVER w / 3}'::text[]) e;

-- each over each type, under each frame, in conditions and as arguments
SELECT c, frame, count(*), array_agg(e) FILTER (WHERE NOT is_core(format('SELECT @count(*) FILTER (WHERE %1$s), @sum(n) FILTER (WHERE %1$s), @count(*) FILTER (WHERE m), @count(r) FROM (SELECT @avg(%2$s) OVER w AS r, @avg(x4) OVER w AS s, n, %4$s AS m FROM prices WINDOW w AS (%3$s)) q',
	e, c, frame, replace(replace(regexp_replace(e, '\mr\M', '#', 'g'), '#', format('@avg(%s) OVER w', c)), ' s', ' @avg(x4) OVER w')))) AS differ
FROM unnest('{x2, x4, x8, most, n, six, tiny, wide, odd, loose, n * 2}'::text[]) c,
	unnest('{r * 2 > n, r > s, -r < n * 3 AND r <> 0, round(r\, 2) = 1.25, (r)::numeric(30\,1) > 7, (r)::int8 = 0, abs(r) >= s, r IN (0\, 1.5\, -2), r = ANY (ARRAY[0\, n]), CASE WHEN r > 0 THEN r ELSE -r END > s, (r)::float8 > 3, r / 3 > n, r + n * 2 > s, r IS NULL, r IS DISTINCT FROM s}'::text[]) e,
	unnest('{PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING, PARTITION BY g ORDER BY n}'::text[]) frame GROUP BY 1, 2 ORDER BY 1, 2;
SELECT c, frame, count(*), array_agg(e) FILTER (WHERE NOT is_core(format('SELECT g %% 3, @sum(a), @count(a), @avg(a), @sum(a) FILTER (WHERE a > 1), @sum(a * 2), @max(n) FILTER (WHERE a < s) FROM (SELECT g, %s AS a, n, @avg(x4) OVER w AS s FROM prices WINDOW w AS (%s)) q WHERE a <> 3 GROUP BY g %% 3',
	replace(e, '#', format('@avg(%s) OVER w', c)), frame))) AS differ
FROM unnest('{x2, x4, x8, most, n, six, tiny, wide, odd, loose, n * 2}'::text[]) c,
	unnest('{#, # * 2, # - n, -#, round(#\, 2), round(#\, 30), (#)::numeric(30\,1), (#)::numeric(5\,1), (#)::int4, abs(#), # / 3, CASE WHEN # > n THEN # END, coalesce(#\, n), # * #, # * @sum(n) OVER w, nullif(#\, 0)}'::text[]) e,
	unnest('{PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING, PARTITION BY g, ""}'::text[]) frame GROUP BY 1, 2 ORDER BY 1, 2;
-- sizes beside a vector's, keys, and two windows
SELECT n, is_core(format('SELECT @sum(a), @sum(b), @count(*) FILTER (WHERE a > b) FROM (SELECT @avg(n) OVER w * 3 AS a, round(@avg(x8) OVER w, 1) AS b FROM prices WHERE i <= %s WINDOW w AS (ORDER BY i ROWS UNBOUNDED PRECEDING)) q', n))
FROM unnest('{0, 1, 31, 32, 33, 1023, 1024, 1025, 2047, 2049, 3000}'::int[]) n;
SELECT is_core('SELECT a, round(a, 1), @count(*), @sum(a) FROM (SELECT @avg(x2) OVER (PARTITION BY g ORDER BY i) AS a FROM prices) q GROUP BY a, round(a, 1)'),
	is_core('SELECT @count(DISTINCT a), @count(DISTINCT round(a, 1)) FILTER (WHERE a > 0) FROM (SELECT @avg(x2) OVER (PARTITION BY g ORDER BY i) AS a FROM prices) q');
SELECT mem, is_core('SELECT @sum(a), @count(*) FILTER (WHERE b), @sum(c) FROM (SELECT @avg(n) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) - @sum(n) OVER (PARTITION BY n ORDER BY i ROWS UNBOUNDED PRECEDING) AS a,
	@avg(n) OVER (PARTITION BY g) > @avg(x4) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS b, round(@avg(n * 2) OVER (PARTITION BY n), 1) AS c FROM prices) q')
FROM (VALUES ('64kB'), ('4MB')) m (mem), LATERAL (SELECT set_config('work_mem', mem, false)) c;
SELECT (as_columns('SELECT @sum(a), @max(b) FROM (SELECT @sum(n) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) - @max(n) OVER (PARTITION BY x2 ORDER BY i ROWS UNBOUNDED PRECEDING) AS a, round(@avg(n) OVER (PARTITION BY x2 ORDER BY i ROWS UNBOUNDED PRECEDING), 1) AS b FROM prices) q')).*;

-- what core's executor evaluates row by row over columns, with its errors: the first row's, of two that have one; of rows that conditions drop
SELECT e, is_core(format('SELECT @sum(a), @max(b), @sum(c), @count(*) FILTER (WHERE d) FROM (SELECT i, %s AS a, @sum(n) OVER w * 2 AS b, (@count(*) OVER w * 800000)::int AS c, @avg(n) OVER w / 7 > n AS d FROM prices WHERE i <= 2684 WINDOW w AS (ORDER BY i ROWS UNBOUNDED PRECEDING)) q WHERE i < 10', e))
FROM unnest('{@sum(n) OVER w / @count(*) OVER w, @avg(n) OVER w / 3, (@avg(x4) OVER w)::float8::numeric(20\,3), @sum(n) OVER w / (@count(*) OVER w - 2000), 1 / (@count(*) OVER w - 2684), CASE WHEN i > 1 THEN @sum(n) OVER w / (i - 1) END, n ^ 2, sqrt(@count(*) OVER w - 2001)::numeric, width_bucket(@avg(n) OVER w\, 0\, 5\, 3), (@sum(n) OVER w)::text::numeric / 3, length(@sum(n) OVER w || repeat(''x''\, 1000))}'::text[]) e;
SELECT gpu_sum(a), gpu_sum(b) FROM (SELECT gpu_sum(n) OVER w / (gpu_count(*) OVER w - 2000) AS a, (gpu_count(*) OVER w * 800000)::int AS b FROM prices WINDOW w AS (ORDER BY i ROWS UNBOUNDED PRECEDING)) q;
SELECT gpu_sum(a), gpu_sum(b) FROM (SELECT gpu_sum(n) OVER w / (gpu_count(*) OVER w - 2900) AS a, (gpu_count(*) OVER w * 800000)::int AS b FROM prices WINDOW w AS (ORDER BY i ROWS UNBOUNDED PRECEDING)) q;
SELECT (as_columns('SELECT @sum(a), @max(b) FROM (SELECT @sum(n) OVER w / @count(*) OVER w AS a, @sum(n) OVER w * 2 AS b FROM prices WINDOW w AS (PARTITION BY g ORDER BY i)) q')).*,
	(as_columns('SELECT @max(a), @max(b) FROM (SELECT @sum(n) OVER w || repeat(''x'', 1000) AS a, @sum(n) OVER w * 2 AS b FROM prices WINDOW w AS (PARTITION BY g ORDER BY i)) q')).columns AS strings;

-- sums, extremes and averages of values with parameters
SET plan_cache_mode = force_generic_plan;
SELECT a, b, array_agg(with_parameters(query, a, b))
FROM (VALUES (1, 1), (1.25, -0.000), (-3.000, 1e-18), (NULL, 2.5), (0.5, NULL), ('NaN', 1), (1e40, 0.1), (123456789012345678901234567890.5, 999999999999999999), (99999999999999999999999999999999999999, 1e-38), (0.0000000000000000000000000000000000000001, 7)) p (a, b),
	unnest(ARRAY['SELECT @max(r) AS r, @sum(s) AS s, @count(*) FILTER (WHERE r > s) AS t FROM (SELECT @sum(n * $1) OVER w * 2 AS r, @min(n - $2) OVER w + $1 AS s FROM prices WINDOW w AS (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING)) q',
		'SELECT g, @sum(r) AS r, @sum(round(s, 1)) AS s, @count(*) FILTER (WHERE s > $2) AS t FROM (SELECT g, @sum($1 - n * $2) OVER w - $2 AS r, @avg(n * $1) OVER w - n AS s FROM prices WINDOW w AS (PARTITION BY g)) q WHERE r <> $1 GROUP BY g',
		'SELECT @sum(r) AS r, @max(s) AS s FROM (SELECT @sum(n * $1) OVER w AS r, @max($2 + n) OVER w AS s FROM prices WINDOW w AS (ORDER BY n)) q WHERE r < s']) query GROUP BY 1, 2 ORDER BY 1, 2;
PREPARE summed (numeric) AS SELECT gpu_max(r), gpu_count(*) FILTER (WHERE r > s) FROM (SELECT gpu_sum(n * $1) OVER w * 2 AS r, gpu_avg(n + $1) OVER w AS s FROM prices WINDOW w AS (PARTITION BY g ORDER BY i)) q;
SELECT p, (as_columns(format('EXECUTE summed(%s)', p))).* FROM unnest('{1.5, 0.0001, "NULL", ''NaN''}'::text[]) p;

-- a plan that runs again before it has ended, with another scale
CREATE FUNCTION again(factor numeric, times int) RETURNS TABLE (step int, ours text, core text) LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT g, gpu_max(s) AS most, gpu_sum(s) AS total, gpu_count(*) FILTER (WHERE s > n * factor) AS above FROM (SELECT g, n, gpu_sum(n * factor) OVER (PARTITION BY g ORDER BY i) * 2 AS s FROM prices WHERE g < 3) q GROUP BY g ORDER BY g LOOP
		step := times;
		ours := r::text;
		SELECT z::text INTO core FROM (SELECT g, max(s), sum(s), count(*) FILTER (WHERE s > n * factor) FROM (SELECT g, n, sum(n * factor) OVER (PARTITION BY g ORDER BY i) * 2 AS s FROM prices WHERE g = r.g) q GROUP BY g) z;
		RETURN NEXT;
		IF times > 0 AND r.g = 1 THEN
			RETURN QUERY SELECT * FROM again(factor * 0.10, times - 1);
		END IF;
	END LOOP;
END $$;
SELECT step, ours, ours = core AS same FROM again(1.5, 3);
RESET plan_cache_mode;

DROP TABLE prices;
DROP FUNCTION outcome(text), is_core(text), as_columns(text), with_parameters(text, numeric, numeric), again(numeric, int);
