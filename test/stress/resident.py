#!/usr/bin/env python3
"""resident.py: aggregates over tables that change all the time, by columns in memory and by core.

Writers change a few tables in many ways; readers, and the writers themselves, compute aggregates
by the node GpuAgg over resident columns and by core's plans, both in one snapshot, and compare.
A check is one result of the node compared.  Writers rest more when less than 60 % of the last
checks used pages confirmed at level 1, and vacuum more when less than 18 % used some at level 2.
A slow machine makes fewer checks; no result depends on timing.

It runs in a cluster of its own, as the server's user, with max_prepared_transactions of at least
20 for two-phase commits:
    test/cluster run DIR NAME python3 DIR/test/stress/resident.py --seconds 60 --crash
"""
import argparse
import os
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

import checks  # noqa: E402
import ground  # noqa: E402
from crashes import Crashes, ServerLog  # noqa: E402
from readers import Reader  # noqa: E402
from run import Run  # noqa: E402
from session import Lost, Session  # noqa: E402
from writers import Writer  # noqa: E402

# Seconds after which a session that has not ended hangs, and then the program.
LAST_TURN = 200
WATCHDOG = 300


def options():
    parser = argparse.ArgumentParser(description='Aggregates over changing tables, from memory and by core.')
    parser.add_argument('--seconds', type=int, default=60)
    parser.add_argument('--seed', type=int, default=None, help='default: that of the clock')
    parser.add_argument('--writers', type=int, default=3)
    parser.add_argument('--readers', type=int, default=4)
    parser.add_argument('--checks', type=int, default=0, metavar='N', help='end earlier, after so many')
    parser.add_argument('--tables', type=int, default=6)
    parser.add_argument('--scale', type=float, default=1, help='of the tables')
    parser.add_argument('--set', action='append', default=[], metavar='NAME=VALUE', help='a setting of all sessions')
    parser.add_argument('--crash', action='store_true', help='kill backends and the server now and then')
    parser.add_argument('--floor', type=int, default=1, help='the fewest checks')
    parser.add_argument('--least-level1', type=float, default=0, metavar='PERCENT',
                        help='the least share of checks that used pages confirmed at level 1')
    parser.add_argument('--least-level2', type=float, default=0, metavar='PERCENT')
    return parser.parse_args()


def prepare(arguments, seed):
    """The tables and functions; the run, whose time begins when they are there."""
    run = Run(arguments.seconds, arguments.checks, seed, {})
    session = Session(run, 'setup', ("LOAD 'gpuagg'",))
    try:
        session.open()
        features = ground.features(session)
        for gid in session.ask("SELECT gid FROM pg_prepared_xacts WHERE gid LIKE 'stress\\_%'").rows:
            session.ask("ROLLBACK PREPARED '%s'" % gid)
        wrong = ground.make(session, features['folder'])
        outcome = session.ask(checks.AGAIN)
        wrong = wrong or (None if outcome.done else outcome.message)
    except Lost as lost:
        wrong = str(lost)
    session.close()
    if wrong:
        sys.exit('stress: the tables cannot be made: %s' % wrong)
    return Run(arguments.seconds, arguments.checks, seed, features)


def percent(part, whole):
    return 100 * part / whole if whole else 0


def report(run, arguments):
    """Prints the counts; how much was demanded and is not there."""
    totals = run.totals
    for event, times in sorted(run.events.items()):
        print('%9d %s' % (times, event))
    for kind, counts in sorted(run.kinds.items()):
        print('%9d checks, level 1 %.1f %%, level 2 %.1f %%: %s' % (
            counts['checks'], percent(counts['with level 1'], counts['checks']), percent(counts['with level 2'], counts['checks']), kind))
    print('seed %d, %.0f s, %.0f checks a second, %.1f %% by the node' % (
        run.seed, run.now(), totals['checks'] / run.now(), percent(totals['by the node'], totals['checks'])))
    print('pages from memory at level 1 %d, at level 2 %d, read %d, filled %d; chunks skipped %d' % (
        totals['level 1'], totals['level 2'], totals['read'], totals['filled'], totals['chunks skipped']))
    demands = [('checks', totals['checks'], arguments.floor),
               ('percent of checks with level 1', percent(totals['with level 1'], totals['checks']), arguments.least_level1),
               ('percent of checks with level 2', percent(totals['with level 2'], totals['checks']), arguments.least_level2)]
    missed = [d for d in demands if d[1] < d[2]]
    for what, got, least in missed:
        print('FAILED %s: %.1f, at least %.1f wanted' % (what, got, least))
    print('checks %d wrong %d level1 %.1f%% level2 %.1f%%' % (
        totals['checks'], totals['wrong'], percent(totals['with level 1'], totals['checks']),
        percent(totals['with level 2'], totals['checks'])))
    return len(missed)


def end(run, arguments):
    """Reports, and ends the program without waiting for threads that hang."""
    failed = report(run, arguments) + run.failures
    print('%d passed, %d failed' % (not failed, failed))
    sys.stdout.flush()
    os._exit(1 if failed else 0)


def watch(run, arguments):
    """Ends a program that does not end by itself."""
    time.sleep(max(0, run.end - time.monotonic()) + WATCHDOG)
    run.fail('the program does not end')
    end(run, arguments)


def main():
    arguments = options()
    seed = int(time.time()) if arguments.seed is None else arguments.seed
    ground.scale(arguments.tables, arguments.scale)
    settings = tuple("SET %s = '%s'" % tuple(s.split('=', 1)) for s in arguments.set)
    print('seed %d' % seed, flush=True)
    run = prepare(arguments, seed)
    threading.Thread(target=watch, args=(run, arguments), daemon=True).start()
    if not run.features['prepared']:
        print('max_prepared_transactions is 0: no two-phase commits')
    # who ends it early gets the counts so far
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: run.stopped.set())
    log = ServerLog(run.features['folder'])
    actors = [Writer(run, n, settings) for n in range(arguments.writers)]
    actors += [Reader(run, n, settings) for n in range(arguments.readers)]
    if arguments.crash:
        actors.append(Crashes(run, log))
    threads = [threading.Thread(target=guarded, args=(run, actor), daemon=True) for actor in actors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(1, run.end + LAST_TURN - time.monotonic()))
        if thread.is_alive():
            run.fail('a session does not end')
    for line in log.bad(arguments.crash):
        run.fail('the server log has: ' + line)
    if run.events['connections lost'] and not arguments.crash:
        run.fail('%d connections were lost' % run.events['connections lost'])
    end(run, arguments)


def guarded(run, actor):
    """An error of the program itself is a failure of the run."""
    try:
        actor.work()
    except Exception as error:
        run.fail('%s: %s: %s' % (actor.__class__.__name__, type(error).__name__, error))
        raise


if __name__ == '__main__':
    main()
