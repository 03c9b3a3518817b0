# Ten thousand small queries in one session: no growth of descriptors or memory.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use Test::More;

my $node = gpuagg_node('small', rows => 30_000, mode => 'gpu');

ok(wait_device($node), 'the device is usable');
my $session = background($node);
my $backend = $session->query_safe('SELECT pg_backend_pid()');
my $gpuaggd = gpuaggd_pid($node);

$session->query_safe(
	q(CREATE TABLE s AS SELECT id, i, b, f FROM t WHERE id <= 20;
CREATE FUNCTION small(n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE wrong int := 0; got numeric; expected numeric;
BEGIN
	FOR k IN 1..n LOOP
		CASE k % 4
			WHEN 0 THEN
				SELECT gpu_sum(b + k), sum(b + k) INTO got, expected FROM s;
			WHEN 1 THEN
				SELECT gpu_sum(f), sum(f) INTO got, expected FROM s WHERE id > k % 20;
			WHEN 2 THEN
				SELECT sum(ours), sum(core) INTO got, expected FROM (SELECT
					gpu_running_sum(i) OVER w AS ours, sum(i) OVER w AS core
					FROM s WINDOW w AS (ORDER BY id ROWS UNBOUNDED PRECEDING)) q;
			ELSE
				EXECUTE 'SELECT gpu_sum(i), sum(i) FROM s WHERE id <> ' || k % 20
					INTO got, expected;
		END CASE;
		IF got IS DISTINCT FROM expected THEN wrong := wrong + 1; END IF;
	END LOOP;
	RETURN wrong || ' wrong';
END $$));

sub measure
{
	my %m = (
		'descriptors of the backend' => descriptors($backend),
		'descriptors of gpuaggd' => descriptors($gpuaggd),
		'memory of the backend' => resident_kb($backend),
		'memory of gpuaggd' => resident_kb($gpuaggd));

	$m{"the backend's memory contexts"} = int($session->query_safe(
		q(SELECT sum(total_bytes) FROM pg_backend_memory_contexts)) / 1024);
	$m{"the backend's mappings"} = mappings($backend);
	return %m;
}

sub mappings
{
	my ($pid) = @_;

	open(my $maps, '<', "/proc/$pid/maps") or die "maps: $!";
	return scalar grep { /gpuagg-staging/ } <$maps>;
}

# The first thousand fill caches.
is($session->query_safe('SELECT small(1000)'), '0 wrong', 'a thousand small queries');
is($session->query_safe('SELECT engine FROM gpuagg_last_query()'), 'device', 'on the device');
my %before = measure();
my $batches = $session->query_safe('SELECT device_batches FROM gpuagg_stat');
is($session->query_safe('SELECT small(10000)'), '0 wrong', 'ten thousand small queries');
my %after = measure();

for my $what (sort keys %before)
{
	my $more = $what =~ /memory/ ? 2048 : 2;

	cmp_ok($after{$what}, '<=', $before{$what} + $more,
		"$what: from $before{$what} to $after{$what}");
}
cmp_ok($session->query_safe('SELECT device_batches FROM gpuagg_stat') - $batches,
	'>=', 10000, 'each has used the device');
is($session->query_safe('SELECT fallbacks FROM gpuagg_stat'), 0, 'there were no fallbacks');

# The same as separate statements, a new connection to gpuaggd now and then.
for my $k (1 .. 20)
{
	$session->query_safe(join("\n", ('SELECT gpu_sum(b) FROM s;') x 20));
	$session->query_safe('SELECT gpuagg_restart()') if $k % 10 == 0;
}
is($session->query_safe('SELECT gpu_sum(b) = sum(b) FROM s'), 't', 'right after restarts of gpuaggd');
is($session->query_safe('SELECT engine FROM gpuagg_last_query()'), 'device', 'on the device');
my %last = measure_backend();
cmp_ok($last{fds}, '<=', $before{'descriptors of the backend'} + 2,
	'restarts of gpuaggd leave no descriptor behind');
cmp_ok($last{maps}, '<=', $before{"the backend's mappings"} + 1,
	'nor mapped staging memory');
$session->quit;
stop_and_look($node);

done_testing();

sub measure_backend
{
	return (fds => descriptors($backend), maps => mappings($backend));
}
