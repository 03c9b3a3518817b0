"""changes.py: changes that both writers and readers make."""


def rows(rng, table, count):
    """Rows of a few pages, as a condition on ctid."""
    pages = int(table.pages * 1.1)
    first = rng.randrange(pages)
    spread = rng.choice((1, 3, pages))
    listed = ('(%d,%d)' % ((first + rng.randrange(spread)) % pages, 1 + rng.randrange(table.rows_of_page + 1)) for _ in range(count))
    return "ctid = ANY ('{%s}'::tid[])" % ','.join('"%s"' % x for x in listed)


def touch(session, rng, table):
    """
    Changes a page or a few, and vacuums, so that their bits are set again: always where the
    change was rolled back, else only if no snapshot from before is left.
    """
    change = rng.choice(('UPDATE {} SET a = a + 1 WHERE {}', 'UPDATE {} SET k = (random() * 12)::int WHERE {}', 'DELETE FROM {} WHERE {}',
                         'SELECT count(*) FROM (SELECT FROM {} WHERE {} FOR UPDATE) q')).format(table.name, rows(rng, table, rng.choice((1, 2, 4))))
    end = rng.choice(('ROLLBACK', 'ROLLBACK', 'COMMIT'))
    good = session.do('BEGIN').done and session.do(change).done
    session.do(end if good else 'ROLLBACK')
    if good:
        session.do('VACUUM (%sTRUNCATE off) %s' % ('FREEZE, ' if 'FOR UPDATE' in change else '', table.name),
                   'changes of single pages, vacuumed; ' + end)
