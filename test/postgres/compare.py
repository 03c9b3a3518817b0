"""compare.py: three runs of PostgreSQL's regression suite, statement by statement.

    compare.py SCRIPTS BASELINE AGAIN GPUAGG LOG [--floor NODE=N]...

SCRIPTS has the suite's .sql files, the three folders what psql printed for them: the server
without gpuagg, the same once more, and with it.  A difference is excused where it lies in a
plan's text, where the rows are the same in another order that ORDER BY leaves open, in lines
that differ between the two runs without gpuagg, and where core counts how tables were scanned
or has two answers itself.  The last two kinds are printed, and all other differences.

LOG is the third run's server log at level DEBUG1: how many statements ran each node, and the
reasons why others did not.  Fails if there was a difference, or fewer statements than a floor
of GpuAgg, "GpuAgg with workers" or GpuWindow.
"""
import argparse
import collections
import difflib
import glob
import os
import re
import sys

import psql_script

CREATES = re.compile(r'create\s+(?:or\s+replace\s+)?function\s+(?:\w+\.)?(\w+)', re.I)
EXPLAINS = re.compile(r'\bexplain\b', re.I)
WHO = re.compile(r'(CONTEXT:  )?parallel worker$')   # met the error: whichever came first
MESSAGE = re.compile(r'(NOTICE|WARNING|ERROR|FATAL|PANIC|INFO|LOG|DEBUG): ')
NODE = re.compile(r'DEBUG:  (GpuAgg|GpuWindow) (?:used( with workers)?|not used: (.*))$')
SCANS = re.compile(r'\b(seq|idx)_scan\b')
SHOWN = {
    'difference': 'DIFFERS',
    'varies': 'varies without gpuagg too',
    'follows': 'follows the plan',
}
CRASH = re.compile(r'was terminated by signal|PANIC|TRAP:|lost its device')

# Of these, core has another answer by an index, which the script makes it take, than by reading
# the table, which GpuAgg does.  The script asks for both.
BY_INDEX = re.compile(r"SELECT count\(\*\) FROM point_tbl WHERE f1 <@ polygon '")


def shows_plan(block, explainers):
    for statement in block.statements:
        if EXPLAINS.search(statement.text) and not CREATES.match(statement.text):
            return True
        if any(re.search(r'\b%s\s*\(' % name, statement.text, re.I) for name in explainers):
            return True
    return False


def messages(lines):
    return sorted(line for line in lines if MESSAGE.match(line))


def same_but_varying(one, two, ours):
    """Whether our lines are those of both runs without gpuagg wherever these are the same."""
    if len(one) != len(two):
        return True
    return len(ours) == len(one) and all(a != b or a == c for a, b, c in zip(one, two, ours))


def keys(lines, order):
    """The columns that a result is sorted by, row by row; None if they are not to tell."""
    if len(lines) < 2 or not re.match(r'[-+]+$', lines[1]):
        return None
    header = [name.strip() for name in lines[0].split('|')]
    rows = [line.split('|') for line in lines[2:] if not re.match(r'(\(\d+ rows?\))?$', line)]
    places = [int(column) - 1 if column.isdigit() else header.index(column) for column in order
              if column.isdigit() or header.count(column) == 1]
    if len(places) < len(order) or any(place >= len(header) for place in places) or \
            any(len(row) != len(header) for row in rows):
        return None
    return [[row[place] for place in places] for row in rows]


def same_rows(block, lines, ours):
    """Whether rows are the same in an order that the statement leaves open."""
    if sorted(lines) != sorted(ours):
        return False
    order = block.statements[-1].order() if block.statements else None
    if order is None:
        return True
    return bool(order) and keys(ours, order) is not None and keys(ours, order) == keys(lines, order)


def follows_plan(block, ours, answers):
    """Whether it counts scans of a table, or has an answer of core's own by another plan."""
    text = block.statements[-1].text if block.statements else ''
    return bool(SCANS.search(text)) or (bool(BY_INDEX.match(text)) and ours in answers[text])


def judge(block, one, two, ours, explainers, answers):
    if ours in (one, two):
        return 'same' if one == two else 'varies'
    if shows_plan(block, explainers):
        if messages(ours) in (messages(one), messages(two)):
            return 'plan'
    elif same_rows(block, one, ours) or same_rows(block, two, ours):
        return 'order'
    if sorted(one) != sorted(two) and same_but_varying(one, two, ours):
        return 'varies'
    return 'follows' if follows_plan(block, ours, answers) else 'difference'


def compare(name, script, folders, counts):
    """Prints the differences of one script and adds to the counts of verdicts."""
    one, two, ours = (psql_script.blocks(script, os.path.join(folder, name + '.out'))
                      for folder in folders)
    explainers = [CREATES.match(s.text).group(1) for block in one for s in block.statements
                  if CREATES.match(s.text) and EXPLAINS.search(s.text)]
    if [b.number for b in one] != [b.number for b in ours] or \
            [b.number for b in one] != [b.number for b in two]:
        print('%s: the runs did not read the same lines' % name)
        counts['difference'] += 1
        return
    answers = collections.defaultdict(list)     # of core, by the statement's text
    for block in one + two + ours:
        block.output = [line for line in block.output if not WHO.match(line)]
    for block in one:
        for statement in block.statements:
            answers[statement.text].append(block.output)
    for a, b, c in zip(one, two, ours):
        counts['statements'] += len(c.statements)
        verdict = judge(c, a.output, b.output, c.output, explainers, answers)
        counts[verdict] += 1
        if verdict not in SHOWN:
            continue
        text = c.statements[-1].text if c.statements else c.line
        print('%s, line %d: %s' % (name, c.number, SHOWN[verdict]))
        print('    ' + text[:1000].replace('\n', '\n    '))
        other = b.output if verdict == 'varies' and a.output != b.output else c.output
        for line in difflib.unified_diff(a.output, other, lineterm='', n=1):
            if not line.startswith(('---', '+++', '@@')):
                print('    | ' + line)


def read_log(path):
    used = collections.Counter()
    reasons = collections.Counter()
    crashes = 0
    with open(path, encoding='utf-8', errors='replace') as log:
        for line in log:
            match = NODE.search(line)
            if match and match.group(3) is None:
                used[match.group(1) + (match.group(2) or '')] += 1
            elif match:
                for reason in match.group(3).split('; '):
                    reasons[match.group(1), reason] += 1
            elif CRASH.search(line):
                crashes += 1
                print(line, end='')
    return used, reasons, crashes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('scripts')
    parser.add_argument('folders', nargs=3)
    parser.add_argument('log')
    parser.add_argument('--floor', action='append', default=[], metavar='NODE=N')
    arguments = parser.parse_args()

    counts = collections.Counter()
    names = sorted(os.path.basename(path)[:-len('.out')]
                   for path in glob.glob(os.path.join(arguments.folders[0], '*.out')))
    for name in names:
        script = os.path.join(arguments.scripts, name + '.sql')
        try:
            compare(name, script, arguments.folders, counts)
        except (ValueError, OSError) as error:
            print(error)
            counts['difference'] += 1
    used, reasons, crashes = read_log(arguments.log)

    print()
    print('%d scripts, %d statements compared' % (len(names), counts['statements']))
    print("differences excused: %d in a plan's text, %d in the order of rows, "
          '%d that vary without gpuagg too, %d that follow the plan' %
          (counts['plan'], counts['order'], counts['varies'], counts['follows']))
    failed = counts['difference'] + crashes
    if not names:
        failed += 1
    for node, floor in (floor.split('=') for floor in arguments.floor):
        short = used[node] < int(floor)
        failed += short
        print('%s: ran in %d statements, at least %s are asked for%s' %
              (node, used[node], floor, ': TOO FEW' if short else ''))
    print('not used in, by reason:')
    for (node, reason), times in reasons.most_common():
        print('%8d  %s: %s' % (times, node, reason))
    print('%d differences, %d crashes' % (counts['difference'], crashes))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
