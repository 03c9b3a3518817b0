# Resident columns on a standby, which has none, and after its promotion.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Cluster;
use Test::More;

my $a = gpuagg_node(
	'a',
	mode => 'cpu',
	rows => 0,
	init => { allows_streaming => 1 },
	conf => "gpuagg.min_table_pages = 0\ngpuagg.resident = on\nmax_parallel_workers_per_gather = 0\n"
	  . "session_preload_libraries = 'gpuagg'\n");

# Two rows a page, 150 pages.
$a->safe_psql(
	'postgres', q{
	CREATE EXTENSION gpuagg;
	CREATE TABLE kept (i int, y int8, pad text) WITH (autovacuum_enabled = off);
	ALTER TABLE kept ALTER pad SET STORAGE PLAIN;
	INSERT INTO kept SELECT i, i * 10000000::int8, repeat('x', 3500) FROM generate_series(1, 300) i;
	VACUUM kept;});

my $use = q{SELECT gpu_sum(y), gpu_count(i) FROM kept;
	SELECT resident_pages + resident_confirmed, table_pages, resident_filled FROM gpuagg_last_query();
	SELECT sum(y), count(i) FROM kept;};

# Two tests: the result is core's, and the pages came so.
sub used
{
	my ($out, $pages, $what) = @_;
	my @lines = split /\n/, $out;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($lines[-3], $lines[-1], "$what: right");
	is($lines[-2], $pages, "$what: pages from memory, read, and into memory");
	return;
}

sub ask
{
	my ($node, $before) = @_;

	return $node->safe_psql('postgres', ($before // '') . $use);
}

used(ask($a), '0|150|150', 'the primary, first use');
used(ask($a), '150|0|0', 'the primary, second use');

$a->backup('one');
my $b = PostgreSQL::Test::Cluster->new('b');
$b->init_from_backup($a, 'one', has_streaming => 1);
$b->start;
$a->wait_for_catchup($b);

# The map says as much as on the primary, but nothing is put into memory.
used(ask($b), '0|150|0', "the standby, use $_") for 1, 2;
my ($rc, $rows, $notice) = $b->psql('postgres', q(SELECT rows FROM gpuagg_prefetch('kept')));
is($rows, '0', 'the standby: prefetching does nothing');
like($notice, qr/150 of 150 pages are not resident: the server is in recovery/, 'and says why');
is($b->safe_psql('postgres', 'SELECT count(*) FROM gpuagg_resident'), '0', 'the standby: no columns');

my $held = background($b);
$held->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
my $first = $held->query_safe('SELECT sum(y), count(i) FROM kept');
my $exported = $held->query_safe('SELECT pg_export_snapshot()');
# not vacuumed, as that would cancel what holds the snapshot
$a->safe_psql('postgres', 'DELETE FROM kept WHERE i = 100');
$a->wait_for_catchup($b);
used(ask($b), '0|150|0', 'the standby after changes');

# The snapshot is held while the standby becomes a primary; there other sessions may use columns.
$b->promote;
used(ask($b), '0|150|149', 'after the promotion, first use');
used(ask($b), '149|1|0', 'after the promotion, second use');
used($held->query_safe($use), '0|150|0', 'under the snapshot from before');
like($held->query_safe('EXPLAIN (ANALYZE, VERBOSE) SELECT gpu_sum(y) FROM kept'),
	qr/Resident Columns Not Used: the snapshot was taken in recovery/, 'and that is said');
is($held->query_safe('SELECT sum(y), count(i) FROM kept'), $first, 'which sees what it saw');
used(ask($b, "BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '$exported';"),
	'0|150|0', 'under that snapshot in another session');
used(ask($b, 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; '
	  . "SET min_parallel_table_scan_size = 0; BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '$exported';"),
	'0|150|0', 'and in workers');
$b->safe_psql('postgres', 'DELETE FROM kept WHERE i = 200; VACUUM kept');
used($held->query_safe($use), '0|150|0', 'under it after another change');
is($held->query_safe('SELECT sum(y), count(i) FROM kept'), $first, 'which it does not see');
$held->query_safe('COMMIT');
$b->safe_psql('postgres', 'VACUUM kept');
ask($b);
used($held->query_safe($use), '150|0|0', 'that session, under a new snapshot');
$held->quit;

$_->stop for $a, $b;
no_crash($_) for $a, $b;
done_testing();
