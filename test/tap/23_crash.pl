# A process of the server dies and the server starts itself again: one launcher,
# one gpuaggd, none left over from before, and right answers.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = gpuagg_node(
	'crash',
	rows => 60_000,
	conf => "restart_after_crash = on\nlog_min_messages = log");
my $expected = core_sums($node);

sub crash
{
	my ($what, $victim) = @_;
	my $session = background($node, 'gpuagg.device = gpu');
	my $backend = $session->query_safe('SELECT pg_backend_pid()');
	my $old = gpuaggd_pid($node);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	hold_device();
	send_query($session, sums_sql('gpu_sum'));
	ok(wait_held(), "$what: a session is at work");
	kill('KILL', $victim->($backend));
	release_device();
	eval { $session->query('SELECT 1') };
	eval { $session->quit };
	ok(wait_until(sub { !-e "/proc/$old" }), "$what: the old gpuaggd is gone");
	ok(wait_started($node), "$what: the server starts again");
	right_on($node, 'device', "$what: afterwards", expected => $expected,
		set => ['gpuagg.device = gpu']);
	# the server starts one, and so may a session: the second ends
	ok(wait_until(sub { launcher_pids($node) == 1 }), "$what: one launcher");
	is(scalar(gpuaggd_pids($node)), 1, "$what: one gpuaggd");
	is(device_stat($node, 'shared'), 't', "$what: the counters are shared");
	return;
}

for my $preload ('', 'gpuagg')
{
	my $when = $preload ? ', preloaded' : '';

	ok(wait_device($node), "the device is usable$when");
	crash("a backend crashes$when", sub { return $_[0] });
	crash("the launcher crashes$when", sub { return launcher_pids($node) });
	crash("another process crashes$when",
		sub { return $node->safe_psql('postgres',
				q(SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer')) });
	next if $preload;
	$node->stop;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'gpuagg'");
	$node->start;
}
my @dead = slurp_file($node->logfile) =~ /terminated by signal (\d+)/g;
is(join(' ', grep { $_ != 9 } @dead), '', 'nothing has died of another signal');
$node->stop;
ok(wait_gone($node), 'no gpuaggd is left after the stop');

done_testing();
