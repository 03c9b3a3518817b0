# The launcher and gpuaggd start on demand, once, and end when told or idle.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use AsyncSql;
use GpuaggTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = gpuagg_node('start', conf => "gpuagg.device = cpu\n");
my $expected = core_sums($node);

# Nothing of a gpuaggd that ends meanwhile.
sub child_arguments
{
	my $pid = gpuaggd_pid($node) or return '';
	open(my $file, '<', "/proc/$pid/cmdline") or return '';
	my $arguments = <$file> // '';
	$arguments =~ tr/\0/ /;
	return $arguments;
}

# Loading starts nothing.
$node->safe_psql('postgres', "LOAD 'gpuagg'; SELECT gpuagg_version()");
right_on($node, 'cpu', 'mode cpu', expected => $expected);
is(scalar(launcher_pids($node)), 0, 'no launcher after loading and in mode cpu');
is(device_stat($node, 'device_state'), 'idle', 'state before the first start');

# Mode auto asks for no device for rows that come one by one.
my $no_gain = qr/^taking the rows there would cost more than the CPU's work$/;
sub aggregates_stay
{
	my ($what) = @_;
	my $last = right_on($node, 'cpu', "mode auto, $what", expected => $expected,
		set => ['gpuagg.device = auto']);

	like($last->{reason}, $no_gain, "mode auto, $what: the reason");
	for my $sql ('SELECT count(s) FROM (SELECT gpu_stddev(f) AS s FROM t GROUP BY g) q',
		'SELECT max(s) FROM (SELECT gpu_running_sum(b) OVER (ORDER BY id) AS s FROM t) q')
	{
		(undef, $last) = run_query($node, $sql,
			set => [ 'gpuagg.device = auto', 'gpuagg.enable_window_scan = off' ]);
		is("$last->{engine} $last->{fallbacks}", 'cpu 0', "mode auto, $what: $sql");
		like($last->{reason}, $no_gain, "mode auto, $what: the reason there");
	}
	(undef, $last) = run_query($node, sums_sql('gpu_sum'),
		set => [ 'gpuagg.device = auto', 'max_parallel_workers_per_gather = 2', 'parallel_setup_cost = 0',
			'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0' ]);
	is("$last->{engine} $last->{fallbacks}", 'cpu 0', "mode auto, $what: parallel workers");
	return;
}
aggregates_stay('no device');
is(scalar(launcher_pids($node)), 0, 'mode auto: no launcher because of aggregates');
is(device_stat($node, 'device_state'), 'idle', 'mode auto: the device is not asked for');

# For arrays it does not wait, but asks for the device.
my ($answer) = run_query($node, array_sums_sql(), set => ['gpuagg.device = auto']);
is($answer, $expected, 'mode auto, first query: right answer');
ok(wait_until(sub { device_stat($node, 'device_state') eq 'ready' }),
	'mode auto has the device started');
right_on($node, 'device', 'mode auto, later', expected => $expected, sql => array_sums_sql(),
	set => ['gpuagg.device = auto']);
my $batches = device_stat($node, 'device_batches');
aggregates_stay('a device that is ready');
is(device_stat($node, 'device_batches'), $batches, 'mode auto: nothing went there');
right_on($node, 'device', 'mode gpu takes aggregates there', expected => $expected,
	set => ['gpuagg.device = gpu']);

# What runs, and where.
is($node->safe_psql('postgres',
		"SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'gpuagg launcher'"),
	1, 'the launcher is in pg_stat_activity');
my $socket = $node->data_dir . '/pg_stat_tmp/gpuagg.sock';
ok(-S $socket, 'the socket is in pg_stat_tmp');
is((stat $socket)[2] & 07777, 0600, 'only its owner may use the socket');
is(join(' ', grep { /gpuagg/ } map { s{.*/}{}r } glob $node->data_dir . '/*'),
	'', 'nothing of ours in the root of the data directory');
my @descriptors = map { readlink } glob '/proc/' . gpuaggd_pid($node) . '/fd/*';
ok(!(grep { m{/(base|global|pg_wal)/} } @descriptors), 'gpuaggd has no file of the server open');
is(slurp_file('/proc/' . gpuaggd_pid($node) . '/oom_score_adj'),
	"500\n", 'gpuaggd is preferred by the out-of-memory killer');
is($node->safe_psql('postgres', 'SELECT device, name, usable FROM gpuagg_devices()'),
	'0|simulated device|t', 'gpuagg_devices()');

# A device that is back in a moment is waited for in mode gpu.
is($node->safe_psql('postgres', 'SELECT gpuagg_stop()'), 't', 'gpuagg_stop()');
ok(wait_until(sub { !launcher_pids($node) }), 'no launcher after gpuagg_stop()');
ok(wait_gone($node), 'no gpuaggd after gpuagg_stop()');
ok(!-e $socket, 'gpuaggd has removed its socket');
my ($code, $out, $err) = $node->psql('postgres', 'SET gpuagg.device = gpu; SELECT gpu_sum(i) FROM t');
is($code, 3, 'mode gpu fails when stopped');
like($err, qr/no usable GPU device.*DETAIL:  The device was stopped by gpuagg_stop\(\)\.\n.*HINT:  /s,
	'and says why');
right_on($node, 'cpu', 'mode auto when stopped', expected => $expected, sql => array_sums_sql(),
	set => ['gpuagg.device = auto']);
is(scalar(launcher_pids($node)), 0, 'and stays stopped');
is(device_stat($node, 'device_state'), 'stopped', 'state when stopped');
is($node->safe_psql('postgres', 'SELECT gpuagg_restart()'), 't', 'gpuagg_restart()');
right_on($node, 'device', 'mode gpu after restart', expected => $expected,
	set => ['gpuagg.device = gpu']);
my $first = gpuaggd_pid($node);
is($node->safe_psql('postgres', 'SELECT gpuagg_restart()'), 't', 'gpuagg_restart() while it runs');
right_on($node, 'device', 'after that', expected => $expected, set => ['gpuagg.device = gpu']);
isnt(gpuaggd_pid($node), $first, 'by another process');

# Only superusers control the device, even with EXECUTE granted.
$node->safe_psql('postgres', 'CREATE ROLE plain LOGIN; GRANT SELECT ON t TO plain');
for my $call ('gpuagg_stop()', 'gpuagg_restart()', 'gpuagg_stat_reset()')
{
	($code, $out, $err) = $node->psql('postgres', "SET ROLE plain; SELECT $call");
	like($err, qr/permission denied for function/, "$call is not for everybody");
}
$node->safe_psql('postgres', 'GRANT EXECUTE ON FUNCTION gpuagg_stop() TO plain');
($code, $out, $err) = $node->psql('postgres', 'SET ROLE plain; SELECT gpuagg_stop()');
like($err, qr/must be superuser/, 'nor is it with EXECUTE granted');
right_on($node, 'device', 'a role without privileges', expected => $expected,
	set => ['gpuagg.device = gpu', 'ROLE plain', 'default_transaction_read_only = on']);
is($node->safe_psql('postgres', 'SET ROLE plain; SELECT calls > 0 FROM gpuagg_stat'),
	't', 'the view is for everybody');

# Many at once: one launcher, one gpuaggd.
$node->safe_psql('postgres', 'SELECT gpuagg_stop()');
my $sum = $node->safe_psql('postgres', 'SELECT sum(i) FROM t');
my $gate = $node->background_psql('postgres');
$gate->query_safe('SELECT pg_advisory_lock(1)');
my @sessions = map {
	start_sql($node, 'SELECT pg_advisory_lock_shared(1); SET gpuagg.device = gpu; SELECT gpu_sum(i) FROM t')
} 1 .. 12;
$node->poll_query_until('postgres',
	q(SELECT count(*) = 12 FROM pg_stat_activity WHERE wait_event = 'advisory'));
$node->safe_psql('postgres', 'SELECT gpuagg_restart()');
$gate->quit;
my $right = grep { end_sql($_) =~ /^\Q$sum\E$/m } @sessions;
is($right, 12, 'twelve sessions at once: right answers');
# one that ends may still be there
ok(wait_until(sub { launcher_pids($node) == 1 }), 'one launcher');
is(scalar(gpuaggd_pids($node)), 1, 'one gpuaggd');

# Changed settings reach gpuaggd.
$node->append_conf('postgresql.conf', "gpuagg.total_staging_memory = '96MB'\n");
$node->reload;
ok(wait_until(sub { child_arguments() =~ /--total-staging 100663296 / }),
	'gpuaggd is started again with changed settings');
right_on($node, 'device', 'with changed settings', expected => $expected,
	set => ['gpuagg.device = gpu']);

# Idle: the device is given back, and fetched again.
$node->append_conf('postgresql.conf', "gpuagg.idle_timeout = '1s'\n");
$node->reload;
# its launcher may have gone, which it does for nothing else
ok(wait_until(sub { child_arguments() =~ /--idle-timeout 1 / || !launcher_pids($node) }), 'a short idle time');
ok(wait_until(sub { !launcher_pids($node) && !gpuaggd_pids($node) }),
	'an idle device is given back');
is(device_stat($node, 'device_state'), 'idle', 'state when idle');
my $idle = background($node, 'gpuagg.device = gpu');
is($idle->query_safe('SELECT gpu_sum(i) FROM t'), $sum, 'and fetched again');
ok(wait_until(sub { !launcher_pids($node) && !gpuaggd_pids($node) }), 'given back once more');
my $fallbacks = device_stat($node, 'fallbacks');
is($idle->query_safe('SELECT gpu_sum(i) FROM t'), $sum, 'the same session fetches it again');
is(device_stat($node, 'fallbacks'), $fallbacks, 'without a fallback');
$idle->quit;

stop_and_look($node);
done_testing();
