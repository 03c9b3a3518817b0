-- Create, drop and create again; what the extension leaves behind; who may call what.
SET client_min_messages = warning;
\set VERBOSITY terse
DROP EXTENSION IF EXISTS gpuagg;
CREATE EXTENSION gpuagg;
SELECT extname, extversion, extrelocatable FROM pg_extension WHERE extname = 'gpuagg';
SELECT gpuagg_version() LIKE (SELECT extversion || '%' FROM pg_extension WHERE extname = 'gpuagg')
       AS version_matches;
SELECT gpu_sum(x) FROM generate_series(1, 10) x;
DROP EXTENSION gpuagg;

-- Nothing of ours is left.
SELECT count(*) FROM pg_proc WHERE proname LIKE 'gpu%' OR probin LIKE '%gpuagg%';
SELECT count(*) FROM pg_class WHERE relname LIKE 'gpuagg%';
SELECT gpu_sum(1);
CREATE EXTENSION gpuagg;
SELECT gpu_sum(x) FROM generate_series(1, 10) x;

-- It can live in a schema of its own.
DROP EXTENSION gpuagg;
CREATE SCHEMA elsewhere;
CREATE EXTENSION gpuagg SCHEMA elsewhere;
SELECT elsewhere.gpu_sum(x) FROM generate_series(1, 10) x;
SELECT elsewhere.gpu_running_sum(x) OVER (ORDER BY x) FROM generate_series(1, 3) x;
SELECT count(*) >= 0 AS readable FROM elsewhere.gpuagg_stat;
DROP SCHEMA elsewhere CASCADE;
SELECT count(*) FROM pg_extension WHERE extname = 'gpuagg';

-- Rolled back, it was never there; dropped inside a transaction that used it, it is gone.
BEGIN;
CREATE EXTENSION gpuagg;
SELECT gpu_sum(x) FROM generate_series(1, 10) x;
ROLLBACK;
SELECT count(*) FROM pg_extension WHERE extname = 'gpuagg';
BEGIN;
CREATE EXTENSION gpuagg;
SELECT gpu_sum(x::float8) FROM generate_series(1, 10) x;
DROP EXTENSION gpuagg;
COMMIT;
CREATE EXTENSION gpuagg;

-- A view that uses an aggregate protects it.
CREATE VIEW uses_gpu_sum AS SELECT gpu_sum(x) AS s FROM generate_series(1, 10) x;
DROP EXTENSION gpuagg;
DROP VIEW uses_gpu_sum;

-- The functions that users call, and what they return.
SELECT p.prokind, p.proname, pg_get_function_arguments(p.oid) AS arguments,
       format_type(p.prorettype, NULL) AS returns
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
WHERE e.extname = 'gpuagg' AND d.deptype = 'e' AND p.proname IN ('gpu_sum', 'gpu_count',
      'gpu_running_sum')
ORDER BY p.prokind, p.proname COLLATE "C", p.prorettype::regtype::text COLLATE "C", arguments;

-- Only a superuser may install it: it is not trusted.
SELECT superuser, trusted FROM pg_available_extension_versions
WHERE name = 'gpuagg' AND installed;
CREATE ROLE regress_gpuagg_plain;
DO $$
BEGIN
    EXECUTE format('GRANT CREATE ON DATABASE %I TO regress_gpuagg_plain', current_database());
END
$$;
DROP EXTENSION gpuagg;
SET ROLE regress_gpuagg_plain;
CREATE EXTENSION gpuagg;
RESET ROLE;
CREATE EXTENSION gpuagg;

-- A role without privileges computes and looks, and controls nothing.
SET ROLE regress_gpuagg_plain;
SELECT gpu_sum(x), gpu_count(*), gpu_sum(x::float8) FROM generate_series(1, 10) x;
SELECT gpu_running_sum(x) OVER (ORDER BY x) FROM generate_series(1, 3) x;
SELECT count(*) >= 0 AS readable FROM gpuagg_stat;
SELECT count(*) >= 0 AS readable FROM gpuagg_devices();
SELECT count(*) >= 0 AS readable FROM gpuagg_last_query();
SELECT gpuagg_stat_reset();
SELECT gpuagg_stop();
SELECT gpuagg_restart();
RESET ROLE;

-- Revoking EXECUTE works as for any function.
REVOKE EXECUTE ON FUNCTION gpu_sum(int4) FROM PUBLIC;
SET ROLE regress_gpuagg_plain;
SELECT gpu_sum(x) FROM generate_series(1, 10) x;
SELECT gpu_sum(x) OVER () FROM generate_series(1, 2) x;
SELECT gpu_sum(x::int8) FROM generate_series(1, 10) x;
RESET ROLE;
GRANT EXECUTE ON FUNCTION gpu_sum(int4) TO PUBLIC;

DO $$
BEGIN
    EXECUTE format('REVOKE CREATE ON DATABASE %I FROM regress_gpuagg_plain', current_database());
END
$$;
DROP ROLE regress_gpuagg_plain;
