# Sessions that several clients share: DISCARD ALL leaves nothing of gpuagg behind, and behind a transaction
# pooler (PgBouncer, where it is installed) clients see nothing of each other.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = gpuagg_node('pooled', mode => 'cpu', rows => 20_000, conf => "wal_level = replica\nsession_preload_libraries = 'gpuagg'\n"
	  . "max_parallel_workers_per_gather = 0\n");
$node->safe_psql('postgres', 'VACUUM t');

# ---- DISCARD ALL

my $settings = q{SELECT name, setting, source FROM pg_settings WHERE name LIKE 'gpuagg.%' ORDER BY name};
my $fresh = $node->safe_psql('postgres', $settings);
my %other = ('gpuagg.batch_rows' => 4096, 'gpuagg.core_aggregates' => "'all'", 'gpuagg.device' => 'auto', 'gpuagg.device_min_rows' => 17,
	'gpuagg.device_timeout' => 777, 'gpuagg.enable_agg_scan' => 'off', 'gpuagg.enable_window_scan' => 'off', 'gpuagg.min_table_pages' => 0,
	'gpuagg.resident' => 'on', 'gpuagg.staging_memory' => "'64MB'");
my $context = q{SELECT string_agg(name, ' ' ORDER BY name) FROM pg_settings WHERE name LIKE 'gpuagg.%' AND context IN ('user', 'superuser')};
is($node->safe_psql('postgres', $context), join(' ', sort keys %other), 'all settings that a session may change are tried');
my $session = background($node);
$session->query_safe("SET $_ = $other{$_}") for sort keys %other;
my $changed = q{SELECT count(*) FROM pg_settings WHERE name LIKE 'gpuagg.%' AND source = 'session'};
is($session->query_safe($changed), scalar(keys %other), 'all of them changed');
$session->query_safe('SET gpuagg.enable_agg_scan = on');
my $sums = core_sums($node);
$session->query_safe('PREPARE p AS ' . sums_sql('gpu_sum'));
is($session->query_safe('EXECUTE p'), $sums, 'a prepared statement');
$session->query_safe('DECLARE c CURSOR WITH HOLD FOR SELECT gpu_running_sum(b) OVER (ORDER BY id) FROM t');
$session->query_safe('CREATE TEMP TABLE mine AS SELECT gpu_sum_state(f) AS s FROM t');
$session->query_safe('FETCH 2 FROM c');
my $pid = $session->query_safe('SELECT pg_backend_pid()');
my $before = descriptors($pid);
$session->query_safe('DISCARD ALL');
is($session->query_safe($settings), $fresh, 'DISCARD ALL: settings are those of a new session');
is($session->query_safe('SELECT (SELECT count(*) FROM pg_prepared_statements), (SELECT count(*) FROM pg_cursors)'), '0|0', 'DISCARD ALL: no plans, no cursors');
is(mapped_regions($pid), 0, 'DISCARD ALL: no staging memory');
cmp_ok(descriptors($pid), '<=', $before, 'DISCARD ALL: no files');
is($session->query_safe(sums_sql('gpu_sum')), $sums, 'the next client');
like($session->query_safe('EXPLAIN (COSTS OFF) ' . sums_sql('sum')), qr/^Aggregate\n/, 'whose sums are core\'s');
unlike($session->query_safe('EXPLAIN (COSTS OFF) ' . sums_sql('gpu_sum')), qr/GpuAgg/, 'and whose tables are small');

# ROLLBACK and RESET ALL, which other poolers use.
$session->query_safe("BEGIN; SET LOCAL gpuagg.core_aggregates = 'all'; SET gpuagg.min_table_pages = 0");
like($session->query_safe('EXPLAIN (COSTS OFF) ' . sums_sql('sum')), qr/GpuAgg/, 'settings of a transaction');
$session->query_safe('ROLLBACK');
is($session->query_safe($settings), $fresh, 'ROLLBACK: as before');
$session->query_safe("SET $_ = $other{$_}") for sort keys %other;
$session->query_safe('RESET ALL');
is($session->query_safe($settings), $fresh, 'RESET ALL: as before');
$session->quit;

# ---- PgBouncer

my $bouncer;
END
{
	my $status = $?;

	$bouncer->kill_kill(grace => 10) if defined $bouncer;
	$? = $status;
}
my ($program) = grep { -x } map { "$_/pgbouncer" } split(/:/, $ENV{PATH}), '/usr/sbin', '/usr/local/sbin';
SKIP:
{
	skip 'PgBouncer is not installed', 1 unless defined $program;

	my $port = PostgreSQL::Test::Cluster::get_free_port();
	my $folder = $node->basedir . '/pgbouncer';
	my $user = $node->safe_psql('postgres', 'SELECT current_user');

	mkdir $folder;
	append_to_file("$folder/ini", join("\n", '[databases]',
			map({ my ($name, $more) = @$_; "$name = host=" . $node->host . ' port=' . $node->port . " dbname=postgres user=$user $more" }
				['shared', 'pool_mode=transaction pool_size=1'], ['several', 'pool_mode=transaction pool_size=3'], ['whole', 'pool_mode=session pool_size=1']),
			'[pgbouncer]', "listen_port = $port", 'listen_addr =', 'unix_socket_dir = ' . $node->host, 'auth_type = any', 'max_client_conn = 100',
			'server_reset_query = DISCARD ALL', "logfile = $folder/log", "pidfile = $folder/pid", ''));
	my ($out, $err) = ('', '');
	$bouncer = IPC::Run::start([ $program, '-q', "$folder/ini" ], '>', \$out, '2>', \$err);
	my $through = sub { my ($db) = @_; return "host=" . $node->host . " port=$port dbname=$db user=$user" };
	my $client = sub {
		my ($db, $sql) = @_;
		my ($said, $errors);

		IPC::Run::run([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $through->($db), '-c', $sql ], '<', \'', '>', \$said, '2>', \$errors);
		return ($said . $errors) =~ s/\n\z//r;
	};

	ok(wait_until(sub { $client->('shared', 'SELECT 1') eq '1' }), 'PgBouncer serves') or diag($out . $err . (-e "$folder/log" ? slurp_file("$folder/log") : ''));

	# Two clients take turns in one session of the server.
	my $one = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-d', $through->('shared') ]);
	my $two = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-d', $through->('shared') ]);
	is($one->query_safe('SELECT pg_backend_pid()'), $two->query_safe('SELECT pg_backend_pid()'), 'two clients, one session');
	for my $turn (1 .. 3)
	{
		$one->query_safe("BEGIN; SET LOCAL gpuagg.core_aggregates = 'all'; SET LOCAL gpuagg.min_table_pages = 0; SET LOCAL gpuagg.resident = on");
		like($one->query_safe('EXPLAIN (COSTS OFF) ' . sums_sql('sum')), qr/GpuAgg/, "turn $turn: settings of a transaction");
		is($one->query_safe(sums_sql('sum')), $sums, "turn $turn: right");
		$one->query_safe('DECLARE c CURSOR FOR SELECT gpu_running_sum(b) OVER (ORDER BY id) FROM t; FETCH 3 FROM c');
		$one->query_safe($turn == 2 ? 'ROLLBACK' : 'COMMIT');
		is($two->query_safe($settings), $fresh, "turn $turn: the other client's settings");
		unlike($two->query_safe('EXPLAIN (COSTS OFF) ' . sums_sql('sum')), qr/GpuAgg/, "turn $turn: and plans");
		is($two->query_safe(sums_sql('gpu_sum')), $sums, "turn $turn: and results");
		is($two->query_safe('SELECT (SELECT count(*) FROM pg_cursors)'), '0', "turn $turn: no cursor of the first");
	}
	$one->query("BEGIN; SET LOCAL gpuagg.min_table_pages = 0; SELECT gpu_sum(i / (id - 500)) FROM t");
	like($one->{stderr}, qr/division by zero/, 'a transaction that fails');
	$one->{stderr} = '';
	$one->query_safe('ROLLBACK');
	is($two->query_safe(sums_sql('gpu_sum')), $sums, 'and the other client after it');
	$_->quit for $one, $two;

	# Session pooling: DISCARD ALL between clients.
	is($client->('whole', join('', map { "SET $_ = $other{$_}; " } sort keys %other) . 'PREPARE p AS ' . sums_sql('gpu_sum') . '; EXECUTE p'), $sums, 'a client that changes all');
	is($client->('whole', $settings), $fresh, 'the next has the settings of a new session');
	is($client->('whole', 'SELECT count(*) FROM pg_prepared_statements'), '0', 'and no plans');

	# Many clients, few sessions, while the table changes; its sums stay.
	$node->safe_psql('postgres', 'CREATE TABLE account AS SELECT i AS id, 1000::bigint AS amount, repeat(\'x\', 100) AS pad FROM generate_series(1, 3000) i; VACUUM ANALYZE account');
	append_to_file("$folder/sums.sql", join("\n", 'BEGIN;', "SET LOCAL gpuagg.core_aggregates = 'all';", 'SET LOCAL gpuagg.min_table_pages = 0;', 'SET LOCAL gpuagg.resident = on;',
			'SELECT 1 / (sum(amount) = 3000000 AND gpu_sum(amount) = 3000000 AND gpu_count(*) = 3000)::int FROM account;', 'COMMIT;',
			"SELECT 1 / (current_setting('gpuagg.core_aggregates') = 'off')::int;", ''));
	append_to_file("$folder/transfer.sql", join("\n", '\set a random(1, 1500)', '\set b random(1501, 3000)', 'BEGIN;', 'UPDATE account SET amount = amount - 1 WHERE id = :a;',
			'UPDATE account SET amount = amount + 1 WHERE id = :b;', 'COMMIT;', ''));
	command_checks_all(
		[ 'pgbench', '-n', '-c', '12', '-j', '2', '-t', '40', '-f', "$folder/sums.sql\@1", '-f', "$folder/transfer.sql\@2", $through->('several') ],
		0, [qr{number of transactions actually processed: 480/480}], [qr/\A(?!.*(?:aborted|error))/is], 'many clients, few sessions');
	is($node->safe_psql('postgres', 'SELECT sum(amount), gpu_sum(amount) FROM account'), '3000000|3000000', 'at the end');
}
$node->stop;
no_crash($node);
done_testing();
