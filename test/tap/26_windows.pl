# The window node: permissions and row security as core's, functions that change
# or go between executions, every format of EXPLAIN, and a device that goes away.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use AsyncSql;
use GpuaggTest;
use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = 'PARTITION BY g ORDER BY id ROWS UNBOUNDED PRECEDING';
my @modes = qw(on off);

# What a script says with the node on and off: output and errors as one text each.
sub said
{
	my ($node, $sql, %params) = @_;
	my %result;

	for my $mode (@modes)
	{
		my ($out, $err) = ('', '');
		$node->psql('postgres', "LOAD 'gpuagg'; SET gpuagg.enable_window_scan = $mode;\n$sql",
			stdout => \$out, stderr => \$err, on_error_stop => $params{stop} // 0,
			extra_params => ['-v', 'VERBOSITY=verbose']);
		$err =~ s/^.*?(?=ERROR|NOTICE|WARNING)//mg;
		$err =~ s/^LOCATION:.*\n?//mg;
		$result{$mode} = "$out\n$err";
	}
	return \%result;
}

# Two tests: node and functions say the same, and it is what was expected.
sub alike
{
	my ($node, $what, $sql, $expected) = @_;
	my $result = said($node, $sql);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($result->{on}, $result->{off}, "$what: as without the node");
	like($result->{on}, $expected, "$what: as expected");
	return;
}

sub plan_of
{
	my ($node, $sql, $options) = @_;

	return $node->safe_psql('postgres', 'EXPLAIN (' . ($options // 'COSTS OFF') . ") $sql");
}

my $node = gpuagg_node('windows', rows => 200_000);

# The first statement of a session
like(plan_of($node, "SELECT gpu_running_sum(i) OVER ($rows) FROM t"), qr/Custom Scan \(GpuWindow\)/,
	'the first statement of a session takes the node: a running function');
like(plan_of($node, 'SELECT gpu_sum(f) OVER (PARTITION BY g) FROM t'), qr/Custom Scan \(GpuWindow\)/,
	'an aggregate');

# Permissions
$node->safe_psql('postgres', q(
CREATE ROLE alice; CREATE ROLE bob;
GRANT SELECT ON t TO alice;
REVOKE EXECUTE ON FUNCTION gpu_running_sum(int, boolean) FROM public;
REVOKE EXECUTE ON FUNCTION gpu_max(bigint) FROM public;));
for my $call ('gpu_running_sum(i)', 'gpu_max(b)')
{
	my ($name) = $call =~ /^(\w+)/;
	for my $explain ('', 'EXPLAIN ', 'EXPLAIN ANALYZE ')
	{
		alike($node, "$explain$call without EXECUTE",
			"SET ROLE alice; ${explain}SELECT $call OVER ($rows) FROM t LIMIT 1;",
			qr/ERROR:  42501: permission denied for (function|aggregate) $name/);
	}
	alike($node, "$call without EXECUTE and without rows",
		"SET ROLE alice; SELECT $call OVER ($rows) FROM t WHERE id < 0;",
		qr/ERROR:  42501: permission denied/);
}
alike($node, 'a function that is granted',
	"SET ROLE alice; SELECT id, gpu_running_sum(b) OVER ($rows) FROM t ORDER BY g, id LIMIT 2;", qr/^7\|/m);
alike($node, 'EXECUTE revoked from a prepared statement',
	"GRANT EXECUTE ON FUNCTION gpu_running_sum(int, boolean) TO alice; SET plan_cache_mode = force_generic_plan;
SET ROLE alice; PREPARE q AS SELECT gpu_running_sum(i) OVER ($rows) FROM t ORDER BY g, id LIMIT 1; EXECUTE q;
RESET ROLE; REVOKE EXECUTE ON FUNCTION gpu_running_sum(int, boolean) FROM alice; SET ROLE alice; EXECUTE q;",
	qr/^-?\d+\n.*42501: permission denied/ms);
$node->safe_psql('postgres', q(
GRANT EXECUTE ON FUNCTION gpu_running_sum(int, boolean), gpu_max(bigint) TO public;
ALTER AGGREGATE gpu_min(int) OWNER TO bob;
DO $$ BEGIN EXECUTE (SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM public', aggtransfn::regprocedure)
	FROM pg_aggregate WHERE aggfnoid = 'gpu_min(int)'::regprocedure); END $$;));
alike($node, 'a transition function that the owner may not call',
	"SET ROLE alice; SELECT gpu_min(i) OVER ($rows) FROM t LIMIT 1;", qr/ERROR:  42501: permission denied for function/);
$node->safe_psql('postgres', q(
DO $$ BEGIN EXECUTE (SELECT format('GRANT EXECUTE ON FUNCTION %s TO public', aggtransfn::regprocedure)
	FROM pg_aggregate WHERE aggfnoid = 'gpu_min(int)'::regprocedure); END $$;));

# Row security and security barriers: what a leaky function gets to see
$node->safe_psql('postgres', q(
CREATE TABLE secret (id int, g int, x int, owner name);
INSERT INTO secret SELECT n, n % 3, n, CASE WHEN n % 2 = 0 THEN 'alice' ELSE 'bob' END FROM generate_series(1, 20) n;
ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON secret USING (owner = current_user);
GRANT SELECT ON secret TO public;
CREATE FUNCTION leak(n int) RETURNS boolean COST 0.0001 LANGUAGE plpgsql AS
	$$ BEGIN RAISE NOTICE 'saw %', n; RETURN true; END $$;
CREATE VIEW barrier WITH (security_barrier) AS
	SELECT id, g, x, gpu_running_sum(x) OVER (PARTITION BY g ORDER BY id) AS s FROM secret WHERE owner = 'bob';
GRANT SELECT ON barrier TO public;
ANALYZE secret;));
for my $window ('PARTITION BY g ORDER BY id ROWS UNBOUNDED PRECEDING', 'PARTITION BY g ORDER BY x / 4', 'PARTITION BY g')
{
	alike($node, "row security, $window",
		"SET ROLE alice; SELECT id, gpu_running_sum(x) OVER ($window) FROM secret WHERE leak(id) ORDER BY id;",
		qr/^2\|.*saw 2\b/ms);
}
my $leaked = said($node, 'SET ROLE alice; SELECT id, s FROM barrier WHERE leak(id) ORDER BY id;');
is($leaked->{on}, $leaked->{off}, 'security barrier: as without the node');
unlike($leaked->{on}, qr/saw (2|4|6|8|10)\b/, 'security barrier: nothing leaks');
alike($node, 'the argument is a leaky function',
	'SET ROLE alice; SELECT id, gpu_running_count(leak(x)) OVER (PARTITION BY g ORDER BY id) FROM secret ORDER BY id;',
	qr/saw 20/);

# What a query depends on changes between executions
alike($node, 'an argument that is replaced, then dropped', q(
CREATE FUNCTION twice(n int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN 2 * n; END $$;
SET plan_cache_mode = force_generic_plan;
PREPARE q AS SELECT id, gpu_running_sum(twice(id)) OVER (ORDER BY id) FROM t WHERE id <= 3 ORDER BY id;
EXECUTE q;
CREATE OR REPLACE FUNCTION twice(n int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN 10 * n; END $$;
EXECUTE q;
DROP FUNCTION twice(int);
EXECUTE q;
), qr/^1\|2\n2\|6\n3\|12\n1\|10\n2\|30\n3\|60\n.*ERROR:  42883/ms);
alike($node, 'a table whose columns change', q(
CREATE TABLE changing AS SELECT n AS id, n % 2 AS g, 'x' || n AS w, n AS x FROM generate_series(1, 6) n;
SET plan_cache_mode = force_generic_plan;
PREPARE q AS SELECT id, gpu_running_sum(x) OVER (PARTITION BY g ORDER BY id ROWS UNBOUNDED PRECEDING) FROM changing ORDER BY id;
EXECUTE q;
ALTER TABLE changing DROP COLUMN w;
EXECUTE q;
ALTER TABLE changing ALTER COLUMN g TYPE text, ADD COLUMN more int DEFAULT 7;
EXECUTE q;
SELECT id, more, changing, gpu_running_sum(more) OVER (ORDER BY id) FROM changing ORDER BY id;
DROP TABLE changing;
), qr/^(1\|1\n2\|2\n3\|4\n4\|6\n5\|9\n6\|12\n){3}1\|7\|\(1,1,1,7\)\|7/m);

# Names are not what tells our functions
$node->safe_psql('postgres', q(
CREATE SCHEMA mine;
CREATE AGGREGATE mine.gpu_sum(int) (sfunc = int4larger, stype = int, initcond = '-1000');));
unlike(plan_of($node, 'SELECT mine.gpu_sum(i) OVER (PARTITION BY g) FROM t'), qr/GpuWindow\)/,
	'another function of the same name is not taken');
is($node->safe_psql('postgres', 'SELECT mine.gpu_sum(id) OVER () FROM t WHERE id < 4 LIMIT 1'), 3,
	'and works as it should');
$node->safe_psql('postgres', 'CREATE DATABASE elsewhere');
$node->safe_psql('elsewhere', 'CREATE SCHEMA ext; CREATE EXTENSION gpuagg SCHEMA ext');
like($node->safe_psql('elsewhere', 'EXPLAIN SELECT ext.gpu_running_sum(n) OVER (ORDER BY n) FROM generate_series(1, 9) n'),
	qr/GpuWindow\)/, 'the extension may be in any schema');
is($node->safe_psql('elsewhere', q(
PREPARE q AS SELECT sum(s) FROM (SELECT ext.gpu_running_sum(n) OVER (ORDER BY n) AS s FROM generate_series(1, 9) n) x;
EXECUTE q; DROP EXTENSION gpuagg; CREATE EXTENSION gpuagg SCHEMA ext; EXECUTE q;)), "165\n165",
	'the extension made anew between executions');

# EXPLAIN in all formats, with and without the node
$node->safe_psql('postgres', q(
CREATE FUNCTION explained(options text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; found text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (' || options || ') ' || query LOOP
		found := found || line || E'\n';
	END LOOP;
	RETURN found;
END $$;));
my %query = (
	node => "SELECT id, gpu_running_sum(i) OVER ($rows), gpu_avg(f) OVER (PARTITION BY g) FROM t",
	core => 'SELECT id, gpu_sum(i) OVER (ORDER BY id ROWS 2 PRECEDING) FROM t WHERE id < 1000',
	both => 'SELECT id, gpu_sum(i) OVER (ORDER BY id ROWS 2 PRECEDING), gpu_running_sum(i) OVER (PARTITION BY g) FROM t WHERE id < 1000',
);
for my $which (sort keys %query)
{
	my $sql = $query{$which};
	for my $options ('VERBOSE', 'VERBOSE, ANALYZE, BUFFERS', 'ANALYZE, COSTS OFF, TIMING OFF')
	{
		my %text = map { $_ => $node->safe_psql('postgres', "LOAD 'gpuagg'; SELECT explained('FORMAT $_, $options', \$q\$$sql\$q\$)") }
		  qw(text json xml yaml);
		my $plan = eval { decode_json($text{json}) };
		is($@, '', "$which, $options: JSON is valid");
		my $flat = encode_json($plan // {});
		is($flat =~ /"GpuWindow"/ ? 1 : 0, $which eq 'core' ? 0 : 1, "$which, $options: the node in JSON");
		is(system('python3', '-c', 'import sys, xml.dom.minidom as m; m.parseString(sys.argv[1])', $text{xml}),
			0, "$which, $options: XML is well-formed");
		is(scalar(grep { !/^\s*(- )?"?[^":]+"?:( |$)|^\s*- / } split /\n/, $text{yaml}), 0,
			"$which, $options: YAML is made of keys and values") or diag($text{yaml});
		next unless $options =~ /VERBOSE/ && $which ne 'node';
		like($text{text}, qr/GpuWindow not used/i, "$which, $options: the reason in text");
		like($flat, qr/GpuWindow not used/i, "$which, $options: the reason in JSON");
	}
}

# In every mode of the device, and a lease that a cursor does not keep
my $digest = 'count(s), sum(s), max(s), sum(id * mod(s, 1000))';
my $sums = "SELECT $digest FROM (SELECT id, %s(b) OVER ($rows) AS s FROM t OFFSET 0) q";
my $expected = $node->safe_psql('postgres', sprintf $sums, 'sum');
ok(wait_device($node), 'the device is there');
for my $mode (qw(cpu gpu auto))
{
	my ($answer, $last) = run_query($node, sprintf($sums, 'gpu_running_sum'), set => ["gpuagg.device = $mode"]);
	is($answer, $expected, "mode $mode: right answer");
	is($last->{engine}, $mode eq 'gpu' ? 'device' : 'cpu', "mode $mode: engine");
}
my $explained = $node->safe_psql('postgres',
	"SET gpuagg.device = gpu; SET work_mem = '64MB'; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " . sprintf($sums, 'gpu_running_sum'));
my ($launches, $pieces) = $explained =~ /Sort Pieces on Device: (\d+).*Launches: (\d+)/s ? ($2, $1) : (0, 0);
ok($launches >= 1 && $launches <= 11, 'a launch a batch') or diag($explained);
ok($pieces >= 10 && $pieces <= 30, 'the device sorts, in pieces') or diag($explained);
# A query's answer and where it was computed; tried again where the device was too busy to answer in time.
sub computed
{
	my ($sql, @set) = @_;
	my ($answer, $last);

	for (1 .. 3)
	{
		($answer, $last) = run_query($node, $sql, set => [ 'gpuagg.device = gpu', @set ]);
		last unless $last->{fallbacks};
	}
	return "$answer, $last->{engine}" . ($last->{fallbacks} ? ", $last->{reason}" : '');
}

my $many = join ', ', map { ("gpu_running_$_(b) OVER w", "gpu_running_$_(f) OVER w") } qw(sum min max count);
my $eight = "SELECT count(q) FROM (SELECT $many FROM t WINDOW w AS ($rows) OFFSET 0) q";
is(computed($eight, "gpuagg.staging_memory = '$_'"), '200000, device', "eight functions share a lease, $_") for qw(32MB 64MB);
my $two = "SELECT sum(a), max(s) FROM (SELECT %1\$savg(f) OVER w AS a, %1\$ssum(b) OVER w AS s FROM t WINDOW w AS ($rows) OFFSET 0) q";
is(computed(sprintf $two, 'gpu_running_'), $node->safe_psql('postgres', sprintf $two, '') . ', both',
	'one function has no kernel, the other is on the device');
my $session = background($node, 'gpuagg.device = gpu', "gpuagg.staging_memory = '32MB'");
$session->query_safe('BEGIN');
$session->query_safe("DECLARE c CURSOR FOR SELECT id, gpu_running_sum(b) OVER ($rows), gpu_running_max(f) OVER ($rows) FROM t ORDER BY g, id");
is($session->query_safe('FETCH 1 FROM c'), '7|28000000000|0.875', 'a cursor on the device');
is($session->query_safe('SELECT gpu_sum(i) FROM t; SELECT engine FROM gpuagg_last_query()'),
	$node->safe_psql('postgres', 'SELECT sum(i) FROM t') . "\ndevice", 'beside the cursor the device is to be had');
is($session->query_safe('MOVE ALL FROM c'), '', 'the cursor goes on');
$session->query_safe('COMMIT');

# A cursor that outlives its transaction, in a procedure that commits in its loop
$node->safe_psql('postgres', qq(
CREATE PROCEDURE committing(OUT n int, OUT total numeric) LANGUAGE plpgsql AS \$\$
DECLARE r record;
BEGIN
	n := 0; total := 0;
	FOR r IN SELECT id, gpu_running_sum(b) OVER ($rows) AS s FROM t LOOP
		n := n + 1; total := total + r.s;
		IF n % 50000 = 0 THEN COMMIT; END IF;
	END LOOP;
END \$\$;));
is($node->safe_psql('postgres', 'CALL committing(NULL, NULL)'),
	$node->safe_psql('postgres', "SELECT count(s), sum(s) FROM (SELECT sum(b) OVER ($rows) AS s FROM t) q"),
	'a loop that commits');

# The device program is killed in mid-query.
for my $window ($rows, 'PARTITION BY g', 'ORDER BY id / 30000')
{
	my $sql = "SELECT $digest FROM (SELECT id, %s(b) OVER ($window) AS s FROM t OFFSET 0) q";
	my $right = $node->safe_psql('postgres', sprintf $sql, 'sum');

	for my $mode (qw(auto gpu))
	{
		ok(wait_device($node), "a device program: $window, mode $mode");
		hold_device(3);
		my $killed = start_sql($node, "SET gpuagg.device = $mode; SET gpuagg.batch_rows = 4096; "
			  . sprintf($sql, 'gpu_running_sum') . '; SELECT engine, fallbacks FROM gpuagg_last_query();');
		# in mode auto a window is the CPU's, which does not wait
		wait_held() if $mode eq 'gpu';
		kill_gpuaggd($node);
		release_device();
		my ($answer, $report) = split /\n/, end_sql($killed);
		is($killed->{err}, '', "killed in mid-query, $window, mode $mode: no error");
		is($answer, $right, "killed in mid-query, $window, mode $mode: right answer");
		like($report, qr/^(both|device|cpu)\|/, "killed in mid-query, $window, mode $mode: told");
	}
}

# Cancelled while it waits for the device or spills
for my $set ('SET gpuagg.device = gpu', "SET gpuagg.device = cpu; SET work_mem = '64kB'")
{
	for my $window ($rows, 'PARTITION BY g % 1', 'ORDER BY id % 2')
	{
		my $result = said($node, "$set; SET gpuagg.batch_rows = 1024; SET statement_timeout = 200;
SELECT count(s), count(a) FROM (SELECT gpu_running_sum(b) OVER ($window) AS s, gpu_running_avg(f) OVER ($window) AS a
	FROM t, generate_series(1, 30) OFFSET 0) q;");
		like($result->{on}, qr/57014/, "cancelled: $set, $window");
	}
}
$session->quit;
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), 0, 'no temporary files are left');
$node->stop;
ok(wait_gone($node), 'no device program is left after the stop');

# Killed while it sorts: some 60 pieces, of which ten get done
$node = gpuagg_node('sorting', rows => 200_000);
my $by_two = "SELECT $digest FROM (SELECT id, %s(b) OVER (PARTITION BY f ORDER BY b, i, id) AS s FROM t OFFSET 0) q";
my $sorted = $node->safe_psql('postgres', sprintf $by_two, 'sum');
for my $explain ('', 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ')
{
	ok(wait_device($node), "a device program, to sort $explain");
	my $before = device_stat($node, 'device_batches');
	hold_device(10);
	my $sorting = start_sql($node, "SET work_mem = '64MB'; SET gpuagg.device = gpu; SET gpuagg.batch_rows = 1024; "
		  . $explain . sprintf($by_two, 'gpu_running_sum') . ';');
	ok(wait_batches($node, $before + 4), 'it is at work');
	kill_gpuaggd($node);
	release_device();
	my $output = end_sql($sorting);
	is($sorting->{err}, '', 'killed while it sorts: no error');
	if ($explain)
	{
		my ($done) = $output =~ /Sort Pieces on Device: (\d+)/;
		ok($done >= 4 && $done < 45 && $output =~ /Fallbacks: \d+/, 'killed while it sorts: told') or diag($output);
	}
	else
	{
		is($output, $sorted, 'killed while it sorts: right answer');
	}
}
$node->stop;

# A device that sorts wrongly
for my $wrong (qw(order item))
{
	$node = gpuagg_node("wrong_$wrong", rows => 50_000, mode => 'gpu', env => { GPUAGG_SIM_WRONG_SORT => $wrong });
	ok(wait_device($node), "wrong $wrong: the device is there");
	my ($answer, $last) = run_query($node, sprintf($sums, 'gpu_running_sum'), set => ["work_mem = '64MB'"]);
	is($answer, $node->safe_psql('postgres', sprintf $sums, 'sum'), "wrong $wrong: right answer");
	cmp_ok(device_stat($node, 'fallbacks.device_error'), '>', 0, "wrong $wrong: noticed");
	stop_and_look($node);
}

# No device program at all.
$node = gpuagg_node('nodevice', rows => 1000, conf => "gpuagg.device_program = '/nonexistent/gpuaggd'");
alike($node, 'mode auto without a device program', sprintf($sums, 'gpu_running_sum') . ';', qr/^1000\|/);
alike($node, 'mode gpu without a device program', 'SET gpuagg.device = gpu; ' . sprintf($sums, 'gpu_running_sum') . ';',
	qr/ERROR:  55000: no usable GPU device/);
stop_and_look($node);

done_testing();
