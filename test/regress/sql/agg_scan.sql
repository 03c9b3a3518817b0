-- The node GpuAgg at work: beside the plans without it, over tables of every kind, in
-- one process and with workers, stopped early, rescanned, spilling, and in errors.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
SET gpuagg.enable_agg_scan = on;
SET gpuagg.min_table_pages = 0;
SET gpuagg.device = cpu;
SET max_parallel_workers_per_gather = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
\pset format unaligned
\pset tuples_only on

CREATE TABLE aggs (id int PRIMARY KEY, k int, i int, i8 bigint, f float8, f4 float4, n numeric(15,2), u numeric,
                   t text, c char(5), d date, s timestamp, b bool, v interval, m money, j jsonb, a int[])
    WITH (autovacuum_enabled = off);
INSERT INTO aggs
SELECT i, i % 7, CASE WHEN i % 11 <> 0 THEN i * 7919 % 1013 END, i::bigint * 1000000007,
       CASE i % 500 WHEN 3 THEN 'NaN' WHEN 4 THEN '-0' WHEN 5 THEN 0 ELSE i / 7.0 END, i / 3.0, i / 4.0,
       CASE WHEN i % 13 <> 0 THEN (i % 100)::numeric / (1 + i % 3) END, 'word ' || i % 19,
       left('abcde', i % 6), '2000-01-01'::date + i % 90, '2000-01-01'::timestamp + make_interval(mins => i),
       CASE WHEN i % 3 <> 0 THEN i % 2 = 0 END, make_interval(days => i % 9, hours => i % 5), (i % 50)::numeric::money,
       to_jsonb(i % 4), ARRAY[i % 3, NULL]
FROM generate_series(1, 5000) i;
ANALYZE aggs;

\getenv folder PG_ABS_SRCDIR
\set beside :folder '/lib/beside.sql'
\i :beside
-- Whether the node is used, and a query's rows, with the node alone, with workers, and without it.
CREATE FUNCTION aggs_beside(VARIADIC queries text[]) RETURNS TABLE (query text, outcome text) LANGUAGE sql AS $$
    SELECT query, CASE WHEN plan ~ '\(GpuAgg' THEN format('%s %s', cardinality(expected), left(expected[1], 60)) ELSE 'not used' END ||
        differences
    FROM pg_temp.beside('gpuagg.enable_agg_scan=off max_parallel_workers_per_gather=0', ARRAY[
        'gpuagg.enable_agg_scan=on max_parallel_workers_per_gather=0',
        'gpuagg.enable_agg_scan=on max_parallel_workers_per_gather=2'], queries)
$$;

SELECT pg_temp.plan('SELECT gpu_sum(i) FROM aggs', 'max_parallel_workers_per_gather=2') LIKE '%Parallel Custom Scan (GpuAgg)%';
-- every aggregate, FILTER and WHERE
SELECT * FROM aggs_beside(
    'gpu_count(*), gpu_count(i), gpu_count(b), gpu_count(a), gpu_count(j) FROM aggs',
    'gpu_sum(i), gpu_avg(i), gpu_min(i), gpu_max(i), gpu_stddev(i), gpu_var_pop(i) FROM aggs',
    'gpu_sum(i8), gpu_avg(i8), gpu_min(i8), gpu_max(i8), gpu_stddev(i8), gpu_var_pop(i8) FROM aggs',
    'gpu_sum(f), gpu_avg(f), gpu_min(f), gpu_max(f), gpu_stddev(f) FROM aggs',
    'gpu_sum(f), gpu_avg(f), gpu_min(f), gpu_max(f), gpu_stddev(f), gpu_sum(f4), gpu_max(f4) FROM aggs WHERE f < 1e9',
    'gpu_sum(n), gpu_avg(n), gpu_min(n), gpu_max(n), gpu_stddev(n) FROM aggs',
    'gpu_sum(u), gpu_avg(u), gpu_min(u), gpu_max(u), gpu_stddev(u) FROM aggs',
    'gpu_sum(v), gpu_avg(v), gpu_min(v), gpu_sum(m), gpu_min(m), gpu_min(d), gpu_max(s) FROM aggs',
    'gpu_sum(i) FILTER (WHERE b), gpu_sum(i) FILTER (WHERE NOT b), gpu_sum(i), gpu_count(*) FILTER (WHERE b IS NULL) FROM aggs',
    'gpu_sum(i) FILTER (WHERE t = ''none'') FROM aggs',
    'gpu_sum(n * (1 - n)), gpu_sum(f * 2 + i), gpu_sum(i * 3 - k) FROM aggs WHERE d > ''2000-02-01'' AND k IN (1, 2, 3) AND NOT b',
    'gpu_sum(i) FROM aggs WHERE t LIKE ''%1%'' AND c = ''abc'' OR upper(t) = ''WORD 3''',
    'gpu_sum(CASE WHEN b THEN i WHEN i > 500 THEN -i ELSE 0 END), gpu_avg(coalesce(i, id)), gpu_sum(length(t)) FROM aggs',
    'gpu_sum(i) + gpu_sum(i), gpu_avg(i) / gpu_count(*), pg_typeof(gpu_sum(i)) FROM aggs',
    'gpu_sum(5), gpu_avg(NULL::int), gpu_sum(0.25), gpu_count(NULL) FROM aggs',
    'gpu_sum(1e-30), gpu_sum(1e40), gpu_min(1.50), gpu_avg(-1e-25) FROM aggs WHERE id % 2 = 0',
    'gpu_sum(i) FROM aggs WHERE id + 0 = 77');
-- groups
SELECT * FROM aggs_beside(
    'k, gpu_sum(i), gpu_avg(f) FROM aggs GROUP BY k',
    't, gpu_sum(n) FROM aggs GROUP BY t',
    'b, gpu_count(*) FROM aggs GROUP BY b',
    'c, gpu_count(*), gpu_min(id) FROM aggs GROUP BY c',
    'trim_scale(u), gpu_count(*) FROM aggs GROUP BY u',
    'n, gpu_count(*) FROM aggs GROUP BY n',
    'f + 0, gpu_count(*) FROM aggs GROUP BY f',
    'v, j, a, gpu_count(*) FROM aggs GROUP BY v, j, a',
    'k, t, c, d, b, gpu_count(*) FROM aggs GROUP BY k, t, c, d, b',
    'date_trunc(''week'', s), extract(dow FROM d), gpu_sum(i) FROM aggs GROUP BY 1, 2',
    'k + 1, (k + 1) * 2, gpu_sum(k + 1) FROM aggs GROUP BY k + 1',
    'gpu_sum(i) FROM aggs GROUP BY k, k % 2',
    'id, t, n + 1, gpu_sum(i) FROM aggs GROUP BY id',
    'id, upper(t), k, gpu_sum(i) FROM aggs GROUP BY id, k',
    'k, gpu_sum(i) FROM aggs WHERE k = 3 GROUP BY k',
    'k, gpu_sum(i) FROM aggs WHERE f4 < 0 GROUP BY k',
    'k, gpu_sum(i) FROM aggs GROUP BY k HAVING gpu_count(i) > 640 AND k <> 2',
    'gpu_max(i) FROM aggs GROUP BY k HAVING gpu_sum(f4) IS NULL',
    '1 FROM aggs HAVING gpu_count(*) > 5000',
    'grouping(k), gpu_sum(i) FROM aggs GROUP BY k',
    'gpu_sum(i) FROM aggs GROUP BY k HAVING grouping(k) = 0',
    'k, generate_series(1, gpu_count(*) / 300) FROM aggs GROUP BY k',
    'DISTINCT gpu_count(*) FROM aggs GROUP BY k',
    'k, gpu_sum(i), rank() OVER (ORDER BY gpu_sum(i)), gpu_sum(gpu_sum(i)) OVER () FROM aggs GROUP BY k',
    '* FROM (SELECT k, gpu_sum(i) FROM aggs GROUP BY k ORDER BY 2 DESC LIMIT 2) q');
-- of equal keys that look different the first one is shown
SELECT f, gpu_count(*) FROM aggs WHERE f = 0 GROUP BY f;
SELECT u, gpu_count(*) FROM aggs WHERE u = 3 GROUP BY u;

-- the condition, or an argument with DISTINCT, stands above the aggregates too
SELECT * FROM aggs_beside(
    'k, k > 3, gpu_sum(i) FROM aggs WHERE k > 3 GROUP BY k', 'k, k > 3 IS TRUE, gpu_sum(i) FROM aggs WHERE k > 3 GROUP BY k HAVING k > 3',
    'k > 3, CASE WHEN k > 3 THEN gpu_count(*) END, k > 3 AND gpu_sum(i) > 0 FROM aggs WHERE k > 3 GROUP BY k',
    'k + 1, gpu_count(DISTINCT k + 1), gpu_sum(i) FROM aggs GROUP BY k', 'k > 3, gpu_count(DISTINCT k > 3), k FROM aggs WHERE k > 3 GROUP BY k',
    'k > 3, gpu_count(*) FROM aggs WHERE k > 3 GROUP BY ROLLUP (k)',
    'gpu_count(DISTINCT n), n, gpu_sum(i) FROM aggs WHERE id < 20 GROUP BY id, n', 'gpu_count(DISTINCT n + 1), n + 1 FROM aggs WHERE id < 20 GROUP BY n');
-- columns of grouping sets that become the same expression
SELECT * FROM aggs_beside('k AS x, CASE 1 WHEN 2 THEN 0 ELSE k END AS y, gpu_count(*) FROM aggs GROUP BY ROLLUP (CASE 1 WHEN 2 THEN 0 ELSE k END), ROLLUP (k)');

-- a constant among the columns of grouping sets, which the other sets show as NULL
SELECT q, pg_temp.outcome(q, 'max_parallel_workers_per_gather=0') FROM (VALUES
    ('SELECT 1 AS x, k > 3 AS y, gpu_count(*) FROM aggs GROUP BY GROUPING SETS (1, 2)'),
    ('SELECT * FROM (SELECT 1 AS x, k, gpu_count(*) FROM aggs GROUP BY ROLLUP (1, 2)) q WHERE k = 3 AND x = 1')) v(q);

-- subqueries, parameters, other nodes around it
CREATE TABLE aggs_few AS SELECT i AS x, i % 3 AS y FROM generate_series(1, 9) i;
SELECT * FROM aggs_beside(
    'gpu_sum(i) FROM aggs WHERE i > (SELECT avg(x) FROM aggs_few)',
    'gpu_sum(i + (SELECT max(x) FROM aggs_few)), gpu_sum(n) FILTER (WHERE id < (SELECT 5)) FROM aggs WHERE t > (SELECT ''word 3'')',
    'k, gpu_sum(i) FROM aggs GROUP BY k HAVING gpu_sum(i) > (SELECT gpu_avg(i) * 650 FROM aggs)',
    'x, (SELECT gpu_sum(i) FROM aggs WHERE k = x) FROM aggs_few',
    'x, (SELECT gpu_sum(i * x) FILTER (WHERE id > x) FROM aggs HAVING gpu_count(*) > x) FROM aggs_few',
    'x, q.* FROM aggs_few, LATERAL (SELECT (id + x) % 3 AS z, gpu_sum(i) FROM aggs WHERE k <> x GROUP BY 1) q',
    'k, gpu_sum(i), (SELECT max(x) FROM aggs_few WHERE y = k) FROM aggs GROUP BY k',
    'x, s FROM aggs_few LEFT JOIN (SELECT k, gpu_sum(i) AS s FROM aggs GROUP BY k) q ON k = x',
    '(SELECT gpu_sum(aggs.i) FROM aggs_few LIMIT 1) FROM aggs',
    'EXISTS (SELECT gpu_sum(i) FROM aggs GROUP BY k)',
    'gpu_sum(s), gpu_max(s) FROM (SELECT k, gpu_sum(i) AS s FROM aggs GROUP BY k) q',
    'WITH q AS MATERIALIZED (SELECT k, gpu_sum(i) AS s FROM aggs GROUP BY k) SELECT * FROM q JOIN q r USING (s)',
    'k, gpu_sum(i) FROM aggs GROUP BY k UNION ALL SELECT y, gpu_sum(x) FROM aggs_few GROUP BY y');
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT * FROM aggs_beside(
    'x, s FROM aggs_few LEFT JOIN (SELECT k, gpu_sum(i) AS s FROM aggs GROUP BY k) q ON k = x',
    'x, s FROM aggs_few LEFT JOIN (SELECT gpu_count(*) AS k, gpu_sum(i) AS s FROM aggs) q ON k > x',
    'count(s) FROM generate_series(1, 100) x JOIN (SELECT k, gpu_sum(i) AS s FROM aggs GROUP BY k) q ON k = x % 7');
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
SET plan_cache_mode = force_generic_plan;
PREPARE aggs_where(int) AS SELECT gpu_sum(i), gpu_count(*) FROM aggs WHERE k > $1;
EXECUTE aggs_where(3);
EXECUTE aggs_where(NULL);
EXECUTE aggs_where(-1);
PREPARE aggs_all(text, numeric, float8, date) AS
    SELECT gpu_sum(n * $2), gpu_sum(f4 + $3), gpu_count(*) FROM aggs WHERE t = $1 AND d < $4;
EXECUTE aggs_all('word 1', 1.5, 2, '2000-02-20');
EXECUTE aggs_all('word 1', 'NaN', '-Infinity', 'infinity');
EXECUTE aggs_all('word 1', 1e100, NULL, '2000-02-20');
EXECUTE aggs_all(repeat('word 1', 1000), 1, 2, '2000-02-20');
EXECUTE aggs_all('word 1', 1.123456789123456789123456789, 0, '2000-02-20');
PREPARE aggs_by(int) AS SELECT k + $1, gpu_count(*) FROM aggs GROUP BY k + $1 ORDER BY 1 LIMIT 2;
EXECUTE aggs_by(1);
EXECUTE aggs_by(NULL);
EXECUTE aggs_by(2147483647);
SET max_parallel_workers_per_gather = 2;
DISCARD PLANS;
EXPLAIN (COSTS OFF) EXECUTE aggs_where(3);
EXECUTE aggs_where(3);
EXECUTE aggs_all('word 1', 1.5, 2, '2000-02-20');
EXECUTE aggs_by(2147483647);
-- the table changes under the plan
ALTER TABLE aggs ALTER k TYPE bigint;
EXECUTE aggs_where(3);
CREATE INDEX ON aggs (d);
EXECUTE aggs_where(3);
DEALLOCATE ALL;
ALTER TABLE aggs ALTER k TYPE int;
RESET plan_cache_mode;
SET max_parallel_workers_per_gather = 0;

-- cursors
BEGIN;
DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT k, gpu_sum(i) FROM aggs GROUP BY k ORDER BY k;
FETCH 2 c;
FETCH BACKWARD 1 c;
FETCH LAST c;
DECLARE e CURSOR FOR SELECT gpu_count(*) FROM aggs GROUP BY k ORDER BY gpu_min(id);
FETCH 1 e;
DELETE FROM aggs WHERE id <= 70;
FETCH 1 e;
SAVEPOINT p;
SELECT gpu_count(*) FROM aggs;
INSERT INTO aggs (id, k) VALUES (1, 100);
SELECT gpu_count(*) FROM aggs;
ROLLBACK TO p;
FETCH 1 e;
COMMIT;
FETCH ABSOLUTE 4 c;
CLOSE c;
INSERT INTO aggs (id) SELECT i FROM generate_series(1, 70) i;
SET max_parallel_workers_per_gather = 2;
BEGIN;
DECLARE c CURSOR FOR SELECT k, gpu_count(*) FROM aggs GROUP BY k ORDER BY k;
FETCH 1 c;
FETCH 1 c;
COMMIT;
SELECT count(*) FROM (SELECT k, gpu_sum(i) FROM aggs GROUP BY k LIMIT 2) q;
SET max_parallel_workers_per_gather = 0;
-- results into tables
CREATE MATERIALIZED VIEW aggs_kept AS SELECT k, gpu_sum(i) AS s, gpu_count(*) AS n FROM aggs GROUP BY k;
REFRESH MATERIALIZED VIEW aggs_kept;
SELECT gpu_sum(s), gpu_sum(n) FROM aggs_kept;
UPDATE aggs_few SET x = s FROM (SELECT k, gpu_count(*) AS s FROM aggs GROUP BY k) q WHERE q.k = y;
SELECT y, gpu_sum(x) FROM aggs_few GROUP BY y ORDER BY 1;
DELETE FROM aggs_few WHERE x >= (SELECT gpu_count(*) / 7 FROM aggs WHERE k IS NOT NULL);

-- no workers, and no leader
SET parallel_leader_participation = off;
SELECT * FROM aggs_beside(
    'gpu_count(*), gpu_sum(i), gpu_sum(n), gpu_sum(f4) FROM aggs',
    'k, gpu_count(*), gpu_sum(i), gpu_sum(n), gpu_sum(f4), gpu_stddev(u), gpu_max(v) FROM aggs GROUP BY k',
    'gpu_count(*), gpu_sum(i), gpu_sum(n), gpu_max(f4) FROM aggs WHERE f4 < 0',
    'k, gpu_count(*), gpu_sum(i), gpu_sum(n), gpu_max(f4) FROM aggs WHERE f4 < 0 GROUP BY k');
SET max_parallel_workers = 0;
SELECT * FROM aggs_beside(
    'gpu_count(*), gpu_sum(i), gpu_sum(n) FROM aggs',
    'k, gpu_count(*), gpu_sum(i), gpu_sum(n) FROM aggs GROUP BY k');
RESET max_parallel_workers;
RESET parallel_leader_participation;

-- keys of small ranges, which widen, with NULL and from both ends of their types; values beyond 32 and 64 bits
CREATE TABLE aggs_dense (id int, up int, sides int2, highest int8, lowest int8, far int, day date, v2 int2, v4 int, v8 bigint,
                         f8 float8, n numeric(15,2), w numeric(18,4)) WITH (autovacuum_enabled = off);
INSERT INTO aggs_dense
SELECT i, i / 10, CASE WHEN i % 97 <> 0 THEN (i % (1 + i / 150) * CASE i % 2 WHEN 0 THEN -1 ELSE 1 END) END, 9223372036854775807 - i % 6,
       CASE WHEN i % 5 <> 0 THEN -9223372036854775808 + i % 7 END, CASE i % 3000 WHEN 2999 THEN i * 100000 ELSE i % 10 END,
       '2000-01-01'::date + i % 30, i % 100 - 50, CASE WHEN i % 3 <> 0 THEN CASE i % 4 WHEN 0 THEN 2147483647 ELSE -2147483648 END END,
       CASE WHEN i < 3000 THEN i ELSE CASE i % 4 WHEN 0 THEN 9223372036854775807 WHEN 1 THEN -9223372036854775808 ELSE i END END, i / 7.0,
       i / 4.0, CASE WHEN i % 5000 > 2500 THEN 99999999999999.9999 ELSE i END
FROM generate_series(1, 12000) i;
VACUUM aggs_dense;
SELECT * FROM aggs_beside(
    'up, gpu_sum(v2), gpu_sum(v4), gpu_sum(v8), gpu_count(*), gpu_count(v4), gpu_avg(n), gpu_sum(w) FROM aggs_dense GROUP BY up',
    'sides, gpu_sum(v2), gpu_sum(v4), gpu_sum(v8), gpu_count(*), gpu_sum(n), gpu_sum(w), gpu_sum(n * w) FROM aggs_dense GROUP BY sides',
    'highest, gpu_sum(v8), gpu_sum(n * w), gpu_min(v4), gpu_sum(f8), gpu_stddev(v4) FROM aggs_dense GROUP BY highest',
    'lowest, highest, gpu_sum(v8), gpu_sum(v2) FILTER (WHERE v4 > 0), gpu_count(*) FILTER (WHERE v4 IS NULL) FROM aggs_dense GROUP BY lowest, highest',
    'sides, lowest, day, gpu_sum(v8), gpu_sum(n) FROM aggs_dense WHERE v2 < 30 GROUP BY sides, lowest, day',
    'far, gpu_sum(v8), gpu_avg(v4), gpu_sum(w * w) FROM aggs_dense WHERE id > 10 GROUP BY far',
    'far, day, gpu_sum(v8) FROM aggs_dense GROUP BY ROLLUP (far, day)',
    'id, gpu_sum(v8), gpu_sum(n) FROM aggs_dense GROUP BY id',
    'day, gpu_sum(v4 + 1) FROM aggs_dense WHERE v4 < 0 GROUP BY day',
    'day, gpu_sum(v4 - 1) FROM aggs_dense GROUP BY day',
    'highest, lowest FROM aggs_dense GROUP BY highest, lowest',
    'g, s FROM generate_series(1, 12000, 4000) g, LATERAL (SELECT sides, gpu_sum(v8) AS s FROM aggs_dense WHERE id < g GROUP BY sides) q');
SET work_mem = '64kB';
SELECT * FROM aggs_beside(
    'id, gpu_sum(v8), gpu_sum(n) FROM aggs_dense GROUP BY id',
    'up, sides, gpu_sum(v8), gpu_sum(n * w) FROM aggs_dense GROUP BY up, sides');
RESET work_mem;
DROP TABLE aggs_dense;

-- tables
CREATE TABLE aggs_none (i int, n numeric);
CREATE TABLE aggs_one AS SELECT 1 AS i, repeat('long ', 10000) AS t;
CREATE TEMPORARY TABLE aggs_temporary AS SELECT i, i::numeric AS n FROM generate_series(1, 1000) i;
CREATE UNLOGGED TABLE aggs_changed (a int, b text, c numeric(8,2), d int NOT NULL) WITH (autovacuum_enabled = off);
INSERT INTO aggs_changed SELECT i, 'b' || i, i, i FROM generate_series(1, 1000) i;
SELECT * FROM aggs_beside(
    'gpu_sum(i), gpu_count(*), gpu_avg(n), gpu_max(n) FROM aggs_none',
    'i, gpu_sum(i), gpu_count(*), gpu_avg(n) FROM aggs_none GROUP BY i',
    'gpu_sum(i), gpu_count(t), gpu_sum(length(t)) FROM aggs_one',
    'gpu_sum(i), gpu_sum(n) FROM aggs_temporary WHERE i % 2 = 0',
    'gpu_sum(a), gpu_count(b), gpu_sum(c), gpu_sum(d) FROM aggs_changed');
ALTER TABLE aggs_changed DROP COLUMN b;
ALTER TABLE aggs_changed ADD COLUMN e int DEFAULT 7, ADD COLUMN f text DEFAULT 'new', ADD COLUMN g numeric;
SELECT * FROM aggs_beside(
    'gpu_sum(a), gpu_sum(c), gpu_sum(d), gpu_sum(e), gpu_count(f), gpu_count(g) FROM aggs_changed',
    'f, gpu_sum(e), gpu_count(g) FROM aggs_changed GROUP BY f');
INSERT INTO aggs_changed SELECT i, i, i, NULL, 'own', i / 3.0 FROM generate_series(1, 500) i;
UPDATE aggs_changed SET a = a + 1, e = 8 WHERE a % 10 = 0;
DELETE FROM aggs_changed WHERE a % 10 = 5;
SELECT * FROM aggs_beside(
    'gpu_sum(a), gpu_sum(c), gpu_sum(d), gpu_sum(e), gpu_count(f), gpu_sum(g) FROM aggs_changed',
    'f, gpu_sum(e), gpu_sum(g) FROM aggs_changed GROUP BY f');
VACUUM aggs_changed;
SELECT * FROM aggs_beside('f, gpu_sum(e), gpu_sum(g), gpu_sum(a) FROM aggs_changed GROUP BY f');
ALTER TABLE aggs_changed ALTER a TYPE float8, ALTER e SET DEFAULT 9;
INSERT INTO aggs_changed (d) VALUES (1);
VACUUM FREEZE aggs_changed;
SELECT * FROM aggs_beside('f, e, gpu_sum(a), gpu_count(*) FROM aggs_changed GROUP BY f, e');
BEGIN;
TRUNCATE aggs_changed;
SELECT gpu_count(*), gpu_sum(a) FROM aggs_changed;
ROLLBACK;
SELECT gpu_count(*), gpu_sum(a) FROM aggs_changed;
-- values out of line, compressed, and both
CREATE TABLE aggs_long (k int, x text, y text, z text);
ALTER TABLE aggs_long ALTER z SET STORAGE EXTERNAL;
INSERT INTO aggs_long SELECT i, repeat(md5((i % 20)::text), 500), string_agg(md5((i % 13 * j)::text), '' ORDER BY j), repeat('z' || i % 2, 3000)
FROM generate_series(1, 200) i, generate_series(1, 150) j GROUP BY i;
SELECT * FROM aggs_beside(
    'md5(x), gpu_count(*), gpu_sum(k) FROM aggs_long GROUP BY x',
    'md5(y), md5(z), gpu_count(*), gpu_sum(k) FROM aggs_long GROUP BY y, z',
    'gpu_count(x), gpu_sum(length(y)) FILTER (WHERE z LIKE ''%z1%''), gpu_count(*) FILTER (WHERE x = y) FROM aggs_long WHERE y > ''5''');

-- many expressions, keys and values
SELECT format('SELECT %s FROM aggs', string_agg(format('gpu_sum(i + %s) AS c%s', i, i), ', ')) AS query FROM generate_series(1, 600) i \gset
SELECT c1, c600 FROM (:query) q;
SELECT format('SELECT gpu_sum(%s) FROM aggs', string_agg('i::bigint', ' + ')) AS query FROM generate_series(1, 1000) i \gset
:query;
SELECT format('SELECT gpu_sum(CASE %s ELSE 0 END) FROM aggs', string_agg(format('WHEN i = %s THEN %s', i, i), ' ')) AS query FROM generate_series(1, 700) i \gset
:query;
SELECT format('SELECT gpu_sum(i) FROM aggs WHERE i IN (%s)', string_agg(i::text, ', ')) AS query FROM generate_series(1, 2000) i \gset
:query;
SELECT format('SELECT gpu_count(*) FROM (SELECT %s, gpu_sum(i) FROM aggs GROUP BY %s OFFSET 0) q',
              string_agg(format('i %% %s AS c%s', i, i), ', '), string_agg('i % ' || i, ', ')) AS query FROM generate_series(1, 40) i \gset
:query;

-- more groups than memory
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
CREATE TABLE aggs_many AS SELECT i, i * 7919 % 10007 AS k, 'key ' || i % 5003 AS t, (i % 1000) / 100.0 AS n, i / 7.0::float8 AS f
FROM generate_series(1, 6000) i;
SELECT * FROM aggs_beside(
    'k, gpu_count(*), gpu_sum(i) FROM aggs_many GROUP BY k',
    't, gpu_count(*), gpu_sum(f), gpu_avg(n), gpu_stddev(f) FROM aggs_many GROUP BY t',
    'i, t, gpu_count(*), gpu_max(n) FROM aggs_many GROUP BY i, t',
    'n::text, i, gpu_sum(f) FROM aggs_many GROUP BY 1, 2 HAVING gpu_sum(n) > 3',
    'x, (SELECT gpu_count(s) FROM (SELECT k + x AS z, gpu_sum(i) AS s FROM aggs_many GROUP BY 1 OFFSET 0) q) FROM generate_series(1, 2) x');
SELECT pg_temp.plan('SELECT i, t, gpu_count(*) FROM aggs_many GROUP BY i, t', options => 'ANALYZE, COSTS OFF') ~ 'Spills: [1-9]';
SELECT pg_temp.plan('SELECT i % 5, gpu_count(*) FROM aggs_many GROUP BY 1', options => 'ANALYZE, COSTS OFF') ~ 'Spills: [1-9]';
BEGIN;
DECLARE c CURSOR FOR SELECT i, t, gpu_sum(n) FROM aggs_many GROUP BY i, t;
MOVE 100 c;
CLOSE c;
COMMIT;
RESET work_mem;
RESET hash_mem_multiplier;

-- errors are core's, the first row's first
SELECT * FROM aggs_beside(
    'gpu_sum(1 / (i - 500)) FROM aggs',
    'gpu_sum(i) FROM aggs WHERE 1 / (i - 500) > 0',
    'gpu_sum(i) FROM aggs GROUP BY 1 / (i - 500)',
    'gpu_sum(i) FILTER (WHERE 1 / (i - 500) > 0) FROM aggs',
    'k, gpu_sum(i) FROM aggs GROUP BY k HAVING 1 / (k - 3) > 0',
    'gpu_sum(i * 10000000) FROM aggs',
    'gpu_sum((i * 100)::smallint) FROM aggs',
    'gpu_sum(t::int) FROM aggs',
    'gpu_sum(f4 * 1e306::float8) FROM aggs',
    'gpu_sum(i8 * 4000000) FROM aggs WHERE b',
    'gpu_max(d + 2147483647) FROM aggs',
    '(id + 100000)::smallint, gpu_sum(i) FROM aggs GROUP BY 1 / (id - id), (id + 100000)::smallint',
    'gpu_sum(1 / (i - 500)) FROM aggs WHERE i <> 500',
    'gpu_sum(1 / (i - 500)) FILTER (WHERE i <> 500) FROM aggs',
    'gpu_sum(CASE WHEN i <> 500 THEN 1 / (i - 500) END) FROM aggs',
    'gpu_sum(i8 * i8 * i8), gpu_sum(1 / (SELECT 0)) FROM aggs',
    'gpu_sum(1 / (SELECT 0)), gpu_sum(i8 * i8 * i8) FROM aggs',
    'gpu_sum(CASE WHEN i < 0 THEN 1 / (SELECT 0) END) FROM aggs WHERE i > 0 OR 1 / (SELECT 0) > 0');
CREATE TABLE aggs_wrong (i int, x float8, s timestamp);
INSERT INTO aggs_wrong VALUES (5, 1e10, '2000-01-01'), (0, 1, '294276-12-31'), (1, -1, '2000-01-01');
SELECT gpu_avg(1e308::float8 * x * sqrt(x)) FROM aggs_wrong;
SELECT gpu_sum(1 / i), gpu_max(s + interval '1 month') FROM aggs_wrong;
SELECT gpu_max(s + interval '1 month'), gpu_sum(1 / i) FROM aggs_wrong;
SELECT gpu_sum(1 / (i - 5)), gpu_count(extract(year FROM s::time)) FROM aggs_wrong;
-- and leave nothing behind
CREATE FUNCTION aggs_fail(times int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. times LOOP
        BEGIN
            PERFORM gpu_sum(1 / (x.i - 500)), gpu_sum(n), gpu_count(t) FROM aggs x GROUP BY k;
        EXCEPTION WHEN division_by_zero THEN NULL;
        END;
    END LOOP;
END
$$;
SELECT aggs_fail(20);
SELECT sum(total_bytes) AS before FROM pg_backend_memory_contexts \gset
SELECT aggs_fail(500);
SELECT sum(total_bytes) - :before < 200000 FROM pg_backend_memory_contexts;
-- a statement that is cancelled in any phase
CREATE FUNCTION aggs_slow(int) RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM pg_sleep(0.05); RETURN $1; END $$;
SET statement_timeout = '200ms';
SELECT gpu_sum(aggs_slow(i)) FROM aggs;
SELECT gpu_sum(i) FROM aggs WHERE aggs_slow(i) > 0;
SELECT gpu_sum(i) FROM aggs GROUP BY aggs_slow(i);
SELECT gpu_sum(i) FROM aggs GROUP BY id HAVING aggs_slow(id) > 0;
RESET statement_timeout;
SELECT pg_temp.plan('SELECT gpu_sum(i) FROM aggs GROUP BY aggs_slow(i)') ~ '\(GpuAgg';
-- compiled expressions
SET jit = on;
SET jit_above_cost = 0;
SELECT k, gpu_sum(i * 2), gpu_count(*) FILTER (WHERE upper(t) > 'WORD 3') FROM aggs WHERE f4 > 1 GROUP BY k ORDER BY k LIMIT 2;
RESET jit;
RESET jit_above_cost;

-- what the session's functions tell of it
SELECT gpu_sum(f4), gpu_count(*) FROM aggs;
SELECT engine, rows FROM gpuagg_last_query();

DROP MATERIALIZED VIEW aggs_kept;
DROP TABLE aggs, aggs_few, aggs_none, aggs_one, aggs_temporary, aggs_changed, aggs_long, aggs_many, aggs_wrong;
DROP FUNCTION aggs_beside, aggs_fail, aggs_slow;
