-- gpuagg 0.1.0

\echo Use "CREATE EXTENSION gpuagg" to load this file. \quit

-- Planning

CREATE FUNCTION gpuagg_support(internal) RETURNS internal
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_support';
COMMENT ON FUNCTION gpuagg_support(internal) IS
	'planner support function: loads the library while a query is planned';

-- Integers and money

CREATE FUNCTION gpuagg_int2_accum(internal, smallint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int2_accum';
COMMENT ON FUNCTION gpuagg_int2_accum(internal, smallint) IS
	'transition function of gpu_sum(smallint) and gpu_avg(smallint)';

CREATE FUNCTION gpuagg_int2_accum_inv(internal, smallint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int2_accum_inv';
COMMENT ON FUNCTION gpuagg_int2_accum_inv(internal, smallint) IS
	'inverse transition function of gpu_sum(smallint) and gpu_avg(smallint)';

CREATE FUNCTION gpuagg_int4_accum(internal, integer) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int4_accum';
COMMENT ON FUNCTION gpuagg_int4_accum(internal, integer) IS
	'transition function of gpu_sum(integer) and gpu_avg(integer)';

CREATE FUNCTION gpuagg_int4_accum_inv(internal, integer) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int4_accum_inv';
COMMENT ON FUNCTION gpuagg_int4_accum_inv(internal, integer) IS
	'inverse transition function of gpu_sum(integer) and gpu_avg(integer)';

CREATE FUNCTION gpuagg_int8_accum(internal, bigint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int8_accum';
COMMENT ON FUNCTION gpuagg_int8_accum(internal, bigint) IS
	'transition function of gpu_sum(bigint) and gpu_avg(bigint)';

CREATE FUNCTION gpuagg_int8_accum_inv(internal, bigint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int8_accum_inv';
COMMENT ON FUNCTION gpuagg_int8_accum_inv(internal, bigint) IS
	'inverse transition function of gpu_sum(bigint) and gpu_avg(bigint)';

CREATE FUNCTION gpuagg_money_accum(internal, money) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int8_accum';
COMMENT ON FUNCTION gpuagg_money_accum(internal, money) IS
	'transition function of gpu_sum(money)';

CREATE FUNCTION gpuagg_money_accum_inv(internal, money) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int8_accum_inv';
COMMENT ON FUNCTION gpuagg_money_accum_inv(internal, money) IS
	'inverse transition function of gpu_sum(money)';

CREATE FUNCTION gpuagg_int2_moments(internal, smallint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int2_moments';
COMMENT ON FUNCTION gpuagg_int2_moments(internal, smallint) IS
	'transition function of variances and standard deviations of smallint values';

CREATE FUNCTION gpuagg_int2_moments_inv(internal, smallint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int2_moments_inv';
COMMENT ON FUNCTION gpuagg_int2_moments_inv(internal, smallint) IS
	'inverse transition function of variances and standard deviations of smallint values';

CREATE FUNCTION gpuagg_int4_moments(internal, integer) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int4_moments';
COMMENT ON FUNCTION gpuagg_int4_moments(internal, integer) IS
	'transition function of variances and standard deviations of integer values';

CREATE FUNCTION gpuagg_int4_moments_inv(internal, integer) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int4_moments_inv';
COMMENT ON FUNCTION gpuagg_int4_moments_inv(internal, integer) IS
	'inverse transition function of variances and standard deviations of integer values';

CREATE FUNCTION gpuagg_int8_moments(internal, bigint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int8_moments';
COMMENT ON FUNCTION gpuagg_int8_moments(internal, bigint) IS
	'transition function of variances and standard deviations of bigint values';

CREATE FUNCTION gpuagg_int8_moments_inv(internal, bigint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int8_moments_inv';
COMMENT ON FUNCTION gpuagg_int8_moments_inv(internal, bigint) IS
	'inverse transition function of variances and standard deviations of bigint values';

CREATE FUNCTION gpuagg_int_combine(internal, internal) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_int_combine';
COMMENT ON FUNCTION gpuagg_int_combine(internal, internal) IS
	'combine function of aggregates over integers and money';

CREATE FUNCTION gpuagg_int_serialize(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_int_serialize';
COMMENT ON FUNCTION gpuagg_int_serialize(internal) IS
	'serialization function of aggregates over integers and money';

CREATE FUNCTION gpuagg_int_deserialize(bytea, internal) RETURNS internal
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_int_deserialize';
COMMENT ON FUNCTION gpuagg_int_deserialize(bytea, internal) IS
	'deserialization function of aggregates over integers and money';

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

CREATE FUNCTION gpuagg_int_sum_money(internal) RETURNS money
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_int_sum_money';
COMMENT ON FUNCTION gpuagg_int_sum_money(internal) IS
	'final function of gpu_sum(money)';

CREATE FUNCTION gpuagg_int_avg(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_int_avg';
COMMENT ON FUNCTION gpuagg_int_avg(internal) IS
	'final function of gpu_avg over integers';

CREATE FUNCTION gpuagg_int_var_pop(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_int_var_pop';
COMMENT ON FUNCTION gpuagg_int_var_pop(internal) IS
	'final function of gpu_var_pop over integers';

CREATE FUNCTION gpuagg_int_var_samp(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_int_var_samp';
COMMENT ON FUNCTION gpuagg_int_var_samp(internal) IS
	'final function of gpu_var_samp and gpu_variance over integers';

CREATE FUNCTION gpuagg_int_stddev_pop(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_int_stddev_pop';
COMMENT ON FUNCTION gpuagg_int_stddev_pop(internal) IS
	'final function of gpu_stddev_pop over integers';

CREATE FUNCTION gpuagg_int_stddev_samp(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_int_stddev_samp';
COMMENT ON FUNCTION gpuagg_int_stddev_samp(internal) IS
	'final function of gpu_stddev_samp and gpu_stddev over integers';

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

CREATE AGGREGATE gpu_sum(money) (
	SFUNC = gpuagg_money_accum, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_int_sum_money,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_money_accum, MINVFUNC = gpuagg_money_accum_inv, MSTYPE = internal, MSSPACE = 64,
	MFINALFUNC = gpuagg_int_sum_money,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_sum(money) IS
	'exact sum of all non-null money values';

CREATE AGGREGATE gpu_avg(smallint) (
	SFUNC = gpuagg_int2_accum, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_int_avg,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int2_accum, MINVFUNC = gpuagg_int2_accum_inv, MSTYPE = internal, MSSPACE = 64,
	MFINALFUNC = gpuagg_int_avg,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_avg(smallint) IS
	'average of all non-null smallint values';

CREATE AGGREGATE gpu_avg(integer) (
	SFUNC = gpuagg_int4_accum, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_int_avg,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int4_accum, MINVFUNC = gpuagg_int4_accum_inv, MSTYPE = internal, MSSPACE = 64,
	MFINALFUNC = gpuagg_int_avg,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_avg(integer) IS
	'average of all non-null integer values';

CREATE AGGREGATE gpu_avg(bigint) (
	SFUNC = gpuagg_int8_accum, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_int_avg,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int8_accum, MINVFUNC = gpuagg_int8_accum_inv, MSTYPE = internal, MSSPACE = 64,
	MFINALFUNC = gpuagg_int_avg,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_avg(bigint) IS
	'average of all non-null bigint values';

CREATE AGGREGATE gpu_var_pop(smallint) (
	SFUNC = gpuagg_int2_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_int_var_pop,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int2_moments, MINVFUNC = gpuagg_int2_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_int_var_pop,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_pop(smallint) IS
	'population variance of all non-null smallint values';

CREATE AGGREGATE gpu_var_pop(integer) (
	SFUNC = gpuagg_int4_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_int_var_pop,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int4_moments, MINVFUNC = gpuagg_int4_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_int_var_pop,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_pop(integer) IS
	'population variance of all non-null integer values';

CREATE AGGREGATE gpu_var_pop(bigint) (
	SFUNC = gpuagg_int8_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_int_var_pop,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int8_moments, MINVFUNC = gpuagg_int8_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_int_var_pop,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_pop(bigint) IS
	'population variance of all non-null bigint values';

CREATE AGGREGATE gpu_var_samp(smallint) (
	SFUNC = gpuagg_int2_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_int_var_samp,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int2_moments, MINVFUNC = gpuagg_int2_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_int_var_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_samp(smallint) IS
	'sample variance of all non-null smallint values';

CREATE AGGREGATE gpu_var_samp(integer) (
	SFUNC = gpuagg_int4_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_int_var_samp,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int4_moments, MINVFUNC = gpuagg_int4_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_int_var_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_samp(integer) IS
	'sample variance of all non-null integer values';

CREATE AGGREGATE gpu_var_samp(bigint) (
	SFUNC = gpuagg_int8_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_int_var_samp,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int8_moments, MINVFUNC = gpuagg_int8_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_int_var_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_samp(bigint) IS
	'sample variance of all non-null bigint values';

CREATE AGGREGATE gpu_variance(smallint) (
	SFUNC = gpuagg_int2_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_int_var_samp,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int2_moments, MINVFUNC = gpuagg_int2_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_int_var_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_variance(smallint) IS
	'sample variance, as gpu_var_samp, of all non-null smallint values';

CREATE AGGREGATE gpu_variance(integer) (
	SFUNC = gpuagg_int4_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_int_var_samp,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int4_moments, MINVFUNC = gpuagg_int4_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_int_var_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_variance(integer) IS
	'sample variance, as gpu_var_samp, of all non-null integer values';

CREATE AGGREGATE gpu_variance(bigint) (
	SFUNC = gpuagg_int8_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_int_var_samp,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int8_moments, MINVFUNC = gpuagg_int8_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_int_var_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_variance(bigint) IS
	'sample variance, as gpu_var_samp, of all non-null bigint values';

CREATE AGGREGATE gpu_stddev_pop(smallint) (
	SFUNC = gpuagg_int2_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_int_stddev_pop,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int2_moments, MINVFUNC = gpuagg_int2_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_int_stddev_pop,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev_pop(smallint) IS
	'population standard deviation of all non-null smallint values';

CREATE AGGREGATE gpu_stddev_pop(integer) (
	SFUNC = gpuagg_int4_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_int_stddev_pop,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int4_moments, MINVFUNC = gpuagg_int4_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_int_stddev_pop,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev_pop(integer) IS
	'population standard deviation of all non-null integer values';

CREATE AGGREGATE gpu_stddev_pop(bigint) (
	SFUNC = gpuagg_int8_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_int_stddev_pop,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int8_moments, MINVFUNC = gpuagg_int8_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_int_stddev_pop,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev_pop(bigint) IS
	'population standard deviation of all non-null bigint values';

CREATE AGGREGATE gpu_stddev_samp(smallint) (
	SFUNC = gpuagg_int2_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_int_stddev_samp,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int2_moments, MINVFUNC = gpuagg_int2_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_int_stddev_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev_samp(smallint) IS
	'sample standard deviation of all non-null smallint values';

CREATE AGGREGATE gpu_stddev_samp(integer) (
	SFUNC = gpuagg_int4_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_int_stddev_samp,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int4_moments, MINVFUNC = gpuagg_int4_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_int_stddev_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev_samp(integer) IS
	'sample standard deviation of all non-null integer values';

CREATE AGGREGATE gpu_stddev_samp(bigint) (
	SFUNC = gpuagg_int8_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_int_stddev_samp,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int8_moments, MINVFUNC = gpuagg_int8_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_int_stddev_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev_samp(bigint) IS
	'sample standard deviation of all non-null bigint values';

CREATE AGGREGATE gpu_stddev(smallint) (
	SFUNC = gpuagg_int2_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_int_stddev_samp,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int2_moments, MINVFUNC = gpuagg_int2_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_int_stddev_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev(smallint) IS
	'sample standard deviation, as gpu_stddev_samp, of all non-null smallint values';

CREATE AGGREGATE gpu_stddev(integer) (
	SFUNC = gpuagg_int4_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_int_stddev_samp,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int4_moments, MINVFUNC = gpuagg_int4_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_int_stddev_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev(integer) IS
	'sample standard deviation, as gpu_stddev_samp, of all non-null integer values';

CREATE AGGREGATE gpu_stddev(bigint) (
	SFUNC = gpuagg_int8_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_int_stddev_samp,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	MSFUNC = gpuagg_int8_moments, MINVFUNC = gpuagg_int8_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_int_stddev_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev(bigint) IS
	'sample standard deviation, as gpu_stddev_samp, of all non-null bigint values';

-- Floats: sums and averages

CREATE FUNCTION gpuagg_float4_accum(internal, real) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_float4_accum';
COMMENT ON FUNCTION gpuagg_float4_accum(internal, real) IS
	'transition function of gpu_sum(real) and gpu_avg(real)';

CREATE FUNCTION gpuagg_float4_accum_inv(internal, real) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_float4_accum_inv';
COMMENT ON FUNCTION gpuagg_float4_accum_inv(internal, real) IS
	'inverse transition function of gpu_sum(real) and gpu_avg(real)';

CREATE FUNCTION gpuagg_float8_accum(internal, double precision) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_float8_accum';
COMMENT ON FUNCTION gpuagg_float8_accum(internal, double precision) IS
	'transition function of gpu_sum(double precision) and gpu_avg(double precision)';

CREATE FUNCTION gpuagg_float8_accum_inv(internal, double precision) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_float8_accum_inv';
COMMENT ON FUNCTION gpuagg_float8_accum_inv(internal, double precision) IS
	'inverse transition function of gpu_sum(double precision) and gpu_avg(double precision)';

CREATE FUNCTION gpuagg_float_combine(internal, internal) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_float_combine';
COMMENT ON FUNCTION gpuagg_float_combine(internal, internal) IS
	'combine function of the aggregates over floats';

CREATE FUNCTION gpuagg_float_serialize(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_float_serialize';
COMMENT ON FUNCTION gpuagg_float_serialize(internal) IS
	'serialization function of the aggregates over floats';

CREATE FUNCTION gpuagg_float_deserialize(bytea, internal) RETURNS internal
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_float_deserialize';
COMMENT ON FUNCTION gpuagg_float_deserialize(bytea, internal) IS
	'deserialization function of the aggregates over floats';

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

CREATE FUNCTION gpuagg_float_avg(internal) RETURNS double precision
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_float_avg';
COMMENT ON FUNCTION gpuagg_float_avg(internal) IS
	'final function of gpu_avg over floats';

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

CREATE AGGREGATE gpu_avg(real) (
	SFUNC = gpuagg_float4_accum, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_float_avg,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	MSFUNC = gpuagg_float4_accum, MINVFUNC = gpuagg_float4_accum_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_float_avg,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_avg(real) IS
	'exact average of all non-null real values, rounded once';

CREATE AGGREGATE gpu_avg(double precision) (
	SFUNC = gpuagg_float8_accum, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_float_avg,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	MSFUNC = gpuagg_float8_accum, MINVFUNC = gpuagg_float8_accum_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_float_avg,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_avg(double precision) IS
	'exact average of all non-null double precision values, rounded once';

-- Floats: variances and standard deviations

CREATE FUNCTION gpuagg_float4_moments(internal, real) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_float4_moments';
COMMENT ON FUNCTION gpuagg_float4_moments(internal, real) IS
	'transition function of the variances of real';

CREATE FUNCTION gpuagg_float4_moments_inv(internal, real) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_float4_moments_inv';
COMMENT ON FUNCTION gpuagg_float4_moments_inv(internal, real) IS
	'inverse transition function of the variances of real';

CREATE FUNCTION gpuagg_float8_moments(internal, double precision) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_float8_moments';
COMMENT ON FUNCTION gpuagg_float8_moments(internal, double precision) IS
	'transition function of the variances of double precision';

CREATE FUNCTION gpuagg_float8_moments_inv(internal, double precision) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_float8_moments_inv';
COMMENT ON FUNCTION gpuagg_float8_moments_inv(internal, double precision) IS
	'inverse transition function of the variances of double precision';

CREATE FUNCTION gpuagg_float_var_pop(internal) RETURNS double precision
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_float_var_pop';
COMMENT ON FUNCTION gpuagg_float_var_pop(internal) IS
	'final function of gpu_var_pop over floats';

CREATE FUNCTION gpuagg_float_var_samp(internal) RETURNS double precision
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_float_var_samp';
COMMENT ON FUNCTION gpuagg_float_var_samp(internal) IS
	'final function of gpu_var_samp and gpu_variance over floats';

CREATE FUNCTION gpuagg_float_stddev_pop(internal) RETURNS double precision
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_float_stddev_pop';
COMMENT ON FUNCTION gpuagg_float_stddev_pop(internal) IS
	'final function of gpu_stddev_pop over floats';

CREATE FUNCTION gpuagg_float_stddev_samp(internal) RETURNS double precision
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_float_stddev_samp';
COMMENT ON FUNCTION gpuagg_float_stddev_samp(internal) IS
	'final function of gpu_stddev_samp and gpu_stddev over floats';

CREATE AGGREGATE gpu_var_pop(real) (
	SFUNC = gpuagg_float4_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_float_var_pop,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	MSFUNC = gpuagg_float4_moments, MINVFUNC = gpuagg_float4_moments_inv, MSTYPE = internal, MSSPACE = 256,
	MFINALFUNC = gpuagg_float_var_pop,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_pop(real) IS
	'exact population variance of all non-null real values, rounded once';

CREATE AGGREGATE gpu_var_pop(double precision) (
	SFUNC = gpuagg_float8_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_float_var_pop,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	MSFUNC = gpuagg_float8_moments, MINVFUNC = gpuagg_float8_moments_inv, MSTYPE = internal, MSSPACE = 256,
	MFINALFUNC = gpuagg_float_var_pop,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_pop(double precision) IS
	'exact population variance of all non-null double precision values, rounded once';

CREATE AGGREGATE gpu_var_samp(real) (
	SFUNC = gpuagg_float4_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_float_var_samp,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	MSFUNC = gpuagg_float4_moments, MINVFUNC = gpuagg_float4_moments_inv, MSTYPE = internal, MSSPACE = 256,
	MFINALFUNC = gpuagg_float_var_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_samp(real) IS
	'exact sample variance of all non-null real values, rounded once';

CREATE AGGREGATE gpu_var_samp(double precision) (
	SFUNC = gpuagg_float8_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_float_var_samp,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	MSFUNC = gpuagg_float8_moments, MINVFUNC = gpuagg_float8_moments_inv, MSTYPE = internal, MSSPACE = 256,
	MFINALFUNC = gpuagg_float_var_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_samp(double precision) IS
	'exact sample variance of all non-null double precision values, rounded once';

CREATE AGGREGATE gpu_variance(real) (
	SFUNC = gpuagg_float4_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_float_var_samp,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	MSFUNC = gpuagg_float4_moments, MINVFUNC = gpuagg_float4_moments_inv, MSTYPE = internal, MSSPACE = 256,
	MFINALFUNC = gpuagg_float_var_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_variance(real) IS
	'exact sample variance of all non-null real values, rounded once';

CREATE AGGREGATE gpu_variance(double precision) (
	SFUNC = gpuagg_float8_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_float_var_samp,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	MSFUNC = gpuagg_float8_moments, MINVFUNC = gpuagg_float8_moments_inv, MSTYPE = internal, MSSPACE = 256,
	MFINALFUNC = gpuagg_float_var_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_variance(double precision) IS
	'exact sample variance of all non-null double precision values, rounded once';

CREATE AGGREGATE gpu_stddev_pop(real) (
	SFUNC = gpuagg_float4_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_float_stddev_pop,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	MSFUNC = gpuagg_float4_moments, MINVFUNC = gpuagg_float4_moments_inv, MSTYPE = internal, MSSPACE = 256,
	MFINALFUNC = gpuagg_float_stddev_pop,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev_pop(real) IS
	'exact population standard deviation of all non-null real values, rounded once';

CREATE AGGREGATE gpu_stddev_pop(double precision) (
	SFUNC = gpuagg_float8_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_float_stddev_pop,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	MSFUNC = gpuagg_float8_moments, MINVFUNC = gpuagg_float8_moments_inv, MSTYPE = internal, MSSPACE = 256,
	MFINALFUNC = gpuagg_float_stddev_pop,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev_pop(double precision) IS
	'exact population standard deviation of all non-null double precision values, rounded once';

CREATE AGGREGATE gpu_stddev_samp(real) (
	SFUNC = gpuagg_float4_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_float_stddev_samp,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	MSFUNC = gpuagg_float4_moments, MINVFUNC = gpuagg_float4_moments_inv, MSTYPE = internal, MSSPACE = 256,
	MFINALFUNC = gpuagg_float_stddev_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev_samp(real) IS
	'exact sample standard deviation of all non-null real values, rounded once';

CREATE AGGREGATE gpu_stddev_samp(double precision) (
	SFUNC = gpuagg_float8_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_float_stddev_samp,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	MSFUNC = gpuagg_float8_moments, MINVFUNC = gpuagg_float8_moments_inv, MSTYPE = internal, MSSPACE = 256,
	MFINALFUNC = gpuagg_float_stddev_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev_samp(double precision) IS
	'exact sample standard deviation of all non-null double precision values, rounded once';

CREATE AGGREGATE gpu_stddev(real) (
	SFUNC = gpuagg_float4_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_float_stddev_samp,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	MSFUNC = gpuagg_float4_moments, MINVFUNC = gpuagg_float4_moments_inv, MSTYPE = internal, MSSPACE = 256,
	MFINALFUNC = gpuagg_float_stddev_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev(real) IS
	'exact sample standard deviation of all non-null real values, rounded once';

CREATE AGGREGATE gpu_stddev(double precision) (
	SFUNC = gpuagg_float8_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_float_stddev_samp,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	MSFUNC = gpuagg_float8_moments, MINVFUNC = gpuagg_float8_moments_inv, MSTYPE = internal, MSSPACE = 256,
	MFINALFUNC = gpuagg_float_stddev_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev(double precision) IS
	'exact sample standard deviation of all non-null double precision values, rounded once';

-- Numerics

CREATE FUNCTION gpuagg_numeric_accum(internal, numeric) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_numeric_accum';
COMMENT ON FUNCTION gpuagg_numeric_accum(internal, numeric) IS
	'transition function of gpu_sum and gpu_avg over numeric';

CREATE FUNCTION gpuagg_numeric_accum_inv(internal, numeric) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_numeric_accum_inv';
COMMENT ON FUNCTION gpuagg_numeric_accum_inv(internal, numeric) IS
	'inverse transition function of gpu_sum and gpu_avg over numeric';

CREATE FUNCTION gpuagg_numeric_moments(internal, numeric) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_numeric_moments';
COMMENT ON FUNCTION gpuagg_numeric_moments(internal, numeric) IS
	'transition function of variances over numeric';

CREATE FUNCTION gpuagg_numeric_moments_inv(internal, numeric) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_numeric_moments_inv';
COMMENT ON FUNCTION gpuagg_numeric_moments_inv(internal, numeric) IS
	'inverse transition function of variances over numeric';

CREATE FUNCTION gpuagg_numeric_combine(internal, internal) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_numeric_combine';
COMMENT ON FUNCTION gpuagg_numeric_combine(internal, internal) IS
	'combine function of aggregates over numeric';

CREATE FUNCTION gpuagg_numeric_serialize(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_numeric_serialize';
COMMENT ON FUNCTION gpuagg_numeric_serialize(internal) IS
	'serialization function of aggregates over numeric';

CREATE FUNCTION gpuagg_numeric_deserialize(bytea, internal) RETURNS internal
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_numeric_deserialize';
COMMENT ON FUNCTION gpuagg_numeric_deserialize(bytea, internal) IS
	'deserialization function of aggregates over numeric';

CREATE FUNCTION gpuagg_numeric_sum(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_numeric_sum';
COMMENT ON FUNCTION gpuagg_numeric_sum(internal) IS
	'final function of gpu_sum(numeric)';

CREATE FUNCTION gpuagg_numeric_avg(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_numeric_avg';
COMMENT ON FUNCTION gpuagg_numeric_avg(internal) IS
	'final function of gpu_avg(numeric)';

CREATE FUNCTION gpuagg_numeric_var_pop(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_numeric_var_pop';
COMMENT ON FUNCTION gpuagg_numeric_var_pop(internal) IS
	'final function of gpu_var_pop(numeric)';

CREATE FUNCTION gpuagg_numeric_var_samp(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_numeric_var_samp';
COMMENT ON FUNCTION gpuagg_numeric_var_samp(internal) IS
	'final function of gpu_var_samp(numeric) and gpu_variance(numeric)';

CREATE FUNCTION gpuagg_numeric_stddev_pop(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_numeric_stddev_pop';
COMMENT ON FUNCTION gpuagg_numeric_stddev_pop(internal) IS
	'final function of gpu_stddev_pop(numeric)';

CREATE FUNCTION gpuagg_numeric_stddev_samp(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_numeric_stddev_samp';
COMMENT ON FUNCTION gpuagg_numeric_stddev_samp(internal) IS
	'final function of gpu_stddev_samp(numeric) and gpu_stddev(numeric)';

CREATE AGGREGATE gpu_sum(numeric) (
	SFUNC = gpuagg_numeric_accum, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_numeric_sum,
	COMBINEFUNC = gpuagg_numeric_combine, SERIALFUNC = gpuagg_numeric_serialize, DESERIALFUNC = gpuagg_numeric_deserialize,
	MSFUNC = gpuagg_numeric_accum, MINVFUNC = gpuagg_numeric_accum_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_numeric_sum,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_sum(numeric) IS
	'exact sum of all non-null numeric values';

CREATE AGGREGATE gpu_avg(numeric) (
	SFUNC = gpuagg_numeric_accum, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_numeric_avg,
	COMBINEFUNC = gpuagg_numeric_combine, SERIALFUNC = gpuagg_numeric_serialize, DESERIALFUNC = gpuagg_numeric_deserialize,
	MSFUNC = gpuagg_numeric_accum, MINVFUNC = gpuagg_numeric_accum_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_numeric_avg,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_avg(numeric) IS
	'average of all non-null numeric values';

CREATE AGGREGATE gpu_var_pop(numeric) (
	SFUNC = gpuagg_numeric_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_numeric_var_pop,
	COMBINEFUNC = gpuagg_numeric_combine, SERIALFUNC = gpuagg_numeric_serialize, DESERIALFUNC = gpuagg_numeric_deserialize,
	MSFUNC = gpuagg_numeric_moments, MINVFUNC = gpuagg_numeric_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_numeric_var_pop,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_pop(numeric) IS
	'population variance of all non-null numeric values';

CREATE AGGREGATE gpu_var_samp(numeric) (
	SFUNC = gpuagg_numeric_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_numeric_var_samp,
	COMBINEFUNC = gpuagg_numeric_combine, SERIALFUNC = gpuagg_numeric_serialize, DESERIALFUNC = gpuagg_numeric_deserialize,
	MSFUNC = gpuagg_numeric_moments, MINVFUNC = gpuagg_numeric_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_numeric_var_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_samp(numeric) IS
	'sample variance of all non-null numeric values';

CREATE AGGREGATE gpu_variance(numeric) (
	SFUNC = gpuagg_numeric_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_numeric_var_samp,
	COMBINEFUNC = gpuagg_numeric_combine, SERIALFUNC = gpuagg_numeric_serialize, DESERIALFUNC = gpuagg_numeric_deserialize,
	MSFUNC = gpuagg_numeric_moments, MINVFUNC = gpuagg_numeric_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_numeric_var_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_variance(numeric) IS
	'sample variance of all non-null numeric values: gpu_var_samp';

CREATE AGGREGATE gpu_stddev_pop(numeric) (
	SFUNC = gpuagg_numeric_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_numeric_stddev_pop,
	COMBINEFUNC = gpuagg_numeric_combine, SERIALFUNC = gpuagg_numeric_serialize, DESERIALFUNC = gpuagg_numeric_deserialize,
	MSFUNC = gpuagg_numeric_moments, MINVFUNC = gpuagg_numeric_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_numeric_stddev_pop,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev_pop(numeric) IS
	'population standard deviation of all non-null numeric values';

CREATE AGGREGATE gpu_stddev_samp(numeric) (
	SFUNC = gpuagg_numeric_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_numeric_stddev_samp,
	COMBINEFUNC = gpuagg_numeric_combine, SERIALFUNC = gpuagg_numeric_serialize, DESERIALFUNC = gpuagg_numeric_deserialize,
	MSFUNC = gpuagg_numeric_moments, MINVFUNC = gpuagg_numeric_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_numeric_stddev_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev_samp(numeric) IS
	'sample standard deviation of all non-null numeric values';

CREATE AGGREGATE gpu_stddev(numeric) (
	SFUNC = gpuagg_numeric_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_numeric_stddev_samp,
	COMBINEFUNC = gpuagg_numeric_combine, SERIALFUNC = gpuagg_numeric_serialize, DESERIALFUNC = gpuagg_numeric_deserialize,
	MSFUNC = gpuagg_numeric_moments, MINVFUNC = gpuagg_numeric_moments_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_numeric_stddev_samp,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev(numeric) IS
	'sample standard deviation of all non-null numeric values: gpu_stddev_samp';

-- Intervals

CREATE FUNCTION gpuagg_interval_accum(internal, interval) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_interval_accum';
COMMENT ON FUNCTION gpuagg_interval_accum(internal, interval) IS
	'transition function of gpu_sum(interval) and gpu_avg(interval)';

CREATE FUNCTION gpuagg_interval_accum_inv(internal, interval) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_interval_accum_inv';
COMMENT ON FUNCTION gpuagg_interval_accum_inv(internal, interval) IS
	'inverse transition function of gpu_sum(interval) and gpu_avg(interval)';

CREATE FUNCTION gpuagg_interval_combine(internal, internal) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_interval_combine';
COMMENT ON FUNCTION gpuagg_interval_combine(internal, internal) IS
	'combine function of gpu_sum(interval) and gpu_avg(interval)';

CREATE FUNCTION gpuagg_interval_serialize(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_interval_serialize';
COMMENT ON FUNCTION gpuagg_interval_serialize(internal) IS
	'serialization function of gpu_sum(interval) and gpu_avg(interval)';

CREATE FUNCTION gpuagg_interval_deserialize(bytea, internal) RETURNS internal
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_interval_deserialize';
COMMENT ON FUNCTION gpuagg_interval_deserialize(bytea, internal) IS
	'deserialization function of gpu_sum(interval) and gpu_avg(interval)';

CREATE FUNCTION gpuagg_interval_sum(internal) RETURNS interval
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_interval_sum';
COMMENT ON FUNCTION gpuagg_interval_sum(internal) IS
	'final function of gpu_sum(interval)';

CREATE FUNCTION gpuagg_interval_avg(internal) RETURNS interval
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_interval_avg';
COMMENT ON FUNCTION gpuagg_interval_avg(internal) IS
	'final function of gpu_avg(interval)';

CREATE AGGREGATE gpu_sum(interval) (
	SFUNC = gpuagg_interval_accum, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_interval_sum,
	COMBINEFUNC = gpuagg_interval_combine, SERIALFUNC = gpuagg_interval_serialize, DESERIALFUNC = gpuagg_interval_deserialize,
	MSFUNC = gpuagg_interval_accum, MINVFUNC = gpuagg_interval_accum_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_interval_sum,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_sum(interval) IS
	'exact sum of all non-null interval values';

CREATE AGGREGATE gpu_avg(interval) (
	SFUNC = gpuagg_interval_accum, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_interval_avg,
	COMBINEFUNC = gpuagg_interval_combine, SERIALFUNC = gpuagg_interval_serialize, DESERIALFUNC = gpuagg_interval_deserialize,
	MSFUNC = gpuagg_interval_accum, MINVFUNC = gpuagg_interval_accum_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = gpuagg_interval_avg,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_avg(interval) IS
	'average of all non-null interval values';

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

-- Minima and maxima

CREATE FUNCTION gpuagg_int2_min(internal, smallint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int2_min';
COMMENT ON FUNCTION gpuagg_int2_min(internal, smallint) IS
	'transition function of gpu_min(smallint)';

CREATE FUNCTION gpuagg_int2_max(internal, smallint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int2_max';
COMMENT ON FUNCTION gpuagg_int2_max(internal, smallint) IS
	'transition function of gpu_max(smallint)';

CREATE FUNCTION gpuagg_int2_extreme(internal) RETURNS smallint
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';
COMMENT ON FUNCTION gpuagg_int2_extreme(internal) IS
	'final function of gpu_min(smallint) and gpu_max(smallint)';

CREATE FUNCTION gpuagg_int4_min(internal, integer) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int4_min';
COMMENT ON FUNCTION gpuagg_int4_min(internal, integer) IS
	'transition function of gpu_min(integer)';

CREATE FUNCTION gpuagg_int4_max(internal, integer) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int4_max';
COMMENT ON FUNCTION gpuagg_int4_max(internal, integer) IS
	'transition function of gpu_max(integer)';

CREATE FUNCTION gpuagg_int4_extreme(internal) RETURNS integer
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';
COMMENT ON FUNCTION gpuagg_int4_extreme(internal) IS
	'final function of gpu_min(integer) and gpu_max(integer)';

CREATE FUNCTION gpuagg_int8_min(internal, bigint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int8_min';
COMMENT ON FUNCTION gpuagg_int8_min(internal, bigint) IS
	'transition function of gpu_min(bigint)';

CREATE FUNCTION gpuagg_int8_max(internal, bigint) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int8_max';
COMMENT ON FUNCTION gpuagg_int8_max(internal, bigint) IS
	'transition function of gpu_max(bigint)';

CREATE FUNCTION gpuagg_int8_extreme(internal) RETURNS bigint
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';
COMMENT ON FUNCTION gpuagg_int8_extreme(internal) IS
	'final function of gpu_min(bigint) and gpu_max(bigint)';

CREATE FUNCTION gpuagg_float4_min(internal, real) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_float4_min';
COMMENT ON FUNCTION gpuagg_float4_min(internal, real) IS
	'transition function of gpu_min(real)';

CREATE FUNCTION gpuagg_float4_max(internal, real) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_float4_max';
COMMENT ON FUNCTION gpuagg_float4_max(internal, real) IS
	'transition function of gpu_max(real)';

CREATE FUNCTION gpuagg_float4_extreme(internal) RETURNS real
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';
COMMENT ON FUNCTION gpuagg_float4_extreme(internal) IS
	'final function of gpu_min(real) and gpu_max(real)';

CREATE FUNCTION gpuagg_float8_min(internal, double precision) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_float8_min';
COMMENT ON FUNCTION gpuagg_float8_min(internal, double precision) IS
	'transition function of gpu_min(double precision)';

CREATE FUNCTION gpuagg_float8_max(internal, double precision) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_float8_max';
COMMENT ON FUNCTION gpuagg_float8_max(internal, double precision) IS
	'transition function of gpu_max(double precision)';

CREATE FUNCTION gpuagg_float8_extreme(internal) RETURNS double precision
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';
COMMENT ON FUNCTION gpuagg_float8_extreme(internal) IS
	'final function of gpu_min(double precision) and gpu_max(double precision)';

CREATE FUNCTION gpuagg_money_min(internal, money) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int8_min';
COMMENT ON FUNCTION gpuagg_money_min(internal, money) IS
	'transition function of gpu_min(money)';

CREATE FUNCTION gpuagg_money_max(internal, money) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int8_max';
COMMENT ON FUNCTION gpuagg_money_max(internal, money) IS
	'transition function of gpu_max(money)';

CREATE FUNCTION gpuagg_money_extreme(internal) RETURNS money
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';
COMMENT ON FUNCTION gpuagg_money_extreme(internal) IS
	'final function of gpu_min(money) and gpu_max(money)';

CREATE FUNCTION gpuagg_date_min(internal, date) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int4_min';
COMMENT ON FUNCTION gpuagg_date_min(internal, date) IS
	'transition function of gpu_min(date)';

CREATE FUNCTION gpuagg_date_max(internal, date) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int4_max';
COMMENT ON FUNCTION gpuagg_date_max(internal, date) IS
	'transition function of gpu_max(date)';

CREATE FUNCTION gpuagg_date_extreme(internal) RETURNS date
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';
COMMENT ON FUNCTION gpuagg_date_extreme(internal) IS
	'final function of gpu_min(date) and gpu_max(date)';

CREATE FUNCTION gpuagg_time_min(internal, time) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int8_min';
COMMENT ON FUNCTION gpuagg_time_min(internal, time) IS
	'transition function of gpu_min(time)';

CREATE FUNCTION gpuagg_time_max(internal, time) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int8_max';
COMMENT ON FUNCTION gpuagg_time_max(internal, time) IS
	'transition function of gpu_max(time)';

CREATE FUNCTION gpuagg_time_extreme(internal) RETURNS time
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';
COMMENT ON FUNCTION gpuagg_time_extreme(internal) IS
	'final function of gpu_min(time) and gpu_max(time)';

CREATE FUNCTION gpuagg_timestamp_min(internal, timestamp) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int8_min';
COMMENT ON FUNCTION gpuagg_timestamp_min(internal, timestamp) IS
	'transition function of gpu_min(timestamp)';

CREATE FUNCTION gpuagg_timestamp_max(internal, timestamp) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int8_max';
COMMENT ON FUNCTION gpuagg_timestamp_max(internal, timestamp) IS
	'transition function of gpu_max(timestamp)';

CREATE FUNCTION gpuagg_timestamp_extreme(internal) RETURNS timestamp
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';
COMMENT ON FUNCTION gpuagg_timestamp_extreme(internal) IS
	'final function of gpu_min(timestamp) and gpu_max(timestamp)';

CREATE FUNCTION gpuagg_timestamptz_min(internal, timestamptz) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int8_min';
COMMENT ON FUNCTION gpuagg_timestamptz_min(internal, timestamptz) IS
	'transition function of gpu_min(timestamptz)';

CREATE FUNCTION gpuagg_timestamptz_max(internal, timestamptz) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_int8_max';
COMMENT ON FUNCTION gpuagg_timestamptz_max(internal, timestamptz) IS
	'transition function of gpu_max(timestamptz)';

CREATE FUNCTION gpuagg_timestamptz_extreme(internal) RETURNS timestamptz
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_extreme_value';
COMMENT ON FUNCTION gpuagg_timestamptz_extreme(internal) IS
	'final function of gpu_min(timestamptz) and gpu_max(timestamptz)';

CREATE FUNCTION gpuagg_extreme_combine(internal, internal) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_extreme_combine';
COMMENT ON FUNCTION gpuagg_extreme_combine(internal, internal) IS
	'combine function of gpu_min and gpu_max';

CREATE FUNCTION gpuagg_extreme_serialize(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_extreme_serialize';
COMMENT ON FUNCTION gpuagg_extreme_serialize(internal) IS
	'serialization function of gpu_min and gpu_max';

CREATE FUNCTION gpuagg_extreme_deserialize(bytea, internal) RETURNS internal
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_extreme_deserialize';
COMMENT ON FUNCTION gpuagg_extreme_deserialize(bytea, internal) IS
	'deserialization function of gpu_min and gpu_max';

CREATE FUNCTION gpuagg_numeric_min(numeric, numeric) RETURNS numeric
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_numeric_min';
COMMENT ON FUNCTION gpuagg_numeric_min(numeric, numeric) IS
	'transition and combine function of gpu_min(numeric)';

CREATE FUNCTION gpuagg_numeric_max(numeric, numeric) RETURNS numeric
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_numeric_max';
COMMENT ON FUNCTION gpuagg_numeric_max(numeric, numeric) IS
	'transition and combine function of gpu_max(numeric)';

CREATE FUNCTION gpuagg_interval_min(interval, interval) RETURNS interval
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_interval_min';
COMMENT ON FUNCTION gpuagg_interval_min(interval, interval) IS
	'transition and combine function of gpu_min(interval)';

CREATE FUNCTION gpuagg_interval_max(interval, interval) RETURNS interval
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_interval_max';
COMMENT ON FUNCTION gpuagg_interval_max(interval, interval) IS
	'transition and combine function of gpu_max(interval)';

-- With a sort operator an index can answer; of values that are equal and yet not the same, such
-- as 0 and -0, 1.0 and 1.00, a month and 30 days, it would give any, so those types have none.

CREATE AGGREGATE gpu_min(smallint) (
	SFUNC = gpuagg_int2_min, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_int2_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	SORTOP = <,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_min(smallint) IS
	'least of all non-null smallint values';

CREATE AGGREGATE gpu_max(smallint) (
	SFUNC = gpuagg_int2_max, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_int2_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	SORTOP = >,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_max(smallint) IS
	'greatest of all non-null smallint values';

CREATE AGGREGATE gpu_min(integer) (
	SFUNC = gpuagg_int4_min, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_int4_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	SORTOP = <,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_min(integer) IS
	'least of all non-null integer values';

CREATE AGGREGATE gpu_max(integer) (
	SFUNC = gpuagg_int4_max, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_int4_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	SORTOP = >,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_max(integer) IS
	'greatest of all non-null integer values';

CREATE AGGREGATE gpu_min(bigint) (
	SFUNC = gpuagg_int8_min, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_int8_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	SORTOP = <,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_min(bigint) IS
	'least of all non-null bigint values';

CREATE AGGREGATE gpu_max(bigint) (
	SFUNC = gpuagg_int8_max, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_int8_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	SORTOP = >,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_max(bigint) IS
	'greatest of all non-null bigint values';

CREATE AGGREGATE gpu_min(real) (
	SFUNC = gpuagg_float4_min, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_float4_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_min(real) IS
	'least of all non-null real values';

CREATE AGGREGATE gpu_max(real) (
	SFUNC = gpuagg_float4_max, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_float4_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_max(real) IS
	'greatest of all non-null real values';

CREATE AGGREGATE gpu_min(double precision) (
	SFUNC = gpuagg_float8_min, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_float8_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_min(double precision) IS
	'least of all non-null double precision values';

CREATE AGGREGATE gpu_max(double precision) (
	SFUNC = gpuagg_float8_max, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_float8_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_max(double precision) IS
	'greatest of all non-null double precision values';

CREATE AGGREGATE gpu_min(money) (
	SFUNC = gpuagg_money_min, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_money_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	SORTOP = <,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_min(money) IS
	'least of all non-null money values';

CREATE AGGREGATE gpu_max(money) (
	SFUNC = gpuagg_money_max, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_money_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	SORTOP = >,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_max(money) IS
	'greatest of all non-null money values';

CREATE AGGREGATE gpu_min(date) (
	SFUNC = gpuagg_date_min, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_date_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	SORTOP = <,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_min(date) IS
	'least of all non-null date values';

CREATE AGGREGATE gpu_max(date) (
	SFUNC = gpuagg_date_max, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_date_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	SORTOP = >,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_max(date) IS
	'greatest of all non-null date values';

CREATE AGGREGATE gpu_min(time) (
	SFUNC = gpuagg_time_min, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_time_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	SORTOP = <,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_min(time) IS
	'least of all non-null time values';

CREATE AGGREGATE gpu_max(time) (
	SFUNC = gpuagg_time_max, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_time_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	SORTOP = >,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_max(time) IS
	'greatest of all non-null time values';

CREATE AGGREGATE gpu_min(timestamp) (
	SFUNC = gpuagg_timestamp_min, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_timestamp_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	SORTOP = <,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_min(timestamp) IS
	'least of all non-null timestamp values';

CREATE AGGREGATE gpu_max(timestamp) (
	SFUNC = gpuagg_timestamp_max, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_timestamp_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	SORTOP = >,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_max(timestamp) IS
	'greatest of all non-null timestamp values';

CREATE AGGREGATE gpu_min(timestamptz) (
	SFUNC = gpuagg_timestamptz_min, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_timestamptz_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	SORTOP = <,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_min(timestamptz) IS
	'least of all non-null timestamptz values';

CREATE AGGREGATE gpu_max(timestamptz) (
	SFUNC = gpuagg_timestamptz_max, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_timestamptz_extreme,
	COMBINEFUNC = gpuagg_extreme_combine, SERIALFUNC = gpuagg_extreme_serialize, DESERIALFUNC = gpuagg_extreme_deserialize,
	SORTOP = >,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_max(timestamptz) IS
	'greatest of all non-null timestamptz values';

CREATE AGGREGATE gpu_min(numeric) (
	SFUNC = gpuagg_numeric_min, STYPE = numeric,
	COMBINEFUNC = gpuagg_numeric_min,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_min(numeric) IS
	'least of all non-null numeric values';

CREATE AGGREGATE gpu_max(numeric) (
	SFUNC = gpuagg_numeric_max, STYPE = numeric,
	COMBINEFUNC = gpuagg_numeric_max,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_max(numeric) IS
	'greatest of all non-null numeric values';

CREATE AGGREGATE gpu_min(interval) (
	SFUNC = gpuagg_interval_min, STYPE = interval,
	COMBINEFUNC = gpuagg_interval_min,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_min(interval) IS
	'least of all non-null interval values';

CREATE AGGREGATE gpu_max(interval) (
	SFUNC = gpuagg_interval_max, STYPE = interval,
	COMBINEFUNC = gpuagg_interval_max,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_max(interval) IS
	'greatest of all non-null interval values';

-- Running functions

CREATE FUNCTION gpu_running_sum(x smallint, exclusive boolean DEFAULT false) RETURNS bigint
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_sum';
COMMENT ON FUNCTION gpu_running_sum(smallint, boolean) IS
	'exact running sum of smallint values over the window''s partition';

CREATE FUNCTION gpu_running_sum(x integer, exclusive boolean DEFAULT false) RETURNS bigint
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_sum';
COMMENT ON FUNCTION gpu_running_sum(integer, boolean) IS
	'exact running sum of integer values over the window''s partition';

CREATE FUNCTION gpu_running_sum(x bigint, exclusive boolean DEFAULT false) RETURNS numeric
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_sum';
COMMENT ON FUNCTION gpu_running_sum(bigint, boolean) IS
	'exact running sum of bigint values over the window''s partition';

CREATE FUNCTION gpu_running_sum(x real, exclusive boolean DEFAULT false) RETURNS real
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_sum';
COMMENT ON FUNCTION gpu_running_sum(real, boolean) IS
	'exact running sum of real values over the window''s partition, rounded once at every row';

CREATE FUNCTION gpu_running_sum(x double precision, exclusive boolean DEFAULT false) RETURNS double precision
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_sum';
COMMENT ON FUNCTION gpu_running_sum(double precision, boolean) IS
	'exact running sum of double precision values over the window''s partition, rounded once at every row';

CREATE FUNCTION gpu_running_sum(x numeric, exclusive boolean DEFAULT false) RETURNS numeric
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_sum';
COMMENT ON FUNCTION gpu_running_sum(numeric, boolean) IS
	'exact running sum of numeric values over the window''s partition';

CREATE FUNCTION gpu_running_sum(x money, exclusive boolean DEFAULT false) RETURNS money
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_sum';
COMMENT ON FUNCTION gpu_running_sum(money, boolean) IS
	'exact running sum of money values over the window''s partition';

CREATE FUNCTION gpu_running_sum(x interval, exclusive boolean DEFAULT false) RETURNS interval
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_sum';
COMMENT ON FUNCTION gpu_running_sum(interval, boolean) IS
	'exact running sum of interval values over the window''s partition';

CREATE FUNCTION gpu_running_avg(x smallint, exclusive boolean DEFAULT false) RETURNS numeric
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_avg';
COMMENT ON FUNCTION gpu_running_avg(smallint, boolean) IS
	'running average of smallint values over the window''s partition, of the exact sum';

CREATE FUNCTION gpu_running_avg(x integer, exclusive boolean DEFAULT false) RETURNS numeric
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_avg';
COMMENT ON FUNCTION gpu_running_avg(integer, boolean) IS
	'running average of integer values over the window''s partition, of the exact sum';

CREATE FUNCTION gpu_running_avg(x bigint, exclusive boolean DEFAULT false) RETURNS numeric
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_avg';
COMMENT ON FUNCTION gpu_running_avg(bigint, boolean) IS
	'running average of bigint values over the window''s partition, of the exact sum';

CREATE FUNCTION gpu_running_avg(x real, exclusive boolean DEFAULT false) RETURNS double precision
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_avg';
COMMENT ON FUNCTION gpu_running_avg(real, boolean) IS
	'running average of real values over the window''s partition, of the exact sum, rounded once at every row';

CREATE FUNCTION gpu_running_avg(x double precision, exclusive boolean DEFAULT false) RETURNS double precision
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_avg';
COMMENT ON FUNCTION gpu_running_avg(double precision, boolean) IS
	'running average of double precision values over the window''s partition, of the exact sum, rounded once at every row';

CREATE FUNCTION gpu_running_avg(x numeric, exclusive boolean DEFAULT false) RETURNS numeric
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_avg';
COMMENT ON FUNCTION gpu_running_avg(numeric, boolean) IS
	'running average of numeric values over the window''s partition, of the exact sum';

CREATE FUNCTION gpu_running_avg(x interval, exclusive boolean DEFAULT false) RETURNS interval
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_avg';
COMMENT ON FUNCTION gpu_running_avg(interval, boolean) IS
	'running average of interval values over the window''s partition, of the exact sum';

CREATE FUNCTION gpu_running_min(x smallint, exclusive boolean DEFAULT false) RETURNS smallint
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_min';
COMMENT ON FUNCTION gpu_running_min(smallint, boolean) IS
	'least of the smallint values so far in the window''s partition';

CREATE FUNCTION gpu_running_min(x integer, exclusive boolean DEFAULT false) RETURNS integer
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_min';
COMMENT ON FUNCTION gpu_running_min(integer, boolean) IS
	'least of the integer values so far in the window''s partition';

CREATE FUNCTION gpu_running_min(x bigint, exclusive boolean DEFAULT false) RETURNS bigint
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_min';
COMMENT ON FUNCTION gpu_running_min(bigint, boolean) IS
	'least of the bigint values so far in the window''s partition';

CREATE FUNCTION gpu_running_min(x real, exclusive boolean DEFAULT false) RETURNS real
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_min';
COMMENT ON FUNCTION gpu_running_min(real, boolean) IS
	'least of the real values so far in the window''s partition';

CREATE FUNCTION gpu_running_min(x double precision, exclusive boolean DEFAULT false) RETURNS double precision
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_min';
COMMENT ON FUNCTION gpu_running_min(double precision, boolean) IS
	'least of the double precision values so far in the window''s partition';

CREATE FUNCTION gpu_running_min(x numeric, exclusive boolean DEFAULT false) RETURNS numeric
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_min';
COMMENT ON FUNCTION gpu_running_min(numeric, boolean) IS
	'least of the numeric values so far in the window''s partition';

CREATE FUNCTION gpu_running_min(x money, exclusive boolean DEFAULT false) RETURNS money
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_min';
COMMENT ON FUNCTION gpu_running_min(money, boolean) IS
	'least of the money values so far in the window''s partition';

CREATE FUNCTION gpu_running_min(x interval, exclusive boolean DEFAULT false) RETURNS interval
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_min';
COMMENT ON FUNCTION gpu_running_min(interval, boolean) IS
	'least of the interval values so far in the window''s partition';

CREATE FUNCTION gpu_running_min(x date, exclusive boolean DEFAULT false) RETURNS date
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_min';
COMMENT ON FUNCTION gpu_running_min(date, boolean) IS
	'least of the date values so far in the window''s partition';

CREATE FUNCTION gpu_running_min(x time, exclusive boolean DEFAULT false) RETURNS time
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_min';
COMMENT ON FUNCTION gpu_running_min(time, boolean) IS
	'least of the time values so far in the window''s partition';

CREATE FUNCTION gpu_running_min(x timestamp, exclusive boolean DEFAULT false) RETURNS timestamp
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_min';
COMMENT ON FUNCTION gpu_running_min(timestamp, boolean) IS
	'least of the timestamp values so far in the window''s partition';

CREATE FUNCTION gpu_running_min(x timestamptz, exclusive boolean DEFAULT false) RETURNS timestamptz
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_min';
COMMENT ON FUNCTION gpu_running_min(timestamptz, boolean) IS
	'least of the timestamptz values so far in the window''s partition';

CREATE FUNCTION gpu_running_max(x smallint, exclusive boolean DEFAULT false) RETURNS smallint
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_max';
COMMENT ON FUNCTION gpu_running_max(smallint, boolean) IS
	'greatest of the smallint values so far in the window''s partition';

CREATE FUNCTION gpu_running_max(x integer, exclusive boolean DEFAULT false) RETURNS integer
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_max';
COMMENT ON FUNCTION gpu_running_max(integer, boolean) IS
	'greatest of the integer values so far in the window''s partition';

CREATE FUNCTION gpu_running_max(x bigint, exclusive boolean DEFAULT false) RETURNS bigint
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_max';
COMMENT ON FUNCTION gpu_running_max(bigint, boolean) IS
	'greatest of the bigint values so far in the window''s partition';

CREATE FUNCTION gpu_running_max(x real, exclusive boolean DEFAULT false) RETURNS real
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_max';
COMMENT ON FUNCTION gpu_running_max(real, boolean) IS
	'greatest of the real values so far in the window''s partition';

CREATE FUNCTION gpu_running_max(x double precision, exclusive boolean DEFAULT false) RETURNS double precision
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_max';
COMMENT ON FUNCTION gpu_running_max(double precision, boolean) IS
	'greatest of the double precision values so far in the window''s partition';

CREATE FUNCTION gpu_running_max(x numeric, exclusive boolean DEFAULT false) RETURNS numeric
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_max';
COMMENT ON FUNCTION gpu_running_max(numeric, boolean) IS
	'greatest of the numeric values so far in the window''s partition';

CREATE FUNCTION gpu_running_max(x money, exclusive boolean DEFAULT false) RETURNS money
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_max';
COMMENT ON FUNCTION gpu_running_max(money, boolean) IS
	'greatest of the money values so far in the window''s partition';

CREATE FUNCTION gpu_running_max(x interval, exclusive boolean DEFAULT false) RETURNS interval
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_max';
COMMENT ON FUNCTION gpu_running_max(interval, boolean) IS
	'greatest of the interval values so far in the window''s partition';

CREATE FUNCTION gpu_running_max(x date, exclusive boolean DEFAULT false) RETURNS date
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_max';
COMMENT ON FUNCTION gpu_running_max(date, boolean) IS
	'greatest of the date values so far in the window''s partition';

CREATE FUNCTION gpu_running_max(x time, exclusive boolean DEFAULT false) RETURNS time
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_max';
COMMENT ON FUNCTION gpu_running_max(time, boolean) IS
	'greatest of the time values so far in the window''s partition';

CREATE FUNCTION gpu_running_max(x timestamp, exclusive boolean DEFAULT false) RETURNS timestamp
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_max';
COMMENT ON FUNCTION gpu_running_max(timestamp, boolean) IS
	'greatest of the timestamp values so far in the window''s partition';

CREATE FUNCTION gpu_running_max(x timestamptz, exclusive boolean DEFAULT false) RETURNS timestamptz
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_max';
COMMENT ON FUNCTION gpu_running_max(timestamptz, boolean) IS
	'greatest of the timestamptz values so far in the window''s partition';

CREATE FUNCTION gpu_running_count(x "any", exclusive boolean DEFAULT false) RETURNS bigint
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_running_count';
COMMENT ON FUNCTION gpu_running_count("any", boolean) IS
	'number of values so far in the window''s partition that are not null';

-- States between servers

CREATE FUNCTION gpuagg_sum_state(internal, "any") RETURNS bytea
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_sum_state';
COMMENT ON FUNCTION gpuagg_sum_state(internal, "any") IS
	'final function of gpu_sum_state and gpu_avg_state';

CREATE FUNCTION gpuagg_var_state(internal, "any") RETURNS bytea
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_var_state';
COMMENT ON FUNCTION gpuagg_var_state(internal, "any") IS
	'final function of gpu_var_state';

CREATE AGGREGATE gpu_sum_state(smallint) (
	SFUNC = gpuagg_int2_accum, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_sum_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_sum_state(smallint) IS
	'exact sum of all non-null smallint values as a state to merge';

CREATE AGGREGATE gpu_sum_state(integer) (
	SFUNC = gpuagg_int4_accum, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_sum_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_sum_state(integer) IS
	'exact sum of all non-null integer values as a state to merge';

CREATE AGGREGATE gpu_sum_state(bigint) (
	SFUNC = gpuagg_int8_accum, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_sum_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_sum_state(bigint) IS
	'exact sum of all non-null bigint values as a state to merge';

CREATE AGGREGATE gpu_sum_state(money) (
	SFUNC = gpuagg_money_accum, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_sum_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_sum_state(money) IS
	'exact sum of all non-null money values as a state to merge';

CREATE AGGREGATE gpu_sum_state(real) (
	SFUNC = gpuagg_float4_accum, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_sum_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_sum_state(real) IS
	'exact sum of all non-null real values as a state to merge';

CREATE AGGREGATE gpu_sum_state(double precision) (
	SFUNC = gpuagg_float8_accum, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_sum_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_sum_state(double precision) IS
	'exact sum of all non-null double precision values as a state to merge';

CREATE AGGREGATE gpu_sum_state(numeric) (
	SFUNC = gpuagg_numeric_accum, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_sum_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_numeric_combine, SERIALFUNC = gpuagg_numeric_serialize, DESERIALFUNC = gpuagg_numeric_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_sum_state(numeric) IS
	'exact sum of all non-null numeric values as a state to merge';

CREATE AGGREGATE gpu_sum_state(interval) (
	SFUNC = gpuagg_interval_accum, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_sum_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_interval_combine, SERIALFUNC = gpuagg_interval_serialize, DESERIALFUNC = gpuagg_interval_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_sum_state(interval) IS
	'exact sum of all non-null interval values as a state to merge';

CREATE AGGREGATE gpu_avg_state(smallint) (
	SFUNC = gpuagg_int2_accum, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_sum_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_avg_state(smallint) IS
	'exact count and sum of all non-null smallint values as a state to merge';

CREATE AGGREGATE gpu_avg_state(integer) (
	SFUNC = gpuagg_int4_accum, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_sum_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_avg_state(integer) IS
	'exact count and sum of all non-null integer values as a state to merge';

CREATE AGGREGATE gpu_avg_state(bigint) (
	SFUNC = gpuagg_int8_accum, STYPE = internal, SSPACE = 64,
	FINALFUNC = gpuagg_sum_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_avg_state(bigint) IS
	'exact count and sum of all non-null bigint values as a state to merge';

CREATE AGGREGATE gpu_avg_state(real) (
	SFUNC = gpuagg_float4_accum, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_sum_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_avg_state(real) IS
	'exact count and sum of all non-null real values as a state to merge';

CREATE AGGREGATE gpu_avg_state(double precision) (
	SFUNC = gpuagg_float8_accum, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_sum_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_avg_state(double precision) IS
	'exact count and sum of all non-null double precision values as a state to merge';

CREATE AGGREGATE gpu_avg_state(numeric) (
	SFUNC = gpuagg_numeric_accum, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_sum_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_numeric_combine, SERIALFUNC = gpuagg_numeric_serialize, DESERIALFUNC = gpuagg_numeric_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_avg_state(numeric) IS
	'exact count and sum of all non-null numeric values as a state to merge';

CREATE AGGREGATE gpu_avg_state(interval) (
	SFUNC = gpuagg_interval_accum, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_sum_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_interval_combine, SERIALFUNC = gpuagg_interval_serialize, DESERIALFUNC = gpuagg_interval_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_avg_state(interval) IS
	'exact count and sum of all non-null interval values as a state to merge';

CREATE AGGREGATE gpu_var_state(smallint) (
	SFUNC = gpuagg_int2_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_var_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_state(smallint) IS
	'exact count, sum and sum of squares of all non-null smallint values as a state to merge';

CREATE AGGREGATE gpu_var_state(integer) (
	SFUNC = gpuagg_int4_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_var_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_state(integer) IS
	'exact count, sum and sum of squares of all non-null integer values as a state to merge';

CREATE AGGREGATE gpu_var_state(bigint) (
	SFUNC = gpuagg_int8_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_var_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_int_combine, SERIALFUNC = gpuagg_int_serialize, DESERIALFUNC = gpuagg_int_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_state(bigint) IS
	'exact count, sum and sum of squares of all non-null bigint values as a state to merge';

CREATE AGGREGATE gpu_var_state(real) (
	SFUNC = gpuagg_float4_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_var_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_state(real) IS
	'exact count, sum and sum of squares of all non-null real values as a state to merge';

CREATE AGGREGATE gpu_var_state(double precision) (
	SFUNC = gpuagg_float8_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_var_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_float_combine, SERIALFUNC = gpuagg_float_serialize, DESERIALFUNC = gpuagg_float_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_state(double precision) IS
	'exact count, sum and sum of squares of all non-null double precision values as a state to merge';

CREATE AGGREGATE gpu_var_state(numeric) (
	SFUNC = gpuagg_numeric_moments, STYPE = internal, SSPACE = 128,
	FINALFUNC = gpuagg_var_state, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_numeric_combine, SERIALFUNC = gpuagg_numeric_serialize, DESERIALFUNC = gpuagg_numeric_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_state(numeric) IS
	'exact count, sum and sum of squares of all non-null numeric values as a state to merge';

CREATE FUNCTION gpuagg_merge_sums(internal, bytea) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_merge_sums';
COMMENT ON FUNCTION gpuagg_merge_sums(internal, bytea) IS
	'transition function of gpu_sum_merge and gpu_avg_merge';

CREATE FUNCTION gpuagg_merge_sums(internal, bytea, anyelement) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_merge_sums';
COMMENT ON FUNCTION gpuagg_merge_sums(internal, bytea, anyelement) IS
	'transition function of gpu_sum_merge and gpu_avg_merge with a result of a given type';

CREATE FUNCTION gpuagg_merge_moments(internal, bytea) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_merge_moments';
COMMENT ON FUNCTION gpuagg_merge_moments(internal, bytea) IS
	'transition function of merges of variances';

CREATE FUNCTION gpuagg_merge_moments(internal, bytea, anyelement) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_merge_moments';
COMMENT ON FUNCTION gpuagg_merge_moments(internal, bytea, anyelement) IS
	'transition function of merges of variances with a result of a given type';

CREATE FUNCTION gpuagg_merge_states(internal, bytea) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	SUPPORT gpuagg_support
	AS 'MODULE_PATHNAME', 'gpuagg_merge_states';
COMMENT ON FUNCTION gpuagg_merge_states(internal, bytea) IS
	'transition function of gpu_state_merge';

CREATE FUNCTION gpuagg_merge_combine(internal, internal) RETURNS internal
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_merge_combine';
COMMENT ON FUNCTION gpuagg_merge_combine(internal, internal) IS
	'combine function of merges';

CREATE FUNCTION gpuagg_merge_serialize(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_merge_serialize';
COMMENT ON FUNCTION gpuagg_merge_serialize(internal) IS
	'serialization function of merges';

CREATE FUNCTION gpuagg_merge_deserialize(bytea, internal) RETURNS internal
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_merge_deserialize';
COMMENT ON FUNCTION gpuagg_merge_deserialize(bytea, internal) IS
	'deserialization function of merges';

CREATE FUNCTION gpuagg_merged_state(internal) RETURNS bytea
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_merged_state';
COMMENT ON FUNCTION gpuagg_merged_state(internal) IS
	'final function of gpu_state_merge';

CREATE FUNCTION gpuagg_merged_sum(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_merged_sum';
COMMENT ON FUNCTION gpuagg_merged_sum(internal) IS
	'final function of gpu_sum_merge';

CREATE FUNCTION gpuagg_merged_sum(internal, bytea, anyelement) RETURNS anyelement
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_merged_sum';
COMMENT ON FUNCTION gpuagg_merged_sum(internal, bytea, anyelement) IS
	'final function of gpu_sum_merge with a result of a given type';

CREATE FUNCTION gpuagg_merged_avg(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_merged_avg';
COMMENT ON FUNCTION gpuagg_merged_avg(internal) IS
	'final function of gpu_avg_merge';

CREATE FUNCTION gpuagg_merged_avg(internal, bytea, anyelement) RETURNS anyelement
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_merged_avg';
COMMENT ON FUNCTION gpuagg_merged_avg(internal, bytea, anyelement) IS
	'final function of gpu_avg_merge with a result of a given type';

CREATE FUNCTION gpuagg_merged_var_pop(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_merged_var_pop';
COMMENT ON FUNCTION gpuagg_merged_var_pop(internal) IS
	'final function of gpu_var_pop_merge';

CREATE FUNCTION gpuagg_merged_var_pop(internal, bytea, anyelement) RETURNS anyelement
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_merged_var_pop';
COMMENT ON FUNCTION gpuagg_merged_var_pop(internal, bytea, anyelement) IS
	'final function of gpu_var_pop_merge with a result of a given type';

CREATE FUNCTION gpuagg_merged_var_samp(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_merged_var_samp';
COMMENT ON FUNCTION gpuagg_merged_var_samp(internal) IS
	'final function of gpu_var_samp_merge and gpu_variance_merge';

CREATE FUNCTION gpuagg_merged_var_samp(internal, bytea, anyelement) RETURNS anyelement
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_merged_var_samp';
COMMENT ON FUNCTION gpuagg_merged_var_samp(internal, bytea, anyelement) IS
	'final function of gpu_var_samp_merge and gpu_variance_merge with a result of a given type';

CREATE FUNCTION gpuagg_merged_stddev_pop(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_merged_stddev_pop';
COMMENT ON FUNCTION gpuagg_merged_stddev_pop(internal) IS
	'final function of gpu_stddev_pop_merge';

CREATE FUNCTION gpuagg_merged_stddev_pop(internal, bytea, anyelement) RETURNS anyelement
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_merged_stddev_pop';
COMMENT ON FUNCTION gpuagg_merged_stddev_pop(internal, bytea, anyelement) IS
	'final function of gpu_stddev_pop_merge with a result of a given type';

CREATE FUNCTION gpuagg_merged_stddev_samp(internal) RETURNS numeric
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_merged_stddev_samp';
COMMENT ON FUNCTION gpuagg_merged_stddev_samp(internal) IS
	'final function of gpu_stddev_samp_merge and gpu_stddev_merge';

CREATE FUNCTION gpuagg_merged_stddev_samp(internal, bytea, anyelement) RETURNS anyelement
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'gpuagg_merged_stddev_samp';
COMMENT ON FUNCTION gpuagg_merged_stddev_samp(internal, bytea, anyelement) IS
	'final function of gpu_stddev_samp_merge and gpu_stddev_merge with a result of a given type';

CREATE AGGREGATE gpu_state_merge(bytea) (
	SFUNC = gpuagg_merge_states, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_merged_state,
	COMBINEFUNC = gpuagg_merge_combine, SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_state_merge(bytea) IS
	'state of all rows of all states';

CREATE AGGREGATE gpu_sum_merge(bytea) (
	SFUNC = gpuagg_merge_sums, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_merged_sum,
	COMBINEFUNC = gpuagg_merge_combine, SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_sum_merge(bytea) IS
	'sum over all rows of all states that gpu_sum_state, gpu_avg_state or gpu_var_state made, as numeric';

CREATE AGGREGATE gpu_sum_merge(bytea, anyelement) (
	SFUNC = gpuagg_merge_sums, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_merged_sum, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_merge_combine, SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_sum_merge(bytea, anyelement) IS
	'sum over all rows of all states that gpu_sum_state, gpu_avg_state or gpu_var_state made, of the second argument''s type';

CREATE AGGREGATE gpu_avg_merge(bytea) (
	SFUNC = gpuagg_merge_sums, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_merged_avg,
	COMBINEFUNC = gpuagg_merge_combine, SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_avg_merge(bytea) IS
	'average over all rows of all states that gpu_sum_state, gpu_avg_state or gpu_var_state made, as numeric';

CREATE AGGREGATE gpu_avg_merge(bytea, anyelement) (
	SFUNC = gpuagg_merge_sums, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_merged_avg, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_merge_combine, SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_avg_merge(bytea, anyelement) IS
	'average over all rows of all states that gpu_sum_state, gpu_avg_state or gpu_var_state made, of the second argument''s type';

CREATE AGGREGATE gpu_var_pop_merge(bytea) (
	SFUNC = gpuagg_merge_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_merged_var_pop,
	COMBINEFUNC = gpuagg_merge_combine, SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_pop_merge(bytea) IS
	'population variance over all rows of all states that gpu_var_state made, as numeric';

CREATE AGGREGATE gpu_var_pop_merge(bytea, anyelement) (
	SFUNC = gpuagg_merge_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_merged_var_pop, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_merge_combine, SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_pop_merge(bytea, anyelement) IS
	'population variance over all rows of all states that gpu_var_state made, of the second argument''s type';

CREATE AGGREGATE gpu_var_samp_merge(bytea) (
	SFUNC = gpuagg_merge_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_merged_var_samp,
	COMBINEFUNC = gpuagg_merge_combine, SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_samp_merge(bytea) IS
	'sample variance over all rows of all states that gpu_var_state made, as numeric';

CREATE AGGREGATE gpu_var_samp_merge(bytea, anyelement) (
	SFUNC = gpuagg_merge_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_merged_var_samp, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_merge_combine, SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_var_samp_merge(bytea, anyelement) IS
	'sample variance over all rows of all states that gpu_var_state made, of the second argument''s type';

CREATE AGGREGATE gpu_variance_merge(bytea) (
	SFUNC = gpuagg_merge_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_merged_var_samp,
	COMBINEFUNC = gpuagg_merge_combine, SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_variance_merge(bytea) IS
	'sample variance over all rows of all states that gpu_var_state made, as numeric';

CREATE AGGREGATE gpu_variance_merge(bytea, anyelement) (
	SFUNC = gpuagg_merge_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_merged_var_samp, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_merge_combine, SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_variance_merge(bytea, anyelement) IS
	'sample variance over all rows of all states that gpu_var_state made, of the second argument''s type';

CREATE AGGREGATE gpu_stddev_pop_merge(bytea) (
	SFUNC = gpuagg_merge_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_merged_stddev_pop,
	COMBINEFUNC = gpuagg_merge_combine, SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev_pop_merge(bytea) IS
	'population standard deviation over all rows of all states that gpu_var_state made, as numeric';

CREATE AGGREGATE gpu_stddev_pop_merge(bytea, anyelement) (
	SFUNC = gpuagg_merge_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_merged_stddev_pop, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_merge_combine, SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev_pop_merge(bytea, anyelement) IS
	'population standard deviation over all rows of all states that gpu_var_state made, of the second argument''s type';

CREATE AGGREGATE gpu_stddev_samp_merge(bytea) (
	SFUNC = gpuagg_merge_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_merged_stddev_samp,
	COMBINEFUNC = gpuagg_merge_combine, SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev_samp_merge(bytea) IS
	'sample standard deviation over all rows of all states that gpu_var_state made, as numeric';

CREATE AGGREGATE gpu_stddev_samp_merge(bytea, anyelement) (
	SFUNC = gpuagg_merge_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_merged_stddev_samp, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_merge_combine, SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev_samp_merge(bytea, anyelement) IS
	'sample standard deviation over all rows of all states that gpu_var_state made, of the second argument''s type';

CREATE AGGREGATE gpu_stddev_merge(bytea) (
	SFUNC = gpuagg_merge_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_merged_stddev_samp,
	COMBINEFUNC = gpuagg_merge_combine, SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev_merge(bytea) IS
	'sample standard deviation over all rows of all states that gpu_var_state made, as numeric';

CREATE AGGREGATE gpu_stddev_merge(bytea, anyelement) (
	SFUNC = gpuagg_merge_moments, STYPE = internal, SSPACE = 256,
	FINALFUNC = gpuagg_merged_stddev_samp, FINALFUNC_EXTRA,
	COMBINEFUNC = gpuagg_merge_combine, SERIALFUNC = gpuagg_merge_serialize, DESERIALFUNC = gpuagg_merge_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpu_stddev_merge(bytea, anyelement) IS
	'sample standard deviation over all rows of all states that gpu_var_state made, of the second argument''s type';

-- Aggregates over windows
--
-- Of an aggregate over a window the planner asks the aggregate's own support function, as core's
-- count(*) has one; ALTER FUNCTION knows no way to give it.  Without it, as after pg_upgrade, the
-- first such statement of a session may be planned before the library is loaded.

UPDATE pg_catalog.pg_proc SET prosupport = 'gpuagg_support(internal)'::pg_catalog.regprocedure
	FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
	WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = pg_proc.oid
		AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.deptype = 'e'
		AND e.extname = 'gpuagg' AND prokind = 'a';

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
