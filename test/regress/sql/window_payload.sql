-- Rows of few columns, whose values are sorted with the keys; and how they leave a window: beside core's, by their text.

LOAD 'gpuagg';
SET gpuagg.device_min_rows = 0;

CREATE TABLE bits AS
SELECT i, i % 37 AS g, i * 7919 % 1013 AS o, i % 3 = 0 AS b, (i % 255 - 127)::"char" AS c, (i * 31 % 65536 - 32768)::smallint AS i2,
       (i * 65599 % 2000003 - 1000000)::integer AS i4, i * 1844674407370955 * (1 - i % 2 * 2) AS i8,
       CASE i % 100 WHEN 1 THEN 'NaN' WHEN 2 THEN '-0' WHEN 3 THEN 'infinity' ELSE i / 8.0 END::real AS f4,
       CASE i % 100 WHEN 1 THEN '-0' WHEN 2 THEN 'NaN' WHEN 3 THEN '-infinity' ELSE i / 64.0 END::float8 AS f8,
       (4294967295 - i)::oid AS id, date '2000-01-01' - i AS d, timestamp '1999-12-31 23:59:59' + i * interval '7 seconds' AS t,
       (i * 1.01)::money AS m, 'row ' || i AS s, (i / 100.0)::numeric(12,2) AS n, CASE WHEN i < 4000 OR i % 7 > 0 THEN i END AS z
FROM generate_series(1, 5000) i;
ANALYZE bits;

\getenv folder PG_ABS_SRCDIR
\set differences :folder '/lib/differences.sql'
\i :differences

-- each type, alone and with others up to eight bytes, and beyond
SELECT columns, array_agg(differences(format('SELECT %s, gpu_count(*) OVER w FROM bits WINDOW w AS (%s)', columns, frame))) AS differences
FROM unnest('{b, c, i2, i4, i8, f4, f8, id, d, t, m, s, n, z, "b, c, i2, i4", "i4, i2, c, b", "f4, id", "c, z", "d, i4", "i8, b", "t, c", "i2, f4, b, c, i8"}'::text[]) columns,
	unnest('{"PARTITION BY g ORDER BY o, i ROWS UNBOUNDED PRECEDING", PARTITION BY o, PARTITION BY g ORDER BY o, "ORDER BY f8 DESC NULLS LAST, i ROWS UNBOUNDED PRECEDING"}'::text[]) frame
GROUP BY 1 ORDER BY columns COLLATE "C";
-- as arguments, and beside keys that are not read back from items
SELECT columns, differences(format('SELECT %s FROM bits WINDOW w AS (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING), v AS (PARTITION BY f4 ORDER BY i ROWS UNBOUNDED PRECEDING)', columns))
FROM unnest('{"gpu_sum(i8) OVER w", "i, gpu_sum(i4) OVER w", "gpu_sum(i2) OVER w, i4", "gpu_max(f4) OVER w", "g, gpu_sum(z) OVER w, i", "gpu_min(f8) OVER w, i", "f4, gpu_sum(i4) OVER v",
	"f4, i, gpu_sum(i8) OVER v", "gpu_max(id) OVER w, gpu_min(d) OVER w", "i2, gpu_sum(n) OVER w", "n, gpu_sum(n) OVER w", "gpu_sum(i4 + i2) OVER w, i2"}'::text[]) columns;
-- columns with NULLs in one run and without in others; conditions and expressions above
SELECT differences('SELECT q.* FROM (VALUES (3000), (5000), (100), (4500), (3999)) v (most), LATERAL (SELECT z, gpu_sum(z) OVER (PARTITION BY g ORDER BY o, i ROWS UNBOUNDED PRECEDING) FROM bits WHERE i <= most) q');
SELECT condition, differences(format('SELECT * FROM (SELECT i4, c, gpu_sum(i4) OVER (PARTITION BY g ORDER BY o, i ROWS UNBOUNDED PRECEDING) AS r FROM bits) q WHERE %s', condition))
FROM unnest('{r < 0, r > 100000 AND i4 % 3 = 1, r % 2 = 0, r BETWEEN 5 AND 6000000, r IS NULL}'::text[]) condition;
SELECT differences('SELECT r, i4, r + 1 AS more, ''one'' AS one, i4 AS again FROM (SELECT i4, gpu_sum(i4) OVER (PARTITION BY g ORDER BY o, i ROWS UNBOUNDED PRECEDING) AS r FROM bits) q');
-- windows above one another
SELECT mem, differences('SELECT i4, gpu_sum(i8) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS p, gpu_sum(i4) OVER (PARTITION BY o ORDER BY i ROWS UNBOUNDED PRECEDING),
	gpu_max(f4) OVER (ORDER BY i2, i ROWS UNBOUNDED PRECEDING) FROM bits')
FROM unnest('{64kB, 4MB}'::text[]) mem, LATERAL (SELECT set_config('work_mem', mem, false)) c;
-- above one whose functions take their arguments row by row, as these might raise an error: rows are read once
\set beside :folder '/lib/beside.sql'
\i :beside
SELECT substring(regexp_replace(l, 'rows=(\d+)(\.\d+)?', 'rows=\1') FROM '[A-Z].*') AS node
FROM pg_temp.plan_lines('SELECT i, gpu_sum(x / (x + 1)) OVER (PARTITION BY x ORDER BY i ROWS UNBOUNDED PRECEDING), gpu_sum(i) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING)
	FROM generate_series(1, 100) i, LATERAL (SELECT i % 7 AS x OFFSET 0) q',
	'Scan on|GpuWindow', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') l;
SELECT mem, differences('SELECT i, gpu_sum(x / (x + 1)) OVER (PARTITION BY x ORDER BY i ROWS UNBOUNDED PRECEDING) AS p, gpu_sum(i) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING)
	FROM generate_series(1, 5000) i, LATERAL (SELECT i % 7 AS x OFFSET 0) q')
FROM unnest('{64kB, 4MB}'::text[]) mem, LATERAL (SELECT set_config('work_mem', mem, false)) c;
-- what is volatile below is computed once a row: with tables, with what is computed between two windows, of three, and when rows raise errors
CREATE SEQUENCE numbers;
CREATE FUNCTION numbered(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	most bigint;
BEGIN
	PERFORM setval('numbers', 1, false);
	EXECUTE format('SELECT max(n) FROM (SELECT q.*, q::text AS row FROM (%s) q OFFSET 0) r WHERE row IS NOT NULL', query) INTO most;
	RETURN most || ' of ' || (SELECT last_value FROM numbers);
EXCEPTION WHEN division_by_zero THEN
	RETURN SQLERRM;
END $$;
SELECT numbered('SELECT i, n, gpu_sum(i4 / (g + 1)) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING), gpu_sum(i) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING)
	FROM (SELECT i, i4, g, nextval(''numbers'') AS n FROM bits) p'),
	numbered('SELECT i, n, gpu_sum(a) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM (SELECT i, n, gpu_sum(g) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) + 1 AS a
		FROM (SELECT i, g, nextval(''numbers'') AS n FROM generate_series(1, 5000) i, LATERAL (SELECT i % 7 AS g OFFSET 0) o) p) p'),
	numbered('SELECT i, n, gpu_sum(i4) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING), gpu_sum(i4 / (g + 1)) OVER (PARTITION BY o ORDER BY i ROWS UNBOUNDED PRECEDING),
		gpu_sum(i) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM (SELECT i, i4, g, o, nextval(''numbers'') AS n FROM bits) p'),
	numbered('SELECT i, n, gpu_sum(i4 / (g - 36)) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING), gpu_sum(i) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING)
		FROM (SELECT i, i4, g, nextval(''numbers'') AS n FROM bits) p');
-- the same of a table's columns, again for each of several outer rows
SELECT differences('SELECT q.* FROM (VALUES (3000), (5000), (100)) v (most), LATERAL (SELECT i, gpu_sum(i4 / (g + 1)) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS p,
	gpu_sum(i) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM bits WHERE i <= most) q'),
	differences('SELECT q.* FROM (VALUES (3000), (5000), (100)) v (most), LATERAL (SELECT i, gpu_sum(i4) OVER (PARTITION BY o ORDER BY i ROWS UNBOUNDED PRECEDING) AS p, gpu_sum(i4 / (g + 1)) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS r,
	gpu_sum(i) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM bits WHERE i <= most) q');

-- a cursor goes on and begins again
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT i, i4, gpu_sum(i4) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM bits;
FETCH 3 FROM c;
MOVE 1500 FROM c;
FETCH 2 FROM c;
FETCH BACKWARD 2 FROM c;
MOVE FIRST FROM c;
FETCH NEXT FROM c;
MOVE LAST FROM c;
FETCH PRIOR FROM c;
COMMIT;

-- numerics around those of one word and of whole groups of digits
CREATE TABLE words AS
SELECT row_number() OVER () AS i, sign * v AS v
FROM unnest('{0, 1, 9999, 10000, 99999999, 100000000, 9999999999999999, 10000000000000000, 18446744073709551, 18446744073709552, 120000000000000000000, 18446744073709551615,
	18446744073709551616, 99999999999999999999, 100000000000000000000}'::numeric[]) v, unnest('{1, -1}'::int[]) sign;
SELECT places, differences(format('SELECT i, gpu_sum(n) OVER w AS p, gpu_sum(v8) OVER w, gpu_max(n) OVER w, gpu_avg(n) OVER w FROM (SELECT i, (v / 10.0 ^ %1$s)::numeric(30,%1$s) AS n, (v %% 9223372036854775807)::bigint AS v8 FROM words) q
	WINDOW w AS (PARTITION BY i ORDER BY i ROWS UNBOUNDED PRECEDING)', places))
FROM unnest('{0, 1, 2, 3, 4, 5, 8, 9}'::int[]) places;
DROP TABLE bits, words;
DROP SEQUENCE numbers;
DROP FUNCTION differences(text), numbered(text);
