-- Settings that change while a query is under way, queries that stop early, and
-- what the statistics then say.
BEGIN;
SELECT plan(18);

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

-- A cursor that is read in a subtransaction, by a query that fails there, goes on.
SET LOCAL gpuagg.batch_rows = 1024;
CREATE FUNCTION fetched_and_failed(n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE r text;
BEGIN
    EXECUTE format('SELECT 1 / (0 * length(fetched(''kept'', %s)))', n) INTO r;
EXCEPTION WHEN division_by_zero THEN
    RETURN 'failed';
END $$;
CREATE FUNCTION kept_on(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'DECLARE kept CURSOR FOR ' || query;
    PERFORM fetched_and_failed(1500);
    RETURN NEXT is(fetched('kept', 3000), '(4500,10127250)', query);
    EXECUTE 'CLOSE kept';
END $$;
SELECT kept_on('SELECT i, gpu_sum(i) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM midway');
SELECT kept_on('SELECT i, gpu_running_sum(i) OVER (ORDER BY i) FROM midway');
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

-- Memory of running functions by reference does not grow with the partition, nor with one value of a
-- peer group after another, in core's node and in ours.
CREATE FUNCTION partition_bytes() RETURNS bigint LANGUAGE sql VOLATILE AS
    $$ SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts
       WHERE name LIKE 'WindowAgg%' OR name LIKE 'GpuWindow%' OR name LIKE 'gpuagg row%' $$;
CREATE FUNCTION leaks(scan text, what text, query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE at bigint[];
BEGIN
    PERFORM set_config('gpuagg.enable_window_scan', scan, true);
    EXECUTE format('SELECT array_agg(bytes ORDER BY i) FROM (SELECT i, CASE WHEN i IN (1000, 60000) '
                   'THEN partition_bytes() END AS bytes FROM (%s OFFSET 0) q WHERE q IS NOT NULL) p '
                   'WHERE bytes IS NOT NULL',
                   query) INTO at;
    RETURN NEXT is(cardinality(at), 2, format('memory was looked at: %s, %s', what, scan));
    RETURN NEXT cmp_ok(at[2], '<=', at[1] + 65536, format('%s do not leak: %s', what, scan));
END $$;
SELECT leaks(scan, what, query) FROM (VALUES ('off'), ('on')) s(scan), (VALUES
    ('numeric running sums',
     'SELECT i, gpu_running_sum(n) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS s FROM midway'),
    ('others',
     'SELECT i, gpu_running_avg(n) OVER w AS a, gpu_running_max(n) OVER w AS b,
             gpu_running_min(-n) OVER w AS c, gpu_running_avg(i) OVER w AS d,
             gpu_running_sum(i::bigint) OVER w AS e, gpu_running_sum(interval ''1 s'') OVER w AS f,
             gpu_running_max(n * interval ''1 day'') OVER w AS g
      FROM midway WINDOW w AS (ORDER BY i)')) q(what, query);

SELECT * FROM finish();
ROLLBACK;
