# The node GpuAgg stopped in every phase, and what it leaves behind after errors, cancelled
# statements and closed cursors: memory, pins, descriptors, temporary files, shared memory.
# GPUAGG_REPETITIONS: of each query of the last part (100); with more, more moments to stop at, too.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Utils;
use Test::More;
use POSIX qw(ceil);
use Time::HiRes qw(time);

my $node = gpuagg_node('agg_scan',
	rows => 0,
	mode => 'cpu',
	conf => "dynamic_shared_memory_type = mmap\nmax_parallel_workers = 8\njit = off\n"
	  . "gpuagg.enable_agg_scan = on\ngpuagg.min_table_pages = 0\nmax_parallel_workers_per_gather = 0\n"
	  . "parallel_setup_cost = 0\nparallel_tuple_cost = 0\nmin_parallel_table_scan_size = 0\n"
	  . "enable_sort = off\n");
my $rows = 60_000;

# Functions of core under other names, as the node leaves what is volatile to core.  A statement that
# cancels itself ends where interrupts are looked for next.
$node->safe_psql(
	'postgres', qq(
CREATE EXTENSION gpuagg;
CREATE FUNCTION stable_pid() RETURNS int LANGUAGE internal STABLE PARALLEL SAFE AS 'pg_backend_pid';
CREATE FUNCTION stable_cancel(int) RETURNS boolean LANGUAGE internal STRICT STABLE PARALLEL SAFE AS 'pg_cancel_backend';
CREATE FUNCTION stable_sleep(float8) RETURNS void LANGUAGE internal STRICT STABLE PARALLEL SAFE AS 'pg_sleep';
CREATE FUNCTION slow(int) RETURNS int LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT \$1 + length(stable_sleep(1000)::text)';
CREATE TABLE t (i int, k int, x text, n numeric(10,2)) WITH (autovacuum_enabled = off);
ALTER TABLE t ALTER k SET (n_distinct = 10);	-- workers will do
INSERT INTO t SELECT i, i * 7919 % 30011, 'x' || i % 10, i / 4.0 FROM generate_series(1, $rows) i;
CREATE TABLE small (i int, k int, z int, x text) WITH (autovacuum_enabled = off);
INSERT INTO small SELECT i, i % 700, i % 50, 'x' || i % 10 FROM generate_series(1, 3000) i;
CREATE TABLE wide AS SELECT i, repeat(md5(i::text), 32768) AS x FROM generate_series(1, 100) i;
ANALYZE;
));

my $session = background($node);
my $backend = $session->query_safe('SELECT pg_backend_pid()');

# What a statement of the session says, or its error.
sub said
{
	my ($sql) = @_;
	my ($out) = $session->query($sql);
	my $err = $session->{stderr};

	$session->{stderr} = '';
	return $err eq '' ? $out : $err =~ /ERROR:\s*(.*)/ ? "ERROR: $1" : $err;
}

sub plan_has
{
	my ($sql, $what) = @_;

	return said("EXPLAIN (COSTS OFF) $sql") =~ $what ? 1 : 0;
}

# Rows of a table that this session and its workers have read, all in all.
sub rows_read
{
	my ($table) = @_;

	said('SELECT pg_stat_force_next_flush()');
	return said("SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = '$table'");
}

my $cancelled = 'ERROR: canceling statement due to user request';
my $timed_out = 'ERROR: canceling statement due to statement timeout';
my $at = 'CASE WHEN i = 30000 THEN stable_cancel(stable_pid()) ELSE true END';

# A statement that cancels itself at row 30,000: as soon as the vector is done at the latest.
for my $case (
	[ 'in the filter', "SELECT gpu_sum(i) FROM t WHERE $at" ],
	[ 'in an argument', "SELECT gpu_count($at) FROM t" ],
	[ 'in FILTER', "SELECT gpu_sum(i) FILTER (WHERE $at) FROM t" ],
	[ 'in a key', "SELECT gpu_sum(i) FROM t GROUP BY $at" ],
	[ 'while it groups', "SELECT k, gpu_sum(i) FROM t WHERE $at GROUP BY k" ],
	[ 'while it groups by bytes', "SELECT x, n, gpu_sum(i) FROM t WHERE $at GROUP BY x, n" ],
	[ 'row by row', "SELECT gpu_sum(i) FROM t GROUP BY ARRAY[x], $at" ])
{
	my ($what, $sql) = @$case;
	my $before = rows_read('t');

	ok(plan_has($sql, qr/\(GpuAgg\)/), "$what: planned");
	is(said($sql), $cancelled, "$what: cancelled");
	cmp_ok(rows_read('t') - $before, '<', 30_000 + 5_000, "$what: without reading on");
}

# In workers: all of them end, the leader too.
said('SET max_parallel_workers_per_gather = 2');
for my $leader ('on', 'off')
{
	said("SET parallel_leader_participation = $leader");
	for my $sql ("SELECT gpu_sum(i) FROM t WHERE $at", "SELECT k, gpu_sum(i) FROM t WHERE $at GROUP BY k")
	{
		ok(plan_has($sql, qr/Parallel Custom Scan \(GpuAgg\)/), "workers, leader $leader: planned");
		like(said($sql), qr/^ERROR: canceling (statement|parallel)/, "workers, leader $leader: cancelled");
	}
}
said('RESET parallel_leader_participation; SET max_parallel_workers_per_gather = 0');

# While groups are given out, with and without spilled ones: no further group is.
my $having = 'HAVING CASE WHEN gpu_min(i) = 777 THEN stable_cancel(stable_pid()) ELSE true END';
for my $memory ('64kB', '64MB')
{
	said("SET work_mem = '$memory'");
	is(said("SELECT count(s) FROM (SELECT k, gpu_sum(i) AS s FROM t GROUP BY k $having) q"),
		$cancelled, "groups given out, $memory: cancelled");
}
said('RESET work_mem');

# A function that waits for ever, by timeout and by another session's request; the limits of time
# only say that it was not the function that ended.
for my $workers (0, 2)
{
	said("SET max_parallel_workers_per_gather = $workers");
	for my $case (
		[ 'argument', 'SELECT gpu_sum(slow(i)) FROM t' ],
		[ 'filter', 'SELECT gpu_sum(i) FROM t WHERE slow(i) > 0' ],
		[ 'FILTER', 'SELECT gpu_sum(i) FILTER (WHERE slow(i) > 0) FROM t' ],
		[ 'key', 'SELECT gpu_sum(i) FROM t GROUP BY slow(i)' ],
		[ 'HAVING', 'SELECT gpu_sum(i) FROM t GROUP BY x HAVING slow(gpu_count(*)::int) > 0' ])
	{
		my ($what, $sql) = @$case;
		my $begin = time();

		said("SET statement_timeout = '100ms'");
		is(said($sql), $timed_out, "a slow $what, $workers workers: timed out");
		said('RESET statement_timeout');
		cmp_ok(time() - $begin, '<', 100, "a slow $what, $workers workers: in time");
	}
	send_query($session, 'SELECT gpu_sum(slow(i)) FROM t GROUP BY x');
	ok( $node->poll_query_until('postgres',
			"SELECT count(*) >= 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND "
			  . "$backend IN (pid, leader_pid)"),
		"$workers workers sleep");
	is($node->safe_psql('postgres', "SELECT pg_cancel_backend($backend)"), 't', 'another session cancels');
	like(said('SELECT 1'), qr/ERROR: canceling statement due to user request|^1/, "$workers workers: cancelled");
	is(said('SELECT 1'), '1', 'and the session goes on');
	$session->{stderr} = '';
}
said('SET max_parallel_workers_per_gather = 0');

# Functions in C that look for no interrupts: between rows the node does, so that this ends at row 5.
my $long_rows = "SELECT gpu_count(CASE WHEN i = 5 THEN stable_cancel(stable_pid()) "
  . "WHEN i > 6 AND sha512(convert_to(x, 'UTF8')) > '' THEN 1 / (i - i) > 0 END) FROM wide";
ok(plan_has($long_rows, qr/\(GpuAgg\)/), 'wide rows: planned');
is(said($long_rows), $cancelled, 'wide rows: cancelled, before the error of row 7');

# Wide values are taken a few at a time: 100 of them have 100 MB.
my $peak = sub { return slurp_file("/proc/$_[0]/status") =~ /^VmHWM:\s+(\d+)/m ? $1 : 0 };
for my $sql (
	'SELECT gpu_sum(length(x || 1)) FROM wide',
	'SELECT gpu_sum(i) FROM wide WHERE x || 1 > $$A$$',
	'SELECT gpu_count(*) FROM (SELECT gpu_sum(i) FROM wide GROUP BY md5(x || 1), i OFFSET 0) q',
	'SELECT gpu_count(*) FROM (SELECT gpu_sum(i) FROM wide GROUP BY x || 1 OFFSET 0) q')
{
	my $fresh = background($node);
	my $pid = $fresh->query_safe('SELECT pg_backend_pid()');
	my $before = $peak->($pid);

	$fresh->query_safe($sql);
	cmp_ok($peak->($pid) - $before, '<', 50_000, "memory of wide values: $sql");
	$fresh->quit;
}

# A table that is locked.
my $locker = background($node);
$locker->query_safe('BEGIN; LOCK TABLE small IN ACCESS EXCLUSIVE MODE');
said("SET statement_timeout = '100ms'");
is(said('SELECT gpu_sum(i) FROM small'), $timed_out, 'waiting for a lock: timed out');
said("RESET statement_timeout; SET lock_timeout = '100ms'");
is(said('SELECT gpu_sum(i) FROM small'), 'ERROR: canceling statement due to lock timeout', 'waiting for a lock: lock timeout');
said('RESET lock_timeout');
$locker->query_safe('ROLLBACK');
$locker->quit;
is(said('SELECT gpu_count(*) FROM small'), '3000', 'then it is read');

# Readers within readers, each at another page: that they read ahead leaves buffers for the innermost.
# From 17 on core reads ahead, too.
my $nested = background($node);
my $levels = $node->pg_version < 17 ? 10 : 4;
$nested->query_safe(
	q(SET temp_buffers = 100;
	CREATE TEMP TABLE paged (i int, x text);
	ALTER TABLE paged ALTER x SET STORAGE PLAIN;
	INSERT INTO paged SELECT i, repeat('x', 6000) FROM generate_series(1, 500) i;
	CREATE FUNCTION pg_temp.nested(levels int) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
	DECLARE
		total bigint := 0;
	BEGIN
		IF levels > 0 THEN
			EXECUTE format('SELECT gpu_sum(i + CASE WHEN i = 30 * %s THEN pg_temp.nested(%s) ELSE 0 END) FROM paged',
				levels, levels - 1) INTO total;
		END IF;
		RETURN total;
	END
	$$));
like($nested->query_safe('EXPLAIN SELECT gpu_sum(i + pg_temp.nested(0)) FROM paged'), qr/\(GpuAgg\)/, 'readers within readers: planned');
is($nested->query_safe("SELECT pg_temp.nested($levels)"), $levels * 500 * 501 / 2, 'readers within readers: few buffers are enough');
$nested->quit;

# ---- leaks ----

my $has_pins = $node->safe_psql('postgres',
	"SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_buffercache'");
$node->safe_psql('postgres', 'CREATE EXTENSION pg_buffercache') if $has_pins;

# What the server holds for the session's statements: nothing.
sub nothing_left
{
	my ($what) = @_;
	my @files = glob($node->data_dir . '/base/pgsql_tmp/*');
	my @segments = grep { !/mmap\.state|main/ } glob($node->data_dir . '/pg_dynshmem/*');

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is("@files", '', "$what: no temporary file is left");
	is($node->safe_psql('postgres',
			"SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker'"), '0',
		"$what: no worker is left");
  SKIP:
	{
		skip 'pg_buffercache is not installed', 1 unless $has_pins;
		is($node->safe_psql('postgres',
				q{SELECT count(*) FROM pg_buffercache b JOIN pg_class c ON b.relfilenode = pg_relation_filenode(c.oid)
				  WHERE c.relname IN ('t', 'small', 'wide') AND b.pinning_backends > 0}), '0',
			"$what: no page is pinned");
	}
	return scalar @segments;
}

# Statements that are stopped after ever more time, wherever they are by then: the end is an error or the
# right answer, and nothing is left.
my %long = (
	'spilling' => [ 0, '64kB', 'SELECT count(s), sum(s) FROM (SELECT k, x, gpu_sum(i) AS s FROM t GROUP BY k, x) q' ],
	'workers' => [ 2, '4MB', 'SELECT count(s), sum(s) FROM (SELECT k, x, gpu_sum(i) AS s FROM t GROUP BY k, x) q' ],
	'spilling with workers' => [ 2, '64kB', 'SELECT count(s), sum(s) FROM (SELECT k, x, gpu_sum(i) AS s FROM t GROUP BY k, x) q' ],
	'reading' => [ 0, '4MB', 'SELECT gpu_sum(i), gpu_sum(length(x)), gpu_sum(n * n) FROM t WHERE i % 3 <> 1' ]);
my $times = $ENV{GPUAGG_REPETITIONS} // 100;
my $steps = $times > 100 ? 100 : 6;
my $segments = nothing_left('before');
for my $what (sort keys %long)
{
	my ($workers, $memory, $sql) = @{ $long{$what} };
	my ($stopped, $other, $begin, $whole) = (0, '');
	my $right = $node->safe_psql('postgres', "SET gpuagg.enable_agg_scan = off; $sql");

	said("SET max_parallel_workers_per_gather = $workers; SET work_mem = '$memory'; SET hash_mem_multiplier = 1");
	ok(plan_has($sql, $workers ? qr/Parallel Custom Scan \(GpuAgg\)/ : qr/\(GpuAgg\)/), "$what: planned");
	$begin = time();
	is(said($sql), $right, "$what: right");
	$whole = (time() - $begin) * 1000;
	for my $step (1 .. $steps)
	{
		my $answer;

		said(sprintf 'SET statement_timeout = %d', 1 + $whole * $step / ($steps + 1));
		$answer = said($sql);
		if ($answer eq $timed_out) { $stopped++; }
		elsif ($answer ne $right && $answer !~ /ERROR: canceling statement/) { $other .= "$answer\n"; }
		said('SET statement_timeout = 0');
	}
	is($other, '', "$what: stopped, or right");
	is(said($sql), $right, "$what: right in the end");
	is(nothing_left($what), $segments, "$what: no shared memory is left");
	diag(sprintf '%s: %d of %d stopped within %d ms', $what, $stopped, $steps, $whole) if $ENV{GPUAGG_REPETITIONS};
}
said('RESET work_mem; RESET hash_mem_multiplier; SET max_parallel_workers_per_gather = 0');

# Failing and succeeding statements, many times: as statements and in subtransactions.
my @repeated = (
	'SELECT gpu_sum(1 / (z - 49)) FROM small',
	'SELECT gpu_sum(i) FROM small WHERE 1 / (z - 49) < 2',
	'SELECT gpu_sum(i) FILTER (WHERE 1 / (z - 49) < 2) FROM small',
	'SELECT gpu_sum(i) FROM small GROUP BY 1 / (z - 49)',
	'SELECT gpu_sum(i) FROM small GROUP BY k HAVING 1 / (k - 300) < 2',
	'SELECT gpu_sum((z || repeat(x, 3))::int) FROM small GROUP BY k',
	'SELECT gpu_sum(i::numeric * 1e130000) FROM small GROUP BY k',
	'SELECT k, x, gpu_sum(i), gpu_max(length(x)) FROM small GROUP BY k, x',
	'SELECT k FROM small GROUP BY k HAVING gpu_sum(i) > 0 LIMIT 3',
	'SELECT g, (SELECT gpu_sum(i) FROM small WHERE k = g) FROM generate_series(1, 3) g');
$node->safe_psql(
	'postgres', q(
CREATE FUNCTION repeat_query(query text, times int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	failed int := 0;
	c refcursor;
	r record;
BEGIN
	FOR i IN 1 .. times LOOP
		BEGIN
			IF i % 3 = 0 THEN
				OPEN c FOR EXECUTE query;	-- and leaves it half way, open or closed
				FETCH c INTO r;
				FETCH c INTO r;
				IF i % 2 = 0 THEN
					CLOSE c;
				ELSE
					RAISE division_by_zero;
				END IF;
			ELSE
				FOR r IN EXECUTE query LOOP
				END LOOP;
			END IF;
		EXCEPTION WHEN data_exception THEN
			failed := failed + 1;
		END;
	END LOOP;
	RETURN failed;
END
$$));
for my $round ([ 0, $times, '4MB' ], [ 0, $times, '64kB' ], [ 2, 10 * ceil($times / 300), '64kB' ])
{
	my ($workers, $n, $memory) = @$round;
	my ($before, $grown, $descriptors);

	said("SET max_parallel_workers_per_gather = $workers; SET work_mem = '$memory'; SET hash_mem_multiplier = 1");
	for my $part (10, $n)
	{
		for my $sql (@repeated)
		{
			like(said("SELECT repeat_query(\$q\$$sql\$q\$, $part)"), qr/^\d+$/, "$workers workers, $memory: $part times")
			  or diag($sql);
			said(join ';', ("SELECT count(*) FROM ($sql OFFSET 0) q",
					"BEGIN; SAVEPOINT s; DECLARE c CURSOR FOR $sql; FETCH 1 FROM c; ROLLBACK TO s; COMMIT",
					"BEGIN; DECLARE c CURSOR FOR $sql; FETCH 1 FROM c; COMMIT") x ($part / 10));
		}
		$grown = resident_kb($backend) - ($before // 0);
		$before //= resident_kb($backend);
		$descriptors //= descriptors($backend);
	}
	cmp_ok($grown, '<', 4_000, "$workers workers, $memory: memory after " . $n * @repeated . ' repetitions');
	cmp_ok(descriptors($backend), '<=', $descriptors + 2, "$workers workers, $memory: descriptors");
	is(nothing_left("$workers workers, $memory"), $segments, "$workers workers, $memory: no shared memory is left");
}
$session->quit;
$node->stop;
my $log = slurp_file($node->logfile);
is(join("\n", $log =~ /^(.*(?:refcount leak|leak: |not closed|TRAP|terminated by signal|PANIC).*)$/mg), '',
	'nothing was leaked, and nothing has crashed');

done_testing();
