# pg_dump and restore of a database with the extension, and views that use it.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuaggTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = gpuagg_node('dump', mode => 'gpu', rows => 20_000);
my @server = ('-h', $node->host, '-p', $node->port);

$node->safe_psql(
	'postgres', q(
CREATE VIEW sums AS SELECT g, gpu_sum(i) AS i, gpu_sum(b) FILTER (WHERE id > 5) AS b, gpu_sum(f) AS f,
	gpu_sum(f::real) AS r, gpu_sum(b::numeric / 10) AS n, gpu_count(*) AS c, gpu_count(f) AS cf
FROM t GROUP BY g HAVING gpu_count(*) > 0;
CREATE VIEW running AS SELECT id, gpu_running_sum(f) OVER w AS f,
	gpu_running_sum(b, true) OVER (PARTITION BY g ORDER BY id ROWS UNBOUNDED PRECEDING) AS b,
	gpu_sum(i) OVER (ORDER BY id ROWS 10 PRECEDING) AS i
FROM t WINDOW w AS (PARTITION BY g ORDER BY id);
CREATE MATERIALIZED VIEW stored AS SELECT gpu_sum(f) AS f FROM t;
CREATE FUNCTION total() RETURNS numeric LANGUAGE sql AS 'SELECT gpu_sum(b) FROM public.t';
CREATE FUNCTION total_early() RETURNS numeric LANGUAGE sql BEGIN ATOMIC SELECT gpu_sum(b) FROM t; END;
));
my $everything = q(
SELECT md5(string_agg(s::text, ',' ORDER BY g)) FROM sums s;
SELECT md5(string_agg(r::text, ',' ORDER BY id)) FROM running r;
SELECT f FROM stored;
SELECT total(), total_early();
SELECT pg_get_viewdef('sums'), pg_get_viewdef('running');
SELECT count(*) FROM pg_depend WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'gpuagg')
	AND deptype = 'e';);
my $expected = $node->safe_psql('postgres', $everything);

for my $format ('plain', 'custom')
{
	my $dump = $node->basedir . "/$format.dump";

	command_ok([ 'pg_dump', @server, '-F', $format, '-f', $dump, 'postgres' ], "pg_dump, $format");
	command_ok([ 'createdb', @server, '-T', 'template0', "from_$format" ], 'createdb');
	command_ok(
		$format eq 'plain'
		? [ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', @server, '-f', $dump, "from_$format" ]
		: [ 'pg_restore', '-j', '2', '-e', @server, '-d', "from_$format", $dump ],
		"restore, $format");
	is($node->safe_psql("from_$format", $everything), $expected, "everything is the same, $format");
	right_on($node, 'device', "restored, $format", db => "from_$format");
	is(slurp_file($dump) =~ /CREATE AGGREGATE|gpuagg_float8_accum\(/, '',
		'members of the extension are not dumped one by one')
	  if $format eq 'plain';
}

command_ok([ 'pg_dump', @server, '-s', '-f', $node->basedir . '/again.dump', 'from_custom' ],
	'a restored database is dumped again');
command_ok([ 'pg_dump', @server, '-s', '-f', $node->basedir . '/first.dump', 'postgres' ],
	'as is the first');
is(schema('again'), schema('first'), 'both dumps have the same schema');
stop_and_look($node);

done_testing();

# A schema's dump without the random words of its \restrict lines.
sub schema
{
	my ($name) = @_;

	return slurp_file($node->basedir . "/$name.dump") =~ s/^\\(un)?restrict .*\n//mgr;
}
