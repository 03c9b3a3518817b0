# A role without privileges: uses the functions, controls nothing.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use Test::More;

my $node = gpuagg_node('roles', rows => 30_000, mode => 'gpu');

ok(wait_device($node), 'the device is usable');
my $pid = gpuaggd_pid($node);
$node->safe_psql('postgres', 'CREATE ROLE plain LOGIN; GRANT SELECT ON t TO plain; '
	  . 'CREATE ROLE granted LOGIN; '
	  . 'GRANT EXECUTE ON FUNCTION gpuagg_stop(), gpuagg_restart(), gpuagg_stat_reset() TO granted');

sub as_role
{
	my ($role, $sql) = @_;

	return $node->psql('postgres', "SET client_min_messages = error;\n$sql",
		connstr => $node->connstr('postgres') . " user=$role");
}

sub allowed
{
	my ($role, $sql, $expected, $what) = @_;
	my ($ret, $out, $err) = as_role($role, $sql);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is("$ret $out $err", "0 $expected ", $what);
	return;
}

sub refused
{
	my ($role, $sql, $pattern, $what) = @_;
	my ($ret, $out, $err) = as_role($role, "\\set VERBOSITY verbose\n$sql");

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok($ret != 0 && $err =~ $pattern, $what) or diag("exit $ret: $out$err");
	return;
}

my $sums = core_sums($node);
allowed('plain', sums_sql('gpu_sum') . '; SELECT engine FROM gpuagg_last_query()',
	"$sums\ndevice", 'gpu_sum on the device');
allowed('plain', 'SET gpuagg.device = gpu; ' . sums_sql('gpu_sum'), $sums, 'mode gpu');
allowed('plain', 'SET gpuagg.device = cpu; ' . sums_sql('gpu_sum'), $sums, 'mode cpu');
allowed('plain', 'SET gpuagg.batch_rows = 5000; SET gpuagg.device_min_rows = 1; '
	  . 'SET gpuagg.enable_agg_scan = off; SET gpuagg.enable_window_scan = off; ' . sums_sql('gpu_sum'),
	$sums, "a user's own settings");
allowed('plain', 'SELECT count(*) FROM (SELECT gpu_running_sum(f) OVER (ORDER BY id) AS a, '
	  . 'sum(f) OVER (ORDER BY id) AS b FROM t) s WHERE a IS DISTINCT FROM b', 0, 'gpu_running_sum');
allowed('plain', 'SELECT gpu_count(*), gpu_count(f) FROM t', '30000|30000', 'gpu_count');
allowed('plain', 'SELECT bool_or(usable) FROM gpuagg_devices()', 't', 'gpuagg_devices()');
allowed('plain', 'SELECT calls > 0, device_state FROM gpuagg_stat', 't|ready', 'gpuagg_stat');
allowed('plain', q(SELECT gpuagg_version() ~ '^\d+\.\d+\.\d+$'), 't', 'gpuagg_version()');

for my $function ('gpuagg_stop', 'gpuagg_restart', 'gpuagg_stat_reset')
{
	refused('plain', "SELECT $function()", qr/42501: permission denied for function $function/,
		"$function() is refused");
}
refused('granted', 'SELECT gpuagg_stop()', qr/42501: must be superuser/,
	'gpuagg_stop() needs a superuser even where granted');
refused('granted', 'SELECT gpuagg_restart()', qr/42501: must be superuser/,
	'gpuagg_restart() needs a superuser even where granted');
allowed('granted', 'SELECT gpuagg_stat_reset()', '', 'gpuagg_stat_reset() can be granted');

# Settings that are not a user's own.
my $load = 'SELECT gpu_sum(i) > 0 FROM t; ';
for my $setting ("device_timeout = '1s'", "staging_memory = '64MB'")
{
	refused('plain', "${load}SET gpuagg.$setting", qr/42501: permission denied to set parameter/,
		"SET gpuagg.$setting is refused");
}
for my $setting (
	"total_staging_memory = '64MB'", "device_memory = '64MB'",
	"visible_devices = '0'",         'idle_timeout = 5',
	"device_program = '/bin/true'")
{
	refused('plain', "${load}SET gpuagg.$setting", qr/55P02: parameter .* cannot be changed now/,
		"SET gpuagg.$setting is refused");
}
{
	my ($ret, $out, $err) = as_role('plain',
		"SET gpuagg.device_timeout = 77; SET gpuagg.device_program = '/bin/true';"
		  . ' SELECT gpu_sum(i) > 0 FROM t; SHOW gpuagg.device_timeout');
	unlike($out, qr/77/, 'a setting made before the library was loaded has no effect');
}
refused('plain', 'SELECT gpu_sum(i) > 0 FROM t; SHOW gpuagg.device_program',
	qr/42501: (must be superuser or have privileges of|permission denied to examine)/,
	'SHOW gpuagg.device_program is refused');
refused('plain', "ALTER ROLE plain SET gpuagg.device_timeout = '1s'", qr/42501/,
	'ALTER ROLE SET of a restricted setting is refused');
refused('plain', q(SELECT gpu_sum(i) > 0 FROM t; SET gpuagg.no_such = 1),
	qr/42602: invalid configuration parameter name/,
	'settings that do not exist are refused');
my ($ret, $out, $err) = $node->psql('postgres',
	q(SELECT gpu_sum(i) > 0 FROM t; ALTER SYSTEM SET gpuagg.device_program = '/bin/true'));
like($err, qr/cannot be changed/, 'ALTER SYSTEM does not set gpuagg.device_program');

refused('plain', 'CREATE EXTENSION gpuagg', qr/already exists|42501/, 'CREATE EXTENSION is refused');
$node->safe_psql('postgres', 'CREATE DATABASE own OWNER plain');
($ret, $out, $err) = $node->psql('own', 'CREATE EXTENSION gpuagg',
	connstr => $node->connstr('own') . ' user=plain');
like($err, qr/permission denied to create extension/, 'the extension is not trusted');
is(gpuaggd_pid($node), $pid, 'gpuaggd has worked on undisturbed');
right_on($node, 'device', 'afterwards');
stop_and_look($node);

done_testing();
