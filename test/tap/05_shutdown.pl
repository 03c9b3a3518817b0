# The server ends, in whatever way, in mid-query: no process is left soon after, and
# the next start is clean.

use strict;
use warnings;

use Cwd qw(realpath);
use FindBin;
use lib $FindBin::RealBin;
use AsyncSql;
use GpuaggTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = gpuagg_node('shutdown', rows => 400_000);
my $expected = core_sums($node);
my $socket = $node->data_dir . '/pg_stat_tmp/gpuagg.sock';
$node->stop;

sub server_processes
{
	my $data = realpath($node->data_dir);
	return grep { (readlink($_) // '') eq $data } glob '/proc/[0-9]*/cwd';
}

for my $preload ('', 'gpuagg')
{
	$node->append_conf('postgresql.conf', "shared_preload_libraries = '$preload'\n");
	for my $way (qw(smart fast immediate SIGKILL))
	{
		my $what = "$way stop" . ($preload ? ', preloaded' : '');
		$node->start;
		ok(wait_device($node), "$what: the device is there");
		hold_device(6);
		my $session = start_sql($node, 'SET gpuagg.device = gpu; ' . sums_sql('gpu_sum'));
		wait_held();
		my @pids = (gpuaggd_pids($node), launcher_pids($node));
		is(scalar(@pids), 2, "$what: launcher and gpuaggd run");

		# a smart stop waits for the query
		release_device() if $way eq 'smart';
		my $start = time;
		if ($way eq 'SIGKILL')
		{
			$node->kill9;
		}
		else
		{
			$node->stop($way);
		}
		ok(wait_until(sub { !grep { -e "/proc/$_/exe" } @pids }), "$what: both are gone");
		cmp_ok(time - $start, '<', 300, "$what: it does not hang") if $way ne 'smart';
		release_device();
		eval { end_sql($session) };
		is($session->{out}, "$expected", "$what: the session came to its end") if $way eq 'smart';
		if ($way eq 'SIGKILL')
		{
			ok(wait_until(sub { !server_processes() }), "$what: no process is left");
			# where nobody reaps orphans, the dead postmaster still looks alive
			unlink $node->data_dir . '/postmaster.pid', glob($node->host . '/.s.PGSQL.*.lock');
		}
		else
		{
			ok(!-e $socket, "$what: no socket is left") if $way ne 'immediate';
		}
	}
}

# After all that the next start is clean.
my $offset = -s $node->logfile;
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
$node->start;
right_on($node, 'device', 'after all stops', expected => $expected,
	set => ['gpuagg.device = gpu']);
is(scalar(gpuaggd_pids($node)), 1, 'one gpuaggd');
$node->stop;
ok(wait_gone($node), 'none is left');
unlike(slurp_file($node->logfile, $offset), qr/WARNING/, 'nothing to warn about');
done_testing();
