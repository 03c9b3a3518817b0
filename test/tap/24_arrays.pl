# Array functions and the benchmark when the device is slow to come, goes away,
# is not there at all, or is busy; cancelled in the middle.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $make_column = 'CREATE TABLE a AS SELECT array_agg(i::float8 / 8 ORDER BY i) AS f, '
  . 'array_agg(i ORDER BY i) AS i FROM generate_series(1, 50000) i';
my $ladder = "SELECT gpu_reduce(i, 'sum', 'block_shuffle') FROM a";
my $scan = 'SELECT md5(gpu_scan(f)::text) FROM a';
my $of_i = 50000 * 50001 / 2;

# Runs a query that must fail; its SQLSTATE, message and detail as one text.
sub failure
{
	my ($node, $sql, @set) = @_;
	my ($out, $err) = ('', '');

	$node->psql('postgres', join('', map { "SET $_;" } @set) . $sql,
		stdout => \$out, stderr => \$err, extra_params => ['-v', 'VERBOSITY=verbose']);
	return $err;
}

# In mode auto an algorithm of the device waits for it to come up; production does not.
my $node = gpuagg_node('arrays');
$node->safe_psql('postgres', $make_column);
ok(!gpuaggd_pids($node), 'no device program is running');
is($node->safe_psql('postgres', $ladder), $of_i, 'the first statement waits for the device');
ok(gpuaggd_pid($node), 'and has started it');
my $md5 = $node->safe_psql('postgres', "SET gpuagg.device = 'cpu'; $scan");
my $engine = 'SELECT engine, fallbacks FROM gpuagg_last_query()';
is($node->safe_psql('postgres', "$scan; $engine"), "$md5\ndevice|0", 'a scan on the device');

# Mode cpu, and a device that is stopped.
my $said = failure($node, $ladder, "gpuagg.device = 'cpu'");
like($said, qr/ERROR:  55000: algorithm "block_shuffle" runs on a device only/, 'mode cpu: an error');
like($said, qr/DETAIL:  "gpuagg.device" is "cpu"\./, 'mode cpu: the reason');
like($said, qr/HINT: /, 'mode cpu: a hint');
$node->safe_psql('postgres', 'SELECT gpuagg_stop()');
$said = failure($node, $ladder);
like($said, qr/ERROR:  55000: .*DETAIL:  The device was stopped by gpuagg_stop\(\)\./s,
	'stopped: an error with the reason');
$said = failure($node, "SELECT * FROM gpuagg_kernel_benchmark('scan', 'int8', 100)");
like($said, qr/ERROR:  55000: benchmarks run on a device only.*stopped/s,
	'stopped: no benchmark');
my $sequential = "SELECT gpu_reduce(i, algorithm => 'sequential') FROM a";
is($node->safe_psql('postgres', "$scan; $sequential"), "$md5\n$of_i",
	'stopped: production and sequential are the CPU\'s');
$node->safe_psql('postgres', 'SELECT gpuagg_restart()');
ok(wait_device($node), 'the device is back');

# It dies in the middle: production goes on, the others say so.
my $session = background($node, 'gpuagg.batch_rows = 1024');
my $backend = $session->query_safe('SELECT pg_backend_pid()');
is($session->query_safe($scan), $md5, 'in small batches');
my $before = device_stat($node, 'device_batches');
hold_device(6);
send_query($session, "$scan; $engine");
ok(wait_held() && wait_batches($node, $before), 'a scan is at work');
kill_gpuaggd($node);
release_device();
like($session->query('SELECT 1'), qr/^$md5\nboth\|[1-9]/,
	'the scan survives the death of the device program');
ok(wait_device($node), 'the device is back again');
my $slow = "SELECT gpu_scan(i, algorithm => 'hillis_steele') FROM a, generate_series(1, 100)";
hold_device();
send_query($session, $slow);
ok(wait_held(), 'an algorithm of the device is at work');
kill_gpuaggd($node);
release_device();
$session->query('SELECT 1');
like($session->{stderr}, qr/ERROR:  algorithm "hillis_steele" (has failed on the|runs on a) device/,
	'an algorithm of the device says that it was lost');
$session->{stderr} = '';
ok(wait_device($node), 'and it comes back');

# Cancelled.
for my $sql ($scan, $slow,
	"SELECT count(*) FROM gpuagg_kernel_benchmark('segmented_scan', 'int8', 3000)")
{
	my $start = time();

	$session->query("SET statement_timeout = '300ms'");
	hold_device();
	$session->query($sql);
	like($session->{stderr}, qr/canceling statement due to statement timeout/, "cancelled: $sql");
	cmp_ok(time() - $start, '<', 60, 'while the device is held');
	release_device();
	end_timeout($session);
	is($session->query_safe($ladder), $of_i, 'and the next is right');
}

# The same where PL/pgSQL assigns a function's value, without the executor.
for my $call ('gpu_reduce(a)', '(gpu_scan(a))[1]')
{
	$session->query("SET statement_timeout = '300ms'");
	hold_device();
	$session->query("DO \$\$ DECLARE a int8[] := ARRAY(SELECT generate_series(1, 300000)); s int8; BEGIN s := $call; END \$\$");
	like($session->{stderr}, qr/canceling statement due to statement timeout/, "cancelled: s := $call");
	release_device();
	end_timeout($session);
	is($session->query_safe($ladder), $of_i, 'and the next is right');
}

# The table tells what production costs, by kind.
is($node->safe_psql('postgres', "SELECT kind, round(additions_per_element::numeric, 1) FROM "
		. "unnest('{reduce,scan}'::text[]) kind, gpuagg_kernel_benchmark(kind, 'int4', 500) "
		. "WHERE algorithm = 'production' ORDER BY 1"),
	"reduce|1.0\nscan|2.0", 'additions of production');

# Others work beside a benchmark, which takes long where each launch does; a second one takes
# turns with it.
$session->quit;
{
	local $ENV{GPUAGG_SIM_DELAY_MS} = 30;
	$node->restart;
}
ok(wait_device($node), 'a slow device is there');
$session = background($node);
$backend = $session->query_safe('SELECT pg_backend_pid()');
my $at_work = "SELECT count(*) FROM pg_stat_activity WHERE pid = $backend AND state = 'active'";
send_query($session, "SELECT count(*) FROM gpuagg_kernel_benchmark('reduce', 'float8', 2000)");
$node->poll_query_until('postgres',
	"SELECT wait_event_type = 'Extension' FROM pg_stat_activity WHERE pid = $backend");
is($node->safe_psql('postgres', $ladder), $of_i, 'beside a benchmark the device does other work');
like(failure($node, "SELECT * FROM gpuagg_kernel_benchmark('scan', 'int8', 100)",
		"statement_timeout = '700ms'"),
	qr/ERROR:  57014/, 'a second benchmark begins, or waits for its turn');
is($node->safe_psql('postgres', $at_work), 1, 'the first is still at work');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($backend)");
$session->query('SELECT 1');
like($session->{stderr}, qr/canceling statement due to user request/, 'until it is cancelled');
$session->quit;

# Batches of the statement's own that hold all the staging memory give way.
$session = background($node, 'gpuagg.device = gpu', 'max_parallel_workers_per_gather = 0', "gpuagg.staging_memory = '32MB'");
my $three = 'SELECT gpu_sum(x), gpu_sum(x::int8), '
  . "sum((SELECT gpu_reduce(i, 'sum', 'block_shuffle') FROM a WHERE x % 10000 = 0)) "
  . 'FROM generate_series(1, 50000) x';
is($session->query_safe('SHOW gpuagg.staging_memory'), '32MB', 'memory for one lease');
is($session->query_safe($three), "$of_i|$of_i|" . 5 * $of_i,
	'the ladder beside aggregates that hold leases');
$session->quit;

$node->stop;
ok(wait_gone($node), 'no device program is left after the stop');

# No device program at all.
$node = gpuagg_node('nodevice', rows => 0, conf => "gpuagg.device_program = '/nonexistent/gpuaggd'");
$node->safe_psql('postgres', "CREATE EXTENSION gpuagg; $make_column");
$said = failure($node, $ladder);
like($said, qr/ERROR:  55000: algorithm "block_shuffle" runs on a device only/,
	'no program: an error');
like($said, qr/DETAIL:  The device program is missing/, 'no program: the error says so');
is($node->safe_psql('postgres', $scan), $md5, 'no program: the same bits on the CPU');
like(failure($node, $scan, "gpuagg.device = 'gpu'"), qr/ERROR:  55000: no usable GPU device/,
	'no program: mode gpu is an error');
is($node->safe_psql('postgres', "SET gpuagg.device = 'gpu'; $sequential"), $of_i,
	 'no program: mode gpu leaves the CPU\'s own algorithms alone');
stop_and_look($node);

done_testing();
