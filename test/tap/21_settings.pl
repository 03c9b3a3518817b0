# Settings of the device program: changed by SIGHUP; the idle time-out.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = gpuagg_node('settings', rows => 60_000, mode => 'gpu');
my $sums = core_sums($node);
my @sums = split /\|/, $sums;
my $engine = 'SELECT engine FROM gpuagg_last_query()';

# Of the device program; an empty string where there is none, or it is just ending.
sub arguments
{
	my $pid = gpuaggd_pid($node) or return '';
	my $line = eval { slurp_file("/proc/$pid/cmdline") } // '';

	return $line =~ tr/\0/ /r;
}

# Puts one line into postgresql.conf and has it read.
sub change
{
	my ($setting) = @_;

	$node->append_conf('postgresql.conf', $setting);
	$node->reload;
	return;
}

ok(wait_device($node), 'the device is usable');
like(arguments(), qr/--device-memory 0 /, 'no limit of device memory at first');

# Changed: gpuaggd is replaced by one with the new value.
my $pid = gpuaggd_pid($node);
my $session = background($node);
is($session->query_safe(sums_sql('gpu_sum')), $sums, 'a session uses the device');
change("gpuagg.device_memory = '48MB'");
ok(wait_until(sub { arguments() =~ /--device-memory 50331648 / }),
	'device_memory: gpuaggd has the new value');
isnt(gpuaggd_pid($node), $pid, 'it is another process');
is($session->query_safe(sums_sql('gpu_sum')), $sums, 'the session goes on');
is($session->query_safe($engine), 'device', 'on the device');
is(scalar(launcher_pids($node)), 1, 'there is one launcher');
unlike(slurp_file($node->logfile), qr/terminated by signal|does not end/, 'gpuaggd has ended cleanly');

# What gpuaggd does not care about does not disturb it.
$pid = gpuaggd_pid($node);
change('work_mem = 5MB');
change("gpuagg.device_timeout = '9min'");
ok($node->poll_query_until('postgres', "SELECT gpuagg_version() <> '' AND "
		  . "current_setting('gpuagg.device_timeout') = '9min' AND current_setting('work_mem') = '5MB'"),
	'the settings have been read');
is($session->query_safe(sums_sql('gpu_sum')), $sums, 'the session goes on');
is(gpuaggd_pid($node), $pid, 'other settings leave gpuaggd alone');

# A query that waits with staging memory in its hands is not idle: the change does not wait for its end.
my $gate = background($node);
my $holder = background($node);
my $holder_pid = $holder->query_safe('SELECT pg_backend_pid()');
$gate->query_safe('SELECT pg_advisory_lock(1)');
send_query($holder, q(SELECT gpu_sum(CASE WHEN id = 50000 THEN b + length(pg_advisory_lock(1)::text) ELSE b END) FROM t));
ok(wait_until(sub { mapped_regions($holder_pid) > 0 }), 'a query has staging memory');
ok($node->poll_query_until('postgres', "SELECT wait_event = 'advisory' FROM pg_stat_activity WHERE pid = $holder_pid"), 'and waits for a lock');
sleep 3; # the launcher asks every second
change("gpuagg.device_memory = '55MB'");
ok(wait_until(sub { arguments() =~ /--device-memory @{[ 55 << 20 ]} / }), '55 MB, while that query waits');
$gate->query_safe('SELECT pg_advisory_unlock(1)');
like($holder->query_safe('SELECT fallbacks > 0 FROM gpuagg_last_query()'), qr/^$sums[1]\s+t$/, 'the query goes on, on the CPU');
$holder->quit;
$gate->quit;

# While sessions work: they all get right answers.  SIGALRM ends pgbench as its time does.
my $script = check_script($node, "gpu_sum(b) = $sums[1]");
my $log = '';
my $pgbench = IPC::Run::start(pgbench_command($node, $script, '-c', '4', '-T', '600'),
	'>&', \$log, IPC::Run::timeout(900));
for my $mb (60, 70, 80)
{
	change("gpuagg.device_memory = '${mb}MB'");
	ok(wait_until(sub { arguments() =~ /--device-memory @{[ $mb << 20 ]} / }),
		"$mb MB, while sessions work");
}
$pgbench->signal('ALRM');
$pgbench->finish;
is($pgbench->result(0), 0, 'the sessions had right answers all the time')
  or diag($log);
is($node->safe_psql('postgres', q(SELECT coalesce(string_agg(key, ' '), '')
	FROM gpuagg_stat, jsonb_each(fallbacks_by_reason) WHERE key NOT IN ('lost', 'busy'))), '',
	'the only fallbacks were those of the restarts');

# Two lives of the settings: all of them arrive.
change("gpuagg.total_staging_memory = '96MB'\ngpuagg.visible_devices = '0'\ngpuagg.idle_timeout = 77");
my $all = qr/--total-staging 100663296 .*--visible-devices 0 --idle-timeout 77/;
ok(wait_until(sub { arguments() =~ $all }),
	'all settings arrive')
  or diag(arguments());

# The idle time-out gives the device back; a later query gets it again.
change('gpuagg.idle_timeout = 2');
# its launcher may have gone, which it does for nothing else
ok(wait_until(sub { arguments() =~ /--idle-timeout 2 / || !launcher_pids($node) }), 'idle_timeout is read');
is($session->query_safe(sums_sql('gpu_sum')), $sums, 'a query before');
ok(wait_until(sub { !gpuaggd_pids($node) && !launcher_pids($node) }),
	'idle: gpuaggd and launcher go');
ok(!-e $node->data_dir . '/pg_stat_tmp/gpuagg.sock', 'idle: no socket is left');
is(device_stat($node, 'device_state'), 'idle', 'idle: gpuagg_stat says so');
# it would be idle again before a query that is held up gets there
change('gpuagg.idle_timeout = 77');
is($session->query_safe(sums_sql('gpu_sum')), $sums, 'idle: the same session has a right answer');
is($session->query_safe($engine), 'device', 'idle: with the device');
change('gpuagg.idle_timeout = 2');
ok(wait_until(sub { !gpuaggd_pids($node) && !launcher_pids($node) }), 'idle again');
is($session->query_safe('SET gpuagg.device = auto; ' . array_sums_sql()), $sums,
	'mode auto: a right answer at once');
ok(wait_until(sub { $session->query_safe(array_sums_sql()) eq $sums or die 'wrong sums'; $session->query_safe($engine) eq 'device' }),
	'mode auto: the device comes again');

# A session whose lease is in use is not idle, however slowly its rows come.
is($session->query_safe('SET gpuagg.device = gpu; SELECT gpu_sum(b) FROM t '
		  . 'WHERE id % 20000 <> 1 OR pg_sleep(1) IS NOT NULL'), $sums[1], 'a slow query');
is($session->query_safe('SELECT engine, fallbacks FROM gpuagg_last_query()'), 'device|0', 'a slow query: on the device, which has stayed');
$session->quit;

# The device program: another path, then the right one again.
my $right = $ENV{GPUAGGD_SIM};
change("gpuagg.device_program = '/nowhere/gpuaggd'");
ok($node->poll_query_until('postgres',
		"SELECT (SELECT count(*) FROM gpuagg_devices()) > 0 AND device_reason LIKE '%/nowhere/gpuaggd%' FROM gpuagg_stat"),
	'a program that is missing: the reason names it');
right_on($node, 'cpu', 'a program that is missing', sql => array_sums_sql(),
	set => ['gpuagg.device = auto']);
change("gpuagg.device_program = '$right'\ngpuagg.idle_timeout = 77");
is($node->safe_psql('postgres', 'SELECT gpuagg_restart()'), 't', 'the right one again');
right_on($node, 'device', 'the right one again');
stop_and_look($node);

done_testing();
