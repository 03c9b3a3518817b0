# pg_upgrade to a newer PostgreSQL, of databases with gpuagg's first release and with this one.
# GPUAGG_NEW_BINDIR: the folder of programs of that PostgreSQL, which has gpuagg installed.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use File::Basename qw(dirname);
use GpuaggTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $bindir = $ENV{GPUAGG_NEW_BINDIR};

plan skip_all => 'GPUAGG_NEW_BINDIR does not name a newer PostgreSQL that has gpuagg' if ($bindir // '') eq '';
ok(-x "$bindir/pg_upgrade", "$bindir has programs") or BAIL_OUT("no pg_upgrade in $bindir");

my $conf = "autovacuum = off\nmax_connections = 40\nwal_level = replica\ngpuagg.device = cpu\ngpuagg.min_table_pages = 0\n"
  . "max_parallel_workers_per_gather = 0\n";
chomp(my $old_bindir = `pg_config --bindir`);
my $old = gpuagg_node('old', mode => 'cpu', rows => 0, init => { extra => ['-k'] }, conf => $conf);
my $new = PostgreSQL::Test::Cluster->new('new', install_path => dirname($bindir));
$new->init(extra => ['-k']);
$new->append_conf('postgresql.conf', $conf);
my $owner = $old->safe_psql('postgres', 'SELECT current_user');

my %databases = (released => "VERSION '0.1.0'", current => '');
$old->safe_psql('postgres', 'CREATE ROLE watcher LOGIN');
for my $db (sort keys %databases)
{
	$old->safe_psql('postgres', "CREATE DATABASE $db");
	$old->safe_psql(
		$db, qq{CREATE EXTENSION gpuagg $databases{$db};} . q{
CREATE TABLE t AS SELECT i, i % 7 AS g, (i * 1.37)::numeric(12,2) AS n, CASE WHEN i % 9 > 0 THEN i / 8.0 END::float8 AS f,
	i * 4000000000 AS b, (i % 30)::text AS s, date '2000-01-01' + i % 999 AS d FROM generate_series(1, 20000) i;
VACUUM ANALYZE t;
CREATE VIEW sums AS SELECT g, gpu_sum(i) AS i, gpu_avg(n) AS n, gpu_sum(f) AS f, gpu_stddev(b) AS b, gpu_max(n) AS m,
	gpu_count(f) AS c, gpu_min(s) AS s, gpu_max(d) AS d FROM t GROUP BY g;
CREATE VIEW running AS SELECT i, gpu_running_sum(f) OVER (PARTITION BY g ORDER BY i) AS f,
	gpu_sum(n) OVER (ORDER BY i ROWS 10 PRECEDING) AS n FROM t;
CREATE VIEW last AS SELECT * FROM gpuagg_last_query();
CREATE VIEW work AS SELECT * FROM gpuagg_stat;
CREATE MATERIALIZED VIEW stored AS TABLE sums;
CREATE TABLE states AS SELECT g, gpu_sum_state(f) AS f, gpu_var_state(n) AS n FROM t GROUP BY g, i % 3;
CREATE FUNCTION total() RETURNS numeric LANGUAGE sql BEGIN ATOMIC SELECT gpu_sum(b) FROM t; END;
REVOKE EXECUTE ON FUNCTION gpuagg_last_query() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpuagg_last_query(), gpuagg_stat_reset() TO watcher;});
}
my $everything = q{
SELECT md5(string_agg(s::text, ',' ORDER BY g)) FROM sums s;
SELECT md5(string_agg(r::text, ',' ORDER BY i)) FROM running r;
SELECT md5(string_agg(s::text, ',' ORDER BY g)) FROM stored s;
SELECT g, gpu_sum_merge(f, NULL::float8), gpu_stddev_merge(n) FROM states GROUP BY g ORDER BY g;
SELECT md5(string_agg(f::text || n, ',' ORDER BY f, n)) FROM states;
SELECT md5(string_agg(q::text, ',' ORDER BY g)) FROM (SELECT g, gpu_sum_state(f), gpu_var_state(n) FROM t GROUP BY g) q;
SELECT total();
SELECT count(*) FROM (TABLE last) q;
SELECT count(*) FROM (TABLE work) q;
SELECT r, f, has_function_privilege(r, f, 'EXECUTE') FROM unnest('{watcher,public}'::text[]) r,
	unnest('{gpuagg_last_query(),gpuagg_stat_reset(),gpuagg_stop()}'::text[]) f ORDER BY 1, 2;};
my %answers = map { $_ => $old->safe_psql($_, $everything) } sort keys %databases;
is($answers{current}, $answers{released}, 'objects of both releases, before');

# Options of columns that a minor release keeps for itself, and the new server's does not know, would end pg_upgrade.
my $options = q{SELECT DISTINCT split_part(o, '=', 1) FROM pg_attribute, unnest(attoptions) o WHERE o ~ '^pg_'};
$new->start;
for my $option (split /\n/, $old->safe_psql('current', $options))
{
	my ($ret) = $new->psql('postgres', "BEGIN; CREATE TABLE x (a int); ALTER TABLE x ALTER a SET ($option = 1); ROLLBACK");

	next if $ret == 0;
	diag("without column option $option, which the new server does not know");
	$old->safe_psql($_, "UPDATE pg_attribute SET attoptions = NULL WHERE attoptions::text ~ '$option='")
	  for 'postgres', 'template1', sort keys %databases;
}
$new->stop;
$old->stop;

# Everything of both databases.
mkdir $old->basedir . '/upgrade';
chdir $old->basedir . '/upgrade' or die $!;
command_ok([ "$bindir/pg_upgrade", '--no-sync', '-U', $owner, '-b', $old_bindir, '-B', $bindir, '-d', $old->data_dir, '-D', $new->data_dir,
		'-s', $new->host, '-p', $old->port, '-P', $new->port ], 'pg_upgrade');
$new->start;
my ($major) = $new->safe_psql('postgres', 'SHOW server_version_num') =~ /^(\d+)\d{4}$/;
is(`$bindir/pg_config --version` =~ /^PostgreSQL (\d+)/ ? $1 : '', $major, "the server is PostgreSQL $major");

# Functions of the extension as the catalog has them.
my $functions = q{SELECT i.identity, prosupport::oid::regprocedure, provolatile, proparallel, proisstrict, prorows, proacl IS NULL, prosrc,
	obj_description(p.oid, 'pg_proc'), CASE WHEN prokind <> 'a' THEN md5(pg_get_functiondef(p.oid)) END,
	ARRAY[aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn, aggmtransfn, aggminvtransfn, aggmfinalfn]::oid[]::regprocedure[],
	aggtransspace, agginitval, aggfinalextra, aggfinalmodify, aggsortop::regoperator
	FROM pg_proc p LEFT JOIN pg_aggregate ON aggfnoid = p.oid, pg_depend d, pg_extension e, pg_identify_object(classid, objid, 0) i
	WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e' AND refobjid = e.oid AND extname = 'gpuagg' ORDER BY 1};
my $views = q{SELECT pg_get_viewdef('gpuagg_stat'), pg_get_viewdef('gpuagg_resident'), obj_description('gpuagg_resident'::regclass, 'pg_class'),
	col_description('gpuagg_stat'::regclass, 17), (SELECT string_agg(objid::regclass || initprivs::text, ',' ORDER BY objid::regclass::text)
	FROM pg_init_privs WHERE classoid = 'pg_class'::regclass AND objid IN ('gpuagg_stat'::regclass, 'gpuagg_resident'::regclass))} =~ s/\bobjid\b/objoid/gr;
my $without_support = q{SELECT count(*) FROM pg_proc WHERE prokind = 'a' AND proname LIKE 'gpu\_%' AND prosupport = 0};
my $window = 'EXPLAIN (COSTS OFF) SELECT gpu_sum(i) OVER (ORDER BY i) FROM t';
my ($repair) = slurp_file("$FindBin::RealBin/../../doc/operating.md") =~ /^```sql\n(UPDATE pg_proc .*?)^```$/ms;
$new->safe_psql('postgres', 'CREATE DATABASE fresh');
$new->safe_psql('fresh', q{CREATE EXTENSION gpuagg; REVOKE EXECUTE ON FUNCTION gpuagg_last_query() FROM PUBLIC;
	GRANT EXECUTE ON FUNCTION gpuagg_last_query(), gpuagg_stat_reset() TO watcher});
is($new->safe_psql('fresh', $without_support), '0', 'a fresh extension has all support functions');
for my $db (sort keys %databases)
{
	is($new->safe_psql($db, $everything), $answers{$db}, "$db: everything is the same");
	cmp_ok($new->safe_psql($db, $without_support), '>', 90, "$db: aggregates have no support functions now");
	$new->safe_psql($db, $db eq 'released' ? 'ALTER EXTENSION gpuagg UPDATE' : $repair);
	is($new->safe_psql($db, $without_support), '0', "$db: which they have again");
	like($new->safe_psql($db, $window), qr/GpuWindow/, "$db: a session's first statement");
	is($new->safe_psql($db, $everything), $answers{$db}, "$db: everything is the same again");
	my %fresh = map { $_ => 1 } split /\n/, $new->safe_psql('fresh', $functions);
	my @known = split /\n/, $new->safe_psql($db, $functions);
	is(join("\n", grep { !$fresh{$_} } @known), '', "$db: functions are those of a fresh extension");
	delete @fresh{@known};
	# the newer server's other types come with an update
	my $other = $db eq 'current' && $major >= 18 ? qr/^public\.(?:gpu_(?:min|max)\(.*\b(?:bytea|record)\b|gpuagg_record_)/ : qr/(?!)/;
	is(join("\n", grep { $_ !~ $other } sort keys %fresh), '', "$db: and all of them");
	is($new->safe_psql($db, $views), $new->safe_psql('fresh', $views), "$db: so are views");

	# Resident columns of a table that has come with its pages and its visibility map.
	my $sums = q{SELECT %1$s_sum(i), %1$s_sum(n), %1$s_max(b), %1$s_count(f) FROM t;};
	my $ours = sprintf($sums, 'gpu');
	my $core = $sums =~ s/%1\$s_//gr;
	is($new->safe_psql($db, q{SELECT rows FROM gpuagg_prefetch('t', '{i,n,b,f}')}), '80000', "$db: columns come into memory");
	is($new->safe_psql($db, $ours . 'SELECT table_pages FROM gpuagg_last_query()'), $new->safe_psql($db, $core) . "\n0", "$db: and are used");
	$new->safe_psql($db, 'UPDATE t SET i = i + 1, n = -n, b = b * 2, f = NULL WHERE i % 50 = 0');
	is($new->safe_psql($db, $ours), $new->safe_psql($db, $core), "$db: after changes");
	$new->safe_psql($db, 'VACUUM t');
	is($new->safe_psql($db, $ours), $new->safe_psql($db, $core), "$db: after VACUUM, use $_") for 1, 2;
}
$new->stop;
no_crash($new);
done_testing();
