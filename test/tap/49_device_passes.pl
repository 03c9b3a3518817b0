# Queries over resident columns that take several requests: many columns and aggregates, partitions,
# and rows that the program flags in one request only.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use Test::More;

my $node = gpuagg_node(
	'passes',
	rows => 0,
	conf => "wal_level = replica\ngpuagg.min_table_pages = 0\ngpuagg.resident = on\ngpuagg.device_min_rows = 0\n"
	  . "max_parallel_workers_per_gather = 0\nshared_preload_libraries = 'gpuagg'\n");

# A table whose columns are on the device.
sub prefetch
{
	my (@of) = @_;

	for my $table (@of)
	{
		$node->safe_psql('postgres', "VACUUM $table");
		wait_until(sub {
			$node->safe_psql('postgres', "SELECT gpuagg_prefetch('$table')");
			return $node->safe_psql('postgres', "SELECT coalesce(bool_and(device_chunks = chunks), true) FROM gpuagg_resident WHERE relation = '$table'::regclass") eq 't';
		});
	}
	return;
}

# What a query gives, or its error, with some settings, and the rows that the device has had for it; gpuagg's
# aggregates stand for core's.
sub asked
{
	my ($query, $settings) = @_;
	my $rows = q(SELECT 'rows ' || device_rows FROM gpuagg_stat);
	my ($code, $out, $error) = $node->psql('postgres', "$settings; $rows; $query; $rows");

	return ($error =~ s/^psql:.*?ERROR/ERROR/r, 0) if $code != 0;
	$out =~ s/\Arows (\d+)\n?(.*?)\n?rows (\d+)\z/$2/s or die "unexpected: $out";
	return ($out, $3 - $1);
}

sub answer
{
	return (asked(@_))[0];
}

# The answer is core's, with so many rows on the device (undef: any number, but some).
sub asks
{
	my ($what, $query, $rows) = @_;
	my $ours = q(SET gpuagg.core_aggregates = 'all');
	my $core = answer($query, q(SET gpuagg.core_aggregates = 'off'));
	my ($answer, $on_device) = asked($query, $ours);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($answer, $core, "$what: core's answer");
	is(answer($query, "$ours; SET gpuagg.device = cpu"), $core, "$what: by the CPU");
	return if $core =~ /ERROR/;
	if (defined $rows) { is($on_device, $rows, "$what: rows on the device"); }
	else { cmp_ok($on_device, '>', 0, "$what: some rows are on the device"); }
	return;
}

sub by
{
	my ($key, $results, $from) = @_;

	return $key eq '' ? "SELECT $results FROM $from" : "SELECT $key, $results FROM $from GROUP BY $key ORDER BY $key";
}

$node->safe_psql('postgres', 'CREATE EXTENSION gpuagg');
ok(wait_device($node), 'the device is there');

# ---- many columns ----

my $several = 8000;
my $columns = join(', ', map { "nullif(i * (7 * $_ + 1) % 10007, $_) / 100.0::numeric - 20 AS x$_" } 1 .. 60);
my $casts = join(', ', map { "x$_\::numeric(12,2) AS c$_" } 1 .. 60);
$node->safe_psql('postgres', <<"END");
CREATE TABLE wide WITH (autovacuum_enabled = off) AS SELECT k, h, s, $casts FROM
	(SELECT i % 17 AS k, nullif(i % 3, 1)::int2 AS h, 'w' || i % 5 AS s, $columns FROM generate_series(1, $several) i) q;
CREATE TABLE broad WITH (autovacuum_enabled = off) AS
	SELECT i % 16 AS k, @{[join(', ', map { "(nullif(i % (90 + $_), 5) * 12345678901234567.25)::numeric(30,4) AS c$_" } 1 .. 40)]} FROM generate_series(1, $several) i;
END
prefetch('wide', 'broad');
my $all = join(', ', map { "sum(c$_), avg(c$_), min(c$_), max(c$_)" } 1 .. 60);
for my $key ('', 'k', 'k, h', 's, k')
{
	asks("60 columns by ($key)", by($key, $all, 'wide'), $several);
}
asks('under a condition on others', by('h', $all, q(wide WHERE c60 > -10 AND c1 < c2 AND s <> 'w3')), $several);
asks('counts of rows in a request of their own', by('', join(', ', map({ "sum(c$_)" } 1 .. 16), 'count(*)'), 'wide'), $several);
asks('expressions of several columns', by('k', join(', ', map { my $n = $_ + 1; "sum(c$_ * c$n), max(c$_ - c$n) FILTER (WHERE c$n > 0)" } 1 .. 40), 'wide'), $several);
asks('a request with more columns than one has', by('k', 'sum(' . join(' + ', map { "c$_" } 1 .. 40) . ')', 'wide'), 0);
for my $n (1, 15 .. 17, 30, 31, 40)
{
	for my $key ('', 'k')
	{
		asks("$n columns of 128 bits by ($key)", by($key, join(', ', map { "sum(c$_), min(c$_)" } 1 .. $n), 'broad'), $several);
	}
}
my @pairs = map { my $n = 2 * $_; "sum(c@{[$n - 1]} - c$n)" } 1 .. 16;
asks('32 columns in 16 sums', by('', join(', ', @pairs), 'broad'), $several);
asks('the same by groups', by('k', join(', ', @pairs), 'broad'), $several);

# ---- many expressions ----

# more than the program of a request has: each pass has a part of them
for my $n (100, 250)
{
	my $list = join(', ', map { "sum(c@{[$_ % 40 + 1]} * $_ + c@{[$_ * 7 % 40 + 1]} - @{[2 * $_]}.5)" } 1 .. $n);

	asks("$n expressions by ($_)", by($_, $list, 'wide'), $several) for $n < 200 ? ('', 'k', 's, k') : ('', 'k');
	asks("$n expressions, some rows", by('k', $list, q(wide WHERE c60 > -10 AND s <> 'w3')), $several);
}
asks('conditions on strings', by('k', join(', ', map { "sum(c1 + $_) FILTER (WHERE s <> 'w@{[$_ % 7]}' AND c2 > $_)" } 1 .. 90), 'wide'), $several);
# conditions on numbers, as many as kernels have, and more
for my $n (80, 400, 1500)
{
	my $numbers = join(', ', map { $_ * 7 % 79 } 1 .. $n);

	asks("$n constants by ($_)", by($_, 'sum(c1), max(c2)', "wide WHERE c3 IN ($numbers)"), $n == 80 ? $several : 0) for ('', 'k');
}
# more than it has for one aggregate
my $case = 'CASE ' . join(' ', map { "WHEN c1 < $_ THEN c2 + $_" } map { 3 * $_ } 1 .. 200) . ' ELSE c3 END';
asks("an expression that is too large by ($_)", by($_, "sum($case), sum(c1)", 'wide'), 0) for ('', 'k');
like(answer(q(EXPLAIN (ANALYZE, VERBOSE) ) . by('', "sum($case)", 'wide'), q(SET gpuagg.core_aggregates = 'all')),
	qr/expressions are too large/, 'why');
# nor has it above a window
my $above = join(', ', map { "sum(r * $_ + c2 - @{[2 * $_]}.5)" } 1 .. 120);
asks('expressions above a window', by('k', $above, '(SELECT k, c2, sum(c1) OVER (PARTITION BY k ORDER BY c3, c4, c5) AS r FROM wide) q'), 0);

# ---- partitions ----

my $sums = join(', ', map { "sum(z + $_), max(k - $_), count(*) FILTER (WHERE small > $_), min(n * $_)" } 1 .. 9);
for my $n (1, 2, 3, 10)
{
	my @parts = map { "p${n}_$_" } 0 .. $n - 1;

	$node->safe_psql('postgres', "CREATE TABLE p$n (gone int, k int, small int2, s text, z int, n numeric(12,2), f numeric(9,1), at int) PARTITION BY LIST (at)");
	for my $i (0 .. $n - 1)
	{
		# others have attributes with other numbers
		my $def = $i % 2 == 0 ? 'gone int, k int, small int2, s text, z int, n numeric(12,2), f numeric(9,1), at int'
		  : 'at int, x1 text, f numeric(9,1), n numeric(12,2), z int, x2 int, s text, small int2, k int, gone int';
		my $drop = $i % 2 == 0 ? '' : "ALTER TABLE p${n}_$i DROP x1, DROP x2;";

		$node->safe_psql('postgres', "CREATE TABLE p${n}_$i ($def) WITH (autovacuum_enabled = off); $drop ALTER TABLE p$n ATTACH PARTITION p${n}_$i FOR VALUES IN ($i)");
	}
	# the third one of ten is empty, and f is NULL
	$node->safe_psql('postgres', "ALTER TABLE p$n DROP gone; INSERT INTO p$n SELECT nullif(i % 1000, 7), i % 7, 'w' || i % (11 + i % 4), "
		  . "CASE WHEN i % 16 <> 3 THEN nullif(i % 11, 0) END, i / 8.0, NULL, i % $n FROM generate_series(1, $several) i WHERE $n < 10 OR i % $n <> 2");
	prefetch(@parts);
	my $rows = $n == 10 ? $several * 9 / 10 : $several;
	for my $key ('', 'at', 'small', 's', 'k', 'k % 16', 'k % 17, small', 'k * 5 + z % 5', 'f')
	{
		asks("$n partitions by ($key)", by($key, $sums, "p$n"), $rows);
		asks("$n partitions by ($key), values NULL", by($key, "$sums, sum(f), avg(f), max(f)", "p$n WHERE z <> 7"), $rows);
	}
	next if $n < 2;
	# the last one is not in memory
	$node->safe_psql('postgres', "SELECT gpuagg_evict('$parts[-1]'); SET gpuagg.core_aggregates = 'off'");
	for my $key ('small', 'k')
	{
		my $query = by($key, $sums, "p$n");

		is(answer($query, q(SET gpuagg.resident = off; SET gpuagg.core_aggregates = 'all')), answer($query, q(SET gpuagg.core_aggregates = 'off')), "$n partitions by $key, without memory");
		asks("$n partitions by $key, one of them not in memory", $query, undef);
	}
}

# ---- rows that are flagged ----

# in many pages; cubes of such values need more than 128 bits, which is no error
my $whole = 40000;
$node->safe_psql('postgres', <<"END");
CREATE TABLE flagged (k int, id int, b numeric(19,0), c numeric(19,0), d numeric(19,0), x int8, y int8, at int) WITH (autovacuum_enabled = off, fillfactor = 40);
INSERT INTO flagged SELECT i % 17, i, nullif(i, 9), CASE WHEN i = 28000 THEN 9223372036854775000 ELSE i END,
	CASE WHEN i = 8000 THEN 9223372036854775000 ELSE 3 * i END, CASE WHEN i = 20000 THEN 9223372036854775807 ELSE i END, i % 100 + 2, i % 3
FROM generate_series(1, $whole) i;
CREATE TABLE flags (LIKE flagged) PARTITION BY LIST (at);
CREATE TABLE flags_0 PARTITION OF flags FOR VALUES IN (0) WITH (autovacuum_enabled = off, fillfactor = 40);
CREATE TABLE flags_1 PARTITION OF flags FOR VALUES IN (1) WITH (autovacuum_enabled = off, fillfactor = 40);
CREATE TABLE flags_2 PARTITION OF flags FOR VALUES IN (2) WITH (autovacuum_enabled = off, fillfactor = 40);
INSERT INTO flags SELECT * FROM flagged;
END
prefetch('flagged', 'flags_0', 'flags_1', 'flags_2');
my $many = join(', ', map { "sum(k + $_)" } 1 .. 20);
for my $table ('flagged', 'flags')
{
	for my $key ('', 'k', 'id % 5000')
	{
		for my $list ("$many, sum(c * c * b)", "sum(c * c * b), $many", "$many, sum(c * c * b), max(b), min(b), sum(d), avg(d), max(d), sum(d * d * b), count(*)")
		{
			my $query = by($key, $list, $table);
			my $core = answer($query, q(SET gpuagg.core_aggregates = 'off'));
			my ($answer, $rows) = asked($query, q(SET gpuagg.core_aggregates = 'all'));

			is($answer, $core, "$table by ($key), $list: core's answer");
			ok($rows > 0 && $rows < $whole, "$table by ($key), $list: chunks with such rows are the CPU's") or diag($rows);
		}
		asks("$table by ($key): such rows are dropped", by($key, "sum(d * d * b), $many, sum(c * c * b)", "$table WHERE id NOT IN (8000, 28000)"), $whole);
		asks("$table by ($key): an error of the last request", by($key, "$many, max(x * y)", $table));
		asks("$table by ($key): one of the first", by($key, "max(x * y), $many", $table));
		asks("$table by ($key): in a row that is dropped", by($key, "$many, max(x * y)", "$table WHERE x < 9223372036854775807"), $whole);
		asks("$table by ($key): in one that does not count", by($key, "$many, max(x * y) FILTER (WHERE id <> 20000)", $table), $whole);
	}
}
done_testing();
