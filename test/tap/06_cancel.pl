# Queries cancelled, timed out and terminated with batches in flight, and cursors
# left open: leases come back, so that another session can have them at once.

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

# There is staging memory for one lease only.  A query that is held ends by what is done to it
# alone.
my $node = gpuagg_node('cancel', rows => 400_000,
	conf => "gpuagg.total_staging_memory = '32MB'\ngpuagg.idle_timeout = 0\n"
	  . "max_parallel_workers_per_gather = 0\ngpuagg.device_timeout = '10min'\n");
my $sum = $node->safe_psql('postgres', 'SELECT sum(i) FROM t');
my $query = 'SELECT gpu_sum(i) FROM t';

# The whole of the staging memory can be had, once what is in flight has ended.
sub all_is_free
{
	my ($what) = @_;
	my $answer;

	wait_until(
		sub {
			$answer = $node->safe_psql('postgres', "SET gpuagg.device = gpu; $query;"
				  . ' SELECT engine, fallbacks FROM gpuagg_last_query()');
			$answer eq "$sum\ndevice|0";
		});
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($answer, "$sum\ndevice|0", "$what: the staging memory is free");
	return;
}

all_is_free('at first');
my $gpuaggd = gpuaggd_pid($node);

# A session's first query may find the memory still leased to the one before; its second does not.
my $gate = $node->background_psql('postgres');

for my $round ([ $query, 3 ], [ 'SELECT gpu_running_sum(i) OVER (ORDER BY id) FROM t', 0 ])
{
	my ($query_of_round, $more) = @$round;

	for my $way (qw(cancel terminate))
	{
		$gate->query_safe('SELECT pg_advisory_lock(1)');
		my $session = start_sql($node, "SET gpuagg.device = gpu;\n$query;\nSELECT pg_advisory_lock_shared(1);\n"
			  . "$query_of_round;\nSELECT 'not reached';");
		my $pid = sql_pid($node, $session);
		$node->poll_query_until('postgres', "SELECT wait_event = 'advisory' FROM pg_stat_activity WHERE pid = $pid")
		  or die 'the session does not come to the gate';
		hold_device($more);
		$gate->query_safe('SELECT pg_advisory_unlock(1)');
		wait_held() or die 'no batch reaches the device';
		my $start = time;
		$node->safe_psql('postgres', "SELECT pg_${way}_backend($pid)");
		end_sql($session);
		cmp_ok(time - $start, '<', 60, "${way}: ends soon");
		like($session->{err}, $way eq 'cancel' ? qr/canceling statement/ : qr/terminating connection/,
			"$way: with batches in flight");
		release_device();
		all_is_free($way);
	}
}

$gate->quit;

# Cancelled, but the session stays: the lease must not.
my $session = $node->background_psql('postgres', on_error_stop => 0);
$session->query_safe('SET gpuagg.device = gpu');
$session->query_safe("SET statement_timeout = '300ms'");
hold_device();
for my $round (1 .. 5)
{
	$session->query($query);
	$session->{stderr} = '';
}
release_device();
all_is_free('statement_timeout, the session staying');
hold_device();
end_timeout($session);
$session->query_safe('BEGIN');
for my $round (1 .. 3)
{
	$session->query_safe('SAVEPOINT s');
	$session->query("SET statement_timeout = '300ms'");
	$session->query($query);
	like($session->{stderr}, qr/canceling statement due to statement timeout/, 'timed out in a subtransaction');
	# the setting goes with the subtransaction, and may end that statement before
	ok(wait_until(sub { $session->query('ROLLBACK TO s'); $session->query("SELECT 'goes on'") eq 'goes on' }), 'and rolled back');
	$session->{stderr} = '';
}
release_device();
all_is_free('rolled-back subtransactions, the transaction open');
$session->query_safe('ROLLBACK');
is($session->query_safe($query), $sum, 'the session itself goes on');

# A cursor that was cancelled while it waited for the device: nobody waits for that again.
$session->query_safe('BEGIN');
$session->query_safe('DECLARE c CURSOR FOR SELECT id, gpu_running_sum(i) OVER (ORDER BY id) FROM t');
$session->query_safe('FETCH 1 FROM c');
$session->query_safe('SAVEPOINT s');
$session->query_safe("SET LOCAL statement_timeout = '300ms'");
hold_device();
$session->query('MOVE 390000 FROM c');
like($session->{stderr}, qr/canceling statement due to statement timeout/, 'a cursor waits for the device');
$session->{stderr} = '';
$session->query_safe('ROLLBACK TO s');
release_device();
is($session->query_safe("SELECT 'another'"), 'another', 'and the next statement does not');
$session->query_safe('ROLLBACK');
all_is_free('a cursor cancelled');

# Cursors that idle.
$session->query_safe('BEGIN');
$session->query_safe('DECLARE c CURSOR FOR SELECT id, gpu_running_sum(i) OVER (ORDER BY id) FROM t');
$session->query_safe('DECLARE d CURSOR FOR SELECT g, gpu_sum(i) FROM t GROUP BY g ORDER BY g');
$session->query_safe('FETCH 10 FROM c');
$session->query_safe('FETCH 1 FROM d');
all_is_free('cursors open');
my $middle = $node->safe_psql('postgres', 'SELECT sum(i) FROM t WHERE id <= 300000');
$session->query_safe('MOVE 299989 FROM c');
is($session->query_safe('FETCH 1 FROM c'), "300000|$middle", 'the cursor goes on');
$session->query_safe('CLOSE d');
all_is_free('one cursor closed');
$session->query_safe('COMMIT');
$session->quit;
all_is_free('session ended');

# LIMIT ends a query with batches read ahead; an error ends one in mid-row.
is($node->safe_psql('postgres', 'SET gpuagg.device = gpu;'
	  . ' SELECT count(*) FROM (SELECT gpu_running_sum(i) OVER (ORDER BY id) FROM t LIMIT 7) x'),
	7, 'LIMIT');
all_is_free('LIMIT');
my ($code, $out, $err) = $node->psql('postgres',
	'SET gpuagg.device = gpu; SELECT gpu_sum(1000 / (390000 - id)) FROM t');
like($err, qr/division by zero/, 'an error in mid-query');
all_is_free('an error');

# Many connections come and go: gpuaggd keeps no descriptor of theirs.
my $before = descriptors($gpuaggd);
$node->safe_psql('postgres', "SET gpuagg.device = gpu; $query") for 1 .. 10;
ok(wait_until(sub { descriptors($gpuaggd) <= $before }), 'no descriptor is left behind');
is(gpuaggd_pid($node), $gpuaggd, 'all by one gpuaggd');

stop_and_look($node);
done_testing();
