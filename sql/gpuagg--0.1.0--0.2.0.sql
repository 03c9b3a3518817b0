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

-- What pg_upgrade does not bring: minima and maxima of types for which the newer server has them and the
-- older had not, and support functions of aggregates.

DO $$
DECLARE
	path text := pg_catalog.current_setting('search_path');
	commands text[];
	command text;
BEGIN
	IF pg_catalog.to_regprocedure('pg_catalog.record_larger(record, record)') IS NOT NULL
		AND pg_catalog.to_regprocedure('gpuagg_record_extreme(internal)') IS NULL THEN
		CREATE FUNCTION gpuagg_record_min(internal, record) RETURNS internal
			LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
		CREATE FUNCTION gpuagg_record_max(internal, record) RETURNS internal
			LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT gpuagg_support AS 'MODULE_PATHNAME';
		CREATE FUNCTION gpuagg_record_extreme(internal) RETURNS record
			LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME';
	END IF;
	-- others may have operators and functions in the extension's schema
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
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
			AND NOT EXISTS (SELECT FROM pg_proc g JOIN pg_extension e ON e.extnamespace = g.pronamespace
				WHERE extname = 'gpuagg' AND g.proname = 'gpu_' || p.proname AND g.proargtypes = p.proargtypes));
	PERFORM set_config('search_path', path, true);
	FOREACH command IN ARRAY commands LOOP
		EXECUTE command;
	END LOOP;
END
$$;

-- Citus combines what workers compute where a state has a type that can be sent as text.  Elsewhere states
-- are internal, which takes less memory for each group.
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

UPDATE pg_catalog.pg_proc SET prosupport = 'gpuagg_support(internal)'::pg_catalog.regprocedure
	FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
	WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid AND d.objid = pg_proc.oid
		AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid AND d.deptype = 'e'
		AND e.extname = 'gpuagg' AND prokind = 'a';

-- In a database with Citus, counts of each type go by core's own function.

UPDATE pg_catalog.pg_aggregate a SET aggtransfn = 'pg_catalog.int8inc_any(bigint, "any")'::pg_catalog.regprocedure
	FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_depend d ON d.objid = p.oid
		JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
	WHERE p.oid = a.aggfnoid::pg_catalog.oid
		AND d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid
		AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid AND d.deptype = 'e'
		AND e.extname = 'gpuagg' AND p.proname = 'gpu_count'
		AND p.pronargs = 1 AND p.proargtypes[0] <> '"any"'::pg_catalog.regtype::pg_catalog.oid;
