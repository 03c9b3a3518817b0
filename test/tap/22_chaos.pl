# Everything at once: sessions compute while the device is killed, stopped,
# restarted and reconfigured.  No session may notice but by its engine.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $deeds = 12;
my $seed = $ENV{GPUAGG_CHAOS_SEED} // 1;
my $node = gpuagg_node(
	'chaos',
	rows => 60_000,
	conf => "gpuagg.total_staging_memory = '512MB'\ngpuagg.device_timeout = '500ms'\n"
	  . "gpuagg.batch_rows = 5000\nstatement_timeout = '5min'",
	env => { GPUAGG_SIM_DELAY_MS => 5 });

srand($seed);
diag("seed $seed");
ok(wait_device($node), 'the device is usable');
my @sums = split /\|/, core_sums($node);
my $script = check_script($node,
	"gpu_reduce(array_agg(i)) = $sums[0] AND gpu_reduce(array_agg(b)) = $sums[1] AND gpu_reduce(array_agg(f)) = $sums[2]");
open(my $file, '>>', $script) or die "$script: $!";
print $file <<'END';
SELECT 1 / ((count(*) = 0)::int) FROM (SELECT gpu_running_sum(f) OVER w AS ours, sum(f) OVER w AS core
	FROM t WHERE id <= 8000 WINDOW w AS (PARTITION BY g ORDER BY id ROWS UNBOUNDED PRECEDING)) s
	WHERE ours IS DISTINCT FROM core;
SELECT 1 / ((count(*) = 7)::int) FROM (SELECT g FROM t GROUP BY g HAVING gpu_sum(b) = sum(b)) s;
END
close $file;

my $log = '';
my $pgbench = IPC::Run::start(
	pgbench_command($node, $script, '-C', '-c', '6', '-j', '2', '-T', 1200),
	'>&', \$log, IPC::Run::timeout(1500));

my %deeds = (
	kill => sub { signal_all('KILL') },
	end => sub { signal_all('TERM') },
	pause => sub { signal_all('STOP'); usleep(200_000 + rand(900_000)); signal_all('CONT') },
	restart => sub { $node->safe_psql('postgres', 'SELECT gpuagg_restart()') },
	terminate => sub {
		$node->safe_psql('postgres', q(SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE backend_type = 'gpuagg launcher'));
	},
	reload => sub {
		my $mb = 40 + int(rand(20));

		$node->append_conf('postgresql.conf', "gpuagg.device_memory = '${mb}MB'");
		$node->reload;
	},
	drop => sub { $node->safe_psql('postgres', "$_ DATABASE d") for 'CREATE', 'DROP' });
my %done = map { $_ => 0 } keys %deeds;
my @names = sort keys %deeds;

# Each at least once; they are random beyond that.
for my $n (1 .. $deeds)
{
	my $deed = $names[ $n <= @names ? $n - 1 : int(rand(@names)) ];

	$deeds{$deed}->();
	$done{$deed}++;
	usleep(rand(300_000));
	# a device that has been lost comes back by itself, but not at once
	$deeds{restart}->() if rand() < 0.7;
	wait_until(sub { device_stat($node, 'device_state') eq 'ready' }, 5);
	usleep(rand(200_000));
}
# as if its time were over
$pgbench->signal('ALRM');
$pgbench->finish;
is($pgbench->result(0), 0, 'all answers were right') or diag($log);
diag(join(', ', map { "$_ $done{$_}" } sort keys %done));
like($log, qr/number of transactions actually processed: [1-9]/, 'sessions have worked');
unlike($log, qr/aborted|ERROR/, 'none has failed');
diag($1) if $log =~ /(number of transactions actually processed.*)/;
diag($node->safe_psql('postgres',
	'SELECT device_batches, cpu_batches, fallbacks_by_reason FROM gpuagg_stat'));

# It ends well: one launcher, one gpuaggd, and the device in use.
$node->append_conf('postgresql.conf', "gpuagg.device_timeout = '10min'");
$node->reload;
wait_until(sub { $node->safe_psql('postgres', 'SHOW gpuagg.device_timeout') eq '10min' });
is($node->safe_psql('postgres', 'SELECT gpuagg_restart()'), 't', 'gpuagg_restart() afterwards');
right_on($node, 'device', 'afterwards',
	set => [ 'gpuagg.device = gpu', "gpuagg.device_timeout = '10s'" ]);
# one that ends may still be there
ok(wait_until(sub { launcher_pids($node) == 1 }), 'one launcher');
is(scalar(gpuaggd_pids($node)), 1, 'one gpuaggd');
$node->stop;
ok(wait_gone($node), 'no gpuaggd is left after the stop');
my $server = slurp_file($node->logfile);
unlike($server, qr/server process .* was terminated|PANIC|TRAP:|Sanitizer/,
	'no server process has crashed');
unlike($server, qr/device program was terminated by signal (?!9\b)/,
	'gpuaggd has died of nothing but our SIGKILL');

done_testing();

sub signal_all
{
	my ($signal) = @_;
	my @pids = gpuaggd_pids($node);

	kill($signal, @pids) if @pids;
	return;
}
