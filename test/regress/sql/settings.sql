-- The settings: their kinds, who may change them, what they refuse; and that none changes a result.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
LOAD 'gpuagg';

SELECT name, vartype, unit, context, enumvals FROM pg_settings WHERE name LIKE 'gpuagg.%'
ORDER BY name COLLATE "C";
SELECT name, min_val, max_val, boot_val FROM pg_settings WHERE name LIKE 'gpuagg.%'
ORDER BY name COLLATE "C";
SELECT name FROM pg_settings WHERE name LIKE 'gpuagg.%' AND (short_desc = '' OR category <> 'Customized Options');
SELECT name, short_desc, extra_desc FROM pg_settings
WHERE name LIKE 'gpuagg.%' AND concat_ws(' ', short_desc, extra_desc) ~* '\m(we|us|ours?)\M';

CREATE TABLE set_rows AS SELECT i, i % 5 AS g, (i % 100) * 0.1::float8 AS e8, i::int8 AS x8
FROM generate_series(1, 10000) i;
CREATE TEMP TABLE set_expected AS SELECT gpu_sum(e8) AS a, gpu_sum(x8) AS b FROM set_rows;

-- Any session may choose.
SET gpuagg.device = 'cpu';
SHOW gpuagg.device;
SELECT (gpu_sum(e8), gpu_sum(x8)) = (SELECT a, b FROM set_expected) AS same FROM set_rows;
SET gpuagg.device = 'auto';
SHOW gpuagg.device;
SELECT (gpu_sum(e8), gpu_sum(x8)) = (SELECT a, b FROM set_expected) AS same FROM set_rows;
-- Rows that come one by one stay on the CPU in mode auto.
SET gpuagg.device_min_rows = 0;
SELECT gpu_sum(x8) FROM set_rows;
SELECT engine, device_batches, fallbacks, reason FROM gpuagg_last_query();
SELECT count(d) FROM (SELECT gpu_stddev(e8) AS d FROM set_rows CROSS JOIN generate_series(1, 2) GROUP BY g) AS q;
SELECT engine, device_batches, fallbacks, reason FROM gpuagg_last_query();
SET gpuagg.enable_window_scan = off;
SELECT max(s) FROM (SELECT gpu_running_sum(x8) OVER (ORDER BY i) AS s FROM set_rows) AS q;
SELECT engine, device_batches, fallbacks, reason FROM gpuagg_last_query();
RESET gpuagg.enable_window_scan;
RESET gpuagg.device_min_rows;
-- So do few of them, and those of a type without a kernel.
SELECT gpu_sum(i) FROM generate_series(1, 3) i;
SELECT engine, device_batches, fallbacks, reason FROM gpuagg_last_query();
SELECT gpu_sum(interval '1 s') = '100000 s' AS same FROM generate_series(1, 100000) i;
SELECT engine, device_batches, fallbacks, reason FROM gpuagg_last_query();
SET gpuagg.device = 'tpu';
RESET gpuagg.device;
SET gpuagg.batch_rows = 1024;
SHOW gpuagg.batch_rows;
SELECT (gpu_sum(e8), gpu_sum(x8)) = (SELECT a, b FROM set_expected) AS same FROM set_rows;
SET gpuagg.batch_rows = 0;
SET gpuagg.batch_rows = -1;
SET gpuagg.batch_rows = 'many';
RESET gpuagg.batch_rows;
SET gpuagg.device_min_rows = 0;
SELECT (gpu_sum(e8), gpu_sum(x8)) = (SELECT a, b FROM set_expected) AS same FROM set_rows;
SET gpuagg.device_min_rows = 1000000000;
SELECT (gpu_sum(e8), gpu_sum(x8)) = (SELECT a, b FROM set_expected) AS same FROM set_rows;
SET gpuagg.device_min_rows = -1;
RESET gpuagg.device_min_rows;
SET gpuagg.enable_agg_scan = off;
SET gpuagg.enable_window_scan = off;
SELECT (gpu_sum(e8), gpu_sum(x8)) = (SELECT a, b FROM set_expected) AS same FROM set_rows;
RESET gpuagg.enable_agg_scan;
RESET gpuagg.enable_window_scan;

-- Settings change in the middle of a query's life.
BEGIN;
DECLARE c CURSOR FOR SELECT i, gpu_running_sum(x8) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS s
FROM set_rows;
FETCH 1 FROM c;
SET LOCAL gpuagg.batch_rows = 1024;
SET LOCAL gpuagg.device = 'cpu';
MOVE 9000 IN c;
FETCH 1 FROM c;
COMMIT;

-- Settings of the cluster cannot be set in a session, and the superuser's only by one.
SET gpuagg.total_staging_memory = '1GB';
SET gpuagg.device_memory = '1GB';
SET gpuagg.visible_devices = '0';
SET gpuagg.idle_timeout = 1;
SET gpuagg.device_program = '/bin/false';
ALTER SYSTEM SET gpuagg.device_program = '/bin/false';
SET gpuagg.no_such_setting = 1;
SET gpuagg.staging_memory = '64MB';
SHOW gpuagg.staging_memory;
RESET gpuagg.staging_memory;
SET gpuagg.device_timeout = '2s';
SHOW gpuagg.device_timeout;
RESET gpuagg.device_timeout;
CREATE ROLE regress_gpuagg_settings;
GRANT SELECT ON set_rows, set_expected TO regress_gpuagg_settings;
SET ROLE regress_gpuagg_settings;
SET gpuagg.staging_memory = '64MB';
SET gpuagg.device_timeout = '2s';
SET gpuagg.device_program = '/bin/false';
SET gpuagg.batch_rows = 2000;
SELECT (gpu_sum(e8), gpu_sum(x8)) = (SELECT a, b FROM set_expected) AS same FROM set_rows;
\set VERBOSITY sqlstate
SHOW gpuagg.device_program;
\set VERBOSITY terse
RESET gpuagg.batch_rows;
RESET ROLE;
-- Settings of a role, a database or a function.
ALTER ROLE regress_gpuagg_settings SET gpuagg.batch_rows = 3000;
ALTER ROLE regress_gpuagg_settings SET gpuagg.idle_timeout = 3;
ALTER ROLE regress_gpuagg_settings SET gpuagg.device = 'tpu';
CREATE FUNCTION sum_on_cpu() RETURNS float8 LANGUAGE sql SET gpuagg.device = 'cpu' AS
    'SELECT gpu_sum(e8) FROM set_rows';
SELECT sum_on_cpu() = (SELECT a FROM set_expected) AS same;

-- What the last query used can be asked, in any session and at any time.
SELECT count(*) AS lines FROM gpuagg_last_query();
SELECT count(*) > 0 AS rows FROM gpuagg_stat;

DROP FUNCTION sum_on_cpu;
DROP TABLE set_rows, set_expected;
DROP ROLE regress_gpuagg_settings;
