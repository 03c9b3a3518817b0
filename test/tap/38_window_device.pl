# Aggregates over windows on the device: when it is asked, what EXPLAIN says, what is left to the
# CPU and why, and what becomes of columns that are not there any more.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $conf = "wal_level = replica\ngpuagg.min_table_pages = 0\ngpuagg.resident = on\ngpuagg.device_min_rows = 0\n"
  . "max_parallel_workers_per_gather = 0\nshared_preload_libraries = 'gpuagg'\n";
my $node = gpuagg_node('window', rows => 0, conf => $conf);
my $rows = 60_000;

$node->safe_psql('postgres', 'CREATE EXTENSION gpuagg;'
	  . 'CREATE TABLE t WITH (autovacuum_enabled = off) AS SELECT i, nullif(i * 7 % 100, 0) AS k, (i * 31 % 2001 - 1000)::int AS x, '
	  . 'i * 1000003::int8 AS b, (i % 999 / 100.0)::numeric(12,2) AS c, (i % 800 - 400) / 8.0::float8 AS f, (i % 50)::int2 AS s, '
	  . "'t' || i % 9 AS z, (i % 77)::int8::money AS m FROM generate_series(1, $rows) i;"
	  . 'CREATE TABLE other (LIKE t)');
$node->safe_psql('postgres', 'VACUUM ANALYZE t');
ok(wait_device($node), 'the device is there');
$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('t')));

my $running = 'OVER (PARTITION BY k ORDER BY i ROWS UNBOUNDED PRECEDING)';
my $query = "SELECT %scount(*), %smax(r) FROM (SELECT i, %ssum(x) $running AS r FROM t WHERE i > 1000) q WHERE r < 0";

# The answer is core's, and the device did all of it, or the node below gave rows.
sub asks
{
	my ($what, $on_device, $sql, %params) = @_;
	my $core = $node->safe_psql('postgres', $sql =~ s/%s//gr);
	my $ours = $sql =~ s/%s/gpu_/gr;
	my ($plan) = run_query($node, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, VERBOSE) $ours", %params);
	my ($answer) = run_query($node, $ours, %params);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($answer, $core, "$what: right answer");
	is($plan =~ /Computed with Aggregates Above: true/ ? 1 : 0, $on_device, "$what: " . ($on_device ? 'by the device' : 'not by the device'))
	  or diag($plan);
	return $plan;
}

sub uses
{
	return $node->safe_psql('postgres', "SELECT string_agg(uses::text, ' ' ORDER BY attribute) FROM gpuagg_resident "
		  . "WHERE relation = 't'::regclass AND attribute IN ('i', 'k', 'x')");
}

# ---- what it does ----

my $plan = asks('a running sum', 1, $query);
like($plan, qr/Seq Scan on public.t \(actual rows=59000(\.00)? loops=1\)/, 'rows of the scan');
like($plan, qr/Rows Removed by Filter: 1000/, 'those that the filter removes');
like($plan, qr/GpuWindow\) \(actual rows=59000(\.00)? loops=1\)/, 'rows of the window');
like($plan, qr/Rows on Device: 60000/, 'rows on the device');
my ($passed) = split /\|/, $node->safe_psql('postgres', $query =~ s/%s//gr);
like($plan, qr/Rows Removed by Rows Filter: @{[ 59000 - $passed ]}\n/, 'and what the filter above removes');
asks('peers', 1, 'SELECT %smin(r), %ssum(r), %smax(n) FROM (SELECT %ssum(b) OVER (PARTITION BY s ORDER BY x DESC) AS r, '
	  . 'dense_rank() OVER (PARTITION BY s ORDER BY x DESC) AS n FROM t) q');
asks('whole partitions', 1, 'SELECT s, %ssum(r), %scount(*) FROM (SELECT s, %ssum(c) OVER (PARTITION BY k) AS r FROM t) q '
	  . 'GROUP BY s HAVING %scount(*) > 3 ORDER BY s');
asks('decimals and floats', 1, "SELECT %smax(r), %ssum(q) FROM (SELECT %smin(c) $running AS r, %ssum(f) $running AS q FROM t) q");
$plan = asks('rescans', 1, "SELECT * FROM generate_series(1, 3) o, LATERAL ($query) s" =~ s/i > 1000/i > o * 1000/r);
like($plan, qr/GpuWindow\) \(actual rows=58000(\.00)? loops=3\)/, 'rows of the window in each');

# ---- what it does not ----

my %refused = (
	'CPU' => ['"gpuagg.device" is "cpu"', $query, set => ['gpuagg.device = cpu']],
	'few rows' => ['so few rows take the CPU no longer', $query, set => ['gpuagg.device = auto', 'gpuagg.device_min_rows = 1']],
	'average' => ['a window function is the CPU\'s', "SELECT %smax(r) FROM (SELECT %savg(f) $running AS r FROM t) q"],
	'smallint' => ['a column of the window is the CPU\'s', "SELECT %smax(r) FROM (SELECT %smin(s) $running AS r FROM t) q"],
	'money' => ['a column of the window is the CPU\'s', "SELECT %smax(r) FROM (SELECT %ssum(m) $running AS r FROM t) q"],
	'strings' => ['an expression below the window is the CPU\'s', "SELECT %smax(r) FROM (SELECT %ssum(x) $running AS r FROM t WHERE z <> 't3') q"],
	'key' => ['a key of the window is the CPU\'s',
		'SELECT %smax(r) FROM (SELECT %ssum(x) OVER (PARTITION BY x > 3 ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM t) q'],
	'tables' => ['rows below the window are not those of one table',
		"SELECT %smax(r) FROM (SELECT %ssum(x) $running AS r FROM (SELECT * FROM t UNION ALL SELECT * FROM other) t) q"],
	'run condition' => ['the window ends early', 'SELECT %smax(r) FROM (SELECT %ssum(x) OVER w AS r, %scount(*) OVER w AS n, row_number() OVER w AS p FROM t '
		  . 'WINDOW w AS (PARTITION BY k ORDER BY i ROWS UNBOUNDED PRECEDING)) q WHERE p < 4'],
	'subquery' => ['constants are not known before the rows', $query =~ s/i > 1000/i > (SELECT 1000)/r],
	'row' => ['a row, the keys or a result are the CPU\'s', "SELECT %smax(r) FROM (SELECT %ssum(x) $running AS r FROM t WHERE c * 10000000000000000.0 > 5) q"],
);
for my $what (sort keys %refused)
{
	my ($reason, $sql, %params) = @{$refused{$what}};

	like(asks($what, 0, $sql, %params), qr/Device Not Used: \Q$reason\E/, "$what: and why");
}
like($node->safe_psql('postgres', "EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) SELECT gpu_sum(r) FROM (SELECT gpu_sum(b * CASE WHEN i < 9 THEN 1 ELSE 2 END) "
		  . "$running AS r FROM t WHERE b * 2 > 0) q"), qr/Computed with Aggregates Above/, 'an expression that might overflow');
is(($node->psql('postgres', "SELECT gpu_max(r) FROM (SELECT gpu_sum(b * 999999999) $running AS r FROM t) q"))[0], 3, 'one that does is an error');
$node->safe_psql('postgres', 'CREATE ROLE nobody; GRANT SELECT ON t TO nobody; '
	  . 'REVOKE EXECUTE ON FUNCTION gpu_running_sum(int4, bool) FROM public');
my ($ret, $out, $err) = $node->psql('postgres', 'SET ROLE nobody; SELECT gpu_max(r) FROM (SELECT gpu_running_sum(x) '
	  . "$running AS r FROM t) q");
like($err, qr/permission denied for function gpu_running_sum/, 'who may not execute the function');
$node->safe_psql('postgres', 'GRANT EXECUTE ON FUNCTION gpu_running_sum(int4, bool) TO public');

# ---- a use is counted once, whoever does it ----

for my $device (qw(auto cpu))
{
	my @before = split / /, uses();

	run_query($node, $query =~ s/%s/gpu_/gr, set => ["gpuagg.device = $device"]);
	is(uses(), join(' ', map { $_ + 1 } @before), "one use, mode $device");
}

# ---- tables that change ----

$node->safe_psql('postgres', 'UPDATE t SET x = x + 1 WHERE i = 5000');
like(asks('a page has changed', 0, $query), qr/Device Not Used: some pages are not in memory/, 'a page has changed: and why');
$node->safe_psql('postgres', 'VACUUM t');
asks('filled again', 0, $query);
asks('on the device again', 1, $query);

# ---- a device program that is new has nothing ----

kill_gpuaggd($node);
ok(wait_device($node), 'there is a new device program');
asks('which has no columns', 0, $query);
# what is under way when a session ends may not arrive
ok(wait_until(sub { (run_query($node, 'EXPLAIN (ANALYZE) ' . $query =~ s/%s/gpu_/gr))[0] =~ /Computed with Aggregates/ }),
	'which is sent them');
asks('which has got them', 1, $query);

done_testing();
