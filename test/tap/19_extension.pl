# The extension dropped and made again; a session's first statement; preloading.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = gpuagg_node('extension', rows => 60_000);
my $sums = core_sums($node);
my @sums = split /\|/, $sums;
my $engine = 'SELECT engine FROM gpuagg_last_query()';

# A fresh server and a fresh session: its first statement does not wait, but
# starts on the CPU (and may end on the device, once that is there).
my ($first, $how) = run_query($node, array_sums_sql());
is($first, $sums, 'the first statement of all: right answer');
ok($how->{engine} =~ /^(cpu|both)$/ && $how->{fallbacks} == 0,
	'the first statement of all: starts on the CPU')
  or diag(join ', ', map { "$_: $how->{$_}" } sort keys %$how);
ok(wait_until(sub { gpuaggd_pid($node) }), 'it has the device started');
ok($node->poll_query_until('postgres', "SELECT device_state = 'ready' FROM gpuagg_stat"),
	'the device is ready');

# From then on each session's very first statement uses it.
is($node->safe_psql('postgres', array_sums_sql() . "; $engine"), "$sums\ndevice",
	'the first statement of a session');
my $grouped = q(SELECT g, gpu_sum(i) FROM t WHERE g < 3 GROUP BY g ORDER BY g);
is($node->safe_psql('postgres', "SET gpuagg.device = gpu; $grouped; $engine"),
	$node->safe_psql('postgres', $grouped =~ s/gpu_//r) . "\ndevice",
	'the first statement of a session, grouped');
is($node->safe_psql('postgres', "SELECT s FROM (SELECT id, gpu_running_sum(b) OVER (ORDER BY id "
		  . "ROWS UNBOUNDED PRECEDING) AS s FROM t) q WHERE id = 60000; $engine"), "$sums[1]\ncpu",
	'the first statement of a session, a window function: on the CPU in mode auto');

# Dropped and made again while another session uses it.
my $session = background($node, 'gpuagg.device = gpu');
$session->query_safe('PREPARE p AS ' . sums_sql('gpu_sum'));
is($session->query_safe('EXECUTE p'), $sums, 'a prepared statement');
$session->query_safe('BEGIN; DECLARE c CURSOR FOR SELECT gpu_running_sum(b) OVER '
	  . '(ORDER BY id ROWS UNBOUNDED PRECEDING) FROM t; FETCH 1 FROM c');
my ($ret, $out, $err) = $node->psql('postgres', 'DROP EXTENSION gpuagg');
is("$ret $err", '0 ', 'DROP EXTENSION while a cursor is open');
$session->query_safe('MOVE 59998 FROM c');
is($session->query_safe('FETCH 1 FROM c'), $sums[1], 'the cursor goes on to the end');
$session->query_safe('COMMIT');
for my $sql ('EXECUTE p', sums_sql('gpu_sum'), 'SELECT * FROM gpuagg_devices()')
{
	my ($answer, $failed) = $session->query($sql);

	like($session->{stderr}, qr/function \w+\(.*\) does not exist/, "without the extension: $sql");
	$session->{stderr} = '';
}
is($session->query_safe('SELECT sum(i) FROM t'), $sums[0], 'the session goes on');
$node->safe_psql('postgres', 'CREATE EXTENSION gpuagg');
is($session->query_safe('EXECUTE p'), $sums, 'CREATE EXTENSION: the prepared statement works again');
is($session->query_safe($engine), 'device', 'on the device');
cmp_ok($session->query_safe('SELECT device_batches FROM gpuagg_stat'), '>', 0,
	'counters have outlived the extension');

# Several times, views with it, and in another schema.
for my $k (1 .. 5)
{
	$node->safe_psql('postgres', 'SET search_path = public, other; '
		  . 'CREATE VIEW v AS SELECT gpu_sum(b) FROM t');
	($ret, $out, $err) = $node->psql('postgres', 'DROP EXTENSION gpuagg');
	like($err, qr/other objects depend on it/, 'a view keeps the extension') if $k == 1;
	$node->safe_psql('postgres', 'SET client_min_messages = warning; DROP EXTENSION gpuagg CASCADE; '
		  . 'CREATE SCHEMA IF NOT EXISTS other; '
		  . 'CREATE EXTENSION gpuagg SCHEMA ' . ($k % 2 ? 'other' : 'public'));
	$session->query_safe('SET search_path = public, other');
	is($session->query_safe('EXECUTE p') . ' ' . $session->query_safe($engine), "$sums device",
		"dropped and made again, time $k");
}
$node->safe_psql('postgres', 'BEGIN; DROP EXTENSION gpuagg CASCADE; ROLLBACK');
is($session->query_safe('EXECUTE p'), $sums, 'after a rolled back DROP EXTENSION');
is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_proc p WHERE proname LIKE 'gpu%'
	AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_proc'::regclass
		AND objid = p.oid AND deptype = 'e'))), 0, 'every function belongs to the extension');
is($node->safe_psql('postgres', q(SELECT string_agg(DISTINCT proname, ' ') FROM pg_proc p
	WHERE proname LIKE 'gpu\_%' AND obj_description(oid, 'pg_proc') IS NULL)), '',
	'every gpu_ function has a comment');
$session->quit;

# A database made from a template with the extension in it.
$node->safe_psql('template1', 'CREATE EXTENSION gpuagg');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
is($node->safe_psql('copy', 'SET gpuagg.device = gpu; '
		  . "SELECT gpu_sum(n::bigint) FROM generate_series(1, 50000) n; $engine"),
	"1250025000\ndevice", 'another database of the cluster');
$node->safe_psql('postgres', 'DROP DATABASE copy');
ok(gpuaggd_pid($node), 'DROP DATABASE is not kept waiting');
stop_and_look($node);

# Preloaded: the device is warm at once, before any query.
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'gpuagg'");
$node->start;
ok(wait_until(sub { gpuaggd_pid($node) }), 'preloaded: gpuaggd starts with the server');
ok($node->poll_query_until('postgres', "SELECT device_state = 'ready' FROM other.gpuagg_stat"),
	'preloaded: ready without any query');
# a session's first query; on a busy machine staging memory may not be made in the time that it waits
ok(wait_until(
		sub {
			$node->safe_psql('postgres',
				'SET search_path = public, other; ' . array_sums_sql() . "; $engine") eq "$sums\ndevice";
		}),
	'preloaded: the first query uses the device');
is(scalar(launcher_pids($node)), 1, 'preloaded: one launcher');
$node->restart;
ok(wait_until(sub { gpuaggd_pid($node) }), 'preloaded: also after a restart');
stop_and_look($node);

# Preloaded in sessions only.
$node->append_conf('postgresql.conf',
	"shared_preload_libraries = ''\nsession_preload_libraries = 'gpuagg'");
$node->start;
is($node->safe_psql('postgres', 'SELECT 1; SHOW gpuagg.device'), "1\nauto",
	'session_preload_libraries');
is(scalar(launcher_pids($node)) + scalar(gpuaggd_pids($node)), 0, 'starts nothing');
stop_and_look($node);

done_testing();
