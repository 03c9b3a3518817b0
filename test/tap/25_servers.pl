# Two servers: aggregates pushed down, partitions on both, and states that cross
# by postgres_fdw, by dblink and through a client.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Utils;
use Test::More;

my %conf = (rows => 0, mode => 'cpu');
my $front = gpuagg_node('front', %conf);
my $back = gpuagg_node('back', %conf);

# Rows that every server can make: sums of f8 and f4 cancel over the whole range.
my $rows = q(SELECT k, k % 3 AS s, k % 7 AS g, (k * 7919 % 65536 - 32768)::int2 AS i2,
	(k::bigint * 1000003 % 4294967296 - 2147483648)::int4 AS i4,
	(k * 6364136223846793005::numeric % 18446744073709551616 - 9223372036854775808)::int8 AS i8,
	CASE k % 11 WHEN 0 THEN 3e33 WHEN 1 THEN -3e33 WHEN 2 THEN 1e-45 WHEN 3 THEN NULL
		ELSE (k % 1009) * 0.1 END::float4 AS f4,
	CASE k % 13 WHEN 0 THEN 1.7e150 WHEN 1 THEN -1.7e150 WHEN 2 THEN 5e-324 WHEN 3 THEN NULL
		ELSE (k % 997 - 498) * 0.1::float8 * power(10::float8, k % 61 - 30) END AS f8,
	CASE k % 5 WHEN 0 THEN k * 1.1 WHEN 1 THEN -k * 123456789012345678901234567890.0001
		WHEN 2 THEN k / 7.0 WHEN 3 THEN NULL ELSE k END AS n,
	(k % 100000) * 0.01::numeric::money AS m,
	make_interval(months => k % 30, days => -k % 40, secs => k * 0.25) AS iv
FROM generate_series(1, 6000) k);
my %columns = (
	sum => [qw(i2 i4 i8 f4 f8 n m iv)],
	avg => [qw(i2 i4 i8 f4 f8 n iv)],
	map { $_ => [qw(i2 i4 i8 f4 f8 n)] } qw(var_pop var_samp variance stddev_pop stddev_samp stddev));
my %types = (
	i2 => [qw(bigint numeric numeric)], i4 => [qw(bigint numeric numeric)],
	i8 => [qw(numeric numeric numeric)], f4 => ['real', ('double precision') x 2],
	f8 => [('double precision') x 3], n => [qw(numeric numeric numeric)], m => ['money'],
	iv => [qw(interval interval)]);

# The result's type of an aggregate over a column.
sub result_type
{
	my ($aggregate, $column) = @_;

	return $types{$column}[ $aggregate eq 'sum' ? 0 : $aggregate eq 'avg' ? 1 : 2 ];
}

# Every aggregate over every column, as one select list.
sub every
{
	my ($expression) = @_;
	my @list;

	for my $aggregate (sort keys %columns)
	{
		push @list, map { $expression->($aggregate, $_) } @{ $columns{$aggregate} };
	}
	return join(', ', @list);
}

my $every = every(sub { "gpu_$_[0]($_[1])" });
my $every_state = every(sub {
	my ($aggregate, $column) = @_;
	my $state = $aggregate =~ /^(?:sum|avg)$/ ? $aggregate : 'var';

	return "gpu_${state}_state($column) AS ${aggregate}_$column";
});
my $every_merge = every(sub {
	return "gpu_$_[0]_merge($_[0]_$_[1], NULL::" . result_type(@_) . ')';
});

sub plan_of
{
	my ($sql, @set) = @_;

	return $front->safe_psql('postgres',
		join('', map { "SET $_; " } @set) . "EXPLAIN (VERBOSE, COSTS OFF) $sql");
}

# The answers of two statements are the same, and are some.
sub same
{
	my ($what, $ours, $theirs, @set) = @_;
	my $got = $front->safe_psql('postgres', join('', map { "SET $_; " } @set) . $ours);
	my $expected = $front->safe_psql('postgres', $theirs);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($got, $expected, $what);
	cmp_ok(length($expected), '>', 0, "$what: there is something");
	return;
}

for my $node ($front, $back)
{
	$node->safe_psql('postgres', "CREATE EXTENSION gpuagg; CREATE TABLE whole AS $rows; "
		  . join(' ', map { "CREATE TABLE shard_$_ AS SELECT * FROM whole WHERE s = $_;" } 0 .. 2)
		  . 'ANALYZE');
}
my $options = "host '" . $back->host . "', port '" . $back->port . "', dbname 'postgres'";
my @described = split /\n/, $front->safe_psql('postgres', q(SELECT attname || ' ' ||
	format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'whole'::regclass
	AND attnum > 0 ORDER BY attnum));
my $described = join(', ', @described);
my $names = join(', ', map { (split / /)[0] } @described);
$front->safe_psql('postgres', qq(
CREATE EXTENSION postgres_fdw;
CREATE EXTENSION dblink;
CREATE SERVER back FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($options, extensions 'gpuagg', async_capable 'true');
CREATE SERVER bare FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($options);
CREATE USER MAPPING FOR CURRENT_USER SERVER back;
CREATE USER MAPPING FOR CURRENT_USER SERVER bare;
CREATE FOREIGN TABLE far_whole ($described) SERVER back OPTIONS (table_name 'whole');
CREATE FOREIGN TABLE far_bare ($described) SERVER bare OPTIONS (table_name 'whole');
CREATE TABLE parted ($described) PARTITION BY LIST (s);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN (0);
INSERT INTO parted SELECT $names FROM whole WHERE s = 0;
CREATE FOREIGN TABLE parted_1 PARTITION OF parted FOR VALUES IN (1) SERVER back OPTIONS (table_name 'shard_1');
CREATE FOREIGN TABLE parted_2 PARTITION OF parted FOR VALUES IN (2) SERVER back OPTIONS (table_name 'shard_2');
ANALYZE));

# Whole aggregates are computed where the rows are.
for my $aggregate (sort keys %columns)
{
	my @not = grep { plan_of("SELECT gpu_$aggregate($_) FROM far_whole") !~
		  /Remote SQL: SELECT public\.gpu_$aggregate\($_\) FROM public\.whole$/ }
	  @{ $columns{$aggregate} };

	is("@not", '', "gpu_$aggregate is pushed down for every type");
}
my @extremes = map { ("gpu_min($_)", "gpu_max($_)") } @{ $columns{sum} };
for my $list ("g, $every", 'g, gpu_count(*), gpu_count(n)', 'g, ' . join(', ', @extremes))
{
	my $plan = plan_of("SELECT $list FROM far_whole GROUP BY g");
	my $functions = () = $list =~ /gpu_\w+/g;
	my ($remote) = $plan =~ /Remote SQL: (.*)/;

	is(scalar(() = $remote =~ /gpu_\w+/g), $functions, "$functions aggregates pushed down together");
	like($remote, qr/GROUP BY 1$/, 'with their groups');
	same('pushed down, grouped', "SELECT $list FROM far_whole GROUP BY g ORDER BY g",
		"SELECT $list FROM whole GROUP BY g ORDER BY g");
}
same('pushed down', "SELECT $every FROM far_whole", "SELECT $every FROM whole");
my $clauses = 'gpu_sum(f8) FILTER (WHERE i4 > 0), gpu_sum(DISTINCT i2 % 10), '
  . 'gpu_sum(f4 ORDER BY k DESC)';
my $having = 'GROUP BY g HAVING gpu_avg(i4) IS NOT NULL AND gpu_sum(i2) < 1000000 ORDER BY g';
like(plan_of("SELECT g, $clauses FROM far_whole $having"),
	qr/Remote SQL: SELECT g, public\.gpu_sum.*FILTER.*DISTINCT.*ORDER BY.*HAVING/,
	'FILTER, DISTINCT, ORDER BY and HAVING are pushed down');
same('with FILTER, DISTINCT, ORDER BY and HAVING', "SELECT g, $clauses FROM far_whole $having",
	"SELECT g, $clauses FROM whole $having");
unlike(plan_of('SELECT gpu_sum(f8) FROM far_bare'), qr/Remote SQL: .*gpu_sum/,
	'no pushdown to a server that is not said to have the extension');
same('rows fetched', "SELECT $every FROM far_bare", "SELECT $every FROM whole");

# Partitions here and there.
my @wise = ('enable_partitionwise_aggregate = on');
my $plan = plan_of('SELECT s, gpu_sum(f8), gpu_stddev(f8) FROM parted GROUP BY s', @wise);
is(scalar(() = $plan =~ /Remote SQL: SELECT s, public\.gpu_sum\(f8\), public\.gpu_stddev\(f8\)/g),
	2, 'partition-wise: computed in each foreign partition');
like($plan, qr/Async Foreign Scan/, 'at the same time');
same('partition-wise, by the partition key', "SELECT s, $every FROM parted GROUP BY s ORDER BY s",
	"SELECT s, $every FROM whole GROUP BY s ORDER BY s", @wise);
$plan = plan_of('SELECT gpu_sum(f8), gpu_stddev(i8) FROM parted', @wise);
like($plan, qr/Finalize Aggregate.*Partial Aggregate.*Foreign Scan.*Partial Aggregate/s,
	'partition-wise: partial aggregates over foreign partitions');
same('partition-wise, partial', "SELECT $every FROM parted", "SELECT $every FROM whole", @wise);
same('partition-wise, partial groups', "SELECT g, $every FROM parted GROUP BY g ORDER BY g",
	"SELECT g, $every FROM whole GROUP BY g ORDER BY g", @wise);

# States: each server sums its own rows.  Pushed down, ...
$plan = plan_of('SELECT gpu_sum_state(f8), gpu_avg_state(n), gpu_var_state(i8) FROM far_whole');
like($plan, qr/Remote SQL: SELECT public\.gpu_sum_state\(f8\), public\.gpu_avg_state\(n\), public\.gpu_var_state\(i8\)/,
	'states are made where the rows are');
my $shards = join(' UNION ALL ',
	map { "SELECT g, $every_state FROM parted_$_ GROUP BY g" } 0 .. 2);
same('states pushed down', "SELECT $every_merge FROM ($shards) q", "SELECT $every FROM whole");
same('states pushed down, by groups',
	"SELECT g, $every_merge FROM ($shards) q GROUP BY g ORDER BY g",
	"SELECT g, $every FROM whole GROUP BY g ORDER BY g");

# ... from views on the other server, ...
for my $node ($front, $back)
{
	$node->safe_psql('postgres',
		join(' ', map { "CREATE VIEW states_$_ AS SELECT g, $every_state FROM shard_$_ GROUP BY g;" }
			  0 .. 2));
}
$front->safe_psql('postgres', 'CREATE SCHEMA far; IMPORT FOREIGN SCHEMA public '
	  . 'LIMIT TO (states_1, states_2) FROM SERVER bare INTO far');
my $views = 'TABLE states_0 UNION ALL TABLE far.states_1 UNION ALL TABLE far.states_2';
same('states in foreign views', "SELECT $every_merge FROM ($views) q", "SELECT $every FROM whole");
same('states in foreign views, by groups',
	"SELECT g, $every_merge FROM ($views) q GROUP BY g ORDER BY g",
	"SELECT g, $every FROM whole GROUP BY g ORDER BY g");

# ... merged in several steps, the first of them on the other server, ...
$front->safe_psql('postgres',
	'CREATE FOREIGN TABLE far_states (g int, sum_f8 bytea, stddev_n bytea) '
	  . "SERVER back OPTIONS (table_name 'states_1')");
$plan = plan_of('SELECT gpu_state_merge(sum_f8), gpu_stddev_merge(stddev_n) FROM far_states');
like($plan, qr/Remote SQL: SELECT public\.gpu_state_merge\(sum_f8\), public\.gpu_stddev_merge\(stddev_n\)/,
	'merges are pushed down');
same('a tree of merges', 'SELECT gpu_sum_merge(f, NULL::float8), gpu_stddev_merge(n) FROM '
	  . '(SELECT gpu_state_merge(sum_f8), gpu_state_merge(stddev_n) FROM far_states UNION ALL '
	  . 'SELECT gpu_sum_state(f8), gpu_var_state(n) FROM whole WHERE s <> 1) q(f, n)',
	'SELECT gpu_sum(f8), gpu_stddev(n) FROM whole');

# ... over dblink, ...
my $dblink = join(' UNION ALL ',
	map { "SELECT * FROM dblink('host=" . $back->host . ' port=' . $back->port
		  . " dbname=postgres', 'SELECT gpu_sum_state(f8), gpu_var_state(f8) FROM shard_$_') "
		  . 'q(s bytea, v bytea)' } 0 .. 2);
same('states over dblink', 'SELECT gpu_sum_merge(s, NULL::float8), gpu_avg_merge(s), '
	  . "gpu_stddev_merge(v, NULL::float8) FROM ($dblink) q",
	'SELECT gpu_sum(f8), gpu_avg(f8)::text::numeric, gpu_stddev(f8) FROM whole');

# ... and through a client, as text.
my @texts = map { $back->safe_psql('postgres', "SELECT gpu_var_state(f8) FROM shard_$_") } 0 .. 2;
my $values = join(', ', map { "('$_'::bytea)" } @texts, 'NULL');
$values =~ s/'NULL'/NULL/;
same('states through a client', "SELECT gpu_sum_merge(s, NULL::float8), gpu_variance_merge(s, NULL::float8) "
	  . "FROM (VALUES $values) q(s)", 'SELECT gpu_sum(f8), gpu_variance(f8) FROM whole');

# The answers of all this are core's, where core is exact.
same('exact types as in core', "SELECT $every_merge FROM ($views) q",
	"SELECT " . every(sub { "$_[0]($_[1])" }) =~ s/\b(\w+)\((f[48])\)/gpu_$1($2)/gr . ' FROM whole');

# What is no state is refused where it is merged, on this side or on the other.
$back->safe_psql('postgres', 'CREATE VIEW broken AS SELECT set_byte(gpu_sum_state(f8), 20, 7) AS s FROM whole');
for my $server (qw(back bare))
{
	my ($ret, $out, $err) = $front->psql('postgres', "CREATE FOREIGN TABLE broken_$server (s bytea) "
		  . "SERVER $server OPTIONS (table_name 'broken'); SELECT gpu_sum_merge(s) FROM broken_$server");

	like($err, qr/ERROR:  invalid aggregate state/, "a damaged state from server $server");
}
stop_and_look($_) for $front, $back;

done_testing();
