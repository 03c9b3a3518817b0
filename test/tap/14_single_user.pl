# Where nothing may start: single-user mode, binary upgrade, loading the library.
use strict;
use warnings;

use Cwd qw(realpath);
use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = gpuagg_node('single', rows => 20_000);
my $sums = core_sums($node);
my @sums = split /\|/, $sums;
my $folder = $node->data_dir . '/pg_stat_tmp';
my $launchers = q(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'gpuagg launcher');

# Making the extension and loading the library start nothing.
is($node->safe_psql('postgres', "LOAD 'gpuagg'; SHOW gpuagg.device; $launchers"), "auto\n0",
	'loading the library starts no launcher');
is(scalar(gpuaggd_pids($node)), 0, 'nor gpuaggd');
$node->command_ok([ 'pg_dump', '-h', $node->host, '-p', $node->port, '-f', '/dev/null', 'postgres' ],
	'pg_dump');
is($node->safe_psql('postgres', $launchers), '0', 'pg_dump starts no launcher');
$node->stop;

# Single-user mode, also with the library preloaded.
for my $preload ('', 'gpuagg')
{
	my $what = 'single-user mode' . ($preload ? ', preloaded' : '');
	my ($in, $out, $err) = ('', '', '');
	my $postgres = IPC::Run::start(
		[ 'postgres', '--single', '-F', '-j', '-D', $node->data_dir,
			'-c', "shared_preload_libraries=$preload", 'postgres' ],
		'<', \$in, '>', \$out, '2>', \$err, IPC::Run::timeout(600));

	$in .= array_sums_sql() . ";\n\nSELECT engine FROM gpuagg_last_query();\n\n";
	$postgres->pump until $out =~ /engine = "/;
	my @got = $out =~ /gpu_reduce = "([^"]*)"/g;
	is(join('|', @got), $sums, "$what: right answer");
	like($out, qr/engine = "cpu"/, "$what: on the CPU");
	is(join(' ', gpuaggd_pids($node)), '', "$what: no gpuaggd");
	is_deeply([ children($node) ], [], "$what: no child process");

	$out = '';
	$in .= "SET gpuagg.device = gpu;\n\n" . sums_sql('gpu_sum') . ";\n\nSELECT 'after' AS done;\n\n";
	$postgres->pump until $out =~ /done = "after"/;
	like($err, qr/no usable GPU device/, "$what: mode gpu is refused");
	$in .= "SET gpuagg.device = auto;\n\n" . array_sums_sql() . ";\n\nSELECT 'again' AS done;\n\n";
	$postgres->pump until $out =~ /done = "again"/;
	@got = $out =~ /gpu_reduce = "([^"]*)"/g;
	is(join('|', @got), $sums, "$what: right answer after the refusal");
	$postgres->finish;
	is($postgres->full_result(0), 0, "$what: ends well");
	ok(!-e "$folder/gpuagg.sock", "$what: no socket");
}

# Binary-upgrade mode, as pg_upgrade starts servers, with the library preloaded.
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'gpuagg'");
command_ok(
	[ 'pg_ctl', '-w', '-D', $node->data_dir, '-l', $node->logfile, '-o', '-b', 'start' ],
	'start for a binary upgrade');
is($node->safe_psql('postgres', "LOAD 'gpuagg'; $launchers"), '0',
	'binary upgrade: no launcher');
right_on($node, 'cpu', 'binary upgrade', sql => array_sums_sql());
is($node->safe_psql('postgres', $launchers), '0', 'binary upgrade: no launcher after a query');
is(scalar(gpuaggd_pids($node)), 0, 'binary upgrade: no gpuaggd');
command_ok([ 'pg_ctl', '-w', '-D', $node->data_dir, '-m', 'fast', 'stop' ], 'stop');

# The same cluster as usual: the device comes.
$node->start;
ok(wait_device($node), 'as usual: the device is usable');
right_on($node, 'device', 'as usual', sql => array_sums_sql());
$node->stop;
ok(wait_gone($node), 'no gpuaggd is left after the stop');

# pg_upgrade: the library check, and the whole.
my $new = PostgreSQL::Test::Cluster->new('upgraded');
$new->init;
my $bin = $node->config_data('--bindir');
($bin) = grep { -x "$_/postgres" } split(/:/, $ENV{PATH}), $bin;
chdir($node->basedir) or die "chdir: $!";
my @upgrade = (
	'pg_upgrade', '--no-sync', '-b', $bin, '-B', $bin,
	'-d', $node->data_dir, '-D', $new->data_dir,
	'-p', $node->port, '-P', $new->port, '-s', $new->host);
@upgrade = grep { $_ ne '--no-sync' } @upgrade if $node->pg_version < 15;
command_ok([ @upgrade, '--check' ], 'pg_upgrade --check');
command_ok([@upgrade], 'pg_upgrade');
is(scalar(gpuaggd_pids($node)) + scalar(gpuaggd_pids($new)), 0, 'it has started no gpuaggd');
$new->append_conf('postgresql.conf', "gpuagg.device_program = '$ENV{GPUAGGD_SIM}'\ngpuagg.device_timeout = '10min'\n");
$new->start;
ok(wait_device($new), 'the upgraded cluster has a device');
right_on($new, 'device', 'the upgraded cluster',
	set => [ 'gpuagg.device = gpu', 'gpuagg.device_min_rows = 0' ]);
is(core_sums($new), $sums, 'the upgraded cluster has the same data');
stop_and_look($new);

done_testing();

# Other processes that work in the node's data directory.
sub children
{
	my ($of) = @_;
	my $data = realpath($of->data_dir);
	my @found;

	for my $proc (glob '/proc/[0-9]*')
	{
		push @found, $proc
		  if (readlink("$proc/cwd") // '') eq $data
		  && slurp_file("$proc/cmdline") !~ /--single/;
	}
	return @found;
}
