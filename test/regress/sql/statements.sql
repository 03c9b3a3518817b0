-- Ways to run a query: prepared, by cursor, in subtransactions, in PL/pgSQL, through views.
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE EXTENSION IF NOT EXISTS gpuagg;
\pset null '(null)'

CREATE TABLE stated (i int, g int, x4 int4, e8 float8, n numeric);
INSERT INTO stated SELECT i, i % 10, i, i / 8.0, i / 10.0 FROM generate_series(1, 5000) i;
ANALYZE stated;

-- Prepared statements, custom and generic.
PREPARE sum_of(int) AS SELECT gpu_sum(x4) AS a, gpu_sum(e8) AS b, gpu_sum(n) AS c, gpu_count(*) AS d
FROM stated WHERE g < $1;
EXECUTE sum_of(3);
EXECUTE sum_of(0);
SET plan_cache_mode = force_generic_plan;
EXECUTE sum_of(3);
EXECUTE sum_of(11);
SET plan_cache_mode = force_custom_plan;
EXECUTE sum_of(3);
RESET plan_cache_mode;
PREPARE sum_times(int) AS SELECT g, gpu_sum(x4 * $1), gpu_sum(e8 * $1) FROM stated GROUP BY g
HAVING gpu_count(*) > $1 ORDER BY g LIMIT 2;
SET plan_cache_mode = force_generic_plan;
EXECUTE sum_times(1);
EXECUTE sum_times(2);
EXECUTE sum_times(500);
-- A prepared statement outlives changes of the table and of settings.
ALTER TABLE stated ADD COLUMN later int DEFAULT 1;
EXECUTE sum_of(3);
SET gpuagg.batch_rows = 1024;
EXECUTE sum_of(3);
SET enable_hashagg = off;
EXECUTE sum_times(2);
RESET enable_hashagg;
RESET gpuagg.batch_rows;
RESET plan_cache_mode;
DEALLOCATE ALL;

-- Cursors left open, read forwards and backwards, two at once, held over the end of a transaction.
BEGIN;
DECLARE a CURSOR FOR SELECT g, gpu_sum(e8) AS s FROM stated GROUP BY g ORDER BY g;
DECLARE b SCROLL CURSOR FOR SELECT i, gpu_running_sum(x4) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS s
FROM stated ORDER BY i;
FETCH 2 FROM a;
FETCH 3 FROM b;
SELECT gpu_sum(e8) FROM stated;
FETCH 1 FROM a;
FETCH BACKWARD 1 FROM b;
FETCH ABSOLUTE 5000 FROM b;
FETCH FIRST FROM b;
FETCH RELATIVE 1500 FROM b;
CLOSE b;
FETCH 1 FROM a;
DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT g, gpu_sum(x4) AS s, gpu_sum(n) AS n FROM stated GROUP BY g
ORDER BY g;
FETCH 2 FROM c;
COMMIT;
FETCH 1 FROM c;
FETCH LAST FROM c;
FETCH FIRST FROM c;
CLOSE c;
DECLARE d CURSOR WITH HOLD FOR SELECT i, gpu_running_sum(e8) OVER (ORDER BY i) AS s FROM stated;
FETCH 2 FROM d;
MOVE 3000 IN d;
FETCH 1 FROM d;
SELECT gpu_sum(x4) FROM stated;
CLOSE d;
BEGIN;
DECLARE e CURSOR FOR SELECT i, gpu_running_sum(e8) OVER (ORDER BY i) AS s FROM stated;
FETCH 2 FROM e;
ROLLBACK;
SELECT gpu_sum(x4) FROM stated;
-- An open cursor does not see later changes; a transaction sees its own.
BEGIN;
DECLARE f CURSOR FOR SELECT i, gpu_running_sum(x4) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS s FROM stated;
FETCH 2 FROM f;
UPDATE stated SET x4 = x4 + 1000000;
FETCH 2 FROM f;
SELECT gpu_sum(x4) FROM stated;
ROLLBACK;
SELECT gpu_sum(x4) FROM stated;

-- Subtransactions that fail in the middle of a sum.
BEGIN;
SELECT gpu_sum(e8) FROM stated;
SAVEPOINT one;
SELECT gpu_sum(1 / (3000 - i)) FROM stated;
ROLLBACK TO one;
SELECT gpu_sum(e8) FROM stated;
SAVEPOINT two;
SELECT gpu_sum(1e308::float8) FROM stated;
ROLLBACK TO two;
SELECT gpu_running_sum(1 / (3000 - i)) OVER (ORDER BY i) FROM stated OFFSET 4990;
ROLLBACK TO one;
SELECT gpu_sum(e8), gpu_count(*) FROM stated;
SAVEPOINT three;
DELETE FROM stated WHERE g > 4;
SELECT gpu_sum(e8), gpu_count(*) FROM stated;
ROLLBACK TO three;
SELECT gpu_sum(e8), gpu_count(*) FROM stated;
-- A cursor opened in a subtransaction that is rolled back; one opened outside survives it.
DECLARE g CURSOR FOR SELECT gpu_running_sum(x4) OVER (ORDER BY i) AS s FROM stated;
FETCH 1 FROM g;
SAVEPOINT four;
DECLARE h CURSOR FOR SELECT gpu_running_sum(e8) OVER (ORDER BY i) AS s FROM stated;
FETCH 2 FROM h;
ROLLBACK TO four;
FETCH 2 FROM g;
COMMIT;

-- PL/pgSQL: loops, exceptions, cursors and a function that uses the aggregates inside a query of its own.
CREATE FUNCTION loops(n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    total float8 := 0;
    failures int := 0;
    r record;
    s float8;
BEGIN
    FOR k IN 1 .. n LOOP
        SELECT gpu_sum(e8) INTO s FROM stated WHERE i = k;
        total := total + s;
        BEGIN
            PERFORM gpu_sum(1 / (k % 10)) FROM generate_series(1, 3);
        EXCEPTION WHEN division_by_zero THEN
            failures := failures + 1;
        END;
    END LOOP;
    FOR r IN SELECT g, gpu_sum(x4) AS s FROM stated GROUP BY g ORDER BY g LOOP
        total := total + r.s;
        EXIT WHEN r.g = 2;
    END LOOP;
    RETURN total || ' ' || failures;
END
$$;
SELECT loops(300);
CREATE FUNCTION sum_below(k int) RETURNS bigint STABLE LANGUAGE plpgsql AS
    $$BEGIN RETURN (SELECT gpu_sum(x4) FROM stated WHERE i <= k); END$$;
SELECT gpu_sum(sum_below(i)) AS nested, gpu_sum(i * (i + 1) / 2) AS direct FROM generate_series(1, 20) i;
SELECT i, gpu_running_sum(sum_below(i)) OVER (ORDER BY i) FROM generate_series(1, 4) i;
DO $$
BEGIN
    PERFORM gpu_sum(x4) FROM stated;
    COMMIT;
    PERFORM gpu_sum(x4) FROM stated;
    ROLLBACK;
END
$$;

-- A read-only transaction, one that is serializable, one that is deferrable.
BEGIN READ ONLY;
SELECT gpu_sum(x4), gpu_sum(e8) FROM stated;
SELECT gpu_running_sum(x4) OVER (ORDER BY i) FROM stated LIMIT 2;
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
SELECT gpu_sum(x4), gpu_sum(e8) FROM stated;
COMMIT;

-- Views, materialized views, CREATE TABLE AS, INSERT ... SELECT, RETURNING, generated rules.
CREATE VIEW stated_sums AS SELECT g, gpu_sum(x4) FILTER (WHERE i > 10) AS s, gpu_count(*) AS n,
    gpu_sum(DISTINCT e8 ORDER BY e8) AS d FROM stated GROUP BY g;
CREATE VIEW stated_running AS SELECT i, gpu_running_sum(e8) OVER w AS s,
    gpu_running_sum(n, true) OVER (PARTITION BY g ORDER BY i ROWS UNBOUNDED PRECEDING) AS e,
    gpu_sum(x4) OVER (ORDER BY i ROWS 3 PRECEDING) AS m FROM stated WINDOW w AS (ORDER BY i);
SELECT pg_get_viewdef('stated_sums') LIKE '%gpu_sum(DISTINCT stated.e8 ORDER BY stated.e8)%' OR
       pg_get_viewdef('stated_sums') LIKE '%gpu_sum(DISTINCT e8 ORDER BY e8)%' AS shown;
SELECT pg_get_viewdef('stated_running') ~ 'gpu_running_sum\(.*n, true\) OVER \(PARTITION BY .*g ORDER BY .*i ROWS UNBOUNDED PRECEDING\)'
       AS shown;
-- The definition, executed again, is the same view.
DO $$
BEGIN
    EXECUTE 'CREATE VIEW again_running AS ' || pg_get_viewdef('stated_running');
    EXECUTE 'CREATE VIEW again_sums AS ' || pg_get_viewdef('stated_sums');
END
$$;
SELECT count(*) FROM (TABLE stated_running EXCEPT ALL TABLE again_running) d;
SELECT count(*) FROM (TABLE stated_sums EXCEPT ALL TABLE again_sums) d;
DROP VIEW again_running, again_sums;
SELECT * FROM stated_sums WHERE g < 3 ORDER BY g;
SELECT * FROM stated_running ORDER BY i LIMIT 3;
CREATE MATERIALIZED VIEW stated_kept AS SELECT * FROM stated_sums;
UPDATE stated SET x4 = x4 + 1 WHERE g = 1;
REFRESH MATERIALIZED VIEW stated_kept;
SELECT * FROM stated_kept WHERE g = 1;
CREATE TABLE stated_copy AS SELECT g, gpu_sum(x4) AS s FROM stated GROUP BY g;
INSERT INTO stated_copy SELECT -1, gpu_sum(s) FROM stated_copy RETURNING *;
WITH moved AS (DELETE FROM stated_copy WHERE g < 5 RETURNING s) SELECT gpu_sum(s), gpu_count(*) FROM moved;
UPDATE stated_copy SET s = (SELECT gpu_sum(x4) FROM stated WHERE stated.g = stated_copy.g) WHERE g = 7
RETURNING *;
WITH RECURSIVE r(k, s) AS (SELECT 1, 1::bigint UNION ALL
    SELECT k + 1, (SELECT gpu_sum(x4) FROM stated WHERE i <= k + 1) FROM r WHERE k < 4)
SELECT * FROM r;
COPY (SELECT g, gpu_sum(x4) FROM stated GROUP BY g ORDER BY g LIMIT 2) TO STDOUT;

-- Row security and column rights hold as for any aggregate.
CREATE ROLE regress_gpuagg_reader;
GRANT SELECT (g, x4) ON stated TO regress_gpuagg_reader;
ALTER TABLE stated ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON stated TO regress_gpuagg_reader USING (g = 1);
SET ROLE regress_gpuagg_reader;
SELECT gpu_sum(x4) AS gpu, sum(x4) AS core, gpu_count(*) AS n FROM stated;
SELECT gpu_sum(e8) FROM stated;
RESET ROLE;

DROP MATERIALIZED VIEW stated_kept;
DROP VIEW stated_sums, stated_running;
DROP TABLE stated, stated_copy;
DROP FUNCTION loops, sum_below;
DROP ROLE regress_gpuagg_reader;
