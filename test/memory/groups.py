#!/usr/bin/env python3
"""groups.py: memory of the node GpuAgg over a table with more groups than fit.

Runs an aggregation with core's nodes, with GpuAgg and with GpuAgg in workers, at small
work_mem; looks at the memory of each process as it goes, and compares the results.
Memory is what belongs to a process alone (RssAnon), at its peak, without what it had
before.  Connection: the environment's.
"""
import argparse
import re
import subprocess
import sys
import threading
import time

MEGABYTE = 1024     # kB
# beside the groups: vectors, pages of files and what an idle process grows to
SLACK = 24 * MEGABYTE
WAYS = (('core', 'off', 0), ('GpuAgg', 'on', 0), ('GpuAgg, 2 workers', 'on', 2))
KEYS = (('bigint', 'k'), ('text', "'key ' || k"), ('numeric', 'k::numeric(30,3) / 2'))


def resident(pid):
    """kB of memory of its own; 0: it has ended."""
    try:
        with open('/proc/%d/status' % pid) as status:
            return int(re.search(r'^RssAnon:\s+(\d+)', status.read(), re.M).group(1))
    except (OSError, AttributeError):
        return 0


class Watch(threading.Thread):
    """Peaks of a server process and of its workers."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid = pid
        self.before = resident(pid)
        self.peaks = {}
        self.done = threading.Event()
        with open('/proc/%d/stat' % pid) as stat:
            self.postmaster = stat.read().rsplit(')', 1)[1].split()[1]

    def processes(self):
        found = [(self.pid, 'leader')]
        children = '/proc/%s/task/%s/children' % (2 * (self.postmaster,))
        with open(children) as file:
            for child in file.read().split():
                try:
                    with open('/proc/%s/cmdline' % child) as title:
                        if 'parallel worker for PID %d' % self.pid in title.read():
                            found.append((int(child), 'worker'))
                except OSError:
                    pass
        return found

    def run(self):
        while not self.done.wait(0.02):
            for pid, kind in self.processes():
                size = resident(pid) - (self.before if kind == 'leader' else 0)
                self.peaks[kind] = max(self.peaks.get(kind, 0), size)


class Session:
    def __init__(self):
        self.psql = subprocess.Popen(['psql', '-X', '-A', '-t', '-q', '-v', 'ON_ERROR_STOP=1'], text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def query(self, sql):
        self.psql.stdin.write(sql + ';\n\\echo @end\n')
        self.psql.stdin.flush()
        lines = []
        for line in self.psql.stdout:
            if line.strip() == '@end':
                return lines
            lines.append(line.rstrip('\n'))
        sys.exit('the session has ended: ' + sql)

    def close(self):
        self.psql.stdin.close()
        self.psql.wait()


def run(way, key, options):
    """(result, seconds, peaks, plan) of the query in a session of its own."""
    name, node, workers = way
    session = Session()
    for setting in ("work_mem = '%s'" % options.work_mem, 'hash_mem_multiplier = 2', 'enable_sort = off',
                    'gpuagg.enable_agg_scan = ' + node, 'gpuagg.min_table_pages = 0', 'gpuagg.device = cpu',
                    'max_parallel_workers_per_gather = %d' % workers, 'parallel_setup_cost = 0',
                    'parallel_tuple_cost = 0', 'temp_file_limit = -1'):
        session.query('SET ' + setting)
    prefix = '' if node == 'off' else 'gpu_'
    query = ('SELECT count(*), sum(n), sum(s), sum(hashtextextended(g::text, s)::numeric) FROM '
             '(SELECT %s AS g, %scount(*) AS n, %ssum(v) AS s FROM many GROUP BY 1 OFFSET 0) q' % (key, prefix, prefix))
    plan = ' '.join(session.query('EXPLAIN (COSTS OFF) ' + query))
    watch = Watch(int(session.query('SELECT pg_backend_pid()')[0]))
    watch.start()
    begin = time.monotonic()
    result = session.query(query)
    seconds = time.monotonic() - begin
    watch.done.set()
    watch.join()
    session.close()
    return result, seconds, watch.peaks, plan


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--groups', type=int, default=20000000)
    parser.add_argument('--work-mem', default='4MB')
    parser.add_argument('--keys', default='bigint', help='of bigint, text, numeric, by commas')
    options = parser.parse_args()
    passed = failed = 0
    session = Session()
    session.query('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS gpuagg; DROP TABLE IF EXISTS many')
    # each key once, in an order that is not that of the table, and one in ten twice
    session.query('CREATE UNLOGGED TABLE many AS SELECT i::bigint * 1000003 %% %d AS k, i %% 1000 AS v '
                  'FROM generate_series(1, %d) i' % (options.groups, options.groups * 11 // 10))
    # so that workers are planned however many groups there are
    session.query('ALTER TABLE many ALTER k SET (n_distinct = 1000); VACUUM ANALYZE many')
    print('%d groups, %s, work_mem %s' % (
        options.groups, session.query("SELECT pg_size_pretty(pg_relation_size('many'))")[0], options.work_mem))
    limit = int(session.query("SELECT pg_size_bytes('%s') / 1024 * 2" % options.work_mem)[0]) + SLACK
    print('%-8s %-18s %8s %10s %10s' % ('key', '', 'seconds', 'leader MB', 'worker MB'))
    for kind, key in KEYS:
        if kind not in options.keys.split(','):
            continue
        expected = None
        for way in WAYS:
            result, seconds, peaks, plan = run(way, key, options)
            print('%-8s %-18s %8.1f %10.1f %10.1f' % (kind, way[0], seconds, peaks.get('leader', 0) / MEGABYTE,
                                                      peaks.get('worker', 0) / MEGABYTE), flush=True)
            if way[1] == 'off':
                expected = result
                continue
            for what, holds in (('the plan', 'GpuAgg' in plan and ('Parallel' in plan) == (way[2] > 0)),
                                ('the result', result == expected),
                                ('memory, of %d MB' % (limit / MEGABYTE), max(peaks.values()) <= limit)):
                passed += holds
                failed += not holds
                if not holds:
                    print('FAILED %s, %s: %s' % (kind, way[0], what))
    session.query('DROP TABLE many')
    session.close()
    print('%d passed, %d failed' % (passed, failed))
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
