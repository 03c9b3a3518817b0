"""queries.py: seeded random queries over a table of tables.py.

A query is a text with places {0}, {1}, ... for its calls as they are shown, {u0}, {u1},
... for their plain values, and {p} for a number, which a prepared statement takes as
its parameter.  What it selects begins with `keys`
columns that tell its rows apart.
"""
import calls
import tables

PREDICATES = ('{a}h < {p}', '{a}h < {p}', '{a}i % 3 = 0', '{a}i % 2 = {p} % 2', '{a}g IS NOT NULL',
              '{a}k > {p}', '{a}h IS NULL', 'false', '{a}x_int4 IS NOT NULL', '{a}x_int2 > 0',
              '{a}i BETWEEN 10 AND 40', '{a}i <> {p}')


def total(order):
    """Whether an ORDER BY tells all rows apart."""
    return order.replace(' DESC', '').endswith('i')


class Query:
    """lenient: rows that would raise an error may be left out.

    walks: of running functions, (partition, order) of their one window.
    ours_text: the text for our functions where it is another.
    """

    def __init__(self, text, keys, used, lenient=False, walks=None, ours_text=None):
        self.text = text
        self.ours_text = ours_text or text
        self.keys = keys
        self.calls = used
        self.lenient = lenient
        self.walks = walks

    def shown(self):
        return [(i, call) for i, call in enumerate(self.calls) if '{%d}' % i in self.text]

    def by_array(self):
        return any(call.by_array() for call in self.calls)

    def ours(self, parameter):
        return self.render(self.ours_text, [call.ours() for call in self.calls],
                           [call.ours(False) for call in self.calls], parameter)

    def core(self, parameter, arrays=()):
        """The query with core's functions, except calls whose rows are compared instead."""
        text = self.text
        if arrays and self.walks:
            part, order = self.walks
            places = 'dense_rank() OVER (ORDER BY %s), dense_rank() OVER (%s%s)' % (
                part or '1', 'PARTITION BY ' + part + ' ' if part else '',
                'ORDER BY ' + order if order else '')
            text = text.replace('SELECT i AS c, ', 'SELECT i AS c, %s, ' % places, 1) + ' ORDER BY 2, 3'
        asked = [call.core() if call not in arrays else call.raw() if self.walks else call.array()
                 for call in self.calls]
        return self.render(text, asked, [call.core(False) for call in self.calls], parameter)

    @staticmethod
    def render(text, shown, plain, parameter):
        for i, value in enumerate(shown):
            text = text.replace('{%d}' % i, value)
        for i, value in enumerate(plain):
            text = text.replace('{u%d}' % i, value)
        return text.replace('{p}', parameter)


class Maker:
    """Makes queries over one table of what the database has (pairs of function and type)."""

    def __init__(self, rng, table, has):
        self.rng = rng
        self.table = table
        self.rows = len(table.rows)
        pairs = sorted(has) + [pair for pair in sorted(has) if pair[1] in calls.FLOATS]
        self.merging = [pair for pair in pairs if pair[0].endswith('_merge')]
        self.plain = [pair for pair in pairs if not pair[0].startswith('running_')
                      and not pair[0].endswith('_merge')]
        self.running = [pair for pair in pairs if pair[0].startswith('running_')]

    def predicate(self, alias):
        return self.rng.choice(PREDICATES).format(a=alias, p='{p}')

    def argument(self, kind, alias):
        """An expression of the type."""
        rng = self.rng
        column = alias + 'x_' + rng.choice([c for c, (t, _) in tables.COLUMNS.items() if t == kind])
        pick = rng.random()
        if pick < 0.82:
            return column
        if pick < 0.88:
            return 'CASE WHEN %s THEN %s END' % (self.predicate(alias), column)
        if pick < 0.94:
            return 'coalesce(%s, %s)' % (column, column)
        casts = {'int8': ('int2', 'int4'), 'int4': ('int2',), 'numeric': ('int4', 'int8', 'int2'),
                 'float8': ('int4', 'float4', 'int2'), 'timestamp': ('date',)}.get(kind)
        return '%sx_%s::%s' % (alias, rng.choice(casts), kind) if casts else column

    def call(self, pair=None, alias='', over='', exact=False):
        """A random call; exact: one that core can judge."""
        rng = self.rng
        for _ in range(200):
            function, kind = pair or rng.choice(self.plain or [('count', 'int4')])
            if function == 'count' and not over and rng.random() < 0.2:
                return calls.Call('count', kind, None, where=self.where(alias), over=over)
            call = calls.Call(function, kind, self.argument(kind, alias), over=over)
            if not exact or not call.by_array():
                break
            pair = None
        else:
            call = calls.Call('count', 'int4', alias + 'x_int4', over=over)
        if not call.running:
            call.where = self.where(alias)
        if not over and not call.running:
            if rng.random() < 0.12 and self.distinct_says(call):
                call.distinct = True
                if rng.random() < 0.2 and not call.by_array():
                    call.order = call.argument
            elif rng.random() < 0.1:
                call.order = rng.choice(('{a}k, {a}i', '{a}i DESC', '{a}h NULLS FIRST, {a}x_int4 DESC, {a}i')
                                        ).format(a=alias)
        return call

    @staticmethod
    def distinct_says(call):
        """Whether the result over distinct values is always the same, except in how it is shown."""
        if call.core_name in ('min', 'max', 'count'):
            return True
        if call.kind == 'interval':
            return False
        return call.kind != 'numeric' or call.core_name == 'sum' or call.argument.endswith('x_fixed')

    def where(self, alias):
        return self.predicate(alias) if self.rng.random() < 0.2 else ''

    def several(self, alias='', most=4, exact=None):
        exact = self.rng.random() < 0.4 if exact is None else exact
        return [self.call(alias=alias, exact=exact) for _ in range(self.rng.randint(1, most))]

    @staticmethod
    def places(used, first=0):
        return ', '.join('{%d} AS r%d' % (i, i) for i in range(first, first + len(used)))

    def source(self, alias=''):
        """FROM and WHERE of rows of the table under a name."""
        rng = self.rng
        name = alias.rstrip('.') or 't'
        where = ' WHERE ' + self.predicate(alias) if rng.random() < 0.3 else ''
        pick = rng.random()
        if pick < 0.6:
            return '%s %s%s' % (self.table.name, name, where)
        if pick < 0.7:
            return '(SELECT * FROM %s ORDER BY %s) %s%s' % (
                self.table.name, rng.choice(('i', 'k, i', 'g, i')), name, where)
        if pick < 0.8:
            return '(SELECT * FROM %s WHERE i %% 2 = 0 UNION ALL SELECT * FROM %s WHERE i %% 2 = 1) %s%s' % (
                self.table.name, self.table.name, name, where)
        if pick < 0.9:
            return '(SELECT * FROM %s OFFSET {p}) %s WHERE %si >= 0%s' % (
                '(SELECT * FROM %s ORDER BY i) o' % self.table.name, name, alias,
                where.replace(' WHERE', ' AND'))
        return '(SELECT u.* FROM %s u JOIN %s v ON u.i = v.i + 1) %s%s' % (
            self.table.name, self.table.name, name, where)

    # Queries of aggregates

    def whole(self):
        used = self.several(most=6)
        return Query('SELECT %s FROM %s' % (self.places(used), self.source()), 0, used)

    def grouped(self):
        rng = self.rng
        used = self.several()
        by = rng.choice((('g',), ('g',), ('h',), ('g', 'h'), ('k % 7',), ('i',), ('i % 50', 'h'),
                         ("x_int4 IS NULL", 'h'), ('k',)))
        having, lenient = '', False
        if rng.random() < 0.25:
            lenient = True
            number = len(used)
            test = self.call(exact=True, pair=('count', 'int4') if rng.random() < 0.5 else None)
            if test.result() in ('int8', 'numeric', 'int2', 'int4') and not test.can_be_exact():
                used = used + [test]
                having = ' HAVING {u%d} > %d' % (number, rng.choice((0, 1, 5)))
        keys = ', '.join('%s AS c%d' % (e, i) for i, e in enumerate(by))
        shown = used[:-1] if having else used
        text = 'SELECT %s, %s FROM %s GROUP BY %s%s' % (
            keys, self.places(shown), self.source(), ', '.join(by), having)
        if len(by) == 1 and rng.random() < 0.15:
            lenient = True
            text += ' ORDER BY 1 %s LIMIT %d OFFSET %d' % (
                rng.choice(('', 'DESC', 'NULLS FIRST')), rng.choice((1, 3, 10)), rng.choice((0, 0, 2)))
        return Query(text, len(by), used, lenient)

    def sets(self):
        rng = self.rng
        used = self.several(most=3)
        by = rng.choice(('ROLLUP (g, h)', 'CUBE (g, h)', 'GROUPING SETS ((g, h), (g), (h), ())',
                         'GROUPING SETS ((g), ROLLUP (h), ())', 'g, ROLLUP (h)',
                         'GROUPING SETS ((g, h), (h))', 'CUBE (h), g'))
        return Query('SELECT g, h, GROUPING(g, h) AS w, %s FROM %s GROUP BY %s'
                     % (self.places(used), self.source(), by), 3, used)

    def lateral(self):
        used = self.several('b.', 3)
        operator = self.rng.choice(('=', '>', 'IS NOT DISTINCT FROM'))
        text = ('SELECT a.g AS c, s.* FROM (SELECT DISTINCT g FROM %s WHERE i < 60) a, LATERAL '
                '(SELECT %s FROM %s b WHERE b.g %s a.g%s) s' % (
                    self.table.name, self.places(used), self.table.name, operator,
                    self.rng.choice(('', ' AND b.i < 500', ' OFFSET 0'))))
        return Query(text, 1, used)

    def correlated(self):
        used = self.several('b.', 2)
        inside = ', '.join('(SELECT {%d} FROM %s b WHERE b.k = a.k) AS r%d' % (i, self.table.name, i)
                           for i in range(len(used)))
        return Query('SELECT a.i AS c, %s FROM %s a WHERE a.i < 40' % (inside, self.table.name), 1, used)

    def joined(self):
        rng = self.rng
        used = self.several('a.', 3)
        kind = rng.choice(('JOIN', 'LEFT JOIN'))
        on = rng.choice(('a.i = b.i + {p}', 'a.k = b.i', 'a.g = b.i', 'a.g = b.g AND b.i < 5'))
        return Query('SELECT b.h AS c, %s FROM %s a %s %s b ON %s GROUP BY b.h'
                     % (self.places(used), self.table.name, kind, self.table.name, on), 1, used)

    def cte(self):
        rng = self.rng
        used = self.several(most=3)
        how = rng.choice(('', 'MATERIALIZED ', 'NOT MATERIALIZED '))
        return Query('WITH q AS %s(SELECT * FROM %s) SELECT g AS c, %s FROM q GROUP BY g'
                     % (how, self.source(), self.places(used)), 1, used)

    def nested(self):
        """An aggregate of aggregates, or a window of aggregates."""
        rng = self.rng
        inner = self.call(exact=True)
        if inner.result() not in ('int8', 'numeric', 'money'):
            return self.grouped()
        pairs = [pair for pair in self.plain if pair[1] == inner.result()
                 and not calls.Call(pair[0], pair[1], 's').by_array()]
        if not pairs or inner.distinct:
            return self.grouped()
        function, kind = rng.choice(pairs)
        if rng.random() < 0.5:
            outer = calls.Call(function, kind, 's')
            return Query('SELECT {0} AS r FROM (SELECT {u1} AS s FROM %s GROUP BY %s) q'
                         % (self.source(), rng.choice(('g', 'h', 'k', 'i'))), 0, [outer, inner], True)
        over = rng.choice(('()', '(ORDER BY h)', '(ORDER BY h DESC ROWS 2 PRECEDING)'))
        outer = calls.Call(function, kind, '{u1}', over=over)
        return Query('SELECT h AS c, {0} AS r FROM %s GROUP BY h' % self.source(), 1, [outer, inner], True)

    def merged(self):
        """States of shards, merged; perhaps by way of states of states."""
        rng = self.rng
        call = self.call(pair=rng.choice(self.merging))
        call.distinct, call.order = False, ''
        source = self.source()
        states = ('sum', 'avg', 'var') if call.core_name in ('sum', 'avg') else ('var',)
        states = [name for name in states if name == 'sum' or call.kind in calls.PROMISED[
            name if name == 'avg' else 'var_pop']]
        inner = 'SELECT g, h, %s AS s FROM %s GROUP BY g, h, %s' % (
            call.state(rng.choice(states)), source, rng.choice(('k', 'i % 3', 'i', '()')))
        if rng.random() < 0.3:
            inner = 'SELECT g, h, gpu_state_merge(s) AS s FROM (%s) p GROUP BY g, h' % inner
        by = rng.choice(('g', 'h', 'g IS NULL'))
        return Query('SELECT %s AS c, {0} AS r0 FROM %s GROUP BY 1' % (by, source), 1, [call],
                     ours_text='SELECT %s AS c, {0} AS r0 FROM (%s) q GROUP BY 1' % (by, inner))

    # Queries of windows

    def frame(self, order):
        rng = self.rng
        ends = [('UNBOUNDED PRECEDING', 0), ('%d PRECEDING', 1), ('CURRENT ROW', 2), ('%d FOLLOWING', 3),
                ('UNBOUNDED FOLLOWING', 4)]
        mode = rng.choice(('ROWS', 'ROWS', 'RANGE', 'GROUPS'))
        if not order:
            return rng.choice(('', '', 'RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING',
                               'RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW'))
        if rng.random() < 0.4:
            return rng.choice(('RANGE UNBOUNDED PRECEDING', 'GROUPS UNBOUNDED PRECEDING',
                               'ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING')
                              + 2 * total(order) * ('ROWS UNBOUNDED PRECEDING',))
        if mode == 'ROWS' and not total(order):
            mode = 'GROUPS'
        if mode == 'RANGE' and ',' in order:
            ends = [ends[0], ends[2], ends[4]]
        while True:
            a, b = rng.choice(ends[:-1]), rng.choice(ends[1:])
            if a[1] <= b[1]:
                break
        texts = [t % rng.choice((0, 1, 1, 2, 3, 7, 31, 100)) if '%' in t else t for t, _ in (a, b)]
        exclude = rng.choice(('', '', '', ' EXCLUDE CURRENT ROW', ' EXCLUDE GROUP', ' EXCLUDE TIES',
                              ' EXCLUDE NO OTHERS'))
        return '%s BETWEEN %s AND %s%s' % (mode, texts[0], texts[1], exclude)

    def window(self):
        rng = self.rng
        part = rng.choice(('', '', 'PARTITION BY g ', 'PARTITION BY h ', 'PARTITION BY g, h '))
        order = rng.choice(('', 'k', 'k DESC', 'k, i', 'i', 'i DESC', 'i', 'h NULLS FIRST, i', 'g DESC, i'))
        frame = '' if rng.random() < 0.2 else self.frame(order)
        return '(%s%s %s)' % (part, 'ORDER BY ' + order if order else '', frame)

    def windows(self):
        rng = self.rng
        exact = rng.random() < 0.5
        windows = [self.window() for _ in range(rng.choice((1, 1, 2, 3)))]
        used = [self.call(over=rng.choice(windows), exact=exact) for _ in range(rng.randint(1, 4))]
        most = rng.choice((10, 33, 400 if exact else 150, 1500 if exact else 150))
        return Query('SELECT i AS c, %s FROM %s t WHERE i < %d' % (self.places(used), self.table.name, most),
                     1, used)

    def runs(self):
        """Running functions, in partitions of any size."""
        rng = self.rng
        exact = rng.random() < 0.4
        part = rng.choice(('', '', 'g', 'h', 'g, h'))
        order = rng.choice(('k', 'i', 'i', 'i DESC', 'k DESC, i', 'h, k', ''))
        by_rows = total(order) and rng.random() < 0.7
        over = '(%s%s%s)' % ('PARTITION BY %s ' % part if part else '', 'ORDER BY ' + order if order else '',
                             ' ROWS UNBOUNDED PRECEDING' if by_rows else '')
        running = [pair for pair in self.running
                   if not (exact and calls.Call(*pair, 'x').by_array())] or self.running
        used = []
        for _ in range(rng.randint(1, 3)):
            call = self.call(pair=rng.choice(running), over=over)
            call.exclusive = by_rows and rng.random() < 0.4
            used.append(call)
        if rng.random() < 0.2:
            plain = self.call(over=over, exact=True)
            if not plain.where:
                used.append(plain)
        return Query('SELECT i AS c, %s FROM %s' % (self.places(used), self.source()), 1, used,
                     walks=(part, order))

    def reads(self):
        """Aggregates over running functions."""
        rng = self.rng
        pairs = [p for p in self.running if p[0] in ('running_sum', 'running_count', 'running_max')
                 and p[1] in ('int2', 'int4', 'int8', 'numeric')]
        pairs = [p for p in pairs if not calls.Call(p[0], p[1], 'x').by_array()]
        if not pairs:
            return self.windows()
        inner = self.call(pair=rng.choice(pairs), over='(PARTITION BY h ORDER BY i ROWS UNBOUNDED PRECEDING)')
        outer = [p for p in self.plain if p[1] == inner.result()
                 and not calls.Call(p[0], p[1], 'x').by_array()]
        if not outer:
            return self.windows()
        function, kind = rng.choice(outer)
        return Query('SELECT g AS c, {0} AS r FROM (SELECT g, {u1} AS s FROM %s) q GROUP BY g'
                     % self.source(), 1, [calls.Call(function, kind, 's'), inner], True)

    def make(self, shapes=()):
        """A query of one of the shapes, which are names of methods, or of any."""
        rng = self.rng
        kinds = []
        if self.plain:
            kinds += [self.whole, self.whole, self.grouped, self.grouped, self.grouped, self.sets, self.lateral,
                      self.correlated, self.joined, self.cte, self.nested, self.windows, self.windows,
                      self.windows]
        if self.running:
            kinds += [self.runs, self.runs, self.runs, self.reads]
        if self.merging:
            kinds += [self.merged, self.merged]
        wanted = [kind for kind in kinds if kind.__name__ in shapes]
        return rng.choice(wanted or kinds)()
