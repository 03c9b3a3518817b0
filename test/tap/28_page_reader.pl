# The page reader beside core's scan of the same tables: every value, NULL, flag and
# row, by a library that only tests load (test/modules).
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# The library is gpuagg's with these functions.  Buffers of so many sessions hold batches of 1,024 rows.
my $node = gpuagg_node('pages', rows => 0,
	conf => "wal_level = minimal\nmax_wal_senders = 0\nmax_connections = 100\nsession_preload_libraries = 'gpuagg_test_pages'\n");
my $library = "AS '\$libdir/gpuagg_test_pages' LANGUAGE C STRICT";
$node->safe_psql(
	'postgres', "
	CREATE FUNCTION test_pages(regclass, text[]) RETURNS text $library;
	CREATE FUNCTION test_pages_shared(regclass, int) RETURNS text $library;
	CREATE FUNCTION test_pages_time(regclass, text[]) RETURNS float8 $library;
	CREATE FUNCTION of_all(t regclass) RETURNS text LANGUAGE sql SET synchronize_seqscans = off AS \$\$
		SELECT test_pages(t, array_agg(attname::text ORDER BY md5(attname))) FROM pg_attribute
		WHERE attrelid = t AND attnum > 0 AND NOT attisdropped \$\$");

# like()s what one statement says, after others.
sub pages
{
	my ($name, $sql, $expected) = @_;
	my ($out, $err) = ('', '');
	my $rc = $node->psql('postgres', $sql, stdout => \$out, stderr => \$err, on_error_stop => 1);

	is($rc, 0, "$name: no difference");
	like($out, $expected, $name);
}

# Every type.
pages('all types', q{
	CREATE DOMAIN amount AS numeric(8,3);
	CREATE TABLE types (b bool, c "char", i2 int2, i4 int4, i8 int8, o oid, f4 float4, f8 float8,
		d date, t time, ts timestamp, tz timestamptz, m money, n1 numeric(15,2),
		n2 numeric(38,10), n3 numeric(5,0), n4 numeric(20,4), n5 amount, u uuid, x text,
		v varchar(10), y bytea, nm name, p char(12), iv interval, j jsonb);
	INSERT INTO types SELECT i % 3 = 0, chr(1 + i % 127)::"char", i - 1000, (i - 1500) * 100003,
		i * 10000000019::int8, (4294967295 - i)::text::oid, i / 3.0, sqrt(i),
		date '2000-01-01' + i, time '00:00' + i * interval '1 s',
		timestamp '2020-01-01' + i * interval '1 min',
		timestamptz '2020-01-01' - i * interval '1 day', i::money,
		sign * (i * 1234.567)::numeric(15,2), sign * (i::numeric ^ 7 / 3), i % 100000,
		i * 98765432.1, i / 7.0, md5(i::text)::uuid, repeat('x', i % 200),
		left(md5(i::text), i % 11), decode(md5(i::text), 'hex'), 'name' || i, 'p' || i % 100,
		i * interval '1 hour', jsonb_build_object('a', i)
	FROM (SELECT i, CASE WHEN i % 2 = 0 THEN -1 ELSE 1 END AS sign
		  FROM generate_series(1, 3000) i) s;
	SELECT of_all('types')}, qr/^rows 3000, pages \d+, all visible 0, .*flagged 0/);
pages('after vacuum', q{VACUUM types; SELECT of_all('types')},
	qr/^rows 3000, pages (\d+), all visible \1,/);

# NULLs in every column, updates and deletes.
pages('NULLs', q{
	CREATE TABLE nulls AS SELECT * FROM types WHERE false;
	SELECT format('INSERT INTO nulls SELECT %s FROM types', string_agg(format(
		'CASE WHEN hashint8(i8 + %s) %% 5 <> 0 THEN %I END', attnum, attname), ', '
		ORDER BY attnum)) FROM pg_attribute WHERE attrelid = 'types'::regclass AND attnum > 0
	\gexec
	SELECT of_all('nulls')}, qr/^rows 3000,/);
pages('updated, deleted', q{
	UPDATE nulls SET i4 = i4 + 1 WHERE i2 % 3 = 0;
	DELETE FROM nulls WHERE i2 % 7 = 0;
	SELECT of_all('nulls')}, qr/^rows 2\d\d\d,/);
pages('the same after vacuum', q{VACUUM nulls; SELECT of_all('nulls')},
	qr/^rows 2\d\d\d, pages (\d+), all visible \1,/);

# Columns that are newer than rows, and dropped ones.
pages('added and dropped columns', q{
	CREATE TABLE added (a int, b text, c int8, d numeric(10,2));
	INSERT INTO added SELECT i, CASE WHEN i % 3 = 0 THEN 'b' || i END, i, i / 4.0
		FROM generate_series(1, 2000) i;
	ALTER TABLE added DROP COLUMN b;
	ALTER TABLE added ADD e int DEFAULT 42, ADD f text DEFAULT 'default',
		ADD g numeric(12,3) DEFAULT 1.5, ADD h float8, ADD i bool DEFAULT true,
		ADD j uuid DEFAULT 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', ADD k "char" DEFAULT 'k',
		ADD l char(5) DEFAULT 'ab', ADD m numeric(12,3) DEFAULT 'NaN';
	INSERT INTO added SELECT i, i, i / 8.0, i, 'new' || i, i / 8.0, i / 3.0, i % 2 = 0,
		md5(i::text)::uuid, 'x', 'y', 3.25 FROM generate_series(1, 2000) i;
	UPDATE added SET h = 1 WHERE a % 50 = 0;
	SELECT of_all('added')}, qr/^rows 4000, .*flagged 2000/);
pages('one column twice', q{SELECT test_pages('added', '{m,a,m,e}')}, qr/^rows 4000,/);
pages('no column', q{SELECT test_pages('added', '{}')}, qr/^rows 4000,/);
pages('the first column dropped', q{
	ALTER TABLE added DROP COLUMN a; VACUUM added; SELECT of_all('added')}, qr/^rows 4000,/);
pages('no columns in the tuples', q{
	CREATE TABLE bare (); INSERT INTO bare DEFAULT VALUES;
	ALTER TABLE bare ADD a int DEFAULT 7, ADD b text; INSERT INTO bare VALUES (1, 'x');
	SELECT of_all('bare')}, qr/^rows 2,/);

# NULL where a wider attribute would have been; more attributes than a word has bits.
pages('NULLs before narrower attributes', q{
	CREATE TABLE narrower (a int2, b int8, c int2, d "char", e int4, f "char", g text, h int8);
	INSERT INTO narrower SELECT i, CASE WHEN i % 2 = 0 THEN i END, i,
		CASE WHEN i % 3 > 0 THEN 'd' END, CASE WHEN i % 5 > 1 THEN i END, 'f',
		CASE WHEN i % 7 > 2 THEN repeat('g', i % 9) END, -i FROM generate_series(1, 3000) i;
	SELECT of_all('narrower')}, qr/^rows 3000,/);
pages('150 columns', q{
	SELECT format('CREATE TABLE many (%s)', string_agg(format('c%s %s', i,
		(array['int2', 'int8', 'text', 'bool', 'numeric(9,2)', 'int4', 'float8'])[1 + i % 7]), ', '))
	FROM generate_series(1, 150) i \gexec
	SELECT format('INSERT INTO many SELECT %s FROM generate_series(1, 1500) i', string_agg(format(
		'CASE WHEN hashint8(i + %s) %% %s <> 0 THEN %s END', i, 2 + i % 5, (array['i', '-i',
		$$repeat('t', i % 5)$$, 'i % 2 = 0', 'i / 4.0', 'i * 7', 'i / 3.0'])[1 + i % 7]), ', '))
	FROM generate_series(1, 150) i \gexec
	ALTER TABLE many ADD z1 int DEFAULT 5, ADD z2 text DEFAULT 'z';
	INSERT INTO many SELECT * FROM many WHERE c1 % 3 = 0;
	ALTER TABLE many DROP COLUMN c70;
	SELECT of_all('many')}, qr/^rows \d{4},/);
pages('150 columns, 131 to the end', q{SELECT test_pages('many', '{c64,c131,z2,c150}')},
	qr/^rows \d{4},/);

# Compressed and out of line.
pages('TOAST', q{
	CREATE TABLE toast (i int, t text, e text, x int8);
	ALTER TABLE toast ALTER e SET STORAGE EXTERNAL;
	INSERT INTO toast SELECT i,
		CASE i % 4 WHEN 0 THEN repeat('abc', 2000) WHEN 3 THEN 'short'
			ELSE repeat('q', 125 + i % 4) END,
		CASE i % 5 WHEN 0 THEN repeat('z', 5000) WHEN 1 THEN repeat('z', 1500) WHEN 2 THEN NULL
			ELSE '' END, i FROM generate_series(1, 1000) i;
	SELECT of_all('toast')}, qr/^rows 1000, .*flagged 400/);
pages('a column behind them', q{SELECT test_pages('toast', '{x}')}, qr/flagged 0/);

# Numerics: signs, lengths, scales, special values.
pages('numerics', q{
	CREATE TABLE num (a numeric(18,0), b numeric(18,18), c numeric(38,0), d numeric(38,38),
		e numeric(5,-2), f numeric(3,5), g numeric(19,2), h numeric(38,19), i numeric(6,3),
		j numeric(36,-2));
	INSERT INTO num SELECT CASE k % 7 WHEN 0 THEN 'NaN' WHEN 1 THEN 0
			ELSE s * trunc(10::numeric ^ (k % 18)) - k % 3 END,
		s * (k / 1000000.0), s * (trunc(10::numeric ^ (k % 38)) - k % 2), s * (k::numeric / 7000),
		s * k * 100, s * (k % 100) / 100000.0, s * (10::numeric ^ 16 / (1 + k % 9)),
		s * (10::numeric ^ (k % 19) / (1 + k % 9)),
		CASE WHEN k % 11 <> 0 THEN s * (k % 100000) / 1000.0 END, s * k
	FROM (SELECT k, CASE WHEN k % 2 = 0 THEN 1 ELSE -1 END s FROM generate_series(0, 3000) k) x;
	INSERT INTO num (a, b, c, d)
		SELECT s * (10::numeric ^ 18 - 1), s * .999999999999999999, s * (10::numeric ^ 38 - 1),
			s * .99999999999999999999999999999999999999 FROM (VALUES (1), (-1)) v (s);
	INSERT INTO num (a, b, c, d) VALUES (1e17, 1e-18, 1e37, 1e-38), (10000, 0.0001, 1e36, 0);
	SELECT of_all('num')}, qr/^rows 3005, .*flagged 429/);
pages('display scales unlike the column\'s', q{
	CREATE TABLE scales (a numeric(10,4), b numeric(10,0));
	INSERT INTO scales SELECT i / 4.0, i * 10000 FROM generate_series(1, 500) i;
	UPDATE pg_attribute SET atttypmod = (10 << 16 | attnum) + 4
		WHERE attrelid = 'scales'::regclass AND attnum > 0;
	SELECT of_all('scales'); DROP TABLE scales}, qr/^rows 500, .*flagged 500/);

# Visibility: chains, dead line pointers, one's own changes, and those rolled back.
pages('HOT chains', q{
	CREATE TABLE hot (k int PRIMARY KEY, v int) WITH (fillfactor = 50);
	INSERT INTO hot SELECT i, i FROM generate_series(1, 5000) i;
	UPDATE hot SET v = v + 1 WHERE k % 2 = 0;
	UPDATE hot SET v = v + 1 WHERE k % 4 = 0;
	DELETE FROM hot WHERE k % 10 = 0;
	SELECT of_all('hot')}, qr/^rows 4500,/);
pages('own changes', q{
	BEGIN;
	DELETE FROM hot WHERE k % 9 = 0;
	INSERT INTO hot SELECT i, i FROM generate_series(10001, 11000) i;
	SELECT of_all('hot')}, qr/^rows 5000,/);
pages('rolled back', q{SELECT of_all('hot')}, qr/^rows 4500,/);
pages('dead line pointers', q{DELETE FROM hot WHERE k % 3 = 0; SELECT of_all('hot')},
	qr/^rows 3000,/);
pages('freed line pointers', q{VACUUM hot; SELECT of_all('hot')}, qr/^rows 3000,/);
pages('serializable', q{BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT of_all('hot'); COMMIT},
	qr/^rows 3000,/);
pages('all deleted', q{DELETE FROM hot; SELECT of_all('hot')}, qr/^rows 0, .*batches 0/);

# Another session's changes, seen by neither.
my $writer = $node->background_psql('postgres', on_error_stop => 1);
$writer->query_safe('BEGIN; DELETE FROM types WHERE i2 % 2 = 0; '
	  . 'INSERT INTO types SELECT * FROM nulls; UPDATE types SET i4 = 0 WHERE i2 % 5 = 0');
pages('while another writes', q{SELECT of_all('types')}, qr/^rows 3000,/);
$writer->query_safe('ROLLBACK');
pages('which is rolled back', q{SELECT of_all('types')}, qr/^rows 3000,/);
$writer->quit;

# Sizes of tables, batches and pages.
for my $n (0, 1, 63, 64, 65, 225, 226, 227, 1023, 1024, 1025, 2047, 2048, 2049)
{
	my $batches = int(($n + 1023) / 1024);
	pages("$n rows", qq{
		DROP TABLE IF EXISTS size; CREATE TABLE size (a int);
		INSERT INTO size SELECT i FROM generate_series(1, $n) i;
		SELECT of_all('size')}, qr/^rows $n, .*batches $batches$/);
}
pages('many pages without rows between others', q{
	CREATE TABLE holes (a int, b text, c int);
	INSERT INTO holes SELECT i, repeat('h', i % 9), nullif(i % 7, 0) FROM generate_series(1, 60000) i;
	DELETE FROM holes WHERE a % 20000 BETWEEN 300 AND 19700;
	SELECT of_all('holes')}, qr/^rows 1797,/);

# Four tuples are looked at together: with NULLs and without, of few attributes and of many.
for my $n (7, 8, 9, 62, 63, 64, 65, 66)
{
	my $columns = join(', ', map { "c$_ " . ('int2', 'text', 'int', 'int8')[$_ % 4] } 1 .. $n);
	my $values = join(', ', map { "nullif(i % ($_ + 3), CASE WHEN i % 10 < 5 THEN 1 END)" } 1 .. $n);
	pages("$n attributes, half of the rows with NULLs", qq{
		DROP TABLE IF EXISTS many; CREATE TABLE many ($columns);
		INSERT INTO many SELECT $values FROM generate_series(1, 499) i;
		INSERT INTO many (c1, c3) SELECT repeat('l', 100 + i % 60), i FROM generate_series(1, 203) i;
		ALTER TABLE many ADD later int DEFAULT 6;
		INSERT INTO many SELECT * FROM many WHERE c1 IS NOT NULL;
		SELECT of_all('many')}, qr/^rows \d+,/);
}
pages('pages with one row', q{
	CREATE TABLE wide (a int, b text, c int); ALTER TABLE wide ALTER b SET STORAGE PLAIN;
	INSERT INTO wide SELECT i, repeat('w', 5000), i FROM generate_series(1, 100) i;
	SELECT of_all('wide')}, qr/^rows 100, pages 100, .*batches ([7-9]|\d\d+)$/);
pages('a temporary table', q{
	CREATE TEMP TABLE tmp AS SELECT i AS a FROM generate_series(1, 20000) i;
	SELECT of_all('tmp')}, qr/^rows 20000,/);
pages('constant stride', q{
	CREATE TABLE big AS SELECT i AS a, i % 2 = 0 AS b FROM generate_series(1, 300000) i;
	VACUUM big; SELECT of_all('big')}, qr/^rows 300000, pages \d+, all visible (\d+), strided \1,/);
for my $readers (1, 2, 5)
{
	pages("$readers readers", qq{SELECT test_pages_shared('big', $readers)}, qr/^rows 300000,/);
}
pages('two readers of nothing', q{SELECT test_pages_shared('hot', 2)}, qr/^rows 0,/);

# Cancelled in the middle of a page or of a batch: pages are let go of.
my ($out, $err);
$node->psql('postgres', q{
	BEGIN;
	SAVEPOINT s;
	SET LOCAL statement_timeout = '300ms';
	SELECT count(test_pages_time('big', '{a,b}')) FROM generate_series(1, 1000000);
	ROLLBACK TO s;
	SELECT of_all('big');
	DROP TABLE size;
	COMMIT}, stdout => \$out, stderr => \$err, on_error_stop => 0);
like($err, qr/canceling statement due to statement timeout/, 'cancelled');
like($out, qr/^rows 300000,/m, 'and read again in the same transaction');

# Larger than shared buffers, and none of it there.
$node->append_conf('postgresql.conf', 'shared_buffers = 1MB');
$node->restart;
pages('few buffers', q{SELECT of_all('big')}, qr/^rows 300000,/);
pages("begun where core's scan is", q{
	SELECT count(*) FROM (SELECT FROM big LIMIT 140000) s;
	SELECT test_pages_shared('big', 1); SELECT test_pages_shared('big', 3)},
	qr/^rows 300000,.*^rows 300000,/ms);
pages('few buffers, shared', q{SELECT test_pages_shared('big', 3)}, qr/^rows 300000,/);

# Statistics as core's scan has them.
pages('read once more', q{
	SELECT pg_stat_reset_single_table_counters('types'::regclass);
	SELECT test_pages_shared('types', 1)}, qr/rows 3000/);
ok( $node->poll_query_until('postgres', q{
	SELECT seq_scan = 2 AND seq_tup_read = 6000 FROM pg_stat_user_tables WHERE relname = 'types'}),
	'statistics: two scans, ours and core\'s');

$node->stop;
my $log = slurp_file($node->logfile);
unlike($log, qr/refcount leak|TRAP|terminated by signal/, 'nothing was left pinned');

done_testing();
