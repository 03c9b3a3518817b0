-- gpuagg 0.1.0

\echo Use "CREATE EXTENSION gpuagg" to load this file. \quit

-- Planning

CREATE FUNCTION gpuagg_support(internal) RETURNS internal
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_support';
COMMENT ON FUNCTION gpuagg_support(internal) IS
	'planner support function: loads the library while a query is planned';

-- Sums of integers

CREATE FUNCTION gpuagg_int2_accum(internal, smallint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int2_accum';
COMMENT ON FUNCTION gpuagg_int2_accum(internal, smallint) IS
	'transition function of gpu_sum(smallint)';

CREATE FUNCTION gpuagg_int2_accum_inv(internal, smallint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int2_accum_inv';
COMMENT ON FUNCTION gpuagg_int2_accum_inv(internal, smallint) IS
	'inverse transition function of gpu_sum(smallint)';

CREATE FUNCTION gpuagg_int4_accum(internal, integer) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int4_accum';
COMMENT ON FUNCTION gpuagg_int4_accum(internal, integer) IS
	'transition function of gpu_sum(integer)';

CREATE FUNCTION gpuagg_int4_accum_inv(internal, integer) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int4_accum_inv';
COMMENT ON FUNCTION gpuagg_int4_accum_inv(internal, integer) IS
	'inverse transition function of gpu_sum(integer)';

CREATE FUNCTION gpuagg_int8_accum(internal, bigint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int8_accum';
COMMENT ON FUNCTION gpuagg_int8_accum(internal, bigint) IS
	'transition function of gpu_sum(bigint)';

CREATE FUNCTION gpuagg_int8_accum_inv(internal, bigint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int8_accum_inv';
COMMENT ON FUNCTION gpuagg_int8_accum_inv(internal, bigint) IS
	'inverse transition function of gpu_sum(bigint)';

CREATE FUNCTION gpuagg_int_combine(internal, internal) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_int_combine';
COMMENT ON FUNCTION gpuagg_int_combine(internal, internal) IS
	'combine function of gpu_sum over integers';

CREATE FUNCTION gpuagg_int_serialize(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_int_serialize';
COMMENT ON FUNCTION gpuagg_int_serialize(internal) IS
	'serialization function of gpu_sum over integers';

CREATE FUNCTION gpuagg_int_deserialize(bytea, internal) RETURNS internal
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_int_deserialize';
COMMENT ON FUNCTION gpuagg_int_deserialize(bytea, internal) IS
	'deserialization function of gpu_sum over integers';

CREATE FUNCTION gpuagg_int_sum_int8(internal) RETURNS bigint
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_int_sum_int8';
COMMENT ON FUNCTION gpuagg_int_sum_int8(internal) IS
	'final function of gpu_sum(smallint) and gpu_sum(integer)';

CREATE FUNCTION gpuagg_int_sum_numeric(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_int_sum_numeric';
COMMENT ON FUNCTION gpuagg_int_sum_numeric(internal) IS
	'final function of gpu_sum(bigint)';

CREATE AGGREGATE gpu_sum(smallint) (
	SFUNC = gpuagg_int2_accum, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_int_sum_int8,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int2_accum, MINVFUNC = gpuagg_int2_accum_inv, MSTYPE = internal, MSSPACE = 64,
	MFINALFUNC = gpuagg_int_sum_int8,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_sum(smallint) IS
	'exact sum of all non-null smallint values';

CREATE AGGREGATE gpu_sum(integer) (
	SFUNC = gpuagg_int4_accum, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_int_sum_int8,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int4_accum, MINVFUNC = gpuagg_int4_accum_inv, MSTYPE = internal, MSSPACE = 64,
	MFINALFUNC = gpuagg_int_sum_int8,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_sum(integer) IS
	'exact sum of all non-null integer values';

CREATE AGGREGATE gpu_sum(bigint) (
	SFUNC = gpuagg_int8_accum, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_int_sum_numeric,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int8_accum, MINVFUNC = gpuagg_int8_accum_inv, MSTYPE = internal, MSSPACE = 64,
	MFINALFUNC = gpuagg_int_sum_numeric,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_sum(bigint) IS
	'exact sum of all non-null bigint values';

-- Sums of floats

CREATE FUNCTION gpuagg_float4_accum(internal, real) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_float4_accum';
COMMENT ON FUNCTION gpuagg_float4_accum(internal, real) IS
	'transition function of gpu_sum(real)';

CREATE FUNCTION gpuagg_float4_accum_inv(internal, real) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_float4_accum_inv';
COMMENT ON FUNCTION gpuagg_float4_accum_inv(internal, real) IS
	'inverse transition function of gpu_sum(real)';

CREATE FUNCTION gpuagg_float8_accum(internal, double precision) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_float8_accum';
COMMENT ON FUNCTION gpuagg_float8_accum(internal, double precision) IS
	'transition function of gpu_sum(double precision)';

CREATE FUNCTION gpuagg_float8_accum_inv(internal, double precision) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_float8_accum_inv';
COMMENT ON FUNCTION gpuagg_float8_accum_inv(internal, double precision) IS
	'inverse transition function of gpu_sum(double precision)';

CREATE FUNCTION gpuagg_float_combine(internal, internal) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_float_combine';
COMMENT ON FUNCTION gpuagg_float_combine(internal, internal) IS
	'combine function of gpu_sum over floats';

CREATE FUNCTION gpuagg_float_serialize(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_float_serialize';
COMMENT ON FUNCTION gpuagg_float_serialize(internal) IS
	'serialization function of gpu_sum over floats';

CREATE FUNCTION gpuagg_float_deserialize(bytea, internal) RETURNS internal
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_float_deserialize';
COMMENT ON FUNCTION gpuagg_float_deserialize(bytea, internal) IS
	'deserialization function of gpu_sum over floats';

CREATE FUNCTION gpuagg_float_sum_float4(internal) RETURNS real
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_float_sum_float4';
COMMENT ON FUNCTION gpuagg_float_sum_float4(internal) IS
	'final function of gpu_sum(real)';

CREATE FUNCTION gpuagg_float_sum_float8(internal) RETURNS double precision
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_float_sum_float8';
COMMENT ON FUNCTION gpuagg_float_sum_float8(internal) IS
	'final function of gpu_sum(double precision)';

CREATE AGGREGATE gpu_sum(real) (
	SFUNC = gpuagg_float4_accum, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_float_sum_float4,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	MSFUNC = gpuagg_float4_accum, MINVFUNC = gpuagg_float4_accum_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_float_sum_float4,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_sum(real) IS
	'exact sum of all non-null real values, rounded once';

CREATE AGGREGATE gpu_sum(double precision) (
	SFUNC = gpuagg_float8_accum, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_float_sum_float8,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	MSFUNC = gpuagg_float8_accum, MINVFUNC = gpuagg_float8_accum_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_float_sum_float8,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_sum(double precision) IS
	'exact sum of all non-null double precision values, rounded once';

-- Sums of numerics: core's own numeric code

CREATE FUNCTION gpuagg_numeric_accum(internal, numeric) RETURNS internal
	LANGUAGE internal IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'numeric_avg_accum';
COMMENT ON FUNCTION gpuagg_numeric_accum(internal, numeric) IS
	'transition function of gpu_sum(numeric)';

CREATE FUNCTION gpuagg_numeric_accum_inv(internal, numeric) RETURNS internal
	LANGUAGE internal IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'numeric_accum_inv';
COMMENT ON FUNCTION gpuagg_numeric_accum_inv(internal, numeric) IS
	'inverse transition function of gpu_sum(numeric)';

CREATE AGGREGATE gpu_sum(numeric) (
	SFUNC = gpuagg_numeric_accum, STYPE = internal, SSPACE = 128,
	FINALFUNC = numeric_sum,
	COMBINEFUNC = numeric_avg_combine, SERIALFUNC = numeric_avg_serialize, DESERIALFUNC = numeric_avg_deserialize,
	MSFUNC = gpuagg_numeric_accum, MINVFUNC = gpuagg_numeric_accum_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = numeric_sum,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_sum(numeric) IS
	'exact sum of all non-null numeric values';

-- Counts

CREATE FUNCTION gpuagg_count_accum(bigint) RETURNS bigint
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'int8inc';
COMMENT ON FUNCTION gpuagg_count_accum(bigint) IS
	'transition function of gpu_count(*)';

CREATE FUNCTION gpuagg_count_accum_any(bigint, "any") RETURNS bigint
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'int8inc_any';
COMMENT ON FUNCTION gpuagg_count_accum_any(bigint, "any") IS
	'transition function of gpu_count(any)';

CREATE FUNCTION gpuagg_count_accum_inv(bigint) RETURNS bigint
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'int8dec';
COMMENT ON FUNCTION gpuagg_count_accum_inv(bigint) IS
	'inverse transition function of gpu_count(*)';

CREATE FUNCTION gpuagg_count_accum_any_inv(bigint, "any") RETURNS bigint
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'int8dec_any';
COMMENT ON FUNCTION gpuagg_count_accum_any_inv(bigint, "any") IS
	'inverse transition function of gpu_count(any)';

CREATE AGGREGATE gpu_count(*) (
	SFUNC = gpuagg_count_accum, STYPE = bigint, INITCOND = '0',
	COMBINEFUNC = int8pl,
	MSFUNC = gpuagg_count_accum, MINVFUNC = gpuagg_count_accum_inv,
	MSTYPE = bigint, MINITCOND = '0',
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_count(*) IS
	'number of rows';

CREATE AGGREGATE gpu_count("any") (
	SFUNC = gpuagg_count_accum_any, STYPE = bigint, INITCOND = '0',
	COMBINEFUNC = int8pl,
	MSFUNC = gpuagg_count_accum_any, MINVFUNC = gpuagg_count_accum_any_inv,
	MSTYPE = bigint, MINITCOND = '0',
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_count("any") IS
	'number of rows whose value is not null';

-- Running sums

CREATE FUNCTION gpu_running_sum(x smallint, exclusive boolean DEFAULT false) RETURNS bigint
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_sum_int2';
COMMENT ON FUNCTION gpu_running_sum(smallint, boolean) IS
	'exact running sum of smallint values over the window''s partition';

CREATE FUNCTION gpu_running_sum(x integer, exclusive boolean DEFAULT false) RETURNS bigint
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_sum_int4';
COMMENT ON FUNCTION gpu_running_sum(integer, boolean) IS
	'exact running sum of integer values over the window''s partition';

CREATE FUNCTION gpu_running_sum(x bigint, exclusive boolean DEFAULT false) RETURNS numeric
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_sum_int8';
COMMENT ON FUNCTION gpu_running_sum(bigint, boolean) IS
	'exact running sum of bigint values over the window''s partition';

CREATE FUNCTION gpu_running_sum(x real, exclusive boolean DEFAULT false) RETURNS real
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_sum_float4';
COMMENT ON FUNCTION gpu_running_sum(real, boolean) IS
	'exact running sum of real values over the window''s partition, rounded once at every row';

CREATE FUNCTION gpu_running_sum(x double precision, exclusive boolean DEFAULT false) RETURNS double precision
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_sum_float8';
COMMENT ON FUNCTION gpu_running_sum(double precision, boolean) IS
	'exact running sum of double precision values over the window''s partition, rounded once at every row';

CREATE FUNCTION gpu_running_sum(x numeric, exclusive boolean DEFAULT false) RETURNS numeric
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_sum_numeric';
COMMENT ON FUNCTION gpu_running_sum(numeric, boolean) IS
	'exact running sum of numeric values over the window''s partition';

-- Arrays: every algorithm by name
--
-- Whether a call succeeds can depend on the settings and on the device, hence STABLE.

CREATE FUNCTION gpu_reduce("values" integer[], op text DEFAULT 'sum', algorithm text DEFAULT 'production')
	RETURNS bigint
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000
	AS 'MODULE_PATHNAME', 'gpuagg_reduce_array';
COMMENT ON FUNCTION gpu_reduce(integer[], text, text) IS
	'sum, min or max of the elements of an array, by the algorithm of that name';

CREATE FUNCTION gpu_reduce("values" bigint[], op text DEFAULT 'sum', algorithm text DEFAULT 'production')
	RETURNS bigint
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000
	AS 'MODULE_PATHNAME', 'gpuagg_reduce_array';
COMMENT ON FUNCTION gpu_reduce(bigint[], text, text) IS
	'sum, min or max of the elements of an array, by the algorithm of that name';

CREATE FUNCTION gpu_reduce("values" real[], op text DEFAULT 'sum', algorithm text DEFAULT 'production')
	RETURNS real
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000
	AS 'MODULE_PATHNAME', 'gpuagg_reduce_array';
COMMENT ON FUNCTION gpu_reduce(real[], text, text) IS
	'sum, min or max of the elements of an array, by the algorithm of that name';

CREATE FUNCTION gpu_reduce("values" double precision[], op text DEFAULT 'sum', algorithm text DEFAULT 'production')
	RETURNS double precision
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000
	AS 'MODULE_PATHNAME', 'gpuagg_reduce_array';
COMMENT ON FUNCTION gpu_reduce(double precision[], text, text) IS
	'sum, min or max of the elements of an array, by the algorithm of that name';

CREATE FUNCTION gpu_scan("values" integer[], op text DEFAULT 'sum', exclusive boolean DEFAULT false,
	algorithm text DEFAULT 'production')
	RETURNS bigint[]
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000
	AS 'MODULE_PATHNAME', 'gpuagg_scan_array';
COMMENT ON FUNCTION gpu_scan(integer[], text, boolean, text) IS
	'running sums, minima or maxima of the elements of an array, by the algorithm of that name';

CREATE FUNCTION gpu_scan("values" bigint[], op text DEFAULT 'sum', exclusive boolean DEFAULT false,
	algorithm text DEFAULT 'production')
	RETURNS bigint[]
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000
	AS 'MODULE_PATHNAME', 'gpuagg_scan_array';
COMMENT ON FUNCTION gpu_scan(bigint[], text, boolean, text) IS
	'running sums, minima or maxima of the elements of an array, by the algorithm of that name';

CREATE FUNCTION gpu_scan("values" real[], op text DEFAULT 'sum', exclusive boolean DEFAULT false,
	algorithm text DEFAULT 'production')
	RETURNS real[]
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000
	AS 'MODULE_PATHNAME', 'gpuagg_scan_array';
COMMENT ON FUNCTION gpu_scan(real[], text, boolean, text) IS
	'running sums, minima or maxima of the elements of an array, by the algorithm of that name';

CREATE FUNCTION gpu_scan("values" double precision[], op text DEFAULT 'sum', exclusive boolean DEFAULT false,
	algorithm text DEFAULT 'production')
	RETURNS double precision[]
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000
	AS 'MODULE_PATHNAME', 'gpuagg_scan_array';
COMMENT ON FUNCTION gpu_scan(double precision[], text, boolean, text) IS
	'running sums, minima or maxima of the elements of an array, by the algorithm of that name';

CREATE FUNCTION gpu_segmented_scan("values" integer[], heads boolean[], op text DEFAULT 'sum',
	exclusive boolean DEFAULT false, algorithm text DEFAULT 'production')
	RETURNS bigint[]
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000
	AS 'MODULE_PATHNAME', 'gpuagg_segmented_scan_array';
COMMENT ON FUNCTION gpu_segmented_scan(integer[], boolean[], text, boolean, text) IS
	'gpu_scan that starts anew at each element whose head is true';

CREATE FUNCTION gpu_segmented_scan("values" bigint[], heads boolean[], op text DEFAULT 'sum',
	exclusive boolean DEFAULT false, algorithm text DEFAULT 'production')
	RETURNS bigint[]
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000
	AS 'MODULE_PATHNAME', 'gpuagg_segmented_scan_array';
COMMENT ON FUNCTION gpu_segmented_scan(bigint[], boolean[], text, boolean, text) IS
	'gpu_scan that starts anew at each element whose head is true';

CREATE FUNCTION gpu_segmented_scan("values" real[], heads boolean[], op text DEFAULT 'sum',
	exclusive boolean DEFAULT false, algorithm text DEFAULT 'production')
	RETURNS real[]
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000
	AS 'MODULE_PATHNAME', 'gpuagg_segmented_scan_array';
COMMENT ON FUNCTION gpu_segmented_scan(real[], boolean[], text, boolean, text) IS
	'gpu_scan that starts anew at each element whose head is true';

CREATE FUNCTION gpu_segmented_scan("values" double precision[], heads boolean[], op text DEFAULT 'sum',
	exclusive boolean DEFAULT false, algorithm text DEFAULT 'production')
	RETURNS double precision[]
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000
	AS 'MODULE_PATHNAME', 'gpuagg_segmented_scan_array';
COMMENT ON FUNCTION gpu_segmented_scan(double precision[], boolean[], text, boolean, text) IS
	'gpu_scan that starts anew at each element whose head is true';

-- Administration

CREATE FUNCTION gpuagg_version() RETURNS text
	LANGUAGE C STABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_version';
COMMENT ON FUNCTION gpuagg_version() IS
	'version of the library that this session has loaded';

CREATE FUNCTION gpuagg_devices(
	OUT device integer,
	OUT name text,
	OUT capability text,
	OUT multiprocessors integer,
	OUT memory_total bigint,
	OUT memory_free bigint,
	OUT usable boolean,
	OUT reason text) RETURNS SETOF record
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 1
	AS 'MODULE_PATHNAME', 'gpuagg_devices';
COMMENT ON FUNCTION gpuagg_devices() IS
	'devices that the device program sees, memory in bytes; or one row with the reason why there is none';

CREATE FUNCTION gpuagg_last_query(
	OUT engine text,
	OUT cpu_batches bigint,
	OUT device_batches bigint,
	OUT rows bigint,
	OUT bytes bigint,
	OUT fallbacks bigint,
	OUT reason text) RETURNS record
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED
	AS 'MODULE_PATHNAME', 'gpuagg_last_query';
COMMENT ON FUNCTION gpuagg_last_query() IS
	'engines that did the work of this session''s last query with gpuagg, and why not the device';

CREATE FUNCTION gpuagg_stat_get(
	OUT calls bigint,
	OUT cpu_batches bigint,
	OUT cpu_rows bigint,
	OUT cpu_bytes bigint,
	OUT device_batches bigint,
	OUT device_rows bigint,
	OUT device_bytes bigint,
	OUT fallbacks bigint,
	OUT fallbacks_by_reason jsonb,
	OUT shared boolean,
	OUT device_state text,
	OUT device_reason text,
	OUT stats_reset timestamptz) RETURNS record
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED
	AS 'MODULE_PATHNAME', 'gpuagg_stat_get';
COMMENT ON FUNCTION gpuagg_stat_get() IS
	'counters behind the view gpuagg_stat';

CREATE VIEW gpuagg_stat AS
	SELECT calls, cpu_batches, cpu_rows, cpu_bytes, device_batches, device_rows, device_bytes,
		fallbacks, fallbacks_by_reason, shared, device_state, device_reason, stats_reset
	FROM gpuagg_stat_get();
COMMENT ON VIEW gpuagg_stat IS
	'work done by gpuagg in this cluster since the counters were reset or the server was started';
COMMENT ON COLUMN gpuagg_stat.calls IS
	'call sites of gpuagg functions that queries have begun';
COMMENT ON COLUMN gpuagg_stat.fallbacks IS
	'batches meant for the device that the CPU did';
COMMENT ON COLUMN gpuagg_stat.shared IS
	'false when there was no room for shared counters and these are this session''s own';
COMMENT ON COLUMN gpuagg_stat.device_state IS
	'idle (starts when needed), starting, ready, silent, stopped or unavailable';
GRANT SELECT ON gpuagg_stat TO PUBLIC;

CREATE FUNCTION gpuagg_stat_reset() RETURNS void
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED
	AS 'MODULE_PATHNAME', 'gpuagg_stat_reset';
COMMENT ON FUNCTION gpuagg_stat_reset() IS
	'sets the counters of gpuagg_stat to zero';
REVOKE ALL ON FUNCTION gpuagg_stat_reset() FROM PUBLIC;

CREATE FUNCTION gpuagg_stop() RETURNS boolean
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED
	AS 'MODULE_PATHNAME', 'gpuagg_stop';
COMMENT ON FUNCTION gpuagg_stop() IS
	'ends the device program until gpuagg_restart() or the next start of the server; true when it has ended';
REVOKE ALL ON FUNCTION gpuagg_stop() FROM PUBLIC;

CREATE FUNCTION gpuagg_restart() RETURNS boolean
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED
	AS 'MODULE_PATHNAME', 'gpuagg_restart';
COMMENT ON FUNCTION gpuagg_restart() IS
	'ends the device program if it runs, forgets earlier failures and starts it; true when it was asked to start';
REVOKE ALL ON FUNCTION gpuagg_restart() FROM PUBLIC;

CREATE FUNCTION gpuagg_kernel_benchmark(
	kind text,
	type text,
	rows bigint DEFAULT 16777216,
	OUT algorithm text,
	OUT rows bigint,
	OUT median_us double precision,
	OUT gb_per_s double precision,
	OUT bandwidth_share double precision,
	OUT step_speedup double precision,
	OUT cumulative_speedup double precision,
	OUT additions_per_element double precision,
	OUT correct boolean) RETURNS SETOF record
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 25
	AS 'MODULE_PATHNAME', 'gpuagg_kernel_benchmark';
COMMENT ON FUNCTION gpuagg_kernel_benchmark(text, text, bigint) IS
	'times every algorithm of a kind (reduce, scan, segmented_scan) on the device, beside CUB';
REVOKE ALL ON FUNCTION gpuagg_kernel_benchmark(text, text, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpuagg_kernel_benchmark(text, text, bigint) TO pg_monitor;
