"""cases.py: seeded columns of floats with groups, peers and an order, and plans to sum them in."""
import argparse
import random

import families
import oracle
import psql

PARALLEL = ('SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;'
            'SET min_parallel_table_scan_size = 0; SET enable_indexscan = off; SET enable_bitmapscan = off;'
            'SET max_parallel_workers_per_gather = 3; SET parallel_leader_participation = %s')
SERIAL = ('SET max_parallel_workers_per_gather = 0; RESET enable_indexscan; '
          'RESET enable_bitmapscan')

# (frame clause, (first, last) relative to the current row with None for unbounded, excludes it)
FRAMES = [('ROWS BETWEEN 3 PRECEDING AND CURRENT ROW', (-3, 0), False),
          ('ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING', (-2, 2), False),
          ('ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW', (-2, 2), True),
          ('ROWS BETWEEN 1 FOLLOWING AND 4 FOLLOWING', (1, 4), False),
          ('ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING', (-5, -2), False),
          ('ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW', (None, 0), False),
          ('ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING', (0, None), False)]
FRAME_ROWS = 66


class Column:
    """One column of one family, its rows numbered, grouped, ordered and shuffled."""

    def __init__(self, number, form, seed):
        rng = random.Random('%s %d %d' % (form.name, seed, number))
        self.number = number
        self.form = form
        self.family = families.FAMILIES[number % len(families.FAMILIES)]
        size = rng.choice(families.LARGE if rng.random() < 0.2 else families.SIZES)
        missing = rng.choice((0, 0, 0, 0.1, 0.9, 1 if rng.random() < 0.2 else 0))
        self.values = [None if rng.random() < missing else x
                       for x in self.family(rng, form, size)]
        self.group = [rng.randrange(5) for _ in self.values]
        self.peer = []
        for _ in self.values:
            step = not self.peer or rng.random() < 0.4
            self.peer.append((self.peer[-1] if self.peer else 0) + step)
        self.shuffled = [rng.getrandbits(30) for _ in self.values]
        self.batch = rng.random()

    def describe(self):
        few = ''
        if len(self.values) <= 8:
            few = ' values ' + ' '.join('NULL' if x is None else repr(x) for x in self.values)
        return '%s case %d (%s, %d rows%s)' % (self.form.name, self.number, self.family.__name__,
                                               len(self.values), few)

    def lines(self):
        for i, x in enumerate(self.values):
            yield '%d\t%d\t%d\t%d\t%d\t%s' % (self.number, i, self.group[i], self.peer[i],
                                              self.shuffled[i], '\\N' if x is None else repr(x))

    def inside(self, i, first, last, excludes):
        """The values of the frame of row i."""
        low = 0 if first is None else max(i + first, 0)
        high = len(self.values) if last is None else max(i + last + 1, 0)
        return [x for j, x in enumerate(self.values[low:high], low) if not (excludes and j == i)]


def load(script, table, form, columns):
    script.sql('CREATE TABLE %s (c int, i int, g int, k int, r int, x %s)' % (table, form.name))
    script.copy(table, [line for column in columns for line in column.lines()])
    script.sql('CREATE INDEX ON %s (c, i); ANALYZE %s' % (table, table))


def plan_is_parallel(form, schema, function):
    """Whether a sum of one column is planned so."""
    lines = psql.query('%s; EXPLAIN (COSTS OFF) SELECT %s(x) FROM %s.%s WHERE c = 1'
                       % (PARALLEL % 'on', function, schema, form.name))
    return any('Gather' in line for line in lines)


def run(what, summary, schema, case_of, checks, function, count):
    """The main program: checks(script, form, cases, sizes) for either format, in a schema of its own.

    case_of makes a Column of a number, a format and a seed; function is tried for a parallel plan.
    """
    parser = argparse.ArgumentParser(description=summary)
    parser.add_argument('--seed', type=int, default=20261121)
    parser.add_argument('--cases', type=int, default=count, help='of float8; half as many of float4')
    parser.add_argument('--only', type=int, help='the number of the only case to run')
    options = parser.parse_args()
    print('seed %d, %d cases' % (options.seed, options.cases))

    tally = psql.Tally(what)
    tally.truth('rounding agrees with fractions', oracle.self_check(random.Random(options.seed)))
    psql.query('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuagg; '
               'DROP SCHEMA IF EXISTS %s CASCADE; CREATE SCHEMA %s' % (schema, schema))
    sizes = psql.batch_sizes((1024, 4096))
    for form, number in ((oracle.FLOAT8, options.cases), (oracle.FLOAT4, options.cases // 2)):
        numbers = range(number) if options.only is None else [options.only]
        cases = [case_of(i, form, options.seed) for i in numbers]
        script = psql.Script()
        checks(script, form, cases, sizes)
        tally.add(script.run(), lambda label: '%s, %s'
                  % (label[0].describe() if isinstance(label[0], Column) else label[0], label[1]))
        tally.truth('plans are parallel', plan_is_parallel(form, schema, function))
    psql.query('SET client_min_messages = warning; DROP SCHEMA %s CASCADE' % schema)
    tally.finish()
