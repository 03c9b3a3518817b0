# gpuagg.device = gpu and tables that are read as columns: what is on the device is used, pages are
# read by the CPU, and no device is an error.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $conf = "wal_level = replica\ngpuagg.min_table_pages = 1\ngpuagg.resident = on\nmax_parallel_workers_per_gather = 0\n";
my $node = gpuagg_node('mode', mode => 'gpu', rows => 0, conf => $conf);
my $rows = 60_000;
my $query = 'SELECT %ssum(b), %scount(z), %smax(i) FROM t WHERE i > 1000';
my $core = 'SELECT sum(b), count(z), max(i) FROM t WHERE i > 1000';
my $ours = sprintf($query, ('gpu_') x 3);
my $pages = 'SELECT device_batches, table_pages > 0, resident_pages > 0 FROM gpuagg_last_query()';

sub make
{
	my ($on) = @_;

	$on->safe_psql('postgres', 'CREATE EXTENSION gpuagg;'
		  . 'CREATE TABLE t (i int, b int8, z int) WITH (autovacuum_enabled = off);'
		  . "INSERT INTO t SELECT i, i * 1000003::int8, nullif(i % 5, 0) FROM generate_series(1, $rows) i;"
		  . 'VACUUM ANALYZE t');
	return;
}

# ---- the first query of all waits for the device, and reads pages; later ones are the device's ----

make($node);
my $expected = $node->safe_psql('postgres', "$core");
is($node->safe_psql('postgres', "$ours; $pages"), "$expected\n0|t|f", 'no column is resident: pages are read, not rows one by one');
is(device_stat($node, 'device_state'), 'ready', 'the query has waited for the device');
$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('t')));
is($node->safe_psql('postgres', "$ours; $pages"), "$expected\n1|f|t", 'columns on the device: the device does all');
is($node->safe_psql('postgres', "SET gpuagg.device_min_rows = 100000; $ours; $pages"), "$expected\n0|f|t",
	'fewer rows than gpuagg.device_min_rows: from memory');
like($node->safe_psql('postgres', "SET gpuagg.enable_agg_scan = off; $ours; $pages"), qr/^\Q$expected\E\n[1-9]\d*\|f\|f$/,
	'gpuagg.enable_agg_scan = off: rows go to the device');
like($node->safe_psql('postgres', "EXPLAIN (COSTS OFF) $ours"), qr/GpuAgg/, 'the plan is that of mode auto');

# In mode auto few rows are the CPU's, and those that smallest and largest values leave.
$node->safe_psql('postgres', 'CREATE TABLE many (i int, b int8) WITH (autovacuum_enabled = off);'
	  . 'INSERT INTO many SELECT i, i * 1000003::int8 FROM generate_series(1, 300000) i; VACUUM ANALYZE many');
$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('many')));
my $auto = 'SET gpuagg.device = auto; SET gpuagg.device_min_rows = 1;';
for (['SELECT gpu_sum(b) FROM many', 1], ['SELECT gpu_sum(b) FROM many WHERE i > 30000', 1], ['SELECT gpu_sum(b) FROM many WHERE i > 200000', 0], ["$ours", 0])
{
	my ($sql, $on_device) = @$_;

	like($node->safe_psql('postgres', "$auto $sql; $pages"), qr/\n$on_device\|f\|t$/, "mode auto: $sql");
}
like($node->safe_psql('postgres', "$auto EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) SELECT gpu_sum(b) FROM many WHERE i > 200000"),
	qr/Device Not Used: so few rows take the CPU no longer/, 'and EXPLAIN says so');

# What is there lowers the costs of who can use it.
sub cost
{
	my ($settings, $sql) = @_;

	$node->safe_psql('postgres', "$settings EXPLAIN $sql") =~ /cost=[\d.]+\.\.([\d.]+)/ or die 'no cost';
	return $1;
}
cmp_ok(cost('', $ours), '<', cost('SET gpuagg.device = cpu;', $ours), 'the device costs less than shared memory');
cmp_ok(cost('SET gpuagg.device = cpu;', $ours), '<', cost('SET gpuagg.resident = off;', $ours), 'which costs less than pages');
cmp_ok(cost('', 'SELECT gpu_sum(b) FROM t GROUP BY z'), '<', cost('SET gpuagg.device = cpu;', 'SELECT gpu_sum(b) FROM t GROUP BY z'),
	'groups, too');
cmp_ok(cost('', 'SELECT gpu_sum(DISTINCT b) FROM t'), '==', cost('SET gpuagg.device = cpu;', 'SELECT gpu_sum(DISTINCT b) FROM t'),
	'what the device cannot do costs the same');

# ---- a partitioned table whose plan has workers: the leader asks the device before it asks for them ----

$node->safe_psql('postgres', q(
CREATE TABLE parts (i int, b int8) PARTITION BY RANGE (i);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (20000) WITH (autovacuum_enabled = off);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (20000) TO (40000) WITH (autovacuum_enabled = off);
CREATE TABLE parts_3 (b int8, other text, i int) WITH (autovacuum_enabled = off);
ALTER TABLE parts_3 DROP COLUMN other;
ALTER TABLE parts ATTACH PARTITION parts_3 FOR VALUES FROM (40000) TO (60000);
CREATE TABLE parts_4 PARTITION OF parts FOR VALUES FROM (60000) TO (1000000) WITH (autovacuum_enabled = off);
INSERT INTO parts SELECT i, i * 1000003::int8 FROM generate_series(0, 59999) i;
VACUUM ANALYZE parts));
my $workers = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; '
  . 'SET min_parallel_table_scan_size = 8; SET gpuagg.min_table_pages = 0;';
my $of_parts = 'SELECT gpu_sum(b), gpu_count(*), gpu_min(i) FROM parts WHERE i <> %s';
my $core_of_parts = 'SELECT sum(b), count(*), min(i) FROM parts WHERE i <> %s';

# What EXPLAIN (ANALYZE) says of a query that was planned before: chunks on the device, and whether
# there were workers.
sub explained
{
	my ($settings, $sql) = @_;
	my $plan = $node->safe_psql('postgres', "$settings SET gpuagg.resident = off; PREPARE q AS $sql; EXECUTE q;"
		  . ' RESET gpuagg.resident; EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF) EXECUTE q');


	my ($chunks) = $plan =~ /Chunks on Device: (\d+)/;
	my ($gather) = $plan =~ /(Gather(?: \(never executed\))?)/;

	return ($chunks // 0) . (!defined $gather ? '' : $gather =~ /never/ ? ' unused workers' : ' workers');
}

# The sums are core's, and are computed in such a way.
sub parts_by
{
	my ($what, $way, $settings, $value) = @_;
	my $sql = sprintf($of_parts, $value // 7);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($node->safe_psql('postgres', "$settings $sql"), $node->safe_psql('postgres', sprintf($core_of_parts, $value // 7)), "$what: right");
	like(explained($settings, $sql), qr/^$way$/, "$what: in that way");
	return;
}

$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('parts')));
parts_by('partitions on the device, no workers planned', '3', '');
parts_by('partitions on the device, workers planned', '3 unused workers', $workers);
parts_by('a value that is known with the first row only', '2 unused workers', $workers, '(SELECT 7)');
parts_by('without append nodes that are shared', '3 unused workers', "$workers SET enable_parallel_append = off;");
my $groups = 'SELECT i >= 30000, %ssum(b), %scount(*) FROM parts WHERE i > 50 GROUP BY 1 ORDER BY 1';
is($node->safe_psql('postgres', "$workers " . sprintf($groups, ('gpu_') x 2)), $node->safe_psql('postgres', sprintf($groups, ('') x 2)), 'groups: right');
like(explained($workers, sprintf($groups, ('gpu_') x 2)), qr/^3 unused workers$/, 'groups: in that way');
parts_by('the device is not to be used', '0 workers', "$workers SET gpuagg.device = cpu;");
$node->safe_psql('postgres', 'UPDATE parts SET b = b + 1 WHERE i = 30000');
parts_by('one page has changed', '3 (unused )?workers', $workers);
$node->safe_psql('postgres', 'UPDATE parts SET b = b + 1 WHERE i % 2 = 0 AND i BETWEEN 20000 AND 39999');
parts_by('most pages of one have changed: the leader reads them', '[23] unused workers', $workers);
$node->safe_psql('postgres', q(INSERT INTO parts SELECT i, i FROM generate_series(60000, 520000) i));
parts_by('a large partition that is not in memory', '[23] workers', $workers);
is($node->safe_psql('postgres', "$workers " . sprintf($groups, ('gpu_') x 2)), $node->safe_psql('postgres', sprintf($groups, ('') x 2)),
	'groups, the leader, the device and workers have parts: right');
$node->safe_psql('postgres', 'VACUUM parts');
$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('parts')));
parts_by('all again', '1\d unused workers', $workers);
is($node->safe_psql('postgres', "$workers SET enable_hashagg = off; SELECT v, (SELECT gpu_sum(b) FROM parts WHERE i % 3 <> v) FROM generate_series(0, 2) v"),
	$node->safe_psql('postgres', 'SELECT v, (SELECT sum(b) FROM parts WHERE i % 3 <> v) FROM generate_series(0, 2) v'), 'several times in one query');
like($node->safe_psql('postgres', 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) SELECT gpu_sum(length(i::text)) FROM parts'), qr/Resident Columns Not Used: whole rows are needed/,
	'EXPLAIN says why a partition is not taken from memory');
like($node->safe_psql('postgres', 'SET gpuagg.device_min_rows = 1000000; EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) SELECT gpu_sum(i) FROM parts'),
	qr/Device Not Used: so few rows take the CPU no longer/, 'and why not from the device');

# ---- a device that is starting is waited for ----

kill_gpuaggd($node);
is($node->safe_psql('postgres', "$ours; $pages"), "$expected\n0|f|t", 'a new device has no columns: the CPU takes them from memory');
is(device_stat($node, 'device_state'), 'ready', 'after a wait for it');
$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('t')));
is($node->safe_psql('postgres', "$ours; $pages"), "$expected\n1|f|t", 'and back again');

# ---- none: an error, whatever is resident; mode auto does without ----

is($node->safe_psql('postgres', 'SELECT gpuagg_stop()'), 't', 'stopped');
my ($code, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$ours");
like($err, qr/ERROR:  55000: no usable GPU device/, 'no device: an error');
is($node->safe_psql('postgres', "SET gpuagg.device = auto; $ours; $pages"), "$expected\n0|f|t", 'mode auto: from memory');
is($node->safe_psql('postgres', "EXPLAIN (COSTS OFF) $ours") =~ /GpuAgg/, 1, 'EXPLAIN needs no device');
$node->safe_psql('postgres', 'SELECT gpuagg_restart()');
ok(wait_device($node), 'there is a device again');
$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('t')));
is($node->safe_psql('postgres', "$ours; $pages"), "$expected\n1|f|t", 'started again');
$node->stop;
ok(wait_gone($node), 'no device program is left');

my $without = gpuagg_node('without', mode => 'gpu', rows => 0, conf => "${conf}gpuagg.device_program = '/nonexistent'\n");
make($without);
($code, $out, $err) = $without->psql('postgres', "\\set VERBOSITY verbose\n$ours");
like($err, qr/ERROR:  55000: no usable GPU device/, 'no device program: an error');
is($without->safe_psql('postgres', "SET gpuagg.device = cpu; $ours"), $expected, 'mode cpu');
done_testing();
