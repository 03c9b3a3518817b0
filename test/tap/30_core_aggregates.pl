# gpuagg.core_aggregates and the library: set before it is loaded, and loaded before anything is set.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = gpuagg_node('core_aggregates',
	rows => 0,
	mode => 'cpu',
	conf => "gpuagg.min_table_pages = 0\nparallel_setup_cost = 0\nparallel_tuple_cost = 0\n"
	  . "min_parallel_table_scan_size = 0\nmax_parallel_workers_per_gather = 2\n");
my $late = qr/WARNING:  "gpuagg.core_aggregates" has had no effect in this session so far/;
my $reason = 'the library was not loaded when the query was planned';

$node->safe_psql('postgres', 'CREATE EXTENSION gpuagg; CREATE TABLE t AS SELECT generate_series(1, 1000) AS i; ANALYZE t');

# Returns what a session of its own prints, and its messages.
sub session
{
	my ($sql, %params) = @_;
	my ($out, $err);

	$node->psql($params{db} // 'postgres', $sql, stdout => \$out, stderr => \$err, %{ $params{psql} // {} });
	return ($out, $err);
}

my $plan = 'EXPLAIN (COSTS OFF) SELECT sum(i) FROM t';
my ($out, $err) = session("SET gpuagg.core_aggregates = exact; $plan; SELECT reason FROM gpuagg_last_query(); $plan;"
	  . ' SELECT sum(i) FROM t; SELECT engine, reason IS DISTINCT FROM ' . "'$reason' FROM gpuagg_last_query()");
like($err, $late, 'set too early: a warning');
like($err, qr/HINT: .*session_preload_libraries/, 'set too early: a hint');
is(() = $err =~ /WARNING/g, 1, 'set too early: one warning, from no worker');
like($out, qr/Aggregate.*\n\Q$reason\E\n.*GpuAgg.*\n500500\ncpu\|t\z/s, 'set too early: gpuagg_last_query() says so, until there is a query');

($out, $err) = session("SET gpuagg.core_aggregates = off; SELECT reason IS NULL FROM gpuagg_last_query()");
is($err, '', 'set to off: no warning');
is($out, 't', 'set to off: no reason');
($out, $err) = session("LOAD 'gpuagg'; SET gpuagg.core_aggregates = 'all'; $plan; SELECT reason IS NULL FROM gpuagg_last_query()");
is($err, '', 'loaded first: no warning');
like($out, qr/GpuAgg.*\nt\z/s, 'loaded first: it works');
($out, $err) = session("SET gpuagg.core_aggregates = most; SELECT gpuagg_version(); SHOW gpuagg.core_aggregates");
like($err, qr/invalid value for parameter "gpuagg.core_aggregates": "most"/, 'a value that does not exist');
like($out, qr/^off$/m, 'a value that does not exist: off');
($out, $err) = session('SET gpuagg.core_aggregates = all');
like($err, qr/syntax error at or near "all"/, 'all without quotes');

# From where else it may come.
{
	local $ENV{PGOPTIONS} = '-c gpuagg.core_aggregates=exact';
	($out, $err) = session("$plan; SELECT gpuagg_version()");
	like($err, $late, 'PGOPTIONS: a warning');
}
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE TABLE t AS SELECT generate_series(1, 1000) AS i; ANALYZE t');
$node->safe_psql('postgres', "ALTER DATABASE other SET gpuagg.core_aggregates = 'all'");
($out, $err) = session("$plan; LOAD 'gpuagg'", db => 'other');
like($err, $late, 'ALTER DATABASE: a warning');
unlike($out, qr/GpuAgg/, 'ALTER DATABASE: core computes');

# A database without the extension.
$node->safe_psql('postgres', "ALTER DATABASE other SET session_preload_libraries = 'gpuagg'");
($out, $err) = session("$plan; SELECT sum(i), count(*) FROM t; SHOW gpuagg.core_aggregates", db => 'other');
is($err, '', 'session_preload_libraries: no warning');
like($out, qr/GpuAgg.*\n500500\|1000\nall\z/s, 'session_preload_libraries: it works');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'gpuagg'\ngpuagg.core_aggregates = exact\n");
$node->restart;
($out, $err) = session("$plan; SELECT sum(i) FROM t; SELECT reason IS DISTINCT FROM '$reason' FROM gpuagg_last_query()");
is($err, '', 'shared_preload_libraries: no warning');
like($out, qr/GpuAgg.*\n500500\nt\z/s, 'shared_preload_libraries: it works');
$node->stop;

done_testing();
