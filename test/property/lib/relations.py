"""relations.py: random tables with columns of every type, and what is done to them."""
import expressions

# beside what expressions.py knows
OTHERS = ('interval', 'jsonb', 'int4[]', 'mood', 'small_number', 'timetz', 'inet', 'varbit', 'int4range', 'pair',
          'macaddr', 'xid8', 'json', 'point')
# of these, what can be a key
KEYS = tuple(t for t in OTHERS if t not in ('varbit', 'json', 'point'))
LENGTHS = {'bpchar': 'char(5)', 'varchar': 'varchar(8)'}
NUMERICS = ('numeric(15,2)', 'numeric(10,4)', 'numeric(30,6)', 'numeric')

# Values at the ends of types, from the lists that a function picks from.
EDGES = {
    'bool': 't,f', 'int2': '-32768,-7,-1,0,1,2,32767',
    'int4': '-2147483648,-46341,-1,0,1,2,46341,2147483647',
    'int8': '-9223372036854775808,-3037000500,-1,0,1,3,9007199254740993,9223372036854775807',
    'oid': '0,1,1259,4294967295', '"char"': 'a,b,A',
    'float4': '0,-0,1,-2.5,3.4e38,1e-45,NaN,Infinity,-Infinity',
    'float8': '0,-0,1,-2.5,0.1,1e300,-1.7e308,5e-324,1e-310,NaN,Infinity,-Infinity',
    'numeric(15,2)': '0,0.01,-0.01,9999999999999.99,-9999999999999.99,1.50,NaN',
    'numeric(10,4)': '0,0.0001,-0.5,999999.9999,-999999.9999',
    'numeric(30,6)': '0,0.000001,999999999999999999999999.999999,-123456789012345678901234.123456',
    'numeric': '0,0.0,1,1.0,1.000,1e40,-1e-30,NaN,Infinity,123456789012345678901234567890.5',
    'money': '0,0.01,-0.01,92233720368547758.07,-92233720368547758.08',
    'date': '4714-11-24 BC,1999-12-31,2000-01-01,2000-02-29,5874897-12-31,infinity,-infinity',
    'time': '00:00,00:00:00.000001,23:59:59.999999,24:00',
    'timestamp': '4714-11-24 00:00:00 BC,1969-12-31 23:59:59.999999,2000-01-01,294276-12-31 23:59:59,infinity',
    'timestamptz': '4714-11-24 00:00:00+00 BC,1969-12-31 23:59:59.999999+00,2000-01-01+00,infinity,-infinity',
    'text': '"",a,ab,abc,"abc ",aXbXc,a%b,äöü,日本', 'name': '"",a,abc,äöü', 'char(5)': '"",a,"a ",abc,äöü',
    'varchar(8)': '"",a,"a ",abc,äöü', 'bytea': r'"\\x","\\x00","\\x61","\\x6100"',
    'uuid': '00000000-0000-0000-0000-000000000000,a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
    'interval': '0,1 day,24:00,1 mon,30 days,-3 hours,-1 mon 30 days',
    'jsonb': '1,1.0,"{\\"a\\":2}","null"', 'mood': 'sad,ok,happy',
    'small_number': '0,0.001,-99999.999', 'timetz': '00:00+00,24:00-15,12:00+05:45,06:15+00',
    'inet': '10.0.0.1,10.0.0.0/8,::1,::ffff:1.2.3.4/64', 'varbit': '0,1,101,00000000000000000000000000000000000',
    'int4range': '"empty","[1,5)","(,)","(,7]"', 'pair': '"(1,a)","(,)","(-1,\\"\\")"',
    'macaddr': '00:00:00:00:00:00,ff:ff:ff:ff:ff:ff', 'xid8': '0,18446744073709551615,7',
    'json': '1,"null"', 'point': '"(0,0)","(NaN,1)"',
}
# Values of which sums, products and the like stay in range; n: the row's number.
TAME = {
    'bool': 'random() < 0.5', 'int2': '(random() * 100 - 50)::int2', 'int4': '(random() * 2000 - 1000)::int4',
    'int8': '(random() * 1e6 - 5e5)::int8', 'oid': '(random() * 50)::int4::oid',
    '"char"': 'chr(97 + (random() * 5)::int)::"char"', 'float4': '(random() * 100 - 50)::float4',
    'float8': 'random() * 1000 - 500', 'money': '(random() * 1000)::numeric::money',
    'numeric(15,2)': '(random() * 1e6)::numeric', 'numeric(10,4)': '(random() * 1e4 - 5e3)::numeric',
    'numeric(30,6)': '(random() * 1e9)::numeric * 1000000', 'numeric': '(random() * 1000)::numeric',
    'date': "date '2000-01-01' + (random() * 1000)::int", 'time': "time '00:00' + random() * interval '23 hours'",
    'timestamp': "timestamp '2000-01-01' + random() * interval '1000 days'",
    'timestamptz': "timestamptz '2000-01-01' + random() * interval '1000 days'",
    'text': "repeat(chr(97 + n % 7), (random() * 12)::int)", 'name': "('n' || n % 9)::name",
    'char(5)': "left('abcde', (random() * 5)::int)", 'varchar(8)': "left('abcdefgh', (random() * 8)::int)",
    'bytea': "convert_to(repeat('a', n % 4), 'UTF8')", 'uuid': "md5((n % 30)::text)::uuid",
    'interval': "random() * interval '100 days'", 'jsonb': 'to_jsonb(n % 4)', 'int4[]': 'ARRAY[n % 3, n % 2]',
    'mood': "(ARRAY['sad', 'ok', 'happy'])[1 + n % 3]::mood", 'small_number': '(random() * 100)::numeric',
    'timetz': "timetz '00:00+01' + random() * interval '23 hours'", 'inet': "inet '10.0.0.0' + n % 9",
    'varbit': '(n % 9)::bit(4)::varbit', 'int4range': 'int4range(n % 3, 4 + n % 2)', 'pair': "ROW(n % 3, 'p' || n % 2)::pair",
    'macaddr': "macaddr '08:00:2b:01:02:03'", 'xid8': '(n % 7)::text::xid8', 'json': 'to_json(n % 3)',
    'point': 'point(n % 3, n % 2)',
}
VACUUMS = ('', '(FREEZE) ', '(ANALYZE) ', '(FULL) ')
LONG = ("repeat(chr(97 + n % 5), 3000)",
        "(SELECT string_agg(md5((n % 11 * i)::text), '') FROM generate_series(1, 120) i)")


class Table:
    """A random table and the statements that make it, in the order of their running.

    Columns are (name, definition, expression of the values); in the expression n is the row's number.
    """

    parent = False              # it has partitions or children
    foreign = False             # of which some are foreign
    prunable = ()               # what it is partitioned by: (column, template of values, number of them)

    def __init__(self, rng, number):
        self.rng = rng
        self.name = 't%d' % number
        self.source = self.name         # of queries
        self.rows = rng.choice((0, 1, 3, 60, 300, 1000, 1025, 3000, 3000, 8000))
        self.narrow = rng.random() < 0.3
        self.wild = rng.choice((0, 0, 0.15, 0.4))
        self.nulls = 0 if self.narrow and rng.random() < 0.7 else rng.choice((0, 0.1, 0.3))
        self.statements = []
        self.drops = ['DROP TABLE %s CASCADE' % self.name]
        self.types = {}
        self.names = set()          # of all columns that there ever were
        self.temporary = False
        self.counter = 0
        self.make()

    def say(self, statement):
        self.statements.append(statement)

    def column(self, kind):
        rng = self.rng
        if kind in expressions.TYPES:
            name = '%s_%s' % (kind, 'abcdefgh'[self.counter % 8])
            # a column that is gone may still be one of a child's own
            while name in self.names:
                self.counter += 1
                name = '%s_%s%s' % (kind, 'abcdefgh'[self.counter % 8], self.counter // 8)
            self.names.add(name)
        else:
            name = 'c%d' % self.counter
        self.counter += 1
        sql = rng.choice(NUMERICS) if kind == 'numeric' else LENGTHS.get(kind, expressions.written(kind))
        edge = rng.random() < self.wild
        few = not edge and rng.random() < 0.3
        if edge and sql == 'int4[]':
            value = "(CASE n % 3 WHEN 0 THEN '{}' WHEN 1 THEN '{1}' ELSE '{1,2,NULL}' END)::int4[]"
        elif edge:
            value = "pick('{%s}'::%s[])" % (EDGES[sql], sql)
        elif kind == 'text' and not self.narrow and rng.random() < 0.15:
            value = rng.choice(LONG)
        else:
            value = TAME[sql]
        if few and not edge and sql in ('int4', 'int2', 'int8', 'float8', 'numeric', 'numeric(15,2)'):
            value = 'n % ' + rng.choice(('2', '5', '11'))
        nulls = rng.choice((0, self.nulls, self.nulls, 0.98 if self.nulls else 0))
        if nulls:
            value = 'CASE WHEN random() >= %s THEN %s END' % (nulls, value)
        definition = '%s %s%s' % (name, sql, ' NOT NULL' if not nulls and rng.random() < 0.6 else '')
        self.types[name] = kind
        return name, definition, value

    def insert(self, columns, first, last, target=None):
        if columns:
            self.say('INSERT INTO %s (%s) SELECT %s FROM generate_series(%d, %d) n' % (
                target or self.name, ', '.join(c[0] for c in columns), ', '.join(c[2] for c in columns), first, last))

    def storage(self):
        return ' WITH (autovacuum_enabled = off, fillfactor = %d)' % self.rng.choice((100, 100, 60, 20))

    def make(self):
        rng = self.rng
        self.temporary = rng.random() < 0.05
        if self.narrow:
            kinds = [k for k in expressions.TYPES if k not in expressions.STRINGS + ('numeric',)]
            kinds = [rng.choice(kinds) for _ in range(rng.randint(1, 8))] + ['int4', 'float8']
        else:
            kinds = list(expressions.TYPES) + [k for k in expressions.TYPES + OTHERS if rng.random() < 0.6]
        rng.shuffle(kinds)
        columns = [self.column(kind) for kind in kinds]
        self.say('CREATE %sTABLE %s (%s)%s' % (
            'TEMPORARY ' if self.temporary else '', self.name, ', '.join(c[1] for c in columns), self.storage()))
        texts = [name for name in self.types if self.types[name] == 'text']
        if texts and rng.random() < 0.2:
            self.say('ALTER TABLE %s ALTER %s SET STORAGE %s' % (
                self.name, rng.choice(texts), rng.choice(('EXTERNAL', 'PLAIN', 'MAIN'))))
        self.insert(columns, 1, self.rows)
        for _ in range(rng.randrange(5)):
            columns = self.change(columns)
        if rng.random() < 0.6:
            self.say('VACUUM %s%s' % (rng.choice(VACUUMS), self.name))
        elif rng.random() < 0.5:
            self.say('ANALYZE ' + self.name)
        if rng.random() < 0.5:
            columns = self.change(columns)
        listed = [n for n, k in self.types.items() if k in expressions.TYPES]
        if rng.random() < 0.1 and not self.temporary and listed:
            self.say('CREATE TABLE parts (LIKE %s) PARTITION BY LIST (%s)' % (self.name, rng.choice(listed)))
            self.say('ALTER TABLE parts ATTACH PARTITION %s DEFAULT' % self.name)
            self.drops = ['DROP TABLE parts CASCADE']
        elif rng.random() < 0.15 and not self.temporary:
            self.materialize()

    def materialize(self):
        """Queries shall be over a materialized view of it."""
        self.say('CREATE MATERIALIZED VIEW m%s AS SELECT * FROM %s' % (self.name, self.name))
        self.source = 'm' + self.name

    def change(self, columns):
        """Changes rows or columns; returns the columns that there are then."""
        rng = self.rng
        way = rng.randrange(9)
        if way < 4:
            self.change_rows(columns, self.name, way < 2)
        elif way == 4:
            self.say('BEGIN')
            self.insert(columns, 1, 100)
            self.say('ROLLBACK')
        elif way == 5:
            self.say('VACUUM ' + self.name)
            self.insert(columns, 1, rng.choice((1, 50, 700)))
        elif way == 6 and len(columns) > 3:
            columns = self.drop_column(columns)
        else:
            columns = self.add_column(columns)
            self.insert(columns, 1, rng.choice((0, 40, 400)))
        return columns

    def change_rows(self, columns, target, delete):
        rng = self.rng
        part = rng.choice((0.01, 0.1, 0.5, 0.97))
        if delete:
            self.say('DELETE FROM %s WHERE random() < %s' % (target, part))
        else:
            one = rng.choice(columns)
            self.say('UPDATE %s SET %s = v.x FROM (SELECT (%s) AS x FROM generate_series(1, 1) n) v '
                     'WHERE random() < %s' % (target, one[0], one[2], part))

    def alter(self, what):
        self.say('ALTER TABLE %s %s' % (self.name, what))

    def drop_column(self, columns):
        gone = self.rng.choice(columns)
        self.alter('DROP COLUMN ' + gone[0])
        del self.types[gone[0]]
        return [c for c in columns if c is not gone]

    def add_column(self, columns):
        rng = self.rng
        kind = rng.choice(('int4', 'int8', 'float8', 'bool', 'date') if self.narrow else expressions.TYPES)
        name, definition, value = self.column(kind)
        if rng.random() < 0.6:
            kind_sql = definition.split(' ', 1)[1].replace(' NOT NULL', '')
            constant = "'%s'::%s" % (EDGES[kind_sql].split(',')[1], kind_sql)
            if kind == 'bytea':
                constant = "'\\x61'::bytea"
            definition = '%s DEFAULT %s%s' % (definition.replace(' NOT NULL', ''), constant,
                                              rng.choice(('', ' NOT NULL')))
            value = 'coalesce(%s, %s)' % (value, constant)
        else:
            definition = definition.replace(' NOT NULL', '')
        self.alter('ADD COLUMN ' + definition)
        return columns + [(name, definition, value)]

    def columns(self):
        lists = {}
        for name, kind in self.types.items():
            lists.setdefault(kind, []).append(name)
        return lists
