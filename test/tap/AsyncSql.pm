# AsyncSql.pm: SQL scripts that run in sessions of their own while a test goes on.
package AsyncSql;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(time);

our @EXPORT = qw(start_sql end_sql);

# Starts a session with the script.
sub start_sql
{
	my ($node, $sql, $db) = @_;
	my %session = (in => '', out => '', err => '', started => time());
	my $script = PostgreSQL::Test::Utils::tempdir . '/script.sql';

	append_to_file($script, $sql);

	$session{run} = IPC::Run::start(
		[
			$node->installed_command('psql'), '-XqAt', '-v', 'ON_ERROR_STOP=1',
			'-d', $node->connstr($db // 'postgres'), '-f', $script
		],
		'<', \$session{in}, '>', \$session{out}, '2>', \$session{err},
		IPC::Run::timeout(180));
	return \%session;
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

1;
