"""parents.py: random partitioned tables and inheritance parents, their parts in many states."""
import expressions
import relations

# Values of a key by an integer expression that counts from 0.  uuid has an order of its own.
VALUES = {
    'int2': '(%s)::int2', 'int4': '((%s) * 10 - 30)', 'int8': '((%s)::int8 * 1000000007)', 'numeric': '((%s) * 1.5)',
    'float8': '((%s) / 4.0::float8)', 'date': "(date '2000-01-01' + (%s) * 20)",
    'timestamp': "(timestamp '2000-01-01' + (%s) * interval '9 hours')",
    'timestamptz': "(timestamptz '2000-01-01+00' + (%s) * interval '9 hours')",
    'text': "lpad((%s)::text, 2, '0')", 'varchar': "lpad((%s)::text, 2, '0')", 'uuid': 'md5((%s)::text)::uuid',
}
LEAVES = 24


class Parent(relations.Table):
    """What partitioned tables and inheritance parents have in common."""

    parent = True

    def __init__(self, rng, number, server=None):
        """server: a foreign server that is this database and has some of the partitions; or None."""
        self.server = server
        self.leaves = []            # (name, the table with its rows, its parent, bounds)
        super().__init__(rng, number)

    def choose_columns(self):
        """Keys and other columns, in any order."""
        rng = self.rng
        kinds = ['int4', 'float8', 'numeric', 'text', 'bool', 'date'] if not self.narrow else ['int8', 'bool']
        kinds += [rng.choice(expressions.TYPES + relations.OTHERS) for _ in range(rng.randint(2, 12))]
        others = [self.column(kind) for kind in kinds]
        keys = []
        for kind in rng.sample(sorted(VALUES), 2):
            name, definition, _ = self.column(kind)
            keys.append((name, definition, rng.choice((1, 3, 8, 20, 40))))
        self.prunable = [(name, VALUES[self.types[name]], count) for name, _, count in keys]
        self.nullable = {name: True for name, _, _ in keys}
        return keys, others

    def key_columns(self, keys):
        """Columns of the keys, once it is known which may be NULL."""
        columns = []
        for name, definition, count in keys:
            value = VALUES[self.types[name]] % 'floor(random() * %d)::int' % count
            if self.nullable[name]:
                value = 'CASE WHEN random() >= 0.05 THEN %s END' % value
                definition = definition.replace(' NOT NULL', '')
            columns.append((name, definition, value))
        return columns

    def shuffled(self, columns):
        """Definitions in another order, and columns to be dropped among them."""
        rng = self.rng
        defined = [c[1] for c in columns]
        rng.shuffle(defined)
        gone = []
        for _ in range(rng.choice((0, 1, 2))):
            name = 'gone%d' % len(gone)
            gone.append(name)
            defined.insert(rng.randrange(len(defined) + 1), name + rng.choice((' text', ' int8', ' bool')))
        return defined, gone

    def create_shuffled(self, name, columns, extra=''):
        defined, gone = self.shuffled(columns)
        self.say('CREATE TABLE %s (%s%s)%s' % (name, ', '.join(defined), extra, self.storage()))
        for column in gone:
            self.say('ALTER TABLE %s DROP COLUMN %s' % (name, column))

    def settle(self, others, columns):
        """Brings parts into different states, and sometimes adds and drops columns."""
        rng = self.rng
        for _ in range(rng.choice((0, 0, 1, 2))):
            if rng.random() < 0.6 or len(others) < 4:
                before = len(columns)
                columns = self.add_column(columns)
                others = others + columns[before:]
            else:
                kept = self.drop_column(others)
                columns = [c for c in columns if c in kept or c not in others]
                others = kept
            self.insert(columns, 1, rng.choice((0, 40, 400)))
        for leaf in rng.sample(self.leaves, min(len(self.leaves), rng.randrange(6))):
            self.change_leaf(leaf, others, columns)
        if rng.random() < 0.5:
            self.say('VACUUM %s%s' % (rng.choice(('', '(FREEZE) ', '(ANALYZE) ')), self.name))
        elif rng.random() < 0.5:
            self.say('ANALYZE ' + self.name)
        if rng.random() < 0.4:
            self.insert(columns, 1, rng.choice((1, 50, 700)))
        if rng.random() < 0.1:
            self.materialize()
            self.parent = self.foreign = False
        elif rng.random() < 0.08 and self.leaves:
            self.source = rng.choice(self.leaves)[0]
            self.parent = self.foreign = False

    def change_leaf(self, leaf, others, columns):
        rng = self.rng
        _, target, _, _ = leaf
        way = rng.randrange(8)
        if way < 3:
            self.say('VACUUM %s%s' % (rng.choice(relations.VACUUMS), target))
        if way in (0, 3, 4) and others:
            self.change_rows(others, target, way == 3)
        elif way == 5:
            self.say('DELETE FROM ' + target)
            if rng.random() < 0.5:
                self.say('VACUUM ' + target)
        elif way == 6:
            self.say('TRUNCATE ' + target)
        elif way == 7:
            self.say('BEGIN')
            self.insert(columns, 1, 100)
            self.say('ROLLBACK')


class Partitioned(Parent):
    """By RANGE, LIST or HASH, on one level or two; some partitions may be foreign tables."""

    def make(self):
        rng = self.rng
        keys, others = self.choose_columns()
        tree = self.split(self.name, keys, 2 if rng.random() < 0.35 else 1, rng.choice((1, 2, 3, 5, 12, 20)))
        columns = self.key_columns(keys) + others
        rng.shuffle(columns)
        self.say('CREATE TABLE %s (%s) %s' % (self.name, ', '.join(c[1] for c in columns), tree[0]))
        foreign = 0.4 if self.server else 0
        self.create_parts(self.name, tree[1], columns, foreign)
        self.foreign = any(name != rows for name, rows, _, _ in self.leaves)
        self.insert(columns, 1, self.rows)
        if rng.random() < 0.15 and not self.foreign:
            self.say('CREATE INDEX ON %s (%s)' % (self.name, keys[0][0]))
        self.settle(others, columns)

    def split(self, name, keys, levels, most):
        """(PARTITION BY clause, parts); a part is (name, its bounds, None or such a pair)."""
        rng = self.rng
        key, _, count = keys[0]
        template = VALUES[self.types[key]]
        ways = ('RANGE', 'LIST', 'HASH') if self.types[key] != 'uuid' else ('LIST', 'HASH')
        way = rng.choice(ways)
        listed = key
        default = rng.random() < 0.5
        if way == 'HASH':
            if rng.random() < 0.2:
                listed = '%s, %s' % (key, keys[1][0])
            bounds = ['FOR VALUES WITH (MODULUS %d, REMAINDER %d)' % (most, i) for i in range(most)]
            if rng.random() < 0.2:
                bounds[0:1] = ['FOR VALUES WITH (MODULUS %d, REMAINDER %d)' % (2 * most, i) for i in (0, most)]
        elif way == 'LIST':
            hands = [[] for _ in range(most)]
            deck = list(range(count + rng.choice((0, 3))))
            rng.shuffle(deck)
            for i, card in enumerate(deck):
                if i < len(hands) or not default or rng.random() < 0.8:
                    hands[i % most].append(template % card)
            with_null = rng.random() < 0.5
            if with_null:
                rng.choice(hands).append('NULL')
            self.nullable[key] &= with_null or default
            bounds = ['FOR VALUES IN (%s)' % ', '.join(hand) for hand in hands if hand]
        else:
            cuts = sorted(rng.sample(range(count + 4), min(most + 1, count + 4)))
            edges = [template % cut for cut in cuts]
            two = rng.random() < 0.2
            if not default:
                edges[0], edges[-1] = 'MINVALUE', 'MAXVALUE'
            if two:
                listed = '%s, %s' % (key, keys[1][0])
                edges = [edge + (', MAXVALUE' if edge == 'MAXVALUE' else ', MINVALUE') for edge in edges]
                self.nullable[keys[1][0]] &= default
            self.nullable[key] &= default
            bounds = ['FOR VALUES FROM (%s) TO (%s)' % pair for pair in zip(edges, edges[1:])]
            if default and len(bounds) > 2 and rng.random() < 0.5:
                bounds.remove(rng.choice(bounds))
        if default and way != 'HASH':
            bounds.append('DEFAULT')
        parts = []
        for i, bound in enumerate(bounds):
            below = None
            if levels > 1 and rng.random() < 0.6:
                below = self.split('%s_%d' % (name, i), keys[::-1], levels - 1, rng.choice((1, 2, 3)))
            parts.append(('%s_%d' % (name, i), bound, below))
        return 'PARTITION BY %s (%s)' % (way, listed), parts

    def create_parts(self, parent, parts, columns, foreign):
        rng = self.rng
        for name, bound, below in parts:
            rows = name
            if below is not None and len(self.leaves) < LEAVES:
                self.say('CREATE TABLE %s PARTITION OF %s %s %s' % (name, parent, bound, below[0]))
                self.create_parts(name, below[1], columns, foreign)
                continue
            if rng.random() < foreign:
                rows = name + '_rows'
                self.create_shuffled(rows, columns)
                self.say("CREATE FOREIGN TABLE %s PARTITION OF %s %s SERVER %s OPTIONS (table_name '%s', "
                         "schema_name 'tables', batch_size '100')" % (name, parent, bound, self.server, rows))
                self.drops.append('DROP TABLE ' + rows)
            elif rng.random() < 0.4:
                self.create_shuffled(name, columns)
                self.say('ALTER TABLE %s ATTACH PARTITION %s %s' % (parent, name, bound))
            else:
                self.say('CREATE TABLE %s PARTITION OF %s %s%s' % (name, parent, bound, self.storage()))
            self.leaves.append((name, rows, parent, bound))

    def alter(self, what):
        for name, rows, _, _ in self.leaves:
            if rows != name:
                self.say('ALTER TABLE %s %s' % (rows, what))
        super().alter(what)

    def change_leaf(self, leaf, others, columns):
        name, rows, parent, bound = leaf
        if name != rows or self.rng.random() < 0.8:
            super().change_leaf(leaf, others, columns)
            return
        # rows that have, behind the last column, one that the parent never had
        self.say('ALTER TABLE %s DETACH PARTITION %s' % (parent, name))
        self.say('ALTER TABLE %s ADD COLUMN gone_later text DEFAULT \'x\'' % name)
        if others:
            self.change_rows(others, name, False)
        self.say('ALTER TABLE %s DROP COLUMN gone_later' % name)
        self.say('ALTER TABLE %s ATTACH PARTITION %s %s' % (parent, name, bound))


class Inherited(Parent):
    """A table with children, which have columns of their own and may have children too."""

    def make(self):
        rng = self.rng
        keys, others = self.choose_columns()
        columns = self.key_columns(keys) + others
        rng.shuffle(columns)
        key, _, count = keys[0]
        self.say('CREATE TABLE %s (%s)%s' % (self.name, ', '.join(c[1] for c in columns), self.storage()))
        self.leaves.append((self.name, self.name, None, None))
        most = rng.choice((0, 1, 2, 5, 12))
        free = [self.name]          # of conditions that their children would have too
        for i in range(most):
            name = '%s_%d' % (self.name, i)
            above = self.name if rng.random() < 0.7 else rng.choice(free)
            extra = ['own_%d_%d %s' % (i, j, rng.choice(('int4', 'text', 'float8'))) for j in range(rng.choice((0, 1, 2)))]
            checked = self.types[key] != 'uuid' and rng.random() < 0.5
            if checked:
                extra.append('CHECK (%s >= %s AND %s < %s)' % (
                    key, VALUES[self.types[key]] % (i % count), key, VALUES[self.types[key]] % (i % count + 1)))
            if rng.random() < 0.3 and above == self.name:
                self.create_shuffled(name, columns, ''.join(', ' + e for e in extra))
                self.say('ALTER TABLE %s INHERIT %s' % (name, above))
            else:
                self.say('CREATE TABLE %s (%s) INHERITS (%s)%s' % (
                    name, ', '.join(e for e in extra), above, self.storage()))
            if not checked:
                free.append(name)
            self.leaves.append((name, name, None, i % count if checked else None))
        for name, _, _, fixed in self.leaves:
            values = columns
            if fixed is not None:
                values = [(c[0], c[1], VALUES[self.types[key]] % fixed) if c[0] == key else c for c in columns]
            if rng.random() < 0.9:
                self.insert(values, 1, self.rows // len(self.leaves) + 1, name)
        if rng.random() < 0.5:
            self.prunable = self.prunable[:1]
        self.settle(others, columns)
        if self.parent and rng.random() < 0.06:
            self.source = 'ONLY ' + self.name
            self.parent = False
