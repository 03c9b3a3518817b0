-- What a filter compares columns with: computed once, early, without errors that core would not raise.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
SET gpuagg.enable_agg_scan = on;
SET gpuagg.min_table_pages = 0;
SET max_parallel_workers_per_gather = 0;
SET plan_cache_mode = force_generic_plan;
SET timezone = 'Europe/Berlin';

CREATE TABLE constants WITH (autovacuum_enabled = off) AS
SELECT i, i::bigint AS x, timestamptz '2024-03-01 12:00+00' + i * interval '1 hour' AS at,
       timestamp '2024-03-01 12:00' + i * interval '1 hour' AS there, date '2024-03-01' + i / 24 AS d
FROM generate_series(1, 3000) i;
INSERT INTO constants VALUES (0, 7, 'infinity', '-infinity', 'infinity'), (-1, 9, '-infinity', 'infinity', '-infinity'),
	(-2, 11, NULL, NULL, NULL);
VACUUM ANALYZE constants;

-- Whether the answer is core's, and what is evaluated row by row.
CREATE FUNCTION beside(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	said text;
BEGIN
	EXECUTE format('SELECT CASE WHEN (SELECT row(gpu_sum(x), gpu_count(*)) FROM constants WHERE %1$s) =
		(SELECT row(sum(x), count(*)) FROM constants WHERE %1$s) THEN ''equal'' ELSE ''wrong'' END', condition) INTO said;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF, VERBOSE) SELECT gpu_sum(x), gpu_count(*) FROM constants WHERE ' || condition LOOP
		IF line ~ 'Evaluated Row by Row' THEN
			said := said || ';' || regexp_replace(line, '^.*Evaluated Row by Row:', '');
		END IF;
	END LOOP;
	RETURN said;
END $$;
SELECT c, beside(c) FROM unnest(ARRAY[
	'at >= now() - interval ''30 days'' AND at < now() - interval ''1 day''',
	'at BETWEEN now() - interval ''900 days'' AND now()',
	'd > current_date - 900 AND d <= current_date - 1',
	'there > localtimestamp - interval ''900 days'' AND there < localtimestamp + interval ''1 month'' * 2',
	'at > current_date - 900', 'current_date - 900 < at', 'at <> date ''2024-03-02''', 'at = date ''2024-03-02''',
	'at >= date ''2024-03-31'' AND at < date ''2024-04-01''', 'date ''2024-04-01'' >= at', 'timestamp ''2024-03-31 02:30'' <= at',
	'at < timestamp ''2024-03-31 03:30'' AND at > timestamp ''2024-03-31 01:30''', 'there > at', 'd < at', 'there < now()',
	'at < date ''5874897-12-31'' AND x > 3', 'at > date ''4714-11-24 BC''', 'at < date ''infinity''', 'at <= timestamp ''infinity''', 'at > date ''-infinity''',
	'at > NULL::date', 'x > 5 AND x < length(version()) * 0 + 100']) c;
-- by the setting, also where the plan stays
PREPARE zoned AS SELECT gpu_sum(x), gpu_count(*) FROM constants WHERE x > 0 AND at < date '2024-03-31';
SET gpuagg.enable_agg_scan = off;
PREPARE zoned_core AS SELECT sum(x), count(*) FROM constants WHERE x > 0 AND at < date '2024-03-31';
RESET gpuagg.enable_agg_scan;
EXECUTE zoned;
EXECUTE zoned_core;
SET timezone = 'America/New_York';
EXECUTE zoned;
EXECUTE zoned_core;

-- errors: only of what a row reaches
PREPARE behind(int) AS SELECT gpu_sum(x), gpu_count(*) FROM constants WHERE x < 0 AND i > 1 / $1;
EXECUTE behind(0);
EXECUTE behind(1);
PREPARE reached(int) AS SELECT gpu_sum(x), gpu_count(*) FROM constants WHERE x > 2990 AND i > 1 / $1;
EXECUTE reached(0);
EXECUTE reached(1);
PREPARE first(int) AS SELECT gpu_sum(x), gpu_count(*) FROM constants WHERE i > 1 / $1 AND x > 2990;
EXECUTE first(0);
EXECUTE first(1);
PREPARE twice(int) AS SELECT gpu_sum(x + 1 / $1) FROM constants WHERE x < 0 AND i > 1 / $1;
EXECUTE twice(0);
EXECUTE twice(1);
PREPARE twice_reached(int) AS SELECT gpu_sum(x + 1 / $1) FROM constants WHERE x > 2990 AND i > 1 / $1;
EXECUTE twice_reached(0);
EXECUTE twice_reached(1);
PREPARE below(int) AS SELECT count(*), max(s) FROM (SELECT gpu_sum(x + 1 / $1) OVER (ORDER BY i) AS s FROM constants WHERE x < 0 AND i > 1 / $1) q;
EXECUTE below(0);
PREPARE below_reached(int) AS SELECT count(*), max(s) FROM (SELECT gpu_sum(x + 1 / $1) OVER (ORDER BY i) AS s FROM constants WHERE x > 2990 AND i > 1 / $1) q;
EXECUTE below_reached(0);
EXECUTE below_reached(1);
PREPARE choice(int) AS SELECT gpu_sum(CASE WHEN x < 0 THEN x / (1 / $1) ELSE x END), gpu_count(*) FROM constants WHERE x > 2990;
EXECUTE choice(0);
EXECUTE choice(1);
PREPARE far(timestamp) AS SELECT gpu_sum(x), gpu_count(*) FROM constants WHERE x > 2990 AND there < $1 + interval '200000 years';
EXECUTE far('2024-01-01');
EXECUTE far('200000-01-01');
PREPARE grouped(int) AS SELECT i % 2 AS g, gpu_sum(x) FROM constants WHERE x > 2000 AND i > $1 + 900 GROUP BY 1 ORDER BY 1;
EXECUTE grouped(1000);
EXECUTE grouped(2147483647);
EXECUTE grouped(2000);

DROP FUNCTION beside;
DROP TABLE constants;
