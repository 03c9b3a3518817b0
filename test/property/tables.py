#!/usr/bin/env python3
"""tables.py: aggregates over random tables, by the node GpuAgg and by other plans.

Tables are single, partitioned, inheritance parents or materialized views.  Each query has
gpuagg's names of aggregates, or core's with gpuagg.core_aggregates = exact or all.  It runs
without the node, whose results other tests prove, with the node in one process and with it
in workers; where core's results are exact and do not depend on order, with core's aggregates
too; sums, averages and variances of floats beside exact arithmetic.  Values, types, display
and errors must be equal.  Connection: the environment's.
"""
import argparse
import collections
import os
import random
import struct
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, 'lib'))

import oracle  # noqa: E402
import parents  # noqa: E402
import psql  # noqa: E402
import relations  # noqa: E402
import statements  # noqa: E402

SCHEMA = 'tables'
# The least share of queries by the node, in percent, of those of a kind that it claims to run.
FLOORS = {
    'plain': 75,
    'partitions': 65,
    'foreign partitions': 40,
    'distinct': 40,
    'grouping sets': 55,
    'many aggregates': 50,
    'expressions above': 60,
    'core names exact': 65,
    'core names all': 65,
}
COUNTS = ('queries', 'planned', 'by the node', 'with workers', 'prepared', 'some of it row by row', 'errors', 'lines',
          'vectors', 'vectors with a row evaluated singly', 'beside exact arithmetic', 'beyond the node',
          'mixed plans that could not be judged')
# Settings of all queries, and those that change between queries.
SETTINGS = {'gpuagg.enable_agg_scan': 'on', 'gpuagg.min_table_pages': '0', 'enable_sort': 'off', 'parallel_setup_cost': '0',
            'parallel_tuple_cost': '0', 'min_parallel_table_scan_size': '0', 'synchronize_seqscans': 'off',
            'enable_material': 'off'}
CHANGING = {'work_mem': ("'64kB'", "'4MB'"), 'hash_mem_multiplier': ('1', '2'), 'parallel_leader_participation': ('on', 'off'),
            'enable_partitionwise_aggregate': ('on', 'off'), 'enable_parallel_append': ('on', 'off'),
            'enable_partition_pruning': ('on', 'on', 'off'),
            'plan_cache_mode': ('force_generic_plan', 'force_generic_plan', 'force_custom_plan')}


class Shares:
    """Of each kind of queries: how many there were, and how many the node ran."""

    def __init__(self):
        self.all = collections.Counter()
        self.ran = collections.Counter()
        self.reasons = collections.Counter()

    def add(self, kinds, ran, reason):
        self.all.update(kinds)
        if ran:
            self.ran.update(kinds)
        elif reason:
            self.reasons[reason] += 1

    def percent(self, kind):
        return 100 * self.ran[kind] / max(self.all[kind], 1)


def verdict(query, counts, shares):
    """Judges a line of compare(); counts, shares: what came of it."""

    def judge(rows, state):
        if state != '00000' or len(rows) != 1:
            return 'SQLSTATE %s, %d lines' % (state, len(rows))
        ran, parallel, by_row, failed, unjudged, nrows, vectors, row_vectors, reasons, difference = rows[0].split('|', 9)
        counts['queries'] += 1
        counts['planned'] += ran != ''
        counts['by the node'] += ran == 't'
        counts['with workers'] += parallel == 't'
        counts['prepared'] += query.types != ''
        counts['some of it row by row'] += by_row == 't'
        counts['errors'] += failed == 't'
        counts['lines'] += int(nrows)
        counts['vectors'] += int(vectors or 0)
        counts['vectors with a row evaluated singly'] += int(row_vectors or 0)
        counts['beyond the node'] += query.beyond
        counts['mixed plans that could not be judged'] += unjudged == 't'
        if ran == '' or not query.beyond:
            shares.add(query.kinds if ran else (), ran == 't', reasons)
        return difference or None

    return judge


def exact_floats(script, rng, table, label, counts, core_names):
    """Aggregates of a float column beside exact arithmetic over its values; core's too where the node runs them."""
    columns = [name for name, kind in table.types.items() if kind in ('float4', 'float8')]
    if not columns:
        return
    column = rng.choice(columns)
    form = oracle.FLOAT4 if table.types[column] == 'float4' else oracle.FLOAT8
    others = [name for name, kind in table.types.items() if kind in ('int2', 'int4', 'oid', 'date')]
    source = '%s WHERE %s' % (table.source, 'hashtext(%s::text) %% 3 <> 0' % rng.choice(others) if others else 'true')
    values = []
    workers = 0 if table.temporary else rng.choice((0, 2))
    script.sql('SET max_parallel_workers_per_gather = %d' % workers)

    def remember(rows, state):
        values.extend(struct.unpack(form.pack, bytes.fromhex(row))[0] for row in rows)
        return None if state == '00000' else 'SQLSTATE ' + state

    def note_plan(node):
        def note(rows, state):
            node.append(rows == ['t'])
            return None if state == '00000' else 'SQLSTATE ' + state
        return note

    def judge(function, shown, node):
        def verdict_of(rows, state):
            if node and not node[0]:
                return None
            exact = oracle.moments(v for v in values)
            counts['beside exact arithmetic'] += 1
            if function == 'sum':
                want = oracle.total(values, form)
            else:
                want = exact.results()[oracle.AGGREGATES.index('gpu_' + function)]
            if want == oracle.OVERFLOW:
                return None if state == '22003' else 'SQLSTATE %s, expected an overflow' % state
            want = [oracle.text(want, shown)]
            return None if state == '00000' and rows == want else 'SQLSTATE %s, %s, exactly %s' % (state, rows, want)
        return verdict_of

    script.ask(label, "SELECT encode(%ssend(%s), 'hex') FROM %s AND %s IS NOT NULL" % (form.name, column, source, column), remember)
    for function in rng.sample(('sum', 'sum', 'avg', 'var_pop', 'var_samp', 'stddev_pop', 'stddev_samp'), 2):
        shown = form if function == 'sum' else oracle.FLOAT8
        node = []
        by_core_name = core_names and rng.random() < 0.5
        statement = "SELECT encode(%ssend(%s%s(%s)), 'hex') FROM %s" % (
            shown.name, '' if by_core_name else 'gpu_', function, column, source)
        if by_core_name:
            script.sql("SET gpuagg.core_aggregates = 'all'")
            script.ask(label + statement, "SELECT plan_of($q$%s$q$, '', '{}', 'COSTS OFF', true, 'all', %d) ~ '\\(GpuAgg'" % (
                statement, workers), note_plan(node))
        script.ask(label + statement, statement, judge(function, shown, node))
        if by_core_name:
            script.sql('RESET gpuagg.core_aggregates')


def random_table(rng, number, server):
    """Every second one single; every eighth with foreign partitions."""
    if number % 2 == 0:
        return relations.Table(rng, number)
    if number % 8 == 3:
        return parents.Inherited(rng, number)
    return parents.Partitioned(rng, number, server if number % 8 == 5 else None)


def data_set(options, number, server, core_names, tally, counts, shares):
    rng = random.Random('%d %d' % (options.seed, number))
    table = random_table(rng, number, server)
    maker = statements.Maker(rng, table)
    script = psql.Script()
    script.sql("LOAD 'gpuagg'")
    script.sql('SET search_path = %s, public' % SCHEMA)
    settings = dict(SETTINGS, TimeZone="'%s'" % rng.choice(('UTC', 'Europe/Berlin', 'Asia/Kathmandu')))
    for setting in settings.items():
        script.sql('SET %s = %s' % setting)
    script.sql("SELECT setseed(%f)" % rng.random())
    for statement in table.statements:
        script.sql(statement)
    again = '--seed %d --queries %d --only %d --keep' % (options.seed, options.queries, number)
    for i in range(options.queries):
        for name, values in CHANGING.items():
            if i == 0 or rng.random() < 0.15:
                settings[name] = rng.choice(values)
                script.sql('SET %s = %s' % (name, settings[name]))
        query = maker.query()
        # on a device, groups one by one take a round trip each
        settings['gpuagg.device'] = 'DEFAULT' if number % 3 == 0 and 'plain' in query.kinds else 'cpu'
        script.sql('SET gpuagg.device = ' + settings['gpuagg.device'])
        arguments = ', '.join('$q$%s$q$' % a for a in query.arguments)
        label = 'data set %d (%s), core_aggregates = %s, %s: %s%s' % (
            number, again, query.way, ', '.join('%s = %s' % item for item in settings.items() if item[0] not in SETTINGS), query.ours(),
            ' -- (%s), executed with (%s)' % (query.types, '), ('.join(query.arguments)) if query.types else '')
        script.ask(label, "SELECT * FROM compare($q$%s$q$, '%s', $q$%s$q$, $q$%s$q$, %s, %s, %d, $q$%s$q$, ARRAY[%s]::text[])" % (
            query.ours(), query.way, query.expected(), query.core(), query.by_order, query.any_error, query.workers,
            query.types, arguments), verdict(query, counts, shares))
    exact_floats(script, rng, table, 'data set %d (%s): ' % (number, again), counts, core_names)
    if not options.keep:
        for statement in table.drops:
            script.sql(statement)
    tally.add(script.run())


def prepare_schema():
    """(name of a foreign server that is this database, whether gpuagg.core_aggregates is known)."""
    psql.query('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuagg; '
               'DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s; SET search_path = %s, public;\n%s'
               % (SCHEMA, SCHEMA, SCHEMA, open(os.path.join(HERE, 'lib', 'outcomes.sql')).read()))
    server = 'gpuagg_tables'
    options = psql.query("SELECT format('host %L, port %L, dbname %L', split_part(current_setting('unix_socket_directories'), ',', 1), "
                         "current_setting('port'), current_database())")[0]
    if not psql.succeeds('SET search_path = %s, public; CREATE EXTENSION IF NOT EXISTS postgres_fdw; '
                         'DROP SERVER IF EXISTS %s CASCADE; CREATE SERVER %s FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s); '
                         'CREATE USER MAPPING FOR CURRENT_USER SERVER %s; '
                         "CREATE FOREIGN TABLE probe (i int) SERVER %s OPTIONS (schema_name '%s', table_name 'few'); SELECT * FROM probe"
                         % (SCHEMA, server, server, options, server, server, SCHEMA)):
        server = None
        print('skipped: no postgres_fdw to this database, no partitions that are foreign tables')
    known = psql.query("LOAD 'gpuagg'; SELECT count(*) FROM pg_settings WHERE name = 'gpuagg.core_aggregates'")[0] != '0'
    if not known:
        print('the server does not know gpuagg.core_aggregates: core\'s names are run by core')
    return server, known


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=20261123)
    parser.add_argument('--sets', type=int, default=30, help='tables')
    parser.add_argument('--queries', type=int, default=30, help='over each table')
    parser.add_argument('--seconds', type=float, help='go on with ever new tables for so long')
    parser.add_argument('--only', type=int, help='the number of the only table')
    parser.add_argument('--keep', action='store_true', help='keep the tables, in the schema ' + SCHEMA)
    parser.add_argument('--floor', action='append', default=[], metavar='KIND=PERCENT', help='kinds: ' + '; '.join(FLOORS))
    parser.add_argument('--reasons', action='store_true', help='print why the node did not run queries, or why they could not be planned')
    options = parser.parse_args()
    floors = dict(FLOORS, **{kind: float(least) for kind, least in (f.split('=') for f in options.floor)})
    if set(floors) != set(FLOORS):
        parser.error('unknown kind')
    print('seed %d' % options.seed, flush=True)
    tally = psql.Tally('tables', 1000)
    counts = dict.fromkeys(COUNTS, 0)
    shares = Shares()
    server, core_names = prepare_schema()
    end = time.monotonic() + (options.seconds or 0)
    number = 0 if options.only is None else options.only
    while True:
        data_set(options, number, server, core_names, tally, counts, shares)
        number += 1
        if options.only is not None or (number >= options.sets if options.seconds is None
                                        else time.monotonic() >= end):
            break
    if not options.keep:
        psql.query('SET client_min_messages = warning; DROP SERVER IF EXISTS gpuagg_tables CASCADE; DROP SCHEMA %s CASCADE' % SCHEMA)
    print(', '.join('%s: %d' % item for item in counts.items()))
    for kind, least in floors.items():
        print('%3.0f %% of %4d queries by the node (at least %.0f): %s' % (shares.percent(kind), shares.all[kind], least, kind))
        if options.only is None:
            tally.truth('%s: the node ran at least %.0f %%' % (kind, least), shares.percent(kind) >= least)
    if options.reasons:
        for reason, times in shares.reasons.most_common():
            print('%5d %s' % (times, reason))
    singly = counts['vectors with a row evaluated singly'] / max(counts['vectors'], 1)
    print('%.0f %% of the vectors had a row that was evaluated singly, at least in part' % (100 * singly))
    if options.only is None:
        tally.truth('most results were no errors', counts['errors'] < 0.4 * counts['queries'])
    tally.finish()


if __name__ == '__main__':
    main()
