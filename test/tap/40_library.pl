# The library replaced by another version under open sessions: their parallel workers load the new one.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = gpuagg_node('library', mode => 'cpu', rows => 0, conf => "wal_level = replica\ngpuagg.min_table_pages = 0\n"
	  . "parallel_setup_cost = 0\nparallel_tuple_cost = 0\nmin_parallel_table_scan_size = 0\nmax_parallel_workers_per_gather = 2\n"
	  . "parallel_leader_participation = off\n");

# The extension with a library of this test's own, which it may replace.
my $library = $node->basedir . '/gpuagg';
my ($lib, $share) = map { chomp(my $folder = `pg_config $_`); $folder } '--pkglibdir', '--sharedir';
my ($version) = slurp_file("$share/extension/gpuagg.control") =~ /^default_version = '(.*)'/m;
my $other = $version =~ s/.$/$& == 9 ? 8 : $& + 1/er;
my $binary = slurp_file("$lib/gpuagg.so");
my $changed = () = $binary =~ /\Q$version\E\0/g;
cmp_ok($changed, '>', 0, 'the library has its version in it');

# Puts a library of that version in place, as installing does: by a new file.
sub install
{
	my ($as) = @_;

	unlink "$library.new";
	append_to_file("$library.new", $binary =~ s/\Q$version\E\0/$as\0/gr);
	chmod 0755, "$library.new";
	rename("$library.new", "$library.so") or die "$library.so: $!";
	return;
}

install($version);
$node->safe_psql('postgres', "CREATE EXTENSION gpuagg; UPDATE pg_proc SET probin = '$library' WHERE probin = '\$libdir/gpuagg'");
$node->safe_psql(
	'postgres', q{
CREATE TABLE t AS SELECT i, i % 7 AS g, (i * 1.37)::numeric(12,2) AS n, (i / 8.0)::float8 AS f FROM generate_series(1, 20000) i;
VACUUM ANALYZE t;
CREATE FUNCTION inner_sum(int) RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS
	'BEGIN RETURN (SELECT gpu_sum(x) FROM generate_series(1, $1 % 3) x); END';});
my $query = 'SELECT g, gpu_sum(i), gpu_avg(n), gpu_sum(f), gpu_stddev(n) FROM t GROUP BY g ORDER BY g';
my $expected = $node->safe_psql('postgres', $query =~ s/gpu_//gr);
my $inner = 'SELECT sum(inner_sum(i)) FROM t';
my %way = (pages => 'gpuagg.enable_agg_scan = on', rows => 'gpuagg.enable_agg_scan = off');
my %node_of = (pages => 'GpuAgg', rows => 'Partial HashAggregate');
my $replaced = qr/ERROR:  the library of gpuagg has been replaced since this session has loaded it\n.*DETAIL:  A parallel worker has loaded version \Q$other\E, and the session has \Q$version\E\./s;

# Tests that a session's parallel queries give the right answer, or raise the error.
sub runs
{
	my ($session, $what, $error) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	for my $name (sort keys %way)
	{
		$session->query_safe("SET $way{$name}");
		like($session->query_safe("EXPLAIN (COSTS OFF) $query"), qr/Workers Planned: 2.*$node_of{$name}/s, "$what, $name: the plan");
		$session->{stderr} = '';
		my ($out) = $session->query($query);
		$out //= '';
		defined $error ? like($session->{stderr}, $error, "$what, $name: the error") : is($out, $expected, "$what, $name: right");
		$session->{stderr} = '';
	}
	return;
}

my ($first, $second) = (background($node), background($node));
runs($_, 'one library') for $first, $second;
is($first->query_safe('SELECT gpuagg_version()'), $version, 'its version');
install($other);
my $new = background($node);
is($new->query_safe('SELECT gpuagg_version()'), $other, 'a new session has the other version');
runs($new, 'a new session');
is($first->query_safe('SELECT gpuagg_version()'), $version, 'an open one has its own');
runs($first, 'an open session', $replaced);
is($first->query_safe('SELECT sum(i) FROM t'), '200010000', 'core\'s aggregates are as ever');
$first->query_safe('SET max_parallel_workers_per_gather = 0');
for my $name (sort keys %way)
{
	$first->query_safe("SET $way{$name}");
	is($first->query_safe($query), $expected, "an open session without workers, $name: right");
}
$first->query_safe('DISCARD ALL');
runs($first, 'an open session after DISCARD ALL', $replaced);
install($version);
runs($_, 'the first version again') for $first, $second;
runs($new, 'that session', qr/DETAIL:  A parallel worker has loaded version \Q$version\E, and the session has \Q$other\E\./);
$_->quit for $first, $second, $new;

# Sessions whose workers have the library before they have.
for my $leader ('off', 'on')
{
	# whoever loads it then says that settings of the configuration file cannot be taken over
	my $session = background($node, 'client_min_messages = error', "parallel_leader_participation = $leader");

	is($session->query_safe($inner), '26668', "loaded in workers, leader takes part: $leader");
	$session->query_safe('SET gpuagg.min_table_pages = 0');
	runs($session, "the session after that, leader takes part: $leader");
	$session->quit;
}
my $session = background($node);
for my $sql ('RESET ALL', 'DISCARD ALL', 'SET gpuagg.library_version TO DEFAULT', 'BEGIN; SELECT gpu_sum(1); ROLLBACK')
{
	$session->query_safe($sql);
	runs($session, $sql);
}
$session->query("SET gpuagg.library_version = '$other'");
like($session->{stderr}, qr/ERROR:  invalid value for parameter "gpuagg.library_version"/, 'no user says what the version is');
$session->{stderr} = '';
runs($session, 'which changes nothing');
is($session->query_safe(q(SELECT count(*) FROM pg_settings WHERE name = 'gpuagg.library_version')), '0', 'nor sees it');
$session->quit;
$node->stop;
no_crash($node);
done_testing();
