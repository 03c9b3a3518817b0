# A session that asks the same again and again keeps what it has found of a table's chunks: it finds
# out whatever has changed since.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = gpuagg_node(
	'known',
	rows => 0,
	conf => "wal_level = replica\ngpuagg.min_table_pages = 0\ngpuagg.resident = on\ngpuagg.device_min_rows = 0\n"
	  . "max_parallel_workers_per_gather = 0\nshared_preload_libraries = 'gpuagg'\n");
my $rows = 50_000;
my $again = 4;

$node->safe_psql('postgres', "CREATE EXTENSION gpuagg;"
	  . "CREATE TABLE t (i int, b int8, f float8, v text) WITH (autovacuum_enabled = off, fillfactor = 50);"
	  . "INSERT INTO t SELECT i, i * 1000003::int8, i / 4.0, 'v' || i % 7 FROM generate_series(1, $rows) i; VACUUM t");
ok(wait_device($node), 'the device is there');

sub prefetch
{
	$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('t')));
	return;
}

my $session = background($node, 'max_parallel_workers_per_gather = 0');

# Sessions that ask know what they have found.
sub kept
{
	return $session->query_safe(q(SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'gpuagg known chunks'));
}

# All answers are core's; %1$s: before the names of aggregates.
sub asks
{
	my ($what, @queries) = @_;

	for my $query (@queries)
	{
		my $core = $session->query_safe(sprintf($query, ''));
		my @ours = map { $session->query_safe(sprintf($query, 'gpu_')) } 1 .. $again;

		local $Test::Builder::Level = $Test::Builder::Level + 1;
		is(join("\n", @ours), join("\n", ($core) x $again), "$what: $query");
	}
	return;
}

my $filtered = 'SELECT %1$ssum(b), %1$scount(*) FROM t WHERE i > 1000 AND f < 90000';
my @queries = (
	'SELECT %1$ssum(b), %1$smax(f) FROM t', $filtered,
	q(SELECT v, %1$ssum(b) FROM t WHERE v <> 'v3' GROUP BY v ORDER BY v),
	'SELECT %1$ssum(f) FROM t WHERE i < 0');

prefetch();
asks('as it is', @queries);
is(kept(), 3, 'what was found is kept, of queries that look at rows');
my $batches = device_stat($node, 'device_batches');
$session->query_safe(sprintf($filtered, 'gpu_'));
is(device_stat($node, 'device_batches'), $batches + 1, 'and used for the device');

# ---- rows ----

# Of each: statements, after each of which the session asks.
my @changes = (
	['a row changed and vacuumed at once', 'UPDATE t SET b = 3 WHERE i = 1999; VACUUM t'],
	['a row changed', 'UPDATE t SET b = 5 WHERE i = 2000'],
	['another row changed, then vacuumed', 'UPDATE t SET b = b + 1, v = NULL WHERE i = 2001', 'VACUUM t'],
	['a change that came to nothing', 'BEGIN; DELETE FROM t WHERE i = 2002; ROLLBACK', 'VACUUM t'],
	['rows gone', 'DELETE FROM t WHERE i BETWEEN 20000 AND 21000; VACUUM t'],
	['rows beyond all values', "UPDATE t SET i = -5, f = 'NaN' WHERE i = 30", 'VACUUM t'],
	['new strings', "UPDATE t SET v = 'w' || i WHERE i % 9999 = 1; VACUUM t"],
	['new pages', "INSERT INTO t SELECT i, i, i, 'x' FROM generate_series(1, 20000) i", 'VACUUM t'],
	['fewer pages', 'DELETE FROM t WHERE ctid >= (SELECT max(ctid) FROM t)', 'VACUUM t'],
	['written anew', 'VACUUM FULL t', 'VACUUM t']);
for my $change (@changes)
{
	my ($what, @statements) = @$change;

	for my $statement (@statements)
	{
		$node->safe_psql('postgres', $_) for split /; (?!DELETE|ROLLBACK)/, $statement;
		asks("$what, $statement", @queries);
	}
	prefetch();
	asks("$what, filled again", @queries);
}

# ---- snapshots ----

$session->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
asks('an old snapshot', $filtered);
my $before = $session->query_safe(sprintf($filtered, ''));
$node->safe_psql('postgres', 'UPDATE t SET b = b + 7 WHERE i % 100 = 0');
asks('an old snapshot, rows changed since', $filtered);
$node->safe_psql('postgres', 'VACUUM t');
asks('an old snapshot, vacuumed since', $filtered);
is($session->query_safe(sprintf($filtered, 'gpu_')), $before, 'it sees what it saw');
$session->query_safe('COMMIT');
isnt($session->query_safe(sprintf($filtered, 'gpu_')), $before, 'a new one sees the change');

# ---- constants ----

$session->query_safe("PREPARE ours(int) AS SELECT gpu_sum(b), gpu_count(*) FROM t WHERE i < \$1;"
	  . "PREPARE core(int) AS SELECT sum(b), count(*) FROM t WHERE i < \$1");
for my $most (100, 100, 100, 45000, 45000, 45000, 100, -10, 45000)
{
	is($session->query_safe("EXECUTE ours($most)"), $session->query_safe("EXECUTE core($most)"), "less than $most");
}

# ---- what is on the device, and the device ----

prefetch();
asks('before an eviction', $filtered);
$node->safe_psql('postgres', q(SELECT gpuagg_evict('t')));
asks('after an eviction', @queries);
prefetch();
asks('before another device program', $filtered);
kill_gpuaggd($node);
asks('without the device program', $filtered);
ok(wait_device($node), 'there is another one');
asks('without columns there', $filtered);
prefetch();
asks('with all columns there', @queries);
$node->safe_psql('postgres', "DROP TABLE t; CREATE TABLE t AS SELECT i, i::int8 AS b, i::float8 AS f, 'z'::text AS v FROM generate_series(1, $rows) i");
$node->safe_psql('postgres', 'VACUUM t');
prefetch();
asks('another table', @queries);
cmp_ok(kept(), '<=', 4, 'not more than so much is kept');
$session->quit;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP:|crash of another/, 'no process of the server has crashed');
done_testing();
