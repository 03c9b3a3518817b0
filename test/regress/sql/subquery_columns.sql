-- What SQL computes of a subquery's columns whether or not the query above uses them, and errors of conditions above.

LOAD 'gpuagg';
SET gpuagg.min_table_pages = 0;
SET gpuagg.device_min_rows = 0;
SET max_parallel_workers_per_gather = 0;

CREATE TYPE pair AS (i int, j json);
CREATE TABLE sub AS
SELECT i AS id, i % 7 AS v, i % 3 AS g, 'x' COLLATE "C" AS a, 'y' COLLATE "POSIX" AS b, ARRAY['{}'::json] AS j, ROW(i, '{}'::json)::pair AS w
FROM generate_series(1, 100) i;
ALTER TABLE sub ADD COLUMN e text COLLATE "C" DEFAULT 'z';
ANALYZE sub;
CREATE SEQUENCE drawn;

-- Numbers that a query draws.
CREATE FUNCTION draws(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	numbers text;
BEGIN
	PERFORM setval('drawn', 1, false);
	EXECUTE query INTO answer;
	SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO numbers FROM drawn;
	RETURN answer || ', draws ' || numbers;
END $$;
SELECT draws('SELECT gpu_max(r) FROM (SELECT nextval(''drawn'') AS n, gpu_running_sum(v) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) AS r FROM sub) q');
SELECT draws('SELECT gpu_count(*) FROM (SELECT nextval(''drawn'') AS n, gpu_sum(v) OVER (PARTITION BY g) AS r FROM sub) q WHERE r > 5');
SELECT draws('SELECT gpu_max(x) FROM (SELECT nextval(''drawn''), g, gpu_sum(v) AS x FROM sub GROUP BY g) q');
SELECT draws('SELECT gpu_sum(n) FROM (SELECT nextval(''drawn'') AS n, gpu_sum(v) OVER (PARTITION BY g) AS r FROM sub) q WHERE r > 5');
SELECT draws('SELECT count(*) FROM (SELECT r FROM (SELECT nextval(''drawn'') AS n, gpu_sum(v - 3) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) AS r FROM sub) q WHERE r < -2 OFFSET 0) q');
SELECT draws('SELECT gpu_max(r) FROM (SELECT (SELECT nextval(''drawn'') FROM generate_series(1, 2) WHERE id > 50 LIMIT 1) AS n,
	gpu_running_sum(v) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) AS r FROM sub) q');
-- where there are none, the nodes compute all of it
EXPLAIN (COSTS OFF) SELECT gpu_max(r) FROM (SELECT g, gpu_running_sum(v) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) AS r FROM sub) q;
EXPLAIN (COSTS OFF) SELECT gpu_max(r) FROM (SELECT nextval('drawn'), gpu_running_sum(v) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) AS r FROM sub) q;

-- A row that a later condition would drop is an error of the first.
CREATE VIEW sums AS SELECT *, gpu_running_sum(v) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) AS r FROM sub;
SELECT * FROM sums WHERE a < b AND r < 0;
SELECT * FROM sums WHERE a <> b AND r < 0;
SELECT * FROM sums WHERE j < j AND r < 0;
SELECT * FROM sums WHERE w < w AND r < 0;
SELECT gpu_count(*) FROM sums WHERE a < b AND r < 0;
SELECT gpu_count(*) FROM sums WHERE j < j AND r < 0;
-- of others it is not
SELECT id, r FROM sums WHERE a < e AND r < 5;
SELECT id, r FROM sums WHERE v < g AND r < 9;
SELECT gpu_count(*) FROM sums WHERE a < e AND id < 90 AND r < 5;
