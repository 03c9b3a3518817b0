#!/usr/bin/env python3
"""differential.py: random queries with our functions beside core's and exact arithmetic.

A fixed set of seeds of the tester in test/fuzz; every aggregate must have been tested
with every type.  Connection: the environment's.
"""
import argparse
import os
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, 'lib'), os.path.join(HERE, '..', 'fuzz')]

import differ  # noqa: E402
import psql  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=20261121)
    parser.add_argument('--sets', type=int, default=8, help='data sets')
    parser.add_argument('--queries', type=int, default=20, help='over each data set')
    parser.add_argument('--only', type=int, help='the number of the only data set')
    options = parser.parse_args()
    print('seed %d, %d data sets' % (options.seed, options.sets))

    tester = differ.Tester(options.seed, roomy=True)
    for number in range(options.sets) if options.only is None else [options.only]:
        began = time.monotonic()
        tester.data_set(number, options.queries)
        print('data set %d: %.1f s' % (number, time.monotonic() - began), flush=True)
    if options.only is None:
        # What chance has left out so far.
        for number in range(options.sets, options.sets + 10):
            left = tester.missing() & tester.server.has
            if left:
                tester.data_set(number, options.queries, left)
    print('\n'.join(tester.table()))
    print(tester.outcomes())
    tally = psql.Tally('differential')
    tally.passed = tester.tried - tester.differences
    tally.failed = tester.differences
    if options.only is None:
        tally.truth('every aggregate was tested with every type (missing: %s)' % ', '.join(
            '%s(%s)' % pair for pair in sorted(tester.missing())), not tester.missing())
    tally.finish()


if __name__ == '__main__':
    main()
