# The budget of staging memory: spent, the CPU takes over for the batch, counted.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

# Room for one region of 32 MB, as batches of so many rows take.
my $node = gpuagg_node(
	'staging',
	mode => 'gpu',
	conf => "gpuagg.total_staging_memory = '32MB'\ngpuagg.device_timeout = '10min'\ngpuagg.batch_rows = 4000000");

ok(wait_device($node), 'the device is usable');
my @sums = split /\|/, core_sums($node);
my ($answer, $last) = run_query($node, 'SELECT gpu_sum(b) FROM t');
is("$answer|$last->{engine}|$last->{fallbacks}", "$sums[1]|device|0",
	'a session alone uses the device');

my $device = device_stat($node, 'device_batches');
my $script = check_script($node, "gpu_sum(b) = $sums[1]");
# One session has the region and keeps it while the others begin.
my $first = background($node);
hold_device();
send_query($first, 'SELECT gpu_sum(b) FROM t');
wait_held();
my $log = '';
my $pgbench = IPC::Run::start(pgbench_command($node, $script, '-c', '12', '-j', '2', '-t', '6'),
	'>&', \$log, IPC::Run::timeout(600));
wait_until(sub { device_stat($node, 'fallbacks.no_staging') > 12 });
release_device();
$pgbench->finish;
is($pgbench->result(0), 0, 'twelve sessions with a budget for one: all answers are right')
  or diag($log);
$first->quit;
cmp_ok(device_stat($node, 'fallbacks.no_staging'), '>', 0, 'those without are counted');
cmp_ok(device_stat($node, 'device_batches'), '>', $device, 'some have used the device');
is(device_stat($node, "fallbacks - coalesce((fallbacks_by_reason->>'no_staging')::bigint, 0)"),
	0, 'there were no other fallbacks');

($answer, $last) = run_query($node, 'SELECT gpu_sum(b) FROM t');
is("$answer|$last->{engine}|$last->{fallbacks}", "$sums[1]|device|0",
	'the budget is free again afterwards');

# Three aggregates of one query in one session compete as well.
$last = right_on($node, 'both', 'three batches, one region');
like($last->{reason}, qr/staging memory/, 'the reason is told');

# A session's own budget: room for one of three regions.
$node->append_conf('postgresql.conf', "gpuagg.total_staging_memory = '256MB'");
$node->restart;
ok(wait_device($node), 'the device is usable with a larger budget');
right_on($node, 'device', 'three batches, three regions');
$last = right_on($node, 'both', "a session's own budget",
	set => ["gpuagg.staging_memory = '32MB'"]);
like($last->{reason}, qr/staging memory/, "a session's own budget: the reason is told");

# A region larger than a session may have: eight million rows of eight bytes.
($answer, $last) = run_query($node, 'SELECT gpu_sum(b) FROM t',
	set => [ 'gpuagg.batch_rows = 8388608', "gpuagg.staging_memory = '32MB'" ]);
is($answer, $sums[1], 'a region too large');
ok($last->{engine} eq 'device' || $last->{reason} =~ /staging memory/,
	'a region too large: a smaller one is used, or the reason is told');
# A lease that has been given back is mapped no more, even while its statement goes on.
my $maps = q(regexp_matches(pg_read_file('/proc/self/maps'), 'gpuagg-staging', 'g'));
$node->safe_psql('postgres', qq(
CREATE FUNCTION mapped_afterwards() RETURNS text LANGUAGE plpgsql AS \$\$
BEGIN
	RETURN (SELECT gpu_sum(b) FROM t) || '|' || (SELECT count(*) FROM $maps);
END \$\$;));
($answer, $last) = run_query($node, 'SELECT mapped_afterwards()');
is("$answer|$last->{engine}", "$sums[1]|0|device", 'a lease given back is unmapped');

# A cursor that fails in a subtransaction has no lease while its transaction rests.
for my $query ('SELECT gpu_sum(b / (id - 90000)) FROM t',
	'SELECT gpu_running_sum(x) OVER (ROWS UNBOUNDED PRECEDING)
	 FROM (SELECT b / (id - 90000) AS x FROM t OFFSET 0) s')
{
	my $session = background($node);
	my $pid = $session->query_safe('SELECT pg_backend_pid()');

	$session->query("BEGIN; DECLARE c CURSOR FOR $query; SAVEPOINT s;");
	like($session->query('FETCH ALL FROM c; ROLLBACK TO s;') . $session->{stderr},
		qr/division by zero/, 'a cursor fails');
	$session->{stderr} = '';
	is(mapped_regions($pid), 0, 'the cursor of an aborted subtransaction keeps no lease');
	is($session->query_safe('SELECT gpu_sum(b) FROM t; COMMIT;'), $sums[1], 'its session goes on');
	$session->quit;
}
stop_and_look($node);

# A lease that is idle for long ends: the CPU does the batch that had it, the next has a new one.
my $program = PostgreSQL::Test::Utils::tempdir . '/gpuaggd-impatient';
append_to_file($program, qq(#!/bin/sh\nexec "$ENV{GPUAGGD_SIM}" --lease-timeout 1 "\$@"\n));
chmod 0755, $program;
$node->append_conf('postgresql.conf', "gpuagg.device_program = '$program'");
$node->start;
ok(wait_device($node), 'the device is usable where idle leases end soon');
my $gate = background($node);
my $idle = background($node, 'gpuagg.batch_rows = 5000');
my $idler = $idle->query_safe('SELECT pg_backend_pid()');
$gate->query_safe('SELECT pg_advisory_lock(1)');
send_query($idle, q(SELECT gpu_sum(CASE WHEN id = 50000 THEN b + length(pg_advisory_lock(1)::text)
	ELSE b END) FROM t));
my $owner = gpuaggd_pid($node);
ok(wait_until(sub { mapped_regions($idler) > 0 }), 'a query has a lease');
ok($node->poll_query_until('postgres', "SELECT wait_event = 'advisory' FROM pg_stat_activity WHERE pid = $idler"), 'and waits for a lock');
ok(wait_until(sub { mapped_regions($owner) == 0 }), 'the lease is taken back');
$gate->query_safe('SELECT pg_advisory_unlock(1)');
like($idle->query_safe('SELECT engine, fallbacks, reason FROM gpuagg_last_query()'),
	qr/^$sums[1]\s+both\|[1-9]\d*\|.*staging memory/, 'the query goes on');
# ten batches at most came before the lock
cmp_ok($idle->query_safe('SELECT device_batches FROM gpuagg_last_query()'), '>', 10, 'with a new lease');
$idle->quit;
$gate->quit;
stop_and_look($node);

done_testing();
