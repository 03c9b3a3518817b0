"""checks.py: statements that compute aggregates by GpuAgg and by core, in one snapshot.

A *look* takes aggregates from a table once by core, in a CTE, and several times by GpuAgg: all
of them, each alone (as other columns are wanted then), with groups where core had none, without
where it had some.  A statement has one look or several, so that all its results are of one
snapshot, whatever the isolation level.  Between any two results it notes gpuagg_last_query().
"""
import datetime

FIELDS = ('read', 'level 1', 'level 2', 'filled', 'chunks skipped')

# Of a result that is wrong: what the queries give once more, in the same snapshot.
AGAIN = """
CREATE FUNCTION stress.again(core text, ours text, mine text, theirs text) RETURNS text LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS $$
DECLARE
	result text;
	report text := concat_ws(E'\\n', 'by core: ' || core, 'by the node: ' || ours, 'snapshot ' || pg_current_snapshot(),
		'core had: ' || theirs, 'the node had: ' || coalesce(mine, 'NULL'), 'counters: ' || gpuagg_last_query(),
		'settings: ' || concat_ws(' ', current_setting('gpuagg.resident'), current_setting('max_parallel_workers_per_gather'),
			current_setting('transaction_isolation')));
BEGIN
	EXECUTE 'SELECT ' || ours INTO result;
	report := concat_ws(E'\\n', report, 'the node once more: ' || result, 'counters: ' || gpuagg_last_query());
	PERFORM set_config('gpuagg.resident', 'off', true);
	EXECUTE 'SELECT ' || ours INTO result;
	report := concat_ws(E'\\n', report, 'the node over pages: ' || result);
	EXECUTE core INTO result;
	RETURN replace(concat_ws(E'\\n', report, 'core once more: ' || result), E'\\n', '\\n');
END $$
"""
COUNTERS = """(SELECT concat_ws(',', table_pages, resident_pages, resident_confirmed, resident_filled, resident_skipped)
	FROM gpuagg_last_query())"""
# Settings of every session that checks.
SETTINGS = ('SET gpuagg.min_table_pages = 0', 'SET gpuagg.core_aggregates = off', 'SET enable_indexscan = off',
            'SET enable_bitmapscan = off', 'SET enable_indexonlyscan = off',
            'SET parallel_setup_cost = 0', 'SET parallel_tuple_cost = 0', 'SET min_parallel_table_scan_size = 0',
            'SET gpuagg.resident = on', 'SET max_parallel_workers_per_gather = 0')

# Of an aggregate: what goes behind its function's name, and how results of groups become one.
AGGREGATES = {
    'sum(a)': 'sum', 'min(a)': 'min', 'max(a)': 'max', 'count(a)': 'count', 'sum(b)': 'sum', 'min(b)': 'min', 'max(b)': 'max',
    'count(b)': 'count', 'sum(n)': 'sum', 'count(n)': 'count', 'avg(n)': None, 'sum(f)': 'sum', 'min(f)': 'min', 'max(f)': 'max',
    'min(d)': 'min', 'max(d)': 'max', 'count(d)': 'count', 'count(*)': 'count', 'count(p)': 'count', 'count(v)': 'count',
    'sum(k)': 'sum', 'max(id)': 'max', 'sum(n) FILTER (WHERE p)': 'sum', 'count(*) FILTER (WHERE d IS NULL)': 'count',
    'sum(a + b)': 'sum', 'sum(b * 2)': 'sum', 'sum(n * 2)': 'sum', 'sum(CASE WHEN p THEN a ELSE 1 END)': 'sum'}
MERGES = {'sum': 'sum(%s)', 'min': 'min(%s)', 'max': 'max(%s)', 'count': 'coalesce(sum(%s), 0)'}
GROUPS = ('k', 'k', 'k', 'p', 'p', 'p, k', 'v', 'v', 'v, p')


def condition(rng):
    kind = rng.randrange(14) % 9
    if kind == 0:
        return 'b < %d' % rng.randrange(60000)
    if kind == 1:
        day = datetime.date(2020, 1, 1) + datetime.timedelta(rng.randrange(900))
        return "d BETWEEN '%s' AND '%s'" % (day, day + datetime.timedelta(rng.randrange(200)))
    if kind == 2:
        return rng.choice(('p', 'NOT p', 'p IS NULL'))
    if kind == 7:
        return rng.choice(("v = 'v%d'" % rng.randrange(21), "v LIKE 'v1%'", "v IN ('v2', 'v5', 'none')", "v NOT LIKE '%2'"))
    if kind == 4:
        return 'k IS NOT NULL AND a > %d' % (rng.randrange(2000) - 1000)
    if kind == 5:
        return 'n > %d.5' % rng.randrange(100000)
    if kind == 6:
        return 'f >= %d' % rng.randrange(1000000000)
    if kind == 3:
        return 'a IS NULL'
    return 'id > %d AND k < 9' % rng.randrange(20000)


def query(rng, table):
    """A query whose result is exact and does not depend on the order of rows."""
    listed = rng.sample(list(AGGREGATES), rng.choice((1, 1, 2, 3)))
    group = rng.choice(GROUPS) if rng.random() < 0.3 else ''
    text = 'SELECT %s FROM %s' % (', '.join(([group] if group else []) + listed), table.name)
    if rng.random() < 0.5:
        text += ' WHERE ' + condition(rng)
    return text + (' GROUP BY ' + group if group else '')


def select(table, where, aggregates, group):
    """A query by GpuAgg: groups and then r0, r1, ..."""
    listed = ['gpu_%s AS r%d' % item for item in aggregates]
    return 'SELECT %s FROM %s%s%s' % (', '.join(([group] if group else []) + listed), table.name, where,
                                      ' GROUP BY ' + group if group else '')


def rows(text):
    """All rows of a query, in one order, as an expression."""
    return '(SELECT array_agg(q::text ORDER BY q::text COLLATE "C")::text FROM (%s) q)' % text


def window(rng, table, where):
    """Aggregates above a running function by core, and the same by the nodes GpuAgg and GpuWindow, as expressions."""
    call = rng.choice(('sum(a)', 'sum(b)', 'sum(n)', 'max(d)', 'count(*)', 'min(b + 1)', 'sum(n - 7)'))
    inner = '(SELECT k, id, @%s OVER (PARTITION BY k ORDER BY id ROWS UNBOUNDED PRECEDING) AS w FROM %s%s)' % (
        call, table.name, where)
    text = rng.choice(('(SELECT ROW(@count(*), @max(w), @count(w), @max(id))::text FROM %s q)',
                       "(SELECT array_agg(q::text ORDER BY q::text COLLATE \"C\")::text FROM "
                       '(SELECT k, @max(w), @count(*) FILTER (WHERE id %% 3 = 0) FROM %s q GROUP BY k) q)')) % inner
    return text.replace('@', ''), text.replace('@', 'gpu_')


def merged(names, merges, text):
    """One row from the rows of groups, as an expression."""
    return '(SELECT ROW(%s)::text FROM %s q)' % (', '.join(MERGES[m] % n for n, m in zip(names, merges)), text)


def look(rng, table, number, added):
    """A look; added: with the column that comes and goes."""
    aggregates = rng.sample(list(AGGREGATES), rng.choice((1, 2, 3, 4)))
    merges = [AGGREGATES[a] for a in aggregates]
    if added:
        aggregates.append('sum(%s)' % table.added)
        merges.append('sum')
    where = ' WHERE ' + condition(rng) if rng.random() < 0.5 else ''
    group = rng.choice(GROUPS) if rng.random() < 0.3 else ''
    numbered = [(a, i) for i, a in enumerate(aggregates)]
    names = ['r%d' % i for _, i in numbered]
    core = 'WITH g AS MATERIALIZED (%s) ' % select(table, where, numbered, group).replace('gpu_', '')

    # what core's rows say, and what ours must be; mostly single columns first, so that each is confirmed apart
    pairs = []
    if len(numbered) > 1:
        for item in numbered:
            pairs.append((rows('SELECT %s r%d FROM g' % (group + ',' if group else '', item[1])),
                          rows(select(table, where, (item,), group))))
    pairs.append((rows('TABLE g'), rows(select(table, where, numbered, group))))
    if None not in merges:
        if group:
            pairs.append((merged(names, merges, 'g'),
                          '(SELECT ROW(%s)::text FROM (%s) q)' % (', '.join(names), select(table, where, numbered, ''))))
        else:
            pairs.append(('(SELECT ROW(%s)::text FROM g)' % ', '.join(names),
                          merged(names, merges, '(%s)' % select(table, where, numbered, rng.choice(('k', 'p'))))))
    if rng.random() < 0.3:
        pairs.append(window(rng, table, where))
    if rng.random() < 0.3:
        rng.shuffle(pairs)

    theirs = ['%s AS core%d' % (pair[0], i) for i, pair in enumerate(pairs)]
    # counters are a statement's; what is computed first begins them
    mine = ['(SELECT gpu_sum(x) FROM (VALUES (1)) list (x)) AS begin', COUNTERS + ' AS c']
    for i, pair in enumerate(pairs):
        mine += ['%s AS mine%d' % (pair[1], i), '%s AS c%d' % (COUNTERS, i)]
    inner = core + 'SELECT %s OFFSET 0' % ', '.join(theirs + mine if rng.random() < 0.5 else mine + theirs)
    told = ', '.join("(mine%d IS NOT DISTINCT FROM core%d)::int || ',' || c%d" % (i, i, i) for i in range(len(pairs)))
    again = ' '.join('WHEN mine%d IS DISTINCT FROM core%d THEN stress.again($q$%s$q$, $q$%s$q$, mine%d, core%d)' % (
        i, i, core + 'SELECT ' + pair[0], pair[1], i, i) for i, pair in enumerate(pairs))
    return "SELECT concat_ws(' ', begin, c, %s), CASE %s END FROM (%s) look%d" % (told, again, inner, number)


def statement(rng, tables, count):
    """A statement with count looks at some of the tables."""
    added = count == 1 and rng.random() < 0.3
    return ' UNION ALL '.join(look(rng, rng.choice(tables), i, added) for i in range(count))


def judge(run, session, outcome, kind):
    """Takes in what a statement returned."""
    if not outcome.done:
        return
    for row in outcome.rows:
        counted, _, report = row.partition('|')
        _, first, *results = counted.split(' ')
        before = [int(x) for x in first.split(',')]
        totals = dict.fromkeys(FIELDS + ('checks', 'wrong', 'by the node', 'with level 1', 'with level 2'), 0)
        for result in results:
            same, *numbers = (int(x) for x in result.split(','))
            spent = dict(zip(FIELDS, (n - b for n, b in zip(numbers, before))))
            before = numbers
            for name, number in spent.items():
                totals[name] += number
            totals['checks'] += 1
            totals['wrong'] += not same
            totals['by the node'] += spent['read'] + spent['level 1'] + spent['level 2'] > 0
            totals['with level 1'] += spent['level 1'] > 0
            totals['with level 2'] += spent['level 2'] > 0
        run.add(totals, kind)
        if totals['wrong']:
            run.fail('%d wrong of %s (%s)\n  %s' % (totals['wrong'], session.name, kind, report.replace('\\n', '\n  ')))
