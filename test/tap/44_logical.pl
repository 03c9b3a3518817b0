# Logical replication into a table with resident columns: what the apply worker has written is in the next
# answer, which is core's after each step.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use AsyncSql;
use GpuaggTest;
use PostgreSQL::Test::Cluster;
use Test::More;

my %conf = (mode => 'cpu', rows => 0, init => { allows_streaming => 'logical' },
	conf => "session_preload_libraries = 'gpuagg'\ngpuagg.min_table_pages = 0\ngpuagg.resident = on\nmax_parallel_workers_per_gather = 0\n"
	  . "logical_decoding_work_mem = 64kB\nmax_logical_replication_workers = 8\n");
my $source = gpuagg_node('source', %conf);
my $target = gpuagg_node('target', %conf);
my $table = 'CREATE TABLE t (i int PRIMARY KEY, g int, n numeric(12,2), f float8, b bigint, s text) WITH (autovacuum_enabled = off);'
  . 'CREATE TABLE whole (i int, b bigint) WITH (autovacuum_enabled = off); ALTER TABLE whole REPLICA IDENTITY FULL;';
$source->safe_psql(
	'postgres', $table . q{
INSERT INTO t SELECT i, i % 7, CASE WHEN i % 11 > 0 THEN i * 1.37 END, i / 8.0, i * 4000000000, (i % 30)::text FROM generate_series(1, 20000) i;
INSERT INTO whole SELECT i, i FROM generate_series(1, 500) i;
CREATE PUBLICATION p FOR TABLE t, whole;});
$target->safe_psql('postgres', "CREATE EXTENSION gpuagg; $table CREATE SUBSCRIPTION s CONNECTION \$\$" . $source->connstr('postgres') . "\$\$ PUBLICATION p WITH (streaming = on, binary = on)");
$target->poll_query_until('postgres', "SELECT count(*) = 2 FROM pg_subscription_rel WHERE srsubstate IN ('s', 'r')");

my $query = 'SELECT g, F_sum(b), F_sum(n), F_sum(f), F_count(n), F_max(i), F_min(s) FROM t GROUP BY g ORDER BY g; SELECT F_sum(b), F_count(*), F_min(i) FROM whole';
my $core = $query =~ s/F_//gr;
my $ours = $query =~ s/F_/gpu_/gr;
my $report = "SELECT resident_pages + resident_confirmed, table_pages FROM gpuagg_last_query()";
my $open = background($target);
$open->query_safe('PREPARE p AS SELECT gpu_sum(b), gpu_sum(n), gpu_max(i), gpu_count(*) FROM t');

# Sessions on the target, new and open ones, give what core gives on both servers.
sub same
{
	my ($what) = @_;

	$source->wait_for_catchup('s');
	my $expected = $source->safe_psql('postgres', $core);
	my $open_expected = $source->safe_psql('postgres', 'SELECT sum(b), sum(n), max(i), count(*) FROM t');

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($open->query_safe('EXECUTE p'), $open_expected, "$what: an open session");
	is($target->safe_psql('postgres', "SET gpuagg.resident = off; $ours"), $expected, "$what: from pages");
	is($target->safe_psql('postgres', $ours), $expected, "$what: from memory, use $_") for 1, 2;
	is($target->safe_psql('postgres', "SET gpuagg.core_aggregates = 'all'; $core"), $expected, "$what: core's aggregates");
	is($target->safe_psql('postgres', $core), $expected, "$what: core");
	return;
}

# How many pages of t the next query takes from memory, and reads.
sub pages
{
	return split /\|/, (split /\n/, $target->safe_psql('postgres', "SELECT gpu_sum(b), gpu_sum(n), gpu_max(i) FROM t; $report"))[1];
}

# Vacuums until all pages of t, if it has some, come from memory: with INDEX_CLEANUP, as pages keep few dead rows else,
# and again while a worker of the subscription keeps pages from being marked.
sub in_memory
{
	return wait_until(
		sub {
			$target->safe_psql('postgres', "VACUUM (INDEX_CLEANUP on) t; $ours");
			my ($memory, $read) = pages();

			return $read == 0 && ($memory > 10 || $target->safe_psql('postgres', 'SELECT count(*) FROM t') eq '0');
		});
}

same('the first copy');
$target->safe_psql('postgres', 'VACUUM t; VACUUM whole');
same('vacuumed');
ok(in_memory(), 'pages come from memory');

my @steps = (
	'a row' => "INSERT INTO t VALUES (0, 3, 0.01, 0.25, -1, 'new')",
	'an update' => 'UPDATE t SET b = -b, n = n + 1 WHERE i % 97 = 0',
	'a key that changes' => 'UPDATE t SET i = -i WHERE i = 777',
	'a delete' => 'DELETE FROM t WHERE i BETWEEN 3000 AND 3100',
	'a transaction that is rolled back' => "BEGIN; UPDATE t SET b = 0; INSERT INTO whole VALUES (0, 0); ROLLBACK; INSERT INTO t VALUES (100000, 1, 1, 1, 1, 'x')",
	'subtransactions' => 'BEGIN; UPDATE t SET f = f + 1 WHERE i < 100; SAVEPOINT a; UPDATE t SET f = 0; ROLLBACK TO a; UPDATE t SET f = f + 2 WHERE i = 50; COMMIT',
	'a large transaction, streamed' => 'UPDATE t SET b = b + 1, s = s || \'s\' WHERE g = 3',
	'a large one that is rolled back' => 'BEGIN; UPDATE t SET b = 7; ROLLBACK; DELETE FROM whole WHERE i = 3',
	'a table whose rows are its key' => 'UPDATE whole SET b = -b WHERE i % 3 = 0; DELETE FROM whole WHERE i % 5 = 0',
	'TRUNCATE and rows' => "TRUNCATE t; INSERT INTO t SELECT i, i % 5, i, i, i, 'y' FROM generate_series(1, 8000) i",
	'TRUNCATE' => 'TRUNCATE t, whole',
	'rows again' => "INSERT INTO t SELECT i, i % 5, i * 0.01, i, i, 'z' FROM generate_series(1, 12000) i");
while (my ($what, $sql) = splice(@steps, 0, 2))
{
	# what is in memory is from just before the change
	ok(in_memory(), "$what: pages came from memory before");
	$source->safe_psql('postgres', $sql);
	same($what);
	$target->safe_psql('postgres', 'VACUUM t; VACUUM whole');
	same("$what, vacuumed");
}

# Changes arrive while sums are taken; the sum of all is the same in each transaction.
$source->safe_psql('postgres', "TRUNCATE t; INSERT INTO t SELECT i, 0, 10, 1, 1000, repeat('x', 100) FROM generate_series(1, 5000) i");
$source->wait_for_catchup('s');
$target->safe_psql('postgres', 'VACUUM t');
my $transfers = join('', map {
	my ($from, $to) = ($_ * 37 % 5000 + 1, $_ * 101 % 5000 + 1);
	"BEGIN; UPDATE t SET b = b - $_, n = n - 1 WHERE i = $from; UPDATE t SET b = b + $_, n = n + 1 WHERE i = $to; COMMIT;\n"
} 1 .. 3000);
my ($writer, $writers) = (start_sql($source, $transfers), 1);
my %sums;
my ($steps, $from_memory) = (0, 0);
my $reader = background($target);
while (!$writer->{done})
{
	my ($sums, $from) = split /\n/, $reader->query_safe("SELECT gpu_sum(b), gpu_sum(n), gpu_count(*) FROM t; SELECT resident_pages + resident_confirmed FROM gpuagg_last_query()");

	$sums{$sums}++;
	$from_memory++ if $from > 0;
	$reader->query_safe('VACUUM t') if $steps++ % 5 == 0;
	$writer->{run}->pump_nb;
	$writer->{done} = !$writer->{run}->pumpable;
	# a reader that was held up has another chance
	$writer = next_sql($writer, $source, $transfers) if $writer->{done} && !$from_memory && $writers++ < 10;
}
end_sql($writer);
is($writer->{err}, '', 'the writer has had no error');
is(join(', ', sort keys %sums), '5000000|50000.00|5000', 'no sum in the middle of a transfer');
cmp_ok($from_memory, '>', 0, 'also from memory');
same('after all transfers');

# Off and on again; and a subscription that copies into a table which is in memory.
$target->safe_psql('postgres', 'VACUUM t; ALTER SUBSCRIPTION s DISABLE');
$source->safe_psql('postgres', 'UPDATE t SET b = i');
$target->safe_psql('postgres', $ours) for 1, 2;
$target->safe_psql('postgres', 'ALTER SUBSCRIPTION s ENABLE');
same('a subscription that was disabled');
$target->safe_psql('postgres', 'ALTER SUBSCRIPTION s DISABLE; ALTER SUBSCRIPTION s SET (slot_name = NONE); DROP SUBSCRIPTION s; DELETE FROM t WHERE i > 100; VACUUM t; TRUNCATE whole');
$target->safe_psql('postgres', "$ours; $ours");
$source->poll_query_until('postgres', q(SELECT bool_and(NOT active) FROM pg_replication_slots WHERE slot_name = 's'));
$source->safe_psql('postgres', "SELECT pg_drop_replication_slot('s'); DELETE FROM t WHERE i <= 100");
$target->safe_psql('postgres', "CREATE SUBSCRIPTION s CONNECTION \$\$" . $source->connstr('postgres') . "\$\$ PUBLICATION p");
$target->poll_query_until('postgres', "SELECT count(*) = 2 FROM pg_subscription_rel WHERE srsubstate IN ('s', 'r')");
$target->safe_psql('postgres', 'DELETE FROM t WHERE i <= 100');
same('a copy into a table with rows');
$open->quit;
$reader->quit;
$target->safe_psql('postgres', 'DROP SUBSCRIPTION s');
$_->stop for $target, $source;
no_crash($_) for $target, $source;
done_testing();
