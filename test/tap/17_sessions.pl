# Prepared statements, cursors held open, subtransactions rolled back.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Utils;
use Test::More;

# Room for one region only: a lease that is kept shows in the other session.
my $node = gpuagg_node(
	'sessions',
	rows => 60_000,
	mode => 'gpu',
	conf => "gpuagg.total_staging_memory = '32MB'\nmax_prepared_transactions = 2",
	env => { GPUAGG_SIM_DELAY_MS => 40 });

ok(wait_device($node), 'the device is usable');
my $pid = gpuaggd_pid($node);
my @sums = split /\|/, core_sums($node);
my $engine = 'SELECT engine FROM gpuagg_last_query()';

# Whether the one region can be had, once requests that were given up have left it.
sub region_is_free
{
	my ($what) = @_;
	my ($answer, $last);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	wait_until(
		sub {
			($answer, $last) = run_query($node, 'SELECT gpu_sum(b) FROM t');
			return $answer ne $sums[1] || $last->{fallbacks} == 0;
		});
	is("$answer $last->{engine} $last->{fallbacks}", "$sums[1] device 0", "$what: no lease is held");
	return;
}

# Prepared statements and changes of gpuagg.device.
my $session = background($node);
for my $plan ('force_generic_plan', 'force_custom_plan', 'auto')
{
	$session->query_safe("DEALLOCATE ALL; SET plan_cache_mode = $plan");
	$session->query_safe('PREPARE p(int) AS SELECT gpu_sum(f) FROM t WHERE id > $1');
	for my $mode ('gpu', 'cpu', 'auto', 'cpu', 'gpu')
	{
		my $expected = $mode eq 'gpu' ? 'device' : 'cpu';

		$session->query_safe("SET gpuagg.device = $mode");
		is($session->query_safe('EXECUTE p(0)'), $sums[2], "$plan, mode $mode: right answer");
		is($session->query_safe($engine), $expected, "$plan, mode $mode: engine");
	}
	is($session->query_safe('EXECUTE p(1000000)'), '', "$plan: no rows");
}
is($session->query_safe('EXPLAIN (COSTS OFF) EXECUTE p(5)') =~ /Aggregate/, 1, 'EXPLAIN EXECUTE');
region_is_free('after prepared statements');

# A cursor over a window function: read a little, then left alone.
my $running = 'SELECT id, gpu_running_sum(b) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) AS s FROM t';
$session->query_safe('SET gpuagg.device = gpu; BEGIN');
$session->query_safe("DECLARE c CURSOR FOR $running");
my $first = $session->query_safe('FETCH 3 FROM c');
is($first, $node->safe_psql('postgres', 'SELECT id, sum(b) OVER (ORDER BY id) FROM t LIMIT 3'),
	'a cursor: first rows');
region_is_free('a cursor idles');
$session->query_safe('MOVE 30000 FROM c');
region_is_free('a cursor idles in the middle');
is($session->query_safe('FETCH 1 FROM c'),
	$node->safe_psql('postgres', 'SELECT 30004, sum(b) FROM t WHERE id <= 30004'),
	'a cursor: a row in the middle');
$session->query_safe('MOVE FORWARD ALL FROM c');
is($session->query_safe('SELECT gpu_sum(i) FROM t'), $sums[0], 'another query meanwhile');
$session->query_safe('CLOSE c; COMMIT');

# A cursor over groups, an aggregate per group and in LATERAL subqueries.
$session->query_safe('BEGIN; SET LOCAL enable_hashagg = off');
$session->query_safe('DECLARE c CURSOR FOR SELECT g, gpu_sum(b) FROM t GROUP BY g ORDER BY g');
is($session->query_safe('FETCH 1 FROM c'),
	$node->safe_psql('postgres', 'SELECT 0, sum(b) FROM t WHERE g = 0'), 'a cursor over groups');
region_is_free('a cursor over groups idles');
is($session->query_safe('FETCH 2 FROM c'),
	$node->safe_psql('postgres', 'SELECT g, sum(b) FROM t WHERE g IN (1, 2) GROUP BY g ORDER BY g'),
	'a cursor over groups goes on');
$session->query_safe('ROLLBACK');
region_is_free('a cursor was rolled back');

# A cursor over hashed groups: all of them wait to be read.  The group of the
# first row has the lease; in one of two cases it is not the first to be read.
for my $from (1, 2)
{
	my $hashed = "SELECT g, gpu_sum(b) FROM t WHERE id >= $from GROUP BY g";

	$session->query_safe("BEGIN; SET LOCAL enable_sort = off; DECLARE c CURSOR FOR $hashed");
	like($session->query_safe("EXPLAIN (COSTS OFF) $hashed"), qr/HashAggregate/, 'groups are hashed');
	my @groups = split /\n/, $session->query_safe('FETCH 1 FROM c');
	region_is_free('a cursor over hashed groups idles');
	push @groups, split /\n/, $session->query_safe('FETCH ALL FROM c');
	is(join("\n", sort @groups),
		$node->safe_psql('postgres', "SELECT g, sum(b) FROM t WHERE id >= $from GROUP BY g ORDER BY g"),
		'a cursor over hashed groups goes on');
	$session->query_safe('COMMIT');
}

# WITH HOLD.
$session->query_safe("BEGIN; DECLARE held CURSOR WITH HOLD FOR $running");
$session->query_safe('FETCH 2 FROM held');
$session->query_safe('COMMIT');
region_is_free('a cursor WITH HOLD');
$session->query_safe('MOVE ABSOLUTE 59999 FROM held');
is($session->query_safe('FETCH 1 FROM held'), "60000|$sums[1]", 'a cursor WITH HOLD: the last row');
$session->query_safe('CLOSE held');

# A savepoint: cursors opened in it, and queries that failed in it.
$session->query_safe("BEGIN; DECLARE outside CURSOR FOR $running; SAVEPOINT s");
$session->query_safe("DECLARE inside CURSOR FOR $running");
$session->query_safe('FETCH 5 FROM outside; FETCH 5 FROM inside');
$session->query_safe('ROLLBACK TO s');
region_is_free('a savepoint was rolled back');
is($session->query_safe('FETCH 1 FROM outside'),
	$node->safe_psql('postgres', 'SELECT 6, sum(b) FROM t WHERE id <= 6'),
	'the cursor outside goes on');
my ($out, $failed) = $session->query(
	'SELECT gpu_sum(1000 / (60000 - id)) FROM t');
ok($failed && $session->{stderr} =~ /division by zero/, 'a query fails with batches in flight');
$session->{stderr} = '';
$session->query_safe('ROLLBACK TO s');
region_is_free('a query failed in a savepoint');
is($session->query_safe('SELECT gpu_sum(b) FROM t'), $sums[1], 'the next query is right');
is($session->query_safe('FETCH 1 FROM outside'),
	$node->safe_psql('postgres', 'SELECT 7, sum(b) FROM t WHERE id <= 7'),
	'the cursor outside still goes on');
$session->query_safe('COMMIT');

# Subtransactions rolled back with batches in flight, in a loop, and what the
# transaction computes around them.
is( $session->query_safe(
		q(CREATE FUNCTION pg_temp.failing(n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE failures int := 0; wrong int := 0; expected numeric; got numeric;
BEGIN
	SELECT sum(b) INTO expected FROM t;
	FOR k IN 1..n LOOP
		BEGIN
			PERFORM gpu_sum(b / (59999 - id)) FROM t;
		EXCEPTION WHEN division_by_zero THEN failures := failures + 1;
		END;
		BEGIN
			PERFORM count(s) FROM (SELECT gpu_running_sum(f / (59999 - id))
				OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) AS s FROM t) q;
		EXCEPTION WHEN division_by_zero THEN failures := failures + 1;
		END;
		SELECT gpu_sum(b) INTO got FROM t;
		IF got IS DISTINCT FROM expected THEN wrong := wrong + 1; END IF;
	END LOOP;
	RETURN failures || ' failures, ' || wrong || ' wrong';
END $$;
SELECT pg_temp.failing(12))), '24 failures, 0 wrong', 'subtransactions rolled back in a loop');
is($session->query_safe($engine) =~ /device|both/, 1, 'with the device in use');
region_is_free('after the loop');
is($session->query_safe(
		"BEGIN; SELECT gpu_sum(b) FROM t; PREPARE TRANSACTION 'two'; COMMIT PREPARED 'two'"),
	$sums[1], 'a prepared transaction');
$session->quit;

# A session that ends with a cursor open, and one with a query under way.
$session = background($node);
$session->query_safe("BEGIN; DECLARE c CURSOR FOR $running; FETCH 5 FROM c");
$session->quit;
region_is_free('a session ended with a cursor open');
is(gpuaggd_pid($node), $pid, 'gpuaggd is the same process');
is(device_stat($node, 'fallbacks.lost') + device_stat($node, 'fallbacks.refused')
	  + device_stat($node, 'fallbacks.timeout'), 0, 'no request went wrong');
stop_and_look($node);

done_testing();
