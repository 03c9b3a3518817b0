# gpuaggd killed: in mid-query, while idle, and with the launcher ended instead.
# The answer is right, the fallback counted, the device back for a later query.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use AsyncSql;
use GpuaggTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = gpuagg_node('kill', rows => 400_000);
my $expected = core_sums($node);
my $sql = sums_sql('gpu_sum');
my $last = q(SELECT engine, fallbacks, reason FROM gpuagg_last_query());

# Starts a script, and kills gpuaggd when it has done some of the query's batches and holds others.
sub kill_at_work
{
	my ($script) = @_;
	my $batches = device_stat($node, 'device_batches');

	hold_device(6);
	my $session = start_sql($node, $script);
	wait_held() && wait_batches($node, $batches) or diag('no batch reaches the device');
	my $pid = kill_gpuaggd($node);
	release_device();
	return ($session, $pid);
}

ok(wait_device($node), 'the device is there');

for my $mode (qw(auto gpu))
{
	my $lost = device_stat($node, 'fallbacks.lost');
	my ($session, $pid) = kill_at_work(
		"SET gpuagg.device = $mode; " . ($mode eq 'auto' ? array_sums_sql() : $sql) . "; $last;");
	my ($answer, $report) = split /\n/, end_sql($session);
	is($answer, $expected, "killed in mid-query, mode $mode: right answer");
	is($session->{err}, '', "mode $mode: no error");
	like($report, qr/^both\|[1-9]\d*\|/, "mode $mode: the report of the query shows it");
	cmp_ok(device_stat($node, 'fallbacks.lost'), '>', $lost, "mode $mode: counted as lost");

	# Mode gpu waits for the next gpuaggd.
	my $start = time;
	right_on($node, 'device', "after the kill in mode $mode", expected => $expected,
		set => ['gpuagg.device = gpu']);
	cmp_ok(time - $start, '<', 60, 'the device is back within seconds');
	isnt(gpuaggd_pid($node), $pid, 'by another process');
}

# Killed while a session is idle: the session notices without a fallback.
my $fallbacks = device_stat($node, 'fallbacks');
ok(wait_device($node), 'the device is there');
my $lock = $node->background_psql('postgres');
$lock->query_safe('SELECT pg_advisory_lock(1)');
my $idle = start_sql($node, "SET gpuagg.device = gpu; SELECT gpu_sum(i) FROM t;"
	  . " SELECT pg_advisory_lock(1); SELECT gpu_sum(i) FROM t;"
	  . " SELECT engine, reason FROM gpuagg_last_query()");
my $idler = q(SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory');
wait_until(sub { $node->safe_psql('postgres', $idler) > 0 });
kill_gpuaggd($node);
$lock->quit;
my $sum = $node->safe_psql('postgres', 'SELECT sum(i) FROM t');
like(end_sql($idle), qr/^$sum\n+$sum\ndevice\|$/, 'killed while idle: the session goes on on the device');
is(device_stat($node, 'fallbacks'), $fallbacks, 'without a fallback');

# A cursor is open over the death and the return of gpuaggd.
ok(wait_device($node), 'the device is back');
$lock = $node->background_psql('postgres', on_error_stop => 0);
$lock->query_safe('SET gpuagg.device = gpu');
$lock->query_safe('BEGIN');
$lock->query_safe('DECLARE c CURSOR FOR SELECT id, gpu_running_sum(b) OVER (ORDER BY id) FROM t');
my @fetched = $lock->query_safe('FETCH 1 FROM c');
kill_gpuaggd($node);
$lock->query_safe('MOVE 199998 FROM c');
push @fetched, $lock->query_safe('FETCH 1 FROM c');
ok(wait_device($node), 'the device is back, the cursor still open');
$lock->query_safe('MOVE 199999 FROM c');
push @fetched, $lock->query_safe('FETCH 1 FROM c');
$lock->quit;
is(join(' ', @fetched), $node->safe_psql('postgres', q(SELECT string_agg(id || '|' || s, ' ' ORDER BY id)
	FROM (SELECT id, sum(b) OVER (ORDER BY id) AS s FROM t) x WHERE id IN (1, 200000, 400000))),
	'a cursor over the death of gpuaggd: right rows');

# In a parallel query, where each process has its own connection.
ok(wait_device($node), 'the device is back');
my ($parallel) = kill_at_work(qq(SET gpuagg.device = gpu; SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
$sql; $last));
is((split /\n/, end_sql($parallel))[0], $expected, 'killed in a parallel query: right answer')
  or diag($parallel->{err});

# The launcher terminated: it takes gpuaggd with it, and both come back on demand.
ok(wait_device($node), 'the device is back');
my ($launcher) = launcher_pids($node);
$node->safe_psql('postgres', "SELECT pg_terminate_backend($launcher)");
ok(wait_until(sub { !launcher_pids($node) && !gpuaggd_pids($node) }),
	'the launcher is terminated, gpuaggd with it');
right_on($node, 'device', 'after that', expected => $expected, set => ['gpuagg.device = gpu']);

# pg_cancel_backend() is no reason to end badly.
($launcher) = launcher_pids($node);
my $uncancelled = gpuaggd_pid($node);
$node->safe_psql('postgres', "SELECT pg_cancel_backend($launcher)");
right_on($node, 'device', 'after cancelling the launcher', expected => $expected,
	set => ['gpuagg.device = gpu']);
is(gpuaggd_pid($node), $uncancelled, 'after cancelling the launcher: the same gpuaggd');

# A backend that dies takes everything down and up again; the device comes with it.
$node->append_conf('postgresql.conf', "restart_after_crash = on\n");
$node->reload;
my $old = gpuaggd_pid($node);
my $victim = start_sql($node, "SET gpuagg.device = gpu; $sql; SELECT pg_sleep(600)");
my $victim_pid = '';
wait_until(
	sub {
		$victim_pid = $node->safe_psql('postgres',
			q(SELECT pid FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(600)%'));
		$victim_pid ne '';
	});
kill 'KILL', $victim_pid;
eval { end_sql($victim) };
ok(wait_until(sub { !-e "/proc/$old" }), 'after the crash of a backend the old gpuaggd is gone');
wait_started($node);
right_on($node, 'device', 'after the crash of a backend', expected => $expected,
	set => ['gpuagg.device = gpu']);
is(scalar(gpuaggd_pids($node)), 1, 'one gpuaggd');

$node->stop;
ok(wait_gone($node), 'none is left after the stop');
done_testing();
