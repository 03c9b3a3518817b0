-- Values come into memory in forms that change while they come: ranges that grow within a chunk,
-- and in the next one are small again; pages that are left out; NULLs from some row on.
SET gpuagg.resident = on;
SET gpuagg.min_table_pages = 10;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE form (i int, b int8, s int2, d date, f float8, n numeric(15,2), w numeric(30,0), t bool, v text)
	WITH (autovacuum_enabled = off);
INSERT INTO form
SELECT CASE WHEN i < 9000 THEN i % 100 WHEN i = 9001 THEN -30000 WHEN i = 14000 THEN 2147483647
            WHEN i = 14001 THEN -2147483648 ELSE i END,
       CASE WHEN i = 12000 THEN 9223372036854775807 WHEN i = 12001 THEN -9223372036854775808
            WHEN i > 30000 THEN i % 3 ELSE i * 7 END,
       CASE WHEN i = 5000 THEN 32767 WHEN i = 45000 THEN -32768 ELSE i % 5 END,
       CASE WHEN i % 13001 <> 0 THEN date '2026-01-01' + i / 1000 WHEN i < 20000 THEN 'infinity' END,
       i / 4.0,
       CASE WHEN i % 7001 = 0 THEN NULL WHEN i = 50000 THEN -9999999999999.99 ELSE i % 1000 / 100.0 END,
       CASE WHEN i = 8000 THEN 999999999999999999999999999999 WHEN i = 33000 THEN -1e29 ELSE i END,
       CASE WHEN i > 15000 THEN i % 2 = 0 END,
       CASE WHEN i % 17001 <> 0 THEN 'v' || i / 10000 END
FROM generate_series(1, 60000) AS i;
VACUUM form;
CREATE TABLE said (place text, pages bool, answer text);
-- every column in each of its states: filled, from memory, and core's
CREATE PROCEDURE ask(what text, fresh bool) LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	ours text := 'SELECT ROW(gpu_count(i), gpu_sum(i), gpu_min(i), gpu_max(i), gpu_sum(b), gpu_min(b), gpu_max(b),'
		'gpu_sum(s), gpu_min(s), gpu_max(s), gpu_count(d), gpu_min(d), gpu_max(d), gpu_sum(f), gpu_min(f), gpu_max(f),'
		'gpu_count(n), gpu_sum(n), gpu_min(n), gpu_max(n), gpu_sum(w), gpu_min(w), gpu_max(w),'
		'gpu_count(t), gpu_count(*) FILTER (WHERE t), gpu_count(v), gpu_count(*) FILTER (WHERE v = ''v1''),'
		'gpu_sum(i) FILTER (WHERE n > 5), gpu_sum(b) FILTER (WHERE d > ''2026-01-20''), gpu_sum(n) FILTER (WHERE i < 0))'
		'::text FROM form';
BEGIN
	IF fresh THEN
		PERFORM gpuagg_evict('form');
	END IF;
	FOR place IN 1 .. 2 LOOP
		EXECUTE ours INTO answer;
		INSERT INTO said SELECT what, resident_pages + resident_confirmed > 0, answer FROM gpuagg_last_query();
	END LOOP;
	EXECUTE replace(ours, 'gpu_', '') INTO answer;
	INSERT INTO said VALUES (what, NULL, answer);
END $$;
CALL ask('at first', true);
-- pages with what cannot be kept are left out: their rows come and are taken back
UPDATE form SET n = 'NaN' WHERE i IN (3000, 22000, 22001, 41000, 59990);
DELETE FROM form WHERE i BETWEEN 25000 AND 27000;
VACUUM form;
CALL ask('with pages left out', true);
-- pages are put back among others, in wider forms and in narrower ones
UPDATE form SET s = -32000, b = -9223372036854775808 WHERE i IN (10, 31000, 52000);
DELETE FROM form WHERE abs(w) > 1e28 OR i NOT BETWEEN -1000000 AND 1000000;
VACUUM form;
CALL ask('with pages put back', false);
CALL ask('and once more', true);
SELECT place, count(*), count(DISTINCT answer) AS answers, string_agg(pages::text, ' ' ORDER BY pages) AS "from memory"
FROM said GROUP BY place ORDER BY min(said.ctid);
SELECT attribute, chunks, pages > 0 AS pages, rows > 0 AS rows FROM gpuagg_resident
WHERE relation = 'form'::regclass ORDER BY attribute;
DROP PROCEDURE ask;
DROP TABLE form, said;
