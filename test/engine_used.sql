-- engine_used.sql: after the SQL suite, that the engine it was meant for did the
-- work.  psql variable: name, that of the suite.  A fallback is intended only
-- for doubles too far apart for a scan's window, which some tests make.
SELECT :'name' = 'cpu' AS on_cpu \gset
CREATE TEMP TABLE counted AS
SELECT *, (SELECT coalesce(sum(value::bigint), 0) FROM jsonb_each_text(fallbacks_by_reason)
           WHERE key <> 'range') AS unintended
FROM gpuagg_stat;

\if :on_cpu
SELECT format('cpu batches or rows: %s, %s; device batches: %s',
              cpu_batches, cpu_rows, device_batches) FROM counted;
CREATE TEMP TABLE checks AS
SELECT unnest(ARRAY[device_batches = 0, fallbacks = 0, calls > 0]) AS good FROM counted;
\else
SELECT format('device batches: %s, rows: %s; fallbacks: %s; device: %s %s',
              device_batches, device_rows, fallbacks_by_reason, device_state, device_reason)
FROM counted;
CREATE TEMP TABLE checks AS
SELECT unnest(ARRAY[device_batches > 0, unintended = 0, shared, device_state = 'ready']) AS good
FROM counted;
\endif
SELECT format('%s passed, %s failed', count(*) FILTER (WHERE good),
              count(*) FILTER (WHERE good IS NOT TRUE)) FROM checks;
