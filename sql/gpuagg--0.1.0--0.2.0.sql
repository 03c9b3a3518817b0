-- gpuagg 0.1.0 to 0.2.0
--
-- Nothing that users' objects may depend on is dropped, and privileges stay what they were.

\echo Use "ALTER EXTENSION gpuagg UPDATE TO '0.2.0'" to load this file. \quit

-- More columns at the end
--
-- CREATE OR REPLACE cannot add columns to a function's result, and views that use the function would
-- keep it from being dropped.  So it takes over the definition of another one.  Views go on with the
-- columns that they know.

CREATE FUNCTION gpuagg_last_query_new(
	OUT engine text, OUT cpu_batches bigint, OUT device_batches bigint, OUT rows bigint,
	OUT bytes bigint, OUT fallbacks bigint, OUT reason text,
	OUT table_pages bigint, OUT table_rows bigint, OUT table_vectors bigint,
	OUT resident_pages bigint, OUT resident_confirmed bigint, OUT resident_filled bigint, OUT resident_skipped bigint)
	RETURNS record
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'gpuagg_last_query_0_2';
UPDATE pg_catalog.pg_proc f SET proallargtypes = new.proallargtypes, proargmodes = new.proargmodes,
		proargnames = new.proargnames, prosrc = new.prosrc
	FROM pg_catalog.pg_proc new WHERE f.oid = 'gpuagg_last_query()'::pg_catalog.regprocedure::pg_catalog.oid
		AND new.oid = 'gpuagg_last_query_new()'::pg_catalog.regprocedure::pg_catalog.oid;
DROP FUNCTION gpuagg_last_query_new();

CREATE FUNCTION gpuagg_stat_get_new(
	OUT calls bigint, OUT cpu_batches bigint, OUT cpu_rows bigint, OUT cpu_bytes bigint,
	OUT device_batches bigint, OUT device_rows bigint, OUT device_bytes bigint,
	OUT fallbacks bigint, OUT fallbacks_by_reason jsonb, OUT shared boolean,
	OUT device_state text, OUT device_reason text, OUT stats_reset timestamptz,
	OUT table_pages bigint, OUT table_rows bigint, OUT table_vectors bigint,
	OUT resident_pages bigint, OUT resident_confirmed bigint, OUT resident_filled bigint, OUT resident_skipped bigint)
	RETURNS record
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'gpuagg_stat_get_0_2';
UPDATE pg_catalog.pg_proc f SET proallargtypes = new.proallargtypes, proargmodes = new.proargmodes,
		proargnames = new.proargnames, prosrc = new.prosrc
	FROM pg_catalog.pg_proc new WHERE f.oid = 'gpuagg_stat_get()'::pg_catalog.regprocedure::pg_catalog.oid
		AND new.oid = 'gpuagg_stat_get_new()'::pg_catalog.regprocedure::pg_catalog.oid;
DROP FUNCTION gpuagg_stat_get_new();

CREATE OR REPLACE VIEW gpuagg_stat AS
	SELECT calls, cpu_batches, cpu_rows, cpu_bytes, device_batches, device_rows, device_bytes,
		fallbacks, fallbacks_by_reason, shared, device_state, device_reason, stats_reset,
		table_pages, table_rows, table_vectors,
		resident_pages, resident_confirmed, resident_filled, resident_skipped
	FROM gpuagg_stat_get();
COMMENT ON COLUMN gpuagg_stat.resident_pages IS 'pages whose columns came from memory';

-- Resident columns

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

-- Aggregates over windows: a database that has gone through pg_upgrade has lost these.

UPDATE pg_catalog.pg_proc SET prosupport = 'gpuagg_support(internal)'::pg_catalog.regprocedure
	FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
	WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid AND d.objid = pg_proc.oid
		AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid AND d.deptype = 'e'
		AND e.extname = 'gpuagg' AND prokind = 'a';
