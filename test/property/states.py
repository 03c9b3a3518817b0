#!/usr/bin/env python3
"""states.py: states between servers, whole and forged.

Whole: seeded columns cut into random shards, whose states are merged in one step
or in several; the results must be those of the aggregate over all rows, as text.

Forged: states whose bytes are changed at random and whose check sum is made to
fit again.  Each raises an error of a known kind or is accepted.  Then the state that it
merges into gives the same results, or errors, and so does a pair of them.
Connection: the environment's.
"""
import argparse
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

import psql  # noqa: E402
import state_bytes  # noqa: E402

SCHEMA = 'property_states'
TYPES = {  # argument: types of sum, average and variance
    'smallint': ('bigint', 'numeric', 'numeric'),
    'integer': ('bigint', 'numeric', 'numeric'),
    'bigint': ('numeric', 'numeric', 'numeric'),
    'real': ('real', 'double precision', 'double precision'),
    'double precision': ('double precision', 'double precision', 'double precision'),
    'numeric': ('numeric', 'numeric', 'numeric'),
    'money': ('money', None, None),
    'interval': ('interval', 'interval', None)}
VARIANCES = ('var_pop', 'var_samp', 'variance', 'stddev_pop', 'stddev_samp', 'stddev')
# out of range, as numbers and as intervals; too many rows
ALLOWED = ('22003', '22008', '54000')


def value(rng, kind):
    """One value of a type, as it is written in SQL."""
    if rng.random() < 0.1:
        return 'NULL'
    if kind in ('smallint', 'integer', 'bigint'):
        most = 2 ** {'smallint': 15, 'integer': 31, 'bigint': 63}[kind] - 1
        return "'%d'" % rng.choice((rng.randint(-most - 1, most), rng.randint(-9, 9), -most - 1, most))
    if kind == 'money':
        return "'%d.%02d'" % (rng.randint(-10 ** 12, 10 ** 12), rng.randint(0, 99))
    if kind == 'interval':
        return "'%d months %d days %d us'" % tuple(rng.randint(-10 ** k, 10 ** k) for k in (4, 5, 15))
    if kind == 'numeric':
        scale = rng.choice((0, 0, 1, 2, 4, 5, 16, 17, 40))
        digits = str(rng.randint(0, 10 ** rng.choice((1, 3, 9, 18, 19, 38, 60)))).rjust(scale + 1, '0')
        text = rng.choice(('', '-')) + digits[:len(digits) - scale] + ('.' + digits[-scale:]) * (scale > 0)
        return "'%s'" % rng.choice((text,) * 60 + ('NaN', 'inf', '-inf'))
    low, high = (-45, 37) if kind == 'real' else (-323, 152)
    text = '%s%de%d' % (rng.choice(('', '-')), rng.randint(0, 9), rng.randint(low, high))
    return "'%s'" % rng.choice((text,) * 40 + ('-0', '0', '1', 'NaN', 'inf'))


def whole(script, rng, columns):
    """Merged states against aggregates over all rows."""
    for number in range(columns):
        kind = rng.choice(list(TYPES))
        rows = rng.choice((0, 1, 2, 31, 100, 700))
        script.sql('DROP TABLE IF EXISTS c')
        script.sql('CREATE TABLE c (x %s, shard int, part int)' % kind)
        if rows:
            script.sql('INSERT INTO c VALUES ' + ', '.join(
                '(%s, %d, %d)' % (value(rng, kind), rng.randint(0, 9), rng.randint(0, 3))
                for _ in range(rows)))
        results = dict(zip(('sum', 'avg') + VARIANCES, TYPES[kind][:2] + TYPES[kind][2:] * 6))
        for name, result in results.items():
            if result is None:
                continue
            state = 'gpu_%s_state(x)' % (rng.choice(('sum', 'avg', 'var')) if name in ('sum', 'avg')
                                         and TYPES[kind][2] else name if name in ('sum', 'avg') else 'var')
            merge = 'gpu_%s_merge(s, NULL::%s)::text' % (name, result)
            shards = 'SELECT part, %s AS s FROM c GROUP BY part, shard' % state
            tree = 'SELECT gpu_state_merge(s) AS s FROM (%s) q GROUP BY part' % shards
            aggregate = 'gpu_%s(x)::text' % name
            for shape, source in (('at once', shards), ('in steps', tree)):
                script.check((number, kind, name, shape),
                             'SELECT merged IS NOT DISTINCT FROM aggregate FROM (SELECT %s FROM (%s) q) a(merged), '
                             '(SELECT %s FROM c) b(aggregate)' % (merge, source, aggregate), ['t'])


def forge(rng, states):
    """A state with bytes changed behind its header, and a check sum that fits."""
    data = bytearray(rng.choice(states))
    body = data[5:-4]
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(body))
        how = rng.randrange(6)
        if how == 0:
            body[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            body[at] = rng.randrange(256)
        elif how == 2:
            for k in range(at, min(at + 8, len(body))):
                body[k] = rng.choice((0, 255))
        elif how == 3:
            del body[at:at + rng.choice((1, 2, 8))]
        elif how == 4:
            body[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice((1, 8, 8))))
        else:
            other = rng.choice(states)[5:-4]
            body[at:] = other[rng.randrange(len(other)):]
        if not body:
            body = bytearray(1)
    data[5:-4] = body
    return state_bytes.whole(bytes(data[:-4]))


# All results of some states, or their errors, as one text.
OUTCOME = """CREATE FUNCTION outcome(VARIADIC states bytea[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    results text := '';
    result text;
    called text;
BEGIN
    FOREACH called IN ARRAY ARRAY[%s] LOOP
        BEGIN
            EXECUTE 'SELECT ' || called || '::text FROM unnest($1) s' INTO result USING states;
            results := results || coalesce(result, 'null') || ' ';
        EXCEPTION WHEN OTHERS THEN
            IF SQLSTATE NOT IN (%s) THEN
                RAISE;
            END IF;
            results := results || SQLSTATE || ' ';
        END;
    END LOOP;
    RETURN results;
END$$"""


# Whether a state is refused, or accepted; then all ways to merge it must give the same.
VERDICT = """CREATE FUNCTION verdict(state bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    one bytea;
    two bytea;
BEGIN
    BEGIN
        one := (SELECT gpu_state_merge(s) FROM (VALUES (state)) v(s));
    EXCEPTION WHEN invalid_binary_representation THEN
        RETURN 'refused';
    END;
    BEGIN
        two := (SELECT gpu_state_merge(s) FROM (VALUES (state), (state)) v(s));
    EXCEPTION WHEN program_limit_exceeded THEN
        two := NULL;
    END;
    IF outcome(state) <> outcome(one) THEN
        RETURN outcome(state) || ' and then ' || outcome(one);
    ELSIF two IS NOT NULL AND outcome(state, state) <> outcome(two) THEN
        RETURN 'two: ' || outcome(state, state) || ' and then ' || outcome(two);
    END IF;
    RETURN 'taken';
END$$"""


def calls(kind):
    """Calls of merges of states of this type."""
    results = zip(('sum', 'avg') + VARIANCES, TYPES[kind][:2] + TYPES[kind][2:] * 6)
    return ['gpu_%s_merge(s, NULL::%s)' % pair for pair in results if pair[1]]


def forged(script, rng, inputs):
    """Forged states: alone, merged into a state first, and in pairs."""
    script.sql(VERDICT)
    for kind, (_, _, variance) in TYPES.items():
        for made in ('sum', 'var') if variance else ('sum',):
            states = []
            for rows in (1, 2, 5, 20, 50):
                source = '(VALUES (NULL::%s)%s) v(x)' % (
                    kind, ''.join(', (%s)' % value(rng, kind) for _ in range(rows)))
                states.append(bytes.fromhex(psql.query(
                    "SELECT encode(gpu_%s_state(x), 'hex') FROM %s" % (made, source))[0]))
            listed = calls(kind)[:2] if made == 'sum' else calls(kind)
            script.sql('DROP FUNCTION IF EXISTS outcome')
            script.sql(OUTCOME % (', '.join("'%s'" % call for call in listed),
                                  ', '.join("'%s'" % state for state in ALLOWED)))
            for k in range(inputs):
                script.check((kind, made, k), "SELECT verdict('\\x%s')" % forge(rng, states).hex(),
                             lambda rows: None if rows in (['taken'], ['refused']) else str(rows)[:600])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seed', type=int, default=20261121)
    parser.add_argument('--columns', type=int, default=40)
    parser.add_argument('--inputs', type=int, default=150, help='forged states of each kind')
    args = parser.parse_args()
    rng = random.Random(args.seed)
    print('seed %d' % args.seed)
    script = psql.Script()
    script.sql('DROP SCHEMA IF EXISTS %s CASCADE' % SCHEMA)
    script.sql('CREATE SCHEMA %s' % SCHEMA)
    script.sql('SET search_path = %s, public' % SCHEMA)
    whole(script, rng, args.columns)
    forged(script, rng, args.inputs)
    script.sql('DROP SCHEMA %s CASCADE' % SCHEMA)
    tally = psql.Tally('states')
    tally.add(script.run())
    tally.finish()


if __name__ == '__main__':
    main()
