-- demo.sql: core's aggregates and gpuagg's beside each other.

-- Give a device some seconds to come up; without one this ends at once.
DO $$
BEGIN
    FOR i IN 1..20 LOOP
        PERFORM FROM gpuagg_devices();
        EXIT WHEN (SELECT device_state FROM gpuagg_stat) NOT IN ('idle', 'starting');
        PERFORM pg_sleep(0.5);
    END LOOP;
END $$;

\echo
\echo '== Which device? (gpuagg_devices)'
SELECT device, name, capability, pg_size_pretty(memory_total) AS memory, usable, reason
FROM gpuagg_devices();

\echo '== Aggregates over a table, read from its pages (one process, best of three)'
SET gpuagg.resident = off;
SELECT * FROM side_by_side('sum(integer)',
    'SELECT sum(pulses) FROM reading', 'SELECT gpu_sum(pulses) FROM reading')
UNION ALL
SELECT * FROM side_by_side('sum(bigint)',
    'SELECT sum(microjoules) FROM reading', 'SELECT gpu_sum(microjoules) FROM reading')
UNION ALL
SELECT * FROM side_by_side('sum(double precision)',
    'SELECT sum(volts) FROM reading', 'SELECT gpu_sum(volts) FROM reading')
UNION ALL
SELECT * FROM side_by_side('sum(numeric), WHERE',
    'SELECT sum(price) FROM reading WHERE pulses < 20000 AND volts > 0',
    'SELECT gpu_sum(price) FROM reading WHERE pulses < 20000 AND volts > 0')
UNION ALL
SELECT * FROM side_by_side('sum(price * pulses)',
    'SELECT sum(price * pulses) FROM reading', 'SELECT gpu_sum(price * pulses) FROM reading')
UNION ALL
SELECT * FROM side_by_side('greatest of 1000 groups',
    'SELECT max(s) FROM (SELECT sum(microjoules) AS s FROM reading GROUP BY sensor) AS g',
    'SELECT max(s) FROM (SELECT gpu_sum(microjoules) AS s FROM reading GROUP BY sensor) AS g');
SELECT count(*) FILTER (WHERE core IS DISTINCT FROM ours) AS "groups that differ"
FROM (SELECT sum(microjoules) AS core, gpu_sum(microjoules) AS ours
      FROM reading GROUP BY sensor) AS g;

\echo '== A dashboard, word for word the same, before and after SET gpuagg.core_aggregates = exact'
SELECT * FROM before_and_after('greatest sum of a sensor',
    'SELECT max(s) FROM (SELECT sum(microjoules) AS s, avg(pulses), count(*) FROM reading GROUP BY sensor) AS g')
UNION ALL
SELECT * FROM before_and_after('costs in %',
    'SELECT round(100 * sum(price) FILTER (WHERE pulses > 50000) / sum(price), 4) FROM reading')
UNION ALL
SELECT * FROM before_and_after('rows of a ROLLUP',
    'SELECT count(s) FROM (SELECT sum(price) AS s FROM reading GROUP BY ROLLUP (sensor, pulses > 50000)) AS g')
UNION ALL
SELECT * FROM before_and_after('different pulses', 'SELECT count(DISTINCT pulses) FROM reading');

\echo '== Why it is fast: the node GpuAgg reads the pages as columns'
EXPLAIN (ANALYZE, COSTS OFF) SELECT gpu_sum(price) FROM reading WHERE pulses < 20000 AND volts > 0;

\echo '== Columns that stay in memory (gpuagg.resident), exact also after changes'
SET gpuagg.resident = auto;
\set query '''SELECT gpu_sum(microjoules) FROM reading WHERE sensor < 500'''
SELECT * FROM one_use('first', :query);
SELECT * FROM one_use('second', :query);
SELECT * FROM one_use('third', :query);
UPDATE reading SET microjoules = 0 WHERE sensor = 7 AND pulses < 1000;
SELECT * FROM one_use('after an UPDATE', :query);
VACUUM reading;
SELECT * FROM one_use('after a VACUUM', :query);
SELECT * FROM one_use('after that', :query);
SELECT * FROM one_use('least value', 'SELECT gpu_min(microjoules) FROM reading');
SET gpuagg.enable_agg_scan = off;
SELECT * FROM one_use('the same by core''s nodes', :query);
RESET gpuagg.enable_agg_scan;
SELECT attribute, pages, rows, pg_size_pretty(bytes) AS bytes FROM gpuagg_resident ORDER BY attribute;
SET gpuagg.resident = off;

\echo '== Which engine computed that? (gpuagg_last_query)'
SELECT gpu_sum(volts) FROM reading \gset
SELECT * FROM gpuagg_last_query();
SELECT EXISTS (SELECT FROM gpuagg_devices() WHERE usable) AS device \gset
\if :device
\echo '== The same sum, its rows in batches to the GPU (gpuagg.device = gpu)'
SET gpuagg.device = gpu;
SET gpuagg.enable_agg_scan = off;
SELECT * FROM side_by_side('sum(double precision)',
    'SELECT sum(volts) FROM reading', 'SELECT gpu_sum(volts) FROM reading');
SELECT * FROM gpuagg_last_query();
RESET gpuagg.enable_agg_scan;
RESET gpuagg.device;
\endif

\echo '== The same double precision column in other orders: core differs, gpuagg never does'
SELECT * FROM side_by_side('as stored',
    'SELECT sum(volts) FROM reading', 'SELECT gpu_sum(volts) FROM reading')
UNION ALL
SELECT * FROM side_by_side('half of it, ascending',
    'SELECT sum(volts ORDER BY volts) FROM reading WHERE sensor < 500',
    'SELECT gpu_sum(volts ORDER BY volts) FROM reading WHERE sensor < 500')
UNION ALL
SELECT * FROM side_by_side('that half, descending',
    'SELECT sum(volts ORDER BY volts DESC) FROM reading WHERE sensor < 500',
    'SELECT gpu_sum(volts ORDER BY volts DESC) FROM reading WHERE sensor < 500');

SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
\echo '== With two parallel workers'
SELECT * FROM side_by_side('sum(double precision)',
    'SELECT sum(volts) FROM reading', 'SELECT gpu_sum(volts) FROM reading')
UNION ALL
SELECT * FROM side_by_side('greatest of 1000 groups',
    'SELECT max(s) FROM (SELECT sum(microjoules) AS s FROM reading GROUP BY sensor) AS g',
    'SELECT max(s) FROM (SELECT gpu_sum(microjoules) AS s FROM reading GROUP BY sensor) AS g');
\echo '== Four runs with parallel workers: how many different answers?'
SELECT count(DISTINCT c.result) AS "core's answers", count(DISTINCT o.result) AS "gpuagg's answers"
FROM generate_series(1, 4) AS run,
    LATERAL timed(format('SELECT sum(volts) FROM reading -- %s', run)) AS c,
    LATERAL timed(format('SELECT gpu_sum(volts) FROM reading -- %s', run)) AS o;
RESET max_parallel_workers_per_gather;

\echo '== The running balance of 2000 accounts: movements that leave less than nothing'
SET work_mem = '512MB';
SELECT * FROM side_by_side('how many',
    'SELECT count(*) FROM (SELECT sum(amount) OVER (PARTITION BY account ORDER BY at, id
        ROWS UNBOUNDED PRECEDING) AS balance FROM movement) AS m WHERE balance < 0',
    'SELECT count(*) FROM (SELECT gpu_running_sum(amount) OVER (PARTITION BY account ORDER BY at, id
        ROWS UNBOUNDED PRECEDING) AS balance FROM movement) AS m WHERE balance < 0');
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF)
SELECT account, at, amount, balance FROM (
    SELECT *, gpu_running_sum(amount) OVER (PARTITION BY account ORDER BY at, id ROWS UNBOUNDED PRECEDING)
        AS balance FROM movement) AS m WHERE balance < 0;
SELECT account, at, amount, balance FROM (
    SELECT *, gpu_running_sum(amount) OVER (PARTITION BY account ORDER BY at, id ROWS UNBOUNDED PRECEDING)
        AS balance FROM movement) AS m WHERE balance < 0
ORDER BY at, id LIMIT 5;
RESET work_mem;

\echo '== Running sum of each sensor over time'
SELECT sensor, at::time AS at, pulses,
       sum(pulses) OVER w AS "sum() OVER", gpu_running_sum(pulses) OVER w AS gpu_running_sum
FROM reading WHERE sensor = 7
WINDOW w AS (PARTITION BY sensor ORDER BY at ROWS UNBOUNDED PRECEDING)
ORDER BY at LIMIT 5;

\echo '== What was counted (gpuagg_stat)'
SELECT calls, cpu_batches, cpu_rows, device_batches, device_rows, fallbacks, device_state
FROM gpuagg_stat;

\if :device
\echo 'There is a device: it computed the sum that it was told to and may have sorted the running sum; the CPU computed the rest, which it does as fast.'
\else
SELECT string_agg(DISTINCT reason, ', ') AS why FROM gpuagg_devices() \gset
\echo 'No device took part' (:why)': the CPU computed everything, to the same bits.'
\endif
