"""statements.py: random aggregations of a random table.

A query is written with @ before the names of aggregates, which becomes gpu_ or nothing.
"""
import expressions
import parents
import relations

NUMBERS = ('int2', 'int4', 'int8', 'float4', 'float8', 'numeric')
VARIANCES = ('var_pop', 'var_samp', 'variance', 'stddev_pop', 'stddev_samp', 'stddev')
EXTREMES = NUMBERS + ('interval', 'money', 'date', 'time', 'timestamp', 'timestamptz')
# core knows how to compare them, gpuagg does not
OTHER_EXTREMES = ('text', 'bpchar', 'oid', 'mood', 'inet', 'int4[]', 'timetz')
# core's results depend on the order of rows: of sums and the like, of minima and maxima
SUMS_BY_ORDER = ('float4', 'float8', 'money', 'interval')
EXTREMES_BY_ORDER = ('float4', 'float8', 'numeric', 'interval', 'bpchar')
# equal values that look different are shown as one
SHOWN = {'numeric': 'trim_scale(%s)', 'small_number': 'trim_scale(%s)', 'float4': '(%s + 0::float4)', 'float8': '(%s + 0)',
         'interval': 'interval_hash(%s)', 'bpchar': 'rtrim((%s)::text)', 'jsonb': 'jsonb_hash(%s)'}


class Writer(expressions.Writer):
    """Expressions with parameters among their leaves, if parameters is a list: it gets their types."""

    parameters = None

    def leaf(self, name):
        if self.parameters is not None and len(self.parameters) < 9 and self.rng.random() < 0.12:
            return self.parameter(name, [self.rng.choice(expressions.LITERALS[name]) for _ in range(3)])
        return super().leaf(name)

    def parameter(self, name, values):
        """values: one for each of three executions."""
        self.parameters.append((expressions.written(name), values))
        return '$%d' % len(self.parameters)


class Query:
    """A query and how it is to be run and judged.

    text: with @ before names; way: the value of gpuagg.core_aggregates, with off for gpuagg's names;
    by_order: core's results depend on the order of rows; any_error: which of several errors comes
    first depends on the plan; workers: 0 where they may change a result; kinds: what the query shows;
    beyond: what the node does not claim to run; mixed: some of gpuagg's names stay; types, arguments: of a prepared statement.
    """

    def __init__(self, way):
        self.way = way
        self.by_order = self.any_error = self.beyond = self.mixed = False
        self.workers = 0
        self.kinds = set()
        self.types = ''
        self.arguments = []

    def ours(self):
        return self.text.replace('@', 'gpu_' if self.way == 'off' else '')

    def expected(self):
        """The same to be run by nodes of core's."""
        return self.text.replace('@', '' if self.way == 'exact' else 'gpu_')

    def core(self):
        """The same by core's aggregates, where they are exact; or ''."""
        return '' if self.by_order or self.mixed or self.way == 'exact' else self.text.replace('@', '').replace('gpu_', '')


class Call:
    """An aggregate in a query."""

    def __init__(self, text, by_order=False, number=False, distinct=False, beyond=False):
        self.text = text
        self.by_order = by_order
        self.number = number        # its result is one
        self.distinct = distinct
        self.beyond = beyond


class Maker:
    """Queries over a table."""

    def __init__(self, rng, table):
        self.rng = rng
        self.table = table
        self.columns = table.columns()
        self.writer = Writer(rng, self.columns, rng.choice((0, 0.1)))

    def expression(self, kind, depth):
        if kind in relations.OTHERS:
            return self.rng.choice(self.columns.get(kind) or ['NULL::' + kind])
        return self.writer.expression(kind, depth)

    def depth(self):
        return self.rng.choice((0, 0, 0, 1, 1, 2, 3))

    # ---- aggregates ----

    def filter(self):
        return ' FILTER (WHERE %s)' % self.expression('bool', self.depth()) if self.rng.random() < 0.2 else ''

    def kind(self, kinds, by_order=()):
        """One of types, mostly such that there are columns of; of those of by_order only if they may be."""
        kinds = [k for k in kinds if not (self.only_exact and k in by_order)]
        with_columns = [k for k in kinds if self.columns.get(k)]
        return self.rng.choice(with_columns if with_columns and self.rng.random() < 0.85 else kinds)

    def call(self):
        rng = self.rng
        name = 'gpu_' if self.mixed and rng.random() < 0.3 else '@'
        way = rng.random()
        tail = self.filter()
        if way < 0.01:
            return Call('%scount(%s)%s' % (name, self.table.source.split()[-1], tail), number=True, beyond=True)
        if way < 0.12:
            return Call(name + 'count(*)' + tail, number=True)
        if way < 0.24:
            kind = self.kind(expressions.TYPES + relations.OTHERS)
            return Call('%scount(%s)%s' % (name, self.expression(kind, self.depth()), tail), number=True)
        if way < 0.65:
            kind = self.kind(NUMBERS + NUMBERS + ('money', 'interval'), SUMS_BY_ORDER)
            function = rng.choice(('sum', 'sum', 'avg') if kind != 'money' else ('sum',))
            by_order = kind in SUMS_BY_ORDER
        elif way < 0.85:
            kind = self.kind(EXTREMES, EXTREMES_BY_ORDER)
            function = rng.choice(('min', 'max'))
            by_order = kind in EXTREMES_BY_ORDER
        else:
            kind = self.kind(NUMBERS, SUMS_BY_ORDER)
            function = rng.choice(VARIANCES)
            by_order = kind in SUMS_BY_ORDER
        text = '%s%s(%s)%s' % (name, function, self.expression(kind, self.depth()), tail)
        return Call(text, by_order and name == '@', kind in NUMBERS)

    def many_calls(self):
        """Calls that differ in their FILTER: more than a request of the device has."""
        rng = self.rng
        column = rng.choice(self.columns.get('int4') or self.columns.get('int2') or ['NULL::int4'])
        few = [c for c in (self.call() for _ in range(6)) if 'FILTER' not in c.text] or [Call('@count(*)', number=True)]
        return [Call('%s FILTER (WHERE %s <> %d)' % (c.text, column, i), c.by_order, c.number, beyond=c.beyond)
                for c in few for i in range(rng.choice((5, 30, 90)))]

    def distinct_argument(self, kind):
        """Sometimes that of another aggregate."""
        before = self.arguments.setdefault(kind, [])
        if not before or self.rng.random() < 0.6:
            before.append(self.expression(kind, self.rng.choice((0, 0, 0, 1, 2))))
        return self.rng.choice(before)

    def distinct_call(self):
        rng = self.rng
        name = 'gpu_' if self.mixed and rng.random() < 0.3 else '@'
        way = rng.random()
        tail = self.filter()
        shown = '%s'
        if way < 0.5:
            kind = self.kind(expressions.TYPES + relations.KEYS + ('varbit', 'int4', 'int8', 'text', 'date'))
            return Call('%scount(DISTINCT %s)%s' % (name, self.distinct_argument(kind), tail), False, True, True)
        if way < 0.75 or (way < 0.82 and rng.random() < 0.5):
            kind = self.kind(NUMBERS + NUMBERS + ('money', 'interval'), SUMS_BY_ORDER)
            function = rng.choice(('sum', 'sum', 'avg', 'var_pop', 'stddev'))
            if kind in ('money', 'interval'):
                function = 'sum'
            by_order = kind in SUMS_BY_ORDER
        elif way < 0.97:
            kind = self.kind(EXTREMES + OTHER_EXTREMES, EXTREMES_BY_ORDER)
            function = rng.choice(('min', 'max'))
            by_order = kind in EXTREMES_BY_ORDER
        else:
            call, kind = rng.choice((('array_agg(DISTINCT %s)', 'date'), ("string_agg(DISTINCT %s, ',')", 'text'),
                                     ('bool_and(DISTINCT %s)', 'bool'), ('bit_or(DISTINCT %s)', 'int4')))
            return Call(call % self.distinct_argument(kind) + tail, distinct=True, beyond=True)
        argument = self.distinct_argument(kind)
        # which one of several equal values is left depends on the plan
        if kind == 'numeric' and function not in ('min', 'max'):
            argument = 'round(%s, 4)' % argument
        elif function in ('sum', 'avg', 'min', 'max'):
            shown = SHOWN.get(kind, '%s') if not (kind == 'float4' and function == 'avg') else SHOWN['float8']
        text = '%s%s(DISTINCT %s)%s' % (name, function, argument, tail)
        return Call(shown % text, by_order and name == '@', kind in NUMBERS, True, kind in OTHER_EXTREMES)

    def ordered_call(self):
        """What depends on the order of rows by its own words."""
        column = self.rng.choice(self.columns.get('int4') or ['1'])
        return Call('@sum(%s ORDER BY %s DESC)' % (self.expression('int4', 1), column), number=True, beyond=True)

    # ---- keys ----

    def key(self, plain):
        """(expression, as it is shown, whether equal keys may look different)."""
        rng = self.rng
        kind = rng.choice(expressions.TYPES + relations.KEYS + ('int4', 'text', 'bool', 'date', 'numeric'))
        if kind == 'money' and rng.random() < 0.9:
            kind = 'int4'
        text = self.expression(kind, rng.choice((0, 0, 0, 1, 2)))
        if self.table.parent and rng.random() < 0.02:
            self.beyond = True
            return 'tableoid', 'tableoid::regclass', False
        if rng.random() < 0.3 and self.table.prunable:
            name = rng.choice(self.table.prunable)[0]
            kind, text = self.table.types[name], name
        if not any(name in text for name in self.table.types):
            name = rng.choice([n for n, k in self.table.types.items() if k in expressions.TYPES + relations.KEYS])
            kind, text = self.table.types[name], name
        if kind in SHOWN and not plain:
            return text, SHOWN[kind] % text, False
        return text, text, kind in SHOWN

    def sets(self, keys):
        """GROUP BY with sets of keys, each of them in one at least."""
        rng = self.rng
        missing = set(keys)

        def some(least):
            chosen = rng.sample(keys, rng.randint(least, len(keys)))
            missing.difference_update(chosen)
            return chosen

        def element(depth):
            way = rng.randrange(4)
            if way == 0:
                return 'ROLLUP (%s)' % ', '.join(some(1))
            if way == 1:
                few = some(1)
                if len(few) == 3:
                    few[1:] = ['(%s, %s)' % (few[1], few[2])]
                return 'CUBE (%s)' % ', '.join(few)
            inner = ['(%s)' % ', '.join(some(0)) for _ in range(rng.randint(1, 4))]
            if rng.random() < 0.3:
                inner.append(rng.choice(inner))
            if depth and rng.random() < 0.3:
                inner.append(element(0))
            return 'GROUPING SETS (%s)' % ', '.join(inner)

        elements = [element(1)]
        if rng.random() < 0.3:
            elements.append(element(0))
        if missing:
            elements.append(rng.choice(('%s', 'ROLLUP (%s)')) % ', '.join(sorted(missing)))
        return ' GROUP BY %s%s' % (rng.choice(('', '', '', 'DISTINCT ')), ', '.join(elements))

    # ---- conditions ----

    def value(self, kind, number):
        """A constant of a key's type, or what stands for one: a parameter, a stable function, a subquery."""
        rng = self.rng
        template = parents.VALUES[kind]
        way = rng.random()
        if self.writer.parameters is not None and way < 0.6:
            return self.writer.parameter(kind, [rng.choice((template % (number + i), template % number)) for i in range(3)])
        if way < 0.75:
            return template % number
        return ('steady(%s)' if way < 0.88 else '(SELECT %s)') % (template % number)

    def prune(self, outer=None):
        """A condition on what the table is partitioned by; outer: a column of an outer query."""
        rng = self.rng
        name, template, count = rng.choice(self.table.prunable)
        kind = self.table.types[name]
        if outer is not None:
            return '%s %s %s' % (name, rng.choice(('=', '=', '=', '<=')), template % outer)
        values = [self.value(kind, rng.randrange(count + 1)) for _ in range(rng.choice((1, 2, 3)))]
        way = rng.randrange(8)
        if way < 3:
            return '%s = %s' % (name, values[0])
        if way == 3:
            return '%s IN (%s)' % (name, ', '.join(values))
        if way == 4:
            return '%s BETWEEN %s AND %s' % (name, values[0], values[-1])
        if way == 5:
            return '(%s = %s OR %s %s)' % (name, values[0], name, rng.choice(('IS NULL', '> ' + values[-1])))
        if way == 6:
            return '%s = ANY (ARRAY[%s])' % (name, ', '.join(values))
        return '%s %s %s' % (name, rng.choice(('<', '>=', '<>')), values[0])

    def condition(self):
        """Mostly about the table: others are not the node's to judge."""
        for _ in range(5):
            text = self.expression('bool', self.depth())
            if any(name in text for name in self.table.types):
                break
        return text

    def where(self):
        rng = self.rng
        quals = [self.condition() for _ in range(rng.choice((0, 0, 1, 1, 2, 3)))]
        if self.table.prunable and rng.random() < 0.5:
            quals = quals[:1] + [self.prune()]
        return ' WHERE ' + ' AND '.join(quals) if quals else ''

    # ---- what is above aggregates ----

    def above(self, calls):
        """An expression over aggregates, which may be of calls or new ones."""
        rng = self.rng
        numbers = [c for c in calls if c.number] or [Call('@count(*)', number=True)]
        one, two = rng.choice(numbers), rng.choice(numbers)
        any_one = rng.choice(calls)
        column = rng.choice([n for n, k in self.table.types.items() if k in expressions.TYPES])
        text, used = rng.choice((
            ('100 * %s / nullif(%s, 0)' % (one.text, two.text), (one, two)),
            ('%s / nullif(@count(%s), 0)' % (one.text, column), (one,)),
            ('(%s - %s) * 2' % (one.text, two.text), (one, two)),
            ('CASE WHEN @count(*) > %d THEN %s ELSE %s END' % (rng.choice((0, 2, 100)), one.text, two.text), (one, two)),
            ('CASE WHEN %s THEN 1 WHEN %s > %s THEN 2 END' % (any_one.text + ' IS NULL', one.text, two.text), (any_one, one, two)),
            ('coalesce(%s, -1)' % one.text, (one,)),
            ('greatest(%s, %s)' % (one.text, two.text), (one, two)),
            ('round((%s)::numeric, 2)' % one.text, (one,)),
            ("(%s)::text || ' of ' || @count(*)" % any_one.text, (any_one,)),
            ('(SELECT @max(f.i) FROM few f WHERE f.i <= @count(%s))' % column, ()),
            ('(SELECT %s)' % any_one.text, (any_one,)),
            ('%s > (SELECT @avg(f.i) FROM few f)' % one.text, (one,)),
        ))
        return Call(text, any(c.by_order for c in used), False, False, any(c.beyond for c in used))

    def having(self, calls, keys):
        rng = self.rng
        one = rng.choice([c for c in calls if c.number] or [Call('@count(*)', number=True)])
        ways = ['@count(*) %s %d' % (rng.choice(('>', '<', '=')), rng.choice((0, 1, 5, 100))),
                '%s IS NOT NULL' % calls[0].text, '%s IS NULL' % calls[-1].text,
                '@count(*) >= (SELECT @min(f.i) FROM few f)', '%s > (SELECT @max(f.i) - 3 FROM few f WHERE f.i > 0)' % one.text,
                '@count(*) > (SELECT @count(*) / 10 FROM %s)' % self.table.source]
        if keys:
            ways += ['grouping(%s) %s 0' % (', '.join(keys), rng.choice(('=', '>')))] * 2
        return ' HAVING ' + rng.choice(ways)

    # ---- queries ----

    def query(self):
        rng = self.rng
        query = Query(rng.choice(('off', 'off', 'exact', 'all')))
        self.only_exact = query.way == 'exact' and rng.random() < 0.93
        self.mixed = query.way != 'off' and rng.random() < 0.1
        self.arguments = {}
        self.writer.parameters = [] if rng.random() < (0.3 if self.table.prunable else 0.1) else None
        distinct = 0.6 if rng.random() < 0.25 else 0
        calls = [self.distinct_call() if rng.random() < distinct else self.call() for _ in range(rng.choice((1, 1, 2, 3, 5)))]
        if rng.random() < 0.02:
            calls = self.many_calls()
            query.kinds.add('many aggregates')
        if rng.random() < 0.02:
            calls.append(self.ordered_call())
        self.beyond = any(c.beyond for c in calls)
        shown = [rng.choice(6 * ('%s',) + ('pg_typeof(%s)', 'coalesce((%s)::text, \'-\')')) % c.text for c in calls]
        if rng.random() < 0.3:
            extra = [self.above(calls) for _ in range(rng.choice((1, 1, 2)))]
            shown += [c.text for c in extra]
            query.kinds.add('expressions above')
        if any(c.distinct for c in calls):
            query.kinds.add('distinct')
        query.by_order = any(c.by_order for c in calls)
        query.mixed = self.mixed
        self.shape(query, calls, shown)
        query.beyond = self.beyond
        self.kinds(query)
        parameters = self.writer.parameters
        if parameters:
            query.types = ', '.join(name for name, _ in parameters)
            query.arguments = [', '.join(values[i] for _, values in parameters) for i in range(rng.choice((1, 2, 3)))]
        return query

    def kinds(self, query):
        if self.table.parent:
            query.kinds.add('foreign partitions' if self.table.foreign else 'partitions')
        if query.way != 'off':
            query.kinds.add('core names ' + query.way)
        if query.by_order and query.way == 'exact':
            query.beyond = True
            query.workers = 0
        if not query.kinds or query.kinds == {'expressions above'}:
            query.kinds.add('plain')

    def shape(self, query, calls, shown):
        """Sets the text, and workers."""
        rng = self.rng
        with_sets = rng.random() < 0.25
        nkeys = rng.choice((0, 1, 2, 2, 3) if with_sets else (0, 0, 1, 1, 1, 2, 3))
        # which one of equal keys stands for a group depends on the way of grouping
        plain = rng.random() < 0.3 and not (with_sets or 'distinct' in query.kinds or self.table.parent)
        keys = [self.key(plain) for _ in range(nkeys)]
        if with_sets:
            # which core plans once for each place, and so does not know again in the list of results
            keys = [k for k in keys if '(SELECT' not in k[0]]
        ambiguous = any(k[2] for k in keys)
        query.workers = 0 if ambiguous or self.table.temporary else rng.choice((0, 2, 2, 3))
        query.any_error = self.table.parent or 'expressions above' in query.kinds or 'distinct' in query.kinds
        targets = ['%s AS k%d' % (k[1], i) for i, k in enumerate(keys)]
        results = ['%s AS r%d' % (s, i) for i, s in enumerate(shown)]
        distinct_keys = list(dict.fromkeys(k[0] for k in keys))
        tail = ''
        if with_sets:
            query.kinds.add('grouping sets')
            query.any_error = True
            if keys:
                tail = self.sets(distinct_keys)
                if rng.random() < 0.6:
                    results.append('grouping(%s) AS g' % ', '.join(distinct_keys))
            else:
                tail = ' GROUP BY ' + rng.choice(('GROUPING SETS (())', 'GROUPING SETS ((), ())', '()'))
        elif keys:
            tail = ' GROUP BY ' + ', '.join(k[0] for k in keys)
        if rng.random() < 0.2:
            tail += self.having(calls, distinct_keys if with_sets else ())
        order = ''
        if keys and not ambiguous and rng.random() < 0.12:
            order = ' ORDER BY %s %s, %s%s LIMIT %d' % (
                calls[0].text, rng.choice(('', 'DESC', 'NULLS FIRST', 'DESC NULLS LAST')),
                'grouping(%s), ' % ', '.join(distinct_keys) if with_sets else '', ', '.join(distinct_keys),
                rng.choice((1, 3, 10)))
            if rng.random() < 0.2:
                order += ' OFFSET 2'
            query.kinds.add('expressions above')
        elif keys and rng.random() < 0.04:
            results.append(rng.choice(('@sum(@count(*)) OVER ()', 'rank() OVER (ORDER BY @count(*))')) + ' AS w')
            query.kinds.add('expressions above')
        if keys and rng.random() < 0.1:
            targets = []
        where = self.where()
        if keys and rng.random() < 0.15:
            again = self.again(rng.choice(keys)[0])
            where += (' AND ' if where else ' WHERE ') + again
            results.append(rng.choice((again, again, "CASE WHEN %s THEN 'yes' ELSE 'no' END" % again)) + ' AS c')
            if 'distinct' in query.kinds:
                results.append('@count(DISTINCT %s) AS d' % again)
        verb = 'SELECT DISTINCT' if rng.random() < 0.03 and not order else 'SELECT'
        query.text = '%s %s FROM %s%s%s%s' % (verb, ', '.join(targets + results), self.table.source, where, tail, order)
        self.around(query, calls)

    def again(self, key):
        """A condition on a key that stands in the list of results too, and within an aggregate: three expressions that are equal."""
        return self.rng.choice(('(%s) IS NOT NULL', '(%s) IS NOT NULL', '(%s) IS NULL', "(%s)::text <> '1'")) % key

    def around(self, query, calls):
        """Sometimes puts the query, or an aggregate alone, on the inner side of a join or into a list."""
        rng = self.rng
        source = self.table.source
        way = rng.random()
        if way < (0.12 if self.table.prunable else 0.06):
            if self.table.prunable and rng.random() < 0.8:
                condition = self.prune('f.i')
            else:
                column = rng.choice((self.columns.get('int4') or ['NULL::int4']))
                condition = '(%s = f.i OR %s)' % (column, self.expression('bool', 0))
            query.text = rng.choice((
                'SELECT f.i, s.* FROM few f, LATERAL (SELECT %s FROM %s WHERE %s) s',
                'SELECT f.i, (SELECT (%s)::text FROM %s WHERE %s) FROM few f')) % (calls[0].text, source, condition)
            query.kinds -= {'grouping sets', 'expressions above', 'distinct', 'many aggregates'}
            if calls[0].distinct:
                query.kinds.add('distinct')
            query.by_order = calls[0].by_order
            self.beyond = calls[0].beyond
            query.workers = 0
        elif way < (0.18 if self.table.prunable else 0.12):
            query.text = 'SELECT g.i, q.* FROM generate_series(0, 3) g(i) LEFT JOIN (%s) q ON g.i <> 2' % query.text
