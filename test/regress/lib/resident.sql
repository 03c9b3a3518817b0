\set ECHO none
-- resident.sql: queries by columns in memory beside the same without GpuAgg, and where their pages came from.
--
-- For the tests that include it, whose output shows nothing of it.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
LOAD 'gpuagg';
SET gpuagg.enable_agg_scan = on;
SET gpuagg.min_table_pages = 0;
SET gpuagg.device = cpu;
SET max_parallel_workers_per_gather = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
DO 'BEGIN PERFORM gpuagg_evict(); END';
\pset format unaligned
\pset tuples_only on
\set beside :folder '/lib/beside.sql'
\i :beside
\set ECHO none
-- What differs from the same without the node, and how pages came: from memory, read, and into memory.
CREATE FUNCTION pg_temp.pages() RETURNS bigint[] LANGUAGE sql AS
    $$ SELECT ARRAY[resident_pages + resident_confirmed, table_pages, resident_filled] FROM gpuagg_last_query() $$;
CREATE FUNCTION pg_temp.used(query text, settings text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    -- the counters are of the whole statement, from its first aggregate on
    first numeric := (SELECT gpu_sum(1) FROM generate_series(1, 2));
    expected text[] := pg_temp.outcome('SELECT ' || query, 'gpuagg.enable_agg_scan=off');
    before bigint[] := pg_temp.pages();
    found text[] := pg_temp.outcome('SELECT ' || query, trim('gpuagg.enable_agg_scan=on ' || settings));
    pages bigint[] := pg_temp.pages();
BEGIN
    IF found <> expected THEN
        RETURN format('DIFFERENT: %s, expected %s', found, expected);
    END IF;
    RETURN format('%s from memory, %s read, %s filled', pages[1] - before[1], pages[2] - before[2], pages[3] - before[3]);
END
$$;
\set ECHO all
