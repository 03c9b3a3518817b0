-- Aggregates of floats: averages, variances and deviations, rounded once from exact sums; and
-- where they differ from core's, which round at every row.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
\pset null '(null)'

-- Where core's rounding errors do not show, the results are the same.
CREATE TEMP TABLE floats (i int, a float4, b float8);
INSERT INTO floats SELECT i, i / 4.0, -i / 8.0 FROM generate_series(1, 63) i;
INSERT INTO floats VALUES (64);
SELECT gpu_sum(a), gpu_avg(a), gpu_var_pop(a), gpu_var_samp(a), gpu_variance(a) FROM floats;
SELECT sum(a), avg(a), var_pop(a), var_samp(a), variance(a) FROM floats;
SELECT gpu_sum(b), gpu_avg(b), gpu_var_pop(b), gpu_var_samp(b), gpu_variance(b) FROM floats;
SELECT sum(b), avg(b), var_pop(b), var_samp(b), variance(b) FROM floats;
SELECT gpu_stddev_pop(a), gpu_stddev_samp(a), gpu_stddev(a) FROM floats;
SELECT stddev_pop(a), stddev_samp(a), stddev(a) FROM floats;
SELECT pg_typeof(gpu_sum(a)), pg_typeof(gpu_avg(a)), pg_typeof(gpu_var_pop(a)), pg_typeof(gpu_stddev(a)),
       pg_typeof(gpu_sum(b)), pg_typeof(gpu_avg(b)), pg_typeof(gpu_var_pop(b)), pg_typeof(gpu_stddev(b))
FROM floats;

-- No row, only NULLs, one row.
SELECT gpu_avg(b), gpu_var_pop(b), gpu_var_samp(b), gpu_stddev_pop(b), gpu_stddev(b) FROM floats WHERE false;
SELECT gpu_avg(b), gpu_var_pop(b), gpu_var_samp(b), gpu_stddev_pop(b), gpu_stddev(b) FROM floats WHERE i = 64;
SELECT gpu_avg(b), gpu_var_pop(b), gpu_var_samp(b), gpu_stddev_pop(b), gpu_stddev(b) FROM floats WHERE i IN (8, 64);

-- NaN and infinities as core has them; an average of nothing but -0 is -0, of which core drops the sign.
SELECT x, gpu_avg(v) AS avg, gpu_var_pop(v) AS var_pop, gpu_variance(v) AS variance, gpu_stddev(v) AS stddev,
       avg(v) AS core_avg, var_pop(v) AS core_var_pop, variance(v) AS core_variance, stddev(v) AS core_stddev
FROM unnest(ARRAY['{NaN}', '{Infinity}', '{1,NaN}', '{1,Infinity}', '{-Infinity,1}', '{Infinity,-Infinity}',
      '{-0,-0}', '{-0,0}', '{1,-1}']) x, unnest(x::float8[]) v
GROUP BY x ORDER BY x COLLATE "C";

-- Differences from core.
-- One rounding: core's results here are off in the last digits.
SELECT gpu_avg(v), avg(v) = gpu_avg(v) AS core, gpu_var_samp(v), var_samp(v) = gpu_var_samp(v) AS core,
       gpu_stddev(v), stddev(v) = gpu_stddev(v) AS core
FROM unnest('{0.1,0.2,0.4}'::float8[]) v;
SELECT gpu_avg(v), avg(v) FROM unnest('{1e16,1,-1e16}'::float8[]) v;
-- float4 is rounded once, not at each row.
SELECT gpu_sum(v), sum(v) FROM (SELECT 16777216::float4 UNION ALL SELECT 1 FROM generate_series(1, 100)) s(v);
-- An error only when the exact result is out of range, not for an intermediate one.
SELECT gpu_sum(v), gpu_avg(v) FROM unnest('{1e308,1e308,-1e308}'::float8[]) v;
SELECT sum(v) FROM unnest('{1e308,1e308,-1e308}'::float8[]) v;
SELECT gpu_avg(v), gpu_stddev_pop(v) FROM unnest('{1e200,-1e200}'::float8[]) v;
SELECT avg(v) FROM unnest('{1e200,-1e200}'::float8[]) v;
SELECT stddev_pop(v) FROM unnest('{1e200,-1e200}'::float8[]) v;
SELECT gpu_avg(v) FROM unnest('{1.7976931348623157e308,1.7976931348623157e308}'::float8[]) v;
SELECT avg(v) FROM unnest('{1.7976931348623157e308,1.7976931348623157e308}'::float8[]) v;
SELECT gpu_var_pop(v) FROM unnest('{1e200,-1e200}'::float8[]) v;
SELECT gpu_sum(v) FROM unnest('{1e308,1e308}'::float8[]) v;
SELECT gpu_sum(v) FROM unnest('{3e38,3e38}'::float4[]) v;
SELECT gpu_avg(v) FROM unnest('{3e38,3e38}'::float4[]) v;
-- The deviation is the root of the exact variance, also where that would be 0 or infinite as a float.
SELECT gpu_stddev_pop(v), gpu_var_pop(v), stddev_pop(v) FROM unnest('{1e-200,-1e-200}'::float8[]) v;
SELECT gpu_stddev_pop(v) FROM unnest('{1.7976931348623157e308,-1.7976931348623157e308}'::float8[]) v;
-- The order of rows does not matter.
SELECT count(DISTINCT gpu), count(DISTINCT core) > 1 AS core_differs
FROM (SELECT k, gpu_stddev(v ORDER BY sin(k * i)) AS gpu, stddev(v ORDER BY sin(k * i)) AS core
      FROM generate_series(1, 20) k, (SELECT i, 1 / i::float8 AS v FROM generate_series(1, 100) i) s
      GROUP BY k) s;

-- Moving frames: values that leave a frame leave nothing behind.
SELECT i, v, gpu_sum(v) OVER w AS sum, gpu_avg(v) OVER w AS avg, gpu_var_pop(v) OVER w AS var_pop,
       gpu_stddev(v) OVER w AS stddev
FROM (VALUES (1, 1e150::float8), (2, 1), (3, NULL), (4, 'NaN'), (5, 2), (6, 'Infinity'), (7, 3), (8, '-0'),
      (9, '-0'), (10, 5), (11, 1e-150), (12, NULL)) s(i, v)
WINDOW w AS (ORDER BY i ROWS 1 PRECEDING) ORDER BY i;
SELECT i, gpu_var_pop(v) OVER w AS var_pop
FROM (VALUES (1, 1e300::float8), (2, 1e300), (3, 1e200), (4, -1e200), (5, 1), (6, 2)) s(i, v)
WINDOW w AS (ORDER BY i ROWS 1 PRECEDING) ORDER BY i LIMIT 2;

-- Around the sizes of batches the results are those of one row after the other.
CREATE TEMP TABLE hard AS
SELECT i, (i % 7 - 3) * exp(((i * 7919) % 1009 - 500) / 2.0) * sin(i) AS v FROM generate_series(1, 4100) i;
SELECT n, count(*), bool_and(a.avg = f.avg) AS avg, bool_and(a.var_pop = f.var_pop) AS var_pop,
       bool_and(a.stddev = f.stddev) AS stddev
FROM unnest(ARRAY[2, 31, 32, 33, 2047, 2048, 2049, 4095, 4096, 4097]) n,
     LATERAL (SELECT gpu_avg(v) AS avg, gpu_var_pop(v) AS var_pop, gpu_stddev(v) AS stddev
              FROM hard WHERE i <= n) a,
     LATERAL (SELECT gpu_avg(v) OVER w AS avg, gpu_var_pop(v) OVER w AS var_pop, gpu_stddev(v) OVER w AS stddev
              FROM hard WHERE i <= n
              WINDOW w AS (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) LIMIT 1) f
GROUP BY n ORDER BY n;

-- Aggregates of one column share their state.
SELECT count(*) FROM (SELECT gpu_sum(b), gpu_avg(b), gpu_var_pop(b), gpu_stddev(b), gpu_variance(b) FROM floats
                      GROUP BY i % 3) s;
