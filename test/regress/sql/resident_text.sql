-- Resident columns of strings: dictionaries, values that end them, conditions and groups.
\getenv folder PG_ABS_SRCDIR
\set resident :folder '/lib/resident.sql'
\i :resident
SET gpuagg.resident = on;
CREATE FUNCTION pg_temp.columns() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT format('%s.%s: %s chunks, %s pages, %s rows', relation, attribute, chunks, pages, rows) || coalesce(', ' || reason, '')
    FROM gpuagg_resident ORDER BY relation::text COLLATE "C", attribute COLLATE "C"
$$;

-- two rows a page, four pages; of the same letters with and without blanks, of several bytes each, and with a NULL
CREATE TABLE words (i int, t text, v varchar(20), c char(5), o "char", n name, b bytea, u uuid, e bpchar, j jsonb, pad text)
    WITH (autovacuum_enabled = off);
ALTER TABLE words ALTER pad SET STORAGE PLAIN;
INSERT INTO words
SELECT i, w, w, w, 'x', w, w::bytea, md5(w)::uuid, w, to_jsonb(w), repeat('x', 3500)
FROM unnest(ARRAY['a', 'a ', '', '  ', 'b', 'é', NULL, 'a']) WITH ORDINALITY AS r(w, i);
VACUUM words;

-- every type; the last column of each may be in memory, and is read where it may not
SELECT format('%s: %s, then %s', x, pg_temp.used(q), pg_temp.used(q))
FROM unnest('{t,v,c,n,b,u,e,j}'::text[]) x, format('gpu_sum(i), gpu_count(%s) FROM words', x) q;
SELECT * FROM pg_temp.columns();
-- as keys: a group shows its value as it is stored
SELECT format('%s: %s', x, pg_temp.used(q))
FROM unnest('{t,v,c,n,b,u,e,j}'::text[]) x,
    format('%1$s, ''['' || %1$s::text || '']'', gpu_sum(i), gpu_count(%1$s) FROM words GROUP BY %1$s', x) q;
SELECT pg_temp.used('c, t, octet_length(c), gpu_sum(i) FROM words GROUP BY c, t');
SELECT pg_temp.used('c, i, gpu_count(*) FROM words GROUP BY GROUPING SETS ((c), (i), ())');
SELECT pg_temp.used('v, gpu_count(DISTINCT t), gpu_count(DISTINCT c) FILTER (WHERE t <> ''b'') FROM words GROUP BY v HAVING gpu_sum(i) > 1');
SELECT pg_temp.used('gpu_count(DISTINCT c), gpu_count(DISTINCT u), gpu_count(DISTINCT b) FROM words');
SELECT pg_temp.used('coalesce(t, c), gpu_sum(i) FROM words GROUP BY 1');
SELECT pg_temp.used('CASE WHEN c = ''a'' THEN c ELSE ''b'' END, gpu_sum(i) FROM words GROUP BY 1');
-- in conditions
SELECT format('%s: %s', x, pg_temp.used('gpu_count(*), gpu_sum(i) FROM words WHERE ' || x))
FROM unnest(ARRAY['t = ''a''', 't = ''a ''', 'c = ''a''', 'c = ''a ''', 'c <> ''a''', 'c = ''''', 'v = ''''', 't IS NULL', 'NOT (v = ''a'')',
    't IN (''a'', ''b'', ''none'')', 'c IN (''a  '', ''é'')', 't LIKE ''a%''', 't NOT LIKE ''%a''', 'c LIKE ''a%''', 'v LIKE ''''', 't LIKE ''é''',
    't = ANY (ARRAY[''a'', NULL])', 'b = ''\x61''', 'u = ''0cc175b9-c0f1-b6a8-31c3-99e269772661''', 'n = ''b''', 't < ''b'' COLLATE "C"',
    'v >= ''a '' COLLATE "C"', 't = v', 'c = t', 't = ''a'' OR i = 3', 't = (SELECT ''b'' || '''')', 't = NULL', 't = ''a'' AND 1 / (i - 8) < 1']) x;
SELECT pg_temp.used('gpu_sum(i) FILTER (WHERE t = ''a''), gpu_sum(i) FILTER (WHERE c LIKE ''a%''), gpu_count(t) FILTER (WHERE v <> ''a'') FROM words');
-- an error that core meets in the rows that a condition leaves, and only there
SELECT pg_temp.used('gpu_sum(1 / (i - 1)) FROM words WHERE t = ''a''');
SELECT pg_temp.used('gpu_sum(1 / (i - 1)) FROM words WHERE t = ''b''');
SELECT pg_temp.used('gpu_sum(i) FROM words WHERE t = ''a'' AND 10 / (i - 5) > 0');
-- by workers
SELECT gpuagg_evict('words') > 0 AS evicted;
SELECT pg_temp.used('c, t, gpu_sum(i), gpu_count(v) FROM words WHERE v <> ''b'' GROUP BY c, t', 'max_parallel_workers_per_gather=2')
FROM generate_series(1, 2);

-- new values, and values that rows have no more: the dictionary grows, pages come back singly
UPDATE words SET t = 'new', c = 'new', v = NULL WHERE i = 2;
SELECT pg_temp.used('c, t, gpu_sum(i), gpu_count(v) FROM words GROUP BY c, t') FROM generate_series(1, 2);
VACUUM words;
SELECT pg_temp.used('c, t, gpu_sum(i), gpu_count(v) FROM words GROUP BY c, t') FROM generate_series(1, 2);
INSERT INTO words (i, t, c, pad) SELECT i, 'word ' || i, 'w' || i, repeat('x', 3500) FROM generate_series(10, 15) i;
SELECT pg_temp.used('c, t, gpu_sum(i), gpu_count(v) FROM words GROUP BY c, t') FROM generate_series(1, 2);
VACUUM words;
SELECT pg_temp.used('c, t, gpu_sum(i), gpu_count(v) FROM words GROUP BY c, t', settings)
FROM (VALUES (''), (''), ('max_parallel_workers_per_gather=2')) v(settings);
BEGIN;
UPDATE words SET t = 'other' WHERE i = 11;
SELECT pg_temp.used('t, gpu_sum(i) FROM words WHERE t <> ''word 12'' GROUP BY t');
ROLLBACK;
-- another type of the same file is another column
ALTER TABLE words ALTER v TYPE text;
SELECT pg_temp.used('v, gpu_sum(i) FROM words GROUP BY v') FROM generate_series(1, 2);
SELECT * FROM pg_temp.columns();
-- rows older than a column
ALTER TABLE words ADD COLUMN later text DEFAULT 'old', ADD COLUMN padded char(3) DEFAULT 'o';
INSERT INTO words (i, later) VALUES (20, 'new');
VACUUM words;
SELECT pg_temp.used('later, padded, gpu_sum(i) FROM words GROUP BY later, padded') FROM generate_series(1, 2);
SELECT pg_temp.used('gpu_sum(i) FROM words WHERE padded = ''o'' AND later LIKE ''o%''') FROM generate_series(1, 2);

-- a value of 256 bytes, and one of more: the column is not kept, and not tried again, until it is thrown out
CREATE TABLE longs (i int, t text, c char(300), x int, pad text) WITH (autovacuum_enabled = off);
ALTER TABLE longs ALTER t SET STORAGE PLAIN, ALTER c SET STORAGE PLAIN, ALTER pad SET STORAGE PLAIN;
INSERT INTO longs SELECT i, repeat('y', 250 + i), repeat('z', 250 + i), i, repeat('x', 3500) FROM generate_series(1, 6) i;
VACUUM longs;
SELECT pg_temp.used('t, c, gpu_sum(i) FROM longs GROUP BY t, c') FROM generate_series(1, 2);
SELECT * FROM pg_temp.columns() c WHERE c LIKE 'longs%';
INSERT INTO longs SELECT 7, repeat('y', 257), repeat('z', 257), 7, repeat('x', 3500);
VACUUM longs;
SELECT pg_temp.used('t, gpu_sum(i) FROM longs GROUP BY t');
SELECT pg_temp.used('t, gpu_sum(i) FROM longs GROUP BY t');
SELECT pg_temp.used('gpu_sum(i), gpu_count(c) FROM longs');
SELECT pg_temp.used('gpu_sum(i), gpu_count(c) FROM longs');
SELECT pg_temp.used('gpu_sum(i) FROM longs') FROM generate_series(1, 2);
SELECT * FROM pg_temp.columns() c WHERE c LIKE 'longs%';
SELECT l FROM pg_temp.plan_lines('SELECT t, gpu_sum(i) FROM longs GROUP BY t', 'Resident', 'ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF') l;
SET client_min_messages = notice;
SELECT rows FROM gpuagg_prefetch('longs');
SELECT rows FROM gpuagg_prefetch('longs', '{c}');
SELECT rows FROM gpuagg_prefetch('longs', '{x}');
SET client_min_messages = warning;
DELETE FROM longs WHERE i = 7;
VACUUM longs;
SELECT pg_temp.used('t, gpu_sum(i) FROM longs GROUP BY t');
SELECT gpuagg_evict('longs');
SELECT pg_temp.used('t, gpu_sum(i) FROM longs GROUP BY t') FROM generate_series(1, 2);
-- by workers
INSERT INTO longs SELECT 7, repeat('y', 257), repeat('z', 257), 7, repeat('x', 3500);
VACUUM longs;
SELECT gpuagg_evict('longs');
SELECT split_part(pg_temp.used('t, c, gpu_sum(i) FROM longs GROUP BY t, c', 'max_parallel_workers_per_gather=2'), ',', 1) FROM generate_series(1, 2);
SELECT count(*) FROM pg_temp.columns() c WHERE c LIKE '%more than%';
DROP TABLE longs;

-- 65,536 values, and one more; others come into memory beside
CREATE TABLE many (i int, t text, c varchar(10)) WITH (autovacuum_enabled = off);
INSERT INTO many SELECT i, 'v' || i, i % 5 FROM generate_series(1, 65536) i;
VACUUM many;
SELECT regexp_replace(pg_temp.used('gpu_sum(i) FROM many WHERE t LIKE ''v1%'' OR t = ''v65536'''), '\d\d+', 'all', 'g') FROM generate_series(1, 2);
SELECT regexp_replace(pg_temp.used('t, gpu_sum(i) FROM many GROUP BY t', settings), '\d\d+', 'all', 'g')
FROM (VALUES (''), ('max_parallel_workers_per_gather=2')) v(settings);
INSERT INTO many VALUES (0, 'v0', 'x');
VACUUM many;
SELECT regexp_replace(pg_temp.used('gpu_sum(i), gpu_count(t), gpu_count(DISTINCT c) FROM many'), '\d\d+', 'all', 'g') FROM generate_series(1, 2);
SELECT regexp_replace(pg_temp.used('c, gpu_sum(i) FROM many GROUP BY c'), '\d\d+', 'all', 'g') FROM generate_series(1, 2);
SELECT regexp_replace(c, '\d\d+ (pages|rows)', 'all \1', 'g') FROM pg_temp.columns() c WHERE c LIKE 'many%';
SELECT gpuagg_evict('many');
SELECT regexp_replace(pg_temp.used('gpu_sum(i) FROM many WHERE t < ''v2'' COLLATE "C"', 'max_parallel_workers_per_gather=2'), '\d\d+', 'some', 'g')
FROM generate_series(1, 2);
SELECT count(*) FROM pg_temp.columns() c WHERE c LIKE '%different values';
DROP TABLE many;

-- values that are compressed come as they are without; what is out of line is read from its page
CREATE TABLE packed (i int, t text, c char(1000), o text, pad text) WITH (autovacuum_enabled = off, toast_tuple_target = 128);
ALTER TABLE packed ALTER t SET STORAGE MAIN, ALTER c SET STORAGE MAIN, ALTER o SET STORAGE EXTERNAL, ALTER pad SET STORAGE PLAIN;
INSERT INTO packed SELECT i, repeat('ab', 60 + i), repeat('c', i), NULL, repeat('x', 3500) FROM generate_series(1, 6) i;
VACUUM packed;
SELECT bool_and(pg_column_compression(t) IS NOT NULL AND pg_column_compression(c) IS NOT NULL) FROM packed;
SELECT pg_temp.used('t, c, gpu_sum(i) FROM packed GROUP BY t, c') FROM generate_series(1, 2);
SELECT pg_temp.used('gpu_sum(i) FROM packed WHERE t LIKE ''%baba''') FROM generate_series(1, 2);
UPDATE packed SET o = repeat('o', 200) WHERE i = 3;
VACUUM packed;
SELECT pg_temp.used('o, t, gpu_sum(i) FROM packed GROUP BY o, t') FROM generate_series(1, 2);
UPDATE packed SET t = repeat('ab', 200) WHERE i = 4;
VACUUM packed;
SELECT pg_temp.used('t, gpu_sum(i) FROM packed GROUP BY t') FROM generate_series(1, 2);
SELECT * FROM pg_temp.columns() c WHERE c LIKE 'packed%';
DROP TABLE packed;

-- collations: equal strings are equal by their bytes, or there is no column for them
CREATE TABLE collated (i int, t text COLLATE "C", d text COLLATE "POSIX", n text) WITH (autovacuum_enabled = off);
DO $$
BEGIN
    CREATE COLLATION regress_gpuagg_any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    ALTER TABLE collated ALTER n TYPE text COLLATE regress_gpuagg_any_case;
EXCEPTION WHEN OTHERS THEN
END
$$;
INSERT INTO collated SELECT i, w, w, w FROM unnest(ARRAY['a', 'A', 'b', NULL, 'B', 'a']) WITH ORDINALITY AS r(w, i);
VACUUM collated;
SELECT pg_temp.used('t, d, gpu_sum(i) FROM collated WHERE t < ''b'' OR d > ''B'' GROUP BY t, d') FROM generate_series(1, 2);
SELECT pg_temp.used(q) NOT LIKE 'DIFF%' AND pg_temp.used(q) NOT LIKE 'DIFF%'
FROM unnest(ARRAY['n, gpu_sum(i) FROM collated GROUP BY n', 'gpu_sum(i) FROM collated WHERE n = ''a''', 'gpu_count(DISTINCT n) FROM collated',
    'gpu_sum(i), gpu_count(n) FROM collated WHERE n IN (''A'', ''c'')', 'n COLLATE "C", gpu_sum(i) FROM collated GROUP BY n COLLATE "C"',
    'upper(n) COLLATE "C", gpu_sum(i) FROM collated GROUP BY upper(n) COLLATE "C"']) q;
DROP TABLE collated;
DROP COLLATION IF EXISTS regress_gpuagg_any_case;

-- partitions have dictionaries of their own
CREATE TABLE word_parts (k int, t text, c char(4)) PARTITION BY LIST (k);
CREATE TABLE word_parts_1 PARTITION OF word_parts FOR VALUES IN (1) WITH (autovacuum_enabled = off);
CREATE TABLE word_parts_2 (c char(4), t text, k int) WITH (autovacuum_enabled = off);
ALTER TABLE word_parts ATTACH PARTITION word_parts_2 FOR VALUES IN (2);
INSERT INTO word_parts SELECT 1 + i % 2, chr(97 + i % 7), chr(97 + i % 3) FROM generate_series(1, 100) i;
INSERT INTO word_parts_1 VALUES (1, 'only here', 'o');
VACUUM word_parts;
SELECT rows FROM gpuagg_prefetch('word_parts');
SELECT pg_temp.used('t, c, gpu_sum(k) FROM word_parts WHERE t <> ''c'' GROUP BY t, c', settings)
FROM (VALUES (''), ('max_parallel_workers_per_gather=2')) v(settings);
SELECT pg_temp.used('k, t, gpu_count(*) FROM word_parts GROUP BY k, t');
SELECT * FROM pg_temp.columns() c WHERE c LIKE 'word_parts%';
-- what one of them refuses the other keeps
SELECT gpuagg_evict('word_parts') > 0;
UPDATE word_parts SET t = repeat('long', 100) WHERE t = 'only here';
VACUUM word_parts;
SET client_min_messages = notice;
SELECT rows FROM gpuagg_prefetch('word_parts', '{k,t}');
SELECT rows FROM gpuagg_prefetch('word_parts', '{t}');
SET client_min_messages = warning;
SELECT * FROM pg_temp.columns() c WHERE c LIKE 'word_parts%';
DROP TABLE words, word_parts;
SELECT * FROM pg_temp.columns();
