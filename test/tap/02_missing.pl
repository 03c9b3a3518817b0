# No device to be had: the program is missing, broken, of another version, or
# finds none; there is no worker slot.  Mode auto goes on and does not insist;
# mode gpu says why.

use strict;
use warnings;

use Cwd qw(realpath);
use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = gpuagg_node('missing');
my $expected = core_sums($node);
my $program = PostgreSQL::Test::Utils::tempdir . '/gpuaggd-tried';

sub install
{
	my ($mode, $text) = @_;
	unlink $program;
	append_to_file($program, $text);
	chmod $mode, $program;
}

# The program of the settings is $program from now on.
sub use_program
{
	$node->append_conf('postgresql.conf', "gpuagg.device_program = '$program'\n");
	$node->reload;
}

# Whether $program runs, which for /proc is a program of perl's.
sub script_runs
{
	for my $proc (glob '/proc/[0-9]*')
	{
		next unless (readlink("$proc/cwd") // '') eq realpath($node->data_dir);
		open(my $file, '<', "$proc/cmdline") or next;
		return 1 if (readline($file) // '') =~ /\Q$program\E/;
	}
	return 0;
}

# Mode gpu fails with this DETAIL, mode auto uses the CPU, the view says why.
sub unusable
{
	my ($what, $name, $detail) = @_;
	my $start = time;
	my ($code, $out, $err) = $node->psql('postgres',
		"\\set VERBOSITY verbose\nSET gpuagg.device = gpu;\nSELECT gpu_sum(i) FROM t");
	my $took = time - $start;

	is($code, 3, "$what: mode gpu fails");
	like($err, qr/ERROR:  55000: no usable GPU device$/m, "$what: message and code");
	like($err, qr/DETAIL:  $detail/, "$what: detail");
	like($err, qr/HINT:  \S/, "$what: a hint");
	right_on($node, 'cpu', "$what, mode auto", expected => $expected, sql => array_sums_sql(),
		set => ['gpuagg.device = auto']);
	is(device_stat($node, 'device_state'), 'unavailable', "$what: state");
	ok(wait_until(sub { !launcher_pids($node) }), "$what: the launcher has gone");
	cmp_ok($took, '<', 55, "$what: nobody has waited for a device to come");

	# Not tried again for each query.
	my $log = -s $node->logfile;
	right_on($node, 'cpu', "$what, once more", expected => $expected, sql => array_sums_sql(),
		set => ['gpuagg.device = auto']);
	unlike(slurp_file($node->logfile, $log), qr/no usable GPU device/,
		"$what: not tried again at once");
}

# Without the setting, the program beside the library, which a build without CUDA has not.
SKIP:
{
	my $none = "device program is missing or not executable: gpuagg was built without the GPU program";

	skip 'this build has the GPU program', 3
	  if -e $node->config_data('--pkglibdir') . '/gpuaggd';
	$node->append_conf('postgresql.conf', "gpuagg.device_program = ''\n");
	$node->reload;
	is($node->safe_psql('postgres', 'SELECT gpuagg_restart()'),
		'f', 'built without the GPU program: gpuagg_restart() says so');
	like($node->safe_psql('postgres', 'SELECT reason FROM gpuagg_devices()'),
		qr/$none/, 'built without the GPU program: gpuagg_devices() says why');
	my ($code, $out, $err) =
	  $node->psql('postgres', 'SET gpuagg.device = gpu; SELECT gpu_sum(i) FROM t');
	like($err, qr/DETAIL:  The $none\./, 'built without the GPU program: and the error');
}

unlink $program;
use_program();
unusable('missing', 'no_program',
	qr/The device program is missing or not executable: \Q$program\E: No such file or directory\./);

install(0644, "#!/bin/sh\nexit 0\n");
unusable('not executable', 'no_program',
	qr/The device program is missing or not executable: \Q$program\E: Permission denied\./);

install(0755, "this is no program\n");
unusable('no program at all', 'no_program', qr/The device program is missing or not executable/);

install(0755, "#!/bin/sh\nexit 0\n");
unusable('ends at once', 'start_failed',
	qr/The device program ended while it was starting: it exited with code 0\./);

install(0755, "#!/bin/sh\necho 'WARNING: no such luck' >&2\nexit 1\n");
unusable('ends with words', 'start_failed',
	qr/The device program ended while it was starting: no such luck\./);
like(slurp_file($node->logfile), qr/WARNING:  gpuaggd: no such luck/, 'its words are in the log');

install(0755, "#!/bin/sh\nkill -SEGV \$\$\n");
unusable('crashes at once', 'start_failed', qr/The device program ended while it was starting: it was terminated by signal 11\./);

# One that speaks, but not our version.
install(0755, <<'END');
#!/usr/bin/perl
use strict;
use warnings;
use Socket;
my %option = @ARGV;
$SIG{TERM} = sub { unlink $option{'--socket'}; exit 0 };
socket(my $listener, AF_UNIX, SOCK_SEQPACKET, 0) or die "LOG: socket: $!";
unlink $option{'--socket'};
bind($listener, pack_sockaddr_un($option{'--socket'})) or die "LOG: bind: $!";
listen($listener, 5) or die "LOG: listen: $!";
while (accept(my $client, $listener))
{
	while (sysread($client, my $request, 4096))
	{
		my ($magic, $version, $type, $id) = unpack('LSSL', $request);
		syswrite($client, pack('LSSLL a16 x736', $magic, 99, $type, $id, 15, '9.9.9'));
	}
}
END
unusable('another version', 'version',
	qr/The device program or its launcher is of another version: the library is version 0\.2\.0, the device program is version 9\.9\.9\./);
ok(wait_until(sub { !script_runs() }), 'the program of another version has been ended');

# The right one in its place: the next demand finds it.
install(0755, qq(#!/bin/sh\nexec "$ENV{GPUAGGD_SIM}" "\$@"\n));
right_on($node, 'device', 'right program installed, mode gpu', expected => $expected,
	set => ['gpuagg.device = gpu']);
$node->safe_psql('postgres', 'SELECT gpuagg_stop()');
unlink $program;
$node->safe_psql('postgres', 'SELECT gpuagg_restart()');
ok(wait_until(sub { device_stat($node, 'device_state') eq 'unavailable' }), 'removed again');
install(0755, qq(#!/bin/sh\nexec "$ENV{GPUAGGD_SIM}" "\$@"\n));
is($node->safe_psql('postgres', 'SELECT gpuagg_restart()'), 't', 'gpuagg_restart()');
ok(wait_device($node), 'brings the device up');
right_on($node, 'device', 'and mode auto uses it', expected => $expected, sql => array_sums_sql());

# A path that is not absolute, and settings that are not for everybody.
my ($code, $out, $err) = $node->psql('postgres',
	"LOAD 'gpuagg'; ALTER SYSTEM SET gpuagg.device_program = '/bin/true'");
like($err, qr/cannot be changed/, 'gpuagg.device_program is not for ALTER SYSTEM');
$node->append_conf('postgresql.conf', "gpuagg.device_program = 'gpuaggd'\n");
$node->reload;
($code, $out, $err) = $node->psql('postgres', "LOAD 'gpuagg'");
like($err, qr/An absolute path is expected/, 'gpuagg.device_program must be an absolute path');
$node->stop;

# What the driver may say.
for my $case (
	[ 'no_driver', qr/No NVIDIA driver is loaded/ ],
	[ 'driver_too_old', qr/The NVIDIA driver is too old/ ],
	[ 'no_device', qr/The driver sees no device/ ],
	[ 'device_exclusive', qr/The device is in exclusive or prohibited compute mode/ ],
	[ 'no_permission', qr/The server's operating system user may not use the device/ ],
	[ 'no_kernel', qr/The device program was not built for this device's architecture/ ],
	[ 'device_error', qr/The device could not be opened/ ])
{
	my ($reason, $detail) = @$case;
	$node->append_conf('postgresql.conf', "gpuagg.device_program = '$ENV{GPUAGGD_SIM}'\n");
	{
		local $ENV{GPUAGG_SIM_FAIL} = $reason;
		$node->start;
	}
	unusable($reason, $reason, $detail);
	is( $node->safe_psql('postgres', 'SELECT count(*), bool_or(usable) FROM gpuagg_devices()'),
		'1|f', "$reason: gpuagg_devices() has a row that says so");
	$node->stop;
}

# No worker slot is free.
$node->append_conf('postgresql.conf', "max_worker_processes = 0\n");
$node->start;
unusable('no slot', 'no_slot', qr/No background worker can be started/);
$node->stop;

done_testing();
