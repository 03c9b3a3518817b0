#!/usr/bin/env python3
"""planning.py: what the library costs the planner: hundreds of windows beside core's functions,
and queries over ten rows.

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

PLANS = 2000  # of a query over ten rows, in one try
MOST_MORE = 10.0  # microseconds that such a query costs more
SMALL = ('select sum(x) from ten', 'select gpu_sum(x) from ten', 'select k, gpu_sum(x) from ten group by k',
         # of these there are 1,000
         "select gpu_sum(x + ' || i % 1000 || ') from ten where x <> ' || i % 1000 || '")


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


def small_microseconds(query):
    """What planning a query over ten rows takes with GpuAgg on and off, and without the library."""
    times = {'on': [], 'off': [], 'absent': []}
    loop = "DO $$ BEGIN FOR i IN 1..%d LOOP EXECUTE 'explain %s'; END LOOP; END $$;\n" % (PLANS, query)
    begin = 'SET client_min_messages = log;\nSET jit = off;\n'
    script = ["LOAD 'gpuagg';\n" + begin]
    for _ in range(TRIES + 1):
        for setting in ('on', 'off'):
            script.append('SET log_statement_stats = off;\nSET gpuagg.enable_agg_scan = %s;\n' % setting
                          + 'SET log_statement_stats = on;\n' + loop)
    absent = [begin] + ['SET log_statement_stats = on;\n' + loop] * (TRIES + 1)
    for names, lines in (('on', 'off'), script), (('absent',), absent):
        done = subprocess.run(['psql', '-X', '-q', '-A', '-t'], input=''.join(lines), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        found = re.findall(r'QUERY STATISTICS.*?([0-9.]+) s user, ([0-9.]+) s system', done.stderr, re.S)
        found = [(float(user) + float(system)) / PLANS * 1e6 for user, system in found]
        # a SET takes less than this
        found = [took for took in found if took > 1.0]
        assert len(found) == (TRIES + 1) * len(names), done.stderr
        for number, took in enumerate(found):
            times[names[number % len(names)]].append(took)
    return {name: min(tries) for name, tries in times.items()}


def main():
    tally = psql.Tally('planning')
    psql.query('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuagg')
    core, _ = planner_seconds('count(*)')
    ours, nodes = planner_seconds('gpu_count(*)')
    print('%d windows: core %.0f ms, ours %.0f ms' % (WINDOWS, core * 1000, ours * 1000))
    tally.truth('all windows are ours', nodes == WINDOWS)
    tally.truth('planning takes %.1f times core\'s' % (ours / core), ours < MOST * core)
    psql.query('DROP TABLE IF EXISTS ten; CREATE TABLE ten AS SELECT i AS x, i % 3 AS k FROM generate_series(1, 10) i; '
               'ANALYZE ten')
    for query in SMALL:
        took = small_microseconds(query)
        print('%s: %s' % (query[:40], ', '.join('%s %.1f us' % item for item in took.items())))
        tally.truth('ten rows: not much more than without the node', took['on'] - took['off'] < MOST_MORE)
        tally.truth('ten rows: not much more than without the library', took['on'] - took['absent'] < MOST_MORE)
    psql.query('DROP TABLE ten')
    tally.finish()


if __name__ == '__main__':
    main()
