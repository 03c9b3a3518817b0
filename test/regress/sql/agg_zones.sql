-- Times of a zone, beside core: local times and instants around transitions.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
SET gpuagg.enable_agg_scan = on;
SET gpuagg.min_table_pages = 0;
SET gpuagg.core_aggregates = off;
SET max_parallel_workers_per_gather = 0;
SET timezone = 'UTC';

CREATE TABLE zones AS SELECT * FROM unnest(ARRAY['UTC', 'Europe/Berlin', 'Europe/Dublin', 'America/New_York', 'Pacific/Apia',
	'Africa/Casablanca', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Antarctica/Troll', 'XYZ-100',
	'AAA+3BBB,M3.2.0,M11.1.0/0', 'XYZ-30ABC-2,M3.2.0,M11.1.0']) WITH ORDINALITY z(zone, number);
-- instants at which a zone's offset changes, to the half-hour
CREATE TABLE transitions AS
SELECT number, zone, at, was, is_now FROM (
	SELECT number, zone, at, timezone(zone, at) - timezone('UTC', at) AS is_now,
		lag(timezone(zone, at) - timezone('UTC', at)) OVER (PARTITION BY zone ORDER BY at) AS was
	FROM zones, unnest(ARRAY[2011, 2019]) y,
		generate_series(make_timestamptz(y, 1, 1, 0, 0, 0), make_timestamptz(y, 12, 31, 23, 0, 0), '30 minutes') at) q
WHERE is_now <> was AND extract(doy FROM at) > 1 ORDER BY number, at;
SELECT zone, count(*) FROM transitions GROUP BY number, zone ORDER BY number;

-- What is compared with columns, and whether the answers are core's, all six operators both ways.
CREATE FUNCTION beside(stamp text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	ours text := '';
	cores text := '';
	one text;
	same boolean;
BEGIN
	FOR one IN SELECT format(' FILTER (WHERE %s)', replace(replace(f, 'op', op), 'col', col))
		FROM unnest(ARRAY['=', '<>', '<', '<=', '>', '>=']) op, unnest(ARRAY['there', 'd']) col,
			unnest(ARRAY['col op ' || stamp, stamp || ' op col']) f LOOP
		ours := ours || ', gpu_sum(x)' || one;
		cores := cores || ', sum(x)' || one;
	END LOOP;
	EXECUTE format('SELECT (SELECT row(%s) FROM local_times) = (SELECT row(%s) FROM local_times)', substr(ours, 3), substr(cores, 3))
	INTO same;
	RETURN same;
END $$;

CREATE TABLE local_times (there timestamp, d date, x bigint);
CREATE TABLE odd (zone text, stamp text, what text);
CREATE PROCEDURE compare_zone(name text) LANGUAGE plpgsql AS $$
DECLARE
	t record;
BEGIN
	EXECUTE format('SET timezone = %L', name);
	TRUNCATE local_times;
	INSERT INTO local_times SELECT there, there::date, (random() * 1e12)::bigint FROM (
		SELECT DISTINCT (timezone('UTC', at) + k * interval '15 minutes' + e * interval '1 microsecond') AS there
		FROM transitions, generate_series(-116, 116) k, generate_series(-1, 1) e
		WHERE zone = name AND (e = 0 OR k % 4 = 0) AND (abs(k) <= 12 OR k % 8 = 0)
		UNION SELECT timestamp '2020-06-01' + k * interval '15 minutes' FROM generate_series(1, 200) k) q;
	INSERT INTO local_times VALUES ('infinity', 'infinity', 1), ('-infinity', '-infinity', 2), (NULL, NULL, 4),
		('294276-12-31', '5874897-12-31', 8), ('4714-11-24 BC', '4714-11-24 BC', 16);
	FOR t IN SELECT DISTINCT at + (k * interval '15 minutes' + e * interval '1 microsecond') AS stamp
		FROM (SELECT at FROM transitions WHERE zone = name UNION SELECT timestamptz '2020-06-01 12:00+00') q,
			unnest(ARRAY[-4, -1, 0, 1, 2, 96]) k, unnest(ARRAY[-1, 0, 1]) e LOOP
		IF beside(quote_literal(timezone('UTC', t.stamp) || '+00') || '::timestamptz') IS NOT TRUE THEN
			INSERT INTO odd VALUES (name, t.stamp::text, 'compared');
		END IF;
	END LOOP;
END $$;
SELECT format('CALL compare_zone(%L)', zone) FROM zones ORDER BY number \gexec
SELECT count(*) FROM odd;
SELECT * FROM odd LIMIT 10;

-- What is evaluated row by row, as it runs: where no threshold is right, in zones of odd offsets, from infinity on.
CREATE TABLE vectors WITH (autovacuum_enabled = off) AS
SELECT i::bigint AS x, timestamptz '2019-03-29 00:00+00' + i * interval '1 minute' AS at,
	timestamp '2019-03-29' + i * interval '1 minute' AS there, date '2019-03-29' + i / 1440 AS d FROM generate_series(1, 9000) i;
VACUUM ANALYZE vectors;
CREATE FUNCTION by_row(what text, groups text DEFAULT '1', of text DEFAULT 'vectors') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT %s AS g, gpu_sum(x) AS s FROM %s WHERE %s GROUP BY 1', groups, of, what);
	line text;
	said text;
	static text := '';
	same boolean;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF) ' || query LOOP
		IF line ~ 'Vectors Row by Row' THEN
			said := CASE WHEN line ~ ': 0$' THEN 'vectors' ELSE 'rows' END;
		ELSIF line ~ 'Evaluated Row by Row' THEN
			static := ';' || regexp_replace(line, '^.*Evaluated Row by Row:', '');
		END IF;
	END LOOP;
	EXECUTE format('SELECT (SELECT array_agg(row(g, s)::text ORDER BY g, s) FROM (%s) q) IS NOT DISTINCT FROM
		(SELECT array_agg(row(g, s)::text ORDER BY g, s) FROM (%s) q)', query, replace(query, 'gpu_sum', 'sum')) INTO same;
	RETURN said || CASE WHEN same THEN ', equal' ELSE ', WRONG' END || static;
END $$;
SET timezone = 'Europe/Berlin';
SELECT c, by_row(c) FROM unnest(ARRAY[
	'there > timestamptz ''2019-03-31 00:59:59.999999+00''', 'there <= timestamptz ''2019-03-31 00:59:59.999999+00'' - interval ''1 day''',
	'there >= timestamptz ''2019-03-31 01:30+00''', 'there < timestamptz ''2019-03-31 02:00:00.000001+00''',
	'd < timestamptz ''2019-03-31 01:30+00''', 'timestamptz ''2019-03-30 23:00+00'' = d', 'd <> timestamptz ''2019-03-30 23:00+00''',
	'there < ''infinity''::timestamptz', 'd <= ''infinity''::timestamptz', 'd > ''-infinity''::timestamptz AND there > ''-infinity''::timestamptz',
	'there > NULL::timestamptz', 'd + 1 > now() - interval ''1000 years'' * 0 - interval ''2000 days''',
	'there < timestamptz ''294276-12-30 00:00+00''']) c;
SET timezone = 'XYZ-100';
SELECT c, by_row(c) FROM unnest(ARRAY['there > timestamptz ''2019-03-31 01:30+00''', 'd > timestamptz ''2019-03-31 01:30+00''']) c;
-- by the setting as it is at each execution
SET plan_cache_mode = force_generic_plan;
PREPARE since(timestamptz) AS SELECT gpu_sum(x), gpu_count(*) FROM vectors WHERE there >= $1 AND d <> $1;
SET gpuagg.enable_agg_scan = off;
PREPARE core_since(timestamptz) AS SELECT sum(x), count(*) FROM vectors WHERE there >= $1 AND d <> $1;
RESET gpuagg.enable_agg_scan;
SET timezone = 'America/New_York';
EXECUTE since('2019-03-31 04:00+00');
EXECUTE core_since('2019-03-31 04:00+00');
SET timezone = 'Asia/Kolkata';
EXECUTE since('2019-03-31 04:00+00');
EXECUTE core_since('2019-03-31 04:00+00');


-- Columns of instants and local times in zones: what row by row is, and what wrong.
CREATE TABLE instants (at timestamptz, there timestamp, d date, x bigint);
CREATE TABLE expressions AS SELECT * FROM (
	SELECT format('date_trunc(%L, at)', f) FROM unnest(ARRAY['microsecond', 'second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year']) f
	UNION ALL SELECT format('extract(%s FROM at)', f) FROM unnest(ARRAY['microseconds', 'second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year',
		'decade', 'century', 'millennium', 'dow', 'isodow', 'doy', 'isoyear', 'epoch']) f
	UNION ALL SELECT * FROM unnest(ARRAY['at::timestamp', 'at::date', 'at::time', 'there::timestamptz', 'd::timestamptz', 'date_part(''hour'', at)',
		'at AT TIME ZONE ''America/New_York''', 'there AT TIME ZONE ''America/New_York''', 'at AT TIME ZONE ''UTC'' AT TIME ZONE ''Europe/Berlin''',
		'at AT TIME ZONE ''cet''', 'there AT TIME ZONE ''PST''', 'date_trunc(''day'', at, ''Australia/Lord_Howe'')', 'date_trunc(''hour'', at, ''Asia/Kolkata'')',
		'at + interval ''1 day''', 'at - interval ''30 days 1 hour''', 'at + interval ''-7 days 26 hours''', 'at < there', 'd <= at', 'there = at', 'at > d'])) e(e);
CREATE TABLE found (zone text, e text, said text);
CREATE PROCEDURE compute_zone(name text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SET timezone = %L', name);
	TRUNCATE instants;
	INSERT INTO instants SELECT at, there, there::date, row_number() OVER () FROM (
		SELECT at + k * interval '15 minutes' + e * interval '1 microsecond' AS at, timezone('UTC', at + n * interval '15 minutes' + e * interval '1 microsecond') AS there
		FROM (SELECT at FROM transitions WHERE zone = name UNION SELECT timestamptz '2020-06-01 12:00+00') t,
			unnest(ARRAY[-96, -48, -9, -4, -3, -2, -1, 0, 1, 2, 3, 4, 9, 48, 96], ARRAY[0, 48, -48, -44, -8, -4, -2, 1, 2, 4, 6, 8, 22, 40, 96]) u(k, n), generate_series(-1, 1) e
		UNION ALL SELECT timestamptz '1985-01-01 00:00+00' + random() * interval '54 years', timestamp '1985-01-02' + random() * interval '54 years'
		FROM generate_series(1, 200)) q;
	INSERT INTO instants VALUES ('infinity', 'infinity', 'infinity', 0), ('-infinity', '-infinity', '-infinity', -1), (NULL, NULL, NULL, 7),
		('294276-12-20 00:00+00', '294276-12-20', '294276-12-20', -2), ('4713-06-01 BC', '4713-06-01 BC', '4713-06-01 BC', -3),
		('1850-07-01', '1850-07-01', '1850-07-01', -4), ('1921-07-01', '1921-07-01', '1921-07-01', -5), ('2070-07-01', '2070-07-01', '2070-07-01', -6);
	INSERT INTO found SELECT name, e, by_row('x > 0', e, 'instants') FROM expressions;
	INSERT INTO found SELECT name, e, by_row('x < 0 OR x % 20 = 0', e, 'instants') FROM expressions;
END $$;
SELECT format('CALL compute_zone(%L)', zone) FROM zones ORDER BY number \gexec
SELECT * FROM found WHERE said ~ 'WRONG';
SELECT zone, count(*), count(*) FILTER (WHERE said ~ '^vectors') AS vectors FROM found GROUP BY 1 ORDER BY zone COLLATE "C";
SELECT e, min(said) FROM (SELECT e, said, row_number() OVER (PARTITION BY zone, e) AS pass FROM found WHERE zone = 'Europe/Berlin') q
GROUP BY e HAVING NOT bool_or(said = 'vectors, equal') ORDER BY e COLLATE "C";

DROP FUNCTION by_row, beside;
DROP PROCEDURE compare_zone, compute_zone;
DROP TABLE expressions, found, instants, zones, transitions, local_times, odd, vectors;
