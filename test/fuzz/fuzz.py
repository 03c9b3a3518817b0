#!/usr/bin/env python3
"""fuzz.py: the differential tester with ever new data, for a given time.

Prints its seed, what it tried and every difference.  Connection: the environment's.
"""
import argparse
import os
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'property', 'lib')]

import differ  # noqa: E402
import psql  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=int(time.time()))
    parser.add_argument('--seconds', type=float, default=60)
    parser.add_argument('--queries', type=int, default=30, help='over each data set')
    parser.add_argument('--first', type=int, default=0, help='number of the first data set')
    parser.add_argument('--folder', help='where scripts that reproduce differences go')
    parser.add_argument('--shapes', default='', help='of queries: names of methods of queries.Maker')
    options = parser.parse_args()
    print('seed %d, %.0f s' % (options.seed, options.seconds), flush=True)

    tester = differ.Tester(options.seed, options.folder, shapes=options.shapes.split(','))
    end = time.monotonic() + options.seconds
    number = options.first
    while time.monotonic() < end:
        tester.data_set(number, options.queries)
        number += 1
    print('\n'.join(tester.table()))
    print('%d data sets, %d queries (%s), %d differences'
          % (number - options.first, tester.tried, tester.outcomes(), tester.differences))
    print('batches on the CPU, on the device; fallbacks: '
          + psql.query('SELECT cpu_batches, device_batches, fallbacks_by_reason FROM gpuagg_stat')[0])
    print('%d passed, %d failed' % (tester.tried - tester.differences, tester.differences))
    sys.exit(1 if tester.differences or not tester.tried else 0)


if __name__ == '__main__':
    main()
