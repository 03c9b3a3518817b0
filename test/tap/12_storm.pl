# Storms of connections, each with one query: right answers, nothing left over.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use Test::More;

my $node = gpuagg_node(
	'storm',
	mode => 'gpu',
	rows => 40_000,
	conf => "gpuagg.total_staging_memory = '128MB'\ngpuagg.batch_rows = 4000000");   # regions of 32 MB

ok(wait_device($node), 'the device is usable');
my @sums = split /\|/, core_sums($node);
my $pid = gpuaggd_pid($node);
my $script = check_script($node, "gpu_sum(b) = $sums[1]");

sub storm
{
	my ($clients, $each) = @_;

	$node->command_ok(
		pgbench_command($node, $script, '-C', '-c', $clients, '-j', '2', '-t', $each),
		($clients * $each) . " connections, $clients at a time: all answers are right");
	return;
}

storm(10, 10);
ok(wait_until(sub { connections() <= 1 }), 'gpuaggd has no clients left but the launcher');
my $before = descriptors($pid);
my $memory = resident_kb($pid);
my $device = device_stat($node, 'device_batches');
storm(20, 15);
storm(100, 2);
ok(wait_until(sub { connections() <= 1 }), 'gpuaggd has no clients left but the launcher');
is(gpuaggd_pid($node), $pid, 'gpuaggd is the same process');
cmp_ok(descriptors($pid), '<=', $before + 4, 'it has no more descriptors');
cmp_ok(resident_kb($pid), '<', $memory + 8192, 'it has hardly more memory');
cmp_ok(device_stat($node, 'device_batches'), '>', $device, 'the device has been used');
# On a machine with more to do than it can, some may give up waiting.
my $gave_up = device_stat($node, 'fallbacks.timeout');
cmp_ok($gave_up, '<=', 30, "few of 600 have waited in vain: $gave_up");
is(device_stat($node, 'fallbacks.lost'), 0, 'nobody has lost the device');
right_on($node, 'device', 'after the storms');

# A device program in its first second, and everybody at once.
$node->safe_psql('postgres', 'SELECT gpuagg_restart()');
storm(60, 1);
right_on($node, 'device', 'after a storm on a device that starts');
stop_and_look($node);

done_testing();

# Sockets of gpuaggd that are connected.
sub connections
{
	my %sockets;

	for my $fd (glob "/proc/$pid/fd/*")
	{
		$sockets{$1} = 1 if (readlink($fd) // '') =~ /^socket:\[(\d+)\]$/;
	}
	open(my $unix, '<', '/proc/net/unix') or die "/proc/net/unix: $!";
	my $connected = 0;
	while (<$unix>)
	{
		# Num RefCount Protocol Flags Type St Inode Path; St 03 is connected
		my @field = split;
		$connected++ if $field[4] eq '0005' && $field[5] eq '03' && $sockets{ $field[6] };
	}
	return $connected;
}
