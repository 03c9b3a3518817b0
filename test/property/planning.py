#!/usr/bin/env python3
"""planning.py: what the library costs the planner: hundreds of windows beside core's functions.

Processor time as the server counts it, the least of some tries, so that other processes do not
matter.  Connection: the environment's.
"""
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

import psql  # noqa: E402

WINDOWS = 300
TRIES = 5
MOST = 2.0  # times core's


def planner_seconds(function):
    """Processor time that planning a query with many windows of a function takes."""
    calls = ', '.join('%s OVER (PARTITION BY i + %d ORDER BY b)' % (function, n) for n in range(WINDOWS))
    script = ('CREATE TEMP TABLE t (i int, b int);\n'
              'SET client_min_messages = log;\nSET log_planner_stats = on;\n'
              + 'EXPLAIN SELECT %s FROM t;\n' % calls * TRIES)
    done = subprocess.run(['psql', '-X', '-q', '-A', '-t'], input=script, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    # the first figures after each heading are those of the planner alone
    found = re.findall(r'PLANNER STATISTICS.*?([0-9.]+) s user, ([0-9.]+) s system', done.stderr, re.S)
    nodes = done.stdout.count('GpuWindow)')
    return min(float(user) + float(system) for user, system in found), nodes // TRIES


def main():
    tally = psql.Tally('planning')
    psql.query('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuagg')
    core, _ = planner_seconds('count(*)')
    ours, nodes = planner_seconds('gpu_count(*)')
    print('%d windows: core %.0f ms, ours %.0f ms' % (WINDOWS, core * 1000, ours * 1000))
    tally.truth('all windows are ours', nodes == WINDOWS)
    tally.truth('planning takes %.1f times core\'s' % (ours / core), ours < MOST * core)
    tally.finish()


if __name__ == '__main__':
    main()
