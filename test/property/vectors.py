#!/usr/bin/env python3
"""vectors.py: vector programs of random expressions beside core's executor.

Columns hold values at the ends of types.  Whatever is not flagged must be core's,
and what core raises an error for must be flagged.  Connection: the environment's.
"""
import argparse
import os
import random
import sys

sys.dont_write_bytecode = True
folder = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(folder, 'lib'))

import expressions  # noqa: E402
import psql  # noqa: E402

SCHEMA = 'vectors'
TABLE = os.path.join(folder, '..', 'modules', 'vector_edges.sql')


def verdict(counts):
    """Judges one line of vector_differs; counts: what came of it."""

    def judge(rows, state):
        # Constants that are computed when planned may be out of range, the query may have no scan.
        if state in ('0A000', '22003', '22008', '22012', '22P02', '2201F', '22023', '22000'):
            counts['no plan'] += 1
            return None
        if state != '00000' or len(rows) != 1:
            return 'SQLSTATE %s, %d lines' % (state, len(rows))
        scanned, _, flagged, by_row, differs, example = rows[0].split('|', 5)
        counts['rows'] += int(scanned)
        counts['flagged'] += int(flagged)
        counts['programs'] += 1
        counts['all in vectors'] += int(by_row) == 0
        return None if differs == '0' else '%s differ: %s' % (differs, example)

    return judge


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=20261122)
    parser.add_argument('--cases', type=int, default=400, help='queries')
    options = parser.parse_args()
    print('seed %d, %d cases' % (options.seed, options.cases))
    rng = random.Random(options.seed)
    writer = expressions.Writer(rng)
    tally = psql.Tally('vectors')
    counts = dict.fromkeys(('programs', 'all in vectors', 'rows', 'flagged', 'no plan'), 0)
    script = psql.Script()
    script.sql('DROP SCHEMA IF EXISTS %s CASCADE' % SCHEMA)
    script.sql('CREATE SCHEMA %s' % SCHEMA)
    script.sql('SET search_path = %s' % SCHEMA)
    script.sql("CREATE FUNCTION vector_differs(query text, conditional boolean, narrow boolean, OUT scanned bigint, "
               "OUT passed bigint, OUT flagged bigint, OUT by_row integer, OUT differs bigint, "
               "OUT example text) AS '%s' LANGUAGE C STRICT" % os.environ.get('VECTOR_TEST', '$libdir/gpuagg_test_vectors'))
    script.sql(open(TABLE, encoding='utf-8').read().rstrip().rstrip(';'))
    script.sql('DELETE FROM vector_edges WHERE random() < 0.7')
    for case in range(options.cases):
        if case % 50 == 0:
            script.sql("SET TimeZone = '%s'" % rng.choice(('UTC', 'Europe/Berlin', 'Asia/Kathmandu')))
        depth = rng.choice((1, 2, 2, 3, 4))
        targets = [writer.expression(rng.choice(expressions.TYPES), depth) for _ in range(rng.choice((1, 2, 3)))]
        quals = [writer.expression('bool', depth - 1) for _ in range(rng.choice((0, 0, 1, 2, 3)))]
        conditional = rng.random() < 0.2
        if conditional:
            targets.append(writer.expression('bool', 1))
        query = 'SELECT %s FROM vector_edges%s' % (', '.join(targets),
                                                   ' WHERE ' + ' AND '.join(quals) if quals else '')
        script.ask(query, 'SELECT * FROM vector_differs($query$%s$query$, %s, %s)' % (
            query, conditional, rng.random() < 0.3), verdict(counts))
    script.sql('DROP SCHEMA %s CASCADE' % SCHEMA)
    tally.add(script.run())
    print(', '.join('%s: %d' % item for item in counts.items()))
    tally.truth('most programs were compared', counts['programs'] > options.cases // 2)
    tally.finish()


if __name__ == '__main__':
    main()
