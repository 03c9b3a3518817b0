# The memory of resident columns: crashes, sessions that end with columns in use, too little of it.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $conf = "wal_level = replica\ngpuagg.min_table_pages = 0\ngpuagg.resident = on\nmax_parallel_workers_per_gather = 0\n"
  . "session_preload_libraries = 'gpuagg'\n";
my $node = gpuagg_node('memory', mode => 'cpu', rows => 0, conf => "${conf}restart_after_crash = on\n");
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');

# Columns c1 to c30 of 8 bytes a value, and many more rows than pages' worth of one.
sub make_wide
{
	my ($on, $rows) = @_;
	my $columns = join ', ', map { "c$_ int8" } 1 .. 30;
	my $values = join ', ', map { "i * ($_ + 1000000007::int8) * (i % 1000)" } 1 .. 30;

	$on->safe_psql('postgres', "CREATE EXTENSION IF NOT EXISTS gpuagg; CREATE TABLE wide (id int, $columns) WITH (autovacuum_enabled = off);"
		  . " INSERT INTO wide SELECT i, $values FROM generate_series(1, $rows) i; VACUUM wide;"
		  . ' CREATE INDEX ON wide (id)');
	return;
}

# Segments of dynamic shared memory that a process has mapped: bytes by name.
sub segments
{
	my ($pid) = @_;
	my %found;

	for (split /\n/, slurp_file("/proc/$pid/maps"))
	{
		$found{$3} += hex($2) - hex($1) if m{^([0-9a-f]+)-([0-9a-f]+) .* (/dev/shm/PostgreSQL\.\d+)$};
	}
	return %found;
}

# The large ones of these, which hold values.
sub value_segments
{
	my %all = segments(@_);

	return grep { $all{$_} >= 15 * 1024 * 1024 } sort keys %all;
}

sub pid_of
{
	my ($session) = @_;

	return $session->query_safe('SELECT pg_backend_pid()');
}

my $pages = 'SELECT resident_pages + resident_confirmed, table_pages, resident_filled FROM gpuagg_last_query()';
my $few = q(SELECT coalesce(sum(bytes), 0) FROM gpuagg_resident);

make_wide($node, 30_000);
my $npages = $node->safe_psql('postgres', q(SELECT pg_relation_size('wide') / current_setting('block_size')::int));
my $sum = $node->safe_psql('postgres', 'SELECT sum(c1), sum(c2) FROM wide');
my $use = "SELECT gpu_sum(c1), gpu_sum(c2) FROM wide; $pages";

# ---- a crash leaves nothing ----

my $session = background($node);
is($session->query_safe($use), "$sum\n0|$npages|$npages", 'first use');
is($session->query_safe($use), "$sum\n$npages|0|0", 'second use');
my %before = segments(pid_of($session));
cmp_ok(scalar(value_segments(pid_of($session))), '>', 0, 'the values lie in segments');
$session->query_safe(q(SELECT gpuagg_evict('wide')));
is($session->query_safe($use), "$sum\n0|$npages|$npages", 'use after they are thrown out');
is(join(' ', value_segments(pid_of($session))), join(' ', grep { $before{$_} >= 15 * 1024 * 1024 } sort keys %before),
	'in the same segments');
my $victim = background($node);
$victim->query_safe($use);
kill 'KILL', pid_of($victim);
eval { $victim->query('SELECT 1') };
eval { $victim->quit };
eval { $session->query('SELECT 1') };
eval { $session->quit };
ok(wait_started($node), 'the server starts again');
is(join(' ', grep { -e } keys %before), '', 'no segment is left of those before');
is($node->safe_psql('postgres', $few), '0', 'no column is in memory');
is($node->safe_psql('postgres', $use), "$sum\n0|$npages|$npages", 'they come again');

# the server itself, too
$session = background($node);
is($session->query_safe($use), "$sum\n$npages|0|0", 'and are used');
%before = segments(pid_of($session));
$node->stop('immediate');
eval { $session->quit };
$node->start;
is(join(' ', grep { -e } keys %before), '', 'an immediate stop leaves no segment');
is($node->safe_psql('postgres', $use), "$sum\n0|$npages|$npages", 'after it they come again');

# ---- a session ends with columns in use ----

# Ends a session that uses columns; then these go, and their memory.
sub ended
{
	my ($what, $statement, $is_there) = @_;
	my $running = background($node);
	my $pid = pid_of($running);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$running->query_safe($use);
	my @held = value_segments($pid);
	send_query($running, $statement);
	ok($node->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_stat_activity WHERE pid = $pid AND $is_there"),
		"$what: it is there");
	is($node->safe_psql('postgres', q(SELECT gpuagg_evict('wide') > 0)), 't', "$what: columns are thrown out");
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
	eval { $running->quit };
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid");
	$node->safe_psql('postgres', 'SELECT gpuagg_evict()');
	# a process that has answered may not have ended yet
	ok(wait_until(sub { !grep { -e } @held }), "$what: their memory is free");
	is($node->safe_psql('postgres', $use), "$sum\n0|$npages|$npages", "$what: afterwards");
	return;
}

ended('terminated with a cursor', 'BEGIN; DECLARE c CURSOR FOR SELECT id, gpu_sum(c1), gpu_sum(c2) FROM wide GROUP BY id; FETCH 1 FROM c',
	q(state = 'idle in transaction'));
ended('terminated in a subtransaction', 'BEGIN; SAVEPOINT s; DECLARE c CURSOR FOR SELECT id, gpu_sum(c1) FROM wide GROUP BY id; FETCH 1 FROM c',
	q(state = 'idle in transaction'));

# all at once, in all states, with workers
my @many = map { background($node, 'max_parallel_workers_per_gather = 2', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0') } 1 .. 6;
my @pids = map { pid_of($_) } @many;
send_query($_, 'DO $$ BEGIN FOR i IN 1..100000 LOOP PERFORM gpu_sum(c1), gpu_sum(c2), gpu_sum(c3) FROM wide; '
	  . q(IF i % 5 = 0 THEN PERFORM gpuagg_evict('wide'); END IF; END LOOP; END $$)) for @many;
ok($node->poll_query_until('postgres', 'SELECT table_pages > 3 * ' . $npages . ' FROM gpuagg_stat'), 'many at work');
$node->safe_psql('postgres', 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN (' . join(',', @pids) . ')');
eval { $_->quit } for @many;
$node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_stat_activity WHERE pid IN (' . join(',', @pids) . ')');
$session = background($node);
$session->query_safe($use);
my @held = value_segments(pid_of($session));
$session->quit;
$node->safe_psql('postgres', 'SELECT gpuagg_evict()');
ok(wait_until(sub { !grep { -e } @held }), 'many terminated at once: their memory is free');

# ---- little memory ----

$node->append_conf('postgresql.conf', "gpuagg.column_memory = '18MB'\n");
$node->restart;
my $bound = 18 * 1024 * 1024;

# 20 sessions want more columns than there is room for, of a table that changes.
my $path = $node->basedir . '/pressure.sql';
append_to_file($path, q{\set c random(1, 30)
\set id random(1, 30000)
SELECT 1 / (count(*) = 1)::int FROM (SELECT gpu_sum(c:c) AS x, gpu_min(c:c) AS y FROM wide) a JOIN
	(SELECT sum(c:c) AS x, min(c:c) AS y FROM wide) b USING (x, y);
UPDATE wide SET c:c = c:c + 1 WHERE id = :id;
SELECT 1 / (count(*) = 1)::int FROM (SELECT gpu_sum(c:c) AS x, gpu_count(*) AS y FROM wide WHERE id > :id) a JOIN
	(SELECT sum(c:c) AS x, count(*) AS y FROM wide WHERE id > :id) b USING (x, y);
});
$node->safe_psql('postgres', "INSERT INTO wide SELECT * FROM wide; INSERT INTO wide SELECT * FROM wide; VACUUM wide");
my $wide = $node->safe_psql('postgres', 'SELECT count(*) FROM wide') * 30 * 8;
cmp_ok($wide, '>', $bound * 1.3, 'there is less memory than columns');
$node->command_ok(pgbench_command($node, $path, '-c', 20, '-j', 2, '-t', 3), '20 sessions: all results are right');
$session = background($node);
$session->query_safe('VACUUM wide');
$session->query_safe('SELECT ' . join(', ', map { "gpu_sum(c$_)" } 1 .. 30) . ' FROM wide');
my %mapped = segments(pid_of($session));
my $total = 0;
$total += $mapped{$_} for value_segments(pid_of($session));
cmp_ok($total, '<=', $bound, 'segments within the bound');
cmp_ok($total, '>', 0, 'and there are some');
cmp_ok($session->query_safe($few), '<=', $bound, 'columns within the bound');
$session->quit;

# A table three times larger than the memory, at 8.6 bytes a value, keeps a part of itself there.
my $all = 'SELECT ' . join(', ', map { "gpu_sum(c$_)" } 1 .. 30) . ' FROM wide';
$node->safe_psql('postgres', "INSERT INTO wide SELECT * FROM wide; INSERT INTO wide SELECT * FROM wide LIMIT 175000; VACUUM wide");
is($node->safe_psql('postgres', 'SELECT count(*) FROM wide'), '415000', 'three times the memory: the rows');
$node->append_conf('postgresql.conf', "gpuagg.column_memory = '34MB'\n");
$node->restart;
my $core = $node->safe_psql('postgres', $all =~ s/gpu_//gr);
$session = background($node);
for my $scan (1 .. 5)
{
	my ($result, $counts) = split /\n/, $session->query_safe("$all; $pages");
	my ($memory, $read) = split /\|/, $counts;

	is($result, $core, "three times the memory, scan $scan: right");
	cmp_ok($memory / ($memory + $read), '>=', 0.25, "three times the memory, scan $scan: a quarter comes from memory")
	  or diag("from memory $memory, read $read") if $scan > 1;
}
$session->quit;
$node->stop;
no_crash_but_killed($node);

# Nothing has died of another signal than ours.
sub no_crash_but_killed
{
	my ($of) = @_;
	my @dead = slurp_file($of->logfile) =~ /terminated by signal (\d+)/g;

	is(join(' ', grep { $_ != 9 } @dead), '', 'nothing has died of another signal');
	unlike(slurp_file($of->logfile), qr/PANIC:|TRAP:/, 'nothing has failed');
	return;
}

# ---- no room for segments ----

# A limit on the size of files is one on segments, too; WAL files are smaller.
SKIP:
{
	skip 'prlimit is not there', 5 if system('prlimit --version >/dev/null 2>&1') != 0;
	my $short = gpuagg_node('short', mode => 'cpu', rows => 0, start => 0, conf => $conf, init => { extra => ['--wal-segsize=1'] });

	system('prlimit', "--pid=$$", '--fsize=8388608:unlimited') == 0 or die 'prlimit';
	$short->start;
	system('prlimit', "--pid=$$", '--fsize=unlimited:unlimited') == 0 or die 'prlimit';
	$short->safe_psql('postgres', 'CREATE EXTENSION gpuagg; CREATE TABLE kept AS SELECT i FROM generate_series(1, 10000) i; VACUUM kept');
	for (1, 2)
	{
		like($short->safe_psql('postgres', "SELECT gpu_sum(i) FROM kept; $pages"), qr/^50005000\n0\|\d+\|0$/,
			"no room for a segment, use $_: right, from pages");
	}
	my ($rc, $out, $err) = $short->psql('postgres', q(SELECT rows FROM gpuagg_prefetch('kept')));
	is($out, '0', 'no room for a segment: nothing is prefetched');
	like($err, qr/pages are not resident: .*shared memory/, 'and the reason is said');
	$short->stop;
	no_crash($short);
}

# ---- snapshots that can become too old ----

SKIP:
{
	skip 'old_snapshot_threshold is not there from 17 on', 4 if $version >= 170000;
	my $old = gpuagg_node('old', mode => 'cpu', rows => 0, conf => "${conf}old_snapshot_threshold = '1min'\n");

	$old->safe_psql('postgres', 'CREATE EXTENSION gpuagg; CREATE TABLE kept AS SELECT i FROM generate_series(1, 10000) i; VACUUM kept');
	for (1, 2)
	{
		like($old->safe_psql('postgres', "SELECT gpu_sum(i) FROM kept; $pages"), qr/^50005000\n0\|\d+\|0$/,
			"snapshots that can become too old, use $_: right, from pages");
	}
	my ($rc, $out, $err) = $old->psql('postgres', q(SELECT rows FROM gpuagg_prefetch('kept')));
	is($out, '0', 'nothing is prefetched then');
	like($err, qr/pages are not resident: "old_snapshot_threshold" is set/, 'and the reason is said');
	$old->stop;
}

done_testing();
