# Windows on the device over several tables: partitions, children, a union; which of them are asked for, what EXPLAIN
# counts of each, what is left to the CPU and why; and chunks that no row needs, which need not be there.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $conf = "wal_level = replica\ngpuagg.min_table_pages = 0\ngpuagg.resident = on\ngpuagg.device_min_rows = 0\n"
  . "max_parallel_workers_per_gather = 0\nshared_preload_libraries = 'gpuagg'\n";
my $node = gpuagg_node('tables', rows => 0, conf => $conf);
my $rows = "SELECT i, nullif(i * 7 % 100, 0) AS k, (i * 31 % 2001 - 1000)::int AS x, (i % 999 / 100.0)::numeric(12,2) AS c, "
  . '(i % 800 - 400) / 8.0::float8 AS f, %s FROM generate_series(%d, %d) i';

sub make
{
	my ($table, $columns, $extra, $first, $last) = @_;

	$node->safe_psql('postgres', "CREATE TABLE $table WITH (autovacuum_enabled = off) AS SELECT $columns FROM ("
		  . sprintf($rows, $extra, $first, $last) . ') q');
	return;
}

# Of 30,000 rows: partitions with other orders of columns, and dropped ones; the last is empty, the others have 10,000.
$node->safe_psql('postgres', 'CREATE EXTENSION gpuagg');
make('p1', 'i, k, x, c, f', '1 AS a', 1, 10_000);
make('p2', 'a, f, x, b, c, k, i', "1 AS a, 'b'::text AS b", 10_001, 20_000);
make('p3', 'c, k, a, i, f, x', '1::int8 AS a', 20_001, 30_000);
$node->safe_psql('postgres', 'ALTER TABLE p2 DROP a; ALTER TABLE p2 DROP b; ALTER TABLE p3 DROP a; CREATE TABLE p4 (LIKE p1);'
	  . 'CREATE TABLE p (LIKE p1) PARTITION BY RANGE (i);'
	  . join('', map { "ALTER TABLE p ATTACH PARTITION p$_ FOR VALUES FROM (" . ($_ * 10_000 - 9_999) . ') TO (' . ($_ * 10_000 + 1) . ');' } 1 .. 4)
	  . 'CREATE TABLE parent (LIKE p1); ');
make('c1', 'x, a, i, c, k, f', '1 AS a', 5_001, 9_000);
make('c2', 'i, k, x, c, f', '1 AS a', 9_001, 12_000);
make('b1', 'i, k, x, c, f', '1 AS a', 1, 30_000);
make('b2', 'x, i, k, c, f', '1 AS a', 30_001, 90_000);
make('scaled', 'i, k, x, c::numeric(12,3), f', '1 AS a', 40_001, 41_000);
$node->safe_psql('postgres', 'ALTER TABLE c1 DROP a; ALTER TABLE c1 INHERIT parent; ALTER TABLE c2 INHERIT parent;'
	  . 'CREATE TABLE b (LIKE b1); ALTER TABLE b1 INHERIT b; ALTER TABLE b2 INHERIT b;'
	  . 'INSERT INTO parent SELECT i, k, x, c, f FROM p WHERE i < 5000');
$node->safe_psql('postgres', "VACUUM ANALYZE $_") for 'p', 'parent', 'c1', 'c2', 'b1', 'b2', 'scaled';
ok(wait_device($node), 'the device is there');

sub fill
{
	$node->safe_psql('postgres', "SELECT gpuagg_prefetch('$_')") for @_;
	return;
}
fill('p1', 'p2', 'p3', 'p4', 'parent', 'c1', 'c2', 'b1', 'b2', 'scaled');

my $running = 'OVER (PARTITION BY k ORDER BY i ROWS UNBOUNDED PRECEDING)';
my $query = "SELECT %scount(*), %smax(r), %ssum(r) FROM (SELECT i, %ssum(x) $running AS r FROM p WHERE i > 1000) q WHERE r < 0";
my $explain = 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, VERBOSE)';

# What EXPLAIN says of scans, and of an Append above them.
sub scans
{
	my ($plan) = @_;
	my @scans;

	push @scans, [ $1, $2, $3 // '' ]
	  while $plan =~ /->  (Append|Seq Scan on [\w.]+)[^(]*(\((?:actual rows|never)[^)]*\))((?:\n(?!.*->).*)*)/g;
	return join("\n", map { "$_->[0] $_->[1]" . ($_->[2] =~ /(Rows Removed by Filter: \d+)/ ? " $1" : '') } @scans) . "\n";
}

# The answer is core's, and so are the counts of scans; and the device did all of it, or not.
sub asks
{
	my ($what, $on_device, $sql, %params) = @_;
	my $done = $params{filter} ? qr/Filtered on Device: true/ : qr/Computed with Aggregates Above: true/;
	my $core = $node->safe_psql('postgres', $sql =~ s/%s//gr);
	my $ours = $sql =~ s/%s/gpu_/gr;
	my ($plan) = run_query($node, "$explain $ours", %params);
	my ($answer) = run_query($node, $ours, %params);
	my ($core_plan) = run_query($node, "$explain $ours", set => [ 'gpuagg.enable_window_scan = off', 'gpuagg.enable_agg_scan = off' ]);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($answer, $core, "$what: right answer");
	is($plan =~ $done ? 1 : 0, $on_device, "$what: " . ($on_device ? 'by the device' : 'not by the device')) or diag($plan);
	is(scans($plan), scans($core_plan), "$what: scans are counted as core does");
	return $plan;
}

# What is under way to the device when a session ends may not arrive: asks until the device does all of it.
sub arrives
{
	my ($what, $sql) = @_;
	my $ours = $sql =~ s/%s/gpu_/gr;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(wait_until(sub { (run_query($node, "$explain $ours"))[0] =~ /Computed with Aggregates/ }), $what) or die "$what: never";
	return;
}

# ---- what it does ----

my $plan = asks('partitions', 1, $query);
like($plan, qr/Rows on Device: 30000/, 'rows on the device');
like($plan, qr/Append \(actual rows=29000/, 'all that pass');
like($plan, qr/Seq Scan on public.p1 .*rows=9000[^\n]*\n(?!.*->)(?:.*\n)+?.*Rows Removed by Filter: 1000/, 'those of the first partition');
unlike(asks('without a filter', 1, $query =~ s/ WHERE i > 1000//r), qr/Rows Removed by Filter/, 'nothing is removed');
asks('columns in another order, and a key that is computed', 1, 'SELECT c, %smax(r) FROM (SELECT c, f, %ssum(f) '
	  . 'OVER (PARTITION BY k % 7 ORDER BY i DESC ROWS UNBOUNDED PRECEDING) AS r FROM p WHERE c > 3.5) q GROUP BY c ORDER BY c');
asks('children, and rows of the parent', 1, $query =~ s/FROM p /FROM parent /r);
asks('a union', 1, $query =~ s/FROM p /FROM (SELECT x, k, i FROM c1 UNION ALL SELECT x, k, i FROM p4 UNION ALL SELECT x, k, i FROM c2) u /r);
asks('in mode auto', 1, $query, set => ['gpuagg.device = auto']);
asks('conditions above', 1, "SELECT i, c, r FROM (SELECT i, c, %ssum(x) $running AS r FROM p WHERE i > 1000) q WHERE r < -900", filter => 1);
asks('the same with a key that is computed', 1,
	'SELECT i, c, r FROM (SELECT i, c, %ssum(x) OVER (PARTITION BY i / 5 ORDER BY i DESC ROWS UNBOUNDED PRECEDING) AS r FROM p) q WHERE r < -2800',
	filter => 1);

# ---- strings, of which each table has codes of its own ----

$node->safe_psql('postgres', "CREATE TABLE s$_ WITH (autovacuum_enabled = off) AS SELECT i, (i * 31 % 2001 - 1000)::int AS x, "
	  . "nullif('s' || (i + $_) * $_ % 9, 's2') AS z, (ARRAY['a', 'b ', 'c', ''])[1 + (i * $_) % 4]::char(5) AS u, md5((i % 11 + $_)::text)::uuid AS w "
	  . "FROM generate_series($_ * 9000 - 8999, $_ * 9000) i") for 1 .. 3;
$node->safe_psql('postgres', "VACUUM ANALYZE s$_; SELECT gpuagg_prefetch('s$_')") for 1 .. 3;
my $strings = '(SELECT i, x, z, u, w FROM s1 UNION ALL SELECT i, x, z, u, w FROM s2 UNION ALL SELECT i, x, z, u, w FROM s3) t';
my $all = 'OVER (ORDER BY i ROWS UNBOUNDED PRECEDING)';
for my $where ('true', "z <> 's3'", "z LIKE 's%' AND u IN ('b', 'c')", "z IS NULL OR w > md5('4')::uuid", "z = 'none'")
{
	asks("strings given out, $where", 1, "SELECT i, z, u, w, r FROM (SELECT *, %ssum(x) $all AS r FROM $strings WHERE $where) q WHERE r < 0", filter => 1);
	asks("aggregates, $where", 1, "SELECT %scount(*), %smax(r), %ssum(r) FROM (SELECT i, %ssum(x) $all AS r FROM $strings WHERE $where) q WHERE r < 0");
}

# ---- tables whose filters or columns differ ----

sub united
{
	my ($first, $second, $sql) = @_;

	return ($sql // $query) =~ s/FROM p (WHERE i > 1000)?/FROM (SELECT $first UNION ALL SELECT $second) u /r;
}
$plan = asks('filters', 1, united('i, k, x FROM c1 WHERE i > 6000', 'i, k, x FROM c2 WHERE f < 20 AND c > 0.5'));
like($plan, qr/Rows on Device: 7000/, 'all rows are there');
like($plan, qr/Subquery Scan on [^\n]* \(actual rows=3000 /, 'and those of a subquery are counted');
asks('a table without one, and a third', 1, united('i, k, x FROM c1', 'i, k, x FROM c2 WHERE f < 20 UNION ALL SELECT i, k, x FROM p4 WHERE k = 3'));
asks('a filter above that columns fold', 1,
	$query =~ s/FROM p WHERE i > 1000/FROM (SELECT i, k, x, 1 AS s FROM c1 UNION ALL SELECT i, k, x, 3 FROM c2) u WHERE s > 2 OR x > 0/r);
asks('constants', 1, $query =~ s/FROM p WHERE i > 1000/FROM (SELECT i, k, x, 1 AS s FROM c1 UNION ALL SELECT i, k, x, 3 FROM c2) u WHERE x > s/r);
asks('scales in filters', 1, $query =~ s/FROM p WHERE i > 1000/FROM (SELECT i, k, x, c FROM c2 UNION ALL SELECT i, k, x, c FROM scaled) u WHERE c > 3.5/r);
asks('keys and arguments', 1, united('i, k, x FROM c1', 'i + 3000, k % 7, i % 9 - x FROM c2 WHERE x <> 0'));
asks('a column that one has not', 1, united('i, k, x FROM c1 WHERE k > 3 AND f < 0 AND c > 1', '-i, 5, NULL FROM c2 WHERE i % 3 = 0'));
asks('where it came from', 1, 'SELECT s, %scount(*), %smax(r), %ssum(r) FROM (SELECT s, %ssum(x) OVER (PARTITION BY s, k ORDER BY i '
	  . 'ROWS UNBOUNDED PRECEDING) AS r FROM (SELECT 1 AS s, i, k, x FROM c1 WHERE x > 0 UNION ALL SELECT 2, i, k, x FROM c2 WHERE f <> 4) u) q GROUP BY s ORDER BY s');
asks('errors that one table alone would have', 1, united('i, k, x FROM c1 WHERE 100 / k > 7', 'i, x AS k, x FROM c2 WHERE 1000 / (x + 2000) < 2'));
asks('rows given out', 1, "SELECT i, k, s, r FROM (SELECT i, k, s, %ssum(x) $running AS r FROM (SELECT i, k, x, c > 2 AS s FROM c1 WHERE i > 7000 "
	  . 'UNION ALL SELECT i, k, x + 1, NULL FROM c2 WHERE k IS NOT NULL) u) q WHERE r < -1200', filter => 1);
asks('strings', 1, "SELECT %scount(*), %smax(r), %ssum(r) FROM (SELECT %ssum(x) $all AS r FROM (SELECT i, x, z FROM s1 WHERE u = 'c' UNION ALL "
	  . "SELECT i, x, z FROM s2 WHERE z LIKE '%4' OR w IS NULL UNION ALL SELECT i, 1, z FROM s3) t WHERE z IS NOT NULL) q");
asks('strings given out', 1, "SELECT i, z, r FROM (SELECT i, z, %ssum(x) $all AS r FROM (SELECT i, x, z FROM s1 WHERE u <> 'c' UNION ALL "
	  . "SELECT i, x, z FROM s2 WHERE u = 'a') t) q WHERE r < 0", filter => 1);
{
	my $of = united('i, k, x FROM c1 WHERE i > $1', 'i, k % $1 AS k, x FROM c2 WHERE k < $1 / 100');
	my $prepare = "SET plan_cache_mode = force_generic_plan; PREPARE q(int) AS $of;";
	my $run = join('; ', map { "EXECUTE q($_)" } 7000, 1, 99_999, 0, 'NULL');

	for my $device ('gpu', 'cpu')
	{
		my @ours = $node->psql('postgres', "SET gpuagg.device = $device; " . ($prepare =~ s/%s/gpu_/gr) . $run, on_error_stop => 0);
		my @core = $node->psql('postgres', ($prepare =~ s/%s//gr) . $run, on_error_stop => 0);

		is("$ours[1] $ours[2]", "$core[1] $core[2]", "parameters, $device");
	}
	like($node->safe_psql('postgres', 'SET gpuagg.device = gpu; ' . ($prepare =~ s/%s/gpu_/gr) . "$explain EXECUTE q(7000)"),
		qr/Computed with Aggregates Above: true/, 'on the device');
}
like(asks('chunks that one filter excludes', 1, united('i, k, x FROM b1 WHERE i < 50', 'i, k, x FROM b2 WHERE i > 89000')), qr/Chunks Skipped: [1-9]/, 'are not asked for');
asks('all of a table', 1, united('i, k, x FROM c1 WHERE i < 0', 'i, k, x FROM c2 WHERE f > 3'));

# ---- which tables ----

unlike(asks('pruned as it is planned', 1, $query =~ s/i > 1000/i > 21000/r), qr/Scan on public.p[12]/, 'not all partitions are there');
like(asks('pruned as it runs', 1, "SELECT * FROM generate_series(0, 3) o, LATERAL ($query) s" =~ s/i > 1000/i > o * 8000/r),
	qr/Scan on public.p1 [^\n]*loops=2/, 'the first partition twice');
like(asks('not at all', 0, "SELECT * FROM generate_series(5, 5) o, LATERAL ($query) s" =~ s/i > 1000/i > o * 10000/r),
	qr/never executed/, 'no partition');
{
	my $of = "SELECT COUNT(*), SUM(r) FROM (SELECT SUM(x) $running AS r FROM p WHERE i > \$1 - 10) q";
	my $prepare = "SET plan_cache_mode = force_generic_plan; PREPARE q(int) AS $of;";
	my $run = join('; ', map { "EXECUTE q($_)" } 29_000, 100, 50_000, 12_000);
	my $ours = $prepare =~ s/SUM|COUNT/gpu_\L$&/gr;

	is($node->safe_psql('postgres', "SET gpuagg.device = $_; $ours$run"), $node->safe_psql('postgres', "$prepare$run"), "a parameter, $_")
	  for 'gpu', 'cpu';
	like($node->safe_psql('postgres', "SET gpuagg.device = gpu; $ours $explain EXECUTE q(12000)"),
		qr/Computed with Aggregates Above: true(.*\n)+.*Subplans Removed: 1/, 'on the device, with a partition removed');
}
$node->safe_psql('postgres', 'ALTER TABLE p DETACH PARTITION p2');
asks('a partition less', 1, $query);
$node->safe_psql('postgres', 'ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (10001) TO (20001)');
asks('and again', 1, $query);

# ---- what it does not ----

my $plain = 'rows below the window are not those of plain scans of tables';
my $differ = 'filters or columns below the window differ from table to table';
my $union = 'FROM (SELECT i, k, x, c FROM c2 UNION ALL SELECT i, k, x, c FROM scaled) u';
for (['a join', $plain, $query =~ s/FROM p /FROM p JOIN generate_series(0, 0) o ON i > o /r],
	['a subquery that ends early', $plain, $query =~ s/FROM p /FROM (SELECT i, k, x FROM c1 UNION ALL (SELECT i, k, x FROM c2 LIMIT 100)) u /r],
	['scales', $differ, "SELECT i FROM (SELECT i, %ssum(c) $running AS r $union) q WHERE r < 5", filter => 1],
	['a row that begins it', $differ, 'SELECT * FROM generate_series(1, 3) o, LATERAL ('
		  . united('i, k, x FROM c1 WHERE i > o * 1000', 'i, k, x FROM c2 WHERE k < o * 9') . ') s'],
	['strings of no column', "an expression below the window is the CPU's", "SELECT i, z, r FROM (SELECT i, z, %ssum(x) $all AS r "
		  . "FROM (SELECT i, x, 'a' AS z FROM s1 UNION ALL SELECT i, x, z FROM s2) u) q WHERE r < -1000", filter => 1])
{
	my ($what, $reason, $sql, %params) = @$_;

	like(asks($what, 0, $sql, %params), qr/(Device Not Used|Not Filtered on Device): \Q$reason\E/, "$what: and why");
}

# What a subquery does for each row, it does.
$node->safe_psql('postgres', 'CREATE SEQUENCE drawn');
for my $prefix ('gpu_', '')
{
	my $sql = united("i, k, x FROM (SELECT i, k, x, nextval('drawn') AS n FROM c1 WHERE i > 6000) c", 'i, k, x FROM c2') =~ s/%s/$prefix/gr;

	$node->safe_psql('postgres', $sql);
}
is($node->safe_psql('postgres', 'SELECT last_value FROM drawn'), 6000, 'a number for each row, each time');

# ---- what is not there ----

$node->safe_psql('postgres', 'UPDATE p SET x = x + 1 WHERE i = 15000');
like(asks('a page has changed', 1, $query), qr/Pages Read: [12]\n/, 'a page has changed: it is read');
asks('in a partition that is not read', 1, $query =~ s/i > 1000/i > 21000/r);
$node->safe_psql('postgres', 'VACUUM p2');
like(asks('and is all-visible again', 1, $query), qr/Pages Read: [12]\n/, 'and is all-visible again: so it is once more');
arrives('in memory again', $query);
asks('on the device, too', 1, $query);
$node->safe_psql('postgres', q(SELECT gpuagg_evict('p3')));
like(asks('a partition is not in memory', 0, $query), qr/Device Not Used: columns are not in memory/, 'and why');
arrives('by now it is', $query);
asks('and on the device', 1, $query);

# Columns in memory alone: chunks that the filter excludes need not be on the device.
kill_gpuaggd($node);
ok(wait_device($node), 'there is a new device program');
for my $from ('FROM b ', 'FROM b2 ')
{
	my $all = $query =~ s/FROM p /$from/r;
	my $last = $all =~ s/i > 1000/i > 88000/r;

	kill_gpuaggd($node);
	ok(wait_device($node), 'and another');
	asks("$from, without columns", 0, $last);
	arrives('which is sent some', $last);
	$plan = asks("$from, with chunks that are needed", 1, $last);
	like($plan, qr/Chunks Skipped: [1-9]/, 'others are not there');
	like(asks("$from, which needs others", 0, $all), qr/Device Not Used: columns are not on the device/, 'and why');
}

# The same of columns that are not in memory, of chunks that others exclude.
for my $from ('FROM b ', 'FROM b2 ')
{
	my $last = $query =~ s/FROM p /$from/r =~ s/i > 1000/i > 88000/r;
	my ($pages) = split /\|/, $node->safe_psql('postgres', q(SELECT pg_relation_size('b2') / current_setting('block_size')::int));

	$node->safe_psql('postgres', "SELECT gpuagg_evict('b1'); SELECT gpuagg_evict('b2'); "
		  . "SELECT gpuagg_prefetch('b1', '{i}'); SELECT gpuagg_prefetch('b2', '{i}')");
	$plan = asks("$from, with one column in memory", 0, $last);
	my ($read) = $plan =~ /Pages Read: (\d+)/;
	cmp_ok($read, '>', 0, 'some pages are read');
	cmp_ok($read, '<', $pages - 128, 'and others are not');
	arrives('which go to the device', $last);
	$plan = asks("$from, with columns of the chunks that are needed", 1, $last);
	like($plan, qr/Chunks Skipped: [1-9]/, 'others are not in memory');
	asks("$from, which needs others", 0, $last =~ s/i > 88000/i > 29999/r);
	my $aggregates = "SELECT %scount(*), %smax(i), %ssum(x) ${from}WHERE i > 40000 AND x < 77";

	$node->safe_psql('postgres', "SELECT gpuagg_evict('b2'); SELECT gpuagg_prefetch('b2', '{i}')");
	is($node->safe_psql('postgres', $aggregates =~ s/%s/gpu_/gr), $node->safe_psql('postgres', $aggregates =~ s/%s//gr),
		"$from, aggregates without a window");
}

# A chunk that was excluded gets a row that is not.
$node->safe_psql('postgres', $_)
  for 'DELETE FROM b2 WHERE i BETWEEN 31000 AND 31500', 'VACUUM b2', q(SELECT gpuagg_evict('b2')), q(SELECT gpuagg_prefetch('b2', '{i}')),
  'INSERT INTO b2 (x, i, k, c, f) VALUES (-5000, 95000, 3, 1, 1)', 'VACUUM b2';
cmp_ok($node->safe_psql('postgres', q{SELECT trim('()' FROM split_part(ctid::text, ',', 1))::int FROM b2 WHERE i = 95000}), '<', 128,
	'the row is in the first chunk');
asks('a row in a chunk that was excluded', 0, $query =~ s/FROM p /FROM b2 /r =~ s/i > 1000/i > 88000/r);

done_testing();
