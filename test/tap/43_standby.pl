# A hot standby reads tables as columns while changes are replayed: each answer is core's, to the bit, and the
# primary's; resident columns are not used there, and that is said.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use AsyncSql;
use GpuaggTest;
use PostgreSQL::Test::Cluster;
use Test::More;

my $primary = gpuagg_node('primary', mode => 'cpu', rows => 0, init => { allows_streaming => 1 },
	conf => "session_preload_libraries = 'gpuagg'\ngpuagg.min_table_pages = 0\ngpuagg.resident = on\n"
	  . "parallel_setup_cost = 0\nparallel_tuple_cost = 0\nmin_parallel_table_scan_size = 0\n");

$primary->safe_psql(
	'postgres', q{
CREATE EXTENSION gpuagg;
CREATE TABLE t (i int, g int, n numeric(12,2), f float8, b bigint, s text) WITH (autovacuum_enabled = off, fillfactor = 70);
INSERT INTO t SELECT i, i % 7, CASE WHEN i % 11 > 0 THEN i * 1.37 END, i / 8.0, i * 4000000000, (i % 30)::text FROM generate_series(1, 20000) i;
CREATE INDEX ON t (i);
CREATE TABLE account (id int, amount bigint, pad text) WITH (autovacuum_enabled = off);
INSERT INTO account SELECT i, 1000, repeat('x', 200) FROM generate_series(1, 5000) i;
VACUUM ANALYZE;});
$primary->backup('one');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'one', has_streaming => 1);
$standby->append_conf('postgresql.conf', "hot_standby_feedback = on\nmax_standby_streaming_delay = -1\nwal_receiver_status_interval = 1\n");
$standby->start;

my @queries = ('SELECT F_sum(i), F_sum(n), F_sum(f), F_avg(b), F_count(n), F_max(b), F_min(n), F_stddev(n) FROM t',
	'SELECT g, F_sum(b), F_avg(n), F_count(*) FROM t GROUP BY g ORDER BY g', "SELECT s, F_sum(f), F_max(i) FROM t WHERE s < '2' AND i > 100 GROUP BY s ORDER BY s",
	"SELECT md5(string_agg(q::text, ',' ORDER BY i, b)) FROM (SELECT i, b, F_sum(f) OVER (PARTITION BY g ORDER BY i, b) FROM t) q");

# All queries, by core, by gpuagg's functions and by core's in gpuagg's hands, without workers and with them.
sub scripts
{
	my $core = join('; ', @queries) =~ s/F_//gr;
	my $named = join('; ', @queries) =~ s/F_/gpu_/gr;
	my %script = (core => "SET gpuagg.core_aggregates = off; $core");

	for my $workers (0, 2)
	{
		$script{"functions, workers $workers"} = "SET gpuagg.core_aggregates = off; SET max_parallel_workers_per_gather = $workers; $named";
		$script{"core's, workers $workers"} = "SET gpuagg.core_aggregates = 'all'; SET max_parallel_workers_per_gather = $workers; $core";
	}
	return %script;
}

my %script = scripts();
my $open = background($standby);
$open->query_safe('PREPARE p AS SELECT g, gpu_sum(n), gpu_count(*) FROM t GROUP BY g ORDER BY g');

# The standby has replayed all; there every way gives what core gives on the primary.
sub same
{
	my ($what) = @_;

	$primary->wait_for_catchup($standby);
	my $expected = $primary->safe_psql('postgres', $script{core});
	my $ours = $primary->safe_psql('postgres', $script{'functions, workers 0'});

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($ours, $expected, "$what: the primary");
	is(join(', ', grep { $standby->safe_psql('postgres', $script{$_}) ne $expected } sort keys %script), '', "$what: the standby");
	is($open->query_safe('EXECUTE p'), $primary->safe_psql('postgres', 'SELECT g, sum(n), count(*) FROM t GROUP BY g ORDER BY g'), "$what: an open session there");
	return;
}

same('at first');
my $explain = 'SET max_parallel_workers_per_gather = 0; EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT gpu_sum(b) FROM t';
like($standby->safe_psql('postgres', $explain), qr/Custom Scan \(GpuAgg\).*Resident Columns Not Used: the server is in recovery/s, 'the standby: pages, and why');
is($standby->safe_psql('postgres', 'SELECT gpu_sum(b) FROM t; SELECT table_pages > 100, resident_pages, resident_filled FROM gpuagg_last_query()')
	  =~ s/^\d+\n//r, 't|0|0', 'the standby: all from pages');
is($primary->safe_psql('postgres', 'SELECT gpu_sum(b) FROM t; SELECT table_pages, resident_pages > 100 FROM gpuagg_last_query()') =~ s/^\d+\n//r,
	'0|t', 'the primary: none');

my @steps = (
	'an update in place' => 'UPDATE t SET n = -n, f = f + 0.5 WHERE i % 13 = 0',
	'VACUUM' => 'VACUUM t',
	'a delete' => 'DELETE FROM t WHERE i BETWEEN 3000 AND 5000',
	'VACUUM after a delete' => 'VACUUM t',
	'rows in the gap' => "INSERT INTO t SELECT i, 3, 0.01, 1e10, -i, 'x' FROM generate_series(1, 1500) i",
	'VACUUM FREEZE' => 'VACUUM FREEZE t',
	'an update that is rolled back' => 'BEGIN; UPDATE t SET b = 0; ROLLBACK',
	'HOT chains' => 'UPDATE t SET f = f + 1 WHERE g = 2; UPDATE t SET f = f - 2 WHERE g = 2; SELECT sum(f) FROM t',
	'a column more, with a value' => 'ALTER TABLE t ADD c int DEFAULT 7; UPDATE t SET c = 8 WHERE i < 50',
	'a column less' => 'ALTER TABLE t DROP c',
	'another type' => 'ALTER TABLE t ALTER i TYPE bigint',
	'VACUUM FULL' => 'VACUUM FULL t',
	'CLUSTER' => 'CLUSTER t USING t_i_idx; DELETE FROM t WHERE i > 19000; VACUUM t',
	'TRUNCATE and rows' => "TRUNCATE t; INSERT INTO t SELECT i, i % 3, i, i, i, 'y' FROM generate_series(1, 5000) i",
	'COPY with FREEZE' => 'BEGIN; TRUNCATE t; COPY t FROM PROGRAM $$seq 1 3000 | awk \'{ print $1 "," $1 % 5 "," $1 / 4 "," $1 / 2 "," $1 ",z" }\'$$ (FORMAT csv, FREEZE); COMMIT',
	'nothing left' => 'DELETE FROM t; VACUUM t');
while (my ($what, $sql) = splice(@steps, 0, 2))
{
	$primary->safe_psql('postgres', $sql);
	same($what);
}
$open->quit;

# A snapshot on the standby stays what it is while pages become all-visible on the primary.
$primary->safe_psql('postgres', "INSERT INTO t SELECT i, i % 3, i, i, i, 'y' FROM generate_series(1, 5000) i; VACUUM t");
$primary->wait_for_catchup($standby);
my $held = background($standby, 'max_parallel_workers_per_gather = 0');
$held->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
my $before = $held->query_safe('SELECT sum(b), count(*), sum(n) FROM t');
for my $sql ('UPDATE t SET b = 0 WHERE i % 2 = 0', 'VACUUM t', "INSERT INTO t SELECT i, 0, 0, 0, 1, 'new' FROM generate_series(1, 3000) i", 'VACUUM t', 'DELETE FROM t WHERE g = 1')
{
	$primary->safe_psql('postgres', $sql);
	$primary->wait_for_catchup($standby);
	is($held->query_safe('SELECT gpu_sum(b), gpu_count(*), gpu_sum(n) FROM t'), $before, "an earlier snapshot after $sql");
	is($standby->safe_psql('postgres', 'SELECT gpu_sum(b), gpu_count(*), gpu_sum(n) FROM t'), $primary->safe_psql('postgres', 'SELECT sum(b), count(*), sum(n) FROM t'),
		"a new one after $sql");
}
$held->query_safe('COMMIT');
$held->quit;

# Money goes from account to account, pages are vacuumed, and all that is replayed while sums are taken.
my $transfers = join('', map {
	my ($from, $to) = ($_ * 37 % 5000 + 1, $_ * 101 % 5000 + 1);
	"BEGIN; UPDATE account SET amount = amount - $_ WHERE id = $from; UPDATE account SET amount = amount + $_ WHERE id = $to; COMMIT;\n"
	  . ($_ % 50 ? '' : "VACUUM account;\n")
} 1 .. 3000);
my ($writer, $writers) = (start_sql($primary, $transfers), 1);
my %sums;
my $taken = 0;
my $reader = background($standby);
while (!$writer->{done})
{
	my $lsn = $standby->lsn('replay');

	for my $workers (0, 2)
	{
		$sums{ $reader->query_safe("SET max_parallel_workers_per_gather = $workers; SELECT gpu_sum(amount), gpu_count(*) FROM account") }++;
	}
	$taken++ if $lsn ne $standby->lsn('replay');
	$writer->{run}->pump_nb;
	$writer->{done} = !$writer->{run}->pumpable;
	# a reader that was held up has another chance
	$writer = next_sql($writer, $primary, $transfers) if $writer->{done} && $taken <= 5 && $writers++ < 10;
}
end_sql($writer);
is($writer->{err}, '', 'the writer has had no error');
is(join(', ', sort keys %sums), '5000000|5000', 'no sum in the middle of a transfer');
cmp_ok($taken, '>', 5, 'changes were replayed while sums were taken');
$reader->quit;

is($standby->safe_psql('postgres', 'SELECT count(*) FROM gpuagg_resident'), '0', 'the standby has no resident columns');
is($standby->safe_psql('postgres', 'SELECT gpuagg_evict()'), '0', 'and none to throw out');
my ($rc, $rows, $notice) = $standby->psql('postgres', q{SELECT rows FROM gpuagg_prefetch('account', '{id,amount}')});
like($notice, qr/are not resident: the server is in recovery/, 'prefetching says why');
$standby->stop;
$primary->stop;
no_crash($_) for $primary, $standby;
done_testing();
