-- gpuagg 0.2.0
--
-- What users call has a comment.  All other functions are called by aggregates, by the planner
-- or by a view.

\echo Use "CREATE EXTENSION gpuagg" to load this file. \quit

-- Planning

CREATE FUNCTION gpuagg_support(internal) RETURNS internal
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME';

-- States of aggregates over values

CREATE FUNCTION gpuagg_state_combine(internal, internal) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_state_serialize(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_state_deserialize(bytea, internal) RETURNS internal
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME';

-- Integers and money

CREATE FUNCTION gpuagg_int2_accum(internal, smallint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int2_accum_inv(internal, smallint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int4_accum(internal, integer) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int4_accum_inv(internal, integer) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int8_accum(internal, bigint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int8_accum_inv(internal, bigint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_money_accum(internal, money) RETURNS internal LANGUAGE C
	IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME', 'gpuagg_int8_accum';
CREATE FUNCTION gpuagg_money_accum_inv(internal, money) RETURNS internal LANGUAGE C
	IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME', 'gpuagg_int8_accum_inv';
CREATE FUNCTION gpuagg_int2_moments(internal, smallint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int2_moments_inv(internal, smallint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int4_moments(internal, integer) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int4_moments_inv(internal, integer) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int8_moments(internal, bigint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int8_moments_inv(internal, bigint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';

CREATE FUNCTION gpuagg_int_sum_int8(internal) RETURNS bigint
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int_sum_numeric(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int_sum_money(internal) RETURNS money
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int_avg(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int_var_pop(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int_var_samp(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int_stddev_pop(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int_stddev_samp(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';

CREATE AGGREGATE gpu_sum(smallint) (STYPE = internal, SSPACE = 64,
	SFUNC = gpuagg_int2_accum, FINALFUNC = gpuagg_int_sum_int8,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 64, MFINALFUNC = gpuagg_int_sum_int8,
	MSFUNC = gpuagg_int2_accum, MINVFUNC = gpuagg_int2_accum_inv);
COMMENT ON AGGREGATE gpu_sum(smallint) IS 'exact sum of all non-null smallint values';
CREATE AGGREGATE gpu_sum(integer) (STYPE = internal, SSPACE = 64,
	SFUNC = gpuagg_int4_accum, FINALFUNC = gpuagg_int_sum_int8,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 64, MFINALFUNC = gpuagg_int_sum_int8,
	MSFUNC = gpuagg_int4_accum, MINVFUNC = gpuagg_int4_accum_inv);
COMMENT ON AGGREGATE gpu_sum(integer) IS 'exact sum of all non-null integer values';
CREATE AGGREGATE gpu_sum(bigint) (STYPE = internal, SSPACE = 64,
	SFUNC = gpuagg_int8_accum, FINALFUNC = gpuagg_int_sum_numeric,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 64, MFINALFUNC = gpuagg_int_sum_numeric,
	MSFUNC = gpuagg_int8_accum, MINVFUNC = gpuagg_int8_accum_inv);
COMMENT ON AGGREGATE gpu_sum(bigint) IS 'exact sum of all non-null bigint values';
CREATE AGGREGATE gpu_sum(money) (STYPE = internal, SSPACE = 64,
	SFUNC = gpuagg_money_accum, FINALFUNC = gpuagg_int_sum_money,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 64, MFINALFUNC = gpuagg_int_sum_money,
	MSFUNC = gpuagg_money_accum, MINVFUNC = gpuagg_money_accum_inv);
COMMENT ON AGGREGATE gpu_sum(money) IS 'exact sum of all non-null money values';

CREATE AGGREGATE gpu_avg(smallint) (STYPE = internal, SSPACE = 64,
	SFUNC = gpuagg_int2_accum, FINALFUNC = gpuagg_int_avg,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 64, MFINALFUNC = gpuagg_int_avg,
	MSFUNC = gpuagg_int2_accum, MINVFUNC = gpuagg_int2_accum_inv);
COMMENT ON AGGREGATE gpu_avg(smallint) IS 'average of all non-null smallint values';
CREATE AGGREGATE gpu_avg(integer) (STYPE = internal, SSPACE = 64,
	SFUNC = gpuagg_int4_accum, FINALFUNC = gpuagg_int_avg,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 64, MFINALFUNC = gpuagg_int_avg,
	MSFUNC = gpuagg_int4_accum, MINVFUNC = gpuagg_int4_accum_inv);
COMMENT ON AGGREGATE gpu_avg(integer) IS 'average of all non-null integer values';
CREATE AGGREGATE gpu_avg(bigint) (STYPE = internal, SSPACE = 64,
	SFUNC = gpuagg_int8_accum, FINALFUNC = gpuagg_int_avg,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 64, MFINALFUNC = gpuagg_int_avg,
	MSFUNC = gpuagg_int8_accum, MINVFUNC = gpuagg_int8_accum_inv);
COMMENT ON AGGREGATE gpu_avg(bigint) IS 'average of all non-null bigint values';

CREATE AGGREGATE gpu_var_pop(smallint) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int2_moments, FINALFUNC = gpuagg_int_var_pop,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_int_var_pop,
	MSFUNC = gpuagg_int2_moments, MINVFUNC = gpuagg_int2_moments_inv);
COMMENT ON AGGREGATE gpu_var_pop(smallint) IS 'population variance of all non-null smallint values';
CREATE AGGREGATE gpu_var_pop(integer) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int4_moments, FINALFUNC = gpuagg_int_var_pop,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_int_var_pop,
	MSFUNC = gpuagg_int4_moments, MINVFUNC = gpuagg_int4_moments_inv);
COMMENT ON AGGREGATE gpu_var_pop(integer) IS 'population variance of all non-null integer values';
CREATE AGGREGATE gpu_var_pop(bigint) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int8_moments, FINALFUNC = gpuagg_int_var_pop,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_int_var_pop,
	MSFUNC = gpuagg_int8_moments, MINVFUNC = gpuagg_int8_moments_inv);
COMMENT ON AGGREGATE gpu_var_pop(bigint) IS 'population variance of all non-null bigint values';

CREATE AGGREGATE gpu_var_samp(smallint) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int2_moments, FINALFUNC = gpuagg_int_var_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_int_var_samp,
	MSFUNC = gpuagg_int2_moments, MINVFUNC = gpuagg_int2_moments_inv);
COMMENT ON AGGREGATE gpu_var_samp(smallint) IS 'sample variance of all non-null smallint values';
CREATE AGGREGATE gpu_var_samp(integer) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int4_moments, FINALFUNC = gpuagg_int_var_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_int_var_samp,
	MSFUNC = gpuagg_int4_moments, MINVFUNC = gpuagg_int4_moments_inv);
COMMENT ON AGGREGATE gpu_var_samp(integer) IS 'sample variance of all non-null integer values';
CREATE AGGREGATE gpu_var_samp(bigint) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int8_moments, FINALFUNC = gpuagg_int_var_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_int_var_samp,
	MSFUNC = gpuagg_int8_moments, MINVFUNC = gpuagg_int8_moments_inv);
COMMENT ON AGGREGATE gpu_var_samp(bigint) IS 'sample variance of all non-null bigint values';

CREATE AGGREGATE gpu_variance(smallint) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int2_moments, FINALFUNC = gpuagg_int_var_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_int_var_samp,
	MSFUNC = gpuagg_int2_moments, MINVFUNC = gpuagg_int2_moments_inv);
COMMENT ON AGGREGATE gpu_variance(smallint) IS
	'sample variance, as gpu_var_samp, of all non-null smallint values';
CREATE AGGREGATE gpu_variance(integer) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int4_moments, FINALFUNC = gpuagg_int_var_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_int_var_samp,
	MSFUNC = gpuagg_int4_moments, MINVFUNC = gpuagg_int4_moments_inv);
COMMENT ON AGGREGATE gpu_variance(integer) IS
	'sample variance, as gpu_var_samp, of all non-null integer values';
CREATE AGGREGATE gpu_variance(bigint) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int8_moments, FINALFUNC = gpuagg_int_var_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_int_var_samp,
	MSFUNC = gpuagg_int8_moments, MINVFUNC = gpuagg_int8_moments_inv);
COMMENT ON AGGREGATE gpu_variance(bigint) IS
	'sample variance, as gpu_var_samp, of all non-null bigint values';

CREATE AGGREGATE gpu_stddev_pop(smallint) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int2_moments, FINALFUNC = gpuagg_int_stddev_pop,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_int_stddev_pop,
	MSFUNC = gpuagg_int2_moments, MINVFUNC = gpuagg_int2_moments_inv);
COMMENT ON AGGREGATE gpu_stddev_pop(smallint) IS
	'population standard deviation of all non-null smallint values';
CREATE AGGREGATE gpu_stddev_pop(integer) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int4_moments, FINALFUNC = gpuagg_int_stddev_pop,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_int_stddev_pop,
	MSFUNC = gpuagg_int4_moments, MINVFUNC = gpuagg_int4_moments_inv);
COMMENT ON AGGREGATE gpu_stddev_pop(integer) IS
	'population standard deviation of all non-null integer values';
CREATE AGGREGATE gpu_stddev_pop(bigint) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int8_moments, FINALFUNC = gpuagg_int_stddev_pop,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_int_stddev_pop,
	MSFUNC = gpuagg_int8_moments, MINVFUNC = gpuagg_int8_moments_inv);
COMMENT ON AGGREGATE gpu_stddev_pop(bigint) IS
	'population standard deviation of all non-null bigint values';

CREATE AGGREGATE gpu_stddev_samp(smallint) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int2_moments, FINALFUNC = gpuagg_int_stddev_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_int_stddev_samp,
	MSFUNC = gpuagg_int2_moments, MINVFUNC = gpuagg_int2_moments_inv);
COMMENT ON AGGREGATE gpu_stddev_samp(smallint) IS
	'sample standard deviation of all non-null smallint values';
CREATE AGGREGATE gpu_stddev_samp(integer) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int4_moments, FINALFUNC = gpuagg_int_stddev_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_int_stddev_samp,
	MSFUNC = gpuagg_int4_moments, MINVFUNC = gpuagg_int4_moments_inv);
COMMENT ON AGGREGATE gpu_stddev_samp(integer) IS
	'sample standard deviation of all non-null integer values';
CREATE AGGREGATE gpu_stddev_samp(bigint) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int8_moments, FINALFUNC = gpuagg_int_stddev_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_int_stddev_samp,
	MSFUNC = gpuagg_int8_moments, MINVFUNC = gpuagg_int8_moments_inv);
COMMENT ON AGGREGATE gpu_stddev_samp(bigint) IS
	'sample standard deviation of all non-null bigint values';

CREATE AGGREGATE gpu_stddev(smallint) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int2_moments, FINALFUNC = gpuagg_int_stddev_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_int_stddev_samp,
	MSFUNC = gpuagg_int2_moments, MINVFUNC = gpuagg_int2_moments_inv);
COMMENT ON AGGREGATE gpu_stddev(smallint) IS
	'sample standard deviation, as gpu_stddev_samp, of all non-null smallint values';
CREATE AGGREGATE gpu_stddev(integer) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int4_moments, FINALFUNC = gpuagg_int_stddev_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_int_stddev_samp,
	MSFUNC = gpuagg_int4_moments, MINVFUNC = gpuagg_int4_moments_inv);
COMMENT ON AGGREGATE gpu_stddev(integer) IS
	'sample standard deviation, as gpu_stddev_samp, of all non-null integer values';
CREATE AGGREGATE gpu_stddev(bigint) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int8_moments, FINALFUNC = gpuagg_int_stddev_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_int_stddev_samp,
	MSFUNC = gpuagg_int8_moments, MINVFUNC = gpuagg_int8_moments_inv);
COMMENT ON AGGREGATE gpu_stddev(bigint) IS
	'sample standard deviation, as gpu_stddev_samp, of all non-null bigint values';

-- Floats: sums and averages

CREATE FUNCTION gpuagg_float4_accum(internal, real) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_float4_accum_inv(internal, real) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_float8_accum(internal, double precision) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_float8_accum_inv(internal, double precision) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';

CREATE FUNCTION gpuagg_float_sum_float4(internal) RETURNS real
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_float_sum_float8(internal) RETURNS double precision
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_float_avg(internal) RETURNS double precision
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';

CREATE AGGREGATE gpu_sum(real) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_float4_accum, FINALFUNC = gpuagg_float_sum_float4,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_float_sum_float4,
	MSFUNC = gpuagg_float4_accum, MINVFUNC = gpuagg_float4_accum_inv);
COMMENT ON AGGREGATE gpu_sum(real) IS 'exact sum of all non-null real values, rounded once';
CREATE AGGREGATE gpu_sum(double precision) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_float8_accum, FINALFUNC = gpuagg_float_sum_float8,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_float_sum_float8,
	MSFUNC = gpuagg_float8_accum, MINVFUNC = gpuagg_float8_accum_inv);
COMMENT ON AGGREGATE gpu_sum(double precision) IS
	'exact sum of all non-null double precision values, rounded once';

CREATE AGGREGATE gpu_avg(real) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_float4_accum, FINALFUNC = gpuagg_float_avg,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_float_avg,
	MSFUNC = gpuagg_float4_accum, MINVFUNC = gpuagg_float4_accum_inv);
COMMENT ON AGGREGATE gpu_avg(real) IS 'exact average of all non-null real values, rounded once';
CREATE AGGREGATE gpu_avg(double precision) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_float8_accum, FINALFUNC = gpuagg_float_avg,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_float_avg,
	MSFUNC = gpuagg_float8_accum, MINVFUNC = gpuagg_float8_accum_inv);
COMMENT ON AGGREGATE gpu_avg(double precision) IS
	'exact average of all non-null double precision values, rounded once';

-- Floats: variances and standard deviations

CREATE FUNCTION gpuagg_float4_moments(internal, real) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_float4_moments_inv(internal, real) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_float8_moments(internal, double precision) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_float8_moments_inv(internal, double precision) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';

CREATE FUNCTION gpuagg_float_var_pop(internal) RETURNS double precision
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_float_var_samp(internal) RETURNS double precision
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_float_stddev_pop(internal) RETURNS double precision
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_float_stddev_samp(internal) RETURNS double precision
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';

CREATE AGGREGATE gpu_var_pop(real) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_float4_moments, FINALFUNC = gpuagg_float_var_pop,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 256, MFINALFUNC = gpuagg_float_var_pop,
	MSFUNC = gpuagg_float4_moments, MINVFUNC = gpuagg_float4_moments_inv);
COMMENT ON AGGREGATE gpu_var_pop(real) IS
	'exact population variance of all non-null real values, rounded once';
CREATE AGGREGATE gpu_var_pop(double precision) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_float8_moments, FINALFUNC = gpuagg_float_var_pop,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 256, MFINALFUNC = gpuagg_float_var_pop,
	MSFUNC = gpuagg_float8_moments, MINVFUNC = gpuagg_float8_moments_inv);
COMMENT ON AGGREGATE gpu_var_pop(double precision) IS
	'exact population variance of all non-null double precision values, rounded once';

CREATE AGGREGATE gpu_var_samp(real) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_float4_moments, FINALFUNC = gpuagg_float_var_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 256, MFINALFUNC = gpuagg_float_var_samp,
	MSFUNC = gpuagg_float4_moments, MINVFUNC = gpuagg_float4_moments_inv);
COMMENT ON AGGREGATE gpu_var_samp(real) IS
	'exact sample variance of all non-null real values, rounded once';
CREATE AGGREGATE gpu_var_samp(double precision) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_float8_moments, FINALFUNC = gpuagg_float_var_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 256, MFINALFUNC = gpuagg_float_var_samp,
	MSFUNC = gpuagg_float8_moments, MINVFUNC = gpuagg_float8_moments_inv);
COMMENT ON AGGREGATE gpu_var_samp(double precision) IS
	'exact sample variance of all non-null double precision values, rounded once';

CREATE AGGREGATE gpu_variance(real) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_float4_moments, FINALFUNC = gpuagg_float_var_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 256, MFINALFUNC = gpuagg_float_var_samp,
	MSFUNC = gpuagg_float4_moments, MINVFUNC = gpuagg_float4_moments_inv);
COMMENT ON AGGREGATE gpu_variance(real) IS
	'exact sample variance of all non-null real values, rounded once';
CREATE AGGREGATE gpu_variance(double precision) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_float8_moments, FINALFUNC = gpuagg_float_var_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 256, MFINALFUNC = gpuagg_float_var_samp,
	MSFUNC = gpuagg_float8_moments, MINVFUNC = gpuagg_float8_moments_inv);
COMMENT ON AGGREGATE gpu_variance(double precision) IS
	'exact sample variance of all non-null double precision values, rounded once';

CREATE AGGREGATE gpu_stddev_pop(real) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_float4_moments, FINALFUNC = gpuagg_float_stddev_pop,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 256, MFINALFUNC = gpuagg_float_stddev_pop,
	MSFUNC = gpuagg_float4_moments, MINVFUNC = gpuagg_float4_moments_inv);
COMMENT ON AGGREGATE gpu_stddev_pop(real) IS
	'exact population standard deviation of all non-null real values, rounded once';
CREATE AGGREGATE gpu_stddev_pop(double precision) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_float8_moments, FINALFUNC = gpuagg_float_stddev_pop,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 256, MFINALFUNC = gpuagg_float_stddev_pop,
	MSFUNC = gpuagg_float8_moments, MINVFUNC = gpuagg_float8_moments_inv);
COMMENT ON AGGREGATE gpu_stddev_pop(double precision) IS
	'exact population standard deviation of all non-null double precision values, rounded once';

CREATE AGGREGATE gpu_stddev_samp(real) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_float4_moments, FINALFUNC = gpuagg_float_stddev_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 256, MFINALFUNC = gpuagg_float_stddev_samp,
	MSFUNC = gpuagg_float4_moments, MINVFUNC = gpuagg_float4_moments_inv);
COMMENT ON AGGREGATE gpu_stddev_samp(real) IS
	'exact sample standard deviation of all non-null real values, rounded once';
CREATE AGGREGATE gpu_stddev_samp(double precision) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_float8_moments, FINALFUNC = gpuagg_float_stddev_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 256, MFINALFUNC = gpuagg_float_stddev_samp,
	MSFUNC = gpuagg_float8_moments, MINVFUNC = gpuagg_float8_moments_inv);
COMMENT ON AGGREGATE gpu_stddev_samp(double precision) IS
	'exact sample standard deviation of all non-null double precision values, rounded once';

CREATE AGGREGATE gpu_stddev(real) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_float4_moments, FINALFUNC = gpuagg_float_stddev_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 256, MFINALFUNC = gpuagg_float_stddev_samp,
	MSFUNC = gpuagg_float4_moments, MINVFUNC = gpuagg_float4_moments_inv);
COMMENT ON AGGREGATE gpu_stddev(real) IS
	'exact sample standard deviation of all non-null real values, rounded once';
CREATE AGGREGATE gpu_stddev(double precision) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_float8_moments, FINALFUNC = gpuagg_float_stddev_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 256, MFINALFUNC = gpuagg_float_stddev_samp,
	MSFUNC = gpuagg_float8_moments, MINVFUNC = gpuagg_float8_moments_inv);
COMMENT ON AGGREGATE gpu_stddev(double precision) IS
	'exact sample standard deviation of all non-null double precision values, rounded once';

-- Numerics

CREATE FUNCTION gpuagg_numeric_accum(internal, numeric) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_numeric_accum_inv(internal, numeric) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_numeric_moments(internal, numeric) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_numeric_moments_inv(internal, numeric) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';

CREATE FUNCTION gpuagg_numeric_sum(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_numeric_avg(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_numeric_var_pop(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_numeric_var_samp(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_numeric_stddev_pop(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_numeric_stddev_samp(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';

CREATE AGGREGATE gpu_sum(numeric) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_numeric_accum, FINALFUNC = gpuagg_numeric_sum,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_numeric_sum,
	MSFUNC = gpuagg_numeric_accum, MINVFUNC = gpuagg_numeric_accum_inv);
COMMENT ON AGGREGATE gpu_sum(numeric) IS 'exact sum of all non-null numeric values';

CREATE AGGREGATE gpu_avg(numeric) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_numeric_accum, FINALFUNC = gpuagg_numeric_avg,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_numeric_avg,
	MSFUNC = gpuagg_numeric_accum, MINVFUNC = gpuagg_numeric_accum_inv);
COMMENT ON AGGREGATE gpu_avg(numeric) IS 'average of all non-null numeric values';

CREATE AGGREGATE gpu_var_pop(numeric) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_numeric_moments, FINALFUNC = gpuagg_numeric_var_pop,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_numeric_var_pop,
	MSFUNC = gpuagg_numeric_moments, MINVFUNC = gpuagg_numeric_moments_inv);
COMMENT ON AGGREGATE gpu_var_pop(numeric) IS 'population variance of all non-null numeric values';

CREATE AGGREGATE gpu_var_samp(numeric) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_numeric_moments, FINALFUNC = gpuagg_numeric_var_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_numeric_var_samp,
	MSFUNC = gpuagg_numeric_moments, MINVFUNC = gpuagg_numeric_moments_inv);
COMMENT ON AGGREGATE gpu_var_samp(numeric) IS 'sample variance of all non-null numeric values';

CREATE AGGREGATE gpu_variance(numeric) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_numeric_moments, FINALFUNC = gpuagg_numeric_var_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_numeric_var_samp,
	MSFUNC = gpuagg_numeric_moments, MINVFUNC = gpuagg_numeric_moments_inv);
COMMENT ON AGGREGATE gpu_variance(numeric) IS
	'sample variance of all non-null numeric values: gpu_var_samp';

CREATE AGGREGATE gpu_stddev_pop(numeric) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_numeric_moments, FINALFUNC = gpuagg_numeric_stddev_pop,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_numeric_stddev_pop,
	MSFUNC = gpuagg_numeric_moments, MINVFUNC = gpuagg_numeric_moments_inv);
COMMENT ON AGGREGATE gpu_stddev_pop(numeric) IS
	'population standard deviation of all non-null numeric values';

CREATE AGGREGATE gpu_stddev_samp(numeric) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_numeric_moments, FINALFUNC = gpuagg_numeric_stddev_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_numeric_stddev_samp,
	MSFUNC = gpuagg_numeric_moments, MINVFUNC = gpuagg_numeric_moments_inv);
COMMENT ON AGGREGATE gpu_stddev_samp(numeric) IS
	'sample standard deviation of all non-null numeric values';

CREATE AGGREGATE gpu_stddev(numeric) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_numeric_moments, FINALFUNC = gpuagg_numeric_stddev_samp,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_numeric_stddev_samp,
	MSFUNC = gpuagg_numeric_moments, MINVFUNC = gpuagg_numeric_moments_inv);
COMMENT ON AGGREGATE gpu_stddev(numeric) IS
	'sample standard deviation of all non-null numeric values: gpu_stddev_samp';

-- Intervals

CREATE FUNCTION gpuagg_interval_accum(internal, interval) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_interval_accum_inv(internal, interval) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';

CREATE FUNCTION gpuagg_interval_sum(internal) RETURNS interval
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_interval_avg(internal) RETURNS interval
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';

CREATE AGGREGATE gpu_sum(interval) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_interval_accum, FINALFUNC = gpuagg_interval_sum,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_interval_sum,
	MSFUNC = gpuagg_interval_accum, MINVFUNC = gpuagg_interval_accum_inv);
COMMENT ON AGGREGATE gpu_sum(interval) IS 'exact sum of all non-null interval values';

CREATE AGGREGATE gpu_avg(interval) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_interval_accum, FINALFUNC = gpuagg_interval_avg,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize,
	MSTYPE = internal, MSSPACE = 128, MFINALFUNC = gpuagg_interval_avg,
	MSFUNC = gpuagg_interval_accum, MINVFUNC = gpuagg_interval_accum_inv);
COMMENT ON AGGREGATE gpu_avg(interval) IS 'average of all non-null interval values';

-- Counts

CREATE FUNCTION gpuagg_count_accum(bigint) RETURNS bigint
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE SUPPORT gpuagg_support AS 'int8inc';
CREATE FUNCTION gpuagg_count_accum_any(bigint, "any") RETURNS bigint
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE SUPPORT gpuagg_support AS 'int8inc_any';
CREATE FUNCTION gpuagg_count_accum_inv(bigint) RETURNS bigint
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE SUPPORT gpuagg_support AS 'int8dec';
CREATE FUNCTION gpuagg_count_accum_any_inv(bigint, "any") RETURNS bigint
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE SUPPORT gpuagg_support AS 'int8dec_any';

CREATE AGGREGATE gpu_count(*) (STYPE = bigint, INITCOND = '0',
	SFUNC = gpuagg_count_accum, COMBINEFUNC = int8pl, PARALLEL = SAFE,
	MSTYPE = bigint, MINITCOND = '0',
	MSFUNC = gpuagg_count_accum, MINVFUNC = gpuagg_count_accum_inv);
COMMENT ON AGGREGATE gpu_count(*) IS 'number of rows';
CREATE AGGREGATE gpu_count("any") (STYPE = bigint, INITCOND = '0',
	SFUNC = gpuagg_count_accum_any, COMBINEFUNC = int8pl, PARALLEL = SAFE,
	MSTYPE = bigint, MINITCOND = '0',
	MSFUNC = gpuagg_count_accum_any, MINVFUNC = gpuagg_count_accum_any_inv);
COMMENT ON AGGREGATE gpu_count("any") IS 'number of rows whose value is not null';

-- Citus distributes an aggregate only over arguments of the very types that are declared.  Elsewhere
-- more types than "any" would make calls with types that convert to two of them ambiguous.  Citus looks
-- up the transition function for each row: an internal one that is not core's own by its name, in a list.
DO $$
DECLARE
	path text := pg_catalog.current_setting('search_path');
	commands text[];
	command text;
BEGIN
	-- others may have operators and functions in the extension's schema
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	commands := ARRAY(SELECT format('CREATE AGGREGATE gpu_count(%1$s) (STYPE = bigint, INITCOND = ''0'',
			SFUNC = pg_catalog.int8inc_any, COMBINEFUNC = int8pl, PARALLEL = SAFE, MSTYPE = bigint,
			MSFUNC = gpuagg_count_accum_any, MINVFUNC = gpuagg_count_accum_any_inv, MINITCOND = ''0'');
			COMMENT ON AGGREGATE gpu_count(%1$s) IS ''number of rows with a value''', format_type(oid, NULL))
		FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype IN ('b', 'r', 'm')
			AND EXISTS (SELECT FROM pg_extension WHERE extname = 'citus'));
	PERFORM set_config('search_path', path, true);
	FOREACH command IN ARRAY commands LOOP
		EXECUTE command;
	END LOOP;
END
$$;

-- Minima and maxima

CREATE FUNCTION gpuagg_int2_min(internal, smallint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int2_max(internal, smallint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int4_min(internal, integer) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int4_max(internal, integer) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int8_min(internal, bigint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int8_max(internal, bigint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_float4_min(internal, real) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_float4_max(internal, real) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_float8_min(internal, double precision) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_float8_max(internal, double precision) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_money_min(internal, money) RETURNS internal LANGUAGE C
	IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME', 'gpuagg_int8_min';
CREATE FUNCTION gpuagg_money_max(internal, money) RETURNS internal LANGUAGE C
	IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME', 'gpuagg_int8_max';
CREATE FUNCTION gpuagg_date_min(internal, date) RETURNS internal LANGUAGE C
	IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME', 'gpuagg_int4_min';
CREATE FUNCTION gpuagg_date_max(internal, date) RETURNS internal LANGUAGE C
	IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME', 'gpuagg_int4_max';
CREATE FUNCTION gpuagg_time_min(internal, time) RETURNS internal LANGUAGE C
	IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME', 'gpuagg_int8_min';
CREATE FUNCTION gpuagg_time_max(internal, time) RETURNS internal LANGUAGE C
	IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME', 'gpuagg_int8_max';
CREATE FUNCTION gpuagg_timestamp_min(internal, timestamp) RETURNS internal LANGUAGE C
	IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME', 'gpuagg_int8_min';
CREATE FUNCTION gpuagg_timestamp_max(internal, timestamp) RETURNS internal LANGUAGE C
	IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME', 'gpuagg_int8_max';
CREATE FUNCTION gpuagg_timestamptz_min(internal, timestamptz) RETURNS internal LANGUAGE C
	IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME', 'gpuagg_int8_min';
CREATE FUNCTION gpuagg_timestamptz_max(internal, timestamptz) RETURNS internal LANGUAGE C
	IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME', 'gpuagg_int8_max';

CREATE FUNCTION gpuagg_int2_extreme(internal) RETURNS smallint LANGUAGE C
	IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';
CREATE FUNCTION gpuagg_int4_extreme(internal) RETURNS integer LANGUAGE C
	IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';
CREATE FUNCTION gpuagg_int8_extreme(internal) RETURNS bigint LANGUAGE C
	IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';
CREATE FUNCTION gpuagg_float4_extreme(internal) RETURNS real LANGUAGE C
	IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';
CREATE FUNCTION gpuagg_float8_extreme(internal) RETURNS double precision LANGUAGE C
	IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';
CREATE FUNCTION gpuagg_money_extreme(internal) RETURNS money LANGUAGE C
	IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';
CREATE FUNCTION gpuagg_date_extreme(internal) RETURNS date LANGUAGE C
	IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';
CREATE FUNCTION gpuagg_time_extreme(internal) RETURNS time LANGUAGE C
	IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';
CREATE FUNCTION gpuagg_timestamp_extreme(internal) RETURNS timestamp LANGUAGE C
	IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';
CREATE FUNCTION gpuagg_timestamptz_extreme(internal) RETURNS timestamptz LANGUAGE C
	IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';

CREATE FUNCTION gpuagg_numeric_min(numeric, numeric) RETURNS numeric
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_numeric_max(numeric, numeric) RETURNS numeric
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_interval_min(interval, interval) RETURNS interval
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_interval_max(interval, interval) RETURNS interval
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';

-- SORTOP lets the planner take the value from an index.  An index may return any of several equal
-- values.  Types whose equal values can differ have no SORTOP: 0 and -0, 1.0 and 1.00, a month
-- and 30 days.

CREATE AGGREGATE gpu_min(smallint) (STYPE = internal, SSPACE = 64, SORTOP = <,
	SFUNC = gpuagg_int2_min, FINALFUNC = gpuagg_int2_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_min(smallint) IS 'least of all non-null smallint values';
CREATE AGGREGATE gpu_min(integer) (STYPE = internal, SSPACE = 64, SORTOP = <,
	SFUNC = gpuagg_int4_min, FINALFUNC = gpuagg_int4_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_min(integer) IS 'least of all non-null integer values';
CREATE AGGREGATE gpu_min(bigint) (STYPE = internal, SSPACE = 64, SORTOP = <,
	SFUNC = gpuagg_int8_min, FINALFUNC = gpuagg_int8_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_min(bigint) IS 'least of all non-null bigint values';
CREATE AGGREGATE gpu_min(real) (STYPE = internal, SSPACE = 64,
	SFUNC = gpuagg_float4_min, FINALFUNC = gpuagg_float4_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_min(real) IS 'least of all non-null real values';
CREATE AGGREGATE gpu_min(double precision) (STYPE = internal, SSPACE = 64,
	SFUNC = gpuagg_float8_min, FINALFUNC = gpuagg_float8_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_min(double precision) IS 'least of all non-null double precision values';
CREATE AGGREGATE gpu_min(money) (STYPE = internal, SSPACE = 64, SORTOP = <,
	SFUNC = gpuagg_money_min, FINALFUNC = gpuagg_money_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_min(money) IS 'least of all non-null money values';
CREATE AGGREGATE gpu_min(date) (STYPE = internal, SSPACE = 64, SORTOP = <,
	SFUNC = gpuagg_date_min, FINALFUNC = gpuagg_date_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_min(date) IS 'least of all non-null date values';
CREATE AGGREGATE gpu_min(time) (STYPE = internal, SSPACE = 64, SORTOP = <,
	SFUNC = gpuagg_time_min, FINALFUNC = gpuagg_time_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_min(time) IS 'least of all non-null time values';
CREATE AGGREGATE gpu_min(timestamp) (STYPE = internal, SSPACE = 64, SORTOP = <,
	SFUNC = gpuagg_timestamp_min, FINALFUNC = gpuagg_timestamp_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_min(timestamp) IS 'least of all non-null timestamp values';
CREATE AGGREGATE gpu_min(timestamptz) (STYPE = internal, SSPACE = 64, SORTOP = <,
	SFUNC = gpuagg_timestamptz_min, FINALFUNC = gpuagg_timestamptz_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_min(timestamptz) IS 'least of all non-null timestamptz values';
CREATE AGGREGATE gpu_min(numeric) (STYPE = numeric,
	SFUNC = gpuagg_numeric_min, COMBINEFUNC = gpuagg_numeric_min, PARALLEL = SAFE);
COMMENT ON AGGREGATE gpu_min(numeric) IS 'least of all non-null numeric values';
CREATE AGGREGATE gpu_min(interval) (STYPE = interval,
	SFUNC = gpuagg_interval_min, COMBINEFUNC = gpuagg_interval_min, PARALLEL = SAFE);
COMMENT ON AGGREGATE gpu_min(interval) IS 'least of all non-null interval values';

CREATE AGGREGATE gpu_max(smallint) (STYPE = internal, SSPACE = 64, SORTOP = >,
	SFUNC = gpuagg_int2_max, FINALFUNC = gpuagg_int2_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_max(smallint) IS 'greatest of all non-null smallint values';
CREATE AGGREGATE gpu_max(integer) (STYPE = internal, SSPACE = 64, SORTOP = >,
	SFUNC = gpuagg_int4_max, FINALFUNC = gpuagg_int4_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_max(integer) IS 'greatest of all non-null integer values';
CREATE AGGREGATE gpu_max(bigint) (STYPE = internal, SSPACE = 64, SORTOP = >,
	SFUNC = gpuagg_int8_max, FINALFUNC = gpuagg_int8_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_max(bigint) IS 'greatest of all non-null bigint values';
CREATE AGGREGATE gpu_max(real) (STYPE = internal, SSPACE = 64,
	SFUNC = gpuagg_float4_max, FINALFUNC = gpuagg_float4_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_max(real) IS 'greatest of all non-null real values';
CREATE AGGREGATE gpu_max(double precision) (STYPE = internal, SSPACE = 64,
	SFUNC = gpuagg_float8_max, FINALFUNC = gpuagg_float8_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_max(double precision) IS
	'greatest of all non-null double precision values';
CREATE AGGREGATE gpu_max(money) (STYPE = internal, SSPACE = 64, SORTOP = >,
	SFUNC = gpuagg_money_max, FINALFUNC = gpuagg_money_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_max(money) IS 'greatest of all non-null money values';
CREATE AGGREGATE gpu_max(date) (STYPE = internal, SSPACE = 64, SORTOP = >,
	SFUNC = gpuagg_date_max, FINALFUNC = gpuagg_date_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_max(date) IS 'greatest of all non-null date values';
CREATE AGGREGATE gpu_max(time) (STYPE = internal, SSPACE = 64, SORTOP = >,
	SFUNC = gpuagg_time_max, FINALFUNC = gpuagg_time_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_max(time) IS 'greatest of all non-null time values';
CREATE AGGREGATE gpu_max(timestamp) (STYPE = internal, SSPACE = 64, SORTOP = >,
	SFUNC = gpuagg_timestamp_max, FINALFUNC = gpuagg_timestamp_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_max(timestamp) IS 'greatest of all non-null timestamp values';
CREATE AGGREGATE gpu_max(timestamptz) (STYPE = internal, SSPACE = 64, SORTOP = >,
	SFUNC = gpuagg_timestamptz_max, FINALFUNC = gpuagg_timestamptz_extreme,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_max(timestamptz) IS 'greatest of all non-null timestamptz values';
CREATE AGGREGATE gpu_max(numeric) (STYPE = numeric,
	SFUNC = gpuagg_numeric_max, COMBINEFUNC = gpuagg_numeric_max, PARALLEL = SAFE);
COMMENT ON AGGREGATE gpu_max(numeric) IS 'greatest of all non-null numeric values';
CREATE AGGREGATE gpu_max(interval) (STYPE = interval,
	SFUNC = gpuagg_interval_max, COMBINEFUNC = gpuagg_interval_max, PARALLEL = SAFE);
COMMENT ON AGGREGATE gpu_max(interval) IS 'greatest of all non-null interval values';

-- The other types of core's min and max, by core's own functions.  Which those are depends on the
-- server's version.  CREATE AGGREGATE cannot use core's functions over anyenum and record.  Citus
-- combines without a collation, hence not those of strings.
CREATE FUNCTION gpuagg_enum_smaller(anyelement, anyelement) RETURNS anyelement
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_enum_larger(anyelement, anyelement) RETURNS anyelement
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE AGGREGATE gpu_min(anyenum) (STYPE = anyenum, SORTOP = <, PARALLEL = SAFE,
	SFUNC = gpuagg_enum_smaller, COMBINEFUNC = gpuagg_enum_smaller);
COMMENT ON AGGREGATE gpu_min(anyenum) IS 'least of all non-null anyenum values';
CREATE AGGREGATE gpu_max(anyenum) (STYPE = anyenum, SORTOP = >, PARALLEL = SAFE,
	SFUNC = gpuagg_enum_larger, COMBINEFUNC = gpuagg_enum_larger);
COMMENT ON AGGREGATE gpu_max(anyenum) IS 'greatest of all non-null anyenum values';
DO $$
DECLARE
	path text := pg_catalog.current_setting('search_path');
	commands text[];
	command text;
BEGIN
	IF pg_catalog.to_regprocedure('pg_catalog.record_larger(record, record)') IS NOT NULL THEN
		CREATE FUNCTION gpuagg_record_min(internal, record) RETURNS internal
			LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
		CREATE FUNCTION gpuagg_record_max(internal, record) RETURNS internal
			LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
		CREATE FUNCTION gpuagg_record_extreme(internal) RETURNS record
			LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME';
	END IF;
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true); -- as above
	commands := ARRAY(SELECT format('CREATE AGGREGATE gpu_%1$s(%2$s) (PARALLEL = SAFE,
			SORTOP = OPERATOR(pg_catalog.%3$s), ' || CASE t.oid WHEN 'record'::regtype THEN 'STYPE = internal,
			SSPACE = 256, SFUNC = gpuagg_record_%1$s, FINALFUNC = gpuagg_record_extreme);'
			ELSE 'STYPE = %2$s, SFUNC = pg_catalog.%4$s' || CASE WHEN typcollation <> 0 AND EXISTS (SELECT
				FROM pg_extension WHERE extname = 'citus') THEN ');' ELSE ', COMBINEFUNC = pg_catalog.%4$s);' END
			END || 'COMMENT ON AGGREGATE gpu_%1$s(%2$s) IS ''%5$s of all non-null %2$s values''',
			p.proname, format_type(t.oid, NULL), oprname, f.proname,
			CASE p.proname WHEN 'min' THEN 'least' ELSE 'greatest' END)
		FROM pg_aggregate JOIN pg_proc p ON p.oid = aggfnoid JOIN pg_type t ON t.oid = p.proargtypes[0]
			JOIN pg_operator o ON o.oid = aggsortop JOIN pg_proc f ON f.oid = aggtransfn
		WHERE p.proname IN ('min', 'max') AND p.pronamespace = 'pg_catalog'::regnamespace
			AND t.oid <> ALL ('{int2,int4,int8,float4,float8,numeric,money,interval,
				date,time,timestamp,timestamptz,anyenum}'::regtype[]));
	PERFORM set_config('search_path', path, true);
	FOREACH command IN ARRAY commands LOOP
		EXECUTE command;
	END LOOP;
END
$$;

-- Running functions

CREATE FUNCTION gpu_running_sum(x smallint, exclusive boolean DEFAULT false)
	RETURNS bigint LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_sum'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_sum(smallint, boolean) IS
	'exact running sum of smallint values over the window''s partition';
CREATE FUNCTION gpu_running_sum(x integer, exclusive boolean DEFAULT false)
	RETURNS bigint LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_sum'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_sum(integer, boolean) IS
	'exact running sum of integer values over the window''s partition';
CREATE FUNCTION gpu_running_sum(x bigint, exclusive boolean DEFAULT false)
	RETURNS numeric LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_sum'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_sum(bigint, boolean) IS
	'exact running sum of bigint values over the window''s partition';
CREATE FUNCTION gpu_running_sum(x real, exclusive boolean DEFAULT false)
	RETURNS real LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_sum'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_sum(real, boolean) IS
	'exact running sum of real values over the window''s partition, rounded once at every row';
CREATE FUNCTION gpu_running_sum(x double precision, exclusive boolean DEFAULT false)
	RETURNS double precision LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_sum'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_sum(double precision, boolean) IS
	'exact running sum of double precision values over the window''s partition, rounded once at every row';
CREATE FUNCTION gpu_running_sum(x numeric, exclusive boolean DEFAULT false)
	RETURNS numeric LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_sum'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_sum(numeric, boolean) IS
	'exact running sum of numeric values over the window''s partition';
CREATE FUNCTION gpu_running_sum(x money, exclusive boolean DEFAULT false)
	RETURNS money LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_sum'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_sum(money, boolean) IS
	'exact running sum of money values over the window''s partition';
CREATE FUNCTION gpu_running_sum(x interval, exclusive boolean DEFAULT false)
	RETURNS interval LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_sum'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_sum(interval, boolean) IS
	'exact running sum of interval values over the window''s partition';

CREATE FUNCTION gpu_running_avg(x smallint, exclusive boolean DEFAULT false)
	RETURNS numeric LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_avg'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_avg(smallint, boolean) IS
	'running average of smallint values over the window''s partition, of the exact sum';
CREATE FUNCTION gpu_running_avg(x integer, exclusive boolean DEFAULT false)
	RETURNS numeric LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_avg'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_avg(integer, boolean) IS
	'running average of integer values over the window''s partition, of the exact sum';
CREATE FUNCTION gpu_running_avg(x bigint, exclusive boolean DEFAULT false)
	RETURNS numeric LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_avg'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_avg(bigint, boolean) IS
	'running average of bigint values over the window''s partition, of the exact sum';
CREATE FUNCTION gpu_running_avg(x real, exclusive boolean DEFAULT false)
	RETURNS double precision LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_avg'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_avg(real, boolean) IS
	'running average of real values over the window''s partition, of the exact sum, rounded once at every row';
CREATE FUNCTION gpu_running_avg(x double precision, exclusive boolean DEFAULT false)
	RETURNS double precision LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_avg'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_avg(double precision, boolean) IS
	'running average of double precision values over the window''s partition, of the exact sum, rounded once at every row';
CREATE FUNCTION gpu_running_avg(x numeric, exclusive boolean DEFAULT false)
	RETURNS numeric LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_avg'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_avg(numeric, boolean) IS
	'running average of numeric values over the window''s partition, of the exact sum';
CREATE FUNCTION gpu_running_avg(x interval, exclusive boolean DEFAULT false)
	RETURNS interval LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_avg'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_avg(interval, boolean) IS
	'running average of interval values over the window''s partition, of the exact sum';

CREATE FUNCTION gpu_running_min(x smallint, exclusive boolean DEFAULT false)
	RETURNS smallint LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_min'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_min(smallint, boolean) IS
	'least of the smallint values so far in the window''s partition';
CREATE FUNCTION gpu_running_min(x integer, exclusive boolean DEFAULT false)
	RETURNS integer LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_min'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_min(integer, boolean) IS
	'least of the integer values so far in the window''s partition';
CREATE FUNCTION gpu_running_min(x bigint, exclusive boolean DEFAULT false)
	RETURNS bigint LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_min'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_min(bigint, boolean) IS
	'least of the bigint values so far in the window''s partition';
CREATE FUNCTION gpu_running_min(x real, exclusive boolean DEFAULT false)
	RETURNS real LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_min'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_min(real, boolean) IS
	'least of the real values so far in the window''s partition';
CREATE FUNCTION gpu_running_min(x double precision, exclusive boolean DEFAULT false)
	RETURNS double precision LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_min'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_min(double precision, boolean) IS
	'least of the double precision values so far in the window''s partition';
CREATE FUNCTION gpu_running_min(x numeric, exclusive boolean DEFAULT false)
	RETURNS numeric LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_min'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_min(numeric, boolean) IS
	'least of the numeric values so far in the window''s partition';
CREATE FUNCTION gpu_running_min(x money, exclusive boolean DEFAULT false)
	RETURNS money LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_min'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_min(money, boolean) IS
	'least of the money values so far in the window''s partition';
CREATE FUNCTION gpu_running_min(x interval, exclusive boolean DEFAULT false)
	RETURNS interval LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_min'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_min(interval, boolean) IS
	'least of the interval values so far in the window''s partition';
CREATE FUNCTION gpu_running_min(x date, exclusive boolean DEFAULT false)
	RETURNS date LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_min'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_min(date, boolean) IS
	'least of the date values so far in the window''s partition';
CREATE FUNCTION gpu_running_min(x time, exclusive boolean DEFAULT false)
	RETURNS time LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_min'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_min(time, boolean) IS
	'least of the time values so far in the window''s partition';
CREATE FUNCTION gpu_running_min(x timestamp, exclusive boolean DEFAULT false)
	RETURNS timestamp LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_min'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_min(timestamp, boolean) IS
	'least of the timestamp values so far in the window''s partition';
CREATE FUNCTION gpu_running_min(x timestamptz, exclusive boolean DEFAULT false)
	RETURNS timestamptz LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_min'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_min(timestamptz, boolean) IS
	'least of the timestamptz values so far in the window''s partition';

CREATE FUNCTION gpu_running_max(x smallint, exclusive boolean DEFAULT false)
	RETURNS smallint LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_max'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_max(smallint, boolean) IS
	'greatest of the smallint values so far in the window''s partition';
CREATE FUNCTION gpu_running_max(x integer, exclusive boolean DEFAULT false)
	RETURNS integer LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_max'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_max(integer, boolean) IS
	'greatest of the integer values so far in the window''s partition';
CREATE FUNCTION gpu_running_max(x bigint, exclusive boolean DEFAULT false)
	RETURNS bigint LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_max'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_max(bigint, boolean) IS
	'greatest of the bigint values so far in the window''s partition';
CREATE FUNCTION gpu_running_max(x real, exclusive boolean DEFAULT false)
	RETURNS real LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_max'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_max(real, boolean) IS
	'greatest of the real values so far in the window''s partition';
CREATE FUNCTION gpu_running_max(x double precision, exclusive boolean DEFAULT false)
	RETURNS double precision LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_max'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_max(double precision, boolean) IS
	'greatest of the double precision values so far in the window''s partition';
CREATE FUNCTION gpu_running_max(x numeric, exclusive boolean DEFAULT false)
	RETURNS numeric LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_max'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_max(numeric, boolean) IS
	'greatest of the numeric values so far in the window''s partition';
CREATE FUNCTION gpu_running_max(x money, exclusive boolean DEFAULT false)
	RETURNS money LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_max'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_max(money, boolean) IS
	'greatest of the money values so far in the window''s partition';
CREATE FUNCTION gpu_running_max(x interval, exclusive boolean DEFAULT false)
	RETURNS interval LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_max'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_max(interval, boolean) IS
	'greatest of the interval values so far in the window''s partition';
CREATE FUNCTION gpu_running_max(x date, exclusive boolean DEFAULT false)
	RETURNS date LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_max'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_max(date, boolean) IS
	'greatest of the date values so far in the window''s partition';
CREATE FUNCTION gpu_running_max(x time, exclusive boolean DEFAULT false)
	RETURNS time LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_max'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_max(time, boolean) IS
	'greatest of the time values so far in the window''s partition';
CREATE FUNCTION gpu_running_max(x timestamp, exclusive boolean DEFAULT false)
	RETURNS timestamp LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_max'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_max(timestamp, boolean) IS
	'greatest of the timestamp values so far in the window''s partition';
CREATE FUNCTION gpu_running_max(x timestamptz, exclusive boolean DEFAULT false)
	RETURNS timestamptz LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_max'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_max(timestamptz, boolean) IS
	'greatest of the timestamptz values so far in the window''s partition';

CREATE FUNCTION gpu_running_count(x "any", exclusive boolean DEFAULT false)
	RETURNS bigint LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_running_count'
	WINDOW IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support;
COMMENT ON FUNCTION gpu_running_count("any", boolean) IS
	'number of values so far in the window''s partition that are not null';

-- States between servers

-- A state tells the type of its values, so there is a final function for each type.
CREATE FUNCTION gpuagg_int2_sum_state(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int4_sum_state(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int8_sum_state(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_money_sum_state(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_float4_sum_state(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_float8_sum_state(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_numeric_sum_state(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_interval_sum_state(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int2_var_state(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int4_var_state(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_int8_var_state(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_float4_var_state(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_float8_var_state(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_numeric_var_state(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';

CREATE AGGREGATE gpu_sum_state(smallint) (STYPE = internal, SSPACE = 64,
	SFUNC = gpuagg_int2_accum, FINALFUNC = gpuagg_int2_sum_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_sum_state(smallint) IS
	'exact sum of all non-null smallint values as a state to merge';
CREATE AGGREGATE gpu_sum_state(integer) (STYPE = internal, SSPACE = 64,
	SFUNC = gpuagg_int4_accum, FINALFUNC = gpuagg_int4_sum_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_sum_state(integer) IS
	'exact sum of all non-null integer values as a state to merge';
CREATE AGGREGATE gpu_sum_state(bigint) (STYPE = internal, SSPACE = 64,
	SFUNC = gpuagg_int8_accum, FINALFUNC = gpuagg_int8_sum_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_sum_state(bigint) IS
	'exact sum of all non-null bigint values as a state to merge';
CREATE AGGREGATE gpu_sum_state(money) (STYPE = internal, SSPACE = 64,
	SFUNC = gpuagg_money_accum, FINALFUNC = gpuagg_money_sum_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_sum_state(money) IS
	'exact sum of all non-null money values as a state to merge';
CREATE AGGREGATE gpu_sum_state(real) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_float4_accum, FINALFUNC = gpuagg_float4_sum_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_sum_state(real) IS
	'exact sum of all non-null real values as a state to merge';
CREATE AGGREGATE gpu_sum_state(double precision) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_float8_accum, FINALFUNC = gpuagg_float8_sum_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_sum_state(double precision) IS
	'exact sum of all non-null double precision values as a state to merge';
CREATE AGGREGATE gpu_sum_state(numeric) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_numeric_accum, FINALFUNC = gpuagg_numeric_sum_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_sum_state(numeric) IS
	'exact sum of all non-null numeric values as a state to merge';
CREATE AGGREGATE gpu_sum_state(interval) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_interval_accum, FINALFUNC = gpuagg_interval_sum_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_sum_state(interval) IS
	'exact sum of all non-null interval values as a state to merge';

CREATE AGGREGATE gpu_avg_state(smallint) (STYPE = internal, SSPACE = 64,
	SFUNC = gpuagg_int2_accum, FINALFUNC = gpuagg_int2_sum_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_avg_state(smallint) IS
	'exact count and sum of all non-null smallint values as a state to merge';
CREATE AGGREGATE gpu_avg_state(integer) (STYPE = internal, SSPACE = 64,
	SFUNC = gpuagg_int4_accum, FINALFUNC = gpuagg_int4_sum_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_avg_state(integer) IS
	'exact count and sum of all non-null integer values as a state to merge';
CREATE AGGREGATE gpu_avg_state(bigint) (STYPE = internal, SSPACE = 64,
	SFUNC = gpuagg_int8_accum, FINALFUNC = gpuagg_int8_sum_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_avg_state(bigint) IS
	'exact count and sum of all non-null bigint values as a state to merge';
CREATE AGGREGATE gpu_avg_state(real) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_float4_accum, FINALFUNC = gpuagg_float4_sum_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_avg_state(real) IS
	'exact count and sum of all non-null real values as a state to merge';
CREATE AGGREGATE gpu_avg_state(double precision) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_float8_accum, FINALFUNC = gpuagg_float8_sum_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_avg_state(double precision) IS
	'exact count and sum of all non-null double precision values as a state to merge';
CREATE AGGREGATE gpu_avg_state(numeric) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_numeric_accum, FINALFUNC = gpuagg_numeric_sum_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_avg_state(numeric) IS
	'exact count and sum of all non-null numeric values as a state to merge';
CREATE AGGREGATE gpu_avg_state(interval) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_interval_accum, FINALFUNC = gpuagg_interval_sum_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_avg_state(interval) IS
	'exact count and sum of all non-null interval values as a state to merge';

CREATE AGGREGATE gpu_var_state(smallint) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int2_moments, FINALFUNC = gpuagg_int2_var_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_var_state(smallint) IS
	'exact count, sum and sum of squares of all non-null smallint values as a state to merge';
CREATE AGGREGATE gpu_var_state(integer) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int4_moments, FINALFUNC = gpuagg_int4_var_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_var_state(integer) IS
	'exact count, sum and sum of squares of all non-null integer values as a state to merge';
CREATE AGGREGATE gpu_var_state(bigint) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_int8_moments, FINALFUNC = gpuagg_int8_var_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_var_state(bigint) IS
	'exact count, sum and sum of squares of all non-null bigint values as a state to merge';
CREATE AGGREGATE gpu_var_state(real) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_float4_moments, FINALFUNC = gpuagg_float4_var_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_var_state(real) IS
	'exact count, sum and sum of squares of all non-null real values as a state to merge';
CREATE AGGREGATE gpu_var_state(double precision) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_float8_moments, FINALFUNC = gpuagg_float8_var_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_var_state(double precision) IS
	'exact count, sum and sum of squares of all non-null double precision values as a state to merge';
CREATE AGGREGATE gpu_var_state(numeric) (STYPE = internal, SSPACE = 128,
	SFUNC = gpuagg_numeric_moments, FINALFUNC = gpuagg_numeric_var_state,
	COMBINEFUNC = gpuagg_state_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_state_serialize, DESERIALFUNC = gpuagg_state_deserialize);
COMMENT ON AGGREGATE gpu_var_state(numeric) IS
	'exact count, sum and sum of squares of all non-null numeric values as a state to merge';

CREATE FUNCTION gpuagg_merge_sums(internal, bytea) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_merge_sums(internal, bytea, anyelement) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_merge_moments(internal, bytea) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_merge_moments(internal, bytea, anyelement) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_merge_states(internal, bytea) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';

CREATE FUNCTION gpuagg_merge_combine(internal, internal) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_merge_serialize(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_merge_deserialize(bytea, internal) RETURNS internal
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME';

CREATE FUNCTION gpuagg_merged_state(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_merged_sum(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_merged_sum(internal, bytea, anyelement) RETURNS anyelement
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_merged_avg(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_merged_avg(internal, bytea, anyelement) RETURNS anyelement
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_merged_var_pop(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_merged_var_pop(internal, bytea, anyelement) RETURNS anyelement
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_merged_var_samp(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_merged_var_samp(internal, bytea, anyelement) RETURNS anyelement
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_merged_stddev_pop(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_merged_stddev_pop(internal, bytea, anyelement) RETURNS anyelement
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_merged_stddev_samp(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gpuagg_merged_stddev_samp(internal, bytea, anyelement) RETURNS anyelement
	LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';

CREATE AGGREGATE gpu_state_merge(bytea) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_merge_states, FINALFUNC = gpuagg_merged_state,
	COMBINEFUNC = gpuagg_merge_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize);
COMMENT ON AGGREGATE gpu_state_merge(bytea) IS 'state of all rows of all states';

CREATE AGGREGATE gpu_sum_merge(bytea) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_merge_sums, FINALFUNC = gpuagg_merged_sum,
	COMBINEFUNC = gpuagg_merge_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize);
COMMENT ON AGGREGATE gpu_sum_merge(bytea) IS
	'sum over all rows of all states that gpu_sum_state, gpu_avg_state or gpu_var_state made, as numeric';
CREATE AGGREGATE gpu_sum_merge(bytea, anyelement) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_merge_sums, FINALFUNC = gpuagg_merged_sum, FINALFUNC_EXTRA, PARALLEL = SAFE);
COMMENT ON AGGREGATE gpu_sum_merge(bytea, anyelement) IS
	'sum over all rows of all states that gpu_sum_state, gpu_avg_state or gpu_var_state made, of the second argument''s type';

CREATE AGGREGATE gpu_avg_merge(bytea) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_merge_sums, FINALFUNC = gpuagg_merged_avg,
	COMBINEFUNC = gpuagg_merge_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize);
COMMENT ON AGGREGATE gpu_avg_merge(bytea) IS
	'average over all rows of all states that gpu_sum_state, gpu_avg_state or gpu_var_state made, as numeric';
CREATE AGGREGATE gpu_avg_merge(bytea, anyelement) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_merge_sums, FINALFUNC = gpuagg_merged_avg, FINALFUNC_EXTRA, PARALLEL = SAFE);
COMMENT ON AGGREGATE gpu_avg_merge(bytea, anyelement) IS
	'average over all rows of all states that gpu_sum_state, gpu_avg_state or gpu_var_state made, of the second argument''s type';

CREATE AGGREGATE gpu_var_pop_merge(bytea) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_merge_moments, FINALFUNC = gpuagg_merged_var_pop,
	COMBINEFUNC = gpuagg_merge_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize);
COMMENT ON AGGREGATE gpu_var_pop_merge(bytea) IS
	'population variance over all rows of all states that gpu_var_state made, as numeric';
CREATE AGGREGATE gpu_var_pop_merge(bytea, anyelement) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_merge_moments, FINALFUNC = gpuagg_merged_var_pop, FINALFUNC_EXTRA, PARALLEL = SAFE);
COMMENT ON AGGREGATE gpu_var_pop_merge(bytea, anyelement) IS
	'population variance over all rows of all states that gpu_var_state made, of the second argument''s type';

CREATE AGGREGATE gpu_var_samp_merge(bytea) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_merge_moments, FINALFUNC = gpuagg_merged_var_samp,
	COMBINEFUNC = gpuagg_merge_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize);
COMMENT ON AGGREGATE gpu_var_samp_merge(bytea) IS
	'sample variance over all rows of all states that gpu_var_state made, as numeric';
CREATE AGGREGATE gpu_var_samp_merge(bytea, anyelement) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_merge_moments, FINALFUNC = gpuagg_merged_var_samp, FINALFUNC_EXTRA, PARALLEL = SAFE);
COMMENT ON AGGREGATE gpu_var_samp_merge(bytea, anyelement) IS
	'sample variance over all rows of all states that gpu_var_state made, of the second argument''s type';

CREATE AGGREGATE gpu_variance_merge(bytea) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_merge_moments, FINALFUNC = gpuagg_merged_var_samp,
	COMBINEFUNC = gpuagg_merge_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize);
COMMENT ON AGGREGATE gpu_variance_merge(bytea) IS
	'sample variance over all rows of all states that gpu_var_state made, as numeric';
CREATE AGGREGATE gpu_variance_merge(bytea, anyelement) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_merge_moments, FINALFUNC = gpuagg_merged_var_samp, FINALFUNC_EXTRA, PARALLEL = SAFE);
COMMENT ON AGGREGATE gpu_variance_merge(bytea, anyelement) IS
	'sample variance over all rows of all states that gpu_var_state made, of the second argument''s type';

CREATE AGGREGATE gpu_stddev_pop_merge(bytea) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_merge_moments, FINALFUNC = gpuagg_merged_stddev_pop,
	COMBINEFUNC = gpuagg_merge_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize);
COMMENT ON AGGREGATE gpu_stddev_pop_merge(bytea) IS
	'population standard deviation over all rows of all states that gpu_var_state made, as numeric';
CREATE AGGREGATE gpu_stddev_pop_merge(bytea, anyelement) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_merge_moments, FINALFUNC = gpuagg_merged_stddev_pop, FINALFUNC_EXTRA, PARALLEL = SAFE);
COMMENT ON AGGREGATE gpu_stddev_pop_merge(bytea, anyelement) IS
	'population standard deviation over all rows of all states that gpu_var_state made, of the second argument''s type';

CREATE AGGREGATE gpu_stddev_samp_merge(bytea) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_merge_moments, FINALFUNC = gpuagg_merged_stddev_samp,
	COMBINEFUNC = gpuagg_merge_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize);
COMMENT ON AGGREGATE gpu_stddev_samp_merge(bytea) IS
	'sample standard deviation over all rows of all states that gpu_var_state made, as numeric';
CREATE AGGREGATE gpu_stddev_samp_merge(bytea, anyelement) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_merge_moments, FINALFUNC = gpuagg_merged_stddev_samp, FINALFUNC_EXTRA, PARALLEL = SAFE);
COMMENT ON AGGREGATE gpu_stddev_samp_merge(bytea, anyelement) IS
	'sample standard deviation over all rows of all states that gpu_var_state made, of the second argument''s type';

CREATE AGGREGATE gpu_stddev_merge(bytea) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_merge_moments, FINALFUNC = gpuagg_merged_stddev_samp,
	COMBINEFUNC = gpuagg_merge_combine, PARALLEL = SAFE,
	SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize);
COMMENT ON AGGREGATE gpu_stddev_merge(bytea) IS
	'sample standard deviation over all rows of all states that gpu_var_state made, as numeric';
CREATE AGGREGATE gpu_stddev_merge(bytea, anyelement) (STYPE = internal, SSPACE = 256,
	SFUNC = gpuagg_merge_moments, FINALFUNC = gpuagg_merged_stddev_samp, FINALFUNC_EXTRA, PARALLEL = SAFE);
COMMENT ON AGGREGATE gpu_stddev_merge(bytea, anyelement) IS
	'sample standard deviation over all rows of all states that gpu_var_state made, of the second argument''s type';

-- Citus combines what workers compute where a state has a type that can be sent.  Elsewhere states are
-- internal, which takes less memory for each group.
DO $$
DECLARE
	path text := pg_catalog.current_setting('search_path');
	commands text[];
	command text;
BEGIN
	IF NOT EXISTS (SELECT FROM pg_catalog.pg_extension
			WHERE extname OPERATOR(pg_catalog.=) 'citus'::pg_catalog.name) THEN
		RETURN;
	END IF;
	CREATE TYPE gpu_state;
	CREATE FUNCTION gpuagg_typed_in(cstring) RETURNS gpu_state
		LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME';
	CREATE FUNCTION gpuagg_typed_out(gpu_state) RETURNS cstring
		LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME';
	CREATE FUNCTION gpuagg_typed_recv(internal) RETURNS gpu_state
		LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME';
	CREATE FUNCTION gpuagg_typed_send(gpu_state) RETURNS bytea
		LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME';
	CREATE TYPE gpu_state (INPUT = gpuagg_typed_in, OUTPUT = gpuagg_typed_out, RECEIVE = gpuagg_typed_recv,
		SEND = gpuagg_typed_send, INTERNALLENGTH = VARIABLE, STORAGE = extended);
	COMMENT ON TYPE gpu_state IS 'state of an aggregate of gpuagg, as it goes from server to server';
	CREATE FUNCTION gpuagg_typed_combine(gpu_state, gpu_state) RETURNS gpu_state
		LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
	-- others may have operators and functions in the extension's schema
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	commands := ARRAY(WITH members AS (SELECT a.*, p.proname, format_type(p.proargtypes[0], NULL) AS argument
			FROM pg_aggregate a JOIN pg_proc p ON p.oid = aggfnoid JOIN pg_proc s ON s.oid = aggserialfn
				JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
				JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid
			WHERE e.extname = 'gpuagg' AND s.proname = 'gpuagg_state_serialize' AND p.proname !~ '_state$')
		SELECT c FROM (SELECT DISTINCT 1, format('CREATE FUNCTION gpuagg_typed_%1$s(gpu_state, %2$s) RETURNS
					gpu_state LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support
					AS ''MODULE_PATHNAME'', ''gpuagg_typed_%3$s''',
				substr(f.proname, 8), argument, substr(f.prosrc, 8))
			FROM members JOIN pg_proc f ON f.oid = aggtransfn
			UNION ALL SELECT DISTINCT 2, format('CREATE FUNCTION gpuagg_typed_%1$s(gpu_state) RETURNS %2$s
					LANGUAGE C IMMUTABLE PARALLEL SAFE AS ''MODULE_PATHNAME'', ''gpuagg_typed_%3$s''',
				substr(f.proname, 8), format_type(f.prorettype, NULL), substr(f.prosrc, 8))
			FROM members JOIN pg_proc f ON f.oid = aggfinalfn
			UNION ALL SELECT 3, format('CREATE OR REPLACE AGGREGATE %1$s(%2$s) (STYPE = gpu_state, SSPACE = %3$s,
					SFUNC = gpuagg_typed_%4$s, FINALFUNC = gpuagg_typed_%5$s, COMBINEFUNC = gpuagg_typed_combine,
					PARALLEL = SAFE', m.proname, argument, aggtransspace + 128, substr(t.proname, 8), substr(f.proname, 8))
				|| CASE WHEN aggmtransfn <> 0 THEN format(', MSTYPE = internal, MSSPACE = %s, MFINALFUNC = %s,
					MSFUNC = %s, MINVFUNC = %s', aggmtransspace, mf.proname, mt.proname, mi.proname) ELSE '' END
				|| CASE WHEN aggsortop <> 0 THEN format(', SORTOP = OPERATOR(pg_catalog.%s)', oprname) ELSE '' END
				|| ')'
			FROM members m JOIN pg_proc t ON t.oid = aggtransfn JOIN pg_proc f ON f.oid = aggfinalfn
				LEFT JOIN pg_proc mt ON mt.oid = aggmtransfn LEFT JOIN pg_proc mi ON mi.oid = aggminvtransfn
				LEFT JOIN pg_proc mf ON mf.oid = aggmfinalfn LEFT JOIN pg_operator o ON o.oid = aggsortop) q(step, c)
		ORDER BY step, c COLLATE "C");
	PERFORM set_config('search_path', path, true);
	FOREACH command IN ARRAY commands LOOP
		EXECUTE command;
	END LOOP;
END
$$;

-- Aggregates over windows
--
-- For an aggregate over a window the planner calls the support function of the aggregate itself.
-- Neither CREATE AGGREGATE nor ALTER FUNCTION can set it.  Where it is missing, as after
-- pg_upgrade, a session's first such statement may be planned before the library is loaded.

UPDATE pg_catalog.pg_proc SET prosupport = 'gpuagg_support(internal)'::pg_catalog.regprocedure
	FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
	WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid AND d.objid = pg_proc.oid
		AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid AND d.deptype = 'e'
		AND e.extname = 'gpuagg' AND prokind = 'a';

-- Arrays: every algorithm by name
--
-- Whether a call succeeds can depend on the settings and on the device, hence STABLE.

CREATE FUNCTION gpu_reduce("values" integer[], op text DEFAULT 'sum',
	algorithm text DEFAULT 'production') RETURNS bigint
	LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_reduce_array'
	STABLE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION gpu_reduce(integer[], text, text) IS
	'sum, min or max of the elements of an array, by the algorithm of that name';
CREATE FUNCTION gpu_reduce("values" bigint[], op text DEFAULT 'sum',
	algorithm text DEFAULT 'production') RETURNS bigint
	LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_reduce_array'
	STABLE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION gpu_reduce(bigint[], text, text) IS
	'sum, min or max of the elements of an array, by the algorithm of that name';
CREATE FUNCTION gpu_reduce("values" real[], op text DEFAULT 'sum',
	algorithm text DEFAULT 'production') RETURNS real
	LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_reduce_array'
	STABLE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION gpu_reduce(real[], text, text) IS
	'sum, min or max of the elements of an array, by the algorithm of that name';
CREATE FUNCTION gpu_reduce("values" double precision[], op text DEFAULT 'sum',
	algorithm text DEFAULT 'production') RETURNS double precision
	LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_reduce_array'
	STABLE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION gpu_reduce(double precision[], text, text) IS
	'sum, min or max of the elements of an array, by the algorithm of that name';

CREATE FUNCTION gpu_scan("values" integer[], op text DEFAULT 'sum',
	exclusive boolean DEFAULT false, algorithm text DEFAULT 'production')
	RETURNS bigint[] LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_scan_array'
	STABLE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION gpu_scan(integer[], text, boolean, text) IS
	'running sums, minima or maxima of the elements of an array, by the algorithm of that name';
CREATE FUNCTION gpu_scan("values" bigint[], op text DEFAULT 'sum',
	exclusive boolean DEFAULT false, algorithm text DEFAULT 'production')
	RETURNS bigint[] LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_scan_array'
	STABLE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION gpu_scan(bigint[], text, boolean, text) IS
	'running sums, minima or maxima of the elements of an array, by the algorithm of that name';
CREATE FUNCTION gpu_scan("values" real[], op text DEFAULT 'sum',
	exclusive boolean DEFAULT false, algorithm text DEFAULT 'production')
	RETURNS real[] LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_scan_array'
	STABLE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION gpu_scan(real[], text, boolean, text) IS
	'running sums, minima or maxima of the elements of an array, by the algorithm of that name';
CREATE FUNCTION gpu_scan("values" double precision[], op text DEFAULT 'sum',
	exclusive boolean DEFAULT false, algorithm text DEFAULT 'production')
	RETURNS double precision[] LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_scan_array'
	STABLE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION gpu_scan(double precision[], text, boolean, text) IS
	'running sums, minima or maxima of the elements of an array, by the algorithm of that name';

CREATE FUNCTION gpu_segmented_scan("values" integer[], heads boolean[], op text DEFAULT 'sum',
	exclusive boolean DEFAULT false, algorithm text DEFAULT 'production')
	RETURNS bigint[] LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_segmented_scan_array'
	STABLE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION gpu_segmented_scan(integer[], boolean[], text, boolean, text) IS
	'gpu_scan that starts anew at each element whose head is true';
CREATE FUNCTION gpu_segmented_scan("values" bigint[], heads boolean[], op text DEFAULT 'sum',
	exclusive boolean DEFAULT false, algorithm text DEFAULT 'production')
	RETURNS bigint[] LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_segmented_scan_array'
	STABLE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION gpu_segmented_scan(bigint[], boolean[], text, boolean, text) IS
	'gpu_scan that starts anew at each element whose head is true';
CREATE FUNCTION gpu_segmented_scan("values" real[], heads boolean[], op text DEFAULT 'sum',
	exclusive boolean DEFAULT false, algorithm text DEFAULT 'production')
	RETURNS real[] LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_segmented_scan_array'
	STABLE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION gpu_segmented_scan(real[], boolean[], text, boolean, text) IS
	'gpu_scan that starts anew at each element whose head is true';
CREATE FUNCTION gpu_segmented_scan("values" double precision[], heads boolean[],
	op text DEFAULT 'sum', exclusive boolean DEFAULT false, algorithm text DEFAULT 'production')
	RETURNS double precision[] LANGUAGE C AS 'MODULE_PATHNAME', 'gpuagg_segmented_scan_array'
	STABLE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION gpu_segmented_scan(double precision[], boolean[], text, boolean, text) IS
	'gpu_scan that starts anew at each element whose head is true';

-- Administration
--
-- What returns other columns than in an earlier release has a C function of another name: a session that
-- still has the earlier library does not find it.

CREATE FUNCTION gpuagg_version() RETURNS text
	LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION gpuagg_version() IS 'version of the library that this session has loaded';

CREATE FUNCTION gpuagg_devices(
	OUT device integer, OUT name text, OUT capability text, OUT multiprocessors integer,
	OUT memory_total bigint, OUT memory_free bigint, OUT usable boolean, OUT reason text)
	RETURNS SETOF record
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION gpuagg_devices() IS
	'devices that the device program sees, memory in bytes; or one row with the reason why there is none';

CREATE FUNCTION gpuagg_last_query(
	OUT engine text, OUT cpu_batches bigint, OUT device_batches bigint, OUT rows bigint,
	OUT bytes bigint, OUT fallbacks bigint, OUT reason text,
	OUT table_pages bigint, OUT table_rows bigint, OUT table_vectors bigint,
	OUT resident_pages bigint, OUT resident_confirmed bigint, OUT resident_filled bigint, OUT resident_skipped bigint)
	RETURNS record
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'gpuagg_last_query_0_2';
COMMENT ON FUNCTION gpuagg_last_query() IS
	'engines that did the work of this session''s last query with gpuagg, and why not the device';

CREATE FUNCTION gpuagg_stat_get(
	OUT calls bigint, OUT cpu_batches bigint, OUT cpu_rows bigint, OUT cpu_bytes bigint,
	OUT device_batches bigint, OUT device_rows bigint, OUT device_bytes bigint,
	OUT fallbacks bigint, OUT fallbacks_by_reason jsonb, OUT shared boolean,
	OUT device_state text, OUT device_reason text, OUT stats_reset timestamptz,
	OUT table_pages bigint, OUT table_rows bigint, OUT table_vectors bigint,
	OUT resident_pages bigint, OUT resident_confirmed bigint, OUT resident_filled bigint, OUT resident_skipped bigint)
	RETURNS record
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'gpuagg_stat_get_0_2';

CREATE VIEW gpuagg_stat AS
	SELECT calls, cpu_batches, cpu_rows, cpu_bytes, device_batches, device_rows, device_bytes,
		fallbacks, fallbacks_by_reason, shared, device_state, device_reason, stats_reset,
		table_pages, table_rows, table_vectors,
		resident_pages, resident_confirmed, resident_filled, resident_skipped
	FROM gpuagg_stat_get();
COMMENT ON VIEW gpuagg_stat IS
	'work done by gpuagg in this cluster since the counters were reset or the server was started';
COMMENT ON COLUMN gpuagg_stat.calls IS 'call sites of gpuagg functions that queries have begun';
COMMENT ON COLUMN gpuagg_stat.fallbacks IS 'batches meant for the device that the CPU did';
COMMENT ON COLUMN gpuagg_stat.shared IS
	'false when there was no room for shared counters and these are this session''s own';
COMMENT ON COLUMN gpuagg_stat.device_state IS
	'idle (starts when needed), starting, ready, silent, stopped or unavailable';
COMMENT ON COLUMN gpuagg_stat.table_pages IS 'pages of tables that the node GpuAgg has read as columns';
COMMENT ON COLUMN gpuagg_stat.resident_pages IS 'pages whose columns came from memory';
GRANT SELECT ON gpuagg_stat TO PUBLIC;

CREATE FUNCTION gpuagg_stat_reset() RETURNS void
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION gpuagg_stat_reset() IS 'sets the counters of gpuagg_stat to zero';
REVOKE ALL ON FUNCTION gpuagg_stat_reset() FROM PUBLIC;

CREATE FUNCTION gpuagg_resident_get(
	OUT relation oid, OUT attribute smallint, OUT place text, OUT chunks bigint, OUT pages bigint,
	OUT rows bigint, OUT bytes bigint, OUT uses bigint, OUT last_use timestamptz, OUT reason text,
	OUT device_chunks bigint, OUT device_bytes bigint)
	RETURNS SETOF record
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 20 AS 'MODULE_PATHNAME';

CREATE VIEW gpuagg_resident AS
	SELECT r.relation::regclass AS relation, a.attname AS attribute, r.place, r.chunks, r.pages,
		pg_relation_size(r.relation) / current_setting('block_size')::bigint AS table_pages, r.rows,
		r.bytes, r.device_chunks, r.device_bytes, r.uses, r.last_use, r.reason
	FROM gpuagg_resident_get() r JOIN pg_attribute a ON a.attrelid = r.relation AND a.attnum = r.attribute;
COMMENT ON VIEW gpuagg_resident IS
	'columns of this database''s tables that are in memory, of those that one may read';
GRANT SELECT ON gpuagg_resident TO PUBLIC;

CREATE FUNCTION gpuagg_prefetch(
	relation regclass, columns name[] DEFAULT NULL,
	OUT rows bigint, OUT bytes bigint, OUT seconds double precision) RETURNS record
	LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION gpuagg_prefetch(regclass, name[]) IS
	'reads columns of a table, or all that can be, into memory; returns what is there of it then';

CREATE FUNCTION gpuagg_evict(relation regclass DEFAULT NULL) RETURNS integer
	LANGUAGE C VOLATILE PARALLEL RESTRICTED AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION gpuagg_evict(regclass) IS
	'throws a table''s columns out of memory, or those of all of the database''s tables; returns their number';

CREATE FUNCTION gpuagg_stop() RETURNS boolean
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION gpuagg_stop() IS
	'ends the device program until gpuagg_restart() or the next start of the server; true when it has ended';
REVOKE ALL ON FUNCTION gpuagg_stop() FROM PUBLIC;

CREATE FUNCTION gpuagg_restart() RETURNS boolean
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION gpuagg_restart() IS
	'ends the device program if it runs, forgets earlier failures and starts it; true when it was asked to start';
REVOKE ALL ON FUNCTION gpuagg_restart() FROM PUBLIC;

CREATE FUNCTION gpuagg_kernel_benchmark(
	kind text, type text, rows bigint DEFAULT 16777216,
	OUT algorithm text, OUT rows bigint,
	OUT median_us double precision, OUT gb_per_s double precision,
	OUT bandwidth_share double precision, OUT step_speedup double precision,
	OUT cumulative_speedup double precision, OUT additions_per_element double precision,
	OUT correct boolean) RETURNS SETOF record
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 25 AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION gpuagg_kernel_benchmark(text, text, bigint) IS
	'times every algorithm of a kind (reduce, scan, segmented_scan) on the device, beside CUB';
REVOKE ALL ON FUNCTION gpuagg_kernel_benchmark(text, text, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpuagg_kernel_benchmark(text, text, bigint) TO pg_monitor;
