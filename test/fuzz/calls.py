"""calls.py: one call of an aggregate or running function, as ours and as what it is compared with.

Where core's result is exact and does not depend on order, the other side is core's
function of the same name.  Elsewhere it is array_agg of the same rows in a form
that loses nothing, from which Worth computes what must come out.
"""
from decimal import Decimal
import math
import struct

import oracle

FLOATS = {'float4': oracle.FLOAT4, 'float8': oracle.FLOAT8}
BY_VALUE = ('int2', 'int4', 'int8', 'money', 'date', 'time', 'timestamp', 'timestamptz')
NUMBERS = ('int2', 'int4', 'int8', 'float4', 'float8', 'numeric')

# Every aggregate and the types that it must have.
PROMISED = {'sum': NUMBERS + ('money', 'interval'), 'avg': NUMBERS + ('interval',),
            'min': NUMBERS + ('interval',) + BY_VALUE[3:], 'max': NUMBERS + ('interval',) + BY_VALUE[3:],
            'count': NUMBERS + ('interval',) + BY_VALUE[3:]}
PROMISED.update({name: NUMBERS for name in oracle.VARIANCES})
MERGED = ('sum', 'avg') + tuple(oracle.VARIANCES)
PROMISED.update({name + '_merge': PROMISED[name] for name in MERGED})
PROMISED.update({'running_' + name: PROMISED[name] for name in ('sum', 'avg', 'min', 'max', 'count')})

# What a column may hold instead of one text.
UNKNOWN = object()


class Call:
    """function: the name without gpu_; kind: the type of the argument; argument: None for *."""

    def __init__(self, function, kind, argument, distinct=False, order='', where='', over='',
                 exclusive=False):
        self.function, self.kind, self.argument = function, kind, argument
        self.distinct, self.order, self.where = distinct, order, where
        self.over = over
        self.exclusive = exclusive

    @property
    def core_name(self):
        return self.function.replace('running_', '').replace('_merge', '')

    @property
    def running(self):
        return self.function.startswith('running_')

    def result(self):
        """The type of the result."""
        name, kind = self.core_name, self.kind
        if name == 'count':
            return 'int8'
        if name in ('min', 'max') or kind in ('money', 'interval'):
            return kind
        if kind in FLOATS:
            return kind if name == 'sum' else 'float8'
        return 'int8' if name == 'sum' and kind in ('int2', 'int4') else 'numeric'

    def by_array(self):
        """Whether core cannot say what must come out."""
        if self.core_name == 'count':
            return False
        return self.kind in FLOATS or (
            self.core_name in ('min', 'max') and self.kind in ('numeric', 'interval'))

    def can_be_exact(self):
        """Whether core may fail where the exact result is in range."""
        return self.core_name in ('sum', 'avg') and self.kind in ('money', 'interval')

    def tail(self):
        tail = ' FILTER (WHERE %s)' % self.where if self.where else ''
        return tail + (' OVER %s' % self.over if self.over else '')

    def inside(self, argument):
        return '%s%s%s' % ('DISTINCT ' if self.distinct else '', argument,
                           ' ORDER BY ' + self.order if self.order else '')

    def show(self, value):
        """A result as text that tells all different ones apart."""
        result = self.result()
        if result in FLOATS or result == 'interval':
            send = 'interval_send' if result == 'interval' else result + 'send'
            return "encode(%s(%s), 'hex')" % (send, value)
        if result == 'money':
            return '(%s)::numeric' % value
        if result == 'numeric' and self.distinct:
            # which of several equal values DISTINCT keeps depends on the plan
            return 'trim_scale(%s)' % value
        return value

    def state(self, name):
        """An aggregate of the state `name` (sum, avg or var) of the values."""
        return 'gpu_%s_state(%s)%s' % (name, self.argument, self.tail())

    def ours(self, shown=True):
        if self.function.endswith('_merge'):
            value = 'gpu_%s(s, NULL::%s)' % (self.function, self.result())
        elif self.argument is None:
            value = 'gpu_count(*)' + self.tail()
        elif self.running:
            value = 'gpu_%s(%s%s)%s' % (self.function, self.argument, ', true' if self.exclusive else '',
                                        self.tail())
        else:
            value = 'gpu_%s(%s)%s' % (self.function, self.inside(self.argument), self.tail())
        return self.show(value) if shown else value

    def core(self, shown=True):
        over = self.over
        if self.exclusive:
            over = over.replace('ROWS UNBOUNDED PRECEDING',
                                'ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING')
        call = Call(self.core_name, self.kind, self.argument, self.distinct, self.order, self.where, over)
        value = '%s(%s)%s' % (self.core_name, '*' if self.argument is None
                              else self.inside(self.argument), call.tail())
        return self.show(value) if shown else value

    def raw(self):
        """The argument in a form from which its value can be had exactly."""
        if self.kind in FLOATS:
            return "encode(%ssend(%s), 'hex')" % (self.kind, self.argument)
        if self.kind == 'interval':
            return "encode(interval_send(%s), 'hex')" % self.argument
        if self.kind == 'money':
            return '(%s)::numeric::text' % self.argument
        return '(%s)::text' % self.argument

    def array(self):
        return 'array_agg(%s)%s' % (self.raw(), self.tail())

    def worth(self):
        return Worth(self)


class Worth:
    """The right result for the values added so far, given by expected()."""

    def __init__(self, call):
        self.call = call
        self.name = call.core_name
        self.kind = call.kind
        self.form = FLOATS.get(self.kind)
        self.values = set() if call.distinct else None
        self.best = None
        self.count = 0
        if self.form:
            self.total = oracle.Sum() if self.name == 'sum' else oracle.Moments()
        elif self.kind == 'interval':
            self.total = [0, 0, 0]
            self.infinite = False
        else:
            self.total = 0

    def add(self, text):
        """One value as raw() shows it; the empty text is NULL."""
        if text in ('', 'NULL'):
            return
        if self.values is not None:
            same = self.key(text)[0] if not self.form else value_of(text, self.form) + 0.0
            same = 'NaN' if same != same else same
            if same in self.values:
                return
            self.values.add(same)
        self.count += 1
        if self.name in ('min', 'max'):
            key = self.key(text)
            if self.best is None or (key > self.best[0] if self.name == 'max' else self.smaller(key)):
                self.best = key, text
        elif self.form:
            self.total.add(value_of(text, self.form))
        elif self.kind == 'interval':
            fields = interval_of(text)
            self.infinite |= fields[0] in (2 ** 31 - 1, -2 ** 31)
            self.total = [a + b for a, b in zip(self.total, fields)]
        else:
            self.total += Decimal(text)

    def key(self, text):
        """(value, which of equal values)."""
        if self.form:
            return ordered(value_of(text, self.form)), 0
        if self.kind == 'interval':
            months, days, time = interval_of(text)
            return time + (months * 30 + days) * 86400000000, (months, days, time)
        value = Decimal(text)
        value = (1, 0) if value.is_nan() else (0, value)
        return value, len(text.partition('.')[2])

    def smaller(self, key):
        """Of equal numerics the one with the largest scale is both minimum and maximum."""
        if self.kind == 'numeric':
            return (key[0], -key[1]) < (self.best[0][0], -self.best[0][1])
        return key < self.best[0]

    def expected(self):
        """The texts that may come out: a set, oracle.OVERFLOW, or UNKNOWN."""
        if self.count == 0:
            return {''}
        if self.name in ('min', 'max'):
            return self.extreme()
        if not self.form:
            return self.field_sum()
        form = oracle.FLOAT8
        if self.name == 'sum':
            form = self.form
            value = self.total.result(form)
        elif self.name == 'avg':
            value = self.total.average()
        else:
            value = self.total.variance(*oracle.VARIANCES[self.name])
        if value is None:
            return {''}
        if value == oracle.OVERFLOW:
            return value
        texts = {form.hex(value)}
        if self.call.distinct and value == 0:
            texts.add(form.hex(-value))
        return texts

    def extreme(self):
        _, text = self.best
        if self.form:
            value = value_of(text, self.form)
            if self.call.distinct and value == 0:
                return {self.form.hex(0.0), self.form.hex(-0.0)}
            return {self.form.hex(value)}
        if not self.call.distinct:
            return {text}
        if self.kind == 'numeric':
            return {trimmed(text)}
        return UNKNOWN

    def field_sum(self):
        if self.kind == 'money':
            if not -2 ** 63 <= self.total * 100 < 2 ** 63:
                return oracle.OVERFLOW
            return {str(self.total)}
        months, days, time = self.total
        if self.infinite or self.name == 'avg':
            return UNKNOWN
        if not all(-2 ** 31 <= x < 2 ** 31 for x in (months, days)) or not -2 ** 63 <= time < 2 ** 63:
            return oracle.OVERFLOW
        return {struct.pack('>qii', time, days, months).hex()}


def trimmed(text):
    return text.rstrip('0').rstrip('.') if '.' in text else text


CACHE = {}


def value_of(text, form):
    value = CACHE.get(text)
    if value is None:
        if len(CACHE) > 200000:
            CACHE.clear()
        value = CACHE[text] = struct.unpack(form.pack, bytes.fromhex(text))[0]
    return value


def interval_of(text):
    """(months, days, microseconds)."""
    time, days, months = struct.unpack('>qii', bytes.fromhex(text))
    return months, days, time


def ordered(x):
    """A key with -0 before 0 and NaN after all."""
    if x != x:
        return (1, 0)
    return (0, x, math.copysign(1, x))


def elements(text):
    """The elements of an array as array_agg shows it."""
    return text[1:-1].split(',') if text else []
