\set ECHO none
-- is_core.sql: what a query gives, with @ for gpu_, beside what it gives with core's functions.
--
-- For the tests that include it, whose output shows nothing of it.

-- A query's rows, in an order of their own, or its error.
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r text;
BEGIN
	EXECUTE format('SELECT array_agg(z::text ORDER BY z::text) FROM (%s) z', query) INTO r;
	RETURN coalesce(r, 'no rows');
EXCEPTION WHEN others THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;

-- Whether a query has core's rows, or core's error.
CREATE FUNCTION is_core(query text) RETURNS boolean LANGUAGE sql AS $$
	SELECT outcome(replace(query, '@', 'gpu_')) = outcome(replace(query, '@', ''))
$$;

-- The same of a statement with parameters.
CREATE FUNCTION with_parameters(query text, a numeric, b numeric) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	core text;
BEGIN
	EXECUTE 'PREPARE parametrized (numeric, numeric) AS ' || replace(query, '@', 'gpu_');
	EXECUTE format('CREATE TEMP TABLE ours ON COMMIT DROP AS EXECUTE parametrized(%L, %L)', a, b);
	DEALLOCATE parametrized;
	EXECUTE 'PREPARE parametrized (numeric, numeric) AS ' || replace(query, '@', '');
	EXECUTE format('CREATE TEMP TABLE core ON COMMIT DROP AS EXECUTE parametrized(%L, %L)', a, b);
	DEALLOCATE parametrized;
	SELECT array_agg(z::text ORDER BY z::text) INTO ours FROM ours z;
	SELECT array_agg(z::text ORDER BY z::text) INTO core FROM core z;
	DROP TABLE ours, core;
	RETURN ours IS NOT DISTINCT FROM core;
END $$;
\set ECHO all
