"""tables.py: seeded random tables with a column of every type.

Columns: i (unique, 0, 1, ...), g (groups), h (0 to 3 or NULL), k (peers), and one
x_<name> for each name of COLUMNS.  A table is a list of rows of texts in the format
of COPY, in physical order.
"""
import os
import sys

# Python refuses to print longer integers otherwise.
getattr(sys, 'set_int_max_str_digits', lambda digits: None)(0)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'property', 'lib'))

import families  # noqa: E402
import oracle  # noqa: E402

# name of the column -> (type as in the catalogue, as declared)
COLUMNS = {'int2': ('int2', 'int2'), 'int4': ('int4', 'int4'), 'int8': ('int8', 'int8'),
           'float4': ('float4', 'float4'), 'float8': ('float8', 'float8'),
           'numeric': ('numeric', 'numeric'), 'fixed': ('numeric', 'numeric(14,3)'),
           'money': ('money', 'money'), 'interval': ('interval', 'interval'),
           'date': ('date', 'date'), 'time': ('time', 'time'),
           'timestamp': ('timestamp', 'timestamp'), 'timestamptz': ('timestamptz', 'timestamptz')}

NULL = '\\N'

SMALL = (0, 1, 2, 3, 5, 7, 31, 32, 33, 63, 64, 65, 100, 255, 256, 257)
LARGE = (999, 1000, 1001, 1023, 1024, 1025, 2047, 2048, 2049)
HUGE = (4095, 4096, 4097, 5000, 8191, 8192, 8193)


def integers(bits):
    most = 2 ** (bits - 1) - 1

    def column(rng, n):
        kind = rng.choice(('few', 'small', 'any', 'edge', 'most', 'least', 'roots', 'same'))
        # Squares just below and above a power of two.
        near = 2 ** rng.randint(1, bits - 2)
        one = rng.randint(-most - 1, most)
        draw = {'few': lambda: rng.randint(-2, 2), 'small': lambda: rng.randint(-100, 100),
                'any': lambda: rng.randint(-most - 1, most),
                'edge': lambda: rng.choice((-most - 1, -most, most, most - 1, -1, 0, 1)),
                'most': lambda: most - rng.randint(0, 5), 'least': lambda: -most - 1 + rng.randint(0, 5),
                'roots': lambda: rng.choice((1, -1)) * (near + rng.randint(-1, 1)),
                'same': lambda: one}[kind]
        return [str(draw()) for _ in range(n)]
    return column


def decimal(rng, digits, scale):
    number = str(rng.randint(0, 10 ** digits - 1)).rjust(scale + 1, '0')
    text = number[:len(number) - scale] + ('.' + number[len(number) - scale:] if scale else '')
    return rng.choice(('', '-')) + text


EDGES = ('99999999999999999999999999999999999999', '170141183460469231731687303715884105727',
         '170141183460469231731687303715884105728', '9223372036854775807', '9223372036854775808',
         '999999999999999999', '1000000000000000000', '18446744073709551616', '0.1',
         '0.00000000000000000000000000000000000001', '1e60', '5', '922337203685477.5807', '9999.9999',
         '0.0001', '10000')


def numerics(rng, n):
    kind = rng.choice(('plain', 'scales', 'short', 'long', 'huge', 'special', 'zeros', 'tiny', 'edge',
                       'ties', 'mixed', 'same', 'vast'))
    if kind == 'vast' and n > 100:
        kind = 'long'
    few = rng.choice((('NaN',), ('Infinity',), ('-Infinity',), ('Infinity', '-Infinity'),
                      ('NaN', 'Infinity')))
    one = decimal(rng, rng.randint(1, 30), rng.randint(0, 12))
    draw = {'plain': lambda: decimal(rng, 9, 2),
            'scales': lambda: decimal(rng, rng.randint(1, 18), rng.randint(0, 12)),
            'short': lambda: decimal(rng, 2, rng.randint(0, 3)),
            'long': lambda: decimal(rng, rng.randint(30, 45), rng.randint(0, 30)),
            'huge': lambda: decimal(rng, 300, rng.choice((0, 0, 150))),
            'special': lambda: rng.choice(few) if rng.random() < 0.05 else decimal(rng, 8, 3),
            'zeros': lambda: rng.choice(('0', '0.0', '0.000', '-0.00')),
            'tiny': lambda: decimal(rng, 6, rng.randint(100, 200)),
            'edge': lambda: rng.choice(('', '-')) + rng.choice(EDGES),
            'ties': lambda: rng.choice(('1', '1.0', '1.00', '1.000000', '2', '2.0', '-1', '-1.0')),
            'mixed': lambda: decimal(rng, rng.choice((4, 17, 19, 39, 80)), rng.choice((0, 2, 4, 5, 9, 38))),
            'same': lambda: one,
            # long enough to be stored out of line; exponents far apart
            'vast': lambda: rng.choice((decimal(rng, rng.choice((4500, 9000)), rng.choice((0, 3000))),
                                        '1e%d' % rng.randint(-3000, 3000), '-7.5', '0.00'))
            }[kind]
    return [draw() for _ in range(n)]


def fixed(rng, n):
    digits = rng.choice((2, 5, 11))
    return [decimal(rng, digits + 3, 3) for _ in range(n)]


def floats(form):
    def column(rng, n):
        kind = rng.random()
        if kind < 0.2:
            few = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0)
            values = [rng.choice(few) for _ in range(n)]
        else:
            values = rng.choice(families.FAMILIES)(rng, form, n)
        if kind > 0.85:
            odd = rng.choice(((float('nan'),), (float('inf'),), (float('-inf'),), (0.0, -0.0),
                              (float('inf'), float('-inf')), (form.top, -form.top)))
            values = [rng.choice(odd) if rng.random() < 0.1 else x for x in values]
        return [repr(x) for x in values]
    return column


def money(rng, n):
    kind = rng.choice(('small', 'any', 'edge', 'half', 'same'))
    most = 2 ** 63 - 1
    one = rng.randint(-10 ** 6, 10 ** 6)
    draw = {'small': lambda: rng.randint(-10 ** 6, 10 ** 6),
            'any': lambda: rng.randint(-most - 1, most) // 10 ** 4,
            'edge': lambda: rng.choice((most, -most - 1, 0, 1, -1)),
            'half': lambda: rng.choice((1, -1)) * (most // 2 + rng.randint(-1, 1)),
            'same': lambda: one}[kind]
    values = [draw() for _ in range(n)]
    return ['%s%d.%02d' % ('-' if x < 0 else '', abs(x) // 100, abs(x) % 100) for x in values]


def span(months, days, microseconds):
    size = abs(microseconds)
    return '%d mons %d days %s%d:%02d:%02d.%06d' % (
        months, days, '-' if microseconds < 0 else '+', size // 3600000000, size // 60000000 % 60,
        size // 1000000 % 60, size % 1000000)


def intervals(rng, n):
    kind = rng.choice(('small', 'small', 'ties', 'days', 'clock', 'edge', 'far'))
    most = 2 ** 31 - 1
    same = ('1 mon', '30 days', '720:00:00', '29 days 24:00:00', '1 mon 1 day', '31 days', '24:00:00',
            '1 day', '00:00:00', '1 mon -30 days', '-1 mon 30 days', '-30 days')
    edges = (0, 1, -1, most, -most, most // 2)
    draw = {'small': lambda: span(rng.randint(-50, 50), rng.randint(-100, 100),
                                  rng.randint(-10 ** 11, 10 ** 11)),
            'ties': lambda: rng.choice(same), 'days': lambda: span(0, rng.randint(-9, 9), 0),
            'clock': lambda: span(0, 0, rng.randint(-10 ** 9, 10 ** 9)),
            'edge': lambda: span(rng.choice(edges), rng.choice(edges),
                                 rng.choice((0, 1, -1, 2 ** 62, -2 ** 62))),
            'far': lambda: span(rng.randint(-10 ** 6, 10 ** 6), rng.randint(-10 ** 7, 10 ** 7),
                                rng.randint(-10 ** 17, 10 ** 17))}[kind]
    return [draw() for _ in range(n)]


def one_of(usual, edges):
    def column(rng, n):
        share = rng.choice((0, 0, 0.1, 1))
        return [rng.choice(edges) if rng.random() < share else usual(rng) for _ in range(n)]
    return column


def day(rng):
    return '%04d-%02d-%02d' % (rng.randint(1, 3000), rng.randint(1, 12), rng.randint(1, 28))


def clock(rng):
    return '%02d:%02d:%02d.%06d' % (rng.randrange(24), rng.randrange(60), rng.randrange(60),
                                    rng.randrange(10 ** 6))


def moment(rng):
    return '%s %s' % (day(rng), clock(rng))


DRAW = {'int2': integers(16), 'int4': integers(32), 'int8': integers(64),
        'float4': floats(oracle.FLOAT4), 'float8': floats(oracle.FLOAT8), 'numeric': numerics,
        'fixed': fixed, 'money': money, 'interval': intervals,
        'date': one_of(day, ('infinity', '-infinity', '4713-01-01 BC', '5874897-12-31', '2000-01-01')),
        'time': one_of(clock, ('00:00:00', '24:00:00', '23:59:59.999999')),
        'timestamp': one_of(moment, ('infinity', '-infinity', '4713-01-01 BC',
                                     '294276-12-31 23:59:59.999999', '2000-01-01')),
        'timestamptz': one_of(moment, ('infinity', '-infinity', '4713-01-02 BC',
                                       '294276-12-31 22:59:59.999999', '2000-01-01'))}


def groups(rng, n):
    """The column g: one giant group, a few, many tiny, skewed, none but NULL."""
    kind = rng.choice(('one', 'few', 'few', 'tiny', 'skewed', 'none', 'nulls'))
    few = rng.randint(2, 9)
    draw = {'one': lambda i: '0', 'few': lambda i: str(rng.randrange(few)), 'tiny': lambda i: str(i // 3),
            'skewed': lambda i: str(min(int(1 / (1.001 - rng.random())), 40)), 'none': lambda i: NULL,
            'nulls': lambda i: rng.choice((NULL, str(rng.randrange(few))))}[kind]
    return [draw(i) for i in range(n)]


class Table:
    """A table in a schema: how it is made and what is in it."""

    def __init__(self, rng, name, sizes=None):
        self.name = name
        n = rng.choice(sizes or rng.choice((SMALL, SMALL, SMALL, LARGE, LARGE, HUGE)))
        self.partitioned = rng.random() < 0.15
        self.indexed = rng.random() < 0.5
        peers = rng.choice((1, n // 3 + 1, n // 20 + 1, n + 1))
        columns = [[str(i) for i in range(n)], groups(rng, n),
                   [rng.choice(('0', '1', '2', '3', '3', NULL)) for _ in range(n)],
                   [str(rng.randrange(peers)) for _ in range(n)]]
        for column in COLUMNS:
            missing = rng.choice((0, 0, 0.1, 0.5, 0.97, 1 if rng.random() < 0.3 else 0))
            columns.append([NULL if rng.random() < missing else x for x in DRAW[column](rng, n)])
        self.rows = list(zip(*columns))
        if rng.random() < 0.5:
            rng.shuffle(self.rows)

    def create(self):
        """Statements that make it, without its rows."""
        columns = 'i int, g int, h int, k int, ' + ', '.join(
            'x_%s %s' % (c, declared) for c, (_, declared) in COLUMNS.items())
        if not self.partitioned:
            yield 'CREATE TABLE %s (%s)' % (self.name, columns)
        else:
            yield 'CREATE TABLE %s (%s) PARTITION BY HASH (g)' % (self.name, columns)
            for part in range(3):
                yield ('CREATE TABLE %s_%d PARTITION OF %s FOR VALUES WITH (MODULUS 3, REMAINDER %d)'
                       % (self.name, part, self.name, part))
        if self.indexed:
            yield 'CREATE INDEX ON %s (i)' % self.name
            yield 'CREATE INDEX ON %s (g)' % self.name

    def lines(self):
        return ['\t'.join(row) for row in self.rows]
