-- outcomes.sql: runs a query by several plans and says where their outcomes differ.  For tables.py.
--
-- A query has parameters if types, their list, is not empty: it is then prepared, and executed
-- with each of the lists of arguments.  way: the value of gpuagg.core_aggregates.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN small_number AS numeric(8,3);
CREATE TYPE pair AS (x integer, y text);
CREATE TABLE few (i integer);
INSERT INTO few VALUES (0), (1), (2), (3), (NULL);
ANALYZE few;

CREATE FUNCTION pick(list anyarray) RETURNS anyelement LANGUAGE sql VOLATILE AS
	$$ SELECT list[1 + floor(random() * array_length(list, 1))::int] $$;

-- its argument, known when the executor starts
CREATE FUNCTION steady(value anyelement) RETURNS anyelement LANGUAGE plpgsql STABLE PARALLEL SAFE AS
	$$ BEGIN RETURN value; END $$;

CREATE FUNCTION configure(node boolean, way text, workers integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('gpuagg.enable_agg_scan', node::text, true),
		set_config('max_parallel_workers_per_gather', workers::text, true);
	-- servers without the setting have core's aggregates run by core
	IF current_setting('gpuagg.core_aggregates', true) IS NOT NULL THEN
		PERFORM set_config('gpuagg.core_aggregates', way, true);
	END IF;
END $$;

CREATE FUNCTION prepare_one(query text, types text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM pg_prepared_statements WHERE name = 'one') THEN
		DEALLOCATE one;
	END IF;
	EXECUTE 'PREPARE one(' || types || ') AS ' || query;
END $$;

-- The lines of the result as text, sorted; or the error.
CREATE FUNCTION outcome(query text, types text, arguments text[], node boolean, way text, workers integer) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
	sorted text := 'SELECT array_agg(q::text ORDER BY q::text COLLATE "C") FROM (' || query || ') q';
	lines text[];
	result text[] := '{}';
	list text;
BEGIN
	PERFORM configure(node, way, workers);
	IF types = '' THEN
		EXECUTE sorted INTO lines;
		RETURN coalesce(lines, '{}');
	END IF;
	PERFORM prepare_one(sorted, types);
	FOREACH list IN ARRAY arguments LOOP
		EXECUTE 'EXECUTE one(' || list || ')' INTO lines;
		result := result || ('with ' || list) || lines;
	END LOOP;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN ARRAY['error ' || SQLSTATE || ': ' || SQLERRM];
END $$;

-- The plan; NULL if planning fails.
CREATE FUNCTION plan_of(query text, types text, arguments text[], options text, node boolean, way text, workers integer) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	line text;
	plan text := '';
BEGIN
	PERFORM configure(node, way, workers);
	IF types <> '' THEN
		PERFORM prepare_one(query, types);
		query := 'EXECUTE one(' || arguments[1] || ')';
	END IF;
	FOR line IN EXECUTE 'EXPLAIN (' || options || ') ' || query LOOP
		plan := plan || line || E'\n';
	END LOOP;
	RETURN plan;
EXCEPTION WHEN OTHERS THEN
	RETURN NULL;
END $$;

CREATE FUNCTION first_difference(label text, a text[], b text[]) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN a = b THEN NULL ELSE label || ': ' ||
		coalesce((SELECT format('line %s is %s, expected %s', i, coalesce(a[i], 'missing'), coalesce(b[i], 'none'))
				  FROM generate_series(1, greatest(cardinality(a), cardinality(b))) i
				  WHERE a[i] IS DISTINCT FROM b[i] LIMIT 1), '?') END $$;

CREATE FUNCTION is_error(lines text[]) RETURNS boolean LANGUAGE sql AS $$ SELECT coalesce(lines[1] LIKE 'error %', false) $$;

-- Groups have no order: of two that fail any may be the first, as numbers out of range may.
-- any_error: neither have the steps of the plan, each of which may fail.
CREATE FUNCTION same_error(query text, a text[], b text[], any_error boolean) RETURNS boolean LANGUAGE sql AS $$
	SELECT is_error(a) AND is_error(b) AND
		(any_error OR (query ~ 'GROUP BY' AND left(a[1], 12) = left(b[1], 12) AND a[1] LIKE 'error 22003%')) $$;

-- expected: the query by which results are judged, without the node.  core: another such, of which
-- the results are the same too, or ''.  by_order: in core's nodes core's aggregates depend on the
-- order of rows, so that results of other nodes are judged only where core has no part in them.
CREATE FUNCTION compare(query text, way text, expected text, core text, by_order boolean, any_error boolean,
	workers integer, types text, arguments text[],
	OUT ran boolean, OUT parallel boolean, OUT by_row boolean, OUT failed boolean, OUT unjudged boolean,
	OUT nrows integer, OUT vectors bigint, OUT row_vectors bigint, OUT reasons text, OUT difference text)
LANGUAGE plpgsql AS $$
DECLARE
	by_core constant text := '(^|\n)\s*(-> +)?((Partial|Finalize) )?(Hash|Group|Mixed)?Aggregate\M|Relations: Aggregate|InitPlan[^\n]*\n\s*-> +Limit';
	want text[] := outcome(expected, types, arguments, false, 'off', 0);
	got text[];
	plan text := plan_of(query, types, arguments, 'COSTS OFF, VERBOSE', true, way, 0);
	missed text;
	limited boolean;
	other text[];
BEGIN
	-- subqueries over few are beside the point
	ran := regexp_replace(plan, '\(GpuAgg\) on [a-z.]*few', '', 'g') ~ '\(GpuAgg';
	parallel := false;
	unjudged := false;
	by_row := plan ~ 'Row by Row';
	reasons := CASE WHEN plan IS NULL THEN want[1] ELSE substring(plan FROM 'GpuAgg not used: ([^\n]*)') END;
	got := outcome(query, types, arguments, true, way, 0);
	vectors := (SELECT cpu_batches FROM gpuagg_last_query());
	failed := is_error(want);
	nrows := cardinality(want);
	-- before 18 DISTINCT leaves out columns that equal a constant in WHERE, although grouping sets
	-- make them NULL: which rows it keeps depends on their order
	IF query ~ '^SELECT DISTINCT .* GROUP BY .*(CUBE|ROLLUP|GROUPING SETS)' AND got IS DISTINCT FROM want AND
		current_setting('server_version_num')::integer < 180000 THEN
		unjudged := true;
		row_vectors := 0;
		PERFORM configure(true, 'off', 0);
		RETURN;
	END IF;
	-- 17 does not plan grouping() in HAVING over partitions that are grouped singly
	IF want[1] LIKE 'error XX000: GroupingFunc found%' THEN
		vectors := 0;
		row_vectors := 0;
		PERFORM configure(true, 'off', 0);
		RETURN;
	END IF;
	missed := first_difference('node', got, want);
	-- core leaves out default partitions that have rows, where it prunes: not below partitionwise plans
	IF missed IS NOT NULL AND current_setting('enable_partitionwise_aggregate')::boolean THEN
		PERFORM set_config('enable_partitionwise_aggregate', 'off', true);
		other := outcome(expected, types, arguments, false, 'off', 0);
		IF got = other THEN
			want := other;
			failed := is_error(want);
			missed := NULL;
		ELSE
			PERFORM set_config('enable_partitionwise_aggregate', 'on', true);
		END IF;
	END IF;
	-- rows that an index leaves out meet no error
	IF is_error(got) AND NOT failed THEN
		PERFORM set_config('enable_indexscan', 'off', true), set_config('enable_bitmapscan', 'off', true);
		other := outcome(expected, types, arguments, false, 'off', 0);
		PERFORM set_config('enable_indexscan', 'on', true), set_config('enable_bitmapscan', 'on', true);
		IF is_error(other) THEN
			failed := true;
			missed := first_difference('node', got, other);
		END IF;
	END IF;
	-- the minimum of a constant, for which core reads up to one row, or none, and so meets other errors
	limited := (failed OR is_error(got)) AND
		plan_of(expected, types, arguments, 'COSTS OFF', false, 'off', 0) ~ 'InitPlan[^\n]*\n\s*-> +Limit';
	IF failed AND NOT is_error(want) AND missed IS NULL OR is_error(got) <> failed AND limited THEN
		failed := true;
	ELSIF missed IS NOT NULL AND way = 'all' AND by_order AND plan ~ by_core THEN
		missed := first_difference('core''s nodes', got, outcome(query, types, arguments, false, 'off', 0));
		unjudged := missed IS NOT NULL AND ran;
		difference := CASE WHEN NOT unjudged THEN missed END;
	-- another server folds constants that ours has as parameters, and so meets other errors
	ELSIF NOT same_error(query, got, want, any_error OR plan ~ 'Relations: Aggregate') THEN
		difference := missed;
	END IF;
	-- vectors of which a row, or a part of each row, was evaluated singly
	vectors := CASE WHEN ran AND NOT failed THEN vectors ELSE 0 END;
	row_vectors := CASE WHEN vectors = 0 THEN 0 WHEN by_row THEN vectors ELSE
		(SELECT coalesce(sum(m[1]::bigint), 0)
		 FROM regexp_matches(plan_of(query, types, arguments, 'ANALYZE, COSTS OFF, TIMING OFF', true, way, 0),
							 'Vectors Row by Row: (\d+)', 'g') m) END;
	IF workers > 0 THEN
		plan := plan_of(query, types, arguments, 'COSTS OFF', true, way, workers);
		parallel := plan ~ 'Gather.*\(GpuAgg';
		IF NOT by_order OR way = 'off' OR NOT plan ~ by_core THEN
			got := outcome(query, types, arguments, true, way, workers);
			-- which process is the first to meet an error is not determined
			IF NOT (failed AND (is_error(got) OR limited)) THEN
				difference := coalesce(difference, first_difference('workers', got, want));
			END IF;
		END IF;
	END IF;
	IF core <> '' THEN
		got := outcome(core, types, arguments, false, 'off', 0);
		-- the other server evaluates other constants, and takes some for columns that are not in GROUP BY
		IF NOT same_error(query, want, got, any_error) AND
			NOT ((is_error(got) OR is_error(want)) AND
				 plan_of(core, types, arguments, 'COSTS OFF', false, 'off', 0) ~ 'Relations: Aggregate') THEN
			difference := coalesce(difference, first_difference('core', want, got));
		END IF;
	END IF;
	PERFORM configure(true, 'off', 0);
END $$;
