# Queries cancelled and sessions ended with batches in flight: at once, and what
# comes next is right.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use Test::More;
use Time::HiRes qw(time);

# Eight regions in all.  What is held ends by what is done to it alone.
my $node = gpuagg_node(
	'cancel',
	rows => 60_000,
	mode => 'gpu',
	conf => "gpuagg.total_staging_memory = '256MB'\ngpuagg.device_timeout = '10min'");

ok(wait_device($node), 'the device is usable');
my $pid = gpuaggd_pid($node);
my @sums = split /\|/, core_sums($node);
my $session = background($node);
my $backend = $session->query_safe('SELECT pg_backend_pid()');
my $engine = 'SELECT engine FROM gpuagg_last_query()';
my %slow = (
	'gpu_sum' => 'SELECT gpu_sum(f) FROM t',
	'gpu_running_sum' => 'SELECT count(s) FROM (SELECT gpu_running_sum(f) OVER '
	  . '(ORDER BY id ROWS UNBOUNDED PRECEDING) AS s FROM t) q',
	'grouped gpu_sum' => 'SELECT g, gpu_sum(f) FROM t GROUP BY g');

# Seconds until the session has answered everything.
sub answered_after
{
	my $start = time();

	$session->query('SELECT 1');
	return time() - $start;
}

sub next_is_right
{
	my ($what) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	release_device();
	is($session->query_safe('SELECT gpu_sum(b) FROM t WHERE id <= 20000'),
		$node->safe_psql('postgres', 'SELECT sum(b) FROM t WHERE id <= 20000'),
		"$what: the next query is right");
	is($session->query_safe($engine), 'device', "$what: and uses the device");
	return;
}

my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; '
  . 'SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0';

for my $what (sort keys(%slow), 'parallel gpu_sum')
{
	if ($what =~ /parallel/)
	{
		$slow{$what} = $slow{gpu_sum};
		$session->query_safe($parallel);
		like($session->query_safe("EXPLAIN (COSTS OFF) $slow{$what}"), qr/Workers Planned: 2/,
			"$what: the plan");
	}

	# statement_timeout
	$session->query_safe("SET statement_timeout = '300ms'");
	hold_device();
	my $start = time();
	$session->query($slow{$what});
	my $took = time() - $start;
	like($session->{stderr}, qr/canceling statement due to statement timeout/, "$what: statement_timeout");
	cmp_ok($took, '<', 60, sprintf('%s: ends %.2f s after its start', $what, $took));
	end_timeout($session);
	next_is_right("$what, timed out");

	# pg_cancel_backend
	hold_device();
	send_query($session, $slow{$what});
	ok(wait_held(), "$what: at work");
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($backend)");
	$took = answered_after();
	like($session->{stderr}, qr/canceling statement due to user request/, "$what: pg_cancel_backend");
	cmp_ok($took, '<', 60, sprintf('%s: ends %.2f s after it', $what, $took));
	$session->{stderr} = '';
	next_is_right("$what, cancelled");
}

$session->query_safe('RESET max_parallel_workers_per_gather');

# Cancelled again and again: requests that nobody waits for do not pile up.
hold_device();
for (1 .. 8)
{
	$session->query("SET statement_timeout = '100ms'");
	$session->query($slow{gpu_sum});
	$session->{stderr} = '';
}
end_timeout($session);
release_device();
is($session->query_safe($slow{gpu_sum}), $sums[2], 'cancelled eight times: the next query is right');
ok(wait_until(sub { $session->query_safe('SELECT gpu_sum(b) FROM t WHERE id <= 20000');
			$session->query_safe($engine) eq 'device' }),
	'and once they have ended, the device is used again');

# Inside a transaction with a savepoint.
$session->query_safe('BEGIN; SAVEPOINT s');
hold_device();
send_query($session, $slow{gpu_sum});
ok(wait_held(), 'in a savepoint: at work');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($backend)");
$session->query('ROLLBACK TO s');
$session->{stderr} = '';
next_is_right('cancelled in a savepoint');
$session->query_safe('COMMIT');

# Terminated.
my $victim = background($node);
my $victim_pid = $victim->query_safe('SELECT pg_backend_pid()');
hold_device();
send_query($victim, $slow{gpu_sum});
ok(wait_held(), 'a session at work');
my $start = time();
$node->safe_psql('postgres', "SELECT pg_terminate_backend($victim_pid)");
ok(wait_until(sub { !-e "/proc/$victim_pid" }), 'pg_terminate_backend');
cmp_ok(time() - $start, '<', 60, 'the session ends at once');
eval { $victim->quit };
next_is_right('another session was terminated');

# As many regions as one session may have are to be had again.
my ($answer, $last) = run_query($node,
	'SELECT gpu_sum(i), gpu_sum(b), gpu_sum(f), gpu_sum(i + 1) FROM t WHERE id <= 20000');
is("$last->{engine} $last->{fallbacks}", 'device 0', 'regions are free afterwards');
is(gpuaggd_pid($node), $pid, 'gpuaggd is the same process');
is(device_stat($node, 'fallbacks.timeout') + device_stat($node, 'fallbacks.lost')
	  + device_stat($node, 'fallbacks.refused'), 0, 'no request went wrong');
$session->quit;
stop_and_look($node);

done_testing();
