-- Where results differ from core's: the examples of doc/differences.md, and no more than they say.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
SET lc_monetary = 'C';
SET intervalstyle = 'postgres';

-- Floats are rounded once, whatever the order of rows.
SELECT sum(x ORDER BY x) AS core_up, sum(x ORDER BY x DESC) AS core_down,
       gpu_sum(x ORDER BY x) AS gpuagg_up, gpu_sum(x ORDER BY x DESC) AS gpuagg_down
FROM (SELECT 1 / i::float8 FROM generate_series(1, 1000) i) v(x);
SELECT var_pop(x) AS core, gpu_var_pop(x) AS gpuagg
FROM (SELECT 1e15 + (i % 2)::float8 FROM generate_series(1, 1000) i) v(x);
SELECT gpu_avg(x ORDER BY x) = gpu_avg(x ORDER BY x DESC) AS avg,
       gpu_stddev(x ORDER BY x) = gpu_stddev(x ORDER BY x DESC) AS stddev
FROM (SELECT 1 / i::float8 FROM generate_series(1, 1000) i) v(x);

-- A sum of real is rounded at the end.
SELECT sum(x) AS core, gpu_sum(x) AS gpuagg
FROM (SELECT 0.1::real FROM generate_series(1, 1000000)) v(x);

-- Only the exact result can be out of range.
SELECT sum(x) FROM (VALUES (1e308::float8), (1e308), (-1e308)) v(x);
SELECT gpu_sum(x) FROM (VALUES (1e308::float8), (1e308), (-1e308)) v(x);
SELECT gpu_sum(x) FROM (VALUES (1e308::float8), (1e308)) v(x);
SELECT sum(x) FROM (VALUES ('92233720368547758.07'::money), ('0.01'), ('-0.01')) v(x);
SELECT gpu_sum(x) FROM (VALUES ('92233720368547758.07'::money), ('0.01'), ('-0.01')) v(x);
SELECT gpu_sum(x) FROM (VALUES ('92233720368547758.07'::money), ('0.01')) v(x);
SELECT sum(x) FROM (VALUES (interval '2147483647 days'), ('1 day'), ('-1 day')) v(x);
SELECT gpu_sum(x) FROM (VALUES (interval '2147483647 days'), ('1 day'), ('-1 day')) v(x);
SELECT gpu_sum(x) FROM (VALUES (interval '2147483647 days'), ('1 day')) v(x);
SELECT avg(x) FROM (VALUES (1e200::float8), (-1e200)) v(x);
SELECT stddev(x) FROM (VALUES (1e200::float8), (-1e200)) v(x);
SELECT gpu_avg(x), gpu_stddev(x) FROM (VALUES (1e200::float8), (-1e200)) v(x);
SELECT variance(x) FROM (VALUES (1e200::float8), (-1e200)) v(x);
SELECT gpu_variance(x) FROM (VALUES (1e200::float8), (-1e200)) v(x);
SELECT avg(x) FROM (VALUES (1.7e308::float8), (1.7e308)) v(x);
SELECT gpu_avg(x) FROM (VALUES (1.7e308::float8), (1.7e308)) v(x);
SELECT avg(x) FROM (VALUES (interval '2147483647 days'), ('1 day')) v(x);
SELECT gpu_avg(x) FROM (VALUES (interval '2147483647 days'), ('1 day')) v(x);

-- An average of nothing but -0.
SELECT sum(x), avg(x) AS core, gpu_avg(x) AS gpuagg FROM (VALUES ('-0'::float8)) v(x);

-- Equal but not the same.
SELECT max(x) AS core, gpu_max(x) AS gpuagg FROM (VALUES (0::float8), ('-0')) v(x);
SELECT max(x) AS core, gpu_max(x) AS gpuagg FROM (VALUES ('-0'), (0::float8)) v(x);
SELECT max(x) AS core, gpu_max(x) AS gpuagg FROM (VALUES (1.00), (1.0)) v(x);
SELECT max(x) AS core, gpu_max(x) AS gpuagg FROM (VALUES (1.0), (1.00)) v(x);
SELECT max(x) AS core, gpu_max(x) AS gpuagg FROM (VALUES (interval '1 month'), ('30 days')) v(x);
SELECT max(x) AS core, gpu_max(x) AS gpuagg FROM (VALUES (interval '30 days'), ('1 month')) v(x);
