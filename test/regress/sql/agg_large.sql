-- Queries of so many expressions and columns that one request of the device could not have them: the
-- node GpuAgg from pages, from memory and with workers, beside core's, and in errors.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
LOAD 'gpuagg';
SET gpuagg.enable_agg_scan = on;
SET gpuagg.min_table_pages = 0;
SET max_parallel_workers_per_gather = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
\pset format unaligned
\pset tuples_only on
\getenv folder PG_ABS_SRCDIR
\set beside :folder '/lib/beside.sql'
\i :beside

-- ten columns of each of four types
SELECT string_agg(format('(nullif(i * %s %% 1009, %s) / %s)::%s AS c%s', 7 * c + 1, c, CASE c % 4 WHEN 3 THEN 8.0 ELSE 1 END,
                         (ARRAY['int4', 'int8', 'int2', 'numeric(12,4)'])[c % 4 + 1], c), ', ' ORDER BY c) AS columns
FROM generate_series(0, 39) AS c \gset
CREATE TABLE large WITH (autovacuum_enabled = off) AS
SELECT i AS id, i % 11 AS k, 'w' || i % 5 AS s, :columns FROM generate_series(1, 2600) AS i;
VACUUM ANALYZE large;
SELECT count(*) FROM gpuagg_prefetch('large');

-- Whether columns alone are read, and the first line of what the query gives by core.
CREATE FUNCTION large_beside(VARIADIC queries text[]) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT CASE WHEN plan !~ '\(GpuAgg' THEN 'not used' WHEN plan ~ 'Row by Row' THEN 'row by row' ELSE 'columns' END || ' ' ||
		cardinality(expected) || ' ' || left(expected[1], 60) || differences
	FROM pg_temp.beside('beside.prefix=core_ gpuagg.core_aggregates=off max_parallel_workers_per_gather=0', ARRAY[
		'beside.prefix= gpuagg.core_aggregates=exact max_parallel_workers_per_gather=0 gpuagg.resident=off',
		'beside.prefix= gpuagg.core_aggregates=exact max_parallel_workers_per_gather=0 gpuagg.resident=on',
		'beside.prefix= gpuagg.core_aggregates=exact max_parallel_workers_per_gather=2 gpuagg.resident=off',
		'beside.prefix= gpuagg.core_aggregates=exact max_parallel_workers_per_gather=0 gpuagg.resident=on gpuagg.device=cpu'], queries)
$$;
-- n calls, each of an expression of its own: %1$s and %2$s are columns of a type, 0 to 3, %3$s is a number.
CREATE FUNCTION calls(kind text, n int, type int) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(format(kind, 'c' || 4 * (i % 10) + type, 'c' || 4 * ((i * 7 + 3) % 10) + type, i), ', ' ORDER BY i)
	FROM generate_series(1, n) AS i
$$;
CREATE FUNCTION by_keys(list text, VARIADIC keys text[]) RETURNS text[] LANGUAGE sql AS $$
	SELECT array_agg(CASE key WHEN '' THEN list || ' FROM large' ELSE format('%s, %s FROM large GROUP BY %1$s', key, list) END)
	FROM unnest(keys) AS key
$$;

-- averages and sums, by kinds of keys
SELECT large_beside(VARIADIC by_keys(calls('avg(%1$s * %3$s + %2$s - 2 * %3$s)', 100, 0), '', 'k', 'k, s', 'id'));
SELECT large_beside(VARIADIC by_keys(calls('avg(%1$s * %3$s + %2$s - 2 * %3$s)', 400, 0), '', 'k'));
SELECT large_beside(VARIADIC by_keys(calls('sum(%1$s + %3$s), max(%1$s * 3 - %3$s)', 150, 1), '', 'k'));
SELECT large_beside(VARIADIC by_keys(calls('sum(%1$s * %2$s - %3$s.25)', 200, 3), '', 's'));
SELECT large_beside(VARIADIC by_keys(calls('min(%1$s - %3$s::int2), count(nullif(%2$s, %3$s))', 150, 2), '', 'k'));
SELECT large_beside(VARIADIC by_keys(calls('sum(%1$s * %3$s) FILTER (WHERE %2$s > %3$s), count(*) FILTER (WHERE %2$s <> %3$s)', 150, 0), '', 'k'));
-- as many as a row of results has
SELECT large_beside(VARIADIC by_keys(calls('sum(%1$s - %3$s)', 1600, 0), '', 'k'));
-- one aggregate of many columns
SELECT string_agg('c' || c, ' + ') AS total, string_agg(format('c%s <> %s', c, c + 1), ' AND ') AS conditions FROM generate_series(0, 39) AS c \gset
SELECT large_beside('sum(' || :'total' || ') FROM large', 'k, sum(' || :'total' || ') FROM large GROUP BY k',
	'avg(c0 * c4) FILTER (WHERE ' || :'conditions' || ') FROM large', 'count(*), sum(c0) FROM large WHERE ' || :'conditions',
	's, sum(c0) FILTER (WHERE ' || :'conditions' || ') FROM large GROUP BY s');
SELECT large_beside(format('%s, sum(c%s) FROM large', string_agg('sum(c' || c || ')', ', '), max(c)),
	format('k, %s FROM large GROUP BY k', string_agg('sum(c' || c || ')', ', '))) FROM generate_series(0, 39) AS c;

-- conditions on many constants
SELECT n, large_beside('count(*), sum(c0) FROM large WHERE c4 IN (' || list || ')',
	's, sum(c1) FILTER (WHERE c5 NOT IN (' || list || ', NULL)), count(*) FILTER (WHERE c6 NOT IN (' || list || ')) FROM large GROUP BY s',
	'k, count(*), sum(c7) FROM large WHERE c3 IN (' || list || ') OR ''w'' || id IN (''w' || replace(list, ', ', ''', ''w') || ''') GROUP BY k',
	'k, count(*), sum(c7) FROM large WHERE c3 IN (' || list || ') AND s NOT IN (''' || replace(list, ', ', ''', ''') || ''') GROUP BY k')
FROM (VALUES (255), (258), (900), (2200)) AS counts (n),
	LATERAL (SELECT string_agg((i * 7919 % (3 * n) - n)::text, ', ' ORDER BY i) AS list FROM generate_series(1, n) AS i) AS lists;

-- errors are core's, whichever expression has them, and none where no row counts
SELECT large_beside(calls('sum(%1$s * %3$s)', 250, 0) || ', sum(1000000000 * c0)' || ' FROM large',
	calls('sum(%1$s * %3$s)', 250, 0) || ', sum(1 / (c4 - 500))' || ' FROM large WHERE c4 > 0',
	'k, sum(c4 / (id - 2500)), ' || calls('sum(%1$s * %3$s)', 300, 0) || ' FROM large GROUP BY k',
	calls('sum(%1$s * %3$s)', 250, 0) || ', sum(c4 / (id - 2500)) FILTER (WHERE id <> 2500)' || ' FROM large');
-- and no page is read where columns are in memory
SELECT format('SELECT %s FROM large', calls('gpu_avg(%1$s * %3$s + %2$s - 2 * %3$s)', 400, 0)) AS query \gset
SET gpuagg.resident = on;
SET gpuagg.device = cpu;
\o /dev/null
:query;
\o
SELECT rows, table_pages, resident_pages + resident_confirmed > 0 FROM gpuagg_last_query();
RESET gpuagg.resident;
RESET gpuagg.device;
-- parameters, and a function that no instruction is
SET plan_cache_mode = force_generic_plan;
SELECT calls('sum(%1$s * $1 + %2$s - %3$s)', 300, 0) AS list \gset
PREPARE large_by (int, int) AS SELECT k, :list FROM large WHERE id > $2 GROUP BY k;
PREPARE core_large_by (int, int) AS SELECT k, :list FROM large WHERE id > $2 GROUP BY k;
SELECT large_beside('EXECUTE large_by (3, 100)', 'EXECUTE large_by (NULL, 5)', 'EXECUTE large_by (2000000000, 0)');
SELECT large_beside(calls('sum(%1$s * %3$s - %2$s)', 250, 0) || ', sum(gcd(c0, c4))' || ' FROM large');
DROP TABLE large;
DROP FUNCTION large_beside, calls, by_keys;
