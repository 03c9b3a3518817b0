-- At DEBUG1: which nodes a statement ran, and why others were not taken.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS gpuagg;
LOAD 'gpuagg';
SET gpuagg.min_table_pages = 0;
SET max_parallel_workers_per_gather = 0;
SET parallel_setup_cost = 0;
SET min_parallel_table_scan_size = 0;
CREATE TABLE log_rows AS SELECT i, i % 3 AS g FROM generate_series(1, 3000) i;
ANALYZE log_rows;
CREATE FUNCTION log_sum() RETURNS numeric LANGUAGE plpgsql AS
	'DECLARE s numeric; BEGIN EXECUTE ''SELECT gpu_sum(i) FROM log_rows'' INTO s; RETURN s; END';

-- Each is run before, so that core has nothing to say of its caches.
\set table 'SELECT gpu_sum(i) FROM log_rows;'
\set window 'SELECT max(s) FROM (SELECT gpu_running_sum(i) OVER (ORDER BY i) AS s FROM log_rows) q;'
\set frame 'SELECT max(s) FROM (SELECT gpu_sum(i) OVER (ORDER BY i ROWS 2 PRECEDING) AS s FROM log_rows) q;'
\set joined 'SELECT gpu_sum(i) FROM log_rows a JOIN log_rows b USING (i);'
\set inside 'SELECT max(log_sum()) FROM generate_series(1, 3);'
\set both 'SELECT gpu_sum(i) FROM log_rows a JOIN log_rows b USING (i) WHERE (SELECT log_sum()) > 0;'
:table :window :frame :joined :inside :both
SET client_min_messages = debug1;
:table
:window
:frame
:joined
-- Once in a statement, whatever it calls; again in the next.
:inside
:inside
:both
SET max_parallel_workers_per_gather = 2;
:table
SET max_parallel_workers_per_gather = 0;
-- A plan that is shown does not run.
EXPLAIN (COSTS OFF) :window
SET client_min_messages = warning;
:joined
DROP FUNCTION log_sum();
DROP TABLE log_rows;
