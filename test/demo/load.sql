-- load.sql: the tables of the demonstration.  psql variable: rows.
CREATE EXTENSION gpuagg;

CREATE TABLE reading (
    sensor integer NOT NULL,
    at timestamptz NOT NULL,
    pulses integer NOT NULL,
    microjoules bigint NOT NULL,
    volts double precision,
    price numeric(10,4) NOT NULL
);

SELECT setseed(0.5) \g /dev/null
INSERT INTO reading
SELECT i % 1000,
       timestamptz '2026-01-01 00:00:00+00' + (i / 1000) * interval '1 second',
       (random() * 100000)::integer,
       (random() * 1e15)::bigint,
       CASE WHEN i % 50 = 0 THEN NULL ELSE (random() - 0.5) * 10 ^ (i % 9) END,
       random() * 1000
FROM generate_series(1, :rows) AS i;

-- Accounts begin with 5,000 each; what comes later is a little more in than out.
CREATE TABLE movement (
    id bigint NOT NULL,
    account integer NOT NULL,
    at timestamptz NOT NULL,
    amount numeric(12,2) NOT NULL
);
INSERT INTO movement
SELECT i, CASE WHEN i <= 2000 THEN i ELSE 1 + floor(random() * 2000) END,
       timestamptz '2026-01-01 00:00:00+00' + i * interval '5 seconds',
       CASE WHEN i <= 2000 THEN 5000 ELSE random() * 200 - 99 END
FROM generate_series(1, :rows) AS i;
CHECKPOINT;
VACUUM (FREEZE, ANALYZE) reading, movement;

-- Runs a query that yields one value; best time of three.
CREATE FUNCTION timed(query text, OUT result text, OUT ms numeric)
LANGUAGE plpgsql AS $$
DECLARE
    start timestamptz;
BEGIN
    FOR i IN 1..3 LOOP
        start := clock_timestamp();
        EXECUTE query INTO result;
        ms := least(ms, round(extract(epoch FROM clock_timestamp() - start) * 1000, 1));
    END LOOP;
END $$;

-- The same query with core's nodes, and with gpuagg's.
CREATE FUNCTION before_and_after(what text, statement text)
RETURNS TABLE (query text, before text, after text, "before ms" numeric, "after ms" numeric, "times as fast" numeric)
LANGUAGE plpgsql AS $$
BEGIN
    query := what;
    PERFORM set_config('gpuagg.core_aggregates', 'off', true);
    SELECT t.result, t.ms INTO before, "before ms" FROM timed(statement) AS t;
    PERFORM set_config('gpuagg.core_aggregates', 'exact', true);
    SELECT t.result, t.ms INTO after, "after ms" FROM timed(statement) AS t;
    "times as fast" := round("before ms" / "after ms", 1);
    RETURN NEXT;
END $$;

CREATE FUNCTION side_by_side(what text, core text, ours text)
RETURNS TABLE (query text, "core says" text, "gpuagg says" text, "core ms" numeric, "gpuagg ms" numeric,
               "times as fast" numeric)
LANGUAGE sql AS $$
    SELECT what, c.result, o.result, c.ms, o.ms, round(c.ms / o.ms, 1) FROM timed(core) AS c, timed(ours) AS o
$$;

-- A query once, and where its pages came from.
CREATE FUNCTION one_use(what text, query text)
RETURNS TABLE (use text, result text, ms numeric, "pages read" bigint, "from memory" bigint, confirmed bigint,
               "put into memory" bigint, "chunks skipped" bigint)
LANGUAGE plpgsql AS $$
DECLARE
    start timestamptz;
    before record;
    after record;
BEGIN
    -- the counters are of the whole statement, from its first aggregate on
    PERFORM gpu_sum(1) FROM generate_series(1, 2);
    SELECT * INTO before FROM gpuagg_last_query();
    start := clock_timestamp();
    EXECUTE query INTO result;
    use := what;
    ms := round(extract(epoch FROM clock_timestamp() - start) * 1000, 1);
    SELECT * INTO after FROM gpuagg_last_query();
    "pages read" := after.table_pages - before.table_pages;
    "from memory" := after.resident_pages - before.resident_pages;
    confirmed := after.resident_confirmed - before.resident_confirmed;
    "put into memory" := after.resident_filled - before.resident_filled;
    "chunks skipped" := after.resident_skipped - before.resident_skipped;
    RETURN NEXT;
END $$;
