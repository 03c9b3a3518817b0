# GpuaggTest.pm: clusters whose device program runs on the simulated device.
#
# What the server-level tests share: making a cluster with a table of known
# sums, running a query with some settings, holding the simulated device until
# told, and looking at gpuaggd from outside through /proc.  Nothing here needs the
# library to be loaded.
package GpuaggTest;

use strict;
use warnings;

use Cwd qw(realpath);
use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

our @EXPORT = qw(
  gpuagg_node make_table core_sums wait_until wait_started wait_device wait_gone
  gpuaggd_pids gpuaggd_pid kill_gpuaggd launcher_pids run_query right_on device_stat
  descriptors resident_kb background end_timeout send_query sums_sql no_crash stop_and_look
  mapped_regions check_script pgbench_command array_sums_sql hold_device wait_held release_device wait_batches
);

# While this file exists, the simulated device completes nothing more; servers and
# so device programs know its name from the environment.
my $hold = realpath(PostgreSQL::Test::Utils::tempdir) . '/hold';
$ENV{GPUAGG_SIM_HOLD} = $hold;
my $holds = 0;

# Columns of the table that gpu_sum is tried on.
my @columns = qw(i b f);

# A node with gpuagg's program set, started unless start => 0.  Aggregates take their rows one by
# one, in batches to the device, unless a test's own settings let tables be read as columns.
#	conf => text	more lines of postgresql.conf
#	env => {}		environment of the server, and so of gpuaggd
#	rows => n		rows of table t (100,000); 0: no extension, no table
#	init => {}		parameters of init()
#	mode => 'auto'	gpuagg.device
sub gpuagg_node
{
	my ($name, %params) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	my $mode = $params{mode} // 'auto';
	my $rows = $params{rows} // 100_000;

	die "GPUAGGD_SIM does not name the simulated device program"
	  unless -x ($ENV{GPUAGGD_SIM} // '');
	init_node($node, %{ $params{init} // {} });
	$node->append_conf(
		'postgresql.conf', qq(
log_statement = none
autovacuum = off
checkpoint_timeout = 1h
bgwriter_lru_maxpages = 0
max_connections = 150
shared_buffers = 32MB
gpuagg.device = $mode
gpuagg.device_program = '$ENV{GPUAGGD_SIM}'
gpuagg.device_min_rows = 0
gpuagg.min_table_pages = 1000000
gpuagg.batch_rows = 20000
gpuagg.device_timeout = '10min'
));
	$node->append_conf('postgresql.conf', $params{conf}) if defined $params{conf};
	if ($params{start} // 1)
	{
		local @ENV{ keys %{ $params{env} // {} } } = values %{ $params{env} // {} };
		$node->start;
		make_table($node, 'postgres', $rows) if $rows > 0;
	}
	return $node;
}

# A cluster is a copy of one that initdb has made, where the caller has one; from
# 17 on PostgreSQL's own init() does that.
sub init_node
{
	my ($node, %params) = @_;
	my $run = \&PostgreSQL::Test::Utils::system_or_bail;

	no warnings 'redefine';
	local *PostgreSQL::Test::Utils::system_or_bail = sub {
		my @command = @_;

		@command = ('cp', '-a', $ENV{INITDB_TEMPLATE}, $command[2])
		  if $command[0] eq 'initdb' && defined $ENV{INITDB_TEMPLATE} && !$params{extra};
		return $run->(@command);
	};
	$node->init(%params);
	return;
}

# Extension, and table t(id, g, i, b, f): sums of f are exact in any order.
sub make_table
{
	my ($node, $db, $rows) = @_;

	$node->safe_psql(
		$db, qq(
CREATE EXTENSION gpuagg;
CREATE TABLE t (id int NOT NULL, g int, i int, b bigint, f double precision);
INSERT INTO t SELECT n, n % 7, n % 1000 - 300, (n % 977) * 4000000000::bigint, (n % 1001) / 8.0
FROM generate_series(1, $rows) n;
ANALYZE t;
));
	return;
}

sub sums_sql
{
	my ($function) = @_;

	return 'SELECT ' . join(', ', map { "$function($_)" } @columns) . ' FROM t';
}

# The same sums over arrays, which mode auto brings to the device too.
sub array_sums_sql
{
	return 'SELECT ' . join(', ', map { "gpu_reduce(array_agg($_))" } @columns) . ' FROM t';
}

sub core_sums
{
	my ($node, $db) = @_;

	return $node->safe_psql($db // 'postgres', sums_sql('sum'));
}

# Runs one query in a session of its own.  Returns its answer, and a hash of what
# gpuagg_last_query() says about it.
sub run_query
{
	my ($node, $sql, %params) = @_;
	my $set = join('', map { "SET $_;\n" } @{ $params{set} // [] });
	my $out = $node->safe_psql($params{db} // 'postgres', qq($set$sql;
SELECT 'last', engine, cpu_batches, device_batches, fallbacks, coalesce(reason, '')
FROM gpuagg_last_query();));
	my %last;

	die "unexpected output: $out" unless $out =~ s/\n?^last\|(.*)\z//m;
	@last{qw(engine cpu_batches device_batches fallbacks reason)} = split /\|/, $1, -1;
	return ($out, \%last);
}

# Two tests: the sums (those of aggregates, or what sql => text computes) are right, and the
# engine was the expected one.  On a host
# with too much to do a session may give up waiting; it is then tried again, once
# the device is trusted again.
sub right_on
{
	my ($node, $engine, $what, %params) = @_;
	my $expected = $params{expected} // core_sums($node, $params{db});
	my $sql = $params{sql} // sums_sql('gpu_sum');
	my ($answer, $last);

	for (1 .. 5)
	{
		($answer, $last) = run_query($node, $sql, %params);
		last if $answer ne $expected || $last->{engine} eq $engine
		  || $last->{reason} !~ /did not answer in time|too much to do/;
		wait_until(sub { device_stat($node, 'device_state') eq 'ready' });
	}
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($answer, $expected, "$what: right answer");
	is($last->{engine}, $engine, "$what: engine")
	  or diag(join ', ', map { "$_: $last->{$_}" } sort keys %$last);
	return $last;
}

# One value from gpuagg_stat; 'fallbacks.REASON' for one reason's fallbacks.
sub device_stat
{
	my ($node, $what) = @_;
	my $column = $what;

	$column = "coalesce((fallbacks_by_reason->>'$1')::bigint, 0)" if $what =~ /^fallbacks\.(\w+)$/;
	return $node->safe_psql('postgres', "SELECT $column FROM gpuagg_stat");
}

# Waits for a condition to become true.  How long at most decides nothing but when
# a test that has failed ends.
sub wait_until
{
	my ($condition, $seconds) = @_;
	my $deadline = time() + ($seconds // 900);

	for (;;)
	{
		return 1 if $condition->();
		return 0 if time() > $deadline;
		usleep(20_000);
	}
}

# Waits until a server that has crashed takes sessions again.  A psql that it refuses may be gone
# before it has been given its query, for which IPC::Run dies.
sub wait_started
{
	my ($node) = @_;

	return wait_until(sub { (eval { $node->psql('postgres', 'SELECT true') } // 1) == 0 });
}

# Asks for the device and waits until it is there.
sub wait_device
{
	my ($node, $db) = @_;

	return $node->poll_query_until($db // 'postgres',
		'SELECT coalesce(bool_or(usable), false) FROM gpuagg_devices()');
}

# Processes named gpuaggd* that work in this node's data directory.
sub gpuaggd_pids
{
	my ($node) = @_;
	my $data = realpath($node->data_dir);
	my @found;

	for my $proc (glob '/proc/[0-9]*')
	{
		my $cwd = readlink("$proc/cwd") // '';
		my $exe = readlink("$proc/exe") // '';

		push @found, $1 if $cwd eq $data && $exe =~ m{/gpuaggd[^/]*$} && $proc =~ /(\d+)$/;
	}
	return @found;
}

sub gpuaggd_pid
{
	my ($node) = @_;
	my @pids = gpuaggd_pids($node);

	return @pids == 1 ? $pids[0] : 0;
}

# Kills it and waits until its launcher has ended, too, so that who asks for a device from then on
# waits for the next one.  Returns what its pid was; dies when there is none, as pid 0 would be ourselves.
sub kill_gpuaggd
{
	my ($node) = @_;
	my @launchers = launcher_pids($node);
	my $pid = gpuaggd_pid($node) or die 'no device program to kill';

	kill 'KILL', $pid;
	for my $ending ($pid, @launchers)
	{
		wait_until(sub { !-e "/proc/$ending" }) or die "process $ending does not end";
	}
	return $pid;
}

# Launchers, by the title that the server gives them.
sub launcher_pids
{
	my ($node) = @_;
	my $data = realpath($node->data_dir);
	my @found;

	for my $proc (glob '/proc/[0-9]*')
	{
		next unless (readlink("$proc/cwd") // '') eq $data;
		open(my $file, '<', "$proc/cmdline") or next;
		local $/ = undef;
		my $title = <$file> // '';
		push @found, $1 if $title =~ /gpuagg launcher/ && $proc =~ /(\d+)$/;
	}
	return @found;
}

sub wait_gone
{
	my ($node, $seconds) = @_;

	return wait_until(sub { !gpuaggd_pids($node) }, $seconds);
}

# Descriptors of a process but for the server's own data files, which come and
# go as its cache likes.
sub descriptors
{
	my ($pid) = @_;

	return scalar grep { (readlink($_) // '') !~ m{/(?:base|global|pg_wal|pg_xact)/} }
	  glob "/proc/$pid/fd/*";
}

# Resident memory that belongs to the process alone: shared buffers and staging
# memory are mapped by several.
sub resident_kb
{
	my ($pid) = @_;

	return slurp_file("/proc/$pid/status") =~ /^RssAnon:\s+(\d+)/m ? $1 : -1;
}

# Regions of staging memory that a process has mapped: a session does so as long as it has a lease.
sub mapped_regions
{
	my ($pid) = @_;

	return scalar grep { /gpuagg-staging/ } split /\n/, slurp_file("/proc/$pid/maps");
}

# A session that goes on after errors, with some settings.
sub background
{
	my ($node, @set) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0);

	$session->query_safe("SET $_") for @set;
	return $session;
}

# The device completes so many requests more (0), and no others before release_device().
# Not while a device program starts, as that tries the device.
sub hold_device
{
	my ($more) = @_;

	$holds++;
	unlink "$hold.reached";
	append_to_file("$hold.new", "$holds " . ($more // 0));
	rename("$hold.new", $hold) or die "$hold: $!";
	return;
}

# Waits until there is a request that is held.
sub wait_held
{
	return wait_until(sub { -e "$hold.reached" });
}

sub release_device
{
	unlink $hold;
	return;
}

# Waits until the device has done more than so many batches.
sub wait_batches
{
	my ($node, $done) = @_;

	return wait_until(sub { device_stat($node, 'device_batches') > $done });
}

# Ends a statement_timeout of such a session, which may also end the statement that does so.
sub end_timeout
{
	my ($session) = @_;

	wait_until(sub { $session->query('SET statement_timeout = 0'); $session->query('SHOW statement_timeout') eq '0' })
	  or die 'statement_timeout stays';
	$session->{stderr} = '';
	return;
}

# Sends a query without waiting for its end.
sub send_query
{
	my ($session, $sql) = @_;

	$session->query_until(qr/sent/, "\\echo sent\n$sql;\n");
	return;
}

# No process of the server may have ended badly, nor gpuaggd.
sub no_crash
{
	my ($node, $what) = @_;
	my $log = slurp_file($node->logfile);
	my @bad = $log =~ /^(.*(?:was terminated by signal|PANIC:|TRAP:|Sanitizer|crash of another).*)$/mg;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(join("\n", @bad), '', $what // 'no process has crashed');
	return;
}

# A script for pgbench: it fails where the condition, evaluated over table t, does
# not hold.
sub check_script
{
	my ($node, $condition) = @_;
	my $path = $node->basedir . '/check.sql';

	open(my $file, '>', $path) or die "$path: $!";
	print $file "SELECT 1 / (($condition)::int) FROM t;\n";
	close $file;
	return $path;
}

# pgbench's command line for a script.
sub pgbench_command
{
	my ($node, $script, @options) = @_;

	return [
		'pgbench', '-n', @options, '-f', $script,
		'-h', $node->host, '-p', $node->port, 'postgres'
	];
}

# Stops a node; two tests: no gpuaggd and no socket are left, nothing crashed.
sub stop_and_look
{
	my ($node) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$node->stop;
	ok(wait_gone($node), 'no gpuaggd is left after the stop of ' . $node->name);
	no_crash($node, 'nothing has crashed in ' . $node->name);
	return;
}

1;
