"""expressions.py: random expressions of every type that vector programs compute."""

INTEGERS = ('int2', 'int4', 'int8')
FLOATS = ('float4', 'float8')
ORDERED = INTEGERS + FLOATS + ('numeric', 'date', 'timestamp', 'timestamptz', 'time', 'money', 'uuid')
STRINGS = ('text', 'bpchar', 'name', 'varchar', 'bytea')
TYPES = ORDERED + STRINGS + ('bool', 'oid', 'char')

COLUMNS = {name: [name + '_a', name + '_b'] for name in TYPES}
COLUMNS.update(char=['char_a', 'char_b'], varchar=['varchar_a'],
               numeric=['numeric_a', 'numeric_b', 'numeric_w', 'numeric_a', 'numeric_b', 'numeric_u'])

LITERALS = {
    'int2': ['0::int2', '1::int2', '-1::int2', '7::int2', '32767::int2'],
    'int4': ['0', '1', '-1', '2', '3', '100', '2147483647'],
    'int8': ['0::int8', '1::int8', '-7::int8', '9223372036854775807::int8'],
    'float4': ["0::float4", "'-0'::float4", "1.5::float4", "'NaN'::float4", "3e38::float4"],
    'float8': ["0::float8", "'-0'::float8", "0.1::float8", "'Infinity'::float8", "1e308::float8"],
    'numeric': ['0.0', '1::numeric', '0.05', '-1.50', '1e-6', '123456789012345678.12', '2.5::numeric(5,2)'],
    'date': ["date '2000-01-01'", "date '1999-12-31'", "date 'infinity'"],
    'timestamp': ["timestamp '2000-01-01'", "timestamp '1970-01-01 00:00:00.5'", "timestamp '-infinity'"],
    'timestamptz': ["timestamptz '2000-01-01+00'", 'now()'],
    'time': ["time '12:00'", "time '23:59:59.999999'"],
    'money': ["'1.00'::money", "'-0.01'::money"],
    'uuid': ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid"],
    'text': ["'a'::text", "'abc'::text", "''::text", "'a%b'::text"],
    'bpchar': ["'abc'::char(5)", "'a'::char(4)"],
    'name': ["'abc'::name"],
    'varchar': ["'abc'::varchar(8)"],
    'bytea': ["'\\x61'::bytea"],
    'bool': ['true', 'false'],
    'oid': ['1::oid', '4294967295::oid'],
    'char': ["'a'::\"char\""],
}
INTERVALS = ['1 day', '-3 days', '1 hour', '-90 seconds', '2 days -5 hours', '0.000001 seconds', '1 month',
             '100000 days', '10000000 hours']
TRUNCS = ['microseconds', 'millisecond', 'second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year',
          'decade', 'century', 'millennium']
FIELDS = TRUNCS + ['dow', 'isodow', 'doy', 'isoyear', 'epoch', 'julian']
PATTERNS = ['a%', '%b', '%b%', 'a%c', 'a_c', 'a\\%b', '%', '', 'abc', '%ä%', '%X%X%']


def written(name):
    """A type's name in SQL, where char is another type than "char"."""
    return '"char"' if name == 'char' else name


class Writer:
    """Expressions of a type, at random."""

    def __init__(self, rng, columns=None, initplans=0):
        """columns: lists of names by type; initplans: the share of leaves that are subqueries."""
        self.rng = rng
        self.columns = COLUMNS if columns is None else columns
        self.initplans = initplans

    def leaf(self, name):
        if self.rng.random() < 0.75 and self.columns.get(name):
            return self.rng.choice(self.columns[name])
        if self.initplans and self.rng.random() < self.initplans:
            return '(SELECT %s)' % self.rng.choice(LITERALS[name])
        if self.rng.random() < 0.05:
            return 'NULL::' + written(name)
        return self.rng.choice(LITERALS[name])

    def expression(self, name, depth):
        if depth <= 0 or self.rng.random() < 0.15:
            return self.leaf(name)
        ways = [self.any_type] * 2
        own = getattr(self, 'of_' + ('integer' if name in INTEGERS else 'float' if name in FLOATS else name), None)
        if own is not None:
            ways += [own] * 5
        return self.rng.choice(ways)(name, depth - 1)

    def any_type(self, name, depth):
        way = self.rng.randrange(6)
        one = self.expression(name, depth)
        if way == 0:
            return 'CASE WHEN %s THEN %s ELSE %s END' % (self.expression('bool', depth), one,
                                                         self.expression(name, depth))
        if way == 1:
            return 'CASE WHEN %s THEN %s WHEN %s THEN %s END' % (
                self.expression('bool', depth), one, self.expression('bool', depth), self.expression(name, depth))
        if way == 2:
            other = self.rng.choice(('int4', 'text', 'date', 'numeric'))
            return 'CASE %s WHEN %s THEN %s ELSE %s END' % (
                self.expression(other, depth - 1), self.leaf(other), one, self.expression(name, depth - 1))
        if way == 3:
            return 'coalesce(%s, %s)' % (one, self.expression(name, depth))
        if way == 4:
            return 'nullif(%s, %s)' % (one, self.expression(name, depth))
        if name == 'char':
            return one
        return '%s(%s, %s)' % (self.rng.choice(('least', 'greatest')), one, self.expression(name, depth))

    def of_bool(self, name, depth):
        rng = self.rng
        way = rng.randrange(10)
        if way < 3:
            kind = rng.choice(TYPES)
            other = kind
            if kind in INTEGERS + FLOATS + ('numeric',) and rng.random() < 0.3:
                other = rng.choice(INTEGERS + FLOATS + ('numeric',))
            if kind in ('date', 'timestamp') and rng.random() < 0.3:
                other = rng.choice(('date', 'timestamp'))
            return '(%s %s %s)' % (self.expression(kind, depth), rng.choice(('=', '<>', '<', '<=', '>', '>=')),
                                   self.expression(other, depth))
        if way < 6:
            return '(%s %s %s)' % (self.expression('bool', depth), rng.choice(('AND', 'OR')),
                                   self.expression('bool', depth))
        if way == 6:
            return '(NOT %s)' % self.expression('bool', depth)
        if way == 7:
            if rng.random() < 0.5:
                return '(%s IS %s)' % (self.expression('bool', depth), rng.choice(
                    ('TRUE', 'NOT TRUE', 'FALSE', 'NOT FALSE', 'UNKNOWN', 'NOT UNKNOWN')))
            return '(%s IS %sNULL)' % (self.expression(rng.choice(TYPES), depth), rng.choice(('', 'NOT ')))
        kind = rng.choice(TYPES)
        if way == 8:
            if rng.random() < 0.3:
                return '(%s IS %sDISTINCT FROM %s)' % (self.expression(kind, depth), rng.choice(('', 'NOT ')),
                                                       self.expression(kind, depth))
            if rng.random() < 0.3:
                return '(%s %sLIKE %s)' % (rng.choice(self.columns.get('text') or ["'abc'::text"]),
                                           rng.choice(('', 'NOT ')), "'%s'" % rng.choice(PATTERNS))
            return '(%s BETWEEN %s AND %s)' % (self.expression(kind, depth), self.leaf(kind), self.leaf(kind))
        values = [rng.choice(LITERALS[kind]) for _ in range(rng.choice((1, 2, 3, 12)))]
        if rng.random() < 0.2:
            values.append('NULL')
        return '(%s %sIN (%s))' % (self.expression(kind, depth), rng.choice(('', 'NOT ')), ', '.join(values))

    def of_integer(self, name, depth):
        rng = self.rng
        way = rng.randrange(8)
        if way < 4:
            smaller = INTEGERS[:INTEGERS.index(name) + 1]
            pair = [self.expression(name, depth), self.expression(rng.choice(smaller), depth)]
            rng.shuffle(pair)
            return '(%s %s %s)' % (pair[0], rng.choice('++--**/'), pair[1])
        if way == 4:
            return '(%s %% %s)' % (self.expression(name, depth), self.expression(name, depth))
        if way == 5:
            return '%s(%s)' % (rng.choice(('- ', 'abs')), self.expression(name, depth))
        if name == 'int4' and rng.random() < 0.4:
            return rng.choice(('(%s - %s)' % (self.expression('date', depth), self.expression('date', depth)),
                               'length(%s)' % self.expression('text', depth),
                               '%s::int4' % self.expression('bool', depth)))
        source = rng.choice([t for t in INTEGERS + FLOATS + ('numeric',) if t != name])
        return '(%s)::%s' % (self.expression(source, depth), name)

    def of_float(self, name, depth):
        rng = self.rng
        way = rng.randrange(7)
        if way < 4:
            return '(%s %s %s)' % (self.expression(name, depth), rng.choice('+-*/'), self.expression(name, depth))
        if way == 4:
            return '%s(%s)' % (rng.choice(('- ', 'abs', '+') if name == 'float4' else ('- ', 'abs', 'sqrt')),
                               self.expression(name, depth))
        if way == 5 and name == 'float8':
            return rng.choice(('(%s / %s)' % (self.expression('money', depth), self.expression('money', depth)),
                               'date_part(\'%s\', %s)' % (rng.choice(FIELDS), self.expression('timestamp', depth)),
                               '(%s + %s)' % (self.expression('float4', depth), self.expression('float8', depth))))
        source = rng.choice([t for t in INTEGERS + FLOATS + ('numeric',) if t != name])
        return '(%s)::%s' % (self.expression(source, depth), name)

    def of_numeric(self, name, depth):
        rng = self.rng
        way = rng.randrange(9)
        if way < 5:
            other = rng.choice(('numeric', 'numeric', 'int4', 'int8'))
            return '(%s %s %s)' % (self.expression('numeric', depth), rng.choice('++--***/%'),
                                   self.expression(other, depth))
        if way == 5:
            return rng.choice(('(- %s)', 'abs(%s)', 'round(%s, 1)', 'round(%s, 4)', 'round(%s)')) % (
                self.expression('numeric', depth))
        if way == 6:
            return '(%s)::numeric%s' % (self.expression(rng.choice(INTEGERS + ('numeric',)), depth),
                                        rng.choice(('', '(10,2)', '(15,4)', '(38,6)', '(5,0)', '(25,10)')))
        kind = rng.choice(('timestamp', 'date', 'time', 'timestamptz'))
        return 'extract(%s FROM %s)' % (rng.choice(FIELDS), self.expression(kind, depth))

    def of_money(self, name, depth):
        rng = self.rng
        money = self.expression('money', depth)
        if rng.random() < 0.5:
            return '(%s %s %s)' % (money, rng.choice('+-'), self.expression('money', depth))
        return '(%s %s %s)' % (money, rng.choice('*/'), self.expression(rng.choice(INTEGERS), depth))

    def interval(self):
        return "interval '%s'" % self.rng.choice(INTERVALS)

    def of_date(self, name, depth):
        rng = self.rng
        if rng.random() < 0.7:
            return '(%s %s %s)' % (self.expression('date', depth), rng.choice('+-'),
                                   self.expression('int4', depth))
        return '(%s)::date' % self.expression(rng.choice(('timestamp', 'timestamptz')), depth)

    def of_timestamp(self, name, depth):
        rng = self.rng
        way = rng.randrange(6)
        stamp = self.expression('timestamp', depth)
        if way < 2:
            return '(%s %s %s)' % (rng.choice((stamp, self.expression('date', depth))), rng.choice('+-'),
                                   self.interval())
        if way == 2:
            return "date_trunc('%s', %s)" % (rng.choice(TRUNCS), stamp)
        if way == 3:
            return "date_bin(interval '%s', %s, timestamp '%s')" % (
                rng.choice(('15 minutes', '1 day 1 second', '7 days')), stamp,
                rng.choice(('2001-01-01', '1600-02-29 01:02:03')))
        if way == 4:
            return '(%s + %s)' % (self.expression('date', depth), self.expression('time', depth))
        return '(%s)::timestamp' % self.expression('date', depth)

    def of_timestamptz(self, name, depth):
        rng = self.rng
        stamp = self.expression('timestamptz', depth)
        if rng.random() < 0.5:
            return '(%s %s %s)' % (stamp, rng.choice('+-'), self.interval())
        return "date_trunc('%s', %s)" % (rng.choice(('milliseconds', 'second', 'hour', 'day')), stamp)

    def of_time(self, name, depth):
        if self.rng.random() < 0.7:
            return '(%s %s %s)' % (self.expression('time', depth), self.rng.choice('+-'), self.interval())
        return '(%s)::time' % self.expression('timestamp', depth)

    def of_text(self, name, depth):
        rng = self.rng
        way = rng.randrange(4)
        if way == 0:
            return '(%s)::text' % self.expression(rng.choice(('bpchar', 'name', 'varchar')), depth)
        return rng.choice(('upper(%s)', 'left(%s, 2)', '(%s || \'x\')')) % self.expression('text', depth)
