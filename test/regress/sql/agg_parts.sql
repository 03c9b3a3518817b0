-- The node GpuAgg over partitioned tables and inheritance, with DISTINCT, and with grouping
-- sets: beside the plans without it, in one process and with workers.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
SET gpuagg.min_table_pages = 0;
SET gpuagg.device = cpu;
SET max_parallel_workers_per_gather = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
\pset format unaligned
\pset tuples_only on

CREATE TABLE parts (id int, k int, i int, i8 bigint, f float8, n numeric(15,2), u numeric, t text, c char(5), d date)
    PARTITION BY RANGE (id);
CREATE TABLE parts_a PARTITION OF parts FOR VALUES FROM (0) TO (2000);
-- other columns in another order, and some that are gone
CREATE TABLE parts_b (t text, gone int, f float8, u numeric, i int, d date, n numeric(15,2), k int, c char(5),
    gone_too text, id int, i8 bigint);
ALTER TABLE parts_b DROP COLUMN gone, DROP COLUMN gone_too;
ALTER TABLE parts ATTACH PARTITION parts_b FOR VALUES FROM (2000) TO (4000);
CREATE TABLE parts_c PARTITION OF parts FOR VALUES FROM (4000) TO (6000) PARTITION BY LIST (k);
CREATE TABLE parts_c0 PARTITION OF parts_c FOR VALUES IN (0, 1, 2);
CREATE TABLE parts_c1 PARTITION OF parts_c DEFAULT;
CREATE TABLE parts_empty PARTITION OF parts FOR VALUES FROM (6000) TO (7000);
CREATE TABLE parts_rest PARTITION OF parts DEFAULT;
INSERT INTO parts
SELECT i, CASE WHEN i % 29 <> 0 THEN i % 7 END, CASE WHEN i % 11 <> 0 THEN i * 7919 % 101 END, i::bigint * 1000000007 % 977,
       i % 50 / 7.0, i % 40 / 4.0, CASE WHEN i % 13 <> 0 THEN (i % 100)::numeric / (1 + i % 3) END, 'word ' || i % 19,
       left('abcde', i % 6), '2000-01-01'::date + i % 90
FROM generate_series(0, 5999) i;
INSERT INTO parts SELECT id + 7000, k, i, i8, f, n, u, t, c, d FROM parts WHERE id < 100;
-- after which the rows that are there are shorter than the others
ALTER TABLE parts ADD COLUMN late int DEFAULT 5;
INSERT INTO parts SELECT i, 1, 2, 3, 4, 5, 6, 'seven', 'e', '2000-01-01', i FROM generate_series(0, 5999, 100) i;
DELETE FROM parts WHERE id % 97 = 0;
VACUUM ANALYZE parts_a;
ANALYZE parts;
CREATE TABLE tree (i int, x int);
CREATE TABLE tree_b (y text) INHERITS (tree);
CREATE TABLE tree_c (z int) INHERITS (tree_b);
INSERT INTO tree SELECT i, i % 3 FROM generate_series(1, 1000) i;
INSERT INTO tree_b SELECT i, i % 3, 'b' FROM generate_series(1, 500) i;
INSERT INTO tree_c SELECT i, i % 3, 'c', i FROM generate_series(1, 200) i;

\getenv folder PG_ABS_SRCDIR
\set beside :folder '/lib/beside.sql'
\i :beside
-- The nodes of a plan from the top, each once.
CREATE FUNCTION parts_nodes(plan text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    node text;
    nodes text := '';
BEGIN
    FOREACH line IN ARRAY string_to_array(plan, E'\n') LOOP
        node := coalesce(substring(line FROM '\((GpuAgg[^)]*)\)'), substring(line FROM '(Gather|Append|Aggregate|Scan) *'));
        IF node IS NOT NULL AND right(nodes, length(node) + 2) <> '> ' || node THEN
            nodes := nodes || '> ' || node;
        END IF;
    END LOOP;
    RETURN nodes;
END
$$;
CREATE FUNCTION parts_beside(VARIADIC queries text[]) RETURNS TABLE (query text, outcome text) LANGUAGE sql AS $$
    SELECT query, format('%s %s %s%s', cardinality(expected), left(expected[1], 60), parts_nodes(plan), differences)
    FROM pg_temp.beside('gpuagg.enable_agg_scan=off max_parallel_workers_per_gather=0', ARRAY[
        'gpuagg.enable_agg_scan=on max_parallel_workers_per_gather=2 parallel_leader_participation=off',
        'gpuagg.enable_agg_scan=on max_parallel_workers_per_gather=1 parallel_leader_participation=on',
        'gpuagg.enable_agg_scan=on max_parallel_workers_per_gather=0'], queries)
$$;

\echo -- partitions
SELECT * FROM parts_beside(
    'gpu_sum(i), gpu_count(*), gpu_avg(n), gpu_stddev(i8), gpu_min(d), gpu_sum(late), gpu_max(u) FROM parts',
    'k, gpu_sum(i), gpu_count(*), gpu_sum(f), gpu_sum(late) FROM parts GROUP BY k',
    't, gpu_sum(u), gpu_count(c) FILTER (WHERE f > 3) FROM parts WHERE d > ''2000-02-01'' GROUP BY t',
    'c, late, gpu_sum(length(t)) FROM parts GROUP BY c, late',
    'gpu_sum(i) FROM parts WHERE id BETWEEN 2500 AND 4500',
    'gpu_sum(i) FROM parts WHERE id = 4500 AND k = 6',
    'gpu_sum(i) FROM parts WHERE id < 0', 'gpu_sum(i) FROM parts WHERE id < 0 AND id > 10 GROUP BY k',
    'gpu_sum(i) FROM parts_c', 'gpu_sum(i) FROM parts_empty', 'gpu_sum(i) FROM ONLY parts',
    'id, gpu_sum(100 / (id - 3050)) FROM parts WHERE id > 3000 GROUP BY id',
    'k, gpu_sum(i) FROM parts GROUP BY k HAVING gpu_sum(i) > (SELECT avg(i) FROM parts)',
    'k, 100 * gpu_sum(i) / gpu_sum(id), gpu_count(*) FILTER (WHERE i > 50) FROM parts GROUP BY k ORDER BY gpu_sum(i), k LIMIT 3',
    'tableoid::regclass, gpu_sum(i) FROM parts GROUP BY 1',
    'x, gpu_sum(i), gpu_count(*) FROM tree GROUP BY x', 'gpu_sum(i), gpu_count(*) FROM ONLY tree', 'gpu_sum(i) FROM tree_b',
    'g, (SELECT gpu_sum(i) FROM parts WHERE id = g) FROM generate_series(0, 7000, 1000) g',
    'g, s FROM generate_series(1, 3) g, LATERAL (SELECT k, gpu_sum(i) AS s FROM parts WHERE id > 1500 * g GROUP BY k) q');
SET enable_partitionwise_aggregate = on;
SELECT * FROM parts_beside('k, gpu_sum(i) FROM parts_c GROUP BY k', 'id, gpu_sum(i) FROM parts GROUP BY id');
RESET enable_partitionwise_aggregate;
SET enable_parallel_append = off;
SELECT * FROM parts_beside('k, gpu_sum(i) FROM parts GROUP BY k');
RESET enable_parallel_append;

\echo -- pruned when the plan starts, and while it runs
SET plan_cache_mode = force_generic_plan;
SET max_parallel_workers_per_gather = 0;
PREPARE pruned(int) AS SELECT gpu_sum(i), gpu_count(*), gpu_sum(i) = (SELECT sum(i) FROM parts WHERE id < $1) FROM parts WHERE id < $1;
SELECT pg_temp.plan_lines('EXECUTE pruned(1000)', 'GpuAgg|Table:', 'COSTS OFF');
EXECUTE pruned(1000);
EXECUTE pruned(3000);
DEALLOCATE pruned;
SELECT pg_temp.plan_lines('SELECT g, (SELECT gpu_sum(i) FROM parts WHERE id = g) FROM generate_series(100, 2300, 2200) g',
    'never|Rows Read|Table:', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF');

\echo -- groups beyond memory, in workers too, which the planner takes for few
DO $$ BEGIN
    EXECUTE (SELECT string_agg(format('ALTER TABLE parts ALTER %I SET (n_distinct_inherited = 2)', attname), ';') FROM pg_attribute
             WHERE attrelid = 'parts'::regclass AND attnum > 0);
END $$;
ANALYZE parts;
SET hash_mem_multiplier = 1;
SET work_mem = '64kB';
SELECT * FROM parts_beside('id, gpu_sum(i), gpu_count(t) FROM parts GROUP BY id',
    'id % 3000, gpu_count(DISTINCT id), gpu_count(*) FROM parts GROUP BY 1',
    'gpu_count(DISTINCT id), gpu_sum(DISTINCT id), gpu_count(DISTINCT t), gpu_sum(id) FROM parts',
    'id % 3000, id / 3, gpu_count(*), gpu_sum(n) FROM parts GROUP BY CUBE (1, 2)');
-- values with DISTINCT: more than a file's part of them, with groups that stay and with groups that go, short and long ones
CREATE TABLE parts_many AS
SELECT i % 7 AS k, hashint4(i) & 1023 AS g, hashint4(i + 1) & 262143 AS v, repeat('x', hashint4(i + 2) & 31) || (hashint4(i + 3) & 255) AS t,
    ((hashint4(i + 4) & 65535) / 100.0)::numeric(10,2) AS n, ((hashint4(i + 4) & 65535)::numeric * 1e15)::numeric(30,2) AS big,
    CASE WHEN i % 11 <> 0 THEN i % 3001 END AS w
FROM generate_series(1, 100000) i;
ALTER TABLE parts_many ALTER g SET (n_distinct = 2), ALTER v SET (n_distinct = 2), ALTER t SET (n_distinct = 2), ALTER n SET (n_distinct = 2),
    ALTER big SET (n_distinct = 2), ALTER w SET (n_distinct = 2);
ANALYZE parts_many;
SELECT * FROM parts_beside(
    'gpu_count(DISTINCT v), gpu_sum(DISTINCT n), gpu_count(*), gpu_sum(v) FROM parts_many',
    'k, gpu_count(DISTINCT v), gpu_count(DISTINCT t), gpu_avg(DISTINCT w) FILTER (WHERE g > 500) FROM parts_many GROUP BY k',
    'g, gpu_count(DISTINCT t), gpu_sum(DISTINCT n), gpu_count(DISTINCT big) FROM parts_many GROUP BY g',
    'v, gpu_count(DISTINCT k), gpu_sum(n) FROM parts_many GROUP BY v',
    't, gpu_count(DISTINCT v), gpu_sum(w) FROM parts_many GROUP BY t');
SELECT pg_temp.plan('SELECT v, gpu_count(DISTINCT k) FROM parts_many GROUP BY v', options => 'ANALYZE, COSTS OFF') ~ 'Spills: [1-9]';
DROP TABLE parts_many;
RESET work_mem;
RESET hash_mem_multiplier;

\echo -- DISTINCT
SELECT * FROM parts_beside(
    'gpu_count(DISTINCT i), gpu_sum(DISTINCT i), gpu_avg(DISTINCT i8), gpu_count(*), gpu_stddev(DISTINCT i) FROM parts',
    'k, gpu_count(DISTINCT i), gpu_sum(DISTINCT i), gpu_sum(i), gpu_count(DISTINCT t), gpu_count(DISTINCT c) FROM parts GROUP BY k',
    'k, gpu_count(DISTINCT i) FILTER (WHERE f > 3), gpu_sum(DISTINCT i) FILTER (WHERE f > 5), gpu_count(DISTINCT i) FROM parts GROUP BY k',
    'gpu_sum(DISTINCT n), gpu_avg(DISTINCT n), gpu_count(DISTINCT u), gpu_count(DISTINCT f), gpu_count(DISTINCT d) FROM parts',
    'k, gpu_count(DISTINCT k), gpu_sum(DISTINCT k + 1), gpu_count(DISTINCT 1) FROM parts GROUP BY k',
    'gpu_min(DISTINCT i), gpu_max(DISTINCT f) FROM parts', 'gpu_count(DISTINCT (i, t)) FROM parts',
    'gpu_count(DISTINCT i) FROM parts WHERE id < 0', 'k, gpu_count(DISTINCT i) FROM parts WHERE id < 0 GROUP BY k',
    'gpu_sum(DISTINCT 100 / (id - 3050)) FROM parts', 'gpu_count(DISTINCT t COLLATE "C") FROM parts',
    'gpu_sum(DISTINCT u) FROM parts', 'gpu_sum(DISTINCT f::int) FROM parts');
SELECT pg_temp.plan_lines('SELECT gpu_sum(DISTINCT f) FROM parts_a', 'GpuAgg|Sets');
SELECT pg_temp.plan_lines('SELECT gpu_sum(DISTINCT u) FROM parts_a', 'GpuAgg|Sets');

\echo -- grouping sets
SELECT * FROM parts_beside(
    'k, t, gpu_sum(i), gpu_count(*), grouping(k, t), grouping(t) FROM parts GROUP BY ROLLUP (k, t)',
    'k, late, c, gpu_sum(n), gpu_stddev(i), gpu_min(u), grouping(c, k, late) FROM parts GROUP BY CUBE (k, late, c)',
    'k, d, gpu_sum(f) FROM parts GROUP BY GROUPING SETS ((k), (d))',
    'k, d, gpu_sum(f), grouping(k) FROM parts GROUP BY GROUPING SETS ((k), (d), (k), (), ())',
    'k, gpu_sum(i) FROM parts WHERE id < 0 GROUP BY ROLLUP (k)', 'k, gpu_sum(i) FROM parts WHERE id < 0 GROUP BY GROUPING SETS ((k), ())',
    'gpu_sum(i), grouping(k) FROM parts WHERE id < 0 GROUP BY GROUPING SETS (k)', 'gpu_sum(i) FROM parts GROUP BY GROUPING SETS ((), (), ())',
    'k + 1, gpu_sum(i), grouping(k + 1) FROM parts GROUP BY ROLLUP (k + 1) HAVING gpu_sum(i) > 0 OR grouping(k + 1) = 1',
    'k, t, gpu_sum(i) FROM parts GROUP BY DISTINCT ROLLUP (k, t), ROLLUP (k)',
    'k, gpu_sum(i), rank() OVER (PARTITION BY grouping(k) ORDER BY gpu_sum(i)) FROM parts GROUP BY ROLLUP (k)',
    'grouping(k), gpu_sum(i) FROM parts GROUP BY k', 'k, gpu_count(DISTINCT i) FROM parts GROUP BY ROLLUP (k)',
    'gpu_sum(i), 1 AS one FROM parts GROUP BY ROLLUP (2)');
SELECT pg_temp.plan_lines('SELECT k, d, gpu_sum(f) FROM parts_a GROUP BY GROUPING SETS ((k, d), (k), ())', 'GpuAgg|Sets');
SELECT pg_temp.plan_lines('SELECT k, gpu_count(DISTINCT i) FROM parts_a GROUP BY ROLLUP (k)', 'GpuAgg|Sets');
SET gpuagg.min_table_pages = 1;
SET work_mem = '64kB';
SELECT pg_temp.plan_lines('SELECT id, i8, gpu_sum(f) FROM parts_a GROUP BY GROUPING SETS ((id), (i8))', 'GpuAgg|Sets');

DROP TABLE parts, tree CASCADE;
DROP FUNCTION parts_nodes, parts_beside;
