-- Expressions of numeric sums, minima and maxima of windows, and of numeric parameters, over columns: beside core's, with errors.

\getenv folder PG_ABS_SRCDIR
\set is_core :folder '/lib/is_core.sql'
\i :is_core
LOAD 'gpuagg';
SET gpuagg.min_table_pages = 0;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE coins AS
SELECT i, i % 13 AS g, ((i * 7919 % 1009 - 504) / 8.0)::numeric(12,2) AS n, CASE WHEN i % 101 > 0 THEN ((i * 31 % 977) - 488) / 1e18 END::numeric(18,18) AS tiny,
       (i * 123456789012345678.25)::numeric(30,4) AS wide, i::bigint * 1000000007 AS x8,
       CASE WHEN i % 500 = 7 THEN 'NaN' ELSE i / 4.0 END::numeric(9,3) AS odd, i / (10.0 ^ (i % 3)) AS loose
FROM generate_series(1, 5000) i;
ANALYZE coins;

-- each function over each column, under each frame; what is computed of it; with conditions above
SELECT frame, c, array_agg(is_core(format('SELECT @sum(a), @max(b), @min(c), @count(d), @sum(e), @avg(f), @sum(h), @max(k), @min(l), @count(*) FILTER (WHERE m)
	FROM (SELECT @%2$s(%1$s) OVER w * 2 AS a, @%2$s(%1$s) OVER w - n AS b, -@%2$s(%1$s) OVER w AS c, round(@%2$s(%1$s) OVER w, 1) AS d, coalesce(@%2$s(%1$s) OVER w, n) AS e,
		abs(@%2$s(%1$s) OVER w) AS f, CASE WHEN @%2$s(%1$s) OVER w > n * 3 THEN n END AS h, @%2$s(%1$s) OVER w + @count(*) OVER w AS k, @%2$s(%1$s) OVER w AS l, @%2$s(%1$s) OVER w > n * 3 AS m
	FROM coins WINDOW w AS (%3$s)) q WHERE l > k / 3 OR m', c, f, frame)))
FROM unnest('{PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING, PARTITION BY g ORDER BY n, PARTITION BY g, ""}'::text[]) frame, unnest('{n, tiny, wide, x8, odd, loose, n * 2 - tiny, coalesce(n\, 1.25)}'::text[]) c,
	unnest('{sum, min, max, avg}'::text[]) f WHERE f = 'sum' OR c <> 'x8' GROUP BY 1, 2 ORDER BY 1, 2;
-- sizes beside a vector's
SELECT n, is_core(format('SELECT @sum(a), @max(b), @sum(c) FROM (SELECT @sum(n) OVER w * 3 AS a, @max(n) OVER w - n AS b, @sum(x8) OVER w + n AS c FROM coins WHERE i <= %s WINDOW w AS (ORDER BY i ROWS UNBOUNDED PRECEDING)) q', n))
FROM unnest('{0, 1, 31, 32, 33, 1023, 1024, 1025, 2047, 2049, 5000}'::int[]) n;
-- of two windows, above one another
SELECT mem, is_core('SELECT @sum(a), @min(b), @max(c) FROM (SELECT @sum(n) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) - @max(n) OVER (PARTITION BY n ORDER BY i ROWS UNBOUNDED PRECEDING) AS a,
	@min(tiny) OVER (PARTITION BY g) * @sum(x8) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS b, @sum(n * 2) OVER (PARTITION BY n) - n AS c FROM coins) q')
FROM (VALUES ('64kB'), ('4MB')) m (mem), LATERAL (SELECT set_config('work_mem', mem, false)) c;

-- sums of 38 digits and more, and what does not fit a type
CREATE TABLE large AS SELECT i, (CASE WHEN i % 2 = 0 THEN -1 ELSE 1 END * 9999999999999999999999999999999999.9999)::numeric(38,4) AS alternating,
	60000000000000000000000000000000000000::numeric(38,0) AS sixty FROM generate_series(1, 2000) i;
ANALYZE large;
SELECT n, e, is_core(format('SELECT @sum(r), @max(r), @min(r) FROM (SELECT %s AS r FROM large WHERE i <= %s WINDOW w AS (ORDER BY i ROWS UNBOUNDED PRECEDING)) q', e, n))
FROM unnest('{1, 2, 3, 2000}'::int[]) n, unnest('{@sum(sixty) OVER w * 2, -@sum(sixty) OVER w, (@sum(sixty) OVER w)::numeric(38\,0), @sum(alternating) OVER w - alternating, (@sum(alternating) OVER w * 10)::numeric(38\,4),
	abs(@min(alternating) OVER w), (@max(sixty) OVER w * 2)::numeric(38\,0), (@sum(alternating) OVER w)::int, round(@sum(sixty) OVER w\, 3)}'::text[]) e ORDER BY 2, 1;
SELECT gpu_sum(r) FROM (SELECT (gpu_sum(sixty) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING))::numeric(38,0) AS r FROM large WHERE i <= 2) q;
DROP TABLE large;

-- numeric parameters of a statement, whose scale is that of their value
SET plan_cache_mode = force_generic_plan;
SELECT a, b, array_agg(with_parameters(query, a, b))
FROM (VALUES (1, 1), (1.25, -0.000), (-3.000, 1e-18), (NULL, 2.5), (0.5, NULL), ('NaN', 1), (1e40, 0.1), (123456789012345678901234567890.5, 999999999999999999), (99999999999999999999999999999999999999, 1e-38), (0.0000000000000000000000000000000000000001, 7)) p (a, b),
	unnest(ARRAY['SELECT i, @sum(n * $1) OVER w AS r, @max(n - $2) OVER w AS s, @min($1 * 2 + n) OVER w AS t FROM coins WHERE n > $2 WINDOW w AS (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING)',
		'SELECT @sum(a) AS a, @max(b) AS b, @count(*) FILTER (WHERE c) AS c, @min(d) AS d FROM (SELECT @sum(n) OVER w * $1 AS a, @max(n) OVER w - $2 AS b, @sum(n) OVER w > n * $1 AS c, @min(wide) OVER w + round($1, 2) AS d FROM coins WINDOW w AS (PARTITION BY g ORDER BY n)) q WHERE a > $2 OR c',
		'SELECT g, @sum(n * $1) AS a, @max(-$1 * n) AS b, @count(*) FILTER (WHERE n < $1) AS c, @sum(CASE WHEN n > $2 THEN $1 ELSE n END) AS d FROM coins WHERE tiny < $2 OR n <> $1 GROUP BY g HAVING @sum(n) > $1 OR g < 7']) query GROUP BY 1, 2 ORDER BY 1, 2;

-- variables of a function, which has a plan for all of its values
CREATE FUNCTION over_variables(factor numeric, lowest int) RETURNS TABLE (step numeric, ours numeric, same boolean) LANGUAGE plpgsql AS $$
DECLARE
	core numeric;
BEGIN
	step := 0;
	FOR k IN 1 .. 3 LOOP
		step := step + factor / k;
		SELECT gpu_sum(z) INTO ours FROM (SELECT gpu_sum(n * step) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) - factor AS z FROM coins WHERE i >= lowest AND n > factor) q;
		SELECT sum(z) INTO core FROM (SELECT sum(n * step) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) - factor AS z FROM coins WHERE i >= lowest AND n > factor) q;
		same := ours::text IS NOT DISTINCT FROM core::text;
		RETURN NEXT;
	END LOOP;
END $$;
SELECT * FROM over_variables(1.5, 10);
SELECT * FROM over_variables(NULL, 10);
SELECT * FROM over_variables(0.001, 5001);
RESET plan_cache_mode;

-- of a query around, with another scale in each run
SELECT v, s.r = c.r AS same, s.r FROM (VALUES (1, 1.5), (2, 2.5), (3, 2.25), (4, NULL), (5, 'NaN'), (6, 123456789012345678901.5), (7, 0.5)) o (v, e),
	LATERAL (SELECT array_agg(z::text)::text AS r FROM (SELECT gpu_sum(y), gpu_max(x) FROM (SELECT gpu_sum(n * e) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS x, gpu_max(n) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) - e AS y FROM coins WHERE n < 100 + e) q) z) s,
	LATERAL (SELECT array_agg(z::text)::text AS r FROM (SELECT sum(y), max(x) FROM (SELECT sum(n * e) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS x, max(n) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) - e AS y FROM coins WHERE n < 100 + e) q) z) c ORDER BY v;
-- of a subquery that runs once
SELECT is_core('SELECT @sum(a), @max(b) FROM (SELECT @sum(n * (SELECT 1.25 FROM coins WHERE i = 1)) OVER (PARTITION BY g) AS a, @max(n) OVER (PARTITION BY g) * (SELECT max(n) FROM coins) AS b FROM coins) q');

DROP TABLE coins;
DROP FUNCTION outcome(text), is_core(text), with_parameters(text, numeric, numeric), over_variables(numeric, int);
