# Queries that find nothing of a large table in memory put a part of it there, and later ones the
# others.  How much depends on time; that it comes to an end, and that results are right, do not.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = gpuagg_node(
	'limit',
	rows => 0,
	conf => "wal_level = replica\ngpuagg.min_table_pages = 0\ngpuagg.resident = auto\nmax_wal_size = 4GB\n"
	  . "min_parallel_table_scan_size = 0\nparallel_setup_cost = 0\nparallel_tuple_cost = 0\n"
	  . "gpuagg.device = cpu\nshared_preload_libraries = 'gpuagg'\n");
my $chunk = 256;
my $free = 32;	 # chunks without a limit
my $plain = 2;	 # that are read before any is filled
my $most = 40;	 # queries until all is there

# Few rows a page, so that there are many chunks.
$node->safe_psql('postgres', "CREATE EXTENSION gpuagg;"
	  . "CREATE TABLE t (i int, b int8, f float8, v text, filler text) WITH (autovacuum_enabled = off, fillfactor = 10);"
	  . "INSERT INTO t SELECT i, i * 1000003::int8, i / 4.0, 'v' || i % 7, repeat('x', 90) FROM generate_series(1, 120000) i;"
	  . "CREATE TABLE s (LIKE t) WITH (autovacuum_enabled = off, fillfactor = 10);"
	  . "INSERT INTO s SELECT * FROM t WHERE i <= 30000;"
	  . "CREATE TABLE p (LIKE t) PARTITION BY RANGE (i);"
	  . join('', map { "CREATE TABLE p$_ PARTITION OF p FOR VALUES FROM ("
			  . ($_ * 10000 + 1) . ") TO (" . ($_ * 10000 + 10001) . ") WITH (autovacuum_enabled = off, fillfactor = 10);" } 0 .. 11)
	  . "INSERT INTO p SELECT * FROM t; VACUUM ANALYZE t, s, p");

sub pages_of
{
	my (@tables) = @_;

	return $node->safe_psql('postgres', join ' + ', "SELECT 0", map { "pg_relation_size('$_') / current_setting('block_size')::int" } @tables);
}

my $pages = pages_of('t');
my $small = pages_of('s');

cmp_ok($pages, '>', 2 * $free * $chunk, 'a large table');
cmp_ok($small, '<=', $free * $chunk, 'and a small one');

sub evict
{
	$node->safe_psql('postgres', "SELECT gpuagg_evict()");
	return;
}

# A query's result, and pages that it has filled and read.
sub asks
{
	my ($session, $query) = @_;
	my $answer = $session->query_safe("$query; SELECT 'pages', resident_filled, table_pages FROM gpuagg_last_query()");

	die "no pages in $answer" unless $answer =~ s/\n?pages\|(\d+)\|(\d+)$//;
	return ($answer, $1, $2);
}

# Pages that the column has not of which the most are missing, of all tables of that name together.
sub missing
{
	my ($session, $like) = @_;

	return $session->query_safe("SELECT sum(missing) FROM (SELECT max(table_pages - pages) AS missing FROM gpuagg_resident"
		  . " WHERE relation::text LIKE '$like' GROUP BY relation) m");
}

# Until all is there: each query gives core's result, and fills some.
sub comes
{
	my ($what, $session, $like, $format) = @_;
	my $core = $session->query_safe(sprintf $format, '', '');
	my ($wrong, $none) = (0, 0);
	my @missing;

	while (!@missing || $missing[-1] > 0 && @missing < $most)
	{
		$wrong++ if $session->query_safe(sprintf $format, 'gpu_', 'gpu_running_') ne $core;
		push @missing, missing($session, $like);
		$none++ if @missing > 1 && $missing[-1] >= $missing[-2];
	}
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($wrong, 0, "$what: right results");
	is($none, 0, "$what: each query fills some");
	is($missing[-1], 0, "$what: all is there after some queries");
	cmp_ok($missing[0], '>=', $plain * $chunk, "$what: the first one leaves some");
	note("$what: pages missing: @missing");
	return;
}

my $sum = 'SELECT %1$ssum(b), %1$ssum(f), %1$scount(*) FROM t WHERE i %% 50 = 3';
my $groups = 'SELECT v, %1$ssum(b) FROM t WHERE i > 100 GROUP BY v ORDER BY v';

for my $workers (0, 2)
{
	my $session = background($node, "max_parallel_workers_per_gather = $workers");

	evict();
	# the first use counts only
	is((asks($session, sprintf $sum, 'gpu_'))[1], 0, 'nothing comes with the first use') if $workers == 0;
	comes("sums, $workers workers", $session, 't', $sum);
	asks($session, sprintf $groups, 'gpu_') if $workers == 0;
	evict();
	comes("groups, $workers workers", $session, 't', $groups);
	$session->quit;
}

my $session = background($node, 'max_parallel_workers_per_gather = 0');

# ---- what a user sees of it ----

evict();
like($session->query_safe('EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF) ' . sprintf($sum, 'gpu_')),
	qr/Pages Left to Later Queries: (\d+)/, 'EXPLAIN tells');
unlike($session->query_safe('SET gpuagg.resident = on; EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF) ' . sprintf($sum, 'gpu_')
		  . '; RESET gpuagg.resident'), qr/Pages Left/, 'and that there is none');

# ---- without a limit ----

evict();
$session->query_safe('SET gpuagg.resident = on');
is((asks($session, sprintf $sum, 'gpu_'))[1], $pages, 'on: all at once');
evict();
$session->query_safe('RESET gpuagg.resident');
$session->query_safe(q(SELECT gpuagg_prefetch('t', '{i,b,f}')));
is((asks($session, sprintf $sum, 'gpu_'))[2], 0, 'gpuagg_prefetch: all at once');

# pages that have changed in most chunks go back at once
$session->query_safe("UPDATE t SET b = b + 1 WHERE i % 700 = 1");
$session->query_safe('VACUUM t');
my $core = $session->query_safe(sprintf $sum, '');
my ($answer, $filled, $read) = asks($session, sprintf $sum, 'gpu_');
is($answer, $core, 'after changes: right');
cmp_ok($read, '>', 0, 'pages are read');
is((asks($session, sprintf $sum, 'gpu_'))[2], 0, 'and are back');

# a small table, once it has been used
my $of_small = 'SELECT gpu_sum(b), gpu_sum(f) FROM s';
asks($session, $of_small);
is((asks($session, $of_small))[1], $small, 'a small table: all at once');
is((asks($session, $of_small))[2], 0, 'and it is there');

# ---- partitions, which are small ----

my $of_all = 'SELECT %1$ssum(b), %1$ssum(f), %1$scount(*) FROM p WHERE i %% 50 = 3';
asks($session, sprintf $of_all, 'gpu_');
comes('partitions', $session, 'p%', $of_all);

# ---- windows ----

evict();
my $window = 'SELECT %1$ssum(r) FROM (SELECT %2$ssum(b) OVER (PARTITION BY i / 1000 ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM t) w';
like($session->query_safe('EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF) ' . sprintf $window, 'gpu_', 'gpu_running_'),
	qr/Pages Left to Later Queries: (\d+)/, 'EXPLAIN tells of a window, too');
evict();
comes('a window', $session, 't', $window);
$session->quit;

no_crash($node);
done_testing();
