-- Settings that change while a query is under way, queries that stop early, and
-- what the statistics then say.
BEGIN;
SELECT plan(10);

CREATE TEMP TABLE midway AS SELECT i, i::float8 AS f, i::numeric AS n FROM generate_series(1, 60000) AS i;
ANALYZE midway;

-- A cursor whose batches grow between two fetches.
SET LOCAL gpuagg.batch_rows = 1024;
DECLARE growing CURSOR FOR
    SELECT i, gpu_running_sum(f) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM midway;
CREATE FUNCTION fetched(c refcursor, n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
    MOVE FORWARD n - 1 FROM c;
    FETCH c INTO r;
    RETURN r::text;
END $$;
SELECT is(fetched('growing', 5), '(5,15)', 'before the setting changes');
SET LOCAL gpuagg.batch_rows = 50000;
SELECT is(fetched('growing', 55000), '(55005,1512802515)', 'after it has grown');
SET LOCAL gpuagg.batch_rows = 2048;
SELECT is(fetched('growing', 4000), '(59005,1740824515)', 'after it has shrunk');
CLOSE growing;
RESET gpuagg.batch_rows;

-- A row that is not asked for is not evaluated, whichever engine works.
SELECT results_eq(
    'SELECT gpu_running_sum(1 / (5 - i)) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) '
    'FROM midway ORDER BY i LIMIT 3',
    'SELECT sum(1 / (5 - i)) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) '
    'FROM midway ORDER BY i LIMIT 3', 'a later row that fails');
SELECT throws_ok(
    'SELECT gpu_running_sum(1 / (5 - i)) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM midway',
    '22012', NULL, 'the row that fails');

-- Reports of workers are all kept.
CREATE TABLE midway_shared AS SELECT i, i::float8 AS f FROM generate_series(1, 50000) AS i;
ANALYZE midway_shared;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL parallel_leader_participation = off;
SELECT is((SELECT gpu_sum(i) FROM midway_shared), 1250025000::bigint, 'parallel sum');
SELECT is((SELECT gpu_sum(f) FROM midway_shared), 1250025000::float8, 'parallel float sum');
SELECT is((SELECT rows FROM gpuagg_last_query()), 50000::bigint, 'all rows of the workers are reported');
RESET parallel_leader_participation;

-- Memory of running sums of numerics does not grow with the partition.
CREATE FUNCTION partition_bytes() RETURNS bigint LANGUAGE sql VOLATILE AS
    $$ SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts
       WHERE name LIKE 'WindowAgg%' $$;
CREATE TEMP TABLE seen AS
    SELECT i, CASE WHEN i IN (1000, 60000) THEN partition_bytes() END AS bytes
    FROM (SELECT i, gpu_running_sum(n) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS s
          FROM midway OFFSET 0) AS q WHERE s > 0;
SELECT is((SELECT count(bytes) FROM seen), 2::bigint, 'memory was looked at');
SELECT cmp_ok((SELECT bytes FROM seen WHERE i = 60000), '<=',
              (SELECT bytes + 65536 FROM seen WHERE i = 1000), 'numeric running sums do not leak');

SELECT * FROM finish();
ROLLBACK;
