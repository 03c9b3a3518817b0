\set ECHO none
-- differences.sql: a query with the node GpuWindow beside the same one without.
--
-- For the tests that include it, whose output shows nothing of it.

-- How many rows of the query differ, by their text, which are compared in memory of their own.
CREATE FUNCTION differences(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	memory text := current_setting('work_mem');
	n bigint;
BEGIN
	SET LOCAL gpuagg.enable_window_scan = on;
	EXECUTE 'CREATE TEMP TABLE with_node ON COMMIT DROP AS ' || query;
	SET LOCAL gpuagg.enable_window_scan = off;
	EXECUTE 'CREATE TEMP TABLE without ON COMMIT DROP AS ' || query;
	PERFORM set_config('work_mem', '64MB', true);
	SELECT count(*) INTO n
	FROM ((SELECT ours::text FROM with_node ours EXCEPT ALL SELECT core::text FROM without core)
		  UNION ALL (SELECT core::text FROM without core EXCEPT ALL SELECT ours::text FROM with_node ours)) d;
	PERFORM set_config('work_mem', memory, true);
	DROP TABLE with_node, without;
	RETURN n;
END $$;
\set ECHO all
