# ALTER EXTENSION UPDATE from 0.1.0 under sessions that are open, with users' objects and privileges;
# dumps of the database from before and from after.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = gpuagg_node('update', mode => 'cpu', rows => 0, conf => "wal_level = replica\ngpuagg.min_table_pages = 0\n"
	  . "parallel_setup_cost = 0\nparallel_tuple_cost = 0\nmin_parallel_table_scan_size = 0\n");
my @server = ('-h', $node->host, '-p', $node->port);

$node->safe_psql(
	'postgres', q{
CREATE ROLE watcher LOGIN;
CREATE ROLE stranger LOGIN;
CREATE EXTENSION gpuagg VERSION '0.1.0';
CREATE TABLE t AS SELECT i, i % 7 AS g, (i * 1.37)::numeric(12,2) AS n, CASE WHEN i % 9 > 0 THEN i / 8.0 END::float8 AS f,
	i * 4000000000 AS b FROM generate_series(1, 20000) i;
VACUUM ANALYZE t;
CREATE VIEW sums AS SELECT g, gpu_sum(i) AS i, gpu_avg(n) AS n, gpu_sum(f) AS f, gpu_stddev(b) AS b, gpu_max(n) AS m,
	gpu_count(f) AS c FROM t GROUP BY g;
CREATE VIEW running AS SELECT i, gpu_running_sum(f) OVER (PARTITION BY g ORDER BY i) AS f,
	gpu_sum(n) OVER (ORDER BY i ROWS 10 PRECEDING) AS n FROM t;
CREATE MATERIALIZED VIEW stored AS TABLE sums;
CREATE TABLE states AS SELECT g, gpu_sum_state(f) AS f, gpu_var_state(n) AS n FROM t GROUP BY g, i % 3;
CREATE FUNCTION total() RETURNS numeric LANGUAGE sql BEGIN ATOMIC SELECT gpu_sum(b) FROM t; END;
CREATE VIEW last AS SELECT * FROM gpuagg_last_query();
CREATE VIEW work AS SELECT * FROM gpuagg_stat;
CREATE TABLE generated (a int[], r bigint);
ALTER TABLE generated ADD CHECK (gpu_reduce(a) = r);
INSERT INTO generated VALUES ('{1,2,3}', 6);
REVOKE EXECUTE ON FUNCTION gpuagg_last_query(), gpu_sum(float8) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpuagg_last_query() TO watcher;
REVOKE SELECT ON gpuagg_stat FROM PUBLIC;
GRANT SELECT ON gpuagg_stat TO watcher;
GRANT EXECUTE ON FUNCTION gpuagg_stat_reset() TO watcher;});

my $everything = q{
SELECT md5(string_agg(s::text, ',' ORDER BY g)) FROM sums s;
SELECT md5(string_agg(r::text, ',' ORDER BY i)) FROM running r;
SELECT md5(string_agg(s::text, ',' ORDER BY g)) FROM stored s;
SELECT g, gpu_sum_merge(f, NULL::float8), gpu_stddev_merge(n) FROM states GROUP BY g ORDER BY g;
SELECT md5(string_agg(f::text || n, ',' ORDER BY f, n)) FROM states;
SELECT total();
SELECT count(*) FROM generated;
SELECT pg_get_viewdef('sums'), pg_get_viewdef('running'), pg_get_viewdef('work');
SELECT count(*) FROM (TABLE last) q;
SELECT count(*) FROM (TABLE work) q;};
my $rights = q{SELECT p, r, f, has_function_privilege(r, f, 'EXECUTE') FROM unnest('{watcher,stranger}'::text[]) r,
	unnest('{gpuagg_last_query(),gpu_sum(float8),gpuagg_stat_reset(),gpu_sum(int)}'::text[]) f, (VALUES ('function')) v(p)
	UNION ALL SELECT 'view', r, 'gpuagg_stat', has_table_privilege(r, 'gpuagg_stat', 'SELECT')
	FROM unnest('{watcher,stranger}'::text[]) r ORDER BY 1, 2, 3};
my $core = q{SELECT sum(i), avg(n), stddev(b), max(n), count(f) FROM t WHERE g = 3};
my $version = q{SELECT extversion FROM pg_extension WHERE extname = 'gpuagg'};

my $before = $node->safe_psql('postgres', $everything);
my $granted = $node->safe_psql('postgres', $rights);
is($granted, join("\n", map { "function|$_" } 'stranger|gpu_sum(float8)|f', 'stranger|gpu_sum(int)|t', 'stranger|gpuagg_last_query()|f',
		'stranger|gpuagg_stat_reset()|f', 'watcher|gpu_sum(float8)|f', 'watcher|gpu_sum(int)|t', 'watcher|gpuagg_last_query()|t',
		'watcher|gpuagg_stat_reset()|t') . "\nview|stranger|gpuagg_stat|f\nview|watcher|gpuagg_stat|t", 'privileges that were changed');
is($node->safe_psql('postgres', 'SELECT i, n, b, m, c FROM sums WHERE g = 3'), $node->safe_psql('postgres', $core), '0.1.0 is right');
command_ok([ 'pg_dump', @server, '-f', $node->basedir . '/before.dump', 'postgres' ], 'pg_dump before');

# Sessions that are open through the update: with plans, a cursor, a snapshot.
my $grouped = 'SELECT g, gpu_sum(i), gpu_avg(n), gpu_sum(f), gpu_stddev(b) FROM t GROUP BY g ORDER BY g';
my %workers = (none => 0, some => 2);
my %open = map { $_ => background($node, "max_parallel_workers_per_gather = $workers{$_}", 'plan_cache_mode = force_generic_plan') } sort keys %workers;
my %plan;
for my $name (sort keys %open)
{
	$open{$name}->query_safe("PREPARE p AS $grouped");
	$plan{$name} = $open{$name}->query_safe('EXECUTE p');
	$open{$name}->query_safe('PREPARE s(int) AS SELECT gpu_sum_merge(f, NULL::float8) FROM states WHERE g = $1');
	$plan{"states of $name"} = $open{$name}->query_safe('EXECUTE s(4)');
}
is($plan{some}, $plan{none}, 'with workers and without');
like($open{some}->query_safe('EXPLAIN (COSTS OFF) EXECUTE p'), qr/Workers Planned: 2/, 'there are workers');
my $cursor = background($node);
$cursor->query_safe('BEGIN; DECLARE c CURSOR FOR SELECT gpu_running_sum(b) OVER (ORDER BY i) FROM t; FETCH 1 FROM c');
my $held = background($node);
$held->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
$held->query_safe('SELECT gpu_sum(i) FROM t');

my ($ret, $out, $err) = $node->psql('postgres', q{BEGIN; ALTER EXTENSION gpuagg UPDATE; SELECT count(*) FROM gpuagg_resident; ROLLBACK});
is("$ret $out $err", '0 0 ', 'an update that is rolled back');
is($node->safe_psql('postgres', $version), '0.1.0', 'was none');
is($node->safe_psql('postgres', $everything), $before, 'and all is as it was');
($ret, $out, $err) = $node->psql('postgres', 'ALTER EXTENSION gpuagg UPDATE');
is("$ret $out $err", '0  ', 'the update, under cursors and snapshots');
is($node->safe_psql('postgres', $version), $node->safe_psql('postgres', 'SELECT gpuagg_version()'), 'the version is the library\'s');

is($node->safe_psql('postgres', $everything), $before, 'a new session: everything is the same');
is($node->safe_psql('postgres', $rights), $granted, 'privileges are as users have set them');
for my $name (sort keys %open)
{
	is($open{$name}->query_safe('EXECUTE p'), $plan{$name}, "workers: $name, a prepared statement goes on");
	is($open{$name}->query_safe('EXECUTE s(4)'), $plan{"states of $name"}, "workers: $name, over states");
	is($open{$name}->query_safe($grouped), $plan{$name}, "workers: $name, planned again");
	is($open{$name}->query_safe($everything), $before, "workers: $name, everything");
	is($open{$name}->query_safe('SELECT gpu_sum(i) FROM t; SELECT count(resident_pages), count(resident_skipped) FROM gpuagg_last_query()'),
		"200010000\n1|1", "workers: $name, more columns in an open session");
}
$cursor->query_safe('MOVE 19998 FROM c');
is($cursor->query_safe('FETCH 1 FROM c'), '800040000000000000', 'the cursor goes on to the end');
$cursor->query_safe('COMMIT');
is($held->query_safe('SELECT gpu_sum(i) FROM t'), '200010000', 'so does a transaction under an earlier snapshot');
is($held->query_safe('SELECT count(resident_pages) FROM gpuagg_stat'), '1', 'which sees the new columns');
$held->query_safe('COMMIT');
$_->quit for values %open, $cursor, $held;

# What is new works, with what there was.
is($node->safe_psql('postgres', q{SET gpuagg.resident = on; SELECT rows FROM gpuagg_prefetch('t', '{i,n}')}), '40000', 'gpuagg_prefetch()');
is($node->safe_psql('postgres', $everything), $before, 'with resident columns');
is($node->safe_psql('postgres', q{SELECT gpuagg_evict('t') > 0, (SELECT count(*) FROM gpuagg_resident)}), 't|0', 'gpuagg_evict()');
is($node->safe_psql('postgres', 'REFRESH MATERIALIZED VIEW stored;' . $everything), $before, 'a materialized view is refreshed');
($ret, $out, $err) = $node->psql('postgres', q{INSERT INTO generated VALUES ('{1}', 2)});
like($err, qr/violates check constraint/, 'a constraint holds');
($ret, $out, $err) = $node->psql('postgres', 'SELECT * FROM gpuagg_last_query()', connstr => $node->connstr('postgres') . ' user=stranger');
like($err, qr/permission denied for function gpuagg_last_query/, 'who may not');
($ret, $out, $err) = $node->psql('postgres', 'SELECT gpuagg_stat_reset(); SELECT resident_pages FROM gpuagg_stat', connstr => $node->connstr('postgres') . ' user=watcher');
is($err, '', 'who may');

# Dumps; one from before the update comes back in the new release.
command_ok([ 'pg_dump', @server, '-f', $node->basedir . '/after.dump', 'postgres' ], 'pg_dump after');
for my $when ('before', 'after')
{
	command_ok([ 'createdb', @server, '-T', 'template0', $when ], 'createdb');
	command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', @server, '-f', $node->basedir . "/$when.dump", $when ], "restore, $when");
	is($node->safe_psql($when, $version), $node->safe_psql('postgres', $version), "restored, $when: the version");
	is($node->safe_psql($when, $everything), $before, "restored, $when: everything is the same");
	is($node->safe_psql($when, $rights), $granted, "restored, $when: privileges");
}
is(schema('after'), schema('before'), 'both dumps are the same');
$node->stop;
no_crash($node);
done_testing();

# A dump without the random words of its \restrict lines, and without the columns that functions return.
sub schema
{
	my ($name) = @_;

	return slurp_file($node->basedir . "/$name.dump") =~ s/^\\(un)?restrict .*\n//mgr =~ s/\(OUT [^()]*\)/()/gr;
}
