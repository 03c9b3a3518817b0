# shared_preload_libraries: the device is warm when the first query comes;
# nothing else changes.  Without it there may be no room for the shared state.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use AsyncSql;
use GpuaggTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = gpuagg_node('preload');
my $expected = core_sums($node);

$node->append_conf('postgresql.conf', "shared_preload_libraries = 'gpuagg'\n");
$node->restart;
ok(wait_until(sub { gpuaggd_pid($node) }), 'gpuaggd starts with the server');
ok(wait_until(sub { device_stat($node, 'device_state') eq 'ready' }), 'and gets ready unasked');
right_on($node, 'device', 'first query, mode auto', expected => $expected, sql => array_sums_sql());
is(scalar(launcher_pids($node)), 1, 'one launcher');

# Stopped and restarted: the launcher is then a dynamic worker.
is($node->safe_psql('postgres', 'SELECT gpuagg_stop()'), 't', 'stopped');
is($node->safe_psql('postgres', 'SELECT gpuagg_restart()'), 't', 'restarted');
right_on($node, 'device', 'after that', expected => $expected, set => ['gpuagg.device = gpu']);
is(scalar(launcher_pids($node)), 1, 'one launcher again');

# The crash of a backend: shared memory is made anew, and the launcher with it.
my $session = start_sql($node, 'SELECT gpuagg_version(); SELECT pg_sleep(600)');
my $pid = '';
wait_until(
	sub {
		$pid = $node->safe_psql('postgres',
			q(SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()));
		$pid ne '';
	});
my $old = gpuaggd_pid($node);
$node->append_conf('postgresql.conf', "restart_after_crash = on\n");
$node->reload;
kill 'KILL', $pid;
eval { end_sql($session) };
ok(wait_until(sub { !-e "/proc/$old/exe" }), 'after a crash the old gpuaggd is gone');
wait_started($node);
right_on($node, 'device', 'after a crash', expected => $expected, set => ['gpuagg.device = gpu']);
is(scalar(gpuaggd_pids($node)), 1, 'one gpuaggd');

# Mode cpu for the whole server: nothing is started.
$node->append_conf('postgresql.conf', "gpuagg.device = cpu\n");
$node->restart;
right_on($node, 'cpu', 'mode cpu', expected => $expected);
is(scalar(launcher_pids($node)), 0, 'no launcher in mode cpu');
my ($code, $out, $err) = $node->psql('postgres',
	'SET gpuagg.device = gpu; SELECT gpu_sum(i) FROM t; SELECT engine FROM gpuagg_last_query()');
like($out, qr/^\d+\ndevice$/, 'one session may want it all the same');

# Nothing to run it with.
$node->append_conf('postgresql.conf', "gpuagg.device = auto\ngpuagg.device_program = '/nonexistent'\n");
$node->restart;
right_on($node, 'cpu', 'no program', expected => $expected, sql => array_sums_sql());
ok(wait_until(sub { device_stat($node, 'device_state') eq 'unavailable' }), 'state');
like(device_stat($node, 'device_reason'), qr{missing or not executable: /nonexistent: No such file},
	'reason');
$node->stop;
ok(wait_gone($node), 'none is left');
done_testing();
