# Resident columns of two databases and of several roles: nobody sees through memory what core hides.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use Test::More;

my $node = gpuagg_node(
	'resident_roles',
	mode => 'cpu',
	rows => 0,
	conf => "wal_level = replica\ngpuagg.min_table_pages = 0\ngpuagg.resident = on\nmax_parallel_workers_per_gather = 0\n"
	  . "session_preload_libraries = 'gpuagg'\n");

my $version = $node->safe_psql('postgres', 'SHOW server_version_num');

$node->safe_psql('postgres', 'CREATE DATABASE one; CREATE ROLE plain LOGIN; CREATE ROLE owner LOGIN; CREATE ROLE monitor LOGIN;'
	  . ' GRANT pg_monitor TO monitor');
$node->safe_psql(
	'one', q{
	CREATE EXTENSION gpuagg;
	CREATE TABLE kept (i int, y int8, secret int8, pad text) WITH (autovacuum_enabled = off);
	ALTER TABLE kept ALTER pad SET STORAGE PLAIN;
	INSERT INTO kept SELECT i, i * 10000000, -i, repeat('x', 3500) FROM generate_series(1, 100) i;
	VACUUM kept;
	ALTER TABLE kept OWNER TO owner;});

# What a statement of a role says, or its error.
sub says
{
	my ($db, $role, $sql) = @_;
	my ($rc, $out, $err) = $node->psql($db, $sql, connstr => $node->connstr($db) . " user=$role");

	return $out if $rc == 0;
	return $err =~ /ERROR:  (.*)/ ? $1 : $err;
}

my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
my $pages = ' SELECT resident_pages + resident_confirmed, table_pages, resident_filled FROM gpuagg_last_query()';
my $seen = q(SELECT relation || '.' || attribute FROM gpuagg_resident ORDER BY 1);

# ---- two databases ----

# Waits until sessions of a database have ended.
sub unused
{
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = '$_[0]'");
	return;
}

# A copy of a database file by file: relations with the same numbers, pages with the same LSNs.
sub copy_database
{
	my ($to) = @_;

	$node->safe_psql('postgres', 'CHECKPOINT');
	unused('one');
	$node->safe_psql('postgres', "CREATE DATABASE $to TEMPLATE one STRATEGY file_copy");
	return;
}

is($node->safe_psql('one', 'SELECT gpu_sum(y), gpu_sum(secret) FROM kept;' . $pages), "50500000000|-5050\n0|50|50", 'first use');
copy_database('two');
my $file = q(SELECT pg_relation_filenode('kept'));
is($node->safe_psql('two', $file), $node->safe_psql('one', $file), 'another database has the same file number');
is($node->safe_psql('two', $seen), '', 'it has no columns yet');
is($node->safe_psql('two', 'SELECT gpu_sum(y), gpu_sum(secret) FROM kept;' . $pages), "50500000000|-5050\n0|50|50",
	'it takes nothing of the first one from memory');
$node->safe_psql('two', 'UPDATE kept SET y = 1; VACUUM kept');
is($node->safe_psql('two', 'SELECT gpu_sum(y) FROM kept'), '100', 'the copy, changed');
is($node->safe_psql('two', 'SELECT gpu_sum(y) FROM kept'), '100', 'the copy, from memory');
is($node->safe_psql('one', 'SELECT gpu_sum(y) FROM kept;' . $pages), "50500000000\n50|0|0", 'the first one, from memory');
is($node->safe_psql('postgres', 'CREATE EXTENSION gpuagg; ' . $seen), '', 'a third database shows none');
is($node->safe_psql('one', $seen), "kept.secret\nkept.y", 'each shows its own');
is(says('two', 'monitor', $seen), "kept.secret\nkept.y", 'also to pg_monitor');
like($node->safe_psql('two', 'SELECT gpuagg_evict()'), qr/^\s*2$/, 'and throws out its own');
is($node->safe_psql('one', $seen), "kept.secret\nkept.y", 'not those of the other');
unused('two');
$node->safe_psql('postgres', 'DROP DATABASE two');
copy_database('two');
is($node->safe_psql('two', 'SELECT gpu_sum(y) FROM kept;' . $pages), "50500000000\n0|50|50", 'a new database of that name has none');

# ---- roles ----

my $denied = 'permission denied for table kept';

is(says('one', 'plain', 'SELECT gpu_sum(y) FROM kept'), $denied, 'a role without privileges');
is(says('one', 'plain', $seen), '', 'sees no columns');
is(says('one', 'plain', q(SELECT gpuagg_evict('kept'))), 'must be owner of table kept', 'throws out none');
is(says('one', 'plain', 'SELECT gpuagg_evict()'), '0', 'not even at large');
is(says('one', 'plain', q(SELECT gpuagg_prefetch('kept'))), 'must be owner of table kept', 'and brings in none');
is(says('one', 'monitor', $seen), "kept.secret\nkept.y", 'pg_monitor sees them');
is(says('one', 'monitor', 'SELECT gpu_sum(y) FROM kept'), $denied, 'and not what is in them');
is(says('one', 'monitor', q(SELECT gpuagg_evict('kept'))), 'must be owner of table kept', 'and throws out none');

# privileges on single columns
$node->safe_psql('one', 'GRANT SELECT (i, y) ON kept TO plain');
is(says('one', 'plain', 'SELECT gpu_sum(y) FROM kept;' . $pages), "50500000000\n50|0|0", 'a column that one may read comes from memory');
is(says('one', 'plain', 'SELECT gpu_sum(secret) FROM kept'), $denied, 'another does not');
is(says('one', 'plain', 'SELECT gpu_sum(y) FROM kept WHERE secret < 0'), $denied, 'nor through a condition');
is(says('one', 'plain', $seen), '', 'the view is for those who may read the table');
$node->safe_psql('one', 'GRANT SELECT ON kept TO plain');
is(says('one', 'plain', $seen), "kept.secret\nkept.y", 'who see all of it then');

SKIP:
{
	skip 'MAINTAIN is not there before 17', 5 if $version < 170000;
	$node->safe_psql('one', 'GRANT MAINTAIN ON kept TO plain');
	is(says('one', 'plain', q(SELECT rows FROM gpuagg_prefetch('kept', '{y,secret}'))), '200', 'who may maintain the table may bring columns in');
	$node->safe_psql('one', 'REVOKE SELECT ON kept FROM plain; REVOKE SELECT (i, y) ON kept FROM plain');
	is($node->safe_psql('one', q(SELECT gpuagg_evict('kept') > 0)), 't', 'out again');
	is(says('one', 'plain', q(SELECT rows, current_user FROM gpuagg_prefetch('kept', '{y,secret}'))), '200|plain', 'also who may not read it');
	is(says('one', 'plain', 'SELECT gpu_sum(y) FROM kept'), $denied, 'and may not read it then either');
	$node->safe_psql('one', 'GRANT SELECT ON kept TO plain');
	is(says('one', 'plain', q(SELECT gpuagg_evict('kept'))), 'must be owner of table kept', 'and throws out none');
	$node->safe_psql('one', 'REVOKE MAINTAIN ON kept FROM plain');
}

# row security, with a condition that may look at rows before others do, and with one that may not
$node->safe_psql(
	'one', q{
	ALTER TABLE kept ENABLE ROW LEVEL SECURITY;
	CREATE POLICY few ON kept FOR SELECT TO plain USING (i <= 10);
	CREATE FUNCTION slowly(int) RETURNS boolean LANGUAGE plpgsql COST 1 AS 'BEGIN RETURN $1 <= 5; END';});
my $few = 'SELECT gpu_sum(y), gpu_count(*), gpu_max(i) FROM kept';
is(says('one', 'plain', $few), '550000000|10|10', "row security, use $_") for 1, 2;
is(says('one', 'plain', 'SELECT gpu_min(secret), gpu_count(y) FROM kept'), '-10|10', 'minimum and count are of these rows');
is(says('one', 'plain', 'SELECT gpu_sum(y) FROM kept WHERE i > 10'), '', 'no other rows');
is(says('one', 'plain', 'SELECT count(*) FROM (SELECT y, gpu_sum(i) FROM kept GROUP BY y) q'), '10', 'no other groups');
is(says('one', $superuser, $few . ';' . $pages), "50500000000|100|100\n50|0|0", 'who bypasses it has all, from memory');
is(says('one', 'owner', 'SELECT gpu_count(*) FROM kept'), '100', 'so does the owner');
$node->safe_psql('one', 'ALTER POLICY few ON kept USING (slowly(i))');
is(says('one', 'plain', $few), '150000000|5|5', "a function as the condition, use $_") for 1, 2;
$node->safe_psql('one', 'ALTER TABLE kept FORCE ROW LEVEL SECURITY');
is(says('one', 'owner', 'SELECT gpu_count(*) FROM kept'), '0', 'forced upon the owner');
# who fills has all rows of a page read, and not only those that one may see
is(says('one', 'owner', q(SELECT gpuagg_evict('kept') > 0)), 't', 'the owner throws them out');
is(says('one', 'plain', $few), '150000000|5|5', 'a role that sees few fills them');
is(says('one', $superuser, $few), '50500000000|100|100', 'with all rows of each page');

# what a role may do changes what it sees at once, in one session
is(says('one', $superuser, "SET ROLE plain; $few; RESET ROLE; $few"), "150000000|5|5\n50500000000|100|100", 'two roles in one session');
$node->safe_psql('one', 'REVOKE ALL ON kept FROM plain; REVOKE SELECT (i, y) ON kept FROM plain');
is(says('one', 'plain', $few), $denied, 'privileges that were taken away');
is(says('one', 'plain', $seen), '', 'and with them the view');

$node->stop;
no_crash($node);
done_testing();
