# pg_basebackup and pg_rewind with the device up; standbys; read-only transactions.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use File::Copy;
use GpuaggTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my %env = (GPUAGG_SIM_DELAY_MS => 20);
local @ENV{ keys %env } = values %env;
my $a = gpuagg_node(
	'a',
	init => { allows_streaming => 1 },
	rows => 50_000,
	conf => "shared_preload_libraries = 'gpuagg'\nshared_buffers = 16MB\nmax_connections = 20\n"
	  . "wal_keep_size = '128MB'");
my $folder = 'pg_stat_tmp';

sub ours_in
{
	my ($data) = @_;

	return join ' ', map { s{^\Q$data\E/}{}r } glob("$data/gpuagg* $data/*/gpuagg*");
}

ok(wait_device($a), 'the device is usable on the primary');
like(ours_in($a->data_dir), qr{^$folder/gpuagg\.lock $folder/gpuagg\.sock$},
	"files of ours lie in $folder only");

# A base backup while the device works.
my $busy = background($a);
send_query($busy,
	q(DO $$ BEGIN FOR k IN 1..30 LOOP PERFORM gpu_reduce(array_agg(b)) FROM t; END LOOP; END $$));
$a->backup('one');
is(ours_in($a->backup_dir . '/one'), '', 'a base backup holds nothing of ours');
$a->command_ok([ 'pg_verifybackup', $a->backup_dir . '/one' ], 'the backup verifies');
$busy->query_safe('SELECT 1');
$busy->quit;
right_on($a, 'device', 'the primary after the backup', set => ['gpuagg.device = gpu']);

# A hot standby with a device of its own.
my $b = PostgreSQL::Test::Cluster->new('b');
$b->init_from_backup($a, 'one', has_streaming => 1);
$b->start;
$a->wait_for_catchup($b);
is($b->safe_psql('postgres', 'SELECT pg_is_in_recovery()'), 't', 'b is a standby');
right_on($b, 'device', 'a hot standby', set => ['gpuagg.device = gpu']);
isnt(gpuaggd_pid($b), gpuaggd_pid($a), 'it has a gpuaggd of its own');
is($b->safe_psql('postgres', q(SET gpuagg.device = gpu; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT gpu_sum(i) = sum(i) FROM t; SELECT device_batches > 0 FROM gpuagg_stat; COMMIT;)),
	"t\nt", 'a read-only transaction on the standby');
is($a->safe_psql('postgres', q(SET gpuagg.device = gpu; SET default_transaction_read_only = on;
SELECT gpu_sum(i) = sum(i) FROM t; SELECT engine FROM gpuagg_last_query();)),
	"t\ndevice", 'a read-only transaction on the primary');
is($b->safe_psql('postgres', q(SELECT gpuagg_stop(); SELECT gpuagg_restart() IS NOT NULL;)),
	"t\nt", 'the device is controlled on the standby too');
ok(wait_device($b), 'and comes back there');

# The standby becomes the primary; its device works on.
my $pid = gpuaggd_pid($b);
$b->promote;
$b->safe_psql('postgres', 'INSERT INTO t SELECT n, 1, n, n, n FROM generate_series(200001, 200100) n');
right_on($b, 'device', 'after promotion', set => ['gpuagg.device = gpu']);
is(gpuaggd_pid($b), $pid, 'with the same gpuaggd');

# The old primary goes its own way, dies with its device up, and is rewound
# from the live new one.
$a->safe_psql('postgres', 'INSERT INTO t SELECT n, 1, n, n, n FROM generate_series(300001, 302000) n');
right_on($a, 'device', 'the old primary', set => ['gpuagg.device = gpu']);
$a->stop('immediate');
ok(wait_gone($a), 'no gpuaggd is left after an immediate stop');
$b->safe_psql('postgres', 'CHECKPOINT');

$busy = background($b);
send_query($busy,
	q(DO $$ BEGIN FOR k IN 1..30 LOOP PERFORM gpu_reduce(array_agg(b)) FROM t; END LOOP; END $$));
my $conf = $a->data_dir . '/postgresql.conf';
copy($conf, $a->basedir . '/postgresql.conf') or die "copy: $!";
$b->command_ok(
	[ 'pg_rewind', '--debug', '--source-server', $b->connstr('postgres'),
		'--target-pgdata', $a->data_dir, '--no-sync' ],
	'pg_rewind from a live source whose device works');
copy($a->basedir . '/postgresql.conf', $conf) or die "copy: $!";
unlike(ours_in($a->data_dir), qr{(^| )gpuagg}, 'it leaves nothing of ours in the root');
is(join(' ', gpuaggd_pids($a)), '', 'recovery for it started no gpuaggd');
$busy->query_safe('SELECT 1');
$busy->quit;

$a->enable_streaming($b);
$a->set_standby_mode;
$a->start;
$b->wait_for_catchup($a);
is($a->safe_psql('postgres', sums_sql('sum')), core_sums($b), 'the rewound node has the new data');
right_on($a, 'device', 'the rewound node', set => ['gpuagg.device = gpu']);

stop_and_look($a);
stop_and_look($b);
done_testing();
