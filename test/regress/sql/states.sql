-- States: between servers as bytes, between workers and partitions in the plan.
SET client_min_messages = warning;
SET lc_monetary = 'C';
CREATE TABLE vals AS SELECT i, i % 3 AS s, i % 10 AS g,
    (i * 7919 % 65536 - 32768)::int2 AS int2,
    (i * 1000003::int8 % 4294967296 - 2147483648)::int4 AS int4,
    (i * 6364136223846793005::numeric % 18446744073709551616 - 9223372036854775808)::int8 AS int8,
    ((i * 7919 % 65536) * 0.01)::numeric::money AS money,
    CASE i % 11 WHEN 0 THEN 3e33 WHEN 1 THEN -3e33 WHEN 2 THEN NULL ELSE i * 0.1 END::float4 AS float4,
    CASE i % 13 WHEN 0 THEN 1.7e150 WHEN 1 THEN -1.7e150 WHEN 2 THEN 5e-324 WHEN 3 THEN NULL
        ELSE i * 0.1::float8 * power(10::float8, i % 61 - 30) END AS float8,
    CASE i % 5 WHEN 0 THEN i * 1.1 WHEN 1 THEN -i * 123456789012345678901234567890.0001
        WHEN 2 THEN i / 7.0 WHEN 3 THEN NULL ELSE i END AS numeric,
    make_interval(months => i % 30, days => -i % 40, secs => i * 0.25) AS "interval",
    date '2000-01-01' + i * 7919 % 9999 AS date, time '00:00' + make_interval(secs => i * 7.5) AS "time",
    timestamp '2000-01-01' + make_interval(secs => i * 7919) AS timestamp,
    timestamptz '2000-01-01 00:00+00' + make_interval(secs => i * 7919) AS timestamptz,
    i % 2 = 0 AS bool
FROM generate_series(1, 3000) i;
ANALYZE vals;

-- The bytes are the same on every machine and in every release of this version.
SELECT gpu_sum_state(x::int2) AS int2, gpu_sum_state(x) AS int4 FROM generate_series(1, 10) x;
SELECT gpu_var_state(x::int8) AS int8 FROM generate_series(1, 10) x;
SELECT gpu_avg_state(x::float4 / 4) AS float4 FROM generate_series(1, 10) x;
SELECT gpu_var_state(x / 4::float8) AS float8 FROM generate_series(1, 10) x;
SELECT gpu_sum_state(x / 4.0) AS "numeric" FROM generate_series(1, 10) x;
SELECT gpu_sum_state(x * interval '1 day') AS "interval" FROM generate_series(1, 10) x;
-- They are read again: also what an earlier build of this version wrote.
SELECT gpu_sum_merge(s) AS sum, gpu_avg_merge(s) AS avg FROM (VALUES
    ('\x474101020100000000000000000a00000000000000000000000000000037bf278dda'::bytea), (NULL)) q(s);
-- No rows give a state too; merged, it is NULL.  A NULL among states is skipped.
SELECT gpu_sum_state(x) = gpu_avg_state(x) AS same, gpu_sum_state(x) FROM generate_series(1, 0) x;
SELECT gpu_sum_merge(s), gpu_avg_merge(s), gpu_sum_merge(s, NULL::bigint)
FROM (SELECT gpu_sum_state(x) AS s FROM generate_series(1, 0) x) q;
SELECT gpu_stddev_merge(s), gpu_var_pop_merge(s, NULL::float8)
FROM (SELECT gpu_var_state(x::float8) AS s FROM generate_series(1, 0) x) q;
SELECT gpu_sum_merge(NULL), gpu_sum_merge(NULL, NULL::bigint), gpu_state_merge(NULL);
SELECT gpu_sum_merge(s), gpu_state_merge(s) FROM (SELECT NULL::bytea) q(s) WHERE false;

-- Merged, with the result's type named: what the aggregate over all rows gives.
CREATE FUNCTION result_type(aggregate text, type regtype) RETURNS regtype LANGUAGE sql AS
$$SELECT prorettype FROM pg_proc WHERE proname = 'gpu_' || aggregate AND proargtypes[0] = type$$;
CREATE FUNCTION merged(aggregate text, type regtype, typed boolean) RETURNS text LANGUAGE plpgsql AS
$$DECLARE
    state text := CASE WHEN aggregate IN ('sum', 'avg') THEN aggregate ELSE 'var' END;
    got text;
BEGIN
    EXECUTE format('SELECT gpu_%s_merge(s%s)::text FROM (SELECT gpu_%s_state(%s) AS s FROM vals GROUP BY g) q',
        aggregate, CASE WHEN typed THEN ', NULL::' || result_type(aggregate, type) ELSE '' END,
        state, (SELECT quote_ident(typname) FROM pg_type WHERE oid = type)) INTO got;
    RETURN got;
END$$;
CREATE FUNCTION whole(aggregate text, type regtype) RETURNS text LANGUAGE plpgsql AS
$$DECLARE got text;
BEGIN
    EXECUTE format('SELECT gpu_%s(%I)::text FROM vals', aggregate,
        (SELECT typname FROM pg_type WHERE oid = type)) INTO got;
    RETURN got;
END$$;
CREATE TEMP VIEW merges AS SELECT aggregate, proargtypes[0]::regtype AS type
FROM unnest(ARRAY['sum', 'avg', 'var_pop', 'var_samp', 'variance', 'stddev_pop', 'stddev_samp', 'stddev']) aggregate
JOIN pg_proc ON proname = 'gpu_' || aggregate;
SELECT aggregate, string_agg(type::text, ', ' ORDER BY type) AS types,
    bool_and(merged(aggregate, type, true) = whole(aggregate, type)) AS same FROM merges
GROUP BY aggregate ORDER BY aggregate COLLATE "C";
-- As numeric: the same digits of exact types, the shortest decimal of floats.
SELECT aggregate, string_agg(type::text, ', ' ORDER BY type) AS types,
    bool_and(merged(aggregate, type, false)::numeric = whole(aggregate, type)::numeric) AS same,
    bool_and(merged(aggregate, type, false) = whole(aggregate, type)) FILTER (WHERE type IN
        ('int2'::regtype, 'int4', 'int8', 'numeric')) AS same_digits
FROM merges WHERE type NOT IN ('money'::regtype, 'interval')
GROUP BY aggregate ORDER BY aggregate COLLATE "C";
SELECT gpu_sum_merge(s), gpu_sum_merge(s)::float8 FROM (SELECT gpu_sum_state(x) FROM
    (VALUES (0.1::float8), (0.2), (1e-300)) v(x)) q(s);
SELECT gpu_sum_merge(s) FROM (SELECT gpu_sum_state(x) FROM (VALUES ('NaN'::float8)) v(x)) q(s);
SELECT gpu_sum_merge(s) FROM (SELECT gpu_sum_state(x) FROM (VALUES ('-inf'::float4)) v(x)) q(s);
SELECT gpu_sum_merge(s), gpu_sum_merge(s, NULL::float8)
FROM (SELECT gpu_sum_state(x) FROM (VALUES ('-0'::float8)) v(x)) q(s);
SELECT gpu_sum_merge(s), gpu_stddev_merge(s) FROM (SELECT gpu_var_state(x) FROM (VALUES (1.10), (2.9)) v(x)) q(s);
-- States with squares give sums too; states merge into a state.
SELECT gpu_sum_merge(s, NULL::float8) = whole('sum', 'float8')::float8 AS sum,
    gpu_avg_merge(s, NULL::float8) = whole('avg', 'float8')::float8 AS avg,
    gpu_stddev_merge(t, NULL::float8) = whole('stddev', 'float8')::float8 AS stddev
FROM (SELECT gpu_state_merge(s), gpu_state_merge(s ORDER BY g DESC) FROM
    (SELECT g, gpu_var_state(float8) FROM vals GROUP BY g) q(g, s) GROUP BY g % 4) r(s, t);
SELECT gpu_sum_merge(x) FROM (SELECT gpu_sum_state(int4) FROM vals UNION ALL
    SELECT gpu_avg_state(int4) FROM vals UNION ALL SELECT gpu_var_state(int4) FROM vals) q(x);
-- Sums that are out of range on the way, but not in the end.
SELECT gpu_sum_merge(s, NULL::float8) FROM (SELECT gpu_sum_state(x) FROM (VALUES (1, 1e308::float8), (1, 1e308),
    (2, -1e308), (2, 5e-324)) v(g, x) GROUP BY g) q(s);
SELECT gpu_sum_merge(s, NULL::float8) FROM (SELECT gpu_sum_state(x) FROM (VALUES (1, 1e308::float8), (1, 1e308))
    v(g, x) GROUP BY g) q(s);
-- In groups, with FILTER, OVER a frame, and in a prepared statement.
SELECT g, gpu_sum_merge(s) FILTER (WHERE h < 2) AS some, gpu_sum_merge(s) AS all, gpu_sum_merge(s, NULL::bigint) AS typed
FROM (SELECT g % 2, g, gpu_sum_state(int4) FROM vals GROUP BY g) q(g, h, s) GROUP BY g ORDER BY g;
SELECT g, gpu_avg_merge(s) OVER (ORDER BY g ROWS 1 PRECEDING)
FROM (SELECT g, gpu_sum_state(int2) FROM vals WHERE g < 4 GROUP BY g) q(g, s);
SELECT i, gpu_sum_merge(s) FROM (SELECT i, gpu_sum_state(int2) OVER (ORDER BY i) FROM vals WHERE i < 4) q(i, s)
GROUP BY i ORDER BY i;
PREPARE merging(bytea) AS SELECT gpu_sum_merge($1), gpu_sum_merge($1, NULL::bigint);
EXECUTE merging('\x474101020100000000000000000a00000000000000000000000000000037bf278dda');
EXECUTE merging(NULL);

-- States that cannot be merged.
\set VERBOSITY default
CREATE TABLE states AS SELECT gpu_sum_state(int2) AS int2, gpu_sum_state(int4) AS int4, gpu_sum_state(money) AS money,
    gpu_sum_state("interval") AS "interval", gpu_sum_state(float4) AS float4, gpu_var_state(float8) AS float8 FROM vals;
SELECT gpu_sum_merge(int4, NULL::int4) FROM states;
SELECT gpu_avg_merge(int4, NULL::float8) FROM states;
SELECT gpu_sum_merge(float4, NULL::float8) FROM states;
SELECT gpu_stddev_merge(float8, NULL::numeric) FROM states;
SELECT gpu_sum_merge(money) FROM states;
SELECT gpu_sum_merge("interval") FROM states;
SELECT gpu_avg_merge(money, NULL::money) FROM states;
SELECT gpu_sum_merge(s) FROM (SELECT int2 FROM states UNION ALL SELECT int4 FROM states) q(s);
SELECT gpu_variance_merge(int4) FROM states;
SELECT gpu_state_merge(s) FROM (SELECT gpu_sum_state(int4) FROM vals UNION ALL SELECT gpu_var_state(int4) FROM vals) q(s);
-- Not even where each worker or partition has states of one kind.
CREATE TABLE kept (k int, s bytea) PARTITION BY LIST (k);
CREATE TABLE kept_1 PARTITION OF kept FOR VALUES IN (1);
CREATE TABLE kept_2 PARTITION OF kept FOR VALUES IN (2);
INSERT INTO kept SELECT 1, gpu_sum_state(int4) FROM vals;
INSERT INTO kept SELECT 2, gpu_var_state(int4) FROM vals;
SET enable_partitionwise_aggregate = on;
EXPLAIN (COSTS off) SELECT gpu_state_merge(s) FROM kept;
SELECT gpu_state_merge(s) FROM kept;
SELECT gpu_sum_merge(s) = 2 * whole('sum', 'int4')::numeric AS same FROM kept;
RESET enable_partitionwise_aggregate;
DROP TABLE kept;
SELECT gpu_avg_state(money) FROM vals;
SELECT gpu_var_state("interval") FROM vals;
SELECT gpu_sum_merge('\x4741010201'::bytea, NULL);

-- Bytes that are no state.
SELECT gpu_sum_merge('');
SELECT gpu_sum_merge('GA');
SELECT gpu_sum_merge('GB and so on');
SELECT gpu_sum_merge('\x4741ff');
SELECT gpu_sum_merge('\x474101');
SELECT gpu_sum_merge(substr(int4, 1, 20)) FROM states;
SELECT gpu_sum_merge(int4 || '\x00') FROM states;
SELECT gpu_sum_merge(set_byte(int4, 3, 9)) FROM states;
SELECT gpu_avg_merge(set_byte(int4, 20, 254), NULL::numeric) FROM states;
SELECT gpu_state_merge(set_byte(float8, 60, 7)) FROM states;
-- With a check sum that fits: no such type; no such contents; not of this type; squares said, and none there; a
-- negative number of rows; a sum that one row cannot have; a byte too many; too many rows together.
SELECT gpu_sum_merge('\x474101090100000000000000000a00000000000000000000000000000037a74842d8');
SELECT gpu_sum_merge('\x474101020300000000000000000a00000000000000000000000000000037e47a85c4');
SELECT gpu_sum_merge('\x474101040200000000000000000a0000000000000000000000000000003708bf18fa');
SELECT gpu_sum_merge('\x474101020200000000000000000a00000000000000000000000000000037c9d401cb');
SELECT gpu_sum_merge('\x474101020100ffffffffffffffff00000000000000000000000000000037cc2e80ae');
SELECT gpu_sum_merge('\x47410102010000000000000000010100000000000000000000000000003759f8ebdf');
SELECT gpu_sum_merge('\x474101020100000000000000000a0000000000000000000000000000003700eaf3bd4f');
SELECT gpu_sum_merge(s) FROM (VALUES ('\x47410102010010000000000000000000000000000000000000000000003771bb3e05'::bytea)) v(s);
SELECT gpu_sum_merge(s) FROM (VALUES ('\x47410102010010000000000000000000000000000000000000000000003771bb3e05'::bytea), ('\x47410102010010000000000000000000000000000000000000000000003771bb3e05')) v(s);
SELECT gpu_sum_merge(repeat('x', 1000000)::bytea);
\set VERBOSITY terse
-- A change of any byte of a state is detected.
CREATE FUNCTION refused(state bytea) RETURNS boolean LANGUAGE plpgsql AS
$$BEGIN
    PERFORM gpu_state_merge(state);
    RETURN false;
EXCEPTION WHEN invalid_binary_representation THEN
    RETURN true;
END$$;
SELECT count(*), bool_and(refused(set_byte(s, i, get_byte(s, i) # 1))) FROM
    (SELECT unnest(ARRAY[int2, int4, money, "interval", float4, float8]) AS s FROM states) q,
    generate_series(0, length(s) - 1) i HAVING count(*) > 300;
SELECT bool_and(refused(substr(s, 1, i))) FROM
    (SELECT unnest(ARRAY[int2, int4, money, "interval", float4, float8]) AS s FROM states) q,
    generate_series(0, length(s) - 1) i;

-- Every aggregate gives the same in parallel and partition-wise plans.
CREATE TABLE parts (LIKE vals) PARTITION BY LIST (s);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
INSERT INTO parts SELECT * FROM vals;
ANALYZE parts;
CREATE TABLE shards AS SELECT i % 50 AS i, i % 3 AS s, i % 10 AS g, gpu_var_state(numeric) AS bytea FROM vals
    GROUP BY 1, 2, 3;
ANALYZE shards;
CREATE TABLE outcome (plan text, aggregate text, type text, partial boolean, same boolean);
CREATE FUNCTION try_aggregates(label text, source text, VARIADIC settings text[]) RETURNS void LANGUAGE plpgsql AS
$$DECLARE
    a record; setting text; call text; query text; groups text;
    serial text; serial_groups text; got text; got_groups text; line text; plan text;
BEGIN
    FOR a IN SELECT p.proname, p.proargtypes[0]::regtype AS type, p.pronargs, t.typname
        FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
        JOIN pg_extension e ON d.refobjid = e.oid AND e.extname = 'gpuagg'
        LEFT JOIN pg_type t ON t.oid = p.proargtypes[0] WHERE p.prokind = 'a'
        -- (those of core's functions are core's affair)
        AND (p.proname !~ '_(min|max)$' OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'vals'::regclass AND atttypid = t.oid AND attnum > 0))
    LOOP
        call := a.proname || CASE WHEN a.pronargs = 0 THEN '(*)'
            WHEN a.type = '"any"'::regtype THEN '(float8)'
            WHEN a.pronargs = 2 THEN '(bytea, NULL::numeric)'
            ELSE format('(%I)', a.typname) END;
        query := format('SELECT %s AS x FROM %s', call, CASE a.typname WHEN 'bytea' THEN 'shards' ELSE source END);
        groups := query || ' GROUP BY g';
        -- the bytes of a state may depend on the plan, what they merge to does not
        IF a.proname ~ '_state' THEN
            query := format('SELECT gpu_%s_merge(x%s) AS x FROM (%s) q',
                CASE WHEN a.proname ~ 'var' THEN 'stddev' WHEN a.proname ~ 'avg' THEN 'avg' ELSE 'sum' END,
                CASE WHEN a.typname IN ('money', 'interval') THEN ', NULL::' || a.typname ELSE '' END, groups);
            groups := query;
        END IF;
        query := query || ' LIMIT 1';
        groups := format('SELECT string_agg(x::text, '' '' ORDER BY x) FROM (%s OFFSET 0) r', groups);
        SET LOCAL max_parallel_workers_per_gather = 0;
        SET LOCAL enable_partitionwise_aggregate = off;
        EXECUTE query INTO serial;
        EXECUTE groups INTO serial_groups;
        FOREACH setting IN ARRAY settings LOOP
            PERFORM set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), true);
        END LOOP;
        EXECUTE query INTO got;
        EXECUTE groups INTO got_groups;
        plan := '';
        FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
            plan := plan || line || E'\n';
        END LOOP;
        INSERT INTO outcome VALUES (label, a.proname, coalesce(a.type::text, '*') || CASE a.pronargs WHEN 2
            THEN ', anyelement' ELSE '' END, plan ~ 'Partial' AND plan ~ 'Finalize',
            got = serial AND got_groups = serial_groups);
    END LOOP;
END$$;
SELECT try_aggregates('parallel', 'vals', 'max_parallel_workers_per_gather=2', 'parallel_setup_cost=0',
    'parallel_tuple_cost=0', 'min_parallel_table_scan_size=0');
SELECT try_aggregates('partitions', 'parts', 'enable_partitionwise_aggregate=on', 'max_parallel_workers_per_gather=0');
-- (Merges with a type have no combine function.)
SELECT aggregate, string_agg(DISTINCT type, ' | ' ORDER BY type) AS types, count(DISTINCT plan) AS plans,
    bool_and(partial <> (type ~ 'anyelement') OR type ~ 'bytea' AND plan = 'partitions') AS partial, bool_and(same) AS same
FROM outcome GROUP BY aggregate ORDER BY aggregate COLLATE "C";
SELECT * FROM outcome WHERE NOT same OR same IS NULL
    OR partial = (type ~ 'anyelement') AND (type !~ 'bytea' OR plan <> 'partitions')
ORDER BY plan, aggregate;
DROP TABLE outcome, parts, shards, states, vals;
DROP VIEW merges;
DROP FUNCTION result_type, merged, whole, refused, try_aggregates;
