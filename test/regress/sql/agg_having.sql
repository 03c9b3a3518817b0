-- HAVING of a node whose groups are taken as vectors: a condition is evaluated once for each group.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS gpuagg;
SET gpuagg.enable_agg_scan = on;
SET gpuagg.min_table_pages = 0;
SET gpuagg.core_aggregates = off;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE calls AS SELECT i, i % 20011 AS k FROM generate_series(1, 100000) i;
ANALYZE calls;
CREATE SEQUENCE asked;
-- its answer depends on how often it has been asked, which its label denies
CREATE FUNCTION asked_more(n bigint, often bigint) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN nextval('asked') > often;
END $$;

SELECT k, gpu_count(*) FROM calls GROUP BY k HAVING asked_more(gpu_count(*), 0) ORDER BY 2, 1 LIMIT 2;
SELECT last_value FROM asked;
SELECT setval('asked', 1, false);
SELECT gpu_count(*) FROM (SELECT k, gpu_count(*) FROM calls GROUP BY k HAVING asked_more(gpu_count(*), 0)) q;
SELECT last_value FROM asked;
-- no group passes at first, and all would later
SELECT setval('asked', 1, false);
SELECT gpu_count(*) <= 2 AS most FROM (
	SELECT k, gpu_count(*) FROM calls GROUP BY k HAVING asked_more(gpu_count(*), 20000) ORDER BY 2, 1 LIMIT 2) q;

DROP TABLE calls;
DROP FUNCTION asked_more(bigint, bigint);
DROP SEQUENCE asked;
