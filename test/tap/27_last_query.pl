# 27_last_query.pl: what gpuagg_last_query() says of rows, engines and reasons.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;

use GpuaggTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = gpuagg_node('last_query', rows => 10);
my $last = 'SELECT engine, rows, reason FROM gpuagg_last_query()';
my $small = 'there were fewer rows than "gpuagg.device_min_rows"';
my $gpu = 'SET gpuagg.device = gpu; SET gpuagg.device_min_rows = 20000;'
  . ' SET max_parallel_workers_per_gather = 0;';

$node->safe_psql('postgres', 'CREATE TABLE s AS SELECT i FROM generate_series(1, 400000) i; ANALYZE s');

ok(wait_device($node), 'the device is there');

# says SQL, LIKE, NAME: the report of a statement, run in mode gpu.
sub says
{
	my ($sql, $like, $name, $set) = @_;
	my @lines = split /\n/, $node->safe_psql('postgres', $gpu . ($set // '') . "$sql; $last");

	like($lines[-1], $like, $name);
}

# A large group begins on the CPU, and is no longer small once the device has it.
says('SELECT gpu_sum(i) FROM s', qr/^both\|400000\|$/, 'an aggregate that became large');
says('SELECT gpu_sum(i), gpu_min(i), gpu_max(i) FROM s', qr/^both\|1200000\|$/, 'three of them');
says('SELECT gpu_sum(i), gpu_sum(i) FILTER (WHERE i <= 5000) FROM s', qr/^both\|405000\|\Q$small\E$/,
	'beside a small one');
says('SELECT gpu_sum(i), gpu_sum(i) FILTER (WHERE i <= 5) FROM s', qr/^both\|400005\|\Q$small\E$/,
	'beside one of very few rows');
says('SELECT gpu_sum(i) FROM s WHERE i <= 5', qr/^cpu\|5\|\Q$small\E$/, 'very few rows');
says('SELECT gpu_sum(i) FROM s WHERE i <= 5000', qr/^cpu\|5000\|\Q$small\E$/, 'few rows');
says('SELECT gpu_sum(i) FROM s GROUP BY i % 40000', qr/^cpu\|400000\|\Q$small\E$/, 'small groups');
says("SELECT gpu_sum(i * interval '1 s') FROM s", qr/^cpu\|400000\|there is no kernel/, 'no kernel');
says(
	'SELECT ' . join(', ', map { "gpu_sum(i + $_)" } 1 .. 6) . ' FROM s',
	qr/^both\|2400000\|the budget of staging memory is spent$/,
	'more aggregates than a session has on the device');

# Two rows are what a hundred are: whatever their number, mode auto leaves them to the CPU.
my $no_gain = "taking the rows there would cost more than the CPU's work";
for my $rows (1, 2, 3, 100)
{
	says("SELECT gpu_sum(i) FROM s WHERE i <= $rows",
		qr/^cpu\|$rows\|\Q$no_gain\E$/, "mode auto, rows: $rows", ' SET gpuagg.device = auto; SET gpuagg.enable_agg_scan = off;');
}

# GpuAgg reads all of the table, and its rows count once.
says('SELECT gpu_sum(i), gpu_min(i) FROM s WHERE i <= 10', qr/^cpu\|400000\|\Q$no_gain\E$/, "GpuAgg, workers: $_",
	" SET gpuagg.device = auto; SET gpuagg.min_table_pages = 1000; SET max_parallel_workers_per_gather = $_;")
  for 0, 2;

# In parallel workers too.
my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;'
  . ' SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;';
says('SELECT gpu_sum(i) FROM s WHERE i <= 50', qr/^cpu\|50\|\Q$small\E$/, 'few rows of workers', $parallel);
# of one, as another that comes late may have few
says('SELECT gpu_sum(i), gpu_sum(nullif(i, i)) FROM s',
	qr/^both\|800000\|$/, 'many rows of a worker, and NULLs',
	$parallel . ' SET max_parallel_workers_per_gather = 1; SET parallel_leader_participation = off; SET gpuagg.device_min_rows = 3000;');

# NULLs are rows, in every type's aggregate.
for my $type (qw(int4 int8 float8 numeric interval))
{
	my $value = $type eq 'interval' ? "i * interval '1 s'" : "i::$type";

	says("SELECT gpu_sum(CASE WHEN i % 4 > 0 THEN $value END) FROM s WHERE i <= 1000",
		qr/^cpu\|1000\|/, "NULLs of $type");
}
says('SELECT gpu_sum(nullif(i, i)) FROM s', qr/^none\|400000\|$/, 'nothing but NULLs');

# Windows: rows count once for each function, whether or not the device sorts them; and a
# window that became large is not small.
for my $scan (qw(on off))
{
	my $frame = 'OVER (ORDER BY -i ROWS UNBOUNDED PRECEDING)';
	my $set = " SET gpuagg.enable_window_scan = $scan; SET work_mem = '256MB';";

	says("SELECT count(s) FROM (SELECT gpu_running_sum(i) $frame AS s FROM s) q",
		qr/^both\|400000\|$/, "a window, GpuWindow $scan", $set);
	says(
		"SELECT count(s) FROM (SELECT gpu_running_sum(i) OVER (PARTITION BY i <= 100 ORDER BY i"
		  . ' ROWS UNBOUNDED PRECEDING) AS s FROM s) q',
		$scan eq 'on' ? qr/^both\|400000\|$/ : qr/^both\|400000\|\Q$small\E$/,
		"a window with a small partition, GpuWindow $scan",
		$set);
}

$node->stop;
done_testing();
