-- Resident columns: what is kept in memory and what is not, prefetched and thrown out, by whom, and who sees it.
\getenv folder PG_ABS_SRCDIR
\set resident :folder '/lib/resident.sql'
\i :resident
SHOW gpuagg.resident;
SHOW gpuagg.column_memory;
CREATE FUNCTION pg_temp.columns() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT format('%s.%s %s: %s chunks, %s pages, %s rows', relation, attribute, place, chunks, pages, rows)
    FROM gpuagg_resident WHERE bytes > 0 AND last_use <= clock_timestamp() ORDER BY relation::text COLLATE "C", attribute COLLATE "C"
$$;

-- two rows a page, four pages
CREATE TABLE kept (i int, y int8, b bool, c "char", d date, t time, ts timestamp, tz timestamptz, o oid, m money, f4 float4, f8 float8,
                   n numeric(15,2), w numeric(38,5), s int2, words text, u numeric, v interval, pad text) WITH (autovacuum_enabled = off);
ALTER TABLE kept ALTER pad SET STORAGE PLAIN;
INSERT INTO kept
SELECT i, i * 10000000000, i % 3 = 0, i::"char", '2000-01-01'::date + i, '00:00'::time + make_interval(mins => i),
       '2000-01-01'::timestamp + make_interval(days => i), '2000-01-01 UTC'::timestamptz + make_interval(hours => i), i * 500000000::int8,
       i::money, i / 3.0, CASE i WHEN 3 THEN 'NaN' WHEN 4 THEN '-Infinity' ELSE i / 7.0 END, i / 4.0, i * 1e30, -i, 'word ' || i, i / 9.0,
       make_interval(secs => i), repeat('x', 3500)
FROM generate_series(1, 7) i;
INSERT INTO kept (pad) VALUES (repeat('x', 3500));
VACUUM kept;

-- on: filled at the first use, used at the second
SET gpuagg.resident = on;
SELECT pg_temp.used('gpu_sum(y) FROM kept');
SELECT pg_temp.used('gpu_sum(y) FROM kept');
SELECT * FROM pg_temp.columns();
SELECT l FROM pg_temp.plan_lines('SELECT gpu_sum(y) FROM kept', 'Pages (from|Con|Filled|Read)', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') l;
-- one column more has to be read for all
SELECT pg_temp.used('gpu_sum(y), gpu_min(d) FROM kept');
SELECT pg_temp.used('gpu_sum(y), gpu_min(d) FROM kept');
SELECT pg_temp.used('gpu_max(d) FROM kept');
SELECT pg_temp.used('gpu_sum(y) FILTER (WHERE d > ''2000-01-03''), gpu_count(y) FROM kept WHERE d < ''2000-01-06''');
SELECT pg_temp.used('d, gpu_sum(y) FROM kept GROUP BY d');
-- off: neither used nor filled
SELECT pg_temp.used('gpu_sum(y), gpu_sum(i) FROM kept', 'gpuagg.resident=off');
SELECT pg_temp.used('gpu_sum(y) FROM kept', 'gpuagg.resident=off');
-- auto: used; a small table's columns are not filled
SELECT pg_temp.used('gpu_sum(y) FROM kept', 'gpuagg.resident=auto');
SELECT pg_temp.used('gpu_sum(y), gpu_sum(i) FROM kept', 'gpuagg.resident=auto') FROM generate_series(1, 3);
-- of all types, in one process and by workers
SELECT gpuagg_evict('kept') AS evicted;
SELECT pg_temp.used('gpu_sum(i), gpu_sum(y), gpu_count(b), gpu_count(c), gpu_min(d), gpu_max(t), gpu_min(ts), gpu_max(tz), gpu_count(o),
    gpu_sum(m), gpu_sum(f4), gpu_max(f8), gpu_sum(n), gpu_sum(w), gpu_avg(s) FROM kept')
FROM generate_series(1, 2);
SELECT pg_temp.used('gpu_sum(i), gpu_sum(y), gpu_count(b), gpu_count(c), gpu_min(d), gpu_max(t), gpu_min(ts), gpu_max(tz), gpu_count(o),
    gpu_sum(m), gpu_sum(f4), gpu_max(f8), gpu_sum(n), gpu_sum(w), gpu_avg(s) FROM kept', 'max_parallel_workers_per_gather=2');
SELECT gpuagg_evict('kept') AS evicted;
SELECT pg_temp.used('gpu_sum(i), gpu_sum(n), gpu_count(o) FROM kept WHERE b', 'max_parallel_workers_per_gather=2') FROM generate_series(1, 2);
SELECT * FROM pg_temp.columns();
-- columns of other types are read, and with them all others
SELECT pg_temp.used('gpu_sum(i) FROM kept WHERE v <> ''3 s''') FROM generate_series(1, 2);
SELECT pg_temp.used('gpu_sum(i), gpu_sum(u) FROM kept') FROM generate_series(1, 2);
SELECT pg_temp.used('gpu_sum(i), gpu_max(v) FROM kept') FROM generate_series(1, 2);
SELECT pg_temp.used('gpu_count(v) FROM kept') FROM generate_series(1, 2);

-- changes: pages come back singly
SELECT gpuagg_evict('kept') AS evicted;
SELECT pg_temp.used('gpu_sum(y), gpu_sum(n) FROM kept') FROM generate_series(1, 2);
UPDATE kept SET n = -n WHERE i = 2;
SELECT pg_temp.used('gpu_sum(y), gpu_sum(n) FROM kept') FROM generate_series(1, 2);
VACUUM kept;
SELECT pg_temp.used('gpu_sum(y), gpu_sum(n) FROM kept') FROM generate_series(1, 2);
BEGIN;
DELETE FROM kept WHERE i = 5;
SELECT pg_temp.used('gpu_sum(y), gpu_sum(n) FROM kept');
ROLLBACK;
SELECT pg_temp.used('gpu_sum(y), gpu_sum(n) FROM kept');
ALTER TABLE kept DROP COLUMN v, ALTER n TYPE numeric(20,2), ADD COLUMN more int DEFAULT 3;
SELECT pg_temp.used('gpu_sum(n), gpu_sum(more) FROM kept') FROM generate_series(1, 2);
SELECT * FROM pg_temp.columns();
TRUNCATE kept;
SELECT pg_temp.used('gpu_sum(n), gpu_sum(more) FROM kept') FROM generate_series(1, 2);
SELECT * FROM pg_temp.columns();
INSERT INTO kept (i, n, pad) SELECT i, i, repeat('x', 3500) FROM generate_series(1, 7) i;
VACUUM kept;

-- twice in one query, rescanned, with DISTINCT, in sets, spilling; thrown out by the query itself
SELECT pg_temp.used('a.s, b.s FROM (SELECT gpu_sum(i) AS s FROM kept) a, (SELECT gpu_sum(i) AS s FROM kept WHERE n > 3) b');
SELECT pg_temp.used('g, s FROM generate_series(1, 3) g, LATERAL (SELECT gpu_sum(i) AS s FROM kept WHERE i > g) q', settings)
FROM (VALUES (''), ('max_parallel_workers_per_gather=2')) v(settings);
SELECT pg_temp.used('gpu_count(DISTINCT n), gpu_sum(DISTINCT i) FROM kept') FROM generate_series(1, 2);
SELECT pg_temp.used('i, n, gpu_sum(i) FROM kept GROUP BY GROUPING SETS ((i), (n), ())', 'work_mem=64kB');
SELECT gpu_sum(i), gpuagg_evict('kept') FROM kept;
SELECT gpu_sum(i), gpuagg_evict('kept') FROM kept;
-- holds end with errors: there are fewer than these together
SELECT pg_temp.used('gpu_sum(i) FROM kept') FROM generate_series(1, 2);
DO $$
BEGIN
    FOR n IN 1..1100 LOOP
        BEGIN
            PERFORM gpu_sum(i / (i - 3)) FROM kept;
        EXCEPTION WHEN division_by_zero THEN
        END;
    END LOOP;
END
$$;
SELECT pg_temp.used('gpu_sum(i) FROM kept');
BEGIN;
DECLARE c CURSOR FOR SELECT i, gpu_sum(n) FROM kept GROUP BY i ORDER BY i;
FETCH 2 FROM c;
SELECT gpuagg_evict('kept');
FETCH 1 FROM c;
SELECT pg_temp.used('gpu_sum(i) FROM kept');
FETCH 1 FROM c;
ROLLBACK;
SELECT pg_temp.used('gpu_sum(i) FROM kept');
SELECT gpuagg_evict('kept');

-- prefetching: all columns that can be, or some
SELECT rows, bytes > 0 AS bytes, seconds >= 0 AS seconds FROM gpuagg_prefetch('kept');
SELECT * FROM pg_temp.columns();
SELECT pg_temp.used('gpu_sum(i), gpu_sum(n), gpu_max(t), gpu_count(b) FROM kept');
SELECT gpuagg_evict('kept');
SELECT gpuagg_evict('kept');
SELECT rows FROM gpuagg_prefetch('kept', '{i,n}');
SELECT rows FROM gpuagg_prefetch('kept', '{i,i}');
SELECT rows FROM gpuagg_prefetch('kept', '{}');
SELECT * FROM pg_temp.columns();
SELECT gpuagg_prefetch('kept', '{none}');
SELECT gpuagg_prefetch('kept', '{xmin}');
SELECT gpuagg_prefetch('kept', '{v}');
SELECT gpuagg_prefetch('kept', '{i,u}');
SELECT gpuagg_prefetch('kept', '{u}');
SELECT gpuagg_prefetch('kept', '{NULL}');
SELECT gpuagg_prefetch(NULL);
SELECT gpuagg_prefetch(0);
SELECT gpuagg_evict(0);
SELECT gpuagg_prefetch('none');
CREATE INDEX kept_i ON kept (i);
CREATE VIEW kept_view AS SELECT i FROM kept;
\set VERBOSITY default
SELECT gpuagg_prefetch('kept_i');
SELECT gpuagg_prefetch('kept_view');
\set VERBOSITY terse
SHOW gpuagg.resident;
-- it can be wherever the setting is, and names may be odd
CREATE SCHEMA "Odd schema";
CREATE TABLE "Odd schema"."Odd table" ("Odd column" int, "select" int8) WITH (autovacuum_enabled = off);
INSERT INTO "Odd schema"."Odd table" VALUES (1, 2);
VACUUM "Odd schema"."Odd table";
SET gpuagg.resident = off;
SET gpuagg.enable_agg_scan = off;
SELECT rows FROM gpuagg_prefetch('"Odd schema"."Odd table"');
SELECT rows FROM gpuagg_prefetch('"Odd schema"."Odd table"', '{select}');
SHOW gpuagg.resident;
SHOW gpuagg.enable_agg_scan;
SET gpuagg.resident = on;
SET gpuagg.enable_agg_scan = on;
SELECT pg_temp.used('gpu_sum("Odd column"), gpu_sum("select") FROM "Odd schema"."Odd table"');
SELECT gpuagg_evict('"Odd schema"."Odd table"');

-- partitions and other children
CREATE TABLE parts (k int, x int8, words text) PARTITION BY LIST (k);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1) WITH (autovacuum_enabled = off);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2) PARTITION BY LIST (k);
CREATE TABLE parts_2_2 PARTITION OF parts_2 FOR VALUES IN (2) WITH (autovacuum_enabled = off);
INSERT INTO parts SELECT 1 + i % 2, i, 'x' FROM generate_series(1, 100) i;
VACUUM parts;
SELECT rows FROM gpuagg_prefetch('parts');
SELECT * FROM pg_temp.columns();
SELECT pg_temp.used('gpu_sum(x), gpu_count(k) FROM parts', settings) FROM (VALUES (''), ('max_parallel_workers_per_gather=2')) v(settings);
SELECT pg_temp.used('k, gpu_sum(x) FROM parts GROUP BY k');
UPDATE parts SET x = x + 1 WHERE k = 1;
SELECT pg_temp.used('gpu_sum(x), gpu_count(k) FROM parts');
SELECT gpuagg_evict('parts_2');
SELECT gpuagg_evict('parts');
SELECT pg_temp.used('gpu_sum(x) FROM parts') FROM generate_series(1, 2);
CREATE TABLE child (z int) INHERITS (kept);
INSERT INTO child (i, z) VALUES (100, 1);
VACUUM child;
SELECT rows FROM gpuagg_prefetch('kept', '{i}');
SELECT pg_temp.used('gpu_sum(i) FROM kept');
SELECT pg_temp.used('gpu_sum(i) FROM ONLY kept');
DROP TABLE child;
SELECT gpuagg_evict('kept');

-- what is never kept, and why
CREATE FUNCTION pg_temp.why(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT ' || query LOOP
        IF line LIKE '%Resident Columns%' THEN RETURN NEXT trim(line); END IF;
    END LOOP;
END
$$;
SELECT pg_temp.why('gpu_sum(i) FROM kept');
SELECT pg_temp.why('gpu_sum(i) FROM kept GROUP BY v');
SELECT pg_temp.why('gpu_sum(i + u) FROM kept');
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT pg_temp.why('gpu_sum(i) FROM kept');
COMMIT;
SET gpuagg.resident = auto;
SELECT pg_temp.why('gpu_sum(i) FROM kept');
SET gpuagg.resident = off;
SELECT pg_temp.why('gpu_sum(i) FROM kept');
SET gpuagg.resident = on;
SELECT gpuagg_evict('kept');
SET client_min_messages = notice;
CREATE TEMP TABLE kept_temp AS SELECT i FROM generate_series(1, 1000) i;
VACUUM kept_temp;
SELECT pg_temp.used('gpu_sum(i) FROM kept_temp') FROM generate_series(1, 2);
SELECT rows FROM gpuagg_prefetch('kept_temp');
SELECT pg_temp.why('gpu_sum(i) FROM kept_temp');
CREATE UNLOGGED TABLE kept_unlogged AS SELECT i FROM generate_series(1, 1000) i;
VACUUM kept_unlogged;
SELECT regexp_replace(pg_temp.used('gpu_sum(i) FROM kept_unlogged'), '[0-9]+ read', 'some read') FROM generate_series(1, 2);
SELECT rows FROM gpuagg_prefetch('kept_unlogged');
VACUUM pg_class;
SELECT regexp_replace(pg_temp.used('gpu_sum(relnatts) FROM pg_class'), '[0-9]+ read', 'some read') FROM generate_series(1, 2);
SELECT pg_temp.why('gpu_sum(relnatts) FROM pg_class');
SET client_min_messages = warning;
SELECT rows FROM gpuagg_prefetch('pg_class');
CREATE TABLE kept_empty (i int);
SELECT pg_temp.used('gpu_sum(i) FROM kept_empty') FROM generate_series(1, 2);
SELECT rows FROM gpuagg_prefetch('kept_empty');
CREATE TABLE kept_nothing ();
INSERT INTO kept_nothing DEFAULT VALUES;
VACUUM kept_nothing;
SELECT pg_temp.used('gpu_count(*) FROM kept_nothing') FROM generate_series(1, 2);
SELECT rows FROM gpuagg_prefetch('kept_nothing');
BEGIN;
CREATE TABLE kept_new (i int);
COPY kept_new FROM PROGRAM 'echo 5' (FREEZE);
SELECT pg_temp.used('gpu_sum(i) FROM kept_new') FROM generate_series(1, 2);
SELECT pg_temp.why('gpu_sum(i) FROM kept_new');
COMMIT;
SELECT pg_temp.used('gpu_sum(i) FROM kept_new') FROM generate_series(1, 2);
SELECT pg_temp.why('gpu_sum(i) FROM kept_new');
BEGIN;
TRUNCATE kept_new;
COPY kept_new FROM PROGRAM 'echo 6' (FREEZE);
SELECT pg_temp.used('gpu_sum(i) FROM kept_new') FROM generate_series(1, 2);
ROLLBACK;
SELECT pg_temp.used('gpu_sum(i) FROM kept_new');
-- some pages have changes that VACUUM has not looked at
CREATE TABLE kept_changed AS SELECT i FROM generate_series(1, 1000) i;
VACUUM kept_changed;
UPDATE kept_changed SET i = 0 WHERE i = 1;
SET client_min_messages = notice;
SELECT rows FROM gpuagg_prefetch('kept_changed');
VACUUM kept_changed;
SELECT rows FROM gpuagg_prefetch('kept_changed');
SET client_min_messages = warning;
DROP TABLE kept_changed;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT pg_temp.used('gpu_sum(i) FROM kept_new') FROM generate_series(1, 2);
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT pg_temp.used('gpu_sum(i) FROM kept_new') FROM generate_series(1, 2);
COMMIT;
-- a materialized view is a table
CREATE MATERIALIZED VIEW kept_matview AS SELECT i FROM generate_series(1, 1000) i;
VACUUM kept_matview;
SELECT pg_temp.used('gpu_sum(i) FROM kept_matview') FROM generate_series(1, 2);
REFRESH MATERIALIZED VIEW kept_matview;
SELECT regexp_replace(pg_temp.used('gpu_sum(i) FROM kept_matview'), '[0-9]+ read', 'some read') FROM generate_series(1, 2);
SELECT * FROM pg_temp.columns();

-- auto: a table of 1,000 pages is filled at the second use, and not by EXPLAIN
CREATE TABLE kept_large (i int, x int, pad text) WITH (autovacuum_enabled = off, fillfactor = 10);
ALTER TABLE kept_large ALTER pad SET STORAGE PLAIN;
INSERT INTO kept_large SELECT i, i, repeat('x', 700) FROM generate_series(1, 1000) i;
VACUUM kept_large;
SELECT pg_relation_size('kept_large') / current_setting('block_size')::int AS pages;
SET gpuagg.resident = auto;
EXPLAIN (COSTS OFF) SELECT gpu_sum(i) FROM kept_large;
SELECT pg_temp.used('gpu_sum(i) FROM kept_large') FROM generate_series(1, 3);
SELECT pg_temp.used('gpu_sum(i), gpu_sum(x) FROM kept_large') FROM generate_series(1, 3);
SELECT * FROM pg_temp.columns() c WHERE c LIKE 'kept_large%';
DELETE FROM kept_large WHERE i = 1000;
VACUUM kept_large;
SELECT gpuagg_evict('kept_large');
SELECT pg_temp.used('gpu_sum(i) FROM kept_large');
SET gpuagg.resident = on;
-- pages, and chunks, that have no rows any more
DELETE FROM kept_large WHERE i BETWEEN 10 AND 800;
VACUUM kept_large;
SELECT pg_temp.used('gpu_sum(i), gpu_min(i), gpu_max(i) FROM kept_large', settings)
FROM (VALUES (''), (''), ('max_parallel_workers_per_gather=2')) v(settings);
SELECT gpuagg_evict('kept_large');
SELECT pg_temp.used('gpu_sum(i) FROM kept_large WHERE i > 900', 'max_parallel_workers_per_gather=2') FROM generate_series(1, 2);
SELECT * FROM pg_temp.columns() c WHERE c LIKE 'kept_large%';
-- a leader that takes what is in memory, and after that no part
INSERT INTO kept_large SELECT i, i, repeat('x', 700) FROM generate_series(1001, 1900) i;
SET max_parallel_workers_per_gather = 2;
SELECT pg_temp.plan_lines('SELECT gpu_sum(i) FROM kept_large', 'Workers');
SET max_parallel_workers_per_gather = 0;
SELECT pg_temp.used('gpu_sum(i) FROM kept_large', 'max_parallel_workers_per_gather=2 parallel_leader_participation=off');
-- a column that comes into memory between two scans of one plan
CREATE TABLE kept_later AS SELECT i AS id, i % 1000 AS v, repeat('x', 600) AS pad FROM generate_series(1, 3000) i;
ALTER TABLE kept_later SET (autovacuum_enabled = off);
VACUUM ANALYZE kept_later;
UPDATE kept_later SET v = v WHERE id = 1500;
CREATE FUNCTION pg_temp.load(i int) RETURNS int PARALLEL RESTRICTED LANGUAGE plpgsql AS $$
BEGIN
    IF i = 2 THEN
        PERFORM gpuagg_prefetch('kept_later', '{v}');
    END IF;
    RETURN i;
END
$$;
BEGIN;
SET LOCAL gpuagg.resident = auto;
SET LOCAL gpuagg.min_table_pages = 0;
SET LOCAL max_parallel_workers_per_gather = 2;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SET LOCAL enable_material = off;
SELECT pg_temp.plan_lines('SELECT x, c, s FROM (SELECT pg_temp.load(i) AS x FROM generate_series(1, 3) i OFFSET 0) g LEFT JOIN
    (SELECT gpu_count(v) AS c, gpu_sum(v) AS s FROM kept_later) q ON c > x', 'GpuAgg|Gather');
SELECT x, c, s FROM (SELECT pg_temp.load(i) AS x FROM generate_series(1, 3) i OFFSET 0) g LEFT JOIN
    (SELECT gpu_count(v) AS c, gpu_sum(v) AS s FROM kept_later) q ON c > x;
COMMIT;
DROP TABLE kept_later;
-- prefetching calls core's functions only
CREATE TABLE kept_calls AS SELECT 1 AS i;
VACUUM kept_calls;
CREATE FUNCTION public.call(bigint, int) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE 'called'; END $$;
CREATE AGGREGATE public.gpu_count(int) (stype = bigint, initcond = '0', sfunc = public.call);
CREATE AGGREGATE public.count(int) (stype = bigint, initcond = '0', sfunc = public.call);
SELECT rows FROM gpuagg_prefetch('kept_calls');
DROP AGGREGATE public.gpu_count(int), public.count(int);
DROP FUNCTION public.call;
DROP TABLE kept_calls;

-- who may do what, and see what
CREATE ROLE regress_gpuagg_owner;
CREATE ROLE regress_gpuagg_other;
CREATE TABLE owned (i int) WITH (autovacuum_enabled = off);
INSERT INTO owned VALUES (1);
VACUUM owned;
ALTER TABLE owned OWNER TO regress_gpuagg_owner;
SELECT gpuagg_evict() > 0;
SET ROLE regress_gpuagg_owner;
SELECT rows FROM gpuagg_prefetch('owned');
SELECT relation, attribute FROM gpuagg_resident;
SELECT gpuagg_prefetch('kept');
SELECT gpuagg_evict('kept');
SELECT gpuagg_evict('pg_class');
RESET ROLE;
SELECT rows FROM gpuagg_prefetch('kept_matview');
SET ROLE regress_gpuagg_other;
SELECT gpuagg_prefetch('owned');
SELECT gpuagg_evict('owned');
SELECT gpuagg_evict();
SELECT gpuagg_evict(NULL);
SELECT relation, attribute FROM gpuagg_resident;
RESET ROLE;
GRANT SELECT ON owned TO regress_gpuagg_other;
SET ROLE regress_gpuagg_other;
SELECT relation, attribute FROM gpuagg_resident;
RESET ROLE;
REVOKE SELECT ON owned FROM regress_gpuagg_other;
GRANT pg_monitor TO regress_gpuagg_other;
SET ROLE regress_gpuagg_other;
SELECT relation, attribute FROM gpuagg_resident ORDER BY 1;
RESET ROLE;
-- one's own columns alone
SET ROLE regress_gpuagg_owner;
SELECT gpuagg_evict();
RESET ROLE;
SELECT relation, attribute FROM gpuagg_resident;
SELECT gpuagg_evict();
-- rows that one may not see do not come from memory either
ALTER TABLE owned ENABLE ROW LEVEL SECURITY;
INSERT INTO owned VALUES (2);
VACUUM owned;
CREATE POLICY few ON owned FOR SELECT USING (i < 2);
GRANT SELECT ON owned TO regress_gpuagg_other;
SELECT pg_temp.used('gpu_sum(i) FROM owned') FROM generate_series(1, 2);
SET ROLE regress_gpuagg_other;
SELECT gpu_sum(i) FROM owned;
RESET ROLE;

-- chunks of NULLs alone: conditions that are NULL there, and those that never are
CREATE TABLE kept_nulls AS SELECT i, NULL::boolean AS b, NULL::integer AS a FROM generate_series(1, 60000) i;
VACUUM kept_nulls;
SELECT rows FROM gpuagg_prefetch('kept_nulls');
SELECT c, pg_temp.used('gpu_count(*) FROM kept_nulls WHERE ' || c)
FROM unnest(ARRAY['(b IS TRUE) < true', '(b IS TRUE) = (a IS NULL)', 'b < true', 'b IS NULL', 'a > 0', 'NOT (b IS TRUE)', 'i < 0']) c;
DROP TABLE kept_nulls;

-- no memory: nothing is kept, what was kept goes, and it is said
\setenv PGHOST :HOST
\setenv PGPORT :PORT
SELECT rows FROM gpuagg_prefetch('kept', '{i}');
ALTER SYSTEM SET gpuagg.column_memory = 0;
SELECT pg_reload_conf();
\! until [ "$(psql -XAtq -d postgres -c 'SHOW gpuagg.column_memory')" = 0 ]; do sleep 0.1; done
SHOW gpuagg.column_memory;
SELECT pg_temp.used('gpu_sum(i) FROM kept') FROM generate_series(1, 2);
SELECT count(*) FROM gpuagg_resident;
SELECT gpuagg_evict('kept');
SET client_min_messages = notice;
SELECT rows FROM gpuagg_prefetch('kept', '{i}');
SET client_min_messages = warning;
ALTER SYSTEM RESET gpuagg.column_memory;
SELECT pg_reload_conf();
\! until [ "$(psql -XAtq -d postgres -c 'SHOW gpuagg.column_memory' 2>/dev/null)" != 0 ]; do sleep 0.1; done
SHOW gpuagg.column_memory;
SELECT * FROM pg_temp.columns();
SELECT pg_temp.used('gpu_sum(i) FROM kept') FROM generate_series(1, 2);
SET gpuagg.column_memory = 0;
SET gpuagg.resident = sometimes;

SELECT gpuagg_evict() > 0;
DROP SCHEMA "Odd schema" CASCADE;
DROP MATERIALIZED VIEW kept_matview;
DROP TABLE kept, parts, kept_temp, kept_unlogged, kept_empty, kept_nothing, kept_new, kept_large, owned CASCADE;
DROP ROLE regress_gpuagg_owner, regress_gpuagg_other;
SELECT * FROM pg_temp.columns();
