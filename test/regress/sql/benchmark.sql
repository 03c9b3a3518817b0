-- gpuagg_kernel_benchmark: arguments and privileges.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS gpuagg;

SELECT * FROM gpuagg_kernel_benchmark('sort', 'integer');
SELECT * FROM gpuagg_kernel_benchmark('reduce', 'smallint');
SELECT * FROM gpuagg_kernel_benchmark('reduce', 'text', 1);
SELECT * FROM gpuagg_kernel_benchmark('reduce', 'no_such_type');
SELECT * FROM gpuagg_kernel_benchmark('reduce', 'integer', 0);
SELECT * FROM gpuagg_kernel_benchmark('scan', 'int8', -1);
SELECT * FROM gpuagg_kernel_benchmark('scan', 'real', 2147483649);
SELECT * FROM gpuagg_kernel_benchmark(NULL, 'real');

-- Without a device there is nothing to measure.
SET gpuagg.device = 'cpu';
SELECT * FROM gpuagg_kernel_benchmark('reduce', 'integer', 100);
RESET gpuagg.device;

-- Who may call it.
CREATE ROLE regress_gpuagg_bench;
SET ROLE regress_gpuagg_bench;
SELECT * FROM gpuagg_kernel_benchmark('sort', 'integer');
RESET ROLE;
GRANT EXECUTE ON FUNCTION gpuagg_kernel_benchmark(text, text, bigint) TO regress_gpuagg_bench;
SET ROLE regress_gpuagg_bench;
SELECT * FROM gpuagg_kernel_benchmark('sort', 'integer');
RESET ROLE;
REVOKE EXECUTE ON FUNCTION gpuagg_kernel_benchmark(text, text, bigint) FROM regress_gpuagg_bench;
GRANT pg_monitor TO regress_gpuagg_bench;
SET ROLE regress_gpuagg_bench;
SELECT * FROM gpuagg_kernel_benchmark('sort', 'integer');
RESET ROLE;
DROP ROLE regress_gpuagg_bench;
