# Groups of resident columns on the device: keys and aggregates of all kinds beside core's, groups
# whose sums are floats of any size, many groups, and the device program that dies meanwhile.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = gpuagg_node(
	'groups',
	rows => 0,
	conf => "wal_level = replica\ngpuagg.min_table_pages = 0\ngpuagg.resident = on\ngpuagg.device_min_rows = 0\n"
	  . "max_parallel_workers_per_gather = 0\nshared_preload_libraries = 'gpuagg'\n");
my $rows = 60_000;

$node->safe_psql('postgres', <<"END");
CREATE EXTENSION gpuagg;
CREATE TABLE t (
	k int, small int2, big int8, flag bool, day date, at timestamp, price numeric(12,2), wide numeric(30,4),
	r float4, f float8, z int, few float8) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT
	i % 1000 - 300, (i % 7)::int2, (i % 3) * 2305843009213693952, i % 5 < 2, date '2020-01-01' + i % 400,
	timestamp '2020-01-01' + (i % 24) * interval '1 hour', (i % 333) / 8.0 - 5, (i % 50) * 123456789012345678.0123,
	i % 100 / 3.0, (i % 1000) / 3.0 - 100, nullif(i % 11, 0), i % 4 / 2.0
FROM generate_series(1, $rows) i;
UPDATE t SET flag = NULL WHERE k = 17;
UPDATE t SET k = NULL WHERE k = 18;
UPDATE t SET day = 'infinity' WHERE k = 19;
VACUUM t;
CREATE TABLE odd (k int, f float8, r float4) WITH (autovacuum_enabled = off);
INSERT INTO odd SELECT i % 40,
	('{1e300, 1, -0, NaN, inf, -inf, 1e-300, 1e22, 3e-5, -1e300, 4.9e-324}'::float8[])[1 + (i / 40) % CASE WHEN i % 40 < 20 THEN 3 ELSE 11 END],
	('{1e30, 1, -0, 1e-40, -2.5}'::float4[])[1 + (i / 40) % 5]
FROM generate_series(1, 20000) i;
INSERT INTO odd SELECT 100, '-0', 0 FROM generate_series(1, 20);
INSERT INTO odd SELECT NULL, 1e300, 7 FROM generate_series(1, 20);
VACUUM odd;
CREATE TABLE word (s text, c char(4), v varchar(20), x int, n numeric(9,2)) WITH (autovacuum_enabled = off);
INSERT INTO word SELECT nullif('w' || i % 13, 'w7'), (ARRAY['a', 'b  ', 'c', ''])[1 + i % 4], 'name ' || i % 300, i % 100, i / 100.0
FROM generate_series(1, $rows) i;
VACUUM word;
CREATE TABLE vast (
	i int, g int, p numeric(15,2), a numeric(38,10), b numeric(30,4), c numeric(38,20), d numeric(18,17), e numeric(20,0), m numeric(38,0))
	WITH (autovacuum_enabled = off);
INSERT INTO vast SELECT i, i % 13, i / 100.0 - 300, (i % 997 - 500) * (i % 7) * 10::numeric ^ (i % 22) + i / 3.0, (i % 50) * 123456789012345678.0123,
	(i % 101 - 50) * 10::numeric ^ (i % 16 - 12) + 1e-20::numeric, (i % 89 - 44) / 9.0, CASE WHEN i % 3 > 0 THEN 99999999999999999999 - i END,
	CASE i % 2 WHEN 0 THEN 99999999999999999999999999999999999999 ELSE -99999999999999999999999999999999999990 END - i % 5
FROM generate_series(1, $rows) i;
VACUUM vast;
CREATE TABLE slim (i int, g int, h int2, x int, y int8, d date, n numeric(9,2), t timestamp, big int8) WITH (autovacuum_enabled = off);
INSERT INTO slim SELECT i, nullif(i % 6, 4), nullif(i / 7 % 3, 1), nullif(i * 7 % 211, 5) - 100, CASE WHEN i % 11 > 2 THEN i % 30000 END,
	CASE WHEN i % 6 <> 2 THEN date '1999-12-25' + i % 50 END, nullif(i % 1000, 500) / 100.0, timestamp '2020-01-01' + nullif(i % 9, 3) * interval '1 day',
	CASE WHEN i % 5 > 0 THEN i * 100000000000007 END
FROM generate_series(1, $rows) i;
VACUUM slim;
END

sub prefetch
{
	$node->safe_psql('postgres', "SELECT gpuagg_prefetch('$_')") for 't', 'odd', 'word', 'vast', 'slim';
	return;
}

# All of a table is on the device: a request that this has no time for leaves columns in host memory.
sub bring
{
	my ($table) = @_;

	return wait_until(sub {
		$node->safe_psql('postgres', "SELECT gpuagg_prefetch('$table')");
		return $node->safe_psql('postgres', "SELECT bool_and(device_chunks = chunks) FROM gpuagg_resident WHERE relation = '$table'::regclass") eq 't';
	});
}
# The answer is the same with the device and without, and core's unless it is of floats.
sub asks
{
	my ($what, $on_device, $query, %params) = @_;
	my $ours = sprintf($query, ('gpu_') x 160);
	my $cpu = $node->safe_psql('postgres', "SET gpuagg.device = cpu; $ours");
	my ($answer, $last) = run_query($node, $ours, %params);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($answer, $cpu, "$what: the CPU's answer");
	is($cpu, $node->safe_psql('postgres', sprintf("SET gpuagg.enable_agg_scan = off; $query", ('') x 160)), "$what: core's answer")
	  unless $params{floats};
	is($last->{device_batches} > 0 ? 1 : 0, $on_device, "$what: " . ($on_device ? 'by the device' : 'without the device'))
	  or diag(join ', ', map { "$_: $last->{$_}" } sort keys %$last);
	return;
}

ok(wait_device($node), 'the device is there');
prefetch();

# ---- keys ----

for my $key ('k', 'small', 'big', 'flag', 'day', 'at', 'price', 'z', 'few', 'k, small', 'flag, z, small', 'day, flag',
	'big, small', 'k % 10', 'k / 7, small + 1', 'z IS NULL', 'coalesce(z, -1)', 'f * 0', 'r')
{
	my $floats = $key =~ /\b[fr]\b/;

	asks("GROUP BY $key", 1, "SELECT $key, %scount(*), %ssum(z), %savg(price), %smin(day), %smax(big) FROM t GROUP BY $key ORDER BY $key",
		floats => $floats);
}
asks('two keys of 64 bits', 0, 'SELECT big, at, %scount(*) FROM t GROUP BY big, at ORDER BY big, at');
asks('a key of 128 bits', 0, 'SELECT wide, %scount(*) FROM t GROUP BY wide ORDER BY wide');

# ---- aggregates ----

asks('sums and extremes of integers', 1,
	'SELECT small, %ssum(k), %ssum(small), %ssum(big), %smin(k), %smax(small), %smin(big) FROM t GROUP BY small ORDER BY 1');
asks('of numerics', 1,
	'SELECT small, %ssum(price), %ssum(wide), %smin(price), %smax(price), %savg(wide), %ssum(price * 2 - 1) FROM t GROUP BY small ORDER BY 1');
asks('of floats', 1,
	'SELECT k, %ssum(f), %savg(r), %smin(f), %smax(r), %ssum(f * 3 - r), %scount(f) FROM t GROUP BY k ORDER BY 1', floats => 1);
asks('of times', 1, 'SELECT z, %smin(day), %smax(day), %smin(at), %smax(at), %scount(day) FROM t GROUP BY z ORDER BY 1');
asks('variances', 1,
	'SELECT z, %svariance(k), %sstddev(small), %svar_pop(big / 4611686018), %svar_samp(price), %scount(k) FROM t GROUP BY z ORDER BY 1');
asks('FILTER and WHERE', 1,
	'SELECT k, %ssum(z) FILTER (WHERE small > 3), %scount(*) FILTER (WHERE flag), %smin(price) FILTER (WHERE price > 7) '
	  . 'FROM t WHERE day < \'2020-09-01\' AND small <> 2 GROUP BY k ORDER BY k');
asks('HAVING', 1, 'SELECT k, %ssum(z) FROM t GROUP BY k HAVING %scount(*) > 59 AND %ssum(z) %% 2 = 0 ORDER BY k');
asks('ROLLUP', 1, 'SELECT small, flag, %ssum(z), %scount(*) FROM t GROUP BY ROLLUP (small, flag) ORDER BY 1, 2, 3');
asks('no aggregates but a count', 1, 'SELECT small, %scount(*) FROM t WHERE z > 9 GROUP BY small ORDER BY 1');
asks('variances of floats', 1,
	'SELECT small, %svariance(f), %sstddev(r), %svar_pop(f * 1e-20), %sstddev_pop(f) FILTER (WHERE f < 0), %ssum(f) FROM t GROUP BY small ORDER BY 1',
	floats => 1);
asks('of more groups than a block has', 1, 'SELECT %scount(*), %ssum(v) FROM (SELECT gpu_variance(f + r) AS v FROM t GROUP BY k, day) g', floats => 1);
# several requests
my $many = join(', ', map { "%ssum(z + $_), %smax(k - $_), %scount(*) FILTER (WHERE small > $_), %sstddev(z * $_)" } 1 .. 11);
asks('more words than a record has', 1,
	sprintf('SELECT small, %%ssum(k), %s FROM t GROUP BY small ORDER BY 1', join(', ', map { "gpu_variance(f + $_)" } 1 .. 8)), floats => 1);
asks('more aggregates than a request has', 1, "SELECT small, $many FROM t WHERE z <> 7 GROUP BY small ORDER BY 1");
asks('of many groups', 1, "SELECT k, day, $many FROM t GROUP BY k, day HAVING %scount(*) > 0 ORDER BY 1, 2");
asks('with ROLLUP', 1, "SELECT small, flag, $many FROM t GROUP BY ROLLUP (small, flag) ORDER BY 1, 2, 3");
asks('without groups', 1, "SELECT $many FROM t WHERE z <> 7");
asks('more values than a request has', 1, sprintf('SELECT small, %s FROM t GROUP BY small ORDER BY 1', join(', ', map { "%ssum(z + $_)" } 1 .. 150)));
asks('DISTINCT', 0, 'SELECT small, %scount(DISTINCT z) FROM t GROUP BY small ORDER BY 1');

# ---- more columns than a block has room for: what no kernel takes is no trouble of the device's ----

my @columns = map { "c$_" } 1 .. 30;
$node->safe_psql('postgres', 'CREATE TABLE broad WITH (autovacuum_enabled = off) AS SELECT '
	  . join(', ', map { "(nullif(i % (90 + $_), 5) * 12345678901234567.25)::numeric(30,4) AS c$_" } 1 .. 30) . ' FROM generate_series(1, 20000) i');
$node->safe_psql('postgres', 'VACUUM broad');
my $fallbacks = device_stat($node, 'fallbacks');
# the second one computes over what the first has brought
$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('broad'))) for 1, 2;
is($node->safe_psql('postgres', 'SELECT ' . join(', ', map { "gpu_sum($_)" } @columns) . ' FROM broad'),
	$node->safe_psql('postgres', 'SELECT ' . join(', ', map { "sum($_)" } @columns) . ' FROM broad'), 'many columns: core\'s answer');
is(device_stat($node, 'fallbacks'), $fallbacks, 'many columns: nothing is counted');

# ---- few groups, with NULLs and extremes ----

for my $key ('g', 'h', 'g, h', 'h, x')
{
	for my $of ('%ssum(x), %smin(x), %smax(y), %scount(y), %savg(n), %smin(n)', '%smin(d), %smax(d), %scount(d), %ssum(y * (x + 3)), %smax(y * x), %scount(*)',
		'%smax(t), %smin(t), %ssum(big), %smax(big), %scount(x), %smin(i)', '%smax(n * (1 - n)), %ssum(n * y), %ssum(n * y * (2 + n)), %scount(n), %smin(y), %smin(h)')
	{
		asks("$of by $key", 1, "SELECT $key, $of FROM slim GROUP BY $key ORDER BY $key");
		asks("$of by $key, some", 1, "SELECT $key, $of FROM slim WHERE d < '2000-01-20' AND x >= -90 GROUP BY $key ORDER BY $key");
	}
}
for my $n (0, 1, 2, 31 .. 33, 255 .. 257, 1023 .. 1025)
{
	asks("few groups of $n rows", $n > 0 ? 1 : 0,
		"SELECT g, %ssum(x), %smin(d), %smax(y * x), %scount(y), %smin(x), %smax(n) FROM slim WHERE i <= $n GROUP BY g ORDER BY g");
}

# ---- sums and squares of decimals that need more than 128 bits ----

for my $x ('a', 'b', 'c', 'd', 'e', 'm', 'p * p', 'p * p * b', 'c * 2 - 1', 'a + b', '-e')
{
	my $results = "%svar_pop($x), %sstddev($x), %ssum($x), %savg($x), %svar_samp($x) FILTER (WHERE g > 3), %smax($x)";

	asks("$x in all", 1, "SELECT $results FROM vast");
	asks("$x in groups", 1, "SELECT g, $results FROM vast GROUP BY g ORDER BY g");
	asks("$x in many groups", 1, "SELECT i % 5000, $results FROM vast WHERE p > -200 GROUP BY 1 ORDER BY 1" =~ s/i % 5/i %% 5/r);
}
for my $n (0, 1, 2, 31 .. 33, 255 .. 257, 1023 .. 1025)
{
	asks("of $n rows", $n > 0 ? 1 : 0, "SELECT %svar_samp(m), %sstddev_pop(c), %ssum(m), %svariance(p * p * b), %savg(e), %scount(e) FROM vast WHERE i <= $n");
	asks("of $n rows in groups", $n > 0 ? 1 : 0,
		"SELECT g, %svar_samp(m), %sstddev_pop(c), %ssum(m), %svariance(p * p * b), %savg(e), %scount(e) FROM vast WHERE i <= $n GROUP BY g ORDER BY g");
}

# ---- strings: keys and conditions by their codes ----

for my $key ('s', 'c', 'v', 's, c', 's, x % 3')
{
	asks("GROUP BY $key", 1, "SELECT $key, %scount(*), %ssum(x), %savg(n), %scount(s) FROM word GROUP BY $key ORDER BY $key");
}
for my $where ("s = 'w3'", "s <> 'w3'", "s = 'nothing'", "s IN ('w1', 'w2', 'nothing')", "v LIKE 'name 1%%5'", "v NOT LIKE '%%3%%'", q(v COLLATE "C" < 'name 12'),
	"s IS NULL", "s IS NOT NULL AND c = 'b'", "'w5' = s OR v = 'name 299'", "coalesce(x, 1) > 5 AND NOT (s = 'w2')")
{
	asks("WHERE $where", $where =~ /NOT LIKE/ ? 0 : 1, "SELECT %ssum(x), %scount(*), %scount(s), %smax(n) FROM word WHERE $where");
}
asks('strings in FILTER', 1, q(SELECT c, %ssum(x) FILTER (WHERE s = 'w3'), %scount(*) FILTER (WHERE v LIKE 'name 2%%5') FROM word GROUP BY c ORDER BY c));
asks('computed strings', 0, q(SELECT upper(s), %ssum(x) FROM word GROUP BY upper(s) ORDER BY 1));
asks('extremes of strings', 0, 'SELECT c, %smin(s) FROM word GROUP BY c ORDER BY c');
for my $word ('w3', 'w9', 'nothing')
{
	is($node->safe_psql('postgres', "SET plan_cache_mode = force_generic_plan; PREPARE q(text) AS SELECT gpu_sum(x), gpu_count(*) FROM word WHERE s = \$1; EXECUTE q('$word')"),
		$node->safe_psql('postgres', "SELECT sum(x), count(*) FROM word WHERE s = '$word'"), "a parameter: $word");
}

# ---- floats of any size ----

asks('floats far apart', 1, 'SELECT k, %ssum(f), %scount(f) FROM odd GROUP BY k ORDER BY k', floats => 1);
asks('float4 far apart', 1, 'SELECT k, %ssum(r), %savg(r), %smin(r) FROM odd GROUP BY k ORDER BY k', floats => 1);
asks('squares far apart', 1,
	'SELECT k, %svariance(f), %sstddev_pop(f), %svar_pop(r), %scount(f) FROM odd WHERE f NOT IN (1e300, -1e300) GROUP BY k ORDER BY k', floats => 1);
asks('-0 as a key, where there are such rows', 1, 'SELECT f, %scount(*) FROM odd GROUP BY f ORDER BY f', floats => 1);

# ---- many groups ----

asks('a group for nearly each row', 1, 'SELECT %scount(*), %ssum(s) FROM (SELECT gpu_sum(z) AS s FROM t GROUP BY k, day, flag, small) g');
asks('and more memory than there is', 1, 'SELECT %scount(*), %ssum(s) FROM (SELECT gpu_sum(z) AS s FROM t GROUP BY k, day, flag, small) g',
	set => ['work_mem = 64', 'hash_mem_multiplier = 1']);

# ---- groups that are given out slowly, not all, or again ----

for my $list ('gpu_sum(z) AS a, gpu_sum(f) AS b, gpu_avg(small) AS c, gpu_sum(price) AS d, gpu_count(z) AS e', 'gpu_min(z) AS a, gpu_sum(f) AS b, gpu_avg(big) AS c, gpu_max(price) AS d, gpu_count(*) AS e')
{
	# a loop fetches some rows at a time; queries in it need staging memory, and fail
	my $loop = <<"SQL";
CREATE TEMP TABLE got (k int, a int8, b float8, c numeric, d numeric, e int8);
DO \$\$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT k, $list FROM t GROUP BY k LOOP
		INSERT INTO got VALUES (r.k, r.a, r.b, r.c, r.d, r.e);
		IF r.k % 100 = 0 THEN
			BEGIN
				PERFORM gpu_sum(z) / (gpu_count(*) - gpu_count(*)) FROM t GROUP BY small;
			EXCEPTION WHEN division_by_zero THEN
				NULL;
			END;
		END IF;
	END LOOP;
END
\$\$;
SELECT * FROM got ORDER BY k;
SQL
	my $whole = "SELECT k, $list FROM t GROUP BY k ORDER BY k";

	is($node->safe_psql('postgres', $loop), $node->safe_psql('postgres', "SET gpuagg.device = cpu; $whole"), 'in a loop');
	my @cursor = ("BEGIN; DECLARE c CURSOR FOR SELECT k, $list FROM t GROUP BY k; SAVEPOINT a", 'FETCH 3 FROM c',
		'ROLLBACK TO a; FETCH 400 FROM c', 'FETCH ALL FROM c', 'COMMIT');
	my $fetched = $node->safe_psql('postgres', join('; ', @cursor));
	my %lines = map { $_ => 1 } split /\n/, $fetched;

	is(join("\n", sort keys %lines), join("\n", sort split /\n/, $node->safe_psql('postgres', "SET gpuagg.device = cpu; $whole")), 'by a cursor');
	is($node->safe_psql('postgres', "SELECT count(*), count(a) FROM (SELECT $list FROM t GROUP BY k LIMIT 10) q"), '10|10', 'some of them');
	asks('two at a time', 1, "SELECT %scount(*) FROM (SELECT k, $list FROM t GROUP BY k) q JOIN (SELECT k, $list FROM t GROUP BY k) r USING (k) WHERE q.a = r.a AND q.b = r.b");
	asks('again and again', 1, "SELECT n, (SELECT %scount(*) FROM (SELECT $list FROM t WHERE small < n GROUP BY k OFFSET 0) q WHERE a + e > n) FROM generate_series(1, 4) n ORDER BY n");
}

# ---- pages that have changed, and errors ----

$node->safe_psql('postgres', 'UPDATE t SET z = 5 WHERE k = 4 AND small = 1; DELETE FROM t WHERE k = 900');
for my $key ('k', 'small, flag', 'day', 'k, day')
{
	asks("by $key after changes", 1, "SELECT $key, %ssum(z), %scount(*) FROM t GROUP BY $key ORDER BY $key");
}
$node->safe_psql('postgres', 'VACUUM t');
prefetch();
asks('after a vacuum', 1, 'SELECT k, %ssum(z), %scount(*) FROM t GROUP BY k ORDER BY k');
for my $bad ('big * (k + 400)', 'z / (k - 500)')
{
	my ($code, $out, $core) = $node->psql('postgres', "SELECT small, sum($bad) FROM t GROUP BY small");
	my ($code2, $out2, $ours) = $node->psql('postgres', "SELECT small, gpu_sum($bad) FROM t GROUP BY small");
	s/^psql:.*ERROR/ERROR/ for $core, $ours;

	is($ours, $core, "$bad: core's error");
	like($ours, qr/division by zero|out of range/, "$bad: it is one");
}
$node->safe_psql('postgres', 'CREATE TABLE late (k int, x int4) WITH (autovacuum_enabled = off); '
	  . 'INSERT INTO late SELECT i % 5, CASE WHEN i > 55000 THEN 2147483647 ELSE 1 END FROM generate_series(1, 60000) i; VACUUM late');
$node->safe_psql('postgres', q(SELECT gpuagg_prefetch('late')));
asks('rows that are flagged', 1, 'SELECT k, %ssum(CASE WHEN x > 5 THEN x::int8 ELSE x + 1 END), %scount(*) FROM late GROUP BY k ORDER BY k');
is($node->safe_psql('postgres', 'SELECT k, gpu_sum(coalesce(nullif(x, 2147483647) + 1, 0)) FROM late GROUP BY k ORDER BY k'),
	$node->safe_psql('postgres', 'SELECT k, sum(coalesce(nullif(x, 2147483647) + 1, 0)) FROM late GROUP BY k ORDER BY k'),
	'NULLs are not flagged');

# ---- a table that changes, columns that leave and a device program that dies between requests of one query ----

my $sums = join(', ', map { "%ssum(z + $_)" } 1 .. 20);
for my $more (0 .. 3)
{
	for my $change (
		sub { $node->safe_psql('postgres', "UPDATE t SET z = z + 1 WHERE k = 7; DELETE FROM t WHERE k = $more") },
		sub { $node->safe_psql('postgres', q(SELECT gpuagg_evict('t'))) },
		sub { kill_gpuaggd($node) })
	{
		my $several = "SELECT k, $sums FROM t GROUP BY k ORDER BY k";

		$node->safe_psql('postgres', 'VACUUM t');
		bring('t');
		my $before = $node->safe_psql('postgres', $several =~ s/%s//gr);
		my $asking = background($node);

		hold_device($more);
		send_query($asking, $several =~ s/%s/gpu_/gr);
		ok(wait_held(), "a request is held, after $more others");
		$change->();
		release_device();
		is($asking->query_safe('SELECT 1'), "$before\n1", 'requests of one query: what the query saw');
		$asking->quit;
		wait_until(sub { device_stat($node, 'device_state') eq 'ready' });
	}
}

# ---- the device program dies in the middle ----

hold_device();
my $session = background($node);
my $ready = send_query($session, 'SELECT k, gpu_sum(z) FROM t GROUP BY k ORDER BY k');
ok(wait_held(), 'a query is on the device');
kill_gpuaggd($node);
release_device();
is($session->query_safe('SELECT 1'), $node->safe_psql('postgres', 'SELECT k, sum(z) FROM t GROUP BY k ORDER BY k') . "\n1",
	'killed with a query: right answer');
$session->quit;
wait_until(sub { device_stat($node, 'device_state') eq 'ready' });
prefetch();
asks('and again', 1, 'SELECT k, %ssum(z), %scount(*) FROM t GROUP BY k ORDER BY k');

# ---- more groups than the session's memory has room for: they are given out as the device's answer has them ----

sub plan_of
{
	my ($query, @set) = @_;

	return $node->safe_psql('postgres', join('', map { "SET $_; " } "work_mem = '64kB'", 'gpuagg.min_table_pages = 1', @set) . "EXPLAIN $query");
}

ok(bring($_), "$_ is there") for 'vast', 'word';
$node->safe_psql('postgres', 'ANALYZE vast, word');
my $each = 'SELECT gpu_count(*), gpu_max(u), gpu_max(v), gpu_max(w), gpu_max(x) FROM '
  . '(SELECT gpu_sum(p) AS u, gpu_sum(a) AS v, gpu_sum(b) AS w, gpu_sum(e) AS x FROM vast GROUP BY i) q';
like(plan_of($each), qr/GpuAgg.*GpuAgg/s, 'many groups are the device\'s');
unlike(plan_of("(ANALYZE, VERBOSE) $each", 'gpuagg.device = gpu'), qr/Spills/, 'and are not written to files');
unlike(plan_of($each, 'gpuagg.device = cpu'), qr/GpuAgg/, 'they would not fit the session\'s memory');
for my $other ('GROUP BY i, m', 'WHERE i > (SELECT 5) GROUP BY i')
{
	unlike(plan_of($each =~ s/GROUP BY i/$other/r), qr/GpuAgg/, "nor would these, which the device does not keep: $other");
}
unlike(plan_of('SELECT gpu_sum(x), gpu_sum(n) FROM word GROUP BY s, v, x'), qr/GpuAgg/, 'nor would strings');
unlike(plan_of($each, "gpuagg.staging_memory = '64MB'"), qr/GpuAgg/, 'or has too little memory for that');
unlike(plan_of($each, "default_transaction_isolation = serializable; BEGIN"), qr/GpuAgg/, 'or may not be asked');
asks('many groups', 1, $each =~ s/gpu_/%s/gr, set => [ "work_mem = '64kB'", 'gpuagg.min_table_pages = 1' ]);

# ---- staging memory for one query: others wait for it ----

$node->append_conf('postgresql.conf', "gpuagg.total_staging_memory = '32MB'");
$node->restart;
ok(wait_device($node), 'the device is there with little staging memory');
ok(bring('vast'), 'and has a table');
my $right = $node->safe_psql('postgres', $each =~ s/gpu_//gr);
my ($batches, $refused) = (device_stat($node, 'device_batches'), device_stat($node, 'fallbacks'));
my @asking = map { background($node, 'gpuagg.device = gpu') } 1 .. 4;
my @pids = map { $_->query_safe('SELECT pg_backend_pid()') } @asking;

hold_device();
send_query($asking[0], $each);
ok(wait_held(), 'a query is on the device');
send_query($asking[$_], $each) for 1 .. 3;
ok($node->poll_query_until('postgres', "SELECT wait_event_type = 'Extension' FROM pg_stat_activity WHERE pid = $pids[$_]"), "session $_ waits") for 1 .. 3;
is(mapped_regions($pids[$_]), 0, 'for memory') for 1 .. 3;
is($node->safe_psql('postgres', "SELECT pg_cancel_backend($pids[3])"), 't', 'which can be cancelled');
like($asking[3]->query('SELECT 1') . $asking[3]->{stderr}, qr/canceling statement/, 'and is');
my $began = time();
my ($answer, $last) = run_query($node, $each);
is("$answer|$last->{device_batches}", "$right|0", 'in mode auto the CPU has it');
cmp_ok(time() - $began, '<', 300, 'long before device_timeout');
like($last->{reason}, qr/staging memory/, 'and tells why');
release_device();
is($asking[$_]->query_safe('SELECT 1'), "$right\n1", 'all answers are right') for 0 .. 2;
is(device_stat($node, 'fallbacks'), $refused + 1, 'one query was the CPU\'s');
cmp_ok(device_stat($node, 'device_batches'), '>=', $batches + 3, 'and three the device\'s');
$_->quit for @asking;
unlike(slurp_file($node->logfile), qr/server process .* was terminated|PANIC:|TRAP:/, 'no session has crashed');
done_testing();
