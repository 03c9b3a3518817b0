-- Array functions and the benchmark: signatures, labels, who may call what.
\set ECHO none
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS gpuagg;
BEGIN;
SELECT no_plan();

-- Signatures and types of results.
SELECT unnest(ARRAY[
    has_function('gpu_reduce', ARRAY[t || '[]', 'text', 'text'], format('gpu_reduce(%s[])', t)),
    function_returns('gpu_reduce', ARRAY[t || '[]', 'text', 'text'], r),
    has_function('gpu_scan', ARRAY[t || '[]', 'text', 'boolean', 'text'], format('gpu_scan(%s[])', t)),
    function_returns('gpu_scan', ARRAY[t || '[]', 'text', 'boolean', 'text'], r || '[]'),
    has_function('gpu_segmented_scan', ARRAY[t || '[]', 'boolean[]', 'text', 'boolean', 'text'],
                 format('gpu_segmented_scan(%s[])', t)),
    function_returns('gpu_segmented_scan', ARRAY[t || '[]', 'boolean[]', 'text', 'boolean', 'text'],
                     r || '[]')])
FROM (VALUES ('integer', 'bigint'), ('bigint', 'bigint'), ('real', 'real'),
             ('double precision', 'double precision')) v(t, r);
CREATE TEMP TABLE array_functions AS SELECT * FROM pg_proc
WHERE proname IN ('gpu_reduce', 'gpu_scan', 'gpu_segmented_scan');
SELECT is((SELECT count(*) FROM array_functions), 12::bigint, 'twelve array functions');

-- Named arguments and their defaults.
SELECT is((SELECT array_agg(DISTINCT regexp_replace(pg_get_function_arguments(oid), '"values" [a-z ]+', '"values" t')
                            ORDER BY regexp_replace(pg_get_function_arguments(oid), '"values" [a-z ]+', '"values" t'))
           FROM array_functions), ARRAY[
    $$"values" t[], heads boolean[], op text DEFAULT 'sum'::text, exclusive boolean DEFAULT false, algorithm text DEFAULT 'production'::text$$,
    $$"values" t[], op text DEFAULT 'sum'::text, algorithm text DEFAULT 'production'::text$$,
    $$"values" t[], op text DEFAULT 'sum'::text, exclusive boolean DEFAULT false, algorithm text DEFAULT 'production'::text$$],
    'arguments by name, with defaults');
SELECT is(gpu_reduce(algorithm => 'sequential', op => 'max', "values" => '{1,2}'::int4[]), 2::bigint,
          'all arguments by name');

-- Labels: what a call gives depends on settings and device only in whether there is an error.
SELECT is_empty($$SELECT oid::regprocedure FROM array_functions WHERE provolatile <> 's'$$, 'stable');
SELECT is_empty($$SELECT oid::regprocedure FROM array_functions WHERE proparallel <> 'r'$$,
                'parallel restricted: the report is the session''s');
SELECT is_empty($$SELECT oid::regprocedure FROM array_functions WHERE NOT proisstrict$$, 'strict');
SELECT is_empty($$SELECT oid::regprocedure FROM array_functions WHERE procost < 100$$,
                'the planner knows that they are no trifle');

-- Any algorithm of the CPU gives the production result where all are exact.
SELECT is(gpu_reduce(v, op, a), gpu_reduce(v, op), format('%s by %s', op, a))
FROM (SELECT array_agg((i * 7919 % 1000)::int4) AS v FROM generate_series(1, 777) i) s,
     unnest(ARRAY['sum', 'min', 'max']) op, unnest(ARRAY['sequential', 'recursive_halving']) a;
SELECT is(gpu_scan(v, op, e, 'sequential'), gpu_scan(v, op, e), format('%s, exclusive %s', op, e))
FROM (SELECT array_agg((i * 7919 % 1000)::float8) AS v FROM generate_series(1, 777) i) s,
     unnest(ARRAY['sum', 'min', 'max']) op, unnest(ARRAY[true, false]) e;
SELECT is(gpu_segmented_scan(v, h, op, e, 'sequential'), gpu_segmented_scan(v, h, op, e),
          format('segmented %s, exclusive %s', op, e))
FROM (SELECT array_agg((i * 7919 % 1000)::int8) AS v, array_agg(i % 10 = 3) AS h
      FROM generate_series(1, 777) i) s,
     unnest(ARRAY['sum', 'min', 'max']) op, unnest(ARRAY[true, false]) e;
-- The sum of an array is the sum of its elements.
SELECT is(gpu_reduce(array_agg(x)), gpu_sum(x), 'gpu_reduce and gpu_sum') FROM
    (SELECT 1 / i::float8 AS x FROM generate_series(1, 5000) i) s;
SELECT is(array_agg(s), (SELECT gpu_scan(array_agg(1 / i::float8 ORDER BY i)) FROM generate_series(1, 5000) i),
          'gpu_scan and gpu_running_sum') FROM
    (SELECT gpu_running_sum(1 / i::float8) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS s
     FROM generate_series(1, 5000) i ORDER BY i) r;

-- The benchmark.
SELECT has_function('gpuagg_kernel_benchmark', ARRAY['text', 'text', 'bigint']);
SELECT ok(proretset AND provolatile = 'v', 'gpuagg_kernel_benchmark gives rows and is volatile')
FROM pg_proc WHERE proname = 'gpuagg_kernel_benchmark';
SELECT is((SELECT proargnames[4:] FROM pg_proc WHERE proname = 'gpuagg_kernel_benchmark'),
          '{algorithm,rows,median_us,gb_per_s,bandwidth_share,step_speedup,cumulative_speedup,additions_per_element,correct}',
          'columns of the benchmark');
CREATE ROLE regress_gpuagg_watcher IN ROLE pg_monitor;
SELECT ok(has_function_privilege('regress_gpuagg_watcher', 'gpuagg_kernel_benchmark(text, text, bigint)', 'EXECUTE'),
          'pg_monitor may run benchmarks');
SET ROLE regress_gpuagg_watcher;
SELECT throws_ok($$SELECT * FROM gpuagg_kernel_benchmark('no', 'int4', 1)$$, '22023');
RESET ROLE;

SELECT * FROM finish();
ROLLBACK;
