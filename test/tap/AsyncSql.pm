# AsyncSql.pm: SQL scripts that run in sessions of their own while a test goes on.
package AsyncSql;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(time);

my $count = 0;

our @EXPORT = qw(start_sql end_sql next_sql sql_pid);

# Starts a session with the script, under a name of its own.
sub start_sql
{
	my ($node, $sql, $db) = @_;
	my %session = (in => '', out => '', err => '', started => time(), name => 'script' . ++$count);
	my $script = PostgreSQL::Test::Utils::tempdir . '/script.sql';

	append_to_file($script, $sql);

	$session{run} = IPC::Run::start(
		[
			$node->installed_command('psql'), '-XqAt', '-v', 'ON_ERROR_STOP=1',
			'-d', $node->connstr($db // 'postgres') . " application_name=$session{name}",
			'-f', $script
		],
		'<', \$session{in}, '>', \$session{out}, '2>', \$session{err},
		IPC::Run::timeout(600));
	return \%session;
}

# The backend of a session; waits for it to be there.  A script that may have ended by then has none.
sub sql_pid
{
	my ($node, $session) = @_;
	my $pid = '';

	while ($pid eq '')
	{
		die "the script of $session->{name} has ended" unless $session->{run}->pumpable;
		$pid = $node->safe_psql('postgres',
			"SELECT pid FROM pg_stat_activity WHERE application_name = '$session->{name}' "
			  . "AND backend_type = 'client backend'");
	}
	return $pid;
}

# Waits for its end.  Returns its output; {err} holds the errors, {took} the
# seconds since it was started.
sub end_sql
{
	my ($session) = @_;

	$session->{run}->finish;
	$session->{took} = time() - $session->{started};
	chomp $session->{out};
	return $session->{out};
}

# Waits for the end of a script, which has no error, and starts the next.
sub next_sql
{
	my ($session, $node, $sql) = @_;

	end_sql($session);
	die "$session->{name}: $session->{err}" if $session->{err} ne '';
	return start_sql($node, $sql);
}

1;
