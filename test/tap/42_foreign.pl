# Core's aggregates by gpuagg.core_aggregates over foreign tables and foreign partitions: fetched at the
# same time, pushed down, partition by partition.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Utils;
use Test::More;

my %conf = (rows => 0, mode => 'cpu', conf => "session_preload_libraries = 'gpuagg'\ngpuagg.min_table_pages = 0\n"
	  . "gpuagg.resident = on\nwal_level = replica\nmax_parallel_workers_per_gather = 0\n");
my $front = gpuagg_node('front', %conf);
my $back = gpuagg_node('back', %conf);

# Floats whose sums are exact, so that core's are ours.
my $rows = q{SELECT k, k % 5 AS p, k % 7 AS g, (k * 7919 % 65536 - 32768)::int AS i, k * 4000000000 AS b, (k % 97 / 4.0)::float8 AS f,
	CASE WHEN k % 11 > 0 THEN (k * 1.37)::numeric(12,2) END AS n, date '2000-01-01' + k % 997 AS d, (k % 50)::text AS s
	FROM generate_series(1, 10000) k};
my $columns = 'k int, p int, g int, i int, b bigint, f double precision, n numeric(12,2), d date, s text';

for my $node ($front, $back)
{
	$node->safe_psql('postgres', "CREATE EXTENSION gpuagg; CREATE TABLE whole AS $rows; "
		  . join(' ', map { "CREATE TABLE shard_$_ AS SELECT * FROM whole WHERE p = $_;" } 0 .. 4) . 'VACUUM ANALYZE');
}
my $options = "host '" . $back->host . "', port '" . $back->port . "', dbname 'postgres'";
$front->safe_psql('postgres', qq{
CREATE EXTENSION postgres_fdw;
CREATE SERVER back FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($options, async_capable 'true', fetch_size '500');
CREATE USER MAPPING FOR CURRENT_USER SERVER back;
CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($options, async_capable 'true', extensions 'gpuagg');
CREATE USER MAPPING FOR CURRENT_USER SERVER other;
CREATE FOREIGN TABLE far ($columns) SERVER back OPTIONS (table_name 'whole');
CREATE TABLE mixed ($columns) PARTITION BY LIST (p);
CREATE TABLE remote ($columns) PARTITION BY LIST (p);
} . join('', map {
	my $server = $_ % 2 ? 'back' : 'other';
	"CREATE FOREIGN TABLE remote_$_ PARTITION OF remote FOR VALUES IN ($_) SERVER $server OPTIONS (table_name 'shard_$_');"
	  . ($_ < 2 ? "CREATE TABLE mixed_$_ PARTITION OF mixed FOR VALUES IN ($_); INSERT INTO mixed SELECT * FROM whole WHERE p = $_;"
		: "CREATE FOREIGN TABLE mixed_$_ PARTITION OF mixed FOR VALUES IN ($_) SERVER $server OPTIONS (table_name 'shard_$_');")
} 0 .. 4) . 'VACUUM ANALYZE; ANALYZE mixed; ANALYZE remote; ANALYZE far');

my $list = 'sum(i), sum(b), sum(n), avg(i), avg(n), count(*), count(n), min(d), max(b), min(n), stddev(i), variance(n), var_pop(b)';
my $all = "$list, sum(f), avg(f), min(f), max(f)";

# Queries over TABLE, and the level of gpuagg.core_aggregates whose results are core's.
my %queries = (
	'no groups' => "SELECT $all FROM TABLE",
	'a filter' => "SELECT $all FROM TABLE WHERE i > 0 AND d < '2001-06-01'",
	'by partition' => "SELECT p, $all FROM TABLE GROUP BY p ORDER BY p",
	'by group' => "SELECT g, $all FROM TABLE GROUP BY g ORDER BY g",
	'by both' => "SELECT p, g, $all FROM TABLE GROUP BY p, g ORDER BY p, g",
	'strings' => "SELECT s, $all FROM TABLE WHERE s LIKE '1%' GROUP BY s ORDER BY s",
	'having' => "SELECT p, sum(b) FROM TABLE GROUP BY p HAVING sum(i) > -1000000000 AND count(*) > 10 ORDER BY p",
	'filter, distinct, order' => 'SELECT p, sum(i) FILTER (WHERE g > 2), count(DISTINCT g), sum(DISTINCT i), sum(n ORDER BY k) FROM TABLE GROUP BY p ORDER BY p',
	'rollup' => "SELECT p, g, sum(b), count(*) FROM TABLE GROUP BY ROLLUP (p, g) ORDER BY p, g",
	'a join' => "SELECT t.p, sum(t.b), avg(w.n), count(*) FROM TABLE t JOIN whole w USING (k) GROUP BY t.p ORDER BY t.p",
	'a subquery' => "SELECT max(m), sum(c) FROM (SELECT g, max(b) AS m, count(*) AS c FROM TABLE GROUP BY g) q",
	'correlated' => "SELECT w.k, (SELECT sum(b) FROM TABLE t WHERE t.g = w.g AND t.p = 2) FROM whole w WHERE w.k < 12 ORDER BY 1",
	'exists' => "SELECT sum(b) FROM TABLE WHERE EXISTS (SELECT 1 FROM whole w WHERE w.k = TABLE.k AND w.i > 0)",
	'windows' => "SELECT md5(string_agg(q::text, ',' ORDER BY k)) FROM (SELECT k, sum(i) OVER (PARTITION BY g ORDER BY k), avg(n) OVER (ORDER BY k "
	  . 'ROWS 5 PRECEDING), max(d) OVER (PARTITION BY p) FROM TABLE) q',
	'a cte' => "WITH q AS MATERIALIZED (SELECT * FROM TABLE) SELECT g, sum(b) FROM q GROUP BY g ORDER BY g",
	'a union' => "SELECT sum(b), count(*) FROM (SELECT b FROM TABLE UNION ALL SELECT b FROM whole) q",
	'nothing' => "SELECT $all FROM TABLE WHERE k < 0");
my @settings = ('enable_partitionwise_aggregate = off, enable_async_append = on', 'enable_partitionwise_aggregate = on, enable_async_append = on',
	'enable_partitionwise_aggregate = on, enable_async_append = off', 'enable_partitionwise_aggregate = on, enable_hashagg = off');
# Answers of all queries over a table, by name; with gpuagg's functions in the place of core's, if asked for.
sub answers
{
	my ($table, $settings, $ours) = @_;
	my $script = join('', map { "SET $_; " } split /, /, $settings);

	for my $name (sort keys %queries)
	{
		my $query = $queries{$name} =~ s/TABLE/$table/gr;

		$query =~ s/\b(sum|avg|min|max|count|stddev|variance|var_pop)\(/gpu_$1(/g if $ours;
		$script .= "\\echo @ $name\n$query;\n";
	}
	return map { my ($name, $answer) = split /\n/, $_, 2; $name => $answer // '' } grep { $_ ne '' } split /^@ /m, $front->safe_psql('postgres', $script);
}

for my $table ('far', 'remote', 'mixed')
{
	my %core = answers($table, 'gpuagg.core_aggregates = off');

	is(scalar(grep { $_ ne '' } values %core), scalar(keys %queries), "over $table: all queries have answers");
	for my $settings (@settings)
	{
		for my $level ('exact', "'all'", 'off')
		{
			my %got = answers($table, "gpuagg.core_aggregates = $level, $settings", $level eq 'off');

			is(join(', ', grep { ($got{$_} // 'nothing') ne $core{$_} } sort keys %core), '',
				"over $table, $settings: " . ($level eq 'off' ? 'gpu_ functions' : $level) . ' as core');
		}
	}
}

# Plans.
sub plan
{
	my ($query, @set) = @_;

	return $front->safe_psql('postgres', join('', map { "SET $_; " } "gpuagg.core_aggregates = 'all'", @set) . "EXPLAIN (VERBOSE, COSTS OFF) $query");
}
my $plan = plan('SELECT g, sum(b) FROM far GROUP BY g');
like($plan, qr/^Foreign Scan\n.*Remote SQL: SELECT g, sum\(b\) FROM public\.whole GROUP BY 1$/ms, 'a foreign table: computed there, as without gpuagg');
unlike($plan, qr/Gpu(Agg|Window) *\(?$|Custom Scan/m, 'a foreign table: no node of ours');
$plan = plan('SELECT p, sum(b) FROM mixed GROUP BY p', 'enable_partitionwise_aggregate = on', 'gpuagg.min_table_pages = 1');
is(scalar(() = $plan =~ /Remote SQL: SELECT p, sum\(b\) FROM public\.shard_\d GROUP BY 1/g), 3, 'partition by partition: foreign ones computed there');
like($plan, qr/Append.*Async Foreign Scan.*Relations: Aggregate on/s, 'partition by partition: at the same time');
$plan = plan('SELECT p, sum(b) FROM mixed GROUP BY p', 'enable_partitionwise_aggregate = on');
like($plan, qr/^Custom Scan \(GpuAgg\).*Append.*GpuAgg Table.*Table: public\.mixed_1.*Async Foreign Scan on public\.mixed_2/s,
	'whatever it costs: GpuAgg over pages of tables and rows of foreign ones');
unlike($plan, qr/not used/, 'which is not said to be left out');
$plan = plan('SELECT sum(b) FROM remote');
like($plan, qr/Aggregate.*Append.*Async Foreign Scan/s, 'without groups: rows are fetched at the same time');
unlike($plan, qr/Custom Scan/, 'without groups: no node of ours over foreign partitions alone');
like($plan, qr/^ *GpuAgg not used: /m, 'and the plan says why');
$plan = plan('SELECT sum(i) OVER (PARTITION BY g ORDER BY k) FROM remote');
like($plan, qr/Custom Scan \(GpuWindow\).*Append.*Foreign Scan.*Remote SQL: SELECT k, g, i FROM public\.shard_4/s, 'windows over foreign partitions');
like(plan('SELECT gpu_sum(b) FROM remote_2'), qr/Remote SQL: SELECT public\.gpu_sum\(b\)/, 'gpu_sum is computed where gpuagg is said to be');
like(plan('SELECT gpu_sum(b) FROM remote_1'), qr/Remote SQL: SELECT b FROM/, 'and its rows are fetched from elsewhere');

# What core's aggregates are on the other server is that server's setting.
$back->safe_psql('postgres', "ALTER DATABASE postgres SET gpuagg.core_aggregates = 'all'; SELECT gpuagg_stat_reset()");
is($front->safe_psql('postgres', 'SELECT sum(b), sum(f), count(*) FROM far'), $front->safe_psql('postgres', 'SELECT sum(b), sum(f), count(*) FROM whole'),
	'pushed down to a server with the setting');
my ($read) = $back->safe_psql('postgres', "SET gpuagg.core_aggregates = off; SELECT table_rows FROM gpuagg_stat");
is($read, '10000', 'which GpuAgg has computed there');

# Rows that change between queries, here and there.
$back->safe_psql('postgres', 'UPDATE shard_2 SET b = -b, n = NULL WHERE k % 3 = 0; DELETE FROM shard_3 WHERE k % 4 = 0');
$front->safe_psql('postgres', 'UPDATE mixed_0 SET b = -b, n = NULL WHERE k % 3 = 0; DELETE FROM mixed_1 WHERE k % 4 = 0; UPDATE mixed SET f = 1 WHERE p = 4');
for my $name ('no groups', 'by partition', 'by group')
{
	my $query = $queries{$name} =~ s/TABLE/mixed/r;

	for my $set ('off', 'on')
	{
		is($front->safe_psql('postgres', "SET enable_partitionwise_aggregate = $set; SET gpuagg.core_aggregates = 'all'; $query"),
			$front->safe_psql('postgres', "SET gpuagg.core_aggregates = off; $query"), "after changes, $name, partition-wise $set");
	}
}

# A foreign server that goes away is core's error, and the session goes on.
my $session = background($front, "gpuagg.core_aggregates = 'all'", 'enable_partitionwise_aggregate = on');
$session->query_safe('SELECT p, sum(b) FROM mixed GROUP BY p');
$back->stop('fast');
$session->query('SELECT p, sum(b) FROM mixed GROUP BY p');
like($session->{stderr}, qr/ERROR: /, 'without the other server: an error');
$session->{stderr} = '';
is($session->query_safe('SELECT sum(i) FROM mixed_0'), $session->query_safe('SET gpuagg.core_aggregates = off; SELECT sum(i) FROM mixed_0'), 'the session goes on');
$session->quit;
stop_and_look($front);
no_crash($back);
done_testing();
