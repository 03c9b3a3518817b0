# Windows on the device, with aggregates or conditions above: when it is asked, what EXPLAIN says, what is left to the
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
	  . "'t' || i % 9 AS z, (i % 77)::int8::money AS m, nullif('u' || i % 3, 'u1')::char(7) AS u, nullif(i % 11, 4)::text::bytea AS v, "
	  . "md5((i % 99)::text)::uuid AS w FROM generate_series(1, $rows) i;"
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

# What is under way to the device when a session ends may not arrive: ask until nothing is missing.
sub arrives
{
	my ($what, $sql) = @_;
	my $explain = 'EXPLAIN (ANALYZE, VERBOSE) ' . $sql =~ s/%s/gpu_/gr;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok(
		wait_until(
			sub
			{
				my ($plan) = run_query($node, $explain);

				return $plan =~ /Rows on Device/ && $plan !~ /Device Not Used|Pages Read/;
			}),
		$what);
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
asks('a boolean key', 1, 'SELECT %smax(r), %ssum(r) FROM (SELECT %ssum(x) OVER (PARTITION BY x > 3 ORDER BY f < 2 DESC, i '
	  . 'ROWS UNBOUNDED PRECEDING) AS r FROM t) q');
asks('all rows as peers', 1, 'SELECT %smax(r), %scount(*) FILTER (WHERE x < r) FROM (SELECT x, %ssum(x) OVER () AS r FROM t WHERE i > 10) q');
asks('decimals and floats', 1, "SELECT %smax(r), %ssum(q) FROM (SELECT %smin(c) $running AS r, %ssum(f) $running AS q FROM t) q");
asks('averages of floats', 1, "SELECT %smax(r), %scount(*) FILTER (WHERE q < 3), %smin(q), %scount(r) FROM (SELECT %savg(f) $running AS r, "
	  . "%savg(f::float4 * 3) $running AS q FROM t) q WHERE r > -40");
asks('averages of peers', 1, 'SELECT s, %smax(r), %smin(r) FROM (SELECT s, %savg(f) OVER (PARTITION BY s ORDER BY k) AS r FROM t) q GROUP BY s ORDER BY s');
asks('averages of integers', 1, "SELECT %ssum(r), %savg(r), %scount(r), %scount(*) FILTER (WHERE r > 0.5) FROM (SELECT %savg(x) $running AS r FROM t) q WHERE r < 500");
asks("a condition on an average", 1, "SELECT %scount(*) FROM (SELECT %savg(x) $running AS r FROM t) q WHERE r > 0.5 AND r * 3 < 900");
asks('averages of numerics', 1, 'SELECT s, %ssum(r) FILTER (WHERE i % 3 > 0), %savg(r), %ssum(q) FROM (SELECT i, s, %savg(c) OVER (PARTITION BY s) AS r, '
	  . '%savg(b) OVER (PARTITION BY s) AS q FROM t) q GROUP BY s HAVING %ssum(r) > 0 ORDER BY s');
# equal averages with other scales
asks('extremes of averages', 1, 'SELECT %smax(r), trim_scale(%smin(r)), trim_scale(%smax(q)) FROM (SELECT %savg(x) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS r, '
	  . '%savg(c) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS q FROM t) q');
asks('expressions between', 1, "SELECT %smax(r), %scount(*) FILTER (WHERE y), %smin(a), %ssum(n), %scount(c) FROM (SELECT %ssum(x) $running + 1 AS r, "
	  . "%sum(c) $running AS c, x - %smin(x) $running AS a, abs(%smax(f) $running) * 2 AS n, %ssum(x) $running < i AS y FROM t) q WHERE r % 7 <> 3" =~ s/%sum/%ssum/r);
asks('booleans of the table', 1, "SELECT y, %scount(*), %smax(r) FROM (SELECT i < 9999 AS y, %ssum(x) $running AS r FROM t) q WHERE y OR r > 0 GROUP BY y ORDER BY y");
asks('expressions by groups', 1, "SELECT k, %smax(r * 2), %scount(*) FROM (SELECT k * 3 AS k, CASE WHEN s > 3 THEN %ssum(x) $running END AS r, i FROM t) q "
	  . 'WHERE i % 2 = 1 GROUP BY k ORDER BY k');
is(($node->psql('postgres', "SELECT gpu_max(r) FROM (SELECT 100 / (gpu_sum(x) $running - 81) AS r FROM t WHERE i < 3000) q"))[0],
	($node->psql('postgres', "SELECT max(r) FROM (SELECT 100 / (sum(x) $running - 81) AS r FROM t WHERE i < 3000) q"))[0], 'errors of expressions between');
asks('conditions on strings below', 1, "SELECT %smax(r), %scount(*), %scount(n) FROM (SELECT %ssum(x) $running AS r, %scount(z) $running AS n FROM t "
	  . "WHERE z <> 't3' AND z LIKE 't%') q");
$plan = asks('rescans', 1, "SELECT * FROM generate_series(1, 3) o, LATERAL ($query) s" =~ s/i > 1000/i > o * 1000/r);
like($plan, qr/GpuWindow\) \(actual rows=58000(\.00)? loops=3\)/, 'rows of the window in each');

# ---- chunks that have no row which passes the filter below ----

my $nchunks = $node->safe_psql('postgres', q(SELECT chunks FROM gpuagg_resident WHERE relation = 't'::regclass AND attribute = 'i'));
cmp_ok($nchunks, '>', 2, 'some chunks');
for (['i > 50000', 1], ['i BETWEEN 100 AND 200', 1], ['i < 10000 AND f < 1000', 1], ['i < 9000 AND i > 8990 AND x <> 77', 1],
	['i = 40000', 1], ['i > 50000 OR x = 5', 0], ['x > -2000', 0], ['i < 0', 1])
{
	my ($where, $skips) = @$_;
	my $passed = $node->safe_psql('postgres', "SELECT count(*) FROM t WHERE $where");

	for my $device ('gpu', 'cpu')
	{
		my $on_device = $device eq 'gpu' && $passed > 0 ? 1 : 0;

		$plan = asks("WHERE $where, $device", $on_device, "SELECT %scount(*), %smax(r), %ssum(r) FROM (SELECT %ssum(x) $running AS r FROM t WHERE $where) q",
			set => ["gpuagg.device = $device"]);
		my @skipped = $plan =~ /Chunks Skipped: (\d+)/g;
		my $skipped = $skipped[0];

		ok($skips ? $skipped > 0 && $skipped < $nchunks + ($passed == 0) : $skipped == 0, "$skipped of $nchunks are skipped");
		like($plan, qr/Seq Scan on public.t \(actual rows=$passed(\.00)? loops=1\)/, 'rows of the scan');
		if ($passed < $rows)
		{
			like($plan, qr/Rows Removed by Filter: @{[ $rows - $passed ]}\b/, 'and those that the filter removes');
		}
	}
}
{
	my @binds = map { "EXECUTE q($_)" } 59_000, 100, 30_000;
	my $of = "SELECT count(*), SUM(r) FROM (SELECT SUM(x) $running AS r FROM t WHERE i > \$1 - 10) q";
	my $prepare = "SET plan_cache_mode = force_generic_plan; PREPARE q(int) AS $of;";

	is($node->safe_psql('postgres', "SET gpuagg.device = $_; " . ($prepare =~ s/SUM/gpu_sum/gr) . join('; ', @binds)),
		$node->safe_psql('postgres', ($prepare =~ s/SUM/sum/gr) . join('; ', @binds)), "a parameter, $_")
	  for 'gpu', 'cpu';
}
$node->safe_psql('postgres', 'UPDATE t SET x = x WHERE i = 20000');
$plan = asks('with a page that has changed', 1, "SELECT %scount(*), %ssum(r) FROM (SELECT %ssum(x) $running AS r FROM t WHERE i > 50000) q");
$node->safe_psql('postgres', 'VACUUM t');
$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('t')));

# ---- conditions above without aggregates ----

my $filter = "SELECT i, k, s, c, f, r FROM (SELECT i, k, s, c, f, %ssum(x) $running AS r FROM t WHERE i > 1000) q WHERE r < -900";

# The same rows as core's, in the same order, of those that the device gives or of all; how: what EXPLAIN says if it gives them.
sub rows_are
{
	my ($how, $what, $on_device, $sql, %params) = @_;
	my $core = $node->safe_psql('postgres', $sql =~ s/%s//gr);
	my $ours = $sql =~ s/%s/gpu_/gr;
	my ($plan) = run_query($node, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, VERBOSE) $ours", %params);
	my ($answer) = run_query($node, $ours, %params);

	local $Test::Builder::Level = $Test::Builder::Level + 2;
	is($answer, $core, "$what: right rows");
	is($plan =~ /$how: true/ ? 1 : 0, $on_device, "$what: " . ($on_device ? 'by the device' : 'not by the device'))
	  or diag($plan);
	return ($plan, $core);
}

sub filters
{
	return rows_are('Filtered on Device', @_);
}

my ($filtered, $kept) = filters('a filter', 1, $filter);
my $given = split /\n/, $kept;
cmp_ok($given, '>', 100, 'some rows pass');
like($filtered, qr/GpuWindow\) \(actual rows=$given(\.00)? loops=1\)/, 'rows that the window gives');
like($filtered, qr/Rows Removed for Filter Above: @{[ 59000 - $given ]}\n/, 'and those that it does not');
like($filtered, qr/Seq Scan on public.t \(actual rows=59000(\.00)? loops=1\)/, 'rows of the scan');
like($filtered, qr/Rows Removed by Filter: 1000/, 'those that the filter removes');
like($filtered, qr/Rows on Device: 60000/, 'rows on the device');
like($filtered, qr/Engine: device\n\s+Batches: 1\n\s+Launches: 1\n\s+Bytes: [1-9]/, 'engine');
unlike($filtered, qr/Not Filtered on Device|Sort Method/, 'no reason why not');
filters('which is not all known to it', 1, $filter . ' AND s % 7 < 3');
filters('of two functions', 1, "SELECT i, a, b, m FROM (SELECT i, m, %smax(c) $running AS a, %ssum(b) $running AS b FROM t) q "
	  . 'WHERE a <= 4.005 AND 90000000.5 > b');
filters('of averages', 1, "SELECT i, a, b, c, d FROM (SELECT i, %savg(x) $running AS a, %savg(b) $running AS b, %savg(c) $running AS c, %savg(f) $running AS d "
	  . 'FROM t) q WHERE a < 0.5 AND c >= 4.25 AND d <= 1');
filters('of averages that peers have', 1, 'SELECT i, a, c FROM (SELECT i, %savg(s) OVER (PARTITION BY k ORDER BY x) AS a, '
	  . '%savg(c * 2) OVER (PARTITION BY k ORDER BY x) AS c FROM t) q WHERE a BETWEEN 24 AND 24.3333333333333333 ORDER BY i');
filters('of averages of partitions', 1, 'SELECT i, a FROM (SELECT i, %savg(x) OVER (PARTITION BY k) AS a FROM t) q WHERE a > 1.5 ORDER BY i');
filters('with strings', 1, "SELECT z, i, u, v, r, w FROM (SELECT *, %ssum(x) $running AS r FROM t WHERE z <> 't4') q WHERE r < -600");
filters('with booleans', 1, "SELECT y, i, r FROM (SELECT i, s, y, %ssum(x) OVER (PARTITION BY y, s ORDER BY i ROWS UNBOUNDED PRECEDING) AS r "
	  . 'FROM (SELECT *, nullif(i % 5 = 2, i % 7 = 1) AS y FROM t) t) q WHERE r < -900 ORDER BY i');
filters('with strings alone', 1, "SELECT z FROM (SELECT z, %ssum(x) $running AS r FROM t) q WHERE r < -900");
filters('by values of peers', 1, 'SELECT s, r FROM (SELECT s, %smin(f) OVER (PARTITION BY k ORDER BY s) AS r FROM t) q WHERE r > 25 ORDER BY s, r');
filters('under a limit', 1, "$filter LIMIT 5");
filters('in mode auto', 1, $filter, set => ['gpuagg.device = auto']);
filters('without rows', 1, $filter =~ s/-900$/-9000000000/r);
($filtered) = filters('asked for again', 1, "SELECT * FROM generate_series(1, 3) o, LATERAL ($filter) s" =~ s/i > 1000/i > o * 1000/r);
like($filtered, qr/Seq Scan on public.t \(actual rows=58000(\.00)? loops=3\)/, 'rows of the scan in each');
($filtered) = filters('asked for again with the same parameters', 1,
	'SELECT o, (SELECT count(*) FROM (' . $filter . ') s WHERE s.i <> o) FROM generate_series(1, 3) o');
like($filtered, qr/Seq Scan on public.t \(actual rows=59000(\.00)? loops=1\)/, 'the scan once');


# rows beyond work_mem, in a file
my $many = $filter =~ s/-900$/900000/r;
filters('of many rows', 1, $many, set => ['work_mem = 64']);
filters('of many rows, again and again', 1, "SELECT o, r FROM generate_series(1, 3) o, LATERAL ($many) s" =~ s/i > 1000/i > o * 10000/r,
	set => ['work_mem = 64']);
filters('of many rows, some of them', 1, "$many LIMIT 20000", set => ['work_mem = 64']);
filters('of many rows, once more with the same parameters', 1,
	"SELECT o, (SELECT count(*) FROM ($many) s WHERE s.i <> o) FROM generate_series(1, 3) o", set => ['work_mem = 64']);

my %unfiltered = (
	'few rows' => ['so few rows take the CPU no longer', $filter, set => ['gpuagg.device = auto', 'gpuagg.device_min_rows = 1']],
	'computed string' => ['an expression below the window is the CPU\'s', "SELECT i, z, r FROM (SELECT i, z, %ssum(x) $running AS r FROM t WHERE length(z) > 1) q WHERE r < -900"],
	'subquery' => ['constants are not known before the rows', $filter =~ s/i > 1000/i > (SELECT 1000)/r],
	'row' => ['a row or a result is the CPU\'s', $filter =~ s/i > 1000/c * 10000000000000000.0 > 5/r],
);
for my $what (sort keys %unfiltered)
{
	my ($reason, $sql, %params) = @{$unfiltered{$what}};
	my ($plan) = filters($what, 0, $sql, %params);

	like($plan, qr/Not Filtered on Device: \Q$reason\E/, "$what: and why");
}
unlike((filters('CPU', 0, $filter, set => ['gpuagg.device = cpu']))[0], qr/Filtered on Device/, 'CPU: nothing is said of the device');

# ---- all rows ----

sub gives
{
	return (rows_are('Given by Device', @_))[0];
}

gives('by a condition that is none of a function alone', 1,
	"SELECT i, r FROM (SELECT i, %ssum(b) $running AS r FROM t) q WHERE r < 1e50 AND r + 0 < 4000000000");
like(gives('all rows', 1, "SELECT i, k, %ssum(x) $running AS r FROM t WHERE i > 1000"), qr/GpuWindow\) \(actual rows=59000(\.00)? loops=1\)/,
	'all rows: as many');
gives('expressions of them', 1, "SELECT i + s, r * 2, z || k, y FROM (SELECT i, s, k, z, u, i % 3 = 1 AS y, %savg(b) $running AS r FROM t) q WHERE r > -5 OR i > 0");
gives('all rows in mode auto', 1, "SELECT i, %smin(f) OVER (PARTITION BY k ORDER BY i) FROM t", set => ['gpuagg.device = auto']);
gives('the first of all rows', 1, "SELECT i, %ssum(c) $running FROM t LIMIT 10");
unlike(gives('all rows, CPU', 0, "SELECT i, %ssum(c) $running FROM t LIMIT 10", set => ['gpuagg.device = cpu']), qr/Given by Device/,
	'all rows, CPU: nothing is said of the device');
like(gives('all rows that come in order', 0, "SELECT i, %ssum(x) OVER (ORDER BY s) FROM (SELECT * FROM t ORDER BY s, i LIMIT 100000) q"),
	qr/rows below the window (come in order|are not those)/, 'and why');

# An error comes with its row.
$node->safe_psql('postgres', "CREATE TABLE rich AS SELECT i, i % 2 AS k, '40000000000000000'::money AS m FROM generate_series(1, 3000) i");
$node->safe_psql('postgres', "VACUUM rich");
$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('rich')));
my $cash = "SELECT i, gpu_sum(m) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS r FROM rich";
is($node->safe_psql('postgres', "SELECT count(*) FROM ($cash LIMIT 2) q"), 2, 'rows before one whose sum is out of range');
like(($node->psql('postgres', $cash))[2], qr/out of range/, 'which is an error');

# Rescans without a row between them, the last one with other parameters.
$node->safe_psql('postgres', 'CREATE TABLE outer_rows AS SELECT a FROM generate_series(10, 50, 20) a; CREATE TABLE middle_rows AS SELECT m FROM generate_series(1, 3) m; '
	  . 'CREATE TABLE inner_rows AS SELECT i, 1 + i % 2 AS m FROM generate_series(1, 60) i; ANALYZE outer_rows, middle_rows, inner_rows');
my $nested = "SELECT a, m, i, r FROM outer_rows o, LATERAL (SELECT * FROM middle_rows ORDER BY m OFFSET 0) b, LATERAL "
  . "(SELECT w.i, w.r FROM (SELECT i, %ssum(x) $running AS r FROM t WHERE i > o.a) w JOIN (SELECT i FROM inner_rows c WHERE c.m = b.m OFFSET 0) d ON d.i = w.i) s "
  . 'ORDER BY a, m, i';
is($node->safe_psql('postgres', "SET enable_$_ = off; " . $nested =~ s/%s/gpu_/r), $node->safe_psql('postgres', $nested =~ s/%s//r), "nested loops, $_ off")
  for 'nestloop', 'hashjoin', 'material';

# What is run when the statement finishes fails there, and the session goes on.
$node->safe_psql('postgres', 'CREATE TABLE kept_rows (i int, r int8); UPDATE rich SET k = 1 WHERE i = 7');
my $cte = "WITH x AS (INSERT INTO kept_rows SELECT i, gpu_sum(k) OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) FROM rich) SELECT 1";
my ($status, $said) = $node->psql('postgres', join('', map { "SET statement_timeout = $_; $cte; " } 1 .. 20) . 'SET statement_timeout = 0; ' x 5 . "$cte; SELECT 'on'",
	on_error_stop => 0);
like($said, qr/on$/, 'statements that end late');
is($node->safe_psql('postgres', 'SELECT count(*) % 3000, count(*) > 0 FROM kept_rows'), '0|t', 'each inserted all rows or none');

# which are given in several answers
$node->safe_psql('postgres', 'CREATE TABLE wide WITH (autovacuum_enabled = off) AS SELECT i, i * 7 % 1000 AS k, (i % 999 / 100.0)::numeric(12,2) AS c '
	  . 'FROM generate_series(1, 400000) i');
$node->safe_psql('postgres', "VACUUM wide");
$node->safe_psql('postgres', "VACUUM wide"); # the first one leaves pages
$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('wide')));
my $sums = join ', ', map { "%ssum(c * $_) $running AS r$_" } 1 .. 8;
gives('rows in several answers', 1, "SELECT md5(string_agg(q::text, ',' ORDER BY i)) FROM (SELECT i, k, $sums FROM wide) q", set => [$_])
  for 'work_mem = 64', "work_mem = '1GB'";

# ---- what it does not ----

my %refused = (
	'CPU' => ['"gpuagg.device" is "cpu"', $query, set => ['gpuagg.device = cpu']],
	'few rows' => ['so few rows take the CPU no longer', $query, set => ['gpuagg.device = auto', 'gpuagg.device_min_rows = 1']],
	'expression of an average' => ['an expression of averages is the CPU\'s', "SELECT %smax(-r) FROM (SELECT %savg(x) $running AS r FROM t) q"],
	'expression of an average below' => ['an expression of averages is the CPU\'s', "SELECT %smax(r) FROM (SELECT -%savg(x) $running AS r FROM t) q"],
	'variance of averages' => ['variances of averages are the CPU\'s', "SELECT %sstddev(r) FROM (SELECT %savg(x) $running AS r FROM t) q"],
	'averages of many digits' => ['averages have too many digits', "SELECT %ssum(r) FROM (SELECT %savg(c * 0.00000000001) $running AS r FROM t) q"],
	'averages too large' => ['a row, the keys or a result are the CPU\'s', "SELECT %ssum(r) FROM (SELECT %savg(b * 100000) $running AS r FROM t) q"],
	'smallint' => ['a column of the window is the CPU\'s', "SELECT %smax(r) FROM (SELECT %smin(s) $running AS r FROM t) q"],
	'money' => ['a column of the window is the CPU\'s', "SELECT %smax(r) FROM (SELECT %ssum(m) $running AS r FROM t) q"],
	'strings' => ['an expression below the window is the CPU\'s', "SELECT %smax(r) FROM (SELECT %ssum(x) $running AS r FROM t WHERE z || 'a' <> 't3a') q"],
	'join' => ['rows below the window are not those of plain scans of tables',
		"SELECT %smax(r) FROM (SELECT %ssum(x) $running AS r FROM t LEFT JOIN other USING (i)) q" =~ s/BY k ORDER BY i/BY t.k ORDER BY i/r =~ s/\(x\)/(t.x)/r],
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

my $short = $filter =~ s/s, c, f, //gr;

for my $device (qw(gpu cpu))
{
	my @before = split / /, uses();

	run_query($node, $short =~ s/%s/gpu_/gr, set => ["gpuagg.device = $device"]);
	is(uses(), join(' ', map { $_ + 1 } @before), "one use of a filter, mode $device");
}

# ---- tables that change ----

$node->safe_psql('postgres', 'UPDATE t SET x = x + 1 WHERE i = 5000');
like(asks('a page has changed', 1, $query), qr/Pages Read: 2\n/, 'a page has changed: it is read, and that of the new row');
like((filters('a page has changed, a filter', 1, $short))[0], qr/Pages Read: 2\n/, 'which are read');
like(asks('a page has changed, strings', 0, "SELECT %scount(*), %smax(r) FROM (SELECT %ssum(x) $running AS r FROM t WHERE z <> 't4') q"),
	qr/Device Not Used: some pages are not in memory/, 'strings that are in no dictionary: and why');
gives('a page has changed, all rows', 1, "SELECT i, r, m FROM (SELECT i, %ssum(x) $running AS r, %smax(c) $running AS m FROM t WHERE f <> 7) q");
$node->safe_psql('postgres', 'BEGIN; INSERT INTO t SELECT i + 100000, 5, -1, NULL, 12.5, -7.5, 3, NULL FROM generate_series(1, 500) i; DELETE FROM t WHERE i % 5000 = 1; COMMIT');
asks('more pages have changed', 1, $query);
asks('more pages have changed, floats', 1, "SELECT %scount(*), %ssum(r), %smin(m) FROM (SELECT i, %ssum(f) $running AS r, %smin(c) $running AS m FROM t) q");
$node->safe_psql('postgres', 'UPDATE t SET x = x + 1 WHERE i < 30000');
like(asks('many pages have changed', 0, $query), qr/Device Not Used: some pages are not in memory/, 'many pages have changed: and why');
$node->safe_psql('postgres', 'VACUUM t');
asks('filled again', 0, $query);
arrives('and sent again', $query);
asks('on the device again', 1, $query);
filters('on the device again, a filter', 1, $short);
$node->safe_psql('postgres', 'UPDATE t SET x = x + 1 WHERE i = 50000');
$node->safe_psql('postgres', 'VACUUM t');
like(asks('few pages are not in memory', 1, $query), qr/Pages Read: [12]\n/, 'few pages are not in memory: they are read');
arrives('and are in memory then, and on the device', $short);
asks('with them', 1, $query);

# ---- a device program that is new has nothing ----

kill_gpuaggd($node);
ok(wait_device($node), 'there is a new device program');
asks('which has no columns', 0, $query);
arrives('which is sent them', $query);
asks('which has got them', 1, $query);
filters('which has got them', 1, $short);

done_testing();
