"""psql.py: runs a script of checks through one psql session.

The connection is that of the environment (PGHOST, PGPORT, PGUSER, PGDATABASE).
Every check is one statement.  What it printed and the SQLSTATE it ended with
are read back from the session's standard output, so that errors and rows keep
their order.
"""
import subprocess
import sys

MARK = '@check'


class Script:
    """Statements and checks in the order in which one session runs them."""

    def __init__(self):
        self.parts = ['\\set QUIET on\n\\set VERBOSITY sqlstate\n'
                      'SET client_min_messages = warning;\n']
        self.expected = []
        self.silent = []

    def sql(self, statement):
        """A statement that must succeed and whose output does not matter."""
        self.silent.append(statement)
        self.parts.append('\\o /dev/null\n%s;\n\\o\n\\echo %s s%d :SQLSTATE\n'
                          % (statement, MARK, len(self.silent) - 1))

    def copy(self, target, lines):
        """COPY target FROM STDIN; lines are in the text format, without newlines."""
        self.silent.append('COPY ' + target)
        self.parts.append('COPY %s FROM STDIN;\n%s\\.\n\\echo %s s%d :SQLSTATE\n'
                          % (target, ''.join(line + '\n' for line in lines), MARK,
                             len(self.silent) - 1))

    def check(self, label, statement, rows=None, state='00000'):
        """A statement that must print rows and end in state.

        rows is a list of lines, None for any, or a function that says what is
        wrong with the lines, or None.
        """
        self.expected.append((label, statement, rows, state))
        self.parts.append('%s;\n\\echo %s c%d :SQLSTATE\n'
                          % (statement, MARK, len(self.expected) - 1))

    def ask(self, label, statement, verdict):
        """A statement whose outcome verdict(rows, state) judges: what is wrong, or None."""
        self.check(label, statement, verdict, None)

    def run(self):
        """Runs the session; returns a list of (label, what is wrong or None)."""
        done = subprocess.run(['psql', '-X', '-A', '-t', '-v', 'ON_ERROR_STOP=0'],
                              input=''.join(self.parts), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        results = [(label, 'not reached') for label, _, _, _ in self.expected]
        rows = []
        for line in done.stdout.splitlines():
            if not line.startswith(MARK + ' '):
                rows.append(line)
                continue
            _, which, state = line.split(' ')
            number = int(which[1:])
            if which[0] == 's':
                if state != '00000':
                    sys.stderr.write(done.stderr[:4000])
                    sys.exit('%s: error %s' % (self.silent[number][:200], state))
            else:
                label, statement, want, want_state = self.expected[number]
                results[number] = (label, judge(statement, rows, state, want, want_state))
            rows = []
        if done.returncode != 0:
            sys.stderr.write(done.stderr[:4000])
        return results


def judge(statement, rows, state, want, want_state):
    """What is wrong with a check's outcome, in a few lines; None when nothing is."""
    if want_state is None:
        return want(rows, state)
    if state != want_state:
        return 'SQLSTATE %s, expected %s: %s' % (state, want_state, statement[:300])
    if state != '00000' or want is None or rows == want:
        return None
    if callable(want):
        wrong = want(rows)
        return wrong and '%s: %s' % (wrong, statement[:300])
    for number, (got, expect) in enumerate(zip(rows, want)):
        if got != expect:
            return ('line %d of %d is %s, expected %s: %s'
                    % (number + 1, len(want), got, expect, statement[:300]))
    return '%d lines, expected %d: %s' % (len(rows), len(want), statement[:300])


class Tally:
    """Counts checks and prints the failing ones, the first of them."""

    def __init__(self, what, shown=20):
        self.what = what
        self.shown = shown
        self.passed = 0
        self.failed = 0

    def add(self, results, describe=lambda label: str(label)):
        for label, wrong in results:
            if wrong is None:
                self.passed += 1
            else:
                self.failed += 1
                if self.failed <= self.shown:
                    print('FAILED %s: %s' % (describe(label), wrong))

    def truth(self, label, holds):
        self.add([(label, None if holds else 'does not hold')])

    def finish(self):
        """Prints the counts and ends the program."""
        print('%s: %d passed, %d failed' % (self.what, self.passed, self.failed))
        print('%d passed, %d failed' % (self.passed, self.failed))
        sys.exit(1 if self.failed or not self.passed else 0)


def query(statement):
    """The lines that a statement prints in a session of its own."""
    done = subprocess.run(['psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1'],
                          input=statement + ';\n', stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit('psql ended with %d' % done.returncode)
    return done.stdout.splitlines()


def succeeds(statement):
    """Whether a statement does, in a session of its own."""
    done = subprocess.run(['psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1'], input=statement + ';\n',
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
    return done.returncode == 0


def batch_sizes(wanted):
    """The values of wanted that gpuagg.batch_rows accepts, its least and its default."""
    limits = query("LOAD 'gpuagg'; SELECT min_val, max_val, boot_val FROM pg_settings "
                   "WHERE name = 'gpuagg.batch_rows'")
    least, most, default = (int(x) for x in limits[-1].split('|'))
    return sorted({least, default} | {x for x in wanted if least <= x <= most})
