-- Columns that depend on the keys, those of the system among them; columns that were added later.

LOAD 'gpuagg';
SET gpuagg.min_table_pages = 0;
SET gpuagg.device_min_rows = 0;
SET max_parallel_workers_per_gather = 0;
SET enable_sort = off;

CREATE TABLE ac (id int PRIMARY KEY, v int, x text);
INSERT INTO ac SELECT i, i % 3, 'x' || i FROM generate_series(1, 4) i;
ANALYZE ac;
SELECT id, v, x, gpu_count(*), gpu_sum(v) FROM ac GROUP BY id ORDER BY id;
SELECT id, xmin = cmin::text::xid, ctid, tableoid::regclass, gpu_count(*) FROM ac GROUP BY id ORDER BY id;
SELECT ac, gpu_count(*) FROM ac GROUP BY id ORDER BY id;
SELECT id, gpu_count(*) FROM ac GROUP BY id HAVING ctid > '(0,2)' ORDER BY id;
EXPLAIN (COSTS OFF) SELECT id, v, x, gpu_count(*) FROM ac GROUP BY id;
EXPLAIN (COSTS OFF) SELECT id, xmin, gpu_count(*) FROM ac GROUP BY id;
EXPLAIN (COSTS OFF) SELECT ac, gpu_count(*) FROM ac GROUP BY id;
EXPLAIN (COSTS OFF) SELECT id, gpu_count(*) FROM ac GROUP BY id HAVING tableoid > 0;

-- partitions with another order of columns
CREATE TABLE ac_parts (id int PRIMARY KEY, v int) PARTITION BY RANGE (id);
CREATE TABLE ac_1 (v int, id int NOT NULL);
ALTER TABLE ac_parts ATTACH PARTITION ac_1 FOR VALUES FROM (0) TO (3);
CREATE TABLE ac_2 PARTITION OF ac_parts FOR VALUES FROM (3) TO (100);
INSERT INTO ac_parts SELECT i, i FROM generate_series(1, 4) i;
SELECT id, v, tableoid::regclass, ctid, gpu_count(*) FROM ac_parts GROUP BY id ORDER BY id;
SELECT id, v, gpu_sum(v) FROM ac_parts GROUP BY id ORDER BY id;

-- values of rows that are older than their columns, again and again
ALTER TABLE ac ADD COLUMN d int DEFAULT 7, ADD COLUMN e text DEFAULT 'seven', ADD COLUMN g int8 DEFAULT -1;
INSERT INTO ac VALUES (5, 1, 'x5', 8, 'eight', 2);
SELECT n, (SELECT gpu_sum(d) FROM ac WHERE v = n), (SELECT gpu_sum(g) FROM ac WHERE v = n AND e <> 'eight') FROM generate_series(0, 3) n;

DROP TABLE ac, ac_parts;
