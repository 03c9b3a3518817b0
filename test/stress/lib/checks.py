"""checks.py: queries that are computed twice in one snapshot, by GpuAgg and by core's own plans.

stress.check() is STABLE, so that all its queries use the snapshot of the statement that calls it,
whatever the isolation level; the snapshot is part of what is compared.  The session's counters
are of a top-level statement, so the function starts them by a query over no table.
"""
import datetime

FIELDS = ('checks', 'wrong', 'skipped', 'by the node', 'with level 1', 'with level 2', 'level 1', 'level 2', 'read', 'filled',
          'chunks skipped')

FUNCTION = """
CREATE FUNCTION stress.side(query text, node boolean, resident text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
	result text;
BEGIN
	PERFORM set_config('gpuagg.enable_agg_scan', node::text, true),
		set_config('gpuagg.core_aggregates', CASE WHEN node THEN 'all' ELSE 'off' END, true);
	IF {has_resident} THEN
		PERFORM set_config('gpuagg.resident', CASE WHEN node THEN resident ELSE 'off' END, true);
	END IF;
	EXECUTE 'SELECT concat_ws(E''\\n'', string_agg(q::text, E''\\n'' ORDER BY q::text COLLATE "C"),
		''in snapshot '' || pg_current_snapshot()) FROM (' || query || ') q' INTO result;
	RETURN result;
END $$;

CREATE FUNCTION stress.check(queries text[], workers integer, resident text, node_first boolean) RETURNS text
LANGUAGE plpgsql STABLE SET enable_indexscan = off SET enable_bitmapscan = off SET enable_indexonlyscan = off
SET enable_sort = off SET gpuagg.min_table_pages = 0 SET parallel_setup_cost = 0 SET parallel_tuple_cost = 0
SET min_parallel_table_scan_size = 0 SET gpuagg.enable_agg_scan = on SET gpuagg.core_aggregates = off AS $$
DECLARE
	query text;
	mine text;
	theirs text;
	before jsonb;
	now jsonb;
	report text;
	level1 bigint;
	level2 bigint;
	read bigint;
	n bigint[] := array_fill(0::bigint, ARRAY[{fields}]);
BEGIN
	PERFORM set_config('max_parallel_workers_per_gather', workers::text, true);
	PERFORM gpu_sum(x) FROM (VALUES (1)) list (x);
	before := to_jsonb(gpuagg_last_query());
	FOREACH query IN ARRAY queries LOOP
		BEGIN
			IF NOT node_first THEN
				theirs := stress.side(query, false, resident);
			END IF;
			mine := stress.side(query, true, resident);
			now := to_jsonb(gpuagg_last_query());
			IF node_first THEN
				theirs := stress.side(query, false, resident);
			END IF;
			level1 := coalesce((now->>'resident_pages')::bigint - (before->>'resident_pages')::bigint, 0);
			level2 := coalesce((now->>'resident_confirmed')::bigint - (before->>'resident_confirmed')::bigint, 0);
			read := (now->>'table_pages')::bigint - (before->>'table_pages')::bigint;
			n[1] := n[1] + 1;
			n[4] := n[4] + (level1 + level2 + read > 0)::int;
			n[5] := n[5] + (level1 > 0)::int;
			n[6] := n[6] + (level2 > 0)::int;
			n[7] := n[7] + level1;
			n[8] := n[8] + level2;
			n[9] := n[9] + read;
			n[10] := n[10] + coalesce((now->>'resident_filled')::bigint - (before->>'resident_filled')::bigint, 0);
			n[11] := n[11] + coalesce((now->>'resident_skipped')::bigint - (before->>'resident_skipped')::bigint, 0);
			IF mine IS DISTINCT FROM theirs THEN
				n[2] := n[2] + 1;
				report := coalesce(report, concat_ws(E'\\n', 'query: ' || query, 'by the node: ' || mine, 'by core: ' || theirs,
					'before: ' || before::text, 'after: ' || now::text, 'workers ' || workers || ', ' || resident ||
					CASE WHEN node_first THEN ', the node first' ELSE ', core first' END,
					'once more by the node: ' || stress.side(query, true, resident),
					'by the node over pages: ' || stress.side(query, true, 'off'),
					'once more by core: ' || stress.side(query, false, 'off')));
			END IF;
		EXCEPTION WHEN undefined_column OR undefined_table OR undefined_function OR lock_not_available OR deadlock_detected THEN
			n[3] := n[3] + 1;
			now := to_jsonb(gpuagg_last_query());
		END;
		before := now;
	END LOOP;
	RETURN array_to_string(n, '|') || '|' || coalesce(replace(report, E'\\n', '\\n'), '');
END $$
"""

AGGREGATES = ('sum(a)', 'min(a)', 'max(a)', 'count(a)', 'sum(b)', 'min(b)', 'max(b)', 'count(b)', 'sum(n)', 'count(n)', 'avg(n)',
              'sum(f)', 'min(f)', 'max(f)', 'min(d)', 'max(d)', 'count(d)', 'count(*)', 'count(p)', 'count(v)', 'sum(k)', 'max(id)',
              'sum(n) FILTER (WHERE p)', 'count(*) FILTER (WHERE d IS NULL)', 'sum(a + b)', 'sum(b * 2)', 'sum(n * 2)',
              'sum(CASE WHEN p THEN a ELSE 1 END)')
GROUPS = ('k', 'k', 'v', 'p', 'p, k')


def condition(rng):
    kind = rng.randrange(9)
    if kind == 0:
        return 'b < %d' % rng.randrange(60000)
    if kind == 1:
        day = datetime.date(2020, 1, 1) + datetime.timedelta(rng.randrange(900))
        return "d BETWEEN '%s' AND '%s'" % (day, day + datetime.timedelta(rng.randrange(200)))
    if kind == 2:
        return rng.choice(('p', 'NOT p', 'p IS NULL'))
    if kind == 3:
        return "v = 'v%d'" % rng.randrange(21)
    if kind == 4:
        return 'k IS NOT NULL AND a > %d' % (rng.randrange(2000) - 1000)
    if kind == 5:
        return 'n > %d.5' % rng.randrange(100000)
    if kind == 6:
        return 'f >= %d' % rng.randrange(1000000000)
    if kind == 7:
        return 'a IS NULL'
    return 'id > %d AND k < 9' % rng.randrange(20000)


def query(rng, table):
    """A query whose result is exact and does not depend on the order of rows."""
    listed = rng.sample(AGGREGATES, rng.choice((1, 1, 2, 3)))
    if rng.random() < 0.1:
        listed.append('sum(%s)' % table.added)
    group = rng.choice(GROUPS) if rng.random() < 0.3 else ''
    text = 'SELECT %s FROM %s' % (', '.join(([group] if group else []) + listed), table.name)
    if rng.random() < 0.5:
        text += ' WHERE ' + condition(rng)
    return text + (' GROUP BY ' + group if group else '')


def call(rng, tables, count):
    """A call of stress.check() with count queries over some of the tables."""
    listed = ', '.join('$q$%s$q$' % query(rng, rng.choice(tables)) for _ in range(count))
    return "stress.check(ARRAY[%s], %d, '%s', %s)" % (listed, 2 if rng.random() < 0.08 else 0,
                                                     'auto' if rng.random() < 0.1 else 'on', rng.choice(('true', 'false')))


def judge(run, session, outcome, kind):
    """Takes in what a call of stress.check() returned."""
    if not outcome.done:
        return
    for row in outcome.rows:
        *numbers, report = row.split('|', len(FIELDS))
        numbers = [int(x) for x in numbers]
        with run.lock:
            run.totals.update(dict(zip(FIELDS, numbers)))
            run.events['checks: ' + kind] += numbers[0]
        if numbers[1]:
            run.fail('%d wrong of %s (%s)\n  %s' % (numbers[1], session.name, kind, report.replace('\\n', '\n  ')))


def functions(has_resident):
    return [FUNCTION.format(has_resident=str(has_resident).lower(), fields=len(FIELDS))]
