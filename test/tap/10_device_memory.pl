# Out of device memory: the CPU takes over for the batch, counted by its reason.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use Test::More;

# The budget is larger than the device's memory: allocations fail.
my $node = gpuagg_node(
	'device_memory',
	conf => "gpuagg.device_memory = '64MB'",
	env => { GPUAGG_SIM_MEMORY => 600_000 });

ok(wait_device($node), 'the device is usable');
my $last = right_on($node, 'cpu', 'no memory on the device', set => ['gpuagg.device = gpu']);
like($last->{reason}, qr/device memory/, 'the session is told the reason');
cmp_ok($last->{fallbacks}, '>', 0, 'fallbacks of the statement are counted');
cmp_ok(device_stat($node, 'fallbacks.no_device_memory'), '>=', $last->{fallbacks},
	'fallbacks of the cluster are counted by reason');

is( $node->safe_psql(
		'postgres', q(
SET gpuagg.device = gpu;
SELECT count(*) FILTER (WHERE ours IS DISTINCT FROM core), count(*)
FROM (SELECT gpu_running_sum(b) OVER w AS ours, sum(b) OVER w AS core
	FROM t WINDOW w AS (PARTITION BY g ORDER BY id ROWS UNBOUNDED PRECEDING)) s)),
	'0|100000', 'running sums are right');

my $pid = gpuaggd_pid($node);
ok($pid, 'gpuaggd goes on');
is(device_stat($node, 'device_state'), 'ready', 'the device stays usable');

# A small budget on a device with memory enough: smaller pieces, one at a time.
$node->stop;
$node->append_conf('postgresql.conf', "gpuagg.device_memory = '1MB'");
$node->start;
ok(wait_device($node), 'the device is usable with a budget of 1 MB');
right_on($node, 'device', 'a budget of 1 MB', set => ['gpuagg.device = gpu']);
is(device_stat($node, 'fallbacks'), 0, 'no fallback was needed');

my @sums = split /\|/, core_sums($node);
my $script = check_script($node,
	"gpu_reduce(array_agg(i)) = $sums[0] AND gpu_reduce(array_agg(b)) = $sums[1] AND gpu_reduce(array_agg(f)) = $sums[2]");
$node->command_ok(pgbench_command($node, $script, '-c', '6', '-t', '2'),
	'six sessions share a budget of 1 MB');
stop_and_look($node);

# Hardly any memory at all: there is no device, and the reason is told.
{
	local $ENV{GPUAGG_SIM_MEMORY} = 1000;
	$node->start;
}
my ($ret, $out, $err) = $node->psql('postgres',
	"\\set VERBOSITY verbose\nSET gpuagg.device = gpu; SELECT gpu_sum(i) FROM t");
isnt($ret, 0, 'mode gpu fails without a usable device');
like($err, qr/55000: no usable GPU device/, 'with its code and message');
right_on($node, 'cpu', 'mode auto', sql => array_sums_sql());
like(device_stat($node, 'device_reason'), qr/device memory/, 'the reason is on show');
stop_and_look($node);

done_testing();
