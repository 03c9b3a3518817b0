-- What must not grow: descriptors and memory over many small queries; memory over many rows.
\set ECHO none
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS gpuagg;
BEGIN;
SELECT no_plan();

-- Of this backend.
CREATE FUNCTION descriptors() RETURNS bigint LANGUAGE sql AS
    $$ SELECT count(*) FROM pg_ls_dir('/proc/self/fd') $$;
CREATE FUNCTION memory_contexts() RETURNS bigint LANGUAGE sql AS
    $$ SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts $$;
CREATE FUNCTION resident_kb() RETURNS bigint LANGUAGE sql AS
    $$ SELECT substring(pg_read_file('/proc/self/status') FROM 'RssAnon:\s+(\d+)')::bigint $$;

CREATE TABLE few AS SELECT i, i % 2 AS g, i::float8 AS x FROM generate_series(1, 6) i;
CREATE FUNCTION many_queries(times int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    wrong bigint := 0;
    s float8;
BEGIN
    FOR k IN 1 .. times LOOP
        SELECT gpu_sum(x) INTO s FROM few;
        wrong := wrong + (s <> 21)::int;
        IF k % 5 = 0 THEN
            PERFORM g, gpu_sum(i), gpu_count(*) FROM few GROUP BY g;
            PERFORM gpu_running_sum(x) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) FROM few;
        END IF;
        IF k % 50 = 0 THEN
            BEGIN
                PERFORM gpu_sum(1 / (k % 2)) FROM few;
            EXCEPTION WHEN division_by_zero THEN
                NULL;
            END;
            BEGIN
                PERFORM gpu_running_sum(1e308::float8) OVER (ORDER BY i) FROM few;
            EXCEPTION WHEN numeric_value_out_of_range THEN
                NULL;
            END;
        END IF;
    END LOOP;
    RETURN wrong;
END
$$;
SELECT is(many_queries(500), 0::bigint, 'the first queries are right');
CREATE TEMP TABLE before AS SELECT descriptors() AS d, memory_contexts() AS m, resident_kb() AS r;
SELECT is(many_queries(10000), 0::bigint, '10,000 small queries are right');
-- (Files of tables that are opened meanwhile count too: some room for those.)
SELECT cmp_ok(descriptors(), '<=', (SELECT d FROM before) + 20, 'descriptors did not grow');
SELECT cmp_ok(memory_contexts() - (SELECT m FROM before), '<', 1000000::bigint, 'memory contexts did not grow');
SELECT cmp_ok(resident_kb() - (SELECT r FROM before), '<', 8000::bigint, 'the process did not grow');

-- One group, one partition, and peers: memory stays bounded.
SET LOCAL work_mem = '1MB';
SET LOCAL gpuagg.batch_rows = 4096;
CREATE TEMP TABLE ordered AS SELECT i, i::float8 AS x FROM generate_series(1, 300000) i;
CREATE INDEX ON ordered (i);
ANALYZE ordered;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_sort = off;
SELECT memory_contexts() AS base \gset
DECLARE rows_frame CURSOR FOR SELECT gpu_running_sum(x) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS s
FROM ordered;
MOVE 250000 IN rows_frame;
SELECT cmp_ok(memory_contexts() - :base, '<', 8000000::bigint, 'a running sum over rows');
SELECT results_eq('FETCH 1 FROM rows_frame', ARRAY[250001::float8 * 250002 / 2], 'and its value');
CLOSE rows_frame;
DECLARE peers CURSOR FOR SELECT gpu_running_sum(x) OVER (ORDER BY i) AS s FROM ordered;
MOVE 250000 IN peers;
SELECT cmp_ok(memory_contexts() - :base, '<', 8000000::bigint, 'a running sum with peers');
CLOSE peers;
DECLARE whole CURSOR FOR SELECT gpu_running_sum(x) OVER () AS s FROM ordered;
MOVE 1 FROM whole;
SELECT cmp_ok(memory_contexts() - :base, '<', 8000000::bigint, 'one peer group of all rows');
CLOSE whole;
SELECT cmp_ok(descriptors(), '<=', (SELECT d FROM before) + 20, 'cursors left no descriptors');

-- A cursor that waits for its client holds no region of the device.
DECLARE idle CURSOR FOR SELECT gpu_running_sum(x) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS s FROM ordered;
MOVE 1 FROM idle;
SELECT is((SELECT gpu_sum(x) FROM ordered), 45000150000::float8, 'other sums beside an open cursor');
MOVE 1 FROM idle;
CLOSE idle;

SELECT * FROM finish();
ROLLBACK;
