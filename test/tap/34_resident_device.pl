# Resident columns on the device: what comes there and goes, who may use it, and what happens
# when the device program dies, is stopped, or has too little memory.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = gpuagg_node(
	'place',
	rows => 0,
	conf => "wal_level = replica\ngpuagg.min_table_pages = 0\ngpuagg.resident = on\ngpuagg.device_min_rows = 0\n"
	  . "max_parallel_workers_per_gather = 0\nshared_preload_libraries = 'gpuagg'\n");
my $rows = 60_000;

sub make
{
	my ($db, $table) = @_;

	$node->safe_psql($db, "CREATE EXTENSION IF NOT EXISTS gpuagg;"
		  . "CREATE TABLE $table (i int, b int8, n numeric(12,2), f float8, z int) WITH (autovacuum_enabled = off);"
		  . "INSERT INTO $table SELECT i, i * 1000003::int8, i / 8.0, i / 3.0, nullif(i % 5, 0) FROM generate_series(1, $rows) i;"
		  . "VACUUM $table");
	return;
}

# Of a column: its blocks, and those on the device.
sub blocks
{
	my ($table, $column, $db) = @_;

	return $node->safe_psql($db // 'postgres', "SELECT chunks || ' ' || device_chunks || ' ' || place FROM gpuagg_resident "
		  . "WHERE relation = '$table'::regclass AND attribute = '$column'");
}

# The answer is core's, and the device did something of it, or nothing.
sub asks
{
	my ($what, $on_device, $query, %params) = @_;
	my $core = $params{expected}
	  // $node->safe_psql($params{db} // 'postgres', sprintf("SET gpuagg.enable_agg_scan = off; $query", ('') x 4));
	my ($answer, $last) = run_query($node, sprintf($query, ('gpu_') x 4), %params);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($answer, $core, "$what: right answer");
	is($last->{device_batches} > 0 ? 1 : 0, $on_device, "$what: " . ($on_device ? 'by the device' : 'without the device'))
	  or diag(join ', ', map { "$_: $last->{$_}" } sort keys %$last);
	return $last;
}

my $query = 'SELECT %ssum(b), %savg(n), %scount(z), %smax(n) FROM t WHERE i > 1000';

make('postgres', 't');
ok(wait_device($node), 'the device is there');
$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('t', '{i,b,n,z}')));
is(blocks('t', $_), '2 2 host and device', "column $_ is on the device") for qw(i b n z);
asks('all columns there', 1, $query);
asks('the CPU is asked for', 0, $query, set => ['gpuagg.device = cpu']);
asks('memory is not to be used', 0, $query, set => ['gpuagg.resident = off']);

# ---- variances of floats and parts of times, with the CPU's bits ----

$node->safe_psql('postgres', "CREATE TABLE v WITH (autovacuum_enabled = off) AS SELECT i, (i / 3.0)::float8 AS f, (i / 7.0)::float4 AS r, "
	  . "timestamp '1999-12-01' + i * interval '37 minutes' AS d FROM generate_series(1, $rows) i");
$node->safe_psql('postgres', 'VACUUM v');
$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('v', '{i,f,r,d}')));
for my $of ('gpu_var_samp(f), gpu_stddev(r), gpu_sum(f) FROM v WHERE i > 1000',
	q(gpu_sum(i), gpu_count(f) FROM v WHERE date_trunc('month', d) = '2001-02-01'),
	'gpu_sum(i) FROM v WHERE extract(isodow FROM d) > 5 AND extract(year FROM d) = 2002')
{
	my ($cpu) = run_query($node, "SELECT $of", set => ['gpuagg.device = cpu']);

	asks($of, 1, "SELECT $of", expected => $cpu);
}

# ---- pages that have changed are the CPU's, those of the same chunk not ----

$node->safe_psql('postgres', 'UPDATE t SET b = -b WHERE i IN (1500, 59000)');
asks('after an update', 1, $query);
$node->safe_psql('postgres', 'VACUUM t');
asks('after a vacuum', 1, $query);
is($node->safe_psql('postgres', sprintf($query, ('gpu_') x 4)), $node->safe_psql('postgres', sprintf($query, ('') x 4)),
	'filled again: right answer');
$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('t', '{i,b,n,z}')));
is(blocks('t', 'b'), '2 2 host and device', 'new blocks are on the device');

# ---- minima and maxima are those of the blocks that are used ----

# Right answers to what minima and maxima decide; chunks that were not looked at, if it says how many.
sub skips
{
	my ($what, $where, $skipped) = @_;
	my $core = $node->safe_psql('postgres', "SELECT count(*), sum(b) FROM t $where; SELECT min(b), max(b), count(z) FROM t");

	for my $device (qw(cpu auto))
	{
		my ($answer) = run_query($node, "SELECT gpu_count(*), gpu_sum(b) FROM t $where; SELECT gpu_min(b), gpu_max(b), gpu_count(z) FROM t",
			set => ["gpuagg.device = $device"]);
		my ($last) = run_query($node, "SELECT gpu_count(*), gpu_sum(b) FROM t $where; SELECT resident_skipped FROM gpuagg_last_query()",
			set => ["gpuagg.device = $device"]);

		is($answer, $core, "$what: right answers ($device)");
		is((split /\n/, $last)[-1], $skipped, "$what: chunks skipped ($device)") if defined $skipped;
	}
	return;
}

my $high = '8000000000000000000';

skips('beyond all values', "WHERE b > $high", 2);
for my $value ("$high + 5", '-17')
{
	$node->safe_psql('postgres', "UPDATE t SET b = $value WHERE i = 30");
	skips("a value of $value, before a vacuum", "WHERE b > $high");
	$node->safe_psql('postgres', 'VACUUM t');
	skips("a value of $value, filled again", "WHERE b > $high");
	skips("a value of $value, from new blocks", "WHERE b > $high", $value =~ /-/ ? 2 : 1);
}
$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('t', '{i,b,n,z}')));

# ---- errors are core's ----

for my $bad ('b / (i - 30000)', 'b * 9223372036854775807')
{
	my ($code, $out, $core) = $node->psql('postgres', "SELECT sum($bad) FROM t");
	my ($code2, $out2, $ours) = $node->psql('postgres', "SELECT gpu_sum($bad) FROM t");
	s/^psql:.*ERROR/ERROR/ for $core, $ours;

	is($ours, $core, "$bad: core's error");
	like($ours, qr/division by zero|out of range/, "$bad: it is one");
}
asks('a condition that keeps the error away', 1, 'SELECT %ssum(b / nullif(i - 30000, 0)), %scount(*) FROM t');

# ---- many sessions at once: each has staging memory, in the default budget ----

my $many = 60;
my $batches = device_stat($node, 'device_batches');
my $script = check_script($node, 'gpu_sum(b) = ' . $node->safe_psql('postgres', 'SELECT sum(b) FROM t'));
my $said = '';
hold_device();
my $pgbench = IPC::Run::start(pgbench_command($node, $script, '-c', $many, '-j', 2, '-t', 2), '>&', \$said, IPC::Run::timeout(600));
ok(wait_until(sub { mapped_regions(gpuaggd_pid($node)) >= $many }), "$many sessions have memory at the same time");
release_device();
$pgbench->finish;
is($pgbench->result(0), 0, "$many sessions: all answers are right") or diag($said);
is(device_stat($node, 'fallbacks.no_staging'), 0, "$many sessions: none found no staging memory");
cmp_ok(device_stat($node, 'device_batches'), '>=', $batches + $many, "$many sessions: the device did their work");

# ---- an error while PL/pgSQL brings columns there leaves nothing under way ----

$node->safe_psql('postgres', q(SELECT gpuagg_evict('t')));
my $assigns = background($node);
$assigns->query("SET statement_timeout = '300ms'");
hold_device();
$assigns->query(q(DO $$ DECLARE r record; BEGIN r := gpuagg_prefetch('t', '{i,b,n,z}'); END $$));
like($assigns->{stderr}, qr/canceling statement due to statement timeout/, 'an assignment that brings columns is cancelled');
$assigns->{stderr} = '';
$assigns->query(q(DO $$ DECLARE r record; BEGIN r := gpuagg_prefetch('t'); EXCEPTION WHEN query_canceled THEN NULL; END $$));
is($assigns->{stderr}, '', 'or caught');
release_device();
end_timeout($assigns);
is($assigns->query_safe('SELECT gpu_sum(b) FROM t'), $node->safe_psql('postgres', 'SELECT sum(b) FROM t'), 'and the session goes on');
$assigns->quit;

# ---- an aggregate leaves no room for all slots in the session's own memory ----

$node->safe_psql('postgres', q(SELECT gpuagg_evict('t')));
my $inner = q(SELECT gpu_sum(x), max(CASE WHEN x = 50000 THEN (SELECT rows FROM gpuagg_prefetch('t', '{i,b,n,z}')) END) FROM generate_series(1, 100000) x);
my ($beside, $refused) = run_query($node, $inner,
	set => [ 'gpuagg.device = gpu', "gpuagg.staging_memory = '32MB'", 'gpuagg.batch_rows = 4096' ]);
is($beside, '5000050000|' . 4 * $rows, 'prefetched beside an aggregate that holds memory');
like($refused->{reason}, qr/staging memory/, 'which it was refused at first');
is(blocks('t', $_), '2 2 host and device', "column $_ is on the device all the same") for qw(i b n z);
asks('blocks that have gone through few slots', 1, $query);

# ---- the device program dies, and comes again without blobs ----

my $pid = kill_gpuaggd($node);
ok($pid, 'killed');
# a table so small is not sent then, should there be the next one already
asks('without it', 0, $query, set => ['gpuagg.resident = auto']);
wait_until(sub { device_stat($node, 'device_state') eq 'ready' });
wait_until(sub { blocks('t', 'b') =~ / 0 host$/ });
is(blocks('t', 'b'), '2 0 host', 'nothing is on the new one');
asks('it comes back with use', 0, 'SELECT %ssum(b) FROM t');
$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('t', '{i,b,n,z}')));
asks('and by prefetching', 1, $query);

# ---- in the middle of a query ----

hold_device();
my $session = background($node);
my $ready = send_query($session, 'SELECT gpu_sum(b), gpu_count(*) FROM t WHERE i > 1000');
ok(wait_held(), 'a query is on the device');
kill_gpuaggd($node);
release_device();
is($session->query_safe('SELECT 1'), $node->safe_psql('postgres', 'SELECT sum(b), count(*) FROM t WHERE i > 1000') . "\n1",
	'killed with a query: right answer');
$session->quit;
wait_until(sub { device_stat($node, 'device_state') eq 'ready' });

# ---- stopped: sessions do without it, and it is replaced ----

$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('t', '{i,b,n,z}')));
asks('before it is stopped', 1, $query);
$node->safe_psql('postgres', $_) for q(ALTER SYSTEM SET gpuagg.device_timeout = '5s'), 'SELECT pg_reload_conf()';
wait_until(sub { $node->safe_psql('postgres', 'SHOW gpuagg.device_timeout') eq '5s' });
my $stopped = gpuaggd_pid($node);
kill 'STOP', $stopped;
asks('stopped', 0, $query);
asks('stopped, and another column to be put into memory', 0, 'SELECT %ssum(f), %scount(f) FROM t WHERE f > 7',
	expected => $node->safe_psql('postgres', 'SET gpuagg.device = cpu; SET gpuagg.resident = off; SELECT gpu_sum(f), gpu_count(f) FROM t WHERE f > 7'));
wait_until(sub { !-e "/proc/$stopped" && device_stat($node, 'device_state') eq 'ready' });
$node->safe_psql('postgres', $_) for 'ALTER SYSTEM RESET gpuagg.device_timeout', 'SELECT pg_reload_conf()';
wait_until(sub { $node->safe_psql('postgres', 'SHOW gpuagg.device_timeout') eq '10min' });
$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('t', '{i,b,n,z}')));
asks('replaced', 1, $query);

# ---- another database, a table that goes ----

$node->safe_psql('postgres', 'CREATE DATABASE other');
make('other', 't');
$node->safe_psql('other', q(SELECT gpuagg_prefetch('t', '{i,b}')));
is(blocks('t', 'b', 'other'), '2 2 host and device', 'a table of another database');
asks('another database', 1, 'SELECT %ssum(b) FROM t', db => 'other');
$node->safe_psql('postgres', q(SELECT gpuagg_evict('t')));
is(blocks('t', 'b'), '', 'thrown out');
asks('thrown out', 0, 'SELECT %ssum(b) FROM t WHERE i > 5');
$node->safe_psql('other', 'DROP TABLE t');
is($node->safe_psql('other', 'SELECT count(*) FROM gpuagg_resident'), 0, 'a table that was dropped');

# ---- more columns than there is memory: the one used last stays ----

make('postgres', "t$_") for 1 .. 4;
$node->append_conf('postgresql.conf', "gpuagg.device_memory = '4MB'");
$node->restart;
ok(wait_device($node), 'the device is there with 4 MB');
for my $i (1 .. 4)
{
	# a request that the device has no time for leaves columns in host memory
	ok(wait_until(sub
		{
			$node->safe_psql('postgres', "SELECT gpuagg_prefetch('t$i', '{b,f}')");
			return blocks("t$i", 'f') =~ /^2 2 /;
		}), "t$i is there");
}
my $there = $node->safe_psql('postgres', 'SELECT coalesce(sum(device_bytes), 0) <= 4 * 1024 * 1024 FROM gpuagg_resident');
is($there, 't', 'no more than fits is said to be there');
like(blocks('t1', 'b') . blocks('t1', 'f'), qr/ [01] host/, 'what was used first has gone');
for my $i (1 .. 4)
{
	my $core = $node->safe_psql('postgres', "SELECT sum(b), count(f) FROM t$i");

	is($node->safe_psql('postgres', "SELECT gpu_sum(b), gpu_count(f) FROM t$i"), $core, "t$i: right answer");
}
unlike(slurp_file($node->logfile), qr/server process .* was terminated|PANIC:|TRAP:/, 'no session has crashed');
done_testing();
