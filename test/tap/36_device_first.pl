# Values of resident columns on the device alone: more than shared memory holds, and what becomes of
# them when the device program ends, has too little memory, or the table changes.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = gpuagg_node(
	'first',
	rows => 0,
	conf => "wal_level = replica\ngpuagg.min_table_pages = 0\ngpuagg.resident = on\n"
	  . "gpuagg.column_memory = '18MB'\nmax_parallel_workers_per_gather = 0\nsession_preload_libraries = 'gpuagg'\n");
my $limit = 18 * 1024 * 1024;
my $rows = 80_000;
my @all = map { "c$_" } 1 .. 30;

# Columns c1 to c30 of 8 bytes a value, 19 MB together.
sub make
{
	my ($table) = @_;
	my $columns = join ', ', map { "$_ int8" } @all;
	my $values = join ', ', map { "i * ($_ + 1000000007::int8) * (i % 1000)" } 1 .. 30;

	$node->safe_psql('postgres', "CREATE TABLE $table (id int, $columns) WITH (autovacuum_enabled = off);"
		  . "INSERT INTO $table SELECT i, $values FROM generate_series(1, $rows) i; VACUUM $table");
	return;
}

sub one
{
	return $node->safe_psql('postgres', $_[0]);
}

# The answer is core's; what came from where: chunks of the device, and pages read.
sub asks
{
	my ($what, $query, %is) = @_;
	my $core = one("SET gpuagg.enable_agg_scan = off; " . sprintf($query, ('') x 4));
	my $ours = sprintf($query, ('gpu_') x 4);
	my $said = one(($is{set} // '') . "$ours; SELECT 'last', device_batches, table_pages, resident_pages + resident_confirmed FROM gpuagg_last_query()");
	my ($device, $read, $memory);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$said =~ s/\n?^last\|(\d+)\|(\d+)\|(\d+)\z//m or die "unexpected: $said";
	($device, $read, $memory) = ($1, $2, $3);
	is($said, $core, "$what: right");
	is($device, $is{device}, "$what: by the device, or not") if defined $is{device};
	ok($is{read}->($read), "$what: pages read") or diag("read $read, from memory $memory") if defined $is{read};
	return;
}

my $cpu = 'SET gpuagg.device = cpu;';
my $none = sub { $_[0] == 0 };
my $some = sub { $_[0] > 0 };
my $totals = q(SELECT sum(chunks), sum(device_chunks), sum(bytes) <= ) . $limit . q( FROM gpuagg_resident WHERE relation = '%s'::regclass);
my $places = q(SELECT string_agg(DISTINCT place, '; ' ORDER BY place) FROM gpuagg_resident WHERE relation = '%s'::regclass);
my $first = 'SELECT %ssum(c1), %ssum(c2), %scount(*) FROM wide WHERE c3 <> 12';
my $last = 'SELECT %ssum(c30), %ssum(c29), %scount(*) FROM wide WHERE c28 <> 12';

# ---- more than shared memory holds ----

$node->safe_psql('postgres', 'CREATE EXTENSION gpuagg');
make($_) for qw(wide more);
my $npages = one(q(SELECT pg_relation_size('wide') / current_setting('block_size')::int));
my $nblocks = 31 * int(($npages + 255) / 256);
ok(wait_device($node), 'the device is there');
is(one(q(SELECT rows FROM gpuagg_prefetch('wide'))), 31 * $rows, 'all is resident');
is(one(sprintf($totals, 'wide')), "$nblocks|$nblocks|t", 'all of it on the device, within gpuagg.column_memory');
like(one(sprintf($places, 'wide')), qr/device/, 'some columns are there alone');
unlike(one(sprintf($places, 'wide')), qr/partly device/, 'and none in part');
asks('the first columns', $first, device => 1, read => $none);
asks('the last columns', $last, device => 1, read => $none);
asks('columns together that became bare one after the other', 'SELECT %ssum(c1 + c30), %ssum(c15), %scount(*) FROM wide WHERE id > 100', device => 1, read => $none);

# ---- the CPU has no values of them, but all else ----

my @device_alone = split /\n/, one(q(SELECT attribute FROM gpuagg_resident WHERE place = 'device' AND attribute <> 'id' ORDER BY attribute));
cmp_ok(scalar @device_alone, '>', 3, 'columns of which no value is in shared memory');
my $alone = $device_alone[0];
my $host = one(q(SELECT attribute FROM gpuagg_resident WHERE place = 'host and device' AND attribute <> 'id' ORDER BY attribute LIMIT 1));
isnt($host, '', 'and one that is there, too');
asks('groups', "SELECT id %% 3, %ssum($alone), %scount(*), %smax(id) FROM wide GROUP BY 1 ORDER BY 1", set => $cpu, device => 0, read => $some);
asks('groups, by the device', "SELECT id %% 3, %ssum($alone), %scount(*), %smax(id) FROM wide GROUP BY 1 ORDER BY 1", device => 1, read => $none);
asks('groups of a column in shared memory', "SELECT $host %% 3, %ssum($host), %scount(*) FROM wide GROUP BY 1 ORDER BY 1", set => $cpu, device => 0, read => $none);
asks('DISTINCT', "SELECT id %% 3, %ssum($alone), %scount(DISTINCT id %% 5), %smax(id) FROM wide GROUP BY 1 ORDER BY 1", device => 0, read => $some);
asks('DISTINCT of a column in shared memory', "SELECT $host %% 3, %ssum($host), %scount(DISTINCT $host %% 5) FROM wide GROUP BY 1 ORDER BY 1", device => 0, read => $none);
asks('the CPU is asked for', $first, set => 'SET gpuagg.device = cpu;', device => 0);
asks('smallest and largest', "SELECT %smin($alone), %smax($alone), %scount($alone) FROM wide", set => 'SET gpuagg.device = cpu;', device => 0, read => $none);
asks('no chunk has such values', "SELECT %ssum($alone), %scount(*) FROM wide WHERE $alone < -5", set => 'SET gpuagg.device = cpu;', device => 0, read => $none);
asks('rows alone', 'SELECT %scount(*) FROM wide', device => 0, read => $none);
is(one(sprintf($totals, 'wide')), "$nblocks|$nblocks|t", 'nothing has left the device');

# ---- workers ----

my $workers = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 8;';
asks('with workers planned', $first, set => $workers, device => 1, read => $none);
asks('groups, by workers', "SELECT id %% 3, %ssum($alone), %scount(*), %smax(id) FROM wide GROUP BY 1 ORDER BY 1", set => "$workers $cpu", device => 0, read => $some);
asks('DISTINCT, by workers', "SELECT id %% 3, %ssum($alone), %scount(DISTINCT id %% 5), %smax(id) FROM wide GROUP BY 1 ORDER BY 1", set => $workers, device => 0, read => $some);
asks('by workers without the device', "SELECT %ssum($alone), %ssum($host) FROM wide", set => "$workers SET gpuagg.device = cpu;", device => 0, read => $some);

# ---- changes ----

one('UPDATE wide SET c1 = c1 + 1, c30 = -c30 WHERE id IN (500, 40000)');
asks('two rows have changed', $first, device => 1, read => $some);
one('VACUUM wide');
asks('after a vacuum', $last, device => 1) for 1 .. 3;
one('UPDATE wide SET c1 = c1 + 1 WHERE id BETWEEN 10000 AND 20000');
asks('many have changed', $first, device => 1, read => $some);
one('VACUUM wide');
asks('many have changed, after a vacuum', $first) for 1 .. 4;
one('DELETE FROM wide WHERE id > 70000');
asks('many have gone', $last);
one('VACUUM wide');
asks('many have gone, after a vacuum', $last) for 1 .. 4;
one(q(SELECT gpuagg_prefetch('wide')));
asks('brought there again', $last, device => 1, read => $none);
asks('brought there again, others', $first, device => 1, read => $none);

# ---- the device program ends: what was there alone is nowhere ----

one(q(SELECT gpuagg_prefetch('more')));
$alone = one(q(SELECT attribute FROM gpuagg_resident WHERE place = 'device' AND attribute <> 'id' ORDER BY attribute LIMIT 1));
isnt($alone, '', 'a column is on the device alone');
kill_gpuaggd($node);
# in mode auto what is used for the first time is not sent, should there be another one already
asks('without the device program', "SELECT %ssum($alone) FROM wide", set => 'SET gpuagg.resident = auto;', device => 0, read => $some);
ok(wait_until(sub { device_stat($node, 'device_state') eq 'ready' }), 'another one is there');
unlike(one(sprintf($places, 'wide')), qr/device/, 'with nothing');
cmp_ok(one(q(SELECT sum(chunks) FROM gpuagg_resident WHERE relation = 'wide'::regclass)), '<', $nblocks, 'what was there alone has gone');
for my $i (1 .. 6)
{
	asks("use $i after that", $last);
	asks("use $i after that, of others", $first);
}
# a use sends what gpuaggd takes without being waited for
my $all_there = "SELECT bool_and(chunks = device_chunks) FROM gpuagg_resident WHERE relation = 'wide'::regclass AND attribute = ANY ('{c28,c29,c30}')";
ok(wait_until(sub { one(sprintf($last, ('gpu_') x 4)); one($all_there) eq 't' }), 'it has come again by use');
asks('by use', $last, device => 1, read => $none);
one(q(SELECT gpuagg_prefetch('wide')));
like(one(sprintf($totals, 'wide')), qr/^(\d+)\|\1\|t$/, 'all is on the new one');
asks('all', $last, device => 1, read => $none);
asks('others', $first, device => 1, read => $none);

# with a query there
hold_device();
my $session = background($node);
send_query($session, 'SELECT gpu_sum(c30), gpu_count(*) FROM wide WHERE c28 <> 12');
ok(wait_held(), 'a query is on the device');
kill_gpuaggd($node);
release_device();
is($session->query_safe('SELECT 1'), one('SET gpuagg.enable_agg_scan = off; SELECT sum(c30), count(*) FROM wide WHERE c28 <> 12') . "\n1",
	'killed with a query: right');
$session->quit;
ok(wait_until(sub { device_stat($node, 'device_state') eq 'ready' }), 'there again');

# ---- which go first: from shared memory what is on the device, too; least recently used columns first ----

one('SELECT gpuagg_evict()');
one(q(SELECT gpuagg_prefetch('wide', '{c1,c2,c3,c4}')));
is(one(sprintf($places, 'wide')), 'host and device', 'few columns are in both');
one(sprintf('SELECT %ssum(c1) FROM wide', 'gpu_'));
one(q(SELECT gpuagg_prefetch('more')));
my %place = map { split /\|/ } split /\n/, one(q(SELECT attribute, place FROM gpuagg_resident WHERE relation = 'wide'::regclass));
is($place{$_}, 'device', "$_, used before the others, is on the device alone") for qw(c1 c2 c3 c4);
asks('they are computed there', 'SELECT %ssum(c1), %ssum(c2), %ssum(c3 + c4) FROM wide', device => 1, read => $none);

# where there is room again, values come back into shared memory with use
one(q(SELECT gpuagg_evict('more')));
asks('DISTINCT of what is on the device alone', 'SELECT id %% 3, %ssum(c1), %scount(DISTINCT id) FROM wide GROUP BY 1 ORDER BY 1', device => 0, read => $some);
# a scan may have begun in the middle of a chunk
asks('DISTINCT once more', 'SELECT id %% 3, %ssum(c1), %scount(DISTINCT id) FROM wide GROUP BY 1 ORDER BY 1', device => 0);
asks('DISTINCT again', 'SELECT id %% 3, %ssum(c1), %scount(DISTINCT id) FROM wide GROUP BY 1 ORDER BY 1', device => 0, read => $none);
is(one(q(SELECT place FROM gpuagg_resident WHERE relation = 'wide'::regclass AND attribute = 'c1')), 'host and device', 'they are in both');
asks('and computed on the device', 'SELECT %ssum(c1), %ssum(c2), %ssum(c3 + c4) FROM wide', device => 1, read => $none);

# without a device nothing becomes bare: blocks go, those of the columns used least recently first
one('SELECT gpuagg_evict()');
one(q(SET gpuagg.device = cpu; SELECT gpuagg_prefetch('wide', '{c1,c2,c3,c4}')));
one(q(SET gpuagg.device = cpu; SELECT gpuagg_prefetch('more'))) for 1 .. 2;
is(one(q(SELECT coalesce(sum(device_chunks), 0) FROM gpuagg_resident)), '0', 'nothing is on the device');
%place = map { split /\|/ } split /\n/, one(q(SELECT attribute, chunks FROM gpuagg_resident WHERE relation = 'wide'::regclass));
is($place{c1} // 0, 0, 'c1 has gone');

# ---- too little memory on the device ----

one('SELECT gpuagg_evict()');
$node->append_conf('postgresql.conf', "gpuagg.device_memory = '16MB'");
$node->restart;
ok(wait_device($node), 'the device is there with 16 MB');
one(q(SELECT gpuagg_prefetch('wide', '{c1,c2,c3,c4,c5,c6}')));
one(q(SELECT gpuagg_prefetch('more')));
one(q(SELECT gpuagg_prefetch('more')));
like(one(sprintf($totals, 'more')), qr/\|t$/, 'no more than fits');
is(one(q(SELECT coalesce(sum(chunks + device_chunks), 0) FROM gpuagg_resident WHERE relation = 'wide'::regclass)), '0',
	'columns used before have gone from both');
is(one(q(SELECT sum(chunks) FROM gpuagg_resident WHERE relation = 'more'::regclass)), 31 * 11, 'the others are there as a whole,');
is(one(q(SELECT bool_and(n > 0) FROM (SELECT count(*) FILTER (WHERE place = 'device') AS a, count(*) FILTER (WHERE place = 'host') AS b
	FROM gpuagg_resident WHERE relation = 'more'::regclass) c, unnest(ARRAY[a, b]) n)), 't', 'some on the device alone, some in shared memory');
asks('of columns in either', 'SELECT %ssum(c1), %ssum(c30), %scount(*) FROM more', read => $none);
asks("table $_", "SELECT %ssum(c1), %ssum(c2), %scount(c30) FROM $_") for qw(wide more);
asks("table $_ again", "SELECT %ssum(c1), %ssum(c2), %scount(c30) FROM $_") for qw(wide more wide more);
is(one(q(SELECT count(*) FROM gpuagg_resident WHERE device_chunks > chunks)), '0', 'no column has more on the device than it has');

# ---- many sessions, a table that changes, and a device program that is killed ----

one('SELECT gpuagg_evict()');
my $path = $node->basedir . '/pressure.sql';
append_to_file($path, q{\set c random(1, 30)
\set d random(1, 30)
\set id random(1, 60000)
SELECT 1 / (count(*) = 1)::int FROM (SELECT gpu_sum(c:c) AS x, gpu_sum(c:d) AS y FROM wide WHERE id > :id) a JOIN
	(SELECT sum(c:c) AS x, sum(c:d) AS y FROM wide WHERE id > :id) b USING (x, y);
UPDATE wide SET c:c = c:c + 1 WHERE id = :id;
SELECT 1 / (count(*) = 1)::int FROM (SELECT gpu_sum(c:c) AS x, gpu_count(*) AS y FROM more WHERE c:d > 0) a JOIN
	(SELECT sum(c:c) AS x, count(*) AS y FROM more WHERE c:d > 0) b USING (x, y);
SELECT 1 / (count(*) = 1)::int FROM (SELECT gpu_sum(c:c) AS x, gpu_max(c:d) AS y FROM wide) a JOIN
	(SELECT sum(c:c) AS x, max(c:d) AS y FROM wide) b USING (x, y);
});
my @more = map { background($node) } 1 .. 2;
send_query($more[0], q(DO $$ BEGIN FOR i IN 1..15 LOOP PERFORM gpuagg_prefetch('wide'); PERFORM pg_sleep(0.05); END LOOP; END $$));
send_query($more[1], "SELECT pg_sleep(0.2);\nVACUUM wide;\nSELECT pg_sleep(0.5);\nVACUUM wide;\nSELECT gpuagg_evict('more')");
my $killer = fork;
if ($killer == 0)
{
	for (1 .. 3)
	{
		sleep 2;
		my $pid = gpuaggd_pid($node);
		kill 'KILL', $pid if $pid;
	}
	require POSIX;
	POSIX::_exit(0);
}
$node->command_ok(pgbench_command($node, $path, '-c', 6, '-j', 2, '-t', 12), 'many sessions: all results are right');
waitpid($killer, 0);
$_->quit for @more;
asks('afterwards', $first);
unlike(slurp_file($node->logfile), qr/server process .* was terminated|PANIC:|TRAP:/, 'no session has crashed');
done_testing();
