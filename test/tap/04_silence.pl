# gpuaggd stopped with SIGSTOP while many sessions query and one drops a
# database: bounded, right, and nobody pays the time-out twice.  Continued, it
# serves on, and no region has been read by one session while leased to another.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use AsyncSql;
use GpuaggTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $sessions = 100;
my @patient = ('gpuagg.device = gpu', "gpuagg.device_timeout = '10min'");
my $node = gpuagg_node('silence', rows => 100_000,
	conf => "max_connections = 150\ngpuagg.total_staging_memory = '512MB'\ngpuagg.device_timeout = '5s'\n",
	env => { GPUAGG_SIM_DELAY_MS => 20 });

# Each session sums rows of its own, so that a stranger's region would show.
my $sql = q(
CREATE FUNCTION pg_temp.wrong(k int, n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE wrong int := 0;
BEGIN
	FOR j IN 1..n LOOP
		IF (SELECT gpu_reduce(array_agg(i + k)) FROM t) <> (SELECT sum(i + k) FROM t) THEN
			wrong := wrong + 1;
		END IF;
	END LOOP;
	RETURN wrong;
END $$;
);

sub start_sessions
{
	my ($n, $loops) = @_;
	return map {
		start_sql($node, "SET gpuagg.device = auto; SET gpuagg.device_timeout = '3s';"
			  . " $sql SELECT 'wrong', pg_temp.wrong($_, $loops)")
	} 1 .. $n;
}

sub end_sessions
{
	my ($what, @sessions) = @_;
	my $right = 0;

	for my $session (@sessions)
	{
		if (end_sql($session) =~ /^wrong\|0$/m)
		{
			$right++;
		}
		else
		{
			diag($session->{out}, $session->{err});
		}
	}
	is($right, scalar(@sessions), "$what: all answers are right");
	return;
}

ok(wait_device($node), 'the device is there');
$node->safe_psql('postgres', 'CREATE DATABASE victim');

# Stopped for good: the launcher kills it, and the device comes back.
sub stop_for_good
{
	my ($loops) = @_;
	my $pid = gpuaggd_pid($node);
	my $before = device_stat($node, 'device_batches');
	my @running = start_sessions($sessions, $loops);

	wait_batches($node, $before + 20);
	kill('STOP', $pid || die 'no device program') or die "kill: $!";
	my $start = time;
	$node->safe_psql('postgres', 'DROP DATABASE victim');
	cmp_ok(time - $start, '<', 60, 'DROP DATABASE does not hang');
	end_sessions('stopped for good', @running);
	ok(wait_until(sub { !-e "/proc/$pid" }), 'the silent gpuaggd has been killed');
	like(slurp_file($node->logfile), qr/device program does not answer/, 'and the log says so');
	return;
}

stop_for_good(4);

# All requests may have been answered before it was stopped.
for my $loops (8, 16, 32, 64)
{
	last if device_stat($node, 'fallbacks') > 0;
	ok(wait_device($node), 'once more: the device is there');
	$node->safe_psql('postgres', 'CREATE DATABASE victim');
	stop_for_good($loops);
}
cmp_ok(device_stat($node, 'fallbacks'), '>', 0, 'fallbacks are counted');
ok(wait_device($node), 'the device is back');
right_on($node, 'device', 'afterwards', set => [@patient]);

# One session alone, to time it: the breaker is open before it asks again.
my $others;
for (1 .. 5)
{
	my $pid = gpuaggd_pid($node) or die 'no device program';
	kill 'STOP', $pid;
	my $alone = start_sql($node, "SET gpuagg.device = auto; SET gpuagg.device_timeout = '10s';"
		  . ' SELECT gpu_reduce(array_agg(i)) FROM t; SELECT clock_timestamp() AS paid \gset
	SELECT gpu_reduce(array_agg(b)) FROM t; SELECT gpu_reduce(array_agg(f)) FROM t;'
		  . " SELECT extract(epoch FROM clock_timestamp() - :'paid')");
	$others = (split /\n/, end_sql($alone))[-1];
	is(device_stat($node, 'device_state') =~ /^(silent|starting|ready)$/ ? 1 : 0, 1, 'the view shows it');
	kill 'CONT', $pid;
	ok(wait_device($node), 'continued: the device is there');
	# else the session was held up
	last if $others < 5;
}
cmp_ok($others, '<', 5, 'the time-out is paid once');

# Stopped and continued, again and again, before the launcher loses patience.
my @running = start_sessions(30, 12);
for my $round (1 .. 4)
{
	sleep 0.7;
	my $now = gpuaggd_pid($node);
	next unless $now;
	kill 'STOP', $now;
	sleep 1.5 + 0.5 * $round;
	kill 'CONT', $now;
}
end_sessions('stopped and continued', @running);
ok(wait_until(sub { device_stat($node, 'device_state') eq 'ready' }), 'ready again');
right_on($node, 'device', 'after all', set => [@patient]);

# The machine rests, in the middle of a question, for longer than the launcher has
# patience: that is no silence of gpuaggd's.
my ($was, $is);
for (1 .. 20)
{
	my ($launcher) = launcher_pids($node);

	$was = gpuaggd_pid($node) or die 'no device program';
	my $awake = 0 - time();
	kill 'STOP', $was;
	sleep 1.3;
	kill 'STOP', $launcher;
	$awake += time();
	sleep 6;
	$awake -= time();
	kill 'CONT', $launcher;
	sleep 0.3;
	kill 'CONT', $was;
	$awake += time();
	wait_device($node);
	$is = gpuaggd_pid($node);
	# else the launcher was awake for longer than it should
	last if $awake < 3;
}
is($is, $was, 'rested: it is the same gpuaggd');
right_on($node, 'device', 'after a rest', set => [@patient]);

$node->stop;
ok(wait_gone($node), 'none is left');
done_testing();
